# SPDX-License-Identifier: MIT
"""Which random exported programs does the fuzzing of files generate?

They have torch's operators, are nearly right like those of `graph_drawing_onnx.py`, and are written without torch.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from exported_archives import archive, call
from graph_drawing import Drawing, windowed

Shape = tuple[int, ...]


class ProgramDrawing(Drawing):
    """A drawing whose nodes are torch's."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance)
        self.nodes: list[dict[str, Any]] = []
        self.kinds: dict[str, int] = {}

    def add(self, target: str, left: Sequence[int], /, **arguments: Any) -> str:
        """Add a node, and return the name of the value that it makes."""
        if self.wrong():
            key = self.chance.choice([*arguments, "extra"])
            arguments[key] = self.chance.choice(
                (None, True, 1.5, 3, [], [1, 2], "x", "nothing", [None, "x"], *self.tensors)
            )
        if self.wrong():
            arguments.pop(self.chance.choice(list(arguments)))
        name = self.name()
        self.nodes.append(call(target, name, **arguments))
        self.kinds[name] = self.whole(7)
        self.keep(name, left)
        return name


def _activation(d: ProgramDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(
        ["relu"] * 6 + ["abs", "neg", "leaky_relu", "hardtanh", "clamp", "relu6", "sigmoid", "prelu"]
    )
    more: dict[str, Any] = {}
    if operator == "leaky_relu":
        more = {"negative_slope": d.real(0.25)}
    elif operator == "hardtanh":
        more = {"min_val": d.real(-1.0), "max_val": d.real(2.0)}
    elif operator == "clamp":
        more = {"min": d.real(-1.0)}
    elif operator == "prelu":
        more = {"weight": d.constant(d.array(shape[1:2] if len(shape) > 1 else (1,)))}
    d.add(f"{operator}.default", shape, self_=x, **more)


def _with_constant(d: ProgramDrawing, x: str, shape: Shape) -> None:
    first, second = x, d.constant(d.beside(shape))
    if d.chance.randrange(4) == 0:
        first, second = second, first
    operator = d.chance.choice(("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "maximum.default"))
    more = {"alpha": d.real(2.0)} if operator[:3] in ("add", "sub") and d.chance.randrange(3) == 0 else {}
    d.add(operator, shape, self_=first, other=second, **more)


def _two(d: ProgramDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(("add.Tensor", "sub.Tensor", "maximum.default", "minimum.default", "mul.Tensor"))
    d.add(operator, shape, self_=x, other=d.alike(shape))


def _dense(d: ProgramDrawing, x: str, shape: Shape) -> None:
    if not shape:
        return
    out = d.chance.randint(1, 5)
    if d.chance.randrange(3) == 0:
        d.add("matmul.default", (*shape[:-1], out), self_=x, other=d.constant(d.array((shape[-1], out))))
        return
    bias = d.constant(d.array((out,))) if d.chance.randrange(2) else None
    d.add("linear.default", (*shape[:-1], out), input=x, weight=d.constant(d.array((out, shape[-1]))), bias=bias)


def _image(d: ProgramDrawing, x: str, shape: Shape) -> None:
    axes = len(shape) - 2
    if axes not in (1, 2, 3):
        return
    size = [d.chance.randint(1, min(3, length)) for length in shape[2:]]
    step, pad = d.chance.randint(1, 2), d.chance.choice((0, 0, 1))
    operator = d.chance.choice(("conv", "conv", "conv_transpose", "avg_pool", "max_pool", "adaptive_avg_pool"))
    pad = 0 if 2 * pad > min(size) else pad
    counts = windowed(shape[2:], size, step, pad, 1)
    steps: dict[str, Any] = {"stride": d.wholes([step] * axes), "padding": d.wholes([pad] * axes)}
    if operator == "conv":
        out = d.chance.randint(1, 3)
        kernel = d.constant(d.array((out, shape[1], *size)))
        more = {"dilation": d.wholes([1] * axes), "groups": d.whole(1)}
        d.add(f"conv{axes}d.default", (1, out, *counts), input=x, weight=kernel, bias=None, **steps, **more)
    elif operator == "conv_transpose":
        kernel = d.constant(d.array((shape[1], 2, *size)))
        counts = [(n - 1) * step - 2 * pad + length for n, length in zip(shape[2:], size, strict=True)]
        overload = "default" if axes == 1 else "input"
        d.add(f"conv_transpose{axes}d.{overload}", (1, 2, *counts), input=x, weight=kernel, **steps)
    elif operator == "adaptive_avg_pool":
        sizes = [d.chance.randint(1, length) for length in shape[2:]]
        d.add(f"{operator}{axes}d.default", (*shape[:2], *sizes), self_=x, output_size=d.wholes(sizes))
    else:
        ceil = {"ceil_mode": True} if d.chance.randrange(3) == 0 else {}
        d.add(f"{operator}{axes}d.default", (*shape[:2], *counts), self_=x, kernel_size=d.wholes(size), **steps, **ceil)


def _norm(d: ProgramDrawing, x: str, shape: Shape) -> None:
    if len(shape) < 2:
        return
    given = [d.array(shape[1:2]) for _ in range(3)] + [np.abs(d.array(shape[1:2]).astype(np.float32)) + 1]
    names = dict(zip(("weight", "bias", "running_mean", "running_var"), map(d.constant, given), strict=True))
    d.add(
        "batch_norm.default",
        shape,
        input=x,
        **names,
        training=False,
        momentum=0.1,
        eps=d.real(1e-5),
        cudnn_enabled=True,
    )


def _reduce(d: ProgramDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(("mean.dim", "sum.dim_IntList", "amax.default", "amin.default"))
    axes, keep = d.axes(len(shape)), bool(d.chance.randrange(2))
    gone = {axis % max(len(shape), 1) for axis in axes}
    left = [1 if i in gone else length for i, length in enumerate(shape) if keep or i not in gone]
    d.add(operator, left, self_=x, dim=axes, keepdim=keep)


def _join(d: ProgramDrawing, x: str, shape: Shape) -> None:
    if not shape:
        return
    axis = d.axis(len(shape))
    parts: list[Any] = [x, d.alike(shape), *[d.constant(d.array(shape))] * d.chance.randrange(2)]
    left = [n * len(parts) if i == axis % len(shape) else n for i, n in enumerate(shape)]
    d.add("cat.default", left, tensors=parts, dim=axis)


def _pad(d: ProgramDrawing, x: str, shape: Shape) -> None:
    pads = d.wholes([d.chance.choice((0, 1, 1, -1)) for _ in range(2 * min(len(shape), 2))])
    grown = list(shape)
    for i, pad in enumerate(pads[: 2 * len(shape)]):
        grown[-1 - i // 2] += pad
    d.add("constant_pad_nd.default", grown, self_=x, pad=pads, value=d.real(d.chance.choice((0.0, 0.5))))


def _reshape(d: ProgramDrawing, x: str, shape: Shape) -> None:
    size = prod(shape)
    first = d.chance.choice([n for n in range(1, 7) if size % n == 0])
    wanted = d.chance.choice(([1, size], [1, first, -1], [1, first, 1, -1], [-1], [first, -1]))
    found = [abs(size // max(prod(wanted), -prod(wanted), 1)) if n == -1 else n for n in wanted]
    operator, name = d.chance.choice((("view.default", "size"), ("reshape.default", "shape")))
    d.add(operator, found, self_=x, **{name: d.wholes(wanted)})


def _axes(d: ProgramDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(("flatten", "squeeze", "unsqueeze", "permute", "transpose", "flip", "movedim"))
    rank = len(shape)
    if operator == "flatten":
        d.add("flatten.using_ints", (*shape[:1], prod(shape[1:])), self_=x, start_dim=d.whole(1 if rank > 1 else 0))
    elif operator == "permute":
        order = d.chance.sample(range(rank), rank)
        d.add("permute.default", [shape[i] for i in order], self_=x, dims=d.wholes(order))
    elif operator == "squeeze":
        ones = [i for i, n in enumerate(shape) if n == 1][1:]
        d.add("squeeze.dims", [n for i, n in enumerate(shape) if i not in ones], self_=x, dim=d.wholes(ones))
    elif operator == "unsqueeze":
        d.add("unsqueeze.default", (*shape, 1), self_=x, dim=d.whole(rank))
    elif operator == "flip":
        d.add("flip.default", shape, self_=x, dims=d.axes(rank))
    elif rank > 1:
        first, second = d.chance.sample(range(rank), 2)
        left = list(shape)
        if operator == "transpose":
            left[first], left[second] = left[second], left[first]
            d.add("transpose.int", left, self_=x, dim0=d.whole(first), dim1=d.whole(second))
        else:
            left.insert(second, left.pop(first))
            d.add("movedim.int", left, self_=x, source=d.whole(first), destination=d.whole(second))


def _pick(d: ProgramDrawing, x: str, shape: Shape) -> None:
    if not shape or not prod(shape):
        return
    axis = d.chance.randrange(len(shape))
    length, before, after = shape[axis], shape[:axis], shape[axis + 1 :]
    way = d.chance.randrange(6)
    start = d.chance.randrange(length)
    if way == 0:
        d.add("select.int", before + after, self_=x, dim=d.whole(axis), index=d.whole(start))
    elif way == 1:
        left = (*before, length - start, *after)
        d.add("slice.Tensor", left, self_=x, dim=d.whole(axis), start=d.whole(start), end=d.whole(2**63 - 1))
    elif way == 2:
        left = (*before, length - start, *after)
        d.add("narrow.default", left, self_=x, dim=d.whole(axis), start=d.whole(start), length=d.whole(length - start))
    elif way == 3:
        places = d.wholes([d.chance.randrange(length) for _ in range(3)]) * d.chance.choice((1, 1, 2))
        d.add(
            "index_select.default", (*before, len(places), *after), self_=x, dim=d.whole(axis), index=d.numbers(places)
        )
    else:
        places = d.wholes([d.chance.randrange(-length, length) for _ in range(2)])
        lists: list[Any] = [None] * axis + [d.numbers(places)]
        if way == 5 and d.mistakes:  # lists that are repeated to one shape
            size = d.chance.choice((1, 3, 300, 3000))
            shapes = [(size, 1, 1), (1, size, 1), (1, 1, size)]
            zeros = [d.constant(np.zeros(one, dtype=np.int64)) for one in shapes]
            lists = zeros[: d.chance.randint(1, 3)]
        d.add("index.Tensor", (*before, len(places), *after), self_=x, indices=lists)


def _repeat(d: ProgramDrawing, x: str, shape: Shape) -> None:
    operator = d.chance.choice(("repeat", "repeat_interleave", "expand", "roll", "upsample", "pixel_shuffle"))
    times = [d.chance.choice((1, 1, 2)) for _ in shape]
    grown = [n * one for n, one in zip(shape, times, strict=True)]
    if operator == "repeat":
        d.add("repeat.default", grown, self_=x, repeats=d.wholes(times))
    elif operator == "expand":
        wide = [3 if n == 1 and i else n for i, n in enumerate(shape)]
        d.add("expand.default", wide, self_=x, size=d.wholes(wide))
    elif operator == "pixel_shuffle":
        d.add("pixel_shuffle.default", shape, self_=x, upscale_factor=d.whole(1))
    elif operator == "upsample" and len(shape) in (3, 4, 5):
        axes = len(shape) - 2
        sizes = [2 * n for n in shape[2:]]
        d.add(
            f"upsample_nearest{axes}d.vec",
            (*shape[:2], *sizes),
            input=x,
            output_size=d.wholes(sizes),
            scale_factors=None,
        )
    elif operator == "roll" and shape:
        axis = d.chance.randrange(len(shape))
        d.add("roll.default", shape, self_=x, shifts=d.wholes([1]), dims=d.wholes([axis]))
    elif operator == "repeat_interleave" and shape:
        left = (*shape[:-1], shape[-1] * 2)
        d.add("repeat_interleave.self_int", left, self_=x, repeats=d.whole(2), dim=d.whole(len(shape) - 1))


def _filled(d: ProgramDrawing, x: str, shape: Shape) -> None:
    name = d.add("full.default", shape[-1:], size=d.wholes(shape[-1:]), fill_value=d.real(0.5))
    d.add(d.chance.choice(("add.Tensor", "mul.Tensor")), shape, self_=x, other=name)


def _computed(d: ProgramDrawing, x: str, shape: Shape) -> None:
    """Multiply by a constant that is computed from constants."""
    last = d.constant(d.beside(shape))
    for _ in range(d.chance.randint(1, 3)):
        operator = d.chance.choice(
            ("exp", "sqrt", "softplus", "floor", "cumsum", "softmax", "matmul", "expand", "repeat", "arange", "eye")
            + ("tril", "pow", "sort", "norm", "conv2d", "outer", "mean", "inverse", "diag_embed", "clamp")
        )
        beside = d.constant(d.beside(shape))
        more: dict[str, Any] = {
            **{"cumsum": {"dim": d.axis(1)}, "softmax": {"dim": d.axis(1)}, "matmul": {"other": beside}},
            **{"expand": {"size": d.wholes([2, *shape])}, "repeat": {"repeats": d.wholes([2] * len(shape))}},
            **{"arange": {"end": d.whole(3)}, "eye": {"n": d.whole(3), "m": d.whole(3)}, "outer": {"vec2": beside}},
            **{"tril": {"diagonal": d.whole(0)}, "pow": {"exponent": d.real(2.0)}, "sort": {"dim": d.axis(1)}},
            **{"conv2d": {"weight": beside}, "diag_embed": {"offset": d.whole(1)}, "clamp": {"min": d.real(0.5)}},
        }.get(operator, {})
        own = {} if operator in ("arange", "eye") else {"self_": last}
        last = d.add(f"{operator}.default", (), **own, **more) if own or more else last
    d.add("mul.Tensor", shape, self_=x, other=last)


_STEPS: list[Callable[[ProgramDrawing, str, Shape], None]] = [
    *[_activation, _dense] * 4,
    *[_with_constant, _two, _image, _reshape, _axes, _pick, _join] * 2,
    *[_norm, _reduce, _pad, _repeat, _filled, _computed],
]


def drawn(chance: random.Random) -> bytes:
    """Return a file."""
    d = ProgramDrawing(chance)
    shape = d.grow(_STEPS)
    last, left = d.values[-1]
    if d.ends_densely():
        last = d.add("linear.default", (*left[:-1], 2), input=last, weight=d.constant(d.array((2, left[-1]))))
        last = d.add("relu.default", (*left[:-1], 2), self_=last)
        last = d.add("linear.default", (*left[:-1], 1), input=last, weight=d.constant(d.array((1, 2))))
    if d.wrong():
        chance.shuffle(d.nodes)
    makers = ("full", "arange", "eye")
    filled = {node["name"]: d.kinds[node["name"]] for node in d.nodes if node["target"].split(".")[3] in makers}
    return archive(d.nodes, d.tensors, shape=shape, output=last, kinds=filled)
