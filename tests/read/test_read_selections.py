# SPDX-License-Identifier: MIT
"""Is a selection by comparisons read exactly if it is continuous, and refused with the place of its jump otherwise?"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from onnx_parts import agrees, file, model, node
from regions.errors import UnsupportedLayerError
from regions.networks.named_activations import leaky_relu
from regions.read import load
from regions.read.graphs.pieces import IDENTITY, NotLinearError, Pieces

F = np.float32
A_THIRD = float(F(1 / 3))


def _chain(*nodes: tuple[str, str, str], **tensors: Any) -> onnx.ModelProto:
    made = [node(operator, inputs.split(), output) for operator, inputs, output in nodes]
    return model(made, {name: np.asarray(array) for name, array in tensors.items()}, shape=[1, 4], opset=17)


# A model, and the activation that its first node has, or the whole network.
READ: dict[str, tuple[onnx.ModelProto, str]] = {
    "leaky, as jax2onnx writes it": (
        _chain(("GreaterOrEqual", "x z", "c"), ("Mul", "x k", "m"), ("Where", "c x m", "y"), z=F(0), k=F(0.25)),
        "leaky_relu(0.25), 4",
    ),
    "soft shrink, as torch writes it": (
        _chain(
            *(("Abs", "x", "a"), ("Greater", "a k", "c"), ("Sign", "x", "s"), ("Mul", "s k", "m"), ("Sub", "x m", "t")),
            *(("Mul", "x z", "o"), ("Where", "c t o", "y")),
            z=F(0),
            k=F(0.3),
        ),
        "soft_shrink(0.30000001192092896), 4",
    ),
    "threshold, as torch writes it": (
        _chain(("LessOrEqual", "x k", "c"), ("Where", "c k x", "y"), k=F(0.5)),
        "clamp_min(0.5), 4",
    ),
    "one slope for each unit": (
        _chain(("Less", "x z", "c"), ("Mul", "x k", "m"), ("Where", "c m x", "y"), z=F(0), k=F([1, 2, -1, 0])),
        "prelu(1.0, 2.0, -1.0, 0.0), 4",
    ),
    "one bound for each unit": (
        _chain(("Greater", "x k", "c"), ("Where", "c x k", "y"), k=F([0.5, 2, -1, 0.1])),
        "identity + relu, 8",
    ),
    "absolute value": (_chain(("Sign", "x", "s"), ("Mul", "x s", "y")), "abs, 4"),
    "two units with one place": (
        _chain(
            *(("Greater", "x k", "c"), ("Less", "x l", "d"), ("Or", "c d", "e"), ("Not", "e", "f"), ("Sign", "x", "s")),
            ("Where", "f x s", "y"),
            k=F(1),
            l=F(-1),
        ),
        "hard_tanh, 4",
    ),
    "quotients are exact": (
        _chain(
            *(("Div", "x t", "a"), ("Greater", "x t", "c"), ("Less", "x z", "d"), ("Where", "c o a", "e")),
            ("Where", "d z e", "y"),
            t=F(3),
            z=F(0),
            o=F(1),
        ),
        "identity + relu, 12",
    ),
    "the larger of two": (
        _chain(("Neg", "x", "n"), ("Less", "x n", "c"), ("Where", "c n x", "y")),
        "abs, 4",
    ),
    "a value at the boundary alone": (
        _chain(("Equal", "x z", "c"), ("Where", "c x x", "y"), z=F(0)),
        "affine, 0",
    ),
}


@pytest.mark.parametrize("name", list(READ))
def test_read(name: str) -> None:
    given, shown = READ[name]
    network = load(file(given))
    activation, _, neurons = shown.rpartition(", ")
    assert f", {activation}, {neurons} hidden neuron" in repr(network)
    agrees(given, network)
    ties = np.random.default_rng(2).integers(-2, 3, (10, 4)) / 2
    evaluator = onnx.reference.ReferenceEvaluator(given)
    wanted = [evaluator.run(None, {"x": point[None].astype(F)})[0].ravel() for point in ties]
    np.testing.assert_allclose(network(ties), wanted, rtol=1e-6, atol=1e-6)


def test_two_values() -> None:
    """The branches differ by a multiple of what is compared, element by element with either sign."""
    given = _chain(
        *(("Gather", "x p", "a"), ("Gather", "x q", "b"), ("Greater", "a b", "c"), ("Mul", "a s", "d")),
        *(("Mul", "b s", "e"), ("Add", "d k", "f"), ("Add", "e k", "g"), ("Where", "c f g", "y")),
        p=np.array([0, 1]),
        q=np.array([2, 3]),
        s=F([2, -3]),
        k=F([0.5, 1]),
    )
    given.graph.node[0].attribute.append(onnx.helper.make_attribute("axis", 1))
    given.graph.node[1].attribute.append(onnx.helper.make_attribute("axis", 1))
    network = load(file(given))
    agrees(given, network)
    assert network([1.0, 1.0, 1.0, 1.0]).tolist() == [2.5, -2.0]


def _called_again(function: Any) -> Any:
    """Return a module of torch that calls one part several times."""
    torch = pytest.importorskip("torch")
    from exported_parts import Applied

    torch.manual_seed(0)
    part = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    return Applied(function, n=part.eval())


def test_a_part_that_is_called_again_is_the_same_value() -> None:
    torch = pytest.importorskip("torch")
    for function in (
        lambda m, x: torch.where(m.n(x) > 0, m.n(x), 0.1 * m.n(x)),
        lambda m, x: m.n(x) * (m.n(x) > 0),
        lambda m, x: torch.where(m.n(x)[:, :1] > 0, m.n(x)[:, :1] * 2 + x, x),
        lambda m, x: torch.where(m.n(x) > x, m.n(x), x),
    ):
        module = _called_again(function)
        network = load(module, input_shape=3)
        points = np.random.default_rng(0).standard_normal((20, 3)) * 3
        with torch.no_grad():
            wanted = module.double()(torch.tensor(points)).numpy()
        np.testing.assert_allclose(network(points), wanted, rtol=0, atol=1e-12)


def test_parts_with_other_numbers_are_other_values() -> None:
    torch = pytest.importorskip("torch")
    for function in (
        lambda m, x: torch.where(m.n(x) > 0, m.n(x + 1), 0.1 * m.n(x)),
        lambda m, x: torch.where(m.n(x)[:, :1] > 0, m.n(x)[:, 1:2] + x, x),
        lambda m, x: torch.where(m.n(x)[:, :1] > 0, m.n(x.flip(1))[:, :1] + x, x),
    ):
        with pytest.raises(UnsupportedLayerError, match="may jump there"):
            load(_called_again(function), input_shape=3)
    with pytest.raises(UnsupportedLayerError, match="jumps from 0.0 to 1.0"):
        load(_called_again(lambda m, x: torch.where(m.n(x) > 0, m.n(x) + 1, m.n(x))), input_shape=3)


JUMPS: dict[str, tuple[onnx.ModelProto, str]] = {
    "hard shrink": (
        _chain(("Abs", "x", "a"), ("LessOrEqual", "a k", "c"), ("Where", "c z x", "y"), k=F(0.5), z=F(0)),
        "'Where_y' .* jumps from -0.5 to 0.0 where number 0 of the input is -0.5, compared exactly",
    ),
    "sign": (_chain(("Sign", "x", "y")), "'Sign_y' .* jumps from -1.0 to 1.0 where number 0 of the input is 0.0"),
    "sign before a sum": (_chain(("Sign", "x", "s"), ("ReduceSum", "s", "y")), "'Sign_s' .* jumps from -1.0 to 1.0"),
    "mask": (
        _chain(("Greater", "x k", "c"), ("Where", "c x z", "y"), k=F(0.25), z=F(0)),
        "jumps from 0.0 to 0.25 where number 0 of the input is 0.25",
    ),
    "unit 2": (
        _chain(("Greater", "x k", "c"), ("Where", "c x z", "y"), k=F([0, 0, 1, 0]), z=F(0)),
        "jumps from 0.0 to 1.0 where number 2 of the input is 1.0",
    ),
    "by the last bit": (
        _chain(
            *(("Greater", "x k", "c"), ("Mul", "x t", "m"), ("Add", "m b", "n"), ("Where", "c x n", "y")),
            k=F(1),
            t=F(1 / 3),
            b=F(2 / 3),
        ),
        "jumps from 1.0[0-9]* to 1.0 where number 0 of the input is 1.0",
    ),
    "another number": (
        _chain(("Neg", "x", "n"), ("ReduceSum", "x", "s"), ("Greater", "s z", "c"), ("Where", "c x n", "y"), z=F(0)),
        "chooses by whether number 0 of 'ReduceSum_s' is above 0.0, and its two branches are not seen to differ",
    ),
    "product": (
        _chain(("Greater", "x z", "c"), ("Where", "c x z", "r"), ("Mul", "r x", "y"), z=F(0)),
        "'Mul_y' .* multiplies two values that depend on the input",
    ),
    "value as condition": (_chain(("Cast", "x", "c"), ("Where", "c x z", "y"), z=F(0)), "turns numbers into bool"),
}
JUMPS["value as condition"][0].graph.node[0].attribute.append(onnx.helper.make_attribute("to", TensorProto.BOOL))


@pytest.mark.parametrize("name", list(JUMPS))
def test_jumps_are_refused_with_their_place(name: str) -> None:
    given, words = JUMPS[name]
    with pytest.raises(UnsupportedLayerError, match=words):
        load(file(given))


def test_functions_are_exact() -> None:
    step = IDENTITY.signs((1,))
    assert [step(Fraction(each)) for each in (-1, 0, 1)] == [0, 0, 1]
    assert step.jump() == (0, 0, 1) and step.times(IDENTITY).jump() is None
    only = IDENTITY.signs((0,))
    assert only.jump() == (0, 0, 1) and only.plus(only.times(Pieces.line(0, -1))).is_constant
    leaky = step.chosen(IDENTITY, Pieces.line(0.1, 0))
    assert leaky(Fraction(-10)) == -10 * Fraction(0.1) and leaky.after(leaky)(Fraction(-1)) == Fraction(0.1) ** 2 * -1
    kinked = leaky.plus(Pieces.line(0, 1)).sign()
    assert kinked.ends == (-1 / Fraction(0.1),) and kinked.values == (0,)
    with pytest.raises(NotLinearError, match="multiplies two values"):
        IDENTITY.times(leaky)
    with pytest.raises(NotLinearError, match="more than 254 pieces"):
        teeth = IDENTITY
        for each in range(300):
            teeth = teeth.plus(Pieces.line(1, -each).signs((1,)))
    with pytest.raises(NotLinearError, match="bits"):
        small = Pieces.line(A_THIRD, 0)
        for _ in range(20):
            small = small.after(small)
    assert leaky_relu(0.1).slopes.tolist() == [float(line[0]) for line in leaky.lines]


@pytest.mark.parametrize("rows", [1, 3])
def test_batches_of_a_fixed_length(rows: int) -> None:
    """A selection keeps rows apart, unless its constants differ from row to row."""
    nodes = [
        *(node("GreaterOrEqual", ["x", "z"], "c"), node("Mul", ["x", "k"], "m"), node("Where", ["c", "x", "m"], "w")),
        *(
            node("Greater", ["w", "z"], "d"),
            node("Cast", ["d"], "e", to=TensorProto.FLOAT),
            node("Mul", ["w", "e"], "y"),
        ),
    ]
    tensors = {"z": np.zeros((rows, 4), F), "k": F(0.25)}
    network = load(file(model(nodes, tensors, shape=[rows, 4])))
    assert network.n_in == 4 and network([-1.0, 0.0, 1.0, 2.0]).tolist() == [0.0, 0.0, 1.0, 2.0]
    tensors["k"] = np.arange(1, rows + 1, dtype=F)[:, None]
    assert load(file(model(nodes, tensors, shape=[rows, 4]))).n_in == 4 * rows
