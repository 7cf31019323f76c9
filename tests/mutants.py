"""Plants faults in a copy of src, one at a time, and says which test catches each: are the tests as sharp as they seem?

    python tests/mutants.py                 every fault; exit code 1 if one is caught by no test
    python tests/mutants.py --only NAME     those whose name holds NAME
    python tests/mutants.py --list          what would be planted

A fault is a small change of one file and the tests that have to notice it. They run as `make test` runs them, without
those marked slow, and stop at the first that fails. The tree itself is never changed.
"""

import argparse
import compileall
import multiprocessing
import os
import py_compile
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PACKAGE = Path("src/seq2see")
LONGEST = 900  # seconds for the tests of one fault

# A server that has imported torch forks a child for every fault: importing it takes longer than most tests.
_SERVER = multiprocessing.get_context("forkserver")
_VERDICT = re.compile(r"^(FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


class Fault(NamedTuple):
    """In `file`, below src/seq2see, the one place that reads `old` becomes `new`; `tests` have to notice."""

    file: str
    tests: tuple[str, ...]
    name: str
    old: str
    new: str


class Verdict(NamedTuple):
    fault: Fault
    caught_by: str | None
    problem: str  # why it says nothing about the tests; empty if it does
    seconds: float


# file below src/seq2see | tests that have to notice, below tests: files, or FILE::TEST
#     name of the fault: what stands there  ->  what is planted
FAULTS = r"""
text/tokenizer.py | text/test_tokenizer.py
    span ends one early: origins[end - 1] + 1  ->  origins[end - 1]
text/pieces.py | text/test_tokenizer.py
    rare words first: (-item[1], item[0])  ->  (item[1], item[0])
    rarest words dropped: count >= config.min  ->  count > config.min
text/dropout.py | text/test_tokenizer.py
    dropout inverted: random.random() < dropout  ->  random.random() > dropout
formats/subtitles.py | formats/test_pairs.py
    cues meet by the longer: = min(self.end, other.end)  ->  = max(self.end, other.end)
formats/reading/unpacking.py | formats/test_limits.py
    gzip bomb let through: self._count > LARGEST_RATIO  ->  self._count < LARGEST_RATIO
formats/po.py | formats/test_catalogues.py
    fuzzy entries trusted: entry.is_empty_message and not entry.fuzzy  ->  entry.is_empty_message
formats/pair.py | formats/test_pairs.py formats/test_catalogues.py
    languages turned: backwards > straight  ->  backwards < straight
formats/documents/plurals.py | formats/test_documents_po.py
    plural rule from the right: strength + 1  ->  strength
formats/documents/wrapping.py | formats/test_documents_subtitles.py formats/test_documents_po.py
    line broken one early: word.size <= width  ->  word.size < width
formats/documents/placeholders.py | formats/test_placeholders.py
    placeholder farthest off: abs(gap - place)  ->  -abs(gap - place)
corpora/phrases/hangul.py | corpora/test_hangul.py
    particle after rieul: and final == "ㄹ")  ->  and final == "ㄴ")
corpora/sequences.py | corpora/test_corpora.py
    reverse copies: positions[::-1]  ->  positions
    no longest sequence: (LONGEST - SHORTEST + 1)  ->  (LONGEST - SHORTEST)
data/batch.py | data/test_batch.py
    decoder starts from EOS: [[BOS, *ids]  ->  [[EOS, *ids]
data/order.py | data/test_store.py
    batch over budget: (place - start + 1) * longest  ->  (place - start) * longest
data/store.py | data/test_store.py
    limit excludes itself: > limits.source  ->  >= limits.source
data/shift.py | data/test_report.py
    shift blind to numbers: odd + 2 * numbers + marks  ->  odd + marks
attention/scores.py | attention/test_formulas.py
    scaled by the width: 1 / math.sqrt(self.key_dim)  ->  1 / self.key_dim
    keys of cosine not unit: return F.normalize(keys, dim=-1)  ->  return keys
attention/scores.py | attention/test_formulas.py attention/test_mechanisms.py
    no sum of past weights: history[:, :, 1] + weights.sum(dim=2)  ->  weights.sum(dim=2)
attention/normalise.py | attention/test_mechanisms.py
    hidden row not zero: dim=-1).masked_fill(~allowed, 0.0)  ->  dim=-1)
attention/normalise.py | attention/test_formulas.py attention/test_mechanisms.py
    sparsemax too wide: 1 + rank * descending  ->  2 + rank * descending
attention/scopes.py | attention/test_mechanisms.py
    Gaussian too wide: sigma = self.window / 2  ->  sigma = self.window
masks.py | test_masks.py attention/test_mechanisms.py
    causal hides itself: unsqueeze(1) <= query  ->  unsqueeze(1) < query
masks.py | test_masks.py attention/test_formulas.py
    window one too narrow: .abs() <= width  ->  .abs() < width
masks.py | test_masks.py data/test_batch.py
    padding is looked at: (ids != PAD)  ->  (ids != -1)
attention/positions.py | attention/test_positions.py
    rotation is none: first * sin + second * cos  ->  first * sin - second * cos
    slopes between powers: -4 * (2 * head + 1)  ->  -4 * (2 * head + 2)
models/recurrent/encoder.py | models/test_recurrent.py
    summary of the word before: (lengths - 1).clamp(min=0)  ->  (lengths - 2).clamp(min=0)
models/recurrent/cells.py | look/test_walkthrough.py::test_the_gates_are_those_of_the_step
    GRU gate inverted: (1 - z) * n + z * hidden  ->  z * n + (1 - z) * hidden
models/rnnsearch.py | models/test_papers.py
    maxout reads the next state: before.cells if self.config.maxout  ->  after.cells if self.config.maxout
models/luong.py | models/test_papers.py
    nothing is fed: fed = joined if  ->  fed = 0 * joined if
models/bytenet.py | models/test_papers.py
    columns rounded down: self.config.percent + 99)  ->  self.config.percent)
models/convolutional.py | models/test_papers.py
    context not scaled by length: length.sqrt())  ->  length)
models/selfattention.py | models/test_papers.py
    embeddings not scaled: config.width**0.5  ->  1.0
models/transformer.py | contracts/test_families.py
    steps all at position 0: state.keys[0].size(2))  ->  0)
search/scoring.py | search/test_search_scores.py
    length penalty of another: (5 + length) / 6  ->  (5 + length) / 5
    coverage rewards twice: max=1.0)  ->  max=2.0)
search/scoring.py | search/test_search_scores.py search/test_beam.py
    cut off before ended: return not hypothesis.ended,  ->  return hypothesis.ended,
search/beams.py | search/test_beam.py
    ends outside the beam: "ended" if place < width  ->  "ended" if place <= width
search/beams.py | search/test_beam.py search/test_plain.py
    stops too early: max(attainable(  ->  min(attainable(
search/candidates.py | search/test_beam.py search/test_plain.py
    one candidate short: best(scores.flatten(0, 1), width + 1)  ->  best(scores.flatten(0, 1), width)
search/candidates.py | search/test_sampling.py
    top_p leaves the last out: falling.cumsum(dim=-1) - falling >=  ->  falling.cumsum(dim=-1) >=
search/rules.py | search/test_rules.py
    no room for the end: self.limit - place - 2  ->  self.limit - place - 1
search/consensus.py | search/test_search_scores.py
    riskiest first: -expected[texts[place]]  ->  expected[texts[place]]
evaluate/metrics.py | evaluate/test_metrics.py
    chrF1: BETA_SQUARED = 4.0  ->  BETA_SQUARED = 1.0
    BLEU smoothed alike: 0.5**misses  ->  0.5
evaluate/edits.py | evaluate/test_metrics.py
    insertions are free: rises << 1 | 1  ->  rises << 1
evaluate/resampling.py | evaluate/test_resampling.py
    p without what was seen: - _SAME) + 1)  ->  - _SAME))
    interval of 90 %: len(ordered) // 40  ->  len(ordered) // 20
evaluate/length.py | evaluate/test_length.py
    bucket without its edge: lengths <= self.high  ->  lengths < self.high
evaluate/alignment.py | evaluate/test_alignment.py
    recall of all found: self.predicted_sure / self.sure  ->  self.predicted_possible / self.sure
runs/checkpoint.py | training/test_checkpoint.py
    oldest checkpoint: reverse=True  ->  reverse=False
    damage not noticed: != manifest[name]  ->  == None
runs/folder.py | session/test_loading.py::test_a_run_of_another_version_says_so
    newer version welcome: version > VERSION  ->  version < 0
runs/commit.py | training/test_extending.py
    half a commit believed: == atomic.digest(file)  ->  != None
training/loop/schedule.py | training/test_schedule.py
    warm-up one late: peak * step / warmup  ->  peak * (step - 1) / warmup
    cosine never falls: math.cos(math.pi * done)  ->  math.cos(math.pi * 0)
training/loss.py | training/test_loss.py
    gradient not smoothed: smoothing - 1)  ->  -1.0)
    alignment of another head: cross[-1][:, 0]  ->  cross[-1][:, -1]
training/loop/trainer.py | training/test_schedule.py
    patience without end: self.progress.stale >= self.config.patience  ->  self.progress.stale < 0
    worse is better: goodness > self.progress.best  ->  goodness < self.progress.best
training/loop/optimizer.py | training/test_schedule.py
    average of nothing: share = 1 - min(  ->  share = 0 * min(
    biases decay: p.dim() > 1}  ->  p.dim() > 0}
training/loop/optimizer.py | training/test_group.py
    sums not divided: summed / sums[-1]  ->  summed / 1.0
data/loading.py | training/test_group.py
    processes take the same pairs: pairs[self.rank :: self.processes]  ->  pairs[0 :: self.processes]
look/map/measures.py | look/test_measures.py
    backwards is monotone: (forth - back)  ->  (back - forth)
look/map/rollout.py | look/test_map.py look/test_true_weights.py
    rollout without residual: (layer @ rolled + rolled) / 2  ->  layer @ rolled
look/map/alignment.py | look/test_word_alignment.py
    threshold of the whole: weights >= threshold * sums  ->  weights >= threshold
look/intervene/posterior.py | look/test_posterior.py
    posterior is the prior: weights * likelihood  ->  weights * 1.0
look/intervene/whatif.py | look/test_whatif.py
    edit one step late: positions == step - 1  ->  positions == step
look/explain/walkthrough.py | look/test_walkthrough.py
    ranks from 0: 1 + int((logits > logit).sum())  ->  int((logits > logit).sum())
look/draw/terminal.py | look/test_terminal.py
    digits of ninths: int(level * 10)  ->  int(level * 9)
look/map/packing.py | look/test_page.py::test_bytes_are_within_a_step_for_pieces_and_for_words
    packed sums drift: * _STEPS + 0.5)  ->  * _STEPS)
look/map/tree.py | look/test_tree.py
    tree ranks by the worst: min(above, rank)  ->  max(above, rank)
report/chart.py | report/test_length_chart.py
    chart upside down: (1 - min(score, self.top) / self.top)  ->  (min(score, self.top) / self.top)
report/tables.py | report/test_tables.py
    above is below: tests.difference > 0  ->  tests.difference < 0
engines/cache.py | engines/test_engines.py engines/test_hostile_engines.py
    graph never compared: not distance <= _NEAR[name]  ->  distance < 0
engines/runtime.py | engines/test_engines.py
    nothing is close enough: / theirs.norm())  ->  / theirs.norm() + 1)
speech/audio/__init__.py | speech/test_audio.py
    silence twice as deep: (-below_db / 10)  ->  (-below_db / 5)
    mel scale of another: 2595 * np.log10(1 + hertz / 700)  ->  2595 * np.log10(1 + hertz / 500)
speech/model/curriculum.py | speech/test_curriculum.py
    guide off the diagonal: -((t - s) ** 2)  ->  -((t + s) ** 2)
    guidance never fades: (end - step) / max(1  ->  (end + step) / max(1
speech/evaluate/measures.py | speech/test_voice_measures.py
    what was read is skipped: sum(axis=0) < _READ  ->  sum(axis=0) > _READ
session/cutting.py | session/test_cutting.py
    parts over their limit: room = most - size  ->  room = most
session/files/lines.py | session/test_lines.py
    carriage return stays: line.removesuffix(b"\r").decode()  ->  line.decode()
session/terms.py | session/test_terms.py
    term takes too few words: on_text[rows].mean() / 2  ->  on_text[rows].mean()
session/tasks.py | session/test_translator.py
    source as long as never seen: for run in runs) - 1)  ->  for run in runs) + 1)
demo/corpus.py | demo/test_demo_parts.py
    crossings are straight: later < earlier  ->  later > earlier
demo/findings.py | demo/test_demo_whole.py
    worst as typical: [len(long) // 2]  ->  [0]
cli/look.py | cli/test_look_cli.py
    second best shown: best.nbest[rank - 1]  ->  best.nbest[-rank]
cli/data.py | cli/test_data_and_verify.py
    unread files are fine: raise typer.Exit(2)  ->  raise typer.Exit(0)
cli/translate/command.py | cli/test_translate_cli.py
    beam narrower than its list: else max(beam, nbest)  ->  else beam
cli/train.py | cli/test_signals.py
    interrupted is finished: if ended.interrupted:  ->  if None:
"""


def read_faults(text: str) -> Iterator[Fault]:
    file, tests = "", ""
    for line in text.strip().splitlines():
        if not line.startswith(" "):
            file, _, tests = line.partition(" | ")
            continue
        name, _, change = line.strip().partition(": ")
        old, _, planted = change.partition("  ->  ")
        yield Fault(file, tuple(f"tests/{test}" for test in tests.split()), name, old, planted)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="faults whose name or file holds this")
    parser.add_argument("--jobs", type=int, default=2, help="faults at a time")
    parser.add_argument("--list", action="store_true", help="show the faults and plant none")
    options = parser.parse_args()
    faults = [fault for fault in read_faults(FAULTS) if options.only in fault.name or options.only in fault.file]
    if options.list:
        for fault in faults:
            print(f"{fault.name:30} {fault.file}: {fault.old!r} -> {fault.new!r}   {' '.join(fault.tests)}")
        return 0
    os.environ["OMP_NUM_THREADS"] = "1"
    _SERVER.set_forkserver_preload(["numpy", "pydantic", "pytest", "tokenizers", "torch", "typer"])
    verdicts = []
    for verdict in _plant_all(faults, options.jobs):
        verdicts.append(verdict)
        said = verdict.problem or verdict.caught_by or "SURVIVES: no test fails"
        print(f"{verdict.fault.name:30} {verdict.seconds:5.0f} s  {verdict.fault.file:34} {said}", flush=True)
    survivors = [verdict for verdict in verdicts if verdict.caught_by is None]
    print(f"{len(verdicts) - len(survivors)} of {len(verdicts)} faults caught", flush=True)
    return 1 if survivors or not verdicts else 0


def _plant_all(faults: list[Fault], jobs: int) -> Iterator[Verdict]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(jobs):
            copies.put(_copy(Path(folder, str(number))))

        def plant(fault: Fault) -> Verdict:
            copy = copies.get()
            try:
                return _plant(fault, copy)
            finally:
                copies.put(copy)

        with ThreadPoolExecutor(jobs) as workers:
            for planted in as_completed([workers.submit(plant, fault) for fault in faults]):
                yield planted.result()


def _copy(folder: Path) -> Path:
    """src, compiled so that a change is seen by its content: two faults may be of one size and second."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(folder / "src", quiet=1, invalidation_mode=mode)
    return folder


def _plant(fault: Fault, copy: Path) -> Verdict:
    began = time.monotonic()
    file = copy / PACKAGE / fault.file
    places = file.read_text().count(fault.old) if file.exists() else 0
    if places != 1:
        problem = f"STALE: {fault.old!r} stands {places} times in {fault.file}, not once"
        return Verdict(fault, None, problem, 0.0)
    with _changed(file, fault.old, fault.new):
        caught_by, problem = _run(copy, fault.tests)
    return Verdict(fault, caught_by, problem, time.monotonic() - began)


@contextmanager
def _changed(file: Path, old: str, new: str) -> Iterator[None]:
    before = file.read_text()
    file.write_text(before.replace(old, new))
    try:
        yield
    finally:
        file.write_text(before)


def _run(copy: Path, tests: tuple[str, ...]) -> tuple[str | None, str]:
    """The test that fails, or why nothing can be said."""
    lacking = [test for test in tests if not (ROOT / test.partition("::")[0]).exists()]
    if lacking:
        return None, f"STALE: there is no {', '.join(lacking)}"
    process = _SERVER.Process(target=_in_child, args=(copy, tests))
    process.start()
    process.join(LONGEST)
    if process.is_alive():
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        return None, f"UNCLEAR: the tests take more than {LONGEST} s"
    shutil.rmtree(copy / "hypothesis", ignore_errors=True)
    output = (copy / "output").read_text()
    if process.exitcode == 0:
        return None, ""
    found = _VERDICT.search(output)
    if process.exitcode != 1 or found is None:
        return None, f"UNCLEAR: pytest ends with {process.exitcode}: {output.strip()[-200:]!r}"
    return found[2], ""


def _in_child(copy: Path, tests: tuple[str, ...]) -> None:
    os.setsid()
    os.chdir(ROOT)
    with (copy / "output").open("wb") as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
    os.environ |= {"PYTHONPATH": str(copy / "src"), "COLUMNS": "400"}
    # hypothesis keeps what failed and tries it first: every fault has to be found anew
    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(copy / "hypothesis")
    sys.path.insert(0, str(copy / "src"))
    import pytest

    options = ["-x", "-q", "--tb=no", "-rfE", "-p", "no:cacheprovider", "--hypothesis-profile=unshrunk"]
    sys.exit(int(pytest.main([*options, *tests])))


if __name__ == "__main__":
    sys.exit(main())
