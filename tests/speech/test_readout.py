"""Labels read off token weights: what is there is found, what is not is not."""

from hashlib import blake2b

import numpy as np
import pytest

from seq2see.errors import ShapeError
from seq2see.speech.evaluate.readout import read_out, read_styles

RANDOM = np.random.default_rng(0)
TEXTS = [f"text {n % 60}" for n in range(240)]


def weights(classes: np.ndarray, noise: float) -> np.ndarray:
    """Three classes, each on a token of its own, and seven tokens of noise."""
    base = np.eye(10)[classes] + noise * RANDOM.random((len(classes), 10))
    return base / base.sum(axis=1, keepdims=True)


def test_a_label_that_the_tokens_carry_is_read():
    classes = RANDOM.integers(3, size=len(TEXTS))
    found = read_out(weights(classes, 0.3), TEXTS, [str(one) for one in classes], "pitch")
    assert found is not None
    assert found.right > 0.97
    assert 0.3 < found.commonest < 0.5


def test_a_label_that_they_do_not_carry_is_guessed():
    classes, others = RANDOM.integers(3, size=(2, len(TEXTS)))
    found = read_out(weights(classes, 0.3), TEXTS, [str(one) for one in others], "pitch")
    assert found is not None
    assert found.right < 0.5


def test_a_text_is_read_by_a_map_that_never_saw_it():
    """Weights that say only which text it is: with the text's own label known, each would be read."""
    label = {text: str(RANDOM.integers(3)) for text in set(TEXTS)}
    own = {text: RANDOM.random(60) for text in set(TEXTS)}
    found = read_out(np.stack([own[text] for text in TEXTS]), TEXTS, [label[text] for text in TEXTS], "voice")
    assert found is not None
    assert found.right < 0.6


def test_texts_that_were_held_out_by_a_hash_fall_into_different_folds():
    """The built-in corpus tests the texts whose hash ends in nought; folds by the same hash would be one fold."""
    texts = [f"held out {n}" for n in range(2400)]
    held_out = [text for text in texts if blake2b(text.encode(), digest_size=8).digest()[0] % 10 == 0]
    assert len(held_out) > 150
    classes = RANDOM.integers(3, size=len(held_out))
    found = read_out(weights(classes, 0.1), held_out, [str(one) for one in classes], "pitch")
    assert found is not None
    assert found.right > 0.97


def test_too_little_says_nothing():
    assert read_out(np.ones((5, 4)), TEXTS[:5], ["a", "b", "a", "b", "a"], "voice") is None
    assert read_out(np.ones((40, 4)), TEXTS[:40], ["a"] * 40, "voice") is None
    with pytest.raises(ShapeError, match="40 styles, 39 texts"):
        read_out(np.ones((40, 4)), TEXTS[:39], ["a"] * 40, "voice")


def test_a_whisper_has_no_pitch():
    classes = RANDOM.integers(3, size=len(TEXTS))
    labels = [{"voice": "whisper" if n % 3 == 0 else "plain", "pitch": int(one)} for n, one in enumerate(classes)]
    found = {one.label: one for one in read_styles(weights(classes, 0.1), TEXTS, labels)}
    assert found["pitch"].recordings == 160
    assert found["voice"].recordings == 240
    assert "speed" not in found
