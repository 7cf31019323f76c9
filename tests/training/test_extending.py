"""A finished run that is trained further stays what it is until the new one is whole."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import killing
import pytest
import torch
from safetensors.torch import load_file, save_file

from seq2see import atomic
from seq2see.errors import DataError, RunError, TrainingError
from seq2see.models import from_config, load_config
from seq2see.runs import checkpoint, folder, weights
from seq2see.runs.folder import load_run
from seq2see.training import harness, run
from seq2see.training.loop import trainer
from seq2see.training.loop.plan import read_decisions
from seq2see.training.run import new_config, resumed_config, train_run

FILES = ("config.json", "manifest.json", "model.safetensors")


class Killed(BaseException):
    """Where the plug was pulled: no handler of ours catches it."""


class Dying(killing.Quiet):
    """Pulls the plug after an update."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self.step = step

    def update(self, update: Any, progress: Any) -> None:
        if update.step == self.step:
            raise Killed


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project: pairs.tsv, and a run on it that has finished."""
    project = tmp_path_factory.mktemp("made") / "project"
    project.mkdir()
    words = ("one two", "two three", "three four five", "four one", "five two one")
    rows = [f"{word} {number % 7}\t{number % 7} {word}\n" for number in range(12) for word in words]
    (project / "pairs.tsv").write_text("".join(rows))
    killing.train(project / "pairs.tsv", project / "run", resume=False, voice=killing.Quiet())
    return project


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    """A copy of it, as if it had been moved here."""
    return Path(shutil.copytree(made, tmp_path / "project"))


def resume(out: Path, voice: Any = None, **training: Any) -> Any:
    changes = {"training": training} if training else {}
    return train_run(resumed_config(out, changes), out, voice or killing.Quiet(), resume=True)


def digests(out: Path) -> dict[str, str]:
    return {name: atomic.digest(out / name) for name in FILES}


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    return all(value.equal(other.state_dict()[name]) for name, value in one.state_dict().items())


# ----- 2: a finished run survives


def test_an_extension_without_its_data_leaves_the_finished_run(made: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(made / "run", tmp_path / "alone" / "run"))
    pairs = made / "pairs.tsv"
    pairs.rename(made / "elsewhere.tsv")
    try:
        before = digests(out)
        with pytest.raises(DataError, match=r"pairs\.tsv is gone"):
            resume(out, steps=9)
    finally:
        (made / "elsewhere.tsv").rename(pairs)
    assert digests(out) == before
    load_run(out)


def test_a_killed_extension_leaves_the_finished_run_and_goes_on_bit_by_bit(project: Path) -> None:
    out, whole = project / "run", project / "whole"
    before, model = digests(out), load_run(out).model
    with pytest.raises(Killed):
        resume(out, Dying(8), steps=9)
    assert digests(out) == before
    assert same(load_run(out).model, model)
    resume(out)
    killing.train(project / "pairs.tsv", whole, resume=False, voice=killing.Quiet(), training={"steps": 9})
    assert load_run(out).config.training.steps == 9
    assert digests(out)["model.safetensors"] == digests(whole)["model.safetensors"]
    assert not [path.name for path in out.iterdir() if path.name in ("extension.json", "finishing")]


def io_calls(patch: pytest.MonkeyPatch, out: Path, at: int | None) -> list[str]:
    """Counts the calls that write below a run folder; from number `at` on none of them happens any more, and half of
    every new file that no fsync has reached is gone."""
    seen: list[str] = []
    on_disk = {path.stat().st_ino for path in out.rglob("*")}

    def cut() -> None:
        for path in out.rglob("*"):
            if path.is_file() and path.stat().st_ino not in on_disk:
                os.truncate(path, path.stat().st_size // 2)

    def watch(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def wrapped(*arguments: Any, **named: Any) -> Any:
            seen.append(name)
            if at is not None and len(seen) >= at:
                if len(seen) == at:
                    cut()
                raise Killed
            if name == "fsync":
                on_disk.add(os.fstat(arguments[0]).st_ino)
            return original(*arguments, **named)

        patch.setattr(owner, name, wrapped)

    for owner, name in (
        (weights, "save_file"),
        (Path, "rename"),
        (Path, "replace"),
        (Path, "unlink"),
        (Path, "mkdir"),
        (Path, "rmdir"),
        (shutil, "rmtree"),
        (os, "fsync"),
    ):
        watch(owner, name)
    return seen


def test_a_kill_at_every_io_call_of_finishing_leaves_the_old_run_or_the_new(project: Path, tmp_path: Path) -> None:
    """The extension is trained once; its last act is repeated, cut off ever later."""
    out = project / "run"
    old = load_run(out)
    new = from_config(load_config(old.config.model))
    changed = old.config.model_dump(mode="json")
    changed["training"]["steps"] = 9

    def finish(copy: Path, patch: pytest.MonkeyPatch, at: int | None) -> list[str]:
        atomic.write_json(copy / "extension.json", changed)
        with patch.context() as inside:
            calls = io_calls(inside, copy, at)
            try:
                folder.finish(copy, new)
            except Killed:
                assert at is not None
        return calls

    def copied(name: str) -> Path:
        ignored = shutil.ignore_patterns("checkpoints", "data")
        return Path(shutil.copytree(out, tmp_path / name, ignore=ignored))

    with pytest.MonkeyPatch.context() as patch:
        calls = len(finish(copied("straight"), patch, None))
        assert calls > 10
        found = set()
        for at in range(1, calls + 1):
            copy = copied(f"cut-{at}")
            finish(copy, patch, at)
            loaded = load_run(copy)
            is_new = loaded.config.training.steps == 9
            assert same(loaded.model, new if is_new else old.model), f"call {at}"
            found.add(is_new)
            finish(copy, patch, None)  # whoever comes next finishes it
            assert digests(copy) == digests(tmp_path / "straight"), f"call {at}"
            assert not (copy / "finishing").exists()
    assert found == {False, True}


def test_a_finish_cut_off_is_completed_by_the_next_resume(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = project / "run"
    whole = Path(shutil.copytree(out, project / "whole"))
    resume(whole, steps=9)
    with monkeypatch.context() as patch:
        original = Path.rename

        def rename(self: Path, target: Path) -> Path:
            if self.parent.name == "finishing" and not self.name.startswith("."):
                raise Killed
            return original(self, target)

        patch.setattr(Path, "rename", rename)
        with pytest.raises(Killed):
            resume(out, steps=9)
    assert load_run(out).config.training.steps == 9
    resume(out)
    assert digests(out) == digests(whole)
    assert not (out / "finishing").exists()


def test_relative_data_is_found_from_another_folder(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(made / "pairs.tsv", tmp_path / "pairs.tsv")
    monkeypatch.chdir(tmp_path)
    out = Path("run")
    killing.train(Path("pairs.tsv"), out, resume=False, voice=killing.Quiet())
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    resume(tmp_path / "run", steps=8)
    assert load_run(tmp_path / "run").config.data.train == (str(tmp_path / "pairs.tsv"),)


# ----- 3: nothing that is not finite is kept


WILD = {"learning_rate": 1e39, "warmup": 0, "save_every": 1, "validate_every": 1000, "ema": 0.0}


def test_weights_that_overflow_are_not_saved(project: Path) -> None:
    out = project / "wild"
    with pytest.raises(TrainingError, match=r"not finite after update 1 .*no checkpoint yet.*learning_rate"):
        killing.train(project / "pairs.tsv", out, resume=False, voice=killing.Quiet(), training=WILD)
    assert checkpoint.paths(out / "checkpoints") == []
    assert resume(out, learning_rate=1e-3, warmup=3).progress.step == killing.STEPS
    load_run(out)


@pytest.mark.parametrize("every", [1, 1000])
def test_weights_that_overflow_are_never_the_best(every: int, project: Path) -> None:
    out = project / "wild"
    wild = WILD | {"save_every": 1000, "validate_every": every, "stop_metric": "bleu"}
    with pytest.raises(TrainingError, match="the weights are not finite after update 1"):
        killing.train(project / "pairs.tsv", out, resume=False, voice=killing.Quiet(), training=wild)
    assert not list((out / "checkpoints").glob("best-*"))


def spoil(path: Path, name: str = "model.safetensors") -> None:
    """A checkpoint as an older seq2see could save it: whole, but not finite."""
    tensors = load_file(path / name)
    first = next(key for key, value in tensors.items() if value.is_floating_point() and value.dim() > 1)
    tensors[first][0, 0] = float("inf")
    save_file(tensors, path / name)
    manifest = {file: atomic.digest(path / file) for file in checkpoint.FILES}
    (path / "manifest.json").write_text(json.dumps(manifest))
    assert checkpoint.check(path) is None


@pytest.mark.parametrize("name", ["model.safetensors", "optimiser.safetensors"])
def test_resume_passes_over_a_checkpoint_that_is_not_finite(name: str, project: Path) -> None:
    out = project / "run"
    expected = digests(out)
    newest, before = checkpoint.paths(out / "checkpoints")
    spoil(newest, name)
    voice = killing.Quiet()
    resume(out, voice)
    assert any(newest.name in line and "not finite" in line and before.name in line for line in voice.messages)
    assert digests(out) == expected


def test_a_run_is_not_finished_with_weights_that_are_not_finite(project: Path) -> None:
    out = project / "run"
    before = digests(out)
    model = load_run(out).model
    with torch.no_grad():
        next(model.parameters()).view(-1)[0] = float("nan")
    with pytest.raises(TrainingError, match="not finite"):
        folder.finish(out, model)
    assert digests(out) == before


# ----- 10: never back to step 0 without being asked


def test_no_usable_checkpoint_is_an_error(project: Path) -> None:
    out = project / "run"
    before = digests(out)
    for path in checkpoint.paths(out / "checkpoints"):
        (path / "state.json").write_text("{}")
    voice = killing.Quiet()
    with pytest.raises(RunError, match=r"none of its 2 checkpoints can be used.*step-00000006.*from a copy"):
        resume(out, voice, steps=9)
    assert not any("using the checkpoint before" in line for line in voice.messages)
    assert digests(out) == before


def test_a_finished_run_without_checkpoints_does_not_begin_again(project: Path) -> None:
    out = project / "run"
    before = digests(out)
    shutil.rmtree(out / "checkpoints")
    with pytest.raises(RunError, match="has finished, and its checkpoints are gone"):
        resume(out, steps=9)
    assert digests(out) == before


# ----- 12: more time


class Clock:
    """Each look at it takes `tick` seconds."""

    def __init__(self, tick: float) -> None:
        self.tick = tick
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += self.tick
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock(0.04)
    for module in (harness, trainer, run):
        monkeypatch.setattr(module, "clock_of", lambda training: made.monotonic)
    return made


LIMITED = {"steps": None, "epochs": 1000, "time_limit": 1.0, "schedule": "cosine", "save_every": 1000, "ema": 0.0}


def limited(project: Path, clock: Clock) -> Path:
    out = project / "limited"
    killing.train(project / "pairs.tsv", out, resume=False, voice=killing.Quiet(), training=LIMITED)
    return out


def test_a_time_limit_on_resume_is_time_from_now_on(project: Path, clock: Clock) -> None:
    out = limited(project, clock)
    first = newest_progress(out)
    assert first.seconds < 1.5
    before = digests(out)
    assert resume(out).progress.step == first.step  # nothing is left of the old limit
    assert digests(out) == before
    resume(out, time_limit=1.0)
    second = newest_progress(out)
    assert second.step >= 1.5 * first.step
    assert 0.5 < second.seconds - first.seconds < 1.5
    resume(out, time_limit=1.0)  # the same number once more is once more time
    assert newest_progress(out).step > second.step


def newest_progress(out: Path) -> Any:
    found, _ = checkpoint.newest(out / "checkpoints")
    assert found is not None
    return found.progress


def test_more_time_after_the_clock_ran_out(project: Path, clock: Clock) -> None:
    """Updates that became slow: the limit ends the run before its plan does."""
    out = project / "limited"

    class Slow(killing.Quiet):
        def update(self, update: Any, progress: Any) -> None:
            clock.now += 0.2

    killing.train(project / "pairs.tsv", out, resume=False, voice=Slow(), training=LIMITED)
    stopped = newest_progress(out)
    assert "time limit" in stopped.stopped
    assert resume(out, Slow()).progress.step == stopped.step
    assert resume(out, time_limit=1.0).progress.step > stopped.step + 2


def test_an_extension_by_time_is_planned_once(project: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before its first checkpoint and resumed on a machine that is faster by then: the same weights."""
    faster = Clock(0.004)
    monkeypatch.setattr(trainer, "clock_of", lambda training: faster.monotonic)  # the plan ends it, not the clock
    monkeypatch.setattr(trainer.Pace, "is_review", lambda pace, step: False)  # nor is it planned again
    out = limited(project, clock)
    done = newest_progress(out).step
    straight = Path(shutil.copytree(out, project / "straight"))
    resume(straight, time_limit=1.0)
    with pytest.raises(Killed):
        resume(out, Dying(done + 1), time_limit=1.0)
    clock.tick /= 3
    resume(out)
    assert digests(out)["model.safetensors"] == digests(straight)["model.safetensors"]


def test_a_killed_run_plans_again_at_the_same_steps(project: Path, clock: Clock) -> None:
    """The machine slows down, so the rest is planned again; then the plug is pulled. On a fast machine it goes on."""
    out = project / "slow"

    class Slowing(Dying):
        def update(self, update: Any, progress: Any) -> None:
            clock.tick = 0.01 if update.step < 5 else 0.05
            super().update(update, progress)

    training = LIMITED | {"time_limit": 4.0, "validate_every": 1000}
    with pytest.raises(Killed):
        killing.train(project / "pairs.tsv", out, resume=False, voice=Slowing(12), training=training)
    decided = read_decisions(out)
    before = rates(out)
    assert decided
    clock.tick = 0.005
    resume(out)
    assert [rates(out)[step] for step in range(1, 12)] == [before[step] for step in range(1, 12)]
    assert read_decisions(out)[: len(decided)] == decided
    assert min(rates(out).values()) == rates(out)[max(rates(out))] < 0.05 * max(rates(out).values())


def rates(out: Path) -> dict[int, float]:
    entries = map(json.loads, (out / "metrics.jsonl").read_text().splitlines())
    return {entry["step"]: entry["rate"] for entry in entries if "rate" in entry}


def test_more_time_for_a_run_that_made_all_its_updates(project: Path, clock: Clock) -> None:
    assert resume(project / "run", time_limit=1.0).progress.step > killing.STEPS


# ----- 16: nothing that blocks the same command


def test_a_device_that_is_not_there_leaves_nothing(project: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has it")
    from seq2see.errors import ConfigError

    out = project / "fresh"
    with pytest.raises(ConfigError, match="cuda is not available"):
        killing.train(project / "pairs.tsv", out, resume=False, voice=killing.Quiet(), training={"device": "cuda"})
    assert not out.exists()
    before = {path.name for path in (project / "run").iterdir()}
    with pytest.raises(ConfigError, match="cuda is not available"):
        resume(project / "run", device="cuda", steps=9)
    assert {path.name for path in (project / "run").iterdir()} == before


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Ctrl-C as a stage of the beginning is reached."""

    def interrupt(name: str) -> None:
        def pressed(*arguments: Any, **named: Any) -> Any:
            raise KeyboardInterrupt

        monkeypatch.setattr(run, name, pressed)

    return interrupt


@pytest.mark.parametrize("stage", ["make_tokenizers", "prepare", "_model", "_task"])
def test_ctrl_c_before_the_first_update_leaves_nothing(
    stage: str, project: Path, stages: Callable[[str], None]
) -> None:
    out = project / "fresh"
    stages(stage)
    with pytest.raises(KeyboardInterrupt):
        killing.train(project / "pairs.tsv", out, resume=False, voice=killing.Quiet())
    assert not out.exists()


def test_a_run_killed_before_its_first_checkpoint_can_be_started_again(project: Path) -> None:
    out = project / "fresh"
    with pytest.raises(Killed):
        killing.train(project / "pairs.tsv", out, resume=False, voice=Dying(1))
    assert (out / "config.json").exists()
    voice = killing.Quiet()
    killing.train(project / "pairs.tsv", out, resume=False, voice=voice)
    assert any("before its first checkpoint" in line for line in voice.messages)
    assert digests(out)["model.safetensors"] == digests(project / "run")["model.safetensors"]


def test_only_what_training_made_is_cleared_away(project: Path) -> None:
    """The user's own files in a folder that a run began in are never touched."""
    out = project / "fresh"
    with pytest.raises(Killed):
        killing.train(project / "pairs.tsv", out, resume=False, voice=Dying(1))
    for name in ("thesis.txt", "data/mine.tsv"):
        (out / name).write_text("do not lose me")
        with pytest.raises(RunError, match=Path(name).name):
            killing.train(project / "pairs.tsv", out, resume=False, voice=killing.Quiet())
        assert (out / name).read_text() == "do not lose me"
        (out / name).unlink()
    mine = project / "mine"
    (mine / "data").mkdir(parents=True)
    (mine / "data" / "pairs.tsv").write_text("a\tb\n")
    with pytest.raises(RunError, match="is not empty and holds no run"):
        killing.train(project / "pairs.tsv", mine, resume=False, voice=killing.Quiet())
    assert (mine / "data" / "pairs.tsv").read_text() == "a\tb\n"


def test_a_checkpoint_is_never_cleared_away(project: Path) -> None:
    out = project / "fresh"
    with pytest.raises(Killed):
        killing.train(project / "pairs.tsv", out, resume=False, voice=Dying(3))
    assert checkpoint.paths(out / "checkpoints")
    with pytest.raises(RunError, match="already holds a run"):
        killing.train(project / "pairs.tsv", out, resume=False, voice=killing.Quiet())


# ----- 23: what a library borrows it gives back


def test_training_gives_back_threads_and_random_state(project: Path) -> None:
    torch.manual_seed(77)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        settings = killing.SETTINGS | {"data": {"train": [str(project / "pairs.tsv")]}}
        train_run(new_config(settings), project / "again", killing.Quiet())
        assert torch.get_num_threads() == 2
        assert torch.equal(torch.get_rng_state(), before)
    finally:
        torch.set_num_threads(threads)
