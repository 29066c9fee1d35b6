# SPDX-License-Identifier: MIT
"""How do public functions take ``timeout=``?

By a decorator, which lets all work inside the call end at that moment (`regions/threads/deadline.py`). The function
itself does not use the argument; it only names it, for its signature and its documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from regions.arithmetic.arguments import seconds
from regions.threads.deadline import time_limit

__all__ = ["takes_timeout"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def takes_timeout(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Let a function with the keyword argument ``timeout`` raise `TimeoutReached` after this many seconds."""

    @wraps(function)
    def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        with time_limit(seconds(kwargs.get("timeout"), "timeout")):
            return function(*args, **kwargs)

    return call
