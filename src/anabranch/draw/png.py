"""SVG to PNG through resvg, which needs no system library; fonts are the system's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from anabranch.errors import MissingExtraError, UsageError

# Common families in the order they are tried; a browser chooses its own.
_SANS = ("Helvetica Neue", "Helvetica", "Arial", "Liberation Sans", "DejaVu Sans", "Noto Sans", "Segoe UI", "Verdana")
_MONO = ("Menlo", "Consolas", "Liberation Mono", "DejaVu Sans Mono", "Noto Sans Mono", "Courier New")


def png(svg: str, scale: float = 2.0) -> bytes:
    """Return a PNG of SVG text, `scale` dots to the pixel."""
    render = _renderer()
    if not 0.01 <= scale <= 100:
        raise UsageError(f"scale must lie between 0.01 and 100, found {scale!r}")
    sans, mono = _installed(_SANS), _installed(_MONO)
    if sans is None and mono is None and "<text" in svg:
        raise UsageError(
            "a PNG needs a font for its text, and none of the usual ones is installed "
            "(on Debian and Ubuntu: apt install fonts-dejavu-core); or save the picture as .svg"
        )
    try:
        return render(svg, scale, sans or mono or "", mono or sans or "")
    except ValueError as error:
        raise UsageError(f"the picture cannot be turned into a PNG: {error}") from None


def check_png() -> None:
    """Raise now what saving a PNG would raise later for want of what draws it."""
    _renderer()


@cache
def _renderer() -> Callable[[str, float, str, str], bytes]:
    try:
        from resvg_py import svg_to_bytes
    except ImportError:
        raise MissingExtraError("resvg_py", "png", "saving pictures as PNG") from None

    def render(svg: str, scale: float, sans: str, mono: str) -> bytes:
        return bytes(svg_to_bytes(svg_string=svg, zoom=scale, sans_serif_family=sans, monospace_family=mono))

    return render


@cache
def _installed(families: Sequence[str]) -> str | None:
    """Return the first family that there is, the first of all if there is another font instead, None without any.

    resvg does not say: it draws what it has instead, or leaves text out.
    """
    render = _renderer()
    sheet = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="14">{}</svg>'

    def drawn(family: str) -> bytes:
        return render(sheet.format(f'<text x="1" y="11" font-family="{family}">Mil1</text>'), 1.0, "", "")

    instead = drawn("no font of this name")
    for family in families:
        if drawn(family) != instead:
            return family
    return families[0] if instead != render(sheet.format("<g/>"), 1.0, "", "") else None
