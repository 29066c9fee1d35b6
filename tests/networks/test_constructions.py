# SPDX-License-Identifier: MIT
"""Do the constructions have their known numbers of regions?"""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from random_networks import random_network
from regions import compare, count, reference
from regions.constructions import (
    arrangement,
    compose,
    maximum_of_five,
    montufar_fold,
    product,
    sawtooth,
    serra_fold,
    square_fold,
)
from regions.domains import Box, Line, Rectangle, Segment
from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError
from regions.networks.derived import chain_of_both
from regions.networks.named_activations import hard_tanh, prelu
from regions.networks.network import Network

UNIT = Segment([0.0], [1.0])
LINE = Line([0.0], [1.0])
UNIT_SQUARE = Rectangle([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])


def pieces(net: Network) -> int:
    """Return the number of pieces of the function on [0, 1]: regions, with neighbours of equal affine map joined."""
    ordered = sorted(reference.enumerate(net, UNIT), key=lambda region: region.vertices[0])
    return 1 + sum(a.output != b.output for a, b in zip(ordered, ordered[1:], strict=False))


def maps(net: Network) -> int:
    """Return the number of different affine maps on the line."""
    return len({tuple(region.output) for region in reference.enumerate(net, LINE)})


class TestSawtooth:
    @pytest.mark.parametrize(("depth", "on_the_line"), [(1, 3), (2, 6), (3, 10), (4, 18), (5, 34), (6, 66), (7, 130)])
    def test_counts(self, depth: int, on_the_line: int) -> None:
        net = sawtooth(depth)
        assert net.widths == (2,) * depth
        assert reference.count(net, UNIT) == pieces(net) == 2**depth
        assert reference.count(net, LINE) == on_the_line
        assert maps(net) == 2**depth + 1

    def test_values(self) -> None:
        x = np.arange(65)[:, np.newaxis] / 64
        assert (sawtooth(6)(x) == np.arange(65)[:, np.newaxis] % 2).all()


class TestMontufarFold:
    @pytest.mark.parametrize(
        ("n", "depth", "regions", "different"),
        [
            (2, 2, 6, 6),
            (2, 3, 12, 11),
            (3, 2, 12, 11),
            (3, 3, 36, 32),
            (4, 2, 20, 19),
            (4, 3, 80, 73),
            (4, 4, 320, 289),
        ],
    )
    def test_counts(self, n: int, depth: int, regions: int, different: int) -> None:
        net = montufar_fold(n, depth)
        assert net.widths == (n,) * depth
        assert reference.count(net, UNIT) == n ** (depth - 1) * (n + 1) == regions
        assert pieces(net) == different

    @pytest.mark.parametrize(("n", "depth", "regions"), [(3, 2, 13), (4, 3, 82)])
    def test_counts_on_the_line(self, n: int, depth: int, regions: int) -> None:
        assert reference.count(montufar_fold(n, depth), LINE) == regions


class TestSerraFold:
    @pytest.mark.slow
    @pytest.mark.parametrize("widths", [(3,), (3, 3), (4, 3), (3, 3, 3), (5, 5), (4, 4, 4), (8, 8, 8)])
    def test_counts(self, widths: tuple[int, ...]) -> None:
        net = serra_fold(widths)
        assert net.widths == widths
        regions = prod(n + 1 for n in widths)
        assert reference.count(net, UNIT) == reference.count(net, LINE) == pieces(net) == maps(net) == regions


class TestSquareFold:
    @pytest.mark.parametrize("n", [2, 3, 4])
    @pytest.mark.parametrize("lines", [1, 3, 5])
    def test_counts_multiply(self, n: int, lines: int) -> None:
        rng = np.random.default_rng(lines)
        normals = rng.standard_normal((lines, 2))
        offsets = -normals @ [0.4, 0.6] + 0.1 * rng.standard_normal(lines)
        in_one_square = reference.count(arrangement(normals, offsets), UNIT_SQUARE)
        assert in_one_square > lines
        assert reference.count(square_fold(n, normals, offsets), UNIT_SQUARE) == n**2 * in_one_square


class TestProduct:
    def test_counts_multiply(self) -> None:
        for first, second in ((serra_fold([3, 4]), sawtooth(2)), (montufar_fold(2, 2), montufar_fold(3, 2))):
            net = product(first, second)
            assert net.widths == tuple(a + b for a, b in zip(first.widths, second.widths, strict=True))
            counts = [reference.count(each, UNIT) for each in (first, second)]
            assert reference.count(net, UNIT_SQUARE) == prod(counts)

    def test_values_stand_side_by_side(self) -> None:
        first, second = arrangement([[1, 2], [3, 4], [0, 1]], [1, 0, 2]), serra_fold([3])
        x = np.array([[0.5, -1.0, 0.25], [2.0, 3.0, 1.0]])
        net = product(first, second, first)
        assert (net.n_in, net.n_out, net.widths) == (5, 3, (9,))
        values = net(np.c_[x, x[:, :2]])
        assert (values == np.c_[first(x[:, :2]), second(x[:, 2:]), first(x[:, :2])]).all()

    def test_two_networks_with_the_same_inputs(self) -> None:
        first, second = random_network([2, 4, 3, 2], 1), random_network([2, 5, 2, 3], 2)
        both, widths = chain_of_both(first, second)
        x = np.random.default_rng(0).integers(-8, 8, (20, 2)) / 8
        assert both.widths == (9, 5) and widths == [4, 3, 2]
        assert np.abs(both(x) - np.hstack([first(x), second(x)])).max() < 1e-12
        with pytest.raises(NetworkError, match="equally many layers, and these have"):
            chain_of_both(first, random_network([2, 4, 3]))

    def test_one_network_is_its_own_product(self) -> None:
        assert product(serra_fold([3, 4])) == serra_fold([3, 4])

    def test_activations(self) -> None:
        clipped = Network([([[1.0]], None), ([[1.0]], None)], hard_tanh())
        assert reference.count(product(clipped, clipped), Rectangle([-2, -2], [4, 0], [0, 4])) == 9


def by_pairs() -> Network:
    """Return 18 times the maximum of five numbers, as a tournament in three hidden layers."""
    pair = Network([([[1, -1], [0, 1], [0, -1]], None), ([[1, 1, -1]], None)])
    same, times = (Network([([[1], [-1]], None), ([[k, -k]], None)]) for k in (1, 18))
    return compose(compose(compose(product(pair, pair, same), product(pair, same)), pair), times)


class TestMaximumOfFive:
    def test_values(self) -> None:
        net = maximum_of_five()
        assert net.widths == (22, 34)
        assert all((layer.weights == np.round(layer.weights)).all() for layer in net.layers)
        x = np.random.default_rng(0).integers(-999, 999, (5000, 5)).astype(float)
        assert (net(x)[:, 0] == 18 * x.max(axis=1)).all() and (by_pairs()(x) == net(x)).all()

    @pytest.mark.slow
    def test_is_the_maximum(self) -> None:
        """Without biases, networks that are equal in a box around 0 are equal everywhere."""
        net = maximum_of_five()
        assert not any(layer.biases.any() for layer in (*net.layers, *by_pairs().layers))
        assert compare(net, by_pairs(), Box([-1] * 5, [1] * 5)).equal
        layers = [(layer.weights, layer.biases) for layer in net.layers]
        wrong = layers[-1][0].copy()
        wrong[0, 7] += 1
        found = compare(Network([*layers[:-1], (wrong, None)]), by_pairs(), Box([-1] * 4 + [0], [1] * 4 + [0]))
        assert not found.equal


def test_foldings_in_a_box() -> None:
    """Montufar's network is its last layer after one zigzag, for each coordinate of a cube."""
    kinks = np.arange(4) / 4
    zigzag = Network([(np.ones((4, 1)), -kinks), ([[4.0, -8.0, 8.0, -8.0]], None)])
    deep, wide = montufar_fold(2, 3), compose(zigzag, montufar_fold(2, 1))
    cube = Box([0] * 3, [1] * 3)
    assert compare(product(deep, deep, deep), product(wide, wide, wide), cube).equal
    assert count(product(deep, deep, deep), cube) == (2 * 2 * 3) ** 3


class TestCompose:
    def test_is_the_composition(self) -> None:
        first, second = arrangement([[1, 2], [3, 4]], [1, 0]), product(serra_fold([3]))
        net = compose(first, second)
        x = np.arange(-6.0, 6.0).reshape(6, 2)
        assert (net(x) == second(first(x))).all()
        assert net.widths == (2, 3)

    def test_affine_networks(self) -> None:
        double = Network([([[2.0]], [1.0])])
        assert compose(double, double) == Network([([[4.0]], [3.0])])
        assert compose(sawtooth(2), double).widths == (2, 2)
        assert compose(double, sawtooth(2)).widths == (2, 2)

    def test_folds_multiply(self) -> None:
        assert reference.count(compose(serra_fold([3]), serra_fold([4, 3])), LINE) == 4 * 5 * 4
        assert compose(sawtooth(2), sawtooth(3)) == sawtooth(5)

    def test_whole_numbers_of_53_bits_are_exact(self) -> None:
        scale = Network([([[float(2**27 - 1)]], [2.0**-20])])
        assert float(compose(scale, Network([([[2.0**26]], None)])).layers[0].weights[0, 0]) == 2.0**53 - 2.0**26

    @pytest.mark.parametrize("factor", [2.0**27 + 1.0, 2.0**1000, 0.1])
    def test_numbers_beyond_doubles_are_refused(self, factor: float) -> None:
        scale = Network([([[factor]], None)])
        with pytest.raises(NetworkError, match="is not a double"):
            compose(scale, scale)


@pytest.mark.parametrize(
    ("exact", "count", "shares"),
    [  # The same noise does less to larger weights.
        (sawtooth(8), 256, {0.1: 2, 0.3: 10}),
        (montufar_fold(4, 4), 320, {0.1: 2, 0.3: 5}),
        (serra_fold([4, 4, 4]), 125, {0.3: 4, 1.0: 10}),
    ],
    ids=["sawtooth", "montufar", "serra"],
)
def test_noise_destroys_the_count(exact: Network, count: int, shares: dict[float, int]) -> None:
    """Hanin & Rolnick 2019, Fig. 3: noise on weights and biases severely reduces the number of pieces."""
    assert reference.count(exact, UNIT) == count
    for size, share in shares.items():
        counts = []
        for seed in range(12):
            rng = np.random.default_rng(seed)
            arrays = [(layer.weights, layer.biases) for layer in exact.layers]
            noisy = [tuple(array + size * rng.standard_normal(array.shape) for array in pair) for pair in arrays]
            counts.append(reference.count(Network(noisy), UNIT))
        assert np.mean(counts) < count / share


def _one_unit(activation: object) -> Network:
    return Network([([[1.0]], None), ([[1.0]], None)], activation)


def test_weights_are_integers_or_halves() -> None:
    for net in (sawtooth(3), montufar_fold(5, 3), serra_fold([3, 7, 4]), square_fold(7, [[1, 1]], [-1])):
        for layer in net.layers:
            for array in (layer.weights, layer.biases):
                assert (2 * array == np.round(2 * array)).all()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: sawtooth(0), ValueError, "depth must be at least 1, got 0"),
        (lambda: sawtooth(1.5), TypeError, "depth must be an integer, got 1.5"),
        (lambda: montufar_fold(1, 2), ValueError, "pieces must be at least 2"),
        (lambda: montufar_fold(2, 0), ValueError, "depth must be at least 1"),
        (lambda: serra_fold([3, 2]), ValueError, r"widths\[1\] must be at least 3, got 2"),
        (lambda: serra_fold([]), ValueError, "widths is empty"),
        (lambda: serra_fold(3), TypeError, "widths must be a sequence of numbers, got 3"),
        (lambda: square_fold(1, [[1, 1]], [0]), ValueError, "pieces must be at least 2"),
        (lambda: square_fold(2, [1, 1], [0]), ShapeMismatchError, r"normals must have shape \[n, d\], got \[2\]"),
        (lambda: square_fold(2, [[1]], [0]), ShapeMismatchError, r"normals must have shape \[n, 2\], got \[1, 1\]"),
        (lambda: product(sawtooth(1), 3), TypeError, "expected a regions.Network, got int"),
        (lambda: compose(3, sawtooth(1)), TypeError, "expected a regions.Network, got int"),
        (lambda: arrangement(None), NetworkError, "normals: .*NoneType"),
        (lambda: square_fold(2, [[1, 1]], [0, 1]), ShapeMismatchError, "1 normals need as many offsets"),
        (lambda: product(), NetworkError, "at least one network"),
        (lambda: product(sawtooth(1), sawtooth(2)), NetworkError, "same depth"),
        (lambda: product(sawtooth(1), _one_unit("abs")), NetworkError, "layer 0 must have one activation"),
        (lambda: product(_one_unit(prelu([0.5])), _one_unit(prelu([0.25]))), NetworkError, "layer 0"),
        (lambda: compose(sawtooth(1), arrangement([[1, 1]])), ShapeMismatchError, "gives 1 values.* takes 2"),
        (lambda: arrangement([[1, np.nan]]), NonFiniteError, "nan"),
        (lambda: arrangement([[1, 1]], [0, 1]), ShapeMismatchError, "1 normals need as many offsets"),
    ],
)
def test_bad_input(make: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        make()
