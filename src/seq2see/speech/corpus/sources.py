"""Recordings with their texts: where a voice learns from.

    builtin:espeak       English and Korean, said by espeak-ng in known styles; builtin:espeak-en, -ko for one alone
    builtin:espeak,count=400,seed=2     the same, fewer or other utterances
    builtin:asterisk     Debian's asterisk-core-sounds-en-wav: one speaker, 8 kHz
    LJSpeech-1.1/        a folder with metadata.csv (`name|text|text as it is read`) and wavs/name.wav
    recordings.tsv       lines of `recording<TAB>text`; paths start from the folder of the file

What is tested is held out by a hash of the text, so no text is on both sides and a grown corpus keeps its test set.
Labels (voice, pitch, speed, ...) are known of the teacher's utterances only. They are for measuring: nothing that
trains may look at them, but for the number of words that orders a curriculum.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from seq2see.atomic import write_file
from seq2see.caching import cache_folder
from seq2see.corpora import read_settings
from seq2see.errors import ConfigError, DataError, RunError, nearest
from seq2see.formats.reading.lines import at_most, read_lines
from seq2see.speech import audio
from seq2see.speech.corpus import teacher
from seq2see.speech.corpus.espeak import Language

Say = Callable[[str], None]
Advance = Callable[[int, int], None]
"""Told how many utterances of how many are rendered."""

METADATA = "metadata.csv"
_BUILTIN = "builtin:"
_LANGUAGES: dict[str, tuple[Language, ...]] = {"espeak": ("en", "ko"), "espeak-en": ("en",), "espeak-ko": ("ko",)}
MOST_UTTERANCES = 1_000_000  # of a corpus: the list of them is held
_HELD_OUT = 20  # one text of so many
_SOUNDS = Path("/usr/share/asterisk/sounds/en_US_f_Allison")
_TRANSCRIPTS = Path("/usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz")


class Utterance(NamedTuple):
    """A recording, what is said in it, and what is known of how it is said ({} where nothing is)."""

    audio: Path
    text: str
    name: str
    labels: Mapping[str, str | float]


def _quiet(message: str) -> None:
    """Nobody is listening."""


def read_corpus(
    name: str,
    *,
    cache: Path | None = None,
    say: Say = _quiet,
    progress: Advance | None = None,
    encoding: str | None = None,
) -> tuple[list[Utterance], list[Utterance]]:
    """(to train on, held out). `say` hears one line at a time; `progress` is for a bar while utterances are made."""
    if name.startswith(_BUILTIN):
        return _builtin(name.removeprefix(_BUILTIN), cache, say, progress)
    path = Path(name)
    if path.is_dir():
        utterances = list(at_most(MOST_UTTERANCES, _ljspeech(path, encoding), "recordings", path))
    elif path.is_file():
        utterances = list(at_most(MOST_UTTERANCES, _tsv(path, encoding), "recordings", path))
    else:
        raise DataError("no such corpus; give an LJSpeech folder, a TSV of recordings, or builtin:espeak", path=path)
    return _split_and_report(utterances, path, say)


def references(test: Sequence[Utterance]) -> list[Utterance]:
    """For each held-out utterance one of another text in the same style, to take the style from.

    The teacher has said one for each. Of other corpora nothing is known but the speaker: the next one in turn serves.
    """
    if test and all(utterance.labels for utterance in test):
        folder = test[0].audio.parent
        known = {planned.name: planned for planned in teacher.read_plan(folder)}
        names = [utterance.name.replace("test-", "reference-") for utterance in test]
        missing = [name for name in names if name not in known]
        if missing:
            raise DataError(f"no reference for {missing[0]}; references belong to held-out utterances", path=folder)
        return [_made(folder, known[name]) for name in names]
    if len({utterance.text for utterance in test}) < 2:
        raise DataError("a reference is an utterance of another text, and there are not two texts")
    return _next_of_another_text(test)


def _next_of_another_text(test: Sequence[Utterance]) -> list[Utterance]:
    """For each utterance the next one of another text; behind the last comes the first."""
    other = next(utterance for utterance in test if utterance.text != test[-1].text)
    others = [other]
    for utterance, following in zip(reversed(test[:-1]), reversed(test[1:]), strict=True):
        other = following if following.text != utterance.text else other
        others.append(other)
    return others[::-1]


def _builtin(
    name: str, cache: Path | None, say: Say, progress: Advance | None
) -> tuple[list[Utterance], list[Utterance]]:
    kind, wanted = read_settings(name)
    known = (*_LANGUAGES, "asterisk")
    if kind not in known:
        raise ConfigError(f"there is no built-in corpus of speech '{kind}'{nearest(kind, known)}")
    if kind == "asterisk":
        if wanted:
            raise ConfigError(f"{_BUILTIN}asterisk has no settings, but '{name}' was given")
        return _asterisk(cache, say)
    if wanted.get("count", teacher.FEWEST) < teacher.FEWEST:
        raise ConfigError(f"count={wanted['count']} is too few to train and test on; take {teacher.FEWEST} or more")
    default = teacher.TeacherSettings
    plan = teacher.plan(default(_LANGUAGES[kind], wanted.get("count", default.count), wanted.get("seed", default.seed)))
    folder = (cache or cache_folder()) / f"espeak-{teacher.fingerprint(plan)}"
    teacher.render(plan, folder, say, progress)
    made = [_made(folder, planned) for planned in plan]
    return (
        [utterance for utterance in made if utterance.name.startswith("train-")],
        [utterance for utterance in made if utterance.name.startswith("test-")],
    )


def _made(folder: Path, planned: teacher.Planned) -> Utterance:
    return Utterance(folder / f"{planned.name}.wav", planned.text, planned.name, planned.labels())


def _split_and_report(utterances: list[Utterance], path: Path, say: Say) -> tuple[list[Utterance], list[Utterance]]:
    """Splits, and says how many there are and at which rate they were recorded."""
    train, held_out = _split(utterances, path)
    rate = audio.rate_of(utterances[0].audio)
    say(
        f"{path}: {len(train):,} utterances to train on, {len(held_out):,} held out; recorded at {rate:,} Hz"
        f" (nothing above {rate // 2:,} Hz is in them)"
    )
    return train, held_out


def _split(utterances: Sequence[Utterance], path: Path) -> tuple[list[Utterance], list[Utterance]]:
    texts = {utterance.text for utterance in utterances}
    if len(texts) < 2:
        raise DataError(f"has {len(texts)} texts; at least two are needed, one to train on and one to test", path=path)
    hashes = {text: hash_of(text) for text in texts}
    chosen = {text for text in texts if hashes[text] % _HELD_OUT == 0}
    if not chosen or chosen == texts:
        chosen = {min(texts, key=hashes.__getitem__)}
    return (
        [utterance for utterance in utterances if utterance.text not in chosen],
        [utterance for utterance in utterances if utterance.text in chosen],
    )


def hash_of(text: str) -> int:
    """The same on every machine."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big")


def _tsv(path: Path, encoding: str | None = None) -> Iterator[Utterance]:
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if not line.strip():
            continue
        name, tab, text = line.partition("\t")
        if not tab or not text.strip():
            raise DataError("expected `recording<TAB>text`", path=path, line=number)
        recording = path.parent / name.strip()
        if not _is_recording(recording):
            raise DataError(f"there is no recording {recording}", path=path, line=number)
        yield Utterance(recording, text.strip(), "/".join(recording.with_suffix("").parts[-2:]), {})


def _ljspeech(folder: Path, encoding: str | None = None) -> Iterator[Utterance]:
    path = folder / METADATA
    if not path.is_file():
        raise DataError(f"has no {METADATA}; an LJSpeech folder has it beside wavs/", path=folder)
    for number, line in enumerate(read_lines(path, encoding), start=1):
        if not line.strip():
            continue
        name, *texts = (part.strip() for part in line.split("|"))
        read = [text for text in texts if text]  # the last one spells out numbers and abbreviations
        if not name or not read:
            raise DataError("expected `name|text` or `name|text|text as it is read`", path=path, line=number)
        recording = folder / "wavs" / f"{name}.wav"
        if not _is_recording(recording):
            raise DataError(f"there is no recording {recording}", path=path, line=number)
        yield Utterance(recording, read[-1], name, {})


def _is_recording(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no file can have, or a folder that may not be looked into
        return False


def _asterisk(cache: Path | None, say: Say) -> tuple[list[Utterance], list[Utterance]]:
    folder = cache or cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{folder}: cannot be made ({error.strerror or error})") from None
    out = folder / "asterisk.tsv"
    asterisk_tsv(_SOUNDS, out)
    return _split_and_report(list(_tsv(out)), out, say)


def asterisk_tsv(folder: Path, out: Path, transcripts: Path = _TRANSCRIPTS) -> int:
    """Writes `recording<TAB>text` for Debian's asterisk-core-sounds-en-wav; says how many lines it wrote.

    Beeps, silence and prompts with signs that are read in no one way (`#`, `+`, addresses) are left out.
    """
    if not folder.is_dir() or not transcripts.is_file():
        missing = transcripts if folder.is_dir() else folder
        raise DataError("not found: apt-get install asterisk-core-sounds-en-wav asterisk-core-sounds-en", path=missing)
    lines = []
    for line in read_lines(transcripts):
        name, colon, text = line.partition(": ")
        recording = folder / f"{name}.wav"
        if line.startswith(";") or not colon or not recording.is_file():
            continue
        spoken = _spoken(text)
        if spoken is not None:
            lines.append(f"{recording}\t{spoken}\n")
    write_file(out, "".join(lines).encode())
    return len(lines)


_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def _spoken(text: str) -> str | None:
    """A prompt as it is read, or None if one cannot tell from its letters."""
    spelled = re.sub(r"(?<!\d)\d(?!\d)", lambda match: _DIGITS[int(match.group())], text)
    plain = re.sub(r"\s+", " ", re.sub(r"[\"“”]", "", spelled)).strip()
    return plain if re.fullmatch(r"[A-Za-z ,.?!'’;:-]*[A-Za-z][A-Za-z ,.?!'’;:-]*", plain) else None
