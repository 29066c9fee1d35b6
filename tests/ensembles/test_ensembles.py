# SPDX-License-Identifier: MIT
"""Are random networks drawn from the laws that an ensemble states, and are impossible ones refused?"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from regions import ensembles
from regions.ensembles import Discrete, Ensemble, Gaussian, Uniform
from regions.errors import ShapeMismatchError

LAWS = [Gaussian(0.5), Uniform(0.5 * sqrt(3.0)), Discrete([-0.5, 0.5])]


@pytest.mark.parametrize("law", LAWS)
def test_numbers_have_the_standard_deviation_that_is_said(law: ensembles.Gaussian) -> None:
    assert law.std == pytest.approx(0.5, rel=1e-15)
    drawn = law.draw((40_000,), np.random.default_rng(0))
    assert (drawn.mean(), drawn.std()) == pytest.approx((0.0, 0.5), abs=0.01)
    assert law.scaled(3.0).std == pytest.approx(1.5, rel=1e-15)
    if not isinstance(law, Discrete):
        grid = np.linspace(-4, 4, 4001)
        density = law.density(grid) * (grid[1] - grid[0])
        assert (density.sum(), (density * grid**2).sum()) == pytest.approx((1.0, 0.25), rel=1e-2)


def test_probabilities() -> None:
    law = Gaussian(2.0)
    assert law.probability(np.array([-2.0]), np.array([2.0])) == pytest.approx(0.6826894921370859, rel=1e-14)
    # Narrow or wide: the same function.
    for width in (1.9e-3, 2.1e-3):
        found = law.probability(np.array([3.0]), np.array([3.0 + width]))
        assert found == pytest.approx(width * law.density(3.0 + width / 2), rel=1e-6)
    assert law.probability(np.array([1e-20]), np.array([3e-20])) == pytest.approx(2e-20 / np.sqrt(8 * np.pi), rel=1e-14)


@pytest.mark.parametrize("law", [Gaussian(0.1), Uniform(0.1)])
@pytest.mark.filterwarnings("error")
def test_intervals_beyond_all_doubles(law: Any) -> None:
    low, high = np.array([1e308, -1e308, -np.inf]), np.array([1e308, 1e308, np.inf])
    assert law.probability(low, high).tolist() == [0.0, 1.0, 1.0]
    with pytest.raises(ShapeMismatchError):
        law.probability(low, high[:2])
    with pytest.raises(ValueError, match="low must not be above high"):
        law.probability([1.0], [0.0])


def test_draws() -> None:
    sparse = Ensemble(
        [100, 200, 50, 2],
        weights=[Gaussian(3.0), Uniform(1.0), Discrete(range(-2, 3))],
        biases=[None, Gaussian(0.25), Discrete([-7, 7])],
        alpha=[0.25, 1.0, 0.5],
    )
    network = sparse.draw(1)
    first, second, last = (np.asarray(layer.weights) for layer in network.layers)
    assert (first != 0).mean() == pytest.approx(0.25, abs=0.02) and (second != 0).all()
    assert first[first != 0].std() == pytest.approx(0.3, rel=0.05)
    assert abs(second).max() <= 1 / sqrt(200.0) < abs(second).max() * 1.01
    assert set(np.unique(np.round(last * sqrt(50.0), 12))) == {-2.0, -1.0, 0.0, 1.0, 2.0}
    assert not network.layers[0].biases.any() and np.ptp(network.layers[1].biases) > 0
    assert set(abs(network.layers[2].biases)) == {7.0}
    # The same seed draws the same network; a generator draws the next one.
    assert sparse.draw(1).fingerprint == network.fingerprint
    stream = np.random.default_rng(1)
    assert sparse.draw(stream).fingerprint == network.fingerprint != sparse.draw(stream).fingerprint


def test_one_law_of_biases_is_for_hidden_layers() -> None:
    ensemble = Ensemble([2, 3, 4, 1], biases=Uniform(1.0))
    assert ensemble.bias_laws == (Uniform(1.0), Uniform(1.0), None)
    assert ensemble.draw(0).layers[-1].biases.tolist() == [0.0]


def test_names() -> None:
    widths = [6, 10, 2]

    def stds(ensemble: Ensemble) -> list[float]:
        return [law.std for law in ensemble.weight_laws]

    for law in ("gaussian", "uniform"):
        assert stds(ensembles.he(widths, law=law)) == pytest.approx([sqrt(2 / 6), sqrt(2 / 10)])
        assert stds(ensembles.glorot(widths, law=law)) == pytest.approx([sqrt(2 / 16), sqrt(2 / 12)])
    assert stds(ensembles.torch_default(widths)) == pytest.approx([1 / sqrt(18.0), 1 / sqrt(30.0)])
    raghu = ensembles.raghu2017(784, 16, 2, sigma_w=4.0, sigma_b=0.5)
    assert stds(raghu) == [1.0] * 3 and raghu.bias_laws == (Gaussian(0.5), Gaussian(0.5), None)
    assert raghu.activation == "hard_tanh" and raghu.sizes == (784, 16, 16, 1)
    price = ensembles.price_tanner2020(9, 2, Discrete(range(-3, 4)), alpha=0.5)
    assert price.weight_laws[0].values == pytest.approx(np.arange(-3, 4) / 3) and price.alphas == (0.5,) * 3
    assert price.bias_laws[0] == Discrete([-0.01, 0.01])
    assert ensembles.hanin_rolnick2019([4, 8, 1]).bias_laws[0] == Gaussian(1e-3)


def test_torch_draws_the_same() -> None:
    """The bound that torch uses, from its own layer."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layer, (law, _) = torch.nn.Linear(400, 300), ensembles.torch_default([400, 300, 1]).weight_laws
    assert isinstance(law, Uniform)
    for drawn in (layer.weight, layer.bias):
        assert 0.98 * law.bound < float(drawn.detach().abs().max()) <= law.bound * (1 + 1e-6)


WRONG = [
    ({"sizes": [2, 1]}, ShapeMismatchError, "inputs, hidden layers and outputs"),
    ({"weights": "gaussian"}, TypeError, "weights must be Gaussian, Uniform or Discrete laws"),
    ({"weights": None}, TypeError, "weights"),
    ({"weights": [Gaussian(1.0)]}, ValueError, "weights must have one entry for each of 2 layers, outputs included"),
    ({"biases": [1.0, None]}, TypeError, "biases must be Gaussian"),
    ({"scaling": "fan_out"}, ValueError, "scaling must be one of"),
    ({"alpha": 0.0}, ValueError, "alpha must be above 0"),
    ({"alpha": 1.5}, ValueError, "alpha must be above 0 and at most 1"),
    ({"alpha": [0.5] * 3}, ValueError, "alpha must have one entry for each of 2 layers"),
    ({"activation": ["relu", "relu"]}, ValueError, "activation"),
    ({"weights": Gaussian(1e-150)}, ValueError, "std times factor must be between 1e-150 and"),
]


@pytest.mark.parametrize(("change", "kind", "message"), WRONG)
def test_wrong_ensembles(change: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        Ensemble(**{"sizes": [2, 3, 1], **change})


def test_wrong_laws() -> None:
    for std in (0, -1.0, np.inf, 1e-320):
        with pytest.raises(ValueError, match="std"):
            Gaussian(std)
    for values, message in (([1.0], "symmetric"), ([0.0], "all 0"), ([], "empty"), ([-1e200, 1e200], "1e-150")):
        with pytest.raises(ValueError, match=message):
            Discrete(values)
    with pytest.raises(TypeError, match="rng must be a seed or a numpy.random.Generator"):
        ensembles.he([2, 3, 1]).draw(None)  # type: ignore[arg-type]


def test_text() -> None:
    assert str(ensembles.he([2, 3, 1])) == "2-3-1, relu, N(0, 1.414^2) / sqrt(fan-in), no biases"
    assert "alpha 0.5" in str(Ensemble([2, 3, 1], alpha=0.5))
