"""What model processes answer is what `as_dict`, `pack` and `plain` give: no second schema."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from small_runs import SOURCES, TEXTS, tone

from seq2see.errors import ConfigError
from seq2see.look.intervene.whatif import parse_ablation
from seq2see.look.map.packing import pack
from seq2see.search import Cancelled, SearchConfig
from seq2see.serve.api import maps
from seq2see.serve.api.answers import Models, search_config
from seq2see.serve.api.requests import (
    AlternativesRequest,
    BeamRequest,
    CompareRequest,
    ExplainRequest,
    LookRequest,
    SearchOptions,
    ServedRun,
    SpeakJob,
    StyleRequest,
    TextJob,
    TranslateRequest,
    read,
)
from seq2see.session import Translation, Translator
from seq2see.session.aligning import occlude
from seq2see.session.alternatives import alternatives
from seq2see.session.translator import chosen
from seq2see.speech import audio

SOURCE = SOURCES[2]


@pytest.fixture(scope="module")
def models(text_runs: tuple[ServedRun, ...]) -> Iterator[Models]:
    threads = torch.get_num_threads()
    yield Models(text_runs, "torch")
    assert torch.get_num_threads() == 1
    torch.set_num_threads(threads)


@pytest.fixture
def look(models: Models) -> Translator:
    return models.translators["look"]


@pytest.fixture
def said(look: Translator) -> Translation:
    return look.translate(SOURCE)


def ask(models: Models, kind: Any, /, **fields: Any) -> dict[str, Any]:
    answer = models.answer(read(json.dumps(fields).encode(), kind))
    json.dumps(answer, allow_nan=False)
    return answer


def translate(models: Models, **fields: Any) -> list[dict[str, Any]]:
    asked = read(json.dumps(fields).encode(), TranslateRequest)
    return models.translate(asked.run, asked.jobs, asked.search)


# ----- translations


@pytest.mark.parametrize("search", [SearchOptions(), SearchOptions(nbest=3)])
def test_other_programs_are_told_the_same_texts_and_nothing_else(models: Models, search: SearchOptions) -> None:
    whole = models.translate("look", [TextJob(text) for text in SOURCES], search)
    mixed = models.translate("look", [TextJob(text, brief=text != SOURCE) for text in SOURCES], search)
    for text, full, brief in zip(SOURCES, whole, mixed, strict=True):
        if text == SOURCE:
            assert brief.keys() == full.keys()
            continue
        assert brief["text"] == full["text"]
        assert [other["text"] for other in brief.get("nbest", ())] == [other["text"] for other in full.get("nbest", ())]
        assert brief.keys() == ({"text", "nbest"} if search.nbest else {"text"})


@pytest.mark.parametrize("run", ["look", "blind", "layers"])
def test_a_translation_is_as_dict_with_its_pieces(models: Models, run: str) -> None:
    translator = models.translators[run]
    answers = translate(models, run=run, text=TEXTS, nbest=3)
    for answer, expected in zip(answers, translator.translate(TEXTS, nbest=3), strict=True):
        for name, value in expected.as_dict().items():
            if name == "nbest":
                assert [
                    {key: entry[key] for key in theirs} for entry, theirs in zip(answer[name], value, strict=True)
                ] == value
            else:
                assert answer[name] == value
        assert answer["token_ids"] == list(expected.token_ids)
        assert answer["truncated"] == (not expected.ended)
        assert [word["text"] for word in answer["words"]] == answer["text"].split()
        assert [answer["text"][slice(*word["span"])] for word in answer["words"]] == answer["text"].split()
        assert answer["ms"] > 0
        assert [part["text"] for part in answer.get("parts", [])] == [part.text for part in expected.parts]


def test_every_option_means_what_the_translator_means_by_it(models: Models, look: Translator) -> None:
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {}),
        ({"beam": 1}, {"beam": 1}),
        ({"nbest": 7}, {"nbest": 7}),
        ({"prefix": "we"}, {"prefix": "we"}),
        ({"required": ["Seoul"], "forbidden": ["am"]}, {"required": ["Seoul"], "forbidden": ["am"]}),
        ({"required": {"서울에": "Seoul", "없는": "teacher"}}, {"required": {"서울에": "Seoul", "없는": "teacher"}}),
        ({"sample": True, "seed": 3}, {"search": SearchConfig(sample=True, seed=3)}),
        (
            {"sample": True, "nbest": 2, "temperature": 0.5, "top_k": 4, "top_p": 0.9},
            {"search": SearchConfig(sample=True, nbest=2, temperature=0.5, top_k=4, top_p=0.9)},
        ),
    ]
    for asked, given in cases:
        texts = SOURCES[1:3]
        expected = [translation.text for translation in look.translate(texts, **given)]
        assert [answer["text"] for answer in translate(models, run="look", text=texts, **asked)] == expected, asked


def test_prefix_ids_are_what_a_translation_begins_with(models: Models, said: Translation) -> None:
    (answer,) = translate(models, run="look", text=SOURCE, prefix_ids=list(said.token_ids[:3]))
    assert answer["token_ids"][:3] == list(said.token_ids[:3])
    with pytest.raises(ConfigError, match="vocabulary"):
        translate(models, run="look", text=SOURCE, prefix_ids=[10**6])


def test_nothing_asked_for_is_the_default_of_the_translator() -> None:
    assert search_config(SearchOptions()) == chosen(None, None, None)
    assert search_config(SearchOptions(beam=3)) == chosen(None, 3, None)


def test_a_search_can_be_cancelled(models: Models) -> None:
    with pytest.raises(Cancelled):
        models.translate("look", [TextJob(SOURCE)], SearchOptions(), lambda: True)


def test_placeholders_come_through_when_that_is_asked_for(models: Models) -> None:
    """The vocabulary lacks them: what was demanded is put in, or left to those who write the document."""
    jobs = [TextJob("나는 %s 입니다 .", faithful=True), TextJob("나는 학생 입니다 .", faithful=True)]
    answers = models.translate("look", jobs, SearchOptions())
    assert answers[1]["text"] == models.translators["look"].translate(jobs[1].text).text
    assert isinstance(answers[0]["text"], str)


def test_runs_describe_themselves(models: Models) -> None:
    described = {entry["name"]: entry for entry in models.describe()}
    assert [described[name]["layers"] for name in ("look", "blind", "layers")] == [1, 0, 3]
    assert [described[name]["heads"] for name in ("look", "blind", "layers")] == [1, 0, 4]
    entry = described["look"]
    assert (entry["kind"], entry["family"], entry["source"], entry["target"]) == ("text", "rnnsearch", "ko", "en")
    assert entry["parameters"] == sum(p.numel() for p in models.translators["look"].model.parameters())
    assert entry["max_length"] == 16
    assert entry["engine"] == "torch"


@pytest.mark.parametrize(("run", "message"), [("lok", "did you mean 'look'"), ("", "not served")])
def test_a_run_that_is_not_served_is_named(models: Models, run: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        models.translator(run)
    with pytest.raises(ConfigError, match="is no voice"):
        models.voice("look")


# ----- one sentence looked at


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_a_map_is_packed_as_for_a_page(models: Models, kind: Any) -> None:
    translator = models.translators["layers"]
    made = translator.translate(SOURCE)
    answer = ask(models, LookRequest, run="layers", source=SOURCE, target_ids=made.token_ids, kind=kind)
    assert answer["kinds"] == ["cross", "encoder", "decoder"]
    assert answer["layers"] == ["0", "1", "2"]
    forced = translator.forced_ids(SOURCE, made.token_ids)
    assert answer["map"] == pack(forced.maps[kind])
    one = ask(models, LookRequest, run="layers", source=SOURCE, target_ids=made.token_ids, kind=kind, layer=1)
    assert one["map"] == pack(forced.maps[kind].layer(1))
    assert one["layers"] == ["0", "1", "2"]


def test_a_map_too_large_for_one_answer_comes_layer_by_layer(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    made = models.translators["layers"].translate(SOURCE)
    monkeypatch.setattr(maps, "MOST_WEIGHTS", 100)
    answer = ask(models, LookRequest, run="layers", source=SOURCE, target_ids=made.token_ids)
    assert answer["map"]["layers"] == ["2"]
    assert answer["layers"] == ["0", "1", "2"]


def test_posterior_and_occlusion_are_second_and_third_opinions(
    models: Models, look: Translator, said: Translation
) -> None:
    forced = look.forced_ids(SOURCE, said.token_ids)
    answer = ask(
        models, LookRequest, run="look", source=SOURCE, target_ids=said.token_ids, posterior=True, occlusion=True
    )
    weighed = look.posterior(forced)
    assert weighed is not None
    assert answer["map"] == pack(weighed)
    losses = occlude(look, SOURCE, said.token_ids)
    assert answer["occlusion"]["loss"] == losses.loss
    assert answer["occlusion"]["totals"] == losses.totals()
    assert list(answer["occlusion"]["words"]) == SOURCE.split()


def test_what_if_gives_both_translations_and_the_map_of_the_other(models: Models, look: Translator) -> None:
    edits = {"ablate": ["cross:0.0"]}
    answer = ask(models, LookRequest, run="look", source=SOURCE, target_ids=[], edits=edits, beam=2)
    changed = look.what_if([parse_ablation("cross:0.0")]).translate(SOURCE, beam=2)
    assert answer["before"]["text"] == look.translate(SOURCE, beam=2).text
    assert answer["after"]["text"] == changed.text
    assert answer["map"] == pack(changed.maps["cross"])
    forced = ask(models, LookRequest, run="look", source=SOURCE, target_ids=[], edits={"force": ["1:#2=1.0"]})
    assert forced["map"]["cells"] != answer["map"]["cells"]
    with pytest.raises(ConfigError, match="no word"):
        ask(models, LookRequest, run="look", source=SOURCE, target_ids=[], edits={"scale": ["없는말=0.5"]})


def test_a_family_without_attention_has_no_map(models: Models) -> None:
    answer = ask(models, LookRequest, run="blind", source=SOURCE, target_ids=[7])
    assert answer == {"map": None, "layers": [], "kinds": [], "head": None}
    with pytest.raises(ConfigError, match="has no decoder attention; it has cross"):
        ask(models, LookRequest, run="look", source=SOURCE, target_ids=[7], kind="decoder")


def test_a_beam_is_its_tree_with_a_token_for_each_node(models: Models, look: Translator) -> None:
    answer = ask(models, BeamRequest, run="look", text=SOURCE, beam=3)
    made = look.translate(SOURCE, search=chosen(None, 3, 3), record=True)
    assert made.tree is not None
    assert answer["tree"] == made.tree.as_dict()
    assert [hypothesis["token_ids"] for hypothesis in answer["translation"]["nbest"]] == [
        list(hypothesis.token_ids) for hypothesis in made.nbest
    ]
    nodes = answer["tree"]["nodes"]
    (place,) = [place for place, node in enumerate(nodes) if node[7] == 2]
    path: list[int] = []
    while place is not None:
        path.insert(0, nodes[place][8])
        place = nodes[place][1]
    ids = list(made.nbest[1].token_ids)
    assert path[: len(ids)] == ids
    again = ask(models, BeamRequest, run="look", text=SOURCE, beam=3, prefix_ids=ids[:2])
    assert all(hypothesis["token_ids"][:2] == ids[:2] for hypothesis in again["translation"]["nbest"])


def test_a_step_is_its_walkthrough_and_the_same_as_numpy(models: Models, look: Translator, said: Translation) -> None:
    answer = ask(models, ExplainRequest, run="look", source=SOURCE, target_ids=said.token_ids, step=2)
    walk = look.explain(look.forced_ids(SOURCE, said.token_ids), 2)
    assert {name: answer[name] for name in walk.as_dict()} == dict(walk.as_dict())
    assert answer["numpy"] == walk.as_numpy()
    with pytest.raises(ConfigError, match="step = 900"):
        ask(models, ExplainRequest, run="look", source=SOURCE, target_ids=said.token_ids, step=900)
    with pytest.raises(ConfigError, match="layer"):
        ask(models, ExplainRequest, run="look", source=SOURCE, target_ids=said.token_ids, step=1, layer=7)


def test_other_words_are_those_of_the_session(models: Models, look: Translator, said: Translation) -> None:
    answer = ask(models, AlternativesRequest, run="look", source=SOURCE, target_ids=said.token_ids, word=1)
    expected = alternatives(look, SOURCE, said.token_ids, 1)
    assert [(entry["word"], tuple(entry["ids"])) for entry in answer["alternatives"]] == [
        (found.word, found.ids) for found in expected
    ]


def test_runs_side_by_side(models: Models) -> None:
    answer = ask(models, CompareRequest, runs=["look", "blind", "layers"], text=SOURCE, beam=2)
    for row, name in zip(answer["runs"], ("look", "blind", "layers"), strict=True):
        expected = models.translators[name].translate(SOURCE, beam=2)
        assert row["run"] == name
        assert row["translation"]["text"] == expected.text
        assert row["translation"]["ms"] > 0
        whole = expected.attention
        assert row["map"] == (None if whole is None else pack(whole.best().words()))
    empty = ask(models, CompareRequest, runs=["look"], text=" ")
    assert empty["runs"][0]["map"] is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"source": " "}, "the source is empty"),
        ({"source": " ".join(SOURCES * 3)}, "too long for the run to translate at once"),
        ({"source": "가" * 50_000}, "too long"),
        ({"target_ids": [7] * 65}, "at most 64 at once"),
        ({"target_ids": [10**6]}, "vocabulary"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_before_it_costs_anything(
    models: Models, fields: dict[str, Any], message: str
) -> None:
    for kind, more in ((LookRequest, {}), (ExplainRequest, {"step": 1}), (AlternativesRequest, {"word": 0})):
        with pytest.raises(ConfigError, match=message):
            ask(models, kind, **{"run": "look", "source": SOURCE, "target_ids": [7], **more, **fields})


def test_a_beam_of_nothing_or_too_much_is_refused(models: Models) -> None:
    for text, message in ((" ", "empty"), (" ".join(SOURCES * 3), "too long")):
        with pytest.raises(ConfigError, match=message):
            ask(models, BeamRequest, run="look", text=text)


# ----- voices


@pytest.fixture(scope="module")
def voices(voice_run: ServedRun) -> Models:
    return Models([voice_run], "torch")


def test_a_voice_says_a_text_and_shows_how(voices: Models, tmp_path: Path) -> None:
    answer = voices.answer(SpeakJob("voice", "abba", {}, None))
    spoken = voices.voices["voice"].speak("abba")
    assert answer["wav"] == audio.encoded(spoken.samples, spoken.rate)
    assert (answer["seconds"], answer["stopped"], answer["rate"]) == (spoken.seconds, spoken.stopped, spoken.rate)
    assert answer["alignment"] == pack(spoken.alignment)
    assert spoken.style is not None
    assert answer["style"]["map"] == pack(spoken.style)
    assert (answer["mel"]["frames"], answer["mel"]["mels"]) == spoken.mel.shape
    described = voices.describe()[0]
    assert (described["kind"], described["tokens"]) == ("voice", 5)
    assert described["style"] == [pytest.approx(row, abs=1e-5) for row in answer["style"]["weights"]]


def test_a_recording_sets_the_style_and_hands_set_tokens(voices: Models) -> None:
    wav = audio.encoded(tone("abba", 300.0), 16_000)
    heard = voices.answer(StyleRequest("voice", wav))
    assert [len(row) for row in heard["weights"]] == [5, 5]
    assert sum(heard["weights"][0]) == pytest.approx(1.0, abs=1e-4)
    style = tuple(map(tuple, heard["weights"]))
    spoken = voices.answer(SpeakJob("voice", "ab", {}, style))
    assert spoken["style"]["weights"] == [pytest.approx(row, abs=1e-5) for row in heard["weights"]]
    by_hand = voices.answer(SpeakJob("voice", "ab", {"3": 0.75, "1:2": 0.125}, None))["style"]["weights"]
    assert [row[3] for row in by_hand] == [0.75, 0.75]
    assert by_hand[1][2] == 0.125
    assert by_hand[0][2] != 0.125
    with pytest.raises(ConfigError, match="token 9"):
        voices.answer(SpeakJob("voice", "ab", {"9": 0.5}, None))
    with pytest.raises(Exception, match=r"recording\.wav|sound|WAV|audio"):
        voices.answer(StyleRequest("voice", b"RIFF\0\0\0\0WAVE nothing"))
    with pytest.raises(ConfigError, match="it speaks, it does not translate"):
        voices.translate("voice", [TextJob("ab")], SearchOptions())
