"""A whole random game as one compiled function, made from the game's own verbs: no call crosses a border per ply."""

from __future__ import annotations

import threading
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from anabranch.game.native.entries import Entry, Layout, Verbs
from anabranch.game.native.unit import load_unit
from anabranch.game.random import below, uniform
from anabranch.game.words import CHANCE, IDLE, OVER

if TYPE_CHECKING:
    from anabranch.game.native.loader import Loaded

# What the loop returns: 0, or 1 where a verb answered nonsense; the engine then plays the same game verb by verb and
# says which one. `cpp/anabranch/evaluate.hpp` declares the same function for C++.
NO_OUTCOME = -(2**32)  # outcomes have 32 bits
SMALL, FEW = 256, 3  # bytes of an instance that is built into its rollout; how many of a kind are
_special: dict[tuple[type, np.dtype[Any]], set[bytes]] = {}  # the instances of a kind that have rollouts of their own
_lock = threading.Lock()


def load_rollout(game: Any) -> Loaded:
    """Return the compiled rollout of a game: its address, and what keeps it in memory."""
    verbs = [
        "turn",
        "legal",
        "step",
        *(verb for verb in ("chance", "draw", "same", "rollout_action") if game.has(verb)),
    ]
    entry = Entry(verbs=tuple(verbs), arguments=_arguments, make=_make(int(game.players), int(game.actions)))
    # What the rules answer was tried when their verbs were compiled.
    return load_unit(game, ["rollout"], {"rollout": entry}, built_in=_built_in(game), tried=True)


def _built_in(game: Any) -> bytes | None:
    """Return the instance's record if a rollout of its own is worth compiling, None if it shares one.

    Sizes as constants make loops of known length: connect four's rollout takes a fifth less time. But mazes, payoffs
    and parameters may come in hundreds. So the instance must be small and without a table of numbers of its own, and
    one of the first few of its kind.
    """
    instance = game.instance
    own = [instance[name] for name in instance.dtype.names if name != "returns"]
    if instance.nbytes > SMALL or any(value.ndim and value.dtype.kind == "f" for value in own):
        return None
    record: bytes = instance.tobytes()
    with _lock:
        known = _special.setdefault((type(game), instance.dtype), set())
        if len(known) < FEW:
            known.add(record)
        return record if record in known else None


def _arguments(layout: Layout) -> tuple[np.dtype[Any], ...]:
    def buffer(kind: Any, size: int) -> np.dtype[Any]:
        return np.dtype((kind, (max(1, size),)))

    return (
        layout.instance,
        layout.state,
        buffer(np.uint64, 1),  # random
        np.dtype(np.int32),  # max_depth
        np.dtype(np.int32),  # greedy: in how many plies a win in one is taken
        np.dtype(np.int32),  # own: whether the game's own policy chooses
        np.dtype(np.float64),  # discount
        buffer(np.int32, layout.actions),  # ids
        buffer(np.int32, layout.players),  # joint
        buffer(np.int32, layout.outcomes),
        buffer(np.float64, layout.outcomes),  # chances
        buffer(np.float64, layout.players),  # rewards
        buffer(np.float64, layout.players),  # totals
        np.dtype((layout.state, (1,))),  # spare
    )


def _make(players: int, actions: int) -> Any:
    def make(verbs: Verbs) -> FunctionType:
        turn_of, step = verbs["turn"], verbs["step"]
        choose, roll = _choosing(verbs, players, actions), _rolling(verbs)
        act = _acting(players, choose, step)

        def rollout(  # type: ignore[no-untyped-def]
            game, state, random, max_depth, greedy, own, discount, ids, joint, outcomes, chances, rewards, totals, spare
        ):
            weight = 1.0
            for seat in range(players):
                joint.cells[seat] = IDLE
                rewards.cells[seat] = 0.0
            for depth in range(max_depth):
                turn = turn_of(game, state)
                if turn == OVER:
                    return 0
                if turn < CHANCE or turn >= 1 << players:
                    return 1
                if turn == CHANCE:
                    outcome = roll(game, state, random.cells, outcomes.cells, chances.cells)
                    if outcome < -(2**31) or outcome >= 2**31:
                        return 1
                    joint.cells[0] = outcome
                    step(game, state, joint.cells, rewards.cells)
                    joint.cells[0] = IDLE
                else:
                    wins = depth < greedy
                    failed = act(
                        turn, game, state, random.cells, ids.cells, joint.cells, rewards.cells, spare.cells, wins, own
                    )
                    if failed != 0:
                        return 1
                for seat in range(players):
                    reward = rewards.cells[seat]
                    if reward != 0.0:
                        if reward - reward != 0.0:
                            return 1
                        totals.cells[seat] += weight * np.float64(np.float32(reward))
                        rewards.cells[seat] = 0.0
                if turn != CHANCE:
                    weight *= discount
            return 0

        return rollout  # type: ignore[return-value]

    return make


def _acting(players: int, choose: Any, step: Any) -> Any:
    """Let those whose turn it is choose, and step; 1 where somebody has nothing to choose.

    For two players, one acting alone has a branch of its own: the compiler then knows who it is all the way through the
    rules, and need not go through memory for what belongs to that player.
    """

    def together(turn, game, state, random, ids, joint, rewards, spare, greedy, own):  # type: ignore[no-untyped-def]
        greedy = greedy and turn & (turn - 1) == 0
        for seat in range(players):
            if turn >> seat & 1:
                joint[seat] = choose(game, state, seat, random, ids, joint, rewards, spare, greedy, own)
                if joint[seat] < 0:
                    return 1
        step(game, state, joint, rewards)
        for seat in range(players):
            joint[seat] = IDLE
        return 0

    if players != 2:
        return together

    def alone_or_together(turn, game, state, random, ids, joint, rewards, spare, greedy, own):  # type: ignore[no-untyped-def]
        if turn == 1:
            joint[0] = choose(game, state, 0, random, ids, joint, rewards, spare, greedy, own)
            if joint[0] < 0:
                return 1
            step(game, state, joint, rewards)
            joint[0] = IDLE
        elif turn == 2:
            joint[1] = choose(game, state, 1, random, ids, joint, rewards, spare, greedy, own)
            if joint[1] < 0:
                return 1
            step(game, state, joint, rewards)
            joint[1] = IDLE
        else:
            return together(turn, game, state, random, ids, joint, rewards, spare, greedy, own)  # type: ignore[no-untyped-call]
        return 0

    return alone_or_together


def _choosing(verbs: Verbs, players: int, actions: int) -> Any:
    """Choose among a player's choices: what wins at once, else by the game's policy, else any; -1 where there is none.

    A choice wins if it ends the game and pays its player. It is looked for by trying all of them on a spare state.
    """
    turn_of, legal, step, stand = verbs["turn"], verbs["legal"], verbs["step"], _standing(verbs)
    ask = _asking(verbs)

    def choose(game, state, seat, random, ids, joint, rewards, spare, greedy, own):  # type: ignore[no-untyped-def]
        if own != 0 and not greedy:
            action = ask(game, state, seat, random)
            return action if 0 <= action < actions else -1
        count = legal(game, state, seat, ids)
        if count < 1 or count > actions:
            return -1
        count = stand(game, state, seat, ids, count)
        if count < 1:
            return -1
        if greedy:
            for index in range(count):
                spare[0] = state
                joint[seat] = ids[index]
                step(game, spare[0], joint, rewards)
                gain = np.float32(rewards[seat])
                for each in range(players):
                    if rewards[each] - rewards[each] != 0.0:
                        return -1
                    rewards[each] = 0.0
                if gain > 0.0 and turn_of(game, spare[0]) == OVER:
                    return np.int64(ids[index])
            joint[seat] = IDLE
        if own != 0:
            action = ask(game, state, seat, random)
            return action if 0 <= action < actions else -1
        return np.int64(ids[below(random, count)])

    return choose


def _asking(verbs: Verbs) -> Any:
    """Ask the game's own policy; that it names one of the choices is for `check` to test."""
    if "rollout_action" not in verbs:

        def ask_nobody(game, state, seat, random):  # type: ignore[no-untyped-def]
            return np.int64(-1)

        return ask_nobody
    policy = verbs["rollout_action"]

    def ask(game, state, seat, random):  # type: ignore[no-untyped-def]
        return np.int64(policy(game, state, seat, random))

    return ask


def _standing(verbs: Verbs) -> Any:
    """Keep of the legal ids those that stand for a choice, and return how many that are."""
    if "same" not in verbs:

        def all_stand(game, state, player, ids, count):  # type: ignore[no-untyped-def]
            return count

        return all_stand
    same = verbs["same"]

    def some_stand(game, state, player, ids, count):  # type: ignore[no-untyped-def]
        kept = 0
        for index in range(count):
            if same(game, state, player, ids[index]) == ids[index]:
                ids[kept] = ids[index]
                kept += 1
        return kept

    return some_stand


def _rolling(verbs: Verbs) -> Any:
    """Draw an outcome: by the game's own `draw`, else from its list; NO_OUTCOME where neither gives one."""
    if "draw" in verbs:
        draw = verbs["draw"]

        def roll_drawn(game, state, random, outcomes, chances):  # type: ignore[no-untyped-def]
            return draw(game, state, random)

        return roll_drawn
    if "chance" in verbs:
        chance = verbs["chance"]

        def roll_listed(game, state, random, outcomes, chances):  # type: ignore[no-untyped-def]
            count = chance(game, state, outcomes, chances)
            if count < 1 or count > len(outcomes):
                return NO_OUTCOME
            threshold, total = uniform(random), 0.0
            for index in range(count):
                total += chances[index]
                if total > threshold:
                    return np.int64(outcomes[index])
            return np.int64(outcomes[count - 1])

        return roll_listed

    def roll_nothing(game, state, random, outcomes, chances):  # type: ignore[no-untyped-def]
        return NO_OUTCOME

    return roll_nothing
