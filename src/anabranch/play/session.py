"""A game at the terminal, move by move: people and agents at one table, with moves that can be taken back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from anabranch.errors import UsageError
from anabranch.game.game import Game
from anabranch.game.players import together
from anabranch.game.state import State
from anabranch.game.words import CHANCE
from anabranch.play.agent import Agent, Move, Turn, ask, check_agents, name_of
from anabranch.play.human_agent import BOLD, HumanAgent, HumanLeftError, TakeBackError
from anabranch.play.played import PlayedGame
from anabranch.play.record import EQUAL
from anabranch.play.seeds import Purpose, seed_for


class Session:
    """One table. Dice and agents draw from the seed: a move taken back and played again gets the same answer.

    Games begin at `position`, if one is given, and else at the start that the seed draws.
    """

    def __init__(self, game: Game, agents: Sequence[Agent], seed: int = 0, position: State | None = None) -> None:
        if len(agents) != game.players:
            raise UsageError(f"{game.name} has {game.players} players, found {len(agents)} agents")
        humans = [agent for agent in agents if isinstance(agent, HumanAgent)]
        if not humans:
            raise UsageError("nobody of the players is human; `match` plays agents against each other")
        check_agents(agents, game)
        self.game, self.agents, self.seed, self.position = game, agents, seed, position
        self.memories: list[dict[Any, Any]] = [{} for _ in agents]  # what they keep of the game, seat by seat
        self.host = humans[0]  # who is told what happens
        self.number = 0  # of the game, when several are played
        self.played = self._begin()
        self.decisions: list[Move] = []

    def run(self) -> None:
        """Play until the humans leave."""
        try:
            while True:
                self._game()
                self._after()
        except HumanLeftError:
            self.host.say("bye" if self.played.state.over else "bye; the game is left unfinished")

    def facts(self) -> dict[str, Any]:
        """Return the last game as plain data."""
        played = self.played
        return {
            "game": repr(self.game),
            "agents": [name_of(agent) for agent in self.agents],
            "seed": self.seed,
            "position": None if self.position is None else str(self.position),
            "start": seed_for(self.seed, Purpose.START, self.number),
            "dice": played.dice,
            "moves": played.moves,
            "returns": [float(value) for value in played.returns],
            "finished": played.state.over,
        }

    def _begin(self) -> PlayedGame:
        start = self.position
        if start is None:
            start = self.game.start(seed_for(self.seed, Purpose.START, self.number))
        return PlayedGame(start, seed_for(self.seed, Purpose.DICE, self.number))

    def _game(self) -> None:
        """Play from where the game stands to its end."""
        if not self.decisions:
            self._announce(0)
        while not self.played.state.over:
            before = len(self.played.moves)
            try:
                move = self._choose()
            except TakeBackError:
                self._take_back()
                continue
            self.decisions.append(move)
            self.played.play(move)
            self._announce(before)
        self.host.say(f"\n{self.played.state}")
        self.host.say(self._outcome(), BOLD)

    def _choose(self) -> Move:
        """Let everybody choose whose turn it is; people first, as they see nothing of the others' choice anyway."""
        played, acting = self.played, self.played.state.turn
        assert isinstance(acting, tuple)
        chosen: dict[int, int] = {}
        for seat in sorted(acting, key=lambda seat: not isinstance(self.agents[seat], HumanAgent)):
            agent = self.agents[seat]
            turn = Turn(
                state=played.state,
                seat=seat,
                seed=seed_for(self.seed, Purpose.CHOICE, self.number, len(played.moves), seat),
                moves=tuple(played.moves),
                start=played.start,
                game_seed=seed_for(self.seed, Purpose.GAME, self.number, seat),
                memory=self.memories[seat],
            )
            if isinstance(agent, HumanAgent):
                chosen[seat] = agent.choose_one(turn)
            else:
                with self.host.waiting(f"{self.game.player_name(seat)} is thinking"):
                    (chosen[seat],) = ask(agent, [turn])
        actions = tuple(chosen[seat] for seat in acting)
        return actions[0] if len(actions) == 1 else actions

    def _announce(self, since: int) -> None:
        """Say what was played and rolled from a move on."""
        state = self.played.start
        for number, move in enumerate(self.played.moves):
            turn = state.turn
            if number >= since:
                if turn == CHANCE:
                    assert isinstance(move, int)
                    self.host.say(f"chance: {self.game.outcome_name(move)}", BOLD)
                else:
                    assert isinstance(turn, tuple)
                    actions = move if isinstance(move, tuple) else (move,)
                    told = [
                        f"{self._called(seat)} {self.game.move_name(state, seat, action)}"
                        for seat, action in zip(turn, actions, strict=True)
                        if len(turn) > 1 or not isinstance(self.agents[seat], HumanAgent)
                    ]
                    if told:
                        self.host.say(", ".join(told), BOLD)
            state = state.step(move)[0]

    def _called(self, seat: int) -> str:
        """Name a player and what it does: you play, x plays."""
        people = sum(isinstance(agent, HumanAgent) for agent in self.agents)
        yours = isinstance(self.agents[seat], HumanAgent) and people == 1
        return "you play" if yours else f"{self.game.player_name(seat)} plays"

    def _take_back(self) -> None:
        """Go back to the last time a human chose."""
        kept = list(self.decisions)
        while kept:
            kept.pop()
            played = self._begin()
            for move in kept:
                played.play(move)
            turn = played.state.turn
            assert isinstance(turn, tuple)
            if any(isinstance(self.agents[seat], HumanAgent) for seat in turn):
                self.decisions, self.played = kept, played
                self.host.say("taken back")
                return
        self.host.say("there is no move of yours to take back")

    def _after(self) -> None:
        """Ask what comes next, once a game is over."""
        while True:
            text = self.host.ask("undo, new game, or quit> ").removeprefix(":").lower()
            if text in ("", "quit", "exit", "q", "no"):
                raise HumanLeftError("the human has left")
            if text == "undo":
                self._take_back()
                return
            if text in ("new", "new game", "again", "yes"):
                self.number += 1
                self.played, self.decisions = self._begin(), []
                self.memories = [{} for _ in self.agents]
                return
            self.host.say("undo takes your last move back, new begins another game, quit leaves")

    def _outcome(self) -> str:
        returns = self.played.returns
        people = [seat for seat, agent in enumerate(self.agents) if isinstance(agent, HumanAgent)]
        got = ", ".join(f"{self.game.player_name(seat)} {value:+g}" for seat, value in enumerate(returns))
        best = [seat for seat, value in enumerate(returns) if value >= returns.max() - EQUAL]
        if self.position is not None and self.game.rewards_along:  # who won hangs on what was paid before it, too
            words = "the game is over; since the given position"
        elif self.game.players == 1:
            words = "the game is over"
        elif len(best) == self.game.players:
            words = "a draw"
        elif people == [best[0]] and len(best) == 1:
            words = "you win"
        elif len(people) == 1:
            words = "you share the win" if people[0] in best else "you lose"
        else:
            words = together(self.game, best) + (" wins" if len(best) == 1 else " win")
        return f"{words}: {got}"
