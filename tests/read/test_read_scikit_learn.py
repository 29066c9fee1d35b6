# SPDX-License-Identifier: MIT
"""Is an estimator of scikit-learn read as the network that it computes?"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler

import regions
from regions import count
from regions.domains import Segment
from regions.errors import AmbiguousCheckpointError, NetworkError, UnsupportedLayerError
from regions.read import load

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -1.0]
Y = (X[:, 0] * 2 > X[:, 2]).astype(int) + (X[:, 1] > 5)


def fitted(estimator: Any, x: Any = X, y: Any = Y) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(x, y)


def softmax(z: Any) -> Any:
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


SMALL: dict[str, Any] = {"max_iter": 5, "random_state": 0}


@pytest.mark.parametrize("sizes", [5, (5,), (6, 4), ()])
@pytest.mark.parametrize("activation", ["relu", "identity"])
def test_regressor(sizes: Any, activation: str) -> None:
    mlp = fitted(MLPRegressor(hidden_layer_sizes=sizes, activation=activation, **SMALL), y=np.c_[Y, -Y])
    net = load(mlp)
    np.testing.assert_allclose(net(X), mlp.predict(X), rtol=1e-12, atol=1e-12)
    assert net.widths == tuple(np.atleast_1d(np.array(sizes, int))) and net.n_out == 2
    assert {layer.activation.name for layer in net.layers[:-1]} <= {activation}
    if activation == "relu":
        assert net.notes == () and load(mlp, "relu") == net


def test_weights_are_those_that_are_stored() -> None:
    mlp = fitted(MLPRegressor(hidden_layer_sizes=4, **SMALL))
    net = load(mlp)
    assert (net.layers[0].weights == mlp.coefs_[0].T).all() and (net.layers[1].biases == mlp.intercepts_[1]).all()


def test_classifier_of_three() -> None:
    mlp = fitted(MLPClassifier(hidden_layer_sizes=(6, 4), **SMALL))
    net = load(mlp)
    np.testing.assert_allclose(softmax(net(X)), mlp.predict_proba(X), rtol=1e-12)
    assert net.notes == ("its last function, softmax, was left out: outputs are what that is applied to",)


@pytest.mark.parametrize(("labels", "positive"), [(["no", "yes"], "yes"), ([3, 8], "8")])
def test_classifier_of_two(labels: list[Any], positive: str) -> None:
    mlp = fitted(MLPClassifier(hidden_layer_sizes=6, **SMALL), y=np.array(labels)[(Y > 0).astype(int)])
    net = load(mlp)
    assert net.n_out == 1 and net.notes[0].endswith(f"it predicts class {positive} where the output is positive")
    assert (np.array(labels)[(net(X)[:, 0] > 0).astype(int)] == mlp.predict(X)).all()


def test_float32_is_widened() -> None:
    mlp = fitted(MLPRegressor(hidden_layer_sizes=5, **SMALL), x=X.astype(np.float32))
    assert mlp.coefs_[0].dtype == np.float32
    assert (load(mlp).layers[0].weights == mlp.coefs_[0].T.astype(np.float64)).all()
    np.testing.assert_allclose(load(mlp)(X)[:, 0], mlp.predict(X.astype(np.float32)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "scalers",
    [
        [StandardScaler()],
        [MinMaxScaler((-1, 2))],
        [StandardScaler(with_mean=False)],
        [StandardScaler(with_std=False)],
        [MinMaxScaler(), StandardScaler()],
        ["passthrough", make_pipeline(StandardScaler(), MinMaxScaler())],
    ],
    ids=repr,
)
@pytest.mark.parametrize(
    "last",
    [MLPClassifier(hidden_layer_sizes=5, **SMALL), MLPRegressor(hidden_layer_sizes=(5, 4), **SMALL)],
    ids=["mlp", "regressor"],
)
def test_pipelines(scalers: list[Any], last: Any) -> None:
    pipeline = fitted(make_pipeline(*scalers, last))
    net = load(pipeline)
    found = net(X)
    if isinstance(last, MLPClassifier):
        np.testing.assert_allclose(softmax(found), pipeline.predict_proba(X), rtol=1e-9)
    else:
        np.testing.assert_allclose(found[:, 0], pipeline.predict(X), rtol=1e-9, atol=1e-9)
    assert any("scaler" in note and "folded into" in note for note in net.notes)


def test_regions_are_counted() -> None:
    assert count(load(fitted(MLPClassifier(hidden_layer_sizes=8, **SMALL))), Segment(X[0], X[1])) >= 1


@pytest.mark.parametrize("activation", ["logistic", "tanh"])
def test_curved_activations_are_refused_by_name(activation: str) -> None:
    with pytest.raises(UnsupportedLayerError, match=f"activation '{activation}', which is not piecewise linear"):
        load(fitted(MLPClassifier(hidden_layer_sizes=5, activation=activation, **SMALL)))


@pytest.mark.parametrize(
    ("estimator", "error", "words"),
    [
        (MLPClassifier(), NetworkError, "MLPClassifier has not been fitted"),
        (make_pipeline(StandardScaler(), MLPClassifier()), NetworkError, "'standardscaler' has not been fitted"),
        (LogisticRegression(), UnsupportedLayerError, "LogisticRegression is not handled: read are MLPClassifier"),
        (fitted(StandardScaler()), UnsupportedLayerError, "does not end in a network"),
        (Pipeline([("s", "passthrough")]), UnsupportedLayerError, "does not end in a network"),
        (
            fitted(make_pipeline(FunctionTransformer(np.tanh), MLPRegressor(hidden_layer_sizes=3, **SMALL))),
            UnsupportedLayerError,
            "FunctionTransformer 'functiontransformer' is not handled",
        ),
        (
            fitted(make_pipeline(MinMaxScaler(clip=True), MLPRegressor(hidden_layer_sizes=3, **SMALL))),
            UnsupportedLayerError,
            "clips",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_refusals(estimator: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        load(estimator)


def test_another_activation_is_refused() -> None:
    with pytest.raises(AmbiguousCheckpointError, match="the estimator itself has relu"):
        load(fitted(MLPRegressor(hidden_layer_sizes=3, **SMALL)), "abs")
    with pytest.raises(ValueError, match="prefix is for files"):
        load(fitted(MLPRegressor(hidden_layer_sizes=3, **SMALL)), prefix="a")


def test_scikit_learn_is_not_imported() -> None:
    code = (
        "import sys, regions; regions.load({'W0': __import__('numpy').ones((1, 1))}); print('sklearn' in sys.modules)"
    )
    folder = Path(regions.__file__).parent.parent  # for the tested copy: `-c` imports from the current folder
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert done.stdout == "False\n"
