"""A map as a file: json, tsv, npz hold all of it and are read back exactly; txt, svg, png, pdf, html are drawings."""

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seq2see import atomic
from seq2see.errors import ConfigError, DataError, Seq2SeeError
from seq2see.formats.reading.unpacking import open_bytes
from seq2see.look.map.attention_map import AttentionMap
from seq2see.look.map.side import Side

_FORMAT, _VERSION = "seq2see attention map", 2
_LARGEST = 512 * 2**20  # bytes, unpacked; the map of a Transformer over two texts of a page has thirty million
_UNREADABLE = (
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RecursionError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)  # what json, zipfile and numpy raise for files of another kind
_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}


def save(attention: AttentionMap, path: Path) -> None:
    """Writes what the suffix asks for, whole or not at all."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _WRITERS:
        raise ConfigError(f"{path}: a map can be saved as {', '.join(f'.{name}' for name in _WRITERS)}; rename it so")
    atomic.write_file(path, _WRITERS[kind](attention))


def load(path: Path) -> AttentionMap:
    """Reads a json, tsv or npz file; it may come from anybody."""
    kind = path.suffix.lower().removeprefix(".")
    if kind not in _READERS:
        raise ConfigError(f"{path}: a map is read from {', '.join(f'.{name}' for name in _READERS)}")
    with open_bytes(path) as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise DataError(f"larger than {_LARGEST >> 20} MiB; that is no map of attention", path=path)
    try:
        return _READERS[kind](content)
    except _NewerError as error:
        raise DataError(str(error), path=path) from None
    except Seq2SeeError as error:
        raise DataError(f"not a map of attention: {error}", path=path) from None
    except _UNREADABLE:
        raise DataError(
            "not a map of attention that can be read: damaged, or another kind of file", path=path
        ) from None


class _NewerError(Seq2SeeError):
    pass


# ----- everything but the numbers


def _frame(attention: AttentionMap) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "kind": attention.kind,
        "level": attention.level,
        "layers": list(attention.layers),
        "heads": list(attention.heads),
        "source": _side(attention.source),
        "target": _side(attention.target),
        "hidden_tokens": list(attention.hidden_tokens),
        "rescaled": attention.rescaled,
    }


def _side(side: Side) -> dict[str, Any]:
    return {"text": side.text, "tokens": side.tokens, "spans": side.spans, "words": side.words}


def _built(frame: Any, weights: Any, hidden: Any) -> AttentionMap:
    if not isinstance(frame, dict) or frame.get("format") != _FORMAT:
        raise ValueError
    if type(frame["version"]) is not int:
        raise ValueError
    if frame["version"] > _VERSION:
        raise _NewerError(f"version {frame['version']} is newer than {_VERSION}: update seq2see to read it")
    hidden_tokens, rescaled = _hiding(frame, hidden is not None)
    return AttentionMap(
        _read_side(frame["source"]),
        _read_side(frame["target"]),
        frame["kind"],
        np.array(weights, dtype=np.float32),
        frame["level"],
        None if hidden is None else np.array(hidden, dtype=np.float32),
        _strings(frame["layers"]),
        _strings(frame["heads"]),
        hidden_tokens,
        rescaled,
    )


def _hiding(frame: dict[str, Any], hidden: bool) -> tuple[tuple[str, ...], bool]:
    """What was hidden, and whether rows were rescaled; version 1 always rescaled them, and did not say so."""
    if frame["version"] == 1:
        return (("<s>" if frame["kind"] == "decoder" else "</s>",) if hidden else ()), hidden
    if type(frame["rescaled"]) is not bool:
        raise ValueError
    return _strings(frame["hidden_tokens"]), frame["rescaled"]


def _read_side(saved: Any) -> Side:
    words = tuple(None if word is None else _count(word) for word in saved["words"])
    spans = tuple((_count(start), _count(end)) for start, end in saved["spans"])
    (text,) = _strings([saved["text"]])
    side = Side(text, _strings(saved["tokens"]), spans, words)
    known = len(side.word_texts)
    # A text of white space alone has no word, and its pieces count as word 0.
    if any(word is not None and word >= max(1, known) for word in words):
        raise ValueError
    return side


def _strings(saved: Any) -> tuple[str, ...]:
    if not isinstance(saved, list) or not all(isinstance(text, str) for text in saved):
        raise ValueError
    for text in saved:
        text.encode()  # half a surrogate pair is no character, and could not be drawn or saved again
    return tuple(saved)


def _count(saved: Any) -> int:
    if type(saved) is not int or saved < 0:
        raise ValueError
    return saved


# ----- json


def to_json(attention: AttentionMap) -> bytes:
    """Everything; `summary` is for whoever reads the file, and is not read back."""
    numbers = {"weights": _decimal(attention.weights), "hidden": _decimal(attention.hidden)}
    numbers["summary"] = [line._asdict() for line in attention.summary()]
    return (json.dumps(_frame(attention) | numbers, ensure_ascii=False) + "\n").encode()


def _from_json(content: bytes) -> AttentionMap:
    saved = json.loads(content)
    return _built(saved, saved["weights"], saved["hidden"])


def _decimal(values: NDArray[np.float32] | None) -> Any:
    """Nested lists of the shortest decimals that name each float32; float(x) alone would write 17 digits."""
    if values is None:
        return None
    return np.array([float(text) for text in values.astype(str).ravel()]).reshape(values.shape).tolist()


# ----- tsv: a line of JSON for what a table cannot say, then a row for each layer, head and target token


def _to_tsv(attention: AttentionMap) -> bytes:
    lines = ["# " + json.dumps(_frame(attention), ensure_ascii=False)]
    hidden = attention.hidden
    names = ["layer", "head", "target", *(["hidden"] if hidden is not None else []), *attention.source.tokens]
    lines.append("\t".join(map(_escaped, names)))
    for i, layer in enumerate(attention.layers):
        for j, head in enumerate(attention.heads):
            for t, token in enumerate(attention.target.tokens):
                shares = [] if hidden is None else [str(hidden[i, j, t])]
                row = [layer, head, token, *shares, *attention.weights[i, j, t].astype(str)]
                lines.append("\t".join(map(_escaped, row)))
    return ("\n".join(lines) + "\n").encode()


def _from_tsv(content: bytes) -> AttentionMap:
    first, names, *rows = content.decode().removesuffix("\n").split("\n")
    if not first.startswith("# "):
        raise ValueError
    frame = json.loads(first.removeprefix("# "))
    shape = (len(frame["layers"]), len(frame["heads"]), len(frame["target"]["tokens"]))
    columns = len(frame["source"]["tokens"])
    extra = len(names.split("\t")) - 3 - columns
    if extra not in (0, 1):
        raise ValueError
    numbers = [[float(cell) for cell in row.split("\t")[3:]] for row in rows]
    table = np.array(numbers, dtype=np.float32).reshape(*shape, extra + columns)
    return _built(frame, table[..., extra:], table[..., 0] if extra else None)


def _escaped(cell: str) -> str:
    return "".join(_ESCAPES.get(character, character) for character in cell)


# ----- npz


def _to_npz(attention: AttentionMap) -> bytes:
    frame = np.frombuffer(json.dumps(_frame(attention), ensure_ascii=False).encode(), dtype=np.uint8)
    buffer = io.BytesIO()
    if attention.hidden is None:
        np.savez_compressed(buffer, frame=frame, weights=attention.weights)
    else:
        np.savez_compressed(buffer, frame=frame, weights=attention.weights, hidden=attention.hidden)
    return buffer.getvalue()


def _from_npz(content: bytes) -> AttentionMap:
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        if sum(member.file_size for member in packed.infolist()) > _LARGEST:
            raise ValueError
    with np.load(io.BytesIO(content), allow_pickle=False) as saved:
        frame = json.loads(saved["frame"].tobytes())
        return _built(frame, saved["weights"], saved.get("hidden"))


# ----- drawings


def _to_text(attention: AttentionMap) -> bytes:
    from seq2see.look.draw.terminal import plain

    return (plain(attention, width=120) + "\n").encode()


def _to_svg(attention: AttentionMap) -> bytes:
    from seq2see.look.draw.picture import render

    return render(attention, "svg")


def _to_png(attention: AttentionMap) -> bytes:
    from seq2see.look.draw.picture import render

    return render(attention, "png")


def _to_pdf(attention: AttentionMap) -> bytes:
    from seq2see.look.draw.picture import render

    return render(attention, "pdf")


def _to_html(attention: AttentionMap) -> bytes:
    from seq2see.look.draw.page import page

    return page(attention).encode()


_WRITERS: dict[str, Callable[[AttentionMap], bytes]] = {
    "json": to_json,
    "tsv": _to_tsv,
    "npz": _to_npz,
    "txt": _to_text,
    "svg": _to_svg,
    "png": _to_png,
    "pdf": _to_pdf,
    "html": _to_html,
}
_READERS: dict[str, Callable[[bytes], AttentionMap]] = {"json": _from_json, "tsv": _from_tsv, "npz": _from_npz}
