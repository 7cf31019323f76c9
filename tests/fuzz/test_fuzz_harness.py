"""The harness itself: it sees every fault that is planted, goes on afterwards, and shows each of them again."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fuzzing import documents, seeds
from fuzzing.catalogue import find, targets
from fuzzing.guard import TimeLimitError
from fuzzing.harness import Figures, Finding, Harness, table
from fuzzing.mutation import is_heavy, make_input, refitted
from fuzzing.planted import FAULTS
from fuzzing.target import BrokenPromiseError

RUN = Path(__file__).with_name("run.py")


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    with Harness() as shared:
        yield shared


def first_finding(harness: Harness, name: str) -> Finding:
    """Seeds one by one until something is found; of 200, some have to hit any reader that is not right."""
    for seed in range(200):
        if findings := harness.run(name, [seed]):
            return findings[0]
    raise AssertionError(f"{name}: the fault was not seen")


@pytest.mark.parametrize("fault", FAULTS)
def test_every_planted_fault_is_found(harness: Harness, fault: str) -> None:
    kind = FAULTS[fault][0]
    harness.seconds = 0.3 if kind == "time" else None
    assert first_finding(harness, f"planted-{fault}").kind == kind


def test_a_reader_without_faults_has_no_findings(harness: Harness) -> None:
    assert harness.run("planted-nothing", range(200)) == []
    figures = harness.figures["planted-nothing"]
    assert figures.inputs == 200
    assert figures.refused > 100


def test_the_harness_goes_on_after_a_reader_that_kills_its_process(harness: Harness) -> None:
    findings = harness.run("planted-abort", range(30))
    assert len(findings) >= 2
    assert all("SIGSEGV" in finding.error for finding in findings)
    assert harness.figures["planted-abort"].inputs >= 30


def test_a_process_that_hangs_outside_of_python_is_ended() -> None:
    with Harness(seconds=0.2, patience=2.0) as harness:
        finding = first_finding(harness, "planted-deaf")
    assert (finding.kind, finding.error) == ("time", "no answer for 2 seconds")


def test_a_finding_is_saved_and_one_line_shows_it_again(tmp_path: Path) -> None:
    with Harness(keep=tmp_path / "kept") as harness:
        finding = first_finding(harness, "planted-key")
    saved = tmp_path / "kept" / f"planted-key-{finding.seed}"
    assert (saved / "a.txt").is_file()
    assert finding.again == f"python tests/fuzz/run.py --format planted-key --seed {finding.seed}"
    again = run("--format", "planted-key", "--seed", str(finding.seed), "--save", str(tmp_path / "again"))
    assert again.returncode == 1
    assert "KeyError" in again.stdout
    assert (tmp_path / "again" / saved.name / "a.txt").read_bytes() == (saved / "a.txt").read_bytes()
    once_more = run("--format", "planted-key", "--input", str(saved))
    assert once_more.returncode == 1
    assert json.loads(once_more.stdout)["kind"] == "exception"


def test_a_run_ends_with_a_table_and_figures_for_programs(tmp_path: Path) -> None:
    done = run("--inputs", "5", "--only", "tsv", "--json", str(tmp_path / "figures.json"), "--save", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("| reader | inputs |")
    assert re.fullmatch(r"\| tsv \| 5 \| \d \| \d \| 0 \| [\d.]+ \| \d+ \|", lines[2])
    assert lines[-1].startswith("| **all** | 10 |")  # tsv and tsv.gz
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert figures["figures"]["tsv.gz"]["inputs"] == 5
    assert figures["findings"] == []


def test_figures_add_up() -> None:
    one = Figures(inputs=3, accepted=1, refused=1, findings=1, slowest=0.5, largest=7, seconds=1.0)
    both = one.plus(Figures(inputs=1, accepted=1, slowest=2.0))
    assert both == Figures(inputs=4, accepted=2, refused=1, findings=1, slowest=2.0, largest=7, seconds=1.0)
    assert table({"a": one}).splitlines()[-1] == "| **all** | 3 | 1 | 1 | 1 | 0.50 | 0 |"


def test_an_input_follows_from_its_seed() -> None:
    target = find("po")
    made = [make_input(target, target.seeds(), seed) for seed in range(50)]
    assert made == [make_input(target, target.seeds(), seed) for seed in range(50)]
    assert len({content for files in made for content in files.values()}) > 40


def test_one_seed_of_a_hundred_is_heavy() -> None:
    assert [seed for seed in range(300) if is_heavy(seed)] == [99, 199, 299]
    target = find("po")
    sizes = [len(b"".join(make_input(target, target.seeds(), seed).values())) for seed in (99, 199, 98)]
    assert min(sizes[:2]) > 1 << 18 > sizes[2]


def test_names_of_targets_are_different() -> None:
    names = [target.name for target in targets()]
    assert len(names) == len(set(names))


def test_digests_are_made_right_again() -> None:
    def digest(data: bytes) -> str:
        import hashlib

        return hashlib.sha256(data).hexdigest()

    inner = json.dumps({"weights": digest(b"old")}).encode()
    original = {"weights": b"old", "inner.json": inner, "manifest.json": json.dumps({"inner": digest(inner)}).encode()}
    files = refitted(original, original | {"weights": b"new"})
    assert json.loads(files["inner.json"]) == {"weights": digest(b"new")}
    assert json.loads(files["manifest.json"]) == {"inner": digest(files["inner.json"])}


def test_a_limit_of_time_is_no_exception_that_a_reader_could_catch() -> None:
    assert not issubclass(TimeLimitError, Exception)


# What is left of a document without its translations: a change there is seen, a translation is not.

WRITTEN = {
    "po": (seeds.PO, b'msgstr "\xeb\x81\x9d"', b'msgstr "anything"'),
    "xliff": (seeds.XLIFF_1, b'<target state="new"/>', b'<target state="final">any <x id="1"/></target>'),
    "srt": (seeds.SRT[1], b"Who is it?", b"anything"),
    "vtt": (seeds.VTT, "누구세요?".encode(), b"anything"),
    "jsonl": (seeds.JSONL, b'"target": ""', b'"target": "anything"'),
}
HARM = {
    "po": (b"#: src/a.c:12", b"#: src/a.c:13"),
    "xliff": (b'id="3"', b'id="33"'),
    "srt": (b"00:00:02,400", b"00:00:02,401"),
    "vtt": (b"00:02.500", b"00:02.501"),
    "jsonl": (b"1.50", b"1.5"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_change_outside_of_translations_is_seen(name: str) -> None:
    data, old, new = WRITTEN[name]
    rest = documents._RESTS[name]
    assert rest(data)
    assert data.count(old) == 1
    assert rest(data.replace(old, new)) == rest(data)
    assert rest(data.replace(*HARM[name], 1)) != rest(data)


def test_bytes_that_a_document_loses_are_seen() -> None:
    from seq2see.formats.documents.base import Kept

    slot = object()
    documents._check_kept([Kept(b"ab"), slot, Kept(b"ef"), Kept(b"g")], b"abcdefg")
    documents._check_kept([slot, Kept(b"", problem="edited"), Kept(b"g")], b"abcdefg")
    for parts in ([Kept(b"a"), Kept(b"c")], [Kept(b"abc"), slot, Kept(b"f")], [Kept(b"b"), slot], [Kept(b"abcdef")]):
        with pytest.raises(BrokenPromiseError):
            documents._check_kept(parts, b"abcdefg")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(RUN), *arguments], capture_output=True, text=True, check=False)
