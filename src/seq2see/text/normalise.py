"""One spelling for one text.

Korean typed on a Mac or taken from a file name is often decomposed (NFD): the same syllables, other code points, six
to nine times more tokens. Everything that enters is therefore brought to NFC unless told otherwise, and the form is
kept with the run, so that what is translated later meets the model in the spelling it was trained on.
"""

from typing import Literal, cast, get_args
from unicodedata import normalize

from seq2see.errors import ConfigError, nearest

NormalForm = Literal["NFC", "NFKC", "none"]
"""NFC composes; NFKC also folds widths and ligatures (ＡＢ -> AB, ﬁ -> fi), for good; none keeps the text."""


_FORMS = frozenset(get_args(NormalForm))


def normal_form(name: str) -> NormalForm:
    """The form of that name, or an error that lists the forms."""
    if name not in _FORMS:
        raise ConfigError(f"unknown normal form '{name}'{nearest(name, _FORMS)}")
    return cast(NormalForm, name)


def normalise(text: str, form: NormalForm = "NFC") -> str:
    """Bring the text to one Unicode normal form and change nothing else: no strip, no case, no white space."""
    known = normal_form(form)
    return text if known == "none" else normalize(known, text)
