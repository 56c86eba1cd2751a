"""SVG that only draws: nothing in it runs, nothing is fetched, and it stays where it is put, in files and in pages.

Pictures go on into notebooks, pages and files, where a script or an address in them would act in the reader's name. So
a drawing is read as XML, compared with lists of what only draws, and written anew from what was found in them: elements
of SVG alone, attributes whose values were looked at, and text where text belongs. A page's parser then reads what an
XML parser reads. Names (`id`, `class`) get a beginning of their own and styles hold for the drawing alone, so that it
neither uses nor changes what else is on a page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from anabranch.draw.svg import clean
from anabranch.errors import UsageError

LONGEST = 4_000_000  # letters of a drawing
DEEPEST = 48  # elements inside elements
MOST = 100_000  # elements that are drawn, those counted again that <use> repeats
_REPEATS = 4  # <use> inside of what <use> shows


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SVG, _XLINK, _XML = (
    "{http://www.w3.org/2000/svg}",
    "{http://www.w3.org/1999/xlink}",
    "{http://www.w3.org/XML/1998/namespace}",
)
_OF_PAGES = ("{http://www.w3.org/1999/xhtml}", "{http://www.w3.org/1998/Math/MathML}")

# Elements. None that runs, moves or fetches: no script, foreignObject, a, animate, set, feImage, …
_TEXT = _words("text tspan textPath title desc style")  # what text belongs in
_NOTES = _words("title desc")  # a page's parser reads elements in them by other rules: their words stay alone
_ELEMENTS = _TEXT | _words(
    "circle ellipse line path polygon polyline rect image use svg g defs symbol clipPath mask marker pattern "
    "linearGradient radialGradient stop filter feBlend feColorMatrix feComponentTransfer feComposite feDropShadow "
    "feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge feMergeNode feMorphology feOffset feTile "
    "feTurbulence"
)
_REFER = _words("use image textPath linearGradient radialGradient pattern filter")  # have an href

# Attributes. Those of the first list may stand in styles too.
_PROPERTIES = _words(
    "alignment-baseline baseline-shift clip-path clip-rule color color-interpolation color-interpolation-filters "
    "color-rendering cx cy direction display dominant-baseline fill fill-opacity fill-rule filter flood-color "
    "flood-opacity font font-family font-size font-size-adjust font-stretch font-style font-variant font-weight height "
    "image-rendering isolation letter-spacing lighting-color marker marker-end marker-mid marker-start mask mask-type "
    "mix-blend-mode opacity overflow paint-order r rx ry shape-rendering stop-color stop-opacity stroke "
    "stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width "
    "text-anchor text-decoration text-rendering transform transform-box transform-origin unicode-bidi vector-effect "
    "visibility white-space width word-spacing writing-mode x y"
)
_ATTRIBUTES = _PROPERTIES | _words(
    "amplitude aria-hidden baseFrequency baseProfile clipPathUnits d data-board data-stones dx dy edgeMode exponent "
    "filterUnits fr fx fy gradientTransform gradientUnits in in2 intercept k1 k2 k3 k4 lang lengthAdjust markerHeight "
    "markerUnits markerWidth maskContentUnits maskUnits method mode numOctaves offset operator orient pathLength "
    "patternContentUnits patternTransform patternUnits points preserveAspectRatio primitiveUnits radius refX refY "
    "result role rotate scale seed side slope spacing spreadMethod startOffset stdDeviation stitchTiles tableValues "
    "textLength type values version viewBox x1 x2 y1 y2"
)
_SAYS = _words("aria-label aria-description aria-roledescription")  # any words
_OF_XML = {f"{_XML}space": "xml:space", f"{_XML}lang": "xml:lang"}

# Values: no escapes, no marks that end one value and begin another, no addresses, and of functions only these.
_PLAIN = re.compile(r"[\w\s.,%#+\-()/'\"]*")
_FUNCTION = re.compile(r"([\w-]*)\s*\(")
_FUNCTIONS = _words(
    "url rgb rgba hsl hsla hwb lab lch oklab oklch translate translatex translatey scale scalex scaley rotate skewx "
    "skewy matrix blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia"
)
_URL = re.compile(r"url\s*\(\s*(['\"]?)\s*#([\w.-]+)\s*\1\s*\)", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_PIXELS = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_RULE = re.compile(r"\s*([^{}]*)\{([^{}]*)\}\s*")
_SELECTOR = re.compile(r"([\w.#*-]+)([\w\s.#*>+~-]*)", re.ASCII)


def inert(svg: str) -> str:
    """Return a drawing that only draws, written anew; raise UsageError, which names what else was found."""
    if len(svg) > LONGEST:
        raise UsageError(f"{len(svg):,} letters; at most {LONGEST:,} are drawn")
    if "<!ENTITY" in svg:
        raise UsageError("an entity declaration")
    try:
        root: ElementTree.Element = ElementTree.fromstring(svg, ElementTree.XMLParser(target=_Builder()))  # noqa: S314
    except (ElementTree.ParseError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"text that is not SVG: {error}; it begins {svg[:60]!r}") from None
    if _local(root.tag) != "svg":
        raise UsageError(f"something else than one <svg> element: <{_local(root.tag)}>")
    return _Writer(root, svg).written()


class _Builder(ElementTree.TreeBuilder):
    """Builds a tree that is not too deep and has no processing instructions; comments are left out."""

    def __init__(self) -> None:
        super().__init__()
        self._depth = 0

    def start(self, tag: str, attributes: dict[str, str], /) -> ElementTree.Element:
        self._depth += 1
        if self._depth > DEEPEST:
            raise UsageError(f"<{_local(tag)}> inside {DEEPEST} other elements; fewer are drawn")
        return super().start(tag, attributes)

    def end(self, tag: str, /) -> ElementTree.Element:
        self._depth -= 1
        return super().end(tag)

    def pi(self, target: str, text: str | None = None) -> None:  # type: ignore[override]
        raise UsageError(f"a processing instruction, <?{target[:60]}")


class _Writer:
    """Writes a drawing anew, element by element; whatever is on no list is refused."""

    def __init__(self, root: ElementTree.Element, text: str) -> None:
        self._root = root
        self._mark = f"d{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:10]}"  # begins names of its own
        self._linked = any(key.startswith(_XLINK) for part in root.iter() for key in part.attrib)
        self._styled = any(_local(part.tag) == "style" for part in root.iter())

    def written(self) -> str:
        """Return the whole drawing."""
        self._count()
        return "".join(self._element(self._root))

    def _element(self, part: ElementTree.Element) -> Iterator[str]:
        name = _name(part)
        yield f"<{name}{self._attributes(part, name)}"
        inside = "".join(self._inside(part, name))
        yield f">{inside}</{name}>" if inside else "/>"

    def _inside(self, part: ElementTree.Element, name: str) -> Iterator[str]:
        if name == "style":
            if len(part):
                raise UsageError("elements inside <style>")
            yield clean(self._rules(part.text or ""))
            return
        if name in _NOTES:
            yield clean("".join(part.itertext()))
            return
        if name in _TEXT and part.text:
            yield clean(part.text)
        for child in part:
            if not _left_out(child):
                yield from self._element(child)
            if name in _TEXT and child.tail:
                yield clean(child.tail)

    def _attributes(self, part: ElementTree.Element, name: str) -> str:
        """Return the attributes of an element as they are written; notes of drawing programs are left out."""
        told = {}
        if part is self._root:
            told["xmlns"] = _SVG[1:-1]
            if self._linked:
                told["xmlns:xlink"] = _XLINK[1:-1]
        for key, value in part.attrib.items():
            if key in _OF_XML:
                told[_OF_XML[key]] = _checked(value, f"{_OF_XML[key]} of <{name}>")
            elif key == f"{_XLINK}href":
                told["xlink:href"] = self._address(value, name)
            elif not _note(key):
                told[key] = self._attribute(name, key, value)
        if part is self._root and self._styled:
            told["class"] = " ".join([self._mark, *filter(None, [told.get("class")])])
        return "".join(f' {key}="{_escaped(value)}"' for key, value in told.items())

    def _attribute(self, name: str, key: str, value: str) -> str:
        where = f"{key}={value[:60]!r} of <{name}>"
        if key == "href":
            return self._address(value, name)
        if key == "id":
            return self._own(value, where)
        if key == "class":
            return " ".join(self._own(word, where) for word in value.split())
        if key == "style":
            return ";".join(self._declarations(value, where))
        if key in _SAYS:
            return value
        if key == "type" and name == "style":
            if value.strip() != "text/css":
                raise UsageError(f"{where}, which is no style that is drawn")
            return "text/css"
        if key not in _ATTRIBUTES:
            runs = key.lower().startswith("on")
            raise UsageError(
                f"{where}, which {'runs a script' if runs else 'is none of the attributes that only draw'}"
            )
        return self._with_names(_checked(value, where))

    def _address(self, value: str, name: str) -> str:
        """Return the address of something in the drawing, or pixels; all else leads out of it."""
        where, word = f"href={value[:60]!r} of <{name}>", value.strip()
        if name not in _REFER:
            raise UsageError(f"{where}, which is no element that refers to others")
        if word.startswith("#"):
            return "#" + self._own(word[1:], where)
        if name == "image" and _PIXELS.fullmatch(word):
            return word
        raise UsageError(f"{where}, which leads out of the picture")

    def _own(self, name: str, where: str) -> str:
        """Return a name as it is called in this drawing alone."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{where}: a name has letters, digits and the marks _ . - alone")
        return f"{self._mark}-{name}"

    def _with_names(self, value: str) -> str:
        return _URL.sub(lambda found: f"url(#{self._mark}-{found[2]})", value)

    def _declarations(self, text: str, where: str) -> Iterator[str]:
        """Yield what a style says, `name:value`."""
        for declaration in filter(str.strip, text.split(";")):
            name, colon, value = declaration.partition(":")
            name = name.strip().lower()
            if not colon or name not in _PROPERTIES:
                raise UsageError(f"{declaration.strip()[:60]!r} in {where}, which is no style that only draws")
            yield f"{name}:{self._with_names(_checked(value.strip(), where))}"

    def _rules(self, text: str) -> str:
        """Return a style sheet that holds for this drawing alone."""
        rest, told, at = _COMMENT.sub(" ", text), [], 0
        while rest[at:].strip():
            rule = _RULE.match(rest, at)
            if rule is None or "@" in rule[1]:
                raise UsageError(f"{rest[at:].strip()[:60]!r} in <style>, which is no rule that only draws")
            selectors = [self._selector(word.strip()) for word in rule[1].split(",")]
            told.append(f"{','.join(selectors)}{{{';'.join(self._declarations(rule[2], '<style>'))}}}")
            at = rule.end()
        return "".join(told)

    def _selector(self, text: str) -> str:
        found = _SELECTOR.fullmatch(text)
        if found is None:
            raise UsageError(f"{text[:60]!r} in <style>: only names of elements, .classes and #ids are selected")
        first, rest = (re.sub(r"([.#])", rf"\1{self._mark}-", word) for word in found.groups())
        return f".{self._mark} {first}{rest},{first}.{self._mark}{rest}"

    def _count(self) -> None:
        """Refuse a drawing that is small as text and endless when drawn: each <use> shows its element once more."""
        named = {part.get("id"): part for part in self._root.iter() if part.get("id")}
        count = 0

        def look(part: ElementTree.Element, repeats: int) -> None:
            nonlocal count
            count += 1
            if count > MOST:
                raise UsageError(f"more than {MOST:,} elements, those counted that <use> repeats")
            for child in part:
                look(child, repeats)
            shown = named.get((part.get("href") or part.get(f"{_XLINK}href") or "").strip().removeprefix("#"))
            if _local(part.tag) == "use" and shown is not None:
                if repeats == _REPEATS:
                    raise UsageError(f"<use> inside of what <use> shows, more than {_REPEATS} times, or for ever")
                look(shown, repeats + 1)

        look(self._root, 0)


def _left_out(part: ElementTree.Element) -> bool:
    """Whether an element is a note of the program that drew it: metadata, or of a namespace that nobody draws."""
    return _local(part.tag) == "metadata" or (part.tag.startswith("{") and not part.tag.startswith((_SVG, *_OF_PAGES)))


def _note(key: str) -> bool:
    """Whether an attribute is a note for programs: of a namespace of its own, or an unknown data-… or aria-…."""
    return key.startswith("{") or (key.startswith(("data-", "aria-")) and key not in _ATTRIBUTES | _SAYS)


def _name(part: ElementTree.Element) -> str:
    """Return the name of an element that is on the list, of SVG or of no namespace at all."""
    name = part.tag.removeprefix(_SVG)
    if name not in _ELEMENTS:
        raise UsageError(f"the element <{_local(part.tag)}>, which is none of those that only draw")
    return name


def _checked(value: str, where: str) -> str:
    """Return a value that only says how to draw."""
    for function in _FUNCTION.findall(value):
        if function.lower() not in _FUNCTIONS:
            raise UsageError(f"{function}(…) in {where}, which could fetch something")
    if [function.lower() for function in _FUNCTION.findall(value)].count("url") != len(_URL.findall(value)):
        raise UsageError(f"a url(…) in {where}, which leads out of the picture")
    if not _PLAIN.fullmatch(value):
        wrong = _PLAIN.sub("", value)[:1]
        raise UsageError(f"{wrong!r} in {where}, where only names and numbers are drawn")
    return value


def _escaped(value: str) -> str:
    return clean(value).replace("\t", "&#9;").replace("\n", "&#10;").replace("\r", "&#13;")


def _local(name: str) -> str:
    return name.rpartition("}")[2]
