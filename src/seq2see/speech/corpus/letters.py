"""Text to letters: what a voice reads.

    characters   the text in small letters, one spelling (NFC), one space where there was white space
    jamo         the same with Hangul syllables split into their letters: 한 -> ᄒ ᅡ ᆫ
    phonemes     what espeak-ng would say, in the International Phonetic Alphabet

The alphabet is what the training texts contain. A text with anything else is refused, and the letter is named:
a voice that leaves out what it cannot read would say something else than what is written.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from seq2see.atomic import read_json, write_json
from seq2see.errors import DataError, RunError, brief
from seq2see.speech.corpus.espeak import phonemes
from seq2see.text.jamo import compose, decompose
from seq2see.text.normalise import normalise

PAD, END = 0, 1
END_SYMBOL = "</s>"
_NAMED = 5  # letters named in an error
# Typographic signs that are said like their plain forms.
_PLAIN = str.maketrans("‘’‛“”„–—−…", "'''\"\"\"---.")
_VERSION = 1


class LettersConfig(BaseModel):
    """How text is cut into letters."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["characters", "jamo", "phonemes"] = Field("jamo", description="characters, jamo or phonemes")


class Letters:
    """An alphabet: id 0 is padding, 1 the end of a text, the letters follow in the order of their code points."""

    def __init__(self, alphabet: Sequence[str], config: LettersConfig) -> None:
        self.config = config
        self.alphabet = tuple(alphabet)
        self._ids = {letter: place for place, letter in enumerate(self.alphabet, start=2)}

    @classmethod
    def fit(cls, texts: Iterable[str], config: LettersConfig) -> "Letters":
        """The alphabet of these texts."""
        letters = {letter for text in texts for letter in spelled(text, config)}
        if not letters:
            raise DataError("the texts are empty: there are no letters to learn")
        return cls(sorted(letters), config)

    @property
    def size(self) -> int:
        """How many ids there are, padding and end included."""
        return len(self.alphabet) + 2

    def ids(self, text: str) -> list[int]:
        """The ids of a text, the end included; an error names the letters that are outside the alphabet."""
        letters = spelled(text, self.config)
        if not letters:
            raise DataError("there is nothing to say: the text is empty")
        unknown = [place for place, letter in enumerate(letters) if letter not in self._ids]
        if unknown:
            raise DataError(self._complaint(letters, unknown))
        return [*(self._ids[letter] for letter in letters), END]

    def can_spell(self, text: str) -> bool:
        """Whether `ids` would have no complaint."""
        letters = spelled(text, self.config)
        return bool(letters) and all(letter in self._ids for letter in letters)

    def symbols(self, ids: Iterable[int]) -> list[str]:
        """One symbol for each id that is not padding, as an axis of a map shows them."""
        return [END_SYMBOL if id_ == END else self.alphabet[id_ - 2] for id_ in ids if id_ != PAD]

    def show(self, ids: Iterable[int]) -> str:
        """The text of these ids, Hangul composed again."""
        return compose("".join(self.alphabet[id_ - 2] for id_ in ids if id_ not in (PAD, END)))

    def save(self, path: Path) -> None:
        write_json(path, {"version": _VERSION, "kind": self.config.kind, "alphabet": list(self.alphabet)})

    @classmethod
    def load(cls, path: Path) -> "Letters":
        try:
            content: Any = read_json(path)
            alphabet, version = content["alphabet"], content["version"]
            config = LettersConfig(kind=content["kind"])
        except FileNotFoundError:
            raise RunError(f"{path}: no such file; the run folder is not complete") from None
        except (ValueError, KeyError, TypeError, OSError) as error:
            raise RunError(f"{path}: not an alphabet ({type(error).__name__})") from None
        if version != _VERSION:
            raise RunError(f"{path}: version {brief(version)}, but this seq2see reads version {_VERSION}")
        if not isinstance(alphabet, list) or not all(isinstance(letter, str) and letter for letter in alphabet):
            raise RunError(f"{path}: not an alphabet (its letters are not a list of texts)")
        return cls(alphabet, config)

    def _complaint(self, letters: str, unknown: Sequence[int]) -> str:
        """`'7' (U+0037) is outside the voice's alphabet (after 'room '); it reads: a b c`."""
        named = list(dict.fromkeys(letters[place] for place in unknown))
        shown = ", ".join(f"'{letter}' (U+{ord(letter):04X})" for letter in named[:_NAMED])
        more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
        verb = "is" if len(named) == 1 else "are"
        before = compose(letters[max(0, unknown[0] - 20) : unknown[0]])
        where = f"after '{before}'" if before else "at the beginning"
        alphabet = " ".join(letter for letter in self.alphabet if letter != " ")  # apart, so that jamo stay single
        return f"{shown}{more} {verb} outside the voice's alphabet ({where}); it reads: {alphabet}"


def spelled(text: str, config: LettersConfig) -> str:
    """The text as a string of letters, one code point each."""
    plain = re.sub(r"\s+", " ", normalise(text).translate(_PLAIN)).strip().lower()
    match config.kind:
        case "characters":
            return plain
        case "jamo":
            return decompose(plain)
        case "phonemes":
            return phonemes(plain) if plain else ""
