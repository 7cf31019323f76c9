"""A translation as our API says it: what `as_dict` gives, and what a page needs to go on from any of its words."""

from typing import Any

from seq2see.session import Translation, Translator
from seq2see.session.words import spoken_words


def translated(translator: Translator, translation: Translation) -> dict[str, Any]:
    fields = dict(translation.as_dict()) | _said(translator, translation)
    if "nbest" in fields:
        hypotheses = zip(fields["nbest"], translation.nbest, strict=True)
        fields["nbest"] = [
            {
                **entry,
                "tokens": list(other.tokens),
                "token_scores": list(other.token_scores),
                **_said(translator, other),
            }
            for entry, other in hypotheses
        ]
    if translation.parts:
        fields["parts"] = [translated(translator, part) for part in translation.parts]
    return fields


def brief(translation: Translation) -> dict[str, Any]:
    """What other programs ask for: the same texts, a tenth of the bytes."""
    others = {"nbest": [{"text": other.text} for other in translation.nbest]} if len(translation.nbest) > 1 else {}
    return {"text": translation.text, **others}


def _said(translator: Translator, translation: Translation) -> dict[str, Any]:
    return {
        "token_ids": list(translation.token_ids),
        "words": [word._asdict() for word in spoken_words(translator, translation)],
        "truncated": not translation.ended,
    }
