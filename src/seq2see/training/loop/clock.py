"""What a second of training is: of the clock on the wall, or of the processor.

The processor's clock stands still while other processes run, so that a time limit means as many updates on a busy
machine as on a quiet one. With several threads it runs as many times as fast.
"""

import time
from collections.abc import Callable

from seq2see.runs.config import TrainingConfig


def clock_of(training: TrainingConfig) -> Callable[[], float]:
    """Seconds since some moment."""
    return time.process_time if training.clock == "cpu" else time.monotonic
