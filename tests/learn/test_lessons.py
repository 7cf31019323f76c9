"""Every lesson of the catalogue: complete in both languages, 80 columns, a page that opens, a notebook that runs."""

import inspect
import io
import json
import re
import textwrap
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import torch
from rich.cells import cell_len

import seq2see
from depth import THOROUGH
from learning import LANGUAGES, Taught, printed, wordings
from seq2see.errors import ConfigError
from seq2see.learn import CATALOGUE, load_lesson, outline
from seq2see.learn.blocks import Curves, LessonTable, MapView, Matrix, Sounds
from seq2see.learn.lesson import LessonPage
from seq2see.learn.quoting import Quote, quote
from seq2see.learn.render.notebook import code_cells, notebook
from seq2see.learn.render.page import html
from seq2see.learn.wording import Wording
from seq2see.runs.config import parse_changes

NAMES = [entry.name for entry in CATALOGUE]
EVERY = pytest.mark.parametrize("name", NAMES)
PACKAGE = Path(seq2see.__file__).parent


def texts_of(name: str) -> ModuleType:
    return import_module(f"seq2see.learn.texts.{name}")


@pytest.mark.parametrize("name", ["common", *NAMES])
def test_both_languages_say_the_same_with_the_same_numbers(name: str) -> None:
    named = wordings(texts_of(name))
    assert named
    for key, wording in named.items():
        english, korean = wording.blanks
        assert english == korean, key
        assert not re.search(r"[가-힣]", wording.en) or name in ("qkv",), key
        assert wording.en.count("`") == wording.ko.count("`"), key
    assert {"TITLE", "SUMMARY", "QUESTION", "ANSWER"} <= named.keys() or name == "common"


@pytest.mark.parametrize("name", ["common", *NAMES])
def test_korean_keeps_one_level_of_speech(name: str) -> None:
    """합니다체 throughout: sentences end in 니다, 니까 or 십시오."""
    for key, wording in wordings(texts_of(name)).items():
        for sentence in re.findall(r"[가-힣]+(?=\)?[.?](?:\s|$|\)))", wording.ko):
            assert sentence.endswith(("니다", "니까", "십시오")), (key, sentence)
        if wording.en.endswith((".", ":", "?")):
            assert wording.ko.rstrip(")").endswith((".", "?", ":", "}")), key


@EVERY
def test_every_text_is_used(name: str) -> None:
    source = inspect.getsource(import_module(f"seq2see.learn.lessons.{name}"))
    used = set(re.findall(r"\bwords\.([A-Z_0-9]+)", source))
    assert set(wordings(texts_of(name))) - used <= {"SUMMARY"}


@EVERY
def test_a_lesson_has_all_its_parts(name: str, taught: Taught) -> None:
    page = taught.page(name)
    blocks = [block for section in page.sections for block in section.blocks]
    assert any(isinstance(block, Matrix | LessonTable | Curves | MapView) for block in blocks)
    assert any(isinstance(block, Quote) for block in blocks)
    assert page.attempts
    assert page.origins
    assert all(re.search(r"\d|\b[IVX]+\b", origin.place) for origin in page.origins)
    assert page.following
    assert all(outline(other).name == other != name for other in page.following)
    assert any(section.code for section in page.sections)
    assert load_lesson(name).title == texts_of(name).TITLE


@EVERY
def test_quoted_lines_stand_in_the_source_at_their_place(name: str, taught: Taught) -> None:
    for section in taught.page(name).sections:
        for block in section.blocks:
            if isinstance(block, Quote):
                file, _, number = block.place.rpartition(":")
                lines = (PACKAGE.parent / file).read_text(encoding="utf-8").splitlines()
                wanted = block.code.splitlines()
                there = lines[int(number) - 1 : int(number) - 1 + len(wanted)]
                assert textwrap.dedent("\n".join(there)) == block.code


@EVERY
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_fits_eighty_columns_without_colour(name: str, language: Any, taught: Taught) -> None:
    lines = printed(load_lesson(name), taught.page(name), language).split("\n")
    assert max(map(cell_len, lines)) <= 80
    text = "\n".join(lines)
    assert "\x1b" not in text
    assert not re.search(r"\{\w*(:[^}]*)?\}", text)
    assert not re.search(r"\bnan\b|\binf\b", text)
    assert len(text) > 2000


@EVERY
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_notebook_runs(name: str, language: Any, taught: Taught, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell after cell in one namespace, as Jupyter does."""
    document = json.loads(notebook(load_lesson(name), taught.page(name), language))
    assert (document["nbformat"], document["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in document["cells"]}) == len(document["cells"])
    cells = code_cells(document)
    assert cells
    if language == "ko":  # the same code
        return
    taught.use_cache(monkeypatch)
    space: dict[str, Any] = {"__name__": "__main__"}
    with torch.random.fork_rng(), redirect_stdout(io.StringIO()) as output:
        for place, cell in enumerate(cells):
            exec(compile(cell, f"{name}.ipynb:{place}", "exec"), space)
    assert len(output.getvalue()) > 100


@EVERY
def test_every_attempt_changes_what_is_said(name: str, taught: Taught) -> None:
    usual = printed(load_lesson(name), taught.page(name), "en")
    for attempt in taught.page(name).attempts:
        changed = taught.page(name, parse_changes(attempt.changes))
        assert printed(load_lesson(name), changed, "en") != usual, attempt.changes


@EVERY
def test_settings_it_does_not_have_get_one_line(name: str, taught: Taught) -> None:
    with pytest.raises(ConfigError, match=r"nosuch is unknown; (did you mean|known: )"):
        taught.page(name, {"nosuch": 1})


def test_an_unknown_lesson_gets_one_line() -> None:
    with pytest.raises(ConfigError, match="there is no lesson 'dott'; did you mean 'dot'"):
        load_lesson("dott")
    assert [load_lesson(name).name for name in NAMES] == NAMES


def test_a_quote_that_is_gone_is_noticed() -> None:
    with pytest.raises(ConfigError, match="has no line with 'no such line' any more"):
        quote("x", quote, "no such line")


def test_a_text_in_one_language_is_refused() -> None:
    with pytest.raises(ConfigError, match="in one language only"):
        Wording("only English", " ")


@pytest.mark.thinned
def test_pages_open_offline_without_a_complaint(taught: Taught, tmp_path: Path) -> None:
    """Every lesson in one language or the other; in both by `make test-slow`."""
    from browsing import chromium, opened, written

    with chromium() as browser:
        for place, name in enumerate(NAMES):
            for language in LANGUAGES if THOROUGH else [LANGUAGES[place % 2]]:
                text = html(load_lesson(name), taught.page(name), language, f"seq2see learn {name}")
                file = written(tmp_path, text, f"{name}-{language}.html")
                with opened(browser, file, viewport={"width": 900, "height": 900}) as watched:
                    check_page(watched.page, taught.page(name), language)


def check_page(page: Any, content: LessonPage, language: str) -> None:
    blocks = [block for section in content.sections for block in section.blocks]
    assert page.locator("html").get_attribute("lang") == language
    assert page.locator("section.card").count() == len(content.sections) + 5
    assert page.locator(".quote").count() == sum(isinstance(block, Quote) for block in blocks)
    assert page.locator(".charted svg[role=img]").count() == sum(isinstance(block, Curves) for block in blocks)
    tables = sum(isinstance(block, Matrix | LessonTable) for block in blocks)
    assert page.locator("table.numbers").count() == tables
    sounds = sum(len(block.recordings) for block in blocks if isinstance(block, Sounds))
    assert page.locator("audio[src^=blob]").count() == sounds
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wide <= 0


def test_the_guide_shows_a_real_section(taught: Taught) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "learn.md").read_text(encoding="utf-8")
    fences = re.findall(r"^```(\w*)\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    shown = [text for language, text in fences if not language]
    assert len(shown) == 1
    assert shown[0] in printed(load_lesson("dot"), taught.page("dot"), "en")
    for entry in CATALOGUE:
        assert f"| `{entry.name}` |" in guide
