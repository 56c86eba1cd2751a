"""LightZero's AlphaZero and MuZero on tic-tac-toe: trained by its own entry and example, playing as it evaluates.

    python lightzero_learning.py alphazero|muzero SEED

trains in the folder it is started in until it is interrupted, and saves. Its example is untouched but for the device,
environments in one process instead of thirteen, no end at a score, and, in AlphaZero, trees in Python: those in C++ are
not in the package that is installed. Its policy wants three things of a tree that returns two, so it gets a third.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SAVED = "policy.pt"


class Interrupted:
    """A number of steps that is reached as soon as somebody interrupts."""

    def __init__(self) -> None:
        self.reached = False
        signal.signal(signal.SIGINT, self._interrupt)

    def _interrupt(self, *_: Any) -> None:
        self.reached = True

    def __le__(self, steps: int) -> bool:  # what `steps >= self` asks
        return self.reached


def example(method: str) -> tuple[Any, Any]:
    """Return the two parts of its example's settings."""
    said = importlib.import_module(f"zoo.board_games.tictactoe.config.tictactoe_{method}_sp_mode_config")
    main, create = said.main_config, said.create_config
    main.policy.cuda = False
    main.env.stop_value = float("inf")
    create.env_manager.type = "base"
    if method == "alphazero":
        main.policy.mcts_ctree = main.env.alphazero_mcts_ctree = False
        mend()
    return main, create


def mend() -> None:
    """Let trees in Python return a root too, as its policy unpacks and does not use; without it nothing runs."""
    from lzero.mcts.ptree.ptree_az import MCTS

    search = MCTS.get_next_action
    MCTS.get_next_action = lambda self, *said: (*search(self, *said), None)


def train(method: str, seed: int) -> None:
    """Train until interrupted."""
    import torch
    from lzero import entry

    torch.set_num_threads(1)
    main, create = example(method)
    main.exp_name = "run"
    learn = getattr(entry, f"train_{method}")
    until = Interrupted()
    policy = learn([main, create], seed=seed, max_env_step=until)
    torch.save(policy.learn_mode.state_dict(), SAVED)


def player(variant: str, folder: Path) -> Callable[[list[int]], int]:
    """Return the choices of what was trained; MuZero is told whose turn it is, as in its self-play."""
    import torch
    from ding.config import compile_config
    from ding.policy import create_policy
    from zoo.board_games.tictactoe.envs.tictactoe_env import TicTacToeEnv

    torch.set_num_threads(1)
    main, create = example(variant)
    home = Path.cwd()
    with tempfile.TemporaryDirectory() as elsewhere:  # it may write settings where it is
        os.chdir(elsewhere)
        main.policy.device = "cpu"
        said = compile_config(main, seed=0, env=None, auto=True, create_cfg=create, save_cfg=False)
        policy = create_policy(said.policy, model=None, enable_field=["learn", "eval"])
        os.chdir(home)
    policy.learn_mode.load_state_dict(torch.load(folder / SAVED, map_location="cpu"))
    forward = policy.eval_mode.forward
    board = TicTacToeEnv(said.env)

    def choose(moves: list[int]) -> int:
        seen = board.reset()
        for move in moves:
            seen = board.step(move).obs
        if variant == "alphazero":
            return int(forward({0: seen})[0]["action"])
        observed = torch.from_numpy(seen["observation"][None]).float()
        return int(forward(observed, [seen["action_mask"]], [seen["to_play"]])[0]["action"])

    return choose


if __name__ == "__main__":
    train(sys.argv[1], int(sys.argv[2]))
