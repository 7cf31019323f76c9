"""`import seq2see`: typed names, imported when they are used; a run of the other kind says which door it wants."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from folders import make_run

import seq2see
from seq2see import atomic
from seq2see.errors import RunError
from seq2see.runs.config import CONFIG, VOICE, RunConfig

ROOT = Path(__file__).parents[2]

SCRIPT = """# mypy: warn-return-any
from typing import assert_type

import seq2see
from seq2see import AttentionMap, SearchConfig, Speech, Translation, Translator, Voice, errors


def translate(pairs: list[tuple[str, str]]) -> list[tuple[int, int]]:
    try:
        translator = seq2see.train(pairs, out="runs/ko-en", model="rnnsearch")
    except errors.RunError:
        translator = seq2see.load("runs/ko-en")
    assert_type(translator, Translator)
    assert_type(translator.translate(["a", "b"], search=SearchConfig(beam=2)), list[Translation])
    result = translator.translate("a", beam=5, nbest=3)
    assert_type(result, Translation)
    assert_type(result.nbest[1].text, str)
    assert_type(result.attention, AttentionMap | None)
    if result.attention is None:
        return []
    return list(result.attention.words().alignment().pairs)


def speak(text: str) -> Speech:
    voice = seq2see.load_voice("runs/voice")
    assert_type(voice, Voice)
    speech = voice.speak(text)
    speech.save("out.wav")
    return speech


seq2see.load("runs/voice").speak("a")  # type: ignore[attr-defined]
seq2see.load_voice("runs/ko-en").translate("a")  # type: ignore[attr-defined]
seq2see.lode("runs/ko-en")  # type: ignore[attr-defined]
"""


def test_a_script_of_a_user_is_checked_by_types(tmp_path: Path) -> None:
    """The last lines are errors to mypy: an ignore that nothing needs would be one itself."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", str(script)],  # strict by pyproject.toml
        cwd=ROOT,
        env=os.environ | {"MYPYPATH": "src"},  # as in `make check`, so that what mypy keeps from there is used
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_importing_the_package_imports_no_torch() -> None:
    code = (
        "import sys, seq2see\nfrom seq2see import errors\n"
        "print('torch' in sys.modules, sorted(set(seq2see.__all__) - set(dir(seq2see))))\n"
        "print([getattr(seq2see, name).__name__ for name in seq2see.__all__])"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines() == [
        "False []",
        str([name if name != "errors" else "seq2see.errors" for name in seq2see.__all__]),
    ]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'seq2see' has no attribute 'lode'"):
        _ = seq2see.lode  # type: ignore[attr-defined]


def test_the_door_of_the_other_kind_is_named(tmp_path: Path) -> None:
    run, voice = make_run(tmp_path / "run"), tmp_path / "voice"
    voice.mkdir()
    config = RunConfig.model_validate({"model": {"family": VOICE}})
    atomic.write_json(voice / CONFIG, config.model_dump(mode="json"))
    with pytest.raises(RunError, match=r"voice: is a voice; seq2see\.load_voice loads it"):
        seq2see.load(voice)
    with pytest.raises(RunError, match=r"voice: is a voice; seq2see\.load_voice loads it"):
        seq2see.load([run, voice])
    with pytest.raises(RunError, match=r"run: is a rnnsearch, not a voice; seq2see\.load loads it"):
        seq2see.load_voice(run)
