"""From recordings to a voice: the run folder of a Tacotron, trained by the one loop.

config.json          what the run was told; `model` holds the sizes, the audio and the lessons
letters.json         the alphabet
model.safetensors    the weights
manifest.json        SHA-256 of the three; written last
data/                spectrograms; can be deleted when training is over
samples/             the fixed sentences as they sounded at each validation
"""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from pydantic import ValidationError

from seq2see.data.sources import BUILTIN
from seq2see.errors import ConfigError, DataError, RunError
from seq2see.runs import folder, inputs
from seq2see.runs.checkpoint import Progress
from seq2see.runs.commit import place_of
from seq2see.runs.config import RunConfig, TrainingConfig, merge, read_config
from seq2see.runs.folder import LETTERS
from seq2see.runs.inputs import Input
from seq2see.runs.weights_file import fill, make_unfilled
from seq2see.settings import setting_error
from seq2see.speech.corpus.letters import Letters
from seq2see.speech.corpus.recordings import Recordings, record
from seq2see.speech.corpus.sources import METADATA, Utterance, read_corpus, references
from seq2see.speech.model.tacotron import Tacotron, TacotronConfig
from seq2see.speech.model.task import HeldOut, VoiceTask
from seq2see.training.harness import Estimate, run_task
from seq2see.training.loop.task import Ended
from seq2see.training.reporting import RunReporter

LISTED = (folder.CONFIG, LETTERS, folder.WEIGHTS)
_SENTENCES = 3
_ADAPTED = 20_000  # frames from which reference encoder and aligner learn what is usual

# What suits a voice; the same names as for text, so that one list of settings is enough.
SUITED: dict[str, Any] = {
    "training": {
        "steps": 4500,
        "learning_rate": 2e-3,
        "schedule": "cosine",
        "warmup": 50,
        "weight_decay": 1e-4,
        "ema": 0.995,
        "validate_every": 500,
        "save_every": 250,
        "patience": 1000,
        "threads": min(2, torch.get_num_threads()),  # two are 1.4 times as fast as one
    }
}


def is_voice(settings: Mapping[str, Any]) -> bool:
    """Whether these settings, or this config.json, are of a voice."""
    return settings.get("model", {}).get("family") == folder.VOICE


def new_config(settings: Mapping[str, Any]) -> RunConfig:
    """Settings as a recipe has them -> a RunConfig whose model part still lacks its alphabet."""
    config = read_config(merge(SUITED, settings))
    if config.model.get("size", "small") != "small":
        raise ConfigError("a tacotron has no --size; change single widths, such as --set model.decoder=256")
    if len(config.data.train) != 1:
        raise ConfigError(
            f"a voice learns from one corpus, not {len(config.data.train)}: an LJSpeech folder, a TSV of "
            "recording<tab>text, or builtin:espeak"
        )
    if config.data.valid:
        raise ConfigError("a voice holds out texts of its own corpus; --valid is for pairs of texts")
    if config.data.flip:
        raise ConfigError("a voice goes from text to speech; --flip is for pairs of texts")
    model_config(config)  # a wrong setting is said before anything is read
    return config


def model_config(config: RunConfig) -> TacotronConfig:
    """The model part of a config.json."""
    wanted = {name: value for name, value in config.model.items() if name != "size"}
    try:
        return TacotronConfig.model_validate(wanted)
    except ValidationError as error:
        raise setting_error(error, TacotronConfig, "model") from None


def train_voice(
    config: RunConfig, out: Path, reporter: RunReporter, *, resume: bool = False, changed_data: bool = False
) -> Ended:
    """Trains into `out`; with `resume` goes on from its newest checkpoint, bit by bit the same.

    changed_data   a resumed run goes on although its recordings have changed
    """
    return run_task(VoiceSetup(reporter), config, out, reporter, resume=resume, changed_data=changed_data)


class VoiceSetup:
    """Implements harness.TaskSetup for recordings."""

    listed = LISTED
    update_share = 0.95
    pairs: Mapping[str, bytes] = {}
    follow = None  # it is trained in one process

    def __init__(self, reporter: RunReporter) -> None:
        self.reporter = reporter
        self._utterances: tuple[list[Utterance], list[Utterance]] | None = None

    def _corpus(self, config: RunConfig) -> tuple[list[Utterance], list[Utterance]]:
        """To train on, held out; read once."""
        if self._utterances is None:
            spoken = self.reporter.counting("utterances spoken by espeak-ng")
            self._utterances = read_corpus(
                config.data.train[0],
                say=self.reporter.message,
                progress=lambda done, total: spoken(1),
                encoding=config.data.encoding,
            )
        return self._utterances

    def begin(self, config: RunConfig, out: Path) -> RunConfig:
        """The alphabet and config.json."""
        train, _ = self._corpus(config)
        chosen = model_config(config)
        inputs.remember(out, inputs.describe(self.files(config)))
        letters = Letters.fit((utterance.text for utterance in train), chosen.letters)
        letters.save(out / LETTERS)
        model = chosen.model_dump(mode="json") | {"alphabet": letters.size}
        folder.write_config(out, config.model_copy(update={"model": model}))
        return folder.read_run_config(out)

    def files(self, config: RunConfig) -> list[Path]:
        return _files(config, *self._corpus(config))

    def make_task(self, config: RunConfig, out: Path, files: Sequence[Input], device: torch.device) -> VoiceTask:
        return _task(config, out, *self._corpus(config), files, device, self.reporter)

    def estimate(self, task: VoiceTask, config: TrainingConfig, progress: Progress) -> Estimate:
        torch.set_num_threads(config.threads or 1)
        per_epoch = max(1, len(task.recordings) // task.lessons.batch)
        most = config.steps or config.epochs * len(task.recordings) // task.lessons.batch
        task.plan(most)
        return Estimate(most, per_epoch, _seconds(task, config), torch.get_num_threads())

    def settle(self, task: VoiceTask, total: int) -> None:
        task.plan(total)


def _files(config: RunConfig, train: Sequence[Utterance], held_out: Sequence[Utterance]) -> list[Path]:
    """The list of the texts and every recording; a built-in corpus makes its own."""
    name = config.data.train[0]
    if name.startswith(BUILTIN):
        return []
    texts = Path(name) / METADATA if Path(name).is_dir() else Path(name)
    return [texts, *(utterance.audio for utterance in (*train, *held_out))]


def _task(
    config: RunConfig,
    out: Path,
    train: Sequence[Utterance],
    held_out: Sequence[Utterance],
    files: Sequence[Input],
    device: torch.device,
    reporter: RunReporter,
) -> VoiceTask:
    letters = Letters.load(out / LETTERS)
    chosen = model_config(config)
    digests = {Path(file.path): file.sha256 for file in files}
    recordings = _recorded(out, "train", train, digests, letters, chosen, reporter)
    validation = _held_out(out, held_out, digests, letters, chosen, reporter)
    hours = float(recordings.lengths.sum()) / chosen.audio.frames_per_second / 3600
    reporter.message(f"{len(recordings):,} utterances, {hours:.2f} hours; {letters.size - 2} letters")
    torch.manual_seed(config.training.seed)
    model = Tacotron(chosen)
    usual = recordings.sample(_ADAPTED)
    model.aligner.adapt(usual)
    if model.style is not None:
        model.style.reference.adapt(usual)
    model.to(device)
    return VoiceTask(model, recordings, validation, seed=config.training.seed, samples=out / "samples", device=device)


def _held_out(
    out: Path,
    held_out: Sequence[Utterance],
    digests: Mapping[Path, str],
    letters: Letters,
    config: TacotronConfig,
    reporter: RunReporter,
) -> HeldOut:
    """The first held-out texts that the alphabet can spell, each with its reference."""
    spelled = [utterance for utterance in held_out if letters.can_spell(utterance.text)]
    if len(spelled) < len(held_out):
        reporter.message(
            f"{len(held_out) - len(spelled)} held-out texts have letters that training never shows; left out"
        )
    if not spelled:
        raise DataError("no held-out text can be spelled with the letters of the training texts")
    tested = spelled[: config.lessons.valid]
    styles = references(tested) if len({utterance.text for utterance in tested}) > 1 else tested
    longest = config.lessons.longest
    fits = [
        (utterance, reference)
        for utterance, reference in zip(tested, styles, strict=True)
        if letters.can_spell(reference.text)
    ] or [(utterance, utterance) for utterance in tested]

    def kept(name: str, utterances: Sequence[Utterance]) -> Recordings:
        return _recorded(out, name, utterances, digests, letters, config, reporter, longest=10 * longest)

    recordings = kept("test", [utterance for utterance, _ in fits])
    answers = kept("reference", [reference for _, reference in fits])
    shown = [utterance.text for utterance, _ in fits[:: max(1, len(fits) // _SENTENCES)]][:_SENTENCES]
    return HeldOut(recordings, answers, [(text, letters.ids(text)) for text in shown])


def _recorded(
    out: Path,
    name: str,
    utterances: Sequence[Utterance],
    digests: Mapping[Path, str],
    letters: Letters,
    config: TacotronConfig,
    reporter: RunReporter,
    longest: int | None = None,
) -> Recordings:
    return record(
        out / "data" / f"{name}.npy",
        utterances,
        digests,
        letters,
        config.audio,
        longest=longest or config.lessons.longest,
        counting=reporter.counting(f"spectrograms to {name}"),
    )


def _seconds(task: VoiceTask, config: TrainingConfig) -> float:
    """Of one update, over a few batches of every length; nothing is changed."""
    rows = task.everything()
    batches = [task.batch(rows[place]) for place in range(0, len(rows), max(1, len(rows) // 5))]
    task.model.train()
    times = []
    for batch in [batches[0], *batches]:  # the first one warms up
        began = time.monotonic()
        task.loss(batch, 0).total.backward()
        task.model.zero_grad(set_to_none=True)
        times.append(time.monotonic() - began)
    return config.accumulate * sum(times[1:]) / len(times[1:])


class VoiceRun(NamedTuple):
    """A voice as it was loaded."""

    path: Path
    config: RunConfig
    letters: Letters
    model: Tacotron


def load_voice(path: Path) -> VoiceRun:
    """A finished voice, every file checked against the manifest; nothing is executed."""
    config = folder.read_run_config(path)
    if not is_voice({"model": config.model}):
        raise RunError(f"{path}: is a {config.model.get('family')}, not a voice; use `seq2see translate {path}`")
    folder.check_manifest(path, LISTED)
    try:
        chosen = model_config(config)
    except ConfigError as error:
        raise RunError(f"{path / folder.CONFIG}: {error}") from None
    weights = place_of(path, folder.WEIGHTS)
    model = make_unfilled(weights, lambda: Tacotron(chosen), chosen.model_dump())
    letters = Letters.load(path / LETTERS)
    if letters.size != chosen.alphabet:
        raise RunError(
            f"{path}: {LETTERS} has {letters.size} letters, but {folder.CONFIG} says model.alphabet = {chosen.alphabet}"
        )
    return VoiceRun(path, config, letters, fill(weights, model))
