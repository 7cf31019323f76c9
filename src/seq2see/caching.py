"""Where seq2see keeps what it can make again: rendered speech, the models of lessons."""

import os
from pathlib import Path


def cache_folder() -> Path:
    """$XDG_CACHE_HOME/seq2see, or ~/.cache/seq2see."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "seq2see"
