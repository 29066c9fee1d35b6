# SPDX-License-Identifier: MIT
"""Are patterns of passes in float32, float16 and bfloat16 those of a pass in fractions that rounds once?"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import regions
from regions import reference
from regions.errors import NonFiniteError, UnsupportedLayerError
from regions.passes.narrow import Narrow

DIGITS = {"float32": (23, 126), "float16": (10, 14), "bfloat16": (7, 126)}  # digits, and minus the least exponent
SQUARE = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])


def once_rounded(value: Fraction, name: str) -> Fraction:
    """Return the nearest number of a format, of two the one with an even last bit."""
    digits, least = DIGITS[name]
    if not value:
        return value
    exponent = -least
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - digits)
    return round(value / step) * step  # Python rounds halves to even


def pattern_in_fractions(net: regions.Network, point: np.ndarray, name: str) -> list[bool]:
    values, bits = [once_rounded(Fraction(x), name) for x in point.tolist()], []
    for layer in net.layers[:-1]:
        rows = [[once_rounded(Fraction(w), name) for w in row] for row in layer.weights.tolist()]
        biases = [once_rounded(Fraction(b), name) for b in layer.biases.tolist()]
        sums = [
            once_rounded(sum((w * x for w, x in zip(row, values, strict=True)), bias), name)
            for row, bias in zip(rows, biases, strict=True)
        ]
        bits += [h > 0 for h in sums]
        values = [max(h, Fraction(0)) for h in sums]
    return bits


def exact_sums(net: regions.Network, point: np.ndarray) -> list[Fraction]:
    """Return the exact pre-activations of the stored network."""
    values, found = list(map(Fraction, point.tolist())), []
    for layer in net.layers[:-1]:
        rows = [list(map(Fraction, [*row, bias])) for row, bias in zip(layer.weights, layer.biases, strict=True)]
        sums = [sum((w * x for w, x in zip(row, values, strict=False)), row[-1]) for row in rows]
        found += sums
        values = [max(h, Fraction(0)) for h in sums]
    return found


def bundles(seed: int) -> regions.Network:
    """Return a network whose first kinks nearly meet in one point, and whose second ones in another one."""
    rng = np.random.default_rng(seed)
    first, second = rng.standard_normal((6, 2)), rng.standard_normal((6, 6))
    return regions.Network([(first, -first @ [0.3, 0.2]), (second, np.zeros(6)), (np.ones((1, 6)), [0])])


@pytest.mark.parametrize("name", DIGITS)
def test_patterns_are_those_of_fractions(name: str) -> None:
    """Points around the place where kinks meet are undecided in many sums."""
    differing = 0
    for seed in range(4):
        net = bundles(seed)
        points = [0.3, 0.2] + np.random.default_rng(seed).standard_normal((25, 2)) * 10.0 ** -np.arange(25)[:, None]
        found = regions.rounded_patterns(net, points, name)
        known = {region.pattern for region in reference.enumerate(net, SQUARE)}
        for given, at, pattern, exact in zip(points, found.points, found.patterns, found.exact, strict=True):
            assert [once_rounded(Fraction(x), name) for x in given.tolist()] == list(map(Fraction, at.tolist()))
            assert pattern.tolist() == pattern_in_fractions(net, at, name)
            sums = exact_sums(net, at)
            assert exact.tolist() == [h > 0 for h in sums] and (tuple(exact.tolist()) in known or 0 in sums)
        differing += found.differing
    assert differing > 0


@pytest.mark.parametrize("name", DIGITS)
def test_sums_in_the_middle_of_two_numbers(name: str) -> None:
    """A term far below the last bit of a double decides, and without it the even number is taken."""
    digits, _ = DIGITS[name]
    half = 2.0 ** -(digits + 1)
    tiny = 2.0**-14 if name == "float16" else 2.0**-60
    net = regions.Network([([[1.0, half, tiny]], [0.0]), ([[1.0]], [0.0])])
    narrow = Narrow(net, name)
    points = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, tiny], [1.0, 1.0, -tiny], [1 + 2 * half, 1.0, 0.0]])
    assert narrow._sums(points, 0).ravel().tolist() == [1.0, 1 + 2 * half, 1.0, 1 + 4 * half]


def test_patterns_that_no_region_has() -> None:
    net = bundles(0)
    part = regions.enumerate(net, SQUARE)
    points = [0.3, 0.2] + np.random.default_rng(1).uniform(-0.01, 0.01, (400, 2))
    found = regions.rounded_patterns(net, points, "bfloat16")
    known = {region.pattern for region in reference.enumerate(net, SQUARE)}
    strange = [pattern for pattern in map(tuple, found.patterns.tolist()) if pattern not in known]
    assert found.without_region(part) == (len(set(strange)), len(strange)) and strange
    assert found.differing >= len(strange)
    with pytest.raises(ValueError, match="of another network"):
        found.without_region(regions.enumerate(bundles(1), SQUARE))


def test_exact_patterns_of_points_on_kinks() -> None:
    net = regions.Network([([[1.0, 1.0], [1.0, -1.0]], [-1.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    found = regions.rounded_patterns(net, [[0.5, 0.5], [0.75, 0.5]], "float16")
    assert found.exact.tolist() == found.patterns.tolist() == [[False, False], [True, True]]


def test_activations_whose_outputs_are_numbers_of_the_format() -> None:
    rng = np.random.default_rng(0)
    layers = [(rng.standard_normal((4, 2)), rng.standard_normal(4)), (np.ones((1, 4)), [0])]
    for activation in ("abs", "hard_tanh", "relu6", "identity"):
        net = regions.Network(layers, activation=activation)
        assert regions.rounded_patterns(net, [[0.5, 0.25]], "float32").patterns.shape == (1, net.kinks)
    for activation in ("leaky_relu(0.1)", "hard_sigmoid"):
        with pytest.raises(UnsupportedLayerError, match="layer 0 has .*, whose outputs are products"):
            regions.rounded_patterns(regions.Network(layers, activation=activation), [[0.5, 0.25]])


def test_what_does_not_fit() -> None:
    net = regions.Network([([[70000.0]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(NonFiniteError, match="in float16, a number among the weights of layer 0 is beyond"):
        regions.rounded_patterns(net, [[0.0]], "float16")
    net = regions.Network([([[60000.0]], [0.0]), ([[1.0]], [0.0])])
    with pytest.raises(NonFiniteError, match="the pre-activations of layer 0"):
        regions.rounded_patterns(net, [[2.0]], "float16")
    with pytest.raises(ValueError, match="dtype must be"):
        regions.rounded_patterns(net, [[2.0]], "int8")
    assert len(regions.rounded_patterns(net, np.zeros((0, 1)), "float16").patterns) == 0


def test_passes_that_round_between_layers_and_at_the_end() -> None:
    """onnxruntime runs float16 models in float32 on processors. In float16, 1 + 2048 is 2048."""
    onnx = pytest.importorskip("onnx")
    from onnx_parts import file, model, node

    nodes = [
        *(node("Gemm", ["x", "w", "b"], "h"), node("Relu", ["h"], "r")),
        *(node("Gemm", ["r", "w", "c"], "g"), node("Relu", ["g"], "y")),
    ]
    tensors = {"w": np.float16([[1]]), "b": np.float16([2048]), "c": np.float16([-2048])}
    net = regions.load(file(model(nodes, tensors, shape=(1, 1), element=onnx.TensorProto.FLOAT16)))
    found = {name: regions.rounded_patterns(net, [[1.0]], name).patterns[0].tolist() for name in DIGITS}
    assert found == {"float32": [True, True], "float16": [True, False], "bfloat16": [True, False]}
