"""What is certain at a root, and what it does to the move that is played (docs/model.md section 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from anabranch.game.state import State
from anabranch.search.maths.matrix_game import equilibrium
from anabranch.search.results.views import Action

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class EdgeProof:
    """What is certain of one choice, joint choice or outcome that was tried."""

    action: Action
    interval: Floats  # [P, 2]: lowest and highest exact value of every player
    proven: bool  # whether that is a point
    distance: int  # proven: steps from the state behind it to the end of the game


@dataclass(frozen=True)
class Proof:
    """What is certain of a root: intervals that contain the exact values."""

    interval: Floats  # [P, 2]
    proven: bool  # whether the exact value is known
    distance: int  # proven: steps to the end of the game, as far as they were looked at
    first: Floats = field(repr=False)  # [P, 2]: what was certain before anything was searched
    edges: list[EdgeProof] = field(repr=False)
    width: float = field(repr=False, default=0.0)  # an interval no wider is a point

    @property
    def by_action(self) -> dict[Action, EdgeProof]:
        """What is certain of every choice that was tried."""
        return {edge.action: edge for edge in self.edges}


def played_policy(policy: Floats, visits: npt.NDArray[np.int64], q: Floats, state: State, proof: Proof) -> Floats:
    """Return the policy to play: what the search reports, but for what is certain.

    Of a proven root a best choice, for two who choose at once an equilibrium. Else nothing that is certainly worse, and
    a proven choice before all others if it is worth at least as much as the most likely one seems to be.
    """
    turn = state.turn
    if isinstance(turn, int):
        return policy
    played = policy.copy()
    if len(turn) == 1:
        seat = turn[0]
        played[seat] = settled(policy[seat], visits[seat], q[seat], seat, proof)
    elif len(turn) == 2 and state.game.players == 2 and proof.proven:
        rows, columns = (list(state.choices(seat)) for seat in turn)
        found = _joint(proof, rows, columns)
        if found is not None:
            played[:] = 0.0
            played[turn[0], rows], played[turn[1], columns] = found
    return played


def played_choice(
    winner: tuple[int, ...] | None, played: Floats, q: Floats, state: State, proof: Proof
) -> tuple[int, ...] | None:
    """Return the choice that a run ended with, unless something else is certain to be better; None: `played` decides.

    That is so of a proven root, of a winner that another choice is certain to beat, and of one that is open and seems
    worth no more than the best proven choice, which nobody visits any more.
    """
    turn = state.turn
    if winner is None or proof.proven or isinstance(turn, int):
        return None
    if len(turn) > 1:
        return winner
    [seat], [action] = turn, winner
    known = proof.by_action
    if not known:
        return winner
    sure = max(float(edge.interval[seat, 0]) for edge in known.values())
    if action in known and known[action].interval[seat, 1] < sure:
        return None
    closed = [edge for edge in known.values() if edge.proven]
    if closed and not (action in known and known[action].proven):
        best = max(closed, key=lambda edge: (edge.interval[seat, 0], played[seat, edge.action]))
        if not q[seat, action] > best.interval[seat, 0] and isinstance(best.action, int):
            return (best.action,)
    return winner


def settled(policy: Floats, visits: npt.NDArray[np.int64], q: Floats, seat: int, proof: Proof) -> Floats:
    """Return a policy over action ids of the one player who acts, with what is certain taken into account."""
    known = [edge for edge in proof.edges if isinstance(edge.action, int)]
    if not known:
        return policy
    if proof.proven:
        worth = float(proof.interval[seat, 0])
        best = [edge for edge in known if edge.interval[seat, 0] >= worth - proof.width]
        if not best:
            return policy  # whatever is played, the outcome is the same
        hurry = 1 if worth > 0.0 else -1  # winners hurry, others take their time
        return _only(
            policy,
            min(best, key=lambda edge: (not edge.proven, hurry * edge.distance, -visits[edge.action], edge.action)),
        )
    sure = max(float(edge.interval[seat, 0]) for edge in known)
    weights = policy.copy()
    for edge in known:
        if edge.interval[seat, 1] < sure:
            weights[edge.action] = 0.0
    closed = [edge for edge in known if edge.proven and weights[edge.action] > 0.0]
    open_ = weights.copy()
    open_[[edge.action for edge in closed if isinstance(edge.action, int)]] = 0.0
    if closed and open_.any():
        best_closed = max(closed, key=lambda edge: (edge.interval[seat, 0], weights[edge.action]))
        likeliest = int(np.argmax(open_))
        if not q[likeliest] > best_closed.interval[seat, 0] and best_closed.action != int(np.argmax(weights)):
            # As if it had been visited once more than any other.
            weights[best_closed.action] = weights.max() + 1.0 / max(1, int(visits.sum()))
    total = float(weights.sum())
    return weights / total if total > 0.0 else policy


def _only(policy: Floats, edge: EdgeProof) -> Floats:
    row = np.zeros_like(policy)
    row[edge.action] = 1.0
    return row


def _joint(proof: Proof, rows: Sequence[int], columns: Sequence[int]) -> tuple[list[float], list[float]] | None:
    """Return strategies that secure a proven value: pure ones where they suffice, else the equilibrium."""
    known = proof.by_action
    cells = [[known.get((row, column)) for column in columns] for row in rows]
    first = proof.first[0]
    table = [[first if cell is None else cell.interval[0] for cell in line] for line in cells]
    low, high = proof.interval[0]
    sure = [min(float(cell[0]) for cell in line) for line in table]
    paid = [max(float(line[column][1]) for line in table) for column in range(len(columns))]
    if max(sure) >= low - proof.width and min(paid) <= high + proof.width:
        mine, theirs = [0.0] * len(rows), [0.0] * len(columns)
        mine[sure.index(max(sure))] = theirs[paid.index(min(paid))] = 1.0
        return mine, theirs
    if any(cell is None or not cell.proven for line in cells for cell in line):
        return None
    mine, theirs, _ = equilibrium([[float(cell[0]) for cell in line] for line in table])
    return mine, theirs
