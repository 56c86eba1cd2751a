"""One position as users see it: an immutable value, whichever way its game was written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anabranch.errors import IllegalActionError, UsageError
from anabranch.game.random import Random, key_of, key_of_bytes
from anabranch.game.words import CHANCE, IDLE, OVER, acting, no_observations

if TYPE_CHECKING:
    from anabranch.draw.picture import Picture
    from anabranch.game.game import Game


class State:
    """A position: ask whose turn it is and what is legal, and step to new positions; this one never changes."""

    __slots__ = ("_turn", "data", "game")

    game: Game
    data: Any
    _turn: int | None  # asked once

    def __init__(self, game: Game, data: Any) -> None:
        assign = object.__setattr__
        assign(self, "game", game)
        assign(self, "data", data)  # the record's bytes, or the state object of an object game
        assign(self, "_turn", None)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a state never changes, so {name!r} cannot be set; state.step(action) gives the next one")

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (self.game, self.data)

    @property
    def turn_bits(self) -> int:
        """The turn as the game says it: OVER, CHANCE, or acting players as bits."""
        if self._turn is None:
            object.__setattr__(self, "_turn", self.game.rules.turn(self.data))
            assert self._turn is not None
        return self._turn

    @property
    def turn(self) -> int | tuple[int, ...]:
        """ab.OVER, ab.CHANCE, or a tuple of acting players."""
        bits = self.turn_bits
        return bits if bits in (OVER, CHANCE) else acting(bits)

    @property
    def over(self) -> bool:
        """Whether nothing follows."""
        return self.turn_bits == OVER

    def legal(self, player: int | None = None) -> list[int]:
        """Return the action ids a player may choose, ascending; the player may be left out when only one acts."""
        seats = acting(self.turn_bits)
        if player is None:
            if len(seats) != 1:
                raise UsageError(f"legal() needs a player here: {self._situation()}")
            player = seats[0]
        elif not 0 <= player < self.game.players:
            raise UsageError(f"there is no player {player}; {self.game.name} has players 0 to {self.game.players - 1}")
        return self.game.rules.legal(self.data, player) if player in seats else []

    def choices(self, player: int) -> dict[int, list[int]]:
        """Return a player's choices: representative id → all legal ids that do the same thing."""
        groups: dict[int, list[int]] = {}
        for action in self.legal(player):
            groups.setdefault(self.game.rules.same(self.data, player, action), []).append(action)
        return dict(sorted(groups.items()))

    def outcomes(self) -> list[tuple[int, float]]:
        """Return [(outcome, probability)] at a chance state; empty elsewhere."""
        return self.game.rules.chance(self.data) if self.turn_bits == CHANCE else []

    def step(self, action: int | Sequence[int]) -> tuple[State, npt.NDArray[np.float64]]:
        """Return (next state, rewards per player) after an action, a joint action, or an outcome.

        A joint action has one entry per acting player in seat order, or one per player with ab.IDLE for the others.
        """
        following, rewards = self.game.rules.step(self.data, self.row_of(action))
        return State(self.game, following), np.array(rewards, dtype=np.float64)

    def after(self, row: list[int]) -> tuple[State, list[float]]:
        """Return (next state, rewards per player) after a row that `row_of` would make, for who knows it is legal."""
        following, rewards = self.game.rules.step(self.data, row)
        return State(self.game, following), [float(reward) for reward in rewards]

    def draw(self, seed: int, moment: int = 0) -> int:
        """Return the outcome the *played* game sees here: a function of the episode's seed and the game's event.

        Games without an `event` verb are told apart by `moment`, e.g. the number of steps played so far.
        """
        event = self.game.rules.event(self.data) if self.game.has("event") else (moment,)
        return self.sample(Random(key_of((seed, *event))))

    def sample(self, random: Random) -> int:
        """Return an outcome drawn from the chances here with the given random numbers."""
        if self.turn_bits != CHANCE:
            raise UsageError(f"only chance states draw: {self._situation()}")
        if not isinstance(random, Random):
            raise UsageError(f"sample takes random numbers, ab.Random(seed), found {random!r}")
        return self.game.rules.draw(self.data, random)

    def observe(self, player: int | None = None) -> npt.NDArray[np.float32]:
        """Return what a player sees, as the game's `observe` writes it for networks."""
        if not self.game.has("observe"):
            raise UsageError(no_observations(self.game.name))
        seats = acting(self.turn_bits)
        if player is None:
            player = seats[0] if seats else 0
        return self.game.rules.observe(self.data, player)

    def bounds(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return (low, high) on each player's remaining return: the game's `bounds`, else its declared returns."""
        if self.game.has("bounds"):
            lows, highs = self.game.rules.bounds(self.data)
            return np.array(lows), np.array(highs)
        low, high = self.game.returns
        return np.full(self.game.players, low), np.full(self.game.players, high)

    def replace(self, **fields: Any) -> State:
        """Return this position with some fields of its record changed: `state.replace(pot=5)`.

        Values must fit their fields; whether the game could ever come there nobody asks. `game.position` does.
        """
        return State(self.game, self.game.replace(self.data, **fields))

    @property
    def key(self) -> Any:
        """What decides whether two states are one node: the game's key, else the whole state."""
        return self.game.rules.key(self.data)

    @property
    def node_key(self) -> int:
        """A 64-bit hash of the key of a compiled game, the same in every process."""
        if not isinstance(self.key, bytes):
            raise UsageError(f"{self.game.name} is an object game: its nodes are numbered by the path that made them")
        return key_of_bytes(self.key)

    def row_of(self, action: int | Sequence[int]) -> list[int]:
        """Check an action and spread it over all players."""
        turn, players = self.turn_bits, self.game.players
        if turn == OVER:
            raise IllegalActionError(f"the game is over, nothing can be played: {self.game.name}\n{self}")
        given = self._entries(action)
        row = [IDLE] * players
        if turn == CHANCE:
            # Outcomes that only `draw` knows cannot be listed; the game's own step evaluates them.
            known = [outcome for outcome, _ in self.outcomes()] if self.game.has("chance") else given
            if len(given) != 1 or given[0] not in known:
                raise IllegalActionError(f"{action} is no outcome here; possible: {known}\n{self}")
            row[0] = given[0]
            return row
        seats = acting(turn)
        if len(given) == players and len(seats) < players:
            if any(given[seat] != IDLE for seat in range(players) if seat not in seats):
                raise IllegalActionError(f"{action} moves a player who is not acting: {self._situation()}")
            given = [given[seat] for seat in seats]
        if len(given) != len(seats):
            count, wanted = len(given), len(seats)
            raise IllegalActionError(
                f"{action} is {count} {'action' if count == 1 else 'actions'}, but {wanted} "
                f"{'player acts' if wanted == 1 else 'players act'}: {self._situation()}; give one action each, "
                f"or one per player with ab.IDLE for the others"
            )
        for seat, choice in zip(seats, given, strict=True):
            legal = self.game.rules.legal(self.data, seat)
            if choice not in legal:
                who = self.game.player_name(seat)
                raise IllegalActionError(f"action {choice} is not legal for {who}; legal: {legal}\n{self}")
            row[seat] = choice
        return row

    def _entries(self, action: Any) -> list[int]:
        """Return the ids in an action, an outcome or a joint action."""
        if isinstance(action, (int, np.integer)):
            return [int(action)]
        if isinstance(action, str):
            raise UsageError(
                f"{action!r} is text, and step takes the id of an action; game.parse_action({action!r}) reads a name"
            )
        several = isinstance(action, Sequence) or (isinstance(action, np.ndarray) and action.ndim > 0)
        entries: list[Any] = list(action) if several else [None]
        if not all(isinstance(entry, (int, np.integer)) for entry in entries):
            raise UsageError(
                f"step takes an integer id, or a tuple of one per acting player, found {action!r}: {self._situation()}"
            )
        return [int(entry) for entry in entries]

    def _situation(self) -> str:
        turn = self.turn
        if turn == OVER:
            return "the game is over"
        return "the dice act" if turn == CHANCE else f"acting players are {turn}"

    def picture(self) -> Picture:
        """Return a drawing: the board as the game draws it (`svg`), else its text, and who acts."""
        from anabranch.game.pictures import state_picture

        return state_picture(self)

    def _repr_html_(self) -> str:
        from anabranch.draw.picture import as_html

        return as_html(self.picture(), label=f"{self.game.name}: {self._situation()}")

    def __str__(self) -> str:
        return self.game.text(self)

    def __repr__(self) -> str:
        return f"<State of {self.game.name}: {self._situation()}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return bool((self.game is other.game or self.game == other.game) and self.data == other.data)

    def __hash__(self) -> int:
        return hash(self.data)

    def __getattr__(self, name: str) -> Any:
        """Offer the record's fields for drawing and analysis: `state.board` (a copy)."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self.game.field(self.data, name)
