# SPDX-License-Identifier: MIT
"""Is every number that is computed from stored coordinates within its bound of the true one?

`findings` takes a partition and yields one sentence for each number that is not: coordinates, areas and lengths of
regions, lengths of facets, perimeters, the boundary in total and by layer, neuron and kink, and distances of points to
it. The true numbers are made from exact vertices (`Partition.exact_vertices`) in fractions; roots are taken to 2^-200.
A bound that is NaN or below 0 is a finding too; so is an infinite volume of a bounded region.
Cost: a millisecond for each vertex and some for each region, all of it in the fractions.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import inf, isfinite, isqrt

import numpy as np
from numpy.typing import NDArray

from regions import measures
from regions.domains.gram import determinant, gram_matrix
from regions.measures.boundary import Boundary
from regions.results.partition import Partition

# A finite point of the chart, exactly; None at infinity.
Place = tuple[Fraction, ...] | None
# Numbers below this must have a finite bound; for larger ones, an intermediate result can be beyond the doubles.
HUGE = Fraction(2) ** 900
# More than the relative errors of the roots that are taken here.
ROOTS = Fraction(1, 1 << 190)


def findings(partition: Partition, points: int = 4, seed: int = 0) -> Iterator[str]:
    """Yield a sentence for each number that is not within its bound. Distances are measured from ``points`` random
    chart points of a bounded domain.
    """
    places = [vertex if len(vertex) == partition.dimension else None for vertex in partition.exact_vertices()]
    true = TrueSizes(partition, places)
    yield from _coordinates(partition, places)
    yield from _compare("the volume of region", partition.volumes, partition.volume_errors, true.volumes)
    yield from _compare("the volume of facet", partition.facet_volumes, partition.facet_volume_errors, true.facets)
    around = [_total([true.facets[f] for f in facets]) for facets in _facets_of_regions(partition)]
    yield from _compare(
        "the perimeter of region", measures.perimeters(partition), measures.perimeter_errors(partition), around
    )
    boundaries: tuple[Boundary, ...] = ("activation", "gradient")
    for boundary in boundaries:
        yield from _boundary(partition, true, boundary)
        if partition.domain.bounded:
            yield from _distances(partition, true, boundary, points, np.random.default_rng(seed))


class TrueSizes:
    """Sizes in input space, as fractions that are right up to `ROOTS`; None if unbounded."""

    def __init__(self, partition: Partition, places: list[Place]) -> None:
        self.places = places
        self.gram = gram_matrix(partition.domain.directions)
        self.scale = root(determinant(self.gram))
        self.facets: list[Fraction | None] = []
        for ends in partition.facet_vertices.tolist():
            if partition.dimension == 1:
                self.facets.append(Fraction(places[ends[0]] is not None))
            else:
                self.facets.append(self.distance(places[ends[0]], places[ends[1]]))
        self.volumes = [
            self.volume([places[vertex] for vertex in partition.cell_vertices[start:stop].tolist()])
            for start, stop in zip(partition.cell_offsets[:-1], partition.cell_offsets[1:], strict=True)
        ]

    def distance(self, start: Place, stop: Place) -> Fraction | None:
        if start is None or stop is None:
            return None
        step = [b - a for a, b in zip(start, stop, strict=True)]
        return root(self.product(step, step))

    def product(self, left: list[Fraction], right: list[Fraction]) -> Fraction:
        """Return the scalar product, in input space, of two chart vectors."""
        return sum(
            (a * self.gram[i][j] * b for i, a in enumerate(left) for j, b in enumerate(right)), start=Fraction(0)
        )

    def volume(self, corners: list[Place]) -> Fraction | None:
        known = [corner for corner in corners if corner is not None]
        if len(known) < len(corners):
            return None
        if len(known[0]) == 1:
            return (known[1][0] - known[0][0]) * self.scale
        twice = sum(
            (a[0] * b[1] - b[0] * a[1] for a, b in zip(known, [*known[1:], known[0]], strict=True)), start=Fraction(0)
        )
        return twice / 2 * self.scale

    def to_facet(self, point: list[Fraction], start: Place, stop: Place) -> Fraction:
        """Return how far a point is from a facet with two ends."""
        assert start is not None and stop is not None
        offset = [p - a for p, a in zip(point, start, strict=True)]
        step = [b - a for a, b in zip(start, stop, strict=True)]
        length = self.product(step, step)
        share = min(max(self.product(offset, step) / length, Fraction(0)), Fraction(1)) if length else Fraction(0)
        rest = [o - share * s for o, s in zip(offset, step, strict=True)]
        return root(self.product(rest, rest))


def root(value: Fraction) -> Fraction:
    """Return the square root of a fraction, rounded down to 200 bits or more."""
    shift = max(0, 400 - value.numerator.bit_length() + value.denominator.bit_length())
    shift += shift % 2
    return Fraction(isqrt((value.numerator << shift) // value.denominator), 1 << (shift // 2))


def _coordinates(partition: Partition, places: list[Place]) -> Iterator[str]:
    for vertex, place in enumerate(places):
        # A vertex with a coordinate beyond the doubles needs no bound.
        if place is not None and max(abs(x) for x in place) < HUGE:
            bounds = np.full(partition.dimension, partition.vertex_errors[vertex])
            yield from _compare(f"of vertex {vertex}, coordinate", partition.vertices[vertex], bounds, list(place))


def _boundary(partition: Partition, true: TrueSizes, boundary: Boundary) -> Iterator[str]:
    found = measures.boundary_volume(partition, boundary)
    chosen = np.flatnonzero(measures.boundary_facets(partition, boundary))
    total = [_total([true.facets[facet] for facet in chosen.tolist()])]
    yield from _compare(f"the {boundary} boundary", np.array([found.total]), np.array([found.total_error]), total)
    if boundary == "gradient":
        return
    facets, kinks = (array.tolist() for array in measures.switching_kinks(partition))
    network = partition.network
    names = {
        "layer": (found.layers, found.layer_errors, network.kink_layers),
        "neuron": (found.neurons, found.neuron_errors, _neurons(partition)),
        "kink": (found.kinks, found.kink_errors, np.arange(network.kinks)),
    }
    for name, (values, errors, groups) in names.items():
        members: list[set[int]] = [set() for _ in values]
        for facet, kink in zip(facets, kinks, strict=True):
            members[int(groups[kink])].add(facet)
        # Units with several breakpoints have separate facets for each.
        true_sums = [_total([true.facets[facet] for facet in sorted(group)]) for group in members]
        yield from _compare(f"the boundary of {name}", values, errors, true_sums)
    many = np.flatnonzero(np.bincount(np.array(facets, dtype=np.int64), minlength=len(chosen)) > 1).tolist()
    coincident = [_total([true.facets[facet] for facet in many])]
    yield from _compare("where several", np.array([found.coincident]), np.array([found.coincident_error]), coincident)


def _neurons(partition: Partition) -> NDArray[np.int64]:
    """Return the neuron of each kink, layer by layer."""
    network = partition.network
    first = np.concatenate([[0], np.cumsum(network.widths, dtype=np.int64)])
    result: NDArray[np.int64] = first[network.kink_layers] + network.kink_units
    return result


def _distances(
    partition: Partition, true: TrueSizes, boundary: Boundary, count: int, rng: np.random.Generator
) -> Iterator[str]:
    """Check distances from random points, vertices, and points next to them."""
    generators, chosen = partition.domain.generators[:, 1:], rng.integers(len(partition.vertices), size=count)
    shares = rng.dirichlet(np.ones(len(generators)), size=count)
    points = np.vstack([shares @ generators, partition.vertices[chosen], np.nextafter(partition.vertices[chosen], inf)])
    points = points[np.isfinite(points).all(axis=1)]
    found = measures.distance_in_domain(partition, points, boundary, space="chart")
    facets = partition.facet_vertices[measures.boundary_facets(partition, boundary)].tolist()
    if facets:
        ends = [(true.places[each[0]], true.places[each[-1]]) for each in facets]
        exact = []
        for point in points:
            place = [Fraction(x) for x in point.tolist()]
            exact.append(min(true.to_facet(place, *ends[facet]) for facet in _near(point, ends, true)))
        yield from _compare(f"the distance to the {boundary} boundary of point", found.distances, found.errors, exact)


def _near(point: NDArray[np.float64], ends: list[tuple[Place, Place]], true: TrueSizes) -> list[int]:
    """Return the facets that can be the nearest: distances in doubles at most a millionth of the largest coordinate
    above the least one.
    """
    gram = np.array(true.gram, dtype=np.float64)
    starts, stops = (np.array([each[side] for each in ends], dtype=np.float64) for side in (0, 1))
    with np.errstate(all="ignore"):
        steps, offsets = stops - starts, point - starts
        lengths = np.einsum("ni,ij,nj->n", steps, gram, steps)
        shares = np.where(lengths > 0, np.einsum("ni,ij,nj->n", offsets, gram, steps) / lengths, 0)
        rest = offsets - np.clip(shares, 0, 1)[:, np.newaxis] * steps
        distances = np.sqrt(np.einsum("ni,ij,nj->n", rest, gram, rest))
        everything = np.sqrt(np.abs(gram).max()) * max(np.abs(starts).max(), np.abs(stops).max(), np.abs(point).max())
    if not (np.isfinite(distances).all() and 1e-100 < everything < 1e100):
        return list(range(len(ends)))
    return np.flatnonzero(distances <= distances.min() + 1e-6 * everything).tolist()


def _facets_of_regions(partition: Partition) -> list[list[int]]:
    offsets = partition.cell_offsets
    return [partition.cell_facets[a:b].tolist() for a, b in zip(offsets[:-1], offsets[1:], strict=True)]


def _total(sizes: list[Fraction | None]) -> Fraction | None:
    known = [size for size in sizes if size is not None]
    return sum(known, start=Fraction(0)) if len(known) == len(sizes) else None


def _compare(
    what: str, values: NDArray[np.float64], errors: NDArray[np.float64], true: list[Fraction | None] | list[Fraction]
) -> Iterator[str]:
    """Compare rounded numbers with true ones; None stands for infinity."""
    if len(values) != len(true) or len(errors) != len(true):
        yield f"{what}: {len(values)} numbers and {len(errors)} bounds, not {len(true)}"
        return
    for index, (value, error, exact) in enumerate(zip(values.tolist(), errors.tolist(), true, strict=True)):
        if not error >= 0.0:
            yield f"{what} {index} has the bound {error}"
        elif exact is None:
            if value != inf or error != 0.0:
                yield f"{what} {index} is {value} within {error}, but there is no end"
        elif error == inf:
            if abs(exact) < HUGE:
                yield f"{what} {index} is {value}, of which nothing is known"
        elif not isfinite(value):
            yield f"{what} {index} is {value} within {error}, but there is an end"
        elif abs(Fraction(value) - exact) > Fraction(error) + ROOTS * abs(exact):
            off = float(abs(Fraction(value) - exact))
            yield f"{what} {index} is {value} within {error}, not {float(exact)!r}, off by {off:.3g}"
