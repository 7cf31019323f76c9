"""How texts are dealt to the workers; that they say the same as one process is tested with the command."""

import multiprocessing
from pathlib import Path

import pytest

from seq2see.errors import ConfigError, RunError
from seq2see.search import SearchConfig
from seq2see.session import bulk
from seq2see.session.bulk import _chunks, translate_bulk
from seq2see.session.translation import Request


@pytest.mark.parametrize(
    ("count", "sizes"),
    [(0, []), (1, [1]), (2, [1, 1]), (7, [4, 3]), (10, [5, 5]), (13, [5, 5, 3]), (21, [5, 5, 5, 5, 1])],
)
def test_of_few_texts_every_worker_gets_its_share(count: int, sizes: list[int]) -> None:
    requests = [Request(str(number)) for number in range(count)]
    found = list(_chunks(iter(requests), workers=2, chunk=5))
    assert [len(chunk) for chunk in found] == sizes
    assert [request for chunk in found for request in chunk] == requests


def test_no_workers_are_too_few() -> None:
    with pytest.raises(ConfigError, match="workers = 0"):
        next(translate_bulk([Path("run")], [Request("a")], SearchConfig(), workers=0))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_what_a_worker_cannot_do_is_said_by_the_first_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes through the pipe as one line, and nobody is left behind. Forked, it need not import torch again."""
    monkeypatch.setattr(bulk, "get_context", lambda _: multiprocessing.get_context("fork"))
    before = set(multiprocessing.active_children())
    with pytest.raises(RunError, match="not a run folder"):
        list(translate_bulk([tmp_path], [Request("a")], SearchConfig(), workers=1))
    assert set(multiprocessing.active_children()) <= before
