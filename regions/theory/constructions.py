# SPDX-License-Identifier: MIT
"""Which networks have a known number of regions?

In folding networks, a layer maps [0, 1] onto itself several times, and each piece repeats everything that later layers
do, so counts multiply. In arrangements, one layer has the chambers of given hyperplanes as its regions
(`regions.arrangements` has those that textbooks count). Networks side by side (`product`) and one after the other
(`compose`) combine these into foldings of more dimensions.
Invariant: foldings have integer or half-integer weights. A position such as i / (n + 1) is written as the kink of
relu((n + 1) x - i), so the counts hold exactly, not up to the rounding of 1 / (n + 1).
Counts are numbers of activation regions, on the line, the unit interval or the unit square as stated. Folds continue
outside [0, 1], so the whole line can have more regions.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import integer, tuple_of
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.types import Floats
from regions.networks.derived import compose, product
from regions.networks.network import Network

__all__ = ["arrangement", "compose", "montufar_fold", "product", "sawtooth", "serra_fold", "square_fold"]

# Folds are merged one by one, and a merged layer has the square of the number of units.
MOST_LAYERS, MOST_PIECES = 1000, 1000


def sawtooth(depth: int) -> Network:
    """Return Telgarsky's sawtooth: ``depth`` hidden layers of two units, each the mirror ``x -> 1 - |2 x - 1|``.

    On [0, 1] there are ``2**depth`` regions; on the line 3 for depth 1, and ``2**depth + 2`` from depth 2 on.

    References
    ----------
    Telgarsky, Representation benefits of deep feedforward networks, 2015.

    Examples
    --------
    >>> net = sawtooth(3)
    >>> net
    Network(1-2-2-2-1, relu, 6 hidden neurons)
    >>> net([[0.0], [0.125], [0.25], [0.375]]).ravel()
    array([0., 1., 0., 1.])
    """
    depth = integer(depth, "depth", most=MOST_LAYERS)
    mirror = _fold(np.ones(2), np.array([0.0, -0.5]), np.array([2.0, -4.0]), 0.0)
    return reduce(compose, [mirror] * depth)


def montufar_fold(pieces: int, depth: int) -> Network:
    """Return the folding network of Montufar et al.: ``depth`` hidden layers of ``pieces`` units.

    All layers but the last map [0, 1] onto itself ``pieces`` times; the last one has its kinks inside. On [0,
    1] there are ``pieces**(depth - 1) * (pieces + 1)`` regions. There are fewer affine maps, because next to a fold the
    whole last layer can be off on both sides.

    References
    ----------
    Montufar, Pascanu, Cho, Bengio, On the number of linear regions of deep neural networks, 2014.

    Examples
    --------
    >>> montufar_fold(3, 2)
    Network(1-3-3-1, relu, 6 hidden neurons)
    """
    pieces, depth = integer(pieces, "pieces", least=2, most=MOST_PIECES), integer(depth, "depth", most=MOST_LAYERS)
    steps = np.arange(pieces, dtype=np.float64)
    last = _fold(
        np.full(pieces, 2.0 * pieces + 1.0),  # kinks at (2 i + 1) / (2 n + 1)
        -(2.0 * steps + 1.0),
        (-1.0) ** steps * (steps + 2.0),
        0.0,
    )
    return reduce(compose, [_zigzag(pieces)] * (depth - 1) + [last])


def serra_fold(widths: Iterable[int]) -> Network:
    """Return the folding network of Serra et al.: hidden layers of the given widths, each at least 3.

    A layer of n units has n + 1 pieces, none of them constant and each covering [0, 1]. On [0, 1], and on the
    line as well, there are ``prod(n + 1)`` regions, and as many affine maps.

    References
    ----------
    Serra, Tjandraatmadja, Ramalingam, Bounding and counting linear regions of deep neural networks, 2018,
    Theorem 5.

    Examples
    --------
    >>> serra_fold([3, 4])
    Network(1-3-4-1, relu, 7 hidden neurons)
    """
    folds = []
    for i, width in enumerate(tuple_of(widths, "widths")):
        width = integer(width, f"widths[{i}]", least=3, most=MOST_PIECES)
        kinks = np.arange(1.0, width + 1.0)  # unit i has its kink at i / (width + 1)
        weights, readout = np.full(width, width + 1.0), 2.0 * (-1.0) ** kinks
        weights[2] *= -1.0  # the third unit is on below its kink: no piece has all units off
        readout[0] = -3.0
        folds.append(_fold(weights, -np.sign(weights) * kinks, readout, 5.0))
    return reduce(compose, folds)


def square_fold(pieces: int, normals: ArrayLike, offsets: ArrayLike) -> Network:
    """Return a network that folds both coordinates of the unit square, then draws lines.

    The first layer maps each of ``pieces**2`` squares onto [0, 1]^2, the second has one unit
    ``normals[i] . y + offsets[i]`` for each line. On [0, 1]^2 there are ``pieces**2`` times as many regions
    as the lines cut [0, 1]^2 into.

    Parameters
    ----------
    pieces : int
        At least 2.
    normals : array_like [n, 2]
    offsets : array_like [n]
        Their products with 2 must be doubles, as all but huge numbers are.

    Examples
    --------
    >>> square_fold(2, [[1.0, 1.0]], [-0.5])
    Network(2-4-1-1, relu, 5 hidden neurons)
    """
    pieces = integer(pieces, "pieces", least=2, most=MOST_PIECES)
    lines = arrangement(normals, exact_float64(offsets, "offsets"))
    if lines.n_in != 2:
        raise ShapeMismatchError(f"normals must have shape [n, 2], got {[lines.widths[0], lines.n_in]}")
    return compose(product(_zigzag(pieces), _zigzag(pieces)), lines)


def arrangement(normals: ArrayLike, offsets: ArrayLike | None = None) -> Network:
    """Return one hidden layer whose regions are the chambers of the hyperplanes ``normals[i] . x + offsets[i]
    = 0``.

    Parameters
    ----------
    normals : array_like [n, d]
    offsets : array_like [n], optional
        Zeros when left out: a central arrangement.

    Examples
    --------
    >>> arrangement([[1, 0], [0, 1], [1, 1]])
    Network(2-3-1, relu, 3 hidden neurons)
    """
    rows = exact_float64(normals, "normals")
    if rows.ndim != 2 or not rows.size:
        raise ShapeMismatchError(f"normals must have shape [n, d], got {list(rows.shape)}")
    ends = None if offsets is None else exact_float64(offsets, "offsets")
    if ends is not None and ends.shape != rows.shape[:1]:
        raise ShapeMismatchError(f"{len(rows)} normals need as many offsets, got shape {list(ends.shape)}")
    return Network([(rows, ends), (np.ones((1, *rows.shape[:1])), None)])


def _fold(weights: Floats, biases: Floats, readout: Floats, constant: float) -> Network:
    """Return the function ``constant + readout . relu(weights * x + biases)`` of one variable."""
    return Network([(weights[:, np.newaxis], biases), (readout[np.newaxis, :], [constant])])


def _zigzag(pieces: int) -> Network:
    """Map [0, 1] onto itself ``pieces`` times: up, down, up, ..."""
    readout = 2.0 * (-1.0) ** np.arange(pieces, dtype=np.float64)
    readout[0] = 1.0
    return _fold(np.full(pieces, float(pieces)), -np.arange(pieces, dtype=np.float64), readout, 0.0)
