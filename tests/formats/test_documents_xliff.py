"""Exchange files translated in place: targets, states, inline elements, and every other byte as it was."""

import gzip
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import DataError
from seq2see.formats import open_document, read_pairs, xliff
from seq2see.formats.documents.inline import Code, numbered
from seq2see.formats.documents.placeholders import placeholders
from seq2see.formats.documents.translating import Outcome, translated_bytes
from seq2see.formats.reading import markup
from seq2see.formats.reading.markup import LARGEST_UNIT
from seq2see.formats.xliff import with_attribute

etree = pytest.importorskip("lxml.etree")

XLIFF_1 = """<?xml version='1.0' encoding="UTF-8"?>
<!-- kept -->
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" original="a.html"
  datatype = 'html'><header/><body>
  <trans-unit id="new" approved='yes'>
\t<source>Save <g id="1" ctype='bold'>it</g><x id="2"/> <bpt id="3">&lt;b></bpt>now<ept id="3">&lt;/b></ept></source>
\t<note>n &amp; n</note>
  </trans-unit>
  <group><trans-unit id="todo"><source>Open <ph id="x">%s<sub>in</sub></ph></source><target state="needs-translation"
     xml:lang="ko">Open</target></trans-unit></group>
  <trans-unit id="done"><source>Done</source><target state="final">끝</target></trans-unit>
  <trans-unit id="empty"><source>Empty</source><target/><alt-trans><source>old</source><target>헌</target></alt-trans
  ></trans-unit>
  <trans-unit id="fixed" translate="no"><source>FTP</source></trans-unit>
  <group translate="no"><trans-unit id="fixed, too"><source>SSH</source></trans-unit></group>
  <trans-unit id="cut"><source>One. Two.</source>
  <seg-source><g id="9"><mrk mtype="seg" mid="1">One.</mrk> <mrk mtype="seg" mid="2">Two<x id="1"/>.</mrk></g
  ></seg-source>
  </trans-unit>
  <trans-unit id="none"><source> </source></trans-unit>
  <trans-unit id="code"><source><x id="1"/></source></trans-unit>
</body></file></xliff>
"""

XLIFF_2 = """<xliff version="2.0" srcLang="en" xmlns="urn:oasis:names:tc:xliff:document:2.0"
  xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0">
<file id="f"><unit id="u"><mtc:matches><mtc:match><source>m</source><target>t</target></mtc:match></mtc:matches>
<originalData><data id="d">&lt;b&gt;</data></originalData>
<segment id="1"><source>Hello <pc id="1">big <sc id="2"/>world</pc><ec startRef="2"/><ph id="3"/></source></segment>
<ignorable><source> </source><target>-</target></ignorable>
<segment id="2" state="initial" subState='a:b'><source>
    folded
    line</source><target>x</target></segment>
<segment id="3" state="final"><source>bell <cp hex="0007"/></source><target>종</target></segment></unit>
<unit id="v" translate="no"><segment><source>code</source></segment></unit>
<unit id="w" xml:space="preserve"><segment><source>two
lines <mrk id="m" translate="no">FTP</mrk></source></segment></unit>
</file></xliff>"""


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def upper(texts: list[str]) -> list[str]:
    return [text.upper() for text in texts]


def translated(path: Path, translate=upper, encoding: str = "utf-8", **options) -> str:
    data = b"".join(translated_bytes(open_document(path, **options), translate, Outcome()))
    write(path.with_name(f"out.{path.name}"), data)
    return data.decode(encoding)


def unit(content: str, name: str) -> str:
    found = re.search(rf'<(trans-unit|segment)\s+id="{name}".*?</\1\s*>', content, re.DOTALL)
    assert found
    return found[0]


NEW = 'state="needs-review-translation" state-qualifier="mt-suggestion"'


def test_targets_of_version_1(tmp_path):
    after = translated(write(tmp_path / "a.xlf", XLIFF_1))
    assert unit(after, "new") == (
        '<trans-unit id="new" approved="no">\n'
        '\t<source>Save <g id="1" ctype=\'bold\'>it</g><x id="2"/> <bpt id="3">&lt;b></bpt>now'
        '<ept id="3">&lt;/b></ept></source>\n'
        f'\t<target {NEW}>SAVE <g id="1" ctype=\'bold\'>IT</g><x id="2"/> <bpt id="3">&lt;b></bpt>NOW'
        '<ept id="3">&lt;/b></ept></target>\n'
        "\t<note>n &amp; n</note>\n  </trans-unit>"
    )
    assert unit(after, "todo").endswith(
        '</source><target state="needs-review-translation"\n     xml:lang="ko" state-qualifier="mt-suggestion">'
        'OPEN <ph id="x">%s<sub>in</sub></ph></target></trans-unit>'
    )
    assert f"<source>Empty</source><target {NEW}>EMPTY</target><alt-trans>" in after
    assert unit(after, "cut").endswith(
        f'</seg-source>\n  <target {NEW}><g id="9"><mrk mtype="seg" mid="1">ONE.</mrk> <mrk mtype="seg" mid="2">'
        'TWO<x id="1"/>.</mrk></g\n  ></target>\n  </trans-unit>'
    )
    assert f'</source><target {NEW}><x id="1"/></target>' in unit(after, "code")
    for name in ("done", "fixed", "fixed, too", "none"):
        assert unit(after, name) == unit(XLIFF_1, name)
    assert without_targets(after) == without_targets(XLIFF_1)


def without_targets(content: str) -> str:
    """The file without what a translation may change."""
    content = re.sub(r"<alt-trans.*?</alt-trans\s*>", "", content, flags=re.DOTALL)
    content = re.sub(r"\s*<target[^>]*/>|\s*<target.*?</target>", "", content, flags=re.DOTALL)
    return re.sub(r"""\s(?:approved|state|subState)\s*=\s*(?:"[^"]*"|'[^']*')""", "", content)


def test_targets_of_version_2(tmp_path):
    after = translated(write(tmp_path / "a.xliff", XLIFF_2))
    assert unit(after, "1") == (
        '<segment id="1" state="translated"><source>Hello <pc id="1">big <sc id="2"/>world</pc><ec startRef="2"/>'
        '<ph id="3"/></source><target>HELLO <pc id="1">BIG <sc id="2"/>WORLD</pc><ec startRef="2"/><ph id="3"/>'
        "</target></segment>"
    )
    assert unit(after, "2").startswith('<segment id="2" state="translated"><source>\n')
    assert unit(after, "2").endswith("<target>\n    FOLDED LINE</target></segment>")
    assert unit(after, "3") == unit(XLIFF_2, "3")
    assert '<segment state="translated"><source>two\nlines' in after
    assert '<target>TWO\nLINES <mrk id="m" translate="no">FTP</mrk></target>' in after
    assert "<source>code</source></segment>" in after
    assert without_targets(after) == without_targets(XLIFF_2)


def test_what_a_translator_sees(tmp_path):
    seen: list[str] = []
    translated(write(tmp_path / "a.xlf", XLIFF_1), lambda texts: seen.extend(texts) or texts)
    assert seen == ["Save <1>it</1><2/> <3>now</3>", "Open <1/>", "Empty", "One.", "Two<1/>."]
    seen.clear()
    translated(write(tmp_path / "b.xlf", XLIFF_2), lambda texts: seen.extend(texts) or texts)
    assert seen == ["Hello <1>big <2>world</1></2><3/>", "folded line", "two", "lines <1/>"]


def test_segments_tell_where_they_come_from(tmp_path):
    first, *_, last = open_document(write(tmp_path / "a.xlf", XLIFF_1)).segments()
    assert (first.id, first.context, first.line) == ("new", "a.html", 5)
    assert last.id == "code"
    first, *_ = open_document(write(tmp_path / "b.xlf", XLIFF_2)).segments()
    assert (first.id, first.context, first.line) == ("u.1", "f", 5)


def test_elements_come_back_however_the_translation_treats_them(tmp_path):
    path = write(tmp_path / "a.xlf", XLIFF_1)
    for translate in (
        lambda texts: [re.sub(r"<[^>]*>", "", text) for text in texts],
        lambda texts: ["</1> x <7/> <1> < & > </g>" for _ in texts],
        lambda texts: [text[::-1] for text in texts],
    ):
        after = etree.fromstring(translated(path, translate).encode())
        for source in after.iter("{*}source"):
            target = source.getparent().find("{*}target")
            if target is None or source.getparent().get("id") in ("done", "cut", None):
                continue
            inline = [sorted(etree.tostring(child, with_tail=False) for child in side) for side in (source, target)]
            assert [len(side) for side in inline] == [len(inline[0])] * 2
            ids = [sorted(child.get("id") for child in side.iter() if child.get("id")) for side in (source, target)]
            assert ids[0] == ids[1]


def test_no_translation_changes_nothing(tmp_path):
    for content in (XLIFF_1, XLIFF_2):
        path = write(tmp_path / "a.xlf", content.replace('<source><x id="1"/></source>', "<source> </source>"))
        assert translated(path, lambda texts: ["" for _ in texts]) == path.read_text()


def test_options(tmp_path):
    path = write(tmp_path / "a.xlf", XLIFF_1)
    after = translated(path, existing="replace", review=False, target_language="ko")
    assert '<target state="translated" state-qualifier="mt-suggestion">DONE</target>' in after
    assert "approved='yes'" in after
    assert """original="a.html"\n  datatype = 'html' target-language="ko"><header/>""" in after
    second = translated(write(tmp_path / "b.xlf", XLIFF_2), target_language="ko-KR")
    assert 'xmlns:mtc="urn:oasis:names:tc:xliff:matches:2.0" trgLang="ko-KR">\n<file id="f">' in second
    stated = XLIFF_2.replace('srcLang="en"', 'srcLang="en" trgLang="de"')
    assert 'trgLang="de"' in translated(write(tmp_path / "c.xlf", stated), target_language="ko")
    again = write(tmp_path / "d.xlf", translated(path, existing="replace"))
    assert translated(again, existing="replace") == again.read_text()


def test_prefixed_names(tmp_path):
    content = '<x:xliff xmlns:x="u"><x:trans-unit id="1">\n <x:source>a</x:source></x:trans-unit></x:xliff>'
    after = translated(write(tmp_path / "a.xlf", content))
    assert f"</x:source>\n <x:target {NEW}>A</x:target></x:trans-unit>" in after


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "euc-kr", "iso-8859-1"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_encodings_marks_and_line_ends_stay(tmp_path, encoding, ending):
    content = (
        XLIFF_1.replace("끝", "x")
        .replace("헌", "x")
        .replace("UTF-8", encoding.removesuffix("-sig"))
        .replace("\n", ending)
    )
    path = write(tmp_path / "a.xlf", content.encode(encoding))
    after = translated(path, lambda texts: [text + " 가 é" for text in texts], encoding)
    data, original = (tmp_path / "out.a.xlf").read_bytes(), path.read_bytes()
    assert data[:40] == original[:40]
    assert without_targets(after) == without_targets(content)
    targets = [target.text for target in etree.fromstring(data).iter("{*}target")]
    assert "Empty 가 é" in targets
    assert after.count("\n") == after.count(ending)


def test_line_breaks_inside_a_target_are_those_of_the_file(tmp_path):
    path = write(tmp_path / "a.xlf", XLIFF_2.replace("\n", "\r\n"))
    after = translated(path)
    assert '<target>TWO\r\nLINES <mrk id="m"' in after
    assert after.count("\n") == after.count("\r\n")


def test_packed_files_are_packed_again(tmp_path):
    path = write(tmp_path / "a.xlf.gz", XLIFF_1)
    assert translated(path) == translated(write(tmp_path / "b.xlf", XLIFF_1))


def test_attributes():
    tag = "<a note=' state=\"x\" ' state = 'new' />"
    assert with_attribute(tag, "state", "done") == '<a note=\' state="x" \' state="done" />'
    assert with_attribute(tag, "state", None) == "<a note=' state=\"x\" ' />"
    assert with_attribute("<a\n>", "b", 'x"<&') == '<a b="x&quot;&lt;&amp;"\n>'


def test_numbers_that_the_text_spells_out_are_not_used():
    codes = [Code("<x/>", "stands alone", "x"), Code("<g>", "opens", "g"), Code("</g>", "closes", "g")]
    sentence = numbered(["<1> ", codes[0], " </3> ", codes[1], "a", codes[2]], preserve=True)
    assert sentence.text == "<1> <2/> </3> <4>a</4>"
    assert sentence.written(sentence.text, "\n") == "&lt;1&gt; <x/> &lt;/3&gt; <g>a</g>"


# ---------------------------------------------------------------------------------------------------- any file

words = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"), max_size=12
)
plain = (words | st.sampled_from(["%s", "<1>", "</1>", "<b>", "&amp;", "{0}", "\n", " ", "]]>"])).map(
    lambda text: text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
)
inline = st.recursive(
    plain,
    lambda inner: st.lists(
        st.one_of(
            inner,
            st.sampled_from(['<x id="1"/>', '<ph id="2">&lt;br&gt;</ph>', "<bx id='3'/>", "<ex id='3'/>"]),
            inner.map(lambda text: f'<g id="4">{text}</g>'),
            inner.map(lambda text: f"<mrk mtype='term'>{text}</mrk>"),
        ),
        max_size=4,
    ).map("".join),
    max_leaves=8,
)


@given(st.lists(st.tuples(inline, st.none() | plain), max_size=4), st.booleans())
def test_any_source_gets_a_target_with_the_same_elements(tmp_path_factory, units, preserve):
    folder = tmp_path_factory.getbasetemp() / "xliff"
    folder.mkdir(exist_ok=True)
    rows = [
        f"<trans-unit id='1'>\n <source>{source}</source>"
        + ("" if target is None else f"<target>{target}</target>")
        + "</trans-unit>"
        for source, target in units
    ]
    space = ' xml:space="preserve"' if preserve else ""
    content = f'<xliff version="1.2"><file original="a"{space}><body>{"".join(rows)}</body></file></xliff>'
    path = write(folder / "a.xlf", content)
    before = etree.fromstring(content.encode())
    segments = list(open_document(path, existing="replace").segments())
    for translate in (lambda texts: texts, upper, lambda texts: ["" if len(text) % 2 else "x" for text in texts]):
        after = translated(path, translate, existing="replace")
        tree = etree.fromstring(after.encode())
        assert without_targets(after) == without_targets(content)
        for old, new in zip(before.iter("trans-unit"), tree.iter("trans-unit"), strict=True):
            source, target = new.find("source"), new.find("target")
            assert etree.tostring(source, with_tail=False) == etree.tostring(old.find("source"), with_tail=False)
            if target is not None and target.get("state") is not None:
                assert tags(target) == tags(source)
                assert sorted(placeholders(words_of(target))) == sorted(placeholders(words_of(source)))
        assert [segment.texts for segment in open_document(folder / "out.a.xlf", existing="replace").segments()] == [
            segment.texts for segment in segments
        ]
    translated(path, lambda texts: texts, existing="replace", review=False)
    if preserve and segments:
        for new in etree.parse(str(folder / "out.a.xlf")).iter("trans-unit"):
            source, target = new.find("source"), new.find("target")
            if target is not None and target.get("state") is not None:
                assert inner_xml(target) == inner_xml(source)


def tags(element) -> list[tuple[str, str | None]]:
    return sorted((child.tag, child.get("id")) for child in element.iterdescendants())


def words_of(element) -> str:
    parts = [element.text or ""]
    for child in element:
        parts += ["\ue000", words_of(child) if child.tag != "ph" else "", "\ue000", child.tail or ""]
    return "".join(parts)


def inner_xml(element) -> str:
    return (element.text or "") + "".join(etree.tostring(child, encoding="unicode") for child in element)


@pytest.mark.parametrize(
    "row", ["<trans-unit id='1'><source>word</source></trans-unit><!-- c -->", "<note>no unit, but many notes</note>"]
)
def test_a_long_file_is_never_held(tmp_path, monkeypatch, row):
    sizes = []
    feed = xliff._Walk.feed

    def spied(walk, data, last):
        parts = feed(walk, data, last)
        sizes.append(len(walk._data))
        return parts

    monkeypatch.setattr(xliff._Walk, "feed", spied)
    path = write(tmp_path / "a.xlf", f"<xliff><file><body>{row * 6000}</body></file></xliff>")
    after = translated(path, lambda texts: texts)
    assert max(sizes) <= 2 * markup.CHUNK
    if "source" in row:
        assert len(list(read_pairs(tmp_path / "out.a.xlf"))) == after.count("<target") == 6000
    else:
        assert after == path.read_text()


# ---------------------------------------------------------------------------------------------------- malformed


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        ("<xliff>\n<file>\n</xliff>", 3, "malformed XML: mismatched tag"),
        ("<xliff>\n<trans-unit><source>a", 2, "malformed XML"),
        ("", 1, "malformed XML"),
        ("<tmx/>", None, "is not XLIFF"),
        ('<!DOCTYPE xliff [<!ENTITY a "b">]><xliff>&a;</xliff>', None, "entities"),
        ('<!DOCTYPE xliff [<!ENTITY a SYSTEM "file:///etc/hostname">]><xliff>&a;</xliff>', None, "entities"),
        ('<!DOCTYPE xliff [<!ENTITY % a SYSTEM "file:///etc/hostname"> %a;]><xliff/>', None, "entities"),
        ('<!DOCTYPE xliff SYSTEM "x.dtd"><xliff>&a;</xliff>', None, "entities"),
        ("<xliff>&nbsp;</xliff>", None, "entities"),
        ("<?xml version='1.0' encoding='klingon'?><xliff/>", 1, "unknown encoding klingon"),
        ("<?xml version='1.0' encoding='hex'?><xliff/>", 1, "unknown encoding hex"),
        (b"<xliff>\n\xff</xliff>", None, "not UTF-8 at byte 8"),
        ("<xliff><trans-unit><source>" + "a" * (LARGEST_UNIT + 100_000), 1, "longer than 16 MiB"),
    ],
)
def test_malformed_files_name_the_place_and_write_nothing(tmp_path, content, line, message):
    path = write(tmp_path / "a.xlf", content)
    with pytest.raises(DataError, match=message) as caught:
        translated(path)
    assert caught.value.path == path
    assert line is None or caught.value.line == line
    assert "\n" not in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] == ["a.xlf"]
