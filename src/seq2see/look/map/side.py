"""One axis of a map: the tokens of a sentence, where they lie in its text, and which word each belongs to."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from seq2see.errors import ShapeError
from seq2see.vocabulary import EOS

Span = tuple[int, int]

BEGIN, END = "<s>", "</s>"
_WORD = re.compile(r"\S+")


class EncodedText(Protocol):
    """A text in pieces, as `text.Encoding` is."""

    @property
    def text(self) -> str: ...
    @property
    def ids(self) -> Sequence[int]: ...
    @property
    def tokens(self) -> Sequence[str]: ...
    @property
    def spans(self) -> Sequence[Span]: ...


@dataclass(frozen=True)
class Side:
    """The tokens of one axis.

    text      the sentence, in code points
    tokens    as they are shown: pieces or words, `</s>` for the end, `<s>` for the beginning
    spans     where each token lies in the text; (n, n) for one that stands for no text
    words     which word of the text each token belongs to, counted between white space; None for a special token
    """

    text: str
    tokens: tuple[str, ...]
    spans: tuple[Span, ...]
    words: tuple[int | None, ...]

    def __post_init__(self) -> None:
        if not len(self.tokens) == len(self.spans) == len(self.words):
            raise ShapeError(
                f"a side has {len(self.tokens)} tokens, {len(self.spans)} spans and {len(self.words)} words; "
                "one of each is needed for every token"
            )
        if any(not 0 <= start <= end <= len(self.text) for start, end in self.spans):
            raise ShapeError(f"a side has a span that lies outside its text of {len(self.text)} characters")

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def special(self) -> NDArray[np.bool_]:
        """(n,): True where a token stands for no text: `</s>`, `<s>`."""
        return np.array([word is None for word in self.words], dtype=bool)

    @property
    def word_texts(self) -> tuple[str, ...]:
        """The words of the text, which `words` and alignments count."""
        return tuple(_WORD.findall(self.text))

    def pick(self, kept: Sequence[int]) -> "Side":
        """The tokens at these places."""
        return Side(
            self.text,
            tuple(self.tokens[place] for place in kept),
            tuple(self.spans[place] for place in kept),
            tuple(self.words[place] for place in kept),
        )

    def grouped(self) -> "tuple[Side, list[list[int]]]":
        """The side in words, and for each of them the places of its pieces; a special token stays by itself."""
        groups: dict[tuple[bool, int], list[int]] = {}
        for place, word in enumerate(self.words):
            groups.setdefault((True, place) if word is None else (False, word), []).append(place)
        places = list(groups.values())
        shown = [self._shown(group) for group in places]
        side = Side(
            self.text,
            tuple(token for token, _ in shown),
            tuple(span for _, span in shown),
            tuple(self.words[group[0]] for group in places),
        )
        return side, places

    def _shown(self, group: list[int]) -> tuple[str, Span]:
        start, end = min(self.spans[place][0] for place in group), max(self.spans[place][1] for place in group)
        word = self.text[start:end]
        token = word.strip()
        if self.words[group[0]] is None or not token:
            return "".join(self.tokens[place] for place in group), (start, end)
        start += len(word) - len(word.lstrip())
        return token, (start, start + len(token))


def side_of(pieces: EncodedText) -> Side:
    """The pieces of a text and the end behind them, which every source has and every target says."""
    ended = bool(pieces.ids) and pieces.ids[-1] == EOS
    tokens = tuple(pieces.tokens)[: len(pieces.tokens) - ended]
    spans = tuple((int(start), int(end)) for start, end in pieces.spans)[: len(tokens)]
    end = len(pieces.text)
    return Side(pieces.text, (*tokens, END), (*spans, (end, end)), (*words_of(pieces.text, spans), None))


def shifted(side: Side) -> Side:
    """What a decoder reads while it says the side: `<s>`, then everything but the last token."""
    return Side(side.text, (BEGIN, *side.tokens[:-1]), ((0, 0), *side.spans[:-1]), (None, *side.words[:-1]))


def words_of(text: str, spans: Sequence[Span]) -> tuple[int | None, ...]:
    """The word in which each span begins; white space counts with the word after it, at the end with the last one."""
    ends = [match.end() for match in _WORD.finditer(text)]
    last = max(0, len(ends) - 1)
    return tuple(min(last, bisect_right(ends, start)) if start < end else None for start, end in spans)


def joined_sides(sides: Sequence[Side], separator: str = " ") -> Side:
    """The sides of a text's parts as one."""
    tokens: list[str] = []
    spans: list[Span] = []
    words: list[int | None] = []
    texts: list[str] = []
    at = before = 0
    for side in sides:
        tokens += side.tokens
        spans += [(at + start, at + end) for start, end in side.spans]
        words += [None if word is None else before + word for word in side.words]
        texts.append(side.text)
        at += len(side.text) + len(separator)
        before += len(side.word_texts)
    return Side(separator.join(texts), tuple(tokens), tuple(spans), tuple(words))
