"""Clauses of being: what someone is, how something is, what there is, what one has, and the weather."""

from seq2see.corpora.phrases import english, hangul, lexicon, nominal
from seq2see.corpora.phrases.clause import clock, noun_of, object_relative
from seq2see.corpora.phrases.hangul import Stem
from seq2see.corpora.phrases.lexicon import Adjective, Noun
from seq2see.corpora.phrases.nominal import adverb, spread
from seq2see.corpora.phrases.structure import Clause, Draw, NounPhrase, Predicate, Tense, Word, marked

_BE = english.verb("be")
_HAVE = Stem("있", "regular", "existence")
_LACK = Stem("없", "regular", "existence")
_NOT = Stem("아니", "아니", "adjective")
_THING_KINDS = lexicon.classes(
    "book,film,poem,song,machine,vehicle,furniture,clothes,shoes,hat,accessory,container,building,dish,snack,meat,"
    "fruit,animal,picture,idea,letter,instrument,room,venue,flower,tool,gift,toy,tree"
)
_OWNABLE = lexicon.classes("props,props,props,asset")
_NOT_GRADED = lexicon.word_set(
    "red, blue, yellow, white, black, unique, excellent, huge, ordinary, special, tasteless, ancient"
)
_JOBS = tuple(noun for noun in lexicon.NOUNS["role"] if noun.english not in ("man", "woman", "king", "child"))


def identity(draw: Draw, subject: NounPhrase, tense: Tense, room: int) -> Clause:
    """민수는 의사다, Minsu is a doctor; 의사가 아니다, is not a doctor."""
    noun = draw.fresh(_JOBS, lambda noun: noun.korean)
    adjectives = lexicon.ADJECTIVES_BY_NOUN[noun.english]
    adjective = draw.pick(adjectives) if room > 0 and draw.chance(0.6) else None
    negative = draw.chance(0.2)
    concept = draw.concept()
    korean: list[Word] = []
    head = spread(english.plural(noun.english) if subject.plural else noun.english, concept)
    if adjective:
        quality = draw.concept()
        korean = [(text, quality) for text in (*adjective.lead, adjective.attributive)]
        head = [(adjective.english, quality), *head]
    if not subject.plural:
        head = [(english.article(head[0][0]), concept), *head]
    *first, last = noun.korean.split(" ")
    korean += [(text, concept) for text in first]
    if negative:
        predicate = Predicate(_NOT, _BE, denied=_NOT, concept=draw.concept())
        korean.append((hangul.attach(last, "이"), concept))
    else:
        predicate = Predicate(hangul.copula(last), _BE, concept=concept)
    predicate.arguments, predicate.complement, predicate.state = korean, head, True
    return Clause(subject, predicate, tense, negative=negative, topic_only=True)


def quality(draw: Draw, subject: NounPhrase, adjective: Adjective, tense: Tense, degree: bool = True) -> Clause:
    """그 책은 아주 재미있다, the book is very interesting."""
    stem, lead = adjective.stem, adjective.lead
    if adjective.feeling and subject.person == 3:  # others are only seen to feel: 기뻐하다
        stem = Stem(hangul.infinitive(stem) + "하", "하")
    predicate = Predicate(stem, _BE, lead, state=True, concept=draw.concept())
    predicate.complement = [(adjective.english, predicate.concept)]
    clause = Clause(subject, predicate, tense)
    if degree and adjective.english not in _NOT_GRADED and draw.chance(0.4):
        predicate.before, words = adverb(draw, draw.pick(lexicon.DEGREE))
        predicate.complement = [*words, *predicate.complement]
    else:
        clause.negative = draw.chance(0.15)
    return clause


def state(draw: Draw, subject: NounPhrase, tense: Tense) -> Clause:
    """나는 피곤하다, I am tired."""
    return quality(draw, subject, draw.pick(lexicon.STATES), tense)


def reason(draw: Draw, subject: NounPhrase, tense: Tense) -> Clause:
    """A state or a lack that explains what one does next."""
    if draw.chance(0.3):
        return lack(draw, subject, tense)
    return quality(draw, subject, draw.pick(lexicon.REASONS), tense)


def description(draw: Draw, tense: Tense, room: int, past: bool) -> Clause:
    """A thing and how it is; the thing may come with a relative clause."""
    while True:
        noun = noun_of(draw, _THING_KINDS)
        adjectives = [a for a in lexicon.ADJECTIVES_BY_NOUN.get(noun.english, ()) if not a.attributive_only]
        if adjectives:
            break
    if room >= 4 and noun.english in lexicon.verbs_by_object() and noun.article not in ("the", "bare"):
        subject = object_relative(draw, noun, room - 4, past)
    else:
        subject = definite(draw, noun)
    return quality(draw, subject, draw.pick(adjectives), tense)


def definite(draw: Draw, noun: Noun) -> NounPhrase:
    """A subject one can point at: 그 책, 이 책, 내 책; 도서관 needs nothing."""
    if noun.article in ("the", "bare"):
        return nominal.bare(draw, noun)
    owned = noun.kind in nominal.OWNED and draw.chance(0.4)
    return nominal.assemble(draw, noun, "의" if owned else draw.pick(("그", "그", "이", "저")), None)


def comparison(draw: Draw, tense: Tense) -> Clause:
    """이 가방은 저 가방보다 더 비싸다, this bag is more expensive than that bag."""
    while True:
        members = draw.pick(_THING_KINDS)
        compared, standard_noun = draw.pick(members), draw.pick(members)
        shared = [
            adjective
            for adjective in lexicon.ADJECTIVES_BY_NOUN.get(compared.english, ())
            if not adjective.attributive_only
            and adjective.english not in _NOT_GRADED
            and adjective in lexicon.ADJECTIVES_BY_NOUN.get(standard_noun.english, ())
        ]
        if compared is not standard_noun and shared:
            break
    adjective = draw.pick(shared)
    subject, standard = definite(draw, compared), definite(draw, standard_noun)
    clause = quality(draw, subject, adjective, tense, degree=False)
    clause.negative = False
    predicate, more, than = clause.predicate, draw.concept(), standard.korean[-1][1]
    predicate.before = [*marked(standard, "보다"), ("더", more)]
    words = english.comparative(adjective.english)
    shown = [(words[0], more), (words[1], predicate.concept)] if len(words) == 2 else [(words[0], predicate.concept)]
    if len(words) == 1:
        predicate.before[-1] = ("더", predicate.concept)
    predicate.complement = [*shown, ("than", than), *standard.english]
    return clause


def existence(draw: Draw, tense: Tense, room: int) -> Clause:
    """책상 위에 책이 있다, there is a book on the desk."""
    position = draw.pick(lexicon.POSITIONS)
    holder = noun_of(draw, lexicon.classes("interior" if position.english == "inside" else "surface"))
    where = definite(draw, holder)
    noun = noun_of(draw, lexicon.classes("small" if position.english == "inside" else "stuff"))
    what = nominal.count(draw, noun) if draw.chance(0.4) else nominal.indefinite(draw, noun, room)
    spot = draw.concept()
    predicate = Predicate(_HAVE, _BE, state=True, concept=draw.concept())
    predicate.complement = list(what.english)
    predicate.after = [*spread(position.english, spot), *where.english]
    there = NounPhrase(what.korean, [("there", predicate.concept)], plural=what.plural, concept=what.concept)
    clause = Clause(there, predicate, tense)
    clause.korean_time = [*where.korean, (position.korean, spot)]
    clause.fixed = True
    return clause


def location(draw: Draw, tense: Tense) -> Clause:
    """그 고양이는 의자 밑에 있다, the cat is under the chair."""
    position = draw.pick(lexicon.POSITIONS)
    holder = noun_of(draw, lexicon.classes("interior" if position.english == "inside" else "surface"))
    where, spot = definite(draw, holder), draw.concept()
    subject = definite(
        draw, noun_of(draw, lexicon.classes("small" if position.english == "inside" else "stuff,pet_indoors,stuff"))
    )
    predicate = Predicate(_HAVE, _BE, state=True, denied=_LACK, concept=draw.concept())
    predicate.arguments = [*where.korean, (position.korean, spot)]
    predicate.complement = [*spread(position.english, spot), *where.english]
    return Clause(subject, predicate, tense, negative=draw.chance(0.15))


def possession(draw: Draw, subject: NounPhrase, tense: Tense, room: int) -> Clause:
    """나는 차가 없다, I do not have a car."""
    noun = noun_of(draw, _OWNABLE)
    counted = nominal.countable(noun) and draw.chance(0.4)
    what = nominal.count(draw, noun, small=True) if counted else nominal.indefinite(draw, noun, room)
    predicate = Predicate(_HAVE, english.verb("have"), state=True, denied=_LACK, concept=draw.concept())
    predicate.arguments, predicate.complement = marked(what, "이"), what.english
    clause = Clause(subject, predicate, tense, negative=draw.chance(0.25) and not counted)
    clause.topic_only, clause.possessed = True, True
    return clause


def lack(draw: Draw, subject: NounPhrase, tense: Tense) -> Clause:
    """시간이 없다, have no time to speak of: the everyday reason."""
    clause = possession(draw, subject, tense, 0)
    what = nominal.bare(draw, noun_of(draw, lexicon.classes("asset")))
    clause.predicate.arguments, clause.predicate.complement = marked(what, "이"), what.english
    clause.negative = True
    return clause


def weather(draw: Draw, tense: Tense, condition: bool = False) -> Clause:
    """비가 온다, it rains; 바람이 분다, the wind blows; 날씨가 춥다, the weather is cold."""
    if draw.chance(0.35):
        concept = draw.concept()
        subject = NounPhrase([("날씨", concept)], [("the", concept), ("weather", concept)], concept=concept)
        clause = quality(draw, subject, draw.pick(lexicon.CLIMATE), tense)
    else:
        lasting = tense == "present" and not condition
        verb = draw.pick(lexicon.WEATHER[:4] if lasting else lexicon.WEATHER)
        concept = draw.concept()
        noun = verb.arguments[0]
        predicate = Predicate(verb.stem, verb.forms, chance=True, concept=concept)
        named = concept if verb.complement == ("it",) else draw.concept()
        predicate.arguments = [(noun, named)]
        subject = NounPhrase([], [(text, named) for text in verb.complement], concept=named)
        clause = Clause(subject, predicate, tense, "progressive" if lasting else "")
    clause.fixed = True
    return clause


def event(draw: Draw, tense: Tense) -> Clause:
    """그 버스는 도착했다, the bus arrived; 수업이 시작됐다, the class began."""
    verb = draw.pick(lexicon.THINGS)
    subject = definite(draw, noun_of(draw, verb.objects))
    predicate = Predicate(verb.stem, verb.forms, verb.lead, chance=True, concept=draw.concept())
    clause = Clause(subject, predicate, tense)
    if tense != "present":
        from_lexicon = lexicon.PAST_TIME if tense == "past" else lexicon.FUTURE_TIME
        if draw.chance(0.4):
            clause.korean_time, clause.english_time = adverb(draw, draw.pick(from_lexicon))
    return clause


_PRICES = tuple(
    (lexicon.classes(kinds), lexicon.phrases(amounts))
    for kinds, amounts in (
        (
            "snack,fruit",
            "천 one thousand, 천오백 fifteen hundred, 이천 two thousand, 삼천 three thousand, 오천 five thousand",
        ),
        (
            "book,hat,toy,stationery,flower",
            "팔천 eight thousand, 만 ten thousand, 만 이천 twelve thousand, 만 오천 fifteen thousand",
        ),
        (
            "clothes,shoes,container",
            "이만 twenty thousand, 삼만 thirty thousand, 오만 fifty thousand, 칠만 seventy thousand",
        ),
        ("machine,instrument,furniture", "십만 one hundred thousand, 이십만 two hundred thousand, 백만 one million"),
    )
)


def price(draw: Draw, tense: Tense) -> Clause:
    """이 책은 만 오천 원이다, this book is fifteen thousand won: Sino-Korean numerals."""
    kinds, amounts = draw.pick(_PRICES)
    subject = definite(draw, noun_of(draw, kinds))
    amount, number, won = draw.pick(amounts), draw.concept(), draw.concept()
    predicate = Predicate(hangul.copula("원"), _BE, state=True, concept=won)
    predicate.arguments = spread(amount.korean, number)
    predicate.complement = [*spread(amount.english, number), ("won", won)]
    return Clause(subject, predicate, tense)


def hour(draw: Draw) -> Clause:
    """지금은 세 시 십 분이다, it is three ten now."""
    korean, words = clock(draw)
    text, concept = korean[-1]
    now = draw.concept()
    predicate = Predicate(hangul.copula(text), _BE, arguments=korean[:-1], complement=words, concept=concept)
    predicate.after = [("now", now)]
    predicate.state = True
    clause = Clause(NounPhrase([("지금", now)], [("it", concept)], concept=concept), predicate)
    clause.topic_only = True
    return clause
