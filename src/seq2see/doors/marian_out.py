"""A run as a folder that `transformers` loads as Marian: the same weights under other names, ids as they are."""

import json
from pathlib import Path
from typing import Any

import torch

from seq2see.doors.marian import (
    ACTIVATIONS,
    CONFIG_FILE,
    GENERATION_FILE,
    SPM_FILES,
    TOKENIZER_FILE,
    VOCABULARY_FILES,
    WEIGHTS_FILE,
    block_names,
    unlike_marian,
)
from seq2see.doors.readme import HF_README, filled
from seq2see.doors.spm import write_spm
from seq2see.doors.spm_out import spm_obstacle, spm_of
from seq2see.engines.ct2_model import tokens_of
from seq2see.errors import ConfigError
from seq2see.models.transformer import TransformerConfig
from seq2see.runs.folder import Run
from seq2see.runs.weights import save_weights
from seq2see.vocabulary import BOS, EOS, PAD

_PLACES = 1024  # positions that transformers makes a table for


def write_marian(run: Run, folder: Path) -> None:
    """ConfigError, with the setting, for a model or a tokenizer that Marian has no counterpart for."""
    config = run.model.config
    if isinstance(config, TransformerConfig):
        setting = unlike_marian(config)
    else:
        setting = f"model.family = {run.model.family} (train --model transformer makes one that it knows)"
    setting = setting or spm_obstacle(run.tokenizers[0]) or spm_obstacle(run.tokenizers[1])
    if setting is not None:
        raise ConfigError(f"{run.path}: cannot go to transformers as Marian, which does not know {setting}")
    assert isinstance(config, TransformerConfig)
    separate = not run.tokenizers[0].same_as(run.tokenizers[1])
    _write_tokenizers(run, folder, separate=separate)
    _write_json(folder / CONFIG_FILE, _settings(run, config))
    _write_json(folder / GENERATION_FILE, _generation(run))
    save_weights(folder / WEIGHTS_FILE, _weights(run, config))
    (folder / "README.md").write_text(filled(HF_README, run.path), encoding="utf-8")


def _settings(run: Run, config: TransformerConfig) -> dict[str, Any]:
    activations: dict[str, str] = {ours: theirs for theirs, ours in reversed(ACTIVATIONS.items())}
    return {
        "architectures": ["MarianMTModel"],
        "model_type": "marian",
        "is_encoder_decoder": True,
        "vocab_size": config.source_vocabulary,
        "decoder_vocab_size": config.target_vocabulary,
        "d_model": config.width,
        "encoder_layers": config.encoder_layers or config.layers,
        "decoder_layers": config.layers,
        "encoder_attention_heads": config.heads,
        "decoder_attention_heads": config.heads,
        "encoder_ffn_dim": config.inner,
        "decoder_ffn_dim": config.inner,
        "activation_function": activations[config.activation],
        "dropout": config.dropout,
        "scale_embedding": config.scale_embedding,
        "share_encoder_decoder_embeddings": config.tie == "all",
        "tie_word_embeddings": config.tie != "none",
        "max_position_embeddings": max(_PLACES, 2 * run.config.training.max_length + 16),
        "torch_dtype": "float32",
        **_ids(),
    }


def _ids() -> dict[str, int | None]:
    return {
        "pad_token_id": PAD,
        "bos_token_id": BOS,
        "eos_token_id": EOS,
        "decoder_start_token_id": BOS,
        "forced_eos_token_id": None,
    }


def _generation(run: Run) -> dict[str, Any]:
    return {
        **_ids(),
        "bad_words_ids": [[PAD], [BOS]],
        "num_beams": 5,
        "max_length": 2 * run.config.training.max_length + 10,
    }


def _weights(run: Run, config: TransformerConfig) -> dict[str, torch.Tensor]:
    state = run.model.state_dict()
    weights = {
        theirs: state[ours] for theirs, ours in block_names(config.encoder_layers or config.layers, config.layers)
    }
    source = state["encoder.embedding.own.weight"]
    if config.tie == "all":
        weights["model.shared.weight"] = source
    else:
        weights["model.encoder.embed_tokens.weight"] = source
        weights["model.decoder.embed_tokens.weight"] = state["decoder.embedding.own.weight"]
    if config.tie == "none":
        weights["lm_head.weight"] = state["decoder.vocabulary.weight"]
    bias = state.get("decoder.output_bias")
    weights["final_logits_bias"] = (torch.zeros(config.target_vocabulary) if bias is None else bias).unsqueeze(0)
    return weights


def _write_tokenizers(run: Run, folder: Path, *, separate: bool) -> None:
    for tokenizer, name in zip(run.tokenizers, SPM_FILES, strict=True):
        (folder / name).write_bytes(write_spm(spm_of(tokenizer)))
    for tokenizer, name in zip(run.tokenizers[: 2 if separate else 1], VOCABULARY_FILES, strict=False):
        _write_json(folder / name, {token: index for index, token in enumerate(tokens_of(tokenizer))})
    data = run.config.data
    described = {
        "tokenizer_class": "MarianTokenizer",
        "source_lang": data.source_language,
        "target_lang": data.target_language,
        "unk_token": "<unk>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "model_max_length": run.config.training.max_length,
        "separate_vocabs": separate,
    }
    _write_json(folder / TOKENIZER_FILE, {name: value for name, value in described.items() if value is not None})


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
