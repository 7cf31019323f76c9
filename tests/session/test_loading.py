"""`seq2see.load` and `seq2see.train` as a program uses them: pairs from memory, and nothing of the caller's changed."""

import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from folders import FAMILIES, make_run

import seq2see
from seq2see.errors import DataError, RunError
from seq2see.runs.config import VERSION
from seq2see.runs.folder import read_run_config

QUICK: dict[str, Any] = {"training": {"steps": 2, "threads": 1}}
PAIRS = [[f"a b {number}", f"{number} b a"] for number in range(60)]


@pytest.fixture
def unchanged() -> Iterator[None]:
    """Random state, threads and signal handlers are the caller's."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    numbers = np.random.get_state()[1].copy()  # type: ignore[index,union-attr]
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    yield
    try:
        assert torch.equal(torch.get_rng_state(), before)
        assert torch.get_num_threads() == 2
        assert np.array_equal(np.random.get_state()[1], numbers)  # type: ignore[index]
        assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers
    finally:
        torch.set_num_threads(threads)


@pytest.mark.parametrize(
    "family",
    [pytest.param(name, marks=[] if name in ("luong", "transformer") else pytest.mark.slow) for name in FAMILIES],
)
def test_loading_leaves_the_random_state(family: str, tmp_path: Path, unchanged: None) -> None:
    with torch.random.fork_rng():
        path = make_run(tmp_path / "run", family)
    seq2see.load(path)


def train(pairs: Any, out: Path, **settings: Any) -> Any:
    return seq2see.train(pairs, out=out, model="rnn", size="tiny", quiet=True, settings=QUICK, **settings)


def test_training_leaves_random_state_threads_and_signals(tmp_path: Path, unchanged: None) -> None:
    train(PAIRS, tmp_path / "run")


def test_training_that_fails_leaves_them_too(tmp_path: Path, unchanged: None) -> None:
    with pytest.raises(DataError, match="holds no pair"):
        train([("", "")], tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "kind",
    [list, tuple, iter, lambda pairs: [tuple(pair) for pair in pairs]],
    ids=["list", "tuple", "iterator", "list of tuples"],
)
def test_pairs_from_memory(kind: Callable[[Any], Any], tmp_path: Path) -> None:
    """Lists of lists, as JSON has them, lists of tuples, and what can be walked through only once."""
    out = tmp_path / "run"
    train(kind(PAIRS), out)
    lines = [json.loads(line) for line in (out / "pairs.jsonl").read_text().splitlines()]
    assert [[line["source"], line["target"]] for line in lines] == PAIRS


def test_validation_pairs_from_memory(tmp_path: Path) -> None:
    train(PAIRS[:50], tmp_path / "run", valid=zip(*zip(*PAIRS[50:], strict=True), strict=True))
    assert len((tmp_path / "run" / "valid.jsonl").read_text().splitlines()) == 10


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([["a", "b", "c"]], "pair 0 is not a"),
        ([["a", "b"], "c"], "pair 1 is not a"),
        ([{"source": "a", "target": "b"}], "pair 0 is not a"),
        ([["a", None]], "pair 0 is not a"),
        ([], "no pairs given"),
        (3, "name a file, or give a list"),
        (None, "name a file, or give a list"),
    ],
)
def test_what_is_no_pair_is_told(pairs: Any, expected: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=expected):
        train(pairs, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_of_the_users_is_not_overwritten_by_pairs_from_memory(tmp_path: Path) -> None:
    out = tmp_path / "mine"
    out.mkdir()
    (out / "pairs.jsonl").write_text('{"source": "my own", "target": "work"}\n')
    with pytest.raises(RunError, match="is not empty"):
        train(PAIRS, out)
    assert (out / "pairs.jsonl").read_text() == '{"source": "my own", "target": "work"}\n'


def test_the_same_call_again_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seq2see.training import harness

    class Killed(BaseException): ...

    def killed(*arguments: Any, **named: Any) -> Any:
        raise Killed

    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr(harness.Trainer, "train", killed)
        with pytest.raises(Killed):
            train(PAIRS, out)
    assert (out / "config.json").exists()
    assert train(PAIRS, out).translate("a b 3").text is not None


@pytest.mark.parametrize("version", [VERSION + 1, "2", 1.5])
def test_a_run_of_another_version_says_so(version: Any, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"version": version}))
    with pytest.raises(RunError, match=f"made by a newer seq2see .format {version!r}; this one reads up to {VERSION}"):
        read_run_config(tmp_path)
