"""Programs and packages that speech is tested with: skipped where they are missing, but on CI they have to be there."""

import importlib.util
import os
import shutil

import pytest


def _missing(what: str, how: str) -> pytest.MarkDecorator:
    present = shutil.which(what) if how.startswith("apt") else importlib.util.find_spec(what)
    on_ci = os.environ.get("CI") == "true"
    return pytest.mark.skipif(not present and not on_ci, reason=f"no {what} on this machine: {how}")


needs_espeak = _missing("espeak-ng", "apt-get install espeak-ng")
needs_pocketsphinx = _missing("pocketsphinx", "pip install 'seq2see[speech]'")
needs_pyworld = _missing("pyworld", "pip install 'seq2see[speech]'")
