"""English morphology for the `phrases` grammar: plurals, verb forms, a or an."""

from functools import cache
from typing import NamedTuple

# past and participle; one word when they are the same
IRREGULAR = {
    words[0]: (words[1], words[-1])
    for words in (
        row.split()
        for row in """
be was been/become became become/begin began begun/bite bit bitten/blow blew blown/break broke broken
bring brought/build built/burn burned/buy bought/catch caught/choose chose chosen/come came come/cost cost
cut cut/do did done/draw drew drawn/drink drank drunk/drive drove driven/eat ate eaten/fall fell fallen/feed fed
feel felt/fight fought/find found/fly flew flown/forget forgot forgotten/freeze froze frozen/get got gotten
give gave given/go went gone/grow grew grown/hang hung/have had/hear heard/hide hid hidden/hit hit/hold held
hurt hurt/keep kept/know knew known/lead led/leave left/lend lent/let let/lose lost/make made/meet met/pay paid
put put/quit quit/read read/ride rode ridden/ring rang rung/rise rose risen/run ran run/say said/see saw seen
sell sold/send sent/set set/sew sewed sewn/shake shook shaken/show showed shown/shine shone/sing sang sung
sink sank sunk/sit sat/sleep slept/speak spoke spoken/spend spent/stand stood/steal stole stolen/sweep swept
swim swam swum/take took taken/teach taught/tear tore torn/tell told/think thought/throw threw thrown
understand understood/misunderstand misunderstood/forgive forgave forgiven/wake woke woken/wear wore worn
weave wove woven/win won/write wrote written
""".replace("\n", "/").split("/")
        if row
    )
}
_PHRASAL = {"lie down": ("lay", "lain")}
PLURALS = {
    "man": "men", "woman": "women", "child": "children", "person": "people", "mouse": "mice", "foot": "feet",
    "tooth": "teeth", "goose": "geese", "sheep": "sheep", "fish": "fish", "deer": "deer", "knife": "knives",
    "wife": "wives", "leaf": "leaves", "wolf": "wolves", "shelf": "shelves", "scarf": "scarves", "thief": "thieves",
    "loaf": "loaves", "piano": "pianos", "photo": "photos", "radio": "radios", "video": "videos",
    "kangaroo": "kangaroos", "zoo": "zoos", "studio": "studios", "avocado": "avocados", "squid": "squid",
    "series": "series", "salmon": "salmon", "shrimp": "shrimp", "cello": "cellos", "casino": "casinos",
    "kimono": "kimonos", "calf": "calves", "burrito": "burritos", "taco": "tacos", "espresso": "espressos",
}  # fmt: skip
_DOUBLING = {"begin", "forget", "prefer", "admit", "regret", "control", "permit", "submit", "quit"}
_CONSONANT_SOUND = ("uni", "use", "usu", "euro", "one", "once", "ukulele", "ufo", "uku", "uti")
_SILENT_H = ("hour", "honest", "honor", "heir")


class VerbForms(NamedTuple):
    """The five forms of an English verb, and the words that stay behind it (wake *up*, wait *for*)."""

    base: str
    third: str
    past: str
    participle: str
    gerund: str
    after: tuple[str, ...] = ()


def _doubles(base: str) -> bool:
    """Whether the last consonant doubles before a vowel: stop, plan, forget; not visit, fix, play, cook."""
    if base in _DOUBLING:
        return True
    vowels = [letter for letter in base if letter in "aeiou"]
    return len(vowels) == 1 and len(base) > 2 and base[-1] not in "aeiouwxy" and base[-2] in "aeiou"


def third(base: str) -> str:
    """he ...: goes, studies, watches, plays."""
    if base in ("be", "have"):
        return {"be": "is", "have": "has"}[base]
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2] not in "aeiou" else base + "s"


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in "aeiou":
        return base[:-1] + "ied"
    return base + (base[-1] if _doubles(base) else "") + "ed"


def _gerund(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")) and base != "be":
        return base[:-1] + "ing"
    return base + (base[-1] if _doubles(base) else "") + "ing"


@cache
def verb(phrase: str) -> VerbForms:
    """All forms of a verb or a phrasal verb: `wake up`."""
    base, *after = phrase.split()
    simple, participle = _PHRASAL.get(phrase) or IRREGULAR.get(base) or (_regular_past(base),) * 2
    return VerbForms(base, third(base), simple, participle, _gerund(base), tuple(after))


@cache
def plural(noun: str) -> str:
    """The plural of the last word of a noun: `bus stop` -> `bus stops`."""
    *first, last = noun.split()
    if last in PLURALS:
        last = PLURALS[last]
    elif last.endswith("man"):
        last = last[:-2] + "en"
    elif last.endswith("y") and last[-2] not in "aeiou":
        last = last[:-1] + "ies"
    elif last.endswith(("s", "sh", "ch", "x", "z")) or (last.endswith("o") and last[-2] not in "aeiou"):
        last += "es"
    else:
        last += "s"
    return " ".join([*first, last])


@cache
def article(following: str) -> str:
    """`a` or `an`, by the sound that follows."""
    word = following.lower()
    if word.startswith(_SILENT_H):
        return "an"
    return "an" if word[0] in "aeiou" and not word.startswith(_CONSONANT_SOUND) else "a"


_COMPARATIVES = {"good": "better", "bad": "worse", "far": "farther"}


@cache
def comparative(adjective: str) -> tuple[str, ...]:
    """(bigger,), (prettier,), (more, expensive)."""
    if adjective in _COMPARATIVES:
        return (_COMPARATIVES[adjective],)
    syllables = len(
        [i for i, c in enumerate(adjective) if c in "aeiouy" and (i == 0 or adjective[i - 1] not in "aeiouy")]
    )
    syllables -= adjective.endswith("e") and syllables > 1 and not adjective.endswith("le")
    if syllables > 2 or (syllables == 2 and not adjective.endswith(("y", "le", "ow", "er"))):
        return "more", adjective
    if adjective.endswith("y"):
        return (adjective[:-1] + "ier",) if adjective[-2] not in "aeiou" else (adjective + "er",)
    if adjective.endswith("e"):
        return (adjective + "r",)
    return (adjective + (adjective[-1] if _doubles(adjective) else "") + "er",)
