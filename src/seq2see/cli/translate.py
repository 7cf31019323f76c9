"""`seq2see translate`: a line in, a line out; files with structure keep it."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seq2see.cli.checking import check_files, check_run
from seq2see.cli.options import Encoding
from seq2see.errors import ConfigError, DataError

if TYPE_CHECKING:
    from seq2see.engines import EngineName
    from seq2see.search import SearchConfig

Format = Literal["auto", "text", "po", "xliff", "srt", "jsonl"]


def translate(
    run: Annotated[Path, typer.Argument(help="The run folder that `seq2see train` made.", show_default=False)],
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Text, one sentence a line; or .po .xlf .srt .jsonl, which keep their structure; plain or .gz. "
            "[default, and -: standard input]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Where to write.  [default: standard output]", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="List the results that deserve a look, with their lines: empty, cut off, placeholders repaired; as "
            "TSV, or .jsonl.",
            show_default=False,
        ),
    ] = None,
    also: Annotated[
        list[Path] | None,
        typer.Option("--with", help="Further runs: all together speak as one ensemble.", show_default=False),
    ] = None,
    beam: Annotated[int, typer.Option(help="Hypotheses kept at each step; 1 is greedy, and fastest.", min=1)] = 5,
    nbest: Annotated[
        int, typer.Option(help="Translations for each line, side by side with tabs between; all of --json.", min=1)
    ] = 1,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="A JSON object for each line: text, score, tokens, token_scores, unknown_terms, nbest."
        ),
    ] = False,
    sample: Annotated[bool, typer.Option("--sample", help="Draw words by their probability.")] = False,
    temperature: Annotated[float, typer.Option(help="Of --sample: below 1 bolder, above 1 wilder.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="Of --sample: only the k likeliest words; 0: all.")] = 0,
    top_p: Annotated[float, typer.Option(help="Of --sample: only the likeliest that together reach p.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of --sample: the same seed, the same output.")] = 0,
    mbr: Annotated[
        int, typer.Option(help="Draw this many samples, take the one the others agree with most (chrF).", min=0)
    ] = 0,
    prefix: Annotated[str, typer.Option(help="Every translation begins with this.", show_default=False)] = "",
    constraints: Annotated[
        Path | None,
        typer.Option(
            help="A glossary, a line for each term: 막걸리<tab>makgeolli, or <tab>!beer for what is never said; or a "
            '.jsonl with an object for each line: {"required": {"막걸리": "makgeolli"}, "forbidden": ["beer"], '
            '"prefix": "I"}. A term that the vocabulary lacks is put in where attention tells its place; exit code 1 '
            "if one is missing.",
            show_default=False,
        ),
    ] = None,
    length_penalty: Annotated[str, typer.Option(help="none, gnmt or average.")] = "gnmt",
    alpha: Annotated[float, typer.Option(help="Of gnmt: 0 favours the short, 1 hardly.")] = 0.6,
    coverage: Annotated[float, typer.Option(help="What a source word that was not looked at costs.")] = 0.0,
    min_length: Annotated[int, typer.Option(help="Pieces before a sentence may end.")] = 0,
    max_length: Annotated[
        int | None, typer.Option(help="Most pieces.  [default: twice the source and ten]", show_default=False)
    ] = None,
    no_repeat: Annotated[int, typer.Option(help="No run of this many pieces occurs twice; 0: anything may.")] = 0,
    groups: Annotated[int, typer.Option(help="Diverse beam: groups that share the beam.")] = 1,
    diversity: Annotated[float, typer.Option(help="Diverse beam: what it costs to say what others say.")] = 0.0,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Processes.  [default: one for each core for a large file, else 1]", min=1, show_default=False
        ),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="torch; onnx: the same from ONNX Runtime; int8: fastest, weights rounded to 8 bits.")
    ] = "torch",
    form: Annotated[
        str, typer.Option("--format", help="auto (by the file's name), text, po, xliff, srt, jsonl.")
    ] = "auto",
    existing: Annotated[
        str, typer.Option(help="Of .po and .xlf: keep translations that are there, or replace them.")
    ] = "keep",
    field: Annotated[
        str, typer.Option(help='Of .jsonl: the field that is translated, as in {"source": "나는 학생입니다"}.')
    ] = "source",
    into: Annotated[str, typer.Option(help="Of .jsonl: the field the translation goes to.")] = "target",
    encoding: Encoding = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an --out file that was interrupted.")] = False,
) -> None:
    """Translate: exactly one line out for each line in, in order, whatever the line holds.

    Empty lines stay empty. Text comes out in UTF-8, a file with structure in its own encoding. Ctrl-C keeps what is
    done of an --out file, documents included; --resume goes on.

    \b
    echo "나는 학생입니다" | seq2see translate runs/ko-en
    seq2see translate runs/ko-en news.ko --out news.en
    seq2see translate runs/ko-en app.po --out app.translated.po
    seq2see translate runs/ko-en news.jsonl --field text --into english --out news.en.jsonl
    seq2see translate runs/ko-en news.ko --constraints glossary.tsv --nbest 3 --json
    seq2see translate runs/ko-en news.ko --with runs/ko-en-2 --out both.en
    seq2see translate runs/ko-en news.ko --beam 1 --engine int8 --out news.en
    """
    check_run(run, *(also or ()))
    if file is not None and str(file) != "-":
        _check_input(file, run)
    if constraints is not None:
        check_files(constraints)
    from seq2see.cli.translating import Job, run_job

    if mbr:
        sample, nbest = True, max(nbest, mbr)
    drawn = {"--temperature": temperature != 1, "--top-k": top_k != 0, "--top-p": top_p != 1}
    if not sample and any(drawn.values()):
        raise ConfigError(f"{next(name for name, given in drawn.items() if given)} is for --sample; add it")
    settings = {
        "beam": 1 if sample else max(beam, nbest),
        "nbest": nbest,
        "length_penalty": length_penalty,
        "alpha": alpha,
        "coverage": coverage,
        "min_length": min_length,
        "max_length": max_length,
        "no_repeat_ngram": no_repeat,
        "groups": groups,
        "diversity": diversity,
        "sample": sample,
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "seed": seed,
    }
    file = None if str(file) == "-" else file
    if file is None and sys.stdin.isatty():
        print("reading standard input: type a sentence, Ctrl-D to end", file=sys.stderr)
    run_job(
        Job(
            runs=(run, *(also or ())),
            search=search_config(settings),
            file=file,
            out=None if out is None or str(out) in ("-", "/dev/stdout") else out,
            report=report,
            form=_format(form, file),
            as_json=as_json,
            agree=bool(mbr),
            prefix=prefix,
            constraints=constraints,
            existing="replace" if _one_of("--existing", existing, ("keep", "replace")) == "replace" else "keep",
            fields=(field, into),
            workers=workers,
            resume=resume,
            engine=_engine(engine),
            encoding=_encoding(encoding),
        )
    )


def _check_input(file: Path, run: Path) -> None:
    """A sentence in place of a file is what many try first."""
    try:
        check_files(file)
    except DataError:
        text = str(file)
        if file.suffix or (text.isascii() and " " not in text) or file.exists():
            raise
        how = f"echo {shlex.quote(text)} | seq2see translate {shlex.quote(str(run))}"
        raise DataError(f"no such file; to translate a sentence: {how}", path=file) from None


def search_config(settings: dict[str, Any]) -> "SearchConfig":
    """Settings as options name them -> a checked SearchConfig, or one line that says what is wrong."""
    from pydantic import ValidationError

    from seq2see.search import SearchConfig
    from seq2see.settings import setting_error

    try:
        return SearchConfig.model_validate(settings)
    except ValidationError as error:
        raise setting_error(error, SearchConfig) from None


def _engine(name: str) -> "EngineName":
    from seq2see.engines import ENGINES

    return {one: one for one in ENGINES}[_one_of("--engine", name, ENGINES)]  # type: ignore[index]


def _encoding(name: str | None) -> str | None:
    from seq2see.formats.encodings import check_encoding

    return check_encoding(name)


def _format(form: str, file: Path | None) -> str:
    known = {".po": "po", ".xlf": "xliff", ".xliff": "xliff", ".srt": "srt", ".vtt": "srt", ".jsonl": "jsonl"}
    if form != "auto":
        return _one_of("--format", form, ("text", "po", "xliff", "srt", "jsonl"))
    name = "" if file is None else file.name.lower().removesuffix(".gz")
    return known.get(Path(name).suffix, "text")


def _one_of(option: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise ConfigError(f"{option} {value}: expected one of {', '.join(allowed)}")
    return value
