"""The pieces of a vocabulary: how they are chosen, learned from a text, and checked when they come from a file."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, Self

import tokenizers
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from tokenizers import models, pre_tokenizers, trainers

from seq2see.errors import ConfigError
from seq2see.text.spelling import BYTES, learnable
from seq2see.text.unigram import learn_unigram
from seq2see.vocabulary import UNK

Scheme = Literal["char", "word", "bpe", "unigram", "byte", "sentencepiece"]

SPECIALS = ("<pad> ", "<s> ", "</s> ", "<unk> ")
"""In the order of their ids. No word of `WORDS` ends in a space after something else, so no piece is called so."""

WORDS = r" ?\p{L}[\p{L}\p{M}\x{200c}\x{200d}]*| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s"
"""Letters, digits and signs stand apart, each with the one space before it; no piece crosses such a border."""


_LOWEST_SCORE = -1e6  # far below any log probability of a corpus, far above where sums of floats go wrong


class UnusableError(ValueError):
    """Why a stored document is no tokenizer of ours, in words that may be shown."""


class TokenizerConfig(BaseModel):
    """How text is cut into pieces."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scheme: Scheme = Field(
        "bpe",
        description="what a piece is: char, word, bpe, unigram or byte; sentencepiece: as an imported model has it",
    )
    vocabulary: int = Field(8000, ge=5, description="most entries, with specials, bytes and characters among them")
    jamo: bool = Field(False, description="spell Hangul syllables in jamo before pieces are cut")
    byte_fallback: bool = Field(
        True, description="spell unknown characters in bytes (and unknown words in characters); without it, <unk>"
    )
    min_frequency: int = Field(2, ge=1, description="how often a word, or a pair to merge, must be seen")
    dropout: float = Field(0.0, ge=0.0, lt=1.0, description="share of merges left out in training; bpe only")
    language_code: str | None = Field(
        None, description="of an imported multilingual model: the piece before every text, such as >>deu<<"
    )

    @model_validator(mode="after")
    def _dropout_needs_merges(self) -> Self:
        if self.dropout and self.scheme != "bpe":
            raise ValueError(
                f"dropout = {self.dropout} leaves out merges, and scheme = {self.scheme} has none: use bpe"
            )
        return self

    @property
    def in_bytes(self) -> bool:
        """Whether the vocabulary holds the 256 bytes."""
        return self.byte_fallback or self.scheme == "byte"

    @property
    def first_space(self) -> bool:
        """Whether words are marked by the space before them, the first one too."""
        return self.scheme in ("word", "bpe", "unigram", "sentencepiece")

    @property
    def whole_words(self) -> bool:
        """Whether a word is one piece or unknown: the word vocabularies of 2014."""
        return self.scheme == "word" and not self.byte_fallback

    @property
    def in_jamo(self) -> bool:
        """Whether syllables are spelled in jamo; a word that is one piece is not spelled at all."""
        return self.jamo and not self.whole_words

    @property
    def fixed(self) -> tuple[str, ...]:
        """The entries that every vocabulary of this kind begins with."""
        return SPECIALS + BYTES if self.in_bytes else SPECIALS


class SideSettings(BaseModel):
    """What one side does otherwise than the other; what is not set is as for both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scheme: Scheme | None = None
    vocabulary: int | None = Field(None, ge=5)
    jamo: bool | None = None
    byte_fallback: bool | None = None
    min_frequency: int | None = Field(None, ge=1)
    dropout: float | None = Field(None, ge=0.0, lt=1.0)
    language_code: str | None = None


class PairTokenizerConfig(TokenizerConfig):
    """How both sides are cut into pieces, each by its own settings where it has any."""

    source: SideSettings = Field(
        default_factory=SideSettings, description="any of these for the source alone, such as source.scheme"
    )
    target: SideSettings = Field(
        default_factory=SideSettings, description="any of these for the target alone, such as target.scheme"
    )

    @model_validator(mode="after")
    def _dropout_needs_merges(self) -> Self:
        for name in ("source", "target"):
            try:
                self.side(name)
            except ValidationError as error:  # said of the side
                raise ValueError(f"{name}: {error.errors()[0]['ctx']['error']}") from None
        return self

    def side(self, name: Literal["source", "target"]) -> TokenizerConfig:
        """The settings of one side."""
        settings: SideSettings = getattr(self, name)
        common = self.model_dump(exclude={"source", "target"})
        return TokenizerConfig.model_validate(common | settings.model_dump(exclude_none=True))

    @property
    def sides(self) -> tuple[TokenizerConfig, TokenizerConfig]:
        return self.side("source"), self.side("target")


@dataclass(frozen=True)
class Pieces:
    """What was learned. A name stands at its id; merges belong to bpe, scores (log probabilities) to unigram."""

    names: tuple[str, ...]
    merges: tuple[tuple[str, str], ...] = ()
    scores: tuple[float, ...] = ()

    @property
    def alphabet(self) -> frozenset[str]:
        """The characters that are pieces by themselves."""
        return frozenset(name for name in self.names if len(name) == 1)

    @property
    def ids(self) -> dict[str, int]:
        return {name: index for index, name in enumerate(self.names)}


def words_of() -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(tokenizers.Regex(WORDS), "isolated")


def backend(config: TokenizerConfig, pieces: Pieces) -> tokenizers.Tokenizer:
    """The library's tokenizer over these pieces. It knows no special tokens, only pieces that never match."""
    model: models.Model
    if config.scheme == "unigram":
        model = models.Unigram(list(zip(pieces.names, pieces.scores, strict=True)), UNK, False)
    elif config.whole_words:
        model = models.WordLevel(pieces.ids, SPECIALS[UNK])
    else:  # without merges a word falls apart into characters; "word" looks the whole word up first
        merges, whole = list(pieces.merges), config.scheme == "word"
        model = models.BPE(pieces.ids, merges, unk_token=SPECIALS[UNK], ignore_merges=whole)
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = words_of()
    return made


def learn(texts: Iterable[str], config: TokenizerConfig) -> Pieces:
    """One pass over the texts; the same texts give the same pieces."""
    first = " " if config.first_space else ""
    spelled = (first + learnable(text, in_jamo=config.in_jamo) for text in texts if text)
    match config.scheme:
        case "bpe":
            return _learn_bpe(spelled, config)
        case "unigram":
            return _learn_unigram(spelled, config)
        case "word":
            return _learn_words(spelled, config)
        case "char":
            return Pieces(_with_alphabet(_characters(spelled), config))
        case "byte":
            return Pieces(_with_alphabet(set(), config))
        case "sentencepiece":
            raise ConfigError("scheme = sentencepiece comes with an imported model; to learn one: bpe or unigram")


def _characters(texts: Iterable[str]) -> set[str]:
    characters: set[str] = set()
    for text in texts:
        characters.update(text)
    return characters


def _with_alphabet(alphabet: set[str], config: TokenizerConfig) -> tuple[str, ...]:
    characters = alphabet | {" "} if config.first_space else alphabet
    fixed, needed = config.fixed, len(config.fixed) + len(characters)
    if needed > config.vocabulary:
        raise ConfigError(
            f"vocabulary = {config.vocabulary} is too small: {len(characters)} different characters and "
            f"{len(fixed)} fixed entries need {needed}"
        )
    return fixed + tuple(sorted(characters))


def _learn_bpe(spelled: Iterator[str], config: TokenizerConfig) -> Pieces:
    learner = tokenizers.Tokenizer(models.BPE())
    learner.pre_tokenizer = words_of()
    trainer = trainers.BpeTrainer(
        vocab_size=max(config.vocabulary - len(config.fixed), 1),
        min_frequency=config.min_frequency,
        show_progress=False,
    )
    learner.train_from_iterator(spelled, trainer)
    alphabet = {piece for piece in learner.get_vocab() if len(piece) == 1}
    names = _with_alphabet(alphabet, config)
    merges = _merges_of(learner)
    joined = list(dict.fromkeys(left + right for left, right in merges))[: config.vocabulary - len(names)]
    kept = set(joined) | alphabet
    return Pieces(names + tuple(joined), tuple(merge for merge in merges if "".join(merge) in kept))


def _learn_unigram(spelled: Iterator[str], config: TokenizerConfig) -> Pieces:
    words = _count_words(spelled)
    words.setdefault(" ", 0)
    alphabet = _with_alphabet(_characters(words), config)
    fixed = config.fixed
    scores = learn_unigram(words, config.vocabulary - len(fixed))
    lowest = min(scores.values())
    names = alphabet + tuple(piece for piece in scores if len(piece) > 1)
    return Pieces(names, scores=tuple(scores.get(name, lowest) for name in names))


def _learn_words(spelled: Iterator[str], config: TokenizerConfig) -> Pieces:
    words = _count_words(spelled)
    names = SPECIALS if config.whole_words else _with_alphabet(_characters(words), config)
    ranked = sorted(words.items(), key=lambda item: (-item[1], item[0]))
    known = set(names)
    chosen = (word for word, count in ranked if count >= config.min_frequency and word not in known)
    return Pieces(names + tuple(islice(chosen, config.vocabulary - len(names))))


def _count_words(spelled: Iterator[str]) -> Counter[str]:
    splitter = words_of()
    return Counter(word for text in spelled for word, _ in splitter.pre_tokenize_str(text))


def _merges_of(learner: tokenizers.Tokenizer) -> list[tuple[str, str]]:
    return [(left, right) for left, right in json.loads(learner.to_str())["model"]["merges"]]


def from_document(document: Any, config: TokenizerConfig) -> Pieces:
    """The pieces in a document of the `tokenizers` library that may come from anybody.

    The library aborts with a panic on some documents, so it is never given one: the pieces are read out and checked
    here, and `backend` builds the rest anew. A document that asks for more than that is refused.
    """
    model = _checked(document, dict)["model"]
    if document["pre_tokenizer"]["pattern"] != {"Regex": WORDS}:
        raise UnusableError("it cuts words in another way")
    if document["added_tokens"] or document["normalizer"] or document["post_processor"]:
        raise UnusableError("it holds steps that this tokenizer does not have")
    kind = "Unigram" if config.scheme == "unigram" else "WordLevel" if config.whole_words else "BPE"
    if _checked(model, dict)["type"] != kind:
        raise UnusableError(f"a model of kind {kind} was expected")
    if kind == "Unigram":
        entries = [_checked(entry, list) for entry in _checked(model["vocab"], list)]
        pieces = Pieces(
            tuple(_checked(name, str) for name, _ in entries),
            scores=tuple(_checked(score, float, int) for _, score in entries),
        )
    else:
        ids = _checked(model["vocab"], dict)
        merges = [_checked(merge, list) for merge in _checked(model.get("merges", []), list)]
        pieces = Pieces(_by_id(ids), tuple((_checked(a, str), _checked(b, str)) for a, b in merges))
    _check(pieces, config)
    return pieces


def _checked(value: Any, *kinds: type) -> Any:
    if type(value) not in kinds:
        raise UnusableError("a value has the wrong type")
    return value


def _by_id(ids: dict[str, Any]) -> tuple[str, ...]:
    if sorted(_checked(index, int) for index in ids.values()) != list(range(len(ids))):
        raise UnusableError("its ids do not count up from 0")
    return tuple(sorted(ids, key=lambda name: int(ids[name])))


def _check(pieces: Pieces, config: TokenizerConfig) -> None:
    """Whatever `learn` guarantees; the words of the complaint are ours, nothing of the file is repeated."""
    names, known, fixed = pieces.names, set(pieces.names), config.fixed
    if names[: len(fixed)] != fixed:
        raise UnusableError("its special entries are not at their ids")
    if len(known) != len(names) or "" in known:
        raise UnusableError("it holds an entry twice, or an empty one")
    if config.first_space and not config.whole_words and " " not in known:
        raise UnusableError("it has no space")
    if pieces.merges and config.scheme != "bpe":
        raise UnusableError("it has merges, which only bpe uses")
    if not all({left, right, left + right} <= known for left, right in pieces.merges):
        raise UnusableError("a merge joins pieces that it does not have")
    if not all(_LOWEST_SCORE <= score <= 0 for score in pieces.scores):
        raise UnusableError("a score is not a log probability")
    "".join(names).encode()  # half of a surrogate pair is a ValueError too
