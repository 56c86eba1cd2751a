"""The doctor's words and exit codes."""

from __future__ import annotations

import json

from anabranch.cli import BAD_DATA, GOOD, main
from anabranch.search.diagnosis import health
from anabranch.search.diagnosis.health import Finding


def test_the_doctor_prints_a_line_for_each_thing(capsys):
    assert main(["doctor"]) == GOOD
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "all is well"
    assert {line.split()[1] for line in lines[1:-1]} >= {"python", "numpy", "cache", "signature", "processor"}
    assert all(line.split()[0] in ("ok", "warn", "none") for line in lines[1:-1])


def test_the_doctor_speaks_to_machines_and_the_exit_code_tells(capsys, monkeypatch):
    for name in health.LOOKS:
        monkeypatch.setitem(health.LOOKS, name, lambda: iter([Finding("thing", "fail", "broken")]))
    assert main(["doctor", "--json"]) == BAD_DATA
    said = json.loads(capsys.readouterr().out)
    assert said["healthy"] is False
    assert said["findings"][0] == {"what": "thing", "status": "fail", "text": "broken"}
    assert main(["doctor"]) == BAD_DATA
    assert "fail" in capsys.readouterr().out
