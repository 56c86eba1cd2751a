"""What cites the model finds it: every section that code, tests and pages name is a heading of docs/model.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources import ROOT

PAGE = ROOT / "docs" / "model.md"
FOLDERS = ("src", "cpp", "tests", "docs", "benchmarks")
SUFFIXES = {".py", ".pyi", ".hpp", ".cpp", ".md"}
HEADING = re.compile(r"^## (\d+)\. (.+)$", re.MULTILINE)
# "MODEL section 3", "docs/model.md sections 2 to 9", "docs/model.md, sections 3, 6 and 9", "MODEL §1"; a comment or a
# docstring may break the line anywhere in between.
GAP = r"(?:\s|//|#)+"
CITATION = re.compile(rf"(?:MODEL|docs/model\.md),?{GAP}(?:§\s*|sections?{GAP})(\d+(?:(?:,|{GAP}(?:and|to)){GAP}\d+)*)")
ANCHOR = re.compile(r"\bmodel\.md#([\w-]+)")


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file that may cite the model, except this one."""
    paths = [*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))]
    for path in sorted(paths):
        if path.suffix in SUFFIXES and path != Path(__file__).resolve():
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def headings() -> dict[int, str]:
    return {int(number): title for number, title in HEADING.findall(PAGE.read_text(encoding="utf-8"))}


def cited(text: str) -> set[int]:
    """Return the numbers of all sections that a text cites."""
    numbers: set[int] = set()
    for found in CITATION.finditer(text):
        before, ranged = 0, False
        for word in re.findall(r"\d+|to", found[1]):
            if word == "to":
                ranged = True
                continue
            numbers.update(range(before if ranged else int(word), int(word) + 1))
            before, ranged = int(word), False
    return numbers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("the second moment of MODEL section 8, about the mean", {8}),
        ("(docs/model.md sections 5 and 6)", {5, 6}),
        ("(docs/model.md sections 2 to 9).", set(range(2, 10))),
        ("(MODEL sections 3, 6 and 9)", {3, 6, 9}),
        ("vectors of docs/model.md, sections 1 to 3 and 12, made", {1, 2, 3, 12}),
        ("The recursion of MODEL §1 again; docs/model.md § 2", {1, 2}),
        ("// as docs/model.md\n// section 14 has it", {14}),
        ("# docs/model.md sections 3\n    # and 4", {3, 4}),
        ("a model of 3 sections, section 4 of docs/step_by_step.md, MODEL 7", set()),
    ],
)
def test_citations_are_read(text, numbers):
    """The tests below can fail: all spellings are seen, also across lines, and nothing else is."""
    assert cited(text) == numbers


def test_the_page_has_its_fifteen_sections_in_order():
    found = [int(number) for number, _ in HEADING.findall(PAGE.read_text(encoding="utf-8"))]
    assert found == list(range(1, 16))


def test_every_section_cited_is_a_heading():
    sections, seen = headings(), 0
    for name, text in texts():
        missing = cited(text) - set(sections)
        assert not missing, f"{name} cites sections {sorted(missing)} of docs/model.md, which has {sorted(sections)}"
        seen += bool(cited(text))
    assert seen > 10, "headers and tests cite the model"


def test_links_to_sections_lead_to_them():
    """Anchors are titles in lower case, without punctuation, with dashes for spaces."""
    titles = re.findall(r"^#{1,3} (.+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    known = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
    links = [(name, anchor) for name, text in texts() for anchor in ANCHOR.findall(text)]
    assert links
    for name, anchor in links:
        assert anchor in known, f"{name} links to model.md#{anchor}"


def test_nothing_cites_a_page_outside_the_repository():
    assert [name for name, text in texts() if re.search(r"MODEL\.md", text)] == [], "the page is docs/model.md"
