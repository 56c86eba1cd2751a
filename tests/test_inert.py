"""Pictures of users' games go on into notebooks and files: nothing in them may run or be fetched."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import pytest

import anabranch as ab
from anabranch.errors import GameError

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
        ("<script>alert(1)</script>", "script"),
        ("<g><SCRIPT/></g>", "SCRIPT"),
        ('<h:script xmlns:h="http://www.w3.org/1999/xhtml"/>', "script"),
        ('<rect onload="alert(1)"/>', "onload"),
        ('<rect onClick="alert(1)"/>', "onClick"),
        ("<foreignObject/>", "foreignObject"),
        ('<a href="https://example.org"><rect/></a>', "<a>"),
        ('<animate attributeName="href" to="#x"/>', "animate"),
        ('<use href="javascript:alert(1)"/>', "javascript"),
        ('<use xlink:href=" java&#10;script:alert(1)"/>', "leads out"),
        ('<g data-x="JavaScript:1"/>', "runs a script"),
        ('<image href="https://example.org/x.png"/>', "example.org"),
        ('<image xlink:href="//example.org/x.png"/>', "example.org"),
        ('<image href="data:image/svg+xml,x"/>', "leads out"),
        ('<use href="other.svg#x"/>', "leads out"),
        ("<style>@import 'https://example.org';</style>", "@import"),
        ("<style><![CDATA[@IMPORT 'https://example.org';]]></style>", "@IMPORT"),
        ("<style>rect{fill:url( 'https://example.org')}</style>", "example.org"),
        (r"<style>rect{fill:\75rl(https://example.org)}</style>", "fetch"),
        ('<style>rect{background:image-set("https://example.org" 1x)}</style>', "image-set"),
        ('<rect fill="url(https://example.org/#x)"/>', "example.org"),
        ('<rect style="fill:URL(//example.org)"/>', "example.org"),
        ('<g xml:base="https://example.org"/>', "base"),
        ("<desc><g/></desc>", "inside <desc>"),
        ("<?xml-stylesheet href='x.css'?>", "processing instruction"),
        ("<p/>", "<p>"),
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


@pytest.mark.parametrize(
    ("drawing", "found"),
    [
        (7, "int"),
        (b"<svg/>", "bytes"),
        ("", "not SVG"),
        ("<svg", "not SVG"),
        ("\ud800<svg/>", "not SVG"),
        ("<html/>", "one <svg>"),
        ('<s:svg xmlns:s="http://www.w3.org/2000/svg" width="9" height="9"/>', "one <svg>"),
        ("<svg/>", "width and height"),
        ('<svg viewBox="0 0 nan inf"/>', "viewBox"),
        ('<svg viewBox="0 0 ten ten"/>', "viewBox"),
        ('<svg viewBox="0 0 1e999 5"/>', "viewBox"),
        (f'<svg width="{"9" * 400}" height="5"/>', "width"),
        ('<svg width="1.2.3" height="5"/>', "width"),
        ('<svg width="9" height="9" data-board="0 0 nan 1"/>', "data-board"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg width="9" height="9"/>', "entity"),
        ('<?xml-stylesheet href="x.css"?><svg width="9" height="9"/>', "processing instruction"),
    ],
)
def test_what_is_no_picture_is_the_games_error(drawing, found):
    with pytest.raises(GameError, match=found):
        Drawn(drawing).start().picture()


def test_what_only_draws_stays():
    inside = (
        '<defs><linearGradient id="g"><stop offset="0" stop-color="red"/></linearGradient></defs>'
        '<style>.a{fill:url(#g)}</style><rect class="a" width="5" height="5"/><use href="#g"/><use xlink:href="#g"/>'
        '<image href="data:image/png;base64,AAAA"/><text>once upon: javascript, url(x), on &amp; off</text>'
    )
    assert inside in shown(inside)


@pytest.mark.parametrize(
    "trick",
    [
        "<!--><script>alert(1)</script>-->",  # a page ends this comment at its first >
        "<title><![CDATA[><script>alert(1)</script>]]></title>",
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
