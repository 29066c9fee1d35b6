# SPDX-License-Identifier: MIT
"""Which extremes, differences and verdicts about a network are wrong, according to rational arithmetic?

Each judge takes a network and a domain and yields the errors that it finds. All values are taken at corners of regions
of `regions.reference`, where the outputs are affine.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import regions
from exact_passes import exact_outputs
from regions import Domain, Network, reference
from regions.answers.unsafe_sets import as_polytopes, is_unsafe, owners, slacks
from regions.domains.membership import contains
from regions.errors import NonFiniteError
from regions.networks.graph import Graph
from regions.networks.network import with_graph
from regions.networks.parts import side_by_side, signing

__all__ = ["JUDGES"]


def _corner_values(network: Network, graph: Graph, domain: Domain) -> list[list[Fraction]]:
    """The outputs of a graph at all corners of its regions, from the reference's forms."""
    values = []
    for part in reference.enumerate(with_graph(network, graph), domain):
        for vertex in part.vertices:
            assert vertex is not None
            forms = part.output
            values.append([form[0] + sum(a * x for a, x in zip(form[1:], vertex, strict=True)) for form in forms])
    return values


def _off(name: str, rounded: float, error: float, exact: Fraction) -> Iterator[str]:
    if np.isfinite(error) and not abs(Fraction(float(rounded)) - exact) <= Fraction(float(error)):
        yield f"{name} is {rounded}, {float(exact)} in fractions, and its error {error}"


def extreme_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield errors in the extremes of a network on a bounded domain."""
    if not domain.bounded:
        return
    found, values = regions.extremes(network, domain), _corner_values(network, network.graph, domain)
    for output, numbers in enumerate(zip(*values, strict=True)):
        least, greatest = min(numbers), max(numbers)
        if (found.exact_minimum[output], found.exact_maximum[output]) != (least, greatest):
            yield f"output {output} is from {float(least)} to {float(greatest)} in fractions"
        yield from _off(f"minimum {output}", found.minimum[output], found.minimum_errors[output], least)
        yield from _off(f"maximum {output}", found.maximum[output], found.maximum_errors[output], greatest)


def difference_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield errors in the comparison of a network with an equal one, or one that differs in one layer."""
    layers = network.graph.layers()
    if not domain.bounded or layers is None:
        return
    rng = np.random.default_rng([network.n_in, len(layers), network.kinks])
    changed = [(layer.weights.copy(), layer.biases.copy()) for layer in layers]
    changed[-1][1][0] += rng.choice([0.0, 0.125, 2.0**-40])
    changed[0][0][0] *= rng.choice([0.0, 1.0, -1.0])
    other = Network(changed, activation=[layer.activation for layer in layers[:-1]] or "relu")
    found = regions.compare(network, other, domain)
    one = np.eye(network.n_out)
    values = _corner_values(network, side_by_side(network.graph, other.graph, one, -one), domain)
    for output, numbers in enumerate(zip(*values, strict=True)):
        yield from _off(
            f"difference {output}", found.max_difference[output], found.errors[output], max(map(abs, numbers))
        )
    equal = not any(value for corner in values for value in corner)
    if found.equal != equal:
        yield f"equal is {found.equal}, {equal} in fractions"


def verdict_findings(network: Network, domain: Domain) -> Iterator[str]:
    """Yield errors in the verdict on a property whose bounds some corners attain exactly."""
    if not domain.bounded:
        return
    rng = np.random.default_rng([network.n_in, network.n_out, network.kinks])
    part = regions.enumerate(network, domain)
    try:
        values = network(domain.to_input(part.vertices).reshape(-1, *network.input_shape)).reshape(-1, network.n_out)
    except NonFiniteError:
        return
    unsafe = []
    for _ in range(int(rng.integers(1, 3))):
        rows = rng.integers(-1, 2, (int(rng.integers(1, 3)), network.n_out)).astype(float)
        unsafe.append((rows, rows @ values[rng.integers(len(values))]))
    found = regions.verify(network, domain, unsafe)
    polytopes = as_polytopes(unsafe, network.n_in, network.n_out)
    graph, rows_of = slacks(network.graph, polytopes), owners(polytopes)
    violated, share, total = False, Fraction(0), Fraction(0)
    for region in reference.enumerate(with_graph(network, signing(graph)), domain):
        at = [exact_outputs(graph, domain, vertex) for vertex in region.vertices if vertex is not None]
        violated |= any(is_unsafe(slack, rows_of) for slack in at)
        assert region.volume is not None
        total += region.volume
        if any(all(slack[i] >= 0 for slack in at for i in own.numbers.tolist()) for own in rows_of):
            share += region.volume
    if found.holds == violated:
        yield f"the property {'holds' if found.holds else 'is violated'}, not so in fractions"
    yield from _off("the share", found.violated_share, found.errors, share / total)
    if found.witness is not None and not is_unsafe(exact_outputs(graph, domain, found.witness.point), rows_of):
        yield "the witness is safe in fractions"
    if found.witness is not None and not contains(domain, found.witness.point):
        yield "the witness is outside of the domain"
    if (found.margin > 0) != found.holds:
        yield f"the margin is {found.margin}"


JUDGES = {"extremes": extreme_findings, "differences": difference_findings, "verdicts": verdict_findings}
