"""Ids on disk and the order they are read in."""

import gzip
import os
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see import atomic
from seq2see.data import store as stores
from seq2see.data.loading import Loader, make_batch
from seq2see.data.order import Order, permute
from seq2see.data.sources import Sample, Source, parse_sources, read_links
from seq2see.data.store import Limits, Store, build, piece_links
from seq2see.errors import DataError, RunError
from seq2see.formats import Pair
from seq2see.text import Tokenizer, TokenizerConfig
from seq2see.vocabulary import EOS


def everything(sample: Sample) -> bool:
    return True


def write(path: Path, count: int, seed: int = 0) -> Path:
    made = random.Random(seed)
    rows = []
    for number in range(count):
        words = [made.choice("abcdefgh") for _ in range(made.randint(1, 9))]
        rows.append(f"{' '.join(words)} {number}\t{' '.join(reversed(words))}")
    path.write_text("\n".join(rows) + "\n")
    return path


def make_store(
    folder: Path, *sources: Source, limit: int = 64, say: Callable[[str], None] = lambda text: None
) -> Store:
    texts = [text for source in sources for pair in source.pairs() for text in (pair.source, pair.target)]
    tokenizer = Tokenizer.train(texts, TokenizerConfig(scheme="char"))
    return build(
        folder,
        sources,
        (tokenizer, tokenizer),
        Limits(limit, limit),
        keep=everything,
        with_links=False,
        fingerprint="x",
        advance=lambda pairs: None,
        say=say,
    )


@given(st.integers(1, 5000), st.integers(0, 10), st.integers(0, 5))
def test_permute_is_a_permutation(size: int, seed: int, epoch: int) -> None:
    found = permute(np.arange(size, dtype=np.int64), size, (seed, epoch))
    assert sorted(found.tolist()) == list(range(size))


def test_permute_shuffles_and_depends_on_its_key() -> None:
    places = np.arange(1000, dtype=np.int64)
    one, other = permute(places, 1000, (1, 0)), permute(places, 1000, (1, 1))
    assert (one != places).mean() > 0.95
    assert (one != other).mean() > 0.95
    assert np.abs(np.corrcoef(places, one)[0, 1]) < 0.15


@pytest.mark.parametrize("budget", [64, 200])
def test_an_epoch_holds_every_pair_once_within_the_budget(tmp_path: Path, budget: int) -> None:
    pairs = write(tmp_path / "a.tsv", 500)
    store = make_store(tmp_path / "store", Source((str(pairs),)))
    order = Order(store, seed=3, batch_tokens=budget)
    batches = list(order.batches(0))
    assert sorted(np.concatenate(batches).tolist()) == list(range(500))
    for batch in batches:
        longest = max(store.source.lengths(batch).max(), (store.target.lengths(batch) + 1).max())
        assert len(batch) == 1 or longest * len(batch) <= budget
    assert len(batches) == order.count(0)
    assert [b.tolist() for b in batches] == [b.tolist() for b in Order(store, seed=3, batch_tokens=budget).batches(0)]
    assert [b.tolist() for b in batches] != [b.tolist() for b in order.batches(1)]
    assert [b.tolist() for b in batches[7:]] == [b.tolist() for b in order.batches(0, 7)]


def test_few_pad_tokens(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", Source((str(write(tmp_path / "a.tsv", 3000)),)))
    loader = Loader(Order(store, seed=1, batch_tokens=512), ())  # type: ignore[arg-type]
    real = padded = 0
    for loaded in loader.load(0):
        real += int(loaded.batch.source_mask.sum() + loaded.batch.target_mask.sum())
        padded += loaded.batch.source.numel() + loaded.batch.target_out.numel()
    assert real / padded > 0.9


def test_pools_are_walked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seq2see.data.order.POOL", 64)
    store = make_store(tmp_path / "store", Source((str(write(tmp_path / "a.tsv", 300)),)))
    order = Order(store, seed=1, batch_tokens=128)
    batches = [batch.tolist() for batch in order.batches(0)]
    assert sorted(pair for batch in batches for pair in batch) == list(range(300))
    for first in (0, 1, 5, len(batches) - 1, len(batches)):
        assert [batch.tolist() for batch in order.batches(0, first)] == batches[first:]


def test_weights_of_a_mixture(tmp_path: Path) -> None:
    twice = Source((str(write(tmp_path / "a.tsv", 40)),), weight=2.0)
    half = Source((str(write(tmp_path / "b.tsv", 100, seed=1)),), weight=0.5)
    order = Order(make_store(tmp_path / "store", twice, half), seed=1, batch_tokens=100)
    seen: dict[int, int] = {}
    for epoch in (0, 1):
        for batch in order.batches(epoch):
            for pair in batch.tolist():
                seen[pair] = seen.get(pair, 0) + 1
    assert [seen[pair] for pair in range(40)] == [4] * 40  # twice in each of two epochs
    assert [seen[pair] for pair in range(40, 140)] == [1] * 100  # the other half in the other epoch


def test_a_store_is_reused_only_for_the_same_input(tmp_path: Path) -> None:
    pairs = write(tmp_path / "a.tsv", 30)
    source = Source((str(pairs),))
    make_store(tmp_path / "store", source)
    marker = (tmp_path / "store" / "source.ids").stat().st_mtime_ns
    make_store(tmp_path / "store", source)
    assert (tmp_path / "store" / "source.ids").stat().st_mtime_ns == marker
    assert not stores.is_current(tmp_path / "store", "another input")
    before = source.fingerprint({str(pairs): atomic.digest(pairs)})
    write(pairs, 31)
    assert source.fingerprint({str(pairs): atomic.digest(pairs)}) != before


def test_a_store_without_its_last_file_is_not_one(tmp_path: Path) -> None:
    make_store(tmp_path / "store", Source((str(write(tmp_path / "a.tsv", 30)),)))
    (tmp_path / "store" / "store.json").unlink()
    assert not stores.is_current(tmp_path / "store", "x")


@pytest.mark.parametrize("name", [f"{side}.{part}" for side in ("source", "target") for part in stores._PARTS])
@pytest.mark.parametrize("how", ["truncated", "overwritten", "longer", "gone"])
def test_a_damaged_store_is_built_again(tmp_path: Path, name: str, how: str) -> None:
    source = Source((str(write(tmp_path / "a.tsv", 30)),))
    store = make_store(tmp_path / "store", source)
    whole = [store.source.row(index).tolist() for index in range(30)]
    path = tmp_path / "store" / name
    content = path.read_bytes()
    match how:
        case "truncated":
            path.write_bytes(content[:-4])
        case "overwritten":
            path.write_bytes(b"\xff" * len(content))
        case "longer":
            path.write_bytes(content + bytes(8))
        case "gone":
            path.unlink()
    messages: list[str] = []
    again = make_store(tmp_path / "store", source, say=messages.append)
    assert [again.source.row(index).tolist() for index in range(30)] == whole
    assert len(messages) == 1
    assert "built again" in messages[0]
    assert path.read_bytes() == content


def test_ids_that_vanish_while_they_are_read_are_told(tmp_path: Path) -> None:
    store = make_store(tmp_path / "store", Source((str(write(tmp_path / "a.tsv", 30)),)))
    with (tmp_path / "store" / "source.ids").open("r+b") as file:
        file.truncate(8)
    with pytest.raises(RunError, match="were changed while training read them"):
        store.source.row(29)


def test_store_json_is_written_when_the_ids_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut after store.json loses no file that it vouches for."""
    synced: list[int] = []
    original = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file).st_ino), original(file))[1])
    make_store(tmp_path / "store", Source((str(write(tmp_path / "a.tsv", 30)),)))
    last = synced.index((tmp_path / "store" / "store.json").stat().st_ino)
    for path in (tmp_path / "store").glob("*.*"):
        if path.name != "store.json":
            assert path.stat().st_ino in synced[:last], path.name


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"version": 3, "fingerprint": "x"}', '{"version": 2}', "\0"])
def test_a_store_with_another_description_is_built_again(tmp_path: Path, content: str) -> None:
    source = Source((str(write(tmp_path / "a.tsv", 30)),))
    make_store(tmp_path / "store", source)
    (tmp_path / "store" / "store.json").write_text(content)
    assert len(make_store(tmp_path / "store", source)) == 30


def test_as_long_as_the_limit_is_not_too_long(tmp_path: Path) -> None:
    """Of the source the end counts as a piece, of the target it does not."""
    (tmp_path / "a.tsv").write_text("abc\tabcd\nabcd\ta\na\tabcde\n")
    store = make_store(tmp_path / "store", Source((str(tmp_path / "a.tsv"),)), limit=4)
    everyone = np.arange(len(store))
    assert (store.source.lengths(everyone).tolist(), store.target.lengths(everyone).tolist()) == ([4], [4])


def test_all_pairs_too_long(tmp_path: Path) -> None:
    pairs = write(tmp_path / "a.tsv", 5)
    with pytest.raises(DataError, match=r"all pairs are too long.*training\.max_length"):
        make_store(tmp_path / "store", Source((str(pairs),)), limit=2)
    assert not (tmp_path / "store").exists()


def test_batches_hold_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("ab\tcd\nabc\td\n")
    store = make_store(tmp_path / "store", Source((str(path),)))
    batch = make_batch([store.source.row(0), store.source.row(1)], [store.target.row(0), store.target.row(1)])
    assert batch.source[0, -2] == EOS
    assert batch.source_mask.squeeze(1).sum(dim=1).tolist() == [3, 4]
    assert batch.target_mask.sum(dim=1).tolist() == [3, 2]
    assert batch.target_out[1, 1] == EOS
    assert batch.target_in[0, 1:].tolist() == batch.target_out[0, :2].tolist()


def test_piece_links_spread_words_over_their_pieces() -> None:
    links = piece_links(((0, 1), (1, 0)), source_words=[0, 0, 1], target_words=[0, 1, 1])
    assert {(link >> 16, link & 0xFFFF) for link in links} == {(2, 0), (0, 1), (1, 1), (0, 2), (1, 2)}


def test_sources(tmp_path: Path) -> None:
    for name in ("x.tsv", "y.tmx", "t.ko", "t.en"):
        (tmp_path / name).write_text("a\tb\n")
    tsv, tmx, ko, en = (str(tmp_path / name) for name in ("x.tsv", "y.tmx", "t.ko", "t.en"))
    found = parse_sources([f"{tsv}:2", tmx, ko, en, "builtin:copy:0.5"])
    assert [(source.paths, source.weight) for source in found] == [
        ((tsv,), 2.0),
        ((tmx,), 1.0),
        ((ko, en), 1.0),
        (("builtin:copy",), 0.5),
    ]
    with pytest.raises(DataError, match="no such file"):
        parse_sources([tsv, str(tmp_path / "none.ko")])
    with pytest.raises(DataError, match="stands alone"):
        parse_sources([tsv, ko])
    with pytest.raises(DataError, match="stands alone"):
        parse_sources([ko, tsv])
    with pytest.raises(DataError, match="no pairs given"):
        parse_sources([])
    with pytest.raises(DataError, match="weight 0"):
        parse_sources([f"{tsv}:0"])


def test_alignments_are_read_beside_pairs(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a b\tc d\ne\tf\n")
    (tmp_path / "a.align").write_text("0-1 1-0\n0-0\n")
    source = Source((str(tmp_path / "a.tsv"),), alignments=str(tmp_path / "a.align"))
    assert [sample.links for sample in source.samples()] == [((0, 1), (1, 0)), ((0, 0),)]
    (tmp_path / "a.align").write_text("0-1 1-0\n")
    with pytest.raises(DataError, match="has 1 lines but"):
        list(source.samples())
    (tmp_path / "a.align").write_text("0-1\n0-0\n0-0\n")
    with pytest.raises(DataError, match="more than 2 lines"):
        list(source.samples())
    with pytest.raises(DataError, match=r"links:3: '0:1' is not a link"):
        read_links("0:1", Path("links"), 3)


def test_flipped_pairs_and_their_links(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a b c\td e\n")
    (tmp_path / "a.align").write_text("0-1 2-0\n")
    names, links = [str(tmp_path / "a.tsv")], str(tmp_path / "a.align")
    plain, turned = (parse_sources(names, alignments=links, flip=flip)[0] for flip in (False, True))
    assert list(turned.samples()) == [Sample(Pair("d e", "a b c", 1), ((1, 0), (0, 2)))]
    digests = {name: atomic.digest(Path(name)) for name in (*names, links)}
    assert plain.fingerprint(digests) != turned.fingerprint(digests)
    made, back = (parse_sources(["builtin:phrases"], flip=flip)[0] for flip in (False, True))
    assert next(back.pairs()).source == next(made.pairs()).target


def test_gz_and_builtin_give_pairs(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.tsv.gz", "wt") as file:
        file.write("a\tb\n")
    assert list(Source((str(tmp_path / "a.tsv.gz"),)).pairs()) == [Pair("a", "b", 1)]
    first = next(parse_sources(["builtin:reverse"])[0].samples())
    assert first.links is not None
    assert first.pair.source.split() == first.pair.target.split()[::-1]
