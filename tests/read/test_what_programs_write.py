# SPDX-License-Identifier: MIT
"""Are files read as what they say, where exporters write something else than one would guess?

docs/other-tools.md lists what each program does, with its version. The files here are small, and made in the same form;
the right values come from torch in double precision, from onnx's evaluator, or are written out.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

import regions
from regions.errors import CheckpointError, NotACheckpointError, UnsupportedLayerError
from regions.read import load

onnx = pytest.importorskip("onnx")

from onnx_parts import agrees, file, model, node, normal  # noqa: E402

W, B = normal(3, 3), normal(3)
GEMM = node("Gemm", ["x", "w", "b"], "h", transB=1)
LINE = regions.Segment([-3.0, 2.0, -1.0], [2.0, -3.0, 4.0])


def of_nodes(*nodes: Any, **tensors: Any) -> Any:
    """Return a dense layer with three units, and nodes behind it."""
    return model([GEMM, *nodes], {"w": W, "b": B, **{name: np.float32(value) for name, value in tensors.items()}})


def exported(module: Any, shape: tuple[int, ...], *, decomposed: bool = False) -> io.BytesIO:
    torch = pytest.importorskip("torch")
    program = torch.export.export(module.eval(), (torch.randn(1, *shape),))
    stream = io.BytesIO()
    torch.export.save(program.run_decompositions() if decomposed else program, stream)
    stream.seek(0)
    return stream


def agrees_with(module: Any, net: regions.Network, *shape: int) -> None:
    from exported_parts import agrees as agrees_with_torch

    agrees_with_torch(module, net, *shape)


# --- ONNX files


def test_one_initializer_with_two_roles() -> None:
    """A fresh batch norm: its scale is its variance, and its shift its mean. A layer without a bias has two inputs."""
    nodes = [node("BatchNormalization", ["x", "s", "b", "b", "s"], "n"), node("Gemm", ["n", "w"], "y", transB=1)]
    given = model(nodes, {"s": np.float32([1, 2, 0.5]), "b": np.float32([0.5, -1, 2]), "w": W})
    net = load(file(given))
    agrees(given, net)
    point = np.array([0.25, 3.0, -1.0])
    scale, shift = np.array([1, 2, 0.5]), np.array([0.5, -1, 2])
    expected = W.astype(float) @ ((point - shift) / np.sqrt(scale + np.float32(1e-5)) * scale + shift)
    np.testing.assert_allclose(net(point), expected, rtol=1e-12)


def test_an_activation_is_read_by_what_it_computes() -> None:
    """jax2onnx writes one activation as Relu, or as Max with 0; a leaky one has a comparison, a product and Where."""
    relu = load(file(of_nodes(node("Relu", ["h"], "y"))))
    assert load(file(of_nodes(node("Max", ["h", "zero"], "y"), zero=0))) == relu
    leaky = load(file(of_nodes(node("LeakyRelu", ["h"], "y", alpha=0.25))))
    nodes = [
        node("GreaterOrEqual", ["h", "zero"], "c"),
        node("Mul", ["h", "slope"], "m"),
        node("Where", ["c", "h", "m"], "y"),
    ]
    assert regions.compare(load(file(of_nodes(*nodes, zero=0, slope=0.25))), leaky, LINE).equal


def test_a_soft_shrink_of_comparisons() -> None:
    """torch's exporter does not use Shrink. The form is continuous, so it has regions, as Shrink has."""
    nodes = [
        *(node("Abs", ["h"], "a"), node("Greater", ["a", "lambd"], "c"), node("Sign", ["h"], "s")),
        *(node("Mul", ["s", "lambd"], "l"), node("Sub", ["h", "l"], "d"), node("Mul", ["h", "zero"], "z")),
        node("Where", ["c", "d", "z"], "y"),
    ]
    shrink = load(file(of_nodes(node("Shrink", ["h"], "y", lambd=0.5, bias=0.5))))
    given = load(file(of_nodes(*nodes, lambd=0.5, zero=0)))
    assert regions.compare(given, shrink, LINE).equal
    assert regions.count(given, LINE) == regions.count(shrink, LINE) > 2


def test_a_threshold_of_a_comparison() -> None:
    nodes = [node("LessOrEqual", ["h", "t"], "c"), node("Where", ["c", "t", "h"], "y")]
    maximum = load(file(of_nodes(node("Max", ["h", "t"], "y"), t=0.5)))
    assert regions.compare(load(file(of_nodes(*nodes, t=0.5))), maximum, LINE).equal


def test_a_pool_that_is_written_as_picks() -> None:
    """torch's exporter writes an adaptive pool from 6 to 4 with GatherND of windows, and means of them."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")
    module = torch.nn.AdaptiveAvgPool1d(4).eval()
    stream = io.BytesIO()
    torch.onnx.export(module, (torch.randn(1, 2, 6),), stream, dynamo=True, verbose=False)
    stream.seek(0)
    kinds = {each.op_type for each in onnx.load(stream).graph.node}
    assert not kinds & {"AveragePool", "GlobalAveragePool"}
    stream.seek(0)
    agrees_with(module, load(stream), 2, 6)


IMAGE = np.arange(1.0, 17.0)


def test_a_divisor_that_exporters_leave_out() -> None:
    """The module divides by 5, and the file that torch writes from it by 9; each is read as it is."""
    torch = pytest.importorskip("torch")
    module = torch.nn.AvgPool2d(3, 2, padding=1, divisor_override=5)
    for net in (load(module.eval(), input_shape=(1, 4, 4)), load(exported(module, (1, 4, 4)))):
        agrees_with(module, net, 1, 4, 4)
        assert net(IMAGE)[3] == pytest.approx((6 + 7 + 8 + 10 + 11 + 12 + 14 + 15 + 16) / 5)
    nodes = [node("AveragePool", ["x"], "y", kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, count_include_pad=1)]
    given = model(nodes, shape=(1, 1, 4, 4))
    agrees(given, load(file(given)))
    assert load(file(given))(IMAGE)[3] == pytest.approx(99 / 9)


def test_average_pools_of_two_backends() -> None:
    """Keras' padding "same": one backend divides by the pixels inside the image, another one repeats the border."""
    window = {"kernel_shape": [3, 3], "strides": [2, 2]}
    nodes = [node("AveragePool", ["x"], "y", auto_pad="SAME_UPPER", **window)]  # count_include_pad is 0 by default
    inside = model(nodes, shape=(1, 1, 4, 4))
    nodes = [node("Pad", ["x", "p"], "h", mode="edge"), node("AveragePool", ["h"], "y", **window)]
    repeated = model(nodes, {"p": np.array([0, 0, 0, 0, 0, 0, 1, 1])}, shape=(1, 1, 4, 4))
    for given, expected in ((inside, [6, 7.5, 12, 13.5]), (repeated, [6, 7 + 2 / 3, 12 + 2 / 3, 14 + 1 / 3])):
        agrees(given, load(file(given)))
        assert load(file(given))(IMAGE) == pytest.approx(expected)


@pytest.mark.parametrize("opset", [12, min(22, onnx.defs.onnx_opset_version())])
def test_a_pool_whose_last_window_begins_past_the_end(opset: int) -> None:
    """Shape inference says three outputs for operator set 12; there are two."""
    nodes = [node("MaxPool", ["x"], "y", kernel_shape=[1], strides=[2], ceil_mode=1)]
    given = model(nodes, shape=(1, 1, 4), opset=opset)
    net = load(file(given))
    assert net(np.array([1.0, 2.0, 3.0, 4.0])).tolist() == [1.0, 3.0]
    agrees(given, net)


def test_the_place_past_the_padding_does_not_count() -> None:
    """OpenVINO divides the last window by 3: a number, a zero of the padding, and a place that rounding up adds."""
    window = {"kernel_shape": [3], "strides": [2], "pads": [1, 1], "ceil_mode": 1}
    nodes = [node("AveragePool", ["x"], "y", count_include_pad=1, **window)]
    given = model(nodes, shape=(1, 1, 6), opset=19)
    if onnx.defs.onnx_opset_version() >= 22:  # earlier reference evaluators do as OpenVINO does
        agrees(given, load(file(given)))
    assert load(file(given))(np.arange(1.0, 7.0)) == pytest.approx([1, 3, 5, 3])


def test_weights_in_a_file_beside_and_in_the_file(tmp_path: Any) -> None:
    """torch writes small weights of some types into the model, and all others into the file beside it."""
    nodes = [GEMM, node("Relu", ["h"], "r"), node("Gemm", ["r", "v", "b"], "y", transB=1)]
    given = model(nodes, {"w": W, "b": B, "v": normal(3, 3)})
    whole = load(file(given))
    path = tmp_path / "m.onnx"
    onnx.save(given, path, save_as_external_data=True, location="m.onnx.data", size_threshold=60)
    stored = onnx.load(path, load_external_data=False)
    places = [{each.key: each.value for each in tensor.external_data} for tensor in stored.graph.initializer]
    assert [place.get("offset") for place in places] == ["0", None, "36"]
    assert load(path) == whole
    stored.graph.initializer[0].external_data[0].value = "./m.onnx.data"
    onnx.save(stored, path)
    with pytest.raises(CheckpointError, match="only a plain name"):
        load(path)


# --- programs of torch.export


@pytest.mark.parametrize("decomposed", [False, True])
@pytest.mark.parametrize("name", ["LeakyReLU", "Hardshrink", "Hardtanh", "ReLU6", "RReLU", "Softshrink", "Threshold"])
def test_arguments_that_equal_defaults(name: str, decomposed: bool) -> None:
    """Some modules write arguments that equal the defaults, and others leave them out.

    A decomposed RReLU is rrelu_with_noise_functional.
    """
    nn = pytest.importorskip("torch").nn
    module = nn.Threshold(0.5, 0.5) if name == "Threshold" else getattr(nn, name)()
    stream = exported(module, (3,), decomposed=decomposed)
    if name == "Hardshrink":
        with pytest.raises(UnsupportedLayerError, match="jumps"):
            load(stream)
    else:
        agrees_with(module, load(stream), 3)


@pytest.mark.parametrize("low", [0.0, float("-inf")])
def test_infinite_numbers_are_words(low: float) -> None:
    """The JSON of a program has no infinity, so torch writes the text "Infinity"."""
    nn = pytest.importorskip("torch").nn
    module = nn.Hardtanh(low, 1.0 if low else float("inf"))
    agrees_with(module, load(exported(module, (3,))), 3)
    assert len(load(exported(module, (3,)))(np.zeros(3))) == 3


def test_infinite_numbers_in_lists_are_words() -> None:
    nn = pytest.importorskip("torch").nn
    from exported_parts import rewritten

    def stretch(program: dict[str, Any]) -> None:
        for each in program["graph_module"]["graph"]["nodes"]:
            for given in each["inputs"]:
                if "as_floats" in given["arg"]:
                    given["arg"]["as_floats"][0] = "Infinity"

    content = exported(nn.Upsample(scale_factor=2.0), (1, 2, 2)).getvalue()
    with pytest.raises(NotACheckpointError, match="enlarges by something that is not a number above 0"):
        load(io.BytesIO(rewritten(content, stretch)))


def test_views_that_were_taken_before_a_change_in_place() -> None:
    """The program slices the value before the ReLU; in torch the view sees the ReLU."""
    torch = pytest.importorskip("torch")
    from exported_parts import Applied

    def view_before(m: Any, x: Any) -> Any:
        h = x * 2
        view = h[:, :1]
        torch.relu_(h)
        return torch.cat([h, view], 1)

    def use_after(m: Any, x: Any) -> Any:
        h = x * 2
        torch.relu_(h)
        return h + x

    for function in (view_before, use_after):
        module = Applied(function)
        for net in (load(exported(module, (3,))), load(module.eval(), input_shape=3)):
            agrees_with(module, net, 3)


@pytest.mark.parametrize("decomposed", [False, True])
def test_batch_norms_in_both_forms(decomposed: bool) -> None:
    """In one form the node has one result, in the other three; a buffer without users is an input of the program."""
    torch = pytest.importorskip("torch")
    nn = torch.nn
    norm = nn.BatchNorm1d(3)
    norm.running_mean.copy_(torch.tensor([0.5, -1.0, 2.0]))
    norm.running_var.copy_(torch.tensor([4.0, 1.0, 0.25]))
    module = nn.Sequential(nn.Linear(3, 3), norm, nn.ReLU(), nn.Linear(3, 2))
    agrees_with(module, load(exported(module, (3,), decomposed=decomposed)), 3)


def test_tensors_that_are_stored_once_under_two_names(tmp_path: Any) -> None:
    """safetensors' save_model keeps one of two tied tensors, and names the other one in its metadata."""
    nn = pytest.importorskip("torch").nn
    safetensors = pytest.importorskip("safetensors.torch")
    module = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 1))
    module[2].weight = module[0].weight
    safetensors.save_model(module, tmp_path / "m.safetensors")
    net = load(tmp_path / "m.safetensors", activation="relu")
    assert net == load(module) and (net.layers[0].weights == net.layers[1].weights).all()


# --- arrays of JAX


@pytest.mark.parametrize("kind", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"])
def test_arrays_of_types_that_numpy_has_not(kind: str, tmp_path: Any) -> None:
    """JAX's bfloat16 comes from ml_dtypes. Arrays are read exactly; in .npz files numpy keeps only their bytes."""
    kind = getattr(pytest.importorskip("ml_dtypes"), kind)
    state = {"0.weight": W, "0.bias": B, "2.weight": normal(2, 3)}
    narrow = {name: array.astype(kind) for name, array in state.items()}
    wide = {name: array.astype(np.float64) for name, array in narrow.items()}
    net = load(wide, activation="relu")
    assert load(narrow, activation="relu") == net
    assert regions.Network([(narrow["0.weight"], narrow["0.bias"]), (narrow["2.weight"], [0, 0])]) == net
    points = np.array([[1.5, -3.0, 0.5], [2.0, 1.0, -4.0]]).astype(kind)
    assert (net(points) == net(points.astype(np.float64))).all()
    np.savez(tmp_path / "m.npz", **narrow)
    with pytest.raises(regions.RegionsError, match="do not keep types such as bfloat16|numpy does not know"):
        load(tmp_path / "m.npz", activation="relu")
