"""What `import anabranch` costs, and that every public name is what it says it is."""

from __future__ import annotations

import ast
import importlib
import inspect
import pydoc
import re
import subprocess
import sys
import tomllib

import pytest
from tests.sources import PACKAGE, ROOT, tree_of

import anabranch as ab
from anabranch.errors import UsageError

QUICK = 0.3  # seconds


def python(program: str) -> str:
    """Return what a program prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_importing_is_quick_and_loads_nothing_heavy():
    program = (
        "import sys, time; begun = time.perf_counter(); import anabranch; "
        "print(time.perf_counter() - begun, *sys.modules)"
    )
    runs = [python(program).split() for _ in range(3)]
    assert min(float(run[0]) for run in runs) < QUICK
    loaded = set(runs[0][1:])
    assert not loaded & {"numpy", "numba", "llvmlite", "msgspec", "tyro", "rich", "scipy", "torch", "onnxruntime"}
    assert {name for name in loaded if name.startswith("anabranch")} == {"anabranch"}


def test_every_public_name_is_there():
    assert len(set(ab.__all__)) == len(ab.__all__)
    for name in ab.__all__:
        assert getattr(ab, name) is not None
    assert dir(ab) == sorted(ab.__all__)


def test_type_checkers_see_what_is_there_at_run_time():
    """The imports for type checkers and the table of homes name the same things from the same modules."""
    [block] = [
        node for node in tree_of(PACKAGE / "__init__.py").body
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    ]  # fmt: skip
    seen = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        assert node.module is not None
        for alias in node.names:
            assert alias.asname == alias.name, "only `import x as x` is an export"
            seen[alias.name] = node.module.removeprefix("anabranch").removeprefix(".")
    assert seen.pop("search").startswith("search.")  # for type checkers `ab.search` is the function
    modules = {name: f"{home}.{name}".removeprefix(".") for name, home in seen.items() if name in ab._MODULES}
    assert modules == {name: home for name, home in ab._MODULES.items() if name != "search"}
    assert {name: home for name, home in seen.items() if name not in ab._MODULES} == ab._HOME


def test_a_public_name_is_the_one_its_module_defines():
    """No name is re-exported from a second place, so pickles of users and their tracebacks show where it lives."""
    for name, home in ab._HOME.items():
        value = getattr(ab, name)
        assert value is getattr(importlib.import_module(f"anabranch.{home}"), name)
        if hasattr(value, "__qualname__"):
            assert value.__module__.startswith(f"anabranch.{home}")


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="serch"):
        getattr(ab, "serch")  # noqa: B009


@pytest.mark.parametrize(
    "first", ["anabranch.search.reference.search", "anabranch.search", "anabranch.search.settings.config"]
)
def test_search_is_a_module_and_a_function_whatever_is_imported_first(first):
    program = (
        f"import {first}, anabranch as ab; "
        "state = ab.games.load('take_away', stones=2, compiled=False).start(); "
        "print(ab.search(state, simulations=50).action, ab.search.__name__, ab.search.settings.config.__name__)"
    )
    assert python(program).split() == ["1", "anabranch.search", "anabranch.search.settings.config"]


def test_all_places_give_the_same_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == ab.__version__
    latest = re.search(r"^## \[?([\d.]+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert latest is not None
    assert latest[1] == ab.__version__


def test_search_shows_how_it_is_called():
    """The callable package has the signature of its function, and its help begins with a call."""
    assert list(inspect.signature(ab.search).parameters)[:2] == ["state", "simulations"]
    help_text = pydoc.render_doc(ab.search, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    for word in ("ab.search(state, simulations=1000)", "seconds=", "evaluator=", "config=", "result.action"):
        assert word in help_text


def test_a_misspelt_argument_of_search_is_named():
    state = ab.games.load("take_away", stones=3, compiled=False).start()
    with pytest.raises(UsageError, match=r"'simulation'.*'simulations'"):
        ab.search(state, simulation=100)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"write ab.search\(state, simulations=1000\)"):
        ab.search(state, 100)  # type: ignore[call-arg]
