"""Imports point up the list of layers in ARCHITECTURE.md, never down."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from tests.sources import PACKAGE, files, name_of, tree_of

import anabranch

LAYERS = ("errors", "files", "draw", "game", "games", "nets", "evaluate", "search", "models", "play", "learn", "cli")
# The native module knows no Python of ours, so anybody may use it. `__main__` is the command line; `__init__` names
# things of every layer but loads them only when somebody asks.
FREE = ("_native", "__version__")
FACADE = ("__init__.py",)


def layer_of(module: str) -> str:
    """Return the layer of a dotted module name below the package."""
    return {"__main__": "cli"}.get(module.partition(".")[0], module.partition(".")[0])


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield (line, name below `anabranch`) of all that a module takes from the package, through `ab.x` too."""
    facades = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "anabranch":
                    facades.add(alias.asname or alias.name)
                elif alias.name.startswith("anabranch."):
                    yield node.lineno, alias.name.partition(".")[2]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are absolute"
            if node.module == "anabranch":
                for alias in node.names:
                    yield node.lineno, anabranch._HOME.get(alias.name, alias.name)
            elif node.module and node.module.startswith("anabranch."):
                yield node.lineno, node.module.partition(".")[2]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in facades:
            yield node.lineno, anabranch._HOME.get(node.attr, node.attr)


def wrong_imports(layer: str, tree: ast.Module) -> list[str]:
    """Return what a module of a layer may not import."""
    above = LAYERS[: LAYERS.index(layer) + 1]
    return [
        f"line {line}: {name} is below {layer}"
        for line, name in imports(tree)
        if name not in FREE and layer_of(name) not in above
    ]


def test_every_file_belongs_to_a_layer():
    found = {layer_of(path.relative_to(PACKAGE).parts[0].removesuffix(".py")) for path in files()}
    assert found - {"__init__"} == set(LAYERS)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_up(layer):
    for path in files():
        if name_of(path) not in FACADE and layer_of(name_of(path).removesuffix(".py").replace("/", ".")) == layer:
            assert not wrong_imports(layer, tree_of(path)), name_of(path)


def test_importing_the_package_imports_no_layer():
    """What `__init__` imports before anybody asks is the standard library's."""
    tree = tree_of(PACKAGE / "__init__.py")
    at_once = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert not [name for node in at_once for _, name in imports(ast.Module([node], []))]


@pytest.mark.parametrize(
    ("layer", "source"),
    [
        ("game", "from anabranch.games import load"),
        ("game", "def late():\n    import anabranch.search.reference.search"),
        ("games", "import anabranch as ab\nresult = ab.search"),
        ("games", "import anabranch as ab\nx = ab.Rollout()"),
        ("games", "from anabranch import solve"),
        ("evaluate", "from anabranch.search import formulas"),
        ("search", "from anabranch.cli import main"),
        ("search", "import anabranch as ab\nagent = ab.SearchAgent()"),
        ("play", "from anabranch.cli.show import busy"),
        ("errors", "from anabranch.game.words import OVER"),
    ],
)
def test_an_import_that_points_down_is_seen(layer, source):
    assert len(wrong_imports(layer, ast.parse(source))) == 1
