# SPDX-License-Identifier: MIT
"""Which numbers do the quantised constants of a file stand for?

`QuantizeLinear` of a constant is the integer next to ``weight / scale + zero_point``. It is read if quotients of
float32 and of float64 are rounded to the same integer. `DequantizeLinear` of a constant is ``scale * (quantized -
zero_point)``. Both have one scale, one for each place along an axis, or one for each block of places. Integers of at
most 16 bits times a float32 scale are doubles. Runtimes round the product to float32; the network has the product
itself.
Source: the documentation of both operators in ONNX.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.read.graphs.call import Call
from regions.read.graphs.constants.evaluation import not_computed
from regions.read.graphs.constants.numbers import jumping
from regions.read.graphs.moving import axis_of
from regions.read.onnx.tensors import element_name

__all__ = ["dequantized", "quantised"]


def dequantized(call: Call) -> NDArray[Any]:
    """Return the numbers of a `DequantizeLinear` of constants, as doubles."""
    at, stored = call.at, call.given("quantized")
    scale, zero = _scales_and_zeros(call, call.constant("scale"), stored.shape)
    differences = stored.astype(np.float64) - zero
    result = np.asarray(differences * scale)
    if _is_rounded(differences, scale):
        at.note("multiplies integers of 32 bits: its weights are the nearest doubles, and results are for these")
    return result


def quantised(call: Call) -> NDArray[Any]:
    """Return the integers of a `QuantizeLinear` of constants; ``element`` is their type."""
    at, numbers, name = call.at, call.constant("self"), element_name(call.integer("element"))
    if not name.lstrip("u").startswith("int"):
        raise not_computed(at.label, f"as numbers of {name}")
    call.ignore("saturate")
    scale, zero = _scales_and_zeros(call, call.constant("scale"), numbers.shape)
    if not scale.all():
        raise at.refused("divides by a scale of 0")
    bits, signed = int(name.lstrip("uint")), name.startswith("i")
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    whole = jumping(call, lambda x, s: np.clip(np.rint(x / s) + zero, low, high), [numbers, scale], has="rounds")
    return whole.astype(f"{'' if signed else 'u'}int{max(bits, 8)}")


def _scales_and_zeros(call: Call, scale: NDArray[Any], shape: tuple[int, ...]) -> list[NDArray[Any]]:
    """Return the scale and the zero point of each number."""
    zero = call.array("zero_point")
    if call.given("output_dtype", 0):
        raise UnsupportedLayerError(f"{call.at.label} names a type of results, which is not handled")
    zero = np.zeros_like(scale) if zero is None else zero
    try:
        return [np.broadcast_to(_spread(call, each, shape), shape) for each in (scale, zero)]
    except ValueError:
        raise call.at.refused(f"has scales of shape {list(scale.shape)} for shape {list(shape)}") from None


def _spread(call: Call, each: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """Return scales or zero points in a shape that broadcasts to that of the numbers."""
    axis, block = call.integer("dim", 1), call.integer("block_size", 0)
    if each.size == 1 and not block:  # one scale for all, also in a list
        return each.reshape((1,) * len(shape))
    axis = axis_of(call.at, axis, len(shape))
    if not block:
        if each.ndim != 1:
            raise ValueError("scales of several axes need a size of blocks")
        return each.reshape([len(each) if k == axis else 1 for k in range(len(shape))])
    blocks = -(-shape[axis] // block) if block > 0 else -1
    if each.shape != (*shape[:axis], blocks, *shape[axis + 1 :]):
        raise ValueError("not one scale for each block")
    return each.repeat(min(block, shape[axis]), axis)[(slice(None),) * axis + (slice(shape[axis]),)]


def _is_rounded(differences: NDArray[Any], scale: NDArray[Any]) -> bool:
    """Return whether a product of integers and scales is no double; float32 scales have 24 bits."""
    if np.abs(differences).max(initial=0.0) < 2.0**29:
        return False
    digits = np.ldexp(np.frexp(scale)[0], 24)
    whole = differences.astype(np.int64).astype(object) * digits.astype(np.int64).astype(object)
    return bool((whole.astype(np.float64).astype(object) != whole).any())
