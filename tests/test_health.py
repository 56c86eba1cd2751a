"""What `examine` finds here, and what it would find elsewhere."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

import numba
import numpy as np
import pytest

import anabranch as ab
from anabranch.search.diagnosis import health, signature
from anabranch.search.diagnosis.health import Finding, examine, numbers, package, shown
from anabranch.search.diagnosis.signature import CASES, QUICK, sign


def test_quick_searches_sign_as_written():
    """Where the engine's behaviour changed on purpose, these are new numbers of QUICK in diagnosis/signature.py."""
    found = {index: signature._number(sign(CASES[index])[0]) for index in QUICK}
    assert found == QUICK


def test_this_machine_is_well():
    told: list[str] = []
    findings = {finding.what: finding for finding in examine(told.append)}
    assert all(finding.status in ("ok", "warn", "none") for finding in findings.values()), findings
    assert findings["numpy"].text == np.__version__
    assert findings["numba"].text == numba.__version__
    assert findings["anabranch"].text == f"{ab.__version__} in {Path(ab.__file__).parent}"
    assert {"python", "engine", "signature", "cache", "compiler", "processor", "memory"} <= findings.keys()
    assert len(told) == len(health.LOOKS)


def test_another_engine_is_noticed(monkeypatch):
    monkeypatch.setitem(QUICK, 8, 1)
    [_, found] = health.engine()
    assert found.status == "fail"
    assert "take_away" in found.text
    assert "connect_four" not in found.text


def test_a_cache_that_cannot_be_written_is_a_warning(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path / "file" / "cache"))
    [found] = health.cache_folder()
    assert found.status == "warn"
    assert "ANABRANCH_CACHE" in found.text


def test_a_cache_is_counted_and_left_as_it_was(monkeypatch, tmp_path):
    monkeypatch.setenv("ANABRANCH_CACHE", str(tmp_path))
    tmp_path.chmod(0o700)
    (tmp_path / "a.object").write_bytes(b"x" * 2048)
    [found] = health.cache_folder()
    assert found.status == "ok"
    assert "1 compiled units, 2.0 kB" in found.text
    assert [path.name for path in tmp_path.iterdir()] == ["a.object"]
    tmp_path.chmod(0o777)
    [found] = health.cache_folder()
    assert found.status == "warn"
    assert "chmod 700" in found.text


def test_packages_are_compared_with_what_is_needed(monkeypatch):
    assert package("numpy", "1.0").status == "ok"
    assert package("numpy", "1000.0").status == "fail"
    assert package("no_such_package_at_all", "1.0").status == "fail"
    monkeypatch.setattr(metadata, "requires", lambda name: ["no_such_package_at_all>=1; extra == 'png'", "tyro"])
    [found] = health.extras()
    assert found.status == "none"
    assert "anabranch[png]" in found.text


def test_a_look_that_fails_is_a_finding(monkeypatch):
    def broken():
        raise OSError("no such thing")

    for name in ("the compiler", "the engine"):
        monkeypatch.setitem(health.LOOKS, name, broken)
    found = {finding.what: finding for finding in examine()}
    assert found["the engine"] == Finding("the engine", "fail", "OSError: no such thing")
    assert found["python"].status == "ok"


@pytest.mark.parametrize(
    ("version", "expected"), [("1.2.3", (1, 2, 3)), ("2.0", (2, 0)), ("1.2.3rc1", (1, 2, 3)), ("0.6+local.5", (0, 6))]
)
def test_versions_are_numbers(version, expected):
    assert numbers(version) == expected


def test_sizes_are_said_as_people_say_them():
    assert [shown(size) for size in (7, 2048, 3 * 2**20, 2**30)] == ["7 bytes", "2.0 kB", "3.0 MB", "1.0 GB"]
