"""Clauses: a subject, a frame chosen for it, and the adverbs that tense and frame allow.

`room` is how many more English words a caller would like to see; builders spend it on adjectives, places, company
and relative clauses. `past` says that English looks from the past, which decides the tense inside relatives.
"""

from collections.abc import Callable
from functools import cache

from seq2see.corpora.phrases import english, hangul, lexicon, nominal
from seq2see.corpora.phrases.lexicon import Noun, Verb
from seq2see.corpora.phrases.nominal import adverb
from seq2see.corpora.phrases.predicate import (
    CONTROL,
    MODAL,
    Ending,
    Roles,
    adnominal_ending,
    english_predicate,
    korean_predicate,
    retrospective_ending,
)
from seq2see.corpora.phrases.structure import Clause, Draw, NounPhrase, Predicate, Tense, Word, marked

_BE = english.verb("be")
_LIVING = tuple(
    lexicon.Verb(
        (), hangul.stem(korean), english.verb(word), lexicon.classes(kinds), preposition=preposition, case=case
    )
    for korean, word, kinds, preposition, case in (
        ("살다", "live", "lives", "in", "에"),
        ("머무르다:르", "stay", "city,country,live", "in", "에"),
        ("일하다", "work", "company,shop", "at", "에서"),
    )
)
_PREPOSITIONS = {
    "rooftop": "on", "balcony": "on", "island": "on", "hill": "on", "mountain": "on", "farm": "on",
    "riverside": "by", "lakeside": "by", "beach": "on", "playground": "on", "sports field": "on",
    "sea": "in", "river": "in", "lake": "in", "swimming pool": "in", "park": "in", "classroom": "in",
    "dormitory": "in", "lounge": "in", "square": "in", "office": "in", "forest": "in",
}  # fmt: skip
_IN = frozenset(("room", "nature", "city", "country", "building"))


def preposition(noun: Noun) -> str:
    """Where things happen: at the bank, in the kitchen, on the rooftop."""
    return _PREPOSITIONS.get(noun.english) or ("in" if noun.kind in _IN else "at")


def _english(verb: Verb) -> str:
    return verb.forms.base


def noun_of(draw: Draw, kinds: tuple[tuple[Noun, ...], ...]) -> Noun:
    """A noun of one of the classes that is new in this sentence."""
    return draw.fresh(draw.pick(kinds), lambda noun: noun.korean)


def object_phrase(draw: Draw, verb: Verb, room: int, past: bool) -> NounPhrase:
    """A noun phrase for an object, with a relative clause when there is room for one."""
    noun = noun_of(draw, verb.objects)
    verbs = lexicon.verbs_by_object().get(noun.english, ())
    can_single_out = noun.article not in ("the", "bare") and any(v.forms.base not in draw.used for v in verbs)
    if room >= 4 and can_single_out and noun.kind not in ("sport", "study") and draw.chance(0.75):
        return object_relative(draw, noun, room - 4, past)
    return nominal.described(draw, noun, room, generic=verb.generic, many=verb.many, single=verb.single)


def person_phrase(draw: Draw, room: int, past: bool, first: bool = True) -> NounPhrase:
    """A person, with a relative clause when there is room for one."""
    if room >= 5 and draw.chance(0.7):
        return subject_relative(draw, room - 4, past)
    return nominal.person(draw, room, first)


def place(draw: Draw, kinds: tuple[tuple[Noun, ...], ...], room: int, past: bool) -> tuple[NounPhrase, str]:
    """A place and the preposition that goes with it."""
    noun = noun_of(draw, kinds)
    if room >= 5 and noun.english in verbs_by_place() and draw.chance(0.6):
        return place_relative(draw, noun, past), preposition(noun)
    phrase = nominal.described(draw, noun, room) if room > 0 and noun.article == "the" else nominal.bare(draw, noun)
    return phrase, preposition(noun)


@cache
def verbs_by_place() -> dict[str, tuple[Verb, ...]]:
    """English place noun -> what people do there."""
    verbs: dict[str, list[Verb]] = {}
    for verb in (*lexicon.INTRANSITIVE, *lexicon.IDIOMS):
        for members in verb.places:
            for noun in members:
                if not verb.possessive and noun.article == "the":
                    verbs.setdefault(noun.english, []).append(verb)
    return {name: tuple(members) for name, members in verbs.items()}


def verb_predicate(draw: Draw, verb: Verb) -> Predicate:
    """The predicate of a verb before its arguments."""
    return Predicate(
        verb.stem,
        verb.forms,
        verb.lead,
        honorific=verb.honorific,
        state=verb.state,
        chance=verb.chance,
        concept=draw.concept(),
    )


def take_object(predicate: Predicate, phrase: NounPhrase, particle: str) -> None:
    """Adds an object on both sides."""
    predicate.arguments += marked(phrase, particle)
    predicate.complement += phrase.as_object()
    predicate.heavy = predicate.heavy or phrase.heavy


def transitive(draw: Draw, subject: NounPhrase, room: int, past: bool) -> tuple[Verb, Predicate]:
    """eat an apple."""
    verb = draw.fresh(lexicon.TRANSITIVE, _english)
    predicate = verb_predicate(draw, verb)
    take_object(predicate, object_phrase(draw, verb, room, past), verb.case)
    return verb, predicate


def with_person(draw: Draw, subject: NounPhrase, room: int, past: bool) -> tuple[Verb, Predicate]:
    """meet a friend, talk with the doctor."""
    verb = draw.pick(lexicon.PERSON)
    predicate = verb_predicate(draw, verb)
    take_object(predicate, person_phrase(draw, room, past, first=subject.person == 3), verb.case)
    return verb, predicate


def intransitive(draw: Draw, subject: NounPhrase, room: int, past: bool) -> tuple[Verb, Predicate]:
    """sleep."""
    verb = draw.pick(lexicon.INTRANSITIVE)
    return verb, verb_predicate(draw, verb)


def idiom(draw: Draw, subject: NounPhrase, room: int, past: bool) -> tuple[Verb, Predicate]:
    """take a walk, brush one's teeth: the possessive refers to the subject."""
    verb = draw.fresh(lexicon.IDIOMS, lambda verb: verb.arguments[0])
    predicate = verb_predicate(draw, verb)
    concept = draw.concept()
    predicate.arguments = [(text, concept) for text in verb.arguments]
    owner = [subject.possessive()] if verb.possessive else []
    predicate.complement = [*owner, *((text, concept) for text in verb.complement)]
    return verb, predicate


def motion(
    draw: Draw, subject: NounPhrase, room: int, past: bool, verbs: tuple[Verb, ...] = lexicon.MOTION
) -> tuple[Verb, Predicate]:
    """go to the library."""
    verb = draw.pick(verbs)
    while verb.stem.text == "모이" and not subject.plural:  # nobody gathers alone
        verb = draw.pick(verbs)
    predicate = verb_predicate(draw, verb)
    goal, _ = place(draw, verb.objects, room, past)
    take_object(predicate, goal, verb.case)
    if verb.preposition:
        predicate.complement.insert(0, (verb.preposition, goal.concept))
    return verb, predicate


_OUTINGS = tuple(
    verb._replace(objects=lexicon.classes("site,venue,shop")) if verb.preposition else verb
    for verb in lexicon.MOTION
    if verb.stem.text in ("가", "걸어가", "다니")
)


def outing(draw: Draw, subject: NounPhrase, room: int, past: bool) -> tuple[Verb, Predicate]:
    """go to the library: near enough to do it every day."""
    return motion(draw, subject, room, past, _OUTINGS)


def living(draw: Draw, subject: NounPhrase, room: int, past: bool) -> tuple[Verb, Predicate]:
    """live in Seoul, work at the bank."""
    verb = draw.pick(_LIVING)
    predicate = verb_predicate(draw, verb)
    where, _ = place(draw, verb.objects, room, past)
    word = "on" if preposition_is_on(where) else verb.preposition
    take_object(predicate, where, verb.case)
    predicate.complement.insert(0, (word, where.concept))
    predicate.state = True
    return verb, predicate


def preposition_is_on(where: NounPhrase) -> bool:
    """Islands are lived on: Jeju Island, the island."""
    return where.english[-1][0].lower() == "island"


_DOUBLE_OBJECT = lexicon.word_set("give, send, show, lend, teach, sell, tell, throw, read, sing")
_HUMBLE = {"주": "드리", "빌려주": "빌려드리", "돌려주": "돌려드리"}


def dative(draw: Draw, subject: NounPhrase, room: int, past: bool) -> tuple[Verb, Predicate]:
    """give the book to Minsu: Korean names the receiver first, and honours one who deserves it (드리다)."""
    verb = draw.fresh(lexicon.DATIVE, _english)
    predicate = verb_predicate(draw, verb)
    receiver = nominal.person(draw, 0, first=subject.person == 3)
    if receiver.honoured and verb.stem.text in _HUMBLE:
        predicate.stem = hangul.Stem(_HUMBLE[verb.stem.text])
    theme = object_phrase(draw, verb, room, past)
    predicate.heavy = theme.heavy
    predicate.arguments = [*marked(receiver, "에게"), *marked(theme, "을")]
    to = [("to", receiver.korean[-1][1]), *receiver.as_object()]
    if theme.heavy:  # the long object comes last: gave Minsu the book that ...
        predicate.complement = [*(to[1:] if verb.forms.base in _DOUBLE_OBJECT else to), *theme.english]
    else:
        predicate.complement = [*theme.english, *to]
    return verb, predicate


Frame = Callable[[Draw, NounPhrase, int, bool], tuple[Verb, Predicate]]
_FRAMES: tuple[Frame, ...] = (
    *(transitive,) * 8,
    *(with_person,) * 4,
    *(motion,) * 4,
    *(idiom,) * 4,
    *(dative,) * 3,
    *(intransitive,) * 3,
    living,
)
LIGHT: tuple[Frame, ...] = (transitive, transitive, with_person, motion, idiom, idiom, intransitive)
EVENTS: tuple[Frame, ...] = (motion, motion, with_person, idiom, idiom, intransitive)
_HABITS: tuple[Frame, ...] = (idiom, idiom, intransitive, outing, transitive, transitive)
_HABITUAL = lexicon.word_set(
    """eat, drink, read, watch, listen to, play, study, clean, cook, wear, make, do, take, brush, wash, have, save,
    spend, keep, work, go, attend, walk, run, exercise, swim, sing, dance, practice, rest, sleep, cry, pray, meditate,
    shop, hike, write, draw, feed, teach, get up, leave work, go to work, go out, use, drive, ride, iron, take out"""
)
ONGOING = lexicon.word_set(
    "drink, eat, sing, listen to, watch, wait for, wait, laugh, cry, smile, talk with, read, walk, dance, smoke, cook"
)


def action(
    draw: Draw,
    subject: NounPhrase,
    room: int,
    past: bool,
    *,
    willed: bool = False,
    dynamic: bool = False,
    adjuncts: bool = True,
    frames: tuple[Frame, ...] = _FRAMES,
    among: frozenset[str] = frozenset(),
) -> Predicate:
    """A predicate of doing. `willed` leaves out what merely happens, `dynamic` what is a state."""
    while True:
        verb, predicate = draw.pick(frames)(draw, subject, room, past)
        if among and " ".join((verb.forms.base, *verb.forms.after)) not in among:
            continue
        if not (willed and predicate.chance) and not (dynamic and predicate.state):
            break
    if adjuncts:
        room -= len(predicate.complement)
        if not predicate.heavy:
            _add_manner(draw, verb, predicate, 0.3)
        if room >= 2 and not predicate.heavy:
            if verb.places and draw.chance(0.6):
                _add_place(draw, verb, predicate)
            elif _takes_company(verb) and draw.chance(0.4):
                _add_company(draw, subject, predicate)
    return predicate


def _takes_company(verb: Verb) -> bool:
    """Whether one does it together with others: not what happens to one, nor what already names the other."""
    if verb.state or verb.chance or verb.alone or verb.case == "과":
        return False
    return bool(verb.places or verb.preposition)


def _add_manner(draw: Draw, verb: Verb, predicate: Predicate, probability: float) -> None:
    if verb.manner and draw.chance(probability):
        predicate.manner, words = adverb(draw, draw.pick(verb.manner))
        predicate.after = words + predicate.after


def _add_place(draw: Draw, verb: Verb, predicate: Predicate) -> None:
    where, word = place(draw, verb.places, 1, past=False)
    predicate.before += marked(where, "에서")
    predicate.after += [(word, where.concept), *where.english]


def _add_company(draw: Draw, subject: NounPhrase, predicate: Predicate) -> None:
    if any(word == "alone" for word, _ in predicate.after) or "with" in predicate.forms.after:
        return
    other, together = nominal.person(draw, 0, first=subject.person == 3), draw.concept()
    predicate.before += [*marked(other, "과"), ("함께", together)]
    predicate.after += [("with", together), *other.as_object()]


def time_phrase(draw: Draw, tense: Tense, habit: bool) -> tuple[list[Word], list[Word]]:
    """When it happens, in a way that fits the tense."""
    roll = draw.random()
    if habit:
        return adverb(draw, draw.pick(lexicon.HABIT_TIME))
    if tense == "present":
        return adverb(draw, draw.pick(lexicon.NOW_TIME))
    if roll < 0.12:
        return clock_time(draw)
    if roll < 0.2:
        return calendar_day(draw)
    if roll < 0.4:
        return adverb(draw, draw.pick(lexicon.PARTS_OF_DAY))
    return adverb(draw, draw.pick(lexicon.PAST_TIME if tense == "past" else lexicon.FUTURE_TIME))


_HOURS = lexicon.NUMERALS[:12]
_MINUTES = lexicon.phrases("십 ten, 십오 fifteen, 이십 twenty, 이십오 twenty-five, 삼십 thirty, 사십 forty, 오십 fifty")


def clock(draw: Draw) -> tuple[list[Word], list[Word]]:
    """세 시 십 분, three ten: hours are counted in native numerals, minutes in Sino-Korean."""
    hour, minute = draw.pick(_HOURS), draw.pick(_MINUTES)
    hours, minutes = draw.concept(), draw.concept()
    korean: list[Word] = [(hour.korean, hours), ("시", hours)]
    if draw.chance(0.5):
        return korean, [(hour.english, hours), ("o'clock", hours)]
    return [*korean, (minute.korean, minutes), ("분", minutes)], [(hour.english, hours), (minute.english, minutes)]


def clock_time(draw: Draw) -> tuple[list[Word], list[Word]]:
    """세 시에, at three o'clock."""
    korean, words = clock(draw)
    text, concept = korean[-1]
    return [*korean[:-1], (text + "에", concept)], [("at", concept), *words]


def calendar_day(draw: Draw) -> tuple[list[Word], list[Word]]:
    """삼월 오일에, on the fifth of March."""
    month, day = draw.pick(lexicon.MONTHS), draw.pick(lexicon.ORDINALS)
    first, second = draw.concept(), draw.concept()
    words = [("on", second), ("the", second), (day.english, second), ("of", first), (month.english, first)]
    return [(month.korean, first), (day.korean + "일에", second)], words


def verbal_clause(draw: Draw, room: int, past: bool, tense: Tense, subject: NounPhrase | None = None) -> Clause:
    """A clause of doing in a tense, with the aspect, adverbs and negation that make it natural."""
    if subject is None:
        subject = person_phrase(draw, room - 6, past)
        room -= len(subject.english)
    aspect = _aspect(draw, tense)
    willed = aspect not in ("", "progressive")
    if tense == "present" and not aspect:
        predicate = action(draw, subject, min(room - 4, 3), past, dynamic=True, frames=_HABITS, among=_HABITUAL)
    else:
        predicate = action(draw, subject, room - 4, past, willed=willed, dynamic=bool(aspect))
    if aspect == "progressive" and (predicate.chance or predicate.forms.base in _MOMENTARY):
        aspect = "" if tense == "past" else "experience"
    clause = Clause(subject, predicate, tense, aspect)
    habit = tense == "present" and not aspect
    clause.negative = not habit and draw.chance(0.13) and aspect not in _AFFIRMED
    if clause.negative:
        without_manner(predicate)
        if subject.english and subject.english[0][0] in ("every", "many", "some"):
            clause.negative = False
    _add_time(draw, clause, room)
    return clause


_AFFIRMED = frozenset(("progressive", *CONTROL))
_ONCE = frozenset(("decide", "promise", "start", "forget", "refuse"))
_MOMENTARY = frozenset(
    ("discover", "lose", "arrive", "gather", "forget", "break", "miss", "see", "start", "finish", "quit", "pass")
)


def _aspect(draw: Draw, tense: Tense) -> str:
    """Nothing most of the time; the present without a habit wants one."""
    roll = draw.random()
    if tense == "future":
        return draw.pick(("can", "must")) if roll < 0.1 else ""
    if roll < 0.1:
        return draw.pick(MODAL)
    if roll < 0.19:
        aspect = draw.pick(CONTROL)
        return "progressive" if tense == "present" and aspect in _ONCE else aspect
    if tense == "present":
        return "progressive" if roll < 0.5 else "experience" if roll < 0.6 else ""
    return "progressive" if roll < 0.26 else ""


def without_manner(predicate: Predicate) -> None:
    """Takes the adverb of manner back: *did not read slowly* says something else."""
    if predicate.manner:
        dropped = {concept for _, concept in predicate.manner}
        predicate.manner = []
        predicate.after = [word for word in predicate.after if word[1] not in dropped]


def _add_time(draw: Draw, clause: Clause, room: int) -> None:
    habit = clause.tense == "present" and not clause.aspect
    if clause.predicate.state or (clause.predicate.heavy and clause.subject.heavy):
        return
    if habit and not clause.negative and draw.chance(0.45):
        clause.korean_frequency, clause.frequency = adverb(draw, draw.pick(lexicon.FREQUENCY))
    elif habit or (room > 0 and draw.chance(0.5) and _takes_time(clause)):
        clause.korean_time, clause.english_time = time_phrase(draw, clause.tense, habit)


def _takes_time(clause: Clause) -> bool:
    if clause.tense == "present":
        return clause.aspect == "progressive"
    return clause.aspect not in _TIMELESS


_TIMELESS = frozenset(("can", "like", "dislike", "enjoy", "experience"))


def korean_clause(
    clause: Clause, draw: Draw, ending: Ending, particle: str, *, front: bool = False
) -> tuple[list[Word], Roles]:
    """The Korean words; `front` lets the time stand before the subject."""
    predicate = clause.predicate
    words, roles = korean_predicate(clause, draw, ending)
    subject = marked(clause.subject, particle)
    body = [*clause.korean_frequency, *predicate.before, *predicate.arguments, *predicate.manner, *words]
    if front:
        return [*clause.korean_time, *subject, *clause.korean_sub, *body], roles
    return [*subject, *clause.korean_sub, *clause.korean_time, *body], roles


def english_clause(clause: Clause, roles: Roles, tense: str) -> list[Word]:
    """The English words of a finite clause."""
    predicate = english_predicate(clause, roles, tense)
    return [*clause.subject.english, *clause.english_first, *predicate, *clause.english_sub]


def _tense_inside(tense: Tense, past: bool) -> str:
    return "past" if tense == "present" and past else tense


_UNDER_WAY = lexicon.word_set(
    "buy, sell, borrow, learn, translate, publish, build, fix, write, draw, paint, make, grow, raise, repair"
)


def _relative_ending(draw: Draw, clause: Clause, past: bool) -> Ending:
    """-는, -은; seen from the past what was going on may also be told with -던."""
    if past and clause.aspect == "progressive":
        return draw.variant((adnominal_ending, adnominal_ending, retrospective_ending))
    return adnominal_ending


def object_relative(draw: Draw, noun: Noun, room: int, past: bool) -> NounPhrase:
    """내가 어제 산 책, the book that I bought yesterday."""
    verb = draw.fresh(lexicon.verbs_by_object()[noun.english], _english)
    subject = nominal.person(draw, 0)
    predicate = verb_predicate(draw, verb)
    tense: Tense = "present" if verb.state else "past"
    clause = Clause(subject, predicate, tense)
    if verb.forms.base in _UNDER_WAY and draw.chance(0.35):
        clause.tense, clause.aspect = "present", draw.pick(("progressive", "want"))
    elif tense == "past" and room > 0 and draw.chance(0.5):
        clause.korean_time, clause.english_time = adverb(draw, draw.pick(lexicon.PAST_TIME))
    if verb.places and room > 1 and draw.chance(0.4):
        _add_place(draw, verb, predicate)
    ending = _relative_ending(draw, clause, past)
    korean, roles = korean_clause(clause, draw, ending, "이")
    words = english_clause(clause, roles, _tense_inside(clause.tense, past))
    return nominal.with_clause(draw, noun, korean, [("that", roles.connective), *words])


def subject_relative(draw: Draw, room: int, past: bool) -> NounPhrase:
    """책을 읽고 있는 학생, the student who is reading a book."""
    noun = draw.fresh(lexicon.NOUNS["role"], lambda noun: noun.korean)
    who = NounPhrase([], [], gender=nominal.gender_of(noun))
    progressive = draw.chance(0.4)
    predicate = action(draw, who, min(room, 5), past, dynamic=True, frames=LIGHT, willed=progressive)
    clause = Clause(who, predicate, "present" if progressive else "past", "progressive" if progressive else "")
    korean, roles = korean_clause(clause, draw, _relative_ending(draw, clause, past), "이")
    who.concept = roles.connective
    words = english_predicate(clause, roles, _tense_inside(clause.tense, past))
    words = [(text, concept or roles.connective) for text, concept in words]
    phrase = nominal.with_clause(draw, noun, korean, [("who", roles.connective), *words])
    phrase.gender = who.gender
    return phrase


def place_relative(draw: Draw, noun: Noun, past: bool) -> NounPhrase:
    """우리가 점심을 먹은 식당, the restaurant where we had lunch."""
    verb = draw.pick(verbs_by_place()[noun.english])
    subject = nominal.person(draw, 0)
    predicate = verb_predicate(draw, verb)
    if verb.arguments:
        concept = draw.concept()
        predicate.arguments = [(text, concept) for text in verb.arguments]
        predicate.complement = [(text, concept) for text in verb.complement]
    clause = Clause(subject, predicate, "past")
    korean, roles = korean_clause(clause, draw, adnominal_ending, "이")
    words = english_clause(clause, roles, "past")
    return nominal.with_clause(draw, noun, korean, [("where", roles.connective), *words])
