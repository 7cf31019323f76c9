"""Maps of attention as one HTML file that needs nothing else: no network, no fonts, no library.

What it shows travels as JSON inside the file; the scripts in view/ draw it and set every text as text, never as HTML.
The scripts are ES modules that a server could hand out as they are; here they are put one behind the other. The page
allows itself nothing but its own script and style (a Content-Security-Policy with their hashes).
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from seq2see import atomic
from seq2see.errors import ConfigError
from seq2see.look.map.alignment import Best
from seq2see.look.map.attention_map import AttentionMap, Kind, Level
from seq2see.look.map.packing import fit, pack
from seq2see.look.map.tree import BeamTree
from seq2see.visible import visible

SCRIPTS = ("wording", "dom", "theme", "weights", "stage", "matrix", "lines", "heads", "beam", "reading", "explorer")
_IMPORT = re.compile(r"^import .*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:class|function|const) (\w+))", re.MULTILINE)
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}  # all that can end or begin anything in HTML
_LONGEST = 5_000  # characters of a text beside a map
_GENERATOR = '<meta name="generator" content="seq2see">'
# How pages began before they named their generator.
_FIRST_PAGES = """<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-"""


class Opening(NamedTuple):
    """What a page shows of an example before anybody touches it."""

    kind: Kind
    level: Level
    layer: int | None  # None: the mean of all
    head: int | None
    hide: bool  # special tokens
    rescale: bool


@dataclass(frozen=True)
class PageExample:
    """One sentence of a page: its maps, at most one of each kind, and what else there is to see of it.

    title     what it is called in the list of examples; the text of its source if empty
    texts     lines above the map, such as ("reference", "I am a student .")
    tree      what the search considered
    best      the head to begin with (`best_head`); the mean of all, if none is given
    opening   what is shown first, if that is not the whole map of `best`
    """

    maps: tuple[AttentionMap, ...] = ()
    title: str = ""
    texts: tuple[tuple[str, str], ...] = ()
    tree: BeamTree | None = None
    best: Best | None = None
    opening: Opening | None = None

    def __post_init__(self) -> None:
        kinds = [attention.kind for attention in self.maps]
        if len(set(kinds)) < len(kinds):
            raise ConfigError(f"an example has one map of each kind, not {', '.join(kinds)}; make an example of each")


def page(maps: AttentionMap | Sequence[AttentionMap | PageExample], *, title: str | None = None) -> str:
    """The whole file. Maps of one sentence pair that follow each other (cross, encoder, decoder) are shown as one."""
    examples, note = pack_examples(gather([maps] if isinstance(maps, AttentionMap) else maps))
    if not examples:
        raise ConfigError("a page needs at least one map of attention or one beam tree")
    title = title or "Attention"
    return document(title, {"title": visible(title), "note": note, "examples": examples}, (*SCRIPTS, "page"))


def embedded(maps: AttentionMap | Sequence[AttentionMap | PageExample], *, title: str | None = None) -> str:
    """The page for a notebook's output: in a frame of its own, so that nothing of it meets anything of the notebook."""
    inside = html.escape(page(maps, title=title))
    return (
        '<iframe sandbox="allow-scripts" title="Attention" style="width:100%;height:640px;border:0;border-radius:8px" '
        f'srcdoc="{inside}"></iframe>'
    )


def write_page(path: Path, content: str, option: str) -> None:
    """The file, whole or not at all; see `check_replaceable`."""
    check_replaceable(path, option)
    atomic.write_file(path, content.encode())


def check_replaceable(path: Path, option: str) -> None:
    """A page takes the place of a page that seq2see wrote, never of another file; `option` is what names another."""
    if not path.is_file() or atomic.is_stream(path):
        return
    with path.open("rb") as file:
        head = file.read(1000).decode(errors="replace")
    if head and _GENERATOR not in head and _FIRST_PAGES not in head:
        raise ConfigError(f"{path}: is there already, and seq2see did not write it; name another file with {option}")


def gather(maps: Iterable[AttentionMap | PageExample]) -> list[PageExample]:
    """Examples as they are; a map joins the one before it if it is another kind of the same pair."""
    examples: list[PageExample] = []
    joining = False
    for item in maps:
        if isinstance(item, PageExample):
            examples.append(item)
        elif joining and _belongs(item, examples[-1]):
            examples[-1] = replace(examples[-1], maps=(*examples[-1].maps, item))
        else:
            examples.append(PageExample((item,)))
        joining = not isinstance(item, PageExample)
    return examples


def pack_examples(examples: Sequence[PageExample]) -> tuple[list[dict[str, Any]], str]:
    """For the JSON of a page; then a note if heads had to be averaged to fit."""
    maps, note = fit([attention for example in examples for attention in example.maps])
    fitting = iter(maps)
    return [_pack_example(example, [next(fitting) for _ in example.maps]) for example in examples], note


def document(title: str, data: dict[str, Any], scripts: Sequence[str], *, language: str = "en") -> str:
    """An HTML file around data. `scripts` name files of view/, each after those it imports."""
    style, script = _asset("page.css"), bundle(tuple(scripts))
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; media-src blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    named = html.escape(visible(title)).encode("ascii", "xmlcharrefreplace").decode("ascii")
    return (
        "<!DOCTYPE html>\n"
        f'<html lang="{language}">\n<head>\n<meta charset="utf-8">\n{_GENERATOR}\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{named}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        "<noscript>This page draws its maps with JavaScript, which is switched off.</noscript>\n"
        f'<script type="application/json" class="data">{inert_json(data)}</script>\n'
        f'<script type="module">{script}</script>\n</body>\n</html>\n'
    )


def inert_json(data: Any) -> str:
    """JSON that cannot end the element it stands in; ASCII, so that no line separator or lone surrogate is left."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character, escape in _UNSAFE.items():
        text = text.replace(character, escape)
    return text


@cache
def bundle(scripts: tuple[str, ...]) -> str:
    """Modules as one script: each keeps its own names to itself and hands on those that it exports."""
    return "\n" + "".join(_enclosed(_asset(f"{name}.js")) for name in scripts)


def _enclosed(module: str) -> str:
    names = ", ".join(_EXPORT.findall(module))
    inside = _EXPORT.sub("", _IMPORT.sub("", module))
    return f"const {{ {names} }} = (() => {{\n{inside}return {{ {names} }};\n}})();\n"


@cache
def _asset(name: str) -> str:
    return (files("seq2see.look.draw") / "view" / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _belongs(attention: AttentionMap, example: PageExample) -> bool:
    """Whether a map is of the same pair as those of an example, and of a kind that it lacks."""
    if any(shown.kind == attention.kind for shown in example.maps):
        return False
    return all(_same_pair(shown, attention) for shown in example.maps)


def _same_pair(first: AttentionMap, second: AttentionMap) -> bool:
    """Self-attention knows only one of the two texts: the encoder's the source, the decoder's the target."""
    texts = [
        (
            None if attention.kind == "decoder" else attention.source.text,
            None if attention.kind == "encoder" else attention.target.text,
        )
        for attention in (first, second)
    ]
    return all(a is None or b is None or a == b for a, b in zip(*texts, strict=True))


def _pack_example(example: PageExample, maps: Sequence[AttentionMap]) -> dict[str, Any]:
    order = ("cross", "encoder", "decoder")
    packed = [pack(attention) for attention in sorted(maps, key=lambda attention: order.index(attention.kind))]
    best = None if example.best is None else [example.best.layer, example.best.head]
    return {
        "title": visible(example.title or (maps[0].source.text if maps else ""), 120) or "(empty)",
        "texts": [[visible(label), visible(text, _LONGEST)] for label, text in example.texts],
        "maps": packed,
        "tree": None if example.tree is None else example.tree.as_dict(),
        "best": best,
        "opening": None if example.opening is None else example.opening._asdict(),
    }
