"""SVG that only draws: nothing in it runs, nothing is fetched, and a browser reads it as an XML parser does.

Pictures go on into notebooks, pages and files, where a script or an address in them would act in the reader's name.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from anabranch.errors import UsageError

# What draws, and what describes a drawing (as Matplotlib writes it). No script, foreignObject, a, animate, set, …
_SHAPES = "circle ellipse line path polygon polyline rect text textPath tspan image use"
_PARTS = "clipPath defs desc filter g linearGradient marker mask metadata pattern radialGradient stop style svg symbol"
_FILTERS = (
    "feBlend feColorMatrix feComponentTransfer feComposite feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR "
    "feGaussianBlur feMerge feMergeNode feMorphology feOffset feTile feTurbulence"
)
_FACTS = "RDF Work type date format creator Agent title description rights publisher source language subject Bag li"
_ELEMENTS = frozenset(f"{_SHAPES} {_PARTS} {_FILTERS} {_FACTS}".split())
_WORDS_ONLY = ("title", "desc", "style")  # a page's parser reads elements in them by other rules
_INSIDE = re.compile(r"#|data:image/(png|jpeg|gif|webp)[;,]", re.IGNORECASE)  # addresses that lead nowhere else
_URL = re.compile(r"url\(\s*[\"']?\s*([^)]*)", re.IGNORECASE)
_STYLE = re.compile(r"@import|\\|(?<![\w-])(?:-webkit-)?(?:image-set|image|src|expression)\(", re.IGNORECASE)
_RUNS = re.compile(r"(javascript|vbscript)\s*:", re.IGNORECASE)
_BLANK = re.compile(r"[\x00-\x20]+")  # what browsers leave out of an address


def inert(svg: str) -> str:
    """Return a drawing without what only a file may begin with and without comments; raise UsageError if it is active.

    Whatever is not known to draw is refused. Comments and CDATA go because pages and files end them differently, so
    that what is a comment to one of them may be an element to the other.
    """
    if "<!ENTITY" in svg:
        raise UsageError("an entity declaration")
    try:
        plain = ElementTree.canonicalize(svg, with_comments=False) if "<!" in svg or "<?" in svg else svg.strip()
        root = ElementTree.fromstring(plain)  # noqa: S314  (no entities but XML's own)
    except (ElementTree.ParseError, ValueError) as error:
        raise UsageError(f"text that is not SVG: {error}; it begins {svg[:60]!r}") from None
    if "<?" in plain:
        raise UsageError("a processing instruction")
    if not plain.startswith("<svg"):
        raise UsageError(f"something else than one <svg> element: it begins {plain[:60]!r}")
    for part in root.iter():
        _look_at(part)
    return plain


def _look_at(part: ElementTree.Element) -> None:
    name = _local(part.tag)
    if name not in _ELEMENTS:
        raise UsageError(f"the element <{name}>, which does not only draw")
    if name in _WORDS_ONLY and len(part):
        raise UsageError(f"elements inside <{name}>")
    if name == "style":
        _look_at_style("".join(part.itertext()), "<style>")
    for key, value in part.attrib.items():
        word, where = _local(key), f"{_local(key)}={value[:60]!r} of <{name}>"
        if word.lower().startswith("on"):
            raise UsageError(f"{where}, which runs a script")
        if word.lower() in ("href", "src", "base") and not _INSIDE.match(_BLANK.sub("", value)):
            raise UsageError(f"{where}, which leads out of the picture")
        if _RUNS.search(_BLANK.sub("", value)):
            raise UsageError(f"{where}, which runs a script")
        if word.lower() not in ("aria-label", "href"):
            _look_at_style(value, where)


def _look_at_style(text: str, where: str) -> None:
    """Refuse what fetches something; a presentation attribute is style as well."""
    for address in _URL.findall(text):
        if not _INSIDE.match(address):
            raise UsageError(f"url({address[:60]}) in {where}, which leads out of the picture")
    found = _STYLE.search(text)
    if found:
        raise UsageError(f"{found[0]!r} in {where}, which could fetch something")


def _local(name: str) -> str:
    return name.rpartition("}")[2]
