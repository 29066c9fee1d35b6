# SPDX-License-Identifier: MIT
"""Are the numbers of regions of a convolutional layer and of a given arrangement right?

The formula of Xiong et al. is compared with worked values and with layers with random weights, whose arrangements are
counted by deletion and restriction. This count is compared with arrangements that textbooks count.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import comb, factorial

import numpy as np
import pytest

from regions import arrangements, bounds
from regions.errors import BoundDoesNotApply, NetworkError, NonFiniteError, ShapeMismatchError

ONE_AXIS = [  # length, kernel, stride, filters
    ((3, 2, 1, 2), 15),
    ((3, 2, 1, 3), 40),
    ((4, 2, 2, 3), 49),
    ((4, 2, 1, 2), 55),
    ((4, 2, 1, 3), 217),
    ((4, 3, 1, 3), 57),
    ((5, 2, 1, 2), 200),
    ((5, 3, 1, 3), 370),
]


def layer(shape: tuple[int, ...], filters: int, kernel: tuple[int, ...], stride: tuple[int, ...]) -> tuple:
    """Return normals and offsets of a convolution with random weights, shared by all positions; integers in a wide
    range.
    """
    rng = np.random.default_rng(filters)
    weights = rng.integers(-(10**6), 10**6, size=(filters, shape[0], *kernel))
    biases = rng.integers(-(10**6), 10**6, size=filters)
    normals, offsets = [], []
    counts = [(size - k) // s + 1 for size, k, s in zip(shape[1:], kernel, stride, strict=True)]
    for position in product(*map(range, counts)):
        field = tuple(slice(p * s, p * s + k) for p, s, k in zip(position, stride, kernel, strict=True))
        for weight, bias in zip(weights, biases, strict=True):
            normal = np.zeros(shape)
            normal[(slice(None), *field)] = weight
            normals.append(normal.ravel())
            offsets.append(bias)
    return np.array(normals), np.array(offsets, dtype=float)


class TestOneLayer:
    @pytest.mark.parametrize(("shape", "expected"), ONE_AXIS)
    def test_along_one_axis(self, shape: tuple[int, int, int, int], expected: int) -> None:
        length, kernel, stride, filters = shape
        assert bounds.xiong_cnn((1, length), filters, kernel, stride) == expected
        # The same as a plane of height 1, or with the axes exchanged.
        assert bounds.xiong_cnn((1, length, 1), filters, (kernel, 1), stride) == expected
        assert bounds.xiong_cnn((1, 1, length), filters, [1, kernel], [1, stride]) == expected
        assert bounds.chambers(*layer((1, length), filters, (kernel,), (stride,))) == expected
        units = filters * ((length - kernel) // stride + 1)
        assert expected <= bounds.zaslavsky(length, units)

    @pytest.mark.parametrize(
        ("shape", "filters", "kernel", "stride"),
        [
            ((2, 3), 3, (2,), (1,)),
            ((2, 4), 3, (3,), (1,)),
            ((1, 6), 2, (3,), (2,)),
            ((1, 5), 2, (2,), (3,)),
            ((1, 3, 3), 1, (2, 2), (1, 1)),
            ((2, 3, 3), 2, (2, 2), (1, 1)),
            ((1, 2, 3), 3, (2, 2), (1, 1)),
            ((2, 2, 3), 2, (1, 2), (1, 1)),
            ((1, 2, 4), 2, (2, 2), (1, 2)),
            ((1, 3, 3), 2, (1, 2), (1, 1)),
        ],
    )
    def test_random_layers_reach_it(self, shape: tuple, filters: int, kernel: tuple, stride: tuple) -> None:
        expected = bounds.xiong_cnn(shape, filters, kernel, stride)
        assert bounds.chambers(*layer(shape, filters, kernel, stride)) == expected

    @pytest.mark.parametrize(("filters", "formula", "reached"), [(2, 256, 255), (3, 4013, 3998)])
    def test_overlapping_fields_in_a_plane_do_not_reach_it(self, filters: int, formula: int, reached: int) -> None:
        """Moved filters are linearly dependent, for all weights, since convolution commutes."""
        normals, offsets = layer((1, 3, 3), filters, (2, 2), (1, 1))
        assert bounds.xiong_cnn((1, 3, 3), filters, 2) == formula
        assert bounds.chambers(normals, offsets) == reached
        a, b = normals[0].reshape(3, 3)[:2, :2].ravel(), normals[1].reshape(3, 3)[:2, :2].ravel()
        assert not (b @ normals[::filters] - a @ normals[1::filters]).any()

    def test_a_kernel_over_the_whole_input_is_a_dense_layer(self) -> None:
        assert bounds.xiong_cnn((2, 3, 2), 9, (3, 2)) == bounds.zaslavsky(12, 9)
        assert bounds.xiong_cnn((4, 1), 9, 1) == bounds.zaslavsky(4, 9)

    def test_long_lines_are_quick(self) -> None:
        count = bounds.xiong_cnn((3, 200), 16, 5)
        assert bounds.zaslavsky(15, 16) < count < bounds.zaslavsky(600, 16 * 196)

    def test_refusals(self) -> None:
        with pytest.raises(BoundDoesNotApply, match=r"49 overlapping positions with 8 filters.*terms"):
            bounds.xiong_cnn((1, 9, 9), 8, 3)
        with pytest.raises(BoundDoesNotApply, match=r"kernel \[5\] does not fit"):
            bounds.xiong_cnn((1, 4), 2, 5)


class TestSeveralLayers:
    def test_upper(self) -> None:
        assert bounds.xiong_cnn_upper((1, 4), [(3, 2, 1)]) == 217
        assert bounds.xiong_cnn_upper((1, 4), [(3, 2, 1), (2, 2, 1)]) == 217 * bounds.zaslavsky(4, 4)
        assert bounds.xiong_cnn_upper((1, 4), [(3, 2, 1), (5, 3, 1)]) == 217 * bounds.zaslavsky(4, 5)

    def test_lower(self) -> None:
        assert bounds.xiong_cnn_lower((1, 4), [(3, 2, 1)]) == 217
        assert bounds.xiong_cnn_lower((1, 4), [(3, 2, 1), (2, 2, 1)]) == 3**3 * 15
        assert bounds.xiong_cnn_lower((2, 4), [(5, 2, 1), (3, 2, 1)]) == 2 ** (3 * 2) * bounds.xiong_cnn((2, 3), 3, 2)
        with pytest.raises(BoundDoesNotApply, match=r"at least 2 filters.*layers\[1\] has 1"):
            bounds.xiong_cnn_lower((2, 4), [(5, 2, 1), (1, 2, 1)])

    def test_lower_needs_a_layer_that_is_understood(self) -> None:
        with pytest.raises(BoundDoesNotApply, match="overlapping fields in a plane"):
            bounds.xiong_cnn_lower((1, 4, 4), [(2, 2, 1), (2, 2, 1)])
        assert bounds.xiong_cnn_lower((1, 4, 4), [(2, 2, 2), (3, 2, 2)]) == 2**4 * bounds.zaslavsky(4, 3)

    def test_lower_is_below_upper(self) -> None:
        for layers in ([(2, 2, 1), (2, 2, 1)], [(4, 3, 2), (6, 2, 1)], [(1, 2, 1)] * 3):
            assert bounds.xiong_cnn_lower((1, 7), layers) <= bounds.xiong_cnn_upper((1, 7), layers)

    def test_the_layer_is_named(self) -> None:
        with pytest.raises(BoundDoesNotApply, match=r"layers\[1\]: the kernel \[4\] does not fit"):
            bounds.xiong_cnn_upper((1, 4), [(3, 2, 1), (2, 4, 1)])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bounds.xiong_cnn((3,), 2, 2), ValueError, "channels, then at least one size"),
        (lambda: bounds.xiong_cnn((1, 0), 2, 2), ValueError, r"input_shape\[1\] must be at least 1"),
        (lambda: bounds.xiong_cnn(4, 2, 2), TypeError, "input_shape must be a sequence"),
        (lambda: bounds.xiong_cnn((1, 4), 0, 2), ValueError, "filters must be at least 1"),
        (lambda: bounds.xiong_cnn((1, 4), 2, 2, 0), ValueError, "stride must be at least 1"),
        (lambda: bounds.xiong_cnn((1, 4, 4), 2, [2]), ValueError, "kernel must have one entry for each of 2 axes"),
        (lambda: bounds.xiong_cnn_upper((1, 4), []), ValueError, "layers is empty"),
        (
            lambda: bounds.xiong_cnn_upper((1, 4), [(2, 2)]),
            ValueError,
            r"layers\[0\] must have one entry for each of 3",
        ),
    ],
)
def test_bad_arguments(call: Callable[[], object], error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


class TestCharacteristicPolynomial:
    def test_textbook_polynomials(self) -> None:
        assert bounds.characteristic_polynomial(np.eye(3)) == (1, -3, 3, -1)  # (t - 1)^3
        assert bounds.characteristic_polynomial(arrangements.braid(4).layers[0].weights) == (1, -6, 11, -6, 0)
        assert bounds.characteristic_polynomial([[1.0], [2.0], [-1.0], [0.0]], [0, 1, 0, 5]) == (1, -2)
        assert bounds.characteristic_polynomial(np.zeros((2, 3))) == (1, 0, 0, 0)

    @pytest.mark.parametrize(("n", "d"), [(1, 1), (5, 1), (1, 3), (2, 3), (6, 2), (7, 3), (8, 4), (7, 5)])
    def test_general_position(self, n: int, d: int) -> None:
        rng = np.random.default_rng(n + d)
        normals, offsets = rng.standard_normal((n, d)), rng.standard_normal(n)
        assert bounds.chambers(normals, offsets) == bounds.zaslavsky(d, n)
        assert bounds.bounded_chambers(normals, offsets) == bounds.zaslavsky_bounded(d, n)
        assert bounds.chambers(normals) == bounds.cover_central(d, n)
        assert bounds.bounded_chambers(normals) == 0

    @pytest.mark.parametrize(("m", "k"), [(2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (3, 5)])
    def test_parallel_pairs(self, m: int, k: int) -> None:
        """Check the effect of a layer of k hard tanh units on m dimensions."""
        rng = np.random.default_rng(k)
        normals = np.repeat(rng.standard_normal((k, m)), 2, axis=0)
        assert bounds.chambers(normals, rng.standard_normal(2 * k)) == bounds.raghu_hard_tanh(m, k, form="pairs")

    def test_rank(self) -> None:
        rng = np.random.default_rng(2)
        normals = rng.integers(-99, 99, size=(6, 2)) @ rng.integers(-99, 99, size=(2, 5))
        assert bounds.chambers(normals, rng.standard_normal(6)) == bounds.zaslavsky(5, 6, rank=2)
        assert bounds.bounded_chambers(normals, rng.standard_normal(6)) == 0

    def test_grids_have_bounded_cells(self) -> None:
        layer = arrangements.grid([3, 2, 4]).layers[0]
        assert bounds.bounded_chambers(layer.weights, layer.biases) == 2 * 1 * 3

    @pytest.mark.parametrize(
        ("normals", "offsets", "error"),
        [
            ([1, 2], None, ShapeMismatchError),
            ([[1, 2]], [1, 2], ShapeMismatchError),
            ([[1, np.nan]], None, NonFiniteError),
            ([["a"]], None, NetworkError),
        ],
    )
    def test_bad_arrangements(self, normals: object, offsets: object, error: type) -> None:
        with pytest.raises(error):
            bounds.chambers(normals, offsets)


class TestArrangements:
    def counts(self, make: Callable[[int], object], numbers: range) -> list[int]:
        layers = [make(n).layers[0] for n in numbers]
        return [bounds.chambers(layer.weights, layer.biases) for layer in layers]

    def test_families(self) -> None:
        assert self.counts(arrangements.braid, range(2, 7)) == [factorial(n) for n in range(2, 7)]
        assert self.counts(arrangements.type_b, range(1, 6)) == [2, 8, 48, 384, 3840]
        assert self.counts(arrangements.threshold, range(2, 7)) == [2, 8, 46, 332, 2874]
        assert self.counts(arrangements.resonance, range(1, 4)) == [2, 6, 32]

    def test_graphs(self) -> None:
        for n in range(3, 7):
            cycle, tree = [(i, (i + 1) % n) for i in range(n)], [(i // 2, i) for i in range(1, n)]
            assert self.counts(lambda n, edges=cycle: arrangements.graphical(n, edges), range(n, n + 1)) == [2**n - 2]
            assert self.counts(lambda n, edges=tree: arrangements.graphical(n, edges), range(n, n + 1)) == [
                2 ** (n - 1)
            ]

    def test_grids(self) -> None:
        for counts, expected in (([1] * 4, 16), ([3, 2], 12), ([1, 2, 3], 24), ([5], 6)):
            assert self.counts(lambda _, counts=counts: arrangements.grid(counts), range(1)) == [expected]
        layer = arrangements.grid([3, 2]).layers[0]
        assert len(layer.biases) == 5
        assert comb(5, 2) > bounds.chambers(layer.weights, layer.biases) - 6

    @pytest.mark.parametrize(
        ("make", "message"),
        [
            (lambda: arrangements.braid(1), "at least 2, got 1"),
            (lambda: arrangements.type_b(0), "at least 1, got 0"),
            (lambda: arrangements.threshold(1), "at least 2"),
            (lambda: arrangements.resonance(0), "at least 1"),
            (lambda: arrangements.grid([]), "counts is empty"),
            (lambda: arrangements.grid([2, 0]), "at least 1, got 0"),
            (lambda: arrangements.graphical(3, [(0, 3)]), r"from 0 to 2, got \(0, 3\)"),
            (lambda: arrangements.graphical(3, [(1, 1)]), "two different nodes"),
            (lambda: arrangements.graphical(3, []), "at least one edge"),
        ],
    )
    def test_bad_input(self, make: Callable[[], object], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            make()
