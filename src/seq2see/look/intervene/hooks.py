"""A second view of a model: the same parameters, with a hook on some of its looks.

The tree of modules is copied only on the way to an attention; everything else, every parameter above all, is shared.
Nothing is kept between calls, and the model that was given is not touched.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from torch import nn

from seq2see.attention import Attention, Mechanism, MultiHead
from seq2see.attention.base import Hook
from seq2see.errors import ConfigError
from seq2see.models import Model
from seq2see.models.base import Kind
from seq2see.models.convolutional import ConvDecoder
from seq2see.models.luong import LuongDecoder
from seq2see.models.rnnsearch import RnnSearchDecoder
from seq2see.models.selfattention import EncoderBlock, TransformerEncoder
from seq2see.models.transformer import DecoderBlock, TransformerDecoder

Place = tuple[Kind, int]  # kind and layer, both as in `model.look`
Change = Callable[[Place, Attention], Attention]
Module = TypeVar("Module", bound=nn.Module)


def attentions(model: Model[Any, Any]) -> dict[Place, Attention]:
    """Every attention of a model under its name in `model.look`; none for `rnn` and `bytenet`."""
    found: dict[Place, Attention] = {}

    def note(place: Place, attention: Attention) -> Attention:
        found[place] = attention
        return attention

    _changed(model, note)
    return found


def hooked(model: Model[Any, Any], hooks: Mapping[Place, Hook]) -> Model[Any, Any]:
    """The same model with these hooks, each called after those that are there already."""
    return _changed(
        model, lambda place, attention: _with_hook(attention, hooks[place]) if place in hooks else attention
    )


def mechanism_of(attention: Attention) -> Mechanism:
    """What scores: the attention itself, or what works inside each head."""
    inner = attention.mechanism if isinstance(attention, MultiHead) else attention
    if not isinstance(inner, Mechanism):
        raise ConfigError(f"{type(attention).__name__} is no mechanism that can be looked into")
    return inner


def _with_hook(attention: Attention, hook: Hook) -> Attention:
    mechanism = shallow(mechanism_of(attention))
    earlier = mechanism.hook
    mechanism.hook = hook if earlier is None else _one_after_the_other(earlier, hook)
    if not isinstance(attention, MultiHead):
        return mechanism
    heads = shallow(attention)
    heads.mechanism = mechanism
    return heads


def _one_after_the_other(first: Hook, second: Hook) -> Hook:
    return lambda weighing: second(weighing._replace(weights=first(weighing)))


def _changed(model: Model[Any, Any], change: Change) -> Model[Any, Any]:
    copied = shallow(model)
    if isinstance(model.encoder, TransformerEncoder):
        encoder = copied.encoder = shallow(model.encoder)
        encoder.blocks = nn.ModuleList(_encoder_block(block, layer, change) for layer, block in _numbered(encoder))
    decoder = copied.decoder = shallow(model.decoder)
    match decoder:
        case TransformerDecoder():
            decoder.blocks = nn.ModuleList(_decoder_block(block, layer, change) for layer, block in _numbered(decoder))
        case ConvDecoder():
            decoder.looking = tuple(
                _kept(type(old), change(("cross", layer), old)) for layer, old in enumerate(decoder.looking)
            )
        case RnnSearchDecoder() | LuongDecoder():
            decoder.attention = change(("cross", 0), decoder.attention)
    return copied


def _encoder_block(block: EncoderBlock, layer: int, change: Change) -> EncoderBlock:
    copied = shallow(block)
    copied.attention = _kept(MultiHead, change(("encoder", layer), block.attention))
    return copied


def _decoder_block(block: DecoderBlock, layer: int, change: Change) -> DecoderBlock:
    copied = shallow(block)
    copied.attention = _kept(MultiHead, change(("decoder", layer), block.attention))
    copied.cross = _kept(MultiHead, change(("cross", layer), block.cross))
    return copied


def _numbered(part: Any) -> list[tuple[int, Any]]:
    """The blocks of an encoder or decoder with their layers, as the list they were before it is changed."""
    return list(enumerate(part.blocks))


Kept = TypeVar("Kept", bound=Attention)


def _kept(kind: type[Kept], changed: Attention) -> Kept:
    assert isinstance(changed, kind), "a change keeps the type of an attention"
    return changed


def shallow(module: Module) -> Module:
    """A copy with the same parameters and parts, of which single ones can be replaced."""
    copied = copy.copy(module)
    copied._modules = dict(module._modules)
    return copied
