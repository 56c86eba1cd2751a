"""A game's verbs as native code: found, told apart, compiled by Numba, kept on disk, loaded, called.

rules.py        the verbs of one instance, run natively
unit.py         verbs that are compiled together: from memory, from disk, or compiled
whole.py        work that no signal interrupts: all that touches Numba or LLVM
entries.py      what is compiled: one function per verb, its arguments as plain C types
reachable.py    the functions a verb reaches, and copies of them
twins.py        library helpers as compiled verbs see them
constants.py    what names in these functions stand for: followed to the last byte, or refused
refusals.py     what a verb may not reach, said before Numba says it
unchecked.py    the list of what Numba does not check
trial.py        a few plies interpreted, before anything is compiled
fingerprint.py  one name for everything that decides the code
cache.py        object code on disk
compiler.py     Numba → LLVM → object code (only it and the next four import Numba)
passes.py       what is changed in Numba's way of compiling
library.py      where Numba puts code: text that is linked and never run
checked.py      what Numba does not check, where types are known: checked or refused
instance.py     the type of `self`, to which nobody writes
explain.py      what Numba says about errors, in the user's terms
loader.py       object code → addresses
"""
