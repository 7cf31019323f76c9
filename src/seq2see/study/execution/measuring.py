"""What a finished run is worth: the counts of every sentence, how fast it decodes, how well it aligns.

All scores are functions of sums of counts (evaluate.metrics), so that counts are all that results.json has to keep:
scores, intervals, paired tests and quality by length follow from them, without the run and without the texts.
"""

import base64
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seq2see.errors import RunError
from seq2see.evaluate.alignment import AlignmentCounts, read_bitext, read_gold, score_alignments
from seq2see.evaluate.evaluation import EvaluationSettings
from seq2see.evaluate.metrics import Metric, Name, Tokenize, make_metric, tokenizer_for
from seq2see.evaluate.testset import References, read_references
from seq2see.models import parameters
from seq2see.report.page import read_training, thinned
from seq2see.runs.checkpoint import newest_progress
from seq2see.search import SearchConfig
from seq2see.session.aligning import choose_head, look_all
from seq2see.session.loading import load
from seq2see.session.translator import Translator
from seq2see.study.definition.identity import ScoredSet
from seq2see.text import normalise

_POINTS = 60  # of the curve of training losses
_MOST_SENTENCES = 5_000_000
_MOST_COLUMNS = 64

Packed = dict[str, Any]


@dataclass(frozen=True)
class MeasuringPlan:
    """How cells are scored."""

    metrics: tuple[Name, ...]
    tokenize: Tokenize | None
    search: SearchConfig


def pack_counts(values: NDArray[Any]) -> Packed:
    """Whole numbers, (sentences,) or (sentences, columns), in a few bytes each: column by column, compressed."""
    whole = np.rint(values).astype("<i4")
    content = zlib.compress(np.ascontiguousarray(whole.T).tobytes(), 9)
    return {"shape": list(whole.shape), "data": base64.b64encode(content).decode()}


def unpack_counts(packed: Mapping[str, Any]) -> NDArray[np.float64]:
    """RunError for what `pack_counts` did not write."""
    try:
        shape = tuple(int(size) for size in packed["shape"])
        rows, columns = shape[0], shape[1] if len(shape) == 2 else 1
        if len(shape) not in (1, 2) or not (0 <= rows <= _MOST_SENTENCES and 0 <= columns <= _MOST_COLUMNS):
            raise ValueError
        size = 4 * rows * columns
        content = zlib.decompressobj().decompress(base64.b64decode(packed["data"]), size + 1)
        return np.frombuffer(content, "<i4").reshape(shape[::-1]).T.astype(np.float64)
    except (KeyError, ValueError, TypeError, IndexError, zlib.error):
        raise RunError(
            "the counts of a cell in results.json are damaged; take them out, and it is scored again"
        ) from None


def describe_run(run: Path) -> dict[str, Any]:
    """What is known of a finished run without translating anything; what clocks say is under `clock`."""
    progress = newest_progress(run / "checkpoints")
    training = read_training(run)
    scores = {name: [list(point) for point in points] for name, points in training.scores.items()}
    return {
        "updates": progress.step,
        "best_update": progress.best_step,
        "curve": {"losses": [list(point) for point in thinned(training.losses, _POINTS)], "scores": scores},
        "clock": {
            "minutes": progress.seconds / 60,
            "elapsed": [[step, seconds] for step, seconds in training.elapsed.items()],
        },
    }


class Measurer:
    """A finished run, loaded once for all sets."""

    def __init__(self, run: Path, plan: MeasuringPlan) -> None:
        torch.set_num_threads(1)
        self.translator: Translator = load(run, engine="torch")
        self.plan = plan
        self.pieces = 0
        self.seconds = 0.0  # of the processor

    @property
    def parameters(self) -> int:
        return parameters(self.translator.model)

    @property
    def speed(self) -> float | None:
        """Pieces a second of one core, over all sets that were translated."""
        return self.pieces / self.seconds if self.seconds else None

    def score(self, scored: ScoredSet) -> tuple[dict[str, Any], dict[str, Any]]:
        """What belongs to the cell, and what belongs to the set whoever translates it."""
        test = _read(scored)
        outputs = self._translate(test)
        metrics = [_metric(name, test, self.plan.tokenize) for name in self.plan.metrics]
        counts = {metric.name: pack_counts(metric.counts(outputs, test.references)) for metric in metrics}
        return {"set": scored.digest, "counts": counts}, self._describe_set(test)

    def _translate(self, test: References) -> list[str]:
        began = time.process_time()
        translations = list(self.translator.translate_all(test.sources, self.plan.search, window=256))
        self.seconds += time.process_time() - began
        self.pieces += sum(len(translation.tokens) for translation in translations)
        return [normalise(translation.text) for translation in translations]

    def _describe_set(self, test: References) -> dict[str, Any]:
        lengths = EvaluationSettings(self.plan.metrics).lengths(test)
        return {
            "pairs": test.name,
            "sentences": len(test),
            "unit": lengths.unit,
            "lengths": pack_counts(lengths.values),
            "tokenize": self.plan.tokenize or tokenizer_for(test.references),
        }

    def align(self, files: Mapping[str, str]) -> dict[str, Any] | None:
        """Alignment error against gold; None for a family without attention. The head is chosen by the same pairs."""
        if not any(layer.kind == "cross" for layer in self.translator.model.attentions()):
            return None
        pairs = [(normalise(source), normalise(target)) for source, target in read_bitext(files["pairs"])]
        gold = read_gold(files["gold"], files.get("annotated"))
        if files.get("flip", "").lower() == "true":
            pairs = [(target, source) for source, target in pairs]
            gold = [links.flipped() for links in gold]
        best = choose_head(self.translator, pairs, gold, remember=False).best
        alignments = [
            frozenset(whole.layer(best.layer).head(best.head).alignment().pairs)
            for whole in look_all(self.translator, pairs)
        ]
        counts = score_alignments(alignments, gold)
        return {"counts": list(counts), "layer": best.layer, "head": best.head}


def _metric(name: Name, test: References, tokenize: Tokenize | None) -> Metric:
    return make_metric(name, test.references, tokenize)


def _read(scored: ScoredSet) -> References:
    data = scored.data
    return read_references(
        scored.pairs,
        form=data.form,
        source_language=data.source_language,
        target_language=data.target_language,
        flip=data.flip,
        limit=scored.limit,
        encoding=data.encoding,
        split=scored.split,
    )


def error_rate(counts: Sequence[int]) -> float:
    """The alignment error rate of counts that `Measurer.align` kept, in percent."""
    return 100 * AlignmentCounts(*counts).aer
