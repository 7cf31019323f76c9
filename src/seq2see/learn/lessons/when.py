"""The lesson *when*: Bahdanau's s_t-1 against Luong's s_t, input feeding, local-m and local-p, with alignment error."""

from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from pydantic import Field

from seq2see import corpora
from seq2see.attention.scopes import LocalPredictive
from seq2see.corpora import Example
from seq2see.demo.corpus import crossings
from seq2see.evaluate.alignment import Gold, diagonal, score_alignments
from seq2see.learn.blocks import Block, Equation, LessonTable, MapView, Section, TableColumn
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import BAHDANAU_2014, LUONG_2015, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import when as words
from seq2see.learn.workshop import Workshop
from seq2see.look import AttentionMap
from seq2see.look.draw.page import PageExample
from seq2see.models.luong import LuongDecoder
from seq2see.models.rnnsearch import RnnSearchDecoder
from seq2see.runs import folder
from seq2see.runs.config import merge
from seq2see.session.aligning import look_all
from seq2see.session.loading import load

Variant = Literal["bahdanau", "luong", "feeding", "local_m", "local_p"]
VARIANTS: tuple[Variant, ...] = get_args(Variant)
CORPUS, LONGEST = "phrases-basic", 9  # words of a target: short sentences are learned in seconds
WINDOW = 2
READABLE = 7  # words of a target whose map is drawn
SENTENCES = 12  # unseen ones that can be asked for
FIGURES = ("aer", "exact", "entropy", "missed")
SEEN = 0.2  # of a row: from this weight on a word was looked at

TRAINING = {
    "schedule": "cosine",
    "warmup": 40,
    "learning_rate": 8e-3,
    "beta2": 0.999,
    "batch_tokens": 500,
    "weight_decay": 0.0,
    "label_smoothing": 0.0,
    "validate_every": 1_000_000,
    "save_every": 100,
    "threads": 1,
    "device": "cpu",
}
SIZES = {"embedding": 48, "hidden": 64, "dropout": 0.0}
ENCODER = {"embedding": 48, "hidden": 32, "bidirectional": True, "dropout": 0.0}
MODELS: dict[Variant, dict[str, Any]] = {
    "bahdanau": {"family": "rnnsearch", "readout": 64, "attention": {"score": "additive"}},
    "luong": {"family": "luong", "attention": {"score": "dot"}, "input_feeding": False},
    "feeding": {"family": "luong", "attention": {"score": "dot"}, "input_feeding": True},
    "local_m": {
        "family": "luong",
        "attention": {"score": "dot", "scope": "local-m", "window": WINDOW},
        "input_feeding": False,
    },
    "local_p": {
        "family": "luong",
        "attention": {"score": "dot", "scope": "local-p", "window": WINDOW},
        "input_feeding": False,
    },
}


class WhenSettings(LessonSettings):
    sentence: int = Field(1, ge=1, le=SENTENCES, description=f"which of {SENTENCES} unseen sentences")


# ----- pairs and models


@cache
def short_pairs(split: corpora.Split, count: int) -> tuple[Example, ...]:
    """Sentences of the built-in grammar that are short enough, with the alignment that the grammar knows."""
    every = corpora.examples(CORPUS, split, limit=1_000_000)
    return tuple(islice((example for example in every if len(example.target.split()) <= LONGEST), count))


def chosen() -> list[Example]:
    """Of the first test sentences that fit into a small map, those whose words change their order most."""
    readable = [example for example in short_pairs("test", 100) if len(example.target.split()) <= READABLE]
    return sorted(readable, key=crossings, reverse=True)[:SENTENCES]


def diagonal_error(tested: int) -> float:
    """The alignment error of a straight line from the first words to the last."""
    examples = short_pairs("test", tested)
    lines = [diagonal(len(example.source.split()), len(example.target.split())) for example in examples]
    return score_alignments(lines, [Gold(frozenset(example.alignment or ())) for example in examples]).aer


def unseen(workshop: Workshop) -> tuple[list[Example], float]:
    """The sentences that can be asked for, and the error of a diagonal; kept, for the grammar takes seconds."""
    tested = sizes(quick=workshop.quick)[1]
    made_from = {"corpus": CORPUS, "longest": LONGEST, "readable": READABLE, "tested": tested}
    result = workshop.measured(
        "when-unseen", made_from, lambda: {"sentences": chosen(), "diagonal": diagonal_error(tested)}
    )
    sentences = [
        Example(source, target, tuple((place, other) for place, other in links))
        for source, target, links in result["sentences"]
    ]
    return sentences, float(result["diagonal"])


def model_settings(variant: Variant, *, quick: bool) -> dict[str, Any]:
    """As a recipe has them."""
    return {
        "data": {"valid_pairs": 50},
        "tokenizer": {"scheme": "word", "vocabulary": 6000, "byte_fallback": False},
        "model": merge(SIZES | {"size": "tiny", "encoder": ENCODER}, MODELS[variant]),
        "training": TRAINING | {"steps": 20 if quick else 700},
    }


def sizes(*, quick: bool) -> tuple[int, int]:
    """How many pairs are learned from, and how many it is tested on."""
    return (400, 20) if quick else (6000, 300)


def trained(variant: Variant, workshop: Workshop) -> Path:
    """The run folder of one of the five models."""
    pairs = short_pairs("train", sizes(quick=workshop.quick)[0])
    settings = model_settings(variant, quick=workshop.quick)
    return workshop.trained(f"when-{variant}", settings, [(example.source, example.target) for example in pairs])


def errors(run: Path, tested: int) -> dict[str, float]:
    """A model on unseen pairs: alignment error, exact translations, how wide and how complete its looks are."""
    examples = short_pairs("test", tested)
    translator = load(run)
    maps = [seen.words() for seen in look_all(translator, [(example.source, example.target) for example in examples])]
    gold = [Gold(frozenset(example.alignment or ())) for example in examples]
    outputs = translator.translate_all(example.source for example in examples)
    exact = [output.text == example.target for output, example in zip(outputs, examples, strict=True)]
    missed = [(seen.weights[0, 0].max(axis=0) < SEEN)[~seen.source.special] for seen in maps]
    return {
        "aer": score_alignments([seen.alignment() for seen in maps], gold).aer,
        "exact": sum(exact) / len(exact),
        "entropy": float(np.mean([seen.entropy().mean() for seen in maps])),
        "missed": float(np.concatenate(missed).mean()),
    }


def measured(variant: Variant, workshop: Workshop) -> tuple[Path, dict[str, float]]:
    """The run and its figures; both are kept."""
    settings = model_settings(variant, quick=workshop.quick)

    def measure() -> dict[str, Any]:
        run = trained(variant, workshop)
        return {"run": run.name, "figures": errors(run, sizes(quick=workshop.quick)[1])}

    result = workshop.measured(f"when-{variant}", settings, measure)
    run = workshop.folder / result["run"]
    return run if folder.is_finished(run) else trained(variant, workshop), result["figures"]


def centres(run: Path, source: str, target: str) -> list[float]:
    """p_t of a local-p model for every word of the target, counted from 0: read from the walkthrough of each step."""
    translator = load(run)
    forced = translator.forced(source, target)
    places: list[float] = []
    for step in range(1, len(target.split()) + 1):
        attention = translator.explain(forced, step).attention
        assert attention is not None, "luong has attention"
        places += [float(part.value) for part in attention.region.parts if part.symbol == "centre"]
    return places


# ----- the page


def teach(settings: WhenSettings, workshop: Workshop) -> LessonPage:
    results = {variant: measured(variant, workshop) for variant in VARIANTS}
    sentences, straight = unseen(workshop)
    example = sentences[settings.sentence - 1]
    aers: dict[str, object] = {variant: figures["aer"] for variant, (_, figures) in results.items()}
    return LessonPage(
        words.QUESTION,
        (
            _order(),
            _errors(results, straight, quick=workshop.quick),
            _sentence({variant: run for variant, (run, _) in results.items()}, example, settings.sentence),
            _local(results["local_p"][0], example),
        ),
        words.ANSWER.fill(aers | {"diagonal": straight}),
        attempts=(Attempt(words.TRY_SENTENCE, ("sentence=4",)),),
        origins=(
            Origin(BAHDANAU_2014, "section 3.1, appendix A.1.2", words.ORIGIN_BAHDANAU),
            Origin(LUONG_2015, "section 3.1", words.ORIGIN_GLOBAL),
            Origin(LUONG_2015, "section 3.2", words.ORIGIN_LOCAL),
            Origin(LUONG_2015, "section 3.3", words.ORIGIN_FEEDING),
        ),
        following=("memory", "scores"),
        commands=(
            "seq2see train builtin:phrases-basic --model luong --set model.attention.scope=local-p --out runs/local",
        ),
    )


def _order() -> Section:
    return Section(
        words.ORDER_TITLE,
        (
            words.ORDER,
            Equation("Bahdanau   c_t = attention(s_t-1)      s_t = cell([y_t-1; c_t], s_t-1)"),
            Equation("Luong      s_t = cell(y_t-1, s_t-1)    c_t = attention(s_t)"),
            Equation("           h~_t = tanh(W [c_t; s_t])"),
            quote("Bahdanau: the query is s_t-1", RnnSearchDecoder._advance, "query = self.stack.top"),
            quote("Bahdanau: c_t enters the cell", RnnSearchDecoder._advance, "_, cells = self.stack.step"),
            quote("Luong: step first", LuongDecoder._advance, "top, cells = self.stack.step"),
            quote("Luong: then s_t asks", LuongDecoder._advance, "context, weights ="),
            quote("Luong: h~_t = tanh(W [c_t; s_t])", LuongDecoder._join, "return torch.tanh"),
            words.FEEDING,
            quote("input feeding: h~_t goes into the next step", LuongDecoder._advance, "fed = joined"),
        ),
    )


def _errors(results: dict[Variant, tuple[Path, dict[str, float]]], straight: float, *, quick: bool) -> Section:
    learned, tested = sizes(quick=quick)
    columns = (
        TableColumn(words.COLUMN_MODEL),
        TableColumn(words.COLUMN_QUERY),
        TableColumn(words.COLUMN_AER, ".3f"),
        TableColumn(words.COLUMN_EXACT, ".0%"),
        TableColumn(words.COLUMN_ENTROPY, ".2f"),
        TableColumn(words.COLUMN_UNSEEN, ".0%"),
    )
    rows = tuple(
        (words.NAMES[variant], "s_t-1" if variant == "bahdanau" else "s_t", *(figures[name] for name in FIGURES))
        for variant, (_, figures) in results.items()
    )
    order = sorted(results, key=lambda variant: results[variant][1]["aer"])
    ends = {
        "best": words.NAMES[order[0]],
        "best_aer": results[order[0]][1]["aer"],
        "worst": words.NAMES[order[-1]],
        "worst_aer": results[order[-1]][1]["aer"],
    }
    figures = {"pairs": learned, "tested": tested, "longest": LONGEST, "diagonal": straight}
    updates = model_settings("luong", quick=quick)["training"]["steps"]
    return Section(
        words.ERROR_TITLE,
        (
            words.ERROR.fill(figures | {"updates": updates}),
            LessonTable(columns, rows),
            words.ERROR_READ.fill(ends | {"seen": SEEN}),
        ),
        code=f'workshop = Workshop(quick={quick})\nrun, figures = measured("luong", workshop)\nprint(run, figures)',
    )


def _sentence(runs: dict[Variant, Path], example: Example, number: int) -> Section:
    blocks: list[Block] = [
        words.SENTENCE.fill({"number": number, "count": SENTENCES, "crossings": crossings(example)}),
    ]
    gold = Gold(frozenset(example.alignment or ()))
    for variant, run in runs.items():
        seen = _look(run, example)
        aer = score_alignments([seen.words().alignment()], [gold]).aer
        name = words.NAMES[variant]
        blocks.append(words.MAP.fill({"name": name, "aer": aer}))
        blocks.append(MapView(PageExample((seen,), title=name)))
    return Section(
        words.SENTENCE_TITLE,
        tuple(blocks),
        code=f"example = unseen(workshop)[0][{number - 1}]\n"
        "print(load(run).look(example.source, example.target).words())",
    )


def _look(run: Path, example: Example) -> AttentionMap:
    seen = load(run).look(example.source, example.target)
    assert seen is not None, "both families have attention"
    return seen


def _local(run: Path, example: Example) -> Section:
    predicted = centres(run, example.source, example.target)
    places: dict[int, list[int]] = {}
    for source, target in example.alignment or ():
        places.setdefault(target, []).append(source)
    columns = (
        TableColumn(words.COLUMN_WORD),
        TableColumn(words.COLUMN_TRUE, ".1f"),
        TableColumn(words.COLUMN_M, "d"),
        TableColumn(words.COLUMN_INSIDE_M),
        TableColumn(words.COLUMN_P, ".1f"),
        TableColumn(words.COLUMN_INSIDE_P),
    )
    rows, inside = [], np.zeros(2, dtype=int)
    for step, word in enumerate(example.target.split()):
        if step not in places:
            continue
        true = sum(places[step]) / len(places[step])
        within = [abs(true - step) <= WINDOW, abs(true - predicted[step]) <= WINDOW]
        inside += within
        said = [words.YES if there else words.NO for there in within]
        rows.append((f"{step} {word}", true, step, said[0], predicted[step], said[1]))
    return Section(
        words.LOCAL_TITLE,
        (
            words.LOCAL.fill({"window": WINDOW}),
            Equation("local-m   p_t = t           local-p   p_t = S sigmoid(v . tanh(W s_t))"),
            LessonTable(columns, tuple(rows)),
            words.LOCAL_READ.fill({"rows": len(rows), "inside_m": int(inside[0]), "inside_p": int(inside[1])}),
            quote("p_t = S sigmoid(v . tanh(W s_t))", LocalPredictive.centres, "ratio =", "return"),
            quote("weight_tj exp(-(j - p_t)^2 / (2 sigma^2))", LocalPredictive.forward, "sigma = ", "        )"),
        ),
        code='local, _ = measured("local_p", workshop)\nprint(centres(local, example.source, example.target))',
    )


LESSON = Lesson("when", words.TITLE, WhenSettings, teach)
