"""Random finite games: the generator behind tests of laws that hold for every game."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.parameters import flag, real, whole
from anabranch.game.random import Random, below, key_of, uniform
from anabranch.games.explicit import Explicit, room

GRAIN = 4096  # rewards are multiples of 1/4096: exact in float32, and rarely tied
DICE = 64  # probabilities are multiples of 1/64: expectations stay exact
MOST_EDGES = 2_000_000
GAP = 2.0**-8  # tie-free choices are at least this far apart
ATTEMPTS = 1000  # to draw a tie-free game
END = 0.1  # the share of inner nodes that are over
SKIP = 0.2  # the share of edges that leave out a layer, so that lines of different length meet
FAR = 1e9  # more than any line of play pays
STAY = 0.4  # the share of edges back that lead to the node they come from


class RandomGame(Explicit):
    """A random game in layers: nodes lead to the next layer or the one after it, the last layer is over.

    Each layer has at most `width` nodes; with `merge=False` the game is a tree, whose layers have at most `width` nodes
    that go on. A node is chance with probability `chance`, else a decision; a decision is taken by two or three players
    at once with probability `simultaneous`. Players have 1 to `choices` choices, chance has 2 to `choices` + 1
    outcomes. The last step pays up to ±1; with `rewards_along` other steps may pay up to ±1/4. With `zero_sum` (two
    players) one player gets what the other pays.

    Of a chance node's outcomes the share `chance_after_chance` leads to chance again (None: as it happens), so dice
    follow dice, often several in a row. With `loops` that share of edges leads back: to the node itself or to another
    one met before, in its layer or an earlier one. What a repetition means is `cycles`, "bootstrap" or a number. At
    least one choice of a decision and the likeliest outcome of a chance node go on, so that random play ends. Lines of
    play must not pay without end: with `loops`, dice that follow dice pay nothing, and either `discount` is below 1 or
    `rewards_along` is off.

    Rewards are multiples of 1/4096 and probabilities of 1/64, so that values without discount are exact in doubles.
    `tie_free` draws until, wherever a player moves, no two choices are worth the same to that player (they are at least
    1/256 apart): then exact values are unique for any number of players. With merging and without `rewards_along` such
    games are rare: two lines often lead to one and the same end. The same seed and options give the same game.
    """

    title = "random_game"

    def __init__(
        self,
        seed: int = 0,
        players: int = 2,
        layers: int = 5,
        width: int = 6,
        choices: int = 3,
        chance: float = 0.25,
        simultaneous: float = 0.0,
        zero_sum: bool = False,
        tie_free: bool = False,
        rewards_along: bool = True,
        merge: bool = True,
        discount: float = 1.0,
        chance_after_chance: float | None = None,
        loops: float = 0.0,
        cycles: str | float = "bootstrap",
    ) -> None:
        plan = Plan(
            players=whole("players", players, 1, 62),
            layers=whole("layers", layers, 1, 10_000),
            width=whole("width", width, 1, 10_000),
            choices=whole("choices", choices, 1, DICE - 1),
            chance=_share("chance", chance),
            simultaneous=_share("simultaneous", simultaneous),
            zero_sum=flag("zero_sum", zero_sum),
            tie_free=flag("tie_free", tie_free),
            rewards_along=flag("rewards_along", rewards_along),
            merge=flag("merge", merge),
            chance_after_chance=None
            if chance_after_chance is None
            else _share("chance_after_chance", chance_after_chance),
            loops=_share("loops", loops),
        )
        _share("discount", discount)
        if layers * width * choices > MOST_EDGES:
            raise UsageError(
                f"random_game: layers · width · choices must be at most {MOST_EDGES:,}, "
                f"found {layers} · {width} · {choices}"
            )
        if zero_sum and players != 2:
            raise UsageError(f"zero_sum needs two players, found {players}")
        if simultaneous and players == 1:
            raise UsageError("simultaneous needs at least two players")
        if simultaneous and tie_free:
            raise UsageError(
                "tie_free is about one player's choice; where players choose at once, a best strategy mixes choices of "
                "equal worth. Leave one of them out, and ask ab.solve(game).gap() how far apart choices are"
            )
        if loops and tie_free:
            raise UsageError("tie_free is decided from the last layer up, and loops have no last one; leave one out")
        if loops and discount == 1.0 and rewards_along:
            raise UsageError("loops would pay without end; give a discount below 1, or rewards_along=False")
        whole("seed", seed, 0)
        for attempt in range(ATTEMPTS):
            table = draw_table(plan, Random(key_of((seed, attempt))))
            if not tie_free or smallest_gap(table, discount) >= GAP:
                break
        else:
            raise UsageError(
                f"{ATTEMPTS} draws gave no tie-free game; make it smaller, or give rewards_along or merge=False"
            )
        if loops:
            table["returns"] = returns_with_loops(table, discount)
        super().__init__(table, discount=discount, cycles=cycles)
        # The same sizes for every seed, so that all games of one plan share a compilation.
        self.actions, self.outcomes = room(choices, 2, 2), room(choices + 1, 4)

    __repr__ = Game.__repr__


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What kind of game to draw; the fields are the parameters of `RandomGame`."""

    players: int
    layers: int
    width: int
    choices: int
    chance: float
    simultaneous: float
    zero_sum: bool
    tie_free: bool
    rewards_along: bool
    merge: bool
    chance_after_chance: float | None
    loops: float


def draw_table(plan: Plan, random: Random) -> dict[str, Any]:
    """Draw a game as a table for `Explicit`; children are listed after their parents, but for loops."""
    kinds = [{0: "chance" if uniform(random) < plan.chance else "decision"}, *({} for _ in range(plan.layers))]
    nodes: dict[str, Any] = {}
    for layer, members in enumerate(kinds):
        for number in sorted(members):
            kind, here = members[number], (layer, number)
            node: dict[str, Any] = {"kind": kind}
            if kind == "chance":
                weights = _parts(_count(plan, layer, random) + 1, random)
                onward = weights.index(max(weights))
                ways = [_edge(plan, kinds, here, place == onward, random) for place in range(len(weights))]
                node["outcomes"] = [[weight / DICE, *way] for weight, way in zip(weights, ways, strict=True)]
            elif kind == "decision":
                acting = _acting(plan, random)
                counts = [_count(plan, layer, random) for _ in acting]
                onward = below(random, math.prod(counts)) if plan.loops else 0
                joints = itertools.product(*(range(count) for count in counts))
                edges = [
                    [list(joint), *_edge(plan, kinds, here, place == onward, random)]
                    for place, joint in enumerate(joints)
                ]
                node |= {"acting": acting, "choices": counts, "edges": edges}
            nodes[f"n{layer}_{number}"] = node
    return {"players": plan.players, "root": "n0_0", "nodes": nodes}


def smallest_gap(table: dict[str, Any], discount: float) -> float:
    """Return the smallest difference between two choices of one mover; the table lists children after parents.

    The exact values are found on the way, by the recursion that `ab.solve` uses (which lives in a layer above).
    """
    values: dict[str, list[float]] = {}
    smallest = math.inf
    for name, node in reversed(table["nodes"].items()):
        values[name] = [0.0] * table["players"]
        if node["kind"] == "chance":
            for chance, child, rewards in node["outcomes"]:
                for player, reward in enumerate(rewards):
                    values[name][player] += chance * (reward + values[child][player])
        elif node["kind"] == "decision":
            mover = node["acting"][0]
            worth = [
                [reward + discount * value for reward, value in zip(rewards, values[child], strict=True)]
                for _, child, rewards in node["edges"]
            ]
            worth.sort(key=lambda vector: vector[mover])
            values[name] = worth[-1]
            smallest = min([smallest, *(high[mover] - low[mover] for low, high in itertools.pairwise(worth))])
    return smallest


def returns_with_loops(table: dict[str, Any], discount: float) -> list[float]:
    """Return the range of what lines of play that end pay: those of one step, of two, … until longer ones add nothing.

    Rounded outwards to the grain of rewards.
    """
    numbers = {name: number for number, name in enumerate(table["nodes"])}
    nodes = [
        (1.0, node["outcomes"]) if node["kind"] == "chance" else (discount, node.get("edges", []))
        for node in table["nodes"].values()
    ]
    inner = [number for number, (_, edges) in enumerate(nodes) if edges]
    firsts = np.cumsum([0, *(len(nodes[number][1]) for number in inner)])[:-1]
    rows = [(factor, numbers[child], rewards) for factor, edges in nodes for _, child, rewards in edges]
    factors, children = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    paid = np.array([row[2] for row in rows])
    paid = np.hstack([paid, -paid])  # the least is the most of what is lost
    most = np.zeros((len(nodes), paid.shape[1]))
    most[inner] = -FAR
    change = FAR
    while change > 1e-9:
        now = np.maximum.reduceat(paid + factors[:, None] * most[children], firsts)
        change = float(np.abs(now - most[inner]).max())
        most[inner] = now
    high, low = np.split(most[numbers[table["root"]]], 2)
    return [-(math.floor(low.max() * GRAIN) + 1) / GRAIN, (math.floor(high.max() * GRAIN) + 1) / GRAIN]


def _edge(plan: Plan, kinds: list[dict[int, str]], here: tuple[int, int], onward: bool, random: Random) -> list[Any]:
    """Draw [child, rewards]; a child met for the first time is given its kind."""
    layer, number = here
    rolled = kinds[layer][number] == "chance"
    if plan.loops and not onward and uniform(random) < plan.loops:
        target, number = _met_before(kinds, here, random)
    else:
        skip = layer + 2 <= plan.layers and uniform(random) < SKIP
        target = layer + 2 if skip else layer + 1
        if rolled and plan.chance_after_chance is not None:
            number = _after_chance(plan, kinds[target], target == plan.layers, random)
        else:
            number = below(random, plan.width) if plan.merge else len(kinds[target])
            if number not in kinds[target]:
                going_on = sum(kind != "over" for kind in kinds[target].values())
                if target == plan.layers or going_on >= plan.width or (layer > 0 and uniform(random) < END):
                    kinds[target][number] = "over"
                else:
                    kinds[target][number] = "chance" if uniform(random) < plan.chance else "decision"
    kind = kinds[target][number]
    rewards = _rewards(plan, kind == "over", random)
    if plan.loops and rolled and kind == "chance":  # such loops are not discounted
        rewards = [0.0] * plan.players
    return [f"n{target}_{number}", rewards]


def _met_before(kinds: list[dict[int, str]], here: tuple[int, int], random: Random) -> tuple[int, int]:
    """Draw where an edge back leads: to its own node, or to any that goes on in this layer and those before."""
    if uniform(random) < STAY:
        return here
    met = [
        (layer, number)
        for layer, members in enumerate(kinds[: here[0] + 1])
        for number, kind in sorted(members.items())
        if kind != "over"
    ]
    return met[below(random, len(met))]


def _after_chance(plan: Plan, members: dict[int, str], last: bool, random: Random) -> int:
    """Draw where an outcome leads within a layer: to chance with the probability asked for, as far as there is room."""
    assert plan.chance_after_chance is not None
    again = uniform(random) < plan.chance_after_chance
    number = len(members)
    if plan.merge:
        every = range(plan.width)
        fitting = [place for place in every if place not in members or (members[place] == "chance") == again] or every
        number = fitting[below(random, len(fitting))]
    if number not in members:
        full = sum(kind != "over" for kind in members.values()) >= plan.width
        over = last or full or (not again and uniform(random) < END)
        members[number] = "over" if over else "chance" if again else "decision"
    return number


def _count(plan: Plan, layer: int, random: Random) -> int:
    """Draw a number of choices; the root has as many as allowed, so that no game is trivial."""
    return below(random, plan.choices) + 1 if layer else plan.choices


def _rewards(plan: Plan, last: bool, random: Random) -> list[float]:
    rewards = [0.0] * plan.players
    for player in range(plan.players):
        most = GRAIN if last else GRAIN // 4
        if last or (plan.rewards_along and (plan.tie_free or uniform(random) < 0.5)):
            rewards[player] = (below(random, 2 * most + 1) - most) / GRAIN
    return [rewards[0], 0.0 - rewards[0]] if plan.zero_sum else rewards


def _acting(plan: Plan, random: Random) -> list[int]:
    count = 1
    if uniform(random) < plan.simultaneous:
        count = 2 + below(random, min(plan.players, 3) - 1)
    seats = list(range(plan.players))
    while len(seats) > count:
        seats.pop(below(random, len(seats)))
    return seats


def _parts(count: int, random: Random) -> list[int]:
    """Cut DICE into positive parts."""
    cuts = list(range(1, DICE))
    while len(cuts) > count - 1:
        cuts.pop(below(random, len(cuts)))
    return [high - low for low, high in itertools.pairwise([0, *cuts, DICE])]


def _share(name: str, value: float) -> float:
    return real(name, value, 0.0, 1.0)
