"""`seq2see evaluate` for a voice: everything that can be measured, beside its teacher."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.cli.shell.messages import say
from seq2see.errors import ConfigError, DataError, RunError

if TYPE_CHECKING:
    from seq2see.speech.corpus.sources import Utterance
    from seq2see.speech.evaluate.readout import ReadOut
    from seq2see.speech.synthesis import Voice


Counting = Callable[[str, int], Callable[[int], None]]
"""What is counted and how many there are -> how many more are done."""


def is_voice(path: str) -> bool:
    """Whether this is the run folder of a voice; what is no run folder at all is complained about elsewhere."""
    from seq2see.runs.folder import VOICE, read_run_config

    try:
        return read_run_config(Path(path)).model.get("family") == VOICE
    except (RunError, ConfigError):
        return False


def evaluate_voice(
    run: Path,
    tests: Sequence[str],
    limit: int | None,
    output: Path | None,
    as_json: bool,
    counting: Counting,
    encoding: str | None = None,
) -> str:
    """What to print of the held-out utterances of a corpus, by default of the one the voice was trained on."""
    from seq2see.formats.reading.encodings import check_encoding
    from seq2see.progress import ProgressDisplay
    from seq2see.speech.corpus.sources import read_corpus, references
    from seq2see.speech.evaluate.evaluation import listen
    from seq2see.speech.synthesis import Voice

    if len(tests) > 1:
        raise ConfigError("a voice is evaluated on one corpus: a folder, a .tsv, or builtin:espeak")
    voice = Voice.load(run)
    name = tests[0] if tests else voice.config.data.train[0]
    encoding = check_encoding(encoding) if tests or encoding else voice.config.data.encoding
    with ProgressDisplay(every=5.0) as display:
        count = display.count("espeak-ng", unit="utterances")
        _, held_out = read_corpus(name, say=say, progress=count.update, encoding=encoding)
    styles = references(held_out) if len({utterance.text for utterance in held_out}) > 1 else held_out
    spelled = [pair for pair in zip(held_out, styles, strict=True) if voice.letters.can_spell(pair[0].text)]
    both = spelled[:limit]
    if not both:
        raise DataError(f"none of the held-out texts of {name} can be spelled with the letters of {run}")
    test, refs = [utterance for utterance, _ in both], [reference for _, reference in both]
    if output is not None and any(recording.audio.parent.resolve() == output.resolve() for recording in (*test, *refs)):
        raise ConfigError(f"{output}: holds the recordings that are read; name another folder")
    keep = _Keep(voice, output)
    spoken = counting("spoken and measured", len(test))
    report = listen(test, refs, keep.speak, voice.model.config.audio, lambda done, total: spoken(1))
    read = styles_of(voice, [*test, *refs], counting)
    if as_json:
        figures: dict[str, Any] = report.as_dict() | {"run": str(run), "test": name}
        figures["style_read_out"] = [label._asdict() for label in read]
        return json.dumps(figures, ensure_ascii=False, indent=1)
    known = [
        f"{label.label} read from the style tokens: {label.right:.1%} (always the commonest: {label.commonest:.1%}; "
        f"{label.recordings:,} recordings)"
        for label in read
    ]
    return "\n".join([report.table(), *known])


def styles_of(voice: "Voice", utterances: Sequence["Utterance"], counting: Counting) -> list["ReadOut"]:
    """What the tokens know of recordings with known labels."""
    import numpy as np

    from seq2see.speech.evaluate.readout import read_styles

    labelled = [utterance for utterance in utterances if utterance.labels]
    if voice.model.style is None or not labelled:
        return []
    weights, read = [], counting("styles read", len(labelled))
    for utterance in labelled:
        weights.append(voice.style(utterance.audio).weights[0, :, 0].astype(np.float64).ravel())
        read(1)
    return read_styles(
        np.stack(weights), [utterance.text for utterance in labelled], [utterance.labels for utterance in labelled]
    )


class _Keep:
    """Speaks, and keeps what was said as WAV files if there is a folder for them."""

    def __init__(self, voice: "Voice", folder: Path | None) -> None:
        self.voice, self.folder, self.number = voice, folder, 0
        if folder is not None:
            if folder.exists() and not folder.is_dir():
                raise ConfigError(f"{folder}: is a file; --output names a folder for the recordings of a voice")
            folder.mkdir(parents=True, exist_ok=True)

    def speak(self, text: str, reference: Path) -> Any:
        from seq2see.speech.evaluate.evaluation import SynthesizedSpeech

        styled = self.voice.model.style is not None
        speech = self.voice.speak(text, style=reference if styled else None)
        if self.folder is not None:
            self.number += 1
            speech.save(self.folder / f"{self.number:04d}.wav")
        return SynthesizedSpeech(speech.samples, speech.rate, speech.alignment.weights[0, 0], speech.stopped)
