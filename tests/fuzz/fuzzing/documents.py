"""Every format that is translated in place, with a stand-in translator that is worse than any model.

What is checked of a document that was taken in, in two ways that do not know of each other: the parts of the document
against the bytes of the input, and the written file against the input with the translations taken out of both.
"""

import gzip
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from fuzzing import seeds
from fuzzing.seeds import TOKENS, packed
from fuzzing.target import BrokenPromiseError, Files, Target


def _stand_in(texts: list[str]) -> Iterable[str]:
    """Translations that follow from the texts alone: backwards, empty, with signs of every format."""
    return [_worst(text, Random(text.encode(errors="surrogatepass"))) for text in texts]


def _worst(text: str, random: Random) -> str:
    match random.randrange(12):
        case 0:
            return ""
        case 1:
            return text
        case 2:
            return text[::-1]
        case 3:
            return text.upper() + " <b>&amp;</c>\n]]> & \" ' \\ \\n %d {x} }{"
        case 4:
            return "번역 " * random.randint(1, 60)
        case 5:
            return f"\n\n1\n00:00:01,000 --> 00:00:02,000\n{text}\n\n"
        case 6:
            return '"\nmsgid "x"\nmsgstr "' + text
        case 7:
            return "\0\x01\x1b[31m\x7f\u2028\ufeff\ufffe" + text
        case 8:
            return "\ud800 " + text
        case 9:
            return "- 네\n- 아니요"
        case 10:
            return " \t "
        case _:
            return re.sub(r"\w+", lambda word: word[0][::-1], text)


def _document(name: str, existing: str, folder: Path, out: Path) -> None:
    from seq2see.errors import Seq2SeeError
    from seq2see.formats import open_document
    from seq2see.formats.documents.base import Slot
    from seq2see.formats.documents.translating import translate_document

    path = next(folder.iterdir())
    written = out / path.name
    document = open_document(path, existing=existing)
    outcome = translate_document(document, _stand_in, written)
    parts = list(document.parts())
    slots = sum(1 for part in parts if isinstance(part, Slot))
    if outcome.translated + getattr(outcome, "empty", 0) != slots:
        raise BrokenPromiseError(f"{outcome.translated} of {slots} segments translated")
    before, after = _bytes(path), _bytes(written)
    _check_kept(parts, before)
    if (rest := _RESTS[name](before)) != (rest_after := _RESTS[name](after)):
        raise BrokenPromiseError(f"more than the translations has changed: {_difference(rest, rest_after)}")
    segments = sum(1 for _ in open_document(path, existing="replace").segments())
    try:
        again = sum(1 for _ in open_document(written, existing="replace").segments())
    except Seq2SeeError as error:
        raise BrokenPromiseError(f"what was written cannot be read: {error}") from None
    if again != segments:
        raise BrokenPromiseError(f"of {segments} segments, the written document has {again}")


def _bytes(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix != ".gz":
        return data
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return file.read()


def _difference(before: Sequence[object], after: Sequence[object]) -> str:
    for place, (one, other) in enumerate(zip(before, after, strict=False)):
        if one != other:
            return f"{one!r:.120} became {other!r:.120} at {place}"
    return f"{len(before)} pieces became {len(after)}"


def _check_kept(parts: Sequence[Any], data: bytes) -> None:
    """Bytes that stay stand in the input, one behind the other, with slots between them and nowhere else."""
    from seq2see.formats.documents.base import Kept

    place, gap = 0, False
    run: list[bytes] = []
    for part in parts:
        if isinstance(part, Kept) and part.problem is None:
            run.append(part.data)
            continue
        place = _found(data, b"".join(run), place, gap)  # then a slot, or a record that was told its problem
        run, gap = [], True
    end = len(data) - sum(map(len, run))
    if end < place or (end > place and not gap) or not data.endswith(b"".join(run)):
        raise BrokenPromiseError(f"the document does not end as the input does, with {data[-80:]!r}")


def _found(data: bytes, run: bytes, place: int, gap: bool) -> int:
    """Where the bytes end that have to stand here, or behind here if a slot comes before them."""
    start = data.find(run, place) if gap else place
    if start < 0 or not data.startswith(run, start):
        raise BrokenPromiseError(f"{run!r:.80} does not stand in the input behind byte {place}")
    return start + len(run)


# ----- what is left of a file when its translations are taken out


def _rest_of_po(data: bytes) -> list[bytes]:
    """Every line but msgstr with its continuations (even behind blank lines), flags, and blank lines."""
    rest, inside = [], False
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = line.decode(errors="replace").strip()
        inside = text.startswith("msgstr") or (inside and (not text or text.startswith('"')))
        if not inside and text and not text.startswith("#,") and not text.startswith("#|"):
            rest.append(line)
    return rest


def _rest_of_subtitles(data: bytes) -> list[bytes]:
    """Times, and the line above each of them."""
    lines = data.split(b"\n")
    times = re.compile(
        rb"\s*(?:\d{1,3}:)?\d{1,2}:\d{2}[,.]\d{1,3}\s*-->\s*(?:\d{1,3}:)?\d{1,2}:\d{2}[,.]\d{1,3}(?:\s.*)?", re.DOTALL
    )
    rest = []
    for place, line in enumerate(lines):
        if times.fullmatch(line):
            rest += [lines[place - 1] if place else b"", line]
    return rest


def _rest_of_records(data: bytes) -> list[object]:
    """Each line as an object without the fields that were written, or as it is."""
    rest: list[object] = []
    for line in data.split(b"\n"):
        try:
            record = json.loads(line, parse_int=str, parse_float=str, parse_constant=str)
        except (ValueError, RecursionError):
            rest.append(line)
            continue
        if isinstance(record, dict):
            record = [(key, repr(value)) for key, value in record.items() if key not in ("target", "error")]
        rest.append(record)
    return rest


def _rest_of_xliff(data: bytes) -> list[object]:
    """Elements, attributes and texts in order, without targets and what states that they were made."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=True, remove_blank_text=False
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return []  # expat and libxml2 do not agree on everything; the other check has looked at it
    rest: list[object] = []
    inside, text = 0, ""
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        name = etree.QName(element).localname if isinstance(element.tag, str) else str(element.tag)
        depth = {"start": 1, "end": -1}.get(event, 0) if name == "target" else 0
        if not inside and not depth:  # texts on both sides of a target are one
            rest += [text.strip(), (event, name, _stated(element) if event == "start" else [])]
            text = ""
        inside += depth
        if not inside:
            text += (element.tail if event != "start" else element.text) or ""
    return [piece for piece in rest if piece]


def _stated(element: Any) -> list[tuple[str, str]]:
    made = {"state", "subState", "state-qualifier", "target-language", "trgLang", "approved"}
    return [(name, value) for name, value in element.attrib.items() if name not in made]


_RESTS: dict[str, Callable[[bytes], Sequence[object]]] = {
    "po": _rest_of_po,
    "xliff": _rest_of_xliff,
    "srt": _rest_of_subtitles,
    "vtt": _rest_of_subtitles,
    "jsonl": _rest_of_records,
}
_SEEDS: dict[str, tuple[str, Sequence[bytes]]] = {
    "po": ("ko.po", (seeds.PO, seeds.PO.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + seeds.PO)),
    "xliff": (
        "ko.xlf",
        (seeds.XLIFF_1, seeds.XLIFF_2, seeds.XLIFF_1.decode().replace("UTF-8", "UTF-16").encode("utf-16")),
    ),
    "srt": ("film.srt", (seeds.SRT[0], seeds.SRT[1].replace(b"\n", b"\r\n"))),
    "vtt": ("film.vtt", (seeds.VTT,)),
    "jsonl": ("pairs.jsonl", (seeds.JSONL,)),
}


def _targets() -> list[Target]:
    made = []
    for name, (file, contents) in _SEEDS.items():
        plain: list[Files] = [{file: content} for content in contents]
        gz: list[Files] = [{f"{file}.gz": packed(content)} for content in contents]
        tokens = TOKENS[name]
        made.append(
            Target(f"{name}-in-place", "documents", lambda plain=plain: plain, partial(_document, name, "keep"), tokens)
        )
        made.append(
            Target(
                f"{name}-replaced", "documents", lambda plain=plain: plain, partial(_document, name, "replace"), tokens
            )
        )
        made.append(
            Target(f"{name}-in-place.gz", "documents", lambda gz=gz: gz, partial(_document, name, "keep"), tokens)
        )
    return made


TARGETS: list[Target] = _targets()
