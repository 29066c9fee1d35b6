# SPDX-License-Identifier: MIT
"""Are ONNX files refused if their bytes are damaged, or if they would unpack to far more than their size?"""

from __future__ import annotations

import io
import time

import numpy as np
import pytest

from onnx_parts import file, mlp, model, node
from regions.errors import FileTooLargeError, NotACheckpointError, RegionsError, TruncatedFileError
from regions.read import load


def test_unknown_and_repeated_fields_are_refused() -> None:
    """Protobuf would silently drop or merge these fields."""
    content = mlp().SerializeToString()
    for more, words in (
        (b"\x98\x06\x01", "field 99 of a ModelProto is not known"),
        (b"\x08\x07", "a ModelProto has field ir_version twice"),
        (b"\x3a\x00", "a ModelProto has field graph twice"),
        (b"\x12\x02\xff\xff", "twice|not text"),
        (b"\x0b", "has a field of no known kind"),
    ):
        with pytest.raises((NotACheckpointError, TruncatedFileError), match=words):
            load(io.BytesIO(content + more))
    with pytest.raises(NotACheckpointError, match="is not text"):
        load(io.BytesIO(b"\x08\x08\x12\x02\xff\xff" + content[2:]))


def test_every_beginning_is_refused() -> None:
    content = mlp().SerializeToString()
    for length in range(len(content) - 4):  # the operator sets come last; without them the version is unknown
        with pytest.raises(RegionsError):
            load(io.BytesIO(content[:length]))


@pytest.mark.slow
def test_small_files_stay_small() -> None:
    """Files with many empty messages, one matrix used many times, a wide input that passes through many nodes, or
    layers that would have to be inserted.
    """
    start = time.process_time()
    empty = b"\x08\x08\x3a" + b"\x80\x80\x80\x01" + b"\x0a\x00" * (2**20)
    with pytest.raises(FileTooLargeError, match="more than 200000 fields"):
        load(io.BytesIO(empty))
    matrix = {"w": np.ones((1000, 1000), dtype=np.float32)}
    names = ["x", *(f"h{i}" for i in range(199)), "y"]
    again = [node("MatMul", [before, "w"], after) for before, after in zip(names, names[1:], strict=False)]
    with pytest.raises(FileTooLargeError, match="all layers of the graph"):
        load(file(model(again, matrix, shape=[1, 1000])))
    names = ["x", *(f"h{i}" for i in range(1999)), "y"]
    wide = [node("Neg", [before], after) for before, after in zip(names, names[1:], strict=False)]
    with pytest.raises(FileTooLargeError, match="all layers of the graph"):
        load(file(model(wide, {"unused": np.zeros(100_000, np.float32)}, shape=[1, 300_000])))
    kinks = [node("Relu" if i % 2 else "Abs", [names[i]], names[i + 1]) for i in range(40)]
    last = node("MatMul", ["h39", "v"], "y")
    with pytest.raises(FileTooLargeError, match="would have to be put in"):
        load(file(model([*kinks, last], {"v": np.ones((3000, 1), np.float32)}, shape=[1, 3000])))
    assert time.process_time() - start < 60
