"""Tables into docs/waves.md, or another page, between `<!-- name:begin -->` and `<!-- name:end -->`."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "waves.md"


def fill(name: str, table: str, page: Path = PAGE) -> None:
    """Write a table between its marks anew."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    text = page.read_text(encoding="utf-8")
    filled, found = re.subn(
        f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{table}\n{end}", text, flags=re.DOTALL
    )
    if found != 1:
        raise SystemExit(f"{page.name} has {found} places for the table {name!r}, expected one: {begin} … {end}")
    page.write_text(filled, encoding="utf-8")


def rows(name: str, page: Path = PAGE) -> list[list[str]]:
    """Return the cells of the table that stands between its marks now, without its head."""
    _, _, after = page.read_text(encoding="utf-8").partition(f"<!-- {name}:begin -->\n")
    table, end, _ = after.partition(f"<!-- {name}:end -->")
    assert end, f"{page.name} has no table {name!r}"
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
