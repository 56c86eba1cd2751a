"""Who is compared with us: which package, which of our selectors is its like, what it does differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from peers.questions import Question


@dataclass(frozen=True)
class Peer:
    """One way to search that a user could take instead of ours."""

    name: str  # as --peers takes it
    title: str
    package: str  # the distribution, for its version
    adapter: str  # a module with make(question, variant) → measure.Contender
    variant: str = ""  # which of an adapter's searches
    like: str = "UCT"  # the selector of ours it is compared with: "PUCT" or "UCT"
    tasks: tuple[str, ...] = ()
    cannot: Mapping[str, str] = field(default_factory=dict)  # an evaluator or a game of those tasks → why not
    fair: bool = True  # False: it does less than was asked, so the brief table leaves it out
    note: str = ""

    def refusal(self, question: Question) -> str | None:
        """Return why it cannot answer, if it is known beforehand."""
        return self.cannot.get(question.evaluator) or self.cannot.get(question.game)

    def asked(self, question: Question) -> bool:
        """Whether the question is put to it, be it only to say that it cannot."""
        return question.task in self.tasks


OURS = {
    like: Peer(f"anabranch_{like.lower()}", f"anabranch {like}", "anabranch", "peers.adapters.ours", like, like)
    for like in ("PUCT", "UCT")
}

NO_LEAF = "the rollout cannot be replaced by an evaluator"
SINGLE = ("trivial", "rollout", "python")  # searches one tree, takes any rules with methods

PEERS = (
    Peer(
        name="open_spiel_cpp_puct",
        title="OpenSpiel C++ MCTSBot, PUCT",
        package="open_spiel",
        adapter="peers.adapters.open_spiel",
        variant="native PUCT",
        like="PUCT",
        tasks=("trivial", "rollout"),
        cannot={"uniform": "its evaluators cannot be written in Python, and it has only the one with rollouts"},
        note="C++ bot on C++ games; a tree",
    ),
    Peer(
        name="open_spiel_cpp_uct",
        title="OpenSpiel C++ MCTSBot, UCT",
        package="open_spiel",
        adapter="peers.adapters.open_spiel",
        variant="native UCT",
        tasks=("rollout",),
        note="C++ bot on C++ games; a tree",
    ),
    Peer(
        name="open_spiel_python_puct",
        title="OpenSpiel Python MCTSBot, PUCT",
        package="open_spiel",
        adapter="peers.adapters.open_spiel",
        variant="python PUCT",
        like="PUCT",
        tasks=SINGLE,
        note="Python bot; a tree",
    ),
    Peer(
        name="open_spiel_python_uct",
        title="OpenSpiel Python MCTSBot, UCT",
        package="open_spiel",
        adapter="peers.adapters.open_spiel",
        variant="python UCT",
        tasks=("rollout", "python"),
        note="Python bot; a tree",
    ),
    Peer(
        name="mctx",
        title="mctx on pgx, muzero_policy",
        package="mctx",
        adapter="peers.adapters.mctx_pgx",
        like="PUCT",
        tasks=("trivial", "batch"),
        note="compiled by JAX for one number of trees and simulations; made for accelerators",
    ),
    Peer(
        name="gumbel_mcts",
        title="gumbel-mcts, PUCT",
        package="gumbel-mcts",
        adapter="peers.adapters.gumbel",
        like="PUCT",
        tasks=("trivial", "batch"),
        cannot={"othello": "rules must be Numba functions of its form, and it has no othello"},
        note="Numba trees, a torch call per wave; made for many trees; connect four written for it here",
    ),
    Peer(
        name="multimcts",
        title="multimcts",
        package="multimcts",
        adapter="peers.adapters.multimcts",
        tasks=SINGLE,
        cannot={"uniform": NO_LEAF},
        note="Cython tree; rollouts call Python at every ply",
    ),
    Peer(
        name="mcts",
        title="mcts",
        package="mcts",
        adapter="peers.adapters.mcts_package",
        tasks=SINGLE,
        fair=False,
        note="no priors; both players maximise the same reward, so not a two-player search",
    ),
    Peer(
        name="monte_carlo_tree_search",
        title="monte-carlo-tree-search",
        package="monte-carlo-tree-search",
        adapter="peers.adapters.monte_carlo_tree_search",
        tasks=SINGLE,
        note="no priors",
    ),
    Peer(
        name="imparaai_montecarlo",
        title="imparaai-montecarlo",
        package="imparaai-montecarlo",
        adapter="peers.adapters.imparaai",
        tasks=SINGLE,
        note="evaluates every child of an expanded node; rollouts make all children at every ply",
    ),
    Peer(
        name="mctspy",
        title="mctspy",
        package="mctspy",
        adapter="peers.adapters.mctspy_package",
        tasks=SINGLE,
        cannot={"uniform": NO_LEAF},
        note="no priors",
    ),
    Peer(
        name="mcts_simple",
        title="mcts-simple, UCT",
        package="mcts-simple",
        adapter="peers.adapters.mcts_simple_package",
        tasks=SINGLE,
        cannot={"uniform": NO_LEAF},
        note="no priors; shares equal positions, and keeps those of rollouts as nodes",
    ),
)
