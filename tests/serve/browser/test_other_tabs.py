"""Look, Compare, Beam, Step, Training, Speak: what is drawn equals what the API says, by mouse and by keys."""

import json
import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from served_page import OTHER, TEXT, ServedPage, update_line, validation_line

from seq2see import atomic
from seq2see.look.map.packing import pack
from seq2see.runs.evaluations import keep_evaluation
from seq2see.training.validation_maps import ValidationMaps

WITHOUT_GONE = """(one) => {
  const copy = one.cloneNode(true);
  copy.querySelectorAll("del").forEach((gone) => gone.remove());
  return copy.textContent.trim();
}"""
STEP = 1 / 255  # what a weight that travelled as a byte may be off, of the largest of its row


def translated(site: ServedPage, run: str = "rnnsearch") -> dict[str, object]:
    return site.ask("translate", {"run": run, "text": TEXT, "beam": 5, "nbest": 5})


# ----- Look


def test_the_matrix_holds_the_weights_of_the_model(site: ServedPage) -> None:
    truth = site.translator("transformer").translate(TEXT).attention
    with site.opened() as opened:
        page = opened.go(tab="look", run="transformer", text=TEXT, layer=1, head=2, level="piece")
        expect(page.locator(".matrix")).to_be_visible()
        data = json.loads(opened.exported("json"))
        np.testing.assert_allclose(data["weights"], truth.weights[1, 2], atol=STEP)
        assert data["columns"] == list(truth.source.tokens)
        for picker in page.locator(".heads-of select").all():
            picker.select_option("mean")
        assert "layer=-2" in page.url
        mean = json.loads(opened.exported("json"))
        np.testing.assert_allclose(mean["weights"], truth.mean().weights[0, 0], atol=STEP)


def test_several_rows_are_added(site: ServedPage) -> None:
    truth = site.translator("rnnsearch").translate(TEXT).attention.words().weights[0, 0]
    with site.opened() as opened:
        page = opened.go(tab="look", text=TEXT, rows="0")
        expect(page.locator(".explorer")).to_have_attribute("data-rows", "0")
        page.locator(".matrix").click(modifiers=["Shift"], position=row_of_matrix(page, 2))
        told = page.locator(".reading li").first.inner_text().split()
        assert abs(float(told[-1]) - (truth[0] + truth[2]).max()) < 0.02
        expect(page.locator(".explorer")).to_have_attribute("data-rows", "0 2")


def row_of_matrix(page: Page, row: int) -> dict[str, float]:
    """A place in the margin where the name of a row stands."""
    high = page.locator(".matrix .spread").evaluate("(one) => one.offsetHeight")
    rows = int(re.search(r"(\d+) rows", page.locator(".matrix").get_attribute("aria-label") or "")[1])
    each = 34 if rows * 34 < high - 40 else 23
    return {"x": 20, "y": high - 8 - each * (rows - row) + each / 2}


def test_rows_and_edits_by_keys_alone(site: ServedPage) -> None:
    truth = site.translator("rnnsearch").translate(TEXT).attention.words().weights[0, 0]
    with site.opened() as opened:
        page = opened.go(tab="look", text=TEXT)
        tab_to(page, ".matrix")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Shift+ArrowDown")
        expect(page.locator(".explorer")).to_have_attribute("data-rows", "1 2")
        assert "rows=1.2" in page.url
        told = page.locator(".reading li").first.inner_text().split()
        assert abs(float(told[-1]) - (truth[1] + truth[2]).max()) < 0.02
        tab_to(page, "[aria-label='Switch a head off: Add']")
        page.keyboard.press("Enter")
        expect(page.locator(".edits li")).to_have_text("All heads: off")
        expect(page.locator("[aria-label='Switch a head off: Add']")).to_be_focused()  # where it was


def tab_to(page: Page, selector: str) -> None:
    """To a control as one gets there without a mouse."""
    expect(page.locator(selector).first).to_be_visible()
    page.wait_for_load_state("networkidle")
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached with the tab key")


@pytest.mark.slow
def test_rows_are_selected_with_shift_and_stand_in_the_address(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(tab="look", text=TEXT, view="lines")
        words = page.locator(".side.target .word")
        words.nth(0).click(modifiers=["Shift"])
        words.nth(1).click(modifiers=["Shift"])
        expect(page.locator(".explorer")).to_have_attribute("data-rows", "0 1")
        assert "rows=0.1" in page.url
        words.nth(0).click()
        expect(page.locator(".explorer")).to_have_attribute("data-rows", "")


def test_a_second_and_a_third_opinion(site: ServedPage) -> None:
    answer = translated(site)
    body = {"run": "rnnsearch", "source": TEXT, "target_ids": answer["token_ids"], "occlusion": True}
    loss = np.clip(np.array(site.ask("look", body)["occlusion"]["loss"]).T, 0, None)
    sums = loss.sum(axis=1, keepdims=True)
    with site.opened() as opened:
        page = opened.go(tab="look", text=TEXT, level="piece")
        page.get_by_text("Occlusion", exact=True).click()
        expect(page.locator(".footnote")).to_contain_text("taken away")
        shown = np.array(json.loads(opened.exported("json"))["weights"])
        np.testing.assert_allclose(shown, np.divide(loss, sums, out=np.zeros_like(loss), where=sums > 0), atol=1e-3)
        page.get_by_text("Posterior", exact=True).click()
        expect(page.locator(".footnote")).to_contain_text("must have looked")
        assert np.abs(np.array(json.loads(opened.exported("json"))["weights"]).sum(axis=1) - 1).max() < 0.05


def test_what_if_shows_both_outputs_and_their_difference(site: ServedPage) -> None:
    answer = translated(site)
    body = {"run": "rnnsearch", "source": TEXT, "target_ids": answer["token_ids"], "beam": 5}
    changed = site.ask("look", body | {"edits": {"force": ["1:#3=1"], "scale": ["#1=0"]}})
    with site.opened() as opened:
        page = opened.go(tab="look", text=TEXT)
        page.get_by_role("button", name="Look at a word more or less: Add").click()
        expect(page.locator(".outcome")).to_be_visible()
        page.locator(".edit-form").nth(2).get_by_label("Source word").select_option("#3")
        page.get_by_role("button", name="Force a step to look at a word: Add").click()
        expect(page.locator(".edits li")).to_have_count(2)
        said = page.locator(".outcome dd").nth(1)
        expect(said).not_to_be_empty()
        assert re.sub(r"\s+", " ", said.evaluate(WITHOUT_GONE)).startswith(changed["after"]["text"])
        page.get_by_label("Remove 우리는 × 0").click()
        expect(page.locator(".edits li")).to_have_count(1)
        page.go_back()
        expect(page.locator(".edits li")).to_have_count(2)


def test_a_run_without_attention_says_so_and_leads_to_one_with(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(tab="look", run="rnn", text=TEXT)
        expect(page.locator(".empty")).to_contain_text("rnn has no attention")
        page.get_by_role("button", name="Look at it with rnnsearch").click()
        expect(page.locator(".matrix")).to_be_visible()
        assert "run=rnnsearch" in page.url


# ----- Compare


def test_models_side_by_side_on_any_sentence(site: ServedPage) -> None:
    answer = site.ask("compare", {"runs": ["rnnsearch", "rnn"], "text": TEXT, "beam": 5})
    with site.opened() as opened:
        page = opened.go(tab="compare")
        page.get_by_label("Source").fill(TEXT)
        page.locator(".pick-runs input").nth(2).uncheck()
        expect(page.locator(".compared")).to_have_count(2)
        expect(page.locator(".compared .says").first).to_have_text(answer["runs"][0]["translation"]["text"])
        for row, one in zip(page.locator(".compared .figures").all_inner_texts(), answer["runs"], strict=True):
            assert f"score {one['translation']['score']:.3f}" in row
        assert page.locator(".maps .matrix").count() == 1
        expect(page.locator(".blind")).to_be_visible()
        truth = site.translator("rnnsearch").translate(TEXT).text
        page.get_by_label("Reference").fill(truth)
        expect(page.locator(".compared").first.locator("ins, del")).to_have_count(0)
        assert {"runs=rnnsearch", "runs=rnn"} <= set(re.split("[&#]", page.url))


@pytest.mark.slow
def test_one_pointer_lights_a_source_word_in_every_map(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(tab="compare", text=TEXT, runs=["rnnsearch", "transformer"])
        expect(page.locator(".maps .matrix")).to_have_count(2)
        page.locator(".maps .matrix").first.focus()
        page.keyboard.press("ArrowRight")
        expect(page.locator("body > [aria-live=polite]")).to_contain_text(TEXT.split()[0])


WORST = {"source": TEXT, "reference": "we went there .", "output": "we stayed .", "chrf": 12.5}


def test_a_length_leads_to_its_worst_sentences_and_they_to_translate(site: ServedPage) -> None:
    buckets = [{"from": 1, "to": 8, "sentences": 3, "score": 40.0, "low": 30.0, "high": 50.0}]
    table = {"metric": "bleu", "side": "reference", "unit": "words", "buckets": buckets}
    keep_evaluation(site.folder / "rnnsearch", {"test": "a.tsv", "by_length": table, "worst": [[WORST]]})
    with site.opened() as opened:
        page = opened.go(tab="compare", runs=["rnnsearch", "rnn"])
        chart = page.locator(".chart svg[role=img]")
        chart.click(position={"x": 400, "y": 100})
        expect(page.locator(".worst-of")).to_contain_text("chrF 12.5")
        page.get_by_label("Worst sentences of").select_option("")
        expect(page.locator(".worst-of")).to_have_count(0)
        chart.focus()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Compare it here").click()
        expect(page.get_by_label("Reference", exact=False)).to_have_value("we went there .")
        page.locator(".worst-of .link").click()
        expect(page.get_by_label("Source", exact=True)).to_have_value(TEXT)
        expect(page.locator("#tab-translate")).to_have_attribute("aria-selected", "true")


# ----- Beam


def test_the_beam_is_the_search_s_and_goes_on_from_a_candidate(site: ServedPage) -> None:
    answer = site.ask("beam", {"run": "rnnsearch", "text": TEXT, "beam": 3})
    with site.opened() as opened:
        page = opened.go(tab="beam", text=TEXT, beam=3)
        expect(page.locator(".hypotheses tbody tr")).to_have_count(3)
        cells = page.locator(".hypotheses tbody tr").first.locator("td").all_inner_texts()
        best = answer["translation"]["nbest"][0]
        assert cells == ["1", best["text"], f"{sum(best['token_scores']):.3f}", f"{best['score']:.3f}"]
        kept = [place for place, node in enumerate(answer["tree"]["nodes"]) if node[5] == "kept" and node[0] == 1]
        node = answer["tree"]["nodes"][kept[-1]]
        path = [answer["tree"]["nodes"][node[1]][8], node[8]]
        after = site.ask("beam", {"run": "rnnsearch", "text": TEXT, "beam": 3, "prefix_ids": path})
        button = page.locator(f"[aria-label^='step 2, '][aria-label*=', {node[4]:.2f}, kept']").first
        button.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".translation")).to_have_text(after["translation"]["text"])
        assert f"prefix={path[0]}.{path[1]}" in page.url
        page.get_by_role("button", name="From the beginning").click()
        expect(page.locator(".translation")).to_have_text(answer["translation"]["text"])


# ----- Step


@pytest.mark.parametrize("run", [pytest.param("rnnsearch", marks=pytest.mark.slow), "transformer"])
def test_six_cards_with_the_model_s_numbers(site: ServedPage, run: str) -> None:
    answer = translated(site, run)
    body = {"run": run, "source": TEXT, "target_ids": answer["token_ids"], "step": 2}
    walk = site.ask("explain", body | {"layer": 1, "head": 3} if run == "transformer" else body)
    with site.opened() as opened:
        page = opened.go(tab="step", run=run, text=TEXT, **({"layer": 1, "head": 3} if run == "transformer" else {}))
        expect(page.locator(".step-card")).to_have_count(6)
        page.locator("#step-on").click()
        expect(page.locator(".position")).to_have_text(f"Step 2 of {walk['steps']}")
        weights = page.locator("[data-card='5'] .bars .number").all_inner_texts()
        assert weights == [f"{weight:.3f}" for weight in walk["attention"]["weights"]]
        scores = page.locator("[data-card='3'] .bars .number").all_inner_texts()
        assert scores == [f"{score:.3f}" for score in walk["attention"]["scores"]]
        shown = page.locator(".way section h3").all_inner_texts()  # what is computed before and after the look
        assert shown == [formula["name"] for formula in (*walk["before"], *walk["after"])]
        choices = page.locator("[data-card='6'] .bars .number").all_inner_texts()
        assert choices[:5] == [f"{choice['probability']:.4f}" for choice in walk["choices"]]
        page.locator("#step-on").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".position")).to_have_text(f"Step 1 of {walk['steps']}")


def test_temperature_is_a_softmax_of_the_same_scores(site: ServedPage) -> None:
    walk = site.ask(
        "explain", {"run": "rnnsearch", "source": TEXT, "target_ids": translated(site)["token_ids"], "step": 1}
    )
    scores = np.array(walk["attention"]["scores"]) / 2
    truth = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
    with site.opened(permissions=["clipboard-read", "clipboard-write"]) as opened:
        page = opened.go(tab="step", text=TEXT, temperature=2)
        expect(page.locator("[data-card='5'] .bars .number").first).to_be_visible()
        shown = [float(text) for text in page.locator("[data-card='5'] .bars .number").all_inner_texts()]
        np.testing.assert_allclose(shown, truth, atol=0.001)
        page.get_by_role("button", name="Copy as NumPy").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == walk["numpy"]


# ----- Training


def test_curves_grow_while_they_are_watched(site: ServedPage) -> None:
    metrics = site.folder / "watched" / "young" / "metrics.jsonl"
    with site.opened() as opened:
        page = opened.go(tab="training", watch="young")
        expect(page.locator(".card .notes")).to_contain_text("young · step 3")
        chart = page.locator(".chart svg[role=img]").first
        chart.focus()
        page.keyboard.press("End")
        expect(page.locator(".tip").first).to_contain_text("young: 2.667")
        with metrics.open("a") as file:
            file.write(update_line(4) + validation_line(4))
        expect(page.locator(".card .notes")).to_contain_text("young · step 4", timeout=10_000)
        page.keyboard.press("End")
        expect(page.locator(".tip").first).to_contain_text("young: 2.000")
        expect(page.locator(".then dd").nth(2)).to_contain_text("at step 4")
        page.locator(".over-time").focus()
        page.keyboard.press("ArrowLeft")
        expect(page.locator(".then dd").nth(2)).to_contain_text("at step 3")
        rows = opened.exported("tsv").splitlines()
        assert rows[-1].split("\t")[:4] == ["young", "4", "1", "14"]
        expect(page.locator(".chart .best").first).to_be_attached()
        # Training was resumed from an earlier checkpoint: another file, shorter.
        atomic.write_file(metrics, "".join(map(update_line, range(1, 3))).encode())
        expect(page.locator(".card .notes")).to_contain_text("young · step 2", timeout=10_000)
        atomic.write_file(metrics, ("".join(map(update_line, range(1, 4))) + validation_line(3)).encode())


def test_a_part_of_the_curves_with_the_pointer_and_by_keys(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(tab="training", watch="young")
        chart = page.locator(".chart svg[role=img]").first
        expect(chart.locator("path.line").first).to_be_visible()
        box = chart.bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 80)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 80)
        page.mouse.up()
        page.wait_for_url("**range=**")
        page.get_by_role("button", name="Show all of it").click()
        assert "range=" not in page.url
        chart.focus()
        page.keyboard.press("End")
        page.keyboard.press("+")
        page.wait_for_url("**range=**")
        expect(page.get_by_role("button", name="Show all of it")).to_be_visible()
        page.keyboard.press("0")
        expect(page.get_by_role("button", name="Show all of it")).to_be_hidden()


def test_the_map_at_a_validation_stands_with_its_own_sentence(site: ServedPage) -> None:
    run = site.folder / "watched" / "taught"
    run.mkdir()
    (run / "config.json").write_bytes((site.folder / "rnnsearch" / "config.json").read_bytes())
    samples = [[OTHER, "a", "b"], [TEXT, "c", "d"]]
    entry = {"step": 3, "elapsed": 1.0, "validation": {"loss": 1.0, "chrf": 13.0}, "samples": samples}
    (run / "metrics.jsonl").write_text("".join(map(update_line, range(1, 4))) + json.dumps(entry) + "\n")
    attention = site.translator("rnnsearch").translate(TEXT).attention
    ValidationMaps(run, 3).add(3, 0, {"source": TEXT, "target": "c", "map": pack(attention)})
    with site.opened() as opened:
        page = opened.go(tab="training", watch="taught")
        expect(page.locator(".then dd").first).to_have_text(TEXT)
        matrix = page.get_by_role("application")
        matrix.focus()
        page.keyboard.press("ArrowDown")
        expect(page.locator("body > [aria-live=polite]")).to_contain_text(attention.words().target.tokens[1])
        page.get_by_role("combobox", name="Sentence").select_option("0")
        expect(page.locator(".then dd").first).to_have_text(OTHER)
        expect(matrix).to_have_count(0)
        page.get_by_role("button", name=f"2. {TEXT}").click()
        expect(matrix).to_be_visible()


# ----- Speak


def test_a_voice_speaks_in_a_style(site: ServedPage) -> None:
    with site.opened() as opened:
        page = opened.go(tab="speak")
        page.get_by_label("What it should say").fill("abba")
        expect(page.locator(".token-row")).to_have_count(5)
        page.locator(".token-row input[type=number]").nth(3).fill("0.8")
        page.keyboard.press("Tab")
        expect(page.locator(".card .note", has_text="shared by the others: 20.0 %")).to_be_visible()
        with page.expect_response("**/api/v1/speak") as answering:
            page.get_by_role("button", name="Speak", exact=True).click()
        asked, said = answering.value.request.post_data_json, answering.value.json()
        assert asked == {"run": "voice", "text": "abba", "tokens": {"3": 0.8}}
        expect(page.locator(".takes li")).to_have_count(1)
        expect(page.locator(".takes li")).to_contain_text(f"{said['seconds']:.1f} s")
        assert page.locator(".heat").first.evaluate("(one) => [one.width, one.height]") == [
            said["mel"]["frames"],
            said["mel"]["mels"],
        ]
        sound = page.get_by_role("slider", name="Spectrogram", exact=False)
        page.locator("audio").evaluate("(one) => one.pause()")
        sound.focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        expect(sound).to_have_attribute("aria-valuenow", "1")
        at = 1.5 * said["seconds"] / said["mel"]["frames"]
        assert abs(page.locator("audio").evaluate("(one) => one.currentTime") - at) < 0.01
        expect(sound).to_have_attribute("aria-valuetext", re.compile(rf"^{at:.2f} s: "))
        data = json.loads(opened.exported("json"))
        assert data["style"]["weights"] == said["style"]["weights"]
        assert "tokens=3%3D0.8" in page.url


@pytest.mark.slow
def test_a_dropped_recording_sets_the_sliders(site: ServedPage) -> None:
    wav = (site.folder / "abba.wav").read_bytes()
    heard = site.live.client.post("/api/v1/style?run=voice", content=wav, headers={"Content-Type": "audio/wav"})
    weights = np.array(heard.json()["weights"]).mean(axis=0)
    with site.opened() as opened:
        page = opened.go(tab="speak", say="ab")
        page.locator("input[type=file]").set_input_files(site.folder / "abba.wav")
        expect(page.locator(".card .note", has_text="Style of abba.wav")).to_be_visible()
        shown = [float(one.input_value()) for one in page.locator(".token-row input[type=number]").all()]
        np.testing.assert_allclose(shown, weights / weights.sum(), atol=0.011)


# ----- Learn


def test_a_lesson_is_computed_and_its_numbers_can_be_changed(site: ServedPage) -> None:
    listed = site.live.client.get("/api/v1/lessons?language=en").json()
    with site.opened() as opened:
        page = opened.go(tab="learn")
        expect(page.locator(".lesson-name")).to_have_count(len(listed))
        place = [lesson["name"] for lesson in listed].index("dot")  # trains nothing
        page.locator(".lesson-name").nth(place).focus()
        page.keyboard.press("Enter")
        expect(page.locator(".lesson-title")).to_have_text(listed[place]["title"])
        assert "lesson=dot" in page.url
        before = page.locator(".lesson .numbers").first.inner_text()
        page.get_by_role("button", name="Try it here").first.click()
        expect(page.get_by_role("button", name="Back to its own numbers")).to_be_visible()
        assert page.locator(".lesson .numbers").first.inner_text() != before
        page.go_back()
        expect(page.locator(".lesson .numbers").first).to_have_text(before, use_inner_text=True)
        page.locator("#language").click()
        korean = site.live.client.get("/api/v1/lessons?language=ko").json()
        expect(page.locator(".lesson-title")).to_have_text(korean[place]["title"])
