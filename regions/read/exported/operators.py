# SPDX-License-Identifier: MIT
"""Which function reads each operator of torch, and what is special about torch's arguments?

The functions are in `regions.read.graphs.operators`. They take the names of torch's arguments, so only paddings,
element types and second results need work here.
Source: ``aten/src/ATen/native/native_functions.yaml`` of torch 2.13 and the operators' documentation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.networks import named_activations as activations
from regions.networks.named_activations import ACTIVATIONS
from regions.read.exported.compositions import COMPOSITIONS, Composition
from regions.read.exported.constants import MAKERS, name_of_type
from regions.read.exported.graph import FLOATS
from regions.read.exported.in_place import CERTAIN
from regions.read.exported.nodes import ExportedNode, Name, Word
from regions.read.exported.resize import enlarges, interpolates
from regions.read.graphs.call import Call, Operation, Unread
from regions.read.graphs.constants.evaluation import FUNCTIONS, computed, require_not_random
from regions.read.graphs.moving import moved
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import (
    convolutions,
    elementwise,
    jumping,
    linear,
    maxima,
    norms,
    orders,
    parts,
    picks,
    products,
    recurrent,
    shapes,
    windows,
)
from regions.read.graphs.pieces import COMPARISONS
from regions.read.graphs.piecewise import Piecewise
from regions.read.graphs.site import Site

__all__ = ["OPERATORS", "ROUNDS", "call_of", "operation_of"]

# Overloads of an operator, and similar operators, have different names for one argument.
_NAMES = {
    **{"input": "self", "shape": "size", "axis0": "dim0", "axis1": "dim1", "mat2": "other", "vec": "other"},
    **{"min_val": "min", "max_val": "max", "pad": "padding", "split_sizes": "split_size", "s": "fill_value"},
    **{"vec2": "other", "tensor": "other"},
}
# Types with fewer digits than float32, and the beginning of the note on numbers that the model rounds to them.
_NARROW = (6, 13)
ROUNDS = "rounds its numbers to "
# These arguments do not change the result.
_IGNORED = {
    *("implicit", "memory_format", "layout", "device", "pin_memory", "non_blocking", "copy", "requires_grad"),
    *("generator", "cudnn_enabled", "momentum", "masked_grad", "noise"),
}


def call_of(at: Site, node: ExportedNode, values: dict[str, Any], types: Mapping[str, int | None]) -> Call:
    """Return a node as a call; the mappings have the value of each name, and the type that torch recorded for it."""

    def found(argument: Any) -> Any:
        if isinstance(argument, list):
            return [found(one) for one in argument]
        value = values[argument.name] if isinstance(argument, Name) else argument
        if isinstance(value, Unread):
            require_not_random(at)
            raise value.refused(at.label, argument.name)
        return value

    arguments = {
        _NAMES.get(name, name): found(argument) for name, argument in node.arguments.items() if name not in _IGNORED
    }
    if len(arguments) < len(node.arguments.keys() - _IGNORED):
        raise at.refused(f"has two of {', '.join(map(repr, node.arguments))} that mean the same")
    names = {ours: theirs for theirs, ours in _NAMES.items() if theirs in node.arguments}
    kinds = [types.get(name) for name in node.inputs if isinstance(values[name], np.ndarray)] + [*node.types]
    stored = next((name_of_type(kind) for kind in kinds if kind is not None and kind in FLOATS), "")
    return Call(at, arguments, names, stored=stored)


def _of_floats(operation: Operation) -> Operation:
    """Return an operator with an optional element type of the result, which must be a type of real numbers."""

    def apply(call: Call) -> Any:
        kind = call.given("dtype", None)
        if kind is not None and not (isinstance(kind, Word) and type(kind.number) is int and kind.number in FLOATS):
            raise UnsupportedLayerError(f"{call.at.label} turns numbers into another kind, which jumps")
        return operation(call)

    return apply


def _first_of(operation: Operation, most: int = 2) -> Operation:
    """Return an operator with more results, such as positions, from which nothing can be computed."""

    def apply(call: Call) -> Any:
        made, others = operation(call), len(call.at.node.outputs) - 1
        return [made, *[Unread(call.at.label)] * others] if 0 < others < most else made

    return apply


def _of_two_or_along(smallest: bool) -> Operation:
    """Return the operator for the largest of two tensors, or along axes."""

    def apply(call: Call) -> Any:
        operation = maxima.compare if "other" in call.arguments else windows.largest_along_axes
        return operation(call, smallest=smallest)

    return _first_of(apply)


def _cast(call: Call) -> Any:
    """Return the same numbers, which the model may round to a narrower type."""
    kind = call.given("dtype", None)
    if isinstance(kind, Word) and kind.number in _NARROW and isinstance(call.unsettled("self"), Tensor):
        call.at.note(
            f"{ROUNDS}{name_of_type(kind.number)}, which the network does not; regions are those without this rounding"
        )
    return _SAME(call)


def _broadcast(call: Call) -> list[Any]:
    """Return tensors, each repeated to their common shape."""
    given = call.given("tensors")
    tensors = [one for one in given if isinstance(one, (Tensor, np.ndarray))] if isinstance(given, list) else []
    if not tensors or len(tensors) < len(given):
        raise call.at.refused("takes something else than tensors")
    try:
        shape = np.broadcast_shapes(*(one.shape for one in tensors))
    except ValueError:
        raise call.at.refused(f"does not fit shapes {[list(one.shape) for one in tensors][:8]}") from None

    def whole(array: NDArray[Any]) -> NDArray[Any]:
        return np.broadcast_to(array, shape)

    return [moved(call.at, one, whole, prod(shape)) for one in tensors]  # type: ignore[type-var]


def _same_as_other(call: Call) -> Any:
    call.ignore("other")
    return shapes.same(call)


def _in_shape_of_other(operation: Operation) -> Operation:
    """Return an operator that takes the shape of another tensor."""

    def apply(call: Call) -> Any:
        return operation(call.with_arguments(size=list(call.movable("other").shape)))

    return apply


def _reshape(call: Call) -> Any:
    if "dtype" in call.arguments:
        raise UnsupportedLayerError(f"{call.at.label} reads numbers as another type, which is not piecewise linear")
    return shapes.reshape(call)


def _pad(mode: str | None) -> Operation:
    """Return the operator that pads the last axes, listed from the last one on."""

    def pad(call: Call) -> Tensor:
        x, pads = call.tensor(), call.integers("padding")
        chosen = str(call.given("mode", "constant") if mode is None else mode)
        value = call.given("value", None)
        pairs = list(zip(pads[::2], pads[1::2], strict=False))[::-1]
        if len(pads) % 2 or len(pairs) > len(x.shape):
            raise call.at.refused(f"has {len(pads)} borders for {len(x.shape)} axes")
        borders = [(0, 0)] * (len(x.shape) - len(pairs)) + pairs
        left = [length + min(low, 0) + min(high, 0) for length, (low, high) in zip(x.shape, borders, strict=True)]
        if chosen == "circular" and any(max(pair) > length for pair, length in zip(borders, left, strict=True)):
            raise call.at.refused(f"wraps around by {pads}, more than is left of shape {list(x.shape)}")
        return parts.bordered(call.at, x, borders, chosen, 0.0 if value is None else call.number("value"))

    return pad


def _least_and_most(call: Call) -> list[Tensor]:
    return [windows.largest_along_axes(call, smallest=smallest) for smallest in (True, False)]


def _increasing(call: Call) -> Tensor:
    return orders.sort(call.with_arguments(dim=0))


def _composed(composition: Composition) -> Operation:
    """Return an operator that is made of others."""

    def apply(call: Call) -> Any:
        def part(name: str, **arguments: Any) -> Any:
            own = replace(call, arguments=arguments, names={}, asked=set())
            if any(isinstance(one, (Tensor, Piecewise)) for one in _flat(arguments.values())):
                return OPERATORS[name](own)
            function = FUNCTIONS.get(name, OPERATORS[name] if name in COMPOSITIONS else None)
            return computed(own, function, OPERATORS[name])[0]

        return composition(call, part)

    return apply


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        yield from value if isinstance(value, list) else [value]


def _split_along(axis: int) -> Operation:
    """Return the operator that splits along an axis; a tensor with one axis is always split along this one."""

    def split(call: Call) -> Any:
        one = axis == 1 and len(call.movable().shape) == 1
        return parts.split_nearly_evenly(call.with_arguments(dim=0 if one else axis))

    return split


def _join(call: Call) -> Any:
    """Join tensors; torch leaves out those of shape [0], whatever the shape of the others."""
    given = call.given("tensors")
    if not isinstance(given, list):
        return parts.join(call)
    kept = [one for one in given if getattr(one, "shape", None) != (0,)]
    return parts.join(call.with_arguments(tensors=kept or given))


def _without_nan(call: Call) -> Any:
    """Return the same numbers, because those of a network are finite."""
    call.ignore("nan", "posinf", "neginf")
    return _SAME(call)


def _scatter_add(call: Call) -> Tensor:
    return picks.replace_along(call.with_arguments(reduce="add"))


def _filled(call: Call) -> NDArray[Any]:
    """Return an array of the shape of the first argument, filled with a constant (``fill``, ``zero``)."""
    shape = call.movable("self").shape
    call.ignore("self")
    value = np.asarray(call.given("value", 0.0))
    if value.size != 1 or value.dtype.kind not in "fiub":
        raise call.at.refused("fills with something that is not a number")
    call.at.charge(0, 8 * prod(shape))
    return np.full(shape, value.astype(np.float64).item())


_PARTS: dict[str, Operation] = {"slice": shapes.slices, "select": shapes.select, "diagonal": shapes.diagonal}
_SAME = _of_floats(shapes.same)
_NORMS = {"": norms.norm_of_vector_or_matrix, "vector_": norms.norm, "matrix_": norms.matrix_norm}
_LONG_NAMES = {"gt": "greater", "ge": "greater_equal", "lt": "less", "le": "less_equal", "ne": "not_equal"}
_COMPARISONS: dict[str, Operation] = {
    name: partial(jumping.compare, word=word) for word in COMPARISONS for name in (word, _LONG_NAMES.get(word, word))
}
_DROPOUT = elementwise.in_evaluation(shapes.same, "train")
_RRELU = elementwise.activates(activations.rrelu, {"lower": 1 / 8, "upper": 1 / 3})
OPERATORS: dict[str, Operation] = {
    "linear": linear.linear,
    "addmm": linear.sum_and_product,
    **dict.fromkeys(("matmul", "mm", "mv"), linear.matmul),
    **{f"conv{axes}d": partial(convolutions.convolution, axes=axes, back=False) for axes in (1, 2, 3)},
    **{f"conv_transpose{axes}d": partial(convolutions.convolution, axes=axes, back=True) for axes in (1, 2, 3)},
    "convolution": convolutions.convolution,
    **dict.fromkeys(("batch_norm", "native_batch_norm"), _first_of(linear.batch_norm, 3)),
    "_native_batch_norm_legit_no_training": _first_of(linear.batch_norm, 3),
    **{
        operator: elementwise.activates(row.make, dict(zip(row.parameters, row.defaults, strict=True)))
        for row in ACTIVATIONS
        for operator in row.aten
    },
    # These have more arguments than the activations with their names: infinite bounds, and a flag for training.
    "hardtanh": partial(maxima.clamp, least=-1.0, most=1.0),
    "rrelu": elementwise.in_evaluation(_RRELU, "training"),
    "rrelu_with_noise_functional": _first_of(elementwise.in_evaluation(_RRELU, "training")),
    **dict.fromkeys(("prelu", "_prelu_kernel"), elementwise.prelu),
    **dict.fromkeys(("clamp", "clip", "clamp_min", "clamp_max"), maxima.clamp),
    **dict.fromkeys(("neg", "negative"), jumping.negate),
    "add": jumping.add,
    **dict.fromkeys(("sub", "subtract"), partial(jumping.add, sign=-1.0)),
    "rsub": partial(jumping.add, sign=-1.0, turned=True),
    **dict.fromkeys(("mul", "multiply"), jumping.multiply),
    **dict.fromkeys(("div", "divide", "true_divide"), jumping.divide),
    **_COMPARISONS,
    **dict.fromkeys(("sign", "sgn"), jumping.sign),
    "heaviside": jumping.step,
    "where": jumping.choose,
    "masked_fill": jumping.where_masked,
    **dict.fromkeys(("logical_not", "bitwise_not"), jumping.invert),
    **{
        name.format(word): partial(jumping.both, word=word)
        for word in ("and", "or", "xor")
        for name in ("logical_{}", "bitwise_{}", "__{}__")
    },
    "pow": elementwise.power,
    **dict.fromkeys(("isnan", "isinf"), elementwise.never),
    "nan_to_num": _without_nan,
    **{name: _composed(composition) for name, composition in COMPOSITIONS.items()},
    **dict.fromkeys(("maximum", "fmax"), maxima.compare),
    **dict.fromkeys(("minimum", "fmin"), partial(maxima.compare, smallest=True)),
    "amax": windows.largest_along_axes,
    "amin": partial(windows.largest_along_axes, smallest=True),
    "max": _of_two_or_along(smallest=False),
    "min": _of_two_or_along(smallest=True),
    "mean": _of_floats(windows.means_along_axes),
    "sum": _of_floats(partial(windows.means_along_axes, total=True)),
    "nanmean": _of_floats(windows.means_along_axes),
    "nansum": _of_floats(partial(windows.means_along_axes, total=True)),
    "elu": elementwise.elu,
    "hardshrink": elementwise.hard_shrink,
    **{f"avg_pool{axes}d": partial(windows.average, axes=axes) for axes in (1, 2, 3)},
    **{
        f"max_pool{axes}d{positions}": _first_of(partial(windows.largest_in_windows, axes=axes))
        for axes in (1, 2, 3)
        for positions in ("", "_with_indices")
    },
    **{
        f"{mark}adaptive_avg_pool{axes}d": partial(windows.adaptive_average, axes=axes)
        for axes in (1, 2, 3)
        for mark in ("", "_")
        if axes > 1 or not mark
    },
    **{f"adaptive_max_pool{axes}d": _first_of(partial(windows.adaptive_largest, axes=axes)) for axes in (1, 2, 3)},
    "im2col": windows.columns,
    "rnn_relu": recurrent.rnn,
    "rnn_relu_cell": recurrent.cell,
    **{f"linalg_{word}norm": _of_floats(operation) for word, operation in _NORMS.items()},
    "norm": _of_floats(partial(norms.norm, name="p")),
    "aminmax": _least_and_most,
    "sort": _first_of(orders.sort),
    "msort": _increasing,
    "cummax": _first_of(orders.running_largest),
    "cummin": _first_of(partial(orders.running_largest, smallest=True)),
    "topk": _first_of(orders.first_in_order),
    "kthvalue": _first_of(orders.nth_smallest),
    "median": _first_of(orders.median),
    "einsum": products.einsum,
    "bmm": products.stacked_product,
    "dot": products.stacked_product,
    "inner": products.inner,
    **dict.fromkeys(("outer", "ger"), products.outer),
    "kron": products.kronecker,
    "tensordot": products.tensordot,
    **{word: partial(products.add_product, word=word) for word in ("baddbmm", "addbmm", "addmv", "addr")},
    "cumsum": _of_floats(products.prefix_sums),
    "index_add": products.add_along,
    "index_fill": picks.fill_places,
    "index_put": picks.put,
    "gather": picks.pick_along,
    "scatter": picks.replace_along,
    "scatter_add": _scatter_add,
    "take": picks.pick_flat,
    "take_along_dim": picks.pick_along_broadcast,
    "copy": picks.copy_into,
    "fill": _filled,
    "zero": _filled,
    **{f"{word}_scatter": partial(picks.replace_part, part=part) for word, part in _PARTS.items()},
    "tril": partial(picks.triangle, lower=True),
    "triu": partial(picks.triangle, lower=False),
    **dict.fromkeys(("to", "_to_copy"), _cast),
    **dict.fromkeys(("clone", "contiguous", "detach", "alias", "positive"), _SAME),
    **dict.fromkeys(("lift_fresh_copy", "lift_fresh", "float", "double", "to_dense"), _SAME),
    "type_as": _same_as_other,
    **dict.fromkeys(("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"), _DROPOUT),
    **dict.fromkeys(("view", "reshape", "_unsafe_view"), _reshape),
    "flatten": shapes.flatten,
    "unflatten": shapes.unflatten,
    "permute": shapes.permute,
    **dict.fromkeys(("t", "numpy_T"), shapes.reverse_axes),
    **dict.fromkeys(("movedim", "moveaxis"), shapes.move_axes),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), shapes.swap_axes),
    **dict.fromkeys(("mT", "mH", "adjoint"), shapes.swap_last_axes),
    "flip": shapes.flip,
    "roll": shapes.roll,
    "rot90": shapes.turn,
    "diagonal": shapes.diagonal,
    "slice": shapes.slices,
    "narrow": shapes.narrow,
    "select": shapes.select,
    "index_select": shapes.take,
    "index": shapes.index,
    "unfold": shapes.slide,
    **dict.fromkeys(("expand", "broadcast_to"), shapes.expand),
    "broadcast_tensors": _broadcast,
    "expand_as": _in_shape_of_other(shapes.expand),
    **dict.fromkeys(("view_as", "reshape_as"), _in_shape_of_other(shapes.reshape)),
    "unsqueeze": shapes.unsqueeze,
    "squeeze": shapes.squeeze,
    "repeat": shapes.tile,
    "tile": partial(shapes.tile, all_axes=False),
    "repeat_interleave": shapes.repeat_each,
    "channel_shuffle": shapes.shuffle_channels,
    "pixel_shuffle": shapes.shuffle_pixels(True, "upscale_factor"),
    "pixel_unshuffle": shapes.shuffle_pixels(False, "downscale_factor"),
    "chunk": parts.chunks,
    **dict.fromkeys(("split", "split_with_sizes"), parts.split),
    "tensor_split": parts.split_nearly_evenly,
    **{f"{word}split": _split_along(axis) for axis, word in enumerate("vhd")},
    "unbind": parts.unbind,
    **dict.fromkeys(("cat", "concat", "concatenate"), _join),
    "stack": partial(parts.join, new_axis=True),
    "pad": _pad(None),
    "constant_pad_nd": _pad("constant"),
    **{f"reflection_pad{axes}d": _pad("reflect") for axes in (1, 2, 3)},
    **{f"replication_pad{axes}d": _pad("replicate") for axes in (1, 2, 3)},
    **{f"upsample_nearest{axes}d": enlarges(axes, middle=False) for axes in (1, 2, 3)},
    **{f"_upsample_nearest_exact{axes}d": enlarges(axes, middle=True) for axes in (1, 2, 3)},
    **{
        f"upsample_{word}{axes}d": interpolates(axes)
        for axes, word in enumerate(("linear", "bilinear", "trilinear"), 1)
    },
    **MAKERS,
}


def operation_of(name: str) -> Operation | None:
    """Return the function that reads an operator of torch, or writes through a view; None for unknown ones."""
    view = name.removesuffix("_scatter")
    if name not in OPERATORS and view != name and view in CERTAIN:
        return partial(picks.replace_part, part=OPERATORS[view])
    return OPERATORS.get(name)
