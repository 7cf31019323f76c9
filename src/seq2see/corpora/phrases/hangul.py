"""Korean morphology, computed: syllables, particles that depend on the final consonant, and conjugation.

A Hangul syllable is one code point that encodes initial, vowel and final consonant, so every rule of the
school grammar is arithmetic on the last syllable of a stem. An ending is written the way grammars cite it,
in its fullest shape, and its first letter says which of three bases it wants:

    아…   the infinitive      아요 아서 아야 아라 았      가 -> 가요, 먹 -> 먹어요, 춥 -> 추워요
    으…   the vowel base      으면 으려고 으시 은 을 읍니다 먹 -> 먹으면, 가 -> 가면, 듣 -> 들으면
    else  the bare stem       고 지만 기 는 습니다 는다     먹 -> 먹고, 살 -> 사는, 가 -> 간다

Regular contraction, ㅡ dropping and ㄹ dropping follow from the sound; the irregular classes are a property of
the word (`Stem.kind`), because 입다 (wear) and 춥다 (be cold) look alike and conjugate differently.
"""

from functools import cache
from typing import Literal, NamedTuple

INITIALS = "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ"
VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
FINALS = " ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ"

PARTICLES = {
    "은": ("은", "는"),
    "이": ("이", "가"),
    "을": ("을", "를"),
    "과": ("과", "와"),
    "으로": ("으로", "로"),
    "이나": ("이나", "나"),
    "이랑": ("이랑", "랑"),
    "이라는": ("이라는", "라는"),
}
# How a digit is read decides its particle: 3(삼)은, 2(이)는.
_DIGIT_FINALS = dict(zip("0123456789", "ㅇㄹ ㅁ  ㄱㄹㄹ ", strict=True))

Kind = Literal["regular", "ㅂ", "ㄷ", "ㅅ", "르", "러", "ㅎ", "우", "하", "past", "시", "copula", "아니"]
Class = Literal["verb", "adjective", "existence"]


class Stem(NamedTuple):
    """What endings attach to: the word without 다, its irregular class and its part of speech."""

    text: str
    kind: Kind = "regular"
    part: Class = "verb"


def split(syllable: str) -> tuple[str, str, str]:
    """`한` -> (`ㅎ`, `ㅏ`, `ㄴ`); an open syllable has a space as its final."""
    code = ord(syllable) - 0xAC00
    if not 0 <= code < 11172:
        raise ValueError(f"{syllable!r} is not a Hangul syllable")
    return INITIALS[code // 588], VOWELS[code % 588 // 28], FINALS[code % 28]


def join(initial: str, vowel: str, final: str = " ") -> str:
    """The syllable of three letters."""
    return chr(0xAC00 + INITIALS.index(initial) * 588 + VOWELS.index(vowel) * 28 + FINALS.index(final))


def final_consonant(word: str) -> str:
    """The final consonant of the last syllable, a space when it ends in a vowel."""
    last = word[-1]
    return _DIGIT_FINALS[last] if last in _DIGIT_FINALS else split(last)[2]


@cache
def attach(word: str, particle: str) -> str:
    """The word with its particle, in the shape its sound asks for: 책을 but 사과를, 집으로 but 길로."""
    if particle not in PARTICLES:
        return word + particle
    closed, opened = PARTICLES[particle]
    final = final_consonant(word)
    takes_open = final == " " or (particle == "으로" and final == "ㄹ")
    return word + (opened if takes_open else closed)


def stem(citation: str, part: Class = "verb") -> Stem:
    """The stem of a dictionary form; an irregular class follows a colon: `춥다:ㅂ`."""
    word, _, kind = citation.partition(":")
    text = word.removesuffix("다")
    if kind:
        return Stem(text, _kind(kind), part)
    return Stem(text, "하" if text.endswith("하") else "regular", part)


def _kind(name: str) -> Kind:
    match name:
        case "ㅂ" | "ㄷ" | "ㅅ" | "르" | "러" | "ㅎ" | "우":
            return name
    raise ValueError(f"unknown irregular class {name!r}")


def copula(noun: str) -> Stem:
    """`이다` on a noun, ready to conjugate: 학생이에요, 의사예요."""
    return Stem(noun + "이", "copula", "adjective")


def _with_final(text: str, consonant: str) -> str:
    initial, vowel, _ = split(text[-1])
    return text[:-1] + join(initial, vowel, consonant)


def _with_vowel(text: str, vowel: str) -> str:
    return text[:-1] + join(split(text[-1])[0], vowel)


def _harmony(vowel: str) -> str:
    return "아" if vowel in "ㅏㅑㅗ" else "어"


_CONTRACTED = {
    "ㅏ": "ㅏ",
    "ㅓ": "ㅓ",
    "ㅐ": "ㅐ",
    "ㅔ": "ㅔ",
    "ㅕ": "ㅕ",
    "ㅗ": "ㅘ",
    "ㅜ": "ㅝ",
    "ㅣ": "ㅕ",
    "ㅚ": "ㅙ",
}


@cache
def infinitive(stem: Stem) -> str:
    """The 아/어 form, to which 요, 서, 야 and the past ㅆ attach: 가, 먹어, 추워, 들어, 불러, 해."""
    text = stem.text
    _, vowel, final = split(text[-1])
    match stem.kind:
        case "하":
            return text[:-1] + "해"
        case "past":
            return text + "어"
        case "ㅂ":
            return _with_final(text, " ") + ("와" if text in ("돕", "곱") else "워")
        case "ㄷ":
            return _with_final(text, "ㄹ") + _harmony(vowel)
        case "ㅅ":
            return _with_final(text, " ") + _harmony(vowel)
        case "르":
            before = text[:-1]
            return _with_final(before, "ㄹ") + ("라" if _harmony(split(before[-1])[1]) == "아" else "러")
        case "러":
            return text + "러"
        case "우":
            return _with_vowel(text, "ㅓ")
        case "ㅎ":
            pronominal = text[-2:] in ("이렇", "그렇", "저렇", "어떻")
            bright = {"ㅏ": "ㅐ", "ㅑ": "ㅒ", "ㅓ": "ㅐ" if pronominal else "ㅔ", "ㅕ": "ㅖ"}
            return _with_vowel(text, bright[vowel])
        case "copula":
            return text + "어" if final_consonant(text[:-1]) != " " else text[:-1] + "여"
        case "아니":
            return text + "어"
    if final != " ":
        return text + _harmony(vowel)
    if vowel == "ㅡ":
        before_vowel = split(text[-2])[1] if len(text) > 1 else "ㅡ"
        return _with_vowel(text, "ㅏ" if before_vowel in "ㅏㅗ" else "ㅓ")
    if vowel in _CONTRACTED:
        return _with_vowel(text, _CONTRACTED[vowel])
    return text + "어"


@cache
def vowel_base(stem: Stem) -> str:
    """The base of 으-endings, 으 included where the sound needs it: 먹으, 가, 추우, 들으, 지으, 빨가, 살."""
    text = stem.text
    final = split(text[-1])[2]
    match stem.kind:
        case "ㅂ":
            return _with_final(text, " ") + "우"
        case "ㄷ":
            return _with_final(text, "ㄹ") + "으"
        case "ㅅ":
            return _with_final(text, " ") + "으"
        case "ㅎ":
            return _with_final(text, " ")
    return text if final in " ㄹ" else text + "으"


def _drop_rieul(text: str) -> str:
    return _with_final(text, " ") if split(text[-1])[2] == "ㄹ" else text


@cache
def conjugate(stem: Stem, ending: str) -> str:
    """The stem with an ending given in its full shape (see the module docstring): (춥, ㅂ), `으면` -> 추우면."""
    if stem.kind in ("copula", "아니") and (special := _copular(stem, ending)):
        return special
    if ending[0] in "아았":
        return _on_infinitive(stem, ending)
    if ending[0] in "으은을읍":
        return _on_vowel_base(stem, ending)
    text, final = stem.text, split(stem.text[-1])[2]
    if ending.startswith("습"):
        return text + ending if final not in " ㄹ" else _with_final(text, "ㅂ") + ending[1:]
    if ending.startswith("는다"):
        return text + ending if final not in " ㄹ" else _with_final(text, "ㄴ") + ending[1:]
    if ending[0] in "는니네" and stem.kind != "past":
        return _drop_rieul(text) + ending
    return text + ending


def _on_infinitive(stem: Stem, ending: str) -> str:
    base = infinitive(stem)
    if ending[0] == "았":
        return _with_final(base, "ㅆ") + ending[1:]
    if stem.kind == "시" and ending == "아요":
        return stem.text[:-1] + "세요"
    return base + ending[1:]


def _on_vowel_base(stem: Stem, ending: str) -> str:
    base, rest = vowel_base(stem), ending[1:]
    consonant = split(ending[0])[2]
    if consonant != " ":
        return _with_final(base, consonant) + rest
    return (_drop_rieul(base) if rest[0] in "니시오" else base) + rest


def _copular(stem: Stem, ending: str) -> str | None:
    """The endings where 이다 and 아니다 go their own way; None for those that are regular."""
    if stem.kind == "아니":
        return {"아요": "아니에요", "아서": "아니라서", "다고": "아니라고"}.get(ending)
    noun = stem.text[:-1]
    opened = final_consonant(noun) == " "
    match ending:
        case "아요":
            return noun + ("예요" if opened else "이에요")
        case "다":
            return noun + ("다" if opened else "이다")
        case "아서":
            return noun + ("라서" if opened else "이라서")
        case "다고":
            return noun + ("라고" if opened else "이라고")
    return None


@cache
def past(stem: Stem) -> Stem:
    """The past stem: 갔, 먹었, 추웠, 했, 학생이었, 의사였."""
    return Stem(conjugate(stem, "았"), "past", stem.part)


@cache
def honorific(stem: Stem) -> Stem:
    """The stem that honours its subject: 가시, 읽으시, 들으시, 사시."""
    return Stem(conjugate(stem, "으시"), "시", stem.part)


def plain(stem: Stem) -> str:
    """The plain present, the form that stands in dictionaries and before -고 of quotation: 간다, 먹는다, 춥다."""
    return conjugate(stem, "는다" if stem.part == "verb" and stem.kind != "past" else "다")


@cache
def quoted(stem: Stem) -> str:
    """The form before verbs of saying and thinking: 간다고, 춥다고, 갔다고, 학생이라고."""
    if stem.kind in ("copula", "아니"):
        return conjugate(stem, "다고")
    return plain(stem) + "고"


@cache
def adnominal(stem: Stem, tense: Literal["present", "past", "future"]) -> str:
    """The form before a noun: 가는 간 갈, 추운 춥던 추울, 있는 있던 있을."""
    if tense == "future":
        return conjugate(stem, "을")
    if tense == "past":
        return conjugate(stem, "은" if stem.part == "verb" else "던")
    return conjugate(stem, "은" if stem.part == "adjective" else "는")


@cache
def indirect_interrogative(stem: Stem) -> str:
    """The form of an indirect question: 가는지, 추운지, 갔는지, 의사인지."""
    return conjugate(stem, "은지" if stem.part == "adjective" and stem.kind != "past" else "는지")
