# SPDX-License-Identifier: MIT
"""Which arguments do the measures accept?

What several of them ask for: partitions that are complete, one of the two boundaries, numbers of samples, a generator
of random numbers. Integers and choices of words are checked as those of the bounds are.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from regions.arithmetic.arguments import integer, one_of, shown
from regions.domains import Domain
from regions.errors import DomainError
from regions.partition import require_partition

# At one number for each, a gigabyte.
MOST_SAMPLES = 100_000_000

__all__ = ["MOST_SAMPLES", "Boundary", "boundary_name", "bounded", "complete", "generator", "samples"]

Boundary = Literal["activation", "gradient"]


def complete(partition: Any) -> None:
    """Refuse what is no partition, and partial results: what is missing would be missing in every measure."""
    require_partition(partition)
    if not partition.complete:
        raise ValueError(
            "this partition is the partial result of an enumeration that was stopped: its measures would be wrong; "
            "enumerate again with a higher limit"
        )


def bounded(domain: Domain, what: str) -> None:
    """Refuse domains without end, for what does not exist there."""
    if not domain.bounded:
        raise DomainError(f"{what} needs a bounded domain, {domain!r} is not; take a segment or a polygon")


def boundary_name(boundary: Any) -> Boundary:
    """Return which boundary is meant."""
    return "gradient" if one_of(boundary, ("activation", "gradient"), "boundary") == "gradient" else "activation"


def samples(value: Any, name: str) -> int:
    """Return a number of samples: at least two, or there is no standard error."""
    return integer(value, name, least=2, most=MOST_SAMPLES)


def generator(rng: Any) -> np.random.Generator:
    """Refuse seeds and legacy random states: the caller owns the generator, and with it the stream of numbers."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be a numpy.random.Generator such as numpy.random.default_rng(0), got {shown(rng)}")
    return rng
