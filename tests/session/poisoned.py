"""`translate_files` as a program, with workers that take their time, die over one line and fail at another.

    python poisoned.py RUN OUT SECONDS INPUT...

A class of the main program travels to the workers by value, so that the faults are in no file of the package.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence

from seq2see.session.parts import spreading, translate_files
from seq2see.session.parts.inputs import InputFile
from seq2see.session.parts.spreading import PartWorker
from seq2see.session.parts.translating import Made, PartTranslator, Work

DEADLY, FAILING = "deadly", "failing"


class PoisonedWorker(PartWorker):
    def __init__(self, work: Work) -> None:
        super().__init__(work)
        translate, seconds = PartTranslator.translate, SECONDS

        def poisoned(self: PartTranslator, file: InputFile, lines: Sequence[bytes], first: int) -> Made:
            time.sleep(seconds)
            if any(DEADLY.encode() in line for line in lines):
                os.kill(os.getpid(), signal.SIGKILL)
            return translate(self, file, lines, first)

        texts = PartTranslator._texts

        def failing(self: PartTranslator, lines: Sequence[bytes], first: int) -> Made:
            if any(FAILING.encode() in line for line in lines):
                raise RuntimeError("planted")
            return texts(self, lines, first)

        self._translator.translate = poisoned.__get__(self._translator)  # type: ignore[method-assign]
        self._translator._texts = failing.__get__(self._translator)  # type: ignore[method-assign]


if __name__ == "__main__":
    run, out, seconds, *inputs = sys.argv[1:]
    SECONDS = float(seconds)
    spreading.PartWorker = PoisonedWorker  # type: ignore[misc]
    try:
        done = translate_files(
            run, inputs, out, workers=2, engine="torch", say=lambda text: print(text, file=sys.stderr)
        )
    except KeyboardInterrupt:
        sys.exit(130)
    rows = done.report.read_text().splitlines() if done.report is not None else []
    print("\n".join(row for row in rows if "not translated" in row))  # the whole would fill a pipe
