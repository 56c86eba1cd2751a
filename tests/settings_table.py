"""The table of settings in docs/options.md, made from the code: `make readme` writes it, a test compares it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any, get_type_hints

from tests.sources import ROOT

import anabranch as ab

PARTS: tuple[Any, ...] = (
    *(ab.SearchConfig, ab.Puct, ab.Ucb1, ab.Gumbel, ab.RegretMatching, ab.MatrixGame, ab.Exp3),
    *(ab.Chance, ab.Transposition, ab.VirtualLoss, ab.RootNoise, ab.ForcedPlayouts, ab.PlayoutCap),
)
PAGE = ROOT / "docs" / "options.md"
MARK = "<!-- settings: `make readme` writes this table from the code -->\n\n"


def settings_table() -> str:
    """Return every setting with its default and its text."""
    lines = ["| setting | default | what it says |", "|---|---|---|"]
    for part in PARTS:
        made, hints = part(), get_type_hints(part, include_extras=True)
        for setting in dataclasses.fields(part):
            [text] = hints[setting.name].__metadata__
            lines.append(f"| `{part.__name__}.{setting.name}` | `{shown(getattr(made, setting.name))}` | {text} |")
    return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """Return a default as one would write it."""
    if isinstance(value, ab.FirstPlay):
        return f"FirstPlay.{value.kind}({value.amount or ''})"
    if dataclasses.is_dataclass(value):
        return f"{type(value).__name__}()"
    return f"{value:.6g}" if isinstance(value, float) else repr(value).replace("'", '"')


def write() -> None:
    """Put the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(re.sub(f"(?<={re.escape(MARK)})(\\|.*\n)+", lambda _: settings_table(), text), encoding="utf-8")


if __name__ == "__main__":
    write()
