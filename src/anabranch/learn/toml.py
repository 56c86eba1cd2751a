"""Settings as TOML text, which `search/settings/mapping.py` reads back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def to_toml(settings: Mapping[str, Any], title: str) -> str:
    """Return nested settings as TOML: values first, then a table for each part."""
    return f"# {title}\n" + "\n".join(_lines(settings, "")) + "\n"


def _lines(settings: Mapping[str, Any], above: str) -> Iterator[str]:
    for name, value in settings.items():
        if not isinstance(value, Mapping):
            yield f"{name} = {_value(value)}"
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield ""
            yield f"[{above}{name}]"
            yield from _lines(value, f"{above}{name}.")


def _value(value: Any) -> str:
    """Return a number, a text or a truth as TOML writes it; these are the same as in JSON but for infinities."""
    assert isinstance(value, (bool, int, float, str)), value
    return repr(value) if isinstance(value, float) else json.dumps(value)
