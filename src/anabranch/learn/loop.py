"""The loop: self-play → replay → targets → learner → export → gate → rating, scheduled by credit.

The learner earns `reuse` rows for every row that is recorded and never runs ahead of it; self-play never waits for
rows to be learnt. In one process the two alternate in slices that are counted, not timed, so a seed decides all.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any, TypeVar

from anabranch.errors import DataError, FileError, UsageError
from anabranch.evaluate.native import Rollout
from anabranch.game.game import Game
from anabranch.learn import checkpoint
from anabranch.learn.evaluation import scored
from anabranch.learn.export import exported, mixed
from anabranch.learn.fates import auxiliary_shapes
from anabranch.learn.frozen_set import Sets, frozen_positions
from anabranch.learn.gate import admits
from anabranch.learn.imagination import model_errors
from anabranch.learn.learner import Losses, imagined_steps, new_learner
from anabranch.learn.patience import with_room
from anabranch.learn.players import Players
from anabranch.learn.reanalysis import Reanalysis
from anabranch.learn.records import GameRecord, beyond_returns
from anabranch.learn.replay import Replay, window_size
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import TrainConfig
from anabranch.learn.status import Status
from anabranch.learn.stopping import Stopping
from anabranch.nets.files import read, written
from anabranch.nets.net import Net

Result = TypeVar("Result")
HELD_OUT = 4_000  # newest positions that imagined ones are compared with


class Training:
    """A run under way."""

    def __init__(
        self,
        run: RunFolder,
        game: Game,
        config: TrainConfig,
        progress: Callable[[Status | str], None] = lambda status: None,
    ) -> None:
        self.run, self.game, self.config, self.progress = run, game, config, progress
        self.learner = new_learner(game, config)
        unroll = config.unroll.steps if config.method == "muzero" else 0
        ahead = config.unroll.consistency > 0 or config.net.architecture == "world_dice"
        auxiliary = auxiliary_shapes(config.auxiliary, game)
        self.replay = Replay(game, config.replay, config.targets, unroll, ahead=ahead, auxiliary=auxiliary)
        self.reanalysis = Reanalysis(game, config, self.replay)
        plain = replace(config.replay, symmetries=False, endings=0.0, window=HELD_OUT, growth=0.0, weights="none")
        self.held_out = Replay(game, plain, config.targets, unroll, ahead=True) if unroll else None
        self.losses: Losses | None = None
        self.score: dict[str, Any] | None = None
        self._within = True  # so far no game paid more than its rules declare
        self._pending: list[GameRecord] = []  # ended, and not written yet
        self._saved_step = -1
        self._exports = 0
        self._before = 0.0  # seconds of earlier processes
        self._sets: Sets | None = None
        self._current: Any = None  # the evaluator of self-play
        self._version = 0  # the step its weights are of
        self._stop = Stopping()
        self._unread: deque[dict[str, Any]] = deque()  # shards of the window, after a run was taken up
        self._later: list[GameRecord] = []  # played since, to be learnt from after those
        self._go_on()
        self._begun, self._games_before, self._steps_before = time.perf_counter(), len(run.ids), self.learner.step
        self._waited = 0.0  # seconds for games

    def _go_on(self) -> None:
        """Take up what is on disk: the newest checkpoint; and note the games of the window, which are read later."""
        found = self.run.newest_state()
        if found is not None:
            row, weights, state = found
            if weights is not None:
                self._of_this_game(row["file"], weights)
            checkpoint.read(state, row["state"], self.learner)
            self.learner.mark_good()
            self._saved_step, self._exports, self.score = self.learner.step, row["exports"], row["score"]
        elif self.run.ledger.rows["models"]:
            self._go_on_without_state()
        metrics = self.run.ledger.rows["metrics"]
        self._before = max((row["seconds"] for row in metrics), default=0.0)
        self.reanalysis.count = max((row.get("reanalysed", 0) for row in metrics), default=0)
        shards = self.run.ledger.rows["shards"]
        kind = self._kind
        after = sum(row[kind] for row in shards)
        window = window_size(after, self.config.replay)
        for row in shards:
            after -= row[kind]  # that came later than this shard
            if after >= window:
                self.replay.skip(row[kind])
            else:
                self._unread.append(row)

    def _of_this_game(self, name: str, weights: bytes) -> Net:
        """Return the network in a model's file, which must be one for the game as it is now."""
        try:
            return read(name, weights, self.game)
        except DataError as error:
            changed = f"the game has changed since the run in {self.run.folder} began; begin one in another folder"
            raise UsageError(f"{error}: {changed}") from None

    def _go_on_without_state(self) -> None:
        """Take up the newest network that is left, if any is; what the optimiser knew is lost."""
        found = self.run.newest_weights()
        if found is None:
            self.run.warn("nor is any model: learning begins anew, from the games that are there")
            return
        row, weights = found
        self.learner.begin_with(self._of_this_game(row["file"], weights), row["step"])
        self.learner.mark_good()
        self._exports, self.score = row["exports"], row["score"]
        self.run.warn(f"going on from the weights in {row['file']}, step {row['step']:,}; the optimiser begins anew")

    def catch_up(self, most: int | None = None) -> None:
        """Read shards of the window, so many or all; what is played meanwhile comes after them.

        A large window takes longer to read than a run should take to go on: a shard at a time, games go on meanwhile.
        """
        for _ in range(len(self._unread) if most is None else min(most, len(self._unread))):
            for record in self.run.games(self._unread.popleft()):
                self.take_in(record)
        if not self._unread:
            later, self._later = self._later, []
            for record in later:
                self.take_in(record)

    # The loop

    def train(self, players: Callable[[Any, int, Iterator[int]], Players], stop: Stopping) -> bool:
        """Train until the time is up; return whether it is: False where it was stopped before.

        Stopped once, it writes what it has, without measuring it; stopped twice, it leaves what was committed.
        """
        self._stop, at_once = stop, False
        if self._taught:
            self._current = exported(self.learner.average, self.game, "torch", self.learner.step)[0]
        else:
            self._current = Rollout()
        self._version = self.learner.step
        source = players(self._current, self._version, self._numbers())
        try:
            while not self.done and not stop.asked:
                begun = time.perf_counter()
                games = source.games()
                self._waited += time.perf_counter() - begun
                self.remember(games)
                self.catch_up(1)
                self.learn()
                self.reanalyse()
                self.export(source)
                self.progress(self.status(source))
            return not stop.asked
        except FileError:
            if not stop.asked:
                raise
            return False  # it waited for room; `finish` says what is lost
        except KeyboardInterrupt:
            at_once = True
            raise
        finally:
            source.close()
            if not at_once:
                self.finish(source)

    @property
    def _taught(self) -> bool:
        """Whether the teacher's games were played, and learnt from as often as they may."""
        wanted, learner = self.config.teacher.positions, self.config.learner
        shown = (self.learner.step + 1) * learner.batch > learner.reuse * wanted  # other processes may have played on
        enough = self.replay.total >= wanted and (shown or self._earned < learner.batch)
        return self._exports > 0 or enough

    @property
    def done(self) -> bool:
        """Whether the time is up, or all steps were made."""
        most = self.config.most_steps
        return self.seconds >= 60.0 * self.config.minutes or (most is not None and self.learner.step >= most)

    def _numbers(self) -> Iterator[int]:
        """Yield the numbers of games that are to be played: those that no row has."""
        number = 0
        while True:
            if number not in self.run.ids:
                yield number
            number += 1

    def remember(self, games: list[GameRecord], *, now: bool = False) -> None:
        """Write games that ended, many at a time, and learn from those that are committed."""
        self._pending += games
        if len(self._pending) < (1 if now else self.config.replay.shard):
            return
        fresh = self._patiently(lambda: self.run.commit_games(self._pending, self.game.players))
        self._pending.clear()
        self._later += fresh
        self.catch_up(0)

    def take_in(self, record: GameRecord) -> None:
        """Learn from a game; some are held out, and count as if they had been learnt from."""
        if self._within and (beyond := beyond_returns(record, self.game)) is not None:
            self._within = False  # said once
            self.run.warn(beyond)
        if self.held_out is not None and record.id % self.config.replay.held_out == 0:
            self.replay.skip(self.held_out.add(record))
        else:
            self.reanalysis.add(record)

    def _patiently(self, act: Callable[[], Result]) -> Result:
        """Write something when there is room for it; waiting for that is none of the run's time."""
        made, waited = with_room(act, self._stop, self.run.say)
        self._begun += waited
        return made

    def _unless_stopped(self, act: Callable[[], Result]) -> Result | None:
        """Measure something that Ctrl-C cuts short; None then."""
        if self._stop.asked:
            return None
        try:
            with self._stop.interruptibly():
                return act()
        except KeyboardInterrupt:
            if not self._stop.asked:
                raise
            return None

    @property
    def credit(self) -> float:
        """How many rows the learner may be shown."""
        if self.replay.total < self.config.replay.least or not len(self.replay) or self._unread:
            return 0.0  # all there is may be held out
        return self._earned

    @property
    def _earned(self) -> float:
        """How many rows were earned and not shown, also while they cannot be shown yet."""
        return self.config.learner.reuse * self.replay.total - self.learner.step * self.config.learner.batch

    def learn(self, most: int = 8) -> None:
        """Make the steps that were earned, a few at a time."""
        for _ in range(most):
            if self.credit < self.config.learner.batch or self.done:
                return
            sample = self.replay.sample(
                self.config.learner.batch,
                self.config.seed,
                self.learner.step + (self.learner.restores << 40),
                imagined_steps(self.learner.step, self.config.unroll),
            )
            losses = self.learner.learn(sample)
            if losses is None:
                self.run.warn(f"the loss exploded after step {self.learner.step}: back to the last good weights")
                continue
            self.losses = losses
            self.reanalysis.earn(self.config.learner.batch)

    def reanalyse(self) -> None:
        """Search again what was earned, with the weights of self-play; a teacher's searches are not made again."""
        while not isinstance(self._current, Rollout) and not self.done and not self._stop.asked:
            if not self.reanalysis.think(self._current, self._version):
                return

    def export(self, source: Players) -> None:
        """Hand newer weights to self-play when it is time, and write a checkpoint when it is time for that."""
        due = self.learner.step // self.config.export.every
        teaching = isinstance(self._current, Rollout)
        if (due <= self._exports and not teaching) or (teaching and not self._taught):
            return
        self._exports = max(1, due)
        self.learner.mark_good()
        evaluator, note = exported(self.learner.average, self.game, self.config.export.evaluator, self.learner.step)
        if note:
            self.run.warn(note)
        simulations, step = self.config.rating.simulations, self.learner.step
        current = None if teaching else mixed(self._current, self.config.self_play)
        candidate = mixed(evaluator, self.config.self_play)
        tested = self._unless_stopped(
            lambda: admits(candidate, current, self.game, self.config.export, simulations=simulations, seed=step)
        )
        if tested is None:
            return
        admitted, found = tested
        if found is not None:
            row = {"step": step, **found}
            self._patiently(lambda: self.run.add("gates", row))
        if admitted:
            self._current, self._version = evaluator, step
            source.use(evaluator, step)
        if due % self.config.export.checkpoints == 0:
            self.save(evaluator, source)

    def save(self, evaluator: Any, source: Players) -> None:
        """Write a checkpoint: weights, learner, and what the frozen set says of them."""
        score = self._unless_stopped(lambda: self._scored(evaluator))
        self.score = score if score is not None else self.score
        facts = {
            "step": self.learner.step,
            "exports": self._exports,
            "seconds": self.seconds,
            "positions": self.replay.total,
            "score": score,
        }
        state = checkpoint.written(self.learner)
        weights = written(self.learner.average)
        self._patiently(lambda: self.run.commit_model(weights, state, facts))
        self._saved_step = self.learner.step
        metrics: dict[str, Any] = {**facts, "games": len(self.run.ids), "window": len(self.replay)}
        metrics["reanalysed"] = self.reanalysis.count
        metrics["losses"] = None if self.losses is None else asdict(self.losses)
        if self.held_out is not None:
            metrics["model"] = model_errors(self.learner.average, self.held_out, self.config.seed)
        metrics |= {"evaluations": source.rows, "fill": source.fill, "idle": self.idle(source)}
        self._patiently(lambda: self.run.add("metrics", metrics))

    def _scored(self, evaluator: Any) -> dict[str, Any] | None:
        """Return what the frozen set says of an evaluator, None where there is no such set."""
        wanted = self.config.rating.positions
        if self._sets is None:
            if wanted:
                self.progress(f"step {self.learner.step}: choosing {wanted} positions to measure checkpoints on")
            self._sets = frozen_positions(self.game, wanted, self.config.seed)
        if self._sets:
            self.progress(f"step {self.learner.step}: measuring the checkpoint on {wanted} positions")
        return (
            asdict(scored(self._sets, mixed(evaluator, self.config.self_play), self.config.rating.simulations))
            if self._sets
            else None
        )

    def finish(self, source: Players) -> None:
        """Write what is not written yet: games that ended, and the learner as it is."""
        try:
            self.remember([], now=True)
            if self.learner.step != self._saved_step:
                self.save(exported(self.learner.average, self.game, "torch", self.learner.step)[0], source)
        except FileError as error:
            if not self._stop.asked:
                raise
            lost = f"{len(self._pending)} games and {self.learner.step - max(0, self._saved_step)} steps are lost"
            self.run.say(f"{error}; stopped before there was room: {lost}")

    # How far it has come

    @property
    def _kind(self) -> str:
        """What a shard counts as positions to learn from: muzero learns from every decision."""
        return "decisions" if self.replay.unroll else "positions"

    @property
    def positions(self) -> int:
        """How many positions to learn from there are, those included that wait to be read again."""
        unread: int = sum(row[self._kind] for row in self._unread)
        return self.replay.total + unread

    @property
    def seconds(self) -> float:
        """How long the run has been at work, in all its processes one after the other."""
        return self._before + time.perf_counter() - self._begun

    def idle(self, source: Players) -> dict[str, float]:
        """Return in which share of the time the learner waited for games, and in which nobody played."""
        passed = max(1e-9, time.perf_counter() - self._begun)
        return {"learner": self._waited / passed, "self_play": source.idle}

    def _seconds_left(self, passed: float) -> float:
        """Return how long a run takes yet: until its time is up, or sooner, if its steps are made at this rate."""
        left = max(0.0, 60.0 * self.config.minutes - self.seconds)
        most, made = self.config.most_steps, self.learner.step - self._steps_before
        return left if most is None or not made else min(left, (most - self.learner.step) * passed / made)

    def status(self, source: Players) -> Status:
        """Return how far the run has come."""
        passed = max(1e-9, time.perf_counter() - self._begun)
        ratings = self.run.ledger.rows["ratings"]
        return Status(
            seconds=self.seconds,
            minutes=self.config.minutes,
            games=len(self.run.ids),
            positions=self.positions,
            reanalysed=self.reanalysis.count,
            step=self.learner.step,
            games_per_second=(len(self.run.ids) - self._games_before) / passed,
            rows_per_second=source.rows / passed,
            fill=source.fill,
            idle=self.idle(source),
            seconds_left=self._seconds_left(passed),
            losses=self.losses,
            score=self.score,
            rating=ratings[-1].get("newest") if ratings else None,
        )
