"""Find a game of OpenSpiel by name and parameters, and say of those that cannot be searched why not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from anabranch.errors import (
    MissingExtraError,
    UnknownNameError,
    UnsupportedGameError,
    UsageError,
    reason,
    shortened,
    shown,
)

PREFIX = "open_spiel:"

# What makes a game's hidden information open, for the refusal to say.
_OPENED_BY = {"goofspiel": "imp_info=False", "laser_tag": "fully_obs=True", "coop_box_pushing": "fully_observable=True"}

# Games whose states cannot be copied: what OpenSpiel's own clone() gets wrong.
_BROKEN_COPIES = {
    "morpion_solitaire": "a copy of a state has other legal actions than the state, and copying one may crash",
}


def pyspiel_module() -> Any:
    """Return the module `pyspiel`; it is imported when a game of OpenSpiel is first asked for, not before."""
    try:
        import pyspiel
    except ImportError:
        raise MissingExtraError("open_spiel", "interop", "a game of OpenSpiel") from None
    return pyspiel


def spiel_game(text: str, options: Mapping[str, Any]) -> Any:
    """Return OpenSpiel's game for `name` or `name(key=value,…)`; options are parameters too and win over the text's.

    Names and parameters are checked here, against what OpenSpiel registers, so that a slip is answered with the nearest
    name and not with a list of a hundred and twenty.
    """
    pyspiel = pyspiel_module()
    name, given = _read(pyspiel, text.removeprefix(PREFIX))
    if name.startswith("python_"):
        import open_spiel.python.games  # noqa: F401 - registers OpenSpiel's games that are written in Python
    types = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if name not in types:
        raise UnknownNameError("game of OpenSpiel", name, types)
    known = dict(types[name].parameter_specification)
    parameters = {}
    for key, value in {**given, **options}.items():
        if key not in known:
            raise UnknownNameError(f"parameter of open_spiel:{name}", key, known)
        parameters[key] = _like(pyspiel, known[key], value, f"open_spiel:{name}: {key}")
    for broken, why in _BROKEN_COPIES.items():
        if broken in f"{name} {parameters}":  # itself or inside another one
            raise UnsupportedGameError(
                f"open_spiel:{broken} cannot be searched, for its states cannot be copied: OpenSpiel's own clone() is "
                f"broken there; {why}"
            )
    made = shortened(f"{name} with {parameters}" if parameters else name, 300)
    try:
        spiel = pyspiel.load_game(name, parameters)
        spiel.new_initial_state()  # some games look at their parameters only now
    except (pyspiel.SpielError, LookupError, ValueError, TypeError, RuntimeError, MemoryError) as error:
        # OpenSpiel checks little, so that a parameter it needs and lacks may come out as a C++ exception of any kind.
        needs = f"; its parameters are {', '.join(sorted(known))}" if known else ""
        raise UsageError(f"OpenSpiel cannot make {made}: {type(error).__name__}: {reason(error)}{needs}") from None
    return spiel


def _read(pyspiel: Any, text: str) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of OpenSpiel's own notation."""
    if "(" not in text:
        return text, {}
    try:
        parameters = dict(pyspiel.game_parameters_from_string(text))
    except (pyspiel.SpielError, TypeError, ValueError) as error:  # a TypeError of texts that are no Unicode
        raise UsageError(f"{shown(text)} is not of the form name(key=value,…): {reason(error)}") from None
    return parameters.pop("name"), parameters


def _like(pyspiel: Any, default: Any, value: Any, where: str) -> Any:
    """Return a parameter as the type OpenSpiel declares; flags and TOML give 7 where it wants 7.0, or words."""
    try:
        if isinstance(default, bool):
            return {"true": True, "1": True, "false": False, "0": False}[str(value).lower()]
        if isinstance(default, int):
            if isinstance(value, float) and not value.is_integer():
                raise ValueError
            return int(value)
        if isinstance(default, float):
            return float(value)
    except (KeyError, ValueError, TypeError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[type(default)]
        raise UsageError(f"{where} must be {wanted}, found {shown(value)}") from None
    if isinstance(default, dict) and isinstance(value, str):  # a game inside a game
        name, inside = _read(pyspiel, value)
        return {"name": name, **inside}
    return str(value) if isinstance(default, str) else value


def refuse_unsound(spiel: Any) -> None:
    """Raise UnsupportedGameError for a game whose states do not show all that a search would need to see.

    What counts is what OpenSpiel declares for the game *with its parameters*: perfect information, or one shot
    (normal-form games, where all choose once and at the same time). Choosing at once is not hidden information: the
    search treats it as such. Declared imperfect are games with hidden cards and the like, and simultaneous games
    turned into turns, where the second mover must not see what the first chose.
    """
    kind = spiel.get_type()
    name, pyspiel = kind.short_name, pyspiel_module()
    if kind.dynamics == pyspiel.GameType.Dynamics.MEAN_FIELD:
        raise UnsupportedGameError(
            f"open_spiel:{name} is a mean field game: its rewards depend on how a whole population plays, which is no "
            f"part of a state, so there is nothing to search"
        )
    if kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION and not _open_all_the_same(spiel):
        raise UnsupportedGameError(
            f"open_spiel:{name} has imperfect information: a search of its states would see what players cannot see, "
            f"and its choices would be worth nothing in play" + _way_out(spiel)
        )
    if kind.chance_mode == pyspiel.GameType.ChanceMode.SAMPLED_STOCHASTIC:
        raise UnsupportedGameError(
            f"open_spiel:{name} throws its dice inside the state (sampled stochastic): one action from one state would "
            f"lead to different states, and their probabilities cannot be asked for"
        )


def _open_all_the_same(spiel: Any) -> bool:
    """Whether all is visible although declared imperfect: this game's declaration does not follow its parameter."""
    return bool(
        spiel.get_type().short_name == "coop_box_pushing" and spiel.get_parameters().get("fully_observable", False)
    )


def _way_out(spiel: Any) -> str:
    name = spiel.get_type().short_name
    if name == "turn_based_simultaneous_game":
        return "; load the game inside it instead: players who choose at once are searched directly"
    return f"; with {_OPENED_BY[name]} everything is open" if name in _OPENED_BY else ""
