"""Whether an ONNX model has all its weights inside: read off its bytes, by the little that is needed of the format.

ONNX lets weights lie in other files, by a path. Runtimes look for those where they please (in the working directory, if
a model comes as bytes), and no checksum of the model covers them. So such a model is refused.

A model is a protocol buffer: fields of a number and a kind, of which those with a length may be messages themselves.
Only the fields on the way from a model to its tensors are followed (onnx.proto; a test compares them).
"""

from __future__ import annotations

from typing import NamedTuple

from anabranch.errors import DataError

DEEPEST = 100  # messages inside others, as readers of protocol buffers have it
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

# message → field → message
PATHS: dict[str, dict[int, str]] = {
    "ModelProto": {7: "GraphProto", 20: "TrainingInfoProto", 25: "FunctionProto"},
    "TrainingInfoProto": {1: "GraphProto", 2: "GraphProto"},
    "FunctionProto": {7: "NodeProto", 11: "AttributeProto"},
    "GraphProto": {1: "NodeProto", 5: "TensorProto", 15: "SparseTensorProto"},
    "NodeProto": {5: "AttributeProto"},
    "AttributeProto": {
        5: "TensorProto",
        6: "GraphProto",
        10: "TensorProto",
        11: "GraphProto",
        22: "SparseTensorProto",
        23: "SparseTensorProto",
    },
    "SparseTensorProto": {1: "TensorProto", 2: "TensorProto"},
    "TensorProto": {13: "StringStringEntryProto"},
}
EXTERNAL_DATA, DATA_LOCATION = 13, 14  # of TensorProto
KEY, VALUE = 1, 2  # of StringStringEntryProto


class Field(NamedTuple):
    """One field of a message: its number, and its number or where its bytes are."""

    number: int
    value: int
    start: int
    end: int


def check_whole(data: bytes, name: str) -> None:
    """Refuse a model that has weights in other files, and bytes that are no model."""
    try:
        elsewhere = _elsewhere(memoryview(data))
    except (IndexError, ValueError) as error:
        raise DataError(f"{name} is no ONNX model: {error}") from None
    if elsewhere is not None:
        where = f", {elsewhere[:100]!r}" if elsewhere else ""
        raise DataError(
            f"{name} keeps weights in another file{where}, which its checksum does not cover; save it as one file: "
            f'onnx.save(onnx.load("model.onnx"), "whole.onnx"), or ab.to_onnx, or torch.onnx.export(…, '
            f"external_data=False)"
        )


def _elsewhere(data: memoryview) -> str | None:
    """Return the path of the first weights outside of a model, "" if it tells none; None if there are no such."""
    waiting = [("ModelProto", 0, len(data), 0)]
    while waiting:
        message, start, end, depth = waiting.pop()
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} messages inside others")
        for field in fields(data, start, end):
            if message == "TensorProto":
                if field.number == EXTERNAL_DATA or (field.number == DATA_LOCATION and field.value):
                    return _location(data, start, end)
            elif (inside := PATHS[message].get(field.number)) and field.start >= 0:
                waiting.append((inside, field.start, field.end, depth + 1))
    return None


def _location(data: memoryview, start: int, end: int) -> str:
    for entry in fields(data, start, end):
        if entry.number == EXTERNAL_DATA and entry.start >= 0:
            words = {part.number: bytes(data[part.start : part.end]) for part in fields(data, entry.start, entry.end)}
            if words.get(KEY) == b"location":
                return words.get(VALUE, b"").decode("utf-8", "replace")
    return ""


def fields(data: memoryview, start: int, end: int) -> list[Field]:
    """Return the fields of the message between two places; ValueError where it is none."""
    found, at = [], start
    while at < end:
        tag, at = _varint(data, at, end)
        number, kind = tag >> 3, tag & 7
        if not 0 < number < 2**29:
            raise ValueError(f"a field of the number {number}")
        if kind == _VARINT:
            value, at = _varint(data, at, end)
            found.append(Field(number, value, -1, -1))
            continue
        if kind == _BYTES:
            length, at = _varint(data, at, end)
        elif kind in (_FIXED64, _FIXED32):
            length = 8 if kind == _FIXED64 else 4
        else:
            raise ValueError(f"a field of the kind {kind}")
        if length > end - at:
            raise ValueError("it ends in the middle of a field")
        if kind == _BYTES:
            found.append(Field(number, 0, at, at + length))
        at += length
    return found


def _varint(data: memoryview, at: int, end: int) -> tuple[int, int]:
    """Return a number of seven bits a byte, and where the next thing begins."""
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("it ends in the middle of a number")
