"""What is said where no terminal is: new words once, and the same words with the time, less and less often."""

import threading
import time

from anabranch.cli import output, progress


def test_words_that_stay_are_repeated_after_2_4_8_16_ticks_with_the_time(monkeypatch):
    said: list[str] = []
    monkeypatch.setattr(progress, "EVERY", 0.01)
    monkeypatch.setattr(output, "say", said.append)
    with progress.progress("solving") as show:
        while len(said) < 4:
            time.sleep(0.01)
        show("half of it")
        while len(said) < 6:
            time.sleep(0.01)
    assert said[0] == "solving"
    assert all(words.startswith("solving … ") and words.endswith(" s") for words in said[1:4])
    assert said[4] == "half of it"
    assert said[5] == "half of it … 0 s"


def test_the_nth_repetition_is_said_if_n_is_a_power_of_two(monkeypatch):
    """Driven by hand: 20 ticks are 1, 2, 4, 8 and 16, and no others."""
    said: list[str] = []

    class Ticks:
        """An event that is waited for 20 times and then set."""

        left = 20

        def wait(self, seconds):
            self.left -= 1
            return self.left < 0

        def set(self):
            pass

    monkeypatch.setattr(threading, "Event", Ticks)
    monkeypatch.setattr(threading, "Thread", Direct)
    monkeypatch.setattr(output, "say", said.append)
    with progress.progress("solving"):
        pass
    assert len(said) == 1 + 5


class Direct:
    """A thread that runs when it is started."""

    def __init__(self, target, daemon):
        self.start = target

    def join(self):
        pass
