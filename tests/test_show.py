"""Results as people read them: tables, joint tables and fans that add up, HTML that cannot run, graphs drawn once."""

from __future__ import annotations

import importlib.util
import re
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.sources import ROOT
from tests.test_draw import SVG, parsed, words_of

import anabranch as ab
from anabranch.draw.palette import SOFT, blend, player_colour, value_colour
from anabranch.errors import UsageError
from anabranch.search.results.chance import ChanceCount, ChanceCounts
from anabranch.search.results.show.node_text import distinguishing
from anabranch.search.results.show.numbers import Scale, Spread, signed
from anabranch.search.results.show.result_sheet import result_sheet
from anabranch.search.results.show.text import table_text


def searched(
    name: str, *, simulations: int = 80, moves: tuple[Any, ...] = (), config: Any = None, **options: Any
) -> ab.Result:
    """Search a built-in game after some moves, with made-up evaluations, which need no compiler."""
    state = ab.games.load(name, compiled=False, **options).start()
    for move in moves:
        state, _ = state.step(move)
    return ab.search(state, simulations=simulations, evaluator=ab.Hashing(), config=config)


def table_of(result: ab.Result) -> list[list[str]]:
    """Return the words of the lines of a printed result's first table, headings first."""
    body = str(result).split("\n\n")[1].splitlines()
    return [line.split() for line in body]


def number(words: str) -> int:
    return int(words.replace(",", ""))


@pytest.fixture(scope="module")
def joint() -> ab.Result:
    return searched("pyrat", preset="open5", simulations=200)


@pytest.fixture(scope="module")
def merged() -> ab.Result:
    """Tic-tac-toe with four cells to go: 4! lines of play, in which positions meet."""
    return searched("tic_tac_toe", moves=(4, 6, 0, 8, 7), simulations=300)


# Decisions


def test_the_table_shows_what_each_choice_is_worth_to_everybody():
    result = searched("n_in_a_row", size=4, line=3)
    rows = table_of(result)
    assert rows[0] == [*["action", "prior", "visits", "share", "x", "o", "#", "line"]]
    edges = {edge.action: edge for edge in result.graph.node(0).edges}
    for row in rows[1:]:
        action = result.state.game.parse_action(row[0])
        assert number(row[2]) == result.visits[0, action]
        assert row[3] == f"{100 * result.policy[0, action]:.1f}%"
        if result.visits[0, action]:
            assert [float(words) for words in row[4:7]] == pytest.approx(edges[action].value.tolist(), abs=6e-4)
            assert row[7] == row[0]
    assert sum(number(row[2]) for row in rows[1:]) == 80


def test_each_row_has_the_line_that_follows_it():
    result = searched("tic_tac_toe", simulations=300)
    for row in table_of(result)[1:]:
        state = result.state
        for name in row[6:]:
            if name != "…":
                state, _ = state.step(state.game.parse_action(name))


def test_columns_are_aligned():
    result = searched("connect_four", simulations=1200)
    table = result_sheet(result).tables[0]
    lines = table_text(table).splitlines()
    for title in ("prior", "visits", "share", " x", " o"):
        end = lines[0].index(title) + len(title)
        for line in lines[1:]:
            assert line[end - 1] != " "
            assert line[end : end + 1] in ("", " ")


def test_long_lists_are_cut_and_say_so():
    result = searched("n_in_a_row", size=9, line=5, players=2, simulations=300)
    rows = str(result).split("\n\n")[1].splitlines()
    assert len(rows) == 1 + 20 + 1
    left = re.fullmatch(r"and (\d+) more actions with (\d+) visits together", rows[-1])
    assert left
    assert int(left[1]) == 81 - 20
    assert int(left[2]) + sum(number(row.split()[2]) for row in rows[1:-1]) == 300


def test_minus_nothing_is_nothing():
    assert [signed(value) for value in (-1e-9, 1e-9, 0.0, -0.0, 0.5, -123.456, float("nan"))] == [
        *("0.000", "0.000", "0.000", "0.000", "+0.500", "-123.5", "–")
    ]


def test_only_numbers_have_the_minus_of_print():
    """Names of moves keep their hyphens, also those that begin with a digit, in tables and in graphs."""
    names = {"3-1", "-2", "to-and-fro"}

    class Hyphened(type(ab.games.load("take_away", compiled=False))):  # type: ignore[misc]
        def action_name(self, action: int) -> str:
            return sorted(names)[action]

    result = ab.search(Hyphened(stones=9, compiled=False).start(), simulations=300, evaluator=ab.Hashing())
    for picture in (result.picture(), result.graph.picture(depth=1)):
        said = {part.text or "" for part in parsed(picture.svg).iter(f"{SVG}text")}
        assert names <= said
        numbers = {words for words in said if re.search(r"[-−][0-9.]+$", words)} - names
        assert {words for words in numbers if "−" in words}
        assert not {words for words in numbers if "-" in words and len(words.split()) == 1}


def test_wide_letters_keep_the_columns():
    class Wide(type(ab.games.load("take_away", compiled=False))):  # type: ignore[misc]
        def action_name(self, action: int) -> str:
            return ("一", "二二", "c")[action]

    result = ab.search(Wide(stones=9, compiled=False).start(), simulations=50, evaluator=ab.Hashing())
    lines = str(result).split("\n\n")[1].splitlines()

    def places(words: str) -> int:
        return sum(2 if letter in "一二" else 1 for letter in words)

    assert len({places(line[: line.index("%")]) for line in lines[1:]}) == 1


def test_moves_are_called_what_they_are_called_where_they_are_made():
    class Placed(type(ab.games.load("take_away", compiled=False))):  # type: ignore[misc]
        def move_name(self, state: ab.State, player: int, action: int) -> str:
            return f"p{player}:{state.stones}-{action + 1}"

    result = ab.search(Placed(stones=9, compiled=False).start(), simulations=60, evaluator=ab.Hashing())
    for row in table_of(result)[1:]:
        assert row[0] in ("p0:9-1", "p0:9-2", "p0:9-3")
        left, mover = 9, 0
        for name in row[6:]:
            if name != "…":
                assert name.startswith(f"p{mover}:{left}-")
                left, mover = left - int(name.rpartition("-")[2]), 1 - mover
    assert "p0:9-1" in words_of(result.graph.picture(depth=1).svg)


# Joint choices


def test_visits_of_the_joint_table_add_up_to_both_margins(joint):
    table = result_sheet(joint).tables[0]
    titles = [column.title for column in table.columns]
    prior = titles.index("prior")
    rows, foot = table.rows[: table.rules[0]], table.rows[table.rules[0] :]
    inside = [[number(cell.lines[0]) for cell in row[1:prior]] for row in rows]
    down = [number(row[titles.index("visits")].lines[0]) for row in rows]
    across = [number(cell.lines[0]) for cell in foot[1][1:prior]]
    assert [sum(row) for row in inside] == down
    assert [sum(column) for column in zip(*inside, strict=True)] == across
    assert sum(down) == sum(across) == 200
    for row in (0, 1):
        shares = [row_cells[titles.index("share")] for row_cells in rows] if row == 0 else foot[2][1:prior]
        assert sum(cell.share or 0.0 for cell in shares) == pytest.approx(1.0)


def test_cells_of_the_joint_table_are_the_edges_of_the_root(joint):
    table = result_sheet(joint).tables[0]
    game, edges = joint.state.game, {edge.action: edge for edge in joint.graph.node(0).edges}
    columns = [column.title for column in table.columns[1:]]
    seen = 0
    for row in table.rows[: table.rules[0]]:
        for title, cell in zip(columns, row[1:], strict=True):
            if title == "prior":
                break
            edge = edges.get((game.parse_action(row[0].lines[0]), game.parse_action(title)))
            assert number(cell.lines[0]) == (edge.visits if edge else 0)
            if edge and edge.visits:
                seen += 1
                assert [float(words) for words in cell.lines[1].split()] == pytest.approx(edge.value, abs=0.006)
    assert seen == sum(edge.visits > 0 for edge in edges.values())


def test_a_large_joint_table_sums_up_the_rest():
    result = searched("goofspiel", cards=30, simulations=400)
    table = result_sheet(result).tables[0]
    assert table.rows[table.rules[0] - 1][0].lines[0] == "18 more"
    assert "23 more" in [column.title for column in table.columns]
    visits = [column.title for column in table.columns].index("visits")
    assert sum(number(row[visits].lines[0]) for row in table.rows[: table.rules[0]]) == 400


def test_zero_sum_cells_show_one_value():
    result = searched("matrix", payoffs="rock_paper_scissors")
    cells = [cell for row in result_sheet(result).tables[0].rows[:3] for cell in row[1:4] if cell.lines[0] != "0"]
    assert {len(cell.lines[1].split()) for cell in cells} == {1}
    assert "the value to player 0\n" in str(result)


@pytest.mark.parametrize("payoffs", ["rock_paper_scissors", "prisoners_dilemma"])
def test_captions_fit_a_terminal(payoffs):
    result = searched("matrix", payoffs=payoffs)
    assert max(map(len, str(result).splitlines())) <= 100


def test_three_who_choose_at_once_have_a_table_each():
    result = searched("goofspiel", cards=3, players=3)
    text = str(result)
    for seat in range(3):
        assert re.search(rf"^player {seat}  +prior", text, re.MULTILINE)
    together = [line.split() for line in text.split("\n\n")[1].splitlines()]
    assert together[0][:3] == ["together", "visits", "share"]
    assert sum(int(row[3]) for row in together[1:] if row[0].startswith("(")) <= 80
    assert not ElementTree.fromstring(result._repr_html_()).findall(".//script")


# Chance


def test_the_fan_shows_every_outcome_even_those_never_drawn():
    result = searched("pig", moves=(0,), simulations=3)
    title, *rows = table_of(result)
    assert " ".join(title) == "drawn: 3 of 6 outcomes so far, each weighs as its visits"
    assert [row[0] for row in rows[1:]] == ["1", "2", "3", "4", "5", "6"]
    assert {row[1] for row in rows[1:]} == {"16.7%"}
    assert sum(int(row[2]) for row in rows[1:]) == 3
    curves = [part for part in parsed(result.picture().svg).iter(f"{SVG}path") if part.get("opacity") is None]
    assert len(curves) == 6


def test_the_fan_below_the_chosen_action_says_what_was_drawn():
    """Its visits are those of the action; the weights they give make the action's value."""
    result = searched("pig", simulations=200)
    title, _, *rows = [line.split() for line in str(result).split("\n\n")[2].splitlines()]
    assert " ".join(title) == "after roll, drawn: 6 of 6 outcomes so far, each weighs as its visits"
    visits = [int(row[2]) for row in rows]
    assert sum(visits) == result.visits[0, 0]
    mean = sum(n * float(row[4]) for n, row in zip(visits, rows, strict=True)) / sum(visits)
    assert mean == pytest.approx(result.q[0, 0], abs=5e-3)  # Pig has loops, where values off the path lag
    assert "after roll, drawn: 6 of 6" in words_of(result.picture().svg)
    assert "after roll, drawn: 6 of 6" in result._repr_html_()


def test_an_enumerated_fan_is_marked_as_exact_and_knows_outcomes_that_were_never_drawn():
    exact = ab.SearchConfig(chance=ab.Chance(exact_up_to=6))
    result = searched("pig", moves=(0,), simulations=1, config=exact)
    title, _, *rows = table_of(result)
    assert " ".join(title[:3]) == "6 outcomes, exact:"
    assert [row[2] for row in rows] == ["0"] * 6
    mean = sum(float(row[4]) for row in rows) / 6
    assert mean == pytest.approx(result.value[0], abs=1e-3)


def test_frozen_outcomes_are_marked():
    widening = ab.SearchConfig(chance=ab.Chance(widen_cap=1))
    result = searched("pig", moves=(0,), simulations=30, config=widening)
    assert str(result).count("(frozen)") == 5
    assert (result.chance.rows[0].outcomes, result.chance.frozen >= 5) == (6, True)


def test_many_outcomes_are_cut():
    result = searched("pig", sides=50, moves=(0,), simulations=100)
    assert "and 30 more outcomes with" in str(result)


# Notes


class Unsaid(type(ab.games.load("tic_tac_toe", compiled=False))):  # type: ignore[misc]
    """Tic-tac-toe that does not promise what it keeps."""

    zero_sum = False


@pytest.mark.parametrize(("game", "noted"), [("tic_tac_toe", False), (Unsaid, True)])
def test_open_proofs_say_that_zero_sum_would_prove_more(game: Any, noted: bool):
    made = ab.games.load(game, compiled=False) if isinstance(game, str) else game(compiled=False)
    state = made.position("xx./.o./...")
    seen = set()
    for simulations in (2, 20, 50, 1000):
        config = ab.SearchConfig(proofs="on")
        result = ab.search(state, simulations=simulations, evaluator=ab.Uniform(), config=config)
        unsettled = result.proof is not None and not result.proven  # with 2 simulations nothing is certain yet
        assert ("promise zero_sum" in str(result)) == (noted and unsettled)
        seen.add((result.proven, unsettled))
    assert seen == {(False, False), (False, True), (True, False)}


def test_a_limit_that_was_reached_is_noted():
    limited = searched("tic_tac_toe", config=ab.SearchConfig(max_nodes=20), simulations=200)
    free = searched("tic_tac_toe", simulations=200)
    assert "note: the limit of nodes or bytes was reached (20 nodes" in str(limited)
    assert "limit" in words_of(limited.picture().svg)
    assert "limit" in limited._repr_html_()
    assert "note" not in str(free)
    state = ab.games.load("tic_tac_toe", compiled=False).start()
    reference = ab.Reference(state, ab.Hashing(), ab.SearchConfig(max_nodes=20)).run(simulations=200)
    assert "limit of nodes" in str(reference)


def test_widening_is_no_limit():
    config = ab.SearchConfig(chance=ab.Chance(widen=1.0, widen_cap=2))
    assert "limit" not in str(searched("pig", moves=(0,), config=config, simulations=60))


def test_a_result_says_that_its_graph_has_changed_since():
    state = ab.games.load("tic_tac_toe", compiled=False).start()
    searcher = ab.Searcher(state.game, ab.Hashing())
    root = searcher.root(state)
    [result] = searcher.run(root, simulations=30)
    before = str(result)
    assert "note" not in before
    searcher.run(root, simulations=50)
    assert "searched on since (30 visits then, 80 now)" in str(result)
    assert [row[:4] for row in table_of(result)] == [line.split()[:4] for line in before.split("\n\n")[1].splitlines()]


# HTML and pictures


def test_html_has_the_same_facts_and_nothing_that_runs(joint):
    class Hostile(type(ab.games.load("take_away", compiled=False))):  # type: ignore[misc]
        title = "<script>x</script>"

        def action_name(self, action: int) -> str:
            return ("<img src=x onerror=alert(1)>", "a&b", '"c"')[action]

    hostile = ab.search(Hostile(stones=7, compiled=False).start(), simulations=40, evaluator=ab.Hashing())
    for result in (joint, hostile, searched("pig", moves=(0,)), searched("take_away", stones=1, moves=(0,))):
        html = result._repr_html_()
        root = ElementTree.fromstring(html)  # our HTML is XML too
        for part in root.iter():
            assert part.tag.rpartition("}")[2] not in ("script", "img", "style", "link", "iframe", "a")
            assert not [name for name in part.attrib if name.startswith("on") or "href" in name]
        said = "".join(root.itertext())
        for table in result_sheet(result).tables:
            for row in table.rows:
                assert all(words in said for cell in row for words in cell.lines)
        parsed(result.picture().svg)
    assert "<img src=x onerror=alert(1)>" in words_of(hostile.picture().svg)


@pytest.mark.parametrize("players", [1, 2, 3])
def test_colours_mean_the_same_however_many_play(players):
    """The best is nearly the player's own colour, the worst pale and the same for all."""
    scale = Scale(-1.0, 1.0, players)
    for seat in range(players):
        assert scale.colour(1.0, seat) == blend(player_colour(seat), 0.9)
        assert scale.colour(-1.0, seat) == blend(player_colour(seat), 0.0) == scale.colour(-1.0, 0)
        assert len({scale.colour(value, seat) for value in (-1.0, -0.5, 0.0, 0.5, 1.0)}) == 5


@pytest.mark.parametrize(("name", "moves"), [("take_away", ()), ("n_in_a_row", ()), ("matrix", ()), ("pig", (0,))])
def test_a_result_says_what_its_colours_mean(name, moves):
    result = searched(name, moves=moves)
    for said in (words_of(result.picture().svg), "".join(ElementTree.fromstring(result._repr_html_()).itertext())):
        assert "the better a value, the stronger its player's colour" in said
    assert "colour" not in str(result)  # text has none


# Graphs


def drawn(picture: ab.Picture) -> tuple[list[int], Counter[tuple[int, int]]]:
    """Return the numbers of the nodes and the ends of the edges in a picture."""
    root = parsed(picture.svg)
    nodes = [int(part.get("data-number", "")) for part in root.iter(f"{SVG}g") if part.get("class") == "node"]
    edges = [part for part in root.iter(f"{SVG}path") if part.get("class") == "edge"]
    return nodes, Counter((int(edge.get("data-from", "")), int(edge.get("data-to", ""))) for edge in edges)


@pytest.mark.parametrize(("depth", "most"), [(9, 1000), (2, 1000), (9, 7), (0, 5)])
def test_shared_nodes_are_drawn_once_with_all_their_parents(merged, depth, most):
    graph = merged.graph
    nodes, edges = drawn(graph.picture(depth=depth, most=most))
    assert len(nodes) == len(set(nodes)) <= most
    between = Counter(
        (number, edge.child) for number in nodes for edge in graph.node(number).edges if edge.child in set(nodes)
    )
    assert edges == between
    if most == 1000 and depth == 9:
        assert len(nodes) == len(graph)
        parents = Counter(end for _, end in edges)
        assert max(parents.values()) > 1  # positions do meet
        assert len(edges) > len(nodes) - 1  # so it is no tree


def test_the_most_visited_nodes_are_chosen(merged):
    graph = merged.graph
    nodes, _ = drawn(graph.picture(depth=1, most=3))
    best = sorted(graph.node(0).edges, key=lambda edge: -edge.visits)[:2]
    assert set(nodes) == {0, *(edge.child for edge in best)}


def test_the_reference_draws_the_same_graph(merged):
    state = merged.state
    other = ab.Reference(state, ab.Hashing()).run(simulations=300)
    assert other.graph.picture(depth=9, most=99).svg == merged.graph.picture(depth=9, most=99).svg
    assert str(other) == str(merged)
    assert merged.graph._repr_svg_() == merged.graph.picture().svg


def test_kinds_of_nodes_have_shapes_of_their_own():
    result = searched("pig", target=4, simulations=200)
    root = parsed(result.graph.picture(depth=4, most=40).svg)
    kinds = {part.get("data-kind"): part for part in root.iter(f"{SVG}g") if part.get("class") == "node"}
    assert set(kinds) == {"decision", "chance", "over"}
    shapes = {kind: [part.tag.removeprefix(SVG) for part in card][:2] for kind, card in kinds.items()}
    assert shapes["chance"][0] == "polygon"
    assert shapes["over"] == ["rect", "rect"]
    assert shapes["decision"][0] == "rect"
    for kind in ("decision", "chance", "game over"):
        assert kind in words_of(result.graph.picture(depth=4, most=40).svg)


def cards_of(picture: ab.Picture) -> list[str]:
    """Return the words of each card but its value and visits."""
    root = parsed(picture.svg)
    cards = [part for part in root.iter(f"{SVG}g") if part.get("class") == "node"]
    return ["|".join(text.text or "" for text in card.iter(f"{SVG}text") if text.get("font-family")) for card in cards]


class Counted(ab.CompiledGame):
    """Three who each add one or two to their own score until one has four; a record without a word about it."""

    def __init__(self) -> None:
        self.players, self.actions, self.returns = 3, 2, (-1.0, 2.0)
        self.state = ab.record(scores=(np.int8, 3), mover=np.int8, rules_of_the_house=np.int8, board=(np.int8, (3, 4)))

    def setup(self, state: Any, random: Any) -> None:
        state.rules_of_the_house = 7

    def turn(self, state: Any) -> int:
        return ab.OVER if max(state.scores) >= 4 else ab.player(state.mover)

    def legal(self, state: Any, player: int, actions: Any) -> int:
        actions[0], actions[1] = 0, 1
        return 2

    def step(self, state: Any, actions: Any, rewards: Any) -> None:
        mover = state.mover
        state.scores[mover] += actions[mover] + 1
        state.board[mover, state.scores[mover] - 1 if state.scores[mover] < 5 else 3] = 1
        state.mover = (mover + 1) % 3
        if state.scores[mover] >= 4:
            for player in range(3):
                rewards[player] = 2.0 if player == mover else -1.0


class Told(Counted):
    """The same in one long line."""

    def text(self, state: ab.State) -> str:
        return f"the house's rules  scores {list(state.scores)}  player {state.mover}  board {state.board.tolist()}"


@pytest.mark.parametrize("kind", [Counted, Told])
def test_no_two_nodes_without_a_board_look_the_same(kind):
    result = ab.search(kind(compiled=False).start(), simulations=200, evaluator=ab.Hashing())
    cards = cards_of(result.graph.picture())
    assert len(cards) > 5
    assert len(set(cards)) == len(cards)
    assert all("|" in card for card in cards)
    constant = [card for card in cards if "rules_of_the_house" in card]
    assert len(constant) == (kind is Counted)  # what is everywhere the same stands at the root alone


def test_long_texts_are_shortened_only_as_far_as_they_still_differ():
    same, early = [f"row {number}" for number in range(25)], ["row 0", "other", *(f"row {n}" for n in range(2, 25))]
    assert distinguishing([same, early]) == [["…", "row 1", "…"], ["…", "other", "…"]]
    late = [f"{number}" for number in range(24)]
    texts = distinguishing([same, [*late, "x"], [*late, "y"]])
    assert len(set(map(tuple, texts))) == 3


@pytest.mark.parametrize(
    ("name", "options"),
    [("connect_four", {}), ("pig", {}), ("goofspiel", {"cards": 6}), ("pyrat", {"preset": "open5"})],
)
def test_a_graph_fits_a_page(name, options):
    assert searched(name, simulations=300, **options).graph.picture().width <= 1600


def test_one_choice_of_each_decision_is_dark_and_no_outcome():
    result = searched("pig", target=4, simulations=200)
    picture = result.graph.picture(depth=4, most=40)
    dark: Counter[int] = Counter()
    for part in parsed(picture.svg).iter(f"{SVG}path"):
        if part.get("class") == "edge" and part.get("stroke") == SOFT:
            dark[int(part.get("data-from", ""))] += 1
    assert set(dark.values()) == {1}
    assert {result.graph.node(number).kind for number in dark} == {"decision"}
    for words in ("most visited choice", "other choices", "outcomes of chance"):
        assert words in words_of(picture.svg)


def test_the_middle_of_the_colours_is_nought_where_players_are_opposite():
    two = Spread.of(ab.games.load("connect_four", compiled=False), 0, [0.1, 0.3], total=0.0)
    assert (two.low, two.high) == (-1.0, 1.0)
    assert two.colour(0.0) == value_colour(0.0)


def test_a_graph_says_what_cannot_be_drawn(merged):
    for wrong in ({"depth": -1}, {"most": 0}, {"player": 2}):
        with pytest.raises(UsageError):
            merged.graph.picture(**wrong)


# The pages


def test_pictures_of_the_pages_are_small_still_and_of_today():
    """All can be shown; the boards, which need no search, are compared with what would be drawn now."""
    spec = importlib.util.spec_from_file_location("pictures", ROOT / "docs" / "pictures.py")
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    files = {path.stem: path.read_text(encoding="utf-8") for path in script.FOLDER.glob("*.svg")}
    assert {"analysis_connect_four", "joint_pyrat", "fan_pig", "graph_tic_tac_toe"} <= set(files)
    for svg in files.values():
        parsed(svg)
        assert len(svg) <= script.LARGEST
    for name, (options, moves) in script.POSITIONS.items():
        state = script.position(name, moves, compiled=False, **options)
        assert files[f"board_{name}"] == state.picture().svg, "docs/pictures.py draws it anew"


def test_dice_are_told_in_one_short_line():
    """Of one kind all enumerated; of several, some kept frozen: what is 0 or follows from the rest is not said."""
    alike = ChanceCounts((ChanceCount(6, 439, 439, 8438, 2634, 0),))
    assert str(alike) == "439 chance nodes of 6 outcomes: all enumerated, 8,438 visits"
    mixed = ChanceCounts((ChanceCount(2, 3, 1, 10, 5, 1), ChanceCount(None, 4, 0, 20, 7, 0)))
    assert str(mixed) == (
        "7 chance nodes (3 of 2, 4 of ? outcomes): 1 enumerated, 30 visits, 12 outcomes stored, 1 frozen"
    )
