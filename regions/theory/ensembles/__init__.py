# SPDX-License-Identifier: MIT
"""What is a law of random networks?

An `Ensemble` defines shape, laws of weights and biases, scaling and sparsity, and draws networks. `regions.growth`
follows curves through many of them, and `regions.measures` takes means of their boundaries.

>>> from regions.theory import ensembles
>>> sparse = ensembles.Ensemble([2, 8, 8, 1], weights=ensembles.Uniform(3.0), alpha=0.5)
>>> print(sparse)
2-8-8-1, relu, U(-3, 3) / sqrt(fan-in), alpha 0.5, no biases
>>> ensembles.he([784, 100, 10]).draw(rng=0)
Network(784-100-10, relu, 100 hidden neurons)

There is one file for each question:

    laws        laws of a single number: `Gaussian`, `Uniform`, `Discrete`
    ensemble    how a network is drawn
    maxout      how a network of maxout units is drawn
    frozen      the hyperplanes of a network whose gates are fair coins
    named       `he`, `glorot`, `torch_default`, and the ensembles of papers
"""

from regions.theory.ensembles.ensemble import Ensemble
from regions.theory.ensembles.frozen import frozen
from regions.theory.ensembles.laws import Discrete, Gaussian, Uniform
from regions.theory.ensembles.maxout import MaxoutEnsemble
from regions.theory.ensembles.named import glorot, hanin_rolnick2019, he, price_tanner2020, raghu2017, torch_default

__all__ = [
    "Discrete",
    "Ensemble",
    "Gaussian",
    "MaxoutEnsemble",
    "Uniform",
    "frozen",
    "glorot",
    "hanin_rolnick2019",
    "he",
    "price_tanner2020",
    "raghu2017",
    "torch_default",
]
