# SPDX-License-Identifier: MIT
"""How is a random network drawn?

It is a chain of dense layers with independent weights and biases, all with symmetric laws. A weight is 0 with
probability 1 - alpha; otherwise it has its layer's law, divided by the square root of a number that the scaling
defines. `weight_laws` and `bias_laws` are the laws after scaling, which theorems use.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np

from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import generator, integers, is_sequence, list_of, one_of, positive, shown
from regions.ground.arithmetic.keywords import helped
from regions.networks.named_activations import Activation, activation_per_layer
from regions.networks.network import Network
from regions.theory.ensembles.laws import Discrete, Gaussian, Law, Uniform

Scaling = Literal["fan_in", "fan_mean", "none"]

LAWS = "Gaussian, Uniform or Discrete laws"
WANTED = {"weights": LAWS, "biases": f"{LAWS}, or None", "alpha": "a number, or one for each layer"}


@dataclass(frozen=True)
class Ensemble:
    """A law of random networks.

    Parameters
    ----------
    sizes : sequence of int
        Inputs, hidden layers, outputs.
    activation : str or Activation, or a sequence of these
        One for all hidden layers, or one for each.
    weights : Gaussian, Uniform or Discrete, or a sequence of these
        Law of a weight before it is scaled, for all layers, or one for each layer, including the outputs. The default
        is He's.
    biases : Gaussian, Uniform or Discrete, or a sequence of these and None
        Law of a bias in all hidden layers, with outputs without biases; or one for each layer, including the outputs.
        None means biases of 0. They are not scaled.
    scaling : "fan_in", "fan_mean" or "none"
        Weights are divided by the square root of the number of inputs of their layer; by the square root of the mean of
        its numbers of inputs and units; or not at all.
    alpha : float, or sequence of one for each layer
        Probability that a weight is drawn from its law, above 0 and at most 1; otherwise it is 0.

    Raises
    ------
    TypeError, ValueError
        Sizes that are not positive integers; invalid laws, or not as many as layers; numbers out of range.
    ShapeMismatchError
        Fewer than three sizes.

    Examples
    --------
    >>> ensemble = Ensemble([2, 8, 8, 1], biases=Gaussian(0.5), alpha=0.5)
    >>> ensemble.draw(rng=0)
    Network(2-8-8-1, relu, 16 hidden neurons)
    >>> [round(law.std, 6) for law in ensemble.weight_laws]
    [1.0, 0.5, 0.5]
    """

    sizes: Sequence[int]
    activation: str | Activation | Sequence[str | Activation] = "relu"
    _: KW_ONLY
    weights: Law | Sequence[Law] = Gaussian(sqrt(2.0))
    biases: Law | None | Sequence[Law | None] = None
    scaling: Scaling = "fan_in"
    alpha: float | Sequence[float] = 1.0

    def __post_init__(self) -> None:
        sizes = checked_sizes(self.sizes)
        layers, activation = len(sizes) - 1, self.activation
        activation_per_layer(activation, layers - 1)
        if not isinstance(activation, (str, Activation)):
            object.__setattr__(self, "activation", tuple(activation))
        object.__setattr__(self, "sizes", sizes)
        one_of(self.scaling, ("fan_in", "fan_mean", "none"), "scaling")
        for name, wanted in (("weights", Law), ("biases", Law | None)):
            given = getattr(self, name)
            if not isinstance(given, wanted):
                given = _one_each(given, layers, name)
            for each in given if isinstance(given, tuple) else (given,):
                if not isinstance(each, wanted):
                    raise TypeError(f"{name} must be {WANTED[name]}, got {shown(each)}")
            object.__setattr__(self, name, given)
        alpha = _one_each(self.alpha, layers, "alpha") if is_sequence(self.alpha) else (self.alpha,)
        kept = tuple(positive(each, "alpha") for each in alpha)
        if max(kept) > 1.0:
            raise ValueError(f"alpha must be above 0 and at most 1, got {shown(self.alpha)}")
        object.__setattr__(self, "alpha", kept if is_sequence(self.alpha) else kept[0])
        _ = self.weight_laws  # scaled numbers must be in range too

    @property
    def n_in(self) -> int:
        """Dimension of the input space."""
        return self.sizes[0]

    @property
    def widths(self) -> tuple[int, ...]:
        """Units of the hidden layers."""
        return tuple(self.sizes[1:-1])

    @property
    def weight_laws(self) -> tuple[Law, ...]:
        """For each layer, the law after scaling of a weight that is not set to 0."""
        laws: tuple[Law, ...] = _for_each(self.weights, len(self.sizes) - 1)
        over = zip(self.sizes, self.sizes[1:], strict=False)
        if self.scaling == "none":
            return laws
        fans = [inputs if self.scaling == "fan_in" else (inputs + units) / 2.0 for inputs, units in over]
        return tuple(law.scaled(1.0 / sqrt(fan)) for law, fan in zip(laws, fans, strict=True))

    @property
    def bias_laws(self) -> tuple[Law | None, ...]:
        """Law of a bias, for each layer; None if biases are 0."""
        return self.biases if isinstance(self.biases, tuple) else (*_for_each(self.biases, len(self.widths)), None)

    @property
    def alphas(self) -> tuple[float, ...]:
        """Probability that a weight is drawn from its law, for each layer."""
        return _for_each(self.alpha, len(self.sizes) - 1)

    @property
    def dense(self) -> bool:
        """Whether every weight of every layer is drawn from its law."""
        return min(self.alphas) == 1.0

    @helped("Pass rng=, a seed such as 0: every draw can be repeated.")
    def draw(self, rng: int | np.random.Generator) -> Network:
        """Draw one random network.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            A seed, which makes the same network each time, or a generator, which is advanced.

        Raises
        ------
        TypeError, ValueError
        """
        stream, layers = generator(rng), []
        facts = zip(self.sizes, self.sizes[1:], self.weight_laws, self.alphas, self.bias_laws, strict=False)
        for inputs, units, law, alpha, bias_law in facts:
            weights = law.draw((units, inputs), stream)
            if alpha < 1.0:
                weights[stream.random((units, inputs)) >= alpha] = 0.0
            layers.append((weights, None if bias_law is None else bias_law.draw((units,), stream)))
        return Network(layers, self.activation)

    def __str__(self) -> str:
        """Return a few words, as in titles of tables."""
        words = ["-".join(map(str, self.sizes)), _words(self.activation), _words(self.weights, self.scaling)]
        if not self.dense:
            words.append(f"alpha {_words(self.alpha)}")
        return ", ".join([*words, "no biases" if self.biases is None else f"biases {_words(self.biases)}"])


def checked_sizes(given: Any) -> tuple[int, ...]:
    """Return the numbers of inputs, hidden units and outputs of a random network."""
    sizes = integers(given, "sizes")
    if len(sizes) < 3:
        raise ShapeMismatchError(f"sizes are inputs, hidden layers and outputs, at least 3 numbers, got {sizes}")
    return sizes


def _for_each(given: Any, layers: int) -> tuple[Any, ...]:
    return given if isinstance(given, tuple) else (given,) * layers


def _one_each(given: Any, layers: int, name: str) -> tuple[Any, ...]:
    items = list_of(given, name, WANTED[name])
    if len(items) != layers:
        raise ValueError(f"{name} must have one entry for each of {layers} layers, outputs included, got {len(items)}")
    return tuple(items)


def _words(given: Any, scaling: str = "none") -> str:
    if isinstance(given, tuple):
        same = len(set(given)) == 1
        return _words(given[0], scaling) if same else "by layer"
    over = {"fan_in": " / sqrt(fan-in)", "fan_mean": " / sqrt(fan-mean)", "none": ""}[scaling]
    if isinstance(given, Gaussian):
        return f"N(0, {given.std:.4g}^2){over}"
    if isinstance(given, Uniform):
        return f"U(-{given.bound:.4g}, {given.bound:.4g}){over}"
    if isinstance(given, Discrete):
        return f"one of {len(given.values)} numbers up to {given.values[-1]:.4g}{over}"
    return str(given)
