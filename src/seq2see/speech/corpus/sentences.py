"""What the teacher says: short utterances and sentences of up to ten words, from a small grammar in two languages.

    short      two or three words out of 32        small birds sing            우리 강아지가 자요
    sentence   four to ten words out of 66 or 64   my sisters and the old farmers often wait near the station

The words are few, so that a recogniser can be told them all; the ways to put them together are many, so that texts
for testing can be kept out of training. Each step takes a `choose` that picks one of several, and nothing else random.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Literal

from seq2see.speech.corpus.espeak import Language

LONGEST = 10  # words
Kind = Literal["short", "sentence"]
Choose = Callable[[Sequence[str]], str]
Maybe = Callable[[float], bool]

_EN_SHORT = {
    "whose": ("the", "my", "your", "our", "some"),
    "how": ("small", "old", "happy", "quiet", "clever", "tired", "brave", "hungry"),
    "who": ("birds", "children", "horses", "teachers", "sisters", "farmers", "doctors", "dogs", "students"),
    "does": ("sing", "sleep", "wait", "travel", "laugh", "return"),
    "in what way": ("slowly", "often", "together", "again"),
}
_EN_MORE = {
    "handles": ("carry", "find", "paint", "buy", "count"),
    "thing": ("apples", "flowers", "boxes", "chairs", "books", "letters"),
    "what kind": ("red", "yellow", "heavy", "new"),
    "where": ("in", "near", "behind", "beside"),
    "place": ("garden", "river", "market", "school", "house", "station"),
    "what place": ("green", "big", "white"),
    "time": ("morning", "evening", "day", "winter"),
    "words": ("and", "every"),
}
_KO_SHORT = {
    "whose": ("우리", "이", "그", "저", "어떤"),
    "how": ("작은", "착한", "젊은", "조용한", "배고픈", "똑똑한", "용감한", "피곤한"),
    "who": ("새가", "아이가", "말이", "선생님이", "누나가", "농부가", "의사가", "강아지가", "학생이"),
    "does": ("노래해요", "자요", "기다려요", "떠나요", "웃어요", "돌아와요"),
    "in what way": ("천천히", "자주", "함께", "다시"),
}
_KO_MORE = {
    "with whom": ("친구와", "동생과", "이웃과", "할머니와"),
    "handles": ("옮겨요", "찾아요", "그려요", "사요", "세어요"),
    "thing": ("사과를", "꽃을", "상자를", "의자를", "책을", "편지를"),
    "what kind": ("빨간", "노란", "무거운", "새로운"),
    "place": ("정원에서", "강가에서", "시장에서", "학교에서", "집에서", "역에서"),
    "what place": ("푸른", "큰", "하얀"),
    "time": ("매일", "아침마다", "저녁마다", "겨울마다"),
}


def words(language: Language, kind: Kind = "sentence") -> tuple[str, ...]:
    """Every word that can be said in a language, in short utterances or in all."""
    short, more = (_EN_SHORT, _EN_MORE) if language == "en" else (_KO_SHORT, _KO_MORE)
    lists = [*short.values(), *(more.values() if kind == "sentence" else ())]
    return tuple(word for group in lists for word in group)


def text(language: Language, kind: Kind, random: Random) -> str:
    """One text; the same random state gives the same text."""
    if kind == "short":
        return _short(language, random)
    make = _english if language == "en" else _korean
    while True:
        words = make(lambda group: random.choice(group), lambda share: random.random() < share)
        if 4 <= len(words) <= LONGEST:
            return " ".join(words)


def _short(language: Language, random: Random) -> str:
    """A subject, a predicate or both: two or three of their parts."""
    verbs_last = ("in what way", "does") if language == "ko" else ("does", "in what way")
    shapes = (
        ("whose", "how", "who"),
        ("how", "who", "does"),
        ("whose", "who", "does"),
        ("who", *verbs_last),
        ("how", "who"),
        ("who", "does"),
    )
    # As often as each shape has texts, so that the few of the two-word shapes do not crowd the rest.
    groups = _KO_SHORT if language == "ko" else _EN_SHORT
    sizes = [_product([len(groups[part]) for part in shape]) for shape in shapes]
    shape = random.choices(shapes, sizes)[0]
    return " ".join(random.choice(groups[part]) for part in shape)


def _product(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def _english(choose: Choose, maybe: Maybe) -> list[str]:
    """the (old) farmers (and my sisters) (often) sing | buy (red) apples (near the (big) river) (every evening)."""
    words = _people(choose, maybe, _EN_SHORT["who"])
    if maybe(0.3):
        others = [who for who in _EN_SHORT["who"] if who != words[-1]]
        words += ["and", *_people(choose, maybe, others)]
    if maybe(0.5):
        words += [*(["often"] if maybe(0.3) else []), choose(_EN_SHORT["does"])]
        words += [choose(("slowly", "together", "again"))] if maybe(0.3) else []
    else:
        words += [choose(_EN_MORE["handles"]), *([choose(_EN_MORE["what kind"])] if maybe(0.6) else [])]
        words.append(choose(_EN_MORE["thing"]))
    if maybe(0.7):
        words += [choose(_EN_MORE["where"]), choose(("the", "our", "your"))]
        words += [*([choose(_EN_MORE["what place"])] if maybe(0.4) else []), choose(_EN_MORE["place"])]
    if maybe(0.5):
        words += ["every", choose(_EN_MORE["time"])]
    return words


def _people(choose: Choose, maybe: Maybe, who: Sequence[str]) -> list[str]:
    how = [choose(_EN_SHORT["how"])] if maybe(0.5) else []
    return [choose(_EN_SHORT["whose"]), *how, choose(who)]


def _korean(choose: Choose, maybe: Maybe) -> list[str]:
    """(우리) (착한) 농부가 (매일) (이웃과) ((큰) 시장에서) (자주) 노래해요 | (빨간) 사과를 사요."""
    words = [choose(_KO_SHORT["whose"])] if maybe(0.6) else []
    words += [choose(_KO_SHORT["how"])] if maybe(0.6) else []
    words.append(choose(_KO_SHORT["who"]))
    words += [choose(_KO_MORE["time"])] if maybe(0.6) else []
    if maybe(0.7):
        words += [*([choose(_KO_MORE["what place"])] if maybe(0.5) else []), choose(_KO_MORE["place"])]
    words += [choose(_KO_MORE["with whom"])] if maybe(0.4) else []
    words += [choose(_KO_SHORT["in what way"])] if maybe(0.4) else []
    if maybe(0.5):
        return [*words, choose(_KO_SHORT["does"])]
    kind = [choose(_KO_MORE["what kind"])] if maybe(0.7) else []
    return [*words, *kind, choose(_KO_MORE["thing"]), choose(_KO_MORE["handles"])]
