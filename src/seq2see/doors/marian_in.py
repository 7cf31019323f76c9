"""`seq2see import`: a Marian model as `transformers` saves it becomes a run like any other. Nothing in it is executed.

config.json  model.safetensors  source.spm  target.spm  vocab.json     target_vocab.json, if both sides have their own

Its ids are put in our order: padding, start, end, unknown, then the others as they come. A decoder of Marian starts
from its padding; that row of its word vectors becomes two of ours, and the second is never said.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from torch import Tensor

from seq2see import atomic
from seq2see.doors.marian import (
    CONFIG_FILE,
    PICKLED_FILE,
    SPM_FILES,
    TOKENIZER_FILE,
    VOCABULARY_FILES,
    WEIGHTS_FILE,
    MarianSettings,
    block_names,
    model_settings,
    obstacle,
)
from seq2see.doors.spm import BPE, BYTE, LARGEST_SPM, NORMAL, UNIGRAM, USER_DEFINED, SpmFile, read_spm, texts_of
from seq2see.errors import ConfigError, DataError, RunError, brief
from seq2see.models import from_config, load_config
from seq2see.runs import folder
from seq2see.runs.config import RunConfig
from seq2see.runs.weights import not_finite
from seq2see.runs.weights_file import HeaderEntry, read_header
from seq2see.text import TokenizerConfig
from seq2see.text.pieces import SPECIALS, UnusableError
from seq2see.text.sentencepiece import UNDERLINE, SentencePieceModel, SentencePieceTokenizer
from seq2see.text.spelling import BYTES
from seq2see.vocabulary import BOS

NEVER = -30.0  # on the logit of our start, where it is Marian's padding as well: its probability is e^-30 of that
_LARGEST_VOCABULARY = 64 * 2**20  # bytes of vocab.json
_LONGEST_TEXT = 512  # pieces of a text in one piece, as Marian's are trained
_KINDS = ("F32", "F16", "BF16")
_UNKNOWN = "<unk>"
Value = TypeVar("Value")


class ImportedSide(NamedTuple):
    """One side of a model: its tokenizer, and which row of Marian's word vectors each of its ids has."""

    tokenizer: SentencePieceTokenizer
    rows: list[int]


def import_marian(source: Path, out: Path, *, language: str | None = None) -> None:
    """The run folder `out` from the folder `source`.

    language   of a model for several target languages: the code that every text begins with, such as deu
    """
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise ConfigError(f"{out}: is there already; name a folder that is to be made")
    settings = _settings(source)
    sides = _sides(source, settings, language)
    weights, output_bias = _weights(source, settings, sides)
    sizes = sides[0].tokenizer.size, sides[1].tokenizer.size
    config = load_config(model_settings(settings, sizes, output_bias=output_bias))
    model = from_config(config)
    model.load_state_dict(weights)
    languages = _languages(source)
    saved = RunConfig.model_validate(
        {
            "data": languages | {"form": "none", "shared_vocabulary": sides[0].rows == sides[1].rows},
            "tokenizer": sides[0].tokenizer.config.model_dump()
            | {"target": {"language_code": None}, "source": {"language_code": language_code(language)}}
            | {"language_code": None},
            "model": config.model_dump(mode="json"),
            "training": {"max_length": min(_LONGEST_TEXT, settings.max_position_embeddings)},
        }
    )
    with atomic.making_folder(out) as made:
        for side, name in zip(sides, folder.TOKENIZERS, strict=True):
            side.tokenizer.save(made / name)
        folder.write_config(made, saved)
        folder.finish(made, model)


def language_code(language: str | None) -> str | None:
    """`deu` and `>>deu<<` are the same."""
    return None if language is None else f">>{language.removeprefix('>>').removesuffix('<<')}<<"


# ----- settings


def _settings(source: Path) -> MarianSettings:
    if not source.is_dir():
        raise DataError("no such folder; name one that transformers has saved a Marian model in", path=source)
    saved = _json(source / CONFIG_FILE)
    if not isinstance(saved, dict) or saved.get("model_type") != "marian":
        kind = saved.get("model_type") if isinstance(saved, dict) else None
        raise DataError(f"is no Marian model (model_type = {brief(kind)})", path=source / CONFIG_FILE)
    try:
        settings = MarianSettings.model_validate(saved)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise DataError(f"{name}: {first['msg']} (it is {brief(first['input'])})", path=source / CONFIG_FILE) from None
    setting = obstacle(settings)
    if setting is not None:
        raise DataError(f"{setting}: our Transformer has nothing like it", path=source / CONFIG_FILE)
    return settings


def _languages(source: Path) -> dict[str, Any]:
    path = source / TOKENIZER_FILE
    saved = _json(path) if path.exists() else {}
    names = (("source_language", "source_lang"), ("target_language", "target_lang"))
    known = {ours: saved.get(theirs) for ours, theirs in names} if isinstance(saved, dict) else {}
    return {name: value for name, value in known.items() if isinstance(value, str) and 0 < len(value) <= 20}


# ----- tokenizers


def _sides(source: Path, settings: MarianSettings, language: str | None) -> tuple[ImportedSide, ImportedSide]:
    separate = (source / VOCABULARY_FILES[1]).exists()
    vocabularies = [_vocabulary(source / VOCABULARY_FILES[0], settings.vocab_size)]
    if separate:
        vocabularies.append(_vocabulary(source / VOCABULARY_FILES[1], settings.target_size))
    elif settings.target_size != settings.vocab_size:
        raise DataError(
            f"decoder_vocab_size = {settings.target_size} needs {VOCABULARY_FILES[1]}, which is not there", path=source
        )
    spms = [_spm(source / name) for name in SPM_FILES]
    codes = (language_code(language), None)
    made = []
    for place, (spm, code) in enumerate(zip(spms, codes, strict=True)):
        vocabulary, file = vocabularies[place if separate else 0], source / SPM_FILES[place]
        rows = _rows(vocabulary, settings, source)
        try:
            made.append(ImportedSide(_tokenizer(spm, vocabulary, rows, code), rows))
        except UnusableError as error:
            raise DataError(str(error), path=file) from None
        except BaseException as panic:
            if type(panic).__name__ != "PanicException":  # of the tokenizers library, and not an Exception
                raise
            raise DataError("the tokenizers library refuses its pieces", path=file) from None
    return made[0], made[1]


def _vocabulary(path: Path, size: int) -> list[str]:
    """Each piece at its id."""
    saved = _json(path, _LARGEST_VOCABULARY)
    if not isinstance(saved, dict) or not all(type(index) is int for index in saved.values()):
        raise DataError("is no vocabulary: expected an object of pieces and their numbers", path=path)
    if sorted(saved.values()) != list(range(size)):
        raise DataError(f"its numbers do not count from 0 to {size - 1}, as the model's do", path=path)
    return sorted(saved, key=saved.__getitem__)


def _spm(path: Path) -> SpmFile:
    try:
        spm = read_spm(_read(path, lambda: atomic.read_file(path, LARGEST_SPM)))
    except DataError as error:
        raise error if error.path is not None else DataError(str(error), path=path) from None
    if spm.kind not in (UNIGRAM, BPE):
        raise DataError("cuts texts neither by unigram nor by bpe", path=path)
    if spm.spaces_behind or not spm.escapes_spaces:
        raise DataError("has its spaces behind words, or as they are; expected ▁ in front of them", path=path)
    if texts_of(spm.pieces, USER_DEFINED):
        raise DataError("has user-defined symbols, which are not read", path=path)
    return spm


def _rows(vocabulary: Sequence[str], settings: MarianSettings, source: Path) -> list[int]:
    """Marian's id of each of ours."""
    ids = {piece: index for index, piece in enumerate(vocabulary)}
    named = ("pad_token_id", "decoder_start_token_id", "eos_token_id")
    special = [getattr(settings, name) for name in named]
    for name, index in zip(named, special, strict=True):
        if index >= len(vocabulary):
            raise DataError(f"{name} = {index} is outside a vocabulary of {len(vocabulary)}", path=source / CONFIG_FILE)
    if _UNKNOWN not in ids:
        raise DataError(f"the vocabulary has no {_UNKNOWN}", path=source)
    first = [*special, ids[_UNKNOWN]]
    if len({first[0], first[2], first[3]}) < 3 or first[1] in (first[2], first[3]):
        raise DataError(
            "padding, end and <unk> are not three different pieces, or decoding starts from the end or <unk>",
            path=source / CONFIG_FILE,
        )
    return [*first, *(index for index in range(len(vocabulary)) if index not in first)]


def _tokenizer(
    spm: SpmFile, vocabulary: Sequence[str], rows: Sequence[int], code: str | None
) -> SentencePieceTokenizer:
    in_bytes = spm.byte_fallback
    bytes_of = {f"<0x{byte:02X}>": symbol for byte, symbol in enumerate(BYTES)} if in_bytes else {}
    names = [bytes_of.get(piece) or piece.replace(UNDERLINE, " ") for piece in vocabulary]
    pieces = tuple((piece.text.replace(UNDERLINE, " "), piece.score) for piece in spm.pieces if piece.kind == NORMAL)
    model = SentencePieceModel(
        spm.kind == BPE,
        pieces,
        (*SPECIALS, *(names[index] for index in rows[len(SPECIALS) :])),
        spm.charsmap,
        spm.first_space,
        spm.joins_spaces,
    )
    if in_bytes and len(texts_of(spm.pieces, BYTE)) < len(BYTES):
        raise UnusableError("it spells unknown characters in bytes, but lacks some of them")
    if code is not None and code not in vocabulary:
        known = [piece for piece in vocabulary if piece.startswith(">>") and piece.endswith("<<")]
        listed = ", ".join(known[:8]) if known else "none: it is for one language"
        raise ConfigError(f"--language {code}: is not in its vocabulary; known: {listed}")
    config = TokenizerConfig(
        scheme="sentencepiece", vocabulary=max(5, len(model.names)), byte_fallback=in_bytes, language_code=code
    )
    return SentencePieceTokenizer(config, model)


# ----- weights


def _weights(
    source: Path, settings: MarianSettings, sides: tuple[ImportedSide, ImportedSide]
) -> tuple[dict[str, Tensor], bool]:
    """Our names and tensors, and whether the logits have a bias."""
    path = source / WEIGHTS_FILE
    if not path.exists() and (source / PICKLED_FILE).exists():
        raise DataError(
            "is a pickle, which can run anything when it is opened, so it is not; where you trust it, make "
            "model.safetensors of it: python -c \"from transformers import MarianMTModel as M; M.from_pretrained('DIR')"
            ".save_pretrained('DIR')\"",
            path=source / PICKLED_FILE,
        )
    if not path.exists():
        raise DataError(f"has no {WEIGHTS_FILE}", path=source)
    try:
        header = read_header(path)
    except RunError as error:
        raise DataError(str(error)) from None
    plan = _Plan(path, header, settings)
    try:
        with safe_open(path, "pt") as tensors:
            return plan.read(lambda name: tensors.get_tensor(name).float(), sides)
    except (OSError, SafetensorError) as error:
        raise DataError(f"cannot be read ({error})", path=path) from None


class _Plan:
    """What is read from where; everything is compared with the header before a number is touched."""

    def __init__(self, path: Path, header: dict[str, HeaderEntry], settings: MarianSettings) -> None:
        self.path, self.header, self.settings = path, header, settings
        layers = settings.encoder_layers + settings.decoder_layers
        if layers > len(header):
            raise DataError(f"holds {len(header)} tensors of {layers} layers", path=path)
        width, inner = settings.d_model, settings.encoder_ffn_dim
        self.blocks = list(block_names(settings.encoder_layers, settings.decoder_layers))
        for theirs, _ in self.blocks:
            *_, part, kind = theirs.split(".")
            rows = inner if part == "fc1" else width
            columns = inner if part == "fc2" else width
            vector = kind == "bias" or "norm" in part
            self._check(theirs, (rows,) if vector else (rows, columns))
        source, target = (settings.vocab_size, width), (settings.target_size, width)
        shared = ["model.shared.weight"] if settings.share_encoder_decoder_embeddings else []
        tied = ["lm_head.weight"] if settings.tie_word_embeddings else []
        self.encoder = self._first(source, "model.encoder.embed_tokens.weight", *shared, *(tied if shared else []))
        self.decoder = self._first(target, "model.decoder.embed_tokens.weight", *shared, *tied)
        self.last = None if settings.tie_word_embeddings else self._first(target, "lm_head.weight")
        self.bias = "final_logits_bias" if "final_logits_bias" in header else None
        if self.bias is not None:
            self._check(self.bias, (1, settings.target_size))

    def read(
        self, tensor: Callable[[str], Tensor], sides: tuple[ImportedSide, ImportedSide]
    ) -> tuple[dict[str, Tensor], bool]:
        source_rows, target_rows = (torch.tensor(side.rows) for side in sides)
        weights = {ours: tensor(theirs) for theirs, ours in self.blocks}
        source, target = tensor(self.encoder), tensor(self.decoder)
        shared = self.settings.share_encoder_decoder_embeddings and self.settings.tie_word_embeddings
        if shared and not torch.equal(source, target):
            raise DataError("its word vectors are shared by config.json, but not in here", path=self.path)
        weights["encoder.embedding.own.weight"] = source[source_rows]
        if not shared:
            weights["decoder.embedding.own.weight"] = target[target_rows]
        if self.last is not None:
            weights["decoder.vocabulary.weight"] = tensor(self.last)[target_rows]
        bias = tensor(self.bias)[0] if self.bias is not None else torch.zeros(self.settings.target_size)
        doubled = self.settings.decoder_start_token_id == self.settings.pad_token_id
        output_bias = doubled or bool(bias.any())
        if output_bias:
            ours = bias[target_rows]
            ours[BOS] += NEVER if doubled else 0.0
            weights["decoder.output_bias"] = ours
        name = not_finite(weights)
        if name is not None:
            raise DataError(f"holds numbers that are not finite ({name})", path=self.path)
        return {name: value.contiguous() for name, value in weights.items()}, output_bias

    def _first(self, shape: tuple[int, ...], *names: str) -> str:
        """The first of these that is there: what is shared is saved once, under any of its names."""
        for name in names:
            if name in self.header:
                self._check(name, shape)
                return name
        raise DataError(f"lacks {names[0]}", path=self.path)

    def _check(self, name: str, shape: tuple[int, ...]) -> None:
        entry = self.header.get(name)
        if entry is None:
            raise DataError(f"lacks {name}", path=self.path)
        if entry.shape != shape:
            raise DataError(f"{name} has shape {entry.shape}, not {shape} as {CONFIG_FILE} says", path=self.path)
        if entry.type not in _KINDS:
            raise DataError(f"{name} holds numbers of type {entry.type}; expected {', '.join(_KINDS)}", path=self.path)


# ----- files


def _json(path: Path, limit: int = atomic.LARGEST_JSON) -> Any:
    return _read(path, lambda: atomic.read_json(path, limit))


def _read(path: Path, read: Callable[[], Value]) -> Value:
    try:
        return read()
    except FileNotFoundError:
        raise DataError("is missing; a Marian folder of transformers has it", path=path) from None
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror})", path=path) from None
    except ValueError as error:
        raise DataError(f"cannot be read ({error})", path=path) from None
