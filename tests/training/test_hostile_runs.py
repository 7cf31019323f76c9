"""Run folders that somebody made: whatever is in them, loading gives the run or a RunError, soon, in little memory.

Each folder has a manifest that fits, so that it is the loader that has to see what is wrong.
"""

import json
import os
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.utils._python_dispatch import TorchDispatchMode

sys.path.insert(0, str(Path(__file__).parents[1] / "session"))

from folders import FAMILIES, make_run

import seq2see
from seq2see import atomic
from seq2see.errors import RunError
from seq2see.models import from_config, load_config
from seq2see.runs.config import merge, read_config
from seq2see.runs.folder import CONFIG, MANIFEST, TOKENIZERS, WEIGHTS, load_run, read_run_config
from seq2see.runs.inputs import describe
from seq2see.text import Tokenizer, TokenizerConfig
from seq2see.training.prepare import prepare

SMALL: dict[str, dict[str, Any]] = {
    "rnn": {"embedding": 8, "hidden": 8, "encoder": {"embedding": 8, "hidden": 8}},
    "rnnsearch": {"embedding": 8, "hidden": 8, "readout": 8, "encoder": {"embedding": 8, "hidden": 8}},
    "luong": {"embedding": 8, "hidden": 8, "encoder": {"embedding": 8, "hidden": 4}},
    "convs2s": {},
    "bytenet": {"width": 8},
    "transformer": {"width": 8, "heads": 2, "inner": 16, "layers": 1},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    return {family: make_run(folder / family, family, **SMALL[family]) for family in FAMILIES}


@pytest.fixture
def run(runs: dict[str, Path], tmp_path: Path) -> Path:
    return shutil.copytree(runs["transformer"], tmp_path / "run")


@pytest.fixture(autouse=True)
def _no_hang() -> Iterator[None]:
    """A loader that waits for a pipe would wait for ever, and the test with it."""

    def stop(*_: object) -> None:
        raise AssertionError("loading hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(30)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


class LittleMemory(TorchDispatchMode):
    """Fails before a tensor of more than a million numbers is made."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        wanted = 1
        if func._schema.name == "aten::empty" and torch.device(kwargs.get("device") or "cpu").type != "meta":
            for size in args[0]:
                wanted *= size
        assert wanted < 1_000_000, f"a tensor of {wanted:,} numbers"
        return func(*args, **kwargs)


def refused(run: Path) -> str:
    """The message of the RunError, which is one line."""
    with pytest.raises(RunError) as caught, LittleMemory():
        load_run(run)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 500 + len(str(run))
    return message


def refit(run: Path, *names: str) -> None:
    """Puts the digests of these files into the manifest."""
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps(manifest | {name: atomic.digest(run / name) for name in names}))


def reconfigure(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    config = json.loads((run / CONFIG).read_text())
    change(config)
    (run / CONFIG).write_text(json.dumps(config))
    refit(run, CONFIG)


def reweigh(run: Path, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    weights = load_file(run / WEIGHTS)
    change(weights)
    save_file(weights, run / WEIGHTS)
    refit(run, WEIGHTS)


# ----- what is as it should be


@pytest.mark.parametrize("family", FAMILIES)
def test_a_run_loads_the_same_bits_and_draws_nothing_random(runs: dict[str, Path], family: str) -> None:
    before = torch.get_rng_state()
    run = load_run(runs[family])
    assert torch.equal(torch.get_rng_state(), before)
    reference = from_config(load_config(run.config.model)).eval()
    reference.load_state_dict(load_file(runs[family] / WEIGHTS))
    _same_model(run.model, reference)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        *(("transformer", {"positions": name}) for name in ("sinusoidal", "learned", "rotary", "alibi", "relative")),
        ("transformer", {"tie": "none", "norm": "rms", "qk_norm": True, "activation": "swiglu", "kv_heads": 1}),
        ("transformer", {"encoder": {"kind": "convolutional"}}),
        ("luong", {"attention": {"score": "cosine", "scope": "local-p"}, "cell": "lstm"}),
        ("luong", {"attention": {"score": "location", "max_length": 40, "scope": "local-m"}}),
        ("rnnsearch", {"attention": {"score": "location_aware", "heads": 2}}),
        ("rnnsearch", {"attention": {"score": "general", "normaliser": "entmax15"}, "maxout": True}),
        ("rnn", {"cell": "tanh", "context": "first state", "layers": 2}),
    ],
)
def test_every_part_of_a_model_is_loaded_or_made(tmp_path: Path, family: str, settings: dict[str, Any]) -> None:
    run = make_run(tmp_path / "run", family, **(SMALL[family] | settings))
    loaded = load_run(run)
    reference = from_config(load_config(loaded.config.model)).eval()
    reference.load_state_dict(load_file(run / WEIGHTS))
    _same_model(loaded.model, reference)


def _same_model(model: Any, reference: Any) -> None:
    for (name, one), (_, other) in zip(
        [*model.named_parameters(), *model.named_buffers()],
        [*reference.named_parameters(), *reference.named_buffers()],
        strict=True,
    ):
        assert one.device.type == "cpu", name
        assert torch.equal(one, other), name
        assert one.requires_grad == other.requires_grad, name
        assert one.data_ptr() % 64 == 0, name  # as torch lays out its own: some sums depend on it
    source, mask = torch.tensor([[5, 6, 7, 2], [8, 2, 0, 0]]), torch.tensor([[[1, 1, 1, 1]], [[1, 1, 0, 0]]]).bool()
    with torch.no_grad():
        for one, other in zip(_step(model, source, mask), _step(reference, source, mask), strict=True):
            assert torch.equal(one, other)


def _step(model: Any, source: torch.Tensor, mask: torch.Tensor) -> list[torch.Tensor]:
    memory = model.encode(source, mask)
    first, state = model.step(torch.tensor([1, 1]), memory, model.start(memory))
    return [first, model.step(torch.tensor([5, 6]), memory, state)[0]]


def test_a_link_to_a_file_is_a_file(run: Path, tmp_path: Path) -> None:
    (run / WEIGHTS).rename(tmp_path / "elsewhere")
    (run / WEIGHTS).symlink_to(tmp_path / "elsewhere")
    load_run(run)


def test_a_config_may_hold_infinity(run: Path) -> None:
    reconfigure(run, lambda config: config["training"].update(clip=float("inf")))
    assert load_run(run).config.training.clip == float("inf")


# ----- sizes that the weights do not have


@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("size", [500, 65_536, 3_000_000, 50_000_000, 2**31 - 1, 2**62, 10**30, 1e30, "3000000"])
def test_a_vocabulary_is_as_large_as_its_weights(run: Path, side: str, size: Any) -> None:
    reconfigure(run, lambda config: config["model"].update({f"{side}_vocabulary": size}))
    message = refused(run)
    assert f"model.{side}_vocabulary = " in message or f"model: {side}_vocabulary = " in message


def test_a_vocabulary_and_tokenizer_that_are_larger_than_the_weights(run: Path) -> None:
    """The setting is named, and what the file holds instead."""
    words = " ".join(f"{a}{b}{c}" for a in "abcdefgh" for b in "ijklmnop" for c in "qrstuvwxyz")
    tokenizer = Tokenizer.train([words], TokenizerConfig(scheme="word", vocabulary=900))
    tokenizer.save(run / TOKENIZERS[1])
    refit(run, TOKENIZERS[1])
    held = load_file(run / WEIGHTS)["decoder.embedding.own.weight"].size(0)
    reconfigure(run, lambda config: config["model"].update(target_vocabulary=tokenizer.size))
    message = refused(run)
    assert f"model.target_vocabulary = {tokenizer.size}, but decoder.embedding.own.weight holds {held} rows" in message


@pytest.mark.parametrize("side", [0, 1])
def test_a_tokenizer_that_does_not_fit_its_model(run: Path, side: int) -> None:
    tokenizer = Tokenizer.train(["a b c d"], TokenizerConfig(scheme="byte"))
    tokenizer.save(run / TOKENIZERS[side])
    refit(run, TOKENIZERS[side])
    message = refused(run)
    assert f"{TOKENIZERS[side]} has {tokenizer.size} pieces" in message


def test_training_does_not_go_on_with_a_tokenizer_of_another_size(run: Path) -> None:
    """Before the data is read, and before the model takes memory."""
    (run / "pairs.tsv").write_text("나는 학생 입니다 .\tI am a student .\n" * 9)
    reconfigure(run, lambda config: config["model"].update(source_vocabulary=3_000_000))
    config = read_config(merge(read_run_config(run).model_dump(), {"data": {"train": [str(run / "pairs.tsv")]}}))
    with pytest.raises(RunError, match=r"tokenizer\.source\.json has \d+ pieces, but .* = 3000000"):
        prepare(config, run, describe([run / "pairs.tsv"]), lambda _: None, lambda _: lambda _: None)
    assert not (run / "data").exists()


@pytest.mark.parametrize(
    ("family", "path", "value"),
    [
        ("rnn", "hidden", 2**30),
        ("rnn", "layers", 10**9),
        ("rnn", "encoder.layers", 60_000),
        ("rnnsearch", "attention.heads", 10**9),
        ("rnnsearch", "attention.window", 10**30),
        ("luong", "embedding", 10**12),
        ("luong", "attention.hidden", 2**63),
        ("convs2s", "encoder.channels", [10**9]),
        ("convs2s", "decoder.channels", [8] * 100_000),
        ("convs2s", "decoder.max_length", 2**31 - 1),
        ("bytenet", "sets", 60_000),
        ("bytenet", "sets", 10**9),
        ("bytenet", "dilations", [10**9]),
        ("bytenet", "extra", 10**9),
        ("bytenet", "kernel", 10**9),
        ("transformer", "layers", 60_000),
        ("transformer", "width", 2**30),
        ("transformer", "inner", 10**18),
        ("transformer", "encoder_layers", 10**15),
    ],
)
def test_no_size_is_larger_than_the_weights(
    runs: dict[str, Path], tmp_path: Path, family: str, path: str, value: Any
) -> None:
    run = shutil.copytree(runs[family], tmp_path / "run")

    def change(config: dict[str, Any]) -> None:
        *outer, name = path.split(".")
        inner = config["model"]
        for one in outer:
            inner = inner[one]
        inner[name] = value
        if name == "channels":
            inner["kernels"] = [3] * len(value)

    reconfigure(run, change)
    refused(run)


# ----- weights


def test_missing_and_unexpected_weights_are_listed_together(run: Path) -> None:
    def rename(weights: dict[str, torch.Tensor]) -> None:
        weights["decoder.norm.size"] = weights.pop("decoder.norm.weight")

    reweigh(run, rename)
    assert "missing 'decoder.norm.weight'; unexpected 'decoder.norm.size'" in refused(run)


@pytest.mark.parametrize("kind", [torch.int32, torch.int64, torch.uint8, torch.bool, torch.float16])
def test_weights_of_another_type(run: Path, kind: torch.dtype) -> None:
    reweigh(run, lambda weights: weights.update({name: value.to(kind) for name, value in weights.items()}))
    assert "expected F32" in refused(run)


def test_a_weight_of_another_shape(run: Path) -> None:
    reweigh(run, lambda weights: weights.update({"decoder.norm.weight": torch.zeros(9)}))
    assert "decoder.norm.weight" in refused(run)
    reweigh(run, lambda weights: weights.update({"decoder.norm.weight": torch.zeros(2, 4)}))
    assert "decoder.norm.weight has shape (2, 4) instead of (8,)" in refused(run)


def _tensors(header: bytes, *, length: int | None = None, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(header) if length is None else length) + header + data


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0\0",
        _tensors(b"{}"),
        _tensors(b"{}", length=2**63),
        _tensors(b"{}", length=90 * 2**20),
        _tensors(b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
        _tensors(b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}', data=b"\0" * 4),
        _tensors(b'{"a":{"dtype":"F32","shape":[1e30],"data_offsets":[0,4]}}', data=b"\0" * 4),
        _tensors(b'{"a":{"dtype":"F32","shape":[9223372036854775807,8],"data_offsets":[0,4]}}', data=b"\0" * 4),
        _tensors(b'{"a\\u0000":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', data=b"\0" * 4),
        _tensors(b'{"a\\ud800":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', data=b"\0" * 4),
        _tensors(b'{"a":{"dtype":"F99","shape":[1],"data_offsets":[0,4]}}', data=b"\0" * 4),
        _tensors(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', data=b""),
    ],
    ids=range(13),
)
def test_weights_files_that_are_none(run: Path, content: bytes) -> None:
    (run / WEIGHTS).write_bytes(content)
    refit(run, WEIGHTS)
    assert WEIGHTS in refused(run)


# ----- JSON


JSON = {
    "nested lists": "[" * 100_000 + "]" * 100_000,
    "nested objects": '{"a":' * 900 + "1" + "}" * 900,
    "a nested value": '{"version": 1, "model": ' + "[" * 200 + "]" * 200 + "}",
    "many digits": '{"version": ' + "9" * 5000 + "}",
    "digits": '{"version": ' + "9" * 4000 + "}",
    "not a number": '{"version": 1, "training": {"clip": NaN}}',
    "half a pair": '{"version": 1, "data": {"train": ["\\ud800"]}}',
    "nul": '{"version": 1, "data": {"train": ["a\\u0000b"]}}',
    "half a pair in a name": '{"version": 1, "\\udfff": 1}',
    "a long name": '{"version": 1, "' + "a" * 100_000 + '": 1}',
    "a long value": '{"version": 1, "training": {"clip": "' + "a" * 100_000 + '"}}',
    "large": '{"version": 1, "model": {"family": "' + "a" * 5_000_000 + '"}}',
    "no family": '{"version": 1}',
    "a list for a family": '{"version": 1, "model": {"family": [[]]}}',
    "unknown family": '{"version": 1, "model": {"family": "' + "ab" * 100_000 + '"}}',
    "latin": '{"version": 1, "data": {"form": "\xe9"}}'.encode("latin-1"),
    "empty": "",
    "null": "null",
    "text": '"version"',
}


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("file", [CONFIG, MANIFEST, *TOKENIZERS])
def test_json_that_is_odd(run: Path, file: str, name: str) -> None:
    content = JSON[name]
    (run / file).write_bytes(content if isinstance(content, bytes) else content.encode())
    if file != MANIFEST:
        refit(run, file)
    refused(run)
    with pytest.raises(RunError):
        seq2see.load(run)


# ----- what is no file


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)  # the name of a socket is short
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


NO_FILES: Mapping[str, Callable[[Path], None]] = {
    "pipe": _pipe,
    "device": _endless,
    "socket": _socket,
    "folder": Path.mkdir,
    "loop": _loop,
}


@pytest.mark.parametrize("kind", NO_FILES)
@pytest.mark.parametrize("file", [CONFIG, MANIFEST, WEIGHTS, *TOKENIZERS])
def test_what_is_no_file_is_not_waited_for(run: Path, file: str, kind: str) -> None:
    (run / file).unlink()
    NO_FILES[kind](run / file)
    assert file in refused(run)


@pytest.mark.parametrize("kind", NO_FILES)
def test_the_manifest_may_list_what_is_no_file(run: Path, kind: str) -> None:
    NO_FILES[kind](run / "extra")
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps({"extra": "0" * 64} | manifest))
    assert "extra" in refused(run)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800", "..", ".", "", "/etc/passwd", "../run/config.json", "a" * 5000])
def test_the_manifest_may_list_what_is_no_name(run: Path, name: str) -> None:
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps({name: "0" * 64} | manifest))
    assert MANIFEST in refused(run) or name in refused(run)


def test_the_digests_may_be_anything(run: Path) -> None:
    manifest = json.loads((run / MANIFEST).read_text())
    for value in (1, None, [], {"a": 1}, "0" * 64):
        (run / MANIFEST).write_text(json.dumps(manifest | {CONFIG: value}))
        assert "damaged or changed" in refused(run)


@pytest.mark.parametrize("name", ["a\0b", "a\ud800"])
def test_a_run_by_a_name_that_no_folder_has(name: str) -> None:
    with pytest.raises(RunError):
        seq2see.load(name)
