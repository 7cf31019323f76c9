"""Standard streams that are closed, broken or full: one line that names the right file, or none."""

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from seq2see.cli import main

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import SOURCES, make_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", "luong", sharp=2.0)


def seq2see(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    return code if isinstance(code, int) else 0


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("나는\n너는\n")
    return path


@pytest.mark.parametrize("verb", ["translate", "speak", "evaluate"])
def test_a_closed_input_is_said(
    run: Path, source: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], verb: str
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    if verb == "speak":
        from seq2see.speech.synthesis import Voice

        monkeypatch.setattr(Voice, "load", lambda _: Voice.__new__(Voice))
        monkeypatch.setattr(Voice, "speak_all", lambda self, texts, **options: iter(texts))
    words = {"translate": [run], "speak": [run], "evaluate": ["--hypotheses", "-", source, source]}
    assert seq2see(monkeypatch, verb, *words[verb]) == 2
    message = capfd.readouterr().err
    assert message == "seq2see: standard input is closed; name a file to read\n"


@pytest.mark.parametrize(
    "words",
    [["translate", "RUN", "FILE"], ["look", "RUN", "나는"], ["data", "FILE", "FILE"], ["explain", "--lesson"]],
)
def test_a_closed_output_is_said(
    run: Path,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: list[str],
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    code = seq2see(monkeypatch, *({"RUN": run, "FILE": source}.get(word, word) for word in words))
    message = capfd.readouterr().err
    assert message == "seq2see: standard output is closed; name a file to write, with --out\n"
    assert code == 2


def test_closed_streams_that_are_not_needed_do_no_harm(
    run: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = source.with_name("out.txt")
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert seq2see(monkeypatch, "translate", run, source, "-o", out, "--search", "max_length=4") == 0
    sys.stderr.close()  # the one that stood in for it
    assert out.read_bytes().count(b"\n") == 2


class Failing(io.RawIOBase):
    """A stream that cannot be written to."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._spare = os.open(os.devnull, os.O_WRONLY)  # what rich turns into /dev/null when nobody reads any more

    def fileno(self) -> int:
        return self._spare

    def writable(self) -> bool:
        return self._number != 0

    def write(self, data: object) -> int:
        if self._number:
            raise OSError(self._number, os.strerror(self._number))
        return len(bytes(data))  # type: ignore[call-overload]


@pytest.mark.parametrize("words", [["translate", "RUN", "FILE"], ["data", "FILE", "FILE"], ["explain", "--lesson"]])
@pytest.mark.parametrize(("problem", "code"), [("ENOSPC", 2), ("EPIPE", 1)])
def test_an_output_that_fails_is_named(
    run: Path,
    source: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: list[str],
    problem: str,
    code: int,
) -> None:
    """A full disk is said, and of what; a reader that went away has seen enough."""
    import errno

    raw = Failing(getattr(errno, problem))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BufferedWriter(raw, 64), "utf-8"))
    arguments = [{"RUN": run, "FILE": source}.get(word, word) for word in words]
    try:
        assert seq2see(monkeypatch, *arguments) == code
    finally:
        raw._number = 0
    message = capfd.readouterr().err
    if problem == "EPIPE":
        assert message == ""
    else:
        assert message == "seq2see: standard output: cannot be written (No space left on device)\n"


def test_the_input_is_not_appended_to_itself(
    run: Path, source: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """translate RUN in.txt >> in.txt"""
    before, real = source.read_bytes(), os.fstat

    def stat_of(place: object, **options: object) -> os.stat_result:
        return real_stat(source) if place == 1 else real_stat(place, **options)  # type: ignore[arg-type]

    real_stat = os.stat
    monkeypatch.setattr(os, "stat", stat_of)
    code = seq2see(monkeypatch, "translate", run, source)
    monkeypatch.setattr(os, "stat", real_stat)
    assert (code, real is os.fstat) == (2, True)
    assert "standard output: is also read" in capfd.readouterr().err
    assert source.read_bytes() == before


def children(pid: int) -> set[int]:
    found = {int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()}
    return {one for one in found if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()}


def alive(pids: set[int]) -> set[int]:
    """Those that still run; one that nobody has asked about yet has ended all the same."""
    found = set()
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        found |= {pid} if state not in "ZX" else set()
    return found


def wait_until(true: object, seconds: float = 600) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if true():  # type: ignore[operator]
            return True
        time.sleep(0.05)
    return False


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks at processes through /proc")
@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_no_worker_outlives_the_command(run: Path, tmp_path: Path, number: signal.Signals) -> None:
    """Killed, it cannot tell them; interrupted, it keeps what they have done."""
    source, out = tmp_path / "in.txt", tmp_path / "out.txt"
    source.write_text("".join(f"{SOURCES[place % 4]} {place}\n" for place in range(60_000)))
    words = [
        "translate",
        str(run),
        str(source),
        "-o",
        str(out),
        "--workers",
        "2",
        "--beam",
        "1",
        "--search",
        "max_length=4",
        "--engine",
        "torch",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "seq2see", *words],
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        start_new_session=True,
    )
    part = tmp_path / "out.txt.seq2see-part"
    workers: set[int] = set()
    try:
        assert wait_until(lambda: part.exists() and part.stat().st_size)
        workers = children(process.pid)
        assert len(workers) == 2
        os.killpg(
            process.pid, number
        ) if number == signal.SIGINT else process.kill()  # a terminal tells the whole group
        _, message = process.communicate(timeout=600)
        assert wait_until(lambda: not alive(workers))
    finally:
        process.kill()
        for pid in alive(workers):
            os.kill(pid, signal.SIGKILL)
    assert b"Traceback" not in message
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert b"--resume" in message
