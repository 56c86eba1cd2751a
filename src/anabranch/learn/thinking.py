"""Who thinks about the positions of self-play: a search by the rules, or plans in a model that learnt them.

Both have lanes, one for each game under way: `go_on` until some have been thought about, look at what was `found`, and
let them `think` on about what was played. All of it is asked of many lanes at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from anabranch.errors import UsageError
from anabranch.evaluate.batch import Batch, Floats, has_priors
from anabranch.evaluate.native import Rollout, checked_rollout_action
from anabranch.game.game import Game
from anabranch.game.random import Random, key_of
from anabranch.game.state import State
from anabranch.learn.decided import cap_after
from anabranch.learn.export import mixed
from anabranch.learn.records import seats_of
from anabranch.learn.settings import TrainConfig
from anabranch.learn.weights import surprise
from anabranch.models.learned import model_of, observed
from anabranch.models.planner import Planner
from anabranch.search.engine.lanes import Lanes
from anabranch.search.engine.root import Root
from anabranch.search.engine.searcher import Searcher
from anabranch.search.maths.draws import Draws, Purpose
from anabranch.search.maths.policies import capped
from anabranch.search.results.proof import played_policy
from anabranch.search.results.result import Result, used
from anabranch.search.settings.config import PlayoutCap, SearchConfig

if TYPE_CHECKING:
    from anabranch.learn.selfplay import Playing

ALIKE = PlayoutCap(full=100, fast=100, chance=1.0)  # where settings have no cap
Numbers = list[list[float]]
Steps = Sequence[tuple[list[int], State]]  # rows of actions, and the states they led to


def seeded(config: TrainConfig) -> SearchConfig:
    """Return the settings of searches, whose draws (caps, noise, rollouts, dice) are those of the run's own seed."""
    return replace(config.search, seed=key_of((config.search.seed, config.seed)))


def taught(config: TrainConfig) -> SearchConfig:
    """Return the settings of searches by rollouts, which a run begins with: more simulations, no noise on priors."""
    cap = PlayoutCap(full=config.teacher.full, fast=config.teacher.fast, chance=config.teacher.chance)
    return replace(seeded(config), selector=SearchConfig().selector, cap=cap, noise=None, forced=None)


class Found(NamedTuple):
    """What was found about a position; policies are lists by player and action."""

    policy: Numbers  # to play by
    target: Numbers  # to learn from
    value: list[float]  # per seat
    visits: int
    full: bool
    proven: bool = False
    surprise: float = 0.0  # of the policy to learn from about the prior; 0 where nobody asks

    def recorded(self, seats: Sequence[int], version: int) -> dict[str, Any]:
        """Return what a `Decision` keeps of it, and which weights it was found with."""
        return {
            "policy": tuple([_shares(self.target[seat]) for seat in seats]) if self.full else (),
            "value": tuple(self.value),
            "visits": self.visits,
            "full": self.full,
            "proven": self.proven,
            "model": version,
            "surprise": self.surprise if self.full else 0.0,
        }


def learnt(result: Result) -> Floats:
    """Return the policy to learn from, after what is certain of the choices: of a proven root a best one."""
    if result.proof is None:
        return result.target
    return played_policy(result.target, result.visits, result.q, result.state, result.proof)


def _shares(policy: Sequence[float]) -> dict[int, float]:
    """Return the choices that have a share, by action id."""
    return {action: share for action, share in enumerate(policy) if share != 0.0}


class Thinker(Protocol):
    """Thinks about many games at once."""

    @property
    def rows(self) -> int: ...  # states evaluated so far
    @property
    def fill(self) -> float: ...  # how many of them a batch has
    def go_on(self) -> list[int]: ...
    def found(self, lanes: Sequence[int]) -> list[Found]: ...
    def think(self, played: Mapping[int, Steps], begun: Mapping[int, Playing]) -> None: ...  # again; from the beginning
    def use(self, evaluator: Any) -> None: ...
    def close(self) -> None: ...


class Searching:
    """Searches by the rules, in the lanes of one searcher: who arrives does not wait for the others."""

    def __init__(self, game: Game, config: TrainConfig, evaluator: Any, playing: Sequence[Playing]) -> None:
        self.game, self.config = game, config
        self.search = taught(config) if isinstance(evaluator, Rollout | RolledOut) else seeded(config)
        asked = evaluator if isinstance(evaluator, RolledOut) else mixed(evaluator, config.self_play)
        self.searcher = Searcher(game, asked, self.search, threads=1)
        self.surprised = config.replay.weights == "surprise" and has_priors(asked)
        self._playing = list(playing)
        roots = [self._root(each) for each in playing]
        goals = [self._goal(root, each) for root, each in zip(roots, playing, strict=True)]
        self._lanes = Lanes(self.searcher, roots, goals)

    @property
    def rows(self) -> int:
        """States evaluated so far."""
        return self._lanes.rows

    @property
    def fill(self) -> float:
        """How many states a batch has on average."""
        return self._lanes.fill

    def go_on(self) -> list[int]:
        """Evaluate one batch and return the lanes that have arrived."""
        return self._lanes.go_on()

    def found(self, lanes: Sequence[int]) -> list[Found]:
        """Return what the searches of lanes found."""
        roots = [self._lanes.roots[lane] for lane in lanes]
        if self.search.proofs != "off":
            found = [self._proven(root) for root in roots]
            if not self.surprised:
                return found
            priors = self._lanes.policies(lanes)[-1]
            return [
                each._replace(surprise=surprise(np.asarray(each.target), prior))
                for each, prior in zip(found, priors, strict=True)
            ]
        told = self._lanes.policies(lanes)
        full = [root.explores for root in roots]
        surprises = [
            surprise(target, prior) if whole and self.surprised else 0.0
            for target, prior, whole in zip(told[1], told[-1], full, strict=True)
        ]
        policies, targets, values, visits = (each.tolist() for each in told[:-1])
        targets = [target if whole else policy for target, policy, whole in zip(targets, policies, full, strict=True)]
        unproven = [False] * len(full)
        rows = zip(policies, targets, values, visits, full, unproven, surprises, strict=True)
        return [Found(*row) for row in rows]

    def _proven(self, root: Root) -> Found:
        """Return what a search found that looks for proofs: what is certain is learnt, by a fast search too."""
        result = root.result
        policy = result.policy.tolist()
        solved = result.proven and result.proof is not None and len(result.proof.edges) > 0
        full = result.full or solved
        target = learnt(result).tolist() if full else policy
        visits = int(root.native.root_visits)
        return Found(policy, target, result.value.tolist(), visits, full, result.proven)

    def think(self, played: Mapping[int, Steps], begun: Mapping[int, Playing]) -> None:
        """Move on with the roots of lanes, and begin others."""
        for lane, playing in begun.items():
            self._playing[lane] = playing
        roots = {lane: self._lanes.roots[lane] for lane in played} | {lane: self._root(begun[lane]) for lane in begun}
        for lane, steps in played.items():
            roots[lane].follow(steps, keep=self.config.self_play.keep)
        lanes = sorted(roots)
        goals = [self._goal(roots[lane], self._playing[lane]) for lane in lanes]
        self._lanes.put_all(lanes, [roots[lane] for lane in lanes], goals)

    def use(self, evaluator: Any) -> None:
        """Go on with other weights: graphs stay."""
        self.searcher.use(mixed(evaluator, self.config.self_play))

    def close(self) -> None:
        """Let go of all roots."""
        self._lanes.close()

    def _root(self, playing: Playing) -> Root:
        return self.searcher.root(playing.state, stream=playing.id)

    def _goal(self, root: Root, playing: Playing) -> int:
        """Return up to how many visits a root is searched; the cap decides whether in full."""
        return root.use_cap(cap_after(playing.decisions, self.search.cap or ALIKE, self.config.self_play, self.game))


class RolledOut:
    """An evaluator of means of rollouts, asked in batches: a root can be evaluated and not searched."""

    priors = False

    def __init__(self, count: int) -> None:
        self.rollouts = Rollout(count=count)

    def evaluate(self, batch: Batch) -> tuple[None, Floats]:
        """Return no logits, and what rollouts got on average."""
        return None, batch.rolled_out(self.rollouts)


class Following(Searching):
    """A teacher that searches nothing: its moves are those of the game's rollout policy, its values what they get."""

    def __init__(self, game: Game, config: TrainConfig, playing: Sequence[Playing]) -> None:
        if not game.has("rollout_action"):
            raise UsageError(
                f'{game.name} has no verb rollout_action, so teacher.plays = "policy" has nobody to follow'
            )
        super().__init__(game, config, RolledOut(config.teacher.full), playing)

    def found(self, lanes: Sequence[int]) -> list[Found]:
        """Return what the policy does in lanes, as if it had been found."""
        return [self._followed(self._lanes.roots[lane]) for lane in lanes]

    def _followed(self, root: Root) -> Found:
        state, draws = root.state, root.draws
        policy = [[0.0] * state.game.actions for _ in range(state.game.players)]
        for seat in seats_of(state):
            random = Random(draws.key(Purpose.EVALUATE, seat, 0, 0))
            policy[seat][checked_rollout_action(state, seat, random)] = 1.0
        return Found(policy, policy, root.result.value.tolist(), self.config.teacher.full, root.explores)

    def _goal(self, root: Root, playing: Playing) -> int:
        """Evaluate a root and search nothing; chance decides whether it is recorded."""
        root.use_cap(PlayoutCap(full=1, fast=1, chance=self.config.teacher.chance))
        return 0


class Planning:
    """Plans in a model from what is seen: legal choices are true at the root and imagined below it.

    All games think at once. A plan is for one position, so nothing is kept when a game moves on.
    """

    def __init__(self, game: Game, config: TrainConfig, evaluator: Any, playing: Sequence[Playing]) -> None:
        self.game, self.settings, self.search = game, config.self_play, seeded(config)
        self.surprised = config.replay.weights == "surprise"
        self.rows = 0
        self._batches = 0
        self._playing = list(playing)
        self._first = [each.steps for each in playing]
        self._waiting = set(range(len(playing)))
        self._found: dict[int, Found] = {}
        self.use(evaluator)

    @property
    def fill(self) -> float:
        """How many transitions a batch has on average."""
        return self.rows / max(1, self._batches)

    def use(self, evaluator: Any) -> None:
        """Go on with other weights."""
        self.model = model_of(evaluator, self.game)
        self._planners = {
            full: Planner(self.model, replace(used(self.search, full), cap=None)) for full in (True, False)
        }

    def think(self, played: Mapping[int, Steps], begun: Mapping[int, Playing]) -> None:
        """Think about the next positions of games, and about games from their beginning on."""
        self._waiting.update(played)
        for lane, playing in begun.items():
            self._playing[lane], self._first[lane] = playing, playing.steps
        self._waiting.update(begun)

    def go_on(self) -> list[int]:
        """Make a plan for every game that waits for one, and return their lanes."""
        lanes = sorted(self._waiting)
        budgets = {lane: self._budget(lane) for lane in lanes}
        for full, planner in self._planners.items():
            chosen = [lane for lane in lanes if budgets[lane][1] == full]
            if chosen:
                self._plan(planner, chosen, [budgets[lane][0] for lane in chosen], full)
        self._waiting.clear()
        return lanes

    def _budget(self, lane: int) -> tuple[int, bool]:
        """Return how many simulations a position gets and whether it is one to learn from, as a root's cap says."""
        playing = self._playing[lane]
        cap = cap_after(playing.decisions, self.search.cap or ALIKE, self.settings, self.game)
        draws = Draws(self.search.seed, playing.id, playing.steps - self._first[lane])
        return capped(cap, draws.key(Purpose.CAP, 0, 0, 0))

    def _plan(self, planner: Planner, lanes: list[int], budgets: list[int], full: bool) -> None:
        states = [self._playing[lane].state for lane in lanes]
        seen, legal = observed(self.game, states)
        streams = [key_of((self._playing[lane].id, self._playing[lane].steps)) for lane in lanes]
        plan = planner.plan(seen, simulations=budgets, legal=legal, mover=seen.movers, streams=streams)
        self.rows += int(plan.simulations.sum()) + len(lanes)
        self._batches += max(budgets) + 1
        visits = plan.visits.sum(axis=1)
        for row, lane in enumerate(lanes):
            policy = [[0.0] * self.game.actions for _ in range(self.game.players)]
            policy[seen.movers[row]] = plan.policy[row].tolist()
            target = policy if planner.config.forced is None else plan[row].target.tolist()
            mover = seen.movers[row]
            surprised = surprise(np.asarray(target[mover]), plan.own_prior[row]) if full and self.surprised else 0.0
            value = plan.value[row].tolist()
            self._found[lane] = Found(policy, target, value, int(visits[row]), full, surprise=surprised)

    def found(self, lanes: Sequence[int]) -> list[Found]:
        """Return what the plans of lanes found."""
        return [self._found.pop(lane) for lane in lanes]

    def close(self) -> None:
        """Forget all."""
        self._waiting.clear()


def thinker(game: Game, config: TrainConfig, evaluator: Any, playing: Sequence[Playing]) -> Thinker:
    """Return who thinks by a method; a teacher, whose evaluator are rollouts, by the rules."""
    if isinstance(evaluator, Rollout) and config.teacher.plays == "policy":
        return Following(game, config, playing)
    if config.method == "muzero" and not isinstance(evaluator, Rollout):
        return Planning(game, config, evaluator, playing)
    return Searching(game, config, evaluator, playing)
