# SPDX-License-Identifier: MIT
"""Do the bounds on means over random networks hold?

Each row compares a bound of `regions.bounds` with a mean of exact counts or lengths over a thousand networks, to which
the theorem applies. Constants are valid ones: with He's weights, gradients of pre-activations have a mean square of 2,
so c_grad = sqrt(2) for up to two neurons (Cauchy-Schwarz), and c_bias is the largest density of a bias. The distance
theorem only says that a constant exists. A strip of half-width e around at most c N boundary per volume, and discs
around vertices, give 1/4 on lines and 1/5 in planes. The last column is the distance from the bound, on its right side,
in standard errors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import inf, pi, sqrt

import numpy as np
from common import half_interval, keep, new_figure, read_options

import regions
from regions import bounds
from regions.ensembles import Discrete, Ensemble, Gaussian, Uniform, raghu2017
from regions.measures import Estimate, Hyperrectangle, distance_to_boundary, mean_boundary_density

SMALL = {"networks": 30}
BIAS = 0.5
C_GRAD, C_BIAS = sqrt(2.0), 1.0 / (BIAS * sqrt(2.0 * pi))
WIDTHS = [(8,), (6, 6), (8, 4, 4)]
SQUARE = regions.Rectangle([-1.0, -1.0], [2.0, 0.0], [0.0, 2.0])
CIRCLE = regions.Circle([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])


def he(n_in: int, widths: tuple[int, ...]) -> Ensemble:
    return Ensemble([n_in, *widths, 1], biases=Gaussian(BIAS))


def main(words: list[str] | None = None) -> list[str]:
    options = read_options(words, __doc__, SMALL, networks=1000)
    rows: list[list[object]] = []

    def add(name: str, shape: str, bound: float, samples: np.ndarray, upper: bool) -> None:
        found = Estimate(np.asarray(samples, dtype=float))
        off = (float(bound) - found.value) * (1 if upper else -1)
        inside = off / found.standard_error if found.standard_error else inf
        half = half_interval(found.samples)
        rows.append([name, shape, "at most" if upper else "at least", float(bound), found.value, half, inside])

    def drawn(random: Ensemble, measure: Callable[[regions.Network], float], key: int) -> np.ndarray:
        rng = np.random.default_rng([options.seed, key])
        return np.array([measure(random.draw(rng)) for _ in range(options.networks)])

    for key, widths in enumerate(WIDTHS):
        name = "-".join(map(str, widths))
        counts = drawn(he(2, widths), lambda net: float(regions.count(net, SQUARE)), key)
        bound = bounds.hanin_rolnick_expected(2, widths, c_grad=C_GRAD, c_bias=C_BIAS, volume=4)
        add("hanin_rolnick_expected", f"2-{name}", bound, counts, True)
        crossed = drawn(he(3, widths), lambda net: regions.count(net, CIRCLE) / (2.0 * pi), 10 + key)
        bound = bounds.tiwari_konidaris_volume(1, widths, c_grad=C_GRAD, c_bias=C_BIAS, c_manifold=1)
        add("tiwari_konidaris_volume", f"3-{name}, circle", bound, crossed, True)
        for d, k in ((1, 1), (2, 1), (2, 2)):
            box, rng = Hyperrectangle(-np.ones(d), np.ones(d)), np.random.default_rng([options.seed, 20 + key, d, k])
            found = mean_boundary_density(he(d, widths), box, networks=options.networks, rng=rng, codimension=k)
            bound = bounds.hanin_rolnick_volume(d, widths, k, c_grad=C_GRAD, c_bias=C_BIAS)
            add("hanin_rolnick_volume", f"{d}-{name}, k = {k}", bound, found.samples, True)
        for d, constant in ((1, 0.25), (2, 0.2)):
            rng = np.random.default_rng([options.seed, 30 + key, d])
            random, at = he(d, widths), rng.random((options.networks, d))
            near = [float(distance_to_boundary(random.draw(rng), point).distances) for point in at]
            bound = bounds.hanin_rolnick_distance(d, widths, constant=constant, c_grad=C_GRAD, c_bias=C_BIAS)
            add("hanin_rolnick_distance", f"{d}-{name}", bound, np.array(near), False)
    _lengths(options, add)
    figure, (ax,) = new_figure(1)
    for side, marker in (("at most", "v"), ("at least", "^")):
        chosen = [row for row in rows if row[2] == side]
        ax.plot([row[4] for row in chosen], [row[3] for row in chosen], marker, markersize=4, label=f"bound: {side}")
    ends = [min(float(str(row[4])) for row in rows), max(float(str(row[4])) for row in rows)]
    ax.plot(ends, ends, "k--", linewidth=1)
    ax.set(xscale="log", yscale="log", xlabel="mean", ylabel="bound")
    ax.legend(fontsize=7)
    return keep(
        options, __file__, figure, ["function", "shape", "side", "value", "mean", "+- 95%", "errors inside"], rows
    )


def _lengths(options: object, add: Callable[[str, str, float, np.ndarray, bool], None]) -> None:
    """Compare the bounds on how random networks stretch curves, and multiply transitions."""
    networks, seed = options.networks, options.seed  # type: ignore[attr-defined]
    for key, (width, sigma_w, depth) in enumerate([(4, 1.0, 2), (8, 2.0, 2), (16, 4.0, 3)]):
        x, y = np.random.default_rng([seed, key]).standard_normal((2, width))
        arc, widths, shape = regions.Arc(x, y), [width] * depth, f"{width} x {depth}, sigma_w {sigma_w:g}"
        for activation in ("relu", "hard_tanh"):
            random = raghu2017(width, width, depth, sigma_w=sigma_w, activation=activation)
            found = regions.growth(random, arc, networks=networks, rng=np.random.default_rng([seed, 40 + key]))
            grown = found.lengths[:, 0, depth] / found.lengths[:, 0, 0]
            lower = bounds.raghu_length_lower(width, widths, sigma_w, activation=activation)
            add("raghu_length_lower", f"{shape}, {activation}", lower, grown, False)
            upper = bounds.raghu_length_upper(width, widths, sigma_w)
            add("raghu_length_upper", f"{shape}, {activation}", upper, grown, True)
        saturated = raghu2017(width, width, depth, sigma_w=300.0)
        found = regions.growth(saturated, arc, networks=networks, rng=np.random.default_rng([seed, 50 + key]))
        there = found.transitions[:, 0, 0] > 0
        switched = found.transitions[there, 0, depth - 1] / found.transitions[there, 0, 0]
        bound = bounds.raghu_transitions_lower(width, widths, 300.0)
        add("raghu_transitions_lower", f"{width} x {depth}, sigma_w 300", bound, switched, False)
        scale = sigma_w / sqrt(width)
        laws = {"gaussian": Gaussian(scale), "uniform": Uniform(scale), "discrete": Discrete([-scale, 0.0, scale])}
        for number, (name, law) in enumerate(laws.items()):
            alpha = (1.0, 0.5, 0.3)[key]
            random = Ensemble(
                [width, *widths, 1], weights=law, biases=Gaussian(0.01), scaling="none", alpha=[alpha] * (depth + 1)
            )
            rng = np.random.default_rng([seed, 60 + key, number])
            found = regions.growth(random, arc, networks=networks, rng=rng)
            given = {"gaussian": scale, "uniform": scale, "discrete": [-scale, 0.0, scale]}[name]
            bound = bounds.price_tanner(width, widths, name, given, alpha=alpha)
            grown = found.lengths[:, 0, depth] / found.lengths[:, 0, 0]
            add("price_tanner", f"{width} x {depth}, {name}, alpha {alpha:g}", bound, grown, False)


if __name__ == "__main__":
    main(sys.argv[1:])
