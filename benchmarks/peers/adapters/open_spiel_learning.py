"""OpenSpiel's Python AlphaZero: what its example script trained, playing as that plays when it evaluates itself."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms import mcts
from open_spiel.python.algorithms.alpha_zero import evaluator as evaluators
from open_spiel.python.algorithms.alpha_zero import utils


def newest(folder: Path) -> int:
    """Return the number of the last checkpoint; one that was being written has a longer name."""
    found = [re.fullmatch(r"checkpoint-(\d+)", each.name) for each in folder.iterdir()]
    return max(int(each[1]) for each in found if each)


def player(variant: str, folder: Path) -> Callable[[list[int]], int]:
    """Return its choices with the newest weights: the simulations and constant of training, no noise."""
    said: dict[str, Any] = json.loads((folder / "config.json").read_text())
    game = pyspiel.load_game(said["game"])
    model = utils.api_selector(said["nn_api_version"]).Model.build_model(
        said["nn_model"],
        game.observation_tensor_shape(),
        game.num_distinct_actions(),
        said["nn_width"],
        said["nn_depth"],
        said["weight_decay"],
        said["learning_rate"],
        str(folder.resolve()),
        decouple_weight_decay=said["decouple_weight_decay"],
    )
    model.load_checkpoint(newest(folder))
    network = evaluators.AlphaZeroEvaluator(game, model)

    def choose(moves: list[int]) -> int:
        state = game.new_initial_state()
        for move in moves:
            state.apply_action(move)
        bot = mcts.MCTSBot(
            game,
            said["uct_c"],
            said["max_simulations"],
            network,
            solve=False,
            random_state=np.random.RandomState(
                len(moves)
            ),  # the order of equals, the same whenever a position is asked
            child_selection_fn=mcts.SearchNode.puct_value,
            dont_return_chance_node=True,
        )
        return int(bot.mcts_search(state).best_child().action)

    return choose
