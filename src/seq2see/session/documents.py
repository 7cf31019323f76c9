"""Texts with placeholders: translated as they are; again with the placeholders as required phrases where one was lost.

What is still wrong after that is put right by `text.placeholders`, so a document never loses a `%s` or a tag.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from seq2see.search import SearchConfig
from seq2see.session.constraints import Constraints, Glossary
from seq2see.session.translation import Request
from seq2see.session.translator import Translator
from seq2see.text.placeholders import faithful, placeholders


class FaithfulTranslator:
    """Calls like a function: texts in, translations out, in order."""

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
        self.again = 0  # texts that had to be translated twice
        self._numbers = count()

    def __call__(self, texts: Sequence[str]) -> Iterable[str]:
        requests = [self.constraints.request(text, next(self._numbers)) for text in texts]
        found = list(self._translate(requests))
        lost = [place for place, text in enumerate(texts) if not faithful(text, found[place])]
        self.again += len(lost)
        for place, text in zip(lost, self._translate([_demanding(requests[place]) for place in lost]), strict=True):
            if faithful(texts[place], text):
                found[place] = text
        return found

    def _translate(self, requests: Sequence[Request]) -> Iterator[str]:
        done = self.translator.translate_all(requests, self.search, agree=self.agree, window=max(1, len(requests)))
        return (translation.text for translation in done)


def _demanding(request: Request) -> Request:
    """The same, with its placeholders as phrases that have to be said; each once, which is what most texts need."""
    wanted = dict.fromkeys((*request.required, *placeholders(request.text)))
    return replace(request, required=tuple(wanted))
