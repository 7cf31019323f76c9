"""Text to ids and back: five schemes, one promise, decode(encode(x)) == x for NFC text of any script.

    text ─▶ spelling ─▶ words (a regular expression) ─▶ pieces (the `tokenizers` library) ─▶ ids

    char     every character a piece             bpe      merges learned from the text (Sennrich 2016)
    word     frequent words, else characters     unigram  likeliest pieces (Kudo 2018)
    byte     every byte of UTF-8 a piece

Every vocabulary begins with the four ids of `seq2see.vocabulary`, and no text that a user types becomes one of them
(but `<unk>`, when byte_fallback is off).
"""

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

from seq2see import atomic
from seq2see.errors import ConfigError, DataError, RunError
from seq2see.text import jamo
from seq2see.text.dropout import Merges
from seq2see.text.pieces import SPECIALS, Pieces, Scheme, TokenizerConfig, UnusableError, backend, from_document, learn
from seq2see.text.spelling import BYTES, Spelling
from seq2see.vocabulary import UNK

__all__ = ["Encoding", "Scheme", "Tokenizer", "TokenizerConfig", "train_pair"]

_FORMAT, _VERSION = "seq2see tokenizer", 1
_LARGEST = 64 * 2**20  # bytes of a file; a vocabulary of 100,000 pieces has eight

Span = tuple[int, int]


@dataclass(frozen=True)
class Encoding:
    """A text in pieces. `tokens` are for the eye; `spans` are (start, end) in code points of `text`.

    Pieces of one character (its bytes, its jamo) share the span of that character. A special entry, which stands for
    no text, has an empty span.
    """

    text: str
    ids: list[int]
    tokens: list[str]
    spans: list[Span]


class Tokenizer:
    """Made by `Tokenizer.train` or `Tokenizer.load`; never changes afterwards."""

    def __init__(self, config: TokenizerConfig, pieces: Pieces) -> None:
        self.config = config
        self._pieces = pieces
        self._backend = backend(config, pieces)
        self._spelling = Spelling(
            pieces.alphabet, in_jamo=config.in_jamo, in_bytes=config.in_bytes, first_space=config.first_space
        )

    @classmethod
    def train(cls, texts: Iterable[str], config: TokenizerConfig | None = None) -> "Tokenizer":
        """Learns a vocabulary in one pass; texts should be NFC. The same texts give the same bytes."""
        config = config or TokenizerConfig()
        return cls(config, learn(texts, config))

    @property
    def size(self) -> int:
        """Entries of the vocabulary, the four special ones among them."""
        return len(self._pieces.names)

    def encode(self, text: str, *, dropout: float = 0.0, seed: int = 0) -> Encoding:
        """The pieces of a text and where they lie in it; with dropout, a function of (text, seed) and nothing else."""
        if not dropout:
            return self.encode_batch([text])[0]
        spelling, origins = self._spelling.write_with_origins(text)
        ids, spans = self._cut(spelling, dropout, seed)
        return self._encoding(text, ids, spans, origins)

    def encode_batch(self, texts: Sequence[str]) -> list[Encoding]:
        """`encode` for many texts at once, on all cores the library may use."""
        written = [self._spelling.write_with_origins(text) for text in texts]
        spellings = [spelling for spelling, _ in written]
        cuts: Iterable[tuple[list[int], Iterable[Span]]]
        if self.config.in_bytes:  # nothing is unknown, so the lengths of the pieces tell where they lie
            batch = self._backend.encode_batch_fast(spellings)
            cuts = ((ids, self._spans(ids)) for ids in (encoding.ids for encoding in batch))
        else:
            cuts = ((encoding.ids, encoding.offsets) for encoding in self._backend.encode_batch(spellings))
        return [
            self._encoding(text, ids, spans, origins)
            for text, (ids, spans), (_, origins) in zip(texts, cuts, written, strict=True)
        ]

    def ids_batch(self, texts: Sequence[str], *, dropout: float = 0.0, seed: int = 0) -> list[list[int]]:
        """Ids alone, which is all that training needs and several times faster."""
        spellings = [self._spelling.write(text) for text in texts]
        if dropout:
            return [self._cut(spelling, dropout, seed)[0] for spelling in spellings]
        return [encoding.ids for encoding in self._backend.encode_batch_fast(spellings)]

    def decode(self, ids: Iterable[int]) -> str:
        """The text that ids spell, special entries left out. Any ids of this vocabulary give a text."""
        return self._spelling.read("".join(self._names(ids)))

    def read(self, ids: Sequence[int]) -> Encoding:
        """`decode`, with the place of each id in the text: what a translation needs to be pointed at."""
        text, origins = self._spelling.read_with_origins("".join(self._names(ids)))
        return self._encoding(text, list(ids), self._spans(ids), origins)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """Each id as a string for the eye: `▁` is a space, `<0xE2>` a byte, jamo are joined where they can be."""
        self._names(ids := list(ids))
        return [self._shown[index] for index in ids]

    @property
    def names(self) -> tuple[str, ...]:
        """Every entry as it spells a text; special ones, which spell nothing, end in a space."""
        return self._pieces.names

    @property
    def scores(self) -> tuple[float, ...]:
        """Of unigram: the log probability of each entry; empty for others."""
        return self._pieces.scores

    @property
    def written_pieces(self) -> list[str]:
        """Every entry as SentencePiece writes it, for other programs: a space is `▁`, a byte `<0xE2>`."""
        in_bytes = {symbol: f"<0x{byte:02X}>" for byte, symbol in enumerate(BYTES)} if self.config.in_bytes else {}
        names = (name.strip() if name in SPECIALS else name.replace(" ", "▁") for name in self._pieces.names)
        return [in_bytes.get(name, name) for name in names]

    def words(self, encoding: Encoding | Sequence[int]) -> list[int]:
        """For each piece the index of the word, between white space, that it belongs to.

        White space counts with the word after it, as the leading space of a piece does. A special entry is a word of
        its own, so the rows of an attention map can be merged by these numbers, which rise without gaps.
        """
        encoding = encoding if isinstance(encoding, Encoding) else self.read(encoding)
        owners = _word_of_each_character(encoding.text)
        words: list[int] = []
        last: int | None = None
        for start, end in encoding.spans:
            owner = owners[start] if start < end else None
            words.append(words[-1] + (owner is None or owner != last) if words else 0)
            last = owner
        return words

    def same_as(self, other: "Tokenizer") -> bool:
        """Whether both cut every text into the same ids."""
        return self is other or (self.config == other.config and self._pieces == other._pieces)

    def save(self, path: str | Path) -> None:
        """One JSON file, written beside its place, synced, then renamed: it is there whole or not at all."""
        document = {
            "format": _FORMAT,
            "version": _VERSION,
            "config": self.config.model_dump(),
            "tokenizer": self._document(),
        }
        atomic.write_file(Path(path), (json.dumps(document, ensure_ascii=False) + "\n").encode())

    def _document(self) -> Any:
        return json.loads(self._backend.to_str())

    @classmethod
    def load(cls, path: str | Path) -> "Tokenizer":
        """Reads what `save` wrote. The file may come from anybody: it gives this tokenizer or a RunError."""
        try:
            return _read(Path(path))
        except OSError as error:
            raise RunError(f"{path}: cannot be read: {error.strerror}") from None
        except RunError:
            raise
        except UnusableError as error:
            raise RunError(f"{path}: not a tokenizer that can be used: {error}") from None
        except Exception:
            raise RunError(f"{path}: not a tokenizer that can be used: it is damaged") from None
        except BaseException as panic:
            if type(panic).__name__ != "PanicException":  # of the library, and not an Exception
                raise
            raise RunError(f"{path}: not a tokenizer that can be used: the library refuses it") from None

    def _spans(self, ids: Iterable[int]) -> Iterator[Span]:
        """Where each piece lies in the spelling they make up."""
        start = 0
        for index in ids:
            end = start + self._lengths[index]
            yield start, end
            start = end

    def _encoding(self, text: str, ids: list[int], spans: Iterable[Span], origins: list[int]) -> Encoding:
        placed, at = [], 0
        for start, end in spans:
            if start < end and text:  # a first space alone spells an empty text
                at = origins[end - 1] + 1
                placed.append((origins[start], at))
            else:
                placed.append((at, at))
        shown = self._shown
        return Encoding(text, ids, [shown[index] for index in ids], placed)

    def _cut(self, spelling: str, dropout: float, seed: int) -> tuple[list[int], list[Span]]:
        """The pieces of a spelling under subword dropout, drawn from (seed, spelling)."""
        if self.config.scheme != "bpe":
            raise ConfigError(f"subword dropout leaves out merges, and scheme = {self.config.scheme} has none: use bpe")
        if not 0.0 <= dropout < 1.0:
            raise ConfigError(f"dropout = {dropout} is not in [0, 1)")
        random = Random(f"{seed} {spelling}")
        ids: list[int] = []
        spans: list[Span] = []
        for word, (start, end) in self._backend.pre_tokenizer.pre_tokenize_str(spelling):
            cut = self._merges.cut([self._ids.get(character, UNK) for character in word], dropout, random)
            ids.extend(piece for piece, _ in cut)
            starts = [start + offset for _, offset in cut]
            spans.extend(zip(starts, [*starts[1:], end], strict=True))
        return ids, spans

    def _names(self, ids: Iterable[int]) -> list[str]:
        """The spelling of each id; that of a special one is empty."""
        names = self._pieces.names
        spellings = []
        for index in ids:
            if not 0 <= index < len(names):
                raise DataError(f"id {index} is outside a vocabulary of {len(names)}")
            spellings.append(names[index] if index > UNK else "")
        return spellings

    @cached_property
    def _lengths(self) -> list[int]:
        return [len(name) if index > UNK else 0 for index, name in enumerate(self._pieces.names)]

    @cached_property
    def _ids(self) -> dict[str, int]:
        return self._pieces.ids

    @cached_property
    def _merges(self) -> Merges:
        return Merges(self._ids, self._pieces.merges)

    @cached_property
    def _shown(self) -> list[str]:
        special = {name: name.strip() for name in SPECIALS}
        in_bytes = {symbol: f"<0x{byte:02X}>" for byte, symbol in enumerate(BYTES)} if self.config.in_bytes else {}
        return [special.get(name) or _shown(name, in_bytes) for name in self._pieces.names]


def train_pair(
    source: Iterable[str], target: Iterable[str], configs: tuple[TokenizerConfig, TokenizerConfig], *, shared: bool
) -> tuple[Tokenizer, Tokenizer]:
    """A tokenizer for each side; when shared, one and the same that learned from both. Each side is read once."""
    if shared:
        if configs[0] != configs[1]:
            raise ConfigError("data.shared_vocabulary = true needs the same tokenizer settings for source and target")
        both = Tokenizer.train(chain(source, target), configs[0])
        return both, both
    return Tokenizer.train(source, configs[0]), Tokenizer.train(target, configs[1])


def _word_of_each_character(text: str) -> list[int]:
    owners, word, begins = [], -1, True
    for character in text:
        if character.isspace():
            begins = True
        elif begins:
            word, begins = word + 1, False
        owners.append(word + begins)
    return [min(owner, max(word, 0)) for owner in owners]


def _shown(name: str, in_bytes: dict[str, str]) -> str:
    return "".join(in_bytes.get(character) or _visible(character) for character in jamo.compose(name))


def _visible(character: str) -> str:
    if character == " ":
        return "▁"
    unseen = unicodedata.category(character) in ("Cc", "Zs", "Zl", "Zp")
    return character.encode("unicode_escape").decode() if unseen else character


def _read(path: Path) -> Tokenizer:
    document: Any = json.loads(atomic.read_file(path, _LARGEST), parse_constant=_no_constant)
    if not isinstance(document, dict) or document.get("format") != _FORMAT:
        raise UnusableError("it is another kind of file")
    version = document.get("version")
    if type(version) is not int or version < 1:
        raise UnusableError("it has no version")
    if version > _VERSION:
        raise RunError(f"{path}: version {version} is newer than {_VERSION}: update seq2see to read it")
    config = TokenizerConfig.model_validate(document.get("config"), strict=True)
    if config.scheme == "sentencepiece":
        from seq2see.text.sentencepiece import SentencePieceModel, SentencePieceTokenizer

        return SentencePieceTokenizer(config, SentencePieceModel.from_document(document["tokenizer"]))
    return Tokenizer(config, from_document(document.get("tokenizer"), config))


def _no_constant(name: str) -> float:
    raise UnusableError(f"{name} is not a number it may hold")
