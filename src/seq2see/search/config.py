"""How to search, in one frozen object; what differs from sentence to sentence is handed to `search` itself."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

LengthPenalty = Literal["none", "gnmt", "average"]


class SearchConfig(BaseModel):
    """Every default is here. A beam of one is greedy. Numbers are finite, and so small that scores are, too."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    beam: int = Field(1, ge=1, description="hypotheses kept at each step; 1 is greedy")
    nbest: int = Field(1, ge=1, description="hypotheses given back; with sample: how many are drawn")
    length_penalty: LengthPenalty = Field(
        "none", description="what a sum of log-probabilities is divided by: nothing, ((5 + length) / 6)^alpha, length"
    )
    alpha: float = Field(0.6, ge=0, le=10, description="of gnmt: 0 favours the short, 1 hardly")
    coverage: float = Field(
        0.0, ge=0, le=1e6, description="how much a source word that was not looked at costs (GNMT's beta)"
    )
    min_length: int = Field(0, ge=0, description="tokens said before a sentence may end")
    max_length: int | None = Field(None, ge=1, description="most steps of any sentence, its end included")
    no_repeat_ngram: int = Field(0, ge=0, description="no run of this many tokens occurs twice; 0: anything may")
    groups: int = Field(1, ge=1, description="diverse beam: groups that share the beam evenly and avoid each other")
    diversity: float = Field(
        0.0, ge=0, le=1e6, description="what it costs a group to say what earlier groups say at this step"
    )
    sample: bool = Field(False, description="draw tokens by their probability instead of searching for the best")
    temperature: float = Field(1.0, gt=0, description="of sample: below 1 bolder choices, above 1 wilder ones")
    top_k: int = Field(0, ge=0, description="of sample: only the k likeliest tokens; 0: all")
    top_p: float = Field(1.0, gt=0, le=1, description="of sample: only the likeliest tokens that together reach p")
    seed: int = Field(0, description="of sample: the same seed gives the same sentence, whatever else is in the batch")

    @model_validator(mode="after")
    def settings_fit(self) -> "SearchConfig":
        if self.sample and (self.beam > 1 or self.groups > 1):
            raise ValueError(f"sample draws nbest sentences by themselves; beam = {self.beam} must be 1 and groups too")
        if not self.sample and self.nbest > self.beam:
            raise ValueError(f"nbest = {self.nbest} hypotheses cannot come from beam = {self.beam}")
        if self.beam % self.groups:
            raise ValueError(f"groups = {self.groups} does not divide beam = {self.beam}")
        if (self.groups > 1) != (self.diversity > 0):
            raise ValueError(
                f"groups = {self.groups}, diversity = {self.diversity}: a diverse beam needs groups above 1 and "
                "diversity above 0"
            )
        if self.max_length is not None and self.min_length > self.max_length:
            raise ValueError(f"min_length = {self.min_length} is above max_length = {self.max_length}")
        drawing = {"temperature": self.temperature != 1, "top_k": self.top_k != 0, "top_p": self.top_p != 1}
        idle = [name for name, changed in drawing.items() if changed]
        if idle and not self.sample:
            raise ValueError(f"{idle[0]} is for sampling; set sample = true with it")
        return self

    @property
    def parallel(self) -> int:
        """Groups that are searched side by side: those of a diverse beam, or the samples."""
        return self.nbest if self.sample else self.groups

    @property
    def width(self) -> int:
        """Places in each group."""
        return 1 if self.sample else self.beam // self.groups

    @property
    def plain(self) -> bool:
        """Whether nothing is asked but the best by log-probability and length: no rules, groups, samples, coverage."""
        return not (self.sample or self.groups > 1 or self.coverage or self.min_length or self.no_repeat_ngram)
