"""A run that starts from the weights of another (--from) goes on as such, also before its first checkpoint."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import killing
import pytest
import torch
from safetensors.torch import load_file
from test_extending import Dying, Killed

from seq2see import atomic
from seq2see.errors import ConfigError, RunError
from seq2see.runs.folder import read_run_config
from seq2see.training.run import new_config, resumed_config, train_run


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project: pairs.tsv, and a run on it to start from."""
    project = tmp_path_factory.mktemp("made") / "project"
    project.mkdir()
    words = ("one two", "two three", "three four five", "four one", "five two one")
    rows = [f"{word} {number % 7}\t{number % 7} {word}\n" for number in range(12) for word in words]
    (project / "pairs.tsv").write_text("".join(rows))
    killing.train(project / "pairs.tsv", project / "base", resume=False, voice=killing.Quiet())
    return project


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "project"))


def tune(project: Path, name: str, reporter: Any = None) -> Path:
    torch.set_num_threads(1)
    settings = killing.SETTINGS | {"data": {"train": [str(project / "pairs.tsv")]}}
    config = new_config(settings | {"model": {"family": "luong"}})
    train_run(config, project / name, reporter or killing.Quiet(), base=project / "base")
    return project / name


def resume(out: Path, reporter: Any = None) -> None:
    train_run(resumed_config(out, {}), out, reporter or killing.Quiet(), resume=True)


def killed_before_its_first_checkpoint(project: Path) -> Path:
    with pytest.raises(Killed):
        tune(project, "broken", Dying(1))
    out = project / "broken"
    assert not list((out / "checkpoints").glob("step-*"))
    return out


def test_killed_before_its_first_checkpoint_it_still_starts_from_the_base(project: Path) -> None:
    whole = tune(project, "whole")
    out = killed_before_its_first_checkpoint(project)
    resume(out)
    ours, theirs = (load_file(path / "model.safetensors") for path in (out, whole))
    assert all(ours[name].equal(theirs[name]) for name in theirs)
    assert [atomic.digest(out / name) for name in ("config.json", "manifest.json")] == [
        atomic.digest(whole / name) for name in ("config.json", "manifest.json")
    ]


def test_a_base_that_is_gone_is_an_error_that_says_so(project: Path) -> None:
    out = killed_before_its_first_checkpoint(project)
    shutil.rmtree(project / "base")
    with pytest.raises(RunError, match=r"base: is gone, and this run starts from its weights \(--from\)"):
        resume(out)
    assert (out / "config.json").exists()  # nothing is lost: once the base is back, it goes on


def test_a_base_that_has_changed_is_an_error_that_says_so(project: Path) -> None:
    out = killed_before_its_first_checkpoint(project)
    base = project / "base"
    train_run(resumed_config(base, {"training": {"steps": 7}}), base, killing.Quiet(), resume=True)
    with pytest.raises(RunError, match="base: has been trained further or replaced since"):
        resume(out)


def test_a_base_that_moved_along_is_found(project: Path, tmp_path: Path) -> None:
    whole = tune(project, "whole")
    killed_before_its_first_checkpoint(project)
    moved = project.rename(tmp_path / "moved")
    resume(moved / "broken")
    assert atomic.digest(moved / "broken" / "model.safetensors") == atomic.digest(
        moved / whole.name / "model.safetensors"
    )


def test_after_a_checkpoint_the_base_is_no_longer_needed(project: Path) -> None:
    whole = tune(project, "whole")
    with pytest.raises(Killed):
        tune(project, "broken", Dying(3))
    shutil.rmtree(project / "base")
    resume(project / "broken")
    assert atomic.digest(project / "broken" / "model.safetensors") == atomic.digest(whole / "model.safetensors")


def test_a_run_without_a_base_says_nothing_of_one(made: Path) -> None:
    assert "base" not in json.loads((made / "base" / "config.json").read_text())
    assert read_run_config(made / "base").base is None
    with pytest.raises(ConfigError, match="--from"):
        new_config({"data": {"train": ["x.tsv"]}, "base": {"run": "runs/x", "sha256": "0"}})


def test_resume_with_from_is_an_error(made: Path) -> None:
    command = ["train", "--resume", "--from", str(made / "base"), "--out", str(made / "base")]
    done = subprocess.run([sys.executable, "-m", "seq2see", *command], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--from starts a new run; --resume goes on with the one in" in done.stderr
    assert len(done.stderr.splitlines()) == 1
