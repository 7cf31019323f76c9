"""What a beam search considered, as a tree: what lived on, what was dropped, and why.

The search's record (`search.Considered`) names the beam's places step by step; here each candidate finds its parent.
The same tree is drawn in the terminal (it is a rich renderable) and in a page (`as_dict`).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult

from seq2see.errors import DataError
from seq2see.look.map.side import END
from seq2see.visible import visible
from seq2see.vocabulary import EOS

if TYPE_CHECKING:  # a tree can be drawn without torch, which the search needs
    from seq2see.search.hypothesis import Considered, Fate, Rule

Spell = Callable[[Sequence[int]], Sequence[str]]
"""Ids to pieces for the eye: `Tokenizer.pieces`."""

REASONS: "dict[Fate, str]" = {
    "kept": "lives on in the beam",
    "ended": "said the end of the sentence",
    "cut": "ran into the limit on its length",
    "pruned": "the beam was full of better ones",
    "hopeless": "could not overtake what had ended",
    "blocked": "a rule forbids it",
}
RULES: "dict[Rule, str]" = {
    "prefix": "the prefix asks for another word",
    "required": "a required phrase must come first",
    "forbidden": "it would complete a forbidden phrase",
    "repeated": "it would repeat an n-gram",
    "too short": "the sentence is still too short to end",
}
MOST_NODES = 4_000  # in a page
_LONGEST = 40  # characters of a piece that are shown


class Node(NamedTuple):
    """One candidate of one step."""

    step: int  # 0 for the first token
    parent: int | None  # its place among the nodes; None: it begins a sentence
    token: int
    piece: str
    log_prob: float  # of the token
    total: float  # of everything up to here
    fate: "Fate"
    rule: "Rule | None"
    rank: int | None = None  # 1 for the last token of the best hypothesis

    @property
    def lives(self) -> bool:
        """Whether it got a place, or became a hypothesis."""
        return self.fate in ("kept", "ended", "cut")

    @property
    def reason(self) -> str:
        return REASONS[self.fate] if self.rule is None else RULES[self.rule]


@dataclass(frozen=True)
class BeamTree:
    """Parents stand before their children. `scores` are what hypotheses were ranked by, the best first."""

    nodes: tuple[Node, ...]
    scores: tuple[float, ...] = ()
    folded: int = 0  # candidates left out, because there were too many

    @cached_property
    def children(self) -> dict[int | None, list[int]]:
        """The places of what continues each node, likeliest first; under None those that begin."""
        children: dict[int | None, list[int]] = {}
        for place, node in enumerate(self.nodes):
            children.setdefault(node.parent, []).append(place)
        for places in children.values():
            places.sort(key=lambda place: -self.nodes[place].total)
        return children

    @cached_property
    def best_rank(self) -> list[int | None]:
        """For each node the best hypothesis that goes through it."""
        ranks = [node.rank for node in self.nodes]
        for place in range(len(self.nodes) - 1, -1, -1):
            parent, rank = self.nodes[place].parent, ranks[place]
            if parent is not None and rank is not None:
                above = ranks[parent]
                ranks[parent] = rank if above is None else min(above, rank)
        return ranks

    @property
    def steps(self) -> int:
        return max((node.step for node in self.nodes), default=-1) + 1

    def path(self, place: int) -> list[int]:
        """The places from the first token to this one."""
        places = [place]
        while (parent := self.nodes[places[-1]].parent) is not None:
            places.append(parent)
        return places[::-1]

    @property
    def summary(self) -> str:
        """`7 steps, 63 candidates: 31 kept, 5 ended, 27 pruned`."""
        counts = Counter(node.fate for node in self.nodes)
        fates = ", ".join(f"{counts[fate]:,} {fate}" for fate in REASONS if counts[fate])
        more = f" ({self.folded:,} not shown)" if self.folded else ""
        counted = f"{_plural(self.steps, 'step')}, {_plural(len(self.nodes) + self.folded, 'candidate')}{more}"
        return f"{counted}: {fates}" if fates else counted

    def as_dict(self, most: int = MOST_NODES) -> dict[str, Any]:
        """What view/beam.js draws."""
        tree = self.pruned(most)
        return {
            "summary": tree.summary,
            "reasons": dict(REASONS),
            "rules": dict(RULES),
            "scores": list(tree.scores),
            "nodes": [
                [n.step, n.parent, visible(n.piece, _LONGEST), n.log_prob, n.total, n.fate, n.rule, n.rank, n.token]
                for n in tree.nodes
            ],
        }

    def pruned(self, most: int) -> "BeamTree":
        """At most so many nodes: first those without a place go, then the latest steps; hypotheses stay."""
        if len(self.nodes) <= most:
            return self
        kept = {place for place, rank in enumerate(self.best_rank) if rank is not None}
        for place, node in enumerate(self.nodes):
            if len(kept) >= most:
                break
            if node.lives and (node.parent is None or node.parent in kept):
                kept.add(place)
        return self._only(sorted(kept)[:most])

    def _only(self, places: list[int]) -> "BeamTree":
        """Places rise, and the parent of each is among them."""
        new: dict[int | None, int | None] = {None: None} | {old: number for number, old in enumerate(places)}
        nodes = tuple(self.nodes[place]._replace(parent=new[self.nodes[place].parent]) for place in places)
        return BeamTree(nodes, self.scores, self.folded + len(self.nodes) - len(nodes))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from seq2see.look.draw.branches import draw_tree

        yield draw_tree(self)

    def __str__(self) -> str:
        from seq2see.look.draw.branches import plain_tree

        return plain_tree(self)


def beam_tree(
    record: "Sequence[Considered]", spell: Spell, hypotheses: Sequence[tuple[Sequence[int], float]] = ()
) -> BeamTree:
    """The tree of one sentence's record.

    spell        `Tokenizer.pieces` of the target
    hypotheses   (tokens without the end, score) of what the search gave back, best first; their ends get ranks
    """
    pieces = _pieces(record, spell)
    nodes: list[Node] = []
    places: dict[tuple[int, int], int] = {}  # (step, place in the beam before it) -> the node that stands there
    for candidate in record:
        parent = places.get((candidate.step, candidate.parent))
        if parent is None and candidate.step:
            raise DataError(
                f"a record of a search continues place {candidate.parent} at step {candidate.step}, where nothing is"
            )
        if candidate.place is not None:
            places[candidate.step + 1, candidate.place] = len(nodes)
        piece = pieces[candidate.token]
        nodes.append(
            Node(
                candidate.step,
                parent,
                candidate.token,
                piece,
                candidate.log_prob,
                candidate.total,
                candidate.fate,
                candidate.rule,
            )
        )
    following: dict[int | None, list[int]] = {}
    for place, node in enumerate(nodes):
        following.setdefault(node.parent, []).append(place)
    for rank, (tokens, _) in enumerate(hypotheses, start=1):
        last = _find(nodes, following, tokens)
        if last is not None and nodes[last].rank is None:
            nodes[last] = nodes[last]._replace(rank=rank)
    return BeamTree(tuple(nodes), tuple(score for _, score in hypotheses))


def _plural(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _pieces(record: "Sequence[Considered]", spell: Spell) -> dict[int, str]:
    ids = sorted({candidate.token for candidate in record} - {EOS})
    return dict(zip(ids, spell(ids), strict=True)) | {EOS: END}


def _find(nodes: Sequence[Node], following: Mapping[int | None, list[int]], tokens: Sequence[int]) -> int | None:
    """The node at which a hypothesis ended, by itself or at the limit; None if the record does not have it."""
    alive: list[int | None] = [None]
    last = len(tokens) - 1
    for step, token in enumerate((*tokens, EOS)):
        here = [p for parent in alive for p in following.get(parent, ()) if nodes[p].token == token and nodes[p].lives]
        for place in here:
            if (step == last and nodes[place].fate == "cut") or (step > last and nodes[place].fate == "ended"):
                return place
        alive = [*here]
    return None
