"""`anabranch new`: a file to start a game from."""

from __future__ import annotations

import keyword
import sys
from dataclasses import dataclass
from importlib import resources
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from anabranch.cli import GOOD
from anabranch.cli.show import print_json
from anabranch.errors import UsageError
from anabranch.files import create_file


@dataclass(frozen=True)
class Command:
    """Write the file of a small complete game to start from."""

    name: Annotated[Positional[str], arg(metavar="NAME", help="what the game is called, e.g. my_game")]
    objects: Annotated[bool, arg(help="states are Python objects (any Python, slower) instead of records")] = False
    folder: Annotated[Path, arg(help="where to write it")] = Path()
    json: Annotated[bool, arg(help="print for machines")] = False

    def run(self) -> int:
        """Write the file and say what to do with it."""
        path, member = write_template(self.name, self.folder, objects=self.objects)
        game = f"{path}:{member}"
        if self.json:
            print_json({"file": str(path), "game": game})
        else:
            print(f"wrote {path}: pins to knock down, to be replaced by rules of your own")
            print(f"next: anabranch check {game}")
        return GOOD


def write_template(name: str, folder: Path, *, objects: bool = False) -> tuple[Path, str]:
    """Write `name.py` into a folder and return its path and the name of its class; nothing is overwritten."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"{name!r} cannot name a Python file; use letters, digits and _, e.g. my_game")
    if name in sys.stdlib_module_names or _installed(name):
        raise UsageError(f"there is a module {name!r} already, which {name}.py would hide; choose another name")
    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}")
    member = "".join(word[:1].upper() + word[1:] for word in name.split("_")) or "Game"
    source = resources.files("anabranch.cli.templates").joinpath("objects.py" if objects else "records.py")
    text = source.read_text(encoding="utf-8").replace("class Pins", f"class {member}").replace('"pins"', f'"{name}"')
    path = folder / f"{name}.py"
    if not create_file(path, text.encode()):
        raise UsageError(f"{path} exists already and is left as it is; choose another name or --folder")
    return path, member


def _installed(name: str) -> bool:
    """Whether a package of that name is installed; files of one's own elsewhere do not count."""
    places = [place for place in sys.path if Path(place).name in ("site-packages", "dist-packages")]
    return name == "anabranch" or PathFinder.find_spec(name, places) is not None
