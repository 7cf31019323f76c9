"""What if: edited attention is what is looked at and what is said with, in every family, by steps and in one pass."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from small_models import ATTENTIVE, BATCH, FAMILIES, PAIR, SOURCE, attentions, batch_of, model_of, stepped, tried
from torch import Tensor

from seq2see.attention import MultiHead
from seq2see.data import Batch
from seq2see.errors import ConfigError, Seq2SeeError, ShapeError
from seq2see.look.intervene.whatif import (
    Ablate,
    Edit,
    Force,
    Scale,
    parse_ablation,
    parse_edits,
    parse_force,
    parse_scale,
    what_if,
)
from seq2see.look.map.side import Side, side_of
from seq2see.models import Model, reorder
from seq2see.search import SearchConfig, search
from seq2see.text import Encoding
from seq2see.vocabulary import BOS

LOOKING = pytest.mark.parametrize("variant", tried(ATTENTIVE))
LENGTH = len(SOURCE)
ONE_HOT = tuple(float(place == 1) for place in range(LENGTH))
MIXED = tuple(share / 15 for share in range(1, LENGTH + 1))


@pytest.fixture(autouse=True, scope="module")
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


def crossing(model: Model[Any, Any], batch: Batch) -> dict[int, Tensor]:
    return {look.layer: look.weights for look in model.look(batch) if look.kind == "cross"}


def close(got: Tensor, expected: Tensor, atol: float = 1e-10) -> None:
    torch.testing.assert_close(got, expected, rtol=0, atol=atol)


# ----- nothing changes where nothing is edited


@pytest.mark.parametrize("variant", tried(FAMILIES))
def test_no_edit_is_the_same_model_bit_by_bit(variant: str) -> None:
    model = model_of(variant, torch.float32)
    same = what_if(model, [])
    assert same is not model
    assert torch.equal(same(BATCH).logits, model(BATCH).logits)
    assert torch.equal(stepped(same, BATCH), stepped(model, BATCH))
    for mine, theirs in zip(same.parameters(), model.parameters(), strict=True):
        assert mine is theirs
    assert list(same.state_dict()) == list(model.state_dict())


@LOOKING
def test_the_given_model_is_not_touched(variant: str) -> None:
    model = model_of(variant)
    before, looks = model(BATCH).logits, model.look(BATCH)
    changed = what_if(model, [Ablate("cross"), Force("cross", None, None, 1, ONE_HOT)])
    changed(BATCH)
    stepped(changed, BATCH)
    assert torch.equal(model(BATCH).logits, before)
    assert all(torch.equal(now.weights, then.weights) for now, then in zip(model.look(BATCH), looks, strict=True))
    assert all(attention.scorer.hook is None for attention in attentions(model).values())


@LOOKING
def test_an_edit_elsewhere_changes_nothing_before_its_step(variant: str) -> None:
    model = model_of(variant)
    changed = what_if(model, [Force("cross", None, None, 3, ONE_HOT)])
    before, after = model(BATCH).logits, changed(BATCH).logits
    close(after[:, :2], before[:, :2])
    assert (after[:, 2] - before[:, 2]).abs().max() > 1e-6


# ----- heads switched off


@LOOKING
def test_all_heads_off_looks_at_nothing_and_says_something_else(variant: str) -> None:
    model = model_of(variant)
    changed = what_if(model, [Ablate("cross")])
    assert all(not weights.any() for weights in crossing(changed, BATCH).values())
    assert (changed(BATCH).logits - model(BATCH).logits).abs().max() > 1e-4
    close(stepped(changed, BATCH), changed(BATCH).logits)


@LOOKING
def test_a_source_that_is_not_looked_at_does_not_matter(variant: str) -> None:
    """With cross attention off, only a decoder that starts from a summary still knows the source."""
    model = model_of(variant)
    changed = what_if(model, [Ablate("cross")])
    other = batch_of([([4, 11, 3, 8, 2], PAIR[1])])
    heard = (changed(other).logits - changed(BATCH).logits).abs().max()
    from_summary = model.config.family in ("rnnsearch", "luong")
    assert bool(heard > 1e-9) == from_summary


@LOOKING
def test_one_head_off_adds_nothing_of_its_own(variant: str) -> None:
    model = model_of(variant)
    unchanged = model(BATCH).logits
    for (kind, layer), attention in attentions(model).items():
        for head in range(attention.heads):
            changed = what_if(model, [Ablate(kind, layer, head)])
            logits = changed(BATCH).logits
            looks = {(look.kind, look.layer): look.weights for look in changed.look(BATCH)}
            assert not looks[kind, layer][:, head].any()
            others = [number for number in range(attention.heads) if number != head]
            assert all(looks[kind, layer][:, number].any() for number in others)
            assert (logits - unchanged).abs().max() > 1e-9, (kind, layer, head)
            close(stepped(changed, BATCH), logits)


def test_a_head_that_is_off_leaves_the_others_and_the_bias() -> None:
    torch.manual_seed(0)
    heads = MultiHead(8, 8, heads=2).double()
    for parameter in heads.parameters():
        parameter.add_(torch.randn_like(parameter))
    query, keys = torch.randn(2, 3, 8, dtype=torch.float64), torch.randn(2, 5, 8, dtype=torch.float64)
    prepared = heads.prepare(keys)
    _, weights = heads.attend(query, prepared)
    assert weights is not None
    context = torch.matmul(weights, prepared.values)
    context[:, 1] = 0
    expected = heads.output_projection(context.transpose(1, 2).flatten(-2))
    heads.mechanism.hook = lambda weighing: weighing.weights * torch.tensor([1.0, 0.0]).view(1, 2, 1, 1)
    close(heads.attend(query, prepared)[0], expected)
    close(heads.attend(query, prepared, need_weights=False)[0], expected)
    assert heads.attend(query, prepared, need_weights=False)[1] is None


# ----- rows that are forced


@LOOKING
@pytest.mark.parametrize("row", [ONE_HOT, MIXED], ids=["one-hot", "mixed"])
def test_a_forced_row_is_what_look_reports(variant: str, row: tuple[float, ...]) -> None:
    model = model_of(variant)
    changed = what_if(model, [Force("cross", None, None, 3, row)])
    before = crossing(model, BATCH)
    for layer, weights in crossing(changed, BATCH).items():
        expected = torch.tensor(row, dtype=weights.dtype).expand_as(weights[:, :, 2])
        assert torch.equal(weights[:, :, 2], expected)
        close(weights[:, :, :2], before[layer][:, :, :2])
        assert not torch.equal(before[layer][:, :, 2], expected)


@LOOKING
def test_a_one_hot_row_takes_that_value_home(variant: str) -> None:
    """The context of a step is the value it was made to look at: recorded from inside `attend_heads`."""
    model = model_of(variant)
    changed = what_if(model, [Force("cross", None, None, 2, ONE_HOT)])
    seen = 0
    with pytest.MonkeyPatch.context() as patch:
        for (kind, _), attention in attentions(changed).items():
            if kind != "cross":
                continue
            mechanism = attention.scorer
            original = mechanism.attend_heads

            def watched(query: Tensor, prepared: Any, *, original: Any = original, **given: Any) -> Any:
                nonlocal seen
                context, weights = original(query, prepared, **given)
                offset = given.get("offset", 0)
                first = int(offset[0]) if isinstance(offset, Tensor) else offset
                if first <= 1 < first + query.size(2):
                    close(context[:, :, 1 - first], prepared.values[:, :, 1].expand_as(context[:, :, 1 - first]))
                    seen += 1
                return context, weights

            patch.setattr(mechanism, "attend_heads", watched)
        changed(BATCH)
        assert seen == sum(kind == "cross" for kind, _ in attentions(model))
        stepped(changed, BATCH)
    assert seen == 2 * sum(kind == "cross" for kind, _ in attentions(model))


@LOOKING
def test_steps_say_what_one_pass_says(variant: str) -> None:
    model = model_of(variant)
    most = int(crossing(model, BATCH)[0].sum(dim=(0, 1, 2)).argmax())
    edits = [Force("cross", None, 0, 2, MIXED), Scale("cross", 0, None, most, 0.0), Ablate("cross", 0, 0)]
    for given in ([edit] for edit in edits):
        changed = what_if(model, given)
        close(stepped(changed, BATCH), changed(BATCH).logits)
        assert (changed(BATCH).logits - model(BATCH).logits).abs().max() > 1e-9, given
        close(changed(BATCH, need_weights=True).logits, changed(BATCH).logits)


@LOOKING
def test_beams_of_a_batch_are_edited_alike(variant: str) -> None:
    """Rows that are reordered while decoding go on with the edits, each at its own position."""
    model = model_of(variant)
    changed = what_if(model, [Force("cross", None, None, 3, MIXED), Scale("cross", None, 0, 0, 3.0, step=4)])
    batch = batch_of([(SOURCE, [4, 5, 6, 7]), ([9, 8, 7, 6, 2], [5, 4, 4, 3])])
    rows = torch.tensor([1, 0, 1])
    memory = changed.encode(batch.source, batch.source_mask)
    state = changed.start(memory)
    for tokens in batch.target_in[:, :2].unbind(dim=1):
        _, state = changed.step(tokens, memory, state)
    memory, state = reorder(memory, rows), reorder(state, rows)
    expected = changed(batch).logits[rows]
    for step in range(2, 5):
        logits, state = changed.step(batch.target_in[rows, step], memory, state)
        close(logits, expected[:, step])
    assert (expected - model(batch).logits[rows]).abs().max() > 1e-6


@LOOKING
def test_a_search_hears_the_edits(variant: str) -> None:
    """The score of what a beam found is the forced score of the edited model, not of the given one."""
    model = model_of(variant)
    changed = what_if(model, [Force("cross", None, None, 2, ONE_HOT), Ablate("cross", 0, 0)])
    memory = changed.encode(BATCH.source, BATCH.source_mask)
    config = SearchConfig(beam=4, nbest=3, max_length=5, min_length=2)
    found = search(changed.step, memory, changed.start(memory), config, limits=torch.tensor([5]))[0].hypotheses
    for hypothesis in found:
        tokens = torch.tensor([hypothesis.tokens])
        heard = []
        for speaker in (changed, model):
            batch = batch_of([(SOURCE, list(hypothesis.tokens))])
            said = torch.log_softmax(speaker(batch).logits[0], dim=-1)
            heard.append(said[: tokens.size(1)].gather(1, tokens.T).sum().item())
        got = sum(hypothesis.token_scores[: tokens.size(1)])
        assert got == pytest.approx(heard[0], abs=1e-6)
        assert got != pytest.approx(heard[1], abs=1e-6)


@pytest.mark.parametrize("variant", ["luong-local-m", "luong-local-m heads"])
def test_a_row_is_forced_even_where_a_window_has_left_the_source(variant: str) -> None:
    model, batch = model_of(variant), batch_of([([4, 2], [4, 5, 6, 7, 8])])
    assert not crossing(model, batch)[0][:, :, 5].any()
    changed = what_if(model, [Force("cross", 0, None, 6, (0.5, 0.5))])
    assert crossing(changed, batch)[0][:, :, 5].allclose(torch.tensor(0.5, dtype=torch.float64))
    before, after = model(batch).logits[0], changed(batch).logits[0]
    close(after[:5], before[:5])
    assert (after[5] - before[5]).abs().max() > 1e-4


def test_rows_of_self_attention_are_forced_as_well() -> None:
    model = model_of("transformer")
    changed = what_if(model, [Force("decoder", 1, 0, 3, (0.0, 0.0, 1.0)), Force("encoder", 0, 1, 2, ONE_HOT)])
    looks = {(look.kind, look.layer): look.weights for look in changed.look(BATCH)}
    assert looks["decoder", 1][0, 0, 2].tolist() == [0.0, 0.0, 1.0, *[0.0] * (BATCH.target_in.size(1) - 3)]
    assert looks["encoder", 0][0, 1, 1].tolist() == list(ONE_HOT)
    close(stepped(changed, BATCH), changed(BATCH).logits)


# ----- rows that are changed


@LOOKING
def test_a_scaled_row_keeps_its_sum(variant: str) -> None:
    model = model_of(variant)
    changed = what_if(model, [Scale("cross", 0, 0, 2, 3.0, step=2)])
    before, after = crossing(model, BATCH)[0][0, 0, 1], crossing(changed, BATCH)[0][0, 0, 1]
    expected = before.clone()
    expected[2] *= 3
    close(after, expected * before.sum() / expected.sum())
    close(after.sum(), before.sum())
    close(crossing(changed, BATCH)[0][0, 0, 0], crossing(model, BATCH)[0][0, 0, 0])


def test_nothing_is_left_of_a_row_that_lay_on_one_place() -> None:
    model = model_of("rnnsearch")
    changed = what_if(model, [Force("cross", 0, 0, 1, ONE_HOT), Scale("cross", 0, 0, 1, 0.0, step=1)])
    assert not crossing(changed, BATCH)[0][0, 0, 0].any()
    assert changed(BATCH).logits.isfinite().all()


def test_edits_follow_each_other() -> None:
    model = model_of("transformer")
    first = what_if(model, [Force("cross", 1, 0, 1, MIXED)])
    both = what_if(first, [Scale("cross", 1, 0, 4, 0.0, step=1)])
    expected = torch.tensor([*MIXED[:-1], 0.0], dtype=torch.float64)
    close(crossing(both, BATCH)[1][0, 0, 0], expected / expected.sum())
    together = what_if(model, [Force("cross", 1, 0, 1, MIXED), Scale("cross", 1, 0, 4, 0.0, step=1)])
    assert torch.equal(together(BATCH).logits, both(BATCH).logits)
    turned = what_if(model, [Scale("cross", 1, 0, 4, 0.0, step=1), Force("cross", 1, 0, 1, MIXED)])
    close(crossing(turned, BATCH)[1][0, 0, 0], torch.tensor(MIXED, dtype=torch.float64))


# ----- mistakes get one line


@pytest.mark.parametrize(
    ("variant", "edit", "said"),
    [
        ("rnn", Ablate("cross", 0, 0), "cross:0.0: this model has no attention to change"),
        ("bytenet", Ablate(), "cross: this model has no attention to change"),
        ("rnnsearch", Ablate("encoder"), "no attention of that kind; it has cross"),
        ("transformer", Ablate("cross", 2, 0), "cross:2.0: layers of cross attention are 0 to 1"),
        ("transformer", Ablate("cross", 1, 2), "cross:1.2: heads are 0 to 1"),
        ("rnnsearch", Ablate("cross", 0, 1), "there is one head, 0"),
        ("transformer", Ablate("cross", -1, 0), "layers of cross attention are 0 to 1"),
    ],
)
def test_a_place_that_is_not_there(variant: str, edit: Edit, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        what_if(model_of(variant), [edit])


def test_rows_that_do_not_fit() -> None:
    with pytest.raises(ConfigError, match=r"sum to 0\.7000"):
        Force("cross", 0, 0, 1, (0.2, 0.5))
    for weights in ((-0.5, 1.5), (float("nan"), 1.0), ()):
        with pytest.raises(ConfigError, match="none of them below 0"):
            Force("cross", 0, 0, 1, weights)
    with pytest.raises(ConfigError, match="counted from 1"):
        Force("cross", 0, 0, 0, (1.0,))
    with pytest.raises(ConfigError, match="counted from 0"):
        Scale("cross", 0, 0, -1, 1.0)
    with pytest.raises(ConfigError, match="0 or more"):
        Scale("cross", 0, 0, 1, -1.0)
    model = model_of("luong")
    with pytest.raises(ShapeError, match=r"2 weights are given, but the source, its end included, has 5 pieces"):
        what_if(model, [Force("cross", 0, 0, 1, (0.5, 0.5))])(BATCH)
    with pytest.raises(ShapeError, match=r"place 5, but the source has 5 pieces"):
        what_if(model, [Scale("cross", 0, 0, 5, 0.5)])(BATCH)
    several = batch_of([(SOURCE, [4]), ([5, 2], [4])])
    with pytest.raises(ShapeError, match="one sentence at a time"):
        what_if(model, [Force("cross", 0, 0, 1, ONE_HOT)])(several)
    with pytest.raises(ShapeError, match="2 weights are given, but <s> and what was said before has 3 pieces"):
        what_if(model_of("transformer"), [Force("decoder", 0, 0, 3, (0.5, 0.5))])(BATCH)


# ----- the command line's spelling


def side() -> Side:
    """`the big apple the` in pieces: the, big, app + le, the."""
    spans = [(0, 3), (3, 7), (7, 11), (11, 13), (13, 17)]
    tokens = ["the", "▁big", "▁app", "le", "▁the"]
    return side_of(Encoding("the big apple the", [4, 5, 6, 7, 4], tokens, spans))


def test_the_spelling_of_a_place() -> None:
    assert parse_ablation("cross:3.1") == Ablate("cross", 3, 1)
    assert parse_ablation("encoder:0") == Ablate("encoder", 0, None)
    assert parse_ablation("decoder") == Ablate("decoder", None, None)


@pytest.mark.parametrize(
    "text", ["", "cross:", "cross:a.b", "cross:1.2.3", "3.1", "crosss:1.2", "cross:-1.0", "cross:1."]
)
def test_a_misspelt_place(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^ablate '.*'"):
        parse_ablation(text)


def test_words_are_forced_by_their_pieces() -> None:
    found = parse_force("3:apple=1", side())
    assert found == Force("cross", None, None, 3, (0.0, 0.0, 0.5, 0.5, 0.0, 0.0))
    found = parse_force("1:big=3,</s>=1@cross:2.1", side())
    assert found == Force("cross", 2, 1, 1, (0.0, 0.75, 0.0, 0.0, 0.0, 0.25))
    assert parse_force("1:#4=1", side()).weights == (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)
    # A word of two pieces gets no more than a word of one.
    assert parse_force("1:apple=1,big=1", side()).weights == (0.0, 0.5, 0.25, 0.25, 0.0, 0.0)


def test_words_are_scaled_piece_by_piece() -> None:
    assert parse_scale("apple=0", side()) == [Scale("cross", None, None, place, 0.0) for place in (2, 3)]
    assert parse_scale("2:#1=1.5@cross:0", side()) == [Scale("cross", 0, None, 0, 1.5, 2)]
    edits = parse_edits(side(), ablate=["cross:0.1"], force=["1:big=1"], scale=["big=2"])
    assert [type(edit) for edit in edits] == [Ablate, Scale, Force]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("the=1", "name the step"),
        ("0:big=1", "steps are counted from 1"),
        ("-2:big=1", "steps are counted from 1"),
        ("1:the=1", "occurs 2 times; name it by its number, #1 or #4"),
        ("1:bag=1", "no word 'bag'; did you mean 'big'?"),
        ("1:#5=1", "the source has 4 words"),
        ("1:#0=1", "the source has 4 words"),
        ("1:big", "is not WORD=NUMBER"),
        ("1:big=x", "is not WORD=NUMBER"),
        ("1:big=-1", "is not WORD=NUMBER"),
        ("1:big=nan", "is not WORD=NUMBER"),
        ("1:big=0", "sum to 0"),
        ("1:", "is not WORD=NUMBER"),
        ("1:big=1@encoder:0.0", "cross attention only"),
        ("1:big=1@cross:x", "expected KIND:LAYER.HEAD"),
    ],
)
def test_a_misspelt_row(text: str, said: str) -> None:
    with pytest.raises(Seq2SeeError) as raised:
        parse_force(text, side())
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_the_first_token_is_forced_in_the_first_step() -> None:
    """Step 1 is the step that reads <s>."""
    model = model_of("convs2s")
    changed = what_if(model, [Force("cross", None, None, 1, ONE_HOT)])
    memory = changed.encode(BATCH.source, BATCH.source_mask)
    logits, _ = changed.step(torch.tensor([BOS]), memory, changed.start(memory))
    close(logits, changed(BATCH).logits[:, 0])
    assert (logits - model(BATCH).logits[:, 0]).abs().max() > 1e-4
