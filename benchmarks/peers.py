"""What we are compared with, and ourselves, set up so that one call is one search on a fresh tree.

A call includes making the first state, the search and its answer. Bots and searchers are made once, as users do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyspiel
from measure import Contender
from open_spiel.python.algorithms import mcts

import anabranch as ab

EXPLORATION = 1.4


def ours(
    name: str, game: ab.Game, evaluator: Any, simulations: int, config: ab.SearchConfig | None = None
) -> Contender:
    """Return our search of a game from its start."""
    searcher = ab.Searcher(game, evaluator, config, threads=1)
    return Contender(
        name, lambda: searcher.run(searcher.root(game.start()), simulations=simulations), float(simulations)
    )


class NoOpinion:
    """OpenSpiel's evaluator with a uniform prior and value 0: the cost left is the search's."""

    def evaluate(self, state: Any) -> Any:
        """Return the value of every player."""
        return (0.0, 0.0)

    def prior(self, state: Any) -> Any:
        """Return (action, probability) of every legal action."""
        legal = state.legal_actions()
        return [(action, 1.0 / len(legal)) for action in legal]


def open_spiel_python(name: str, game: Any, simulations: int, *, rollouts: int = 0) -> Contender:
    """Return OpenSpiel's bot written in Python: PUCT without opinions, or UCT with random rollouts."""
    random = np.random.RandomState
    if rollouts:
        evaluator, rule = mcts.RandomRolloutEvaluator(rollouts, random(1)), mcts.SearchNode.uct_value
    else:
        evaluator, rule = NoOpinion(), mcts.SearchNode.puct_value
    bot = mcts.MCTSBot(
        game, EXPLORATION, simulations, evaluator, solve=False, random_state=random(2), child_selection_fn=rule
    )
    return Contender(name, lambda: bot.mcts_search(game.new_initial_state()), float(simulations))


def open_spiel_native(name: str, game: Any, simulations: int, policy: str) -> Contender:
    """Return OpenSpiel's bot written in C++, with one random rollout per leaf; `policy` is "UCT" or "PUCT"."""
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
    return Contender(name, lambda: bot.mcts_search(game.new_initial_state()), float(simulations))
