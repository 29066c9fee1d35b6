# SPDX-License-Identifier: MIT
"""Which signals stop a command, and with which exit code?

They are Ctrl-C (SIGINT), SIGTERM, which job systems send before they kill, and SIGHUP, when a terminal is closed. All
of them raise KeyboardInterrupt, so all end like Ctrl-C: results so far are printed and written. The exit code is 128
plus the signal's number, as in shells. A signal that was ignored when the command began, as by `nohup`, stays ignored.
While results would be lost, a signal is held (`held`): it takes effect at the next progress report, or not at all if
everything has been found and only remains to be written. A second Ctrl-C ends the command at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from regions.text.progress import Report

__all__ = ["Held", "at_once", "exit_code", "held"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_last = [int(signal.SIGINT)]


def exit_code() -> int:
    """Return the exit code of a command that was stopped."""
    return 128 + _last[0]


class Held:
    """Remembers whether a signal came, and stops the work at its next progress report."""

    def __init__(self) -> None:
        self._came = False

    def note(self, number: int) -> None:
        # Only a person repeats Ctrl-C on purpose. `timeout` and terminals send the same SIGTERM or SIGHUP twice.
        if self._came and number == signal.SIGINT:
            raise KeyboardInterrupt
        self._came = True

    def obeying(self, report: Report | None) -> Report:
        """Return a report that also raises KeyboardInterrupt once a signal has come."""

        def checked_report(share: float, found: int) -> None:
            if self._came:
                raise KeyboardInterrupt
            if report is not None:
                report(share, found)

        return checked_report


@contextmanager
def at_once() -> Iterator[None]:
    """Let these signals stop a command immediately."""

    def stop(number: int) -> None:
        raise KeyboardInterrupt

    _last[0] = int(signal.SIGINT)
    with _handled(stop):
        yield


@contextmanager
def held() -> Iterator[Held]:
    """Hold these signals within a command, so that no result is lost."""
    found = Held()
    with _handled(found.note):
        yield found


@contextmanager
def _handled(react: Callable[[int], None]) -> Iterator[None]:
    """Call a function with the number of each of these signals.

    This happens only in the main thread, because no other thread receives them.
    """

    def note(number: int, frame: object) -> None:
        _last[0] = number
        react(number)

    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {each: signal.getsignal(each) for each in SIGNALS}
        before = {each: handler for each, handler in before.items() if handler is not signal.SIG_IGN}
    for each in before:
        signal.signal(each, note)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
