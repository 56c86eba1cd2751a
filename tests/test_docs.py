"""What the documents show is true: every block of Python runs and prints what is said, every command exits with 0."""

from __future__ import annotations

import contextlib
import doctest
import io
import json
import os
import re
import runpy
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest
from tests import built_pages
from tests.settings_table import LEARNING, settings_table
from tests.sources import ROOT

import anabranch as ab
from anabranch.cli import COMMANDS, main
from anabranch.game.check.law import LAWS
from anabranch.game.game import Game
from anabranch.game.words import VERBS

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_RUN = ([".", ".venv/bin/activate"], [".ci/run"], ["pip", "install", "dist/anabranch-*.whl"])


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    text: str
    line: int


def blocks(document: str) -> Iterator[Block]:
    for match in FENCE.finditer(document):
        yield Block(match[1], match[2], document.count("\n", 0, match.start(2)) + 1)


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run_python(block: Block, document: Path, namespace: dict[str, Any]) -> str:
    """Run a block as if it stood at its own lines of a file, and return what it prints."""
    code = compile("\n" * (block.line - 1) + block.text, str(document), "exec")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, namespace)
    return said.getvalue()


def run_commands(block: Block, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the commands of ours in a block, and check that the others name targets of the Makefile."""
    said = io.StringIO()
    for line in block.text.replace("\\\n", " ").splitlines():
        words, given = with_input(shlex.split(line, comments=True))
        if words[:1] == ["anabranch"]:
            monkeypatch.setattr("sys.stdin", io.StringIO(given))
            with contextlib.redirect_stdout(said):
                assert main(words[1:]) == 0, line
        elif words[:1] == ["make"]:
            targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert set(words[1:]) <= set(targets), line
        else:
            assert not words or words in NOT_RUN, f"nobody tests this line: {line}"
    return said.getvalue()


def with_input(words: list[str]) -> tuple[list[str], str]:
    """Return a command and what it reads: `printf TEXT | COMMAND`, `COMMAND < FILE`, or nothing."""
    if words[:1] == ["printf"] and "|" in words:
        return words[words.index("|") + 1 :], words[1].encode().decode("unicode_escape")
    if words[-2:-1] == ["<"]:
        return words[:-2], Path(words[-1]).read_text(encoding="utf-8")
    return words, ""


def parse_data(block: Block) -> None:
    """Read a block of TOML, JSON or JSON lines, which fails if it is none.

    One that begins with `# name.toml` is a file of that name, for commands further down the page.
    """
    if block.language == "toml":
        tomllib.loads(block.text)
        if named := re.match(r"# ([\w-]+\.toml)\n", block.text):
            Path(named[1]).write_text(block.text, encoding="utf-8")
    else:
        try:
            json.loads(block.text)
        except json.JSONDecodeError:
            for line in block.text.splitlines():
                json.loads(line)


def replace_block(path: Path, old: str, new: str) -> None:
    """Write what a block prints into its page; where lines are left out, as many of the first ones as it shows."""
    shown = old.splitlines(keepends=True)
    if any(line.strip() == "..." for line in shown):
        new = "".join(new.splitlines(keepends=True)[: len(shown) - 1]) + "...\n"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"```text\n{old}```", f"```text\n{new}```", 1), encoding="utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_blocks_run_in_order(path, tmp_path, monkeypatch):
    """Python blocks share one namespace per document; a block of text after another is what that one prints."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "document"}
    said: str | None = None
    for block in blocks(path.read_text(encoding="utf-8")):
        where = f"{path.name}:{block.line}"
        if block.language == "python":
            said = run_python(block, path, namespace)
        elif block.language == "sh":
            said = run_commands(block, monkeypatch)
        elif block.language == "text":
            if said is not None:
                same = doctest.OutputChecker().check_output(block.text, said, doctest.ELLIPSIS)
                if not same and "ANABRANCH_WRITE_DOCS" in os.environ:  # what is printed now, to be read before it stays
                    replace_block(path, block.text, said)
                    same = True
                assert same, f"{where} says\n{block.text}\nfound\n{said}"
            said = None
        elif block.language in ("toml", "json"):
            parse_data(block)
        elif block.language != "{eval-rst}":  # which is markup, and autodoc's to evaluate
            pytest.fail(f"{where}: a block is python, sh, text, toml or json, found {block.language!r}")


def test_a_wrong_output_is_seen(tmp_path, monkeypatch):
    """The test above can fail: by output, by an exception, by a command."""
    path = tmp_path / "wrong.md"
    monkeypatch.setattr("tests.test_docs.ROOT", tmp_path)
    (tmp_path / "Makefile").write_text("demo:\n")
    for text, kind in {
        "```python\nprint(1)\n```\n\n```text\n2\n```\n": AssertionError,
        "```python\n1 / 0\n```\n": ZeroDivisionError,
        "```sh\nanabranch chek\n```\n": AssertionError,
        "```sh\nmake demos\n```\n": AssertionError,
        "```sh\nrm -rf x\n```\n": AssertionError,
        "```json\n{,}\n```\n": json.JSONDecodeError,
        "```toml\na = \n```\n": tomllib.TOMLDecodeError,
        "```\nprint(1)\n```\n": pytest.fail.Exception,
    }.items():
        path.write_text(text)
        with pytest.raises(kind):
            test_blocks_run_in_order(path, tmp_path, monkeypatch)
    path.write_text("```python\nprint('a\\nb\\nc')\n```\n\n```text\na\n...\nc\n```\n")
    test_blocks_run_in_order(path, tmp_path, monkeypatch)


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), target


def python_of(path: Path) -> list[str]:
    return [block.text.strip() for block in blocks(path.read_text(encoding="utf-8")) if block.language == "python"]


def test_pages_show_the_examples():
    """The README's first block is what `make demo` runs; the tutorial's game is that of example 02."""
    example = (ROOT / "examples" / "01_search.py").read_text(encoding="utf-8")
    assert python_of(ROOT / "README.md")[0] == example.partition("\n\n")[2].strip()
    example = (ROOT / "examples" / "02_own_game.py").read_text(encoding="utf-8")
    rules, _, _ = example.partition("\n\n")[2].partition("\n\n\ngame = ")
    assert rules.strip() in python_of(DOCS / "tutorial.md")
    assert len(example.splitlines()) <= 60


def test_the_table_of_settings_is_that_of_the_code():
    assert settings_table() in page("options.md"), "make readme writes the table anew"
    assert settings_table(LEARNING) in page("training.md"), "make readme writes the table anew"


def test_the_table_of_columns_is_that_of_the_engine():
    """What `graph.columns` holds: columns declared one by one, and the fields of nodes and edges."""
    page = (DOCS / "searching.md").read_text(encoding="utf-8")
    table = page.partition("| column | a row for each |")[2].partition("\n\n")[0]
    told = re.findall(r"`([a-z_]+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:]))
    declared = re.findall(r"COLUMN\(([a-z_]+),", (ROOT / "cpp" / "anabranch" / "columns.hpp").read_text())
    shown = re.findall(r'd\["([a-z_]+)"\]', (ROOT / "cpp" / "bindings" / "report.cpp").read_text())
    assert len(told) == len(set(told))
    assert set(told) == {*declared, *shown}
    assert {*ab.search(ab.games.load("take_away").start(), simulations=5).graph.columns} <= set(told)


def test_pages_name_every_verb_attribute_game_command_and_law():
    for verb in VERBS:
        assert f"| `{verb}(" in page("rules.md")
    attributes = {name for name in Game.__annotations__ if not name.startswith("_")} | {"state", "key_record"}
    for name in attributes:
        assert f"`{name}`" in page("rules.md")
    assert f"tests {len(LAWS)} laws" in page("rules.md")
    for name in ab.games.names():
        assert f"`{name}`" in README
        assert f'load("{name}"' in page(f"games/{name}.md")
        assert f"\n{name}\n" in page("games/index.md")
    for name in COMMANDS:
        assert f"anabranch {name}" in README
        assert re.search(rf"^(|.* \| )anabranch {name}\b", page("commands.md"), re.MULTILINE), f"no block runs {name}"


def test_the_reference_lists_every_public_name():
    listed = re.findall(r"^\.\. [\w:]+:: anabranch\.(\w+)[\n(]", page("api.md"), re.MULTILINE)
    assert sorted(listed) == sorted({*ab.__all__} - {"games"})


def test_every_page_can_be_found():
    """From the index, along tables of contents, to every page; and from the README to those it lists."""
    found, waiting = set(), [DOCS / "index.md"]
    while waiting:
        path = waiting.pop()
        found.add(path)
        for contents in re.findall(r":::\{toctree\}(.*?):::", path.read_text(encoding="utf-8"), re.DOTALL):
            waiting += [path.parent / f"{name}.md" for name in re.findall(r"^\w\S*$", contents, re.MULTILINE)]
    assert found == set(DOCS.rglob("*.md"))


def test_a_page_that_was_built_over_is_seen(tmp_path):
    """What `make docs` looks for can be found: a page without HTML, and one that Sphinx has overwritten."""
    pages, built = tmp_path / "pages", tmp_path / "built"
    (pages / "games").mkdir(parents=True)
    (built / "games").mkdir(parents=True)
    (pages / "search.md").write_text("# The `search` & its steps\n\n## One\n")
    (pages / "games" / "pig.md").write_text("# Pig\n")
    assert len(built_pages.faults(pages, built)) == 2
    mark = '<a class="headerlink" href="#s" title="Link to this heading">¶</a>'
    (built / "games" / "pig.html").write_text(f"<body><h1>Pig{mark}</h1></body>")
    (built / "search.html").write_text(f"<h1>The <code>search</code> &amp; its steps{mark}</h1>")
    assert built_pages.faults(pages, built) == []
    (built / "search.html").write_text("<h1>Search</h1>")
    [fault] = built_pages.faults(pages, built)
    assert fault.startswith("search.md: ")
    assert "'Search', not 'The search & its steps'" in fault


def test_pictures_say_what_the_code_draws():
    """Every number and word in the pictures of the pages; how they are drawn is tested elsewhere."""
    script = runpy.run_path(str(DOCS / "pictures.py"))

    def words(svg: str) -> list[str]:
        return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter() if "text" in element.tag]

    drawn = {f"{name}.svg": words(picture.svg) for name, picture in script["pictures"]()}
    files = [path for path in (DOCS / "pictures").iterdir() if path.stem not in script["PAST"]]
    kept = {path.name: words(path.read_text(encoding="utf-8")) for path in files}
    assert kept == drawn, "make pictures draws them anew"


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 250
