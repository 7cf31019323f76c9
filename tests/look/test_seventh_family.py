"""A seventh family, written in this file alone: maps, what-if, posterior, walkthrough and search work on it.

A bag of words with a memory (after Sukhbaatar 2015): the encoder's words look at each other once; the decoder keeps the
sum of the words it has read, looks at its own words, then hops twice over the source, each hop with a score of its own.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import seq2see
from seq2see.attention import Additive, Mechanism, MultiHead, Prepared
from seq2see.attention.base import Weighing
from seq2see.attention.formula import Formula, Quantity, array
from seq2see.data import Batch
from seq2see.errors import ConfigError
from seq2see.look import attention_maps
from seq2see.look.explain.walkthrough import explain
from seq2see.look.intervene.posterior import posterior_looks
from seq2see.look.intervene.whatif import Ablate, Force, Scale, what_if
from seq2see.models import AttentionLayer, Look, Model, ModelConfig, StepDescription
from seq2see.models.base import Decoder, Encoded, Encoder, Place, Vocabulary, mean_weights
from seq2see.search import Covered, SearchConfig, covering, greedy, length_limits, search, seen
from seq2see.text import Tokenizer, TokenizerConfig
from seq2see.vocabulary import EOS

WIDTH = 8
KOREAN, ENGLISH = "나는 학생입니다", "I am a student"


class HopsConfig(ModelConfig):
    SIZES: ClassVar[dict[Any, dict[str, Any]]] = {}
    family: Literal["hops"] = "hops"


class NegativeDistance(Mechanism):
    """score(s, h_j) = -|s - h_j|^2: a score that the package does not have."""

    def score(self, query: Tensor, keys: Tensor, history: Tensor | None = None) -> Tensor:
        return -(query.unsqueeze(3) - keys.unsqueeze(2)).square().sum(dim=-1)

    def describe_score(self, weighing: Weighing, head: int) -> Formula:
        code = ("scores = -((query - keys) ** 2).sum(axis=1)",)
        return Formula("negative distance", "score_j = -|s - h_j|^2", "", (), code)


class HopsEncoder(Encoder):
    key_dim = summary_dim = WIDTH

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.mixing = MultiHead(WIDTH, WIDTH, heads=2)

    def forward(self, source: Tensor, mask: Tensor, *, need_weights: bool = False) -> tuple[Encoded, list[Look]]:
        words = self.words(source)
        mixed, weights = self.mixing(words, words, None, mask, need_weights=need_weights)
        keys = words + mixed
        looks = [] if weights is None else [Look("encoder", 0, weights)]
        return Encoded(keys, keys, mask, keys.sum(dim=1)), looks

    def attentions(self) -> tuple[AttentionLayer, ...]:
        return (AttentionLayer("encoder", 0, self.mixing),)


class HopsMemory(NamedTuple):
    keys: tuple[Tensor, Tensor]
    values: tuple[Tensor, Tensor]
    mask: Tensor


class HopsState(NamedTuple):
    words: Tensor  # (B, t, D) that were read so far
    position: Tensor  # (B,)


class HopsDecoder(Decoder[HopsMemory, HopsState]):
    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, WIDTH)
        self.own = MultiHead(WIDTH, WIDTH, heads=2, scope="causal")
        self.hops = nn.ModuleDict({"near": NegativeDistance(WIDTH, WIDTH), "far": Additive(WIDTH, WIDTH)})
        self.out = nn.Linear(WIDTH, vocabulary)

    def memorise(self, encoded: Encoded) -> HopsMemory:
        near, far = (hop.prepare(encoded.keys, encoded.values, encoded.mask) for hop in self._hops())
        return HopsMemory((near.keys, far.keys), (near.values, far.values), encoded.mask)

    def start(self, memory: HopsMemory) -> HopsState:
        batch = memory.mask.size(0)
        return HopsState(memory.keys[0].new_zeros(batch, 0, WIDTH), torch.zeros(batch, dtype=torch.long))

    def step(
        self, tokens: Tensor, memory: HopsMemory, state: HopsState, *, need_weights: bool = False
    ) -> tuple[Tensor, HopsState, Tensor | None]:
        words = torch.cat([state.words, self.words(tokens).unsqueeze(1)], dim=1)
        features, looks = self._read(words, words[:, -1:], memory, state.words.size(1), need_weights=need_weights)
        weights = mean_weights([look.weights for look in looks if look.kind == "cross"]) if need_weights else None
        return features.squeeze(1), HopsState(words, state.position + 1), weights

    def forward(self, tokens: Tensor, memory: HopsMemory, *, need_weights: bool = False) -> tuple[Tensor, list[Look]]:
        words = self.words(tokens)
        return self._read(words, words, memory, 0, need_weights=need_weights)

    def _read(
        self, words: Tensor, queries: Tensor, memory: HopsMemory, offset: int, *, need_weights: bool
    ) -> tuple[Tensor, list[Look]]:
        own, weights = self.own.attend(queries, self.own.prepare(words), offset=offset, need_weights=need_weights)
        x, looks = queries + own, []
        if weights is not None:
            looks.append(Look("decoder", 0, weights))
        for layer, hop in enumerate(self._hops()):
            prepared = Prepared(memory.keys[layer], memory.values[layer], memory.mask)
            context, weights = hop.attend(x, prepared, offset=offset, need_weights=need_weights)
            x = x + context
            if weights is not None:
                looks.append(Look("cross", layer, weights))
        return torch.tanh(x), looks

    def last_layer(self) -> Vocabulary:
        return Vocabulary(self.out.weight, self.out.bias)

    def attentions(self) -> tuple[AttentionLayer, ...]:
        hops = [AttentionLayer("cross", layer, hop, f"what hop {layer} asks") for layer, hop in enumerate(self._hops())]
        return (AttentionLayer("decoder", 0, self.own), *hops)

    def describe_step(
        self, tokens: Tensor, memory: HopsMemory, state: HopsState, place: Place | None
    ) -> StepDescription:
        word = Quantity("word", "word vector of the last piece", array(self.words(tokens)[0]))
        count = Quantity("read", "pieces read before it", np.array(state.words.size(1)))
        return StepDescription((Formula("words", "the words read so far", "", (word, count), ()),))

    def _hops(self) -> list[Mechanism]:
        return [hop for hop in self.hops.values() if isinstance(hop, Mechanism)]


TOKENIZER = Tokenizer.train([KOREAN, ENGLISH] * 4, TokenizerConfig(scheme="char"))
SOURCE, TARGET = [*TOKENIZER.encode(KOREAN).ids, EOS], list(TOKENIZER.encode(ENGLISH).ids)
BATCH = Batch.of([SOURCE], [TARGET])


@pytest.fixture(autouse=True)
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():
        yield


@pytest.fixture(scope="module")
def model() -> Model[HopsMemory, HopsState]:
    torch.manual_seed(0)
    size = TOKENIZER.size
    config = HopsConfig(source_vocabulary=size, target_vocabulary=size)
    return Model(config, HopsEncoder(size), HopsDecoder(size)).double().eval()


def stepped(model: Model[Any, Any]) -> Tensor:
    memory = model.encode(BATCH.source, BATCH.source_mask)
    state, rows = model.start(memory), []
    for tokens in BATCH.target_in.unbind(dim=1):
        logits, state = model.step(tokens, memory, state)
        rows.append(logits)
    return torch.stack(rows, dim=1)


def test_src_does_not_know_it() -> None:
    package = Path(seq2see.__file__).parent
    assert not any("hopsdecoder" in path.read_text(encoding="utf-8").lower() for path in package.rglob("*.py"))


def test_look_knows_no_family() -> None:
    """Of models it imports the contract alone; a family is nowhere told from another by its class."""
    package = Path(seq2see.__file__).parent
    families = {f"seq2see.models.{path.stem}" for path in (package / "models").glob("*.py")}
    families -= {"seq2see.models.__init__", "seq2see.models.base"}
    for path in (package / "look").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                assert not names & families, path


def test_it_keeps_the_contract(model: Model[Any, Any]) -> None:
    torch.testing.assert_close(stepped(model), model(BATCH).logits)
    assert [layer.place for layer in model.attentions()] == [("encoder", 0), ("decoder", 0), ("cross", 0), ("cross", 1)]


def test_maps_of_every_kind(model: Model[Any, Any]) -> None:
    looks = model.look(BATCH)
    maps = attention_maps(looks, TOKENIZER.encode(KOREAN), TOKENIZER.encode(ENGLISH))
    assert {kind: shown.weights.shape[:2] for kind, shown in maps.items()} == {
        "cross": (2, 1),
        "encoder": (1, 2),
        "decoder": (1, 2),
    }
    cross = [look for look in looks if look.kind == "cross"]
    np.testing.assert_allclose(maps["cross"].weights[1], cross[1].weights[0].numpy(), atol=1e-6)
    assert len(maps["cross"].words().alignment()) > 0
    assert "student" in str(maps["cross"].words())


@pytest.mark.parametrize("layer", [0, 1])
def test_what_if_changes_one_hop(model: Model[Any, Any], layer: int) -> None:
    row = tuple(float(place == 1) for place in range(len(SOURCE)))
    changed = what_if(model, [Force("cross", layer, None, 2, row)])
    weights = {(look.kind, look.layer): look.weights for look in changed.look(BATCH)}
    before = {(look.kind, look.layer): look.weights for look in model.look(BATCH)}
    assert weights["cross", layer][0, 0, 1].tolist() == list(row)
    assert torch.equal(weights["cross", 1 - layer][:, :, 0], before["cross", 1 - layer][:, :, 0])
    assert torch.equal(weights["cross", 0], before["cross", 0]) == (layer == 1)
    assert not torch.allclose(changed(BATCH).logits[:, 1], model(BATCH).logits[:, 1])
    torch.testing.assert_close(stepped(changed), changed(BATCH).logits)
    torch.testing.assert_close(model.look(BATCH)[-1].weights, before["cross", 1])
    assert all(mine is theirs for mine, theirs in zip(changed.parameters(), model.parameters(), strict=True))


def test_a_hook_needs_an_attention(model: Model[Any, Any]) -> None:
    with pytest.raises(ConfigError, match="no cross attention in layer 2"):
        model.with_hooks({("cross", 2): lambda weighing: weighing.weights})


@pytest.mark.parametrize("edit", [Ablate("encoder", 0, 1), Ablate("decoder", 0, 0), Scale("cross", 1, 0, 2, 0.0)])
def test_what_if_reaches_every_attention(model: Model[Any, Any], edit: Any) -> None:
    changed = what_if(model, [edit])
    weights = {(look.kind, look.layer): look.weights for look in changed.look(BATCH)}[edit.kind, edit.layer]
    assert not (weights[..., edit.place] if isinstance(edit, Scale) else weights[:, edit.head]).any()
    assert not torch.allclose(changed(BATCH).logits, model(BATCH).logits)


def test_the_posterior_is_a_distribution(model: Model[Any, Any]) -> None:
    looks = [look for look in posterior_looks(model, BATCH) if look.kind == "cross"]
    assert len(looks) == 2
    for look in looks:
        torch.testing.assert_close(look.weights.sum(dim=-1), torch.ones_like(look.weights[..., 0]))


@pytest.mark.parametrize("step", [1, 3, len(TARGET) + 1])
@pytest.mark.parametrize(("kind", "layer", "head"), [("cross", 0, 0), ("cross", 1, 0), ("decoder", 0, 1)])
def test_a_walkthrough_with_the_models_numbers(
    model: Model[Any, Any], step: int, kind: Any, layer: int, head: int, capsys: pytest.CaptureFixture[str]
) -> None:
    walk = explain(model, SOURCE, TARGET, step, kind=kind, layer=layer, head=head)
    attention = walk.attention
    assert attention is not None
    weights = {(look.kind, look.layer): look.weights for look in model.look(BATCH)}[kind, layer]
    np.testing.assert_allclose(attention.weights, weights[0, head, step - 1].numpy())
    assert (walk.family, walk.after, walk.before[0].parts[1].value) == ("hops", (), step - 1)
    np.testing.assert_allclose(walk.features, model(BATCH).features[0, step - 1].numpy())
    if kind == "cross":
        assert attention.score.name == ("negative distance", "additive")[layer]
        assert attention.query_meaning == f"what hop {layer} asks"
    else:
        assert attention.query_meaning.startswith("W_Q x: ")
        assert attention.output is not None
    assert "The scores" in str(walk)
    assert json.loads(json.dumps(walk.as_dict()))["attention"]["weights"] == pytest.approx(attention.weights.tolist())
    exec(walk.as_numpy(), {})  # the script prints how far it is from the model
    assert float(capsys.readouterr().out.split("largest difference from the model: ")[1].split()[0]) < 1e-12


def test_a_changed_model_is_explained_as_changed(model: Model[Any, Any]) -> None:
    row = tuple(float(place == 1) for place in range(len(SOURCE)))
    walk = explain(what_if(model, [Force("cross", 1, None, 2, row)]), SOURCE, TARGET, 2)
    assert walk.attention is not None
    assert walk.attention.changed
    assert walk.attention.weights.tolist() == list(row)


def test_search_speaks_with_it(model: Model[Any, Any]) -> None:
    memory = model.encode(BATCH.source, BATCH.source_mask)
    limits = length_limits(BATCH.source_mask)
    (best,) = greedy(model.step, memory, model.start(memory), limits)
    (result,) = search(model.step, memory, model.start(memory), SearchConfig(beam=3, nbest=3), limits=limits)
    assert len(result.hypotheses) == 3
    assert result.hypotheses[0].score >= best.score
    start = Covered(model.start(memory), (~BATCH.source_mask.squeeze(1)).double())
    config = SearchConfig(beam=3, coverage=0.3)
    (covered,) = search(covering(model.step), memory, start, config, limits=limits, coverage_of=seen)
    assert covered.hypotheses
