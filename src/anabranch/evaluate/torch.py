"""Any torch module as an evaluator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from anabranch.errors import (
    DataError,
    EvaluatorError,
    MissingExtraError,
    UnknownNameError,
    UsageError,
    reason,
    shown,
)
from anabranch.evaluate.contents import DIGITS, contents
from anabranch.evaluate.network import NetworkEvaluator, Observations
from anabranch.evaluate.seats import View, checked_view
from anabranch.evaluate.sources import DoubtError
from anabranch.game.game import Game

if TYPE_CHECKING:
    from torch import nn

AUTOCAST = ("bfloat16", "float16")


@dataclass(eq=False)
class Torch(NetworkEvaluator):
    """A torch module that maps observations `[N, …]` to `(logits [N, A], values [N, P])`, as an evaluator.

    The module runs without gradients and in evaluation mode, and is left in the mode it was found in. `device` moves it
    there; `autocast` ("bfloat16" or "float16") computes with fewer digits; `channels_last` lays out convolutions as
    most processors like them; `threads` are those torch may use on the processor, 0 for as many as it would: one is the
    usual number, since threads that wait for each other stall where others want the cores too. `view` says how the
    module speaks: "mover" for values of (me, next, …), "seats" for player 0 first, "scalar" for the mover's
    value alone in a game of two players where one wins what the other loses.
    """

    module: nn.Module
    device: str | None = None
    autocast: str | None = None
    channels_last: bool = False
    threads: int = 1
    view: View = "mover"
    file: str | None = field(default=None, kw_only=True)  # where the module came from, for its name

    def __post_init__(self) -> None:
        torch = _torch()
        self.view = checked_view(self.view)
        if not isinstance(self.module, torch.nn.Module):
            raise UsageError(f"Torch takes a torch.nn.Module, found {type(self.module).__name__}")
        if self.autocast is not None and self.autocast not in AUTOCAST:
            raise UnknownNameError("kind of autocast", str(self.autocast), AUTOCAST)
        if not 0 <= self.threads <= MOST_THREADS:
            raise UsageError(f"threads must lie between 0 and {MOST_THREADS}, found {self.threads}")
        if self.device is not None:
            try:
                self.module.to(self.device)
            except (RuntimeError, AssertionError) as error:  # torch has either for a device that is not there
                raise UsageError(
                    f"the module cannot be moved to the device {shown(self.device)}: {reason(error)}"
                ) from None
        if self.channels_last:
            self.module.to(memory_format=torch.channels_last)

    @cached_property
    def _place(self) -> Any:
        """The device the module is on."""
        import torch

        first = next(self.module.parameters(), None)
        return torch.device(self.device or "cpu") if first is None else first.device

    def check(self, game: Game) -> None:
        """Refuse a game whose shapes are not those a network of `ab.nets` was made for."""
        from anabranch.nets.shape import Shape, shape_of

        shape = getattr(self.module, "shape", None)
        if isinstance(shape, Shape):
            here = shape_of(game)
            there = (shape.observation, shape.actions, shape.players)
            if there != (here.observation, here.actions, here.players):
                raise DataError(f"{self} was made for {_told(shape)}, and cannot evaluate {_told(here)}")

    def run(self, observations: Observations) -> tuple[Any, Any]:
        """Return (logits, values) of observations, as the module says them."""
        import torch

        given = torch.from_numpy(observations).to(self._place)
        if self.channels_last and given.ndim == 4:
            given = given.contiguous(memory_format=torch.channels_last)
        kind = getattr(torch, self.autocast) if self.autocast else None
        with (
            torch.inference_mode(),
            evaluating(self.module),
            _limited(self.threads),
            torch.autocast(self._place.type, dtype=kind, enabled=kind is not None),
        ):
            try:
                answer = self.module(given)
            except RuntimeError as error:
                raise EvaluatorError(
                    f"{type(self.module).__name__} failed on observations of shape {tuple(given.shape)}: {error}"
                ) from error
        if not isinstance(answer, (tuple, list)) or not all(isinstance(part, torch.Tensor) for part in answer):
            raise EvaluatorError(f"{self} must return two tensors (logits, values), found {type(answer).__name__}")
        return tuple((part.float() if part.is_floating_point() else part).cpu().numpy() for part in answer)

    @property
    def sha256(self) -> str:
        """The beginning of a SHA-256 of the module as it is now, its code and its weights; unknown where in doubt."""
        try:
            return contents(self.module)[:DIGITS]
        except DoubtError:
            return "unknown"

    @property
    def doubt(self) -> str:
        """Why nobody can tell the module from others, e.g. because its class was typed in; nothing if one can."""
        try:
            contents(self.module)
        except DoubtError as doubt:
            return f"{type(self.module).__qualname__}: {doubt}"
        return ""

    @property
    def name(self) -> str:
        """What this network is called everywhere: the file (which `evaluate.load` reads) or class, and a hash."""
        told = [f"sha256={self.sha256}"]
        settings = ("device", "autocast", "channels_last")
        told += [f"{key}={str(getattr(self, key)).lower()}" for key in settings if getattr(self, key)]
        if self.threads != 1:
            told.append(f"threads={self.threads}")
        if self.view != "mover":
            told.append(f"view={self.view}")
        return f"{self.file or type(self.module).__qualname__}:{','.join(told)}"

    def __repr__(self) -> str:
        return f"Torch({self.name})"


MOST_THREADS = 1024


@contextmanager
def evaluating(module: nn.Module) -> Iterator[None]:
    """Put a module in evaluation mode, and every part of it back into its own afterwards."""
    training = [part for part in module.modules() if part.training]
    for part in training:
        part.training = False
    try:
        yield
    finally:
        for part in training:
            part.training = True


@contextmanager
def _limited(threads: int) -> Iterator[None]:
    """Let torch use so many threads meanwhile; the number is the process's, so it is put back."""
    import torch

    usual = torch.get_num_threads()
    if threads in (0, usual):
        yield
        return
    torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(usual)


def _told(shape: Any) -> str:
    return f"{shape.game} (observation {shape.observation}, {shape.actions} actions, {shape.players} players)"


def _torch() -> Any:
    try:
        import torch
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError("torch", "train", "a torch module") from None
    return torch
