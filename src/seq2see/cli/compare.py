"""`seq2see compare`: two runs or two files of outputs on the same test set."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli import evaluate as verb
from seq2see.cli.shell.checking import check_files, check_pairs, check_run
from seq2see.cli.shell.messages import say
from seq2see.cli.shell.options import (
    AsJson,
    Beam,
    BootstrapSeed,
    Edges,
    Encoding,
    LengthOf,
    Limit,
    Metrics,
    Resamples,
    Search,
    SourceLanguage,
    TargetLanguage,
    Tokenizer,
    Workers,
)
from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.evaluate import Comparison
    from seq2see.look.draw.page import PageExample

_SHOWN = 3  # sentences of each run with their maps
_READABLE = 20  # words of them at most


def compare(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B TEST",
            help="Two run folders or files of outputs (a line for each pair), then pairs as for `train`; of "
            "builtin:NAME the test split, which training never sees.",
            show_default=False,
        ),
    ] = None,
    metric: Metrics = None,
    edges: Edges = None,
    length_of: LengthOf = "source",
    tokenize: Tokenizer = None,
    examples: Annotated[
        int, typer.Option(help="Sentences shown where one of them wins most, for each; 0: none.", min=0)
    ] = 3,
    beam: Beam = 5,
    search: Search = None,
    workers: Workers = None,
    limit: Limit = None,
    source_language: SourceLanguage = None,
    target_language: TargetLanguage = None,
    encoding: Encoding = None,
    resamples: Resamples = None,
    seed: BootstrapSeed = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the report; a file that seq2see did not write is not replaced.  [default: "
            "report.html; none with --json]",
            show_default=False,
        ),
    ] = None,
    curves: Annotated[
        Path | None,
        typer.Option(
            help="Instead: how any number of runs learned, the first --metric of their validations against minutes, "
            "as a picture (.png .svg .pdf); no test set.  [default: none]",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two systems on the same test set.

    Scores, difference with interval, paired tests, quality by length, sentences they differ in. The p-values are of the
    paired bootstrap and of approximate randomisation, as in sacreBLEU; a system is called better when both are
    below 0.05. TER is left out unless named: on long sentences it takes minutes. report.html holds all of it with
    training curves and, for runs with attention, maps and beams of some sentences; it needs no network.

    \b
    seq2see compare runs/without runs/with test.tsv
    seq2see compare runs/rnn runs/rnnsearch builtin:phrases --edges 8,16,24
    seq2see compare theirs.en ours.en test.ko test.en --metric chrf,bleu,ter --json
    seq2see compare runs/without runs/with --curves curves.png
    """
    if curves is not None:
        _draw_curves(words or [], curves, (metric or ["loss"])[0].split(",")[0])
        return
    if len(words or []) < 3:
        raise ConfigError("compare needs two systems and a test set: seq2see compare runs/a runs/b test.tsv")
    a, b, *specs = words or []
    for system in (a, b):
        if Path(system).is_dir():
            check_run(system)
        elif system != "-":
            check_files(system)
    check_pairs(specs)
    from seq2see import atomic
    from seq2see.cli.shell.progress import CountProgress
    from seq2see.evaluate import compare_outputs
    from seq2see.evaluate.compare import METRICS
    from seq2see.look.draw.page import check_replaceable

    page = report if report is not None or as_json else Path("report.html")
    if page is not None:
        atomic.check_output(page, *map(Path, words or []))
        check_replaceable(page, "--report")
    settings = verb.read_settings(metric, tokenize, length_of, edges, resamples, seed, METRICS)
    runs = [system for system in (a, b) if Path(system).is_dir()]
    test = verb.read_test(runs, specs, source_language, target_language, limit, encoding)
    with CountProgress() as progress:

        def outputs(system: str) -> list[str]:
            if system not in runs:
                return verb.read_outputs(system, test, encoding)
            from seq2see.session.bulk import translate_texts

            advance = progress.counting(f"translated by {system}", len(test))
            return translate_texts(
                [Path(system)], test.sources, verb.search_of(beam, search), workers=workers, advance=advance
            )

        comparison = compare_outputs(
            outputs(a),
            outputs(b),
            test,
            settings,
            systems=(a, b),
            counting=lambda what: progress.counting(what, len(test)),
        )
    comparison = replace(comparison, command=verb.command())
    if page is not None:
        write_report(page, comparison, runs)
    if as_json:
        verb.print_json(comparison.as_dict(examples))
        return
    from seq2see.report.tables import show_comparison

    verb.print_table(show_comparison(comparison, examples=examples))


def _draw_curves(runs: list[str], path: Path, metric: str) -> None:
    """The learning curves of runs, finished or not, in one picture."""
    if not runs:
        raise ConfigError("--curves needs run folders: seq2see compare runs/a runs/b --curves curves.png")
    for run in runs:
        check_run(run)
    from seq2see import atomic
    from seq2see.look.draw.picture_format import picture_format
    from seq2see.report.page import read_training

    picture_format(path)
    atomic.check_output(path, *map(Path, runs))
    from seq2see.report.curves import save_curves

    save_curves([read_training(run, run) for run in runs], metric, path)
    say(f"{path} written")


def write_report(path: Path, comparison: "Comparison", runs: list[str]) -> None:
    """The comparison as one offline page, with how the runs were trained and what they looked at."""
    from seq2see.look.draw.page import write_page
    from seq2see.report.page import ResultsReport, environment, read_training
    from seq2see.report.page import report as drawn

    trainings = tuple(read_training(run, run) for run in runs if (Path(run) / "metrics.jsonl").exists())
    results = ResultsReport(
        " and ".join((comparison.a, comparison.b)),
        comparison=comparison,
        trainings=trainings,
        examples=tuple(example for run in runs for example in _examples(run, comparison)),
        environment=environment(comparison.command),
    )
    write_page(path, drawn(results), "--report")
    say(f"{path} written")


def _examples(run: str, comparison: "Comparison") -> "Iterator[PageExample]":
    """Sentences where the systems differ most, short enough to read, with the maps and the beam of this run."""
    from seq2see.look.draw.page import PageExample
    from seq2see.session import load

    translator = load(run, engine="torch")
    best = translator.alignment_head
    readable = (sentence for sentence in comparison.sentences if 0 < len(sentence.source.split()) <= _READABLE)
    for sentence in sorted(readable, key=lambda sentence: -abs(sentence.gain))[:_SHOWN]:
        translation = translator.translate(sentence.source, record=True)
        if translation.attention is None:
            return
        yield PageExample(
            tuple(translation.maps.values()),
            title=f"{run}: {sentence.source}",
            texts=(("reference", sentence.reference), (run, translation.text)),
            tree=translation.tree,
            best=best,
        )
