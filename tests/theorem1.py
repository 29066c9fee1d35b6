# SPDX-License-Identifier: MIT
"""Does Theorem 1 of Raghu et al. (2017) hold, and when is it reached?

``python tests/theorem1.py --cases 10000`` counts the activation patterns of random and constructed networks with ReLU
and hard tanh, in random spaces of one to six dimensions and parts of them, after each layer. It compares counts with
the theorem in its finite forms: the product of r(n_l, d) for ReLU; of r(2 n_l, d) for hard tanh, as the paper's proof
has it, and the smaller one that knows that the two breakpoints of a unit are parallel. A single layer in general
position has to reach it. Violations are printed with their kind and seed, and the exit code is 1.
Cost: 25 ms a case. Layers are narrower in more dimensions; single layers have more units than dimensions there too,
because otherwise the bound is the number of all patterns.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
from generator_parts import Rng, any_domain, gaussian, network, sizes, small_integers  # noqa: E402
from regions import bounds  # noqa: E402
from regions.constructions import montufar_fold, sawtooth, serra_fold, square_fold  # noqa: E402
from regions.domains import Domain, Line, Plane, Polytope, Space  # noqa: E402
from regions.errors import DegenerateDomainError  # noqa: E402
from regions.networks.derived import cut_off  # noqa: E402
from regions.networks.network import Network  # noqa: E402

PLANE = Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0])


class Result(NamedTuple):
    """One case: its kind, the dimension of the domain, the largest share of the bound, whether the bound is reached,
    and an error, or "".
    """

    kind: str
    dimension: int
    share: float
    reached: bool
    fault: str


def random_case(rng: Rng, activation: str, most: int = 6) -> tuple[Network, Domain | Polytope]:
    """Return a network with Gaussian weights, or with small integers and many coincidences, and a domain of at most
    ``most`` dimensions: 1 to 4 layers of 1 to 6 units on lines and in planes, 1 to 3 layers of 1 to 4 units in three
    and four dimensions, and 1 or 2 such layers in five and six.
    """
    dimension, law = int(rng.integers(1, most + 1)), [gaussian, gaussian, small_integers][rng.integers(3)]
    depth, width = ((1, 4), (1, 6)) if dimension < 3 else ((1, 3 if dimension < 5 else 2), (1, 4))
    net = network(rng, sizes(rng, dimension, depth=depth, width=width), law, law, activation)
    while True:
        try:
            return net, any_domain(rng, dimension, net.n_in)
        except DegenerateDomainError:  # random inequalities may leave nothing, and random directions may be dependent
            continue


def generic_layer(rng: Rng, activation: str, most: int = 6) -> tuple[Network, Domain | Polytope]:
    """Return a Gaussian layer on the whole of a random line, plane or space: in general position with probability 1."""
    dimension = int(rng.integers(1, most + 1))
    n_in = int(rng.integers(dimension, max(5, dimension + 1)))
    widest = 12 if dimension < 3 else dimension + 1 if activation == "hard_tanh" else max(7, 11 - dimension)
    net = network(rng, [n_in, int(rng.integers(1, widest + 1)), 1], activation=activation)
    origin, directions = rng.standard_normal(n_in), rng.standard_normal((dimension, n_in))
    if dimension > 2:
        return net, Space(origin, directions)
    return net, [Line, Plane][dimension - 1](origin, *directions)


def _construction(rng: Rng) -> tuple[Network, Domain | Polytope]:
    """Return foldings, which have the largest known numbers of regions, on the whole line or plane."""
    depth = int(rng.integers(1, 4))
    makers: list[Callable[[], Network]] = [
        lambda: sawtooth(2 * depth),
        lambda: montufar_fold(int(rng.integers(2, 5)), depth),
        lambda: serra_fold(rng.integers(3, 7, depth).tolist()),
        lambda: square_fold(int(rng.integers(2, 5)), gaussian(rng, (5, 2)), gaussian(rng, (5,))),
    ]
    net = makers[rng.integers(len(makers))]()
    return net, PLANE if net.n_in == 2 else Line([0.0], [1.0])


def _clipped_construction(rng: Rng) -> tuple[Network, Domain | Polytope]:
    """Return zigzags of hard tanh: units that rise one after the other, with alternating signs, fold [-1, 1] onto
    itself.
    """
    depth, pieces = int(rng.integers(1, 4)), 2 * int(rng.integers(1, 4)) + 1
    slopes = np.full((pieces, 1), float(pieces))
    shifts = pieces - 1.0 - 2.0 * np.arange(pieces)
    signs = (-1.0) ** np.arange(pieces)[np.newaxis]
    layers = [(slopes, shifts)] + [(slopes @ signs, shifts) for _ in range(depth - 1)]
    return Network([*layers, (signs, None)], "hard_tanh"), Line([0.0], [1.0])


KINDS: dict[str, Callable[[Rng], tuple[Network, Domain | Polytope]]] = {
    "random relu": lambda rng: random_case(rng, "relu"),
    "random hard tanh": lambda rng: random_case(rng, "hard_tanh"),
    "generic layer relu": lambda rng: generic_layer(rng, "relu"),
    "generic layer hard tanh": lambda rng: generic_layer(rng, "hard_tanh"),
    "construction relu": _construction,
    "construction hard tanh": _clipped_construction,
}


def tried(kind: str, seed: int) -> Result:
    """Compare one network with the theorem, after each layer."""
    net, domain = KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]))
    share = 0.0
    for depth in range(1, len(net.widths) + 1):
        count, widths = regions.count(cut_off(net, depth), domain), net.widths[:depth]
        if kind.endswith("hard tanh"):
            limits = [bounds.raghu_hard_tanh(domain.dimension, widths, form=form) for form in ("pairs", "2k")]
        else:
            limits = [bounds.raghu(domain.dimension, widths)]
        share = max(share, count / min(limits))
        if count > min(limits):
            return Result(
                kind,
                domain.dimension,
                share,
                False,
                f"{count} regions after layer {depth}, more than {min(limits)}: {net!r}",
            )
    if kind.startswith("generic") and share != 1.0:
        return Result(kind, domain.dimension, share, False, f"{share:.3f} of the bound, and not all of it: {net!r}")
    return Result(kind, domain.dimension, share, share == 1.0, "")


def main(words: list[str] | None = None) -> int:
    """Try all cases, and print the results; return 1 if any is wrong."""
    parser = argparse.ArgumentParser(description="hold random and constructed networks against Theorem 1")
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    arguments = parser.parse_args(words)
    start = time.perf_counter()
    kinds = list(KINDS)
    todo = [(kinds[case % len(kinds)], arguments.seed + case // len(kinds)) for case in range(arguments.cases)]
    results = [(seed, tried(kind, seed)) for kind, seed in todo]
    faults = [(seed, result) for seed, result in results if result.fault]
    total, equal = (
        Counter(r.kind for _, r in results if wanted(r)) for wanted in (lambda r: True, lambda r: r.reached)
    )
    for kind in kinds:
        largest = max((result.share for _, result in results if result.kind == kind), default=0.0)
        print(f"{kind:24} {total[kind]:6,} networks, {equal[kind]:6,} reach the bound, largest share {largest:.3f}")
    dimensions = Counter(result.dimension for _, result in results)
    print("; ".join(f"{dimensions[d]:,} in {d} dimension{'s' * (d > 1)}" for d in sorted(dimensions)))
    seeds = f"{todo[0][1]} to {todo[-1][1]}" if todo else "none"
    print(f"{len(results):,} networks, seeds {seeds}: {len(faults)} violations, {time.perf_counter() - start:.1f} s")
    for seed, result in faults:
        print(f"{result.kind}, seed {seed}: {result.fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
