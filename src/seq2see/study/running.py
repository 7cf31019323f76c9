"""A study from its file to its table: trains what is not trained, scores what is not scored, writes what came of it.

Validation decides: test sets are scored by `--test` alone, when every cell is trained and validated.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from seq2see import atomic
from seq2see.errors import ConfigError, RunError
from seq2see.look.draw.page import check_replaceable, write_page
from seq2see.report.page import environment
from seq2see.runs.config import merge
from seq2see.session.translator import DEFAULT
from seq2see.study.definition.widths import SizedCell, equal_sizes
from seq2see.study.execution.cell_run import CellJob, CellOutcome
from seq2see.study.execution.cluster import run_on_ray
from seq2see.study.execution.live import StudyReporter
from seq2see.study.execution.measuring import MeasuringPlan
from seq2see.study.execution.pool import CellReport, run_local
from seq2see.study.plan import PlannedCell, StudyPlan, check_folders
from seq2see.study.results import RESULTS, StudyResults, read_results, write_results
from seq2see.study.tables.page import write_report
from seq2see.study.tables.table import write_markdown

TABLE, REPORT = "table.md", "report.html"


@dataclass(frozen=True)
class StudyEnd:
    """What came of a call: the failures, by cell, and why test sets were not scored if they were asked for."""

    results: StudyResults
    failures: dict[str, str]
    untested: str = ""


def run_study(plan: StudyPlan, *, jobs: int, ray: str | None, test: bool, command: str) -> StudyEnd:
    """jobs: cells at once;  ray: `local`, or the address of a cluster, instead of processes of our own."""
    if test and not any(planned.tests for planned in plan.cells):
        raise ConfigError("--test: this study names no test sets (test.NAME = [...] in base, an axis or a cell)")
    with _claimed(plan.out):
        check_folders(plan)
        check_replaceable(plan.out / REPORT, "--out")
        work = _StudyWork(plan, jobs, ray)
        untested = ""
        work.train(test=test)
        if test and work.failures:
            untested = "test sets are scored when all cells are done"
        elif test:
            work.test()
        write_outputs(plan.out, work.results, command)
    return StudyEnd(work.results, work.failures, untested)


@contextmanager
def _claimed(out: Path) -> Iterator[None]:
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = atomic.Lock(out / ".lock")
        held = lock.hold()
    except OSError as error:
        raise atomic.cannot_write(out, error) from None
    if not held:
        raise RunError(f"{out}: another study is running in this folder")
    try:
        yield
    finally:
        lock.let_go()


class _StudyWork:
    """The cells of a study on their way; results.json is written whenever one of them is done."""

    def __init__(self, plan: StudyPlan, jobs: int, ray: str | None) -> None:
        self.plan, self.jobs, self.ray = plan, jobs, ray
        self.results = plan.results.with_study(plan.about())
        self.failures: dict[str, str] = {}
        self.measuring = MeasuringPlan(
            plan.config.metrics, plan.config.tokenize, DEFAULT.model_copy(update={"beam": plan.config.beam})
        )
        write_results(plan.out / RESULTS, self.results)

    def train(self, *, test: bool) -> None:
        """Trains and validates."""
        states = {cell.digest: cell.state(self.results, test=test) for cell in self.plan.cells}
        lacking = [
            cell for cell in self.plan.cells if states[cell.digest] == "waiting" or not cell.is_validated(self.results)
        ]
        sized = self._sizes([cell for cell in lacking if states[cell.digest] == "waiting"])
        self._run([self._job(cell, sized, validate=True) for cell in lacking])

    def test(self) -> None:
        lacking = [cell for cell in self.plan.cells if not cell.is_tested(self.results)]
        self._run([self._job(cell, {}, validate=False) for cell in lacking])

    def _sizes(self, cells: Sequence[PlannedCell]) -> dict[str, SizedCell]:
        equal = self.plan.config.equal_parameters
        if equal is None or not cells:
            return {}
        by_condition = {planned.cell.condition.name: planned.cell for planned in self.plan.cells}
        baselines = {name: by_condition[self.plan.baselines.get(name, name)] for name in by_condition}
        with StudyReporter(0, 0) as reporter:
            return equal_sizes([planned.cell for planned in cells], baselines, equal, self.plan.out, reporter.message)

    def _job(self, planned: PlannedCell, sized: dict[str, SizedCell], *, validate: bool) -> CellJob:
        cell = planned.cell
        known = self.results.cells.get(planned.digest, {})
        size = sized.get(cell.condition.name)
        settings, widths = cell.settings, known.get("widths", {})
        if size is not None:
            chosen = {name: cell.settings["model"][name] for name in ("size",) if name in cell.settings["model"]}
            settings, widths = merge(cell.settings, {"model": size.model | chosen}), size.widths
        return CellJob(
            cell.name,
            cell.condition.name,
            cell.seed,
            planned.digest,
            planned.folder,
            settings,
            widths,
            (planned.validation,) if validate else planned.tests,
            cell.alignment if validate else {},
            planned.alignment if validate else "",
            self.measuring,
        )

    def _run(self, jobs: Sequence[CellJob]) -> None:
        if not jobs:
            return
        total = len(self.plan.cells)
        with StudyReporter(total, total - len(jobs)) as reporter:

            def hear(job: CellJob, report: CellReport) -> None:
                if isinstance(report, CellOutcome):
                    self.results = self.results.with_outcome(report.entry, report.sets)
                    write_results(self.plan.out / RESULTS, self.results)
                reporter.hear(job, report)

            if self.ray is None:
                run_local(jobs, self.jobs, hear)
            else:
                run_on_ray(jobs, self.ray, self.jobs, hear)
            self.failures |= reporter.failures


def write_outputs(out: Path, results: StudyResults, command: str = "") -> None:
    """table.md and report.html, from the results alone."""
    atomic.write_file(out / TABLE, write_markdown(results).encode())
    write_page(out / REPORT, write_report(results, environment(command)), "--out")


def draw_again(results_file: Path, out: Path, command: str) -> StudyResults:
    """table.md and report.html of results that are there; needs neither data nor runs."""
    results = read_results(results_file)
    if not results.study:
        raise RunError(f"{results_file}: no results yet; train the cells first")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise atomic.cannot_write(out, error) from None
    check_replaceable(out / REPORT, "--out")
    write_outputs(out, results, command)
    return results
