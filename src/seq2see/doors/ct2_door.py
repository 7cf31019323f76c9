"""A run as a CTranslate2 folder: the model, its vocabularies, the tokenizers, and how to use it."""

from pathlib import Path

from seq2see.doors.readme import CT2_README, filled
from seq2see.engines.ct2_engine import places_of
from seq2see.engines.ct2_model import ComputeType, check_convertible, require_ctranslate2, save_model, tokens_of
from seq2see.runs.folder import TOKENIZERS, Run


def write_ctranslate2(run: Run, folder: Path, compute_type: ComputeType) -> None:
    require_ctranslate2()
    check_convertible(run.model, str(run.path))
    source, target = run.tokenizers
    save_model(
        run.model,
        (tokens_of(source), tokens_of(target)),
        folder,
        places=places_of(run),
        compute_type=compute_type,
    )
    for tokenizer, name in zip(run.tokenizers, TOKENIZERS, strict=True):
        tokenizer.save(folder / name)
    (folder / "README.md").write_text(filled(CT2_README, run.path), encoding="utf-8")
