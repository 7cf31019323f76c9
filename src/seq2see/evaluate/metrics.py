"""Every metric: what it counts in a sentence, and the score of any sum of such counts.

    bleu    sacreBLEU's corpus BLEU: n-grams of one to four words, brevity penalty
    chrf    sacreBLEU's chrF2: n-grams of one to six characters
    ter     sacreBLEU's translation edit rate: edits and shifts of words for each word of the reference
    exact   outputs that are the reference to the letter
    wer     word error rate: edits for each word of the reference, words as spaces part them
    cer     character error rate; white space counts as one character
    per     phone (token) error rate: what `wer` is, under the name it has where the words are phones

All of them are functions of sums over sentences. So each sentence is counted once, and then a bucket of lengths or a
resample of the whole test set costs a sum and no second look at the text.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric as SacreBleuMetric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from seq2see import __version__
from seq2see.errors import ConfigError, ShapeError, nearest
from seq2see.evaluate.edits import edit_distance
from seq2see.evaluate.script import Unit, length_unit

Name = Literal["bleu", "chrf", "ter", "exact", "wer", "cer", "per"]
NAMES: tuple[Name, ...] = get_args(Name)
Tokenize = Literal["13a", "char", "intl", "zh", "ja-mecab", "ko-mecab", "none"]
TOKENIZERS: tuple[Tokenize, ...] = get_args(Tokenize)
_MECAB = {"ja-mecab": "ja", "ko-mecab": "ko"}
_SENTENCES = 50  # counted between two reports of progress

Values = NDArray[np.float64]
Advance = Callable[[int], None]


class Metric(ABC):
    """Scores are in percent. `counts` are (sentences, columns); their sum over sentences holds all a score needs."""

    name: Name
    label: str
    higher_is_better: bool = True

    def counts(self, outputs: Sequence[str], references: Sequence[str], advance: Advance | None = None) -> Values:
        """(sentences, columns); `advance` is called with the number of sentences done since."""
        if len(outputs) != len(references):
            raise ShapeError(f"{len(outputs)} outputs but {len(references)} references; one for each is needed")
        rows: list[list[float]] = []
        for start in range(0, len(outputs), _SENTENCES):
            some = slice(start, start + _SENTENCES)
            rows += self._count(outputs[some], references[some])
            if advance is not None:
                advance(len(outputs[some]))
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1)

    def score(self, counts: Values) -> float | None:
        """Of these sentences together; None where there is nothing to score."""
        return float(self.scores(counts.sum(axis=0))) if self.defined(counts) else None

    def defined(self, counts: Values) -> bool:
        """Whether these sentences can have a score at all."""
        return len(counts) > 0

    @abstractmethod
    def _count(self, outputs: Sequence[str], references: Sequence[str]) -> list[list[float]]:
        """A row for each sentence."""

    @abstractmethod
    def scores(self, totals: Values) -> Values:
        """(..., columns) -> (...): the score of each sum of counts."""

    @abstractmethod
    def signature(self, resamples: int | None = None, seed: int | None = None, trials: int | None = None) -> str:
        """What somebody else needs to get the same number, in sacreBLEU's form."""


class _SacreBleu(Metric):
    """A metric of sacreBLEU. Its counts have no public name there; a test holds their sums to its public score."""

    def __init__(self, metric: SacreBleuMetric) -> None:
        self._metric = metric
        metric.corpus_score([""], [[""]])  # tells it the number of references, which its signature names

    def _count(self, outputs: Sequence[str], references: Sequence[str]) -> list[list[float]]:
        statistics: list[list[float]] = self._metric._extract_corpus_statistics(list(outputs), [list(references)])
        return statistics

    def signature(self, resamples: int | None = None, seed: int | None = None, trials: int | None = None) -> str:
        signature: Any = self._metric.get_signature()
        for key, value in (("bs", resamples), ("ar", trials), ("seed", seed)):
            signature.update(key, value)
        return str(signature)


class Bleu(_SacreBleu):
    name, label = "bleu", "BLEU"
    ORDERS = 4

    def __init__(self, tokenize: Tokenize) -> None:
        # force: no warning about texts that are tokenised already, as some corpora are
        super().__init__(BLEU(force=True, tokenize=tokenize))

    def defined(self, counts: Values) -> bool:
        """Where no reference has four words, BLEU would be 0 for the best of outputs."""
        return bool((counts[:, 1] >= self.ORDERS).any())

    def scores(self, totals: Values) -> Values:
        """Columns: words of the output, of the reference; then matched and all n-grams, each for four orders."""
        length, reference = totals[..., 0], totals[..., 1]
        matched, ngrams = np.split(totals[..., 2:], 2, axis=-1)
        # an order without a match counts as half a match, the next one as a quarter, ... (sacreBLEU's smooth:exp)
        misses = np.cumsum((matched == 0) & (ngrams > 0), axis=-1)
        smoothed = np.where(matched > 0, matched, 0.5**misses)
        precision = smoothed / np.maximum(ngrams, 1)
        mean = np.exp(np.log(precision).mean(axis=-1))
        brevity = np.exp(np.minimum(0.0, 1 - reference / np.maximum(length, 1)))
        scorable = matched.any(axis=-1) & (ngrams > 0).all(axis=-1)
        return np.where(scorable, 100 * brevity * mean, 0.0)


class Chrf(_SacreBleu):
    name, label = "chrf", "chrF2"
    BETA_SQUARED = 4.0  # recall counts twice as much as precision

    def __init__(self) -> None:
        super().__init__(CHRF())

    def scores(self, totals: Values) -> Values:
        """Columns: n-grams of the output, of the reference, of both; six times."""
        output, reference, matched = totals[..., 0::3], totals[..., 1::3], totals[..., 2::3]
        usable = (output > 0) & (reference > 0)
        orders = np.maximum(usable.sum(axis=-1), 1)
        precision = (matched / np.maximum(output, 1) * usable).sum(axis=-1) / orders
        recall = (matched / np.maximum(reference, 1) * usable).sum(axis=-1) / orders
        divisor = self.BETA_SQUARED * precision + recall
        return 100 * (1 + self.BETA_SQUARED) * precision * recall / np.where(divisor > 0, divisor, 1.0)


class Ter(_SacreBleu):
    name, label, higher_is_better = "ter", "TER", False

    def __init__(self, unit: Unit) -> None:
        # Tercom cuts Chinese and Japanese into characters only when it also cuts off punctuation.
        asian = unit == "characters"
        super().__init__(TER(normalized=asian, asian_support=asian))

    def scores(self, totals: Values) -> Values:
        return _error_rate(totals)


class _OwnMetric(Metric):
    """A metric that needs no library."""

    _about: str

    def signature(self, resamples: int | None = None, seed: int | None = None, trials: int | None = None) -> str:
        settings = {"nrefs": 1, "bs": resamples, "ar": trials, "seed": seed, "case": "mixed"}
        fields = [f"{key}:{value}" for key, value in settings.items() if value is not None]
        return "|".join([*fields, self._about, f"version:seq2see-{__version__}"])


class ExactMatch(_OwnMetric):
    name, label, _about = "exact", "exact", "unit:sentence"

    def _count(self, outputs: Sequence[str], references: Sequence[str]) -> list[list[float]]:
        return [[output == reference, 1] for output, reference in zip(outputs, references, strict=True)]

    def scores(self, totals: Values) -> Values:
        return 100 * totals[..., 0] / np.maximum(totals[..., 1], 1)


class ErrorRate(_OwnMetric):
    """Edits for each symbol of the reference; can be above 100 when an output is too long."""

    higher_is_better = False

    def __init__(self, name: Literal["wer", "cer", "per"]) -> None:
        self.name, self.label = name, name.upper()
        self._about = "unit:character|space:yes" if name == "cer" else "unit:token|sep:space"

    def _count(self, outputs: Sequence[str], references: Sequence[str]) -> list[list[float]]:
        pairs = zip(map(self._symbols, outputs), map(self._symbols, references), strict=True)
        return [[edit_distance(output, reference), len(reference)] for output, reference in pairs]

    def _symbols(self, text: str) -> Sequence[str]:
        return " ".join(text.split()) if self.name == "cer" else text.split()

    def scores(self, totals: Values) -> Values:
        return _error_rate(totals)


def _error_rate(totals: Values) -> Values:
    """Columns: edits, symbols of the reference. Where there should be nothing, something is wholly wrong."""
    edits, symbols = totals[..., 0], totals[..., 1]
    return 100 * np.where(symbols > 0, edits / np.where(symbols > 0, symbols, 1.0), edits > 0)


def make_metric(name: Name, references: Sequence[str], tokenize: Tokenize | None = None) -> Metric:
    """A metric for references of this kind; how BLEU cuts them into words follows `tokenizer_for` if not given."""
    match name:
        case "bleu":
            return Bleu(_available(tokenize or tokenizer_for(references)))
        case "chrf":
            return Chrf()
        case "ter":
            return Ter(length_unit(references))
        case "exact":
            return ExactMatch()
        case "wer" | "cer" | "per":
            return ErrorRate(name)


def metric_name(text: str) -> Name:
    """A metric as a person names it."""
    known: dict[str, Name] = {name: name for name in NAMES}
    if text not in known:
        raise ConfigError(f"there is no metric '{text}'{nearest(text, known)}")
    return known[text]


def tokenizer_name(text: str) -> Tokenize:
    """sacreBLEU's sentencepiece tokenizers are left out: they would fetch a model over the network."""
    known: dict[str, Tokenize] = {name: name for name in TOKENIZERS}
    if text not in known:
        raise ConfigError(f"BLEU cannot be tokenized by '{text}'{nearest(text, known)}")
    return known[text]


def tokenizer_for(references: Sequence[str]) -> Tokenize:
    """13a, but single characters for a language written without spaces, where 13a would take a sentence for a word.

    Korean has spaces and stays with 13a, which counts 학교에 and 학교로 as two words; `char` and, if it is there,
    `ko-mecab` are less strict.
    """
    return "char" if length_unit(references) == "characters" else "13a"


def _available(tokenize: Tokenize) -> Tokenize:
    """The same, if what it needs is installed."""
    if tokenize in _MECAB:
        try:
            BLEU(tokenize=tokenize)
        except (RuntimeError, ImportError):
            raise ConfigError(
                f"tokenizing by {tokenize} needs a dictionary: pip install 'sacrebleu[{_MECAB[tokenize]}]', "
                "or take char, which needs none"
            ) from None
    return tokenize
