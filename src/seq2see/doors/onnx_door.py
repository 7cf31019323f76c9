"""A run as two ONNX graphs that need nothing of ours, with a README of their ends and a program that decodes."""

import json
from pathlib import Path

from seq2see.doors.readme import ONNX_EXAMPLE, ONNX_README, filled
from seq2see.doors.spm import write_spm
from seq2see.doors.spm_out import spm_obstacle, spm_of
from seq2see.engines.ct2_model import tokens_of
from seq2see.engines.graphs import export_standalone
from seq2see.runs.folder import TOKENIZERS, Run
from seq2see.vocabulary import BOS, EOS, PAD, UNK


def write_onnx(run: Run, folder: Path) -> None:
    standalone = export_standalone(run.model)
    (folder / "encode.onnx").write_bytes(standalone.graphs.encode)
    (folder / "step.onnx").write_bytes(standalone.graphs.step)
    described = {
        "pad": PAD,
        "bos": BOS,
        "eos": EOS,
        "unk": UNK,
        "memory": standalone.memory,
        # null: encode.onnx gives it; else it begins empty, with this shape, -1 for the batch.
        "state": [None if shape is None else list(shape) for shape in standalone.state],
    }
    _write_json(folder / "model.json", described)
    for side, tokenizer in zip(("source", "target"), run.tokenizers, strict=True):
        _write_json(folder / f"{side}_vocabulary.json", tokens_of(tokenizer))
        if spm_obstacle(tokenizer) is None:
            (folder / f"{side}.spm").write_bytes(write_spm(spm_of(tokenizer)))
    for tokenizer, name in zip(run.tokenizers, TOKENIZERS, strict=True):
        tokenizer.save(folder / name)
    (folder / "README.md").write_text(filled(ONNX_README, run.path), encoding="utf-8")
    (folder / "decode.py").write_text(ONNX_EXAMPLE, encoding="utf-8")


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")
