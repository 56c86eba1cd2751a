"""An evaluator that is not here: the caller of `Searcher.ask` and `tell` is it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

from anabranch.errors import UsageError


@dataclass(frozen=True)
class Asked:
    """Stands where an evaluator would, in a searcher whose caller answers: `ab.Searcher(game, ab.Asked())`."""

    identity: Annotated[str, "what answers, for files of searches: equal texts promise equal answers"] = ""

    def evaluate(self, batch: Any) -> NoReturn:
        del batch
        raise UsageError(
            "this search has ab.Asked() for its evaluator, which answers nothing itself: drive it by searcher.ask(…) "
            "and searcher.tell(logits, values), or give it an evaluator"
        )
