"""What a search found: policies, visits and values at the root, and the line it expects."""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from anabranch.game.state import State
from anabranch.search.results.proof import Proof
from anabranch.search.results.views import Action
from anabranch.search.settings.config import Puct, SearchConfig

if TYPE_CHECKING:
    from anabranch.draw.picture import Picture
    from anabranch.search.results.chance import ChanceCounts

Floats = npt.NDArray[np.float64]


def choices(state: State, policy: Floats, winner: tuple[int, ...] | None) -> tuple[int, ...]:
    """Return what the acting players choose: what a run ended with, or the most likely; nothing where nobody acts."""
    turn = state.turn
    if isinstance(turn, int):
        return ()
    return winner or tuple(int(np.argmax(policy[seat])) for seat in turn)


def as_action(chosen: tuple[int, ...]) -> Action | None:
    """Return choices as an action: an id, a tuple of ids where several act, None where nobody does."""
    return None if not chosen else chosen[0] if len(chosen) == 1 else chosen


@dataclass(frozen=True)
class Result:
    """The outcome of a search. Arrays have one row per player and one column per action id."""

    state: State
    policy: Floats  # [P, A]; 0 for players who do not act and for ids that are not the representative of their choice
    visits: npt.NDArray[np.int64]  # [P, A]
    q: Floats  # [P, A]; NaN where never visited
    prior: Floats  # [P, A]
    value: Floats  # [P]
    outcomes: list[tuple[int, float, int, Floats]]  # of a chance root: outcome, probability, visits, value
    line: list[Action]  # what is expected: `action`, then along the edges visited most
    nodes: int
    simulations: int
    seconds: float
    graph: Any = field(repr=False)  # the engine's Graph, the reference's, or an Excerpt
    config: SearchConfig | None = field(default=None, repr=False)  # of this search: without exploration if it had none
    pruned: Floats | None = field(default=None, repr=False)  # `target`, where the engine has it at hand
    chosen: tuple[int, ...] | None = field(default=None, repr=False)  # by acting player: what Gumbel's run ended with
    proof: Proof | None = field(default=None, repr=False)  # what is certain; None: no more than before the search
    searched: Floats | None = field(default=None, repr=False)  # `policy` before what is certain was taken into account
    full: bool = True  # False where `SearchConfig.cap` made it a fast search, which only plays on

    @classmethod
    def made(cls, **fields: Any) -> Result:
        """Make a result of all its fields: a frozen dataclass sets them one by one, which takes as long as all else."""
        result = object.__new__(cls)
        vars(result).update(fields)
        return result

    @property
    def action(self) -> Action | None:
        """The choice to play: an id, a tuple of ids where players choose at once, None where nobody acts.

        It is the most likely one; of a Gumbel search the one that its run ended with.
        """
        return as_action(choices(self.state, self.policy, self.chosen))

    @property
    def target(self) -> Floats:
        """The policy to learn from, `[P, A]`: where playouts were forced, without those that only were.

        What is proven does not enter it: `proof` says which part of the result is. It is the policy of the search where
        none were forced, and where a selector keeps an average strategy or has no priors to force by.
        """
        from anabranch.search.results.move_rules import pruned_policy

        if self.pruned is not None:
            return self.pruned.copy()
        found, turn = (self.policy if self.searched is None else self.searched).copy(), self.state.turn
        if self.config is None or self.config.forced is None or isinstance(turn, int):
            return found
        alone = len(turn) == 1 or self.config.simultaneous is None
        if isinstance(self.config.selector if alone else self.config.simultaneous, Puct):
            for seat in turn:
                found[seat] = pruned_policy(self, seat, self.config.forced, self.config)
        return found

    @property
    def proven(self) -> bool:
        """Whether the exact value of the state is known: then the search ended there, and `action` is a best one."""
        return self.proof is not None and self.proof.proven

    @property
    def exploitability(self) -> float | None:
        """What a best reply gains in the searched table where two players choose at once; None where it has none.

        NashConv / 2 of the policies on ½·(q_1 − q_2), with U where nothing was visited. `ab.exploitability` knows the
        whole game.
        """
        from anabranch.search.results.certificate import root_exploitability

        return root_exploitability(self)

    @property
    def chance(self) -> ChanceCounts:
        """The chance nodes of the graph as it is now: how many, their visits, the outcomes they met."""
        from anabranch.search.results.chance import chance_counts

        return chance_counts(self.graph, in_transition=self._in_transition)

    @property
    def _in_transition(self) -> bool:
        return self.config is not None and self.config.chance.draw == "in_transition"

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: everything, but of the graph an excerpt, which says of all else where it stayed."""
        from anabranch.search.results.excerpt import excerpt

        return {**self.__dict__, "graph": excerpt(self.graph, self.action, in_transition=self._in_transition)}

    def __copy__(self) -> Result:
        return replace(self)

    @property
    def simulations_per_second(self) -> float:
        """Simulations of this run divided by its time."""
        return self.simulations / self.seconds if self.seconds > 0 else math.nan

    def to_json(self) -> str:
        """Return everything but the graph as JSON; values never visited are null."""
        turn = self.state.turn
        seats = [] if isinstance(turn, int) else list(turn)
        rows = {
            str(seat): [
                {
                    "action": action,
                    "name": self.state.game.move_name(self.state, seat, action),
                    "prior": float(self.prior[seat, action]),
                    "visits": int(self.visits[seat, action]),
                    "policy": float(self.policy[seat, action]),
                    "q": None if math.isnan(self.q[seat, action]) else float(self.q[seat, action]),
                }
                for action in self.state.choices(seat)
            ]
            for seat in seats
        }
        name = self.state.game.outcome_name
        fan = [
            {"outcome": o, "name": name(o), "probability": p, "visits": n, "value": q.tolist()}
            for o, p, n, q in self.outcomes
        ]
        facts: dict[str, Any] = {
            "game": self.state.game.name,
            "value": self.value.tolist(),
            "action": self.action,
            "exploitability": self.exploitability,
            "players": rows,
            "outcomes": fan,
            "line": self.line,
            "nodes": self.nodes,
            "simulations": self.simulations,
            "seconds": self.seconds,
            "full": self.full,
            "chance": None if getattr(self.graph, "moved_on", False) else self.chance.facts(),
            "proven": self.proven,
            "certain": self._certain(),
        }
        return json.dumps(facts)

    def _certain(self) -> dict[str, Any] | None:
        """Return what is certain, for JSON: intervals per player, null where an end is not known."""

        def ends(interval: Floats) -> list[list[float | None]]:
            return [[float(end) if math.isfinite(end) else None for end in pair] for pair in interval]

        if self.proof is None:
            return None
        edges = [
            {"action": edge.action, "interval": ends(edge.interval), "proven": edge.proven, "distance": edge.distance}
            for edge in self.proof.edges
        ]
        return {"interval": ends(self.proof.interval), "distance": self.proof.distance, "edges": edges}

    def picture(self) -> Picture:
        """Draw the result: the board, and the table of choices, joint choices or outcomes beside it."""
        from anabranch.search.results.show.card import result_picture

        return result_picture(self)

    def __str__(self) -> str:
        from anabranch.search.results.show.result_sheet import result_sheet
        from anabranch.search.results.show.text import sheet_text

        return sheet_text(result_sheet(self))

    def _repr_html_(self) -> str:
        from anabranch.search.results.show.html import result_html

        return result_html(self)


@functools.lru_cache(maxsize=64)  # settings check themselves when they are made, which takes as long as ten evaluations
def used(config: SearchConfig, explores: bool) -> SearchConfig:
    """Return the settings a root was searched with: a fast search has no noise and no forced playouts."""
    return config if explores else replace(config, noise=None, forced=None)
