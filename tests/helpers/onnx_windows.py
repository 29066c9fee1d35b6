# SPDX-License-Identifier: MIT
"""Which operators of ONNX use windows, and which versions differ?

Cases for test_read_onnx_operators.py.
"""

from __future__ import annotations

from typing import Any

import onnx

from onnx_parts import NEWEST, node, normal

# Nodes, tensors, the shape of the input, and the versions of the operators.
Case = tuple[list[onnx.NodeProto], dict[str, Any], list[int | str | None], tuple[int, ...]]

WINDOWS: dict[str, Case] = {
    "MaxPool": (
        [node("MaxPool", ["x"], "y", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])],
        {},
        [1, 2, 5, 6],
        (8, 10, 12, NEWEST),
    ),
    "MaxPool, spread": (
        [node("MaxPool", ["x"], "y", kernel_shape=[2, 2], dilations=[2, 1], strides=[2, 2], ceil_mode=1)],
        {},
        [1, 2, 5, 5],
        (11, 22),
    ),
    "MaxPool, same": (
        [node("MaxPool", ["x"], "y", kernel_shape=[2, 3], strides=[2, 2], auto_pad="SAME_UPPER")],
        {},
        [1, 2, 5, 6],
        (12,),
    ),
    "MaxPool, same, lower": (
        [node("MaxPool", ["x"], "y", kernel_shape=[2, 2], auto_pad="SAME_LOWER")],
        {},
        [1, 2, 4, 4],
        (12,),
    ),
    "MaxPool of one axis": ([node("MaxPool", ["x"], "y", kernel_shape=[3])], {}, [1, 2, 6], (12,)),
    "GlobalMaxPool": ([node("GlobalMaxPool", ["x"], "y")], {}, [1, 2, 3, 4], (9, 22)),
    "Conv": (
        [node("Conv", ["x", "k", "b"], "y", strides=[2, 1], pads=[1, 0, 0, 2], dilations=[1, 2], group=2)],
        {"k": normal(6, 2, 3, 2), "b": normal(6)},
        ["batch", 4, 7, 6],
        (1, 11, NEWEST),
    ),
    "ConvTranspose": (
        [node("ConvTranspose", ["x", "k", "b"], "y", strides=[2, 3], pads=[1, 0, 0, 2], dilations=[1, 2])],
        {"k": normal(4, 3, 3, 2), "b": normal(3)},
        ["batch", 4, 3, 2],
        (11, NEWEST),
    ),
    "Conv, same": (
        [
            node("Conv", ["x", "k"], "a", strides=[2], auto_pad="SAME_UPPER"),
            node("Conv", ["a", "l"], "b", auto_pad="SAME_LOWER"),
            node("Conv", ["b", "k"], "y", kernel_shape=[4]),
        ],
        {"k": normal(2, 2, 4), "l": normal(2, 2, 2)},
        [1, 2, 13],
        (11,),
    ),
    "Conv, same, that skips the last": (
        [node("Conv", ["x", "k"], "y", strides=[2, 3], auto_pad="SAME_LOWER")],
        {"k": normal(2, 2, 1, 2)},
        [1, 2, 6, 6],
        (11,),
    ),
    "AveragePool": (
        [node("AveragePool", ["x"], "y", kernel_shape=[3, 2], strides=[2, 1], pads=[1, 1, 1, 0])],
        {},
        ["batch", 2, 6, 5],
        (7, 11, NEWEST),
    ),
    "AveragePool with its border": (
        [node("AveragePool", ["x"], "y", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1)],
        {},
        ["batch", 2, 6, 5],
        (7, 11, NEWEST),
    ),
    "AveragePool, one more": (
        [node("AveragePool", ["x"], "y", kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)],
        {},
        ["batch", 2, 5, 5],
        (11, NEWEST),
    ),
}
