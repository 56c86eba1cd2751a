"""Games that are decided: played to their ends with fewer visits, and seldom recorded, in place of being given up.

Nobody resigns, so nothing is learnt of ends that were never seen; what is plain to see gets less of the time (Wu's
KataGo does likewise).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from anabranch.game.game import Game
from anabranch.learn.records import Decision
from anabranch.learn.settings import SelfPlay as Settings
from anabranch.search.settings.config import PlayoutCap


def certainty(totals: Sequence[float], low: float, high: float) -> float:
    """Return min_p |2·(x_p − low)/(high − low) − 1|: 1 where what every player gets is at an end of the range."""
    if high <= low:
        return 0.0
    return min(abs(2.0 * (total - low) / (high - low) - 1.0) for total in totals)


def decided_before(decisions: Sequence[Decision], settings: Settings, game: Game) -> Iterator[bool]:
    """Yield of every decision of a game, and of the one that comes next, whether the game was decided before it.

    It is while so many searches in a row have said so. What counts is the total: paid so far, and the root's value.
    """
    low, high = game.returns
    paid, factor, row = [0.0] * game.players, 1.0, 0
    for decision in decisions:
        yield settings.decided is not None and row >= settings.decided_searches
        totals = [past + factor * value for past, value in zip(paid, decision.value, strict=True)]
        says = settings.decided is not None and certainty(totals, low, high) >= settings.decided
        row = row + 1 if says and decision.visits else 0
        paid = [past + factor * reward for past, reward in zip(paid, decision.rewards, strict=True)]
        factor *= game.discount
    yield settings.decided is not None and row >= settings.decided_searches


def cap_after(decisions: Sequence[Decision], cap: PlayoutCap, settings: Settings, game: Game) -> PlayoutCap:
    """Return the cap of the search that follows decisions: a share of its visits and its chance in a decided game."""
    if settings.decided is None or not list(decided_before(decisions, settings, game))[-1]:
        return cap
    full, fast = (max(1, round(settings.decided_visits * visits)) for visits in (cap.full, cap.fast))
    return PlayoutCap(full=full, fast=fast, chance=settings.decided_chance * cap.chance)
