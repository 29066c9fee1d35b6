# SPDX-License-Identifier: MIT
"""Are lengths of images within their stated errors of the exact lengths, in deep networks?

The exact program walks along the segment in integers: on each piece every neuron is a form a + b t with integer a and
b, scaled by a power of two, and the pieces end at rational t. Only the root at the end is rounded, after 200 binary
places.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import isqrt

import numpy as np
import pytest

import regions

# Weights are multiples of 2^-PLACES, so that a layer of integers gives integers with this many more places.
PLACES, ROOT = 12, 200
Form = tuple[int, int]


def drawn(rng: np.random.Generator, depth: int) -> tuple[regions.Network, regions.Segment]:
    sizes = [int(rng.integers(2, 5)), *rng.integers(5, 8, depth).tolist(), 2]
    layers = []
    for before, after in zip(sizes, sizes[1:], strict=False):
        weights = rng.normal(0, (2.4 / before) ** 0.5, (after, before))
        layers.append(tuple(np.rint(part * 2.0**PLACES) / 2.0**PLACES for part in (weights, rng.normal(0, 0.3, after))))
    ends = np.rint(rng.normal(0, 1, (2, sizes[0])) * 2.0**8) / 2.0**8
    return regions.Network(layers), regions.Segment(*ends)


def exact_lengths(net: regions.Network, segment: regions.Segment) -> list[Fraction]:
    """Return lengths of the segment, of its image after each hidden layer and in output space, to 2^-ROOT of each
    piece.
    """
    starts, steps = (np.rint(part * 2.0**PLACES).astype(object) for part in (segment.origin, segment.directions[0]))
    pieces = [(Fraction(0), Fraction(1), list(zip(map(int, starts), map(int, steps), strict=True)))]
    scale, lengths = PLACES, [_length(pieces, PLACES)]
    for number, layer in enumerate(net.layers):
        weights = [[int(weight * 2.0**PLACES) for weight in row] for row in layer.weights.tolist()]
        biases = [int(bias * 2.0**PLACES) << scale for bias in layer.biases.tolist()]
        scale += PLACES
        pieces = [(start, end, _affine(weights, biases, forms)) for start, end, forms in pieces]
        if number < len(net.layers) - 1:
            pieces = [part for piece in pieces for part in _bent(*piece)]
        lengths.append(_length(pieces, scale))
    return lengths


def _affine(weights: list[list[int]], biases: list[int], forms: list[Form]) -> list[Form]:
    results = []
    for row, bias in zip(weights, biases, strict=True):
        terms = list(zip(row, forms, strict=True))
        results.append((bias + sum(w * a for w, (a, _) in terms), sum(w * b for w, (_, b) in terms)))
    return results


def _bent(start: Fraction, end: Fraction, forms: list[Form]) -> list[tuple[Fraction, Fraction, list[Form]]]:
    """Return a piece, cut where a neuron is 0, with the ReLU of each neuron there."""
    roots = {Fraction(-a, b) for a, b in forms if b}
    parts = []
    for low, high in pairwise(sorted({start, end, *(root for root in roots if start < root < end)})):
        middle = (low + high) / 2
        parts.append((low, high, [(a, b) if a + b * middle > 0 else (0, 0) for a, b in forms]))
    return parts


def _length(pieces: list[tuple[Fraction, Fraction, list[Form]]], scale: int) -> Fraction:
    speeds = (isqrt(sum(b * b for _, b in forms) << 2 * ROOT) for _, _, forms in pieces)
    total = sum((end - start) * speed for (start, end, _), speed in zip(pieces, speeds, strict=True))
    return Fraction(total, 1 << scale + ROOT)


@pytest.mark.slow
@pytest.mark.parametrize("depth", [20, 30, 40, 50, 60])
def test_stated_errors_hold_in_deep_networks(depth: int) -> None:
    rng = np.random.default_rng(depth)
    alive = 0
    for _ in range(10):
        net, segment = drawn(rng, depth)
        found = regions.trajectory(net, segment)
        exact = exact_lengths(net, segment)
        assert len(exact) == len(found.lengths) == depth + 2
        for layer, (length, error, true) in enumerate(zip(found.lengths, found.length_errors, exact, strict=True)):
            assert abs(Fraction(length) - true) <= Fraction(error), layer
            # Bounds grow with the product of the layers' magnitudes, so only bounds of few layers are sharp.
            assert layer > 5 or error <= 1e-9 * length + 1e-290, layer
        alive += found.lengths[-1] > 0.0 and found.pieces[-1] > 1
    assert alive >= 4  # otherwise little was tested, because many deep networks are constant
