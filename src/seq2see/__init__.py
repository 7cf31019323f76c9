"""Sequence-to-sequence models that you can see through.

Importing this package imports no torch: the command line has to answer `--help` at once.
"""

__version__ = "0.1.0"
