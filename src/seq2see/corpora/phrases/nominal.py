"""Noun phrases in both languages at once.

English articles follow from what Korean shows, never from context a reader cannot see:

    사과        an apple              물         water                도서관      the library
    그 사과     the apple             이 / 저    this / that          몇몇 학생들 some students
    사과 세 개  three apples          한 학생이  a student            내가 산 책  the book that I bought
"""

from seq2see.corpora.phrases import english, lexicon
from seq2see.corpora.phrases.lexicon import Adjective, Noun, Phrase
from seq2see.corpora.phrases.structure import Draw, NounPhrase, Word

OWNED = lexicon.word_set(
    "book, letter, paper, clothes, shoes, hat, accessory, container, tool, pen, toy, machine, vehicle, instrument"
)
_PRONOUNS = {
    "나": ("I", "me", 1, False, "n"),
    "우리": ("we", "us", 1, True, "n"),
    "그": ("he", "him", 3, False, "m"),
    "그녀": ("she", "her", 3, False, "f"),
    "그들": ("they", "them", 3, True, "n"),
}
_NAMES = tuple((phrase, "m") for phrase in lexicon.MALE) + tuple((phrase, "f") for phrase in lexicon.FEMALE)
_SMALL = lexicon.NUMERALS[:5]


def spread(text: str, concept: int) -> list[Word]:
    """Every word of a phrase with the same concept."""
    return [(word, concept) for word in text.split(" ")]


def adverb(draw: Draw, phrase: Phrase) -> tuple[list[Word], list[Word]]:
    """An adverb on both sides."""
    concept = draw.concept()
    return spread(phrase.korean, concept), spread(phrase.english, concept)


def pronoun(draw: Draw, korean: str) -> NounPhrase:
    """나 and its humble 저, 우리, 그, 그녀, 그들, 너."""
    concept = draw.concept()
    if korean == "너":
        return NounPhrase([("너", concept)], [("you", concept)], 2, objective="you", concept=concept)
    subject, objective, person, plural, gender = _PRONOUNS[korean]
    if korean == "나" and draw.register != "plain":
        korean = "저"
    return NounPhrase(
        [(korean, concept)], [(subject, concept)], person, plural, gender, False, objective, False, concept
    )


def name(draw: Draw) -> NounPhrase:
    """Someone by name."""
    phrase, gender = draw.fresh(_NAMES, lambda pair: pair[0].korean)
    concept = draw.concept()
    return NounPhrase([(phrase.korean, concept)], [(phrase.english, concept)], gender=gender, concept=concept)


def relative(draw: Draw) -> NounPhrase:
    """우리 어머니 (my mother), 제 동생, 우리 선생님 (our teacher)."""
    respected = draw.chance(0.25)
    kin = draw.fresh(lexicon.RESPECTED if respected else lexicon.KIN, lambda kin: kin.korean)
    owner, concept = draw.concept(), draw.concept()
    mine = kin.mine if kin.mine == "우리" or draw.register == "plain" else "제"
    whose = "our" if respected else "my"
    korean = [(mine, owner), *spread(kin.korean, concept)]
    return NounPhrase(
        korean,
        [(whose, owner), *spread(kin.english, concept)],
        gender=kin.gender,
        honoured=kin.honoured,
        concept=concept,
    )


def possessor(draw: Draw) -> tuple[list[Word], list[Word]]:
    """내 (my), 민수의 (Minsu's), 그의 (his), 우리 어머니의 (my mother's)."""
    roll = draw.random()
    if roll < 0.4:
        concept = draw.concept()
        return [("내" if draw.register == "plain" else "제", concept)], [("my", concept)]
    if roll < 0.55:
        concept = draw.concept()
        korean, his = draw.pick((("그의", "his"), ("그녀의", "her"), ("우리의", "our"), ("그들의", "their")))
        return [(korean, concept)], [(his, concept)]
    owner = name(draw) if roll < 0.85 else relative(draw)
    *first, (last, concept) = owner.korean
    *english_first, (english_last, english_concept) = owner.english
    return [*first, (last + "의", concept)], [*english_first, (english_last + "'s", english_concept)]


def count(draw: Draw, noun: Noun, small: bool = False) -> NounPhrase:
    """사과 세 개, three apples; 커피 두 잔, two cups of coffee; 신발 한 켤레, one pair of shoes."""
    numeral = draw.pick(_SMALL if small or draw.chance(0.7) else lexicon.NUMERALS)
    thing, number = draw.concept(), draw.concept()
    singular = numeral.english == "one"
    measure = noun.measure or ("pair" if noun.article == "plural" else "")
    unit = draw.concept() if measure else number
    korean = [*spread(noun.korean, thing), (numeral.korean, number), (noun.counter, unit)]
    words: list[Word] = [(numeral.english, number)]
    if measure:
        words += [(measure if singular else english.plural(measure), unit), ("of", unit)]
        words += spread(noun.english, thing)
    else:
        words += spread(noun.english if singular else english.plural(noun.english), thing)
    return NounPhrase(korean, words, plural=not singular, gender=noun.gender, concept=thing)


def countable(noun: Noun) -> bool:
    """Whether 세 개 and the like can count it in both languages."""
    return noun.counter != "-" and (noun.article == "a" or bool(noun.measure) or noun.article == "plural")


_UNMODIFIED = frozenset(("sky", "sport", "study", "asset", "city", "country"))


def described(
    draw: Draw, noun: Noun, room: int, *, generic: bool = False, many: bool = False, single: bool = False
) -> NounPhrase:
    """A noun with what room allows: a determiner, a possessor, an adjective, a number.

    A generic object (sell apples, play the piano) is plural, or definite if an instrument, where Korean is bare.
    """
    if generic and noun.kind == "instrument":
        return definite_kind(draw, noun)
    adjective = None
    if room > 0 and noun.english in lexicon.ADJECTIVES_BY_NOUN and noun.kind not in _UNMODIFIED and draw.chance(0.6):
        adjective = draw.pick(lexicon.ADJECTIVES_BY_NOUN[noun.english])
    roll = draw.random()
    if many and noun.article == "a":
        return assemble(draw, noun, draw.pick(("", "", "많은", "여러")), adjective, many=True)
    if roll < 0.16 and countable(noun) and adjective is None and not single:
        return count(draw, noun)
    if noun.article == "bare" or noun.kind in _UNMODIFIED:
        adjective, determiner = None, ""
    elif roll < 0.36 and (noun.article != "the" or adjective):
        determiner = "그"
    elif roll < 0.48 and noun.kind != "event":
        determiner = draw.pick(("이", "이", "저"))
    elif roll < 0.65 and noun.kind in OWNED:
        determiner = "의"
    elif roll < 0.72 and noun.article == "a" and room > 0 and not single:
        determiner = draw.pick(("많은", "여러", "모든" if noun.kind in _EVERY else "여러"))
    else:
        determiner = ""
    return assemble(draw, noun, determiner, adjective, generic and not determiner and noun.article == "a")


def definite_kind(draw: Draw, noun: Noun) -> NounPhrase:
    """피아노, the piano: the instrument as such."""
    concept = draw.concept()
    return NounPhrase(spread(noun.korean, concept), [("the", concept), *spread(noun.english, concept)], concept=concept)


_EVERY = frozenset(("book", "letter", "paper", "room", "poem"))
_THESE = {"이": ("this", "these"), "저": ("that", "those"), "그": ("the", "the")}
_MANY = {"많은": "many", "여러": "several", "모든": "every"}


def assemble(draw: Draw, noun: Noun, determiner: str, adjective: Adjective | None, many: bool = False) -> NounPhrase:
    """Puts determiner (의 for a possessor), adjective and noun together; a bare noun gets the article it asks for."""
    concept = draw.concept()
    many = many or determiner in ("많은", "여러")
    plural = noun.article == "plural" or many
    korean: list[Word] = []
    words: list[Word] = []
    if determiner == "의":
        korean, words = possessor(draw)
    elif determiner:
        mark = draw.concept()
        korean.append((determiner, mark))
        shown = _MANY.get(determiner) or _THESE[determiner][plural]
        words.append((shown, mark))
    head = spread(english.plural(noun.english) if many else noun.english, concept)
    if adjective:
        quality = draw.concept()
        korean += [(text, quality) for text in (*adjective.lead, adjective.attributive)]
        head = [(adjective.english, quality), *head]
    if not determiner and not many:
        words = [*_article(noun, head[0][0], concept, adjective is not None), *words]
    return NounPhrase(
        [*korean, *spread(noun.korean, concept)],
        [*words, *head],
        plural=plural,
        gender=noun.gender,
        concept=concept,
    )


def _article(noun: Noun, following: str, concept: int, modified: bool) -> list[Word]:
    if noun.article == "a" or (noun.article == "the" and modified):
        return [(english.article(following), concept)]
    return [("the", concept)] if noun.article == "the" else []


def bare(draw: Draw, noun: Noun) -> NounPhrase:
    """The noun alone with the article it takes by itself."""
    return assemble(draw, noun, "", None)


def indefinite(draw: Draw, noun: Noun, room: int) -> NounPhrase:
    """The noun with no determiner, perhaps with an adjective: 책, 새 책."""
    adjectives = lexicon.ADJECTIVES_BY_NOUN.get(noun.english, ())
    return assemble(draw, noun, "", draw.pick(adjectives) if adjectives and room > 0 and draw.chance(0.5) else None)


def with_clause(draw: Draw, noun: Noun, korean: list[Word], words: list[Word]) -> NounPhrase:
    """내가 산 책, the book that I bought: a noun with a relative clause is definite."""
    concept = draw.concept()
    return NounPhrase(
        [*korean, *spread(noun.korean, concept)],
        [("the", concept), *spread(noun.english, concept), *words],
        plural=noun.article == "plural",
        gender=noun.gender,
        heavy=True,
        concept=concept,
    )


def role(draw: Draw, room: int) -> NounPhrase:
    """Someone by what they are: 그 학생, 한 학생, 학생들, 많은 학생들, 학생 세 명, 그 친절한 의사."""
    noun = draw.fresh(lexicon.NOUNS["role"], lambda noun: noun.korean)
    unique = noun.english in _UNIQUE
    if not unique and draw.chance(0.12):
        return count(draw, noun)
    concept = draw.concept()
    adjective = draw.pick(lexicon.ADJECTIVES_BY_NOUN[noun.english]) if room > 0 and draw.chance(0.5) else None
    determiner, word, plural = draw.pick(_ROLE_DETERMINERS[:4] if unique else _ROLE_DETERMINERS)
    if adjective and adjective.lead and determiner == "많은":  # 많은 욕심이 많은 ...
        adjective = None
    korean: list[Word] = []
    words: list[Word] = []
    if determiner:
        mark = draw.concept()
        korean.append((determiner, mark))
        words.append((word, mark))
    head = spread(english.plural(noun.english) if plural else noun.english, concept)
    if adjective:
        quality = draw.concept()
        korean += [(text, quality) for text in (*adjective.lead, adjective.attributive)]
        head = [(adjective.english, quality), *head]
    if word == "a":
        words[0] = (english.article(head[0][0]), words[0][1])
    *first, last = noun.korean.split(" ")
    korean += [*((text, concept) for text in first), (last + ("들" if plural else ""), concept)]
    return NounPhrase(korean, [*words, *head], plural=plural, gender=gender_of(noun), concept=concept)


_UNIQUE = lexicon.word_set("king, queen, president, prince, princess, hero, ambassador")
_ROLE_DETERMINERS = (
    ("그", "the", False),
    ("그", "the", False),
    ("그", "the", False),
    ("이", "this", False),
    ("저", "that", False),
    ("한", "a", False),
    ("그", "the", True),
    ("이", "these", True),
    ("몇몇", "some", True),
    ("많은", "many", True),
    ("모든", "every", False),
)


def gender_of(noun: Noun) -> str:
    """People are never *it*: a role that names no gender is referred to as he or she by its Korean spelling."""
    if noun.gender != "n":
        return noun.gender
    return "m" if sum(map(ord, noun.korean)) % 2 else "f"


def known(draw: Draw) -> NounPhrase:
    """Someone definite: a name, a pronoun or a relative."""
    roll = draw.random()
    if roll < 0.5:
        return name(draw)
    if roll < 0.72:
        word = draw.pick(("나", "우리", "그", "그녀", "그들"))
        if word not in draw.used:
            draw.used.add(word)
            return pronoun(draw, word)
    return relative(draw)


def person(draw: Draw, room: int = 0, first: bool = True) -> NounPhrase:
    """A person as subject or object; `first` allows the pronouns I and we."""
    roll = draw.random()
    if roll < 0.36:
        return name(draw)
    if roll < 0.58:
        options = ("나", "나", "우리", "그", "그녀", "그들") if first else ("그", "그녀", "그들")
        word = draw.pick(options)
        if word in draw.used:
            return name(draw)
        draw.used.add(word)
        return pronoun(draw, word)
    if roll < 0.78:
        return relative(draw)
    return role(draw, room)
