"""The tokenizer of an imported model: SentencePiece's normalisation and pieces, numbered by the model's vocabulary.

    text ─▶ normalised: characters replaced, spaces joined, one in front ─▶ pieces (unigram or bpe) ─▶ ids

The pieces are those of SentencePiece itself, and so are their places in the text. The vocabulary is another list than
the pieces: it may hold pieces of the other language as well, and lack some of this one, which are unknown then.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import tokenizers
from tokenizers import models

from seq2see.errors import ConfigError, DataError
from seq2see.text.charsmap import LARGEST_CHARSMAP, Charsmap
from seq2see.text.pieces import SPECIALS, Pieces, TokenizerConfig, UnusableError
from seq2see.text.spelling import BYTES, SURROGATE, Spelling
from seq2see.text.tokenizer import Encoding, Span, Tokenizer
from seq2see.vocabulary import UNK

UNDERLINE = "▁"
_UNKNOWN = "<unk>"
_LOWEST, _HIGHEST = -1e7, 1e7  # of the score of a piece; that of bpe counts merges
_LONGEST = 512  # characters of a piece


@dataclass(frozen=True)
class SentencePieceModel:
    """What is read from a .spm file and its vocabulary. Spaces stand for `▁` everywhere."""

    bpe: bool
    pieces: tuple[tuple[str, float], ...]  # that texts are cut into, with their scores
    names: tuple[str, ...]  # at their ids; the first four are special
    charsmap: bytes
    first_space: bool  # in front of every text
    joins_spaces: bool  # several count as one, those around the text as none

    def check(self, config: TokenizerConfig) -> None:
        """UnusableError for what no SentencePiece model is."""
        known = [piece for piece, _ in self.pieces]
        if self.names[: len(SPECIALS)] != SPECIALS or len(set(self.names)) < len(self.names) or "" in self.names:
            raise UnusableError("its vocabulary is damaged")
        sane = all(0 < len(piece) <= _LONGEST and piece != _UNKNOWN for piece in known)
        if not known or len(set(known)) < len(known) or not sane:
            raise UnusableError("its pieces are damaged")
        if not all(_LOWEST <= score <= _HIGHEST for _, score in self.pieces):
            raise UnusableError("a score of its pieces is out of range")
        if config.in_bytes and not set(BYTES) <= set(self.names):
            raise UnusableError("its vocabulary lacks bytes")
        "".join([*known, *self.names]).encode()  # half of a surrogate pair is a ValueError

    def as_document(self) -> dict[str, Any]:
        return {
            "kind": "bpe" if self.bpe else "unigram",
            "pieces": [list(entry) for entry in self.pieces],
            "vocabulary": list(self.names),
            "charsmap": base64.b64encode(self.charsmap).decode(),
            "first_space": self.first_space,
            "joins_spaces": self.joins_spaces,
        }

    @staticmethod
    def from_document(document: Any) -> "SentencePieceModel":
        """What `as_document` gave; it may come from anybody."""
        entries, names, blob = document["pieces"], document["vocabulary"], document["charsmap"]
        if not (isinstance(entries, list) and isinstance(names, list) and isinstance(blob, str)):
            raise UnusableError("a value has the wrong type")
        well_typed = all(isinstance(name, str) for name in names) and all(
            isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str) and type(entry[1]) in (int, float)
            for entry in entries
        )
        flags = document["first_space"], document["joins_spaces"]
        if not well_typed or not all(isinstance(flag, bool) for flag in flags):
            raise UnusableError("a value has the wrong type")
        if document["kind"] not in ("bpe", "unigram"):
            raise UnusableError("its pieces are of another kind")
        if len(blob) > 2 * LARGEST_CHARSMAP:
            raise UnusableError("its normalisation rules are too large")
        try:
            charsmap = base64.b64decode(blob, validate=True)
        except binascii.Error:
            raise UnusableError("its normalisation rules are damaged") from None
        pieces = tuple((str(piece), float(score)) for piece, score in entries)
        return SentencePieceModel(document["kind"] == "bpe", pieces, tuple(names), charsmap, *flags)


class SentencePieceTokenizer(Tokenizer):
    """Made by `seq2see import`, loaded by `Tokenizer.load`; used as any other."""

    def __init__(self, config: TokenizerConfig, model: SentencePieceModel) -> None:
        model.check(config)
        self.config, self.model = config, model
        self._pieces = Pieces(model.names)
        self._charsmap = Charsmap(model.charsmap)
        self._spelling = Spelling(
            self._pieces.alphabet, in_jamo=False, in_bytes=config.in_bytes, first_space=model.first_space
        )
        # Backend entries: 0 is unknown, then the pieces; those that only merges need come last and are unknown too.
        self._backend, names = _bpe(model.pieces) if model.bpe else _unigram(model.pieces)
        self._id_of_entry = [self._ids.get(name, UNK) for name in names]
        self._known_entries = len(model.pieces)
        if config.language_code is not None and config.language_code not in self._ids:
            raise UnusableError(f"language_code = {config.language_code} is not in its vocabulary")

    def encode(self, text: str, *, dropout: float = 0.0, seed: int = 0) -> Encoding:
        self._check_dropout(dropout)
        return self.encode_batch([text])[0]

    def encode_batch(self, texts: Sequence[str]) -> list[Encoding]:
        return [self._place(text, *cut) for text, cut in zip(texts, self._cut_batch(texts), strict=True)]

    def ids_batch(self, texts: Sequence[str], *, dropout: float = 0.0, seed: int = 0) -> list[list[int]]:
        self._check_dropout(dropout)
        return [ids for ids, _ in self._cut_batch(texts)]

    def same_as(self, other: Tokenizer) -> bool:
        if not isinstance(other, SentencePieceTokenizer):
            return False
        return self is other or (self.config == other.config and self.model == other.model)

    def split_code(self, text: str) -> tuple[str, str]:
        """The language code that a text of a multilingual model begins with, such as `>>deu<<`, and the rest."""
        end = text.find("<<") if text.startswith(">>") else -1
        code = text[: end + 2] if end >= 0 else ""
        return (code, text[end + 2 :]) if code in self._ids else ("", text)

    def normalised(self, text: str) -> tuple[str, list[int]]:
        """The text as pieces are looked for in it, and where each of its characters begins; one place more: its end."""
        try:
            text.encode()
        except UnicodeEncodeError:
            raise DataError(SURROGATE) from None
        spelled: list[str] = []
        origins: list[int] = []
        after_space = self.model.joins_spaces
        at = 0
        while at < len(text):
            replacement, length = self._charsmap.replace(text, at)
            for character in replacement.replace(UNDERLINE, " "):
                if after_space and character == " ":
                    continue
                if not spelled and self.model.first_space:
                    spelled.append(" ")
                    origins.append(at)
                spelled.append(character)
                origins.append(at)
                after_space = self.model.joins_spaces and character == " "
            at += length
        while self.model.joins_spaces and spelled and spelled[-1] == " ":
            spelled.pop()
            at = origins.pop()
        return "".join(spelled), [*origins, at]

    def _document(self) -> dict[str, Any]:
        return self.model.as_document()

    def _check_dropout(self, dropout: float) -> None:
        if dropout:
            raise ConfigError("subword dropout is for tokenizers that were learned here, and this one was imported")

    def _cut_batch(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[Span]]]:
        """For each text its ids and their places, the language code among them."""
        parts = [self.split_code(text) for text in texts]
        normalised = [self.normalised(rest) for _, rest in parts]
        encodings = self._backend.encode_batch([spelled for spelled, _ in normalised])
        for (code, _), (spelled, origins), encoding in zip(parts, normalised, encodings, strict=True):
            ids, spans = self._numbered(spelled, encoding.ids, encoding.offsets)
            shift = len(code)
            # The space in front is in no text; a piece of it alone shares the place of the first character.
            ends = (max(origins[end], origins[start] + 1) for start, end in spans)
            places = [(origins[start] + shift, end + shift) for (start, _), end in zip(spans, ends, strict=True)]
            named = code or self.config.language_code
            if named:
                ids, places = [self._ids[named], *ids], [(0, shift), *places]
            yield ids, places

    def _numbered(self, spelled: str, entries: Sequence[int], spans: Iterable[Span]) -> tuple[list[int], list[Span]]:
        """Entries of the backend as ids: a run of unknown characters is one piece, or bytes."""
        ids: list[int] = []
        kept: list[Span] = []
        unknown: Span | None = None
        for entry, span in [*zip(entries, spans, strict=True), (1, (len(spelled), len(spelled)))]:
            known = 0 < entry <= self._known_entries
            if not known:
                unknown = span if unknown is None else (unknown[0], span[1])
                continue
            if unknown is not None:
                for index, place in self._unknown(spelled, unknown):
                    ids.append(index)
                    kept.append(place)
                unknown = None
            if span[0] < span[1]:
                ids.append(self._id_of_entry[entry])
                kept.append(span)
        return ids, kept

    def _unknown(self, spelled: str, span: Span) -> list[tuple[int, Span]]:
        """What SentencePiece cannot spell may stand in the vocabulary as a piece of the other language."""
        start, end = span
        if (index := self._ids.get(spelled[start:end])) is not None:
            return [(index, span)]
        if not self.config.in_bytes:
            return [(UNK, span)]
        places = [(place, byte) for place in range(start, end) for byte in spelled[place].encode()]
        return [(self._ids[BYTES[byte]], (place, place + 1)) for place, byte in places]

    def _place(self, text: str, ids: list[int], spans: list[Span]) -> Encoding:
        shown = self._shown
        return Encoding(text, ids, [shown[index] for index in ids], spans)

    @cached_property
    def _ids(self) -> dict[str, int]:
        """No text is a special entry: their names end in a space."""
        return {name: index for index, name in enumerate(self.model.names) if index > UNK}


def _unigram(pieces: Sequence[tuple[str, float]]) -> tuple[tokenizers.Tokenizer, list[str]]:
    entries = [(_UNKNOWN, 0.0), *((piece, score) for piece, score in pieces if piece != _UNKNOWN)]
    return tokenizers.Tokenizer(models.Unigram(entries, 0, False)), [name for name, _ in entries]


def _bpe(pieces: Sequence[tuple[str, float]]) -> tuple[tokenizers.Tokenizer, list[str]]:
    """SentencePiece joins the two neighbours that make the best piece, whatever they are themselves."""
    names = [_UNKNOWN, *(piece for piece, _ in pieces if piece != _UNKNOWN)]
    known = set(names)
    names += sorted({character for piece in names[1:] for character in piece} - known)
    known.update(names)
    ranked = sorted(pieces, key=lambda entry: -entry[1])
    merges = [
        (piece[:cut], piece[cut:])
        for piece, _ in ranked
        for cut in range(1, len(piece))
        if piece[:cut] in known and piece[cut:] in known
    ]
    vocabulary = {name: index for index, name in enumerate(names)}
    return tokenizers.Tokenizer(models.BPE(vocabulary, merges, unk_token=_UNKNOWN, fuse_unk=True)), names
