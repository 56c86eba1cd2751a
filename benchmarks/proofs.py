"""What it is worth to know what is certain: searches with `proofs` and without, tables for docs/options.md.

    .venv/bin/python benchmarks/proofs.py [--only cost,four,small,dice,widths,matches] [--rows "Yatzy; connect four"]
                                          [--positions 300] [--states 250] [--most 100000] [--games 400]
                                          [--seconds 0.002] [--write]

*cost*: instructions per simulation from the first state, counted by callgrind (valgrind and a C compiler are needed):
of six searches, the making of roots and the reading of results among them. *four*: connect four after 16 to 28 plies,
about half of them by short searches and the rest at random, with moves that differ in worth, solved by `ab.oracle`: how
many roots are proven and how many moves optimal, with rollouts. In *the time of off* the search with proofs gets as
many playouts as take what the other took in the same position, by what its own took just before. *small*: playouts
until tic-tac-toe and Dots and Boxes 2×2 (examples/04) are solved, and first moves before that. *dice*: solitaire Yatzy
with one and two categories left, all dice enumerated, against the oracle: every state before the first roll that can
occur, every later one with one category left, and a sample with two. *widths*: what is certain of a root where players
choose at once. *matches*: with proofs against without, at equal processor time per move: each search goes on in slices,
as many simulations as its pace in this very position lets fit, until the time is used; one that ends early does not
lend its time to others.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import io
import itertools
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import measure  # noqa: F401  (first: it limits threads)
import numpy as np
import pages
from open_spiel_matches import Timed

import anabranch as ab
from anabranch.games.dice import DICE
from anabranch.games.scores import UPPER, YATZY
from anabranch.games.yatzy import ROLLS

ROOT = Path(__file__).resolve().parents[1]
OPTIONS = ROOT / "docs" / "options.md"
Row = list[str]
Table = tuple[Row, list[Row]]
ON, OFF = ab.SearchConfig(proofs="on"), ab.SearchConfig(proofs="off")
Solved = tuple[ab.State, set[int], int]  # a position, its optimal moves, its worth to the mover


COSTS: dict[str, tuple[str, dict[str, Any], Any]] = {
    "connect four, uniform": ("connect_four", {}, ab.Uniform()),
    "connect four": ("connect_four", {}, ab.Rollout()),
    "Othello 6×6": ("othello", {"size": 6}, ab.Rollout()),
    "PyRat open5": ("pyrat", {"preset": "open5"}, ab.Rollout()),
    "PyRat open5, difference": ("pyrat", {"preset": "open5", "rewards": "difference"}, ab.Rollout()),
    "Pig, two players": ("pig", {}, ab.Rollout()),
    "Yatzy": ("yatzy", {}, ab.Rollout()),
}
SIMULATIONS, SEARCHES = 800, 6
COUNTER = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_START_INSTRUMENTATION; }
void zero(void) { CALLGRIND_ZERO_STATS; }
void say(const char* what) { CALLGRIND_DUMP_STATS_AT(what); }
"""


def search_counted(titles: Sequence[str], counter: str) -> None:
    """Search with either setting and say when; what callgrind counts. Nothing is counted while games are compiled."""
    says = ctypes.CDLL(counter)
    states = {title: ab.games.load(COSTS[title][0], **COSTS[title][1]).start() for title in titles}
    configs = {"off": OFF, "on": ON}
    for begins in (lambda: None, says.begin):
        begins()
        for title, state in states.items():
            for config in configs.values():
                ab.search(state, simulations=SIMULATIONS, evaluator=COSTS[title][2], config=config)
    for title, state in states.items():
        for name, config in configs.items():
            says.zero()
            for _ in range(SEARCHES):
                result = ab.search(state, simulations=SIMULATIONS, evaluator=COSTS[title][2], config=config)
                assert result.simulations == SIMULATIONS, "solved: nothing to compare"
            says.say(f"{title}; {name}".encode())


def instructions(titles: Sequence[str]) -> dict[str, float]:
    """Return instructions per simulation by "title; setting", counted by callgrind between two words of ours."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        source, counter = Path(folder) / "counter.c", f"{folder}/counter.so"
        source.write_text(COUNTER)
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", str(source), "-o", counter], check=True)
        program = [sys.executable, __file__, "--count", "; ".join(titles), "--counter", counter]
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out", *program]
        subprocess.run(command, capture_output=True, check=True, env={**os.environ, "PYTHONHASHSEED": "0"})
        for path in Path(folder).glob("out.*"):
            text = path.read_text()
            said, total = re.search(r"Client Request: (.*)", text), re.search(r"^totals: (\d+)", text, re.MULTILINE)
            if said and total:
                found[said[1]] = int(total[1]) / (SEARCHES * SIMULATIONS)
    return found


def cost(titles: Sequence[str]) -> Table:
    """Return instructions per simulation with proofs on and off; of other games what the page says."""
    found = instructions(titles)
    rows = {row[0]: row for row in pages.rows("proofs cost", OPTIONS)}
    for title in titles:
        off, on = (found[f"{title}; {setting}"] for setting in ("off", "on"))
        rows[title] = [title, f"{off:,.0f}", f"{on:,.0f}", f"{on / off:.3f}"]
        print(" | ".join(rows[title]), flush=True)
    return ["game", "off", "on", "on / off"], [rows[title] for title in COSTS if title in rows]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def positions(count: int) -> list[Solved]:
    """Return positions of connect four with what the solver says of them."""
    game, draws, known = ab.games.load("connect_four"), np.random.default_rng(15), ab.oracle("connect_four")
    found: list[Solved] = []
    while len(found) < count:
        state = game.start()
        for ply in range(int(draws.integers(16, 29))):
            if state.over:
                break
            searches = ply % 2 == int(draws.integers(2))
            action = ab.search(state, simulations=50, config=OFF).action if searches else draws.choice(state.legal())
            state, _ = state.step(int(action))  # type: ignore[arg-type]
        if state.over or len(state.legal()) < 2:
            continue
        worth = known.action_values(state)
        best = {action for action, value in worth.items() if value == max(worth.values())}
        if len(best) < len(state.legal()):
            found.append((state, best, int(max(worth.values()))))
    return found


class Tried(NamedTuple):
    """A search of a solved position."""

    proven: bool
    right: bool
    made: int
    seconds: float


def tried(position: Solved, simulations: int, config: ab.SearchConfig) -> Tried:
    state, best, worth = position
    began = time.process_time()
    result = ab.search(state, simulations=simulations, config=config)
    spent = time.process_time() - began
    seat = state.turn[0]  # type: ignore[index]
    assert not result.proven or result.value[seat] == worth, f"proven to be {result.value}, solved as {worth}"
    return Tried(result.proven, result.action in best, result.simulations, spent)


def four(count: int, most: int) -> Table:
    """Return shares of proven roots and optimal moves in connect four."""
    solved, rows = positions(count), []
    for simulations in (budget for budget in (1_000, 10_000, 100_000) if budget <= most):
        columns = []
        for position in solved:
            off, on = (tried(position, simulations, config) for config in (OFF, ON))
            columns.append((off, on, tried(position, max(1, round(on.made * off.seconds / on.seconds)), ON)))
        plain, on_too, timed = zip(*columns, strict=True)
        rights = [percent(float(np.mean([each.right for each in found]))) for found in (plain, on_too, timed)]
        proven = [percent(float(np.mean([each.proven for each in found]))) for found in (on_too, timed)]
        made = f"{np.mean([each.made for each in on_too]):,.0f}"
        spent = sum(each.seconds for each in on_too) / sum(each.seconds for each in plain)
        rows.append([f"{simulations:,}", *rights[:2], proven[0], made, f"{spent:.2f}", rights[2], proven[1]])
        print(" | ".join(rows[-1]), flush=True)
    heads = ["playouts", "optimal, off", "optimal, on", "proven", "made on average", "time, on / off"]
    return [*heads, "in the time of off: optimal", "proven then"], rows


def until_proven(state: ab.State, config: ab.SearchConfig, most: int) -> str:
    result = ab.search(state, simulations=most, config=config)
    return f"{result.simulations:,}" if result.proven else f"not by {most:,}"


def small(seeds: int = 5) -> Table:
    """Return how many playouts tic-tac-toe and Dots and Boxes take, by seeds, and first moves at 5,000."""
    with contextlib.redirect_stdout(io.StringIO()):
        example = runpy.run_path(str(ROOT / "examples" / "04_dots_and_boxes.py"))
    subjects = {"tic-tac-toe": ab.games.load("tic_tac_toe"), "Dots and Boxes 2×2": example["game"]}
    rows = []
    for title, game in subjects.items():
        best = ab.solve(game).best_of(game.start())[0]
        for merge in (True, False):
            graph = ab.Transposition(merge=merge)
            configs = [ab.SearchConfig(proofs="on", transposition=graph, seed=seed) for seed in range(seeds)]
            plain = [ab.SearchConfig(proofs="off", transposition=graph, seed=seed) for seed in range(seeds)]
            needed = [until_proven(game.start(), config, 100_000) for config in configs]
            rights = []
            for budget, given in ((5_000, configs), (5_000, plain), (30_000, plain)):
                results = [ab.search(game.start(), simulations=budget, config=config) for config in given]
                rights.append(f"{sum(result.action in best for result in results)} of {seeds}")
            rows.append([title, "graph" if merge else "tree", ", ".join(needed), *rights])
            print(" | ".join(rows[-1]), flush=True)
    heads = ["game", "equal states", "solved after, by seed", "best first move at 5,000", "off, at 5,000"]
    return [*heads, "off, at 30,000"], rows


ALL_DICE = ab.SearchConfig(proofs="on", chance=ab.Chance(exact_up_to=252))  # five dice show 252 different things
ABOVE = range(6)  # categories that count one face, and earn the bonus


def upper_totals(marked: Iterable[int]) -> list[int]:
    """Return what ones to sixes can hold when some of them are marked; at 63 the bonus is paid."""
    totals = {0}
    for category in marked:
        totals = {min(UPPER, total + (category + 1) * dice) for total in totals for dice in range(DICE + 1)}
    return sorted(totals)


def turns_ahead(game: ab.Game, left: int) -> list[ab.State]:
    """Return all states before the first roll of a turn with so many categories left, one for each key.

    The key leaves out what matters no more: points, and the upper total where the bonus is paid or out of reach.
    """
    found: dict[Any, ab.State] = {}
    for opened in itertools.combinations(range(len(YATZY)), left):
        bits = np.array([sum(1 << category for category in opened)], np.int16)
        for upper in upper_totals(set(ABOVE) - set(opened)):
            state = game.start().replace(open=bits, upper=np.array([upper], np.int8))
            found.setdefault(state.key, state)
    return list(found.values())


def within_turn(state: ab.State) -> list[ab.State]:
    """Return all states of the last turn of a game: hands after one to three rolls, and dice kept to roll again."""
    hands = [state.step(outcome)[0] for outcome, _ in state.outcomes()]
    kept = {roll.key: roll for hand in hands for roll in (hand.step(mask)[0] for mask in hand.choices(0))}
    found = [hand.replace(rolls=np.int8(rolls)) for rolls in range(1, ROLLS + 1) for hand in hands]
    found += [roll.replace(rolls=np.int8(rolls)) for rolls in range(1, ROLLS) for roll in kept.values()]
    assert len(found) == ab.solve(state).states - 2, "all but the first state and the end"
    return found


def last_turn(state: ab.State) -> tuple[int, int]:
    """Return what the last turn of a game is about: the category, and how many of its face earn the bonus (0: none).

    Where this is the same, so are all rewards that follow, action by action and roll by roll.
    """
    category = int(state.open[0]).bit_length() - 1
    needed = -((int(state.upper[0]) - UPPER) // (category + 1))
    return category, needed if category in ABOVE and needed <= DICE else 0


class Endgames(NamedTuple):
    """What searches of some states of Yatzy came to."""

    made: list[int]  # playouts
    proven: list[bool]
    errors: list[float]  # of the value
    regrets: list[float]  # of what is played

    def cells(self) -> Row:
        proven = f"{sum(self.proven):,} of {len(self.proven):,}"
        most = f"{max(self.errors):.0e}", f"{max(self.regrets):.0e}"
        return [proven, f"{np.mean(self.made):,.0f}", f"{max(self.made):,}", *most]


def endgames(exact: ab.Oracle, groups: Iterable[list[ab.State]], budget: int) -> Row:
    """Search groups of states; one alone before the first roll is played to the end by what its search found."""
    searcher, found = ab.Searcher(exact.game, ab.Rollout(), ALL_DICE, threads=1), Endgames([], [], [], [])
    for states in groups:
        roots = [searcher.root(state) for state in states]
        values = exact.values_of(states)
        for root, value, result in zip(roots, values, searcher.run(roots, simulations=budget), strict=True):
            found.made.append(result.simulations)
            found.proven.append(result.proven)
            found.errors.append(float(abs(result.value - value).max()))
            if result.action is not None:
                found.regrets.append(exact.regret(result.state, result.action))
            elif len(states) == 1:
                found.regrets.append(played_regret(exact, searcher, root, seed=len(found.made)))
    return found.cells()


def played_regret(exact: ab.Oracle, searcher: ab.Searcher, root: ab.Root, seed: int) -> float:
    """Return the largest regret of a game played to its end from a solved root, without another playout."""
    most = 0.0
    while not root.state.over:
        if root.state.turn == ab.CHANCE:
            root.advance(root.state.draw(seed), keep="graph")
            continue
        (result,) = searcher.run(root, simulations=1)
        assert result.simulations == 0, "best play from a proven state leads to proven states"
        assert result.action is not None
        most = max(most, exact.regret(result.state, result.action))
        root.advance(result.action, keep="graph")
    return most


def dice(states: int) -> Table:
    """Return how many states of Yatzy are proven within a budget, and what the chosen moves lose."""
    game, exact, rows = ab.games.load("yatzy"), ab.oracle("yatzy"), []
    one, two = (turns_ahead(game, left) for left in (1, 2))
    turns = {last_turn(state): state for state in one}
    drawn = ab.fixed_set(game, states, decisions=(39, 41)).states
    parts: dict[str, tuple[int, Iterable[list[ab.State]]]] = {
        "one, before the first roll: all": (10_000, ([state] for state in one)),
        "one, later in the turn: all": (10_000, map(within_turn, turns.values())),
        "two, before the first roll: all": (200_000, ([state] for state in two)),
        "two, hands of random games": (200_000, ([state] for state in drawn)),
    }
    for title, (budget, groups) in parts.items():
        rows.append([title, f"{budget:,}", *endgames(exact, groups, budget)])
        print(" | ".join(rows[-1]), flush=True)
    columns = ["proven", "on average", "at most", "largest error", "largest regret"]
    return ["categories left", "playouts allowed", *columns], rows


def widths(most: int) -> Table:
    """Return how wide the interval of the root is, by playouts."""
    cheese = [(1, 1), (0, 2), (2, 0)]
    options = {"width": 3, "height": 3, "cheese": cheese, "max_turns": 8, "rewards": "difference"}
    subjects = {
        "PyRat 3×3, three cheese, 8 turns": ab.games.load("pyrat", **options),
        "Goofspiel, 4 cards": ab.games.load("goofspiel", cards=4),
    }
    budgets, rows = [budget for budget in (1_000, 10_000, 100_000, 1_000_000) if budget <= most], []
    for title, game in subjects.items():
        exact = float(ab.solve(game).value[0])
        row = [title, f"{exact:+.3f}"]
        for budget in budgets:
            result = ab.search(game.start(), simulations=budget, config=ON)
            low, high = game.returns if result.proof is None else result.proof.interval[0]
            row.append(f"{high - low:.3f}" + (f", solved after {result.simulations:,}" if result.proven else ""))
        rows.append(row)
        print(" | ".join(row), flush=True)
    return ["game", "exact value", *(f"{budget:,} playouts" for budget in budgets)], rows


class Paced(ab.SearchAgent):
    """A search that takes so much processor time per move, or less if it is solved before.

    What a simulation costs is found in the position itself: without proofs, playouts that end where games end are next
    to free, so that positions of the same ply differ.
    """

    FIRST = 50  # simulations of the first slice; no slice is smaller

    def __init__(self, seconds: float, config: ab.SearchConfig) -> None:
        super().__init__(simulations=self.FIRST, config=config, threads=1)
        self.seconds = seconds

    def choose(self, turns: Sequence[ab.Turn]) -> list[int]:
        [turn] = turns
        began = time.process_time()
        searcher = self._searcher_of(turn.state.game)
        root = searcher.root(turn.state, stream=turn.seed)
        slice_, made = self.FIRST, 0
        while True:
            [result] = searcher.run(root, simulations=slice_)
            spent, made = time.process_time() - began, made + result.simulations
            slice_ = int((self.seconds - spent) * made / spent)
            if result.simulations == 0 or result.proven or slice_ < self.FIRST:
                return [self.pick(turn, result)]
            slice_ = min(slice_, made)  # at most twice as many in all: the first cost more


MATCHES: dict[str, tuple[str, dict[str, Any], int]] = {
    "connect four": ("connect_four", {}, 2),
    "Othello 6×6": ("othello", {"size": 6}, 2),
    "PyRat open5": ("pyrat", {"preset": "open5", "rewards": "difference"}, 0),
    "Pig, two players": ("pig", {}, 0),
}


def matches(games: int, seconds: float) -> Table:
    """Return scores of proofs on against off."""
    rows = []
    for title, (name, options, openings) in MATCHES.items():
        game = ab.games.load(name, **options)
        timed = [Timed(Paced(seconds, config)) for config in (ON, OFF)]
        ab.match(game, *timed, games=2, openings=openings, seed=1000)  # compiles
        one = ab.match(game, *timed, games=games, openings=openings, seed=1).standings[0]
        spent = [1000 * float(np.mean(side.seconds)) for side in timed]
        score = f"{percent(one.score)} ({100 * one.low:.1f} to {100 * one.high:.1f})"
        rows.append([title, str(one.games), score, f"{spent[0]:.2f}", f"{spent[1]:.2f}"])
        print(" | ".join(rows[-1]), flush=True)
    return ["game", "games", "score of proofs on", "ms per move, on", "off"], rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="parts, with commas between")
    parser.add_argument("--rows", default="", help="of cost, with semicolons between; the others stay as they are")
    parser.add_argument("--positions", type=int, default=300, help="of connect four")
    parser.add_argument(
        "--states",
        type=int,
        default=250,
        help="of Yatzy with two categories left and dice rolled, drawn from random games",
    )
    parser.add_argument("--most", type=int, default=100_000, help="playouts of a search")
    parser.add_argument("--games", type=int, default=400, help="of a match")
    parser.add_argument("--seconds", type=float, default=0.002, help="of processor time per move in matches")
    parser.add_argument("--write", action="store_true", help="into docs/options.md")
    parser.add_argument("--count", help=argparse.SUPPRESS)
    parser.add_argument("--counter", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.count:
        search_counted(flags.count.split("; "), flags.counter)
        return
    parts: dict[str, Callable[[], Table]] = {
        "cost": lambda: cost([title for title in COSTS if not flags.rows or title in flags.rows.split("; ")]),
        "four": lambda: four(flags.positions, flags.most),
        "small": small,
        "dice": lambda: dice(flags.states),
        "widths": lambda: widths(flags.most),
        "matches": lambda: matches(flags.games, flags.seconds),
    }
    for name, part in parts.items():
        if flags.only and name not in flags.only.split(","):
            continue
        print(f"{name}:", flush=True)
        heads, rows = part()
        lines = [heads, ["---"] * len(heads), *rows]
        if flags.write:
            pages.fill(f"proofs {name}", "\n".join("| " + " | ".join(line) + " |" for line in lines), OPTIONS)


if __name__ == "__main__":
    main()
