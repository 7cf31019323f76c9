"""Sequence-to-sequence models that you can see through.

    translator = seq2see.train("pairs.tsv", model="rnnsearch", out="runs/ko-en")
    translator = seq2see.load("runs/ko-en")
    translator.translate("나는 학생입니다").text
    seq2see.load_voice("runs/voice").speak("hello there").save("hello.wav")

Importing this package imports no torch: the command line has to answer `--help` at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from seq2see import errors

__version__ = "0.1.0"
__all__ = [
    "AttentionMap",
    "SearchConfig",
    "Speech",
    "Translation",
    "Translator",
    "Voice",
    "errors",
    "load",
    "load_voice",
    "train",
    "translate_files",
]

if TYPE_CHECKING:
    from seq2see.look import AttentionMap
    from seq2see.search import SearchConfig
    from seq2see.session import Translation, Translator, load, load_voice, train
    from seq2see.session.parts import translate_files
    from seq2see.speech.speech import Speech
    from seq2see.speech.synthesis import Voice
else:  # a type checker knows the names above, and no others

    def __getattr__(name: str) -> Any:
        """PEP 562: torch is imported when a name is first used, not before."""
        match name:
            case "load" | "load_voice" | "train" | "Translator" | "Translation":
                room = "session"
            case "translate_files":
                room = "session.parts"
            case "AttentionMap":
                room = "look"
            case "SearchConfig":
                room = "search"
            case "Voice":
                room = "speech.synthesis"
            case "Speech":
                room = "speech.speech"
            case _:
                raise AttributeError(f"module 'seq2see' has no attribute '{name}'")
        return getattr(import_module(f"seq2see.{room}"), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
