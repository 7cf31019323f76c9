"""Marian folders as `transformers` saves them: random weights, tokenizers trained by SentencePiece in a moment."""

import gzip
import io
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import sentencepiece
import torch
from transformers import MarianConfig, MarianMTModel, MarianTokenizer
from transformers.utils import logging

DATA = Path("/work/shared/data")
SMALL: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "activation_function": "swish",
    "scale_embedding": True,
    "max_position_embeddings": 128,
}
TEXTS = (
    "나는 학생입니다 .",
    "우리는 어제 서울에서 차가운 막걸리를 마셨습니다 .",
    "I am a student .",
    "We drank cold rice wine in Seoul yesterday .",
    "Ein Mädchen läuft über grünes Gras vor einem weißen Zaun.",
    "the quick brown fox jumps over the lazy dog",
    "pack my box with five dozen liquor jugs; 0123456789",
)

logging.set_verbosity_error()
logging.disable_progress_bar()


def lines(name: str, count: int) -> list[str]:
    """Of Multi30k (German) or koen_docs (Korean), if they are there."""
    if name == "multi30k":
        with gzip.open(DATA / "multi30k" / "test_2016_flickr.de.gz", "rt", encoding="utf-8") as file:
            return file.read().splitlines()[:count]
    with gzip.open(DATA / "koen_docs" / "test.tsv.gz", "rt", encoding="utf-8") as file:
        return [line.split("\t")[0] for line in file.read().splitlines()][:count]


def train_spm(texts: list[str], size: int, kind: str = "unigram", **settings: Any) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(texts),
        model_writer=written,
        vocab_size=size,
        model_type=kind,
        hard_vocab_limit=False,
        minloglevel=3,
        **settings,
    )
    return written.getvalue()


def make_marian(
    path: Path,
    *,
    source: bytes,
    target: bytes,
    separate: bool = False,
    codes: tuple[str, ...] = (),
    pairs: Sequence[tuple[str, str]] = (),
    steps: int = 160,
    **settings: Any,
) -> Path:
    """With pairs it learns them for some steps, as random models never end; without, its weights are random."""
    path.mkdir(parents=True)
    pieces = []
    for name, content in (("source.spm", source), ("target.spm", target)):
        (path / name).write_bytes(content)
        model = sentencepiece.SentencePieceProcessor(model_proto=content)
        every = [model.id_to_piece(index) for index in range(model.get_piece_size())]
        pieces.append([piece for piece in every if piece not in ("<s>", "</s>", "<unk>")])
    sides = pieces if separate else [list(dict.fromkeys(pieces[0] + pieces[1]))]
    for name, side in zip(("vocab.json", "target_vocab.json"), sides, strict=False):
        entries = ["</s>", "<unk>", *codes, *side, "<pad>"]
        vocabulary = {piece: index for index, piece in enumerate(entries)}
        (path / name).write_text(json.dumps(vocabulary), encoding="utf-8")
    sizes = [len(json.loads((path / name).read_text())) for name in ("vocab.json", "target_vocab.json")[: len(sides)]]
    padding = sizes[-1] - 1 if not separate else min(sizes) - 1
    shape = {"vocab_size": sizes[0], "decoder_vocab_size": sizes[-1], "share_encoder_decoder_embeddings": not separate}
    ids = {"pad_token_id": padding, "decoder_start_token_id": padding, "eos_token_id": 0, "forced_eos_token_id": None}
    torch.manual_seed(0)
    model = MarianMTModel(MarianConfig(**(SMALL | shape | ids | settings)))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter) * 0.05)
        model.final_logits_bias.normal_(std=0.5)
    if pairs:
        _teach(model, load_tokenizer(path), pairs, steps)
    model.save_pretrained(path)
    return path


def _teach(model: MarianMTModel, tokenizer: MarianTokenizer, pairs: Sequence[tuple[str, str]], steps: int) -> None:
    random, start, padding = Random(1), model.config.decoder_start_token_id, model.config.pad_token_id
    sources = [tokenizer(source)["input_ids"] for source, _ in pairs]
    targets = [tokenizer(text_target=target)["input_ids"] for _, target in pairs]
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=4e-3)
    model.train()
    for _ in range(steps):
        rows = random.sample(range(len(pairs)), 32)
        source = _padded([sources[row] for row in rows], padding)
        spoken = _padded([[start, *targets[row][:-1]] for row in rows], padding)
        expected = _padded([targets[row] for row in rows], -100)
        mask = (source != padding).long()
        logits = model(input_ids=source, attention_mask=mask, decoder_input_ids=spoken).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), expected.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()


def _padded(rows: list[list[int]], value: int) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[value] * (longest - len(row))] for row in rows])


def load_tokenizer(path: Path) -> MarianTokenizer:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about sacremoses, which it does not use
        files = {"source_spm": path / "source.spm", "target_spm": path / "target.spm", "vocab": path / "vocab.json"}
        separate = (path / "target_vocab.json").exists()
        more = {"target_vocab_file": str(path / "target_vocab.json"), "separate_vocabs": True} if separate else {}
        return MarianTokenizer(**{name: str(file) for name, file in files.items()}, **more)
