# SPDX-License-Identifier: MIT
"""How is a componentwise affine map folded into the dense layer next to it?

``y = scale * x + shift`` is a batch norm in evaluation mode, or a division, multiplication, addition or subtraction of
constants. It is folded into the layer before or after it. Products and sums may be rounded, in float64; the network is
then *defined* by the rounded numbers. Whether anything was rounded is decided exactly: a product or sum of doubles is
itself a double exactly when its error, which is computed without rounding, is zero. Source of the two error terms:
Knuth, The Art of Computer Programming, volume 2, section 4.2.2; Dekker (1971).
Cost: about ten passes over the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError, UnsupportedLayerError
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.arithmetic.types import Floats

# Most characters in the name of several scalings in a row.
LONGEST_NAME = 400
# Cuts a significand of 53 bits into two halves whose products are exact (Veltkamp).
_SPLITTER = 2.0**27 + 1.0


@dataclass(frozen=True)
class Scaling:
    """``y = scale * x + shift``, componentwise.

    Attributes
    ----------
    kind, name : str
        What it is, such as ``"batch norm"``, and the module or node it comes from.
    scale, shift : float64 [n]
    exact : bool
        Whether these are the model's own numbers, not rounded ones.
    divisors : float64 [n], optional
        If the model divides: the numbers of which ``scale`` is the rounded inverse.
    """

    kind: str
    name: str
    scale: Floats
    shift: Floats
    exact: bool
    divisors: Floats | None = None

    def checked(self) -> Scaling:
        """Return self; overflow is an error."""
        if not (np.isfinite(self.scale).all() and np.isfinite(self.shift).all()):
            raise NonFiniteError(f"{self.kind} {self.name!r}: its scale or shift is not finite in float64")
        return self

    def after(self, weights: Floats, biases: Floats) -> tuple[Floats, Floats, bool]:
        """Return weights and bias of the layer followed by this scaling, and whether nothing was rounded."""
        self.require_width(len(biases), "outputs of the layer before it")
        products, products_exact = self._multiplied(weights, self.scale[:, np.newaxis])
        scaled, scaled_exact = multiply(biases, self.scale)
        sums, sums_exact = add(scaled, self.shift)
        return products, sums, self.exact and products_exact and scaled_exact and sums_exact

    def before(self, weights: Floats, biases: Floats) -> tuple[Floats, Floats, bool]:
        """Return weights and bias of this scaling followed by the layer, and whether it is certain that nothing was
        rounded.
        """
        self.require_width(weights.shape[1], "inputs of the layer after it")
        products, products_exact = self._multiplied(weights, self.scale)
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused when the layer is made
            shifted = weights @ self.shift + biases if self.shift.any() else biases
        return products, shifted, self.exact and products_exact and not self.shift.any()

    def _multiplied(self, weights: Floats, scale: Floats) -> tuple[Floats, bool]:
        return (weights, True) if (self.scale == 1.0).all() else multiply(weights, scale)

    def then(self, later: Scaling) -> Scaling:
        """Return this scaling followed by another one."""
        later.require_width(len(self.scale), f"features of the {self.kind} before it")
        scale, scale_exact = multiply(self.scale, later.scale)
        product, product_exact = multiply(self.shift, later.scale)
        shift, shift_exact = add(product, later.shift)
        name = f"{self.name}, {later.name if later.kind == self.kind else f'{later.kind} {later.name}'}"
        if len(name) > LONGEST_NAME:  # a chain of thousands would store all names each time
            name = self.name if self.name.endswith(", ..") else f"{self.name}, .."
        exact = self.exact and later.exact and scale_exact and product_exact and shift_exact
        return Scaling(self.kind, name, scale, shift, exact).checked()

    def require_width(self, width: int, what: str) -> None:
        """Refuse a layer of another width."""
        if len(self.scale) != width:
            raise ShapeMismatchError(
                f"{self.kind} {self.name!r} has {len(self.scale)} features, the {what} are {width}"
            )


def subtract_and_divide(kind: str, name: str, means: Floats, divisors: Floats) -> Scaling:
    """Return the scaling ``(x - mean) / divisor``, componentwise, with divisors that are not zero."""
    scale, scale_exact = invert(divisors)
    products, products_exact = multiply(-means, scale)
    shift, _ = add(products, np.zeros(1))  # -0 becomes 0
    return Scaling(kind, name, scale, shift, scale_exact and products_exact).checked()


def without_statistics(what: str) -> UnsupportedLayerError:
    """Return the error for a batch norm whose outputs depend on the whole batch."""
    return UnsupportedLayerError(
        f"{what} keeps no running statistics (track_running_stats=False), so each output depends on the whole batch; "
        "train it with track_running_stats=True"
    )


def scaling_of_batch_norm(
    name: str,
    mean: ArrayLike,
    variance: ArrayLike,
    weight: ArrayLike | None,
    bias: ArrayLike | None,
    eps: float,
) -> Scaling:
    """Make a scaling of running statistics [n] and, where the norm has them, learnt weight and bias [n].

    In evaluation mode a batch norm has ``scale = weight / sqrt(variance + eps)`` and ``shift = bias - mean * scale``.
    The square root and the products round, in float64, so folding a batch norm always leaves a note.

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
            f"batch norm {name!r}: mean, variance, weight and bias must have one and the same length, got {shapes}"
        )
    if (v + eps <= 0).any():
        index = int(np.argmax(v + eps <= 0))
        raise NetworkError(f"batch norm {name!r}: running_var[{index}] + eps is {v[index] + eps}, not positive")
    with np.errstate(over="ignore", invalid="ignore"):
        scale = w / np.sqrt(v + eps)
        return Scaling("batch norm", name, scale, b - m * scale, exact=False).checked()


def multiply(a: Floats, b: Floats) -> tuple[Floats, bool]:
    """Return products of doubles, broadcast, and whether all of them are exact."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        products = np.asarray(a * b)
        # For significands between 1/2 and 1, so that nothing here overflows or underflows.
        (a, a_exponent), (b, b_exponent) = np.frexp(a), np.frexp(b)
        significands = a * b
        a_high, a_low = _halves(a)
        b_high, b_low = _halves(b)
        errors = ((a_high * b_high - significands) + a_high * b_low + a_low * b_high) + a_low * b_low
        kept = np.ldexp(products, -(a_exponent + b_exponent)) == significands  # false if bits below 2^-1074 were lost
    return products, bool((errors == 0.0).all() and kept.all())


def add(a: Floats, b: Floats) -> tuple[Floats, bool]:
    """Return sums of doubles, broadcast, and whether all of them are exact."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.asarray(a + b)
        b_part = sums - a
        errors = (a - (sums - b_part)) + (b - b_part)
    return sums, bool((errors == 0.0).all())


def invert(divisors: Floats) -> tuple[Floats, bool]:
    """Return one over each double, none of them zero, and whether all are exact: this is so for powers of two only."""
    with np.errstate(over="ignore"):
        inverses = 1.0 / divisors
    return inverses, bool((np.abs(np.frexp(divisors)[0]) == 0.5).all() and np.isfinite(inverses).all())


def _halves(significands: Floats) -> tuple[Floats, Floats]:
    stretched = _SPLITTER * significands
    high = stretched - (stretched - significands)
    return high, significands - high
