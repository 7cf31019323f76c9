"""How light and how quick the page is: real runs behind a server of its own, Debian's Chromium in front of it.

    python bench/serve_page.py runs/demo/rnnsearch                   every row, some two minutes
    python bench/serve_page.py runs/demo/rnnsearch --rows hover heads

Nothing is stood in for: maps come from the models, curves from files that grow. The 48 heads are those of a
transformer that this script makes, of two updates; the 100,000 updates are lines that it writes. Times are of the wall
clock unless a row says CPU: other programs on the machine are in them, and the load is printed for that reason.
"""

import argparse
import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psutil
from playwright.sync_api import Browser, Page, Response, sync_playwright

ROWS = ("load", "hover", "heads", "training")
TEXT = "지훈은 목말라서 지금 사무실에서 교과서를 읽고 있고 그녀는 그 뜨거운 보리차를 마시면서 자주 은행에 갑니다 ."
MANY_UPDATES = 100_000
SETTLING = 1_500  # milliseconds that a new window of the browser takes for itself, on a busy machine
LAYERS, HEADS = 6, 8
HEAD_RUN = ("--model", "transformer", "--set", f"model.layers={LAYERS}", "--set", f"model.heads={HEADS}")
BRIEF = ("--set", "training.steps=2", "--set", "training.threads=1", "--set", "model.width=64")

# When the text field is there and can be typed into, in milliseconds after the answer of `/`; begun before the page.
WATCH_FIELD = """
new MutationObserver((_, observer) => {
  if (!document.querySelector(".translate textarea")) return;
  observer.disconnect();
  window.usable = performance.now() - performance.getEntriesByType("navigation")[0].responseStart;
}).observe(document, { childList: true, subtree: true });
"""

# The work of each pointer move: what listens to it, and what the next frame draws; not the wait for that frame.
WATCH_MOVES = """() => {
  window.moves = [];
  let begun = 0;
  addEventListener("pointermove", () => {
    begun = performance.now();
    requestAnimationFrame(() => (window.frameBegan = performance.now()));
  }, true);
  addEventListener("pointermove", () => {
    const listened = performance.now() - begun;
    requestAnimationFrame(() => {
      document.body.offsetHeight;
      window.moves.push(listened + performance.now() - window.frameBegan);
    });
  });
}"""

DRAW_HEADS = """() => new Promise((resolve) => {
  const begun = performance.now();
  document.querySelector("input[value=heads]").click();
  const pictures = document.querySelectorAll(".heads canvas").length;
  requestAnimationFrame(() => {
    document.body.offsetHeight;
    requestAnimationFrame(() => resolve([performance.now() - begun, pictures]));
  });
})"""

STEP_SHOWN = """(step) => new Promise((resolve) => {
  const ask = () => {
    const notes = [...document.querySelectorAll(".card .notes .note")].map((one) => one.textContent);
    if (notes.some((text) => text.includes(`step ${step} `))) return resolve(Date.now());
    requestAnimationFrame(ask);
  };
  ask();
})"""

CURVES_DRAWN = """() => new Promise((resolve) => {
  const ask = () => {
    const line = document.querySelector(".chart .plot path.line");
    if (!line || line.getAttribute("d").length < 1000) return requestAnimationFrame(ask);
    const asked = performance.getEntriesByType("resource").find((one) => one.name.includes("/metrics?"));
    resolve(performance.now() - asked.startTime);
  };
  ask();
})"""


@dataclass
class Bench:
    """The browser, the server and the folder of runs that it watches."""

    browser: Browser
    url: str
    server: psutil.Process
    watched: Path
    run: str

    @contextmanager
    def page(self, **context: Any) -> Iterator[Page]:
        """In a context of its own: nothing is cached."""
        viewport = {"width": 1280, "height": 900}
        with self.browser.new_context(locale="en-US", viewport=viewport, **context) as fresh:  # type: ignore[arg-type]
            page = fresh.new_page()
            page.set_default_timeout(60_000)
            page.wait_for_timeout(SETTLING)
            yield page

    def go(self, page: Page, **state: Any) -> None:
        page.goto(f"{self.url}/#{urlencode(state, doseq=True)}")

    def cpu(self) -> float:
        """Seconds of a core that the HTTP process has used."""
        times = self.server.cpu_times()
        return float(times.user + times.system)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spread(values: list[float], unit: str = "ms") -> str:
    return f"p50 {percentile(values, 0.5):.0f} {unit}, p99 {percentile(values, 0.99):.0f} {unit}, n {len(values)}"


def say(row: str, text: str) -> None:
    print(f"{row:<46}{text}   (load {os.getloadavg()[0]:.1f})", flush=True)


# ----- the rows


def measure_load(bench: Bench) -> None:
    answers: list[Response] = []
    with bench.page() as page:
        page.on("response", lambda answer: answers.append(answer))
        bench.go(page)
        page.locator(".translate textarea").wait_for()
        page.wait_for_load_state("networkidle")
        until_used = len(answers)
        packed = sum(len(gzip.compress(answer.body(), 9)) for answer in answers)
        with page.expect_response("**/look"):
            page.locator(".translate textarea").fill(TEXT)
        foreign = [answer.url for answer in answers if not answer.url.startswith(bench.url)]
    say("until it can be used", f"{until_used} requests, {packed / 1000:.0f} kB gzipped")
    say("and with the first translation and its map", f"{len(answers)} requests")
    say("requests to other hosts", str(len(foreign)))
    times = []
    for _ in range(10):
        with bench.page() as page:
            page.add_init_script(WATCH_FIELD)
            bench.go(page)
            page.locator(".translate textarea").wait_for()
            times.append(page.evaluate("window.usable"))
    say("usable after the answer of /", spread(times))


def measure_hover(bench: Bench) -> None:
    with bench.page() as page:
        prefix = ".".join(["10"] * 100)  # what it says in any case, as the address of a translation with pins holds it
        bench.go(page, tab="look", run="heads", text=" ".join("abcdefghij" * 10), level="piece", prefix=prefix)
        matrix = page.locator(".matrix")
        matrix.wait_for()
        page.wait_for_load_state("networkidle")
        label = str(matrix.get_attribute("aria-label")).split(".")[0]
        page.evaluate(WATCH_MOVES)
        client = page.context.new_cdp_session(page)
        client.send("Performance.enable")
        box = matrix.bounding_box()
        assert box is not None
        before, count = tasks(client), 200
        for place in range(count):
            page.mouse.move(
                box["x"] + 90 + (37 * place) % (box["width"] - 120), box["y"] + 60 + (23 * place) % (box["height"] - 80)
            )
            page.wait_for_timeout(20)
        busy = 1000 * (tasks(client) - before) / count
        moves = page.evaluate("window.moves")
    say(f"hover, {label.removeprefix('Attention matrix, ')}", spread(moves))
    say("  main thread of the browser, a move", f"{busy:.1f} ms")


def tasks(client: Any) -> float:
    metrics = client.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def measure_heads(bench: Bench) -> None:
    times, pictures = [], 0
    for _ in range(10):
        with bench.page() as page:
            bench.go(page, tab="look", run="heads", text="1 2 3 4 5 6 7 8 9 10 11 12")
            page.locator(".matrix").wait_for()
            page.wait_for_load_state("networkidle")
            seconds, pictures = page.evaluate(DRAW_HEADS)
            times.append(seconds)
    say(f"{pictures} heads drawn", spread(times))


def measure_training(bench: Bench) -> None:
    run = bench.watched / "many"
    metrics = run / "metrics.jsonl"
    path = f"{bench.url}/api/v1/runs/many/metrics?points=1000"
    sizes, times = [], []
    for _ in range(10):
        start = time.monotonic()
        with urllib.request.urlopen(path) as answer:
            sizes.append(len(answer.read()))
        times.append(1000 * (time.monotonic() - start))
    say(f"first load of {MANY_UPDATES:,} updates", f"{max(sizes) / 1000:.0f} kB, {spread(times)}")
    drawn = []
    for _ in range(5):
        with bench.page() as page:
            bench.go(page, tab="training", watch="many")
            drawn.append(page.evaluate(CURVES_DRAWN))
    say("  and drawn", spread(drawn))
    with bench.page() as page:
        bench.go(page, tab="training", watch="many")
        page.evaluate(CURVES_DRAWN)
        waits = []
        for step in range(MANY_UPDATES + 1, MANY_UPDATES + 11):
            time.sleep(0.37)  # not in step with the page
            written = time.time()
            append(metrics, step)
            waits.append(page.evaluate(STEP_SHOWN, f"{step:,}") - 1000 * written)
    say("a new line on the screen", spread(waits))
    measure_viewers(bench, metrics)


def measure_viewers(bench: Bench, metrics: Path, viewers: int = 4, seconds: float = 30.0) -> None:
    """What a page that shows curves which grow costs the server; two updates a second."""
    with bench.browser.new_context(locale="en-US") as context:
        for _ in range(viewers):
            page = context.new_page()
            bench.go(page, tab="training", watch="many")
            page.evaluate(CURVES_DRAWN)
        before, start, step = bench.cpu(), time.monotonic(), MANY_UPDATES + 100
        while time.monotonic() - start < seconds:
            step += 1
            append(metrics, step)
            time.sleep(0.5)
        share = (bench.cpu() - before) / (time.monotonic() - start)
    idle, start = bench.cpu(), time.monotonic()
    time.sleep(10)
    alone = (bench.cpu() - idle) / (time.monotonic() - start)
    say("CPU of the server, a viewer", f"{100 * (share - alone) / viewers:.2f} % of a core ({viewers} pages open)")


def append(metrics: Path, step: int) -> None:
    with metrics.open("a") as file:
        file.write(update_line(step))


def update_line(step: int) -> str:
    loss = 1.5 + 6 / (1 + step / 900) + 0.2 * ((step * 7919) % 97) / 97
    entry = {"step": step, "epoch": step // 4000, "loss": loss, "positions": 4000, "rate": 1e-3, "norm": 0.7}
    return json.dumps({**entry, "seconds": 0.25}) + "\n"


# ----- what is measured


@contextmanager
def serving(runs: list[Path], watched: Path, log: Path) -> Iterator[tuple[str, psutil.Process]]:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        port = opened.getsockname()[1]
    command = ["serve", *map(str, runs), "--watch", str(watched), "--port", str(port), "--workers", "1"]
    with log.open("w") as said:
        process = subprocess.Popen([sys.executable, "-m", "seq2see", *command], stderr=said)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready"):
                    break
            except OSError:
                time.sleep(0.1)
        else:
            raise SystemExit(log.read_text())
        yield f"http://127.0.0.1:{port}", psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(30)


def make_runs(folder: Path, source: Path) -> None:
    """A transformer of 48 heads, and a run in training that has made many updates."""
    train = [sys.executable, "-m", "seq2see", "train", "builtin:copy", *HEAD_RUN, *BRIEF]
    subprocess.run([*train, "--out", str(folder / "heads")], check=True, capture_output=True)
    many = folder / "watched" / "many"
    many.mkdir(parents=True)
    (many / "config.json").write_bytes((source / "config.json").read_bytes())
    (many / "metrics.jsonl").write_text("".join(update_line(step) for step in range(1, MANY_UPDATES + 1)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path, help="with attention, Korean to English")
    parser.add_argument("--rows", nargs="+", choices=ROWS, default=ROWS)
    chosen = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        parser.error("no Chromium: apt-get install -y chromium")
    measures: dict[str, Callable[[Bench], None]] = {row: globals()[f"measure_{row}"] for row in ROWS}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        make_runs(folder, chosen.run)
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        with serving([chosen.run, folder / "heads"], folder / "watched", folder / "log") as (url, server):
            bench = Bench(browser, url, server, folder / "watched", chosen.run.name)
            for row in chosen.rows:
                measures[row](bench)
        browser.close()


if __name__ == "__main__":
    main()
