# SPDX-License-Identifier: MIT
"""How many regions can a convolutional layer have?

One layer of d filters at P positions is an arrangement of P d hyperplanes, but the hyperplanes of one position only
involve the inputs in its receptive field. In general position, t_p hyperplanes at each position p meet iff for every
set J of positions the sum of their t_p is at most the number of inputs that their fields cover together. The number of
regions is therefore the sum over such t of the product of ``C(d, t_p)``.
By Hall's theorem such a t is a matching: each hyperplane takes an input of its field for itself. Along one axis the
fields are intervals, and giving each position in turn the first free inputs is always best. The state after some
positions is then only the first free input, and the sum is computed quickly (`_along_a_line`). In a plane all t are
tried, up to a limit.

In a plane the sum is a bound that need not be reached, because filters at several positions are never in general
position. Two filters a and b on one channel satisfy ``sum of b_ij * (a moved by ij) = sum of a_ij * (b moved by ij)``,
both being the product of a and b as polynomials. So the 2 k**2 normals at k x k positions are dependent, although they
see (2 k - 1)**2 inputs. Along one axis such a relation involves more normals than inputs, and the condition on t
excludes it anyway. Padding is not supported. Integers are exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from regions.errors import BoundDoesNotApply
from regions.ground.arithmetic.arguments import integer, integers, tuple_of
from regions.theory.bounds.binomials import binomial_row, weighted_sum
from regions.theory.bounds.bound_arguments import one_each, per_layer

# With more vectors t than this, they are not tried one by one.
_MOST_TERMS = 200_000

Sizes = int | Sequence[int]


class _Layer(NamedTuple):
    channels: int  # of its input
    filters: int
    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    positions: tuple[int, ...]

    @property
    def units(self) -> int:
        return self.filters * prod(self.positions)


def xiong_cnn(input_shape: Sequence[int], filters: int, kernel: Sizes, stride: Sizes = 1) -> int:
    """Return an upper bound on the number of regions of one convolutional ReLU layer.

    Almost all weights and biases reach it if the positions move along one axis, or fields do not overlap, or there are
    at most as many filters as channels. Otherwise it can be too large. The paper says that almost all weights always
    reach it, but two filters of 2 x 2 on one channel of 3 x 3 make 255 regions, while the formula gives 256.

    Parameters
    ----------
    input_shape : sequence of int
        Channels, then the size along each axis: ``(1, 28, 28)``.
    filters : int
    kernel, stride : int, or sequence of one int for each axis

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        The kernel is larger than the input; or the positions form a plane, their fields overlap, and the sum has too
        many terms to be computed.

    References
    ----------
    Xiong, Huang, Yu, Liu, Zhu, Shao, On the number of linear regions of convolutional neural networks, 2020, the
    theorem on one layer.

    Examples
    --------
    >>> xiong_cnn((1, 4), filters=3, kernel=2, stride=1)
    217
    >>> xiong_cnn((1, 4, 4), filters=5, kernel=2, stride=2)
    923521
    """
    return _one_layer(_convolution(_input_of(input_shape), (filters, kernel, stride), ""))


def xiong_cnn_upper(input_shape: Sequence[int], layers: Iterable[tuple[int, Sizes, Sizes]]) -> int:
    """Return the regions of the first layer, times ``r(all units of layer l, all inputs)`` for each further layer.

    Parameters
    ----------
    input_shape : sequence of int
        As for `xiong_cnn`.
    layers : sequence of (filters, kernel, stride)

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        As for `xiong_cnn`.

    References
    ----------
    Xiong et al. 2020, the theorem on several layers.

    Examples
    --------
    >>> xiong_cnn_upper((1, 4), [(3, 2, 1), (2, 2, 1)])
    3472
    """
    first, *others = _chain(input_shape, layers)
    inputs = prod(_input_of(input_shape))
    return _one_layer(first) * prod(weighted_sum(layer.units, inputs) for layer in others)


def xiong_cnn_lower(input_shape: Sequence[int], layers: Iterable[tuple[int, Sizes, Sizes]]) -> int:
    """Return the regions of the last layer on ``d_0`` channels, times ``floor(d_l / d_0)**(positions_l d_0)`` before.

    Some network of this shape has that many; every layer needs at least as many filters ``d_l`` as the input has
    channels ``d_0``.

    Parameters
    ----------
    input_shape, layers
        As for `xiong_cnn_upper`.

    Returns
    -------
    int

    Raises
    ------
    BoundDoesNotApply
        A layer with fewer filters than input channels; a last layer that is not known to reach `xiong_cnn`; otherwise
        as for `xiong_cnn`.

    References
    ----------
    Xiong et al. 2020, the theorem on several layers.

    Examples
    --------
    >>> xiong_cnn_lower((1, 4), [(3, 2, 1), (2, 2, 1)])
    405
    """
    chain = _chain(input_shape, layers)
    channels = chain[0].channels
    for i, layer in enumerate(chain):
        if layer.filters < channels:
            raise BoundDoesNotApply(
                f"the lower bound of Xiong et al. 2020 needs at least {channels} filters, one per input channel; "
                f"layers[{i}] has {layer.filters}"
            )
    folds: int = prod((layer.filters // channels) ** (prod(layer.positions) * channels) for layer in chain[:-1])
    last = chain[-1]._replace(channels=channels)
    if not _is_simple(last):
        raise BoundDoesNotApply(
            "the lower bound of Xiong et al. 2020 takes the largest number of regions of one layer, which is not known "
            "for overlapping fields in a plane with more filters than channels"
        )
    return folds * _one_layer(last)


def _chain(input_shape: Sequence[int], layers: Iterable[tuple[int, Sizes, Sizes]]) -> list[_Layer]:
    result, sizes = [], _input_of(input_shape)
    for i, given in enumerate(tuple_of(layers, "layers")):
        layer = _convolution(
            sizes, one_each(given, 3, f"layers[{i}]", "numbers filters, kernel, stride"), f"layers[{i}]: "
        )
        result.append(layer)
        sizes = (layer.filters, *layer.positions)
    return result


def _input_of(input_shape: Sequence[int]) -> tuple[int, ...]:
    sizes = integers(input_shape, "input_shape")
    if len(sizes) < 2:
        raise ValueError(f"input_shape must be channels, then at least one size, got {list(sizes)}")
    return sizes


def _convolution(sizes: tuple[int, ...], given: tuple[object, ...], name: str) -> _Layer:
    channels, *axes = sizes
    filters, kernel, stride = given
    kernels = per_layer(kernel, axes, f"{name}kernel", noun="axes")
    strides = per_layer(stride, axes, f"{name}stride", noun="axes")
    for size, k in zip(axes, kernels, strict=True):
        if k > size:
            raise BoundDoesNotApply(f"{name}the kernel {list(kernels)} does not fit into an input of size {axes}")
    positions = tuple((size - k) // s + 1 for size, k, s in zip(axes, kernels, strides, strict=True))
    return _Layer(channels, integer(filters, f"{name}filters"), kernels, strides, positions)


def _one_layer(layer: _Layer) -> int:
    if layer.filters <= layer.channels:  # each filter may have a channel for itself
        return 1 << layer.units
    field = layer.channels * prod(layer.kernel)
    if not _overlaps(layer):
        return int(weighted_sum(layer.filters, field) ** prod(layer.positions))
    if len(_moving(layer)) == 1:
        (axis,) = _moving(layer)
        step = field // layer.kernel[axis] * layer.stride[axis]
        return _along_a_line(layer.filters, field, step, layer.positions[axis])
    return _by_trying(layer)


def _is_simple(layer: _Layer) -> bool:
    """Return whether almost all weights reach the value of `_one_layer`."""
    return layer.filters <= layer.channels or not _overlaps(layer) or len(_moving(layer)) == 1


def _moving(layer: _Layer) -> list[int]:
    """Return the axes along which there is more than one position."""
    return [axis for axis, count in enumerate(layer.positions) if count > 1]


def _overlaps(layer: _Layer) -> bool:
    """Return whether some input is read at several positions."""
    return any(layer.stride[axis] < layer.kernel[axis] for axis in _moving(layer))


def _along_a_line(filters: int, field: int, step: int, positions: int) -> int:
    """Return the sum for positions along a line; position i reads the inputs ``i * step`` to ``i * step + field``.

    ``sums[f]`` is the sum over the positions so far with f inputs of the next field already taken.
    """
    row = binomial_row(filters, min(filters, field))
    sums = [1] + [0] * field
    for _ in range(positions):
        after = [0] * (field + 1)
        for taken, value in enumerate(sums):
            if value:
                for t in range(min(len(row), field - taken + 1)):
                    after[max(taken + t - step, 0)] += value * row[t]
        sums = after
    return sum(sums)


def _by_trying(layer: _Layer) -> int:
    """Return the sum by depth-first search over the positions, with a matching of hyperplanes to inputs."""
    fields = _fields(layer)
    terms = prod(min(layer.filters, len(field)) + 1 for field in fields)
    if terms > _MOST_TERMS:
        raise BoundDoesNotApply(
            f"the sum over {len(fields)} overlapping positions with {layer.filters} filters has up to {terms} terms, "
            f"more than {_MOST_TERMS}; zaslavsky(number of inputs, {layer.units}) is an upper bound"
        )
    binomials = binomial_row(layer.filters, layer.filters)
    owner: dict[int, int] = {}  # input -> the position that took it

    def total(position: int) -> int:
        if position == len(fields):
            return 1
        result, before = 0, dict(owner)
        for t in range(layer.filters + 1):
            result += binomials[t] * total(position + 1)
            # total() restores owner, so one more hyperplane of this position is one more augmenting path.
            if not _augment(position, fields, owner, set()):
                break
        owner.clear()
        owner.update(before)
        return result

    return total(0)


def _augment(position: int, fields: Sequence[Sequence[int]], owner: dict[int, int], seen: set[int]) -> bool:
    """Give the position one more input, if necessary by moving others to other inputs of their fields."""
    for entry in fields[position]:
        if entry not in seen:
            seen.add(entry)
            if entry not in owner or _augment(owner[entry], fields, owner, seen):
                owner[entry] = position
                return True
    return False


def _fields(layer: _Layer) -> list[list[int]]:
    """Return the indices of the inputs that each position reads, channel by channel."""
    sizes = [(p - 1) * s + k for p, s, k in zip(layer.positions, layer.stride, layer.kernel, strict=True)]
    fields = []
    for position in product(*map(range, layer.positions)):
        field = []
        for offset in product(range(layer.channels), *map(range, layer.kernel)):
            number = offset[0]
            for axis, size in enumerate(sizes):
                number = number * size + position[axis] * layer.stride[axis] + offset[axis + 1]
            field.append(number)
        fields.append(field)
    return fields
