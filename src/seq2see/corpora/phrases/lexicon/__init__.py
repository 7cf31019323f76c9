"""The words of `phrases`, read once from the tables beside this file and joined by meaning."""

from functools import cache
from typing import NamedTuple

from seq2see.corpora.phrases import english, hangul
from seq2see.corpora.phrases.english import VerbForms
from seq2see.corpora.phrases.hangul import Stem
from seq2see.corpora.phrases.lexicon import adjectives, adverbs, names, nouns, verbs
from seq2see.corpora.phrases.lexicon.groups import GROUPS


class Noun(NamedTuple):
    """A common noun; `article` is what the bare noun takes: a, mass, the, bare, plural."""

    korean: str
    english: str
    kind: str
    article: str
    counter: str
    measure: str
    gender: str = "n"


class Kin(NamedTuple):
    """A person known by relation: the possessive that goes with the word says whose."""

    korean: str
    english: str
    gender: str
    honoured: bool
    mine: str


class Phrase(NamedTuple):
    """Words that translate each other as a whole: an adverb, a name, a month."""

    korean: str
    english: str


class Verb(NamedTuple):
    """A predicate with its frame. `lead` are the words of a Korean compound before the part that conjugates."""

    lead: tuple[str, ...]
    stem: Stem
    forms: VerbForms
    objects: tuple[tuple[Noun, ...], ...] = ()
    manner: tuple[Phrase, ...] = ()
    places: tuple[tuple[Noun, ...], ...] = ()
    case: str = "을"
    preposition: str = ""
    state: bool = False
    chance: bool = False
    possessive: bool = False
    generic: bool = False
    many: bool = False
    single: bool = False
    alone: bool = False
    arguments: tuple[str, ...] = ()
    complement: tuple[str, ...] = ()
    honorific: Stem | None = None
    mode: str = ""


class Adjective(NamedTuple):
    """A descriptive verb: `attributive` is its form before a noun."""

    lead: tuple[str, ...]
    stem: Stem
    english: str
    attributive: str
    attributive_only: bool = False
    feeling: bool = False


_ARTICLES = {"~": "mass", "!": "the", "^": "bare", "=": "plural"}
_VENUES = ("venue",)
# Words that honour the subject and replace the plain ones.
_SUPPLETION = {"먹": "드시", "마시": "드시", "자": "주무시", "있": "계시", "말하": "말씀하시"}


def _entries(table: str) -> list[str]:
    return [entry.strip() for line in table.strip().splitlines() for entry in line.split(",") if entry.strip()]


def _pair(entry: str) -> tuple[str, str]:
    """Korean is everything before the first Latin letter or article mark."""
    for index, letter in enumerate(entry):
        if letter.isascii() and letter not in " ,":
            return entry[:index].strip(), entry[index:].strip()
    raise ValueError(f"no English in {entry!r}")


def phrases(table: str) -> tuple[Phrase, ...]:
    """A table of `Korean English` entries."""
    return tuple(Phrase(*_pair(entry)) for entry in _entries(table))


def word_set(words: str) -> frozenset[str]:
    """The words of a comma-separated list."""
    return frozenset(word.strip() for word in words.split(","))


def _people(text: str) -> list[str]:
    compounds = ("young man", "young lady", "security guard")
    for compound in compounds:
        text = text.replace(compound, compound.replace(" ", "_"))
    return [word.replace("_", " ") for word in text.split()]


def _read_nouns() -> dict[str, tuple[Noun, ...]]:
    male, female = set(_people(nouns.MALE_ROLES)), set(_people(nouns.FEMALE_ROLES))
    table: dict[str, list[Noun]] = {}
    kind = counter = measure = ""
    for line in nouns.NOUNS.strip().splitlines():
        if line.startswith("@"):
            kind, counter = line[1:].split()
            counter, _, measure = counter.partition(":")
            continue
        for entry in _entries(line):
            korean, english_word = _pair(entry)
            article = _ARTICLES.get(english_word[0], "a")
            english_word = english_word.lstrip("~!^=")
            gender = "m" if english_word in male else "f" if english_word in female else "n"
            table.setdefault(kind, []).append(Noun(korean, english_word, kind, article, counter, measure, gender))
    return {name: tuple(members) for name, members in table.items()}


NOUNS: dict[str, tuple[Noun, ...]] = _read_nouns()
_BY_ENGLISH = {noun.english: noun for members in NOUNS.values() for noun in members}


def _read_groups() -> None:
    for line in GROUPS.strip().replace("\n  ", " ").splitlines():
        name, _, members = line.partition(":")
        entries = members.strip().removeprefix("+").split(", ")
        if members.strip().startswith("+"):
            NOUNS[name] = tuple(noun for kind in entries for noun in NOUNS[kind])
        else:
            NOUNS[name] = tuple(_BY_ENGLISH[word] for word in entries)


_read_groups()


def classes(names_: str) -> tuple[tuple[Noun, ...], ...]:
    """The noun classes of a comma-separated list."""
    return tuple(NOUNS[name] for name in names_.split(","))


MANNER = {letter: phrases(table) for letter, table in adverbs.MANNER.items()}


def _korean_verb(citation: str) -> tuple[tuple[str, ...], Stem]:
    word, colon, kind = citation.partition(":")
    *lead, last = word.split()
    part: hangul.Class = "existence" if last == "있다" else "verb"
    return tuple(lead), hangul.stem(last + colon + kind, part)


def _verb(citation: str, english_phrase: str, marks: str, objects: str = "", idiom: bool = False) -> Verb:
    lead, stem = _korean_verb(citation)
    flags = marks.split()
    places = next((flag[3:] for flag in flags if flag.startswith("at=")), ",".join(_VENUES))
    plain = not lead or idiom
    suppletive = _SUPPLETION.get(stem.text) if plain else None
    return Verb(
        () if idiom else lead,
        stem,
        english.verb(english_phrase),
        classes(objects) if objects else (),
        tuple(phrase for flag in flags if flag in MANNER for phrase in MANNER[flag]),
        () if places == "-" else classes(places),
        state="state" in flags,
        chance="chance" in flags,
        possessive="poss" in flags,
        generic="generic" in flags,
        many="many" in flags,
        single="single" in flags,
        alone="alone" in flags,
        arguments=lead if idiom else (),
        honorific=Stem(suppletive, "시") if suppletive else None,
    )


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


_TOWARDS = ("이사하다", "날아가다", "돌아가다", "달려가다", "이민을 가다", "유학을 가다")


def _goal_case(citation: str) -> str:
    """Verbs of heading somewhere mark the goal with 으로, the others with 에."""
    return "으로" if citation in _TOWARDS else "에"


INTRANSITIVE = tuple(_verb(row[0], row[1], row[2]) for row in _rows(verbs.INTRANSITIVE))
TRANSITIVE = tuple(_verb(row[0], row[1], row[3], row[2]) for row in _rows(verbs.TRANSITIVE))
PERSON = tuple(_verb(row[0], row[1], row[3])._replace(case=row[2]) for row in _rows(verbs.PERSON))
MOTION = tuple(
    _verb(row[0], row[1], row[4] + " at=-", row[3])._replace(case=_goal_case(row[0]), preposition=row[2].strip("-"))
    for row in _rows(verbs.MOTION)
)
DATIVE = tuple(_verb(row[0], row[1], "at=- " + " ".join(row[3:]), row[2]) for row in _rows(verbs.DATIVE))
IDIOMS = tuple(
    _verb(row[0], row[1], row[3], idiom=True)._replace(complement=tuple(row[2].split())) for row in _rows(verbs.IDIOMS)
)
THINGS = tuple(_verb(row[0], row[1], "at=-", row[2]) for row in _rows(verbs.THINGS))
WEATHER = tuple(
    _verb(korean, verb, "at=-", idiom=True)._replace(complement=tuple(subject.split()))
    for korean, verb, subject in ([c.strip() for c in e.split("|")] for e in _entries(verbs.WEATHER))
)


def _clausal(entry: str) -> Verb:
    korean, english_phrase, marks = [cell.strip() for cell in entry.split("|")]
    return _verb(korean, english_phrase.removeprefix("not "), marks + " at=-")._replace(mode=marks.split()[0])


CLAUSAL = tuple(_clausal(entry) for entry in _entries(verbs.CLAUSAL))


def _adjective(citation: str, english_word: str, marks: str = "") -> Adjective:
    word, colon, kind = citation.partition(":")
    *lead, last = word.split()
    if last.endswith("적이다"):
        stem = hangul.copula(last.removesuffix("이다"))
    else:
        stem = hangul.stem(last + colon + kind, "existence" if "있" in marks else "adjective")
    attributive_only = "attr" in marks
    attributive = hangul.conjugate(stem, "은") if attributive_only else hangul.adnominal(stem, "present")
    return Adjective(tuple(lead), stem, english_word, attributive, attributive_only, "feeling" in marks)


STATES = tuple(_adjective(*(cell.strip() for cell in entry.split("|"))) for entry in _entries(adjectives.STATES))
CLIMATE = tuple(_adjective(*_pair_of) for _pair_of in (e.split() for e in _entries(adjectives.CLIMATE)))


def _adjectives_by_noun() -> dict[str, tuple[Adjective, ...]]:
    by_noun: dict[str, list[Adjective]] = {}
    for citation, word, kinds, *marks in _rows(adjectives.ADJECTIVES):
        adjective = _adjective(citation, word, *marks)
        for noun in dict.fromkeys(noun for members in classes(kinds) for noun in members):
            by_noun.setdefault(noun.english, []).append(adjective)
    new = Adjective((), Stem("새"), "new", "새", attributive_only=True)
    for kind in ("book", "clothes", "shoes", "vehicle", "machine", "furniture", "instrument", "hat", "tool", "toy"):
        for noun in NOUNS[kind]:
            by_noun.setdefault(noun.english, []).append(new)
    return {name: tuple(members) for name, members in by_noun.items()}


ADJECTIVES_BY_NOUN = _adjectives_by_noun()
"""English noun -> the adjectives that may describe it."""


# What one says of a thing to single it out: where it comes from, or what someone feels about it.
_IDENTIFYING = word_set(
    """buy, make, write, cook, bake, boil, borrow, discover, draw, raise, grow, plant, send, receive, build, explain,
    order, like, dislike, want, need, translate, wrap, invent, recommend, fix, publish, steal, sing, learn, teach,
    discuss, memorize, carry, hide, paint, photograph, perform, collect, know, remember, sell, print, watch, submit,
    repair, sew, pick, research, organize, decorate, practice, use"""
)


@cache
def verbs_by_object() -> dict[str, tuple[Verb, ...]]:
    """English noun -> the verbs that may take it as their object: what relative clauses are made of."""
    by_object: dict[str, list[Verb]] = {}
    for verb in TRANSITIVE:
        if verb.forms.base not in _IDENTIFYING:
            continue
        for noun in dict.fromkeys(noun for members in verb.objects for noun in members):
            by_object.setdefault(noun.english, []).append(verb)
    return {name: tuple(members) for name, members in by_object.items()}


MALE, FEMALE = phrases(names.MALE), phrases(names.FEMALE)
KIN = tuple(
    Kin(cells[0], " ".join(cells[1:-3]), cells[-3], cells[-2] == "honoured", cells[-1])
    for cells in (entry.split() for entry in _entries(nouns.KIN))
)
RESPECTED = tuple(
    Kin(korean, rest[:-2], rest[-1], True, "우리") for korean, rest in map(_pair, _entries(nouns.RESPECTED))
)
PAST_TIME = phrases(adverbs.PAST_TIME)
FUTURE_TIME = phrases(adverbs.FUTURE_TIME)
HABIT_TIME = phrases(adverbs.HABIT_TIME)
NOW_TIME = phrases(adverbs.NOW_TIME)
PARTS_OF_DAY = phrases(adverbs.PARTS_OF_DAY)
FREQUENCY = phrases(adverbs.FREQUENCY)
DEGREE = phrases(adverbs.DEGREE)
REASONS = tuple(state for state in STATES if state.english in adjectives.REASONS)
MONTHS = phrases(adverbs.MONTHS)
POSITIONS = phrases(adverbs.POSITIONS)
NUMERALS = phrases(adverbs.NATIVE_NUMERALS)
ORDINALS = phrases(adverbs.ORDINALS)
