# SPDX-License-Identifier: MIT
"""Does the reader of npz files see what numpy saved, and does ``W0, b0, W1, ..`` become the right network?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Segment
from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    NotACheckpointError,
    ShapeMismatchError,
    UnsupportedLayerError,
)
from regions.networks.network import Network
from regions.read import load, read_tensors
from regions.results.partition import load_partition

generator = np.random.default_rng(3)
PAIRS = [(generator.standard_normal((n, m)), generator.standard_normal(n)) for m, n in ((2, 5), (5, 4), (4, 1))]
NAMED: dict[str, Any] = {
    f"{kind}{i}": part for i, pair in enumerate(PAIRS) for kind, part in zip("Wb", pair, strict=True)
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.npz"


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_come_back(path: Path, save: Any) -> None:
    arrays = {
        "plain": np.arange(6.0).reshape(2, 3),
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "big_endian": np.arange(4, dtype=">f4"),
        "half": np.array([1 / 3], np.float16),
        "scalar": np.array(2.5),
        "empty": np.zeros((0, 3)),
        "integers": np.array([[1, -2]], np.int8),
        "text": np.array(["a", "bc"]),
    }
    save(path, **arrays)
    read = read_tensors(path)
    assert list(read) == list(arrays)
    for key, array in arrays.items():
        assert read[key].tolist() == array.tolist() or array.size == read[key].size == 0


@pytest.mark.parametrize("activation", ["relu", "hard_tanh(-2, 2)", ["abs", "relu6"]])
def test_numbered_pairs(path: Path, activation: Any) -> None:
    np.savez(path, **NAMED)
    assert load(path, activation) == Network(PAIRS, activation)
    assert load(NAMED, activation) == Network(PAIRS, activation)


def test_order_in_the_file_does_not_matter(path: Path) -> None:
    np.savez(path, **dict(reversed(NAMED.items())))
    assert load(path, "relu") == Network(PAIRS)


def test_more_than_ten_layers(path: Path) -> None:
    pairs = [(np.full((3, 3), float(i)), np.zeros(3)) for i in range(12)]
    named = {f"{kind}{i}": part for i, pair in enumerate(pairs) for kind, part in zip("Wb", pair, strict=True)}
    np.savez(path, **dict(sorted(named.items())))
    assert load(path, "relu") == Network(pairs)


@pytest.mark.parametrize("extra", ["domain", "weight", "notes", "b", "W", "w0", "Wx"])
def test_arrays_other_than_numbered_pairs_are_ignored(path: Path, extra: str) -> None:
    np.savez(path, **{extra: np.zeros((4, 2))}, **NAMED)
    assert load(path, "relu") == Network(PAIRS)


def test_numbers_may_start_at_one(path: Path) -> None:
    np.savez(path, **{f"{key[0]}{int(key[1:]) + 1}": value for key, value in NAMED.items()})
    assert load(path, "relu") == Network(PAIRS)


def test_missing_biases_are_zeros_with_a_note(path: Path) -> None:
    np.savez(path, W0=PAIRS[0][0], W1=PAIRS[1][0], b1=PAIRS[1][1])
    net = load(path, "relu")
    assert net == Network([(PAIRS[0][0], None), PAIRS[1]])
    assert net.notes == ("no biases stored for W0: taken as zeros",)


@pytest.mark.parametrize(
    ("arrays", "error", "words"),
    [
        ({"W0": PAIRS[0][0], "W2": PAIRS[2][0]}, CheckpointError, "without a gap"),
        ({"W2": PAIRS[0][0], "W3": PAIRS[1][0]}, CheckpointError, "without a gap"),
        ({"W00": PAIRS[0][0]}, CheckpointError, "without a gap"),
        ({"W0": PAIRS[0][0], "b1": PAIRS[1][1]}, CheckpointError, "W1 is not"),
        ({"W0": np.zeros((2, 2, 3, 3))}, UnsupportedLayerError, r"W0 has shape \[2, 2, 3, 3\]"),
        ({"W0": PAIRS[0][0], "W1": np.zeros(4)}, UnsupportedLayerError, r"W1 has shape \[4\]"),
        ({"W0": np.zeros(4), "b0": np.zeros(4)}, NotACheckpointError, "mapping with 'W0', 'b0'"),
    ],
)
def test_numbered_pairs_that_do_not_fit(path: Path, arrays: Any, error: type[Exception], words: str) -> None:
    np.savez(path, **arrays)
    with pytest.raises(error, match=words):
        load(path, "relu")


def test_the_activation_must_be_named(path: Path) -> None:
    np.savez(path, **NAMED)
    with pytest.raises(AmbiguousCheckpointError, match=r"activation='relu'.*W0 \[5, 2\], W1 \[4, 5\]"):
        load(path)


def test_a_saved_partition_is_not_a_model(path: Path) -> None:
    network, domain = Network([([[1.0]], [0.0]), ([[1.0]], [0.0])]), Segment([-1.0], [1.0])
    enumerate_regions(network, domain).save(path)
    with pytest.raises(NotACheckpointError, match=r"a partition, not a model; load_partition\('.*'\).network is its"):
        load(path, "relu")
    assert load_partition(path).network == network


def test_names_of_a_state_dict(path: Path) -> None:
    arrays = {"0.weight": PAIRS[0][0], "0.bias": PAIRS[0][1], "2.weight": PAIRS[1][0], "2.bias": PAIRS[1][1]}
    np.savez(path, **arrays)
    assert load(path, "relu") == Network(PAIRS[:2])


def test_an_unknown_array_in_a_state_dict_is_refused(path: Path) -> None:
    np.savez(path, **{"0.weight": PAIRS[0][0], "domain": np.zeros((4, 2))})
    with pytest.raises(UnsupportedLayerError, match="domain"):
        load(path)


@pytest.mark.parametrize(
    ("shapes", "is_said"),
    [
        ([(2, 2), (2,), (2, 2)], True),
        ([(2, 3), (3, 2)], True),
        ([(2, 3), (2,), (3, 2)], False),
        ([(2, 2), (2,), (1, 2)], False),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_shapes_that_do_not_say_which_axis_is_of_outputs(
    path: Path, shapes: list[tuple[int, ...]], is_said: bool, named: bool
) -> None:
    arrays = [np.ones(shape) for shape in shapes]
    layers = np.cumsum([array.ndim == 2 for array in arrays])
    names = [f"{'Wb'[array.ndim == 1]}{layer}" for array, layer in zip(arrays, layers, strict=True)]
    np.savez(path, *([] if named else arrays), **(dict(zip(names, arrays, strict=True)) if named else {}))
    assert any("if x @ W is meant, give W.T" in note for note in load(path, "relu").notes) == is_said


def test_arrays_without_names(path: Path) -> None:
    arrays = [part for pair in PAIRS for part in pair]
    np.savez(path, *arrays)
    network = load(path, "relu")
    assert network == Network(PAIRS, activation="relu")
    assert network.notes == (
        "arrays without names, read as weights and biases in the order of their numbers: arr_0 [5, 2], arr_2 [4, 5], "
        "arr_4 [1, 4]",
    )
    np.savez(path, *arrays, scale=np.ones(2))
    assert "arrays beside the weights, left out: scale" in load(path, "relu").notes
    np.savez(path, *(weights for weights, _ in PAIRS))
    assert load(path, "relu") == Network([(weights, None) for weights, _ in PAIRS], activation="relu")
    many = [np.eye(2)] * 12 + [np.ones((1, 2))]
    np.savez(path, *many)
    assert load(path, "relu").layers[-1].weights.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("arrays", "error", "words"),
    [
        ({"arr_0": np.eye(2), "arr_2": np.ones((1, 2))}, CheckpointError, "without a gap; found arr_0, arr_2"),
        (
            {"arr_0": np.ones(2), "arr_1": np.eye(2)},
            AmbiguousCheckpointError,
            r"arr_0 \(shape \[2\]\) follows no weights",
        ),
        (
            {"arr_0": np.eye(2), "arr_1": np.ones(2), "arr_2": np.ones(2)},
            AmbiguousCheckpointError,
            r"arr_2 .* found arr_0 \[2, 2\], arr_1 \[2\], arr_2 \[2\]. Give names",
        ),
        ({"arr_0": np.ones((1, 1, 2, 2))}, UnsupportedLayerError, "arr_0 has shape .* two-dimensional convolution"),
        ({"arr_0": np.eye(2), "arr_1": np.ones((1, 3))}, ShapeMismatchError, "arr_1 takes 3 values"),
    ],
)
def test_arrays_without_names_that_are_no_chain(path: Path, arrays: Any, error: Any, words: str) -> None:
    np.savez(path, **arrays)
    with pytest.raises(error, match=words):
        load(path, "relu")
