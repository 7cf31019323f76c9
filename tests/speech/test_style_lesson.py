"""The lesson *style* with a voice of one's own: `seq2see learn style --set run=RUN`."""

import base64
from pathlib import Path

import pytest

from seq2see.learn.blocks import LessonTable, Sounds
from seq2see.learn.lessons.style import SPOKEN, StyleSettings, _given_voice
from seq2see.learn.workshop import Workshop
from seq2see.speech.evaluate.sweep import sweep
from seq2see.speech.synthesis import Voice


def test_a_given_voice_is_swept_measured_and_heard(voice_run: Path, tmp_path: Path) -> None:
    voice = Voice.load(voice_run)
    (section,) = _given_voice(StyleSettings(run=str(voice_run), text="abba"), Workshop(tmp_path))
    (table,) = [block for block in section.blocks if isinstance(block, LessonTable)]
    (sounds,) = [block for block in section.blocks if isinstance(block, Sounds)]
    expected = sweep(voice, ["abba"], weights=SPOKEN)
    assert [row[0] for row in table.rows] == [moved.token for moved in expected]
    assert [row[3] for row in table.rows] == pytest.approx([moved.paces[-1] for moved in expected])
    assert [row[1] for row in table.rows] == [moved.points[0].pitch for moved in expected]
    assert len(sounds.recordings) == len(expected)
    assert all(base64.b64decode(wav).startswith(b"RIFF") for _, wav in sounds.recordings)
