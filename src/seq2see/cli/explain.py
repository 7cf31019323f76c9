"""`seq2see explain`: one step of a translation with all its numbers."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli.shell.checking import check_translator
from seq2see.cli.shell.options import Ablate, Force, Scale
from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.look.explain.walkthrough import WalkKind, Walkthrough
    from seq2see.session import Translation, Translator


def explain(
    run: Annotated[Path | None, typer.Argument(help="The run folder; none for --lesson.", show_default=False)] = None,
    text: Annotated[str | None, typer.Argument(help="The source sentence.", show_default=False)] = None,
    step: Annotated[int, typer.Option(help="The target piece that is explained, from 1; the last one says </s>.")] = 1,
    target: Annotated[
        str | None,
        typer.Option(help="Explain how it would say this.  [default: what it says by itself]", show_default=False),
    ] = None,
    kind: Annotated[
        str,
        typer.Option(help="cross; decoder for masked self-attention; encoder for how the source piece --step is read."),
    ] = "cross",
    layer: Annotated[
        int | None, typer.Option(help="From 0.  [default: the last one of this kind]", show_default=False)
    ] = None,
    head: Annotated[int | None, typer.Option(help="From 0.  [default: 0]", show_default=False)] = None,
    ablate: Ablate = None,
    force: Force = None,
    scale: Scale = None,
    as_json: Annotated[bool, typer.Option("--json", help="Every number, as JSON.")] = False,
    as_numpy: Annotated[
        bool, typer.Option("--numpy", help="A Python script that recomputes the step: paste it and try.")
    ] = False,
    lesson: Annotated[
        bool, typer.Option("--lesson", help="The lesson on attention instead: `seq2see learn qkv`.")
    ] = False,
    language: Annotated[
        str | None, typer.Option(help="Of --lesson: en or ko.  [default: en]", show_default=False)
    ] = None,
    step_by_step: Annotated[
        bool, typer.Option("--step-by-step", help="Of --lesson: wait for Enter after each part.")
    ] = False,
) -> None:
    """Explain one step of a translation in real numbers.

    Gates, query, keys, scores, mask, softmax, weighted sum, read-out, norms, feed-forward: everything from the
    word that enters to the probabilities.

    \b
    seq2see explain runs/ko-en "나는 학생입니다" --step 3
    seq2see explain runs/ko-en "나는 학생입니다" --target "I am a teacher" --step 4 --json
    seq2see explain runs/ko-en "나는 학생입니다" --step 2 --kind encoder
    seq2see explain runs/ko-en "나는 학생입니다" --step 3 --numpy > step3.py
    seq2see explain --lesson --language ko
    """
    if lesson:
        if run is not None or as_json or as_numpy:
            raise ConfigError("--lesson has a sentence and numbers of its own: give it no run, --json or --numpy")
        _teach(language or "en", wait=step_by_step)
        return
    if language is not None or step_by_step:
        raise ConfigError("--language and --step-by-step belong to --lesson")
    if run is None or text is None:
        raise ConfigError('name a run and a text: seq2see explain RUN "text"; or ask for the --lesson')
    if as_json and as_numpy:
        raise ConfigError("--json or --numpy, one of them")
    edits = Edits(tuple(ablate or ()), tuple(force or ()), tuple(scale or ()))
    walk, translation = _walk(run, text, target, step, kind, layer, head, edits)
    _show(walk, translation, as_json=as_json, as_numpy=as_numpy)


@dataclass(frozen=True)
class Edits:
    """What-if, as the command line writes it."""

    ablate: tuple[str, ...] = ()
    force: tuple[str, ...] = ()
    scale: tuple[str, ...] = ()


def _walk(
    run: Path,
    text: str,
    target: str | None,
    step: int,
    kind: str,
    layer: int | None,
    head: int | None,
    edits: Edits,
) -> "tuple[Walkthrough, Translation]":
    check_translator(run)
    import torch

    from seq2see.session import load

    chosen = _kind(kind)
    torch.set_num_threads(1)
    translator = _changed(load(run, engine="torch"), text, edits)
    translation = _translation(translator, text, target)
    return translator.explain(translation, step, kind=chosen, layer=layer, head=head), translation


def _kind(kind: str) -> "WalkKind":
    match kind:
        case "cross" | "decoder" | "encoder":
            return kind
    raise ConfigError(f"--kind {kind}: expected one of cross, decoder, encoder")


def _translation(translator: "Translator", text: str, target: str | None) -> "Translation":
    if not translator.clean(text).strip():
        raise ConfigError("the text is empty: there is nothing to explain")
    if target is not None:
        return translator.forced(text, target)
    translation = translator.translate(text)
    if translation.parts:
        raise ConfigError("the text is too long to be translated at once; explain one sentence of it")
    return translation


def _changed(translator: "Translator", text: str, edits: Edits) -> "Translator":
    if edits == Edits():
        return translator
    from seq2see.look.intervene.whatif import parse_edits
    from seq2see.look.map.side import side_of

    source = side_of(translator.read_source(translator.clean(text).strip()))
    return translator.what_if(parse_edits(source, ablate=edits.ablate, force=edits.force, scale=edits.scale))


def _show(walk: "Walkthrough", translation: "Translation", *, as_json: bool, as_numpy: bool) -> None:
    if as_json:
        document = {"source_text": translation.source, "target_text": translation.text, **walk.as_dict()}
        typer.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))
    elif as_numpy:
        typer.echo(walk.as_numpy(), nl=False)
    else:
        from rich.console import Console

        console = Console(highlight=False, emoji=False)
        console.print(f"{translation.source}\n{translation.text}\n", markup=False, soft_wrap=True)
        console.print(walk)


def _teach(language: str, *, wait: bool) -> None:
    """The lesson is called `seq2see learn qkv` now."""
    from seq2see.cli.learn import teach
    from seq2see.learn.wording import check_language

    teach("qkv", check_language(language), wait=wait)
