"""`seq2see look`: what the model looked at, word by word."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from seq2see.cli.checking import check_run
from seq2see.cli.saying import say
from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.look import AttentionMap, Best, Kind, Level
    from seq2see.look.draw.page import Opening
    from seq2see.look.map.tree import BeamTree
    from seq2see.session import Translation, Translator

_KINDS: "dict[str, Kind]" = {"cross": "cross", "encoder": "encoder", "decoder": "decoder"}
_LEVELS: "dict[str, Level]" = {"word": "word", "piece": "piece"}


def look(
    run: Annotated[Path, typer.Argument(help="The run folder.", show_default=False)],
    text: Annotated[str, typer.Argument(help="The source sentence.", show_default=False)],
    target: Annotated[
        str | None,
        typer.Option(help="Look while it is made to say this.  [default: what it says by itself]", show_default=False),
    ] = None,
    kind: Annotated[str, typer.Option(help="cross, encoder or decoder.")] = "cross",
    layer: Annotated[
        int | None,
        typer.Option(help="One layer, from 0.  [default: the layer of the best head]", show_default=False),
    ] = None,
    head: Annotated[int | None, typer.Option(help="One head, from 0; -1 is the last.", show_default=False)] = None,
    mean: Annotated[
        bool, typer.Option("--mean", help="The mean of all layers and heads (or of those chosen).")
    ] = False,
    rollout: Annotated[bool, typer.Option("--rollout", help="Looks followed down to the input tokens.")] = False,
    level: Annotated[str, typer.Option(help="word or piece.")] = "word",
    sinks: Annotated[bool, typer.Option("--sinks", help="Show </s> and <s> too, where idle heads rest.")] = False,
    rescale: Annotated[
        bool,
        typer.Option("--rescale", help="Scale rows up to one where </s> is hidden; weights are the model's own else."),
    ] = False,
    beam: Annotated[int, typer.Option(help="Of the search.", min=1)] = 5,
    rank: Annotated[int, typer.Option(help="The map of the second, third, ... best translation.", min=1)] = 1,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw a translation instead of searching for the best.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of --sample.")] = 0,
    max_length: Annotated[int | None, typer.Option(help="Most pieces.", show_default=False)] = None,
    tree: Annotated[bool, typer.Option("--tree", help="What the beam considered, kept and dropped.")] = False,
    posterior: Annotated[
        bool,
        typer.Option(
            "--posterior", help="Weigh each look by how likely the word would have been, had it looked there alone."
        ),
    ] = False,
    occlusion: Annotated[
        bool, typer.Option("--occlusion", help="A second opinion: drop each source word and see what becomes unlikely.")
    ] = False,
    ablate: Annotated[
        list[str] | None,
        typer.Option(help="What if: a head switched off, such as cross:3.1 (layer 3, head 1).", show_default=False),
    ] = None,
    force: Annotated[
        list[str] | None,
        typer.Option(help="What if: at step 2 look there, such as 2:학생=1.0.", show_default=False),
    ] = None,
    scale: Annotated[
        list[str] | None,
        typer.Option(help="What if: look less or more at a word, such as 학생=0.1.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write .html .svg .png .pdf .json .tsv .npz or .txt; AttentionMap.load reads .json .tsv .npz again.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The map as JSON on stdout.")] = False,
) -> None:
    """Show what the model looked at while it translated: in the terminal, or in a file.

    \b
    seq2see look runs/ko-en "나는 학생입니다"
    seq2see look runs/ko-en "나는 학생입니다" --out map.html
    seq2see look runs/ko-en "나는 학생입니다" --target "I am a teacher" --occlusion
    seq2see look runs/ko-en "나는 학생입니다" --ablate cross:0.0 --scale 학생입니다=0.1
    seq2see look runs/ko-en "나는 학생입니다" --level piece --layer 0 --head 0 --rescale
    """
    from seq2see import atomic

    if out is not None:
        atomic.check_output(out, run)
    for option, value, allowed in (("--kind", kind, _KINDS), ("--level", level, _LEVELS)):
        if value not in allowed:
            raise ConfigError(f"{option} {value}: expected one of {', '.join(allowed)}")
    if not text.strip():
        raise ConfigError("the text is empty: there is nothing to look at")
    if sample and rank > 1:
        raise ConfigError("--rank is of a beam; --sample draws one translation, another --seed another one")
    if rescale and sinks:
        raise ConfigError("--rescale makes up for what is hidden, and --sinks hides nothing; leave one of them out")
    view = View(_KINDS[kind], layer, head, mean, rollout, _LEVELS[level], sinks, rescale)
    search = {"sample": sample, "seed": seed, "max_length": max_length} | (
        {} if sample else {"beam": max(beam, rank), "nbest": rank, "length_penalty": "gnmt"}
    )
    if posterior and kind != "cross":
        raise ConfigError(f"--posterior asks what the source words explain; it has no meaning with --kind {kind}")
    edits = {"ablate": ablate or [], "force": force or [], "scale": scale or []}
    ways = Ways(tree, posterior, occlusion)
    _look(run, text, target, view, search, rank, edits, ways, out=out, as_json=as_json)


@dataclass(frozen=True)
class Ways:
    """What else is asked for besides the attention itself."""

    tree: bool
    posterior: bool
    occlusion: bool


@dataclass(frozen=True)
class View:
    """Which part of all that attention is shown."""

    kind: "Kind"
    layer: int | None
    head: int | None
    mean: bool
    rollout: bool
    level: "Level"
    sinks: bool
    rescale: bool

    def rolled(self, maps: "dict[Kind, AttentionMap]") -> "dict[Kind, AttentionMap]":
        """All maps of a sentence, that of the kind asked for as its rollout if that is wanted."""
        if not self.rollout:
            return maps
        below = maps if self.kind == "cross" else {}
        return maps | {self.kind: maps[self.kind].rollout(below.get("encoder"), below.get("decoder"))}

    def place(self, whole: "AttentionMap", best: "Best | None") -> tuple[int | None, int | None]:
        """Which layer and head; None for all of them."""
        if self.rollout:
            return None, None
        if self.layer is not None or self.head is not None or self.mean:
            return self.layer, self.head
        from seq2see.look import best_head

        layer, head, _ = (best if self.kind == "cross" else None) or best_head([whole])
        return layer, head

    def of(self, whole: "AttentionMap", layer: int | None, head: int | None) -> "AttentionMap":
        shown = whole if layer is None else whole.layer(layer)
        shown = shown if head is None else shown.head(head)
        shown = shown.mean() if self.mean else shown
        shown = shown if self.sinks else shown.without_sinks()
        shown = shown.words() if self.level == "word" else shown
        return shown.rescale() if self.rescale else shown


def _look(
    run: Path,
    text: str,
    target: str | None,
    view: View,
    search: dict[str, Any],
    rank: int,
    edits: dict[str, list[str]],
    ways: Ways,
    *,
    out: Path | None,
    as_json: bool,
) -> None:
    check_run(run)
    import torch

    from seq2see.cli.translate import search_config
    from seq2see.look import Kind
    from seq2see.look.draw.page import check_replaceable
    from seq2see.session import load

    if out is not None and out.suffix.lower() == ".html":
        check_replaceable(out, "--out")
    torch.set_num_threads(1)
    translator = load(run)
    config = search_config(search)
    said = _said(translator, text, target, config, rank, record=ways.tree)
    if any(edits.values()):
        changed = _changed(translator, said, edits)
        other = _said(changed, text, target, config, rank, record=ways.tree)
        print(f"as it is  {said.text}  ({said.score:.3f})", file=sys.stderr)
        print(f"what if   {other.text}  ({other.score:.3f})", file=sys.stderr)
        translator, said = changed, other
    looks = {kind: translator.look_at(said, kind) for kind in get_args(Kind)}
    if ways.posterior:
        looks["cross"] = translator.posterior(said)
    maps = {kind: one for kind, one in looks.items() if one is not None}
    _show(translator, said, maps, view, tree=ways.tree, out=out, as_json=as_json)
    if ways.occlusion:
        _occlude(translator, said)


def _said(
    translator: "Translator", text: str, target: str | None, config: Any, rank: int, *, record: bool
) -> "Translation":
    """What is looked at: a forced translation, or the one that the search ranks so."""
    if target is not None:
        return translator.forced(text, target)
    found = translator.translate(text, search=config, record=record)
    if rank > len(found.nbest):
        raise ConfigError(f"--rank {rank}: the search found {len(found.nbest)} translations; widen --beam")
    from dataclasses import replace

    chosen = found.nbest[rank - 1] if found.nbest else found
    return replace(chosen, record=found.record, nbest=found.nbest)


def _changed(translator: "Translator", said: "Translation", edits: dict[str, list[str]]) -> "Translator":
    from seq2see.look.intervene.whatif import parse_edits

    cross = translator.look_at(said)
    if cross is None:
        raise ConfigError(f"{translator.family} has no attention to change")
    return translator.what_if(parse_edits(cross.source, **edits))


def _show(
    translator: "Translator",
    said: "Translation",
    maps: "dict[Kind, AttentionMap]",
    view: View,
    *,
    tree: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    from rich.console import Console

    from seq2see.look import load_best
    from seq2see.look.draw.page import Opening
    from seq2see.look.map.alignment import ALIGNMENT
    from seq2see.look.map.tree import beam_tree

    drawn = None
    if tree and said.record is not None:
        spell = translator.runs[0].tokenizers[1].pieces
        drawn = beam_tree(said.record, spell, [(one.token_ids, one.score) for one in said.nbest])
    if view.kind not in maps:
        what = f"it has {', '.join(maps)}" if maps else "it speaks from one vector, or from convolutions alone"
        raise ConfigError(f"{translator.family} has no {view.kind} attention to look at: {what}")
    maps = view.rolled(maps)
    layer, head = view.place(maps[view.kind], load_best(translator.runs[0].path / ALIGNMENT))
    shown = view.of(maps[view.kind], layer, head)
    if out is not None and out.suffix.lower() == ".html":
        opening = Opening(view.kind, view.level, layer, head, not view.sinks, view.rescale)
        _write_page(out, said, tuple(maps.values()), drawn, opening)
    elif out is not None:
        shown.save(out)
    if out is not None:
        say(f"{out} written")
        return
    if as_json:
        from seq2see.look.map.files import to_json

        typer.echo(to_json(shown).decode(), nl=False)
        return
    console = Console(highlight=False)
    console.print(f"{said.text}  ({said.score:.3f})", markup=False, soft_wrap=True)
    console.print(shown)
    if drawn is not None:
        console.print(drawn)


def _write_page(
    out: Path, said: "Translation", maps: "tuple[AttentionMap, ...]", tree: "BeamTree | None", opening: "Opening"
) -> None:
    from seq2see.look.draw.page import PageExample, page, write_page

    texts = (("translation", said.text), ("score", f"{said.score:.3f}"))
    example = PageExample(maps, texts=texts, tree=tree, opening=opening)
    write_page(out, page([example], title=said.source), "--out")


def _occlude(translator: "Translator", said: "Translation") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from seq2see.session.aligning import occlude

    found = occlude(translator, said.source, said.token_ids)
    table = Table(title="without the word, the translation is less likely by", title_justify="left", box=None)
    table.add_column("source word")
    table.add_column("nats", justify="right")
    table.add_column("most of all")
    for word, row, total in zip(found.words, found.loss, found.totals(), strict=True):
        piece = max(range(len(row)), key=row.__getitem__)
        table.add_row(Text(word), f"{total:.2f}", Text(f"{found.pieces[piece]} ({row[piece]:.2f})"))
    Console(highlight=False).print(table)
