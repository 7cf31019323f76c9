"""`seq2see.load`, `load_voice` and `train`: from a run folder, or from pairs, to a translator or a voice."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.engines import EngineName, make_engine
from seq2see.errors import DataError, RunError, printable
from seq2see.runs.config import merge
from seq2see.runs.folder import PAIRS, VOICE, load_run, read_run_config
from seq2see.session.translator import Translator, run_paths
from seq2see.training.harness import restored_torch
from seq2see.training.reporting import ConsoleReporter, SilentReporter
from seq2see.training.run import new_config, resume_command, train_run

if TYPE_CHECKING:
    from seq2see.speech.synthesis import Voice

Pairs = str | Path | Iterable[str | Path] | Iterable[Sequence[str]]
"""A file, two plain files, or the pairs themselves: (source, target) each."""


def load(
    run: str | Path | Sequence[str | Path], *, engine: EngineName = "torch", say: Callable[[str], None] | None = None
) -> Translator:
    """A run folder as a translator; several folders as one ensemble. Every file is checked, nothing is executed.

    engine   what computes while searching: torch; onnx, the same from ONNX Runtime; int8, the fastest, its weights
             rounded to eight bits. Attention, scores and explanations are of the torch model always.
    say      is told that an engine is being made, which takes a while the first time; else standard error is
    """
    paths = run_paths(run)
    for path in paths:
        if _family(path) == VOICE:
            raise RunError(f"{path}: is a voice; seq2see.load_voice loads it")
    with restored_torch():  # a model is made of random numbers before it gets its weights
        runs = [load_run(path) for path in paths]
        return Translator(runs, [make_engine(member, engine, say or _print) for member in runs])


def load_voice(run: str | Path) -> "Voice":
    """The run folder of a voice. Every file is checked, nothing is executed."""
    path = Path(run)
    if (family := _family(path)) != VOICE:
        raise RunError(f"{path}: is a {family}, not a voice; seq2see.load loads it")
    from seq2see.speech.synthesis import Voice

    return Voice.load(path)


def _family(path: Path) -> Any:
    return read_run_config(path).model.get("family")


def _print(text: str) -> None:
    print(f"seq2see: {printable(text)}", file=sys.stderr)


def train(
    pairs: Pairs,
    *,
    out: str | Path,
    model: str | None = None,
    size: str | None = None,
    valid: Pairs | None = None,
    time_limit: float | None = None,
    settings: Mapping[str, Any] | None = None,
    quiet: bool = False,
) -> Translator:
    """Trains into the folder `out` and loads it.

    pairs, valid   what the command line takes (a file, two plain files, `builtin:dates`), or a list of (source, target)
    model, size    such as "rnnsearch" and "tiny"; what is not given is chosen from the pairs and the time, as by the
                   command line
    time_limit     seconds; the schedule is fitted to it
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
