# SPDX-License-Identifier: MIT
"""When must a call end?

At its timeout. The moment is kept for the thread that calls, and holds for all work inside `time_limit`. Work that
takes long reports its progress a few times a second, and every report checks the moment (`reporting` in `progress.py`).
Loops in Python that do not report call `check_time`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import monotonic

from regions.errors import TimeoutReached

__all__ = ["check_time", "has_time_limit", "time_limit"]

# The moment, and the seconds that were given.
_END: ContextVar[tuple[float, float] | None] = ContextVar("end", default=None)


@contextmanager
def time_limit(timeout: float | None) -> Iterator[None]:
    """Let the work inside raise `TimeoutReached` once it has taken this many seconds; None changes nothing."""
    outer, inner = _END.get(), None if timeout is None else (monotonic() + timeout, timeout)
    token = _END.set(min((each for each in (outer, inner) if each is not None), default=None))
    try:
        yield
    finally:
        _END.reset(token)


def has_time_limit() -> bool:
    """Return whether the work of this thread has a time limit."""
    return _END.get() is not None


def check_time() -> None:
    """Raise `TimeoutReached` if the time is over, but only once: what was found until then may still be used."""
    end = _END.get()
    if end is not None and monotonic() >= end[0]:
        _END.set(None)
        raise TimeoutReached(
            f"the work was not finished after {end[1]:g} seconds; raise the timeout, or leave it out", timeout=end[1]
        )
