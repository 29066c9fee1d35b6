# SPDX-License-Identifier: MIT
"""Are quantised files read as the functions that they mean, or refused because values are rounded?"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import regions
from onnx_parts import agrees, file, model, node, normal
from regions.errors import NetworkError, NotACheckpointError, UnsupportedLayerError
from regions.read import load

NEWEST = min(onnx.defs.onnx_opset_version(), 23)


def with_weights(tensor: onnx.TensorProto, scales: Any, zeros: Any = None, **attributes: Any) -> onnx.ModelProto:
    """Return a model with one product, whose weights are the dequantised tensor."""
    inputs = ["q", "s"] if zeros is None else ["q", "s", "z"]
    nodes = [node("DequantizeLinear", inputs, "w", **attributes), node("MatMul", ["x", "w"], "y")]
    given = model(nodes, {"s": np.asarray(scales, np.float32)}, shape=[1, tensor.dims[0]], opset=NEWEST)
    given.graph.initializer.append(tensor)
    if zeros is not None:
        given.graph.initializer.append(zeros)
    return given


def test_one_scale_in_a_list_belongs_to_all_numbers() -> None:
    """onnxruntime's quantiser writes scales of shape [1] beside biases of one axis, with the default axis 1."""
    nodes = [
        node("DequantizeLinear", ["q", "s", "z"], "w"),
        node("DequantizeLinear", ["p", "t", "u"], "b"),
        node("Gemm", ["x", "w", "b"], "y", transB=1),
    ]
    tensors = {
        **{"q": np.int8([[3, -100], [7, 0]]), "s": np.float32([0.1]), "z": np.int8([2])},
        **{"p": np.int32([1000, -70000]), "t": np.float32([0.01]), "u": np.int32([0])},
    }
    given = model(nodes, tensors, shape=[1, 2], opset=19)
    layer = load(file(given)).layers[0]
    assert layer.weights.tolist() == ((tensors["q"] - 2.0) * np.float64(np.float32(0.1))).tolist()
    assert layer.biases.tolist() == (tensors["p"] * np.float64(np.float32(0.01))).tolist()
    agrees(given, load(file(given)))


def test_integers_of_32_bits_that_need_more_than_a_double_are_noted() -> None:
    scale = np.float32(1 + 2.0**-23)
    for number, noted in ((2**31 - 1, True), (2**30, False)):
        tensor = helper.make_tensor("q", TensorProto.INT32, [1, 1], [number])
        net = load(file(with_weights(tensor, scale)))
        exact = Fraction(float(scale)) * number
        assert net.layers[0].weights[0, 0] == float(exact)
        assert (float(exact) != exact) is noted
        assert any("multiplies integers of 32 bits" in note for note in net.notes) is noted


@pytest.mark.parametrize("raw", [True, False])
@pytest.mark.parametrize("element", [TensorProto.INT4, TensorProto.UINT4])
def test_integers_of_4_bits_in_blocks(element: int, raw: bool) -> None:
    """Two numbers in a byte, an odd number of them, and a last block that is shorter."""
    low = -8 if element == TensorProto.INT4 else 0
    numbers = np.arange(low, low + 15).reshape(5, 3)
    data = numbers.ravel().tolist()
    if raw:
        halves = [number & 15 for number in [*data, 0]]
        data = bytes(a | b << 4 for a, b in zip(halves[::2], halves[1::2], strict=True))
    tensor = helper.make_tensor("q", element, [5, 3], data, raw=raw)
    scales = normal(3, 3)
    given = with_weights(tensor, scales, axis=0, block_size=2)
    expected = numbers * scales.astype(float).repeat(2, axis=0)[:5]
    assert (load(file(given)).layers[0].weights.T == expected).all()
    for wrong in (normal(2, 3), normal(3), normal(3, 2)):
        with pytest.raises(NotACheckpointError, match=r"has scales of shape .* for shape \[5, 3\]"):
            load(file(with_weights(tensor, wrong, axis=0, block_size=2)))
    with pytest.raises(NotACheckpointError, match=r"has scales of shape \[3, 3\]"):
        load(file(with_weights(tensor, scales, axis=0)))


@pytest.mark.parametrize("name", ["INT4", "UINT4", "INT8", "FLOAT8E4M3FN"])
def test_one_zero_point_without_axes(name: str) -> None:
    element = getattr(TensorProto, name)
    tensor, zero = (helper.make_tensor(*given) for given in (("q", element, [2, 1], [3, 7]), ("z", element, [], [0])))
    given = with_weights(tensor, 0.5, zero)
    assert load(file(given)).layers[0].weights.tolist() == [[1.5, 3.5]]
    agrees(given, load(file(given)))


@pytest.mark.parametrize("name", ["FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"])
def test_real_numbers_of_8_bits(name: str) -> None:
    element = getattr(TensorProto, name)
    tensor = helper.make_tensor("q", element, [2, 2], [0.3, -17.0, 2.0e-2, 200.0])
    expected = onnx.numpy_helper.to_array(tensor).astype(float)
    cast = model([node("Cast", ["q"], "w", to=1), node("MatMul", ["x", "w"], "y")], shape=[1, 2], opset=NEWEST)
    cast.graph.initializer.append(tensor)
    assert (load(file(cast)).layers[0].weights.T == expected).all()
    assert (load(file(with_weights(tensor, 0.5))).layers[0].weights.T == expected / 2).all()


def quantised_weights(zero: onnx.TensorProto | None, scales: Any, stored: Any, **attributes: Any) -> onnx.ModelProto:
    """Return a model whose float32 weights are rounded to integers and back when it runs, as Brevitas writes them."""
    inputs = ["s"] if zero is None else ["s", "z"]
    nodes = [
        *(node("QuantizeLinear", ["w", *inputs], "q", **attributes),),
        *(node("DequantizeLinear", ["q", *inputs], "v", **attributes), node("MatMul", ["x", "v"], "y")),
    ]
    tensors = {"w": np.float32(stored), "s": np.float32(scales)}
    given = model(nodes, tensors, shape=[1, len(stored)], opset=NEWEST)
    if zero is not None:
        given.graph.initializer.append(zero)
    return given


@pytest.mark.parametrize("element", ["INT8", "UINT8", "INT4", "UINT4", "INT16", None])
@pytest.mark.parametrize("form", ["all", "axis", "blocks"])
def test_weights_that_are_quantised_when_the_model_runs(element: str | None, form: str) -> None:
    """Some are in the middle of two integers, and some beyond the last one; onnx's evaluator has the right values."""
    attributes, shape = {
        "all": ({}, ()),
        "axis": ({"axis": 1}, (3,)),
        "blocks": ({"axis": 0, "block_size": 2}, (3, 3)),
    }[form]
    stored, scales = normal(5, 3) * np.float32(4), np.full(shape, 0.25, np.float32)
    stored[:2] = [[0.125, 0.375, -0.625], [1e3, -1e3, -0.0]]
    zero = element and helper.make_tensor("z", getattr(TensorProto, element), shape, np.ones(shape, int).ravel())
    given = quantised_weights(zero, scales, stored, **attributes)
    net = load(file(given))
    agrees(given, net)
    bits = int((element or "UINT8").lstrip("UINT"))
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if (element or "U").startswith("I") else (0, 2**bits - 1)
    offset = int(element is not None)
    integers = [[min(max(round(Fraction(float(w)) * 4) + offset, low), high) for w in row] for row in stored]
    assert (net.layers[0].weights.T == (np.array(integers) - offset) / 4).all()


def test_quantised_weights_that_rounding_decides_are_refused() -> None:
    """In float32 the quotient is in the middle of two integers, and in fractions it is beside it."""
    scale = np.float32(0.1)
    stored = next(w for k in range(1, 4096) if (w := _just_off_the_middle(k, scale)) is not None)
    with pytest.raises(NetworkError, match=r"rounds, and its result for constants depends on their rounding"):
        load(file(quantised_weights(None, scale, [[stored]])))


def _just_off_the_middle(k: int, scale: np.float32) -> np.float32 | None:
    """Return a number that float32 divides by the scale to k + 0.5, and that is rounded to the other integer."""
    for stored in (np.nextafter(scale * np.float32(k + 0.5), np.float32(side)) for side in (0, np.inf)):
        for each in (stored, scale * np.float32(k + 0.5)):
            exact = Fraction(float(each)) / Fraction(float(scale))
            if np.rint(each / scale) != round(exact):
                return np.float32(each)
    return None


def test_quantised_weights_that_are_not_read() -> None:
    float8 = helper.make_tensor("z", TensorProto.FLOAT8E4M3FN, [], [0.0])
    with pytest.raises(UnsupportedLayerError, match="as numbers of float8e4m3fn"):
        load(file(quantised_weights(float8, 0.25, [[1.0]])))
    with pytest.raises(NotACheckpointError, match="divides by a scale of 0"):
        load(file(quantised_weights(None, 0.0, [[1.0]])))
    with pytest.raises(NotACheckpointError, match=r"has scales of shape \[2\] for shape \[1, 1\]"):
        load(file(quantised_weights(None, [0.5, 0.5], [[1.0]])))


def test_a_byte_too_few() -> None:
    tensor = TensorProto(name="q", data_type=TensorProto.INT4, dims=[3, 1], raw_data=bytes(1))
    with pytest.raises(NotACheckpointError, match=r"has shape \[3, 1\] but 1 bytes"):
        load(file(with_weights(tensor, 0.5)))


W = {"a": normal(8, 4), "b": normal(8), "c": normal(2, 8), "d": normal(2)}
NODES = [
    node("Gemm", ["x", "a", "b"], "h", transB=1),
    node("Relu", ["h"], "r"),
    node("Gemm", ["r", "c", "d"], "y", transB=1),
]


def quantised(tmp_path: Any, name: str) -> Any:
    """Return the path of a model that onnxruntime quantised."""
    quantization = pytest.importorskip("onnxruntime.quantization")

    class Points(quantization.CalibrationDataReader):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.rows = iter([{"x": normal(1, 4)} for _ in range(8)])

        def get_next(self) -> Any:
            return next(self.rows, None)

    onnx.save(model(NODES, W, shape=("batch", 4)), tmp_path / "float.onnx")
    given = tmp_path / "float.onnx", tmp_path / "small.onnx"
    if name == "dynamic":
        quantization.quantize_dynamic(*given)
    else:
        kind = getattr(quantization.QuantFormat, name)
        quantization.quantize_static(*given, Points(), quant_format=kind)
    return given[1]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["QDQ", "QOperator", "dynamic"])
def test_models_of_onnxruntime_that_round_values_are_refused(tmp_path: Any, name: str) -> None:
    """The quantiser leaves out the Relu, because rounding to integers from 0 does the same."""
    path = quantised(tmp_path, name)
    if name != "dynamic":
        assert all("Relu" not in each.op_type for each in onnx.load(path).graph.node)
    with pytest.raises(UnsupportedLayerError, match="rounds to whole numbers, .* so a quantised model has no linear"):
        load(path)


def test_weights_in_an_order_of_onnxruntime_are_refused() -> None:
    nodes = [node("MatMulNBits", ["x", "q", "s"], "y", domain="com.microsoft", K=16, N=1, bits=4, block_size=16)]
    tensors = {"q": np.zeros((1, 1, 8), np.uint8), "s": np.ones(1, np.float32)}
    with pytest.raises(UnsupportedLayerError, match=r"may round to 8 bits.*quant_format=QuantFormat.QDQ"):
        load(file(model(nodes, tensors, shape=[1, 16], domains={"com.microsoft": 1})))


def test_a_network_is_compared_with_its_quantised_copy_by_file_names(tmp_path: Any) -> None:
    """The largest difference is that of the functions in fractions, on a segment."""
    from click.testing import CliRunner

    from regions.cli.commands import regions_group

    scale = np.float32(0.25)
    small = {name: np.clip(np.rint(array / scale), -8, 7).astype(np.int8) for name, array in W.items()}
    nodes = [node("DequantizeLinear", [f"q{name}", "s"], name) for name in "ac"]
    tensors = {"s": scale, "qa": small["a"], "qc": small["c"], "b": W["b"], "d": W["d"]}
    onnx.save(model(NODES, W, shape=("batch", 4)), tmp_path / "float.onnx")
    onnx.save(model([*nodes, *NODES], tensors, shape=("batch", 4)), tmp_path / "small.onnx")
    first, second = load(tmp_path / "float.onnx"), load(tmp_path / "small.onnx")
    assert (second.layers[0].weights == small["a"] * 0.25).all()
    domain = regions.Segment([-1.0] * 4, [1.0] * 4)
    found = regions.compare(first, second, domain)
    assert not found.equal and (found.max_difference > 0.1).all()
    (tmp_path / "points.csv").write_text("-1,-1,-1,-1\n1,1,1,1\n")
    words = ["compare", str(tmp_path / "float.onnx"), str(tmp_path / "small.onnx"), "--segment"]
    result = CliRunner().invoke(regions_group, [*words, str(tmp_path / "points.csv"), "--json"])
    assert result.exit_code in (0, 1), result.output
    import json

    assert json.loads(result.output)["max_difference"] == found.max_difference.tolist()
