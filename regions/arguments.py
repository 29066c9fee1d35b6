# SPDX-License-Identifier: MIT
"""Which single arguments are accepted?

Numbers come out as Python ints and floats, or are refused by name, and so is what should be a network or a domain.
What is of another type is a mistake in the calling code (`TypeError`); a number, a word or a length out of its range is
a `ValueError`. For arrays there is `arrays.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from operator import index
from typing import Any

import numpy as np

from regions.domains import Domain
from regions.errors import ShapeMismatchError
from regions.network import Network

__all__ = ["checked_domain", "checked_network", "flag", "integer", "number", "one_of", "positive", "real", "tuple_of"]


def integer(value: Any, name: str, *, least: int = 1) -> int:
    """Return an int that is at least ``least``; bools and floats are no integers, numpy's integers are.

    Examples
    --------
    >>> integer(3, "n_in")
    3
    >>> integer(2.0, "n_in")
    Traceback (most recent call last):
    TypeError: n_in must be an integer, got 2.0
    """
    if isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        result = index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if result < least:
        raise ValueError(f"{name} must be at least {least}, got {result}")
    return result


def flag(value: Any, name: str) -> bool:
    """Return a bool; words, numbers and arrays are none, however they would count in an ``if``."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def real(value: Any, name: str) -> float:
    """Return a finite float."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        result = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not isfinite(result):
        raise ValueError(f"{name} must be a finite number, got {result!r}")
    return result


def number(value: Any, name: str) -> float:
    """Return a finite float of at least 0."""
    result = real(value, name)
    if result < 0.0:
        raise ValueError(f"{name} must be at least 0, got {result!r}")
    return result


def positive(value: Any, name: str) -> float:
    """Return a finite float above 0."""
    result = real(value, name)
    if result <= 0.0:
        raise ValueError(f"{name} must be above 0, got {result!r}")
    return result


def one_of(value: Any, choices: Sequence[str], name: str) -> str:
    """Return one of the given words."""
    for choice in choices:
        if value == choice:
            return choice
    raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")


def tuple_of(values: Any, name: str) -> tuple[Any, ...]:
    """Return the items of a sequence that is not empty and not a string; the items of a set have no order."""
    if isinstance(values, (str, bytes, dict, set, frozenset)) or not isinstance(values, Iterable):
        raise TypeError(f"{name} must be a sequence of numbers, got {values!r}")
    items = tuple(values)
    if not items:
        raise ValueError(f"{name} is empty, at least one entry is needed")
    return items


def checked_network(network: Any) -> Network:
    """Refuse what is no network."""
    if not isinstance(network, Network):
        raise TypeError(
            f"expected a regions.Network, got {type(network).__name__}: make one with regions.load(...) "
            "or regions.Network([(W0, b0), ...])"
        )
    return network


def checked_domain(domain: Any, network: Network) -> Domain:
    """Refuse what is no domain in the input space of a network."""
    if not isinstance(domain, Domain):
        raise TypeError(
            f"expected a domain such as regions.Segment or regions.Polygon, got {type(domain).__name__}"
        )
    if domain.n_in != network.n_in:
        raise ShapeMismatchError(
            f"the domain lies in a space of {domain.n_in} dimensions, the network takes {network.n_in} inputs"
        )
    return domain
