"""One call from rules to an agent: begin a run or go on with it, train, and say how strong it became."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.errors import MissingExtraError, UsageError
from anabranch.game.game import Game
from anabranch.learn.fates import auxiliary_shapes
from anabranch.learn.game_of_run import load_game, named, placed, rules_of, same_game
from anabranch.learn.presets import preset, takes_turns
from anabranch.learn.run_folder import RunFolder
from anabranch.learn.settings import Method, SelfPlay, TrainConfig
from anabranch.play.names import agent_by_name
from anabranch.search.settings.mapping import to_mapping

if TYPE_CHECKING:
    from anabranch.learn.players import Players

Say = Callable[[str], None]
MOST_WORKERS = 4  # unless settings say more
FREE = ("minutes", "most_steps", "workers", "ray")  # may differ from one process of a run to the next


@dataclass(frozen=True)
class Trained:
    """What a process of a run has done."""

    folder: Path
    method: str
    whole: bool  # or stopped before the time was up
    games: int
    positions: int
    step: int
    seconds: float
    score: dict[str, Any] | None
    rated: Any  # a rating.Table, or None
    players: int
    mix: str  # how an evaluator's name says which rollouts are mixed in: ":rollouts=4+share=0.5", or nothing


@dataclass(frozen=True)
class Changes:
    """What somebody says of settings, beside those of a preset or of a run that is there."""

    to: Callable[[TrainConfig], TrainConfig]
    method: Method | None = None

    def over_preset(self, game: Game) -> TrainConfig:
        """Return the settings of a new run."""
        return self.to(preset(game, self.method or "alphazero"))

    def over(self, run: RunFolder, game: Game) -> TrainConfig:
        """Return the settings that a run is to go on with.

        The words that began it may not suit what they made: those for a selector that another word has replaced, say.
        """
        try:
            return self.to(run.config)
        except UsageError:
            with contextlib.suppress(UsageError):
                return self.over_preset(game)
            raise


def train(
    folder: Path,
    said: dict[str, Any],
    config: TrainConfig | Changes | None = None,
    *,
    minutes: float | None = None,
    workers: int | None = None,
    ray: str | None = None,
    say: Say = lambda words: None,
    progress: Callable[[Any], None] = lambda status: None,
) -> Trained:
    """Train, in a folder that is made or that has a run of the same game and settings, which then goes on.

    `said` describes the game. `config` is all settings, or what is to be changed of the preset's or, where a run is
    there, of that one's; a run keeps its settings, so what differs from them is an error. `minutes` are those of the
    whole run, `workers` the processes that play beside this one, `ray` a cluster whose actors play instead; they may
    change when a run goes on. `say` gets what should stay on a screen, `progress` what replaces what it got before: a
    status, or words. Needs torch.
    """
    game = load_game(said)  # before torch, which takes seconds to import: a name misspelt is told at once
    config = Changes(lambda usual: usual) if config is None else config
    given_now = (("minutes", minutes), ("workers", workers), ("ray", ray))
    now = {name: value for name, value in given_now if value is not None}
    wanted = None
    if not RunFolder.begun(folder):  # what cannot be is refused before a folder is made
        wanted = suited(config.over_preset(game) if isinstance(config, Changes) else config, now, game)
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError("torch", "train", "training") from None
    from anabranch.learn.loop import Training
    from anabranch.learn.rating import chosen_models, rate
    from anabranch.learn.stopping import Stopping

    if wanted is not None:
        check_anchors(wanted, game)
    with opened(folder, said, game, wanted, config, say=say) as run, Stopping() as stop:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            if wanted is None:
                wanted = suited(applied(config, run, game), now, game)
                check_anchors(wanted, game)
            if (words := means_of_dice(wanted, game)) is not None:
                say(words)
            settings = dataclasses.replace(wanted, workers=workers_of(wanted, cores()))
            training = Training(run, game, settings, progress)
            if training.done:
                say(
                    f"the run has had its {settings.minutes:g} min; more of them train it on, "
                    f"e.g. --minutes {settings.minutes + max(1.0, settings.minutes):g}"
                    if training.seconds >= 60.0 * settings.minutes
                    else f"the run has made its {settings.most_steps} steps; most_steps is how many there may be"
                )
            whole = training.train(lambda *given: _players(game, said, settings, say, *given), stop)
            rated, seconds = None, training.seconds  # ratings are none of a run's minutes
            if whole:
                try:
                    with stop.interruptibly():
                        rated = rate(run, game, settings.rating, chosen_models(run, settings.rating.models), progress)
                except KeyboardInterrupt:  # all is on disk, matches too that were finished
                    whole = False
        finally:
            torch.set_num_threads(threads)
        return Trained(
            folder,
            settings.method,
            whole,
            len(run.ids),
            training.positions,
            training.learner.step,
            seconds,
            training.score,
            rated,
            game.players,
            mix_of(settings.self_play),
        )


def suited(settings: TrainConfig, now: Mapping[str, Any], game: Game) -> TrainConfig:
    """Return settings with what was said of this process; what cannot be, or not of this game, is refused."""
    made = dataclasses.replace(settings, **now)
    if made.method == "muzero" and not takes_turns(game):
        raise UsageError(
            f"{game.name}: players choose at once, and muzero's model knows one who moves at a time; "
            f'method = "alphazero" learns such games'
        )
    auxiliary_shapes(made.auxiliary, game)
    return made


def means_of_dice(settings: TrainConfig, game: Game) -> str | None:
    """Return what to say where dice are learnt by a model that knows no chance; None where there is nothing to say."""
    if settings.method != "muzero" or not game.outcomes or settings.net.architecture == "world_dice":
        return None
    return (
        f"{game.name} has dice, and {settings.net.architecture} learns the mean of what they do; "
        f"net.architecture = world_dice learns chance too"
    )


def check_anchors(settings: TrainConfig, game: Game) -> None:
    """Refuse anchors that nobody knows: now, and not at the end of a run."""
    if settings.rating.models and game.players > 1:
        for name in settings.rating.anchors.split():
            agent_by_name(name, game)


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def workers_of(config: TrainConfig, cores: int) -> int:
    """Return how many processes play beside the one that learns, where settings leave it open.

    A learner that keeps up with the games of one core waits for them half of its time, so two cores have two that play
    beside it. From three cores on it has one to itself. One learner hardly keeps up with more than `MOST_WORKERS`.
    """
    if config.workers is not None:
        return config.workers
    if config.ray != "none":
        return 1
    return 0 if cores < 2 else min(MOST_WORKERS, max(2, cores - 1))


def mix_of(settings: SelfPlay) -> str:
    """Return the end of an evaluator's name, inside an agent's, that lets it play as a run's models do."""
    return f":rollouts={settings.rollouts}+share={settings.share:g}" if settings.rollouts else ""


def _players(
    game: Game,
    said: dict[str, Any],
    config: TrainConfig,
    say: Say,
    evaluator: Any,
    version: int,
    numbers: Iterator[int],
) -> Players:
    """Return who plays: this process, or others beside it."""
    from anabranch.learn.players import InProcess
    from anabranch.learn.processes import Processes

    if config.ray != "none":
        from anabranch.learn.cluster import Cluster

        return Cluster(said, config, evaluator, version, numbers, say)
    if config.workers:
        return Processes(said, config, evaluator, version, numbers, say)
    return InProcess(game, config, evaluator, version, numbers)


def opened(
    folder: Path,
    said: dict[str, Any],
    game: Game,
    wanted: TrainConfig | None,
    config: TrainConfig | Changes,
    *,
    say: Say,
) -> RunFolder:
    """Begin a run of wanted settings; without them open the one that is there, of this game and as `config` says."""
    if wanted is not None:
        return RunFolder.create(folder, placed(said, folder), wanted, say)
    run = RunFolder.open(folder, say)
    try:
        if not same_game(said, run):
            rules = rules_of(run)
            file = "" if rules is None else f" (rules in {rules}" + (")" if rules.is_file() else ", which is gone)")
            raise UsageError(
                f"{folder} has a run of {named(run.game)}{file}, not of {named(said)}; name another folder"
            )
        if config.method not in (None, run.config.method):
            raise UsageError(
                f"{folder} has a run by {run.config.method}, not by {config.method}; go on with --method "
                f"{run.config.method}, or name another folder"
            )
        before, now = (to_mapping(each) for each in (run.config, applied(config, run, game)))
        differ = [name for name in changed_settings(before, now) if name not in FREE]
        if differ:
            raise UsageError(
                f"{folder} has a run with other settings ({', '.join(differ)}); leave them out to go on with it, "
                "begin another one with --run FOLDER, or with one of its models by anabranch fork"
            )
    except BaseException:
        run.close()
        raise
    return run


def applied(config: TrainConfig | Changes, run: RunFolder, game: Game) -> TrainConfig:
    """Return what somebody wants a run to go on with."""
    return config.over(run, game) if isinstance(config, Changes) else config


def changed_settings(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Return the dotted names of settings that differ: `learner.rate`, and a whole section where only one has it."""
    found = []
    for key in sorted(before.keys() | now.keys()):
        one, other = before.get(key), now.get(key)
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            found += [f"{key}.{name}" for name in changed_settings(one, other)]
        elif one != other:
            found.append(key)
    return found
