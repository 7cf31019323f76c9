"""The lesson *heads*: self-, masked and cross-attention of a trained Transformer, head by head, in numbers.

The model learns short sentences of `phrases-basic`, and a small grammar of its own in which 배, 차 and 눈 have two
meanings each; only the verb tells them apart.
"""

from dataclasses import replace
from itertools import islice, product
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field

from seq2see import corpora
from seq2see.attention import MultiHead
from seq2see.data import Batch
from seq2see.learn.blocks import LessonTable, Matrix, Section, TableColumn
from seq2see.learn.lesson import Attempt, Lesson, LessonPage, LessonSettings
from seq2see.learn.papers import CLARK_2019, MICHEL_2019, VASWANI_2017, Origin
from seq2see.learn.quoting import quote
from seq2see.learn.texts import heads as words
from seq2see.learn.wording import Wording
from seq2see.learn.workshop import Workshop
from seq2see.look.intervene.whatif import Ablate, what_if
from seq2see.models import Model
from seq2see.models.base import Kind
from seq2see.models.selfattention import TransformerEncoder
from seq2see.runs.folder import load_run
from seq2see.session import Translator, load
from seq2see.training.loss import cross_entropy
from seq2see.vocabulary import EOS

LAYERS, HEADS = 2, 4
LONGEST = 9  # words of an English sentence
KINDS: tuple[Kind, ...] = ("encoder", "decoder", "cross")
KIND_NAMES: dict[Kind, Wording] = {"encoder": words.ENCODER, "decoder": words.DECODER, "cross": words.CROSS}
SUBJECTS = {"나는": "I", "그는": "he", "우리는": "we", "민수는": "Minsu"}
TIMES = {"": "", "어제": "yesterday", "오늘": "today", "아침에": "in the morning"}
QUALITIES = {"": "", "큰": "big", "새": "new"}
# A thing and what is done with it; the same Korean word has another English one with another verb.
DEEDS = {
    ("배를", "먹었어요"): ("ate", "pear"),
    ("배를", "탔어요"): ("took", "ship"),
    ("차를", "마셨어요"): ("drank", "tea"),
    ("차를", "운전했어요"): ("drove", "car"),
    ("눈을", "감았어요"): ("closed", "eyes"),
    ("눈을", "치웠어요"): ("cleared", "snow"),
    ("사과를", "먹었어요"): ("ate", "apple"),
    ("버스를", "탔어요"): ("took", "bus"),
    ("물을", "마셨어요"): ("drank", "water"),
    ("문을", "감았어요"): ("closed", "door"),
}
TRAINING = {
    "batch_tokens": 800,
    "learning_rate": 4e-3,
    "schedule": "linear",
    "warmup": 40,
    "weight_decay": 0.0,
    "label_smoothing": 0.0,
    "validate_every": 100_000,
    "threads": 1,
    "device": "cpu",
}


class HeadsSettings(LessonSettings):
    word: Literal["배를", "차를", "눈을"] = Field("배를", description="the word with two meanings")
    seed: int = Field(1, ge=0, le=1_000, description="of the initial weights")


def small_grammar() -> list[tuple[str, str]]:
    """Every sentence that there is: time, subject, quality, thing, verb; in English the verb comes second."""
    pairs = []
    for (time, when), (who, subject), (quality, kind), ((thing, verb), (did, what)) in product(
        TIMES.items(), SUBJECTS.items(), QUALITIES.items(), DEEDS.items()
    ):
        korean = " ".join(filter(None, (time, who, quality, thing, verb)))
        english = " ".join(filter(None, (subject, did, "the", kind, what, when)))
        pairs.append((korean, english))
    return pairs


def short_phrases(split: corpora.Split, count: int) -> list[tuple[str, str]]:
    """Sentences of the built-in grammar with at most nine English words."""
    found = corpora.examples("phrases-basic", split, limit=1_000_000)
    short = (example for example in found if len(example.target.split()) <= LONGEST)
    return [(example.source, example.target) for example in islice(short, count)]


def trained(workshop: Workshop, seed: int = 1) -> Translator:
    """Two layers of four heads, trained now, in about a minute, or long ago."""
    sizes = {"width": 64, "heads": HEADS, "inner": 128, "layers": LAYERS, "dropout": 0.0}
    settings: dict[str, Any] = {
        "data": {"valid_pairs": 40},
        "tokenizer": {"scheme": "word", "vocabulary": 3000, "byte_fallback": False},
        "model": {"family": "transformer", "size": "tiny", **sizes},
        "training": TRAINING | {"steps": 6 if workshop.quick else 700, "seed": seed},
    }
    pairs = short_phrases("train", 50 if workshop.quick else 8_000)
    return load(workshop.trained("heads", settings, [*pairs, *small_grammar() * (1 if workshop.quick else 2)]))


def batch_of(translator: Translator, pairs: list[tuple[str, str]]) -> Batch:
    reader, speaker = translator.tokenizers
    sources = [[*reader.encode(source).ids, EOS] for source, _ in pairs]
    return Batch.of(sources, [list(speaker.encode(target).ids) for _, target in pairs])


@torch.no_grad()
def loss_of(model: Model[Any, Any], batch: Batch) -> float:
    """Of a word, in nats."""
    return float(cross_entropy(model(batch), batch.target_out, batch.target_mask, 0.0)) / int(batch.target_mask.sum())


@torch.no_grad()
def described(translator: Translator, pairs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Every head: entropy and distance of its rows, its share on special tokens, the loss when it is switched off."""
    maps = [translator.forced(source, target).maps for source, target in pairs]
    batch = batch_of(translator, pairs)
    usual = loss_of(translator.model, batch)
    rows = []
    for kind, layer, head in product(KINDS, range(LAYERS), range(HEADS)):
        summaries = [shown[kind].summary()[layer * HEADS + head] for shown in maps]
        without = what_if(translator.model, [Ablate(kind, layer, head)])
        rows.append(
            {
                "kind": kind,
                "layer": layer,
                "head": head,
                "entropy": float(np.mean([line.entropy for line in summaries])),
                "distance": float(np.mean([distance(shown[kind].weights[layer, head]) for shown in maps])),
                "marks": float(np.mean([line.sink_share for line in summaries])),
                "lost": loss_of(without, batch) - usual,
            }
        )
    return rows


def distance(weights: Any) -> float:
    """(T, S) -> how many positions away a row looks, on average."""
    rows, columns = np.indices(weights.shape)
    return float((weights * np.abs(rows - columns)).sum() / weights.sum())


def meanings(word: str) -> list[tuple[str, str, str]]:
    """The verbs that go with a word: (verb, what it means then, the sentence)."""
    return [(verb, what, f"나는 {word} {verb}") for (thing, verb), (_, what) in DEEDS.items() if thing == word]


@torch.no_grad()
def vectors(translator: Translator, sentence: str, word: str) -> list[torch.Tensor]:
    """What the encoder has of a word: its word vector in its place, and the vector behind each block."""
    source = batch_of(translator, [(sentence, "I")]).source
    encoder = translator.model.encoder
    assert isinstance(encoder, TransformerEncoder)
    place = sentence.split().index(word)
    x = encoder.embedding(source)
    found = [x[0, place]]
    for block in encoder.blocks:
        x, _ = block(x, torch.ones(1, 1, source.size(1), dtype=torch.bool), need_weights=False)
        found.append(x[0, place])
    return found


def teach(settings: HeadsSettings, workshop: Workshop) -> LessonPage:
    translator = trained(workshop, settings.seed)
    sample = short_phrases("test", 3 if workshop.quick else 60)
    made_from = {"run": translator.path.name, "sentences": len(sample)}
    rows = workshop.measured("heads", made_from, lambda: described(translator, sample))
    both = meanings(settings.word)
    apart = _cosines(translator, settings.word, both)
    told = [translator.translate(sentence).text for _, _, sentence in both]
    blind = _blind(translator)
    guessed = [blind.translate(sentence).text for _, _, sentence in both]
    most, least = max(rows, key=lambda row: row["lost"]), min(rows, key=lambda row: row["lost"])
    numbers = {
        "most": _named(most),
        "most_lost": most["lost"],
        "least": _named(least),
        "least_lost": least["lost"],
        "low": min(row["entropy"] for row in rows),
        "high": max(row["entropy"] for row in rows),
        "word": settings.word,
        "first": apart[0],
        "last": apart[-1],
    }
    return LessonPage(
        words.QUESTION,
        (
            _three_kinds(translator, both[0][2]),
            _every_head(rows, len(sample), numbers),
            _two_meanings(settings.word, both, apart, told, guessed, numbers),
        ),
        words.ANSWER.fill(numbers),
        attempts=(
            Attempt(words.TRY_WORD, ("word=차를",)),
            Attempt(words.TRY_SEED, ("seed=2",)),
        ),
        origins=(
            Origin(VASWANI_2017, "sections 3.2.2 and 3.2.3", words.ORIGIN_HEADS),
            Origin(MICHEL_2019, "section 3", words.ORIGIN_OFF),
            Origin(CLARK_2019, "section 3", words.ORIGIN_ROLES),
        ),
        following=("block",),
        commands=('seq2see look RUN "..." --summary', 'seq2see look RUN "..." --ablate encoder:0.1'),
    )


def _blind(translator: Translator) -> Translator:
    """The same with every head of its encoder's self-attention switched off: no word sees another."""
    run = load_run(translator.path)
    return Translator([replace(run, model=what_if(run.model, [Ablate("encoder")]))])


def _cosines(translator: Translator, word: str, both: list[tuple[str, str, str]]) -> list[float]:
    """How alike the word's vectors are in its two sentences, before and behind each block."""
    first, second = (vectors(translator, sentence, word) for _, _, sentence in both)
    return [float(torch.cosine_similarity(a, b, dim=0)) for a, b in zip(first, second, strict=True)]


def _named(row: dict[str, Any]) -> Wording:
    kind, place = KIND_NAMES[row["kind"]], f"{row['layer']}.{row['head']}"
    return Wording(f"{kind.en} {place}", f"{kind.ko} {place}")


# ----- the sections


def _three_kinds(translator: Translator, sentence: str) -> Section:
    shown = translator.translate(sentence)
    rows = {kind: attention.mean() for kind, attention in shown.maps.items()}
    matrices = [_weights(KIND_NAMES[kind], rows[kind]) for kind in KINDS if kind in rows]
    return Section(
        words.KINDS_TITLE,
        (
            words.KINDS.fill({"source": sentence, "target": shown.text}),
            *matrices,
            words.KINDS_READ,
            words.KINDS_MORE,
            quote("head_i = Attention(Q W_i^Q, K W_i^K, V W_i^V)", MultiHead.attend, "raw = split", "spread ="),
        ),
        code="from seq2see.learn.workshop import Workshop\n"
        "translator = trained(Workshop(quick=True))\n"
        f"shown = translator.translate({sentence!r})\n"
        "for kind, attention in shown.maps.items():\n    print(kind, attention.weights.shape)",
    )


def _weights(name: Wording, attention: Any) -> Matrix:
    """The mean of all heads as numbers, marks included."""
    short = attention.words()
    return Matrix(
        name,
        tuple(short.target.tokens),
        tuple(short.source.tokens),
        short.weights[0, 0].astype(np.float64),
        shaded=True,
    )


def _every_head(rows: list[dict[str, Any]], count: int, numbers: dict[str, Any]) -> Section:
    columns = (
        TableColumn(words.COLUMN_KIND),
        TableColumn(words.COLUMN_HEAD),
        TableColumn(words.COLUMN_ENTROPY, ".2f"),
        TableColumn(words.COLUMN_DISTANCE, ".2f"),
        TableColumn(words.COLUMN_MARKS, ".2f"),
        TableColumn(words.COLUMN_LOST, "+.3f"),
    )
    table = tuple(
        (
            KIND_NAMES[row["kind"]],
            f"{row['layer']}.{row['head']}",
            row["entropy"],
            row["distance"],
            row["marks"],
            row["lost"],
        )
        for row in rows
    )
    return Section(
        words.TABLE_TITLE,
        (words.TABLE.fill({"count": count}), LessonTable(columns, table), words.TABLE_READ.fill(numbers)),
        code="for row in described(translator, short_phrases('test', 4)):\n    print(row)",
    )


def _two_meanings(
    word: str,
    both: list[tuple[str, str, str]],
    apart: list[float],
    told: list[str],
    guessed: list[str],
    numbers: dict[str, Any],
) -> Section:
    layers = (
        TableColumn(words.COLUMN_BEHIND),
        TableColumn(words.COLUMN_ALIKE, ".3f", bar=True),
    )
    alike = tuple(
        (words.WORD_VECTOR if place == 0 else words.BLOCK_NUMBER.fill({"number": place - 1}), max(0.0, cosine))
        for place, cosine in enumerate(apart)
    )
    said = (TableColumn(words.COLUMN_SENTENCE), TableColumn(words.COLUMN_TOLD), TableColumn(words.COLUMN_BLIND))
    rows = tuple((sentence, tell, guess) for (_, _, sentence), tell, guess in zip(both, told, guessed, strict=True))
    return Section(
        words.MEANINGS_TITLE,
        (
            words.MEANINGS.fill({"word": word, "one": both[0][1], "other": both[1][1]}),
            LessonTable(layers, alike),
            words.MEANINGS_READ.fill(numbers),
            LessonTable(said, rows),
            words.BLIND_READ,
        ),
        code=f"both = meanings({word!r})\nprint(both)\n"
        f"print([torch.cosine_similarity(a, b, dim=0) for a, b in "
        f"zip(*(vectors(translator, sentence, {word!r}) for _, _, sentence in both))])",
    )


LESSON = Lesson("heads", words.TITLE, HeadsSettings, teach)
