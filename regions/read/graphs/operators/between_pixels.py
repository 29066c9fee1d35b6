# SPDX-License-Identifier: MIT
"""Which linear map gives the numbers between pixels?

A new number is at a position between two old ones along each axis, and is their mean with weights that are linear in
the position. Beyond the border the last pixel counts. Positions and weights are fractions. The result is an operator of
patches with one row. Its weights are rounded to doubles, and a note says so.
Source: the documentation of torch's ``interpolate`` and of ONNX's ``Resize``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np

from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.patches import Patches, flat_places
from regions.read.graphs.operations import Tensor
from regions.read.graphs.site import Site

__all__ = ["POSITION_BYTES", "between_pixels"]

# Bytes of a position and its two weights, which are integers of any size, and of one entry of a patch while it is made.
POSITION_BYTES = 512
ENTRY_BYTES = 64


class _Axis:
    """The pixels and weights of each new number along an axis.

    Attributes
    ----------
    places : int64 [numbers, 1 or 2]
        The old pixels; one of them if no number is between two.
    kinds : int64 [numbers]
        Which weights.
    shares : list of tuple of Fraction
        The different weights.
    """

    def __init__(self, length: int, positions: Sequence[Fraction]) -> None:
        inside = [min(max(each, Fraction(0)), Fraction(length - 1)) for each in positions]
        low = np.array([math.floor(each) for each in inside], dtype=np.int64)
        after = [each - math.floor(each) for each in inside]
        numbers = {each: number for number, each in enumerate(dict.fromkeys(after))}
        self.kinds = np.array([numbers[each] for each in after])
        between = any(after)
        self.places = np.stack([low, np.minimum(low + 1, length - 1)] if between else [low], axis=1)
        self.shares = [(1 - each, each) if between else (Fraction(1),) for each in numbers]


def between_pixels(at: Site, x: Tensor, positions: Sequence[Sequence[Fraction]]) -> Tensor:
    """Return x with new numbers along its last axes, one at each of the positions along each axis."""
    lengths, counts = x.shape[-len(positions) :], [len(each) for each in positions]
    before = x.shape[: -len(positions)]
    at.charge(0, POSITION_BYTES * sum(counts))
    axes = [_Axis(*each) for each in zip(lengths, positions, strict=True)]
    entries = math.prod(axis.places.shape[1] for axis in axes)
    at.charge(0, ENTRY_BYTES * math.prod(before) * math.prod(counts) * entries)
    kernels, rounded = _kernels(axes)
    if rounded:
        at.note("interpolates: its weights are the nearest doubles, and results are for these")
    kinds = np.zeros(1, dtype=np.int64)
    for axis in axes:
        kinds = (kinds[:, np.newaxis] * len(axis.shares) + axis.kinds).ravel()
    images = np.arange(math.prod(before))[:, np.newaxis, np.newaxis] * math.prod(lengths)
    sources: Integers = (images + flat_places([axis.places for axis in axes], lengths)).reshape(-1, entries)
    operator = Patches(
        x.size,
        len(sources),
        kernels[:, np.newaxis],
        np.tile(kinds, math.prod(before)).astype(np.int32),
        sources.astype(np.int32),
        np.arange(len(sources), dtype=np.int32)[:, np.newaxis],
    )
    at.charge(4 * sources.size + kernels.nbytes)
    return at.linear(x, operator, None, [*before, *counts])


def _kernels(axes: Sequence[_Axis]) -> tuple[Floats, bool]:
    """Return the products of the axes' weights [kinds, entries] as doubles, and whether any was rounded."""
    exact = [
        [math.prod(weights, start=Fraction(1)) for weights in product(*each)]
        for each in product(*(axis.shares for axis in axes))
    ]
    kernels = np.array([[float(weight) for weight in row] for row in exact])
    return kernels, any(float(weight) != weight for row in exact for weight in row)
