"""The demo from start to end: for seconds, to see that every part is there; at full length, to see that it is true."""

import io
import multiprocessing
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from seq2see.cli import app
from seq2see.demo import DemoReporter, Findings, Plan, parallel, run, show
from seq2see.demo.parallel import Listener, News, Note, train_both, untrained
from seq2see.demo.plan import FAMILIES, claim
from seq2see.errors import RunError
from seq2see.runs import folder
from seq2see.session import load

ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


class Told(NamedTuple):
    """A demo of a moment: nothing is learned, everything is shown."""

    plan: Plan
    found: Findings
    shown: str
    progress: str


def tell(plan: Plan) -> Told:
    progress, shown = io.StringIO(), io.StringIO()
    with DemoReporter(Console(file=progress, width=80)) as reporter:
        found = run(plan, reporter, "seq2see demo")
    Console(file=shown, width=80).print(show(found, plan), crop=False)
    return Told(plan, found, shown.getvalue(), progress.getvalue())


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Told:
    out = tmp_path_factory.mktemp("demo") / "my runs" / "demo"
    return tell(Plan(out, seconds=1.0, pairs=400, each=12))


def test_every_part_is_shown(short: Told) -> None:
    for part in (
        "BLEU by length: words of the reference",
        "25 words and more (24 sentences): BLEU",
        "A typical long sentence",
        "What rnnsearch looked at",
        "★ the word looked at most",
        "Try next",
    ):
        assert part in short.shown
    for row in ("1-8", "9-16", "17-24", "25-32", "33+"):
        assert re.search(rf"^ *{re.escape(row)} +12 ", short.shown, flags=re.MULTILINE)
    for family, trained in short.found.trained.items():
        assert re.search(rf"^{family} +\w", short.shown, flags=re.MULTILINE)
        assert f"{trained.parameters:,} parameters, {trained.updates:,} updates" in short.shown
    assert short.found.drawn.source in short.shown


def test_what_to_try_next_are_commands_that_there_are(short: Told) -> None:
    known = {command.name for command in app.registered_commands}
    lines = [line.strip() for line in short.shown.split("Try next")[1].splitlines() if line.strip()]
    words = [shlex.split(line.split(" | ")[-1]) for line in lines]
    assert all(word[0] == "seq2see" and word[1] in known for word in words)
    compare = next(word for word in words if word[1] == "compare")
    assert all(Path(path).exists() for path in compare[2:5])


def test_progress_of_both_is_told_apart_from_the_result(short: Told) -> None:
    assert re.search(r"rnn \d+/\d+ loss \d.*rnnsearch \d+/\d+ loss \d", short.progress)
    assert "tokens/s" not in short.shown


def test_two_runs_and_a_report_are_left(short: Told) -> None:
    for family in FAMILIES:
        trained = folder.load_run(short.plan.run(family))
        assert trained.config.model["family"] == family
        assert trained.config.training.threads == 1
    page = short.plan.report.read_text(encoding="utf-8")
    assert "With and without attention" in page
    assert "25 words and more" in page


def test_the_same_demo_is_shown_again_without_training(short: Told) -> None:
    files = [path for path in short.plan.out.glob("*/*") if path.is_file()]
    before = {path: path.stat().st_mtime_ns for path in files}
    again = tell(short.plan)
    assert again.shown == short.shown
    assert "training" not in again.progress
    assert {path: path.stat().st_mtime_ns for path in files} == before


def test_the_typical_sentence_is_long_and_in_the_middle(short: Told) -> None:
    typical = short.found.typical
    long = [one.gain for one in short.found.comparison.sentences if len(one.reference.split()) >= 25]
    assert len(typical.reference.split()) >= 25
    assert sum(gain > typical.gain for gain in long) <= len(long) / 2
    assert sum(gain < typical.gain for gain in long) <= len(long) / 2


def test_each_output_is_of_the_model_it_is_named_after(short: Told) -> None:
    typical = short.found.typical
    for family, output in zip(FAMILIES, (typical.a, typical.b), strict=True):
        assert load(short.plan.run(family)).translate(typical.source).text == output


# ----- stopping and failing


def trainings(pid: int) -> list[int]:
    """The training processes of a demo; Python keeps a helper of its own beside them, which outlives it by a moment."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def blocks(pid: int, number: signal.Signals) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    return bool(int(re.findall(r"^SigBlk:\t(\w+)$", status, flags=re.MULTILINE)[0], 16) >> (number - 1) & 1)


def hearing() -> None:
    """A shell that starts tests in the background lets them ignore Ctrl-C, and their children with them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_for_updates(out: Path, process: "subprocess.Popen[str]") -> None:
    metrics = [out / family / "metrics.jsonl" for family in FAMILIES]
    for _ in range(12_000):
        if process.poll() is not None:
            raise AssertionError(process.stderr.read() if process.stderr else "ended")
        if all(path.exists() and path.stat().st_size for path in metrics):
            return
        time.sleep(0.05)
    raise AssertionError("training makes no updates")


@pytest.mark.slow  # half a minute; Ctrl-C at a training is in cli/test_signals.py
def test_ctrl_c_stops_both_and_the_same_command_goes_on(tmp_path: Path) -> None:
    plan = Plan(tmp_path / "demo", seed=2, pairs=400)
    words = [sys.executable, "-m", "seq2see", "demo", "--out", str(plan.out), "--seed", "2", "--pairs", "400"]
    process = subprocess.Popen(
        words,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hearing,
    )
    try:
        wait_for_updates(plan.out, process)
        started = trainings(process.pid)
        deaf = [blocks(child, signal.SIGINT) for child in started]
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
        _, said = process.communicate(timeout=600)
    finally:
        process.kill()
        process.communicate()
    assert deaf == [True, True], "or a second Ctrl-C tears a training apart"
    assert process.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    assert not [child for child in started if Path(f"/proc/{child}").exists()]
    check_that_it_goes_on(plan)


def check_that_it_goes_on(plan: Plan) -> None:
    assert untrained(plan) == list(FAMILIES)
    for family in FAMILIES:
        assert len(list((plan.run(family) / "checkpoints").glob("step-*"))) == 1
    claim(plan)
    heard: dict[str, list[int]] = {family: [] for family in FAMILIES}
    with pytest.raises(InterruptedError):
        train_both(plan, until_updates(heard))
    for family in FAMILIES:
        assert heard[family][0] > 1, "goes on from its checkpoint"


def until_updates(heard: dict[str, list[int]]) -> Listener:
    def listen(family: str, said: News | Note) -> None:
        if isinstance(said, News):
            heard[family].append(said.step)
        if all(heard.values()):
            raise InterruptedError

    return listen


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_training_that_fails_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings that are forked need not import torch again."""
    monkeypatch.setattr(parallel, "get_context", lambda _: multiprocessing.get_context("fork"))
    plan = Plan(tmp_path / "demo", pairs=400)
    claim(plan)
    for family in FAMILIES:  # what a training leaves that was killed before it could be resumed
        plan.run(family).mkdir()
        (plan.run(family) / folder.TOKENIZERS[0]).write_text("{")
    with pytest.raises(RunError, match=r"^rnn(search)?: [^\n]*pairs\.tsv[^\n]*$"):  # there is none
        train_both(plan, lambda family, said: None)
    assert not list(plan.out.glob("*/.lock"))


@pytest.mark.slow
def test_a_training_that_somebody_kills_is_said(tmp_path: Path) -> None:
    plan = Plan(tmp_path / "demo", pairs=400)
    claim(plan)
    plan.training_pairs.write_text("a b\tc d\n" * 50)

    def kill(family: str, said: News | Note) -> None:
        for child in trainings(os.getpid()):
            os.kill(child, signal.SIGKILL)

    with pytest.raises(RunError, match=r"ended without a word \(exit code -9\)"):
        train_both(plan, kill)


@pytest.mark.slow
def test_attention_is_worth_thirty_bleu_on_long_sentences(tmp_path: Path) -> None:
    began = time.monotonic()
    told = tell(Plan(tmp_path / "demo"))
    print(f"{time.monotonic() - began:.0f} s\n{told.shown}")
    difference = told.found.long[2].difference
    assert difference is not None
    assert difference >= 30
    lengths = told.found.comparison.by_length
    falls = [row.score or 0.0 for row in lengths.a.rows]
    stays = [row.score or 0.0 for row in lengths.b.rows]
    assert falls[-1] < 0.6 * falls[0], "without attention quality falls with length"
    assert stays[-1] > 0.75 * max(stays), "with attention it stays"
