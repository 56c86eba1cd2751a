"""A game's verbs as native code: found, told apart, compiled by Numba, kept on disk, loaded, called.

rules.py        the verbs of one instance, run natively
unit.py         verbs that are compiled together: from memory, from disk, or compiled
entries.py      what is compiled: one function per verb, its arguments as plain C types
reachable.py    the functions a verb reaches, and copies of them
refusals.py     what a verb may not reach, said before Numba says it
trial.py        a few plies interpreted, before anything is compiled
fingerprint.py  one name for everything that decides the code
cache.py        object code on disk
compiler.py     Numba → LLVM → object code (the only file that imports Numba, with those named there)
loader.py       object code → addresses
"""
