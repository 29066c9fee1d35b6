# SPDX-License-Identifier: MIT
"""Which operators are products with matrices, and scalings of single numbers?"""

from __future__ import annotations

import numpy as np

from regions.errors import UnsupportedLayerError
from regions.ground.arithmetic.types import Floats
from regions.networks.dense import Dense
from regions.networks.patches import Patches
from regions.read.graphs.call import Call
from regions.read.graphs.moving import moved, spread
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.elementwise import added as added_to
from regions.read.graphs.operators.products import multiplied_inputs, stacked_product
from regions.read.graphs.site import Site
from regions.read.scaling import multiply, scaling_of_batch_norm, without_statistics

__all__ = ["batch_norm", "linear", "matmul", "scale_columns", "sum_and_product"]


def _dense(at: Site, x: Tensor, weights: Floats, biases: Floats | None = None) -> Tensor:
    """Apply a matrix [out, in] to the last axis."""
    if not x.shape or x.shape[-1] != weights.shape[1]:
        shown = f"{x.shape[-1] if x.shape else 1}, of shape {list(x.shape)}"
        raise at.refused(f"has a matrix for {weights.shape[1]} numbers and gets {shown}")
    shape = (*x.shape[:-1], len(weights))
    if x.size == x.shape[-1]:
        return at.linear(x, Dense(weights), biases, shape)
    rows = x.size // x.shape[-1]
    at.charge(4 * (x.size + rows * len(weights)))
    operator = Patches(
        x.size,
        rows * len(weights),
        weights[np.newaxis],
        np.zeros(rows, dtype=np.int32),
        np.arange(x.size, dtype=np.int32).reshape(rows, -1),
        np.arange(rows * len(weights), dtype=np.int32).reshape(rows, -1),
    )
    return at.linear(x, operator, None if biases is None else np.tile(biases, rows), shape)


def _turned(at: Site, x: Tensor) -> Tensor:
    return moved(at, x, lambda array: array.swapaxes(-1, -2))


def linear(call: Call) -> Tensor:
    """Apply a matrix ``weight`` [out, in] to the last axis."""
    x, weights, biases = call.tensor(), call.constant("weight"), call.array("bias")
    if weights.ndim != 2:
        raise call.at.refused("has no matrix as its weight")
    if biases is not None:
        biases = np.ascontiguousarray(spread(call.at, biases, (1, len(weights))).ravel())
    return _dense(call.at, x, weights, biases)


def matmul(call: Call) -> Tensor:
    """Multiply a tensor with a constant matrix or vector, from the right or from the left."""
    at, first = call.at, isinstance(call.given("self"), Tensor)
    if first and isinstance(call.given("other"), Tensor):
        raise multiplied_inputs(at)
    x, matrix = call.tensor("self" if first else "other"), call.constant("other" if first else "self")
    if not x.shape or not matrix.ndim:
        raise at.refused("multiplies with a single number")
    if any(length != 1 for length in matrix.shape[:-2]):
        return stacked_product(call)
    wide = max(matrix.ndim - 2, len(x.shape) - 2, 0) + 2
    vector = len(x.shape) == 1
    if vector or len(x.shape) < wide:
        axes = (*x.shape, 1) if vector and not first else x.shape
        lengths = (1,) * (wide - len(axes)) + axes
        x = moved(at, x, lambda array: array.reshape(lengths))
    rows = matrix[np.newaxis] if matrix.ndim == 1 else matrix.reshape(matrix.shape[-2:])
    if matrix.ndim > 1 and first:
        rows = rows.T
    # A matrix on the left is applied to columns.
    result = _dense(at, x, rows) if first else _turned(at, _dense(at, _turned(at, x), rows))
    gone = ([-1 if first else -2] if matrix.ndim == 1 else []) + ([-2 if first else -1] if vector else [])
    return moved(at, result, lambda array: array.squeeze(tuple(gone))) if gone else result


def sum_and_product(call: Call) -> Tensor:
    """Return ``alpha * mat1 @ other + beta * self``, where one of the matrices is a constant."""
    at, first = call.at, isinstance(call.given("mat1"), Tensor)
    x, matrix = call.tensor("mat1" if first else "other"), call.constant("other" if first else "mat1")
    if matrix.ndim != 2 or len(x.shape) != 2:
        raise at.refused(f"takes matrices, and gets shapes {[list(x.shape), list(matrix.shape)]}")
    transposed = [call.flag(name) for name in ("transposed1", "transposed2")]
    if transposed[0 if first else 1]:
        x = _turned(at, x)
    if transposed[1 if first else 0]:
        matrix = matrix.T
    rows, count = np.ascontiguousarray(matrix.T if first else matrix), x.shape[0 if first else 1]
    shape = (count, len(rows)) if first else (len(rows), count)
    alpha, beta = call.number("alpha", 1.0), call.number("beta", 1.0)
    if isinstance(call.given("self", None), Tensor):
        product = sum_and_product(call.with_arguments(self=None, alpha=1.0))
        return added_to(at, call.tensor("self"), product, (beta, alpha))
    added = call.array("self")
    biases, exact = np.zeros(count * len(rows)), True
    if added is not None:
        at.charge(0, 16 * biases.size)
        wide = spread(at, added, shape)
        biases, exact = multiply((wide if first else wide.T).ravel(), np.full(1, beta))
    inside = exact and alpha == 1.0 and count == 1
    result = _dense(at, x if first else _turned(at, x), rows, biases if inside else None)
    if not inside:
        result = at.scaled(result, alpha, kind="alpha of") if alpha != 1.0 else result
        if added is not None:
            result = at.scaled(result, 1.0, biases.reshape(result.shape), exact=exact, kind="bias of")
    return result if first else _turned(at, result)


def batch_norm(call: Call) -> Tensor:
    """Return the batch norm of x [n, ..], with statistics of each channel; of each number of x if not ``spatial``."""
    at, x = call.at, call.tensor()
    mean, variance = call.array("running_mean"), call.array("running_var")
    if mean is None or variance is None:
        raise without_statistics(at.label)
    if call.flag("training"):
        raise UnsupportedLayerError(
            f"{at.label} is in training mode, so each output depends on the whole batch; call model.eval() before "
            "exporting"
        )
    weight, bias = call.array("weight"), call.array("bias")
    weight, bias = np.ones_like(mean) if weight is None else weight, np.zeros_like(mean) if bias is None else bias
    if len(x.shape) < 2:
        raise at.several(x)
    wanted = x.shape[1:2] if call.flag("spatial", True) else x.shape[1:]
    columns = []
    for numbers in (mean, variance, weight, bias):
        if numbers.shape != wanted:
            raise at.refused(f"has {list(numbers.shape)} parameters instead of {list(wanted)}")
        columns.append(spread(at, numbers.reshape(wanted + (1,) * (len(x.shape) - 1 - len(wanted))), x.shape).ravel())
    mean, variance, weight, bias = columns
    return at.by(x, scaling_of_batch_norm(at.node.name, mean, variance, weight, bias, call.number("eps")))


def scale_columns(call: Call) -> Tensor:
    """Return ``(x - offset) * scale`` for x [1, n], with a number for all columns or for each."""
    x = call.tensor()
    parts = {}
    for name in ("offset", "scale"):
        numbers = call.constant(name)
        if x.shape != (1, x.size) or numbers.shape not in ((1,), (x.size,)):
            raise call.at.refused(f"has {numbers.size} as {name} for shape {list(x.shape)}")
        parts[name] = np.broadcast_to(numbers, x.shape)
    shifted = call.at.scaled(x, 1.0, -parts["offset"], kind="offset of")
    return call.at.scaled(shifted, parts["scale"], kind="scale of")
