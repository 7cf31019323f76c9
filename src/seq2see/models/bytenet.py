"""ByteNet: dilated convolutions, no attention, linear time (Kalchbrenner 2016).

The decoder stands on top of the encoder: target column t reads encoder column t. So that the two fit, the encoder
works on ratio x S + extra columns, an estimate of the target's length (dynamic unfolding, section 3.2); where the
target runs past them, it goes on from what it has said.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, repeat
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, TypeVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.attention.formula import Formula, Quantity, array
from seq2see.models.base import (
    Decoder,
    Encoded,
    Encoder,
    Look,
    Model,
    ModelConfig,
    Place,
    StepDescription,
    Vocabulary,
)
from seq2see.models.formulas import WORD, layers_formula
from seq2see.models.layers import Embedding, average, hide, pad_time
from seq2see.models.names import Size

Length = TypeVar("Length", int, Tensor)
Dilation = Annotated[int, Field(gt=0, le=65_536)]


class ByteNetConfig(ModelConfig):
    """The family `bytenet`."""

    family: Literal["bytenet"] = "bytenet"
    width: int = Field(128, ge=1, description="d: width inside a block; between blocks it is 2 d")
    dilations: tuple[Dilation, ...] = Field((1, 2, 4, 8, 16), min_length=1, description="of the blocks of one set")
    sets: int = Field(2, ge=1, description="how often the set is repeated, in the encoder and in the decoder")
    kernel: int = Field(3, ge=2, description="positions a convolution sees")
    percent: int = Field(
        120, ge=1, le=100_000, description="encoder columns for 100 source positions (the paper: a = 1.20)"
    )
    extra: int = Field(
        4, ge=0, le=100_000, description="encoder columns on top of that (the paper's b; a short source needs some)"
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="on word vectors and what each block adds, while training")

    SIZES: ClassVar[dict[Size, dict[str, Any]]] = {
        "tiny": {"width": 96, "sets": 1},
        "small": {"width": 128, "sets": 2},
        "base": {"width": 256, "sets": 4},
        # The paper's translation model: 30 blocks on each side, d = 800.
        "paper": {"width": 800, "sets": 6, "extra": 0, "dropout": 0.0},
    }

    def blocks(self) -> Iterator[int]:
        """The dilation of each block."""
        return chain.from_iterable(repeat(self.dilations, self.sets))


class Block(nn.Module):
    """x + narrow -> dilated convolution -> wide, each behind layer norm and ReLU (section 3.6, figure 3, left)."""

    def __init__(self, width: int, kernel: int, dilation: int, dropout: float) -> None:
        super().__init__()
        self.kernel, self.dilation, self.dropout = kernel, dilation, dropout
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in (2 * width, width, width))
        self.narrow = nn.Linear(2 * width, width)
        self.convolution = nn.Conv1d(width, width, kernel, dilation=dilation)
        self.widen = nn.Linear(width, 2 * width)

    @property
    def reach(self) -> int:
        """How many earlier (or, in the encoder, surrounding) positions the convolution needs."""
        return (self.kernel - 1) * self.dilation

    def enter(self, x: Tensor) -> Tensor:
        """(B, T, 2 d) -> (B, T, d): what the convolution sees."""
        return F.relu(self.norms[1](self.narrow(F.relu(self.norms[0](x)))))

    def leave(self, x: Tensor, seen: Tensor) -> Tensor:
        """(B, T, 2 d), (B, T + reach, d) -> (B, T, 2 d)."""
        convolved = self.convolution(seen.transpose(1, 2)).transpose(1, 2)
        added = self.widen(F.relu(self.norms[2](convolved)))
        return x + F.dropout(added, self.dropout, self.training)

    def leave_last(self, x: Tensor, seen: Tensor) -> Tensor:
        """`leave` for one position: (B, 1, 2 d), (B, reach + 1, d) -> (B, 1, 2 d)."""
        taps = seen[:, :: self.dilation].transpose(1, 2).flatten(1)  # (B, d * kernel), as the convolution's weight
        convolved = F.linear(taps, self.convolution.weight.flatten(1), self.convolution.bias)
        return x + self.widen(F.relu(self.norms[2](convolved))).unsqueeze(1)

    def describe(self, x: Tensor, window: Tensor, after: Tensor, name: str) -> Formula:
        """(2 d,) at one position, (1, reach + 1, d) what the convolution sees there, (2 d,) what comes of it."""
        convolved = self.convolution(window.transpose(1, 2))[0, :, 0]
        parts = (
            Quantity("x", "what enters", array(x)),
            Quantity("narrow", "W_1 relu(norm(x)): half as wide", array(self.narrow(F.relu(self.norms[0](x))))),
            Quantity("convolved", f"{self.kernel} positions, {self.dilation} apart", array(convolved)),
            Quantity("added", "W_2 relu(norm(convolved))", array(self.widen(F.relu(self.norms[2](convolved))))),
            Quantity("x_new", "the vector of this position after the block", array(after), given=False),
        )
        text = "x' = x + W_2 relu(norm(conv(relu(norm(W_1 relu(norm(x)))))))"
        return Formula(name, text, "Kalchbrenner 2016, 3.6", parts, ("x_new = x + added",))


class ByteNetEncoder(Encoder):
    """Dilated convolutions that see both sides, over as many columns as the target is expected to have."""

    def __init__(self, config: ByteNetConfig) -> None:
        super().__init__()
        self.config = config
        self.key_dim = self.summary_dim = 2 * config.width
        self.embedding = Embedding(config.source_vocabulary, 2 * config.width)
        self.blank = nn.Parameter(torch.zeros(2 * config.width))  # what stands behind the last source word
        self.blocks = nn.ModuleList(
            Block(config.width, config.kernel, dilation, config.dropout) for dilation in config.blocks()
        )

    def columns(self, length: Length) -> Length:
        """How many columns a source of this length gets; integer arithmetic, so that it exports."""
        return (length * self.config.percent + 99) // 100 + self.config.extra

    def forward(self, source: Tensor, mask: Tensor, *, need_weights: bool = False) -> tuple[Encoded, list[Look]]:
        words = F.dropout(self.embedding(source), self.config.dropout, self.training)
        lengths = mask.squeeze(1).sum(dim=-1)
        longest = self.columns(source.size(1))
        longest = max(longest, source.size(1)) if self.config.percent < 100 else longest
        places = torch.arange(longest, device=source.device)
        own = self.columns(lengths)[:, None]
        inside = (places < own).unsqueeze(1)  # (B, 1, columns)
        # Fewer columns than words: the words behind them are still read, or the end of the source would be lost.
        read = (places < own.maximum(lengths[:, None])).unsqueeze(1) if self.config.percent < 100 else inside
        x = pad_time(hide(words, mask), 0, longest - source.size(1))
        beyond = places >= lengths[:, None]
        x = torch.where(beyond.unsqueeze(-1), self.blank, x)
        for block in self._blocks():
            x = block.leave(x, self._seen(block, x, read))
        x = hide(x, inside)
        return Encoded(x, x, inside, average(x, inside)), []

    @staticmethod
    def _seen(block: Block, x: Tensor, read: Tensor) -> Tensor:
        """(B, columns, 2 d) -> (B, columns + reach, d), with zeros behind a sentence's own columns.

        A longer batch would put the same zeros there.
        """
        left = block.reach // 2
        return pad_time(hide(block.enter(x), read), left, block.reach - left)

    def _blocks(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]

    def describe_position(self, source: Tensor, mask: Tensor, position: int, layer: int | None) -> StepDescription:
        longest = max(self.columns(source.size(1)), source.size(1))
        x = pad_time(self.embedding(source), 0, longest - source.size(1))
        beyond = torch.arange(longest, device=source.device) >= source.size(1)
        x = torch.where(beyond[None, :, None], self.blank, x)
        word = Quantity("x", "word vector of this piece", array(x[0, position]))
        columns = Quantity(
            "columns", "columns that the encoder makes of the source", np.array(self.columns(source.size(1)))
        )
        text = "column j starts from word j; the columns behind the last word from a learned blank"
        start = Formula("column", text, "Kalchbrenner 2016, 3.2", (word, columns), ())
        read = torch.ones(1, 1, longest, dtype=torch.bool, device=source.device)
        formulas = _described_blocks(self._blocks(), x, position, lambda block, at: self._seen(block, at, read))
        return StepDescription((start, *formulas))


def _described_blocks(
    blocks: Sequence[Block], x: Tensor, position: int, seen: Callable[[Block, Tensor], Tensor]
) -> tuple[Formula, ...]:
    """(1, T, 2 d) -> the first block in full at one position, then the vector after each of the others.

    `seen` gives what a block's convolution sees of x: (1, T + reach, d).
    """
    formulas: list[Formula] = []
    passed: dict[int, Tensor] = {}
    for number, block in enumerate(blocks):
        windows = seen(block, x)
        after = block.leave(x, windows)
        if number == 0:
            window = windows[:, position : position + block.reach + 1]
            formulas.append(block.describe(x[0, position], window, after[0, position], "block 0"))
        else:
            passed[number] = after[0, position]
        x = after
    return (*formulas, *layers_formula(passed, "blocks above", unit="block"))


class ByteNetMemory(NamedTuple):
    columns: Tensor  # (B, columns, 2 d), zeros behind a sentence's own


class ByteNetState(NamedTuple):
    windows: tuple[Tensor, ...]  # for each block (B, reach, d): exactly what its convolution can still see
    position: Tensor  # (B,)


class ByteNetDecoder(Decoder[ByteNetMemory, ByteNetState]):
    """Masked dilated convolutions over target words plus encoder columns."""

    def __init__(self, config: ByteNetConfig) -> None:
        super().__init__()
        self.config = config
        width = 2 * config.width
        self.embedding = Embedding(config.target_vocabulary, width)
        self.blocks = nn.ModuleList(
            Block(config.width, config.kernel, dilation, config.dropout) for dilation in config.blocks()
        )
        self.norm = nn.LayerNorm(width)
        self.top = nn.Linear(width, width)
        self.vocabulary = nn.Linear(width, config.target_vocabulary)

    def memorise(self, encoded: Encoded) -> ByteNetMemory:
        return ByteNetMemory(encoded.keys)

    def start(self, memory: ByteNetMemory) -> ByteNetState:
        batch = memory.columns.size(0)
        windows = tuple(memory.columns.new_zeros(batch, block.reach, self.config.width) for block in self._blocks())
        return ByteNetState(windows, torch.zeros(batch, dtype=torch.long, device=memory.columns.device))

    def step(
        self, tokens: Tensor, memory: ByteNetMemory, state: ByteNetState, *, need_weights: bool = False
    ) -> tuple[Tensor, ByteNetState, None]:
        x = self.embedding(tokens).unsqueeze(1) + self._column(memory, state.position)
        windows = []
        for window, block in zip(state.windows, self._blocks(), strict=True):
            seen = torch.cat([window, block.enter(x)], dim=1)
            windows.append(seen[:, 1:])
            x = block.leave_last(x, seen)
        return self._top(x).squeeze(1), ByteNetState(tuple(windows), state.position + 1), None

    def forward(
        self, tokens: Tensor, memory: ByteNetMemory, *, need_weights: bool = False
    ) -> tuple[Tensor, list[Look]]:
        words = F.dropout(self.embedding(tokens), self.config.dropout, self.training)
        length = tokens.size(1)
        columns = pad_time(memory.columns[:, :length], 0, max(0, length - memory.columns.size(1)))
        x = words + columns
        for block in self._blocks():
            x = block.leave(x, pad_time(block.enter(x), block.reach, 0))
        return self._top(x), []

    def describe_step(
        self, tokens: Tensor, memory: ByteNetMemory, state: ByteNetState, place: Place | None
    ) -> StepDescription:
        x = self.embedding(tokens).unsqueeze(1) + self._column(memory, state.position)  # (1, 1, 2 d)
        formulas = [self._described_column(tokens, memory, state)]
        windows = dict(zip(self._blocks(), state.windows, strict=True))
        formulas += _described_blocks(
            self._blocks(), x, 0, lambda block, at: torch.cat([windows[block], block.enter(at)], dim=1)
        )
        for block in self._blocks():
            x = block.leave_last(x, torch.cat([windows[block], block.enter(x)], dim=1))
        parts = (
            Quantity("a", "W relu(norm(x)) + b", array(self.top(F.relu(self.norm(x)))[0, 0])),
            Quantity("features", "what the vocabulary layer reads", array(self._top(x)[0, 0]), given=False),
        )
        read_out = Formula("read-out", "features = relu(a)", "", parts, ("features = np.maximum(a, 0)",))
        return StepDescription((*formulas, read_out))

    def _described_column(self, tokens: Tensor, memory: ByteNetMemory, state: ByteNetState) -> Formula:
        columns = memory.columns[0]  # (columns, 2 d)
        position = int(state.position[0])
        inside = position < columns.size(0)
        column = columns[position] if inside else torch.zeros_like(columns[0])
        word = self.embedding(tokens)[0]
        meaning = "the encoder's column at this position" + ("" if inside else ": past the last")
        reach = sum(block.reach for block in self._blocks())
        parts = (
            Quantity("word", WORD, array(word)),
            Quantity("column", meaning, array(column)),
            Quantity("x", "what the convolutions start from", array(word + column), given=False),
            Quantity("reach", "positions before this one that they see", np.array(reach)),
            Quantity("columns", "columns that the encoder made of the source", np.array(columns.size(0))),
        )
        text = "no attention: target position t reads encoder column t; x = word + column"
        code = ("x = word + column",)
        return Formula("column", text, "Kalchbrenner 2016, 3.2", parts, code)

    def last_layer(self) -> Vocabulary:
        return Vocabulary(self.vocabulary.weight, self.vocabulary.bias)

    def _column(self, memory: ByteNetMemory, position: Tensor) -> Tensor:
        """(B,) -> (B, 1, 2 d): the encoder column at this position, zeros past the last one."""
        last = memory.columns.size(1) - 1
        index = position.clamp(max=last)[:, None, None].expand(-1, 1, memory.columns.size(2))
        column = memory.columns.gather(1, index)
        return column.masked_fill((position > last)[:, None, None], 0.0)

    def _top(self, x: Tensor) -> Tensor:
        return F.relu(self.top(F.relu(self.norm(x))))

    def _blocks(self) -> list[Block]:
        return [block for block in self.blocks if isinstance(block, Block)]


def make_bytenet(config: ByteNetConfig) -> Model[ByteNetMemory, ByteNetState]:
    return Model(config, ByteNetEncoder(config), ByteNetDecoder(config))
