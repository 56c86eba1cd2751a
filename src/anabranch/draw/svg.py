"""SVG as text: elements with escaped contents, a few shapes, and pictures inside pictures."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import Any

from anabranch.draw.palette import INK, PAPER

SANS = "system-ui, sans-serif"
MONO = "ui-monospace, monospace"
# What XML 1.0 does not allow, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text: str) -> str:
    """Return text that may stand in XML and HTML: marks escaped, control characters replaced."""
    return escape(_FORBIDDEN.sub("\ufffd", text))


def element(name: str, *inside: str, **attributes: Any) -> str:
    """Return an element; `inside` is SVG already, attributes are escaped and those that are None left out.

    Underscores in names of attributes become hyphens, and one at the end is dropped (`class_`).
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(inside)
    return f"<{name}{given}>{content}</{name}>" if content else f"<{name}{given}/>"


def rect(x: float, y: float, width: float, height: float, **attributes: Any) -> str:
    """Return a rectangle; `rx` rounds its corners."""
    return element("rect", x=x, y=y, width=max(0.0, width), height=max(0.0, height), **attributes)


def circle(x: float, y: float, radius: float, **attributes: Any) -> str:
    """Return a disc or, with fill "none", a ring."""
    return element("circle", cx=x, cy=y, r=radius, **attributes)


def line(x1: float, y1: float, x2: float, y2: float, **attributes: Any) -> str:
    """Return a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, **attributes)


def path(*steps: str | float, **attributes: Any) -> str:
    """Return a path given as commands and numbers: "M", 0, 0, "L", 5, 5."""
    words = " ".join(step if isinstance(step, str) else _attribute(step) for step in steps)
    return element("path", d=words, **{"fill": "none", **attributes})


def polygon(points: Sequence[tuple[float, float]], **attributes: Any) -> str:
    """Return a closed shape with straight sides."""
    return element("polygon", points=" ".join(f"{_attribute(x)},{_attribute(y)}" for x, y in points), **attributes)


def text(x: float, y: float, words: str, *, size: float = 13, anchor: str | None = None, **attributes: Any) -> str:
    """Return one line of text on the baseline y; `anchor` is middle or end, the start if not given."""
    attributes = {"fill": INK, **attributes}
    # Spaces are kept as they are: boards in characters depend on them.
    keep = "preserve" if "  " in words or words[:1] == " " else None
    shown = element("text", clean(words), x=x, y=y, font_size=size, text_anchor=anchor, xml_space=keep, **attributes)
    return shown.replace("xml-space=", "xml:space=", 1)


def group(*inside: str, x: float = 0, y: float = 0, **attributes: Any) -> str:
    """Return shapes moved to a place."""
    moved = f"translate({_attribute(x)} {_attribute(y)})" if x or y else None
    return element("g", *inside, transform=moved, **attributes)


def document(
    width: float,
    height: float,
    *inside: str,
    background: str | None = PAPER,
    board: tuple[float, float, float, float] | None = None,
    stones: Sequence[str] = (),
    fluid: bool = False,
) -> str:
    """Return a whole picture with a background of its own (None leaves it out).

    `board` is x, y, width and height of what small pictures show, without the labels around it; `stones` are the
    colours players have on it. A `fluid` picture shrinks with the page; it cannot stand inside another one.
    """
    ground = [] if background is None else [rect(0, 0, width, height, fill=background, rx=6)]
    return element(
        "svg",
        *ground,
        *inside,
        xmlns="http://www.w3.org/2000/svg",
        width=width,
        height=height,
        viewBox=f"0 0 {_attribute(width)} {_attribute(height)}",
        font_family=SANS,
        data_board=None if board is None else " ".join(map(_attribute, board)),
        data_stones=" ".join(stones) or None,
        style="max-width:100%;height:auto" if fluid else None,
    )


def text_width(words: str, size: float, *, mono: bool = False, bold: bool = False) -> float:
    """Return about how wide a line of text is, rather too wide than too narrow: fonts differ."""
    if mono:
        return size * 0.61 * sum(_places(letter) for letter in words)
    return size * (1.1 if bold else 1.0) * sum(_share(letter) for letter in words)


def _places(letter: str) -> int:
    """Return how many places a letter takes where all are as wide as each other."""
    return 0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _share(letter: str) -> float:
    """Return the width of a letter as a share of the size: the widest of the usual fonts without serifs."""
    places = _places(letter)
    if places != 1:
        return 1.05 * places / 2
    if letter in " .,:;|!'`ijlIJft()[]{}r-/":
        return 0.4
    if letter in "mwMW@%…—":
        return 1.0
    if letter in "+−=<>~#×":
        return 0.84
    return 0.8 if letter.isupper() else 0.64


def printed(number: str) -> str:
    """Return a number with the minus of print instead of the hyphen of keyboards."""
    return number.replace("-", "−")


def shortened(words: str, most: int) -> str:
    """Return text of at most so many letters, with … for what was cut."""
    return words if len(words) <= most else words[: max(0, most - 1)].rstrip() + "…"


def _attribute(value: Any) -> str:
    if isinstance(value, float):  # a hundredth of a pixel is enough, and no "-0" or "5.0"
        short = f"{value:.2f}".rstrip("0").rstrip(".")
        return "0" if short == "-0" else short
    return clean(str(value))
