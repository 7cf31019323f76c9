"""`seq2see train` as a person meets it: what it makes, what it says, how it refuses."""

import errno
import functools
import gzip
import json
import random
import sys
import tomllib
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from seq2see import atomic, corpora
from seq2see.cli import main
from seq2see.cli.evaluate import read_test
from seq2see.cli.train import seconds
from seq2see.data.store import Store
from seq2see.errors import ConfigError
from seq2see.runs.checkpoint import newest_progress
from seq2see.runs.folder import load_run

RECIPES = sorted((Path(__file__).parents[2] / "recipes").glob("*.toml"))
EXAMPLES = corpora.examples
FAST = ["--set", "training.steps=2", "--set", "training.threads=1", "--size", "tiny", "--set", "data.valid_pairs=8"]


def seq2see(*words: str) -> int:
    """Runs the command line in this process; its exit code."""
    before = sys.argv
    sys.argv = ["seq2see", *words]
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    finally:
        sys.argv = before
    return 0


def rows(count: int = 60) -> list[tuple[str, str]]:
    made = random.Random(3)
    lines = []
    for number in range(count):
        words = [made.choice(["one", "two", "three", "네", "다섯"]) for _ in range(made.randint(2, 6))]
        lines.append((" ".join(words) + f" {number}", " ".join(reversed(words))))
    return lines


@pytest.fixture
def tsv(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in rows()), encoding="utf-8")
    return path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line that a mistake gets; exit code 2."""
    assert seq2see("train", *words) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert not any("Traceback" in line for line in said)
    return said[-1]


def test_a_run_from_tsv_loads(tsv: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert seq2see("train", str(tsv), "--model", "luong", "--out", str(out), *FAST) == 0
    run = load_run(out)
    assert run.config.data.train == (str(tsv),)
    names = {path.name for path in out.iterdir()}
    assert {"config.json", "model.safetensors", "manifest.json", "metrics.jsonl", "checkpoints"} <= names
    assert not {name for name in names if name.startswith(".")}


def test_the_other_direction_is_learned_and_evaluated(
    tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "back")
    assert seq2see("train", str(tsv), "--flip", "--out", run, *FAST) == 0
    source, target = load_run(tmp_path / "back").tokenizers
    assert source.size < target.size  # the left side of the pairs has numbers besides, and is now the target
    assert read_test([run], [str(tsv)], None, None, 1).sources == (rows()[0][1],)
    assert read_test([], [str(tsv)], None, None, 1).sources == (rows()[0][0],)
    capsys.readouterr()
    assert seq2see("evaluate", run, str(tsv), "--limit", "3", "--output", str(tmp_path / "out.txt"), "--json") == 0
    assert json.loads(capsys.readouterr().out)


def test_every_format_ends_in_a_loadable_run(tmp_path: Path) -> None:
    pairs = rows()
    with gzip.open(tmp_path / "t.ko.gz", "wt", encoding="utf-8") as file:
        file.write("".join(a + "\n" for a, _ in pairs))
    with gzip.open(tmp_path / "t.en.gz", "wt", encoding="utf-8") as file:
        file.write("".join(b + "\n" for _, b in pairs))
    units = "".join(
        f'<tu><tuv xml:lang="ko"><seg>{a}</seg></tuv><tuv xml:lang="en"><seg>{b}</seg></tuv></tu>' for a, b in pairs
    )
    (tmp_path / "m.tmx").write_text(
        f'<?xml version="1.0"?><tmx version="1.4"><header srclang="ko"/><body>{units}</body></tmx>', encoding="utf-8"
    )
    entries = "".join(f'msgid "{a}"\nmsgstr "{b}"\n\n' for a, b in pairs)
    (tmp_path / "m.po").write_text(
        f'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n{entries}', encoding="utf-8"
    )
    (tmp_path / "m.jsonl").write_text(
        "".join(json.dumps({"source": a, "target": b}, ensure_ascii=False) + "\n" for a, b in pairs), encoding="utf-8"
    )
    for number, files in enumerate((["t.ko.gz", "t.en.gz"], ["m.tmx"], ["m.po"], ["m.jsonl"], ["m.tmx:2", "m.po"])):
        out = tmp_path / f"run{number}"
        named = [str(tmp_path / file) for file in files]
        assert seq2see("train", *named, "--model", "rnn", "--out", str(out), *FAST) == 0, files
        load_run(out)


@functools.cache
def few(name: str, split: corpora.Split, seed: int) -> list[corpora.Example]:
    return list(EXAMPLES(name, split, seed=seed, limit=200))


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_runs_two_steps(recipe: Path, tsv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The corpora themselves have their own tests; here two hundred pairs of them are enough, made once.
    monkeypatch.setattr(corpora, "examples", lambda name, split, *, seed=0, limit=None: iter(few(name, split, seed)))
    named = [] if "train" in tomllib.loads(recipe.read_text()).get("data", {}) else [str(tsv)]
    out = tmp_path / "run"
    assert (
        seq2see("train", *named, "--recipe", str(recipe), "--out", str(out), *FAST, "--set", "training.warmup=1") == 0
    )
    load_run(out)


def test_resume_goes_on_and_can_train_longer(tsv: Path, tmp_path: Path) -> None:
    out, whole = tmp_path / "run", tmp_path / "whole"
    fixed = ("training.warmup=1", "training.schedule=constant", "model.dropout=0.1", "model.encoder.dropout=0.1")
    common = ["--model", "rnnsearch", *FAST, *(word for setting in fixed for word in ("--set", setting))]
    assert seq2see("train", str(tsv), *common, "--out", str(out)) == 0
    assert seq2see("train", "--resume", "--out", str(out), "--set", "training.steps=4") == 0
    assert seq2see("train", str(tsv), *common, "--out", str(whole), "--set", "training.steps=4") == 0
    newest = [max((path / "checkpoints").glob("step-*")) / "model.safetensors" for path in (out, whole)]
    assert atomic.digest(newest[0]) == atomic.digest(newest[1])


def test_resume_names_data_that_was_replaced_and_a_flag_goes_on(
    tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert seq2see("train", str(tsv), "--model", "rnn", "--out", str(out), *FAST) == 0
    tsv.write_text("".join(f"{b}\t{a}\n" for a, b in rows()))
    longer = ["--resume", "--out", str(out), "--set", "training.steps=4"]
    line = refused(capsys, *longer)
    assert f"{tsv} has changed" in line
    assert "--changed-data" in line
    assert load_run(out).config.training.steps == 2
    assert seq2see("train", *longer, "--changed-data") == 0
    assert load_run(out).config.training.steps == 4


def test_a_finished_run_survives_an_extension_whose_data_is_gone(
    tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert seq2see("train", str(tsv), "--model", "rnn", "--out", str(out), *FAST) == 0
    tsv.rename(tmp_path / "moved.tsv")
    line = refused(capsys, "--resume", "--out", str(out), "--set", "training.steps=4")
    assert f"{tsv} is gone" in line
    load_run(out)
    assert (
        seq2see("train", str(tmp_path / "moved.tsv"), "--resume", "--out", str(out), "--set", "training.steps=4") == 0
    )
    assert load_run(out).config.data.train == (str(tmp_path / "moved.tsv"),)


def test_resume_says_when_no_checkpoint_can_be_used(
    tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert seq2see("train", str(tsv), "--model", "rnn", "--out", str(out), *FAST) == 0
    for path in (out / "checkpoints").glob("step-*/state.json"):
        path.unlink()
    assert "can be used" in refused(capsys, "--resume", "--out", str(out), "--set", "training.steps=4")
    load_run(out)


def test_a_device_that_is_not_there_does_not_block_the_same_command(
    tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    words = [str(tsv), "--model", "rnn", "--out", str(out), *FAST]
    device = "mps" if not torch.backends.mps.is_available() else "cuda"
    assert f"{device} is not available" in refused(capsys, *words, "--device", device)
    assert not out.exists()
    assert seq2see("train", *words) == 0


def test_flip_belongs_to_a_new_run(tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert seq2see("train", str(tsv), "--model", "rnn", "--out", str(out), *FAST) == 0
    assert "--flip makes another run" in refused(capsys, "--resume", "--out", str(out), "--flip")
    assert "--from starts a new run" in refused(capsys, "--resume", "--out", str(out), "--from", str(out))


def test_fine_tuning_starts_from_the_weights(tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, out = tmp_path / "base", tmp_path / "tuned"
    assert seq2see("train", str(tsv), "--model", "rnn", "--out", str(base), *FAST) == 0
    frozen = ["--set", 'training.freeze=["encoder"]', "--set", "training.steps=2", "--set", "training.threads=1"]
    assert seq2see("train", str(tsv), "--from", str(base), "--out", str(out), *frozen) == 0
    before, after = load_run(base).model.state_dict(), load_run(out).model.state_dict()
    assert all(before[name].equal(after[name]) for name in before if name.startswith("encoder"))
    assert not all(before[name].equal(after[name]) for name in before)
    line = refused(capsys, str(tsv), "--from", str(base), "--model", "luong", "--out", str(tmp_path / "x"))
    assert "is a rnn" in line


def test_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    line = refused(capsys, str(tmp_path / "no.tsv"), "--out", str(out))
    assert "no.tsv" in line
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "holds no pairs"),
        (b"a\tb\nonly one column\n", "bad.tsv:2:"),
        (b"a\tb\nc\t\xff\n", "byte"),
    ],
)
def test_bad_files(content: bytes, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "bad.tsv", tmp_path / "run"
    path.write_bytes(content)
    assert expected in refused(capsys, str(path), "--out", str(out))
    assert not out.exists()


def test_unequal_line_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.ko").write_text("하나\n둘\n")
    (tmp_path / "a.en").write_text("one\n")
    line = refused(capsys, str(tmp_path / "a.ko"), str(tmp_path / "a.en"), "--out", str(tmp_path / "run"))
    assert "a.ko" in line
    assert "a.en" in line


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("training.stepps=3", "training.stepps is unknown; did you mean 'steps'?"),
        ("trainning.steps=3", "did you mean 'training'?"),
        ("model.atention.score=dot", "model.atention is unknown; did you mean 'attention'?"),
        ("model.attention.scor=dot", "did you mean 'score'?"),
        ("model.attention.score=dott", "model.attention.score"),
        ("training.steps=-1", "training.steps"),
        ("training.label_smoothing=1.5", "training.label_smoothing"),
        ("tokenizer.scheme=bpee", "tokenizer.scheme"),
        ("steps", "expected a name and a value"),
    ],
)
def test_unknown_and_wrong_settings(
    change: str, expected: str, tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    assert expected in refused(capsys, str(tsv), "--model", "luong", "--out", str(out), "--set", change)
    assert not out.exists()


def test_heads_that_do_not_divide(tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, str(tsv), "--out", str(tmp_path / "run"), "--set", "model.heads=7")
    assert "heads = 7 does not divide width = 256" in line


def test_unknown_model_and_size(tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'luong'?" in refused(capsys, str(tsv), "--model", "lung", "--out", str(tmp_path / "r"))
    assert "did you mean 'tiny'?" in refused(capsys, str(tsv), "--size", "tny", "--out", str(tmp_path / "r"))


def test_an_out_folder_that_holds_something(tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    assert seq2see("train", str(tsv), "--model", "rnn", "--out", str(out), *FAST) == 0
    before = atomic.digest(out / "model.safetensors")
    assert "already holds a run" in refused(capsys, str(tsv), "--out", str(out))
    assert atomic.digest(out / "model.safetensors") == before
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("do not lose me")
    assert "is not empty" in refused(capsys, str(tsv), "--out", str(other))
    assert (other / "thesis.txt").read_text() == "do not lose me"
    assert "is a file" in refused(capsys, str(tsv), "--out", str(tsv))


def test_all_pairs_too_long(tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, str(tsv), "--out", str(tmp_path / "run"), *FAST, "--set", "training.max_length=2")
    assert "too long" in line
    assert "training.max_length" in line


def test_no_space(
    tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from seq2see.runs import checkpoint

    out = tmp_path / "run"

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint, "save_file", full)
    line = refused(capsys, str(tsv), "--model", "rnn", "--out", str(out), *FAST)
    assert "no space left on the disk" in line
    assert [path.name for path in (out / "checkpoints").glob(".*")] == []
    monkeypatch.undo()
    assert seq2see("train", "--resume", "--out", str(out)) == 0
    load_run(out)


def test_no_space_for_the_metrics(
    tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from seq2see.training.loop import metrics

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(metrics.Metrics, "add", full)
    line = refused(capsys, str(tsv), "--model", "rnn", "--out", str(tmp_path / "run"), *FAST)
    assert line == "seq2see: no space left on the disk; free some and go on with --resume"


def test_a_loss_that_is_not_finite_is_never_saved(
    tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from seq2see.training import translation

    original = translation.cross_entropy
    calls = 0

    def broken(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        value = original(*arguments)  # type: ignore[arg-type]
        return value * float("nan") if calls == 9 else value

    monkeypatch.setattr(translation, "cross_entropy", broken)
    out = tmp_path / "run"
    more = ["--set", "training.steps=20", "--set", "training.save_every=1"]
    line = refused(capsys, str(tsv), "--model", "rnn", "--out", str(out), *FAST, *more)
    assert "is not finite (pairs " in line
    for path in (out / "checkpoints").glob("step-*/model.safetensors"):
        assert all(bool(value.isfinite().all()) for value in load_file(path).values())
    monkeypatch.undo()
    assert seq2see("train", "--resume", "--out", str(out)) == 0


def test_resume_of_nothing_and_of_something_else(tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "not a run folder" in refused(capsys, "--resume", "--out", str(tmp_path / "none"))
    out = tmp_path / "run"
    assert seq2see("train", str(tsv), "--model", "rnn", "--out", str(out), *FAST) == 0
    assert "is a rnn, not a luong" in refused(capsys, "--resume", "--out", str(out), "--model", "luong")
    assert "cannot change" in refused(capsys, "--resume", "--out", str(out), "--set", "training.seed=9")
    assert "only training" in refused(capsys, "--resume", "--out", str(out), "--set", "model.layers=2")


def test_time_limit() -> None:
    assert seconds("90s") == 90
    assert seconds("30m") == 1800
    assert seconds("1.5h") == 5400
    assert seconds("20") == 20
    for wrong in ("soon", "0", "-3s", "3d"):
        with pytest.raises(ConfigError, match="time-limit"):
            seconds(wrong)


def test_a_time_limit_ends_training(tsv: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    words = ["--model", "rnn", "--size", "tiny", "--time-limit", "2s", "--set", "training.threads=1"]
    assert seq2see("train", str(tsv), *words, "--out", str(out)) == 0
    assert load_run(out).config.training.time_limit == 2.0
    made = newest_progress(out / "checkpoints")
    assert seq2see("train", "--resume", "--time-limit", "1s", "--out", str(out)) == 0
    assert newest_progress(out / "checkpoints").step > made.step
    assert load_run(out).config.training.time_limit == made.seconds + 1.0


def test_guided_alignment_needs_links(tsv: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, str(tsv), "--out", str(tmp_path / "r"), *FAST, "--set", "training.guided_alignment=0.1")
    assert "needs word alignments" in line


def test_alignments_guide_attention(tsv: Path, tmp_path: Path) -> None:
    links = tmp_path / "pairs.align"
    lengths = [len(a.split()) - 1 for a, _ in rows()]
    links.write_text("".join(" ".join(f"{i}-{n - 1 - i}" for i in range(n)) + "\n" for n in lengths))
    out = tmp_path / "run"
    words = ["--alignments", str(links), "--set", "training.guided_alignment=0.5", "--set", "data.valid_pairs=1"]
    assert seq2see("train", str(tsv), "--model", "rnnsearch", "--out", str(out), *FAST, *words) == 0
    store = Store(out / "data" / "train")
    assert store.links is not None
    assert all(store.links_of(pair) for pair in range(len(store)))


def test_the_mean_of_the_best_checkpoints(tsv: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    changes = ["steps=4", "validate_every=1", "save_every=1", "average=2", "average_of=best", "warmup=1"]
    words = [word for change in changes for word in ("--set", f"training.{change}")]
    assert seq2see("train", str(tsv), "--model", "rnn", "--out", str(out), *FAST, *words) == 0
    kept = [load_file(path) for path in (out / "checkpoints").glob("best-*.safetensors")]
    assert len(kept) == 2
    final = load_file(out / "model.safetensors")
    for name, value in final.items():
        assert (value - (kept[0][name] + kept[1][name]) / 2).abs().max() < 1e-6


def test_list_settings_names_every_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert seq2see("train", "--list-settings") == 0
    said = capsys.readouterr().out
    for name in ("training.learning_rate = 0.001", "data.valid_pairs = 1000", "model.attention.score = general"):
        assert name in said


def test_options_that_change_training_work_together(tsv: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    changes = {
        "training.accumulate": 2,
        "training.ema": 0.9,
        "training.scheduled_sampling": 0.3,
        "training.word_dropout": 0.2,
        "training.schedule": "plateau",
        "training.average": 2,
        "training.save_every": 1,
        "training.validate_every": 1,
        "training.stop_metric": "chrf",
        "tokenizer.dropout": 0.1,
        "training.steps": 3,
        "training.tensorboard": "true",
    }
    words = [word for name, value in changes.items() for word in ("--set", f"{name}={value}")]
    assert seq2see("train", str(tsv), "--model", "luong", "--out", str(out), *FAST, *words) == 0
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines if "loss" in line] == [1, 2, 3]
    assert all("chrf" in line["validation"] for line in lines if "validation" in line)
    assert list((out / "tensorboard").iterdir())
