"""A Transformer that has learned something in seconds: to say word for word what it reads, and to end.

Random models do not end, and are undecided where a search has to choose; no other program could agree with them.
"""

import sys
from pathlib import Path
from random import Random
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))

from folders import make_run as make_run

from seq2see import atomic
from seq2see.data.batch import Batch
from seq2see.models import from_config
from seq2see.models.families import configure
from seq2see.runs import folder
from seq2see.runs.config import RunConfig
from seq2see.text import Tokenizer, TokenizerConfig

WORDS = {
    "나는": "I",
    "학생": "student",
    "선생님은": "teacher",
    "어제": "yesterday",
    "서울에서": "in Seoul",
    "책을": "a book",
    "읽습니다": "reads",
    "차가운": "cold",
    "막걸리를": "rice wine",
    "마시지": "drink",
    "마세요": "do not",
    ".": ".",
}
BLOCK: dict[str, Any] = {"width": 32, "heads": 4, "inner": 64, "layers": 1, "dropout": 0.0}


def pair(random: Random, longest: int = 7) -> tuple[str, str]:
    words = random.choices(list(WORDS), k=random.randint(1, longest))
    return " ".join(words), " ".join(WORDS[word] for word in words)


def texts(count: int) -> list[str]:
    """Lines that it was not trained on one by one."""
    random = Random(10_000)
    return [pair(random)[0] for _ in range(count)]


def learned_run(
    path: Path, *, steps: int = 160, cutting: TokenizerConfig | None = None, shared: bool = False, **settings: Any
) -> Path:
    """A run folder; with no steps its weights are random."""
    path.mkdir(parents=True)
    random = Random(1)
    pairs = [pair(random) for _ in range(400)]
    cutting = cutting or TokenizerConfig(scheme="unigram", vocabulary=360)
    sides = [[text[side] for text in pairs] for side in (0, 1)]
    tokenizers = [Tokenizer.train(sides[0] + sides[1] if shared else texts, cutting) for texts in sides]
    for tokenizer, name in zip(tokenizers, folder.TOKENIZERS, strict=True):
        tokenizer.save(path / name)
    torch.manual_seed(0)
    sizes = {"source_vocabulary": tokenizers[0].size, "target_vocabulary": tokenizers[1].size}
    config = configure("transformer", "tiny", **sizes, settings=BLOCK | settings)
    model = from_config(config)
    ids = [tokenizer.ids_batch(texts) for tokenizer, texts in zip(tokenizers, sides, strict=True)]
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for _ in range(steps):
        rows = random.sample(range(len(pairs)), 32)
        batch = Batch.of([[*ids[0][row], 2] for row in rows], [ids[1][row] for row in rows])
        logits = model(batch).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.target_out.flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    data = {"source_language": "ko", "target_language": "en"}
    saved = RunConfig.model_validate(
        {"data": data, "tokenizer": cutting.model_dump(), "model": config.model_dump(mode="json")}
    )
    atomic.write_json(path / folder.CONFIG, saved.as_json())
    folder.finish(path, model)
    return path
