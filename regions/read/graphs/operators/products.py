# SPDX-License-Identifier: MIT
"""Which operators are sums of products of a tensor with a constant, along named axes?

Every axis has a label, as in the equations of ``einsum``. The result is an operator of patches: one kernel for each
position along the axes that both factors and the result have.
Source: the documentation of torch's and of ONNX's operators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from string import ascii_letters
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import UnsupportedLayerError
from regions.files.limits import MAX_AXES
from regions.ground.arithmetic.types import Floats
from regions.networks.dense import Dense
from regions.networks.patches import Patches
from regions.read.graphs.call import Call
from regions.read.graphs.moving import axes_of, axis_of, moved
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators.elementwise import added
from regions.read.graphs.site import Site

__all__ = [
    "add_along",
    "add_product",
    "einsum",
    "inner",
    "kronecker",
    "outer",
    "prefix_sums",
    "stacked_product",
    "tensordot",
]

Factor = Tensor | Floats
# Bytes of a number in lists of patches, and of copies of these lists.
LIST_BYTES = 24


def einsum(call: Call) -> Tensor:
    """Return the sum of products of an equation such as ``bi,oi->bo``."""
    given = call.given("tensors")
    factors = [_factor(call, each) for each in (given if isinstance(given, list) else [given])]
    labels, result = _equation(call, str(call.given("equation")), [len(each.shape) for each in factors])
    call.ignore("path")  # the order of the products, which torch stores if opt_einsum is installed
    return _contracted(call, list(zip(labels, factors, strict=True)), result)


def stacked_product(call: Call, first: str = "self", second: str = "other") -> Tensor:
    """Return the products of matrices, or of stacks of them, which are broadcast."""
    return _stacks(call, *(_factor(call, call.given(name)) for name in (first, second)))


def _stacks(call: Call, a: Factor, b: Factor) -> Tensor:
    axes = max(len(a.shape), len(b.shape)) - 2
    stack = ascii_letters[26 : 26 + axes]
    row, column = ("" if len(each.shape) == 1 else label for each, label in ((a, "i"), (b, "k")))
    labels = [stack[axes - max(len(each.shape) - 2, 0) :] for each in (a, b)]
    return _contracted(call, [(labels[0] + row + "j", a), (labels[1] + "j" + column, b)], stack + row + column)


def add_product(call: Call, word: str) -> Tensor:
    """Return ``beta * self + alpha * product``.

    The factors of the product are stacks of matrices (``baddbmm``; ``addbmm`` also adds the results), a matrix and a
    vector (``addmv``), or two vectors (``addr``).
    """
    names = {"baddbmm": ("batch1", "batch2"), "addbmm": ("batch1", "batch2"), "addmv": ("mat", "other")}
    first, second = (_factor(call, call.given(name)) for name in names.get(word, ("vec1", "other")))
    equation = {"baddbmm": "bij,bjk->bik", "addbmm": "bij,bjk->ik", "addmv": "ij,j->i", "addr": "i,j->ij"}[word]
    labels, result = _equation(call, equation, [len(first.shape), len(second.shape)])
    factors = call.number("beta", 1.0), call.number("alpha", 1.0)
    constant = _factor(call, call.given("self"))
    product = _contracted(call, list(zip(labels, (first, second), strict=True)), result)
    return added(call.at, constant, product, factors)


def outer(call: Call) -> Tensor:
    """Return all products of numbers of two vectors."""
    first, second = (_factor(call, call.given(name)) for name in ("self", "other"))
    if len(first.shape) != 1 or len(second.shape) != 1:
        raise call.at.refused(f"takes two vectors, and gets shapes {[list(first.shape), list(second.shape)]}")
    return _contracted(call, [("i", first), ("j", second)], "ij")


def inner(call: Call) -> Tensor:
    """Return the sums of products along the last axes."""
    first, second = (_factor(call, call.given(name)) for name in ("self", "other"))
    if not first.shape or not second.shape:
        raise call.at.refused("multiplies with a single number")
    before, behind = ascii_letters[: len(first.shape) - 1], ascii_letters[26 : 25 + len(second.shape)]
    return _contracted(call, [(before + "z", first), (behind + "z", second)], before + behind)


def tensordot(call: Call) -> Tensor:
    """Return the sum of products along pairs of axes."""
    first, second = (_factor(call, call.given(name)) for name in ("self", "other"))
    pairs = zip(
        axes_of(call.at, call.integers("dims_self"), len(first.shape)),
        axes_of(call.at, call.integers("dims_other"), len(second.shape)),
        strict=False,
    )
    labels = [list(ascii_letters[: len(first.shape)]), list(ascii_letters[26 : 26 + len(second.shape)])]
    for one, other in pairs:
        labels[1][other] = labels[0][one]
    result = [each for each in labels[0] if each not in labels[1]] + [
        each for each in labels[1] if each not in labels[0]
    ]
    return _contracted(call, [("".join(labels[0]), first), ("".join(labels[1]), second)], "".join(result))


def kronecker(call: Call) -> Tensor:
    """Return the Kronecker product."""
    first, second = (_factor(call, call.given(name)) for name in ("self", "other"))
    axes = max(len(first.shape), len(second.shape))
    lengths = [(1,) * (axes - len(each.shape)) + tuple(each.shape) for each in (first, second)]
    before, behind = ascii_letters[:axes], ascii_letters[26 : 26 + axes]
    wide = [_reshaped(call.at, each, to) for each, to in zip((first, second), lengths, strict=True)]
    labels = "".join(f"{one}{other}" for one, other in zip(before, behind, strict=True))
    product = _contracted(call, [(before, wide[0]), (behind, wide[1])], labels)
    shape = [one * other for one, other in zip(*lengths, strict=True)]
    return moved(call.at, product, lambda array: array.reshape(shape))


def prefix_sums(call: Call) -> Tensor:
    """Return the sums of the numbers up to each one along an axis; without itself if ``exclusive``, from the end on if
    ``reverse``.
    """
    x = call.tensor()
    if not x.shape:
        return x
    axis = axis_of(call.at, call.integer("dim"), len(x.shape))
    length = x.shape[axis]
    call.at.charge(0, 8 * length**2)
    matrix = np.tri(length, k=-1 if call.flag("exclusive") else 0)
    return _along(call, x, matrix.T if call.flag("reverse") else matrix, axis)


def add_along(call: Call) -> Tensor:
    """Return ``self`` plus ``alpha`` times numbers of ``source``, which are added at positions ``index`` of an axis."""
    x, source = (_factor(call, call.given(name)) for name in ("self", "source"))
    index, axis = call.given("index"), axis_of(call.at, call.integer("dim"), len(x.shape))
    if not isinstance(index, np.ndarray) or index.dtype.kind not in "iu" or index.ndim > 1:
        raise UnsupportedLayerError(f"{call.at.label} adds at places that are not a constant list of integers")
    places, length = index.reshape(-1).tolist(), x.shape[axis]
    if len(places) != source.shape[axis] or not all(0 <= place < length for place in places):
        raise call.at.refused(f"adds {source.shape[axis]} numbers at places {places[:20]} of {length}")
    call.at.charge(0, 8 * length * len(places))
    matrix = np.zeros((length, len(places)))
    matrix[places, np.arange(len(places))] = 1.0
    alpha = call.number("alpha", 1.0)
    if isinstance(source, Tensor):
        return added(call.at, x, _along(call, source, matrix, axis), (1.0, alpha))
    spread = np.moveaxis(np.tensordot(matrix, source, ([1], [axis])), 0, axis)
    return added(call.at, x, spread, (1.0, alpha))


def _along(call: Call, x: Tensor, matrix: Floats, axis: int) -> Tensor:
    """Apply a matrix [out, in] along an axis."""
    labels = ascii_letters[: len(x.shape)]
    result = labels[:axis] + "Z" + labels[axis + 1 :]
    return _contracted(call, [(labels, x), (f"Z{labels[axis]}", matrix)], result)


def _reshaped(at: Site, factor: Factor, shape: tuple[int, ...]) -> Factor:
    if isinstance(factor, Tensor):
        return moved(at, factor, lambda array: array.reshape(shape))
    return factor.reshape(shape)


def _factor(call: Call, value: Any) -> Factor:
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, np.ndarray):
        raise call.at.refused("has an argument that is not a tensor")
    return call.with_arguments(factor=value).constant("factor")


def _equation(call: Call, equation: str, axes: Sequence[int]) -> tuple[list[str], str]:
    """Return the labels of the axes of each factor and of the result; an ellipsis becomes labels of its own."""
    before, arrow, result = equation.replace(" ", "").partition("->")
    words = before.split(",")
    own = set(before) - set(",.")
    wrong = call.at.refused(f"has an equation {equation[:80]!r} that does not fit factors with {list(axes)} axes")
    if len(words) != len(axes) or not all(each in ascii_letters for each in own | set(result.replace(".", ""))):
        raise wrong
    spare = [each for each in reversed(ascii_letters) if each not in own]
    counts = [count - len(word.replace("...", "")) for word, count in zip(words, axes, strict=True)]
    most = max((count for word, count in zip(words, counts, strict=True) if "..." in word), default=0)
    if any(count < 0 or (count and "..." not in word) for word, count in zip(words, counts, strict=True)):
        raise wrong
    if most > min(len(spare), MAX_AXES):
        raise wrong
    dots = "".join(spare[:most])
    labels = [word.replace("...", dots[most - count :]) for word, count in zip(words, counts, strict=True)]
    if not arrow:
        together = "".join(words).replace(".", "")
        result = "..." * ("..." in before) + "".join(sorted(each for each in own if together.count(each) == 1))
    result = result.replace("...", dots)
    if "." in "".join(labels) + result or len(set(result)) != len(result) or not set(result) <= set("".join(labels)):
        raise wrong
    return labels, result


def _contracted(call: Call, factors: Sequence[tuple[str, Factor]], result: str) -> Tensor:
    """Return the sum of products of a tensor with constants, over all labels that the result does not have."""
    at, tensors = call.at, [each for each in factors if isinstance(each[1], Tensor)]
    if not tensors:
        raise UnsupportedLayerError(f"{at.label} multiplies constants in a way that is not handled")
    if len(tensors) > 1:
        raise multiplied_inputs(at)
    ((labels, x),) = tensors
    assert isinstance(x, Tensor)
    lengths: dict[str, int] = {}
    for word, factor in factors:
        for label, length in zip(word, factor.shape, strict=True):
            if lengths.setdefault(label, length) != length and 1 not in (lengths[label], length):
                raise at.refused(f"multiplies shapes {[list(each.shape) for _, each in factors]}, which do not fit")
            lengths[label] = max(lengths[label], length)
    constants = [(word, factor) for word, factor in factors if not isinstance(factor, Tensor)]
    labels, x = _without_ones(at, labels, x, lengths)
    kept = "".join(
        dict.fromkeys(label for word, _ in constants for label in word if label in labels or label in result)
    )
    constant = _product(at, constants, kept, lengths)
    batch = [label for label in kept if label in labels and label in result]
    summed = [label for label in kept if label in labels and label not in result]
    new = [label for label in kept if label not in labels]
    rows = [label for label in labels if label in result and label not in kept]
    alone = [label for label in labels if label not in result and label not in kept]
    sizes = [math.prod(lengths[label] for label in each) for each in (batch, rows, summed, alone, new)]
    batches, count, terms, repeats, outputs = sizes
    if not constants and not alone:
        return moved(at, x, lambda array: array.transpose([labels.index(label) for label in result]))
    at.charge(LIST_BYTES * batches * count * (terms * repeats + outputs), 16 * batches * outputs * terms * repeats)
    sources = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    sources = sources.transpose([labels.index(label) for label in (*batch, *rows, *summed, *alone)])
    sources = sources.reshape(batches * count, terms * repeats)
    kernels = constant.transpose([kept.index(label) for label in (*batch, *new, *summed)])
    kernels = np.repeat(kernels.reshape(batches, outputs, terms), repeats, axis=2)
    made = [*batch, *rows, *new]
    shape = [lengths[label] for label in made]
    targets = np.arange(batches * count * outputs, dtype=np.int32).reshape(batches * count, outputs)
    if len(sources) == 1 and terms * repeats == x.size:
        flat = kernels[0]
        weights = np.empty_like(flat)
        weights[:, sources[0]] = flat
        product = at.linear(x, Dense(weights), None, shape)
    else:
        kinds = np.repeat(np.arange(batches, dtype=np.int32), count)
        product = at.linear(x, Patches(x.size, targets.size, kernels, kinds, sources, targets), None, shape)
    order = [made.index(label) for label in result]
    return moved(at, product, lambda array: array.transpose(order))


def _without_ones(at: Site, labels: str, x: Tensor, lengths: dict[str, int]) -> tuple[str, Tensor]:
    """Return a tensor without labels that occur twice: its diagonals; axes of length 1 are repeated where others are
    longer.
    """
    shape = tuple(lengths[label] for label in labels)
    unique = "".join(dict.fromkeys(labels))
    if unique != labels:
        numbers = {label: number for number, label in enumerate(unique)}
        order = [numbers[label] for label in labels]
        x = moved(at, x, lambda array: np.einsum(array, order, list(range(len(unique)))))
    wide = tuple(lengths[label] for label in unique)
    if x.shape != wide:
        x = moved(at, x, lambda array: np.broadcast_to(array, wide), math.prod(shape))
    return unique, x


def _product(at: Site, constants: Sequence[tuple[str, Floats]], kept: str, lengths: dict[str, int]) -> Floats:
    """Return the product of constants, with the kept labels as axes."""
    if not constants:
        return np.ones(())
    every = list(dict.fromkeys("".join(word for word, _ in constants)))
    numbers = {label: number for number, label in enumerate(every)}
    at.reading.charge_products(math.prod(lengths[label] for label in every))
    arguments: list[Any] = []
    for word, factor in constants:
        shape = tuple(lengths[label] for label in word)
        arguments += [np.broadcast_to(factor, shape), [numbers[label] for label in word]]
    if len(constants) == 1 and len(kept) == len(every) == len(constants[0][0]):
        return np.asarray(np.einsum(*arguments, [numbers[label] for label in kept]))
    at.note("multiplies or adds constants, in float64; results are for the rounded numbers")
    with np.errstate(over="ignore", invalid="ignore"):
        result: NDArray[Any] = np.asarray(np.einsum(*arguments, [numbers[label] for label in kept]))
    if not np.isfinite(result).all():
        raise at.refused("multiplies constants beyond the largest double")
    return result


def multiplied_inputs(at: Site) -> UnsupportedLayerError:
    """Return the error for a product of two tensors of matrices."""
    return UnsupportedLayerError(
        f"{at.label} multiplies inputs by inputs, as attention does, so the network has no linear regions; only the "
        "part before it can be read"
    )
