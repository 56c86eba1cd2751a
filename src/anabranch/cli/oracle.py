"""`anabranch oracle`: exact values of games that can be solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from anabranch.cli import GOOD
from anabranch.cli.options import GameFlags
from anabranch.cli.positions import OR_INPUT, POSITION, given_position
from anabranch.cli.progress import loading, progress
from anabranch.cli.show import print_json, print_table
from anabranch.errors import TooManyStatesError, UsageError
from anabranch.game.moves import action_name, play_moves
from anabranch.game.state import State
from anabranch.game.words import acting
from anabranch.search.exact.oracle import Oracle, oracle


@dataclass(frozen=True)
class What:
    """What an oracle is asked for; it stands before the game."""

    what: Annotated[
        Positional[Literal["solve", "query"]],
        arg(metavar="solve|query", help="solve the game and say what its start is worth, or what a position is"),
    ]


@dataclass(frozen=True)
class Command(GameFlags, What):
    """Solve a game exactly, or ask what a position and its choices are worth."""

    position: Annotated[
        str | None,
        arg(help_behavior_hint="", metavar="TEXT|FILE", help=f"with query: {POSITION}{OR_INPUT}"),
    ] = None
    moves: Annotated[
        tuple[str, ...],
        arg(help_behavior_hint="", metavar="MOVE…", help="with query: played before, by name, outcomes of dice too"),
    ] = ()
    states: Annotated[int, arg(metavar="N", help="the most states of a game that is written out")] = 1_000_000
    threads: Annotated[
        int | None, arg(help_behavior_hint="", metavar="N", help="with Yatzy: as many as there are cores if not given")
    ] = None

    def run(self) -> int:
        """Print exact values."""
        if self.what == "solve" and (self.position is not None or self.moves):
            raise UsageError("solve takes the whole game; query takes --position and --moves")
        with progress(loading(self.game)):
            game = self.load()
            state = game.start() if self.position is None else given_position(game, self.position)
            state = play_moves(state, self.moves)
        try:
            with progress(f"solving {self.game}") as say:
                known = oracle(
                    game if self.what == "solve" else state,
                    max_states=self.states,
                    threads=self.threads,
                    progress=lambda so_far: say(str(so_far)),
                )
                values = known.values(state).tolist()
        except TooManyStatesError as error:
            raise UsageError(
                f"{error.found}. Raise --states, or query a --position nearer to the end; a number that can grow "
                "without end, such as a pot, has to be bounded in the rules"
            ) from None
        return self._solved(known, values) if self.what == "solve" else self._answered(known, state, values)

    def _solved(self, known: Oracle, values: list[float]) -> int:
        if self.json:
            print_json({"game": repr(known.game), "values": values})
        else:
            print(f"{known}\nvalue of the start: {_words(known, values)}")
        return GOOD

    def _answered(self, known: Oracle, state: State, values: list[float]) -> int:
        seats = acting(state.turn_bits)
        worth = known.action_values(state) if len(seats) == 1 else {}
        best = max(worth.values(), default=0.0)
        rows = [
            {"action": action, "name": action_name(state, seats[0], action), "value": value, "regret": best - value}
            for action, value in sorted(worth.items(), key=lambda pair: (-pair[1], pair[0]))
        ]
        if self.json:
            print_json({"game": repr(known.game), "state": str(state), "values": values, "actions": rows})
            return GOOD
        print(f"{state}\nvalue: {_words(known, values)}")
        if rows:
            print()
            print_table(
                ("action", "value", "regret"),
                [(row["name"], f"{row['value']:.6f}", f"{row['regret']:.6f}") for row in rows],
            )
        return GOOD


def _words(known: Oracle, values: list[float]) -> str:
    if len(values) == 1:
        return f"{values[0]:.6f}"
    return ", ".join(f"{known.game.player_name(seat)} {value:+.6f}" for seat, value in enumerate(values))
