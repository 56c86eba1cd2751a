"""Networks as torch modules: shapes, seats, files."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch

import anabranch as ab
from anabranch.errors import DataError, EvaluatorError, UnknownNameError, UsageError
from anabranch.evaluate.batch import Batch, evaluations
from anabranch.evaluate.load import load
from anabranch.evaluate.seats import to_mover, to_seats
from anabranch.nets import files
from anabranch.nets.shape import Shape
from anabranch.nets.world import Followed

SMALL = {"mlp": {"width": 8, "layers": 2}, "tower": {"channels": 4, "blocks": 1, "head": 2, "hidden": 8}}
SMALL |= {"world_mlp": {**SMALL["mlp"], "latent": 6}, "world_tower": SMALL["tower"]}
SMALL |= {"world_dice": {**SMALL["world_mlp"], "codes": 3}}
SEEING = [name for name in ab.games.names() if ab.games.load(name).has("observe")]


@pytest.fixture(autouse=True)
def _one_thread():
    """The machine's other threads belong to other tests."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def batch_of(*states: ab.State) -> Batch:
    return Batch(states, list(range(len(states))))


def answered(network: torch.nn.Module, observations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what a module says when it is simply called."""
    network.eval()
    with torch.no_grad():
        logits, values = network(torch.from_numpy(observations))
    return logits.numpy(), values.numpy()


class Fixed(torch.nn.Module):
    """Says the same of every observation."""

    def __init__(self, logits: list[float], values: list[float]) -> None:
        super().__init__()
        self.logits, self.values = torch.tensor(logits), torch.tensor(values)

    def forward(self, observations):
        rows = len(observations)
        return self.logits.expand(rows, -1), self.values.expand(rows, *self.values.shape)


# Shapes


@pytest.mark.parametrize("architecture", ab.nets.names())
@pytest.mark.parametrize("name", SEEING)
def test_heads_fit_every_game(name, architecture):
    game = ab.games.load(name)
    net = ab.nets.make(architecture, game, **SMALL[architecture]).eval()
    positions = ab.random_positions(game, 3)
    logits, values = answered(net, positions.observations)
    assert logits.shape == (len(positions), game.actions)
    assert values.shape == (len(positions), game.players)
    assert np.isfinite(logits).all()
    if not game.rewards_along:
        low, high = game.returns
        assert ((low <= values) & (values <= high)).all()


@pytest.mark.parametrize("architecture", ab.nets.names())
@pytest.mark.parametrize(
    ("observation", "board"),
    [((), (1, 1, 1)), ((5,), (5, 1, 1)), ((5, 7), (5, 1, 7)), ((5, 7, 3), (5, 7, 3)), ((5, 7, 3, 2), (5, 7, 6))],
)
def test_an_observation_of_any_shape_is_a_board(observation, board, architecture):
    shape = Shape("any", observation, 3, 2, -1.0, 1.0, True)
    assert shape.board == board
    from anabranch.nets.registry import build

    net, seen = build(architecture, shape, SMALL[architecture]).eval(), torch.zeros(2, *observation)
    logits, values = net(seen)
    assert (logits.shape, values.shape) == ((2, 3), (2, 2))
    if architecture == "world_dice":
        what = Followed(seen, torch.ones(2), torch.zeros(2, 2), torch.zeros(2))
        assert net.encode(what).shape == (2, 3)  # type: ignore[operator]


def test_weights_follow_from_the_seed_alone():
    game = ab.games.load("tic_tac_toe")
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    one, two, other = (ab.nets.make("mlp", game, seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected), "the user's random numbers are left alone"
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), two.parameters(), strict=True))
    assert not torch.equal(next(one.parameters()), next(other.parameters()))


@pytest.mark.parametrize(
    ("name", "sizes", "words"),
    [
        ("towr", {}, "'tower'"),
        ("tower", {"chanels": 4}, "'channels'"),
        ("tower", {"channels": 0}, "from 1 to 2,048"),
        ("tower", {"channels": 4.0}, "found 4.0"),
        ("tower", {"channels": True}, "found True"),
        ("tower", {"channels": 2048, "blocks": 128}, "weights; at most"),
    ],
)
def test_wrong_sizes_are_named_before_anything_is_allocated(name, sizes, words):
    with pytest.raises(UsageError) as caught:
        ab.nets.make(name, ab.games.load("tic_tac_toe"), **sizes)
    assert words in str(caught.value)


def test_a_game_without_observations_has_no_network():
    game = ab.games.load("explicit")
    with pytest.raises(UsageError, match=r"explicit has no observe verb.* def observe\(self, state, player, planes\)"):
        ab.nets.make("mlp", game)
    with pytest.raises(UsageError, match=r"explicit has no observe verb.* def observe\(self, state, player, planes\)"):
        game.start().observe(0)


# Seats


def test_three_players_by_hand():
    """(me, next, next but one), said by player 2 of three, is players (2, 0, 1)."""
    said = np.array([[10.0, 20.0, 30.0]] * 3)
    seats = to_seats(said, [0, 1, 2])
    assert seats.tolist() == [[10.0, 20.0, 30.0], [30.0, 10.0, 20.0], [20.0, 30.0, 10.0]]
    assert to_mover(seats, [0, 1, 2]).tolist() == said.tolist()


def test_a_search_of_three_players_gets_values_by_seat():
    game = ab.games.load("n_in_a_row")
    first = game.start()
    second, _ = first.step(first.legal()[0])
    third, _ = second.step(second.legal()[0])
    evaluator = ab.Torch(Fixed([0.0] * game.actions, [0.1, 0.2, 0.3]))
    said = evaluations(evaluator, batch_of(first, second, third))
    assert np.allclose([row.values for row in said], [[0.1, 0.2, 0.3], [0.3, 0.1, 0.2], [0.2, 0.3, 0.1]])
    by_seat = ab.Torch(Fixed([0.0] * game.actions, [0.1, 0.2, 0.3]), view="seats")
    assert np.allclose([row.values for row in evaluations(by_seat, batch_of(second))], [[0.1, 0.2, 0.3]])


def test_one_number_is_the_movers_and_its_negative_the_others():
    first = ab.games.load("tic_tac_toe").start()
    second, _ = first.step(0)
    for values in (0.25, [0.25]):  # [B] and [B, 1]
        module = Fixed([0.0] * 9, values)  # type: ignore[arg-type]
        said = evaluations(ab.Torch(module, view="scalar"), batch_of(first, second))
        assert [row.values for row in said] == [[0.25, -0.25], [-0.25, 0.25]]
    with pytest.raises(EvaluatorError, match=r"\(1, 2\).*scalar"):
        ab.Torch(Fixed([0.0] * 9, [0.1, 0.2]), view="scalar").evaluate(batch_of(first))
    with pytest.raises(UsageError, match="mover, seats, scalar"):
        ab.Torch(Fixed([], []), view="table")  # type: ignore[arg-type]


def test_players_who_choose_at_once_are_asked_one_by_one():
    """Each acting player gets logits for what it sees; the values are the mean of their evaluations, by seat."""
    game = ab.games.load("pyrat")
    net = ab.nets.make("mlp", game, **SMALL["mlp"])
    state = game.start()
    seen = np.stack([state.observe(player) for player in range(2)])
    assert not (seen[0] == seen[1]).all()
    logits, values = answered(net, seen)
    [said] = evaluations(ab.Torch(net), batch_of(state))
    assert said.logits is not None
    assert np.allclose(said.logits, logits)
    assert np.allclose(said.values, (values[0] + values[1][::-1]) / 2)


# Torch as an evaluator


def test_torch_is_the_module_called_in_evaluation_mode():
    game = ab.games.load("connect_four")
    net = ab.nets.make("tower", game, **SMALL["tower"])
    first = game.start()
    states = [first, first.step(3)[0], first.step(2)[0].step(4)[0]]
    net.train()
    net.get_submodule("policy").eval()  # a part in another mode of its own
    modes = [part.training for part in net.modules()]
    buffers = [buffer.clone() for buffer in net.buffers()]
    said = evaluations(ab.Torch(net, threads=2), batch_of(*states))
    assert [part.training for part in net.modules()] == modes
    assert all(torch.equal(a, b) for a, b in zip(net.buffers(), buffers, strict=True)), "batch norm learnt something"
    assert torch.get_num_threads() == 1
    logits, values = answered(net, np.stack([state.observe() for state in states]))
    assert np.allclose([row.logits[0] for row in said if row.logits], logits, atol=1e-6)
    assert np.allclose([row.values for row in said], [values[0], values[1][::-1], values[2]], atol=1e-6)


@pytest.mark.parametrize(("options", "tolerance"), [({"channels_last": True}, 1e-5), ({"autocast": "bfloat16"}, 0.05)])
def test_options_change_how_it_is_computed_and_not_what(options, tolerance):
    game = ab.games.load("connect_four")
    batch = batch_of(game.start())
    plain = ab.Torch(ab.nets.make("tower", game, **SMALL["tower"])).evaluate(batch)
    other = ab.Torch(ab.nets.make("tower", game, **SMALL["tower"]), **options).evaluate(batch)
    for a, b in zip(plain, other, strict=True):
        assert np.allclose(a, b, atol=tolerance)


@pytest.mark.parametrize("name", ["connect_four", "goofspiel", "n_in_a_row", "pig"])
def test_a_search_runs_on_a_module(name):
    """Taking turns, at once, three players, dice: engine and reference ask the same network and agree."""
    state = ab.games.load(name).start()
    evaluator = ab.Torch(ab.nets.make("mlp", state.game, **SMALL["mlp"]))
    result = ab.search(state, simulations=40, evaluator=evaluator)
    assert result.visits.sum(axis=1).max() >= 39
    again = ab.Reference(state, evaluator).run(simulations=40)
    assert result.visits.tolist() == again.visits.tolist()


def test_what_is_wrong_is_said_with_its_row():
    state = ab.games.load("tic_tac_toe").start()
    batch = batch_of(state, state.step(4)[0])

    def said(module: torch.nn.Module) -> str:
        with pytest.raises(EvaluatorError) as caught:
            evaluations(ab.Torch(module), batch)
        return str(caught.value)

    class Broken(torch.nn.Module):
        def forward(self, observations):
            values = torch.zeros(len(observations), 2)
            values[1, 0] = float("nan")
            return torch.zeros(len(observations), 9), values

    class Alone(torch.nn.Module):
        def forward(self, observations):
            return torch.zeros(len(observations), 9)

    class Complex(torch.nn.Module):
        def forward(self, observations):
            return torch.zeros(len(observations), 9, dtype=torch.complex64), torch.zeros(len(observations), 2)

    assert "values are not finite: row 1, index 1" in said(Broken())  # the mover of row 1 is player 1
    assert "logits have shape (2, 8)" in said(Fixed([0.0] * 8, [0.0, 0.0]))
    assert "values have shape (2, 3)" in said(Fixed([0.0] * 9, [0.0] * 3))
    assert "(2, 1), expected (2, 2)" in said(Fixed([0.0] * 9, [0.0]))
    assert "view='scalar'" in said(Fixed([0.0] * 9, [0.0]))
    assert "found Tensor" in said(Alone())
    assert "complex64" in said(Complex())
    assert "Linear failed on observations of shape (2, 2, 3, 3)" in said(torch.nn.Linear(5, 5))
    with pytest.raises(DataError, match=r"made for connect_four .* cannot evaluate tic_tac_toe"):
        ab.Torch(ab.nets.make("mlp", ab.games.load("connect_four"))).evaluate(batch)


def test_wrong_options_are_named():
    module = Fixed([0.0], [0.0])
    with pytest.raises(UsageError, match="found function"):
        ab.Torch(lambda observations: None)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="'bfloat16'"):
        ab.Torch(module, autocast="bfloat")
    with pytest.raises(UsageError, match="threads"):
        ab.Torch(module, threads=-1)
    with pytest.raises(UsageError, match="no_such_device"):
        ab.Torch(module, device="no_such_device")


@pytest.mark.parametrize("wrong", [5, None, np.zeros(3), dict])
def test_a_network_is_a_function(wrong):
    with pytest.raises(UsageError, match="takes a function of observations"):
        ab.Network(wrong)


def test_a_function_of_observations_is_a_network():
    state = ab.games.load("tic_tac_toe").start().step(0)[0]
    network = ab.Network(
        lambda seen: (np.zeros((len(seen), 9)), np.stack([seen[:, 1].sum((1, 2)), seen[:, 0, 0, 0]], 1))
    )
    [said] = evaluations(network, batch_of(state))
    assert said.values == [0.0, 1.0]  # player 1 sees one stone of the other, and says so of itself first


# Files


@pytest.mark.parametrize("architecture", ab.nets.names())
def test_a_saved_network_is_the_same_network(architecture, tmp_path):
    game = ab.games.load("connect_four")
    net = ab.nets.make(architecture, game, **SMALL[architecture], seed=3)
    path = ab.nets.save(tmp_path / "net.safetensors", net)
    other = ab.nets.load(path, game)
    assert type(other) is type(net)
    assert (other.sizes, other.shape) == (net.sizes, net.shape)
    assert net.state_dict().keys() == other.state_dict().keys()
    assert all(torch.equal(a, b) for a, b in zip(net.state_dict().values(), other.state_dict().values(), strict=True))
    assert all(weight.requires_grad for weight in other.parameters())
    assert list(tmp_path.iterdir()) == [path], "a temporary file was left behind"


def test_a_flipped_bit_is_seen_wherever_it_is(tmp_path):
    """The format alone loads almost every one of them."""
    game = ab.games.load("tic_tac_toe")
    path = ab.nets.save(tmp_path / "net.safetensors", ab.nets.make("mlp", game, width=4, layers=1))
    data = path.read_bytes()
    random = np.random.default_rng(1)
    places = {*random.integers(0, 8 * len(data), 150).tolist(), *range(0, 64, 5), 8 * len(data) - 1}
    for place in places:
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        with pytest.raises(DataError):
            files.read("net.safetensors", bytes(flipped), game)
    for length in (0, 7, 8, 100, len(data) - 1):
        with pytest.raises(DataError):
            files.read("net.safetensors", data[:length], game)


def test_a_file_of_another_game_says_so(tmp_path):
    path = ab.nets.save(tmp_path / "net.safetensors", ab.nets.make("mlp", ab.games.load("tic_tac_toe"), width=4))
    with pytest.raises(DataError, match=r"net\.safetensors is a network for tic_tac_toe, not for pig"):
        ab.nets.load(path, ab.games.load("pig"))
    path = ab.nets.save(path, ab.nets.make("mlp", ab.games.load("connect_four"), width=4))
    with pytest.raises(DataError, match=r"observation \(2, 6, 7\), not \(2, 5, 7\)"):
        ab.nets.load(path, ab.games.load("connect_four", rows=5))


def rewritten(data: bytes, **changes: object) -> bytes:
    """Return a file with another header and the checksum that goes with it: made by somebody, not damaged."""
    from safetensors.torch import load as tensors_of
    from safetensors.torch import save

    header = {**json.loads(files._metadata(data)["anabranch"]), **changes}
    text = json.dumps(header)
    tensors = tensors_of(data)
    return save(tensors, metadata={"anabranch": text, "sha256": files.checksum(text, tensors)})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"architecture": "os:system"}, "unknown network 'os:system'"),
        ({"sizes": {"width": 2**40, "layers": 1}}, "from 1 to 16,384"),
        ({"sizes": {"width": 16_384, "layers": 64}}, "weights; at most"),
        ({"sizes": {"width": 8, "layers": 1}}, "tensors are not those of a mlp"),
        ({"sizes": "8"}, "header is damaged"),
        ({"format": 2}, "has format 2"),
        ({"shape": {}}, "header is damaged"),
    ],
)
def test_a_file_made_by_hand_cannot_ask_for_more_than_it_holds(changes, words, tmp_path):
    game = ab.games.load("tic_tac_toe")
    path = ab.nets.save(tmp_path / "net.safetensors", ab.nets.make("mlp", game, width=4, layers=1))
    assert files.read("same", rewritten(path.read_bytes()), game).sizes == {"width": 4, "layers": 1, "bins": 1}
    with pytest.raises(DataError) as caught:
        files.read("net.safetensors", rewritten(path.read_bytes(), **changes), game)
    assert words in str(caught.value)


def test_other_files_are_no_networks(tmp_path):
    from safetensors.torch import save

    with pytest.raises(DataError, match=r"without the header of ab\.nets\.save"):
        files.read("other.safetensors", save({"weight": torch.zeros(2)}))
    with pytest.raises(UsageError, match=r"is no network of ab\.nets"):
        ab.nets.save(tmp_path / "no.safetensors", torch.nn.Linear(2, 2))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="there is no file"):
        ab.nets.load(tmp_path / "none.safetensors")


def test_a_file_is_an_evaluator_by_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    game = ab.games.load("tic_tac_toe")
    net = ab.nets.make("mlp", game, **SMALL["mlp"])
    ab.nets.save("net.safetensors", net)
    loaded = load("net.safetensors:threads=1")
    assert isinstance(loaded, ab.Torch)
    named = ab.search(game.start(), simulations=30, evaluator="net.safetensors")
    assert named.visits.tolist() == ab.search(game.start(), simulations=30, evaluator=ab.Torch(net)).visits.tolist()
    agent = ab.SearchAgent(simulations=5, evaluator="net.safetensors")
    assert agent.name == f"search:simulations=5,evaluator=net.safetensors:sha256={loaded.sha256}"
    assert load(agent.name.partition("evaluator=")[2]).name == load("net.safetensors").name  # type: ignore[attr-defined]
    ab.nets.save("net.safetensors", ab.nets.make("mlp", game, **SMALL["mlp"], seed=1))
    with pytest.raises(DataError, match="another network than the one named"):
        load(agent.name.partition("evaluator=")[2])
    for text, words in {
        "net.safetensors:thread=1": "'threads'",
        "net.safetensors:threads=x": "whole number",
        "net.safetensors:threads": "key=value",
        "net.safetensors:channels_last=1": "true or false",
        "none.safetensors": "there is no file",
    }.items():
        with pytest.raises(UsageError) as caught:
            load(text)
        assert words in str(caught.value)
    with pytest.raises(DataError, match="not for pig"):
        load("net.safetensors", ab.games.load("pig"))


def test_the_name_of_a_module_follows_its_weights():
    net = ab.nets.make("mlp", ab.games.load("tic_tac_toe"), width=4)
    evaluator = ab.Torch(net)
    before = repr(evaluator)
    assert repr(ab.Torch(net)) == before
    with torch.no_grad():
        next(net.parameters())[0, 0] += 1
    assert repr(evaluator) != before


def test_a_bare_module_is_an_evaluator_like_any_other():
    """Handed over as it is, a module gives what `ab.Torch` around it gives."""
    game = ab.games.load("tic_tac_toe")
    module = ab.nets.make("mlp", game, width=4, layers=1)
    bare, wrapped = (ab.search(game.start(), simulations=20, evaluator=each) for each in (module, ab.Torch(module)))
    assert bare.visits.tolist() == wrapped.visits.tolist()
