# SPDX-License-Identifier: MIT
"""Is the bound on a convolution's norm valid, and tight?"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from regions.ground.arithmetic.spectral_norm import spectral_norm_bound
from regions.networks.lattice import Lattice, norm_on_lattice
from regions.networks.patches import Patches
from regions.read.graphs.builder import GraphBuilder

KINDS = ("normal", "positive", "equal", "graded", "sparse")


def kernel_of(kind, shape, rng):
    kernel = rng.normal(size=shape)
    if kind == "positive":
        return np.abs(kernel)
    if kind == "equal":
        return np.ones(shape)
    if kind == "graded":
        return kernel * 10.0 ** rng.integers(-8, 8, shape)
    if kind == "sparse":
        return np.where(rng.random(shape) < 0.7, 0.0, kernel) * 2.0 ** float(rng.integers(-900, 900))
    return kernel


def drawn(rng, kind):
    axes, groups = int(rng.integers(1, 4)), int(rng.choice([1, 1, 2]))
    shape = (groups * int(rng.integers(1, 4)), int(rng.integers(1, 4)), *rng.integers(1, 5 if axes < 3 else 3, axes))
    lengths = (groups * shape[1], *(int(each) for each in rng.integers(5, (40, 9, 6)[axes - 1], axes)))
    stride, dilation = rng.integers(1, 4, axes).tolist(), rng.integers(1, 3 if axes < 3 else 2, axes).tolist()
    padding = [tuple(ends) for ends in rng.integers(2, 4, (axes, 2)).tolist()]
    return Patches.convolution(kernel_of(kind, shape, rng), lengths, stride, padding, dilation, groups)


def norm_of(operator):
    scale = np.abs(operator.weights).max()
    if not scale:
        return 0.0
    scaled = operator.weights / scale
    products = scaled @ scaled.T if len(scaled) < len(scaled.T) else scaled.T @ scaled
    (largest,) = eigh(products, eigvals_only=True, subset_by_index=[len(products) - 1] * 2)
    return float(np.sqrt(largest) * scale)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_is_at_least_the_norm(kind):
    rng = np.random.default_rng(KINDS.index(kind))
    for _ in range(24):
        operator = drawn(rng, kind)
        assert operator.norm_bound >= norm_of(operator) * (1 - 1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(("width", "bent"), [(2, 0.5), (3, 0.5), (5, 0.31)])
def test_the_largest_frequency_may_be_skipped(width, bent):
    # The bound is nearly the norm, because the lattice is long, and the largest norm lies between two of the 8 (width -
    # 1) frequencies.
    frequency = 2 * np.pi * (2 + bent) / (8 * (width - 1))
    turned = frequency * np.arange(width)
    kernel = np.stack([[np.cos(turned), -np.sin(turned)], [np.sin(turned), np.cos(turned)]])
    operator = Patches.convolution(kernel, (2, 400), [1], [(width, width)], [1])
    assert norm_of(operator) <= operator.norm_bound <= 1.02 / np.cos(np.pi / 16) * norm_of(operator)


@pytest.mark.parametrize(
    ("shape", "stride"), [((16, 16, 3, 3), 1), ((24, 12, 3, 3), 2), ((8, 8, 5, 5), 1), ((6, 6, 3), 1)]
)
def test_is_close_to_the_norm(shape, stride):
    rng = np.random.default_rng(5)
    axes = len(shape) - 2
    operator = Patches.convolution(
        rng.normal(size=shape), (shape[1], *[9] * axes), [stride] * axes, [(shape[2] // 2,) * 2] * axes, [1] * axes
    )
    norm = norm_of(operator)
    assert norm <= operator.norm_bound < 1.15 * norm
    assert Patches(*(getattr(operator, name) for name in FIELDS)).norm_bound > 1.3 * norm


FIELDS = ("inputs", "outputs", "kernels", "kinds", "sources", "targets")


def test_means_over_windows_beside_each_other_are_exact():
    operator = Patches.convolution(np.full((3, 1, 2, 2), 0.25), (3, 6, 6), [2, 2], [(0, 0)] * 2, [1, 1], 3)
    assert 0.5 <= operator.norm_bound < 0.5001


def test_a_wrong_lattice_is_not_trusted():
    rng = np.random.default_rng(7)
    believed = 0
    for _ in range(300):
        patches, terms, inputs = (int(each) for each in rng.integers(1, 6, 3))
        sources = rng.integers(-1, inputs, (patches, terms)).astype(np.int32)
        corners = rng.integers(-2, 4, (patches, 1)).astype(np.int32)
        offsets = rng.integers(0, 3, (terms, 2)).astype(np.int32)
        if rng.random() < 0.5:  # sources of lattice positions, with one wrong
            place = corners + offsets[:, 1] + 10 * offsets[:, 0]
            sources = np.where(place < 4, -1, place).astype(np.int32)
            sources[rng.integers(patches), rng.integers(terms)] = rng.integers(-1, 30)
        kernel = rng.normal(size=(2, terms))
        matrix = np.zeros((2 * patches, 31))
        for patch in range(patches):
            for term in range(terms):
                if sources[patch, term] >= 0:
                    matrix[2 * patch : 2 * patch + 2, sources[patch, term]] += kernel[:, term]
        bound = norm_on_lattice(kernel, sources, Lattice(corners, offsets))
        assert bound >= np.linalg.norm(matrix, 2) * (1 - 1e-13)
        believed += np.isfinite(bound)
    assert 30 < believed < 270


def test_two_patches_at_one_position_are_not_a_lattice():
    corners, offsets = np.zeros((2, 1), dtype=np.int32), np.zeros((1, 2), dtype=np.int32)
    sources = np.zeros((2, 1), dtype=np.int32)
    assert norm_on_lattice(np.ones((1, 1)), sources, Lattice(corners, offsets)) >= np.sqrt(2)


def test_the_lattice_stays_when_a_graph_is_built():
    rng = np.random.default_rng(8)
    builder = GraphBuilder()
    x = builder.input((2, 8, 8))
    operator = Patches.convolution(rng.normal(size=(4, 2, 3, 3)), (2, 8, 8), [1, 1], [(1, 1)] * 2, [1, 1])
    flipped = builder.rearranged(x, np.arange(128).reshape(2, 8, 8)[:, ::-1].transpose(0, 2, 1))
    graph, _ = builder.finished(builder.linear(flipped, operator, None, (4, 8, 8), "convolution"))
    assert graph.nodes[0].reads[0].operator.norm_bound == operator.norm_bound


def test_terms_that_read_one_input_are_not_a_convolution():
    # Each row adds up to 2^-60; in doubles, term by term, the sum would be 0.
    sources = np.array([[0, 0, 0], [1, 1, 1]], dtype=np.int32)
    lattice = Lattice(np.array([[0], [1]], dtype=np.int32), np.zeros((3, 2), dtype=np.int32))
    assert norm_on_lattice(np.array([[1.0, 2.0**-60, -1.0]]), sources, lattice) == np.inf


def test_kernels_with_too_many_frequencies_have_the_bound_of_their_size(monkeypatch):
    # On a torus of 30 by 30; of 128 by 128 entries, all frequencies would be 135 gigabytes.
    products = 30 * (30 // 2 + 1) * 162
    kernel = np.random.default_rng(1).standard_normal((2, 1, 9, 9))
    norms = []
    for most in (products - 1, products):
        monkeypatch.setattr("regions.networks.lattice.MOST_PRODUCTS", most)
        norms.append(Patches.convolution(kernel, (1, 30, 30), [1, 1], [(0, 0)] * 2, [1, 1]).norm_bound)
    assert norms[0] == pytest.approx(9 * spectral_norm_bound(kernel.reshape(2, -1)))  # an input that is read 81 times
    assert norms[1] < 0.5 * norms[0]
