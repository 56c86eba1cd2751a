"""PyRat seen as a race: what every way to cheese costs in turns, and who gets what if both hurry to the nearest."""

from __future__ import annotations

from typing import Any

import numpy as np

from anabranch.game.state import State

STAY = 4
NEVER = 32001  # turns: more than a game has
WORD = 63  # cheese per word of the record
LARGEST_TABLE = 2**17  # pairs of a cell and a cheese


def most_raced(cells: int, cheese: int) -> int:
    """Return for how many cheese there is a table of ways: two words of them, fewer on boards beyond the presets'."""
    return min(cheese, 2 * WORD, max(1, LARGEST_TABLE // cells))


def turn_costs(moves: Any, mud: Any, places: Any) -> Any:
    """Return [cell, cheese] → the turns from a free start on the cell until the player is free on the cheese.

    Mud counts: crossing a passage of depth N costs N + 1 turns, the same both ways. NEVER where no way leads there.
    """
    count, cells = len(places), len(moves)
    costs = np.full((cells, count), NEVER, np.int32)
    costs[places, np.arange(count)] = 0
    while True:
        before = costs
        for action in range(4):
            costs = np.minimum(costs, 1 + mud[:, action, None] + costs[moves[:, action]])
        if np.array_equal(before, costs):
            return np.minimum(costs, NEVER).astype(np.int16)


def nearest(costs: Any, places: Any, raced: int, cell: int, left: int, more: int) -> int:
    """Return the cheese that costs the fewest turns from a cell, of equals that on the lowest cell; -1: there is none.

    `left` and `more` tell by bits which cheese are left of the first 63, and of the next.
    """
    best, found = NEVER, -1
    for slot in range(raced):
        cost = costs[cell, slot]
        if cost > best or not (left >> slot if slot < WORD else more >> slot - WORD) & 1:
            continue
        if cost < best or (found >= 0 and places[slot] < places[found]):
            best, found = cost, slot
    return found


def walked(moves: Any, mud: Any, costs: Any, cell: int, free: int, goal: int, now: int) -> tuple[int, int]:
    """Return where a player is who was free on a cell then and makes for a cheese until now, and when it is free."""
    while free < now:
        for action in range(4):
            following = moves[cell, action]
            turns = 1 + mud[cell, action]
            if following != cell and turns + costs[following, goal] == costs[cell, goal]:
                cell, free = following, free + turns
                break
    return cell, free


def race(
    state: Any, moves: Any, mud: Any, costs: Any, places: Any, raced: int, cheese: int, turns: int, gains: Any
) -> None:
    """Write how many points each player takes in so many turns if both always go to the cheese nearest to them.

    So play two who are `greedy`; only cheese beyond the `raced` counts nothing.
    """
    left = state.cheese[0]
    more = state.cheese[1] if len(state.cheese) > 1 else 0
    cell, other_cell = state.cell[0], state.cell[1]
    free, other_free = state.stuck[0], state.stuck[1]
    score, other_score = state.score[0], state.score[1]
    goal, other_goal, now = -1, -1, 0
    arrives, other_arrives = 0, 0
    while True:
        if goal < 0:
            goal = nearest(costs, places, raced, cell, left, more)
            arrives = max(free + costs[cell, goal], now + 1) if goal >= 0 else NEVER
        if other_goal < 0:
            other_goal = nearest(costs, places, raced, other_cell, left, more)
            other_arrives = max(other_free + costs[other_cell, other_goal], now + 1) if other_goal >= 0 else NEVER
        now = min(arrives, other_arrives)
        if now > turns:
            break
        share = 1 if arrives == other_arrives and goal == other_goal else 2
        taken, other_taken = goal if arrives == now else -1, other_goal if other_arrives == now else -1
        if taken >= 0:
            score, cell, free, goal = score + share, places[taken], now, -1
        elif goal == other_taken and goal >= 0:
            cell, free = walked(moves, mud, costs, cell, free, goal, now)
            goal = -1
        if other_taken >= 0:
            other_score, other_cell, other_free, other_goal = other_score + share, places[other_taken], now, -1
        elif other_goal == taken and other_goal >= 0:
            other_cell, other_free = walked(moves, mud, costs, other_cell, other_free, other_goal, now)
            other_goal = -1
        if score > cheese or other_score > cheese or score + other_score == 2 * cheese:
            break
        for slot in (taken, other_taken):
            if slot >= WORD:
                more &= ~(1 << slot - WORD)
            elif slot >= 0:
                left &= ~(1 << slot)
    gains[0], gains[1] = 0.5 * (score - state.score[0]), 0.5 * (other_score - state.score[1])


def greedy(state: State, seat: int) -> int:
    """Go to the cheese that costs the fewest turns; of equals to the lowest cell, by the first action that leads there.

    The player called `greedy` of PyRat, which looks at nothing that the other does.
    """
    game: Any = state.game
    cell = int(state.cell[seat])
    count = len(game.maze.cheese)
    slots = [slot for slot in range(count) if int(state.cheese[slot // WORD]) >> slot % WORD & 1]
    slots.sort(key=lambda slot: cell_of(game, slot))
    if game.raced == count:
        costs = np.asarray(game.costs)[:, slots]
    else:  # more than the table holds
        costs = turn_costs(game.moves, game.mud, np.array([cell_of(game, slot) for slot in slots]))
    goal = int(np.argmin(costs[cell]))
    if state.stuck[seat] > 0 or costs[cell, goal] in (0, NEVER):
        return STAY
    ways = [
        1 + int(game.mud[cell, action]) + int(costs[following, goal]) if following != cell else NEVER
        for action, following in enumerate(game.moves[cell].tolist()[:STAY])
    ]
    return ways.index(min(ways))


def cell_of(game: Any, slot: int) -> int:
    """Return where a cheese lies."""
    x, y = game.maze.cheese[slot]
    return int(y * game.width + x)
