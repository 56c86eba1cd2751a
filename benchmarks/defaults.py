"""What the defaults rest on: exploration without priors, the scale, rollouts; tables for docs/options.md.

    .venv/bin/python benchmarks/defaults.py [--games 200] [--only exploration,larger,scale,…] [--write]

*Exploration*: selectors against UCB1 with c = 1, all with one rollout per leaf, at equal simulations; points of matches
with swapped seats. *Larger*: a few of them in larger games and for three players. *Scale*: random games that pay on the
way, without `bounds`: how often the search finds an exact best first move after 200 simulations, with declared returns
as tight as they are and ten times as wide. *Paying*: the same in three real games (paying.py): what the choice after
200 simulations loses against exact play. *Uniform*: the weight of exploration without rollouts, over solved positions.
*Rollouts*: kinds of rollout against uniform ones, at equal simulations and at as many as take the same processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import measure  # noqa: F401  (first: it limits threads)
import numpy as np
import pages
import paying as paying_games

import anabranch as ab

Games = dict[str, tuple[str, dict[str, object]]]
GAMES: Games = {
    "connect four": ("connect_four", {}),
    "Othello 6×6": ("othello", {"size": 6}),
    "tic-tac-toe": ("tic_tac_toe", {}),
    "Pig": ("pig", {}),
    "Goofspiel": ("goofspiel", {}),
    "PyRat": ("pyrat", {}),
}
LARGER: Games = {
    "Othello 8×8": ("othello", {}),
    "three players, 9×9 line 4": ("n_in_a_row", {"preset": "small"}),
    "Hex 7×7": ("open_spiel:hex", {"board_size": 7}),
    "Breakthrough 6×6": ("open_spiel:breakthrough", {"rows": 6, "columns": 6}),
}
SELECTORS: dict[str, ab.Puct | ab.Ucb1] = {
    "PUCT 1.25": ab.Puct(c_init=1.25),
    "PUCT 2": ab.Puct(c_init=2.0),
    "PUCT 2.5": ab.Puct(c_init=2.5),
    "PUCT 3": ab.Puct(c_init=3.0),
    "PUCT 4": ab.Puct(c_init=4.0),
    "PUCT 2.5, parent": ab.Puct(c_init=2.5, first_play=ab.FirstPlay.parent()),
    "UCB1 0.7": ab.Ucb1(c=0.7),
    "UCB1 1.4": ab.Ucb1(c=1.4),
    "UCB1 1, w0 1": ab.Ucb1(c=1.0, w0=1.0),
}
CANDIDATES = {title: SELECTORS[title] for title in ("PUCT 1.25", "PUCT 2.5", "PUCT 4")}
ROLLOUTS = {
    "win in one, first 2 plies": ab.Rollout(greedy=2, policy="uniform"),
    "win in one, always": ab.Rollout(greedy=True, policy="uniform"),
    "the game's own": ab.Rollout(greedy=0),
}
OPTIONS = Path(__file__).resolve().parents[1] / "docs" / "options.md"
PLAIN = ab.Rollout(greedy=0, policy="uniform")
SIMULATIONS = (100, 1000)
Row = list[str]


def agent(simulations: int, *, seed: int = 0, **settings: object) -> ab.SearchAgent:
    evaluator = settings.pop("evaluator", None)
    config = ab.SearchConfig(seed=seed, **settings)  # type: ignore[arg-type]
    return ab.SearchAgent(simulations=simulations, evaluator=evaluator, config=config, threads=1)


def points(game: ab.Game, one: ab.SearchAgent, other: ab.SearchAgent, games: int) -> str:
    score = ab.match(game, one, other, games=games, seed=1).standings[0]
    return f"{100 * score.score:.0f} ({100 * score.low:.0f} to {100 * score.high:.0f})"


def exploration(
    games: int,
    over: Games = GAMES,
    simulated: Sequence[int] = SIMULATIONS,
    selectors: Mapping[str, ab.Puct | ab.Ucb1] = SELECTORS,
) -> tuple[Row, list[Row]]:
    """Return the table of selectors."""
    rows = []
    for title, selector in selectors.items():
        row = [title]
        for name, options in over.values():
            game = ab.games.load(name, **options)
            for simulations in simulated:
                other = agent(simulations, seed=7, selector=ab.Ucb1(c=1.0))
                row.append(points(game, agent(simulations, selector=selector), other, games))
        rows.append(row)
        print(" | ".join(row), flush=True)
    return ["selector", *(f"{title}, {n:,}" for title in over for n in simulated)], rows


def larger(games: int) -> tuple[Row, list[Row]]:
    """Return the table of a few selectors for larger games, and for half as many games with native rules at more."""
    native = {title: game for title, game in LARGER.items() if not game[0].startswith("open_spiel:")}
    head, rows = exploration(games, LARGER, (100,), CANDIDATES)
    more, others = exploration(games // 2, native, (1000,), CANDIDATES)
    return [*head, *more[1:]], [[*row, *other[1:]] for row, other in zip(rows, others, strict=True)]


def scale(games: int) -> tuple[Row, list[Row]]:
    """Return how often each scale finds a best first move, with tight and with loose returns."""
    rows = []
    for kind in ("range", "graph", "node"):
        row = [f"`{kind}`"]
        for c_init in (1.25, 2.5):
            for width in (1, 10):
                right = tried = 0
                for state, best in solved(games, width):
                    config = ab.SearchConfig(selector=ab.Puct(c_init=c_init, scale=kind))  # type: ignore[arg-type]
                    tried += 1
                    right += ab.search(state, simulations=200, config=config).action in best
                row.append(f"{right} of {tried}")
        rows.append(row)
    return ["scale", *(f"c {c}, returns {w}" for c in (1.25, 2.5) for w in ("as they are", "× 10"))], rows


def solved(games: int, width: int) -> Iterable[tuple[ab.State, object]]:
    """Yield first states of random games in which one player chooses, with the best moves."""
    for seed in range(games):
        game = ab.games.load("random_game", seed=seed, chance=0.4, tie_free=True)
        state = game.start()
        if not isinstance(state.turn, tuple) or len(state.turn) > 1 or len(state.legal()) < 2:
            continue
        best = ab.solve(game).best_of(state)[state.turn[0]]
        if width > 1:
            low, high = game.returns
            kind = type(game)
            loose = kind(seed=seed, chance=0.4, tie_free=True)
            object.__setattr__(loose, "returns", (low * width, high * width))
            state = loose.start()
        yield state, best


def loss(exact: ab.Solution, state: ab.State, result: ab.Result) -> float:
    """Return what a choice loses against exact play of all others: the search's, played as SearchAgent plays it."""
    lost = 0.0
    for player, worth in exact.action_values_of(state).items():
        choices = list(state.choices(player))
        chances, values = result.policy[player, choices] ** 4, worth[choices]  # as agents draw where several choose
        if len(state.turn) == 1:  # type: ignore[arg-type]
            chances = (np.arange(len(choices)) == np.argmax(chances)).astype(float)
        lost += float(values.max() - chances @ values / chances.sum())
    return lost


def paying(games: int) -> tuple[Row, list[Row]]:
    """Return what each scale loses in games that pay on the way, as a share of the span of declared returns."""
    rows: list[Row] = [[f"`{kind}`"] for kind in ("range", "graph", "node")]
    head = ["scale"]
    for title, make in paying_games.GAMES.items():
        for width in (1, 10):
            game = make()
            exact = ab.solve(game)
            span = game.returns[1] - game.returns[0]
            object.__setattr__(game, "returns", tuple(width * bound for bound in game.returns))
            states = paying_games.positions(game, games)
            head.append(f"{title}, {'as declared' if width == 1 else '× 10'}")
            for row, kind in zip(rows, ("range", "graph", "node"), strict=True):
                config = ab.SearchConfig(selector=ab.Puct(scale=kind))  # type: ignore[arg-type]
                lost = [loss(exact, state, ab.search(state, simulations=200, config=config)) for state in states]
                row.append(f"{100 * np.mean(lost) / span:.2f} %")
    return head, rows


UNIFORM = {  # solved games without rewards on the way
    "tic-tac-toe": ("tic_tac_toe", {}),
    "connect four 4×4": ("connect_four", {"rows": 4, "columns": 4}),
    "take away, 21": ("take_away", {"stones": 21}),
}


def uniform(games: int) -> tuple[Row, list[Row]]:
    """Return how c_init does without priors: wrong choices, errors of the value, with `Uniform`, with rollouts."""
    weights = (0.7, 1.25, 2.5, 4.0)
    rows: list[Row] = []
    for title, (name, options) in UNIFORM.items():
        game = ab.games.load(name, **options)
        exact = ab.solve(game)
        states = paying_games.positions(game, games)
        for evaluator in (ab.Uniform(), ab.Rollout()):
            for simulations in (100, 1000, 10_000):
                row = [title, type(evaluator).__name__, f"{simulations:,}"]
                for weight in weights:
                    config = ab.SearchConfig(selector=ab.Puct(c_init=weight))
                    lost, error = [], []
                    for state in states:
                        found = ab.search(state, simulations=simulations, evaluator=evaluator, config=config)
                        [player] = state.turn  # type: ignore[misc]
                        lost.append(found.action not in exact.best_of(state)[player])
                        error.append(abs(found.value[player] - exact.value_of(state)[player]))
                    row.append(f"{100 * np.mean(lost):.1f} %, {np.mean(error):.3f}")
                rows.append(row)
    return ["game", "evaluator", "simulations", *(f"c {weight:g}" for weight in weights)], rows


def rate(game: ab.Game, rollout: ab.Rollout) -> float:
    """Return simulations per second of processor time, the best of several."""
    taken = []
    for _ in range(12):
        begun = time.process_time()
        ab.search(game.start(), simulations=2000, evaluator=rollout)
        taken.append(time.process_time() - begun)
    return 2000 / min(taken[2:])


def rollouts(games: int) -> tuple[Row, list[Row]]:
    """Return the table of rollouts."""
    rows = []
    for title in ("connect four", "Othello 6×6", "tic-tac-toe", "five in a row 9×9"):
        name, options = GAMES.get(title, ("n_in_a_row", {"preset": "small"}))
        game = ab.games.load(name, **options)
        usual = rate(game, PLAIN)
        for words, rollout in ROLLOUTS.items():
            if rollout.greedy == 0 and not game.has("rollout_action"):
                continue
            share = rate(game, rollout) / usual
            row = [title, words, f"{share:.2f}"]
            for simulations in (500, round(500 * share)):
                other = agent(500, seed=3, evaluator=PLAIN)
                row.append(points(game, agent(simulations, evaluator=rollout), other, games))
            rows.append(row)
    return ["game", "rollout", "speed", "points at equal simulations", "points at equal time"], rows


TABLES: dict[str, Callable[[int], tuple[Row, list[Row]]]] = {
    "exploration": exploration,
    "larger": larger,
    "scale": scale,
    "paying": paying,
    "uniform": uniform,
    "rollouts": rollouts,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--only", default=",".join(TABLES))
    parser.add_argument("--write", action="store_true", help="into docs/options.md")
    flags = parser.parse_args()
    for name in flags.only.split(","):
        head, rows = TABLES[name](flags.games)
        table = "\n".join(" | ".join(row) for row in [head, *rows])
        print(f"\n{name}\n{table}", flush=True)
        if flags.write:
            lines = [head, ["---"] * len(head), *rows]
            pages.fill(name, "\n".join(f"| {' | '.join(line)} |" for line in lines), OPTIONS)


if __name__ == "__main__":
    main()
