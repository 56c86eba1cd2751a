"""Pictures: well-formed SVG whatever is written in them, boards of every game, files of the right kind."""

from __future__ import annotations

import builtins
import math
import re
import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

import anabranch as ab
from anabranch.draw import png as png_module
from anabranch.draw.boards import DISCS, EMPTY, FELT, WOOD, lines_of
from anabranch.draw.layers import Layout, layered
from anabranch.draw.palette import PAPER, PLAYERS, blend, ink_on, player_colour, value_colour
from anabranch.draw.picture import Picture, text_picture
from anabranch.draw.pieces import payoff_table
from anabranch.draw.svg import clean, document, element, text, text_width
from anabranch.draw.words import wrapped
from anabranch.errors import GameError, MissingExtraError, UsageError

SVG = "{http://www.w3.org/2000/svg}"
OPTIONS = {"pyrat": {"preset": "tiny", "seed": 3}}  # with walls and mud


def parsed(svg: str) -> ElementTree.Element:
    """Read SVG and assert that nothing in it could run or be fetched."""
    root = ElementTree.fromstring(svg)
    for part in root.iter():
        assert part.tag.startswith(SVG), part.tag
        assert part.tag.removeprefix(SVG) not in ("script", "foreignObject", "image", "use", "a", "style")
        assert not [name for name in part.attrib if name.startswith("on") or name.endswith("href")]
    return root


def words_of(svg: str) -> str:
    return " ".join("".join(part.itertext()) for part in ElementTree.fromstring(svg).iter(f"{SVG}text"))


def played(game: ab.Game, moves: int) -> ab.State:
    """Return a state some moves after the start, each the middle one of what can be done."""
    state = game.start()
    for _ in range(moves):
        if state.over:
            break
        if state.turn == ab.CHANCE:
            outcomes = state.outcomes()
            state, _ = state.step(outcomes[len(outcomes) // 2][0])
        else:
            assert isinstance(state.turn, tuple)
            legal = [state.legal(seat) for seat in state.turn]
            state, _ = state.step([ids[len(ids) // 2] for ids in legal])
    return state


# Text in pictures


@pytest.mark.parametrize("words", ["<script>alert('&')</script>", 'a"b', "\x00\x1b[31mred\x07", "x\ud800y", "四 目"])
def test_any_text_stays_text(words):
    svg = document(10, 10, text(0, 5, words), element("g", aria_label=words))
    root = parsed(svg)
    allowed = "".join(letter if letter >= " " and letter != "\ud800" else "\ufffd" for letter in words)
    assert root.find(f"{SVG}text").text == allowed  # type: ignore[union-attr]
    assert root.find(f"{SVG}g").get("aria-label") == allowed  # type: ignore[union-attr]


def test_text_for_html_is_escaped_too():
    assert clean("<b a='x'>&") == "&lt;b a=&#x27;x&#x27;&gt;&amp;"


def test_a_game_without_a_drawing_shows_its_text_with_all_spaces():
    state = ab.games.load("explicit", compiled=False).start()
    assert state.game.svg(state) is None
    root = parsed(state.picture().svg)
    kept = [part.get("{http://www.w3.org/XML/1998/namespace}space") for part in root.iter(f"{SVG}text")]
    assert "preserve" in kept
    for line in str(state).splitlines():
        assert line in [part.text for part in root.iter(f"{SVG}text")]


# Boards


@pytest.mark.parametrize("name", ab.games.names())
@pytest.mark.parametrize("moves", [0, 4, 60])
def test_every_game_draws_its_states(name, moves):
    game = ab.games.load(name, compiled=False, **OPTIONS.get(name, {}))
    state = played(game, moves)
    picture = state.picture()
    root = parsed(picture.svg)
    assert (float(root.get("width", "")), float(root.get("height", ""))) == pytest.approx(picture.size)
    assert 40 <= picture.width <= 900
    assert 40 <= picture.height <= 900
    said = words_of(picture.svg)
    assert ("the game is over" in said) == state.over
    assert state._repr_html_().startswith("<svg")
    parsed('<svg xmlns="http://www.w3.org/2000/svg">' + state._repr_html_() + "</svg>")
    assert state.picture().svg == picture.svg


def test_all_games_but_tables_have_a_board():
    """Tables (explicit games, and those drawn at random) have nothing but names to show."""
    for name in ab.games.names():
        state = ab.games.load(name, compiled=False).start()
        assert (state.game.svg(state) is None) == (name in ("explicit", "random_game")), name


def test_a_stone_is_drawn_for_every_stone():
    game: Any = ab.games.load("connect_four", compiled=False)
    state = played(game, 9)
    first, second = (int(bits).bit_count() for bits in state.stones)
    fills = [part.get("fill") for part in parsed(game.svg(state)).iter(f"{SVG}circle")]
    assert (fills.count(PLAYERS[0]), fills.count(PLAYERS[1])) == (first, second) == (5, 4)


def test_stones_of_go_are_black_and_white_with_rims_that_are_seen():
    """Whatever colours the players have; on wood, felt and paper, a stone or its rim has a contrast of 3."""
    game: Any = ab.games.load("go", compiled=False, size=5)
    state = played(game, 7)
    stones = [part for part in parsed(game.svg(state)).iter(f"{SVG}circle") if part.get("fill")]
    assert {(part.get("fill"), part.get("stroke")) for part in stones} == set(DISCS)
    assert [min(luminance(DISCS[0][0]), 0.02), luminance(DISCS[1][0])] == [luminance(DISCS[0][0]), 1.0]
    assert Picture(game.svg(state)).stones == tuple(fill for fill, _ in DISCS)
    for ground in (WOOD, FELT, PAPER):
        for fill, rim in DISCS:
            assert max(contrast(ground, fill), contrast(ground, rim)) > 3


def test_a_table_of_payoffs_has_the_colour_of_the_one_it_is_good_for():
    """Opposite players share a scale; others have one each, of their own colour alone."""

    def fills(pairs: Sequence[tuple[float, float]]) -> list[str]:
        drawn = parsed(payoff_table(["a"], [str(n) for n in range(len(pairs))], [pairs], ""))
        return [part.get("fill", "") for part in drawn.iter(f"{SVG}rect")][1:]

    assert fills([(1, -1), (-1, 1)]) == [value_colour(0.75)] * 2 + [value_colour(-0.75)] * 2
    assert fills([(10, 0), (0, 10), (5, 5)])[4:] == [value_colour(0.0)] * 2
    dilemma = fills([(3, 3), (0, 5), (5, 0), (1, 1)])
    for seat in (0, 1):
        shares = [0.6, seat * 1.0, 1.0 - seat, 0.2]
        assert dilemma[seat::2] == [blend(player_colour(seat), 0.75 * share) for share in shares]


def test_a_table_of_payoffs_prints_its_minus():
    said = words_of(payoff_table(["a-b"], ["c-d"], [[(-1, 1)]], "round 1-2"))
    assert {"a-b", "c-d", "−1", "1-2"} <= set(said.split())


def test_no_letter_is_wider_than_it_is_taken_for():
    """Widths of DejaVu Sans, the widest of the usual fonts, in thousandths of the size."""
    widths = {"m": 974, "W": 989, "M": 863, "Q": 787, "0": 636, "+": 838, "−": 838, "g": 635, "r": 411, "%": 950}
    for letter, width in widths.items():
        assert text_width(letter * 10, 10) >= 0.97 * width / 10, letter


def test_a_maze_shows_every_wall_mud_and_cheese():
    game: Any = ab.games.load("pyrat", compiled=False, preset="tiny", seed=3)
    svg = game.svg(game.start())
    depths = [str(depth) for _, depth in game.maze.mud]
    assert sorted(word for word in words_of(svg).split() if word in "23456789") == sorted(depths)
    lines = list(parsed(svg).iter(f"{SVG}line"))
    grid = (game.width - 1) + (game.height - 1)
    assert len(lines) == grid + len(game.maze.walls) + len(game.maze.mud)
    assert len(list(parsed(svg).iter(f"{SVG}polygon"))) == len(game.maze.cheese)


def test_lines_are_found_in_all_directions_and_no_others():
    empty = [[EMPTY] * 4 for _ in range(4)]
    assert lines_of(empty, 3) == set()
    for run in ([(0, 0), (0, 1), (0, 2)], [(1, 3), (2, 3), (3, 3)], [(1, 1), (2, 2), (3, 3)], [(0, 3), (1, 2), (2, 1)]):
        cells = [list(row) for row in empty]
        for row, column in run:
            cells[row][column] = 1
        assert lines_of(cells, 3) == set(run)
        cells[run[1][0]][run[1][1]] = 0
        assert lines_of(cells, 3) == set()


def test_a_users_game_draws_itself_and_nonsense_is_its_fault():
    class Drawn(ab.ObjectGame):
        players, actions = 1, 1

        def __init__(self, drawing: str) -> None:
            self._drawing = drawing

        def setup(self, random):
            return 0

        def turn(self, state):
            return ab.player(0) if state == 0 else ab.OVER

        def legal(self, state, player):
            return [0]

        def step(self, state, actions):
            return 1, [0.0]

        def svg(self, state):
            return self._drawing

    rectangle = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 70 50"><rect width="9" height="9"/></svg>'
    good = f'<?xml version="1.0"?>\n{rectangle}'
    picture = Drawn(good).start().picture()
    assert parsed(picture.svg).find(f".//{SVG}rect[@width='9']") is not None
    assert picture.height > 50
    for bad in ("<svg", "<p>no</p>", '<svg xmlns="http://www.w3.org/2000/svg"/>'):
        with pytest.raises(GameError, match=r"Drawn: svg\(state\)"):
            Drawn(bad).start().picture()


# Colours


def test_colours_of_values_run_from_end_to_end():
    assert value_colour(0.0) == value_colour(math.nan)
    shades = [value_colour(share / 10) for share in range(-10, 11)]
    assert len(set(shades)) == 21
    assert value_colour(7.0) == shades[-1]
    assert value_colour(-7.0) == shades[0]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Return the ratio of WCAG 2, from 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_text_can_be_read_on_every_colour():
    """WCAG asks for a contrast of 3 for large and of 4.5 for small text; black and white together reach 4.58."""
    for colour in [value_colour(share / 50) for share in range(-50, 51)] + [blend(one, 0.9) for one in PLAYERS]:
        assert contrast(colour, ink_on(colour)) > 4.3, colour


# Layers


def laid_out(nodes: int, links: Sequence[tuple[int, int]], *, loops: bool = False) -> Layout:
    return layered(range(nodes), links, wide=100.0, labels=[30.0] * len(links), loops=loops)


def test_layers_keep_parents_above_children_and_nodes_apart():
    links = [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3), (3, 4), (2, 5), (1, 5)]
    layout = laid_out(6, links)
    for (start, end), way in zip(links, layout.ways, strict=True):
        upper, lower = layout.places[start][1], layout.places[end][1]
        assert upper < lower
        assert not way.back
        assert [row for _, row in way.slots] == list(range(upper + 1, lower))
        assert way.slots[way.label][1] % 2 == 1
    for layer in range(0, layout.rows, 2):
        row = sorted(x for x, at in layout.places.values() if at == layer)
        assert all(other - one >= 100 - 1e-9 for one, other in pairwise(row))
    assert layout.places[3][1] == 4  # the longest way, not the shortest


@pytest.mark.parametrize("loops", [False, True])
def test_every_edge_has_a_slot_of_its_own_in_every_row(loops):
    """Also several between the same two nodes, back to an earlier one, and from a node to itself."""
    links = [(0, 1), (0, 1), (0, 1), (1, 2), (0, 2), (0, 2), (2, 0), (2, 0), (1, 1), (1, 1), (2, 2)]
    layout = laid_out(3, links, loops=loops)
    layer = {node: row for node, (_, row) in layout.places.items()}
    assert [way.back for way in layout.ways] == [layer[end] <= layer[start] for start, end in links]
    slots = [(row, x, at == way.label) for way in layout.ways for at, (x, row) in enumerate(way.slots)]
    taken = [(row, x, 40.0 if labelled else 12.0) for row, x, labelled in slots]
    taken += [(row, x, 100.0) for x, row in layout.places.values()]
    for (row, x, wide), (below, right, across) in pairwise(sorted(taken)):
        assert row < below or right - x >= (wide + across) / 2 - 1e-9
    assert all(wide / 2 <= x + 1e-9 and x + wide / 2 <= layout.width + 1e-9 for _, x, wide in taken)


def test_layers_untangle_what_can_be_drawn_without_crossings():
    """0 has children 1, 2, 3; theirs are given in the opposite order, which crosses unless reordered."""
    links = [(0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4)]
    layout = laid_out(7, links)
    upper = sorted((1, 2, 3), key=lambda node: layout.places[node][0])
    lower = sorted((4, 5, 6), key=lambda node: layout.places[node][0])
    assert [7 - node for node in upper] == lower


def test_loops_are_told_apart():
    assert [way.back for way in laid_out(3, [(0, 1), (1, 2), (2, 0), (1, 1)]).ways] == [False, False, True, True]
    short = laid_out(4, [(0, 1), (1, 2), (0, 3), (2, 3)], loops=True)
    assert short.places[3][1] == 2
    assert [way.back for way in short.ways] == [False, False, False, True]


# Files


def test_svg_files_hold_the_picture(tmp_path):
    picture = text_picture("ü <x>")
    assert picture.save(tmp_path / "a.svg") == tmp_path / "a.svg"
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == picture.svg == picture._repr_svg_()
    with pytest.raises(UsageError, match=r"\.svg or \.png, found 'a\.jpg'"):
        picture.save(tmp_path / "a.jpg")


def test_png_files_have_the_signature_and_the_size(tmp_path):
    picture = ab.games.load("tic_tac_toe", compiled=False).start().picture()
    for scale in (1.0, 2.0):
        data = picture.save(tmp_path / "a.png", scale=scale).read_bytes()
        assert data[:8] == b"\x89PNG\r\n\x1a\n"
        size = struct.unpack(">II", data[16:24])  # IHDR begins with width and height
        assert size == pytest.approx([side * scale for side in picture.size], abs=1.5)


def test_png_shows_the_text():
    """Without a font no text would be drawn, and nobody told; a picture with words differs from one without."""
    with_words, without = (document(60, 20, text(2, 15, words)) for words in ("words", " "))
    assert png_module.png(with_words) != png_module.png(without)


@pytest.mark.parametrize(
    ("fonts", "instead", "chosen"),
    [({"Arial", "Serif"}, "Serif", "Arial"), ({"Serif"}, "Serif", "Helvetica"), (set(), None, None)],
)
def test_a_png_has_a_font_that_there_is(fonts, instead, chosen, monkeypatch):
    """A renderer does not say which fonts it has: it takes another one, and letters without serifs got some."""

    def render(svg, scale, sans, mono):
        wanted = re.search('font-family="([^"]*)"', svg)
        return b"" if wanted is None or not fonts else (wanted[1] if wanted[1] in fonts else instead).encode()

    monkeypatch.setattr(png_module, "_renderer", lambda: render)
    assert png_module._installed.__wrapped__(("Helvetica", "Arial")) == chosen


def test_a_missing_extra_is_named(monkeypatch, tmp_path):
    real = builtins.__import__

    def refuse(name, *rest):
        if name == "resvg_py":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    png_module._renderer.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'anabranch\[png\]'"):
        text_picture("x").save(tmp_path / "x.png")
    assert not (tmp_path / "x.png").exists()
    text_picture("x").save(tmp_path / "x.svg")


def test_without_fonts_a_png_is_refused(monkeypatch):
    monkeypatch.setattr(png_module, "_installed", lambda families: None)
    with pytest.raises(UsageError, match="font"):
        png_module.png(text_picture("x").svg)
    assert png_module.png(document(5, 5)).startswith(b"\x89PNG")


def test_the_dot_of_who_moves_is_like_a_stone_on_the_board():
    """Dark and light in Othello, the player's colour on other boards; where there are no stones there is no dot."""

    def dots(name: str) -> list[str | None]:
        state = ab.games.load(name, compiled=False).start()
        drawn = [part.get("fill") for part in parsed(state.picture().svg).iter(f"{SVG}circle")]
        board = [part.get("fill") for part in parsed(state.game.svg(state) or "").iter(f"{SVG}circle")]
        return drawn[len(board) :]

    assert dots("othello") == [DISCS[0][0]]
    assert dots("connect_four") == [player_colour(0)]
    assert dots("goofspiel") == [player_colour(0), player_colour(1)]
    assert dots("take_away") == []


def test_text_is_broken_without_losing_a_letter():
    line = "round 1  scores [6, 0, 0]  player 1  die 3"
    assert wrapped(line, 18) == ["round 1", "scores [6, 0, 0]", "player 1  die 3"]
    assert wrapped("a" * 50, 20)[0] == "a" * 20
    for words in (
        line,
        "record(score=[1, 2, 3, 4, 5, 6], mover=0)",
        "x" * 70,
        " " * 40 + "far",
        "one, two  three;four|five   six " * 4,
    ):
        for width in (10, 14, 30):
            lines = wrapped(words, width)
            assert max(map(len, lines)) <= width
            assert "".join("".join(lines).split()) == "".join(words.split())
    assert wrapped("         x\n  y", 14) == ["         x", "  y"]
    board = "\n".join(["." * 40] * 4)
    assert wrapped(board, 10) == board.splitlines()


def test_ticks_are_round_and_lie_around_the_numbers():
    from itertools import pairwise

    from anabranch.draw.chart import ticks

    for low, high in ((0.0, 1.0), (0.013, 0.29), (-37.0, 512.0), (5.0, 5.0), (1e-6, 2e-6)):
        first, last, marks = ticks(low, high)
        assert first <= low <= high <= last
        assert 2 <= len(marks) <= 8
        steps = {round(b - a, 12) for a, b in pairwise(marks)}
        assert len(steps) == 1


def test_a_chart_shows_its_lines_inside_its_frame():
    import re

    from anabranch.draw.chart import HEIGHT, LEFT, WIDTH, Series, chart

    made = chart("ratings", "model", [Series("ours", [(1, 5.0), (2, -3.0)], [2.0, 1.0]), Series("theirs", [(1, 0.0)])])
    places = re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', made.svg)
    assert len(places) == 3
    assert all(LEFT <= float(x) <= WIDTH and 0 <= float(y) <= HEIGHT for x, y in places)
    assert float(places[0][1]) < float(places[1][1])
    assert "theirs" in made.svg
    assert "<svg" in chart("nothing yet", "minutes", []).svg


def test_a_single_moment_stands_in_the_middle_of_its_chart_and_is_told():
    from anabranch.draw.chart import LEFT, RIGHT, WIDTH, Series, chart

    made = chart("best moves", "minutes", [Series("policy", [(1.5546, 67.5)]), Series("searched", [(1.5546, 87.5)])])
    assert made.svg.count(f'<circle cx="{(LEFT + WIDTH - RIGHT) / 2:g}"') == 2
    assert ">1.55</text>" in made.svg
