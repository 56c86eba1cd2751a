"""Settings that suit a game: by its name where somebody tried, else from its shapes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from anabranch.game.environment import EnvironmentGame
from anabranch.game.game import Game
from anabranch.game.random import Random
from anabranch.learn.records import random_line, seats_of
from anabranch.learn.settings import (
    Export,
    Learner,
    Method,
    Net,
    Rating,
    Replay,
    SelfPlay,
    Targets,
    Teacher,
    TrainConfig,
    Unroll,
)
from anabranch.nets.shape import Shape, shape_of
from anabranch.search.settings.config import (
    Chance,
    ForcedPlayouts,
    Gumbel,
    PlayoutCap,
    RegretMatching,
    RootNoise,
    SearchConfig,
)

WIDE = 8.0  # returns that span more are learnt as categories
BINS = 64
LOOKED_AT, LONGEST = 5, 200  # random games, and decisions of each, that show whether players choose at once


def preset(game: Game, method: Method = "alphazero") -> TrainConfig:
    """Return the settings for a game and a method: those of its name, else those its shapes suggest."""
    shape = shape_of(game)
    if method == "muzero":
        made = learnt_rules(game.name, shape)
        return _episodes(made, float(game.discount)) if isinstance(game, EnvironmentGame) else made
    if game.name in PRESETS:
        return PRESETS[game.name](shape)
    return from_shape(shape) if takes_turns(game) else _at_once(from_shape(shape))


def from_shape(shape: Shape) -> TrainConfig:
    """Return settings for a game nobody has tried: a tower on boards, else a perceptron; playouts by actions."""
    _, rows, columns = shape.board
    full = int(min(200, max(48, 16 * shape.actions**0.5)))
    board = min(rows, columns) > 1
    net = Net(
        architecture="tower" if board else "mlp",
        channels=32 if rows * columns <= 50 else 48,
        blocks=2 if rows * columns <= 16 else 4 if rows * columns <= 50 else 5,
        width=128 if shape.numbers <= 64 else 256,
        bins=BINS if shape.high - shape.low > WIDE else 1,
    )
    steps = None if shape.bounded else 10
    return TrainConfig(
        search=_search(full=full, fast=max(8, full // 5)),
        net=net,
        self_play=SelfPlay(abreast=128),
        teacher=Teacher(positions=10_000),
        targets=Targets(steps=steps),
        learner=Learner(batch=256),
    )


def _search(*, full: int, fast: int, chance: float = 0.25, **more: Any) -> SearchConfig:
    """Return settings of self-play; a search that a proof ends early would have few visits to learn from."""
    cap = PlayoutCap(full=full, fast=fast, chance=chance)
    return SearchConfig(noise=RootNoise(), forced=ForcedPlayouts(), cap=cap, proofs="off", **more)


def takes_turns(game: Game) -> bool:
    """Whether nobody chooses at the same time as somebody else in a few random games, the same ones every time."""
    if isinstance(game, EnvironmentGame):
        return True
    games = (random_line(game, number, Random(number), LONGEST) for number in range(LOOKED_AT))
    return all(len(seats_of(state)) < 2 for line in games for state in line)


def _at_once(made: TrainConfig) -> TrainConfig:
    """Let regret matching choose where players choose at once: its average strategies are what is learnt."""
    search = dataclasses.replace(made.search, simultaneous=RegretMatching())
    return dataclasses.replace(made, search=search)


def _tic_tac_toe(shape: Shape) -> TrainConfig:
    return TrainConfig(
        search=_search(full=48, fast=12),
        net=Net(channels=16, blocks=2, hidden=32),
        self_play=SelfPlay(abreast=64, half_life=4.0, openings=0.5, opening_plies=5),
        teacher=Teacher(positions=2_000, full=200, fast=50),
        replay=Replay(window=4_000, least=500),
        learner=Learner(batch=128, reuse=8.0, warm_up=50, steps=2_000, rate=4e-3, last_rate=4e-4, average=0.98),
        export=Export(every=25, checkpoints=8),
        rating=Rating(simulations=25),
        minutes=1.0,
    )


def _connect_four(shape: Shape) -> TrainConfig:
    """What benchmarks/ablations.py found: five blocks of 48, four samples a position, evaluations kept and no visits.

    64 games abreast: batches of 64 are as fast a row as of 256, and the graphs of all games stay in the caches.
    """
    return TrainConfig(
        search=_search(full=128, fast=24),
        net=Net(channels=48, blocks=5),
        self_play=SelfPlay(abreast=64, rollouts=4, keep="evaluations"),
        teacher=Teacher(positions=20_000),
        learner=Learner(batch=256, reuse=4.0, warm_up=500, steps=6_000),
        export=Export(every=120, evaluator="int8", checkpoints=4),
        rating=Rating(simulations=200),
        minutes=30.0,
    )


def _othello(shape: Shape) -> TrainConfig:
    return TrainConfig(
        search=_search(full=200, fast=32),
        net=Net(channels=48, blocks=5),
        self_play=SelfPlay(abreast=64, half_life=12.0, opening_plies=6),
        teacher=Teacher(positions=20_000),
        learner=Learner(batch=512, reuse=6.0, warm_up=500, steps=6_000),
        export=Export(every=60, evaluator="int8", checkpoints=4),
        rating=Rating(simulations=200),
        minutes=45.0,
    )


def _pyrat(shape: Shape) -> TrainConfig:
    """PUCT for each player: a network plays no worse with it than with regret matching; learning was not compared."""
    return TrainConfig(
        search=_search(full=128, fast=24),
        net=Net(architecture="mlp", width=256, layers=2),
        self_play=SelfPlay(abreast=128, temperature=1.0, late_temperature=1.0),
        teacher=Teacher(positions=20_000),
        targets=Targets(mix=0.5, steps=10),
        learner=Learner(batch=512),
        minutes=20.0,
    )


def _yatzy(shape: Shape) -> TrainConfig:
    """Few simulations with Gumbel, rerolls enumerated, values in categories; the rollout policy is the teacher.

    All keeps of a hand lead to the same 252 hands, which are nodes once: one visit of each keep, enumerated, asks the
    network at most 252 times. The first roll of a turn is enumerated by nobody, since every category to mark has one of
    its own; 16 draws stand for it. A quarter of the games begin with up to 36 random moves, which is a random scorecard
    of as many as 12 marks.
    """
    cap = PlayoutCap(full=32, fast=32, chance=1.0)
    return TrainConfig(
        search=SearchConfig(
            selector=Gumbel(considered=16),
            chance=Chance(exact_up_to=126, draws=16),
            cap=cap,
            backup="best",
            proofs="off",
        ),
        net=Net(architecture="mlp", width=256, layers=3, bins=BINS),
        self_play=SelfPlay(abreast=64, temperature=0.5, half_life=20.0, openings=0.25, opening_plies=36),
        teacher=Teacher(plays="policy", positions=60_000, full=32, chance=1.0),
        replay=Replay(window=30_000, growth=0.5),
        targets=Targets(mix=1.0, steps=6),
        learner=Learner(batch=256, warm_up=100, steps=16_000),
        export=Export(every=100, checkpoints=2),
        rating=Rating(simulations=32),
        minutes=60.0,
    )


def _pig(shape: Shape) -> TrainConfig:
    return TrainConfig(
        search=_search(full=64, fast=16, chance=0.5),
        net=Net(architecture="mlp", width=64, layers=2),
        self_play=SelfPlay(abreast=64, half_life=20.0, opening_plies=10),
        teacher=Teacher(positions=5_000),
        learner=Learner(batch=256, steps=3_000),
        minutes=5.0,
    )


def _n_in_a_row(shape: Shape) -> TrainConfig:
    return TrainConfig(
        search=_search(full=128, fast=24),
        net=Net(channels=32, blocks=5),
        self_play=SelfPlay(abreast=192, half_life=12.0),
        teacher=Teacher(positions=12_000),
        learner=Learner(batch=256, warm_up=300, steps=5_000),
        export=Export(every=60, evaluator="int8", checkpoints=4),
        rating=Rating(simulations=200),
        minutes=60.0,
    )


PRESETS: dict[str, Callable[[Shape], TrainConfig]] = {
    "tic_tac_toe": _tic_tac_toe,
    "connect_four": _connect_four,
    "othello": _othello,
    "pyrat": _pyrat,
    "yatzy": _yatzy,
    "pig": _pig,
    "n_in_a_row": _n_in_a_row,
}


def learnt_rules(name: str, shape: Shape) -> TrainConfig:
    """Return settings of the method muzero.

    Random games come first, since the rules are learnt from them; half of the games open with random moves, and a large
    share of samples is near the end of a game, or rewards and ends, which are rare, are not learnt.
    """
    _, rows, columns = shape.board
    board, small = min(rows, columns) > 1, shape.numbers <= 200
    simulations = 24 if shape.actions <= 9 else 32 if shape.actions <= 32 else 64
    cells = board and small and shape.actions == rows * columns > 9  # too many lines for a perceptron to find soon
    drops = board and small and shape.actions == columns > 4  # one action a column, as in connect four
    large = board and not small  # a step costs much, and games are long: fewer of random play say as much
    tower = cells or drops or large
    simulations = 32 if drops else simulations
    return TrainConfig(
        method="muzero",
        search=SearchConfig(
            selector=Gumbel(considered=min(shape.actions, 32), scale="range" if shape.bounded else "node"),
            cap=PlayoutCap(full=simulations, fast=simulations, chance=1.0),
            proofs="off",
        ),
        net=Net(
            architecture="world_tower" if tower else "world_mlp",
            channels=32,
            blocks=1 if cells else 2,
            width=128 if small else 256,
            latent=64 if small else 128,
            bins=21 if shape.bounded else BINS if shape.high - shape.low > WIDE else 1,
        ),
        self_play=SelfPlay(
            abreast=64,
            half_life=6.0,
            openings=0.5,
            opening_plies=6,
            late_temperature=0.5,
            random_games=128 if large else 640,
        ),
        replay=Replay(window=20_000, least=2_000, endings=0.4),
        targets=Targets(mix=1.0, steps=None if shape.bounded else 10),
        learner=Learner(
            batch=128 if tower else 256,
            reuse=8.0 if drops or large else 32.0,
            warm_up=100,
            steps=MUZERO_STEPS.get(name, 8_000),
            rate=3e-3,
            last_rate=2e-4,
            average=0.99,
            value_weight=0.25,  # ends and legal actions were learnt faster than at 1
        ),
        unroll=Unroll(steps=3 if tower else 5, reward=5.0, end=5.0),
        export=Export(every=50, checkpoints=8),
        rating=Rating(simulations=simulations),
        minutes=MUZERO_MINUTES.get(name, 10.0),
    )


def _episodes(made: TrainConfig, discount: float) -> TrainConfig:
    """Return settings for an environment, which no solver can look ahead in, and whose episodes may be long.

    Of long episodes fewer are played at once and written together, or many steps are learnt before a better episode is
    seen. Returns reach half as far as the discount does: values of roots, at their ends, are old and grow slowly.
    """
    far = MOST_RETURN if discount == 1.0 else min(MOST_RETURN, round(0.5 / (1.0 - discount)))
    steps = made.targets.steps
    return dataclasses.replace(
        made,
        rating=dataclasses.replace(made.rating, positions=0),
        self_play=dataclasses.replace(made.self_play, random_games=100, abreast=16),
        replay=dataclasses.replace(made.replay, shard=8),
        targets=dataclasses.replace(made.targets, steps=None if steps is None else max(steps, far)),
        learner=dataclasses.replace(made.learner, reuse=16.0),
    )


MOST_RETURN = 50  # decisions of the n-step return of an environment
MUZERO_STEPS = {"tic_tac_toe": 3_000, "n_in_a_row": 7_000, "connect_four": 12_000}  # of the cosine
MUZERO_MINUTES = {"tic_tac_toe": 5.0, "connect_four": 60.0, "n_in_a_row": 10.0}
