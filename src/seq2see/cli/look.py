"""`seq2see look`: what the model looked at, word by word."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.look import AttentionMap, Kind
    from seq2see.session import Translation, Translator

_KINDS = ("cross", "encoder", "decoder")


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
        typer.Option("--out", "-o", help="Write .html .svg .png .pdf .json .tsv .npz or .txt.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The map as JSON on stdout.")] = False,
) -> None:
    """Show what the model looked at while it translated: in the terminal, or in a file.

    \b
    seq2see look runs/ko-en "나는 학생입니다"
    seq2see look runs/ko-en "나는 학생입니다" --out map.html
    seq2see look runs/ko-en "나는 학생입니다" --target "I am a teacher" --occlusion
    seq2see look runs/ko-en "나는 학생입니다" --ablate cross:0.1
    """
    for option, value, allowed in (("--kind", kind, _KINDS), ("--level", level, ("word", "piece"))):
        if value not in allowed:
            raise ConfigError(f"{option} {value}: expected one of {', '.join(allowed)}")
    if sample and rank > 1:
        raise ConfigError("--rank is of a beam; --sample draws one translation, another --seed another one")
    view = View(kind, layer, head, mean, rollout, level, sinks)
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

    kind: str
    layer: int | None
    head: int | None
    mean: bool
    rollout: bool
    level: str
    sinks: bool

    def of(self, whole: "AttentionMap", best: Any, others: "dict[str, AttentionMap | None]") -> "AttentionMap":
        found = self._chosen(whole, best, others)
        found = found if self.sinks else found.without_sinks()
        return found.words() if self.level == "word" else found

    def _chosen(self, whole: "AttentionMap", best: Any, others: "dict[str, AttentionMap | None]") -> "AttentionMap":
        if self.rollout:
            below = {kind: one for kind, one in others.items() if whole.kind == "cross"}
            return whole.rollout(below.get("encoder"), below.get("decoder"))
        if self.layer is None and self.head is None and not self.mean:
            return whole.best(best if whole.kind == "cross" else None)
        found = whole if self.layer is None else whole.layer(self.layer)
        found = found if self.head is None else found.head(self.head)
        return found.mean() if self.mean else found


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
    import torch

    from seq2see.cli.translate import search_config
    from seq2see.session import load

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
    maps = {kind: translator.look_at(said, kind) for kind in _kinds()}
    if ways.posterior:
        maps["cross"] = translator.posterior(said)
    _show(translator, said, maps, view, tree=ways.tree, out=out, as_json=as_json)
    if ways.occlusion:
        _occlude(translator, said)


def _kinds() -> "tuple[Kind, ...]":
    return ("cross", "encoder", "decoder")


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
    from seq2see.look.whatif import parse_edits

    cross = translator.look_at(said)
    if cross is None:
        raise ConfigError(f"{translator.family} has no attention to change")
    return translator.what_if(parse_edits(cross.source, **edits))


def _show(
    translator: "Translator",
    said: "Translation",
    maps: "dict[Kind, AttentionMap | None]",
    view: View,
    *,
    tree: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    from rich.console import Console

    from seq2see.look import load_best
    from seq2see.look.tree import beam_tree
    from seq2see.session.aligning import ALIGNMENT

    drawn = None
    if tree and said.record is not None:
        spell = translator.runs[0].tokenizers[1].pieces
        drawn = beam_tree(said.record, spell, [(one.token_ids, one.score) for one in said.nbest])
    there = {str(kind): one for kind, one in maps.items()}
    whole = there.get(view.kind)
    if whole is None:
        has = [kind for kind, one in there.items() if one is not None]
        what = f"it has {', '.join(has)}" if has else "it speaks from one vector, or from convolutions alone"
        raise ConfigError(f"{translator.family} has no {view.kind} attention to look at: {what}")
    best = load_best(translator.runs[0].path / ALIGNMENT)
    shown = view.of(whole, best, there)
    if out is not None and out.suffix.lower() == ".html":
        _write_page(out, said, [one for one in maps.values() if one is not None], drawn, best)
    elif out is not None:
        shown.save(out)
    if out is not None:
        print(f"seq2see: {out} written", file=sys.stderr)
        return
    if as_json:
        from seq2see.look.files import to_json

        typer.echo(to_json(shown).decode(), nl=False)
        return
    console = Console(highlight=False)
    console.print(f"{said.text}  ({said.score:.3f})", markup=False, soft_wrap=True)
    console.print(shown)
    if drawn is not None:
        console.print(drawn)


def _write_page(out: Path, said: "Translation", maps: "list[AttentionMap]", tree: Any, best: Any) -> None:
    from seq2see import durable
    from seq2see.look.page import Example, page

    texts = (("translation", said.text), ("score", f"{said.score:.3f}"))
    example = Example(tuple(maps), texts=texts, tree=tree, best=best)
    durable.write_file(out, page([example], title=said.source).encode())


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
