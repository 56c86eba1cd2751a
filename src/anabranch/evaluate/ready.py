"""Networks that come with the package, by name: `evaluator=best` is the one that was trained for the game.

Each has a folder in `data/models`: the weights, the settings that trained them, and a log with its course and with what
it was measured against. They run in NumPy, so nobody needs torch to play against them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from anabranch.errors import DataError, UsageError, reason
from anabranch.evaluate.batch import Answer, Batch
from anabranch.evaluate.mixed import with_rollouts
from anabranch.evaluate.native import Rollout
from anabranch.evaluate.network import NetworkEvaluator, Observations
from anabranch.evaluate.seats import View
from anabranch.files import DATA, read_file
from anabranch.game.game import Game

MODELS = DATA / "models"
WEIGHTS, SETTINGS, LOG = "model.safetensors", "run.toml", "log.json"
FORMAT = 1
LARGEST = 2**24  # bytes of a file
DIGITS = 16  # of a hash in names


class Against(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What was measured: the agent's score against another one and its 95 % interval, or of one player its returns."""

    agent: str
    opponent: str
    games: int
    score: float
    low: float
    high: float


class Log(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What a model's log says."""

    format: int
    sha256: str  # of the weights' file
    game: dict[str, Any]  # that it was trained in: name, options, compiled
    plays: list[str]  # patterns of games it is for, as `Game.written_out` has them
    agent: str  # what follows `search:` in the name of the agent `best`
    rollouts: int = 0  # of a state, mixed into the network's values as in its training (ab.Mixed)
    share: float = 0.5  # of the value, that these have
    default: bool  # whether it is at least as strong as rollouts with as many simulations
    run: dict[str, Any]  # games, positions, steps, minutes, seed and version of its training
    course: list[dict[str, Any]]  # what every checkpoint scored
    against: list[Against]


@dataclass(frozen=True)
class ReadyModel:
    """A network of the package."""

    folder: Path

    @property
    def name(self) -> str:
        """What it is called."""
        return self.folder.name

    @cached_property
    def log(self) -> Log:
        """How it was made, and how strong it is."""
        try:
            found = msgspec.json.decode(read_file(self.folder / LOG, LARGEST), type=Log)
        except msgspec.DecodeError as error:
            raise DataError(f"{self.folder / LOG} is no log of a model: {reason(error)}") from None
        if found.format != FORMAT:
            raise DataError(f"{self.folder / LOG} has format {found.format}, this version reads {FORMAT}")
        return found

    def is_for(self, game: Game) -> bool:
        """Whether it was trained for a game of the package."""
        return type(game).__module__.startswith("anabranch.games.") and any(
            fnmatchcase(game.written_out, pattern) for pattern in self.log.plays
        )

    def weights(self) -> bytes:
        """Return the bytes of the weights' file, whose hash must be the log's."""
        data = read_file(self.folder / WEIGHTS, LARGEST)
        if hashlib.sha256(data).hexdigest() != self.log.sha256:
            raise DataError(f"{self.folder / WEIGHTS} is damaged: its hash is not the one in {LOG}; install it again")
        return data


def ready_models() -> list[ReadyModel]:
    """Return the networks that come with the package."""
    return [ReadyModel(path.parent) for path in sorted(MODELS.glob(f"*/{LOG}"))]


def ready_model(game: Game) -> ReadyModel | None:
    """Return the network that was trained for a game; None if there is none."""
    return next((model for model in ready_models() if model.is_for(game)), None)


class Best(NetworkEvaluator):
    """The network of the package that was trained for the game it is asked about, computed in NumPy.

    Where rollouts were mixed into its values in training, they are here.
    """

    view: View = "mover"

    def __init__(self, sha256: str | None = None) -> None:
        self.sha256 = sha256
        self._network: Any = None
        self._mix: tuple[Rollout, float] | None = None

    def check(self, game: Game) -> None:
        """Find the network of a game; refuse one that has none, or another than was named."""
        from anabranch.nets.plain import plain
        from anabranch.nets.shape import shape_of

        model = ready_model(game)
        if model is None:
            known = ", ".join(each.log.plays[0] for each in ready_models()) or "none"
            raise UsageError(
                f"there is no ready model of {game!r}; there are those of: {known}. Train one with anabranch train"
            )
        data = model.weights()
        mark = model.log.sha256[:DIGITS]
        if self.sha256 not in (None, mark):
            raise DataError(f"best of {game!r} is another network than the one named: {mark}, not {self.sha256}")
        shape, network = plain(model.name, data)
        here = shape_of(game)
        if (shape.observation, shape.actions, shape.players) != (here.observation, here.actions, here.players):
            raise DataError(f"the ready model {model.name} does not fit {game!r}")
        self.sha256, self._network = mark, network
        self._mix = (Rollout(count=model.log.rollouts), model.log.share) if model.log.rollouts else None

    def evaluate(self, batch: Batch) -> Answer:
        logits, values = super().evaluate(batch)
        return logits, values if self._mix is None else with_rollouts(values, batch, *self._mix)

    def run(self, observations: Observations) -> tuple[Any, Any]:
        answer: tuple[Any, Any] = self._network(observations)
        return answer

    @property
    def name(self) -> str:
        """What it is called everywhere; the hash is known once a game is."""
        return "best" if self.sha256 is None else f"best:sha256={self.sha256}"

    def __repr__(self) -> str:
        return f"Best({self.name})"
