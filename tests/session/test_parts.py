"""Files cut into ranges, ranges translated, parts committed and joined: without Ray, in this process."""

import gzip
import json
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from folders import SOURCES, make_run
from hypothesis import given
from hypothesis import strategies as st

from seq2see import cluster
from seq2see.atomic import Lock
from seq2see.cli import main
from seq2see.errors import ConfigError, DataError, MissingExtraError, RunError
from seq2see.search import SearchConfig
from seq2see.session.files.lines import Lines
from seq2see.session.parts import FilesTranslated, spreading, translate_files
from seq2see.session.parts.folder import JOB
from seq2see.session.parts.inputs import Range, RangeReader, cut_into_ranges, input_files
from seq2see.session.parts.translating import CAREFUL, PLACEHOLDER, Made, PartTranslator, Work, _lines, _text

SEARCH = SearchConfig(beam=2, length_penalty="gnmt")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "run", "luong", sharp=2.0, max_length=12)


class FakeRay:
    """Actors that live here: what Ray does to a call, without its processes."""

    class Actor:
        def __init__(self, made: Any) -> None:
            self._made = made

        def __getattr__(self, name: str) -> Any:
            return SimpleNamespace(remote=lambda *words: (object(), getattr(self._made, name), words))

    def __init__(self) -> None:
        class RayError(Exception): ...

        class RayTaskError(RayError): ...

        self.exceptions = SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)

    def remote(self, **options: Any) -> Any:
        return lambda kind: SimpleNamespace(remote=lambda *words: self.Actor(kind(*words)))

    def wait(self, references: Sequence[Any], **options: Any) -> tuple[list[Any], list[Any]]:
        return list(references[-1:]), list(references[:-1])  # the last one first: results come in any order

    def get(self, reference: Any) -> Any:
        return reference[1](*reference[2])

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": 2.0}


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def connected(address: str, at_once: int | None) -> Iterator[Any]:
        yield FakeRay()

    monkeypatch.setattr(spreading, "connected", connected)


def texts(count: int) -> list[str]:
    return [f"{SOURCES[number % 4]} {number}" for number in range(count)]


def write(path: Path, lines: Sequence[str]) -> Path:
    data = "".join(f"{line}\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def by_command(monkeypatch: pytest.MonkeyPatch, *words: object) -> int:
    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


def translated(run: Path, out: Path, *inputs: Path, **asked: Any) -> FilesTranslated:
    return translate_files(run, list(inputs), out, search=SEARCH, engine="torch", **asked)


# ----- ranges


@given(st.binary(max_size=60), st.booleans())
def test_ranges_hold_the_lines_that_one_process_reads(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, ends: bool
) -> None:
    content = (data.decode("utf-8", "ignore") + ("\r\n" if ends else "")).encode() * 9
    path = tmp_path_factory.mktemp("ranges") / "a.txt"
    path.write_bytes(content)
    chunks = iter([content])
    try:
        expected = [line for window in Lines(lambda: next(chunks, b"")).windows() for line in window]
    except DataError:  # it looks like UTF-16
        return
    (file,) = input_files([str(path)])
    cut, reader = cut_into_ranges(file), RangeReader()
    found = []
    for part in range(len(cut)):
        lines = _lines(reader.read(file, cut[part]))
        assert len(lines) == cut[part].lines
        found += [_text(line, cut[part].first + place) for place, line in enumerate(lines)]
    assert found == expected
    assert cut.lines == len(expected)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_ranges_are_read_in_any_order_and_grow(tmp_path: Path, name: str) -> None:
    lines = [str(number) for number in range(40_000)]
    (file,) = input_files([str(write(tmp_path / name, lines))])
    cut, reader = cut_into_ranges(file), RangeReader()
    assert [cut[part].lines for part in (0, 63, 64, 119, 120)] == [32, 32, 256, 256, 1024]
    for part in (len(cut) - 1, 3, 4, 70, 0):
        first, count, *_ = cut[part]
        assert reader.read(file, cut[part]) == "".join(f"{line}\n" for line in lines[first : first + count]).encode()
    assert sum(part.lines for part in cut) == cut.lines == 40_000


def test_another_encoding_is_cut_as_what_it_says(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("나는\n학생\n".encode("cp949"))
    (file,) = input_files([str(path)], encoding="cp949")
    cut = cut_into_ranges(file)
    assert RangeReader().read(file, cut[0]).decode() == "나는\n학생\n"
    with pytest.raises(DataError, match="add --encoding cp949"):
        cut_into_ranges(input_files([str(path)])[0])


def test_a_file_that_changes_meanwhile_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", ["a", "b"])
    (file,) = input_files([str(path)])
    cut = cut_into_ranges(file)
    write(path, ["a", "c"])
    with pytest.raises(DataError, match="was changed while it was being translated"):
        RangeReader().read(file, cut[0])


def test_outputs_are_called_as_their_inputs_or_by_their_folders(tmp_path: Path) -> None:
    names = [file.output for file in input_files(["x/a.ko", "y/b.ko.gz", "s3://bucket/c.jsonl"])]
    assert names == ["a.ko", "b.ko.gz", "c.jsonl"]
    assert [file.output for file in input_files(["x/1/a.ko", "x/2/a.ko"])] == ["1/a.ko", "2/a.ko"]
    with pytest.raises(ConfigError, match=r"is named twice"):
        input_files(["a.ko", "./a.ko"])
    with pytest.raises(ConfigError, match="a po document is not cut into parts"):
        input_files(["a.po"])
    with pytest.raises(ConfigError, match="convert it to UTF-8"):
        input_files(["a.jsonl"], encoding="cp949")


def test_an_address_nobody_knows_is_one_line(tmp_path: Path) -> None:
    (file,) = input_files(["nowhere://bucket/a.ko"])
    with pytest.raises(ConfigError, match=r"nowhere://bucket/a.*: cannot be opened"):
        cut_into_ranges(file)
    (file,) = input_files([f"file://{tmp_path}/a.ko"])
    with pytest.raises(DataError, match="no such file"):
        cut_into_ranges(file)


def test_an_address_reads_as_the_file_behind_it(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ko.gz", texts(100))
    here, there = input_files([str(path)])[0], input_files([f"file://{path}"])[0]
    cut, other = cut_into_ranges(here), cut_into_ranges(there)
    assert (cut.digest, list(cut)) == (other.digest, list(other))
    assert RangeReader().read(there, cut[2]) == RangeReader().read(here, cut[2])


# ----- what comes of it


def test_outputs_are_those_of_one_process(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: None
) -> None:
    records = [json.dumps({"id": number, "source": text}) for number, text in enumerate(texts(40))]
    inputs = [
        write(tmp_path / "a.ko", [*texts(70), "", "\t"]),
        write(tmp_path / "b.ko.gz", texts(40)),
        write(tmp_path / "c.jsonl", [*records, "broken", '{"source": 5}', '{"source": "나는", "target": "I"}']),
        write(tmp_path / "none.txt", []),
    ]
    (tmp_path / "a.ko").write_bytes((tmp_path / "a.ko").read_bytes() + "너는".encode())  # no end of line
    (tmp_path / "one").mkdir()
    options = ("--beam", 2, "--engine", "torch")
    for path in inputs:
        assert by_command(monkeypatch, "translate", run, path, "--out", tmp_path / "one" / path.name, *options) == 0
    assert (
        by_command(monkeypatch, "translate", run, *inputs, "--out", tmp_path / "out", "--ray", "local", *options) == 0
    )
    for path in inputs:
        assert (tmp_path / "out" / path.name).read_bytes() == (tmp_path / "one" / path.name).read_bytes(), path.name
    rows = (tmp_path / "out" / JOB / "report.tsv").read_text().splitlines()
    assert rows[0].split("\t") == ["file", "line", "id", "problem", "source", "translation"]
    assert [row.split("\t")[:4] for row in rows if "not translated" in row] == [
        ["c.jsonl", "41", "", "not translated"],
        ["c.jsonl", "42", "", "not translated"],
    ]


def test_what_is_committed_is_not_made_again(
    run: Path, tmp_path: Path, here: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = write(tmp_path / "a.ko", texts(100)), tmp_path / "out"
    make, made = PartTranslator.make, list[int]()

    def counting(self: PartTranslator, file: Any, cut: Range, place: Path, *, careful: bool) -> Any:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(cut.first)
        return make(self, file, cut, place, careful=careful)

    with monkeypatch.context() as patch:
        patch.setattr(PartTranslator, "make", counting)
        with pytest.raises(KeyboardInterrupt):
            translated(run, out, path)
    assert len((out / JOB / "manifest.jsonl").read_bytes().splitlines()) == 2
    with (out / JOB / "manifest.jsonl").open("ab") as manifest:
        manifest.write(b'{"input": 0, "part"')  # torn
    (out / JOB / "parts" / "0-000003.tmp").write_text("half a part")
    for name in ("0-000000", "0-000001"):  # one is cut after it was committed, and one is changed
        if (part := out / JOB / "parts" / name).exists():
            part.write_bytes(part.read_bytes()[::-1])
    again = list[int]()

    def noting(self: PartTranslator, file: Any, cut: Range, place: Path, *, careful: bool) -> Any:
        again.append(cut.first)
        return make(self, file, cut, place, careful=careful)

    with monkeypatch.context() as patch:
        patch.setattr(PartTranslator, "make", noting)
        translated(run, out, path)
    assert sorted(again[:2]) == sorted({0, 32, 64, 96} - set(made)), "first what was not committed"
    assert set(again[2:]) <= set(made), "then what was damaged"
    assert (out / "a.ko").read_bytes() == whole(run, tmp_path, path)
    assert not (out / JOB / "parts").exists()

    monkeypatch.setattr(PartTranslator, "make", counting)  # would interrupt
    translated(run, out, path)


def whole(run: Path, tmp_path: Path, path: Path) -> bytes:
    out = tmp_path / "whole"
    translated(run, out, path)
    return (out / path.name).read_bytes()


def test_another_job_is_not_mixed_in(run: Path, tmp_path: Path, here: None) -> None:
    path, out = write(tmp_path / "a.ko", texts(40)), tmp_path / "out"
    translated(run, out, path)
    other = make_run(tmp_path / "other", "luong", seed=1, max_length=12)
    with pytest.raises(ConfigError, match="was begun with another run"):
        translated(other, out, path)
    with pytest.raises(ConfigError, match="was begun with beam 2, not 3"):
        translate_files(run, [path], out, search=SearchConfig(beam=3, length_penalty="gnmt"), engine="torch")
    write(path, texts(41))
    with pytest.raises(ConfigError, match="was begun with other inputs"):
        translated(run, out, path)
    write(path, texts(40))
    (out / "a.ko").write_text("changed")
    with pytest.raises(ConfigError, match="was changed since it was made"):
        translated(run, out, path)
    (out / "a.ko").unlink()
    translated(run, out, path)
    assert (out / "a.ko").read_bytes() == whole(run, tmp_path, path)


def test_the_folder_has_to_be_free(run: Path, tmp_path: Path, here: None) -> None:
    path = write(tmp_path / "a.ko", texts(3))
    with pytest.raises(ConfigError, match="holds files of others"):
        translated(run, tmp_path, path)
    with pytest.raises(ConfigError, match="is a file"):
        translated(run, path, path)
    (tmp_path / "out" / JOB).mkdir(parents=True)
    lock = Lock(tmp_path / "out" / JOB / "lock")
    assert lock.hold()
    with pytest.raises(ConfigError, match="another process is translating into it"):
        translated(run, tmp_path / "out", path)
    lock.let_go()
    translated(run, tmp_path / "out", path)


# ----- lines that cannot be translated


def work(run: Path, **changed: Any) -> Work:
    plain: dict[str, Any] = {"agree": False, "as_json": False, "prefix": "", "existing": "keep"}
    return Work((run,), SEARCH, "torch", **(plain | changed))


def failing(translator: PartTranslator, word: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_texts", "_records"):
        plain = getattr(translator, name)

        def fail(*words: Any, plain: Any = plain) -> Made:
            if any(word in line for line in words[-2]):
                raise RuntimeError("planted\nwith more")
            return plain(*words)

        monkeypatch.setattr(translator, name, fail)


@pytest.mark.parametrize(
    ("name", "placeholder", "asked"),
    [
        ("a.ko", PLACEHOLDER, {}),
        ("a.jsonl", '{"source": "poison", "error": "planted"}', {}),
    ],
)
def test_a_line_that_fails_becomes_a_placeholder(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, placeholder: str, asked: dict[str, Any]
) -> None:
    lines = texts(20)
    lines[13] = "poison"
    if name.endswith("jsonl"):
        lines = [json.dumps({"source": line}) for line in lines]
    (file,) = input_files([str(write(tmp_path / name, lines))])
    cut, translator = cut_into_ranges(file), PartTranslator(work(run, **asked))
    translator.make(file, cut[0], tmp_path / "plain", careful=False)
    failing(translator, b"poison", monkeypatch)
    made = translator.make(file, cut[0], tmp_path / "part", careful=False)
    expected = (tmp_path / "plain").read_text().split("\n")
    assert (tmp_path / "part").read_text().split("\n") == [*expected[:13], placeholder, *expected[14:]]
    assert (14, "not translated") in made.remarks


def test_of_json_the_placeholder_is_an_object(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = input_files([str(write(tmp_path / "a.ko", ["poison", *texts(3)]))])
    translator = PartTranslator(work(run, as_json=True))
    failing(translator, b"poison", monkeypatch)
    translator.make(file, cut_into_ranges(file)[0], tmp_path / "part", careful=False)
    objects = [json.loads(line) for line in (tmp_path / "part").read_text().splitlines()]
    assert objects[0] == {"source": "poison", "text": PLACEHOLDER, "error": "planted"}
    assert [record["source"] for record in objects[1:]] == texts(3)


def test_where_most_lines_fail_it_is_not_the_lines(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = input_files([str(write(tmp_path / "a.ko", texts(32)))])
    cut, translator = cut_into_ranges(file), PartTranslator(work(run))
    failing(translator, b"", monkeypatch)
    with pytest.raises(RunError, match=r"17 of 32 lines in a row of .*a.ko failed: planted$"):
        translator.make(file, cut[0], tmp_path / "part", careful=False)


def test_a_line_that_kills_is_found_by_what_was_written_before(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Death is played by an exception that nobody catches; each worker begins anew."""
    (file,) = input_files([str(write(tmp_path / "a.ko", [*texts(5), "deadly", *texts(6)]))])
    cut = cut_into_ranges(file)
    translator = PartTranslator(work(run))
    translator.make(file, cut[0], tmp_path / "plain", careful=False)
    tried = list[int]()
    texts_of = translator._texts

    def dying(lines: Sequence[bytes], first: int) -> Made:
        tried.append(first)
        if b"deadly" in lines[0]:
            raise SystemExit
        return texts_of(lines, first)

    monkeypatch.setattr(translator, "_texts", dying)
    part = tmp_path / "part"
    for _ in range(2):
        with pytest.raises(SystemExit):
            translator.make(file, cut[0], part, careful=True)
        assert not part.exists()
        with part.with_suffix(CAREFUL).open("ab") as journal:
            journal.write(b'{"done": 9, "da')  # torn
    translator.make(file, cut[0], part, careful=True)
    assert tried == [0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 11]
    expected = (tmp_path / "plain").read_text().split("\n")
    assert part.read_text().split("\n") == [*expected[:5], PLACEHOLDER, *expected[6:]]


# ----- the command


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("a.ko", "b.ko"), "2 files: one at a time, or all with --ray local --out FOLDER"),
        (("s3://bucket/a.ko",), "an address is read with --ray local"),
        (("--ray", "local", "--out", "x"), "--ray needs files, not standard input"),
        (("a.ko", "--ray", "local"), "--out names the folder"),
        (("a.ko", "--ray", "local", "--out", "x", "--constraints", "a.ko"), "--constraints: terms are not counted"),
        (("a.jsonl", "--ray", "local", "--out", "x", "--json"), "--json and --nbest are for plain text"),
        (("a.jsonl", "--ray", "local", "--out", "x", "--sample"), "--sample draws by the place"),
    ],
)
def test_what_does_not_go_together_is_one_line(
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: Sequence[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.ko", "b.ko", "a.jsonl"):
        write(tmp_path / name, ['{"source": "나는"}'])
    assert by_command(monkeypatch, "translate", run, *words) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert len(errors.strip().splitlines()) == 1


def test_without_ray_the_extra_is_named(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"--ray needs the extra 'scale'"):
        translated(run, tmp_path / "out", write(tmp_path / "a.ko", texts(3)))


@pytest.mark.parametrize("scheme", ["", "ray://"])
def test_a_cluster_that_does_not_answer_is_one_line(scheme: str) -> None:
    """Ray itself would go on calling it for minutes."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(ConfigError, match=f"--ray {address}: cannot be reached"), cluster.connected(address, None):
            pass


def test_parquet_without_its_package_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r"a\.parquet: a Parquet file needs the extra 'scale'"):
        cut_into_ranges(input_files([str(tmp_path / "a.parquet")])[0])


def test_a_table_gets_a_column(run: Path, tmp_path: Path, here: None) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        if os.environ.get("CI"):
            raise
        pytest.skip("pyarrow is not installed: pip install 'seq2see[scale]'")
    lines = texts(70)
    table = pyarrow.table({"id": list(range(71)), "source": [*lines, None]})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=20)
    translated(run, tmp_path / "out", tmp_path / "a.parquet")
    found = parquet.read_table(tmp_path / "out" / "a.parquet")
    assert found.column_names == ["id", "source", "target"]
    assert found.drop_columns(["target"]) == table
    path = write(tmp_path / "a.jsonl", [json.dumps({"source": line}) for line in lines])
    expected = [json.loads(line)["target"] for line in whole(run, tmp_path, path).decode().split("\n")[:-1]]
    assert [text.as_py() for text in found["target"]] == [*expected, None]
    translated(run, tmp_path / "again", tmp_path / "out" / "a.parquet")  # what is there is kept
    assert (tmp_path / "again" / "a.parquet").read_bytes() == (tmp_path / "out" / "a.parquet").read_bytes()
    with pytest.raises(DataError, match="has no column 'text'; --field names one of id, source"):
        translated(run, tmp_path / "other", tmp_path / "a.parquet", fields=("text", "target"))
    with pytest.raises(DataError, match="the column 'id' holds int64, not text"):
        translated(run, tmp_path / "other", tmp_path / "a.parquet", fields=("id", "target"))
    (tmp_path / "b.parquet").write_text("no table")
    with pytest.raises(DataError, match="is no Parquet file"):
        translated(run, tmp_path / "other", tmp_path / "b.parquet")
