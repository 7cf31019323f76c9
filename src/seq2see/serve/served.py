"""Which runs are served, what they are called, and which languages they translate.

`RUN@ko-en` names the languages; else the run's own settings do; else the built-in corpus it learned from. A run
without codes is on the page and in our API, but no other program can ask for it by its languages.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from seq2see import atomic
from seq2see.errors import ConfigError, RunError
from seq2see.runs.commit import MANIFEST, place_of
from seq2see.runs.config import CONFIG, NOT_A_RUN, VOICE, DataConfig, read_config
from seq2see.serve.api.requests import ServedRun

_LANGUAGES = re.compile(r"(.+)@([A-Za-z]{2,3}(?:_[A-Za-z\d]{2,8})*)-([A-Za-z]{2,3}(?:_[A-Za-z\d]{2,8})*)")
_BUILTIN = {"phrases": ("ko", "en"), "phrases-basic": ("ko", "en"), "phrases-en-ko": ("en", "ko")}


def read_runs(specs: Sequence[str]) -> tuple[ServedRun, ...]:
    """Run folders as they were given on the command line, each finished; names are made different."""
    runs: list[ServedRun] = []
    for spec in specs:
        path, codes = _parse(spec)
        name = _unique(path.resolve().name or "run", [run.name for run in runs])
        runs.append(_read(name, path, codes))
    return tuple(runs)


def _parse(spec: str) -> tuple[Path, tuple[str, str] | None]:
    match = _LANGUAGES.fullmatch(spec)
    if match is None or (Path(spec) / CONFIG).exists():
        if match is None and "@" in spec and not Path(spec).exists():
            raise ConfigError(f"{spec}: languages are written as in runs/ko-en@ko-en")
        return Path(spec), None
    return Path(match[1]), (base_code(match[2]), base_code(match[3]))


def _read(name: str, path: Path, codes: tuple[str, str] | None) -> ServedRun:
    try:
        saved = atomic.read_json(place_of(path, CONFIG))
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{path}: {NOT_A_RUN}") from None
    except (OSError, ValueError) as error:
        raise RunError(f"{path / CONFIG}: cannot be read ({error})") from None
    try:
        config = read_config(saved if isinstance(saved, dict) else {})
    except ConfigError as error:
        raise RunError(f"{path / CONFIG}: {error}") from None
    if not (path / MANIFEST).exists():
        raise RunError(f"{path}: training has not finished; --watch {path.parent} shows how far it is")
    if config.model.get("family") == VOICE:
        return ServedRun(name, path, None, None, "voice")
    source, target = codes or languages_of(config.data)
    return ServedRun(name, path, source, target, "text")


def languages_of(data: DataConfig) -> tuple[str | None, str | None]:
    """What the settings of a run say of its languages."""
    codes = data.source_language, data.target_language
    if codes == (None, None) and len(data.train) == 1:
        corpus = data.train[0].removeprefix("builtin:").split(",")[0].split(":")[0]
        codes = _BUILTIN.get(corpus, codes) if data.train[0].startswith("builtin:") else codes
    source, target = (base_code(code) if code else None for code in codes)
    return (target, source) if data.flip else (source, target)


def base_code(code: str) -> str:
    """ko-KR, ko_KR, KO -> ko; a script is part of a language for readers: zh-Hant stays."""
    language, *rest = re.split("[-_]", code)
    scripts = [part.title() for part in rest if len(part) == 4 and part.isalpha()]
    return "-".join([language.lower(), *scripts])


def _unique(name: str, taken: Sequence[str]) -> str:
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate
