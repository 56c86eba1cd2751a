"""Random finite games: the generator behind tests of laws that hold for every game."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.parameters import whole
from anabranch.game.random import Random, below, key_of, uniform
from anabranch.games.explicit import Explicit, room

GRAIN = 4096  # rewards are multiples of 1/4096: exact in float32, and rarely tied
DICE = 64  # probabilities are multiples of 1/64: expectations stay exact
MOST_EDGES = 2_000_000
GAP = 2.0**-8  # tie-free choices are at least this far apart
ATTEMPTS = 1000  # to draw a tie-free game
END = 0.1  # the share of inner nodes that are over
SKIP = 0.2  # the share of edges that leave out a layer, so that lines of different length meet


class RandomGame(Explicit):
    """A random game in layers: nodes lead to the next layer or the one after it, the last layer is over.

    Each layer has at most `width` nodes; with `merge=False` the game is a tree, whose layers have at most `width` nodes
    that go on. A node is chance with probability `chance`, else a decision; a decision is taken by two or three players
    at once with probability `simultaneous`. Players have 1 to `choices` choices, chance has 2 to `choices` + 1
    outcomes. The last step pays up to ±1; with `rewards_along` other steps may pay up to ±1/4. With `zero_sum` (two
    players) one player gets what the other pays.

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
    ) -> None:
        plan = Plan(
            players=whole("players", players, 1, 62),
            layers=whole("layers", layers, 1, 10_000),
            width=whole("width", width, 1, 10_000),
            choices=whole("choices", choices, 1, DICE - 1),
            chance=_share("chance", chance),
            simultaneous=_share("simultaneous", simultaneous),
            zero_sum=zero_sum,
            tie_free=tie_free,
            rewards_along=rewards_along,
            merge=merge,
        )
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
        whole("seed", seed, 0)
        for attempt in range(ATTEMPTS):
            table = draw_table(plan, Random(key_of((seed, attempt))))
            if not tie_free or smallest_gap(table, discount) >= GAP:
                break
        else:
            raise UsageError(
                f"{ATTEMPTS} draws gave no tie-free game; make it smaller, or give rewards_along or merge=False"
            )
        super().__init__(table, discount=discount)
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


def draw_table(plan: Plan, random: Random) -> dict[str, Any]:
    """Draw a game as a table for `Explicit`; children are listed after their parents."""
    kinds = [{0: "chance" if uniform(random) < plan.chance else "decision"}, *({} for _ in range(plan.layers))]
    nodes: dict[str, Any] = {}
    for layer, members in enumerate(kinds):
        for number in sorted(members):
            kind = members[number]
            node: dict[str, Any] = {"kind": kind}
            if kind == "chance":
                weights = _parts(_count(plan, layer, random) + 1, random)
                node["outcomes"] = [[weight / DICE, *_edge(plan, kinds, layer, random)] for weight in weights]
            elif kind == "decision":
                acting = _acting(plan, random)
                counts = [_count(plan, layer, random) for _ in acting]
                joints = itertools.product(*(range(count) for count in counts))
                edges = [[list(joint), *_edge(plan, kinds, layer, random)] for joint in joints]
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


def _edge(plan: Plan, kinds: list[dict[int, str]], layer: int, random: Random) -> list[Any]:
    """Draw [child, rewards]; a child met for the first time is given its kind."""
    skip = layer + 2 <= plan.layers and uniform(random) < SKIP
    target = layer + 2 if skip else layer + 1
    number = below(random, plan.width) if plan.merge else len(kinds[target])
    if number not in kinds[target]:
        going_on = sum(kind != "over" for kind in kinds[target].values())
        if target == plan.layers or going_on >= plan.width or (layer > 0 and uniform(random) < END):
            kinds[target][number] = "over"
        else:
            kinds[target][number] = "chance" if uniform(random) < plan.chance else "decision"
    return [f"n{target}_{number}", _rewards(plan, kinds[target][number] == "over", random)]


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
    if not 0.0 <= value <= 1.0:
        raise UsageError(f"{name} is a share from 0 to 1, found {value!r}")
    return float(value)
