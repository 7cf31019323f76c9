"""The words of a translation: where each lies in its text, which pieces said it, how sure the model was of it."""

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from seq2see.look.map.side import side_of
from seq2see.session.translation import Translation
from seq2see.session.translator import Translator
from seq2see.text import Encoding

_WORD = re.compile(r"\S+")


class SpokenWord(NamedTuple):
    """A word between white space, as maps count them.

    span          in code points of the translation's text
    pieces        from, to (exclusive) among its token_ids; None: it was put in literally, or the text has parts
    probability   of its pieces, each given everything before it; None: nobody said it
    """

    text: str
    span: tuple[int, int]
    pieces: tuple[int, int] | None
    probability: float | None


def spoken_words(translator: Translator, translation: Translation) -> list[SpokenWord]:
    if not translation.parts:
        return list(_words(translation, translation.written or translator.read_target(translation.token_ids)))
    words: list[SpokenWord] = []
    start = 0
    for part in translation.parts:
        for word in spoken_words(translator, part):
            words.append(word._replace(span=(word.span[0] + start, word.span[1] + start), pieces=None))
        start += len(part.text)
    return words


def _words(translation: Translation, reading: Encoding) -> Iterator[SpokenWord]:
    text = translation.text
    start = text.find(reading.text)
    margins = text[:start] + text[start + len(reading.text) :]
    if start < 0 or margins.strip():  # terms that the vocabulary lacks were put in: the text is not what was said
        for match in _WORD.finditer(text):
            yield SpokenWord(match.group(), match.span(), None, None)
        return
    side, groups = side_of(reading).grouped()
    for token, span, word, group in zip(side.tokens, side.spans, side.words, groups, strict=True):
        if word is not None:
            probability = math.exp(sum(translation.token_scores[place] for place in group))
            yield SpokenWord(token, (span[0] + start, span[1] + start), (group[0], group[-1] + 1), probability)
