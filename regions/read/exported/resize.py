# SPDX-License-Identifier: MIT
"""Which pixels does torch repeat when it enlarges an image, or between which does it interpolate?

New pixel i repeats old pixel floor(i / factor). Two of torch's CPU kernels ignore the factor on an axis whose length
stays or doubles: they use i and i // 2. torch divides in single precision; if that gives another pixel than exact
arithmetic, the node is refused.
Source: the operators' documentation in torch 2.13, and ``UpSample.h`` and ``cpu/UpSampleKernel.cpp`` in
``aten/src/ATen/native``.
"""

from __future__ import annotations

from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.read.exported.nodes import ExportedNode
from regions.read.graphs.call import Call, Operation
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.between_pixels import POSITION_BYTES, between_pixels

__all__ = ["enlarges", "interpolates"]

# Bytes of one number while it is moved.
BYTES = 8
# Up to this sum of the output's lengths torch uses its kernel for innermost channels for all images. Larger images use
# it only if their channels are innermost, and at least this many.
SMALL_IMAGE = 128
CHANNELS_OF_KERNEL = 4


def enlarges(axes: int, middle: bool) -> Operation:
    """Return the operator that repeats the old pixel at the position of each new pixel, or, if ``middle``, of its
    middle.
    """

    def enlarge(call: Call) -> Tensor:
        x, scales, counts = _sizes(call, axes)
        call.at.charge(0, BYTES * prod(x.shape[:2]) * prod(counts))
        if not middle and _ignores_whole_factors(call, axes, x.shape[1], counts):
            each = zip(scales, counts, x.shape[2:], strict=True)
            scales = [None if count in (length, 2 * length) else scale for scale, count, length in each]
        places = [_nearest(call, *each, middle) for each in zip(x.shape[2:], counts, scales, strict=True)]
        picked: Any = (slice(None), slice(None), *np.ix_(*places))
        return call.moved(lambda array: array[picked], prod(x.shape[:2]) * prod(counts))

    return enlarge


def interpolates(axes: int) -> Operation:
    """Return the operator that takes weighted means of the old pixels around the position of each new one."""

    def interpolate(call: Call) -> Tensor:
        x, scales, counts = _sizes(call, axes)
        corners = call.flag("align_corners")
        call.at.charge(0, POSITION_BYTES * sum(counts))
        positions = []
        for length, count, scale in zip(x.shape[2:], counts, scales, strict=True):
            if not corners and count == length and scale not in (None, 1):
                raise UnsupportedLayerError(
                    f"{call.at.label} keeps the length {length} in spite of its factor {scale}, which torch's kernels "
                    "do not compute alike; export it with an output size"
                )
            step = Fraction(length, count) if scale is None else 1 / Fraction(scale)
            if corners:
                step = Fraction(length - 1, count - 1) if count > 1 else Fraction(0)
            half = Fraction(0) if corners else Fraction(1, 2)
            positions.append([step * (pixel + half) - half for pixel in range(count)])
        return between_pixels(call.at, x, positions)

    return interpolate


def _sizes(call: Call, axes: int) -> tuple[Tensor, list[float | None], list[int]]:
    """Return the images of a call, and the factor and the new length of each axis."""
    x = call.tensor()
    if len(x.shape) != axes + 2:
        raise call.at.refused(f"takes a batch, channels and {axes} axes, and gets shape {list(x.shape)}")
    scales = _scales(call, axes)
    wanted = call.given("output_size", None)
    counts = [int(n * scale) for n, scale in zip(x.shape[2:], scales, strict=True) if scale is not None]
    if wanted is not None:
        counts = call.integers("output_size")
    if len(counts) != axes or min(counts) < 1:
        raise call.at.refused(f"makes {counts} of {list(x.shape[2:])}")
    return x, scales, counts


def _ignores_whole_factors(call: Call, axes: int, channels: int, counts: list[int]) -> bool:
    """Return whether torch's kernel uses lengths, not the factor, if a length stays or doubles."""
    assert isinstance(call.at.node, ExportedNode)
    innermost = axes > 1 and channels >= CHANNELS_OF_KERNEL and call.at.node.channels_last
    return innermost or (axes == 2 and sum(counts) <= SMALL_IMAGE)


def _scales(call: Call, axes: int) -> list[float | None]:
    """Return the factors of the axes: from the call, or else from the lengths."""
    names = [f"scales_{letter}" for letter in "dhw"][3 - axes :] if axes > 1 else ["scales"]
    if "scale_factors" in call.arguments or not any(name in call.arguments for name in names):
        given = call.given("scale_factors", None)
        factors = [None] * axes if given is None else given
    else:
        factors = [call.given(name, None) for name in names]
    if not isinstance(factors, list) or len(factors) != axes:
        raise call.at.refused(f"does not have one factor for each of {axes} axes")
    if not all(one is None or (type(one) in (int, float) and 0 < one < 2**31) for one in factors):
        raise call.at.refused("enlarges by something that is not a number above 0")
    return [None if one is None else float(one) for one in factors]


def _nearest(call: Call, length: int, count: int, scale: float | None, middle: bool) -> NDArray[np.int64]:
    """Return the positions of pixels along an axis, by torch's arithmetic and exactly."""
    call.at.charge(0, 64 * count)
    step = np.float32(length) / np.float32(count) if scale is None else np.float32(1.0 / scale)
    pixels = np.arange(count)
    found = np.floor((pixels.astype(np.float32) + np.float32(0.5 if middle else 0.0)) * step)
    exact = Fraction(length, count) if scale is None else 1 / Fraction(scale)
    half = Fraction(1, 2) if middle else 0
    true = np.array([int((pixel + half) * exact) for pixel in range(count)])
    if not (np.minimum(found, length - 1) == np.minimum(true, length - 1)).all():
        raise UnsupportedLayerError(
            f"{call.at.label}: which pixel is the nearest is decided by rounding; enlarge to an output size that is a "
            "multiple of the size before"
        )
    return np.minimum(true, length - 1)
