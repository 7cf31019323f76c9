"""`seq2see.load` and `load_voice`: from a run folder to a translator or a voice."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.engines import EngineChoice, Engines, make_shortlist
from seq2see.errors import RunError, printable
from seq2see.runs.folder import VOICE, load_run, read_run_config
from seq2see.session.translator import Translator, run_paths
from seq2see.training.harness import restored_torch

if TYPE_CHECKING:
    from seq2see.speech.synthesis import Voice


def load(
    run: str | Path | Sequence[str | Path],
    *,
    engine: EngineChoice = "auto",
    make_graphs: bool = False,
    shortlist: bool = False,
    say: Callable[[str], None] | None = None,
) -> Translator:
    """A run folder as a translator; several folders as one ensemble. Every file is checked, nothing is executed.

    engine        what computes while searching: torch; onnx, the same from ONNX Runtime; int8, its weights rounded to
                  eight bits; ctranslate2 and ctranslate2-int8, for Transformers; auto, the fastest that says what torch
                  says. Attention and explanations are of the torch model always.
    make_graphs   auto makes the graphs of ONNX Runtime where the folder has none: some twenty seconds, once
    shortlist     a sentence is said with the target pieces that its own were ever aligned to, and the commonest:
                  faster, and nearly the same; made once from the training pairs, a minute or two, kept in the folder
    say           is told what was chosen, and what is being made; else standard error is
    """
    paths = run_paths(run)
    for path in paths:
        if _family(path) == VOICE:
            raise RunError(f"{path}: is a voice; seq2see.load_voice loads it")
    with restored_torch():  # a model is made of random numbers before it gets its weights
        runs, tell = [load_run(path) for path in paths], say or _print
        words = make_shortlist(runs[0], tell) if shortlist else None
        return Translator(runs, Engines(runs, engine, tell, make_graphs=make_graphs, shortlist=words))


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
