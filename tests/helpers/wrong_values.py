# SPDX-License-Identifier: MIT
"""Which values are wrong for most parameters?

They have names, and are made for each call, because generators run out and arrays may be written to. For most
parameters all of them are wrong; `public_callables.py` lists exceptions by kind.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import importlib.util
import pathlib
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

import regions


def _nested(depth: int) -> list[Any]:
    result: list[Any] = []
    for _ in range(depth):
        result = [result]
    return result


def _own() -> list[Any]:
    result: list[Any] = []
    result.append(result)
    return result


class _Hostile:
    """An object that raises its own error for every operation."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __float__ = __index__ = __len__ = __iter__ = __bool__ = __eq__ = __hash__ = __repr__  # type: ignore[assignment]


def _tensor() -> Any:
    import torch

    return torch.ones(3, 2, requires_grad=True)


def _meta_tensor() -> Any:
    import torch

    return torch.ones(2, device="meta")


def _other_network() -> regions.Network:
    return regions.Network([(np.eye(3), None), (np.eye(3), None)])


def _other_domain() -> regions.Domain:
    return regions.Segment([0.0, 0.0, 0.0], [1.0, 1.0, 1.0])


_OF_TORCH = {"tensor": _tensor, "meta tensor": _meta_tensor} if importlib.util.find_spec("torch") else {}

WRONG: Mapping[str, Callable[[], Any]] = MappingProxyType(
    {
        "None": lambda: None,
        "not implemented": lambda: NotImplemented,
        "ellipsis": lambda: ...,
        "word": lambda: "no such word",
        "empty word": lambda: "",
        "control characters": lambda: "\x1b[2J\x00\r\n",
        "lone surrogate": lambda: "\ud800",
        "long word": lambda: "x" * 100_000,
        "numpy word": lambda: np.str_("relu?"),
        "bytes": lambda: b"\xff\x00",
        "half": lambda: 0.5,
        "two and a half": lambda: 2.5,
        "minus one": lambda: -1,
        "minus a half": lambda: -0.5,
        "zero": lambda: 0,
        "zero float": lambda: 0.0,
        "nan": lambda: float("nan"),
        "inf": lambda: float("inf"),
        "-inf": lambda: float("-inf"),
        "huge int": lambda: 10**30,
        "vast int": lambda: 10**5000,
        "2**63": lambda: 2**63,
        "2**40": lambda: 2**40,
        "large float": lambda: 1e308,
        "small float": lambda: 5e-324,
        "True": lambda: True,
        "numpy bool": lambda: np.True_,
        "complex": lambda: 1j,
        "decimal": lambda: decimal.Decimal("NaN"),
        "fraction": lambda: fractions.Fraction(10**400, 3),
        "numpy int": lambda: np.int8(3),
        "numpy float": lambda: np.float32(2.5),
        "numpy nan": lambda: np.float64("nan"),
        "numpy date": lambda: np.datetime64("2020-01-01"),
        "date": lambda: datetime.date(2020, 1, 1),
        "empty list": lambda: [],
        "empty tuple": lambda: (),
        "list of None": lambda: [None, None],
        "list of words": lambda: ["relu", "relu"],
        "list of lists": lambda: [[1.0, 2.0], [3.0, 4.0]],
        "ragged list": lambda: [[1.0, 2.0], [3.0]],
        "list of nan": lambda: [float("nan"), 1.0],
        "list of inf": lambda: [float("inf"), 1.0],
        "list of negative": lambda: [-1, -2],
        "list of zeros": lambda: [0, 0],
        "list of huge": lambda: [10**30, 10**30],
        "list of vast": lambda: [10**5000],
        "list of large floats": lambda: [1e308, 1e308],
        "list of bools": lambda: [True, False],
        "list of objects": lambda: [object(), object()],
        "list of hostile": lambda: [_Hostile(), _Hostile()],
        "list of dicts": lambda: [{}, {}],
        "one pair": lambda: [(0, 1)],
        "one bad pair": lambda: [(0, 99)],
        "own member": _own,
        "deeply nested": lambda: _nested(5000),
        "empty array": lambda: np.zeros(0),
        "array without rows": lambda: np.zeros((0, 2)),
        "array without columns": lambda: np.zeros((3, 0)),
        "0-d array": lambda: np.array(1.5),
        "0-d object array": lambda: np.array(None),
        "3-d array": lambda: np.ones((2, 3, 4)),
        "wide array": lambda: np.ones((2, 7)),
        "array of nan": lambda: np.full((2, 2), np.nan),
        "array of words": lambda: np.array(["relu", "relu"]),
        "array of objects": lambda: np.array([None, "x"], dtype=object),
        "complex array": lambda: np.array([1j, 2.0]),
        "long double array": lambda: np.ones(2, dtype=np.longdouble),
        "bool array": lambda: np.ones((2, 2), dtype=bool),
        "int array": lambda: np.array([5, -7]),
        "masked array": lambda: np.ma.array([1.0, 2.0], mask=[False, True]),
        "masked constant": lambda: np.ma.masked,
        "structured array": lambda: np.zeros(2, dtype=[("a", "f8"), ("b", "i4")]),
        "array of dates": lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
        "big-endian array": lambda: np.array([1.0, 2.0], dtype=">f8"),
        "dict": lambda: {},
        "dict of numbers": lambda: {0: 1.0, 1: 2.0},
        "counter": lambda: collections.Counter("ab"),
        "set": lambda: {1, 2},
        "frozen set": lambda: frozenset({"relu"}),
        "range": lambda: range(2, 5),
        "endless range": lambda: range(sys.maxsize),
        "generator": lambda: (number for number in (1.0, 2.0)),
        "empty generator": lambda: iter(()),
        "module": lambda: regions,
        "class": lambda: regions.Network,
        "function": lambda: len,
        "object": object,
        "hostile object": _Hostile,
        "exception": lambda: ValueError("x"),
        "path": lambda: pathlib.Path("no such folder") / "no such file",
        "other network": _other_network,
        "other domain": _other_domain,
        "other partition": lambda: regions.enumerate(_other_network(), _other_domain()),
        "partial partition": lambda: partial_partition(),
        "random state": lambda: np.random.RandomState(0),
        **_OF_TORCH,
    }
)


def partial_partition() -> regions.Partition:
    """Some regions of a network, after the enumeration was stopped."""
    network = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    try:
        regions.enumerate(network, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]), limit=2)
    except regions.LimitReached as stopped:
        partition: regions.Partition = stopped.partial
        return partition
    raise AssertionError("the limit did not stop it")
