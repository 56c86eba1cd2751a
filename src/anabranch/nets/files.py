"""Networks on disk: weights as safetensors, with the architecture's name and sizes in the header.

A file names an architecture of the registry and never holds code. Nothing in it is trusted: sizes are bounded, and
compared with the tensors that are there, before memory is taken; and since safetensors itself notices no flipped bit in
a weight, the header carries a SHA-256 of every tensor and of all it says itself.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from anabranch.errors import DataError, MissingExtraError, UnknownNameError, UsageError, reason, shown
from anabranch.files import read_file, replace_file
from anabranch.game.game import Game
from anabranch.nets.registry import MOST_WEIGHTS, architecture, blank, complete
from anabranch.nets.shape import Shape, shape_of

if TYPE_CHECKING:
    from torch import Tensor

    from anabranch.nets.net import Net

FORMAT = 1
KEY, CHECKSUM = "anabranch", "sha256"
LONGEST_HEADER = 2**20
LARGEST = LONGEST_HEADER + 8 * MOST_WEIGHTS  # bytes of a file


class Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a file says of itself."""

    format: int
    architecture: str
    sizes: dict[str, int]
    shape: Shape


def save(path: str | os.PathLike[str], net: Net) -> Path:
    """Write a network of the registry to a file, which is replaced whole or not at all."""
    replace_file(Path(path), written(net))
    return Path(path)


def written(net: Net) -> bytes:
    """Return the bytes of a network's file."""
    safetensors = _safetensors()
    name = getattr(net, "architecture", None)
    if not isinstance(name, str) or type(net) is not architecture(name):
        raise UsageError(
            f"{type(net).__name__} is no network of ab.nets, so a file could not say how to make it again; "
            "ab.to_onnx writes any module"
        )
    tensors = {key: tensor.detach().cpu().contiguous() for key, tensor in net.state_dict().items()}
    tensors = {key: tensor.float() if tensor.is_floating_point() else tensor for key, tensor in tensors.items()}
    header = json.dumps(msgspec.to_builtins(Header(FORMAT, name, net.sizes, net.shape)), sort_keys=True)
    said = {KEY: header, CHECKSUM: checksum(header, tensors)}
    data: bytes = safetensors.save(tensors, metadata=said)
    return data


def load(path: str | os.PathLike[str], game: Game | None = None) -> Net:
    """Return the network in a file; with a game given, a file made for another one is refused."""
    return read(Path(path).name, read_file(path, LARGEST), game)


def read(name: str, data: bytes, game: Game | None = None) -> Net:
    """Return the network in the bytes of a file of a name."""
    safetensors = _safetensors()
    header, expected = header_of(name, data)
    try:
        kind = architecture(header.architecture)
        sizes = complete(kind, header.sizes)
        net = blank(kind, header.shape, sizes)
    except UnknownNameError as error:
        raise DataError(f"{name}: {error}; another version may have written it") from None
    except UsageError as error:
        raise DataError(f"{name}: {error}") from None
    if game is not None and header.shape != shape_of(game):
        raise DataError(f"{name} is a network {difference(header.shape, shape_of(game))}")
    try:
        tensors: dict[str, Tensor] = safetensors.load(data)
    except Exception as error:  # whatever the parser says of what is no such file
        raise DataError(f"{name} is damaged: {reason(error)}") from None
    wanted = {key: (tuple(tensor.shape), tensor.dtype) for key, tensor in net.state_dict().items()}
    if {key: (tuple(tensor.shape), tensor.dtype) for key, tensor in tensors.items()} != wanted:
        raise DataError(f"{name} is damaged: its tensors are not those of a {header.architecture} with {sizes}")
    if checksum(_text(data), tensors) != expected:
        raise DataError(f"{name} is damaged: its checksum is not that of its contents")
    net.load_state_dict(tensors, assign=True)
    return net.requires_grad_(True).eval()


def checksum(header: str, tensors: Mapping[str, Tensor]) -> str:
    """Return the checksum of a header and tensors."""
    named = {key: (str(each.dtype), tuple(each.shape), each.numpy().tobytes()) for key, each in tensors.items()}
    return checksum_of(header, named)


def checksum_of(header: str, tensors: Mapping[str, tuple[str, tuple[int, ...], bytes]]) -> str:
    """Return a SHA-256 over all a file says: its header, and of each tensor the name, kind, shape and bytes."""
    mark = hashlib.sha256()
    parts = [header.encode()]
    for key, (kind, shape, data) in sorted(tensors.items()):
        parts += [f"{key} {kind} {shape}".encode(), data]
    for part in parts:
        mark.update(len(part).to_bytes(8, "little"))
        mark.update(part)
    return mark.hexdigest()


def difference(there: Shape, here: Shape) -> str:
    """Return in words what two shapes do not share."""
    if there.game != here.game:
        return f"for {there.game}, not for {here.game}"
    unlike = [name for name in there.__dataclass_fields__ if getattr(there, name) != getattr(here, name)]
    told = ", ".join(f"{name} {getattr(there, name)}, not {getattr(here, name)}" for name in unlike)
    return f"for {there.game} with {told}"


def header_of(name: str, data: bytes) -> tuple[Header, str]:
    """Return what a file says of itself, and its checksum."""
    try:
        said = _metadata(data)
        plain = json.loads(said[KEY])
        if isinstance(plain, dict) and plain.get("format") != FORMAT:
            raise DataError(f"{name} has format {shown(plain.get('format'))}, this version reads {FORMAT}")
        return msgspec.convert(plain, Header), str(said[CHECKSUM])
    except DataError:
        raise
    except (KeyError, TypeError) as error:
        raise DataError(
            f"{name} is a safetensors file without the header of ab.nets.save ({error} is missing)"
        ) from None
    except (ValueError, RecursionError, UsageError, msgspec.ValidationError) as error:
        raise DataError(f"{name} is no network, or its header is damaged: {reason(error)}") from None


def _metadata(data: bytes) -> dict[str, Any]:
    """Return a safetensors file's own words: eight bytes of length, then JSON, in it `__metadata__`."""
    length = int.from_bytes(data[:8], "little")
    if not 2 <= length <= min(LONGEST_HEADER, len(data) - 8):
        raise ValueError(f"a header of {length:,} bytes")
    said = json.loads(data[8 : 8 + length])["__metadata__"]
    if not isinstance(said, dict):
        raise ValueError("its metadata is no table")
    return said


def _text(data: bytes) -> str:
    return str(_metadata(data)[KEY])


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "safetensors"):
            raise
        raise MissingExtraError(str(error.name), "train", "a file of weights") from None
    return safetensors.torch
