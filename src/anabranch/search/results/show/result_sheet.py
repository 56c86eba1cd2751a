"""A result as a sheet: a table of choices, the joint table of two players, or the outcomes of chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from anabranch.game.game import Game
from anabranch.game.pictures import player_name, situation
from anabranch.search.results.proof import EdgeProof
from anabranch.search.results.show.joint import joint_table
from anabranch.search.results.show.lines import line_names, move_name, variation_names
from anabranch.search.results.show.numbers import Scale, count, percent, plural, rest_of, signed, value_cell
from anabranch.search.results.show.outcomes import outcomes_table
from anabranch.search.results.show.sheet import Cell, Column, Legend, Sheet, Table
from anabranch.search.results.views import Action, EdgeView

if TYPE_CHECKING:
    from anabranch.search.results.result import Result

MOST_ROWS = 20
MOST_BELOW = 8  # outcomes after the chosen action
SHADES = 12  # of a player in the legend
MOST_PLAYERS = 6  # columns of values
LONGEST_LINE = 8


def result_sheet(result: Result) -> Sheet:
    """Gather what is shown of a result."""
    state, game, turn = result.state, result.state.game, result.state.turn
    gone = getattr(result.graph, "moved_on", False)
    root = {} if gone else {edge.action: edge for edge in result.graph.node(0).edges}
    values = [*result.value.tolist(), *(float(v) for edge in root.values() if edge.visits for v in edge.value)]
    scale = Scale.of(game, values)
    seats = turn if isinstance(turn, tuple) else ()
    tables: list[Table] = []
    fan: list[tuple[float, str]] = []
    if len(seats) == 1:
        tables = [choices_table(result, seats[0], root, scale), *_dice_after(result, root)]
    elif len(seats) == 2:
        tables = [joint_table(result, (seats[0], seats[1]), root, scale)]
    elif seats:
        tables = [together_table(result, root, scale), *(seat_table(result, seat, scale) for seat in seats)]
    elif result.outcomes or state.outcomes():
        view = None if gone else result.graph.node(0)
        found = {row[0]: row[1:] for row in result.outcomes}
        exact = view is not None and view.exact
        table, fan = outcomes_table(state, found, root, result.graph, scale, exact=exact, most=MOST_ROWS)
        tables = [table]
    shown = range(min(game.players, MOST_PLAYERS))
    return Sheet(
        heading=f"{game.name}: {situation(state)}",
        summary=", ".join(
            [plural(result.simulations, "simulation"), plural(result.nodes, "node"), *_cap(result), *_solved(result)]
        ),
        dice="" if gone or not (counts := result.chance).rows else str(counts),
        values=[(player_name(game, seat), value_cell(float(result.value[seat]), seat, scale)) for seat in shown],
        tables=tables,
        fan=fan,
        line="" if len(seats) == 1 else " ".join(line_names(state, result.line, LONGEST_LINE)),
        certificate=_certificate(result),
        legend=_legend(game, len(seats), scale, bool(fan)) if tables else None,
        notes=_notes(result, root),
    )


def _legend(game: Game, acting: int, scale: Scale, fan: bool) -> Legend:
    """Explain the colours of values: one rule, however many play."""
    players = game.players
    words = "the better a value, the stronger" + ("" if players == 1 else " its player's colour")
    if acting == 2:
        words += "; joint choices: the colour of the player of the rows, paler where tried less"
    if fan:
        words += "; curves: " + ("" if players == 1 else f"{player_name(game, 0)}'s colour, ") + "wider where likelier"
    steps = [scale.low + (scale.high - scale.low) * (step + 0.5) / SHADES for step in range(SHADES)]
    ramps = [[scale.colour(value, seat) for value in steps] for seat in range(min(players, MOST_PLAYERS))]
    return Legend(words, signed(scale.low, 2), signed(scale.high, 2), ramps)


def _certificate(result: Result) -> str:
    """Say what the policies leave to be gained in the searched table."""
    found = result.exploitability
    return "" if found is None else f"exploitability of these strategies in this table: {found:.4f}"


def _cap(result: Result) -> list[str]:
    """Say of a search whose settings have a cap whether it was full."""
    capped = result.config is not None and result.config.cap is not None
    return ["a full search" if result.full else "a fast search"] if capped or not result.full else []


def _solved(result: Result) -> list[str]:
    """Say of a root whose exact value is known that it is, and how soon the game ends, unless `bounds` alone say it."""
    if result.proof is None or not result.proof.proven:
        return []
    return [f"solved in {plural(result.proof.distance, 'step')}" if result.proof.distance else "solved"]


def certain(interval: Sequence[float], proven: bool, distance: int) -> str:
    """Return what is certain of a choice in a few characters: `+1.000 in 3`, `at least +0.250`, or nothing."""
    low, high = (float(end) for end in interval)
    if proven:
        return f"{signed(low)} in {distance}"
    ends = [math.isfinite(low), math.isfinite(high)]
    return (
        f"{signed(low)} to {signed(high)}"
        if all(ends)
        else f"from {signed(low)}"
        if ends[0]
        else f"to {signed(high)}"
        if ends[1]
        else ""
    )


def choices_table(result: Result, seat: int, root: dict[Action, EdgeView], scale: Scale) -> Table:
    """Return the choices of the one player who acts, the likeliest first, with what each is worth to everybody."""
    game = result.state.game
    order = sorted(result.state.choices(seat), key=lambda action: (-result.policy[seat, action], action))
    shown = range(min(game.players, MOST_PLAYERS))
    columns = [Column("action", right=False, seat=seat), Column("prior"), Column("visits"), Column("share")]
    columns += [Column(player_name(game, player), seat=player) for player in shown]
    rows = []
    proofs = {} if result.proof is None else result.proof.by_action
    for action in order[:MOST_ROWS]:
        edge = root.get(action)
        visits = int(result.visits[seat, action])
        values = [float(edge.value[player]) if edge and visits else math.nan for player in shown]
        if seat in shown:
            values[seat] = float(result.q[seat, action])  # the result's own, should the graph have been searched on
        name = game.move_name(result.state, seat, action)
        line = [name, *variation_names(result.graph, edge.child, LONGEST_LINE - 1)] if edge else []
        share = float(result.policy[seat, action])
        rows.append(
            [
                Cell((name,), strong=action == order[0]),
                Cell((percent(float(result.prior[seat, action])),)),
                Cell((count(visits),)),
                Cell((percent(share),), share=share),
                *(value_cell(value, player, scale) for player, value in zip(shown, values, strict=True)),
                *([_certain_cell(proofs.get(action), seat)] if proofs else []),
                Cell((" ".join(line) if visits else "",)),
            ]
        )
    rest = rest_of("action", order[MOST_ROWS:], [int(result.visits[seat, action]) for action in order[MOST_ROWS:]])
    columns += [Column("certain")] if proofs else []
    return Table([*columns, Column("line", right=False)], rows, rest=rest)


def _certain_cell(proof: EdgeProof | None, seat: int) -> Cell:
    return Cell(("",)) if proof is None else Cell((certain(proof.interval[seat], proof.proven, proof.distance + 1),))


def seat_table(result: Result, seat: int, scale: Scale) -> Table:
    """Return the choices of one of several players who act at once, with what each is worth to it."""
    game = result.state.game
    order = sorted(result.state.choices(seat), key=lambda action: (-result.policy[seat, action], action))
    columns = [
        Column(player_name(game, seat), right=False, seat=seat),
        *map(Column, ("prior", "visits", "share", "value")),
    ]
    rows = [
        [
            Cell((game.move_name(result.state, seat, action),), strong=action == order[0]),
            Cell((percent(float(result.prior[seat, action])),)),
            Cell((count(int(result.visits[seat, action])),)),
            Cell((percent(float(result.policy[seat, action])),), share=float(result.policy[seat, action])),
            value_cell(float(result.q[seat, action]), seat, scale),
        ]
        for action in order[:MOST_ROWS]
    ]
    rest = rest_of("action", order[MOST_ROWS:], [int(result.visits[seat, action]) for action in order[MOST_ROWS:]])
    return Table(columns, rows, rest=rest)


def together_table(result: Result, root: dict[Action, EdgeView], scale: Scale) -> Table:
    """Return the joint choices of three or more players that were visited most."""
    game = result.state.game
    shown = range(min(game.players, MOST_PLAYERS))
    edges = sorted(root.values(), key=lambda edge: -edge.visits)
    total = sum(edge.visits for edge in edges)
    columns = [Column("together", right=False), Column("visits"), Column("share")]
    columns += [Column(player_name(game, player), seat=player) for player in shown]
    rows = [
        [
            Cell((move_name(result.state, edge.action),)),
            Cell((count(edge.visits),)),
            Cell((percent(edge.visits / total),), share=edge.visits / total),
            *(value_cell(float(edge.value[player]), player, scale) for player in shown),
        ]
        for edge in edges[:MOST_ROWS]
        if edge.visits
    ]
    rest = rest_of("joint choice", edges[MOST_ROWS:], [edge.visits for edge in edges[MOST_ROWS:]])
    return Table(columns, rows, rest=rest)


def _dice_after(result: Result, root: dict[Action, EdgeView]) -> list[Table]:
    """Return the fan of outcomes below the chosen action, where it leads to dice."""
    edge = None if result.action is None else root.get(result.action)
    if edge is None or edge.child is None or not edge.visits:
        return []
    below = result.graph.node(edge.child)
    if below.kind != "chance":
        return []
    found = {each.action: (each.probability, each.visits, each.value) for each in below.edges}
    values = [float(value) for _, _, row in found.values() for value in row]
    after = {each.action: each for each in below.edges}
    scale = Scale.of(result.state.game, values)
    table, _ = outcomes_table(below.state, found, after, result.graph, scale, exact=below.exact, most=MOST_BELOW)
    name = move_name(result.state, edge.action)
    return [replace(table, title=f"after {name}, {table.title}")]


def _notes(result: Result, root: dict[Action, EdgeView]) -> list[str]:
    notes: list[str] = []
    if getattr(result.graph, "moved_on", False):
        return [
            "the root has moved on since, and its graph with it: lines and the others' values are not known any more"
        ]
    if result.graph.limited:
        held = getattr(result.graph, "bytes", None)
        size = plural(len(result.graph), "node") + (f", {count(-(-held // 1024))} KiB" if held else "")
        notes.append(f"the limit of nodes or bytes was reached ({size}): what lies beyond was evaluated but not kept")
    if _could_promise(result):
        notes.append(
            f"{result.state.game.name} does not promise zero_sum; where one of two always gets what the other pays, "
            "zero_sum = True in the game lets a search prove more"
        )
    turn = result.state.turn
    if isinstance(turn, tuple):
        then, now = int(result.visits[turn[0]].sum()), sum(edge.visits for edge in root.values())
    else:
        then, now = (sum(part) for part in ([row[2] for row in result.outcomes], [e.visits for e in root.values()]))
    if then != now:
        notes.append(
            f"the graph has been searched on since ({count(then)} visits then, {count(now)} now): "
            "lines, joint choices and the others' values are today's"
        )
    return notes


def _could_promise(result: Result) -> bool:
    """Whether proofs stay open in a game of two that may well be zero-sum and does not say so."""
    game, proof = result.state.game, result.proof
    if proof is None or proof.proven or game.players != 2 or game.zero_sum or sum(game.returns) != 0.0:
        return False
    return all(edge.interval[:, 0].sum() == 0.0 for edge in proof.edges if edge.proven)
