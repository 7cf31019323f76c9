"""Texts with placeholders: with them, or without and put back."""

from dataclasses import replace

import numpy as np
import pytest
from folders import FAMILIES, SOURCES, TARGETS, make_run

import seq2see
from seq2see.formats.documents.placeholders import faithful
from seq2see.look import AttentionMap
from seq2see.look.map.side import side_of
from seq2see.session.documents import plainly, surer, with_placeholders
from seq2see.session.translation import Request, Translation
from seq2see.session.translator import DEFAULT, Translator
from seq2see.text import Tokenizer, TokenizerConfig

TEXT = "나는 <1>학생</1> 입니다 ."
PLAIN = "나는 학생 입니다 ."
WORDS = TokenizerConfig(scheme="word", min_frequency=1, byte_fallback=False)


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return seq2see.load(make_run(tmp_path_factory.mktemp("documents") / "run"))


def spoken(text: str, score: float, looked_at: list[int] | None = None) -> Translation:
    """A translation of PLAIN by words, each as sure as the others, each looking at one source word."""
    reading = Tokenizer.train(TARGETS, WORDS)
    written = reading.read(reading.ids_batch([text])[0])
    columns, rows = side_of(Tokenizer.train(SOURCES, WORDS).encode(PLAIN)), side_of(written)
    weights = np.full((len(rows), len(columns)), 0.05, dtype=np.float32)
    for row, column in enumerate(looked_at or []):
        weights[row, column] = 0.8
    seen = {"cross": AttentionMap(columns, rows, "cross", weights[None, None])} if looked_at else {}
    one = Translation(PLAIN, text, score, tuple(written.tokens), (score,) * len(rows), compute_maps=lambda: seen)
    return replace(one, nbest=(one,))


def test_a_model_that_is_sure_of_its_placeholders_keeps_them(translator: Translator) -> None:
    request = Request(TEXT)
    demanded = replace(spoken("I am a student .", -0.3), text="I am <1>a student</1> .")
    plain, bare = plainly(request)
    assert bare.text == PLAIN
    assert surer(translator, request, demanded, plain, spoken("I am a student .", -0.2)) is demanded


@pytest.mark.parametrize("demanded", [None, "we went <1>to</1> Seoul ."])
def test_one_that_says_nonsense_beside_them_is_asked_without(translator: Translator, demanded: str | None) -> None:
    request = Request(TEXT)
    lost = demanded and replace(spoken("I am a student .", -2.0), text=demanded)
    said = spoken("I am a student .", -0.2, [0, 2, 1, 1, 3])
    better = surer(translator, request, lost or None, plainly(request)[0], said)
    assert better.text == "I am <1>a student</1> ."
    assert better.source == TEXT
    assert better.nbest[0].text == better.text
    assert better.token_scores == said.token_scores


def test_without_attention_a_guess_is_made(translator: Translator) -> None:
    request = Request(TEXT)
    better = surer(translator, request, None, plainly(request)[0], spoken("I am a student .", -0.2))
    assert faithful(TEXT, better.text)


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_loses_one(family: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    model = seq2see.load(make_run(tmp_path_factory.mktemp("families") / family, family, sharp=3.0))
    requests = [Request(text) for text in (TEXT, "%s 나는 {name} 학생 입니다", "<b>우리는</b> <br/> 갔습니다 .")]
    translations = list(model.translate_all(requests, DEFAULT))
    for request, kept in zip(requests, with_placeholders(model, requests, translations, DEFAULT), strict=True):
        assert faithful(request.text, kept.text) or not kept.text.strip()
