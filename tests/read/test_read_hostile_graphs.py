# SPDX-License-Identifier: MIT
"""Are graphs that need too much, or are impossible, refused before anything is built?"""

from __future__ import annotations

import builtins
import io
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import regions.read.onnx.network as onnx_network
import regions.read.onnx.resize as onnx_resize
from exported_archives import archive, call
from onnx_parts import file, model, node
from regions import load
from regions.errors import (
    FileTooLargeError,
    MissingDependencyError,
    NotACheckpointError,
    RegionsError,
    UnsupportedLayerError,
)
from regions.files import limits
from regions.networks.patches import Patches
from regions.read.graphs.nodes_of_operations import _composed, _Part
from regions.read.scaling import Scaling

# Memory of a reader that is not charged: imported modules, and the file itself.
FREE = 40 * 2**20


def refused(content: bytes, error: type[RegionsError]) -> str:
    """Return the message; the memory used must be less than the file demands."""
    tracemalloc.start()
    try:
        with pytest.raises(error) as caught:
            load(io.BytesIO(content))
        assert tracemalloc.get_traced_memory()[1] < FREE
    finally:
        tracemalloc.stop()
    return str(caught.value)


def gathers() -> bytes:
    """Return a graph that gathers 600 numbers along each of three axes, 600^3 in all."""
    moves = []
    value = "x"
    for step in range(3):
        moves += [node("Gather", [value, "i"], f"g{step}", axis=step + 1)]
        moves += [node("Unsqueeze", [f"g{step}", f"a{step}"], f"u{step}")]
        value = f"u{step}"
    axes = {f"a{step}": np.array([step + 2]) for step in range(3)}
    nodes = [*moves, node("Flatten", [value], "f"), node("MatMul", ["f", "w"], "y")]
    return bytes(
        model(nodes, {"i": np.zeros(600, dtype=np.int64), "w": np.ones((1, 1), np.float32), **axes}).SerializeToString()
    )


def gathered_tables() -> bytes:
    """Return a graph that gathers one row of a constant so often that the list exceeds the limit."""
    nodes = [node("Gather", ["c", "i"], "g"), node("Gather", ["g", "i"], "h", axis=1), node("Add", ["x", "h"], "y")]
    tensors = {"c": np.ones((1, 1, 3), np.float32), "i": np.zeros(8000, dtype=np.int64)}
    return bytes(model(nodes, tensors).SerializeToString())


def lists_of_places() -> bytes:
    """Return a graph with three lists of 800 positions that are broadcast to 800 x 800 x 800."""
    shapes = {"i": (800, 1, 1), "j": (1, 800, 1), "k": (1, 1, 800)}
    tensors = {name: np.zeros(shape, dtype=np.int64) for name, shape in shapes.items()}
    nodes = [call("index.Tensor", "m", self_="x", indices=["i", "j", "k"]), call("relu.default", "y", self_="m")]
    return archive(nodes, tensors, shape=(1, 2, 2))


def repeats(operator: str, **arguments: Any) -> Callable[[], bytes]:
    return lambda: archive([call(operator, "m", self_="x", **arguments), call("relu.default", "y", self_="m")])


@pytest.mark.parametrize(
    "content",
    [
        gathers,
        gathered_tables,
        lists_of_places,
        repeats("repeat.default", repeats=[2**20, 2**20]),
        repeats("repeat_interleave.self_int", repeats=2**40, dim=1),
        repeats("expand.default", size=[2**30, 3]),
        repeats("constant_pad_nd.default", pad=[2**30, 0]),
        repeats("pad.default", pad=[2**30, 0], mode={"as_string": "replicate"}),
    ],
)
def test_results_count_towards_the_memory_limit_before_they_are_built(content: Callable[[], bytes]) -> None:
    assert "would take" in refused(content(), FileTooLargeError)


def test_nodes_count_towards_the_memory_limit_before_they_are_made() -> None:
    """Three sums of 1,000,000 numbers are within the limit as tensors, and beyond it as nodes."""
    nodes = [call("abs.default", "v0", self_="x")]
    nodes += [call("add.Tensor", f"v{step}", self_=f"v{step - 1}", other=f"v{step - 1}") for step in range(1, 4)]
    content = archive(nodes, shape=(1, 1_000_000), output="v3")
    with pytest.raises(FileTooLargeError, match="all layers of the graph would take"):
        load(io.BytesIO(content))


def test_a_matrix_of_few_units_is_not_extended_to_all() -> None:
    nodes = [call("slice.Tensor", "s", self_="x", dim=1, start=0, end=2)]
    nodes += [call("linear.default", "h", input="s", weight="w"), call("relu.default", "y", self_="h")]
    content = archive(nodes, {"w": np.ones((200, 2), np.float32)}, shape=(1, 1_000_000))
    tracemalloc.start()
    try:
        network = load(io.BytesIO(content))
        assert tracemalloc.get_traced_memory()[1] < 2 * FREE  # the whole matrix would take 1.6 GB
    finally:
        tracemalloc.stop()
    assert network(np.arange(1_000_000.0))[0] == 1.0


def repeated_rows() -> bytes:
    nodes = [call("repeat.default", "m", self_="x", repeats=[6_000_000, 1]), call("relu.default", "y", self_="m")]
    return archive(nodes, shape=(1, 1))


def padded_far() -> bytes:
    nodes = [call("conv1d.default", "m", input="x", weight="w", padding=[2**20]), call("relu.default", "y", self_="m")]
    return archive(nodes, {"w": np.ones((3, 4, 2), np.float32)}, shape=(1, 4, 5))


@pytest.mark.parametrize("content", [repeated_rows, padded_far])
def test_intermediate_results_count_towards_the_memory_limit(content: Callable[[], bytes]) -> None:
    assert "would take" in refused(content(), FileTooLargeError)


def test_axes_that_are_a_tensor() -> None:
    nodes = [call("mean.dim", "y", self_="x", dim="c")]
    with pytest.raises(UnsupportedLayerError, match="its argument 'dim' is not a constant list of integers"):
        load(io.BytesIO(archive(nodes, {"c": np.zeros((2, 2), np.int64)})))


def test_onnx_that_cannot_be_imported_is_not_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def fail(name: str, *rest: Any) -> Any:
        if name == "onnx":
            raise ImportError("failed to map segment from shared object")
        return real(name, *rest)

    content = file(model([node("Relu", ["x"], "y")]))
    monkeypatch.setattr(builtins, "__import__", fail)
    with pytest.raises(ImportError, match="failed to map segment") as caught:
        load(content)
    assert not isinstance(caught.value, MissingDependencyError)


# numpy 1 has no arrays with more than 32 axes, and refuses them before the reader does.
TOO_MANY = "gives {} axes; at most 32 are read" if int(np.__version__.split(".")[0]) > 1 else "does not fit"


def test_many_axes() -> None:
    nodes = [node("Unsqueeze", ["x", "a"], "u"), node("Flatten", ["u"], "y")]
    many = bytes(model(nodes, {"a": np.arange(100_000)}).SerializeToString())
    assert "names 100000 axes; at most 32 are read" in refused(many, NotACheckpointError)
    reshaped = [call("reshape.default", "m", self_="x", shape=[1] * 40 + [3]), call("relu.default", "y", self_="m")]
    assert TOO_MANY.format(41) in refused(archive(reshaped), NotACheckpointError)


def test_operations_that_no_element_reads_are_left_out() -> None:
    """Each step selects parts of two values; without pruning, values would keep all earlier operations."""
    nodes, value = [], "x"
    for step in range(60):
        nodes += [node("Relu", [value], f"r{step}"), node("Concat", [value, f"r{step}"], f"c{step}", axis=1)]
        nodes += [node("Slice", [f"c{step}", "one", "four", "one"], f"s{step}")]
        value = f"s{step}"
    tensors = {"one": np.array([1]), "four": np.array([4]), "w": np.ones((3, 1), np.float32)}
    network = load(file(model([*nodes, node("MatMul", [value, "w"], "y")], tensors)))
    assert all(len(each.reads) <= 3 for each in network.graph.nodes)
    np.testing.assert_array_equal(network([-1.0, -2.0, 4.0]), [4.0])


def test_many_nodes_are_read_in_one_pass() -> None:
    """An operator that reads a part of each of many nodes must not examine all of its inputs for each node."""

    def seconds(size: int, parts: int) -> float:
        pieces = [_Part(one, np.arange(len(one)), len(one)) for one in np.array_split(np.arange(size), parts)]
        operator = Patches.selection(size, np.arange(size)[::-1])
        started = time.process_time()
        composed = _composed(operator, pieces)
        assert sum(len(one.sources) for one in composed if isinstance(one, Patches)) == size
        return time.process_time() - started

    # Many inputs in few parts, and few inputs in many parts; examining each input for each part would take 60 times as
    # long.
    assert seconds(500_000, 2000) < 8 * (seconds(500_000, 2) + seconds(2000, 2000))


def test_many_outputs() -> None:
    outputs = [f"y{number}" for number in range(300)]
    nodes = [node("MatMul", ["x", "w"], "h"), *(node("Relu", ["h"], name) for name in outputs)]
    network = load(file(model(nodes, {"w": np.array([[1.0], [2.0], [-1.0]], np.float32)}, outputs=outputs)))
    assert network([1.0, 2.0, 3.0]).tolist() == [2.0] * 300 and network([0.0, 0.0, 3.0]).tolist() == [0.0] * 300


def test_reads_count_towards_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 layers, each of which reads all those before it, have 5050 reads."""
    nodes, tensors = [], {}
    for layer in range(100):
        value = f"c{layer - 1}" if layer else "x"
        tensors[f"w{layer}"] = np.ones((layer + 1, 1), np.float32)
        nodes += [node("MatMul", [value, f"w{layer}"], f"h{layer}"), node("Relu", [f"h{layer}"], f"r{layer}")]
        nodes += [node("Concat", [value, f"r{layer}"], f"c{layer}", axis=1)]
    content = file(model(nodes, tensors, shape=(1, 1), outputs=["c99"]))
    assert load(content)([-1.0]).tolist() == [-1.0] + [0.0] * 100
    monkeypatch.setattr(limits, "FREE_LAYER_BYTES", 5_000_000)
    with pytest.raises(FileTooLargeError, match="would take"):
        load(content)


@pytest.mark.parametrize(("operator", "shape"), [("MatMul", (20, 20)), ("Conv", (1, 20, 20))])
def test_products_of_constants_count_towards_the_memory_limit(
    monkeypatch: pytest.MonkeyPatch, operator: str, shape: tuple[int, ...]
) -> None:
    """Each of two nodes takes 20 x 20 x 20 products."""
    weights = np.ones((20, 20), np.float32).reshape(20, 20, *(1,) * (len(shape) - 2))
    nodes = [node(operator, ["a", "b"], "c"), node(operator, ["c", "b"], "d")]
    nodes += [node("ReduceMean", ["d"], "m", keepdims=0), node("Add", ["x", "m"], "y")]
    content = file(model(nodes, {"a": np.ones(shape, np.float32), "b": weights}))
    assert load(content)([0.0, 1.0, 2.0]).tolist() == [400.0, 401.0, 402.0]
    monkeypatch.setattr(limits, "MAX_FOLDED_PRODUCTS", 15_999)
    with pytest.raises(FileTooLargeError, match=r"by 1[67]\d\d\d products, above the limit.*with constant folding"):
        load(content)


def test_resized_images_count_towards_the_memory_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def resized(*sizes: int) -> bytes:
        nodes = [node("Resize", ["c", "", "", "s"], "r"), node("Add", ["x", "r"], "y")]
        tensors = {"c": np.ones((1, 1), np.float32), "s": np.array(sizes)}
        return bytes(model(nodes, tensors, shape=(1, 1)).SerializeToString())

    assert "would take" in refused(resized(1, 5_000_000), FileTooLargeError)
    monkeypatch.setattr(onnx_resize, "_nearest", None)
    assert "would take" in refused(resized(40_000, 40_000), FileTooLargeError)


def test_nodes_that_each_read_all_nodes_before_them() -> None:
    nodes = [node("Relu", ["x"], "c0")]
    for step in range(550):
        nodes += [node("ReduceSum", [f"c{step}", "axis"], f"r{step}")]
        nodes += [node("Concat", [f"c{step}", f"r{step}"], f"c{step + 1}", axis=1)]
    given = model(nodes, {"axis": np.array([1])}, shape=[1, 4], outputs=["c550"])
    with pytest.raises(FileTooLargeError, match="all layers of the graph would take"):
        load(io.BytesIO(given.SerializeToString()))


def test_names_of_many_scalings_stay_short() -> None:
    one = Scaling("Neg", "n" * 100, np.full(1, -1.0), np.zeros(1), True)
    many = one
    for _ in range(50):
        many = many.then(one)
    assert len(many.name) <= 410 and many.name.endswith(", ..") and many.scale == [-1.0]


def impossible(*nodes: Any, shape: Any = (1, 3), sets: dict[str, int] | None = None, **tensors: Any) -> bytes:
    arrays = {name: np.asarray(array) for name, array in tensors.items()}
    return bytes(model(nodes, arrays, shape=shape, domains=sets).SerializeToString())


SCALED = helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (impossible(SCALED, sets={"ai.onnx.ml": 2**40}), "version 1099511627776 of the operators 'ai.onnx.ml'"),
        (
            impossible(node("ConstantOfShape", ["s"], "c"), node("Add", ["x", "c"], "y"), s=[np.inf]),
            "takes a shape, and gets numbers that are not whole",
        ),
        (
            impossible(node("ConstantOfShape", ["s"], "c"), node("Add", ["x", "c"], "y"), s=[1] * 40),
            TOO_MANY.format(40),
        ),
        (impossible(node("Slice", ["x", "s", "e"], "y"), shape=(), s=[0], e=[1]), "has an axis 0"),
        (impossible(node("Relu", ["x"], "y"), shape=(1, 1_000_001)), "1000001 numbers; at most 32 axes and 1,000,000"),
        (impossible(node("Relu", ["x"], "y"), shape=[1] * 33), "33 axes and 1 numbers"),
        (archive([call("full.default", "y", size=[1] * 300, fill_value=1.0)], kinds={"y": 7}), "gives 300 axes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "file",  # the same in each process
)
def test_impossible_numbers(content: bytes, words: str) -> None:
    with pytest.raises(RegionsError) as caught:
        load(io.BytesIO(content))
    assert words in str(caught.value)


def test_an_input_without_axes_is_one_number() -> None:
    nodes = [node("Mul", ["x", "c"], "h"), node("Relu", ["h"], "r"), node("Reshape", ["r", "s"], "v")]
    tensors = {"c": np.float32(2.0), "s": np.array([1, 1]), "w": np.ones((1, 1), np.float32)}
    network = load(file(model([*nodes, node("MatMul", ["v", "w"], "y")], tensors, shape=())))
    assert network.input_shape == (1,)
    np.testing.assert_array_equal(network([3.0]), [6.0])


@pytest.mark.parametrize("error", [ZeroDivisionError("by 0"), TypeError("\x1b"), KeyError(3), RecursionError()])
def test_unexpected_errors_become_errors_of_the_package(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(file(model([node("Relu", ["x"], "y")])).getvalue())

    def fail(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr(onnx_network, "walk", fail)
    for door in (load, partial(load, activation="relu")):
        with pytest.raises(
            NotACheckpointError, match=f"m.onnx: its content is not valid.*{type(error).__name__}"
        ) as it:
            door(path)
        assert it.value.__cause__ is error and str(it.value).isprintable()
    for passing in (MemoryError(), OSError(5, "gone"), KeyboardInterrupt()):
        error = passing  # type: ignore[assignment]
        with pytest.raises(type(passing)):
            load(path)


def test_the_callers_own_mistakes_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(file(model([node("Relu", ["x"], "y")])).getvalue())
    for wrong in (3, b"relu", ["relu", 3], {"relu": 1}):
        with pytest.raises(TypeError, match="activation"):
            load(path, wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="prefix"):
        load(path, prefix=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="prefix"):
        load(path, prefix=[])
