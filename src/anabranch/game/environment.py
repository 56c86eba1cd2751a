"""Environments with Gymnasium's verbs as games for one player: no copies of them are made, they are played again.

A learned model plans without rules, so all that training asks of an environment is to go on from where it stands, and
to begin the same episode again for the same seed. Whoever asks for an earlier moment gets it by playing up to it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError
from anabranch.game.objects import ObjectGame
from anabranch.game.random import Random, below
from anabranch.game.words import OVER

MOST_OPEN = 4096  # environments that stand somewhere, for whoever goes on from there


class Environment(Protocol):
    """What is asked of an environment, as Gymnasium has it."""

    def reset(self, *, seed: int) -> tuple[Any, Any]: ...  # (what is seen, whatever else)
    def step(self, action: int) -> tuple[Any, float, bool, bool, Any]: ...  # (seen, reward, ended, cut off, …)


@dataclass(frozen=True)
class Moment:
    """Where an episode stands, known by its seed and the actions since."""

    seed: int
    actions: tuple[int, ...]
    seen: npt.NDArray[np.float32] = field(compare=False, repr=False)
    over: bool = field(compare=False, repr=False)
    cut_off: bool = field(default=False, compare=False, repr=False)  # over for its length alone


class EnvironmentGame(ObjectGame):
    """An environment as a game: write `make`, which returns one, and set `actions`, `observation` and `returns`.

    All actions are legal at any time, unless you write `legal(moment, player)`. An episode that its environment cuts
    off is over, and learnt from as a game that was cut off: nothing that is seen tells such an end. The same seed must
    begin the same episode, and the same actions lead to the same moments.
    """

    def make(self) -> Environment:
        """Return an environment; it is kept, and used for one episode after another."""
        raise NotImplementedError(f"{self.name}: write make(self), which returns an environment")

    def setup(self, random: Random) -> Moment:
        """Begin an episode."""
        seed = below(random, 2**31)  # which every environment takes
        environment = self._idle().pop() if self._idle() else self.make()
        seen, _ = environment.reset(seed=seed)
        moment = Moment(seed, (), self._seen(seen), False)
        self._stands(moment, environment)
        return moment

    def turn(self, state: Moment) -> int:
        return OVER if state.over else 1

    def legal(self, state: Moment, player: int) -> Sequence[int]:
        del state, player
        return range(self.actions)

    def step(self, state: Moment, actions: Sequence[int]) -> tuple[Moment, list[float]]:
        environment = self._open().pop(state, None)
        if environment is None:
            environment = self._played_up_to(state)
        seen, reward, ended, cut_off, *_ = environment.step(int(actions[0]))
        over = bool(ended or cut_off)
        moment = Moment(state.seed, (*state.actions, int(actions[0])), self._seen(seen), over, over and not ended)
        if over:
            self._idle().append(environment)
        else:
            self._stands(moment, environment)
        return moment, [float(reward)]

    def observe(self, state: Moment, player: int) -> npt.NDArray[np.float32]:
        del player
        return state.seen

    # Where environments stand

    def _open(self) -> OrderedDict[Moment, Environment]:
        found: OrderedDict[Moment, Environment] = self.__dict__.setdefault("_environments", OrderedDict())
        return found

    def _idle(self) -> list[Environment]:
        found: list[Environment] = self.__dict__.setdefault("_idle_environments", [])
        return found

    def _stands(self, moment: Moment, environment: Environment) -> None:
        self._open()[moment] = environment
        if len(self._open()) > MOST_OPEN:
            _, oldest = self._open().popitem(last=False)
            self._idle().append(oldest)

    def _played_up_to(self, moment: Moment) -> Environment:
        """Return an environment that stands at a moment, from the beginning of its episode on."""
        environment = self._idle().pop() if self._idle() else self.make()
        environment.reset(seed=moment.seed)
        for at, action in enumerate(moment.actions):
            _, _, ended, cut_off, *_ = environment.step(action)
            if ended or cut_off:
                raise GameError(
                    f"{self.name}: the episode of seed {moment.seed} ended after {at + 1} actions, and went on when it "
                    f"was played before; an environment must be decided by its seed"
                )
        return environment

    def _seen(self, seen: Any) -> npt.NDArray[np.float32]:
        found = np.array(seen, np.float32)
        found.flags.writeable = False
        return found
