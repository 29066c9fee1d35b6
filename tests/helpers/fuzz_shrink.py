# SPDX-License-Identifier: MIT
"""What is the smallest network and domain with the same failure?

Remove layers, units, input dimensions and corners, and replace long numbers by shorter ones, while `still_fails`
returns True, until nothing more can be removed. The method is greedy, so the result is small but not always the
smallest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from regions.domains import Domain
from regions.errors import RegionsError
from regions.networks.named_activations import Activation
from regions.networks.network import Network

Floats = NDArray[np.float64]
# Weights and biases by layer, activations of the hidden layers, the three arrays of the domain.
Parts = tuple[list[tuple[Floats, Floats]], list[Activation], list[Floats]]


def shrink(network: Network, domain: Domain, still_fails: Callable[[Network, Domain], bool]) -> tuple[Network, Domain]:
    """Return a smaller network and domain for which ``still_fails`` is True, as it is for the given ones."""
    parts: Parts = (
        [(layer.weights, layer.biases) for layer in network.layers],
        [layer.activation for layer in network.layers[:-1]],
        [domain.origin, domain.directions, domain.generators],
    )
    progress = True
    while progress:
        progress = False
        for step in (_without_layers, _without_units, _without_inputs, _without_corners, _shorter_numbers):
            found = True
            while found:
                found = False
                for candidate in step(parts):
                    if _fails(candidate, still_fails):
                        parts, found, progress = candidate, True, True
                        break
    return _built(parts)


def _built(parts: Parts) -> tuple[Network, Domain]:
    layers, activations, chart = parts
    return Network(layers, activations), Domain(*chart)


def _fails(parts: Parts, still_fails: Callable[[Network, Domain], bool]) -> bool:
    try:
        network, domain = _built(parts)
    except RegionsError:  # no longer a network or a domain
        return False
    return still_fails(network, domain)


def _without_layers(parts: Parts) -> Iterator[Parts]:
    layers, activations, chart = parts
    for last in range(1, len(layers) - 1):
        output = (np.ones((1, len(layers[last - 1][1]))), np.zeros(1))
        yield [*layers[:last], output], activations[:last], chart


def _without_units(parts: Parts) -> Iterator[Parts]:
    layers, activations, chart = parts
    for index, (weights, biases) in enumerate(layers[:-1]):
        after, after_biases = layers[index + 1]
        for unit in range(len(biases) if len(biases) > 1 else 0):
            fewer = list(layers)
            fewer[index] = (np.delete(weights, unit, 0), np.delete(biases, unit))
            fewer[index + 1] = (np.delete(after, unit, 1), after_biases)
            kept = list(activations)
            if kept[index].slopes.ndim == 2:
                slopes, intercepts = (np.delete(t, unit, 0) for t in (kept[index].slopes, kept[index].intercepts))
                kept[index] = Activation(kept[index].name, kept[index].breakpoints, slopes, intercepts)
            yield fewer, kept, chart


def _without_inputs(parts: Parts) -> Iterator[Parts]:
    layers, activations, (origin, directions, generators) = parts
    for index in range(len(origin) if len(origin) > 1 else 0):
        first = (np.delete(layers[0][0], index, 1), layers[0][1])
        chart = [np.delete(origin, index), np.delete(directions, index, 1), generators]
        yield [first, *layers[1:]], activations, chart


def _without_corners(parts: Parts) -> Iterator[Parts]:
    layers, activations, (origin, directions, generators) = parts
    for index in range(len(generators) if len(generators) > 3 else 0):
        yield layers, activations, [origin, directions, np.delete(generators, index, 0)]


def _shorter_numbers(parts: Parts) -> Iterator[Parts]:
    layers, activations, chart = parts
    for index, pair in enumerate(layers):
        for which in (0, 1):
            for array in _arrays_with_a_shorter_number(pair[which]):
                changed = list(layers)
                changed[index] = (array, pair[1]) if which == 0 else (pair[0], array)
                yield changed, activations, chart
    for which in range(3):
        for array in _arrays_with_a_shorter_number(chart[which]):
            if which < 2 or (array[:, 0] == chart[2][:, 0]).all():
                yield layers, activations, [*chart[:which], array, *chart[which + 1 :]]


def _arrays_with_a_shorter_number(array: Floats) -> Iterator[Floats]:
    for place in np.ndindex(array.shape):
        for number in _shorter(float(array[place])):
            changed = array.copy()
            changed[place] = number
            yield changed


def _shorter(number: float) -> list[float]:
    """Numbers that are simpler to read: 0, then 1 or -1, then with fewer bits of the mantissa."""
    if number == 0:
        return []
    if abs(number) == 1:
        return [0.0]
    mantissa, exponent = np.frexp(number)
    rounded = [float(np.ldexp(np.round(mantissa * 2.0**bits), exponent - bits)) for bits in (1, 2, 4, 8, 16, 32, 40)]
    simpler = [0.0, float(np.copysign(1.0, number)), *rounded]
    # Rounding may only ever shorten, or shrinking would not end.
    return [x for x in simpler if np.isfinite(x) and _length(x) < _length(number)]


def _length(number: float) -> int:
    """Return the bits of the odd part, and one more unless the exponent is 0."""
    if number == 0:
        return 0
    numerator, denominator = abs(number).as_integer_ratio()
    odd = numerator // (numerator & -numerator)
    return odd.bit_length() + (abs(number) != 1)
