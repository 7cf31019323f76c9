"""Questions and requests: what is said to a listener.

Polite Korean leaves the listener out, and English still says *you*: the word aligns with the predicate that implies it.
"""

from seq2see.corpora.phrases import copular, hangul, lexicon, nominal
from seq2see.corpora.phrases.clause import (
    action,
    english_clause,
    korean_clause,
    verb_predicate,
    verbal_clause,
    without_manner,
)
from seq2see.corpora.phrases.hangul import Stem, conjugate
from seq2see.corpora.phrases.predicate import interrogative, with_operator
from seq2see.corpora.phrases.sentence import TENSES, Sentence, drop_unclear_time, particle_of
from seq2see.corpora.phrases.structure import Clause, Draw, NounPhrase, Tense, Word, marked


def _listener(draw: Draw) -> NounPhrase:
    """You: 너 in plain speech, nobody at all in polite speech, where English still says you."""
    if draw.register == "plain":
        return nominal.pronoun(draw, "너")
    concept = draw.concept()
    return NounPhrase([], [("you", concept)], 2, objective="you", concept=concept)


def question(draw: Draw, words: int) -> Sentence:
    """민수는 집에 갔어요 ?, Did Minsu go home ?"""
    if draw.chance(0.5):
        return wh_question(draw, words)
    tense = draw.pick(TENSES)
    subject = _listener(draw) if draw.chance(0.5) else nominal.person(draw, words - 6, first=False)
    if words < 9 and draw.chance(0.3):
        clause = copular.state(draw, subject, tense)
    else:
        clause = verbal_clause(draw, words, tense == "past", tense, subject)
    clause.negative = False
    return _interrogative_sentence(draw, clause, None)


def _interrogative_sentence(draw: Draw, clause: Clause, wh_word: Word | None) -> Sentence:
    drop_unclear_time(clause)
    particle = particle_of(clause, draw)
    korean, roles = korean_clause(clause, draw, interrogative(draw.register), particle)
    predicate = clause.predicate
    operator, rest = with_operator(clause, roles, clause.tense, roles.future)
    subject = clause.subject.english
    if not clause.subject.korean:  # a listener whom Korean does not name: the predicate implies you
        subject = [("you", korean[-1][1])]
        yours = clause.subject.concept
        predicate.complement = [(t, korean[-1][1] if c == yours else c) for t, c in predicate.complement]
    tail = [*clause.frequency, *rest, *predicate.complement, *predicate.after, *clause.english_time]
    lead = [wh_word] if wh_word else []
    return Sentence(korean, [*lead, *operator, *subject, *tail], "?")


def wh_question(draw: Draw, words: int) -> Sentence:
    """무엇을 샀어요 ?, What did you buy ? 누가, 누구를, 언제, 왜 and 어디에 likewise."""
    tense: Tense = draw.pick(("past", "past", "future"))
    concept = draw.concept()
    subject = _listener(draw) if draw.chance(0.5) else nominal.person(draw, 0, first=False)
    kind = draw.pick(("what", "whom", "where", "when", "why", "who"))
    if kind == "who":
        who = NounPhrase([("누구", concept)], [("who", concept)], gender="m", concept=concept)
        clause = verbal_clause(draw, words, tense == "past", tense, who)
        clause.negative, clause.korean_time, clause.english_time = False, [], []
        korean, roles = korean_clause(clause, draw, interrogative(draw.register), "이")
        return Sentence(korean, english_clause(clause, roles, clause.tense), "?")
    if kind in ("when", "why"):
        clause = verbal_clause(draw, words, tense == "past", tense, subject)
        clause.negative = False
        if kind == "when":
            clause.korean_time, clause.english_time = [], []
        clause.predicate.before.insert(0, ("언제" if kind == "when" else "왜", concept))
        return _interrogative_sentence(draw, clause, (kind, concept))
    verbs = {"what": lexicon.TRANSITIVE, "whom": lexicon.PERSON, "where": lexicon.MOTION}[kind]
    verb = draw.pick(verbs)
    while verb.state or verb.stem.text == "하" or (kind == "where" and verb.preposition != "to"):
        verb = draw.pick(verbs)
    predicate = verb_predicate(draw, verb)
    korean_word, english_word = {"what": ("무엇", "what"), "whom": ("누구", "who"), "where": ("어디", "where")}[kind]
    wh_phrase = NounPhrase([(korean_word, concept)], [(english_word, concept)], concept=concept)
    predicate.arguments = marked(wh_phrase, verb.case)
    clause = Clause(subject, predicate, tense)
    return _interrogative_sentence(draw, clause, (english_word, concept))


def request(draw: Draw, words: int) -> Sentence:
    """문을 닫으세요, Please close the door; 가자, Let's go; 울지 마세요, Please do not cry."""
    listener = NounPhrase([], [("you", 0)], 2)
    predicate = action(draw, listener, words - 3, False, willed=True, dynamic=True)
    verb, kind = predicate.concept, draw.pick(("do", "do", "let", "not"))
    if predicate.forms.base == "come" and kind == "let":  # one who is asked along does not come
        kind = "do"
    stem = predicate.stem
    honoured = predicate.honorific or hangul.honorific(stem)
    lead = [(text, verb) for text in predicate.lead]
    tail: list[Word]
    polite = [] if draw.register == "plain" else [("please", verb)]
    if kind == "let":
        shown = conjugate(stem, "자" if draw.register == "plain" else "읍시다")
        tail, opening = [(shown, verb)], [("let's", verb)]
        ours = {"your": "our"}
    elif kind == "not":
        denial = draw.concept()
        stop = {"plain": "마라", "polite": "마세요", "formal": "마십시오"}[draw.register]
        tail, ours = [(conjugate(stem, "지"), verb), (stop, denial)], {}
        opening = [*((text, denial) for text, _ in polite), ("do", denial), ("not", denial)]
        without_manner(predicate)
    else:
        shown = _command(draw, stem, honoured)
        tail, opening, ours = [(shown, verb)], polite, {}
    korean = [*predicate.before, *predicate.arguments, *predicate.manner, *lead, *tail]
    forms = predicate.forms
    verbal = [(text, verb) for text in (forms.base, *forms.after)]
    english = [*opening, *verbal, *predicate.complement, *predicate.after]
    return Sentence(korean, [(ours.get(text, text), concept or verb) for text, concept in english])


def _command(draw: Draw, stem: Stem, honoured: Stem) -> str:
    if draw.register == "plain":
        return conjugate(stem, "아라")
    return conjugate(honoured, "아요" if draw.register == "polite" else "읍시오")
