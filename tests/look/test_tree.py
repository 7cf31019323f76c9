"""The beam tree: every candidate of a real search finds its parent, and the drawing says what became of it."""

import io
import sys
from math import isclose
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from seq2see.errors import DataError
from seq2see.look.draw.branches import MOST_LINES, draw_tree, plain_tree
from seq2see.look.map.tree import RULES, BeamTree, Node, beam_tree
from seq2see.search import Considered, Result, SearchConfig
from seq2see.vocabulary import EOS

sys.path.insert(0, str(Path(__file__).parents[1] / "search"))
from searching import Cheap


def spell(ids: list[int]) -> list[str]:
    return [f"▁w{number}" for number in ids]


def tree_of(result: Result) -> BeamTree:
    assert result.record is not None
    return beam_tree(result.record, spell, [(one.tokens, one.score) for one in result.hypotheses])


def searched(config: SearchConfig, limit: int = 9, words: int = 12, ending: float = 0.5, **more: object) -> Result:
    return Cheap(words, 2.0, ending).run([0.37], config, limit, record=True, **more)[0]


CONFIGS = st.builds(
    SearchConfig,
    beam=st.integers(1, 5),
    min_length=st.integers(0, 3),
    no_repeat_ngram=st.integers(0, 2),
)


@given(CONFIGS, st.integers(4, 10), st.floats(-3, 3))
def test_every_candidate_is_there_under_what_it_continues(config: SearchConfig, limit: int, ending: float) -> None:
    config = SearchConfig.model_validate(config.model_dump() | {"nbest": config.beam})
    result = searched(config, limit, ending=ending)
    tree = tree_of(result)
    assert result.record is not None
    assert [node[0:1] + node[2:3] for node in tree.nodes] == [(one.step, one.token) for one in result.record]
    for node in tree.nodes:
        before = 0.0 if node.parent is None else tree.nodes[node.parent].total
        assert isclose(node.total, before + node.log_prob, abs_tol=1e-9)
        assert node.step == 0 if node.parent is None else tree.nodes[node.parent].step == node.step - 1
        assert node.parent is None or tree.nodes[node.parent].fate == "kept"
    ends = {node.rank: place for place, node in enumerate(tree.nodes) if node.rank is not None}
    assert sorted(ends) == list(range(1, len(result.hypotheses) + 1))
    for rank, hypothesis in enumerate(result.hypotheses, start=1):
        said = [tree.nodes[place].token for place in tree.path(ends[rank])]
        assert said == [*hypothesis.tokens, *([EOS] if hypothesis.ended else [])]
        assert isclose(tree.nodes[ends[rank]].total, sum(hypothesis.token_scores), abs_tol=1e-6)
        assert all((tree.best_rank[place] or 99) <= rank for place in tree.path(ends[rank]))


def test_groups_and_samples_have_trees_of_their_own() -> None:
    diverse = tree_of(searched(SearchConfig(beam=4, groups=2, diversity=0.5, nbest=4)))
    assert {node.rank for node in diverse.nodes if node.rank} == {1, 2, 3, 4}
    drawn = tree_of(searched(SearchConfig(sample=True, nbest=3, seed=1)))
    assert sum(node.parent is None for node in drawn.nodes) == 3


def test_blocked_candidates_say_which_rule() -> None:
    result = searched(SearchConfig(beam=2, min_length=3), prefix=[[5]], forbidden=[[[7]]])
    tree = tree_of(result)
    blocked = [node for node in tree.nodes if node.fate == "blocked"]
    assert {node.rule for node in blocked} >= {"prefix", "too short"}
    assert all(node.reason == RULES[node.rule] for node in blocked if node.rule)
    text = plain_tree(tree)
    assert "⊘ blocked, the sentence is still too short to end: </s>" in text
    assert "⊘ blocked, the prefix asks for another word: " in text


def test_a_small_tree_in_the_terminal() -> None:
    tree = BeamTree(
        (
            Node(0, None, 4, "▁I", -0.25, -0.25, "kept", None),
            Node(0, None, 5, "▁You", -3.0, -3.0, "pruned", None),
            Node(1, 0, 6, "▁read", -0.5, -0.75, "kept", None),
            Node(1, 0, 7, "▁see", -1.5, -1.75, "kept", None),
            Node(1, 0, 4, "▁I", -4.0, -4.25, "blocked", "repeated"),
            Node(2, 2, 2, "</s>", -0.25, -1.0, "ended", None, 1),
            Node(2, 3, 8, "▁it", -1.0, -2.75, "hopeless", None),
        ),
        (-0.321,),
    )
    assert plain_tree(tree) == (
        "beam search: 3 steps, 7 candidates: 3 kept, 1 ended, 1 pruned, 1 hopeless, 1 blocked\n"
        "├── ▁I  -0.25\n"
        "│   ├── ⊘ blocked, it would repeat an n-gram: ▁I -4.25\n"
        "│   └── ▁see ▁it  -2.75  ~ hopeless\n"
        "├── … ▁read </s>  -1.00  ✓ ended  #1 score -0.321\n"
        "└── × pruned: ▁You -3.00"
    )
    assert str(tree) == plain_tree(tree)
    assert tree.path(5) == [0, 2, 5]


@pytest.mark.parametrize(("beam", "limit"), [(1, 300), (5, 60), (8, 200)])
def test_a_large_tree_is_folded_but_its_hypotheses_stay(beam: int, limit: int) -> None:
    tree = tree_of(searched(SearchConfig(beam=beam, nbest=beam, no_repeat_ngram=3), limit, words=40, ending=-9.0))
    text = plain_tree(tree, width=200)
    assert len(tree.nodes) > limit
    drawn, waiting = 0, [draw_tree(tree)]
    while waiting:
        drawn += 1
        waiting += waiting.pop().children
    assert drawn <= MOST_LINES
    assert "#1 score" in text
    told = tree.as_dict(500)
    assert len(told["nodes"]) <= max(500, beam * limit)
    assert all(parent is None or parent < place for place, (_, parent, *_) in enumerate(told["nodes"]))
    if len(tree.nodes) > 500:
        assert {node[5] for node in told["nodes"]} <= {"kept", "ended", "cut"}  # what was dropped goes first
        assert {node[7] for node in told["nodes"]} >= set(range(1, beam + 1))  # hypotheses stay
        assert f"({len(tree.nodes) - len(told['nodes']):,} not shown)" in told["summary"]


def test_more_hypotheses_than_lines_are_counted() -> None:
    nodes = tuple(Node(0, None, n, f"w{n}", -n, -n, "ended", None, n + 1) for n in range(200))
    text = plain_tree(BeamTree(nodes, tuple(-float(n) for n in range(200))))
    assert len(text.splitlines()) == MOST_LINES
    assert "… and 142 more branches" in text


def test_colours_are_used_and_nothing_in_a_piece_moves_the_cursor() -> None:
    nodes = (Node(0, None, 4, "\x1b[31m[bold]\n", -1.0, -1.0, "ended", None, 1),)
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=80)
    with console.capture() as captured:
        console.print(BeamTree(nodes, (-1.0,)))
    assert "␛[31m[bold]␊" in captured.get()
    assert "\x1b[1;32m" in captured.get()


def test_a_record_that_hangs_in_the_air_is_refused() -> None:
    with pytest.raises(DataError, match="continues place 3 at step 1, where nothing is"):
        beam_tree([Considered(1, 3, 5, -1.0, -1.0, "kept", 0)], spell)


def test_an_empty_record_is_an_empty_tree() -> None:
    tree = beam_tree([], spell)
    assert (tree.nodes, tree.steps) == ((), 0)
    assert plain_tree(tree) == "beam search: 0 steps, 0 candidates"
