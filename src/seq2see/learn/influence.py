"""How strongly a result feels each word that went in: gradients, from any model, without looking into it.

Every word of the sequence is another one, so that the gradient of a word vector is the gradient of a position.
"""

from typing import Any

import torch
from torch import Tensor, nn

from seq2see.data import Batch
from seq2see.models import Model
from seq2see.models.layers import Embedding
from seq2see.vocabulary import EOS

FIRST = 4  # the first id that is a word


def words_of(part: nn.Module) -> Tensor:
    """(V, D): the word vectors of an encoder or decoder."""
    return next(module.weight for module in part.modules() if isinstance(module, Embedding))


def sequence(length: int) -> list[int]:
    """As many different words."""
    return list(range(FIRST, FIRST + length))


def felt_by_target(model: Model[Any, Any], length: int, position: int) -> list[float]:
    """|d log p / d word vector| of each source word, for the target word at `position`; both sides have `length`."""
    said = sequence(length)
    logits = model(Batch.of([[*sequence(length), EOS]], [said])).logits[0, position]  # (V,)
    surprise = torch.log_softmax(logits, dim=-1)[[*said, EOS][position]]
    (gradient,) = torch.autograd.grad(surprise, [words_of(model.encoder)])
    return _lengths(gradient, length)


def felt_by_key(model: Model[Any, Any], length: int, position: int) -> list[float]:
    """The same for what the encoder makes of one source position: which words it has seen at all."""
    source = torch.tensor([[*sequence(length), EOS]])
    encoded, _ = model.encoder(source, torch.ones(1, 1, length + 1, dtype=torch.bool))
    (gradient,) = torch.autograd.grad(encoded.keys[0, position].sum(), [words_of(model.encoder)])
    return _lengths(gradient, length)


def felt_of_said(model: Model[Any, Any], length: int, position: int) -> list[float]:
    """The same for the words that the decoder has read: zero for those that come later."""
    said = sequence(length)
    logits = model(Batch.of([[*sequence(length), EOS]], [said])).logits[0, position]
    (gradient,) = torch.autograd.grad(torch.log_softmax(logits, dim=-1)[EOS], [words_of(model.decoder)])
    return _lengths(gradient, length)


def _lengths(gradient: Tensor, length: int) -> list[float]:
    lengths: list[float] = gradient[sequence(length)].norm(dim=-1).tolist()
    return lengths
