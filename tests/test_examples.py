# SPDX-License-Identifier: MIT
"""Do the files in examples/ hold what their README says?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import regions

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


def test_network_and_points():
    network = regions.load(EXAMPLES / "digits.pt", activation="relu")
    points = np.loadtxt(EXAMPLES / "points.csv", delimiter=",")
    assert (network.n_in, network.widths, network.n_out) == (64, (64, 32), 10)
    assert points.shape == (3, 64)
    assert network(points).argmax(axis=1).tolist() == [0, 1, 2]


def test_points_are_images_of_the_data_set():
    digits = load_digits()
    for label, point in enumerate(np.loadtxt(EXAMPLES / "points.csv", delimiter=",")):
        matches = np.flatnonzero((digits.data == 16 * point).all(axis=1))
        assert digits.target[matches].tolist() == [label]


def test_network_recognises_digits():
    digits = load_digits()
    network = regions.load(EXAMPLES / "digits.pt", activation="relu")
    assert (network(digits.data / 16).argmax(axis=1) == digits.target).mean() > 0.95
