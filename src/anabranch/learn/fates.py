"""What is learnt of a game beside policies and values: who replies how, and what became of things at its end.

Nothing of it is recorded: a game that comes into the replay is played again anyway, and tells it then. What there is
nothing to tell of is NaN, and is not learnt: replies after the last decision, ends of games that were cut off.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError, UnknownNameError, UsageError, shown
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.learn.records import GameRecord, seats_of
from anabranch.learn.settings import Auxiliary

Shapes: TypeAlias = Mapping[str, tuple[int, ...]]  # by name, of a row
Floats: TypeAlias = npt.NDArray[np.float32]

NOTHING: Shapes = MappingProxyType({})
REPLY = "reply"


def auxiliary_shapes(settings: Auxiliary, game: Game) -> Shapes:
    """Return the shapes of all that has a weight; what a game does not tell is refused."""
    found: dict[str, tuple[int, ...]] = {}
    for name in settings.weights:
        if name == REPLY:
            if game.players == 1:
                raise UsageError(f"{game.name} has one player, so nobody replies; leave out auxiliary.reply")
            found[name] = (game.actions,)
        elif not game.fates:
            raise UsageError(f"{game.name} has no verb fate, so auxiliary.fates cannot have {name}; docs/rules.md")
        elif name not in game.fates:
            raise UnknownNameError(f"fate of {game.name}", name, game.fates)
        else:
            found[name] = tuple(game.fates[name])
    return found


def auxiliary_targets(record: GameRecord, line: Sequence[State], shapes: Shapes) -> dict[str, Floats]:
    """Return what is learnt beside policies and values in the rows of a game, whose positions with the last are given.

    There is a row for each player who decided after a full search, as in `rows_of`.
    """
    rows = [(t, seat) for t, each in enumerate(record.decisions) if each.full for seat in seats_of(line[t])]
    found = {name: np.full((len(rows), *shape), np.nan, np.float32) for name, shape in shapes.items()}
    fates = {name: shape for name, shape in shapes.items() if name != REPLY}
    for row, (t, seat) in enumerate(rows):
        if REPLY in shapes:
            found[REPLY][row] = reply(record, line, t, seat)
        if fates and record.finished:
            told = line[t].game.fate(line[t:], seat)
            for name, shape in fates.items():
                found[name][row] = _checked(line[t].game, name, shape, told)
    return found


def reply(record: GameRecord, line: Sequence[State], t: int, seat: int) -> Floats:
    """Return the policy of whoever else decides first after a decision: of a full search, else the move that it made.

    The mean, where several do at once; NaN where nobody does.
    """
    for later in range(t + 1, len(record.decisions)):
        decision, state = record.decisions[later], line[later]
        others = [place for place, who in enumerate(seats_of(state)) if who != seat]
        if others:
            mean = np.zeros(state.game.actions, np.float32)
            for place in others:
                policy = decision.policy[place] if decision.full else {decision.actions[place]: 1.0}
                mean[list(policy)] += np.array(list(policy.values()), np.float32) / len(others)
            return mean
    return np.full(line[t].game.actions, np.nan, np.float32)


def _checked(game: Game, name: str, shape: tuple[int, ...], told: Any) -> Floats:
    """Return what a game told of one fate, or say what is wrong with it."""
    if not isinstance(told, Mapping) or name not in told:
        raise GameError(f"{game.name}: fate must return what self.fates names, {name} too; found {shown(told)}")
    try:
        numbers = np.asarray(told[name], np.float32)
    except (TypeError, ValueError) as error:
        raise GameError(f"{game.name}: fate gave {name} that is no array of numbers: {shown(told[name])}") from error
    if numbers.shape != shape:
        raise GameError(f"{game.name}: fate gave {name} of shape {numbers.shape}, declared {shape}")
    if not (np.isnan(numbers) | (np.abs(numbers) <= 1.0)).all():
        raise GameError(
            f"{game.name}: fate gave {name} numbers outside [-1, 1]: {shown(numbers[np.abs(numbers) > 1.0].tolist())}"
        )
    return numbers
