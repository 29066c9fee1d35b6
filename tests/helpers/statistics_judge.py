# SPDX-License-Identifier: MIT
"""Which statistics of outputs are wrong, according to rational arithmetic?

Regions come from `regions.reference`. Moments and shares are computed in fractions, simplex by simplex. Lengths of
gradients are square roots, and are compared by their squares.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import factorial
from typing import Any

import numpy as np

import regions
from chain_rule import exact_gradient
from exact_polytopes import pulled, solved
from regions import Domain, Network, Polytope, reference
from regions.domains.gram import determinant, gram_matrix
from regions.errors import NonFiniteError
from regions.ground.arithmetic.dyadic import square_root

__all__ = ["statistics_findings"]

Row = list[Fraction]


def simplices_of(net: Network, domain: Domain) -> list[tuple[Fraction, list[tuple[Fraction, ...]], Any]]:
    """The size in the chart, the corners and the output forms of each simplex."""
    if isinstance(domain, Polytope):
        return _simplices_of_polytopes(net, domain)
    found = []
    for region in reference.enumerate(net, domain):
        first, *others = region.vertices
        for corners in zip(*(others[k:] for k in range(domain.dimension)), strict=False):
            found.append((_spanned([first, *corners]), [first, *corners], region.output))
    return found


def _simplices_of_polytopes(net: Network, domain: Polytope) -> list[tuple[Fraction, list[tuple[Fraction, ...]], Any]]:
    """The same in three and more dimensions; which vertices a facet has comes from the partition."""
    part, found = regions.enumerate(net, domain), []
    points, forms = (
        list(part.exact_vertices()),
        {each.pattern: each.output for each in reference.enumerate(net, domain)},
    )
    for region, pattern in enumerate(map(tuple, part.patterns.tolist())):
        around = part.cell_facets[slice(*part.cell_facet_offsets[region : region + 2])]
        facets = [
            sum(1 << vertex for vertex in part.facet_vertices[slice(*part.facet_offsets[facet : facet + 2])].tolist())
            for facet in around
        ]
        whole = sum(
            1 << vertex for vertex in part.cell_vertices[slice(*part.cell_offsets[region : region + 2])].tolist()
        )
        for simplex in pulled(whole, facets, domain.dimension):
            corners = [points[vertex] for vertex in simplex]
            found.append((_spanned(corners), corners, forms[pattern]))
    return found


def _spanned(corners: list[tuple[Fraction, ...]]) -> Fraction:
    """The volume of a simplex."""
    first, *others = corners
    sides = [[x - y for x, y in zip(corner, first, strict=True)] for corner in others]
    return abs(determinant(sides)) / factorial(len(sides))


def share_above_zero(values: Row) -> Fraction:
    """The share of a simplex where an affine function with these values at its corners is above 0.

    The edge from the greatest to the least value is cut where the function is 0, and with it the simplex.
    """
    low, *others, high = sorted(values)
    if high <= 0:
        return Fraction(0)
    if low >= 0:
        return Fraction(1)
    above = high / (high - low)
    zero = Fraction(0)
    return above * share_above_zero([zero, *others, high]) + (1 - above) * share_above_zero([low, *others, zero])


def off(value: float, error: float, exact: Fraction) -> bool:
    """Whether a value is off by more than its bound, or has none."""
    return (
        not np.isfinite(value)
        or bool(np.isnan(error))
        or (error != np.inf and abs(Fraction(value) - exact) > Fraction(error))
    )


def moment_findings(found: regions.Statistics, simplices: list[Any], volume: Fraction) -> Iterator[str]:
    """Yield errors of means and covariances."""
    values = [
        [[form[0] + sum(a * x for a, x in zip(form[1:], corner, strict=True)) for form in forms] for corner in corners]
        for _, corners, forms in simplices
    ]
    d, m = len(values[0]) - 1, len(values[0][0])
    sums = [[sum(column) for column in zip(*rows, strict=True)] for rows in values]
    shares = [size / volume for size, _, _ in simplices]
    means = [sum(s * row[i] for s, row in zip(shares, sums, strict=True)) / (d + 1) for i in range(m)]
    for i in range(m):
        if off(found.mean[i], found.mean_errors[i], means[i]):
            yield f"mean {i} is {found.mean[i]} +- {found.mean_errors[i]}, {float(means[i])} in fractions"
        for j in range(m):
            squares = sum(
                s * (sum(row[i] * row[j] for row in rows) + total[i] * total[j])
                for s, rows, total in zip(shares, values, sums, strict=True)
            )
            exact = squares / ((d + 1) * (d + 2)) - means[i] * means[j]
            if off(found.covariance[i, j], found.covariance_errors[i, j], exact):
                yield f"covariance {i}, {j} is {found.covariance[i, j]}, {float(exact)} in fractions"
    of_last = [[row[-1] for row in rows] for rows in values]
    for threshold in (0.0, float(means[-1]), float(of_last[0][0]), float(max(map(max, of_last)))):
        exact = sum(
            s * share_above_zero([value - Fraction(threshold) for value in row])
            for s, row in zip(shares, of_last, strict=True)
        )
        share, error = found.share_above(threshold, m - 1)
        if off(share, error, Fraction(exact)):
            yield f"the share above {threshold} is {share} +- {error}, {float(exact)} in fractions"
    for wanted in (0.25, 0.5):
        value, error = found.quantile(wanted, m - 1)
        below, above = (
            sum(s * share_above_zero([v - edge for v in row]) for s, row in zip(shares, of_last, strict=True))
            for edge in (Fraction(value) - Fraction(error), Fraction(value) + Fraction(error))
        )
        if not above <= 1 - Fraction(wanted) <= below:
            yield f"quantile {wanted} is {value} +- {error}, shares above its ends {float(below)}, {float(above)}"


def gradient_findings(found: regions.Statistics, simplices: list[Any]) -> Iterator[str]:
    """Yield errors of total variations and Lipschitz constants within the domain."""
    domain = found.partition.domain
    gram = gram_matrix(domain.directions)
    rows = [[Fraction(x) for x in row] for row in domain.directions.T.tolist()]
    for output in range(len(found.lipschitz()[0])):
        slopes = [(size, list(forms[output][1:])) for size, _, forms in simplices]
        constants = found.lipschitz(2)
        squares = [_squared(slope, gram) for _, slope in slopes]
        if _off_root(constants[0][output], constants[1][output], max(squares)):
            yield f"the Lipschitz constant of output {output} is {constants[0][output]}"
        if domain.bounded:
            scale = determinant(gram)
            exact = sum(
                Fraction(square_root(square * size * size * scale))
                for square, (size, _) in zip(squares, slopes, strict=True)
            )
            error = found.total_variation_errors[output] + 1e-15 * float(exact)
            if off(found.total_variation[output], error, exact):
                yield f"total variation {output} is {found.total_variation[output]}, {float(exact)} exactly"
        along_axes = domain.dimension < 3 or all(len([x for x in row if x]) < 2 for row in rows)
        for norm in (1, np.inf) if along_axes else ():
            values, errors = found.lipschitz(norm)
            exact = max(_in_ball(slope, rows, norm) for _, slope in slopes)
            if off(values[output], errors[output], exact):
                yield f"Lipschitz constant {output}, norm {norm}, is {values[output]}, {float(exact)} exactly"


def input_findings(found: regions.Statistics) -> Iterator[str]:
    """Yield errors of Lipschitz constants for all inputs."""
    part = found.partition
    for output in range(part.network.n_out):
        gradients = [exact_gradient(part.network, bits, output) for bits in part.patterns]
        values, errors = found.lipschitz(2, "input")
        if _off_root(values[output], errors[output], max(sum(x * x for x in g) for g in gradients)):
            yield f"the Lipschitz constant of output {output} is {values[output]} for all inputs"
        for norm, dual in ((1, max), (np.inf, sum)):
            values, errors = found.lipschitz(norm, "input")
            exact = max(dual([abs(x) for x in g]) for g in gradients)
            if off(values[output], errors[output], Fraction(exact)):
                yield f"the Lipschitz constant of output {output} for norm {norm} is {values[output]} for all inputs"


def _squared(slope: Row, gram: list[Row]) -> Fraction:
    """The squared length of a gradient with these slopes along the directions."""
    if len(slope) == 1:
        return slope[0] ** 2 / gram[0][0]
    lifted = solved([[*row, x] for row, x in zip(gram, slope, strict=True)])
    return sum((a * b for a, b in zip(slope, lifted, strict=True)), Fraction(0))


def _off_root(value: float, error: float, square: Fraction) -> bool:
    if error == np.inf:
        return False
    low, high = max(Fraction(value) - Fraction(error), Fraction(0)), Fraction(value) + Fraction(error)
    return not low * low <= square <= high * high


def _in_ball(slope: Row, rows: list[Row], norm: float) -> Fraction:
    """The largest value of a form with these slopes where the norm of the input is at most 1."""
    images = [row for row in rows if any(row)]
    if len(slope) == 1:
        sizes = [abs(row[0]) for row in images]
        return abs(slope[0]) / (sum(sizes) if norm == 1 else max(sizes))
    if len(slope) > 2:  # each input changes in one direction at most
        sizes = [[abs(x) for x in column] for column in zip(*rows, strict=True)]
        terms = [abs(s) / (sum(each) if norm == 1 else max(each)) for s, each in zip(slope, sizes, strict=True)]
        return max(terms) if norm == 1 else sum(terms, Fraction(0))
    if norm == 1:
        corners = [(-b, a) for a, b in images]
        sizes = [sum(abs(r[0] * x + r[1] * y) for r in images) for x, y in corners]
        return max(abs(slope[0] * x + slope[1] * y) / size for (x, y), size in zip(corners, sizes, strict=True))
    best = Fraction(0)
    for (a, b), sign in product(combinations(images, 2), (1, -1)):
        det = a[0] * b[1] - a[1] * b[0]
        if det == 0:
            continue
        x, y = (b[1] - sign * a[1]) / det, (sign * a[0] - b[0]) / det
        if all(abs(r[0] * x + r[1] * y) <= 1 for r in images):
            best = max(best, abs(slope[0] * x + slope[1] * y))
    return best


def statistics_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield errors in the statistics of a network on a domain."""
    found = regions.statistics(network, domain)
    try:
        if domain.bounded:
            simplices = simplices_of(network, domain)
            yield from moment_findings(found, simplices, sum((size for size, _, _ in simplices), Fraction(0)))
        else:
            simplices = [(Fraction(0), [], region.output) for region in reference.enumerate(network, domain)]
        yield from gradient_findings(found, simplices)
        yield from input_findings(found)
    except NonFiniteError:
        return
