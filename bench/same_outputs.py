"""Does the command line give the same bytes before and after a change of the source?

    PYTHONPATH=before/src python bench/same_outputs.py make RUNS        train 12 small runs, once (some minutes)
    PYTHONPATH=before/src python bench/same_outputs.py write RUNS A     run the command line over them
    PYTHONPATH=after/src  python bench/same_outputs.py write RUNS B
    python bench/same_outputs.py compare A B                            exit code 1 if a file is not equal

The source under test is the one that PYTHONPATH names. Every command is `python -m seq2see` with one thread, in a fork
of this process: torch is imported once. `write` works on a copy of the runs, so that engines are exported again. A file
of the output is what a command wrote to stdout (and its exit code, if not 0) or to its --out; stderr is not compared.
`compare` takes any two folders: two folders of runs tell whether training is the same.
"""

import argparse
import multiprocessing
import os
import runpy
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

RUNS = """
rnn          builtin:phrases-basic,count=2000 --model rnn
rnnsearch    builtin:phrases-basic,count=2000 --model rnnsearch
luong        builtin:phrases-basic,count=2000 --model luong
convs2s      builtin:phrases-basic,count=2000 --model convs2s
bytenet      builtin:phrases-basic,count=2000 --model bytenet
transformer  builtin:phrases-basic,count=2000 --model transformer
local-p      builtin:phrases-basic,count=2000 --model luong model.attention.scope=local-p model.attention.window=3
rotary       builtin:phrases-basic,count=2000 model.positions=rotary model.norm=rms model.kv_heads=2
guided       builtin:phrases,count=2000 --model rnnsearch training.guided_alignment=1.0
en-ko        builtin:phrases-basic,count=2000 --flip --model rnnsearch training.ema=0.9
jamo         builtin:phrases-basic,count=2000 --model rnnsearch model.attention.score=location_aware \
             tokenizer.scheme=unigram tokenizer.jamo=true training.average=2
voice        builtin:espeak,count=20 --model tacotron
"""
TEXT = """--size tiny training.steps=80 training.batch_tokens=800 training.learning_rate=4e-3 training.warmup=20
training.validate_every=40 training.save_every=40 training.threads=1 tokenizer.vocabulary=1200 data.valid_pairs=50"""
VOICE = """training.steps=6 training.validate_every=6 training.threads=1 model.embedding=16 model.encoder=16
model.bank=3 model.highways=1 model.attention_width=16 model.decoder=24 model.prenet=16 model.postnet=16
model.lessons.batch=4"""

# A line is the runs, the file of the output, and the words behind `seq2see`. RUN, LINES and SENTENCE stand for those of
# the run, OUT for the file of the output (if there is none, it holds stdout). alpha=0.9 is an option of search.
ATTENTIVE = "rnnsearch,luong,convs2s,transformer,local-p,rotary,guided,en-ko,jamo"
TEXTUAL = f"{ATTENTIVE},rnn,bytenet"
COMMANDS = f"""
{TEXTUAL}    beam.txt          translate RUN LINES --engine torch
{TEXTUAL}    greedy.txt        translate RUN LINES --engine torch --beam 1 -o OUT
{TEXTUAL}    nbest.jsonl       translate RUN LINES --engine torch --beam 4 --nbest 3 --json
{TEXTUAL}    explain.json      explain RUN SENTENCE --step 2 --json
{TEXTUAL}    evaluate.json     evaluate RUN in/pairs.tsv --by-length --json
{ATTENTIVE}  look.json         look RUN SENTENCE --json
{ATTENTIVE}  look.tsv          look RUN SENTENCE --level piece --sinks -o OUT
{ATTENTIVE}  align.txt         align RUN in/pairs.tsv
guided,transformer,rnnsearch,jamo  align-posterior.txt   align RUN in/pairs.tsv --posterior
guided,transformer,rnnsearch,jamo  align-gold.json       align RUN in/pairs.tsv --gold in/gold.align --heads --json
transformer,luong,convs2s          look-ablated.json     look RUN SENTENCE --ablate cross:0.0 --scale 사과를=0.1 --json
rnn,luong,transformer   int8.txt              translate RUN LINES --engine int8 --beam 1
rnn,luong,transformer   onnx.jsonl            translate RUN LINES --engine onnx --json
transformer             look-rollout.json     look RUN SENTENCE --rollout --json
transformer             explain-decoder.json  explain RUN SENTENCE --kind decoder --step 3 --json
transformer             explain.py            explain RUN SENTENCE --step 3 --numpy
guided                  align-test.json       align RUN builtin:phrases --limit 20 --heads --json
guided                  evaluate-test.json    evaluate RUN builtin:phrases --limit 20 --json
rnnsearch               app.po                translate RUN in/app.po -o OUT
rnnsearch               app.xlf               translate RUN in/app.xlf -o OUT
rnnsearch               film.srt              translate RUN in/film.srt -o OUT
rnnsearch               rows.jsonl            translate RUN in/rows.jsonl -o OUT
rnnsearch               ensemble.jsonl        translate RUN LINES --with runs/luong --with runs/transformer --json
rnnsearch               terms.jsonl           translate RUN LINES --constraints in/terms.tsv --json
rnnsearch               coverage.txt          translate RUN LINES alpha=0.9 coverage=0.2
rnnsearch               diverse.txt           translate RUN LINES --beam 4 --nbest 4 groups=2 diversity=0.5
rnnsearch               sample.txt            translate RUN LINES --sample --beam 1 seed=7 top_k=20 temperature=0.8
rnnsearch               look.html             look RUN SENTENCE -o OUT
rnnsearch               look-tree.txt         look RUN SENTENCE --tree
rnnsearch               look-occlusion.json   look RUN SENTENCE --occlusion --json
rnnsearch               align-symmetric.txt   align RUN in/pairs.tsv --method symmetric --reverse runs/en-ko
rnnsearch               compare.json          compare runs/rnn RUN in/pairs.tsv --json
rnnsearch               data.json             data in/unclean.tsv --valid in/pairs.tsv --json
rnnsearch               data.tsv              data in/unclean.tsv --clean OUT
rnnsearch               data-phrases.json     data builtin:phrases,count=2000 --json
voice                   speak.wav             speak RUN "the happy birds sing" -o OUT
voice                   styled.wav            speak RUN "작은 새" --style out/voice/speak.wav -o OUT
voice                   style.tsv             style RUN out/voice/speak.wav
voice                   evaluate.json         evaluate RUN --limit 3 --json
"""
FORK = multiprocessing.get_context("fork")
SEARCH = {"alpha", "coverage", "groups", "diversity", "seed", "top_k", "temperature"}

SENTENCE = "그 학생은 맛있는 사과를 먹었어요 ."
LINES = f"""{SENTENCE}
저는 행복해요 .
우리 할머니께서는 그 긴 답장을 쓰기 시작하셨니 ?

  성민은 책상을 팔 수 있어요 .\t
이 책장 위에 책이 있었어요 . 저 학생이 돼지고기를 먹지 않았습니다 . 그 오렌지를 삽시다 .
천둥이 치고 있어서 우리 이모는 그 경찰관이 공원에서 요리한 생선을 먹으면서 도윤이 주문한 보리차를 마시고 있다 .
ABC 123 😀 漢字
"""
ENGLISH = "The student ate a delicious apple .\nI am happy .\nDid my grandmother start to write the long reply ?\n"
PO = """msgid ""
msgstr "Language: en\\nPlural-Forms: nplurals=2; plural=(n != 1);\\n"

msgid "저는 %s 학생 <b>입니다</b>"
msgstr ""

msgid "책 %d권"
msgid_plural "책 %d권들"
msgstr[0] ""
msgstr[1] ""
"""
XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
  <file original="a" source-language="ko" target-language="en" datatype="plaintext"><body>
    <trans-unit id="1"><source>저는 <g id="1">학생</g> %s</source></trans-unit>
    <trans-unit id="2"><source>저는 행복해요 .</source><target>I am glad.</target></trans-unit>
  </body></file>
</xliff>
"""
SRT = f"1\n00:00:01,000 --> 00:00:02,000\n저는 <i>행복해요</i>\n.\n\n2\n00:00:03,000 --> 00:00:04,500\n{SENTENCE}\n"
JSONL = '{"id": 1, "source": "저는 행복해요 ."}\n{bad\n{"source": 3}\n\n{"source": "그 사과 {0}", "x": [1]}\n'
PAIRS = "".join(f"{ko}\t{en}\n" for ko, en in zip(LINES.splitlines()[:3], ENGLISH.splitlines(), strict=True))
GOLD = "0-0 1-1 2-4 3-5 4-2 5-6\n0-0 1-1 1-2 2-3\n0-1 1-2 2?5 3-6 4-7 5-4 6-3 7-8\n"
UNCLEAN = f"{PAIRS}{PAIRS}\tno source\n같다\t같다\n아 .\t{'word ' * 60}\n"
INPUTS = {"lines.ko": LINES, "lines.en": ENGLISH, "app.po": PO, "app.xlf": XLIFF, "film.srt": SRT, "rows.jsonl": JSONL}
INPUTS |= {"pairs.tsv": PAIRS, "gold.align": GOLD, "unclean.tsv": UNCLEAN, "terms.tsv": "사과\tapples\n"}


def seq2see(words: list[str], folder: Path) -> tuple[int | None, bytes, str]:
    """`python -m seq2see WORDS` in a fork of this process: exit code, stdout, stderr."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        arguments = (words, folder, out.fileno(), error.fileno())
        process = FORK.Process(target=_run_module, args=arguments)
        process.start()
        process.join()
        return process.exitcode, os.pread(out.fileno(), 2**30, 0), os.pread(error.fileno(), 2**30, 0).decode()


def _run_module(words: list[str], folder: Path, out: int, error: int) -> None:
    os.dup2(out, 1)
    os.dup2(error, 2)
    os.chdir(folder)
    sys.argv = ["seq2see", *words]
    runpy.run_module("seq2see", run_name="__main__", alter_sys=True)


def make(runs: Path) -> None:
    runs.mkdir(parents=True, exist_ok=True)
    for line in RUNS.strip().splitlines():
        name, *words = f"{line} {VOICE if line.startswith('voice') else TEXT}".split()
        if name == "voice" and not shutil.which("espeak-ng"):
            print("voice: left out, there is no espeak-ng")
            continue
        flags = [flag for word in words for flag in (["--set", word] if "=" in word and ":" not in word else [word])]
        code, _, message = seq2see(["train", *flags, "--out", name], runs)
        if code:
            raise SystemExit(f"{name}: {message}")
        print(f"{name}: trained", flush=True)


def commands(run: str, options: str) -> Iterator[tuple[str, list[str]]]:
    """Files of the output of a run and the command for each; `options` is the help of translate."""
    lines, sentence = ("in/lines.en", ENGLISH.splitlines()[0]) if run == "en-ko" else ("in/lines.ko", SENTENCE)
    for line in COMMANDS.strip().splitlines():
        asked, name, *words = shlex.split(line)
        command: list[str] = []
        for word in words:
            field, _, value = word.partition("=")
            option = f"--{field.replace('_', '-')}"
            if field not in SEARCH:
                meaning = {"RUN": f"runs/{run}", "LINES": lines, "SENTENCE": sentence, "OUT": f"out/{run}/{name}"}
                command.append(meaning.get(word, word))
            else:
                command += [option, value] if f"{option} " in options else ["--search", word]
        if run in asked.split(","):
            yield name, [*command, "--flip"] if run == "en-ko" and words[0] == "align" else command


def write(runs: Path, out: Path, jobs: int) -> None:
    if out.exists():
        raise SystemExit(f"{out}: exists already; name another folder")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        shutil.copytree(runs, folder / "runs", ignore=shutil.ignore_patterns("checkpoints", "engines"))
        (folder / "in").mkdir()
        for name, content in INPUTS.items():
            (folder / "in" / name).write_text(content, encoding="utf-8", newline="")
        options = seq2see(["translate", "--help"], folder)[1].decode()
        names = sorted(path.name for path in runs.iterdir() if path.is_dir())
        processes = [FORK.Process(target=_write_runs, args=(names[job::jobs], folder, options)) for job in range(jobs)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        shutil.copytree(folder / "out", out)


def _write_runs(runs: list[str], folder: Path, options: str) -> None:
    for run in runs:
        (folder / "out" / run).mkdir(parents=True)
        for name, words in commands(run, options):
            path = f"out/{run}/{name}"
            code, output, message = seq2see(words, folder)
            if code:
                print(f"{run}/{name}: {message[-300:].strip()}", flush=True)
                output += f"exit code {code}\n".encode()
            if path not in words or code:
                (folder / path).write_bytes(output)
        print(f"{run}: written", flush=True)


def compare(before: Path, after: Path) -> int:
    """Prints a line for each file; returns how many are not equal."""
    names = sorted({path.relative_to(root) for root in (before, after) for path in root.rglob("*") if path.is_file()})
    unequal = 0
    for name in names:
        both = [path.read_bytes() if (path := root / name).is_file() else b"(no such file)" for root in (before, after)]
        same = next((at for at, pair in enumerate(zip(*both, strict=False)) if pair[0] != pair[1]), min(map(len, both)))
        print(f"{name}: {'equal' if both[0] == both[1] else f'DIFFERENT from byte {same}'}")
        if both[0] != both[1]:
            unequal += 1
            print(*(f"    {content[max(same - 40, 0) : same + 60]!r}" for content in both), sep="\n")
    print(f"{len(names) - unequal} of {len(names)} files are equal")
    return unequal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("make", "write", "compare"))
    parser.add_argument("folders", type=Path, nargs="+", help="RUNS, or RUNS and OUT, or two folders to compare")
    parser.add_argument("--jobs", type=int, default=1, help="of write: runs at the same time")
    arguments = parser.parse_args()
    folders = [folder.resolve() for folder in arguments.folders]
    if len(folders) != (1 if arguments.action == "make" else 2):
        parser.error("make takes one folder, write and compare take two")
    if arguments.action == "compare":
        sys.exit(1 if compare(*folders) else 0)
    os.environ |= {"OMP_NUM_THREADS": "1", "COLUMNS": "200"}
    sys.path.pop(0)  # the folder of this file
    list(map(__import__, ("torch", "sacrebleu", "tokenizers", "typer")))  # once, for every fork
    make(*folders) if arguments.action == "make" else write(*folders, arguments.jobs)


if __name__ == "__main__":
    main()
