"""Run folders made in a moment: real tokenizers, a small model with random weights, everything a trained run has."""

from pathlib import Path
from typing import Any

import torch

from seq2see import atomic
from seq2see.models import from_config
from seq2see.models.families import configure
from seq2see.runs import folder
from seq2see.runs.config import RunConfig
from seq2see.text import Tokenizer, TokenizerConfig

FAMILIES = ("rnn", "rnnsearch", "luong", "convs2s", "bytenet", "transformer")
SOURCES = ["나는 학생 입니다 .", "너는 선생님 입니다 .", "우리는 어제 서울에 갔습니다 .", "그는 책을 읽습니다 ."]
TARGETS = ["I am a student .", "you are a teacher .", "we went to Seoul yesterday .", "he reads a book ."]


def make_run(
    path: Path,
    family: str = "rnnsearch",
    *,
    seed: int = 0,
    sharp: float = 1.0,
    max_length: int = 256,
    cutting: TokenizerConfig | None = None,
    train: tuple[str, ...] = (),
    **model: Any,
) -> Path:
    """`sharp` multiplies the weights: random models are undecided, and ties are not what a test is about. `train`: the
    pairs that it was trained on, by its own account."""
    path.mkdir(parents=True)
    cutting = cutting or TokenizerConfig(vocabulary=300)
    tokenizers = [Tokenizer.train(texts, cutting) for texts in (SOURCES, TARGETS)]
    for tokenizer, name in zip(tokenizers, folder.TOKENIZERS, strict=True):
        tokenizer.save(path / name)
    torch.manual_seed(seed)
    config = configure(
        family,
        "tiny",
        source_vocabulary=tokenizers[0].size,
        target_vocabulary=tokenizers[1].size,
        settings=model,
    )
    net = from_config(config)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.mul_(sharp)
    saved = RunConfig.model_validate(
        {
            "model": config.model_dump(mode="json"),
            "training": {"max_length": max_length},
            "data": {"train": train},
        }
    ).as_json()
    atomic.write_json(path / folder.CONFIG, saved)
    folder.finish(path, net)
    return path
