"""`seq2see translate`: its options, read and checked."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from seq2see.cli.shell.checking import check_files, check_translator
from seq2see.cli.shell.options import Beam, Encoding, Ensemble, RunFolder, Sample, Search, Workers
from seq2see.cli.shell.search import read_search
from seq2see.errors import ConfigError, DataError

if TYPE_CHECKING:
    from seq2see.engines import EngineChoice


def translate(
    run: RunFolder,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Text, one sentence a line; or .po .xlf .srt .jsonl, which keep their structure; plain or .gz. "
            "Several with --ray.  [default, and -: standard input]",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Where to write; a folder with --ray.  [default: standard output]", show_default=False
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            help="List the results that deserve a look, with their lines: empty, cut off, placeholders repaired; as "
            "TSV, or .jsonl.",
            show_default=False,
        ),
    ] = None,
    also: Ensemble = None,
    beam: Beam = 5,
    nbest: Annotated[
        int, typer.Option(help="Translations for each line, side by side with tabs between; all of --json.", min=1)
    ] = 1,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="A JSON object for each line: text, score, tokens, token_scores, unknown_terms, nbest."
        ),
    ] = False,
    sample: Sample = False,
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
    search: Search = None,
    workers: Workers = None,
    engine: Annotated[
        str,
        typer.Option(
            help="auto: the fastest that is installed and computes in full precision; torch; onnx: the same from ONNX "
            "Runtime; int8: weights rounded to 8 bits there; ctranslate2, ctranslate2-int8: Transformers only."
        ),
    ] = "auto",
    shortlist: Annotated[
        bool,
        typer.Option(
            "--shortlist",
            help="Say a line with the target pieces that its own were ever aligned to in training, and the commonest: "
            "faster, and nearly the same. Made once, a minute or two.",
        ),
    ] = False,
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
    ray: Annotated[
        str | None,
        typer.Option(
            metavar="local|ADDRESS",
            help="Any number of files (text, .jsonl, .parquet; also addresses such as s3://bucket/news.ko.gz) on all "
            "cores of this machine, or of the Ray cluster at this address; --out names a folder, and the same command "
            "goes on after an interruption. Needs the extra `scale`.  [default: none]",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Translate text line by line, or documents in place.

    Exactly one line out for each line in, in order, whatever it holds; empty ones stay empty. Text comes out in UTF-8,
    a file with structure in its own encoding. Ctrl-C keeps what is done of an --out file, documents included;
    --resume goes on.

    \b
    echo "나는 학생입니다" | seq2see translate runs/ko-en
    seq2see translate runs/ko-en news.ko --out news.en
    seq2see translate runs/ko-en app.po --out app.translated.po
    seq2see translate runs/ko-en news.jsonl --field text --into english --out news.en.jsonl
    seq2see translate runs/ko-en news.ko --constraints glossary.tsv --nbest 3 --json
    seq2see translate runs/ko-en news.ko --with runs/ko-en-2 --out both.en
    seq2see translate runs/ko-en news.ko --beam 1 --engine int8 --out news.en
    seq2see translate runs/ko-en news.ko --search alpha=0.8 --search no_repeat_ngram=3
    seq2see translate runs/ko-en crawl/*.ko.gz --out crawl.en --ray local
    """
    check_translator(run, *(also or ()))
    names = [] if files in (None, ["-"]) else list(files or ())
    if ray is None and len(names) > 1:
        raise ConfigError(f"{len(names)} files: one at a time, or all with --ray local --out FOLDER")
    for name in names:
        if "://" not in name:
            _check_input(Path(name), run)
        elif ray is None:
            raise ConfigError(f"{name}: an address is read with --ray local --out FOLDER")
    if constraints is not None:
        check_files(constraints)
    from seq2see.cli.translate.job import Job, run_job
    from seq2see.session import DEFAULT

    if mbr:
        sample, nbest = True, max(nbest, mbr)
    settings = {
        "beam": 1 if sample else max(beam, nbest),
        "nbest": nbest,
        "sample": sample,
        "length_penalty": DEFAULT.length_penalty,
    }
    config = read_search(search, settings, {"beam": "--beam", "nbest": "--nbest", "sample": "--sample"})
    if ray is not None:
        from seq2see.cli.translate.files import translate_with_ray

        _check_ray(names, out, constraints)
        assert out is not None
        translate_with_ray(
            names,
            out,
            ray,
            report,
            run=(run, *map(Path, also or ())),
            search=config,
            engine=_engine(engine),
            shortlist=shortlist,
            agree=bool(mbr),
            as_json=as_json,
            prefix=prefix,
            form=form,
            existing=_existing(existing),
            fields=(field, into),
            encoding=_encoding(encoding),
            workers=workers,
        )
        return
    file = Path(names[0]) if names else None
    if file is None and sys.stdin.isatty():
        print("reading standard input: type a sentence, Ctrl-D to end", file=sys.stderr)
    run_job(
        Job(
            runs=(run, *map(Path, also or ())),
            search=config,
            file=file,
            out=None if out is None or str(out) in ("-", "/dev/stdout") else out,
            report=report,
            form=_format(form, file),
            as_json=as_json,
            agree=bool(mbr),
            prefix=prefix,
            constraints=constraints,
            existing=_existing(existing),
            fields=(field, into),
            workers=workers,
            resume=resume,
            engine=_engine(engine),
            shortlist=shortlist,
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


def _check_ray(names: list[str], out: Path | None, constraints: Path | None) -> None:
    if not names or "-" in names:
        raise ConfigError("--ray needs files, not standard input")
    if out is None:
        raise ConfigError("--ray writes a file for each input; --out names the folder they go to")
    if constraints is not None:
        raise ConfigError(
            "--constraints: terms are not counted over machines; leave --ray away (--workers uses all cores)"
        )


def _existing(name: str) -> Literal["keep", "replace"]:
    return "replace" if _one_of("--existing", name, ("keep", "replace")) == "replace" else "keep"


def _engine(name: str) -> "EngineChoice":
    from seq2see.engines import ENGINES

    choices: tuple[EngineChoice, ...] = ("auto", *ENGINES)
    return {str(choice): choice for choice in choices}[_one_of("--engine", name, choices)]


def _encoding(name: str | None) -> str | None:
    from seq2see.formats.reading.encodings import check_encoding

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
