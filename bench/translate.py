"""Translation speed on Multi30k, in sentences a second, beside joeynmt with the same weights.

The 1,000 sentences of test 2016 (German to English, lower-cased and tokenised), greedy and with a beam of 5 (length
penalty of GNMT, alpha 0.6), on the CPU. Each model is trained for some minutes first, so that what it says
has a natural length. Where joeynmt has the family its model is given the very same weights (bench/joeynmt_weights.py),
and the number of equal translations is shown as a check: they differ where the limits on the length do (ours is twice
the source and ten, theirs 1.5 times the longest of the batch), and in ties. `rnnsearch` is not joeynmt's recurrent
model (its query is the state before the cell), so it stands beside the nearest that joeynmt has, `luong-additive`.

in memory    texts to texts with the model loaded: ours by Translator.translate_all, theirs by joeynmt's predict, as
             its `translate` calls it, with its default batch of 64 sentences, on the same pieces written as words
             (p17 p4 ...), so that theirs has no words to cut. One thread each. Ours with each engine: torch, onnx
             (ONNX Runtime, the same float32) and int8 (the weights rounded to eight bits).
end to end   a file to a file from the shell, the start of the programs included: `seq2see translate` and
             `joeynmt translate`. One thread each.
all cores    the same with all cores: ours by processes, theirs by threads.

The two take turns, so that a busy machine hurts both alike. Two clocks: the one on the wall, and the processes' own,
which stands still while other programs have the core. Figures are medians over the rounds; a ratio is one of medians.
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from joeynmt_weights import patched, write_model
from train import DATA, PIECES, make_joeynmt, tell

BEAMS, ALPHA, GOAL = (1, 5), 0.6, 10.0
BATCH = 64  # joeynmt's own
ENGINES = ("torch", "onnx", "int8")
CLOCKS = ("cpu", "wall")
HERE = str(Path(__file__).resolve())

_additive = {"cell": "gru", "encoder": {"cell": "gru", "hidden": 256}, "attention": {"score": "additive"}}
OURS: dict[str, dict[str, Any]] = {
    "transformer": {"family": "transformer", "tie": "all"},
    "luong": {"family": "luong"},
    "luong-additive": {"family": "luong", **_additive},
    "rnnsearch": {"family": "rnnsearch"},
    "convs2s": {"family": "convs2s"},
    "bytenet": {"family": "bytenet"},
    "rnn": {"family": "rnn"},
}
# What stands beside each: the run whose weights joeynmt is given.
BESIDE = {
    "transformer": "transformer",
    "luong": "luong",
    "luong-additive": "luong-additive",
    "rnnsearch": "luong-additive",
}
Rounds = Mapping[str, list[Mapping[str, float]]]  # of ours and theirs


# ---------------------------------------------------------------------------------------------------------------------
# Workers: a model is loaded, then asked again and again. Theirs is run by joeynmt's python, so without seq2see.


def answer(translate: Callable[[int, list[str], int], list[str]]) -> None:
    """Reads requests (a beam, a file, how many sentences are a batch) from stdin, writes the translations, answers with
    the seconds they took."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is log
    print(json.dumps({}), file=answers, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        lines = Path(request["source"]).read_text().splitlines()
        wall, cpu = time.perf_counter(), time.process_time()
        translations = translate(request["beam"], lines, request.get("batch", BATCH))
        took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        Path(request["out"]).write_text("".join(f"{translation}\n" for translation in translations))
        print(json.dumps(took), file=answers, flush=True)


def our_worker(run: str, engine: Any) -> None:
    from seq2see.search import SearchConfig
    from seq2see.session import load

    torch.set_num_threads(1)
    translator = load(run, engine=engine, say=lambda text: print(text, file=sys.stderr))

    def translate(beam: int, lines: list[str], batch: int) -> list[str]:
        config = SearchConfig(beam=beam, length_penalty="gnmt", alpha=ALPHA)
        return [translation.text for translation in translator.translate_all(lines, config)]

    answer(translate)


def their_worker(folder: str) -> None:
    from joeynmt import prediction
    from joeynmt.config import load_config, parse_global_args

    torch.set_num_threads(1)
    patched(prediction)
    paths = {beam: Path(folder) / f"beam-{beam}.yaml" for beam in BEAMS}
    every = {beam: parse_global_args(load_config(path), 0, "translate") for beam, path in paths.items()}
    model, _, _, data = prediction.prepare(every[BEAMS[0]], rank=0, mode="translate")

    def translate(beam: int, lines: list[str], batch: int) -> list[str]:
        args = every[beam]
        data.reset_cache()
        for line in lines:
            data.set_item(line)
        _, _, hypotheses, *_ = prediction.predict(
            model=model,
            data=data,
            compute_loss=False,
            device=args.device,
            rank=0,
            n_gpu=args.n_gpu,
            normalization="none",
            num_workers=args.num_workers,
            args=args.test._replace(batch_size=batch),
            autocast=args.autocast,
        )
        return list(hypotheses)

    answer(translate)


def their_program(config: str) -> None:
    """`joeynmt translate CONFIG`."""
    from joeynmt import __main__, prediction

    patched(prediction)
    sys.argv = ["joeynmt", "translate", config]
    __main__.main()


# ---------------------------------------------------------------------------------------------------------------------
# The parent


class Worker:
    """A process that translates on request."""

    def __init__(self, python: str, kind: str, model: Path, log: Path) -> None:
        self.log = log
        with log.open("w") as file:
            self.process = subprocess.Popen(
                [python, HERE, "--worker", kind, str(model)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                env=environment(1),
            )
        self._read_answer()

    def ask(self, beam: int, source: Path, out: Path, batch: int | None = None) -> dict[str, float]:
        """batch: of joeynmt, whose own is `BATCH`; ours are by length and pieces."""
        assert self.process.stdin is not None
        request = {"beam": beam, "source": str(source), "out": str(out), "batch": batch or BATCH}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._read_answer()

    def _read_answer(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            last = "\n".join(self.log.read_text().splitlines()[-15:])
            raise SystemExit(f"a worker ended early; the last lines of {self.log}:\n{last}")
        answer: dict[str, float] = json.loads(line)
        return answer

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(timeout=60)


def environment(threads: int) -> dict[str, str]:
    count = str(threads)
    return os.environ | {"OMP_NUM_THREADS": count, "MKL_NUM_THREADS": count, "CUDA_VISIBLE_DEVICES": ""}


def program(command: Sequence[str], source: Path, out: Path, threads: int, log: Path) -> dict[str, float]:
    """Runs it to its end; its seconds, those of its children included."""
    began = time.perf_counter()
    with source.open() as stdin, out.open("w") as stdout, log.open("w") as stderr:
        child = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, env=environment(threads))
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed:\n{log.read_text()[-2000:]}")
    return {"wall": time.perf_counter() - began, "cpu": usage.ru_utime + usage.ru_stime}


def train_model(name: str, folder: Path, data: Path, minutes: float) -> None:
    from seq2see.session import train

    pairs = {
        split: [str(data / f"{split}.lc.norm.tok.{side}.gz") for side in ("de", "en")] for split in ("train", "val")
    }
    family = OURS[name]["family"]
    recurrent = family in ("luong", "rnnsearch", "rnn")
    settings = {
        "data": {"shared_vocabulary": True, "valid_pairs": 200},
        "tokenizer": {"vocabulary": PIECES},
        "model": OURS[name],
        "training": {
            "threads": 1,
            "device": "cpu",
            "batch_tokens": 2048,
            "warmup": 150,
            "schedule": "cosine",
            "learning_rate": 3e-3 if recurrent else 1e-3,
            "beta2": 0.999 if recurrent else 0.98,
        },
    }
    tell(f"{name}: training for {minutes:g} minutes")
    arguments = {"valid": pairs["val"], "model": family, "time_limit": 60 * minutes, "settings": settings}
    train(pairs["train"], out=folder, quiet=True, **arguments)


class Texts:
    """The test set: as text for ours, as words that stand for pieces for theirs."""

    def __init__(self, data: Path, work: Path, count: int) -> None:
        self.source, self.pieces = work / "test.de", work / "test.pieces"
        self.source.write_text("".join(f"{line}\n" for line in self._read(data, "de")[:count]))
        self.references = self._read(data, "en")[:count]

    @staticmethod
    def _read(data: Path, side: str) -> list[str]:
        with gzip.open(data / f"test_2016_flickr.lc.norm.tok.{side}.gz", "rt") as file:
            return file.read().splitlines()

    def cut(self, run: Path) -> Any:
        """Writes the pieces as joeynmt reads them; the tokenizer that puts its pieces together again."""
        from seq2see.runs.folder import load_tokenizers

        source, target = load_tokenizers(run)
        ids = source.ids_batch(self.source.read_text().splitlines())
        self.pieces.write_text("".join(" ".join(f"p{piece}" for piece in line) + "\n" for line in ids))
        return target


def read_pieces(path: Path, tokenizer: Any) -> list[str]:
    numbers = [[int(word[1:]) for word in line.split() if word[1:].isdigit()] for line in path.read_text().splitlines()]
    return [tokenizer.decode(line) for line in numbers]


def measure(name: str, options: argparse.Namespace, work: Path, texts: Texts) -> list[dict[str, Any]]:
    """A row for each beam and engine."""
    run, folder = work / name, None
    workers = {
        engine: Worker(sys.executable, f"ours:{engine}", run, work / f"{name}.{engine}.log")
        for engine in options.engines
    }
    if options.joeynmt and name in BESIDE:
        folder = work / f"joeynmt-{BESIDE[name]}"
        workers["theirs"] = Worker(options.joeynmt, "theirs", folder, work / f"joeynmt-{name}.log")
    target = texts.cut(run)
    rows = []
    for beam in BEAMS:
        memory = in_memory(name, beam, options.rounds, work, workers, texts, target)
        shell = end_to_end(name, beam, options, work, folder, texts)
        rows += [
            {"model": name, "beam": beam, "engine": engine, **memory[engine], **shell[engine]} for engine in memory
        ]
    for worker in workers.values():
        worker.close()
    return rows


def in_memory(
    name: str, beam: int, rounds: int, work: Path, workers: Mapping[str, Worker], texts: Texts, target: Any
) -> dict[str, dict[str, Any]]:
    """The measurements of each engine of ours."""
    outs = {who: work / f"{name}.{beam}.{who}" for who in workers}
    took: dict[str, list[Mapping[str, float]]] = {who: [] for who in workers}
    for number in range(rounds):
        for who, worker in workers.items():
            took[who].append(worker.ask(beam, texts.pieces if who == "theirs" else texts.source, outs[who]))
        tell(f"{name}, beam {beam}, round {number + 1} of {rounds}: {last_round(took, len(texts.references))}")
    translations = {who: out.read_text().splitlines() for who, out in outs.items() if who != "theirs"}
    theirs = {"theirs": read_pieces(outs["theirs"], target)} if "theirs" in outs else {}
    measured = {}
    for engine, lines in translations.items():
        both = {"ours": lines, **theirs}
        same = [our == their for our, their in zip(lines, both.get("theirs", lines), strict=True)]
        measured[engine] = {
            "in memory": {who: took[engine if who == "ours" else who] for who in both},
            "bleu": {who: bleu(each, texts.references) for who, each in both.items()},
            "equal": sum(same),
            "load": os.getloadavg()[0],
        }
    return measured


def end_to_end(
    name: str, beam: int, options: argparse.Namespace, work: Path, folder: Path | None, texts: Texts
) -> dict[str, dict[str, Any]]:
    """The measurements of each engine of ours."""
    measured: dict[str, dict[str, Any]] = {engine: {} for engine in options.engines}
    if not options.shell_rounds:
        return measured
    for kind, threads in {"end to end": 1, "all cores": len(os.sched_getaffinity(0))}.items():
        ours = [sys.executable, "-m", "seq2see", "translate", str(work / name), "--workers", str(threads)]
        ours += ["--beam", str(beam), "--engine"]  # its default length penalty is gnmt with ALPHA
        commands = {engine: [*ours, engine] for engine in options.engines}
        if folder is not None:
            commands["theirs"] = [options.joeynmt, HERE, "--worker", "program", str(folder / f"beam-{beam}.yaml")]
        took: dict[str, list[Mapping[str, float]]] = {who: [] for who in commands}
        for _ in range(options.shell_rounds):
            for who, command in commands.items():
                theirs = who == "theirs"
                out, log = work / f"{name}.{beam}.{who}.shell", work / f"{name}.{beam}.{who}.shell.log"
                lines = texts.pieces if theirs else texts.source
                took[who].append(program(command, lines, out, threads if theirs else 1, log))
        tell(f"{name}, beam {beam}, {kind}: {last_round(took, len(texts.references))}")
        for engine in options.engines:
            both = {"ours": took[engine]} | ({"theirs": took["theirs"]} if "theirs" in took else {})
            measured[engine][kind] = both
    return measured


def bleu(outputs: Sequence[str], references: Sequence[str]) -> float:
    import sacrebleu

    return float(sacrebleu.corpus_bleu(outputs, [references], force=True).score)


def speeds(rounds: Rounds, sentences: int, clock: str) -> dict[str, float]:
    """Sentences a second, medians over the rounds, and the ratio of the medians."""
    rates = {who: sentences / statistics.median(turn[clock] for turn in took) for who, took in rounds.items()}
    return rates | ({"ratio": rates["ours"] / rates["theirs"]} if "theirs" in rates else {})


def last_round(rounds: Rounds, sentences: int) -> str:
    """Its speeds, for the progress line."""
    rates = {who: sentences / took[-1]["cpu"] for who, took in rounds.items()}
    return ", ".join(f"{who} {figure:.1f}" for who, figure in rates.items()) + " (sentences/s, CPU clock)"


def show(report: Mapping[str, Any]) -> None:
    print(
        f"{report['cores']} cores, {report['capability']}, torch {report['torch']}; load average "
        f"{report['load'][0]:.1f} before and {report['load_after'][0]:.1f} after; Multi30k test 2016, "
        f"{report['sentences']:,} sentences, {report['rounds']} rounds in memory, {report['shell_rounds']} end to end\n"
    )
    columns = f"{'seq2see':>10}{'joeynmt':>10}{'ratio':>9} "
    print(f"{'sentences/s':42}{'CPU clock':^30}{'wall clock':^30}")
    print(f"{'model':16}{'beam':>6}  {'engine':7}{'':11}{columns}{columns}{'BLEU':>7}{'theirs':>7}{'equal':>7}")
    for row in report["rows"]:
        for kind in ("in memory", "end to end", "all cores"):
            if kind in row:
                cells = "".join(_cells(speeds(row[kind], report["sentences"], clock)) for clock in CLOCKS)
                line = f"{row['model']:16}{row['beam']:6}  {row['engine']:7}{kind:11}{cells}"
                print(line + (_quality(row) if kind == "in memory" else ""))
    print()
    for goal in report["goals"]:
        print(f"{'PASS' if goal['passed'] else 'FAIL'}  {goal['goal']}: {goal['found']}")


def _cells(figures: Mapping[str, float]) -> str:
    theirs = figures.get("theirs")
    rest = f"{'-':>10}{'-':>9} " if theirs is None else f"{theirs:10.1f}{figures['ratio']:8.1f}x "
    return f"{figures['ours']:10.1f}{rest}"


def _quality(row: Mapping[str, Any]) -> str:
    theirs = row["bleu"].get("theirs")
    return f"{row['bleu']['ours']:7.1f}" + ("" if theirs is None else f"{theirs:7.1f}{row['equal']:7}")


def goals(rows: Sequence[Mapping[str, Any]], sentences: int) -> Iterator[dict[str, Any]]:
    for row in rows:
        figures = speeds(row["in memory"], sentences, "cpu")
        if "ratio" in figures:
            which = f"{row['model']}, beam {row['beam']}, {row['engine']}"
            name = f"{which}: at least {GOAL:.0f}x joeynmt in memory, CPU clock"
            yield {"goal": name, "found": f"{figures['ratio']:.1f}x", "passed": figures["ratio"] >= GOAL}


def run(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    texts, load = Texts(options.data, work, options.sentences), os.getloadavg()
    beside = {BESIDE[name] for name in options.models if name in BESIDE and options.joeynmt}
    for name in dict.fromkeys([*options.models, *sorted(beside)]):
        if not (work / name / "manifest.json").exists():
            train_model(name, work / name, options.data, options.minutes)
    for name in beside:
        write_model(work / f"joeynmt-{name}", work / name, BEAMS, ALPHA)
    rows = [row for name in options.models for row in measure(name, options, work, texts)]
    return {
        "cores": os.cpu_count(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "torch": torch.__version__,
        "load": load,
        "load_after": os.getloadavg(),
        "sentences": len(texts.references),
        "rounds": options.rounds,
        "shell_rounds": options.shell_rounds,
        "rows": rows,
        "goals": list(goals(rows, len(texts.references))),
    }


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog="example: python bench/translate.py --make-joeynmt /tmp/joeynmt --keep /tmp/translate --rounds 3",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--joeynmt", metavar="PYTHON", help="the python of a venv that has joeynmt 2.3.0")
    parser.add_argument("--make-joeynmt", metavar="DIR", type=Path, help="make that venv here, if it is not there yet")
    parser.add_argument("--data", type=Path, default=DATA, help=f"Multi30k (default {DATA})")
    parser.add_argument("--models", nargs="+", choices=OURS, default=list(OURS), metavar="MODEL", help=", ".join(OURS))
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES), help="of ours (default all)")
    parser.add_argument("--sentences", type=int, default=1000, help="how many of the test set (default 1000: all)")
    parser.add_argument("--rounds", type=int, default=3, help="in memory (default 3)")
    parser.add_argument("--shell-rounds", type=int, default=1, help="end to end, from the shell (default 1; 0: none)")
    parser.add_argument("--minutes", type=float, default=8.0, help="training of a model that is not there (default 8)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="work in this folder, and leave it with its models")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = read_options()
    if options.worker:
        kind, model = options.worker
        if kind.startswith("ours:"):
            our_worker(model, kind.removeprefix("ours:"))
        else:
            {"theirs": their_worker, "program": their_program}[kind](model)
        return
    if not (options.data / "test_2016_flickr.lc.norm.tok.de.gz").exists():
        print(f"skipped: {options.data} has no Multi30k (test_2016_flickr.lc.norm.tok.de.gz); name a folder by --data")
        return
    if options.make_joeynmt:
        options.joeynmt = make_joeynmt(options.make_joeynmt)
    if not options.joeynmt:
        tell("without joeynmt: --make-joeynmt DIR makes a venv with it, --joeynmt PYTHON names one that is there")
    work = options.keep.resolve() if options.keep else Path(tempfile.mkdtemp(prefix="seq2see-translate-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        report = run(options, work)
    finally:
        if not options.keep:
            shutil.rmtree(work, ignore_errors=True)
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        show(report)


if __name__ == "__main__":
    main()
