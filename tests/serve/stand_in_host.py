"""What stands in for models where models are not the point: it says everything in capital letters, and obeys.

die        the process ends, as if it had been killed         fail       a mistake of ours
sleep 0.5  so many seconds, or until it is cancelled           refuse     what a person could put right
"""

import argparse
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from seq2see.errors import ConfigError
from seq2see.serve.api.requests import SearchOptions, ServedRun, TextJob

KO_EN = ServedRun("ko-en", Path("/nowhere/ko-en"), "ko", "en", "text")
EN_ES = ServedRun("en-es", Path("/nowhere/en-es"), "en", "es", "text")


class UpperCase:
    """A ModelHost. `log`: a file that gets a line for each batch."""

    def __init__(self, runs: Sequence[ServedRun], log: Path | None = None, loading: float = 0.0) -> None:
        time.sleep(loading)
        self.runs, self.log = runs, log

    def describe(self) -> list[dict[str, Any]]:
        return [{"name": run.name, "kind": run.kind, "source": run.source, "target": run.target} for run in self.runs]

    def translate(
        self, run: str, jobs: Sequence[TextJob], search: SearchOptions, cancelled: Callable[[], bool] | None = None
    ) -> list[dict[str, Any]]:
        self._write(" | ".join(job.text for job in jobs))
        return [self._translated(job, search, cancelled) for job in jobs]

    def _translated(self, job: TextJob, search: SearchOptions, cancelled: Callable[[], bool] | None) -> dict[str, Any]:
        obey(job.text, cancelled)
        text = job.text.upper()
        others = [{"text": text}, {"text": text}, *({"text": f"{text} {number}"} for number in range(1, 10))]
        return {"text": text} | ({"nbest": others[: search.nbest]} if search.nbest else {})

    def answer(self, request: Any) -> dict[str, Any]:
        text = getattr(request, "text", "")
        self._write(f"question {text}")
        obey(text, None)
        return {"text": text.upper()}

    def _write(self, line: str) -> None:
        if self.log is not None:
            with self.log.open("a") as file:
                file.write(line + "\n")


def obey(text: str, cancelled: Callable[[], bool] | None) -> None:
    match text.split():
        case ["die", *_]:
            os._exit(9)
        case ["fail", *_]:
            raise ZeroDivisionError("on purpose")
        case ["refuse", *_]:
            raise ConfigError("this one cannot be done")
        case ["sleep", seconds, *_]:
            until = time.monotonic() + float(seconds)
            while time.monotonic() < until:
                if cancelled is not None and cancelled():
                    raise InterruptedError("cancelled")
                time.sleep(0.005)


def make_host(runs: tuple[ServedRun, ...], log: Path | None = None, loading: float = 0.0) -> UpperCase:
    return UpperCase(runs, log, loading)


def broken_host() -> UpperCase:
    raise ConfigError("runs/ko-en: damaged")


def main() -> None:
    """A server of its own with stand-ins: for signals, which only a process of its own can get."""
    from seq2see.serve.configuration import ServerConfig
    from seq2see.serve.listening import bind
    from seq2see.serve.server import run_server
    from seq2see.serve.workers.pool import Pool

    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--loading", type=float, default=0.0)
    chosen = parser.parse_args()
    opened = bind("127.0.0.1", 0)
    config = replace(ServerConfig((KO_EN, EN_ES), metrics=True), port=opened.getsockname()[1])
    pool = Pool(partial(make_host, config.runs, None, chosen.loading), chosen.workers)
    print(config.port, flush=True)
    run_server(config, pool, opened, lambda: print("ready", flush=True))
    print("stopped", flush=True)


if __name__ == "__main__":
    import stand_in_host  # by its name, so that model processes can import it too

    stand_in_host.main()
