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
    from seq2see.formats.encodings import check_encoding
    from seq2see.speech.corpus.sources import read_corpus, references
    from seq2see.speech.evaluate.evaluation import listen
    from seq2see.speech.synthesis import Voice

    if len(tests) > 1:
        raise ConfigError("a voice is evaluated on one corpus: a folder, a .tsv, or builtin:espeak")
    voice = Voice.load(run)
    name = tests[0] if tests else voice.config.data.train[0]
    encoding = check_encoding(encoding) if tests or encoding else voice.config.data.encoding
    _, held_out = read_corpus(name, say=say, encoding=encoding)
    asked = references(held_out) if len({one.text for one in held_out}) > 1 else held_out
    both = [(one, other) for one, other in zip(held_out, asked, strict=True) if voice.letters.can_spell(one.text)][
        :limit
    ]
    if not both:
        raise DataError(f"none of the held-out texts of {name} can be spelled with the letters of {run}")
    test, refs = [one for one, _ in both], [one for _, one in both]
    if output is not None and any(one.audio.parent.resolve() == output.resolve() for one in (*test, *refs)):
        raise ConfigError(f"{output}: holds the recordings that are read; name another folder")
    keep = _Keep(voice, output)
    spoken = counting("spoken and measured", len(test))
    report = listen(test, refs, keep.speak, voice.model.config.audio, lambda done, total: spoken(1))
    read = styles_of(voice, [*test, *refs], counting)
    if as_json:
        told: dict[str, Any] = report.as_dict() | {"run": str(run), "test": name}
        told["style_read_out"] = [one._asdict() for one in read]
        return json.dumps(told, ensure_ascii=False, indent=1)
    known = [
        f"{one.label} read from the style tokens: {one.right:.1%} (always the commonest: {one.commonest:.1%}; "
        f"{one.recordings:,} recordings)"
        for one in read
    ]
    return "\n".join([report.table(), *known])


def styles_of(voice: "Voice", utterances: Sequence["Utterance"], counting: Counting) -> list["ReadOut"]:
    """What the tokens know of recordings with known labels."""
    import numpy as np

    from seq2see.speech.evaluate.readout import read_styles

    labelled = [one for one in utterances if one.labels]
    if voice.model.style is None or not labelled:
        return []
    weights, read = [], counting("styles read", len(labelled))
    for one in labelled:
        weights.append(voice.style(one.audio).weights[0, :, 0].astype(np.float64).ravel())
        read(1)
    return read_styles(np.stack(weights), [one.text for one in labelled], [one.labels for one in labelled])


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
        said = self.voice.speak(text, style=reference if styled else None)
        if self.folder is not None:
            self.number += 1
            said.save(self.folder / f"{self.number:04d}.wav")
        return SynthesizedSpeech(said.samples, said.rate, said.alignment.weights[0, 0], said.stopped)
