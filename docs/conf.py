"""How Sphinx builds these pages: MyST Markdown, no network, every warning an error (`make docs`)."""

from __future__ import annotations

import importlib.util
import re
import sys
import types
from typing import Any

import anabranch

project = "anabranch"
author = "the anabranch authors"
project_copyright = author
version = release = anabranch.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["README.md"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

highlight_language = "none"  # of indented blocks: formulas
html_theme = "furo"
html_title = f"anabranch {release}"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1f5f8b", "color-brand-content": "#1f5f8b"},
    "dark_css_variables": {"color-brand-primary": "#7fb8e0", "color-brand-content": "#7fb8e0"},
}

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # annotations carry help texts, which the table of options shows better
autodoc_inherit_docstrings = False

if importlib.util.find_spec("pyspiel") is None:  # an extra, and one of our classes derives from one of its own
    sys.modules["pyspiel"] = types.ModuleType("pyspiel")
    sys.modules["pyspiel"].Bot = object  # type: ignore[attr-defined]

SPECIAL = re.compile(r"([\\*|_])")
CODE = re.compile(r"(`[^`]+`|\*\w+\*)")


def as_restructured_text(docstring: list[str]) -> list[str]:
    """Return one of our docstrings (Markdown in spirit) in the markup that autodoc reads.

    Words in backticks become literals, a word in asterisks stays emphasised, an indented paragraph becomes a literal
    block, and no other character means anything.
    """
    lines: list[str] = []
    literal = False
    for line in docstring:
        if line.startswith("    "):
            if not literal:
                lines += ["::", ""]
                literal = True
            lines.append(line)
            continue
        if line.strip():
            literal = False
        pieces = CODE.split(line)  # every second one is code in backticks or a word in asterisks
        lines.append("".join(p.replace("`", "``") if i % 2 else SPECIAL.sub(r"\\\1", p) for i, p in enumerate(pieces)))
    return lines


def _process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = as_restructured_text(lines)


def setup(app: Any) -> None:
    """Hand docstrings to Sphinx in its own markup."""
    app.connect("autodoc-process-docstring", _process)
