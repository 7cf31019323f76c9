"""Everything that turns a file into pairs, terms, links, maps or settings."""

import itertools
import os
import tempfile
import unicodedata
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from fuzzing import seeds
from fuzzing.seeds import TOKENS, packed
from fuzzing.target import BrokenPromiseError, Files, Target


def _paths(folder: Path, *names: str) -> list[Path]:
    """Files that are plain or packed."""
    return [next(path for path in (folder / name, folder / f"{name}.gz") if os.path.lexists(path)) for name in names]


def _pairs(names: Sequence[str], folder: Path, out: Path) -> None:
    from seq2see.formats.pairs import read_pairs

    files = _paths(folder, *names)
    for pair in read_pairs(files):
        for text in (pair.source, pair.target):
            if not unicodedata.is_normalized("NFC", text):
                raise BrokenPromiseError("a text that is not NFC")
            text.encode()
        if pair.line < 1:
            raise BrokenPromiseError(f"line {pair.line}")
    for _ in read_pairs(files, form="NFKC", source_language="ko", target_language="en"):
        pass


def _data(folder: Path, out: Path) -> None:
    """`seq2see data pairs.tsv --clean`: the report and a cleaned copy, which can be read again."""
    from seq2see.data.report import clean, report, write_tsv
    from seq2see.formats.pairs import read_pairs

    (path,) = _paths(folder, "pairs.tsv")
    found = report(read_pairs(path), held_out={"same": read_pairs(path)})
    found.to_json()
    "\n".join(found.lines()).encode()
    kept = write_tsv(clean(read_pairs(path), found.ratio), out / "clean.tsv")
    again = sum(1 for _ in read_pairs(out / "clean.tsv")) if kept else 0
    if again != kept:
        raise BrokenPromiseError(f"{kept} pairs written, {again} read")


def _glossary(name: str, folder: Path, out: Path) -> None:
    from seq2see.session.constraints import read_constraints

    constraints = read_constraints(_paths(folder, name)[0])
    for number, text in enumerate(("나는 학생 book", "", "서울에 막걸리")):
        request = constraints.request(text, number)
        for phrase in (request.prefix, *request.required, *request.forbidden):
            phrase.encode()


def _gold(folder: Path, out: Path) -> None:
    from seq2see.evaluate.alignment import pharaoh, read_gold, score_alignments

    gold = read_gold(*_paths(folder, "dev.gold", "dev.annotated"))
    score_alignments([one.sure for one in gold], gold)
    for one in gold:
        pharaoh(one.sure, one.possible)


def _bitext(folder: Path, out: Path) -> None:
    from seq2see.evaluate.alignment import read_bitext

    for source, target in read_bitext(*_paths(folder, "dev.bitext")):
        (source + target).encode()


def _alignments(folder: Path, out: Path) -> None:
    from seq2see.data.sources import parse_sources

    pairs, links = _paths(folder, "pairs.tsv", "pairs.align")
    for source in parse_sources([str(pairs)], alignments=str(links)):
        for sample in source.samples():
            if sample.links is None:
                raise BrokenPromiseError("a pair without links")


def _lines(folder: Path, out: Path) -> None:
    """Text to translate, as a pipe hands it over: no line more, no line less."""
    from seq2see.session.files.lines import Lines

    data = (folder / "input.txt").read_bytes()
    for size in (7, 1 << 16):
        chunks = iter([data[start : start + size] for start in range(0, len(data), size)])
        texts = list(itertools.chain(*Lines(lambda chunks=chunks: next(chunks, b""), most=3).windows()))
        wanted = data.count(b"\n") + (not data.endswith(b"\n") if data else 0)
        if len(texts) != wanted:
            raise BrokenPromiseError(f"{len(texts)} lines of {wanted}")
        for text in texts:
            text.encode()


def _map(name: str, folder: Path, out: Path) -> None:
    """A map that was taken in can be measured, drawn and saved again."""
    import numpy as np

    from seq2see.look import AttentionMap

    attention = AttentionMap.load(_paths(folder, name)[0])
    attention.save(out / "again.json")
    attention.save(out / "again.npz")
    attention.save(out / "drawn.txt")
    attention.word_weights()
    again = AttentionMap.load(out / "again.json")
    same = np.array_equal(again.weights, attention.weights, equal_nan=True)
    if not same or (again.source, again.target, again.kind) != (attention.source, attention.target, attention.kind):
        raise BrokenPromiseError("saved and read again it is another map")


def _recipe(folder: Path, out: Path) -> None:
    from seq2see.runs.config import read_toml
    from seq2see.training.run import new_config

    new_config(read_toml(folder / "recipe.toml"))


def _voice_recipe(folder: Path, out: Path) -> None:
    from seq2see.runs.config import read_toml
    from seq2see.speech.training import new_config

    new_config(read_toml(folder / "recipe.toml"))


def _changes(folder: Path, out: Path) -> None:
    """`--set`, a line for each."""
    from seq2see.runs.config import merge, parse_changes
    from seq2see.training.run import new_config

    text = (folder / "changes.txt").read_bytes().decode(errors="surrogateescape")
    new_config(merge({"model": {"family": "rnnsearch"}}, parse_changes(line[:300] for line in text.split("\n")[:-1])))


def _config(folder: Path, out: Path) -> None:
    """config.json of a run, and the part of it that describes the model."""
    from seq2see.models import load_config
    from seq2see.runs.folder import read_run_config

    load_config(read_run_config(folder).model)


def _head(folder: Path, out: Path) -> None:
    from seq2see.look import load_best

    load_best(folder / "alignment.json")


def _metrics(folder: Path, out: Path) -> None:
    from seq2see.report.page import read_training

    read_training(folder)


def _plan(folder: Path, out: Path) -> None:
    from seq2see.speech.corpus.teacher import read_plan

    for planned in read_plan(folder):
        planned.labels()


def _alike(*some: Files) -> Callable[[], Sequence[Files]]:
    return lambda: some


def _made_maps(name: str) -> Sequence[Files]:
    import numpy as np

    from seq2see.look import AttentionMap, Side

    source = Side("나는 학생", ("▁나", "는", "▁학생", "</s>"), ((0, 1), (1, 2), (2, 5), (5, 5)), (0, 0, 1, None))
    target = Side("I am", ("▁I", "▁am"), ((0, 1), (1, 4)), (0, 1))
    weights = np.random.default_rng(0).dirichlet(np.ones(4), (2, 2, 2)).astype(np.float32)
    whole = AttentionMap(source, target, "cross", weights)
    made = []
    for attention in (whole, whole.layer(0).head(1)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            attention.save(path)
            made.append({name: path.read_bytes()})
    return made


def _made_configs() -> Sequence[Files]:
    import json

    from seq2see.models.families import configure
    from seq2see.models.names import FAMILIES
    from seq2see.runs.config import RunConfig

    made = []
    for family in FAMILIES:
        model = configure(family, "tiny", source_vocabulary=300, target_vocabulary=300, settings={})
        saved = RunConfig.model_validate({"model": model.model_dump(mode="json")}).model_dump(mode="json")
        made.append({"config.json": json.dumps(saved).encode()})
    return made


def _made_heads() -> Sequence[Files]:
    from seq2see.look import Best
    from seq2see.look.map.alignment import save_best

    with tempfile.TemporaryDirectory() as folder:
        save_best(Path(folder) / "alignment.json", Best(1, 2, 0.25))
        return [{"alignment.json": (Path(folder) / "alignment.json").read_bytes()}]


def _made_plans() -> Sequence[Files]:
    import json

    from seq2see.speech.corpus import teacher

    planned = teacher.plan(teacher.TeacherSettings(("en", "ko"), teacher.FEWEST, 1))[:3]
    lines = [json.dumps(one._asdict(), ensure_ascii=False) for one in planned]
    return [{teacher._PLAN: ("\n".join(lines) + "\n").encode()}]


_PAIRS: dict[str, tuple[tuple[str, ...], Sequence[Sequence[bytes]]]] = {
    "tsv": (("pairs.tsv",), [[seeds.TSV], [b"a\tb\n"]]),
    "csv": (("pairs.csv",), [[seeds.CSV], [b"a,b\r\nc,d\r\n"]]),
    "jsonl": (("pairs.jsonl",), [[seeds.JSONL.replace(b'{ "source" : "<b>', b'{"target": "", "source" : "<b>')]]),
    "tmx": (("pairs.tmx",), [[seeds.TMX], [seeds.TMX.decode().replace("UTF-8", "UTF-16").encode("utf-16")]]),
    "xliff": (("pairs.xlf",), [[seeds.XLIFF_1], [seeds.XLIFF_2]]),
    "po": (("pairs.po",), [[seeds.PO]]),
    "mo": (("pairs.mo",), [[seeds.mo()]]),
    "srt": (("film.ko.srt", "film.en.srt"), [list(seeds.SRT)]),
    "plain": (("text.ko", "text.en"), [list(seeds.PLAIN)]),
}


def _pair_targets() -> list[Target]:
    made = []
    for name, (files, contents) in _PAIRS.items():
        plain = [dict(zip(files, some, strict=True)) for some in contents]
        gz = [{f"{file}.gz": packed(content) for file, content in some.items()} for some in plain]
        read = partial(_pairs, files)
        made.append(Target(name, "readers", _alike(*plain), read, TOKENS[name]))
        made.append(Target(f"{name}.gz", "readers", _alike(*gz), read, TOKENS[name]))
    return made


def _single(name: str, file: str, content: bytes, read: Callable[[Path, Path], None], tokens: str) -> list[Target]:
    plain: Files = {file: content}
    return [
        Target(name, "readers", _alike(plain), read, TOKENS[tokens]),
        Target(f"{name}.gz", "readers", _alike({f"{file}.gz": packed(content)}), read, TOKENS[tokens]),
    ]


def _target(name: str, files: Files, read: Callable[[Path, Path], None], tokens: str) -> Target:
    return Target(name, "readers", _alike(files), read, TOKENS[tokens])


def _map_target(kind: str) -> Target:
    name = f"map.{kind}"
    return Target(f"map-{kind}", "readers", partial(_made_maps, name), partial(_map, name), TOKENS["json"])


TARGETS: list[Target] = [
    *_pair_targets(),
    *_single("glossary", "glossary.tsv", seeds.GLOSSARY, partial(_glossary, "glossary.tsv"), "tsv"),
    *_single("constraints", "lines.jsonl", seeds.CONSTRAINTS, partial(_glossary, "lines.jsonl"), "jsonl"),
    *_single("bitext", "dev.bitext", seeds.BITEXT, _bitext, "bitext"),
    _target("data", {"pairs.tsv": seeds.TSV}, _data, "tsv"),
    _target("gold", {"dev.gold": seeds.GOLD[0], "dev.annotated": seeds.GOLD[1]}, _gold, "links"),
    _target("alignments", {"pairs.tsv": seeds.LINKS[0], "pairs.align": seeds.LINKS[1]}, _alignments, "links"),
    _target("lines", {"input.txt": seeds.PLAIN[0]}, _lines, "plain"),
    *(_map_target(kind) for kind in ("json", "tsv", "npz")),
    _target("recipe", {"recipe.toml": seeds.RECIPE}, _recipe, "toml"),
    _target("voice-recipe", {"recipe.toml": seeds.VOICE_RECIPE}, _voice_recipe, "toml"),
    _target("set", {"changes.txt": seeds.CHANGES}, _changes, "toml"),
    _target("metrics", {"metrics.jsonl": seeds.METRICS}, _metrics, "json"),
    Target("config", "readers", _made_configs, _config, TOKENS["json"], specials=True),
    Target("head", "readers", _made_heads, _head, TOKENS["json"]),
    Target("speech-plan", "readers", _made_plans, _plan, TOKENS["json"]),
]
