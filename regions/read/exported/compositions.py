# SPDX-License-Identifier: MIT
"""Which operators of torch are compositions of others?

Distances, differences and losses are written here with simpler operators, as torch defines them. ``apply`` applies one
of these by its name, to tensors or to constants. Therefore a composition is read wherever its parts are, and refused
for the reason of the part that is not piecewise linear.
Source: the operators' documentation in torch 2.13.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from regions.read.graphs.call import Call
from regions.read.graphs.moving import axis_of

__all__ = ["COMPOSITIONS", "Apply", "Composition"]

# Takes the name of an operator and its arguments.
Apply = Callable[..., Any]
Composition = Callable[[Call, Apply], Any]


def _reduced(call: Call, apply: Apply, losses: Any) -> Any:
    """Return losses, their mean, or their sum."""
    reduction = call.integer("reduction", 1)
    if reduction not in (0, 1, 2):
        raise call.at.refused(f"has a reduction {reduction}, which is not known")
    return losses if reduction == 0 else apply("mean" if reduction == 1 else "sum", self=losses)


def _absolute_loss(call: Call, apply: Apply) -> Any:
    difference = apply("sub", self=call.given("self"), other=call.given("target"))
    return _reduced(call, apply, apply("abs", self=difference))


def _squared_loss(call: Call, apply: Apply) -> Any:
    difference = apply("sub", self=call.given("self"), other=call.given("target"))
    return _reduced(call, apply, apply("mul", self=difference, other=difference))


def _ranking_loss(call: Call, apply: Apply) -> Any:
    """Return ``max(0, margin - target * (first - second))``."""
    difference = apply("sub", self=call.given("input1"), other=call.given("input2"))
    product = apply("mul", self=difference, other=call.given("target"))
    return _reduced(call, apply, apply("relu", self=apply("rsub", self=product, other=call.number("margin", 0.0))))


def _embedding_loss(call: Call, apply: Apply) -> Any:
    """Return x where the target is not -1, plus ``max(0, margin - x)`` where it is not 1."""
    x, target = call.given("self"), call.constant("target")
    far = apply("relu", self=apply("rsub", self=x, other=call.number("margin", 1.0)))
    near = apply("mul", self=x, other=(target != -1).astype(np.float64))
    far = apply("mul", self=far, other=(target != 1).astype(np.float64))
    return _reduced(call, apply, apply("add", self=near, other=far))


def _triplet_loss(call: Call, apply: Apply) -> Any:
    """Return ``max(0, margin + distance to the positive - distance to the negative)``."""
    anchor, positive, negative = (call.given(name) for name in ("anchor", "positive", "negative"))
    given = {"p": call.bound("p", 2.0), "eps": call.number("eps", 1e-6)}
    near, far = (apply("pairwise_distance", x1=anchor, x2=one, **given) for one in (positive, negative))
    if call.flag("swap"):
        far = apply("minimum", self=far, other=apply("pairwise_distance", x1=positive, x2=negative, **given))
    difference = apply("add", self=apply("sub", self=near, other=far), other=call.number("margin", 1.0))
    return _reduced(call, apply, apply("relu", self=difference))


def _norm_of(call: Call, apply: Apply, difference: Any, default: float, **along: Any) -> Any:
    order = default if call.given("p", None) is None else call.bound("p")
    return apply("linalg_vector_norm", self=difference, ord=order, **along)


def _distance(call: Call, apply: Apply) -> Any:
    """Return the norm of the difference of all numbers."""
    return _norm_of(call, apply, apply("sub", self=call.given("self"), other=call.given("other")), 2.0)


def _distances_of_pairs(call: Call, apply: Apply) -> Any:
    """Return the norms of ``x1 - x2 + eps`` along the last axis."""
    difference = apply("sub", self=call.given("x1"), other=call.given("x2"))
    shifted = apply("add", self=difference, other=call.number("eps", 1e-6))
    return _norm_of(call, apply, shifted, 2.0, dim=[-1], keepdim=call.flag("keepdim"))


def _distances_of_all(call: Call, apply: Apply) -> Any:
    """Return the distance of each row of x1 [.., P, M] to each row of x2 [.., R, M]."""
    call.ignore("compute_mode")
    first = apply("unsqueeze", self=call.given("x1"), dim=-2)
    second = apply("unsqueeze", self=call.given("x2"), dim=-3)
    return _norm_of(call, apply, apply("sub", self=first, other=second), 2.0, dim=[-1])


def _differences(call: Call, apply: Apply) -> Any:
    """Return the differences of neighbours along an axis, ``n`` times; for 0 times, torch prepends nothing."""
    given = [call.given(name, None) for name in ("prepend", "self", "append")]
    axis, times = call.integer("dim", -1), call.integer("n", 1)
    if times < 0:
        raise call.at.refused(f"takes differences {times} times")
    if times == 0:
        return given[1]
    x = apply("cat", tensors=[one for one in given if one is not None], dim=axis)
    length = x.shape[axis_of(call.at, axis, len(x.shape))]
    for left in range(length - 1, max(length - 1 - times, -1), -1):
        later, earlier = (apply("narrow", self=x, dim=axis, start=start, length=left) for start in (1, 0))
        x = apply("sub", self=later, other=earlier)
    return x


def _trapezoids(running: bool) -> Composition:
    """Return the integral by the trapezoidal rule along an axis, or the integrals up to each place."""

    def compute(call: Call, apply: Apply) -> Any:
        y, axis = call.given("y"), call.integer("dim", -1)
        left = y.shape[axis_of(call.at, axis, len(y.shape))] - 1
        later, earlier = (apply("narrow", self=y, dim=axis, start=start, length=left) for start in (1, 0))
        width = call.given("dx", 1)
        if "x" in call.arguments:
            x, rank = call.given("x"), len(y.shape)
            axis = axis_of(call.at, axis, rank)
            behind = rank - 1 - axis if len(x.shape) == 1 else 0
            before = max(rank - behind - len(x.shape), 0)
            x = apply("view", self=x, size=[*[1] * before, *x.shape, *[1] * behind])
            width = apply("diff", self=x, dim=axis)
        halves = apply("div", self=apply("add", self=later, other=earlier), other=2)
        areas = apply("mul", self=halves, other=width)
        return apply("cumsum", self=areas, dim=axis) if running else apply("sum", self=areas, dim=[axis])

    return compute


def _vector_product(default: int | None) -> Composition:
    """Return the cross product along an axis; by default torch.cross takes the first one's first axis of length 3."""

    def compute(call: Call, apply: Apply) -> Any:
        factors = [call.given(name) for name in ("self", "other")]
        axis = default if call.given("dim", None) is None else call.integer("dim")
        rank = max(len(one.shape) for one in factors)
        if axis is None:
            shape = factors[0].shape
            axis = shape.index(3) - len(shape) if 3 in shape else 0
        axis = axis_of(call.at, axis, rank) - rank  # shapes are aligned at the end
        if any(not -len(one.shape) <= axis or one.shape[axis] != 3 for one in factors):
            raise call.at.refused(f"takes vectors of length 3, and gets shapes {[list(one.shape) for one in factors]}")
        turned = [[apply("roll", self=one, shifts=[by], dims=[axis]) for by in (-1, -2)] for one in factors]
        (a1, a2), (b1, b2) = turned
        return apply("sub", self=apply("mul", self=a1, other=b2), other=apply("mul", self=a2, other=b1))

    return compute


def _similarity(call: Call, apply: Apply) -> Any:
    """Return the cosine of the angle between vectors along an axis; it is piecewise linear for constants only.

    torch broadcasts the vectors first, so that their lengths are those of repeated numbers.
    """
    axis, eps = call.integer("dim", 1), call.number("eps", 1e-8)
    given = [call.given(name) for name in ("x1", "x2")]
    shape = list(np.broadcast_shapes(*(one.shape for one in given)))
    units = []
    for one in given:
        x = apply("expand", self=one, size=shape)
        size = apply("linalg_vector_norm", self=x, ord=2.0, dim=[axis], keepdim=True)
        units.append(apply("div", self=x, other=apply("clamp", self=size, min=eps)))
    return apply("sum", self=apply("mul", self=units[0], other=units[1]), dim=[axis])


def _at_least(rank: int, apply: Apply, x: Any) -> Any:
    """Return a tensor with at least so many axes, as numpy's ``atleast_3d`` and so on add them."""
    shape = list(x.shape)
    if len(shape) >= rank:
        return x
    wide = {1: [1], 2: [1, *shape][-2:] if shape else [1, 1], 3: [*([1] if len(shape) < 2 else []), *shape, 1]}[rank]
    return apply("view", self=x, size=wide if shape else [1] * rank)


def _wider(rank: int) -> Composition:
    return lambda call, apply: _at_least(rank, apply, call.given("self"))


def _stacked(rank: int, axis: int) -> Composition:
    """Return the operator that joins tensors along an axis, each with at least ``rank`` axes."""

    def compute(call: Call, apply: Apply) -> Any:
        parts = [_at_least(rank, apply, one) for one in call.given("tensors")]
        return apply("cat", tensors=parts, dim=min(axis, len(parts[0].shape) - 1))

    return compute


def _columns(call: Call, apply: Apply) -> Any:
    """Join tensors as columns; those with one axis are columns."""
    parts = [one if len(one.shape) > 1 else apply("view", self=one, size=[-1, 1]) for one in call.given("tensors")]
    return apply("cat", tensors=parts, dim=1)


def _flat(call: Call, apply: Apply) -> Any:
    return apply("view", self=call.given("self"), size=[-1])


def _with_diagonal(call: Call, apply: Apply) -> Any:
    """Return matrices with the numbers of the last axis on their diagonals."""
    x = call.given("self")
    if call.integer("offset", 0) or (call.integer("dim1", -2), call.integer("dim2", -1)) != (-2, -1):
        raise call.at.refused("places a diagonal elsewhere than in the middle of the last two axes")
    return apply("mul", self=apply("unsqueeze", self=x, dim=-1), other=np.eye(x.shape[-1]))


def _trace(call: Call, apply: Apply) -> Any:
    return apply("sum", self=apply("diagonal", self=call.given("self")))


def _sum_of_products(call: Call, apply: Apply) -> Any:
    product = apply("mul", self=call.given(call.first_of("self", "x")), other=call.given(call.first_of("other", "y")))
    return apply("sum", self=product, dim=[call.integer("dim", -1)])


def _product_of_all(call: Call, apply: Apply) -> Any:
    result, *others = call.given(call.first_of("tensors", "matrices"))
    for other in others:
        result = apply("matmul", self=result, other=other)
    return result


def _reversed(axis: int) -> Composition:
    return lambda call, apply: apply("flip", self=call.given("self"), dims=[axis])


def _add_to(word: str) -> Composition:
    """Return the operator that adds ``value`` times a product or quotient."""

    def compute(call: Call, apply: Apply) -> Any:
        made = apply(word, self=call.unsettled("tensor1"), other=call.unsettled("tensor2"))
        return apply("add", self=call.unsettled("self"), other=made, alpha=call.given("value", 1))

    return compute


def _between(call: Call, apply: Apply) -> Any:
    """Return ``self + weight * (end - self)``."""
    x = call.unsettled("self")
    way = apply("sub", self=call.unsettled("end"), other=x)
    return apply("add", self=x, other=apply("mul", self=way, other=call.unsettled("weight")))


COMPOSITIONS: dict[str, Composition] = {
    "lerp": _between,
    "addcmul": _add_to("mul"),
    "addcdiv": _add_to("div"),
    "l1_loss": _absolute_loss,
    "mse_loss": _squared_loss,
    "margin_ranking_loss": _ranking_loss,
    "hinge_embedding_loss": _embedding_loss,
    "triplet_margin_loss": _triplet_loss,
    "dist": _distance,
    "pairwise_distance": _distances_of_pairs,
    **dict.fromkeys(("cdist", "_cdist_forward"), _distances_of_all),
    "diff": _differences,
    "trapezoid": _trapezoids(running=False),
    "cumulative_trapezoid": _trapezoids(running=True),
    "cross": _vector_product(None),
    "linalg_cross": _vector_product(-1),
    "cosine_similarity": _similarity,
    **{f"atleast_{rank}d": _wider(rank) for rank in (1, 2, 3)},
    "hstack": _stacked(1, 1),
    **dict.fromkeys(("vstack", "row_stack"), _stacked(2, 0)),
    "dstack": _stacked(3, 2),
    "column_stack": _columns,
    "ravel": _flat,
    "diag_embed": _with_diagonal,
    "trace": _trace,
    **dict.fromkeys(("linalg_vecdot",), _sum_of_products),
    **dict.fromkeys(("linalg_multi_dot", "chain_matmul"), _product_of_all),
    **{"flipud": _reversed(0), "fliplr": _reversed(1)},
}
