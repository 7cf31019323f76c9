"""Pictures of the page for docs/serve.md, taken of a running server.

    seq2see serve runs/demo/rnnsearch@ko-en runs/demo/rnn@ko-en --watch runs &
    python bench/screenshots.py http://127.0.0.1:5000

Every tab in English and light, a few in Korean, dark and as wide as a phone. Fonts are those of the machine.
"""

import argparse
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, sync_playwright

SENTENCE = "그가 목말랐기 때문에 민수는 도윤이 샤워를 빨리 하기 전에 따뜻한 코코아를 마셨습니다 ."


def open_alternatives(page: Page) -> None:
    """Those of the word that the model is least sure of."""
    words = page.locator(".said-word")
    sure = [float(word.evaluate("(one) => one.style.getPropertyValue('--sure')")) for word in words.all()]
    words.nth(sure.index(min(sure))).click()
    page.locator(".option").first.wait_for()


def point_at_a_row(page: Page) -> None:
    page.locator(".matrix").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.evaluate("scrollTo(0, 0)")


def nothing(page: Page) -> None:
    pass


@dataclass(frozen=True)
class Shot:
    """A picture: what the address says, how wide, what is done before it is taken."""

    name: str
    state: dict[str, Any]
    width: int = 1280
    height: int = 820
    theme: str = "light"
    act: Callable[[Page], None] = field(default=nothing)


def shots(watch: list[str]) -> list[Shot]:
    text = {"text": SENTENCE}
    return [
        Shot("translate", text, act=open_alternatives),
        Shot("translate-ko-dark", text | {"lang": "ko"}, theme="dark"),
        Shot("look", text | {"tab": "look"}, height=1080, act=point_at_a_row),
        Shot("look-lines-dark", text | {"tab": "look", "view": "lines"}, height=900, theme="dark"),
        Shot("compare", text | {"tab": "compare"}, height=1100),
        Shot("beam", text | {"tab": "beam"}, height=1050),
        Shot("step", text | {"tab": "step", "step": 5}, height=1200),
        Shot("training", {"tab": "training", "watch": watch, "smooth": 0.8}, height=1500),
        Shot("learn", {"tab": "learn", "lesson": "qkv"}, height=1100),
        Shot("phone-translate-ko", text | {"lang": "ko"}, width=360, height=760),
        Shot("phone-look-ko-dark", text | {"lang": "ko", "tab": "look"}, width=360, height=760, theme="dark"),
    ]


def take(browser: Browser, url: str, shot: Shot, folder: Path) -> None:
    viewport = {"width": shot.width, "height": shot.height}
    with browser.new_context(viewport=viewport, color_scheme=shot.theme, locale="en-US") as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{url}/#{urlencode(shot.state, doseq=True)}")
        page.wait_for_selector("#panel > *")
        page.wait_for_timeout(2_500)
        shot.act(page)
        page.wait_for_timeout(600)
        page.screenshot(path=folder / f"{shot.name}.png")
        print(folder / f"{shot.name}.png")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--out", type=Path, default=Path("docs/serve"))
    parser.add_argument("--watch", action="append", default=[], help="a run for the curves, by the name on the page")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for shot in shots(chosen.watch):
            take(browser, chosen.url, shot, chosen.out)
        browser.close()


if __name__ == "__main__":
    main()
