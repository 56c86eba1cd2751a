"""How fast are rules in plain Python? An object game against OpenSpiel's Python bot, tic-tac-toe written for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import measure  # first: it limits threads
import pyspiel
from peers import open_spiel_python, ours

import anabranch as ab

SIMULATIONS = 800
BAR = 1.5

# The rules, written once: a board is (cells of x, cells of o, plies) with nine bits a side.
LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
HAS_LINE = [any(cells & line == line for line in LINES) for cells in range(512)]
Board = tuple[int, int, int]


def free_cells(board: Board) -> list[int]:
    """Return the cells not taken."""
    taken = board[0] | board[1]
    return [cell for cell in range(9) if not taken >> cell & 1]


def play(board: Board, cell: int) -> Board:
    """Return the board after a move."""
    first, second, ply = board
    return (first, second | 1 << cell, ply + 1) if ply & 1 else (first | 1 << cell, second, ply + 1)


def is_over(board: Board) -> bool:
    """Whether somebody has a line or the board is full."""
    return HAS_LINE[board[0]] or HAS_LINE[board[1]] or board[2] == 9


def payoffs(board: Board) -> list[float]:
    """Return what both players get at the end."""
    return [1.0, -1.0] if HAS_LINE[board[0]] else [-1.0, 1.0] if HAS_LINE[board[1]] else [0.0, 0.0]


class OurTicTacToe(ab.ObjectGame):
    """The rules as an object game."""

    def __init__(self) -> None:
        self.players, self.actions = 2, 9

    def setup(self, random: ab.Random) -> Board:
        """Return the empty board."""
        return (0, 0, 0)

    def turn(self, state: Board) -> int:
        """Return who acts."""
        return ab.OVER if is_over(state) else ab.player(state[2] & 1)

    def legal(self, state: Board, player: int) -> list[int]:
        """Return the free cells."""
        return free_cells(state)

    def step(self, state: Board, actions: Sequence[int]) -> tuple[Board, list[float]]:
        """Return the next board and the rewards."""
        following = play(state, actions[state[2] & 1])
        return following, payoffs(following) if is_over(following) else [0.0, 0.0]


TYPE = pyspiel.GameType(
    short_name="bench_tic_tac_toe",
    long_name="Tic-tac-toe for a benchmark",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=False,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={},
)
INFO = pyspiel.GameInfo(
    num_distinct_actions=9,
    max_chance_outcomes=0,
    num_players=2,
    min_utility=-1.0,
    max_utility=1.0,
    utility_sum=0.0,
    max_game_length=9,
)


class TheirTicTacToe(pyspiel.Game):  # type: ignore[misc]
    """The rules as an OpenSpiel game in Python."""

    def __init__(self, params: Any = None) -> None:
        super().__init__(TYPE, INFO, params or {})

    def new_initial_state(self) -> Any:
        """Return the empty board."""
        return TheirState(self)


class TheirState(pyspiel.State):  # type: ignore[misc]
    """A board of that game."""

    def __init__(self, game: Any) -> None:
        super().__init__(game)
        self.board: Board = (0, 0, 0)

    def current_player(self) -> Any:
        """Return who acts."""
        return pyspiel.PlayerId.TERMINAL if is_over(self.board) else self.board[2] & 1

    def _legal_actions(self, player: int) -> list[int]:
        return free_cells(self.board)

    def _apply_action(self, action: int) -> None:
        self.board = play(self.board, action)

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return is_over(self.board)

    def returns(self) -> list[float]:
        """Return what both players get."""
        return payoffs(self.board)

    def __str__(self) -> str:
        return str(self.board)


pyspiel.register_game(TYPE, TheirTicTacToe)


def rows() -> list[measure.Row]:
    """Measure and return the lines of the table."""
    lines = []
    for evaluator, rollouts in ((ab.Uniform(), 0), (ab.Rollout(), 1)):
        theirs = "OpenSpiel Python " + ("UCT" if rollouts else "PUCT")
        rates = measure.compare(
            [
                ours("anabranch", OurTicTacToe(), evaluator, SIMULATIONS),
                open_spiel_python(theirs, pyspiel.load_game("bench_tic_tac_toe"), SIMULATIONS, rollouts=rollouts),
            ],
            rounds=9,
        )
        words = "one rollout" if rollouts else "uniform"
        name = f"object tic tac toe, {words}, {SIMULATIONS} simulations"
        lines.append(measure.versus(name, rates, "anabranch", theirs, BAR, theirs))
    return lines


if __name__ == "__main__":
    measure.use_cores(1)
    measure.finish(__file__, rows())
