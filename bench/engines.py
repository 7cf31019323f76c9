"""Every engine on every family, beside CTranslate2's own API on the same weights; and the time around the graph.

    python bench/engines.py                                     six families, trained for a moment on builtin:phrases
    python bench/engines.py runs/a runs/b --text test.de        runs that are there, on a text with a sentence a line

Texts to texts with the model loaded, as `seq2see translate` does it, batches of 1 and of 32 sentences, greedy and a
beam of 5 (GNMT's length penalty).
Engines take turns, round by round, so that a busy machine hurts all alike, and the clock is the process's own, which
stands still while other programs have the core. One thread.

sentences/s   median over the rounds
of torch      the rate as a multiple of torch's
of CT2        as a multiple of `raw`: CTranslate2's translate_batch in the same numbers (float32 or int8), from pieces
              to pieces, without cutting texts, without scores, by its own rule to stop and its own length penalty
of joeynmt    as a multiple of joeynmt 2.3.0 with the same weights and batches (--joeynmt PYTHON, as of
              bench/translate.py): `transformer` and `luong`; `rnnsearch` beside a `luong` run with an additive score,
              if one is named as well
around        share of the time that is not spent in ONNX Runtime, CTranslate2 or torch's `encode` and `step`: cutting,
              batches, search, spelling out
same          translations equal to torch's
+list         with a shortlist (--shortlist)
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from joeynmt_weights import write_model
from translate import ALPHA, Worker

from seq2see.engines import EngineName
from seq2see.engines.ct2_engine import places_of
from seq2see.engines.ct2_model import ComputeType, obstacle, save_model, tokens_of
from seq2see.models import FAMILIES
from seq2see.runs.folder import load_run
from seq2see.search import SearchConfig
from seq2see.session import Request, Translator, load

ENGINES: tuple[EngineName, ...] = ("torch", "onnx", "int8", "ctranslate2", "ctranslate2-int8")
RAW: dict[str, ComputeType] = {"raw CTranslate2": "float32", "raw CTranslate2 int8": "int8"}
BATCHES, BEAMS = (1, 32), (1, 5)
LIST = "+list"
Translate = Callable[[list[str], SearchConfig], list[str]]


class Clock:
    """CPU seconds spent in what it wraps."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            began = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.process_time() - began

        return call


class TimedSession:
    """An ONNX Runtime session, or a CTranslate2 translator, on a clock."""

    def __init__(self, inner: Any, clock: Clock) -> None:
        self._inner, self._clock = inner, clock

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inner, name)
        return self._clock.timed(value) if "run" in name or "batch" in name else value


def watched(translator: Translator, name: EngineName) -> Clock:
    """A clock that runs while the engine computes."""
    clock = Clock()
    (engine,) = translator.engines.of(SearchConfig())
    held: Any = engine
    if name == "torch":
        held.encode, held.step, held.step_among = map(clock.timed, (held.encode, held.step, held.step_among))
    elif name in ("onnx", "int8"):
        held.encoder, held.stepper = TimedSession(held.encoder, clock), TimedSession(held.stepper, clock)
        chooser = held.chooser

        def choosing(*arguments: Any, **options: Any) -> Any:
            made = chooser(*arguments, **options)
            if not isinstance(made.session, TimedSession):
                made.session = TimedSession(made.session, clock)
            return made

        held.chooser = choosing
    else:
        held.translator = TimedSession(held.translator, clock)
    return clock


def our_way(run: Path, name: EngineName, *, shortlist: bool) -> tuple[Translate, Clock]:
    translator = load(run, engine=name, shortlist=shortlist, say=lambda text: print(text, file=sys.stderr))
    clock = watched(translator, name)

    def translate(texts: list[str], config: SearchConfig) -> list[str]:
        requests = [Request(text, number=number) for number, text in enumerate(texts)]
        finished = dict(translator.translate_unordered(requests, config, need_scores=False))
        return [finished[place].text for place in range(len(texts))]

    return translate, clock


def raw_way(run: Path, compute_type: ComputeType) -> tuple[Translate, Clock]:
    """CTranslate2 as its own users call it."""
    import ctranslate2  # type: ignore[import-untyped]

    loaded = load_run(run)
    source, target = map(tokens_of, loaded.tokenizers)
    with tempfile.TemporaryDirectory() as folder:
        save_model(loaded.model, (source, target), Path(folder), places=places_of(loaded), compute_type=compute_type)
        kind = "int8_float32" if compute_type == "int8" else "float32"
        translator = ctranslate2.Translator(folder, "cpu", compute_type=kind, intra_threads=1, inter_threads=1)
    pieces: dict[str, list[str]] = {}
    clock = Clock()

    def translate(texts: list[str], config: SearchConfig) -> list[str]:
        for text in texts:
            if text not in pieces:  # cut before the clock runs
                pieces[text] = [source[index] for index in loaded.tokenizers[0].encode(text).ids]
        call = clock.timed(translator.translate_batch)
        answers = call([pieces[text] for text in texts], beam_size=config.beam, max_decoding_length=128)
        return [" ".join(answer.hypotheses[0]) for answer in answers]

    return translate, clock


class Joeynmt:
    """joeynmt in a process of its own, with the weights of a run."""

    def __init__(self, python: str, run: Path, work: Path) -> None:
        folder = work / f"joeynmt-{run.name}"
        work.mkdir(parents=True, exist_ok=True)
        write_model(folder, run, BEAMS, ALPHA)
        self.source, self.out = folder / "source", folder / "out"
        self.tokenizer = load_run(run).tokenizers[0]
        self.worker = Worker(python, "theirs", folder, folder / "log")

    def seconds(self, texts: list[str], beam: int, batch: int) -> float:
        """Of its CPU, for these texts in batches of so many; their pieces are written as words."""
        lines = (" ".join(f"p{piece}" for piece in ids) for ids in self.tokenizer.ids_batch(texts))
        self.source.write_text("".join(f"{line}\n" for line in lines))
        return self.worker.ask(beam, self.source, self.out, batch)["cpu"]


def joeynmt_run(run: Path, runs: list[Path]) -> Path | None:
    """Whose weights joeynmt is given beside a run."""
    configs = {other: load_run(other).config.model for other in runs}
    family = configs[run]["family"]
    if family in ("transformer", "luong"):
        return run
    additive = (x for x, config in configs.items() if config["family"] == "luong" and "additive" in str(config))
    return next(additive, None) if family == "rnnsearch" else None


def ways(run: Path, engines: list[EngineName], *, shortlist: bool) -> Iterator[tuple[str, Translate, Clock]]:
    known = obstacle(load_run(run).model) is None
    for name in engines:
        if known or not name.startswith("ctranslate2"):
            yield name, *our_way(run, name, shortlist=False)
            if shortlist:
                yield f"{name} {LIST}", *our_way(run, name, shortlist=True)
    for label, compute_type in RAW.items() if known else ():
        yield label, *raw_way(run, compute_type)


def measure(run: Path, texts: list[str], options: argparse.Namespace, joeynmt: Joeynmt | None) -> list[dict[str, Any]]:
    rounds, every = options.rounds, list(ways(run, options.engines, shortlist=options.shortlist))
    rows = []
    for batch in BATCHES:
        for beam in BEAMS:
            config = SearchConfig(beam=beam, length_penalty="gnmt" if beam > 1 else "none")
            chosen = texts if batch > 1 else texts[: max(4, len(texts) // 8)]
            parts = [chosen[first : first + batch] for first in range(0, len(chosen), batch)]
            seconds: dict[str, list[float]] = {name: [] for name, _, _ in every}
            inside: dict[str, list[float]] = {name: [] for name, _, _ in every}
            said: dict[str, list[str]] = {}
            theirs: list[float] = []
            for number in range(rounds + 1):  # the first one warms up
                for name, translate, clock in every:
                    clock.seconds, began = 0.0, time.process_time()
                    outputs = [text for part in parts for text in translate(part, config)]
                    took = clock.seconds if name in RAW else time.process_time() - began
                    if number:
                        seconds[name].append(took)
                        inside[name].append(clock.seconds)
                    said[name] = outputs
                if joeynmt is not None and number:
                    theirs.append(joeynmt.seconds(chosen, beam, batch))
            rates = {name: len(chosen) / statistics.median(taken) for name, taken in seconds.items()}
            for name, rate in rates.items():
                raw = rates.get("raw CTranslate2 int8" if "int8" in name else "raw CTranslate2")
                took = statistics.median(seconds[name])
                equal = sum(mine == theirs for mine, theirs in zip(said[name], said["torch"], strict=True))
                rows.append(
                    {
                        "run": run.name,
                        "engine": name,
                        "batch": batch,
                        "beam": beam,
                        "rate": rate,
                        "of_torch": rate / rates["torch"],
                        "of_ct2": None if raw is None else rate / raw,
                        "of_joeynmt": rate * statistics.median(theirs) / len(chosen) if theirs else None,
                        "around": None if name in RAW else 1 - statistics.median(inside[name]) / took,
                        "same": None if name in RAW else equal / len(chosen),
                    }
                )
    return rows


def table(rows: list[dict[str, Any]]) -> Iterator[str]:
    yield "| run | engine | batch | beam | sentences/s | of torch | of CT2 | of joeynmt | around | same |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        share = {key: "" if row[key] is None else f"{row[key]:.0%}" for key in ("around", "same")}
        of_ct2, of_joeynmt = ("" if row[key] is None else f"{row[key]:.2f}" for key in ("of_ct2", "of_joeynmt"))
        what = f"{row['run']} | {row['engine']} | {row['batch']} | {row['beam']}"
        rates = f"{row['rate']:.1f} | {row['of_torch']:.2f} | {of_ct2} | {of_joeynmt}"
        yield f"| {what} | {rates} | {share['around']} | {share['same']} |"


def trained(work: Path, family: str, size: str, updates: int) -> Path:
    """A run that says something of a natural length, made once."""
    run = work / family
    if not (run / "model.safetensors").exists():
        settings = [f"training.steps={updates}", "training.threads=1", f"training.validate_every={updates}"]
        words = ["builtin:phrases", "--model", family, "--size", size, "--out", str(run)]
        command = [sys.executable, "-m", "seq2see", "train", *words]
        subprocess.run([*command, *(word for entry in settings for word in ("--set", entry))], check=True)
    return run


def phrases(count: int) -> list[str]:
    """Sources of the built-in corpus that no training pair has."""
    from seq2see.corpora import examples

    return [example.source for example in examples("phrases", "test", limit=count)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="*", type=Path)
    parser.add_argument("--text", type=Path, help="sentences, one a line; else of builtin:phrases")
    parser.add_argument("--sentences", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--size", default="small", help="of the models that are trained here")
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--work", type=Path, default=Path("runs/bench-engines"))
    parser.add_argument("--engines", nargs="*", default=list(ENGINES), choices=ENGINES, help="torch first")
    parser.add_argument("--shortlist", action="store_true", help="each engine with a shortlist as well")
    parser.add_argument("--joeynmt", metavar="PYTHON", help="of a venv that has joeynmt 2.3.0")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    texts = options.text.read_text().splitlines()[: options.sentences] if options.text else phrases(options.sentences)
    runs = options.runs or [trained(options.work, name, options.size, options.updates) for name in options.families]
    rows = []
    for run in runs:
        beside = joeynmt_run(run, runs) if options.joeynmt else None
        joeynmt = None if beside is None else Joeynmt(options.joeynmt, beside, options.work)
        rows += measure(run, texts, options, joeynmt)
        if joeynmt is not None:
            joeynmt.worker.close()
        print(f"{run}: measured", file=sys.stderr)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main()
