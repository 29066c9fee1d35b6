# SPDX-License-Identifier: MIT
"""Which signals stop a command, and with which exit code?

They are Ctrl-C (SIGINT), SIGTERM, which job systems send before they kill, and SIGHUP, when a terminal is closed. All
of them raise KeyboardInterrupt, so all end like Ctrl-C: results so far are printed and written. The exit code is 128
plus the signal's number, as in shells. A signal that was ignored when the command began, as by `nohup`, stays ignored.
While a signal would lose results, it is held (`held`). It then takes effect at the next progress report, or once
everything is written. A second Ctrl-C ends the command at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from regions.ground.threads.progress import Report, checking

__all__ = ["Held", "at_once", "completed", "exit_code", "held"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# The last signal, or 0.
_last = [0]


def exit_code() -> int:
    """Return the exit code of a command that was stopped."""
    return 128 + (_last[0] or signal.SIGINT)


def completed(invoke: Callable[[click.Context], Any], ctx: click.Context) -> Any:
    """Run a command. If it completes although a signal has come, the exit code is the signal's and not 0."""
    try:
        found = invoke(ctx)
    except click.exceptions.Exit as end:
        if end.exit_code:
            raise
        found = None
    if _last[0]:
        ctx.exit(exit_code())
    return found


class Held:
    """Remembers whether a signal came, and stops the work at its next progress report.

    Attributes
    ----------
    came : bool
    """

    def __init__(self, say: Callable[[], None]) -> None:
        self.came, self._say = False, say

    def note(self, number: int) -> None:
        # Only a person repeats Ctrl-C on purpose. `timeout` and terminals send the same SIGTERM or SIGHUP twice.
        if self.came and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not self.came:
            self.came = True
            self._say()

    def obeying(self, report: Report | None) -> Report:
        """Return a report that also raises KeyboardInterrupt once a signal has come."""

        def require_none() -> None:
            if self.came:
                raise KeyboardInterrupt

        return checking(require_none, report)


@contextmanager
def at_once() -> Iterator[None]:
    """Let these signals stop a command immediately."""

    def stop(number: int) -> None:
        raise KeyboardInterrupt

    _last[0] = 0
    with _handled(stop):
        yield


@contextmanager
def held(say: Callable[[], None] = lambda: None) -> Iterator[Held]:
    """Hold these signals within a command, so that no result is lost; at the first one, call ``say``."""
    found = Held(say)
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
