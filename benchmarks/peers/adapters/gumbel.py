"""The package gumbel-mcts: its PUCT over many trees, rules in Numba, leaves evaluated by a torch call a wave."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from game_logic.tictactoe import TicTacToeLogic
from gumbel_mcts import PUCT
from measure import Contender
from numba import njit

from peers.questions import Question

ROWS, COLUMNS, LINE = 6, 7, 4


@njit(cache=True)  # type: ignore[misc]
def run_length(board, row, column, down, right):  # type: ignore[no-untyped-def]
    """Return how many stones like the one here follow in a direction."""
    stone, count = board[row, column], 0
    row, column = row + down, column + right
    while 0 <= row < ROWS and 0 <= column < COLUMNS and board[row, column] == stone:
        count, row, column = count + 1, row + down, column + right
    return count


@njit(cache=True)  # type: ignore[misc]
def drop(board, column, player):  # type: ignore[no-untyped-def]
    """Play a column: (reward of the mover, winner, over?, board), which is what the package wants."""
    row = ROWS - 1
    while board[row, column] != 0:
        row -= 1
    board[row, column] = player
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        here = 1 + run_length(board, row, column, down, right) + run_length(board, row, column, -down, -right)
        if here >= LINE:
            return 1.0, player, True, board
    full = True
    for other in range(COLUMNS):
        if board[0, other] == 0:
            full = False
    return 0.0, 0, full, board


@njit(cache=True)  # type: ignore[misc]
def open_columns(board, player):  # type: ignore[no-untyped-def]
    """Return 1 for every column that has room."""
    mask = np.zeros(COLUMNS, dtype=np.float32)
    for column in range(COLUMNS):
        if board[0, column] == 0:
            mask[column] = 1.0
    return mask


class ConnectFour:
    """Connect four in the form the package takes."""

    GAME_NAME = "connect_four"
    NUM_ACTIONS = MAX_LEGAL_MOVES = COLUMNS
    BOARD_SHAPE = (ROWS, COLUMNS)
    MAX_MOVES = ROWS * COLUMNS
    PLAYER_1, PLAYER_2 = 1, 2
    fast_step, get_valid_mask = staticmethod(drop), staticmethod(open_columns)


class NoEvaluation:
    """A model with a uniform policy and value 0, made once for each batch size."""

    def __init__(self, actions: int) -> None:
        self.actions = actions
        self.answers: dict[int, Any] = {}

    def forward_for_mcts(self, batch: Any) -> Any:
        """Return what the package asks of a network."""
        count = batch["boards"].shape[0]
        if count not in self.answers:
            policy = torch.full((count, self.actions), 1.0 / self.actions)
            self.answers[count] = {"policy": policy, "value": torch.zeros(count)}
        return self.answers[count]


def make(question: Question, variant: str) -> Contender:
    """Return its search of all trees."""
    torch.set_num_threads(1)
    logic: Any = {"tic_tac_toe": TicTacToeLogic, "connect_four": ConnectFour}[question.game]()
    nodes = (question.simulations + 2) * question.trees + 16
    trees = PUCT(n_games=question.trees, max_nodes=nodes, logic=logic, device="cpu")
    games = list(range(question.trees))
    boards = np.zeros((question.trees, *logic.BOARD_SHAPE), np.int8)
    players = np.ones(question.trees, np.int8)
    model = NoEvaluation(logic.NUM_ACTIONS)

    def call() -> None:
        trees.reset()
        trees.initialize_roots(games, boards, players)
        trees.run_simulation_batch(model, games, num_simulations=question.simulations)

    def counted() -> float:
        visits = trees.storage.visit_counts[trees.storage.root_indices[games]]
        return float(visits.sum() - question.trees)  # it counts evaluating the root as a visit

    return Contender("gumbel-mcts", call, question.units, counted=counted)
