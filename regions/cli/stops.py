# SPDX-License-Identifier: MIT
"""Which signals stop a command, and with which exit code?

They are Ctrl-C (SIGINT), SIGTERM, which job systems send before they kill, and SIGHUP, when a terminal is closed. All
of them raise KeyboardInterrupt, so all end like Ctrl-C: results so far are printed and written. The exit code is 128
plus the signal's number, as in shells. A signal that was ignored when the command began, as by `nohup`, stays ignored.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["exit_code", "handled", "raise_interrupt"]

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_last = [int(signal.SIGINT)]


def exit_code() -> int:
    """Return the exit code of a command that was stopped."""
    return 128 + _last[0]


def raise_interrupt() -> None:
    """Stop immediately."""
    raise KeyboardInterrupt


@contextmanager
def handled(react: Callable[[], None]) -> Iterator[None]:
    """Call a function at each of these signals; only in the main thread, the only one that receives them."""

    def note(number: int, frame: object) -> None:
        _last[0] = number
        react()

    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {each: signal.getsignal(each) for each in SIGNALS}
        before = {each: handler for each, handler in before.items() if handler is not signal.SIG_IGN}
    _last[0] = int(signal.SIGINT)
    for each in before:
        signal.signal(each, note)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
