# SPDX-License-Identifier: MIT
"""Does the search for extremes find what an enumeration of all regions finds?

`difference_of` compares values and places in fractions, of each form, and of all forms together as for margins.
`with_small_blocks` lets small networks need several passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import numpy as np

from regions import Domain, Network
from regions.answers import extreme_regions
from regions.answers.extreme_values import Target
from regions.answers.extremes import Extremes, extremes_of, extremes_on
from regions.answers.legs import values_on_legs
from regions.answers.targets import reached_in, reached_on
from regions.counting.options import Options
from regions.networks.parts import with_forms

__all__ = ["difference_of", "some_forms", "with_small_blocks"]


@contextmanager
def with_small_blocks(few: int = 1, blocks: tuple[int, ...] = (2, 8)) -> Iterator[None]:
    """Enumerate only domains with at most ``few`` regions, and search in blocks of these sizes."""
    changed: dict[str, Any] = {"FEW": few, "FEW_IN_BOXES": few, "SMALL": 0, "SMALL_IN_BOXES": 0, "BLOCKS": blocks}
    changed |= {"SHARE": 0.0, "LEAST_CELLS": 24, "MOST_REGIONS": few}
    before = {name: getattr(extreme_regions, name) for name in changed}
    try:
        for name, value in changed.items():
            setattr(extreme_regions, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(extreme_regions, name, value)


def some_forms(network: Network, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return forms of outputs: the outputs themselves, or others."""
    if rng.random() < 0.5:
        return np.eye(network.n_out)
    return rng.integers(-2, 3, (int(rng.integers(1, 4)), network.n_out)).astype(np.float64)


def difference_of(
    network: Network, domain: Domain, forms: np.ndarray[Any, Any], threads: int = 1
) -> tuple[str, Extremes]:
    """Return the first difference between a search and an enumeration, or "", and what the search found."""
    graph = with_forms(network.graph, forms)
    found = extremes_on(network, graph, domain, forms, Options(threads=threads))
    every = extremes_of(domain, values_on_legs(network, graph, domain), forms)
    for name in ("_least", "_greatest"):
        pairs = zip(getattr(found, name), getattr(every, name), strict=True)
        for output, (one, other) in enumerate(pairs):
            if one.value != other.value:
                return f"{name[1:]} value of form {output}: {one.value}, not {other.value}", found
            if one.point != other.point:
                return f"{name[1:]} point of form {output}: {one.point}, not {other.point}", found
            value, error = (0.0, 0.0) if one.value is None else one.rounded
            if one.value is not None and np.isfinite(error) and abs(Fraction(value) - one.value) > Fraction(error):
                return f"{name[1:]} error of form {output}: {error}", found
    for sign in (-1, 1):
        target = [Target(sign, tuple(range(len(forms))))]
        (one,) = reached_on(network, graph, domain, target, Options(threads=threads)).values
        (other,) = reached_in(values_on_legs(network, graph, domain), target).values
        if (one.value, one.point, one.output) != (other.value, other.point, other.output):
            return f"all forms, sign {sign}: {one.value} at {one.point}, not {other.value} at {other.point}", found
    for name in ("argmin_regions", "argmax_regions"):
        if (getattr(found, name) != getattr(every, name)).any():
            return f"{name}: {getattr(found, name)}, not {getattr(every, name)}", found
    return "", found
