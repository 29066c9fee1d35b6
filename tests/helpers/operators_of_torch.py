# SPDX-License-Identifier: MIT
"""Which calls of single operators of torch are tried?

Each case is a shape and a function of a tensor [1, *shape], drawn from a grid of sizes, factors, strides and dilations.
Weights are small integers, so that results are exact. Calls that torch rejects are left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import torch

__all__ = ["KINDS", "MOST_NUMBERS", "Case", "drawn"]

F = torch.nn.functional
MOST_NUMBERS = 240
Function = Callable[[torch.Tensor], torch.Tensor]
# A name, the shape of the input without the batch, and the function.
Case = tuple[str, tuple[int, ...], Function]
Chance = random.Random

FACTORS = (2, 3, 1.5, 2.1, 2.05, 0.5, 1.1, 1 / 3, 0.7, 1.0, 2.25, 3.3, 1.01, 2.5)


def _image(chance: Chance, axes: int, channels: int | None = None) -> tuple[int, ...]:
    longest = (0, 24, 9, 5)[axes]
    return (channels or chance.randint(1, 4), *(chance.randint(1, longest) for _ in range(axes)))


def _each(chance: Chance, axes: int, low: int, high: int) -> list[int]:
    return [chance.randint(low, high) for _ in range(axes)]


def _whole(chance: Chance, *shape: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(chance.randrange(2**32))
    return torch.randint(-3, 4, shape, generator=generator).float()


def _enlarged(chance: Chance, axes: int) -> Case:
    channels = chance.choice((1, 2, 5))
    shape = (channels, *(chance.randint(1, (0, 20, 9, 3)[axes]) for _ in range(axes)))
    mode = chance.choice(("nearest", "nearest", "nearest-exact"))
    given: dict[str, Any] = {"mode": mode}
    if chance.randrange(3):
        given["scale_factor"] = [chance.choice((*FACTORS, chance.uniform(0.4, 3.5))) for _ in range(axes)]
        given["recompute_scale_factor"] = chance.choice((None, False, True))
    else:
        given["size"] = _each(chance, axes, 1, 12)
    if axes > 1 and not chance.randrange(4):
        layout = torch.channels_last if axes == 2 else torch.channels_last_3d
        return (
            f"interpolate {given}, {layout}",
            shape,
            lambda x: F.interpolate(x.contiguous(memory_format=layout), **given),
        )
    return f"interpolate {given}", shape, lambda x: F.interpolate(x, **given)


def _padded(chance: Chance, axes: int) -> Case:
    shape = _image(chance, axes)
    mode = chance.choice(("constant", "reflect", "replicate", "circular"))
    pads = _each(chance, 2 * axes, -2, 3)
    value = {"value": float(chance.randint(-2, 2))} if mode == "constant" else {}
    return f"pad {pads} {mode} {value}", shape, lambda x: F.pad(x, pads, mode, **value)


def _average(chance: Chance, axes: int) -> Case:
    given: dict[str, Any] = {
        "kernel_size": _each(chance, axes, 1, 4),
        "stride": chance.choice((None, _each(chance, axes, 1, 4))),
        "padding": _each(chance, axes, 0, 2),
        "ceil_mode": chance.random() < 0.5,
        "count_include_pad": chance.random() < 0.5,
    }
    if axes > 1:
        given["divisor_override"] = chance.choice((None, 1, 3, 4, -2))
    function = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[axes - 1]
    return f"avg_pool {given}", _image(chance, axes), lambda x: function(x, **given)


def _largest(chance: Chance, axes: int) -> Case:
    given: dict[str, Any] = {
        "kernel_size": _each(chance, axes, 1, 4),
        "stride": chance.choice((None, _each(chance, axes, 1, 4))),
        "padding": _each(chance, axes, 0, 2),
        "dilation": _each(chance, axes, 1, 3),
        "ceil_mode": chance.random() < 0.5,
    }
    function = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]
    return f"max_pool {given}", _image(chance, axes), lambda x: function(x, **given)


def _adapted(chance: Chance, axes: int) -> Case:
    counts = _each(chance, axes, 1, 7)
    functions = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)
    others = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)
    function = chance.choice((functions, others))[axes - 1]
    return f"{function.__name__} {counts}", _image(chance, axes), lambda x: function(x, counts)


def _convolved(chance: Chance, axes: int) -> Case:
    groups, each, out = chance.randint(1, 2), chance.randint(1, 2), chance.randint(1, 2)
    shape = _image(chance, axes, groups * each)
    kernel = _whole(chance, groups * out, each, *_each(chance, axes, 1, 3))
    stride, dilation = _each(chance, axes, 1, 3), _each(chance, axes, 1, 3)
    padding = chance.choice(("same", "valid", *[_each(chance, axes, 0, 3)] * 4))
    bias = chance.choice((None, _whole(chance, groups * out)))
    if padding == "same":
        stride = [1] * axes
    function = (F.conv1d, F.conv2d, F.conv3d)[axes - 1]
    name = f"conv {list(kernel.shape)} {stride} {padding} {dilation} {groups}"
    return (
        name,
        shape,
        lambda x: function(x, kernel.to(x), None if bias is None else bias.to(x), stride, padding, dilation, groups),
    )


def _convolved_back(chance: Chance, axes: int) -> Case:
    groups, each, out = chance.randint(1, 2), chance.randint(1, 2), chance.randint(1, 2)
    shape = (groups * each, *(chance.randint(1, (0, 8, 4, 3)[axes]) for _ in range(axes)))
    kernel = _whole(chance, groups * each, out, *_each(chance, axes, 1, 3))
    stride, dilation, padding = _each(chance, axes, 1, 3), _each(chance, axes, 1, 3), _each(chance, axes, 0, 3)
    more = [chance.randrange(max(step, spread)) for step, spread in zip(stride, dilation, strict=True)]
    bias = chance.choice((None, _whole(chance, groups * out)))
    function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[axes - 1]
    name = f"conv_transpose {list(kernel.shape)} {stride} {padding} {more} {groups} {dilation}"
    return (
        name,
        shape,
        lambda x: function(
            x, kernel.to(x), None if bias is None else bias.to(x), stride, padding, more, groups, dilation
        ),
    )


def _window(chance: Chance, _: int) -> Case:
    given = {
        "kernel_size": _each(chance, 2, 1, 3),
        "dilation": _each(chance, 2, 1, 2),
        "padding": _each(chance, 2, 0, 2),
        "stride": _each(chance, 2, 1, 3),
    }
    return f"unfold {given}", _image(chance, 2), lambda x: F.unfold(x, **given)


def _slid(chance: Chance, axes: int) -> Case:
    axis, size, step = chance.randint(1, axes + 1), chance.randint(1, 4), chance.randint(1, 3)
    return f"Tensor.unfold {axis} {size} {step}", _image(chance, axes), lambda x: x.unfold(axis, size, step)


def _cut(chance: Chance, axes: int) -> Case:
    shape = _image(chance, axes)
    axis = chance.randint(1, axes)
    start, end, step = chance.randint(-8, 8), chance.choice((None, chance.randint(-8, 8))), chance.randint(1, 4)
    window = (slice(None),) * axis + (slice(start, end, step),)
    return f"slice {window}", shape, lambda x: x[window]


def _picked(chance: Chance, axes: int) -> Case:
    shape = _image(chance, axes)
    axis = chance.randint(1, axes)
    length = shape[axis - 1]
    places = [chance.randint(-length, length - 1) for _ in range(chance.randint(1, 5))]
    start, count = chance.randint(-length, length), chance.randint(1, length)
    others = [chance.randint(-shape[-1], shape[-1] - 1) for _ in places]
    index, forwards = torch.tensor(places), torch.tensor(places) % length
    word, function = chance.choice(
        (
            ("index", lambda x: x[(slice(None),) * axis + (index,)]),
            ("index, two lists", lambda x: x[(slice(None),) * axis + (index, ..., torch.tensor(others))]),
            ("index_select", lambda x: x.index_select(axis, forwards)),
            ("take_along_dim", lambda x: x.transpose(axis, -1)[..., places]),
            ("select", lambda x: x.select(axis, places[0])),
            ("narrow", lambda x: x.narrow(axis, start, count)),
            ("tensor_split", lambda x: torch.cat(x.tensor_split(2, axis)[::-1], axis)),
            ("chunk", lambda x: torch.cat(x.chunk(count, axis)[::-1], axis)),
            ("split", lambda x: torch.cat(x.split(count, axis)[::-1], axis)),
            ("unbind", lambda x: torch.stack(x.unbind(axis)[::-1], axis - 1)),
            ("diagonal", lambda x: x.diagonal(start % 3 - 1, axis, axis - 1) if axis > 1 else x[:, ::1]),
            ("rot90", lambda x: torch.rot90(x, count, (axis, axes))),
        )
    )
    return f"{word} {axis} {places} {start} {count}", shape, function


def _moved(chance: Chance, axes: int) -> Case:
    shape = _image(chance, axes)
    every = list(range(1, axes + 1))
    some = chance.sample(every, chance.randint(1, axes))
    shifts = [chance.randint(-7, 7) for _ in some]
    order = [0, *chance.sample(range(1, axes + 2), axes + 1)]
    times = [chance.randint(1, 3) for _ in range(axes + chance.randint(1, 2))]
    count, axis = chance.randint(1, 3), chance.randint(0, axes + 1)
    wide = [-1, *(chance.randint(1, 3) for _ in range(axes + 1))]
    word, function = chance.choice(
        (
            ("roll", lambda x: x.roll(shifts, some)),
            ("roll, flat", lambda x: x.roll(shifts[0])),
            ("flip", lambda x: x.flip(some)),
            ("permute", lambda x: x.permute(order)),
            ("transpose", lambda x: x.transpose(order[1], order[-1])),
            ("movedim", lambda x: x.movedim(some, some[::-1])),
            ("repeat", lambda x: x.repeat([1, *times])),
            ("tile", lambda x: x.tile(times)),
            ("repeat_interleave", lambda x: x.repeat_interleave(count, axis)),
            ("expand", lambda x: x[(slice(None),) + (slice(0, 1),) * (axes + 1)].expand(wide)),
            ("flatten", lambda x: x.flatten(min(axis, axes), axes + 1)),
            ("unsqueeze", lambda x: x.unsqueeze(axis).squeeze(some[0])),
            ("stack", lambda x: torch.stack([x, x.flip(some)], axis)),
            ("cat", lambda x: torch.cat([x, 2 * x, torch.ones_like(x)], min(axis + 1, axes + 1))),
            ("movedim, mT", lambda x: x.mT if axes > 1 else x),
        )
    )
    return f"{word} {some} {shifts} {order} {times} {count} {axis} {wide}", shape, function


def _shuffled(chance: Chance, _: int) -> Case:
    size, channels = chance.randint(1, 3), chance.randint(1, 2)
    height, width = chance.randint(1, 3), chance.randint(1, 3)
    word, shape, function = chance.choice(
        (
            ("pixel_shuffle", (channels * size**2, height, width), lambda x: F.pixel_shuffle(x, size)),
            ("pixel_unshuffle", (channels, size * height, size * width), lambda x: F.pixel_unshuffle(x, size)),
            ("channel_shuffle", (channels * size, height, width), lambda x: F.channel_shuffle(x, size)),
        )
    )
    return f"{word} {size}", shape, function


def _taken_together(chance: Chance, axes: int) -> Case:
    shape = _image(chance, axes)
    gone, keep = chance.sample(range(1, axes + 2), chance.randint(1, axes)), chance.random() < 0.5
    word = chance.choice(("mean", "sum", "amax", "amin"))
    return f"{word} {gone} {keep}", shape, lambda x: getattr(x, word)(gone, keep)


def _selected(chance: Chance, axes: int) -> Case:
    """Selections by comparisons, whose branches meet; some compare two numbers."""
    at, slope = chance.randint(-3, 3), chance.choice((0.25, -2.0, 0.0, 1.0))
    wide = abs(at) + 1
    word = chance.choice(("gt", "ge", "lt", "le", "greater", "greater_equal", "less", "less_equal"))
    above = word.startswith("g")
    compare = getattr(torch, word)
    mask = torch.tensor([chance.random() < 0.5 for _ in range(3)])

    def leaky(x: torch.Tensor) -> torch.Tensor:
        branches = x, slope * (x - at) + at
        return torch.where(compare(x, at), *(branches if above else branches[::-1]))

    def of_two(x: torch.Tensor) -> torch.Tensor:
        other = 2 * x.flip(-1)
        return torch.where(compare(x, other), 3 * x + 1, x + 2 * other + 1)

    shape = _image(chance, axes)
    name, function = chance.choice(
        (
            ("leaky", leaky),
            ("two numbers", of_two),
            ("gate", lambda x: (x - at) * compare(x, at)),
            ("gate of two", lambda x: (x - x.flip(1)) * compare(x, x.flip(1)).to(x)),
            ("sign", lambda x: torch.sign(x - at) * (x - at)),
            ("sgn", lambda x: x * torch.sgn(x)),
            ("step", lambda x: (x - at) * torch.heaviside(x - at, torch.zeros(1, dtype=x.dtype))),
            ("masked_fill", lambda x: (x - at).masked_fill((x - at) <= 0, 0.0)),
            ("constant mask", lambda x: torch.cat([x, x, x], 1)[:, :3].masked_fill(mask.reshape(-1, *[1] * axes), 2.0)),
            ("where, constant", lambda x: torch.where(mask.reshape(-1, *[1] * axes), x[:, :1], 2 - x[:, :1])),
            ("inside", lambda x: torch.where((x > -wide) & ~(x > wide), x, x.clamp(-wide, wide))),
            ("outside", lambda x: torch.where((x < -wide) | (x > wide), x.sign() * wide, x)),
            ("not equal", lambda x: torch.where((x != at).logical_and(x.eq(at).logical_not()), 2 * x, x + at)),
            ("xor", lambda x: torch.where(torch.logical_xor(x > wide, x > -wide), x, x.clamp(-wide, wide))),
            ("shrink", lambda x: torch.where(x.abs() > wide, x - x.sign() * wide, 0 * x)),
            ("nested", lambda x: torch.where(x <= -3, -x, torch.where(x >= 3, x / 3 + 2, torch.full_like(x, 3)))),
            ("negative", lambda x: torch.where(x > at, -(x - at).sign() * (x - at), torch.zeros_like(x))),
        )
    )
    return f"{name} {word} {at} {slope} {mask.tolist()}", shape, function


def _normed(chance: Chance, axes: int) -> Case:
    shape = _image(chance, axes)
    order = chance.choice((1, float("inf"), float("-inf")))
    gone, keep = chance.sample(range(1, axes + 2), chance.randint(1, axes)), chance.random() < 0.5
    pair = chance.sample(range(1, axes + 1), 2) if axes > 1 else [0, 1]
    sign = chance.choice((1, -1))
    word, function = chance.choice(
        (
            ("vector_norm", lambda x: torch.linalg.vector_norm(x, order, gone, keep)),
            ("norm", lambda x: torch.linalg.norm(x, order, gone[0], keep)),
            ("torch.norm", lambda x: torch.norm(x, order, gone, keep)),
            ("matrix_norm", lambda x: torch.linalg.matrix_norm(x, sign * abs(order), pair, keep)),
            ("norm of a matrix", lambda x: torch.linalg.norm(x.flatten(1), sign * order)),
            ("norm of all", lambda x: x.norm(1)),
            ("norm of one number", lambda x: x.unsqueeze(1).norm(dim=1)),
            ("aminmax", lambda x: torch.cat(tuple(torch.aminmax(x, dim=gone[0], keepdim=True)), gone[0])),
        )
    )
    return f"{word} {order} {gone} {keep} {pair} {sign}", shape, function


def _ordered(chance: Chance, axes: int) -> Case:
    shape = tuple(min(length, 5) for length in _image(chance, axes))
    axis, down, keep = chance.randint(1, axes), chance.random() < 0.5, chance.random() < 0.5
    count = chance.randint(1, shape[axis - 1])
    word, function = chance.choice(
        (
            ("sort", lambda x: torch.sort(x, axis, down)[0]),
            ("stable sort", lambda x: torch.sort(x, dim=axis, descending=down, stable=True)[0]),
            ("msort", lambda x: torch.msort(x[0])),
            ("topk", lambda x: torch.topk(x, count, axis, down)[0]),
            ("kthvalue", lambda x: torch.kthvalue(x, count, axis, keep)[0]),
            ("median", lambda x: torch.median(x, axis, keep)[0]),
            ("median of all", lambda x: torch.median(x)),
        )
    )
    return f"{word} {axis} {down} {count} {keep}", shape, function


def _multiplied(chance: Chance, _: int) -> Case:
    stack, rows, inner, columns = (chance.randint(1, 3) for _ in range(4))
    left, right = _whole(chance, stack, rows, inner), _whole(chance, stack, inner, columns)
    beta, alpha = chance.choice((1, 2, -1)), chance.choice((1, 0.5, -3))
    added = _whole(chance, stack, rows, columns)
    equation = chance.choice(
        ("nsi,sic->nsc", "nsi,sic->nc", "nsi,tic->nstc", "nsi,sic", "...i,sic->...sc", "nsi,ticd->ctn", "nsi,sjk->n")
    )
    other = right if equation != "nsi,ticd->ctn" else right[..., None]
    shape = (stack, inner) if chance.randrange(2) else (stack, rows, inner)
    flat = (stack, inner) == shape
    if flat:
        word, function = chance.choice(
            (
                ("einsum", lambda x: torch.einsum(equation, x, other.to(x))),
                ("einsum of three", lambda x: torch.einsum("nsi,sic,c->ns", x, right.to(x), right[0, 0].to(x))),
                ("inner", lambda x: torch.inner(x, left[0].to(x))),
                ("tensordot", lambda x: torch.tensordot(x, right.to(x), ([1, 2], [0, 1]))),
                ("kron", lambda x: torch.kron(x, left[0].to(x))),
                ("outer", lambda x: torch.outer(x.flatten(), left[0, 0].to(x))),
                ("ger", lambda x: torch.ger(left[0, 0].to(x), x.flatten())),
                ("mv", lambda x: torch.mv(x[0], left[0, 0].to(x))),
                ("mv of a constant", lambda x: torch.mv(left[0].to(x), x[0, 0])),
                ("dot", lambda x: torch.dot(left[0, 0].to(x), x[0, 0])),
                ("addmv", lambda x: torch.addmv(left[0, :, 0].to(x), left[0].to(x), x[0, 0], beta=beta, alpha=alpha)),
                (
                    "addr",
                    lambda x: torch.addr(
                        added[0].to(x), left[0, :, 0].to(x), torch.cat([x[0, 0]] * 3)[:columns], beta=beta, alpha=alpha
                    ),
                ),
                ("mm", lambda x: torch.mm(x[0], right[0].to(x))),
            )
        )
    else:
        word, function = chance.choice(
            (
                ("bmm", lambda x: torch.bmm(x[0], right.to(x))),
                ("bmm of a constant", lambda x: torch.bmm(right.to(x).mT, x[0].mT)),
                ("matmul", lambda x: torch.matmul(x, right.to(x))),
                ("matmul of one", lambda x: torch.matmul(x, right[0].to(x))),
                ("baddbmm", lambda x: torch.baddbmm(added.to(x), x[0], right.to(x), beta=beta, alpha=alpha)),
                ("addbmm", lambda x: torch.addbmm(added[0].to(x), x[0], right.to(x), beta=beta, alpha=alpha)),
                ("addmm", lambda x: torch.addmm(added[0].to(x), x[0, 0], right[0].to(x), beta=beta, alpha=alpha)),
                ("linear", lambda x: F.linear(x, right[0].to(x).mT, added[0, 0].to(x))),
                ("diagonals", lambda x: torch.einsum("nsii->ns" if rows == inner else "nsri->nir", x)),
            )
        )
    name = f"{word} {equation} {beta} {alpha} {list(left.shape)} {list(right.shape)}"
    return name, shape, function


def _replaced(chance: Chance, axes: int) -> Case:
    """Numbers at constant places, sums along an axis, and triangles."""
    shape = _image(chance, axes)
    axis = chance.randint(1, axes)
    length = shape[axis - 1]
    places = torch.tensor([chance.randrange(length) for _ in range(chance.randint(1, 4))])
    own = torch.tensor(chance.sample(range(length), chance.randint(1, length)))
    wide = [len(own) if i == axis else 1 for i in range(axes + 2)]
    index = own.reshape(wide).expand([1, *shape[: axis - 1], len(own), *shape[axis:]])
    every = torch.tensor([chance.randrange(torch.Size(shape).numel()) for _ in range(4)])
    diagonal = chance.randint(-2, 2)
    word, function = chance.choice(
        (
            ("gather", lambda x: x.gather(axis, index)),
            ("take", lambda x: x.take(every)),
            (
                "take_along_dim",
                lambda x: torch.take_along_dim(
                    x, places.reshape([-1 if i == axis else 1 for i in range(axes + 2)]), axis
                ),
            ),
            ("scatter", lambda x: x.scatter(axis, index, (2 * x).narrow(axis, 0, len(own)))),
            ("scatter_add", lambda x: x.scatter_add(axis, index, (2 * x).narrow(axis, 0, len(own)))),
            ("index_add", lambda x: x.index_add(axis, places, x.index_select(axis, places), alpha=2)),
            ("index_fill", lambda x: x.index_fill(axis, own, 3.0)),
            ("cumsum", lambda x: x.cumsum(axis)),
            ("tril", lambda x: x.tril(diagonal)),
            ("triu", lambda x: x.triu(diagonal)),
            ("expand_as", lambda x: x.narrow(axis, 0, 1).expand_as(x)),
            ("view_as", lambda x: x.contiguous().view_as(x.flatten(1).unsqueeze(1))),
            ("reshape_as", lambda x: x.reshape_as(x.transpose(1, axis))),
        )
    )
    return f"{word} {axis} {places.tolist()} {own.tolist()} {every.tolist()} {diagonal}", shape, function


def _apart(chance: Chance, axes: int) -> Case:
    """Distances, differences, and running maxima."""
    shape = (chance.randint(1, 3), *(chance.randint(1, 4) for _ in range(axes)))
    axis, last = chance.randrange(1, axes + 2), shape[-1]
    other, rows = _whole(chance, *shape), _whole(chance, chance.randint(1, 3), last)
    order, reduction = chance.choice((1.0, torch.inf)), chance.choice(("none", "mean", "sum"))
    times, keep = chance.randint(0, 2), chance.random() < 0.5
    powers = (_whole(chance, last) > 0).float()

    def ranked(x: torch.Tensor) -> torch.Tensor:
        return F.margin_ranking_loss(x, 2 * x, other.to(x).sign()[None], 1.0, reduction=reduction)

    def crossed(x: torch.Tensor) -> torch.Tensor:
        wide = x.narrow(1, 0, 1).expand(1, 3, *x.shape[2:])
        return torch.cross(wide, x.new_tensor([1.0, -2.0, 3.0]).reshape(1, 3, *[1] * axes).expand_as(wide), 1)

    word, function = chance.choice(
        (
            ("l1_loss", lambda x: F.l1_loss(x, other.to(x).expand_as(x), reduction=reduction)),
            ("margin_ranking_loss", ranked),
            ("dist", lambda x: torch.dist(x, other.to(x), order)),
            ("pairwise_distance", lambda x: F.pairwise_distance(x, other.to(x), order, 0.0, keep)),
            ("cdist", lambda x: torch.cdist(x, rows.to(x), order)),
            ("cdist", lambda x: torch.cdist(rows.to(x), x, order)),
            ("diff", lambda x: torch.diff(x, times, axis, prepend=x if keep else None)),
            ("trapezoid", lambda x: torch.trapezoid(x, dx=0.5, dim=axis)),
            ("trapezoid", lambda x: torch.trapezoid(x, rows.to(x)[0])),
            ("cumulative_trapezoid", lambda x: torch.cumulative_trapezoid(x, dx=2.0, dim=axis)),
            ("cross", crossed),
            ("linalg_cross", lambda x: torch.linalg.cross(x, x.new_tensor([1.0, -2.0, 3.0]))),
            ("cummax", lambda x: torch.cummax(x, axis)[0]),
            ("cummin", lambda x: torch.cummin(x, axis)[0]),
            ("pow", lambda x: x.pow(powers.to(x))),
            ("pow", lambda x: x ** float(keep)),
            ("nan_to_num", lambda x: torch.nan_to_num(x).masked_fill(x.isnan() | x.isinf(), 3.0)),
            ("cat", lambda x: torch.cat([x.new_zeros(0), x[:, :0], x, x.narrow(1, 0, 0)], 1)),
        )
    )  # fmt: skip
    return f"{word} {axis} {order} {reduction} {times} {keep}", shape, function


KINDS: dict[str, Callable[[Chance, int], Case]] = {
    "interpolate": _enlarged,
    "pad": _padded,
    "avg_pool": _average,
    "max_pool": _largest,
    "adaptive_pool": _adapted,
    "conv": _convolved,
    "conv_transpose": _convolved_back,
    "unfold": _window,
    "Tensor.unfold": _slid,
    "slice": _cut,
    "pick": _picked,
    "move": _moved,
    "shuffle": _shuffled,
    "reduce": _taken_together,
    "select": _selected,
    "norm": _normed,
    "order": _ordered,
    "product": _multiplied,
    "replace": _replaced,
    "apart": _apart,
}


def drawn(kind: str, chance: Chance) -> Case:
    """Return a case of a kind that torch accepts, of at most `MOST_NUMBERS` numbers in and ten times as many out."""
    while True:
        name, shape, function = KINDS[kind](chance, chance.randint(1, 3))
        if torch.Size(shape).numel() > MOST_NUMBERS:
            continue
        try:
            found = function(torch.zeros(1, *shape))
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError):
            continue
        if 0 < found.numel() <= 10 * MOST_NUMBERS:
            return f"{name} of {list(shape)}", shape, function
