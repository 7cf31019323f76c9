"""A run that starts from the weights of another (--from) goes on as such, also before its first checkpoint."""

import json
import shutil
from pathlib import Path
from typing import Any

import killing
import pytest
import torch
from safetensors.torch import load_file
from test_extending import Dying, Killed

from seq2see import atomic
from seq2see.errors import RunError
from seq2see.runs.folder import load_run, read_run_config
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
