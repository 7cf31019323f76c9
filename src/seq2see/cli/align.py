"""`seq2see align`: which word belongs to which, in pairs that exist; and how right that is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seq2see.cli.shell.checking import check_files, check_pairs, check_translator
from seq2see.cli.shell.messages import say
from seq2see.cli.shell.options import Encoding, Limit, Posterior, RunFolder
from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.data.sources import Split
    from seq2see.evaluate.alignment import AlignmentCounts, Gold
    from seq2see.look import AttentionMap
    from seq2see.session import Translator


def align(
    run: RunFolder,
    pairs: Annotated[
        list[str],
        typer.Argument(
            help="Pairs as for `train`, or a .src-tgt or .bitext file of lines `나는 학생입니다 ||| I am a student`.",
            show_default=False,
        ),
    ],
    gold: Annotated[
        Path | None,
        typer.Option(
            help="What people drew, a line for each pair: `0-0 1-2 2?3`, source word-target word from 0; with ? it is "
            "possible, not sure.",
            show_default=False,
        ),
    ] = None,
    annotated: Annotated[
        Path | None,
        typer.Option(
            help="Which words they looked at, a line for each pair: `en=0,1 ko=0,2`, source first; others are not "
            "judged.",
            show_default=False,
        ),
    ] = None,
    flip: Annotated[
        bool, typer.Option("--flip", help="The pairs and the gold are the other way round than the run.")
    ] = False,
    method: Annotated[str, typer.Option(help="argmax, threshold, balanced or symmetric.")] = "argmax",
    threshold: Annotated[float, typer.Option(help="Of --method threshold and balanced: share of a row.")] = 0.25,
    reverse: Annotated[
        Path | None,
        typer.Option(
            help="A run of the other direction: for --method symmetric and balanced, and for choosing a head.",
            show_default=False,
        ),
    ] = None,
    posterior: Posterior = False,
    layer: Annotated[int | None, typer.Option(help="Of the head to read, from 0.", show_default=False)] = None,
    head: Annotated[
        int | None, typer.Option(help="The head to read.  [default: the best one]", show_default=False)
    ] = None,
    heads: Annotated[bool, typer.Option("--heads", help="A table of every head's error; needs gold.")] = False,
    limit: Limit = None,
    encoding: Encoding = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Where to write the alignments.  [default: standard output]", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The figures as JSON on stdout; needs gold.")] = False,
) -> None:
    """Align the words of existing pairs by attention.

    A Pharaoh line `0-0 1-2` for each pair. With gold: alignment error rate, precision and recall, beside a diagonal
    that reads nothing. Of a built-in corpus with known alignment (builtin:phrases) the gold comes with it: the test
    split is aligned, which training never sees, and the head is chosen by validation pairs.

    \b
    seq2see align runs/ko-en pairs.tsv --out pairs.align
    seq2see align runs/ko-en pairs.tsv --method balanced --posterior
    seq2see align runs/ko-en pairs.tsv --method symmetric --reverse runs/en-ko
    seq2see align runs/ko-en builtin:phrases --heads --limit 500
    seq2see align runs/en-ko dev.src-tgt --gold dev.gold --annotated dev.annotated
    """
    check_translator(run, *([] if reverse is None else [reverse]))
    check_files(*(file for file in (gold, annotated) if file is not None))
    if not _is_bitext(pairs):
        check_pairs(pairs)
    import torch

    from seq2see import atomic
    from seq2see.cli.shell.progress import CountProgress
    from seq2see.look import head_errors
    from seq2see.look.map.alignment import METHODS
    from seq2see.session import load
    from seq2see.session.aligning import look_all

    if method not in METHODS:
        raise ConfigError(f"--method {method}: expected one of {', '.join(METHODS)}")
    if (layer is None) != (head is None):
        raise ConfigError("--layer and --head belong together")
    if out is not None:
        atomic.check_output(out, run, reverse, gold, annotated, *map(Path, pairs))
    torch.set_num_threads(1)
    translator = load(run, engine="torch")
    back = None if reverse is None else load(reverse, engine="torch")
    texts, judged = _read(pairs, gold, annotated, limit, flip=flip, encoding=encoding)
    if (heads or as_json) and judged is None:
        raise ConfigError("--heads and --json need gold alignments: --gold FILE, or builtin:phrases")
    best = _head(translator, _choosing(pairs, flip=flip) or (texts, judged), back, layer, head)
    lines, alignments, maps = [], [], []
    returning = None
    if back is not None and method in ("symmetric", "balanced"):
        returning = iter(look_all(back, [(b, a) for a, b in texts], posterior=posterior))
    with CountProgress() as progress:
        advance = progress.counting("aligned", len(texts))
        for whole in look_all(translator, texts, posterior=posterior):
            chosen = whole.layer(best.layer).head(best.head)
            alignment = chosen.alignment(method, threshold=threshold, reverse=_back(returning, back))
            alignments.append(frozenset(alignment.pairs))
            lines.append(str(alignment))
            if heads:
                maps.append(whole)
            advance(1)
    _write(lines, out, quiet=as_json or heads)
    if judged is not None:
        errors = head_errors(maps, judged) if heads else None
        _report(texts, judged, alignments, best, errors, as_json=as_json)


def _read(
    pairs: list[str],
    gold: Path | None,
    annotated: Path | None,
    limit: int | None,
    *,
    flip: bool,
    split: "Split" = "test",
    encoding: str | None = None,
) -> "tuple[list[tuple[str, str]], list[Gold] | None]":
    from itertools import islice

    from seq2see.data.sources import parse_sources
    from seq2see.errors import DataError
    from seq2see.evaluate.alignment import Gold, read_bitext, read_gold
    from seq2see.evaluate.testset import MOST_PAIRS
    from seq2see.formats.reading.encodings import check_encoding
    from seq2see.formats.reading.lines import at_most
    from seq2see.text import normalise

    judged: list[Gold] | None = None
    if _is_bitext(pairs):
        lines = read_bitext(pairs[0], check_encoding(encoding))
        texts = [(normalise(a), normalise(b)) for a, b in islice(lines, limit)]
    else:
        sources = parse_sources(pairs, split=split, encoding=encoding)
        each = islice((sample for source in sources for sample in source.samples()), limit)
        samples = list(at_most(MOST_PAIRS, each, "pairs, too many at once", Path(pairs[0])))
        texts = [(sample.pair.source, sample.pair.target) for sample in samples]
        if samples and all(sample.links is not None for sample in samples):
            judged = [Gold(frozenset(sample.links or ())) for sample in samples]
    if gold is not None:
        judged = read_gold(gold, annotated)[: limit or None]
        if len(judged) != len(texts):
            raise DataError(f"has {len(judged)} lines for {len(texts)} pairs; one line for each is needed", path=gold)
    elif annotated is not None:
        raise ConfigError("--annotated goes with --gold")
    if not texts:
        raise DataError("no pairs to align", path=pairs[0])
    if flip:
        texts = [(b, a) for a, b in texts]
        judged = None if judged is None else [links.flipped() for links in judged]
    return texts, judged


def _is_bitext(pairs: list[str]) -> bool:
    """One file of `source ||| target` lines."""
    return len(pairs) == 1 and pairs[0].endswith((".src-tgt", ".bitext"))


def _choosing(pairs: list[str], *, flip: bool) -> "tuple[list[tuple[str, str]], list[Gold] | None] | None":
    """Of built-in corpora, pairs of another split: the head is not chosen by the very sentences it is judged on."""
    from seq2see.data.sources import BUILTIN
    from seq2see.session.aligning import CHOOSING

    if not all(name.startswith(BUILTIN) for name in pairs):
        return None
    return _read(pairs, None, None, CHOOSING, flip=flip, split="validation")


def _head(
    translator: "Translator",
    choosing: "tuple[list[tuple[str, str]], list[Gold] | None]",
    back: "Translator | None",
    layer: int | None,
    head: int | None,
) -> Any:
    from seq2see.look import Best
    from seq2see.session.aligning import choose_head

    if layer is not None and head is not None:
        return Best(layer, head, 0.0)
    chosen = choose_head(translator, *choosing, reverse=back)
    say(f"reading layer {chosen.best.layer}, head {chosen.best.head}: {chosen.how}")
    return chosen.best


def _back(maps: Any, back: "Translator | None") -> "AttentionMap | None":
    """The map of the same pair from the other direction, by its own best head."""
    if maps is None or back is None:
        return None
    whole: AttentionMap = next(maps)
    return whole.best(back.alignment_head)


def _write(lines: list[str], out: Path | None, *, quiet: bool) -> None:
    from seq2see import atomic

    if out is not None:
        atomic.write_file(out, "".join(f"{line}\n" for line in lines).encode())
    elif not quiet:
        for line in lines:
            typer.echo(line)


def _report(
    texts: "list[tuple[str, str]]",
    judged: "list[Gold]",
    alignments: list[Any],
    best: Any,
    errors: Any,
    *,
    as_json: bool,
) -> None:
    """errors (L, H): of each head, if they were asked for."""
    from seq2see.evaluate.alignment import diagonal, score_alignments

    ours = score_alignments(alignments, judged)
    plain = score_alignments([diagonal(len(a.split()), len(b.split())) for a, b in texts], judged)
    if as_json:
        figures = {"pairs": len(texts), "layer": best.layer, "head": best.head, **_figures(ours)}
        figures |= {"diagonal": _figures(plain)} | ({} if errors is None else {"heads": errors.tolist()})
        typer.echo(json.dumps(figures))
        return
    # Alignments on stdout are for programs; what a person reads goes where progress goes, unless asked for alone.
    for name, counts in (("attention", ours), ("diagonal", plain)):
        row = "  ".join(f"{key} {value:.3f}" for key, value in _figures(counts).items())
        typer.echo(f"{name:<10} {row}", err=errors is None)
    if errors is not None:
        typer.echo("error of each head (rows: layers, columns: heads)")
        for number, row in enumerate(errors):
            typer.echo(f"  layer {number}  " + "  ".join(f"{value:.3f}" for value in row))


def _figures(counts: "AlignmentCounts") -> dict[str, float]:
    return {"aer": counts.aer, "precision": counts.precision, "recall": counts.recall}
