"""`seq2see doctor`: what this machine has, and what works on it."""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from seq2see import __version__

_NEEDED = ("torch", "numpy", "tokenizers", "safetensors", "sacrebleu", "pydantic", "typer", "rich", "babel")
# What each optional part is for, and the packages it is made of.
_EXTRAS = {
    "plot": ("pictures of attention", ("matplotlib",)),
    "fast": ("ONNX Runtime and CTranslate2", ("onnx", "onnxscript", "onnxruntime", "ctranslate2")),
    "hf": ("models of transformers", ("transformers", "sentencepiece")),
    "speech": ("voices", ("soundfile", "soxr", "pyworld", "pocketsphinx")),
    "tensorboard": ("TensorBoard events", ("tensorboard",)),
}
_PROGRAMS = {"espeak-ng": "teacher of the built-in voice", "chromium": "tests of the page"}
_DTYPES = ("float32", "float64", "float16", "int8", "bfloat16")
# A type that the processor only claims to have ends the process: so they are tried in another one.
_PROBE = """
import sys, torch
for name in sys.argv[1:]:
    a = torch.ones(64, 64, dtype=getattr(torch, name))
    try:
        product = torch._int_mm(a, a) if name == "int8" else a @ a
        print(name, "works" if float(product.float().mean()) == 64 else "gives wrong results", flush=True)
    except RuntimeError:
        print(name, "does not work", flush=True)
"""


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
    scale: Annotated[
        bool,
        typer.Option(
            "--scale", help="Instead: train for a minute in one process and in one for each core, and compare."
        ),
    ] = False,
) -> None:
    """Say what is installed, and what works on this machine.

    How many cores there are, which number types work, which fonts and programs are found.

    \b
    seq2see doctor
    seq2see doctor --scale
    """
    findings = measure_scale() if scale else examine()
    if as_json:
        typer.echo(json.dumps(findings, ensure_ascii=False))
        return
    for line in scale_lines(findings) if scale else lines(findings):
        typer.echo(line)


def measure_scale(steps: int = 16) -> dict[str, Any]:
    """A small Transformer learns for some updates in one process, then in one for each core (eight at most)."""
    from tempfile import TemporaryDirectory

    from seq2see.processes import cores
    from seq2see.training.parallel.group import time_all_reduce

    processes = max(2, min(8, cores()))
    with TemporaryDirectory(prefix="seq2see-doctor-") as folder:
        seconds = {count: _update_seconds(Path(folder) / str(count), count, steps) for count in (1, processes)}
    reduce = time_all_reduce(_REDUCED, processes)
    return {
        "cores": cores(),
        "processes": processes,
        "update_seconds": {str(count): value for count, value in seconds.items()},
        "speed_up": seconds[1] / seconds[processes],
        "all_reduce_mb_per_second": 4e-6 * _REDUCED / reduce,
        "ray": _version("ray"),
    }


_REDUCED = 2_000_000  # numbers: the parameters of a tiny Transformer


def _update_seconds(out: Path, processes: int, steps: int) -> float:
    """The median over updates; the first ones warm up."""
    from statistics import median

    from seq2see.training.reporting import SilentReporter
    from seq2see.training.run import new_config, train_run

    training = {"steps": steps, "batch_tokens": 4096, "threads": 1, "processes": processes, "stop_metric": "loss"}
    settings = {
        "data": {"train": ["builtin:phrases,count=3000"], "valid_pairs": 10},
        "tokenizer": {"vocabulary": 1000},
        "model": {"family": "transformer", "size": "tiny"},
        "training": training | {"validate_every": steps, "save_every": steps},
    }
    train_run(new_config(settings), out, SilentReporter())
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    return median([line["seconds"] for line in lines if "seconds" in line][min(4, steps // 2) :])


def scale_lines(findings: dict[str, Any]) -> list[str]:
    processes, speed_up = findings["processes"], findings["speed_up"]
    verdict = (
        f"`seq2see train` takes {processes} processes by itself where training takes minutes"
        if speed_up >= 1.3
        else "one process is as good: other programs use the cores, or there are no more"
    )
    rows = [
        f"cores {findings['cores']}; all-reduce among {processes} processes "
        f"{findings['all_reduce_mb_per_second']:,.0f} MB/s"
    ]
    for count, seconds in findings["update_seconds"].items():
        rows.append(f"  {count} process{'es' if count != '1' else '  '}   {seconds:.3f} s an update")
    ray = findings["ray"]
    further = f"Ray {ray}: translate --ray and study --ray" if ray else "no Ray: pip install 'seq2see[scale]'"
    return [*rows, f"{speed_up:.2f} times as fast: {verdict}", further]


def examine() -> dict[str, Any]:
    return {
        "seq2see": __version__,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory(),
        "torch_threads": _torch(lambda torch: torch.get_num_threads()),
        "devices": _torch(_devices),
        "instructions": _torch(lambda torch: torch.backends.cpu.get_cpu_capability()),
        "packages": {name: _version(name) for name in _NEEDED},
        "dtypes": try_dtypes(_DTYPES),
        "extras": {extra: {name: _version(name) for name in names} for extra, (_, names) in _EXTRAS.items()},
        "fonts": _fonts(),
        "programs": {name: shutil.which(name) for name in _PROGRAMS},
    }


def lines(findings: dict[str, Any]) -> list[str]:
    """The findings for a person: what works, and what to do about the rest."""
    rows = [
        f"seq2see {findings['seq2see']}, Python {findings['python']}, {findings['machine']}",
        f"cores {findings['cores']}, memory {findings['memory_gib']:.0f} GiB, "
        f"torch uses {findings['torch_threads']} threads, "
        f"devices {', '.join(findings['devices'])}, instructions {findings['instructions']}",
        "packages  " + "  ".join(f"{name} {version or 'MISSING'}" for name, version in findings["packages"].items()),
        "numbers",
    ]
    rows += [f"  {_mark(works == 'works')} {name:<10}{works}" for name, works in findings["dtypes"].items()]
    rows.append("optional parts")
    for extra, packages in findings["extras"].items():
        missing = [name for name, version in packages.items() if version is None]
        what = "  ".join(f"{name} {version}" for name, version in packages.items() if version)
        advice = f"for {_EXTRAS[extra][0]}: pip install 'seq2see[{extra}]'"
        rows.append(f"  {_mark(not missing)} {extra:<12}{advice if missing else what}")
    fonts = ", ".join(findings["fonts"]) or "none found: Korean in pictures needs the extra 'plot'"
    rows += [f"fonts with Hangul  {fonts}", "programs"]
    for name, path in findings["programs"].items():
        rows.append(f"  {_mark(path is not None)} {name:<12}{path or _PROGRAMS[name] + ': not found'}")
    return rows


def _mark(good: bool) -> str:
    return "+" if good else "-"


def _version(name: str) -> str | None:
    from importlib import metadata  # reads mail headers, which takes as long as all verbs together

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _torch(ask: Callable[[Any], Any]) -> Any:
    try:
        import torch
    except Exception as error:  # a broken installation is exactly what this verb is for
        return f"torch cannot be imported: {error}"
    return ask(torch)


def _devices(torch: Any) -> list[str]:
    known = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    return ["cpu", *(name for name, there in known.items() if there)]


def try_dtypes(names: Sequence[str]) -> dict[str, str]:
    """Matrix products in a child process; one that dies is asked again for what it had not come to."""
    results: dict[str, str] = {}
    while left := [name for name in names if name not in results]:
        try:
            ended = subprocess.run([sys.executable, "-c", _PROBE, *left], capture_output=True, text=True, timeout=120)
        except (OSError, subprocess.TimeoutExpired) as error:
            return results | {name: f"could not be tried ({type(error).__name__})" for name in left}
        results |= dict(line.split(" ", 1) for line in ended.stdout.splitlines())
        silent = [name for name in left if name not in results]
        if silent:
            signal = f"signal {-ended.returncode}" if ended.returncode < 0 else f"exit code {ended.returncode}"
            results[silent[0]] = f"ends the process ({signal}): do not use it here"
    return {name: results[name] for name in names}


def _fonts() -> list[str]:
    """Font files that are likely to hold Hangul, by their names; fontconfig knows better where it is installed."""
    if shutil.which("fc-list"):
        ended = subprocess.run(["fc-list", ":lang=ko", "family"], capture_output=True, text=True, check=False)
        return sorted({line.split(",")[0] for line in ended.stdout.splitlines() if line})[:8]
    folders = (Path("/usr/share/fonts"), Path.home() / ".fonts", Path("/System/Library/Fonts"))
    hints = ("nanum", "cjk", "gothic", "unifont", "baekmuk")
    files = (file for folder in folders if folder.is_dir() for file in folder.rglob("*.[to]t[fc]"))
    return sorted({file.stem for file in files if any(hint in file.stem.lower() for hint in hints)})[:8]


def _memory() -> float:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (ValueError, OSError, AttributeError):
        return 0.0
