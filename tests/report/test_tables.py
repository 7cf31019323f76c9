"""What the tables say in words is what the figures are."""

import pytest

from seq2see.evaluate import EvaluationSettings, Resampling, compare_outputs, references_of
from seq2see.report.tables import verdict

REFERENCES = [f"the man number {number} reads a long book in the old library" for number in range(40)]
POOR = [text.replace("long book", "river") for text in REFERENCES]


@pytest.mark.parametrize(("a", "b", "expected"), [(POOR, REFERENCES, "above"), (REFERENCES, POOR, "below")])
def test_the_verdict_names_the_better_one_and_the_side(a: list[str], b: list[str], expected: str) -> None:
    test = references_of([(text, text) for text in REFERENCES], "test")
    settings = EvaluationSettings(("bleu",), plan=Resampling(resamples=100, trials=100))
    (contrast,) = compare_outputs(a, b, test, settings, systems=("a", "b")).contrasts
    better = "B" if expected == "above" else "A"
    assert f"{better} is better (B is " in verdict(contrast)
    assert f"points {expected} A" in verdict(contrast)
