# SPDX-License-Identifier: MIT
"""How is a random network of maxout units drawn?

A maxout unit of rank k is the largest of k affine functions of the layer below. Weights and biases are independent, and
weights are divided by the square root of the number of inputs. By default they are Gaussian with the variance of Tseran
and Montufar: one over the mean square of the largest of k standard normal numbers. Without biases, a layer then keeps
the mean square of its inputs, which He's variance of 2 does for ReLU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import exp, pi, sqrt

import numpy as np

from regions.ground.arithmetic.arguments import generator, integer, shown
from regions.ground.arithmetic.keywords import helped
from regions.networks.dense import Dense
from regions.networks.graph import Graph, Node, Read
from regions.networks.maxima import MOST_ARMS, Maxima
from regions.networks.named_activations import identity
from regions.networks.network import Network
from regions.networks.units import Units
from regions.theory.ensembles.ensemble import checked_sizes
from regions.theory.ensembles.laws import Gaussian, Law

__all__ = ["MaxoutEnsemble"]


@dataclass(frozen=True)
class MaxoutEnsemble:
    """A law of random networks with maxout units.

    Parameters
    ----------
    sizes : sequence of int
        Inputs, hidden layers, outputs.
    rank : int
        Affine functions of each unit, at least 2.
    weights : Gaussian, Uniform or Discrete, optional
        Law of a weight, before it is divided by the square root of the inputs of its layer; by default the Gaussian law
        of Tseran and Montufar, and variance 1 for the outputs.
    biases : Gaussian, Uniform or Discrete, optional
        Law of a bias in all hidden layers, not scaled. By default biases are 0; outputs have none.

    Raises
    ------
    TypeError, ValueError
        Sizes that are not positive integers; a rank out of range; invalid laws.
    ShapeMismatchError
        Fewer than three sizes.

    References
    ----------
    Tseran, Montufar, Expected gradients of maxout networks and consequences to parameter initialization, 2023. The
    variances are those of the authors' code for ranks 2 to 5.

    Examples
    --------
    >>> ensemble = MaxoutEnsemble([2, 8, 8, 1], 3, biases=Gaussian(0.5))
    >>> network = ensemble.draw(rng=0)
    >>> network.n_in, network.widths, network.kinks
    (2, (8, 8), 48)
    >>> round(ensemble.weight_laws[0].std ** 2 * 2, 6)    # 1 / 1.2757
    0.783905
    """

    sizes: Sequence[int]
    rank: int
    _: KW_ONLY
    weights: Law | None = None
    biases: Law | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", checked_sizes(self.sizes))
        object.__setattr__(self, "rank", integer(self.rank, "rank", least=2, most=MOST_ARMS))
        for name in ("weights", "biases"):
            given = getattr(self, name)
            if not isinstance(given, Law | None):
                raise TypeError(f"{name} must be a Gaussian, Uniform or Discrete law, or None, got {shown(given)}")
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
        """Law of a weight, after scaling, for each layer, outputs included."""
        hidden = self.weights or Gaussian(1.0 / sqrt(_mean_square_of_largest(self.rank)))
        laws = [*[hidden] * len(self.widths), self.weights or Gaussian(1.0)]
        return tuple(law.scaled(1.0 / sqrt(inputs)) for law, inputs in zip(laws, self.sizes, strict=False))

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
        stream, nodes, first = generator(rng), [], 0
        *hidden, outputs = self.weight_laws
        for number, (inputs, units, law) in enumerate(zip(self.sizes, self.widths, hidden, strict=False)):
            maxima = Maxima.of_sizes([self.rank] * units)
            weights = law.draw((maxima.rows, inputs), stream)
            biases = np.zeros(maxima.rows) if self.biases is None else self.biases.draw((maxima.rows,), stream)
            kinks = slice(first, first + maxima.kinks)
            nodes.append(Node(biases, (Read(Dense(weights), number - 1),), maxima, kinks))
            first = kinks.stop
        count, inputs = self.sizes[-1], self.sizes[-2]
        reads = (Read(Dense(outputs.draw((count, inputs), stream)), len(nodes) - 1),)
        nodes.append(Node(np.zeros(count), reads, Units(count, identity()), slice(first, first)))
        return Network.from_graph(Graph(self.n_in, nodes))

    def __str__(self) -> str:
        """Return a few words, as in titles of tables."""
        return f"{'-'.join(map(str, self.sizes))}, maxout of rank {self.rank}"


def _mean_square_of_largest(count: int) -> float:
    """Return the mean square of the largest of several standard normal numbers."""
    from scipy.integrate import quad
    from scipy.special import ndtr

    def integrand(x: float) -> float:
        return x * x * count * exp(-x * x / 2.0) / sqrt(2.0 * pi) * float(ndtr(x)) ** (count - 1)

    mean, _ = quad(integrand, -40.0, 40.0, epsabs=0.0, epsrel=1e-11, limit=500, points=[0.0, 1.0, 2.0, 4.0])
    return float(mean)
