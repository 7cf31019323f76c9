"""CBHG: a convolution bank, highway layers and a bidirectional GRU (Wang 2017, section 3.1 and figure 2).

The paper normalises over the batch. We normalise each position by itself, so that neither the other utterances of a
batch nor the padding behind a short one can change what comes out.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Convolution(nn.Module):
    """(B, T, inputs), (B, T, 1) -> (B, T, outputs): what lies behind the end is zero before it is looked at."""

    def __init__(self, inputs: int, outputs: int, kernel: int, *, norm: bool = True) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(inputs, outputs, kernel, padding=kernel // 2)
        self.norm = nn.LayerNorm(outputs) if norm else nn.Identity()

    def forward(self, x: Tensor, present: Tensor) -> Tensor:
        length = x.size(1)
        seen = self.convolution((x * present).transpose(1, 2))[..., :length]  # an even kernel gives one too many
        return self.norm(seen.transpose(1, 2))


class Highway(nn.Module):
    """g H(x) + (1 - g) x    Srivastava 2015; (B, T, D) -> (B, T, D)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.both = nn.Linear(width, 2 * width)
        with torch.no_grad():
            self.both.bias[width:] = -1.0  # at first most of the input passes as it is

    def forward(self, x: Tensor) -> Tensor:
        new, gate = self.both(x).chunk(2, dim=-1)
        return torch.lerp(x, F.relu(new), torch.sigmoid(gate))


class Cbhg(nn.Module):
    """(B, T, inputs) and lengths (B,) -> (B, T, 2 width), zero behind the end."""

    def __init__(self, inputs: int, width: int, *, bank: int, highways: int) -> None:
        super().__init__()
        self.bank = nn.ModuleList(Convolution(inputs, width, kernel) for kernel in range(1, bank + 1))
        self.narrow = Convolution(bank * width, width, 3)
        self.project = Convolution(width, inputs, 3)
        self.enter = nn.Linear(inputs, width) if inputs != width else nn.Identity()
        self.highways = nn.ModuleList(Highway(width) for _ in range(highways))
        self.gru = nn.GRU(width, width, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        present = (torch.arange(x.size(1), device=x.device) < lengths[:, None]).unsqueeze(-1).to(x.dtype)
        banked = torch.cat([F.relu(convolution(x, present)) for convolution in self.bank], dim=-1) * present
        pooled = F.max_pool1d(banked.transpose(1, 2), 2, stride=1, padding=1)[..., : x.size(1)].transpose(1, 2)
        y = self.enter(x + self.project(F.relu(self.narrow(pooled, present)), present))
        for highway in self.highways:
            y = highway(y)
        packed = pack_padded_sequence(y, lengths.cpu(), batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=x.size(1))
        return states
