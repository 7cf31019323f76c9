"""`seq2see train`: pairs in, a run folder out."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seq2see.cli.shell.checking import check_files, check_run, check_training, check_translator
from seq2see.cli.shell.options import Encoding
from seq2see.errors import ConfigError, nearest

if TYPE_CHECKING:
    from seq2see.training.parallel.group import Launched

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


def train(
    pairs: Annotated[
        list[str] | None,
        typer.Argument(
            help="A .tsv (a line: source<tab>target), .csv, .jsonl (a line: "
            '{"source": "나는 학생입니다", "target": "I am a student"}), '
            ".tmx .po .mo .xlf file, two plain text files (source, target), or builtin:NAME "
            "(phrases, dates, reverse, copy, sort; builtin:phrases,count=240000 makes more); plain or .gz; several are "
            "a mixture, `a.tsv:2` counts twice. "
            "For --model tacotron: an LJSpeech folder, a .tsv of recording<tab>text, or builtin:espeak.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The run folder to make; required.", show_default=False)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="rnn, rnnsearch, luong, convs2s, bytenet, transformer; or tacotron, a voice.  [default: chosen from "
            "the pairs]",
            show_default=False,
        ),
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            help="tiny, small, base or paper.  [default: chosen from the pairs and the time]", show_default=False
        ),
    ] = None,
    valid: Annotated[
        list[str] | None,
        typer.Option(
            help="Validation pairs, such as valid.tsv; twice for two plain files.  [default: some training pairs, "
            "held out by hash]",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = None,
    flip: Annotated[
        bool, typer.Option("--flip", help="Learn the other direction: from the target to the source of the pairs.")
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out, bit by bit the same.")] = False,
    time_limit: Annotated[
        str | None,
        typer.Option(
            help="Such as 90s, 30m or 2h; the schedule is fitted to it. With --resume: so much more, from now on.  "
            "[default: none]",
            show_default=False,
        ),
    ] = None,
    changed_data: Annotated[
        bool,
        typer.Option(
            "--changed-data",
            help="With --resume: go on although data files have changed; or are gone, and only their ids are left.",
        ),
    ] = False,
    base: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Fine-tune: start from the weights of this run, such as runs/ko-en.  [default: fresh]",
            show_default=False,
        ),
    ] = None,
    mono: Annotated[
        Path | None,
        typer.Option(
            help="Texts of the target language alone, a line each, such as news.en or news.en.gz: --reverse translates "
            "them back, and they are learned from like pairs.  [default: none]",
            show_default=False,
        ),
    ] = None,
    reverse: Annotated[
        Path | None,
        typer.Option(
            help="With --mono: a run of the other direction, such as runs/en-ko.  [default: none]", show_default=False
        ),
    ] = None,
    distil: Annotated[
        list[Path] | None,
        typer.Option(
            help="A finished run that translates the training sources: what it says is learned beside the pairs, such "
            "as runs/large. Named several times: one ensemble.  [default: none]",
            show_default=False,
        ),
    ] = None,
    alignments: Annotated[
        Path | None,
        typer.Option(
            help="Word alignments of the pairs, for --set training.guided_alignment=1.0: a line `0-0 1-3 2-1` for each "
            "pair, source word-target word from 0, as `seq2see align` writes them.  [default: none]",
            show_default=False,
        ),
    ] = None,
    recipe: Annotated[
        Path | None,
        typer.Option(
            help="Settings from a TOML file, such as a line `training.steps = 2000`, see recipes/; options win over "
            "it.  [default: none]",
            show_default=False,
        ),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="One setting, such as training.steps=2000 or model.attention.score=cosine.",
            show_default=False,
        ),
    ] = None,
    processes: Annotated[
        str,
        typer.Option(
            help="How many processes share every batch, such as 2, one thread each; auto: one for every core that is "
            "free, where training takes minutes. Over several machines: torchrun, see docs/scale.md."
        ),
    ] = "auto",
    shard: Annotated[
        bool,
        typer.Option(
            "--shard",
            help="Each of several processes holds its part of what the optimiser remembers, which takes less memory; "
            "see docs/scale.md.",
        ),
    ] = False,
    device: Annotated[
        str | None, typer.Option(help="cpu, cuda, mps or auto.  [default: auto]", show_default=False)
    ] = None,
    plan: Annotated[
        bool,
        typer.Option("--plan", help="Say which settings it would choose, why, and how long it would take; and stop."),
    ] = False,
    list_settings: Annotated[
        bool, typer.Option("--list-settings", help="Show every setting with its default and what it does, and stop.")
    ] = False,
) -> None:
    """Train a model on pairs, on an ordinary CPU.

    Tokenizers are trained and stored inside; Ctrl-C saves and prints the command that goes on.

    \b
    seq2see train pairs.tsv --out runs/ko-en
    seq2see train pairs.tsv --time-limit 30m --plan
    seq2see train pairs.tsv --flip --out runs/en-ko
    seq2see train builtin:dates --model luong --out runs/dates
    seq2see train train.de.gz train.en.gz --valid val.de.gz --valid val.en.gz --size tiny --out runs/de-en
    seq2see train pairs.tsv --alignments pairs.align --set training.guided_alignment=1.0 --out runs/guided
    seq2see train pairs.tsv --time-limit 30m --processes 2 --out runs/faster
    seq2see train news.tsv --from runs/ko-en --time-limit 30m --out runs/news
    seq2see train pairs.tsv --mono news.en --reverse runs/en-ko --out runs/more
    seq2see train pairs.tsv --distil runs/ko-en --distil runs/ko-en-2 --size tiny --out runs/both-in-one
    seq2see train --recipe recipes/dates-luong.toml --out runs/recipe
    seq2see train builtin:espeak --model tacotron --out runs/voice
    seq2see train --resume --out runs/de-en
    seq2see train --resume --time-limit 10m --out runs/de-en
    """
    if list_settings:
        _show_settings()
        return
    if out is None:
        if not plan or resume:
            raise ConfigError("train needs --out FOLDER for the run")
        out = Path("run")  # nothing is written
    options = _settings(pairs, model, size, valid, time_limit, alignments, device, encoding, flip=flip)
    launched = _launched(processes)
    if launched is not None and launched.rank:
        _follow(launched, out)
        return
    if launched is not None or processes != "auto":
        together = launched.size if launched is not None else _count(processes)
        options["training"] = options.get("training", {}) | {"processes": together}
    if shard:
        options["training"] = options.get("training", {}) | {"shard": True}
    if launched is not None and launched.restarts and (out / "config.json").exists():
        resume, base, changes = True, None, None  # go on from the newest checkpoint
        options = {"training": {"processes": launched.size}}
    from seq2see.runs.config import merge, parse_changes, read_toml

    changed = parse_changes(changes or [])
    if resume:
        _resume(out, options, changed, base, changed_data=changed_data)
        return
    if changed_data:
        raise ConfigError("--changed-data belongs to --resume; a new run takes its data as it is")
    settings = merge(merge(read_toml(recipe) if recipe else {}, options), changed)
    if not settings.get("data", {}).get("train"):
        raise ConfigError("train needs pairs: a file, two plain text files, or builtin:phrases")
    if (mono is None) != (reverse is None):
        raise ConfigError(
            "--mono and --reverse go together: texts of the target language, and a run that translates back"
        )
    back = None if mono is None or reverse is None else (mono, reverse)
    _start(settings, out, base, plan_only=plan, mono=back, teachers=distil or [])


def _launched(processes: str) -> "Launched | None":
    """What torchrun says, if it has started this process."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:  # without torch
        return None
    from seq2see.training.parallel.group import Launched

    launched = Launched.read()
    if launched is not None and processes != "auto":
        raise ConfigError("--processes starts processes on this machine; under torchrun its own options say how many")
    return launched


def _follow(launched: "Launched", out: Path) -> None:
    """Every process of torchrun but the first: it writes nothing, and says nothing unless it fails."""
    from seq2see.training.parallel.group import LaunchedGroup
    from seq2see.training.run import follow_run

    with LaunchedGroup(launched) as group:
        follow_run(out, group)


def _count(processes: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,3}", processes):
        raise ConfigError(f"--processes {processes}: expected a number, such as 2, or auto")
    return int(processes)


def _settings(
    pairs: list[str] | None,
    model: str | None,
    size: str | None,
    valid: list[str] | None,
    time_limit: str | None,
    alignments: Path | None,
    device: str | None,
    encoding: str | None,
    *,
    flip: bool,
) -> dict[str, Any]:
    """The options as a recipe would say them; only what was given."""
    links = None if alignments is None else str(alignments)
    data = {"train": pairs, "valid": valid, "alignments": links, "encoding": encoding, "flip": flip}
    training = {"time_limit": None if time_limit is None else seconds(time_limit), "device": device}
    named: dict[str, dict[str, Any]] = {"data": data, "model": {"family": model, "size": size}, "training": training}
    kept = {room: {name: value for name, value in inside.items() if value} for room, inside in named.items()}
    return {room: inside for room, inside in kept.items() if inside}


def seconds(text: str) -> float:
    """90s, 30m, 2h, or plain seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip().lower())
    if match is None or float(match[1]) == 0:
        raise ConfigError(f"--time-limit {text}: expected a time such as 90s, 30m or 2h")
    return float(match[1]) * _UNITS[match[2] or "s"]


def _start(
    settings: dict[str, Any],
    out: Path,
    base: Path | None,
    *,
    plan_only: bool = False,
    mono: tuple[Path, Path] | None = None,
    teachers: Sequence[Path] = (),
) -> None:
    """mono: texts of the target language, and the run that translates them back."""
    check_training(settings, out, base)
    if mono is not None:
        check_files(mono[0])
        check_run(mono[1])
    check_translator(*teachers)
    from seq2see.runs.config import VOICE
    from seq2see.training.reporting import ConsoleReporter
    from seq2see.training.run import new_config, train_run

    if settings.get("model", {}).get("family") == VOICE:
        asked = [("--plan", plan_only), ("--mono", mono is not None), ("--distil", bool(teachers))]
        if names := [name for name, is_asked in asked if is_asked]:
            raise ConfigError(f"{names[0]} is for models of text")
        _start_voice(settings, out, base)
        return
    if base is not None:
        settings = _as_base(settings, base)
    with TemporaryDirectory(prefix="seq2see-plan-") as folder, _interruptible(out):
        place = Path(folder) / "run" if plan_only else out
        new_config(settings)  # a wrong setting is said before anything is translated
        pairs: dict[str, bytes] = {}
        if mono is not None:
            settings, pairs = _with_mono(settings, place, *mono)
        if teachers:
            settings, distilled = _with_teachers(settings, place, teachers)
            pairs |= distilled
        with ConsoleReporter() as reporter:
            ended = train_run(
                new_config(settings),
                place,
                reporter,
                base=base,
                pairs=pairs,
                plan_only=plan_only,
                may_start_processes=True,
            )
    if not plan_only:
        _say_end(ended, out)


def _with_mono(
    settings: dict[str, Any], out: Path, mono: Path, reverse: Path
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The settings with one more corpus, and that corpus, which will lie in the run folder."""
    from seq2see.cli.shell.progress import CountProgress
    from seq2see.runs.config import merge, read_config
    from seq2see.session.training import MONO, back_translate

    data = read_config(settings).data
    with CountProgress() as progress:
        content = back_translate(
            mono,
            reverse,
            form=data.form,
            encoding=data.encoding,
            counting=lambda total: progress.counting(f"lines of {mono} translated back by {reverse}", total),
        )
    return merge(settings, {"data": {"mono": str(out / MONO)}}), {MONO: content}


def _with_teachers(
    settings: dict[str, Any], out: Path, teachers: Sequence[Path]
) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The same, of what the teachers say to the training sources."""
    from seq2see.cli.shell.progress import CountProgress
    from seq2see.runs.config import merge, read_config
    from seq2see.session.training import DISTILLED, distil_pairs

    names = " and ".join(map(str, teachers))
    with CountProgress() as progress:
        content = distil_pairs(
            read_config(settings).data,
            teachers,
            counting=lambda total: progress.counting(f"training sources translated by {names}", total),
        )
    return merge(settings, {"data": {"distilled": str(out / DISTILLED)}}), {DISTILLED: content}


def _start_voice(settings: dict[str, Any], out: Path, base: Path | None) -> None:
    from seq2see.speech.training import new_config, train_voice
    from seq2see.training.reporting import ConsoleReporter

    if base is not None:
        raise ConfigError("--from is for models of text; a voice starts fresh")
    config = new_config(settings)
    with _interruptible(out), ConsoleReporter() as reporter:
        ended = train_voice(config, out, reporter)
    _say_end(ended, out)


def _as_base(settings: dict[str, Any], base: Path) -> dict[str, Any]:
    """Fine-tuning takes model and vocabulary as they are; another model cannot start from these weights."""
    from seq2see.runs.folder import load_run

    config = load_run(base).config
    family = settings.get("model", {}).get("family", config.model["family"])
    if family != config.model["family"] or set(settings.get("model", {})) - {"family"}:
        raise ConfigError(f"--from {base} is a {config.model['family']}; its model settings stay as they are")
    tokenizer = config.tokenizer.model_dump(mode="json")
    return settings | {"model": {"family": family}, "tokenizer": tokenizer | settings.get("tokenizer", {})}


def _resume(
    out: Path, options: dict[str, Any], changed: dict[str, Any], base: Path | None, *, changed_data: bool
) -> None:
    from seq2see.runs.config import VOICE, merge

    if base is not None:
        raise ConfigError(f"--from starts a new run; --resume goes on with the one in {out}")
    check_run(out)
    from seq2see.training.reporting import ConsoleReporter
    from seq2see.training.run import renamed_data, resumed_config, train_run

    training = {"training": options["training"]} if options.get("training") else {}
    config = resumed_config(out, merge(training, changed))
    _same_run(config.model_dump(mode="json"), options, out)
    config = renamed_data(config, out, options.get("data", {}), accept=changed_data)
    with _interruptible(out), ConsoleReporter() as reporter:
        if config.model.get("family") == VOICE:
            from seq2see.speech.training import train_voice

            ended = train_voice(config, out, reporter, resume=True, changed_data=changed_data)
        else:
            ended = train_run(config, out, reporter, resume=True, changed_data=changed_data)
    _say_end(ended, out)


def _same_run(saved: dict[str, Any], options: dict[str, Any], out: Path) -> None:
    """The whole first command with --resume behind it is fine; another one is a mistake."""
    from seq2see.formats.reading.encodings import check_encoding

    encoding = options.get("data", {}).get("encoding")
    read_as = saved["data"]["encoding"] or "utf-8"
    if encoding and check_encoding(encoding) != read_as:
        raise ConfigError(f"{out} was trained on files read as {read_as}, not as {encoding}; leave --encoding away")
    family = options.get("model", {}).get("family")
    if family and family != saved["model"]["family"]:
        raise ConfigError(
            f"{out} is a {saved['model']['family']}, not a {family}{nearest(family, [saved['model']['family']])}"
        )
    if options.get("data", {}).get("flip") and not saved["data"]["flip"]:
        raise ConfigError(f"{out} learns from the source to the target of its pairs; --flip makes another run")


@contextmanager
def _interruptible(out: Path) -> Iterator[None]:
    """Ctrl-C before the first update, or twice: says what there is to go on from."""
    try:
        yield
    except KeyboardInterrupt:
        from seq2see.runs.checkpoint import paths
        from seq2see.training.run import resume_command

        saved = paths(out / "checkpoints")
        if saved:
            print(f"interrupted; go on from {saved[0].name} with:\n    {resume_command(out)}", file=sys.stderr)
        else:
            print("interrupted before anything was saved; the same command starts again", file=sys.stderr)
        raise typer.Exit(130) from None


def _say_end(ended: Any, out: Path) -> None:
    from seq2see.progress import duration
    from seq2see.training.run import resume_command

    progress = ended.progress
    if ended.interrupted:
        print(f"saved at step {progress.step}; go on with:\n    {resume_command(out)}", file=sys.stderr)
        raise typer.Exit(130)
    best = f"best at step {progress.best_step}" if progress.best_step else "not validated"
    print(
        f"{ended.reason}: {progress.step} updates in {duration(progress.seconds)}, {best}; the run is in {out}",
        file=sys.stderr,
    )


def _show_settings() -> None:
    """Every setting, from the configuration types themselves."""
    from seq2see.models import FAMILIES
    from seq2see.models.families import config_type
    from seq2see.runs.config import DataConfig, TrainingConfig
    from seq2see.text import PairTokenizerConfig

    for room, kind in (("data", DataConfig), ("tokenizer", PairTokenizerConfig), ("training", TrainingConfig)):
        _show(room, kind)
    for family in FAMILIES:
        typer.echo(
            f"\n--model {family}  (defaults are of no size; tiny, small, base and paper change widths and layers)"
        )
        _show("model", config_type(family), {"family", "source_vocabulary", "target_vocabulary"})


def _show(room: str, kind: Any, hidden: set[str] | None = None) -> None:
    for name, field in kind.model_fields.items():
        if name in (hidden or ()):
            continue
        default = field.get_default(call_default_factory=True)
        inner = getattr(type(default), "model_fields", None)
        if inner is not None:
            _show(f"{room}.{name}", type(default))
            continue
        typer.echo(f"{room}.{name} = {default}\n    {field.description or ''}")
