# SPDX-License-Identifier: MIT
"""Is an operator of small blocks equal to the matrix that it represents?"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from math import isqrt

import numpy as np
import pytest

import regions
from regions.networks.dense import Dense
from regions.networks.described import layer_facts
from regions.networks.graph import Graph, Node, Read, Units
from regions.networks.lowering import PatchArrays, lowered
from regions.networks.named_activations import identity, relu
from regions.networks.patches import Patches
from regions.passes.modular import primes


def convolved(kernel, image, stride, padding, dilation, groups):
    """Return a convolution, written out entry by entry."""
    out, each, *window = kernel.shape
    padded = np.pad(image, [(0, 0), *padding])
    lengths = [
        (size - spread * (entries - 1) - 1) // step + 1
        for size, entries, step, spread in zip(padded.shape[1:], window, stride, dilation, strict=True)
    ]
    result = np.zeros((out, *lengths))
    for channel, *place in product(range(out), *map(range, lengths)):
        group = channel // (out // groups)
        for source, *entry in product(range(each), *map(range, window)):
            where = [s * p + d * e for s, p, d, e in zip(stride, place, dilation, entry, strict=True)]
            result[(channel, *place)] += kernel[(channel, source, *entry)] * padded[(group * each + source, *where)]
    return result


def cases(count):
    rng = np.random.default_rng(1)
    for number in range(count):
        dimension, groups = 1 + number % 3, int(rng.choice([1, 1, 2, 3]))
        kernel_shape = (groups * int(rng.integers(1, 4)), int(rng.integers(1, 3)), *rng.integers(1, 4, dimension))
        shape = (
            groups * kernel_shape[1],
            *(int(size) for size in rng.integers(5, 8 if dimension < 3 else 6, dimension)),
        )
        stride, dilation = rng.integers(1, 4, dimension).tolist(), rng.integers(1, 3, dimension).tolist()
        padding = [tuple(ends) for ends in rng.integers(0, 3, (dimension, 2)).tolist()]
        yield rng.integers(-9, 10, kernel_shape).astype(float), shape, stride, padding, dilation, groups


@pytest.mark.parametrize("case", list(cases(24)), ids=lambda case: "x".join(map(str, case[0].shape)))
def test_convolution(case):
    kernel, shape, stride, padding, dilation, groups = case
    operator = Patches.convolution(*case)
    images = np.random.default_rng(2).integers(-9, 10, (2, *shape)).astype(float)
    flat = images.reshape(2, -1)
    wanted = np.stack([convolved(kernel, image, stride, padding, dilation, groups).ravel() for image in images])
    assert (operator.apply(flat) == wanted).all()
    assert (operator.weights @ flat.T == wanted.T).all()
    asked = np.arange(2.0 * operator.outputs).reshape(2, -1)
    assert (operator.apply_transposed(asked) == asked @ operator.weights).all()
    for output in {0, operator.outputs // 2, operator.outputs - 1}:
        assert (operator.row(output) == operator.weights[output]).all()
    norm = np.linalg.norm(operator.weights, 2)
    assert norm <= operator.norm_bound * (1 + 1e-12)
    assert operator.frobenius == pytest.approx(np.linalg.norm(operator.weights), rel=1e-12)
    assert operator.multiply_adds >= np.count_nonzero(operator.weights)


def test_selection_leaves_zeros_where_nothing_is_chosen():
    operator = Patches.selection(4, np.array([[3, -1], [0, 0]]))
    assert operator.apply(np.arange(1.0, 5.0)).tolist() == [4.0, 0.0, 1.0, 1.0]
    assert operator.row(1).tolist() == [0.0] * 4
    assert np.sqrt(2) <= operator.norm_bound < 1.01 * np.sqrt(2)


def test_scale():
    operator = Patches.scale(np.array([2.0, -3.0, 2.0]))
    assert (operator.weights == np.diag([2.0, -3.0, 2.0])).all()
    assert len(operator.kernels) == 2


def test_integers_of_any_size():
    operator = Patches.selection(2, np.array([1, 0])).entrywise(lambda kernels: kernels.astype(object) * 2**100)
    assert operator.apply(np.array([1, 3], dtype=object)).tolist() == [3 * 2**100, 2**100]


def test_an_input_that_a_patch_reads_twice():
    single = np.array([[0, 0, 1]], dtype=np.int32)
    operator = Patches(2, 1, np.array([[[1.0, 2.0, 4.0]]]), np.zeros(1, np.int32), single, np.zeros((1, 1), np.int32))
    assert operator.weights.tolist() == [[3.0, 4.0]]
    assert operator.row(0).tolist() == [3.0, 4.0]
    assert operator.apply_transposed(np.ones(1)).tolist() == [3.0, 4.0]
    assert operator.norm_bound >= 5.0


def test_sums_after_padding_with_copies_are_as_long_as_patches() -> None:
    """Patches of a convolution stay on a lattice if its input is a map padded with copies, as here of 2 by 2 pixels."""
    around = np.pad(np.arange(4).reshape(2, 2), 2, mode="edge").ravel()
    whole = Patches.convolution(np.ones((1, 1, 5, 5)), (1, 6, 6), (1, 1), ((0, 0), (0, 0)), (1, 1))
    assert (whole.most_terms, whole.read_again) == (36, 0)
    padded = replace(whole, inputs=4, sources=around[whole.sources].astype(np.int32))
    assert padded.lattice is not None and padded.read_again == 21
    assert padded.most_terms == 25 * 5  # the square root of 22, rounded up


def test_sums_are_as_long_as_patches_that_read_an_input_many_times():
    again = Patches(1, 1, np.ones((1, 1, 40)), [0], np.zeros((1, 40), int), [[0]])
    assert again.most_terms == 40 * 7  # the square root of 40, rounded up
    once = Patches(50, 1, np.ones((1, 1, 40)), [0], np.arange(40)[np.newaxis], [[0]])
    assert once.most_terms == 50
    nodes = [
        Node(np.zeros(1), (Read(again, -1),), Units(1, relu()), slice(0, 1)),
        Node(np.zeros(1), (Read(Dense(np.eye(1)), 0),), Units(1, identity()), slice(1, 1)),
    ]
    graph = Graph(1, nodes)
    assert graph.nodes[0].terms == 281
    assert [facts.inputs for facts in layer_facts(graph)] == [1, 1]
    # Residues of sums of 40 products fit into a double: 280 (p / 2 + 2)^2 is below 2^53.
    assert max(islice(primes(graph), 1)) < 2 * isqrt(2**53 // 280)


def test_an_operator_that_reads_nothing():
    operator = Patches.selection(3, np.array([-1, -1]))
    assert operator.norm_bound == 0.0 and operator.frobenius == 0.0
    assert operator.apply(np.ones(3)).tolist() == [0.0, 0.0]


def short_rows(random, shape):
    """Return a matrix with at most four weights in each row; some rows are empty."""
    weights = np.zeros(shape)
    for row in weights:
        row[random.choice(shape[1], random.integers(5), replace=False)] = random.integers(1, 4)
    return weights


@pytest.mark.parametrize("times", [1, 4])
def test_a_large_matrix_with_few_weights_in_each_row(times):
    random = np.random.default_rng(times)
    weights = short_rows(random, (300 // times, 128))
    weights = weights[weights.any(axis=1)] if times > 1 else weights
    several = np.concatenate([weights * factor for factor in range(1, times + 1)])
    operator = Patches.of_short_rows(several)
    assert (operator.weights == several).all()
    assert operator.targets.shape[1] == (1 if times == 1 else operator.targets.size // len(operator.sources))


def test_rows_that_read_the_same_inputs_share_a_patch():
    weights = np.kron(np.eye(64), [[1.0, 1.0], [-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]])
    operator = Patches.of_short_rows(weights)
    assert operator.kernels.shape == (1, 4, 2) and operator.sources.shape == (64, 2)
    assert (operator.weights == weights).all()


@pytest.mark.parametrize(
    "weights",
    [np.zeros((200, 200)), np.ones((200, 200)), np.eye(200) + (np.arange(200) == 7)[:, np.newaxis]],
    ids=["zero", "full", "one long row"],
)
def test_other_matrices_stay_matrices(weights):
    assert Patches.of_short_rows(weights) is None


@pytest.mark.parametrize(("size", "kind"), [(100, np.ndarray), (200, PatchArrays)])
def test_the_core_gets_large_matrices_with_few_weights_as_patches(size, kind):
    network = regions.Network([(np.eye(size), None), (np.ones((1, size)), None)])
    ((_, operator),) = lowered(network.graph)[0].parts
    assert isinstance(operator, kind)
