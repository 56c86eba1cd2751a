"""What ARCHITECTURE.md says of files and functions is there: the trace of a search, the headers it lists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
ENTRY = re.compile(r"^\d+\. `([^`]+)`: `([^`]+)`$", re.MULTILINE)


def trace() -> list[tuple[str, str]]:
    """Return (file, function) of the trace of a search."""
    body = PAGE.partition("<!-- trace:begin -->")[2].partition("<!-- trace:end -->")[0]
    return ENTRY.findall(body)


def defines(text: str, name: str) -> bool:
    """Whether a source defines a function: `def name(` or, in C++, a type before `name(` and a body behind it."""
    return bool(
        re.search(rf"\bdef {re.escape(name)}\(", text)
        or re.search(
            rf"^[^/\n]*[\w>&*]\s+{re.escape(name)}\([^;]*?\)( const)?( noexcept)? {{", text, re.MULTILINE | re.DOTALL
        )
    )


def test_the_trace_of_a_search_exists():
    """At most 15 entries, each a file with that function, from the call down to the inner loop and back."""
    entries = trace()
    assert 10 <= len(entries) <= 15
    for file, function in entries:
        assert defines((ROOT / file).read_text(encoding="utf-8"), function), f"{file} has no {function}"
    assert not defines((ROOT / entries[7][0]).read_text(encoding="utf-8"), "no_such_function")


def test_every_header_of_the_engine_is_listed():
    listed = PAGE.partition("one header each, over one")[2].partition("```\n\n")[0]
    missing = [
        path.name
        for path in sorted((ROOT / "cpp" / "anabranch").rglob("*.hpp"))
        if not re.search(rf"\b{path.stem}\b", listed)
        and path.stem not in {"rules", "config", "random", "draws", "failure", "team", "context"}
    ]
    assert not missing, f"ARCHITECTURE.md does not list {missing}"


def test_headers_are_short():
    """A header of more than 400 lines has more than one job."""
    sizes = {path.name: len(path.read_text().splitlines()) for path in (ROOT / "cpp" / "anabranch").rglob("*.hpp")}
    assert not {name: size for name, size in sizes.items() if size > 400}
