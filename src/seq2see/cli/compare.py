"""`seq2see compare`: two runs or two files of outputs on the same test set."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli import evaluate as verb
from seq2see.cli.checking import check_files, check_pairs, check_run
from seq2see.cli.options import Encoding
from seq2see.cli.saying import say
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
    metric: verb.Metrics = None,
    edges: verb.Edges = None,
    length_of: verb.LengthOf = "source",
    tokenize: verb.Tokenizer = None,
    examples: Annotated[
        int, typer.Option(help="Sentences shown where one of them wins most, for each; 0: none.", min=0)
    ] = 3,
    beam: verb.Beam = None,
    length_penalty: verb.LengthPenalty = None,
    alpha: verb.Alpha = None,
    max_length: verb.MaxLength = None,
    workers: verb.Workers = None,
    limit: verb.Limit = None,
    source_language: verb.SourceLanguage = None,
    target_language: verb.TargetLanguage = None,
    encoding: Encoding = None,
    resamples: verb.Resamples = None,
    seed: verb.Seed = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the report; a file that seq2see did not write is not replaced.  [default: "
            "report.html; none with --json]",
            show_default=False,
        ),
    ] = None,
    as_json: verb.AsJson = False,
) -> None:
    """Compare two systems: scores, difference with interval, paired tests, quality by length, sentences they differ in.

    The p-values are of the paired bootstrap and of approximate randomisation, as in sacreBLEU; a system is called
    better when both are below 0.05. TER is left out unless named: on long sentences it takes minutes. report.html holds
    all of it with training curves and, for runs with attention, maps and beams of some sentences; it needs no network.

    \b
    seq2see compare runs/without runs/with test.tsv
    seq2see compare runs/rnn runs/rnnsearch builtin:phrases --edges 8,16,24
    seq2see compare theirs.en ours.en test.ko test.en --metric chrf,bleu,ter --json
    """
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
    with verb.EvaluationProgress() as voice:

        def outputs(system: str) -> list[str]:
            if system not in runs:
                return verb.read_outputs(system, test, encoding)
            search = verb.search_of(beam, length_penalty, alpha, max_length)
            advance = voice.counting(f"translated by {system}", len(test))
            return verb.translated([system], test.sources, search, workers, advance)

        found = compare_outputs(
            outputs(a),
            outputs(b),
            test,
            settings,
            systems=(a, b),
            counting=lambda what: voice.counting(what, len(test)),
        )
    found = replace(found, command=verb.command())
    if page is not None:
        write_report(page, found, runs)
    if as_json:
        verb.tell_json(found.as_dict(examples))
        return
    from seq2see.report.tables import show_comparison

    verb.tell(show_comparison(found, examples=examples))


def write_report(path: Path, found: "Comparison", runs: list[str]) -> None:
    """The comparison as one offline page, with how the runs were trained and what they looked at."""
    from seq2see.look.draw.page import write_page
    from seq2see.report.page import ResultsReport, environment, read_training
    from seq2see.report.page import report as drawn

    trainings = tuple(read_training(run, run) for run in runs if (Path(run) / "metrics.jsonl").exists())
    title = " and ".join((found.a, found.b))
    shown = tuple(example for run in runs for example in _looked_at(run, found))
    given = ResultsReport(
        title, comparison=found, trainings=trainings, examples=shown, environment=environment(found.command)
    )
    write_page(path, drawn(given), "--report")
    say(f"{path} written")


def _looked_at(run: str, found: "Comparison") -> "Iterator[PageExample]":
    """Sentences where the systems differ most, short enough to read, with the maps and the beam of this run."""
    from seq2see.look import load_best
    from seq2see.look.draw.page import PageExample
    from seq2see.look.map.alignment import ALIGNMENT
    from seq2see.look.map.tree import beam_tree
    from seq2see.session import load

    translator = load(run)
    best = load_best(Path(run) / ALIGNMENT)
    told = sorted(
        (one for one in found.sentences if 0 < len(one.source.split()) <= _READABLE),
        key=lambda one: -abs(one.gain),
    )
    for sentence in told[:_SHOWN]:
        said = translator.translate(sentence.source, record=True)
        if said.attention is None:
            return
        maps = [translator.look_at(said, kind) for kind in ("cross", "encoder", "decoder")]
        spell = translator.runs[0].tokenizers[1].pieces
        tree = beam_tree(said.record or (), spell, [(one.token_ids, one.score) for one in said.nbest])
        texts = (("reference", sentence.reference), (run, said.text))
        there = tuple(one for one in maps if one is not None)
        yield PageExample(there, title=f"{run}: {sentence.source}", texts=texts, tree=tree, best=best)
