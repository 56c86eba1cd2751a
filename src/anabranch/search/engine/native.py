"""How a game, its settings and an evaluator reach the engine: translated once, when a root is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch import _native
from anabranch.evaluate.native import Hashing, Heuristic, Rollout, Uniform
from anabranch.game.compiled import CompiledGame
from anabranch.game.game import Game
from anabranch.game.objects import ObjectGame
from anabranch.search.maths.proofs import terms_of
from anabranch.search.settings.config import (
    Exp3,
    Gumbel,
    MatrixGame,
    RegretMatching,
    SearchConfig,
    SimultaneousSelector,
    Ucb1,
)


def native_rules(game: Game) -> Any:
    """Return a game's rules as the engine calls them: compiled code, or Python behind the GIL."""
    if isinstance(game, CompiledGame) and game.compiled:
        return game.rules.native  # type: ignore[attr-defined]
    verbs = {f"has_{verb}": game.has(verb) for verb in ("chance", "draw", "same", "bounds")}
    if isinstance(game, CompiledGame):
        return _native.RecordRules(
            game.rules,
            state_size=game.state.itemsize,
            key_size=game.key_record.itemsize if game.key_record and game.has("key") else 0,
            players=game.players,
            actions=game.actions,
            outcomes=game.outcomes,
            **verbs,
        )
    return _native.ObjectRules(
        game,
        game.rules,
        players=game.players,
        actions=game.actions,
        outcomes=game.outcomes or MOST_OUTCOMES,
        has_key=game.has("key"),
        has_playout=type(game).playout is not Game.playout,
        **verbs,
    )


MOST_OUTCOMES = 65_536  # of object games that do not say
NO_LIMIT = 2**64 - 1


def native_config(config: SearchConfig, game: Game, hash_bits: int = 64) -> Any:
    """Return the settings, of which none is left open, as the engine reads them."""
    made = _native.Config()
    made.set_selectors(_selector(config.selector), _selector(config.simultaneous or config.selector, several=True))
    chance = config.chance
    made.set_chance(
        sampled=chance.draw != "spread",
        in_transition=chance.draw == "in_transition",
        exact_up_to=min(chance.enumerated, NO_LIMIT),
        draws=min(chance.draws, 2**32 - 1),
        widen=chance.widen or 0.0,
        power=chance.widen_power,
        cap=NO_LIMIT if chance.widen_cap is None else min(chance.widen_cap, NO_LIMIT),
        offset=-1.0 if chance.offset is None else chance.offset,
    )
    made.set_waves(width=config.width, depth=config.depth, virtual_loss=config.virtual_loss.mode)
    made.set_refresh(config.refresh, config.sweep_every or 0)
    if config.proofs != "off":
        terms = terms_of(game)
        made.set_proofs(terms.mode, returns=terms.returns, also=terms.also, width=terms.width, apart=terms.apart)
    made.best = config.backup == "best"
    made.merge = config.transposition.merge
    made.stop = config.transposition.on_visit == "stop"
    made.rho, made.leak = config.transposition.rho, config.transposition.leak
    if config.max_nodes is not None:
        made.max_nodes = min(config.max_nodes, 2**32 - 2)  # what numbers of 32 bits can tell apart
    if config.max_bytes is not None:
        made.max_bytes = min(config.max_bytes, NO_LIMIT)
    made.seed = config.seed & 0xFFFF_FFFF_FFFF_FFFF
    made.hash_mask = (1 << hash_bits) - 1
    made.discount = game.discount
    made.returns_low, made.returns_high = game.returns
    made.keyed_by_path = not isinstance(game, CompiledGame)
    if game.cycles is not None:
        number = isinstance(game.cycles, (int, float))
        made.set_cycles("valued" if number else "bootstrap", float(game.cycles) if number else 0.0)
    return made


def _selector(selector: SimultaneousSelector, *, several: bool = False) -> dict[str, Any]:
    """Return a selector of nodes where one player acts, or several do, as the engine takes it."""
    if isinstance(selector, (RegretMatching, MatrixGame, Exp3)):
        return {
            "rule": {RegretMatching: "regret_matching", MatrixGame: "matrix", Exp3: "exp3"}[type(selector)],
            "exploration": selector.exploration,
            "growth": getattr(selector, "growth", 0.0),
            "difference": getattr(selector, "view", "difference") == "difference",
            "by_strategy": getattr(selector, "value", "visits") == "strategy",
        }
    if isinstance(selector, Gumbel):
        numbers = {name: getattr(selector, name) for name in ("c_visit", "c_scale", "scale", "noise")}
        return {"rule": "gumbel", "considered": min(selector.considered, NO_LIMIT), **numbers}
    shared = {
        "scale": selector.scale,
        "first_play": selector.first_play.kind,
        "first_amount": selector.first_play.amount,
        "w0": selector.w0,
        "weights": selector.weights,
        "random_ties": selector.ties == "random" or (several and selector.ties == "auto"),
    }
    if isinstance(selector, Ucb1):
        return {"rule": "ucb1", "c": selector.c, **shared}
    names = ("c_init", "c_log", "c_base", "c_off", "epsilon")
    return {"rule": "puct", **{name: getattr(selector, name) for name in names}, **shared}


def native_key_of(words: Sequence[int]) -> int:
    """Return what `game.random.key_of` does of words of 64 bits, sooner; tests hold the two against each other."""
    return _native.key_of(words)


def native_evaluator(evaluator: Any, game: Game) -> tuple[Any, Any]:
    """Return (the engine's own twin of an evaluator or an empty one, what must stay alive for it)."""
    made = _native.NativeEvaluator()
    if type(evaluator) is Heuristic:
        evaluator.check(game)
    if type(evaluator) is Uniform:
        made.uniform(evaluator.value)
    elif isinstance(game, CompiledGame) and game.compiled:
        if type(evaluator) is Hashing:
            made.hashing(evaluator.seed & 0xFFFF_FFFF_FFFF_FFFF)
        elif type(evaluator) is Heuristic:
            game.rules.prepare("heuristic")  # type: ignore[attr-defined]
            made.heuristic()
        elif type(evaluator) is Rollout:
            compiled = game.rules.rollout  # type: ignore[attr-defined]
            made.rollout(
                evaluator.count, evaluator.max_depth, *_knowledge(evaluator, game), compiled.addresses["rollout"]
            )
            return made, compiled.owner
    elif isinstance(game, ObjectGame) and type(evaluator) is Rollout:
        made.rollout(evaluator.count, evaluator.max_depth, *_knowledge(evaluator, game), _native.ObjectRules.rollout)
    return made, None


def _knowledge(rollout: Rollout, game: Game) -> tuple[int, bool]:
    """Return in how many plies a rollout takes a win in one, and whether the game's own policy chooses."""
    return rollout.greedy_plies(game), rollout.policy == "game" and game.has("rollout_action")
