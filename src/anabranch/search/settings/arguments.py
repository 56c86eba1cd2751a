"""What searches may be given, checked in one place: engine, reference and solver refuse the same in the same words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from anabranch.errors import UnknownNameError, UsageError, shown
from anabranch.game.game import Game
from anabranch.game.state import State
from anabranch.search.settings.config import Exp3, Gumbel, MatrixGame, Puct, RegretMatching, SearchConfig, Ucb1

Keep: TypeAlias = Literal["graph", "evaluations", "nothing"]
KEEPS = get_args(Keep)
Budgets: TypeAlias = int | Sequence[int] | npt.NDArray[np.integer[Any]]
FOREVER = 2**31 - 2  # the most visits a node counts
DEFAULT = SearchConfig()
BEING_SEARCHED = "this root is being searched; wait for the run to end"


def checked_state(given: Any) -> State:
    """Return a state; say how to get one from what was given instead."""
    if isinstance(given, State):
        return given
    if isinstance(given, Game):
        raise UsageError(f"a search takes a state, found the game {given!r}: start with game.start()")
    raise UsageError(f"a search takes a state, found {_shown(given)}: start with {_way_to_a_game(given)}.start()")


def checked_game(given: Any) -> Game:
    """Return a game; say how to get one from what was given instead."""
    if isinstance(given, Game):
        return given
    if isinstance(given, State):
        raise UsageError("a Searcher takes a game, found a state: ab.Searcher(state.game), then searcher.root(state)")
    raise UsageError(f"a Searcher takes a game, found {_shown(given)}: give it {_way_to_a_game(given)}")


def checked_config(given: Any) -> SearchConfig:
    """Return the settings, the default ones for None."""
    if given is None:
        return DEFAULT
    if isinstance(given, SearchConfig):
        return given
    name = type(given).__name__
    if isinstance(given, (Puct, Ucb1, Gumbel)):
        raise UsageError(f"config is an ab.SearchConfig, found {name}; wrap it: ab.SearchConfig(selector=ab.{name}(…))")
    if isinstance(given, (RegretMatching, MatrixGame, Exp3)):
        raise UsageError(
            f"config is an ab.SearchConfig, found {name}; wrap it: ab.SearchConfig(simultaneous=ab.{name}(…))"
        )
    if isinstance(given, int):
        raise UsageError(f"config is an ab.SearchConfig, found {_shown(given)}; a budget is named: simulations={given}")
    raise UsageError(f"config is an ab.SearchConfig, found {_shown(given)}; make one: ab.SearchConfig(…)")


def check_budget(simulations: Any, visits: Any, seconds: Any, roots: int | None = None) -> None:
    """Refuse what is not one budget: a whole number of simulations or visits, or a time.

    Where roots are searched together, there may be a number of simulations for each of them.
    """
    if type(simulations) is int and 0 <= simulations <= FOREVER and visits is None and seconds is None:
        return  # as nearly always
    if isinstance(simulations, (Sequence, np.ndarray)) and not isinstance(simulations, (str, bytes)):
        if roots is None:
            raise UsageError(f"simulations is one number where one state is searched, found {_shown(simulations)}")
        if len(simulations) != roots:
            raise UsageError(
                f"simulations is one number for all roots, or a list with one for each: there {_are(roots, 'root')}, "
                f"found {len(simulations)} in {_shown(simulations)}"
            )
        for each in simulations:
            check_budget(each, visits, seconds)
        return
    given = {"simulations": simulations, "visits": visits, "seconds": seconds}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) == 1 and all(_is_budget(name, value) for name, value in given.items()):
        return
    found = ", ".join(f"{name}={_shown(value)}" for name, value in given.items()) or "none"
    raise UsageError(
        f"give one budget, not negative: simulations= or visits=, a whole number up to {FOREVER}, or seconds=; "
        f"found {found}"
    )


def check_time(config: SearchConfig, seconds: Any) -> None:
    """Refuse a time as a budget where a schedule must know the number of simulations."""
    if seconds is not None and (isinstance(config.selector, Gumbel) or isinstance(config.simultaneous, Gumbel)):
        raise UsageError(
            "ab.Gumbel shares its simulations out before the first of them, so it needs their number: give "
            f"simulations= or visits= in place of seconds={_shown(seconds)}, or search with ab.Puct()"
        )


def check_whole(name: str, value: Any, least: int | None = None) -> None:
    """Refuse what is no whole number, or less than the least."""
    if not isinstance(value, int) or isinstance(value, bool) or (least is not None and value < least):
        limit = "" if least is None else f", at least {least}"
        raise UsageError(f"{name} must be a whole number{limit}, found {value!r}")


def checked_keep(given: Any) -> None:
    """Refuse what is not a way to keep what was found."""
    if given not in KEEPS:
        raise UnknownNameError("keep", str(given), KEEPS)


def _is_budget(name: str, value: Any) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return False
    if name == "seconds":
        return isinstance(value, (int, float, np.number)) and bool(value >= 0)  # which NaN is not
    return isinstance(value, (int, np.integer)) and bool(0 <= value <= FOREVER)


def _are(number: int, noun: str) -> str:
    return f"is 1 {noun}" if number == 1 else f"are {number} {noun}s"


def _way_to_a_game(given: Any) -> str:
    if isinstance(given, str):
        return f"ab.games.load({given!r})"
    if isinstance(given, type) and issubclass(given, Game):
        return f"{given.__name__}(…)"
    return "ab.games.load('connect_four')"


def _shown(given: Any) -> str:
    if isinstance(given, type):
        return f"the class {given.__name__}"
    return shown(given, 80)
