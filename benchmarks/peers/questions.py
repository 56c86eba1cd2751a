"""What is asked of everybody: a game, from its start, with so many simulations and an evaluator."""

from __future__ import annotations

from dataclasses import dataclass

# Sections of the table, in its order.
TASKS = {
    "trivial": "One tree, an evaluator that costs nothing (uniform prior, value 0)",
    "batch": "256 trees at once, an evaluator that costs nothing",
    "rollout": "One tree, every new position evaluated by one rollout (ours win and block in connect four)",
    "python": "The same with rules in plain Python, tic-tac-toe, 800 simulations",
}


@dataclass(frozen=True)
class Question:
    """One search, to be made by us and by a peer."""

    task: str
    game: str
    evaluator: str  # "uniform" or "rollout"
    simulations: int  # per tree
    trees: int = 1

    @property
    def units(self) -> float:
        """All simulations of one search."""
        return float(self.simulations * self.trees)

    def __str__(self) -> str:
        words = [self.game.replace("_", " "), "rollouts" if self.evaluator == "rollout" else "uniform"]
        if self.task == "python":
            words.append("rules in Python")
        trees = "" if self.trees == 1 else f"{self.trees} × "
        return ", ".join([*words, f"{trees}{self.simulations:,}"])


GAMES = ("tic_tac_toe", "connect_four", "othello")

QUESTIONS = (
    *(Question("trivial", game, "uniform", count) for game in GAMES for count in (800, 10_000)),
    *(Question("batch", game, "uniform", 200, 256) for game in GAMES),
    Question("batch", "connect_four", "uniform", 800, 256),
    *(Question("rollout", game, "rollout", count) for game in GAMES for count in (800, 10_000)),
    *(Question("python", "tic_tac_toe", evaluator, 800) for evaluator in ("uniform", "rollout")),
)
