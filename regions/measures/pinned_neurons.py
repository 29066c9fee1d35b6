# SPDX-License-Identifier: MIT
"""What is the integral of Hanin and Rolnick's Theorem 3, for one network, on a line or at a point?

Conditioned on everything else, the theorem integrates over the biases of the k neurons. The integrand is its value
once these biases *put the neurons on their breakpoints*. So each set of kinks is evaluated with its neurons' outputs
pinned to their values there, because whether later neurons are open depends on that. (With the biases as drawn, the sum
would be another number.) A pinned neuron counts as open, because it is open on one side. Later gradients may use either
of its two slopes, because the difference adds a multiple of one row of J to another.
For k = 1 no points are needed. On each piece of a line, in the network with the neuron pinned, z is affine and
the neuron is good or not throughout. The integral of |derivative of z| rho over the piece is the probability that the
bias is between two numbers. This also works for biases that vary so little that their density is a narrow ridge, on
which hardly any random point would fall.
Floating point is used throughout: exceptions have probability 0.
Cost: on a line, an enumeration for each kink; at a point, a forward pass with Jacobian for each set.
"""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np

from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.domains import Segment
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.measures.boundary import Boundary
from regions.networks.derived import with_constant_unit
from regions.networks.network import Network
from regions.networks.rounded import RoundedForms
from regions.networks.walk import Forward
from regions.passes.open_paths import bending_kinks, leading_to_outputs
from regions.theory.ensembles import Ensemble
from regions.theory.ensembles.laws import Continuous

# Most sets of kinks per point; if there are more, this many are drawn.
SETS = 4096


def expected_crossings(network: Network, random: Ensemble, start: Floats, end: Floats, boundary: Boundary) -> float:
    """Return the number of crossings of breakpoints between two points, averaged over each neuron's own bias, summed
    over neurons.

    Parameters
    ----------
    network : Network
        Its other biases are used as drawn.
    random : Ensemble
        Has the laws of biases, which have densities.
    start, end : float64 [n_in]
    boundary : "gradient" or "activation"
        Whether only good neurons count, and only breakpoints where the slope changes.
    """
    if (start == end).all():
        return 0.0
    segment, total, laws = Segment(start, end), 0.0, bias_laws(random)
    own, last = _pieces(network, segment), len(network.widths) - 1
    for kink in np.flatnonzero(bending_kinks(network.graph) | (boundary == "activation")).tolist():
        index, unit = int(network.kink_layers[kink]), int(network.kink_units[kink])
        breakpoint_, pinned, pieces = network.kink_values[kink], network, own
        if boundary == "gradient" and index < last:
            pinned = with_constant_unit(network, index, unit, breakpoint_)
            pieces = _pieces(pinned, segment)
        z = network.preactivations(pieces)[index][..., unit] - network.graph.kink_biases[kink]
        needed = np.sort(breakpoint_ - z, axis=1)
        probabilities = laws[index].probability(needed[:, 0], needed[:, 1])
        if boundary == "gradient":
            patterns = np.packbits(pinned.pattern(pieces.mean(axis=1)), axis=1, bitorder="little")
            probabilities[~leading_to_outputs(pinned.graph, patterns)[:, kink]] = 0.0
        total += float(probabilities.sum())
    return total


def bias_laws(random: Ensemble) -> list[Continuous]:
    """Return the laws of hidden layers' biases; the theorems require them to have densities."""
    laws = [law for law in random.bias_laws[:-1] if isinstance(law, Continuous)]
    if len(laws) < len(random.widths):
        raise ValueError("the theorems are about biases with densities: give the ensemble Gaussian or Uniform biases")
    return laws


def _pieces(network: Network, segment: Segment) -> Floats:
    """Return both ends of each region on a segment, in input space: float64 [R, 2, n_in]."""
    part = enumerate_regions(network, segment)
    return segment.to_input(part.vertices[part.cell_vertices.reshape(-1, 2)])


def integrand(
    network: Network,
    random: Ensemble,
    point: Floats,
    codimension: int,
    boundary: Boundary,
    rng: np.random.Generator,
) -> float:
    """Return the sum of ``|J| rho`` over sets of kinks at a point, or an unbiased sample of it.

    Parameters
    ----------
    network, random, boundary
        As for `expected_crossings`.
    point : float64 [n_in]
    codimension : int
        Number of kinks in a set.
    rng : numpy.random.Generator
        Draws sets, if there are too many.
    """
    sets, weight = _sets_of_kinks(network.kinks, codimension, rng)
    pinned = _pin(network, point, sets)
    gram = pinned.gradients @ pinned.gradients.transpose(0, 2, 1)
    # The determinant of dependent rows, as for two breakpoints of one neuron, is 0, or slightly below by rounding.
    terms = np.sqrt(np.maximum(np.linalg.det(gram), 0.0))
    for layer, law in enumerate(bias_laws(random)):
        terms *= np.where(network.kink_layers[sets] == layer, law.density(pinned.biases), 1.0).prod(axis=1)
    if boundary == "gradient":
        terms[~(pinned.good & bending_kinks(network.graph)[sets]).all(axis=1)] = 0.0
    return float(weight * terms.sum())


def _sets_of_kinks(kinks: int, size: int, rng: np.random.Generator) -> tuple[Integers, float]:
    """Return all sets of kinks of a size, ascending, int64 [m, size], or random ones; and the weight of each."""
    total = comb(kinks, size)
    if total <= SETS:
        return np.array(list(combinations(range(kinks), size)), dtype=np.int64).reshape(total, size), 1.0
    drawn = np.zeros((0, size), dtype=np.int64)
    while len(drawn) < SETS:
        more = np.sort(rng.integers(kinks, size=(SETS, size)), axis=1)
        drawn = np.concatenate([drawn, more[(np.diff(more, axis=1) > 0).all(axis=1)]])
    return drawn[:SETS], total / SETS


class _Pinned(NamedTuple):
    """Sets of k kinks, [m, k], at a point where each neuron is on its breakpoint."""

    biases: Floats  # [m, k]: the biases that put it there
    gradients: Floats  # [m, k, n_in] of the pre-activations
    good: Bits  # [m, k]: whether a path of open neurons leads to the output


def _pin(network: Network, point: Floats, sets: Integers) -> _Pinned:
    graph, (m, k), n_in = network.graph, sets.shape, network.n_in
    biases, gradients = np.zeros((m, k)), np.zeros((m, k, n_in))
    above = np.zeros((m, graph.kinks), dtype=bool)
    columns = np.broadcast_to(np.vstack([np.eye(n_in), point]), (m, n_in + 1, n_in))
    walk = Forward(graph, RoundedForms(), columns)
    for number, node in enumerate(graph.hidden):
        forms = walk.preactivations(node)
        row, column = np.nonzero(graph.kink_nodes[sets] == number)
        kink = sets[row, column]
        unit, breakpoint_ = graph.kink_units[kink], graph.kink_values[kink]
        biases[row, column] = breakpoint_ - (forms[row, -1, unit] - graph.kink_biases[kink])
        gradients[row, column] = forms[row, :-1, unit]
        forms[row, -1, unit] = breakpoint_
        above[:, node.kinks] = node.units.bits_at(forms[:, -1])
        pieces = node.units.pieces_of(above[:, node.kinks])
        walk.leave(node, forms, pieces)
        # For the paths, a neuron is on the side of its breakpoint on which it is open.
        above[row, kink] = node.units.on_pieces(pieces)[0][row, unit] == 0.0
    good = leading_to_outputs(graph, np.packbits(above, axis=1, bitorder="little"))
    return _Pinned(biases, gradients, np.take_along_axis(good, sets, axis=1))
