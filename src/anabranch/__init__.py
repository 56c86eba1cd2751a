"""One sound, fast Monte-Carlo graph search for every kind of game and for learned models.

Names are loaded when first used, so `import anabranch` costs next to nothing.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # `typing` takes longer to load than all of this, and Ctrl-C meanwhile would show a traceback

if TYPE_CHECKING:
    from anabranch import errors as errors
    from anabranch import games as games
    from anabranch import nets as nets
    from anabranch.draw.picture import Picture as Picture
    from anabranch.evaluate.asked import Asked as Asked
    from anabranch.evaluate.batch import Batch as Batch
    from anabranch.evaluate.batch import Evaluator as Evaluator
    from anabranch.evaluate.cached import Cached as Cached
    from anabranch.evaluate.export import to_onnx as to_onnx
    from anabranch.evaluate.mixed import Mixed as Mixed
    from anabranch.evaluate.native import Hashing as Hashing
    from anabranch.evaluate.native import Heuristic as Heuristic
    from anabranch.evaluate.native import Rollout as Rollout
    from anabranch.evaluate.native import Uniform as Uniform
    from anabranch.evaluate.network import Network as Network
    from anabranch.evaluate.onnx import Onnx as Onnx
    from anabranch.evaluate.positions import random_positions as random_positions
    from anabranch.evaluate.quantise import Accuracy as Accuracy
    from anabranch.evaluate.quantise import Bound as Bound
    from anabranch.evaluate.quantise import quantise as quantise
    from anabranch.evaluate.seats import to_mover as to_mover
    from anabranch.evaluate.seats import to_seats as to_seats
    from anabranch.evaluate.symmetric import Symmetric as Symmetric
    from anabranch.evaluate.torch import Torch as Torch
    from anabranch.game.augment import Example as Example
    from anabranch.game.augment import augment as augment
    from anabranch.game.check import check as check
    from anabranch.game.compiled import CompiledGame as CompiledGame
    from anabranch.game.describe import describe as describe
    from anabranch.game.environment import Environment as Environment
    from anabranch.game.environment import EnvironmentGame as EnvironmentGame
    from anabranch.game.game import Game as Game
    from anabranch.game.group import symmetry_group as symmetry_group
    from anabranch.game.objects import ObjectGame as ObjectGame
    from anabranch.game.perft import PerftRow as PerftRow
    from anabranch.game.perft import perft as perft
    from anabranch.game.random import Random as Random
    from anabranch.game.random import below as below
    from anabranch.game.random import uniform as uniform
    from anabranch.game.record import copy as copy
    from anabranch.game.record import record as record
    from anabranch.game.state import State as State
    from anabranch.game.symmetry import Symmetry as Symmetry
    from anabranch.game.symmetry import board_cells as board_cells
    from anabranch.game.words import CHANCE as CHANCE
    from anabranch.game.words import IDLE as IDLE
    from anabranch.game.words import OVER as OVER
    from anabranch.game.words import player as player
    from anabranch.learn.by_name import train as train
    from anabranch.learn.train import Trained as Trained
    from anabranch.models.compiled import CompiledModel as CompiledModel
    from anabranch.models.model import Afterstate as Afterstate
    from anabranch.models.model import Initial as Initial
    from anabranch.models.model import Model as Model
    from anabranch.models.model import Transition as Transition
    from anabranch.models.planner import Plan as Plan
    from anabranch.models.planner import Planner as Planner
    from anabranch.models.planner import plan as plan
    from anabranch.models.two_player import TwoPlayer as TwoPlayer
    from anabranch.play.agent import Agent as Agent
    from anabranch.play.agent import Turn as Turn
    from anabranch.play.best_response import BestResponse as BestResponse
    from anabranch.play.best_response import best_response as best_response
    from anabranch.play.exploitability import Exploitability as Exploitability
    from anabranch.play.exploitability import exploitability as exploitability
    from anabranch.play.fixed_set import FixedSet as FixedSet
    from anabranch.play.fixed_set import fixed_set as fixed_set
    from anabranch.play.gate import Gate as Gate
    from anabranch.play.gate import gate as gate
    from anabranch.play.human_agent import HumanAgent as HumanAgent
    from anabranch.play.match import match as match
    from anabranch.play.match_result import Match as Match
    from anabranch.play.open_spiel import OpenSpielAgent as OpenSpielAgent
    from anabranch.play.open_spiel_bot import SearchBot as SearchBot
    from anabranch.play.oracle_agent import OracleAgent as OracleAgent
    from anabranch.play.random_agent import RandomAgent as RandomAgent
    from anabranch.play.regret import Regret as Regret
    from anabranch.play.regret import regret as regret
    from anabranch.play.scripted_agent import ScriptedAgent as ScriptedAgent
    from anabranch.play.search_agent import SearchAgent as SearchAgent
    from anabranch.search.engine.analysis import Analysis as Analysis
    from anabranch.search.engine.root import Root as Root
    from anabranch.search.engine.searcher import Searcher as Searcher
    from anabranch.search.engine.searcher import search as search
    from anabranch.search.exact.oracle import Oracle as Oracle
    from anabranch.search.exact.oracle import oracle as oracle
    from anabranch.search.exact.oracle_evaluator import OracleValue as OracleValue
    from anabranch.search.exact.solve import Solution as Solution
    from anabranch.search.exact.solve import solve as solve
    from anabranch.search.maths import policies as policies
    from anabranch.search.maths.policies import tempered as tempered
    from anabranch.search.reference.search import Reference as Reference
    from anabranch.search.results.move_rules import LowerBound as LowerBound
    from anabranch.search.results.move_rules import Regularised as Regularised
    from anabranch.search.results.move_rules import Visits as Visits
    from anabranch.search.results.move_rules import lower_bounds as lower_bounds
    from anabranch.search.results.move_rules import move_policy as move_policy
    from anabranch.search.results.result import Result as Result
    from anabranch.search.settings.config import Chance as Chance
    from anabranch.search.settings.config import Exp3 as Exp3
    from anabranch.search.settings.config import FirstPlay as FirstPlay
    from anabranch.search.settings.config import ForcedPlayouts as ForcedPlayouts
    from anabranch.search.settings.config import Gumbel as Gumbel
    from anabranch.search.settings.config import MatrixGame as MatrixGame
    from anabranch.search.settings.config import PlayoutCap as PlayoutCap
    from anabranch.search.settings.config import Puct as Puct
    from anabranch.search.settings.config import RegretMatching as RegretMatching
    from anabranch.search.settings.config import RootNoise as RootNoise
    from anabranch.search.settings.config import SearchConfig as SearchConfig
    from anabranch.search.settings.config import Transposition as Transposition
    from anabranch.search.settings.config import Ucb1 as Ucb1
    from anabranch.search.settings.config import VirtualLoss as VirtualLoss

_HOME = {
    "Afterstate": "models.model",
    "CompiledModel": "models.compiled",
    "Initial": "models.model",
    "Model": "models.model",
    "Plan": "models.planner",
    "Planner": "models.planner",
    "Transition": "models.model",
    "TwoPlayer": "models.two_player",
    "plan": "models.planner",
    "Agent": "play.agent",
    "BestResponse": "play.best_response",
    "best_response": "play.best_response",
    "Exploitability": "play.exploitability",
    "exploitability": "play.exploitability",
    "FixedSet": "play.fixed_set",
    "fixed_set": "play.fixed_set",
    "Gate": "play.gate",
    "gate": "play.gate",
    "HumanAgent": "play.human_agent",
    "Match": "play.match_result",
    "match": "play.match",
    "OpenSpielAgent": "play.open_spiel",
    "OracleAgent": "play.oracle_agent",
    "RandomAgent": "play.random_agent",
    "Regret": "play.regret",
    "regret": "play.regret",
    "ScriptedAgent": "play.scripted_agent",
    "SearchAgent": "play.search_agent",
    "SearchBot": "play.open_spiel_bot",
    "Turn": "play.agent",
    "Evaluator": "evaluate.batch",
    "Accuracy": "evaluate.quantise",
    "Bound": "evaluate.quantise",
    "Network": "evaluate.network",
    "Onnx": "evaluate.onnx",
    "Torch": "evaluate.torch",
    "quantise": "evaluate.quantise",
    "random_positions": "evaluate.positions",
    "to_mover": "evaluate.seats",
    "to_onnx": "evaluate.export",
    "to_seats": "evaluate.seats",
    "Asked": "evaluate.asked",
    "Batch": "evaluate.batch",
    "Cached": "evaluate.cached",
    "Hashing": "evaluate.native",
    "Heuristic": "evaluate.native",
    "Mixed": "evaluate.mixed",
    "Rollout": "evaluate.native",
    "Symmetric": "evaluate.symmetric",
    "Uniform": "evaluate.native",
    "LowerBound": "search.results.move_rules",
    "Regularised": "search.results.move_rules",
    "Visits": "search.results.move_rules",
    "lower_bounds": "search.results.move_rules",
    "move_policy": "search.results.move_rules",
    "tempered": "search.maths.policies",
    "Reference": "search.reference.search",
    "Result": "search.results.result",
    "VirtualLoss": "search.settings.config",
    "Transposition": "search.settings.config",
    "Chance": "search.settings.config",
    "Exp3": "search.settings.config",
    "Gumbel": "search.settings.config",
    "MatrixGame": "search.settings.config",
    "RegretMatching": "search.settings.config",
    "FirstPlay": "search.settings.config",
    "ForcedPlayouts": "search.settings.config",
    "PlayoutCap": "search.settings.config",
    "RootNoise": "search.settings.config",
    "Ucb1": "search.settings.config",
    "Puct": "search.settings.config",
    "SearchConfig": "search.settings.config",
    "Analysis": "search.engine.analysis",
    "Root": "search.engine.root",
    "Searcher": "search.engine.searcher",
    "CHANCE": "game.words",
    "CompiledGame": "game.compiled",
    "Environment": "game.environment",
    "EnvironmentGame": "game.environment",
    "Game": "game.game",
    "IDLE": "game.words",
    "ObjectGame": "game.objects",
    "OVER": "game.words",
    "PerftRow": "game.perft",
    "Picture": "draw.picture",
    "Random": "game.random",
    "Oracle": "search.exact.oracle",
    "OracleValue": "search.exact.oracle_evaluator",
    "Solution": "search.exact.solve",
    "State": "game.state",
    "Symmetry": "game.symmetry",
    "Example": "game.augment",
    "augment": "game.augment",
    "below": "game.random",
    "board_cells": "game.symmetry",
    "check": "game.check",
    "copy": "game.record",
    "describe": "game.describe",
    "oracle": "search.exact.oracle",
    "perft": "game.perft",
    "player": "game.words",
    "record": "game.record",
    "solve": "search.exact.solve",
    "train": "learn.by_name",
    "Trained": "learn.train",
    "symmetry_group": "game.group",
    "uniform": "game.random",
}
_MODULES = {
    "errors": "errors",
    "games": "games",
    "nets": "nets",
    "policies": "search.maths.policies",
    "search": "search",
}

__all__ = [*sorted(_HOME), *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    if name in _HOME:
        value: object = getattr(importlib.import_module(f"anabranch.{_HOME[name]}"), name)
        globals()[name] = value
        return value
    if name in _MODULES:
        return importlib.import_module(f"anabranch.{_MODULES[name]}")
    raise AttributeError(f"module 'anabranch' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
