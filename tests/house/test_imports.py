"""The house rules that `ast` can see: imports go one way, `import seq2see` stays light, nothing runs foreign code."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "seq2see"

# A room imports only from rooms above it in this list; within a room anything goes, but no cycle.
ROOMS = (
    "errors",
    "settings",
    "visible",
    "progress",
    "atomic",
    "caching",
    "processes",
    "cluster",
    "vocabulary",
    "masks",
    "text",
    "formats",
    "corpora",
    "data",
    "attention",
    "models",
    "search",
    "evaluate",
    "runs",
    "look",
    "training",
    "report",
    "engines",
    "speech",
    "session",
    "doors",
    "study",
    "demo",
    "learn",
    "serve",
    "cli",
)
# The front door and the entry point see the whole house; `import seq2see` is held light by a test of its own.
DOORS = {"seq2see", "seq2see.__main__"}


def module_of(path: Path, package: Path) -> str:
    """`src/seq2see/models/rnn.py` -> `seq2see.models.rnn`."""
    parts = ["seq2see", *path.relative_to(package).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def sources(package: Path = PACKAGE) -> dict[str, Path]:
    return {module_of(path, package): path for path in sorted(package.rglob("*.py"))}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(module: str, path: Path, known: set[str]) -> Iterator[tuple[str, int, bool]]:
    """Each module of the package that a file imports, its line, and whether it is imported as the file loads."""
    tree = parsed(path)
    late = {
        id(inner)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(outer, ast.If) and ast.unparse(outer.test).endswith("TYPE_CHECKING"))
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
                base = ".".join([*above[: len(above) - node.level + 1], *([node.module] if node.module else [])])
            inside = [f"{base}.{alias.name}" for alias in node.names]
            names = [name if name in known else base for name in inside]
        for name in names:
            if name == "seq2see" or name.startswith("seq2see."):
                yield name, getattr(node, "lineno", 0), id(node) not in late


def room_of(module: str) -> str:
    return module.split(".")[1]


def wrong_ways(package: Path = PACKAGE) -> list[str]:
    """Imports from a room that is not above, and rooms that the list does not know."""
    known = sources(package)
    complaints = []
    for module, path in known.items():
        if module in DOORS:
            continue
        if room_of(module) not in ROOMS:
            complaints.append(f"{module}: the room '{room_of(module)}' is not in the list")
            continue
        for target, line, _ in imports_of(module, path, set(known)):
            if target == "seq2see":  # the version, or a name that is no module
                continue
            if room_of(target) not in ROOMS:
                complaints.append(f"{module}:{line} imports {target}, which is no room")
            elif ROOMS.index(room_of(target)) > ROOMS.index(room_of(module)):
                complaints.append(f"{module}:{line} imports {target}, a room below it")
    return complaints


def cycle(package: Path = PACKAGE) -> list[str]:
    """Modules that import each other in a ring as they load, or nothing.

    A package's own `__init__` that gathers its modules is no ring: modules name each other in full.
    """
    known = sources(package)
    graph = {
        module: {
            target
            for target, _, at_once in imports_of(module, path, set(known))
            if at_once and target != module and target in known
        }
        for module, path in known.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def dangers(tree: ast.AST) -> list[str]:
    """What can run foreign code: pickle, torch.load, yaml.load, eval, exec, a shell."""
    found = []
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            found += [f"{line}: imports {name}" for name in modules if name.split(".")[0] in UNSAFE_MODULES]
            if isinstance(node, ast.ImportFrom) and node.module in ("torch", "yaml"):
                found += [f"{line}: imports {node.module}.load" for alias in node.names if alias.name == "load"]
        elif isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in UNSAFE_CALLS:
                found.append(f"{line}: calls {name}")
            for keyword in node.keywords:
                if keyword.arg == "shell" and ast.unparse(keyword.value) != "False":
                    found.append(f"{line}: shell={ast.unparse(keyword.value)}")
    return found


UNSAFE_MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
UNSAFE_CALLS = {
    "torch.load",
    "yaml.load",
    "yaml.unsafe_load",
    "yaml.full_load",
    "eval",
    "exec",
    "os.system",
    "os.popen",
}
UNSAFE_CALLS |= {"builtins.eval", "builtins.exec"}


def public_classes(package: Path = PACKAGE) -> dict[str, list[str]]:
    """Each public class name of the package, and the modules that define it."""
    places: dict[str, list[str]] = {}
    for module, path in sources(package).items():
        for node in parsed(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(module)
    return places


def test_no_public_class_name_exists_twice() -> None:
    twice = {name: modules for name, modules in public_classes().items() if len(modules) > 1}
    assert not twice, "one name, one idea"


def test_rooms_import_only_from_rooms_above_them() -> None:
    assert wrong_ways() == []


def test_no_modules_import_each_other_in_a_ring() -> None:
    assert cycle() == []


def test_nothing_in_the_package_can_run_foreign_code() -> None:
    found = [f"{path.relative_to(PACKAGE)}:{danger}" for path in sources().values() for danger in dangers(parsed(path))]
    assert found == []


@pytest.mark.parametrize("statement", ["import seq2see", "from seq2see import errors"])
def test_the_front_door_imports_no_torch(statement: str) -> None:
    script = f"import sys; {statement}; print(sorted({{'torch', 'numpy', 'pydantic'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.strip() == "[]"


# The rules themselves, on small houses with one fault each.


def build_house(root: Path, files: dict[str, str]) -> Path:
    package = root / "seq2see"
    for name, text in {"__init__.py": "", **files}.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return package


@pytest.mark.parametrize(
    "line",
    [
        "from seq2see.models.rnn import Rnn",
        "from seq2see.models import rnn",
        "from seq2see import models",
        "import seq2see.models.rnn as rnn",
        "from ..models import rnn",
        "def late():\n    from seq2see.models import rnn",
    ],
)
def test_an_import_from_a_lower_room_is_seen(tmp_path: Path, line: str) -> None:
    files = {"models/__init__.py": "", "models/rnn.py": "", "attention/__init__.py": "", "attention/scores.py": line}
    assert len(wrong_ways(build_house(tmp_path, files))) == 1


def test_an_unknown_room_is_seen(tmp_path: Path) -> None:
    assert wrong_ways(build_house(tmp_path, {"helpers.py": ""})) == [
        "seq2see.helpers: the room 'helpers' is not in the list"
    ]


def test_a_ring_is_seen_and_a_late_import_is_none(tmp_path: Path) -> None:
    ring = {"text/__init__.py": "", "text/a.py": "from seq2see.text import b", "text/b.py": "from . import a"}
    assert set(cycle(build_house(tmp_path / "ring", ring))) == {"seq2see.text.a", "seq2see.text.b"}
    late = ring | {"text/b.py": "def f():\n    from . import a"}
    assert cycle(build_house(tmp_path / "late", late)) == []


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "torch.load(path)",
        "from torch import load",
        "yaml.load(text)",
        "eval(text)",
        "exec(text)",
        "subprocess.run(text, shell=True)",
    ],
)
def test_a_danger_is_seen(line: str) -> None:
    assert len(dangers(ast.parse(line))) == 1


@pytest.mark.parametrize("line", ["model.eval()", "json.load(file)", "safetensors.torch.load_file(path)", "'eval(x)'"])
def test_what_only_looks_dangerous_is_let_through(line: str) -> None:
    assert dangers(ast.parse(line)) == []
