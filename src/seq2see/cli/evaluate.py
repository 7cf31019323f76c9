"""`seq2see evaluate`: how good a run is on a test set, or outputs that are there already."""

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seq2see.cli.shell.checking import check_pairs, check_run
from seq2see.cli.shell.messages import say
from seq2see.cli.shell.options import (
    AsJson,
    Beam,
    BootstrapSeed,
    Edges,
    Encoding,
    Ensemble,
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
from seq2see.cli.shell.search import read_search
from seq2see.errors import ConfigError, RunError, Seq2SeeError

if TYPE_CHECKING:
    from seq2see.evaluate import Evaluation, EvaluationSettings, References
    from seq2see.search import SearchConfig


def evaluate(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN TEST",
            help="A run folder (none with --hypotheses), then pairs as for `train`; of builtin:NAME the test split, "
            "which training never sees.",
            show_default=False,
        ),
    ] = None,
    hypotheses: Annotated[
        str | None,
        typer.Option(
            help="Score this file instead of a run: a translation on each line, in the order of the pairs, such as "
            "output.en; - is standard input.",
            show_default=False,
        ),
    ] = None,
    metric: Metrics = None,
    by_length: Annotated[
        bool, typer.Option("--by-length", help="Also a chart and a table of quality by length.")
    ] = False,
    edges: Edges = None,
    length_of: LengthOf = "source",
    tokenize: Tokenizer = None,
    also: Ensemble = None,
    beam: Beam = 5,
    search: Search = None,
    workers: Workers = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Keep the outputs here, a line each; of a voice: a folder.", show_default=False
        ),
    ] = None,
    limit: Limit = None,
    source_language: SourceLanguage = None,
    target_language: TargetLanguage = None,
    encoding: Encoding = None,
    resamples: Resamples = None,
    seed: BootstrapSeed = None,
    as_json: AsJson = False,
) -> None:
    """Score a run, or outputs, on pairs it has not seen.

    BLEU, chrF and TER by sacreBLEU with signatures, exact match, error rates. Every score has a 95 % interval
    (bootstrap). Japanese, Chinese and Thai references are cut into characters for BLEU; Korean ones into words at
    spaces, unless --tokenize says char or ko-mecab. A voice says the held-out texts of its corpus in the style of
    other recordings: words understood, pitch, duration, attention, each beside its teacher.

    \b
    seq2see evaluate runs/ko-en test.tsv
    seq2see evaluate runs/ko-en test.ko test.en --by-length --edges 10,20,30
    seq2see evaluate runs/phrases builtin:phrases --metric chrf,ter --json
    seq2see evaluate --hypotheses output.en test.ko test.en
    seq2see evaluate runs/voice --output spoken/
    """
    if words and hypotheses is None:
        for run in (words[0], *(also or ())):
            check_system(run)
            check_run(run)
    from seq2see import atomic
    from seq2see.cli.evaluate_voice import evaluate_voice, is_voice
    from seq2see.cli.shell.progress import CountProgress

    if words and hypotheses is None and is_voice(words[0]):
        with CountProgress() as progress:
            results = evaluate_voice(Path(words[0]), words[1:], limit, output, as_json, progress.counting, encoding)
        print(results)
        return
    runs, specs = _sides(words or [], also or [], hypotheses)
    check_pairs(specs)
    from seq2see.evaluate import evaluate_outputs

    if output is not None:
        atomic.check_output(output, *map(Path, [*runs, *specs, *([hypotheses] if hypotheses else [])]))
    settings = read_settings(metric, tokenize, length_of, edges, resamples, seed)
    test = read_test(runs, specs, source_language, target_language, limit, encoding)
    with CountProgress() as progress:
        if hypotheses is not None:
            outputs = read_outputs(hypotheses, test, encoding)
        else:
            from seq2see.session.bulk import translate_texts

            config = search_of(beam, search)
            outputs = translate_texts(
                [Path(run) for run in runs],
                test.sources,
                config,
                workers=workers,
                advance=progress.counting("translated", len(test)),
            )
        if output is not None:
            write_outputs(output, outputs)
        name = hypotheses if hypotheses is not None else " + ".join(runs)
        evaluation = evaluate_outputs(
            outputs, test, settings, system=name, counting=lambda what: progress.counting(what, len(test))
        )
    evaluation = replace(evaluation, command=command())
    if len(runs) == 1 and limit is None:
        _keep(Path(runs[0]), evaluation, outputs, test)
    if as_json:
        fields = evaluation.as_dict()
        print_json(fields if by_length else {key: value for key, value in fields.items() if key != "by_length"})
        return
    from seq2see.report.tables import show_evaluation

    print_table(show_evaluation(evaluation, lengths=by_length))


def _keep(run: Path, evaluation: "Evaluation", outputs: Sequence[str], test: "References") -> None:
    """In the run folder, where a page finds it; one that cannot be written to is no reason to fail."""
    from seq2see.evaluate.evaluation import worst_by_length
    from seq2see.runs.evaluations import keep_evaluation

    worst = worst_by_length(outputs, test, evaluation.by_length)
    try:
        keep_evaluation(run, evaluation.as_dict() | {"worst": worst})
    except Seq2SeeError as error:
        say(f"the evaluation could not be kept with the run: {error}")


def _sides(words: list[str], also: list[str], hypotheses: str | None) -> tuple[list[str], list[str]]:
    """The runs, and what names the test set."""
    if hypotheses is not None:
        if also:
            raise ConfigError("--with joins runs; it has no meaning with --hypotheses")
        if not words:
            raise ConfigError("evaluate needs a test set: seq2see evaluate --hypotheses output.en test.ko test.en")
        return [], words
    if not words:
        raise ConfigError("evaluate needs a run folder and a test set: seq2see evaluate runs/ko-en test.tsv")
    if len(words) == 1:
        raise ConfigError(f"evaluate needs a test set behind {words[0]}: a file, two plain files, or builtin:NAME")
    return [words[0], *also], words[1:]


def check_system(path: str) -> None:
    if not Path(path).is_dir():
        raise RunError(f"{path}: not a run folder; outputs that are there already go with --hypotheses FILE")


def read_settings(
    metric: Sequence[str] | None,
    tokenize: str | None,
    length_of: str,
    edges: str | None,
    resamples: int | None,
    seed: int | None,
    metrics: Sequence[str] = (),
) -> "EvaluationSettings":
    """Options as people write them -> checked settings. `metrics` are meant when none are given."""
    from seq2see.evaluate import EvaluationSettings, Resampling
    from seq2see.evaluate.metrics import metric_name, tokenizer_name

    names = [name.strip().lower() for listed in metric or metrics for name in listed.split(",") if name.strip()]
    if length_of not in ("source", "reference"):
        raise ConfigError(f"--length-of {length_of}: expected source or reference")
    plan = {name: value for name, value in (("resamples", resamples), ("seed", seed)) if value is not None}
    settings = EvaluationSettings(
        tokenize=None if tokenize is None else tokenizer_name(tokenize),
        side="source" if length_of == "source" else "reference",
        edges=None if edges is None else _edges(edges),
        plan=replace(Resampling(), **plan),
    )
    return replace(settings, metrics=tuple(metric_name(name) for name in names)) if names else settings


def _edges(text: str) -> tuple[int, ...]:
    from seq2see.evaluate.length import check_edges

    try:
        return tuple(check_edges([int(edge) for edge in text.split(",")]))
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"--edges {text}: expected rising lengths such as 5,10,15,20") from None


def read_test(
    runs: Sequence[str],
    specs: Sequence[str],
    source: str | None,
    target: str | None,
    limit: int | None,
    encoding: str | None = None,
) -> "References":
    """The test pairs; which side is the source, as asked for, else as the first run was told."""
    from seq2see.evaluate import read_references

    if not runs:
        return read_references(specs, source_language=source, target_language=target, limit=limit, encoding=encoding)
    from seq2see.runs.folder import read_run_config  # brings torch, which outputs alone do not need

    data = read_run_config(Path(runs[0])).data
    return read_references(
        specs,
        source_language=source or data.source_language,
        target_language=target or data.target_language,
        flip=data.flip,
        limit=limit,
        encoding=encoding,
    )


def search_of(beam: int, changes: list[str] | None) -> "SearchConfig":
    """What `translate` does by itself, but for what was given."""
    from seq2see.session import DEFAULT

    return read_search(changes, {"beam": beam, "length_penalty": DEFAULT.length_penalty}, {"beam": "--beam"})


def read_outputs(path: str, test: "References", encoding: str | None) -> list[str]:
    from seq2see.evaluate import read_outputs as read

    return list(read(path, test, encoding=encoding))


def write_outputs(path: Path, outputs: Sequence[str]) -> None:
    from seq2see import atomic
    from seq2see.session.files.lines import one_line

    atomic.write_file(path, "".join(one_line(output) + "\n" for output in outputs).encode())


def command() -> str:
    """What was typed, as it can be typed again."""
    return shlex.join(["seq2see", *sys.argv[1:]])


def print_table(renderable: Any) -> None:
    from rich.console import Console

    Console(highlight=False, markup=False, emoji=False).print(renderable, crop=False)


def print_json(fields: dict[str, Any]) -> None:
    from seq2see import __version__

    text = json.dumps({"version": __version__} | fields, ensure_ascii=False, allow_nan=False)
    typer.echo(text.encode(errors="replace").decode())  # the name of a file need not be UTF-8
