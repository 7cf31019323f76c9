"""How properties are tried, everywhere, and in which order files are run."""

import gc
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from depth import THOROUGH

# A machine under load is no reason to fail.
settings.register_profile("quick", deadline=None, max_examples=30)
settings.register_profile("thorough", deadline=None, max_examples=200)
# For mutants.py, which wants to know whether a test fails and not on what smallest example.
settings.register_profile("unshrunk", settings.get_profile("quick"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("thorough" if THOROUGH else "quick")

# What takes longest, mostly in few tests that train, export or start processes: it comes first, so that both workers
# of `make test` end at about the same time.
LONGEST = (
    "session/test_parts_ray.py",
    "serve/browser/test_frame.py",
    "look/test_page.py",
    "contracts/test_families.py",
    "training/test_resume.py",
    "attention/test_mechanisms.py",
    "serve/test_clients.py",
    "serve/browser/test_other_tabs.py",
    "house/test_readme_commands.py",
    "demo/test_demo_whole.py",
    "contracts/test_onnx.py",
    "serve/test_signals_and_command.py",
    "cli/test_translate_cli.py",
    "cli/test_train_cli.py",
    "fuzz/test_fuzz_folders.py",
    "look/test_walkthrough.py",
    "engines/test_engines.py",
    "engines/test_hostile_engines.py",
    "serve/test_api.py",
    "speech/test_voice_training.py",
    "session/test_translator.py",
    "cli/test_data_and_verify.py",
    "cli/test_usage.py",
    "look/test_whatif.py",
    "search/test_batching.py",
    "search/test_rules.py",
    "session/test_prefix_ids.py",
    "training/test_extending.py",
    "training/test_auto.py",
    "cli/test_signals.py",
    "cli/test_streams.py",
)
# Runs mypy, which is quick once `make check` beside the tests has read torch.
LAST = "session/test_front_door.py"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    places = {folder / file: place for place, file in enumerate(LONGEST)} | {folder / LAST: len(LONGEST) + 1}
    items.sort(key=lambda item: places.get(item.path, len(LONGEST)))


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end: searching all of it for garbage again and again takes time."""
    gc.collect()
    gc.freeze()
