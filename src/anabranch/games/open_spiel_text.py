"""What people see of OpenSpiel's games: boards, players and moves, in its own words as far as it has some."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import anabranch as ab
from anabranch.game.board import draw_board

#: Players in the order of their seats, by what OpenSpiel's boards show; `tests/test_open_spiel_games.py` compares them.
#: Seat 0 moves first, but in chess, where it is black.
PLAYERS = {
    "amazons": ("X", "O"),
    "backgammon": ("x", "o"),
    "breakthrough": ("black", "white"),
    "checkers": ("o", "+"),
    "chess": ("black", "white"),
    "clobber": ("o", "x"),
    "connect_four": ("x", "o"),
    "go": ("black", "white"),
    "havannah": ("O", "@"),
    "hex": ("x", "o"),
    "nine_mens_morris": ("white", "black"),
    "othello": ("black", "white"),
    "pentago": ("O", "@"),
    "quoridor": ("0", "@"),
    "tic_tac_toe": ("x", "o"),
    "twixt": ("x", "o"),
    "ultimate_tic_tac_toe": ("x", "o"),
    "y": ("O", "@"),
}
UNNAMED = "Action(id="  # how OpenSpiel's games begin the names of actions they do not name
LOOKED = 20_000  # names that are asked for to tell which actions are always called the same
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # for terminals, in the text of twixt
_SAYS_TURN = re.compile(r"to.?play|current player|turn:", re.IGNORECASE)


def player_names(spiel: Any) -> tuple[str, ...]:
    """Return what the players of a game are called."""
    players = spiel.num_players()
    named = PLAYERS.get(spiel.get_type().short_name, ())
    return named if len(named) == players else tuple(f"player {seat}" for seat in range(players))


def board_text(spiel_state: Any, mover: str | None) -> str:
    """Return the text of a state, of chess a board, with a line that says who moves where it does not."""
    text = _COLOURS.sub("", str(spiel_state)).rstrip()
    if spiel_state.get_game().get_type().short_name == "chess":
        text = f"{_chess_board(text)}\n{text}"
    if mover is None or _SAYS_TURN.search(text):
        return text
    return f"{text}\n{mover} to move"


def _chess_board(fen: str) -> str:
    """Draw the board that a FEN describes; capitals are white."""
    rows = fen.partition(" ")[0].split("/")
    return draw_board([[*re.sub(r"\d", lambda empty: "." * int(empty[0]), row)] for row in rows])


def action_names(spiel: Any) -> list[str]:
    """Return a name for every action: OpenSpiel's where all states and players call it so, else its number.

    Few of its games name actions without a state. Of the others some random games are looked at: where one action has
    two names there, names depend on the state, and all actions keep their numbers.
    """
    actions, seats = spiel.num_distinct_actions(), range(spiel.num_players())
    said = {action: {spiel.action_to_string(seat, action) for seat in seats} for action in range(actions)}
    if any(name.startswith(UNNAMED) for names in said.values() for name in names):
        said = _names_in_play(spiel)
    names = [next(iter(said.get(action, ())), "") for action in range(actions)]
    if any(len(words) > 1 for words in said.values()) or len(set(names) - {""}) < len(names) - names.count(""):
        names = [""] * actions
    return [str(number) if not name or name.isdecimal() else name for number, name in enumerate(names)]


def _names_in_play(spiel: Any) -> dict[int, set[str]]:
    """Return what actions are called in random games, wherever they are legal, until one of them has two names."""
    said: dict[int, set[str]] = defaultdict(set)
    random, asked, state = ab.Random(0), 0, spiel.new_initial_state()
    while asked < LOOKED:
        if state.is_terminal():
            state = spiel.new_initial_state()
        if state.is_chance_node():
            outcomes = [outcome for outcome, _ in state.chance_outcomes()]
            state.apply_action(outcomes[ab.below(random, len(outcomes))])
            asked += 1
            continue
        together = state.is_simultaneous_node()
        chosen = []
        for seat in range(spiel.num_players()) if together else (state.current_player(),):
            legal = state.legal_actions(seat)
            for action in legal:
                said[action].add(state.action_to_string(seat, action))
                if len(said[action]) > 1:
                    return said
            asked += 1 + len(legal)
            chosen.append(legal[ab.below(random, len(legal))] if legal else 0)
        if together:
            state.apply_actions(chosen)
        else:
            state.apply_action(chosen[0])
    return said
