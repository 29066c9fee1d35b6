# SPDX-License-Identifier: MIT
"""Which pixels does ONNX repeat when an image is resized, or between which does it interpolate?

A formula gives the position of a new pixel among the old ones, and a rounding selects the nearest old pixel. There are
several formulas and roundings. Factors are float32. Runtimes compute the position in single precision. If its error
could select another pixel than exact arithmetic, the node is refused. Up to version 10 it is undefined which pixel is
nearest if an image shrinks, or keeps its lengths in spite of a factor.
Source: the documentation of ``Upsample`` and ``Resize`` in ONNX, each version of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.ground.text.printable import printable
from regions.read.graphs.call import Call
from regions.read.graphs.moving import MOVED_BYTES, axes_of
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.between_pixels import POSITION_BYTES, between_pixels
from regions.read.graphs.site import Site
from regions.read.onnx.graph import Node

__all__ = ["resize"]

# The last version in which Resize has one formula: the pixel at or before i / factor.
PLAIN = 10
# The position of each pixel is a few integers of any size.
PIXEL_BYTES = 256
# The reciprocal of a bound on the relative error of the few operations in single precision that compute a position.
ROUNDING = 2**21


def resize(call: Call) -> Any:
    """``Resize`` and ``Upsample``, to nearest pixels or linearly between pixels."""
    at, node, x = call.at, call.at.node, call.movable()
    assert isinstance(node, Node)
    plain = node.operator == "Upsample" or node.version <= PLAIN
    mode = call.given("mode", "nearest")
    if mode not in ("nearest", "linear") or (plain and mode != "nearest"):
        raise UnsupportedLayerError(
            f"{at.label} makes means of pixels in mode {printable(str(mode))!r}, which is not supported in version "
            f"{node.version} of the operator; export it with mode 'nearest', or with opset 11 and mode 'linear'"
        )
    if mode == "linear" and (call.given("exclude_outside", 0) or call.given("antialias", 0)):
        raise UnsupportedLayerError(
            f"{at.label} weighs pixels beyond those around a position, or fewer at the border, which is not supported; "
            "export it without antialias and exclude_outside"
        )
    axes = axes_of(at, call.given("dim", range(len(x.shape))), len(x.shape))
    factors, counts = _sizes(call, [x.shape[axis] for axis in axes], plain)
    rule = "asymmetric" if plain else call.given("coordinate_transformation_mode", "half_pixel")
    rounding = "floor" if plain else call.given("nearest_mode", "round_prefer_floor")
    for_mode = rule != "tf_half_pixel_for_nn" or mode == "nearest"
    if rule not in PLACES or rounding not in ROUNDINGS or not for_mode:
        raise UnsupportedLayerError(
            f"{at.label} finds pixels by {rule!r} and {rounding!r}, which is not supported; export it with "
            "coordinate_transformation_mode 'asymmetric' and nearest_mode 'floor'"
        )
    if any(factor != 1 for factor in factors) and counts == [x.shape[axis] for axis in axes]:
        raise UnsupportedLayerError(
            f"{at.label} keeps all lengths in spite of its factors, which runtimes do not read alike; export it "
            "with sizes"
        )
    lengths = list(x.shape)
    for axis, count in zip(axes, counts, strict=True):
        lengths[axis] = count
    at.charge(0, MOVED_BYTES * math.prod(lengths))
    if mode == "linear":
        return _interpolated(call, axes, factors, lengths, rule)
    picked = [np.arange(length) for length in x.shape]
    for axis, factor, count in zip(axes, factors, counts, strict=True):
        if plain and factor != 1 and count <= x.shape[axis]:
            raise UnsupportedLayerError(
                f"{at.label} shrinks an axis of length {x.shape[axis]} by {float(factor)}, or keeps it, and this "
                "version of the operator does not say which pixels remain; export it with opset 11 or newer"
            )
        if factor != 1:
            picked[axis] = _nearest(at, x.shape[axis], count, factor, rule, rounding)
    window = np.ix_(*picked)
    return call.moved(lambda array: array[window], math.prod(map(len, picked)))


def _interpolated(
    call: Call, axes: Sequence[int], factors: Sequence[Fraction], lengths: Sequence[int], rule: str
) -> Tensor:
    """Return weighted means of the pixels around the positions of the new ones."""
    x = call.tensor()
    place = PLACES[rule]
    factor_of = dict(zip(axes, factors, strict=True))
    first = min((axis for axis, factor in factor_of.items() if factor != 1), default=len(x.shape) - 1)
    call.at.charge(0, POSITION_BYTES * sum(lengths))
    positions = []
    for axis in range(first, len(lengths)):
        old, new, factor = x.shape[axis], lengths[axis], factor_of.get(axis, Fraction(1))
        each = map(Fraction, range(new))
        positions.append([i if factor == 1 else place(i, factor, Fraction(1, 2), old, new) for i in each])
    return between_pixels(call.at, x, positions)


def _sizes(call: Call, lengths: Sequence[int], plain: bool) -> tuple[list[Fraction], list[int]]:
    """Return the factor and the new length of each axis."""
    at = call.at
    given = call.given("roi" if plain and at.node.operator == "Resize" else "scales", [])
    if isinstance(given, Tensor):
        raise UnsupportedLayerError(f"{at.label} enlarges by what depends on the input; export it with fixed sizes")
    scales = np.asarray(given)
    sizes = [] if plain else call.integers("sizes", [])
    if sizes:
        if call.given("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise UnsupportedLayerError(
                f"{at.label} keeps the ratio of lengths, which is not supported; export it with sizes that do"
            )
        factors = [Fraction(size, length) for size, length in zip(sizes, lengths, strict=False)]
    else:
        if scales.ndim != 1 or not all(0 < scale < 2**31 for scale in scales):
            raise at.refused("enlarges by numbers that are not above 0")
        factors = [Fraction(float(np.float32(scale))) for scale in scales]
        sizes = [math.floor(length * factor) for length, factor in zip(lengths, factors, strict=False)]
        rounded = [int(np.float32(length) * np.float32(scale)) for length, scale in zip(lengths, scales, strict=False)]
        if rounded != sizes:
            raise UnsupportedLayerError(
                f"{at.label}: whether there are {sizes[:20]} or {rounded[:20]} pixels is decided by rounding; export "
                "it with sizes"
            )
    if not len(factors) == len(sizes) == len(lengths) or min(sizes, default=1) < 1:
        raise at.refused(f"makes {sizes[:20]} of {list(lengths)[:20]}")
    return factors, sizes


# The position of new pixel i, of m, among n old ones: a function of i, the factor, n, m, and 1/2 in the same
# arithmetic.
Place = Callable[[Any, Any, Any, int, int], Any]


def _middle(i: Any, factor: Any, half: Any, n: int, m: int) -> Any:
    return (i + half) / factor - half


PLACES: dict[str, Place] = {
    "asymmetric": lambda i, factor, half, n, m: i / factor,
    "half_pixel": _middle,
    "tf_half_pixel_for_nn": lambda i, factor, half, n, m: (i + half) / factor,
    "pytorch_half_pixel": lambda i, factor, half, n, m: _middle(i, factor, half, n, m) if m > 1 else 0 * i,
    "align_corners": lambda i, factor, half, n, m: i * (n - 1) / (2 * half * (m - 1)) if m > 1 else 0 * i,
}
# Roundings of numerators over a denominator, all of them integers.
ROUNDINGS: dict[str, Callable[[Any, int], Any]] = {
    "floor": lambda numerators, under: numerators // under,
    "ceil": lambda numerators, under: -(-numerators // under),
    "round_prefer_floor": lambda numerators, under: -((under - 2 * numerators) // (2 * under)),
    "round_prefer_ceil": lambda numerators, under: (2 * numerators + under) // (2 * under),
}


def _nearest(at: Site, length: int, count: int, factor: Fraction, rule: str, rounding: str) -> NDArray[np.int64]:
    """Return the old pixel that each new one repeats.

    Positions are linear in the number of the pixel, so they are integers over one denominator, in single precision too.
    """
    at.charge(PIXEL_BYTES * count)
    place, nearest = PLACES[rule], ROUNDINGS[rounding]
    start, after = (place(Fraction(i), factor, Fraction(1, 2), length, count) for i in (0, 1))
    under = math.lcm(start.denominator, after.denominator)
    exact = int(start * under) + int((after - start) * under) * np.arange(count).astype(object)
    half, single = np.float32(0.5), np.arange(count, dtype=np.float32)
    found = place(single, np.float32(float(factor)), half, length, count).astype(np.float64)
    digits = max(0, 24 - int(np.frexp(found)[1].min(initial=24, where=found != 0)))
    apart = np.array([int(each) for each in np.ldexp(found, digits)], dtype=object) * under - exact * 2**digits
    error = np.where(apart != 0, abs(exact) + under, 0)
    low, high = (np.clip(nearest(exact * ROUNDING + side * error, under * ROUNDING), 0, length - 1) for side in (-1, 1))
    if (low != high).any() or (abs(apart) * ROUNDING > error * 2**digits).any():
        raise UnsupportedLayerError(
            f"{at.label}: which pixel is the nearest is decided by rounding; enlarge to a multiple of the size before"
        )
    return low.astype(np.int64)
