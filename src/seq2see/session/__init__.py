"""The front door: load a run; text in, translation out.

translator = load("runs/ko-en")
result = translator.translate("나는 학생입니다", beam=5, nbest=3)
result.text, result.score, result.nbest[1].text
result.attention.words().alignment()
"""

from seq2see.session.loading import load, load_voice
from seq2see.session.training import train
from seq2see.session.translation import Request, Translation, consensus
from seq2see.session.translator import DEFAULT, Scored, Translator

__all__ = [
    "DEFAULT",
    "Request",
    "Scored",
    "Translation",
    "Translator",
    "consensus",
    "load",
    "load_voice",
    "train",
]
