"""A picture: SVG text that a notebook shows and that goes to a file as SVG or PNG."""

from __future__ import annotations

import math
import os
import re
from functools import cached_property
from pathlib import Path
from xml.etree import ElementTree

from anabranch.draw.svg import MONO, document, element, text, text_width
from anabranch.errors import UsageError
from anabranch.files import replace_file

_NUMBER = re.compile(r"\s*((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*(px)?\s*", re.IGNORECASE)


class Picture:
    """A drawing as SVG text (`svg`), with its `width` and `height`; notebooks show it, `save` writes it to a file."""

    __slots__ = ("__dict__", "svg")

    svg: str

    def __init__(self, svg: str) -> None:
        self.svg = svg

    @cached_property
    def size(self) -> tuple[float, float]:
        """Width and height in pixels, as the outermost element says."""
        root = self._root
        if root.tag.rpartition("}")[2] != "svg":
            raise UsageError(f"a picture is one <svg> element, found <{root.tag}>")
        box = _numbers(root, "viewBox")
        given = [_NUMBER.fullmatch(root.get(name, "")) for name in ("width", "height")]
        sides = [float(match[1]) if match else None for match in given]
        if len(box) == 4:
            sides = [box[2 + at] if side is None else side for at, side in enumerate(sides)]
        if sides[0] is None or sides[1] is None or min(sides[0], sides[1]) <= 0 or math.inf in sides:
            raise UsageError("a picture needs width and height in pixels, or a viewBox, on its <svg> element")
        return sides[0], sides[1]

    @property
    def width(self) -> float:
        """Pixels across."""
        return self.size[0]

    @property
    def height(self) -> float:
        """Pixels from top to bottom."""
        return self.size[1]

    @cached_property
    def board(self) -> tuple[float, float, float, float]:
        """The part that small pictures show, as x, y, width, height: `data-board` of the element, else all of it."""
        given = _numbers(self._root, "data-board")
        whole = len(given) == 4 and min(given[2:]) > 0
        return (given[0], given[1], given[2], given[3]) if whole else (0.0, 0.0, *self.size)

    @cached_property
    def stones(self) -> tuple[str, ...]:
        """The colours players have on the board, if it says so: `data-stones` of the element."""
        return tuple(self._root.get("data-stones", "").split())

    def inside(
        self, x: float, y: float, width: float, height: float, *, only_board: bool = False, **attributes: str
    ) -> str:
        """Return the picture as an element of another one, as large as fits the box, in its middle."""
        box = self.board if only_board else (0.0, 0.0, *self.size)
        scale = min(width / box[2], height / box[3])
        across, down = box[2] * scale, box[3] * scale
        return element(
            "svg",
            self.svg[self.svg.index("<svg") :].strip(),  # without the declarations that only a file may begin with
            x=x + (width - across) / 2,
            y=y + (height - down) / 2,
            width=across,
            height=down,
            viewBox=" ".join(f"{part:g}" for part in box),
            **attributes,
        )

    def save(self, path: str | os.PathLike[str], *, scale: float = 2.0) -> Path:
        """Write the picture to a file that ends in .svg or .png; a PNG has `scale` dots to the pixel."""
        target = Path(path)
        ending = target.suffix.lower()
        if ending == ".svg":
            replace_file(target, self.svg.encode("utf-8", "replace"))
        elif ending == ".png":
            from anabranch.draw.png import png

            replace_file(target, png(self.svg, scale))
        else:
            raise UsageError(f"pictures are saved as .svg or .png, found {target.name!r}")
        return target

    @cached_property
    def _root(self) -> ElementTree.Element:
        try:
            return ElementTree.fromstring(self.svg)  # noqa: S314  (drawn in this process, by the library or a game)
        except ElementTree.ParseError as error:
            raise UsageError(f"this is not SVG: {error}; it begins {self.svg[:60]!r}") from None

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture {self.width:g}×{self.height:g}>"


def _numbers(element: ElementTree.Element, name: str) -> list[float]:
    """Return the numbers of an attribute, which must be finite."""
    said = element.get(name, "")
    try:
        numbers = [float(part) for part in said.replace(",", " ").split()]
    except ValueError:
        numbers = [math.nan]
    if not all(map(math.isfinite, numbers)):
        raise UsageError(f"{name} must be numbers, found {said[:60]!r}")
    return numbers


def text_picture(words: str, *, size: float = 13, placed: bool = False) -> Picture:
    """Return characters drawn as they would stand in a terminal.

    `placed` gives every letter a place of its own, so that boards stand straight in any font.
    """
    lines = words.expandtabs().splitlines() or [""]
    width = max(text_width(row, size, mono=True) for row in lines) + 24
    pitch = size * 1.35
    rows = [
        text(12 + text_width(row[:at], size, mono=True), 12 + size + number * pitch, part, size=size, font_family=MONO)
        for number, row in enumerate(lines)
        for at, part in (enumerate(row) if placed else [(0, row)])
        if part.strip()
    ]
    return Picture(document(max(width, 40), len(lines) * pitch + 22, *rows))


def as_html(picture: Picture, *, label: str = "") -> str:
    """Return a picture as an element of HTML that shrinks with the page."""
    style = "max-width:100%;height:auto"
    return picture.inside(0, 0, *picture.size, role="img", aria_label=label, style=style)
