"""Games played against oneself to learn from: a worker that knows weights and numbers of games, and nothing else.

Many games run abreast in the lanes of one searcher; a game that ends is replaced at once by the next one. Everything
random about a game follows from the run's seed and the game's number: start, dice, opening, playout cap, noise, moves.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

import numpy as np

from anabranch.errors import GameError
from anabranch.evaluate.native import Rollout
from anabranch.game.game import Game
from anabranch.game.random import Random, below, key_of, uniform
from anabranch.game.state import State
from anabranch.game.words import CHANCE
from anabranch.learn.records import Decision, GameRecord, seats_of
from anabranch.learn.settings import SelfPlay as Settings
from anabranch.learn.settings import TrainConfig
from anabranch.play.search_agent import sampled
from anabranch.play.seeds import Purpose, seed_for
from anabranch.search.engine.lanes import Lanes
from anabranch.search.engine.root import Root
from anabranch.search.engine.searcher import Searcher
from anabranch.search.results.result import Result
from anabranch.search.settings.config import PlayoutCap, SearchConfig

MOST_ROLLS = 100_000  # without a decision between them
TRIES = 100  # openings that ended the game, before one without an opening


def temperature(decisions: int, settings: Settings) -> float:
    """Return T after so many decisions: late + (first − late)·2^(−decisions / half-life)."""
    first, late = settings.temperature, settings.late_temperature
    return float(late + (first - late) * 2.0 ** (-decisions / settings.half_life))


def taught(config: TrainConfig) -> SearchConfig:
    """Return the settings of searches by rollouts, which a run begins with: more simulations, no noise on priors."""
    cap = PlayoutCap(full=config.teacher.full, fast=config.teacher.fast, chance=config.teacher.chance)
    return dataclasses.replace(config.search, selector=SearchConfig().selector, cap=cap, noise=None, forced=None)


@dataclass
class Playing:
    """A game under way: where it stands, and what is recorded of it."""

    id: int
    seed: int
    dice_seed: int
    state: State
    dice: tuple[int, ...] = ()
    decisions: list[Decision] = field(default_factory=list)
    opened: int = 0
    steps: int = 0  # decisions and rolls

    def roll(self) -> tuple[tuple[int, ...], Any]:
        """Play the dice until somebody decides; return the outcomes and their rewards."""
        outcomes: list[int] = []
        total = np.zeros(self.state.game.players)
        while self.state.turn_bits == CHANCE:
            outcome = self.state.draw(self.dice_seed, self.steps)
            self.state, rewards = self.state.step(outcome)
            outcomes.append(outcome)
            total += rewards
            self.steps += 1
            if len(outcomes) > MOST_ROLLS:
                raise GameError(f"{self.state.game.name}: {MOST_ROLLS:,} rolls without a decision between them")
        return tuple(outcomes), total

    def play(self, actions: Sequence[int], **found: Any) -> tuple[int, ...]:
        """Play a decision and the dice that follow it; return these."""
        self.state, rewards = self.state.step(list(actions))
        self.steps += 1
        dice, more = self.roll()
        found.setdefault("value", (0.0,) * self.state.game.players)
        self.decisions.append(
            Decision(actions=tuple(actions), dice=dice, rewards=tuple((rewards + more).tolist()), **found)
        )
        return dice

    def record(self, *, finished: bool) -> GameRecord:
        """Return what was recorded."""
        return GameRecord(self.id, self.seed, self.dice, tuple(self.decisions), self.opened, finished)


class Worker:
    """Plays games of given numbers, in a `with` statement; weights may be changed between any two batches."""

    def __init__(self, game: Game, config: TrainConfig, evaluator: Any, version: int = 0) -> None:
        self.game, self.config, self.version = game, config, version
        self.settings = config.self_play
        self._ask(evaluator)
        self._lanes: Lanes | None = None
        self._playing: list[Playing] = []
        self._earlier_rows = 0  # of a teacher
        self.decisions = 0

    def _ask(self, evaluator: Any) -> None:
        """Let an evaluator answer: a network, or the teacher's rollouts, which are searched by other settings."""
        self.search = taught(self.config) if isinstance(evaluator, Rollout) else self.config.search
        self.searcher = Searcher(self.game, evaluator, self.search, threads=1)

    def use(self, evaluator: Any, version: int) -> None:
        """Go on with other weights: games and graphs stay; of a teacher's graphs, whose values mean else, none."""
        self.version = version
        if not isinstance(self.searcher.evaluator, Rollout):
            self.searcher.use(evaluator)
            return
        self._ask(evaluator)
        if self._lanes is not None:
            self._earlier_rows += self._lanes.rows
            self._lanes.close()
            self._search_abreast()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._lanes is not None:
            self._lanes.close()

    @property
    def rows(self) -> int:
        """States evaluated so far."""
        return self._earlier_rows + (0 if self._lanes is None else self._lanes.rows)

    @property
    def fill(self) -> float:
        """How many of the games under way have a position in a batch, on average, as a share."""
        return 0.0 if self._lanes is None else self._lanes.fill / max(1, len(self._playing))

    def play(self, numbers: Iterator[int]) -> Iterator[list[GameRecord]]:
        """Play games of these numbers, without end if they have none; yield those that ended after every batch."""
        if self._lanes is None:
            self._begin(numbers)
        under_way = set(range(len(self._playing)))
        while under_way:
            ended: list[GameRecord] = []
            lanes = self._lanes
            assert lanes is not None
            for lane in lanes.go_on():
                if lane not in under_way:
                    continue
                record = self._move(lane, lanes.roots[lane])
                if record is None:
                    self._go_on(lane, lanes.roots[lane])
                    continue
                ended.append(record)
                following = next(numbers, None)
                if following is None:
                    under_way.remove(lane)
                else:
                    self._playing[lane] = self._start(following)
                    self._go_on(lane, self._root(self._playing[lane]))
            yield ended

    def _begin(self, numbers: Iterator[int]) -> None:
        self._playing = [self._start(number) for number in itertools.islice(numbers, self.settings.abreast)]
        self._search_abreast()

    def _search_abreast(self) -> None:
        """Give every game under way a lane, and a root where it stands."""
        roots = [self._root(playing) for playing in self._playing]
        self._lanes = Lanes(self.searcher, roots, [self._goal(root) for root in roots])

    def _root(self, playing: Playing) -> Root:
        return self.searcher.root(playing.state, stream=playing.id)

    def _go_on(self, lane: int, root: Root) -> None:
        assert self._lanes is not None
        self._lanes.put(lane, root, self._goal(root))

    def _goal(self, root: Root) -> int:
        """Return up to how many visits a root is searched; the cap decides whether in full."""
        if self.search.cap is None:
            return 100
        return root.use_cap(self.search.cap)

    # One game

    def _start(self, number: int) -> Playing:
        """Begin a game: its start, its first dice and perhaps a few random moves."""
        seed = self.config.seed
        draws = Random(seed_for(seed, Purpose.OPENING, number))
        plies = 0
        if uniform(draws) < self.settings.openings:
            plies = 1 + below(draws, max(1, self.settings.opening_plies))
        for _ in range(TRIES):
            playing = self._opened(number, plies, draws)
            if not playing.state.over:
                return playing
        playing = self._opened(number, 0, draws)
        if playing.state.over:
            raise GameError(f"{self.game.name}: the game is over before anybody has moved")
        return playing

    def _opened(self, number: int, plies: int, draws: Random) -> Playing:
        start, dice = (seed_for(self.config.seed, purpose, number) for purpose in (Purpose.START, Purpose.DICE))
        playing = Playing(number, start, dice, self.game.start(start))
        playing.dice, _ = playing.roll()
        for _ in range(plies):
            if playing.state.over:
                break
            choices = [list(playing.state.choices(seat)) for seat in seats_of(playing.state)]
            playing.play([own[below(draws, len(own))] for own in choices], model=self.version)
            playing.opened += 1
        return playing

    def _move(self, lane: int, root: Root) -> GameRecord | None:
        """Choose and play a move by what a root found; return the game if it is over."""
        playing, result = self._playing[lane], root.result
        actions = self._chosen(playing, result)
        seats, full = seats_of(playing.state), result.full
        policy = result.target if full else None
        dice = playing.play(
            actions,
            policy=() if policy is None else tuple(_shares(policy[seat]) for seat in seats),
            value=tuple(result.value.tolist()),
            visits=int(root.native.root_visits),
            full=full,
            proven=result.proven,
            model=self.version,
        )
        self.decisions += 1
        if playing.state.over:
            return playing.record(finished=True)
        if len(playing.decisions) >= self.settings.longest:
            return playing.record(finished=False)
        for action in (actions if len(actions) > 1 else actions[0], *dice):
            root.advance(action, keep=self.settings.keep)
        return None

    def _chosen(self, playing: Playing, result: Result) -> list[int]:
        """Draw a move for everybody who acts: where several do, from their mixed strategies as they are."""
        seats = seats_of(playing.state)
        heat = temperature(len(playing.decisions), self.settings) if len(seats) == 1 else 1.0
        chosen = []
        for seat in seats:
            draws = Random(key_of((self.config.seed, playing.id, playing.steps, seat, Purpose.CHOICE)))
            chances = result.policy[seat].tolist()
            chosen.append(chances.index(max(chances)) if heat == 0.0 else sampled(chances, heat, draws))
        return chosen


def _shares(policy: Any) -> dict[int, float]:
    """Return the choices that have a share, by action id."""
    return {int(action): float(policy[action]) for action in np.flatnonzero(policy)}
