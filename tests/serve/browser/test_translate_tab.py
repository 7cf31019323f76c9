"""Translate: what is shown equals what the API says, by mouse and by keys."""

import re

import pytest
from playwright.sync_api import Page, expect
from served_page import OTHER, TEXT, ServedPage


def translated(site: ServedPage, text: str = TEXT, **more: object) -> dict[str, object]:
    return site.ask("translate", {"run": "rnnsearch", "text": text, "beam": 5, "nbest": 5, **more})


def words_of(page: Page) -> list[str]:
    return [word.inner_text() for word in page.locator(".said-word").all()]


def test_what_is_typed_is_translated_and_every_number_is_the_server_s(site: ServedPage) -> None:
    answer = translated(site)
    with site.opened() as opened:
        page = opened.go()
        page.get_by_label("Source", exact=True).type(TEXT)
        expect(page.locator(".output")).to_have_text(answer["text"])
        assert words_of(page) == [word["text"] for word in answer["words"]]
        sure = float(page.locator(".said-word").first.evaluate("(word) => word.style.getPropertyValue('--sure')"))
        assert abs(sure - answer["words"][0]["probability"]) < 0.001
        shown = page.locator(".hypothesis .number:last-child").all_inner_texts()
        assert shown == [f"{one['score']:.3f}" for one in answer["nbest"]]
        expect(page.locator(".counter")).to_have_text(f"{len(TEXT)} / 5,000")
        assert "text=" in page.url


def test_another_word_is_chosen_with_the_mouse_and_taken_back(site: ServedPage) -> None:
    first = translated(site)
    request = {"run": "rnnsearch", "source": TEXT, "target_ids": first["token_ids"], "word": 1}
    other = next(
        one for one in site.ask("alternatives", request)["alternatives"] if one["word"] != first["words"][1]["text"]
    )
    second = translated(site, prefix_ids=other["ids"])
    with site.opened() as opened:
        page = opened.go(text=TEXT)
        page.locator(".said-word").nth(1).click()
        page.locator(".option", has_text=re.compile(rf"^{re.escape(other['word'])}")).first.click()
        expect(page.locator(".output")).to_have_text(second["text"])
        assert page.locator(".said-word.pinned-word").count() == 2
        expect(page.locator(".said-word").nth(1)).to_be_focused()
        page.get_by_label("Undo").click()
        expect(page.locator(".output")).to_have_text(first["text"])
        page.go_back()
        expect(page.locator(".output")).to_have_text(second["text"])
        page.get_by_role("button", name="Release all pins").click()
        expect(page.locator(".output")).to_have_text(first["text"])


def test_the_same_by_keys_alone(site: ServedPage) -> None:
    first = translated(site)
    request = {"run": "rnnsearch", "source": TEXT, "target_ids": first["token_ids"], "word": 1}
    second = site.ask("alternatives", request)["alternatives"][1]
    with site.opened() as opened:
        page = opened.go(text=TEXT)
        expect(page.locator(".output")).to_have_text(first["text"])
        page.locator(".said-word").first.focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".said-word").nth(1)).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".option").first).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator(".said-word.pinned-word")).to_have_count(2)
        assert page.locator(".said-word").nth(1).inner_text() == second["word"]
        page.keyboard.press("Control+z")
        expect(page.locator(".output")).to_have_text(first["text"])
        page.keyboard.press("Enter")
        expect(page.locator(".alternatives")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".alternatives")).to_be_hidden()
        expect(page.locator(".said-word").nth(1)).to_be_focused()


def test_a_word_of_ones_own_becomes_a_pin(site: ServedPage) -> None:
    first = translated(site)
    start = str(first["text"])[: first["words"][1]["span"][0]]
    with site.opened() as opened:
        page = opened.go(text=TEXT)
        page.locator(".said-word").nth(1).click()
        page.get_by_label("Another word").fill("teacher")
        page.get_by_role("button", name="Use it").click()
        expect(page.locator(".said-word.pinned-word")).to_have_count(2)
        assert page.locator(".output").inner_text().startswith(f"{start}teacher")


@pytest.mark.slow
def test_a_hypothesis_that_is_picked_is_shown_in_every_tab(site: ServedPage) -> None:
    answer = translated(site)
    with site.opened() as opened:
        page = opened.go(text=TEXT)
        page.locator(".hypothesis").nth(2).click()
        expect(page.locator(".output")).to_have_text(answer["nbest"][2]["text"])
        page.get_by_role("tab", name="Look").click()
        expect(page.locator(".translation")).to_have_text(answer["nbest"][2]["text"])


def test_terms_of_the_glossary_are_said_and_kept(site: ServedPage) -> None:
    wanted = translated(site, required={"서울에": "teacher"})
    with site.opened() as opened:
        page = opened.go(text=TEXT)
        page.locator(".glossary input").nth(0).fill("서울에")
        page.locator(".glossary input").nth(1).fill("teacher")
        expect(page.locator(".output")).to_have_text(wanted["text"])
        assert "teacher" in words_of(page)
        expect(page.locator(".behind mark.term")).to_have_text("서울에")
        page.reload()
        expect(page.locator(".glossary input").nth(1)).to_have_value("teacher")


def test_the_words_that_were_looked_at_light_up(site: ServedPage) -> None:
    weights = site.translator("rnnsearch").translate(TEXT).attention.words().weights[0, 0]
    with site.opened() as opened:
        page = opened.go(text=TEXT)
        expect(page.locator(".said-word").first).to_be_visible()
        page.wait_for_load_state("networkidle")
        page.locator(".said-word").first.hover()
        lit = page.locator(".behind mark")
        expect(lit.first).to_be_attached()
        strongest = max(range(5), key=lambda column: weights[0, column])
        shares = {
            mark.inner_text(): float(mark.evaluate("(one) => one.style.getPropertyValue('--share')"))
            for mark in lit.all()
        }
        assert max(shares, key=shares.get) == TEXT.split()[strongest]


@pytest.mark.slow
def test_an_earlier_question_is_called_off(site: ServedPage) -> None:
    """What is shown is of the last text, however long the earlier one takes."""
    answer = translated(site, OTHER)
    with site.opened() as opened:
        page = opened.go()
        page.route("**/api/v1/translate", lambda route: (page.wait_for_timeout(300), route.continue_()))
        field = page.get_by_label("Source", exact=True)
        field.fill(TEXT)
        field.press("Control+Enter")
        field.fill(OTHER)
        field.press("Control+Enter")
        expect(page.locator(".output")).to_have_text(answer["text"])
        page.wait_for_timeout(500)
        expect(page.locator(".output")).to_have_text(answer["text"])


def test_too_long_a_text_is_told_and_not_sent(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.get_by_label("Source", exact=True).fill("가" * 5001)
        expect(page.locator(".notes")).to_contain_text("Too long: 5,001 characters")
        assert not [url for url in asked if url.endswith("/translate")]
