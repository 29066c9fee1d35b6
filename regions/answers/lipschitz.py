# SPDX-License-Identifier: MIT
"""How steep are the outputs of a network at most?

The Lipschitz constant of a continuous piecewise-affine function on a convex domain is the largest of the constants of
its pieces. The constant of a linear form is its largest value on the unit ball of the norm. If inputs stay in the
domain, only the intersection of the ball with the space of the domain's directions counts: a segment, an ellipsoid for
the 2-norm, or for the 1-norm and the infinity norm a polygon with few corners. From three dimensions on this
intersection can have very many corners for these two norms, so each input must change in one direction at most, as in
boxes along axes. If all inputs may change, the constant is the dual norm of the gradient.
Cost: within the domain, the affine map of each region; otherwise a backward pass with bounds for each region and
output.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from regions.answers.corner_values import CornerValues
from regions.domains import Domain
from regions.domains.gram import adjugate, determinant, gram_matrix
from regions.errors import DomainError
from regions.ground.arithmetic.arrays import require_finite
from regions.ground.arithmetic.dyadic import nearest_float, square_root
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import TINY, UP, U
from regions.ground.arithmetic.types import Floats
from regions.passes.path_gradients import PathStrands, leg_attributions

__all__ = ["gradient_lengths", "in_all_inputs", "largest", "within_domain"]

# Numbers per temporary array: 8 MB.
CHUNK = 1 << 20


def within_domain(at: CornerValues, norm: float) -> Proven:
    """Return the Lipschitz constant of each output within the domain, [m].

    ``norm`` is 1 or infinity, or on a line also 2. In more dimensions, `gradient_lengths` serves the 2-norm.
    """
    with np.errstate(all="ignore"):
        return largest(_at_corners(_ball(at.partition.domain, norm), _slopes(at)))


def gradient_lengths(at: CornerValues) -> Proven:
    """Return the length of each output's gradient within the domain on each region, [R, m].

    The domain is not a line.
    """
    with np.errstate(all="ignore"):
        return (_in_ellipse if at.partition.dimension == 2 else _in_ellipsoid)(at.partition.domain, _slopes(at))


def _slopes(at: CornerValues) -> Proven:
    """The slopes of the outputs along the directions of the domain, [R, m, d]."""
    slopes = Proven(*at.region_maps)[..., 1:]
    require_finite(slopes.value.reshape(len(slopes), -1), "a slope of the network")
    return slopes


def in_all_inputs(at: CornerValues, norm: float) -> Proven:
    """Return the largest dual norm of the gradients of each output on the regions, [m]."""
    with np.errstate(all="ignore"):
        return Proven.joined([largest(_dual_norms(at, output, norm)) for output in range(at.graph.n_out)])


def largest(constants: Iterable[Proven]) -> Proven:
    """Return the largest of constants [k, m] that come in parts: [m]."""
    with np.errstate(all="ignore"):
        parts = [part.checked.largest(axis=0)[np.newaxis] for part in constants]
        return Proven.joined(parts).largest(axis=0).checked


def _in_ellipse(domain: Domain, slopes: Proven) -> Proven:
    """Lengths of gradients y in a plane, [R, m], from slopes [R, m, 2] along its directions: r' y = slopes, with r the
    triangular factor of the chart.
    """
    rounded, exponents = domain.length_factor
    slopes, factor = slopes.scaled(-exponents), Proven.rounded(rounded, 4)
    along = slopes[..., 0] / factor[0, 0]
    across = (slopes[..., 1] - factor[0, 1] * along) / factor[1, 1]
    return along.hypot(across)


def _in_ellipsoid(domain: Domain, gradients: Proven) -> Proven:
    """The same in more dimensions, from slopes s [R, m, d]: sqrt(s' H s), with H the inverse of the Gram matrix.

    A length changes by at most the length of the change of s. If the square q is off by e, its root is off by at most
    sqrt(e), and by at most e / sqrt(q).
    """
    directions, exponents = domain.split_directions
    gram = gram_matrix(directions)
    whole, d = determinant(gram), len(gram)
    inverse = np.array([[nearest_float(x / whole) for x in row] for row in adjugate(gram)])
    # Scaled by powers of two, so that no product overflows.
    slopes, errors = gradients.scaled(-exponents)
    _, scales = np.frexp(np.maximum(np.abs(slopes).max(axis=2), errors.max(axis=2)))
    slopes, errors = (np.ldexp(each, -scales[:, :, np.newaxis]) for each in (slopes, errors))

    def form(matrix: Floats, rows: Floats) -> Floats:
        return np.asarray(((rows @ matrix) * rows).sum(axis=2))

    square, size = np.maximum(form(inverse, slopes), 0.0), form(np.abs(inverse), np.abs(slopes))
    lengths, rounded = np.sqrt(square), (d * d + 8) * U * size * UP
    off = np.minimum(np.sqrt(rounded), np.where(lengths > 0.0, 2 * rounded / lengths, np.inf))
    moved = np.sqrt(form(np.abs(inverse), errors) * (1 + (d * d + 8) * U))
    bounds = (off + moved + 4 * U * lengths) * UP + TINY
    return Proven(lengths, bounds).scaled(scales)


def _at_corners(corners: Floats, slopes: Proven) -> Iterator[Proven]:
    """Yield the largest magnitudes of forms at the corners [k, d] of a ball, each rounded once, for some regions at a
    time.
    """
    step = max(1, CHUNK // max(1, len(corners) * slopes.value.shape[1]))
    columns = Proven.rounded(corners.T)
    for start in range(0, len(slopes), step):
        yield abs(slopes[start : start + step] @ columns).largest(axis=2)


def _ball(domain: Domain, norm: float) -> Floats:
    """The corners, up to their sign, of the part of the unit ball along the domain, in chart coordinates: [k, d]."""
    if domain.dimension > 2:
        return _ball_along_axes(domain, norm)
    rows = [[Fraction(x) for x in row] for row in domain.directions.T.tolist() if any(row)]
    if domain.dimension == 1:
        corners = [[1 / _norm([row[0] for row in rows], norm)]]
    else:
        normals = rows if norm == 1 else _edges(rows)
        corners = []
        for a, b in normals:
            across = [-b, a]
            size = _norm([row[0] * across[0] + row[1] * across[1] for row in rows], norm)
            corners.append([x / size for x in across])
    return np.array([[nearest_float(x) for x in corner] for corner in corners])


def _ball_along_axes(domain: Domain, norm: float) -> Floats:
    """The same in more dimensions, where each input changes in one direction at most."""
    if ((domain.directions != 0).sum(axis=0) > 1).any():
        raise DomainError(
            f"{domain!r}: an input changes in several directions, and then Lipschitz constants within the domain are "
            'computed for the 2-norm only; take norm=2, or space="input"'
        )
    sizes = [nearest_float(1 / _norm([Fraction(x) for x in row], norm)) for row in domain.directions.tolist()]
    if norm == 1:
        return np.diag(sizes)
    signs = product([1.0], *[(1.0, -1.0)] * (len(sizes) - 1))
    return np.array([[sign * size for sign, size in zip(each, sizes, strict=True)] for each in signs])


def _norm(entries: list[Fraction], norm: float) -> Fraction:
    """A norm of a vector; the 2-norm is rounded once."""
    if norm == 2:
        return Fraction(square_root(sum((x * x for x in entries), Fraction(0))))
    sizes = [abs(x) for x in entries]
    return sum(sizes, Fraction(0)) if norm == 1 else max(sizes)


def _edges(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """The edges, as vectors, of the convex hull of points and their negatives, each up to its sign."""
    points = sorted({(x, y) for a, b in rows for x, y in ((a, b), (-a, -b))})
    chain: list[tuple[Fraction, Fraction]] = []
    for point in points:
        while len(chain) > 1 and _turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return [[b[0] - a[0], b[1] - a[1]] for a, b in zip(chain[:-1], chain[1:], strict=True)]


def _turn(a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], c: tuple[Fraction, Fraction]) -> Fraction:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _dual_norms(at: CornerValues, output: int, norm: float) -> Iterator[Proven]:
    """Yield the dual norms of the gradients of an output, [k, 1], for some regions at a time."""
    partition, graph = at.partition, at.graph
    step = max(1, CHUNK // (2 * graph.n_in))
    for start in range(0, len(partition), step):
        packed = partition.packed_patterns[start : start + step]
        count = len(packed)
        ones = np.ones((count, 1, graph.n_in))
        ends = np.tile([[[0.0], [1.0]]], (count, 1, 1))
        # Each region is a path of length one along all inputs: the integral is the gradient.
        strands = PathStrands(ones[:, 0], ones, np.arange(count), ends, np.zeros((count, 2)), packed)
        gradients = Proven(*leg_attributions(graph, strands, np.full(count, output)))
        if norm == 2:
            found = gradients.lengths()
        else:
            found = abs(gradients).sum(axis=1) if norm == np.inf else abs(gradients).largest(axis=1)
        yield found[:, np.newaxis]
