"""Which languages are served, what they are called, and which of them a text seems to be in."""

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from babel import Locale, UnknownLocaleError
from babel.core import get_global

from seq2see.serve.api.requests import ServedRun
from seq2see.serve.http.refusal import Refusal
from seq2see.serve.served import base_code

# How letters of a script are called in Unicode, where that is not the script's own name.
_SCRIPTS = {
    "Kore": ("HANGUL", "CJK"),
    "Jpan": ("HIRAGANA", "KATAKANA", "CJK"),
    "Hans": ("CJK",),
    "Hant": ("CJK",),
    "Latn": ("LATIN",),
    "Cyrl": ("CYRILLIC",),
    "Grek": ("GREEK",),
    "Arab": ("ARABIC",),
    "Hebr": ("HEBREW",),
    "Deva": ("DEVANAGARI",),
    "Thai": ("THAI",),
    "Armn": ("ARMENIAN",),
    "Geor": ("GEORGIAN",),
    "Beng": ("BENGALI",),
    "Taml": ("TAMIL",),
}
_READ = 2000  # characters of a text that its language is told by


@dataclass(frozen=True)
class Detected:
    """A guess; confidence in per cent."""

    language: str
    confidence: float

    def as_dict(self) -> dict[str, Any]:
        return {"confidence": self.confidence, "language": self.language}


@dataclass(frozen=True)
class ServedLanguages:
    """Of text runs that say which languages they translate. Of two runs with the same pair the first one counts."""

    runs: tuple[ServedRun, ...]

    @cached_property
    def pairs(self) -> dict[tuple[str, str], ServedRun]:
        pairs: dict[tuple[str, str], ServedRun] = {}
        for run in self.runs:
            if run.kind == "text" and run.source and run.target:
                pairs.setdefault((run.source, run.target), run)
        return pairs

    @cached_property
    def sources(self) -> list[str]:
        return list(dict.fromkeys(source for source, _ in self.pairs))

    @cached_property
    def codes(self) -> list[str]:
        """Sources first. One that is only a target is listed too: else Weblate calls its pair unsupported."""
        return list(dict.fromkeys([*self.sources, *(target for _, target in self.pairs)]))

    def targets(self, source: str) -> list[str]:
        return [target for start, target in self.pairs if start == source]

    def as_list(self) -> list[dict[str, Any]]:
        return [{"code": code, "name": name_of(code), "targets": self.targets(code)} for code in self.codes]

    def known(self, code: str) -> str:
        """As it is served, whatever its case and region: KO, ko-KR, ko_KR are ko."""
        for candidate in (base_code(code), base_code(code).split("-")[0]):
            if candidate in self.codes:
                return candidate
        raise Refusal(f"{code[:40]} is not supported")

    def run(self, source: str, target: str, model: str | None = None) -> ServedRun:
        """Of codes that are known. model: the name of another run of the same pair."""
        run = self.pairs.get((source, target))
        if run is None:
            described = [f"{name_of(code)} ({code})" for code in (target, source)]
            raise Refusal(f"{described[0]} is not available as a target language from {described[1]}")
        if not model:
            return run
        for other in self.runs:
            if other.name == model and (other.source, other.target) == (source, target):
                return other
        raise Refusal(f"no model {model[:100]} from {source} to {target}")

    def prepare(self) -> None:
        """What takes a second the first time."""
        if len(self.sources) > 1:
            _likelihoods("", self.sources)

    def detect(self, text: str, target: str | None = None) -> list[Detected]:
        """Best first, among the sources (of this target). Empty if there are none, or no letter to go by."""
        sources = [code for code in self.sources if target is None or (code, target) in self.pairs]
        letters = script_counts(text[:_READ])
        if not sources or not letters:
            return []
        shares = {code: script_share(code, letters) for code in sources}
        if len(sources) == 1:
            return [Detected(sources[0], round(100 * shares[sources[0]], 1))]
        likely = _likelihoods(text[:_READ], sources)
        scored = {code: shares[code] * likely.get(code, 1.0 if not likely else 0.0) for code in sources}
        total = sum(scored.values()) or 1.0
        candidates = [Detected(code, round(100 * score / total, 1)) for code, score in scored.items()]
        return sorted(candidates, key=lambda guess: -guess.confidence)


@cache
def name_of(code: str) -> str:
    """In English, as the other servers of this protocol do it."""
    try:
        return Locale.parse(code, sep="-").get_display_name("en") or code
    except (UnknownLocaleError, ValueError):
        return code


def script_counts(text: str) -> Counter[str]:
    """Letters by the first word of their Unicode name, which is their script's."""
    return Counter(_script(letter) for letter in text if letter.isalpha())


@cache
def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split()[0].split("-")[0]


def script_share(code: str, letters: Counter[str]) -> float:
    """The share of the letters that this language is written with; of a language we know nothing of, all."""
    likely = get_global("likely_subtags").get(code.replace("-", "_").split("_")[0], "")
    scripts = [part for part in code.split("-")[1:] if part in _SCRIPTS]
    script = scripts[0] if scripts else next((part for part in str(likely).split("_") if part in _SCRIPTS), None)
    if script is None:
        return 1.0
    return sum(letters[name] for name in _SCRIPTS[script]) / letters.total()


def _likelihoods(text: str, codes: Sequence[str]) -> dict[str, float]:
    """By py3langid, which asks for all it knows; only ours count."""
    from py3langid import rank  # type: ignore[import-untyped]

    wanted = {code.split("-")[0]: code for code in codes}
    scores = {wanted[code]: score for code, score in rank(text) if code in wanted}
    return _softmax(scores.items())


def _softmax(scores: Iterable[tuple[str, float]]) -> dict[str, float]:
    known = dict(scores)
    if not known:
        return {}
    most = max(known.values())
    weights = {code: math.exp(score - most) for code, score in known.items()}
    total = sum(weights.values())
    return {code: weight / total for code, weight in weights.items()}
