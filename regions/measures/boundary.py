# SPDX-License-Identifier: MIT
"""How much boundary is there, by layer and by neuron?

It is a number of points on a line, a length in a plane, an area in three dimensions, and so on, from the facets of a
partition. The facets, the kinks that switch across each (the bits in which the patterns of its two regions differ), and
the facets where the gradient jumps are exact. The gradient jumps where the affine maps of the two regions differ
(`regions/results/cells/equal_maps.py`), because the network is continuous: this is B_N of Hanin and Rolnick. The other
facets belong to neurons that reach no output there, that cancel, or whose activation does not bend. Sizes of single
facets are rounded (`facet_volumes` of the partition, with bounds), their sums correctly rounded. Strata, on lines and
in planes: a vertex inside the domain is a point of B_{N,2} iff three or more facets of the boundary meet there. With
two facets, the network would be one affine map on each side of them. Two affine maps agree on a line, so the facets are
its halves and the point is an ordinary one of B_{N,1}. For the activation boundary all vertices count, because regions
are strictly convex. Crossings are therefore counted without geometry, exactly. `strata.py` has the strata in three and
more dimensions.
Cost: linear in facets times bytes of a pattern.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from regions.domains.abilities import DENSITIES, require
from regions.errors import NonFiniteError
from regions.files.tabular import Tabular
from regions.ground.arithmetic.arguments import one_of
from regions.ground.arithmetic.roundoff import UP, U
from regions.ground.arithmetic.sums import correct_sum, rounded_sums
from regions.ground.arithmetic.types import Bits, Floats, Integers, Packed
from regions.ground.text.tables import html_table
from regions.measures.strata import strata_beyond_facets
from regions.networks.graph import switched_kinks
from regions.networks.network import Network
from regions.passes.open_paths import bending_kinks, leading_to_outputs
from regions.results.cells.cell_errors import sum_error, sum_errors
from regions.results.cells.complex import cached
from regions.results.partition import Partition, require_complete

# Facets whose patterns are compared at a time.
CHUNK = 1 << 16
# Numbers per temporary array.
NUMBERS = 1 << 20


Boundary = Literal["activation", "gradient"]


@dataclass(frozen=True, eq=False, repr=False)
class BoundaryVolume(Tabular):
    """The size of the boundary between regions: number of points (d = 1), or length, area or volume of d - 1 dimensions
    in input space.

    If several kinks switch across one facet, it counts once in ``total``, once for each of their layers, and in full
    for each of these neurons and kinks. So ``layers``, ``neurons`` and ``kinks`` each add up to ``total`` if no kinks
    coincide, and to more otherwise; ``coincident`` shows by how much at most. For the gradient's boundary, only kinks
    count that bend and are *good*: an open path leads from them to an output, on at least one side of the facet.

    Attributes
    ----------
    partition : Partition
    boundary : "activation" or "gradient"
    total : float
    layers : float64 [hidden layers]
    neurons : float64 [hidden neurons]
        Layer by layer; all breakpoints of a neuron together.
    kinks : float64 [kinks]
        For each pattern bit: for ReLU the same as ``neurons``.
    coincident : float
        The part of ``total`` where at least two of the counted kinks switch together.
    strata : float64 [d]
        Entry k - 1 is the volume of codimension k, B_{N,k}: ``strata[0]`` is the total, and the last one, from planes
        on, the number of vertices of the boundary in the interior of the domain. In three and more dimensions they are
        computed when they are asked for, from all faces of all regions, and rounded.
    total_error, layer_errors, neuron_errors, kink_errors, coincident_error : float or float64, shaped as these
        Proven bounds on the errors of these; 0 for numbers of points, and for endless lengths.
    """

    partition: Partition = field(repr=False)
    boundary: str
    total: float
    layers: Floats
    neurons: Floats
    kinks: Floats
    coincident: float
    total_error: float
    layer_errors: Floats
    neuron_errors: Floats
    kink_errors: Floats
    coincident_error: float

    @cached_property
    def strata(self) -> Floats:
        return np.array([self.total, *lower_strata(self.partition, boundary_facets(self.partition, self.boundary))])

    @property
    def densities(self) -> Floats:
        """Return the strata per length, area or volume of the domain, float64 like ``strata``.

        Raises
        ------
        DomainError, NonFiniteError
            The domain is unbounded; its size, or the boundary's, is not a number above 0 that a double can hold.
        """
        domain = self.partition.domain
        require(DENSITIES, domain)
        known = getattr(domain, "volume", None)
        volume = correct_sum(self.partition.volumes) if known is None else known
        if not (np.isfinite(volume) and volume > 0.0 and np.isfinite(self.strata).all()):
            raise NonFiniteError(f"a density in {domain!r} is beyond what doubles can hold; scale the domain")
        return self.strata / volume

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row for each kink: its layer and its unit there, both from 0, the volume, and a bound on its
        error.
        """
        network = self.partition.network
        numbers = {"layer": network.kink_layers, "unit": network.kink_units}
        columns = numbers | {"volume": self.kinks, "error": self.kink_errors}
        return {name: column.tolist() for name, column in columns.items()}

    def _repr_html_(self) -> str:
        rows = [
            (layer + 1, f"{volume:.6g}", f"{error:.2g}")
            for layer, (volume, error) in enumerate(zip(self.layers, self.layer_errors, strict=True))
        ]
        total = ("all", f"{self.total:.6g}", f"{self.total_error:.2g}")
        return html_table(repr(self), ("layer", "boundary", "error at most"), [*rows, total])

    def __repr__(self) -> str:
        strata = "" if self.partition.dimension > 2 else f", strata {self.strata.tolist()}"
        return f"BoundaryVolume({self.boundary}, {self.total:.6g}{strata})"


def boundary_volume(partition: Partition, boundary: Boundary = "activation") -> BoundaryVolume:
    """Measure the boundary between the regions of a partition inside the domain.

    Parameters
    ----------
    partition : Partition
    boundary : "activation" or "gradient"
        Between activation regions; or only where the gradient of the network jumps, B_N of Hanin and Rolnick: see
        `gradient_jumps`.

    Returns
    -------
    BoundaryVolume
        With infinite lengths if the domain is unbounded.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one; an unknown boundary.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, section 2.2 and equation (5).

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 0.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> boundary_volume(part)
    BoundaryVolume(activation, 4, strata [4.0, 1.0])
    >>> boundary_volume(part, "gradient").neurons, boundary_volume(part).densities
    (array([2., 0.]), array([1.  , 0.25]))
    """
    name = boundary_name(boundary)
    chosen = boundary_facets(partition, name)
    network, volumes, errors = partition.network, partition.facet_volumes, partition.facet_volume_errors
    facets, kinks = switching_kinks(partition)
    counted = chosen[facets] if name == "activation" else chosen[facets] & _bend_the_network(partition, facets, kinks)
    facets, kinks = facets[counted], kinks[counted]
    layers = len(network.widths)
    # A facet counts once for each layer, however many of its kinks switch; kinks of one facet are ascending.
    of_layer = network.kink_layers[kinks]
    repeated = (np.diff(facets, prepend=-1) == 0) & (np.diff(of_layer, prepend=-1) == 0)
    together = np.bincount(facets, minlength=len(chosen)) > 1
    once = facets[~repeated]
    total, total_error = correct_sum(volumes[chosen]), sum_error(volumes[chosen], errors[chosen])
    in_layers = _sums(volumes[once], errors[once], of_layer[~repeated], layers)
    kink_neurons = network.kink_neurons
    in_neurons = _sums(volumes[facets], errors[facets], kink_neurons[kinks], network.hidden)
    alone = np.array_equal(kink_neurons, np.arange(network.hidden))  # each neuron has one kink
    in_kinks = in_neurons if alone else _sums(volumes[facets], errors[facets], kinks, network.kinks)
    return BoundaryVolume(
        partition,
        name,
        total,
        in_layers[0],
        in_neurons[0],
        in_kinks[0].copy(),
        correct_sum(volumes[together]),
        total_error,
        in_layers[1],
        in_neurons[1],
        in_kinks[1].copy(),
        sum_error(volumes[together], errors[together]),
    )


def lower_strata(partition: Partition, chosen: Bits) -> list[float]:
    """Return the volumes of the strata of codimension 2 and more of a boundary, given its facets, bool [F]."""
    if partition.dimension > 2:
        return strata_beyond_facets(partition, chosen)
    return [float((inner_degrees(partition, chosen) >= 3).sum())] if partition.dimension == 2 else []


def boundary_name(boundary: Any) -> Boundary:
    """Return a valid name of a boundary, or refuse it."""
    return "gradient" if one_of(boundary, ("activation", "gradient"), "boundary") == "gradient" else "activation"


def boundary_facets(partition: Partition, boundary: Boundary | str = "activation") -> Bits:
    """Return which facets make up the boundary between regions: bool [F].

    Parameters
    ----------
    partition, boundary
        As for `boundary_volume`.
    """
    if boundary_name(boundary) == "gradient":
        return gradient_jumps(partition)
    require_complete(partition)
    return partition.facet_kinks >= 0


def switching_kinks(partition: Partition) -> tuple[Integers, Integers]:
    """Return all kinks that switch across each facet inside the domain, exactly.

    ``partition.facet_kinks`` names one of them, which is the only one unless kinks coincide.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    facets, kinks : int64 [m]
        Pairs: kink ``kinks[i]`` switches across facet ``facets[i]``. Facets ascend, and the kinks of each. Read-only.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [2.0], [1.0]], [0.0, 0.0, -0.5]), ([[1.0, 1.0, 1.0]], [0.0])])
    >>> facets, kinks = switching_kinks(regions.enumerate(net, regions.Segment([-1.0], [1.0])))
    >>> len(set(facets.tolist())), kinks.tolist()
    (2, [0, 1, 2])
    """
    require_complete(partition)
    return _switching_kinks(partition)


@cached
def _switching_kinks(partition: Partition) -> tuple[Integers, Integers]:
    inside = np.flatnonzero(partition.facet_kinks >= 0)
    rows, kinks = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for start in range(0, len(inside), CHUNK):
        facets = inside[start : start + CHUNK]
        first, second = (partition.packed_patterns[regions] for regions in partition.facet_regions[facets].T)
        differences = first ^ second
        # Nearly always the kink in ``facet_kinks`` is the only one: without its bit the two patterns are equal.
        named = np.minimum(partition.facet_kinks[facets], 8 * differences.shape[1] - 1)  # it need not be a kink at all
        differences[np.arange(len(facets)), named >> 3] ^= np.left_shift(1, named & 7).astype(np.uint8)
        several = np.flatnonzero(differences.any(axis=1))
        alone = np.delete(np.arange(len(facets)), several)
        differences = first[several] ^ second[several]
        row, byte = np.nonzero(differences)
        bits = np.unpackbits(differences[row, byte][:, np.newaxis], axis=1, bitorder="little")
        index, bit = np.nonzero(bits)
        places = np.append(alone, several[row[index]])
        order = np.argsort(places, kind="stable")
        changing = np.append(named[alone], 8 * byte[index] + bit)[order]
        places, changing = switched_kinks(partition.network.graph, places[order], changing)
        rows.append(facets[places])
        kinks.append(changing)
    return np.concatenate(rows), np.concatenate(kinks)


def perimeters(partition: Partition) -> Floats:
    """Return the length of the boundary of each region, float64 [R]; on a line the number of its finite ends, and in
    a box the area or volume of its facets.

    Infinite if the region is unbounded, or the length is beyond the largest double.

    Parameters
    ----------
    partition : Partition

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0]], [0.0]), ([[1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [3, -1], [3, 1], [-1, 1]]))
    >>> sorted(perimeters(part).tolist())
    [6.0, 10.0]
    """
    require_complete(partition)
    with np.errstate(over="ignore"):
        result: Floats = np.add.reduceat(
            partition.facet_volumes[partition.cell_facets], partition.cell_facet_offsets[:-1]
        )
    return result


def perimeter_errors(partition: Partition) -> Floats:
    """Return a proven bound on the error of each of `perimeters`, float64 [R]; 0 on a line and if endless.

    Parameters
    ----------
    partition : Partition
    """
    require_complete(partition)
    starts, facets = partition.cell_facet_offsets[:-1], partition.cell_facets
    if partition.dimension == 1:
        return np.zeros(len(partition))
    volumes, errors = partition.facet_volumes[facets], partition.facet_volume_errors[facets]
    lengths = perimeters(partition)
    with np.errstate(over="ignore", invalid="ignore"):
        bounds = (np.add.reduceat(errors, starts) + 2.0 * U * np.diff(partition.cell_facet_offsets) * lengths) * UP
    without_end = np.add.reduceat(np.isinf(volumes) & (errors == 0.0), starts, dtype=np.int64) > 0
    return np.where(without_end, 0.0, np.where(np.isfinite(lengths), bounds, np.inf))


def _bend_the_network(partition: Partition, facets: Integers, kinks: Integers) -> Bits:
    """Return whether the network can bend at kinks that switch across facets: bool [m]."""
    network, (first, second) = partition.network, partition.facet_regions[facets].T
    result = bending_kinks(network.graph)[kinks]
    # A kink that switches alone is the only one that can bend the network.
    together = np.flatnonzero(result & (np.bincount(facets)[facets] > 1)) if facets.size else facets
    good = np.zeros(len(together), dtype=bool)
    for side in (first[together], second[together]):
        regions, places = np.unique(side, return_inverse=True)
        good |= _good(network, partition.packed_patterns[regions], places, kinks[together])
    result[together] = good
    return result


def _good(network: Network, packed: Packed, rows: Integers, kinks: Integers) -> Bits:
    """Return whether an open path leads to an output from kinks [m], each under one of the patterns: bool [m]."""
    order, good = np.argsort(rows, kind="stable"), np.zeros(len(rows), dtype=bool)
    step = max(1, NUMBERS // max(network.kinks, 1))
    for start in range(0, len(packed), step):
        low, high = np.searchsorted(rows[order], [start, start + step])
        part = order[low:high]
        good[part] = leading_to_outputs(network.graph, packed[start : start + step])[rows[part] - start, kinks[part]]
    return good


def inner_degrees(partition: Partition, chosen: Bits) -> Integers:
    """Return how many of the chosen facets each inner vertex has, int64 [V]; 0 for vertices on the domain boundary."""
    facets = np.repeat(np.arange(len(chosen)), np.diff(partition.facet_offsets))  # one for each of their vertices
    vertices = partition.facet_vertices.ravel()
    degrees = np.bincount(vertices[chosen[facets]], minlength=len(partition.vertices))
    degrees[vertices[partition.facet_kinks[facets] < 0]] = 0
    return degrees


def _sums(values: Floats, errors: Floats, groups: Integers, count: int) -> tuple[Floats, Floats]:
    """Return the sum of each group, correctly rounded, and a bound on its error: float64 [count] each."""
    return rounded_sums(values, groups, count), sum_errors(values, errors, groups, count)


def gradient_jumps(partition: Partition) -> Bits:
    """Return across which facets the gradient of the network jumps, exactly.

    These facets are the boundary B_N of linear regions; the others separate regions with one affine map. The gradient
    is taken on the domain: along a plane, it is the gradient of the network restricted to the plane.

    Parameters
    ----------
    partition : Partition

    Returns
    -------
    bool [F]
        False on the domain boundary.

    Raises
    ------
    TypeError, ValueError
        Not a partition, or a partial one.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, section 2.2.

    Examples
    --------
    The two neurons at 0 cancel, the one at 1 stays:

    >>> import regions
    >>> net = regions.Network([([[1.0], [1.0], [1.0]], [0.0, 0.0, -1.0]), ([[1.0, -1.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Segment([-2.0], [2.0]))
    >>> part.vertices[part.facet_vertices[gradient_jumps(part), 0]].tolist()
    [[0.75]]
    """
    require_complete(partition)
    maps = partition.map_numbers
    first, second = partition.facet_regions.T
    return (second >= 0) & (maps[first] != maps[second])
