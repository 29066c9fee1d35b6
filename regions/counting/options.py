# SPDX-License-Identifier: MIT
"""How does a call want its work done?

The public functions that count and enumerate share these options. `asked` checks them once, and all functions below get
one `Options`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from inspect import signature
from os import PathLike
from typing import Any, ParamSpec, TypeVar

from regions.core import NO_LIMIT
from regions.ground.arithmetic.arguments import Workers, integer, number_of_workers, seconds
from regions.ground.arithmetic.keywords import explained
from regions.ground.threads.deadline import call_with_time_limit
from regions.ground.threads.progress import Report, share_of

__all__ = ["NO_OPTIONS", "Options", "asked", "checked_limit", "takes_timeout"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Options:
    """The options of a call.

    Attributes
    ----------
    limit : int or None
        The largest number of regions that may be found.
    report : callable or None
        Is called with the progress fraction and the number of regions found so far.
    threads : int
    executor : concurrent.futures.Executor, dask.distributed.Client or None
        Runs the work in tasks.
    checkpoint : path or None
        The folder where finished tasks are saved.
    """

    limit: int | None = None
    report: Report | None = None
    threads: int = 1
    executor: Any = None
    checkpoint: str | PathLike[str] | None = None

    def part(self, index: int, total: int) -> Options:
        """Return the options of one of several parts of the work, whose progress is a fraction of the whole."""
        return self if self.report is None else replace(self, report=share_of(self.report, index, total))


NO_OPTIONS = Options()


def asked(
    limit: int | None,
    report: Report | None,
    workers: Workers = None,
    executor: Any = None,
    checkpoint: str | PathLike[str] | None = None,
) -> Options:
    """Check the options of a public function."""
    return Options(checked_limit(limit), report, number_of_workers(workers), executor, checkpoint)


def checked_limit(limit: int | None) -> int | None:
    """Return a limit as an int that the core takes."""
    if limit is None:
        return None
    return min(integer(limit, "limit", least=0, most=2**1000), NO_LIMIT)


def takes_timeout(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function with the keyword argument ``timeout`` raise `TimeoutReached` after this many seconds.

    The function itself does not use the argument: all work inside the call checks the time.
    """
    names = list(signature(function).parameters)

    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        if "seed" in kwargs and "rng" in names and "rng" not in kwargs:
            kwargs["rng"] = kwargs.pop("seed")
        try:
            with call_with_time_limit(seconds(kwargs.get("timeout"), "timeout")):
                return function(*args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:  # the call began
                raise
            message = explained(error, names)
        raise TypeError(message)

    return call
