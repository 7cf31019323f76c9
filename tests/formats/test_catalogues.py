"""TMX, XLIFF, PO and MO: what counts as a pair, which side is which, and files that mean harm."""

import gzip
import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seq2see.errors import DataError
from seq2see.formats import Pair, open_document, read_pairs

etree = pytest.importorskip("lxml.etree")
polib = pytest.importorskip("polib")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("catalogues")


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


def refused(path: Path, **options) -> DataError:
    with pytest.raises(DataError) as caught:
        list(read_pairs(path, **options))
    assert "\n" not in str(caught.value)
    return caught.value


# ---------------------------------------------------------------------------------------------------- TMX

TMX = """<?xml version="1.0"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US" adminlang="en"/><body>
<tu><tuv xml:lang="ko-KR"><seg>하나 <bpt i="1">&lt;b&gt;</bpt>둘<ept i="1">&lt;/b&gt;</ept></seg></tuv>
    <tuv xml:lang="en-US"><seg>one <hi>two</hi> &amp; <!-- three -->more</seg></tuv></tu>
<tu><tuv xml:lang="ko-KR"><seg>한국어뿐</seg></tuv></tu>
<tu><note>n</note><tuv lang="de"><prop>p</prop><seg>drei</seg></tuv><tuv xml:lang="EN-us"><seg>three</seg></tuv>
    <tuv xml:lang="ko"><seg>셋</seg></tuv><tuv xml:lang="ko"><seg>세 번째</seg></tuv></tu>
</body></tmx>"""


def test_tmx_takes_the_source_language_of_the_header(tmp_path):
    expected = [Pair("one two & more", "하나 둘", 1), Pair("three", "셋", 3)]
    assert list(read_pairs(write(tmp_path / "a.tmx", TMX))) == expected
    assert list(read_pairs(write(tmp_path / "a.tmx.gz", TMX))) == expected
    assert (
        list(read_pairs(write(tmp_path / "b.tmx", TMX.replace('"1.0"', '"1.0" encoding="UTF-16"').encode("utf-16"))))
        == expected
    )


def test_tmx_languages_can_be_chosen(tmp_path):
    path = write(tmp_path / "a.tmx", TMX)
    assert [pair.source for pair in read_pairs(path, source_language="ko")] == ["하나 둘", "셋"]
    assert list(read_pairs(path, source_language="de", target_language="ko_KR")) == [Pair("drei", "셋", 3)]
    assert list(read_pairs(path, target_language="en", source_language="de")) == [Pair("drei", "three", 3)]
    error = refused(path, source_language="fr", target_language="ko")
    assert "fr and ko" in str(error)
    assert "en-US" in str(error)
    every = write(tmp_path / "b.tmx", TMX.replace('srclang="en-US"', 'srclang="*all*"'))
    assert next(read_pairs(every)).source == "하나 둘"


def test_a_long_file_is_never_held(tmp_path):
    unit = '<x/><tu><tuv xml:lang="ko"><seg>가</seg></tuv><tuv xml:lang="en"><seg>a</seg></tuv></tu>'
    peaks = []
    for count in (2_000, 7_000):
        path = write(tmp_path / "a.tmx", f"<tmx><header/><body>{unit * count}</body></tmx>")
        tracemalloc.start()
        assert sum(1 for _ in read_pairs(path)) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]  # units are handed out in blocks as the parser reads the file


# ---------------------------------------------------------------------------------------------------- XLIFF

XLIFF_1 = """<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file source-language="en" target-language="ko-KR" original="a" datatype="html"><header/><body>
<trans-unit id="1"><source>Save <g id="1">it</g><x id="2"/></source><seg-source>no</seg-source><target>저장</target>
  <alt-trans><source>old</source><target>헌</target></alt-trans></trans-unit>
<group><trans-unit id="2"><source>Open</source><target state="needs-translation">Open</target></trans-unit></group>
<trans-unit id="3"><source>None</source></trans-unit>
<trans-unit id="4"><source>Empty</source><target/></trans-unit>
<trans-unit id="5" translate="no"><source>FTP</source><target>FTP</target></trans-unit>
<group><group><trans-unit id="6"><source>a<ph id="1">%s</ph>b</source>
<target>가<mrk mtype="seg">나</mrk></target></trans-unit>
</group></group></body></file></xliff>"""

XLIFF_2 = """<xliff version="2.0" srcLang="en" trgLang="ko" xmlns="urn:oasis:names:tc:xliff:document:2.0">
<file id="f"><unit id="u"><originalData><data id="d">&lt;b&gt;</data></originalData>
<segment><source>Hello <pc id="1">world</pc><ph id="2"/></source><target>안녕 <mrk id="m">세상</mrk></target></segment>
<ignorable><source> </source><target>-</target></ignorable>
<segment state="initial"><source>x</source><target>x</target></segment>
<segment state="final"><source>bell <cp hex="0007"/></source><target>종</target></segment></unit>
<unit id="v" translate="no"><segment><source>code</source><target>code</target></segment></unit></file></xliff>"""


def test_xliff_1_and_2(tmp_path):
    first = write(tmp_path / "a.xlf", XLIFF_1)
    assert list(read_pairs(first)) == [Pair("Save it", "저장", 1), Pair("ab", "가나", 6)]
    second = write(tmp_path / "a.xliff.gz", XLIFF_2)
    assert list(read_pairs(second)) == [Pair("Hello world", "안녕 세상", 1), Pair("bell \a", "종", 3)]


def test_translate_no_holds_inside_a_group(tmp_path):
    """The same units are pairs that would be translated in place."""
    unit = '<trans-unit id="1"{}><source>a</source><target>b</target></trans-unit>'
    units = unit.format("") + unit.format(' translate="yes"')
    path = write(tmp_path / "a.xlf", f'<xliff><file><group translate="no">{units}</group></file></xliff>')
    assert list(read_pairs(path)) == [Pair("a", "b", 2)]
    assert [segment.line for segment in open_document(path, existing="replace").segments()] == [1]


def test_xliff_is_turned_around_when_asked_backwards(tmp_path):
    for name, content in (("a.xlf", XLIFF_1), ("b.xlf", XLIFF_2)):
        path = write(tmp_path / name, content)
        straight = [(pair.source, pair.target) for pair in read_pairs(path, source_language="en", target_language="ko")]
        turned = [(pair.target, pair.source) for pair in read_pairs(path, source_language="ko")]
        assert turned == straight
        assert "asked for de" in str(refused(path, source_language="de"))


# ---------------------------------------------------------------------------------------------------- hostile XML

LAUGHS = '<!ENTITY a0 "ha">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
UNIT = '<tu><tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="ko"><seg>b</seg></tuv></tu>'


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        (f"[{LAUGHS}]", "&a9;"),
        (f"[{LAUGHS}]", '<hi x="&a9;">a</hi>'),
        ('[<!ENTITY x SYSTEM "file:///etc/hostname">]', "&x;"),
        ('[<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]', "&x;"),
        ('[<!ENTITY % x SYSTEM "file:///etc/hostname"> %x;]', "a"),
        ('[<!ENTITY x "y">]', "&x;"),
        ('SYSTEM "tmx14.dtd"', "&x;"),
    ],
)
def test_entities_are_refused(tmp_path, declared, text):
    body = f"<!DOCTYPE tmx {declared}><tmx><body>{UNIT.format(text)}</body></tmx>"
    assert "entities" in str(refused(write(tmp_path / "a.tmx", body)))
    xliff = (
        f"<!DOCTYPE xliff {declared}><xliff><trans-unit><source>{text}</source><target>b</target></trans-unit></xliff>"
    )
    assert "entities" in str(refused(write(tmp_path / "a.xlf", xliff)))


def test_malformed_xml_names_the_line(tmp_path):
    assert refused(write(tmp_path / "a.tmx", "<tmx>\n<body>\n<tu></body>")).line == 3
    assert refused(write(tmp_path / "b.tmx", TMX[:-30])).line == 8
    assert refused(write(tmp_path / "c.tmx", b"<tmx>\n<body>\xff</body></tmx>")).line == 2
    assert refused(write(tmp_path / "d.tmx", "<tmx>" + "<a>" * 1000)).line == 1
    assert "not TMX" in str(refused(write(tmp_path / "e.tmx", f"<xliff>{UNIT}</xliff>")))
    assert "not XLIFF" in str(refused(write(tmp_path / "f.xlf", TMX)))
    assert "hex" in str(refused(write(tmp_path / "g.xlf", XLIFF_2.replace("0007", "d800"))))


# ---------------------------------------------------------------------------------------------------- PO and MO

PO = r"""# Korean
#, fuzzy
msgid ""
msgstr ""
"Language: ko\n"
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=1; plural=0;\n"

#: a.c:1
#, c-format
msgid "Open \"%s\"\n"
msgstr ""
"\"%s\" "
"열기\n"

#, fuzzy, c-format
#| msgid "Old"
msgid "Guess"
msgstr "추측"

msgctxt "menu"
msgid "Open"
msgstr "열기"
msgid "No"
msgstr ""

#, c-format
msgid "%d file"
msgid_plural "%d files"
msgstr[0] "파일 %d개"

#, fuzzy
#~ msgid "Gone"
#~ msgstr "없음"

msgid "Tab\tback\\slash"
msgstr "탭\t역슬래시\\"
"""
PO_PAIRS = [
    Pair('Open "%s"\n', '"%s" 열기\n', 11),
    Pair("Open", "열기", 21),
    Pair("%d file", "파일 %d개", 28),
    Pair("%d files", "파일 %d개", 28),
    Pair("Tab\tback\\slash", "탭\t역슬래시\\", 36),
]


def test_po(tmp_path):
    assert list(read_pairs(write(tmp_path / "a.po", PO))) == PO_PAIRS
    assert list(read_pairs(write(tmp_path / "a.po.gz", PO.replace("\n", "\r\n")))) == PO_PAIRS


def test_po_agrees_with_polib(tmp_path):
    path = write(tmp_path / "a.po", PO)
    theirs = []
    for entry in polib.pofile(str(path)).translated_entries():
        theirs.append((entry.msgid, entry.msgstr or entry.msgstr_plural[0]))
        if entry.msgid_plural:
            theirs.append((entry.msgid_plural, entry.msgstr_plural[max(entry.msgstr_plural)]))
    assert [(pair.source, pair.target) for pair in read_pairs(path)] == theirs


def test_mo_holds_what_its_po_holds(tmp_path):
    polib.pofile(str(write(tmp_path / "a.po", PO))).save_as_mofile(str(tmp_path / "a.mo"))
    expected = {(pair.source, pair.target) for pair in PO_PAIRS}
    assert {(pair.source, pair.target) for pair in read_pairs(tmp_path / "a.mo")} == expected
    packed = write(tmp_path / "b.mo.gz", (tmp_path / "a.mo").read_bytes())
    assert {(pair.source, pair.target) for pair in read_pairs(packed)} == expected


def test_catalogues_are_turned_around_when_asked_backwards(tmp_path):
    path = write(tmp_path / "a.po", PO)
    polib.pofile(str(path)).save_as_mofile(str(tmp_path / "a.mo"))
    for file in (path, tmp_path / "a.mo"):
        assert Pair("열기", "Open", 0) in [pair._replace(line=0) for pair in read_pairs(file, source_language="ko-KR")]
        assert Pair("Open", "열기", 0) in [pair._replace(line=0) for pair in read_pairs(file, target_language="ko")]
        assert "ko" in str(refused(file, source_language="en", target_language="de"))


def test_plural_forms_of_a_language_with_three(tmp_path):
    po = 'msgid "one"\nmsgid_plural "many"\nmsgstr[0] "1"\nmsgstr[1] "2"\nmsgstr[2] "5"\n'
    assert list(read_pairs(write(tmp_path / "a.po", po))) == [Pair("one", "1", 1), Pair("many", "5", 1)]


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        ("junk\n", 3),
        ('msgid "open\nmsgstr "x"\n', 3),
        ('msgid "a"\nmsgid "b"\nmsgstr "c"\n', 4),
        ('msgid "a"\n', 3),
        ('msgstr "a"\n', 3),
        ('msgid "a\\q"\nmsgstr "b"\n', 3),
        ('msgid "a"\nmsgstr "\\377"\n', 4),
        ('msgid "a"\nmsgstr "b"c"\n', 4),
        ('# c\n"a"\n', 4),
    ],
)
def test_bad_po(tmp_path, bad, line):
    assert refused(write(tmp_path / "a.po", f'msgid "fine"\nmsgstr "gut"\n{bad}')).line == line


def test_mo_with_tables_that_lie(tmp_path):
    def catalogue(count: int, length: int, offset: int, data: bytes = b"", order: str = "<") -> bytes:
        head = struct.pack(f"{order}7I", 0x950412DE, 0, count, 28, 28 + 8 * count, 0, 0)
        return head + struct.pack(f"{order}2I", length, offset) * 2 * count + data

    assert list(read_pairs(write(tmp_path / "big.mo", catalogue(1, 1, 44, b"a", ">")))) == [Pair("a", "a", 1)]
    for lie in (
        catalogue(1, 1, 2**32 - 1),
        catalogue(1, 2**32 - 1, 0),
        catalogue(1000, 1000, 28 + 16 * 1000, b"a" * 1000),  # every text the same bytes: small file, endless reading
        catalogue(2**20, 0, 0)[:100],
        catalogue(1, 1, 44, b"\xff"),
        b"\xde\x12\x04\x95",
        b"nothing at all, but long enough to be one",
    ):
        refused(write(tmp_path / "a.mo", lie))


# ---------------------------------------------------------------------------------------------------- properties

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0\x04"), min_size=1)
# what XML 1.0 can hold: no controls but tab and line ends, no U+FFFE and U+FFFF
words = st.text(
    st.characters(
        codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\t\n\r", exclude_characters="\ufffe\uffff"
    ),
    min_size=1,
)


def xml(root: str, build) -> bytes:
    element = etree.Element(root)
    build(element)
    return etree.tostring(element, xml_declaration=True, encoding="UTF-8")


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4))
def test_tmx_round_trip(folder, pairs):
    def build(root):
        for pair in pairs:
            unit = etree.SubElement(root, "tu")
            for language, text in zip(("ko", "en"), pair, strict=True):
                etree.SubElement(etree.SubElement(unit, "tuv", lang=language), "seg").text = text

    path = write(folder / "a.tmx", xml("tmx", build))
    assert list(read_pairs(path, form="none")) == [Pair(s, t, i) for i, (s, t) in enumerate(pairs, 1)]


@given(st.lists(st.tuples(words, words), min_size=1, max_size=4), st.sampled_from(["trans-unit", "segment"]))
def test_xliff_round_trip(folder, pairs, name):
    def build(root):
        for source, target in pairs:
            unit = etree.SubElement(root, name)
            etree.SubElement(unit, "source").text = source
            etree.SubElement(unit, "target").text = target

    path = write(folder / "a.xliff.gz", xml("xliff", build))
    assert list(read_pairs(path, form="none")) == [Pair(s, t, i) for i, (s, t) in enumerate(pairs, 1)]


def quoted(text: str) -> str:
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r")):
        text = text.replace(plain, escaped)
    return f'"{text}"'


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=4))
def test_po_round_trip(folder, pairs):
    path = write(folder / "a.po", "".join(f"msgid {quoted(s)}\nmsgstr {quoted(t)}\n\n" for s, t in pairs))
    assert [(pair.source, pair.target) for pair in read_pairs(path, form="none")] == pairs


@given(st.dictionaries(texts, texts, min_size=1, max_size=4))
def test_mo_round_trip(folder, pairs):
    catalogue = polib.POFile()
    catalogue.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    catalogue.extend(polib.POEntry(msgid=source, msgstr=target) for source, target in pairs.items())
    catalogue.save_as_mofile(str(folder / "a.mo"))
    assert {pair.source: pair.target for pair in read_pairs(folder / "a.mo", form="none")} == pairs


@st.composite
def damaged(draw):
    """A good file with some bytes replaced, or bytes that were never anything."""
    catalogue = polib.POFile()
    catalogue.append(polib.POEntry(msgid="a", msgstr="가"))
    samples = {"a.tmx": TMX.encode(), "a.xlf": XLIFF_1.encode(), "b.xlf": XLIFF_2.encode(), "a.po": PO.encode()}
    samples |= {"a.mo": catalogue.to_binary(), "a.tmx.gz": gzip.compress(TMX.encode())}
    name = draw(st.sampled_from(sorted(samples)))
    data = samples[name]
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        data = data[:start] + draw(st.binary(max_size=8)) + data[start + draw(st.integers(0, 8)) :]
    return name, draw(st.sampled_from([data, draw(st.binary(max_size=64))]))


@given(damaged())
def test_no_bytes_raise_anything_but_a_data_error(folder, file):
    name, data = file
    path = folder / f"fuzz-{name}"
    path.write_bytes(data)
    try:
        for pair in read_pairs(path):
            (pair.source + pair.target).encode()
    except DataError as error:
        assert "\n" not in str(error)  # noqa: PT017
