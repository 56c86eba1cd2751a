"""Reanalysis: games of the window are searched again with the newest weights, by who thinks in self-play.

Schrittwieser et al. 2021. What was played stays; policies and root values are those of the new searches, so returns
that end with a root's value change too. A position is searched again only with weights newer than those that answered
last, those of the oldest weights first. How much is done is counted: `replay.reanalysed` positions for every one that
is shown to the learner, as many at once as self-play has games abreast.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from anabranch.game.game import Game
from anabranch.game.random import key_of
from anabranch.learn.records import Decision, GameRecord, seats_of
from anabranch.learn.replay import Replay
from anabranch.learn.selfplay import Playing
from anabranch.learn.settings import TrainConfig
from anabranch.learn.thinking import Found, thinker

NEVER = 2**62  # newer than all weights: nothing of a game is searched again


@dataclass
class Kept:
    """A game of the window: the number of its first row, what was last found about it, and the oldest weights in it."""

    first: int
    record: GameRecord
    oldest: int


class Reanalysis:
    """Which games of a window are searched again, and when."""

    def __init__(self, game: Game, config: TrainConfig, replay: Replay) -> None:
        self.game, self.replay, self.share = game, replay, config.replay.reanalysed
        self.abreast = config.self_play.abreast
        cap = config.search.cap
        full = None if cap is None else replace(cap, fast=cap.full, chance=1.0)
        self.config = replace(config, search=replace(config.search, cap=full))
        self.count = 0  # positions searched again so far
        self._owed = 0.0
        self._games: deque[Kept] = deque()  # in the order of the window

    def add(self, record: GameRecord) -> None:
        """Take a game into the window."""
        first = self.replay.numbers.stop
        if self.replay.add(record) and self.share:
            self._games.append(Kept(first, record, self._oldest(record)))
        while self._games and self._games[0].first < self.replay.numbers.start:
            self._games.popleft()  # a game that has begun to leave

    def earn(self, rows: int) -> None:
        """Count rows that were shown to the learner."""
        self._owed += self.share * rows

    def think(self, evaluator: Any, version: int) -> bool:
        """Search games again, about as many positions as self-play does at once; return whether there was need to."""
        if self._owed < self.abreast:
            return False
        chosen: list[Kept] = []
        positions: list[tuple[int, int]] = []
        playing: list[Playing] = []
        for kept in sorted(self._games, key=lambda each: each.oldest):
            fits = not chosen or len(positions) + len(kept.record.decisions) <= self.abreast
            if kept.oldest >= version or not fits:
                break
            for t, state in enumerate(kept.record.states(self.game)):
                if self._learnt(kept.record.decisions[t]) and kept.record.decisions[t].model < version:
                    positions.append((len(chosen), t))
                    draws = key_of((kept.record.id, t, version)) >> 1  # other noise than before
                    playing.append(Playing(draws, kept.record.seed, 0, state))
            chosen.append(kept)
        if not chosen:
            self._owed = 0.0  # all is as new as it can be
            return False
        decisions = [list(kept.record.decisions) for kept in chosen]
        for (game, t), each, found in zip(positions, playing, self._found(evaluator, playing), strict=True):
            decisions[game][t] = replace(decisions[game][t], **found.recorded(seats_of(each.state), version))
        for kept, changed in zip(chosen, decisions, strict=True):
            kept.record = replace(kept.record, decisions=tuple(changed))
            kept.oldest = self._oldest(kept.record)
            self.replay.renew(kept.first, kept.record)
        self.count += len(positions)
        self._owed -= len(positions)
        return True

    def _found(self, evaluator: Any, playing: Sequence[Playing]) -> list[Found]:
        """Return what is found about positions, all of them searched in full; a lane that is free takes the next."""
        thinks = thinker(self.game, self.config, evaluator, playing[: self.abreast])
        under_way = {lane: lane for lane in range(len(playing[: self.abreast]))}
        following = iter(range(len(under_way), len(playing)))
        found: dict[int, Found] = {}
        try:
            while under_way:
                lanes = thinks.go_on()
                if not lanes:
                    continue
                found |= zip([under_way.pop(lane) for lane in lanes], thinks.found(lanes), strict=True)
                begun = dict(zip(lanes, following))  # noqa: B905  (until one of them ends)
                under_way |= begun
                thinks.think({}, {lane: playing[number] for lane, number in begun.items()})
        finally:
            thinks.close()
        return [found[number] for number in range(len(playing))]

    def _learnt(self, decision: Decision) -> bool:
        """Whether a decision has rows that a search may better: no search betters what is proven.

        muzero learns from all, alphazero from those that were searched in full.
        """
        return (decision.full or self.replay.unroll > 0) and not decision.proven

    def _oldest(self, record: GameRecord) -> int:
        return min((each.model for each in record.decisions if self._learnt(each)), default=NEVER)
