"""Settings from the pairs and the time: what the rules choose for which pairs, what wins over them, what is said."""

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from seq2see import search
from seq2see.data.profile import COUNTED, Profile, profile
from seq2see.errors import ConfigError, DataError
from seq2see.formats import Pair
from seq2see.runs import folder
from seq2see.training import harness, run
from seq2see.training.auto import corpus, decide, optimization
from seq2see.training.auto.choice import Budget, SettingChoice, UpdatePlan
from seq2see.training.loop import trainer
from seq2see.training.reporting import SilentReporter
from seq2see.training.run import new_config, train_run

LETTERS = "abcdefghijklmnop"
WORDS = [f"{a}{b}{c}" for a in LETTERS for b in LETTERS for c in LETTERS[:4]]
PHONES = [(word, " ".join(word.upper())) for word in WORDS]
INFLECTION = [(f"{word}{word}en V;PST", f"{word}{word}te") for word in WORDS]
TOPICS = ("the dog", "a cat", "my friend", "his sister", "our teacher", "that old man")
ENGLISH = [f"{topic} sees {other} in town {n}th" for n in range(30) for topic in TOPICS for other in TOPICS]
ENGLISH = [f"{text} at house{line}" for line, text in enumerate(ENGLISH)]
GERMAN = [(text, text.replace("sees", "sieht").replace("in town", "in der stadt")) for text in ENGLISH]
KOREAN = [(text, f"{text[:3]} 도시에서 그를 봅니다 {number}") for number, text in enumerate(ENGLISH)]


def made(pairs: list[tuple[str, str]]) -> Profile:
    return profile(Pair(source, target, line) for line, (source, target) in enumerate(pairs, start=1))


def settings_of(pairs: list[tuple[str, str]], **given: Any) -> dict[str, Any]:
    config = new_config({"data": {"train": ["pairs.tsv"]}, **given})
    return decide.decide_data(config, made(pairs)).config.model_dump()


def times(pairs: int, factor: int) -> Profile:
    """A profile of sentences as if there were so many more of them."""
    seen = made(GERMAN)
    return Profile(pairs * factor, seen.source, seen.target, seen.common_characters, seen.copied)


# ----- pieces and family


def test_words_and_phones_are_cut_each_in_their_own_way() -> None:
    settings = settings_of(PHONES)
    assert settings["model"]["family"] == "rnnsearch"
    assert settings["tokenizer"]["source"]["scheme"] == "char"
    assert settings["tokenizer"]["target"]["scheme"] == "word"
    assert not settings["data"]["shared_vocabulary"]
    assert settings["data"]["invented"] == 0


def test_tags_stay_whole_and_stems_are_invented() -> None:
    settings = settings_of(INFLECTION)
    assert settings["tokenizer"]["source"]["scheme"] == "word"
    assert settings["tokenizer"]["source"]["byte_fallback"]  # stems fall apart into characters
    assert settings["data"]["invented"] == len(INFLECTION)


def test_sentences_in_one_script_share_their_subwords() -> None:
    settings = settings_of(GERMAN)
    assert settings["data"]["shared_vocabulary"]
    assert settings["tokenizer"]["scheme"] == "bpe"
    assert settings["tokenizer"]["vocabulary"] == 1000


def test_korean_is_spelled_in_jamo() -> None:
    settings = settings_of(
        [
            (source, "".join(chr(0xAC00 + 37 * n) for n in range(i, i + 9)) + " " + target)
            for i, (source, target) in enumerate(KOREAN)
        ]
    )
    assert settings["tokenizer"]["target"]["jamo"]
    assert not settings["tokenizer"]["source"].get("jamo")
    assert not settings["data"]["shared_vocabulary"]


def test_either_direction_cuts_a_side_in_the_same_way() -> None:
    """Korean with English words in it: one way they shared a vocabulary, the other way they did not."""
    pairs = [
        (f"{chr(0xAC00 + 7 * n)}{chr(0xB000 + 5 * n)} 파일을 open {n} 하시겠습니까", f"open the file {n} ,")
        for n in range(900)
    ]
    there, back = settings_of(pairs), settings_of([(target, source) for source, target in pairs])
    assert not there["data"]["shared_vocabulary"]
    assert not back["data"]["shared_vocabulary"]
    assert there["tokenizer"]["source"] == back["tokenizer"]["target"]
    assert there["tokenizer"]["target"] == back["tokenizer"]["source"]
    assert there["tokenizer"]["source"]["jamo"]


@pytest.mark.parametrize("flip", [False, True])
def test_a_vocabulary_has_room_for_every_letter(flip: bool) -> None:
    """Thousands of characters, as in Chinese, in a corpus so small that a thousand pieces would be right."""
    pairs = [("".join(chr(0x4E00 + (31 * n + k) % 3000) for k in range(12)), f"line {n} of it") for n in range(600)]
    settings = settings_of([(target, source) if flip else (source, target) for source, target in pairs])
    assert settings["tokenizer"]["target" if flip else "source"]["vocabulary"] >= 3000 + 260
    assert settings["tokenizer"]["source" if flip else "target"]["vocabulary"] == 1000


def test_many_sentences_are_for_convolutions() -> None:
    choice = corpus.choose_family(times(20_000, 1))
    assert choice.settings == {"model.family": "convs2s"}
    assert corpus.choose_family(made(GERMAN)).settings == {"model.family": "rnnsearch"}


@pytest.mark.parametrize(
    ("given", "family"),
    [
        ({"dropout": 0.4}, "rnnsearch"),  # every family has it: the rule chooses
        ({"encoder": {"dropout": 0.4}}, "rnnsearch"),
        ({"attention": {"score": "cosine"}}, "rnnsearch"),
        ({"heads": 2}, "transformer"),  # no other has heads
        ({"input_feeding": False}, "luong"),
        ({"family": "rnn"}, "rnn"),
    ],
)
def test_one_setting_of_a_model_leaves_the_family_to_the_rules(given: dict[str, Any], family: str) -> None:
    assert settings_of(PHONES, model=given)["model"]["family"] == family


@pytest.mark.parametrize(
    ("characters", "length", "said"),
    [
        (600, None, ""),
        (1500, 500, "at most 500 pieces: one line in a hundred is longer and left out"),
        (6000, 1024, "at most 1,024 pieces: more than one line in a hundred is longer and left out"),
    ],
)
def test_long_lines_get_room_up_to_a_limit(characters: int, length: int | None, said: str) -> None:
    seen = made(GERMAN)
    choice = corpus.choose_length(replace(seen, source=replace(seen.source, long=characters)))
    assert (choice.settings["training.max_length"] if choice else None) == length
    assert choice is None or choice.reason == said


def test_a_setting_that_no_family_has_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"model\.bogus is unknown"):
        settings_of(PHONES, model={"bogus": 1})


@pytest.mark.parametrize(("pairs", "pieces"), [(5_000, 1000), (29_000, 4000), (150_000, 8000), (5_000_000, 32_000)])
def test_more_words_more_pieces(pairs: int, pieces: int) -> None:
    seen = made(GERMAN)
    side = replace(seen.source, word_tokens=12 * min(pairs, COUNTED))
    scaled = Profile(pairs, side, side, 0.0, 0.0)
    assert corpus.choose_pieces(scaled).settings["tokenizer.vocabulary"] == pieces


# ----- what a person gave wins


def test_what_was_given_stays() -> None:
    settings = settings_of(PHONES, tokenizer={"scheme": "bpe"}, model={"family": "luong"})
    assert settings["model"]["family"] == "luong"
    assert settings["tokenizer"]["source"]["scheme"] is None
    assert settings["tokenizer"]["scheme"] == "bpe"


def test_only_what_was_chosen_is_said_and_kept() -> None:
    config = new_config({"data": {"train": ["pairs.tsv"]}, "training": {"warmup": 7}})
    choice = SettingChoice("rate", {"training.learning_rate": 0.5, "training.warmup": 50}, "as a test")
    decided = decide.apply(config, [choice, SettingChoice("warm-up", {"training.warmup": 9}, "not said"), None])
    assert (decided.config.training.learning_rate, decided.config.training.warmup) == (0.5, 7)
    assert decided.lines == ["rate: as a test"]
    assert decided.config.chosen == {"training.learning_rate": "as a test"}


# ----- size, batch, rate, validations


def test_the_largest_model_that_sees_the_pairs_often_enough() -> None:
    speeds = {"base": 100.0, "small": 1000.0, "tiny": 4000.0}
    for seconds, size in ((100.0, "tiny"), (4_000.0, "small"), (40_000.0, "base")):
        budget = Budget(30_000, 300_000, seconds)
        assert optimization.choose_size(times(30_000, 1), budget, lambda size, batch: speeds[size]).settings == {
            "model.size": size
        }


@pytest.mark.parametrize(
    ("pairs", "seconds", "size"),
    [(8_000, 10**6, "tiny"), (20_000, None, "tiny"), (33_000, 1_000.0, "tiny"), (33_000, 10_000.0, "small")],
)
def test_many_strings_fill_a_small_model(pairs: int, seconds: float | None, size: str) -> None:
    speeds = {"small": 1000.0, "tiny": 4000.0}  # base is not even measured
    strings = replace(made(PHONES), pairs=pairs)
    budget = Budget(pairs, 300_000, seconds)
    assert optimization.choose_size(strings, budget, lambda size, batch: speeds[size]).settings == {"model.size": size}


def test_a_larger_model_is_measured_only_where_there_is_time() -> None:
    def speed(size: str, batch: int) -> float:
        assert size != "base"
        return 100.0

    optimization.choose_size(times(30_000, 1), Budget(30_000, 300_000, 60.0), speed)


@pytest.mark.parametrize("seconds", [1.0, 60.0, 900.0, 86_400.0])
@pytest.mark.parametrize("pieces", [20, 5_000, 2_000_000])
@pytest.mark.parametrize("family", ["rnnsearch", "convs2s", "transformer", "bytenet"])
def test_whatever_the_time_everything_fits_into_it(seconds: float, pieces: int, family: str) -> None:
    seen = made(PHONES)
    _, plan = optimization.choose_batch(seen, Budget(1000, pieces, seconds), lambda batch: 2000.0)
    assert plan.updates is not None
    rate = optimization.choose_rate(family, "tiny", plan, tuned=False).settings
    validation = optimization.choose_validation(seen, plan, limit=seconds, cost=0.5).settings
    assert 1 <= rate["training.warmup"] <= max(1, plan.updates // 10)
    assert rate["training.schedule"] == "linear"
    assert 1 <= validation["training.validate_every"] <= max(25, plan.updates)
    assert plan.updates / validation["training.validate_every"] * 0.5 <= max(0.5, 0.1 * seconds)
    assert plan.batch <= max(256, pieces // 20)


def test_without_a_limit_it_goes_on_until_validation_stops_improving() -> None:
    seen = made(PHONES)
    choice, plan = optimization.choose_batch(seen, Budget(1000, 20_000), lambda batch: 0.0)
    assert optimization.choose_rate("rnnsearch", "tiny", plan, tuned=False).settings["training.schedule"] == "plateau"
    stop = optimization.choose_validation(seen, plan, limit=None, cost=0.0, per_epoch=20).settings
    assert stop["training.patience"] < 20
    assert choice.settings["training.epochs"] * 20 > 5 * stop["training.patience"] * stop["training.validate_every"]


def test_without_a_limit_few_pairs_are_validated_before_they_are_seen_a_hundred_times() -> None:
    seen = made(PHONES)
    _, plan = optimization.choose_batch(seen, Budget(1000, 20_000), lambda batch: 0.0)
    every = []
    for per_epoch in (1, 10, 22, 1000):
        choice = optimization.choose_validation(seen, plan, limit=None, cost=0.0, per_epoch=per_epoch)
        every.append(choice.settings["training.validate_every"])
    assert every == [100, 200, 440, 500]


def test_pairs_that_are_seen_often_are_hidden_more() -> None:
    seen = made(PHONES)
    dropouts = []
    for seconds in (10.0, 100.0, 1000.0):
        _, plan = optimization.choose_batch(seen, Budget(1000, 20_000, seconds), lambda batch: 2000.0)
        choice = optimization.choose_regularisation(seen, "rnnsearch", plan, subwords=False)
        dropouts.append(choice.settings["model.dropout"])
        assert choice.settings["model.encoder.dropout"] == dropouts[-1]
    assert dropouts == sorted(dropouts)
    assert dropouts[0] < dropouts[-1]


# ----- whole runs


class Lines(SilentReporter):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def message(self, text: str) -> None:
        self.lines.append(text)


def write(path: Path, pairs: list[tuple[str, str]]) -> Path:
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def test_a_run_says_and_keeps_what_it_chose(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.tsv", PHONES)
    reporter = Lines()
    settings = {"data": {"train": [str(pairs)]}, "training": {"steps": 3, "threads": 1}}
    train_run(new_config(settings), tmp_path / "run", reporter)
    saved = json.loads((tmp_path / "run" / "config.json").read_text())
    assert saved["model"]["family"] == "rnnsearch"
    assert saved["tokenizer"]["target"]["scheme"] == "word"
    assert saved["training"]["steps"] == 3
    assert "given" not in saved
    for name, reason in saved["chosen"].items():
        assert any(line.endswith(reason) for line in reporter.lines), name
    run = folder.load_run(tmp_path / "run")
    assert run.tokenizers[0].decode(run.tokenizers[0].ids_batch(["abc"])[0]) == "abc"


def test_a_plan_trains_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    pairs = write(tmp_path / "pairs.tsv", PHONES)
    reporter = Lines()
    settings = {"data": {"train": [str(pairs)]}, "training": {"time_limit": 60.0, "threads": 1}}
    ended = train_run(new_config(settings), tmp_path / "run", reporter, plan_only=True)
    assert ended.progress.step == 0
    assert not (tmp_path / "run" / "model.safetensors").exists()
    assert any("updates" in line and "about" in line for line in reporter.lines)


@pytest.mark.parametrize(
    "pairs",
    [
        [("one", "eins")],
        [("same", "same")] * 3,
        [(word, word) for word in WORDS[:200]],
        [("x " * 2500, "y " * 2500), *PHONES[:50]],
        [("나는 학생입니다", "I am a student .")] * 5,
        [("\x01\x02", "\u200b?")] * 5,
    ],
    ids=["one pair", "one pair three times", "both sides equal", "a line of 5,000", "Korean", "no letters"],
)
def test_odd_pairs_train(pairs: list[tuple[str, str]], tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.tsv", pairs)
    settings = {"data": {"train": [str(path)]}, "training": {"steps": 2, "threads": 1}}
    train_run(new_config(settings), tmp_path / "run", SilentReporter())
    assert folder.is_finished(tmp_path / "run")


@pytest.mark.parametrize(
    ("pairs", "every"), [(1, 50), (9, 50), (200, 10), (2000, 20), (8000, 20), (24_000, 48), (10**6, 50)]
)
def test_a_small_corpus_holds_out_a_larger_share(pairs: int, every: int) -> None:
    """Some fifty pairs at least, where there are 500: the best weights are chosen by them."""
    config = new_config({"data": {"train": ["pairs.tsv"]}})
    assert decide.decide_data(config, times(pairs, 1)).config.data.held_out == every
    for own in ({"valid": ["dev.tsv"]}, {"held_out": 7}):
        given = new_config({"data": {"train": ["pairs.tsv"], **own}})
        assert decide.decide_data(given, times(pairs, 1)).config.data.held_out == given.data.held_out


def test_a_share_is_held_out(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{source}\t{target}\n" for source, target in GERMAN[:400]))
    settings = {"data": {"train": [str(path)]}, "training": {"steps": 2, "threads": 1}}
    train_run(new_config(settings), tmp_path / "run", SilentReporter())
    counts = [
        json.loads((tmp_path / "run/data" / part / "store.json").read_text())["pairs"] for part in ("train", "valid")
    ]
    assert sum(counts) == 400
    assert 25 <= counts[1] <= 60


def test_a_corpus_of_lines_that_are_all_too_long_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    long = " ".join(f"{word}{word}" for word in WORDS)
    path.write_text(f"{long}\t{long}\n" * 30 + "a b c d\te f g h\n" * 10)
    settings = {"data": {"train": [str(path)]}, "training": {"steps": 2, "threads": 1}}
    with pytest.raises(DataError, match=r"30 of 40 pairs have more than 1,024 pieces .*max_length=2048"):
        train_run(new_config(settings), tmp_path / "run", SilentReporter())


def test_one_side_empty_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "pairs.tsv", [("word", "")] * 5)
    settings = {"data": {"train": [str(path)]}, "training": {"steps": 2, "threads": 1}}
    with pytest.raises(DataError):
        train_run(new_config(settings), tmp_path / "run", SilentReporter())
    assert not (tmp_path / "run" / "config.json").exists()


@pytest.mark.parametrize(("epochs", "word", "merges"), [(19, None, None), (20, 0.1, None), (40, 0.1, 0.1)])
def test_pairs_that_are_seen_often_are_hidden_in_part(epochs: int, word: float | None, merges: float | None) -> None:
    choice = optimization.choose_regularisation(
        made(GERMAN), "transformer", UpdatePlan(2048, 1000, epochs), subwords=True
    )
    assert choice.settings.get("training.word_dropout") == word
    assert choice.settings.get("tokenizer.dropout") == merges


def test_few_updates_are_not_averaged_and_many_not_over_all_of_them() -> None:
    assert optimization.choose_averaging(UpdatePlan(2048, 199, 1.0)) is None
    unplanned = optimization.choose_averaging(UpdatePlan(2048, None, 1.0))
    assert unplanned is not None
    assert unplanned.settings["training.ema"] == 0.998
    decays = []
    for updates in (200, 2000, 20_000, 10**9):
        choice = optimization.choose_averaging(UpdatePlan(2048, updates, 1.0))
        assert choice is not None
        decays.append(choice.settings["training.ema"])
    assert decays == sorted(decays)
    assert decays[:2] == [0.9, 0.99]
    assert decays[-1] < 1


def test_a_time_limit_ends_with_a_validation_and_a_low_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on with every look at it, and from 2 s on three times as fast, as on a busy machine."""
    ticking = 0.0

    def clock() -> float:
        nonlocal ticking
        ticking += 0.01 if ticking < 2.0 else 0.03
        return ticking

    for module in (harness, trainer, run):  # not the clock of the whole process: its other threads look at it, too
        monkeypatch.setattr(module, "clock_of", lambda training: clock)
    draw = random.Random(0)
    unlearnable = [(word, " ".join(draw.choices(LETTERS, k=4))) for word in WORDS]
    path = write(tmp_path / "pairs.tsv", unlearnable)
    settings = {"data": {"train": [str(path)]}, "training": {"time_limit": 4.0, "threads": 1}}
    ended = train_run(new_config(settings), tmp_path / "run", SilentReporter())
    entries = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    rates = [entry["rate"] for entry in entries if "rate" in entry]
    validated = [entry["step"] for entry in entries if "validation" in entry]
    assert validated[-1] == ended.progress.step
    assert ended.progress.best_step > 0
    assert rates[-1] < 0.2 * max(rates)


# ----- threads


def test_one_thread_unless_somebody_says_more() -> None:
    assert run.threads_of(new_config({}).training) == 1
    assert run.threads_of(new_config({"training": {"threads": 3}}).training) == 3


def test_where_no_validation_fits_the_loss_decides() -> None:
    seen, plan = made(GERMAN), UpdatePlan(batch=512, updates=40, epochs=2.0)
    translated = optimization.choose_validation(seen, plan, limit=600.0, cost=60.0).settings
    assert translated["training.stop_metric"] == "chrf"
    forced = optimization.choose_validation(seen, plan, limit=600.0, cost=200.0).settings
    assert forced["training.stop_metric"] == "loss"
    assert forced["training.validate_every"] <= 40


def test_a_validation_is_measured_without_whole_searches(tmp_path: Path) -> None:
    """A fresh model does not end: over long lines the search itself would be longer than the time limit."""
    lines = [(" ".join(f"w{(n * k) % 97}" for k in range(1, 100)), "ja" if n % 2 else "nein") for n in range(30)]
    data = {"train": [str(write(tmp_path / "pairs.tsv", lines))]}
    config = new_config({"data": data, "training": {"time_limit": 20.0}})
    with pytest.MonkeyPatch.context() as patched:
        searched: list[int] = []
        greedy = search.greedy

        def counted(step: Any, memory: Any, state: Any, limits: Any) -> Any:
            searched.append(int(limits.max()))
            return greedy(step, memory, state, limits)

        patched.setattr(search, "greedy", counted)
        train_run(config, tmp_path / "run", Lines(), plan_only=True)
    assert searched
    assert max(searched) <= 16


def test_a_batch_that_was_given_is_what_is_planned_for() -> None:
    faster = {512: 1000.0, 2048: 4000.0, 4096: 8000.0}
    choice, plan = optimization.choose_batch(times(20_000, 1), Budget(20_000, 500_000, 1000.0), faster.__getitem__, 512)
    assert choice.settings["training.batch_tokens"] == plan.batch == 512
    assert (plan.updates, plan.epochs) == (1953, 2.0)  # at the speed of small batches


def test_convolutions_are_larger_than_a_transformer_in_the_same_time() -> None:
    """They learn more from every pass over the pairs."""
    budget = Budget(30_000, 300_000, 1000.0)

    def speed(size: str, batch: int) -> float:
        return {"tiny": 8000.0, "small": 2400.0, "base": 300.0}[size]  # small: 8 passes

    sizes = [optimization.choose_size(times(30_000, 1), budget, speed, family) for family in ("convs2s", "transformer")]
    assert [choice.settings["model.size"] for choice in sizes] == ["small", "tiny"]
