# SPDX-License-Identifier: MIT
"""How is a batch norm folded into the dense layer next to it?

In evaluation mode a batch norm is ``y = scale * x + shift`` with ``scale = weight / sqrt(variance + eps)``
and ``shift = bias - mean * scale``, so it disappears into the layer before or after it. The square root and
the products round, in float64: the network is *defined* as what this file yields, and every fold leaves a
note that says so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions.arrays import exact_float64
from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BatchNorm:
    """``y = scale * x + shift``, componentwise.

    Attributes
    ----------
    name : str
        The module it comes from.
    scale, shift : float64 [n]
    """

    name: str
    scale: Floats
    shift: Floats

    @classmethod
    def from_statistics(
        cls,
        name: str,
        mean: ArrayLike,
        variance: ArrayLike,
        weight: ArrayLike | None,
        bias: ArrayLike | None,
        eps: float,
    ) -> BatchNorm:
        """Make it of running statistics [n] and, where the norm has them, learnt weight and bias [n].

        Raises
        ------
        ShapeMismatchError, NonFiniteError, NetworkError
            Lengths that differ; numbers that are not finite; a variance that, with ``eps``, is not positive.
        """
        m = exact_float64(mean, f"batch norm {name!r}: running_mean")
        v = exact_float64(variance, f"batch norm {name!r}: running_var")
        w = np.ones_like(m) if weight is None else exact_float64(weight, f"batch norm {name!r}: weight")
        b = np.zeros_like(m) if bias is None else exact_float64(bias, f"batch norm {name!r}: bias")
        if m.ndim != 1 or not m.shape == v.shape == w.shape == b.shape:
            shapes = [list(part.shape) for part in (m, v, w, b)]
            raise ShapeMismatchError(
                f"batch norm {name!r}: mean, variance, weight and bias must have one and the same length, "
                f"got {shapes}"
            )
        if (v + eps <= 0).any():
            index = int(np.argmax(v + eps <= 0))
            raise NetworkError(
                f"batch norm {name!r}: running_var[{index}] + eps is {v[index] + eps}, not positive"
            )
        with np.errstate(over="ignore", invalid="ignore"):
            scale = w / np.sqrt(v + eps)
            return cls(name, scale, b - m * scale).checked()

    def checked(self) -> BatchNorm:
        """Return self; overflow is an error."""
        if not (np.isfinite(self.scale).all() and np.isfinite(self.shift).all()):
            raise NonFiniteError(f"batch norm {self.name!r}: its scale or shift is not finite in float64")
        return self

    def after(self, weights: Floats, biases: Floats) -> tuple[Floats, Floats]:
        """Weights and bias of the layer followed by this norm."""
        self.check_width(len(biases), "outputs of the layer before it")
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # what overflows is refused where the layer is made
            return weights * self.scale[:, np.newaxis], biases * self.scale + self.shift

    def before(self, weights: Floats, biases: Floats) -> tuple[Floats, Floats]:
        """Weights and bias of this norm followed by the layer."""
        self.check_width(weights.shape[1], "inputs of the layer after it")
        with np.errstate(over="ignore", invalid="ignore"):
            return weights * self.scale, weights @ self.shift + biases

    def then(self, later: BatchNorm) -> BatchNorm:
        """This norm followed by another one."""
        later.check_width(len(self.scale), "features of the batch norm before it")
        with np.errstate(over="ignore", invalid="ignore"):
            scale, shift = self.scale * later.scale, self.shift * later.scale + later.shift
        return BatchNorm(f"{self.name}, {later.name}", scale, shift).checked()

    def check_width(self, width: int, what: str) -> None:
        """Refuse to be combined with something of another width."""
        if len(self.scale) != width:
            raise ShapeMismatchError(
                f"batch norm {self.name!r} has {len(self.scale)} features, the {what} are {width}"
            )
