"""`seq2see serve`: a page for people and a server for the programs they use."""

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seq2see.cli.shell.messages import say
from seq2see.errors import ConfigError, MissingExtraError

if TYPE_CHECKING:
    from seq2see.serve.api.requests import ServedRun
    from seq2see.serve.configuration import ServerConfig

_ENGINES = ("auto", "torch", "onnx", "int8", "ctranslate2", "ctranslate2-int8")


def serve(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN...",
            help="Run folders, of translators and of voices. runs/a@ko-en says which languages one translates, where "
            "it does not know itself; of several with the same languages the first answers other programs.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(help="Where to listen; 0: any that is free.", min=0, max=65535)] = 5000,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0: every one of this machine.")] = (
        "127.0.0.1"
    ),
    workers: Annotated[
        int | None,
        typer.Option(help="Model processes, a thread each.  [default: one for each core]", min=1, show_default=False),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(
            help="auto: the fastest that is installed and computes in full precision; torch; onnx: the same from ONNX "
            "Runtime; int8: weights rounded to 8 bits there; ctranslate2, ctranslate2-int8: Transformers only."
        ),
    ] = "auto",
    watch: Annotated[
        list[Path] | None,
        typer.Option(help="A folder of runs that are being trained: their curves are on the page.", show_default=False),
    ] = None,
    keys: Annotated[
        Path | None,
        typer.Option(
            help='A JSON file of who may ask: {"weblate": "<SHA-256 of the key>"}; `printf %s KEY | sha256sum`.',
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            help="Texts a minute for each key or address.  [default: none on this machine alone, else 600]",
            min=1,
            show_default=False,
        ),
    ] = None,
    characters: Annotated[int, typer.Option(help="Of all texts of a request.", min=1, max=100_000)] = 5000,
    cors: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ORIGIN", help="A web page that may ask, such as https://example.org; *: any.", show_default=False
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A further name that this server is called by, such as mt.example.org.", show_default=False),
    ] = None,
    open_to_all: Annotated[
        bool, typer.Option("--open", help="Listen beyond this machine without keys: anybody may ask.")
    ] = False,
    forwarded: Annotated[
        bool, typer.Option("--forwarded", help="Behind a proxy of yours: X-Forwarded-For says who asks.")
    ] = False,
    weblate: Annotated[
        bool,
        typer.Option(
            "--weblate", help='Answer the one test that Weblate makes before it saves its settings: "test", en to de.'
        ),
    ] = False,
    suggestions: Annotated[
        bool,
        typer.Option(
            "--suggestions", help="Take better translations (POST /suggest) into suggestions.jsonl beside the run."
        ),
    ] = False,
    files: Annotated[bool, typer.Option(help="Translate files that are sent to /translate_file.")] = True,
    metrics: Annotated[bool, typer.Option("--metrics", help="Figures for Prometheus at /metrics.")] = False,
    metrics_token: Annotated[
        str | None,
        typer.Option(envvar="SEQ2SEE_METRICS_TOKEN", help="What /metrics wants as a Bearer token.", show_default=False),
    ] = None,
    spec_title: Annotated[
        str, typer.Option(help="The title in /spec: some clients want to read LibreTranslate there.")
    ] = "seq2see",
) -> None:
    """Serve translations to a page and to other programs.

    Weblate, Mastodon and everything else that speaks LibreTranslate: http://127.0.0.1:5000. OmegaT: its Apertium
    connector with http://127.0.0.1:5000/apertium. Trados, memoQ, Wordfast: the plugins of OPUS-CAT, with --port 8500.
    Ctrl-C answers everything that was accepted, and stops; a second one stops at once.

    \b
    seq2see serve runs/ko-en
    seq2see serve runs/demo/rnnsearch@ko-en runs/demo/rnn@ko-en --watch runs
    seq2see serve runs/ko-en runs/en-ko runs/voice --port 8080 --engine int8
    seq2see serve runs/ko-en --host 0.0.0.0 --keys keys.json --limit 300 --allow-host mt.example.org
    curl -d q=안녕하세요 -d source=ko -d target=en http://127.0.0.1:5000/translate
    """
    from seq2see.serve.configuration import ServerConfig
    from seq2see.serve.http.keys import ApiKeys, read_keys
    from seq2see.serve.served import read_runs

    if engine not in _ENGINES:
        raise ConfigError(f"--engine {engine}: expected one of {', '.join(_ENGINES)}")
    for folder in watch or ():
        if not folder.is_dir():
            raise ConfigError(f"--watch {folder}: no such folder")
    if metrics_token is not None and not metrics:
        raise ConfigError("--metrics-token is for --metrics; add it")
    known = read_keys(keys) if keys is not None else ApiKeys()
    local = _is_local(host)
    if not local and not known.required and not open_to_all:
        raise ConfigError(f"--host {host}: others could ask without a key; give --keys FILE, or say --open")
    config = ServerConfig(
        runs=read_runs(runs or ()),
        host=host,
        port=port,
        characters=characters,
        keys=known,
        limit=limit or (None if local and not known.required else 600),
        cors=tuple(cors or ()),
        hosts=tuple(allow_host or ()),
        forwarded=forwarded,
        weblate=weblate,
        files=files,
        suggestions=suggestions,
        metrics=metrics,
        metrics_token=metrics_token,
        title=spec_title,
        watch=tuple(watch or ()),
    )
    _start(config, engine, workers)


def _start(config: "ServerConfig", engine: str, workers: int | None) -> None:
    from dataclasses import replace
    from functools import partial
    from importlib.util import find_spec

    from seq2see.processes import cores
    from seq2see.serve.listening import bind
    from seq2see.serve.workers.pool import Pool
    from seq2see.serve.workers.worker import load_models

    if not all(map(find_spec, ("fastapi", "uvicorn", "python_multipart", "py3langid"))):
        raise MissingExtraError("serve", "serve")
    opened = bind(config.host, config.port)
    config = replace(config, port=opened.getsockname()[1])
    address = f"http://{f'[{config.host}]' if ':' in config.host else config.host}:{config.port}"
    for run in config.runs:
        say(f"{run.name}: {_languages(run)}")
    say("loading ...")
    pool = Pool(partial(load_models, config.runs, engine), workers or cores())
    try:
        pool.begin()
        from seq2see.serve.server import run_server

        run_server(config, pool, opened, lambda: say(f"{address} is ready; Ctrl-C stops it"))
    finally:
        pool.kill()


def _languages(run: "ServedRun") -> str:
    if run.kind == "voice":
        return "a voice"
    if run.source and run.target:
        return f"{run.source} to {run.target}"
    return f"no languages known, so only the page and our own API can ask it; {run.path}@ko-en names them"


def _is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"
