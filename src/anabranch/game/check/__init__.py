"""Play a game at random and say which laws its rules break, each with the shortest line of play found.

Files in the order they build on each other: `subject` asks the verbs and walks positions, `law` is the table of laws,
one file per family of laws fills it, `shrink` shortens what was found, `run` is the loop, `report` the result.
"""

from __future__ import annotations

from anabranch.game.check.report import Report as Report
from anabranch.game.check.report import Violation as Violation
from anabranch.game.check.run import check as check
