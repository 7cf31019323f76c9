"""What torch keeps for the whole process belongs to the caller: random numbers and threads are given back."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def restored_torch() -> Iterator[None]:
    """Seeds and threads may be set in here; afterwards both are what they were."""
    threads = torch.get_num_threads()
    devices = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else ()
    try:
        with torch.random.fork_rng(devices):
            yield
    finally:
        torch.set_num_threads(threads)
