"""Games of OpenSpiel (Lanctot et al. 2019), searched directly: `ab.games.load("open_spiel:breakthrough", rows=6)`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import anabranch as ab
from anabranch.draw.picture import text_picture
from anabranch.errors import UnknownNameError, UnsupportedGameError
from anabranch.games.open_spiel_load import PREFIX, pyspiel_module, refuse_unsound, spiel_game
from anabranch.games.open_spiel_text import action_names, board_text, player_names

LARGEST_ID = 2**31 - 1
FAR = 10_000  # steps: a limit on rollouts so far off is none (chess and shogi declare 17,695 moves at most)


class Position:
    """A state of OpenSpiel that nobody changes, known by the actions that led to it.

    `spiel` is OpenSpiel's own state. It could be changed; clone it before you do.
    """

    __slots__ = ("_turn", "history", "spiel")

    def __init__(self, spiel: Any, history: tuple[int, ...]) -> None:
        self.spiel = spiel
        self.history = history
        self._turn: int | None = None

    @property
    def turn(self) -> int:
        """Who acts; asked of OpenSpiel once."""
        if self._turn is None:
            self._turn = _turn_of(self.spiel)
        return self._turn

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Position) and self.history == other.history

    def __hash__(self) -> int:
        return hash(self.history)

    def __repr__(self) -> str:
        return f"Position{self.history}"

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (pyspiel_module().serialize_game_and_state(self.spiel.get_game(), self.spiel),)


class OpenSpiel(ab.ObjectGame):
    """A game of OpenSpiel: turn-based or simultaneous, with dice or without, any number of players, all in the open.

    `game` is a name or OpenSpiel's `name(key=value,…)`; further options are parameters of the game. Actions, outcomes
    and players have OpenSpiel's numbers. Games are refused that have imperfect information, that are mean field games,
    or whose dice are thrown inside the state (`refuse_unsound` says what exactly is meant).

    **Which states are one node.** `key="history"`: those with the same actions behind them, which is always right and
    makes the graph a tree. `key="state"`: those with the same text, player to move and number of moves. That is a
    smaller graph, but OpenSpiel does not promise that the text holds everything: of chess it leaves out the positions
    that count towards a repetition, of Go those that superko forbids. Hence the warning.

    **Rewards** are differences of OpenSpiel's `returns()`, so that they add up to them; of games that pay at the end
    only the last step's is not zero. At a simultaneous state the players with legal actions act; for the others
    OpenSpiel is given 0, as its own loops do.

    Random rollouts are played by OpenSpiel, a whole game in one call (`playout`), not step by step through Python.
    """

    title = "open_spiel"

    def __init__(self, game: str, key: Literal["history", "state"] = "history", **parameters: Any) -> None:
        if key not in ("history", "state"):
            raise UnknownNameError("key of an OpenSpiel game", str(key), ("history", "state"))
        spiel = spiel_game(game, parameters)
        refuse_unsound(spiel)
        pyspiel = pyspiel_module()
        kind, modes = spiel.get_type(), pyspiel.GameType
        self.spiel_game = spiel
        self.by_text = key == "state"
        self.players, self.actions = spiel.num_players(), spiel.num_distinct_actions()
        if self.actions > LARGEST_ID:
            raise UnsupportedGameError(f"{self.name} has {self.actions} actions; ids here end at {LARGEST_ID}")
        self.dice = kind.chance_mode != modes.ChanceMode.DETERMINISTIC
        self.outcomes = max(1, spiel.max_chance_outcomes()) if self.dice else 0
        self.returns = (spiel.min_utility(), spiel.max_utility())
        if not all(math.isfinite(end) for end in self.returns):
            raise UnsupportedGameError(f"{self.name} does not bound its returns: OpenSpiel says {self.returns}")
        self.zero_sum = self.players == 2 and kind.utility == modes.Utility.ZERO_SUM
        self.rewards_along = kind.reward_model == modes.RewardModel.REWARDS
        longest = spiel.max_game_length() + spiel.max_chance_nodes_in_history()  # steps, as declared
        self.shortest_limit = min(longest, FAR)  # on rollouts: below, they could not be cut off where they should be
        self.in_turn = kind.dynamics == modes.Dynamics.SEQUENTIAL
        self.nothing = (0.0,) * self.players
        # What two players get together; None where it varies, or where OpenSpiel's MCTS does not play the game.
        terminal = kind.reward_model == modes.RewardModel.TERMINAL
        self.both: float | None = spiel.utility_sum() if self.players == 2 and self.in_turn and terminal else None
        self.spiel = pyspiel  # the module, at hand for rollouts
        if kind.provides_observation_tensor:
            self.observation = tuple(spiel.observation_tensor_shape())
        if self.by_text:
            warnings.warn(
                f"{self.name}: key='state' takes states with the same text for the same state; where the text leaves "
                f"out history that matters (repetitions, superko), values are wrong. key='history' is always right.",
                UserWarning,
                stacklevel=4,
            )

    @property
    def name(self) -> str:
        """The name it is loaded by, parameters included."""
        return PREFIX + str(self.spiel_game).removesuffix("()")

    def has(self, verb: str) -> bool:
        """Whether this game has a verb; it depends on what OpenSpiel's game offers."""
        there = {"chance": self.dice, "key": self.by_text, "observe": self.observation is not None}
        return super().has(verb) and there.get(verb, True)

    # The verbs.

    def setup(self, random: Any) -> Position:
        spiel = self.spiel_game.new_initial_state()
        return Position(spiel, tuple(spiel.history()))

    def turn(self, state: Position) -> int:
        return state.turn

    def legal(self, state: Position, player: int) -> list[int]:
        return sorted(set(state.spiel.legal_actions(player)))  # quoridor lists some twice

    def chance(self, state: Position) -> list[tuple[int, float]]:
        return [(outcome, p) for outcome, p in state.spiel.chance_outcomes() if p > 0.0]

    def step(self, state: Position, actions: Sequence[int]) -> tuple[Position, Sequence[float]]:
        if self.in_turn or not state.spiel.is_simultaneous_node():
            turn = state.turn
            moved: tuple[int, ...] = (actions[turn.bit_length() - 1 if turn > 0 else 0],)
            after = state.spiel.child(moved[0])
        else:
            moved = tuple(0 if action == ab.IDLE else action for action in actions)
            after = state.spiel.clone()
            after.apply_actions(moved)
        following = Position(after, state.history + moved)
        return following, self._paid(state, following)

    def key(self, state: Position) -> Hashable:
        # The number of moves keeps the graph free of cycles and is right where a horizon ends the game.
        return len(state.history), state.turn, str(state.spiel)

    def observe(self, state: Position, player: int) -> npt.NDArray[np.float32]:
        planes = np.asarray(state.spiel.observation_tensor(player), np.float32)
        return planes.reshape(self.observation or ())

    def _paid(self, before: Position, after: Position) -> Sequence[float]:
        if self.rewards_along:
            return [new - old for new, old in zip(after.spiel.returns(), before.spiel.returns(), strict=True)]
        if after.turn != ab.OVER:
            return self.nothing
        paid: list[float] = after.spiel.returns()
        return paid

    def playout(self, data: Position, random: ab.Random, max_depth: int) -> Sequence[float] | None:
        """Return the rewards of one random game from here, played by OpenSpiel's own loops."""
        if max_depth < self.shortest_limit:
            return None
        turn = data.turn
        if turn == ab.OVER:
            return self.nothing
        pyspiel, both = self.spiel, self.both
        if both is not None and turn > 0:
            # Its MCTS with one simulation is one rollout from the root, and takes half the time that bots take.
            evaluator = pyspiel.RandomRolloutEvaluator(1, random.next() >> 33)
            rule = pyspiel.ChildSelectionPolicy.UCT
            bot = pyspiel.MCTSBot(self.spiel_game, evaluator, 1.0, 1, 1, False, 0, False, rule)
            mine: float = bot.mcts_search(data.spiel).total_reward
            return (mine, both - mine) if turn == 1 else (both - mine, mine)
        before = data.spiel.returns() if self.rewards_along else self.nothing
        bots = [pyspiel.make_uniform_random_bot(seat, ab.below(random, LARGEST_ID)) for seat in range(self.players)]
        returns = pyspiel.evaluate_bots(data.spiel.clone(), bots, ab.below(random, LARGEST_ID))
        return [after - paid for after, paid in zip(returns, before, strict=True)]

    # What people see.

    def text(self, state: ab.State) -> str:
        turn = state.turn
        mover = self.player_name(turn[0]) if isinstance(turn, tuple) and len(turn) == 1 else None
        return board_text(state.data.spiel, mover) or f"after {list(state.data.history)}"

    def svg(self, state: ab.State) -> str | None:
        """Draw the board's text letter by letter; who moves is said below it anyway. None where there is no text."""
        board = board_text(state.data.spiel, None)
        return text_picture(board, placed=True).svg if board else None

    def player_name(self, player: int) -> str:
        """Return the player's colour or mark on OpenSpiel's board, where it has one."""
        return player_names(self.spiel_game)[player]

    @cached_property
    def _names(self) -> list[str]:
        return action_names(self.spiel_game)

    def action_name(self, action: int) -> str:
        """Return OpenSpiel's name of an action if it is the same in every state, else its number; see `move_name`."""
        return self._names[action]

    def move_name(self, state: ab.State, player: int, action: int) -> str:
        """Return what OpenSpiel calls a player's legal action in a state."""
        return str(state.data.spiel.action_to_string(player, action))

    def __repr__(self) -> str:
        return self.name + (" with key='state'" if self.by_text else "")

    def _identity(self) -> Any:
        return str(self.spiel_game), self.by_text


def _turn_of(spiel: Any) -> int:
    """Return the turn as `turn` says it."""
    player: int = spiel.current_player()
    if player >= 0:
        return 1 << player
    if spiel.is_terminal():
        return ab.OVER
    if spiel.is_chance_node():
        return ab.CHANCE
    return sum(1 << seat for seat in range(spiel.num_players()) if spiel.legal_actions(seat))


def _unpickled(text: str) -> Position:
    _game, spiel = pyspiel_module().deserialize_game_and_state(text)
    return Position(spiel, tuple(spiel.history()))
