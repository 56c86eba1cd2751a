"""Units of code: entries of a game that are compiled together, and had from memory, from disk, or from the compiler."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from anabranch.errors import CompileError
from anabranch.game.native import cache, trial
from anabranch.game.native.constants import Constants
from anabranch.game.native.entries import ENTRIES, Entry, Layout
from anabranch.game.native.fingerprint import fingerprint
from anabranch.game.native.reachable import Reachable, verb_function
from anabranch.game.native.refusals import refuse, refuse_fields
from anabranch.game.native.whole import Work, whole

if TYPE_CHECKING:
    from anabranch.game.native.loader import Loaded

Key = tuple[str, tuple[int, ...]]  # a fingerprint, and what the code is bound to in this process
_memory: dict[Key, Loaded] = {}  # code that was loaded once stays
_pending: dict[Key, Work[Loaded]] = {}  # compilations whose first customer was interrupted, and went
_lock = threading.RLock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pending.clear)  # their threads stay with the parent


def load_unit(
    game: Any,
    names: Iterable[str],
    entries: dict[str, Entry] = ENTRIES,
    *,
    built_in: bytes | None = None,
    tried: bool = False,
) -> Loaded:
    """Return the addresses of some entries of a game, compiling them if no process on this machine has done so yet.

    With `built_in`, the instance's record, the code is for this instance only. Before rules are compiled they are
    played for a few plies, unless they were `tried` before.
    """
    chosen = {name: entries[name] for name in names}
    layout = Layout.of(game)
    verbs = {verb: verb_function(game, verb) for entry in chosen.values() for verb in entry.verbs}
    functions = {name: entry.make(verbs) for name, entry in chosen.items()}
    reachable = Reachable([*verbs.values(), *functions.values()])
    refuse(game, verbs, reachable)
    constants = Constants(game.name, reachable)
    name = fingerprint(chosen, layout, constants, built_in)
    key = (name, constants.addresses)
    with _lock:
        if key not in _memory and key not in _pending:
            loaded = whole(lambda: _from_disk(name, constants))
            if loaded is not None:
                _memory[key] = loaded
        if key not in _memory:
            if key not in _pending:
                if not tried:
                    trial.play(game)
                for verb, function in verbs.items():
                    refuse_fields(game, verb, function)
                _pending[key] = Work(
                    lambda: _compiled(game, name, chosen, layout, functions, reachable, constants, built_in)
                )
            work = _pending[key]
            try:
                _memory[key] = work.result()
            finally:
                if work.finished:
                    del _pending[key]
        return _memory[key]


def _from_disk(name: str, constants: Constants) -> Loaded | None:
    from anabranch.game.native import loader

    unit = cache.read(name)
    if unit is None:
        return None
    try:
        return loader.load(unit, constants.find)
    except loader.MissingSymbolError:  # made by another build of Numba or of the system; compile afresh
        return None


def _compiled(
    game: Any,
    name: str,
    entries: dict[str, Entry],
    layout: Layout,
    functions: dict[str, FunctionType],
    reachable: Reachable,
    constants: Constants,
    built_in: bytes | None,
) -> Loaded:
    import logging

    from anabranch.game.native import loader
    from anabranch.game.native.compiler import compile_entries

    logging.getLogger("anabranch").info(
        "compiling %s (%s), which is kept for the next time", game.name, ", ".join(entries)
    )
    unit = compile_entries(game, entries, layout, functions, reachable, constants, built_in)
    try:
        loaded = loader.load(unit, constants.find)
    except loader.MissingSymbolError as error:
        raise CompileError(
            f"{game.name}: {', '.join(entries)} use something that is not in this process ({error}); "
            f"compiled=False plays the game interpreted"
        ) from error
    cache.write(name, unit)
    return loaded
