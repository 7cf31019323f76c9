"""`seq2see verify-resume`: proves on your machine that an interrupted run ends with the same bytes."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from seq2see.cli.shell.checking import check_run
from seq2see.cli.shell.messages import PREFIX
from seq2see.errors import RunError


def verify_resume(
    config: Annotated[
        Path, typer.Argument(help="A recipe (TOML) or a run folder whose settings are to be tried.", show_default=False)
    ],
    steps: Annotated[int, typer.Option(help="Updates of each run.")] = 20,
    kills: Annotated[int, typer.Option(help="How often the second run is killed (kill -9) and resumed.")] = 2,
) -> None:
    """Prove that a training killed and resumed ends the same.

    Train twice, once straight and once killed and resumed, and compare the SHA-256 of the weights.

    \b
    seq2see verify-resume recipes/dates-luong.toml
    seq2see verify-resume runs/ko-en --steps 40 --kills 3
    """
    from seq2see import atomic

    if not config.exists():
        raise RunError(f"{config}: no such recipe or run folder")
    if config.is_dir():
        check_run(config)
    with tempfile.TemporaryDirectory(prefix="seq2see-verify-") as folder:
        recipe = _recipe(config, Path(folder))
        command = [sys.executable, "-m", "seq2see", "train", "--recipe", str(recipe), *_settings(steps)]
        straight, broken = Path(folder) / "straight", Path(folder) / "broken"
        _run([*command, "--out", str(straight)])
        typer.echo(f"straight: {steps} updates", err=True)
        for kill in range(1, kills + 1):
            step = _run_and_kill([*command, "--out", str(broken)], broken, steps * kill // (kills + 1))
            typer.echo(f"killed at step {step}, resumed", err=True)
            command = [sys.executable, "-m", "seq2see", "train", "--resume"]
        _run([*command, "--out", str(broken)])
        ours, theirs = (atomic.digest(path / "model.safetensors") for path in (straight, broken))
    typer.echo(f"straight     {ours}\ninterrupted  {theirs}")
    if ours != theirs:
        raise RunError("the interrupted run ended with other weights: resume is not exact here; please report this")
    typer.echo("identical: resume is exact")


def _settings(steps: int) -> list[str]:
    """Few updates, saved often; one thread and no time limit, because a probe may find otherwise the second time."""
    every = max(1, steps // 6)
    chosen = {
        "steps": steps,
        "save_every": every,
        "validate_every": max(1, steps // 2),
        "threads": 1,
        "time_limit": None,
    }
    return [word for name, value in chosen.items() for word in ("--set", f"training.{name}={value}")]


def _recipe(config: Path, folder: Path) -> Path:
    """A run folder's settings as a recipe; a recipe as it is."""
    if not config.is_dir():
        return config.resolve()
    from seq2see.runs.folder import read_run_config

    saved = read_run_config(config).model_dump(mode="json", exclude={"version", "base", "chosen"})
    vocabularies = ("source_vocabulary", "target_vocabulary")
    saved["model"] = {name: value for name, value in saved["model"].items() if name not in vocabularies}
    path = folder / "recipe.toml"
    lines = [
        f"[{room}]\n" + "".join(_toml(name, value) for name, value in inside.items()) for room, inside in saved.items()
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def _toml(name: str, value: object) -> str:
    """One setting; JSON writes numbers, strings and lists as TOML does."""
    if value is None:
        return ""
    if isinstance(value, dict):
        inner = ", ".join(f"{key} = {_inline(entry)}" for key, entry in value.items() if entry is not None)
        return f"{name} = {{ {inner} }}\n"
    return f"{name} = {_inline(value)}\n"


def _inline(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(f"training failed: {last_line(done.stderr) or done.returncode}")


def last_line(output: str) -> str:
    """What another seq2see said at last, without the name of the program: it will get one."""
    return output.strip().rpartition("\n")[2].removeprefix(PREFIX)


def _run_and_kill(command: list[str], out: Path, step: int) -> int:
    """Starts training and kills it hard once it has made `step` updates."""
    metrics = out / "metrics.jsonl"
    made = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and made < step:
            time.sleep(0.02)
            made = metrics.read_text().count('"loss"') if metrics.exists() else 0
        if process.poll() is not None:
            error = last_line(process.stderr.read() if process.stderr else "")
            raise RunError(f"training ended before it could be killed: {error or 'finished'}")
        os.kill(process.pid, signal.SIGKILL)
    return made
