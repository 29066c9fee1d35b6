# SPDX-License-Identifier: MIT
"""Which nodes does a graph have, if its values have names?

Each value is computed by one node, before other nodes read it, so cycles are impossible. Each format has a table of
operators. An operator that is not in the table is refused with a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeVar

from regions.errors import NotACheckpointError, UnsupportedLayerError
from regions.ground.text.printable import printable
from regions.networks.named_activations import is_smooth

__all__ = [
    "GraphNode",
    "dependent",
    "in_order",
    "is_attention",
    "needed",
    "needed_values",
    "require_names",
    "unsupported",
]


@dataclass(frozen=True)
class GraphNode:
    """One application of an operator.

    Attributes
    ----------
    name : str
        Its own name, or the name of its first output; printable.
    operator : str
        Its name in the table of operators; printable.
    inputs, outputs : list of str
        Names of values; an empty name stands for an optional one that is missing.
    """

    name: str
    operator: str
    inputs: list[str]
    outputs: list[str]

    @property
    def said(self) -> str:
        """Return the operator's name for messages."""
        return self.operator

    @property
    def label(self) -> str:
        """Return the node's name for messages."""
        return f"node {self.name!r} ({self.said})"


Node = TypeVar("Node", bound=GraphNode)


def needed(nodes: Sequence[Node], outputs: Collection[str]) -> list[Node]:
    """Return the nodes that the outputs depend on, in order."""
    wanted = set(outputs)
    result = []
    for node in reversed(nodes):
        if any(name in wanted for name in node.outputs):
            wanted.update(node.inputs)
            result.append(node)
    return result[::-1]


def needed_values(
    nodes: Sequence[Node], outputs: Collection[str], shapes_of: Callable[[Node], Collection[str]]
) -> set[str]:
    """Return the names of values whose numbers the outputs depend on; ``nodes`` are needed, and in order.

    ``shapes_of`` returns the inputs of a node of which it reads only the shape.
    """
    wanted = set(outputs)
    for node in reversed(nodes):
        if any(name in wanted for name in node.outputs):
            wanted.update(name for name in node.inputs if name not in shapes_of(node))
    return wanted


def dependent(nodes: Sequence[Node], given: Collection[str], shapes_of: Callable[[Node], Collection[str]]) -> set[str]:
    """Return the names of values whose numbers depend on the inputs ``given``."""
    found = set(given)
    for node in nodes:
        if any(name in found and name not in shapes_of(node) for name in node.inputs):
            found.update(node.outputs)
    return found


def in_order(nodes: Sequence[Node]) -> list[Node]:
    """Sort nodes so that each comes after the nodes that it reads; nodes of cycles come last, in their old order."""
    makers = {name: number for number, node in enumerate(nodes) for name in node.outputs if name}
    missing = [{makers[name] for name in node.inputs if name in makers} for node in nodes]
    readers: list[list[int]] = [[] for _ in nodes]
    for number, made_by in enumerate(missing):
        for maker in made_by:
            readers[maker].append(number)
    ready = [number for number, made_by in enumerate(missing) if not made_by]
    order = []
    while ready:
        number = heappop(ready)
        order.append(number)
        for reader in readers[number]:
            missing[reader].discard(number)
            if not missing[reader]:
                heappush(ready, reader)
    placed = set(order)
    return [nodes[number] for number in (*order, *(number for number in range(len(nodes)) if number not in placed))]


def require_names(nodes: Sequence[GraphNode], given: Collection[str], outputs: Collection[str], file: str) -> None:
    """Refuse names that are computed twice, or read before they are computed; ``given`` are inputs and constants.

    Raises
    ------
    NotACheckpointError
        The message names the node.
    """
    made = set(given)
    for node in nodes:
        for name in filter(None, node.inputs):
            if name not in made:
                comes_later = any(name in other.outputs for other in nodes)
                why = "there is a cycle, or the nodes are not in order" if comes_later else "a tensor is missing"
                raise NotACheckpointError(
                    f"{node.label} reads {printable(name)!r}, which nothing before it makes: {why}"
                )
        for name in filter(None, node.outputs):
            if name in made:
                raise NotACheckpointError(f"{node.label} makes {printable(name)!r}, which comes from two places")
            made.add(name)
    for name in outputs:
        if name not in made:
            raise NotACheckpointError(f"{file}: nothing makes its output {printable(name)!r}")
    if not outputs:
        raise NotACheckpointError(f"{file}: it has no output")


def unsupported(node: GraphNode, handled: str, cut: Collection[str] = ()) -> UnsupportedLayerError:
    """Return the error that says why a node is not read.

    Parameters
    ----------
    node : GraphNode
    handled : str
        Operators that are read.
    cut : collection of str
        Smooth operators that may be left out if they are the last one.
    """
    operator = node.operator.rpartition(".")[2]  # operators of other domains mostly do what their names say
    key = _key(operator)
    if key in _ATTENTION:
        advice = "attention multiplies inputs by inputs, so the network has no linear regions; only the part before it "
        advice += "can be read"
    elif key in _QUANTISED:
        advice = "it rounds to whole numbers, which jumps, so a quantised model has no linear regions; load the model "
        advice += "before it was quantised, or quantise only its weights, which DequantizeLinear reads"
    elif key in _JUMPING:
        advice = f"it {_JUMPING[key]}, which jumps; export the part before it"
    elif key in _SMOOTH or is_smooth(operator):
        advice = f"it {_SMOOTH.get(key, 'is not piecewise linear')}, so the network has no regions; "
        at_end = "only at the very end, and if it increases, can it be left out"
        advice += at_end if operator in cut else "export the part before it"
        if any(node.inputs):
            advice += f", or name what goes into it: outputs={printable(next(filter(None, node.inputs)))!r}"
    elif key in _NOT_YET:
        advice = f"not supported: {_NOT_YET[key]}; export a model without, or the part before it"
    else:
        advice = f"not supported; export a model without, or the part before it. Handled are {handled}"
    return UnsupportedLayerError(f"{node.label}: {advice}")


def is_attention(node: GraphNode) -> bool:
    """Return whether a node is attention, which is the best reason against a transformer."""
    return _key(node.operator.rpartition(".")[2]) in _ATTENTION


def _key(operator: str) -> str:
    """Return a name that an operator has in all formats: ``layernorm`` for layer_norm and LayerNormalization."""
    key = operator.lower().replace("_", "").removeprefix("native").removesuffix("alization")
    return key.removeprefix("linalg").removeprefix("vector") if key.endswith("norm") else key


_ATTENTION = {
    *("attention", "multiheadattention", "scaleddotproductattention", "scaleddotproductflashattentionforcpu"),
    *("scaleddotproductflashattention", "scaleddotproductefficientattention", "transformerencoderlayerfwd"),
    *("groupqueryattention", "packedmultiheadattention", "qattention"),
}
_NO = "is not piecewise linear"
# Operators that are not piecewise linear, and why if that is not obvious; other activations are in
# `named_activations`.
_SMOOTH = {
    **dict.fromkeys(("erf", "exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "pow", "sin", "cos", "tan"), _NO),
    **dict.fromkeys(("sinh", "cosh", "asinh", "acosh", "atanh", "asin", "acos", "atan", "atan2", "square"), _NO),
    **dict.fromkeys(("logsumexp", "reducelogsumexp", "reducelogsum", "logcumsumexp", "cosinesimilarity"), _NO),
    **dict.fromkeys(("norm", "reducel2", "lpnorm2"), f"is the Euclidean norm, which {_NO}"),
    **dict.fromkeys(("lpnorm",), f"divides by a norm of its input, which {_NO}"),
    **dict.fromkeys(("reducesumsquare", "var", "std", "varmean", "stdmean"), f"adds squares, which {_NO}"),
    **dict.fromkeys(("smoothl1loss", "huberloss"), f"squares small differences, which {_NO}"),
    **dict.fromkeys(("reciprocal", "rsqrt"), f"divides by what depends on the input, which {_NO}"),
    **dict.fromkeys(
        ("layernorm", "groupnorm", "instancenorm"), f"divides by the standard deviation of its input, which {_NO}"
    ),
    **dict.fromkeys(("rmsnorm", "lrn", "meanvariancenorm"), f"divides by the size of its input, which {_NO}"),
    **dict.fromkeys(
        ("prod", "cumprod", "reduceprod", "bilinear"), f"multiplies values that depend on the input, which {_NO}"
    ),
    **dict.fromkeys(("lstm", "gru", "lstmcell", "grucell"), f"multiplies gates by states, which {_NO}"),
    **dict.fromkeys(("rnntanh", "rnntanhcell"), f"applies tanh in each step, which {_NO}"),
    **dict.fromkeys(("glu", "silu", "swish", "hardswish"), f"multiplies two functions of its input, which {_NO}"),
}
# Operators on values that have been rounded to small integers.
_QUANTISED = {
    *("quantizelinear", "dynamicquantizelinear", "dequantizelinear", "fakequantize", "matmulinteger", "convinteger"),
    *("qlinearconv", "qlinearmatmul", "qgemm", "qlinearadd", "qlinearrelu", "qlinearaveragepool", "quantizepertensor"),
    *("fakequantizepertensoraffine", "fakequantizeperchannelaffine", "dequantizepertensor", "quantizeperchannel"),
}
# Operators that jump, and what they do.
_JUMPING = {
    **dict.fromkeys(("floor", "ceil", "round", "trunc", "fix", "frac"), "rounds to whole numbers"),
    **dict.fromkeys(("fmod", "remainder", "mod", "floordivide"), "takes a quotient in whole numbers"),
    **dict.fromkeys(("argmax", "argmin", "argsort", "nonzero"), "returns positions"),
    "hardshrink": "replaces small numbers by 0, and keeps the others",
}
# Operators that are not read yet, and what they do.
_NOT_YET = {
    "matmulnbits": "weights in an order of onnxruntime alone, with inputs that it may round to 8 bits. Quantise with "
    "quant_format=QuantFormat.QDQ",
    **dict.fromkeys(("maxunpool", "maxunpool2d", "maxunpool3d", "maxroipool", "lppool"), "this kind of pooling"),
    **dict.fromkeys(("fractionalmaxpool2d",), "this kind of maxima"),
    **{
        f"upsample{kind}": "means of more than the pixels around"
        for kind in ("bicubic2d", "bilinear2daa", "bicubic2daa")
    },
}
