# SPDX-License-Identifier: MIT
"""What is a linear operator with a weight for each input and output?

The weights are numbers of any kind: doubles, or the integers, residues, zeros and ones of another arithmetic. All
computations apply operators, and never see a matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.spectral_norm import spectral_norm_bound

__all__ = ["Dense"]


@dataclass(frozen=True, eq=False)
class Dense:
    """A dense matrix.

    Parameters
    ----------
    weights : [outputs, inputs]
    """

    weights: NDArray[Any]

    @property
    def inputs(self) -> int:
        return int(self.weights.shape[1])

    @property
    def outputs(self) -> int:
        return int(self.weights.shape[0])

    @property
    def most_terms(self) -> int:
        """Number of products in the sum of one output."""
        return self.inputs

    @property
    def most_terms_transposed(self) -> int:
        """The same for the transposed matrix."""
        return self.outputs

    @property
    def read_again(self) -> int:
        """No row reads an input twice."""
        return 0

    @property
    def multiply_adds(self) -> int:
        """How many products an application takes."""
        return self.outputs * self.inputs

    @cached_property
    def norm_bound(self) -> float:
        """An upper bound on the spectral norm, if the weights are doubles."""
        return spectral_norm_bound(self.weights)

    @cached_property
    def frobenius(self) -> float:
        """The Frobenius norm, if the weights are doubles; squares do not overflow on the way."""
        _, exponent = np.frexp(np.abs(self.weights).max())
        return float(np.ldexp(np.linalg.norm(np.ldexp(self.weights, -exponent)), exponent))

    def apply(self, values: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Map values [.., inputs] to [.., outputs], in one product; ``out`` may receive rows [m, outputs]."""
        return _times(values, self.weights.T) if out is None else np.matmul(values, self.weights.T, out=out)

    def apply_transposed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Map values [.., outputs] to [.., inputs] by the transposed matrix."""
        return _times(values, self.weights)

    def column_products(self, columns: NDArray[Any], values: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        """Multiply some columns [m] of the matrix by some rows [m] of values [.., outputs]: [m] inner products."""
        return np.einsum("mo,mo->m", self._transposed[columns], values[rows])

    @cached_property
    def _transposed(self) -> NDArray[Any]:
        """The transposed matrix, whose rows are contiguous."""
        return np.ascontiguousarray(self.weights.T)

    def row(self, output: int) -> NDArray[Any]:
        """Return the weights of one output, [inputs]."""
        return np.asarray(self.weights[output])

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define the operator, by name."""
        return {"weights": self.weights}

    def entrywise(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Dense:
        """Return the operator with ``function`` applied to the weights."""
        return Dense(function(self.weights))

    def part(self, outputs: NDArray[Any] | slice, inputs: NDArray[Any] | slice) -> Dense:
        """Return the operator from some of the inputs to some of the outputs."""
        return Dense(self.weights[outputs][:, inputs])


def _times(values: NDArray[Any], matrix: NDArray[Any]) -> NDArray[Any]:
    flat = values.reshape(-1, values.shape[-1]) if values.ndim > 2 else values
    return (flat @ matrix).reshape(*values.shape[:-1], matrix.shape[1])
