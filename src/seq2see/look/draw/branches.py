"""A beam tree in the terminal. The best branch of each node goes on below it, the others hang from it, so that a long
sentence runs down the screen and not off its edge:

    beam search: 5 steps, 46 candidates: 22 kept, 3 ended, 18 pruned, 3 blocked
    ├── I  -0.21
    │   ├── ✓ was a student . </s>  -3.90  #2 score -0.71
    │   └── × pruned: would -4.87, have -5.02 and 3 more
    └── … am a student . </s>  -1.02  ✓ #1 score -0.19
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from seq2see.look.map.tree import RULES, BeamTree, Node
from seq2see.visible import visible

if TYPE_CHECKING:
    from seq2see.search.hypothesis import Fate

MOST_LINES = 60
Detail = Literal["all", "living", "ranked"]
"""Every candidate; those that had a place; those that became a hypothesis that was given back."""

_MARKS: "dict[Fate, str]" = {"ended": "✓", "cut": "✂", "pruned": "×", "hopeless": "~", "blocked": "⊘", "kept": "●"}
_STYLES: "dict[Fate, str]" = {
    "kept": "", "ended": "bold green", "cut": "bold yellow", "pruned": "dim", "hopeless": "dim", "blocked": "red",
}  # fmt: skip
_DROPPED: "tuple[Fate, ...]" = ("pruned", "blocked")
_NAMED = 4  # dropped candidates of one node that are named; the others are counted


def draw_tree(tree: BeamTree, most: int = MOST_LINES) -> Tree:
    """With every detail that fits into `most` lines."""
    levels: tuple[Detail, ...] = ("all", "living", "ranked")
    drawn = [_Drawing(tree, detail).draw() for detail in levels[:1]]
    for detail in levels[1:]:
        if _lines(drawn[-1]) <= most:
            break
        drawn.append(_Drawing(tree, detail).draw())
    return drawn[-1] if _lines(drawn[-1]) <= most else _cut(drawn[-1], most)


def plain_tree(tree: BeamTree, width: int = 100) -> str:
    """Without colour, for files and logs."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    with console.capture() as captured:
        console.print(draw_tree(tree))
    return captured.get().rstrip("\n")


@dataclass(frozen=True)
class _Drawing:
    tree: BeamTree
    detail: Detail

    def draw(self) -> Tree:
        root = Tree(Text(f"beam search: {self.tree.summary}", style="bold"), guide_style="dim")
        for start in self._shown(None):
            self._add(root, start)
        self._add_dropped(root, None)
        return root

    def _add(self, root: Tree, start: int) -> None:
        """A branch and what hangs from it. A stack and not recursion: a sentence may have a thousand steps."""
        waiting = [(root, start, False)]
        while waiting:
            above, place, goes_on = waiting.pop()
            run, others = self._run(place)
            line = above.add(self._line(run, goes_on))
            self._add_dropped(line, run[-1])
            if others:
                best, *aside = others
                waiting.append((above, best, True))
                waiting += [(line, other, False) for other in reversed(aside)]

    def _run(self, place: int) -> tuple[list[int], list[int]]:
        """The places that follow each other with nothing to tell between them; then how it can go on, best first."""
        run = [place]
        while len(following := self._shown(run[-1])) == 1 and not self._dropped(run[-1]):
            run.append(following[0])
        return run, following

    def _shown(self, place: int | None) -> list[int]:
        """The children that get lines of their own, the one to the best hypothesis first."""
        ranks, nodes = self.tree.best_rank, self.tree.nodes
        shown = [p for p in self.tree.children.get(place, []) if nodes[p].fate not in _DROPPED]
        if self.detail == "ranked" and any(rank is not None for rank in ranks):
            shown = [p for p in shown if ranks[p] is not None]
        return sorted(shown, key=lambda p: (ranks[p] is None, ranks[p] or 0, -nodes[p].total))

    def _dropped(self, place: int | None) -> list[int]:
        if self.detail != "all":
            return []
        nodes = self.tree.nodes
        return [p for p in self.tree.children.get(place, []) if nodes[p].fate in _DROPPED]

    def _add_dropped(self, line: Tree, place: int | None) -> None:
        nodes = [self.tree.nodes[p] for p in self._dropped(place)]
        for text in _dropped_lines(nodes):
            line.add(text)

    def _line(self, run: list[int], goes_on: bool) -> Text:
        last = self.tree.nodes[run[-1]]
        style = _STYLES[last.fate] or ("" if self.tree.best_rank[run[-1]] is not None else "dim")
        text = Text()
        text.append("… " if goes_on else "", style="dim")
        text.append(" ".join(visible(self.tree.nodes[place].piece, 40) for place in run), style=style or "default")
        text.append(f"  {last.total:.2f}", style="dim")
        if last.fate != "kept":
            text.append(f"  {_MARKS[last.fate]} {last.fate}", style=style)
        elif all(self.tree.nodes[place].fate in _DROPPED for place in self.tree.children.get(run[-1], [])):
            text.append("  × left behind", style="dim")
        if last.rank is not None:
            text.append(f"  #{last.rank} score {self.tree.scores[last.rank - 1]:.3f}", style="bold green")
        return text


def _dropped_lines(nodes: list[Node]) -> Iterator[Text]:
    """Dropped candidates of one node: a line for what was pruned, one for each rule."""
    reasons: dict[str, list[Node]] = {}
    for node in nodes:
        reasons.setdefault("pruned" if node.rule is None else f"blocked, {RULES[node.rule]}", []).append(node)
    for reason, group in reasons.items():
        named = ", ".join(f"{visible(node.piece, 40)} {node.total:.2f}" for node in group[:_NAMED])
        more = f" and {len(group) - _NAMED} more" if len(group) > _NAMED else ""
        fate = group[0].fate
        yield Text(f"{_MARKS[fate]} {reason}: {named}{more}", style=_STYLES[fate])


def _lines(tree: Tree) -> int:
    count, waiting = 0, [tree]
    while waiting:
        branch = waiting.pop()
        count += 1
        waiting += branch.children
    return count


def _cut(tree: Tree, most: int) -> Tree:
    """The first branches, as many as fit; the others are counted."""
    shown, room = Tree(tree.label, guide_style="dim"), most - 2
    for number, branch in enumerate(tree.children):
        room -= _lines(branch)
        if room < 0:
            shown.add(Text(f"… and {len(tree.children) - number} more branches", style="dim"))
            break
        shown.children.append(branch)
    return shown
