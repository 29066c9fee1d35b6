# SPDX-License-Identifier: MIT
"""How large is a domain, how large is its boundary, and how are points drawn in it?

The domain is the one region of a network without hidden units. Its facets, and in three and more dimensions its
volume, are measured like those of any region. Points are drawn in simplices that it is divided into.
Cost: microseconds; in six dimensions, a box has 720 simplices, whose volumes take some tenths of a second.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from regions.counting.count_and_enumerate import enumerate
from regions.domains import Box, Domain
from regions.domains.gram import determinant
from regions.ground.arithmetic.types import Floats
from regions.networks.network import Network
from regions.results.cells.pulling import pulled
from regions.results.partition import Partition

__all__ = ["domain_volume", "one_region", "uniform_points"]


@lru_cache(maxsize=8)
def one_region(domain: Domain) -> Partition:
    """Return the whole domain, in which regions are enumerated, as one region. A report asks for it several times."""
    return enumerate(Network([(np.zeros((1, domain.n_in)), None)]), domain)


def domain_volume(domain: Domain, whole: Partition) -> tuple[float, float]:
    """Return the length, area or volume of a bounded domain, and a bound on its error beyond one rounding.

    A polytope that is not a box has no volume of its own, but the volume of its one region.
    """
    known: float | None = getattr(domain, "volume", None)
    return (float(whole.volumes[0]), float(whole.volume_errors[0])) if known is None else (known, 0.0)


def uniform_points(domain: Domain, count: int, rng: np.random.Generator) -> Floats:
    """Draw independent uniform points of a bounded domain, in input space: float64 [count, n_in].

    A polytope that is not a box may have at most six dimensions.
    """
    if isinstance(domain, Box):
        low, high = domain.ends
        share = rng.random((count, domain.dimension))
        return domain.to_input((1 - share) * low + share * high)
    simplices = _simplices(domain)  # [simplices, d + 1, d]
    chosen = np.zeros(count, dtype=np.int64)
    if domain.dimension > 1:
        # Drawn by their exact volumes, so that thin ones are not lost.
        places = [[[Fraction(x) for x in corner] for corner in simplex] for simplex in simplices.tolist()]
        volumes = [abs(determinant([_minus(end, first) for end in ends])) for first, *ends in places]
        total = sum(volumes)
        chosen = rng.choice(len(volumes), size=count, p=[float(volume / total) for volume in volumes])
    roots = [rng.random((count, 1)) ** (1 / k) for k in range(domain.dimension, 0, -1)]
    inside = simplices[chosen, -1]
    for k, root in zip(range(domain.dimension - 1, -1, -1), reversed(roots), strict=True):
        inside = (1 - root) * simplices[chosen, k] + root * inside
    return domain.to_input(inside)


def _simplices(domain: Domain) -> Floats:
    """Return simplices that a bounded domain is divided into, by their corners: float64 [simplices, d + 1, d]."""
    if domain.dimension > 2:
        whole = one_region(domain)
        return whole.vertices[pulled(whole)[0]]
    corners = domain.generators[:, 1:]
    if domain.dimension == 1:
        return corners[np.newaxis]
    return np.stack([np.broadcast_to(corners[:1], corners[2:].shape), corners[1:-1], corners[2:]], axis=1)


def _minus(end: list[Fraction], start: list[Fraction]) -> list[Fraction]:
    return [a - b for a, b in zip(end, start, strict=True)]
