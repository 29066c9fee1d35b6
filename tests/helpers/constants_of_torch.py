# SPDX-License-Identifier: MIT
"""Which functions of constants are drawn, for torch's exported programs?

A case is a chain of steps from stored tensors to a constant of at most `MOST_NUMBERS` numbers. Stored numbers are
multiples of 1/8, so that comparisons often meet equal numbers. Steps that torch rejects, and constants that are not
finite, are drawn again.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import torch

__all__ = ["MOST_NUMBERS", "Case", "drawn"]

F = torch.nn.functional
MOST_NUMBERS, LARGEST = 60, 1e6
Chance = random.Random
Step = Callable[[list[torch.Tensor]], torch.Tensor]
# A name, the stored tensors, and a function of these.
Case = tuple[str, list[torch.Tensor], Callable[[list[torch.Tensor]], torch.Tensor]]

SMOOTH = """exp exp2 expm1 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan tanh sinh cosh atan asinh sigmoid erf
erfc square abs neg relu sign floor ceil round trunc frac digamma lgamma""".split()
OF_F = """softplus elu selu celu gelu silu mish softsign hardswish hardsigmoid leaky_relu hardtanh relu6 logsigmoid
tanhshrink softshrink hardshrink""".split()
BINARY = "add sub mul div pow maximum minimum atan2 hypot fmod remainder logaddexp floor_divide".split()
COMPARED = "eq ne lt le gt ge".split()
ALONG = "sum mean prod amax amin var std logsumexp cumsum cumprod softmax log_softmax sort argsort max min norm".split()
ALONG += ["argmax", "argmin", "flip", "any", "all", "count_nonzero", "var_mean", "normalize", "std_mean"]


def _stored(chance: Chance) -> torch.Tensor:
    shape = [chance.choice((1, 2, 3, 3, 4)) for _ in range(chance.choice((0, 1, 1, 2, 2, 2, 3, 4)))]
    generator = torch.Generator().manual_seed(chance.randrange(2**32))
    return torch.randint(-16, 17, shape, generator=generator).float() / 8


def _of_one(chance: Chance, i: int) -> tuple[str, Step]:
    if chance.randrange(3) == 0:
        word = chance.choice(OF_F)
        return word, lambda values: getattr(F, word)(values[i])
    if chance.randrange(4) == 0:
        low, high = sorted(chance.randint(-16, 16) / 8 for _ in range(2))
        word, function = chance.choice(
            (
                ("clamp", lambda x: x.clamp(low, high)),
                ("clamp, one side", lambda x: x.clamp(min=low)),
                ("power", lambda x: x**chance_power),
                ("to power", lambda x: (abs(low) + 0.5) ** x),
                ("rsub", lambda x: low - x),
                ("over", lambda x: (high + 3) / x),
                ("nan_to_num", lambda x: torch.nan_to_num(x.log(), nan=low, neginf=high)),
                ("rounded", lambda x: torch.round(x * 1.3, decimals=1)),
                ("whole", lambda x: x.to(torch.int64)),
                ("mask", lambda x: (x > low).to(x.dtype)),
                ("alpha", lambda x: torch.add(x, x.abs(), alpha=low)),
                ("threshold", lambda x: F.threshold(x, low, low)),
                ("half", lambda x: x.half().to(x.dtype)),
            )
        )
        chance_power = chance.choice((2, 3, 0.5, -1, 2.0, 1.5))
        return f"{word} {low} {high} {chance_power}", lambda values: function(values[i])
    word = chance.choice(SMOOTH)
    return word, lambda values: getattr(torch, word)(values[i])


def _of_two(chance: Chance, i: int, j: int) -> tuple[str, Step]:
    way = chance.randrange(6)
    if way == 0:
        word = chance.choice(COMPARED)
        return word, lambda values: torch.where(getattr(torch, word)(values[i], values[j]), values[i], values[j].exp())
    if way == 1:
        mode = chance.choice(("floor", "trunc"))
        return f"div {mode}", lambda values: torch.div(values[i], values[j], rounding_mode=mode)
    if way == 2:
        return (
            "lerp",
            lambda values: torch.lerp(values[i], values[j], 0.25) + torch.addcmul(values[i], values[j], values[j]),
        )
    if way == 3:
        return "clamp", lambda values: torch.clamp(values[i], min=values[j])
    word = chance.choice(BINARY)
    return word, lambda values: getattr(torch, word)(values[i], values[j])


def _along(chance: Chance, i: int, rank: int) -> tuple[str, Step]:
    word, axis, keep = chance.choice(ALONG), chance.randrange(-rank, rank) if rank else 0, chance.random() < 0.5

    def apply(values: list[torch.Tensor]) -> torch.Tensor:
        x = values[i]
        if word in ("sum", "mean", "amax", "amin", "logsumexp", "var", "std", "any", "all", "argmax", "argmin"):
            return getattr(torch, word)(x, dim=axis, keepdim=keep)
        if word == "prod":
            return torch.prod(x, axis, keepdim=keep)
        if word in ("cumsum", "cumprod", "softmax", "log_softmax", "argsort"):
            return getattr(torch, word)(x, dim=axis)
        if word in ("sort"):
            found = torch.sort(x, dim=axis, descending=keep) if word == "sort" else torch.topk(x, 1, axis, largest=keep)
            return found[0] + 10 * found[1]
        if word in ("max", "min"):
            found = getattr(torch, word)(x, dim=axis, keepdim=keep)
            return found[0] - found[1]
        if word in ("var_mean", "std_mean"):
            found = getattr(torch, word)(x, dim=axis, correction=int(keep))
            return found[0] + 2 * found[1]
        if word == "norm":
            return torch.linalg.vector_norm(x, ord=(1, 2, 3, torch.inf)[axis % 4], dim=axis, keepdim=keep)
        if word == "normalize":
            return F.normalize(x, p=2.0 if keep else 1.0, dim=axis)
        if word == "flip":
            return x.flip(axis)
        return torch.count_nonzero(x, dim=axis)

    return f"{word} {axis} {keep}", apply


def _identity_beside(x: torch.Tensor) -> torch.Tensor:
    return torch.eye(x.shape[-1], dtype=x.dtype)


def _inverse(x: torch.Tensor) -> torch.Tensor:
    return torch.linalg.inv(x.mT @ x + _identity_beside(x))


def _kernel(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, 1, *x.shape[-2:])


def _normed(x: torch.Tensor) -> torch.Tensor:
    return F.batch_norm(x, torch.ones(1, dtype=x.dtype), torch.full((1,), 4.0, dtype=x.dtype))


def _of_matrices(chance: Chance, i: int, j: int) -> tuple[str, Step]:
    k = chance.randint(-1, 1)
    return chance.choice(
        (
            ("matmul", lambda values: values[i] @ values[j]),
            ("matmul, transposed", lambda values: values[i].mT @ values[j]),
            ("gram", lambda values: values[i].mT @ values[i] + 0.5 * _identity_beside(values[i])),
            ("inverse", lambda values: _inverse(values[i])),
            ("tril", lambda values: torch.tril(values[i], k)),
            ("triu", lambda values: torch.triu(values[i], k)),
            ("linear", lambda values: F.linear(values[i], values[j])),
            ("outer", lambda values: torch.outer(values[i].flatten(), values[j].flatten())),
            ("einsum", lambda values: torch.einsum("ij,kj->ik", values[i], values[j])),
            ("diag", lambda values: torch.diag(values[i], k)),
            ("diag_embed", lambda values: torch.diag_embed(values[i], k)),
            ("layer_norm", lambda values: F.layer_norm(values[i], values[i].shape[-1:])),
            ("trace", lambda values: torch.trace(values[i]) + torch.linalg.norm(values[i])),
            ("dot", lambda values: torch.dot(values[i].flatten(), values[i].flatten().exp())),
        )
    )  # fmt: skip


def _of_images(chance: Chance, i: int, j: int) -> tuple[str, Step]:
    size, count = chance.randint(1, 2), chance.randint(1, 3)

    def image(values: list[torch.Tensor]) -> torch.Tensor:
        x = values[i].reshape(-1, 1, *values[i].shape[-2:])
        return F.pad(x, (1, 0, 0, 1))

    return chance.choice(
        (
            ("conv", lambda values: F.conv2d(image(values), _kernel(values[j]), padding=2)),
            ("avg_pool", lambda values: F.avg_pool2d(image(values), size)),
            ("max_pool", lambda values: F.max_pool2d(image(values), size)),
            ("adaptive", lambda values: F.adaptive_avg_pool2d(image(values), count)),
            ("upsample", lambda values: F.interpolate(image(values), scale_factor=2)),
            ("batch_norm", lambda values: _normed(image(values))),
        )
    )  # fmt: skip


def _moved(chance: Chance, i: int, j: int) -> tuple[str, Step]:
    return chance.choice(
        (
            ("cat", lambda values: torch.cat([values[i], values[j]], -1)),
            ("stack", lambda values: torch.stack([values[i], values[i].abs()], 0)),
            ("permute", lambda values: values[i].permute(*range(values[i].dim())[::-1])),
            ("reshape", lambda values: values[i].reshape(-1)),
            ("unsqueeze", lambda values: values[i].unsqueeze(-1)),
            ("slice", lambda values: values[i][..., 1:]),
            ("chunk", lambda values: values[i].chunk(2, -1)[-1]),
            ("split", lambda values: values[i].split(1, -1)[0]),
            ("index", lambda values: values[i][..., [0, -1]]),
            ("expand", lambda values: values[i].expand(2, *values[i].shape)),
            ("expand_as", lambda values: values[i].expand_as(values[j])),
            ("gather", lambda values: values[i].gather(-1, values[i].argsort(-1))),
            ("ones", lambda values: torch.ones_like(values[i]) + torch.full_like(values[j], 0.25)),
            ("range", lambda values: values[i] * torch.arange(values[i].shape[-1])),
            ("masked", lambda values: values[i].masked_fill(values[i] > 0.5, 0.125)),
        )
    )


def _step(chance: Chance, values: list[torch.Tensor]) -> tuple[str, Step]:
    i, j = (max(0, len(values) - 1 - int(chance.expovariate(0.7))) for _ in range(2))
    way = chance.randrange(10)
    if way < 3:
        return _of_one(chance, i)
    if way < 5:
        return _of_two(chance, i, j)
    if way < 7 and values[i].dim():
        return _along(chance, i, values[i].dim())
    if way < 9 and values[i].dim() < 2:
        return _of_one(chance, i)
    return (_of_matrices, _of_images, _moved)[max(way - 7, 0)](chance, i, j)


def drawn(chance: Chance) -> Case:
    """Return a case whose constant is finite in single and in double precision."""
    while True:
        stored = [_stored(chance) for _ in range(chance.randint(1, 3))]
        steps: list[Step] = []
        names: list[str] = []
        values = list(stored)
        for _ in range(chance.randint(1, 7)):
            name, step = _step(chance, values)
            try:
                value = step(values).float()
            except (RuntimeError, ValueError, IndexError, TypeError, AttributeError, NotImplementedError):
                continue
            if 0 < value.numel() <= MOST_NUMBERS and value.isfinite().all() and value.abs().max() < LARGEST:
                steps.append(step)
                names.append(name)
                values.append(value)
        if not steps:
            continue

        def function(given: list[torch.Tensor], steps: list[Step] = steps) -> torch.Tensor:
            made = list(given)
            for step in steps:
                made.append(step(made).to(given[0].dtype))
            return made[-1].reshape(1, -1)

        double = function([one.double() for one in stored])
        if double.isfinite().all() and double.abs().max() < LARGEST:
            shapes = [list(one.shape) for one in stored]
            return f"{', '.join(names)} of {shapes}", stored, function
