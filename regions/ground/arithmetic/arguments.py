# SPDX-License-Identifier: MIT
"""Which arguments are accepted, if they are not arrays?

Numbers become Python ints and floats, words str, paths `Path`. Anything else raises an error that names the argument:
`TypeError` for a wrong type, `ValueError` for a number, word or length out of range. `arrays.py` does the same for
arrays.
Invariant: for any object, these functions return or raise an error with a short message of our own. An object's repr
may raise an exception, and its items may be endless; both are handled.
Networks, domains and partitions are checked where they are defined (`require_network`, ..).
"""

from __future__ import annotations

import os
import reprlib
import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import islice
from math import isfinite
from operator import index
from pathlib import Path
from typing import Any, Literal, TypeVar
from unicodedata import category

import numpy as np

from regions.ground.text.printable import LONGEST_ITEM, printable

__all__ = [
    "MOST_ITEMS",
    "MOST_SAMPLES",
    "SPACES",
    "Workers",
    "drawable",
    "flag",
    "generator",
    "integer",
    "integers",
    "is_sequence",
    "list_of",
    "number",
    "number_of_workers",
    "one_of",
    "path_of",
    "positive",
    "real",
    "samples",
    "seconds",
    "shown",
    "tuple_of",
    "word",
]

Word = TypeVar("Word", bound=str)

# The space of points, or of the arguments of maps.
SPACES = ("chart", "input")
# Most items of a sequence, and most units, inputs or layers that a number may ask for. No network has more; a longer
# sequence is taken for endless.
MOST_ITEMS = 1_000_000
# At one number each, this is a gigabyte.
MOST_SAMPLES = 100_000_000
# Type of ``workers=``, and the largest number of threads.
Workers = int | Literal["all"] | None
MOST_WORKERS = 1024

_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = _short.maxdict = _short.maxset = _short.maxfrozenset = 4
_short.maxlevel, _short.maxlong, _short.maxstring, _short.maxother = 3, 40, 60, LONGEST_ITEM


def shown(value: Any) -> str:
    """Return a value as text for a message: on one line, printable and short, for any object.

    Examples
    --------
    >>> shown("two\\nlines"), shown(10**5000), shown([1.5] * 100)
    ("'two\\\\nlines'", 'an int of 16610 bits', '[1.5, 1.5, 1.5, 1.5, ...]')
    """
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an int of {value.bit_length()} bits"
    try:
        with np.printoptions(threshold=8, edgeitems=2):
            text = " ".join(_short.repr(value).split())
    except Exception:  # a class's own repr may fail in any way
        return f"an object of type {type(value).__name__}"
    return printable(text)


def integer(value: Any, name: str, *, least: int = 1, most: int = MOST_ITEMS) -> int:
    """Return an int from ``least`` to ``most``; bools and floats are refused, numpy's integers are accepted.

    Examples
    --------
    >>> integer(3, "n_in")
    3
    >>> integer(2.0, "n_in")
    Traceback (most recent call last):
    TypeError: n_in must be an integer, got 2.0
    """
    # Arrays of one integer have an index as well, and are refused.
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        result = _index_of_scalar(value)
        if result is None:
            raise TypeError(f"{name} must be an integer, got {shown(value)}")
    else:
        result = int(value)
    if result < least:
        raise ValueError(f"{name} must be at least {least}, got {shown(result)}")
    if result > most:
        raise ValueError(f"{name} must be at most {most:,}, got {shown(result)}")
    return result


def _index_of_scalar(value: Any) -> int | None:
    """Return the index of other integer scalars, such as tensors and arrays without axes; None if it has none."""
    try:
        if isinstance(value, (bool, np.bool_)) or getattr(value, "ndim", 0) != 0:
            return None
        if "bool" in str(getattr(value, "dtype", "")):
            return None
        return int(index(value))
    except Exception:
        return None


def is_sequence(value: Any) -> bool:
    """Return whether a value has items; arrays without axes are single numbers."""
    try:
        return isinstance(value, Iterable) and getattr(value, "ndim", 1) != 0
    except Exception:
        return False


def flag(value: Any, name: str) -> bool:
    """Return a bool; words, numbers and arrays are refused, whatever their truth value."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def real(value: Any, name: str) -> float:
    """Return a finite float; words and arrays with axes are refused."""
    try:
        if isinstance(value, (bool, np.bool_, str, bytes)) or getattr(value, "ndim", 0) != 0:
            raise TypeError
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy would take the real part of complex numbers
            result = float(value.detach() if hasattr(value, "detach") else value)
    except Exception:
        raise TypeError(f"{name} must be a number, got {shown(value)}") from None
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


def seconds(value: Any, name: str) -> float | None:
    """Return a finite float of at least 0, or None."""
    return None if value is None else number(value, name)


def word(value: Any, name: str) -> str:
    """Return a str; messages show it with `printable`."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, got {shown(value)}")
    return str(value)


def drawable(value: Any, name: str) -> str:
    """Return a str that a picture can show: without control characters and lone surrogates.

    Examples
    --------
    >>> drawable("a\x1b", "title")
    Traceback (most recent call last):
    ValueError: title has characters that cannot be drawn: 'a\\x1b'
    """
    text = word(value, name)
    if any(category(character) in ("Cc", "Cs") and character != "\n" for character in text):
        raise ValueError(f"{name} has characters that cannot be drawn: {shown(text)}")
    return text


def one_of(value: Any, choices: Sequence[Word], name: str) -> Word:
    """Return one of the given words."""
    if isinstance(value, str) and value in choices:
        return choices[choices.index(value)]
    raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, got {shown(value)}")


def list_of(values: Any, name: str, what: str) -> list[Any]:
    """Return the items of an iterable, up to `MOST_ITEMS`; ``what`` says what it should be.

    Strings, mappings and sets (whose items have no order) are refused.
    """
    if not isinstance(values, (list, tuple)) and isinstance(values, (str, bytes, Mapping, Set)):
        raise TypeError(f"{name} must be {what}, got {shown(values)}")
    try:
        iterator = iter(values)
    except Exception:
        raise TypeError(f"{name} must be {what}, got {shown(values)}") from None
    items = list(islice(iterator, MOST_ITEMS + 1))
    if len(items) > MOST_ITEMS:
        raise ValueError(f"{name} must be {what}, got more than {MOST_ITEMS:,} items: {shown(values)}")
    return items


def tuple_of(values: Any, name: str) -> tuple[Any, ...]:
    """Return the items of a non-empty sequence, as `list_of` does."""
    items = tuple(list_of(values, name, "a sequence of numbers"))
    if not items:
        raise ValueError(f"{name} is empty, at least one entry is needed")
    return items


def integers(values: Any, name: str, *, least: int = 1) -> tuple[int, ...]:
    """Return the items of a non-empty sequence, each checked by `integer`."""
    return tuple([integer(item, f"{name}[{i}]", least=least) for i, item in enumerate(tuple_of(values, name))])


def path_of(value: Any, name: str = "path") -> Path:
    """Return a path; numbers, which `open` would take for file descriptors, are refused."""
    try:
        text = os.fsdecode(value)
    except Exception:
        raise TypeError(f"{name} must be a str or a path, got {shown(value)}") from None
    try:
        os.fsencode(text)
    except ValueError:
        raise ValueError(f"{name} is not a name that a file can have: {shown(text)}") from None
    if "\0" in text or not text:
        raise ValueError(f"{name} is not a name that a file can have: {shown(text)}")
    return Path(text)


def samples(value: Any, name: str) -> int:
    """Return a number of samples, at least two, because one sample has no standard error."""
    return integer(value, name, least=2, most=MOST_SAMPLES)


def generator(rng: Any) -> np.random.Generator:
    """Return a generator of random numbers: the caller's own, which is advanced, or a new one from a seed.

    Legacy random states and None are refused, so that every draw can be repeated.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if _index_of_scalar(rng) is None:
        raise TypeError(f"rng must be a seed or a numpy.random.Generator, got {shown(rng)}")
    return np.random.default_rng(integer(rng, "rng", least=0, most=2**128))


def number_of_workers(workers: Workers | str) -> int:
    """Return the number of threads; None stands for the environment's ``REGIONS_WORKERS``, or 1."""
    if isinstance(workers, str) and workers == "all":
        return _cores()
    if workers is not None:
        try:
            return integer(workers, "workers", most=MOST_WORKERS)
        except (TypeError, ValueError) as error:
            raise type(error)(f'{error}; workers="all" takes one for each processor') from None
    word = os.environ.get("REGIONS_WORKERS")
    if not word:
        return 1
    if word == "all":
        return _cores()
    if not word.isascii() or not word.isdigit():
        raise ValueError(f'REGIONS_WORKERS must be a number of threads or "all", got {word!r}')
    if len(word := word.lstrip("0") or "0") > 9:
        raise ValueError(f"REGIONS_WORKERS must be at most {MOST_WORKERS:,}, got a number of {len(word)} digits")
    return integer(int(word), "REGIONS_WORKERS", most=MOST_WORKERS)


def _cores() -> int:
    """Return the number of processors that this process may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_WORKERS)
