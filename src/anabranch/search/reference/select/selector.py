"""What a selector is: four verbs, the same in the reference and in the engine."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from anabranch.search.maths.draws import Draws
from anabranch.search.maths.root_rule import Priors, RootRule
from anabranch.search.reference.nodes import Edge, Move, Node, Values


class Choice(NamedTuple):
    """A joint choice, and with which probability each acting player drew its part of it; none where nobody drew."""

    move: Move
    chances: tuple[float, ...] = ()


class Selector(Protocol):
    """A rule of selection. `index` numbers the acting players of a node; `rule` is given where the node is the root."""

    @property
    def most_acting(self) -> int | None:
        """The most players who may choose at once under this rule; None: any number."""
        ...

    def choose(self, node: Node, draws: Draws, rule: RootRule | None) -> Choice:
        """Return the joint choice of the acting players, each choosing alone from the node as it is now: reads only."""
        ...

    def learn(self, node: Node, edge: Edge, chances: tuple[float, ...]) -> None:
        """Learn from a visit that is backed up, drawn with such chances: after N(e) += 1, before the refresh."""
        ...

    def value(self, node: Node) -> Values:
        """Return Q of an evaluated node, of its edges and what was learnt (docs/model.md sections 3 and 9)."""
        ...

    def policy(self, node: Node, index: int, rule: RootRule | None) -> list[float]:
        """Return what is reported and played: a distribution over choices, the prior before any visit."""
        ...

    def winner(self, node: Node, index: int, rule: RootRule) -> int | None:
        """Return the choice that a run ended with, where that is not simply the likeliest; None: the policy decides."""
        ...


class Unplanned:
    """What selectors share that play what they report."""

    def winner(self, node: Node, index: int, rule: RootRule) -> int | None:
        """Nothing but the policy says what is played."""
        return None


def priors_in_use(node: Node, rule: RootRule | None) -> Priors:
    """Return a node's priors, one row per acting player; a root's may have noise."""
    return node.priors if rule is None or rule.priors is None else rule.priors
