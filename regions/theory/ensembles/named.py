# SPDX-License-Identifier: MIT
"""Which ensembles have names?

Initialisations by their authors' names, and the random networks of the papers, each with the scaling and the biases
used there. Every function returns an `Ensemble` that could also be made directly.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Literal

from regions.ground.arithmetic.arguments import integer, integers, number, one_of, shown
from regions.networks.named_activations import Activation
from regions.theory.ensembles.ensemble import Ensemble
from regions.theory.ensembles.laws import Discrete, Gaussian, Law, Uniform, size_of_law

Activations = str | Activation | Sequence[str | Activation]
Shape = Literal["gaussian", "uniform"]


def he(sizes: Sequence[int], activation: Activations = "relu", *, law: Shape = "gaussian") -> Ensemble:
    """Return weights of variance 2 over fan-in, no biases.

    Parameters
    ----------
    sizes, activation
        As for `Ensemble`.
    law : "gaussian" or "uniform"

    References
    ----------
    He, Zhang, Ren, Sun, Delving deep into rectifiers, 2015.

    Examples
    --------
    >>> round(he([8, 4, 1]).weight_laws[0].std, 6)
    0.5
    """
    return Ensemble(sizes, activation, weights=_of_std(sqrt(2.0), law))


def glorot(sizes: Sequence[int], activation: Activations = "relu", *, law: Shape = "uniform") -> Ensemble:
    """Return weights of variance 2 over the sum of a layer's inputs and units, no biases.

    Parameters
    ----------
    sizes, activation
        As for `Ensemble`.
    law : "gaussian" or "uniform"

    References
    ----------
    Glorot, Bengio, Understanding the difficulty of training deep feedforward neural networks, 2010.

    Examples
    --------
    >>> round(glorot([6, 2, 1]).weight_laws[0].std, 6)
    0.5
    """
    return Ensemble(sizes, activation, weights=_of_std(1.0, law), scaling="fan_mean")


def torch_default(sizes: Sequence[int], activation: Activations = "relu") -> Ensemble:
    """Return the default of ``torch.nn.Linear``: weights and biases uniform up to one over the square root of fan-in.

    Parameters
    ----------
    sizes, activation
        As for `Ensemble`.

    Examples
    --------
    >>> torch_default([4, 9, 1]).bias_laws
    (Uniform(bound=0.5), Uniform(bound=0.3333333333333333))
    """
    inputs = integers(sizes, "sizes")[:-1]
    return Ensemble(sizes, activation, weights=Uniform(1.0), biases=[Uniform(1.0 / sqrt(fan)) for fan in inputs])


def raghu2017(
    n_in: int,
    width: int,
    depth: int,
    *,
    sigma_w: float,
    sigma_b: float = 0.0,
    activation: Activations = "hard_tanh",
    n_out: int = 1,
) -> Ensemble:
    """Return the ensemble of Raghu et al.: layers of width k, weights N(0, sigma_w^2 / k), biases N(0, sigma_b^2).

    Parameters
    ----------
    n_in, width, depth, n_out : int
        Inputs; units of a hidden layer; hidden layers; outputs.
    sigma_w, sigma_b : float
        A ``sigma_b`` of 0 means biases of 0. Note that the figures' captions give variances.
    activation
        As for `Ensemble`.

    References
    ----------
    Raghu et al., On the expressive power of deep neural networks, 2017, section 2.2.

    Examples
    --------
    >>> raghu2017(784, 100, 2, sigma_w=3.0).weight_laws[0].std
    0.3
    """
    k, scale = integer(width, "width"), size_of_law(sigma_w, "sigma_w")
    spread = size_of_law(sigma_b, "sigma_b") if number(sigma_b, "sigma_b") else 0.0
    return Ensemble(
        _equal(n_in, k, depth, n_out),
        activation,
        weights=Gaussian(scale / sqrt(k)),
        biases=Gaussian(spread) if spread else None,
        scaling="none",
    )


def price_tanner2020(width: int, depth: int, law: Law, *, alpha: float = 1.0, n_out: int = 1) -> Ensemble:
    """Return the ensemble of Price and Tanner's experiments: sparse ReLU layers as wide as the input, scaled by width.

    Parameters
    ----------
    width, depth, n_out : int
        Inputs, and units of a hidden layer; hidden layers; outputs.
    law : Gaussian, Uniform or Discrete
        Law of a nonzero weight, before it is divided by the square root of the width. Biases have
        the same kind of law: N(0, 0.01^2), uniform from -0.01 to 0.01, or -0.01 and 0.01 with equal probability.
    alpha : float
        Probability that a weight is not 0.

    References
    ----------
    Price, Tanner, Trajectory growth lower bounds for random sparse deep ReLU networks, 2020, section 5.

    Examples
    --------
    >>> price_tanner2020(500, 3, Uniform(2.0), alpha=0.5).bias_laws[0]
    Uniform(bound=0.01)
    """
    if not isinstance(law, Law):
        raise TypeError(f"law must be a Gaussian, Uniform or Discrete, got {shown(law)}")
    biases: Law = Gaussian(0.01) if isinstance(law, Gaussian) else Uniform(0.01)
    if isinstance(law, Discrete):
        biases = Discrete([-0.01, 0.01])
    return Ensemble(_equal(width, width, depth, n_out), weights=law, biases=biases, alpha=alpha)


def hanin_rolnick2019(sizes: Sequence[int]) -> Ensemble:
    """Return the ensemble of Hanin and Rolnick's experiments: He's weights with biases N(0, 1e-6), ReLU.

    Parameters
    ----------
    sizes
        As for `Ensemble`.

    References
    ----------
    Hanin, Rolnick, Complexity of linear regions in deep networks, 2019, section 4.
    """
    return Ensemble(sizes, biases=Gaussian(1e-3))


def _equal(n_in: int, width: int, depth: int, n_out: int) -> list[int]:
    hidden = [integer(width, "width")] * integer(depth, "depth")
    return [integer(n_in, "n_in"), *hidden, integer(n_out, "n_out")]


def _of_std(std: float, law: str) -> Law:
    chosen = one_of(law, ("gaussian", "uniform"), "law")
    return Gaussian(std) if chosen == "gaussian" else Uniform(std * sqrt(3.0))
