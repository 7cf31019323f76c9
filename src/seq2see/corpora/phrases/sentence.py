"""Sentences: a clause alone, clauses inside clauses, clauses side by side, questions and requests.

Word order tells English where a subordinate clause goes, so that the English follows from the Korean: a clause that
opens the Korean sentence opens the English one (비가 오면 민수는 ..., If it rains , Minsu ...); one that stands after
the topic comes last in English (민수는 비가 오면 ..., Minsu ... if it rains).
"""

from collections.abc import Callable
from dataclasses import dataclass

from seq2see.corpora.phrases import copular, lexicon, nominal
from seq2see.corpora.phrases.clause import (
    EVENTS,
    LIGHT,
    ONGOING,
    action,
    english_clause,
    korean_clause,
    verb_predicate,
    verbal_clause,
)
from seq2see.corpora.phrases.predicate import (
    Ending,
    Roles,
    declarative,
    english_predicate,
    fact,
    indirect_question,
    linking,
    nonfinite,
    quotation,
    untensed,
)
from seq2see.corpora.phrases.structure import Clause, Draw, NounPhrase, Predicate, Tense, Word

_PAST_LIKE = frozenset(("past", "pluperfect", "would"))
_SHIFTED = {"present": "past", "past": "pluperfect", "future": "would"}
TENSES: tuple[Tense, ...] = ("past", "past", "past", "present", "present", "future")


@dataclass(slots=True)
class Sentence:
    """Both sides of a sentence without its final mark."""

    korean: list[Word]
    english: list[Word]
    mark: str = "."


def shown_tense(tense: Tense, past: bool) -> str:
    """The English tense of a clause; under a past verb of saying it shifts back."""
    return _SHIFTED[tense] if past else tense


def embed(clause: Clause, draw: Draw, ending: Ending, past: bool) -> tuple[list[Word], list[Word], Roles]:
    """A finite clause inside another: 이/가 on its subject, English in its own tense."""
    drop_unclear_time(clause)
    korean, roles = korean_clause(clause, draw, ending, inner_particle(clause), front=clause.fixed)
    return korean, english_clause(clause, roles, shown_tense(clause.tense, past)), roles


def inner_particle(clause: Clause) -> str:
    """The particle of a subject inside another clause."""
    return "에게" if clause.possessed else "이"


def drop_unclear_time(clause: Clause) -> None:
    """A time next to a clause inside would be read with the wrong verb in either language."""
    if clause.predicate.heavy and not clause.fixed:
        clause.korean_time, clause.english_time = [], []


def main_clause(draw: Draw, words: int, tense: Tense, past: bool, depth: int = 0, acting: bool = False) -> Clause:
    """A clause of about so many English words, whatever it takes: nesting when there is much room."""
    if words >= 11 and tense != "future" and depth < 2 and draw.chance(0.4):
        return reported_speech(draw, words, tense, past, depth)
    roll = draw.random()
    if words >= 11 and roll < 0.6:
        return with_subordinate(draw, words, tense, past)
    if acting or roll < 0.72 or words > 14:
        return verbal_clause(draw, words, past or tense == "past", tense)
    return _copular_clause(draw, words, tense, past)


def _copular_clause(draw: Draw, words: int, tense: Tense, past: bool) -> Clause:
    looks_back = past or tense == "past"
    match int(draw.random() * 11):
        case 0:
            return copular.identity(
                draw, nominal.person(draw, words - 5), "past" if tense == "past" else "present", words - 5
            )
        case 1 | 2:
            return copular.state(draw, nominal.person(draw, words - 4), tense)
        case 3 | 4:
            return copular.description(draw, "past" if tense == "past" else "present", words - 4, looks_back)
        case 5:
            return copular.comparison(draw, "past" if tense == "past" else "present")
        case 6:
            return copular.existence(draw, "past" if tense == "past" else "present", words - 7)
        case 7:
            return copular.location(draw, "past" if tense == "past" else "present")
        case 8:
            return copular.possession(
                draw, nominal.person(draw, 0), "past" if tense == "past" else "present", words - 5
            )
        case 9:
            return copular.price(draw, "past" if tense == "past" else "present")
    if tense == "present":
        return copular.state(draw, nominal.person(draw, 0), tense)
    return copular.event(draw, tense)


_NOW = frozenset(("say", "think", "believe", "know", "claim", "complain", "understand", "remember", "expect"))
_SAID_NOW = tuple(verb for verb in lexicon.CLAUSAL if verb.forms.base in _NOW)


def reported_speech(draw: Draw, words: int, tense: Tense, past: bool, depth: int) -> Clause:
    """민수는 비가 온다고 말했다, Minsu said that it was raining: the verb decides how the clause is introduced."""
    verb = draw.fresh(_SAID_NOW if tense == "present" else lexicon.CLAUSAL, lambda verb: verb.stem.text)
    subject = nominal.known(draw)
    predicate = verb_predicate(draw, verb)
    predicate.heavy = True
    clause = Clause(subject, predicate, tense)
    if verb.stem.text == "모르":
        predicate.denied, clause.negative = verb.stem, True
    inner_past = shown_tense(tense, past) in _PAST_LIKE
    mode = "expected" if verb.forms.base == "expect" else verb.mode
    inner = _reported_clause(draw, mode, subject, words - len(subject.english) - 2, inner_past, depth + 1)
    if verb.mode == "question":
        _embed_question(draw, predicate, inner, inner_past)
        return clause
    korean, english, roles = embed(inner, draw, fact if verb.mode == "fact" else quotation, inner_past)
    predicate.arguments = korean
    predicate.complement = [("that", roles.connective), *english]
    return clause


def _reported_clause(draw: Draw, mode: str, speaker: NounPhrase, words: int, past: bool, depth: int) -> Clause:
    tense = "future" if mode in ("expected", "quote_future") else draw.pick(TENSES)
    if mode == "question":
        subject = nominal.person(draw, 0, first=speaker.person == 3)
        clause = verbal_clause(draw, min(words, 12), past, tense, subject)
        clause.negative, clause.frequency, clause.korean_frequency = False, [], []
        return clause
    if mode == "expected":
        return verbal_clause(draw, words, past, tense)
    if mode == "quote_future" or (draw.chance(0.2) and words < 14):
        subject = _coreferent(draw, speaker)
        return verbal_clause(draw, words, past, tense, subject)
    if words < 9 and draw.chance(0.2):
        return copular.weather(draw, tense)
    return main_clause(draw, words, tense, past, depth)


def _coreferent(draw: Draw, speaker: NounPhrase) -> NounPhrase:
    """The speaker inside the own report: 자기가, 내가; English says he, she, I."""
    if speaker.person == 1:
        return nominal.pronoun(draw, "우리" if speaker.plural else "나")
    concept = draw.concept()
    subject = speaker.pronoun()
    korean = "본인" if speaker.honoured else "자신들" if speaker.plural else "자기"
    return NounPhrase(
        [(korean, concept)],
        [(subject.english[0][0], concept)],
        3,
        speaker.plural,
        speaker.gender,
        speaker.honoured,
        concept=concept,
    )


_QUESTION_WORDS = (("왜", "why"), ("왜", "why"), ("언제", "when"), ("", "whether"))


def _embed_question(draw: Draw, predicate: Predicate, inner: Clause, past: bool) -> None:
    korean_word, english_word = draw.pick(_QUESTION_WORDS)
    concept = draw.concept()
    if english_word == "when":
        inner.korean_time, inner.english_time = [], []
        if inner.tense == "present":
            inner.tense, inner.aspect = "future", ""
    if korean_word:
        inner.predicate.before.insert(0, (korean_word, concept))
    korean, english, roles = embed(inner, draw, indirect_question, past)
    predicate.arguments = korean
    predicate.complement = [(english_word, concept if korean_word else roles.connective), *english]


# Subordinate clauses ------------------------------------------------------------------------------------------------


def with_subordinate(draw: Draw, words: int, tense: Tense, past: bool) -> Clause:
    """A clause with another one after its topic; English says it last."""
    share = max(4, min(words // 2 - 1, 12))
    main = verbal_clause(draw, words - share, past or tense == "past", tense)
    if main.subject.heavy or main.predicate.heavy:
        main.korean_time, main.english_time = [], []
    if main.aspect == "experience":
        return main
    if draw.chance(0.55):
        _same_subject(draw, main, share, past)
    else:
        korean, english = subordinate(draw, share, main.tense, past)
        main.korean_sub, main.english_sub = korean, english
    return main


_KINDS = {
    "past": ("because", "because", "when", "when", "before", "after", "since"),
    "present": ("because", "because", "since"),
    "future": ("if", "if", "if", "because", "when", "before", "after", "since"),
}


def _unused(draw: Draw, kinds: tuple[str, ...]) -> list[str]:
    """The kinds of clause that this sentence has not had yet: two reasons in a row read badly."""
    return [kind for kind in kinds if kind not in draw.used]


def subordinate(draw: Draw, words: int, tense: Tense, past: bool) -> tuple[list[Word], list[Word]]:
    """A clause of cause, condition or time with a subject of its own."""
    looks_back = shown_tense(tense, past) in _PAST_LIKE
    inner_tense: Tense = "past" if tense == "past" else "present"
    kind = draw.pick(_unused(draw, _KINDS[tense]) or _KINDS[tense])
    draw.used.add(kind)
    if kind in ("because", "since", "if") and draw.chance(0.5 if words < 8 else 0.25):
        inner = copular.weather(draw, inner_tense, kind == "if")
    elif kind in ("because", "since") and draw.chance(0.6):
        inner = copular.reason(draw, nominal.person(draw, 0), inner_tense)
    else:
        subject = nominal.person(draw, words - 6)
        done = action(draw, subject, words - 4, looks_back, dynamic=True, frames=EVENTS)
        inner = Clause(subject, done, inner_tense)
        if inner_tense == "present" and kind in ("because", "since"):
            inner.aspect = draw.pick(("want", "must")) if not done.chance else "experience"
        counted = subject.english[0][0] in ("every", "many", "some")
        inner.negative = kind in ("because", "since", "if") and not counted and not done.manner and draw.chance(0.15)
    return _subordinate_words(draw, kind, inner, looks_back)


def _subordinate_words(draw: Draw, kind: str, inner: Clause, looks_back: bool) -> tuple[list[Word], list[Word]]:
    ending = _ENDINGS[kind](draw)
    korean, roles = korean_clause(inner, draw, ending, inner_particle(inner), front=inner.fixed)
    words = english_clause(inner, roles, "past" if looks_back else "present")
    return korean, [(kind, roles.connective), *words]


_ENDINGS: dict[str, Callable[[Draw], Ending]] = {
    "because": lambda draw: draw.variant((untensed("아서"), untensed("아서"), linking("기", "때문에"))),
    "since": lambda draw: linking("으니까"),
    "if": lambda draw: untensed("으면"),
    "when": lambda draw: linking("을", "때"),
    "before": lambda draw: untensed("기", "전에"),
    "after": lambda draw: draw.variant((untensed("은", "후에"), untensed("은", "뒤에"))),
    "while": lambda draw: untensed("으면서"),
    "to": lambda draw: untensed("으려고"),
}


_SAME = {
    "past": ("because", "because", "when", "before", "after", "while", "to", "to", "and", "and"),
    "present": ("because", "because", "while", "to"),
    "future": ("because", "before", "after", "while", "to", "to"),
}
_PURPOSEFUL = lexicon.word_set(
    "go, come, fly, buy, study, work, call, move, save, learn, practice, borrow, earn, cook, meet"
)


def _same_subject(draw: Draw, main: Clause, words: int, past: bool) -> None:
    """Korean leaves the second subject out; English says he, or while reading, before reading, to read."""
    looks_back = shown_tense(main.tense, past) in _PAST_LIKE
    subject = main.subject.pronoun()
    silent = NounPhrase(
        [], subject.english, subject.person, subject.plural, subject.gender, subject.honoured, concept=subject.concept
    )
    kinds = _unused(draw, _SAME[main.tense])
    if main.predicate.forms.base not in _PURPOSEFUL:
        kinds = [kind for kind in kinds if kind != "to"]
    if main.aspect not in ("", "progressive") or main.predicate.state:
        kinds = [kind for kind in kinds if kind not in ("and", "while")]
    if not kinds:
        return
    kind = draw.pick(kinds)
    draw.used.add(kind)
    if kind == "because":
        if main.tense == "past" and main.aspect in ("can", "like", "dislike", "enjoy"):
            main.aspect = ""  # what one is able to do needs no such reason
        inner = copular.reason(draw, silent, "past" if main.tense == "past" else "present")
        main.korean_sub, main.english_sub = _subordinate_words(draw, kind, inner, looks_back)
        return
    willed = kind in ("while", "to")
    among = ONGOING if kind == "while" else frozenset()
    done = action(
        draw,
        silent,
        words - 2,
        looks_back,
        willed=willed,
        dynamic=True,
        frames=LIGHT,
        among=among,
        adjuncts=kind != "while",
    )
    inner = Clause(silent, done)
    if kind == "and":
        _chain(draw, main, inner, past)
        return
    inner.tense = "past" if main.tense == "past" else "present"
    if kind == "when":
        main.korean_sub, main.english_sub = _subordinate_words(draw, kind, inner, looks_back)
        return
    main.korean_sub, roles = korean_clause(inner, draw, _ENDINGS[kind](draw), "이")
    form = "base" if kind == "to" else "ing"
    lead = [("in", roles.connective), ("order", roles.connective)] if kind == "to" else []
    main.english_sub = [*lead, (kind, roles.connective), *nonfinite(inner, roles.verb, form)]


def _chain(draw: Draw, main: Clause, inner: Clause, past: bool) -> None:
    """밥을 먹고 학교에 갔다, had a meal and went to school."""
    inner.subject.person, inner.subject.plural = main.subject.person, main.subject.plural
    inner.tense = main.tense
    main.korean_sub, roles = korean_clause(inner, draw, untensed("고"), "이")
    words = english_predicate(inner, roles, shown_tense(main.tense, past))
    main.english_first = [*words, ("and", roles.connective)]


# Whole sentences ----------------------------------------------------------------------------------------------------


def particle_of(clause: Clause, draw: Draw) -> str:
    """은/는 for what is known, 이/가 for what is new."""
    if clause.topic_only:
        return "은"
    if clause.fixed:
        return "이"
    if clause.predicate.heavy or clause.korean_sub:  # another 이/가 follows inside
        return "은"
    new = clause.subject.english[0][0] in _NEW
    return "이" if new else draw.variant(("은", "은", "은", "은", "이"))


_NEW = frozenset(("a", "an", "many", "some", "every", "several", *(phrase.english for phrase in lexicon.NUMERALS)))


def realise(clause: Clause, draw: Draw, ending: Ending) -> tuple[list[Word], list[Word]]:
    """A main clause, with its time before the topic where that is clear and liked."""
    front = clause.fixed or (
        not clause.subject.heavy
        and bool(clause.korean_time)
        and (clause.predicate.heavy or draw.variant((True, False)))
    )
    korean, roles = korean_clause(clause, draw, ending, particle_of(clause, draw), front=front)
    if clause.predicate.heavy and not clause.fixed:  # what opens the Korean opens the English
        time, clause.english_time = clause.english_time, []
        if len(time) > 1:
            time = [*time, (",", time[0][1])]
        return korean, [*time, *english_clause(clause, roles, clause.tense)]
    return korean, english_clause(clause, roles, clause.tense)


def final_ending(draw: Draw, clause: Clause) -> Ending:
    """The ending of the last clause; a formal speaker may state a will with -겠습니다."""
    volition = (
        draw.register == "formal"
        and clause.subject.person == 1
        and clause.tense == "future"
        and draw.variant((False, True))
    )
    return declarative(draw.register, volition)


def statement(draw: Draw, words: int) -> Sentence:
    """A statement of about so many English words."""
    tense = draw.pick(TENSES)
    if words >= 30:
        return _compound(draw, words, tense, subordinate_first=draw.chance(0.5))
    if words >= 21 or (words >= 13 and draw.chance(0.35)):
        if draw.chance(0.5):
            return _fronted(draw, words, tense)
        return _compound(draw, words, tense, subordinate_first=False)
    if words < 9 and draw.chance(0.05):
        clause = copular.hour(draw) if draw.chance(0.3) else copular.weather(draw, tense)
    else:
        clause = main_clause(draw, words, tense, False)
    return Sentence(*realise(clause, draw, final_ending(draw, clause)))


def _fronted(draw: Draw, words: int, tense: Tense) -> Sentence:
    """비가 오면 ..., If it rains , ..."""
    share = max(4, int(words * (0.3 + 0.2 * draw.random())))
    korean, english = subordinate(draw, min(share, 16), tense, False)
    main = main_clause(draw, words - len(english) - 1, tense, False, acting=True)
    drop_unclear_time(main)
    rest_korean, rest = realise(main, draw, final_ending(draw, main))
    return Sentence([*korean, *rest_korean], [*english, (",", english[0][1]), *rest])


def _compound(draw: Draw, words: int, tense: Tense, subordinate_first: bool) -> Sentence:
    """S1-고 S2, S1 , and S2; S1-지만 S2, S1 , but S2; perhaps with a clause in front of it all."""
    korean: list[Word] = []
    english: list[Word] = []
    if subordinate_first:
        korean, english = subordinate(draw, min(words // 3, 12), tense, False)
        english = [*english, (",", english[0][1])]
    left = words - len(english)
    first = main_clause(draw, int(left * (0.4 + 0.2 * draw.random())), tense, False)
    suffix, conjunction = draw.pick((("고", "and"), ("지만", "but")))
    drop_unclear_time(first)
    first_korean, roles = _linked(first, draw, linking(suffix))
    first_english = english_clause(first, roles, first.tense)
    korean, english = [*korean, *first_korean], [*english, *first_english]
    second = main_clause(draw, words - len(english) - 2, tense, False)
    drop_unclear_time(second)
    rest_korean, rest = realise(second, draw, final_ending(draw, second))
    link = [(",", roles.connective), (conjunction, roles.connective)]
    return Sentence([*korean, *rest_korean], [*english, *link, *rest])


def _linked(clause: Clause, draw: Draw, ending: Ending) -> tuple[list[Word], Roles]:
    return korean_clause(clause, draw, ending, particle_of(clause, draw), front=clause.fixed)
