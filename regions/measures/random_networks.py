# SPDX-License-Identifier: MIT
"""From which random networks are expectations taken?

Dense layers with independent weights and biases, all with symmetric laws that have a density: what Hanin and Rolnick's
theorems ask for (their A1 and A2). Weights have a variance of ``weight_gain`` over fan-in, He's initialisation being 2;
biases have one standard deviation in all layers, and their density is known in closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sqrt
from typing import Literal

import numpy as np

from regions.arithmetic.arguments import generator, integer, one_of, positive, tuple_of
from regions.arithmetic.arrays import real_numbers
from regions.arithmetic.types import Floats
from regions.errors import ShapeMismatchError
from regions.networks.named_activations import Activation, activation_per_layer
from regions.networks.network import Network

# Squares of numbers in units of it, and their inverses, are doubles.
SMALLEST = 1e-150
Law = Literal["gaussian", "uniform"]


@dataclass(frozen=True)
class RandomNetworks:
    """A law of random networks.

    Parameters
    ----------
    sizes : sequence of int
        Inputs, hidden layers, outputs.
    activation : str or Activation, or a sequence of these
        Of all hidden layers, or one for each.
    weight_gain : float
        Variance of a weight times the number of inputs of its layer.
    bias_std : float
        Standard deviation of a bias of a hidden layer; those of the outputs change no boundary, and are 0.
    weight_law, bias_law : "gaussian" or "uniform"
        The latter on an interval around 0.

    Raises
    ------
    TypeError, ValueError
        Sizes that are no positive integers; numbers not above 0; another law.
    ShapeMismatchError
        Fewer than three sizes.

    Examples
    --------
    >>> import numpy as np
    >>> random = RandomNetworks([2, 8, 8, 1], bias_std=0.5)
    >>> random.draw(np.random.default_rng(0))
    Network(2-8-8-1, relu, 16 hidden neurons)
    >>> random.bias_density([0.0, 0.5]).round(6)
    array([0.797885, 0.483941])
    """

    sizes: Sequence[int]
    activation: str | Activation = "relu"
    weight_gain: float = 2.0
    bias_std: float = 1.0
    weight_law: Law = "gaussian"
    bias_law: Law = "gaussian"

    def __post_init__(self) -> None:
        sizes = tuple(integer(size, f"sizes[{i}]") for i, size in enumerate(tuple_of(self.sizes, "sizes")))
        if len(sizes) < 3:
            raise ShapeMismatchError(f"sizes are inputs, hidden layers and outputs, at least 3 numbers, got {sizes}")
        object.__setattr__(self, "sizes", sizes)
        activation_per_layer(self.activation, len(sizes) - 2)
        for name in ("weight_gain", "bias_std"):
            object.__setattr__(self, name, positive(getattr(self, name), name))
        if not SMALLEST <= self.bias_std <= 1.0 / SMALLEST:
            raise ValueError(f"bias_std must be between {SMALLEST} and {1 / SMALLEST}, got {self.bias_std}")
        for name in ("weight_law", "bias_law"):
            one_of(getattr(self, name), ("gaussian", "uniform"), name)

    @property
    def n_in(self) -> int:
        """Dimension of the input space."""
        return self.sizes[0]

    @property
    def hidden(self) -> int:
        """Number of hidden neurons."""
        return sum(self.sizes[1:-1])

    def draw(self, rng: np.random.Generator) -> Network:
        """One random network."""
        generator(rng)
        layers = []
        for index, (fan_in, units) in enumerate(zip(self.sizes, self.sizes[1:], strict=False)):
            weights = _drawn(self.weight_law, sqrt(self.weight_gain / fan_in), (units, fan_in), rng)
            hidden = index + 2 < len(self.sizes)
            layers.append((weights, _drawn(self.bias_law, self.bias_std, (units,), rng) if hidden else None))
        return Network(layers, self.activation)

    def bias_density(self, values: Floats) -> Floats:
        """Density of the law of a single bias, at numbers float64 [..]; they may be infinite."""
        with np.errstate(over="ignore"):
            scaled = np.clip(real_numbers(values, "values", infinite=True) / self.bias_std, -1e100, 1e100)
        if self.bias_law == "gaussian":
            density = np.exp(-(scaled**2) / 2.0) / sqrt(2.0 * pi)
        else:
            density = (np.abs(scaled) <= sqrt(3.0)) / (2.0 * sqrt(3.0))
        return np.asarray(density / self.bias_std)

    def bias_probability(self, low: Floats, high: Floats) -> Floats:
        """Probability that a single bias is between two numbers, float64 [..]; they may be infinite.

        Raises
        ------
        TypeError, ValueError
            No real numbers; of two shapes; a lower one above its upper one.

        Examples
        --------
        >>> RandomNetworks([2, 8, 1], bias_law="uniform").bias_probability([-0.75], [9.0]).round(6)
        array([0.716506])
        """
        low, high = real_numbers(low, "low", infinite=True), real_numbers(high, "high", infinite=True)
        if low.shape != high.shape:
            raise ShapeMismatchError(f"low and high need one shape, got {list(low.shape)} and {list(high.shape)}")
        if (low > high).any():
            raise ValueError("low must not be above high")
        with np.errstate(over="ignore"):  # so far out all is on one side
            start, end = low / self.bias_std, high / self.bias_std
        if self.bias_law == "uniform":
            ends = [np.clip(each, -sqrt(3.0), sqrt(3.0)) for each in (start, end)]
            return np.asarray((ends[1] - ends[0]) / (2.0 * sqrt(3.0)))
        from scipy.special import ndtr

        # Of two numbers that are close together the difference of distribution functions keeps no digits.
        with np.errstate(invalid="ignore"):  # infinite ones are not close together
            close = end - start < 1e-3
        near = np.where(close, low, 0.0), np.where(close, high, 0.0)
        narrow = (near[1] - near[0]) * self.bias_density(near[0] / 2.0 + near[1] / 2.0)
        return np.asarray(np.where(close, narrow, ndtr(end) - ndtr(start)))


def _drawn(law: str, std: float, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Independent numbers of mean 0 and the given standard deviation."""
    return rng.standard_normal(shape) * std if law == "gaussian" else rng.uniform(-1.0, 1.0, shape) * sqrt(3.0) * std
