"""Everything that is more than one file: tokenizers, checkpoints, run folders, engines, stores of ids."""

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from fuzzing.seeds import TOKENS
from fuzzing.target import BrokenPromiseError, Files, Target

sys.path.insert(0, str(Path(__file__).parents[2] / "session"))

TEXTS = ("나는 학생 입니다 .", "A b 가각힣 \u1112\u1161 👩‍👩‍👧", "")
SMALL: dict[str, dict[str, Any]] = {
    "rnnsearch": {"embedding": 8, "hidden": 8, "readout": 8, "encoder": {"embedding": 8, "hidden": 8}},
    "transformer": {"width": 8, "heads": 2, "layers": 1, "inner": 8},
}


@contextmanager
def _temporary():  # type: ignore[no-untyped-def]
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# ----- tokenizers


def _made_tokenizers() -> Sequence[Files]:
    from folders import SOURCES

    from seq2see.text import Tokenizer, TokenizerConfig

    made = []
    for scheme in ("char", "word", "bpe", "unigram", "byte"):
        for fallback in (True, False) if scheme != "byte" else (True,):
            config = TokenizerConfig(scheme=scheme, vocabulary=400, byte_fallback=fallback, jamo=scheme == "bpe")
            with _temporary() as folder:
                Tokenizer.train(SOURCES * 2, config).save(folder / "tokenizer.json")
                made.append(files_of(folder))
    return [*made, *_imported_tokenizers()]


def _spm(kind: str) -> bytes:
    """A SentencePiece model with the rules of NFKC in it."""
    import io

    import sentencepiece
    from folders import SOURCES, TARGETS

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*SOURCES, *TARGETS] * 4),
        model_writer=written,
        vocab_size=90,
        model_type=kind,
        hard_vocab_limit=False,
        minloglevel=3,
    )
    return written.getvalue()


def _imported_tokenizers() -> Sequence[Files]:
    from seq2see.doors.spm import NORMAL, read_spm
    from seq2see.text import TokenizerConfig
    from seq2see.text.pieces import SPECIALS
    from seq2see.text.sentencepiece import SentencePieceModel, SentencePieceTokenizer

    made = []
    for kind in ("unigram", "bpe"):
        spm = read_spm(_spm(kind))
        pieces = tuple((piece.text.replace("▁", " "), piece.score) for piece in spm.pieces if piece.kind == NORMAL)
        names = (*SPECIALS, ">>deu<<", *(name for name, _ in pieces))
        model = SentencePieceModel(kind == "bpe", pieces, names, spm.charsmap, True, True)
        config = TokenizerConfig(scheme="sentencepiece", byte_fallback=False, language_code=">>deu<<")
        with _temporary() as folder:
            SentencePieceTokenizer(config, model).save(folder / "tokenizer.json")
            made.append(files_of(folder))
    return made


# ----- folders of other programs


@cache
def _marian_folders() -> Sequence[Files]:
    sys.path.insert(0, str(Path(__file__).parents[2] / "doors"))
    from learned_runs import learned_run

    from seq2see.doors.leaving import export_run

    small = {"width": 8, "heads": 2, "layers": 1, "inner": 8, "norm_first": False}
    with _temporary() as folder:
        export_run(learned_run(folder / "run", steps=0, **small), "hf", folder / "hf")
        ours = files_of(folder / "hf")
    # The same with models that SentencePiece made: pieces that the vocabulary lacks are unknown.
    return [ours, *(ours | {"source.spm": _spm(kind), "target.spm": _spm(kind)} for kind in ("unigram", "bpe"))]


def _marian(folder: Path, out: Path) -> None:
    """`seq2see import`, and the run that it makes."""
    from seq2see.doors.marian_in import import_marian

    with _temporary() as place:
        import_marian(folder, place / "run")
        _run(place / "run", out)


def _tokenizer(folder: Path, out: Path) -> None:
    from seq2see.text import Tokenizer, normalise

    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    for text in map(normalise, TEXTS):
        encoding = tokenizer.encode(text)
        if tokenizer.ids_batch([text]) != [encoding.ids]:
            raise BrokenPromiseError("encode and ids_batch differ")
        if tokenizer.config.in_bytes and tokenizer.decode(encoding.ids) != text:
            raise BrokenPromiseError("decode(encode(x)) is not x")
        tokenizer.words(tokenizer.read(encoding.ids))
        tokenizer.pieces(encoding.ids)
    tokenizer.decode(range(tokenizer.size))
    tokenizer.save(out / "again.json")
    if not Tokenizer.load(out / "again.json").same_as(tokenizer):
        raise BrokenPromiseError("saved and read again it is another tokenizer")


# ----- run folders


@cache
def _runs() -> Sequence[dict[str, bytes]]:
    from folders import make_run

    made = []
    for family, settings in SMALL.items():
        with _temporary() as folder:
            made.append(files_of(make_run(folder / "run", family, **settings)))
    return made


def _run(folder: Path, out: Path) -> None:
    """What `seq2see translate` does with a folder."""
    import seq2see

    translator = seq2see.load(folder)
    for text in TEXTS[:2]:
        translation = translator.translate(text, beam=1)
        translation.text.encode()
        _ = translation.score


def _made_voices() -> Sequence[Files]:
    import torch

    from seq2see import atomic
    from seq2see.runs import folder as run_folder
    from seq2see.speech.corpus.letters import Letters
    from seq2see.speech.model.tacotron import Tacotron
    from seq2see.speech.training import LETTERS, LISTED, model_config, new_config

    small = {
        "family": "tacotron",
        "embedding": 8,
        "encoder": 8,
        "bank": 3,
        "highways": 1,
        "attention_width": 8,
        "filters": 4,
    }
    small |= {"kernel": 5, "decoder": 12, "prenet": 8, "postnet": 8}
    small |= {"style": {"tokens": 5, "heads": 2, "width": 8, "channels": [4, 4, 8], "summary": 8, "crop": 16}}
    config = new_config({"data": {"train": ["a.tsv"]}, "model": small})
    letters = Letters.fit(["ab 가"], model_config(config).letters)
    model = model_config(config).model_copy(update={"alphabet": letters.size})
    with _temporary() as folder:
        letters.save(folder / LETTERS)
        saved = config.as_json() | {"model": model.model_dump(mode="json")}
        atomic.write_json(folder / run_folder.CONFIG, saved)
        torch.manual_seed(0)
        run_folder.finish(folder, Tacotron(model), LISTED)
        return [files_of(folder)]


def _voice(folder: Path, out: Path) -> None:
    import seq2see
    from seq2see.speech.model.task import padded_ids

    voice = seq2see.load_voice(folder)
    ids = voice.letters.ids("ab 가")
    weights = voice.weights()
    voice.model.speak(padded_ids([ids]), None if weights is None else weights.expand(1, -1, -1))


# ----- checkpoints and what a training goes on with


@cache
def _half_a_run() -> dict[str, bytes]:
    """Two of four updates: what a killed training leaves."""
    from seq2see.training.reporting import SilentReporter
    from seq2see.training.run import new_config, train_run

    settings: dict[str, Any] = {
        "data": {"train": ["builtin:reverse,count=40"], "valid_pairs": 4},
        "tokenizer": {"scheme": "char", "byte_fallback": False, "vocabulary": 100},
        "model": {"family": "rnnsearch", "size": "tiny", **SMALL["rnnsearch"]},
        "training": {"steps": 4, "save_every": 2, "validate_every": 2, "batch_tokens": 64, "threads": 1, "warmup": 2},
    }
    with _temporary() as folder:
        train_run(new_config(settings), folder / "run", SilentReporter())
        whole = files_of(folder / "run")
    later = ("checkpoints/step-00000004/", "manifest.json", "model.safetensors")
    return {name: content for name, content in whole.items() if not name.startswith(later) and "@4." not in name}


def _checkpoints() -> Sequence[Files]:
    start = "checkpoints/"
    found = {name.removeprefix(start): content for name, content in _half_a_run().items() if name.startswith(start)}
    return [{name: content for name, content in found.items() if name.startswith("step-")}]


def _checkpoint(folder: Path, out: Path) -> None:
    from seq2see.runs import checkpoint

    newest, passed = checkpoint.newest(folder)
    if newest is None and not passed and any(folder.glob("step-*")):
        raise BrokenPromiseError("a damaged checkpoint was passed over without a word")


def _resume(folder: Path, out: Path) -> None:
    """`seq2see train --resume`."""
    from seq2see.training.reporting import SilentReporter
    from seq2see.training.run import resumed_config, train_run

    train_run(resumed_config(folder, {}), folder, SilentReporter(), resume=True)


# ----- stores of ids


@cache
def _store_maker() -> Callable[[Path], Any]:
    """Builds a store in a folder, or takes the one that is there."""
    from seq2see.data import store
    from seq2see.data.sources import parse_sources
    from seq2see.text import Tokenizer, TokenizerConfig

    sources = parse_sources(["builtin:phrases,count=30"])
    pairs = list(sources[0].pairs())
    config = TokenizerConfig(scheme="char", byte_fallback=False)
    tokenizers = tuple(Tokenizer.train([pair[side] for pair in pairs], config) for side in (0, 1))
    return partial(
        store.build,
        sources=sources,
        tokenizers=tokenizers,
        limits=store.Limits(200, 200),
        keep=lambda sample: True,
        with_links=True,
        fingerprint="f",
        advance=lambda count: None,
    )


def _stores() -> Sequence[Files]:
    with _temporary() as folder:
        _store_maker()(folder / "store")
        return [files_of(folder / "store")]


def _store(folder: Path, out: Path) -> None:
    """An epoch over the pairs of a store; one that is damaged is built anew."""
    from seq2see.data.loading import Loader
    from seq2see.data.order import Order

    store = _store_maker()(folder)
    loader = Loader(Order(store, seed=1, batch_tokens=400), (None, None), with_links=True)  # type: ignore[arg-type]
    if sum(len(loaded.pairs) for loaded in loader.load(0)) != 30:
        raise BrokenPromiseError("an epoch of other pairs")


# ----- engines


@cache
def _engines() -> Sequence[Files]:
    from folders import make_run

    from seq2see.engines import make_engine
    from seq2see.runs.folder import load_run

    if made := os.environ.get("FUZZ_ENGINES"):  # see Harness.engines
        return [files_of(Path(made))]
    with _temporary() as folder:
        run = make_run(folder / "run", "rnnsearch", **SMALL["rnnsearch"])
        for name in ("onnx", "int8"):
            make_engine(load_run(run), name)
        return [files_of(run)]


def _engine(name: str, folder: Path, out: Path) -> None:
    """A translation by the engine in the folder. One that does not fit would be made anew, which takes long."""
    import seq2see
    from seq2see.engines import cache
    from seq2see.errors import RunError

    def made_again(*_: Any) -> Any:
        raise RunError("the engine would be made again")

    cache.export = cache.quantised = made_again
    translation = seq2see.load(folder, engine=name, say=lambda text: None).translate(TEXTS[0], beam=1)
    translation.text.encode()


_JSON = TOKENS["json"]
_MODEL = ("config.json", "manifest.json", "model.safetensors", "tokenizer.source.json", "tokenizer.target.json")


def _folder(name: str, made: Callable[[], Sequence[Files]], read: Callable[[Path, Path], None]) -> Target:
    return Target(name, "folders", made, read, _JSON, refit=True, specials=True)


_CONFIG = frozenset({"config.json"})  # another one could ask for a million updates
TARGETS: list[Target] = [
    _folder("tokenizer", _made_tokenizers, _tokenizer),
    _folder("run", _runs, _run),
    _folder("marian", _marian_folders, _marian),
    _folder("voice", _made_voices, _voice),
    _folder("checkpoint", _checkpoints, _checkpoint),
    replace(_folder("store", _stores, _store), refit=False, writes=True),
    replace(_folder("resume", lambda: [_half_a_run()], _resume), refit=False, frozen=_CONFIG, writes=True),
    # The state of a training is not meant to travel. Forged, it may end in any exception, but in nothing worse.
    replace(_folder("resume-forged", lambda: [_half_a_run()], _resume), frozen=_CONFIG, writes=True, tolerant=True),
    *(
        replace(_folder(f"engine-{name}", _engines, partial(_engine, name)), frozen=frozenset(_MODEL), writes=True)
        for name in ("onnx", "int8")
    ),
]
