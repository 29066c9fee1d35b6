# SPDX-License-Identifier: MIT
"""Does the binding refuse arrays that do not fit together, which the core would read beyond?

Callers check what users give; this is the last line, in `regions/_core.pyx`.
"""

from __future__ import annotations

import numpy as np
import pytest

from regions import _core

LAYER = (np.eye(2), np.zeros(2), np.zeros((2, 1)), np.array([[0.0, 1.0]] * 2), np.zeros((2, 2)), np.inf)
SQUARE = np.array([[1.0, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]])


def asked(network: _core.CompiledNetwork, directions: np.ndarray, generators: np.ndarray, inputs: int = 2) -> None:
    for ask in (_core.count, _core.enumerate):
        ask(network, np.zeros(inputs), directions, generators, 1000, None)


def test_what_fits_is_counted() -> None:
    network = _core.CompiledNetwork(2, [LAYER])
    asked(network, np.eye(2), SQUARE)
    assert _core.count(network, np.zeros(2), np.eye(2), SQUARE, 1000, None)[:2] == ("finished", 4)


@pytest.mark.parametrize("place", [0, 2, 3, 4])
def test_layers_whose_arrays_do_not_fit_together(place: int) -> None:
    layer = list(LAYER)
    layer[place] = layer[place][:, 1:]
    with pytest.raises(ValueError, match="layer arrays do not fit together"):
        _core.CompiledNetwork(2, [tuple(layer)])


def test_charts_and_domains_that_do_not_fit() -> None:
    network = _core.CompiledNetwork(2, [LAYER])
    with pytest.raises(ValueError, match="chart does not fit the network"):
        asked(network, np.eye(3)[:2], SQUARE, inputs=3)
    with pytest.raises(ValueError, match="domain does not fit the chart"):
        asked(network, np.eye(2), SQUARE[:2])
    with pytest.raises(ValueError, match="domain does not fit the chart"):
        asked(network, np.eye(2)[:1], SQUARE)


@pytest.mark.parametrize("dimension", [0, 3])
def test_there_are_cells_of_one_and_two_dimensions(dimension: int) -> None:
    network = _core.CompiledNetwork(2, [LAYER])
    for ask in (_core.count, _core.enumerate):
        with pytest.raises(ValueError, match="no cells of this dimension"):
            ask(network, np.zeros(2), np.ones((dimension, 2)), np.ones((dimension + 1, dimension + 1)), 1000, None)


def test_arcs_lie_in_planes_and_have_two_ends() -> None:
    network = _core.CompiledNetwork(2, [LAYER])
    quarter = np.array([[0.0, 1, 0], [0, 0, 1]])
    for ask in (_core.count, _core.enumerate):
        with pytest.raises(ValueError, match="an arc lies in a plane"):
            ask(network, np.zeros(2), np.eye(2)[:1], quarter[:, :2], 1000, None, True)
        with pytest.raises(ValueError, match="domain does not fit the chart"):
            ask(network, np.zeros(2), np.eye(2), quarter[:1], 1000, None, True)
    assert _core.count(network, np.zeros(2), np.eye(2), quarter, 1000, None, True)[:2] == ("finished", 1)
