# SPDX-License-Identifier: MIT
"""How much can a convolution, one block of weights at many positions of a lattice, stretch a vector?

The rows of the block read inputs at fixed offsets from the position of the block. The operator is therefore a part of a
circular convolution on a torus that is too large for anything to wrap around; missing inputs are zeros. A circular
convolution is diagonal in frequencies: its norm is the largest norm of small complex matrices, one for each frequency.
If blocks are several steps apart, inputs are grouped by their remainders, as if these were that many channels.
Source: Sedghi, Gupta, Long, The singular values of convolutional layers, ICLR 2019; docs/error-bounds.md proves the
bound with its rounding.
Invariant: the lattice is checked against the sources, so the bound holds for any given lattice.
Cost: three products of complex matrices for each frequency; along an axis at most 8 (w - 1) frequencies for a block w
steps wide. If wide blocks have too many frequencies, the bound is infinite.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, inf, pi, prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.roundoff import UP
from regions.ground.arithmetic.spectral_norm import spectral_norm_bound
from regions.ground.arithmetic.types import Floats, Integers

__all__ = ["Lattice", "norm_on_lattice"]

# Frequencies along an axis, as a multiple of the block's width minus one. The bound grows by at most 4% in the plane.
FREQUENCIES = 8
# Complex products for the matrices of all frequencies, some ten seconds.
MOST_PRODUCTS = 1 << 31


class Lattice(NamedTuple):
    """Positions of blocks, and the offsets of the inputs that they read.

    Parameters
    ----------
    corners : int32 [patches, axes]
    offsets : int32 [terms, 1 + axes]
        The channel of the input of each term, and its offset from the corner.
    """

    corners: NDArray[np.int32]
    offsets: NDArray[np.int32]


def norm_on_lattice(kernel: Floats, sources: NDArray[np.int32], lattice: Lattice) -> float:
    """Return an upper bound on the spectral norm of a block [rows, terms] at all positions; infinite if these are not
    a lattice.

    ``sources`` [patches, terms] are indices of inputs, -1 where a term reads nothing.
    """
    steps, channels, shifts = _in_steps(lattice)
    shape = (int(channels.max(initial=0)) + 1, *(int(each) for each in steps.max(axis=0) + shifts.max(axis=0) + 1))
    if prod(shape) > 4 * sources.size + 1024 or not _is_on(shape, steps, channels, shifts, sources):
        return inf
    # The weights of terms that read one input are added, which may be rounded.
    if len(np.unique(np.column_stack([channels, shifts]), axis=0)) < len(channels):
        return inf
    return _norm_of_convolution(kernel, shape, channels, shifts)


def _in_steps(lattice: Lattice) -> tuple[Integers, Integers, Integers]:
    """Return positions of patches, channels of terms, and offsets of terms, in units of the steps between patches."""
    corners = lattice.corners.astype(np.int64)
    corners -= corners.min(axis=0)
    offsets = lattice.offsets.astype(np.int64)
    offsets -= offsets.min(axis=0)
    step = np.gcd.reduce(corners, axis=0)
    # If all patches have the same position along an axis, every offset on it is a channel of its own.
    step = np.where(step == 0, offsets[:, 1:].max(axis=0) + 1, step)
    phases = np.column_stack([offsets[:, 0], offsets[:, 1:] % step])
    _, channels = np.unique(phases, axis=0, return_inverse=True)
    return corners // step, channels.ravel().astype(np.int64), offsets[:, 1:] // step


def _is_on(
    shape: tuple[int, ...], steps: Integers, channels: Integers, shifts: Integers, sources: NDArray[np.int32]
) -> bool:
    """Return whether lattice positions and inputs are in one-to-one correspondence, and patches have different
    positions.
    """
    strides = np.cumprod([1, *shape[:0:-1]])[::-1]
    corners = steps @ strides[1:]
    if len(np.unique(corners)) < len(corners):
        return False
    places, read = corners[:, np.newaxis] + (channels * strides[0] + shifts @ strides[1:]), sources >= 0
    found = np.full(prod(shape), -1)
    found[places[read]] = sources[read]
    if (found[places[read]] != sources[read]).any() or (found[places[~read]] >= 0).any():
        return False
    found = found[found >= 0]
    return len(np.unique(found)) == len(found)


def _norm_of_convolution(kernel: Floats, shape: tuple[int, ...], channels: Integers, shifts: Integers) -> float:
    """Bound the norm of the circular convolution on a torus; on a large torus only some frequencies are computed."""
    largest = float(np.abs(kernel).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    _, exponent = np.frexp(largest)
    blocks, between = np.unique(shifts, axis=0, return_inverse=True)
    spread = np.zeros((len(blocks), shape[0], len(kernel)))
    np.add.at(spread, (between.ravel(), channels), np.ldexp(kernel, -exponent).T)
    widths = shifts.max(axis=0)
    counts = [min(size, FREQUENCIES * int(width)) or 1 for size, width in zip(shape[1:], widths, strict=True)]
    factor = 1.0
    for count, size, width in zip(counts, shape[1:], widths, strict=True):
        factor /= 1.0 if count == size or width == 0 else cos(pi * int(width) / (2 * count))
    # The matrices of the frequencies w and -w are conjugate.
    half = [*counts[:-1], counts[-1] // 2 + 1]
    if prod(half) * spread.size > MOST_PRODUCTS:
        return inf
    grid = np.indices(half).reshape(len(counts), -1).T
    lost = 2.0**-40 * (len(blocks) + int(widths.sum())) * float(np.linalg.norm(np.abs(spread).sum(axis=0)))
    flat, norm = spread.reshape(len(blocks), -1), 0.0
    chunk = max(1, (1 << 21) // max(flat.shape))
    for start, stop in pairwise([*range(0, len(grid), chunk), len(grid)]):
        phases = np.exp(2j * pi * ((grid[start:stop] / counts) @ blocks.T))
        matrices = (phases @ flat).reshape(-1, *spread.shape[1:])
        norm = max(norm, spectral_norm_bound(matrices))
    # The last step rounds too if the result is a subnormal double.
    return float(np.nextafter(np.ldexp((norm + lost) * factor * UP, exponent), inf))
