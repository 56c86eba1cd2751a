"""OpenSpiel's two bots: one in C++, which has random rollouts only, one in Python, which takes any evaluator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
from measure import Contender
from open_spiel.python.algorithms import mcts

from peers.adapters import EXPLORATION
from peers.questions import Question
from peers.rules import Board, free_cells, is_over, payoffs, play

PLAIN = pyspiel.GameType(
    short_name="plain_tic_tac_toe",
    long_name="Tic-tac-toe in plain Python",
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
SIZES = pyspiel.GameInfo(
    num_distinct_actions=9,
    max_chance_outcomes=0,
    num_players=2,
    min_utility=-1.0,
    max_utility=1.0,
    utility_sum=0.0,
    max_game_length=9,
)


class PlainGame(pyspiel.Game):  # type: ignore[misc]
    """The rules in plain Python as an OpenSpiel game."""

    def __init__(self, params: Any = None) -> None:
        super().__init__(PLAIN, SIZES, params or {})

    def new_initial_state(self) -> Any:
        """Return the empty board."""
        return PlainBoard(self)


class PlainBoard(pyspiel.State):  # type: ignore[misc]
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


pyspiel.register_game(PLAIN, PlainGame)


class NoEvaluation:
    """Its evaluator with a uniform prior and value 0: the cost left is the search's."""

    def evaluate(self, state: Any) -> Any:
        """Return the value of every player."""
        return (0.0, 0.0)

    def prior(self, state: Any) -> Any:
        """Return (action, probability) of every legal action."""
        legal = state.legal_actions()
        return [(action, 1.0 / len(legal)) for action in legal]


def python_bot(name: str, game: Any, simulations: int, evaluator: str, policy: str) -> Contender:
    """Return the bot written in Python, on a new tree each time."""
    random = np.random.RandomState
    evaluations = mcts.RandomRolloutEvaluator(1, random(1)) if evaluator == "rollout" else NoEvaluation()
    rule = {"PUCT": mcts.SearchNode.puct_value, "UCT": mcts.SearchNode.uct_value}[policy]
    bot = mcts.MCTSBot(
        game, EXPLORATION, simulations, evaluations, solve=False, random_state=random(2), child_selection_fn=rule
    )
    return _searched(name, bot, game, simulations)


def native_bot(name: str, game: Any, simulations: int, policy: str) -> Contender:
    """Return the bot written in C++, with one random rollout per leaf, on a new tree each time."""
    bot = pyspiel.MCTSBot(
        game,
        pyspiel.RandomRolloutEvaluator(1, 7),
        EXPLORATION,
        simulations,
        4000,  # megabytes it may use
        False,  # no solver
        1,  # seed
        False,  # not verbose
        getattr(pyspiel.ChildSelectionPolicy, policy),
    )
    return _searched(name, bot, game, simulations)


def _searched(name: str, bot: Any, game: Any, simulations: int) -> Contender:
    found: list[Any] = [None]

    def call() -> None:
        found[0] = bot.mcts_search(game.new_initial_state())

    return Contender(name, call, float(simulations), counted=lambda: float(found[0].explore_count))


def make(question: Question, variant: str) -> Contender:
    """Return a bot; `variant` is "native" or "python" and "PUCT" or "UCT"."""
    language, policy = variant.split()
    game = pyspiel.load_game(PLAIN.short_name if question.task == "python" else question.game)
    if language == "native":
        return native_bot(variant, game, question.simulations, policy)
    return python_bot(variant, game, question.simulations, question.evaluator, policy)
