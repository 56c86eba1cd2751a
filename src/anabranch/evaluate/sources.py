"""The files that code stands in: one, and those of the user's own that it imports; nothing is run to find out."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import AnabranchError
from anabranch.files import read_file

LARGEST = 2**24  # bytes of a file of source
MOST_FILES = 1_000
PACKAGE = Path(__file__).resolve().parent.parent
INSTALLED = frozenset(("site-packages", "dist-packages"))  # folders of installed packages, also of other environments
LIBRARIES = tuple(
    Path(path).resolve()
    for path in {
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        *((site.getusersitepackages(),) if site.ENABLE_USER_SITE else ()),
    }
)


class DoubtError(Exception):
    """Nobody can tell what a thing is made of; the message says why."""


def sources(file: Path) -> list[tuple[str, str]]:
    """Return a file and those of the user's own that it imports, each by its name with a hash of what it holds."""
    found: dict[Path, tuple[str, str]] = {}
    folders: dict[Path, frozenset[str]] = {}  # what is in them, read once
    searched = [Path(folder) for folder in sys.path if folder]
    waiting = [(file.resolve(), file.name)]
    while waiting:
        path, name = waiting.pop()
        if path in found:
            continue
        if len(found) >= MOST_FILES:
            raise DoubtError(f"{file.name} imports more than {MOST_FILES:,} files")
        try:
            data = read_file(path, LARGEST)
        except (AnabranchError, OSError) as error:
            raise DoubtError(f"its code cannot be read: {error}") from None
        found[path] = (name, hashlib.sha256(data).hexdigest())
        waiting += _imports(path, data, searched, folders)
    return sorted(found.values())


def _imports(
    path: Path, data: bytes, searched: list[Path], folders: dict[Path, frozenset[str]]
) -> Iterator[tuple[Path, str]]:
    """Yield the files of the user's own that a file imports."""
    for level, name in _imported(data):
        beside = path.parents[level - 1] if 0 < level <= len(path.parents) else path.parent
        bases = [beside] if level else [beside, *searched]
        yield from _own_file(bases, name, folders)


@functools.lru_cache(200)
def _imported(data: bytes) -> list[tuple[int, str]]:
    """Return the level and name of every module that code imports, anywhere in it; nothing is run to find out."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a page with code in it, for example
        return []
    names: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            inside = f"{node.module}." if node.module else ""
            names += [(node.level, inside + alias.name) for alias in node.names]
            names += [(node.level, node.module)] if node.module else []
    return list(dict.fromkeys(names))


def _own_file(bases: list[Path], name: str, folders: dict[Path, frozenset[str]]) -> Iterator[tuple[Path, str]]:
    """Yield the file of a module, and of the packages it is in, if it is the user's own."""
    first = name.partition(".")[0]
    if first in sys.stdlib_module_names:
        return
    for base in bases:
        if base not in folders:
            folders[base] = _entries(base)
        if folders[base].isdisjoint((first, f"{first}.py")):
            continue
        parts = base.joinpath(*name.split("."))
        for end in (parts.with_name(f"{parts.name}.py"), parts / "__init__.py"):
            if end.is_file():
                end = end.resolve()
                if not installed(end) and not below(end, (PACKAGE,)):
                    yield end, name
                return


def _entries(folder: Path) -> frozenset[str]:
    """Return the names of what is in a folder; none where there is no such folder."""
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def installed(path: Path) -> bool:
    """Whether a path is Python's own or an installed package's, of this environment or of another one it shares."""
    return below(path, LIBRARIES) or not INSTALLED.isdisjoint(path.parts)


def below(path: Path, folders: tuple[Path, ...]) -> bool:
    """Whether a path is in one of some folders, or in one of theirs."""
    return any(path.is_relative_to(folder) for folder in folders)
