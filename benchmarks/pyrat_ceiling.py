"""PyRat solved exactly: what anybody can score against the greedy player, and our players against sound play.

    .venv/bin/python benchmarks/pyrat_ceiling.py [--boards 200] [--many 1000] [--exact 60] [--no-even] [--write]

Boards are those of `benchmarks/pyrat_network.py`: 5×5 without walls and mud, 5 cheese, 30 turns, each played from both
seats. A match counts who took more. That game is solved exactly on every board, backwards from the last turn: a state
is the cheese left, both cells, the score and the turns left; each is a matrix of at most 5×5, solved by the simplex
method where no entry is a saddle. Against the greedy player, whose moves are known, there is then

- the *best response*: it knows how its opponent moves, so nobody scores more and nobody loses less on these boards;
- *sound* play: in every state a strategy that secures the state's value whatever the other does. There are many; the
  one that scores most against the greedy player, the one that scores least, and one between, which spreads over all
  safe choices where there are some (a saddle), else plays the simplex method's solution;
- the last again where values are cheese (own less the other's), which is what a search of this game aims at.

The second table has players against sound play, the one between, on the first boards: as every board is played from
both seats, nobody can expect more than ½ of it. The third has all 55 symmetric boards, which are drawn alike: exact
means, not samples. `--write` puts them into docs/games/pyrat.md.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import measure  # first: it limits threads
import numba
import numpy as np
import pages
from pyrat_network import symmetric

import anabranch as ab
from anabranch.games.race import greedy
from anabranch.play.interval import interval

PAGE = Path(__file__).resolve().parents[1] / "docs" / "games" / "pyrat.md"
SMALL = 1e-9  # what rounding may do
TILT = 1e-6  # by which one of many sound strategies is preferred
BEST, MOST, LEAST, MIDDLE = range(4)
UNUSED = np.zeros((0, 0, 0, 0, 0))  # values that a best response does not look at
compiled = numba.njit(cache=True)


@compiled
def play_matrix(payoff: Any, rows: int, columns: int, strategy: Any) -> float:
    """Write a maximin strategy of the row player, and return the value: the simplex method, Bland's rule.

        max Σ y,  B·y ≤ 1,  y ≥ 0,  B = A + shift > 0:   value 1/Σy − shift,  strategy the duals over Σy

    Dantzig's equivalence of matrix games and linear programs (1951).
    """
    low = payoff[0, 0]
    for row in range(rows):
        for column in range(columns):
            low = min(low, payoff[row, column])
    shift = 1.0 - low
    width = columns + rows + 1
    table = np.zeros((rows + 1, width))
    basis = np.zeros(rows, np.int64)
    for row in range(rows):
        for column in range(columns):
            table[row, column] = payoff[row, column] + shift
        table[row, columns + row] = 1.0
        table[row, width - 1] = 1.0
        basis[row] = columns + row
    table[rows, :columns] = -1.0
    while True:
        enters = -1
        for column in range(width - 1):
            if table[rows, column] < -1e-12:
                enters = column
                break
        if enters < 0:
            break
        leaves, least = -1, math.inf
        for row in range(rows):
            if table[row, enters] > 1e-12:
                ratio = table[row, width - 1] / table[row, enters]
                if ratio < least - 1e-14 or (ratio <= least + 1e-14 and basis[row] < basis[leaves]):
                    leaves, least = row, ratio
        table[leaves] /= table[leaves, enters]
        for row in range(rows + 1):
            if row != leaves and table[row, enters] != 0.0:
                table[row] -= table[row, enters] * table[leaves]
        basis[leaves] = enters
    total = table[rows, width - 1]
    for row in range(rows):
        strategy[row] = table[rows, columns + row] / total
    return 1.0 / total - shift


@compiled
def end(left: int, score: int, turns: int, cheese: int, by_cheese: bool) -> float:
    """Return what the end of a game is worth to the rat, NaN before it.

    Scores count half points; `score` is the rat's, the python has the rest of what was taken. A win counts 1, a draw
    ½, a loss 0; by cheese it is what the rat has more.
    """
    taken = 2 * (cheese - left)
    other = taken - score
    if not (score > cheese or other > cheese or left == 0 or turns == 0):
        return math.nan
    if by_cheese:
        return 0.5 * (score - other)
    return 1.0 if score > other else 0.5 if score == other else 0.0


@compiled
def after(cheese: int, score: int, first: int, second: int, slots: Any) -> tuple[int, int]:
    """Return which cheese is left, bit by bit, and the rat's score once both stand on new cells."""
    one, other = slots[first], slots[second]
    takes = one >= 0 and cheese >> one & 1
    takes_other = other >= 0 and cheese >> other & 1
    if takes:
        score += 1 if first == second else 2
        cheese &= ~(1 << one)
    if takes_other and first != second:
        cheese &= ~(1 << other)
    return cheese, score


@compiled
def bits(number: int) -> int:
    count = 0
    while number:
        number &= number - 1
        count += 1
    return count


@compiled
def solve(ways: Any, slots: Any, cheese: int, most: int, by_cheese: bool) -> Any:
    """Return the values of all states to the rat, by turns left: [turns, cheese left, score, its cell, the other's].

    Once one turn more changes no value, none ever does.
    """
    cells = len(ways)
    values = np.full((most + 1, 1 << cheese, 2 * cheese + 1, cells, cells), math.nan)
    payoff, strategy = np.zeros((5, 5)), np.zeros(5)
    same = False
    for turns in range(most + 1):
        if same:
            values[turns] = values[turns - 1]
            continue
        same = turns > 0
        for left in range(1 << cheese):
            count = bits(left)
            for score in range(2 * (cheese - count) + 1):
                over = end(count, score, turns, cheese, by_cheese)
                if not math.isnan(over):
                    values[turns, left, score] = over
                    same = same and (turns > 0 and values[turns - 1, left, score, 0, 0] == over)
                    continue
                for first in range(cells):
                    for second in range(cells):
                        value = matrix_value(
                            values[turns - 1], ways, slots, left, score, first, second, payoff, strategy
                        )
                        values[turns, left, score, first, second] = value
                        same = same and abs(values[turns - 1, left, score, first, second] - value) < 1e-12
    return values


@compiled
def matrix_value(
    later: Any, ways: Any, slots: Any, left: int, score: int, first: int, second: int, payoff: Any, strategy: Any
) -> float:
    """Return the value of one state to the rat: of a saddle if there is one, else by the simplex method."""
    rows, columns = ways[first, 0], ways[second, 0]
    low, high = -math.inf, math.inf
    for row in range(rows):
        least = math.inf
        for column in range(columns):
            one, other = ways[first, 1 + row], ways[second, 1 + column]
            rest, points = after(left, score, one, other, slots)
            payoff[row, column] = later[rest, points, one, other]
            least = min(least, payoff[row, column])
        low = max(low, least)
    for column in range(columns):
        worst = -math.inf
        for row in range(rows):
            worst = max(worst, payoff[row, column])
        high = min(high, worst)
    if high - low < SMALL:
        return low
    return play_matrix(payoff, rows, columns, strategy)


@compiled
def against(
    values: Any, ways: Any, slots: Any, cheese: int, most: int, starts: Any, follows: Any, seat: int, kind: int
) -> tuple[float, float]:
    """Return the score of one way to play a seat against the greedy player, and how often it loses.

    `follows[cell, cheese left]` is where the greedy player goes. Only states that follow from the start are visited.
    """
    cells = len(ways)
    sets, scores = 1 << cheese, 2 * cheese + 1
    seen = np.zeros((most + 1, sets, scores, cells, cells), np.bool_)
    seen[most, sets - 1, 0, starts[0], starts[1]] = True
    for turns in range(most, 0, -1):
        for left in range(sets):
            for score in range(2 * (cheese - bits(left)) + 1):
                if not math.isnan(end(bits(left), score, turns, cheese, False)):
                    continue
                for first in range(cells):
                    for second in range(cells):
                        if not seen[turns, left, score, first, second]:
                            continue
                        own = first if seat == 0 else second
                        goes = follows[second if seat == 0 else first, left]
                        for row in range(ways[own, 0]):
                            to = ways[own, 1 + row]
                            one, other = (to, goes) if seat == 0 else (goes, to)
                            rest, points = after(left, score, one, other, slots)
                            seen[turns - 1, rest, points, one, other] = True
    won = np.zeros((2, sets, scores, cells, cells))
    lost = np.zeros((2, sets, scores, cells, cells))
    payoff, strategy, gains, losses = np.zeros((5, 5)), np.zeros(5), np.zeros(5), np.zeros(5)
    for turns in range(most + 1):
        now, then = turns % 2, 1 - turns % 2
        for left in range(sets):
            for score in range(2 * (cheese - bits(left)) + 1):
                over = end(bits(left), score, turns, cheese, False)
                for first in range(cells):
                    for second in range(cells):
                        if not seen[turns, left, score, first, second]:
                            continue
                        if not math.isnan(over):
                            mine = over if seat == 0 else 1.0 - over
                            won[now, left, score, first, second] = mine
                            lost[now, left, score, first, second] = 1.0 if mine == 0.0 else 0.0
                            continue
                        own, its = (first, second) if seat == 0 else (second, first)
                        rows, columns = ways[own, 0], ways[its, 0]
                        for row in range(rows):
                            for column in range(-1, columns):
                                to = ways[own, 1 + row]
                                goes = follows[its, left] if column < 0 else ways[its, 1 + column]
                                one, other = (to, goes) if seat == 0 else (goes, to)
                                rest, points = after(left, score, one, other, slots)
                                if column < 0:
                                    gains[row] = won[then, rest, points, one, other]
                                    losses[row] = lost[then, rest, points, one, other]
                                elif kind != BEST:
                                    worth = values[turns - 1, rest, points, one, other]
                                    payoff[row, column] = worth if seat == 0 else -worth
                        value = 0.0 if kind == BEST else values[turns, left, score, first, second]
                        choose(payoff, rows, columns, value if seat == 0 else -value, gains, kind, strategy)
                        score_here, loss_here = 0.0, 0.0
                        for row in range(rows):
                            score_here += strategy[row] * gains[row]
                            loss_here += strategy[row] * losses[row]
                        won[now, left, score, first, second] = score_here
                        lost[now, left, score, first, second] = loss_here
    last = most % 2
    place = (sets - 1, 0, starts[0], starts[1])
    return won[last][place], lost[last][place]


@compiled
def choose(payoff: Any, rows: int, columns: int, value: float, gains: Any, kind: int, strategy: Any) -> None:
    """Write the strategy of a kind: against known moves with these gains, or sound in a matrix of this value.

    Of the sound ones x, which have min_j (x·A)_j = value, that with the most (x·gains) is the maximin strategy of
    A_ij + tilt·gains_i, for a tilt so small that it costs nothing; for the least it is negative.
    """
    strategy[:] = 0.0
    if kind == BEST:
        strategy[gains[:rows].argmax()] = 1.0
        return
    sign = -1.0 if kind == LEAST else 1.0
    safe, chosen, first = 0, -1, 0
    for row in range(rows):
        if sign * gains[row] > sign * gains[first]:
            first = row
        if payoff[row, :columns].min() >= value - SMALL:
            safe += 1
            strategy[row] = 1.0
            if chosen < 0 or sign * gains[row] > sign * gains[chosen]:
                chosen = row
    if kind == MIDDLE and safe:
        strategy /= safe
        return
    strategy[:] = 0.0
    if chosen >= 0 and gains[chosen] == gains[first]:
        strategy[chosen] = 1.0
        return
    if kind != MIDDLE:
        for row in range(rows):
            payoff[row, :columns] += sign * TILT * gains[row]
    play_matrix(payoff, rows, columns, strategy)


@dataclass(frozen=True)
class Board:
    """What a start says: where one may go, where cheese lies, where players stand and where the greedy one goes."""

    ways: Any  # [cell]: how many cells can be reached, and which
    slots: Any  # cell → number of its cheese, or -1
    cheese: int
    turns: int
    starts: Any
    follows: Any  # [cell, cheese left] → where the greedy player goes


def board(state: ab.State) -> Board:
    """Read a board without mud from a start, and ask the greedy player for all its moves."""
    game: Any = state.game
    assert not np.asarray(game.mud).any()
    cells = game.width * game.height
    there = [cell for cell in range(cells) if game.slots[cell] >= 0 and state.cheese[0] >> int(game.slots[cell]) & 1]
    slots, ways = np.full(cells, -1), np.zeros((cells, 6), np.int64)
    slots[there] = np.arange(len(there))
    for cell in range(cells):
        reached = sorted({int(to) for to in game.moves[cell]})
        ways[cell, : 1 + len(reached)] = [len(reached), *reached]
    follows = np.tile(np.arange(cells)[:, None], (1, 1 << len(there)))
    for cell in range(cells):
        for left in range(1, 1 << len(there)):
            mask = sum(1 << int(game.slots[to]) for number, to in enumerate(there) if left >> number & 1)
            seen = state.replace(cheese=[mask], cell=[cell, cell])
            follows[cell, left] = game.moves[cell, greedy(seen, 0)]
    return Board(ways, slots, len(there), game.max_turns, np.asarray(game.starts, np.int64), follows)


def response(found: Board) -> tuple[float, float]:
    """Return the best response's score and share of losses against the greedy player, means over both seats."""
    parts = (found.ways, found.slots, found.cheese, found.turns, found.starts, found.follows)
    both = [against(UNUSED, *parts, seat, BEST) for seat in range(2)]
    return sum(score for score, _ in both) / 2, sum(loss for _, loss in both) / 2


def scores(found: Board) -> dict[str, tuple[float, float]]:
    """Return for every way to play what `response` returns for the best one."""
    told = {}
    parts = (found.ways, found.slots, found.cheese, found.turns)
    for by_cheese in (False, True):
        values = solve(*parts, by_cheese)
        for name, kind in KINDS[by_cheese].items():
            both = [against(values, *parts, found.starts, found.follows, seat, kind) for seat in range(2)]
            told[name] = (sum(score for score, _ in both) / 2, sum(loss for _, loss in both) / 2)
    return told


KINDS = {
    False: {
        "best response": BEST,
        "sound, the most": MOST,
        "sound, between": MIDDLE,
        "sound, the least": LEAST,
    },
    True: {"sound by cheese, between": MIDDLE},
}


AGENTS = [
    "best:simulations=128",
    "best:simulations=400",
    "search:evaluator=heuristic,simulations=2000,simultaneous=RegretMatching,simultaneous.value=visits,"
    "simultaneous_temperature=0",
    "search:simulations=128",
    "greedy",
]  # who meets sound play


def cells_of(rows: Sequence[tuple[float, float]]) -> str:
    """Return the mean score with its interval over boards, and the share of losses."""
    own = [min(1.0, max(0.0, score)) for score, _ in rows]
    low, high = interval(own)
    lost = max(0.0, sum(loss for _, loss in rows) / len(rows))
    return f"{sum(own) / len(own):.3f} ({low:.3f} to {high:.3f}) | {lost:.1%}"


class Sound:
    """Plays a board by its exact values, to win: the sound strategy between, drawn from."""

    def __init__(self, found: Board, game: Any, seed: int) -> None:
        self.board, self.game = found, game
        self.values = solve(found.ways, found.slots, found.cheese, found.turns, False)
        self.random = np.random.default_rng(seed)

    def __call__(self, state: ab.State, seat: int) -> int:
        ways, there = self.board.ways, np.flatnonzero(self.board.slots >= 0)
        mask = int(state.cheese[0])
        left = sum(1 << number for number, cell in enumerate(there) if mask >> int(self.game.slots[cell]) & 1)
        turns, score = self.board.turns - int(state.turns), int(state.score[0])
        first, second = (int(cell) for cell in state.cell)
        payoff, strategy = np.zeros((5, 5)), np.zeros(5)
        matrix_value(self.values[turns - 1], ways, self.board.slots, left, score, first, second, payoff, strategy)
        value = self.values[turns, left, score, first, second]
        own, its = (first, second) if seat == 0 else (second, first)
        payoff = payoff if seat == 0 else np.ascontiguousarray(-payoff.T)
        rows = ways[own, 0]
        choose(payoff, rows, ways[its, 0], value if seat == 0 else -value, np.zeros(5), MIDDLE, strategy)
        chances = np.maximum(strategy[:rows], 0.0)
        to = ways[own, 1 + self.random.choice(rows, p=chances / chances.sum())]
        return int(np.flatnonzero(self.game.moves[own] == to)[0])


def against_sound(game: ab.Game, agents: Sequence[str], seeds: Sequence[int]) -> list[str]:
    """Play every agent against sound play, both seats of every board, and return rows of a table."""
    played: dict[str, list[tuple[float, float]]] = {agent: [] for agent in agents}
    for seed in seeds:
        start = game.start(seed)
        exact = Sound(board(start), game, seed)
        for agent in agents:
            result = ab.match(game, agent, exact, games=2, openings=[start], seed=seed)
            ends = [record.score(0) for record in result.records]
            played[agent].append((sum(ends) / 2, sum(end == 0.0 for end in ends) / 2))
        measure.log(f"board {len(played[agents[0]])} against sound play")
    return [f"| `{agent}` | {2 * len(seeds)} | {cells_of(rows)} |" for agent, rows in played.items()]


def even_boards(game: Any) -> list[ab.State]:
    """Return all starts with symmetric cheese: in the middle and on two pairs of opposite cells, starts excepted."""
    last, start = game.width * game.height - 1, game.start()
    found = []
    for pairs in combinations(range(1, last // 2), 2):
        cells = [last // 2, *pairs, *(last - cell for cell in pairs)]
        found.append(start.replace(cheese=[sum(1 << int(game.slots[cell]) for cell in cells)]))
    return found


def even_table(game: ab.Game) -> list[str]:
    """Return rows of the best response and of agents against the greedy player on all symmetric boards."""
    starts = even_boards(game)
    told = {"best response": [response(board(start)) for start in starts]}
    for agent in AGENTS[:3]:
        told[f"`{agent}`"] = []
        for number, start in enumerate(starts):
            result = ab.match(game, agent, "greedy", games=2, openings=[start], seed=number)
            ends = [record.score(0) for record in result.records]
            told[f"`{agent}`"].append((sum(ends) / 2, sum(end == 0.0 for end in ends) / 2))
        measure.log(f"{agent} on {len(starts)} symmetric boards")
    lines = ["| agent | games | score | lost |", "| --- | ---: | ---: | ---: |"]
    for name, rows in told.items():
        score, lost = (sum(row[part] for row in rows) / len(rows) for part in range(2))
        lines.append(f"| {name} | {2 * len(rows)} | {score:.3f} | {lost:.1%} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--boards", type=int, default=200, help="that are solved")
    parser.add_argument("--many", type=int, default=1000, help="boards for the best response alone")
    parser.add_argument("--exact", type=int, default=60, help="boards on which agents meet sound play")
    parser.add_argument("--even", action=argparse.BooleanOptionalAction, default=True, help="all symmetric boards")
    parser.add_argument("--write", action="store_true", help="into docs/games/pyrat.md")
    flags = parser.parse_args()
    game = ab.games.load("pyrat", drawn=True)
    most = max(flags.boards, flags.many, flags.exact, 1)
    starts = [record.start for record in ab.match(game, "random", "random", games=2 * most, openings=0).records[::2]]
    even = {seed: symmetric(game, seed) for seed in starts}
    told: dict[str, list[tuple[int, tuple[float, float]]]] = {}
    if flags.many:
        name = f"best response, {flags.many:,} boards"
        told[name] = [(seed, response(board(game.start(seed)))) for seed in starts[: flags.many]]
    known: dict[int, dict[str, tuple[float, float]]] = {}
    for seed in starts[: flags.boards]:
        key = int(game.start(seed).cheese[0])
        if key not in known:
            known[key] = scores(board(game.start(seed)))
            measure.log(f"{len(known)} boards are solved")
        for name, both in known[key].items():
            told.setdefault(name, []).append((seed, both))
    lines = ["| play | all: score | lost | symmetric: score | lost | anywhere: score | lost |"]
    lines.append("| --- |" + " ---: | ---: |" * 3)
    for name, rows in told.items():
        groups = [[both for seed, both in rows if wanted in (None, even[seed])] for wanted in (None, True, False)]
        lines.append(f"| {name} | " + " | ".join(cells_of(group) for group in groups) + " |")
    if told:
        show("ceiling", lines, write=flags.write)
    if flags.exact:
        lines = ["| agent | games | score | lost |", "| --- | ---: | ---: | ---: |"]
        lines += against_sound(game, AGENTS, starts[: flags.exact])
        show("exact", lines, write=flags.write)
    if flags.even:
        show("even", even_table(game), write=flags.write)


def show(name: str, lines: Sequence[str], *, write: bool) -> None:
    """Print a table, and put it into the page if told to."""
    print("\n".join(lines), flush=True)
    if write:
        pages.fill(name, "\n".join(lines), PAGE)


if __name__ == "__main__":
    measure.use_cores(2)
    main()
