# SPDX-License-Identifier: MIT
"""Which decompositions, powers and inverses of matrices are computed for constants?

Only results are computed that the matrix determines, such as singular values, and those of QR, for which all libraries
call the same routine of LAPACK. Singular vectors and eigenvectors have signs that libraries choose.
Source: the operators' documentation in torch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from regions.read.graphs.call import Call, DecidedByRounding, Operation
from regions.read.graphs.constants.numbers import (
    PRODUCTS_OF_FUNCTION,
    Array,
    as_floats,
    numbers,
    require_side,
    require_stable_sign,
    room,
    sign_of_determinant,
)

__all__ = ["FUNCTIONS"]

# Powers above this one of a matrix of doubles are not used.
_LARGEST_POWER = 2**16


def _matrix(call: Call, *names: str, square: bool = False) -> Array:
    """Return an argument as finite matrices [.., m, n]; memory and products of a decomposition are charged."""
    x = as_floats(numbers(call, call.first_of(*(names or ("self", "A")))))
    if x.ndim < 2 or not np.isfinite(x).all() or (square and x.shape[-1] != x.shape[-2]):
        raise ValueError
    room(call, (*x.shape[:-2], max(x.shape[-2:]), max(x.shape[-2:])), 12)
    call.at.reading.charge_products(PRODUCTS_OF_FUNCTION * x.size * max(x.shape[-2:]))
    return x


def _of_matrix(function: Callable[[Array], Any], *, square: bool = False) -> Operation:
    def compute(call: Call) -> Any:
        call.ignore("driver", "check_errors")
        made = function(_matrix(call, square=square))
        return [*map(np.asarray, made)] if isinstance(made, tuple) else np.asarray(made)

    return compute


def _qr(call: Call) -> list[Array]:
    mode = "reduced" if call.given("some", True) else "complete"
    mode = call.given("mode", mode)
    if mode not in ("reduced", "complete"):
        raise ValueError
    x = _matrix(call)
    require_stable_sign(call, _signs_of_factors, x)
    return list(np.linalg.qr(x, mode))


def _signs_of_factors(x: Array) -> Array:
    """Return the signs of the diagonal of the triangular factor, on which the signs of both factors depend."""
    return np.sign(np.diagonal(np.linalg.qr(x, "r"), axis1=-2, axis2=-1))


def _eigenvalues(call: Call) -> Array:
    if call.given("UPLO", "L") not in ("L", "U"):
        raise ValueError
    return np.linalg.eigvalsh(_matrix(call, square=True), call.given("UPLO", "L"))


def _pseudo_inverse(call: Call) -> Array:
    """Return the inverse of the part with singular values that are not 0; refuse a rank that depends on rounding."""
    x = _matrix(call)
    if call.flag("hermitian") or any(call.given(name, None) is not None for name in ("atol", "rtol")):
        raise ValueError
    sizes = np.linalg.svd(x, compute_uv=False)
    least, most = (max(x.shape[-2:]) * float(np.finfo(kind).eps) for kind in (np.float64, np.float32))
    relative = sizes / np.maximum(sizes.max(axis=-1, keepdims=True, initial=0.0), np.finfo(np.float64).tiny)
    if ((relative > least) & (relative < 16 * most)).any():
        raise DecidedByRounding(
            f"{call.at.label} inverts a matrix whose rank depends on rounding; put the result into a buffer of the "
            "module before exporting it"
        )
    return np.linalg.pinv(x, rcond=least)


def _power(call: Call) -> Array:
    count = call.integer("n")
    if abs(count) > _LARGEST_POWER:
        raise ValueError
    x = _matrix(call, square=True)
    call.at.reading.charge_products(2 * max(abs(count), 1).bit_length() * x.size * x.shape[-1])
    return np.asarray(np.linalg.matrix_power(x, count))


def _product_of_all(call: Call) -> Array:
    given = call.given(call.first_of("tensors", "matrices"))
    if not isinstance(given, list) or not 1 < len(given) <= 64:
        raise ValueError
    factors = [as_floats(numbers(call.with_arguments(self=one))) for one in given]
    result = factors[0]
    for factor in factors[1:]:
        if not factor.ndim or not result.ndim or result.ndim > 2 or factor.ndim > 2:
            raise ValueError
        room(call, (result.size // max(result.shape[-1], 1), factor.size // max(factor.shape[0], 1)), 3)
        call.at.reading.charge_products(result.size * factor.size // max(factor.shape[0], 1))
        result = np.asarray(result @ factor)
    return result


def _triangular_solution(call: Call) -> Array:
    """Return the solution of ``A @ x = B`` with a triangle of A, or of ``x @ A = B`` if not ``left``."""
    a = _matrix(call, square=True)
    a = np.triu(a) if call.flag("upper") else np.tril(a)
    if call.flag("unitriangular"):
        diagonal = np.arange(a.shape[-1])
        a[..., diagonal, diagonal] = 1.0
    require_side(call, np.diagonal(a, axis1=-2, axis2=-1))
    b = as_floats(numbers(call, "B"))
    if call.flag("left", True):
        return _solved(call, a, b)
    return np.swapaxes(_solved(call, np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)), -1, -2)


def _solved(call: Call, a: Array, b: Array) -> Array:
    if b.ndim < 2 or not np.isfinite(b).all():
        raise ValueError
    shape = (*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-1], a.shape[-1] + b.shape[-1])
    room(call, shape, 4)
    call.at.reading.charge_products(PRODUCTS_OF_FUNCTION * math.prod(shape) * a.shape[-1])
    return np.asarray(np.linalg.solve(a, b))


def _gram(call: Call, name: str) -> Array:
    """Return the matrix that has a Cholesky factor."""
    factor = _matrix(call, name, square=True)
    if call.flag("upper"):
        factor = np.swapaxes(np.triu(factor), -1, -2)
    factor = np.tril(factor)
    require_side(call, np.diagonal(factor, axis1=-2, axis2=-1))
    return np.asarray(factor @ np.swapaxes(factor, -1, -2))


def _with_determinant(call: Call) -> list[Array]:
    x = _matrix(call, square=True)
    require_stable_sign(call, sign_of_determinant, x)
    return [*map(np.asarray, np.linalg.slogdet(x))]


def _logarithm_of_determinant(call: Call) -> Array:
    sign, logarithm = _with_determinant(call)
    return np.where(sign < 0, np.nan, logarithm)


FUNCTIONS: dict[str, Operation] = {
    **dict.fromkeys(("linalg_qr", "qr"), _qr),
    "linalg_svdvals": _of_matrix(lambda x: np.linalg.svd(x, compute_uv=False)),
    "linalg_eigvalsh": _eigenvalues,
    **dict.fromkeys(("linalg_pinv", "pinverse"), _pseudo_inverse),
    **dict.fromkeys(("linalg_slogdet", "slogdet"), _with_determinant),
    "logdet": _logarithm_of_determinant,
    "det": _of_matrix(np.linalg.det, square=True),
    **dict.fromkeys(("linalg_matrix_power", "matrix_power"), _power),
    **dict.fromkeys(("linalg_multi_dot", "chain_matmul"), _product_of_all),
    "linalg_solve_triangular": _triangular_solution,
    "cholesky_inverse": lambda call: np.asarray(np.linalg.inv(_gram(call, "self"))),
    "cholesky_solve": lambda call: _solved(call, _gram(call, "input2"), as_floats(numbers(call))),
}
