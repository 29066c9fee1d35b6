# SPDX-License-Identifier: MIT
"""Does every bound of `regions.bounds` hold on a thousand networks to which it applies?

``python tests/theorems.py --cases 1000`` draws small random networks of each kind that some bound is about, on lines,
planes and parts of them, and compares exact counts, degrees and diameters with every bound that applies, until each has
been compared with that many networks. Bounds for the best network of a shape are compared with the sharpest upper bound
of the shape. `helpers/unregistered_bounds.py` does the same for functions that take other shapes than widths.
Refusals are counted too, with the first reason. Violations are printed with their kind and seed, and the
exit code is 1, also if a bound was compared too rarely.
Bounds on means over random networks are not here: `docs/reproduce/mean_bounds.py` compares them with means over a
thousand networks, and other scripts there compare exact laws with means.
Cost: 10 ms a network.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    if list((ROOT / "regions").glob("_core.*.so")):
        sys.path.insert(0, str(ROOT))  # the core is compiled in the checkout: see conftest.py

import regions  # noqa: E402
import theorem1  # noqa: E402
from generator_parts import Rng, gaussian, zeros  # noqa: E402
from generator_parts import network as network_of  # noqa: E402
from generators_maxima import network_of_maxima  # noqa: E402
from regions import bounds  # noqa: E402
from regions.bounds import Bound  # noqa: E402
from regions.checking.against_bounds import bound_items  # noqa: E402
from regions.checking.conditions import Case  # noqa: E402
from regions.domains import Domain, Line, Plane  # noqa: E402
from regions.errors import BoundDoesNotApply  # noqa: E402
from regions.networks.derived import cut_off  # noqa: E402
from regions.networks.network import Network  # noqa: E402
from unregistered_bounds import (  # noqa: E402
    UNREGISTERED,
    compared_with_arrangements,
    compared_with_convolutions,
    compared_with_strata,
)

# Bounds that are compared: all but those on means over random networks.
COMPARED = [bound for bound in bounds.BOUNDS if not bound.kind.startswith("expected")]
NAMES = [*(bound.name for bound in COMPARED), *UNREGISTERED]


def _whole(rng: Rng, n_in: int, dimension: int, through_zero: bool = False) -> Domain:
    origin = np.zeros(n_in) if through_zero else rng.standard_normal(n_in)
    return [Line, Plane][dimension - 1](origin, *rng.standard_normal((dimension, n_in)))


def _deep(rng: Rng) -> tuple[Network, Domain]:
    """Return generic layers on a whole plane."""
    n_in = int(rng.integers(2, 4))
    widths = rng.integers(1, 6, rng.integers(1, 4)).tolist()
    return network_of(rng, [n_in, *widths, 1]), _whole(rng, n_in, 2)


def _central(rng: Rng) -> tuple[Network, Domain]:
    """Return a layer without biases, on a line or plane through 0."""
    n_in, dimension = int(rng.integers(2, 5)), int(rng.integers(1, 3))
    net = network_of(rng, [n_in, int(rng.integers(1, 9)), 1], gaussian, zeros)
    return net, _whole(rng, n_in, dimension, through_zero=True)


KINDS: dict[str, Callable[[Rng], tuple[Network, Domain]]] = {
    "random relu": lambda rng: theorem1.random_case(rng, "relu", 2),
    "random hard tanh": lambda rng: theorem1.random_case(rng, "hard_tanh", 2),
    "generic layer relu": lambda rng: theorem1.generic_layer(rng, "relu", 2),
    "random abs": lambda rng: theorem1.random_case(rng, "abs", 2),
    "generic deep": _deep,
    "central layer": _central,
}


def compared_with_networks(kind: str, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each bound, the status and the reason, for one network."""
    net, domain = KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]))
    part = regions.enumerate(net, domain)
    depths = range(1, len(net.widths) + 1)
    after = [{"activation": regions.count(cut_off(net, depth), domain)} for depth in depths]
    for item in bound_items(Case(net, domain, part), after, {"activation": len(part)}):
        if item.kind in ("upper", "lower"):
            yield item.name, item.status, item.note


def compared_with_maxout(seed: int) -> Iterator[tuple[str, str, str]]:
    """The same for a network of maxout units of one rank, drawn from one seed."""
    rng = np.random.default_rng([seed, 100])
    n_in, rank = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    widths = rng.integers(1, 5, rng.integers(1, 3)).tolist()
    inputs = [n_in, *widths]
    layers = [
        (rng.standard_normal((width * rank, below + 1)), [rank] * width)
        for below, width in zip(inputs, widths, strict=False)
    ]
    dimension = int(rng.integers(1, min(n_in, 2) + 1))
    found = regions.count(network_of_maxima(n_in, layers), _whole(rng, n_in, dimension))
    for bound in COMPARED:
        if bound.activations == "maxout" and bound.kind == "upper":
            yield _judged(bound, dimension, widths, lambda value: found <= value, rank=rank)


def compared_with_shapes(seed: int) -> Iterator[tuple[str, str, str]]:
    """The same for bounds for the best network of a shape."""
    rng = np.random.default_rng([seed, 200])
    n_in, rank = int(rng.integers(1, 4)), int(rng.integers(2, 5))
    widths = rng.integers(1, 20, rng.integers(1, 5))
    if rng.random() < 0.5:  # as the theorems on equal and even layers need them
        widths[:] = n_in * int(rng.choice([1, 2, 4]))
        widths[0] = rng.choice([widths[0], 2 * max(n_in, widths[0] // 2)])
    shape = widths.tolist()
    sharpest = bounds.hinz_vandegeer(n_in, shape), bounds.maxout_montufar_ren_zhang(n_in, shape, rank)
    for bound in COMPARED:
        if bound.kind == "best":
            limit = sharpest[bound.activations == "maxout"]
            yield _judged(bound, n_in, shape, lambda value, limit=limit: value <= limit, rank=rank)


def _judged(
    bound: Bound, n_in: int, widths: list[int], holds: Callable[[bounds.registry.Value], bool], **facts: int
) -> tuple[str, str, str]:
    try:
        value = bound.value(n_in, widths, **facts)
    except BoundDoesNotApply as reason:
        return bound.name, "does not apply", str(reason)
    return bound.name, "holds" if holds(value) else "violated", ""


def main(words: list[str] | None = None) -> int:
    """Compare until every bound has enough cases, and print a table; return 1 if any is violated."""
    parser = argparse.ArgumentParser(description="hold random networks against every bound")
    parser.add_argument("--cases", type=int, default=1000, help="networks for each bound")
    arguments = parser.parse_args(words)
    held, refused, violations = Counter[str](), Counter[str](), []
    reasons: dict[str, str] = {}
    for seed in range(20 * arguments.cases):
        sources = {kind: compared_with_networks(kind, seed) for kind in KINDS}
        sources |= {"maxout": compared_with_maxout(seed), "shapes": compared_with_shapes(seed)}
        sources |= {"arrangements": compared_with_arrangements(seed), "strata": compared_with_strata(seed)}
        sources["convolutions"] = compared_with_convolutions(seed)
        for kind, judged in sources.items():
            for name, status, note in judged:
                if status == "violated":
                    violations.append(f"{name}: {kind}, seed {seed}: {note}")
                elif status == "does not apply":
                    refused[name] += 1
                    reasons.setdefault(name, note)
                else:
                    held[name] += 1
        if min(held[name] for name in NAMES) >= arguments.cases:
            break
    for name in NAMES:
        reason = f", first: {reasons[name]}" if name in reasons else ""
        print(f"{name:34} {held[name]:7,} hold, {refused[name]:7,} refused{reason}")
    rare = [name for name in NAMES if held[name] < arguments.cases]
    print(f"{seed + 1:,} seeds, {len(violations)} violations" + (f"; too few cases: {', '.join(rare)}" if rare else ""))
    print("\n".join(violations[:20]))
    return 1 if violations or rare else 0


if __name__ == "__main__":
    sys.exit(main())
