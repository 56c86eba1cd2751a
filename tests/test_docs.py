"""What the documents show is true: every block of Python runs and prints what is said, every command exits with 0."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.settings_table import settings_table
from tests.sources import ROOT

import anabranch as ab
from anabranch.cli import COMMANDS, main
from anabranch.game.check.law import LAWS
from anabranch.game.game import Game
from anabranch.game.words import VERBS
from anabranch.search.native import supported

DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block of a document."""

    language: str
    text: str
    line: int


def blocks(document: str) -> Iterator[Block]:
    for match in FENCE.finditer(document):
        yield Block(match[1], match[2], document.count("\n", 0, match.start(2)) + 1)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run_python(block: Block, document: Path, namespace: dict[str, Any]) -> str:
    """Run a block as if it stood at its own lines of a file, and return what it prints."""
    code = compile("\n" * (block.line - 1) + block.text, str(document), "exec")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(code, namespace)
    return said.getvalue()


def run_commands(block: Block) -> str:
    """Run the commands of ours in a block, and check that the others name targets of the Makefile."""
    said = io.StringIO()
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["anabranch"]:
            with contextlib.redirect_stdout(said):
                assert main(words[1:]) == 0, line
        elif words[:1] == ["make"]:
            targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
            assert set(words[1:]) <= set(targets), line
        else:
            assert not words or words in ([".", ".venv/bin/activate"], [".ci/run"]), f"nobody tests this line: {line}"
    return said.getvalue()


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
            said = run_commands(block)
        elif block.language == "text":
            if said is not None:
                same = doctest.OutputChecker().check_output(block.text, said, doctest.ELLIPSIS)
                assert same, f"{where} says\n{block.text}\nfound\n{said}"
            said = None
        else:
            pytest.fail(f"{where}: a block is python, sh or text, found {block.language!r}")


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


def test_the_readme_shows_the_examples():
    """The first block is what `make demo` runs; the game is example 02, all of it but its first line."""
    shown = [block.text.strip() for block in blocks(README) if block.language == "python"]
    for name in ("01_search", "02_own_game"):
        text = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
        assert text.partition("\n\n")[2].strip() in shown
    assert len((ROOT / "examples" / "02_own_game.py").read_text(encoding="utf-8").splitlines()) <= 60


def test_the_readme_lists_every_setting_with_its_default():
    assert settings_table() in README, "make readme writes the table anew"


def test_the_readme_names_every_verb_attribute_game_and_command():
    for verb in VERBS:
        assert f"| `{verb}(" in README
    attributes = {name for name in Game.__annotations__ if not name.startswith("_")} | {"state", "key_record"}
    for name in attributes:
        assert f"`{name}`" in README
    for name in ab.games.names():
        assert f"`{name}`" in README
    for name in COMMANDS:
        assert f"anabranch {name}" in README
    assert f"tests {len(LAWS)} laws" in README


def test_the_readme_is_right_about_what_the_engine_lacks():
    """`ab.search` runs averaging selectors on the reference; the day the engine has one, the README must say so."""
    for selector in (ab.RegretMatching(), ab.MatrixGame(), ab.Exp3()):
        assert not supported(ab.SearchConfig(simultaneous=selector))
        assert f"`{type(selector).__name__}`" in README
    for plain in (ab.Puct(), ab.Ucb1()):
        assert supported(ab.SearchConfig(simultaneous=plain))
