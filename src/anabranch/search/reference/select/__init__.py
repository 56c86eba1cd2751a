"""How acting players choose, one file per rule; a search asks here once for the rule of its settings."""

from __future__ import annotations

from anabranch.search.reference.nodes import ReferenceGraph
from anabranch.search.reference.proofs import Proofs
from anabranch.search.reference.select.exp3 import Exp3Selector
from anabranch.search.reference.select.gumbel import GumbelSelector
from anabranch.search.reference.select.matrix import MatrixSelector
from anabranch.search.reference.select.puct import PuctSelector
from anabranch.search.reference.select.regret_matching import RegretMatchingSelector
from anabranch.search.reference.select.selector import Selector
from anabranch.search.reference.select.ucb1 import Ucb1Selector
from anabranch.search.settings.config import (
    Gumbel,
    MatrixGame,
    Puct,
    RegretMatching,
    SearchConfig,
    SimultaneousSelector,
    Ucb1,
)


def selectors(config: SearchConfig, graph: ReferenceGraph, proofs: Proofs) -> tuple[Selector, Selector]:
    """Return who is in charge where one player acts, and who where several do."""
    alone = _selector(config.selector, config, graph, proofs)
    return alone, alone if config.simultaneous is None else _selector(config.simultaneous, config, graph, proofs)


def _selector(settings: SimultaneousSelector, config: SearchConfig, graph: ReferenceGraph, proofs: Proofs) -> Selector:
    if isinstance(settings, Puct):
        return PuctSelector(settings, config.virtual_loss, graph, proofs)
    if isinstance(settings, Ucb1):
        return Ucb1Selector(settings, config.virtual_loss, graph, proofs)
    if isinstance(settings, Gumbel):
        return GumbelSelector(settings, config.virtual_loss, graph)
    if isinstance(settings, RegretMatching):
        return RegretMatchingSelector(settings)
    if isinstance(settings, MatrixGame):
        return MatrixSelector(settings)
    return Exp3Selector(settings)
