"""`seq2see compare`: two runs or two files of outputs on the same test set."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli import evaluate as verb
from seq2see.errors import ConfigError

if TYPE_CHECKING:
    from seq2see.evaluate import Comparison
    from seq2see.look.page import Example

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
    resamples: verb.Resamples = None,
    seed: verb.Seed = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Where to write the report.  [default: report.html; none with --json]", show_default=False),
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
    from seq2see.evaluate import compare_outputs
    from seq2see.evaluate.compare import METRICS

    if len(words or []) < 3:
        raise ConfigError("compare needs two systems and a test set: seq2see compare runs/a runs/b test.tsv")
    a, b, *specs = words or []
    settings = verb.read_settings(metric, tokenize, length_of, edges, resamples, seed, METRICS)
    runs = [system for system in (a, b) if Path(system).is_dir()]
    test = verb.read_test(runs, specs, source_language, target_language, limit)
    with verb.Voice() as voice:

        def outputs(system: str) -> list[str]:
            if system not in runs:
                return verb.read_outputs(system, test)
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
    if report is not None or not as_json:
        write_report(report or Path("report.html"), found, runs)
    if as_json:
        verb.tell_json(found.as_dict(examples))
        return
    from seq2see.evaluate.tables import show_comparison

    verb.tell(show_comparison(found, examples=examples))


def write_report(path: Path, found: "Comparison", runs: list[str]) -> None:
    """The comparison as one offline page, with how the runs were trained and what they looked at."""
    from seq2see import durable
    from seq2see.look.report import Report, environment, read_training
    from seq2see.look.report import report as drawn

    trainings = tuple(read_training(run, run) for run in runs if (Path(run) / "metrics.jsonl").exists())
    title = " and ".join((found.a, found.b))
    shown = tuple(example for run in runs for example in _looked_at(run, found))
    given = Report(title, comparison=found, trainings=trainings, examples=shown, environment=environment(found.command))
    durable.write_file(path, drawn(given).encode())
    print(f"seq2see: {path} written", file=sys.stderr)


def _looked_at(run: str, found: "Comparison") -> "Iterator[Example]":
    """Sentences where the systems differ most, short enough to read, with the maps and the beam of this run."""
    from seq2see.look import load_best
    from seq2see.look.page import Example
    from seq2see.look.tree import beam_tree
    from seq2see.session import load
    from seq2see.session.aligning import ALIGNMENT

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
        yield Example(there, title=f"{run}: {sentence.source}", texts=texts, tree=tree, best=best)
