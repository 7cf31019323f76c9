"""Damage that a format's own reader gets past: the file is well-formed, and what it says is not."""

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

Mutator = Callable[[bytes, Random], bytes]


def mutator(name: str) -> Mutator | None:
    """The mutator for files of this name, if their kind has one."""
    return _MUTATORS.get(name.rpartition(".")[2].lower())


# ----- JSON

_HOSTILE = (
    *(
        "null",
        "true",
        "-1",
        "0",
        "1",
        "2",
        "3000000",
        "50000000",
        "1e30",
        "1e308",
        "1e999",
        "-1e999",
        "NaN",
        "Infinity",
    ),
    *("9223372036854775808", "-9223372036854775809", "1" * 5000, "0.5", "-0.0", '""', '"a"', '"\\u0000"', '"\\ud800"'),
    *('"../../../etc/hostname"', '"/dev/zero"', '"\\u001b[31m"', '"\\u2028\\n"', '"NaN"', '"1"', "[]", "{}", "[[]]"),
    *('{"": 0}', "[null]", "[1, 2, 3]", '["a", "b"]', '{"a": {"a": {}}}', "[" * 200 + "]" * 200),
    *("[" * 5000 + "]" * 5000, '{"a":' * 3000 + "1" + "}" * 3000, '"' + "a" * 70000 + '"', '"' + "가" * 3000 + '"'),
)
_NAMES = (
    "",
    "\0",
    "\ud800",
    "../x",
    "/etc/passwd",
    "a" * 5000,
    "__class__",
    "version",
    "family",
    "size",
    "ends",
    "가",
    "\x1b[31m",
)
_MARK = "@hostile@"


def mutate_json(content: bytes, random: Random) -> bytes:
    """One value or name of the document replaced, moved, doubled or lost."""
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return content
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        document = _changed(document, random)
    text = json.dumps(document, ensure_ascii=random.random() < 0.5, indent=random.choice((None, None, 1)))
    while f'"{_MARK}"' in text:
        text = text.replace(f'"{_MARK}"', random.choice(_HOSTILE), 1)
    if random.random() < 0.1:  # a name twice
        text = re.sub(r'("[^"]{1,20}": )', rf"\g<1>{random.choice(_HOSTILE[:12])}, \g<1>", text, count=1)
    return text.encode(errors="surrogatepass")


def mutate_jsonl(content: bytes, random: Random) -> bytes:
    lines = content.split(b"\n")
    place = random.randrange(len(lines))
    lines[place] = mutate_json(lines[place], random)
    return b"\n".join(lines)


def _changed(document: Any, random: Random) -> Any:
    places = _places(document)
    if not places:
        return _MARK
    holder, key = random.choice(places)
    match random.randrange(8):
        case 0 | 1 | 2 | 3:
            holder[key] = _MARK
        case 4:
            other, name = random.choice(places)
            holder[key] = json.loads(json.dumps(other[name])) if _depth(other[name]) < 50 else _MARK
        case 5:
            del holder[key]
        case 6 if isinstance(holder, dict):
            holder[random.choice(_NAMES)] = holder.pop(key) if random.random() < 0.5 else _MARK
        case 6:
            holder.extend(holder[:] * random.choice((1, 3)))
        case 7 if isinstance(holder[key], int | float):
            holder[key] = random.choice(
                (holder[key] + 1, holder[key] - 1, -holder[key], holder[key] * 2, str(holder[key]))
            )
        case 7:
            holder[key] = [holder[key]]
    return document


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every value below the top as (its holder, its key), a few of each long list."""
    places: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting and len(places) < 4000:
        holder = waiting.pop()
        if not isinstance(holder, dict | list):
            continue
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        for key in keys[:30] + keys[-3:]:
            places.append((holder, key))
            waiting.append(holder[key])
    return places


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level and depth < 60:
        level = [x for v in level if isinstance(v, dict | list) for x in (v.values() if isinstance(v, dict) else v)]
        depth += 1
    return depth


# ----- safetensors: eight bytes of length, a header of JSON, the numbers

_DTYPES = ("F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL", "F8_E4M3", "C64", "X9", "")


def mutate_safetensors(content: bytes, random: Random) -> bytes:
    if len(content) < 10:
        return content
    size = int.from_bytes(content[:8], "little")
    try:
        header = json.loads(content[8 : 8 + size])
    except ValueError:
        return content
    data = content[8 + size :]
    names = [name for name in header if name != "__metadata__"]
    name = random.choice(names)
    entry = header[name]
    match random.randrange(8):
        case 0:
            entry["dtype"] = random.choice(_DTYPES)
        case 1:  # the same bytes as numbers of another kind
            entry["dtype"] = random.choice(("I32", "U32"))
        case 2:
            entry["shape"] = random.choice(
                ([], [0], [-1], [1 << 40, 1 << 40], entry["shape"][::-1], [*entry["shape"], 1])
            )
        case 3:
            entry["data_offsets"] = random.choice(([0, 0], [0, 1 << 60], [-1, 4], entry["data_offsets"][::-1], [4, 2]))
        case 4:
            header[random.choice(_NAMES)] = header.pop(name) if random.random() < 0.5 else entry
        case 5:
            del header[name]
        case 6:
            start = random.randrange(max(1, len(data) // 4)) * 4
            number = random.choice((b"\0\0\xc0\x7f", b"\0\0\x80\x7f", b"\0\0\x80\xff", b"\xff\xff\x7f\x7f"))
            data = data[:start] + number + data[start + 4 :]
        case 7:
            header["__metadata__"] = random.choice(({"a": "b"}, {"a": 1}, [], {"\ud800": "x"}))
    text = json.dumps(header).encode()
    if random.random() < 0.3:
        text = mutate_json(text, random)
    said = len(text) if random.random() < 0.9 else random.choice((0, 1, 1 << 40, (1 << 64) - 1, len(text) + 1))
    return said.to_bytes(8, "little") + text + data


# ----- ONNX: nodes, numbers and names of a graph


def mutate_onnx(content: bytes, random: Random) -> bytes:
    import onnx

    try:
        model = onnx.load_model_from_string(content)
    except Exception:
        return content
    for _ in range(random.choice((1, 1, 2, 4))):
        _change_graph(model, random)
    return bytes(model.SerializeToString())


_OPERATORS = (
    "Identity",
    "Neg",
    "Exp",
    "Loop",
    "If",
    "Scan",
    "NoSuchOperator",
    "Reshape",
    "Expand",
    "Tile",
    "Gather",
    "",
)


def _change_graph(model: Any, random: Random) -> None:
    import onnx

    graph = model.graph
    nodes, numbers = graph.node, graph.initializer
    node = random.choice(nodes) if nodes else None
    number = random.choice(numbers) if numbers else None
    match random.randrange(12):
        case 0 if node is not None:
            node.op_type = random.choice((*_OPERATORS, random.choice(nodes).op_type))
        case 1 if node is not None and node.input:
            node.input[random.randrange(len(node.input))] = random.choice(
                ("", "nowhere", node.output[0], graph.input[0].name)
            )
        case 2 if node is not None:
            nodes.remove(node)
        case 3 if node is not None:
            nodes.append(node)
        case 4 if node is not None and node.attribute:
            attribute = random.choice(node.attribute)
            attribute.i = random.choice((-1, 0, 7, 1 << 40))
            del attribute.ints[1:]
        case 5 if number is not None:
            number.raw_data = number.raw_data[: random.randrange(len(number.raw_data) + 1)]
        case 6 if number is not None:
            number.dims[:] = random.choice(([], [0], [-1], [1 << 30, 1 << 30], list(number.dims)[::-1]))
        case 7 if number is not None:
            number.data_type = random.choice((0, 1, 2, 6, 7, 8, 10, 99))
        case 8 if number is not None:  # numbers that lie in another file
            number.data_location = onnx.TensorProto.EXTERNAL
            del number.external_data[:]
            place = number.external_data.add()
            place.key, place.value = (
                "location",
                random.choice(("/etc/hostname", "../config.json", "step.onnx", "/dev/zero", "")),
            )
            number.ClearField("raw_data")
        case 9 if graph.input:
            part = random.choice((*graph.input, *graph.output))
            part.name = random.choice(("", "other", graph.input[0].name))
        case 10:
            model.ir_version = random.choice((0, 1, 99))
        case 11 if number is not None and number.raw_data:
            number.raw_data = random.randbytes(len(number.raw_data))


# ----- sound


def mutate_wav(content: bytes, random: Random) -> bytes:
    """A field of the head: kind, channels, rate, bytes, bits, lengths of chunks."""
    if len(content) < 44:
        return content
    place, form = random.choice(
        ((4, "<I"), (16, "<I"), (20, "<H"), (22, "<H"), (24, "<I"), (28, "<I"), (32, "<H"), (34, "<H"), (40, "<I"))
    )
    value = (
        random.choice((0, 1, 2, 3, 8, 100, 255, 65535))
        if form == "<H"
        else random.choice((0, 1, 7999, 8000, 192000, (1 << 31) - 1, (1 << 32) - 1))
    )
    changed = content[:place] + struct.pack(form, value) + content[place + struct.calcsize(form) :]
    return changed if random.random() < 0.8 else changed[: random.choice((44, 46, 100, len(changed) // 2))]


# ----- numpy: a magic word, a header that is a literal, the numbers


def mutate_npy(content: bytes, random: Random) -> bytes:
    if not content.startswith(b"\x93NUMPY"):
        return content
    size = int.from_bytes(content[8:10], "little")
    header, data = content[10 : 10 + size].decode("latin-1"), content[10 + size :]
    kind = random.choice(("|O", "<f4", "<f8", ">f4", "<i8", "|b1", "<U4", "|V4", "<m8", "|S0", "nonsense"))
    shape = random.choice(("(0,)", "()", "(-1,)", "(1073741824, 1073741824)", "(1,)", "(2, 2, 2)", "3", "None"))
    change = random.choice(
        (
            ("'descr': '[^']*'", f"'descr': '{kind}'"),
            (r"'shape': \([^)]*\)", f"'shape': {shape}"),
            ("False", "True"),
            ("{", "{'a': 1, "),
        )
    )
    header = re.sub(change[0], lambda _: change[1], header, count=1).rstrip() + "\n"
    if random.random() < 0.1:
        data = b"\x80\x04cos\nsystem\n(S'true'\ntR."  # a pickle that would run a command
    return content[:8] + len(header).to_bytes(2, "little") + header.encode("latin-1") + data


def mutate_npz(content: bytes, random: Random) -> bytes:
    """One member of the archive: its numbers, its name, or the document inside it."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, ValueError):
        return content
    name = random.choice(list(members))
    match random.randrange(4):
        case 0:
            members[name] = mutate_npy(members[name], random)
        case 1 if "frame.npy" in members:
            members["frame.npy"] = _with_frame(mutate_json(_frame(members["frame.npy"]), random))
        case 2:
            members[random.choice(("../x.npy", "/x.npy", "weights.npy", "frame.npy", "hidden.npy"))] = members.pop(name)
        case _:
            members[name] = members[name][: random.randrange(len(members[name]) + 1)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in members.items():
            archive.writestr(zipfile.ZipInfo(member), data)
    return packed.getvalue()


def _frame(member: bytes) -> bytes:
    return member[10 + int.from_bytes(member[8:10], "little") :]


def _with_frame(data: bytes) -> bytes:
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({len(data)},), }}\n".encode()
    return b"\x93NUMPY\x01\0" + len(header).to_bytes(2, "little") + header + data


# ----- compiled catalogues: words of four bytes


def mutate_mo(content: bytes, random: Random) -> bytes:
    place = random.randrange(max(1, min(len(content), 200) // 4)) * 4
    value = random.choice((0, 1, 2, 7, 28, 255, len(content), len(content) - 1, 1 << 31, (1 << 32) - 1))
    return content[:place] + struct.pack("<I", value) + content[place + 4 :]


# ----- XML: a tree that stays well-formed

_WORDS = (
    *(
        "",
        " ",
        "\n",
        "a",
        "가",
        "%s",
        "{0}",
        "<b>",
        "&",
        "]]>",
        "a" * 3000,
        "\u2028",
        "\ufffd",
        "<x/>",
        "- a\n- b",
        "1",
    ),
    *(
        "no",
        "yes",
        "preserve",
        "final",
        "new",
        "initial",
        "translated",
        "ko",
        "en",
        "ko-KR",
        "*all*",
        "1.2",
        "2.0",
        "-1",
    ),
)


def mutate_xml(content: bytes, random: Random) -> bytes:
    """Elements moved, doubled, wrapped, renamed or lost; texts and attributes replaced."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True)
    try:
        tree = etree.parse(io.BytesIO(content), parser)
    except (etree.XMLSyntaxError, ValueError):
        return content
    for _ in range(random.choice((1, 1, 2, 3, 6))):
        elements = [element for element in tree.iter() if isinstance(element.tag, str)]
        _change_element(random.choice(elements), elements, random)
    encoding = random.choice(("UTF-8", "UTF-8", "UTF-8", "UTF-16", "EUC-KR", "US-ASCII", "ISO-8859-1"))
    return bytes(etree.tostring(tree, encoding=encoding, xml_declaration=random.random() < 0.8 or encoding != "UTF-8"))


def _change_element(element: Any, elements: list[Any], random: Random) -> None:
    from copy import deepcopy

    parent, other = element.getparent(), random.choice(elements)
    match random.randrange(9):
        case 0:
            element.text = random.choice(_WORDS)
        case 1:
            element.tail = random.choice(_WORDS)
        case 2 if parent is not None:
            parent.remove(element)
        case 3 if parent is not None and len(elements) < 400:
            element.addnext(deepcopy(element))
        case 4 if len(elements) < 400:
            other.insert(random.randint(0, len(other)), deepcopy(element))
        case 5:
            element.tag = random.choice((other.tag, "{other}" + other.tag.rpartition("}")[2], "g", "mrk"))
        case 6 if element.attrib:
            element.set(random.choice(list(element.attrib)), random.choice(_WORDS))
        case 7 if other.attrib:
            name = random.choice(list(other.attrib))
            element.set(name, other.get(name))
        case 8 if parent is not None:
            for _ in range(random.choice((1, 3, 30, 200))):
                wrapper = deepcopy(element)
                del wrapper[:]
                parent = element.getparent()
                parent.replace(element, wrapper)
                wrapper.append(element)


_MUTATORS: dict[str, Mutator] = {
    "json": mutate_json,
    "jsonl": mutate_jsonl,
    "safetensors": mutate_safetensors,
    "onnx": mutate_onnx,
    "wav": mutate_wav,
    "npy": mutate_npy,
    "npz": mutate_npz,
    "mo": mutate_mo,
    "tmx": mutate_xml,
    "xlf": mutate_xml,
}
