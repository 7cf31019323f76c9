"""Exchange files of translators -> pairs: TMX 1.x, XLIFF 1.2 and XLIFF 2.

One walk over the XML serves both: units are handed out as they close and freed at once, so memory stays flat. Nothing
outside the file is ever fetched and no entity is expanded; a file that declares entities is refused. XML states its
own encoding (memories come in UTF-16 as often as in UTF-8), so here the file's word is taken.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seq2see.errors import DataError, MissingExtraError
from seq2see.text.lines import open_bytes
from seq2see.text.pair import Languages, Pair, find_language

if TYPE_CHECKING:
    from lxml.etree import _Element

NATIVE_CODE = frozenset({"bpt", "ept", "it", "ph", "ut"})
"""Inline elements whose content is markup of the original document, not words. Others (g, hi, mrk, pc) hold words."""

UNTRANSLATED = frozenset({"new", "needs-translation", "initial"})
"""States by which XLIFF 1.2 and 2 say that the target is only a placeholder."""

_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def read_tmx(path: Path, languages: Languages) -> Iterator[Pair]:
    """Units that hold both languages. By default those are the source language of the header and the next one."""
    declared: str | None = None
    settled: tuple[str, str] | None = None
    seen: dict[str, None] = {}
    number, found = 0, False
    for name, element in _elements(path, "TMX", "tmx", ("header", "tu")):
        if name == "header":
            declared = element.get("srclang")
            continue
        number += 1
        variants = _variants(element)
        settled = settled or languages.settle(list(variants), None if declared == "*all*" else declared)
        if len(seen) < 10:
            seen.update(dict.fromkeys(variants))
        if settled is None:
            continue
        source, target = (find_language(language, variants) for language in settled)
        if source is not None and target is not None and source != target:
            found = True
            yield Pair(_text(variants[source], path), _text(variants[target], path), number)
    if number and not found:
        asked = " and ".join(language for language in languages if language) or "two languages"
        raise DataError(f"no unit holds {asked}; the file holds {', '.join(seen) or 'none'}", path=path)


def read_xliff(path: Path, languages: Languages) -> Iterator[Pair]:
    """Translated units (1.2) and segments (2); one without target, or with a placeholder for it, is left out."""
    names = ("trans-unit", "segment")
    for number, (name, unit) in enumerate(_elements(path, "XLIFF", "xliff", names), start=1):
        source, target = _child(unit, "source"), _child(unit, "target")
        if source is None or target is None or not _is_translated(name, unit, target):
            continue
        pair = _text(source, path), _text(target, path)
        if not pair[1]:
            continue
        if languages.turned(*_stated_languages(name, unit), path):
            pair = pair[1], pair[0]
        yield Pair(*pair, number)


def _variants(unit: "_Element") -> "dict[str, _Element]":
    """Language -> its segment. Of two variants in one language the first counts."""
    variants: dict[str, _Element] = {}
    for variant in unit.iterchildren("{*}tuv"):
        language = variant.get(_LANG) or variant.get("lang")
        segment = _child(variant, "seg")
        if language and segment is not None:
            variants.setdefault(language, segment)
    return variants


def _is_translated(name: str, unit: "_Element", target: "_Element") -> bool:
    holder = unit if name == "trans-unit" else unit.getparent()
    state = (target if name == "trans-unit" else unit).get("state")
    return state not in UNTRANSLATED and (holder is None or holder.get("translate") != "no")


def _stated_languages(name: str, unit: "_Element") -> tuple[str | None, str | None]:
    if name == "segment":
        root = unit.getroottree().getroot()
        return root.get("srcLang"), root.get("trgLang")
    file = next(unit.iterancestors("{*}file"), unit)
    return file.get("source-language"), file.get("target-language")


def _child(element: "_Element", name: str) -> "_Element | None":
    return next(element.iterchildren("{*}" + name), None)


def _text(element: "_Element", path: Path) -> str:
    """The words of a segment with its inline elements taken off and the words inside them kept."""
    parts = [element.text or ""]
    for child in element.iterchildren():
        if not isinstance(child.tag, str):
            raise _entity_error(path)
        name = _local_name(child)
        if name == "cp":  # XLIFF 2 spells the characters that XML forbids
            parts.append(_forbidden_character(child.get("hex") or "", path))
        elif name not in NATIVE_CODE:
            parts.append(_text(child, path))
        parts.append(child.tail or "")
    return "".join(parts)


def _forbidden_character(code: str, path: Path) -> str:
    try:
        character = chr(int(code, 16))
        character.encode()
    except (ValueError, OverflowError):
        raise DataError("<cp> does not name a character; repair its hex attribute", path=path) from None
    return character


def _elements(path: Path, what: str, root: str, names: tuple[str, ...]) -> "Iterator[tuple[str, _Element]]":
    """Elements of these names as each of them closes; each is gone from the tree when the next one closes."""
    try:
        from lxml import etree
    except ImportError:
        raise MissingExtraError(f"reading {what}", "formats") from None
    options: dict[str, Any] = {
        "resolve_entities": False,
        "load_dtd": False,
        "no_network": True,
        "huge_tree": False,
        "remove_comments": True,
        "remove_pis": True,
    }
    with open_bytes(path) as stream:
        try:
            checked = False
            for _, element in etree.iterparse(stream, tag=[f"{{*}}{name}" for name in names], **options):
                if not checked:
                    _check_document(element, path, what, root)
                    checked = True
                yield _local_name(element), element
                _free(element)
        except etree.XMLSyntaxError as error:
            raise _syntax_error(error.msg or "cannot be parsed", error.lineno, path) from None


def _check_document(element: "_Element", path: Path, what: str, root: str) -> None:
    document = element.getroottree()
    if _local_name(document.getroot()) != root:
        raise DataError(f"is not {what}: it has no <{root}> at its root; check the file's suffix", path=path)
    declared: Any = document.docinfo.internalDTD
    if declared is not None and next(iter(declared.iterentities()), None) is not None:
        raise _entity_error(path)


def _syntax_error(reason: str, line: int | None, path: Path) -> DataError:
    if "entity" in reason.lower():  # expanding too far, or never declared
        return _entity_error(path)
    reason = " ".join(reason.split())[:120]
    return DataError(f"malformed XML: {reason}; repair it or export it again", path=path, line=line or 1)


def _entity_error(path: Path) -> DataError:
    return DataError("uses XML entities of its own, which are never expanded; export it without a DTD", path=path)


def _local_name(element: "_Element") -> str:
    return str(element.tag).rpartition("}")[2]


def _free(element: "_Element") -> None:
    """Drop everything that closed before the element, in its parent and further up, so that the tree never grows."""
    for node in (element, *element.iterancestors()):
        parent = node.getparent()
        while parent is not None and node.getprevious() is not None:
            del parent[0]
