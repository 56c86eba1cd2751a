"""All symmetries of a game as a group: the identity first, closed under doing one after another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anabranch.errors import GameError
from anabranch.game.symmetry import Symmetry

if TYPE_CHECKING:
    from anabranch.game.game import Game

Permutations = npt.NDArray[np.intp]


def symmetry_group(game: Game) -> tuple[Symmetry, ...]:
    """Return the identity and then every other symmetry of a game, each once, all four permutations written out.

    Symmetries done one after another are symmetries again. A game that leaves some of those out is refused: an average
    over what it lists would depend on which mirror image of a position was asked about.
    """
    known: tuple[Symmetry, ...] | None = vars(game).get("_symmetry_group")
    if known is not None:
        return known
    group = written_out(game, game.symmetries())
    gap = gap_in(group)
    if gap:
        raise GameError(f"{game.name}: {gap}; list it in symmetries()")
    vars(game)["_symmetry_group"] = group  # as cached properties do: a game never changes, and is asked for every batch
    return group


def written_out(game: Game, symmetries: Sequence[Symmetry]) -> tuple[Symmetry, ...]:
    """Return the identity and these symmetries, each once, with no part left out, so that equal ones compare equal."""
    sizes = {
        "actions": game.actions,
        "cells": math.prod(game.observation) if game.observation is not None else 0,
        "players": game.players,
        "outcomes": max((len(symmetry.outcomes or ()) for symmetry in symmetries), default=0),
    }
    found: dict[Symmetry, None] = {}
    for symmetry in (Symmetry(), *symmetries):
        parts = {}
        for name, size in sizes.items():
            given = getattr(symmetry, name)
            part = tuple(range(size)) if given is None else tuple(int(index) for index in given)
            if name == "outcomes":  # of which a game need not know the number
                part += tuple(range(len(part), size))
            if sorted(part) != list(range(size)):
                raise GameError(f"{game.name}: {name} of a symmetry is no permutation of 0 to {size - 1}: {part}")
            parts[name] = part
        found[Symmetry(**parts)] = None
    return tuple(found)


def gap_in(group: Sequence[Symmetry]) -> str | None:
    """Return what is missing for symmetries, written out and the identity first, to be a group; None: nothing is.

    Products with generators suffice: once everything is reached by them, every product is a chain of such steps.
    """
    table, offset = [], 0
    for part in ("actions", "cells", "players", "outcomes"):
        rows = _table(group, part)
        table.append(rows + offset)
        offset += rows.shape[1]
    whole = np.concatenate(table, axis=1)
    number = {row.tobytes(): index for index, row in enumerate(whole)}
    generators: list[int] = []
    reached = {0}
    for candidate in range(len(group)):
        if candidate in reached:
            continue
        generators.append(candidate)
        waiting = list(reached)
        while waiting:
            one = waiting.pop()
            for other in generators:
                product = number.get(whole[other][whole[one]].tobytes())
                if product is None:
                    return (
                        f"symmetries are no group: number {one} followed by number {other} is not among them "
                        f"(number 0 is the identity)"
                    )
                if product not in reached:
                    reached.add(product)
                    waiting.append(product)
    return None


@dataclass(frozen=True)
class GroupTable:
    """The G symmetries of a game's decisions as arrays: where each index goes, or came from (`sources`)."""

    actions: Permutations  # [G, A]
    players: Permutations  # [G, P]
    action_sources: Permutations
    player_sources: Permutations
    cell_sources: Permutations  # [G, C]

    def __len__(self) -> int:
        return len(self.actions)

    @staticmethod
    def of(game: Game) -> GroupTable:
        """Return the table of a game; symmetries that differ in outcomes alone are one."""
        known: GroupTable | None = vars(game).get("_group_table")
        if known is not None:
            return known
        parts = [(one.actions, one.cells, one.players) for one in symmetry_group(game)]
        group = [Symmetry(actions=a, cells=c, players=p) for a, c, p in dict.fromkeys(parts)]
        actions, players, cells = (_table(group, part) for part in ("actions", "players", "cells"))
        made = GroupTable(
            actions, players, np.argsort(actions, axis=1), np.argsort(players, axis=1), np.argsort(cells, axis=1)
        )
        vars(game)["_group_table"] = made
        return made


def _table(group: Sequence[Symmetry], part: str) -> Permutations:
    return np.array([getattr(symmetry, part) for symmetry in group], np.intp).reshape(len(group), -1)
