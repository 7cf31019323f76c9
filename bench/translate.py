"""Translation speed on Multi30k, in sentences a second, beside joeynmt with the same weights.

The 1,000 sentences of test 2016 (German to English, lower-cased and tokenised), greedy and with a beam of 5 (length
penalty of GNMT, alpha 0.6), float32, on the CPU. Each model is trained for some minutes first, so that what it says has a
natural length; where joeynmt has the family, its model is given the very same weights, and the number of equal
translations is shown as a check. `rnnsearch` differs from joeynmt's recurrent model (its query is the state before the
cell), so it stands beside joeynmt's nearest, the one with additive attention and GRU cells.

in memory    texts to texts with the model loaded: ours by Translator.translate_all, theirs by joeynmt's predict, as its
             `translate` calls it, on the same pieces written as words (p17 p4 ...), so that theirs cuts no words. Ours has
             one thread; theirs too, and its default batch of 64 sentences.
end to end   a file to a file from the shell, the start of the programs included: `seq2see translate` and
             `joeynmt translate`; both with one thread, and with all cores (ours by processes, theirs by threads).

The two take turns, so that a busy machine hurts both alike. Two clocks: the one on the wall, and the processes' own, which
stands still while other programs have the core. Figures are medians over the rounds; a ratio is one of medians.
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
from train import DATA, PIECES, THEIRS, make_joeynmt, tell

BEAMS, ALPHA, GOAL = (1, 5), 0.6, 10.0
CLOCKS = ("cpu", "wall")
SPECIALS = ["<unk>", "<pad>", "<s>", "</s>"]
OUR_SPECIALS = [3, 0, 1, 2]  # the same ones in ours

_additive = {"cell": "gru", "encoder": {"cell": "gru", "hidden": 256}, "attention": {"score": "additive"}}
OURS: dict[str, dict[str, Any]] = {
    "transformer": {"family": "transformer", "tie": "all"},
    "luong": {"family": "luong"},
    "luong-additive": {"family": "luong", **_additive},
    "rnnsearch": {"family": "rnnsearch"},
    "convs2s": {"family": "convs2s"},
}
# What stands beside each: the run whose weights joeynmt is given, and its configuration in bench/train.py.
BESIDE = {
    "transformer": ("transformer", "transformer"),
    "luong": ("luong", "luong"),
    "luong-additive": ("luong-additive", "rnnsearch"),
    "rnnsearch": ("luong-additive", "rnnsearch"),
}

Weights = dict[str, torch.Tensor]


# ---------------------------------------------------------------------------------------------------------------------
# Our weights as joeynmt's. It has other ids for the specials, and sines and cosines of positions in turn.


def their_transformer(ours: Weights) -> Weights:
    width = ours["encoder.norm.weight"].numel()
    # Place j of theirs is place order[j] of ours: sin 0, cos 0, sin 1, ... against all sines, then all cosines.
    order = torch.arange(width).view(2, -1).t().flatten()
    words = rows_of_words(ours["encoder.embedding.own.weight"])[:, order]
    theirs = {"src_embed.lut.weight": words, "trg_embed.lut.weight": words, "decoder.output_layer.weight": words}
    names = {"encoder": {"attention": "src_src_att"}, "decoder": {"attention": "trg_trg_att", "cross": "src_trg_att"}}
    norms = {
        "encoder": {"attention_residual": "layer_norm"},
        "decoder": {"attention_residual": "x_layer_norm", "cross_residual": "dec_layer_norm"},
    }
    for side in names:
        theirs |= {f"{side}.layer_norm.{kind}": ours[f"{side}.norm.{kind}"][order] for kind in ("weight", "bias")}
        for layer in range(layers_of(ours, side)):
            block = {name: value for name, value in ours.items() if name.startswith(f"{side}.blocks.{layer}.")}
            own = {name.split(".", 3)[3]: value for name, value in block.items()}
            theirs |= {
                f"{side}.layers.{layer}.{name}": value
                for name, value in _their_block(own, names[side], norms[side], order).items()
            }
    return theirs


def _their_block(
    ours: Weights, attentions: Mapping[str, str], norms: Mapping[str, str], order: torch.Tensor
) -> Weights:
    found = {}
    for our_name, their_name in attentions.items():
        for part, layer in {"query": "q_layer", "key": "k_layer", "value": "v_layer"}.items():
            found[f"{their_name}.{layer}.weight"] = ours[f"{our_name}.{part}_projection.weight"][:, order]
            found[f"{their_name}.{layer}.bias"] = ours[f"{our_name}.{part}_projection.bias"]
        for kind in ("weight", "bias"):
            found[f"{their_name}.output_layer.{kind}"] = ours[f"{our_name}.output_projection.{kind}"][order]
    for our_name, their_name in (norms | {"feed_forward_residual": "feed_forward.layer_norm"}).items():
        for kind in ("weight", "bias"):
            found[f"{their_name}.{kind}"] = ours[f"{our_name}.norm.{kind}"][order]
    found["feed_forward.pwff_layer.0.weight"] = ours["feed_forward.widen.weight"][:, order]
    found["feed_forward.pwff_layer.0.bias"] = ours["feed_forward.widen.bias"]
    for kind in ("weight", "bias"):
        found[f"feed_forward.pwff_layer.3.{kind}"] = ours[f"feed_forward.narrow.{kind}"][order]
    return found


def layers_of(weights: Weights, side: str) -> int:
    return 1 + max(int(name.split(".")[2]) for name in weights if name.startswith(f"{side}.blocks."))


def their_recurrent(ours: Weights) -> Weights:
    """Two things that joeynmt's has not stand apart, as `bias` and `cell`: see `patched`."""
    hidden = ours["decoder.join.weight"].size(0)
    cells = {"encoder.forwards.0": ("encoder", ""), "encoder.backwards.0": ("encoder", "_reverse")}
    cells["decoder.stack.cells.0"] = ("decoder", "")
    theirs = {
        f"{side}.rnn.{name}{suffix}": ours[f"{cell}.layer.{name}"]
        for cell, (side, suffix) in cells.items()
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    }
    join = ours["decoder.join.weight"]  # ours reads [context; state], theirs [state; context]
    context = join.size(1) - hidden
    theirs |= {
        "src_embed.lut.weight": rows_of_words(ours["encoder.embedding.weight"]),
        "trg_embed.lut.weight": rows_of_words(ours["decoder.embedding.weight"]),
        "decoder.att_vector_layer.weight": torch.cat([join[:, context:], join[:, :context]], dim=1),
        "decoder.att_vector_layer.bias": torch.zeros(hidden),
        "decoder.output_layer.weight": rows_of_words(ours["decoder.vocabulary.weight"]),
        "decoder.bridge_layer.weight": ours["decoder.first_state.map.weight"][:hidden],
        "decoder.bridge_layer.bias": ours["decoder.first_state.map.bias"][:hidden],
        "bias": rows_of_words(ours["decoder.vocabulary.bias"]),
    }
    if "decoder.attention.bilinear.weight" in ours:
        theirs["decoder.attention.key_layer.weight"] = ours["decoder.attention.bilinear.weight"][0]
    else:
        for mine, yours in {"key_map": "key_layer", "query_map": "query_layer", "energy": "energy_layer"}.items():
            theirs[f"decoder.attention.{yours}.weight"] = ours[f"decoder.attention.{mine}.weight"][0]
    if ours["decoder.first_state.map.bias"].numel() > hidden:
        theirs["cell.weight"] = ours["decoder.first_state.map.weight"][hidden:]
        theirs["cell.bias"] = ours["decoder.first_state.map.bias"][hidden:]
    return theirs


def rows_of_words(weight: torch.Tensor) -> torch.Tensor:
    return torch.cat([weight[OUR_SPECIALS], weight[len(OUR_SPECIALS) :]])


def write_their_model(work: Path, run: Path, beside: str) -> None:
    """joeynmt's folder for the weights of a run: checkpoint, vocabulary, and a configuration for each beam."""
    from safetensors.torch import load_file

    ours, folder = load_file(run / "model.safetensors"), work / f"joeynmt-{run.name}"
    folder.mkdir(exist_ok=True)
    theirs = their_transformer(ours) if beside == "transformer" else their_recurrent(ours)
    extra = {name: theirs.pop(name) for name in ("bias", "cell.weight", "cell.bias") if name in theirs}
    if beside == "transformer":
        for side in ("encoder", "decoder"):
            theirs[f"{side}.pe.pe"] = positions(theirs["src_embed.lut.weight"].size(1))
    torch.save({"model_state": theirs}, folder / "best.ckpt")
    torch.save(extra, folder / "extra.ckpt")
    size = len(theirs["trg_embed.lut.weight"])
    words = [*SPECIALS, *(f"p{piece}" for piece in range(len(SPECIALS), size))]
    (folder / "vocabulary.txt").write_text("\n".join(words) + "\n")
    side_settings = {"level": "word", "lowercase": False, "max_length": 256, "voc_file": f"{folder}/vocabulary.txt"}
    for beam in BEAMS:
        settings = {
            "name": run.name,
            "joeynmt_version": "2.3.0",
            "model_dir": str(folder),
            "use_cuda": False,
            "data": {
                "train": str(folder),  # never read, but asked for
                "dataset_type": "stream",
                "src": {"lang": "source", **side_settings},
                "trg": {"lang": "target", **side_settings},
            },
            "testing": {"beam_size": beam, "beam_alpha": ALPHA, "load_model": f"{folder}/best.ckpt"},
            "training": {"batch_size": 64, "label_smoothing": 0.0},
            "model": {"initializer": "xavier_uniform", **THEIRS[beside]},
        }
        (folder / f"beam-{beam}.yaml").write_text(json.dumps(settings, indent=2))  # JSON, which is YAML


def positions(width: int) -> torch.Tensor:
    """The table that joeynmt keeps with its weights."""
    rates = torch.exp(torch.arange(0, width, 2) * -(torch.log(torch.tensor(10000.0)) / width))
    angles = torch.arange(5000).unsqueeze(1) * rates
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1).unsqueeze(0)


# ---------------------------------------------------------------------------------------------------------------------
# Workers: a model is loaded, then asked again and again. Theirs is run by joeynmt's python, so without seq2see.


def answer(translate: Callable[[int, list[str]], list[str]]) -> None:
    """Asked on standard input for a beam and a file, says how long it took and where the translations are."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed is log
    print(json.dumps({}), file=answers, flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        lines = Path(asked["source"]).read_text().splitlines()
        wall, cpu = time.perf_counter(), time.process_time()
        said = translate(asked["beam"], lines)
        took = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        Path(asked["out"]).write_text("".join(f"{one}\n" for one in said))
        print(json.dumps(took), file=answers, flush=True)


def our_worker(run: Path) -> None:
    from seq2see.search import SearchConfig
    from seq2see.session import load

    torch.set_num_threads(1)
    translator = load(run)

    def translate(beam: int, lines: list[str]) -> list[str]:
        config = SearchConfig(beam=beam, length_penalty="gnmt", alpha=ALPHA)
        return [one.text for one in translator.translate_all(lines, config)]

    answer(translate)


def patched(prediction: Any) -> None:
    """joeynmt's `prepare` with the two things that its recurrent model has not: a bias of the vocabulary layer, and a
    first cell of an LSTM that is not its first state. Neither costs anything that could be measured."""
    prepare = prediction.prepare

    def prepared(args: Any, rank: int, mode: str) -> Any:
        model, *rest = prepare(args, rank, mode)
        extra = torch.load(Path(args.model_dir) / "extra.ckpt")
        if "bias" in extra:
            model.decoder.output_layer.bias = torch.nn.Parameter(extra["bias"])
        if "cell.weight" in extra:
            first = model.decoder._init_hidden

            def init_hidden(final: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
                cell = torch.tanh(torch.nn.functional.linear(final, extra["cell.weight"], extra["cell.bias"]))
                return first(final)[0], cell.unsqueeze(0)

            model.decoder._init_hidden = init_hidden
        return model, *rest

    prediction.prepare = prepared


def their_worker(folder: Path) -> None:
    from joeynmt import prediction
    from joeynmt.config import load_config, parse_global_args

    torch.set_num_threads(1)
    patched(prediction)
    every = {beam: parse_global_args(load_config(folder / f"beam-{beam}.yaml"), 0, "translate") for beam in BEAMS}
    model, _, _, data = prediction.prepare(every[BEAMS[0]], rank=0, mode="translate")

    def translate(beam: int, lines: list[str]) -> list[str]:
        args = every[beam]
        data.reset_cache()
        for line in lines:
            data.set_item(line)
        _, _, said, *_ = prediction.predict(
            model=model,
            data=data,
            compute_loss=False,
            device=args.device,
            rank=0,
            n_gpu=args.n_gpu,
            normalization="none",
            num_workers=args.num_workers,
            args=args.test,
            autocast=args.autocast,
        )
        return list(said)

    answer(translate)


def their_program(config: str) -> None:
    """`joeynmt translate CONFIG`, with the same two additions."""
    from joeynmt import __main__, prediction

    patched(prediction)
    sys.argv = ["joeynmt", "translate", config]
    __main__.translate = prediction.translate
    __main__.main()


# ---------------------------------------------------------------------------------------------------------------------
# The parent


class Worker:
    def __init__(self, python: str, arguments: Sequence[str], log: Path) -> None:
        self.log = log
        self.process = subprocess.Popen(
            [python, str(Path(__file__).resolve()), "--worker", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log.open("w"),
            text=True,
            env=environment(1),
        )
        self._hear()

    def ask(self, beam: int, source: Path, out: Path) -> dict[str, float]:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"beam": beam, "source": str(source), "out": str(out)}) + "\n")
        self.process.stdin.flush()
        return self._hear()

    def _hear(self) -> dict[str, float]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            last = "\n".join(self.log.read_text().splitlines()[-15:])
            raise SystemExit(f"a worker ended early; the last lines of {self.log}:\n{last}")
        heard: dict[str, float] = json.loads(line)
        return heard

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
    with source.open() as given, out.open("w") as said, log.open("w") as errors:
        child = subprocess.Popen(command, stdin=given, stdout=said, stderr=errors, env=environment(threads))
        _, status, usage = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed:\n{log.read_text()[-2000:]}")
    return {"wall": time.perf_counter() - began, "cpu": usage.ru_utime + usage.ru_stime}


def train_run(name: str, folder: Path, data: Path, minutes: float) -> None:
    from seq2see.session import train

    pairs = {
        split: [str(data / f"{split}.lc.norm.tok.{side}.gz") for side in ("de", "en")] for split in ("train", "val")
    }
    recurrent = OURS[name]["family"] in ("luong", "rnnsearch")
    tell(f"{name}: training for {minutes:g} minutes")
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
    family = OURS[name]["family"]
    limit = 60 * minutes
    train(pairs["train"], out=folder, valid=pairs["val"], model=family, time_limit=limit, settings=settings, quiet=True)


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
        """Writes the pieces as joeynmt reads them; our tokenizer of the target, which puts them together."""
        from seq2see.training.folder import load_tokenizers

        source, target = load_tokenizers(run)
        ids = source.ids_batch(self.source.read_text().splitlines())
        self.pieces.write_text("".join(" ".join(f"p{piece}" for piece in line) + "\n" for line in ids))
        return target


def read_pieces(path: Path, tokenizer: Any) -> list[str]:
    numbers = [[int(word[1:]) for word in line.split() if word[1:].isdigit()] for line in path.read_text().splitlines()]
    return [tokenizer.decode(line) for line in numbers]


def measure(name: str, options: argparse.Namespace, work: Path, texts: Texts) -> Iterator[dict[str, Any]]:
    """A row for each beam: the rounds in memory, then those end to end."""
    run = work / name
    target = texts.cut(run)
    theirs_too = options.joeynmt and name in BESIDE
    folder = work / f"joeynmt-{BESIDE[name][0]}" if theirs_too else None
    workers = {"ours": Worker(sys.executable, ["ours", str(run)], work / f"{name}.log")}
    if folder is not None:
        workers["theirs"] = Worker(options.joeynmt, ["theirs", str(folder)], work / f"joeynmt-{name}.log")
    given = {"ours": texts.source, "theirs": texts.pieces}
    for beam in BEAMS:
        row: dict[str, Any] = {"model": name, "beam": beam, "load": os.getloadavg()[0]}
        outs = {who: work / f"{name}.{beam}.{who}" for who in workers}
        for number in range(options.rounds):
            for who, worker in workers.items():
                row.setdefault("in memory", {}).setdefault(who, []).append(worker.ask(beam, given[who], outs[who]))
            tell(
                f"{name}, beam {beam}, round {number + 1} of {options.rounds}: {spoken(row['in memory'], len(texts.references))}"
            )
        said = {"ours": outs["ours"].read_text().splitlines()}
        if folder is not None:
            said["theirs"] = read_pieces(outs["theirs"], target)
            row["equal"] = sum(one == other for one, other in zip(said["ours"], said["theirs"], strict=True))
        row["bleu"] = {who: bleu(lines, texts.references) for who, lines in said.items()}
        yield row | end_to_end(name, beam, options, work, folder, given)
    for worker in workers.values():
        worker.close()


def end_to_end(
    name: str, beam: int, options: argparse.Namespace, work: Path, folder: Path | None, given: Mapping[str, Path]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    cores = len(os.sched_getaffinity(0))
    for kind, threads in {"end to end": 1, "all cores": cores}.items():
        ours = [
            sys.executable,
            "-m",
            "seq2see",
            "translate",
            str(work / name),
            "--beam",
            str(beam),
            "--alpha",
            str(ALPHA),
        ]
        commands = {"ours": [*ours, "--workers", str(threads)]}
        if folder is not None:
            here = str(Path(__file__).resolve())
            commands["theirs"] = [options.joeynmt, here, "--worker", "program", str(folder / f"beam-{beam}.yaml")]
        for _ in range(options.shell_rounds):
            for who, command in commands.items():
                out, log = work / f"{name}.{beam}.{who}.shell", work / f"{name}.{beam}.{who}.log"
                took = program(command, given[who], out, 1 if who == "ours" else threads, log)
                found.setdefault(kind, {}).setdefault(who, []).append(took)
        if options.shell_rounds:
            tell(f"{name}, beam {beam}, {kind}: {spoken(found[kind], options.sentences)}")
    return found


def bleu(said: Sequence[str], references: Sequence[str]) -> float:
    import sacrebleu

    return float(sacrebleu.corpus_bleu(said, [references], force=True).score)


def speeds(rounds: Mapping[str, list[Mapping[str, float]]], sentences: int, clock: str) -> dict[str, float]:
    """Sentences a second, medians over the rounds, and the ratio of the medians."""
    found = {who: sentences / statistics.median(one[clock] for one in took) for who, took in rounds.items()}
    return found | ({"ratio": found["ours"] / found["theirs"]} if "theirs" in found else {})


def spoken(rounds: Mapping[str, list[Mapping[str, float]]], sentences: int) -> str:
    found = speeds({who: took[-1:] for who, took in rounds.items()}, sentences, "cpu")
    return ", ".join(f"{who} {figure:.1f}" for who, figure in found.items()) + " (sentences/s, CPU clock)"


def show(report: Mapping[str, Any]) -> None:
    print(
        f"{report['cores']} cores, {report['capability']}, torch {report['torch']}, float32; load average "
        f"{report['load'][0]:.1f} before, {report['load_after'][0]:.1f} after; Multi30k test 2016, {report['sentences']:,} "
        f"sentences, {report['rounds']} rounds in memory, {report['shell_rounds']} end to end; sentences a second\n"
    )
    print(f"{'':16}{'':>6}{'':13}{'CPU clock':^30}{'wall clock':^30}")
    columns = f"{'seq2see':>10}{'joeynmt':>10}{'ratio':>9} "
    print(f"{'model':16}{'beam':>6}  {'':11}{columns}{columns}{'BLEU':>7}{'theirs':>7}{'equal':>7}")
    for row in report["rows"]:
        for kind in ("in memory", "end to end", "all cores"):
            if kind in row:
                cells = "".join(_cells(speeds(row[kind], report["sentences"], clock)) for clock in CLOCKS)
                first = kind == "in memory"
                quality = f"{row['bleu']['ours']:7.1f}" if first else ""
                if first and "theirs" in row["bleu"]:
                    quality += f"{row['bleu']['theirs']:7.1f}{row['equal']:7}"
                print(f"{row['model']:16}{row['beam']:6}  {kind:11}{cells}{quality}")
    print()
    for goal in report["goals"]:
        print(f"{'PASS' if goal['passed'] else 'FAIL'}  {goal['goal']}: {goal['found']}")


def _cells(figures: Mapping[str, float]) -> str:
    theirs = figures.get("theirs")
    rest = f"{'-':>10}{'-':>9} " if theirs is None else f"{theirs:10.1f}{figures['ratio']:8.1f}x "
    return f"{figures['ours']:10.1f}{rest}"


def goals(rows: Sequence[Mapping[str, Any]], sentences: int) -> Iterator[dict[str, Any]]:
    for row in rows:
        figures = speeds(row["in memory"], sentences, "cpu")
        if "ratio" in figures:
            name = f"{row['model']}, beam {row['beam']}: at least {GOAL:.0f}x joeynmt in memory, CPU clock"
            yield {"goal": name, "found": f"{figures['ratio']:.1f}x", "passed": figures["ratio"] >= GOAL}


def run(options: argparse.Namespace, work: Path) -> dict[str, Any]:
    texts, load = Texts(options.data, work, options.sentences), os.getloadavg()
    needed = dict.fromkeys([*options.models, *(BESIDE[name][0] for name in options.models if name in BESIDE)])
    for name in needed:
        if not (work / name / "manifest.json").exists():
            train_run(name, work / name, options.data, options.minutes)
    for name, beside in {BESIDE[name] for name in options.models if name in BESIDE}:
        write_their_model(work, work / name, beside)
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
        kind, given = options.worker
        {"ours": our_worker, "theirs": their_worker, "program": their_program}[kind](Path(given))
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
