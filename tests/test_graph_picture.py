"""Drawn graphs: labels, cards and edges lie beside each other and inside of the picture, and say what is true."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.test_draw import SVG, parsed, words_of

import anabranch as ab
from anabranch.draw.boards import DISCS
from anabranch.draw.palette import WASH, blend, player_colour
from anabranch.game.pictures import player_name
from anabranch.search.results.show import graph_edges
from anabranch.search.results.show.numbers import Spread, reward

Box = tuple[float, float, float, float]  # left, top, right, bottom
Points = list[tuple[float, float]]


@dataclass
class Drawn:
    """What is measured of a picture, in its own pixels."""

    width: float
    height: float
    labels: list[tuple[Box, str]]
    cards: dict[int, Box]
    edges: list[tuple[tuple[int, int], Points]]


def moved(part: ElementTree.Element) -> tuple[float, float]:
    said = part.get("transform", "translate(0 0)").removeprefix("translate(").removesuffix(")")
    x, y = map(float, said.split())
    return x, y


def box(part: ElementTree.Element, x: float, y: float) -> Box:
    """Return what a rectangle or a polygon covers."""
    if part.tag == f"{SVG}polygon":
        corners = [tuple(map(float, corner.split(","))) for corner in part.get("points", "").split()]
        across, down = zip(*corners, strict=True)
        return x + min(across), y + min(down), x + max(across), y + max(down)
    left, top, wide, high = (float(part.get(key, "0")) for key in ("x", "y", "width", "height"))
    return x + left, y + top, x + left + wide, y + top + high


def on_path(steps: str, x: float, y: float) -> Points:
    """Return points of a path of cubic Bézier curves."""
    numbers = [float(word) for word in steps.split() if word not in "MC"]
    given = list(zip(numbers[::2], numbers[1::2], strict=True))
    points = []
    for first in range(0, len(given) - 3, 3):
        for t in np.linspace(0, 1, 13):
            shares = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            at = [sum(share * given[first + n][axis] for n, share in enumerate(shares)) for axis in (0, 1)]
            points.append((x + float(at[0]), y + float(at[1])))
    return points


def measured(picture: ab.Picture) -> Drawn:
    root = parsed(picture.svg)
    (body,) = (part for part in root if part.find(f"{SVG}g[@class='node']") is not None)
    x, y = moved(body)
    found = Drawn(*picture.size, [], {}, [])
    for part in body:
        if part.get("class") == "label":
            found.labels.append((box(part[0], x, y), "".join(part.itertext())))
        elif part.get("class") == "node":
            right, down = moved(part)
            shape = part.find(f"{SVG}*[@class='shape']")
            assert shape is not None
            found.cards[int(part.get("data-number", ""))] = box(shape, x + right, y + down)
        elif part.get("class") == "edge":
            ends = (int(part.get("data-from", "")), int(part.get("data-to", "")))
            found.edges.append((ends, on_path(part.get("d", ""), x, y)))
    return found


def touch(one: Box, other: Box) -> bool:
    return min(one[2], other[2]) > max(one[0], other[0]) and min(one[3], other[3]) > max(one[1], other[1])


def inside(point: tuple[float, float], of: Box, rim: float = 0.1) -> bool:
    return of[0] + rim < point[0] < of[2] - rim and of[1] + rim < point[1] < of[3] - rim


def searched(name: str, simulations: int = 60, moves: tuple[int, ...] = (), **options: Any) -> Any:
    state = ab.games.load(name, compiled=False, **options).start()
    for move in moves:
        state, _ = state.step(move)
    return ab.search(state, simulations=simulations, evaluator=ab.Hashing()).graph


KINDS: dict[str, dict[str, Any]] = {
    "turns": {"chance": 0.0, "choices": 4, "width": 3},
    "chance": {"chance": 0.6, "choices": 4, "chance_after_chance": 0.5},
    "at once": {"simultaneous": 0.7, "players": 3, "width": 3},
    "loops": {"loops": 0.4, "choices": 4, "cycles": "bootstrap", "rewards_along": False, "width": 3},
    "long": {"layers": 7, "width": 2, "choices": 5},
    "alone": {"players": 1, "choices": 4},
}


def lies_well(graph: Any, **options: Any) -> Drawn:
    """Assert that nothing in a picture lies on anything else, or out of it; return what was measured."""
    drawn = measured(graph.picture(**options))
    labels, cards = [place for place, _ in drawn.labels], list(drawn.cards.values())
    assert len(labels) == len(drawn.edges)  # none is left out
    assert all(words for _, words in drawn.labels)
    for place in [*labels, *cards]:
        assert place[0] >= 0
        assert place[1] >= 0
        assert place[2] <= drawn.width
        assert place[3] <= drawn.height
    for one, other in combinations([*labels, *cards], 2):
        assert not touch(one, other)
    for ends, points in drawn.edges:
        half = graph_edges.WIDEST / 2 + 1
        assert all(half <= x <= drawn.width - half and 0 <= y <= drawn.height for x, y in points), ends
        assert not any(inside(point, card, rim=3.2) for point in points for card in cards), ends  # of an outer frame
        # A label hides the edge it belongs to, and no other one.
        assert len({place for place in labels for point in points if inside(point, place)}) == 1, ends
    return drawn


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_nothing_lies_on_anything_else(kind, seed):
    graph = searched("random_game", seed=seed, **{"layers": 4, **KINDS[kind]})
    lies_well(graph, depth=8, most=(12, 25)[seed % 2])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tic_tac_toe", {"moves": (4, 6, 0)}),
        ("pig", {"target": 4, "simulations": 200}),
        ("goofspiel", {"cards": 5}),
        ("pyrat", {"preset": "open5"}),
        ("matrix", {"payoffs": "prisoners_dilemma", "simulations": 120}),
        ("take_away", {"stones": 12}),
    ],
)
def test_nothing_lies_on_anything_else_in_games(name, options):
    drawn = lies_well(searched(name, **options), depth=6, most=20)
    assert len(drawn.edges) >= 4


def test_edges_between_the_same_two_nodes_lie_apart():
    """All four choices of a dilemma played once end in one node: each edge is seen, with its own name."""
    drawn = lies_well(searched("matrix", payoffs="prisoners_dilemma", simulations=120))
    assert {ends for ends, _ in drawn.edges} == {(0, 1)}
    middles = sorted(points[len(points) // 2][0] for _, points in drawn.edges)
    assert len(middles) == 4
    assert all(after - before > 20 for before, after in pairwise(middles))


def test_of_many_edges_between_two_nodes_the_most_visited_are_drawn():
    graph = searched("matrix", payoffs=np.eye(5), simulations=400)
    picture = graph.picture()
    lies_well(graph)
    visits = sorted((edge.visits for edge in graph.node(0).edges), reverse=True)
    assert len(visits) > 12
    game, state = graph.node(0).state.game, graph.node(0).state
    said = {words for _, words in measured(picture).labels}
    for edge in graph.node(0).edges:
        name = "(" + " ".join(game.move_name(state, seat, one) for seat, one in enumerate(edge.action)) + ")"
        if edge.visits > visits[8]:
            assert any(words.startswith(name) for words in said)
    assert len(said) == 8
    assert f"+{len(visits) - 8}" in words_of(picture.svg)
    assert picture.width <= 1600


def test_long_edges_go_around_the_cards_on_their_way():
    graph = searched("take_away", stones=12, simulations=200)
    drawn = lies_well(graph, depth=9, most=30)
    tops = sorted({round(card[1], 3) for card in drawn.cards.values()})
    layer = {number: tops.index(round(card[1], 3)) for number, card in drawn.cards.items()}
    assert max(layer[end] - layer[start] for (start, end), _ in drawn.edges) >= 3


def cards_of(picture: ab.Picture) -> dict[int, ElementTree.Element]:
    root = parsed(picture.svg)
    return {int(part.get("data-number", "")): part for part in root.iter(f"{SVG}g") if part.get("class") == "node"}


def test_every_card_says_who_moves_in_the_players_colour():
    graph = searched("take_away", stones=6)
    for number, part in cards_of(graph.picture(depth=6, most=20)).items():
        turn, game = graph.node(number).state.turn, graph.node(number).state.game
        said = {text.text: text.get("fill") for text in part.iter(f"{SVG}text")}
        if turn == ab.OVER:
            assert "over" in said
        else:
            (seat,) = turn
            assert said[player_name(game, seat)] == player_colour(seat)
            assert part.find(f"{SVG}circle").get("fill") == player_colour(seat)  # type: ignore[union-attr]


def test_the_dots_are_like_the_stones_and_chance_and_choices_at_once_are_named():
    (root, *_) = cards_of(searched("othello", simulations=9).picture(depth=0)).values()
    assert root.find(f"{SVG}circle").get("fill") == DISCS[0][0]  # type: ignore[union-attr]
    both = cards_of(searched("matrix").picture(depth=0))[0]
    assert [dot.get("fill") for dot in both.findall(f"{SVG}circle")] == [player_colour(0), player_colour(1)]
    assert "both" in "".join(both.itertext())
    assert "chance" in "".join(cards_of(searched("pig", moves=(0,)).picture(depth=0))[0].itertext())


def test_what_a_game_over_paid_stands_on_the_edge_and_the_state_is_worth_nothing():
    """As everywhere else: the value of a state is what is still to come."""
    graph = searched("tic_tac_toe", moves=(4, 6, 0, 8, 7), simulations=300)
    picture = graph.picture(depth=9, most=99)
    over = [number for number in range(len(graph)) if graph.node(number).kind == "over"]
    for number, part in cards_of(picture).items():
        if number in over:
            assert "0.00" in [text.text for text in part.iter(f"{SVG}text")]
            assert [shape.get("fill") for shape in part.findall(f"{SVG}rect")][2] == WASH
    paid = [
        edge.value[0]
        for number in range(len(graph))
        for edge in graph.node(number).edges
        if edge.child in over and edge.value[0]
    ]
    said = [words for _, words in measured(picture).labels]
    assert set(paid) == {1.0}
    assert sum(words.endswith("+1") for words in said) == len(paid) > 2
    assert f"what it pays {player_name(graph.node(0).state.game, 0)}" in words_of(picture.svg)


def test_edges_show_what_they_pay_everybody_where_one_number_does_not_say_it():
    graph = searched("matrix", payoffs="prisoners_dilemma", simulations=120)
    said = {words for _, words in measured(graph.picture()).labels}
    assert said == {
        "(cooperate cooperate)+3 +3",
        "(cooperate defect)0 +5",
        "(defect cooperate)+5 0",
        "(defect defect)+1 +1",
    }


def test_rewards_are_short_and_never_vanish():
    assert [reward(value) for value in (1.0, -1.0, 0.5, -0.126, 12.0, 0.0004, -0.001, 0.0, 1e6)] == [
        *("+1", "-1", "+0.5", "-0.13", "+12", "+0.0004", "-0.001", "0", "+1000000")
    ]


def test_a_scale_keeps_its_players_colour_wherever_its_ends_lie():
    """Returns of 0 to 10 or −1 to 3: the better for a player the more of its colour, and of no other one."""
    game = ab.games.load("take_away", compiled=False)
    for low, high in ((0.0, 10.0), (-1.0, 3.0), (4.0, 5.0)):
        for player in (0, 1):
            spread = Spread.of(game, player, [low, high], total=None)
            steps = [spread.colour(low + (high - low) * share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
            assert steps == [blend(player_colour(player), 0.9 * share) for share in (0.0, 0.25, 0.5, 0.75, 1.0)]
    # Players who share ten between them are as opposite as those who pay each other: five is the middle.
    shared = Spread.of(game, 0, [2.0, 10.0], total=10.0)
    assert (shared.low, shared.high) == (-1.0, 11.0)  # as far as the game declares
    assert shared.colour(5.0) == blend(player_colour(0), 0.0)
    assert shared.colour(shared.high) == player_colour(0)
    assert shared.colour(shared.low) == player_colour(1)
