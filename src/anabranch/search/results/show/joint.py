"""The joint table: what two players who choose at once tried together, and each one's own strategy at its margin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anabranch.draw.palette import blend
from anabranch.game.pictures import player_name
from anabranch.search.results.show.numbers import Scale, count, percent, signed, value_cell
from anabranch.search.results.show.sheet import Cell, Column, Table
from anabranch.search.results.views import Action, EdgeView

if TYPE_CHECKING:
    from anabranch.search.results.result import Result

MOST_ROWS, MOST_COLUMNS = 12, 7


def joint_table(result: Result, seats: tuple[int, int], root: dict[Action, EdgeView], scale: Scale) -> Table:
    """Return one player's choices as rows, the other's as columns; in a cell, visits and what it is worth to both.

    Choices beyond the likeliest few are summed up in one row and one column, so that visits still add up.
    """
    state, game, (one, other) = result.state, result.state.game, seats
    rows, more_rows = _kept(result, one, MOST_ROWS)
    columns, more_columns = _kept(result, other, MOST_COLUMNS)
    opposite = game.players == 2 and all(abs(float(edge.value.sum())) < 1e-9 for edge in root.values() if edge.visits)
    down: list[tuple[str, list[int]]] = [(game.move_name(state, one, action), [action]) for action in rows]
    across: list[tuple[str, list[int]]] = [(game.move_name(state, other, action), [action]) for action in columns]
    down += [(f"{len(more_rows)} more", more_rows)] * bool(more_rows)
    across += [(f"{len(more_columns)} more", more_columns)] * bool(more_columns)
    busiest = max((edge.visits for edge in root.values()), default=0)
    best = {seat: int(result.policy[seat].argmax()) for seat in seats}

    def cell(firsts: list[int], seconds: list[int]) -> Cell:
        edges = [root[first, second] for first in firsts for second in seconds if (first, second) in root]
        visits = sum(edge.visits for edge in edges)
        if visits == 0:
            return Cell((count(0), ""))
        # Several edges are worth their mean by visits.
        worth = {seat: sum(edge.visits * float(edge.value[seat]) for edge in edges) / visits for seat in seats}
        values = [signed(worth[seat], 2) for seat in (seats[:1] if opposite else seats)]
        # Paler where less was tried: what a single visit found should not catch the eye.
        colour = blend(scale.colour(worth[one], one), max(0.2, (visits / busiest) ** 0.5))
        return Cell((count(visits), " ".join(values)), colour=colour, number=True)

    body = [
        [
            Cell((name,), strong=best[one] in ids),
            *(cell(ids, others) for _, others in across),
            *_margin(result, one, ids, scale),
        ]
        for name, ids in down
    ]
    margins = [_margin(result, other, ids, scale) for _, ids in across]
    blank = [Cell()] * 4
    foot = [
        [Cell((title,)), *(margin[at] for margin in margins), *blank]
        for at, title in enumerate(("prior", "visits", "share", "value"))
    ]
    whose, rival = player_name(game, one), player_name(game, other)
    worth = f"the value to {whose}" if opposite else "the values to both"  # short: terminals break at any letter
    return Table(
        [
            Column(whose, right=False, seat=one),
            *(Column(name, seat=other) for name, _ in across),
            *(Column(title, seat=one, apart=title == "prior") for title in ("prior", "visits", "share", "value")),
        ],
        [*body, *foot],
        title=f"rows are {whose}'s choices, columns {rival}'s; in a cell, visits and {worth}",
        rules=[len(body)],
    )


def _kept(result: Result, seat: int, most: int) -> tuple[list[int], list[int]]:
    """Return the likeliest choices and the others, both in order of their ids."""
    choices = list(result.state.choices(seat))
    order = sorted(choices, key=lambda action: (-result.policy[seat, action], -result.visits[seat, action], action))
    kept = set(order if len(order) <= most + 1 else order[:most])  # one left over is no reason to sum up
    return [action for action in choices if action in kept], [action for action in choices if action not in kept]


def _margin(result: Result, seat: int, ids: list[int], scale: Scale) -> list[Cell]:
    """Return prior, visits, share and value of one choice of a player, or of several together."""
    visits, share = int(result.visits[seat, ids].sum()), float(result.policy[seat, ids].sum())
    tried = [action for action in ids if result.visits[seat, action]]
    value = float("nan")
    if tried:
        value = float((result.visits[seat, tried] * result.q[seat, tried]).sum()) / visits
    return [
        Cell((percent(float(result.prior[seat, ids].sum())),)),
        Cell((count(visits),)),
        Cell((percent(share),), share=share),
        value_cell(value, seat, scale),
    ]
