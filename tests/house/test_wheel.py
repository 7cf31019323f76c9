"""A wheel from a clean clone, installed alone in a fresh environment, runs the demo and draws maps.

An editable install hides files that are not in git or not in the wheel: here there is no source tree to fall back on.
"""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SENTENCE = "우리는 복숭아를 샀습니다 ."


def run(*command: str | Path, cwd: Path) -> str:
    """Without this process's PYTHONPATH, which would find the source tree."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"OMP_NUM_THREADS": "1", "NO_COLOR": "1", "MPLCONFIGDIR": str(cwd / "fonts")}
    words = [str(word) for word in command]
    ended = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, text=True, timeout=3600)
    assert ended.returncode == 0, f"{' '.join(words)}\n{ended.stdout[-2000:]}\n{ended.stderr[-4000:]}"
    assert "Traceback" not in ended.stderr, ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run("git", "clone", "--quiet", ROOT, folder / "clone", cwd=folder)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, folder / "clone", cwd=folder)
    (built,) = folder.glob("seq2see-*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with python and seq2see: torch first and alone, then the wheel with the extra `plot`."""
    folder = tmp_path_factory.mktemp("fresh")
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / "bin"
    pip = (programs / "python", "-m", "pip", "install", "--quiet", "-c", wheel.parent / "clone" / "constraints.txt")
    run(*pip, "torch", cwd=folder)
    run(*pip, f"{wheel}[plot]", cwd=folder)
    return programs


@pytest.mark.slow
def test_the_wheel_alone_runs_the_demo_and_draws_maps(environment: Path, tmp_path: Path) -> None:
    where = run(environment / "python", "-c", "import seq2see; print(seq2see.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(environment.parent)

    shown = run(environment / "seq2see", "demo", "--seconds", "10", "--pairs", "2000", "--out", "demo", cwd=tmp_path)
    assert "With and without attention" in shown
    assert "What rnnsearch looked at" in shown
    assert (tmp_path / "demo" / "report.html").stat().st_size > 10_000

    for name, begin in (("map.svg", b"<?xml"), ("map.png", b"\x89PNG"), ("map.html", b"<!doctype html>")):
        run(environment / "seq2see", "look", "demo/rnnsearch", SENTENCE, "-o", name, cwd=tmp_path)
        assert (tmp_path / name).read_bytes()[: len(begin)].lower() == begin.lower()


@pytest.mark.slow
def test_nothing_of_the_package_is_missing_from_the_wheel(environment: Path, tmp_path: Path) -> None:
    """Every file below src/seq2see that git knows: modules, py.typed, scripts of the pages."""
    listed = subprocess.run(["git", "ls-files", "src/seq2see"], cwd=ROOT, capture_output=True, text=True, check=True)
    known = {str(Path(line).relative_to("src")) for line in listed.stdout.splitlines()}
    code = "import seq2see, pathlib; print(pathlib.Path(seq2see.__file__).parents[1])"
    packages = Path(run(environment / "python", "-c", code, cwd=tmp_path).strip())
    assert {name for name in known if not (packages / name).is_file()} == set()
