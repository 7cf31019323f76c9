"""Maps of models of `transformers`: their own weights, with words, alignments and drawings as ours have them."""

import io
from contextlib import redirect_stderr
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="pip install 'seq2see[hf]'")
pytest.importorskip("sentencepiece", reason="pip install 'seq2see[hf]'")

from marian_folders import TEXTS, load_tokenizer, make_marian, train_spm
from transformers import MarianMTModel, PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

import seq2see
from seq2see.doors.marian_in import import_marian
from seq2see.errors import ConfigError
from seq2see.look import from_transformers

SOURCE, TARGET = "나는 학생입니다 .", "I am a student ."


@pytest.fixture(scope="module")
def marian(tmp_path_factory: pytest.TempPathFactory) -> Path:
    spm = train_spm([*TEXTS], 220)
    return make_marian(tmp_path_factory.mktemp("marian") / "marian", source=spm, target=spm)


def load_model(folder: Path, kernel: str) -> MarianMTModel:
    with redirect_stderr(io.StringIO()):
        return MarianMTModel.from_pretrained(folder, attn_implementation=kernel)


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_a_marian_model_gives_the_map_of_the_run_it_becomes(marian: Path, tmp_path: Path, kind: str) -> None:
    model, tokenizer = load_model(marian, "eager").train(), load_tokenizer(marian)
    theirs = from_transformers(model, tokenizer, SOURCE, TARGET, kind=kind)
    assert model.training  # as it was
    import_marian(marian, tmp_path / "run")
    ours = seq2see.load(tmp_path / "run").look(SOURCE, TARGET, kind=kind)
    assert ours is not None
    assert theirs.source.tokens == ours.source.tokens
    assert theirs.target.tokens == ours.target.tokens
    assert theirs.source.words == ours.source.words
    np.testing.assert_allclose(theirs.weights, ours.weights, rtol=0, atol=1e-5)
    if kind == "cross":
        assert theirs.words().source.tokens == ("나는", "학생입니다", ".", "</s>")
        assert theirs.words().alignment() == ours.words().alignment()
        theirs.words().save(tmp_path / "map.tsv")
        assert "학생입니다" in (tmp_path / "map.tsv").read_text(encoding="utf-8")


def test_a_kernel_without_weights_is_said(marian: Path) -> None:
    model, tokenizer = load_model(marian, "sdpa"), load_tokenizer(marian)
    model.config.output_attentions = False
    try:
        from_transformers(model, tokenizer, SOURCE, TARGET)
    except ConfigError as error:
        assert 'attn_implementation="eager"' in str(error)  # noqa: PT017 - where the library falls back by itself, fine


def word_tokenizer() -> PreTrainedTokenizerFast:
    """A fast one, which knows where its pieces lie."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = ["<pad>", "</s>", "<unk>", "i", "am", "a", "student", "."]
    made = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing("$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def test_another_family_with_a_fast_tokenizer() -> None:
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=8,
        d_model=16,
        d_kv=8,
        d_ff=16,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        attn_implementation="eager",
    )
    model, tokenizer = T5ForConditionalGeneration(config).eval(), word_tokenizer()
    shown = from_transformers(model, tokenizer, "i am a student .", "a student ??")
    assert shown.source.tokens == ("i", "am", "a", "student", ".", "</s>")
    assert shown.target.spans == ((0, 1), (2, 9), (10, 12), (12, 12))
    with torch.no_grad():
        output = model(
            input_ids=torch.tensor([[3, 4, 5, 6, 7, 1]]),
            decoder_input_ids=torch.tensor([[0, 5, 6, 2]]),
            output_attentions=True,
        )
    expected = torch.stack([weights[0] for weights in output.cross_attentions]).numpy()
    np.testing.assert_allclose(shown.weights, expected, rtol=0, atol=1e-6)


def test_a_model_without_a_decoder_is_refused() -> None:
    class Encoder:
        config = T5Config(is_encoder_decoder=False)

    with pytest.raises(ConfigError, match="no encoder-decoder model"):
        from_transformers(Encoder(), word_tokenizer(), "i", "am")
