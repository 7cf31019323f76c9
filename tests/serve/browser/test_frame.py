"""The frame of the page: tabs, languages, colours, keys, addresses; inert texts, the policy, a server that goes."""

import gzip
import hashlib
import json
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from browsing import SCRIPTS
from live_server import live_server
from parrot import Parrot
from playwright.sync_api import Page, expect
from served_page import OTHER, TEXT, ServedPage, watched

from seq2see.serve.api.requests import ServedRun
from seq2see.serve.configuration import ServerConfig
from seq2see.serve.http.keys import ApiKeys

TABS = ("translate", "look", "compare", "beam", "step", "training", "speak", "learn")
SETTLED = {
    "translate": ".said-word",
    "look": ".matrix",
    "compare": ".maps .matrix",
    "beam": ".candidate",
    "step": ".step-card",
    "training": ".chart svg",
    "speak": ".token-row",
    "learn": ".lesson .card .equation, .lesson .card .numbers",
}


TYPE = """(text) => {
  const field = document.querySelector('.field input');
  field.value = text;
  field.dispatchEvent(new Event('input'));
}"""


def settled(page: Page, tab: str) -> None:
    expect(page.locator(SETTLED[tab]).first).to_be_visible()
    page.wait_for_load_state("networkidle") if tab != "training" else page.wait_for_timeout(100)


# ----- accessible, in every tab


def test_axe_finds_nothing(site: ServedPage) -> None:
    check_axe(site, "dark", 360, "ko")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("theme", "width", "language"), [("light", 1280, "en"), ("light", 360, "ko"), ("dark", 1280, "en")]
)
def test_axe_finds_nothing_in_the_other_three(site: ServedPage, theme: str, width: int, language: str) -> None:
    check_axe(site, theme, width, language)


def check_axe(site: ServedPage, theme: str, width: int, language: str) -> None:
    viewport = {"width": width, "height": 800}
    with site.opened(color_scheme=theme, viewport=viewport, reduced_motion="reduce") as opened:
        page = opened.go(text=TEXT, lang=language, watch=["young", "look"], lesson="dot")
        for tab in TABS:
            page.locator(f"#tab-{tab}").click()
            settled(page, tab)
            if tab == "translate":
                page.locator(".said-word").first.click()
                expect(page.locator(".option").first).to_be_visible()
            found = Axe().run(page).response["violations"]
            assert [(tab, one["id"], one["nodes"][0]["html"]) for one in found] == []
            page.keyboard.press("Escape")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
                f"{tab} is wider than the screen"
            )


# ----- tabs, keys, languages, colours


def test_every_tab_by_keys(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(text=TEXT, watch="young", lesson="dot")
        settled(page, "translate")
        page.locator("#tab-translate").focus()
        for place, tab in enumerate(TABS):
            page.keyboard.press(str(place + 1))
            expect(page.locator(f"#tab-{tab}")).to_have_attribute("aria-selected", "true")
            settled(page, tab)
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#tab-speak")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#tab-speak")).to_have_attribute("aria-selected", "true")
        page.keyboard.press("?")
        expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.keyboard.press("1")
        page.keyboard.press("/")
        expect(page.get_by_label("Source", exact=True)).to_be_focused()
        page.keyboard.press("2")
        expect(page.get_by_label("Source", exact=True)).to_have_value(TEXT + "2")  # a key is a letter where one types


def test_back_and_forth_through_what_was_seen(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(text=TEXT)
        settled(page, "translate")
        page.locator("#tab-look").click()
        settled(page, "look")
        page.locator("#run").select_option("transformer")
        expect(page.get_by_text("Encoder", exact=True)).to_be_visible()
        page.go_back()
        expect(page.locator("#run")).to_have_value("rnnsearch")
        page.go_back()
        settled(page, "translate")
        page.go_forward()
        page.go_forward()
        expect(page.locator("#run")).to_have_value("transformer")
        address = page.url
        page.goto("about:blank")
        page.goto(address)
        expect(page.get_by_text("Encoder", exact=True)).to_be_visible()
        expect(page.get_by_label("Source", exact=True)).to_have_value(TEXT)


def test_two_languages_two_colours_and_both_are_remembered(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(text=TEXT)
        settled(page, "translate")
        page.locator("#language").click()
        expect(page.locator("#tab-look")).to_have_text("어텐션")
        expect(page.locator("html")).to_have_attribute("lang", "ko")
        expect(page.get_by_label("원문", exact=True).first).to_have_value(TEXT)
        page.locator("#theme").click()
        page.locator("#theme").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        opened.go()
        expect(page.locator("#tab-look")).to_have_text("어텐션")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    with site.opened(locale="ko-KR") as opened:
        expect(opened.go().locator("#tab-look")).to_have_text("어텐션")


def test_everything_that_is_exported_can_be_read(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(tab="look", text=TEXT)
        settled(page, "look")
        assert opened.exported("svg").startswith("<svg")
        assert "<table>" in opened.exported("html")
        assert len(opened.exported("tsv").splitlines()) == len(json.loads(opened.exported("json"))["rows"]) + 1
        page.locator("#export").click()
        with page.expect_download() as saving:
            page.locator(".menu [data-kind=png]").click()
        assert Path(saving.value.path()).read_bytes().startswith(b"\x89PNG")


# ----- safe


def test_hostile_texts_are_inert(site: ServedPage) -> None:
    """As a text, as a term, as a reference, in an address: nothing of it becomes more than text."""
    with site.opened(tolerant=True) as opened:
        page = opened.go(tab="compare", text=TEXT, runs=["rnnsearch"])
        settled(page, "compare")
        before = page.evaluate("document.querySelectorAll('*').length")
        for text in SCRIPTS:
            page.evaluate(TYPE, text)
        page.wait_for_timeout(400)
        assert (
            page.evaluate(
                "document.querySelectorAll('img, iframe, object, embed, base, form, script:not([src])').length"
            )
            == 0
        )
        assert page.evaluate("document.querySelectorAll('*').length") < before + 20
        everything = " ".join(text for text in SCRIPTS if text.isprintable())
        opened.go(text=everything, reference=everything, run=everything, tab="<img src=x onerror=alert(1)>")
        expect(page.locator(".source-box textarea")).to_have_value(everything)
        expect(page.locator(".figures")).not_to_be_empty()
        assert (
            page.evaluate(
                "document.querySelectorAll('img, iframe, object, embed, base, form, script:not([src])').length"
            )
            == 0
        )


def test_the_policy_is_in_force(site: ServedPage) -> None:
    with site.opened(tolerant=True) as opened:
        page = opened.go()
        policy = site.live.client.get("/").headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        page.evaluate("""() => setTimeout(async () => {
            const found = [];
            try { document.createElement("div").innerHTML = "<b>x</b>"; } catch { found.push("html"); }
            try { window["ev" + "al"]("1"); } catch { found.push("code"); }
            try { await fetch("https://example.invalid/"); } catch { found.push("fetch"); }
            document.body.dataset.refused = found.join(" ");
        })""")  # later: what the test's own hand does, the policy lets pass
        expect(page.locator("body")).to_have_attribute("data-refused", "html code fetch")
        assert opened.foreign == []  # stopped before anything was sent
        opened.problems.clear()  # what the browser said of it


def test_few_and_small_answers_until_it_can_be_used(site: ServedPage) -> None:
    with site.opened() as opened:
        bodies: list[bytes] = []
        opened.page.on("response", lambda answer: bodies.append(answer.body()))
        page = opened.go()
        expect(page.locator(".output .hint")).to_be_visible()
        page.wait_for_load_state("networkidle")
        assert 10 < len(bodies) <= 20
        assert sum(len(gzip.compress(body, 9)) for body in bodies) <= 60_000


# ----- a server that goes away


def test_a_server_that_stops_and_starts_again_loses_nothing(site: ServedPage) -> None:
    runs = (ServedRun("parrot", Path("/nowhere"), "ko", "en", "text"),)
    config = ServerConfig(runs)
    with ExitStack() as stack:
        with live_server(config, partial(Parrot, runs)) as live:
            opened = stack.enter_context(watched(site.browser, live.url, tolerant=True))
            page = opened.go()
            field = page.get_by_label("Source", exact=True)
            field.fill("one")
            expect(page.locator(".output")).to_have_text("ONE")
        field.fill("one two")
        expect(page.locator(".banner")).to_contain_text("does not answer")
        field.fill("one two three")
        with live_server(config, partial(Parrot, runs), port=live.port):
            expect(page.locator(".output")).to_have_text("ONE TWO THREE")
            expect(page.locator(".banner")).to_be_hidden()
            expect(field).to_have_value("one two three")


def test_where_keys_are_needed_the_page_asks_for_one(site: ServedPage) -> None:
    runs = (ServedRun("parrot", Path("/nowhere"), "ko", "en", "text"),)
    keys = ApiKeys({"somebody": hashlib.sha256(b"secret").hexdigest()})
    with (
        live_server(ServerConfig(runs, keys=keys), partial(Parrot, runs)) as live,
        watched(site.browser, live.url, tolerant=True) as opened,
    ):
        page = opened.go(text="one")
        for key in ("wrong", "secret"):
            page.locator(".banner input").fill(key)
            page.keyboard.press("Enter")
        expect(page.locator(".output")).to_have_text("ONE")
        expect(page.locator(".banner")).to_be_hidden()


@pytest.mark.slow
def test_another_text_while_nothing_is_typed(site: ServedPage) -> None:
    """A link into a tab of another sentence, in the same window."""
    with site.opened() as opened:
        page = opened.go(tab="look", text=TEXT)
        settled(page, "look")
        page.evaluate("(text) => { location.hash = `tab=look&text=${encodeURIComponent(text)}`; }", OTHER)
        expect(page.get_by_label("Source", exact=True)).to_have_value(OTHER)
