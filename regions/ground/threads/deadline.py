# SPDX-License-Identifier: MIT
"""When must a call end?

At its timeout. The moment is kept for the thread that calls, and holds for all work inside `time_limit`. Work that
takes long reports its progress a few times a second, and every report checks the moment (`reporting` in `progress.py`).
Loops in Python that do not report call `check_time`. Steps of walks through a network call `check_time_of_call`,
because a command must still print and draw what was found. If regions have been found and later work in the call takes
too long, the exception has the regions (`keep_partial`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import Any

from regions.errors import TimeoutReached

__all__ = [
    "Moment",
    "call_with_time_limit",
    "check_time",
    "check_time_of_call",
    "end_after",
    "keep_partial",
    "present_end",
    "short_work",
    "time_limit",
    "until",
    "with_limit_of_caller",
]


@dataclass
class Moment:
    """When work must end, the seconds that were given, and the last result inside the call."""

    moment: float
    timeout: float
    partial: Any = None


_END: ContextVar[Moment | None] = ContextVar("end", default=None)
# Returns when the work of this thread must end, or None. Not a function in Python, because walks ask at each step.
present_end = _END.get
_IN_CALL: ContextVar[bool] = ContextVar("in_call", default=False)


@contextmanager
def time_limit(timeout: float | None) -> Iterator[None]:
    """Let the work inside raise `TimeoutReached` once it has taken this many seconds; None changes nothing."""
    with until(end_after(timeout)):
        yield


def end_after(timeout: float | None) -> Moment | None:
    """Return the moment after this many seconds, for `until`."""
    return None if timeout is None else Moment(monotonic() + timeout, timeout)


@contextmanager
def until(end: Moment | None) -> Iterator[None]:
    """Let the work inside raise `TimeoutReached` at this moment; None changes nothing."""
    token = _END.set(_sooner(end))
    try:
        yield
    finally:
        _END.reset(token)


def _sooner(end: Moment | None) -> Moment | None:
    present = _END.get()
    return present if end is None or (present is not None and present.moment <= end.moment) else end


class call_with_time_limit:
    """As `time_limit`, for a call of a public function: a class, because a generator would cost a microsecond more."""

    def __init__(self, timeout: float | None) -> None:
        self.end = _sooner(end_after(timeout))

    def __enter__(self) -> None:
        self.before = _END.set(self.end), _IN_CALL.set(True)

    def __exit__(self, *error: object) -> None:
        end, in_call = self.before
        _END.reset(end)
        _IN_CALL.reset(in_call)


@contextmanager
def short_work() -> Iterator[None]:
    """Let walks through a network inside not check the time: they take a moment, and their result is always wanted."""
    token = _IN_CALL.set(False)
    try:
        yield
    finally:
        _IN_CALL.reset(token)


def with_limit_of_caller(work: Callable[[], None]) -> Callable[[], None]:
    """Return work for another thread, which does not inherit the time limit of the thread that starts it."""
    end, in_call = _END.get(), _IN_CALL.get()

    def run() -> None:
        _END.set(end)
        _IN_CALL.set(in_call)
        work()

    return run


def keep_partial(partial: Any) -> None:
    """Remember a result, which the exception has if the time is over before the call ends."""
    end = _END.get()
    if end is not None:
        end.partial = partial


def check_time() -> None:
    """Raise `TimeoutReached` if the time is over, but only once: what was found until then may still be used."""
    end = _END.get()
    if end is not None and monotonic() >= end.moment:
        _END.set(None)
        error = TimeoutReached(
            f"the work was not finished after {end.timeout:g} seconds; raise the timeout, or leave it out",
            timeout=end.timeout,
        )
        error.partial = end.partial
        raise error


def check_time_of_call() -> None:
    """Check the time, but not while a command uses the results of a call."""
    if _IN_CALL.get():
        check_time()
