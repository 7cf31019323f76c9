"""A voice is trained by the one loop: exact resume, an order that follows from the seed, a folder that is checked."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seq2see import atomic
from seq2see.errors import ConfigError, DataError, RunError
from seq2see.runs.folder import load_run
from seq2see.speech.corpus.letters import Letters, LettersConfig
from seq2see.speech.corpus.recordings import Recordings
from seq2see.speech.model.tacotron import Tacotron, TacotronConfig
from seq2see.speech.model.task import HeldOut, VoiceTask
from seq2see.speech.training import load_voice, new_config, train_voice
from seq2see.training.loop.trainer import Trainer
from seq2see.training.reporting import SilentReporter
from seq2see.training.run import resumed_config


def settings(corpus: Path, tiny: dict[str, Any], **training: Any) -> dict[str, Any]:
    chosen = {"steps": 6, "validate_every": 3, "save_every": 2, "threads": 1} | training
    return {"data": {"train": [str(corpus)]}, "model": tiny, "training": chosen}


def interrupted_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(self: Any) -> bool:
        return counted["trainer"].progress.step >= step

    counted: dict[str, Any] = {}
    before = Trainer.__init__

    def remember(self: Any, *arguments: Any) -> None:
        before(self, *arguments)
        counted["trainer"] = self

    monkeypatch.setattr(Trainer, "__init__", remember)
    monkeypatch.setattr("seq2see.training.harness.Stop.asked", asked)


def test_an_interrupted_run_ends_with_the_same_bytes(
    corpus: Path, tiny: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # All of the lessons within six updates: true frames appear after three, long utterances join after one.
    tiny["lessons"] = {"batch": 4, "valid": 2, "withheld": 0.5, "guided_fade": [2, 4], "grow": [0.1, 0.5]}
    config = new_config(settings(corpus, tiny))
    train_voice(config, tmp_path / "straight", SilentReporter())
    with monkeypatch.context() as patch:
        interrupted_at(3, patch)
        ended = train_voice(config, tmp_path / "broken", SilentReporter())
    assert ended.interrupted
    assert ended.progress.step == 3
    with pytest.raises(RunError, match="has not finished"):
        load_voice(tmp_path / "broken")
    train_voice(resumed_config(tmp_path / "broken", {}), tmp_path / "broken", SilentReporter(), resume=True)
    digests = [atomic.digest(tmp_path / name / "model.safetensors") for name in ("straight", "broken")]
    assert digests[0] == digests[1]


def test_a_finished_run_loads_and_a_changed_one_does_not(voice_run: Path, tmp_path: Path) -> None:
    run = load_voice(voice_run)
    assert run.letters.size == run.model.config.alphabet == 4
    assert not run.model.training
    assert sorted(path.name for path in (voice_run / "samples").iterdir())[0] == "step-00000004-1.wav"
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("config.json", "letters.json", "model.safetensors", "manifest.json"):
        (copy / name).write_bytes((voice_run / name).read_bytes())
    load_voice(copy)
    letters = json.loads((copy / "letters.json").read_text())
    letters["alphabet"] = letters["alphabet"][::-1]
    (copy / "letters.json").write_text(json.dumps(letters))
    with pytest.raises(RunError, match=r"letters\.json: damaged or changed"):
        load_voice(copy)


@pytest.fixture
def project(corpus: Path, tiny: dict[str, Any], tmp_path: Path) -> Path:
    """A finished voice and its corpus, both of one's own."""
    shutil.copytree(corpus.parent, tmp_path / "corpus")
    settings_ = {"data": {"train": [str(tmp_path / "corpus" / "tones.tsv")]}, "model": tiny}
    training = {"steps": 2, "validate_every": 2, "save_every": 1, "threads": 1}
    train_voice(new_config(settings_ | {"training": training}), tmp_path / "run", SilentReporter())
    return tmp_path


def resume(out: Path, *, accept: bool = False, **training: Any) -> Any:
    changes = {"training": training} if training else {}
    return train_voice(resumed_config(out, changes), out, SilentReporter(), resume=True, changed_data=accept)


def test_a_finished_voice_survives_a_failed_extension(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = project / "run"
    before = {path.name: atomic.digest(path) for path in out.glob("*.*") if path.is_file()}

    class Killed(BaseException): ...

    def killed(self: Any, update: Any, progress: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(SilentReporter, "update", killed)
        with pytest.raises(Killed):
            resume(out, steps=4)
    assert {name: atomic.digest(out / name) for name in before} == before
    load_voice(out)
    assert resume(out).progress.step == 4
    assert load_voice(out).config.training.steps == 4
    (project / "corpus").rename(project / "gone")
    with pytest.raises(DataError, match="no such corpus"):
        resume(out, steps=5)
    load_voice(out)


def test_a_recording_that_was_replaced_is_named(project: Path) -> None:
    out = project / "run"
    recording = project / "corpus" / "abba-200.wav"
    shutil.copy(project / "corpus" / "baab-400.wav", recording)
    with pytest.raises(DataError, match=r"abba-200\.wav has changed.*--changed-data"):
        resume(out, steps=3)
    load_voice(out)
    before = atomic.digest(out / "data" / "train.npy"), atomic.digest(out / "data" / "test.npy")
    assert resume(out, accept=True, steps=3).progress.step == 3
    assert (atomic.digest(out / "data" / "train.npy"), atomic.digest(out / "data" / "test.npy")) != before


def test_a_voice_that_was_moved_with_its_corpus_goes_on(project: Path) -> None:
    (project / "together").mkdir()
    for name in ("run", "corpus"):
        (project / name).rename(project / "together" / name)
    assert resume(project / "together" / "run", steps=3).progress.step == 3


@pytest.mark.parametrize("how", ["truncated", "overwritten", "description"])
def test_damaged_spectrograms_are_made_again(how: str, project: Path) -> None:
    out = project / "run"
    path = out / "data" / "train.npy"
    content = path.read_bytes()
    if how == "truncated":
        path.write_bytes(content[:-100])
    elif how == "overwritten":
        path.write_bytes(content[:-100] + b"\x3c" * 100)
    else:
        path.with_suffix(".json").write_text('{"ends": []}')
    resume(out, steps=3)
    assert path.read_bytes() == content


def test_a_voice_takes_more_time(project: Path) -> None:
    out = project / "run"
    assert resume(out, time_limit=0.2).progress.step > 2
    assert load_voice(out).config.training.time_limit > 0.2  # type: ignore[operator]


def test_a_voice_leaves_nothing_behind_that_blocks_it(
    corpus: Path, tiny: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, out = new_config(settings(corpus, tiny, steps=2)), tmp_path / "run"
    device = "mps" if not torch.backends.mps.is_available() else "cuda"
    with pytest.raises(ConfigError, match=f"{device} is not available"):
        train_voice(new_config(settings(corpus, tiny, device=device)), out, SilentReporter())
    assert not out.exists()

    def pressed(*arguments: Any, **named: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("seq2see.speech.training._held_out", pressed)
        with pytest.raises(KeyboardInterrupt):
            train_voice(config, out, SilentReporter())
    assert not out.exists()
    with monkeypatch.context() as patch:
        patch.setattr(SilentReporter, "update", pressed)
        with pytest.raises(KeyboardInterrupt):
            train_voice(config, out, SilentReporter())
    assert train_voice(config, out, SilentReporter()).progress.step == 2


def test_random_state_and_threads_are_given_back(corpus: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.manual_seed(9)
    before = torch.get_rng_state()
    try:
        train_voice(new_config(settings(corpus, tiny, steps=1)), tmp_path / "run", SilentReporter())
        load_voice(tmp_path / "run")
        assert torch.equal(torch.get_rng_state(), before)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_a_voice_does_not_translate(voice_run: Path) -> None:
    with pytest.raises(RunError, match="is a voice; use `seq2see speak"):
        load_run(voice_run)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"decodr": 12}, "model.decodr is unknown; did you mean 'decoder'?"),
        ({"lessons": {"bach": 3}}, "model.lessons.bach is unknown; did you mean 'batch'?"),
        ({"reduction": 0}, "model.reduction = 0"),
        ({"size": "paper"}, "no --size"),
    ],
)
def test_wrong_settings_are_said_before_anything_is_read(tiny: dict[str, Any], change: Any, said: str) -> None:
    with pytest.raises(ConfigError) as problem:
        new_config(settings(Path("nowhere.tsv"), tiny | change))
    assert said in str(problem.value)


def test_a_voice_learns_from_one_corpus(tiny: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="one corpus, not 2"):
        new_config({"data": {"train": ["a.tsv", "b.tsv"]}, "model": tiny})


def task(tiny: dict[str, Any], lengths: list[int]) -> VoiceTask:
    torch.manual_seed(0)
    model = Tacotron(TacotronConfig.model_validate(tiny | {"alphabet": 4}))
    letters = Letters("ab", LettersConfig(kind="characters"))
    frames = np.random.default_rng(0).random((sum(lengths), 80)).astype(np.float16)
    recordings = Recordings(["ab"] * len(lengths), [letters.ids("ab")] * len(lengths), frames, np.cumsum(lengths))
    exam = HeldOut(recordings, recordings, [])
    return VoiceTask(model, recordings, exam, seed=1, samples=Path("unused"), device=torch.device("cpu"))


def test_batches_hold_like_lengths_within_the_budget(tiny: dict[str, Any]) -> None:
    tiny["lessons"] = {"batch": 8, "frames": 200, "short": 1.0}
    taught = task(tiny, [10 + place % 40 for place in range(100)])
    taught.plan(50)
    batches = taught.order(2)
    assert sorted(int(row) for rows in batches for row in rows) == list(range(100))
    for rows in batches:
        longest = int(taught.recordings.lengths[rows].max())
        assert len(rows) <= 8
        assert len(rows) * longest <= 200
    again = task(tiny, [10 + place % 40 for place in range(100)])
    again.plan(50)
    assert [rows.tolist() for rows in again.order(2)] == [rows.tolist() for rows in batches]
    assert [rows.tolist() for rows in again.order(3)] != [rows.tolist() for rows in batches]
    later = list(taught.batches(2, 3))
    assert [lesson.rows.tolist() for lesson in later] == [rows.tolist() for rows in batches[3:]]


def test_the_curriculum_begins_with_the_shortest(tiny: dict[str, Any]) -> None:
    tiny["lessons"] = {"batch": 4, "short": 0.5, "grow": [0.2, 0.4]}
    taught = task(tiny, list(range(10, 50)))
    taught.plan(50)
    longest = [max(int(taught.recordings.lengths[rows].max()) for rows in taught.order(epoch)) for epoch in range(6)]
    assert longest[0] == 29
    assert longest[-1] == 49
    assert longest == sorted(longest)


def test_a_lesson_is_padded_with_silence_and_ends_with_it(tiny: dict[str, Any]) -> None:
    lesson = task(tiny, [9, 14]).batch(np.array([0, 1]))
    assert lesson.steps.tolist() == [3 + 2, 4 + 2]
    assert lesson.mel.shape == (2, 24, 80)
    assert lesson.mel[0, 9:].eq(0).all()
    assert not lesson.mel[0, 8].eq(0).all()


def test_timing_an_update_changes_nothing(tiny: dict[str, Any]) -> None:
    taught = task(tiny, [20, 24])
    before = {name: value.clone() for name, value in taught.model.state_dict().items()}
    taught.loss(taught.batch(np.array([0, 1])), 0).total.backward()
    assert all(torch.equal(value, before[name]) for name, value in taught.model.state_dict().items())
    taught.loss(taught.batch(np.array([0, 1])), 1)
    assert taught.model.style is not None
    assert not torch.equal(taught.model.style.mean, before["style.mean"])


def test_a_voice_learns(tiny: dict[str, Any]) -> None:
    """Sixty updates on two utterances bring the loss well down."""
    taught = task(tiny | {"dropout": 0.0, "decoder": 24}, [20, 24])
    taught.plan(1000)
    lesson = taught.batch(np.array([0, 1]))
    lesson.mel[:, :20, :40] = 0.8
    lesson.mel[:, :20, 40:] = 0.2
    optimiser = torch.optim.Adam(taught.model.parameters(), 1e-2)
    losses = []
    for step in range(1, 61):
        torch.manual_seed(step)
        loss = taught.loss(lesson, step)
        optimiser.zero_grad()
        (loss.total / taught.positions(lesson)).backward()
        optimiser.step()
        losses.append(loss.parts["refined"])
    assert losses[-1] < losses[0] / 3
