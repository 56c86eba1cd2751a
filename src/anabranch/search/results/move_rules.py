"""How a move is chosen from what a search found: rules with a name, read off a result.

The equations are in `policies`; here their arguments are taken from a result and its graph. A policy is an array over
action ids, as a row of `Result.policy` is, so that a temperature can be applied to it or its largest entry taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
import numpy.typing as npt

from anabranch import _native
from anabranch.errors import UnknownNameError, UsageError
from anabranch.search.engine.graph import Graph
from anabranch.search.maths import formulas, policies
from anabranch.search.maths.scale import value_scale
from anabranch.search.results.moments import root_variances
from anabranch.search.results.proof import settled
from anabranch.search.results.result import Result
from anabranch.search.settings.config import Puct, SearchConfig, SimultaneousSelector

if TYPE_CHECKING:
    from anabranch.search.settings.config import ForcedPlayouts

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Visits:
    """The search's own policy: visits, or the average strategy where a selector keeps one."""


@dataclass(frozen=True, kw_only=True)
class LowerBound:
    """Visits, but the choice whose value is most surely large comes first: the largest q − z·√(var/N)."""

    z: Annotated[float, "how many standard errors below its value a choice is counted"] = 5.0
    share: Annotated[float, "how many of the most visited choice's visits a choice needs, as a share"] = 0.15
    least: Annotated[int, "how many visits it needs at least"] = 3

    def __post_init__(self) -> None:
        if not (0.0 <= self.z < float("inf") and 0.0 <= self.share <= 1.0 and self.least >= 1):
            raise UsageError(
                f"a LowerBound has z of at least 0, a share in [0, 1] and least of at least 1, found {self}"
            )


@dataclass(frozen=True)
class Regularised:
    """The policy that PUCT's visits approach, solved for exactly: Grill et al. 2020."""


MoveRule: TypeAlias = Visits | LowerBound | Regularised
MOVE_RULES: dict[str, MoveRule] = {"visits": Visits(), "lcb": LowerBound(), "regularised": Regularised()}


def move_rule(rule: str | MoveRule) -> MoveRule:
    """Return a rule given by name or as itself."""
    if not isinstance(rule, str):
        return rule
    if rule not in MOVE_RULES:
        raise UnknownNameError("move rule", rule, tuple(MOVE_RULES))
    return MOVE_RULES[rule]


def move_policy(
    result: Result, seat: int, rule: str | MoveRule = "visits", config: SearchConfig | None = None
) -> Floats:
    """Return the policy of a player over action ids under a rule; `config` replaces the settings of the search."""
    rule = move_rule(rule)
    acting = _check_acting(result, seat)
    if isinstance(rule, LowerBound):
        found = lcb_policy(result, seat, rule)
    elif isinstance(rule, Regularised):
        found = regularised_policy(result, seat, config)
    else:
        return _reported(result, seat)
    if result.proof is None or len(acting) > 1:
        return _reported(result, seat) if result.proven else found
    return settled(found, result.visits[seat], result.q[seat], seat, result.proof)


# Lower confidence bounds


def choice_variances(result: Result, seat: int) -> Floats:
    """Return the variance of what each choice of a player led to, by action id; 0 where nothing was visited.

    Over a choice's edges e, one unless others choose too: Σ N(e)·(V(e) + (q(e) − q(a))²) / Σ N(e).
    """
    acting = _check_acting(result, seat)
    index, mean, found = acting.index(seat), result.q[seat], np.zeros(result.q.shape[1])
    edges = result.graph.node(0).edges
    for edge, variance in zip(edges, root_variances(result.graph), strict=True):
        if edge.visits == 0:
            continue
        action = edge.action[index] if isinstance(edge.action, tuple) else edge.action
        off = 0.0 if len(acting) == 1 else edge.value[seat] - mean[action]
        found[action] += edge.visits / result.visits[seat, action] * (variance[seat] + off * off)
    return found


def lower_bounds(result: Result, seat: int, z: float = LowerBound.z) -> Floats:
    """Return q − z·√(var/N) of a player's choices, by action id; NaN where nothing was visited."""
    ids = list(result.state.choices(seat))
    spread = choice_variances(result, seat)
    bounds = policies.lower_bounds(
        result.q[seat, ids].tolist(), spread[ids].tolist(), result.visits[seat, ids].tolist(), z
    )
    found = np.full(result.q.shape[1], np.nan)
    found[ids] = [bound if n > 0 else np.nan for bound, n in zip(bounds, result.visits[seat, ids], strict=True)]
    return found


def lcb_policy(result: Result, seat: int, rule: LowerBound | None = None) -> Floats:
    """Return visits as a policy in which the most secure choice comes first; the prior before any visit."""
    rule = LowerBound() if rule is None else rule
    _check_acting(result, seat)
    ids = list(result.state.choices(seat))
    visits = [float(n) for n in result.visits[seat, ids]]
    if not any(visits):
        return _reported(result, seat)
    bounds = lower_bounds(result, seat, rule.z)[ids].tolist()
    best = policies.most_secure(bounds, visits, share=rule.share, least=float(rule.least))
    return _spread(policies.promoted(visits, best), ids, result)


# What the selector saw


@dataclass(frozen=True)
class Seen:
    """A player's choices at the root as PUCT sees them: values scaled, those never visited at their first-play value.

    Where several act at once, a choice's value weighs replies by visits, whichever weights the selector used.
    """

    ids: list[int]
    visits: list[int]
    values: list[float]
    prior: list[float]
    puct: Puct


def seen_by(result: Result, seat: int, config: SearchConfig | None = None) -> Seen:
    """Read what a root's selector sees off a result; `config` replaces the settings it was searched with.

    A weight of exploration that it leaves open is that of the search, whose evaluator settled it.
    """
    acting = _check_acting(result, seat)
    searched, puct = (_selector(each or SearchConfig(), acting) for each in (result.config, config or result.config))
    if not isinstance(puct, Puct):
        raise UsageError(f"this policy is that of PUCT; the root was searched by {type(puct).__name__}")
    if puct.c_init is None and isinstance(searched, Puct):
        puct = replace(puct, c_init=searched.c_init)
    if puct.first_play.kind == "auto" and isinstance(searched, Puct):
        puct = replace(puct, first_play=searched.first_play)
    ids = list(result.state.choices(seat))
    visits, prior = result.visits[seat, ids].tolist(), result.prior[seat, ids].tolist()
    q, parent = result.q[seat, ids].tolist(), float(result.value[seat])
    known = [value for value, n in zip(q, visits, strict=True) if n > 0]
    scaled = value_scale(puct.scale, result.state, seat, [*known, parent], lambda: _graph_range(result, seat))
    tried = formulas.total_of(p for p, n in zip(prior, visits, strict=True) if n > 0)
    first = formulas.first_play(puct.first_play, parent=scaled(parent), tried=tried, lowest=scaled.lowest)
    values = [
        formulas.choice_value(first, scaled(x) if n > 0 else 0.0, n, 0.0, w0=puct.w0, loss=0.0, lowest=scaled.lowest)
        for x, n in zip(q, visits, strict=True)
    ]
    return Seen(ids, visits, values, prior, puct)


def _selector(config: SearchConfig, acting: tuple[int, ...]) -> SimultaneousSelector:
    """Return who chooses where these players act."""
    return config.selector if len(acting) == 1 or config.simultaneous is None else config.simultaneous


def _graph_range(result: Result, seat: int) -> tuple[float, float]:
    """Return the smallest and the largest q(e) seen at any refresh in the graph."""
    if isinstance(result.graph, Graph):
        low, high = _native.value_range(result.graph.native)[:, seat].tolist()
        return low, high
    return float(result.graph.low[seat]), float(result.graph.high[seat])


def regularised_policy(result: Result, seat: int, config: SearchConfig | None = None) -> Floats:
    """Return argmax Σ π·x − λ·KL(P‖π), the policy that the selector's visits approach."""
    seen = seen_by(result, seat, config)
    weight = policies.regularisation(float(sum(seen.visits)), len(seen.ids), seen.puct)
    return _spread(policies.regularised(seen.values, seen.prior, weight), seen.ids, result)


def pruned_policy(result: Result, seat: int, forced: ForcedPlayouts, config: SearchConfig | None = None) -> Floats:
    """Return visits less those that were only forced, as a policy to learn from; the prior before any visit."""
    seen = seen_by(result, seat, config)
    if not any(seen.visits):
        return _reported(result, seat)
    kept = policies.pruned_visits(seen.visits, seen.values, seen.prior, puct=seen.puct, k=forced.k)
    return _spread(formulas.normalised([float(n) for n in kept]), seen.ids, result)


def _reported(result: Result, seat: int) -> Floats:
    row: Floats = result.policy[seat]
    return row.copy()


def _spread(chances: list[float], ids: list[int], result: Result) -> Floats:
    row = np.zeros(result.policy.shape[1])
    row[ids] = chances
    return row


def _check_acting(result: Result, seat: int) -> tuple[int, ...]:
    turn = result.state.turn
    if isinstance(turn, int) or seat not in turn:
        raise UsageError(f"player {seat} does not act at this root, so there is no policy to read")
    return turn
