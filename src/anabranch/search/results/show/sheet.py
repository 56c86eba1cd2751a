"""What is shown of a result, before it is decided how: a heading, tables of cells, notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its lines, a share to be drawn as a bar, the colour of a value, whether it is a number."""

    lines: tuple[str, ...] = ("",)
    share: float | None = None
    colour: str | None = None
    strong: bool = False
    number: bool = False


@dataclass(frozen=True)
class Column:
    """A column's heading; numbers stand at the right. `seat` is the player it speaks of, `apart` leaves room before."""

    title: str = ""
    right: bool = True
    seat: int | None = None
    apart: bool = False


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns; `rest` says what was left out, `rules` after which rows a line is drawn."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    rest: str = ""
    rules: Sequence[int] = ()


def above(table: Table) -> Sequence[Sequence[Cell]]:
    """Return the rows above the first rule; below it stand the margins of columns, which have no room for bars."""
    return table.rows[: table.rules[0]] if table.rules else table.rows


@dataclass(frozen=True)
class Legend:
    """What the colours of values mean: words, the ends of the scale, and for each player its colours between them."""

    words: str
    low: str
    high: str
    ramps: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Sheet:
    """All that is shown of a result."""

    heading: str
    summary: str
    values: Sequence[tuple[str, Cell]]  # of the root: whom it is worth how much
    tables: Sequence[Table] = ()
    fan: Sequence[tuple[float, str]] = ()  # of a chance root: (probability, colour) of each row of the first table
    line: str = ""
    dice: str = ""  # how much of the graph is chance
    certificate: str = ""  # what the policies leave to be gained
    legend: Legend | None = None
    notes: Sequence[str] = field(default_factory=tuple)
