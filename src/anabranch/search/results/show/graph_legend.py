"""What stands below a drawn graph: the meaning of colours, lines and shapes, and how much of the graph is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.draw.palette import FAINT, SOFT
from anabranch.draw.svg import group, line, printed, rect, text, text_width
from anabranch.game.game import Game
from anabranch.game.pictures import player_name
from anabranch.search.results.show.graph_cards import shape
from anabranch.search.results.show.graph_edges import OUTCOME, Curve, stroke
from anabranch.search.results.show.graph_labels import Rewards, pays_opposite
from anabranch.search.results.show.numbers import Spread, count, signed
from anabranch.search.results.views import NodeView

MARGIN, ROW = 28.0, 24.0
SHADES = 40
SHAPES = {"decision": "decision", "chance": "chance", "over": "game over"}
LINES = {SOFT: "most visited choice", FAINT: "other choices", OUTCOME: "outcomes of chance"}


def legend(
    width: float,
    spread: Spread,
    nodes: Sequence[NodeView],
    drawn: Sequence[Curve],
    rewards: Rewards,
    total: int,
) -> tuple[str, float]:
    """Return the legend and its height; what does not fit into a row begins another one."""
    game = nodes[0].state.game
    items = [_scale(spread, game)]
    used = {stroke(curve) for curve in drawn}
    items += [_line(colour, words) for colour, words in LINES.items() if colour in used]
    items.append(_words("wider: more visits"))
    if any(curve.back for curve in drawn):
        items.append(_words("dashed: leads back"))
    for kind, name in SHAPES.items():
        if any(node.kind == kind for node in nodes):
            label = text(26, 10, name, size=11, fill=SOFT)
            items.append((group(group(shape(kind, 12, 12), x=5), label), 26 + text_width(name, 11)))
    if len(drawn) < sum(len(node.edges) for node in nodes):
        items.append(_words("+3: edges not drawn"))
    if rewards.any():
        whom = player_name(game, spread.player) if pays_opposite(rewards) else "the players in their order"
        items.append(_words(f"in bold on an edge: what it pays {whom}"))
    items.append(_words(f"{count(len(nodes))} of {count(total)} nodes"))
    parts = [line(MARGIN, 0, width - MARGIN, 0, stroke=FAINT)]
    x, y = MARGIN, 12.0
    for item, wide in items:
        if x > MARGIN and x + wide > width - MARGIN:
            x, y = MARGIN, y + ROW
        parts.append(group(item, x=x, y=y))
        x += wide + 20
    return "".join(parts), y + ROW + 4


def _scale(spread: Spread, game: Game) -> tuple[str, float]:
    """Draw the colours of values between the words for their ends."""
    words = f"value to {player_name(game, spread.player)}"
    low, high = (printed(signed(end, 2)) for end in (spread.low, spread.high))
    x = text_width(words, 11) + 8
    parts = [text(0, 10, words, size=11, fill=SOFT), text(x, 10, low, size=11)]
    x += text_width(low, 11) + 5
    values = [spread.low + (spread.high - spread.low) * (step + 0.5) / SHADES for step in range(SHADES)]
    shades = [rect(3 * step, 0, 3, 12, fill=spread.colour(value)) for step, value in enumerate(values)]
    parts.append(group(*shades, x=round(x), shape_rendering="crispEdges"))
    x += 3 * SHADES + 5
    parts.append(text(x, 10, high, size=11))
    return group(*parts), x + text_width(high, 11)


def _line(colour: str, words: str) -> tuple[str, float]:
    drawn = line(2, 6, 20, 6, stroke=colour, stroke_width=4.5, stroke_linecap="round")
    return group(drawn, text(28, 10, words, size=11, fill=SOFT)), 28 + text_width(words, 11)


def _words(words: str) -> tuple[str, float]:
    return text(0, 10, words, size=11, fill=SOFT), text_width(words, 11)
