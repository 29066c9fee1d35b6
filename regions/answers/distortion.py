# SPDX-License-Identifier: MIT
"""By which factor does a network stretch the length, or the area, of each region, and which regions collapse?

On a region the outputs are an affine function of the chart point, with one column a of slopes on a line and two columns
a, b in a plane. The factor is the length of a, or the area of the parallelogram of a and b, divided by the length or
area of the directions of the chart. The area of (a, b) equals the area of (a, b - t a) for any t. With t = a . b / a .
a these two vectors are nearly orthogonal.
Error. With u = 2^-53 and m outputs, the computed area of two vectors is off by less than 4 (m + 8) u |a| |b|: two inner
products, the difference, two lengths and a product are rounded. Slopes known up to e and f add |a| |f| + |b| |e| +
|e| |f|. If the area is not above its bound, the small number of units that are not constant may prove a
collapse (`passes/waists.py`). Otherwise rank and area are computed in fractions.
Cost: little compared with the enumeration; a millisecond, or more in deep networks, for each region that rounding
leaves open.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from regions.answers.corner_values import CornerValues
from regions.domains.gram import determinant, gram_matrix
from regions.ground.arithmetic.dyadic import square_root
from regions.ground.arithmetic.proven import Proven
from regions.ground.arithmetic.roundoff import SMALLEST, TINY, UP, U
from regions.ground.arithmetic.types import Floats, Integers
from regions.passes.bounded import rounding_unit
from regions.passes.derivatives import norms
from regions.passes.waists import narrowest

__all__ = ["Distortions", "distortions"]


class Distortions(NamedTuple):
    """The factor of each region, float64 [R], bounds on the errors, and the dimension of each image, int64 [R]."""

    values: Floats
    errors: Floats
    ranks: Integers


def distortions(at: CornerValues) -> Distortions:
    """Return the factors and ranks of all regions."""
    domain, d = at.partition.domain, at.partition.dimension
    values, errors = maps = Proven(*at.region_maps)[..., 1:]
    with np.errstate(all="ignore"):
        _, exponents = np.frexp(np.abs(values).max(axis=(1, 2), initial=0.0))
        slopes = maps.scaled(-exponents[:, np.newaxis, np.newaxis])
        sizes = slopes[..., 0].lengths() if d == 1 else _areas(*slopes)
        proven = sizes.positive
        scale, exponent = domain.split_scale
        scaled = (sizes / Proven.rounded(scale, 4)).scaled(d * exponents - exponent).checked
        moving = norms(slopes.value) > (norms(slopes.error) + TINY) * UP
    found, off = (each.copy() for each in scaled)
    ranks = np.where(proven, d, 0)
    # With fewer outputs, or fewer non-constant units, than dimensions a collapse is certain.
    most = np.full(len(values), values.shape[1])
    most[~proven] = np.minimum(most[~proven], narrowest(at.graph, at.partition.packed_patterns[~proven]))
    still = (most == 0) | (~values.any(axis=(1, 2)) & ~errors.any(axis=(1, 2)))
    thin = ~still & (most < d) & moving
    ranks[thin] = 1
    decided = proven | still | thin
    collapsed = decided & (ranks < d)
    found[collapsed], off[collapsed] = 0.0, 0.0
    squared = determinant(gram_matrix(domain.directions))
    for region in np.flatnonzero(~decided).tolist():
        found[region], off[region], ranks[region] = _exact(at, region, squared)
    return Distortions(found, off, ranks)


def _areas(slopes: Floats, errors: Floats) -> Proven:
    """Return the areas of the parallelograms of two columns, [R, m, 2]."""
    lengths, moved = (np.stack([norms(each[..., [k]]) for k in (0, 1)], axis=1) for each in (slopes, errors))
    longer = lengths[:, 1] > lengths[:, 0]
    a, b = slopes[..., 0], slopes[..., 1]
    a, b = np.where(longer[:, np.newaxis], b, a), np.where(longer[:, np.newaxis], a, b)
    squares = np.einsum("rm,rm->r", a, a)
    ratios = np.einsum("rm,rm->r", a, b) / np.where(squares > 0, squares, 1.0)
    areas = lengths.max(axis=1) * norms((b - ratios[:, np.newaxis] * a)[..., np.newaxis])
    unit = rounding_unit(slopes.shape[1])
    bounds = unit * lengths[:, 0] * lengths[:, 1] + moved[:, 0] * moved[:, 1]
    bounds += lengths[:, 0] * moved[:, 1] + lengths[:, 1] * moved[:, 0]
    return Proven(areas, bounds * (1 + unit) * UP + TINY)


def _exact(at: CornerValues, region: int, squared_scale: Fraction) -> tuple[float, float, int]:
    """Return the factor of a region, rounded once, a bound on its error, and the rank."""
    columns = list(zip(*(form[1:] for form in at.exact.forms(region)), strict=True))
    gram = [[sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0)) for b in columns] for a in columns]
    square = determinant(gram)
    if not square:
        return 0.0, 0.0, int(any(any(column) for column in columns))
    value = square_root(square / squared_scale)
    return value, (np.inf if value == np.inf else 4 * U * value + SMALLEST), len(columns)
