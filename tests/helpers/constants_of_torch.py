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
            ("rms_norm", lambda values: F.rms_norm(values[i], values[i].shape[-1:], eps=0.25)),
            ("layer_norm", lambda values: F.layer_norm(values[i], values[i].shape[-1:])),
            ("trace", lambda values: torch.trace(values[i]) + torch.linalg.norm(values[i])),
            ("dot", lambda values: torch.dot(values[i].flatten(), values[i].flatten().exp())),
        )
    )  # fmt: skip


def _of_tables(chance: Chance, i: int, j: int) -> tuple[str, Step]:
    """Factors, powers and distances of matrices, and grids."""
    k, flag = chance.randint(-1, 2), chance.random() < 0.5

    def square(values: list[torch.Tensor]) -> torch.Tensor:
        return values[i].mT @ values[i] + 0.5 * _identity_beside(values[i])

    def triangle(values: list[torch.Tensor]) -> torch.Tensor:
        return torch.tril(square(values)) + _identity_beside(values[i])

    def vectors(values: list[torch.Tensor]) -> list[torch.Tensor]:
        return [values[i].flatten()[:6], values[j].flatten()[:5]]

    def extreme(values: list[torch.Tensor]) -> torch.Tensor:
        found = (torch.cummax if flag else torch.cummin)(values[i], -1)
        return found[0] + 10 * found[1]

    def triple(x: torch.Tensor) -> torch.Tensor:
        return torch.cat([x, x + 1, x.exp()], -1)[..., :3]

    def skewed(x: torch.Tensor) -> torch.Tensor:  # not parallel, because torch rounds the 0 of a cross product
        return triple(x) * torch.tensor([1.0, 2.0, -3.0]) + 0.5

    def weight(x: torch.Tensor, side: int) -> torch.Tensor:
        return x.reshape(1, side, side)

    return chance.choice(
        (
            ("qr", lambda values: torch.linalg.qr(square(values), "complete" if flag else "reduced")[k % 2]),
            ("svdvals", lambda values: torch.linalg.svdvals(values[i])),
            ("eigvalsh", lambda values: torch.linalg.eigvalsh(square(values))),
            ("pinv", lambda values: torch.linalg.pinv(square(values))),
            ("slogdet", lambda values: sum(torch.linalg.slogdet(square(values)))),
            ("logdet", lambda values: torch.logdet(square(values)) + torch.det(square(values)).log()),
            ("matrix_power", lambda values: torch.linalg.matrix_power(square(values), k)),
            ("multi_dot", lambda values: torch.linalg.multi_dot([square(values), square(values), values[i].mT])),
            (
                "solve_triangular",
                lambda values: torch.linalg.solve_triangular(triangle(values), square(values), upper=False, left=flag),
            ),
            ("cholesky_inverse", lambda values: torch.cholesky_inverse(triangle(values), upper=flag)),
            ("cholesky_solve", lambda values: torch.cholesky_solve(values[i].mT, triangle(values))),
            ("meshgrid", lambda values: torch.meshgrid(*vectors(values), indexing="xy" if flag else "ij")[k % 2]),
            ("cartesian_prod", lambda values: torch.cartesian_prod(*vectors(values))),
            ("block_diag", lambda values: torch.block_diag(values[i], values[j])),
            ("vander", lambda values: torch.vander(vectors(values)[0], increasing=flag)),
            ("triu_indices", lambda values: values[i].sum() * torch.triu_indices(3, 4, k)),
            ("kron", lambda values: torch.kron(values[i], values[j])),
            ("bucketize", lambda values: torch.bucketize(values[i], torch.arange(-2.0, 2.0), right=flag)),
            ("searchsorted", lambda values: torch.searchsorted(vectors(values)[0].sort()[0], values[j], right=flag)),
            ("cummax", extreme),
            ("cdist", lambda values: torch.cdist(values[i], values[j], p=(1.0, 2.0, 3.0, torch.inf)[k + 1])),
            ("pairwise_distance", lambda values: F.pairwise_distance(values[i], values[j], p=1.0 + k % 2)),
            ("cosine_similarity", lambda values: F.cosine_similarity(values[i], values[j], -1)),
            ("l1_loss", lambda values: F.l1_loss(values[i], values[j], reduction=("none", "mean", "sum")[k % 3])),
            ("mse_loss", lambda values: F.mse_loss(values[i], values[j], reduction=("none", "mean", "sum")[k % 3])),
            ("diff", lambda values: torch.diff(values[i], abs(k), append=values[i])),
            ("trapezoid", lambda values: torch.trapezoid(values[i], dx=0.5) + torch.trapezoid(values[i], values[j])),
            ("cumulative_trapezoid", lambda values: torch.cumulative_trapezoid(values[i], dx=0.5)),
            ("cross", lambda values: torch.cross(triple(values[i]), skewed(values[j]), -1)),
            ("linalg_cross", lambda values: torch.linalg.cross(triple(values[i]), skewed(values[j]))),
            ("addcdiv", lambda values: torch.addcdiv(values[i], values[j], values[j].exp(), value=-2)),
            ("bilinear", lambda values: F.bilinear(values[i], values[i], weight(values[j], values[i].shape[-1]))),
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
            ("group_norm", lambda values: F.group_norm(image(values), 1, eps=0.25)),
            ("instance_norm", lambda values: F.instance_norm(image(values), eps=0.25)),
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
    way = chance.randrange(11)
    if way == 10:
        return _of_tables(chance, i, j)
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
