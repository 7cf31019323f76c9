"""What bench/serve.py has no time for: 100,000 requests, workers that are killed, slow sockets, maps, the page itself.

    python bench/serve_deep.py runs/demo/rnnsearch                        every row, some ten minutes
    python bench/serve_deep.py runs/demo/rnnsearch --rows page training   those that need a browser, and playwright

Talks to a server of its own on this machine. Times are of the wall clock; the load is printed for that reason.
"""

import argparse
import asyncio
import gzip
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from serve import CLIENTS, Connection, Server, body_of, gauge, ms, say, sentences, serving

ROWS = ("requests", "kill", "sockets", "maps", "words", "training", "page")
TWELVE = "우리는 어제 서울에 갔습니다 ."


async def asked(connection: Connection, route: str, **fields: Any) -> tuple[float, Any]:
    """Seconds and answer of one question of our API."""
    start = time.monotonic()
    status, answer = await connection.ask(f"/api/v1/{route}", json.dumps(fields).encode())
    seconds = time.monotonic() - start
    assert status == 200, answer
    return seconds, json.loads(answer)


# ----- load


async def measure_requests(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """Cached and new texts mixed, until the cache is full; then as many again, with the memory before and after."""
    async with serving(options.run, options.engine, options.workers) as server:
        known: list[str] = []
        await mixed(server, texts, known, options.requests // 4, share=0.4)
        before = server.memories()
        statuses = await mixed(server, texts, known, options.requests, share=0.05)
        after = server.memories()
        cache = await gauge(server, "seq2see_cache_bytes")
    say(f"{options.requests} requests", ", ".join(f"{count} of {status}" for status, count in statuses.items()))
    grown = [f"{now - then:+.1f}" for then, now in zip(before, after, strict=True)]
    say("growth, HTTP process and each worker, in MB", f"{' '.join(grown)}; the cache holds {cache / 2**20:.0f} MB")


async def mixed(server: Server, texts: Iterator[str], known: list[str], count: int, *, share: float) -> "Counter[int]":
    """share: of texts that nobody has asked before."""
    statuses: Counter[int] = Counter()
    chance, left = random.Random(count), count

    async def client() -> None:
        nonlocal left
        connection = Connection(server.port)
        while left > 0:
            left -= 1
            if not known or chance.random() < share:
                known.append(next(texts))
            text = known[-1] if chance.random() < share else chance.choice(known[-2000:])
            status, _ = await connection.ask("/translate", body_of(text))
            statuses[status] += 1
            if status == 429:
                await asyncio.sleep(0.5)
        connection.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return statuses


async def measure_kill(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """A worker is killed every second while 32 clients ask, faster than they start; its texts are tried again."""
    async with serving(options.run, options.engine, options.workers) as server:
        statuses: Counter[int] = Counter()
        times: list[float] = []
        killed, until = 0, time.monotonic() + 45

        async def client() -> None:
            connection = Connection(server.port)
            while time.monotonic() < until:
                start = time.monotonic()
                status, _ = await connection.ask("/translate", body_of(next(texts)))
                times.append(time.monotonic() - start)
                statuses[status] += 1
            connection.close()

        async def kill() -> None:
            nonlocal killed
            chance = random.Random(1)
            while time.monotonic() < until - 8:
                await asyncio.sleep(1)
                children = psutil.Process(server.process.pid).children()
                workers = [one for one in children if "spawn_main" in " ".join(one.cmdline())]
                if workers:
                    chance.choice(workers).send_signal(signal.SIGKILL)
                    killed += 1

        await asyncio.gather(kill(), *(client() for _ in range(CLIENTS)))
    told = ", ".join(f"{count} of {status}" for status, count in sorted(statuses.items()))
    say(f"kill -9 of a worker, {killed} times under load", f"{told}; {ms(times)}")


async def measure_sockets(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """400 connections that send half a request and nothing more, while one client goes on asking."""
    async with serving(options.run, options.engine, options.workers) as server:
        connection = Connection(server.port)
        alone = [await timed(connection, next(texts)) for _ in range(50)]
        halves = (b"POST /translate HTTP/1.1\r\nHost: localhost\r\n", b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"")
        slow = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(400)]
        for number, (_, writer) in enumerate(slow):
            writer.write(halves[number % 3])
        start = time.monotonic()
        beside = [await timed(connection, next(texts)) for _ in range(50)]
        await asyncio.gather(*(reader.read() for reader, _ in slow))
        closed = time.monotonic() - start
        for _, writer in slow:
            writer.close()
        connection.close()
    say("beside 400 slow sockets", f"{ms(beside)}; alone {ms(alone)}; all closed after {closed:.1f} s")


async def timed(connection: Connection, text: str) -> float:
    start = time.monotonic()
    status, _ = await connection.ask("/translate", body_of(text))
    assert status == 200
    return time.monotonic() - start


# ----- maps and words


async def measure_maps(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """The same new sentence with its map and without, one after the other; which comes first alternates."""
    async with serving(options.run, options.engine, options.workers) as server:
        connection, run = Connection(server.port), options.run.name
        with_map, without = [], []
        for number in range(options.count):
            first, second = next(texts), next(texts)
            if number < 5:  # what is slow the first time
                await asked(connection, "compare", runs=[run], text=first)
                continue
            seconds, answer = await asked(connection, "translate", run=run, text=second)
            without.append(seconds / len(answer["tokens"]))
            seconds, compared = await asked(connection, "compare", runs=[run], text=first)
            with_map.append(seconds / len(compared["runs"][0]["translation"]["tokens"]))
        connection.close()
    ratio = median(with_map) / median(without)
    say("translation with map, of the time without", f"{ratio:.2f} x a piece ({1000 * median(without):.1f} ms without)")


async def measure_words(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """Other words in the place of one, and the rest translated again from one of them."""
    async with serving(options.run, options.engine, options.workers) as server:
        connection, run = Connection(server.port), options.run.name
        whole, others, again = [], [], []
        for number in range(options.count // 2):
            text = next(texts)
            seconds, answer = await asked(connection, "translate", run=run, text=text)
            whole.append(seconds)
            word = number % len(answer["words"])
            seconds, found = await asked(
                connection, "alternatives", run=run, source=text, target_ids=answer["token_ids"], word=word
            )
            others.append(seconds)
            ids = found["alternatives"][-1]["ids"]
            again.append((await asked(connection, "translate", run=run, text=text, prefix_ids=ids))[0])
        connection.close()
    say("a translation", ms(whole))
    say("alternatives of a word", ms(others))
    say("the rest translated again", ms(again))


# ----- with a browser


async def measure_training(options: argparse.Namespace, texts: Iterator[str]) -> None:
    """A run of 100,000 updates that goes on: the first answer, a line that is new, what one viewer costs."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "long"
        run.mkdir()
        shutil.copy(options.run / "config.json", run)
        metrics = run / "metrics.jsonl"
        with metrics.open("w") as file:
            file.writelines(update_line(step) for step in range(1, 100_001))
        async with serving(options.run, options.engine, 1, "--watch", folder) as server:
            connection, path = Connection(server.port), "/api/v1/runs/long/metrics?points=1000"
            await connection.ask("/api/v1/runs")
            start = time.monotonic()
            _, answer = await connection.ask(path)
            took = time.monotonic() - start
            say("first answer of 100,000 updates", f"{len(answer) / 1000:.0f} kB, {1000 * took:.0f} ms")
            connection.close()
            await asyncio.to_thread(watch, server, metrics)


def update_line(step: int) -> str:
    entry = {"step": step, "epoch": step // 5000, "loss": 8 / step**0.3, "positions": 3000, "rate": 1e-3, "norm": 1.5}
    return json.dumps({**entry, "seconds": 0.05}) + "\n"


def watch(server: Server, metrics: Path) -> None:
    with opened() as page:
        page.goto(f"http://127.0.0.1:{server.port}/#tab=training&watch=long")
        page.wait_for_selector(".plot svg path.line")
        cpu, start = server.cpu(), time.monotonic()
        page.wait_for_timeout(20_000)
        share = (server.cpu() - cpu) / (time.monotonic() - start)
        delays = []
        for step in range(100_001, 100_006):
            start = time.monotonic()
            with metrics.open("a") as file:
                file.write(update_line(step))
            page.wait_for_function(
                "(step) => document.querySelector('.notes').textContent.includes(step)", arg=f"{step:,}"
            )
            delays.append(time.monotonic() - start)
    say("a line that is new, until it is on the screen", f"{max(delays):.1f} s at most")
    say("the server's share of a core for a viewer", f"{100 * share:.1f} %")


async def measure_page(options: argparse.Namespace, texts: Iterator[str]) -> None:
    async with serving(options.run, options.engine, 1) as server:
        await asyncio.to_thread(visit, server)


def visit(server: Server) -> None:
    """A first visit; then what drawing costs: 100 x 100 cells under the pointer, and 48 heads at once."""
    address = f"http://127.0.0.1:{server.port}/"
    with opened() as page:
        hosts: set[str] = set()
        page.on(
            "request", lambda request: hosts.add(request.url.split("/")[2]) if request.url.startswith("http") else None
        )
        answers: list[Any] = []
        page.on("response", answers.append)
        page.goto(address)
        page.wait_for_selector(".samples .chip, .output .hint")
        page.wait_for_load_state("networkidle")
        bodies = [answer.body() for answer in answers]
        packed = sum(len(gzip.compress(body, 9)) for body in bodies)
        say("page", f"{len(bodies)} requests, {packed / 1000:.0f} kB gzipped, {len(hosts)} host")
        loads = []
        for _ in range(5):
            page.goto("about:blank")
            page.goto(f"{address}#text={TWELVE}")
            page.wait_for_selector(".said-word")
            loads.append(page.evaluate("performance.now()"))
        say("from the address to a translation in words", f"{median(loads):.0f} ms")
        for name, script in DRAWINGS.items():
            say(name, f"{page.evaluate(script):.1f} ms")


HOVER = """async () => {
  const { Matrix } = await import("/view/weights.js");
  const { MatrixView } = await import("/view/matrix.js");
  const names = Array.from({ length: 100 }, (_, at) => `word${at}`);
  const view = new MatrixView(() => {});
  document.body.append(view.element);
  const values = Float32Array.from({ length: 10_000 }, Math.random);
  view.show(new Matrix(names, names, names.map(() => false), values, null, false), "cross");
  await new Promise((done) => setTimeout(done, 500));
  const times = names.map((_, at) => {
    const start = performance.now();
    view.focus = [at, at];
    view.stage.paint();
    return performance.now() - start;
  });
  view.element.remove();
  return times.sort((a, b) => a - b)[95];
}"""
HEADS = """async () => {
  const { AttentionMap } = await import("/view/weights.js");
  const { HeadsView } = await import("/view/heads.js");
  const tokens = Array.from({ length: 40 }, (_, at) => `w${at}`);
  const side = { tokens, special: [], words: tokens, groups: tokens.map((_, at) => [at]) };
  const count = (size) => Array.from({ length: size }, (_, at) => at);
  class Drawn extends AttentionMap {
    mean() {
      const [text, rest] = [new Float32Array(40).fill(1), new Float32Array(40)];
      return { width: 40, values: Float32Array.from({ length: 1600 }, Math.random), text, rest };
    }
  }
  const packed = { kind: "cross", level: "piece", layers: count(6), heads: count(8), source: side, target: side };
  const map = new Drawn({ ...packed, hidden: false, hidden_tokens: [], rescaled: false });
  const view = new HeadsView(() => {});
  document.body.append(view.element);
  const start = performance.now();
  view.show(map, { level: "word", hide: false, rescale: false, layer: null, head: null });
  const took = performance.now() - start;
  view.element.remove();
  return took;
}"""
DRAWINGS = {"hover at 100 x 100 cells, p95": HOVER, "48 heads of 40 x 40": HEADS}


class opened:  # noqa: N801
    """A page in Chromium."""

    def __enter__(self) -> Any:
        from playwright.sync_api import sync_playwright

        self.playwright = sync_playwright().start()
        path = shutil.which("chromium") or shutil.which("google-chrome")
        self.browser = self.playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        return self.browser.new_context(locale="en-US").new_page()

    def __exit__(self, *_: object) -> None:
        self.browser.close()
        self.playwright.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--count", type=int, default=100, help="sentences of one measurement")
    parser.add_argument("--requests", type=int, default=100_000)
    options = parser.parse_args()
    measures: dict[str, Callable[[argparse.Namespace, Iterator[str]], Any]] = {
        "requests": measure_requests,
        "kill": measure_kill,
        "sockets": measure_sockets,
        "maps": measure_maps,
        "words": measure_words,
        "training": measure_training,
        "page": measure_page,
    }
    texts = sentences()
    for row in options.rows:
        asyncio.run(measures[row](options, texts))


if __name__ == "__main__":
    sys.exit(main())
