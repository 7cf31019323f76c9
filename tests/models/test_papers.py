"""Each family against its paper: what the equations say, recomputed beside the model."""

import copy
import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seq2see.data import Batch
from seq2see.models import Model, build, parameters
from seq2see.models.bytenet import ByteNetEncoder
from seq2see.models.convolutional import GatedConvolution
from seq2see.models.layers import Embedding, Maxout, NormedConv, NormedLinear, scale_gradient
from seq2see.models.transformer import DecoderBlock
from seq2see.vocabulary import BOS, PAD

WORDS = 14
PAIRS = ([[5, 6, 7, 8, 9], [4, 5], [9, 8, 7]], [[4, 5, 6, 7], [5], [6, 13]])
CELLS = {"embedding": 6, "hidden": 8, "encoder": {"embedding": 6, "hidden": 4}}


def small(family: str, **settings: Any) -> Model[Any, Any]:
    """In double precision, every parameter away from its first value."""
    torch.manual_seed(5)
    model = build(family, "tiny", source_vocabulary=WORDS, target_vocabulary=WORDS, **settings)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)
    return model.double().eval()


def batch() -> Batch:
    return Batch.of(*PAIRS)


def with_target(batch: Batch, target_in: Tensor) -> Batch:
    return Batch(batch.source, batch.source_mask, target_in, batch.target_out, batch.target_mask)


def close(got: Tensor, expected: Tensor, tolerance: float = 1e-12) -> None:
    torch.testing.assert_close(got, expected, rtol=0, atol=tolerance)


# -------------------------------------------------------------------------------------------- RNNsearch, Bahdanau 2014


def test_bahdanau_asks_with_the_state_before():
    """e_tj = a(s_{t-1}, h_j): row t of the attention knows the target up to y_{t-2}, row 0 no target at all."""
    model, pairs = small("rnnsearch", **CELLS), batch()
    before = model.look(pairs)[0].weights
    for place in range(pairs.target_in.size(1)):
        other = pairs.target_in.clone()
        other[:, place] = 12
        after = model.look(with_target(pairs, other))[0].weights
        assert torch.equal(after[:, :, : place + 1], before[:, :, : place + 1])
        if place + 1 < pairs.target_in.size(1):
            assert not torch.equal(after[:, :, place + 1], before[:, :, place + 1])


@pytest.mark.parametrize("maxout", [False, True])
def test_bahdanaus_equations(maxout: bool):
    """Appendix A.1.2 and A.2.2 written out: alignment, context into the GRU, read-out of s_{t-1}, y_{t-1}, c_t."""
    model, pairs = small("rnnsearch", **CELLS, readout=5, maxout=maxout), batch()
    decoder = model.decoder
    encoded, _ = model.encoder(pairs.source, pairs.source_mask)
    h, words = encoded.keys, decoder.embedding(pairs.target_in)
    score = decoder.attention
    w, u, v = score.query_map.weight[0], score.key_map.weight[0], score.energy.weight[0, 0]
    state = torch.tanh(decoder.first_state.map(h[:, 0, 4:]))
    rows = []
    for step in range(words.size(1)):
        energies = torch.tanh((state @ w.T).unsqueeze(1) + h @ u.T) @ v
        weights = energies.masked_fill(~pairs.source_mask.squeeze(1), -math.inf).softmax(dim=-1)
        context = (weights.unsqueeze(-1) * h).sum(dim=1)
        entering = torch.cat([words[:, step], context], dim=-1)
        after = torch.gru_cell(entering, state, *decoder.stack.cells[0].weights())
        shown = state if maxout else after
        mixed = decoder.readout(torch.cat([shown, words[:, step], context], dim=-1))
        rows.append(mixed.view(len(pairs), -1, 2).amax(dim=-1) if maxout else torch.tanh(mixed))
        state = after
    close(model(pairs).logits, decoder.vocabulary(torch.stack(rows, dim=1)))


def test_maxout_takes_the_larger_of_each_pair():
    assert Maxout()(torch.tensor([[1.0, 5.0, -2.0, -3.0]])).tolist() == [[5.0, -2.0]]


# ---------------------------------------------------------------------------------------------------------- Luong 2015


@pytest.mark.parametrize("scaled", [True, False])
@pytest.mark.parametrize("feeding", [True, False])
def test_luongs_equations(feeding: bool, scaled: bool):
    """Sections 3 and 3.3: s_t first, then c_t by the general score, h~_t = tanh(W [c_t; s_t]), fed to the next step.

    Our default divides the score by the root of the width, which the paper does not.
    """
    attention = {} if scaled else {"attention": {"scaled": False}}
    model, pairs = small("luong", **CELLS, **attention, input_feeding=feeding), batch()
    decoder = model.decoder
    encoded, _ = model.encoder(pairs.source, pairs.source_mask)
    h, words = encoded.keys, decoder.embedding(pairs.target_in)
    bilinear = decoder.attention.bilinear.weight[0]  # (query, key)
    state, cell = torch.tanh(decoder.first_state.map(encoded.summary)).chunk(2, dim=-1)
    joined = h.new_zeros(len(pairs), 8)
    rows, seen = [], []
    for step in range(words.size(1)):
        entering = torch.cat([words[:, step], joined], dim=-1) if feeding else words[:, step]
        state, cell = torch.lstm_cell(entering, (state, cell), *decoder.stack.cells[0].weights())
        scores = torch.einsum("bq,qk,bsk->bs", state, bilinear, h)
        scores = scores / math.sqrt(state.size(1)) if scaled else scores
        weights = scores.masked_fill(~pairs.source_mask.squeeze(1), -math.inf).softmax(dim=-1)
        context = (weights.unsqueeze(-1) * h).sum(dim=1)
        joined = torch.tanh(torch.cat([context, state], dim=-1) @ decoder.join.weight.T)
        rows.append(joined)
        seen.append(weights)
    close(model(pairs).logits, decoder.vocabulary(torch.stack(rows, dim=1)))
    close(model.look(pairs)[0].weights.squeeze(1), torch.stack(seen, dim=1))


def test_luong_asks_with_the_state_of_the_step():
    """Row t already knows y_{t-1}, unlike Bahdanau's."""
    model, pairs = small("luong", **CELLS), batch()
    before = model.look(pairs)[0].weights
    other = pairs.target_in.clone()
    other[:, 0] = 12
    assert not torch.equal(model.look(with_target(pairs, other))[0].weights[:, :, 0], before[:, :, 0])


@pytest.mark.parametrize("feeding", [True, False])
def test_input_feeding_is_what_the_next_step_hears(feeding: bool):
    """Another h~ than the true one changes what is said next if and only if it is fed."""
    model, pairs = small("luong", **CELLS, input_feeding=feeding), batch()
    memory = model.encode(pairs.source, pairs.source_mask)
    _, state = model.step(pairs.target_in[:, 0], memory, model.start(memory))
    assert state.fed.shape == (len(pairs), 8 if feeding else 0)
    if feeding:
        features, _, _ = model.decoder.step(pairs.target_in[:, 0], memory, model.start(memory))
        assert torch.equal(state.fed, features)
    said, _ = model.step(pairs.target_in[:, 1], memory, state)
    deaf, _ = model.step(pairs.target_in[:, 1], memory, state._replace(fed=torch.zeros_like(state.fed)))
    assert torch.equal(said, deaf) is not feeding


# ----------------------------------------------------------------------------------------------- ConvS2S, Gehring 2017

HALF = math.sqrt(0.5)
ENCODER = {"embedding": 6, "channels": (8, 8, 10), "kernels": (3, 5, 1), "dropout": 0.25}
DECODER = {"embedding": 4, "channels": (8, 10), "kernels": (3, 5), "dropout": 0.25}


def convs2s() -> Model[Any, Any]:
    return small("convs2s", encoder=ENCODER, decoder=DECODER)


def normed(layer: NormedLinear) -> Tensor:
    """g v / |v| (Salimans & Kingma 2016, equation 2)."""
    return layer.size * layer.direction / layer.direction.square().sum(dim=1, keepdim=True).sqrt()


def mapped(layer: NormedLinear, x: Tensor) -> Tensor:
    return x @ normed(layer).T + layer.bias


def gated(block: GatedConvolution, x: Tensor, left: int, right: int) -> Tensor:
    """v([A; B]) = A * sigmoid(B), the convolution as a sum over taps (section 3.2)."""
    kernel = normed(block.convolution).view(-1, x.size(-1), block.kernel)
    padded = torch.cat([x.new_zeros(1, left, x.size(-1)), x, x.new_zeros(1, right, x.size(-1))], dim=1)
    taps = [padded[:, tap : tap + x.size(1)] @ kernel[:, :, tap].T for tap in range(block.kernel)]
    a, b = (torch.stack(taps).sum(dim=0) + block.convolution.bias).chunk(2, dim=-1)
    return a * torch.sigmoid(b)


def widened(block: GatedConvolution, x: Tensor) -> Tensor:
    return mapped(block.widen, x) if isinstance(block.widen, NormedLinear) else x


def placed(words: nn.Module, ids: Tensor) -> Tensor:
    return words.words.weight[ids] + words.places.table.weight[: ids.size(1)]


def test_gehrings_equations():
    """Sections 3.1 to 3.4 for one pair: residual sums and every other sum of two scaled by sqrt(0.5)."""
    model = convs2s()
    source, target = torch.tensor([PAIRS[0][0]]), torch.tensor([[BOS, *PAIRS[1][0]]])
    encoder, decoder = model.encoder, model.decoder
    e = placed(encoder.embedding, source)
    x = mapped(encoder.convolutions.inward, e)
    for block in encoder.convolutions.blocks:
        side = block.kernel // 2
        x = (gated(block, x, side, side) + widened(block, x)) * HALF
    z = mapped(encoder.convolutions.outward, x)
    encoded, _ = model.encoder(source, source.unsqueeze(1) != PAD)
    close(encoded.keys, z)
    close(encoded.values, (z + e) * HALF)
    g = placed(decoder.embedding, target)
    x = mapped(decoder.convolutions.inward, g)
    seen = []
    for layer, block in enumerate(decoder.convolutions.blocks):
        h = gated(block, x, block.kernel - 1, 0)
        d = (mapped(decoder.queries[layer], h) + mapped(decoder.target, g)) * HALF
        a = (d @ z.transpose(1, 2)).softmax(dim=-1)
        c = a @ ((z + e) * HALF) * source.size(1) * math.sqrt(1 / source.size(1))
        h = (h + mapped(decoder.contexts[layer], c)) * HALF
        x = (h + widened(block, x)) * HALF
        seen.append(a)
    logits = mapped(decoder.vocabulary, mapped(decoder.convolutions.outward, x))
    pairs = Batch.of(PAIRS[0][:1], PAIRS[1][:1])
    close(model(pairs).logits, logits)
    looks = model.look(pairs)
    assert [look.layer for look in looks] == [0, 1]
    for look, weights in zip(looks, seen, strict=True):
        close(look.weights.squeeze(1), weights)


def test_weights_are_normalised_row_by_row():
    layer = NormedLinear(5, 7, std=0.3).double()
    close(layer.weight(), layer.direction, 1e-6)  # at first the size is that of the direction
    with torch.no_grad():
        layer.size.fill_(2.5)
        layer.direction.mul_(17)
    close(layer.weight().norm(dim=1), torch.full((7,), 2.5).double())
    convolution = NormedConv(3, 4, 5, std=0.3).double()
    x = torch.randn(2, 9, 3).double()
    plain = F.conv1d(x.transpose(1, 2), convolution.direction.view(4, 3, 5), convolution.bias).transpose(1, 2)
    close(convolution(x), plain, 1e-6)


def test_gehrings_first_values():
    """Section 3.5, appendix A: N(0, sqrt(4p/n)) before a gate, N(0, sqrt(p/n)) elsewhere, 0.1 for vectors, biases 0."""
    torch.manual_seed(0)
    keep, width, kernel = 0.75, 160, 3
    stack = {"embedding": 200, "channels": (width, width + 20), "kernels": (kernel, kernel), "dropout": 1 - keep}
    model = build("convs2s", "tiny", source_vocabulary=300, target_vocabulary=300, encoder=stack, decoder=stack)
    names = {name: module for name, module in model.named_modules() if isinstance(module, NormedLinear)}
    gates = [name for name, module in names.items() if isinstance(module, NormedConv)]
    assert len(gates) == 4
    for name, module in names.items():
        inputs = module.direction.size(1)
        expected = math.sqrt((4 if name in gates else 1) * keep / inputs)
        assert module.direction.std().item() == pytest.approx(expected, rel=0.03), name
        assert module.direction.mean().item() == pytest.approx(0, abs=expected / 20), name
        assert torch.equal(module.size, module.direction.norm(dim=1, keepdim=True)), name
        assert not module.bias.any(), name
    for side in (model.encoder, model.decoder):
        assert side.embedding.words.weight[1:].std().item() == pytest.approx(0.1, rel=0.03)
        assert side.embedding.places.table.weight.std().item() == pytest.approx(0.1, rel=0.03)
        assert not side.embedding.words.weight[PAD].any()


def test_the_encoders_gradient_is_divided_among_the_looks():
    """Section 3.4: gradients of the encoder's layers are divided by the number of attentions, not those of words."""
    model, pairs = convs2s(), batch()
    layers = len(DECODER["channels"])
    assert model.encoder.gradient == 1 / layers
    without = copy.deepcopy(model)
    without.encoder.gradient = 1.0
    gradients = []
    for each in (model, without):
        each.train()
        for module in each.modules():
            if hasattr(module, "dropout") and isinstance(module.dropout, float):
                module.dropout = 0.0
        each.decoder.config = each.decoder.config.model_copy(update={"dropout": 0.0})
        each(pairs).logits.square().sum().backward()
        gradients.append({name: parameter.grad for name, parameter in each.named_parameters()})
    scaled, plain = gradients
    for name in scaled:
        if name.startswith("encoder.convolutions"):
            close(scaled[name], plain[name] / layers, 1e-9)
        elif name.startswith("decoder"):
            close(scaled[name], plain[name], 1e-9)
        else:  # through the values directly, and through the layers divided
            assert not torch.allclose(scaled[name], plain[name])
            assert not torch.allclose(scaled[name], plain[name] / layers)
    close(model.eval()(pairs).logits, without.eval()(pairs).logits, 0)


def test_scaling_a_gradient_leaves_the_value():
    x = torch.randn(4, dtype=torch.float64, requires_grad=True)
    y = scale_gradient(x, 0.25)
    close(y.detach(), x.detach())
    y.sum().backward()
    assert x.grad.tolist() == [0.25] * 4


def test_another_decoder_leaves_the_convolutional_encoders_gradient_alone():
    model = build("luong", "tiny", source_vocabulary=WORDS, target_vocabulary=WORDS, encoder="convolutional")
    assert model.encoder.gradient == 1.0


# ------------------------------------------------------------------------------------------ ByteNet, Kalchbrenner 2016

DILATIONS = (1, 2, 4)


def bytenet(**settings: Any) -> Model[Any, Any]:
    return small("bytenet", **({"width": 4, "dilations": DILATIONS, "sets": 1, "dropout": 0.0} | settings))


def reached(output: Tensor, inputs: Tensor) -> list[int]:
    """The positions of the inputs (1, T, D) that an output depends on."""
    (gradient,) = torch.autograd.grad(output.sum(), inputs, retain_graph=True)
    return gradient.abs().sum(dim=-1).squeeze(0).nonzero().flatten().tolist()


class Watched(nn.Module):
    """An embedding whose vectors can be asked for their gradient."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, ids: Tensor) -> Tensor:
        self.vectors = self.inner(ids).detach().requires_grad_()
        return self.vectors


@pytest.mark.parametrize("kernel", [2, 3, 4])
@pytest.mark.parametrize("sets", [1, 2])
def test_the_decoder_sees_as_far_back_as_its_dilations(kernel: int, sets: int):
    model = bytenet(kernel=kernel, sets=sets)
    model.decoder.embedding = Watched(model.decoder.embedding)
    length = 50
    pairs = Batch.of([[5] * 10], [[4 + place % 9 for place in range(length - 1)]])
    logits = model(pairs).logits
    reach = (kernel - 1) * sum(DILATIONS) * sets
    for place in (0, 1, reach - 1, reach, length - 1):
        seen = reached(logits[0, place], model.decoder.embedding.vectors)
        assert seen == list(range(max(0, place - reach), place + 1))


@pytest.mark.parametrize("kernel", [2, 3, 4])
def test_the_encoder_sees_both_sides(kernel: int):
    model = bytenet(kernel=kernel, percent=100, extra=0)
    model.encoder.embedding = Watched(model.encoder.embedding)
    length = 60
    source = torch.tensor([[4 + place % 9 for place in range(length)]])
    columns = model.encode(source, source.unsqueeze(1) != PAD).columns
    before = sum((kernel - 1) * dilation // 2 for dilation in DILATIONS)
    behind = sum((kernel - 1) * dilation - (kernel - 1) * dilation // 2 for dilation in DILATIONS)
    for place in (0, 30, length - 1):
        seen = reached(columns[0, place], model.encoder.embedding.vectors)
        assert seen == list(range(max(0, place - before), min(length, place + behind + 1)))


def test_column_t_is_read_at_step_t():
    """A change of encoder column t is first heard when target piece t is said."""
    model, length = bytenet(width=16), 9
    pairs = Batch.of([[5] * 9], [[4 + place for place in range(length - 1)]])
    memory = model.encode(pairs.source, pairs.source_mask)
    tokens = pairs.target_in

    def said(memory: Any) -> tuple[Tensor, Tensor]:
        features, _ = model.decoder(tokens, memory)
        state, steps = model.start(memory), []
        for token in tokens.unbind(dim=1):
            step, state, _ = model.decoder.step(token, memory, state)
            steps.append(step)
        return features, torch.stack(steps, dim=1)

    before = said(memory)
    for place in range(length):
        columns = memory.columns.clone()
        columns[:, place] += 1
        for one, other in zip(said(memory._replace(columns=columns)), before, strict=True):
            changed = (one != other).any(dim=-1).squeeze(0).nonzero().flatten().tolist()
            assert changed[0] == place


def test_past_the_last_column_it_goes_on_from_what_it_has_said():
    model = bytenet(percent=100, extra=0)
    pairs = Batch.of([[5, 6]], [[4] * 9])
    memory = model.encode(pairs.source, pairs.source_mask)
    more = memory._replace(columns=F.pad(memory.columns, (0, 0, 0, 20)))
    close(model.decoder(pairs.target_in, memory)[0], model.decoder(pairs.target_in, more)[0])


@pytest.mark.parametrize("kernel", [2, 3])
def test_a_state_holds_exactly_what_convolutions_can_still_see(kernel: int):
    model = bytenet(kernel=kernel, sets=2)
    pairs = batch()
    memory = model.encode(pairs.source, pairs.source_mask)
    state = model.start(memory)
    for _ in range(3):
        assert [window.shape for window in state.windows] == [
            (len(pairs), (kernel - 1) * dilation, 4) for dilation in DILATIONS * 2
        ]
        _, state = model.step(pairs.target_in[:, 0], memory, state)
    assert state.position.tolist() == [3] * len(pairs)


@pytest.mark.parametrize(
    ("percent", "extra", "expected"),
    [(120, 0, [2, 3, 4, 5, 6, 12]), (120, 4, [6, 7, 8, 9, 10, 16]), (100, 0, [1, 2, 3, 4, 5, 10]),
     (150, 2, [4, 5, 7, 8, 10, 17]), (50, 0, [1, 1, 2, 2, 3, 5])],
)  # fmt: skip
def test_dynamic_unfolding(percent: int, extra: int, expected: list[int]):
    """|t^| = a |s| + b, rounded up (section 3.2, equation 2): each sentence its own number of columns."""
    model = bytenet(percent=percent, extra=extra)
    lengths = [1, 2, 3, 4, 5, 10]
    assert isinstance(model.encoder, ByteNetEncoder)
    assert [model.encoder.columns(length) for length in lengths] == expected
    pairs = Batch.of([[5] * length for length in lengths], [[]] * len(lengths))
    memory = model.encode(pairs.source, pairs.source_mask)
    filled = (memory.columns != 0).any(dim=-1)
    assert filled.sum(dim=1).tolist() == expected
    assert filled.int().diff(dim=1).le(0).all()


def test_with_fewer_columns_than_words_the_last_word_is_still_read():
    model = bytenet(percent=50, extra=0)
    source = torch.tensor([[5, 6, 7, 8, 9, 10]])
    mask = source.unsqueeze(1) != PAD
    before = model.encode(source, mask).columns
    for place in range(6):
        other = source.clone()
        other[0, place] = 13
        assert not torch.equal(model.encode(other, mask).columns[:, :3], before[:, :3])


# ------------------------------------------------------------------------------------------- Transformer, Vaswani 2017


def on_paper(**settings: Any) -> Model[Any, Any]:
    with torch.device("meta"):
        return build("transformer", "paper", source_vocabulary=37_000, target_vocabulary=37_000, tie="all", **settings)


def test_the_paper_models_are_as_large_as_the_papers():
    """Table 3: base 65 million parameters, big 213 million, with 37,000 shared pieces (section 5.1)."""
    assert 62e6 <= parameters(on_paper()) <= 66e6
    assert 208e6 <= parameters(on_paper(width=1024, heads=16, inner=4096)) <= 216e6


BLOCK = {"width": 8, "heads": 2, "inner": 12, "layers": 2}


@pytest.mark.parametrize("norm_first", [True, False])
def test_norms_stand_before_or_after_each_part(norm_first: bool):
    """Section 3.1: LayerNorm(x + Sublayer(x)); today x + Sublayer(LayerNorm(x)) and one more norm at the top."""
    model, pairs = small("transformer", **BLOCK, norm_first=norm_first), batch()
    decoder = model.decoder
    encoded, _ = model.encoder(pairs.source, pairs.source_mask)
    x = decoder.embedding(pairs.target_in)
    length = x.size(1)
    causal = torch.ones(1, length, length, dtype=torch.bool).tril().expand(len(pairs), -1, -1)

    def around(residual: nn.Module, x: Tensor, part: Any) -> Tensor:
        return x + part(residual.norm(x)) if norm_first else residual.norm(x + part(x))

    for block in decoder.blocks:
        assert isinstance(block, DecoderBlock)
        x = around(block.attention_residual, x, lambda y, block=block: block.attention(y, y, None, causal)[0])
        x = around(
            block.cross_residual,
            x,
            lambda y, block=block: block.cross(y, encoded.keys, None, pairs.source_mask)[0],
        )
        x = around(block.feed_forward_residual, x, lambda y, block=block: block.feed_forward(y))
    x = decoder.norm(x) if norm_first else x
    assert isinstance(decoder.norm, nn.LayerNorm) is norm_first
    assert isinstance(model.encoder.norm, nn.LayerNorm) is norm_first
    close(model(pairs).logits, x @ decoder.embedding.words.weight.T)


@pytest.mark.parametrize("norm_first", [True, False])
def test_the_encoder_equals_torchs(norm_first: bool):
    model, pairs = small("transformer", **BLOCK, norm_first=norm_first), batch()
    encoder = model.encoder
    layer = nn.TransformerEncoderLayer(8, 2, 12, batch_first=True, norm_first=norm_first, dtype=torch.float64)
    top = nn.LayerNorm(8, dtype=torch.float64) if norm_first else None
    other = nn.TransformerEncoder(layer, 2, top, enable_nested_tensor=False).train()  # eval takes another path
    for theirs, ours in zip(other.layers, encoder.blocks, strict=True):
        heads = ours.attention
        projections = (heads.query_projection, heads.key_projection, heads.value_projection)
        theirs.load_state_dict(
            {
                "self_attn.in_proj_weight": torch.cat([each.weight for each in projections]),
                "self_attn.in_proj_bias": torch.cat([each.bias for each in projections]),
                "self_attn.out_proj.weight": heads.output_projection.weight,
                "self_attn.out_proj.bias": heads.output_projection.bias,
                "linear1.weight": ours.feed_forward.widen.weight,
                "linear1.bias": ours.feed_forward.widen.bias,
                "linear2.weight": ours.feed_forward.narrow.weight,
                "linear2.bias": ours.feed_forward.narrow.bias,
                "norm1.weight": ours.attention_residual.norm.weight,
                "norm1.bias": ours.attention_residual.norm.bias,
                "norm2.weight": ours.feed_forward_residual.norm.weight,
                "norm2.bias": ours.feed_forward_residual.norm.bias,
            }
        )
        theirs.dropout.p = theirs.dropout1.p = theirs.dropout2.p = theirs.self_attn.dropout = 0.0
    if norm_first:
        other.norm.load_state_dict(encoder.norm.state_dict())
    expected = other(encoder.embedding(pairs.source), src_key_padding_mask=~pairs.source_mask.squeeze(1))
    got, _ = encoder(pairs.source, pairs.source_mask)
    real = pairs.source_mask.squeeze(1)
    close(got.keys[real], expected[real])


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_the_decoder_equals_torchs(norm_first: bool, activation: str):
    """nn.TransformerDecoder over the same keys, with the same parameters, causal and with padding."""
    model, pairs = small("transformer", **BLOCK, norm_first=norm_first, activation=activation), batch()
    decoder = model.decoder
    layer = nn.TransformerDecoderLayer(
        8, 2, 12, 0.0, activation, batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    top = nn.LayerNorm(8, dtype=torch.float64) if norm_first else None
    other = nn.TransformerDecoder(layer, 2, top)
    for theirs, ours in zip(other.layers, decoder.blocks, strict=True):
        assert isinstance(ours, DecoderBlock)
        named: dict[str, Tensor] = {}
        for name, heads in (("self_attn", ours.attention), ("multihead_attn", ours.cross)):
            projections = (heads.query_projection, heads.key_projection, heads.value_projection)
            named[f"{name}.in_proj_weight"] = torch.cat([each.weight for each in projections])
            named[f"{name}.in_proj_bias"] = torch.cat([each.bias for each in projections])
            named[f"{name}.out_proj.weight"] = heads.output_projection.weight
            named[f"{name}.out_proj.bias"] = heads.output_projection.bias
        maps = {"linear1": ours.feed_forward.widen, "linear2": ours.feed_forward.narrow}
        residuals = (ours.attention_residual, ours.cross_residual, ours.feed_forward_residual)
        maps |= {f"norm{number}": residual.norm for number, residual in enumerate(residuals, start=1)}
        named |= {f"{name}.{key}": value for name, part in maps.items() for key, value in part.state_dict().items()}
        theirs.load_state_dict(named)
    if norm_first:
        other.norm.load_state_dict(decoder.norm.state_dict())
    encoded, _ = model.encoder(pairs.source, pairs.source_mask)
    length = pairs.target_in.size(1)
    expected = other(
        decoder.embedding(pairs.target_in),
        encoded.keys,
        tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1),
        memory_key_padding_mask=~pairs.source_mask.squeeze(1),
    )
    got, _ = decoder(pairs.target_in, decoder.memorise(encoded))
    real = pairs.target_mask.squeeze(1) if pairs.target_mask.dim() == 3 else pairs.target_mask
    close(got[real], expected[real])


def test_vectors_are_scaled_and_placed():
    """Section 3.4: word vectors times sqrt(d); 3.5: plus sines and cosines of the position."""
    embedding = small("transformer", **BLOCK).encoder.embedding
    ids = torch.tensor([[5, 6, 7]])
    rates = 10_000.0 ** (-torch.arange(4, dtype=torch.float64) / 4)
    angles = torch.arange(3, dtype=torch.float64)[:, None] * rates
    waves = torch.cat([angles.sin(), angles.cos()], dim=-1)
    close(embedding(ids), embedding.words.weight[ids] * math.sqrt(8) + waves)
    assert torch.equal(embedding(ids[:, 1:], 1), embedding(ids)[:, 1:])


@pytest.mark.parametrize(("tie", "tables"), [("none", 3), ("target", 2), ("all", 1)])
def test_tied_weights_are_one_storage(tie: str, tables: int):
    model = small("transformer", **BLOCK, tie=tie)
    source, target = model.encoder.embedding.words.weight, model.decoder.embedding.words.weight
    last = model.decoder.last_layer().weight
    assert len({each.data_ptr() for each in (source, target, last)}) == tables
    of_words = [name for name, parameter in model.named_parameters() if parameter.shape == (WORDS, 8)]
    assert len(of_words) == tables
    assert (source is target) is (tie == "all")
    assert (target is last) is (tie != "none")
    # Still one after a move and after a copy.
    copied = copy.deepcopy(model).float()
    with torch.no_grad():
        copied.encoder.embedding.words.weight.fill_(3.0)
    assert (copied.decoder.embedding.words.weight == 3.0).all().item() is (tie == "all")
    assert not (source == 3.0).any()


def test_the_vector_of_padding_starts_at_zero():
    table = Embedding(10, 16)
    assert not table.weight[PAD].any()
    assert Embedding(2000, 16).weight.std().item() == pytest.approx(0.25, rel=0.05)
