"""`seq2see.load` and `seq2see.train`: from a run folder, or from pairs, to a translator."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seq2see.engines import EngineName, make_engine
from seq2see.errors import DataError, printable
from seq2see.runs.config import merge
from seq2see.runs.folder import PAIRS, VOICE, load_run, read_run_config
from seq2see.session.translator import Translator, run_paths
from seq2see.training.reporting import ConsoleReporter, SilentReporter
from seq2see.training.restoring import restored_torch
from seq2see.training.run import new_config, resume_command, train_run

Pairs = str | Path | Iterable[str | Path] | Iterable[Sequence[str]]
"""A file, two plain files, or the pairs themselves: (source, target) each."""


def load(
    run: str | Path | Sequence[str | Path], *, engine: EngineName = "torch", say: Callable[[str], None] | None = None
) -> Translator:
    """A run folder as a translator; several folders as one ensemble. Every file is checked, nothing is executed.

    engine   what computes while searching: torch; onnx, the same from ONNX Runtime; int8, the fastest, its weights
             rounded to eight bits. Attention, scores and explanations are of the torch model always.
    say      hears that an engine is being made, which takes a while the first time; else standard error does
    """
    with restored_torch():  # a model is made of random numbers before it gets its weights
        runs = [load_run(path) for path in run_paths(run)]
        return Translator(runs, [make_engine(one, engine, say or _tell) for one in runs])


def open_run(
    run: str | Path | Sequence[str | Path], *, engine: EngineName = "torch", say: Callable[[str], None] | None = None
) -> Any:
    """`seq2see.load`: a Translator, or a Voice if the folder holds one. The settings are those of `load`."""
    paths = run_paths(run)
    if len(paths) == 1 and read_run_config(paths[0]).model.get("family") == VOICE:
        from seq2see.speech.synthesis import Voice

        return Voice.load(paths[0])
    return load(paths, engine=engine, say=say)


def _tell(text: str) -> None:
    print(f"seq2see: {printable(text)}", file=sys.stderr)


def train(
    pairs: Pairs,
    *,
    out: str | Path,
    model: str = "transformer",
    size: str = "small",
    valid: Pairs | None = None,
    time_limit: float | None = None,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> Translator:
    """Trains into the folder `out` and loads it.

    pairs, valid   what the command line takes (a file, two plain files, `builtin:dates`), or a list of (source, target)
    time_limit     seconds; the schedule is fitted to it
    settings       everything else as nested dictionaries, such as {"training": {"steps": 1000}}: see
                   `seq2see train --list-settings`

    Random state, threads and signal handlers of the caller are as they were afterwards.
    """
    folder = Path(out)
    named, listed = _split(pairs, folder, PAIRS[0])
    given: dict[str, Any] = {"model": {"family": model, "size": size}, "data": {"train": named}}
    if time_limit is not None:
        given["training"] = {"time_limit": time_limit}
    if valid is not None:
        given["data"]["valid"], more = _split(valid, folder, PAIRS[1])
        listed |= more
    config = new_config(merge(given, settings or {}))
    if quiet:
        ended = train_run(config, folder, SilentReporter(), pairs=listed)
    else:
        with ConsoleReporter() as voice:
            ended = train_run(config, folder, voice, pairs=listed)
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
