"""What our API is asked: one strict, frozen type for each POST body. Imports no torch: the HTTP process reads them.

`model_validate_json` is the reader of every body: it refuses bytes that are no UTF-8, halves of surrogate pairs, NaN,
numbers as texts, unknown names and nesting without end, each with one line (`read`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from seq2see.errors import ConfigError
from seq2see.settings import setting_error

RunKind = Literal["text", "voice"]
MOST_CHARACTERS = 100_000  # of a text; the server's own limit is lower unless it is raised
MOST_TEXTS = 1_000
MOST_BEAMS = 32
MOST_PHRASES = 1_000
MOST_PIECES = 20_000  # of a translation that is given back to be looked at
MOST_EDITS = 100
WAV_BYTES = 2 * 2**20

Text = Annotated[str, Field(max_length=MOST_CHARACTERS)]
ShortText = Annotated[str, Field(max_length=5_000)]  # of a question that one model process answers in one go
Phrase = Annotated[str, Field(min_length=1, max_length=1_000)]
RunName = Annotated[str, Field(min_length=1, max_length=200, description="a run by its name, as `GET runs` lists it")]
PieceId = Annotated[int, Field(ge=3, lt=2**31)]  # a word of the vocabulary; marks are never said by rule
Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True)
class ServedRun:
    """A run that is served.

    source, target   codes of its languages, such as ko; None: nobody said
    """

    name: str
    path: Path
    source: str | None
    target: str | None
    kind: RunKind


@dataclass(frozen=True)
class TextJob:
    """One text on its way to a model process: what `session.Request` is, without torch.

    required   (source term, or nothing, and what has to be said where the text holds it)
    faithful   placeholders such as %s or <b> come through whole: as `session.documents` does it
    brief      only the text is wanted, and those of an n-best list: no pieces, words and scores
    """

    text: str
    number: int = 0  # its place in its own request: what sampling is seeded with besides the seed
    prefix: str = ""
    prefix_ids: tuple[int, ...] = ()
    required: tuple[tuple[str, str], ...] = ()
    forbidden: tuple[str, ...] = ()
    faithful: bool = False
    brief: bool = False


class ApiBody(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class SearchOptions(ApiBody):
    """How to search. What is not given is as `Translator.translate` does it. Texts that share it share batches."""

    beam: Annotated[int, Field(ge=1, le=MOST_BEAMS)] | None = Field(None, description="hypotheses kept at each step")
    nbest: Annotated[int, Field(ge=1, le=MOST_BEAMS)] | None = Field(None, description="translations given back")
    sample: bool = Field(False, description="draw pieces by their probability instead of searching for the best")
    seed: int = Field(0, ge=0, lt=2**53, description="of sample: the same seed gives the same translation")
    temperature: float | None = Field(None, gt=0, le=100, description="of sample: above 1 wilder, below 1 bolder")
    top_k: Annotated[int, Field(ge=1, le=100_000)] | None = Field(None, description="of sample: only the likeliest k")
    top_p: float | None = Field(None, gt=0, le=1, description="of sample: only the likeliest that reach p together")

    @model_validator(mode="after")
    def settings_fit(self) -> "SearchOptions":
        if self.sample and self.beam is not None and self.beam > 1:
            raise ValueError(f"sample draws nbest translations by themselves; beam = {self.beam} must be left out")
        drawing = {"temperature": self.temperature, "top_k": self.top_k, "top_p": self.top_p, "seed": self.seed or None}
        idle = [name for name, value in drawing.items() if value is not None]
        if idle and not self.sample:
            raise ValueError(f"{idle[0]} is for sampling; set sample to true with it")
        if not self.sample and self.beam is not None and self.nbest is not None and self.nbest > self.beam:
            raise ValueError(f"nbest = {self.nbest} hypotheses cannot come from beam = {self.beam}")
        return self

    @property
    def search(self) -> "SearchOptions":
        """These options alone, without the rest of a request: what batches are told apart by."""
        return SearchOptions.model_construct(**{name: getattr(self, name) for name in SearchOptions.model_fields})


class TranslateRequest(SearchOptions):
    """Texts to translate, all with the same constraints."""

    run: RunName
    text: Text | Annotated[tuple[Text, ...], Field(max_length=MOST_TEXTS)] = Field(
        description="a text, or a list of them: a list is answered by a list"
    )
    prefix: Text = Field("", description="what the translation begins with")
    prefix_ids: Annotated[tuple[PieceId, ...], Field(max_length=MOST_PIECES)] = Field(
        (), description="the same as target pieces, exactly these: `token_ids` of an earlier answer, cut off"
    )
    required: (
        Annotated[tuple[Phrase, ...], Field(max_length=MOST_PHRASES)]
        | Annotated[dict[Phrase, Phrase], Field(max_length=MOST_PHRASES)]
    ) = Field((), description="phrases it says somewhere; or source term -> target term, as in a glossary")
    forbidden: Annotated[tuple[Phrase, ...], Field(max_length=MOST_PHRASES)] = Field(
        (), description="phrases it says nowhere"
    )

    @model_validator(mode="after")
    def one_prefix(self) -> "TranslateRequest":
        if self.prefix and self.prefix_ids:
            raise ValueError("prefix and prefix_ids both say how the translation begins; give one of them")
        return self

    @property
    def jobs(self) -> tuple[TextJob, ...]:
        """One for each text, numbered as `Translator.translate` numbers them."""
        pairs = self.required.items() if isinstance(self.required, dict) else (("", phrase) for phrase in self.required)
        required = tuple(pairs)
        texts = (self.text,) if isinstance(self.text, str) else self.text
        return tuple(
            TextJob(text, number, self.prefix, self.prefix_ids, required, self.forbidden)
            for number, text in enumerate(texts)
        )


MapKind = Literal["cross", "encoder", "decoder"]
TargetIds = Annotated[tuple[PieceId, ...], Field(max_length=MOST_PIECES)]
Edits = Annotated[tuple[Annotated[str, Field(min_length=1, max_length=2_000)], ...], Field(max_length=MOST_EDITS)]
Beam = Annotated[int, Field(ge=1, le=MOST_BEAMS)]


class WhatIf(ApiBody):
    """Attention changed, in the words of `seq2see look`; layers and heads count from 0, steps and #words from 1."""

    ablate: Edits = Field((), description="heads switched off: cross:3.1, all of a layer: cross:3")
    force: Edits = Field((), description="where a step has to look: 3:학생입니다=1.0, or 3:#2=0.7,#3=0.3@cross:0.0")
    scale: Edits = Field((), description="words looked at more or less: 학생입니다=0.1, at one step: 3:#2=5")

    @property
    def any(self) -> bool:
        return bool(self.ablate or self.force or self.scale)


class ForcedRequest(ApiBody):
    """A source, and a translation of it as pieces: what an earlier answer calls `token_ids`."""

    run: RunName
    source: Text
    target_ids: TargetIds


class LookRequest(ForcedRequest):
    """What the run looks at while it says the translation."""

    kind: MapKind = "cross"
    layer: int | None = Field(None, ge=0, lt=1_000, description="one layer; all of them, if none is named")
    posterior: bool = Field(False, description="where it must have looked, once it is known what was said")
    occlusion: bool = Field(False, description="how much less likely each piece is without each source word, too")
    edits: WhatIf = Field(
        WhatIf(), description="what-if: the source is translated as it is and so changed, and the map is of the latter"
    )
    beam: Beam | None = Field(None, description="of what-if: the width of both searches")


class BeamRequest(ApiBody):
    """Every candidate of a beam search, and what became of it."""

    run: RunName
    text: ShortText
    beam: int = Field(5, ge=1, le=MOST_BEAMS)
    nbest: Beam | None = Field(None, description="hypotheses given back; as many as the beam, if none is named")
    prefix_ids: TargetIds = Field((), description="the pieces that the search goes on from")


class ExplainRequest(ForcedRequest):
    """One step of saying the translation, in numbers."""

    step: int = Field(ge=1, le=MOST_PIECES + 1, description="the target piece, from 1; the last one says the end")
    kind: Literal["cross", "decoder", "encoder"] = "cross"
    layer: int | None = Field(None, ge=0, lt=1_000)
    head: int | None = Field(None, ge=0, lt=1_000)


class AlternativesRequest(ForcedRequest):
    """What else could stand in the place of a word."""

    word: int = Field(ge=0, lt=MOST_PIECES, description="its number among the `words` of the translation, from 0")


class CompareRequest(ApiBody):
    """One text, several runs: their translations, and their maps at word level."""

    runs: Annotated[tuple[RunName, ...], Field(min_length=1, max_length=4)]
    text: ShortText
    beam: Beam | None = None


class LessonRequest(ApiBody):
    """A lesson of `seq2see learn`, with some of its numbers changed."""

    name: Annotated[str, Field(min_length=1, max_length=100, description="as `GET lessons` lists it")]
    language: Literal["en", "ko"] = "en"
    changes: Annotated[tuple[Annotated[str, Field(max_length=200)], ...], Field(max_length=20)] = Field(
        (), description="as after `--set` of `seq2see learn`: query=4,1"
    )


TokenName = Annotated[str, Field(pattern=r"^(\d{1,3}:)?\d{1,3}$")]
TokenWeights = Annotated[dict[TokenName, Annotated[float, Field(ge=0, le=1)]], Field(max_length=1_000)]


class SpeakRequest(ApiBody):
    """A text to say."""

    run: RunName
    text: Annotated[str, Field(max_length=2_000)]
    tokens: TokenWeights = Field(
        {},
        description='style tokens by hand: {"3": 0.8} in every head, {"1:3": 0.8} in head 1; the others share the rest',
    )
    style: str | None = Field(None, max_length=64, description="the id that `POST style` gave a recording")


@dataclass(frozen=True)
class SpeakJob:
    """A text to say on its way to a model process. style: (heads, tokens) weights of a recording."""

    run: str
    text: str
    tokens: dict[str, float]
    style: tuple[tuple[float, ...], ...] | None


@dataclass(frozen=True)
class StyleRequest:
    """A recording whose style is wanted: the bytes of a WAV file."""

    run: str
    wav: bytes


ApiRequest = LookRequest | BeamRequest | ExplainRequest | AlternativesRequest | CompareRequest | SpeakJob | StyleRequest
"""What is one job for one model process; translations are batched instead."""


def read(body: bytes, kind: type[Body]) -> Body:
    """A JSON body as what it has to be; ConfigError, one line, for anything else."""
    try:
        return kind.model_validate_json(body)
    except ValidationError as error:
        first: Any = error.errors()[0]
        if first["type"] == "json_invalid":
            raise ConfigError(f"Invalid JSON: {first['ctx']['error']}") from None
        if not first["loc"] and first["type"] == "model_type":
            raise ConfigError("the body has to be a JSON object") from None
        raise setting_error(error, kind) from None
