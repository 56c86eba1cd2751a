"""Everything a training run can be told, declared once: flags, TOML, JSON and docs come from these fields.

They are read and written by `search/settings/mapping.py`, as `SearchConfig` is, which is one of the parts: what a
search is told when it plays for learning stands in `[search]`, and nowhere else.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from anabranch.errors import UnknownNameError, UsageError
from anabranch.search.settings.config import ForcedPlayouts, PlayoutCap, RootNoise, SearchConfig

Evaluates: TypeAlias = Literal["torch", "onnx", "int8"]
Method: TypeAlias = Literal["alphazero", "muzero"]
Gate: TypeAlias = Literal["always", "test"]
TeachesBy: TypeAlias = Literal["search", "policy"]
Keeps: TypeAlias = Literal["graph", "evaluations", "nothing"]
WeighedBy: TypeAlias = Literal["none", "surprise", "priority"]


@dataclass(frozen=True)
class Within:
    """The range of a setting, both ends included."""

    low: float
    high: float = math.inf


@functools.cache
def _declared(part: type) -> dict[str, tuple[Any, Within | None]]:
    """Return of every field what it takes, and its range."""
    found = {}
    for name, hint in get_type_hints(part, include_extras=True).items():
        inner, *marks = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        found[name] = inner, next((mark for mark in marks if isinstance(mark, Within)), None)
    return found


class Part:
    """Settings that check themselves: words are known ones, numbers lie in their ranges."""

    def __post_init__(self) -> None:
        kind: Any = type(self)
        for name, (hint, within) in _declared(kind).items():
            value = getattr(self, name)
            if get_origin(hint) is Literal and value not in get_args(hint):
                raise UnknownNameError(f"{kind.__name__}.{name}", str(value), get_args(hint))
            if within is not None and value is not None and not within.low <= value <= within.high:
                wanted = f"at least {within.low:g}"
                wanted += "" if within.high == math.inf else f" and at most {within.high:g}"
                raise UsageError(f"{name} must be {wanted}, found {value!r}")


@dataclass(frozen=True, kw_only=True)
class Net(Part):
    """Which network learns; sizes that an architecture does not have are not read."""

    architecture: Annotated[
        Literal["mlp", "tower", "world_mlp", "world_tower", "world_dice"],
        "a name of ab.nets; those of muzero begin with world, and world_dice knows chance",
    ] = "tower"
    channels: Annotated[int, "towers: channels of a block", Within(1, 2048)] = 32
    blocks: Annotated[int, "towers: residual blocks", Within(1, 128)] = 5
    head: Annotated[int, "towers: channels of the heads", Within(1, 256)] = 8
    hidden: Annotated[int, "towers: numbers in the value's hidden layer", Within(1, 4096)] = 64
    width: Annotated[int, "mlp, world_mlp, world_dice: numbers in a hidden layer", Within(1, 16384)] = 128
    layers: Annotated[int, "mlp, world_mlp, world_dice: hidden layers", Within(1, 64)] = 2
    latent: Annotated[int, "world_mlp, world_dice: numbers of a latent", Within(1, 16384)] = 64
    codes: Annotated[int, "world_dice: what chance may do, as so many codes", Within(1, 1024)] = 16
    bins: Annotated[
        int, "categories of a value; 1: a value is one number, learnt by squared error", Within(1, 1024)
    ] = 1


@dataclass(frozen=True, kw_only=True)
class SelfPlay(Part):
    """How games are played to be learnt from. Simulations, noise and forced playouts are those of `[search]`."""

    abreast: Annotated[int, "games played at once, whose positions make one batch", Within(1, 65536)] = 256
    keep: Annotated[Keeps, "what stays of a search when its root moves on"] = "graph"
    temperature: Annotated[float, "of the first moves: they are drawn by policy^(1/T)", Within(0, 100)] = 1.0
    late_temperature: Annotated[float, "which T falls to", Within(0, 100)] = 0.2
    half_life: Annotated[float, "decisions after which T is halfway there", Within(0.01)] = 10.0
    openings: Annotated[float, "share of games that begin with random moves", Within(0, 1)] = 0.3
    opening_plies: Annotated[int, "the most random moves of such a game", Within(0, 1000)] = 4
    rollouts: Annotated[
        int,
        "rollouts of a state that are mixed into the network's value (ab.Mixed), in rated games too",
        Within(0, 1_000_000),
    ] = 0
    share: Annotated[float, "their share of the value", Within(0, 1)] = 0.5
    cache: Annotated[
        int,
        "answers of the network that are kept for games that come to the same state; 0: none. Newer weights begin anew",
        Within(0),
    ] = 0
    longest: Annotated[int, "decisions after which a game is cut off; its last value stands in", Within(1)] = 2000
    random_games: Annotated[
        int, "how many games, the first ones, are played at random: muzero learns the rules from them", Within(0)
    ] = 0
    decided: Annotated[
        float | None,
        "how near to an end of the declared returns, 1: at it, the roots' values of all players are in a game that is "
        "decided, e.g. 0.9; such a game is played on with fewer visits. None: no game is",
        Within(0, 1),
    ] = None
    decided_searches: Annotated[int, "searches in a row that must say so", Within(1)] = 3
    decided_visits: Annotated[float, "share of the visits that a search of a decided game gets", Within(0, 1)] = 0.25
    decided_chance: Annotated[
        float, "how likely such a search is one that is recorded, times `cap.chance`", Within(0, 1)
    ] = 0.1


@dataclass(frozen=True, kw_only=True)
class Teacher(Part):
    """Who plays first: a search with rollouts, which costs a hundredth of a network's and knows more than a new one.

    Where dice make rollouts vary more than choices differ, such a search plays worse than its own rollouts do; then the
    policy of these is the better teacher.
    """

    plays: Annotated[
        TeachesBy,
        "a search with rollouts; or the game's own rollout policy: its moves are learnt, and as values means of "
        "`full` rollouts",
    ] = "search"
    positions: Annotated[int, "recorded before the network plays; 0: it plays from the beginning", Within(0)] = 0
    full: Annotated[int, "simulations, or rollouts, of a move that is recorded", Within(1)] = 600
    fast: Annotated[int, "simulations of any other move", Within(1)] = 100
    chance: Annotated[float, "share of moves that are recorded", Within(0, 1)] = 0.25


@dataclass(frozen=True, kw_only=True)
class Replay(Part):
    """Which recorded positions are learnt from."""

    window: Annotated[int, "positions of the window at first", Within(1)] = 20_000
    growth: Annotated[float, "the window holds window·(n/window)^growth of n positions", Within(0, 1)] = 0.75
    symmetries: Annotated[bool, "show every sample under a random symmetry of the game"] = True
    least: Annotated[int, "positions before anything is learnt", Within(1)] = 2_000
    shard: Annotated[int, "games that are written together; until then a crash loses them", Within(1, 65536)] = 64
    endings: Annotated[
        float,
        "muzero: share of samples from which the end of a game is imagined, after each number of steps alike",
        Within(0, 1),
    ] = 0.0
    held_out: Annotated[
        int, "muzero: every so-manieth game is not learnt from: what the model imagines is compared with it", Within(2)
    ] = 20
    reanalysed: Annotated[
        float,
        "positions that are searched again with the newest weights, for every one that is shown to the learner; those "
        "of the oldest weights first. 0: targets stay as they were played",
        Within(0, 1),
    ] = 0.0
    weights: Annotated[
        WeighedBy,
        "what a share of the samples is drawn in proportion to: surprise, how far a search's policy is from the "
        "network's prior; priority, how far its value is from the n-step return, for who decides; none: all are alike",
    ] = "none"
    weighted: Annotated[float, "that share; the others are drawn alike", Within(0, 0.9)] = 0.5
    power: Annotated[float, "α: draws are in proportion to weight^α", Within(0, 10)] = 1.0
    correction: Annotated[
        float, "priority: β, the loss of a sample counts (1/(n·p))^β; 1: as if all were drawn alike", Within(0, 1)
    ] = 1.0


@dataclass(frozen=True, kw_only=True)
class Targets(Part):
    """What values are learnt: λ·(n-step return, with a root's value at its end) + (1 − λ)·(the root's value)."""

    mix: Annotated[float, "λ", Within(0, 1)] = 0.5
    steps: Annotated[int | None, "decisions of the n-step return; None: to the end of the game", Within(1)] = None


@dataclass(frozen=True, kw_only=True)
class Learner(Part):
    """AdamW (Loshchilov and Hutter 2019), a warm-up and a cosine, averaged weights for self-play."""

    batch: Annotated[int, "rows of a step", Within(2, 65536)] = 512
    reuse: Annotated[float, "how often a recorded position is shown, on average", Within(0)] = 6.0
    rate: Annotated[float, "learning rate after the warm-up", Within(0, 10)] = 2e-3
    last_rate: Annotated[float, "learning rate at the end of the cosine, and after it", Within(0, 10)] = 2e-4
    warm_up: Annotated[int, "steps until the rate is reached", Within(0)] = 200
    steps: Annotated[int, "steps after which the cosine has come down", Within(1)] = 5_000
    decay: Annotated[float, "weight decay", Within(0, 1)] = 1e-4
    clip: Annotated[float, "largest norm of a gradient", Within(0)] = 1.0
    average: Annotated[float, "share of the old average that each step keeps (EMA)", Within(0, 1)] = 0.995
    value_weight: Annotated[float, "weight of the value's loss beside the policy's", Within(0)] = 1.0
    explosion: Annotated[
        float, "a loss so many times its running mean means that weights are lost: the last good ones return", Within(1)
    ] = 20.0


@dataclass(frozen=True, kw_only=True)
class Auxiliary(Part):
    """What alphazero learns beside policies and values, so that the trunk of its network sees more: weights of losses.

    The heads for it are there while the network learns, and in no model that comes of it.
    """

    reply: Annotated[float, "of what whoever else decides next does: a policy too", Within(0)] = 0.0
    fates: Annotated[
        str,
        "of what the game tells of its end by its verb fate, in words like ownership=0.5 margin=0.25; or none",
    ] = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.weights

    @property
    def weights(self) -> dict[str, float]:
        """All weights above 0 by what they are of."""
        found = {"reply": self.reply}
        for word in [] if self.fates == "none" else self.fates.split():
            name, _, text = word.partition("=")
            try:
                weight = float(text)
            except ValueError:
                weight = math.nan
            if not name or not 0.0 <= weight < math.inf:
                raise UsageError(f"fates must be words like ownership=0.5, none of them below 0, found {word!r}")
            if name in found:
                raise UsageError(f"fates must name each once, and no reply, found {name!r}")
            found[name] = weight
        return {name: weight for name, weight in found.items() if weight}


@dataclass(frozen=True, kw_only=True)
class Unroll(Part):
    """What muzero learns of steps it imagines; losses of K steps count 1/K each, beside those of what it sees."""

    steps: Annotated[int, "K", Within(1, 100)] = 5
    alone: Annotated[
        int,
        "steps of the learner, the first ones, that imagine one step in place of K",
        Within(0),
    ] = 0
    reward: Annotated[float, "weight of the rewards' loss", Within(0)] = 1.0
    end: Annotated[float, "weight of the loss of whether a step ends the game", Within(0)] = 1.0
    legal: Annotated[
        float,
        "weight of the loss of which actions are legal; 0: imagined positions allow all, policies learn which to avoid",
        Within(0),
    ] = 1.0
    mover: Annotated[float, "weight of the loss of who moves next", Within(0)] = 1.0
    chance: Annotated[float, "world_dice: weight of the loss of what chance does", Within(0)] = 1.0
    past: Annotated[float, "weight of steps past the end of a game, beside that of played ones", Within(0)] = 0.0
    consistency: Annotated[
        float, "weight of 2 − 2·cos between imagined and encoded latents; 0: they are not compared", Within(0)
    ] = 0.0


@dataclass(frozen=True, kw_only=True)
class Export(Part):
    """When self-play gets new weights, and who computes them."""

    every: Annotated[int, "steps of the learner between two exports", Within(1)] = 50
    evaluator: Annotated[Evaluates, "torch itself, ONNX, or ONNX in whole numbers of eight bits"] = "torch"
    checkpoints: Annotated[int, "exports between two checkpoints on disk, from which a run goes on", Within(1)] = 4
    gate: Annotated[
        Gate, "which candidates are used for self-play: all, or those that a sequential test finds better (ab.gate)"
    ] = "always"
    gate_pairs: Annotated[int, "pairs after which such a test stays open, and the candidate unused", Within(1)] = 100


@dataclass(frozen=True, kw_only=True)
class Rating(Part):
    """What strength is measured by: frozen positions at every checkpoint, games at the end and by `rate`."""

    positions: Annotated[int, "frozen positions that every checkpoint is scored on", Within(0)] = 200
    simulations: Annotated[int, "of a rated agent, and of searches on the frozen positions", Within(1)] = 50
    games: Annotated[int, "against each anchor", Within(2)] = 40
    anchors: Annotated[str, "agents with spaces between them; the first has rating 0"] = (
        "random search:simulations=50 search:simulations=200"
    )
    models: Annotated[int, "how many checkpoints are rated at the end, spread over the run; 0: none", Within(0)] = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.anchors.split():
            raise UsageError("anchors must name an agent at least, e.g. random; models = 0 rates nobody")


@dataclass(frozen=True, kw_only=True)
class TrainConfig(Part):
    """One training run."""

    method: Annotated[
        Method, "alphazero knows the rules and searches with them; muzero learns them too, and plans in what it learnt"
    ] = "alphazero"
    search: Annotated[SearchConfig, "the search that plays: PUCT by default, its cap, noise and forced playouts"] = (
        field(
            default_factory=lambda: SearchConfig(
                noise=RootNoise(),
                forced=ForcedPlayouts(),
                cap=PlayoutCap(full=128, fast=24, chance=0.25),
                proofs="off",  # a search that a proof ends early has few visits to learn from
            )
        )
    )
    net: Annotated[Net, "the network"] = field(default_factory=Net)
    self_play: Annotated[SelfPlay, "how games are played"] = field(default_factory=SelfPlay)
    teacher: Annotated[Teacher, "who plays first"] = field(default_factory=Teacher)
    replay: Annotated[Replay, "which positions are learnt from"] = field(default_factory=Replay)
    targets: Annotated[Targets, "what is learnt"] = field(default_factory=Targets)
    learner: Annotated[Learner, "how it is learnt"] = field(default_factory=Learner)
    auxiliary: Annotated[Auxiliary, "what else alphazero learns"] = field(default_factory=Auxiliary)
    unroll: Annotated[Unroll, "what muzero learns of steps it imagines"] = field(default_factory=Unroll)
    export: Annotated[Export, "when self-play gets new weights"] = field(default_factory=Export)
    rating: Annotated[Rating, "how strength is measured"] = field(default_factory=Rating)
    workers: Annotated[
        int | None,
        "processes that play beside the one that learns; 0: one process does both, and a seed decides all; None: what "
        "suits the cores there are, two on two cores, none on one",
        Within(0, 1024),
    ] = None
    ray: Annotated[
        str,
        "a Ray cluster whose actors play instead: an address, auto for the one here, local to begin one; or none",
    ] = "none"
    minutes: Annotated[float, "after which a run ends, of its own time, resumed or not", Within(0)] = 10.0
    most_steps: Annotated[int | None, "steps of the learner after which a run ends, time or no time", Within(1)] = None
    seed: Annotated[int, "decides every random draw", Within(0, 2**52)] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        learns_rules = self.net.architecture.startswith("world")
        if learns_rules != (self.method == "muzero"):
            wanted = "world_mlp, world_tower or world_dice" if self.method == "muzero" else "mlp or tower"
            raise UsageError(f"{self.method} needs net.architecture {wanted}, found {self.net.architecture}")
        if self.method == "muzero" and self.export.evaluator != "torch":
            raise UsageError(f'muzero needs export.evaluator = "torch", found "{self.export.evaluator}"')
        if self.method == "muzero" and self.auxiliary.weights:
            raise UsageError(f"auxiliary heads are alphazero's; muzero has none, found {self.auxiliary}")
