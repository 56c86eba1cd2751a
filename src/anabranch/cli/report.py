"""A result as plain data for machines: what `Result.to_json` has, and the names people use."""

from __future__ import annotations

import json
import math
from typing import Any

from anabranch.game.moves import line_names, move_name
from anabranch.search.results.result import Result


def report(result: Result) -> dict[str, Any]:
    """Return everything but the graph; every number in it is finite, or None."""
    facts: dict[str, Any] = _finite(json.loads(result.to_json()))
    best = result.action
    facts["best"] = None if best is None else move_name(result.state, best)
    facts["line_names"] = line_names(result.state, result.line)
    return facts


def _finite(value: Any) -> Any:
    """Return plain data with None for what JSON has no word for."""
    if isinstance(value, dict):
        return {key: _finite(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
