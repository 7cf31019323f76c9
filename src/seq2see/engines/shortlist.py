"""A shortlist: what a source piece may become, so that a search scores some hundred target pieces and not all of them.

    source pieces ─▶ the targets each was ever aligned to, and the commonest of all ─▶ the words of one sentence

RUN/shortlist/    shortlist.safetensors  shortlist.json     the second is written last: what the first was made from

A sentence is searched among its own words, whatever stands beside it in a batch: a batch scores the words of all its
sentences, and those that are not a sentence's own cannot be said there.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from seq2see import atomic
from seq2see.errors import RunError, Seq2SeeError
from seq2see.runs.commit import place_of
from seq2see.runs.folder import CONFIG, TOKENIZERS, WEIGHTS, Run
from seq2see.vocabulary import BOS, EOS, PAD, UNK

FOLDER, FILE, MANIFEST = "shortlist", "shortlist.safetensors", "shortlist.json"
_FORMAT = 1
_MOST = 2**28  # bytes that a file may have

Ints = NDArray[np.int64]
Say = Callable[[str], None]


class Words(NamedTuple):
    """The target pieces that the sentences of a batch may be said with."""

    ids: Ints  # (n,) of all sentences, rising
    own: NDArray[np.bool_]  # (B, n) which of them are a sentence's own


class Shortlist:
    """Of a run, for every source piece."""

    def __init__(self, starts: Ints, targets: Ints, common: Ints, size: int) -> None:
        """starts (S + 1,) where the targets of each source piece begin;  targets (N,);  common: of every sentence;
        size: of the target vocabulary."""
        self.starts, self.targets, self.size = starts, targets, size
        self.common = np.union1d(common, [EOS, UNK])

    def of_piece(self, piece: int) -> Ints:
        """The targets of one source piece."""
        return self.targets[self.starts[piece] : self.starts[piece + 1]]

    def of(self, source: Sequence[int], also: Sequence[int] = ()) -> Ints:
        """What one sentence may be said with, rising, PAD and BOS not among it. also: what it has to say besides."""
        return self.words([source], [also]).ids

    def words(self, sources: Sequence[Sequence[int]], also: Sequence[Sequence[int]]) -> Words:
        """Of a batch."""
        own = np.zeros((len(sources), self.size), dtype=bool)
        own[:, self.common] = True
        for row, source, more in zip(own, sources, also, strict=True):
            row[list(more)] = True
            for piece in set(source):
                row[self.of_piece(piece)] = True
        own[:, [PAD, BOS]] = False
        ids = np.flatnonzero(own.any(axis=0))
        return Words(ids, own[:, ids])


def make_shortlist(run: Run, say: Say = lambda _: None) -> Shortlist:
    """The shortlist of a run, from its folder or made now from its training pairs. What cannot be written is kept in
    memory."""
    folder = run.path / FOLDER
    shortlist = _read(folder, run)
    if shortlist is not None:
        return shortlist
    from seq2see.engines.aligned import aligned_targets

    shortlist = aligned_targets(run, say)
    try:
        _write(folder, shortlist, run)
    except (Seq2SeeError, OSError) as error:
        say(f"the shortlist could not be kept ({error}); it is made again next time")
    return shortlist


def _makers(path: Path) -> dict[str, Any]:
    """What a shortlist hangs on."""
    return {"format": _FORMAT, **{name: atomic.digest(place_of(path, name)) for name in (CONFIG, *TOKENIZERS, WEIGHTS)}}


def _read(folder: Path, run: Run) -> Shortlist | None:
    """Whole, made from this run, and with pieces that it has; or None."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        manifest = atomic.read_json(folder / MANIFEST)
        if manifest["makers"] != _makers(run.path) or atomic.digest(folder / FILE) != manifest["sha256"]:
            return None
        tensors = load(atomic.read_file(folder / FILE, _MOST))
        starts, targets, common = (tensors[name].astype(np.int64) for name in ("starts", "targets", "common"))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError):
        return None
    sources, size = (tokenizer.size for tokenizer in run.tokenizers)
    ends = len(starts) == sources + 1 and starts[0] == 0 and starts[-1] == len(targets)
    known = all(((pieces >= 0) & (pieces < size)).all() for pieces in (targets, common))
    return Shortlist(starts, targets, common, size) if ends and known and (np.diff(starts) >= 0).all() else None


def _write(folder: Path, shortlist: Shortlist, run: Run) -> None:
    from safetensors.numpy import save

    if folder.resolve() != run.path.resolve() / FOLDER:
        raise RunError(f"{folder}: is a link to another place")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / MANIFEST).unlink(missing_ok=True)  # from here until the end there is none
    columns = {"starts": shortlist.starts, "targets": shortlist.targets, "common": shortlist.common}
    atomic.write_file(folder / FILE, save({name: column.astype(np.int32) for name, column in columns.items()}))
    atomic.write_json(folder / MANIFEST, {"makers": _makers(run.path), "sha256": atomic.digest(folder / FILE)})
