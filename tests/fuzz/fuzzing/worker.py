"""The child process: makes inputs, runs readers on them under guard, says what came of each.

python worker.py FOLDER DESCRIPTOR       requests on stdin, answers on the descriptor, both as lines of JSON
{"target": "po", "seeds": [1, 2]}        an answer for each; "seconds" sets another limit
{"target": "po", "save": 1, "into": ...} only writes the input
{"target": "po", "input": FOLDER}        runs an input that was saved
"""

import faulthandler
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzzing.guard import HEAVY, LIGHT, MOST_MEMORY, Guard, Peak, TimeLimitError
from fuzzing.mutation import is_heavy, make_input
from fuzzing.target import BrokenPromiseError, Files, Target, written
from seq2see.errors import Seq2SeeError


class Worker:
    def __init__(self, base: Path) -> None:
        self.base = base
        self.input, self.output = base / "input", base / "output"
        self.guard = Guard((self.input, self.output, base / "tmp"))
        self._seeds: dict[str, Sequence[Files]] = {}

    def seeds(self, target: Target) -> Sequence[Files]:
        """Made once; each has to be accepted, which also imports whatever a reader imports when it is first used."""
        if target.name not in self._seeds:
            made = target.seeds()
            for files in made:
                self._fresh(files)
                target.exercise(self.input, self.output)
            self._seeds[target.name] = made
        return self._seeds[target.name]

    def run(self, target: Target, seed: int, seconds: float | None) -> dict[str, Any]:
        files = make_input(target, self.seeds(target), seed)
        self._fresh(files)
        return {"seed": seed, **self._judged(target, seconds or (HEAVY if is_heavy(seed) else LIGHT))}

    def run_saved(self, target: Target, folder: Path) -> dict[str, Any]:
        self.seeds(target)
        self._fresh({})
        shutil.copytree(folder, self.input, symlinks=True, dirs_exist_ok=True)
        return {"seed": None, **self._judged(target, HEAVY)}

    def save(self, target: Target, seed: int, folder: Path) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        written(make_input(target, self.seeds(target), seed), folder)

    def _fresh(self, files: Files) -> None:
        for folder in (self.input, self.output):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        written(files, self.input)

    def _judged(self, target: Target, seconds: float) -> dict[str, Any]:
        before, beside = self._listing(), self._beside()
        memory, began = Peak(), time.process_time()
        kind, error, where = "accepted", "", ""
        try:
            with self.guard.watching(seconds):
                target.exercise(self.input, self.output)
        except Seq2SeeError as refusal:
            kind, error, where = "refused", *_shown(refusal)
            if problem := _unprintable(str(refusal)):
                kind, error = "message", f"{problem}: {error}"
        except TimeLimitError as limit:
            kind, error, where = "time", str(limit), _shown(limit)[1]
        except MemoryError as exhausted:
            kind, error, where = "memory", *_shown(exhausted)
        except BrokenPromiseError as broken:
            kind, error, where = "promise", *_shown(broken)
        except BaseException as escaped:
            kind, error, where = "exception", *_shown(escaped)
            if target.tolerant and isinstance(escaped, Exception):
                kind = "refused"
        spent, peak = time.process_time() - began, memory.bytes()
        if kind in ("accepted", "refused", "message"):
            if peak > MOST_MEMORY:
                kind, error = "memory", f"{peak >> 20} MB; {error}"
            if not target.writes and self._listing() != before:
                kind, error = "files", f"the folder of the input has changed; {error}"
            if kind == "refused" and any(self.output.iterdir()):
                kind, error = "files", f"left {sorted(path.name for path in self.output.iterdir())[:3]} behind; {error}"
        if self._beside() != beside:
            kind, error = "files", f"made {sorted(self._beside() - beside)[:3]}"
        if self.guard.violations:
            kind, error = "forbidden", "; ".join(self.guard.violations[:3])
        return {"kind": kind, "error": error[:500], "where": where, "seconds": spent, "bytes": peak}

    def _listing(self) -> list[tuple[str, int, int]]:
        """Names, sizes and times: enough to see that a file was changed."""
        return sorted((str(path), (stat := path.lstat()).st_size, stat.st_mtime_ns) for path in self.input.rglob("*"))

    def _beside(self) -> set[str]:
        """What stands beside the folders that readers may write to, and in the working directory."""
        return {str(path) for folder in (self.base, Path.cwd()) for path in folder.iterdir()}


def _shown(error: BaseException) -> tuple[str, str]:
    """What was raised, and the last place in the package that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}seq2see{os.sep}" in frame.filename] or frames
    where = f"{Path(*Path(ours[-1].filename).parts[-2:])}:{ours[-1].lineno} in {ours[-1].name}" if ours else ""
    text = str(error).encode(errors="backslashreplace").decode()
    return f"{type(error).__name__}: {text}", where


def _unprintable(message: str) -> str:
    """A refusal is one line that any terminal can show."""
    if not message.isascii() and any("\ud800" <= letter <= "\udfff" for letter in message):
        return "half a surrogate pair in the message"
    if any(letter < " " or "\x7f" <= letter < "\xa0" for letter in message):
        return "a line break or a control character in the message"
    return "a message of more than 2,000 letters" if len(message) > 2000 else ""


def main() -> None:
    from fuzzing.catalogue import find

    base, answers = Path(sys.argv[1]), os.fdopen(int(sys.argv[2]), "w", buffering=1)
    (base / "cwd").mkdir(exist_ok=True)
    (base / "tmp").mkdir(exist_ok=True)
    os.chdir(base / "cwd")
    faulthandler.enable()
    worker = Worker(base)
    for line in sys.stdin:
        request = json.loads(line)
        target = find(request["target"])
        if "save" in request:
            worker.save(target, request["save"], Path(request["into"]))
            answers.write("{}\n")
        elif "input" in request:
            answers.write(json.dumps(worker.run_saved(target, Path(request["input"]))) + "\n")
        else:
            worker.seeds(target)
            answers.write("{}\n")  # the seeds are made, from here on the clock counts
            for seed in request["seeds"]:
                answers.write(json.dumps(worker.run(target, seed, request.get("seconds"))) + "\n")


if __name__ == "__main__":
    main()
