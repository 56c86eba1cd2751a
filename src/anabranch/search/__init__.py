"""Search a state: `ab.search(state, simulations=1000)`. The package is callable; its modules are the search's parts.

    result = ab.search(
        state,               # where to search from: game.start(), or what state.step(action) returned
        simulations=1000,    # the budget, one of: simulations=, visits= (of the root), seconds=
        evaluator=None,      # of new positions: None (random rollouts), ab.Rollout(count=4), a function of a batch
        config=None,         # the settings: ab.SearchConfig(selector=ab.Puct(c_init=2.0), seed=1)
    )

What comes back is an `ab.Result`, which prints itself:

    result.action                   the most likely choice: an id, or a tuple where players choose at once
    result.policy[player]           probabilities over action ids; draw from them where strategies are mixed
    result.value[player]            what the state is worth
    result.visits, result.q, result.prior, result.line, result.nodes, result.seconds, result.to_json()

`ab.Searcher` keeps what was found for the next search and searches many states at once.
"""

from __future__ import annotations

import inspect
import sys
from functools import cached_property
from types import ModuleType
from typing import Any


class _CallableModule(ModuleType):
    """Lets the folder `search` and the verb `search` share their name, whichever of them is imported first."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from anabranch.errors import UnknownNameError, UsageError
        from anabranch.search.engine.searcher import search

        signature = self.__signature__
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            known = list(signature.parameters)
            for name in kwargs:
                if name not in known:
                    raise UnknownNameError("argument of ab.search", name, known) from None
            raise UsageError(f"ab.search: {error}; write ab.search(state, simulations=1000)") from None
        return search(*args, **kwargs)

    @cached_property
    def __signature__(self) -> inspect.Signature:
        from anabranch.search.engine.searcher import search

        return inspect.signature(search)


sys.modules[__name__].__class__ = _CallableModule
