"""Everything a search can be told, declared once: flags, TOML, JSON and docs come from these fields."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from anabranch.errors import UnknownArgumentError, UnknownNameError, UsageError, shown

Scale: TypeAlias = Literal["auto", "range", "node", "graph", "none"]
Ties: TypeAlias = Literal["auto", "first", "random"]
Weights: TypeAlias = Literal["D", "A", "B", "C"]
ValueKind: TypeAlias = Literal["strategy", "visits"]
Backup: TypeAlias = Literal["auto", "mean", "best"]
Refresh: TypeAlias = Literal["auto", "path", "parents", "ancestors", "sweep"]
Proofs: TypeAlias = Literal["auto", "on", "off"]


SURE, NOISY = 1.25, 2.5  # c_init: AlphaZero's, and what wins with rollouts (docs/options.md)
LARGEST = 1e12  # of a setting; scores made of such numbers stay finite
MOST_DRAWS = 1_000_000  # in one visit, which cannot be interrupted
WIDEST = 65_536  # paths of a wave
DEEPEST = 16  # waves in flight
Part = TypeVar("Part")


def _require(condition: bool, name: str, value: Any, wanted: str) -> None:
    if not condition:
        raise UsageError(f"{name} must be {wanted}, found {value!r}")


@functools.cache  # reading annotations takes a hundred times as long as checking a setting
def _hints(part: type) -> dict[str, Any]:
    return get_type_hints(part)


def _check_fields(part: Any) -> None:
    """Refuse a word that is none of the field's words, naming the nearest, and numbers not finite or not whole."""
    for name, hint in _hints(type(part)).items():  # type: ignore[arg-type]
        value, where = getattr(part, name), f"{type(part).__name__}.{name}"
        if get_origin(hint) is Literal and not (isinstance(value, str) and value in get_args(hint)):
            raise no_word(where, value, get_args(hint))
        if value is None and type(None) in get_args(hint):
            continue
        if hint in (float, float | None):
            sensible = isinstance(value, (int, float)) and abs(value) <= LARGEST
            _require(sensible, where, value, f"a number, at most {LARGEST:g} either way")
        if hint in (int, int | None):
            whole = isinstance(value, Integral) and not isinstance(value, bool)
            _require(whole, where, value, "a whole number")
            object.__setattr__(part, name, int(value))  # NumPy's integers would overflow where seeds are folded
        if hint is FirstPlay:
            _require(isinstance(value, FirstPlay), where, value, "a FirstPlay, e.g. ab.FirstPlay.parent()")


def no_word(what: str, value: Any, known: tuple[str, ...], *, where: str = "") -> UsageError:
    """Return the error for a setting that is none of its words: the nearest one, or all if it is no word at all."""
    if isinstance(value, str):
        return UnknownNameError(what, value, known, where=where)
    *others, last = (f'"{word}"' for word in known)
    place = f"{where}: " if where else ""
    return UsageError(f"{place}{what} must be {', '.join(others)} or {last}, found {shown(value, 60)}")


def _refusing_unknown(part: type[Part]) -> type[Part]:
    """Let a part answer an argument it does not have with the nearest one, or with the part that has it."""
    kind: Any = part
    make: Any = kind.__init__
    known = [each.name for each in fields(kind)]

    @functools.wraps(make)
    def init(self: Any, *arguments: Any, **named: Any) -> None:
        for name in named:
            if name not in known:
                raise _unknown_argument(part.__name__, name, known)
        make(self, *arguments, **named)

    kind.__init__ = init
    return part


def _unknown_argument(part: str, name: str, known: list[str]) -> UnknownArgumentError:
    from anabranch.search.settings.mapping import known_settings

    inside = [each for each in known_settings() if each.key.endswith(f".{name}") and part == "SearchConfig"]
    if not inside:
        return UnknownArgumentError(f"setting of ab.{part}", name, known)
    above = inside[0].key.removesuffix(f".{name}")
    error = UnknownArgumentError(f"setting of ab.{part}", name, known, meant=[inside[0].key])
    if "." not in above:
        error.args = (f"{error} Write ab.SearchConfig({above}=ab.{inside[0].part}({name}=…)).",)
    return error


@dataclass(frozen=True)
class FirstPlay:
    """What an untried choice is worth, in scaled units."""

    kind: Literal["auto", "parent", "parent_minus", "reduced", "constant", "lowest"] = "auto"
    amount: float = 0.2

    def __post_init__(self) -> None:
        _check_fields(self)

    @classmethod
    def auto(cls) -> FirstPlay:
        """`reduced(0.2)` where the evaluator gives priors; else 0.3 more than its parent, `parent_minus(-0.3)`."""
        return cls("auto", 0.2)

    @classmethod
    def parent(cls) -> FirstPlay:
        """As much as its parent."""
        return cls("parent", 0.0)

    @classmethod
    def parent_minus(cls, amount: float) -> FirstPlay:
        """A fixed amount less than its parent."""
        return cls("parent_minus", amount)

    @classmethod
    def reduced(cls, amount: float) -> FirstPlay:
        """Less than its parent by amount · √(prior mass already tried): KataGo's rule."""
        return cls("reduced", amount)

    @classmethod
    def constant(cls, amount: float) -> FirstPlay:
        """A constant."""
        return cls("constant", amount)

    @classmethod
    def lowest(cls) -> FirstPlay:
        """The lower end of the scale."""
        return cls("lowest", 0.0)


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class Puct:
    """AlphaZero's rule: value plus a bonus for what the prior likes and few visits tried."""

    c_init: Annotated[
        float | None, "exploration weight at the first visits; None: 1.25 with priors and with Uniform, else 2.5"
    ] = None
    c_log: Annotated[float, "how much the weight grows with the logarithm of the visits"] = 1.0
    c_base: Annotated[float, "visits at which that growth sets in"] = 19652.0
    c_off: Annotated[float, "added to the visits inside the logarithm"] = 1.0
    epsilon: Annotated[float, "added to the visits under the root; 0 ignores the prior at the first choice"] = 1.0
    scale: Annotated[Scale, "how values are mapped before the bonus is added; see below"] = "auto"
    first_play: Annotated[
        FirstPlay, "what an untried choice is worth; auto: less than its parent if there are priors, else more"
    ] = FirstPlay.auto()
    w0: Annotated[float, "how many visits the first-play value weighs in a tried choice's value"] = 0.0
    weights: Annotated[
        Weights, "how a simultaneous player weighs the others' replies: by D visits, A priors, B visits of each, C both"
    ] = "D"
    ties: Annotated[
        Ties, "which of equal scores wins: the first, or a random one; auto: a random one where several choose at once"
    ] = "auto"

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(self.c_init is None or self.c_init >= 0, "c_init", self.c_init, "at least 0")
        _require(self.c_base > 0, "c_base", self.c_base, "positive")
        _require(self.c_off + self.c_base > 0, "c_off", self.c_off, "more than -c_base, or the logarithm has no value")
        _require(self.epsilon >= 0, "epsilon", self.epsilon, "at least 0")
        _require(self.w0 >= 0, "w0", self.w0, "at least 0")

    @property
    def weight(self) -> float:
        """`c_init`; where no search has settled it, that of evaluators with priors."""
        return SURE if self.c_init is None else self.c_init


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class Ucb1:
    """UCB1 (Auer et al. 2002), for search without priors: untried choices first, then value plus √(ln S / N)."""

    c: Annotated[float, "exploration weight"] = math.sqrt(2.0)
    scale: Annotated[Scale, "how values are mapped before the bonus is added; see below"] = "auto"
    first_play: Annotated[FirstPlay, "what an untried choice is worth, where w0 lets it count"] = FirstPlay.parent()
    w0: Annotated[float, "how many visits the first-play value weighs in a tried choice's value"] = 0.0
    weights: Annotated[
        Weights, "how a simultaneous player weighs the others' replies: by D visits, A priors, B visits of each, C both"
    ] = "D"
    ties: Annotated[
        Ties, "which of equal scores wins: the first, or a random one; auto: a random one where several choose at once"
    ] = "auto"

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(self.c >= 0, "c", self.c, "at least 0")
        _require(self.w0 >= 0, "w0", self.w0, "at least 0")


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class Gumbel:
    """Gumbel search (Danihelka et al. 2022), for few simulations: halving among sampled choices at the root.

    Everywhere else choices follow the improved policy softmax(ln P + σ(q)), which is also what results report. The
    schedule of a run needs the number of simulations, so a budget in seconds is refused.
    """

    considered: Annotated[int, "how many choices of the root are sampled and compared"] = 16
    c_visit: Annotated[float, "added to the most visits of a choice, where values are weighed against the prior"] = 50.0
    c_scale: Annotated[float, "how much values weigh against the prior"] = 0.1
    scale: Annotated[
        Scale,
        "which interval of values is mapped onto [0, 1]: of the node's choices, of the graph, of the game's returns; "
        "auto: range where returns are tight, else node",
    ] = "auto"
    noise: Annotated[float, "weight of the root's Gumbel noise; 0 plays without chance"] = 1.0

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(self.considered >= 1, "considered", self.considered, "at least 1")
        for name in ("c_visit", "c_scale", "noise"):
            _require(getattr(self, name) >= 0, name, getattr(self, name), "at least 0")


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class VirtualLoss:
    """What visits in flight do to the choices they took."""

    mode: Annotated[
        Literal["loss", "visits", "off"],
        "count as visits that lost (loss), as visits only (visits), or not at all (off)",
    ] = "loss"

    def __post_init__(self) -> None:
        _check_fields(self)


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class RegretMatching:
    """Regret matching+ at simultaneous nodes: its average strategy converges to equilibrium (two players, zero sum)."""

    exploration: Annotated[float, "share of uniform play in what is drawn"] = 0.4
    view: Annotated[
        Literal["difference", "own"],
        "what a player maximises: its return less the other's, or its own (always own for > 2)",
    ] = "difference"
    value: Annotated[ValueKind, "a node's value: of the average strategies, or the mean of its visits"] = "strategy"

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(0.0 < self.exploration <= 1.0, "exploration", self.exploration, "in (0, 1]")


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class MatrixGame:
    """Solve the table of values at a simultaneous node for an equilibrium, again whenever its visits have grown."""

    exploration: Annotated[float, "share of uniform play in what is drawn"] = 0.4
    growth: Annotated[float, "relative growth of the visits after which the table is solved again"] = 0.05
    value: Annotated[ValueKind, "a node's value: of the average strategies, or the mean of its visits"] = "strategy"

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(0.0 < self.exploration <= 1.0, "exploration", self.exploration, "in (0, 1]")
        _require(self.growth >= 0, "growth", self.growth, "at least 0")


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class Exp3:
    """Exp3 (Auer et al. 2002) at simultaneous nodes: exponential weights on importance-weighted payoffs."""

    exploration: Annotated[float, "share of uniform play, also the learning rate"] = 0.2

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(0.0 < self.exploration <= 1.0, "exploration", self.exploration, "in (0, 1]")


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class Chance:
    """How dice are rolled inside the search."""

    draw: Annotated[
        Literal["spread", "sampled", "in_transition"],
        "evenly spread draws, independent ones, or such inside the transition, where no lines share what they saw",
    ] = "spread"
    exact_up_to: Annotated[
        int | None,
        "chance states with at most so many outcomes are enumerated; None: 21 where the evaluator gives no priors and "
        "neither draws nor widening are set, else 0",
    ] = None
    draws: Annotated[int, "how many draws the first visit makes as one batch"] = 1
    widen: Annotated[float | None, "c of the outcomes that may have children, ⌈c·N^α⌉; None: all"] = None
    widen_power: Annotated[float, "α of the outcomes that may have children"] = 0.5
    widen_cap: Annotated[int | None, "the most outcomes that may ever have children"] = None
    offset: Annotated[float | None, "where the spread starts, at every node; None: drawn for each node"] = None

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(self.exact_up_to is None or self.exact_up_to >= 0, "exact_up_to", self.exact_up_to, "at least 0")
        _require(1 <= self.draws <= MOST_DRAWS, "draws", self.draws, f"at least 1 and at most {MOST_DRAWS:,}")
        _require(self.widen is None or self.widen > 0, "widen", self.widen, "positive")
        _require(0.0 <= self.widen_power <= 1.0, "widen_power", self.widen_power, "in [0, 1]")
        _require(self.widen_cap is None or self.widen_cap >= 1, "widen_cap", self.widen_cap, "at least 1")
        _require(self.offset is None or 0.0 <= self.offset < 1.0, "offset", self.offset, "in [0, 1)")
        for name, left in (("exact_up_to", 0), ("draws", 1), ("widen", None), ("widen_cap", None), ("offset", None)):
            given = getattr(self, name)
            if self.draw == "in_transition" and given not in (left, None):
                raise UsageError(
                    f"{name} is about chance nodes, and draw='in_transition' has none; leave out one of the two, "
                    f"found {name}={given!r}"
                )

    @property
    def enumerated(self) -> int:
        """`exact_up_to`; where no search has settled it, that of evaluators with priors."""
        return 0 if self.exact_up_to is None else self.exact_up_to

    def limit(self, visits: int) -> int | None:
        """Return how many outcomes may have children at the given number of draws: K(N) = min(cap, ⌈c·N^α⌉)."""
        if self.widen is None:
            return self.widen_cap
        count = math.ceil(self.widen * math.pow(visits, self.widen_power))
        return count if self.widen_cap is None else min(self.widen_cap, count)


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class Transposition:
    """What happens where lines of play meet again."""

    merge: Annotated[bool, "equal states are one node; False grows a tree"] = True
    on_visit: Annotated[
        Literal["continue", "stop"], "walk through a better known child, or stop and use what it knows"
    ] = "continue"
    rho: Annotated[float, "stop: how many times its visits from here a child may have before the playout stops"] = 1.0
    leak: Annotated[float, "stop: the probability of walking on all the same"] = 0.0

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(self.rho > 0, "rho", self.rho, "positive")
        _require(0.0 <= self.leak <= 1.0, "leak", self.leak, "in [0, 1]")


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class RootNoise:
    """Dirichlet noise on the root's priors, (1 − x)·P + x·Dir(α), drawn anew whenever the root moves on."""

    weight: Annotated[float, "x: the share of noise"] = 0.25
    alpha: Annotated[float | None, "α of every choice; None: total / choices"] = None
    total: Annotated[float, "what the α of all choices add up to, where alpha is None"] = 10.83

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(0.0 <= self.weight <= 1.0, "weight", self.weight, "in [0, 1]")
        _require(self.alpha is None or self.alpha > 0, "alpha", self.alpha, "positive")
        _require(self.total > 0, "total", self.total, "positive")


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class ForcedPlayouts:
    """At the root, a choice once tried gets at least √(k·P·ΣN) visits (Wu 2019); `Result.target` takes them back."""

    k: Annotated[float, "how many visits are forced"] = 2.0

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(self.k >= 0, "k", self.k, "at least 0")


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class PlayoutCap:
    """Playout cap randomisation (Wu 2019): few moves are searched in full, the others fast and without exploration."""

    full: Annotated[int, "simulations of a full search, whose policy is worth learning from"] = 600
    fast: Annotated[int, "simulations of a fast one: no noise, no forced playouts"] = 100
    chance: Annotated[float, "the probability of a full search"] = 0.25

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(self.full >= 1, "full", self.full, "at least 1")
        _require(self.fast >= 1, "fast", self.fast, "at least 1")
        _require(0.0 <= self.chance <= 1.0, "chance", self.chance, "in [0, 1]")


Selector: TypeAlias = Puct | Ucb1 | Gumbel
SimultaneousSelector: TypeAlias = Puct | Ucb1 | Gumbel | RegretMatching | MatrixGame | Exp3


@_refusing_unknown
@dataclass(frozen=True, kw_only=True)
class SearchConfig:
    """One search: who selects how, how chance is drawn, what is shared, and the limits."""

    selector: Annotated[Selector, "how a single acting player chooses"] = field(default_factory=Puct)
    simultaneous: Annotated[
        SimultaneousSelector | None, "how several acting players choose; None: each by `selector`"
    ] = None
    chance: Annotated[Chance, "how dice are rolled"] = field(default_factory=Chance)
    transposition: Annotated[Transposition, "what happens where lines meet"] = field(default_factory=Transposition)
    virtual_loss: Annotated[VirtualLoss, "what visits in flight do"] = field(default_factory=VirtualLoss)
    backup: Annotated[
        Backup,
        "what a state where one player chooses is worth: the mean of its visits, or its best choice; auto: best where "
        "the game's cycles are bootstrap, and where one player plays against dice without priors, else mean",
    ] = "auto"
    refresh: Annotated[
        Refresh,
        "which values a visit recomputes: of the path it walked, also of the other parents of its nodes, of all their "
        "ancestors, or now and then of all nodes; auto: sweep where the game's cycles are bootstrap, else path",
    ] = "auto"
    sweep_every: Annotated[
        int | None, "visits of the root between two sweeps; None: as many as there are nodes, by powers of two"
    ] = None
    proofs: Annotated[
        Proofs,
        "whether the search keeps what is certain: bounds on values, which end lines that are settled and, once the "
        "root is, the search; auto: on",
    ] = "off"
    noise: Annotated[RootNoise | None, "noise on the root's priors; None: none"] = None
    forced: Annotated[ForcedPlayouts | None, "visits every choice of the root gets; None: none"] = None
    cap: Annotated[PlayoutCap | None, "which moves get a full search, where a run is given no budget"] = None
    width: Annotated[int, "paths per wave: so many leaves of a root are evaluated together"] = 1
    depth: Annotated[int, "waves in flight: with 2, the next is selected while one is evaluated"] = 1
    max_nodes: Annotated[int | None, "the most nodes a graph may hold; then new leaves are frozen"] = None
    max_bytes: Annotated[int | None, "the most bytes a graph may take; then new leaves are frozen"] = None
    seed: Annotated[int, "decides every random draw of the search"] = 0

    def __post_init__(self) -> None:
        _check_fields(self)
        _require(1 <= self.width <= WIDEST, "width", self.width, f"at least 1 and at most {WIDEST:,}")
        _require(1 <= self.depth <= DEEPEST, "depth", self.depth, f"at least 1 and at most {DEEPEST}")
        _require(self.sweep_every is None or self.sweep_every >= 1, "sweep_every", self.sweep_every, "at least 1")
        _require(self.max_nodes is None or self.max_nodes >= 1, "max_nodes", self.max_nodes, "at least 1")
        _require(self.max_bytes is None or self.max_bytes >= 65_536, "max_bytes", self.max_bytes, "at least 65536")
        for part in fields(self):
            value = getattr(self, part.name)
            wanted = _PARTS.get(part.name)
            if wanted and not isinstance(value, wanted):
                names = " or ".join(kind.__name__ for kind in wanted)
                raise UsageError(f"SearchConfig.{part.name} must be a {names}, found {value!r}")

    @classmethod
    def from_toml(cls, path: str | os.PathLike[str]) -> SearchConfig:
        """Return the settings in a TOML file; a misspelt key is an error with the nearest one, file and line."""
        from anabranch.search.settings.mapping import from_toml

        return from_toml(path)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> SearchConfig:
        """Return the settings in plain data: `{"selector": {"kind": "Ucb1", "c": 1.0}, "seed": 3}`."""
        from anabranch.search.settings.mapping import from_mapping

        return from_mapping(given)

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings as plain data, for JSON or TOML; `from_mapping` reads it back."""
        from anabranch.search.settings.mapping import to_mapping

        return to_mapping(self)


_PARTS: dict[str, tuple[type, ...]] = {
    "selector": (Puct, Ucb1, Gumbel),
    "simultaneous": (Puct, Ucb1, Gumbel, RegretMatching, MatrixGame, Exp3, type(None)),
    "chance": (Chance,),
    "transposition": (Transposition,),
    "virtual_loss": (VirtualLoss,),
    "noise": (RootNoise, type(None)),
    "forced": (ForcedPlayouts, type(None)),
    "cap": (PlayoutCap, type(None)),
}
