"""CTranslate2 as an engine and as a door: the numbers of torch, or a refusal that names the setting."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from learned_runs import learned_run, make_run, texts

import seq2see
from seq2see.engines import EngineName, make_engine
from seq2see.engines.ct2_engine import CTranslate2Engine
from seq2see.errors import ConfigError
from seq2see.runs.folder import load_run
from seq2see.search import SearchConfig
from seq2see.session import Request

ctranslate2 = pytest.importorskip("ctranslate2", reason="pip install 'seq2see[fast]'")

KNOWN: dict[str, dict[str, Any]] = {
    "as it is": {},
    "post-norm": {"norm_first": False, "activation": "silu", "scale_embedding": False},
    "rms": {"norm": "rms", "activation": "swiglu"},
    "gelu": {"activation": "gelu", "tie": "none", "encoder_layers": 1},
    "learned": {"positions": "learned", "max_length": 4},
    "nowhere": {"positions": "none"},
    "rotary": {"positions": "rotary", "kv_heads": 2},
    "relative": {"positions": "relative", "kv_heads": 1},
}
REFUSED = {
    "model.family = rnnsearch": ("rnnsearch", {}),
    "model.encoder.kind = recurrent": ("transformer", {"encoder": "recurrent"}),
    "model.positions = alibi": ("transformer", {"positions": "alibi"}),
    "model.qk_norm = true": ("transformer", {"qk_norm": True}),
}
ENGINES: tuple[EngineName, EngineName] = ("torch", "ctranslate2")
SEARCHES = {
    "greedy": SearchConfig(),
    "greedy, cut": SearchConfig(max_length=5),
    "beam": SearchConfig(beam=4),
    "gnmt": SearchConfig(beam=5, length_penalty="gnmt"),
    "average": SearchConfig(beam=3, length_penalty="average"),
    "nbest": SearchConfig(beam=4, nbest=3, length_penalty="gnmt"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return learned_run(tmp_path_factory.mktemp("runs") / "run", layers=2)


@pytest.mark.parametrize("name", KNOWN)
def test_every_known_setting_gives_the_numbers_of_torch(name: str, tmp_path: Path) -> None:
    run = learned_run(tmp_path / "run", steps=0, **KNOWN[name])
    engine = make_engine(load_run(run), "ctranslate2")
    assert isinstance(engine, CTranslate2Engine)
    assert engine.distance() < 1e-5
    # Its own steps, with caches, where `distance` is one forced pass.
    config = SearchConfig(max_length=12)
    ours, theirs = (seq2see.load(run, engine=name).translate(texts(12), search=config) for name in ENGINES)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.token_ids == other.token_ids
        assert mine.token_scores == pytest.approx(other.token_scores, abs=1e-3)


@pytest.mark.parametrize("setting", REFUSED)
def test_what_it_does_not_know_is_refused_by_name(setting: str, tmp_path: Path) -> None:
    family, settings = REFUSED[setting]
    run = make_run(tmp_path / "run", family, **settings)
    with pytest.raises(ConfigError, match=re.escape(setting)):
        seq2see.load(run, engine="ctranslate2")
    from seq2see.doors.leaving import export_run

    with pytest.raises(ConfigError, match=re.escape(setting)):
        export_run(run, "ctranslate2", tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("name", SEARCHES)
def test_a_translator_says_the_same(run: Path, name: str) -> None:
    config, lines = SEARCHES[name], texts(60)
    ours, theirs = seq2see.load(run, engine="torch"), seq2see.load(run, engine="ctranslate2")
    (engine,) = theirs.engines.of(SearchConfig())
    assert isinstance(engine, CTranslate2Engine)
    same_lists = 0
    for mine, other in zip(ours.translate(lines, search=config), theirs.translate(lines, search=config), strict=True):
        assert mine.token_ids == other.token_ids
        # Further down the list: its search stops earlier than ours, so now and then one of the last is another.
        same_lists += [entry.token_ids for entry in mine.nbest] == [entry.token_ids for entry in other.nbest]
        assert mine.score == pytest.approx(other.score, abs=1e-3)
        assert mine.token_scores == pytest.approx(other.token_scores, abs=1e-3)
        assert mine.ended == other.ended
    assert same_lists >= 0.95 * len(lines)


def test_it_searches_by_itself_and_a_batch_changes_nothing(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = seq2see.load(run, engine="ctranslate2")
    config, lines = SearchConfig(beam=4, length_penalty="gnmt"), texts(30)
    together = [translation.token_ids for translation in translator.translate(lines, search=config)]
    alone = [translator.translate(line, search=config).token_ids for line in lines]
    assert together == alone
    monkeypatch.setattr(type(translator.model), "step", None)  # and torch is not needed
    assert [translation.token_ids for translation in translator.translate(lines, search=config)] == together


def test_where_only_the_text_is_wanted_nothing_is_scored(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    translator = seq2see.load(run, engine="ctranslate2")
    config = SearchConfig(beam=4, length_penalty="gnmt", nbest=2)
    requests = [Request(line, number=number) for number, line in enumerate(texts(12))]
    scored = dict(translator.translate_unordered(requests, config))
    monkeypatch.setattr(CTranslate2Engine, "_scored", None)
    plain = dict(translator.translate_unordered(requests, config, need_scores=False))
    assert [plain[place].text for place in range(12)] == [scored[place].text for place in range(12)]
    assert plain[0].token_scores == ()


def test_what_it_cannot_search_is_searched_by_torch_and_said_once(run: Path) -> None:
    told: list[str] = []
    ours, theirs = seq2see.load(run, engine="torch"), seq2see.load(run, engine="ctranslate2", say=told.append)
    line = texts(9)[-1]
    for config in (
        SearchConfig(beam=2, min_length=3),
        SearchConfig(sample=True, nbest=2),
        SearchConfig(beam=2, coverage=0.2),
        SearchConfig(beam=4, groups=2, diversity=0.5),
        SearchConfig(no_repeat_ngram=2),
    ):
        for _ in range(2):
            mine, other = ours.translate(line, search=config), theirs.translate(line, search=config)
            assert [entry.token_ids for entry in mine.nbest] == [entry.token_ids for entry in other.nbest]
    assert theirs.translate(line, forbidden=["a"]).text == ours.translate(line, forbidden=["a"]).text
    assert theirs.translate(line, record=True).record is not None
    assert len(told) == len(set(told)) == 7
    assert "min_length; torch does" in told[0]


def test_a_source_beyond_its_positions_is_searched_by_torch(run: Path) -> None:
    ours, theirs = seq2see.load(run, engine="torch"), seq2see.load(run, engine="ctranslate2")
    (engine,) = theirs.engines.of(SearchConfig())
    assert isinstance(engine, CTranslate2Engine)
    engine.places = 40
    long = " ".join(texts(9))
    lines = [long, *texts(3)]
    assert [x.token_ids for x in ours.translate(lines)] == [x.token_ids for x in theirs.translate(lines)]


def test_eight_bits_stay_near_and_leave_the_model_as_it_is(run: Path) -> None:
    loaded = load_run(run)
    before = {name: tensor.clone() for name, tensor in loaded.model.state_dict().items()}
    engine = make_engine(loaded, "ctranslate2-int8")
    assert isinstance(engine, CTranslate2Engine)
    assert 1e-4 < engine.distance() < 0.2
    assert all(torch.equal(tensor, before[name]) for name, tensor in loaded.model.state_dict().items())


def test_an_engine_that_computes_something_else_is_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from seq2see.engines import ct2_model
    from seq2see.errors import RunError

    monkeypatch.setattr(ct2_model, "_table", lambda positions, places, width: torch.ones(places, width))
    with pytest.raises(RunError, match="something else than the model"):
        seq2see.load(run, engine="ctranslate2")


def shell(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    from seq2see.cli import main

    monkeypatch.setattr(sys, "argv", ["seq2see", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capfd.readouterr()
    return int(ended.value.code or 0), said.out, said.err


def test_the_command_line(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "in.txt"
    lines.write_text("".join(f"{line}\n" for line in texts(10)), encoding="utf-8")
    outputs = [
        shell(monkeypatch, capfd, "translate", str(run), str(lines), "--engine", engine)[1]
        for engine in ("torch", "ctranslate2")
    ]
    assert outputs[0] == outputs[1] != ""
    out = tmp_path / "out"
    assert shell(monkeypatch, capfd, "export", str(run), "--to", "ctranslate2", "-o", str(out))[0] == 0
    again = shell(monkeypatch, capfd, "export", str(run), "--to", "ctranslate2", "-o", str(out))
    assert again[0] == 2
    assert "is there already" in again[2]
    wrong = shell(monkeypatch, capfd, "export", str(run), "--to", "ctranslate", "-o", str(tmp_path / "other"))
    assert wrong[0] == 2
    assert "did you mean 'ctranslate2'" in wrong[2]
    small = tmp_path / "small"
    shell(monkeypatch, capfd, "export", str(run), "--to", "ctranslate2", "-o", str(small), "--compute-type", "int8")
    sizes = [(folder / "model.bin").stat().st_size for folder in (small, out)]
    assert sizes[0] < sizes[1]


def test_the_exported_folder_runs_by_its_own_readme(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from seq2see.doors.leaving import export_run

    export_run(run, "ctranslate2", tmp_path / "out")
    monkeypatch.chdir(tmp_path / "out")
    readme = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    line = texts(9)[-1]
    exec(compile(code.replace("나는 학생입니다", line), "README.md", "exec"), {})
    expected = seq2see.load(run).translate(line, search=SearchConfig(beam=5, length_penalty="average"))
    assert capsys.readouterr().out.strip() == expected.text.strip()
    shutil.rmtree(tmp_path / "out")
