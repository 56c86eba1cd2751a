"""Find a game by name: a built-in one, `package.module:Name`, or `path/to/file.py:Name`."""

from __future__ import annotations

import copyreg
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

from anabranch.errors import UnknownNameError, UsageError, shortened
from anabranch.game.game import Game, GameType

FROM_FILE = "anabranch_file_"  # how modules are called that were loaded from a file by its path
LONGEST_MODULE = 500  # letters of a name: Python imports what is before each dot, one inside the other


def load_from(where: str, name: str, /, **options: Any) -> Game:
    """Make the game called `name` from a module or a file."""
    module = load_module(where)
    made = getattr(module, name, None)
    if made is None:
        games = [key for key, value in vars(module).items() if isinstance(value, type) and issubclass(value, Game)]
        raise UnknownNameError(f"game in {where}", name, games)
    if not (isinstance(made, type) and issubclass(made, Game)):
        raise UsageError(f"{where}:{name} is no game class; a game derives from ab.CompiledGame or ab.ObjectGame")
    game: Game = made(**options)
    return game


def load_module(where: str) -> ModuleType:
    """Import `package.module` or run `path/to/file.py`."""
    return _module_from_file(Path(where)) if where.endswith(".py") else _module(where)


def refuse_pythons_own(text: str, found: Any, wanted: str) -> None:
    """Refuse a function, class, object or module that a name leads to and that is Python's own: nobody means it."""
    if isinstance(found, ModuleType):
        if found.__name__.partition(".")[0] in sys.stdlib_module_names:
            raise UsageError(f"{text} is Python's own module; {wanted}")
        return
    named = (type, FunctionType, BuiltinFunctionType, MethodType)
    told = found if isinstance(found, named) else type(found)
    home = str(getattr(told, "__module__", None))
    top = home.partition(".")[0]
    if told is not found and top in ("builtins", "functools", "types"):  # texts, numbers, partial functions of others
        return
    if top in sys.stdlib_module_names and top != "__main__":
        raise UsageError(f"{text} is Python's own {home}.{told.__qualname__}; {wanted}")


def _module(name: str) -> ModuleType:
    shown = shortened(name)
    if len(name) > LONGEST_MODULE or not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(
            f"{shown!r} is no module: those are named by words and dots, e.g. package.module:Name; a file is named "
            f"with its ending, e.g. path/to/file.py:Name"
        )
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and name.startswith(error.name):
            raise UsageError(
                f"there is no module {shown!r}; a file is named with its ending, e.g. {shown}.py:Game"
            ) from None
        raise


def _module_from_file(path: Path) -> ModuleType:
    if not os.path.isfile(path):  # no name that a system would not even look for is an error here
        raise UsageError(f"there is no file {shortened(str(path))}")
    path = path.resolve()
    name = _name_of(path)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be read as a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    folder = str(path.parent)
    if folder not in sys.path:  # as `python file.py` would, so that helpers beside the file are found
        sys.path.insert(0, folder)
    spec.loader.exec_module(module)
    return module


def _name_of(path: Path) -> str:
    return FROM_FILE + "_".join(path.with_suffix("").parts[1:])


# No other process knows such a module by its name, so classes of games go there by the path of their file.


def class_from_file(path: str, name: str) -> Any:
    """Return a class of a file, which is run if it was not yet: so games, their states and results are unpickled."""
    found: Any = sys.modules.get(_name_of(Path(path))) or load_module(path)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _way_to_class(kind: GameType) -> str | tuple[Any, ...]:
    """Return how a game's class is pickled: as every class is, by its name, unless that is of a file's module."""
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", None)
    if kind.__module__.startswith(FROM_FILE) and path is not None and "<locals>" not in kind.__qualname__:
        return class_from_file, (path, kind.__qualname__)
    return kind.__qualname__


copyreg.pickle(GameType, _way_to_class)
