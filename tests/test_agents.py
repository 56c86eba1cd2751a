"""Agents: what they choose is a function of their turn alone, and what they may not do is an error with the moves."""

from __future__ import annotations

import collections
import dataclasses
import io

import numpy as np
import pytest

import anabranch as ab
from anabranch.errors import AgentError, UnknownNameError, UsageError
from anabranch.play.agent import Turn, ask, name_of
from anabranch.play.names import agent_by_name, as_agent, register
from anabranch.play.search_agent import sampled

TIC_TAC_TOE = ab.games.load("tic_tac_toe")
GOOFSPIEL = ab.games.load("goofspiel")


def turns(game, count, seat=0):
    return [Turn(game.start(), seat, seed=seed) for seed in range(count)]


@pytest.mark.parametrize("name", ["random", "search:simulations=30", "search:simulations=30,temperature=1"])
@pytest.mark.parametrize("game", [TIC_TAC_TOE, GOOFSPIEL], ids=lambda game: game.name)
def test_a_choice_depends_on_its_turn_alone(name, game):
    """Together, one by one, backwards, on one thread or two: the same turn gets the same action."""
    asked = turns(game, 12)
    together = ask(agent_by_name(name), asked)
    agent = agent_by_name(name)
    assert [ask(agent, [turn])[0] for turn in asked] == together
    assert ask(agent, asked[::-1]) == together[::-1]
    if name.startswith("search"):
        assert ask(agent_by_name(name + ",threads=1"), asked) == together
    assert len(set(together)) > 1  # and different turns get different ones


def test_a_root_with_a_stream_ignores_the_roots_before_it():
    searcher = ab.Searcher(TIC_TAC_TOE)
    start = TIC_TAC_TOE.start()
    (alone,) = searcher.run(searcher.root(start, stream=7), simulations=50)
    searcher.root(start)
    (later,) = searcher.run(searcher.root(start, stream=7), simulations=50)
    (other,) = searcher.run(searcher.root(start, stream=8), simulations=50)
    assert (alone.visits == later.visits).all()
    assert (alone.visits != other.visits).any()
    assert searcher.root(start).stream == 1  # numbering goes on as if the others had not been
    for wrong in (-1, 2**63, 1.0, True, "1"):
        with pytest.raises(UsageError, match="stream must be a whole number"):
            searcher.root(start, stream=wrong)  # type: ignore[arg-type]


def test_random_is_uniform_over_choices():
    """9,000 draws over nine squares: chi-square with 8 degrees of freedom stays below its 99.9 % quantile, 26.1."""
    counts = collections.Counter(ask(ab.RandomAgent(), turns(TIC_TAC_TOE, 9000)))
    assert sum((counts[square] - 1000) ** 2 / 1000 for square in range(9)) < 26.1


def test_search_sees_a_win_in_one_and_a_loss_in_one():
    """With x on 0 and 1, x wins on 2; o must stop it there."""
    state = TIC_TAC_TOE.start()
    for move in (0, 3, 1, 4):
        state = state.step(move)[0]
    agent = ab.SearchAgent(simulations=300)
    assert ask(agent, [Turn(state, 0)]) == [2]
    state = TIC_TAC_TOE.start()
    for move in (0, 4, 1):
        state = state.step(move)[0]
    assert ask(agent, [Turn(state, 1)]) == [2]


def test_a_mixed_strategy_is_drawn_from_and_not_maximised():
    """Where several choose at once a strategy of (7/10, 3/10) is played 7 times in 10; where one acts, always the 7.

    Visits are no strategy: they hold what was only tried, and are sharpened, to 0.7⁴ : 0.3⁴.
    """
    decoupled, averaging = ab.SearchConfig(), ab.SearchConfig(simultaneous=ab.RegretMatching())
    matrix, pig = ab.games.load("matrix"), ab.games.load("pig")
    for game, config, drawn in ((matrix, averaging, 0.7), (matrix, decoupled, 0.967), (pig, decoupled, 1.0)):
        agent = ab.SearchAgent(simulations=10, config=config)
        asked = turns(game, 1000)
        (result,) = agent.results(asked[:1])
        policy = np.tile([0.7, 0.3], (2, 1))
        result = dataclasses.replace(result, policy=policy)
        share = [agent.pick(turn, result) for turn in asked].count(0) / 1000
        assert share == pytest.approx(drawn, abs=0.04)
    fixed = ab.SearchAgent(simulations=10, simultaneous_temperature=0.0)
    together = Turn(ab.games.load("matrix").start(), 0, seed=5)
    assert fixed.pick(together, result) == 0


def test_selectors_that_only_the_reference_has_play_too():
    """Regret matching on matching pennies comes near a half each."""
    agent = ab.SearchAgent(simulations=200, config=ab.SearchConfig(simultaneous=ab.RegretMatching()))
    (result,) = agent.results(turns(ab.games.load("matrix"), 1))
    assert result.policy[0] == pytest.approx([0.5, 0.5], abs=0.1)


@pytest.mark.parametrize(("temperature", "share"), [(1.0, 0.75), (0.5, 0.9), (2.0, 0.634), (1e-4, 1.0)])
def test_a_temperature_sharpens_or_flattens(temperature, share):
    """p^(1/T) of (3/4, 1/4): 9 to 1 at T = ½, √3 to 1 at T = 2, certainty as T vanishes."""
    drawn = [sampled([0.0, 0.75, 0.25, 0.0], temperature, ab.Random(seed * 7919)) for seed in range(4000)]
    assert set(drawn) <= {1, 2}
    assert abs(drawn.count(1) / 4000 - share) < 0.025


def test_an_illegal_action_is_an_error_with_the_moves():
    state = TIC_TAC_TOE.start().step(4)[0]
    turn = Turn(state, 1, moves=(4,), start=TIC_TAC_TOE.start())
    named = TIC_TAC_TOE.action_name(4)
    for wrong in (4, 9, -1, 1.0, True, None, "a"):
        with pytest.raises(AgentError) as raised:
            ask(ab.ScriptedAgent(constant(wrong), "crook"), [turn])
        text = str(raised.value)
        assert f"crook chose {wrong!r}" in text
        assert "seat 1" in text
        assert f"after {named}" in text
        assert "legal are: 0" in text
    assert ask(as_agent(constant(np.int64(3))), [turn]) == [3]


def constant(action):
    return lambda state, seat: action


def test_an_agent_that_raises_is_an_error_with_the_moves_and_the_cause():
    def fails(state, seat):
        raise ZeroDivisionError("no idea")

    class Fails:
        def choose(self, turns):
            raise ZeroDivisionError("no idea")

    turn = Turn(TIC_TAC_TOE.start().step(4)[0], 1, moves=(4,), start=TIC_TAC_TOE.start())
    for agent in (ab.ScriptedAgent(fails), Fails()):
        with pytest.raises(AgentError, match=r"raised ZeroDivisionError: no idea\nin seat 1, after") as raised:
            ask(agent, [turn])
        assert isinstance(raised.value.__cause__, ZeroDivisionError)

    class Interrupts:
        def choose(self, turns):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(Interrupts(), [turn])


def test_too_few_actions_are_an_error():
    class Lazy:
        def choose(self, turns):
            return [0]

    with pytest.raises(AgentError, match="Lazy was asked for 2 actions and returned 1"):
        ask(Lazy(), turns(TIC_TAC_TOE, 2))


@pytest.mark.parametrize(
    "text",
    [
        "search",
        "search:visits=10,evaluator=uniform",
        "search:seconds=0.5,evaluator=rollout:count=4,temperature=0.5",
        "search:selector=Ucb1,c=3,threads=1",
        "search:simultaneous=RegretMatching,simultaneous.exploration=0.1,seed=4,simultaneous_temperature=0.5",
        "search:evaluator=rollout:count=4+max_depth=200,keep=graph",
        "search:rule=lcb,rule.z=2,rule.least=5,keep=evaluations,temperature=0.123456789,width=16,depth=2",
        "search:rule=regularised,noise.weight=0.3,forced=ForcedPlayouts,virtual_loss.mode=visits",
        "search:cap.full=40,cap.fast=10,cap.chance=0.5",
        "search:selector.first_play=parent,chance.exact_up_to=6,max_nodes=1000",
        "search:transposition.merge=false",
    ],
)
def test_the_name_of_a_search_makes_it_again(text):
    one = agent_by_name(text)
    other = agent_by_name(one.name)
    assert isinstance(one, ab.SearchAgent)
    assert isinstance(other, ab.SearchAgent)
    assert (one.budget, one.config, one.evaluator) == (other.budget, other.config, other.evaluator)
    assert (one.temperature, one.simultaneous_temperature) == (other.temperature, other.simultaneous_temperature)
    assert (one.rule, one.keep) == (other.rule, other.keep)
    assert other.name == one.name


def test_names_make_agents():
    assert agent_by_name("random").name == "random"
    assert agent_by_name("search").name == "search:simulations=1000"
    made = agent_by_name("search:selector=Ucb1,c=3")
    assert isinstance(made, ab.SearchAgent)
    assert made.config.selector == ab.Ucb1(c=3.0)
    made = agent_by_name("search:c=3")
    assert isinstance(made, ab.SearchAgent)
    assert made.config.selector == ab.Puct(c_init=3.0)


@pytest.mark.parametrize(
    ("text", "kind", "named"),
    [
        ("serch", UnknownNameError, "'search'"),
        ("search:simulation=1", UnknownNameError, "'simulations'"),
        ("search:evaluator=unifrm", UnknownNameError, "'uniform'"),
        ("search:selector.cinit=1", UnknownNameError, "'selector.c_init'"),
        ("search:simulations=many", UsageError, "'many'"),
        ("search:simulations=1,seconds=1", UsageError, "one budget"),
        ("search:simulations=1,simulations=2", UsageError, "twice"),
        ("search:simulations", UsageError, "key=value"),
        ("search:c=2,selector.c_init=3", UsageError, "short name"),
        ("search:temperature=-1", UsageError, "temperature"),
        ("search:rule=lbc", UnknownNameError, "'lcb'"),
        ("search:rule.z=2", UsageError, "a setting of rule=lcb"),
        ("search:rule=lcb,rule.z=many", UsageError, "rule.z must be a number"),
        ("search:rule=regularised,selector=Ucb1", UsageError, "the selector is Ucb1"),
        ("search:keep=graphs", UnknownNameError, "'graph'"),
        ("search:width=0", UsageError, "width must be at least 1"),
        ("search:cap.full=9,simulations=-1", UsageError, "one budget"),
        ("random:x=1", UsageError, "no options"),
        ("human:x=1", UsageError, "no options"),
        ("no/such/file.py:Agent", UsageError, "no/such/file.py"),
        ("file.py", UsageError, "file.py:MyAgent"),
        ("anabranch.play.agent:Agnt", UnknownNameError, "'Agent'"),
        ("anabranch.play.agent:Turn", UsageError, "no choose"),
    ],
)
def test_wrong_names_are_errors_that_help(text, kind, named):
    with pytest.raises(kind) as raised:
        agent_by_name(text)
    assert named in str(raised.value)


def test_files_hold_agents(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        "import anabranch as ab\n"
        "def first(state, seat):\n    return state.legal(seat)[0]\n"
        "class Last(ab.Agent):\n"
        "    def choose(self, turns):\n        return [turn.state.legal(turn.seat)[-1] for turn in turns]\n"
        "made = Last()\n"
    )
    asked = turns(TIC_TAC_TOE, 1)
    assert ask(agent_by_name(f"{path}:first"), asked) == [0]
    assert ask(agent_by_name(f"{path}:Last"), asked) == [8]
    assert ask(agent_by_name(f"{path}:made"), asked) == [8]


def test_kinds_can_be_added():
    register("always", lambda text: ab.ScriptedAgent(lambda state, seat: int(text), f"always:{text}"))
    assert ask(agent_by_name("always:5"), turns(TIC_TAC_TOE, 1)) == [5]
    assert name_of(agent_by_name("always:5")) == "always:5"
    with pytest.raises(UsageError, match="word"):
        register("two words", agent_by_name)


@pytest.mark.parametrize("wrong", [ab.RandomAgent, 3, None])
def test_what_is_no_agent_is_refused(wrong):
    with pytest.raises(UsageError, match="agent"):
        as_agent(wrong)


def test_a_human_types_names_in_any_case_and_is_told_what_is_wrong():
    written = io.StringIO()
    human = ab.HumanAgent(ab.SearchAgent(simulations=20), reading=io.StringIO("e9\nUNDO\nB2\n"), writing=written)
    state = TIC_TAC_TOE.start()
    action = ask(human, [Turn(state, 0)])[0]
    assert TIC_TAC_TOE.action_name(action) == "b2"
    said = written.getvalue()
    assert "'e9' is neither a move nor a command" in said
    assert "cannot be taken back here" in said
    with pytest.raises(AgentError, match="left"):
        ask(human, [Turn(state, 0)])  # nothing more to read
