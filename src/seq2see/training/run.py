"""One call from pairs to a finished run folder: what `seq2see train` and `seq2see.train` both do."""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

import torch

from seq2see import durable
from seq2see.data.loading import Loaded, Loader
from seq2see.data.order import Order
from seq2see.errors import ConfigError, RunError
from seq2see.models import Model, ModelConfig, configure, from_config, load_config, parameters
from seq2see.training import folder
from seq2see.training.config import RunConfig, TrainingConfig, merge, read_config
from seq2see.training.loop import Ended, Trainer
from seq2see.training.prepare import Prepared, make_tokenizers, prepare, report_lines, sources_of, suited
from seq2see.training.reporting import Voice, duration, memory
from seq2see.training.translation import Translation

_PROBE_SECONDS = 2.0
_WORTH_PROBING = 120.0  # seconds of training below which one thread it is
_CLEARLY = 1.2  # how much faster more threads must be


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


def train_run(config: RunConfig, out: Path, voice: Voice, *, resume: bool = False, base: Path | None = None) -> Ended:
    """Trains into `out`. With `resume` its own config goes, changed only in what `config` says of training."""
    if not resume:
        claim(out)
    with Lock(out):
        if not resume:
            _begin(config, out, voice, base)
        config = settled(config, out, resume=resume)
        prepared = prepare(config, out, voice.message, voice.counting)
        model = _model(config, prepared, out, base)
        device = choose_device(config.training)
        torch.set_num_threads(config.training.threads or torch.get_num_threads())
        task = _task(config, model, prepared, device)
        with Stop() as stop:
            trainer = Trainer[Loaded](task, config.training, out, voice, stop)
            resumed = resume and trainer.resume()
            steps, threads = _plan(task, config, trainer.progress.step, voice)
            remember_threads(config, threads, out)
            total = steps if config.training.time_limit is None or not resumed else trainer.progress.total
            voice.total(total)
            ended = trainer.train(total)
        if not ended.interrupted:
            folder.finish(out, model.to("cpu"))
        return ended


def settled(config: RunConfig, out: Path, *, resume: bool) -> RunConfig:
    """What config.json says; a resumed run that was told something new says so there."""
    saved = folder.read_run_config(out)
    if not resume or config == saved:
        return saved
    durable.write_json(out / folder.CONFIG, config.model_dump(mode="json"))
    return config


def remember_threads(config: RunConfig, threads: int, out: Path) -> None:
    """A resumed run must not probe again: it could choose otherwise, and end with other last bits."""
    if config.training.threads != threads:
        saved = merge(config.model_dump(mode="json"), {"training": {"threads": threads}})
        durable.write_json(out / folder.CONFIG, saved)


def resumed_config(out: Path, changes: Mapping[str, Any]) -> RunConfig:
    """The config of a run that goes on; only how it is trained may change."""
    config = folder.read_run_config(out)
    others = sorted(set(changes) - {"training"})
    if others:
        raise ConfigError(f"--resume goes on with the {others[0]} settings of {out}; only training.* can change")
    fixed = {"seed", "batch_tokens", "accumulate", "max_length"} & set(changes.get("training", {}))
    for name in sorted(fixed):
        if changes["training"][name] != getattr(config.training, name):
            raise ConfigError(f"training.{name} cannot change in a resumed run: the order of batches hangs on it")
    return read_config(merge(config.model_dump(mode="json"), changes))


def claim(out: Path) -> None:
    if (out / folder.CONFIG).exists():
        raise RunError(f"{out}: already holds a run; go on with it by --resume, or choose another --out")
    if out.exists() and not out.is_dir():
        raise RunError(f"{out}: is a file; --out names a folder")
    if out.exists() and any(entry.name not in (".lock", *folder.PAIRS) for entry in out.iterdir()):
        raise RunError(f"{out}: is not empty and holds no run; choose a new folder for --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise durable.cannot_write(out, error) from None


def _begin(config: RunConfig, out: Path, voice: Voice, base: Path | None) -> None:
    """Tokenizers and config.json; from there on the folder is a run that can be resumed."""
    try:
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
        durable.write_json(out / folder.CONFIG, saved)
    except BaseException:
        _leave_nothing(out)
        raise


def _leave_nothing(out: Path) -> None:
    """A run that could not begin leaves no half of itself behind."""
    for name in (*folder.TOKENIZERS, *folder.PAIRS):
        (out / name).unlink(missing_ok=True)
    if not (out / folder.CONFIG).exists() and out.exists() and not any(e.name != ".lock" for e in out.iterdir()):
        (out / ".lock").unlink(missing_ok=True)
        out.rmdir()


def _inherit(base: Path, out: Path) -> None:
    """Fine-tuning keeps the vocabulary of the run it starts from."""
    for name in folder.TOKENIZERS:
        durable.write_file(out / name, (base / name).read_bytes())


def _model(config: RunConfig, prepared: Prepared, out: Path, base: Path | None) -> Model[Any, Any]:
    torch.manual_seed(config.training.seed)
    model = from_config(load_config(config.model))
    if base is not None:
        model.load_state_dict(folder.load_run(base).model.state_dict())
    return model


def _task(config: RunConfig, model: Model[Any, Any], prepared: Prepared, device: torch.device) -> Translation:
    order = Order(prepared.train, seed=config.training.seed, batch_tokens=config.training.batch_tokens)
    loader = Loader(
        order,
        prepared.tokenizers,
        dropout=config.tokenizer.dropout,
        with_links=config.training.guided_alignment > 0,
    )
    return Translation(model.to(device), loader, prepared.valid, config.training, device, config.data.valid_pairs)


def choose_device(config: TrainingConfig) -> torch.device:
    if config.device != "auto":
        available = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
        if not available[config.device]:
            raise ConfigError(f"training.device = {config.device} is not available here; use cpu or auto")
        return torch.device(config.device)
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _plan(task: Translation, config: RunConfig, done: int, voice: Voice) -> tuple[int, int]:
    """Measures a few updates, says what is coming; how many updates there will be, and on how many threads."""
    training = config.training
    per_epoch = max(1, task.count(0) // training.accumulate)
    total = training.steps or per_epoch * training.epochs
    threads, seconds = _choose_threads(task, training, total - done)
    cost = seconds * training.accumulate
    if training.time_limit is not None:
        total = min(total, max(1, int(0.9 * training.time_limit / cost)))  # a tenth is for validations
    voice.message(
        f"{config.model['family']} with {parameters(task.model):,} parameters on {task.device.type}, "
        f"{threads} thread{'s' if threads > 1 else ''}, {memory():,.0f} MB; "
        f"{total:,} updates ({total / per_epoch:.1f} epochs), about {duration((total - done) * cost)}"
    )
    return total, threads


def _choose_threads(task: Translation, config: TrainingConfig, updates: int) -> tuple[int, float]:
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


def _time_batches(task: Translation, seconds: float) -> float:
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


class Lock:
    """Two trainings in one folder would ruin each other."""

    def __init__(self, out: Path) -> None:
        self.path = out / ".lock"

    def __enter__(self) -> None:
        import fcntl

        if not self.path.parent.is_dir():
            raise RunError(f"{self.path.parent}: no such run to resume")
        self._file = self.path.open("w")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            raise RunError(f"{self.path.parent}: another training is running in this folder") from None

    def __exit__(self, *problem: object) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)


def resume_command(out: Path, program: Sequence[str] = ("seq2see", "train")) -> str:
    return " ".join([*program, "--resume", "--out", str(out)])
