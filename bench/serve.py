"""How quick the server is, and what it does when there is too much to do. Talks to a server of its own on this machine.

    python bench/serve.py runs/demo/rnnsearch                   every row, some two minutes
    python bench/serve.py runs/demo/rnnsearch --overload 600    three times too much for ten minutes
    python bench/serve.py runs/demo/rnnsearch --rows start single --engine int8

No text is asked twice, so the cache answers nothing. Times are of the wall clock: other programs on the machine are in
them, and the load is printed for that reason.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psutil

from seq2see.corpora import examples

ROWS = ("start", "single", "clients", "overload", "stop")
CLIENTS = 32
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

    def memory(self) -> float:
        """MB of all its processes."""
        parent = psutil.Process(self.process.pid)
        return sum(child.memory_info().rss for child in (parent, *parent.children())) / 2**20

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
        say("memory of all processes when ready", f"{server.memory():.0f} MB")


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
    """Single sentences: one client, then many, then the same number of sentences by `seq2see translate`."""
    count = 4 * options.count
    async with serving(options.run, options.engine, options.workers) as server:
        one = await rate_of(server, [next(texts) for _ in range(options.count)], 1)
        sentences = [next(texts) for _ in range(count)]
        cpu = server.cpu()
        many = await rate_of(server, sentences, CLIENTS)
        cpu = (server.cpu() - cpu) / len(sentences)
    file = await asyncio.to_thread(file_rate, options, sentences)
    say("one client", f"{one:.0f} sentences/s")
    say(f"{CLIENTS} clients, {options.workers} workers", f"{many:.0f} sentences/s, {many / one:.1f} x one by one")
    say("CPU of the HTTP process", f"{1000 * cpu:.1f} ms a sentence")
    say("translate_bulk in as many processes", f"{file:.0f} sentences/s; the server reaches {100 * many / file:.0f} %")


async def rate_of(server: Server, sentences: list[str], clients: int) -> float:
    remaining, start = iter(sentences), time.monotonic()

    async def client() -> None:
        connection = Connection(server.port)
        for text in remaining:
            while (await connection.ask("/translate", body_of(text)))[0] == 429:
                await asyncio.sleep(0.2)
        connection.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    return len(sentences) / (time.monotonic() - start)


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
    """Three times what it can do, for some seconds, each request by a connection of its own pool."""
    async with serving(options.run, options.engine, options.workers) as server:
        capacity = await rate_of(server, [next(texts) for _ in range(2 * options.count)], CLIENTS)
        before, answers, health = server.memory(), Answers(), []
        idle: list[Connection] = []
        tasks: set[asyncio.Task[None]] = set()
        start = time.monotonic()

        async def ask(text: str) -> None:
            connection = idle.pop() if idle else Connection(server.port)
            began = time.monotonic()
            try:
                status, _ = await connection.ask("/translate", body_of(text))
            except (OSError, asyncio.IncompleteReadError):
                status = 0
            answers.add(status, time.monotonic() - began)
            idle.append(connection)

        async def watch() -> None:
            connection = Connection(server.port)
            while time.monotonic() - start < options.overload:
                began = time.monotonic()
                await connection.ask("/health")
                health.append(time.monotonic() - began)
                await asyncio.sleep(0.1)
            connection.close()

        watching = asyncio.create_task(watch())
        sent = 0
        while (passed := time.monotonic() - start) < options.overload:
            while sent < 3 * capacity * passed:
                sent += 1
                task = asyncio.create_task(ask(next(texts)))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await asyncio.sleep(0.01)
        await asyncio.gather(watching, *tasks)
        growth = server.memory() - before
        for connection in idle:
            connection.close()
    say("capacity", f"{capacity:.0f} sentences/s; asked for {3 * capacity:.0f} a second, {options.overload:.0f} s long")
    for status, times in sorted(answers.times.items()):
        say(f"    {status}", f"{len(times)} answers, {ms(times)}")
    say("/health meanwhile", ms(health))
    say("memory of all processes", f"{growth:+.0f} MB after {sent} requests (the cache may take 32)")


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
    return (example.source for example in examples("phrases-basic", "train", limit=60_000))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--count", type=int, default=200, help="sentences of one measurement")
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
