"""Back-translation (Sennrich 2016): texts of the target language alone become pairs, by a run of the other direction.

What a decoder learns to say is what people wrote; only the source is a machine's.
"""

import json
from collections.abc import Callable
from pathlib import Path

from seq2see.errors import DataError
from seq2see.formats.lines import read_lines
from seq2see.runs.folder import PAIRS
from seq2see.search import SearchConfig
from seq2see.session.bulk import translate_texts
from seq2see.session.translator import DEFAULT
from seq2see.text import NormalForm, normalise
from seq2see.training.restoring import restored_torch

MONO = PAIRS[2]  # where the pairs lie in the run folder


def back_translate(
    file: Path,
    reverse: Path,
    *,
    search: SearchConfig = DEFAULT,
    form: NormalForm = "NFC",
    encoding: str | None = None,
    counting: Callable[[int], Callable[[int], None]] = lambda total: lambda done: None,
) -> bytes:
    """JSON lines of pairs: a target is a line of `file`, its source what the run `reverse` makes of it.

    counting   is told how many lines there are, and gives what is told how many more are done
    """
    targets = [text for line in read_lines(file, encoding) if (text := normalise(line, form).strip())]
    if not targets:
        raise DataError("has no text to translate back", path=file)
    with restored_torch():
        sources = translate_texts([reverse], targets, search, advance=counting(len(targets)))
    pairs = (
        {"source": source, "target": target} for source, target in zip(sources, targets, strict=True) if source.strip()
    )
    content = "".join(json.dumps(pair, ensure_ascii=False) + "\n" for pair in pairs)
    if not content:
        raise DataError(f"{reverse} says nothing to any of its lines; train it longer first", path=file)
    return content.encode()
