"""What deserves a look in a translation that nobody has read: a row for each, as TSV or as JSON lines."""

import json
from typing import Literal, NamedTuple

Problem = Literal["empty", "repaired", "cut off", "unknown word", "not translated"]
"""empty           words came in, none came out
repaired        placeholders were lost and put back by attention or by rule, perhaps not where they belong
cut off         the model did not come to an end within the limit on the length
unknown word    the model said a word that its vocabulary does not hold, which leaves a gap
not translated  it could not be asked for; the row says why in place of a translation
"""

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


class Remark(NamedTuple):
    """One result that deserves a look."""

    line: int
    """Of the input, from 1; in a document where the segment begins."""
    id: str
    """What a document calls the segment; empty for plain text."""
    problem: Problem
    source: str
    translation: str

    @property
    def tsv(self) -> bytes:
        return "\t".join(str(cell).translate(_ESCAPES) for cell in self).encode(errors="replace") + b"\n"

    @property
    def jsonl(self) -> bytes:
        return json.dumps(self._asdict(), ensure_ascii=False).encode(errors="replace") + b"\n"


TSV_HEADER = "\t".join(Remark._fields).encode() + b"\n"
