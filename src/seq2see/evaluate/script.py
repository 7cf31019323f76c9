"""How a language is written decides what can be counted: words, where spaces part them, else characters."""

import re
from collections.abc import Iterable
from itertools import islice
from typing import Literal

Unit = Literal["words", "characters"]

# Han, kana, Thai, Lao, Burmese, Khmer: no space between words.
_UNSPACED = re.compile(
    "[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"
)
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
_LETTER = re.compile(r"[^\W\d_]")
_ENOUGH = 1000  # texts tell how a language is written


def length_unit(texts: Iterable[str]) -> Unit:
    """Words between spaces, or characters for texts mostly written without spaces (Chinese, Japanese, Thai)."""
    return "characters" if _share(texts, _UNSPACED) > 0.5 else "words"


def is_korean(texts: Iterable[str]) -> bool:
    """Spaces part its phrases, but particles and endings hang on the words."""
    return _share(texts, _HANGUL) > 0.5


def length(text: str, unit: Unit) -> int:
    return len(text.split()) if unit == "words" else len("".join(text.split()))


def _share(texts: Iterable[str], script: re.Pattern[str]) -> float:
    """Of the letters, how many belong to a script. Vowel signs of Thai are no letters to `re`, so both are counted."""
    some = "".join(islice(texts, _ENOUGH))
    inside = len(script.findall(some))
    return inside / max(1, len(_LETTER.findall(script.sub("", some))) + inside)
