"""A system Chromium for the tests of pages: started once for a module, every page watched."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

_running: list[Browser] = []


@contextmanager
def chromium() -> Iterator[Browser]:
    """Skips where there is none; but on CI, where there has to be one, fails."""
    if CHROMIUM is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no Chromium: apt-get install -y chromium")
        pytest.skip("no Chromium on this machine: apt-get install -y chromium")
    if _running:  # another fixture has started one that outlives this module: there is one Playwright in a process
        yield _running[0]
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        _running.append(browser)
        try:
            yield browser
        finally:
            _running.clear()
            browser.close()


def spent() -> float:
    """Seconds that the processes of the browser have computed so far."""
    seconds = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            seconds += sum(process.cpu_times()[:2])
    return seconds


@dataclass
class Watched:
    """An open page and everything that should not have happened."""

    page: Page
    problems: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def check(self) -> None:
        assert self.problems == []
        assert self.dialogs == []
        assert [url for url in self.requests if not url.startswith(("file:", "data:", "about:", "blob:"))] == []


@contextmanager
def opened(browser: Browser, file: Path, **context: object) -> Iterator[Watched]:
    """A file in a fresh context; it may say nothing on the console, ask for nothing and open no dialog."""
    with browser.new_context(**context) as fresh:  # type: ignore[arg-type]
        watched = Watched(fresh.new_page())
        watched.page.set_default_timeout(600_000)
        watched.page.on("console", lambda message: watched.problems.append(f"{message.type}: {message.text}"))
        watched.page.on("pageerror", lambda error: watched.problems.append(str(error)))
        watched.page.on("request", lambda request: watched.requests.append(request.url))

        def dismiss(dialog: object) -> None:
            watched.dialogs.append(dialog.message)  # type: ignore[attr-defined]
            dialog.dismiss()  # type: ignore[attr-defined]

        watched.page.on("dialog", dismiss)
        watched.page.goto(file.as_uri())
        yield watched
        watched.check()


def written(folder: Path, text: str, name: str = "page.html") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


SCRIPTS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</SCRIPT ><img src=x onerror=alert(1)>",
    "<!--<script>",
    "<!-- <script> -->",
    "-->",
    "]]>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s>",
    "<body onload=alert(1)>",
    "<iframe src=javascript:alert(1)>",
    "<iframe srcdoc='<script>parent.alert(1)</script>'>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<a href=javascript:alert(1)>x</a>",
    "<math><mtext><script>alert(1)</script>",
    "<details open ontoggle=alert(1)>",
    "<input autofocus onfocus=alert(1)>",
    "<video><source onerror=alert(1)>",
    "<audio src=x onerror=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<base href=//example.invalid/>",
    "<link rel=stylesheet href=//example.invalid/x.css>",
    "<style>@import '//example.invalid/x.css';</style>",
    "<form action=//example.invalid/><button>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<textarea></textarea><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" onmouseover=alert(1) x="',
    "' onfocus='alert(1)' autofocus='",
    "javascript:alert(1)",
    "${alert(1)}",
    "`${alert(1)}`",
    "{{constructor.constructor('alert(1)')()}}",
    "');alert(1);//",
    "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e",
    '\\"});alert(1);//',
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)",
    "\u2028alert(1)\u2029",
    "<\x00script>alert(1)</script>",
    "\ud800<script>alert(1)</script>",
    "\u202e<script>alert(1)</script>",
    "__proto__",
    "constructor",
]
"""Texts that try to become more than text."""

FOREIGN = "img,iframe,object,embed,link,form,base,video,audio,marquee,math,template,textarea,animate,svg script"
"""Elements that no page of ours has."""
