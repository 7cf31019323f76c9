"""The lesson *search*: teacher forcing and its loss, greedy against beam, the tree of a beam, the length penalty.

The model learns sentences that have several translations, with shares that are known; so every probability it gives can
be held against the truth, and greedy search fails where it has to.
"""

import math
from typing import Any

import torch
from pydantic import Field

from seq2see.learn.blocks import LessonTable, MapView, Section, TableColumn
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import SUTSKEVER_2014, WU_2016, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import search as words
from seq2see.learn.workshop import Workshop
from seq2see.look.draw.page import PageExample
from seq2see.search import SearchConfig
from seq2see.search.scoring import length_penalty
from seq2see.session import Translation, Translator, load
from seq2see.training.loss import _ChunkedLoss
from seq2see.vocabulary import BOS, EOS

RAIN, GREETING = "비가 와요", "안녕하세요"
# Translations and how many of a hundred pairs have them. `the` is the likeliest first word of RAIN, and leads nowhere.
SHARES: dict[str, dict[str, int]] = {
    RAIN: {"it is raining": 40, "the rain falls": 20, "the rain comes": 20, "the rain pours": 20},
    GREETING: {"hello": 32, "good morning to you": 26, "good day": 21, "good evening": 21},
    "눈이 와요": {"it is snowing": 100},
    "감사합니다": {"thank you": 100},
}
TRAINING = {
    "batch_tokens": 256,
    "learning_rate": 4e-3,
    "schedule": "linear",
    "warmup": 20,
    "weight_decay": 0.0,
    "label_smoothing": 0.0,
    "beta2": 0.999,
    "validate_every": 100_000,
    "threads": 1,
    "device": "cpu",
}


class SearchSettings(LessonSettings):
    beam: int = Field(3, ge=2, le=6, description="hypotheses that are kept at each step")
    alpha: float = Field(0.6, ge=0, le=2, description="how much longer sentences are favoured")


def ambiguous_pairs() -> list[tuple[str, str]]:
    """A hundred pairs of each sentence."""
    counted = [(source, target, count) for source, shares in SHARES.items() for target, count in shares.items()]
    return [(source, target) for source, target, count in counted for _ in range(count)]


def model_settings(steps: int) -> dict[str, Any]:
    """A small `rnnsearch`, as a recipe has it."""
    sizes = {"embedding": 24, "hidden": 32, "readout": 32, "dropout": 0.0}
    encoder = {"embedding": 24, "hidden": 16, "dropout": 0.0}
    return {
        "data": {"valid_pairs": 4},
        "tokenizer": {"scheme": "word", "vocabulary": 60, "byte_fallback": False},
        "model": {"family": "rnnsearch", "size": "tiny", **sizes, "encoder": encoder},
        "training": TRAINING | {"steps": steps},
    }


def trained(workshop: Workshop) -> Translator:
    """Trained now, in seconds, or long ago."""
    return load(workshop.trained("search", model_settings(60 if workshop.quick else 500), ambiguous_pairs()))


@torch.no_grad()
def next_words(translator: Translator, source: str, said: list[str], most: int = 4) -> list[tuple[str, float]]:
    """The likeliest words after those that were said, with their probabilities."""
    reader, speaker = translator.tokenizers
    ids = torch.tensor([[*reader.encode(source).ids, EOS]])
    model = translator.model
    memory = model.encode(ids, torch.ones_like(ids, dtype=torch.bool))
    state = model.start(memory)
    for token in [BOS, *speaker.encode(" ".join(said)).ids]:
        logits, state = model.step(torch.tensor([token]), memory, state)
    best = torch.softmax(logits[0], dim=-1).topk(most)
    names = ["</s>" if token == EOS else speaker.decode([token]).strip() for token in best.indices.tolist()]
    return list(zip(names, best.values.tolist(), strict=True))


def share_of(source: str, said: list[str], word: str) -> float:
    """The share in the pairs: how often this word follows, among translations that begin like this."""
    begun = {tuple(target.split()): count for target, count in SHARES[source].items()}
    begun = {target: count for target, count in begun.items() if list(target[: len(said)]) == said}
    follows = sum(count for target, count in begun.items() if (*target, "</s>")[len(said)] == word)
    return follows / max(1, sum(begun.values()))


def searched(translator: Translator, source: str, beam: int, *, alpha: float | None = None) -> Translation:
    """The search, recorded; with `alpha` the length penalty of GNMT."""
    penalty = {} if alpha is None else {"length_penalty": "gnmt", "alpha": alpha}
    config = SearchConfig.model_validate({"beam": beam, "nbest": beam, **penalty})
    return translator.translate(source, search=config, record=True)


def probability(translation: Translation) -> float:
    """Of the whole sentence, its end included, if no penalty was asked for."""
    return math.exp(translation.score)


def teach(settings: SearchSettings, workshop: Workshop) -> LessonPage:
    translator = trained(workshop)
    greedy, beam = searched(translator, RAIN, 1), searched(translator, RAIN, settings.beam)
    numbers = {
        "greedy": greedy.text,
        "greedy_p": probability(greedy),
        "beam": beam.text,
        "beam_p": probability(beam),
        "width": settings.beam,
    }
    return LessonPage(
        words.QUESTION,
        (
            _forced(translator),
            _greedy(translator, greedy),
            _beam(beam, numbers),
            _lengths(translator, settings),
        ),
        words.ANSWER.fill(numbers),
        attempts=(
            Attempt(words.TRY_BEAM, ("beam=2",)),
            Attempt(words.TRY_ALPHA, ("alpha=0",)),
        ),
        origins=(
            Origin(SUTSKEVER_2014, "section 2, equation 1", words.ORIGIN_FORCING),
            Origin(SUTSKEVER_2014, "section 3.2", words.ORIGIN_BEAM),
            Origin(WU_2016, "section 7, equation 14", words.ORIGIN_PENALTY),
        ),
        following=("style",),
        commands=(f'seq2see look RUN "{RAIN}" --tree --beam {settings.beam}',),
    )


# ----- the sections


def _forced(translator: Translator) -> Section:
    target = next(iter(SHARES[RAIN]))
    said: list[str] = []
    rows: list[tuple[Any, ...]] = []
    total = 0.0
    for word in [*target.split(), "</s>"]:
        found = dict(next_words(translator, RAIN, said, most=translator.target_size))[word]
        rows.append((" ".join(said) or "<s>", word, share_of(RAIN, said, word), found, -math.log(found)))
        total -= math.log(found)
        said.append(word)
    columns = (
        TableColumn(words.COLUMN_SAID),
        TableColumn(words.COLUMN_NEXT),
        TableColumn(words.COLUMN_SHARE, ".2f"),
        TableColumn(words.COLUMN_MODEL, ".2f"),
        TableColumn(words.COLUMN_LOSS, ".3f"),
    )
    return Section(
        words.FORCED_TITLE,
        (
            words.FORCED.fill({"source": RAIN, "target": target}),
            LessonTable(columns, tuple(rows)),
            words.FORCED_READ.fill({"total": total, "probability": math.exp(-total)}),
            quote(
                "- log p(y_t | y_<t, x) = log sum_k exp(z_k) - z_y, summed over t",
                _ChunkedLoss.forward,
                "logits = torch.matmul",
                "total += (mass.log()",
            ),
        ),
        code="from seq2see.learn.workshop import Workshop\n"
        "translator = trained(Workshop(quick=True))\n"
        f"print(next_words(translator, {RAIN!r}, []))\n"
        f"print(next_words(translator, {RAIN!r}, ['it']))",
    )


def _greedy(translator: Translator, greedy: Translation) -> Section:
    rows: list[tuple[Any, ...]] = []
    said: list[str] = []
    product = 1.0
    for word in [*greedy.text.split(), "</s>"][:6]:
        candidates = next_words(translator, RAIN, said, most=3)
        chance = dict(next_words(translator, RAIN, said, most=translator.target_size))[word]
        product *= chance
        others = ", ".join(f"{other} {p:.2f}" for other, p in candidates if other != word)
        rows.append((word, chance, product, others))
        said.append(word)
    columns = (
        TableColumn(words.COLUMN_CHOSEN),
        TableColumn(words.COLUMN_MODEL, ".2f"),
        TableColumn(words.COLUMN_PRODUCT, ".3f"),
        TableColumn(words.COLUMN_OTHERS),
    )
    return Section(
        words.GREEDY_TITLE,
        (
            words.GREEDY,
            LessonTable(columns, tuple(rows)),
            words.GREEDY_READ.fill({"text": greedy.text, "probability": probability(greedy)}),
        ),
        code=f"greedy = searched(translator, {RAIN!r}, 1)\nprint(greedy.text, probability(greedy))",
    )


def _beam(beam: Translation, numbers: dict[str, Any]) -> Section:
    columns = (
        TableColumn(words.COLUMN_HYPOTHESIS),
        TableColumn(words.COLUMN_LOG, ".3f"),
        TableColumn(words.COLUMN_PROBABILITY, ".3f", bar=True),
        TableColumn(words.COLUMN_TRUE, ".2f"),
    )
    truth = {target: count / 100 for target, count in SHARES[RAIN].items()}
    rows = tuple((one.text, one.score, probability(one), truth.get(one.text)) for one in beam.nbest)
    return Section(
        words.BEAM_TITLE,
        (
            words.BEAM.fill(numbers),
            MapView(PageExample((), title=RAIN, tree=beam.tree)),
            LessonTable(columns, rows),
            words.BEAM_READ.fill(numbers),
        ),
        code=f"beam = searched(translator, {RAIN!r}, {numbers['width']})\n"
        "for hypothesis in beam.nbest:\n    print(hypothesis.text, probability(hypothesis))",
    )


def _lengths(translator: Translator, settings: SearchSettings) -> Section:
    plain = searched(translator, GREETING, max(4, settings.beam))
    config = SearchConfig(beam=max(4, settings.beam), length_penalty="gnmt", alpha=settings.alpha)
    rows = []
    for one in plain.nbest:
        length = len(one.token_ids) + 1
        penalty = length_penalty(length, config)
        rows.append((one.text, float(length), one.score, penalty, one.score / penalty))
    columns = (
        TableColumn(words.COLUMN_HYPOTHESIS),
        TableColumn(words.COLUMN_LENGTH, ".0f"),
        TableColumn(words.COLUMN_LOG, ".3f"),
        TableColumn(words.COLUMN_DIVISOR, ".3f"),
        TableColumn(words.COLUMN_SCORE, ".3f"),
    )
    chosen = searched(translator, GREETING, max(4, settings.beam), alpha=settings.alpha)
    read = {"plain": plain.text, "penalised": chosen.text, "alpha": settings.alpha}
    return Section(
        words.LENGTH_TITLE,
        (
            words.LENGTH.fill({"source": GREETING, "alpha": settings.alpha}),
            LessonTable(columns, tuple(rows)),
            words.LENGTH_READ.fill(read),
            quote("score = log p(y | x) / ((5 + |y|) / 6)^alpha", length_penalty, 'case "gnmt"', "return"),
        ),
        code=f"for alpha in (0.0, 0.6, 1.0):\n"
        f"    print(alpha, searched(translator, {GREETING!r}, 4, alpha=alpha).text)",
    )


LESSON = Lesson("search", words.TITLE, SearchSettings, teach)
