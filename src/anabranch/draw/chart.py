"""Charts: numbers over time as lines with points, and intervals as bars around them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.draw.palette import FAINT, INK, SOFT, player_colour
from anabranch.draw.picture import Picture
from anabranch.draw.svg import circle, document, line, path, printed, rect, text, text_width

WIDTH, HEIGHT = 520.0, 280.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 16.0, 52.0, 40.0


@dataclass(frozen=True)
class Series:
    """One line of a chart: points (x, y) in order, and if wanted how far an interval reaches either way."""

    name: str
    points: Sequence[tuple[float, float]]
    reach: Sequence[float] | None = None


def chart(title: str, across: str, series: Sequence[Series]) -> Picture:
    """Return a chart of some series, which share both axes; `across` says what the horizontal one counts."""
    shown = [each for each in series if each.points]
    xs = [x for each in shown for x, _ in each.points] or [0.0, 1.0]
    ys = [y for each in shown for y in _ends(each)] or [0.0, 1.0]
    low, high, marks = ticks(min(ys), max(ys))
    left, right, below = min(xs), max(xs), ticks(min(xs), max(xs))[2]
    if left == right:  # one moment: in the middle, and told as it is
        left, right, below = left - 0.5, right + 0.5, [float(f"{left:.3g}")]

    def at(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + (x - left) / (right - left) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM),
        )

    parts = [text(LEFT, 20, title, size=14, font_weight="600")]
    for mark in marks:
        y = at(left, mark)[1]
        parts += [
            line(LEFT, y, WIDTH - RIGHT, y, stroke=FAINT),
            text(LEFT - 8, y + 4, told(mark), size=11, anchor="end"),
        ]
    for mark in below:
        if left <= mark <= right:
            parts.append(text(at(mark, low)[0], HEIGHT - BOTTOM + 16, told(mark), size=11, anchor="middle"))
    parts.append(text(WIDTH - RIGHT, HEIGHT - 8, across, size=11, anchor="end", fill=SOFT))
    begin = LEFT
    for number, each in enumerate(shown):
        colour = player_colour(number)
        parts += [rect(begin, 30, 10, 10, fill=colour, rx=2), text(begin + 14, 39, each.name, size=11, fill=INK)]
        begin += 28 + text_width(each.name, 11)
        places = [at(x, y) for x, y in each.points]
        steps = [step for place in places for step in ("L", *place)]
        parts.append(path("M", *steps[1:], stroke=colour, stroke_width=1.8))
        for place, (x, y), reach in zip(places, each.points, each.reach or [0.0] * len(places), strict=True):
            if reach:
                parts.append(line(*at(x, y - reach), *at(x, y + reach), stroke=colour, stroke_width=1.2))
            parts.append(circle(*place, 2.4, fill=colour))
    return Picture(document(WIDTH, HEIGHT, *parts))


def _ends(series: Series) -> list[float]:
    reach = series.reach or [0.0] * len(series.points)
    return [end for (_, y), each in zip(series.points, reach, strict=True) for end in (y - each, y + each)]


def ticks(low: float, high: float, about: int = 5) -> tuple[float, float, list[float]]:
    """Return a range around two numbers with round ends, and the round numbers in it: steps of 1, 2 or 5 times 10ⁿ."""
    if high - low < 1e-12 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return first * step, last * step, [number * step for number in range(first, last + 1)]


def told(number: float) -> str:
    """Return a number as an axis shows it."""
    if abs(number) >= 10_000:
        return printed(f"{number / 1000:g}k")
    return printed(f"{number:.6g}" if abs(number) > 1e-12 else "0")
