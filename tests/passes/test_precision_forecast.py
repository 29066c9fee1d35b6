# SPDX-License-Identifier: MIT
"""Is a warning given for exactly those networks whose signs need long integers, which takes long?"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import regions
from convolutional import CONVOLUTIONAL
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from generators_graphs import GRAPH_FAMILIES
from generators_maxima import MAX_FAMILIES
from regions import _core
from regions.counting import run
from regions.counting.run import compiled
from regions.errors import PrecisionWarning
from regions.passes.precision_forecast import UnprovableLayer, unprovable_layer
from workloads import WORKLOADS, build_layers, build_polygon, build_segment_ends

Layers = list[tuple[np.ndarray, np.ndarray]]


def he_normal(width: int, depth: int) -> Layers:
    rng = np.random.default_rng(0)
    sizes = [4, *[width] * depth, 1]
    return [
        (rng.normal(0, np.sqrt(2 / n_in), (n_out, n_in)), rng.normal(0, 0.1, n_out))
        for n_in, n_out in zip(sizes[:-1], sizes[1:], strict=True)
    ]


def scaled(layers: Layers, exponent: int) -> Layers:
    """Return the network scaled by a power of two and back again, layer after layer: the same function."""
    result = []
    for number, (weights, biases) in enumerate(layers):
        up = exponent if number % 2 == 0 else 0
        result.append((np.ldexp(weights, up or -exponent), np.ldexp(biases, up)))
    return result


def segment() -> regions.Segment:
    rng = np.random.default_rng(1)
    middle, way = rng.normal(size=(2, 4))
    return regions.Segment(middle - way / 2, middle + way / 2)


def looked_at(network: regions.Network, domain: regions.Domain) -> UnprovableLayer | None:
    limbs = _core.limbs(compiled(network).compiled, domain.compiled)
    assert len(limbs) == len(network.graph.hidden)
    return unprovable_layer(network.graph, domain, limbs)


def exact_signs(network: regions.Network, domain: regions.Domain) -> float:
    """Return the number of exact signs per region."""
    number, certificate = regions.certified_count(network, domain)
    return certificate.exact / number


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: he_normal(16, 150), marks=pytest.mark.slow),  # four doubles are not enough
        lambda: scaled(he_normal(16, 8), 450),  # sizes overflow
        lambda: scaled(he_normal(16, 9), 450),
    ],
)
def test_networks_whose_signs_are_left_to_long_integers(make: Callable[[], Layers]) -> None:
    network, domain = regions.Network(make()), segment()
    assert looked_at(network, domain) is not None
    assert exact_signs(network, domain) > 10


@pytest.mark.parametrize(
    "make",
    [
        lambda: he_normal(16, 8),
        lambda: he_normal(16, 60),
        lambda: he_normal(16, 100),
        lambda: scaled(he_normal(16, 8), 100),
    ],
)
def test_networks_whose_signs_are_proved(make: Callable[[], Layers]) -> None:
    network, domain = regions.Network(make()), segment()
    assert looked_at(network, domain) is None
    assert exact_signs(network, domain) == 0


def test_the_layer_is_where_bounds_end() -> None:
    network = regions.Network(he_normal(16, 150))
    lost = looked_at(network, segment())
    assert lost is not None
    assert 100 < lost.node < 150
    assert lost.name == network.graph.nodes[lost.node].name
    assert looked_at(network.until(lost.node - 1), segment()) is None


def test_values_beyond_the_doubles() -> None:
    layers = he_normal(8, 3)
    layers[1] = (layers[1][0] * 1e300, layers[1][1])
    layers[2] = (layers[2][0] * 1e300, layers[2][1])
    lost = looked_at(regions.Network(layers), segment())
    assert lost is not None
    assert (lost.node, lost.missing) == (2, np.inf)


def test_what_is_constant_around_the_centre() -> None:
    layers = [(np.zeros((3, 4)), np.ones(3)), (np.ones((2, 3)), np.zeros(2))]
    assert looked_at(regions.Network(layers), segment()) is None
    off = [(np.ones((3, 4)), np.full(3, -1e3)), (np.ones((2, 3)), np.zeros(2)), (np.ones((1, 2)), np.zeros(1))]
    assert looked_at(regions.Network(off), segment()) is None


@pytest.mark.parametrize(
    "domain",
    [
        regions.Line(np.zeros(4), np.ones(4)),
        regions.Ray(np.zeros(4), np.ones(4)),
        regions.Plane(np.zeros(4), np.eye(4)[0], np.eye(4)[1]),
    ],
)
def test_domains_without_end(domain: regions.Domain) -> None:
    assert looked_at(regions.Network(he_normal(16, 20)), domain) is None
    assert looked_at(regions.Network(he_normal(16, 250)), domain) is not None


@pytest.mark.parametrize("family", [*FAMILIES, *GRAPH_FAMILIES, *MAX_FAMILIES, *CLIPPED_FAMILIES])
@pytest.mark.parametrize("dimension", [1, 2])
def test_every_family_is_looked_at(family: str, dimension: int) -> None:
    """A forecast is possible for all networks; this test does not check its answer."""
    for seed in range(3):
        network, domain = draw(family, dimension, seed)
        lost = looked_at(network, domain)
        assert lost is None or lost.missing > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, each in WORKLOADS.items() if max(each.sizes) <= 256])
def test_no_workload_is_said_to_take_long(name: str) -> None:
    workload = WORKLOADS[name]
    network = regions.Network(build_layers(workload))
    if workload.n_segments:
        domains = [regions.Segment(*ends) for ends in build_segment_ends(workload)[:3]]
    else:
        domains = [build_polygon(workload)]
    assert [looked_at(network, domain) for domain in domains] == [None] * len(domains)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CONVOLUTIONAL if not name.startswith("vgg")])
def test_no_convolutional_workload_is_said_to_take_long(name: str) -> None:
    workload = CONVOLUTIONAL[name]
    assert looked_at(workload.network(), workload.domain()) is None


def hopeless() -> tuple[regions.Network, regions.Domain]:
    """Networks that no machine counts while the forecast is made."""
    return regions.Network(he_normal(32, 400)), regions.Rectangle(np.zeros(4), np.eye(4)[0], np.eye(4)[1])


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "CHECKED_AFTER", 0.0)


def circle(network: regions.Network) -> object:
    return regions.count(network, regions.Circle(np.zeros(4), np.eye(4)[0], np.eye(4)[1]))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "work",
    [
        lambda network, domain: regions.count(network, domain),
        lambda network, domain: regions.count(network, domain, "affine"),
        lambda network, domain: regions.count([network, network], [domain, domain], workers=2),
        lambda network, domain: regions.enumerate(network, domain, workers=2),
        lambda network, domain: next(iter(regions.stream(network, domain))),
        lambda network, domain: circle(network),
    ],
)
def test_work_can_be_stopped_where_it_would_take_long(work: Callable[..., object]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrecisionWarning)
        with pytest.raises(PrecisionWarning, match=r"from 'layer \d+' on .* net.until\(\d+\) .* limit="):
            work(*hopeless())


@pytest.mark.usefixtures("at_once")
def test_it_is_said_once_and_the_caller_is_named() -> None:
    network, domain = hopeless()
    calls = []

    def report(share: float, found: int) -> None:
        calls.append(found)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(KeyboardInterrupt):
            regions.count(network, domain, progress=report)
    assert [(each.category, each.filename) for each in caught] == [(PrecisionWarning, __file__)]
