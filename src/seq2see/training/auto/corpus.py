"""Before vocabularies are learned: the family, how each side is cut into pieces, and which pairs there are."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from seq2see.data.profile import COUNTED, Profile, SideProfile
from seq2see.errors import ConfigError
from seq2see.models import configure
from seq2see.training.auto.choice import FEW, SMALL_CORPUS, SettingChoice, described

_FAMILIES = ("convs2s", "transformer", "rnnsearch", "luong", "bytenet", "rnn")  # where nobody knows better
_LONGEST = 1024  # pieces of a line
_PIECES = (1000, 2000, 4000, 8000, 16_000, 32_000)
_FIXED = 260  # pieces that every vocabulary of subwords has: bytes and marks
_JAMO = 67
_ROOM = 1.25  # more letters than the lines that were counted have
_MUCH_COPIED = 0.6  # of the characters of a target stand in its source as one run
_SHARED_ALPHABET = 0.6
_TAGS = 0.3  # share of a side's words that stand in many lines, such as `V;PST`


def choose_family(profile: Profile, among: Sequence[str] = _FAMILIES) -> SettingChoice:
    """among   those that have the model settings that a person gave, best first; all of them if there are none"""
    family = "rnnsearch" if profile.spelled or profile.pairs < FEW else "convs2s"
    few = "only " if not profile.spelled and profile.pairs < FEW else ""
    reason = f"{few}{described(profile)}"
    if family not in among:
        family, reason = among[0], "it has the settings that were given"
    return SettingChoice("model", {"model.family": family}, f"{family}: {reason}")


def fitting_families(settings: Mapping[str, Any]) -> list[str]:
    """The families that have these model settings, the best of them first; none if there is no such family."""
    wanted = {name: value for name, value in settings.items() if name not in ("family", "size")}
    return [family for family in _FAMILIES if _fits(family, str(settings.get("size", "small")), wanted)]


def _fits(family: str, size: str, settings: Mapping[str, Any]) -> bool:
    try:
        configure(family, size, source_vocabulary=4, target_vocabulary=4, settings=settings)
    except ConfigError:
        return False
    return True


class SidePieces(NamedTuple):
    """How one side is cut."""

    settings: dict[str, Any]
    text: str


def choose_pieces(profile: Profile, *, shared: bool | None = None, scheme: str | None = None) -> SettingChoice:
    """Each side by itself; one shared vocabulary where both sides are written in the same letters.

    shared, scheme   what a person wants
    """
    if shared is None:
        shared = scheme in (None, "bpe", "unigram") and _shares_vocabulary(profile)
    source = _pieces(profile.source, profile, scheme)
    target = _pieces(profile.target, profile, scheme)
    if shared:
        both = _pieces(_together(profile), profile, scheme or (None if source == target else "bpe"))
        settings = {f"tokenizer.{name}": value for name, value in both.settings.items()}
        return SettingChoice(
            "pieces", settings | {"data.shared_vocabulary": True}, f"{both.text}, shared by both sides"
        )
    if source.settings == target.settings:
        settings = {f"tokenizer.{name}": value for name, value in source.settings.items()}
        return SettingChoice("pieces", settings, source.text)
    sides = (("source", source), ("target", target))
    settings = {f"tokenizer.{side}.{name}": value for side, cut in sides for name, value in cut.settings.items()}
    return SettingChoice("pieces", settings, f"source {source.text}; target {target.text}")


def _shares_vocabulary(profile: Profile) -> bool:
    both_sentences = profile.source.kind == profile.target.kind == "sentence"
    return both_sentences and profile.common_characters >= _SHARED_ALPHABET


def _together(profile: Profile) -> SideProfile:
    """Both sides as one, as far as their pieces go: they may have no character in common."""
    source, target = profile.source, profile.target
    return replace(
        target,
        word_tokens=source.word_tokens + target.word_tokens,
        alphabet=source.alphabet + target.alphabet,
        syllables=max(source.syllables, target.syllables),
        hangul=max(source.hangul, target.hangul),
    )


def _pieces(side: SideProfile, profile: Profile, scheme: str | None) -> SidePieces:
    jamo = side.hangul > 0
    in_jamo = " in jamo" if jamo else ""
    no_bytes = {"byte_fallback": False}
    if scheme in ("char", "word", "byte"):
        spelled = {"jamo": jamo} if scheme == "char" else {}
        return SidePieces({"scheme": scheme, **spelled}, f"{scheme} pieces{in_jamo if spelled else ''}")
    if side.kind == "closed" and scheme is None:
        text = f"{side.word_types:,} whole words, each seen often"
        return SidePieces({"scheme": "word", "min_frequency": 1, **no_bytes}, text)
    if side.kind == "string" and profile.spelled and scheme is None:
        if side.tags >= _TAGS:
            often = max(5, round(0.002 * profile.pairs))
            text = f"characters{in_jamo}, and whole words seen {often} times"
            return SidePieces({"scheme": "word", "min_frequency": often, "jamo": jamo, "byte_fallback": True}, text)
        return SidePieces({"scheme": "char", "jamo": jamo, **no_bytes}, f"characters{in_jamo}: short strings")
    scale = profile.pairs / max(1, min(profile.pairs, COUNTED))
    words = max(1, round(side.word_tokens * scale))
    count = _closest(_PIECES, 5 * math.sqrt(words))
    jamo = jamo and side.syllables > count / 4
    letters = side.alphabet - side.syllables + _JAMO if jamo else side.alphabet
    roomy = [size for size in _PIECES if size >= _ROOM * (letters + _FIXED)]  # each letter is a piece
    count = _closest(roomy or _PIECES[-1:], 5 * math.sqrt(words))
    text = f"{count:,} subwords{' in jamo' if jamo else ''} for {words:,} words"
    return SidePieces({"scheme": scheme or "bpe", "vocabulary": count, "jamo": jamo}, text)


def _closest(sizes: Sequence[int], wanted: float) -> int:
    return min(sizes, key=lambda size: abs(math.log(size / wanted)))


def choose_invented(profile: Profile, limit: int = SMALL_CORPUS) -> SettingChoice | None:
    """Copying is learned from invented stems where the pairs copy most of a word."""
    strings = profile.source.kind == profile.target.kind == "string"
    if not strings or profile.copied < _MUCH_COPIED or profile.pairs > limit:
        return None
    reason = f"{profile.pairs:,} with other stems: {profile.copied:.0%} of a target is copied from its source"
    return SettingChoice("invented pairs", {"data.invented": profile.pairs}, reason)


def choose_valid_pairs(profile: Profile) -> SettingChoice | None:
    """Translating is slow beside updates: 500 sentences tell enough."""
    if profile.spelled:
        return None
    return SettingChoice("validation pairs", {"data.valid_pairs": 500}, "500 at most")


def choose_held_out(profile: Profile) -> SettingChoice | None:
    """A small corpus gives a larger share: the best of twenty validations is not chosen by a handful of pairs."""
    wanted = min(500, max(profile.pairs // 20, min(50, profile.pairs // 10)))
    every = profile.pairs // max(1, wanted)
    if not wanted or every >= 50:  # the usual share is enough
        return None
    return SettingChoice("held out", {"data.held_out": every}, f"about {wanted:,} pairs for validation, one in {every}")


def choose_length(profile: Profile) -> SettingChoice | None:
    """Room for all but one pair in a hundred, where the usual 256 pieces are too few."""
    long = max(_long(profile.source), _long(profile.target))
    if long <= 256:
        return None
    most = min(_LONGEST, long)
    more = "" if most == long else "more than "
    reason = f"at most {most:,} pieces: {more}one line in a hundred is longer and left out"
    return SettingChoice("length", {"training.max_length": most}, reason)


def _long(side: SideProfile) -> int:
    """Pieces that one line in a hundred exceeds, as far as characters tell: a subword has some three of them."""
    return side.long if side.kind == "string" else math.ceil(side.long / 3)
