"""The fan of outcomes of a chance state: what can be rolled, how likely, how often it was drawn, what it is worth."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from anabranch.game.pictures import player_name
from anabranch.game.state import State
from anabranch.search.results.show.lines import variation_names
from anabranch.search.results.show.numbers import Scale, count, percent, plural, rest_of, value_cell
from anabranch.search.results.show.sheet import Cell, Column, Table
from anabranch.search.results.views import Action, EdgeView

MOST_PLAYERS = 6  # columns of values
LONGEST_LINE = 7  # moves after an outcome
FROZEN = "(frozen)"  # in place of a line: one evaluation speaks for what follows

Found = tuple[float, int, Any]  # probability, visits, value of an outcome that was met


def outcomes_table(
    state: State,
    found: Mapping[Any, Found],
    edges: Mapping[Action, EdgeView],
    graph: Any,
    scale: Scale,
    *,
    exact: bool,
    most: int,
) -> tuple[Table, list[tuple[float, str]]]:
    """Return the outcomes of a chance state, in order, and for each row of them its chance and colour.

    Where all were enumerated (`exact`) each has a value, also those that were never drawn since.
    """
    game = state.game
    # Where chance can only be drawn nothing is known of outcomes that never came.
    listed = dict(state.outcomes()) if game.has("chance") else {}
    unknown = [math.nan] * game.players
    every: dict[Any, Found] = {outcome: (chance, 0, unknown) for outcome, chance in listed.items()} | dict(found)
    total = sum(visits for _, visits, _ in every.values())
    # Of too many the likeliest are kept: by chance where it is known, else by visits.
    order = sorted(every, key=lambda one: (-every[one][0] if one in listed else 0.0, -every[one][1], one))
    kept, left = sorted(order[:most]), order[most:]
    shown = range(min(game.players, MOST_PLAYERS))
    columns = [Column("outcome", right=False), Column("chance"), Column("visits"), Column("share")]
    columns += [Column(player_name(game, player), seat=player) for player in shown]
    rows, fan = [], []
    for outcome in kept:
        chance, visits, values = every[outcome]
        share = visits / total if total else 0.0
        edge = edges.get(outcome)
        frozen = edge is not None and edge.child is None
        line = variation_names(graph, edge.child, LONGEST_LINE) if edge and visits else []
        known = chance if outcome in listed else math.nan
        values = values if visits or (exact and outcome in found) else unknown
        rows.append(
            [
                Cell((game.outcome_name(outcome),), strong=True),
                Cell((percent(known),)),
                Cell((count(visits),)),
                Cell((percent(share),), share=share),
                *(value_cell(float(values[player]), player, scale) for player in shown),
                Cell((FROZEN if frozen else " ".join(line),)),
            ]
        )
        fan.append((known if math.isfinite(known) else share, scale.colour(float(values[0]), 0)))
    rest = rest_of("outcome", left, [every[outcome][1] for outcome in left])
    table = Table([*columns, Column("line", right=False)], rows, title=_title(listed, found, exact), rest=rest)
    return table, fan


def _title(listed: Mapping[int, float], found: Mapping[Any, Found], exact: bool) -> str:
    """Say whether values are expectations over all outcomes, or what was drawn of how many."""
    if exact:
        return f"{plural(len(listed), 'outcome')}, exact: all were evaluated, each weighs as its chance"
    met = sum(visits > 0 for _, visits, _ in found.values())
    if not listed:
        return f"drawn: {plural(met, 'outcome')} so far, each weighs as its visits"
    return f"drawn: {count(met)} of {plural(len(listed), 'outcome')} so far, each weighs as its visits"
