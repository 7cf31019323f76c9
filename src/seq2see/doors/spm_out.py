"""A tokenizer of ours as a SentencePiece model, where it cuts every text alike: unigram without jamo, or imported."""

from seq2see.doors.spm import BPE, BYTE, CONTROL, NORMAL, UNIGRAM, UNKNOWN, SpmFile, SpmPiece
from seq2see.text import Tokenizer
from seq2see.text.sentencepiece import UNDERLINE, SentencePieceTokenizer
from seq2see.vocabulary import UNK

_SPECIAL = (SpmPiece("<unk>", 0.0, UNKNOWN), SpmPiece("<s>", 0.0, CONTROL), SpmPiece("</s>", 0.0, CONTROL))


def spm_obstacle(tokenizer: Tokenizer) -> str | None:
    """The setting that keeps SentencePiece from cutting as this tokenizer does; None if nothing does."""
    config = tokenizer.config
    if isinstance(tokenizer, SentencePieceTokenizer):
        return "tokenizer.language_code" if config.language_code is not None else None
    if config.scheme != "unigram":
        return f"tokenizer.scheme = {config.scheme} (SentencePiece cuts like unigram alone)"
    if config.in_jamo:
        return "tokenizer.jamo = true"
    if any(UNDERLINE in name for name in tokenizer.names):
        return f"the sign {UNDERLINE} in its vocabulary"
    return None


def spm_of(tokenizer: Tokenizer) -> SpmFile:
    """For a tokenizer without an obstacle."""
    in_bytes = tokenizer.config.in_bytes
    bytes_of = [SpmPiece(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)] if in_bytes else []
    if isinstance(tokenizer, SentencePieceTokenizer):
        model = tokenizer.model
        pieces = [SpmPiece(name.replace(" ", UNDERLINE), score, NORMAL) for name, score in model.pieces]
        return SpmFile(
            (*_SPECIAL, *bytes_of, *pieces),
            BPE if model.bpe else UNIGRAM,
            byte_fallback=in_bytes,
            charsmap=model.charsmap,
            first_space=model.first_space,
            joins_spaces=model.joins_spaces,
        )
    first = len(tokenizer.config.fixed)
    scored = list(zip(tokenizer.written_pieces, tokenizer.scores, strict=True))
    assert first > UNK
    pieces = [SpmPiece(name, score, NORMAL) for name, score in scored[first:]]
    return SpmFile((*_SPECIAL, *bytes_of, *pieces), UNIGRAM, byte_fallback=in_bytes, joins_spaces=False)
