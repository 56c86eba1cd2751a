"""The scale of values: which interval is mapped where before a bonus is added, so that c means the same in every game.

One home for it (docs/model.md section 4): the reference's selectors and the policies read off a result call
`value_scale`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from anabranch.game.state import State
from anabranch.search.maths import formulas
from anabranch.search.settings.config import Scale
from anabranch.search.settings.resolved import resolved_scale


@dataclass(frozen=True)
class ValueScale:
    """s, a linear map that never clips, and ℓ, the lower end of the scale."""

    map: Callable[[float], float]
    lowest: float

    def __call__(self, value: float) -> float:
        """Return s(value)."""
        return self.map(value)


def value_scale(
    kind: Scale, state: State, player: int, seen: Sequence[float], graph_range: Callable[[], tuple[float, float]]
) -> ValueScale:
    """Return how the values of one player are scaled at a decision.

    `range`: the bounds on the remaining return onto [−1, 1]. `node`: the smallest and largest of `seen`, which are the
    q of the visited choices and Q of the node, onto [0, 1]. `graph`: what `graph_range` returns onto [0, 1]. `none`.
    """
    kind = resolved_scale(kind, state.game)
    if kind == "none":
        return ValueScale(lambda q: q, state.game.returns[0])
    if kind == "range":
        lows, highs = state.bounds()
        low, high = float(lows[player]), float(highs[player])
        return ValueScale(lambda q: formulas.to_signed(q, low, high), -1.0)
    low, high = (min(seen), max(seen)) if kind == "node" else graph_range()
    return ValueScale(lambda q: formulas.to_unit(q, low, high), 0.0)
