"""The tables of settings in docs/options.md and docs/training.md, made from the code: `make readme` writes them."""

from __future__ import annotations

import dataclasses
import re
from functools import partial
from typing import Any, get_type_hints

from tests.sources import ROOT

import anabranch as ab
from anabranch.learn import settings as learn

PARTS: tuple[Any, ...] = (
    *(ab.SearchConfig, ab.Puct, ab.Ucb1, ab.Gumbel, ab.RegretMatching, ab.MatrixGame, ab.Exp3),
    *(ab.Chance, ab.Transposition, ab.VirtualLoss, ab.RootNoise, ab.ForcedPlayouts, ab.PlayoutCap),
)
LEARNING: tuple[Any, ...] = (
    *(
        learn.TrainConfig,
        learn.SelfPlay,
        learn.Net,
        learn.Teacher,
        learn.Replay,
        learn.Targets,
        learn.Learner,
        learn.Auxiliary,
        learn.Unroll,
    ),
    *(learn.Export, learn.Rating),
)
PAGE = ROOT / "docs" / "options.md"
TRAINING = ROOT / "docs" / "training.md"
MARK = "<!-- settings: `make readme` writes this table from the code -->\n\n"


def settings_table(parts: tuple[Any, ...] = PARTS) -> str:
    """Return every setting with its default and its text."""
    lines = ["| setting | default | what it says |", "|---|---|---|"]
    for part in parts:
        made, hints = part(), get_type_hints(part, include_extras=True)
        for setting in dataclasses.fields(part):
            text, *_ = hints[setting.name].__metadata__
            lines.append(f"| `{part.__name__}.{setting.name}` | `{shown(getattr(made, setting.name))}` | {text} |")
    return "\n".join(lines) + "\n"


def shown(value: Any) -> str:
    """Return a default as one would write it."""
    if isinstance(value, ab.FirstPlay):
        return f"FirstPlay.{value.kind}({value.amount or ''})"
    if dataclasses.is_dataclass(value):
        return f"{type(value).__name__}()"
    return f"{value:.6g}" if isinstance(value, float) else repr(value).replace("'", '"')


def _instead(table: str, found: re.Match[str]) -> str:
    return table


def write() -> None:
    """Put the tables into their pages."""
    for page, parts in ((PAGE, PARTS), (TRAINING, LEARNING)):
        text = page.read_text(encoding="utf-8")
        page.write_text(
            re.sub(f"(?<={re.escape(MARK)})(\\|.*\n)+", partial(_instead, settings_table(parts)), text),
            encoding="utf-8",
        )


if __name__ == "__main__":
    write()
