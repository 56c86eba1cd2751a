"""The engine of anabranch."""

from collections.abc import Sequence
from typing import Annotated, Final

import numpy
import numpy.typing
from numpy.typing import NDArray


def mix(word: int) -> int:
    """Scramble 64 bits one to one."""

def key_of(words: Sequence[int]) -> int:
    """One 64-bit key for a sequence of words."""

def key_of_bytes(data: bytes) -> int:
    """The node key of a state."""

def numbers(key: int, n: int, count: int) -> list[int]:
    """`count` integers in [0, n) from one key."""

class Rules:
    """
    Compiled verbs of one instance; None means: raised, or broke a promise.
    """

    def __init__(self, instance: bytes, *, state_size: int, key_size: int, planes: int, players: int, actions: int, outcomes: int) -> None: ...

    def set(self, verb: str, address: int, owner: object) -> None:
        """Take a verb's compiled address and what keeps its code in memory."""

    def setup(self, word: int) -> tuple[bytes, int] | None: ...

    def turn(self, data: bytes) -> int | None: ...

    def legal(self, data: bytes, player: int) -> list[int] | None: ...

    def step(self, data: bytes, actions: Sequence[int]) -> tuple[bytes, list[float]] | None: ...

    def chance(self, data: bytes) -> list[tuple[int, float]] | None: ...

    def draw(self, data: bytes, word: int) -> tuple[int, int] | None: ...

    def same(self, data: bytes, player: int, action: int) -> int | None: ...

    def key(self, data: bytes) -> bytes | None: ...

    def bounds(self, data: bytes) -> tuple[list[float], list[float]] | None: ...

    def event(self, data: bytes) -> tuple[int, int, int, int] | None: ...

    def rollout_action(self, data: bytes, player: int, word: int) -> tuple[int, int] | None: ...

    def heuristic(self, data: bytes) -> list[float] | None: ...

    def observe(self, data: bytes, player: int, planes: Annotated[NDArray[numpy.float32], dict(order='C', device='cpu')]) -> bool:
        """Write an observation into zeroed planes; False if the verb raised."""

    @property
    def instance(self) -> bytes:
        """The instance's record as it is now."""

class Config:
    """The settings of a search as the engine reads them."""

    def __init__(self) -> None: ...

    def set_selectors(self, alone: dict[str, object], together: dict[str, object]) -> None: ...

    def set_chance(self, sampled: bool, in_transition: bool, exact_up_to: int, draws: int, widen: float, power: float, cap: int, offset: float) -> None: ...

    def set_cycles(self, kind: str, value: float) -> None: ...

    def set_waves(self, width: int, depth: int, virtual_loss: str) -> None: ...

    def set_refresh(self, refresh: str, sweep_every: int) -> None: ...

    def set_proofs(self, mode: str, returns: tuple[float, float], also: tuple[float, float], width: float, apart: float) -> None: ...

    @property
    def best(self) -> bool: ...

    @best.setter
    def best(self, arg: bool, /) -> None: ...

    @property
    def merge(self) -> bool: ...

    @merge.setter
    def merge(self, arg: bool, /) -> None: ...

    @property
    def stop(self) -> bool: ...

    @stop.setter
    def stop(self, arg: bool, /) -> None: ...

    @property
    def rho(self) -> float: ...

    @rho.setter
    def rho(self, arg: float, /) -> None: ...

    @property
    def leak(self) -> float: ...

    @leak.setter
    def leak(self, arg: float, /) -> None: ...

    @property
    def max_nodes(self) -> int: ...

    @max_nodes.setter
    def max_nodes(self, arg: int, /) -> None: ...

    @property
    def max_bytes(self) -> int: ...

    @max_bytes.setter
    def max_bytes(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def hash_mask(self) -> int: ...

    @hash_mask.setter
    def hash_mask(self, arg: int, /) -> None: ...

    @property
    def discount(self) -> float: ...

    @discount.setter
    def discount(self, arg: float, /) -> None: ...

    @property
    def returns_low(self) -> float: ...

    @returns_low.setter
    def returns_low(self, arg: float, /) -> None: ...

    @property
    def returns_high(self) -> float: ...

    @returns_high.setter
    def returns_high(self, arg: float, /) -> None: ...

    @property
    def keyed_by_path(self) -> bool: ...

    @keyed_by_path.setter
    def keyed_by_path(self, arg: bool, /) -> None: ...

    @property
    def edge_discounts(self) -> bool: ...

    @edge_discounts.setter
    def edge_discounts(self, arg: bool, /) -> None: ...

class NativeEvaluator:
    """An evaluator that needs no Python, or none."""

    def __init__(self) -> None: ...

    @property
    def native(self) -> bool: ...

    def uniform(self, value: float) -> None: ...

    def hashing(self, seed: int) -> None: ...

    def heuristic(self) -> None:
        """That of the rules, which have the verb."""

    def rollout(self, count: int, max_depth: int, greedy: int, own: bool, address: int) -> None:
        """`address` 0 calls the verbs one by one."""

class SearchFailed(Exception):
    pass

class PythonRules:
    """Rules that run as Python, for the engine."""

class RecordRules(PythonRules):
    """Of a record game that is not compiled."""

    def __init__(self, verbs: object, state_size: int, key_size: int, players: int, actions: int, outcomes: int, has_chance: bool, has_draw: bool, has_same: bool, has_bounds: bool) -> None: ...

class ObjectRules(PythonRules):
    """Of a game of Python objects."""

    def __init__(self, game: object, checked: object, players: int, actions: int, outcomes: int, has_chance: bool, has_draw: bool, has_same: bool, has_bounds: bool, has_key: bool, has_playout: bool) -> None: ...

    @property
    def held(self) -> int:
        """How many states there are that a search may come back to."""

    rollout: Final[int] = ...
    """The address of their rollout, for an evaluator."""

class Search:
    """One root and its graph."""

    def __init__(self, rules: object, config: Config, evaluator: NativeEvaluator, stream: int, state: object, owner: object | None) -> None: ...

    @property
    def nodes(self) -> int: ...

    @property
    def bytes(self) -> int: ...

    @property
    def over(self) -> bool: ...

    @property
    def solved(self) -> bool:
        """Whether the root's exact value is known."""

    @property
    def ready(self) -> bool: ...

    @property
    def root_visits(self) -> int: ...

    @property
    def evaluation_seed(self) -> int: ...

    def state(self, node: int) -> object: ...

    def line(self) -> list[list[int]]:
        """The actions from the root to the first state it asks about."""

    def hold(self) -> None:
        """Keep other threads away until it is let go."""

    def let_go(self) -> None: ...

    def undo(self) -> None:
        """Drop the waves in flight."""

    @property
    def in_flight(self) -> bool:
        """Whether waves wait for answers."""

    @property
    def root_number(self) -> int:
        """How often the root moved on."""

    @root_number.setter
    def root_number(self, arg: int, /) -> None: ...

    def advance(self, actions: Sequence[int], state: object, keep: str) -> None:
        """
        Make the state after the actions of all players (or an outcome, as the first) the root.
        """

    @property
    def ruled(self) -> bool:
        """Whether a rule of its own holds at the root."""

    @property
    def noised(self) -> bool:
        """Whether the root has priors of its own."""

def set_gumbel(search: Search, noise: Sequence[float]) -> None:
    """
    Give a root the Gumbel noise of its acting players' choices in place of what it would draw, until it moves on.
    """

def set_root_rules(searches: Sequence[Search], goals: Sequence[int], noise: bool, weight: float, alpha: float, total: float, forced: float) -> None:
    """
    What holds at roots until they move on: noise on their priors, drawn once, the k of forced visits, plans towards goals.
    """

def run(searches: Sequence[Search], goals: Sequence[int], seconds: float | None, threads: int) -> tuple[list[int], None] | tuple[None, dict[str, object]]:
    """
    Search with native evaluators: (simulations per search, None), or (None, a report of what failed).
    """

class Requests:
    """States that need evaluations, as columns."""

    def __len__(self) -> int: ...

    @property
    def records(self) -> numpy.typing.NDArray[numpy.uint8]: ...

    @property
    def keys(self) -> numpy.typing.NDArray[numpy.uint64]: ...

    @property
    def seeds(self) -> numpy.typing.NDArray[numpy.uint64]: ...

    @property
    def turns(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def movers(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def root_of_rows(self) -> numpy.typing.NDArray[numpy.uint32]: ...

    @property
    def first_root(self) -> int:
        """The first of the roots that have rows."""

    @property
    def joint(self) -> bool:
        """Whether players choose at once in any of them."""

    @property
    def states(self) -> list[object]:
        """Of object games."""

    @property
    def roots(self) -> list[int]:
        """Which of the searches gathered have rows."""

    def observe(self, joint: bool) -> tuple[numpy.typing.NDArray[numpy.float32], int]: ...

    def roll_out(self, evaluator: NativeEvaluator, discount: float) -> tuple[numpy.typing.NDArray[numpy.float64], int]: ...

    def legal(self, joint: bool) -> tuple[numpy.typing.NDArray[numpy.bool_], int]: ...

    def first_bad(self, logits: numpy.typing.NDArray[numpy.floating] | None, values: numpy.typing.NDArray[numpy.floating], low: float, high: float) -> int:
        """
        The first row whose numbers cannot be used, -1 if all can, -2 if all can and a value lies outside of [low, high].
        """

class Drive:
    """Roots searched together, with requests answered outside."""

    def __init__(self, searches: list[Search], goals: Sequence[int], threads: int) -> None: ...

    def gather(self, late: bool) -> tuple[Requests | None, bool, dict[str, object] | None]:
        """
        Go on until roots ask: (what they ask, whether there is more to do without answers, a report of what failed).
        """

    def answer(self, requests: Requests, logits: numpy.typing.NDArray[numpy.floating] | None, values: numpy.typing.NDArray[numpy.floating]) -> None:
        """
        Give roots the evaluations they asked for, which they use when they go on.
        """

    def put(self, place: int, search: Search, goal: int) -> None:
        """Give a place to another root, or to the same one with another goal."""

    def resting(self) -> list[int]:
        """
        The places whose roots are over or at their goals, with nothing in flight.
        """

class Model:
    """A learned model: its sizes, and what it says of transitions."""

    def __init__(self, *, players: int, actions: int, outcomes: int, masks: bool, discounts: bool) -> None: ...

    def compile(self, recurrent: int, instance: bytes, latent_bytes: int, owner: object) -> None:
        """Take the address of a compiled function and the record it reads."""

    @property
    def record_size(self) -> int: ...

    @property
    def latent_at(self) -> int:
        """Where a latent begins in a record."""

    @property
    def answer_size(self) -> int: ...

class Plan:
    """Roots planned together in one learned model."""

    def __init__(self, model: Model, config: Config, streams: Sequence[int], logits: numpy.typing.NDArray[numpy.generic] | None, values: numpy.typing.NDArray[numpy.generic] | None, movers: numpy.typing.NDArray[numpy.generic] | None, legal: numpy.typing.NDArray[numpy.generic] | None, latents: numpy.typing.NDArray[numpy.generic] | None, threads: int) -> None: ...

    @property
    def searches(self) -> list[Search]: ...

    def __len__(self) -> int: ...

    @property
    def visits(self) -> numpy.typing.NDArray[numpy.int64]:
        """Of every root."""

    @property
    def bytes(self) -> int:
        """Of all graphs."""

    def explore(self, goals: Sequence[int], noise: bool, weight: float, alpha: float, total: float, forced: float) -> None:
        """`set_root_rules` of all roots."""

    def run(self, goals: Sequence[int], seconds: float | None, threads: int) -> tuple[list[int], None] | tuple[None, dict[str, object]]:
        """`run` of all roots."""

    def aim(self, goals: Sequence[int]) -> None:
        """How many visits every root is to have."""

    def gather(self, late: bool) -> int:
        """
        Go on until roots ask: how many rows; 0 where all is done or something must be answered first.
        """

    @property
    def parents(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def actions(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def movers(self) -> numpy.typing.NDArray[numpy.int64]: ...

    @property
    def after(self) -> numpy.typing.NDArray[numpy.uint8]: ...

    @property
    def first(self) -> int:
        """The number of the first row's new latent; the others follow."""

    def look(self, logits: numpy.typing.NDArray[numpy.generic] | None, values: numpy.typing.NDArray[numpy.generic] | None, rewards: numpy.typing.NDArray[numpy.generic] | None, discounts: numpy.typing.NDArray[numpy.generic] | None = None, movers: numpy.typing.NDArray[numpy.generic] | None = None, legal: numpy.typing.NDArray[numpy.generic] | None = None, chances: numpy.typing.NDArray[numpy.generic] | None = None) -> tuple[int, int]:
        """
        (-1, 0) where answers to the rows gathered last can be used; else the row that cannot be and why: -1, shapes or types.
        """

    def answer(self, logits: numpy.typing.NDArray[numpy.generic] | None, values: numpy.typing.NDArray[numpy.generic] | None, rewards: numpy.typing.NDArray[numpy.generic] | None, discounts: numpy.typing.NDArray[numpy.generic] | None = None, movers: numpy.typing.NDArray[numpy.generic] | None = None, legal: numpy.typing.NDArray[numpy.generic] | None = None, chances: numpy.typing.NDArray[numpy.generic] | None = None) -> tuple[int, int]:
        """
        The same for the oldest rows not answered yet, whose answers are taken if they can be used.
        """

    def root_of(self, row: int) -> int:
        """Which root asked for a row of those gathered last."""

    def drop(self) -> None:
        """Forget what is in flight."""

    def tables(self) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64]]:
        """
        (policy, prior, q, prior without noise) [4, roots, actions], visits [roots, actions], values [roots, players], the actions Gumbel searches ended with.
        """

def columns(search: Search) -> dict[str, object]:
    """The graph as NumPy views."""

def summary(search: Search) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64], int, bool, numpy.typing.NDArray[numpy.int64]]:
    """
    (policy, prior, q, policy to learn from) and visits by player and action, the root's value, how many nodes, whether it is chance, what a Gumbel search ended with.
    """

def principal_variation(search: Search, first: Sequence[int]) -> list[int | tuple[int, ...]]:
    """
    The line that a search expects after what is played first; none: the most visited outcome.
    """

def root_policies(searches: Sequence[Search]) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.float64]]:
    """
    Policies and policies to learn from by root, player and action, values by root and player, visits of the roots, priors without noise.
    """

def node(search: Search, node: int) -> tuple[str, int, list[float], list[float], bool, list[float], bool]:
    """
    Kind, visits, value and evaluation of a node, whether its outcomes were enumerated, intervals (low and high of every player; none where proofs are off), whether it is proven.
    """

def chance_counts(search: Search) -> list[tuple[int, int, int, int, int, int]]:
    """
    [(outcomes, nodes, enumerated, visits, stored, frozen)] of the chance nodes.
    """

def root_proof(search: Search) -> tuple[bool, float, list[float], list[float], float, list[tuple[list[int], list[float], bool, float]]] | None:
    """
    What is certain of the root and its edges; None where no more is than at first.
    """

def edges(search: Search, node: int) -> list[tuple[list[int], int, int | None, list[float], float, list[float]]]:
    """
    [(actions, visits, child, value, probability, rewards)] in creation order.
    """

def variances(search: Search) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    The variance of the values below every node [nodes, P], and over every edge of the root [edges, P].
    """

def value_range(search: Search) -> numpy.typing.NDArray[numpy.float64]:
    """
    The least and the largest q(e) that the scale `graph` has seen [2, P]; infinite where it is not in use.
    """

class Damaged(ValueError):
    pass

def saved_columns() -> dict[str, str]:
    """
    The declared columns that files hold, where they are kept, and their types.
    """

def snapshot(search: Search) -> dict[str, object]:
    """What a search found, as columns; the rules give the rest back."""

def restore(search: Search, columns: dict[str, object]) -> None:
    """
    Fill a search that has not begun; raises Damaged where columns cannot be of this game and these settings.
    """

class FiniteGame:
    """Every state that can follow a start, with its value."""

    def __init__(self, rules: object, start: bytes) -> None: ...

    def explore(self, most: int, tell: object | None) -> bool:
        """
        Find all states; False where there are more than `most`. `tell` gets (found, expanded, solved, sweep) now and then.
        """

    def solve(self, discount: float, iterate: bool, tolerance: float, sweeps: int, tell: object | None) -> tuple[str, list[int]]:
        """
        Find all values: ('solved', []), or why that cannot be, 'loop', 'unsettled' or 'not_opposed', and which states.
        """

    def gap(self) -> float:
        """The smallest difference between two choices of one who chooses alone."""

    def find(self, key: bytes) -> int | None:
        """The number of the state with a key."""

    def state(self, number: int) -> bytes:
        """A state's record."""

    def edges(self, number: int) -> tuple[list[int], numpy.typing.NDArray[numpy.float64]]:
        """
        The children of a state and the rewards on the way, over joint choices or outcomes.
        """

    @property
    def values(self) -> numpy.typing.NDArray[numpy.float64]:
        """[state, player]; read only."""

    @property
    def states(self) -> int: ...

    @property
    def expanded(self) -> int:
        """How many states' edges are known."""

    @property
    def bytes(self) -> int: ...

def equilibrium(matrix: object) -> tuple[list[float], list[float]]:
    """
    Optimal strategies (rows, columns) of a table of what the row player gets.
    """
