"""What an agent is: given the turns of many games at once, it returns one action each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.errors import AgentError, OutputError
from anabranch.game.game import Game
from anabranch.game.random import Random
from anabranch.game.state import State

Move = int | tuple[int, ...]  # as State.step takes it: an action, an outcome, or one action per acting player


@dataclass(frozen=True)
class Turn:
    """One choice to be made: a state, who chooses, and the random numbers to choose with."""

    state: State
    seat: int
    seed: int = 0  # in [0, 2^63); all that is random about the choice should come from here, so that it can be repeated
    moves: Sequence[Move] = ()  # what was played so far from `start`, outcomes of chance included
    start: State | None = None  # the game's first state, where known; agents that keep track of a game replay from here
    opening: int = 0  # how many of the moves were drawn at random before agents began to choose
    game_seed: int = 0  # as `seed`, but one for all turns of a seat in a game
    # What an agent keeps of a game for its next turn in the same seat, under a key of its own. It may be empty at any
    # turn, as after a resumption, and must then change nothing but the time a choice takes.
    memory: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    def random(self) -> Random:
        """Return the turn's random numbers, always from the first of them on."""
        return Random(self.seed)

    def where(self) -> str:
        """Return the line of play that led here, in the game's own words."""
        return spelled(self.state.game, self.moves, self.start)


class Agent(ABC):
    """Chooses actions. Derive from it, or write any class with `choose`; see RandomAgent for the smallest one.

    One whose choices depend on the state alone may have `probabilities(turns)`, one array over action ids per turn (or
    a mapping from ids): then `ab.exploitability` can say how much it leaves to be gained.
    """

    @property
    def name(self) -> str:
        """What tables call it. A match that is resumed compares it, so it should tell the settings that matter."""
        return type(self).__name__

    def check(self, game: Game) -> None:
        """Refuse a game that this agent cannot play, with an error that says why; asked once, before the first turn."""
        del game

    @abstractmethod
    def choose(self, turns: Sequence[Turn]) -> Sequence[int]:
        """Return one legal action id per turn. Turns are of different games, or of different seats of one game."""


def ask(agent: Any, turns: Sequence[Turn]) -> list[int]:
    """Return an agent's choices, one per turn; an agent that raises or cheats is an AgentError with the moves."""
    if not turns:
        return []
    try:
        chosen = list(agent.choose(turns))
    except (AgentError, OutputError):  # nobody's fault who plays: what they say cannot be printed
        raise
    except Exception as error:
        games = f" (the first of {len(turns)} games)" if len(turns) > 1 else ""
        raise AgentError(
            f"{name_of(agent)} raised {type(error).__name__}: {error}\n"
            f"in seat {turns[0].seat}, after {turns[0].where()}{games}"
        ) from error
    if len(chosen) != len(turns):
        raise AgentError(f"{name_of(agent)} was asked for {len(turns)} actions and returned {len(chosen)}")
    return [_legal(agent, turn, action) for turn, action in zip(turns, chosen, strict=True)]


def check_agents(agents: Sequence[Any], game: Game) -> None:
    """Let agents refuse a game before anything is played; those that are no ab.Agent are not asked."""
    for agent in agents:
        if isinstance(agent, Agent):
            agent.check(game)


def name_of(agent: Any) -> str:
    """Return what an agent is called: its name, else its class."""
    name = getattr(agent, "name", None)
    return name if isinstance(name, str) else type(agent).__name__


def spelled(game: Game, moves: Sequence[Move], start: State | None) -> str:
    """Write moves as people call them; outcomes of chance, which only a replay can tell, in brackets."""
    if not moves:
        return "no move"
    words, state = [], start
    for move in moves:
        actions = move if isinstance(move, tuple) else (move,)
        if state is None:
            names = [game.action_name(action) if len(actions) > 1 else str(action) for action in actions]
        elif isinstance(state.turn, tuple):
            names = [game.move_name(state, seat, action) for seat, action in zip(state.turn, actions, strict=True)]
        else:
            names = [f"[{game.outcome_name(actions[0])}]"]
        words.append(names[0] if len(names) == 1 else "(" + " ".join(names) + ")")
        state = None if state is None else state.step(move)[0]
    return " ".join(words)


def _legal(agent: Any, turn: Turn, action: Any) -> int:
    legal, game = turn.state.legal(turn.seat), turn.state.game
    try:
        number = action.__index__()  # NumPy's integers are welcome, True and 1.0 are not ids
    except AttributeError:
        number = None
    if number is None or isinstance(action, bool) or number not in legal:
        some = ", ".join(f"{number} ({game.move_name(turn.state, turn.seat, number)})" for number in legal[:20])
        more = ", …" if len(legal) > 20 else ""
        raise AgentError(
            f"{name_of(agent)} chose {action!r}, which is not legal in seat {turn.seat}, after {turn.where()}\n"
            f"legal are: {some}{more}\n{turn.state}"
        )
    return int(number)
