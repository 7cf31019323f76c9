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
    "house/test_readme_commands.py",
    "training/test_resume.py",
    "demo/test_demo_whole.py",
    "contracts/test_families.py",
    "attention/test_mechanisms.py",
    "contracts/test_onnx.py",
    "look/test_page.py",
    "fuzz/test_fuzz_folders.py",
    "cli/test_data_and_verify.py",
    "cli/test_train_cli.py",
    "look/test_walkthrough.py",
    "session/test_translator.py",
    "cli/test_signals.py",
    "cli/test_streams.py",
    "engines/test_engines.py",
    "engines/test_hostile_engines.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    places = {Path(__file__).parent / file: place for place, file in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end: searching all of it for garbage again and again takes time."""
    gc.collect()
    gc.freeze()
