"""The built-in corpus of speech: which texts espeak-ng says in which style, and the folder with its recordings.

Everything follows from the settings: the same seed gives the same utterances, and a larger count continues the same
lists. Styles are independent of texts, so that a style cannot be told from the words.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from seq2see.atomic import write_file
from seq2see.errors import DataError, RunError
from seq2see.speech import audio
from seq2see.speech.corpus import espeak, sentences
from seq2see.speech.corpus.espeak import Language, Manner, Voice

RATE = 16_000
FEWEST = 20
_VOICES: tuple[tuple[Voice, float], ...] = (("plain", 0.45), ("f2", 0.40), ("whisper", 0.15))
_PITCHES, _SPEEDS = (50, 75, 99), (130, 175, 240)
_TENTHS = 10  # of all texts one tenth is never trained on
_MOST_TESTED = 300  # the grammar holds out about 140 short texts a language
_PLAN = "plan.jsonl"


@dataclass(frozen=True)
class TeacherSettings:
    """Which utterances: half are short, half are sentences; languages take turns."""

    languages: tuple[Language, ...] = ("en", "ko")
    count: int = 6_000
    seed: int = 0


class Planned(NamedTuple):
    """An utterance before it is said."""

    name: str
    text: str
    manner: Manner

    def labels(self) -> dict[str, str | float]:
        """What is known of it, for measuring."""
        return {**self.manner._asdict(), "words": len(self.text.split())}


def plan(settings: TeacherSettings) -> list[Planned]:
    """`count` utterances to train on, up to a twentieth as many to test, a reference of another text for each of these.

    Which texts are tested follows from a hash, whatever the seed, and no text is tested twice.
    """
    tested = min(_MOST_TESTED, max(8, settings.count // 20))
    train = list(_utterances("train", settings, settings.count, Random(f"train {settings.seed}")))
    test = list(_utterances("test", settings, tested, Random(f"test {settings.seed}"), once=True))
    return [*train, *test, *_references(test, Random(f"reference {settings.seed}"))]


def _utterances(
    split: str, settings: TeacherSettings, count: int, random: Random, *, once: bool = False
) -> Iterator[Planned]:
    """Languages and lengths in turn, so that every stretch of the list holds all of them."""
    seen: set[str] = set()
    for number in range(count):
        language = settings.languages[number % len(settings.languages)]
        kind: sentences.Kind = "short" if number // len(settings.languages) % 2 == 0 else "sentence"
        text = next(text for text in _texts(language, kind, split, random) if text not in seen)
        if once:
            seen.add(text)
        yield Planned(f"{split}-{number:05d}", text, _manner(language, random))


def _texts(language: Language, kind: sentences.Kind, split: str, random: Random) -> Iterator[str]:
    """Endless texts of one side of the split."""
    for _ in range(100_000):
        text = sentences.text(language, kind, random)
        held_out = blake2b(text.encode(), digest_size=8).digest()[0] % _TENTHS == 0
        if held_out == (split == "test"):
            yield text
    raise DataError("the grammar has no more texts to hold out; ask for a smaller count")


def _manner(language: Language, random: Random) -> Manner:
    names, shares = zip(*_VOICES, strict=True)
    return Manner(language, random.choices(names, shares)[0], random.choice(_PITCHES), random.choice(_SPEEDS))


def _references(test: Sequence[Planned], random: Random) -> Iterator[Planned]:
    """Another held-out text of the same language and style for each."""
    for planned in test:
        kind: sentences.Kind = "short" if len(planned.text.split()) <= 3 else "sentence"
        texts = _texts(planned.manner.language, kind, "test", random)
        text = next(text for text in texts if text != planned.text)
        yield Planned(planned.name.replace("test-", "reference-"), text, planned.manner)


def fingerprint(planned: Iterable[Planned]) -> str:
    """Of everything that decides what is heard: the utterances, the rate, and the version of espeak-ng."""
    lines = [json.dumps(utterance, ensure_ascii=False) for utterance in planned]
    return blake2b("\n".join([espeak.version(), str(RATE), *lines]).encode(), digest_size=6).hexdigest()


def render(
    planned: Sequence[Planned], folder: Path, say: Callable[[str], None], progress: Callable[[int, int], None] | None
) -> None:
    """The folder holds a recording of each, and the plan when all are there; what was rendered before is kept."""
    if (folder / _PLAN).exists():
        return
    espeak.program()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(f"{folder}: cannot be made ({error.strerror or error})") from None
    missing = [utterance for utterance in planned if not (folder / f"{utterance.name}.wav").exists()]
    say(f"espeak-ng says {len(missing):,} utterances, kept in {folder}")
    _render(missing, folder, progress)
    lines = [json.dumps(utterance._asdict(), ensure_ascii=False) for utterance in planned]
    write_file(folder / _PLAN, ("\n".join(lines) + "\n").encode())


def _render(missing: Sequence[Planned], folder: Path, progress: Callable[[int, int], None] | None) -> None:
    """Threads are enough: the work is done by the child processes. An error or Ctrl-C drops what has not begun."""
    pool = ThreadPoolExecutor(max_workers=os.cpu_count() or 1)
    try:
        futures = [pool.submit(_record, utterance, folder) for utterance in missing]
        for done, future in enumerate(as_completed(futures), start=1):
            future.result()
            if progress is not None:
                progress(done, len(missing))
    finally:
        pool.shutdown(cancel_futures=True)


def _record(planned: Planned, folder: Path) -> None:
    audio.write(folder / f"{planned.name}.wav", espeak.say(planned.text, planned.manner, RATE), RATE)


def read_plan(folder: Path) -> list[Planned]:
    """What the folder holds."""
    path = folder / _PLAN
    try:
        rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        planned = [Planned(row["name"], row["text"], Manner(*row["manner"])) for row in rows]
        if not all(isinstance(part, str) for utterance in planned for part in (utterance.name, utterance.text)):
            raise TypeError
        return planned
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise DataError("is not a complete folder of rendered speech; delete it and start again", path=path) from None
