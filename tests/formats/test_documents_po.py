"""Catalogues translated in place: what is filled, what is flagged, and that nothing else changes by a byte."""

import gettext
import gzip
import operator
import shutil
import subprocess
from difflib import ndiff
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from seq2see.errors import DataError
from seq2see.formats import open_document
from seq2see.formats.documents.directives import fit_for_program
from seq2see.formats.documents.frame import settled
from seq2see.formats.documents.placeholders import faithful
from seq2see.formats.documents.plurals import _parsed, plural_forms
from seq2see.formats.documents.translating import Outcome, translate_document, translated_bytes
from seq2see.formats.documents.wrapping import columns
from seq2see.formats.pair import Languages
from seq2see.formats.po import _unquote, quoted_lines, read_po

polib = pytest.importorskip("polib")

CATALOGUE = """\
# A catalogue
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#. A note
#: a.c:1
#, c-format
msgctxt "menu"
msgid   "Open %s"
msgstr ""

#: b.c:1
#, fuzzy, c-format
#| msgid "Clos %s"
msgid "Close %s"
msgstr "schl %s"

#: b.c:2
#| msgid "an old one"
msgid "New"
msgstr   ""

msgid "One file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

msgid "Done"
msgstr "Fertig"

msgid ""
"Two lines\\n"
"of text.\\n"
msgstr ""

#, fuzzy
#~ msgid "gone"
#~ msgstr "weg"

#~ msgid "gone, too"
#~ msgstr "auch weg"

msgid "<b>Last</b>"
msgstr ""
"""


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def translated(path: Path, translate=lambda texts: [text.upper() for text in texts], **options) -> str:
    data = b"".join(translated_bytes(open_document(path, **options), translate, Outcome()))
    write(path.with_name(f"out.{path.name}"), data)
    return data.decode()


def changes(before: str, after: str) -> tuple[list[str], list[str]]:
    """Lines taken out and lines put in, in order."""
    lines = list(ndiff(before.splitlines(), after.splitlines()))
    return [line[2:] for line in lines if line[0] == "-"], [line[2:] for line in lines if line[0] == "+"]


FILLED = [
    "#, fuzzy, c-format",
    'msgstr "OPEN %s"',
    'msgstr "CLOSE %s"',
    "#, fuzzy",
    'msgstr   "NEW"',
    "#, fuzzy",
    'msgstr[0] "ONE FILE"',
    'msgstr[1] "%d FILES"',
    "#, fuzzy",
    '"TWO LINES\\n"',
    '"OF TEXT.\\n"',
    "#, fuzzy",
    'msgstr "<b>LAST</b>"',
]


def test_only_translations_and_flags_change(tmp_path):
    after = translated(write(tmp_path / "a.po", CATALOGUE))
    removed, added = changes(CATALOGUE, after)
    assert added == FILLED
    assert removed == [
        "#, c-format",
        'msgstr ""',
        'msgstr "schl %s"',
        'msgstr   ""',
        'msgstr[0] ""',
        'msgstr[1] ""',
        'msgstr ""',
    ]
    lines = after.splitlines()
    assert lines[lines.index('#| msgid "an old one"') - 1] == "#, fuzzy"  # flags stand above the previous message


def test_the_result_means_the_same_to_another_reader(tmp_path):
    translated(write(tmp_path / "a.po", CATALOGUE))
    catalogue = polib.pofile(str(tmp_path / "out.a.po"))
    assert {entry.msgid: entry.msgstr or entry.msgstr_plural for entry in catalogue if not entry.obsolete} == {
        "Open %s": "OPEN %s",
        "Close %s": "CLOSE %s",
        "New": "NEW",
        "One file": {0: "ONE FILE", 1: "%d FILES"},
        "Done": "Fertig",
        "Two lines\nof text.\n": "TWO LINES\nOF TEXT.\n",
        "<b>Last</b>": "<b>LAST</b>",
    }
    assert [entry.msgid for entry in catalogue if not entry.fuzzy and not entry.obsolete] == ["Done"]
    assert len(catalogue.obsolete_entries()) == 2
    assert catalogue.find("New").previous_msgid == "an old one"


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["a.po", "a.po.gz"])
def test_line_ends_marks_and_packing_stay(tmp_path, ending, mark, name):
    content = mark + CATALOGUE.replace("\n", ending)
    after = translated(write(tmp_path / name, content.encode()))
    assert after.startswith(mark + "# A catalogue" + ending)
    assert after.count("\n") == after.count(ending)
    assert changes(content, after)[1] == FILLED
    unended = translated(write(tmp_path / name, content.removesuffix(ending).encode()))
    assert unended == after.removesuffix(ending)


def test_a_mark_stays_first_before_a_new_flag(tmp_path):
    assert translated(write(tmp_path / "a.po", '\ufeffmsgid "a"\nmsgstr ""')) == '\ufeff#, fuzzy\nmsgid "a"\nmsgstr "A"'


def test_without_review_the_flag_goes(tmp_path):
    path = write(tmp_path / "a.po", CATALOGUE.replace("#, fuzzy, c-format", "#, c-format, fuzzy,python-format"))
    after = translated(path, review=False)
    assert "#, c-format, python-format\n#| msgid" in after
    assert after.count("fuzzy") == 1  # of the obsolete entry
    assert 'msgstr "Fertig"' in after
    alone = translated(write(tmp_path / "b.po", '#: a\n#, fuzzy\nmsgid "a"\nmsgstr "x"\n'), review=False)
    assert alone == '#: a\nmsgid "a"\nmsgstr "A"\n'


def test_existing_translations_are_replaced_only_when_asked(tmp_path):
    path = write(tmp_path / "a.po", CATALOGUE)
    assert 'msgstr "DONE"' not in translated(path)
    replaced = translated(path, existing="replace")
    assert '#, fuzzy\nmsgid "Done"\nmsgstr "DONE"\n' in replaced
    again = write(tmp_path / "b.po", replaced)
    assert translated(again, existing="replace") == replaced


def test_a_translation_of_several_lines_is_replaced_as_a_whole(tmp_path):
    text = '#, fuzzy\nmsgid "a"\nmsgstr ""\n"old\\n"\n"older"\n\nmsgid "b"\nmsgstr "kept"\n'
    assert translated(write(tmp_path / "a.po", text)) == text.replace('""\n"old\\n"\n"older"', '"A"')


def test_no_translation_leaves_the_entry_alone(tmp_path):
    path = write(tmp_path / "a.po", CATALOGUE)
    assert translated(path, lambda texts: ["" for _ in texts]) == CATALOGUE


MSGFMT_HEADER = "".join(
    f'"{name}: {value}\\n"\n'
    for name, value in {
        "Project-Id-Version": "x",
        "PO-Revision-Date": "2026-01-01 00:00+0000",
        "Last-Translator": "x <x@example.org>",
        "Language-Team": "x",
        "Language": "ru",
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);",
    }.items()
)
MESSAGES = """
#, c-format
msgid "Copied %s to %d places, 100%% done\\n"
msgstr ""

#, c-format
msgid "One file"
msgid_plural "%d files"
msgstr[0] ""
msgstr[1] ""

#, c-format
msgid "\\n  Usage: %s [options]\\n  -h  help\\n"
msgstr ""

#, python-format
msgid "%(n)d of %(m)s"
msgstr ""

#, no-c-format
msgid "all"
msgstr ""
"""


@pytest.mark.parametrize(
    ("flags", "source", "translation", "expected"),
    [
        ("#, c-format", "Copied %s to %d places", "%d곳에 %s 복사", "%2$d곳에 %1$s 복사"),
        ("#, fuzzy, c-format", "%s %d %s", "%d %s %s", "%2$d %1$s %3$s"),
        ("#, c-format", "%s and %s", "%s %s", "%s %s"),  # whether equal ones changed places cannot be seen
        ("#, c-format", "%m: %s", "%s: %m", "%s: %m"),
        ("#, c-format", "%2$s %1$d", "%1$d %2$s", "%1$d %2$s"),
        ("#, c-format", "%*d of %s", "%s %*d", "%*d %s"),
        ("#, python-format", "%s: %d", "%d: %s", "%s: %d"),
        ("#, python-format", "%(a)s: %(b)d", "%(b)d: %(a)s", "%(b)d: %(a)s"),
        ("#, c-format", "50 percent", "50% und 50％", "50%% und 50％"),
        ("#, no-c-format", "Copied %s to %d", "%d %s 5%", "%d %s 5%"),
        ("", "Copied %s to %d", "%d %s 5%", "%d %s 5%"),
    ],
)
def test_directives_of_a_format_keep_their_arguments(flags, source, translation, expected):
    assert fit_for_program(source, translation, flags) == expected


@pytest.mark.parametrize(
    ("source", "translation", "flags", "expected"),
    [
        ("{n} files", "}x{ {n} 파일", "#, python-brace-format", "x {n} 파일"),
        ("{n} files", "{ {n} } 파일", "#, fuzzy, python-brace-format", " {n}  파일"),
        ("{n} files", "{n} 파일 {m}", "#, python-brace-format", "{n} 파일 m"),
        ("plain", "}x{", "#, python-brace-format", "x"),
        ("{{literal}} {n}", "{{글자}} {n}", "#, python-brace-format", "{{글자}} {n}"),
        ("{a:{width}} {b!r:>5}", "{b!r:>5} } {a:{width}}", "#, python-brace-format", "{b!r:>5}  {a:{width}}"),
        ("{0} of {1}", "{1} 중 {0}{", "#, csharp-format", "{1} 중 {0}"),
        ("{} of {}", "{} 중 {}}", "#, c++-format", "{} 중 {}"),
        ("lone {", "혼자 {", "#, python-brace-format", "혼자 {"),
        ("{n} files", "}x{ {n}", "#, no-python-brace-format", "}x{ {n}"),
        ("{n} files", "}x{ {n}", "", "}x{ {n}"),
        ("%d {n}", "50% }%d{ {n}", "#, python-brace-format, c-format", "50%% %d {n}"),
    ],
)
def test_lone_braces_do_not_break_a_program(source, translation, flags, expected):
    assert fit_for_program(source, translation, flags) == expected


@given(st.text("{}nx0 가", max_size=20), st.sampled_from(["{n} files", "{0} {x}", "none", "{{n}} {n}"]))
def test_any_translation_of_a_brace_format_can_be_formatted(words, source):
    result = fit_for_program(source, settled(source, words + source), "#, python-brace-format")
    fields = [field for _, field, _, _ in Formatter().parse(source) if field is not None]
    assert sorted(field for _, field, _, _ in Formatter().parse(result) if field is not None) == sorted(fields)


def test_a_catalogue_of_brace_formats(tmp_path):
    path = tmp_path / "a.po"
    path.write_text('#, python-brace-format\nmsgid "{name} was saved"\nmsgstr ""\n')
    data = b"".join(translated_bytes(open_document(path), lambda texts: ["}x{ {name} 저장"], Outcome())).decode()
    assert 'msgstr "x {name} 저장"' in data


@pytest.mark.parametrize(
    "translate",
    [
        lambda text: text,
        str.upper,
        lambda text: "перевод текста",
        lambda text: "%q {x} %d %s 100% 50 % %",
        str.swapcase,
    ],
)
def test_a_strict_compiler_accepts_any_translation(tmp_path, translate):
    path = write(tmp_path / "a.po", f'msgid ""\nmsgstr ""\n{MSGFMT_HEADER}{MESSAGES}')
    after = translated(path, lambda texts: [translate(text) for text in texts], review=False)
    if translate("all") == "%q {x} %d %s 100% 50 % %":
        assert after.endswith('msgid "all"\nmsgstr "%q 100% 50 % %"\n')  # flagged to be no format: left alone
    if (msgfmt := shutil.which("msgfmt")) is None:
        pytest.skip("msgfmt of gettext is not installed")
    command = [msgfmt, "--check", "-o", "/dev/null", str(tmp_path / "out.a.po")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stderr) == (0, "")


def test_segments_tell_where_they_come_from(tmp_path):
    first, *_ = open_document(write(tmp_path / "a.po", CATALOGUE)).segments()
    assert (first.id, first.text, first.context, first.line) == ("Open %s", "Open %s", "menu", 10)
    last = CATALOGUE.splitlines().index('msgid "<b>Last</b>"') + 1
    assert [segment.line for segment in open_document(tmp_path / "a.po").segments()] == [10, 17, 22, 25, 33, last]


def test_outcome_counts(tmp_path):
    path = write(tmp_path / "a.po", CATALOGUE)
    outcome = translate_document(open_document(path), lambda texts: texts, tmp_path / "out.po")
    assert (outcome.translated, outcome.kept, outcome.repaired) == (6, 1, 0)
    outcome = translate_document(open_document(path), lambda texts: ["x" for _ in texts], tmp_path / "out.po")
    assert outcome.repaired == 3  # two %s and one %d; <b> is not shown to the translator


# ---------------------------------------------------------------------------------------------------- plural forms

RUSSIAN = "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : 2);"
ARABIC = "nplurals=6; plural=n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5;"
SLOVENE = "nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0);"
KOREAN, GERMAN, FRENCH = "nplurals=1; plural=0;", "nplurals=2; plural=n != 1;", "nplurals=2; plural=(n > 1);"


def forms(tmp_path, rule: str | None, singular: str, plural: str, present: int) -> dict[int, str]:
    header = f'msgid ""\nmsgstr "Plural-Forms: {rule}\\n"\n\n' if rule else ""
    empty = "".join(f'msgstr[{form}] ""\n' for form in range(present))
    path = write(tmp_path / "a.po", f'{header}msgid "{singular}"\nmsgid_plural "{plural}"\n{empty}')
    translated(path, lambda texts: texts)
    return dict(polib.pofile(str(tmp_path / "out.a.po"))[0].msgstr_plural)


def test_one_form_serves_every_number(tmp_path):
    assert forms(tmp_path, KOREAN, "One file", "%d files", 1) == {0: "%d files"}
    assert forms(tmp_path, KOREAN, "%d file", "%d files", 1) == {0: "%d files"}
    assert forms(tmp_path, None, "One file", "%d files", 1) == {0: "%d files"}


def test_the_form_for_one_comes_from_the_singular(tmp_path):
    assert forms(tmp_path, GERMAN, "One file", "%d files", 2) == {0: "One file", 1: "%d files"}
    assert forms(tmp_path, None, "One file", "%d files", 2) == {0: "One file", 1: "%d files"}
    arabic = forms(tmp_path, ARABIC, "One file", "%d files", 6)
    assert arabic == {form: "One file" if form == 1 else "%d files" for form in range(6)}
    assert forms(tmp_path, SLOVENE, "%d file", "%d files", 4)[1] == "%d file"


def test_one_is_not_said_of_twenty_one_or_of_none(tmp_path):
    for rule, count in ((RUSSIAN, 3), (FRENCH, 2), (SLOVENE, 4)):
        assert set(forms(tmp_path, rule, "One file", "%d files", count).values()) == {"%d files"}
        assert list(forms(tmp_path, rule, "%d file", "%d files", count).values()).count("%d file") == 1


def test_forms_that_the_header_asks_for_are_added(tmp_path):
    assert forms(tmp_path, RUSSIAN, "%d file", "%d files", 2) == {0: "%d file", 1: "%d files", 2: "%d files"}


def test_forms_are_added_behind_a_last_line_without_an_end(tmp_path):
    header = f'msgid ""\nmsgstr "Plural-Forms: {RUSSIAN}\\n"\n\n'
    text = header + 'msgid "a"\nmsgid_plural "b"\nmsgstr[1] "kept"'
    after = translated(write(tmp_path / "a.po", text))
    assert after.endswith('msgid_plural "b"\nmsgstr[1] "kept"\nmsgstr[0] "A"\nmsgstr[2] "B"')
    replaced = translated(tmp_path / "a.po", existing="replace")
    assert replaced.endswith('msgid_plural "b"\nmsgstr[1] "B"\nmsgstr[0] "A"\nmsgstr[2] "B"')


def test_a_form_that_is_there_is_kept(tmp_path):
    text = 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "kept"\nmsgstr[1] ""\n'
    assert translated(write(tmp_path / "a.po", text)) == (
        '#, fuzzy\nmsgid "a"\nmsgid_plural "b"\nmsgstr[0] "kept"\nmsgstr[1] "B"\n'
    )


@pytest.mark.parametrize("rule", [RUSSIAN, ARABIC, SLOVENE, KOREAN, GERMAN, FRENCH])
def test_rules_mean_what_gettext_says(rule):
    forms = plural_forms(f"Plural-Forms: {rule}\n")
    chosen = gettext.c2py(rule.partition("plural=")[2].rstrip(";"))
    assert forms is not None
    assert forms.one == chosen(1)
    assert forms.only_one == all(chosen(number) != chosen(1) for number in range(1001) if number != 1)


OPERATORS = {
    "+": operator.add,
    "*": operator.mul,
    "%": operator.mod,
    "/": operator.floordiv,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "&&": lambda left, right: bool(left and right),
    "||": lambda left, right: bool(left or right),
}
expressions = st.recursive(
    st.sampled_from([("n", lambda n: n), *((str(k), lambda n, k=k: k) for k in (0, 1, 2, 10))]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(list(OPERATORS)), inner).map(
            lambda t: (f"({t[0][0]}) {t[1]} ({t[2][0]})", lambda n: int(OPERATORS[t[1]](t[0][1](n), t[2][1](n))))
        ),
        st.tuples(inner, inner, inner).map(
            lambda t: (f"({t[0][0]})?{t[1][0]}:{t[2][0]}", lambda n: t[1][1](n) if t[0][1](n) else t[2][1](n))
        ),
        inner.map(lambda part: (f"!({part[0]})", lambda n: int(not part[1](n)))),
    ),
    max_leaves=8,
)


@given(expressions, st.integers(0, 1000))
def test_expressions_are_computed_as_in_c(expression, number):
    text, reference = expression
    try:
        expected = reference(number)
    except ZeroDivisionError:
        return
    assert int(_parsed(text)(number)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [("1 + 2 * 3 == 7 && 2 > 1", 1), ("10 - 2 - 3", 5), ("0 || 1 && 0", 0), ("1 ? 2 : 0 ? 3 : 4", 2), ("!0 + 1", 2)],
)
def test_operators_bind_as_in_c(text, value):
    assert int(_parsed(text)(0)) == value


@pytest.mark.parametrize(
    "rule",
    [
        *("", "nplurals=INTEGER; plural=EXPRESSION;", "nplurals=0; plural=0;", "nplurals=99; plural=0;"),
        *(f"nplurals=2; plural={rule};" for rule in ("n !=", "n%0", "n", "(n", "n)", "n ? 1", "n n", "2", "", "1:0")),
        *(f"nplurals=2; plural={rule};" for rule in ("__import__('os')", "(" * 5000 + "n", "!" * 5000 + "n")),
    ],
)
def test_rules_that_say_nothing(rule):
    assert plural_forms(f"Language: xx\nPlural-Forms: {rule}\n") is None


# ---------------------------------------------------------------------------------------------------- odd texts


def test_long_texts_are_broken_as_their_message_is(tmp_path):
    wrapped = 'msgid ""\n"' + "word " * 14 + '"\n"' + "word " * 9 + 'end"\nmsgstr ""\n'
    lines = translated(
        write(tmp_path / "a.po", wrapped), lambda texts: ["번역문 " * 40 + "끝"] * len(texts)
    ).splitlines()
    new = lines[lines.index('msgstr ""') + 1 :]
    assert len(new) > 3
    assert all(columns(line) <= 79 for line in new)
    long = 'msgid "' + "word " * 30 + 'end"\nmsgstr ""\n'
    assert translated(write(tmp_path / "b.po", long)).count("\n") == 3


@given(st.text(st.characters(codec="utf-8")), st.sampled_from([0, 79]))
@example("\x011", 0)  # an escape by number must not swallow the digit behind it
def test_any_text_can_be_written_and_read(text, width):
    lines = quoted_lines("msgstr ", text, width)
    assert not any("\n" in line for line in lines)
    parts = [lines[0].removeprefix("msgstr "), *lines[1:]]
    assert "".join(_unquote(part, Path("x"), 1) for part in parts) == text


texts = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    ["%s of %d\n", "<b>a</b>\n<i>b</i>", "\n\n a\t", "{0}", "a\r\nb", '"', "\\", "\\n", " ", "x" * 5000, "#, fuzzy"]
)
entries = st.tuples(texts.filter(bool), st.none() | texts, st.none() | texts, st.booleans(), st.sampled_from(["", "c"]))


def skeleton(content: str) -> list[str]:
    """The lines of a catalogue without its translations and without the flag fuzzy."""
    lines, inside = [], False
    for line in content.split("\n"):
        inside = line.startswith("msgstr") or (inside and line.startswith('"'))
        line = line.replace("#, fuzzy, ", "#, ") if line.startswith("#,") else line
        if not inside and line.strip() != "#, fuzzy":
            lines.append(line)
    return lines


@given(st.lists(entries, max_size=6), st.booleans(), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\ufeff"]))
def test_any_catalogue_is_translated_and_nothing_else_changes(tmp_path_factory, rows, ended, ending, mark):
    folder = tmp_path_factory.getbasetemp() / "po"
    folder.mkdir(exist_ok=True)
    lines = ["# comment"]
    for message, plural, translation, fuzzy, context in rows:
        lines += ["#: a.c", *(["#, fuzzy, c-format"] * fuzzy)]
        lines += quoted_lines("msgctxt ", context, 0) if context else []
        lines += quoted_lines("msgid ", message, 0)
        lines += quoted_lines("msgid_plural ", plural, 0) if plural is not None else []
        lines += quoted_lines("msgstr[0] " if plural is not None else "msgstr ", translation or "", 79)
        lines += ["", '#~ msgid "old"']
    content = mark + ending.join(lines) + (ending if ended else "")
    path = write(folder / "a.po", content)
    sources = [message if plural is None else plural for message, plural, *_ in rows]

    for translate in (lambda texts: texts, lambda texts: [text.upper() for text in texts]):
        for review in (True, False):
            after = translated(path, translate, existing="replace", review=review)
            assert skeleton(after) == skeleton(content)
        assert [
            segment.text for segment in open_document(folder / "out.a.po", existing="replace").segments()
        ] == sources
        expected = [
            source or translation or ""
            for (*_, translation, fuzzy, _), source in zip(rows, sources, strict=True)
            if source or not fuzzy
        ]
        assert targets(folder / "out.a.po", rows) == len([text for text in expected if text])


def targets(path: Path, rows) -> int:
    """How many messages another reader finds translated, after a look at each of them."""
    pairs = list(read_po(path, Languages()))
    singular = {message for message, plural, *_ in rows if plural is None}
    for pair in pairs:
        if pair.source in singular and len(singular) == len(rows):
            assert faithful(pair.source, pair.target)
            assert pair.target.upper() == pair.source.upper() or pair.target == pair.source
            assert len(pair.target) - len(pair.target.lstrip()) == len(pair.source) - len(pair.source.lstrip())
    return len({pair.line for pair in pairs})


# ---------------------------------------------------------------------------------------------------- malformed


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('msgid "a"\n\nmsgid "b"\nmsgstr ""\n', 3, "a second msgid"),
        ('# c\nmsgid "a"\n# d\nmsgstr "b"\n', 2, "lacks its msgid or msgstr"),
        ('msgid "a"\nmsgstr "b\n', 2, "between two"),
        ('msgid "a"\nmsgstr ""\nnonsense\n', 3, "not a line of a PO file"),
        ('msgid ""\nmsgstr "Content-Type: text/plain; charset=punycode\\n"\n', None, "unknown encoding punycode"),
        ('msgid "a"\nmsgstr "\\q"\n', 2, "unknown escape"),
        ('msgstr "a"\n', 1, "lacks its msgid"),
        (b'msgid "\xff"\n', 1, "not UTF-8 at byte 7"),
    ],
)
def test_malformed_catalogues_name_the_line_and_write_nothing(tmp_path, text, line, message):
    path = write(tmp_path / "a.po", text)
    called = []
    with pytest.raises(DataError, match=message) as caught:
        translated(path, called.append)
    assert (caught.value.path, caught.value.line) == (path, line)
    assert called == []
    assert [file.name for file in tmp_path.iterdir()] == ["a.po"]
