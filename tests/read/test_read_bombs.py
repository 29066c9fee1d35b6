# SPDX-License-Identifier: MIT
"""Does a small file that asks for much get a refusal before anything is built?"""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from exported_archives import archive, call
from onnx_parts import file, model, node
from regions import load
from regions.errors import FileTooLargeError, NotACheckpointError, RegionsError

# What a reader takes beside what it charges: modules that are imported, and the file itself.
FREE = 40 * 2**20


def refused(content: bytes, error: type[RegionsError]) -> str:
    """The message, after less memory than the file asks for."""
    tracemalloc.start()
    try:
        with pytest.raises(error) as caught:
            load(io.BytesIO(content))
        assert tracemalloc.get_traced_memory()[1] < FREE
    finally:
        tracemalloc.stop()
    return str(caught.value)


def gathers() -> bytes:
    """600 of 3 numbers, 600 of each of these, and so on."""
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
    """One row of a constant, so often that the list takes more than the limit."""
    nodes = [node("Gather", ["c", "i"], "g"), node("Gather", ["g", "i"], "h", axis=1), node("Add", ["x", "h"], "y")]
    tensors = {"c": np.ones((1, 1, 3), np.float32), "i": np.zeros(8000, dtype=np.int64)}
    return bytes(model(nodes, tensors).SerializeToString())


def lists_of_places() -> bytes:
    """Three lists of 800 places that are repeated to 800 x 800 x 800."""
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
def test_results_are_charged_before_they_are_built(content: Callable[[], bytes]) -> None:
    assert "would take" in refused(content(), FileTooLargeError)


def test_many_axes() -> None:
    nodes = [node("Unsqueeze", ["x", "a"], "u"), node("Flatten", ["u"], "y")]
    many = bytes(model(nodes, {"a": np.arange(100_000)}).SerializeToString())
    assert "names 100000 axes; at most 32 are read" in refused(many, NotACheckpointError)
    reshaped = [call("reshape.default", "m", self_="x", shape=[1] * 40 + [3]), call("relu.default", "y", self_="m")]
    assert "gives 41 axes; at most 32 are read" in refused(archive(reshaped), NotACheckpointError)


def test_operations_that_no_element_reads_are_left_out() -> None:
    """Each step takes a part of two values; without pruning, values would keep all operations before them."""
    nodes, value = [], "x"
    for step in range(60):
        nodes += [node("Relu", [value], f"r{step}"), node("Concat", [value, f"r{step}"], f"c{step}", axis=1)]
        nodes += [node("Slice", [f"c{step}", "one", "four", "one"], f"s{step}")]
        value = f"s{step}"
    tensors = {"one": np.array([1]), "four": np.array([4]), "w": np.ones((3, 1), np.float32)}
    network = load(file(model([*nodes, node("MatMul", [value, "w"], "y")], tensors)))
    assert all(len(each.reads) <= 3 for each in network.graph.nodes)
    np.testing.assert_array_equal(network([-1.0, -2.0, 4.0]), [4.0])
