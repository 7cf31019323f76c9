"""The lesson *memory*: one step by hand, gradients by finite differences, a task whose answer is known."""

import math

import numpy as np
import pytest
import torch

from learning import Taught
from seq2see.learn.blocks import Curves, Equation, LessonTable, Matrix
from seq2see.learn.lessons import memory as taught_memory
from seq2see.learn.lessons.memory import KINDS, LETTERS, LONGEST, fresh, one_step, random_sentences, reaching


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def test_one_step_of_each_cell_with_a_pencil(taught: Taught) -> None:
    assert one_step("tanh").state == pytest.approx(math.tanh(1.5))
    z = sigmoid(1.5)
    n = math.tanh(1 + z * 0.5)
    assert one_step("gru").state == pytest.approx((1 - z) * n + z * 0.5)
    c = sigmoid(2.5) * 0.5 + sigmoid(1.5) * math.tanh(1.5)
    step = one_step("lstm")
    assert step.state == pytest.approx(sigmoid(1.5) * math.tanh(c))
    assert step.gates == pytest.approx(
        {"i": sigmoid(1.5), "f": sigmoid(2.5), "g": math.tanh(1.5), "o": sigmoid(1.5), "c": c}
    )
    sums = [block.text for block in taught.page("memory").sections[0].blocks if isinstance(block, Equation)]
    ends = [math.tanh(1.5), z, n, (1 - z) * n + z * 0.5, z, sigmoid(2.5), math.tanh(1.5), c, step.state]
    assert [line.rpartition("= ")[2] for line in sums] == [f"{value:.3f}" for value in ends]


def test_the_shown_step_is_the_one_that_trains() -> None:
    for kind in KINDS:
        cell = taught_memory.ones(kind, forget=2.0)
        state = torch.full((1, cell.state_width), 0.5, dtype=torch.float64)
        after = cell.step(torch.ones(1, 1, dtype=torch.float64), state)
        assert float(after[0, 0].detach()) == pytest.approx(one_step(kind, forget=2.0).state)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_finite_differences(kind: taught_memory.CellName) -> None:
    cell, x = fresh(kind, seed=3), random_sentences(6, seed=3)[:2]
    measured = reaching(cell, x, seed=5)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        direction = torch.nn.functional.normalize(torch.randn(2, cell.hidden, dtype=torch.float64), dim=-1)

    def end(moved: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            outputs, _ = cell.run(moved, moved.new_zeros(2, cell.state_width))
        return (outputs[:, -1] * direction).sum(dim=-1)

    for word in (0, 5):
        slopes = []
        for number in range(x.size(-1)):
            nudge = torch.zeros_like(x)
            nudge[:, word, number] = 1e-5
            slopes.append((end(x + nudge) - end(x - nudge)) / 2e-5)
        assert float(torch.stack(slopes).norm(dim=0).mean()) == pytest.approx(measured[word], rel=1e-4)


def test_the_page_shows_what_was_measured(taught: Taught) -> None:
    page = taught.page("memory")
    table = next(block for block in page.sections[1].blocks if isinstance(block, LessonTable))
    curves = next(block for block in page.sections[1].blocks if isinstance(block, Curves))
    x = random_sentences(40, seed=1)
    for column, kind in enumerate(KINDS, start=1):
        gradient = reaching(fresh(kind, 1), x)
        for row in table.rows:
            assert row[column] == pytest.approx(gradient[row[0] - 1])
        assert dict(curves.series[column - 1].points)[40.0] == pytest.approx(gradient[-1])
        assert f"{gradient[0] / gradient[-1]:.1e}" in page.answer.en


def test_an_open_forget_gate_lets_the_gradient_through() -> None:
    """What the attempt of the lesson promises."""
    x = random_sentences(40, seed=1)
    shut, open_wide = (reaching(fresh("lstm", 1, forget), x) for forget in (1.0, 4.0))
    assert open_wide[0] / open_wide[-1] > 0.3
    assert shut[0] / shut[-1] < 1e-2


def test_directions(taught: Taught) -> None:
    one, two = (block.values for block in taught.page("memory").sections[3].blocks if isinstance(block, Matrix))
    assert not np.triu(one, 1).any()
    assert (two > 0).all()
    np.testing.assert_allclose(one.sum(axis=1), 1)
    np.testing.assert_allclose(two.sum(axis=1), 1)
    assert two.argmax(axis=1).tolist() == list(range(len(two)))  # centred on its own word, as the text says


def test_the_task_is_to_remember_the_first_letter() -> None:
    pairs = taught_memory.recall_pairs(500, seed=7)
    lengths = [len(source.split()) for source, _ in pairs]
    assert all(source.split()[0] == target for source, target in pairs)
    assert (min(lengths), max(lengths)) == (2, LONGEST)
    assert {letter for source, _ in pairs for letter in source.split()} == set(LETTERS)
    assert {len(source.split()) for source, _ in taught_memory.recall_pairs(5, 1, 9)} == {9}


@pytest.mark.slow
def test_gates_remember_and_a_tanh_cell_does_not(taught: Taught) -> None:
    """The figures of docs/learn.md: chance is 12 %."""
    from seq2see.learn.workshop import Workshop

    right = {kind: taught_memory.recall(kind, Workshop(taught.cache / "slow"))["right"][-1] for kind in KINDS}
    assert right["lstm"] > 0.9
    assert right["gru"] > 0.9
    assert right["tanh"] < 0.5
