"""Draws a search while it grows: the picture of its last graph, in which nodes and edges appear as they were found.

The animation is SMIL, which browsers run in an <img> too. What does not run it shows the last step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import anabranch as ab
from anabranch.draw.svg import text

SVG = "{http://www.w3.org/2000/svg}"
SECONDS = 1.4  # a step
REST = 3  # the last step stays this many times longer

Element = ElementTree.Element
Ends = tuple[int, int]


def growing(state: ab.State, budgets: Sequence[int]) -> ab.Picture:
    """Return the search of a position after so many simulations each, as one animated picture."""
    searcher = ab.Searcher(state.game, ab.Uniform(), threads=1)
    root = searcher.root(state)
    steps = []
    for budget in budgets:
        [result] = searcher.run([root], visits=budget)
        graph: Any = result.graph
        steps.append(ElementTree.fromstring(graph.picture(depth=9, most=len(graph)).svg))  # noqa: S314  (our own)
    last = steps[-1]
    order = [(number, edge.child) for number in _cards(last) for edge in graph.node(number).edges if edge.visits]
    _grow_nodes(last, [_cards(step) for step in steps])
    _grow_edges(last, [_lines(step) for step in steps], order)
    _count(last, budgets)
    ElementTree.register_namespace("", SVG.strip("{}"))
    return ab.Picture(ElementTree.tostring(last, encoding="unicode"))


def _cards(picture: Element) -> dict[int, Element]:
    """Return the drawn nodes by their numbers, which stay the same while a graph grows."""
    return {int(card.get("data-number", "")): card for card in picture.iter(f"{SVG}g") if card.get("class") == "node"}


def _lines(picture: Element) -> dict[Ends, Element]:
    """Return the drawn edges by the numbers of the nodes at their ends."""
    lines = [line for line in picture.iter(f"{SVG}path") if line.get("class") == "edge"]
    return {(int(line.get("data-from", "")), int(line.get("data-to", ""))): line for line in lines}


def _grow_nodes(last: Element, steps: Sequence[dict[int, Element]]) -> None:
    """Let nodes appear, and their values and visits change."""
    for number, card in _cards(last).items():
        strips = [list(step[number])[-3:] if number in step else [] for step in steps]  # its colour, value and visits
        told = [[ElementTree.tostring(part) for part in strip] for strip in strips]
        for part in strips[-1]:
            card.remove(part)
        for at, strip in enumerate(strips):
            if strip and (at == 0 or told[at] != told[at - 1]):
                shown = [told[step] == told[at] for step in range(len(steps))]
                card.append(_visible(strip, shown))
        _trim(card)
        _appear(card, [number in step for step in steps])


def _trim(card: Element) -> None:
    """Take away what a card does not show of its board: notes to other pictures, names of rows and columns."""
    for part in card.iter():
        for note in ("data-board", "data-stones"):
            part.attrib.pop(note, None)
        if part.tag == f"{SVG}g" and part.get("transform") and part is not card:
            for label in part.findall(f"{SVG}text"):
                part.remove(label)


def _grow_edges(last: Element, steps: Sequence[dict[Ends, Element]], order: Sequence[Ends]) -> None:
    """Let edges and the names on them, which are drawn in that order, appear, and edges change width and colour."""
    for ends, line in _lines(last).items():
        drawn = [step.get(ends, line) for step in steps]
        for name in ("stroke-width", "stroke"):
            _animate(line, name, [edge.get(name, "") for edge in drawn])
        _appear(line, [ends in step for step in steps])
    names = [part for part in last[1] if part.get("class") not in ("edge", "node")]  # beside those in the graph's group
    for ends, words in zip(order, names, strict=True):
        _appear(words, [ends in step for step in steps])


def _count(last: Element, budgets: Sequence[int]) -> None:
    """Say in the corner how many simulations a step has seen."""
    for at, budget in enumerate(budgets):
        words = f"{budget} simulation" + "s" * (budget > 1)
        told = ElementTree.fromstring(text(14, 26, words, size=15, font_weight=700))  # noqa: S314  (our own)
        for part in told.iter():
            part.tag = SVG + part.tag
        last.append(_visible([told], [step == at for step in range(len(budgets))]))


def _visible(parts: Sequence[Element], shown: Sequence[bool]) -> Element:
    """Return a group that is there in some of the steps."""
    group = Element(f"{SVG}g", {} if shown[-1] else {"visibility": "hidden"})
    group.extend(parts)
    _animate(group, "visibility", ["visible" if here else "hidden" for here in shown])
    return group


def _appear(part: Element, shown: Sequence[bool]) -> None:
    """Let something be there from the first step that has it."""
    _animate(part, "opacity", ["1" if here else "0" for here in shown])


def _animate(part: Element, name: str, values: Sequence[str]) -> None:
    """Give an attribute a value a step, over and over."""
    if len(set(values)) == 1:
        return
    spans = len(values) - 1 + REST
    changes = [at for at in range(len(values)) if at == 0 or values[at] != values[at - 1]]
    times = ";".join(f"{at / spans:.3g}".replace("0.", ".") for at in changes)
    told = {"attributeName": name, "values": ";".join(values[at] for at in changes), "keyTimes": times}
    told["calcMode"] = "discrete"
    ElementTree.SubElement(part, f"{SVG}animate", told | {"dur": f"{spans * SECONDS:g}s", "repeatCount": "indefinite"})
