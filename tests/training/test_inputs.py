"""A resumed run says when its data is not what it was: changed, gone, moved; and goes on only when asked to."""

import os
import shutil
from pathlib import Path
from typing import Any

import killing
import pytest

from seq2see import atomic
from seq2see.data.store import Store
from seq2see.errors import ConfigError, DataError
from seq2see.runs import inputs
from seq2see.runs.folder import load_run
from seq2see.training.run import new_config, renamed_data, resumed_config, train_run

ROWS = [f"{word} {number % 7}\t{number % 7} {word}\n" for number in range(12) for word in ("a b", "b c", "c d e")]


class Interrupted(killing.Quiet):
    """Stops after the first checkpoint."""

    def update(self, update: Any, progress: Any) -> None:
        if update.step == 3:
            raise KeyboardInterrupt


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """pairs.tsv, valid.tsv, and a run on them that was interrupted."""
    made = tmp_path / "project"
    made.mkdir()
    (made / "pairs.tsv").write_text("".join(ROWS))
    (made / "valid.tsv").write_text("".join(ROWS[::5]))
    data = {"train": [str(made / "pairs.tsv:2")], "valid": [str(made / "valid.tsv")]}
    with pytest.raises(KeyboardInterrupt):
        train_run(new_config(killing.SETTINGS | {"data": data}), made / "run", Interrupted())
    return made


def resume(out: Path, *, named: dict[str, Any] | None = None, accept: bool = False) -> list[str]:
    """Goes on, with the data named once more if told to; what was said."""
    voice = killing.Quiet()
    config = renamed_data(resumed_config(out, {}), out, named or {}, accept=accept)
    train_run(config, out, voice, resume=True, changed_data=accept)
    load_run(out)
    return voice.messages


def refused(out: Path, **named: Any) -> str:
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    with pytest.raises((DataError, ConfigError)) as problem:
        resume(out, **named)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    return str(problem.value)


@pytest.mark.parametrize("name", ["pairs.tsv", "valid.tsv"])
@pytest.mark.parametrize("how", ["longer", "same size", "same size and times"])
def test_changed_data_is_named_and_wants_a_flag(name: str, how: str, project: Path) -> None:
    path = project / name
    before = path.stat()
    text = path.read_text()
    path.write_text(text + "x\ty\n" if how == "longer" else text.replace("a b", "a x"))
    if how == "same size and times":
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    line = refused(project / "run")
    assert f"{path} has changed" in line
    assert "--changed-data" in line
    assert "\n" not in line
    messages = resume(project / "run", accept=True)
    assert any("going on although" in message and str(path) in message for message in messages)
    assert resume(project / "run") is not None  # accepted once is accepted


def test_changed_data_is_read_once_it_is_accepted(project: Path) -> None:
    (project / "pairs.tsv").write_text("".join(ROWS[:20]))
    resume(project / "run", accept=True)
    assert len(Store(project / "run" / "data" / "train")) == 20


def test_data_that_was_only_touched_is_the_same(project: Path) -> None:
    os.utime(project / "pairs.tsv")
    shutil.copy(project / "valid.tsv", project / "copy")
    (project / "copy").replace(project / "valid.tsv")
    marker = (project / "run" / "data" / "train" / "source.ids").stat().st_mtime_ns
    assert not any("changed" in message for message in resume(project / "run"))
    assert (project / "run" / "data" / "train" / "source.ids").stat().st_mtime_ns == marker


def test_untouched_data_is_not_read_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    original = atomic.digest
    monkeypatch.setattr(atomic, "digest", lambda path: (read.append(path.name), original(path))[1])
    resume(project / "run")
    assert "pairs.tsv" not in read
    assert "valid.tsv" not in read


def test_data_that_is_gone_wants_a_flag_and_its_ids(project: Path) -> None:
    whole = Path(shutil.copytree(project, project.parent / "whole")) / "run"
    resume(whole)
    (project / "pairs.tsv").unlink()
    line = refused(project / "run")
    assert f"{project / 'pairs.tsv'} is gone" in line
    assert "--changed-data" in line
    resume(project / "run", accept=True)
    weights = [atomic.digest(path / "model.safetensors") for path in (project / "run", whole)]
    assert weights[0] == weights[1]
    shutil.rmtree(project / "run" / "data")
    with pytest.raises(DataError, match=r"pairs\.tsv: no such file"):
        resume(project / "run", accept=True)
    load_run(project / "run")


def test_several_files_are_named_together(project: Path) -> None:
    (project / "pairs.tsv").unlink()
    (project / "valid.tsv").write_text("a\tb\n")
    line = refused(project / "run")
    assert "pairs.tsv is gone" in line
    assert "valid.tsv has changed" in line


def test_a_project_that_was_moved_goes_on(project: Path, tmp_path: Path) -> None:
    moved = project.rename(tmp_path / "elsewhere")
    messages = resume(moved / "run")
    assert any(f"has moved to {moved / 'pairs.tsv'}" in message for message in messages)
    assert load_run(moved / "run").config.data.train == (str(moved / "pairs.tsv:2"),)


def test_data_that_was_moved_goes_on_by_its_new_name(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "pairs.tsv").rename(project / "renamed.tsv")
    assert "name its new place" in refused(project / "run")
    monkeypatch.chdir(project)
    messages = resume(project / "run", named={"train": ["renamed.tsv:2"]})
    assert any("its content is the same" in message for message in messages)
    assert load_run(project / "run").config.data.train == (str(project / "renamed.tsv:2"),)


def test_other_data_by_another_name_is_refused(project: Path) -> None:
    (project / "other.tsv").write_text("".join(ROWS[:9]))
    other = str(project / "other.tsv")
    assert "is not what" in refused(project / "run", named={"train": [f"{other}:2"]})
    for specs in ([f"{other}:3"], [other, "builtin:copy"], ["builtin:copy"]):
        assert "was trained on" in refused(project / "run", named={"train": specs})
    resume(project / "run", named={"train": [other]}, accept=True)
    assert load_run(project / "run").config.data.train == (other,)


def test_the_whole_first_command_again_is_fine(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    resume(project / "run", named={"train": ["pairs.tsv:2"], "valid": ["valid.tsv"]})


def test_a_run_of_an_older_seq2see_goes_on_and_is_told_so(project: Path) -> None:
    """It kept no record of its data, and named it as it was typed."""
    (project / "run" / "inputs.json").unlink()
    config = project / "run" / "config.json"
    config.write_text(config.read_text().replace(f"{project}/", ""))
    assert "pairs.tsv is gone" in refused(project / "run")
    assert "was trained on" in refused(project / "run", named={"train": [f"{project}/pairs.tsv:2"]})
    here = Path.cwd()
    os.chdir(project)
    try:
        messages = resume(project / "run")
    finally:
        os.chdir(here)
    assert any("older seq2see" in message for message in messages)
    assert inputs.read(project / "run") is not None


def test_data_that_changes_while_it_is_read_is_told(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seq2see.training import run

    original = run.prepare

    def prepare(*arguments: Any) -> Any:
        (project / "pairs.tsv").write_text("late\tcomer\n")
        return original(*arguments)

    monkeypatch.setattr(run, "prepare", prepare)
    data = {"train": [str(project / "pairs.tsv")]}
    with pytest.raises(DataError, match="has changed while it was read"):
        train_run(new_config(killing.SETTINGS | {"data": data}), project / "fresh", killing.Quiet())
    assert not (project / "fresh").exists()


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"run": "x", "files": [1]}', '{"run": "x", "files": [{"path": 1}]}']
)
def test_a_damaged_record_is_told(content: str, project: Path) -> None:
    (project / "run" / "inputs.json").write_text(content)
    assert "inputs.json: cannot be read" in refused(project / "run")


def test_a_pipe_is_refused_rather_than_waited_for(project: Path) -> None:
    os.mkfifo(project / "pipe.tsv")
    with pytest.raises(DataError, match="is no ordinary file"):
        inputs.describe([project / "pipe.tsv"])
