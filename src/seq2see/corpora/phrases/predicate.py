"""Predicates: the Korean chain of stem, auxiliaries and ending, and the English verb group.

Korean stacks everything behind the stem (읽고 싶어 하지 않았다고) while English puts it in front (that he did not want
to read). Which Korean eojeol carries which meaning is recorded in `Roles`, and the English words take their concept
from there: *not* aligns with 않았다고, *want to* with 싶어 하지, *read* with 읽고.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from seq2see.corpora.phrases import hangul
from seq2see.corpora.phrases.english import VerbForms, verb
from seq2see.corpora.phrases.hangul import Stem, conjugate
from seq2see.corpora.phrases.structure import Clause, Draw, Predicate, Register, Tense, Word


@dataclass(slots=True)
class Roles:
    """The concepts of a predicate: the verb, its auxiliary, its negation, its future, its connective."""

    verb: int
    auxiliary: int
    negation: int
    future: int
    connective: int


class Auxiliary(NamedTuple):
    """A verb that governs another: Korean ending of the governed verb, words between, stem; English and its shape."""

    ending: str
    between: tuple[str, ...]
    stem: Stem
    forms: VerbForms
    shape: str  # to, ing, participle, base
    honour_inside: bool = False
    denied: Stem | None = None


_HAVE = Stem("있", "regular", "existence")
_LACK = Stem("없", "regular", "existence")
_HAVE_HONOURED = Stem("계시", "시", "verb")
_DO = Stem("하", "하")
_BE_FORMS = VerbForms("be", "is", "was", "been", "being")


def _governing(ending: str, citation: str, english: str, shape: str) -> Auxiliary:
    marker, *between = ending.split()
    return Auxiliary(marker, tuple(between), hangul.stem(citation), verb(english), shape)


AUXILIARIES: dict[str, Auxiliary] = {
    "progressive": Auxiliary("고", (), _HAVE, _BE_FORMS, "ing"),
    "want": Auxiliary("고", (), Stem("싶", "regular", "adjective"), verb("want"), "to"),
    "can": Auxiliary("을", ("수",), _HAVE, verb("can"), "base", True, _LACK),
    "must": Auxiliary("아야", (), _DO, verb("have"), "to", True),
    "experience": Auxiliary("은", ("적이",), _HAVE, verb("have"), "participle", True, _LACK),
    "like": _governing("는 것을", "좋아하다", "like", "ing"),
    "dislike": _governing("는 것을", "싫어하다", "dislike", "ing"),
    "enjoy": _governing("는 것을", "즐기다", "enjoy", "ing"),
    "start": _governing("기", "시작하다", "start", "to"),
    "decide": _governing("기로", "결정하다", "decide", "to"),
    "promise": _governing("기로", "약속하다", "promise", "to"),
    "try": _governing("으려고", "노력하다", "try", "to"),
    "intend": _governing("으려고", "하다", "intend", "to"),
    "hope": _governing("기를", "바라다", "hope", "to"),
    "learn": _governing("는 법을", "배우다", "learn how", "to"),
    "forget": _governing("는 것을", "잊다", "forget", "to"),
    "refuse": _governing("는 것을", "거절하다", "refuse", "to"),
}
MODAL = ("want", "can", "must")
CONTROL = (
    "like",
    "dislike",
    "enjoy",
    "start",
    "decide",
    "promise",
    "try",
    "intend",
    "hope",
    "learn",
    "forget",
    "refuse",
)

# An ending turns a stem in a tense into the last eojeol or eojeols; a word after it carries the connective.
Ending = Callable[[Stem, Tense], tuple[str, ...]]


class _Chain:
    """The Korean predicate while it grows to the right: words so far, and the stem that waits for an ending."""

    def __init__(self, clause: Clause, draw: Draw) -> None:
        main = clause.predicate.concept
        self.draw = draw
        self.words: list[Word] = [(text, main) for text in clause.predicate.lead]
        self.stem = clause.predicate.stem
        self.roles = Roles(main, main, main, main, main)
        self.current = main

    def govern(self, auxiliary: Auxiliary, stem: Stem) -> None:
        """읽 -> 읽을 수 + 있."""
        concept = self.draw.concept()
        self.words.append((conjugate(self.stem, auxiliary.ending), self.current))
        self.words.extend((text, concept) for text in auxiliary.between)
        self.stem, self.current, self.roles.auxiliary = stem, concept, concept

    def negate(self, denial: Stem) -> None:
        """읽 -> 읽지 + 않."""
        concept = self.draw.concept()
        self.words.append((conjugate(self.stem, "지"), self.current))
        self.stem, self.current, self.roles.negation = denial, concept, concept

    def negate_by_adverb(self, adverb: str) -> None:
        """읽 -> 안 + 읽."""
        self.roles.negation = self.draw.concept()
        self.words.insert(0, (adverb, self.roles.negation))

    def finish(self, ending: Ending, tense: Tense) -> tuple[list[Word], Roles]:
        """The last eojeol carries the future and the connective, or words of their own do."""
        first, *rest = ending(self.stem, tense)
        self.words.append((first, self.current))
        tail = self.draw.concept() if rest else self.current
        self.words.extend((text, tail) for text in rest)
        self.roles.future = self.roles.connective = tail
        return self.words, self.roles


def korean_predicate(clause: Clause, draw: Draw, ending: Ending) -> tuple[list[Word], Roles]:
    """The Korean words of the predicate without arguments, and which of them carries what."""
    predicate, honoured, negative = clause.predicate, clause.subject.honoured, clause.negative
    unable = negative and clause.aspect == "can" and not predicate.lead and draw.variant((False, False, True))
    auxiliary = AUXILIARIES[clause.aspect] if clause.aspect and not unable else None
    short = negative and auxiliary is None and _short_negation(predicate, draw)
    denied = (auxiliary.denied if auxiliary else predicate.denied) if negative else None
    if negative and clause.aspect == "must":
        return _exempt(clause, draw, ending)
    long = negative and not short and denied is None
    chain = _Chain(clause, draw)
    if honoured:
        first = auxiliary.honour_inside if auxiliary else not long
        chain.stem = predicate.honorific or (hangul.honorific(chain.stem) if first else chain.stem)
    if short:
        chain.negate_by_adverb("못" if unable else "안")
    if auxiliary:
        _add_auxiliary(chain, clause, auxiliary, denied)
        if honoured and not long and not auxiliary.honour_inside:
            chain.stem = _HAVE_HONOURED if chain.stem is _HAVE else hangul.honorific(chain.stem)
    elif denied:
        chain.stem = hangul.honorific(denied) if honoured else denied
    if long:
        not_ = Stem("못하", "하") if unable else Stem("않", part="adjective" if _describes(chain.stem) else "verb")
        chain.negate(hangul.honorific(not_) if honoured else not_)
    if unable:
        chain.roles.auxiliary = chain.roles.negation
    return chain.finish(ending, clause.tense)


def _exempt(clause: Clause, draw: Draw, ending: Ending) -> tuple[list[Word], Roles]:
    """가지 않아도 되다: Korean denies a duty by allowing that it is not done."""
    chain = _Chain(clause, draw)
    if clause.predicate.honorific and clause.subject.honoured:
        chain.stem = clause.predicate.honorific
    chain.negate(Stem("되"))
    chain.words.append(("않으셔도" if clause.subject.honoured else "않아도", chain.current))
    chain.current = chain.roles.auxiliary = draw.concept()
    return chain.finish(ending, clause.tense)


def _describes(stem: Stem) -> bool:
    return stem.part == "adjective"


def _add_auxiliary(chain: _Chain, clause: Clause, auxiliary: Auxiliary, denied: Stem | None) -> None:
    chain.govern(auxiliary, denied or auxiliary.stem)
    if denied:
        chain.roles.negation = chain.current
    if clause.aspect == "want" and clause.subject.person == 3:  # one wants oneself, others are seen to want
        chain.words.append(("싶어", chain.current))
        chain.stem = _DO


def _short_negation(predicate: Predicate, draw: Draw) -> bool:
    """안 먹어요 beside 먹지 않아요. Not for 공부하다 and long words, where 안 would split or sound wrong."""
    stem = predicate.stem
    if predicate.lead or predicate.denied or stem.kind == "copula" or len(stem.text) > 2 or _describes(stem):
        return False
    if stem.kind == "하" and stem.text != "하":
        return False
    return draw.variant((False, True))


def declarative(register: Register, volition: bool = False) -> Ending:
    """The sentence-final ending of a statement."""

    def ending(stem: Stem, tense: Tense) -> tuple[str, ...]:
        if tense == "future":
            if volition:
                return (conjugate(stem, "겠습니다"),)
            last = {"plain": "것이다", "polite": "거예요", "formal": "것입니다"}[register]
            return conjugate(stem, "을"), last
        base = hangul.past(stem) if tense == "past" else stem
        if register == "plain":
            return (hangul.plain(base),)
        return (conjugate(base, "아요" if register == "polite" else "습니다"),)

    return ending


def interrogative(register: Register) -> Ending:
    """The sentence-final ending of a question."""

    def ending(stem: Stem, tense: Tense) -> tuple[str, ...]:
        if tense == "future":
            return conjugate(stem, "을"), {"plain": "거니", "polite": "거예요", "formal": "것입니까"}[register]
        base = hangul.past(stem) if tense == "past" else stem
        return (conjugate(base, {"plain": "니", "polite": "아요", "formal": "습니까"}[register]),)

    return ending


def linking(suffix: str, following: str = "") -> Ending:
    """-고, -지만, -으니까, -기 (때문에), -을 (때): the endings before which the past is marked."""

    def ending(stem: Stem, tense: Tense) -> tuple[str, ...]:
        rest = (following,) if following else ()
        if tense == "future" and suffix in ("고", "지만", "으니까"):
            return conjugate(stem, "을"), "것이" + suffix.removeprefix("으")
        base = hangul.past(stem) if tense == "past" else stem
        return (conjugate(base, suffix), *rest)

    return ending


def untensed(suffix: str, following: str = "") -> Ending:
    """-아서, -으면, -으면서, -으려고, -기 (전에), -은 (후에): the tense is that of the main clause."""

    def ending(stem: Stem, tense: Tense) -> tuple[str, ...]:
        return (conjugate(stem, suffix), following) if following else (conjugate(stem, suffix),)

    return ending


def quotation(stem: Stem, tense: Tense) -> tuple[str, ...]:
    """-다고: what is said or thought."""
    if tense == "future":
        return conjugate(stem, "을"), "것이라고"
    return (hangul.quoted(hangul.past(stem) if tense == "past" else stem),)


def fact(stem: Stem, tense: Tense) -> tuple[str, ...]:
    """-다는 것을: what is known."""
    *first, last = quotation(stem, tense)
    return (*first, last[:-1] + "는", "것을")


def indirect_question(stem: Stem, tense: Tense) -> tuple[str, ...]:
    """-는지: what is asked."""
    if tense == "future":
        return (conjugate(stem, "을지"),)
    return (hangul.indirect_interrogative(hangul.past(stem) if tense == "past" else stem),)


def adnominal_ending(stem: Stem, tense: Tense) -> tuple[str, ...]:
    """-는, -은, -을: a relative clause."""
    return (hangul.adnominal(stem, tense),)


def retrospective_ending(stem: Stem, tense: Tense) -> tuple[str, ...]:
    """-던: a relative clause that recalls what was going on."""
    return (conjugate(stem, "던"),)


def finite(forms: VerbForms, agreement: str, tense: str) -> tuple[str, ...]:
    """The finite words of an English verb; `pluperfect` and `would` are the past seen from the past."""
    if tense == "future":
        return "will", forms.base
    if tense == "would":
        return "would", forms.base
    if tense == "pluperfect":
        return "had", forms.participle
    if forms.base == "be":
        if tense == "past":
            return ("were" if agreement == "p" else "was",)
        return ({"I": "am", "s": "is", "p": "are"}[agreement],)
    if tense == "past":
        return (forms.past,)
    return (forms.third if agreement == "s" else forms.base,)


_CAN = {"present": "can", "past": "could"}


def _participle(clause: Clause) -> str:
    """seen, eaten; one who went to a place and is back has *been* there."""
    forms, complement = clause.predicate.forms, clause.predicate.complement
    back = forms.base == "go" and not forms.after and bool(complement) and complement[0][0] == "to"
    return "been" if back else forms.participle


def _head_and_tail(clause: Clause, roles: Roles) -> tuple[VerbForms, int, list[Word]]:
    forms = clause.predicate.forms
    if not clause.aspect:
        return forms, roles.verb, [(text, roles.verb) for text in forms.after]
    auxiliary = AUXILIARIES[clause.aspect]
    head = auxiliary.forms
    match auxiliary.shape:
        case "ing":
            form = forms.gerund
        case "participle":
            form = _participle(clause)
        case _:
            form = forms.base
    tail = [(text, roles.auxiliary) for text in head.after]
    if auxiliary.shape == "to":
        tail.append(("to", roles.auxiliary))
    return head, roles.auxiliary, [*tail, (form, roles.verb), *((text, roles.verb) for text in forms.after)]


def verb_group(clause: Clause, roles: Roles, tense: str) -> tuple[list[Word], list[Word]]:
    """The English verb words in two parts: the operator that negation and questions turn around, and the rest.

    The operator is empty when the verb is a plain one that needs *do* for that; see `with_operator`.
    """
    head, concept, tail = _head_and_tail(clause, roles)
    agreement = clause.subject.agreement
    if clause.aspect == "can":
        if tense in _CAN:
            return [(_CAN[tense], concept)], tail
        words = finite(_BE_FORMS, agreement, tense)
        operator, *rest = words
        able = [*((text, concept) for text in rest), ("able", concept), ("to", concept)]
        return [(operator, roles.future)], [*able, *tail]
    words = finite(head, agreement, tense)
    if len(words) == 2:
        return [(words[0], roles.future if tense != "pluperfect" else concept)], [(words[1], concept), *tail]
    if head.base == "be" or clause.aspect == "experience":
        return [(words[0], concept)], tail
    return [], [(words[0], concept), *tail]


def with_operator(clause: Clause, roles: Roles, tense: str, concept: int) -> tuple[list[Word], list[Word]]:
    """The same, with do, does or did supplied where there is no operator."""
    operator, rest = verb_group(clause, roles, tense)
    if operator:
        return operator, rest
    head, head_concept, tail = _head_and_tail(clause, roles)
    did = "did" if tense == "past" else "does" if clause.subject.agreement == "s" else "do"
    return [(did, concept)], [(head.base, head_concept), *tail]


def english_predicate(clause: Clause, roles: Roles, tense: str) -> list[Word]:
    """The finite English predicate of a statement, arguments and adjuncts included."""
    predicate = clause.predicate
    if clause.negative:
        operator, rest = with_operator(clause, roles, tense, roles.negation)
        denial: list[Word]
        if clause.aspect == "experience":
            denial = [("never", roles.negation)]
        elif operator[0][0] == "can":
            operator, denial = [("cannot", roles.negation)], []
        else:
            denial = [("not", roles.negation)]
        group = [*operator, *denial, *clause.frequency, *rest]
    else:
        operator, rest = verb_group(clause, roles, tense)
        group = [*operator, *clause.frequency, *rest]
    return [*group, *predicate.complement, *predicate.after, *clause.english_time]


def nonfinite(clause: Clause, concept: int, form: str) -> list[Word]:
    """`to read a book` or `reading a book`: the verb in a form, with its arguments."""
    predicate = clause.predicate
    forms = predicate.forms
    verb_words = [(text, concept) for text in ((forms.gerund if form == "ing" else forms.base), *forms.after)]
    return [*verb_words, *predicate.complement, *predicate.after]
