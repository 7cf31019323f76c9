"""The command line, and a server as a process of its own: SIGTERM under load, kill -9, Ctrl-C twice, a port in use."""

import http.client
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psutil
import pytest
from live_server import wait_until
from typer.testing import CliRunner

from seq2see.cli import app
from seq2see.errors import ConfigError, RunError

HERE = Path(__file__).parent
ASKED = {"source": "en", "target": "es"}


@contextmanager
def server_process(*options: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A server with stand-ins, ready; the process and its address."""
    paths = os.pathsep.join([str(HERE), *sys.path])
    process = subprocess.Popen(
        [sys.executable, str(HERE / "stand_in_host.py"), *options],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        assert process.stdout.readline() == "ready\n"
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def children(process: "subprocess.Popen[str]") -> list[psutil.Process]:
    def is_worker(child: psutil.Process) -> bool:
        try:
            return "spawn_main" in " ".join(child.cmdline())
        except psutil.Error:  # it has just ended
            return False

    return [child for child in psutil.Process(process.pid).children() if is_worker(child)]


def ask_in_threads(url: str, texts: list[str]) -> tuple[list[threading.Thread], dict[str, int]]:
    statuses: dict[str, int] = {}

    def ask(text: str) -> None:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
        try:
            body = json.dumps({"q": text, **ASKED})
            connection.request("POST", "/translate", body, {"Content-Type": "application/json"})
            statuses[text] = connection.getresponse().status
        except (OSError, http.client.HTTPException):
            statuses[text] = 0
        finally:
            connection.close()

    threads = [threading.Thread(target=ask, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    return threads, statuses


def test_sigterm_under_load_answers_what_was_accepted_and_leaves_no_orphan() -> None:
    with server_process() as (process, url):
        (worker,) = children(process)
        page = httpx2.Client(trust_env=False)
        page.get(f"{url}/")  # a page that is open: its connection is kept
        texts = ["sleep 4", *(f"sleep 0.05 {number}" for number in range(9))]
        threads, statuses = ask_in_threads(url, texts)
        wait_until(lambda: "seq2see_calls 10.0" in page.get(f"{url}/metrics").text)
        start = time.monotonic()
        os.killpg(process.pid, signal.SIGTERM)  # as a supervisor does it: to every process of the service
        assert process.wait(27) == 0
        assert time.monotonic() - start < 27
        for thread in threads:
            thread.join()
        page.close()
        assert statuses == dict.fromkeys(texts, 200)
        wait_until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)
        assert process.stdout is not None
        assert process.stdout.read() == "stopped\n"


def test_a_second_ctrl_c_stops_at_once() -> None:
    with server_process() as (process, url):
        threads, _ = ask_in_threads(url, ["sleep 20"])
        with httpx2.Client(trust_env=False) as client:
            wait_until(lambda: "seq2see_calls 1.0" in client.get(f"{url}/metrics").text)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None  # it waits for what it has accepted
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait(10)
        assert time.monotonic() - start < 10
        for thread in threads:
            thread.join()


def test_kill_9_of_workers_under_load_loses_no_request() -> None:
    with server_process("--workers", "2") as (process, url):
        wait_until(lambda: len(children(process)) == 2)
        texts = [f"sleep 0.02 {number}" for number in range(100)]
        threads, statuses = ask_in_threads(url, texts)
        killed: list[int] = []
        while len(killed) < 6 and len(statuses) < 60:  # faster than they start: for a while there is none
            time.sleep(0.05)
            for worker in children(process)[:1]:
                if worker.pid not in killed:
                    killed.append(worker.pid)
                    worker.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
        assert killed
        assert statuses == dict.fromkeys(texts, 200)


def test_when_the_server_is_killed_its_workers_go() -> None:
    with server_process() as (process, _):
        (worker,) = children(process)
        process.kill()
        process.wait()
        wait_until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)


# ----- the command


def failure(*options: str) -> str:
    result = CliRunner().invoke(app, ["serve", *options])
    assert isinstance(result.exception, ConfigError | RunError), result.output
    return str(result.exception)


def test_what_is_wrong_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    assert "not a run folder" in failure(str(tmp_path / "nothing"))
    assert failure("--engine", "fast") == (
        "--engine fast: expected one of auto, torch, onnx, int8, ctranslate2, ctranslate2-int8"
    )
    assert "others could ask without a key" in failure("--host", "0.0.0.0")
    assert "no such folder" in failure("--watch", str(tmp_path / "nothing"))
    assert "keys cannot be read" in failure("--keys", str(tmp_path / "nothing"))
    assert "add it" in failure("--metrics-token", "x")


def test_without_its_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "uvicorn" else real(name))
    result = CliRunner().invoke(app, ["serve", "--port", "0"])
    assert str(result.exception) == "serve needs the extra 'serve': pip install 'seq2see[serve]'"


def test_a_port_in_use_is_one_line_and_exit_code_2() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "seq2see", "serve", "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"seq2see: 127.0.0.1:{port}: cannot be listened on (Address already in use); choose another --port\n"
    )


def test_the_http_process_imports_no_torch_and_its_framework_after_the_first_worker_began() -> None:
    script = (
        "import sys; import seq2see.cli.serve, seq2see.serve.served, seq2see.serve.configuration;"
        "import seq2see.serve.http.keys, seq2see.serve.listening, seq2see.serve.workers.worker;"
        "import seq2see.serve.workers.pool;"
        "first = {'fastapi', 'starlette', 'uvicorn', 'torch', 'numpy'} & set(sys.modules);"
        "import seq2see.serve.server; print(sorted(first), 'torch' in sys.modules)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=env)
    assert done.stdout.strip() == "[] False"


@pytest.mark.parametrize("word", ["--weblate", "--cors", "RUN", "curl -d q="])
def test_help_has_examples(word: str) -> None:
    assert word in CliRunner().invoke(app, ["serve", "--help"]).output
