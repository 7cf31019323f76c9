"""Checkpoints: the newest is gone on from, and older ones make room."""

from pathlib import Path

import torch

from seq2see.runs import checkpoint
from seq2see.runs.checkpoint import Progress


def test_the_newest_is_gone_on_from_and_the_oldest_goes(tmp_path: Path) -> None:
    for step in (9, 10, 100):
        value = {"value": torch.tensor([float(step)])}
        checkpoint.save(tmp_path, Progress(step=step), value, value, keep=2)
    assert [path.name for path in checkpoint.paths(tmp_path)] == ["step-00000100", "step-00000010"]
    newest, passed = checkpoint.newest(tmp_path)
    assert newest is not None
    assert (newest.progress.step, float(newest.weights["value"])) == (100, 100.0)
    assert passed == []
    assert checkpoint.newest_progress(tmp_path).step == 100


def test_one_whose_last_byte_is_another_is_passed_over(tmp_path: Path) -> None:
    for step in (1, 2):
        value = {"value": torch.tensor([float(step)])}
        checkpoint.save(tmp_path, Progress(step=step), value, value, keep=2)
    weights = tmp_path / "step-00000002" / "model.safetensors"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    newest, passed = checkpoint.newest(tmp_path)
    assert newest is not None
    assert newest.progress.step == 1
    assert len(passed) == 1
