"""A translation that begins with given pieces, the words of a translation, and what else could stand for one."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from folders import SOURCES, make_run

import seq2see
from seq2see.data.batch import Batch
from seq2see.errors import ConfigError
from seq2see.look.map.side import side_of
from seq2see.search import Cancelled, SearchConfig
from seq2see.session import Request, Translation, Translator
from seq2see.session.alternatives import FIRST_PIECES, alternatives
from seq2see.session.words import spoken_words
from seq2see.text import TokenizerConfig
from seq2see.vocabulary import EOS, UNK

# Random models hardly ever end a sentence.
GREEDY, BEAM = SearchConfig(max_length=24), SearchConfig(beam=4, nbest=4, length_penalty="gnmt")
FAMILIES = ("rnnsearch", "transformer")
WORDS = TokenizerConfig(scheme="word", vocabulary=300, byte_fallback=False, min_frequency=1)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Threads only wait for each other in products as small as these."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", params=FAMILIES)
def translator(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return seq2see.load(
        make_run(tmp_path_factory.mktemp("prefix") / request.param, request.param, sharp=2.0), engine="torch"
    )


@pytest.fixture(scope="module")
def in_words(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    """A run whose pieces are whole words, so that its random translations have many."""
    folder = tmp_path_factory.mktemp("words") / "run"
    return seq2see.load(make_run(folder, sharp=1.5, cutting=WORDS))


def continued(translator: Translator, text: str, ids: tuple[int, ...], search: SearchConfig) -> Translation:
    (made,) = translator.translate_all([Request(text, prefix_ids=ids)], search)
    return made


def test_greedy_goes_on_from_any_of_its_own_prefixes_as_before(translator: Translator) -> None:
    for text in SOURCES[:2]:
        whole = translator.translate(text, search=GREEDY)
        length = len(whole.token_ids)
        for cut in {1, 2, length // 2, length - 1}:
            again = continued(translator, text, whole.token_ids[:cut], GREEDY)
            assert again.token_ids == whole.token_ids, f"{text} from piece {cut} on"
            assert list(again.token_scores) == pytest.approx(list(whole.token_scores), abs=1e-4)
            assert (again.text, again.ended) == (whole.text, whole.ended)


def test_a_beam_goes_on_from_its_own_prefix_to_nothing_worse(translator: Translator) -> None:
    """All places of the beam are for what begins so: it finds what was found before, or better."""
    for text in SOURCES[:2]:
        whole = translator.translate(text, search=BEAM)
        for cut in (1, len(whole.token_ids) // 2, len(whole.token_ids) - 1):
            prefix = whole.token_ids[:cut]
            again = continued(translator, text, prefix, BEAM)
            assert all(hypothesis.token_ids[:cut] == prefix for hypothesis in again.nbest)
            assert again.score >= whole.score - 1e-4
            if abs(again.score - whole.score) < 1e-4:
                assert again.token_ids == whole.token_ids


def test_the_pieces_are_kept_as_they_are_and_not_cut_anew(translator: Translator) -> None:
    """The letters of a word one by one: its text would be cut into other pieces."""
    target = translator.runs[0].tokenizers[1]
    whole = tuple(target.ids_batch(["student"])[0])
    letters = tuple(piece for letter in "student" for piece in target.ids_batch([letter])[0][-1:])
    assert letters != whole
    for search in (GREEDY, BEAM):
        made = continued(translator, SOURCES[0], letters, search)
        assert made.token_ids[: len(letters)] == letters


def test_prefixes_in_a_batch_are_each_their_own(translator: Translator) -> None:
    requests = [
        Request(text, number=place, prefix_ids=tuple(range(100, 100 + place))) for place, text in enumerate(SOURCES)
    ]
    together = list(translator.translate_all(requests, BEAM))
    for request, made in zip(requests, together, strict=True):
        assert made.token_ids[: request.number] == request.prefix_ids
        (alone,) = translator.translate_all([request], BEAM)
        assert alone.text == made.text


def test_a_prefix_longer_than_any_translation_leaves_room_behind_it(translator: Translator) -> None:
    prefix = tuple([100, 101] * 100)
    made = continued(translator, SOURCES[0], prefix, SearchConfig())
    assert made.token_ids[:200] == prefix
    assert len(made.token_ids) <= 210


def test_of_a_long_text_the_first_part_begins_with_them(tmp_path: Path) -> None:
    translator = seq2see.load(make_run(tmp_path / "run", sharp=2.0, max_length=12))
    made = continued(translator, " ".join(SOURCES), (100, 101), GREEDY)
    assert len(made.parts) > 1
    assert made.parts[0].token_ids[:2] == (100, 101)
    assert made.parts[1].token_ids[:2] != (100, 101)


@pytest.mark.parametrize(("ids", "message"), [((10**6,), "vocabulary"), ((EOS,), "special"), ((-1,), "special")])
def test_ids_that_are_no_pieces_are_refused(translator: Translator, ids: tuple[int, ...], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        continued(translator, SOURCES[0], ids, GREEDY)


def test_two_beginnings_are_refused() -> None:
    with pytest.raises(ConfigError, match="prefix_ids"):
        Request("text", prefix="we", prefix_ids=(7,))


def test_a_search_asks_once_a_step_whether_it_is_still_wanted(translator: Translator) -> None:
    for request in (Request(SOURCES[0]), Request(SOURCES[0], prefix_ids=(100,))):  # both loops
        for search in (GREEDY, BEAM):
            asked: list[int] = []
            (made,) = translator.translate_all([request], search, cancelled=lambda asked=asked: asked.append(1))
            assert made.text == next(translator.translate_all([request], search)).text
            assert len(asked) >= len(made.token_ids)
            with pytest.raises(Cancelled):
                list(translator.translate_all([request], search, cancelled=lambda: True))


# ----- words


def test_words_lie_where_they_say_and_have_the_probability_of_their_pieces(in_words: Translator) -> None:
    for text in (*SOURCES, f"  {SOURCES[0]}\n"):
        made = in_words.translate(text)
        words = spoken_words(in_words, made)
        assert [word.text for word in words] == made.text.split()
        for word in words:
            assert made.text[slice(*word.span)] == word.text
            assert word.pieces is not None
            scores = made.token_scores[slice(*word.pieces)]
            assert word.probability == pytest.approx(math.exp(sum(scores)))
            assert in_words.read_target(made.token_ids[slice(*word.pieces)]).text.strip() == word.text


def test_words_of_a_long_text_lie_in_the_whole(tmp_path: Path) -> None:
    translator = seq2see.load(make_run(tmp_path / "run", sharp=1.5, max_length=8, cutting=WORDS))
    made = translator.translate(" ".join(SOURCES))
    words = spoken_words(translator, made)
    assert len(made.parts) > 1
    assert [word.text for word in words] == made.text.split()
    assert all(made.text[slice(*word.span)] == word.text and word.pieces is None for word in words)


def test_words_that_were_put_in_have_no_pieces(in_words: Translator) -> None:
    made = in_words.translate(SOURCES[0], prefix="makgeolli")
    words = spoken_words(in_words, made)
    assert [word.text for word in words] == made.text.split()
    assert "makgeolli" in made.text
    assert all(word.probability is None and word.pieces is None for word in words)


def test_no_text_has_no_words(in_words: Translator) -> None:
    assert spoken_words(in_words, in_words.translate("  ")) == []


# ----- other words


def first_choices(translator: Translator, source: str, ids: tuple[int, ...]) -> torch.Tensor:
    """(V,) probabilities of what comes after these pieces, by one forced pass."""
    source_ids = translator.read_source(source).ids
    with torch.no_grad():
        logits = translator.model(Batch.of([[*source_ids, EOS]], [list(ids)])).logits[0, -1]
    return torch.softmax(logits, dim=-1)


def test_alternatives_of_a_word_are_the_likeliest_that_a_forced_pass_names(in_words: Translator) -> None:
    """Where a piece is a word, they are simply the best of the distribution."""
    made = in_words.translate(SOURCES[2])
    size = in_words.runs[0].tokenizers[1].size
    for word in range(len(made.text.split())):
        found = alternatives(in_words, SOURCES[2], made.token_ids, word)
        before = made.token_ids[:word]
        expected = first_choices(in_words, SOURCES[2], before)
        ranked = [piece for piece in expected.argsort(descending=True).tolist() if UNK < piece < size][:5]
        assert [alternative.ids for alternative in found] == [(*before, piece) for piece in ranked]
        for alternative, piece in zip(found, ranked, strict=True):
            assert alternative.probability == pytest.approx(float(expected[piece]), rel=1e-4)
            assert alternative.text == in_words.read_target(alternative.ids).text
            assert alternative.text.split()[-1] == alternative.word


def test_alternatives_go_on_to_the_end_of_the_word_greedily(translator: Translator) -> None:
    """Random byte pieces: words of many pieces, each step the likeliest, up to a space or the end."""
    ids = translator.runs[0].tokenizers[1].ids_batch(["we went to Seoul"])[0]
    found = alternatives(translator, SOURCES[2], ids, 1, most=FIRST_PIECES)
    assert found
    assert len({alternative.word for alternative in found}) == len(found)
    assert [a.probability for a in found] == sorted((a.probability for a in found), reverse=True)
    start = len(translator.runs[0].tokenizers[1].ids_batch(["we"])[0])
    for alternative in found:
        assert list(alternative.ids[:start]) == ids[:start]
        owners = side_of(translator.read_target(alternative.ids)).words[:-1]
        assert {owner for owner in owners[start:] if owner is not None} == {1}
        for place in range(start + 1, len(alternative.ids)):
            expected = first_choices(translator, SOURCES[2], alternative.ids[:place])
            expected[: UNK + 1] = 0
            assert alternative.ids[place] == int(expected.argmax())


def test_the_word_behind_the_last_one_and_no_other_can_be_asked_for(in_words: Translator) -> None:
    made = in_words.translate(SOURCES[0])
    count = len(made.text.split())
    assert alternatives(in_words, SOURCES[0], made.token_ids, count)
    with pytest.raises(ConfigError, match=f"has {count} words"):
        alternatives(in_words, SOURCES[0], made.token_ids, count + 1)


def test_a_chosen_alternative_is_what_the_next_search_begins_with(in_words: Translator) -> None:
    made = in_words.translate(SOURCES[2])
    for alternative in alternatives(in_words, SOURCES[2], made.token_ids, 1):
        again = continued(in_words, SOURCES[2], alternative.ids, BEAM)
        assert again.text.startswith(alternative.text)
