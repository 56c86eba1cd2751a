"""Pictures of users' games go on into notebooks and files: nothing in them may run, be fetched, or leave its place."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

import html5lib
import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as some

import anabranch as ab
from anabranch.draw import inert as lists
from anabranch.draw.inert import inert
from anabranch.errors import GameError, UsageError
from anabranch.game.pictures import board_picture

SVG = "{http://www.w3.org/2000/svg}"
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 10 10"'


class Drawn(ab.ObjectGame):
    """A game of one move that draws what it is told."""

    def __init__(self, drawing: Any) -> None:
        self.players, self.actions, self.drawing = 1, 1, drawing

    def setup(self, random):
        return 0

    def turn(self, state):
        return ab.player(0) if state == 0 else ab.OVER

    def legal(self, state, player):
        return [0]

    def step(self, state, actions):
        return 1, [0.0]

    def svg(self, state):
        return self.drawing


def shown(inside: str) -> str:
    return Drawn(f"{HEAD}>{inside}</svg>").start().picture().svg


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ("<script>alert(1)</script>", "<script>"),
        ("<g><SCRIPT/></g>", "<SCRIPT>"),
        ('<h:script xmlns:h="http://www.w3.org/1999/xhtml"/>', "<script>"),
        ('<h:rect xmlns:h="http://www.w3.org/1999/xhtml"/>', "<rect>"),
        ('<rect onload="alert(1)"/>', "onload='alert(1)' of <rect>, which runs a script"),
        ('<rect onClick="alert(1)"/>', "onClick"),
        ("<foreignObject/>", "<foreignObject>"),
        ('<a href="https://example.org"><rect/></a>', "<a>"),
        ('<animate attributeName="href" to="#x"/>', "<animate>"),
        ('<set attributeName="href" to="#x"/>', "<set>"),
        ('<feImage href="https://example.org"/>', "<feImage>"),
        ('<use href="javascript:alert(1)"/>', "leads out"),
        ('<use xlink:href=" java&#10;script:alert(1)"/>', "leads out"),
        ('<rect href="#x"/>', "href='#x' of <rect>"),
        ('<image href="https://example.org/x.png"/>', "example.org"),
        ('<image xlink:href="//example.org/x.png"/>', "example.org"),
        ('<image href="data:image/svg+xml,x"/>', "leads out"),
        ('<image href="data:image/png,x"/>', "leads out"),
        ('<use href="data:image/png;base64,AAAA"/>', "leads out"),
        ('<image srcset="https://example.org/x.png 1x" href="#x"/>', "srcset"),
        ('<image src="https://example.org/x.png"/>', "src="),
        ('<use href="other.svg#x"/>', "leads out"),
        ("<style>@import 'https://example.org';</style>", "@import"),
        ("<style><![CDATA[@IMPORT 'https://example.org';]]></style>", "@IMPORT"),
        ("<style>@font-face{src:url(https://example.org)}</style>", "@font-face"),
        ("<style>rect{fill:url( 'https://example.org')}</style>", "url(…)"),
        ("<style>rect{fill:u/**/rl(https://example.org)}</style>", "rl(…)"),
        (r"<style>rect{fill:\75rl(https://example.org)}</style>", "fetch"),
        (r"<style>rect{fill:\75 red}</style>", "'\\\\'"),
        ('<style>rect{background:image-set("https://example.org" 1x)}</style>', "background"),
        ('<style>rect{fill:image-set("https://example.org" 1x)}</style>', "image-set(…)"),
        ("<style>rect{position:fixed}</style>", "position"),
        ("<style>rect:hover{fill:red}</style>", "rect:hover"),
        ("<style>a[href]{fill:red}</style>", "a[href]"),
        ("<style>rect{fill:red</style>", "rect{fill:red"),
        ('<style type="text/less">rect{fill:red}</style>', "text/less"),
        ('<rect fill="url(https://example.org/#x)"/>', "url(…) in fill"),
        ('<rect fill="url (https://example.org/#x)"/>', "url(…) in fill"),
        ('<rect style="fill:URL(//example.org)"/>', "url(…) in style"),
        ('<rect style="fill:var(--x)"/>', "var(…)"),
        ('<rect style="fill:red;position:fixed"/>', "position:fixed"),
        ('<rect fill="red;position:fixed"/>', "';'"),
        ('<g xml:base="https://example.org"><rect/></g><script/>', "<script>"),
        ('<g id="a b"/>', "id='a b'"),
        ("<style>rect{}<g/></style>", "inside <style>"),
        ("<style><desc>@import 'x'</desc></style>", "inside <style>"),
        ("<text><desc/><script/></text>", "<script>"),
        ('<m:mtext xmlns:m="http://www.w3.org/1998/Math/MathML"/>', "<mtext>"),
        ("<?xml-stylesheet href='x.css'?>", "processing instruction"),
        ("<p/>", "<p>"),
        ("<li><image/></li>", "<li>"),
        ("<g>" * 60 + "</g>" * 60, "<g> inside 48 other elements"),
    ],
)
def test_active_content_is_refused_by_name(inside, found):
    """By every way a board is drawn: its picture, its HTML, and the pictures that have it inside."""
    state = Drawn(f"{HEAD}>{inside}</svg>").start()
    for draw in (state.picture, state._repr_html_):
        with pytest.raises(GameError) as caught:
            draw()
        assert found in str(caught.value)
        assert state.game.name in str(caught.value)


def words(text: str) -> list[str]:
    return text.split()


HTML = words(
    "a abbr address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote "
    "body br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog "
    "dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 "
    "head header hgroup hr html i iframe img input ins kbd keygen label legend li link listing main map "
    "mark marquee math menu meta meter nav nobr noembed noframes noscript object ol optgroup option "
    "output p param picture plaintext pre progress q rp rt ruby s samp script section select slot small "
    "source span strike strong sub summary sup table tbody td template textarea tfoot th thead time tr "
    "track tt u ul var video wbr xmp foreignObject annotation-xml mi mtext"
)


@pytest.mark.parametrize("name", HTML)
def test_no_element_of_html_is_drawn(name):
    """Most of them end the SVG in a page's parser; what follows is then read as HTML."""
    for text in (f"<{name}/>", f"<{name.upper()}/>", f"<g><{name} color='red'>x</{name}></g>"):
        with pytest.raises(UsageError, match=f"(?i)<{name}>"):
            inert(f"{HEAD}>{text}</svg>")


@pytest.mark.parametrize(
    ("drawing", "found"),
    [
        (7, "int"),
        (b"<svg/>", "bytes"),
        ("", "not SVG"),
        ("<svg", "not SVG"),
        ("\ud800<svg/>", "not SVG"),
        ("<html/>", "one <svg>"),
        ("<svg/>", "width and height"),
        ('<svg viewBox="0 0 nan inf"/>', "viewBox"),
        ('<svg viewBox="0 0 ten ten"/>', "viewBox"),
        ('<svg viewBox="0 0 1e999 5"/>', "viewBox"),
        (f'<svg width="{"9" * 400}" height="5"/>', "width"),
        ('<svg width="1.2.3" height="5"/>', "width"),
        ('<svg width="9" height="9" data-board="0 0 nan 1"/>', "data-board"),
        ('<svg width="9" height="9" data-stones="url(https://example.org)"/>', "data-stones"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg width="9" height="9"/>', "entity"),
        ('<?xml-stylesheet href="x.css"?><svg width="9" height="9"/>', "processing instruction"),
        ('<svg width="9" height="9">' + " " * 4_000_000 + "</svg>", "at most 4,000,000"),
    ],
)
def test_what_is_no_picture_is_the_games_error(drawing, found):
    with pytest.raises(GameError, match=found):
        Drawn(drawing).start().picture()


def test_what_only_draws_stays():
    inside = (
        '<defs><linearGradient><stop offset="0" stop-color="red"/></linearGradient></defs>'
        '<rect fill="rgb(1, 2, 3)" width="5" height="5" transform="translate(1 2) rotate(30)"/>'
        '<image href="data:image/png;base64,AAAA"/>'
        "<text>once upon: javascript, url(x), on &amp; off<tspan>!</tspan> </text><title>&lt;b&gt;</title>"
        '<path d="M0 0L1e-3,2.5z" style="fill:none;stroke-dasharray:1 2;font-family:Curlz, serif"/>'
    )
    assert inside in shown(inside)


def test_names_are_the_drawings_own():
    """References lead to what they led to, inside of the drawing alone; styles hold inside of it alone."""
    inside = (
        '<defs><linearGradient id="g"/><g id="part"><rect class="a b"/></g></defs><style>.a, #part > * {fill: url(#g)}'
        "</style><use href='#part'/><use xlink:href=\"#cookie\"/><rect filter=\"url( '#part' )\" style='mask:url(#g)'/>"
    )
    one, other = (inert(f'{HEAD} class="whole"{more}>{inside}</svg>') for more in ("", " "))
    root = ElementTree.fromstring(one)
    mark, whole = root.get("class", "").split()
    assert whole == f"{mark}-whole"
    assert other.split('class="')[1].split()[0] != mark
    found = {key: [part.get(key) for part in root.iter() if part.get(key)] for key in ("id", "class", "href", "mask")}
    assert found["id"] == [f"{mark}-g", f"{mark}-part"]
    assert found["class"][1:] == [f"{mark}-a {mark}-b"]
    assert found["href"] == [f"#{mark}-part"]
    assert f'xlink:href="#{mark}-cookie"' in one
    assert f'filter="url(#{mark}-part)"' in one
    assert f'style="mask:url(#{mark}-g)"' in one
    (style,) = root.iter(f"{SVG}style")
    assert style.text == (
        f".{mark} .{mark}-a,.{mark}-a.{mark},.{mark} #{mark}-part > *,#{mark}-part.{mark} > *{{fill:url(#{mark}-g)}}"
    )


MATPLOTLIB = """<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="72pt" height="72pt" viewBox="0 0 72 72"
 xmlns="http://www.w3.org/2000/svg" version="1.1">
 <metadata>
  <rdf:RDF xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:cc="http://creativecommons.org/ns#"
   xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
   <cc:Work><dc:type rdf:resource="http://purl.org/dc/dcmitype/StillImage"/><dc:date>2026</dc:date>
    <dc:creator><cc:Agent><dc:title>Matplotlib</dc:title></cc:Agent></dc:creator></cc:Work>
  </rdf:RDF>
 </metadata>
 <defs><style type="text/css">*{stroke-linejoin: round; stroke-linecap: butt}</style></defs>
 <g id="figure_1"><g id="patch_1"><path d="M 0 72 L 72 72 z" style="fill: #ffffff"/></g>
  <g id="matplotlib.axis_1"><g clip-path="url(#p1)"><use xlink:href="#m1" x="9" y="5" style="stroke: #000000"/></g>
   <text style="font: 10px 'DejaVu Sans', sans-serif; text-anchor: middle" x="9">once</text></g></g>
 <defs><path id="m1" d="M 0 0"/><clipPath id="p1"><rect x="1" y="1" width="9" height="9"/></clipPath></defs>
</svg>"""


def test_drawings_of_a_drawing_library_stay():
    """What Matplotlib writes: its notes go, its shapes, styles and references stay."""
    text = Drawn(MATPLOTLIB).start().picture().svg
    assert "RDF" not in text
    assert "purl" not in text
    mark = text.split("stroke-linejoin:round")[0].rpartition("{")[0].rpartition(".")[2]
    assert f'<use xlink:href="#{mark}-m1" x="9" y="5" style="stroke:#000000"/>' in text
    assert f'clip-path="url(#{mark}-p1)"' in text
    assert "font:10px &#x27;DejaVu Sans&#x27;, sans-serif;text-anchor:middle" in text


# Pieces as definitions, a board with its text in <desc>, references of both kinds, gradients, transforms, classes, a
# style: all that drawings of chess boards by a well-known library are made of.
CHESS = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 30 30"
 width="350" height="350"><style>.square.light{fill:#eee} text.coord { fill: red; }</style><desc><pre>r n &lt;k&gt;
. . P</pre></desc><defs><g id="white-pawn" class="white pawn"><path d="M 2.5 9c-2.21 0-4 1.79-4 4z" fill="#fff"
 stroke="#000" stroke-width="1.5" stroke-linecap="round" /></g><g id="white-knight" class="white knight" fill="none"
 fill-rule="evenodd"><path d="M 5 5.5 A 0.5 1.5 0 1 1 4,5.5 z" transform="matrix(0.866,0.5,-0.5,0.866,9.693,-5.173)"
 style="fill:#ffffff; stroke:#000000;" /></g><radialGradient id="check" r="0.5"><stop offset="0%" stop-color="#ff0000"
 stop-opacity="1.0" /><stop offset="100%" stop-color="#9e0000" stop-opacity="0.0" /></radialGradient><symbol id="s"
 viewBox="0 0 9 9"><title>check</title><circle r="3" /></symbol></defs><rect x="1" y="1" width="10" height="10"
 class="square light a1" stroke="none" fill="#f0d9b5cc" /><rect x="1" width="9" height="9" fill="url(#check)" />
<use href="#white-pawn" xlink:href="#white-pawn" transform="translate(10, 10)" /><use xlink:href="#s" x="3" />
<g transform="translate(20, 1) scale(.75, .75)" fill="#e5e5e5" stroke="#e5e5e5"><path d="M1 1h2v3z" /></g>
<line x1="5" y1="9" x2="5" y2="3" stroke="#15781B" opacity="0.5" class="arrow" /></svg>"""


def test_drawings_of_boards_by_other_libraries_stay():
    """All of it as it was, but names, which are the drawing's own, and elements in <desc>, of which the words stay."""
    text = inert(CHESS)
    mark = text.split('class="')[1].split('"')[0]
    root = ElementTree.fromstring(text)
    names = [part.get("id") for part in root.iter() if part.get("id")]
    assert names == [f"{mark}-{name}" for name in ("white-pawn", "white-knight", "check", "s")]
    assert [part.text for part in root.iter(f"{SVG}desc")] == ["r n <k>\n. . P"]
    assert text.count(f"#{mark}-white-pawn") == 2
    assert f'fill="url(#{mark}-check)"' in text
    assert f'class="{mark}-square {mark}-light {mark}-a1"' in text
    assert f".{mark} .{mark}-square.{mark}-light" in text
    assert 'transform="matrix(0.866,0.5,-0.5,0.866,9.693,-5.173)"' in text
    kept = [part.tag for part in ElementTree.fromstring(CHESS.replace("<pre>", "").replace("</pre>", "")).iter()]
    assert [part.tag for part in root.iter()] == kept
    assert board_picture(Drawn(CHESS).start()).size == (350.0, 350.0)
    for shown_as in (text, Drawn(CHESS).start()._repr_html_()):
        assert same(as_a_page_reads(shown_as), ElementTree.fromstring(shown_as))


def test_boards_on_one_page_do_not_use_each_others_pieces():
    other = CHESS.replace("M 2.5 9", "M 2.5 8")
    found = [set(re.findall(r'id="([^"]*)"', inert(text))) for text in (CHESS, other)]
    assert len(found[0]) == len(found[1]) == 4
    assert not found[0] & found[1]
    for text in (CHESS, other):
        drawn = inert(text)
        led = re.findall(r'(?:href="|url\()#([^")]*)', drawn)
        assert led
        assert set(led) <= set(re.findall(r'id="([^"]*)"', drawn))


@pytest.mark.parametrize(
    ("note", "left"),
    [
        ("<desc><script>alert(1)</script></desc>", "<desc>alert(1)</desc>"),
        ('<desc><h:img xmlns:h="http://www.w3.org/1999/xhtml" src="x" onerror="alert(1)"/></desc>', "<desc/>"),
        ('<title><a href="javascript:alert(1)">a<b/>c</a>d</title>', "<title>acd</title>"),
        ("<title>&lt;/title&gt;&lt;script&gt;</title>", "<title>&lt;/title&gt;&lt;script&gt;</title>"),
        ("<desc><style>@import 'x'</style></desc>", "<desc>@import &#x27;x&#x27;</desc>"),
        ("<desc><foreignObject><p><svg/></p></foreignObject></desc>", "<desc/>"),
        ('<i:view xmlns:i="urn:x"><rect onload="alert(1)"/><script/></i:view>', ""),
        ('<g xmlns:i="urn:x" i:href="javascript:alert(1)" i:onload="x"/>', "<g/>"),
        ('<g data-x="JavaScript:1" data-commandlinker-command="kernel:run" aria-owns="body"/>', "<g/>"),
        ("<metadata><script/></metadata>", ""),
    ],
)
def test_notes_of_programs_are_left_out_or_words(note, left):
    text = inert(f"{HEAD}>{note}<rect/></svg>")
    assert f">{left}<rect/></svg>" in text
    assert same(as_a_page_reads(text), ElementTree.fromstring(text))


@pytest.mark.parametrize(
    "trick",
    [
        "<!--><script>alert(1)</script>-->",  # a page ends this comment at its first >
        "<title><![CDATA[><script>alert(1)</script>]]></title>",
        "<text><![CDATA[</text></svg><script>alert(1)</script>]]></text>",
        "<style><![CDATA[/*</style></svg><script>alert(1)</script>*/]]></style>",
        "<metadata><p><script>alert(1)</script></p></metadata>",
        "<g>]]&gt;&lt;script&gt;</g>",
    ],
)
def test_what_pages_and_files_read_differently_does_not_go_on(trick):
    assert "<script" not in shown(trick + "<rect/>")


def test_what_stands_before_the_picture_does_not_go_on():
    drawing = f"<?xml version='1.0' encoding='utf-8'?><!DOCTYPE svg><!-- <svg onload='x'> -->{HEAD}><rect/></svg>"
    state = Drawn(drawing).start()
    for text in (state.picture().svg, state._repr_html_()):
        assert "onload" not in text
        assert "<rect" in text
        ElementTree.fromstring(text)


def test_a_prefix_does_not_go_on():
    drawing = '<s:svg xmlns:s="http://www.w3.org/2000/svg" width="9" height="9"><s:rect/></s:svg>'
    assert inert(drawing) == '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>'


@pytest.mark.parametrize(
    ("inside", "found"),
    [
        ('<g id="a"><use href="#a"/></g>', "for ever"),
        ('<g id="a"><use href="#b"/></g><g id="b"><use xlink:href="#a"/></g>', "for ever"),
        ("".join(f'<g id="a{n}">' + f'<use href="#a{n + 1}"/>' * 40 + "</g>" for n in range(4)), "100,000 elements"),
        ("<g/>" * 100_000, "100,000 elements"),
    ],
)
def test_a_drawing_that_never_ends_is_refused(inside, found):
    with pytest.raises(UsageError, match=found):
        inert(f"{HEAD}>{inside}</svg>")


# As a page reads it


def as_a_page_reads(html: str) -> ElementTree.Element:
    """Return the one element that a page makes of what is put into a block of it; nothing may be left beside it."""
    page = html5lib.parse(f"<!doctype html><body><div>{html}</div><p>after</p>", namespaceHTMLElements=False)
    body = page.find("body")
    assert [part.tag for part in body] == ["div", "p"]
    whole: ElementTree.Element
    (whole,) = body.find("div")
    assert not (body.find("div").text or "") + (whole.tail or "")
    return whole


def same(page: ElementTree.Element, file: ElementTree.Element) -> bool:
    """Whether two parsers have read the same: names, attributes, text, and everything inside."""

    def plain(part: ElementTree.Element) -> tuple[Any, ...]:
        kept = {key: value for key, value in part.attrib.items() if "xmlns" not in key}
        name = part.tag.removeprefix(SVG).replace("fedropshadow", "feDropShadow")  # younger than the parser's list
        return name, kept, part.text or "", part.tail or "", len(part)

    return [plain(part) for part in page.iter()] == [plain(part) for part in file.iter()]


def test_pages_read_what_files_read():
    """Every element and every attribute of the lists: the page's parser finds them as they are, and in their place."""
    inside = "".join(
        f"<{name}>&lt;g&gt; &amp;amp; \"'</{name}>" if name in lists._TEXT - {"style"} else f"<{name}/>"
        for name in sorted(lists._ELEMENTS)
    )
    every = " ".join(f'{name}="1"' for name in sorted(lists._ATTRIBUTES - {"width", "height", "viewBox", "data-board"}))
    said = " ".join(f"{name}='&lt;&quot;&amp;&#10;&#9;'" for name in sorted(lists._SAYS))
    inside += (
        f'<rect {every} {said} id="i" class="c" xml:space="preserve" xml:lang="en"/><use xlink:href="#i" href="#i"/>'
    )
    inside += "<style>rect > .c{fill:url(#i)}</style>"
    for text in (inert(f"{HEAD}>{inside}</svg>"), Drawn(f"{HEAD}>{inside}</svg>").start()._repr_html_()):
        assert same(as_a_page_reads(text), ElementTree.fromstring(text))


def test_pages_read_all_that_results_show():
    state = Drawn(f'{HEAD}><rect id="a"/><style>rect{{fill:red}}</style></svg>').start()
    result = ab.search(state, simulations=3)
    page = html5lib.parse(f"<!doctype html><body>{result._repr_html_()}", namespaceHTMLElements=True)
    svg = [part for part in page.iter() if str(part.tag).startswith(SVG)]
    assert [part.tag for part in svg].count(f"{SVG}rect") == 1
    for text in (result.picture().svg, result.graph.picture().svg, state._repr_html_()):
        assert same(as_a_page_reads(text), ElementTree.fromstring(text))


NAMES = some.sampled_from(sorted({*lists._ELEMENTS, *HTML, "metadata", "h:div", "s:g"}))
KEYS = some.sampled_from(
    sorted({*lists._ATTRIBUTES, "href", "xlink:href", "src", "srcset", "onload", "style", "id", "class", "xml:base"})
)
VALUES = some.sampled_from(
    [
        *("1", "#a", "a", "red", "url(#a)", "url(https://example.org)", "https://example.org", "javascript:alert(1)"),
        *("fill:red", "fill:url(#a)", "fill:url(//example.org)", "</svg><img src=x>", "'\"><p>", "\n", "\\75rl(x)"),
        *("@import 'x'", "a b", "data:image/png;base64,AA==", "data:text/html,x", "image(x)", "--x:1", "*{fill:red}"),
    ]
)
GOOD = some.sampled_from(
    [
        *(("fill", "red"), ("fill", "url( '#a' )"), ("style", "fill:red;mask:url(#a)"), ("id", "a"), ("class", "a b")),
        *(("aria-label", "</svg><img src=x>"), ("aria-label", "'\"\n<p>&amp;"), ("transform", "rotate(30)")),
        *(("font-family", "'a b', \"c\""), ("d", "M0,0\nL1 1"), ("inkscape:label", "<p>")),
    ]
)
TEXTS = some.sampled_from(["", " ", "x", "<![CDATA[</svg><p>]]>", "<!--><p>-->", "&lt;p&gt;", "&#13;\n", "&amp;lt;"])
SHEETS = some.sampled_from(["", "*{}", "rect,.a > #a{fill:red}", "<![CDATA[/*</style><p>*/]]>g{fill:url(#a)}"])


@some.composite
def trees(draw: Any, depth: int = 3) -> str:
    """Draw an element with attributes and others inside: mostly of the lists, now and then any."""
    wild = draw(some.integers(0, 39)) == 17
    name = draw(NAMES if wild else some.sampled_from(sorted({*lists._ELEMENTS, "metadata", "s:g"})))
    given = dict(draw(some.lists(some.tuples(KEYS, VALUES) if wild else GOOD, max_size=3)))
    if name == "use":
        given["href"] = "#none"
    told = "".join(f" {key}={quoteattr(value)}" for key, value in given.items())
    if name == "style":
        return f"<style{told}>{draw(SHEETS)}</style>"
    some_inside = depth and name not in ("title", "desc")
    inside = draw(some.lists(trees(depth - 1), max_size=3)) if some_inside else []
    return f"<{name}{told}>{draw(TEXTS)}{''.join(f'{part}{draw(TEXTS)}' for part in inside)}</{name}>"


@given(some.lists(trees(), max_size=3))
@hypothesis.settings(deadline=None, derandomize=True, max_examples=300)
def test_whatever_is_drawn_stays_in_its_place(inside):
    """Of any elements, attributes and texts: refused, or the same to a page as to a file, all of it from the lists."""
    more = ' xmlns:h="http://www.w3.org/1999/xhtml" xmlns:s="http://www.w3.org/2000/svg" xmlns:inkscape="x"'
    try:
        text = inert(f"{HEAD}{more}>{''.join(inside)}</svg>")
    except UsageError:
        return
    page = as_a_page_reads(text)
    assert same(page, ElementTree.fromstring(text))
    for part in page.iter():
        assert part.tag.startswith(SVG)
        assert part.tag.removeprefix(SVG) in {*lists._ELEMENTS, "fedropshadow"}
        for key, value in part.attrib.items():
            words = ("example.org", "javascript", "import", "\\")
            assert "xmlns" in key or not any(word in value for word in words)
