"""`seq2see look` and `seq2see align` as a user runs them."""

import json
import sys
from pathlib import Path

import pytest

from seq2see import corpora
from seq2see.cli import main
from seq2see.evaluate.alignment import Gold
from seq2see.look import AttentionMap, best_head, load_best
from seq2see.look.map.alignment import METHODS
from seq2see.session import load
from seq2see.session.aligning import look_all
from seq2see.text import TokenizerConfig

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))
from folders import SOURCES, TARGETS, make_run

TEXT = SOURCES[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "transformer", "transformer", sharp=1.5)


def seq2see(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, run: Path, *options: object) -> AttentionMap:
    out = tmp_path / "map.json"
    assert seq2see(monkeypatch, "look", run, TEXT, "--search", "max_length=8", "-o", out, *options) == 0
    return AttentionMap.load(out)


def test_the_terminal_shows_words_and_weights(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, "look", run, TEXT, "--search", "max_length=8") == 0
    told = capsys.readouterr().out
    assert all(word in told for word in TEXT.split())
    assert "★" in told
    assert "cross-attention, layer" in told


def test_layers_heads_levels_and_kinds(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = shown(monkeypatch, tmp_path, run, "--layer", 1, "--head", -1, "--level", "piece", "--sinks")
    whole = shown(monkeypatch, tmp_path, run, "--mean", "--level", "piece", "--sinks")
    words = shown(monkeypatch, tmp_path, run, "--target", TARGETS[0])
    assert (one.layers, one.level, one.source.tokens[-1]) == (("1",), "piece", "</s>")
    assert (whole.layers, whole.heads) == (("mean",), ("mean",))
    assert words.level == "word"
    assert [word for word in words.target.tokens if word != "</s>"] == TARGETS[0].split()
    assert shown(monkeypatch, tmp_path, run, "--kind", "encoder", "--mean").kind == "encoder"
    assert shown(monkeypatch, tmp_path, run, "--kind", "decoder", "--mean").kind == "decoder"
    assert shown(monkeypatch, tmp_path, run, "--rollout", "--level", "piece").layers == ("rollout",)


def test_every_rank_has_its_own_map(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {shown(monkeypatch, tmp_path, run, "--rank", rank, "--mean").target.text for rank in (1, 2, 3)}
    assert len(texts) == 3


@pytest.mark.parametrize("suffix", ["html", "svg", "png", "pdf", "tsv", "npz", "txt"])
def test_every_kind_of_file(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    out = tmp_path / f"map.{suffix}"
    assert seq2see(monkeypatch, "look", run, TEXT, "--search", "max_length=6", "-o", out) == 0
    assert out.stat().st_size > 100
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


def test_what_if(run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["look", run, TEXT, "--search", "max_length=6", "--json", "--level", "word"]
    assert seq2see(monkeypatch, *given, "--force", "1:학생=1.0", "--mean") == 0
    captured = capsys.readouterr()
    assert "as it is" in captured.err
    assert "what if" in captured.err
    row = json.loads(captured.out)["weights"][0][0][0]
    assert max(row) == row[TEXT.split().index("학생")]
    assert seq2see(monkeypatch, *given, "--ablate", "cross:0.0") == 0


def test_what_was_said_tells_where_it_looked(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = shown(monkeypatch, tmp_path, run, "--mean")
    after = shown(monkeypatch, tmp_path, run, "--mean", "--posterior")
    assert after.weights.shape == before.weights.shape
    assert abs(after.weights - before.weights).max() > 1e-3
    (tmp_path / "pairs.tsv").write_text(f"{TEXT}\tI am a student .\n", encoding="utf-8")
    for options in ([], ["--posterior"], ["--posterior", "--method", "balanced", "--reverse", run]):
        assert seq2see(monkeypatch, "align", run, tmp_path / "pairs.tsv", "--out", tmp_path / "found", *options) == 0
        assert (tmp_path / "found").read_text().count("\n") == 1


def test_a_second_opinion_and_the_beam(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, "look", run, TEXT, "--search", "max_length=6", "--occlusion", "--tree") == 0
    told = capsys.readouterr().out
    assert "less likely" in told
    assert "beam search" in told
    assert "pruned" in told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--kind", "side"], "--kind side: expected one of"),
        (["--level", "letter"], "--level letter: expected one of"),
        (["--layer", "9"], "layer = 9"),
        (["--head", "9"], "head = 9"),
        (["-o", "map.docx"], "can be saved as"),
        (["--ablate", "cross:7.0"], "layers of cross attention are"),
        (["--force", "1:nobody=1"], "the source has no word 'nobody'"),
        (["--sample", "--rank", "2"], "--rank is of a beam"),
        (["--posterior", "--kind", "encoder"], "--posterior asks what the source words explain"),
    ],
)
def test_mistakes_get_one_line(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert seq2see(monkeypatch, "look", run, TEXT, "--search", "max_length=4", *options) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["", "  ", "\n"])
def test_an_empty_text_is_told_as_such(
    run: Path, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for command, what in (("look", "look at"), ("explain", "explain")):
        assert seq2see(monkeypatch, command, run, text) == 2
        assert capsys.readouterr().err == f"seq2see: the text is empty: there is nothing to {what}\n"


def test_what_it_did_not_write_stays(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page, pairs = tmp_path / "page.html", tmp_path / "pairs.tsv"
    page.write_text("my own")
    pairs.write_text(f"{TEXT}\tI am a student .\n")
    config = (run / "config.json").read_bytes()
    for given, said in (
        (["look", run, TEXT, "-o", page], "seq2see did not write it; name another file with --out"),
        (["look", run, TEXT, "-o", run / "config.json"], "is also read"),
        (["align", run, pairs, "-o", pairs], "is also read"),
        (["align", run, pairs, "-o", run / "config.json"], "is also read"),
    ):
        assert seq2see(monkeypatch, *given) == 2
        told = capsys.readouterr().err
        assert said in told
        assert told.count("\n") == 1
    assert page.read_text() == "my own"
    assert pairs.read_text() == f"{TEXT}\tI am a student .\n"
    assert (run / "config.json").read_bytes() == config
    for _ in range(2):
        assert seq2see(monkeypatch, "look", run, TEXT, "--search", "max_length=4", "-o", tmp_path / "own.html") == 0


def test_a_family_without_attention_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert seq2see(monkeypatch, "look", make_run(tmp_path / "rnn", "rnn"), TEXT, "--search", "max_length=4") == 2
    assert "rnn has no cross attention to look at: it speaks from one vector" in capsys.readouterr().err


def test_alignments_of_pairs_with_gold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path / "run", "transformer")
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in zip(SOURCES, TARGETS, strict=True)))
    (tmp_path / "gold").write_text("0-0 1-3 2-1 3-4\n0-0 1-3 2-1 3-4\n0-0 1-4 2-3 3-1 4-5\n0-0 1-3 2-1 3-4\n")
    given = ["align", run, tmp_path / "pairs.tsv", "--gold", tmp_path / "gold"]
    assert seq2see(monkeypatch, *given, "-o", tmp_path / "out") == 0
    assert "reading layer" in capsys.readouterr().err
    lines = (tmp_path / "out").read_text().splitlines()
    assert len(lines) == 4
    for line, source, target in zip(lines, SOURCES, TARGETS, strict=True):
        links = [tuple(map(int, link.split("-"))) for link in line.split()]
        assert sorted(j for _, j in links) == list(range(len(target.split())))
        assert all(i < len(source.split()) for i, _ in links)
    assert (run / "alignment.json").exists()
    assert seq2see(monkeypatch, *given, "--json", "--heads") == 0
    captured = capsys.readouterr()
    assert "remembered" in captured.err
    told = json.loads(captured.out)
    best = min(min(row) for row in told["heads"])
    assert told["aer"] == pytest.approx(best)
    assert 0 < told["diagonal"]["aer"] < 1


def test_a_word_that_the_vocabulary_lacks_keeps_its_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cutting = TokenizerConfig(scheme="word", vocabulary=300, byte_fallback=False)
    run = make_run(tmp_path / "run", "rnnsearch", cutting=cutting)
    (tmp_path / "pairs.tsv").write_text(
        "나는 학생 입니다 .\tWizards am a student .\n나는 마법사 입니다 .\tI am a wizard .\n"
    )
    assert seq2see(monkeypatch, "align", run, tmp_path / "pairs.tsv", "-o", tmp_path / "out") == 0
    for line in (tmp_path / "out").read_text().splitlines():
        assert sorted(int(link.split("-")[1]) for link in line.split()) == [0, 1, 2, 3, 4]
    translator = load(run)
    forced = translator.forced("나는", "Wizards am")
    assert forced.text == "Wizards am"
    for found in (translator.look("나는", "Wizards am"), forced.attention, translator.posterior(forced)):
        assert found is not None
        assert found.words().target.tokens[:2] == ("Wizards", "am")


def test_a_built_in_corpus_is_judged_on_other_pairs_than_the_head_was_chosen_by(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(tmp_path / "run", "transformer", sharp=2.0, width=32, inner=32, heads=2, layers=2)
    monkeypatch.setattr("seq2see.session.aligning.CHOOSING", 6)
    given = ["align", run, "builtin:phrases-basic", "--limit", 3, "--json", "--heads"]
    assert seq2see(monkeypatch, *given) == 0
    told = json.loads(capsys.readouterr().out)
    chosen = list(corpora.examples("phrases-basic", "validation", limit=6))
    maps = list(look_all(load(run), [(one.source, one.target) for one in chosen]))
    best = best_head(maps, [Gold(frozenset(one.alignment or ())) for one in chosen])
    assert (told["layer"], told["head"]) == (best.layer, best.head)
    assert load_best(run / "alignment.json") == pytest.approx(best)
    # What is told is of the test split: as a table of all its heads says, not what the choice was made by.
    assert told["pairs"] == 3
    assert told["aer"] == pytest.approx(told["heads"][best.layer][best.head])
    assert told["aer"] != pytest.approx(best.aer)
    assert seq2see(monkeypatch, *given, "--posterior") == 0
    weighed = json.loads(capsys.readouterr().out)
    assert weighed["heads"] != told["heads"]
    assert weighed["aer"] == pytest.approx(weighed["heads"][best.layer][best.head])


def test_every_method_aligns(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pairs.tsv").write_text(f"{SOURCES[0]}\t{TARGETS[0]}\n")
    lines = set()
    for method in METHODS:
        options = ["--method", method, "--threshold", 0.26, "--layer", 0, "--head", 0]
        assert seq2see(monkeypatch, "align", run, tmp_path / "pairs.tsv", *options) == 0
        lines.add(capsys.readouterr().out)
    assert len(lines) > 1


def test_alignment_mistakes_get_one_line(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pairs.tsv").write_text("a\tb\nc\td\n")
    (tmp_path / "gold").write_text("0-0\n")
    (tmp_path / "bad").write_text("0-0\nx\n")
    pairs = tmp_path / "pairs.tsv"
    for options, said in (
        (["--gold", tmp_path / "gold"], "has 1 lines for 2 pairs"),
        (["--gold", tmp_path / "bad"], "bad:2"),
        (["--heads"], "need gold"),
        (["--layer", 1], "belong together"),
        (["--method", "guess"], "--method guess"),
        (["--annotated", tmp_path / "gold"], "goes with --gold"),
    ):
        assert seq2see(monkeypatch, "align", run, pairs, *options) == 2
        assert said in capsys.readouterr().err
    assert seq2see(monkeypatch, "align", make_run(tmp_path / "rnn", "rnn"), pairs) == 2
    assert "no attention of kind 'cross'" in capsys.readouterr().err
