"""How quick the server is, and what it does when there is too much to do. Talks to a server of its own on this machine.

    python bench/serve.py runs/demo/rnnsearch                   every row, some two minutes
    python bench/serve.py runs/demo/rnnsearch --overload 600    three times too much for ten minutes
    python bench/serve.py runs/demo/rnnsearch --rows start single --engine int8

The load comes from `wrk` (Debian's package), which costs next to nothing beside a server on the same cores; what is
timed under overload are a few requests a second from here. No text is asked again while its answer could still be in
the cache. Times are of the wall clock: other programs on the machine are in them, and the load is printed for that
reason.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil

from seq2see.corpora import examples
from seq2see.serve.workers.pool import MOST_CALLS

ROWS = ("start", "single", "clients", "overload", "stop")
SCRIPT = Path(__file__).with_name("serve.lua")
CLIENTS = 32
OVERLOAD_CLIENTS = MOST_CALLS + 1024  # so many that their waits, not the answers, say how often they ask
PROBES = 8  # clients of which each answer is timed
MOST_SECONDS = 900  # of one row


@dataclass
class Answers:
    """Status and seconds of each answer, by path."""

    times: dict[int, list[float]] = field(default_factory=dict)

    def add(self, status: int, seconds: float) -> None:
        self.times.setdefault(status, []).append(seconds)

    def count(self, status: int) -> int:
        return len(self.times.get(status, ()))


class Connection:
    """One kept connection to 127.0.0.1: the plainest HTTP/1.1."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        head = f"{'GET' if body is None else 'POST'} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        for attempt in (1, 2):
            reader, writer = self.streams or await asyncio.open_connection("127.0.0.1", self.port)
            kept, self.streams = self.streams is not None, (reader, writer)
            try:
                writer.write(head.encode() + b"\r\n" + (body or b""))
                return await self._answer(reader)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                if attempt == 2 or not kept:  # one that was kept may have been closed meanwhile
                    raise
        raise AssertionError

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[int, bytes]:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next(int(line.split(":")[1]) for line in head.splitlines() if line.startswith("content-length:"))
        body = await reader.readexactly(length)
        if "connection: close" in head:
            self.close()
        return int(head.split()[1]), body

    def close(self) -> None:
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None


@dataclass
class Server:
    process: "subprocess.Popen[bytes]"
    port: int
    seconds: float  # from the command to /ready

    def memories(self) -> list[float]:
        """MB of the HTTP process and of each worker."""
        parent = psutil.Process(self.process.pid)
        workers = [child for child in parent.children() if "spawn_main" in " ".join(child.cmdline())]
        processes = (parent, *sorted(workers, key=lambda child: child.pid))
        return [process.memory_info().rss / 2**20 for process in processes]

    def cpu(self) -> float:
        """Seconds of a core that the HTTP process has used, without the model processes."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)


@asynccontextmanager
async def serving(run: Path, engine: str, workers: int, *more: str) -> AsyncIterator[Server]:
    port = free_port()
    command = ["serve", f"{run}@ko-en", "--port", str(port), "--engine", engine, "--workers", str(workers), "--metrics"]
    command += more
    start, ready = time.monotonic(), 0.0
    process = subprocess.Popen([sys.executable, "-m", "seq2see", *command], stderr=subprocess.DEVNULL)
    try:
        connection = Connection(port)
        while time.monotonic() - start < 120:
            try:
                status, answer = await connection.ask("/ready")
                ready = ready or (time.monotonic() - start if status == 200 else 0.0)
                if json.loads(answer)["workers"] == workers:
                    break
            except OSError:
                pass
            await asyncio.sleep(0.02)
        connection.close()
        yield Server(process, port, ready)
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as opened:
        return int(opened.getsockname()[1])


def body_of(text: str) -> bytes:
    return json.dumps({"q": text, "source": "ko", "target": "en"}, ensure_ascii=False).encode()


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def ms(values: list[float]) -> str:
    return f"p50 {1000 * percentile(values, 0.5):.0f} ms, p99 {1000 * percentile(values, 0.99):.0f} ms"


def say(row: str, text: str) -> None:
    print(f"{row:<46}{text}   (load {os.getloadavg()[0]:.1f})", flush=True)


# ----- the rows


async def measure_start(options: argparse.Namespace, texts: Iterator[str]) -> None:
    helps = []
    for _ in range(3):
        start = time.monotonic()
        subprocess.run([sys.executable, "-m", "seq2see", "serve", "--help"], check=True, stdout=subprocess.DEVNULL)
        helps.append(time.monotonic() - start)
    say("seq2see serve --help", f"{median(helps):.2f} s")
    async with serving(options.run, options.engine, options.workers) as server:
        pass  # makes the graphs of an engine, once
    async with serving(options.run, options.engine, options.workers) as server:
        say("start to /ready", f"{server.seconds:.1f} s")
        say("memory of all processes when ready", f"{sum(server.memories()):.0f} MB")


async def measure_single(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """One sentence after the other, with a server and without."""
    twelve = [text for text in (next(texts) for _ in range(5000)) if len(text.split()) in (7, 8, 9)][: options.count]
    alone = await asyncio.to_thread(in_python, options, twelve)
    async with serving(options.run, options.engine, options.workers) as server:
        connection, times, health = Connection(server.port), [], []
        cpu = server.cpu()
        for text in twelve:
            start = time.monotonic()
            status, _ = await connection.ask("/translate", body_of(text))
            times.append(time.monotonic() - start)
            assert status == 200
            start = time.monotonic()
            await connection.ask("/health")
            health.append(time.monotonic() - start)
        cpu = (server.cpu() - cpu) / len(twelve)
        connection.close()
    say("one sentence of 7-9 Korean words", ms(times))
    say("the same in Python, without a server", ms(alone))
    over = [with_ - without for with_, without in zip(times, alone, strict=True)]
    say("HTTP and queue on top", ms(over))
    say("CPU of the HTTP process, both requests", f"{1000 * cpu:.1f} ms a sentence")
    say("/health", ms(health))


def in_python(options: argparse.Namespace, texts: list[str]) -> list[float]:
    import torch

    from seq2see.session import load

    torch.set_num_threads(1)
    translator = load(options.run, engine=options.engine)
    translator.translate(texts[0])
    times = []
    for text in texts:
        start = time.monotonic()
        translator.translate(text)
        times.append(time.monotonic() - start)
    return times


async def measure_clients(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """Single sentences: one client, then many, then a file of such sentences by `seq2see translate`."""
    with tempfile.TemporaryDirectory() as folder:
        bodies = write_bodies(Path(folder))
        async with serving(options.run, options.engine, options.workers) as server:
            one = await wrk(server, bodies, 1, options.seconds)
        rates = {}
        for clients in (CLIENTS, 4 * CLIENTS):
            async with serving(options.run, options.engine, options.workers) as server:
                before = server.cpu()
                rates[clients] = await wrk(server, bodies, clients, options.seconds)
                cpu = (server.cpu() - before) / rates[clients] / options.seconds
    many = rates[CLIENTS]
    file = await asyncio.to_thread(file_rate, options, [next(texts) for _ in range(int(10 * many))])
    say("one client", f"{one:.0f} sentences/s")
    say(f"{CLIENTS} clients, {options.workers} workers", f"{many:.0f} sentences/s, {many / one:.1f} x one by one")
    say("translate_bulk in as many processes", f"{file:.0f} sentences/s")
    for clients, rate in rates.items():
        say(f"of that, {clients} clients reach", f"{100 * rate / file:.0f} %")
    say("CPU of the HTTP process", f"{1000 * cpu:.2f} ms a sentence")


def write_bodies(folder: Path) -> Path:
    """A request a line, far more of them than the cache holds answers."""
    path = folder / "bodies.jsonl"
    path.write_bytes(b"".join(body_of(text) + b"\n" for text in sentences()))
    return path


@asynccontextmanager
async def loading(
    server: Server, bodies: Path, clients: int, seconds: float, wait: int = 0
) -> AsyncIterator["asyncio.subprocess.Process"]:
    """wrk at work. wait: milliseconds between two requests of a client, on average."""
    command = ["wrk", "-t1", f"-c{clients}", f"-d{seconds:.0f}s", "--timeout", "30s", "-s", str(SCRIPT)]
    command += [f"http://127.0.0.1:{server.port}", "--", str(bodies)]
    pipe, environment = asyncio.subprocess.PIPE, os.environ | {"WAIT": str(wait)}
    process = await asyncio.create_subprocess_exec(*command, stdout=pipe, env=environment)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def statuses_of(process: "asyncio.subprocess.Process") -> tuple[Counter[str], float]:
    """How many answers had which status, "broken" for connections; and the seconds."""
    output, _ = await process.communicate()
    told = json.loads(output.decode().strip().splitlines()[-1])
    return Counter(told["statuses"]) + Counter(broken=told["broken"]), told["seconds"]


async def wrk(server: Server, bodies: Path, clients: int, seconds: float) -> float:
    """Translations a second."""
    async with loading(server, bodies, clients, seconds) as process:
        statuses, took = await statuses_of(process)
    assert set(statuses) <= {"200"}, statuses
    return statuses["200"] / took


def file_rate(options: argparse.Namespace, sentences: list[str]) -> float:
    """Without the seconds in which its processes start: the difference between all sentences and a few."""
    from seq2see.session.bulk import translate_bulk
    from seq2see.session.translation import Request
    from seq2see.session.translator import DEFAULT

    engine = options.engine

    def seconds(texts: list[str]) -> float:
        start = time.monotonic()
        requests = (Request(text, number=number) for number, text in enumerate(texts))
        for _ in translate_bulk([options.run], requests, DEFAULT, workers=options.workers, engine=engine, chunk=256):
            pass
        return time.monotonic() - start

    few = sentences[: options.workers]
    return (len(sentences) - len(few)) / max(1e-3, seconds(sentences) - seconds(few))


async def measure_overload(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """Three times what it can do. wrk's clients wait for their answers: so many of them are there that those which are
    refused ask that often. Beside them: some sentences a second of which each is timed, and /health ten times."""
    with tempfile.TemporaryDirectory() as folder:
        bodies = write_bodies(Path(folder))
        async with serving(options.run, options.engine, options.workers) as server:
            capacity = await wrk(server, bodies, 4 * CLIENTS, options.seconds)
            wait = int(1000 * (OVERLOAD_CLIENTS - MOST_CALLS) / (3 * capacity))
            answers, health = Answers(), []
            before = server.memories()
            async with loading(server, bodies, OVERLOAD_CLIENTS, options.overload, wait) as process:
                until = time.monotonic() + options.overload - 1
                probes = [probe(server, texts, answers, until) for _ in range(PROBES)]
                await asyncio.gather(probe_health(server, health, until), *probes)
                statuses, took = await statuses_of(process)
            after, cache = server.memories(), await gauge(server, "seq2see_cache_bytes")
    asked = sum(statuses.values())
    say("capacity", f"{capacity:.0f} sentences/s; asked for {asked / took:.0f} a second, {took:.0f} s long")
    say("    answers to wrk", ", ".join(f"{count} of {status}" for status, count in sorted(statuses.items())))
    for status, times in sorted(answers.times.items()):
        say(f"    {status}, those that were timed", f"{len(times)} answers, {ms(times)}")
    say("/health meanwhile", f"{len(health)} answers, {ms(health)}")
    grown = ", ".join(f"{now - then:+.0f}" for then, now in zip(before, after, strict=True))
    say("growth, HTTP process and each worker, in MB", f"{grown}; of it cache {cache / 2**20:.0f}")


async def probe(server: Server, texts: Iterator[str], answers: Answers, until: float) -> None:
    connection = Connection(server.port)
    while time.monotonic() < until:
        began = time.monotonic()
        try:
            status, _ = await connection.ask("/translate", body_of(next(texts)))
        except (OSError, asyncio.IncompleteReadError):
            status = 0
        answers.add(status, time.monotonic() - began)
        await asyncio.sleep(0.5)
    connection.close()


async def probe_health(server: Server, health: list[float], until: float) -> None:
    connection = Connection(server.port)
    while time.monotonic() < until:
        began = time.monotonic()
        await connection.ask("/health")
        health.append(time.monotonic() - began)
        await asyncio.sleep(0.1)
    connection.close()


async def gauge(server: Server, name: str) -> float:
    """A figure of /metrics."""
    connection = Connection(server.port)
    _, text = await connection.ask("/metrics")
    connection.close()
    return float(next(line.split()[1] for line in text.decode().splitlines() if line.startswith(f"{name} ")))


async def measure_stop(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """SIGTERM with work under way: everything accepted is answered, and the process ends."""
    lost, ends = 0, []
    for _ in range(options.stops):
        async with serving(options.run, options.engine, options.workers) as server:
            connections = [Connection(server.port) for _ in range(CLIENTS)]
            asked = [
                asyncio.create_task(connection.ask("/translate", body_of(next(texts)))) for connection in connections
            ]
            watching = Connection(server.port)
            while b"seq2see_calls 32.0" not in (await watching.ask("/metrics"))[1]:  # until it has taken all of them
                if sum(task.done() for task in asked) > CLIENTS // 2:
                    break
            watching.close()
            start = time.monotonic()
            server.process.send_signal(signal.SIGTERM)
            answers = await asyncio.gather(*asked, return_exceptions=True)
            lost += sum(1 for answer in answers if isinstance(answer, BaseException) or answer[0] != 200)
            code = await asyncio.to_thread(server.process.wait, 30)
            ends.append(time.monotonic() - start)
            assert code == 0
            for connection in connections:
                connection.close()
    asked_in_all = options.stops * CLIENTS
    say(
        f"SIGTERM under load, {options.stops} times",
        f"{lost} of {asked_in_all} requests lost, ended after {max(ends):.1f} s at most",
    )
    async with serving(options.run, options.engine, options.workers) as server:
        connection = Connection(server.port)
        await connection.ask("/")
        start = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(server.process.wait, 30)
        say("SIGTERM when idle, a page open", f"ended after {time.monotonic() - start:.1f} s")
        connection.close()


def sentences() -> Iterator[str]:
    """No two alike."""
    seen: set[str] = set()
    for example in examples("phrases-basic", "train", limit=60_000):
        if example.source not in seen:
            seen.add(example.source)
            yield example.source


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--count", type=int, default=200, help="sentences of one measurement")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement with wrk")
    parser.add_argument("--overload", type=float, default=10.0, help="seconds")
    parser.add_argument("--stops", type=int, default=3)
    options = parser.parse_args()
    if not 0 < options.overload <= MOST_SECONDS:
        parser.error(f"--overload: up to {MOST_SECONDS} seconds")
    measures: dict[str, Callable[[argparse.Namespace, Iterator[str]], object]] = {
        "start": measure_start,
        "single": measure_single,
        "clients": measure_clients,
        "overload": measure_overload,
        "stop": measure_stop,
    }
    texts = sentences()
    for row in options.rows:
        asyncio.run(measures[row](options, texts))  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
