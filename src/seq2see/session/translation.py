"""What goes in and what comes out: a Request for each text, a Translation for each request."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from seq2see.formats.remarks import Problem
from seq2see.look import AttentionMap
from seq2see.search import Considered
from seq2see.session.terms import UnknownTerm
from seq2see.text import Encoding
from seq2see.text.pieces import SPECIALS
from seq2see.vocabulary import UNK

Look = Callable[[], AttentionMap | None]


@dataclass(frozen=True)
class Request:
    """A text to translate, with what its translation must and must not say."""

    text: str
    prefix: str = ""  # the translation begins with it
    required: tuple[str, ...] = ()  # phrases it says somewhere
    forbidden: tuple[str, ...] = ()  # phrases it says nowhere
    number: int = 0  # of the line: what sampling is seeded with besides the seed
    origins: Mapping[str, re.Pattern[str]] = field(default_factory=dict, compare=False)
    """What required phrases translate, as far as it is known: the place of one that the vocabulary lacks."""

    @property
    def constrained(self) -> bool:
        return bool(self.prefix or self.required or self.forbidden)


def no_map() -> AttentionMap | None:
    """Of a translation whose model is out of reach."""
    return None


@dataclass(frozen=True, eq=False)
class Translation:
    """One translation of a text; the best one holds all of them in `nbest`, itself first.

    score         what translations were ranked by: log-probability through the length and coverage penalties
    tokens        the pieces said; token_scores: the log-probability of each, and of the end if it was said
    ended         by itself; False: cut off at the limit on its length
    unknown_terms required phrases that the target vocabulary lacks: put into the text as they are, or left out;
                  tokens, token_ids and attention are what the model said in their place
    parts         of a text too long to be translated at once: the translations of its pieces, in order
    record        every candidate of the search and what became of it, if asked for
    attention     what the model looked at: computed when it is touched, by one pass over source and translation;
                  None for a family without attention (`rnn`, `bytenet`)
    """

    source: str
    text: str
    score: float
    tokens: tuple[str, ...] = ()
    token_scores: tuple[float, ...] = ()
    ended: bool = True
    unknown_terms: tuple[UnknownTerm, ...] = ()
    nbest: "tuple[Translation, ...]" = ()
    parts: "tuple[Translation, ...]" = ()
    record: tuple[Considered, ...] | None = None
    token_ids: tuple[int, ...] = field(default=(), repr=False)
    written: Encoding | None = field(default=None, repr=False)  # a forced one as it was given, unknown words included
    look: Look = field(default=no_map, repr=False)

    @cached_property
    def attention(self) -> AttentionMap | None:
        return self.look()

    def problems(self) -> Iterator[Problem]:
        """What tells by itself that this translation deserves a look."""
        if self.source.strip() and not self.text.strip():
            yield "empty"
        if not self.ended:
            yield "cut off"
        if SPECIALS[UNK].strip() in self.tokens:
            yield "unknown word"

    def __str__(self) -> str:
        return self.text

    def as_dict(self) -> Mapping[str, Any]:
        """For JSON; one shape for the command line, the server and the page."""
        told: dict[str, Any] = {
            "source": self.source,
            "text": self.text,
            "score": self.score,
            "tokens": list(self.tokens),
            "token_scores": list(self.token_scores),
            "ended": self.ended,
        }
        told |= self._unknown()
        if len(self.nbest) > 1:
            told["nbest"] = [
                {"text": one.text, "score": one.score, "ended": one.ended} | one._unknown() for one in self.nbest
            ]
        return told

    def _unknown(self) -> dict[str, Any]:
        return {"unknown_terms": [term._asdict() for term in self.unknown_terms]} if self.unknown_terms else {}
