"""`seq2see.train`: from pairs to a translator; and more pairs by the help of other runs."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seq2see.errors import ConfigError, DataError
from seq2see.formats.reading.lines import read_lines
from seq2see.runs import inputs
from seq2see.runs.config import DataConfig, merge
from seq2see.runs.folder import PAIRS
from seq2see.search import SearchConfig
from seq2see.session.bulk import translate_texts
from seq2see.session.loading import load
from seq2see.session.translator import DEFAULT, Translator
from seq2see.text import NormalForm, normalise
from seq2see.training.harness import restored_torch
from seq2see.training.prepare import sources_of
from seq2see.training.reporting import ConsoleReporter, SilentReporter
from seq2see.training.run import new_config, resume_command, train_run

MONO = PAIRS[2]  # where pairs from texts of one language lie in the run folder
DISTILLED = PAIRS[3]  # where a teacher's translations of the training sources lie there

Pairs = str | Path | Iterable[str | Path] | Iterable[Sequence[str]]
"""A file, two plain files, or the pairs themselves: (source, target) each."""


def train(
    pairs: Pairs,
    *,
    out: str | Path,
    model: str | None = None,
    size: str | None = None,
    valid: Pairs | None = None,
    time_limit: float | None = None,
    mono: str | Path | None = None,
    reverse: str | Path | None = None,
    distil: str | Path | Sequence[str | Path] | None = None,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> Translator:
    """Trains into the folder `out` and loads it.

    pairs, valid   what the command line takes (a file, two plain files, `builtin:dates`), or a list of (source, target)
    model, size    such as "rnnsearch" and "tiny"; what is not given is chosen from the pairs and the time, as by the
                   command line
    time_limit     seconds; the schedule is fitted to it
    mono, reverse  a file of texts of the target language, and a run of the other direction that translates them back
    distil         a finished run, or several as one ensemble: what it says to the training sources is learned as well
    settings       everything else as nested dictionaries, such as {"training": {"steps": 1000}}: see
                   `seq2see train --list-settings`

    Random state, threads and signal handlers of the caller are as they were afterwards.
    """
    folder = Path(out)
    named, listed = _split(pairs, folder, PAIRS[0])
    chosen_model = {name: value for name, value in (("family", model), ("size", size)) if value is not None}
    config: dict[str, Any] = {"model": chosen_model, "data": {"train": named}}
    if time_limit is not None:
        config["training"] = {"time_limit": time_limit}
    if valid is not None:
        config["data"]["valid"], more = _split(valid, folder, PAIRS[1])
        listed |= more
    if (mono is None) != (reverse is None):
        raise ConfigError("mono and reverse go together: texts of the target language, and a run that translates back")
    if mono is not None and reverse is not None:
        listed |= {MONO: back_translate(Path(mono), Path(reverse))}
        config["data"]["mono"] = str(folder / MONO)
    run_config = new_config(merge(config, settings or {}))
    if distil is not None:
        teachers = [distil] if isinstance(distil, str | Path) else list(distil)
        listed |= {DISTILLED: distil_pairs(run_config.data, [Path(run) for run in teachers], listed)}
        config["data"]["distilled"] = str(folder / DISTILLED)
        run_config = new_config(merge(config, settings or {}))
    if quiet:
        ended = train_run(run_config, folder, SilentReporter(), pairs=listed)
    else:
        with ConsoleReporter() as reporter:
            ended = train_run(run_config, folder, reporter, pairs=listed)
    if ended.interrupted:
        raise KeyboardInterrupt(f"saved at step {ended.progress.step}; go on with: {resume_command(folder)}")
    return load(folder)


def _split(pairs: Pairs, folder: Path, name: str) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """What training reads, and the file it brings along: pairs from memory lie in the run folder, where a run that is
    resumed finds them again."""
    if isinstance(pairs, str | Path):
        return (str(pairs),), {}
    try:
        entries = list(pairs)
    except TypeError:
        raise DataError(f"pairs = {type(pairs).__name__}: name a file, or give a list of (source, target)") from None
    if not entries:
        raise DataError("no pairs given; name a file, or give a list of (source, target)")
    if all(isinstance(entry, str | Path) for entry in entries):
        return tuple(map(str, entries)), {}
    content = "".join(_line(number, pair) for number, pair in enumerate(entries))
    return (str(folder / name),), {name: content.encode()}


def _line(number: int, pair: Any) -> str:
    if not isinstance(pair, tuple | list) or len(pair) != 2 or not all(isinstance(side, str) for side in pair):
        raise DataError(f"pair {number} is not a (source, target) of two strings")
    line = json.dumps({"source": pair[0], "target": pair[1]}, ensure_ascii=False) + "\n"
    try:
        line.encode()
    except UnicodeEncodeError:
        raise DataError(f"pair {number} holds half of a surrogate pair, which is no character") from None
    return line


def back_translate(
    file: Path,
    reverse: Path,
    *,
    search: SearchConfig = DEFAULT,
    form: NormalForm = "NFC",
    encoding: str | None = None,
    counting: Callable[[int], Callable[[int], None]] = lambda total: lambda done: None,
) -> bytes:
    """Back-translation (Sennrich 2016): what a decoder learns to say is what people wrote, its source is a machine's.

    JSON lines of pairs: a target is a line of `file`, its source what the run `reverse` makes of it.

    counting   is told how many lines there are, and gives what is told how many more are done
    """
    targets = [text for line in read_lines(file, encoding) if (text := normalise(line, form).strip())]
    if not targets:
        raise DataError("has no text to translate back", path=file)
    with restored_torch():
        sources = translate_texts([reverse], targets, search, advance=counting(len(targets)))
    content = _content(zip(sources, targets, strict=True))
    if not content:
        raise DataError(f"{reverse} says nothing to any of its lines; train it longer first", path=file)
    return content


def distil_pairs(
    data: DataConfig,
    teachers: Sequence[Path],
    listed: Mapping[str, bytes] | None = None,
    *,
    search: SearchConfig = DEFAULT,
    counting: Callable[[int], Callable[[int], None]] = lambda total: lambda done: None,
) -> bytes:
    """Sequence-level distillation (Kim and Rush 2016): what the teachers, as one ensemble, say to each training source.

    JSON lines of pairs. The pairs themselves are learned from as well: beside a person's translation of a source stands
    the machine's, which is more regular.

    listed     files of `data` that are not on the disk yet, by name
    counting   is told how many sources there are, and gives what is told how many more are done
    """
    sources = list(dict.fromkeys(source for source in _training_sources(data, listed or {}) if source.strip()))
    if not sources:
        raise DataError("the training pairs have no source that a teacher could translate")
    with restored_torch():
        targets = translate_texts(teachers, sources, search, advance=counting(len(sources)))
    content = _content(zip(sources, targets, strict=True))
    if not content:
        raise DataError(
            f"{' and '.join(map(str, teachers))} says nothing to any training source; train it longer first"
        )
    return content


def _training_sources(data: DataConfig, listed: Mapping[str, bytes]) -> Iterator[str]:
    """The sources of a person's training pairs, as they are read for training."""
    with TemporaryDirectory(prefix="seq2see-pairs-") as folder:
        for name, content in listed.items():
            (Path(folder) / name).write_bytes(content)
        place = {name: str(Path(folder) / name) for name in listed}
        train, _ = sources_of(inputs.renamed(data, lambda path: place.get(Path(path).name, path)))
        for corpus in train:
            if not corpus.synthetic:
                yield from (pair.source for pair in corpus.pairs())


def _content(pairs: Iterable[tuple[str, str]]) -> bytes:
    """Pairs of which neither side is empty, as JSON lines."""
    entries = ({"source": source, "target": target} for source, target in pairs if source.strip() and target.strip())
    return "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries).encode()
