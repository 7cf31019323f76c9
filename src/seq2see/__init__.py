"""Sequence-to-sequence models that you can see through.

    translator = seq2see.train("pairs.tsv", model="rnnsearch", out="runs/ko-en")
    translator = seq2see.load("runs/ko-en")
    translator.translate("나는 학생입니다").text
    seq2see.load("runs/voice").speak("hello there").save("hello.wav")

Importing this package imports no torch: the command line has to answer `--help` at once.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["load", "train"]

if TYPE_CHECKING:
    from seq2see.session import open_run as load
    from seq2see.session import train


def __getattr__(name: str) -> Any:
    """The front door opens when somebody comes: torch is imported then, not before."""
    if name in __all__:
        from seq2see import session

        return session.open_run if name == "load" else session.train
    raise AttributeError(f"module 'seq2see' has no attribute '{name}'")
