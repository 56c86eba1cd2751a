"""Players of OpenSpiel as agents of ours: `open_spiel:mcts:seconds=0.02` in a match, or any `pyspiel.Bot`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

from anabranch.errors import UnknownNameError, UsageError, shown
from anabranch.game.game import Game
from anabranch.game.random import Random, below
from anabranch.games.open_spiel_load import pyspiel_module
from anabranch.play.agent import Agent, Turn
from anabranch.play.names import read_options
from anabranch.play.open_spiel_mirror import SYMMETRIC, their_state, twin_of

Maker = Callable[[Any, int, int], Any]  # (OpenSpiel's game, seat, seed) → a pyspiel.Bot
SEEDS = 2**31 - 1
PLENTY = 10**9  # simulations, where time is the limit
FEWEST = 2  # simulations after which a root of OpenSpiel's MCTS has children


class TimedBot:
    """OpenSpiel's MCTS on a clock, which ends the process where the time is up before the second simulation.

    Its root then has no children, and its `step` follows a pointer to the best of them (seen on a busy machine). So the
    search is asked for its tree, and where that has no children yet the fewest simulations that give it some are made.
    """

    def __init__(self, timed: Any, shortest: Any) -> None:
        self.timed, self.shortest = timed, shortest

    def step(self, state: Any) -> int:
        """Return the best action found in time."""
        root = self.timed.mcts_search(state)
        if root.explore_count < FEWEST:
            root = self.shortest.mcts_search(state)
        return int(root.best_child().action)


class OpenSpielAgent(Agent):
    """A bot of OpenSpiel that plays our games; it is made anew for every choice and shown OpenSpiel's own state.

    `make(game, seat, seed)` returns the bot. Bots that choose from the state they are given will do, as
    `pyspiel.MCTSBot` does; nothing tells a bot about moves made before.

    **Choosing at once.** OpenSpiel's bots take turns, so a simultaneous game is converted to one where the players
    choose one after another, seat 0 first, and the bot searches *that*: it believes that later seats see its choice.
    It never sees a choice it should not: where all seats are alike (goofspiel) they are relabelled so that the bot
    always chooses first; elsewhere the choices of earlier seats are guessed, by the same bot in their place.
    """

    def __init__(self, make: Maker, name: str = "open_spiel") -> None:
        if not callable(make):
            raise UsageError(f"OpenSpielAgent takes a function of (game, seat, seed) that makes a bot, found {make!r}")
        self.make, self._name = make, name
        self._twins: tuple[Game, Any] | None = None

    @property
    def name(self) -> str:
        return self._name

    def choose(self, turns: Sequence[Turn]) -> list[int]:
        return [self._choice(turn) for turn in turns]

    def _choice(self, turn: Turn) -> int:
        game, random = turn.state.game, turn.random()
        spiel = self._twin(game)
        relabelled = game.name.removeprefix("open_spiel:").partition("(")[0] in SYMMETRIC
        first = turn.seat if relabelled else 0
        state = their_state(spiel, turn.state, turn.moves, turn.start, first)
        seat = 0 if relabelled else turn.seat
        while state.current_player() != seat:  # an earlier seat's choice, which nobody has seen
            state.apply_action(self._step(spiel, state, state.current_player(), random))
        return self._step(spiel, state, seat, random)

    def _step(self, spiel: Any, state: Any, seat: int, random: Random) -> int:
        return int(self.make(spiel, seat, below(random, SEEDS)).step(state))

    def _twin(self, game: Game) -> Any:
        """Return OpenSpiel's game with turns, made once for a game."""
        if self._twins is None or self._twins[0] is not game:
            pyspiel, spiel = pyspiel_module(), twin_of(game)
            if spiel.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
                spiel = pyspiel.convert_to_turn_based(spiel)
            self._twins = (game, spiel)
        return self._twins[1]


def mcts_agent(
    *,
    seconds: float | None = None,
    simulations: int | None = None,
    c: float = 2.0,
    rollouts: int = 1,
    solve: bool = True,
) -> OpenSpielAgent:
    """Return OpenSpiel's MCTS in C++ (`pyspiel.MCTSBot`) with random rollouts, by time or by simulations.

    The defaults are those of OpenSpiel's own example (UCT with c = 2, one rollout per leaf, proven wins and losses
    backed up). A time limits the search itself; the bot looks at the clock after every simulation.
    """
    if (seconds is None) == (simulations is None):
        raise UsageError("OpenSpiel's MCTS takes one budget: seconds, or simulations")
    for word, value in (("seconds", seconds), ("simulations", simulations), ("rollouts", rollouts)):
        kind = Real if word == "seconds" else Integral
        if value is not None and (isinstance(value, bool) or not isinstance(value, kind) or not 0 < value < PLENTY):
            whole = "" if word == "seconds" else "whole "
            raise UsageError(
                f"{word} of OpenSpiel's MCTS must be positive, a {whole}number below {PLENTY:,}, found {shown(value)}"
            )
    if isinstance(c, bool) or not isinstance(c, Real) or not 0.0 <= c < PLENTY or not isinstance(solve, bool):
        raise UsageError(
            f"c of OpenSpiel's MCTS is a number, at least 0, and solve is true or false; found c={shown(c)}, "
            f"solve={shown(solve)}"
        )
    pyspiel = pyspiel_module()

    def bot(game: Any, seed: int, most: int, time_limit: float) -> Any:
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
        memory_limit, verbose = 0, False  # no limit
        return pyspiel.MCTSBot(
            game, evaluator, c, most, memory_limit, solve, seed, verbose, max_wall_clock_time=time_limit
        )

    def make(game: Any, seat: int, seed: int) -> Any:
        if seconds is None:
            return bot(game, seed, simulations or 0, -1.0)
        return TimedBot(bot(game, seed, PLENTY, seconds), bot(game, seed, FEWEST, -1.0))

    budget = f"seconds={seconds:g}" if seconds is not None else f"simulations={simulations}"
    others = [("c", c, 2.0), ("rollouts", rollouts, 1), ("solve", solve, True)]
    return OpenSpielAgent(
        make,
        ",".join([f"open_spiel:mcts:{budget}", *(f"{key}={value}" for key, value, usual in others if value != usual)]),
    )


def random_agent() -> OpenSpielAgent:
    """Return OpenSpiel's uniform random bot."""
    pyspiel = pyspiel_module()
    return OpenSpielAgent(lambda game, seat, seed: pyspiel.make_uniform_random_bot(seat, seed), "open_spiel:random")


def make_open_spiel(text: str) -> OpenSpielAgent:
    """Make the agent named by what follows `open_spiel:`; `mcts:seconds=0.02,c=2,rollouts=1,solve=true` or `random`."""
    kind, _, rest = text.partition(":")
    if kind == "mcts":
        options = read_options(rest, ("seconds", "simulations", "c", "rollouts", "solve"), "open_spiel:mcts")
        if not {"seconds", "simulations"} & options.keys():
            options["simulations"] = 1000
        return mcts_agent(**options)
    if kind != "random":
        raise UnknownNameError("player of OpenSpiel", kind, ("mcts", "random"))
    if rest:
        raise UsageError(f"open_spiel:random has no options, found {rest!r}")
    return random_agent()
