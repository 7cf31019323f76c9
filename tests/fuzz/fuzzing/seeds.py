"""Valid files of every text format, small enough that a flipped bit hits something."""

import gzip
import struct
from collections.abc import Mapping

TSV = (
    "나는 학생입니다.\tI am a student.\n\t\n우리는 서울에 갔습니다.\tWe went to Seoul.\textra\n"
    "%s 파일 {0}개\t{0} files of %s\r\n같은 글\t같은 글\n".encode()
)
CSV = 'source,target\n"나는, 학생","I, ""a"" student"\n책,book\n"두\n줄","two\nlines"\n,\n'.encode()
JSONL = (
    '{"source": "나는 학생입니다.", "target": "I am a student."}\n'
    '{"translation": {"ko": "책", "en": "book"}}\n\n'
    '{"id": 1.50, "source": "\\ub0b4 %s", "target": "", "more": {"a": [1, 2, null]}}\n'
    '{ "source" : "<b>굵게</b>", "x":true }\n'
).encode()
PLAIN = ("나는 학생입니다.\n\n우리는 서울에 갔습니다.\n".encode(), b"I am a student.\n\nWe went to Seoul.\n")
TMX = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="ko" creationtool="x" datatype="plaintext"/><body>
<tu tuid="1"><note>n</note><tuv xml:lang="ko"><seg>나는 <bpt i="1">&lt;b&gt;</bpt>학생<ept i="1"/>입니다.</seg></tuv>
<tuv xml:lang="en"><seg>I am a <hi>student</hi>.</seg></tuv></tu>
<tu><tuv lang="EN-us"><seg>book</seg></tuv><tuv lang="ko-KR"><seg>책 &amp; &#xAC00;</seg></tuv></tu>
</body></tmx>
""".encode()
XLIFF_1 = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
 <file source-language="en" target-language="ko" original="a.html" datatype="html"><header><note>n</note></header><body>
  <group id="g"><trans-unit id="1" xml:space="preserve">
   <source>Click <g id="1">here</g>  now<x id="2"/>.</source>
   <target state="translated">지금 <g id="1">여기</g>를 누르세요<x id="2"/>.</target>
  </trans-unit>
  <trans-unit id='2' translate="no"><source>NAME</source></trans-unit></group>
  <trans-unit id="3"><source>One. <ph id="1">%s</ph> two.</source>
   <seg-source><mrk mtype="seg" mid="0">One.</mrk> <mrk mtype="seg" mid="1"><ph id="1">%s</ph> two.</mrk></seg-source>
   <alt-trans><target>alt</target></alt-trans></trans-unit>
  <trans-unit id="4"><source>a &lt;b&gt; &amp; &#10;c <bpt id="1">&lt;i&gt;</bpt>d<ept id="1">&lt;/i&gt;</ept></source>
   <target state="new"/></trans-unit>
  <!-- a comment --><?pi data?><trans-unit id="5"><source><![CDATA[<raw> text]]></source></trans-unit>
 </body></file>
</xliff>
""".encode()
XLIFF_2 = """<xliff xmlns="urn:oasis:names:tc:xliff:document:2.0" version="2.0" srcLang="en" trgLang="ko">
<file id="f1"><notes><note>n</note></notes><unit id="u1"><originalData><data id="d1">%d</data></originalData>
<segment id="s1" state="initial"><source>Hello <pc id="1">dear</pc> <ph id="2" dataRef="d1"/>!</source></segment>
<ignorable><source> </source></ignorable>
<segment><source>Second <cp hex="0007"/> one.</source><target>둘째 것.</target></segment></unit>
<group id="g"><unit id="u2" translate="no"><segment><source>x</source></segment></unit></group>
</file></xliff>
""".encode()
PO = r"""# Translators
#, fuzzy
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Language: ko\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#. extracted
#: src/a.c:12 src/b.c:3
#, c-format, fuzzy
#| msgid "old"
msgctxt "menu"
msgid "Open %s"
msgstr "%s 열기"

#, python-brace-format
msgid "{count} file"
msgid_plural "{count} files"
msgstr[0] ""
msgstr[1] ""

msgid ""
"A long text "
"over \"lines\"\n"
"with \t tabs\n"
msgstr ""

msgid "done"
msgstr "끝"

#~ msgid "obsolete"
#~ msgstr "옛것"
""".encode()
SRT = (
    "1\n00:00:01,000 --> 00:00:02,500\n<i>나는 학생입니다.</i>\n\n2\n00:00:03,000 --> 00:00:05,000 X1:1\n"
    "- 누구세요?\n- {\\an8}나예요.\n\n3\n00:00:06,000 --> 00:00:07,000\n끝\n".encode(),
    b"1\n00:00:01,100 --> 00:00:02,400\nI am a student.\n\n2\n00:00:03,000 --> 00:00:04,000\nWho is it?\n\n"
    b"3\n00:00:04,000 --> 00:00:05,000\nMe.\n\n4\n00:00:06,000 --> 00:00:07,000\nThe end\n",
)
VTT = """\ufeffWEBVTT - title

NOTE a note
over lines

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.500 align:start
<v Kim>나는 &amp; <b>학생</b>입니다.</v>

00:00:03.000 --> 00:00:05.000
- 누구세요?
- 나예요.
""".encode()
GLOSSARY = "# terms\n막걸리\tmakgeolli\n서울\tSeoul\tnote\nbook\t책\n\t!bad word\n".encode()
CONSTRAINTS = '{"required": ["student"], "prefix": "I"}\n\n{"forbidden": ["teacher", "교사"]}\n{}\n'.encode()
GOLD = (b"0-0 1-2 2?3 3p1\n\n10-4 0-0\n", b"en=0,1,2 ko=0,1,2,3\nen= ko=\nen=10,0 ko=4,0\n")
LINKS = (b"a b c\tx y z\nd e\tw\n", b"0-0 1-2 2-1\n0-0 1p0\n")
BITEXT = "나는 학생 ||| I am a student\n책 ||| book\n".encode()
RECIPE = b"""# a recipe
[data]
train = ["builtin:dates", "a.tsv:2"]
valid_pairs = 100
[tokenizer]
scheme = "char"
vocabulary = 400
[model]
family = "rnnsearch"
size = "tiny"
dropout = 0.1
[model.encoder]
hidden = 64
[model.attention]
score = "additive"
[training]
steps = 100
learning_rate = 1e-3
stop_metric = "exact"
freeze = ["encoder."]
"""
CHANGES = (
    b'training.steps=100\nmodel.attention.score=cosine\ndata.train=["a.tsv"]\n'
    b"tokenizer.jamo=true\ntraining.time_limit=none\n"
)
METRICS = (
    b'{"step": 1, "loss": 5.5, "rate": 0.001}\n{"step": 2, "loss": 5.1}\n'
    b'{"step": 2, "validation": {"loss": 5.0, "bleu": 1.5}}\n{"step": 3, "lo'
)
VOICE_RECIPE = b"""[data]
train = ["builtin:espeak,count=400"]
[model]
family = "tacotron"
embedding = 8
[model.audio]
mels = 40
[model.style]
tokens = 5
heads = 2
width = 8
[model.letters]
kind = "jamo"
[training]
steps = 10
"""

_ENCODINGS = (
    "idna punycode unicode_escape raw_unicode_escape utf-7 utf-16 utf-8-sig base64 zlib hex rot13 undefined mbcs cp949 "
    "cp037 hz iso2022_kr x"
)
XML_TOKENS = (
    *(b"<g>", b'<g id="1">', b"<mrk>", b"<seg>", b"<tu>", b'<tuv xml:lang="ko">', b"<source>", b"<target>", b"<group>"),
    *(b"</g>", b"</source>", b"</target>", b"<target/>", b"<x/>", b"<seg-source>", b"<trans-unit>", b"<segment>"),
    *(b"<unit>", b"<a>", b"<![CDATA[", b"]]>", b"<!--", b"-->", b"<?xml version='1.0'?>", b"<?x?>", b"&amp;", b"&lt;"),
    *(b"&#0;", b"&#xD800;", b"&a;", b"&#x10FFFF;", b"&#1114112;", b'<cp hex="0"/>', b'<cp hex="110000"/>'),
    *(b'<cp hex="d800"/>', b'<cp hex="-1"/>', b'<!DOCTYPE a [<!ENTITY a "b">]>'),
    *(b'<!DOCTYPE a SYSTEM "file:///etc/hostname">', b'<!DOCTYPE a [<!ENTITY % p SYSTEM "file:///etc/hostname"> %p;]>'),
    *(b' encoding="utf-16"', b' xml:space="preserve"', b' translate="no"', b' state="final"', b" xmlns='x'"),
    *(b' xml:lang="ko"', *(f"<?xml version='1.0' encoding='{name}'?>".encode() for name in _ENCODINGS.split())),
)
PO_TOKENS = (
    *(b'msgid "', b'msgid ""\n', b'msgstr "', b'msgstr ""\n', b'msgid_plural "a"\n', b'msgctxt "a"\n'),
    *(b'msgstr[0] ""\n', b'msgstr[99] "x"\n', b"#", b"#,", b"#, fuzzy\n", b"#~ ", b"#| ", b"#. ", b"#, c-format\n"),
    *(b"#, python-brace-format\n", b"#, no-c-format\n", b'"', b"\\", b"\\n", b"\\x", b"\\400", b"\\777"),
    *(b"%s", b"%1$s", b"%(name)s", b"%", b"%%", b"{", b"}", b"{0}", b"}{", b"{{", b"charset=EUC-KR"),
    *(b"nplurals=0; plural=0;", b"nplurals=9; plural=n%0;", b"plural=(((((n)))));", b"plural=n?n:n?n:n;"),
)
TOKENS: Mapping[str, tuple[bytes, ...]] = {
    "tsv": (b"\t", b"\t\t", b"\n", b"#", b"!", b"\t!"),
    "csv": (b",", b'"', b'""', b'","', b";", b"\n", b"source,target\n", b"target,x,source\n"),
    "jsonl": (
        *(b"{", b"}", b"[", b"]", b'"', b":", b",", b'{"a":', b"\\u0000", b"\\ud800", b"\\udc00\\ud800", b"NaN"),
        *(b'"source": ', b'"target": ', b'"error": 1,', b"null", b"\\/", b"\\x"),
    ),
    "tmx": XML_TOKENS,
    "xliff": XML_TOKENS,
    "po": PO_TOKENS,
    "mo": (b"\0", b"\x04", b"\xde\x12\x04\x95", b"\x95\x04\x12\xde", b"\xff\xff\xff\xff"),
    "srt": (
        *(b"1\n", b"00:00:01,000 --> 00:00:02,500\n", b"-->", b" --> ", b"99:99:99,999", b"<i>", b"<b>", b"</i>"),
        *(b"- ", b"{\\an8}", b"<font color=red>", b"\n\n", "－".encode()),
    ),
    "vtt": (
        *(b"WEBVTT", b"WEBVTT\n\n", b"NOTE x\n", b"STYLE\n", b"REGION\n", b"00:01.000 --> 00:02.500\n", b"-->"),
        *(b"<v Kim>", b"</v>", b"<c.x>", b"<00:01.000>", b"&lt;", b"&", b"- ", b"\n\n"),
    ),
    "plain": (b"\n", b"\r\n", b"%s", b"{0}", b"<b>"),
    "links": (b"0-0", b"-", b"?", b"p", b"0-", b"99999999999-0", b" ", b"\n", b"=", b"en=", b","),
    "bitext": (b" ||| ", b"|||", b"\n"),
    "toml": (
        *(b"[model]\n", b"[", b"]", b"=", b'"', b"'''", b"[[a]]\n", b"a.b.c = 1\n", b"inf", b"nan", b"1979-05-27"),
        *(b"{}", b"true", b"\\uD800", b"model = 1\n", b"data = []\n", b"family = 'rnn'\n", b"size = 'large'\n"),
    ),
    "json": (b"{", b"}", b"[", b"]", b'"', b":", b",", b"null", b"NaN", b"1e999", b"\\ud800"),
}


def mo() -> bytes:
    """A compiled catalogue: a header, a message, one with context, one with plurals."""
    messages = [
        (b"", b"Content-Type: text/plain; charset=UTF-8\nLanguage: ko\n"),
        (b"done", "끝".encode()),
        (b"file\0files", "파일\0파일들".encode()),
        (b"menu\x04Open", "열기".encode()),
    ]
    count, head = len(messages), 28
    texts = head + 16 * count
    tables: list[bytes] = [b"", b""]
    data = b""
    for side in (0, 1):
        for message in messages:
            tables[side] += struct.pack("<2I", len(message[side]), texts + len(data))
            data += message[side] + b"\0"
    return struct.pack("<7I", 0x950412DE, 0, count, head, head + 8 * count, 0, 0) + tables[0] + tables[1] + data


def packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)
