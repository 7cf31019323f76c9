"""Texts with placeholders: translated as they are; again with the placeholders as required phrases where one was lost.

What is still wrong after that is put right by `formats.documents.placeholders`: no document loses a `%s` or a tag.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count

from seq2see.errors import ConfigError
from seq2see.formats.documents.placeholders import faithful, placeholders
from seq2see.formats.documents.translating import Finished, Numbered
from seq2see.search import SearchConfig
from seq2see.session.constraints import Constraints, Glossary
from seq2see.session.terms import TermTally
from seq2see.session.translation import Request, Translation
from seq2see.session.translator import Translator

_LOST = 200  # texts that are translated again together: enough for a batch, and not all at the end


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
        """Those that lost a placeholder, by their places: it is demanded now."""
        places = list(lost)
        for row, translation in self._translate([demanding(requests[place]) for place in places]):
            request = requests[places[row]]
            kept = faithful(request.text, translation.text)
            yield self._finished(request, translation if kept else lost[places[row]])

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
    """The translations, those that lost a placeholder replaced by ones it was demanded of, where that helped."""
    kept = list(translations)
    for place, request in enumerate(requests):
        if not faithful(request.text, kept[place].text):
            try:
                (made,) = translator.translate_all([demanding(request)], search, cancelled=cancelled)
            except ConfigError:  # no room for them: put in by rule
                continue
            if faithful(request.text, made.text):
                kept[place] = made
    return kept


def demanding(request: Request) -> Request:
    """The same, with its placeholders as phrases that have to be said; each once, which is what most texts need."""
    wanted = dict.fromkeys((*request.required, *placeholders(request.text)))
    return replace(request, required=tuple(wanted))
