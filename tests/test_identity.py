"""Which evaluator, which agent: what is the same is called the same, in every process, and what differs is not."""

from __future__ import annotations

import functools
import importlib
import inspect
import io
import random
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.test_onnx_external import small

import anabranch as ab
from anabranch.cli import BAD_DATA, GOOD, main
from anabranch.errors import DataError
from anabranch.evaluate import batch as batches
from anabranch.evaluate.contents import contents, origin
from anabranch.evaluate.identity import identity
from anabranch.evaluate.load import load
from anabranch.evaluate.network import NetworkEvaluator
from anabranch.evaluate.sources import DoubtError, sources
from anabranch.game.load import load_module
from anabranch.play.agent import Agent
from anabranch.play.identity import agent_identity
from anabranch.play.names import agent_by_name, as_agent
from anabranch.play.open_spiel import mcts_agent

# Evaluators here say numbers by which they can be told apart, whatever the game declares.
pytestmark = pytest.mark.filterwarnings("ignore::anabranch.errors.EvaluatorWarning")

GAME = ab.games.load("tic_tac_toe")
FOUR = ab.games.load("connect_four")

PLAYERS = '''
import functools
import numpy as np
import torch
import anabranch as ab
import helper
from helper import weigh as weighing

WEIGHTS = np.arange(4.0)
TABLE = {"a": [1, 2, 3], "b": {4, 5}}


def bot(state, seat):
    return state.legal(seat)[0]


def evaluate(batch):
    return None, np.full((len(batch), 2), WEIGHTS[1] + len(TABLE) + helper.weigh())


def late(batch):
    import helper

    return None, np.full((len(batch), 2), helper.weigh())


def make(number):
    def inner(batch, also=3):
        return None, np.full((len(batch), 2), number + also)

    return inner


class Bot(ab.Agent):
    margin = 2

    def __init__(self, depth=3):
        self.depth = depth

    def choose(self, turns):
        return [turn.state.legal(turn.seat)[0] for turn in turns]


class Counter(Bot):
    """Holds what changes as it plays, and tells its settings by its name."""

    def __init__(self, depth=3):
        super().__init__(depth)
        self.asked = 0

    @property
    def name(self):
        return f"counter:depth={self.depth}"


class Slow(ab.RandomAgent):
    pass


class Evaluates:
    def __init__(self, value=0.5, inner=None):
        self.value, self.inner, self.array = value, inner, np.ones(3)

    def evaluate(self, batch):
        return None, np.full((len(batch), 2), self.value)

    def other(self, batch):
        return self.evaluate(batch)


class Net(torch.nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        torch.manual_seed(0)
        self.scale = scale
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, seen):
        return seen, seen


def observed(seen):
    return np.zeros((len(seen), 9)), np.zeros((len(seen), 2))


one, two = (lambda batch: (None, batch)), (lambda batch: (None, -batch))
made = {
    "bot": bot,
    "evaluate": evaluate,
    "late": late,
    "make(1)": make(1),
    "make(2)": make(2),
    "partial": functools.partial(evaluate, extra=1),
    "one": one,
    "two": two,
    "object": Evaluates(),
    "object of another value": Evaluates(0.25),
    "object with another inside": Evaluates(inner=ab.Cached(ab.Uniform())),
    "method": Evaluates().other,
    "network": ab.Network(observed),
    "network of seats": ab.Network(observed, view="seats"),
    "torch": ab.Torch(Net()),
    "torch of another scale": ab.Torch(Net(2.0)),
    "symmetric": ab.Symmetric(evaluate),
    "cached": ab.Cached(late),
}
agents = {
    "bot": bot,
    "named bot": ab.ScriptedAgent(bot, "me"),
    "class": Bot(),
    "class of another depth": Bot(4),
    "counter": Counter(),
    "slow": Slow(),
    "search": ab.SearchAgent(simulations=5, evaluator=evaluate),
    "search with a network": ab.SearchAgent(simulations=5, evaluator=ab.Torch(Net())),
}
'''
HELPER = "import deeper\n\ndef weigh():\n    return deeper.DEEP\n"
PROGRAM = """
import sys
from anabranch.evaluate.identity import identity
from anabranch.game.load import load_module
from anabranch.play.identity import agent_identity
from anabranch.play.names import as_agent
module = load_module(sys.argv[1])
for name, thing in module.made.items():
    print("evaluator", name, identity(thing), sep="|")
for name, thing in module.agents.items():
    print("agent", name, agent_identity(as_agent(thing)), sep="|")
"""


def written(folder: Path, **change: tuple[str, str]) -> Path:
    """Write the three files, with changes of their text."""
    folder.mkdir(exist_ok=True)
    texts = {"players": PLAYERS, "helper": HELPER, "deeper": "DEEP = 0.125\n"}
    for name, text in texts.items():
        old, new = change.get(name, ("", ""))
        assert old in text
        (folder / f"{name}.py").write_text(text.replace(old, new) if old else text)
    return folder / "players.py"


def told(path: Path, *, options: tuple[str, ...] = ()) -> dict[str, str]:
    """Return the texts of everything in a file, by another process."""
    command = [sys.executable, *options, "-c", PROGRAM, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent)
    assert done.returncode == 0, done.stderr
    lines = [line.split("|", 2) for line in done.stdout.splitlines()]
    return {f"{kind} {name}": text for kind, name, text in lines}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The texts of the files as they are."""
    return told(written(tmp_path_factory.mktemp("first") / "one"))


def test_texts_are_the_same_in_every_process_and_folder_and_differ_where_things_do(first, tmp_path):
    assert told(written(tmp_path / "other"), options=("-X", "no_debug_ranges")) == first
    assert len(first) == 26
    assert len(set(first.values())) == 26 - 2  # what is cached is what it was; a bot is one function
    assert first["evaluator cached"] == first["evaluator late"]
    assert not [text for text in first.values() if "unknown" in text]
    assert first["agent bot"].startswith("players.py:bot:sha256=")
    assert first["agent counter"].startswith("counter:depth=3 (players.py:Counter):sha256=")
    assert first["agent slow"].startswith("random (players.py:Slow):sha256=")
    assert "evaluator=players.py:evaluate:sha256=" in first["agent search"]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"players": ("legal(seat)[0]\n", "legal(seat)[-1]\n")}, []),
        ({"players": ("WEIGHTS = np.arange(4.0)", "WEIGHTS = np.arange(4.0) + 1")}, []),
        ({"helper": ("deeper.DEEP", "2 * deeper.DEEP")}, []),
        ({"deeper": ("0.125", "0.25")}, []),
    ],
    ids=["the file", "a value in it", "a file it imports", "the last of files that import others"],
)
def test_code_that_was_edited_is_other_code(first, tmp_path, change, same):
    """All that is made of a file is another's when the file, or one of the user's own that it imports, has changed."""
    before, after = first, told(written(tmp_path / "other", **change))
    assert [name for name in before if before[name] == after[name]] == same
    for name in before:
        assert before[name].partition("sha256")[0] == after[name].partition("sha256")[0]


def test_global_values_count_that_the_file_does_not_tell(tmp_path):
    """Weights that were read from elsewhere when the file was run: the text is the same, the numbers are not."""
    module: Any = load_module(str(written(tmp_path / "one")))
    before = identity(module.evaluate).text
    module.WEIGHTS[1] = 7.0
    assert identity(module.evaluate).text != before
    module.WEIGHTS[1] = 1.0
    assert identity(module.evaluate).text == before
    module.TABLE["a"].append(4)
    assert identity(module.evaluate).text != before
    assert identity(module.late).text == identity(module.late).text


def test_packages_of_an_environment_that_is_shared_are_told_by_name_and_version(tmp_path, monkeypatch):
    """As torch of the system, in an environment made with --system-site-packages: its code is not looked at."""
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "shared_package.py").write_text("__version__ = '1'\n\n\ndef evaluate(batch):\n    return None, batch\n")
    monkeypatch.syspath_prepend(folder)
    module: Any = importlib.import_module("shared_package")
    monkeypatch.setitem(sys.modules, "shared_package", module)
    before = contents(module.evaluate)
    (folder / "shared_package.py").write_text("# edited\n")
    assert contents(module.evaluate) == before
    module.__version__ = "2"
    assert contents(module.evaluate) != before


# Every evaluator and agent of the library


def evaluators(folder: Path) -> dict[str, tuple[Any, Any, Any]]:
    """Return for each kind of evaluator one, the same made once more, and another."""
    game = FOUR

    def net(seed: int) -> Any:
        torch.manual_seed(seed)
        return ab.nets.make("mlp", game, width=4, layers=1)

    def trained(seed: int) -> Any:
        made = net(seed)
        with torch.no_grad():
            for weights in made.parameters():
                weights.add_(seed)
        return made

    model = small(folder / "model.onnx")
    changed = bytearray(model.read_bytes())
    changed[changed.index(np.float32(5).tobytes())] ^= 1
    module: Any = load_module(str(written(folder / "players")))
    return {
        "Rollout": (ab.Rollout(), ab.Rollout(), ab.Rollout(count=2)),
        "Uniform": (ab.Uniform(), ab.Uniform(), ab.Uniform(0.5)),
        "Hashing": (ab.Hashing(), ab.Hashing(), ab.Hashing(1)),
        "Heuristic": (ab.Heuristic(), ab.Heuristic(), ab.Uniform()),
        "OracleValue": (ab.OracleValue(), ab.OracleValue(), ab.OracleValue(ab.oracle("tic_tac_toe"))),
        "Asked": (ab.Asked("a"), ab.Asked("a"), ab.Asked("b")),
        "Torch": (ab.Torch(trained(1)), ab.Torch(trained(1)), ab.Torch(trained(2))),
        "Onnx": (ab.Onnx(model), ab.Onnx(model), ab.Onnx(bytes(changed))),
        "Network": (ab.Network(module.observed), ab.Network(module.observed), ab.Network(module.evaluate)),
        "Cached": (ab.Cached(ab.Torch(trained(1))), ab.Torch(trained(1)), ab.Cached(ab.Torch(trained(2)))),
        "Symmetric": (
            ab.Symmetric(ab.Torch(trained(1))),
            ab.Symmetric(ab.Torch(trained(1))),
            ab.Symmetric(ab.Torch(trained(2))),
        ),
        "Mixed": (
            ab.Mixed(ab.Torch(trained(1))),
            ab.Mixed(ab.Torch(trained(1)), 4),
            ab.Mixed(ab.Torch(trained(2))),
        ),
        "Function": (module.evaluate, batches.Function(module.evaluate), module.late),
    }


def test_every_evaluator_is_told_apart(tmp_path):
    """Also inside of Cached and Symmetric, and by whoever holds one."""
    table = evaluators(tmp_path)
    public = {
        name for name in ab.__all__ if inspect.isclass(getattr(ab, name)) and hasattr(getattr(ab, name), "evaluate")
    }
    assert set(table) - {"Function"} == public - {"Evaluator"}
    for name, three in table.items():
        one, same, other = (identity(each) for each in three)
        assert not one.doubt + same.doubt + other.doubt, name
        assert one == same, name
        assert one != other, name
        wraps = [lambda e: ab.Symmetric(e, mode="all"), Holder]
        wraps += [ab.Cached] if name not in ("Rollout", "Symmetric", "Mixed") else []
        for wrap in wraps:
            one, same, other = (identity(wrap(each)) for each in three)
            assert one == same, name
            assert one != other, name


class Holder:
    """An evaluator of the user's own around another one."""

    def __init__(self, inner: Any) -> None:
        self.inner = batches.as_evaluator(inner)

    def evaluate(self, batch: Any) -> Any:
        return self.inner.evaluate(batch)


def test_functions_of_c_are_known_by_their_library_and_those_that_remember_are_doubtful():
    """They have no file, no code and no attributes to look into."""
    functions: tuple[Any, ...] = (len, abs, [].append, [1].append, np.dot)
    texts = [identity(each).text for each in functions]
    assert len(set(texts)) == len(texts)
    assert not any("unknown" in text.partition(":")[2] for text in texts)
    assert identity(np.random.default_rng(0).random).doubt


def test_settings_of_networks_and_wrappers_count(tmp_path):
    net: Any = ab.nets.make("mlp", FOUR, width=4, layers=1)
    model = small(tmp_path / "model.onnx")
    several: list[dict[str, Any]] = [{}, {"view": "seats"}, {"autocast": "bfloat16"}]
    function: Any = batches.checked
    texts = [
        *(identity(ab.Torch(net, **more)).text for more in several),
        *(identity(ab.Onnx(model, **more)).text for more in ({}, {"view": "seats"}, {"threads": 2})),
        *(identity(ab.Symmetric(ab.Uniform(), **more)).text for more in ({}, {"mode": "all"}, {"seed": 1})),
        *(identity(ab.Network(function, view=view)).text for view in ("mover", "seats")),
    ]
    assert len(set(texts)) == len(texts)
    assert identity(ab.Cached(ab.Uniform(), 5)) == identity(ab.Cached(ab.Uniform(), 7))  # answers are the same


def test_modules_of_equal_weights_and_other_structure_are_others():
    layers = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    one, other = (torch.nn.Sequential(layers[0], kind(), layers[1]) for kind in (torch.nn.ReLU, torch.nn.Tanh))
    assert one.state_dict().keys() == other.state_dict().keys()
    assert ab.Torch(one).sha256 != ab.Torch(other).sha256
    before = ab.Torch(one).sha256
    one.train()
    assert ab.Torch(one).sha256 == before
    one.register_forward_hook(hook)
    assert ab.Torch(one).sha256 != before


def hook(module: Any, given: Any, answer: Any) -> Any:
    return answer


def bot(state: Any, seat: int) -> int:
    return int(state.legal(seat)[0])


AGENTS: dict[str, tuple[Any, Any, Any]] = {
    "RandomAgent": (ab.RandomAgent(), "random", "human"),
    "HumanAgent": (ab.HumanAgent(), "human", "random"),
    "SearchAgent": (ab.SearchAgent(simulations=5), "search:simulations=5", "search:simulations=6"),
    "OracleAgent": (ab.OracleAgent(), "oracle", "oracle:goal=points"),
    "ScriptedAgent": (ab.ScriptedAgent(bot), bot, ab.ScriptedAgent(bot, "bot")),
    "OpenSpielAgent": (
        mcts_agent(simulations=5),
        "open_spiel:mcts:simulations=5",
        ab.OpenSpielAgent(lambda game, seat, seed: None, "open_spiel:mcts:simulations=5"),
    ),
}


def test_every_agent_is_told_apart():
    public = {
        name for name in ab.__all__ if inspect.isclass(getattr(ab, name)) and issubclass(getattr(ab, name), Agent)
    }
    assert set(AGENTS) == public - {"Agent"}
    for name, three in AGENTS.items():
        one, same, other = (agent_identity(as_agent(each)) for each in three)
        assert not one.doubt + same.doubt + other.doubt, name
        assert one == same, name
        assert one != other, name


def test_agents_that_search_are_told_apart_by_their_evaluators(tmp_path):
    for name, (one, same, other) in evaluators(tmp_path).items():
        texts = [agent_identity(ab.SearchAgent(visits=3, evaluator=each)).text for each in (one, same, other)]
        assert texts[0] == texts[1], name
        assert texts[0] != texts[2], name
        assert "unknown" not in "".join(texts)


def test_an_agent_of_a_class_is_what_it_holds_unless_it_has_a_name(tmp_path):
    module: Any = load_module(str(written(tmp_path / "one")))
    assert agent_identity(module.Bot(3)) == agent_identity(module.Bot(3)) != agent_identity(module.Bot(4))
    counter = module.Counter()
    before = agent_identity(counter)
    counter.asked = 7
    assert agent_identity(counter) == before != agent_identity(module.Counter(4))
    module.Bot.margin = 3
    assert agent_identity(counter) != before
    slow = agent_identity(module.Slow())
    assert slow != agent_identity(ab.RandomAgent())

    class Searches(ab.SearchAgent):
        pass

    one = agent_identity(Searches(simulations=5))
    assert one == agent_identity(Searches(simulations=5)) != agent_identity(Searches(simulations=6))
    assert one != agent_identity(ab.SearchAgent(simulations=5))


def test_functions_that_look_alike_are_told_apart():
    pair = (lambda batch: (None, batch)), (lambda batch: (None, batch + 0))
    made = [functools.partial(hook, answer=number) for number in (1, 2)]
    bound = [Holder(ab.Uniform(number)).evaluate for number in (1, 2)]
    nested = [closure(number) for number in (1, 2)]
    for one, other in (pair, made, bound, nested):
        assert identity(one).text != identity(other).text
        assert identity(one) == identity(one)


def closure(number: int, *, twice: bool = False) -> Any:
    def inner(batch: Any) -> Any:
        return batch * number * (2 if twice else 1)

    return inner


@dataclass
class Several:
    """An evaluator with one thing inside."""

    thing: Any

    def evaluate(self, batch: Any) -> Any:
        return batch


KNOWN: list[Any] = [
    *(None, 3, -(10**5000), 2.5, "x", b"x", (1, 2), [1, 2], {1: 2}, {"a", "b"}, frozenset({1}), range(3)),
    *(np.arange(3), np.float32(2), np.array(["a"], object), np.dtype("f4"), Path("x"), closure, hook, ab.Uniform()),
    *(torch.ones(2), torch.nn.Linear(1, 1), FOUR, Several(1), Several, np.add, np.concatenate, len, [].append),
    *(functools.lru_cache(hook), batches.LARGEST, random, inspect.Parameter.empty, 1 + 2j, functools.partial(hook, 1)),
]


def test_whatever_can_be_told_is_told_apart():
    texts = [identity(Several(thing)) for thing in KNOWN]
    assert not [each.doubt for each in texts if each.doubt]
    assert len({each.text for each in texts}) == len(KNOWN)
    assert [identity(Several(thing)) for thing in KNOWN] == texts
    assert identity(Several(threading.Lock())) == identity(Several(threading.RLock()))  # decides nothing


def test_things_that_hold_themselves_end():
    loop: list[Any] = [1]
    loop.append(loop)
    assert identity(Several(loop)).text == identity(Several(loop)).text
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "without end" in identity(Several(deep)).doubt
    while deep:
        deep = deep.pop()


def test_the_user_may_say_which_it_is():
    class Says(Several):
        identity = "version 7"

    found = identity(Says(np.random.default_rng()))
    assert found.text.endswith("Says:identity=version 7")
    assert not found.doubt


def test_networks_stay_themselves_when_they_are_used():
    class Mine(NetworkEvaluator):
        view = "mover"

        def run(self, observations: Any) -> Any:
            return np.zeros((len(observations), 9)), np.zeros((len(observations), 2))

    evaluator = Mine()
    before = identity(evaluator)
    ab.search(GAME.start(), simulations=5, evaluator=evaluator)
    assert identity(evaluator) == before


# What nobody can tell


def typed(source: str) -> Any:
    """Return what a line makes that was typed in: no file has it."""
    space: dict[str, Any] = {"np": np, "torch": torch, "ab": ab, "__name__": "__console__"}
    exec(compile(source, "<stdin>", "exec"), space)
    return space["it"]


TYPED = {
    "a lambda": "it = lambda batch: (None, np.ones((len(batch), 2)))",
    "a function": "def it(batch):\n    return None, np.ones((len(batch), 2))",
    "a class": "class It:\n    def evaluate(self, batch):\n        return None, np.ones((len(batch), 2))\nit = It()",
    "a network": "it = ab.Network(lambda seen: seen)",
    "a module": "class Net(torch.nn.Module):\n    def forward(self, seen):\n        return seen\nit = ab.Torch(Net())",
    "inside Cached": "it = ab.Cached(lambda batch: (None, np.ones((len(batch), 2))))",
    "inside Symmetric": "it = ab.Symmetric(lambda batch: (None, np.ones((len(batch), 2))))",
}


@pytest.mark.parametrize("source", TYPED.values(), ids=TYPED)
def test_what_was_typed_in_is_doubted(source):
    found = identity(typed(source))
    assert "sha256=unknown" in found.text
    assert "was typed in, and no file has its code" in found.doubt
    agent = agent_identity(ab.SearchAgent(simulations=3, evaluator=typed(source)))
    assert "sha256=unknown" in agent.text
    assert agent.doubt == found.doubt


@pytest.mark.parametrize(
    ("thing", "why"),
    [
        (np.random.default_rng(0), "depend on what was drawn before"),
        (random.Random(0), "depend on what was drawn before"),
        (iter([]), "shows nothing of what it is"),
        (io.TextIOWrapper(io.BytesIO()), "shows nothing of what it is"),
    ],
)
def test_what_hides_what_it_is_is_doubted(thing, why):
    found = identity(Several(thing))
    assert why in found.doubt
    assert "the attribute thing of a Several" in found.doubt
    with pytest.raises(DoubtError):
        contents(thing)


# Files


def saved(evaluator: Any, path: Path) -> Path:
    searcher = ab.Searcher(FOUR, evaluator, threads=1)
    root = searcher.root(FOUR.start())
    searcher.run(root, simulations=20)
    return root.save(path)


def test_a_search_is_loaded_with_its_evaluator_and_no_other(tmp_path):
    """All evaluators, each also inside of Cached and Symmetric where that may be."""
    path = tmp_path / "root.npz"
    names = ("Rollout", "Uniform", "Hashing", "Torch", "Function")
    for name, (one, same, other) in evaluators(tmp_path).items():
        if name not in names:
            continue
        for wrap in [lambda e: e] + [ab.Cached] * (name != "Rollout") + [ab.Symmetric] * (name == "Torch"):
            saved(wrap(one), path)
            ab.Searcher(FOUR, wrap(same), threads=1).load(path)
            with pytest.raises(DataError, match=r"root\.npz was searched with"):
                ab.Searcher(FOUR, wrap(other), threads=1).load(path)


def test_what_was_typed_in_is_loaded_only_if_the_user_says_so(tmp_path):
    one, other = (typed(TYPED["a lambda"]) for _ in range(2))
    path = saved(one, tmp_path / "root.npz")
    for again in (one, other):
        with pytest.raises(DataError, match=r"nobody can tell.*was typed in.*same_evaluator=True"):
            ab.Searcher(FOUR, again, threads=1).load(path)
        ab.Searcher(FOUR, again, threads=1).load(path, same_evaluator=True)
        ab.Analysis(FOUR.start(), visits=30, evaluator=again, load=path, same_evaluator=True)
    with pytest.raises(DataError, match=r"searched with .*<lambda>.* this one is uniform"):
        ab.Searcher(FOUR, ab.Uniform(), threads=1).load(path, same_evaluator=True)


def test_an_edited_evaluator_is_told_from_what_it_was_unless_the_user_says_so(tmp_path, capsys):
    path = written(tmp_path / "one")
    words = ["analyze", "tic_tac_toe", "--simulations", "10", "--evaluator", f"{path}:evaluate"]
    assert main([*words, "--save", str(tmp_path / "root.npz")]) == GOOD
    assert main([*words, "--load", str(tmp_path / "root.npz")]) == GOOD
    path.write_text(path.read_text() + "# edited\n")
    capsys.readouterr()
    assert main([*words, "--load", str(tmp_path / "root.npz")]) == BAD_DATA
    said = capsys.readouterr().err
    assert "root.npz was searched with players.py:evaluate:sha256=" in said
    assert "say so: same_evaluator=True, or --same-evaluator" in said
    assert main([*words, "--load", str(tmp_path / "root.npz"), "--same-evaluator"]) == GOOD


def test_bots_of_one_name_have_matches_of_their_own(tmp_path, capsys):
    """Two files with a function of one name: the second does not go on with the first one's games."""
    (tmp_path / "a1.py").write_text("def bot(state, seat):\n    return state.legal(seat)[0]\n")
    (tmp_path / "a2.py").write_text("def bot(state, seat):\n    return state.legal(seat)[-1]\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a1.py").write_text("def bot(state, seat):\n    return state.legal(seat)[-1]\n")
    file = ["--out", str(tmp_path / "m.jsonl")]

    def play(bot: str, games: int, *more: str) -> int:
        return main(["match", "connect_four", "random", f"{tmp_path / bot}:bot", "--games", str(games), *file, *more])

    assert play("a1.py", 4) == GOOD
    assert "a1.py:bot" in capsys.readouterr().out
    before = (tmp_path / "m.jsonl").read_bytes()
    assert play("a2.py", 8) == BAD_DATA
    assert "agent 2 is a1.py:bot:sha256=" in capsys.readouterr().err
    assert play("a2.py", 8, "--same-agents") == BAD_DATA  # nobody can mean that
    assert play("other/a1.py", 8) == BAD_DATA
    assert "say so: same_agents=True, or --same-agents" in capsys.readouterr().err
    assert (tmp_path / "m.jsonl").read_bytes() == before
    assert play("a1.py", 8) == GOOD
    (tmp_path / "a1.py").write_text("# a comment\n" + (tmp_path / "a1.py").read_text())
    assert play("a1.py", 12) == BAD_DATA
    assert play("a1.py", 12, "--same-agents") == GOOD


def test_a_match_of_what_was_typed_in_goes_on_only_if_the_user_says_so(tmp_path):
    bot = typed("it = lambda state, seat: state.legal(seat)[0]")
    for one, other in ((bot, "random"), (ab.SearchAgent(simulations=3, evaluator=typed(TYPED["a lambda"])), "random")):
        path = tmp_path / f"{type(one).__name__}.jsonl"
        ab.match(GAME, one, other, games=4, file=path)
        with pytest.raises(DataError, match=r"nobody can tell.*typed in.*same_agents=True"):
            ab.match(GAME, one, other, games=8, file=path)
        assert ab.match(GAME, one, other, games=8, file=path, same_agents=True).played == 4


def test_bots_of_one_name_in_one_match_are_told_by_their_hashes(tmp_path):
    for folder, place in (("one", 0), ("two", -1)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bot.py").write_text(f"def bot(state, seat):\n    return state.legal(seat)[{place}]\n")
    one, two = (f"{tmp_path / folder / 'bot.py'}:bot" for folder in ("one", "two"))
    names = ab.match(GAME, one, two, games=2).agents
    assert len(set(names)) == 2
    assert all(name.startswith("bot.py:bot:sha256=") for name in names)
    assert ab.match(GAME, one, one, games=2).agents == ("bot.py:bot", "bot.py:bot")


# Names


def test_the_name_of_an_evaluator_or_agent_of_a_file_makes_it_again(tmp_path, monkeypatch):
    path = written(tmp_path / "one")
    monkeypatch.chdir(path.parent)
    text = identity(load("players.py:evaluate")).text
    assert identity(load(text)).text == text
    agent = ab.SearchAgent(simulations=3, evaluator="players.py:evaluate")
    assert agent_by_name(agent.name).name == agent.name
    named = agent_identity(agent_by_name("players.py:bot")).text
    assert agent_identity(agent_by_name(named)).text == named
    path.write_text(path.read_text() + "# edited\n")
    for load_it, what in ((lambda: load(text), "evaluator"), (lambda: agent_by_name(named), "agent")):
        with pytest.raises(DataError, match=f"is another {what} than the one named"):
            load_it()


def test_where_code_comes_from(tmp_path):
    path = written(tmp_path / "one")
    module: Any = load_module(str(path))
    assert origin(module.bot) == "players.py:bot"
    assert origin(functools.partial(module.bot, 1)) == "players.py:bot"
    assert origin(module.Bot()) == "players.py:Bot"
    assert origin(closure(1)) == f"{__name__}:closure.<locals>.inner"
    assert [name for name, _ in sources(path)] == ["deeper", "helper", "players.py"]
