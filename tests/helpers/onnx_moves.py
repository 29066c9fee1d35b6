# SPDX-License-Identifier: MIT
"""Which operators of ONNX only move or select numbers, and with which arguments are they tested?"""

from __future__ import annotations

import numpy as np
from onnx import helper

from onnx_parts import NEWEST, node, normal
from onnx_windows import Case

MOVES: dict[str, Case] = {
    "Flatten": (
        [node("Flatten", ["x"], "a"), node("MatMul", ["a", "w"], "y")],
        {"w": normal(12, 4)},
        ["batch", 3, 2, 2],
        (9, 11, 13, NEWEST),
    ),
    "Flatten, axis 0": (
        [node("Flatten", ["x"], "a", axis=0), node("MatMul", ["a", "w"], "y")],
        {"w": normal(12, 4)},
        [3, 2, 2],
        (9,),
    ),
    "Flatten, negative axis": (
        [node("Flatten", ["x"], "a", axis=-3), node("MatMul", ["a", "w"], "y")],
        {"w": normal(12, 4)},
        [1, 3, 2, 2],
        (11, 13),
    ),
    "Reshape": (
        [node("Reshape", ["x", "s"], "a"), node("MatMul", ["a", "w"], "y")],
        {"w": normal(6, 4), "s": np.array([0, -1])},
        ["batch", 3, 2],
        (5, 13, NEWEST),
    ),
    "Squeeze and Unsqueeze, old": (
        [
            node("Squeeze", ["x"], "a", axes=[2]),
            node("MatMul", ["a", "w"], "b"),
            node("Unsqueeze", ["b"], "c", axes=[0, 3]),
            node("Squeeze", ["c"], "y"),
        ],
        {"w": normal(3, 4)},
        [1, 3, 1],
        (1, 11),
    ),
    "Squeeze and Unsqueeze": (
        [
            node("Squeeze", ["x", "two"], "a"),
            node("MatMul", ["a", "w"], "b"),
            node("Unsqueeze", ["b", "ends"], "c"),
            node("Squeeze", ["c"], "y"),
        ],
        {"w": normal(3, 4), "two": np.array([-1]), "ends": np.array([0, -1])},
        [1, 3, 1],
        (13, NEWEST),
    ),
    "Transpose of an image": (
        [
            node("Transpose", ["x"], "a", perm=[0, 2, 3, 1]),
            node("Flatten", ["a"], "b"),
            node("MatMul", ["b", "w"], "y"),
        ],
        {"w": normal(12, 4)},
        [1, 3, 2, 2],
        (13, NEWEST),
    ),
    "Transpose between constants for each number": (
        [
            node("Mul", ["x", "m"], "a"),
            node("Transpose", ["a"], "b"),
            node("Add", ["b", "n"], "c"),
            node("PRelu", ["c", "s"], "d"),
            node("Flatten", ["d"], "e", axis=0),
            node("MatMul", ["e", "w"], "y"),
        ],
        {"w": normal(12, 4), "m": normal(2, 2, 3), "n": normal(3, 2, 2), "s": normal(3, 2, 2)},
        [2, 2, 3],
        (13,),
    ),
    "Transpose at the end": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("Reshape", ["a", "s"], "b"),
            node("Transpose", ["b"], "y"),
        ],
        {"w": normal(3, 6), "s": np.array([2, 3])},
        [1, 3],
        (13,),
    ),
    "Transpose after a scaling at the end": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("Reshape", ["a", "s"], "b"),
            node("Mul", ["b", "m"], "c"),
            node("Transpose", ["c"], "y"),
        ],
        {"w": normal(3, 6), "s": np.array([2, 3]), "m": normal(2, 3)},
        [1, 3],
        (13,),
    ),
    "Transpose after an activation at the end": (
        [
            node("MatMul", ["x", "w"], "a"),
            node("Reshape", ["a", "s"], "b"),
            node("Relu", ["b"], "c"),
            node("Transpose", ["c"], "y"),
        ],
        {"w": normal(3, 6), "s": np.array([2, 3])},
        [1, 3],
        (13,),
    ),
    "Concat, Split and Slice": (
        [
            helper.make_node("Split", ["x", "s"], ["p", "q"], name="split", axis=1),
            node("Concat", ["q", "p", "q"], "a", axis=1),
            node("Slice", ["a", "from", "to", "along", "by"], "y"),
        ],
        {
            "s": np.array([1, 3]),
            "from": np.array([-1, 1]),
            "to": np.array([-99, 9]),
            "along": np.array([1, -1]),
            "by": np.array([-2, 1]),
        },  # fmt: skip
        ["batch", 4, 3],
        (13,),
    ),
    "Split and Slice, old": (
        [
            helper.make_node("Split", ["x"], ["p", "q"], name="split", axis=1),
            node("Slice", ["q"], "b", starts=[1], ends=[100], axes=[2]),
            node("Slice", ["p"], "c", starts=[0], ends=[-1], axes=[2]),
            node("Add", ["b", "c"], "y"),
        ],
        {},
        ["batch", 4, 3],
        (9,),
    ),
    "Split, so many": (
        [
            helper.make_node("Split", ["x"], ["p", "q"], name="split", axis=1, num_outputs=2),
            node("Concat", ["q", "p"], "y", axis=1),
        ],
        {},
        ["batch", 3],
        (18,),
    ),
    "Gather": ([node("Gather", ["x", "i"], "y", axis=1)], {"i": np.array([[2, 0], [-1, 1]])}, ["batch", 3], (11, 13)),
    "Pad": (
        [node("Pad", ["x", "p", "v"], "a"), node("Pad", ["a", "q"], "y", mode="reflect")],
        {"p": np.array([0, 0, 1, 0, 0, 2]), "v": np.float32(0.5), "q": np.array([0, 0, 2, 0, 0, 1])},
        ["batch", 2, 4],
        (11, 13),
    ),
    "Pad along axes": (
        [node("Pad", ["x", "p", "", "a"], "y", mode="edge")],
        {"p": np.array([1, 2]), "a": np.array([-1])},
        ["batch", 2, 4],
        (18,),
    ),
}
