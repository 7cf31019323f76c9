"""What the verbs count on standard error, by the one display: a bar in a terminal, elsewhere a line now and then."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from seq2see.progress import ProgressDisplay

if TYPE_CHECKING:
    from seq2see.session.files.lines import Lines

_COUNT_SECONDS = 5.0  # between two plain lines


class CountProgress(ProgressDisplay):
    """Of things that are counted, several one after the other."""

    def __init__(self) -> None:
        super().__init__(every=_COUNT_SECONDS)

    def counting(self, what: str, total: int) -> Callable[[int], None]:
        self.finish_all()
        return self.count(what, total=total, rate=False).advance


class LineProgress(ProgressDisplay):
    """Of lines, by how much of the file has been read; of standard input nothing is shown."""

    def __init__(self, file: Path | None, lines: "Lines", before: int = 0) -> None:
        """before: lines that an earlier call has done."""
        super().__init__(quiet=file is None)
        self._size = None if file is None or file.suffix == ".gz" else file.stat().st_size
        self._lines = lines
        self._done = self.count(unit="lines", before=before)

    def advance(self) -> None:
        done = self._done.done + 1
        # What was read runs ahead of what is done, by the lines that are under way.
        read = self._lines.bytes_read * done / max(1, self._lines.count)
        self._done.update(done, share=min(1.0, read / self._size) if self._size else None)


class DocumentProgress(ProgressDisplay):
    """Of the segments of a document."""

    def __init__(self, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._done = self.count(unit="segments", rate=False)

    def advance(self, done: int, total: int | None) -> None:
        self._done.update(done, total)
