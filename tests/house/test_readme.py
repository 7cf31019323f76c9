"""The documents are true: the tree, the examples and their output, the quoted lines, the links."""

import io
import re
import textwrap
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "seq2see"
HOUSE = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
ATTENTION_PAGES = ("attention.md", "attention.ko.md")
ATTENTION, ATTENTION_KO = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ATTENTION_PAGES)
DOCUMENTS = [
    path
    for path in (
        ROOT / "README.md",
        ROOT / "README.ko.md",
        ROOT / "CHANGELOG.md",
        *sorted((ROOT / "docs").glob("*.md")),
    )
    if path.exists()
]
# Blocks marked `python` are examples, and the block behind each shows what it prints; in attention.md they are quotes.
EXAMPLES = (
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in ATTENTION_PAGES),
)

TREE = re.compile(r"<!-- tree -->\n```\n(.*?)\n```", re.DOTALL)
QUOTE = re.compile(r"<!-- quote: (\S+) -->\n```python\n(.*?)\n```", re.DOTALL)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def files_in_tree(text: str) -> list[str]:
    """The .py files that the drawn tree names, as paths below src/seq2see; two spaces for each level."""
    match = TREE.search(text)
    assert match is not None, "docs/house.md has no block marked <!-- tree -->"
    found, folders = [], []
    for line in match.group(1).splitlines()[1:]:  # the first line is src/seq2see/
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2 - 1
        folders = folders[:depth]
        if name.endswith("/"):
            folders.append(name)
        else:
            found.append("".join([*folders, name]))
    return found


def files_on_disk() -> set[str]:
    return {str(path.relative_to(PACKAGE).as_posix()) for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"}


def examples(text: str) -> list[tuple[str, str]]:
    """Each python block with the block behind it, which shows what it prints."""
    blocks = FENCE.findall(text)
    found = []
    for (language, code), (_, output) in zip(blocks, [*blocks, ("", "")][1:], strict=True):
        if language == "python":
            found.append((code, output))
    return found


def printed(code: str) -> str:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(), redirect_stdout(io.StringIO()) as output:
            exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    finally:
        torch.set_num_threads(threads)
    return output.getvalue()


def occurs(quote: str, source: str) -> bool:
    """Whether the lines stand one below the other in the source, moved in or out as a whole."""
    lines = textwrap.dedent(quote).splitlines()
    below = source.splitlines()
    for start in range(len(below) - len(lines) + 1):
        if textwrap.dedent("\n".join(below[start : start + len(lines)])).splitlines() == lines:
            return True
    return False


def broken_links(path: Path, text: str) -> list[str]:
    links = [link for link in LINK.findall(FENCE.sub("", text)) if not re.match(r"[a-z]+:", link)]
    return [link for link in links if not _resolves(path, text, link)]


def _resolves(path: Path, text: str, link: str) -> bool:
    file, _, anchor = link.partition("#")
    target = path.parent / file if file else path
    if not target.exists():
        return False
    if not anchor or target.suffix != ".md":
        return True
    titles = re.findall(r"^#+ (.*)$", text if target == path else target.read_text(encoding="utf-8"), re.MULTILINE)
    return anchor in {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_file_of_the_package_stands_in_the_tree_of_the_house() -> None:
    drawn = files_in_tree(HOUSE)
    assert len(drawn) == len(set(drawn))
    assert files_on_disk() - set(drawn) == set(), "missing from the tree in docs/house.md"
    assert set(drawn) - files_on_disk() == set(), "in the tree of docs/house.md, but not on disk"


def all_examples() -> list[tuple[str, str]]:
    return [example for path in EXAMPLES for example in examples(path.read_text(encoding="utf-8"))]


def test_the_documents_have_examples() -> None:
    assert len(all_examples()) >= 2


@pytest.mark.parametrize(("code", "output"), all_examples())
def test_examples_print_what_the_documents_show(code: str, output: str) -> None:
    assert printed(code) == output


@pytest.mark.parametrize("page", [ATTENTION, ATTENTION_KO], ids=ATTENTION_PAGES)
def test_every_python_block_of_the_attention_page_is_a_marked_quote(page: str) -> None:
    assert page.count("```python") == len(QUOTE.findall(page)) > 0


def test_the_korean_page_has_the_same_formulas_quotes_pictures_and_sections() -> None:
    formula = re.compile(r"^\$\$.*?\$\$$", re.DOTALL | re.MULTILINE)
    picture = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
    level = re.compile(r"^#+ ", re.MULTILINE)
    figure = re.compile(r"\d[\d,]*\d{3}(?!\d)|(?<![\d.])0\.\d{3}(?!\d)")
    for kind in (formula, QUOTE, picture, level):
        assert kind.findall(ATTENTION_KO) == kind.findall(ATTENTION)
    assert sorted(figure.findall(ATTENTION_KO)) == sorted(figure.findall(ATTENTION))
    assert len(re.findall(r"[가-힣]", ATTENTION_KO)) > 5_000


@pytest.mark.parametrize(("file", "quote"), [*QUOTE.findall(ATTENTION), *QUOTE.findall(ATTENTION_KO)])
def test_quoted_lines_stand_in_the_source(file: str, quote: str) -> None:
    assert occurs(quote, (ROOT / file).read_text(encoding="utf-8")), f"{file} has no longer these lines:\n{quote}"


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_relative_links_lead_somewhere(path: Path) -> None:
    assert broken_links(path, path.read_text(encoding="utf-8")) == []


# The rules themselves.


def test_a_tree_is_read_with_its_folders() -> None:
    text = "<!-- tree -->\n```\nsrc/seq2see/\n  errors.py  words\n  data/\n    batch.py  words\n    deep/\n"
    text += "      one.py  words\n  masks.py  words\n```"
    assert files_in_tree(text) == ["errors.py", "data/batch.py", "data/deep/one.py", "masks.py"]


def test_a_quote_may_be_indented_but_not_changed() -> None:
    source = "def f():\n    a = 1\n    if a:\n        b = 2\n"
    assert occurs("a = 1\nif a:\n    b = 2", source)
    assert not occurs("a = 1\nb = 2", source)
    assert not occurs("a = 2", source)
    assert not occurs("a =", source)


def test_a_broken_link_is_seen() -> None:
    text = "# A title\n[here](#a-title) [there](docs/nowhere.md) [gone](#no-title) [web](https://example.org/x)\n"
    assert broken_links(ROOT / "README.md", text) == ["docs/nowhere.md", "#no-title"]
