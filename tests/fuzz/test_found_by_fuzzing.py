"""Inputs that fuzzing found: each did harm once."""

import json
from pathlib import Path

import pytest

from seq2see.data.sources import read_links
from seq2see.errors import ConfigError, DataError
from seq2see.evaluate.alignment import read_gold
from seq2see.formats import open_document
from seq2see.formats.documents import wrapping
from seq2see.formats.documents.translating import translate_document
from seq2see.formats.pairs import read_pairs
from seq2see.look.map.files import load
from seq2see.runs.config import parse_changes, read_toml
from seq2see.session.constraints import read_constraints
from seq2see.speech.corpus.sources import Utterance, references

etree = pytest.importorskip("lxml.etree")
pytest.importorskip("soundfile")

XLIFF = """<xliff version="1.2"><file source-language="en" original="a"><body><trans-unit id="1">
<source>One. Two.</source><seg-source>{}</seg-source></trans-unit></body></file></xliff>"""


def test_a_marked_sentence_inside_a_marked_sentence_gives_well_formed_targets(tmp_path: Path) -> None:
    mark = '<mrk mtype="seg" mid="{}">'
    nested = f"{mark.format(0)}One {mark.format(1)}and</mrk> two.</mrk> {mark.format(2)}Three.</mrk>"
    (tmp_path / "a.xlf").write_text(XLIFF.format(nested))
    translate_document(
        open_document(tmp_path / "a.xlf"), lambda texts: [text.upper() for text in texts], tmp_path / "b.xlf"
    )
    target = etree.parse(tmp_path / "b.xlf").find(".//target")
    assert target is not None
    assert [(mark.get("mid"), "".join(mark.itertext())) for mark in target.iter("mrk")] == [
        ("0", "ONE AND TWO."),
        ("1", "AND"),
        ("2", "THREE."),
    ]


def test_a_target_for_a_file_in_ascii_is_written_in_references(tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_text("<?xml version='1.0' encoding='US-ASCII'?>\n" + XLIFF.format("One."))
    translate_document(open_document(tmp_path / "a.xlf"), lambda texts: ["하나." for _ in texts], tmp_path / "b.xlf")
    assert etree.parse(tmp_path / "b.xlf").findtext(".//target") == "하나."


DEEP = "[" * 100_000


def test_a_recipe_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f"a = {DEEP}")
    with pytest.raises(ConfigError, match="nested"):
        read_toml(tmp_path / "a.toml")


def test_a_setting_that_is_nested_without_end_is_a_text() -> None:
    assert parse_changes([f"training.steps={DEEP}"]) == {"training": {"steps": DEEP}}


@pytest.mark.parametrize(
    "line",
    [
        '{"name": 1, "text": "a", "manner": ["en", "m1", 50, 175]}',
        '{"name": "a", "text": 2, "manner": ["en", "m1", 50, 175]}',
        '{"name": "a", "text": "b"}',
    ]
    + [f'{{"name": "a", "text": "b", "manner": {manner}}}' for manner in ("[]", "7", '"en"', DEEP)],
)
def test_a_plan_of_speech_with_other_values_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "plan.jsonl").write_text(line + "\n")
    from seq2see.speech.corpus import teacher

    with pytest.raises(DataError, match="delete it"):
        teacher.read_plan(tmp_path)


@pytest.mark.parametrize("name", ["b" * 5000, "\0", "b/" * 5000])
def test_a_recording_with_a_name_that_no_file_can_have_is_missing(tmp_path: Path, name: str) -> None:
    (tmp_path / "corpus.tsv").write_text(f"{name}\thello\n")
    (tmp_path / "lj").mkdir()
    (tmp_path / "lj" / "metadata.csv").write_text(f"{name}|hello\n")
    from seq2see.speech.corpus.sources import read_corpus

    for corpus in ("corpus.tsv", "lj"):
        with pytest.raises(DataError, match="no recording"):
            read_corpus(str(tmp_path / corpus))


@pytest.mark.parametrize("encoding", ["utf-32", "utf-32-le", "utf-32-be"])
def test_an_exchange_file_in_four_bytes_a_letter_is_refused(tmp_path: Path, encoding: str) -> None:
    """Cut into two bytes a letter it is full of NULs, and the parser takes those for UTF-16."""
    (tmp_path / "a.xlf").write_bytes(XLIFF.format("One.").encode(encoding))
    with pytest.raises(DataError):
        list(open_document(tmp_path / "a.xlf").parts())


def test_an_exchange_file_in_utf_16_that_begins_with_a_blank_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_bytes(("\n" + XLIFF.format("One.")).encode("utf-16-le"))
    with pytest.raises(DataError, match="NUL"):
        list(open_document(tmp_path / "a.xlf").parts())


def test_a_target_has_the_prefix_of_its_unit(tmp_path: Path) -> None:
    """That of the source may be known to the source alone."""
    name = "urn:oasis:names:tc:xliff:document:1.2"
    unit = f'<trans-unit id="1"><x:source xmlns:x="{name}">One.</x:source></trans-unit>'
    (tmp_path / "a.xlf").write_text(f'<xliff version="1.2" xmlns="{name}"><file><body>{unit}</body></file></xliff>')
    translate_document(open_document(tmp_path / "a.xlf"), lambda texts: ["하나." for _ in texts], tmp_path / "b.xlf")
    assert etree.parse(tmp_path / "b.xlf").findtext(f".//{{{name}}}target") == "하나."


@pytest.mark.parametrize("lines", [1, 2, 7])
@pytest.mark.parametrize("width", [1, 5, 9, 12, 40])
def test_lines_of_a_cue_are_balanced_as_if_every_number_of_lines_were_tried(lines: int, width: int) -> None:
    """All of them were, which took minutes for a cue of some thousand lines."""
    for text in ("one two three four five six", "가나다 라마바사 아자차카", "a <b>bold</b> word of several", "x" * 30):
        words = wrapping._words(text)
        tried = [wrapping._evenly(words, count) for count in range(1, lines + 1)]
        fitting = [some for some in tried if max(map(wrapping.visible_columns, some)) <= width]
        assert wrapping.balanced(text, lines, width) == (fitting or tried[-1:])[0]


def test_a_cue_of_thousands_of_lines_is_set_in_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    evenly = wrapping._evenly
    monkeypatch.setattr(wrapping, "_evenly", lambda words, count: calls.append(count) or evenly(words, count))
    assert len(wrapping.balanced("word " * 3000, 3000, 9)) == 1500
    assert len(calls) == 1


def test_messages_quote_little(tmp_path: Path) -> None:
    name = "a" * 50_000
    (tmp_path / "a.tmx").write_text(
        f'<tmx><header srclang="ko"/><body><tu><tuv lang="{name}"><seg>a</seg></tuv></tu></body></tmx>'
    )
    (tmp_path / "a.jsonl").write_text(f'{{"{name}": 1}}\n')
    with pytest.raises(DataError, match="no unit holds") as told:
        list(read_pairs(tmp_path / "a.tmx"))
    assert len(str(told.value)) < 1000
    with pytest.raises(DataError, match="is not one of") as told:
        read_constraints(tmp_path / "a.jsonl").request("a", 0)
    assert len(str(told.value)) < 1000


def test_a_recipe_with_a_number_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(f"a = {'1' * 5000}\n")
    with pytest.raises(ConfigError, match="TOML"):
        read_toml(tmp_path / "a.toml")
    assert parse_changes([f"training.steps={'1' * 5000}"]) == {"training": {"steps": "1" * 5000}}


def test_a_link_of_thousands_of_digits_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a link"):
        read_links(f"0-{'1' * 5000}", tmp_path / "links", 1)


def test_half_a_surrogate_pair_in_a_constraint_is_refused(tmp_path: Path) -> None:
    for line in (r'{"prefix": "\ud800"}', r'{"required": ["a\udc00"]}', r'{"required": {"\ud800": "a"}}'):
        (tmp_path / "a.jsonl").write_text(line + "\n")
        with pytest.raises(DataError, match="surrogate"):
            read_constraints(tmp_path / "a.jsonl").request("a", 0)


def test_a_map_with_a_long_name_of_its_level_is_refused_in_few_words(tmp_path: Path) -> None:
    frame = {"format": "seq2see attention map", "version": 2, "level": "p" * 50_000}
    (tmp_path / "map.json").write_text(json.dumps(frame))
    with pytest.raises(DataError) as refusal:
        load(tmp_path / "map.json")
    assert len(str(refusal.value)) < 1600


def test_empty_lines_of_an_alignment_take_no_memory_each(tmp_path: Path) -> None:
    (tmp_path / "gold").write_text("\n" * 1000)
    assert len({id(one) for one in read_gold(tmp_path / "gold")}) == 1


def test_no_message_is_too_long_to_be_read() -> None:
    text = str(DataError("no such letter: " + "a" * 100_000 + "; use another", path="corpus.tsv", line=3))
    assert len(text) < 1600
    assert text.startswith("corpus.tsv:3: no such letter")
    assert text.endswith("use another")


@pytest.mark.parametrize("texts", ["ab", "aab", "abb", "aabbba", "abcabc", "aaaab"])
def test_a_reference_is_the_next_utterance_of_another_text(texts: str) -> None:
    """The list was turned anew for every utterance, which took minutes for 30,000 of them."""
    utterances = [Utterance(Path(f"{place}.wav"), text, str(place), {}) for place, text in enumerate(texts)]
    for place, reference in enumerate(references(utterances)):
        turned = [*utterances[place + 1 :], *utterances[:place]]
        assert reference == next(one for one in turned if one.text != texts[place])
