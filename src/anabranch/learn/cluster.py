"""Self-play on a Ray cluster: as many actors as wanted, on whatever machines it has, each the same worker as elsewhere.

The driver owns the numbers of games. A call hands an actor numbers and the version of the weights; it answers with the
games that ended meanwhile. Ray starts an actor that died again, with nothing; its numbers are handed out once more, so
a game may come twice, and counts once. Weights are put into the object store once a version, and fetched by those who
have older ones. What crosses the wire is bytes, words and numbers; nodes need the library, and the file of a game from
one.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from anabranch.errors import AnabranchError, MissingExtraError, reason
from anabranch.learn.processes import MOST
from anabranch.learn.records import GameRecord, read_shard, write_shard
from anabranch.learn.settings import TrainConfig
from anabranch.learn.worker import read_weights, weights_message
from anabranch.search.settings.mapping import to_mapping

TURN = 0.5  # seconds that a call plays
CALLS = 2  # under way to each actor, so that it need not wait for the learner
AHEAD = 4  # games an actor knows of for each one it plays
WAIT = 0.05  # seconds for games, before the learner has its turn
REST = 0.5  # seconds before an actor that died is called again
PATIENCE = 120.0  # seconds without a single game, with actors dying, after which a run gives up
LOCAL = "local"


class Player:
    """What runs in an actor: a worker that plays in turns, and ends its process if anything goes wrong in it."""

    def __init__(self, setup: bytes) -> None:
        import torch

        torch.set_num_threads(1)
        self._setup: dict[str, Any] = json.loads(setup)
        self._numbers: list[int] = []
        self._worker: Any = None
        self._batches: Iterator[list[GameRecord]] = iter(())
        self._version = -1
        self._played, self._begun = 0.0, time.perf_counter()

    def play(self, numbers: list[int], version: int, weights: list[Any]) -> tuple[bytes, dict[str, float]]:
        """Take numbers and play for a moment; return the games that ended, and figures. `weights` holds a reference."""
        try:
            return self._play(numbers, version, weights)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            sys.stderr.flush()
            os._exit(1)

    def _play(self, numbers: list[int], version: int, weights: list[Any]) -> tuple[bytes, dict[str, float]]:
        self._numbers += numbers
        self._take(version, weights)
        begun = time.perf_counter()
        ended: list[GameRecord] = []
        abreast = self._worker.settings.abreast
        while time.perf_counter() - begun < TURN and len(self._numbers) >= abreast:  # all of them may end at once
            ended += next(self._batches)
        now = time.perf_counter()
        self._played += now - begun
        news = {"rows": self._worker.rows, "fill": self._worker.fill, "idle": 1.0 - self._played / (now - self._begun)}
        return (write_shard(ended, self._worker.game.players) if ended else b""), news

    def _take(self, version: int, weights: list[Any]) -> None:
        """Make the worker, or give it other weights, unless it has them."""
        if version == self._version:
            return
        import ray

        from anabranch.learn.game_of_run import load_game
        from anabranch.learn.selfplay import Worker
        from anabranch.search.settings.config import SearchConfig
        from anabranch.search.settings.mapping import from_mapping

        game = load_game(self._setup["game"]) if self._worker is None else self._worker.game
        evaluator, _ = read_weights(ray.get(weights[0]), game)
        if self._worker is None:
            config = from_mapping(self._setup["config"], base=TrainConfig(search=SearchConfig()))
            self._worker = Worker(game, config, evaluator, version)
            self._batches = self._worker.play(self._given())
            self._played, self._begun = 0.0, time.perf_counter()
        else:
            self._worker.use(evaluator, version)
        self._version = version

    def _given(self) -> Iterator[int]:
        while True:
            yield self._numbers.pop(0)


class Actor:
    """An actor, the numbers it has and has not sent back, and the calls to it under way."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.numbers: set[int] = set()
        self.again: list[int] = []  # numbers it had when it died
        self.calls: list[Any] = []
        self.alive = True
        self.rests_until = 0.0
        self.rows = self.gone_rows = 0
        self.fill = self.idle = 0.0


class Cluster:
    """Actors of a Ray cluster, seen as one source of games."""

    def __init__(
        self,
        said: dict[str, Any],
        config: TrainConfig,
        evaluator: Any,
        version: int,
        numbers: Iterator[int],
        say: Callable[[str], None] = lambda words: None,
    ) -> None:
        self._ray, self._own = connected(config.ray)
        self._numbers, self._abreast, self._say = numbers, config.self_play.abreast, say
        setup = json.dumps({"game": said, "config": to_mapping(config)}).encode()
        self.puts = 0
        self.use(evaluator, version)
        kind = self._ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(Player)
        self.actors = [Actor(kind.remote(setup)) for _ in range(max(1, config.workers or 0))]
        self.deaths = 0
        self._last_game = time.monotonic()
        self._missed = 0  # deaths since then
        for actor in self.actors:
            self._call(actor)

    # What goes out

    def use(self, evaluator: Any, version: int) -> None:
        """Put other weights where actors find them, once; they take them with their next call."""
        self._weights, self._version = self._ray.put(weights_message(evaluator, version)), version
        self.puts += 1

    def _call(self, actor: Actor) -> None:
        """Keep an actor busy, with enough numbers."""
        while len(actor.calls) < CALLS and time.monotonic() >= actor.rests_until:
            count = max(0, AHEAD * self._abreast - len(actor.numbers))
            again, actor.again = actor.again, []
            given = list(itertools.islice(self._numbers, count))
            actor.numbers.update(given)
            actor.calls.append(actor.handle.play.remote(again + given, self._version, [self._weights]))

    # What comes back

    def games(self) -> list[GameRecord]:
        """Return games that have come in meanwhile; wait a moment if there are none."""
        waiting = {call: actor for actor in self.actors for call in actor.calls}
        found: list[GameRecord] = []
        if waiting:
            done, _ = self._ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
            if not done:
                done, _ = self._ray.wait(list(waiting), num_returns=1, timeout=WAIT)
            for call in done:
                if len(found) < MOST:  # the others stay for the next time
                    found += self._answer(waiting[call], call)
        else:
            time.sleep(WAIT)
        for actor in self.actors:
            self._call(actor)
        if found:
            self._last_game, self._missed = time.monotonic(), 0
        elif self._missed and time.monotonic() - self._last_game > PATIENCE:
            raise AnabranchError(
                f"no game has come for {PATIENCE:.0f} s, in which actors died {self._missed} times; Ray's logs say "
                f"why, and so does training with --workers 0"
            )
        return found

    def _answer(self, actor: Actor, call: Any) -> list[GameRecord]:
        if call not in actor.calls:  # of an actor that died: its numbers are handed out again
            return []
        actor.calls.remove(call)
        try:
            shard, news = self._ray.get(call)
        except self._ray.exceptions.RayError as error:
            self._died(actor, error)
            return []
        actor.alive = True
        actor.rows, actor.fill, actor.idle = int(news["rows"]), news["fill"], news["idle"]
        games = [game for game in read_shard(shard) if game.id in actor.numbers] if shard else []
        actor.numbers.difference_update(game.id for game in games)
        return games

    def _died(self, actor: Actor, error: BaseException) -> None:
        """Forget what an actor was asked, and ask it again in a moment: by then Ray has begun to start it anew."""
        if actor.alive:  # or it is still being started
            self.deaths, actor.alive = self.deaths + 1, False
            self._say(f"an actor has ended ({type(error).__name__}); started again, it gets its games once more")
        self._missed += 1
        actor.calls.clear()
        actor.again = sorted(actor.numbers)
        actor.rests_until = time.monotonic() + REST
        actor.gone_rows, actor.rows = actor.gone_rows + actor.rows, 0

    # Figures

    @property
    def rows(self) -> int:
        """States evaluated so far."""
        return sum(actor.gone_rows + actor.rows for actor in self.actors)

    @property
    def fill(self) -> float:
        """How full batches are."""
        return sum(actor.fill for actor in self.actors) / len(self.actors)

    @property
    def idle(self) -> float:
        """In which share of their time actors waited to be called."""
        return sum(actor.idle for actor in self.actors) / len(self.actors)

    def close(self) -> None:
        """End all actors, and the cluster if it was started for them."""
        for actor in self.actors:
            self._ray.kill(actor.handle)
        if self._own:
            self._ray.shutdown()


def connected(address: str) -> tuple[Any, bool]:
    """Return Ray, connected to a cluster, and whether it was begun for us; it is to tell nobody about its use."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_worker_niceness", "0")  # of a local one: playing is what the machine is for
    try:
        import ray
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise MissingExtraError("ray", "ray", "training on a cluster") from None
    if ray.is_initialized():
        return ray, False
    try:
        ray.init(
            address=None if address == LOCAL else address,
            include_dashboard=False if address == LOCAL else None,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise AnabranchError(
            f"there is no Ray cluster at {address!r}: {reason(error)}; `ray start --head` begins one, and "
            f"--ray {LOCAL} needs none"
        ) from None
    return ray, True
