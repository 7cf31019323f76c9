"""espeak-ng as a teacher: it says any text in a voice, at a pitch and a speed that we choose and therefore know.

It is a program of its own (Debian and Ubuntu: `apt-get install espeak-ng`), run as a child process, never linked.
"""

import os
import re
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from seq2see.errors import DataError
from seq2see.speech import audio

Language = Literal["en", "ko"]
Voice = Literal["plain", "f2", "whisper"]

_VOICES: dict[Language, str] = {"en": "en-us", "ko": "ko"}
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f가-힣]")
_SWITCH = re.compile(r"\([a-z-]+\)")  # espeak's marks where it reads a foreign word: (en)hɛlˈoʊ(ko)
_PATIENCE = 60  # seconds for one text


class Manner(NamedTuple):
    """How a text is said: a variant of the voice, pitch 0 to 99, speed in words a minute."""

    language: Language
    voice: Voice
    pitch: int
    speed: int


def program() -> str:
    """Where espeak-ng is, or one sentence that says how to get it."""
    path = shutil.which("espeak-ng")
    if path is None:
        raise DataError("the program espeak-ng is needed and was not found: apt-get install espeak-ng")
    return path


@lru_cache(maxsize=1)
def version() -> str:
    """What the program calls itself: another version may say the same text otherwise."""
    return re.sub(r"\s+Data at:.*", "", _run(["--version"], "")).strip()


def say(text: str, manner: Manner, rate: int) -> audio.Samples:
    """(samples,) at this rate, without the silence at both ends."""
    variant = "" if manner.voice == "plain" else f"+{manner.voice}"
    settings = ["-v", _VOICES[manner.language] + variant, "-p", str(manner.pitch), "-s", str(manner.speed)]
    handle, name = tempfile.mkstemp(prefix="seq2see-", suffix=".wav")
    os.close(handle)
    try:
        _run([*settings, "-z", "-w", name, "--stdin"], text)
        return audio.trimmed(audio.read(Path(name), rate), rate)
    except DataError as error:
        raise DataError(f"espeak-ng could not say '{text[:40]}' ({error})") from None
    finally:
        Path(name).unlink(missing_ok=True)


@lru_cache(maxsize=65_536)
def phonemes(text: str) -> str:
    """The text in the International Phonetic Alphabet, stress marks included; read as Korean if it has any Hangul."""
    language: Language = "ko" if _HANGUL.search(text) else "en"
    ipa = _run(["-q", "--ipa", "-v", _VOICES[language], "--stdin"], text)
    return re.sub(r"\s+", " ", _SWITCH.sub("", ipa)).strip()


def _run(arguments: list[str], text: str) -> str:
    command = [program(), *arguments]
    try:
        done = subprocess.run(command, input=text, capture_output=True, encoding="utf-8", timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        raise DataError(f"espeak-ng did not come back within {_PATIENCE} s for '{text[:40]}'") from None
    except OSError as error:
        raise DataError(f"espeak-ng cannot be run ({error.strerror or error})") from None
    if done.returncode != 0:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise DataError(f"espeak-ng failed with code {done.returncode}: {reason}")
    return done.stdout
