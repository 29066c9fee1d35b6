# SPDX-License-Identifier: MIT
"""Which network is this scikit-learn estimator?

An ``MLPClassifier`` or ``MLPRegressor`` with the activation ``relu`` or ``identity``, alone or at the end of a
``Pipeline`` of ``StandardScaler`` and ``MinMaxScaler``, which are folded into the first layer. The last function of the
estimator, softmax or logistic, is left out with a note, so the outputs of the network are the inputs of that function.
Weights are stored as [in, out]. Everything is read from attributes of the estimator, so scikit-learn is not imported.
Source: the documentation of the attributes, and how ``predict`` uses them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from regions.errors import NetworkError, UnsupportedLayerError
from regions.ground.arithmetic.arrays import exact_float64
from regions.ground.text.printable import printable
from regions.networks.named_activations import relu
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice, require_activation
from regions.read.chains.steps import Dense, Nonlinearity, Step, build_network
from regions.read.scaling import Scaling, subtract_and_divide

__all__ = ["is_estimator", "network_from_estimator"]

READ = "read are MLPClassifier and MLPRegressor, alone or after StandardScaler and MinMaxScaler in a Pipeline"


def is_estimator(source: Any) -> bool:
    """Return whether this is an object of scikit-learn, without importing it."""
    return _is(source, "BaseEstimator")


def network_from_estimator(estimator: Any, activation: ActivationChoice) -> Network:
    """Make a network of a fitted estimator.

    Parameters
    ----------
    estimator : MLPClassifier, MLPRegressor, or Pipeline that ends in one
    activation : str, Activation, sequence of these, or None
        The activation that the caller named; it must be the estimator's own.

    Raises
    ------
    UnsupportedLayerError
        Another activation or another estimator.
    NetworkError
        It was not fitted; the named activation is another one.
    """
    mlp = estimator
    while _is(mlp, "Pipeline") and mlp.steps:
        mlp = mlp.steps[-1][1]
    steps = list(_steps(estimator, ""))
    if not steps or not isinstance(steps[-1], Dense):
        raise UnsupportedLayerError(f"{type(estimator).__name__} does not end in a network: {READ}")
    network = build_network(steps, _output_note(mlp))
    require_activation(network, activation, "the estimator")
    return network


def _steps(part: Any, name: str) -> Iterator[Step]:
    kind = type(part).__name__
    where = f"{kind} {name!r}" if name else kind
    if part is None or part == "passthrough":
        return
    if _is(part, "Pipeline"):
        for child_name, child in part.steps:
            yield from _steps(child, f"{name}.{child_name}" if name else str(child_name))
    elif _is(part, "StandardScaler"):
        count = _fitted(part, "n_features_in_", where)
        mean = np.zeros(count) if part.mean_ is None else exact_float64(part.mean_, f"{where}: mean_")
        scale = np.ones(count) if part.scale_ is None else exact_float64(part.scale_, f"{where}: scale_")
        yield subtract_and_divide("scaler", name or kind, mean if part.with_mean else np.zeros(count), scale)
    elif _is(part, "MinMaxScaler"):
        if getattr(part, "clip", False):
            raise UnsupportedLayerError(f"{where} clips its values, which is not folded; fit it with clip=False")
        scale = exact_float64(_fitted(part, "scale_", where), f"{where}: scale_")
        yield Scaling("scaler", name or kind, scale, exact_float64(part.min_, f"{where}: min_"), exact=True)
    elif _is(part, "BaseMultilayerPerceptron"):
        yield from _layers(part, where)
    else:
        raise UnsupportedLayerError(f"{where} is not handled: {READ}")


def _layers(mlp: Any, where: str) -> Iterator[Step]:
    if mlp.activation not in ("relu", "identity"):
        raise UnsupportedLayerError(
            f"{where} has the activation {printable(mlp.activation)!r}, which is not piecewise linear; read are relu "
            "and identity"
        )
    weights, biases = _fitted(mlp, "coefs_", where), mlp.intercepts_
    for index, (one, bias) in enumerate(zip(weights, biases, strict=True)):
        matrix = exact_float64(np.transpose(one), f"coefs_[{index}]")
        yield Dense(f"coefs_[{index}]", np.ascontiguousarray(matrix), exact_float64(bias, f"intercepts_[{index}]"))
        if index < len(weights) - 1 and mlp.activation == "relu":
            yield Nonlinearity(f"the activation after coefs_[{index}]", relu())


def _fitted(part: Any, attribute: str, where: str) -> Any:
    if not hasattr(part, attribute):
        raise NetworkError(f"{where} has not been fitted, so it has no weights; call its fit first")
    return getattr(part, attribute)


def _output_note(mlp: Any) -> list[str]:
    last = getattr(mlp, "out_activation_", "identity")
    if last == "identity":
        return []
    note = f"its last function, {printable(last)}, was left out: outputs are what that is applied to"
    classes: Any = getattr(mlp, "classes_", ())
    if mlp.n_outputs_ == 1 and len(classes) == 2:
        note += f"; it predicts class {printable(classes[1])} where the output is positive"
    return [note]


def _is(source: Any, name: str) -> bool:
    """Return whether a base class has this name and is from scikit-learn."""
    bases = type(source).__mro__
    return any(base.__qualname__ == name and base.__module__.split(".")[0] == "sklearn" for base in bases)
