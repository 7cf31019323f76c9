"""Processes that train one model together: the same gradients, the same bytes again, and one that is lost."""

import json
import multiprocessing
import os
import random
import signal
import socket
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Timer
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import distributed

from seq2see.atomic import digest
from seq2see.errors import ConfigError, TrainingError
from seq2see.runs import folder
from seq2see.training import harness
from seq2see.training.auto import optimization
from seq2see.training.loop.task import Update
from seq2see.training.parallel import group
from seq2see.training.parallel.sharding import ShardedOptimizer
from seq2see.training.reporting import SilentReporter
from seq2see.training.run import new_config, train_run

STEPS = 8


def settings(**training: Any) -> dict[str, Any]:
    return {
        "data": {"train": ["builtin:reverse,count=300"], "valid_pairs": 10},
        "tokenizer": {"scheme": "word", "byte_fallback": False},
        "model": {"family": "transformer", "width": 16, "heads": 2, "inner": 16, "layers": 1, "dropout": 0.0},
        "training": {
            **{"steps": STEPS, "batch_tokens": 160, "threads": 1, "warmup": 2, "save_every": 3, "validate_every": 4},
            **training,
        },
    }


class Watching(SilentReporter):
    """Calls `act` after an update."""

    def __init__(self, step: int, act: Callable[[], None]) -> None:
        self.lines: list[str] = []
        self._step, self._act = step, act

    def update(self, update: Update, progress: Any) -> None:
        if update.step == self._step:
            self._act()

    def message(self, text: str) -> None:
        self.lines.append(text)


def others() -> list[BaseProcess]:
    return [process for process in multiprocessing.active_children() if process.name.startswith("seq2see-train")]


def metrics(run: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [line for line in lines if "norm" in line]


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two processes, with dropout: trained once, undisturbed."""
    out = tmp_path_factory.mktemp("together") / "run"
    config = settings(processes=2, word_dropout=0.1)
    config["model"]["dropout"] = 0.1
    train_run(new_config(config), out, SilentReporter())
    assert not others()
    return out


def again(out: Path, reporter: SilentReporter, **training: Any) -> str:
    """The same training in another folder: the SHA-256 of its weights."""
    config = settings(processes=2, word_dropout=0.1, **training)
    config["model"]["dropout"] = 0.1
    train_run(new_config(config), out, reporter)
    return digest(out / "model.safetensors")


@pytest.mark.parametrize("shard", [False, True])
def test_gradients_are_those_of_one_process(tmp_path: Path, shard: bool) -> None:
    """Batches of one or two pairs: now and then a process has nothing to do."""
    for processes in (1, 2):
        config = settings(
            processes=processes, shard=shard, accumulate=2, batch_tokens=24, save_every=1, steps=4, keep=4
        )
        train_run(new_config(config), tmp_path / str(processes), SilentReporter())
    for one, two in zip(metrics(tmp_path / "1"), metrics(tmp_path / "2"), strict=True):
        assert two["positions"] == one["positions"]
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-5)
        assert two["norm"] == pytest.approx(one["norm"], rel=1e-4)
    # What AdamW remembers after its first update is a tenth of the gradient.
    first = "checkpoints/step-00000001/optimiser.safetensors"
    one, two = (load_file(tmp_path / name / first) for name in ("1", "2"))
    gradients = [name for name in one if name.endswith(":exp_avg")]
    assert len(gradients) > 20
    assert set(one) == set(two)
    assert {name: value.shape for name, value in one.items()} == {name: value.shape for name, value in two.items()}
    for name in gradients:
        assert torch.allclose(10 * two[name], 10 * one[name], rtol=0, atol=1e-6), name


def test_a_process_that_is_killed_is_started_again_and_changes_nothing(together: Path, tmp_path: Path) -> None:
    reporter = Watching(5, lambda: others()[0].kill())
    assert again(tmp_path / "run", reporter) == digest(together / "model.safetensors")
    assert any("(process 1); starting again" in line for line in reporter.lines)
    assert not others()


def test_one_process_says_that_it_divides_with_nobody(tmp_path: Path) -> None:
    reporter = Watching(10**6, lambda: None)
    train_run(new_config(settings(processes=1, shard=True, steps=1)), tmp_path / "run", reporter)
    assert [line for line in reporter.lines if "training.shard" in line and "--processes 2" in line]


def test_of_a_divided_state_nothing_is_lost(together: Path, tmp_path: Path) -> None:
    """A process is killed and takes its part with it: all begin again at the checkpoint, and the bytes are the same; so
    they are where all of them are lost.

    They are also those of an undivided state but for the last bits of the norm that gradients are cut to.
    """
    undisturbed = again(tmp_path / "run", SilentReporter(), shard=True)
    kills = [lambda: others()[0].kill()]
    reporter = Watching(5, lambda: kills.pop()() if kills else None)  # update 5 is made twice
    assert again(tmp_path / "killed", reporter, shard=True) == undisturbed
    assert any("going on from update 3" in line for line in reporter.lines)

    class KilledError(Exception): ...

    def kill() -> None:
        raise KilledError

    with pytest.raises(KilledError):
        again(tmp_path / "resumed", Watching(5, kill), shard=True)
    train_run(folder.training_config(tmp_path / "resumed"), tmp_path / "resumed", SilentReporter(), resume=True)
    assert digest(tmp_path / "resumed" / "model.safetensors") == undisturbed
    divided, whole = load_file(tmp_path / "run" / "model.safetensors"), load_file(together / "model.safetensors")
    for name, value in whole.items():
        if not name.endswith("key_projection.bias"):  # its gradient is zero but for rounding, which AdamW makes large
            assert torch.allclose(divided[name], value, rtol=0, atol=1e-5), name


def test_a_divided_state_lost_before_anything_was_saved_is_said(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="is gone, and nothing was saved yet"):
        again(tmp_path / "run", Watching(1, lambda: others()[0].kill()), shard=True)
    assert not others()


def test_each_process_holds_its_part(tmp_path: Path) -> None:
    """Every number of every parameter has one owner, whatever the sizes."""
    model = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.Linear(5, 3, bias=False))
    optimiser = ShardedOptimizer(model, new_config(settings()).training)
    for size in (1, 2, 3, 40):
        owned = []
        for rank in range(size):
            optimiser._group = SimpleNamespace(rank=rank, size=size)  # type: ignore[assignment]
            owned += [(name, number) for name, start, end in optimiser._own() for number in range(start, end)]
        assert sorted(owned) == sorted(
            (name, number) for name, p in optimiser.named.items() for number in range(p.numel())
        )


@pytest.mark.slow
def test_a_process_that_hangs_is_noticed_in_time(
    together: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "LocalGroup", lambda *arguments: group.LocalGroup(*arguments, seconds=2.0))
    reporter = Watching(5, lambda: os.kill(others()[0].pid or 0, signal.SIGSTOP))
    assert again(tmp_path / "run", reporter) == digest(together / "model.safetensors")
    assert any("does not answer within 2 s" in line for line in reporter.lines)


@pytest.mark.slow
def test_ten_stops_at_random_moments_are_noticed_in_time(
    together: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within the time that an answer may take and five seconds; the run goes on, and its bytes are the same."""
    patience = 2.0
    monkeypatch.setattr(harness, "LocalGroup", lambda *arguments: group.LocalGroup(*arguments, seconds=patience))
    choose, late = random.Random(20), []
    for number in range(10):
        stopped: list[float] = []

        class Timed(Watching):
            def message(self, text: str, stopped: list[float] = stopped) -> None:
                super().message(text)
                if "does not answer" in text:
                    late.append(time.monotonic() - stopped[0])

        def stop(stopped: list[float] = stopped) -> None:
            def act(process: int = others()[0].pid or 0) -> None:
                stopped.append(time.monotonic())
                os.kill(process, signal.SIGSTOP)

            Timer(choose.uniform(0.0, 0.05), act).start()  # anywhere within an update

        reporter = Timed(choose.randrange(1, STEPS - 4), stop)
        assert again(tmp_path / str(number), reporter) == digest(together / "model.safetensors")
    print(f"noticed after {', '.join(f'{seconds:.1f}' for seconds in late)} s")
    assert len(late) == 10
    assert max(late) <= patience + 5


@pytest.mark.parametrize("server_is_first", [pytest.param(False, marks=pytest.mark.slow), True])
def test_a_first_process_that_stops_ends_the_others_under_torchrun(tmp_path: Path, server_is_first: bool) -> None:
    """They wait for its word as long as it takes, so that it has to give signs of life. Where it holds the store that
    the signs are in as well, that is silent too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    store = None if server_is_first else distributed.TCPStore("127.0.0.1", port, 2, True, wait_for_workers=False)
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    processes = [
        context.Process(target=in_launched_group, args=(rank, port, store is not None, ready)) for rank in (0, 1)
    ]
    for process in processes:
        process.start()
    try:
        assert ready.wait(60)
        processes[1].join(3)
        assert processes[1].is_alive(), "the first one lives, and gives signs"
        os.kill(processes[0].pid or 0, signal.SIGSTOP)
        began = time.monotonic()
        processes[1].join(60)
        assert processes[1].exitcode == 1
        assert time.monotonic() - began < 1.0 + 5
    finally:
        for process in processes:
            process.kill()
            process.join()


def in_launched_group(rank: int, port: int, has_agent: bool, ready: Any) -> None:
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo"}
    os.environ["TORCHELASTIC_USE_AGENT_STORE"] = str(has_agent)
    with group.LaunchedGroup(group.Launched(rank, 2, 0), seconds=1.0) as joined:
        if rank == 0:
            ready.set()
            time.sleep(300)  # reads, validates, saves
        joined.hear()


def test_a_run_that_is_killed_goes_on_with_the_same_bytes(together: Path, tmp_path: Path) -> None:
    """Whatever is lost of the first process is in the checkpoint; another number of processes is told."""

    class KilledError(Exception): ...

    def kill() -> None:
        raise KilledError

    with pytest.raises(KilledError):
        again(tmp_path / "run", Watching(5, kill))
    assert not others()
    reporter = Watching(0, kill)
    train_run(folder.training_config(tmp_path / "run"), tmp_path / "run", reporter, resume=True)
    assert digest(tmp_path / "run" / "model.safetensors") == digest(together / "model.safetensors")


def test_another_number_of_processes_is_said(together: Path) -> None:
    config = folder.training_config(together)
    training = config.training.model_copy(update={"processes": 1, "steps": STEPS + 1})
    reporter = Watching(0, lambda: None)
    train_run(config.model_copy(update={"training": training}), together, reporter, resume=True)
    assert any("processes was 2, is 1" in line for line in reporter.lines)


def test_one_that_is_lost_again_and_again_ends_it(tmp_path: Path) -> None:
    def follow(out: Path, joined: group.ProcessGroup) -> None: ...

    started = group.LocalGroup(tmp_path, 2, follow, lambda line: None)
    started._started = 4
    with pytest.raises(TrainingError, match="has ended, for the 4th time; what was saved goes on with --resume"):
        started.restart(group.LostProcessError("a process of the 2 that train together has ended"))


@pytest.mark.slow
def test_numbers_that_overflow_in_another_process_are_named(tmp_path: Path) -> None:
    config = settings(processes=2, learning_rate=1e30, clip=1e30, warmup=0)
    with pytest.raises(TrainingError, match="not finite"):
        train_run(new_config(config), tmp_path / "run", SilentReporter())
    assert not others()


def test_a_voice_has_one_process(tmp_path: Path) -> None:
    from seq2see.speech.training import new_config as new_voice
    from seq2see.speech.training import train_voice

    config = new_voice({"data": {"train": ["builtin:espeak"]}, "training": {"processes": 2}})
    with pytest.raises(ConfigError, match="a voice is trained in one process"):
        train_voice(config, tmp_path / "run", SilentReporter())


@pytest.mark.parametrize(
    ("free", "processes"), [(1.0, None), (1.7, None), (1.8, 2), (2.0, 2), (3.6, 3), (7.9, 8), (64.0, 8)]
)
def test_as_many_processes_as_cores_are_free(free: float, processes: int | None) -> None:
    choice = optimization.choose_processes(free)
    assert (choice and choice.settings["training.processes"]) == processes


def test_torchrun_is_known_by_its_environment() -> None:
    told = {"TORCHELASTIC_RUN_ID": "x", "RANK": "1", "WORLD_SIZE": "2", "TORCHELASTIC_RESTART_COUNT": "3"}
    assert group.Launched.read(told) == (1, 2, 3)
    assert group.Launched.read(told | {"WORLD_SIZE": "1"}) is None
    assert group.Launched.read({"RANK": "1", "WORLD_SIZE": "2"}) is None
