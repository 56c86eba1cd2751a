"""Object code into memory: from bytes to addresses, without Numba.

Code is linked by LLVM's ORC, which reports a symbol it cannot find instead of ending the process. Loaded code stays for
as long as the `Loaded` that names it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from anabranch.game.native.cache import ObjectCode

_numbers = itertools.count()


class MissingSymbolError(Exception):
    """Object code needs a function that this process does not have."""


@dataclass(frozen=True)
class Loaded:
    """Addresses of entries, and what keeps their code in memory."""

    addresses: dict[str, int]
    owner: Any


@cache
def target_machine() -> Any:
    """Return the processor code is made for: this one, with everything it can do."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=3,
        reloc="pic",
        codemodel="small",
    )


@cache
def _linker() -> Any:
    return llvm.create_lljit_compiler(target_machine(), use_jit_link=True, suppress_errors=True)


Find = Callable[[str], tuple[int, Any] | None]  # where a symbol lives, and what keeps it there


def load(unit: ObjectCode, find: Find = lambda symbol: None) -> Loaded:
    """Link object code into this process; raise MissingSymbolError if it needs something that is not there.

    `find` knows what lies outside the code but belongs to the game: large arrays, functions of C libraries.
    """
    target_machine()
    builder = llvm.JITLibraryBuilder().add_object_img(unit.code).add_current_process()
    kept = []
    for name in unit.externals:
        address, keeper = find(name) or (_address(name), None)
        if not address:
            raise MissingSymbolError(name)
        builder.import_symbol(name, address)
        kept.append(keeper)
    for symbol in unit.symbols.values():
        builder.export_symbol(symbol)
    linker = _linker()
    try:
        owner = builder.link(linker, f"anabranch{next(_numbers)}")
    except RuntimeError as error:
        raise MissingSymbolError(str(error)) from error
    # The linker goes with the code: freed first, it would take the code along.
    return Loaded({entry: owner[symbol] for entry, symbol in unit.symbols.items()}, (owner, linker, kept))


def _address(name: str) -> int:
    """Return where a symbol lives; those of Numba's runtime appear once it is set up."""
    address: int | None = llvm.address_of_symbol(name)
    if not address and name.startswith(("NRT_", "numba_")):
        from numba.core.registry import cpu_target
        from numba.core.runtime import rtsys

        rtsys.initialize(cpu_target.target_context)
        address = llvm.address_of_symbol(name)
    return address or 0
