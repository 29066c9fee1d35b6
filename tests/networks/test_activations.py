# SPDX-License-Identifier: MIT
"""Are named activations exactly right, and are broken ones refused?"""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest

from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError, UnsupportedLayerError
from regions.networks.named_activations import (
    ACTIVATIONS,
    Activation,
    absolute,
    activation_per_layer,
    clamp_max,
    clamp_min,
    hard_sigmoid,
    hard_tanh,
    identity,
    leaky_relu,
    parse_activation,
    prelu,
    relu,
    relu6,
    rrelu,
    soft_shrink,
    threshold,
)

POINTS = np.array([-7.5, -2.0, -1.0, -0.25, -0.0, 0.0, 5e-324, 0.5, 1.0, 1.5, 3.0, 6.0, 6.5, 1e300])

NAMED = {
    "relu": (relu(), lambda h: max(h, 0.0)),
    "leaky_relu": (leaky_relu(), lambda h: h if h > 0 else 0.01 * h),
    "leaky_relu(0.2)": (leaky_relu(0.2), lambda h: h if h > 0 else 0.2 * h),
    "hard_tanh": (hard_tanh(), lambda h: min(max(h, -1.0), 1.0)),
    "hard_tanh(-2, 3)": (hard_tanh(-2, 3), lambda h: min(max(h, -2.0), 3.0)),
    "relu6": (relu6(), lambda h: min(max(h, 0.0), 6.0)),
    "abs": (absolute(), abs),
    "identity": (identity(), lambda h: h),
    "rrelu": (rrelu(), lambda h: h if h > 0 else (1 / 8 + 1 / 3) / 2 * h),
    "soft_shrink(0.25)": (soft_shrink(0.25), lambda h: max(h - 0.25, 0.0) + min(h + 0.25, 0.0)),
    "threshold(0.5, 0.5)": (threshold(0.5, 0.5), lambda h: max(h, 0.5)),
    "threshold(0, 0)": (relu(), lambda h: max(h, 0.0)),
    "clamp_min(-1.5)": (clamp_min(-1.5), lambda h: max(h, -1.5)),
    "clamp_max(1.5)": (clamp_max(1.5), lambda h: min(h, 1.5)),
    "hard_sigmoid": (hard_sigmoid(), lambda h: round(2**53 / 6) / 2**53 * min(max(h, -3.0), 3.0) + 0.5),
}


def test_all_names_are_tested() -> None:
    assert {name.partition("(")[0] for name in NAMED} == {row.name for row in ACTIVATIONS}


@pytest.mark.parametrize("name", list(NAMED))
def test_values(name: str) -> None:
    activation, expected = NAMED[name]
    assert activation(POINTS).tolist() == [expected(h) for h in POINTS.tolist()]


@pytest.mark.parametrize("name", list(NAMED))
def test_parsing_gives_the_same_function(name: str) -> None:
    assert parse_activation(name) == NAMED[name][0]
    assert parse_activation(f"  {name.upper()} ") == NAMED[name][0]
    assert parse_activation(NAMED[name][0].name) == NAMED[name][0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("LeakyReLU(0.5)", leaky_relu(0.5)), ("Hardtanh(-2,2)", hard_tanh(-2, 2)), ("Softshrink(0)", identity())],
)
def test_names_of_torch_classes(text: str, expected: Activation) -> None:
    assert parse_activation(text) == expected


def test_a_breakpoint_belongs_to_the_piece_below() -> None:
    assert hard_tanh().pieces(np.array([-1.0, -0.5, 1.0, 1.5])).tolist() == [0, 1, 1, 2]
    assert relu().pieces(np.array([0.0, -0.0, 5e-324])).tolist() == [0, 0, 1]


@pytest.mark.parametrize("name", list(NAMED))
def test_pieces_meet_exactly(name: str) -> None:
    activation = NAMED[name][0]
    for k, t in enumerate(activation.breakpoints.tolist()):
        left, right = (
            Fraction(activation.slopes[i]) * Fraction(t) + Fraction(activation.intercepts[i]) for i in (k, k + 1)
        )
        assert left == right


def test_prelu_has_slopes_per_unit() -> None:
    activation = prelu([0.25, -1.0, 1.0])
    assert activation.slopes.shape == (3, 2)
    h = np.array([[-4.0, -4.0, -4.0], [4.0, 4.0, 4.0]])
    assert activation(h).tolist() == [[-1.0, 4.0, -4.0], [4.0, 4.0, 4.0]]
    assert prelu([0.25]).slopes.shape == (2,)
    assert prelu(0.25) == leaky_relu(0.25)


def test_slopes_of_a_prelu_are_printed_if_they_are_few() -> None:
    for slopes in ([0.25], [0.1, -1.0], [1 / 3] * 8):
        assert parse_activation(prelu(slopes).name) == prelu(slopes)
    assert prelu([0.1, -1.0]).name == "prelu(0.1, -1.0)" and prelu([0.5] * 9).name == "prelu"
    with pytest.raises(NetworkError, match="the arguments must be numbers"):
        parse_activation("prelu(a)")


def test_equality_is_about_the_function_not_the_name() -> None:
    assert hard_tanh(0, 6) == relu6()
    assert hash(hard_tanh(0, 6)) == hash(relu6())
    assert relu() != leaky_relu()
    assert leaky_relu(-0.0) == relu()
    assert relu() != "relu"


def test_immutable_also_after_pickling() -> None:
    for activation in (prelu([0.1, 0.2]), pickle.loads(pickle.dumps(prelu([0.1, 0.2])))):
        assert activation == prelu([0.1, 0.2])
        with pytest.raises(ValueError, match="read-only"):
            activation.slopes[0, 0] = 3.0
        with pytest.raises(AttributeError):
            activation.name = "x"


def test_the_callers_array_is_copied() -> None:
    slopes = np.array([0.0, 1.0])
    activation = Activation("mine", np.zeros(1), slopes, np.zeros(2))
    slopes[0] = 5.0
    assert activation == relu()


@pytest.mark.parametrize(
    ("breakpoints", "slopes", "intercepts", "error", "words"),
    [
        ([0.0], [0.0, 1.0], [0.0, 0.5], NetworkError, "breakpoint 0.0"),
        ([0.1], [0.0, 1.0], [0.0, -0.1000001], NetworkError, "not continuous"),
        ([0.1], [0.0, 3.0], [0.0, -0.3], NetworkError, r"No double as intercepts\[1\]"),  # 3 * 0.1 is not 0.3
        ([-1.0], [0.25, 0.5], [0.0, 0.5], NetworkError, r"differ by -0.25. With intercepts\[1\] = 0.25 it is"),
        ([1.0, 1.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0], NetworkError, "increasing"),
        ([1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0], NetworkError, "increasing"),
        ([0.0], [0.0, np.nan], [0.0, 0.0], NonFiniteError, "slopes"),
        ([np.inf], [0.0, 1.0], [0.0, 0.0], NonFiniteError, "breakpoints"),
        ([0.0], [0.0, 1.0, 2.0], [0.0, 0.0, 0.0], ShapeMismatchError, "1 breakpoints"),
        ([0.0], [0.0, 1.0], [0.0], ShapeMismatchError, "intercepts"),
        ([[0.0]], [0.0, 1.0], [0.0, 0.0], ShapeMismatchError, "one axis"),
        (np.arange(255.0), np.zeros(256), np.zeros(256), NetworkError, "255 breakpoints, at most 254"),
        ([1e308], [0.0, 1e308], [0.0, 0.0], NetworkError, "0.0 on the left, inf on the right"),
        (["0"], ["0", "1"], ["0", "0"], NetworkError, "breakpoints: dtype <U1 is not a real number"),
        (np.array([1j]), [0.0, 1.0], [0.0, 0.0], NetworkError, "breakpoints: dtype complex128"),
        (None, None, None, NetworkError, r"breakpoints: dtype object \(NoneType\)"),
        ([0.0], np.zeros((0, 2)), np.zeros((0, 2)), ShapeMismatchError, r"\[n, 2\]"),
        ([0.0], np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), ShapeMismatchError, r"\[n, 2\]"),
    ],
)
def test_broken_activation(
    breakpoints: object, slopes: object, intercepts: object, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        Activation("mine", breakpoints, slopes, intercepts)  # type: ignore[arg-type]


def test_the_unit_that_jumps_is_named() -> None:
    with pytest.raises(NetworkError, match="unit 1"):
        Activation("mine", np.array([1.0]), np.array([[0.0, 1.0]] * 2), np.array([[0.0, -1.0], [0.0, 1.0]]))


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("rleu", NetworkError, "use one of relu"),
        ("", NetworkError, "unknown"),
        ("relu(", NetworkError, "unknown"),
        ("relu(1)", NetworkError, "takes 0 numbers"),
        ("hard_tanh(1)", NetworkError, "takes 0 or 2 numbers"),
        ("hard_tanh(1, -1)", NetworkError, "below"),
        ("hard_tanh(1, 1)", NetworkError, "below"),
        ("leaky_relu(nan)", NonFiniteError, "negative_slope"),
        ("hard_tanh(-inf, 1)", NonFiniteError, "minimum"),
        ("leaky_relu(a)", NetworkError, "numbers"),
        ("prelu", NetworkError, r"as in prelu\(0.25\), .* activation='prelu'"),
        ("prelu()", NetworkError, "the slopes of a PReLU are weights"),
        ("tanh", UnsupportedLayerError, "not piecewise linear"),
        ("GELU", UnsupportedLayerError, "not piecewise linear"),
        ("Hardshrink", UnsupportedLayerError, "jumps"),
        ("threshold(1, 0)", UnsupportedLayerError, "jumps from 0.0 to 1.0"),
        ("threshold", NetworkError, "takes 2 numbers, got 0"),
        ("soft_shrink(-1)", NetworkError, "at least 0"),
    ],
)
def test_unknown_names(text: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        parse_activation(text)


def test_wrong_type_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="int"):
        parse_activation(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("slopes", [[], [[0.1, 0.2]]])
def test_prelu_slopes_have_one_axis(slopes: list[object]) -> None:
    with pytest.raises(ShapeMismatchError, match="prelu"):
        prelu(slopes)


@pytest.mark.filterwarnings("error")
def test_breakpoints_as_far_apart_as_doubles_can_be() -> None:
    assert soft_shrink(1.7e308).breakpoints.tolist() == [-1.7e308, 1.7e308]


@pytest.mark.filterwarnings("error")
def test_values_and_slopes_that_are_not_numbers() -> None:
    for values in ([np.inf, -np.inf], [np.nan]):
        with pytest.raises(NonFiniteError, match=r"values\[0\] is"):
            relu()(values)
    assert leaky_relu(10.0)([-1e308, 1.0]).tolist() == [-np.inf, 1.0]
    with pytest.raises(NetworkError, match="prelu: slopes: dtype complex128"):
        prelu(np.array([1j]))
    for wrong in (None, "abc", [1, 2], 10**400):
        with pytest.raises(TypeError, match="negative_slope must be a number that a double can hold"):
            leaky_relu(wrong)  # type: ignore[arg-type]


def test_activation_per_layer() -> None:
    assert activation_per_layer("relu", 3) == [relu()] * 3
    assert activation_per_layer(["abs", relu6()], 2) == [absolute(), relu6()]
    assert activation_per_layer([], 0) == []
    with pytest.raises(NetworkError, match="1 activations for 2 hidden layers"):
        activation_per_layer(["relu"], 2)


@pytest.mark.parametrize("wrong", [None, 3])
def test_anything_but_an_activation_is_named(wrong: object) -> None:
    with pytest.raises(TypeError, match="must be a name such as 'relu'"):
        activation_per_layer(wrong, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["a\nb", "\x1b[1m", "\ud800", "x" * 1001])
def test_names_that_a_saved_partition_could_not_be_loaded_with(name: str) -> None:
    with pytest.raises(NetworkError, match=r"name must be printable and at most 1000 characters long") as caught:
        Activation(name, [0.0], [0.0, 1.0], [0.0, 0.0])
    assert str(caught.value).isprintable()
