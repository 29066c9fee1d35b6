# SPDX-License-Identifier: MIT
"""How well is the graph of regions connected?

A set of regions has a volume, the number of facets of its regions that lead to a neighbour, and a cut, the number of
facets between it and the rest. The conductance of the graph is the least cut per volume, over all sets with at most
half of the volume; it is hard to compute. The spectral gap is the second smallest eigenvalue g of the normalised
Laplacian I - D^(-1/2) A D^(-1/2), where A is the adjacency and D has the degrees. By Cheeger's inequality
g / 2 <= conductance <= sqrt(2 g). Sorting the regions by the eigenvector and cutting in between gives a set with a
small cut: its cut and volume are integers, so its conductance is exact, and an upper bound.
In a plane the graph is planar, so a wide network has a small gap: graphs of planes do not expand.
Cost: one factorisation of a sparse matrix with as many rows as there are regions, and a sort.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from regions.ground.arithmetic.arrays import read_only
from regions.ground.arithmetic.types import Bits, Floats
from regions.ground.text.tables import facts_table
from regions.measures.region_graph import degrees
from regions.results.partition import Partition, require_complete

__all__ = ["Expansion", "expansion"]

# With fewer regions all eigenvalues are computed.
DENSE = 400


@dataclass(frozen=True, eq=False, repr=False)
class Expansion:
    """How well the graph of regions is connected; returned by `expansion`.

    Attributes
    ----------
    partition : Partition
    spectral_gap : float
        The second smallest eigenvalue of the normalised Laplacian, from 0 to 2, computed in floating point.
    conductance : fractions.Fraction
        The conductance of ``part``, exactly: an upper bound on the conductance of the graph. ``spectral_gap / 2`` is a
        lower bound, up to rounding.
    part : bool [R]
        The regions of a set with this conductance, and at most half of the volume.
    """

    partition: Partition = field(repr=False)
    spectral_gap: float
    conductance: Fraction
    part: Bits

    def _repr_html_(self) -> str:
        facts = [
            ("spectral gap", f"{self.spectral_gap:.6g}"),
            ("conductance", f"at most {float(self.conductance):.6g}, at least {self.spectral_gap / 2:.6g}"),
            ("regions on one side", f"{int(self.part.sum()):,} of {len(self.part):,}"),
        ]
        return facts_table(repr(self), facts)

    def __repr__(self) -> str:
        return f"Expansion(spectral gap {self.spectral_gap:.6g}, conductance at most {self.conductance})"


def expansion(partition: Partition) -> Expansion:
    """Return the spectral gap of the graph of regions, and an upper bound on its conductance.

    Parameters
    ----------
    partition : Partition
        With at least two regions.

    Returns
    -------
    Expansion

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one; a single region, which has no neighbours.

    References
    ----------
    Chung, Spectral graph theory, 1997, chapter 2, with Cheeger's inequality.

    Examples
    --------
    Four quadrants are a cycle: any two neighbours have a cut of 2, and a volume of 4.

    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> found = expansion(regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])))
    >>> found
    Expansion(spectral gap 1, conductance at most 1/2)
    """
    require_complete(partition)
    if len(partition) < 2:
        raise ValueError("this partition has a single region, whose graph has no spectral gap and no conductance")
    volumes = degrees(partition)
    gap, vector = _second_eigenvalue(partition, volumes.astype(np.float64))
    order = np.argsort(vector / np.sqrt(volumes), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    pairs = partition.facet_regions[partition.facet_regions[:, 1] >= 0]
    low, high = np.sort(rank[pairs], axis=1).T
    # A facet is cut by every set that begins the order, and ends between its two regions.
    cuts = np.cumsum(np.bincount(low, minlength=len(order)) - np.bincount(high, minlength=len(order)))[:-1]
    below = np.cumsum(volumes[order])[:-1]
    smaller = np.minimum(below, int(volumes.sum()) - below)
    best = min(range(len(cuts)), key=lambda k: Fraction(int(cuts[k]), int(smaller[k])))
    part = rank <= best
    if below[best] > smaller[best]:
        part = ~part
    return Expansion(partition, gap, Fraction(int(cuts[best]), int(smaller[best])), read_only(part))


def _second_eigenvalue(partition: Partition, volumes: Floats) -> tuple[float, Floats]:
    """Return the second smallest eigenvalue of the normalised Laplacian, and an eigenvector."""
    from scipy.sparse import diags_array, eye_array
    from scipy.sparse.linalg import eigsh

    shrunk = diags_array(1 / np.sqrt(volumes))
    adjacency = partition.adjacency.astype(np.float64)
    adjacency.data[:] = 1.0
    laplacian = eye_array(len(volumes)) - shrunk @ adjacency @ shrunk
    if len(volumes) <= DENSE:
        values, vectors = np.linalg.eigh(laplacian.toarray())
    else:
        # Near 0 by shifting below it; the first vector fixes the result.
        start = np.random.default_rng(0).standard_normal(len(volumes))
        values, vectors = eigsh(laplacian.tocsc(), k=2, sigma=-1e-3, which="LM", v0=start)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    return float(values[1]), vectors[:, 1]
