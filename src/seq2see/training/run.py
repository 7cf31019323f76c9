"""One call from pairs to a finished run folder: what `seq2see train` and `seq2see.train` both do."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from seq2see import atomic
from seq2see.data.loading import Loader
from seq2see.data.order import Order
from seq2see.data.profile import Profile, profile
from seq2see.errors import ConfigError, DataError, RunError
from seq2see.models import Model, ModelConfig, configure, from_config, load_config
from seq2see.processes import cores as usable_cores
from seq2see.runs import checkpoint, folder, inputs
from seq2see.runs.checkpoint import Progress
from seq2see.runs.config import BaseConfig, RunConfig, TrainingConfig, merge, read_config
from seq2see.runs.folder import Run
from seq2see.training.auto import corpus, decide, optimization
from seq2see.training.auto.choice import Budget
from seq2see.training.harness import Estimate, Stop, choose_device, restored_torch, run_task
from seq2see.training.loop.clock import clock_of
from seq2see.training.loop.task import Ended
from seq2see.training.loop.trainer import Trainer
from seq2see.training.parallel.group import Follow, ProcessGroup
from seq2see.training.prepare import PreparedData, make_tokenizers, prepare, report_lines, sources_of
from seq2see.training.reporting import RunReporter, SilentReporter
from seq2see.training.translation import TranslationTask

_PROBE_SECONDS = 2.0


def new_config(settings: Mapping[str, Any], *, size: str = "small") -> RunConfig:
    """Settings as a recipe has them -> a RunConfig whose model part still lacks its vocabularies."""
    wanted = settings.get("model", {})
    fitting = corpus.fitting_families(wanted) if "family" not in wanted and set(wanted) - {"size"} else []
    defaults = {"model": {"family": fitting[0] if fitting else "transformer", "size": size}}
    if "base" in settings:
        raise ConfigError("base is no setting: a run that starts from another is made by --from")
    for name in {"chosen", "given"} & set(settings):
        raise ConfigError(f"{name} is no setting: it says where settings came from")
    config = read_config(merge(defaults, settings))
    _model_config(config, 4, 4)  # a wrong model setting is said before any data is read
    return config.model_copy(update={"given": tuple(decide.names(settings))})


def _model_config(config: RunConfig, source_vocabulary: int, target_vocabulary: int) -> ModelConfig:
    wanted = dict(config.model)
    family, size = str(wanted.pop("family")), str(wanted.pop("size", "small"))
    return configure(
        family,
        size,
        source_vocabulary=source_vocabulary,
        target_vocabulary=target_vocabulary,
        settings=wanted,
    )


def train_run(
    config: RunConfig,
    out: Path,
    reporter: RunReporter,
    *,
    resume: bool = False,
    base: Path | None = None,
    pairs: Mapping[str, bytes] | None = None,
    changed_data: bool = False,
    plan_only: bool = False,
    may_start_processes: bool = False,
) -> Ended:
    """Trains a model of text into `out`. With `resume` its own config goes, changed only in what `config` says of
    training.

    base           a new run starts from the weights and the vocabulary of this one
    pairs          data files that are not on the disk yet, by name: they are kept in the run folder
    changed_data   a resumed run goes on although its data has changed or is gone
    plan_only      says what it would do, and trains nothing
    may_start_processes   the rules may choose to train in several: a script that is no module of its own must not
    """
    if base is not None and resume:
        raise ConfigError(f"--from starts a new run; --resume goes on with the one in {out}")
    if base is not None:
        config = config.model_copy(update={"base": _describe_base(base)})
    setup = TranslationSetup(reporter, pairs or {}, may_start_processes=may_start_processes)
    return run_task(setup, config, out, reporter, resume=resume, changed_data=changed_data, plan_only=plan_only)


class TranslationSetup:
    """Implements harness.TaskSetup for pairs of texts."""

    listed = folder.LISTED
    update_share = 0.9

    @property
    def follow(self) -> Follow:
        return follow_run

    def __init__(self, reporter: RunReporter, pairs: Mapping[str, bytes], *, may_start_processes: bool = False) -> None:
        self.reporter = reporter
        self.pairs = pairs
        self.may_start_processes = may_start_processes

    def begin(self, config: RunConfig, out: Path) -> RunConfig:
        """The pairs that were given as a list, settings from the pairs, tokenizers, config.json."""
        began = clock_of(config.training)()
        for name, content in self.pairs.items():
            atomic.write_file(out / name, content)
        inputs.remember(out, inputs.describe(inputs.files_of(config.data)))
        train, valid = sources_of(config.data)
        for line in report_lines(train, valid):
            self.reporter.message(line)
        seen = None
        if config.given is not None:
            seen = profile(pair for corpus in train for pair in corpus.pairs())
            _check_sides(seen)
            config = self._reported(decide.decide_data(config, seen))
        if config.base is not None:
            _inherit_tokenizers(Path(config.base.run), out)
        source, target = make_tokenizers(config, train, out, self.reporter.message)
        if seen is not None:
            config = self._reported(self._decide_training(config, seen, out, began))
        model = (
            _model_config(config, source.size, target.size)
            if config.base is None
            else load_config(folder.read_run_config(Path(config.base.run)).model)
        )
        folder.write_config(out, config.model_copy(update={"model": model.model_dump(mode="json")}))
        return folder.read_run_config(out)

    def _reported(self, decided: decide.Decided) -> RunConfig:
        for line in decided.lines:
            self.reporter.message(line)
        return decided.config

    def _decide_training(self, config: RunConfig, seen: Profile, out: Path, began: float) -> decide.Decided:
        """Measures this machine where there is a time limit: a few batches and translations of a fresh model."""
        files = inputs.describe(inputs.files_of(config.data))
        prepared = prepare(config, out, files, self.reporter.message, self.reporter.counting)
        inputs.check_unchanged(files)
        torch.set_num_threads(threads_of(config.training))
        places = np.arange(len(prepared.train))
        pieces = int(np.maximum(prepared.train.source.lengths(places), prepared.train.target.lengths(places)).sum())
        limit = config.training.time_limit
        seconds = (
            None if limit is None else max(1.0, self.update_share * (limit - (clock_of(config.training)() - began)))
        )
        if self.may_start_processes and decide.may_train_together(config, seen):
            free = probe_cores(Speeds(config, prepared).task("tiny", optimization.USUAL_BATCH))
            config = self._reported(decide.apply(config, [optimization.choose_processes(free)]))
        speeds = Speeds(config, prepared)
        validation = speeds.validation() if limit is not None else 0.0
        return decide.decide_training(
            config, seen, Budget(seen.pairs, pieces, seconds), speed=speeds, validation=validation
        )

    def files(self, config: RunConfig) -> list[Path]:
        return inputs.files_of(config.data)

    def make_task(
        self, config: RunConfig, out: Path, files: Sequence[inputs.Input], device: torch.device
    ) -> TranslationTask:
        prepared = prepare(config, out, files, self.reporter.message, self.reporter.counting)
        model = _model(config, has_checkpoint=bool(checkpoint.paths(out / "checkpoints")))
        torch.set_num_threads(threads_of(config.training))
        return _task(config, model, prepared, device)

    def estimate(self, task: TranslationTask, config: TrainingConfig, progress: Progress) -> Estimate:
        per_epoch = max(1, task.count(0) // config.accumulate)
        most = config.steps or per_epoch * config.epochs
        return Estimate(most, per_epoch, _time_batches(task, 0.0) * config.accumulate, threads_of(config))

    def settle(self, task: TranslationTask, total: int) -> None: ...


def follow_run(out: Path, group: ProcessGroup) -> None:
    """What every process but the first does: it reads what the first has written, and makes the same updates."""
    if not (out / folder.CONFIG).exists():
        raise RunError(f"{out}: no such run here; all machines that train together have to see it at the same place")
    config = folder.training_config(out)
    config = inputs.located(config, out)
    silent = SilentReporter()
    known = inputs.read(out)
    prepared = prepare(config, out, known.files if known is not None else (), silent.message, silent.counting)
    with restored_torch():
        model = _model(config, has_checkpoint=True)  # its weights are sent
        device = choose_device(config.training)
        torch.set_num_threads(threads_of(config.training))
        task = _task(config, model, prepared, device, rank=group.rank)
        trainer = Trainer[Any](task, config.training, out, silent, Stop())
        trainer.join(group)
        trainer.follow()


def _check_sides(seen: Profile) -> None:
    """Before anything is learned from one side alone."""
    empty = [name for name, side in (("source", seen.source), ("target", seen.target)) if not side.word_tokens]
    if len(empty) == 1:  # where both are, there is no pair
        raise DataError(f"the {empty[0]} side of all pairs is empty: there is nothing to learn")


_MEASURED = 1.5  # seconds of one speed: two batches alone were wrong by 40 %
_MEASURED_SHARE = 0.005  # of the time limit, at most


class Speeds:
    """Pieces a second that fresh models learn from on this machine, by size and batch; each is measured once."""

    def __init__(self, config: RunConfig, prepared: PreparedData) -> None:
        self.config = config
        self.prepared = prepared
        self._measured: dict[tuple[str, int], float] = {}

    def __call__(self, size: str, batch: int) -> float:
        if (size, batch) not in self._measured:
            limit = self.config.training.time_limit or 0.0
            seconds = min(_MEASURED, _MEASURED_SHARE * limit)
            self._measured[size, batch] = batch / _time_batches(self.task(size, batch), seconds)
        return self._measured[size, batch]

    def validation(self) -> float:
        """Seconds of a validation by a tiny model."""
        return self.task("tiny", optimization.USUAL_BATCH).validation_seconds()

    def task(self, size: str, batch: int) -> TranslationTask:
        source, target = (tokenizer.size for tokenizer in self.prepared.tokenizers)
        if self.config.base is not None:
            chosen = load_config(folder.read_run_config(Path(self.config.base.run)).model)
        else:
            sized = self.config.model_copy(update={"model": self.config.model | {"size": size}})
            chosen = _model_config(sized, source, target)
        torch.manual_seed(0)
        training = self.config.training.model_copy(update={"batch_tokens": batch})
        config = self.config.model_copy(update={"training": training})
        return _task(config, from_config(chosen), self.prepared, choose_device(training))


def _describe_base(path: Path) -> BaseConfig:
    """The finished run that another one starts from (--from), as it is now: config.json remembers it."""
    folder.check_manifest(path)
    return BaseConfig(run=str(path.absolute()), sha256=folder.run_digest(path))


def _load_base(base: BaseConfig) -> Run:
    """The same run again; an error if it is gone or is not what it was."""
    path = Path(base.run)
    if not path.exists():
        raise RunError(
            f"{path}: is gone, and this run starts from its weights (--from) as long as it has no checkpoint; put it "
            "back, or start a new run"
        )
    run = folder.load_run(path)
    if folder.run_digest(path) != base.sha256:
        raise RunError(
            f"{path}: has been trained further or replaced since this run was started from its weights (--from), and "
            "there is no checkpoint to go on from; put the old one back, or start a new run"
        )
    return run


def _inherit_tokenizers(base: Path, out: Path) -> None:
    """Fine-tuning keeps the vocabulary of the run it starts from."""
    for name in folder.TOKENIZERS:
        atomic.write_file(out / name, (base / name).read_bytes())


def _model(config: RunConfig, *, has_checkpoint: bool) -> Model[Any, Any]:
    """Fresh weights, or those of the base run; where there is a checkpoint they will be its own."""
    torch.manual_seed(config.training.seed)
    model = from_config(load_config(config.model))
    if config.base is not None and not has_checkpoint:
        model.load_state_dict(_load_base(config.base).model.state_dict())
    return model


def resumed_config(out: Path, changes: Mapping[str, Any]) -> RunConfig:
    """The config of a run that goes on; only how it is trained may change.

    A time limit is time from now on: it is added to the time that the run has had.
    """
    saved = folder.training_config(out)
    others = sorted(set(changes) - {"training"})
    if others:
        raise ConfigError(f"--resume goes on with the {others[0]} settings of {out}; only training.* can change")
    config = read_config(merge(saved.model_dump(mode="json"), changes))
    for name in ("accumulate", "batch_tokens", "max_length", "seed"):
        if getattr(config.training, name) != getattr(saved.training, name):
            raise ConfigError(f"training.{name} cannot change in a resumed run: the order of batches hangs on it")
    more = config.training.time_limit if "time_limit" in changes.get("training", {}) else None
    if more is None:
        return config
    spent = checkpoint.newest_progress(out / "checkpoints").seconds
    training = config.training.model_copy(update={"time_limit": spent + more})
    return config.model_copy(update={"training": training})


def renamed_data(config: RunConfig, out: Path, data: Mapping[str, Any], *, accept: bool) -> RunConfig:
    """A run whose data files were named once more: as they were, or by the place that they have moved to.

    Whether it is the same data is for `inputs.check` to find out. Other weights or built-in corpora are other data.
    """
    named = {name: data[name] for name in ("train", "valid", "alignments") if name in data}
    changes = {name: getattr(read_config({"data": named}).data, name) for name in named}
    before = inputs.absolute(config.data)
    after = inputs.absolute(config.data.model_copy(update=changes))
    comparable = inputs.renamed(before, _nameless) == inputs.renamed(after, _nameless)
    if after == before or accept or (comparable and inputs.read(out) is not None):
        return config.model_copy(update={"data": after})
    raise ConfigError(
        f"{out} was trained on {' '.join(before.train)}, not on {' '.join(after.train)}; to go on with other data "
        "all the same, add --changed-data"
    )


def _nameless(path: str) -> str:
    return ""


def _task(
    config: RunConfig, model: Model[Any, Any], prepared: PreparedData, device: torch.device, *, rank: int = 0
) -> TranslationTask:
    order = Order(prepared.train, seed=config.training.seed, batch_tokens=config.training.batch_tokens)
    loader = Loader(
        order,
        prepared.tokenizers,
        dropout=tuple(side.dropout for side in config.tokenizer.sides),
        with_links=config.training.guided_alignment > 0,
        rank=rank,
        processes=config.training.processes,
    )
    return TranslationTask(model.to(device), loader, prepared.valid, config.training, device, config.data.valid_pairs)


def threads_of(config: TrainingConfig) -> int:
    """One, unless a person says otherwise: more of them wait for each other by spinning, which on a machine with other
    work takes a hundred times as long. More than one core is for processes."""
    return config.threads or 1


def probe_cores(task: TranslationTask) -> float:
    """How many cores are to spare: batches are timed alone, and while every other core has something to do."""
    cores = usable_cores()
    if cores == 1 or task.device.type != "cpu":
        return 1.0
    torch.set_num_threads(1)
    alone = _time_batches(task, _PROBE_SECONDS / 2)
    busy = [subprocess.Popen([sys.executable, "-Sc", "while True: pass"]) for _ in range(cores - 1)]
    try:
        among_others = _time_batches(task, _PROBE_SECONDS / 2)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return cores * min(1.0, alone / among_others)


def _time_batches(task: TranslationTask, seconds: float) -> float:
    """Forward and backward over the first batches, at least three, without changing anything."""
    task.model.train()
    times: list[float] = []
    clock = clock_of(task.config)
    began = clock()
    while True:
        for item in task.batches(0, 0):
            start = clock()
            task.loss(item, 0).total.backward()
            task.model.zero_grad(set_to_none=True)
            times.append(clock() - start)
            if len(times) >= 3 and clock() - began >= seconds:
                return sum(times[1:]) / len(times[1:])  # the first one warms up


def resume_command(out: Path, program: Sequence[str] = ("seq2see", "train")) -> str:
    return " ".join([*program, "--resume", "--out", str(out)])
