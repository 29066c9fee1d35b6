# SPDX-License-Identifier: MIT
"""On which networks whose units have several kinks, or a kink that is not at 0, are segments and arcs tested?

`CLIPPED_FAMILIES`, like `FAMILIES` in `generators.py`, `clipped_arc_case` and `doubled_arc_case`. Many activations are
clipped: their slope is 0 on one side or on both, so that all outputs may be constant over a stretch. Others have any
slopes.
- ``clipped_generic``: few or many units, weights up to where nearly all units are saturated.
- ``clipped_lattice``: weights and kinks of few digits. A sum of saturated units is an integer, so it is exactly
  on a kink over a stretch, and kinks of several units coincide.
- ``clipped_aimed``: biases such that units are at one of their kinks, or nearly, at a point that several units share.
- ``clipped_deep``: 6 to 20 layers, 2 to 8 units wide.
- ``clipped_doubled``: these, or ReLU, up to 14 units wide, below a layer of slope 2^60. That slope makes errors large,
  so the layers below are computed in twice the working precision, which small networks hardly ever need. The ends of
  the segments have very different sizes, and units are as near to a kink as that precision can tell, or nearer.
- ``clipped_refined``: the same, with slopes of 2^115 to 2^180, so that layers below have three or four limbs.
"""

from __future__ import annotations

import numpy as np

from generator_parts import Family, Floats, Rng, any_domain, gaussian, network
from generators_arcs import arc_leg
from generators_deep import domain_of_few_regions
from regions.domains import Domain, Segment
from regions.domains.curves import ArcLeg
from regions.networks.named_activations import Activation, hard_tanh, leaky_relu, parse_activation
from regions.networks.network import Network

__all__ = ["CLIPPED_FAMILIES", "clipped_arc_case", "doubled_arc_case"]

SMALL = (-2.0, -1.0, -1.0, 0.0, 1.0, 1.0, 2.0, 0.5)


def hat(width: float) -> Activation:
    return Activation("hat", [-width, 0.0, width], [0.0, 1.0, -1.0, 0.0], [0.0, width, width, 0.0])


def with_offset(slope: float, kink: float) -> Activation:
    """Return a leaky activation with the kink anywhere; ``slope * kink`` is a double."""
    return Activation("offset", [kink], [slope, 1.0], [0.0, slope * kink - kink])


def by_unit(rng: Rng, units: int) -> Activation:
    """Return an activation clipped to an interval, with different slopes for each unit."""
    slopes = rng.choice([-1.0, 0.0, 0.5, 1.0, 2.0], (units, 3))
    first, second = slopes[:, 0] - slopes[:, 1], slopes[:, 1] - slopes[:, 2]
    return Activation("by unit", [-1.0, 2.0], slopes, np.stack([first, np.zeros(units), 2 * second], axis=1))


def an_activation(rng: Rng, units: int) -> Activation:
    kind = rng.integers(10)
    if kind < 4:
        return hard_tanh()
    if kind == 4:
        return hard_tanh(-float(rng.choice([0.25, 1.0])), float(rng.choice([0.5, 3.0])))
    if kind == 5:
        return parse_activation("relu6")
    if kind == 6:
        return hat(float(rng.choice([0.5, 1.0, 2.0])))
    if kind == 7:
        return with_offset(float(rng.choice([0.0, 0.25, -1.0, 3.0])), float(rng.choice([-1.0, 0.5, 1.0])))
    return by_unit(rng, units) if kind == 8 else leaky_relu(float(rng.choice([0.0, 0.3, -1.0])))


def activations(rng: Rng, widths: list[int]) -> list[str | Activation]:
    """Return one activation for all layers, or a different one for each."""
    if rng.random() < 0.5:
        return [hard_tanh() if rng.random() < 0.7 else hard_tanh(-1.0, 3.0)] * len(widths)
    return [an_activation(rng, units) for units in widths]


def clipped_generic(rng: Rng) -> Network:
    widths = [int(rng.integers(1, 8)) for _ in range(rng.integers(1, 5))]
    gain = float(rng.choice([1.0, 3.0, 10.0]))
    sizes = [int(rng.integers(2, 5)), *widths, 1]
    bias = float(rng.choice([0.0, 0.5, 2.0]))
    return network(
        rng,
        sizes,
        lambda rng, shape: gain * gaussian(rng, shape) / np.sqrt(shape[1]),
        lambda rng, shape: bias * gaussian(rng, shape),
        activations(rng, widths),
    )


def clipped_lattice(rng: Rng) -> Network:
    widths = [int(rng.integers(1, 6)) for _ in range(rng.integers(1, 5))]
    gain = float(rng.choice([1.0, 2.0, 8.0]))
    return network(
        rng,
        [int(rng.integers(2, 5)), *widths, 1],
        lambda rng, shape: gain * rng.choice(SMALL, shape),
        lambda rng, shape: rng.choice(SMALL, shape),
        activations(rng, widths),
    )


def clipped_aimed(rng: Rng) -> Network:
    """Kinks are near 0 or near (1, .., 1) / 2, where segments and arcs of `drawn` often pass."""
    widths = [int(rng.integers(1, 6)) for _ in range(rng.integers(1, 4))]
    kinds = activations(rng, widths)
    inputs = int(rng.integers(2, 4))
    points = np.stack([np.zeros(inputs), np.full(inputs, 0.5), 0.5 * gaussian(rng, (inputs,))])
    layers: list[tuple[Floats, Floats]] = []
    for units, kind in zip(widths, kinds, strict=True):
        weights = gaussian(rng, (units, points.shape[1]))
        at = points[rng.integers(len(points), size=units)]
        kink = kind.breakpoints[rng.integers(len(kind.breakpoints), size=units)]
        off = rng.choice([-1.0, 0.0, 1.0], units) * 2.0 ** -rng.integers(3, 56, units)
        biases = kink - (weights * at).sum(axis=1) + off
        layers.append((weights, biases))
        points = kind(points @ weights.T + biases)
    return Network([*layers, (np.ones((1, widths[-1])), np.zeros(1))], kinds)


def clipped_doubled(rng: Rng) -> Network:
    return _below_a_steep_layer(rng, 2.0**60)


def clipped_refined(rng: Rng) -> Network:
    return _below_a_steep_layer(rng, 2.0 ** float(rng.choice([115, 130, 165, 180])))


def _below_a_steep_layer(rng: Rng, steepness: float) -> Network:
    """The units are near a kink near the same points as in `clipped_aimed`."""
    widths = [int(rng.integers(1, 15)) for _ in range(rng.integers(1, 4))]
    kinds = ["relu"] * len(widths) if rng.random() < 0.3 else activations(rng, widths)
    inputs = int(rng.integers(2, 4))
    points = np.stack([np.zeros(inputs), np.full(inputs, 0.5), 0.5 * gaussian(rng, (inputs,))])
    layers: list[tuple[Floats, Floats]] = []
    for units, kind in zip(widths, map(parse_activation, kinds), strict=True):
        shape = units, points.shape[1]
        weights = (
            rng.choice(SMALL, shape)
            if rng.random() < 0.5
            else float(rng.choice([0.5, 1.0, 4.0])) * gaussian(rng, shape)
        )
        at = points[rng.integers(len(points), size=units)]
        kink = kind.breakpoints[rng.integers(len(kind.breakpoints), size=units)]
        off = rng.choice([-1.0, 0.0, 1.0], units) * 2.0 ** -rng.integers(1, 110, units)
        biases = kink - (weights * at).sum(axis=1) + off if rng.random() < 0.6 else gaussian(rng, (units,))
        layers.append((weights, biases))
        points = kind(points @ weights.T + biases)
    steep = Activation("steep", [0.0], [steepness, 1.0], [0.0, 0.0])
    layers.append((gaussian(rng, (2, widths[-1])), gaussian(rng, (2,))))
    return Network([*layers, (np.ones((1, 2)), np.zeros(1))], [*kinds, steep])


def clipped_deep(rng: Rng) -> Network:
    width, depth = int(rng.integers(2, 9)), int(rng.integers(6, 21))
    gain = float(rng.choice([1.5, 2.0, 2.8, 4.0]))
    kinds = activations(rng, [width] * depth)
    return network(
        rng,
        [2, *[width] * depth, 1],
        lambda rng, shape: gain * gaussian(rng, shape) / np.sqrt(shape[1]),
        lambda rng, shape: 0.1 * gaussian(rng, shape),
        kinds,
    )


def _family(draw: object, deep: bool = False) -> Family:
    def family(rng: Rng, dimension: int) -> tuple[Network, Domain]:
        net = draw(rng)  # type: ignore[operator]
        if deep:
            return net, domain_of_few_regions(rng, net, dimension)
        if dimension > 1 or rng.random() < 0.1:
            return net, any_domain(rng, dimension, net.n_in)
        ends = [np.zeros(net.n_in), np.full(net.n_in, 0.5), np.ones(net.n_in)]
        start = ends[rng.integers(3)] if rng.random() < 0.4 else rng.integers(-2, 3, net.n_in).astype(float)
        towards = gaussian(rng, (net.n_in,)) if rng.random() < 0.5 else rng.integers(-2, 3, net.n_in) + 0.5
        if draw in (clipped_doubled, clipped_refined):
            towards = towards * 2.0 ** float(rng.choice([-40, 0, 0, 20, 60]))
        return net, Segment(start - towards, start + towards * float(rng.choice([0.0, 1.0, 2.0])))

    return family


CLIPPED_FAMILIES: dict[str, Family] = {
    draw.__name__: _family(draw, draw is clipped_deep)
    for draw in (clipped_generic, clipped_lattice, clipped_aimed, clipped_deep, clipped_doubled, clipped_refined)
}


def clipped_arc_case(seed: int) -> tuple[Network, ArcLeg]:
    """Return a network of one of the first three kinds, and an arc in its input space."""
    rng = np.random.default_rng([13, seed])
    draw = (clipped_generic, clipped_lattice, clipped_aimed)[seed % 3]
    net = draw(rng)
    return net, arc_leg(rng, net.n_in)


def doubled_arc_case(seed: int) -> tuple[Network, ArcLeg]:
    """Return a network of ``clipped_doubled``, and an arc in its input space."""
    rng = np.random.default_rng([17, seed])
    net = clipped_doubled(rng)
    leg = arc_leg(rng, net.n_in)
    return net, ArcLeg(leg.origin, leg.directions * 2.0 ** rng.choice([-30, 0, 0, 0, 20, 50], (2, 1)), leg.ends)
