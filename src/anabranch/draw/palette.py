"""The few colours every picture is made of; players and values are told apart by colour-blind readers too."""

from __future__ import annotations

import math

INK = "#1f2933"  # text and outlines
DARK = "#0c1218"  # text on colours
SOFT = "#616e7c"  # labels, less important text
FAINT = "#cbd2d9"  # rules, grids
PAPER = "#ffffff"  # every picture has its own background, so that it reads on dark pages too
WASH = "#f3f5f7"  # quiet areas
EDGE = "#9aa5b1"  # lines between things

# Blue, orange, green, purple, ochre, sky: hues after Okabe and Ito (2008), kept apart in lightness as well.
PLAYERS = ("#1f6fb2", "#e07b1a", "#1b9e77", "#8e4fa8", "#b8960c", "#56b4e9")

# The scale of values runs from the second player's orange over grey-white to the first player's blue.
_LOW, _MIDDLE, _HIGH = "#d96a08", "#f0f1f3", "#1660a5"


def player_colour(seat: int) -> str:
    """Return a player's colour; they repeat after six."""
    return PLAYERS[seat % len(PLAYERS)]


def value_colour(share: float) -> str:
    """Return the colour of a value: −1 the worst (orange), 0 the middle (pale), +1 the best (blue); NaN is pale."""
    share = 0.0 if math.isnan(share) else max(-1.0, min(1.0, share))
    # A power below 1 lets small leads be seen.
    return blend(_HIGH if share > 0 else _LOW, abs(share) ** 0.8)


def blend(colour: str, weight: float) -> str:
    """Return a colour mixed into pale grey; weight 1 leaves it as it is, 0 takes it away."""
    weight = max(0.0, min(1.0, weight))
    parts = [round(pale + (part - pale) * weight) for part, pale in zip(_parts(colour), _parts(_MIDDLE), strict=True)]
    return "#" + "".join(f"{part:02x}" for part in parts)


def ink_on(colour: str) -> str:
    """Return white or dark, whichever can be read on a colour given as #rrggbb."""
    shares = [part / 255 for part in _parts(colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in shares]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    # The contrast ratio of WCAG 2: white's is 1.05/(L + 0.05), that of so dark a text (L + 0.05)/0.056.
    return PAPER if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.056 else DARK


def _parts(colour: str) -> list[int]:
    """Return red, green and blue of #rrggbb."""
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
