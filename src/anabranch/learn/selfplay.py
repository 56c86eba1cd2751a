"""Games played against oneself to learn from: a worker that knows weights and numbers of games, and nothing else.

Many games run abreast in the lanes of one who thinks; a game that ends is replaced at once by the next one. Everything
random about a game follows from the run's seed and the game's number: start, dice, opening, playout cap, noise, moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from anabranch.errors import GameError
from anabranch.evaluate.native import Rollout
from anabranch.game.environment import Moment
from anabranch.game.game import Game
from anabranch.game.random import Random, below, uniform
from anabranch.game.state import State
from anabranch.game.words import CHANCE, as_row
from anabranch.learn.records import Decision, GameRecord, choices_of, seats_of
from anabranch.learn.settings import SelfPlay as Settings
from anabranch.learn.settings import TrainConfig
from anabranch.learn.thinking import Found, Steps, Thinker, thinker
from anabranch.play.search_agent import sampled
from anabranch.play.seeds import Purpose, seed_for
from anabranch.search.engine.native import native_key_of

MOST_ROLLS = 100_000  # without a decision between them
CHOICE = Purpose.CHOICE.value  # an enum's own attributes are looked up slowly
TRIES = 100  # openings that ended the game, before one without an opening


def temperature(decisions: int, settings: Settings) -> float:
    """Return T after so many decisions: late + (first − late)·2^(−decisions / half-life)."""
    first, late = settings.temperature, settings.late_temperature
    return float(late + (first - late) * 2.0 ** (-decisions / settings.half_life))


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

    def roll(self, steps: list[tuple[list[int], State]]) -> tuple[tuple[int, ...], list[float]]:
        """Play the dice until somebody decides, adding to `steps`; return the outcomes and their rewards."""
        outcomes: list[int] = []
        total = [0.0] * self.state.game.players
        while self.state.turn_bits == CHANCE:
            outcome = self.state.draw(self.dice_seed, self.steps)
            total = [sum(pair) for pair in zip(total, self._step(self.state.row_of(outcome), steps), strict=True)]
            outcomes.append(outcome)
            if len(outcomes) > MOST_ROLLS:
                raise GameError(f"{self.state.game.name}: {MOST_ROLLS:,} rolls without a decision between them")
        return tuple(outcomes), total

    def _step(self, row: list[int], steps: list[tuple[list[int], State]]) -> list[float]:
        self.state, rewards = self.state.after(row)
        steps.append((row, self.state))
        self.steps += 1
        return rewards

    def play(self, seats: Sequence[int], actions: Sequence[int], **found: Any) -> list[tuple[list[int], State]]:
        """Play a decision and the dice that follow it; return these steps."""
        players = self.state.game.players
        steps: list[tuple[list[int], State]] = []
        rewards = self._step(as_row(players, seats, actions), steps)
        dice, more = self.roll(steps)
        found.setdefault("value", (0.0,) * players)
        total = tuple([own + rolled for own, rolled in zip(rewards, more, strict=True)])
        self.decisions.append(Decision(actions=tuple(actions), dice=dice, rewards=total, **found))
        return steps

    def record(self, *, finished: bool) -> GameRecord:
        """Return what was recorded."""
        return GameRecord(self.id, self.seed, self.dice, tuple(self.decisions), self.opened, finished)


class Worker:
    """Plays games of given numbers, in a `with` statement; weights may be changed between any two batches."""

    def __init__(self, game: Game, config: TrainConfig, evaluator: Any, version: int = 0) -> None:
        self.game, self.config, self.version = game, config, version
        self.settings = config.self_play
        self._evaluator = evaluator
        self._thinker: Thinker | None = None
        self._playing: list[Playing] = []
        self._under_way: set[int] = set()  # lanes whose game goes on
        self._earlier_rows, self._earlier_fill = 0, 0.0  # of thinkers that are closed
        self.decisions = 0

    def use(self, evaluator: Any, version: int) -> None:
        """Go on with other weights: games and graphs stay; of a teacher's graphs, whose values mean else, none."""
        teaching = isinstance(self._evaluator, Rollout)
        self._evaluator, self.version = evaluator, version
        if self._thinker is None:
            return
        if not teaching:
            self._thinker.use(evaluator)
            return
        self._close()
        self._thinker = thinker(self.game, self.config, evaluator, self._playing)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thinker is not None:
            self._thinker.close()

    @property
    def rows(self) -> int:
        """States evaluated so far."""
        return self._earlier_rows + (0 if self._thinker is None else self._thinker.rows)

    @property
    def fill(self) -> float:
        """How many of the games under way have a position in a batch, on average, as a share."""
        fill = 0.0 if self._thinker is None else self._thinker.fill
        return (fill or self._earlier_fill) / max(1, len(self._playing))

    def play(self, numbers: Iterator[int]) -> Iterator[list[GameRecord]]:
        """Play games of these numbers, without end if they have none; yield those that ended after every batch.

        Called again, it goes on with the games under way, or begins others if there are none.
        """
        under_way = self._under_way
        if not under_way:
            yield from self._begin(numbers)
        while under_way:
            ended: list[GameRecord] = []
            thinks = self._thinker
            assert thinks is not None
            lanes = [lane for lane in thinks.go_on() if lane in under_way]
            played: dict[int, Steps] = {}
            begun: dict[int, Playing] = {}
            for lane, found in zip(lanes, thinks.found(lanes) if lanes else (), strict=True):
                playing = self._playing[lane]
                steps = self._move(playing, found)
                record = self._ended(playing)
                if record is None:
                    played[lane] = steps
                    continue
                ended.append(record)
                following = next(numbers, None)
                while following is not None and following < self.settings.random_games:
                    ended.append(self._at_random(following))
                    following = next(numbers, None)
                if following is None:
                    under_way.remove(lane)
                else:
                    self._playing[lane] = begun[lane] = self._start(following)
            if lanes:
                thinks.think(played, begun)
            yield ended

    def _begin(self, numbers: Iterator[int]) -> Iterator[list[GameRecord]]:
        """Yield the games that are played at random, and begin as many others as are played at once."""
        self._close()
        self._playing = []
        for number in numbers:
            if number < self.settings.random_games:
                yield [self._at_random(number)]
                continue
            self._playing.append(self._start(number))
            if len(self._playing) == self.settings.abreast:
                break
        if self._playing:
            self._thinker = thinker(self.game, self.config, self._evaluator, self._playing)
        self._under_way.update(range(len(self._playing)))

    def _close(self) -> None:
        if self._thinker is not None:
            self._earlier_rows += self._thinker.rows
            self._earlier_fill = self._thinker.fill
            self._thinker.close()
            self._thinker = None

    # One game

    def _start(self, number: int) -> Playing:
        """Begin a game: its start, its first dice and perhaps a few random moves."""
        seed = self.config.seed
        draws = Random(seed_for(seed, Purpose.OPENING, number))
        plies, most = 0, self.settings.opening_plies
        if uniform(draws) < self.settings.openings and most:
            plies = 1 + below(draws, most)
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
        playing.dice, _ = playing.roll([])
        for _ in range(plies):
            if playing.state.over:
                break
            chosen = [own[below(draws, len(own))] for own in choices_of(playing.state)]
            playing.play(seats_of(playing.state), chosen, model=self.version)
            playing.opened += 1
        return playing

    def _at_random(self, number: int) -> GameRecord:
        """Play a whole game at random."""
        draws = Random(seed_for(self.config.seed, Purpose.OPENING, number))
        playing = self._opened(number, self.settings.longest, draws)
        return playing.record(finished=playing.state.over and not _cut_off(playing.state))

    def _move(self, playing: Playing, found: Found) -> Steps:
        """Choose and play a move by what was found; return its steps."""
        seats = seats_of(playing.state)
        self.decisions += 1
        return playing.play(seats, self._chosen(playing, seats, found), **found.recorded(seats, self.version))

    def _ended(self, playing: Playing) -> GameRecord | None:
        """Return a game that is over or long enough."""
        if playing.state.over:
            return playing.record(finished=not _cut_off(playing.state))
        if len(playing.decisions) >= self.settings.longest:
            return playing.record(finished=False)
        return None

    def _chosen(self, playing: Playing, seats: Sequence[int], found: Found) -> list[int]:
        """Draw a move for everybody who acts: where several do, from their mixed strategies as they are."""
        heat = temperature(len(playing.decisions), self.settings) if len(seats) == 1 else 1.0
        chosen = []
        for seat in seats:
            draws = Random(native_key_of((self.config.seed, playing.id, playing.steps, seat, CHOICE)))
            chances = found.policy[seat]
            chosen.append(chances.index(max(chances)) if heat == 0.0 else sampled(chances, heat, draws))
        return chosen


def _cut_off(state: State) -> bool:
    """Whether a game is over only because its environment ended it for its length."""
    return isinstance(state.data, Moment) and state.data.cut_off
