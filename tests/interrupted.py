"""Interrupts a process while it compiles and loads, at many moments, and says whether it still can; run by itself.

`python -m tests.interrupted moments`: at every so-manieth moment at which Python looks for signals.
`python -m tests.interrupted alarms`: at points of time spread over a compilation, the first one from a cold start.
"""

import itertools
import signal
import sys
import threading
import time

from tests.compiler_helpers import Small


def another(number):
    """A game nobody has compiled yet."""

    def step(self, state, actions, rewards):
        state.ply += number

    return type("Another", (Small,), {"step": step})()


def play(number):
    return another(number).start().step(0)[0].ply


numbers = itertools.count(1)  # a game each


def fresh():
    """A number no game was made of."""
    return next(numbers)


def others_can_compile():
    """Whether another thread can: a lock that the main thread left taken would keep it waiting."""
    number, answers = fresh(), []
    thread = threading.Thread(target=lambda: answers.append(play(number) == number), daemon=True)
    thread.start()
    thread.join(600)  # for ever, if a lock is taken; a busy machine may take long
    return answers == [True]


# Python looks for signals when a function begins and when a call of C is done, and not between `with lock:` and the
# calls of C that take and give back a lock.
can_interrupt = ("call", "c_return")


def calls_of(action):
    """Return at how many moments the main thread can be interrupted: see `can_interrupt`."""
    count = 0

    def see(frame, event, argument):
        nonlocal count
        count += event in can_interrupt

    sys.setprofile(see)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def interrupted_at(moment, action):
    """Do something and interrupt it at the so-manieth moment; return whether it noticed."""
    count = 0

    def see(frame, event, argument):
        nonlocal count
        count += event in can_interrupt
        if count == moment and event in can_interrupt:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    try:
        sys.setprofile(see)
        action()
        sys.setprofile(None)
    except KeyboardInterrupt:
        return True
    return False


kept: list[object] = []


def restart():
    """Forget what is in memory, as a new process has; the code itself stays, as it does outside tests."""
    from anabranch.game.native import unit

    kept.extend(unit._memory.values())
    unit._memory.clear()


def moments():
    """Interrupt at every so-manieth moment: of a start from disk, and of a compilation."""
    play(0)
    restart()
    calls, noticed = calls_of(lambda: play(0)), 0
    for moment in range(1, calls, 17):
        restart()
        noticed += interrupted_at(moment, lambda: play(0))
        restart()
        assert play(0) == 0
    assert others_can_compile()
    print("from disk", noticed > 10)

    number = fresh()
    calls, noticed = calls_of(lambda: play(number)), 0
    for part in range(1, 10):
        number = fresh()
        noticed += interrupted_at(calls * part // 10, lambda number=number: play(number))
        assert play(number) == number, part  # the very game whose compilation was interrupted
        assert others_can_compile(), part
    print("compiled", noticed > 4)


def alarms():
    """Interrupt at points of time; whoever is interrupted is so at once."""

    def ring(*_):
        rang.append(time.perf_counter())
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, ring)
    rang: list[float] = []
    noticed, latest, parts, span = 0, 0.0, 8, 0.0
    for part in range(parts):
        delay = span * part / parts if part else 0.3  # the first while Numba is imported
        number = fresh()
        try:
            signal.setitimer(signal.ITIMER_REAL, delay)
            play(number)
            signal.setitimer(signal.ITIMER_REAL, 0)
        except KeyboardInterrupt:
            noticed, latest = noticed + 1, max(latest, time.perf_counter() - rang[-1])
        assert play(number) == number, delay
        assert others_can_compile(), delay
        if part == 0:
            number, started = fresh(), time.perf_counter()
            play(number)
            span = time.perf_counter() - started
    print("alarms", noticed > 3, "at once", latest < 1.0)


def unraisable(lost):
    """Pass over an interrupt that came while a generator was closed: Python itself drops such a one and says so."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)


if __name__ == "__main__":
    sys.unraisablehook = unraisable
    signal.signal(signal.SIGINT, signal.default_int_handler)
    {"moments": moments, "alarms": alarms}[sys.argv[1]]()
