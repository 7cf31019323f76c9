"""Marian folders come in and go out: the same pieces, logits, translations and maps as in `transformers`."""

import io
import json
import re
import shutil
import struct
import sys
import warnings
from contextlib import redirect_stderr
from pathlib import Path
from random import Random
from typing import Any

import pytest
import torch
from learned_runs import learned_run, pair, texts

pytest.importorskip("transformers", reason="pip install 'seq2see[hf]'")
pytest.importorskip("sentencepiece", reason="pip install 'seq2see[hf]'")

import sentencepiece
from marian_folders import DATA, TEXTS, lines, load_tokenizer, make_marian, train_spm
from safetensors.torch import load_file, save_file
from transformers import MarianMTModel, MarianTokenizer

import seq2see
from seq2see.data.batch import Batch
from seq2see.doors.leaving import export_run
from seq2see.doors.marian_in import ImportedSide, _settings, _sides, import_marian
from seq2see.errors import ConfigError, DataError
from seq2see.runs.folder import load_run
from seq2see.search import SearchConfig
from seq2see.text import TokenizerConfig
from seq2see.vocabulary import BOS, EOS

PAIRS = [pair(random) for random in [Random(1)] for _ in range(400)]
SHAPES: dict[str, dict[str, Any]] = {
    "tied": {"codes": (">>deu<<", ">>fra<<")},
    "untied": {"tie_word_embeddings": False, "activation_function": "relu", "scale_embedding": False},
    "separate": {"separate": True, "encoder_layers": 1},
}


@pytest.fixture(scope="module")
def spms() -> tuple[bytes, bytes]:
    source, target = ([*side] for side in zip(*PAIRS, strict=True))
    return train_spm([*source, *TEXTS], 260), train_spm([*target, *TEXTS[2:]], 200, "bpe", byte_fallback=False)


SLOWER = [pytest.param(shape, marks=pytest.mark.slow) for shape in SHAPES if shape != "tied"]


@pytest.fixture(scope="module", params=["tied", *SLOWER])
def folders(
    request: pytest.FixtureRequest, spms: tuple[bytes, bytes], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    """A Marian model that has learned a little, and the run it becomes."""
    made = tmp_path_factory.mktemp("marian")
    theirs = make_marian(made / "marian", source=spms[0], target=spms[1], pairs=PAIRS, **SHAPES[request.param])
    import_marian(theirs, made / "run")
    return theirs, made / "run"


def sides(folder: Path) -> tuple[ImportedSide, ImportedSide]:
    return _sides(folder, _settings(folder), None)


def load_model(folder: Path, **settings: Any) -> MarianMTModel:
    with redirect_stderr(io.StringIO()):
        return MarianMTModel.from_pretrained(folder, **settings).eval()


@pytest.mark.parametrize("shape", SHAPES)
@torch.no_grad()
def test_logits_and_maps_are_those_of_transformers(shape: str, spms: tuple[bytes, bytes], tmp_path: Path) -> None:
    theirs, run = make_marian(tmp_path / "marian", source=spms[0], target=spms[1], **SHAPES[shape]), tmp_path / "run"
    import_marian(theirs, run)
    model, tokenizer = load_model(theirs, attn_implementation="eager"), load_tokenizer(theirs)
    translator, rows = seq2see.load(run), [side.rows for side in sides(theirs)]
    said = [5, 9, 4, 12, 7]
    spoken = torch.tensor([[model.config.decoder_start_token_id, *(rows[1][index] for index in said)]])
    for text in TEXTS:
        ids = translator.read_source(text).ids
        theirs_ids = tokenizer(text)["input_ids"]
        assert [rows[0][index] for index in [*ids, EOS]] == theirs_ids
        output = model(input_ids=torch.tensor([theirs_ids]), decoder_input_ids=spoken, output_attentions=True)
        ours = translator.model(Batch.of([[*ids, EOS]], [said]), need_weights=True)
        kept = [index for index in range(len(rows[1])) if index != BOS]
        expected = output.logits[0][:, [rows[1][index] for index in kept]]
        torch.testing.assert_close(ours.logits[0][:, kept], expected, rtol=0, atol=1e-4)
        assert float(torch.log_softmax(ours.logits[0], dim=-1)[:, BOS].max()) < -20  # nobody says the start
        looks = {(look.kind, look.layer): look.weights for look in ours.looks}
        for kind, maps in (("cross", output.cross_attentions), ("encoder", output.encoder_attentions)):
            for layer, weights in enumerate(maps):
                torch.testing.assert_close(looks[kind, layer], weights, rtol=0, atol=1e-5)


@pytest.mark.parametrize("beams", [1, 4])
def test_translations_are_those_of_generate(folders: tuple[Path, Path], beams: int) -> None:
    theirs, run = folders
    model, tokenizer = load_model(theirs), load_tokenizer(theirs)
    translator, config = seq2see.load(run), SearchConfig(beam=beams, length_penalty="average")
    model.generation_config.max_length = None
    same, count = 0, 12
    for text, ours in zip(texts(count), translator.translate(texts(count), search=config), strict=True):
        ids = tokenizer(text, return_tensors="pt")
        output = model.generate(
            **ids,
            num_beams=beams,
            length_penalty=1.0,
            early_stopping="never" if beams > 1 else False,
            max_new_tokens=2 * ids["input_ids"].shape[1] + 10,
            bad_words_ids=[[model.config.pad_token_id]],
            do_sample=False,
        )
        same += tokenizer.decode(output[0], skip_special_tokens=True) == ours.text
    assert same == count
    assert len({translation.text for translation in translator.translate(texts(count))}) > 8  # it has learned something


def test_an_imported_run_is_like_any_other(folders: tuple[Path, Path], tmp_path: Path) -> None:
    theirs, run = folders
    translator = seq2see.load(run)
    result = translator.translate("나는 어제 책을 읽습니다 .")
    assert result.attention is not None
    assert len(result.attention.words().source.tokens) == 6
    assert translator.explain(result, 2).step == 2
    ct2 = seq2see.load(run, engine="ctranslate2").translate(texts(10))
    assert [entry.text for entry in ct2] == [entry.text for entry in translator.translate(texts(10))]
    if (theirs / "target_vocab.json").exists():
        return
    export_run(run, "hf", tmp_path / "out")
    import_marian(tmp_path / "out", tmp_path / "again")
    files = [(folder / "model.safetensors").read_bytes() for folder in (run, tmp_path / "again")]
    assert files[0] == files[1]


def test_language_codes(spms: tuple[bytes, bytes], tmp_path: Path) -> None:
    marian = make_marian(tmp_path / "marian", source=spms[0], target=spms[1], codes=(">>deu<<", ">>fra<<"))
    import_marian(marian, tmp_path / "run", language="deu")
    tokenizer, translator = load_tokenizer(marian), seq2see.load(tmp_path / "run")
    rows = sides(marian)[0].rows
    expected = tokenizer(">>deu<< I am")["input_ids"]
    for text, start in (("I am", 0), (">>deu<< I am", 7)):
        encoding = translator.read_source(text)
        assert [rows[index] for index in [*encoding.ids, EOS]] == expected
        assert encoding.tokens[0] == ">>deu<<"
        assert encoding.spans[0] == (0, start)
        assert text[slice(*encoding.spans[-1])].strip() == encoding.tokens[-1].strip("▁")
    assert translator.read_source(">>fra<< I").tokens[0] == ">>fra<<"
    with pytest.raises(ConfigError, match=re.escape("known: >>deu<<, >>fra<<")):
        import_marian(marian, tmp_path / "other", language="jpn")
    assert not (tmp_path / "other").exists()


ODD = [
    "  a   b  ",
    "",
    "e\u0301 ﬁ ＡＢ ﷺ \u1112\u1161\u11ab",
    "\u200bzero\u200bwidth",
    "▁a ▁▁b",
    "🎉🎉 x",
    "tab\there",
    "½ … “q”",
]


def check_pieces(spm: bytes, kind: str, fallback: bool, texts: list[str], tmp_path: Path) -> None:
    from seq2see.doors.marian_in import _rows, _spm, _tokenizer  # noqa: F401
    from seq2see.text import Tokenizer

    marian = make_marian(tmp_path / "marian", source=spm, target=spm)
    import_marian(marian, tmp_path / "run")
    tokenizer = Tokenizer.load(tmp_path / "run" / "tokenizer.source.json")
    reference = sentencepiece.SentencePieceProcessor(model_proto=spm)
    written = tokenizer.written_pieces
    for text in texts:
        encoding = tokenizer.encode(text)
        pieces = reference.encode(text, return_type="proto").pieces
        known = [piece.piece if reference.piece_to_id(piece.piece) else "<unk>" for piece in pieces]
        assert [written[index] for index in encoding.ids] == known, text
        data = text.encode()
        places = [tuple(len(data[:at].decode(errors="ignore")) for at in (piece.begin, piece.end)) for piece in pieces]
        if not any(piece.piece.startswith("<0x") for piece in pieces):  # ours of one character share its place
            shared = [(start, max(end, start + 1)) for start, end in places]  # so does a space that is in no text
            assert encoding.spans == shared, text
        assert tokenizer.ids_batch([text]) == [encoding.ids]
        if fallback:
            assert tokenizer.decode(encoding.ids) == reference.decode(reference.encode(text))


@pytest.mark.parametrize(("kind", "fallback"), [("unigram", False), ("unigram", True), ("bpe", False), ("bpe", True)])
def test_pieces_and_places_are_those_of_sentencepiece(kind: str, fallback: bool, tmp_path: Path) -> None:
    corpus = [*TEXTS] * 3 + [text for both in PAIRS[:60] for text in both]
    spm = train_spm(corpus, 500, kind, byte_fallback=fallback, character_coverage=0.99)
    real = lines("multi30k", 60) + lines("koen_docs", 60) if DATA.exists() else []
    check_pieces(spm, kind, fallback, [*ODD, *TEXTS, *real], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["unigram", "bpe"])
@pytest.mark.parametrize("size", [500, 8000])
def test_pieces_of_two_thousand_real_lines(kind: str, size: int, tmp_path: Path) -> None:
    if not DATA.exists():
        pytest.skip("no real data here")
    real = lines("multi30k", 1000) + lines("koen_docs", 1000)
    spm = train_spm(real, size, kind, character_coverage=0.9 if size == 500 else 0.9995)
    check_pieces(spm, kind, False, real, tmp_path)


# ----- out


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learned_run(tmp_path_factory.mktemp("runs") / "run", norm_first=False, activation="silu")


def test_an_exported_run_translates_in_transformers_and_comes_back_bit_for_bit(learned: Path, tmp_path: Path) -> None:
    export_run(learned, "hf", tmp_path / "hf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tokenizer = MarianTokenizer.from_pretrained(tmp_path / "hf")
    model, translator = load_model(tmp_path / "hf"), seq2see.load(learned)
    config = SearchConfig(beam=5, length_penalty="average")
    for text, ours in zip(texts(8), translator.translate(texts(8), search=config), strict=True):
        ids = tokenizer(text, return_tensors="pt")
        assert ids["input_ids"][0].tolist() == [*translator.read_source(text).ids, EOS]
        output = model.generate(**ids, early_stopping="never", max_length=40)
        assert tokenizer.decode(output[0], skip_special_tokens=True) == ours.text
    import_marian(tmp_path / "hf", tmp_path / "again")
    files = [(folder / "model.safetensors").read_bytes() for folder in (learned, tmp_path / "again")]
    assert files[0] == files[1]
    again = seq2see.load(tmp_path / "again")
    assert [x.token_ids for x in again.translate(texts(8))] == [x.token_ids for x in translator.translate(texts(8))]
    assert again.runs[0].config.data.source_language == "ko"


@pytest.mark.parametrize("tie", ["none", "all"])
def test_other_ties_go_out_and_in(tie: str, tmp_path: Path) -> None:
    run = learned_run(
        tmp_path / "run", steps=0, shared=True, norm_first=False, tie=tie, encoder_layers=2, output_bias=True
    )
    with torch.no_grad():
        from seq2see.runs import folder

        model = load_run(run).model
        model.decoder.output_bias.normal_()
        folder.finish(run, model)
    export_run(run, "hf", tmp_path / "hf")
    import_marian(tmp_path / "hf", tmp_path / "again")
    assert (run / "model.safetensors").read_bytes() == (tmp_path / "again" / "model.safetensors").read_bytes()
    model, ours = load_model(tmp_path / "hf"), load_run(run).model
    source, target = [5, 6, 7], [8, 9]
    with torch.no_grad():
        logits = model(
            input_ids=torch.tensor([[*source, EOS]]), decoder_input_ids=torch.tensor([[BOS, *target]])
        ).logits
        torch.testing.assert_close(logits, ours(Batch.of([[*source, EOS]], [target])).logits, rtol=0, atol=1e-4)


REFUSED: dict[str, dict[str, Any]] = {
    "model.norm_first = true": {},
    "model.norm = rms": {"norm_first": False, "norm": "rms"},
    "model.activation = swiglu": {"norm_first": False, "activation": "swiglu"},
    "model.positions = rotary": {"norm_first": False, "positions": "rotary"},
    "model.kv_heads = 2": {"norm_first": False, "kv_heads": 2},
    "model.qk_norm = true": {"norm_first": False, "qk_norm": True},
    "tokenizer.scheme = bpe": {"norm_first": False, "cutting": TokenizerConfig(vocabulary=340)},
    "tokenizer.jamo = true": {
        "norm_first": False,
        "cutting": TokenizerConfig(scheme="unigram", jamo=True, vocabulary=340),
    },
}


@pytest.mark.parametrize("setting", REFUSED)
def test_what_marian_does_not_have_is_refused_by_name(setting: str, tmp_path: Path) -> None:
    run = learned_run(tmp_path / "run", steps=0, **REFUSED[setting])
    with pytest.raises(ConfigError, match=re.escape(setting)):
        export_run(run, "hf", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


# ----- damaged, missing, oversized, hostile


@pytest.fixture(scope="module")
def whole(spms: tuple[bytes, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_marian(tmp_path_factory.mktemp("whole") / "marian", source=spms[0], target=spms[1])


def changed(folder: Path, name: str, **settings: Any) -> None:
    saved = json.loads((folder / name).read_text(encoding="utf-8"))
    (folder / name).write_text(json.dumps(saved | settings), encoding="utf-8")


def without(folder: Path, tensor: str) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file({name: value for name, value in weights.items() if name != tensor}, folder / "model.safetensors")


def not_finite(folder: Path) -> None:
    weights = load_file(folder / "model.safetensors")
    weights["final_logits_bias"][0, 3] = float("nan")
    save_file(weights, folder / "model.safetensors")


HARM: dict[str, Any] = {
    "config.json: is missing": lambda folder: (folder / "config.json").unlink(),
    "vocab.json: is missing": lambda folder: (folder / "vocab.json").unlink(),
    "source.spm: is missing": lambda folder: (folder / "source.spm").unlink(),
    "has no model.safetensors": lambda folder: (folder / "model.safetensors").unlink(),
    "is a pickle": lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"),
    "config.json: cannot be read": lambda folder: (folder / "config.json").write_text("{"),
    "is no Marian model (model_type = 'bart')": lambda folder: changed(folder, "config.json", model_type="bart"),
    "d_model: Input should be": lambda folder: changed(folder, "config.json", d_model=10**12),
    "encoder_layers: Input should be": lambda folder: changed(folder, "config.json", encoder_layers=10**9),
    "tensors of 1000002 layers": lambda folder: changed(folder, "config.json", encoder_layers=10**6),
    "not (64, 32) as config.json says": lambda folder: changed(
        folder, "config.json", encoder_ffn_dim=64, decoder_ffn_dim=64
    ),
    "ffn_dim differ": lambda folder: changed(folder, "config.json", encoder_ffn_dim=64),
    "activation_function = 'tanh'": lambda folder: changed(folder, "config.json", activation_function="tanh"),
    "normalize_before = true": lambda folder: changed(folder, "config.json", normalize_before=True),
    "pad_token_id = 99999 is outside": lambda folder: changed(folder, "config.json", pad_token_id=99999),
    "are not three different": lambda folder: changed(folder, "config.json", pad_token_id=0),
    "do not count from 0": lambda folder: changed(folder, "vocab.json", extra=7),
    "not a SentencePiece model": lambda folder: (folder / "target.spm").write_bytes(b"\xff" * 100),
    "lacks model.decoder.layers.1.fc2.bias": lambda folder: without(folder, "model.decoder.layers.1.fc2.bias"),
    "not finite": not_finite,
    "header": lambda folder: (folder / "model.safetensors").write_bytes(struct.pack("<Q", 2**60) + b"{}"),
}


@pytest.mark.parametrize("complaint", HARM)
def test_a_damaged_folder_is_refused_in_one_line(complaint: str, whole: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(whole, tmp_path / "marian")
    HARM[complaint](folder)
    with pytest.raises(DataError, match=re.escape(complaint)):
        import_marian(folder, tmp_path / "run")
    assert [path.name for path in tmp_path.iterdir()] == ["marian"]


def test_the_command_line(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    from seq2see.cli import main

    for words, code in (
        (["import", str(whole), "-o", str(tmp_path / "run")], 0),
        (["import", str(whole), "-o", str(tmp_path / "run")], 2),
        (["import", str(tmp_path / "nowhere"), "-o", str(tmp_path / "other")], 2),
        (["export", str(tmp_path / "run"), "--to", "hf", "-o", str(tmp_path / "hf")], 0),
    ):
        monkeypatch.setattr(sys, "argv", ["seq2see", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert (ended.value.code or 0) == code, capfd.readouterr().err


@pytest.mark.slow
def test_an_imported_run_is_fine_tuned(whole: Path, tmp_path: Path) -> None:
    import_marian(whole, tmp_path / "run")
    from seq2see.cli import main

    data = tmp_path / "pairs.tsv"
    data.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    words = ["train", str(data), "--from", str(tmp_path / "run"), "--out", str(tmp_path / "tuned")]
    words += ["--set", "training.steps=5", "--set", "training.threads=1"]
    sys.argv = ["seq2see", *words]
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    tuned = load_run(tmp_path / "tuned")
    assert tuned.tokenizers[0].same_as(load_run(tmp_path / "run").tokenizers[0])
    assert not torch.equal(tuned.model.decoder.output_bias, load_run(tmp_path / "run").model.decoder.output_bias)
