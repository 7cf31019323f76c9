"""ONNX graphs and Argos packages: they run without seq2see, as their own programs run them."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from learned_runs import learned_run, make_run, texts

import seq2see
from seq2see.doors.leaving import export_run
from seq2see.errors import ConfigError
from seq2see.search import SearchConfig
from seq2see.text import TokenizerConfig

pytest.importorskip("onnxscript", reason="pip install 'seq2see[fast]'")
pytest.importorskip("ctranslate2", reason="pip install 'seq2see[fast]'")
pytest.importorskip("sentencepiece", reason="pip install 'seq2see[hf]'")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learned_run(tmp_path_factory.mktemp("runs") / "run")


def decoded(folder: Path, text: str) -> list[str]:
    """What the folder's own program says, in a process that cannot import seq2see."""
    code = "import sys; sys.modules['seq2see'] = None; import decode; print(*decode.main(decode.cut(sys.argv[1])))"
    done = subprocess.run([sys.executable, "-c", code, text], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_onnx_graphs_decode_without_seq2see(run: Path, tmp_path: Path) -> None:
    export_run(run, "onnx", tmp_path / "onnx")
    example = (tmp_path / "onnx" / "decode.py").read_text(encoding="utf-8")
    assert len(example.splitlines()) <= 60
    assert "seq2see" not in example
    translator = seq2see.load(run)
    written = translator.runs[0].tokenizers[1].written_pieces
    for text in texts(2):
        expected = translator.translate(text, search=SearchConfig()).token_ids
        assert decoded(tmp_path / "onnx", text) == [written[index] for index in expected]
    import onnxruntime

    graph = onnxruntime.InferenceSession(tmp_path / "onnx" / "step.onnx")
    readme = (tmp_path / "onnx" / "README.md").read_text(encoding="utf-8")
    names = [end.name for end in (*graph.get_inputs(), *graph.get_outputs())]
    assert all(f"`{re.sub(r'[.][0-9]+$', '', name)}" in readme for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["rnn", "rnnsearch", "luong", "convs2s", "bytenet", "transformer"])
def test_onnx_graphs_of_every_family_decode(family: str, tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", family, sharp=1.2)
    export_run(run, "onnx", tmp_path / "onnx")
    translator = seq2see.load(run)
    source, target = (tokenizer.written_pieces for tokenizer in translator.runs[0].tokenizers)
    text = "나는 학생 입니다 ."
    pieces = " ".join(source[index] for index in translator.read_source(text).ids)  # bpe: pieces are what it takes
    expected = translator.translate(text, search=SearchConfig()).token_ids
    assert decoded(tmp_path / "onnx", pieces) == [target[index] for index in expected]


def test_an_argos_package_translates_as_argos_does_it(run: Path, tmp_path: Path) -> None:
    import ctranslate2
    import sentencepiece

    export_run(run, "argos", tmp_path / "ko-en.argosmodel")
    with zipfile.ZipFile(tmp_path / "ko-en.argosmodel") as package:
        package.extractall(tmp_path / "installed")
    place = tmp_path / "installed" / "ko_en"
    described = json.loads((place / "metadata.json").read_text(encoding="utf-8"))
    assert (described["from_name"], described["to_code"]) == ("Korean", "en")
    tokenizer = sentencepiece.SentencePieceProcessor(model_file=str(place / "sentencepiece.model"))
    model = ctranslate2.Translator(str(place / "model"))
    lines = texts(40)
    answers = model.translate_batch(
        [tokenizer.encode(line, out_type=str) for line in lines],
        replace_unknowns=True,
        beam_size=4,
        num_hypotheses=1,
        length_penalty=0.2,
        return_scores=True,
    )
    said = [tokenizer.decode_pieces(answer.hypotheses[0]).replace("▁", " ").strip() for answer in answers]
    ours = [translation.text for translation in seq2see.load(run).translate(lines)]
    assert sum(one == other for one, other in zip(said, ours, strict=True)) >= 32  # another length penalty


@pytest.mark.slow
def test_argos_translate_installs_and_runs_the_package(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARGOS_PACKAGES_DIR", str(tmp_path / "packages"))
    package = pytest.importorskip("argostranslate.package", reason="pip install argostranslate")
    export_run(run, "argos", tmp_path / "ko-en.argosmodel")
    package.install_from_path(tmp_path / "ko-en.argosmodel")
    (installed,) = package.get_installed_packages()
    assert (installed.from_code, installed.to_code) == ("ko", "en")
    import ctranslate2
    from argostranslate.translate import apply_packaged_translation

    class WholeText:  # its models for the ends of sentences are downloaded
        def split_sentences(self, text: str) -> list[str]:
            return [text]

    model = ctranslate2.Translator(str(installed.package_path / "model"))
    said = [apply_packaged_translation(installed, line, model, WholeText())[0].value for line in texts(6)]
    assert said == [translation.text for translation in seq2see.load(run).translate(texts(6))]


REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "model.family = rnnsearch": ("rnnsearch", {}),
    "model.positions = alibi": ("transformer", {"positions": "alibi"}),
    "tokenizer.scheme = bpe": ("transformer", {}),
    "tokenizer.jamo = true": (
        "transformer",
        {"cutting": TokenizerConfig(scheme="unigram", jamo=True, vocabulary=300)},
    ),
    "add --languages": ("transformer", {"cutting": TokenizerConfig(scheme="unigram", vocabulary=300)}),
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_argos_cannot_take_is_refused_by_name(reason: str, tmp_path: Path) -> None:
    family, settings = REFUSED[reason]
    run = make_run(tmp_path / "run", family, **settings)
    with pytest.raises(ConfigError, match=re.escape(reason)):
        export_run(run, "argos", tmp_path / "out.argosmodel")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_languages_are_given_where_the_run_does_not_know_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from seq2see.cli import main

    run = make_run(tmp_path / "run", "transformer", cutting=TokenizerConfig(scheme="unigram", vocabulary=300))
    out = tmp_path / "out.argosmodel"
    words = ["seq2see", "export", str(run), "--to", "argos", "-o", str(out), "--languages", "ko-en"]
    monkeypatch.setattr(sys, "argv", [*words, "--compute-type", "int8"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    assert "ko_en/metadata.json" in zipfile.ZipFile(out).namelist()
    for extra, complaint in (
        (words, "is there already"),
        ([*words[:4], "onnx", *words[5:]], "--languages is for argos"),
    ):
        monkeypatch.setattr(sys, "argv", extra)
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        assert complaint in capfd.readouterr().err
