"""Who makes which part: actors of Ray, one a core, each with the run loaded once and one part in hand.

Actors rather than Ray Data: a part has to be the same range of lines in every call, a worker that died has to be told
from a line that kills, and the next part goes to whoever is free. Nothing of the texts passes through this process:
workers read their ranges and write their parts, here only counts and checksums arrive.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seq2see import atomic
from seq2see.cluster import LOCAL, connected
from seq2see.engines import ENGINES, EngineChoice
from seq2see.errors import ConfigError, RunError, Seq2SeeError
from seq2see.formats.documents.base import Existing
from seq2see.processes import cores
from seq2see.runs.folder import run_digest
from seq2see.search import SearchConfig
from seq2see.session.loading import load
from seq2see.session.parts.folder import JobFolder, Noticed, Place
from seq2see.session.parts.inputs import Cut, InputFile, Range, cut_into_ranges, input_files
from seq2see.session.parts.translating import PartFailure, PartMade, PartTranslator, Work
from seq2see.session.translator import DEFAULT, run_paths

_SECONDS = 1.0  # at most, between two looks at the cluster
_GROWTH = 10.0  # seconds between two counts of the cores of a cluster
_PATIENCE = 2  # deaths over a part before it is made line by line
_STARTS = 5  # workers in a row that may die before they have made anything
_WORTH_GRAPHS = 500_000  # bytes of input that are worth making the graphs of ONNX Runtime for

Say = Callable[[str], None]
Advance = Callable[[str, int, int | None], None]
"""Told what is being done, how many lines of it, of how many in all."""


@dataclass(frozen=True)
class FilesTranslated:
    """What came of it.

    outputs   in the order of the inputs
    look      results that deserve a look, by their kind; of those `not translated` a placeholder stands in the output
    report    lists them
    """

    outputs: tuple[Path, ...]
    lines: int
    look: dict[str, Noticed]
    report: Path | None


def translate_files(
    run: str | Path | Sequence[str | Path],
    inputs: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    ray: str = LOCAL,
    workers: int | None = None,
    search: SearchConfig | None = None,
    engine: EngineChoice = "auto",
    shortlist: bool = False,
    agree: bool = False,
    as_json: bool = False,
    prefix: str = "",
    form: str = "auto",
    existing: Existing = "keep",
    fields: tuple[str, str] = ("source", "target"),
    encoding: str | None = None,
    report: str | Path | None = None,
    say: Say = lambda text: None,
    advance: Advance = lambda what, done, total: None,
) -> FilesTranslated:
    """Files translated on all cores of this machine, or of a cluster: an output for each, a line for each line.

    The same call goes on where an earlier one was interrupted. Outputs are those of one process, byte for byte.

    inputs    paths, or addresses of fsspec such as s3://bucket/news.ko.gz: text, .jsonl, .parquet; plain or .gz
    out       a folder of their own; on a cluster one that all machines see at the same place, as `run`
    ray       local: a Ray that is started here; else the address of a cluster
    workers   cores; all there are, if not given
    """
    runs = tuple(path.absolute() for path in run_paths(run))
    names = [str(name) for name in ([inputs] if isinstance(inputs, str | Path) else inputs)]
    files = input_files(names, form, encoding, fields)
    folder = JobFolder(Path(out).absolute())
    saved = folder.saved_settings()
    search = search or DEFAULT
    if any(file.form != "text" for file in files):
        _check_records(search, as_json=as_json, agree=agree)
    if report is not None:
        atomic.check_output(Path(report), *(file.path for file in files if not file.is_remote), *runs)
    cuts = _cut(files, advance)
    if engine == "auto" and saved is not None and saved.get("engine") in ENGINES:
        engine = saved["engine"]  # what was chosen when it was begun
    large = sum(part.size for cut in cuts for part in cut) >= _WORTH_GRAPHS
    translator = load(runs, engine=engine, make_graphs=large, shortlist=shortlist, say=say)  # complains here, and once
    translator.engines.of(search)  # what is made is made once
    work = Work(runs, search, translator.engine_of(search), agree, as_json, prefix, existing, shortlist)
    del translator
    try:
        folder.begin(_settings(work, fields, encoding), files, cuts)
        job = _Job(work, files, cuts, folder, say, advance)
        job.finish_joins(range(len(files)))
        job.tell()
        if len(folder.finished) < len(files):
            with connected(ray, workers or cores()) as module:
                _Spread(module, job, workers if ray != LOCAL else workers or cores()).run()
        written = folder.finish(files, cuts, None if report is None else Path(report))
        return FilesTranslated(tuple(folder.out / file.output for file in files), job.total, folder.look(), written)
    finally:
        folder.close()


def _check_records(search: SearchConfig, *, as_json: bool, agree: bool) -> None:
    if as_json or (search.nbest > 1 and not agree):
        raise ConfigError("--json and --nbest are for plain text; .jsonl and .parquet keep their own form")
    if search.sample:
        raise ConfigError(
            "--sample draws by the place of a text in its whole file, and .jsonl or .parquet are cut; leave --ray away"
        )


def _settings(work: Work, fields: tuple[str, str], encoding: str | None) -> dict[str, object]:
    return {
        "run": [run_digest(run) for run in work.runs],
        "engine": work.engine,
        "json": work.as_json,
        "mbr": work.agree,
        "prefix": work.prefix,
        "existing": work.existing,
        **({"shortlist": True} if work.shortlist else {}),
        "fields": list(fields),
        "encoding": encoding,
        **work.search.model_dump(mode="json"),
    }


def _cut(files: Sequence[InputFile], advance: Advance) -> list[Cut]:
    read = 0

    def count(lines: int) -> None:
        nonlocal read
        read += lines
        advance("reading", read, None)

    return [cut_into_ranges(file, count) for file in files]


class _Job:
    """What is to be made, and what is made of it."""

    def __init__(
        self, work: Work, files: Sequence[InputFile], cuts: Sequence[Cut], folder: JobFolder, say: Say, advance: Advance
    ) -> None:
        self.work, self.files, self.cuts, self.folder, self.say = work, files, cuts, folder, say
        self._advance = advance
        self.total = sum(cut.lines for cut in cuts)
        self._lacking = [
            sum(not folder.is_made((number, part)) for part in range(len(cut))) for number, cut in enumerate(cuts)
        ]
        self.done = sum(
            part_range.lines
            for number, cut in enumerate(cuts)
            for part, part_range in enumerate(cut)
            if folder.is_made((number, part))
        )

    def tell(self) -> None:
        for file, cut in zip(self.files, self.cuts, strict=True):
            if cut.broken:
                some = ", ".join(map(str, cut.repaired)) + ("" if cut.broken <= len(cut.repaired) else ", ...")
                what = "lines are" if cut.broken > 1 else "line is"
                self.say(f"{file.output}: {cut.broken:,} {what} not valid UTF-8 (line {some}); U+FFFD stands there")
        if self.done:
            self._advance("", self.done, self.total)

    def unmade(self) -> Iterator[Place]:
        for number, cut in enumerate(self.cuts):
            for part in range(len(cut)):
                if not self.folder.is_made((number, part)):
                    yield number, part

    def range_of(self, place: Place) -> Range:
        return self.cuts[place[0]][place[1]]

    def commit(self, place: Place, made: PartMade) -> list[Place]:
        """Damaged parts are given back."""
        self.folder.commit(place, self.range_of(place), made)
        self._lacking[place[0]] -= 1
        self.done += self.range_of(place).lines
        self._advance("", self.done, self.total)
        return self.finish_joins([place[0]])

    def finish_joins(self, numbers: Iterable[int]) -> list[Place]:
        """Inputs of which every part is there become files."""
        damaged: list[Place] = []
        for number in numbers:
            if not self._lacking[number] and number not in self.folder.finished:
                again = self.folder.join(number, self.files[number], self.cuts[number])
                self._lacking[number] += len(again)
                self.done -= sum(self.range_of(place).lines for place in again)
                damaged += again
        return damaged


class PartWorker:
    """An actor. Our own errors are handed back; only its death is a reason to try again."""

    def __init__(self, work: Work) -> None:
        self._problem: PartFailure | None = None
        try:
            self._translator = PartTranslator(work)
        except Seq2SeeError as error:
            self._problem = PartFailure(str(error))

    def ready(self) -> PartFailure | None:
        return self._problem

    def make(self, file: InputFile, cut: Range, place: Path, careful: bool) -> PartMade | PartFailure:
        try:
            return self._translator.make(file, cut, place, careful=careful)
        except Seq2SeeError as error:
            return PartFailure(str(error))


@dataclass
class _Member:
    actor: Any
    place: Place | None = None  # what it is making; None while it loads the run


@dataclass
class _Spread:
    """The team of actors, and what each has in hand."""

    ray: Any
    job: _Job
    most: int | None  # actors; None: as many as the cluster has cores
    _hands: dict[Any, _Member] = field(default_factory=dict)  # what is awaited -> by whom
    _idle: list[_Member] = field(default_factory=list)
    _again: deque[Place] = field(default_factory=deque)
    _deaths: dict[Place, int] = field(default_factory=dict)
    _lost: int = 0  # workers in a row that died before they had made anything
    _size: int = 0
    _counted: float = -_GROWTH

    def run(self) -> None:
        coming = self.job.unmade()
        following = next(coming, None)
        actor = self.ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(PartWorker)
        while following is not None or self._again or any(member.place for member in self._hands.values()):
            self._count_cores()
            waiting = len(self._again) + (following is not None)
            while len(self._hands) + len(self._idle) < self._size and waiting:
                member = _Member(actor.remote(self.job.work))
                self._hands[member.actor.ready.remote()] = member
            while self._idle and (self._again or following is not None):
                if self._again:
                    self._give(self._idle.pop(), self._again.popleft())
                else:
                    assert following is not None
                    self._give(self._idle.pop(), following)
                    following = next(coming, None)
            ready, _ = self.ray.wait(list(self._hands), num_returns=1, timeout=_SECONDS)
            for reference in ready:
                self._hear(reference, self._hands.pop(reference))

    def _count_cores(self) -> None:
        """A cluster may grow."""
        if time.monotonic() - self._counted > _GROWTH:
            self._counted = time.monotonic()
            here = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
            self._size = min(here, self.most or here)

    def _give(self, member: _Member, place: Place) -> None:
        member.place = place
        careful = self._deaths.get(place, 0) >= _PATIENCE
        file, cut = self.job.files[place[0]], self.job.range_of(place)
        self._hands[member.actor.make.remote(file, cut, self.job.folder.part(place), careful)] = member

    def _hear(self, reference: Any, member: _Member) -> None:
        try:
            outcome = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError:
            raise  # a bug of ours
        except self.ray.exceptions.RayError as error:
            self._bury(member, error)
            return
        if isinstance(outcome, PartFailure):
            raise RunError(outcome.text)
        if member.place is not None:
            self._lost = 0
            place, member.place = member.place, None
            self._again.extend(self.job.commit(place, outcome))
        self._idle.append(member)

    def _bury(self, member: _Member, error: Exception) -> None:
        if member.place is None:
            self._lost += 1
            if self._lost >= _STARTS:
                first = (str(error).strip() or type(error).__name__).splitlines()[0]
                raise RunError(f"{self._lost} workers in a row died while they loaded the run ({first[:200]})")
            return
        self._deaths[member.place] = deaths = self._deaths.get(member.place, 0) + 1
        self._again.appendleft(member.place)
        if deaths == _PATIENCE:
            file, cut = self.job.files[member.place[0]], self.job.range_of(member.place)
            self.job.say(
                f"{deaths} workers died over lines {cut.first + 1:,} to {cut.first + cut.lines:,} of {file.output}; "
                "one after the other now"
            )
