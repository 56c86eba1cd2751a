"""Looks at the HTML of `make docs`: every page of docs/ must be there under its own title.

Sphinx writes pages of its own, such as search.html, over a document of the same name, and says nothing.
"""

from __future__ import annotations

import html
import re
import sys
from pathlib import Path

HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
LINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)  # Sphinx's mark behind a heading
TAG = re.compile(r"<[^>]+>")
QUOTES = str.maketrans("‘’“”", "''\"\"")  # which Sphinx sets for those of keyboards


def title_of(page: str) -> str:
    """Return the first heading of a page in Markdown, as plain text."""
    return page.partition("# ")[2].partition("\n")[0].replace("`", "").strip()


def heading_of(built: str) -> str | None:
    """Return the first heading of a page in HTML, as plain text; None if it has none."""
    found = HEADING.search(built)
    return found and html.unescape(TAG.sub("", LINK.sub("", found[1]))).translate(QUOTES).strip()


def faults(pages: Path, built: Path) -> list[str]:
    """Return what is wrong with the HTML in `built` of the pages in a folder, one sentence for each of them."""
    found = []
    for path in sorted(pages.rglob("*.md")):
        name = path.relative_to(pages)
        made = built / name.with_suffix(".html")
        title = title_of(path.read_text(encoding="utf-8"))
        if not made.is_file():
            found.append(f"{name}: there is no {made}")
        elif (heading := heading_of(made.read_text(encoding="utf-8"))) != title:
            found.append(f"{name}: {made} is headed {heading!r}, not {title!r}; if Sphinx writes it, rename the page")
    return found


def main() -> None:
    """Say which pages cannot be read: `python -m tests.built_pages docs build/docs`."""
    pages, built = map(Path, sys.argv[1:])
    if found := faults(pages, built):
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
