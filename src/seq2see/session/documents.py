"""Texts with placeholders: translated as they are, and where one was lost in two other ways.

Once with the placeholders as required phrases, once without them: a model that was never taught with tags says nonsense
beside them, and much surer what the words alone mean. Then they go where it looked at the words they stood at
(`formats.documents.projection`). What is still wrong after that is put right by `formats.documents.placeholders`: no
document loses a `%s` or a tag.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from seq2see.errors import ConfigError
from seq2see.formats.documents.placeholders import faithful, placeholders
from seq2see.formats.documents.projection import Attended, PlainText, projected, without_placeholders
from seq2see.formats.documents.translating import Finished, Numbered
from seq2see.search import SearchConfig
from seq2see.session.constraints import Constraints, Glossary
from seq2see.session.terms import TermTally
from seq2see.session.translation import Request, Translation
from seq2see.session.translator import Translator

_LOST = 200  # texts that are translated again together: enough for a batch, and not all at the end
_LESS_SURE = 0.2  # nats a piece that a model may lose to placeholders it knows


class FaithfulTranslator:
    """Calls like a function: texts in, translations out, in order. `numbered` does not wait for the order."""

    def __init__(
        self,
        translator: Translator,
        search: SearchConfig,
        constraints: Constraints | None = None,
        *,
        agree: bool = False,
    ) -> None:
        self.translator, self.search, self.agree = translator, search, agree
        self.constraints = constraints or Glossary()
        self.terms = TermTally()  # of the constraints, not the placeholders, which are put right anyway
        self._numbers = count()

    def __call__(self, texts: Sequence[str]) -> list[str]:
        numbered = [Numbered(next(self._numbers), text) for text in texts]
        return [finished.text for finished in sorted(self.numbered(numbered))]

    def numbered(self, texts: Sequence[Numbered]) -> Iterator[Finished]:
        """One translation for each text, in any order, as batches are finished."""
        requests = [self.constraints.request(text, number) for number, text in texts]
        lost: dict[int, Translation] = {}
        for place, translation in self._translate(requests):
            if faithful(texts[place].text, translation.text):
                yield self._finished(requests[place], translation)
            else:
                lost[place] = translation
            if len(lost) >= _LOST:
                yield from self._again(requests, lost)
                lost = {}
        yield from self._again(requests, lost)

    def _again(self, requests: Sequence[Request], lost: Mapping[int, Translation]) -> Iterator[Finished]:
        """Those that lost a placeholder, by their places."""
        places = list(lost)
        demanded = dict(self._translate([demanding(requests[place]) for place in places]))
        plain = [plainly(requests[place]) for place in places]
        bare = dict(self._translate([request for _, request in plain]))
        for row, place in enumerate(places):
            text, _ = plain[row]
            better = surer(self.translator, requests[place], demanded.get(row), text, bare[row])
            finished = self._finished(requests[place], better)
            put_back = better is not demanded.get(row) and better.text.strip()
            yield finished._replace(problems=("repaired", *finished.problems)) if put_back else finished

    def _translate(self, requests: Sequence[Request]) -> Iterator[tuple[int, Translation]]:
        return self.translator.translate_unordered(requests, self.search, agree=self.agree)

    def _finished(self, request: Request, translation: Translation) -> Finished:
        wanted = (request.prefix.strip(), *request.required)
        self.terms.add(request.number + 1, [term for term in translation.unknown_terms if term.text in wanted])
        problems = tuple(problem for problem in translation.problems() if problem != "empty")  # seen where it is put in
        return Finished(request.number, translation.text, problems)


def with_placeholders(
    translator: Translator,
    requests: Sequence[Request],
    translations: Sequence[Translation],
    search: SearchConfig,
    cancelled: Callable[[], bool] | None = None,
) -> list[Translation]:
    """The translations; of those that lost a placeholder what the model is surer of: see `surer`."""
    kept = list(translations)
    for place, request in enumerate(requests):
        if faithful(request.text, kept[place].text):
            continue
        try:
            (demanded,) = translator.translate_all([demanding(request)], search, cancelled=cancelled)
        except ConfigError:  # no room for them
            demanded = None
        text, bare = plainly(request)
        (alone,) = translator.translate_all([bare], search, cancelled=cancelled)
        kept[place] = surer(translator, request, demanded, text, alone)
    return kept


def surer(
    translator: Translator, request: Request, demanded: Translation | None, plain: PlainText, bare: Translation
) -> Translation:
    """What was said with the placeholders demanded, if that was said nearly as surely as `bare`, their text alone."""
    kept = demanded is not None and faithful(request.text, demanded.text)
    if demanded is not None and kept and _sureness(demanded) >= _sureness(bare) - _LESS_SURE:
        return demanded
    nbest = tuple(
        replace(other, source=request.text, text=_filled(translator, request, plain, other))
        for other in bare.nbest or (bare,)
    )
    return replace(nbest[0], nbest=nbest)


def _filled(translator: Translator, request: Request, plain: PlainText, bare: Translation) -> str:
    """The translation of the text alone, with its placeholders where it looked at the words they stood at."""
    if not bare.text.strip():
        return bare.text
    whole, attended = bare.attention, None
    if whole is not None and (whole.source.text, whole.target.text) == (plain.text, bare.text):
        weights = whole.best(translator.alignment_head).weights[0, 0].astype(np.float64)
        attended = Attended(weights, whole.target.spans, whole.source.spans)
    return projected(request.text, plain, bare.text, attended)


def _sureness(translation: Translation) -> float:
    """Mean log-probability of a piece."""
    return sum(translation.token_scores) / max(1, len(translation.token_scores))


def plainly(request: Request) -> tuple[PlainText, Request]:
    """The text without its placeholders, and the request for its translation."""
    plain = without_placeholders(request.text)
    return plain, replace(request, text=plain.text)


def demanding(request: Request) -> Request:
    """The same, with its placeholders as phrases that have to be said; each once, which is what most texts need."""
    wanted = dict.fromkeys((*request.required, *placeholders(request.text)))
    return replace(request, required=tuple(wanted))
