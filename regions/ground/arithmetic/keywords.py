# SPDX-License-Identifier: MIT
"""What does a call say to an argument that does not exist, and which other words does it understand?

Python itself names the argument. A function with `helped` also names the argument that was probably meant: one of
similar letters, or the one that other libraries call so. ``seed`` is understood in place of ``rng``.
Cost: none, unless the call fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

__all__ = ["explained", "helped"]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# What arguments are called in numpy, scikit-learn, torch, tqdm and others.
ELSEWHERE = {
    "n_jobs": "workers",
    "n_workers": "workers",
    "num_workers": "workers",
    "threads": "workers",
    "processes": "workers",
    "pool": "executor",
    "client": "executor",
    "verbose": "progress",
    "tqdm": "progress",
    "seed": "rng",
    "random_state": "rng",
    "generator": "rng",
    "max_regions": "limit",
    "time_limit": "timeout",
    "chunksize": "regions_per_block",
    "cache": "checkpoint",
}
UNEXPECTED = re.compile(r"(\S+\(\)) got an unexpected keyword argument '(.*)'")


def helped(advice: str = "") -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """Let a function name the argument that was meant, and take ``seed`` in place of ``rng``.

    ``advice`` is added if an argument is missing.

    Examples
    --------
    >>> @helped("draw(0) repeats a draw.")
    ... def draw(rng, *, workers=None):
    ...     return rng
    >>> draw(seed=3)
    3
    >>> draw(0, n_jobs=2)
    Traceback (most recent call last):
    TypeError: draw() got an unexpected keyword argument 'n_jobs'. Did you mean 'workers'?
    >>> draw()
    Traceback (most recent call last):
    TypeError: draw() missing 1 required positional argument: 'rng'. draw(0) repeats a draw.
    """

    def wrapped(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        names = [name for name in signature(function).parameters if name != "self"]

        @wraps(function)
        def call(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            if "seed" in kwargs and "rng" in names and "rng" not in kwargs:
                kwargs["rng"] = kwargs.pop("seed")
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                found = error.__traceback__
                if found is None or found.tb_next is not None:  # the call began
                    raise
                message = explained(error, names, advice)
            raise TypeError(message)

        return call

    return wrapped


def explained(error: TypeError, names: list[str], advice: str = "") -> str:
    """Return the message of a call that did not begin, with the argument that was meant."""
    unexpected = UNEXPECTED.search(str(error))
    if unexpected is None:
        return f"{error}. {advice}" if advice else str(error)
    word: Any = ELSEWHERE.get(unexpected[2])
    near = [word] if word in names else get_close_matches(unexpected[2], names, 1)
    meant = f"Did you mean {near[0]!r}?" if near else f"It takes {', '.join(names)}."
    return f"{unexpected[0]}. {meant}"
