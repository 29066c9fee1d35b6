# SPDX-License-Identifier: MIT
"""Does a network store its input, is its evaluation right, and does bad input raise an error that names it?"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from graphs import random_graph
from random_networks import random_network
from regions.errors import EmptyLayerError, NetworkError, NonFiniteError, ShapeMismatchError
from regions.networks.named_activations import Activation, hard_tanh, identity, leaky_relu, prelu, relu
from regions.networks.network import Layer, Network

# Unit 0 is x + y, unit 1 is x - y - 1.
SMALL = [([[1.0, 1.0], [1.0, -1.0]], [0.0, -1.0]), ([[2.0, 3.0]], [0.5])]


class OfOnesOwn(Network):
    pass


NETWORKS = {
    "relu": random_network([2, 5, 4, 3], 0, "relu", bias=1.0),
    "hard_tanh": random_network([3, 4, 4, 1], 1, "hard_tanh(-0.5, 0.75)", bias=1.0),
    "mixed": random_network([2, 4, 3, 3, 2], 2, ["abs", prelu([0.1, -0.2, 0.3]), "relu6"], bias=1.0),
    "identity inside": random_network([2, 4, 3, 1], 3, ["relu", "identity"], bias=1.0),
    "affine": random_network([3, 2], 4, "relu", bias=1.0),
}


def test_values_by_hand() -> None:
    net = Network(SMALL)
    assert net([3.0, 1.0]).tolist() == [2 * 4 + 3 * 1 + 0.5]
    assert net([[3.0, 1.0], [-1.0, 0.0], [0.0, -2.0]]).tolist() == [[11.5], [0.5], [3.5]]
    assert Network(SMALL, "abs")([0.0, 0.0]).tolist() == [3.5]
    assert Network(SMALL, "leaky_relu(0.5)")([-1.0, 0.0]).tolist() == [-1.0 - 3.0 + 0.5]
    assert Network(SMALL, hard_tanh(-2, 2))([3.0, 1.0]).tolist() == [4.0 + 3.0 + 0.5]


def test_attributes() -> None:
    net = Network(SMALL)
    assert (net.n_in, net.n_out, net.widths, net.hidden, net.kinks) == (2, 1, (2,), 2, 2)
    assert net.layers[-1].activation == identity()
    assert net.notes == ()
    affine = NETWORKS["affine"]
    assert (affine.widths, affine.hidden, affine.kinks) == ((), 0, 0)
    assert affine.kink_layers.dtype == affine.kink_units.dtype == np.int64


def test_order_of_kinks() -> None:
    net = Network(
        [
            (np.ones((2, 1)), np.zeros(2)),
            (np.ones((1, 2)), [0.0]),
            (np.ones((3, 1)), np.zeros(3)),
            (np.ones((1, 3)), [0.0]),
        ],
        ["hard_tanh(-2, 3)", "identity", "relu"],
    )
    assert net.kink_layers.tolist() == [0, 0, 0, 0, 2, 2, 2]
    assert net.kink_units.tolist() == [0, 0, 1, 1, 0, 1, 2]
    assert net.kink_values.tolist() == [-2.0, 3.0, -2.0, 3.0, 0.0, 0.0, 0.0]
    assert (net.hidden, net.kinks) == (6, 7)
    # One input, so h = x in the first layer: bit 0 is x > -2, bit 1 is x > 3.
    assert net.pattern([0.0])[:4].tolist() == [True, False, True, False]
    assert net.pattern([-2.0])[:4].tolist() == [False] * 4
    assert net.pattern([4.0])[:4].tolist() == [True] * 4


def test_active_means_strictly_above() -> None:
    net = Network(SMALL)
    assert net.pattern([0.0, 0.0]).tolist() == [False, False]
    assert net.pattern([1.0, 0.0]).tolist() == [True, False]
    assert net.pattern([1.0, -0.5]).tolist() == [True, True]


@pytest.mark.parametrize("name", list(NETWORKS))
@pytest.mark.parametrize("shape", [(), (7,), (3, 5), (0,)])
def test_shapes_of_everything(name: str, shape: tuple[int, ...]) -> None:
    net = NETWORKS[name]
    x = np.random.default_rng(5).standard_normal((*shape, net.n_in))
    assert net(x).shape == (*shape, net.n_out)
    assert net.pattern(x).shape == (*shape, net.kinks)
    assert net.pattern(x).dtype == bool
    assert net.gradient(x).shape == (*shape, net.n_out, net.n_in)
    assert [h.shape for h in net.preactivations(x)] == [(*shape, width) for width in net.widths]


@pytest.mark.parametrize("name", list(NETWORKS))
def test_affine_map_of_the_pattern_is_the_network(name: str) -> None:
    net = NETWORKS[name]
    x = np.random.default_rng(6).standard_normal((50, net.n_in))
    values, gradients, patterns = net(x), net.gradient(x), net.pattern(x)
    for i in range(len(x)):
        a, c = net.affine_map(patterns[i])
        np.testing.assert_allclose(a @ x[i] + c, values[i], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(a, gradients[i], rtol=1e-12, atol=1e-12)
        packed = net.affine_map(np.packbits(patterns[i], bitorder="little"))
        assert (packed[0] == a).all()
        assert (packed[1] == c).all()


@pytest.mark.parametrize("name", list(NETWORKS))
def test_gradient_by_differences(name: str) -> None:
    net = NETWORKS[name]
    x = np.random.default_rng(7).standard_normal((20, net.n_in))
    for direction in np.eye(net.n_in):
        difference = (net(x + 1e-7 * direction) - net(x - 1e-7 * direction)) / 2e-7
        np.testing.assert_allclose(net.gradient(x) @ direction, difference, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pattern", [np.ones(3, bool), np.ones(2), np.ones(2, np.uint8), np.ones((1, 2), bool)])
def test_pattern_of_another_shape(pattern: Any) -> None:
    with pytest.raises(ShapeMismatchError, match=r"bool \[2\] or packed uint8 \[1\]"):
        Network(SMALL).affine_map(pattern)


def test_pattern_that_no_input_has() -> None:
    with pytest.raises(ValueError, match="smaller one"):
        Network(SMALL, "hard_tanh").affine_map(np.array([False, True, True, True]))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint8, ">f4", ">i2"])
def test_numbers_are_widened_exactly(dtype: Any) -> None:
    weights = np.array([[1, 3], [100, 7]], dtype=dtype)
    layer = Network([(weights, weights[0])]).layers[0]
    assert layer.weights.dtype == np.float64
    assert layer.weights.tolist() == [[1.0, 3.0], [100.0, 7.0]]
    assert layer.weights.flags.c_contiguous
    third = np.float16(1 / 3)
    assert Network([([[third]], None)]).layers[0].weights[0, 0] == float(third) != 1 / 3


def test_any_memory_layout_is_accepted() -> None:
    weights = np.arange(24.0).reshape(4, 6)
    for view in (weights.T, weights[::2, ::-1], np.asfortranarray(weights)):
        view.setflags(write=False)
        assert (Network([(view, None)]).layers[0].weights == view).all()


@pytest.mark.parametrize("integer", [2**53 + 1, -(2**53) - 1, 2**63 - 1])
def test_integers_that_do_not_fit_are_refused(integer: int) -> None:
    with pytest.raises(NetworkError, match=rf"layer 0: weights\[0, 1\] is {integer}"):
        Network([(np.array([[1, integer]]), [0.0])])


@pytest.mark.parametrize("integer", [2**53, 2**62 + 2**20, -(2**63), 2**53 + 2, -3, -(2**53), -(2**61) - 2**20])
def test_large_integers_that_fit_are_accepted(integer: int) -> None:
    assert Network([(np.array([[1, integer]]), [0.0])]).layers[0].weights[0, 1] == integer


def test_unsigned_integers() -> None:
    assert Network([(np.array([[2**63]], np.uint64), [0.0])]).layers[0].weights[0, 0] == 2.0**63
    with pytest.raises(NetworkError, match=str(2**64 - 1)):
        Network([(np.array([[2**64 - 1]], np.uint64), [0.0])])


GOOD = (np.ones((3, 2)), np.zeros(3))


@pytest.mark.parametrize(
    ("layers", "error", "words"),
    [
        ([], EmptyLayerError, "at least one layer"),
        ([GOOD[0]], NetworkError, r"layer 0 must be a pair \(W, b\), got ndarray"),
        ([GOOD, 3], NetworkError, "layer 1 must be a pair"),
        ([(np.ones(3), np.zeros(3))], ShapeMismatchError, r"layer 0: weights must have two axes .* \[3\]"),
        ([(np.ones((3, 2, 1)), np.zeros(3))], ShapeMismatchError, "two axes"),
        ([(5.0, None)], ShapeMismatchError, "two axes"),
        ([(np.ones((0, 2)), np.zeros(0))], EmptyLayerError, "layer 0"),
        ([(np.ones((2, 0)), np.zeros(2))], EmptyLayerError, "layer 0"),
        ([(np.ones((3, 2)), np.zeros(2))], ShapeMismatchError, r"layer 0: .* need biases \[3\], got \[2\]"),
        ([(np.ones((3, 2)), np.zeros((3, 1)))], ShapeMismatchError, r"got \[3, 1\]"),
        ([GOOD, (np.ones((1, 4)), [0.0])], ShapeMismatchError, "layer 0 gives 3 values but layer 1 takes 4"),
        ([GOOD, GOOD], ShapeMismatchError, "out x in"),
        ([([[1.0, 2.0], [3.0]], [0.0, 0.0])], ShapeMismatchError, "rows differ in length"),
        ([GOOD, ([[1.0, np.nan, 0.0]], [0.0])], NonFiniteError, r"layer 1: weights\[0, 1\] is nan"),
        ([([[1.0, 0.0]], [-np.inf])], NonFiniteError, r"layer 0: biases\[0\] is -inf"),
        ([([["1", "2"]], [0.0])], NetworkError, "dtype"),
        ([([[1j, 2.0]], [0.0])], NetworkError, "complex"),
        ([([[True, False]], [0.0])], NetworkError, "bool"),
        ([([[object(), 1.0]], [0.0])], NetworkError, "object"),
        ([([[10**30, 1]], [0.0])], NetworkError, "object"),
    ],
)
def test_bad_layers(layers: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words) as caught:
        Network(layers)
    assert isinstance(caught.value, ValueError)


def test_long_doubles_are_refused_where_they_are_longer() -> None:
    layers = [(np.ones((1, 2), np.longdouble), [0.0])]
    if np.dtype(np.longdouble).itemsize > 8:
        with pytest.raises(NetworkError, match="convert it to float64"):
            Network(layers)
    else:
        assert Network(layers).n_in == 2


def test_slopes_for_other_units() -> None:
    with pytest.raises(ShapeMismatchError, match="slopes for 5 units, the layer has 2"):
        Network(SMALL, prelu(np.ones(5)))


def test_wrong_number_of_activations() -> None:
    with pytest.raises(NetworkError, match="2 activations for 1 hidden layers"):
        Network(SMALL, ["relu", "relu"])


def test_the_last_layer_must_be_linear() -> None:
    with pytest.raises(NetworkError, match="last layer must be linear"):
        Network.from_layers([Layer(np.ones((1, 1)), np.zeros(1), relu())])


@pytest.mark.parametrize("x", [[1.0], [[1.0, 2.0, 3.0]], 5.0, np.zeros((2, 0))])
def test_points_of_another_dimension(x: Any) -> None:
    with pytest.raises(ShapeMismatchError, match=r"\[.., 2\]"):
        Network(SMALL)(x)


def test_points_that_are_not_finite() -> None:
    for method in ("__call__", "pattern", "gradient", "preactivations"):
        with pytest.raises(NonFiniteError, match=r"\[1, 0\] is nan"):
            getattr(Network(SMALL), method)([[1.0, 2.0], [np.nan, 0.0]])


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ("ab", "got dtype <U2"),
        (None, r"got dtype object \(NoneType\)"),
        ([1j, 0.0], "got dtype complex128"),
        (np.array([1j, 0.0]), "got dtype complex128"),
        ([True, False], "got dtype bool"),
        (iter([1.0, 2.0]), r"got dtype object \(list_iterator\)"),
        ([10**400, 0], r"got dtype object \(int\)"),
    ],
)
def test_points_that_are_not_numbers(x: Any, words: str) -> None:
    for method in ("__call__", "pattern", "gradient", "preactivations"):
        with pytest.raises(TypeError, match=f"points must be real numbers that a double can hold, {words}"):
            getattr(Network(SMALL), method)(x)
    with pytest.raises(ValueError, match=r"coordinate\[1\] is 9007199254740993, an integer"):
        Network(SMALL)([0, 2**53 + 1])


def test_a_masked_number_is_refused() -> None:
    hidden = np.ma.masked_array([[1.0], [2.0]], mask=[[False], [True]])
    with pytest.raises(NonFiniteError, match="layer 0: weights: some entries are masked"):
        Network([(hidden, None), ([[1.0, 1.0]], None)])
    with pytest.raises(NonFiniteError, match="points: some entries are masked"):
        Network(SMALL)(np.ma.masked_array([1.0, 2.0], mask=[True, False]))
    assert Network(SMALL)(np.ma.masked_array([1.0, 2.0])).tolist() == Network(SMALL)([1.0, 2.0]).tolist()


def test_an_activation_is_named_by_its_layer() -> None:
    layers = [([[1.0]], None)] * 3
    with pytest.raises(TypeError, match=r"activation\[1\] must be a name or an Activation, got NoneType"):
        Network(layers, ["relu", None])  # type: ignore[list-item]
    with pytest.raises(NetworkError, match=r"activation\[1\] 'rleu' is unknown"):
        Network(layers, ["relu", "rleu"])


@pytest.mark.filterwarnings("error")
def test_values_beyond_the_largest_double() -> None:
    """The result is neither infinite nor, one layer later, NaN."""
    net = Network([([[1e200, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0]), ([[1e200]], [0.0])])
    for method in ("__call__", "pattern", "gradient", "preactivations"):
        with pytest.raises(NonFiniteError, match=r"layer 0 at points\[1\] is beyond the largest double"):
            getattr(net, method)([[1.0, 1.0], [1e200, 1.0]])
    with pytest.raises(NonFiniteError, match="a value of layer 2 is beyond"):
        net([1.0, 1.0])
    with pytest.raises(NonFiniteError, match="the gradient is beyond"):
        net.gradient([1.0, 1.0])
    with pytest.raises(NonFiniteError, match="affine map of this pattern"):
        net.affine_map([True, True, True])
    assert net.affine_map([False, False, False])[0].tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("activation", ["relu", "leaky_relu(0.2)", "abs", "hard_tanh", "relu6", "soft_shrink(0.5)"])
def test_blocks_of_points(activation: str) -> None:
    """Each point is evaluated as if it were alone, up to rounding, and points are not changed."""
    rng = np.random.default_rng(0)
    net = Network([(rng.standard_normal((7, 3)), None), (rng.standard_normal((2, 7)), None)], activation)
    points = rng.standard_normal((5000, 3))
    before, values = points.copy(), net(points)
    np.testing.assert_array_equal(points, before)
    hidden = net.layers[0].activation
    kinked = np.array([[hidden(h) for h in row] for row in points[::97] @ net.layers[0].weights.T])
    np.testing.assert_allclose(values[::97], kinked @ net.layers[1].weights.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(net(points.reshape(50, 100, 3)).reshape(-1, 2), values, rtol=1e-12, atol=1e-12)
    assert net(points[:0]).shape == (0, 2)
    points[4321] = 1e308
    with pytest.raises(NonFiniteError, match=r"layer 0 at points\[4321\] is beyond the largest double"):
        net(points)


def test_anything_but_a_list_of_layers() -> None:
    for layers in (None, 3):
        with pytest.raises(TypeError, match="list of pairs"):
            Network(layers)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="layer 0 must be a Layer, got tuple"):
        Network.from_layers(SMALL)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must be an Activation, got 'relu'"):
        Layer(np.eye(2), np.zeros(2), "relu")  # type: ignore[arg-type]


def test_missing_biases_are_zeros() -> None:
    assert Network([([[1.0, 2.0]], None)]) == Network([([[1.0, 2.0]], [0.0])])


@pytest.mark.parametrize(
    ("widths", "activation", "expected"),
    [
        ([2, 64, 64, 64, 1], "relu", "Network(2-64-64-64-1, relu, 192 hidden neurons)"),
        ([2, 1, 1], "abs", "Network(2-1-1, abs, 1 hidden neuron)"),
        ([2, 3, 1], "hard_tanh", "Network(2-3-1, hard_tanh, 3 hidden neurons, 6 kinks)"),
        (
            [2, 3, 3, 1],
            ["relu", "leaky_relu(0.2)"],
            "Network(2-3-3-1, relu + leaky_relu(0.2), 6 hidden neurons)",
        ),
        ([2, *[32] * 20, 1], "relu", "Network(2-32x20-1, relu, 640 hidden neurons)"),
        ([3, 2], "relu", "Network(3-2, affine, 0 hidden neurons)"),
    ],
)
def test_repr(widths: list[int], activation: Any, expected: str) -> None:
    assert repr(random_network(widths, 0, activation, bias=1.0)) == expected


def test_equality_and_fingerprint() -> None:
    net = Network(SMALL)
    assert net == Network([(np.float32(w), b) for w, b in SMALL])
    assert hash(net) == hash(Network(SMALL))
    assert len(net.fingerprint) == 64
    for other in (Network(SMALL, "abs"), Network([(w, None) for w, _ in SMALL]), Network(SMALL[:1])):
        assert net != other
    assert net != 3
    negative_zero = Network([(SMALL[0][0], [-0.0, -1.0]), SMALL[1]])
    assert negative_zero == net


def test_the_fingerprint_is_the_same_everywhere() -> None:
    """Saved partitions refer to networks by it, so it may not depend on the machine or the process."""
    expected = "2f5269e62ddf59435a642db5768339c4e183284ea1ed2cf38cdfc58f3b640e4d"
    assert Network(SMALL).fingerprint == expected


def test_immutable() -> None:
    weights = np.ones((1, 2))
    net = Network([(weights, [0.0])])
    weights[0, 0] = 7.0
    assert net([1.0, 1.0]).tolist() == [2.0]
    for copy in (net, pickle.loads(pickle.dumps(net))):
        assert copy == net
        for array in (copy.layers[0].weights, copy.layers[0].biases):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1.0
        with pytest.raises(AttributeError, match="immutable"):
            copy.layers = ()
    for array in (Network(SMALL).kink_layers, Network(SMALL).kink_units, Network(SMALL).kink_values):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_pickling_keeps_notes() -> None:
    net = Network.from_layers(Network(SMALL, leaky_relu(0.5)).layers, ["first", "second"])
    assert pickle.loads(pickle.dumps(net)).notes == ("first", "second")
    copy = pickle.loads(pickle.dumps(OfOnesOwn(SMALL)))
    assert type(copy) is OfOnesOwn and copy == Network(SMALL)


def test_an_activation_of_ones_own() -> None:
    hat = Activation("hat", np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, -1.0, 0.0]), np.array([0.0, 0.0, 2.0, 0.0]))
    net = Network([([[1.0]], [0.0]), ([[1.0]], [0.0])], hat)
    assert net([[-1.0], [0.5], [1.5], [3.0]]).ravel().tolist() == [0.0, 0.5, 0.5, 0.0]
    assert net.pattern([1.5]).tolist() == [True, True, False]
    assert repr(net) == "Network(1-1-1, hat, 1 hidden neuron, 3 kinks)"


def test_importing_does_not_import_what_takes_longer_than_the_package() -> None:
    slow = {"asyncio", "matplotlib", "scipy", "shapely", "torch"}
    code = f"import sys, regions, regions.read; print({slow}.isdisjoint(sys.modules))"
    # From the folder of the imported copy, because the source folder may have no compiled core.
    folder = Path(regions.__file__).parent.parent
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=folder)
    assert result.stdout.strip() == "True"


class TestParts:
    def test_until_and_outputs_of_graphs(self) -> None:
        network, points, _ = random_graph(11, operations=12)
        values = network.preactivations(points)
        for number, node in enumerate(network.graph.hidden):
            until = network.until(number)
            assert (until(points) == node.units.activation(values[number])).all()
            assert len(until.graph.hidden) == number + 1
        chosen = [network.n_out - 1, 0]
        assert (network.outputs(chosen)(points) == network(points)[:, chosen]).all()

    def test_names(self) -> None:
        network, points, _ = random_graph(3)
        name = next(node.name for node in network.graph.hidden)
        with pytest.raises(ValueError, match="0 hidden nodes are called 'nothing'"):
            network.until("nothing")
        if [node.name for node in network.graph.hidden].count(name) == 1:
            assert network.until(name) == network.until(0)

    def test_a_network_without_hidden_nodes(self) -> None:
        with pytest.raises(NetworkError, match="no hidden node"):
            Network([([[1.0]], None)]).until(0)


def test_points_are_checked_where_no_layer_is_hidden() -> None:
    with pytest.raises(ShapeMismatchError, match=r"points must have shape \[.., 1\]"):
        Network([([[2.0]], [0.0])]).preactivations([1.0, 2.0])


def test_patterns_of_many_points_take_no_more_than_their_bits() -> None:
    """Points are evaluated in blocks; the pre-activations of all points would take eight bytes for each bit."""
    rng = np.random.default_rng(0)
    net = Network([(rng.standard_normal((b, a)), rng.standard_normal(b)) for a, b in ((2, 40), (40, 30), (30, 1))])
    points = rng.uniform(-1, 1, (20_000, 2))
    tracemalloc.start()
    patterns = net.pattern(points)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert patterns.shape == (20_000, 70) and most < 2 * patterns.nbytes
    above = np.concatenate([values > 0 for values in net.preactivations(points)], axis=1)
    near = np.concatenate([np.abs(values) < 1e-12 for values in net.preactivations(points)], axis=1)
    assert (above == patterns)[~near].all()
    points[12_345] = 1e308
    with pytest.raises(NonFiniteError, match=r"a value of layer 0 at points\[12345\] is beyond"):
        net.pattern(points)
