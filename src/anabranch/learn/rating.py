"""Ratings of a run's models: games against fixed anchors and against each other, kept, and rated all together.

Games are rated together only if they were played by the same rules: the same simulations, openings and library. Their
settings are stored with them, and figures of different ones are never mixed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import Any

import anabranch
from anabranch.game.game import Game
from anabranch.learn.export import Model, agent_of, mixed
from anabranch.learn.plackett_luce import Outcome, Rated, ratings
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import Rating as Settings
from anabranch.nets.files import read
from anabranch.play.agent import Agent
from anabranch.play.interval import interval
from anabranch.play.match import Progress, match
from anabranch.play.record import score_of

Say = Callable[[str], None]
MODEL = "model "


@dataclass(frozen=True)
class Score:
    """How a model did against a fixed agent: its score, with a 95 % interval over pairs of games."""

    model: str
    opponent: str
    games: int
    score: float
    low: float
    high: float

    def __str__(self) -> str:
        return (
            f"{self.model} scores {self.score:.1%} against {self.opponent}, 95 % interval {self.low:.1%} to "
            f"{self.high:.1%}, {self.games} games"
        )


@dataclass(frozen=True)
class Table:
    """Ratings in Elo points above the first anchor, with 95 % intervals, and by which settings.

    `scores` are those of the newest model against fixed agents.
    """

    rated: tuple[Rated, ...]
    settings: dict[str, Any]
    scores: tuple[Score, ...] = ()

    def rows(self) -> tuple[tuple[str, ...], list[tuple[str | int, ...]]]:
        """Return a table: its columns, and a row per agent."""
        columns = ("agent", "rating", "95 % interval", "games")
        rows: list[tuple[str | int, ...]] = [
            (each.agent, f"{each.rating:+.0f}", f"± {each.error:.0f}" if each.error else "fixed", each.games)
            for each in self.rated
        ]
        return columns, rows


def model_name(version: int) -> str:
    """Return what a model is called in ratings."""
    return f"{MODEL}{version}"


def rated_agent(run: RunFolder, game: Game, version: int, simulations: int) -> Agent:
    """Return a model of a run as an agent."""
    row = run.ledger.rows["models"][version - 1]
    net = read(row["file"], run.read(row["file"], row["sha256"]), game)
    return agent_of(mixed(Model(net, identity=row["sha256"]), run.config.self_play), simulations)


def chosen_models(run: RunFolder, count: int) -> list[int]:
    """Return so many models of a run whose files are whole, the newest among them, spread evenly over it."""
    whole = [row["version"] for row in run.ledger.rows["models"] if run.is_whole(row)] if count else []
    if not whole:
        return []
    return sorted({whole[max(1, round(len(whole) * (index + 1) / count)) - 1] for index in range(count)})


def rate(
    run: RunFolder, game: Game, settings: Settings, models: Sequence[int], say: Say = lambda words: None
) -> Table | None:
    """Play what is missing of models against anchors, and each against the one before; rate all that was played.

    None where there is nobody to rate, or a game for one player.
    """
    if not models or game.players < 2:
        return None
    by = played_by(settings)
    anchors = settings.anchors.split()
    known: dict[tuple[str, ...], list[int]] = defaultdict(list)  # games of every match that was played
    for row in run.ledger.rows["ratings"]:
        if row["settings"] == by:
            known[tuple(row["agents"])].append(len(row["games"]))
    wanted = [(model, anchor) for model in models for anchor in anchors]
    wanted += list(zip(models[1:], models, strict=False))  # type: ignore[arg-type]
    for model, other in wanted:
        names = (model_name(model), other if isinstance(other, str) else model_name(other))
        missing = settings.games - sum(known[names])
        if missing > 0:  # other openings and dice than in the matches before
            played = _played(run, game, settings, model, other, names, missing, len(known[names]), say)
            run.add("ratings", played)
    return table(run, by, anchors[0])


def _played(
    run: RunFolder,
    game: Game,
    settings: Settings,
    model: int,
    other: int | str,
    names: tuple[str, str],
    games: int,
    seed: int,
    say: Say,
) -> dict[str, Any]:
    """Play one match and return its row."""
    first = rated_agent(run, game, model, settings.simulations)
    second = other if isinstance(other, str) else rated_agent(run, game, other, settings.simulations)

    def tell(so_far: Progress) -> None:
        say(f"rating {names[0]} against {names[1]}: {so_far.done} of {so_far.games} games")

    found = match(game, first, second, games=games, seed=seed, progress=tell)
    rows = [{"pair": g.pair, "seats": list(g.seats), "returns": list(g.returns)} for g in found.records]
    return {"agents": list(names), "settings": played_by(settings), "games": rows}


def played_by(settings: Settings) -> dict[str, Any]:
    """Return what games must have in common to be rated together."""
    return {"simulations": settings.simulations, "library": anabranch.__version__}


def table(run: RunFolder, by: dict[str, Any], anchor: str) -> Table | None:
    """Return the ratings of all that was played by the same settings."""
    outcomes = []
    for number, row in enumerate(run.ledger.rows["ratings"]):
        if row["settings"] != by:
            continue
        for game in row["games"]:
            agents = tuple(row["agents"][seat] for seat in game["seats"])
            outcomes.append(Outcome(agents, tuple(game["returns"]), (number, game["pair"])))
    if not any(anchor in game.agents for game in outcomes):
        return None
    rows = [row for row in run.ledger.rows["ratings"] if row["settings"] == by]
    return Table(tuple(ratings(outcomes, anchor)), by, tuple(_scores(rows)))


def _scores(rows: Sequence[dict[str, Any]]) -> Iterator[Score]:
    """Yield how the newest model did against every fixed agent."""
    last = max((_number(row["agents"][0]) for row in rows), default=0)
    pairs: dict[tuple[str, str], dict[tuple[int, int], list[float]]] = {}  # scores, of all matches of two agents
    for number, row in enumerate(rows):
        model, opponent = row["agents"]
        if _number(model) == last and not opponent.startswith(MODEL):
            for game in row["games"]:
                of_pair = pairs.setdefault((model, opponent), {}).setdefault((number, game["pair"]), [])
                of_pair.append(score_of(0, game["seats"], game["returns"]))
    for (model, opponent), scores in pairs.items():
        means = [fmean(each) for each in scores.values()]
        yield Score(model, opponent, sum(map(len, scores.values())), fmean(means), *interval(means))


def _number(agent: str) -> int:
    return int(agent.removeprefix(MODEL))


def newest(rated: Table | None) -> dict[str, Any] | None:
    """Return the rating of the newest model in a table."""
    if rated is None:
        return None
    models = [each for each in rated.rated if each.agent.startswith("model ")]
    return asdict(max(models, key=lambda each: int(each.agent.split()[1]))) if models else None
