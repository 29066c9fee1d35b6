# SPDX-License-Identifier: MIT
"""Does the binding refuse arrays that do not fit together, so that the core never reads beyond them?

Callers check the arguments of users; this is the last check, in `regions/_core.pyx`.
"""

from __future__ import annotations

import numpy as np
import pytest

from regions import _core
from regions.core import WHOLE, Limits

ARRAYS = (np.eye(2), np.zeros(2), np.zeros(1), np.array([[0.0, 1.0]] * 2), np.zeros((2, 2)))
# Patches: kernels [kinds, rows, terms], kinds, sources and targets of each.
PATCHES = (np.ones((1, 1, 1)), np.zeros(2, np.int32), np.array([[0], [1]], np.int32), np.array([[0], [1]], np.int32))
SQUARE = np.array([[1.0, -1, -1], [1, 1, -1], [1, 1, 1], [1, -1, 1]])


def layer(
    weights: object,
    biases: object,
    *tables: object,
    arms: tuple[int, ...] = (),
    first: int = 0,
    passed: tuple[int, ...] = (),
) -> tuple:
    lists = (np.array(numbers, dtype=np.int32) for numbers in (arms, passed))
    return [(first, weights)], biases, tables, *lists, np.inf


LAYER = layer(*ARRAYS)
WHERE = _core.CompiledDomain(np.zeros(2), np.eye(2), SQUARE)


def asked(network: _core.CompiledNetwork, directions: np.ndarray, generators: np.ndarray, inputs: int = 2) -> None:
    for ask in (_core.count, _core.enumerate):
        ask(network, _core.CompiledDomain(np.zeros(inputs), directions, generators), Limits(), WHOLE)


def test_arrays_to_place_that_do_not_fit_together() -> None:
    network = _core.CompiledNetwork(2, [LAYER])
    arrays = _core.enumerate(network, WHERE, Limits(), WHOLE, for_joining=True)[1]
    assert _core.place(network, WHERE, arrays, 2, None) == "finished"
    for name in set(arrays) - {"facet_vertices", "facet_regions", "facet_kinks"}:
        with pytest.raises(ValueError, match="arrays of a partition do not fit together"):
            _core.place(network, WHERE, arrays | {name: arrays[name][:-1]}, 2, None)
    with pytest.raises(ValueError, match="arrays of a partition are not in C order"):
        _core.place(network, WHERE, arrays | {"vertices": np.asfortranarray(arrays["vertices"])}, 2, None)


def test_what_fits_is_counted() -> None:
    network = _core.CompiledNetwork(2, [LAYER])
    asked(network, np.eye(2), SQUARE)
    assert _core.count(network, WHERE, Limits(), WHOLE)[:2] == ("finished", 4)


@pytest.mark.parametrize("place", [0, 2, 3, 4])
def test_layers_whose_arrays_do_not_fit_together(place: int) -> None:
    arrays = list(ARRAYS)
    arrays[place] = arrays[place][..., 1:] if place > 0 else arrays[place][1:]
    with pytest.raises(ValueError, match="layer arrays do not fit together"):
        _core.CompiledNetwork(2, [layer(*arrays)])


def test_matrices_that_read_beyond_the_layer_before() -> None:
    for first, inputs in ((0, 3), (1, 2), (-1, 2)):
        with pytest.raises(ValueError, match="layer arrays do not fit together"):
            _core.CompiledNetwork(2, [layer(np.ones((2, inputs)), *ARRAYS[1:], first=first)])


def test_patches_that_fit_are_counted() -> None:
    network = _core.CompiledNetwork(2, [layer(PATCHES, *ARRAYS[1:])])
    assert _core.count(network, WHERE, Limits(), WHOLE)[:2] == ("finished", 4)


@pytest.mark.parametrize(("place", "entry"), [(1, 1), (1, -1), (2, 2), (2, -2), (3, 2), (3, -1)])
def test_patches_that_name_what_is_not_there(place: int, entry: int) -> None:
    arrays = [array.copy() for array in PATCHES]
    arrays[place].flat[0] = entry
    with pytest.raises(ValueError, match="out of range"):
        _core.CompiledNetwork(2, [layer(tuple(arrays), *ARRAYS[1:])])


def test_patches_that_do_not_fit_together() -> None:
    kernels, kinds, sources, targets = PATCHES
    for wrong in ((kernels, kinds[1:], sources, targets), (kernels, kinds, sources[:, :0], targets)):
        with pytest.raises(ValueError, match="arrays of patches do not fit together"):
            _core.CompiledNetwork(2, [layer(wrong, *ARRAYS[1:])])
    with pytest.raises(ValueError, match="in more than one patch"):
        _core.CompiledNetwork(2, [layer((kernels, kinds, sources, 0 * targets), *ARRAYS[1:])])
    with pytest.raises(ValueError, match="out of range"):
        _core.CompiledNetwork(2, [layer(PATCHES, *ARRAYS[1:], first=1)])


@pytest.mark.parametrize("arms", [(0, 1), (0, 1, 1), (1, 2, 3), (0, 2, 1, 3)])
def test_arms_that_do_not_fit_the_rows(arms: tuple[int, ...]) -> None:
    tables = np.zeros(0), np.ones(1), np.zeros(1)
    _core.CompiledNetwork(2, [layer(np.ones((3, 2)), np.zeros(3), *tables, arms=(0, 1, 3))])
    with pytest.raises(ValueError, match="arms do not fit|layer arrays do not fit|out of range"):
        _core.CompiledNetwork(2, [layer(np.ones((3, 2)), np.zeros(3), *tables, arms=arms)])


def test_passed_units_that_are_not_there() -> None:
    for passed in (-1, 2):
        with pytest.raises(ValueError, match="out of range"):
            _core.CompiledNetwork(2, [layer(*ARRAYS, passed=(passed,))])


def test_charts_and_domains_that_do_not_fit() -> None:
    network = _core.CompiledNetwork(2, [LAYER])
    with pytest.raises(ValueError, match="chart does not fit the network"):
        asked(network, np.eye(3)[:2], SQUARE, inputs=3)
    with pytest.raises(ValueError, match="domain does not fit the chart"):
        asked(network, np.eye(2), SQUARE[:2])
    with pytest.raises(ValueError, match="domain does not fit the chart"):
        asked(network, np.eye(2)[:1], SQUARE)


@pytest.mark.parametrize(("dimension", "says"), [(0, "this dimension"), (3, "forms do not fit the chart")])
def test_dimensions_without_cells_and_missing_forms_are_refused(dimension: int, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        asked(_core.CompiledNetwork(2, [LAYER]), np.ones((dimension, 2)), np.ones((dimension + 1, dimension + 1)))


def test_arcs_lie_in_planes_and_have_two_ends() -> None:
    network, quarter = _core.CompiledNetwork(2, [LAYER]), np.array([[0.0, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="an arc lies in a plane"):
        _core.CompiledDomain(np.zeros(2), np.eye(2)[:1], quarter[:, :2], arc=True)
    with pytest.raises(ValueError, match="domain does not fit the chart"):
        _core.CompiledDomain(np.zeros(2), np.eye(2), quarter[:1], arc=True)
    whole = _core.CompiledDomain(np.zeros(2), np.eye(2), quarter, arc=True)
    assert _core.count(network, whole, Limits(), WHOLE)[:2] == ("finished", 1)


def test_an_origin_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="origin does not fit the directions"):
        _core.CompiledDomain(np.zeros(3), np.eye(2), SQUARE)
