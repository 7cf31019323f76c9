"""Tokenizers: exact round trips for any text, spans that point at the text, files that cannot hurt."""

import gzip
import json
import random
import subprocess
import sys
import time
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from seq2see.errors import ConfigError, DataError, RunError
from seq2see.text import jamo
from seq2see.text.pieces import SPECIALS, PairTokenizerConfig
from seq2see.text.spelling import BYTES
from seq2see.text.tokenizer import Encoding, Scheme, Tokenizer, TokenizerConfig, train_pair
from seq2see.vocabulary import BOS, EOS, PAD, UNK

MULTI30K = Path(__file__).parents[2].parent / "shared/data/multi30k"
SCHEMES: tuple[Scheme, ...] = ("char", "word", "bpe", "unigram", "byte")
CORPUS = [
    "The cat sat on the mat.",
    "the cats sat on the mats, didn't they?",
    "나는 학생입니다. 나는 선생님이 아닙니다.",
    "학생은 학교에 갑니다. 학생이 학교에서 왔습니다.",
    "Über die Brücke gehen 12 Männer, 12 Frauen.",
] * 3
ODD = [
    "",
    " ",
    "   ",
    " leading",
    "trailing ",
    "two  spaces   three",
    "tab\tnew\nline\r\nend\n",
    "\t",
    "\n x",
    "<s> </s> <pad> <unk>",
    "<pad> ",
    "▁the▁",
    "<0xE2><0x41>",
    "👩‍👩‍👧‍👦 👩🏽‍💻 🇰🇷",
    "𝔘𝔫𝔦 𐍈𐌰",
    "é x̣́ ก็ नमस्ते می‌خواهم",
    "\x00\x01\x1c\x7f\x85\u2028\u3000\ufeff",
    "".join(BYTES[:3]) + "a" + BYTES[255],
    "ᚠᛇᚻ 漢字かな交じり文",
    "ᄒᆞᆫ글",  # Middle Korean: jamo that no modern syllable holds
    "ᄀ각각ᆨᅡ",
    "뷁쒧",  # syllables with jamo that the corpus does not have
    "\ufffd\uffff",
]
HANGUL = st.text(st.characters(min_codepoint=0x1100, max_codepoint=0x11FF) | st.sampled_from("가각힣갂 a"))
ANY = st.text() | HANGUL | st.text(st.sampled_from("the cats마음학교 \t\n<s>/▁😀é")) | st.sampled_from(ODD)
every_scheme = pytest.mark.parametrize("scheme", SCHEMES)
every_kind = pytest.mark.parametrize(("scheme", "in_jamo"), [(s, j) for s in SCHEMES for j in (False, True)])

_made: dict[TokenizerConfig, Tokenizer] = {}


def made(scheme: Scheme, **settings: bool | int | float) -> Tokenizer:
    config = TokenizerConfig.model_validate({"scheme": scheme, "vocabulary": 600, **settings})
    if config not in _made:
        _made[config] = Tokenizer.train(CORPUS, config)
    return _made[config]


def nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def assert_points_at_text(found: Encoding, text: str) -> None:
    """Spans lie inside, rise, leave no gap and no end uncovered."""
    assert len(found.ids) == len(found.tokens) == len(found.spans)
    assert found.text == text
    assert bool(found.spans) == bool(text)
    if text:
        assert found.spans[0][0] == 0
        assert found.spans[-1][1] == len(text)
    for start, end in found.spans:
        assert 0 <= start < end <= len(text)
    for (start, end), (later_start, later_end) in pairwise(found.spans):
        assert start <= later_start <= end <= later_end


# round trips and spans


@every_kind
@given(ANY)
def test_decode_undoes_encode(scheme: Scheme, in_jamo: bool, text: str) -> None:
    tokenizer = made(scheme, jamo=in_jamo)
    text = nfc(text)
    found = tokenizer.encode(text)
    assert tokenizer.decode(found.ids) == text
    assert not {PAD, BOS, EOS, UNK} & set(found.ids)
    assert_points_at_text(found, text)
    assert tokenizer.ids_batch([text, "the"])[0] == found.ids
    assert tokenizer.encode_batch(["the", text])[1] == found
    assert tokenizer.pieces(found.ids) == found.tokens


@every_kind
@pytest.mark.parametrize("text", ODD)
def test_odd_texts(scheme: Scheme, in_jamo: bool, text: str) -> None:
    tokenizer = made(scheme, jamo=in_jamo)
    found = tokenizer.encode(text)
    assert tokenizer.decode(found.ids) == text
    assert min(found.ids, default=EOS + 2) > UNK
    assert_points_at_text(found, text)


@given(HANGUL)
@example("ᄀ" + "ᅡ" + "ᆨ")
@example("가" + "ᆨ")
def test_jamo_round_trip_holds_without_normal_form(text: str) -> None:
    tokenizer = made("bpe", jamo=True)
    assert tokenizer.decode(tokenizer.encode(text).ids) == text


@every_kind
@given(st.data())
def test_any_ids_give_a_text(scheme: Scheme, in_jamo: bool, data: st.DataObject) -> None:
    tokenizer = made(scheme, jamo=in_jamo)
    ids = data.draw(st.lists(st.integers(0, tokenizer.size - 1)))
    found = tokenizer.read(ids)
    assert found.text == tokenizer.decode(ids)
    assert found.ids == ids
    assert all(0 <= start <= end <= len(found.text) for start, end in found.spans)
    spelled = [span for index, span in zip(ids, found.spans, strict=True) if index > UNK]
    for (start, end), (later_start, later_end) in pairwise(spelled):
        assert start <= later_start
        assert end <= later_end
    words = tokenizer.words(ids)
    assert words == tokenizer.words(found)
    assert words[:1] in ([], [0])
    assert all(later - word in (0, 1) for word, later in pairwise(words))


@every_kind
@given(ANY)
def test_reading_finds_the_spans_of_encoding(scheme: Scheme, in_jamo: bool, text: str) -> None:
    tokenizer = made(scheme, jamo=in_jamo)
    found = tokenizer.encode(nfc(text))
    assert tokenizer.read(found.ids) == found


@pytest.mark.parametrize("scheme", ["char", "word", "bpe", "unigram"])
@given(ANY)
def test_without_bytes_the_unknown_is_unk(scheme: Scheme, text: str) -> None:
    tokenizer = made(scheme, byte_fallback=False)
    text = nfc(text)
    found = tokenizer.encode(text)
    assert not {PAD, BOS, EOS} & set(found.ids)
    assert_points_at_text(found, text)
    if UNK not in found.ids:
        assert tokenizer.decode(found.ids) == text
    assert UNK in tokenizer.encode("x ᛗ").ids


def test_all_syllables_round_trip_in_jamo() -> None:
    text = "".join(map(chr, jamo.SYLLABLES))
    assert jamo.decompose(text) == unicodedata.normalize("NFD", text)
    assert jamo.compose(jamo.decompose(text)) == text
    assert made("bpe", jamo=True).decode(made("bpe", jamo=True).encode(text).ids) == text


# what pieces look like


def test_pieces_of_each_scheme() -> None:
    assert made("char").encode("the 학").tokens == ["t", "h", "e", "▁", "학"]
    assert made("word").encode("the cat qat").tokens == ["▁the", "▁cat", "▁", "<0x71>", "a", "t"]
    assert made("word", byte_fallback=False).encode("the dog").ids[1] == UNK
    assert made("byte").encode("é").tokens == ["<0xC3>", "<0xA9>"]
    assert made("bpe").encode("the cat").tokens == ["▁the", "▁cat"]
    assert made("unigram").encode("the").tokens == ["▁the"]
    assert made("char").pieces([PAD, BOS, EOS, UNK]) == ["<pad>", "<s>", "</s>", "<unk>"]


def test_spans_are_code_points_of_the_text_given() -> None:
    found = made("char", jamo=True).encode("a학👩")
    assert found.spans == [(0, 1), (1, 2), (1, 2), (1, 2), (2, 3), (2, 3), (2, 3), (2, 3)]
    assert made("bpe").encode("the cat").spans == [(0, 3), (3, 7)]


def test_words_between_white_space() -> None:
    tokenizer = made("char")
    assert tokenizer.words(tokenizer.encode("ab c  d ")) == [0, 0, 1, 1, 2, 2, 2, 2]
    assert tokenizer.words([BOS, *tokenizer.encode("ab c").ids, EOS]) == [0, 1, 1, 2, 2, 3]
    sentence = made("bpe").encode("the cats ᛗ didn't")
    words = made("bpe").words(sentence)
    spans = {word: sentence.text[s:e] for word, (s, e) in zip(words, sentence.spans, strict=True)}
    assert set(spans) == {0, 1, 2, 3}
    assert made("bpe").words([]) == []


def test_ids_outside_the_vocabulary() -> None:
    for index in (-1, made("bpe").size):
        with pytest.raises(DataError, match=f"id {index} is outside a vocabulary"):
            made("bpe").decode([index])


# learning


def test_same_texts_same_bytes_in_another_process(tmp_path: Path) -> None:
    """Hash tables of the library are seeded anew in each process; nothing of that may reach the file."""
    kinds = [TokenizerConfig(scheme=s, jamo=j, vocabulary=600).model_dump() for s in SCHEMES for j in (False, True)]
    script = (
        "import json, sys; from seq2see.text.tokenizer import *\n"
        "kinds, corpus, folder = json.loads(sys.argv[1])\n"
        "for number, kind in enumerate(kinds):\n"
        "    Tokenizer.train(iter(corpus), TokenizerConfig(**kind)).save(f'{folder}/{number}.json')"
    )
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        task = json.dumps([kinds, CORPUS, str(tmp_path / folder)])
        subprocess.run([sys.executable, "-c", script, task], check=True)
    for number in range(len(kinds)):
        assert (tmp_path / f"one/{number}.json").read_bytes() == (tmp_path / f"two/{number}.json").read_bytes()


@every_scheme
def test_never_more_than_the_vocabulary(scheme: Scheme) -> None:
    for vocabulary in (400, 420, 5000):
        assert made(scheme, vocabulary=vocabulary).size <= vocabulary
    assert made(scheme, vocabulary=5000).size < 1000  # a small corpus gives what there is


@every_scheme
def test_vocabulary_too_small_for_the_characters(scheme: Scheme) -> None:
    with pytest.raises(ConfigError, match=r"vocabulary = 259 is too small: \d+ different characters and 260 fixed"):
        Tokenizer.train(CORPUS, TokenizerConfig(scheme=scheme, vocabulary=259))


@every_scheme
def test_no_text_at_all(scheme: Scheme) -> None:
    tokenizer = Tokenizer.train([], TokenizerConfig(scheme=scheme))
    assert tokenizer.decode(tokenizer.encode("still 문장").ids) == "still 문장"


@every_scheme
def test_texts_are_read_one_by_one(scheme: Scheme) -> None:
    def texts() -> Iterator[str]:
        for number in range(2000):
            yield f"text {number % 7}"

    assert Tokenizer.train(texts(), TokenizerConfig(scheme=scheme)).size >= 260


def test_words_are_learned_by_how_often_they_are_seen() -> None:
    texts = ["rare often twice often twice often"]

    def learned(**settings: int) -> set[str]:
        config = TokenizerConfig.model_validate({"scheme": "word", "byte_fallback": False, **settings})
        tokenizer = Tokenizer.train(texts, config)
        return {word for word in texts[0].split() if UNK not in tokenizer.encode(f"often {word}").ids}

    assert learned(vocabulary=600, min_frequency=2) == {"often", "twice"}
    assert learned(vocabulary=600, min_frequency=1) == {"rare", "often", "twice"}
    assert learned(vocabulary=len(SPECIALS) + 1, min_frequency=1) == {"often"}


def test_special_names_cannot_be_learned() -> None:
    hostile = ["<s> <pad> </s> <unk> <s>", *SPECIALS, *BYTES[:9]] * 9
    for scheme in SCHEMES:
        tokenizer = Tokenizer.train(hostile, TokenizerConfig(scheme=scheme, vocabulary=500))
        for text in hostile:
            ids = tokenizer.encode(text).ids
            assert min(ids) > UNK
            assert tokenizer.decode(ids) == text


def test_pair_of_tokenizers() -> None:
    source, target = ["the cat", "the mat"], ["고양이", "고양이"]
    config = TokenizerConfig(vocabulary=300)
    one, same = train_pair(source, target, (config, config), shared=True)
    assert one is same
    assert one.encode("the").tokens == ["▁the"]
    assert one.encode("고양이").tokens == ["▁고양이"]
    left, right = train_pair(iter(source), iter(target), (config, config), shared=False)
    assert left.size != right.size
    assert len(right.encode("the").ids) > 1


def test_settings_that_do_not_fit() -> None:
    for wrong in ({"scheme": "words"}, {"dropout": 1.0}, {"vocabulary": 0}, {"unknown": 1}):
        with pytest.raises(ValidationError):
            TokenizerConfig.model_validate(wrong)
    with pytest.raises(ValidationError, match="use bpe"):
        TokenizerConfig(scheme="unigram", dropout=0.1)
    assert all(field.description for field in TokenizerConfig.model_fields.values())


@every_scheme
@pytest.mark.parametrize("byte_fallback", [True, False])
def test_half_a_surrogate_pair(scheme: Scheme, byte_fallback: bool) -> None:
    tokenizer = made(scheme, byte_fallback=byte_fallback)
    learner = "bpe" if scheme == "byte" else scheme  # bytes are known without reading a text
    for attempt in (
        lambda: tokenizer.encode("a\ud800"),
        lambda: tokenizer.ids_batch(["a\udfff"]),
        lambda: Tokenizer.train(["a\ud800"], TokenizerConfig(scheme=learner)),
    ):
        with pytest.raises(DataError, match="surrogate") as caught:
            attempt()
        assert "\n" not in str(caught.value)


# subword dropout


@given(ANY, st.integers(0, 9), st.floats(0, 0.95))
def test_dropout_is_exact_and_reproducible(text: str, seed: int, dropout: float) -> None:
    for tokenizer in (made("bpe"), made("bpe", jamo=True)):
        text = nfc(text)
        found = tokenizer.encode(text, dropout=dropout, seed=seed)
        assert tokenizer.decode(found.ids) == text
        assert_points_at_text(found, text)
        assert tokenizer.encode(text, dropout=dropout, seed=seed) == found
        assert tokenizer.ids_batch(["other", text], dropout=dropout, seed=seed)[1] == found.ids


@given(ANY)
def test_dropout_of_almost_nothing_is_the_plain_cut(text: str) -> None:
    """Our merge loop and the library's agree."""
    tokenizer = made("bpe")
    assert tokenizer.encode(text, dropout=1e-300) == tokenizer.encode(text)
    assert tokenizer.encode(text, dropout=0.0) == tokenizer.encode(text)


def test_dropout_cuts_smaller_and_depends_on_the_seed() -> None:
    tokenizer, text = made("bpe"), " ".join(CORPUS)
    plain = len(tokenizer.encode(text).ids)
    lengths = [len(tokenizer.encode(text, dropout=dropout).ids) for dropout in (0.1, 0.5, 0.9)]
    assert plain < lengths[0] < lengths[1] < lengths[2]
    assert tokenizer.encode(text, dropout=0.3, seed=1) != tokenizer.encode(text, dropout=0.3, seed=2)


@pytest.mark.parametrize("scheme", ["char", "word", "unigram", "byte"])
def test_dropout_needs_merges(scheme: Scheme) -> None:
    with pytest.raises(ConfigError, match="use bpe"):
        made(scheme).encode("the", dropout=0.1)
    with pytest.raises(ConfigError, match=r"dropout = 1\.5"):
        made("bpe").encode("the", dropout=1.5)


# files


@every_kind
def test_save_and_load(scheme: Scheme, in_jamo: bool, tmp_path: Path) -> None:
    for byte_fallback in (True, False):
        tokenizer = made(scheme, jamo=in_jamo, byte_fallback=byte_fallback)
        tokenizer.save(tmp_path / "t.json")
        loaded = Tokenizer.load(tmp_path / "t.json")
        assert loaded.config == tokenizer.config
        assert loaded.size == tokenizer.size
        assert loaded.encode_batch(CORPUS + ODD) == tokenizer.encode_batch(CORPUS + ODD)
        loaded.save(tmp_path / "again.json")
        assert (tmp_path / "again.json").read_bytes() == (tmp_path / "t.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.json", "t.json"]


def test_failed_save_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "t.json").mkdir()
    with pytest.raises(RunError, match="cannot be written"):
        made("bpe").save(tmp_path / "t.json")
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(RunError) as caught:
        Tokenizer.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


def test_files_that_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    with pytest.raises(RunError, match="cannot be read"):
        Tokenizer.load(path)
    made("bpe").save(path)
    good = path.read_text()
    for junk in (b"", b"{", b"null", b"[]", b"\xff\xfe", b"[" * 200_000, b"9" * 5000, b'{"format": NaN}'):
        refused(path, junk)
    assert "newer" in refused(path, good.replace('"version": 1', '"version": 2', 1).encode())

    def changed(change: str) -> str:
        document = json.loads(good)
        model = document["tokenizer"]["model"]
        exec(change, {"d": document, "t": document["tokenizer"], "m": model, "v": model["vocab"]})
        return refused(path, json.dumps(document).encode())

    assert "special entries" in changed("v['<pad> '], v['<s> '] = 1, 0")
    assert "ids do not count" in changed("v['the'] = 99999999")
    assert "ids do not count" in changed("v['the'] = -1")
    assert "wrong type" in changed("v['the'] = True")
    assert "does not have" in changed("m['merges'].append(['q', 'zz'])")
    assert "wrong type" in changed("m['merges'].append('a b')")
    assert "damaged" in changed("m['merges'].append(['a'])")
    assert "damaged" in changed("v[chr(0xd800)] = len(v)")
    assert "no space" in changed("v['zzzz'] = v.pop(' '); m['merges'].clear()")
    assert "kind BPE" in changed("m['type'] = 'WordPiece'")
    assert "steps" in changed("t['normalizer'] = {'type': 'Lowercase'}")
    assert "steps" in changed("t['added_tokens'] = [{'id': 0, 'content': 'the'}]")
    assert "another way" in changed("t['pre_tokenizer']['pattern'] = {'Regex': '(a*)*b'}")
    assert "damaged" in changed("d['config']['scheme'] = 'rot13'")
    assert "damaged" in changed("d['config']['extra'] = 1")
    assert "kind WordLevel" in changed("d['config'].update(scheme='word', byte_fallback=False)")
    assert "version" in changed("d['version'] = '1'")


def test_panic_of_the_library_is_our_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(*_: object) -> None:
        raise PanicException("called `Option::unwrap()` on a `None` value")

    made("bpe").save(tmp_path / "t.json")
    monkeypatch.setattr("seq2see.text.tokenizer.backend", panic)
    with pytest.raises(RunError, match="library refuses"):
        Tokenizer.load(tmp_path / "t.json")


def mutate(value: object, chance: random.Random) -> object:
    """The same JSON with one place, chosen at random, replaced, dropped or doubled."""
    junk = [None, True, -1, 0, 2**70, 1e308, -1e308, "", "<pad> ", " ", "\ud800", [], {}, [[]], {"": []}, "a" * 99]
    if isinstance(value, dict) and value and chance.random() < 0.9:
        key = chance.choice(list(value))
        changed = {**value, key: mutate(value[key], chance)}
        if chance.random() < 0.2:
            changed[str(chance.choice(junk))] = changed.pop(key)
        return changed
    if isinstance(value, list) and value and chance.random() < 0.9:
        at = chance.randrange(len(value))
        middle = chance.choice([[], [value[at]] * 2, [mutate(value[at], chance)]])
        return [*value[:at], *middle, *value[at + 1 :]]
    return chance.choice(junk)


@every_scheme
def test_mutated_files_load_or_are_refused(scheme: Scheme, tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    tokenizer = made(scheme, vocabulary=400)
    tokenizer.save(path)
    good = path.read_bytes()
    document, refusals = json.loads(good), []
    for seed in range(300):
        chance = random.Random(seed)
        if seed % 3:
            path.write_text(json.dumps(mutate(document, chance)))
        else:
            at = chance.randrange(len(good))
            path.write_bytes(good[:at] + chance.randbytes(chance.randrange(3)) + good[at + chance.randrange(3) :])
        try:
            found = Tokenizer.load(path)
        except RunError as error:
            refusals.append(str(error))
            continue
        found.decode(found.encode("the cat 학교 ᛗ").ids)
    assert len(refusals) > 100
    assert not any("\n" in refusal for refusal in refusals)


# speed


@every_scheme
@pytest.mark.parametrize("unit", ["a", "ᛗ", *(pytest.param(unit, marks=pytest.mark.slow) for unit in ("ab ", " "))])
def test_time_is_linear(scheme: Scheme, unit: str) -> None:
    tokenizer = made(scheme)

    def seconds(count: int) -> float:
        text = (unit * count)[:count]
        start = time.process_time()
        tokenizer.encode(text)
        return time.process_time() - start

    seconds(1000)
    small, large = min(seconds(10_000) for _ in range(3)), min(seconds(40_000) for _ in range(3))
    assert large < 10 * small


def test_dropout_time_is_linear() -> None:
    start = time.process_time()
    made("bpe").encode("the" * 30_000, dropout=0.1)
    assert time.process_time() - start < 5


@pytest.mark.skipif(not MULTI30K.is_dir(), reason="needs the corpus")
@pytest.mark.parametrize("scheme", ["bpe", "word"])
def test_real_text_round_trips(scheme: Scheme) -> None:
    texts = {}
    for side in ("en", "de"):
        with gzip.open(MULTI30K / f"val.{side}.gz", "rt", encoding="utf-8", newline="\n") as file:
            texts[side] = [nfc(line.rstrip("\n")) for line in file]
    config = TokenizerConfig(scheme=scheme, vocabulary=3000)
    both, _ = train_pair(texts["en"], texts["de"], (config, config), shared=True)
    lines = texts["en"] + texts["de"]
    assert [both.decode(ids) for ids in both.ids_batch(lines)] == lines


def test_whole_words_are_not_spelled_in_jamo() -> None:
    """Once every Korean word was unknown to such a vocabulary."""
    texts = ["나는 학생입니다 .", "너는 학생입니다 ."] * 3
    config = TokenizerConfig(scheme="word", jamo=True, byte_fallback=False)
    tokenizer = Tokenizer.train(texts, config)
    assert tokenizer.decode(tokenizer.ids_batch(texts[:1])[0]) == texts[0]


def test_each_side_has_its_own_settings() -> None:
    both = PairTokenizerConfig.model_validate(
        {"vocabulary": 300, "source": {"scheme": "char"}, "target": {"jamo": True}}
    )
    source, target = both.sides
    assert (source.scheme, source.vocabulary, source.jamo) == ("char", 300, False)
    assert (target.scheme, target.vocabulary, target.jamo) == ("bpe", 300, True)
    with pytest.raises(ValidationError, match="source: dropout"):
        PairTokenizerConfig.model_validate({"dropout": 0.1, "source": {"scheme": "char"}})
    with pytest.raises(ConfigError, match="needs the same tokenizer settings"):
        train_pair(["a"], ["b"], both.sides, shared=True)
