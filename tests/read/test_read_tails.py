# SPDX-License-Identifier: MIT
"""Are strictly monotone functions at the end left out, with a formula that gives the model's outputs?"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from onnx.reference import ReferenceEvaluator

from formulas import applied
from onnx_parts import file, model, node
from regions.errors import UnsupportedLayerError
from regions.read import load
from regions.read.graphs.tails import Formula, scaled_formula

POINTS = np.random.default_rng(5).standard_normal((20, 3)) * 2
ONNX: dict[str, dict[str, float]] = {
    **dict.fromkeys(("Tanh", "Sigmoid", "Softplus", "Softsign", "Selu", "Exp", "Erf", "Atan", "Sinh", "Asinh"), {}),
    **{"Elu": {"alpha": 0.5}, "Celu": {"alpha": 2.0}},
}
TORCH = (
    *("tanh", "sigmoid", "special.expm1", "exp", "expm1", "erf", "special.erf", "atan", "arctan", "sinh", "asinh"),
    *("arcsinh", "nn.functional.softplus", "nn.functional.elu", "nn.functional.celu", "selu"),
    "nn.functional.logsigmoid",
)


@pytest.mark.parametrize("operator", list(ONNX))
def test_operators_of_onnx(operator: str) -> None:
    scale, shift = np.float32([2.0, 1.0, 0.5]), np.float32([0.25])
    nodes = [
        *(node("Relu", ["x"], "r"), node(operator, ["r"], "t", **ONNX[operator]), node("Mul", ["t", "s"], "m")),
        *(node("Sub", ["m", "c"], "a"), node("Div", ["a", "c"], "d"), node("Add", ["c", "d"], "y")),
    ]
    given = model(nodes, {"s": scale, "c": shift}, opset=17)
    network = load(file(given))
    assert [each.units.activation.name for each in network.graph.nodes][0] == "relu"
    evaluator = ReferenceEvaluator(given)
    wanted = np.concatenate([evaluator.run(None, {"x": x[None].astype(np.float32)})[0] for x in POINTS])
    np.testing.assert_allclose(
        applied(network.notes[0], network(POINTS.astype(np.float32))), wanted, rtol=2e-5, atol=2e-5
    )


JOINED = [node("Tanh", ["x"], "t"), node("Concat", ["t", "x"], "j", axis=1)]
SCALED = [node("Tanh", ["x"], "t"), node("Mul", ["t", "weights"], "m")]


def test_a_function_that_may_not_increase_is_refused() -> None:
    for nodes, words in (
        ([node("Elu", ["x"], "y", alpha=-1.0)], "Elu.*not piecewise linear"),
        ([node("Tanh", ["x"], "t"), node("Mul", ["t", "s"], "y")], "comes before node 'Mul_y'"),
        ([node("Tanh", ["x"], "t"), node("Mul", ["t", "x"], "y")], "comes before node 'Mul_y'"),
        (
            [node("Tanh", ["x"], "t"), node("Neg", ["t"], "n"), node("Softmax", ["n"], "y")],
            "comes before node 'Softmax_y'",
        ),
        ([node("Neg", ["x"], "n"), node("Tanh", ["x"], "t"), node("Sub", ["n", "t"], "y")], "joins its result"),
        ([node("Abs", ["x"], "a"), node("Div", ["x", "a"], "y")], "divides by what depends on the input"),
        ([node("Exp", ["x"], "t"), node("Div", ["o", "t"], "y")], "comes before node 'Div_y'"),
        ([node("Tanh", ["x"], "t"), node("Add", ["t", "w"], "y")], "comes before node 'Add_y'"),
        ([node("Sigmoid", ["x"], "t"), node("Sub", ["x", "t"], "y")], "joins its result with another value"),
        ([node("Log", ["x"], "y")], "Log.*not piecewise linear"),
        ([node("Tanh", ["x"], "t"), node("Log", ["t"], "y")], "comes before node 'Log_y'"),
        ([*JOINED, node("Mul", ["j", "two"], "y")], "comes before node 'Mul_y'"),
        ([*JOINED, node("Relu", ["j"], "y")], "comes before node 'Relu_y'"),
        ([*JOINED, node("Softmax", ["j"], "y")], "comes before node 'Softmax_y'"),
        ([node("Tanh", ["x"], "t"), node("Pad", ["t", "pads"], "y")], "comes before node 'Pad_y'"),
        ([node("Tanh", ["x"], "t"), node("Concat", ["t", "l"], "y", axis=1)], "comes before node 'Concat_y'"),
        ([*SCALED, node("Gather", ["m", "i"], "y", axis=1)], "comes before node 'Gather_y'"),
        ([node("Gelu", ["x"], "y")], "not piecewise linear"),
    ):
        tensors = {"s": np.float32([1.0, 0.0, 1.0]), "o": np.float32([1.0]), "w": np.zeros((2, 1, 3), np.float32)}
        tensors |= {"two": np.float32([2.0]), "pads": np.array([0, 0, 0, 2]), "i": np.array([2, 0])}
        tensors["l"] = np.ones((1, 2), np.float32)
        tensors["weights"] = np.float32([1.0, 2.0, 3.0])
        with pytest.raises(UnsupportedLayerError, match=words):
            load(file(model(nodes, tensors, opset=20)))


def test_each_output_has_its_own_formula() -> None:
    given = model(
        [
            *(node("Relu", ["x"], "r"), node("Tanh", ["r"], "t"), node("Mul", ["t", "s"], "y")),
            *(node("Neg", ["r"], "n"), node("Exp", ["n"], "e"), node("Reshape", ["e", "l"], "z")),
        ],
        {"s": np.float32([2.0]), "l": np.array([3, -1])},
        outputs=("y", "z"),
    )
    network = load(file(given))
    notes = [note for note in network.notes if note.startswith("left out")]
    assert [note.rpartition("returns ")[2] for note in notes] == ["tanh(h) * 2.0", "exp(h)"]
    assert network.n_out == 6


def test_long_constants_are_shortened() -> None:
    tanh = Formula("tanh(h)")
    assert str(scaled_formula("mul", True, np.arange(1.0, 10.0), tanh, (1, 9))) == (
        "tanh(h) * [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, ..]"
    )
    assert str(scaled_formula("mul", True, 2, Formula("tanh(h) + 1.0"), (3,))) == "(tanh(h) + 1.0) * 2.0"
    assert scaled_formula("mul", True, np.inf, tanh, (3,)) is None
    assert scaled_formula("mul", True, np.ones((2, 3)), tanh, (3,)) is None


def test_the_note_says_that_a_function_decreases() -> None:
    tensors = {"two": np.float32([-2.0]), "s": np.float32([1.0, -1.0, 1.0]), "o": np.float32([1.0])}
    for nodes, formula in (
        ([node("Mul", ["t", "two"], "y")], "tanh(h) * -2.0 (decreasing)"),
        ([node("Sub", ["o", "t"], "y")], "1.0 - tanh(h) (decreasing)"),
        ([node("Neg", ["t"], "n"), node("Div", ["n", "two"], "y")], "(tanh(h) * -1.0) / -2.0"),
        ([node("Mul", ["t", "s"], "y")], "tanh(h) * [1.0, -1.0, 1.0] (decreasing where the factor is negative)"),
        ([node("Neg", ["t"], "n"), node("Exp", ["n"], "e"), node("Add", ["e", "o"], "y")],
         "exp(tanh(h) * -1.0) + 1.0 (decreasing)"),
    ):  # fmt: skip
        given = model([node("Relu", ["x"], "r"), node("Tanh", ["r"], "t"), *nodes], tensors, opset=17)
        network = load(file(given))
        assert network.notes[0].rpartition("returns ")[2] == formula
        values = network(POINTS.astype(np.float32))
        evaluator = ReferenceEvaluator(given)
        wanted = np.concatenate([evaluator.run(None, {"x": x[None].astype(np.float32)})[0] for x in POINTS])
        np.testing.assert_allclose(applied(network.notes[0], values), wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("kind", ["softsign", "tanhshrink", "softplus"])
def test_functions_of_several_operators(kind: str) -> None:
    torch = pytest.importorskip("torch")
    from exported_parts import Applied, exported

    function = getattr(torch.nn.functional, kind)
    more = (0.5, 25.0) if kind == "softplus" else ()
    module = Applied(lambda m, x: -2 * function(2 * x.relu() - 1, *more) + 1)
    program = torch.export.export(module, (torch.zeros(2, 3),), dynamic_shapes=({0: torch.export.Dim("batch")},))
    decomposed = io.BytesIO()
    torch.export.save(program.run_decompositions(), decomposed)
    written = torch.onnx.export(module, (torch.zeros(1, 3),), dynamo=True, verbose=False)
    with torch.no_grad():
        wanted = module.double()(torch.tensor(POINTS)).numpy()
    module.float()
    for network in (
        load(io.BytesIO(exported(module, 3))),
        load(decomposed),
        load(module, input_shape=3),
        load(file(written.model_proto)),
    ):
        assert network.graph.nodes[0].units.activation.name == "relu" and len(network.graph.nodes) == 2
        np.testing.assert_allclose(applied(network.notes[0], network(POINTS)), wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("name", TORCH)
def test_operators_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    from exported_parts import Applied, exported

    function: Any = torch
    for part in name.split("."):
        function = getattr(function, part)
    parameters = {"softplus": {"beta": 2.0}, "elu": {"alpha": 0.5}, "celu": {"alpha": 2.0}}.get(
        name.rpartition(".")[2], {}
    )
    module = Applied(lambda m, x: 2.0 * function(x.relu() - 1, **parameters) + m.shift, shift=torch.tensor([0.0, 1, 2]))
    for network in (load(io.BytesIO(exported(module, 3))), load(module, input_shape=3)):
        with torch.no_grad():
            wanted = module(torch.tensor(POINTS))
        np.testing.assert_allclose(applied(network.notes[0], network(POINTS)), wanted.numpy(), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "kind", ["Tanh", "Sigmoid", "LogSigmoid", "Softsign", "Tanhshrink", "SELU", "ELU", "CELU", "Softplus"]
)
def test_modules(kind: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    last = getattr(torch.nn, kind)(*([0.5] if kind in ("ELU", "CELU", "Softplus") else []))
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2), last).double()
    network = load(module)
    with torch.no_grad():
        wanted = module(torch.tensor(POINTS)).numpy()
    np.testing.assert_allclose(applied(network.notes[0], network(POINTS)), wanted, rtol=1e-6, atol=1e-6)


def test_one_minus_a_probability_of_torch() -> None:
    torch = pytest.importorskip("torch")
    from exported_parts import Applied, exported

    for function in (lambda m, x: 1 - torch.sigmoid(x.relu()), lambda m, x: torch.rsub(torch.tanh(x.relu()), 0.5)):
        module = Applied(function)
        for network in (load(io.BytesIO(exported(module, 3))), load(module, input_shape=3)):
            wanted = module(torch.tensor(POINTS)).numpy()
            np.testing.assert_allclose(applied(network.notes[0], network(POINTS)), wanted, rtol=1e-6, atol=1e-6)


def test_the_complement_of_a_probability_has_no_formula() -> None:
    nodes = [node("Sigmoid", ["x"], "p"), node("Sub", ["o", "p"], "q"), node("Concat", ["q", "p"], "y", axis=1)]
    (note,) = load(file(model(nodes, {"o": np.float32([1.0])}, shape=[1, 1]))).notes
    assert note.endswith("the outputs of this network are what goes into it")


@pytest.mark.parametrize(
    "name",
    ["softmax", "log_softmax", "argmax", "_softmax", "_log_softmax", "special_erf", "special_expm1", "log_sigmoid"],
)
def test_names_of_torch_at_the_end(name: str) -> None:
    torch = pytest.importorskip("torch")
    from exported_parts import Applied, exported

    more: list[Any] = {"softmax": [1], "log_softmax": [1], "argmax": [1], "_softmax": [1, False]}.get(name, [])
    more = [1, False] if name == "_log_softmax" else more
    module = Applied(lambda m, x: getattr(torch.ops.aten, name)(x.relu(), *more))
    network = load(io.BytesIO(exported(module, 3)))
    assert name in network.notes[0] and repr(network) == "Network(3-3-3, relu, 3 hidden neurons)"
    with pytest.raises(UnsupportedLayerError, match="comes before"):
        load(io.BytesIO(exported(Applied(lambda m, x: getattr(torch.ops.aten, name)(x, *more).relu()), 3)))


def test_names_of_classes_after_the_end() -> None:
    """scikit-learn's converter writes ArrayFeatureExtractor and ZipMap; LabelEncoder is what other converters write."""
    notes = load(Path(__file__).parent.parent / "data" / "sklearn_two_classes.onnx").notes
    assert "ArrayFeatureExtractor" in notes[0] and "ZipMap" in notes[0]
    nodes = [
        *(node("Softmax", ["x"], "p"), node("ArgMax", ["p"], "a", axis=1)),
        node("LabelEncoder", ["a"], "y", domain="ai.onnx.ml", keys_int64s=[0, 1, 2], values_int64s=[5, 6, 7]),
    ]
    (note,) = load(file(model(nodes, shape=[1, 3], domains={"ai.onnx.ml": 2}))).notes
    assert "LabelEncoder" in note


def test_a_cast_to_integers_has_no_formula() -> None:
    for element, formula in ((TensorProto.DOUBLE, True), (TensorProto.INT64, False)):
        nodes = [node("Tanh", ["x"], "t"), node("Cast", ["t"], "y", to=element)]
        (note,) = load(file(model(nodes, shape=[1, 3]))).notes
        assert note.endswith("returns tanh(h)") == formula
    torch = pytest.importorskip("torch")
    from exported_parts import Applied, exported

    for kind, formula in ((torch.float64, True), (torch.int64, False)):
        (note,) = load(io.BytesIO(exported(Applied(lambda m, x, kind=kind: x.tanh().to(kind)), 3))).notes
        assert note.endswith("returns tanh(h)") == formula


def outputs_of(note: str, values: Any) -> Any:
    """Return the outputs that a note on formulas of parts of one output describes."""
    if " as numbers " not in note:
        return applied(note, values)
    result = values.copy()
    for part in note.rpartition("the model returns ")[2].split(", and "):
        formula, _, words = part.partition(" as numbers ")
        for run in words.partition(" of output")[0].split(", "):
            ends = [int(word) for word in run.split(" to ")]
            chosen = slice(ends[0], ends[-1] + 1)
            result[:, chosen] = applied(f"the model returns {formula}", values[:, chosen])
    return result


def test_numbers_are_moved_after_a_tail() -> None:
    torch = pytest.importorskip("torch")
    from exported_parts import Applied, exported

    for function in (
        lambda m, x: torch.cat([torch.tanh(x.relu()), (x - 1).clamp(-20, 2)], 1),
        lambda m, x: torch.stack([torch.sigmoid(x), x.abs(), torch.tanh(x.relu()) * m.v], 1),
        lambda m, x: torch.tanh(x.relu())[:, [2, 0]] * m.v[:2],
        lambda m, x: torch.tanh(x.relu()).view(-1, 3, 1).permute(0, 2, 1).flip(2),
        lambda m, x: torch.cat([torch.exp(x.relu()[:, 1:]), torch.tanh(x.abs()).chunk(3, 1)[1]], 1).roll(1, 1),
        lambda m, x: torch.cat([(torch.tanh(x.relu()) * m.v), (torch.tanh(x) * m.v)], 1),
        lambda m, x: torch.sigmoid(x.relu()).log(),
        lambda m, x: torch.tanh(x.relu()).reshape(x.shape[0], -1),
    ):
        module = Applied(function, v=torch.tensor([1.5, 0.5, 2.0]))
        with torch.no_grad():
            wanted = module.double()(torch.tensor(POINTS)).flatten(1).numpy()
        content = exported(module.float(), 3)
        for network in (load(io.BytesIO(content)), load(module, input_shape=3)):
            note = next(note for note in network.notes if note.startswith("left out"))
            np.testing.assert_allclose(outputs_of(note, network(POINTS)), wanted, rtol=1e-6, atol=1e-6)


def test_joined_outputs_of_onnx() -> None:
    nodes = [
        *(node("Relu", ["x"], "r"), node("Sigmoid", ["r"], "s"), node("Log", ["s"], "l")),
        *(node("Concat", ["l", "r"], "j", axis=1), node("Shape", ["l"], "n"), node("Reshape", ["l", "n"], "k")),
        *(node("Split", ["j", "lengths"], "first", axis=1), node("Transpose", ["first"], "t", perm=[1, 0])),
        node("Concat", ["k", "j"], "y", axis=1),
    ]
    nodes[6].output.append("second")
    tensors = {"lengths": np.array([4, 2])}
    given = model(nodes, tensors, outputs=("y", "t", "second"), opset=17)
    network = load(file(given))
    evaluator = ReferenceEvaluator(given)
    notes = [note for note in network.notes if note.startswith("left out")]
    assert [note.rpartition("returns ")[2] for note in notes] == [
        "log(sigmoid(h)) as numbers 0 to 5 of output 'y', and h as numbers 6 to 8",
        "log(sigmoid(h)) as numbers 0 to 2 of output 't', and h as numbers 3",
    ]
    for point, values in zip(POINTS, network(POINTS.astype(np.float32)), strict=True):
        y, t, second = evaluator.run(None, {"x": point[None].astype(np.float32)})
        wanted = np.concatenate([y.ravel(), t.ravel(), second.ravel()])
        found = np.concatenate(
            [outputs_of(notes[0], values[None, :9])[0], outputs_of(notes[1], values[None, 9:13])[0], values[13:]]
        )
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5)


def test_joined_outputs_of_a_batch() -> None:
    nodes = [node("Tanh", ["x"], "t"), node("Concat", ["t", "x"], "y", axis=1)]
    network = load(file(model(nodes, {}, shape=[4, 3])))
    assert network.n_out == 6 and any(
        "numbers 0 to 2 of output 'y', and h as numbers 3 to 5" in n for n in network.notes
    )
