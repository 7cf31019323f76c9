"""Required terms that the target vocabulary lacks: put in as they are where attention tells the place, else told."""

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from folders import SOURCES, TARGETS, make_run

import seq2see
from seq2see.engines import Engines
from seq2see.errors import ConfigError
from seq2see.look import AttentionMap
from seq2see.look.intervene.whatif import parse_edits
from seq2see.look.map.side import side_of
from seq2see.search import SearchConfig
from seq2see.session import Request, Translation, Translator
from seq2see.session.bulk import detached
from seq2see.session.constraints import read_constraints
from seq2see.session.documents import FaithfulTranslator
from seq2see.session.terms import NO_ATTENTION, NO_SOURCE, NOT_LOOKED_AT, DecodedText, TermTally, UnknownTerm, fill
from seq2see.text import Tokenizer, TokenizerConfig
from seq2see.vocabulary import UNK

WORDS = TokenizerConfig(scheme="word", vocabulary=300, byte_fallback=False, min_frequency=1)
TEXT = SOURCES[0]  # 나는 학생 입니다 .
TERM = "makgeolli"
LONG = SearchConfig(beam=3, nbest=3, min_length=4)


# ------------------------------------------------------------------------------------------------ where it belongs


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.train(TARGETS, WORDS)


def said(tokenizer: Tokenizer, target: str, looked_at: list[int], source: str = TEXT) -> DecodedText:
    """What spells `target` (words the vocabulary lacks as <unk>), each piece looking at one source word."""
    reading = tokenizer.read(tokenizer.ids_batch([target])[0])
    columns = side_of(Tokenizer.train(SOURCES, WORDS).encode(source))
    weights = np.full((len(reading.ids) + 1, len(columns)), 0.05, dtype=np.float32)
    for row, column in enumerate(looked_at):
        weights[row, column] = 0.8
    return DecodedText(reading, AttentionMap(columns, side_of(reading), "cross", weights[None, None]), whole_words=True)


def put(one: DecodedText, source: str = "학생", taken: set[int] | None = None) -> str | None:
    assert one.attention is not None
    start = one.attention.source.text.index(source)
    place = one.term_place(TERM, [UNK], (start, start + len(source)), taken or set())
    return None if place is None else fill(one.reading.text, [place])[0]


@pytest.mark.parametrize(
    ("target", "looked_at", "filled"),
    [
        ("I am a student .", [0, 2, 2, 1, 3], "I am a makgeolli ."),  # the word that was said for it
        ("I am a wizard .", [0, 2, 2, 1, 3], "I am a makgeolli ."),  # <unk>, which spelled nothing
        ("wizard am I .", [1, 2, 0, 3], "makgeolli am I ."),  # at the beginning, where no space stands before
        ("I am a wizard", [0, 2, 2, 1], "I am a makgeolli"),
        ("student .", [1, 3], "makgeolli ."),
        ("I am a teacher student .", [0, 2, 2, 1, 1, 3], "I am a makgeolli ."),  # words side by side go together
        ("student am a student .", [1, 2, 2, 1, 3], "makgeolli am a student ."),  # words apart do not
        ("wizard", [1], "makgeolli"),
        ("wizard student .", [1, 1, 3], "makgeolli student ."),  # an <unk> comes before a word
        ("I am a student .", [0, 2, 2, 0, 3], None),  # nothing was said for it
        ("I am a student .", [0, 2, 2, 0, 1], None),  # a mark is no word
    ],
)
def test_a_term_takes_the_place_of_what_was_said_for_it(
    tokenizer: Tokenizer, target: str, looked_at: list[int], filled: str | None
) -> None:
    assert put(said(tokenizer, target, looked_at)) == filled


def test_what_has_to_stay_stays(tokenizer: Tokenizer) -> None:
    one = said(tokenizer, "I am a student .", [1, 1, 2, 1, 3])
    assert put(one, taken=one.rows_of("student") | {0}) == "I makgeolli a student ."


def test_where_nothing_looks_mostly_at_it_the_word_goes_that_looks_most(tokenizer: Tokenizer) -> None:
    one = said(tokenizer, "I am a student .", [0, 2, 1, 1, 3])
    assert one.attention is not None
    weights = one.attention.weights.copy()
    weights[0, 0, 2:4] = [[0.2, 0.3, 0.2, 0.2, 0.1], [0.2, 0.35, 0.25, 0.1, 0.1]]
    assert put(replace(one, attention=replace(one.attention, weights=weights))) == "I am a makgeolli ."


def test_marks_around_a_word_stay() -> None:
    cutting = TokenizerConfig(scheme="char", byte_fallback=False)
    letters = Tokenizer.train(["a (beer), b"], cutting)
    reading = letters.read(letters.ids_batch(["a (beer), b"])[0])
    columns = side_of(letters.encode("b a"))
    weights = np.full((len(reading.ids) + 1, len(columns)), 0.1, dtype=np.float32)
    weights[3:7, 0] = 0.9
    one = DecodedText(reading, AttentionMap(columns, side_of(reading), "cross", weights[None, None]), whole_words=False)
    place = one.term_place("맥주", [UNK, UNK], (0, 1), set())
    assert place is not None
    assert fill(reading.text, [place]) == ("a (맥주), b", {"맥주": (3, 5)})


# ------------------------------------------------------------------------------------------------ translators


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for family in ("rnnsearch", "luong", "convs2s", "transformer", "rnn", "bytenet"):
        make_run(folder / family, family, cutting=WORDS, sharp=3.0)
    return folder


def looking(translator: Translator, text: str = TEXT, word: str = "학생") -> Translator:
    """The same, made to look at one source word at its first step, and at another one at all others."""
    other = next(one for one in text.split() if one != word)
    side = side_of(translator.runs[0].tokenizers[0].encode(text))
    steps = [f"1:{word}=1", *(f"{step}:{other}=1" for step in range(2, 40))]
    return translator.what_if(parse_edits(side, ablate=[], force=steps, scale=[]))


def held(translation: Translation) -> bool:
    """Whether every placed term stands where it is said to stand."""
    spans = [term.span for term in translation.unknown_terms if term.span is not None]
    return bool(spans) and all(translation.text[start:end] == TERM for start, end in spans)


@pytest.mark.parametrize("family", ["rnnsearch", "luong", "transformer"])
def test_attention_gives_the_place(runs: Path, family: str) -> None:
    translator = looking(seq2see.load(runs / family))
    free = translator.translate(TEXT, search=LONG)
    found = translator.translate(TEXT, search=LONG, required={"학생": TERM})
    for before, after in zip(free.nbest, found.nbest, strict=True):
        assert after.token_ids == before.token_ids
        if after.tokens[:1] == ("<unk>",):
            assert after.text == f"{TERM} {before.text}"
        else:
            assert after.text.split() == [TERM, *before.text.split()[1:]]
        assert after.unknown_terms == (UnknownTerm(TERM, (0, len(TERM))),)
    told = json.loads(json.dumps(found.as_dict()))
    assert told["unknown_terms"] == [{"text": TERM, "span": [0, len(TERM)], "reason": ""}]
    assert told["nbest"][2]["unknown_terms"] == told["unknown_terms"]
    assert "unknown_terms" not in free.as_dict()


@pytest.mark.parametrize("family", ["rnn", "bytenet"])
def test_without_attention_the_place_is_not_known_and_that_is_told(runs: Path, family: str) -> None:
    translator = seq2see.load(runs / family)
    found = translator.translate(TEXT, required={"학생": TERM})
    assert found.unknown_terms == (UnknownTerm(TERM, None, NO_ATTENTION),)
    assert found.text == translator.translate(TEXT).text


def test_a_term_without_a_source_has_no_place_unless_the_source_holds_it_too(runs: Path) -> None:
    translator = looking(seq2see.load(runs / "rnnsearch"))
    assert translator.translate(TEXT, required=[TERM]).unknown_terms == (UnknownTerm(TERM, None, NO_SOURCE),)
    assert translator.translate(TEXT, search=LONG, required=["학생"]).text.startswith("학생 ")
    assert translator.translate(SOURCES[3], required={"학생": TERM}).unknown_terms == ()


def test_a_source_term_that_the_source_vocabulary_lacks_is_found_in_the_text(runs: Path) -> None:
    text = "나는 막걸리를 읽습니다 ."
    translator = looking(seq2see.load(runs / "rnnsearch"), text, "막걸리를")
    assert translator.runs[0].tokenizers[0].encode(text).ids[1] == UNK
    assert held(translator.translate(text, required={"막걸리": TERM}))


def test_where_nothing_was_said_for_it_an_unk_is_asked_for(runs: Path) -> None:
    """That translation counts only if something in it was said while looking at the source term."""
    translator = looking(seq2see.load(runs / "rnnsearch"))
    assert translator.translate(TEXT).text == ""
    assert held(translator.translate(TEXT, required={"학생": TERM}))
    lost = translator.translate(TEXT, required={"입니다": TERM})
    assert lost.unknown_terms == (UnknownTerm(TERM, None, NOT_LOOKED_AT),)
    assert lost.text == ""
    tight = SearchConfig(max_length=1)  # no room for an <unk>: the first translation stands
    assert translator.translate(TEXT, search=tight, required={"입니다": TERM}).unknown_terms == lost.unknown_terms


def test_known_and_unknown_terms_together(runs: Path) -> None:
    translator = looking(seq2see.load(runs / "rnnsearch"))
    found = translator.translate(TEXT, required={"학생": TERM, "나는": "Seoul"})
    assert "Seoul" in found.text.split()
    assert [term.text for term in found.unknown_terms] == [TERM]
    assert held(found)


def test_an_unknown_prefix_is_put_in_as_it_is(runs: Path) -> None:
    for family in ("rnnsearch", "rnn"):
        translator = seq2see.load(runs / family)
        for prefix in (TERM, f"{TERM} he", f"he {TERM}"):
            found = translator.translate(TEXT, prefix=prefix)
            assert found.text == prefix or found.text.startswith(f"{prefix} ")
            assert found.unknown_terms == (UnknownTerm(prefix, (0, len(prefix))),)
        assert translator.translate(TEXT, prefix="he").unknown_terms == ()


def test_forbidding_an_unknown_term_leaves_other_unknown_words_alone(runs: Path) -> None:
    translator = seq2see.load(runs / "bytenet")
    free = translator.translate(TEXT)
    assert "<unk>" in free.tokens
    assert translator.translate(TEXT, forbidden=[TERM, f"{TERM} wine"]).tokens == free.tokens


def test_what_must_and_must_not_be_said_is_refused(runs: Path) -> None:
    translator = seq2see.load(runs / "rnnsearch")
    with pytest.raises(ConfigError, match="line 1: 'makgeolli wine' has to be said, but 'makgeolli' must not"):
        translator.translate(TEXT, required={"학생": f"{TERM} wine"}, forbidden=[TERM])


def test_a_long_text_gets_the_term_in_the_part_that_asks_for_it(tmp_path: Path) -> None:
    translator = seq2see.load(make_run(tmp_path / "run", "rnnsearch", cutting=WORDS, sharp=3.0, max_length=6))
    text = "  ".join([*SOURCES[1:], TEXT])
    found = translator.translate(text, required={"나는": TERM})
    assert len(found.parts) > 2
    assert [bool(part.unknown_terms) for part in found.parts] == ["나는" in part.source for part in found.parts]
    assert held(found) or found.unknown_terms[0].span is None
    assert "".join(part.text for part in found.parts) == found.text


class Steps:
    """An engine that computes steps and has no map to give, as those of ONNX Runtime."""

    def __init__(self, model: Any) -> None:
        self.encode, self.start, self.step = model.encode, model.start, model.step


def test_ensembles_engines_and_workers(runs: Path) -> None:
    request = Request(TEXT, required=(TERM,), origins={TERM: re.compile("나는")})
    both = seq2see.load([runs / "rnnsearch", runs / "transformer"])
    engines = Engines(both.runs[:1])
    engines._made["torch"] = (Steps(both.runs[0].model),)  # type: ignore[assignment]
    other = Translator(both.runs[:1], engines)
    for translator in (both, other):
        (found,) = translator.translate_all([request], SearchConfig(beam=2, nbest=2))
        assert [term.text for term in found.unknown_terms] == [TERM]
        assert held(found) or found.unknown_terms[0].reason == NOT_LOOKED_AT
        assert detached(found).unknown_terms == found.unknown_terms


# ------------------------------------------------------------------------------------------------ files and reports


def test_a_line_of_constraints_may_name_the_source(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"required": {"학생": "makgeolli", "책": "book"}}\n')
    request = read_constraints(path).request(TEXT, 0)
    assert request.required == (TERM,)
    assert request.origins[TERM].search(TEXT)


def test_one_line_for_each_term() -> None:
    tally = TermTally()
    for number in range(1, 6):
        tally.add(number, [UnknownTerm("a", (0, 1))])
    tally.add(7, [UnknownTerm("a", None, NOT_LOOKED_AT), UnknownTerm("b", None, NO_SOURCE)])
    assert tally.warnings() == [
        f"the target vocabulary lacks 'a'; put in as it is in 5 lines (1, 2, 3, ...); NOT in the translation of line "
        f"7: {NOT_LOOKED_AT}",
        f"the target vocabulary lacks 'b'; NOT in the translation of line 7: {NO_SOURCE}",
    ]


def test_documents_count_terms_but_not_placeholders(runs: Path) -> None:
    faithful = FaithfulTranslator(
        seq2see.load(runs / "rnn"), SearchConfig(), read_constraints(None, prefix=TERM), agree=False
    )
    list(faithful([f"{TEXT} %s", TEXT]))
    assert faithful.terms.placed == {TERM: [1, 2]}
    assert faithful.terms.missing == {}


def seq2see_command(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    from seq2see.cli import main

    monkeypatch.setattr(sys, "argv", ["seq2see", *map(str, arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    return int(ended.value.code or 0)


@pytest.mark.parametrize(("family", "code"), [("rnnsearch", 0), ("rnn", 1)])
def test_the_command_line_says_it(
    runs: Path,
    tmp_path: Path,
    family: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "in.txt").write_text(f"{SOURCES[3]}\n{TEXT}\n")
    (tmp_path / "in.po").write_text(f'msgid ""\nmsgstr ""\n\nmsgid "{TEXT}"\nmsgstr ""\n')
    (tmp_path / "terms.tsv").write_text(f"나는\t{TERM}\n입니다\t{TERM}\n")
    for name in ("in.txt", "in.po"):
        given = [
            runs / family,
            tmp_path / name,
            "--constraints",
            tmp_path / "terms.tsv",
            "-o",
            tmp_path / f"{name}.out",
        ]
        assert seq2see_command(monkeypatch, "translate", *given) == code
        warnings = [line for line in capsys.readouterr().err.splitlines() if "warning" in line]
        (warning,) = warnings
        assert warning.startswith(f"seq2see: warning: the target vocabulary lacks '{TERM}'; ")
        assert (TERM in (tmp_path / f"{name}.out").read_text()) == (code == 0)
        assert ("NOT in the translation of" in warning) == (code == 1)
        assert ("line 2" if name == "in.txt" else "segment 1") in warning
