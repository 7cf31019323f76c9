"""The map of any translation, by any search, is what the model looked at while it was being searched.

The test records the weights of every step itself: the step that the search is given carries them along in its state, so
that they are reordered with the beams; maps come from one forced pass afterwards. Both have to agree.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from folders import SOURCES, make_run
from torch import Tensor

import seq2see
from seq2see.attention.base import Mechanism
from seq2see.search import SearchConfig
from seq2see.session import Translation, Translator

SEARCHES = {
    "greedy": SearchConfig(),
    "beam": SearchConfig(beam=5, nbest=3, length_penalty="gnmt"),
    "diverse": SearchConfig(beam=4, groups=2, diversity=0.5, nbest=3),
    "sampling": SearchConfig(sample=True, nbest=3, seed=5),
}
SETTINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "rnnsearch": ("rnnsearch", {}),
    "luong": ("luong", {}),
    "luong without feeding": ("luong", {"input_feeding": False}),
    "luong local-m": ("luong", {"attention": {"scope": "local-m", "window": 2}}),
    "luong cosine": ("luong", {"attention": {"score": "cosine"}}),
    "luong location-aware": ("luong", {"attention": {"score": "location_aware"}}),
    "convs2s": ("convs2s", {}),
    "transformer": ("transformer", {}),
}
# Every setting with both loops; the other kinds of search with the two that keep most from step to step.
CROSSED = [
    pytest.param(
        setting,
        search,
        marks=pytest.mark.slow
        if search in ("diverse", "sampling") and setting not in ("luong location-aware", "transformer")
        else [],
    )
    for setting in SETTINGS
    for search in SEARCHES
]


class Carried(NamedTuple):
    """A state with its own past: (R,) sentence, (R, t) tokens read, (R, t, L, H, S) weights."""

    state: Any
    sentence: Tensor
    tokens: Tensor
    weights: Tensor


class Recorder:
    """Stands in for `start` and `step` of a model, and remembers every row of every step."""

    def __init__(self, translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
        self.model = translator.runs[0].model
        self.rows: dict[tuple[int, tuple[int, ...]], Tensor] = {}
        # A mechanism may serve several layers; they are called in their order.
        cross = {id(layer.module.scorer) for layer in self.model.attentions() if layer.kind == "cross"}
        self.seen: list[Tensor] = []
        self.start, self.step = self.model.start, self.model.step
        written = Mechanism.attend_heads

        def attend_heads(mechanism: Mechanism, query: Tensor, prepared: Any, **options: Any) -> Any:
            context, weights = written(mechanism, query, prepared, **(options | {"need_weights": True}))
            if id(mechanism) in cross:
                self.seen.append(weights[:, :, -1])
            return context, weights if options.get("need_weights", True) else None

        monkeypatch.setattr(Mechanism, "attend_heads", attend_heads)
        monkeypatch.setattr(self.model, "start", self.carried_start)
        monkeypatch.setattr(self.model, "step", self.carried_step)

    def carried_start(self, memory: Any) -> Carried:
        state = self.start(memory)
        batch = _first(memory).size(0)
        return Carried(
            state, torch.arange(batch), torch.zeros(batch, 0, dtype=torch.long), torch.zeros(batch, 0, 0, 0, 0)
        )

    def carried_step(self, tokens: Tensor, memory: Any, carried: Carried) -> tuple[Tensor, Carried]:
        self.seen.clear()
        logits, state = self.step(tokens, memory, carried.state)
        now = torch.stack(self.seen, dim=1).unsqueeze(1)
        read = torch.cat([carried.tokens, tokens.unsqueeze(1)], dim=1)
        weights = now if carried.weights.size(1) == 0 else torch.cat([carried.weights, now], dim=1)
        for row in range(len(tokens)):
            self.rows[int(carried.sentence[row]), tuple(read[row, 1:].tolist())] = weights[row]
        return logits, Carried(state, carried.sentence, read, weights)


def _first(tree: Any) -> Tensor:
    while not isinstance(tree, Tensor):
        tree = next(branch for branch in tree if branch is not None)
    return tree


def check(recorder: Recorder, sentence: int, said: Translation) -> None:
    found = said.attention
    assert found is not None
    told = said.token_ids if said.ended else said.token_ids[:-1]
    recorded = recorder.rows[sentence, told]  # (T, L, H, S)
    expected = recorded.permute(1, 2, 0, 3).numpy()
    rows, columns = expected.shape[2], len(found.source)
    np.testing.assert_allclose(found.weights[:, :, :rows], expected[..., :columns], atol=1e-5)
    assert not expected[..., columns:].any()  # padding
    sums = found.weights.sum(axis=-1)
    np.testing.assert_allclose(sums, np.where(sums == 0, 0, 1), atol=1e-5)  # a local window may have left the source


@pytest.fixture(scope="module")
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    family, settings = SETTINGS[request.param]
    sharp = 1.0 if family == "convs2s" else 1.5  # its layers multiply: what is sharpened is rounding, too
    return seq2see.load(
        make_run(tmp_path_factory.mktemp("run") / "run", family, sharp=sharp, **settings), engine="torch"
    )


@pytest.mark.parametrize(("translator", "name"), CROSSED, indirect=["translator"])
def test_every_map_is_what_was_looked_at_step_by_step(
    translator: Translator, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = sorted(
        range(len(SOURCES)), key=lambda place: -len(translator.runs[0].tokenizers[0].ids_batch([SOURCES[place]])[0])
    )
    with monkeypatch.context() as patched:
        recorder = Recorder(translator, patched)
        found = translator.translate(SOURCES, search=SEARCHES[name].model_copy(update={"max_length": 12}))
    for place, translation in enumerate(found):
        assert len(translation.nbest) >= min(2, SEARCHES[name].nbest)  # groups of beams may have said the same
        for one in (translation, *translation.nbest):
            check(recorder, order.index(place), one)


def test_an_ensemble_shows_its_first_member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = make_run(tmp_path / "a", "rnnsearch", sharp=1.5), make_run(tmp_path / "b", "transformer", seed=1)
    together = seq2see.load([first, second])
    with monkeypatch.context() as patched:
        recorder = Recorder(together, patched)
        found = together.translate(SOURCES[0], search=SearchConfig(beam=4, nbest=3, max_length=10))
    for one in found.nbest:
        check(recorder, 0, one)


def test_families_without_attention_have_no_map(tmp_path: Path) -> None:
    for family in ("rnn", "bytenet"):
        found = seq2see.load(make_run(tmp_path / family, family)).translate(SOURCES[0], nbest=2)
        assert found.attention is None
        assert all(one.attention is None for one in found.nbest)
