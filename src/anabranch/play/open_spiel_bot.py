"""Our agents as players of OpenSpiel: a `pyspiel.Bot` for its own loops, such as `pyspiel.evaluate_bots`."""

from __future__ import annotations

from typing import Any

from anabranch.errors import MissingExtraError
from anabranch.game.random import key_of
from anabranch.play.agent import Turn, ask
from anabranch.play.names import as_agent
from anabranch.play.open_spiel_mirror import our_state, ours_of
from anabranch.play.search_agent import SearchAgent

try:
    import pyspiel
except ImportError:
    raise MissingExtraError("open_spiel", "interop", "a bot of OpenSpiel") from None


class SearchBot(pyspiel.Bot):  # type: ignore[misc]
    """Plays one seat of a game of OpenSpiel with our search, or with any agent of ours.

    It searches native rules where we have OpenSpiel's game (tic_tac_toe, connect_four, othello, pig, goofspiel), else
    OpenSpiel's own through the adapter. `agent` is an agent or its name; without one, `budget` (simulations, visits or
    seconds, evaluator, config, …) is given to a SearchAgent. Every choice follows from `seed` and the state's history
    alone, so `restart` and `inform_action` have nothing to do.
    """

    def __init__(self, game: Any, player: int, agent: Any = None, *, seed: int = 0, **budget: Any) -> None:
        super().__init__()
        self.game = ours_of(game)
        self.player = player
        self.agent = as_agent(SearchAgent(**budget) if agent is None else agent)
        self.seed = seed

    def player_id(self) -> int:
        """The seat it plays."""
        return self.player

    def step(self, state: Any) -> int:
        """Choose an action in a state of OpenSpiel where it is this player's turn."""
        return ask(self.agent, [self._turn(state)])[0]

    def provides_policy(self) -> bool:
        """Whether it can say how likely each action was: where it searches."""
        return isinstance(self.agent, SearchAgent)

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Return [(action, probability)] of the search's policy over all legal actions."""
        return self.step_with_policy(state)[0]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Return the policy and the action chosen, from one search."""
        if not isinstance(self.agent, SearchAgent):
            raise NotImplementedError(f"{self.agent.name} has no policy to tell")
        turn = self._turn(state)
        (result,) = self.agent.results([turn])
        row = result.policy[self.player]
        return [(action, float(row[action])) for action in turn.state.legal(self.player)], self.agent.pick(turn, result)

    def restart(self) -> None:
        """Forget nothing: nothing was kept."""

    def restart_at(self, state: Any) -> None:
        """Forget nothing: nothing was kept."""

    def inform_action(self, state: Any, player_id: int, action: int) -> None:
        """Note nothing: the state tells all."""

    def inform_actions(self, state: Any, actions: list[int]) -> None:
        """Note nothing: the state tells all."""

    def _turn(self, state: Any) -> Turn:
        seed = key_of((self.seed, self.player, *state.history())) >> 12
        return Turn(our_state(self.game, state), self.player, seed)
