"""The package asks for what something uses, and for nothing else."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# Used without being imported: make test's -n 2; what pyworld looks for when it is imported; the parser of forms that
# starlette looks for.
BY_OTHERS = {"pytest-xdist", "setuptools", "python-multipart"}


def name_of(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    assert match is not None
    return match[0]


def words_of_the_code() -> set[str]:
    files = [file for folder in ("src", "tests", "bench") for file in (ROOT / folder).rglob("*.py")]
    code = "\n".join(file.read_text(encoding="utf-8") for file in files if file != Path(__file__))
    return set(re.findall(r"(?:import |from |importorskip\(\"|\(\")([a-z]\w*)", code)) | set(
        re.findall(r"\w+", MAKEFILE)
    )


@pytest.fixture(scope="module")
def used() -> set[str]:
    return words_of_the_code()


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_something_uses_every_dependency(extra: str, used: set[str]) -> None:
    names = {name_of(requirement) for requirement in (EXTRAS[extra] if extra else PROJECT["dependencies"])}
    assert {name for name in names - BY_OTHERS if name.replace("-", "_") not in used} == set()


def test_make_install_installs_every_extra() -> None:
    listed = re.search(r"-e '\.\[(.*)\]'", MAKEFILE)
    assert listed is not None
    assert set(listed[1].split(",")) == set(EXTRAS)


def test_the_constraints_name_what_the_package_asks_for() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.split("==")[0] for line in lines if not line.startswith("#")}
    asked = {name_of(requirement) for group in (PROJECT["dependencies"], *EXTRAS.values()) for requirement in group}
    assert pinned - asked == set(), "in constraints.txt, but nothing asks for it"
    assert asked - pinned == set(), "without a version in constraints.txt"


def test_a_package_that_nothing_imports_is_seen(used: set[str]) -> None:
    assert "matplotlib" in used
    assert "a_package_that_nothing_imports" not in used
