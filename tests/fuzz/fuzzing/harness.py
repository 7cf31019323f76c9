"""The parent: drives a child process, counts, keeps what was found, and goes on with a new child when one dies."""

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[3]
PATIENCE = 1200.0  # seconds on the clock without an answer: the child hangs where no signal handler runs
_INPUTS_OF_A_CHILD = 4000  # then a new one, so that nothing adds up
_KEPT = 3  # inputs saved of the same finding


@dataclass(frozen=True)
class Finding:
    """What a reader must not do, and the one line that shows it again."""

    target: str
    seed: int
    kind: str
    error: str
    where: str = ""

    @property
    def alike(self) -> tuple[str, str, str, str]:
        """Findings of one sort, which most likely have one cause."""
        return self.target, self.kind, self.error.partition(":")[0], self.where

    @property
    def again(self) -> str:
        return f"python tests/fuzz/run.py --format {self.target} --seed {self.seed}"

    def __str__(self) -> str:
        return f"{self.kind}: {self.error}{f' ({self.where})' if self.where else ''}\n    {self.again}"


@dataclass
class Figures:
    """Of one target, or of all."""

    inputs: int = 0
    accepted: int = 0
    refused: int = 0
    findings: int = 0
    slowest: float = 0.0  # seconds of CPU
    largest: int = 0  # bytes above what the process held
    seconds: float = 0.0

    def add(self, answer: dict[str, Any]) -> None:
        self.inputs += 1
        self.accepted += answer["kind"] == "accepted"
        self.refused += answer["kind"] == "refused"
        self.findings += answer["kind"] not in ("accepted", "refused")
        self.slowest = max(self.slowest, answer["seconds"])
        self.largest = max(self.largest, answer["bytes"])
        self.seconds += answer["seconds"]

    def plus(self, other: "Figures") -> "Figures":
        sums = {
            name: getattr(self, name) + getattr(other, name)
            for name in ("inputs", "accepted", "refused", "findings", "seconds")
        }
        return Figures(**sums, slowest=max(self.slowest, other.slowest), largest=max(self.largest, other.largest))


@dataclass
class Harness:
    """`with Harness() as harness: harness.run("po", range(100))`."""

    keep: Path | None = None
    """Where the inputs of findings are saved; nowhere if None."""
    patience: float = PATIENCE
    seconds: float | None = None
    """Of CPU time that an input may take, if not the usual limits."""
    engines: Path | None = None
    """A run with both engines, made already: exporting takes long."""
    figures: dict[str, Figures] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    _seen: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    _child: "Child | None" = None

    def __enter__(self) -> "Harness":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def run(self, target: str, seeds: Iterable[int]) -> list[Finding]:
        """Runs these seeds; what was found among them."""
        waiting, news = list(seeds), []
        while waiting:
            some, waiting = waiting[:_INPUTS_OF_A_CHILD], waiting[_INPUTS_OF_A_CHILD:]
            done = 0
            for answer in self._answers(target, some):
                done += 1
                news += self._count(target, answer)
            waiting = some[done:] + waiting
        for finding in news:
            self._keep(finding)
        return news

    def run_saved(self, target: str, folder: Path) -> dict[str, Any]:
        """An input that was saved, once more."""
        child = self._started()
        child.ask({"target": target, "input": str(folder)})
        return child.answer(self.patience) or self._died(child)

    def save(self, target: str, seed: int, folder: Path) -> None:
        child = self._started()
        child.ask({"target": target, "save": seed, "into": str(folder)})
        if child.answer(self.patience) is None:
            raise RuntimeError(f"the input could not be made: {child.last_words()}")

    def _answers(self, target: str, seeds: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Up to the seed that kills the child, that one included."""
        child = self._started()
        child.ask({"target": target, "seeds": list(seeds), "seconds": self.seconds})
        if child.answer(self.patience) is None:
            raise RuntimeError(f"the seeds of {target} could not be made or are refused: {child.last_words()}")
        for seed in seeds:
            answer = child.answer(self.patience)
            if answer is None:
                yield {"seed": seed, **self._died(child)}
                return
            child.inputs += 1
            yield answer
        if child.inputs >= _INPUTS_OF_A_CHILD:
            self._end()

    def _died(self, child: "Child") -> dict[str, Any]:
        code, words = child.ended(), child.last_words()
        self._end()
        if code is None:
            return {
                "kind": "time",
                "error": f"no answer for {self.patience:g} seconds",
                "where": "",
                "seconds": 0.0,
                "bytes": 0,
            }
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return {
            "kind": "signal",
            "error": f"the process ended with {how}: {words}",
            "where": "",
            "seconds": 0.0,
            "bytes": 0,
        }

    def _count(self, target: str, answer: dict[str, Any]) -> list[Finding]:
        self.figures.setdefault(target, Figures()).add(answer)
        if answer["kind"] in ("accepted", "refused"):
            return []
        finding = Finding(target, answer["seed"], answer["kind"], answer["error"], answer["where"])
        self._seen[finding.alike] = self._seen.get(finding.alike, 0) + 1
        self.findings.append(finding)
        return [finding]

    def _keep(self, finding: Finding) -> None:
        """The first inputs of each sort."""
        alike = [other for other in self.findings if other.alike == finding.alike]
        if self.keep is not None and finding in alike[:_KEPT]:
            self.save(finding.target, finding.seed, self.keep.resolve() / f"{finding.target}-{finding.seed}")

    def different(self) -> list[tuple[Finding, int]]:
        """One finding of each sort, and how many there were of it."""
        firsts: dict[tuple[str, str, str, str], Finding] = {}
        for finding in self.findings:
            firsts.setdefault(finding.alike, finding)
        return [(finding, self._seen[alike]) for alike, finding in firsts.items()]

    def _started(self) -> "Child":
        if self._child is None:
            self._child = Child(self.engines)
        return self._child

    def _end(self) -> None:
        if self._child is not None:
            self._child.close()
        self._child = None


class Child:
    """A process that reads inputs, with a folder of its own."""

    def __init__(self, engines: Path | None = None) -> None:
        self.inputs = 0
        self.folder = Path(tempfile.mkdtemp(prefix="seq2see-fuzz-"))
        (self.folder / "tmp").mkdir()
        reading, writing = os.pipe()
        self._log = (self.folder / "log").open("wb")
        self._process = subprocess.Popen(
            # -P: nothing is imported from the folder of the script, which has a `folders` like tests/session.
            [sys.executable, "-P", str(Path(__file__).with_name("worker.py")), str(self.folder), str(writing)],
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=self._log,
            pass_fds=(writing,),
            env=os.environ
            | {
                "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH")))),
                "PYTHONDONTWRITEBYTECODE": "1",
                "PYTHONUTF8": "1",
                "TMPDIR": str(self.folder / "tmp"),
                "OMP_NUM_THREADS": "1",
                "TOKENIZERS_PARALLELISM": "false",
                "FUZZ_ENGINES": str(engines or ""),
            },
        )
        os.close(writing)
        self._reading = os.fdopen(reading, "rb", buffering=0)
        self._pending = b""

    def ask(self, request: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died: the answer that does not come says so
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()

    def answer(self, patience: float) -> dict[str, Any] | None:
        """The next one, or None when none comes."""
        deadline = time.monotonic() + patience
        while b"\n" not in self._pending:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._reading], [], [], left)[0]:
                return None
            data = self._reading.read(1 << 16)
            if not data:
                return None
            self._pending += data
        line, _, self._pending = self._pending.partition(b"\n")
        return json.loads(line)  # type: ignore[no-any-return]

    def ended(self) -> int | None:
        """The exit code, None if it still runs."""
        try:
            return self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return None

    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        lines = (self.folder / "log").read_text(errors="replace").strip().splitlines()
        return " | ".join(line.strip() for line in lines[-4:])[-400:]

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait()
        self._reading.close()
        self._log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def table(figures: dict[str, Figures]) -> str:
    """Markdown, a row for each target and one for all."""
    rows = [
        "| reader | inputs | accepted | refused | findings | slowest, s | most memory, MB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    total = Figures()
    for name, of_target in figures.items():
        total = total.plus(of_target)
        rows.append(_row(name, of_target))
    return "\n".join([*rows, _row("**all**", total)])


def _row(name: str, figures: Figures) -> str:
    counts = (figures.inputs, figures.accepted, figures.refused, figures.findings)
    cells = (name, *(f"{count:,}" for count in counts), f"{figures.slowest:.2f}", f"{figures.largest / 1e6:.0f}")
    return f"| {' | '.join(cells)} |"


def as_json(harness: Harness) -> str:
    """The same for programs, with every sort of finding."""
    findings = [{**asdict(finding), "count": count, "again": finding.again} for finding, count in harness.different()]
    return json.dumps({"figures": {n: asdict(f) for n, f in harness.figures.items()}, "findings": findings}, indent=1)
