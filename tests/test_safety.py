"""The package runs no text as code, unpickles nothing, opens no shell and no connection: read off its syntax trees."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from tests.sources import ROOT, files, name_of, tree_of

UNSAFE_MODULES = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "joblib", "jsonpickle", "marshal", "shelve"}
NETWORK_MODULES = {
    *("socket", "_socket", "socketserver", "ssl", "select", "selectors", "asyncore", "urllib", "urllib3", "http"),
    *("httpx", "requests", "aiohttp", "websockets", "ftplib", "smtplib", "poplib", "imaplib", "nntplib", "telnetlib"),
    *("xmlrpc", "webbrowser", "grpc", "zmq", "paramiko", "ray"),
}
ON_A_CLUSTER = ROOT / "src" / "anabranch" / "learn" / "cluster.py"  # where users ask for one: see SECURITY.md
RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
SHELLS = {("os", "system"), ("os", "popen"), ("subprocess", "getoutput"), ("subprocess", "getstatusoutput")}
UNSAFE_FLAGS = {"shell", "allow_pickle"}


def dangers(tree: ast.AST) -> Iterator[str]:
    """Yield what a syntax tree holds that the package must not."""
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
            for name in names:
                if name.partition(".")[0] in UNSAFE_MODULES | NETWORK_MODULES or name == "multiprocessing.connection":
                    yield f"line {line}: import {name}"
                elif tuple(name.split(".")) in SHELLS:
                    yield f"line {line}: {name}"
        elif isinstance(node, ast.Name) and node.id in RUNS_TEXT:
            yield f"line {line}: {node.id}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) in SHELLS or (node.value.id == "builtins" and node.attr in RUNS_TEXT):
                yield f"line {line}: {node.value.id}.{node.attr}"
        elif isinstance(node, ast.Call):
            for keyword in node.keywords:
                off = isinstance(keyword.value, ast.Constant) and not keyword.value.value
                if keyword.arg in UNSAFE_FLAGS and not off:
                    yield f"line {line}: {keyword.arg}={ast.unparse(keyword.value)}"


@pytest.mark.parametrize("path", files(), ids=name_of)
def test_a_file_holds_nothing_dangerous(path):
    found = list(dangers(tree_of(path)))
    assert not found or (path == ON_A_CLUSTER and all(words.endswith("import ray") for words in found))


def test_the_engine_starts_no_process_and_opens_no_connection():
    """The C++ sources include no header and call no function for it."""
    forbidden = re.compile(r"\b(system|popen|execv\w*|fork|dlopen)\s*\(|<(sys/socket|netdb|arpa/\w+|dlfcn)\.h>")
    sources = sorted((ROOT / "cpp").rglob("*.[hc]pp"))
    assert sources
    for path in sources:
        assert not forbidden.search(path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize(
    "source",
    [
        *("import pickle", "from pickle import loads", "import marshal", "import shelve as s", "import dill"),
        *("eval('1')", "exec(text)", "run = exec", "compile(text, '', 'eval')", "builtins.eval('1')"),
        *("__import__('os')", "os.system('ls')", "from os import popen", "subprocess.run('ls', shell=True)"),
        *("subprocess.run('ls', shell=flag)", "np.load(path, allow_pickle=True)"),
        *("import socket", "from urllib import request", "import urllib.request", "import http.client"),
        *("def late():\n    import requests", "from multiprocessing import connection"),
    ],
)
def test_a_danger_is_seen(source):
    assert len(list(dangers(ast.parse(source)))) >= 1


@pytest.mark.parametrize(
    "source",
    [
        "loader.exec_module(module)",
        "words = ('eval', 'exec')",
        "np.load(path, allow_pickle=False)",
        "re.compile('a')",
        "game.compile = 1",
    ],
)
def test_what_only_looks_like_a_danger_is_let_through(source):
    assert not list(dangers(ast.parse(source)))
