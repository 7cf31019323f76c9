"""Is it understood? Two recognisers that know nothing of our models.

WordRecogniser     pocketsphinx with its English model and a grammar of the corpus' words, in any order
TextRecogniser     any language: the nearest of all texts, each as the teacher says it, by dynamic time warping
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seq2see.errors import DataError, MissingExtraError
from seq2see.evaluate.edits import edit_distance
from seq2see.speech.audio import Samples, resampled
from seq2see.speech.evaluate.measures import Array, matched, mel_cepstra

_RATE = 16_000  # of pocketsphinx' English model
_SILENCE, _NOISE = 0.3, 1e-3  # seconds around, of full scale: digital silence upsets its noise estimate
_NEW_WORD = 0.01  # price of one more word: as many are put in as are left out of what the teacher says
_WORD = re.compile(r"[a-z']+")


class WordRecogniser:
    """English words out of a known list."""

    def __init__(self, words: Iterable[str]) -> None:
        try:
            import pocketsphinx  # type: ignore[import-untyped]
        except ModuleNotFoundError:
            raise MissingExtraError("Counting the words that are understood", "speech") from None
        self._decoder: Any = pocketsphinx.Decoder(samprate=_RATE, lm=None, wip=_NEW_WORD, loglevel="FATAL")
        wanted = sorted({word for text in words for word in split(text)})
        self.unknown = [word for word in wanted if self._decoder.lookup_word(word) is None]
        known = [word for word in wanted if word not in set(self.unknown)]
        if not known:
            raise DataError("none of the corpus' words is in the recogniser's English dictionary")
        grammar = f"#JSGF V1.0;\ngrammar corpus;\npublic <said> = ( {' | '.join(known)} )+ ;\n"
        self._decoder.add_jsgf_string("corpus", grammar)
        self._decoder.activate_search("corpus")

    def hear(self, samples: Samples, rate: int) -> list[str]:
        """The words that were understood, in order."""
        sound = resampled(np.asarray(samples, np.float32), rate, _RATE)
        peak = float(np.abs(sound).max(initial=0.0))
        sound = np.pad(sound * (0.5 / peak if peak > 0 else 1.0), round(_SILENCE * _RATE))
        noise = np.random.default_rng(0).standard_normal(len(sound)).astype(np.float32) * _NOISE
        whole = (np.clip(sound + noise, -1, 1) * 32767).astype(np.int16)
        self._decoder.reinit_feat()  # else its idea of the channel comes from the sound before
        self._decoder.start_utt()
        self._decoder.process_raw(whole.tobytes(), full_utt=True)
        self._decoder.end_utt()
        best = self._decoder.hyp()
        return [] if best is None else [re.sub(r"\(\d+\)$", "", word) for word in best.hypstr.split()]


def split(text: str) -> list[str]:
    """English words in small letters, without punctuation."""
    return _WORD.findall(text.lower())


def understood(spoken: Sequence[str], heard: Sequence[str]) -> int:
    """How many of the spoken words were heard in the same order: what the cheapest edits leave alone.

    A word that was put in costs one that was understood, so that a recogniser gains nothing by guessing all words.
    """
    return max(0, len(spoken) - edit_distance(heard, spoken))


class TextRecogniser:
    """One text out of a known list, by the recording that is nearest."""

    def __init__(self, templates: Mapping[str, Samples], rate: int) -> None:
        if len(templates) < 2:
            raise DataError("to recognise a text, at least two of them have to be known")
        self._rate = rate
        self._templates = {text: _features(samples, rate) for text, samples in templates.items()}

    def hear(self, samples: Samples) -> str:
        """The nearest text."""
        sound = _features(samples, self._rate)
        return min(self._templates, key=lambda text: matched(sound, self._templates[text])[0])


def _features(samples: Samples, rate: int) -> Array:
    """(frames, 13) every 25 ms, without their mean: most of what a voice or a microphone adds is in it."""
    cepstra = mel_cepstra(samples, rate)[::2]
    return np.asarray(cepstra - cepstra.mean(axis=0))
