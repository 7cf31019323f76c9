"""What a sentence of `phrases` is made of while it is being built: words with concepts, noun phrases, clauses.

Both languages grow from the same objects. A word is a pair (text, concept number); words of the two sides that
carry the same number translate each other, and that is the gold alignment. `Draw` holds the choices of one sentence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeVar

from seq2see.corpora.phrases import hangul
from seq2see.corpora.phrases.english import VerbForms
from seq2see.corpora.phrases.hangul import Stem

Word = tuple[str, int]
Register = Literal["plain", "polite", "formal"]
Tense = Literal["present", "past", "future"]
T = TypeVar("T")


class Draw:
    """The dice, the register and the words already used, for one sentence.

    Only `random()` of the generator is called: it is the one method whose sequence Python guarantees for ever.
    With `canonical`, every choice that English does not show (politeness, 안 or -지 않다, where the adverb stands)
    takes its first option, so that Korean becomes a function of English. With `most`, a list of words ends after that
    many: the whole grammar with a small vocabulary.
    """

    def __init__(self, random: Callable[[], float], *, canonical: bool = False, most: int | None = None) -> None:
        self.random = random
        self.canonical = canonical
        self.most = most
        self.used: set[str] = set()
        self._concepts = 0
        self.register: Register = self.variant(("polite", "polite", "plain", "formal"))

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, evenly."""
        count = len(options) if self.most is None else min(self.most, len(options))
        return options[int(self.random() * count)]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random() < probability

    def variant(self, options: Sequence[T]) -> T:
        """A choice that only Korean shows: the first option when Korean must follow from English."""
        return options[0] if self.canonical else options[int(self.random() * len(options))]

    def concept(self) -> int:
        """A fresh concept number."""
        self._concepts += 1
        return self._concepts

    def fresh(self, options: Sequence[T], name: Callable[[T], str]) -> T:
        """An option whose name has not been used in this sentence yet, if a few draws find one."""
        for _ in range(4):
            option = self.pick(options)
            if name(option) not in self.used:
                break
        self.used.add(name(option))
        return option


# eq=False keeps these as cheap as plain classes; they live for one sentence.
@dataclass(slots=True, eq=False)
class NounPhrase:
    """A noun phrase in both languages, Korean without its particle."""

    korean: list[Word]
    english: list[Word]
    person: int = 3
    plural: bool = False
    gender: str = "n"
    honoured: bool = False
    objective: str = ""
    heavy: bool = False  # holds a clause, so that an adverb in front of it would be ambiguous
    concept: int = 0

    @property
    def agreement(self) -> str:
        """Which verb form it takes: I, s (he, she, it) or p (you, we, they)."""
        if self.person == 1 and not self.plural:
            return "I"
        return "p" if self.plural or self.person == 2 else "s"

    def pronoun(self) -> "NounPhrase":
        """How English refers back to it where Korean says nothing; it keeps the concept of the phrase."""
        if self.person < 3:
            return self
        subject, objective = ("they", "them") if self.plural else _THIRD[self.gender]
        return NounPhrase(
            [], [(subject, self.concept)], 3, self.plural, self.gender, self.honoured, objective, False, self.concept
        )

    def possessive(self) -> Word:
        """my, his, their: for what belongs to the subject without Korean saying so."""
        if self.person == 1:
            return ("our" if self.plural else "my", self.concept)
        if self.person == 2:
            return ("your", self.concept)
        return ("their" if self.plural else {"m": "his", "f": "her", "n": "its"}[self.gender], self.concept)

    def as_object(self) -> list[Word]:
        """The English words as an object: him, not he."""
        return [(self.objective, self.english[0][1])] if self.objective else self.english


_THIRD = {"m": ("he", "him"), "f": ("she", "her"), "n": ("it", "it")}
_FUSED = {
    ("나", "이"): "내가",
    ("저", "이"): "제가",
    ("너", "이"): "네가",
    ("누구", "이"): "누가",
    ("나", "의"): "내",
    ("저", "의"): "제",
}
_HONOURED = {"은": "께서는", "이": "께서", "에게": "께"}


@cache
def _particle(noun: str, particle: str, honoured: bool) -> str:
    if honoured and particle in _HONOURED:
        return noun + _HONOURED[particle]
    return _FUSED.get((noun, particle)) or hangul.attach(noun, particle)


def marked(phrase: NounPhrase, particle: str) -> list[Word]:
    """The Korean words with a particle on the last one; respect turns 은/이/에게 into 께서는/께서/께."""
    if not phrase.korean:
        return []
    text, concept = phrase.korean[-1]
    return [*phrase.korean[:-1], (_particle(text, particle, phrase.honoured), concept)]


@dataclass(slots=True, eq=False)
class Predicate:
    """A verb, an adjective or a noun with be, with its arguments: everything of a clause but subject and tense."""

    stem: Stem
    forms: VerbForms
    lead: tuple[str, ...] = ()
    arguments: list[Word] = field(default_factory=list)
    complement: list[Word] = field(default_factory=list)
    honorific: Stem | None = None
    state: bool = False
    chance: bool = False
    heavy: bool = False
    concept: int = 0
    before: list[Word] = field(default_factory=list)  # Korean adjuncts that precede the arguments
    manner: list[Word] = field(default_factory=list)  # Korean adverbs right before the verb
    after: list[Word] = field(default_factory=list)  # English adjuncts that follow the complement
    denied: Stem | None = None  # the stem that is its own negation: 있다 -> 없다, 알다 -> 모르다


@dataclass(slots=True, eq=False)
class Clause:
    """A subject and a predicate in a tense; the ending and the place of the adverbs depend on where it stands."""

    subject: NounPhrase
    predicate: Predicate
    tense: Tense = "present"
    aspect: str = ""
    negative: bool = False
    korean_time: list[Word] = field(default_factory=list)
    english_time: list[Word] = field(default_factory=list)
    frequency: list[Word] = field(default_factory=list)
    korean_frequency: list[Word] = field(default_factory=list)
    fixed: bool = False  # takes 이/가 even as a main clause and keeps its time in front: what there is, the weather
    topic_only: bool = False
    possessed: bool = False  # 나는 차가 있다: inside another clause the owner takes 에게
    korean_sub: list[Word] = field(default_factory=list)  # a clause right after the subject
    english_sub: list[Word] = field(default_factory=list)  # the same clause at the end of the English
    english_first: list[Word] = field(default_factory=list)  # a first predicate and its *and*
