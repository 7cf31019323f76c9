"""Invented pairs copy their stem, keep what the real pair did to it, and follow from the seed."""

from seq2see.data.invented import find_stems, invent
from seq2see.formats import Pair

REAL = [Pair(f"{stem} V;PST", f"{stem}te", 1) for stem in ("machen", "suchen", "brauchen", "kochen", "fischen")]


def test_a_stem_is_put_into_both_sides() -> None:
    made = list(invent(find_stems(REAL), 50, seed=1))
    assert len(made) == 50
    for pair in made:
        stem, tag = pair.source.split()
        assert tag == "V;PST"
        assert pair.target == f"{stem}te"
        assert stem.endswith("hen")  # the end of a stem decides how it is inflected
    assert len({pair.source for pair in made}) > 40
    assert not {pair.source for pair in made} & {pair.source for pair in REAL}


def test_the_same_seed_the_same_pairs() -> None:
    stems = find_stems(REAL)
    assert list(invent(stems, 20, seed=3)) == list(invent(stems, 20, seed=3))
    assert list(invent(stems, 20, seed=3)) != list(invent(stems, 20, seed=4))


def test_capitals_stay() -> None:
    stems = find_stems([Pair("Abmachung N;PL", "Abmachungen", 1), *REAL])
    nouns = [pair for pair in invent(stems, 60, seed=1) if pair.source.endswith("N;PL")]
    assert nouns
    assert all(pair.source[0].isupper() and pair.target.endswith("ungen") for pair in nouns)


def test_pairs_that_copy_nothing_have_no_stem() -> None:
    assert find_stems([Pair("가방", "bag", 1), Pair("ab cd", "ab xy", 2)]) == []
    assert list(invent([], 5, seed=1)) == []
