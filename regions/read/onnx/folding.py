# SPDX-License-Identifier: MIT
"""Which constant does an ONNX graph compute from others?

The operator is read as if its first operand depended on an input. The resulting network ignores its input, and is
evaluated at 0. Therefore each operator means the same for constants as for values that depend on the input. Results are
doubles, and a note says that they were computed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from regions.arithmetic.arrays import exact_float64
from regions.errors import FileTooLargeError, NonFiniteError, RegionsError, UnsupportedLayerError
from regions.networks.network import Network
from regions.read.graphs.site import Site
from regions.read.onnx.graph import Node
from regions.read.onnx.operators import Row, results_of
from regions.read.onnx.tensors import FLOATS, Constant
from regions.read.onnx.values import Flow, Value

__all__ = ["computed", "not_computed"]


def not_computed(node: Node, why: str = "") -> UnsupportedLayerError:
    """Return the error for a constant that is not computed."""
    return UnsupportedLayerError(
        f"{node.label} computes with constants in a way that is not handled{why and f' ({why})'}; simplify the file "
        "first, for instance by exporting with constant folding"
    )


def computed(at: Site, node: Node, values: list[Value | None], row: Row) -> list[Value]:
    """Apply an operator to constants.

    Raises
    ------
    UnsupportedLayerError
        The operator does not take constants of such shapes and types.
    """
    first = values[0] if values else None
    if not isinstance(first, Constant) or first.element not in FLOATS or not first.array.size:
        raise not_computed(node)
    apart = Site(replace(at.reading, builder=type(at.reading.builder)(), notes=[], input_names={}), node)
    try:
        if node.operator == "MatMul":
            made: Any = [_product(at, node, values)]
        else:
            (nothing,) = apart.reading.inputs([("", "the input", [1])])
            zeros = apart.rearranged(nothing, np.full(first.shape, -1))
            tensor = apart.scaled(zeros, 1.0, exact_float64(first.array, f"{node.label}: {first.name}"))
            flows = results_of(apart, node, row, [Flow(tensor, first.element), *values[1:]])
            made = [_evaluated(at, apart, flow) for flow in flows]
    except (FileTooLargeError, NonFiniteError):
        raise
    except RegionsError as error:
        raise not_computed(node, str(error).removeprefix(f"{node.label} ")) from None
    at.note("is computed from constants, in float64")
    return [Constant(array, first.element, node.name) for array in made]


def _evaluated(at: Site, apart: Site, flow: Value) -> Any:
    assert isinstance(flow, Flow)
    graph, _ = apart.reading.builder.finished(flow.tensor, charge=apart.reading.charge)
    at.reading.charge_products(graph.products)
    return Network.from_graph(graph)(np.zeros(1)).reshape(flow.shape)


def _product(at: Site, node: Node, values: list[Value | None]) -> Any:
    """Return a product of matrices without a batch axis."""
    arrays = [
        exact_float64(value.array, f"{node.label}: {value.name}") for value in values if isinstance(value, Constant)
    ]
    first, second = arrays
    wrong = not_computed(node, f"shapes {[list(array.shape) for array in arrays]}")
    try:
        batch = np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    except ValueError:
        raise wrong from None
    rows, columns = (array.shape[axis] if array.ndim > 1 else 1 for array, axis in ((first, -2), (second, -1)))
    count = math.prod((*batch, rows, columns))
    at.charge(0, 8 * count)
    at.reading.charge_products(count * first.shape[-1] if first.ndim else 0)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.matmul(first, second)
    except ValueError:
        raise wrong from None
