"""What goes in and what comes out: a Request for each text, a Translation for each request."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, get_args

from seq2see.errors import ConfigError
from seq2see.evaluate import sentence_chrf
from seq2see.formats.documents.remarks import Problem
from seq2see.look import AttentionMap, Kind, joined
from seq2see.look.map.tree import BeamTree, Spell, beam_tree
from seq2see.search import Considered, minimum_bayes_risk
from seq2see.session.terms import UnknownTerm
from seq2see.text import Encoding
from seq2see.text.pieces import SPECIALS
from seq2see.vocabulary import UNK

Maps = Mapping[Kind, AttentionMap]
"""Every kind of attention that the model has; none of `rnn` and `bytenet`."""
_KINDS: tuple[Kind, ...] = get_args(Kind)


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
    prefix_ids: tuple[int, ...] = ()
    """Instead of `prefix`: the very pieces it begins with, such as those of an earlier translation."""

    def __post_init__(self) -> None:
        if self.prefix and self.prefix_ids:
            raise ConfigError("prefix and prefix_ids both say how the translation begins; give one of them")

    @property
    def constrained(self) -> bool:
        return bool(self.prefix or self.prefix_ids or self.required or self.forbidden)


def no_maps() -> Maps:
    """Of a translation whose model is out of reach."""
    return {}


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
    tree          the record as a tree, to be drawn
    maps          what the model looked at, by kind of attention: computed when they are touched, by one forced pass
                  over source and translation for all kinds
    attention     the cross-attention among them; None for a family without attention (`rnn`, `bytenet`)
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
    compute_maps: Callable[[], Maps] = field(default=no_maps, repr=False)
    spell: Spell | None = field(default=None, repr=False)  # target ids to pieces, for the tree

    @cached_property
    def maps(self) -> Maps:
        return self.compute_maps()

    @property
    def attention(self) -> AttentionMap | None:
        return self.maps.get("cross")

    @cached_property
    def tree(self) -> BeamTree | None:
        if self.record is None or self.spell is None:
            return None
        return beam_tree(
            self.record, self.spell, [(hypothesis.token_ids, hypothesis.score) for hypothesis in self.nbest]
        )

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
        fields: dict[str, Any] = {
            "source": self.source,
            "text": self.text,
            "score": self.score,
            "tokens": list(self.tokens),
            "token_scores": list(self.token_scores),
            "ended": self.ended,
        }
        fields |= self._unknown()
        if len(self.nbest) > 1:
            fields["nbest"] = [
                {"text": other.text, "score": other.score, "ended": other.ended} | other._unknown()
                for other in self.nbest
            ]
        return fields

    def _unknown(self) -> dict[str, Any]:
        return {"unknown_terms": [term._asdict() for term in self.unknown_terms]} if self.unknown_terms else {}


def detached(translation: Translation) -> Translation:
    """The same without what needs its model, which cannot leave its process."""
    bare, *nbest = (
        replace(hypothesis, nbest=(), parts=(), compute_maps=no_maps, spell=None)
        for hypothesis in (translation, *translation.nbest)
    )
    return replace(bare, nbest=tuple(nbest))


def join(source: str, parts: Sequence[Translation]) -> Translation:
    """The translations of a long text's parts as one. Of the n-best only the best of each part is meaningful."""
    text = "".join(part.text for part in parts)
    tokens = tuple(token for part in parts for token in part.tokens)
    scores = tuple(score for part in parts for score in part.token_scores)
    total, ended = sum(part.score for part in parts), all(part.ended for part in parts)
    ends = accumulate(len(part.text) for part in parts)
    unknown = tuple(
        term.moved(end - len(part.text)) for part, end in zip(parts, ends, strict=True) for term in part.unknown_terms
    )

    def maps() -> Maps:
        return join_maps([part.maps for part in parts if part.token_ids])

    whole = Translation(source, text, total, tokens, scores, ended, unknown, parts=tuple(parts), compute_maps=maps)
    return replace(whole, nbest=(whole,))


def join_maps(parts: Sequence[Maps]) -> Maps:
    """Kind by kind, each part in its own block."""
    by_kind = {kind: joined([maps[kind] for maps in parts if kind in maps]) for kind in _KINDS}
    return {kind: whole for kind, whole in by_kind.items() if whole is not None}


def consensus(translation: Translation) -> Translation:
    """The same with its n-best list in the order of agreement by chrF; the score is the expected chrF."""
    if len(translation.nbest) < 2:
        return translation
    ranked = minimum_bayes_risk([hypothesis.text for hypothesis in translation.nbest], sentence_chrf)
    nbest = tuple(replace(translation.nbest[choice.place], score=choice.utility) for choice in ranked)
    return replace(nbest[0], nbest=nbest)
