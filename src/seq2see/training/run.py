"""One call from pairs to a finished run folder: what `seq2see train` and `seq2see.train` both do."""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch

from seq2see import atomic
from seq2see.data.loading import Loaded, Loader
from seq2see.data.order import Order
from seq2see.errors import ConfigError, RunError
from seq2see.models import Model, ModelConfig, configure, from_config, load_config, parameters
from seq2see.progress import duration
from seq2see.runs import checkpoint, folder, inputs
from seq2see.runs.checkpoint import Progress
from seq2see.runs.claim import beginning, claimed
from seq2see.runs.config import RunConfig, TrainingConfig, merge, read_config
from seq2see.training.loop import Ended, Trainer
from seq2see.training.plan import fitted, plan_updates, remember_plan
from seq2see.training.prepare import PreparedData, make_tokenizers, prepare, report_lines, sources_of, suited
from seq2see.training.reporting import RunReporter, memory
from seq2see.training.restoring import restored_torch
from seq2see.training.translation import TranslationTask

_PROBE_SECONDS = 2.0
_WORTH_PROBING = 120.0  # seconds of training below which one thread it is
_CLEARLY = 1.2  # how much faster more threads must be
_UPDATING = 0.9  # share of a time limit that is for updates; the rest is for validations


def new_config(settings: Mapping[str, Any], *, size: str = "small") -> RunConfig:
    """Settings as a recipe has them -> a RunConfig whose model part still lacks its vocabularies."""
    data = settings.get("data", {})
    defaults = suited(read_config({"data": data}).data) | {"model": {"family": "transformer", "size": size}}
    config = read_config(merge(defaults, settings))
    _model_config(config, 4, 4)  # a wrong model setting is said before any data is read
    return config


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
    voice: RunReporter,
    *,
    resume: bool = False,
    base: Path | None = None,
    pairs: Mapping[str, bytes] | None = None,
    changed_data: bool = False,
) -> Ended:
    """Trains into `out`. With `resume` its own config goes, changed only in what `config` says of training.

    pairs          data files that are not on the disk yet, by name: they are kept in the run folder
    changed_data   a resumed run goes on although its data has changed or is gone
    """
    device = choose_device(config.training)  # said before anything is written
    with restored_torch(), claimed(out, voice.message, resume=resume, pairs=pairs):
        with beginning(out, fresh=not resume, pairs=pairs or ()):
            config = _begin(config, out, voice, base, pairs or {}) if not resume else inputs.located(config, out)
            files = inputs.check(out, inputs.files_of(config.data), voice.message, accept=changed_data)
            prepared = prepare(config, out, files, voice.message, voice.counting)
            inputs.check_unchanged(files)
            model = _model(config, prepared, out, base)
            torch.set_num_threads(config.training.threads or torch.get_num_threads())
            task = _task(config, model, prepared, device)
        with Stop() as stop:
            trainer = Trainer[Loaded](task, config.training, out, voice, stop)
            if resume:
                take_up(trainer, out)
            total, threads = _plan(task, config, out, trainer.progress, voice)
            remember(config, out, threads, total, files)
            voice.total(total)
            ended = trainer.train(total)
        if not ended.interrupted:
            folder.finish(out, model.to("cpu"))
        return ended


def take_up(trainer: Trainer[Any], out: Path) -> None:
    """The newest checkpoint. A run that has none yet starts at step 0; one that has finished never does."""
    if trainer.resume():
        return
    if folder.is_finished(out):
        raise RunError(
            f"{out}: has finished, and its checkpoints are gone, so it cannot be trained on; a model of text can start "
            f"from its weights by --from {out}"
        )
    trainer.reporter.message("there is no checkpoint yet: training starts at step 0")


def remember(config: RunConfig, out: Path, threads: int, total: int, files: Sequence[inputs.Input]) -> None:
    """From here on a run that is killed goes on by the same settings, threads and plan, on the same data.

    The plan comes first: it counts only for the settings it was made for.
    """
    remember_plan(out, config.training, total)
    training = config.training.model_copy(update={"threads": threads})
    folder.remember(out, config.model_copy(update={"training": training}))
    inputs.remember(out, files)


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


def _begin(
    config: RunConfig, out: Path, voice: RunReporter, base: Path | None, pairs: Mapping[str, bytes]
) -> RunConfig:
    """Tokenizers and config.json; from there on the folder is a run that can be resumed."""
    for name, content in pairs.items():
        atomic.write_file(out / name, content)
    config = inputs.located(config, out)
    inputs.remember(out, inputs.describe(inputs.files_of(config.data)))
    train, valid = sources_of(config.data)
    for line in report_lines(train, valid):
        voice.message(line)
    if base is not None:
        _inherit(base, out)
    source, target = make_tokenizers(config, train, out, voice.message)
    chosen = (
        _model_config(config, source.size, target.size)
        if base is None
        else load_config(folder.read_run_config(base).model)
    )
    saved = config.model_dump(mode="json") | {"model": chosen.model_dump(mode="json")}
    atomic.write_json(out / folder.CONFIG, saved)
    return folder.read_run_config(out)


def _inherit(base: Path, out: Path) -> None:
    """Fine-tuning keeps the vocabulary of the run it starts from."""
    for name in folder.TOKENIZERS:
        atomic.write_file(out / name, (base / name).read_bytes())


def _model(config: RunConfig, prepared: PreparedData, out: Path, base: Path | None) -> Model[Any, Any]:
    torch.manual_seed(config.training.seed)
    model = from_config(load_config(config.model))
    if base is not None:
        model.load_state_dict(folder.load_run(base).model.state_dict())
    return model


def _task(config: RunConfig, model: Model[Any, Any], prepared: PreparedData, device: torch.device) -> TranslationTask:
    order = Order(prepared.train, seed=config.training.seed, batch_tokens=config.training.batch_tokens)
    loader = Loader(
        order,
        prepared.tokenizers,
        dropout=config.tokenizer.dropout,
        with_links=config.training.guided_alignment > 0,
    )
    return TranslationTask(model.to(device), loader, prepared.valid, config.training, device, config.data.valid_pairs)


def choose_device(config: TrainingConfig) -> torch.device:
    if config.device != "auto":
        available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if not available[config.device]:
            raise ConfigError(f"training.device = {config.device} is not available here; use cpu or auto")
        return torch.device(config.device)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _plan(
    task: TranslationTask, config: RunConfig, out: Path, progress: Progress, voice: RunReporter
) -> tuple[int, int]:
    """Measures a few updates, says what is coming; how many updates there will be, and on how many threads."""
    training = config.training
    per_epoch = max(1, task.count(0) // training.accumulate)
    most = training.steps or per_epoch * training.epochs
    threads, seconds = _choose_threads(task, training, most - progress.step)
    cost = seconds * training.accumulate
    before = folder.training_config(out).training
    total = plan_updates(out, training, before, progress, most=most, cost=cost, share=_UPDATING, say=voice.message)
    voice.message(
        f"{config.model['family']} with {parameters(task.model):,} parameters on {task.device.type}, "
        f"{threads} thread{'s' if threads > 1 else ''}, {memory():,.0f} MB; "
        f"{total:,} updates{fitted(total, most)} ({total / per_epoch:.1f} epochs), "
        f"about {duration((total - progress.step) * cost)}"
    )
    return total, threads


def _choose_threads(task: TranslationTask, config: TrainingConfig, updates: int) -> tuple[int, float]:
    """The threads to train with, and seconds a batch takes with them.

    More threads than one only where they are clearly faster and the run is long enough to care: the last bits of the
    weights depend on their number, and the same command should give the same bytes.
    """
    if config.threads is not None or task.device.type != "cpu":
        return torch.get_num_threads(), _time_batches(task, 0.0)
    torch.set_num_threads(1)
    best, seconds = 1, _time_batches(task, 0.0)
    cores = os.cpu_count() or 1
    candidates = sorted({max(1, cores // 2), cores} - {1}) if updates * seconds > _WORTH_PROBING else []
    if candidates:
        seconds = _time_batches(task, _PROBE_SECONDS / (len(candidates) + 1))
    for threads in candidates:
        torch.set_num_threads(threads)
        found = _time_batches(task, _PROBE_SECONDS / (len(candidates) + 1))
        if found < seconds / _CLEARLY:
            best, seconds = threads, found
    torch.set_num_threads(best)
    return best, seconds


def _time_batches(task: TranslationTask, seconds: float) -> float:
    """Forward and backward over the first batches, at least three, without changing anything."""
    task.model.train()
    times: list[float] = []
    began = time.monotonic()
    while True:
        for item in task.batches(0, 0):
            start = time.monotonic()
            task.loss(item, 0).total.backward()
            task.model.zero_grad(set_to_none=True)
            times.append(time.monotonic() - start)
            if len(times) >= 3 and time.monotonic() - began >= seconds:
                return sum(times[1:]) / len(times[1:])  # the first one warms up


class Stop:
    """Ctrl-C and SIGTERM ask training to stop after the update at hand; a second Ctrl-C means it."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[int, Any] = {}

    def asked(self) -> bool:
        return self._asked

    def __enter__(self) -> "Stop":
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                self._before[number] = signal.signal(number, self._note)
            except ValueError:  # not the main thread, as in a notebook's worker: nobody can press Ctrl-C there
                return self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._asked = True


def resume_command(out: Path, program: Sequence[str] = ("seq2see", "train")) -> str:
    return " ".join([*program, "--resume", "--out", str(out)])
