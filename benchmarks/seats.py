"""How much preference of seats is the game's own: three players, 4×4 cells, three in a row win; who wins from where.

    .venv/bin/python benchmarks/seats.py [--games 300] [--simulations 32 1000] [--write]

The preset of muzero, its Gumbel search and its temperatures, plays from the start with the true rules in place of the
model and rollouts in place of the network. Beside it stands best play: exact chances to win by max^n over all positions
up to symmetry, whoever has several best moves drawing among them, or preferring those that are best, or worst, for the
first player. `--write` puts the table into docs/muzero.md, beside what the model did.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import measure  # noqa: F401  (first: it limits threads)
import numba
import numpy as np
import numpy.typing as npt
import pages
from muzero import GAMES, PAGE

import anabranch as ab
from anabranch.evaluate.batch import Batch
from anabranch.learn.presets import preset
from anabranch.learn.records import GameRecord
from anabranch.learn.selfplay import Worker
from anabranch.models.learned import alone
from anabranch.search.settings.config import PlayoutCap

SIZE, LINE, PLAYERS = 4, 3, 3
RULES = ("equal moves drawn", "of equal moves the first player's best", "of equal moves the first player's worst")
NEAR = 1e-6  # chances to win that differ by less are equal


@dataclass
class Rollouts:
    """One rollout a state, as a network is asked; a search by `ab.Rollout` itself would take a teacher's settings."""

    priors: ClassVar[bool] = False

    def evaluate(self, batch: Batch) -> tuple[None, npt.NDArray[np.float64]]:
        return None, batch.rolled_out(ab.Rollout())


def lines_by_cell(size: int, line: int) -> npt.NDArray[np.uint32]:
    """Return masks of the lines through every cell, two bits a cell; 0 where a cell has fewer."""
    found: list[list[int]] = [[] for _ in range(size * size)]
    for row, column, (down, right) in itertools.product(range(size), range(size), ((0, 1), (1, 0), (1, 1), (1, -1))):
        cells = [(row + step * down, column + step * right) for step in range(line)]
        if all(0 <= r < size and 0 <= c < size for r, c in cells):
            for r, c in cells:
                found[r * size + c].append(sum(3 << 2 * (r * size + c) for r, c in cells))
    most = max(len(each) for each in found)
    return np.array([each + [0] * (most - len(each)) for each in found], np.uint32)


def symmetries(size: int) -> npt.NDArray[np.uint32]:
    """Return what each byte of a board becomes under each of the eight symmetries: `[8, 4, 256]`, to be or-ed."""
    square = np.arange(size * size).reshape(size, size)
    tables = np.zeros((8, 4, 256), np.uint32)
    for index, (image, turns) in enumerate(itertools.product((square, square.T), range(4))):
        to = np.rot90(image, turns).ravel()
        for at, byte in itertools.product(range(4), range(256)):
            cells = [(4 * at + part, byte >> 2 * part & 3) for part in range(4)]
            tables[index, at, byte] = sum(mark << 2 * int(to[cell]) for cell, mark in cells if cell < size * size)
    return tables


@numba.njit
def place(board, tables, keys):  # type: ignore[no-untyped-def]
    """Return the least image of a board, and where it stands in the hash table, or would."""
    least = board
    for image in range(8):
        turned = np.uint32(0)
        for part in range(4):
            turned |= tables[image, part, (board >> np.uint32(8 * part)) & np.uint32(255)]
        least = min(least, turned)
    mask = len(keys) - 1
    at = ((np.uint64(least) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & np.uint64(mask)
    while keys[at] != 0 and keys[at] != least:
        at = (at + np.uint64(1)) & np.uint64(mask)
    return least, at


@numba.njit
def solve(board, ply, cells, lines, tables, keys, values, scratch):  # type: ignore[no-untyped-def]
    """Return where the values of a position stand: by rule and seat, what max^n gives each player.

    `scratch[ply]` has, by rule: the best value of the mover, the first player's there, the ties, sums by seat.
    """
    least, at = place(board, tables, keys)
    if keys[at] != 0:
        return at
    mover = ply % PLAYERS
    here = scratch[ply]
    here[:] = 0.0
    here[:, 0] = -1.0
    for cell in range(cells):
        if (board >> np.uint32(2 * cell)) & np.uint32(3):
            continue
        following = board | np.uint32((mover + 1) << (2 * cell))
        won = False
        for line in lines[cell]:
            won |= line != 0 and following & line == np.uint32((line // 3) * (mover + 1))
        child = np.uint64(0)
        if not won and ply + 1 < cells:
            child = solve(following, ply + 1, cells, lines, tables, keys, values, scratch)
        for rule in range(3):
            reached = scratch[cells, rule, :PLAYERS]  # nobody is there but for this moment
            for seat in range(PLAYERS):
                if won or ply + 1 == cells:
                    reached[seat] = 1.0 if won and seat == mover else 0.0
                else:
                    reached[seat] = values[child, rule, seat]
            own = reached[mover]
            first = 0.0 if rule == 0 else reached[0] if rule == 1 else -reached[0]
            if own < here[rule, 0] - NEAR:
                continue
            if own <= here[rule, 0] + NEAR and first < here[rule, 1] - NEAR:
                continue
            if own > here[rule, 0] + NEAR or first > here[rule, 1] + NEAR:
                here[rule, 0], here[rule, 1] = own, first
                here[rule, 2:] = 0.0
            here[rule, 2] += 1.0
            for seat in range(PLAYERS):
                here[rule, 3 + seat] += reached[seat]
    least, at = place(board, tables, keys)
    keys[at] = least
    for rule in range(3):
        for seat in range(PLAYERS):
            values[at, rule, seat] = here[rule, 3 + seat] / here[rule, 2]
    return at


def best_play(size: int, slots: int) -> tuple[npt.NDArray[np.float32], int]:
    """Return chances to win from the empty board by rule and seat, and how many positions there are."""
    cells = size * size
    keys, values = np.zeros(slots, np.uint32), np.zeros((slots, 3, PLAYERS), np.float32)
    scratch = np.zeros((cells + 1, 3, 3 + PLAYERS))
    lines, tables = lines_by_cell(size, LINE), symmetries(size)
    at = solve(np.uint32(0), 0, cells, lines, tables, keys, values, scratch)
    return values[at], int(np.count_nonzero(keys)) + 1  # the empty board's key is 0


def by_steps(state: ab.State) -> npt.NDArray[np.float64]:
    """Return the same of a position by plain recursion over the game's own steps, equal moves drawn."""
    mover, found = alone(state), []
    for action in state.legal():
        following, paid = state.step(action)
        found.append(np.maximum(paid, 0.0) if following.over else by_steps(following))
    most = max(each[mover] for each in found)
    return np.mean([each for each in found if each[mover] >= most - NEAR], axis=0)


def checked(positions: int, empty: int = 7) -> None:
    """Compare both on random positions with so many empty cells."""
    kind, options = GAMES["three_players"]
    game, random = ab.games.load(kind, **options), np.random.default_rng(0)
    lines, tables = lines_by_cell(SIZE, LINE), symmetries(SIZE)
    while positions:
        state, moves = game.start(), []
        while not state.over and len(moves) < SIZE * SIZE - empty:
            moves.append(int(random.choice(state.legal())))
            state, _ = state.step(moves[-1])
        if state.over:
            continue
        board = np.uint32(sum((ply % PLAYERS + 1) << 2 * cell for ply, cell in enumerate(moves)))
        keys, values = np.zeros(1 << 16, np.uint32), np.zeros((1 << 16, 3, PLAYERS), np.float32)
        scratch = np.zeros((SIZE * SIZE + 1, 3, 3 + PLAYERS))
        at = solve(board, len(moves), SIZE * SIZE, lines, tables, keys, values, scratch)
        assert np.allclose(values[at, 0], by_steps(state), atol=1e-5), (state, values[at, 0], by_steps(state))
        positions -= 1


def played(simulations: int, games: int) -> list[GameRecord]:
    """Return games of self-play from the start as the preset plays them, by the true rules and rollouts."""
    kind, options = GAMES["three_players"]
    game = ab.games.load(kind, **options)
    learnt = preset(game, "muzero")
    cap = PlayoutCap(full=max(1, simulations), fast=max(1, simulations), chance=1.0)
    config = replace(
        preset(game),
        search=replace(learnt.search, cap=cap),
        self_play=replace(learnt.self_play, openings=0.0, random_games=0 if simulations else games),
    )
    found: list[GameRecord] = []
    with Worker(game, config, Rollouts()) as worker:
        for ended in worker.play(iter(range(games))):
            found += ended
    return found


def wins(records: list[GameRecord]) -> list[int]:
    """Return how many games each seat won, and how many nobody."""
    paid = [np.sum([each.rewards for each in record.decisions], axis=0) for record in records]
    counts = [sum(bool(returns[seat] > 0) for returns in paid) for seat in range(PLAYERS)]
    return [*counts, len(records) - sum(counts)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--games", type=int, default=300)
    parser.add_argument("--simulations", type=int, nargs="+", default=[0, 32, 1000], help="0: moves are random")
    parser.add_argument("--write", action="store_true", help="into docs/muzero.md")
    flags = parser.parse_args()
    checked(10)
    head = ["who plays", "games", *(f"seat {seat} wins" for seat in range(PLAYERS)), "nobody"]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    for simulations in flags.simulations:
        found: list[Any] = wins(played(simulations, flags.games))
        who = f"{simulations:,} simulations by the rules, rollouts" if simulations else "random moves"
        lines.append([who, str(flags.games), *(str(each) for each in found)])
        print(lines[-1], flush=True)
    chances, positions = best_play(SIZE, 1 << 25)
    for rule, chance in zip(RULES, chances.tolist(), strict=True):
        shares = [f"{each:.3f}" for each in (*chance, 1.0 - sum(chance))]
        lines.append([f"best play, {rule}", "", *shares])
        print(lines[-1], flush=True)
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    table += f"\n\nBest play is by max^n over {positions:,} positions up to symmetry."
    print(table)
    if flags.write:
        pages.fill("muzero_seats", table, PAGE)


if __name__ == "__main__":
    main()
