# SPDX-License-Identifier: MIT
"""Which laws does theory have for the growth of curves in an ensemble, layer by layer?

Each theorem gives values of a quantity, or the reason why it does not apply to this ensemble. There are three
quantities: the mean factor by which a layer stretches a curve ("growth"), the mean factor of all layers up to it
("stretching"), and its transitions per transition of the layer before ("transitions").
The mean growth is the mean of a layer given all layers before, which are arbitrary: each theorem on Gaussian or
symmetric layers is proven like that. So the ratio measured on one network has the law's factor as its mean, as long as
there is a length left to stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import Literal

import numpy as np

from regions.domains.curves import Curve
from regions.errors import BoundDoesNotApply
from regions.networks.named_activations import activation_per_layer, parse_activation
from regions.theory import bounds
from regions.theory.bounds.chi import chi_means
from regions.theory.ensembles import Discrete, Ensemble, Gaussian

Kind = Literal["equal", "at least", "at most", "wide limit", "saturated limit"]
Quantity = Literal["growth", "stretching", "transitions"]

# Points of a curve for computing the length of its movement perpendicular to its points.
POINTS = 4097


@dataclass(frozen=True)
class GrowthLaw:
    """The law of one theorem for an ensemble; returned by `regions.growth`.

    Attributes
    ----------
    name : str
    kind : str
        Relation to the mean: "equal", "at least", "at most", or its limit in wide layers after many ("wide limit") or
        when nearly all units are saturated ("saturated limit").
    quantity : "growth", "stretching" or "transitions"
    values : tuple of float
        For each hidden layer, and for the outputs; NaN without a statement. Empty if the theorem does not apply.
    reason : str
        Why it does not apply.
    source : str
    """

    name: str
    kind: Kind
    quantity: Quantity
    values: tuple[float, ...]
    reason: str
    source: str


def laws_of(ensemble: Ensemble, curves: Sequence[Curve]) -> tuple[GrowthLaw, ...]:
    """Return each known law, with its values or the reason why it has none."""
    found = []
    for name, kind, quantity, values_of, source in LAWS:
        try:
            values, reason = tuple(values_of(ensemble, curves)), ""
        except BoundDoesNotApply as refused:
            values, reason = (), str(refused)
        found.append(GrowthLaw(name, kind, quantity, values, reason, source))
    return tuple(found)


def perpendicular_share(curve: Curve) -> float:
    """Return the length of a curve perpendicular to its own points, over its whole length, from points on it."""
    points = curve.to_input(np.linspace(0.0, 1.0, POINTS))
    points = points / np.abs(points).max(initial=1e-300)
    steps, middles = np.diff(points, axis=0), (points[1:] + points[:-1]) / 2.0
    squares = (middles**2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        along = np.where(squares > 0.0, (steps * middles).sum(axis=1) ** 2 / squares, np.inf)
    across = np.sqrt(np.maximum((steps**2).sum(axis=1) - along, 0.0)).sum()
    return float(across / np.sqrt((steps**2).sum(axis=1)).sum())


def _exact_relu(ensemble: Ensemble, curves: Sequence[Curve]) -> list[float]:
    stds = _dense_gaussian(ensemble)
    _require_activation(ensemble, "relu")
    hidden = zip(stds, ensemble.widths, strict=False)
    outputs = chi_means(ensemble.sizes[-1])[-1]  # no activation: a Gaussian vector
    return [*(std * bounds.relu_length_factor(width) for std, width in hidden), stds[-1] * outputs]


def _price_tanner(ensemble: Ensemble, curves: Sequence[Curve]) -> list[float]:
    _require_activation(ensemble, "relu")
    factors = []
    for width, law, alpha in zip(ensemble.widths, ensemble.weight_laws, ensemble.alphas, strict=False):
        if isinstance(law, Discrete):
            value = bounds.price_tanner(1, [width], "discrete", law.values, alpha=alpha)
        elif isinstance(law, Gaussian):
            value = bounds.price_tanner(1, [width], "gaussian", law.std, alpha=alpha)
        else:
            value = bounds.price_tanner(1, [width], "uniform", law.bound, alpha=alpha)
        factors.append(value)
    return [*factors, nan]


def _raghu_lower(ensemble: Ensemble, curves: Sequence[Curve]) -> list[float]:
    activation = _require_activation(ensemble, "relu", "hard_tanh")
    sigma_w, sigma_b = _sigmas(ensemble)
    share = sum(map(perpendicular_share, curves)) / len(curves)
    widths, values = ensemble.widths, []
    for depth in range(1, len(widths) + 1):
        value = bounds.raghu_length_lower(1, widths[:depth], sigma_w, sigma_b, activation=activation)
        values.append(share * value)
    return [*values, nan]


def _raghu_upper(ensemble: Ensemble, curves: Sequence[Curve]) -> list[float]:
    _require_activation(ensemble, "hard_tanh")
    sigma_w, _ = _sigmas(ensemble)
    return [*[bounds.raghu_length_upper(1, ensemble.widths[:1], sigma_w)] * len(ensemble.widths), nan]


def _wide_hard_tanh(ensemble: Ensemble, curves: Sequence[Curve]) -> list[float]:
    _require_activation(ensemble, "hard_tanh")
    return [*[bounds.hard_tanh_length_growth(*_sigmas(ensemble))] * len(ensemble.widths), nan]


def _raghu_transitions(ensemble: Ensemble, curves: Sequence[Curve]) -> list[float]:
    _require_activation(ensemble, "hard_tanh")
    sigmas, widths = _sigmas(ensemble), ensemble.widths
    if len(widths) < 2:
        raise BoundDoesNotApply("it compares layers, and there is only one")
    return [nan, *[bounds.raghu_transitions_lower(1, widths[:2], *sigmas)] * (len(widths) - 1), nan]


LAWS: tuple[tuple[str, Kind, Quantity, Callable[[Ensemble, Sequence[Curve]], list[float]], str], ...] = (
    ("ReLU law", "equal", "growth", _exact_relu, "regions.bounds.expected_length_relu_exact"),
    ("Price-Tanner", "at least", "growth", _price_tanner, "Price, Tanner 2020, Theorem 2, Corollaries 1 to 3"),
    ("Raghu Thm 3", "at least", "stretching", _raghu_lower, "Raghu et al. 2017, Theorem 3, made explicit"),
    ("Raghu upper", "at most", "growth", _raghu_upper, "Raghu et al. 2017, appendix"),
    ("wide limit", "wide limit", "growth", _wide_hard_tanh, "regions.bounds.hard_tanh_length_growth"),
    ("Raghu Thm 4", "saturated limit", "transitions", _raghu_transitions, "Raghu et al. 2017, Theorem 4"),
)


def _require_activation(ensemble: Ensemble, *wanted: str) -> str:
    """Return the name of the activation of all hidden layers; the theorem is about some activations."""
    units = set(activation_per_layer(ensemble.activation, len(ensemble.widths)))
    for name in wanted:
        if units == {parse_activation(name)}:
            return name
    names = ", ".join(sorted(each.name for each in units))
    raise BoundDoesNotApply(f"it is about {' and '.join(wanted)}, and the layers are {names}")


def _dense_gaussian(ensemble: Ensemble) -> list[float]:
    """Return the standard deviations of the weights of each layer."""
    if not ensemble.dense:
        raise BoundDoesNotApply("it is about dense layers, and here some weights are 0")
    stds = [law.std for law in ensemble.weight_laws if isinstance(law, Gaussian)]
    if len(stds) < len(ensemble.weight_laws):
        raise BoundDoesNotApply("it is about Gaussian weights")
    return stds


def _sigmas(ensemble: Ensemble) -> tuple[float, float]:
    """Return Raghu et al.'s sigma_w and sigma_b: weights N(0, sigma_w^2 / k), biases N(0, sigma_b^2)."""
    stds, widths = _dense_gaussian(ensemble)[:-1], ensemble.widths
    if len(set(widths)) > 1:
        raise BoundDoesNotApply("it is about hidden layers of one width")
    scaled = [std * sqrt(width) for std, width in zip(stds, widths, strict=True)]
    if max(scaled) > min(scaled) * (1 + 1e-9):
        raise BoundDoesNotApply("it is about weights N(0, sigma_w^2 / k) in all hidden layers, with one sigma_w")
    laws = set(ensemble.bias_laws[:-1])
    if len(laws) > 1 or not all(law is None or isinstance(law, Gaussian) for law in laws):
        raise BoundDoesNotApply("it is about Gaussian biases of one standard deviation, or none")
    law = laws.pop()
    return scaled[0], 0.0 if law is None else law.std
