"""Ctrl-C while a game is compiled or loaded: noticed at once, and nothing is torn by it."""

import _thread
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from anabranch.game.native.whole import Work, whole

ROOT = Path(__file__).resolve().parent.parent


def run(folder, *arguments):
    environment = os.environ | {"ANABRANCH_CACHE": str(folder), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize(
    ("how", "said"), [("moments", "from disk True\ncompiled True\n"), ("alarms", "alarms True at once True\n")]
)
def test_compiling_survives_an_interrupt_at_any_moment(tmp_path, how, said):
    """Law: after an interrupt the same game compiles, and so do others, on other threads too."""
    done = run(tmp_path, "-m", "tests.interrupted", how)
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")


def test_an_interrupted_process_ends_by_itself_and_keeps_what_it_compiled(tmp_path):
    """Python waits for LLVM before it takes it down; the next process finds the code."""
    code = """
import os, signal
from anabranch.game.native import compiler
from tests.compiler_helpers import Small
compile_entries = compiler.compile_entries
def interrupted(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    return compile_entries(*arguments)
compiler.compile_entries = interrupted
signal.signal(signal.SIGINT, signal.default_int_handler)
Small().start()
"""
    done = run(tmp_path, "-c", code)
    assert done.stderr.splitlines()[-1].startswith("KeyboardInterrupt"), done.stderr
    assert done.returncode in (1, 130, -signal.SIGINT)  # and not what a crash would give
    assert [path.suffix for path in tmp_path.iterdir()] == [".object"]


def test_work_gives_what_its_function_gives():
    def fails():
        raise KeyError("inside")

    assert whole(lambda: 7) == 7
    assert whole(threading.get_ident) != threading.get_ident()
    with pytest.raises(KeyError, match="inside"):
        whole(fails)


def test_work_is_done_in_place_where_no_signal_arrives_or_no_thread_starts(monkeypatch):
    """On other threads no handler runs; and Python starts no thread when it is about to end."""
    found = []
    thread = threading.Thread(target=lambda: found.append(whole(threading.get_ident) == threading.get_ident()))
    thread.start()
    thread.join()
    assert found == [True]

    def refuse(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    assert whole(threading.get_ident) == threading.get_ident()


def test_several_may_wait_for_one_result():
    begin = threading.Event()
    work, found = Work(lambda: begin.wait(60)), []
    threads = [threading.Thread(target=lambda: found.append(work.result())) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert not work.finished
    begin.set()
    for thread in threads:
        thread.join()
    assert found == [True] * 3
