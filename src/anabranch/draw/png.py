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
    """Return the first family that draws anything: resvg leaves text out, without a word, if it has no font."""
    render = _renderer()
    sheet = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{}</svg>'
    blank = render(sheet.format("<g/>"), 1.0, "", "")
    for family in families:
        if render(sheet.format(f'<text x="1" y="8" font-family="{family}">M</text>'), 1.0, "", "") != blank:
            return family
    return None
