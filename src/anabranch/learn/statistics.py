"""What a run has done so far, in figures: read from its database, and from its games where that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anabranch.errors import AnabranchError, reason
from anabranch.game.game import Game
from anabranch.learn.decided import decided_before
from anabranch.learn.game_of_run import game_of
from anabranch.learn.rating import played_by, table
from anabranch.learn.records import GameRecord
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import SelfPlay
from anabranch.learn.status import shown_fill

MOST_SHARDS = 8  # the newest ones, of which games are read


@dataclass(frozen=True)
class Statistics:
    """Figures of a run, and its course: a row per checkpoint."""

    game: str
    games: int
    decisions: int
    positions: int
    steps: int
    minutes: float
    models: int
    bytes: int  # of games
    mean_length: float
    mean_returns: tuple[float, ...]  # per seat
    repeated: float  # share of the newest games that are move for move like one before
    entropy: float  # of recorded policies, in nats
    calibration: float  # mean |root value − what came after it| over the newest games, in seats
    decided: float  # share of searches of the newest games after these were decided
    spared: float  # share of visits that this spared
    course: tuple[dict[str, Any], ...]

    def rows(self) -> tuple[tuple[str, ...], list[tuple[str | int, ...]]]:
        """Return the course as a table."""
        again = any(row.get("reanalysed") for row in self.course)
        more = other_losses(self.course)
        columns = (
            *("minutes", "games", "positions", *(["reanalysed"] if again else []), "step", "policy loss", "value loss"),
            *(f"{name} loss" for name in more),
            *("best moves", "searched", "batches full", "learner idle", "self-play idle"),
        )
        rows: list[tuple[str | int, ...]] = []
        for row in self.course:
            losses, score = row["losses"] or {}, row["score"] or {}
            rows.append(
                (
                    f"{row['seconds'] / 60:.1f}",
                    row["games"],
                    row["positions"],
                    *([row.get("reanalysed", 0)] if again else []),
                    row["step"],
                    *(f"{losses[name]:.3f}" if losses else "" for name in ("policy", "value")),
                    *(f"{losses['more'][name]:.3f}" if name in losses.get("more", {}) else "" for name in more),
                    *(f"{score[name]:.1%}" if score else "" for name in ("policy", "search")),
                    shown_fill(row["fill"]) if "fill" in row else "",
                    *(f"{row['idle'][name]:.0%}" if "idle" in row else "" for name in ("learner", "self_play")),
                )
            )
        return columns, rows


def other_losses(course: Sequence[dict[str, Any]]) -> list[str]:
    """Return the names of what else was learnt, beside policies and values."""
    return list(dict.fromkeys(name for row in course if row["losses"] for name in row["losses"].get("more", {})))


def imagined(course: Sequence[dict[str, Any]]) -> tuple[tuple[str, ...], list[tuple[str | int, ...]]] | None:
    """Return how far a learned model was off at every checkpoint, as a table: after one imagined step, and after K."""
    told = [(row["seconds"], row["model"]) for row in course if row.get("model")]
    if not told:
        return None
    names = list(told[0][1])
    columns = ("minutes", *(f"{name} {step}" for name in names for step in (1, len(told[0][1][name]))))
    rows: list[tuple[str | int, ...]] = []
    for seconds, errors in told:
        ends = [errors[name][at] for name in names for at in (0, -1)]
        rows.append((f"{seconds / 60:.1f}", *("" if error is None else f"{error:.4f}" for error in ends)))
    return columns, rows


def spared(records: Sequence[GameRecord], settings: SelfPlay, game: Game | None) -> tuple[float, float]:
    """Return which share of searches was made after games were decided, and which share of all visits that spared.

    The others say how many visits such a search would have had, on average.
    """
    visits: dict[bool, list[int]] = {False: [], True: []}
    for record in records if game is not None and settings.decided is not None else ():
        assert game is not None
        for decision, late in zip(record.decisions, decided_before(record.decisions, settings, game), strict=False):
            if decision.visits:
                visits[late].append(decision.visits)
    if not (visits[True] and visits[False]):
        return 0.0, 0.0
    made = sum(visits[False]) + sum(visits[True])
    count = len(visits[False]) + len(visits[True])
    return len(visits[True]) / count, 1.0 - made / count / float(np.mean(visits[False]))


def calibration(records: Sequence[GameRecord], discount: float) -> float:
    """Return the mean of |root value − what was paid from there on| over all seats and searches of finished games."""
    off: list[float] = []
    for record in records:
        came: list[float] = []
        for d in reversed(record.decisions if record.finished else ()):
            later = came or [0.0] * len(d.rewards)
            came = [paid + discount * rest for paid, rest in zip(d.rewards, later, strict=True)]
            if d.visits:
                off += [abs(value - rest) for value, rest in zip(d.value, came, strict=True)]
    return float(np.mean(off)) if off else 0.0


def _game(run: RunFolder) -> Game | None:
    """Return the game of a run; None, which is said, if its file is no longer where it was."""
    try:
        return game_of(run)
    except Exception as error:  # rules are anybody's code
        what = (
            str(error)
            if isinstance(error, AnabranchError)
            else f"{run.game['name']} cannot be loaded: {type(error).__name__}: {reason(error)}"
        )
        run.warn(f"{what}; without the game nothing is discounted, and decided games are not counted")
        return None


def statistics(run: RunFolder) -> Statistics:
    """Return the figures of a run."""
    shards, metrics = run.ledger.rows["shards"], run.ledger.rows["metrics"]
    returns = [each for row in shards for each in row["returns"] if each]
    newest = [record for row in shards[-MOST_SHARDS:] for record in run.games(row)]
    decisions = sum(row["decisions"] for row in shards)
    last: dict[str, Any] = metrics[-1] if metrics else {"step": 0, "seconds": 0.0}
    lines = {(record.seed, record.dice, tuple((d.actions, d.dice) for d in record.decisions)) for record in newest}
    policies = [list(policy.values()) for record in newest for d in record.decisions if d.full for policy in d.policy]
    entropy = [-sum(share * np.log(share) for share in policy if share > 0) for policy in policies]
    game = _game(run)
    decided, less = spared(newest, run.config.self_play, game)
    return Statistics(
        game=run.game["name"],
        games=len(run.ids),
        decisions=decisions,
        positions=decisions if run.config.method == "muzero" else run.positions,  # all of them are learnt from there
        steps=last["step"],
        minutes=last["seconds"] / 60.0,
        models=len(run.ledger.rows["models"]),
        bytes=sum(row["bytes"] for row in shards),
        mean_length=decisions / max(1, len(run.ids)),
        mean_returns=tuple(np.mean(returns, axis=0).tolist()) if returns else (),
        repeated=1.0 - len(lines) / len(newest) if newest else 0.0,
        entropy=float(np.mean(entropy)) if entropy else 0.0,
        calibration=calibration(newest, 1.0 if game is None else float(game.discount)),
        decided=decided,
        spared=less,
        course=tuple(metrics),
    )


def rated_so_far(run: RunFolder) -> Any:
    """Return the ratings that were played by the settings of the run, if any were."""
    settings = run.config.rating
    return table(run, played_by(settings), settings.anchors.split()[0])
