"""Valid bytes in, bytes that are nearly valid out.

Structure first (a value of a JSON document, a tensor's header, a node of a graph: `structure.py`), then plain damage:
flipped bits, lost and doubled stretches, words of the format in wrong places, other encodings, numbers past any limit.
"""

import gzip
import hashlib
import io
import re
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

from fuzzing import structure
from fuzzing.target import SPECIALS, Content, Files, Special, Target

HEAVY = 100
"""Of so many seeds the last gets an input of megabytes: a long line, deep nesting, a .gz that unpacks to a lot."""
LIGHT = 7
"""Of so many seeds the last gets an input with one byte changed."""

LARGEST = 1 << 18  # bytes of an input that is not heavy
_COUNTS = (1, 1, 1, 1, 2, 2, 3, 6)
_NUMBERS = (
    *(b"-1", b"0", b"1", b"255", b"65535", b"65536", b"2147483647", b"2147483648", b"4294967296"),
    *(b"9223372036854775807", b"9223372036854775808", b"18446744073709551616", b"1e308", b"1e309", b"-0.0", b"NaN"),
    *(b"Infinity", b"1" * 5000, b"0x10", b"1_000", b"00", b"0.1", b"1e-400", "٣".encode(), "１".encode()),
)
_ODD = (
    *(b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x1b[31m"),
    *(
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\t",
        b"\x0b",
        b"\x0c",
        b"\x1a",
        b"\x85",
        b"\\",
        b'"',
        b"'",
        b"%",
        b"{",
        b"}",
        b"<",
        b"&",
    ),
    *(text.encode() for text in ("\u2028", "\u2029", "\x85", "\u200b", "\u202e", "\ufeff", "\ufffe", "\U0010ffff")),
    *(
        text.encode()
        for text in ("각".encode().decode(), "\u1100\u1161\u11a8", "e\u0301", "ﬁ", "İ", "ß", "👩‍👩‍👧", "\u0300" * 40)
    ),
)
_ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp949", "euc-kr", "latin-1", "utf-7", "utf-8-sig", "cp037")


def make_input(target: Target, seeds: Sequence[Files], seed: int) -> Files:
    """The input of a seed: always the same."""
    random = Random(f"{target.name} {seed}")
    original = seeds[random.randrange(len(seeds))]
    names = [name for name in original if name not in target.frozen]
    files: dict[str, Content] = dict(original)
    heavy, light = is_heavy(seed), is_light(seed)
    for name in random.sample(names, 1 if heavy or light or random.random() < 0.8 else random.randint(1, len(names))):
        content = original[name]
        others = [other[name] for other in seeds if name in other]
        assert isinstance(content, bytes)
        if light:
            place = random.randrange(max(1, len(content)))
            files[name] = content[:place] + bytes([random.choice(content or b"0")]) + content[place + 1 :]
        elif target.specials and random.random() < 0.05:
            files[name] = Special(random.choice(SPECIALS))
        else:
            files[name] = mutated(
                name, content, random, target.tokens, [o for o in others if isinstance(o, bytes)], heavy
            )
    if target.refit and (light or random.random() < 0.8):
        files = refitted(original, files)
    return {name: content for name, content in files.items() if content != Special("missing")}


def is_heavy(seed: int) -> bool:
    return seed % HEAVY == HEAVY - 1


def is_light(seed: int) -> bool:
    """One byte of one file is another one: some of these get through, whatever the format."""
    return seed % LIGHT == LIGHT - 1


def mutated(
    name: str, content: bytes, random: Random, tokens: Sequence[bytes], others: Sequence[bytes], heavy: bool
) -> bytes:
    """One file, damaged in the way of its kind."""
    if name.endswith(".gz"):
        return _packed(name.removesuffix(".gz"), content, random, tokens, others, heavy)
    if heavy:
        return random.choice(_HEAVY)(content, random, tokens)
    aware = structure.mutator(name)
    if aware is not None and random.random() < 0.6:
        content = aware(content, random)
        if random.random() < 0.7:
            return content
    for _ in range(random.choice(_COUNTS)):
        content = random.choice(_OPERATIONS)(content, random, tokens, others)
        content = content[:LARGEST]
    return content


def _packed(
    name: str, content: bytes, random: Random, tokens: Sequence[bytes], others: Sequence[bytes], heavy: bool
) -> bytes:
    if heavy and random.random() < 0.5:
        return bomb(random.choice(_FILLINGS), random.choice((8, 64)))
    if not heavy and random.random() < 0.3:
        return _damaged(content, random, (), others)
    plain = mutated(name, gzip.decompress(content), random, tokens, [gzip.decompress(other) for other in others], heavy)
    packed = gzip.compress(plain, compresslevel=1, mtime=0)
    return packed * random.choice((1, 1, 1, 2)) + (random.randbytes(9) if random.random() < 0.1 else b"")


def refitted(original: Files, files: Files) -> dict[str, Content]:
    """The digests that JSON files state of other files, made true again; whoever changes a folder can do that, too."""
    result = dict(files)
    for _ in range(3):  # a manifest may list a file that lists files
        changed = {
            hashlib.sha256(before).hexdigest(): hashlib.sha256(after).hexdigest()
            for name, before in original.items()
            if isinstance(before, bytes) and isinstance(after := result.get(name), bytes) and after != before
        }
        for name in result:
            content, start = result[name], files[name]
            if name.endswith(".json") and isinstance(content, bytes) and isinstance(start, bytes):
                result[name] = _replaced(start, {a.encode(): b.encode() for a, b in changed.items()})
    return result


def _replaced(content: bytes, digests: dict[bytes, bytes]) -> bytes:
    return re.sub(rb"[0-9a-f]{64}", lambda match: digests.get(match[0], match[0]), content)


# ----- plain damage

Operation = Callable[[bytes, Random, Sequence[bytes], Sequence[bytes]], bytes]


def _span(content: bytes, random: Random, most: int = 64) -> tuple[int, int]:
    start = random.randint(0, len(content))
    return start, min(len(content), start + random.randint(1, most))


def _put(content: bytes, start: int, end: int, middle: bytes) -> bytes:
    return content[:start] + middle + content[end:]


def _flip(content: bytes, random: Random, *_: object) -> bytes:
    if not content:
        return content
    place = random.randrange(len(content))
    return _put(content, place, place + 1, bytes([content[place] ^ 1 << random.randrange(8)]))


def _set(content: bytes, random: Random, *_: object) -> bytes:
    start, end = _span(content, random, 8)
    return _put(content, start, end, random.choice((b"\0", b"\xff", b"\x7f", b"\x80", b" ")) * (end - start))


def _lose(content: bytes, random: Random, *_: object) -> bytes:
    start, end = _span(content, random, random.choice((1, 8, 64, 1024)))
    return _put(content, start, end, b"")


def _cut(content: bytes, random: Random, *_: object) -> bytes:
    return content[: random.randint(0, len(content))]


def _double(content: bytes, random: Random, *_: object) -> bytes:
    start, end = _span(content, random, random.choice((8, 64, 1024)))
    return _put(content, end, end, content[start:end] * random.choice((1, 1, 2, 50)))


def _splice(content: bytes, random: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    other = random.choice(others) if others else content
    return content[: random.randint(0, len(content))] + other[random.randint(0, len(other)) :]


def _insert(content: bytes, random: Random, tokens: Sequence[bytes], others: object) -> bytes:
    place = random.randint(0, len(content))
    return _put(content, place, place, random.choice((*tokens, *_ODD)))


def _repeat(content: bytes, random: Random, tokens: Sequence[bytes], others: object) -> bytes:
    place = random.randint(0, len(content))
    return _put(content, place, place, random.choice((*tokens, *_ODD, b"a")) * random.choice((2, 20, 300, 3000)))


def _word(content: bytes, random: Random, tokens: Sequence[bytes], others: object) -> bytes:
    """A word or a sign of the file becomes another one of its format."""
    words = list(re.finditer(rb"[\w.:-]+|[^\w\s]", content[:LARGEST]))
    if not words:
        return content
    word = random.choice(words)
    return _put(content, *word.span(), random.choice((*tokens, *_ODD, *_NUMBERS, random.choice(words)[0])))


def _number(content: bytes, random: Random, *_: object) -> bytes:
    numbers = list(re.finditer(rb"\d+(?:\.\d+)?", content[:LARGEST]))
    return _put(content, *random.choice(numbers).span(), random.choice(_NUMBERS)) if numbers else content


def _lines(content: bytes, random: Random, *_: object) -> bytes:
    """Lines lost, doubled, moved or ended in another way."""
    lines = content.split(b"\n")
    place, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(5):
        case 0:
            del lines[place]
        case 1:
            lines.insert(other, lines[place])
        case 2:
            lines[place], lines[other] = lines[other], lines[place]
        case 3:
            return random.choice((b"\r\n", b"\r", b"", b"\n\n", "\u2028".encode())).join(lines)
        case 4:
            lines[place] = b""
    return b"\n".join(lines)


def _encode(content: bytes, random: Random, *_: object) -> bytes:
    return content.decode(errors="replace").encode(random.choice(_ENCODINGS), errors="replace")


def _nest(content: bytes, random: Random, tokens: Sequence[bytes], others: object) -> bytes:
    """The same opening, many times over, and mostly as many closings."""
    pairs = [(token, _closing(token)) for token in tokens if _closing(token)] or [(b"[", b"]"), (b"(", b")")]
    opening, closing = random.choice(pairs)
    depth = random.choice((3, 30, 300, 2000))
    start, end = sorted((random.randint(0, len(content)), random.randint(0, len(content))))
    closings = closing * random.choice((depth, depth, depth - 1, 0))
    return content[:start] + opening * depth + content[start:end] + closings + content[end:]


def _closing(token: bytes) -> bytes:
    if tag := re.match(rb"<([A-Za-z][\w:-]*)(?:\s[^<>]*)?(?<!/)>$", token):
        return b"</" + tag[1] + b">"
    return {b"{": b"}", b"[": b"]", b"(": b")", b'{"a":': b"}"}.get(token, b"")


_OPERATIONS: tuple[Operation, ...] = (
    *(_flip, _set, _lose, _cut, _double, _splice, _insert, _repeat, _word, _word, _number, _lines, _encode, _nest),
)


def _damaged(content: bytes, random: Random, tokens: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    return random.choice(_OPERATIONS[:7])(content, random, tokens, others)


# ----- inputs of megabytes


def _long_line(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    place = random.randint(0, len(content))
    return _put(content, place, place, random.choice((b"a", b" ", "가".encode(), b"\0", *tokens)) * (5 << 20))[
        : 18 << 20
    ]


def _deep(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    pairs = [(token, _closing(token)) for token in tokens if _closing(token)] or [(b"[", b"]"), (b"{", b"}")]
    opening, closing = random.choice(pairs)
    start = random.randint(0, len(content))
    return content[:start] + opening * 100_000 + closing * random.choice((0, 100_000)) + content[start:]


def _many(content: bytes, random: Random, tokens: Sequence[bytes]) -> bytes:
    """The whole file, or one line of it, very often."""
    lines = content.splitlines(keepends=True) or [b"\n"]
    place = random.randrange(len(lines))
    piece = random.choice((content, lines[place])) or b"\n"
    return b"".join(lines[:place]) + piece * min(20_000, (2 << 20) // len(piece) + 1) + b"".join(lines[place:])


_HEAVY = (_long_line, _deep, _many)
_FILLINGS = (b"\0", b"\n", b"<a/>", b"a\tb\n", b'{"source": "a"}\n', b"[")


@cache
def bomb(filling: bytes, megabytes: int) -> bytes:
    """A small .gz that unpacks to so much."""
    packed = io.BytesIO()
    with gzip.GzipFile("", "wb", fileobj=packed, mtime=0, compresslevel=9) as file:
        if filling == b"<a/>":
            file.write(b'<?xml version="1.0"?><tmx version="1.4"><body>')
        for _ in range(megabytes):
            file.write(filling * ((1 << 20) // len(filling)))
    return packed.getvalue()
