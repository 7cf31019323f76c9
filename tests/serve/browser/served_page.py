"""Small runs of every kind behind a live server, and pages of it that are watched for anything out of order."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from folders import SOURCES, make_run
from live_server import LiveServer, live_server
from playwright.sync_api import Browser, Page
from small_runs import WORDS, make_voice

from seq2see.serve.api.answers import Models
from seq2see.serve.api.requests import ServedRun
from seq2see.serve.configuration import ServerConfig
from seq2see.session import Translator, load

TEXT = SOURCES[2]  # 우리는 어제 서울에 갔습니다 .
OTHER = SOURCES[0]


@dataclass
class WatchedPage:
    """A page, and everything that should not have happened on it."""

    page: Page
    url: str
    problems: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def check(self) -> None:
        assert self.problems == []
        assert self.foreign == []

    def go(self, **state: Any) -> Page:
        """To a state, as a link leads there."""
        self.page.goto("about:blank")
        self.page.goto(f"{self.url}/#{urlencode(state, doseq=True)}")
        self.page.wait_for_selector("#panel > *")
        return self.page

    def exported(self, kind: str) -> str:
        """What the export menu saves of the current view."""
        self.page.locator("#export").click()
        with self.page.expect_download() as saving:
            self.page.locator(f".menu [data-kind={kind}]").click()
        return Path(saving.value.path()).read_text(encoding="utf-8")


@dataclass
class ServedPage:
    """The server, its runs, and a browser."""

    live: LiveServer
    browser: Browser
    folder: Path

    usual: WatchedPage | None = None

    @contextmanager
    def opened(self, **context: Any) -> Iterator[WatchedPage]:
        """A page that nobody has used; without wishes it is always the same one, cleaned up, which is cheaper."""
        if context or self.usual is None:
            with watched(self.browser, self.live.url, **context) as page:
                yield page
            return
        self.usual.page.goto(f"{self.live.url}/health")
        self.usual.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.usual.problems.clear()
        yield self.usual
        self.usual.page.unroute_all()
        self.usual.check()

    def ask(self, route: str, body: dict[str, Any]) -> Any:
        answer = self.live.client.post(f"/api/v1/{route}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def translator(self, name: str) -> Translator:
        return load(self.folder / name)


@contextmanager
def watched(browser: Browser, url: str, *, tolerant: bool = False, **context: Any) -> Iterator[WatchedPage]:
    """A page may say nothing on the console, open no dialog, and ask nobody else. tolerant: of answers that fail."""
    with browser.new_context(**{"locale": "en-US", "viewport": {"width": 1280, "height": 900}, **context}) as fresh:
        page = fresh.new_page()
        page.set_default_timeout(30_000)
        seen = WatchedPage(page, url)

        def said(message: Any) -> None:
            if not (tolerant and message.text.startswith("Failed to load resource")):
                seen.problems.append(f"{message.type}: {message.text}")

        def dismissed(dialog: Any) -> None:
            seen.problems.append(f"dialog: {dialog.message}")
            dialog.dismiss()

        page.on("console", said)
        page.on("pageerror", lambda error: seen.problems.append(str(error)))
        page.on("dialog", dismissed)
        page.on("request", lambda request: _note(seen.foreign, request.url, url))
        yield seen
        seen.check()


def _note(foreign: list[str], asked: str, own: str) -> None:
    if not asked.startswith((f"{own}/", "data:", "blob:", "about:")):
        foreign.append(asked)


@contextmanager
def serve_page(browser: Browser, folder: Path) -> Iterator[ServedPage]:
    """A run with attention, one without, one with several heads, a voice; and one that is being trained."""
    make_run(folder / "rnnsearch", "rnnsearch", cutting=WORDS, sharp=3.0)
    make_run(folder / "rnn", "rnn", cutting=WORDS, sharp=3.0)
    make_run(folder / "transformer", "transformer", cutting=WORDS, sharp=2.0)
    names = ("rnnsearch", "rnn", "transformer")
    runs = tuple(ServedRun(name, folder / name, "ko", "en", "text") for name in names)
    training = folder / "watched" / "young"
    training.mkdir(parents=True)
    (training / "config.json").write_text((folder / "rnnsearch" / "config.json").read_text())
    (training / "metrics.jsonl").write_text("".join(map(update_line, range(1, 4))) + validation_line(3))
    runs = (*runs, make_voice(folder))
    config = ServerConfig(runs, watch=(folder / "watched",))
    with live_server(config, partial(Models, runs, "torch")) as live, watched(browser, live.url) as usual:
        yield ServedPage(live, browser, folder, usual)


def update_line(step: int) -> str:
    entry = {"step": step, "epoch": 0, "loss": 8.0 / step, "positions": 100, "rate": 0.001 * step, "norm": 1.5}
    return json.dumps({**entry, "seconds": 0.5}) + "\n"


def validation_line(step: int) -> str:
    samples = [[TEXT, "we went to Seoul yesterday .", f"we went to Seoul at step {step} ."]]
    scores = {"loss": 4.0 / step, "chrf": 10.0 + step}
    return json.dumps({"step": step, "elapsed": 0.5 * step, "validation": scores, "samples": samples}) + "\n"
