"""`seq2see look`: what the model looked at, word by word."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli.shell.checking import check_translator
from seq2see.cli.shell.messages import say
from seq2see.cli.shell.options import Ablate, Beam, Force, Posterior, RunFolder, Sample, Scale, Search
from seq2see.cli.shell.search import read_search
from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.look import AttentionMap, Best, Kind, Level
    from seq2see.look.draw.page import Opening
    from seq2see.search import SearchConfig
    from seq2see.session import Translation, Translator

_KINDS: "dict[str, Kind]" = {"cross": "cross", "encoder": "encoder", "decoder": "decoder"}
_LEVELS: "dict[str, Level]" = {"word": "word", "piece": "piece"}


def look(
    run: RunFolder,
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
    beam: Beam = 5,
    rank: Annotated[int, typer.Option(help="The map of the second, third, ... best translation.", min=1)] = 1,
    sample: Sample = False,
    search: Search = None,
    summary: Annotated[
        bool,
        typer.Option("--summary", help="Every layer and head in numbers: entropy, order, share on </s>, coverage."),
    ] = False,
    tree: Annotated[bool, typer.Option("--tree", help="What the beam considered, kept and dropped.")] = False,
    posterior: Posterior = False,
    occlusion: Annotated[
        bool, typer.Option("--occlusion", help="A second opinion: drop each source word and see what becomes unlikely.")
    ] = False,
    ablate: Ablate = None,
    force: Force = None,
    scale: Scale = None,
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
    """Show what the model looked at while it translated.

    In the terminal, or in a file: a page, a picture, numbers.

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
        raise ConfigError("--rank is of a beam; --sample draws one translation, another --search seed=N another one")
    if rescale and sinks:
        raise ConfigError("--rescale makes up for what is hidden, and --sinks hides nothing; leave one of them out")
    view = View(_KINDS[kind], layer, head, mean, rollout, _LEVELS[level], sinks, rescale)
    if posterior and kind != "cross":
        raise ConfigError(f"--posterior asks what the source words explain; it has no meaning with --kind {kind}")
    check_translator(run)
    settings = {"sample": sample} | (
        {} if sample else {"beam": max(beam, rank), "nbest": rank, "length_penalty": "gnmt"}
    )
    config = read_search(search, settings, {"beam": "--beam", "nbest": "--rank", "sample": "--sample"})
    import torch

    from seq2see.look.draw.page import check_replaceable
    from seq2see.session import load

    if out is not None and out.suffix.lower() == ".html":
        check_replaceable(out, "--out")
    torch.set_num_threads(1)
    translator = load(run, engine="torch")
    shown = _translation(translator, text, target, config, rank, record=tree)
    edits = {"ablate": ablate or [], "force": force or [], "scale": scale or []}
    if any(edits.values()):
        changed = _changed(translator, shown, edits)
        other = _translation(changed, text, target, config, rank, record=tree)
        print(f"as it is  {shown.text}  ({shown.score:.3f})", file=sys.stderr)
        print(f"what if   {other.text}  ({other.score:.3f})", file=sys.stderr)
        translator, shown = changed, other
    maps = dict(shown.maps)
    if posterior and (weighed := translator.posterior(shown)) is not None:
        maps["cross"] = weighed
    _show(translator, shown, maps, view, out=out, as_json=as_json)
    if summary and out is None and not as_json:
        _summarise(view.whole(maps[view.kind]))
    if occlusion:
        _occlude(translator, shown)


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

    def whole(self, attention: "AttentionMap") -> "AttentionMap":
        """Every layer and head, at the level that is shown; nothing hidden."""
        return attention.words() if self.level == "word" else attention

    def of(self, whole: "AttentionMap", layer: int | None, head: int | None) -> "AttentionMap":
        shown = whole if layer is None else whole.layer(layer)
        shown = shown if head is None else shown.head(head)
        shown = shown.mean() if self.mean else shown
        shown = shown if self.sinks else shown.without_sinks()
        shown = shown.words() if self.level == "word" else shown
        return shown.rescale() if self.rescale else shown


def _translation(
    translator: "Translator", text: str, target: str | None, config: "SearchConfig", rank: int, *, record: bool
) -> "Translation":
    """What is looked at: a forced translation, or the one that the search ranks so."""
    if target is not None:
        return translator.forced(text, target)
    best = translator.translate(text, search=config, record=record)
    if rank > len(best.nbest):
        raise ConfigError(f"--rank {rank}: the search found {len(best.nbest)} translations; widen --beam")
    from dataclasses import replace

    chosen = best.nbest[rank - 1] if best.nbest else best
    return replace(chosen, record=best.record, nbest=best.nbest)


def _changed(translator: "Translator", shown: "Translation", edits: dict[str, list[str]]) -> "Translator":
    from seq2see.look.intervene.whatif import parse_edits

    if shown.attention is None:
        raise ConfigError(f"{translator.family} has no attention to change")
    return translator.what_if(parse_edits(shown.attention.source, **edits))


def _show(
    translator: "Translator",
    translation: "Translation",
    maps: "dict[Kind, AttentionMap]",
    view: View,
    *,
    out: Path | None,
    as_json: bool,
) -> None:
    from rich.console import Console

    from seq2see.look.draw.page import Opening

    if view.kind not in maps:
        what = f"it has {', '.join(maps)}" if maps else "it speaks from one vector, or from convolutions alone"
        raise ConfigError(f"{translator.family} has no {view.kind} attention to look at: {what}")
    maps = view.rolled(maps)
    layer, head = view.place(maps[view.kind], translator.alignment_head)
    shown = view.of(maps[view.kind], layer, head)
    if out is not None and out.suffix.lower() == ".html":
        opening = Opening(view.kind, view.level, layer, head, not view.sinks, view.rescale)
        _write_page(out, translation, tuple(maps.values()), opening)
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
    console.print(f"{translation.text}  ({translation.score:.3f})", markup=False, soft_wrap=True)
    console.print(shown)
    if shown.weights.shape[:2] == (1, 1):
        console.print(_in_words(shown), markup=False, soft_wrap=True)
    if translation.tree is not None:
        console.print(translation.tree)


def _in_words(shown: "AttentionMap") -> str:
    """`entropy 0.61 of at most 1.95 nats, order 0.87, 3 % on special tokens, 81 % of the text looked at`."""
    from math import log

    (line,) = shown.summary()
    most = log(max(1, len(shown.source)))
    return (
        f"entropy {line.entropy:.2f} of at most {most:.2f} nats, order {line.monotonicity:+.2f}, "
        f"{100 * line.sink_share:.0f} % on special tokens, {100 * line.coverage:.0f} % of the text looked at"
    )


def _summarise(whole: "AttentionMap") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="every head in numbers", title_justify="left", box=None)
    for column in ("layer", "head", "entropy", "order", "on special", "coverage"):
        table.add_column(column, justify="right")
    for line in whole.summary():
        shares = (f"{100 * share:.0f} %" for share in (line.sink_share, line.coverage))
        table.add_row(line.layer, line.head, f"{line.entropy:.2f}", f"{line.monotonicity:+.2f}", *shares)
    Console(highlight=False).print(table)


def _write_page(out: Path, translation: "Translation", maps: "tuple[AttentionMap, ...]", opening: "Opening") -> None:
    from seq2see.look.draw.page import PageExample, page, write_page

    texts = (("translation", translation.text), ("score", f"{translation.score:.3f}"))
    example = PageExample(maps, texts=texts, tree=translation.tree, opening=opening)
    write_page(out, page([example], title=translation.source), "--out")


def _occlude(translator: "Translator", translation: "Translation") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from seq2see.session.aligning import occlude

    losses = occlude(translator, translation.source, translation.token_ids)
    table = Table(title="without the word, the translation is less likely by", title_justify="left", box=None)
    table.add_column("source word")
    table.add_column("nats", justify="right")
    table.add_column("most of all")
    for word, row, total in zip(losses.words, losses.loss, losses.totals(), strict=True):
        piece = max(range(len(row)), key=row.__getitem__)
        table.add_row(Text(word), f"{total:.2f}", Text(f"{losses.pieces[piece]} ({row[piece]:.2f})"))
    Console(highlight=False).print(table)
