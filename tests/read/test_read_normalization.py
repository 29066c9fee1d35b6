# SPDX-License-Identifier: MIT
"""Does `normalize=(mean, std)` give the network for inputs that are not normalised?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_cases import runner
from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError
from regions.networks.network import Network
from regions.read import load

rng = np.random.default_rng(3)
PAIRS = [(rng.standard_normal((7, 12)), rng.standard_normal(7)), (rng.standard_normal((2, 7)), rng.standard_normal(2))]
ARRAYS = {"W0": PAIRS[0][0], "b0": PAIRS[0][1], "W1": PAIRS[1][0], "b1": PAIRS[1][1]}
PLAIN = Network(PAIRS)
IMAGES = rng.random((5, 3, 2, 2))
CHANNELS = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


@pytest.mark.parametrize(
    ("mean", "std"),
    [
        (0.1307, 0.3081),
        ([0.5], np.float32(0.25)),
        (rng.random(12), rng.random(12) + 0.1),
        (rng.random((3, 2, 2)), 2),
        (CHANNELS[0].reshape(3, 1, 1), CHANNELS[1].reshape(3, 1, 1)),
        (0, np.ones(12)),
    ],
)
def test_values(mean: Any, std: Any) -> None:
    net = load(ARRAYS, "relu", normalize=(mean, std))
    images = IMAGES if np.ndim(mean) == 3 else IMAGES.reshape(5, 12)
    expected = PLAIN(((images - mean) / std).reshape(5, 12))
    np.testing.assert_allclose(net(IMAGES.reshape(5, 12)), expected, rtol=1e-10, atol=1e-12)
    assert net.notes[-1].startswith("inputs are taken as they are: their normalisation, mean ")
    assert (net.layers[1].weights == PLAIN.layers[1].weights).all()


def test_powers_of_two_are_folded_exactly() -> None:
    net = load({"W0": np.array([[3.0, 5.0]]), "b0": np.array([1.0])}, normalize=([0.5, -2], [0.25, 4]))
    assert net.layers[0].weights.tolist() == [[12.0, 1.25]]
    assert net.layers[0].biases.tolist() == [1.0 - 3 * 2 + 5 / 2]


def test_normalisation_applies_to_every_format() -> None:
    torch = pytest.importorskip("torch")
    model = torch.nn.Sequential(torch.nn.Linear(12, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)).double()
    net = load(model, normalize=(0.5, 2.0))
    points = torch.from_numpy(IMAGES.reshape(5, 12))
    np.testing.assert_allclose(net(points.numpy()), model((points - 0.5) / 2).detach().numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    ("normalize", "error", "words"),
    [
        (0.5, TypeError, r"a pair \(mean, std\), got float"),
        ((1, 2, 3), TypeError, "a pair"),
        ("ab", TypeError, "a pair"),
        ((0, 0), NetworkError, "std of input 0 is 0.0; a deviation must be positive"),
        ((0, [1] * 11 + [-1]), NetworkError, "std of input 11 is -1.0"),
        ((np.nan, 1), NonFiniteError, "normalize: mean"),
        (
            (CHANNELS[0], 1),
            ShapeMismatchError,
            r"mean has shape \[3\].*12 inputs.*np.reshape\(mean, \(3, 1, 1\)\).*np.tile",
        ),
        ((0, np.ones(5)), ShapeMismatchError, r"std has shape \[5\].*give one number, or one for each input$"),
        ((np.ones((1, 1, 3)), 1), ShapeMismatchError, r"mean has shape \[1, 1, 3\]"),
        (([], 1), ShapeMismatchError, r"mean has shape \[0\]"),
        (("a", 1), NetworkError, "normalize: mean"),
        ((0, 1e-320), NonFiniteError, "not finite"),
    ],
)
def test_refusals(normalize: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        load(ARRAYS, "relu", normalize=normalize)


class TestCommandLine:
    def test_normalize(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        info = ("info", "m.npz", "--activation", "relu", "--normalize")
        np.savez(tmp_path / "m.npz", **ARRAYS)
        np.save(tmp_path / "std.npy", np.full(12, 0.5))
        found, out, _ = runner(capsys)(*info, "-0.1307", "std.npy")
        assert found == 0 and "mean -0.1307 and std 0.5, was folded" in out
        for words, code, message in [
            (["0.5", "0"], 1, "std of input 0 is 0.0"),
            (["0.5,0.5", "1"], 1, "mean has shape [2]"),
            (["a", "1"], 2, "'a' is neither a number"),
            (["0"], 2, "--normalize"),
        ]:
            found, _, err = runner(capsys)(*info, *words)
            assert found == code and message in err, err
