# SPDX-License-Identifier: MIT
"""Which callables are public, and how is each of them called rightly?

A `Call` for every function, constructor and method that a user can reach: one good list of arguments, complete, and for
each parameter its kind. What there is lists `public_names.py`, so that a test can tell what is missing here.
"""

from __future__ import annotations

import inspect
import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import regions
from kinds_of_parameters import KINDS
from objects_to_call_with import (
    arc,
    axes,
    decided,
    figure,
    folder,
    grown,
    model_file,
    network,
    partition,
    points_file,
    random_networks,
    record,
    rng,
    saved,
    square,
    sweep,
    two_outputs,
)
from regions import arrangements, bounds, constructions, ensembles, export, measures, reference
from regions.networks import named_activations as named
from regions.read import read_tensors


@dataclass(frozen=True)
class Call:
    """One callable, with arguments for it: ``make(**arguments)``, each made anew by a function."""

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    spread: str = ""  # the parameter that is handed over as *args

    def run(self, replaced: Mapping[str, Any]) -> Any:
        """Call it, with some of the arguments replaced."""
        given = {name: make() for name, make in self.arguments.items() if name not in replaced} | dict(replaced)
        spread = given.pop(self.spread, ())
        if self.spread in replaced:
            spread = [spread]
        positional, named_ones = [], {}
        for name, parameter in self.signature.parameters.items():
            if name in given and parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(given[name])
            elif name in given:
                named_ones[name] = given[name]
        return self.function(*positional, *spread, **named_ones)

    @property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def kind(self, parameter: str) -> str:
        return self.kinds.get(parameter) or KINDS[parameter]


def say(value: Any) -> Callable[[], Any]:
    """The same value at each call."""
    return lambda: value


def calls() -> Iterator[Call]:
    """All of them."""
    yield from _top()
    yield from _classes()
    yield from _bounds()
    yield from _ensembles()
    yield from _others()


def _call(
    function: Callable[..., Any], /, *, _name: str = "", _kinds: Mapping[str, str] | None = None, **given: Any
) -> Call:
    arguments = {name: value if callable(value) else say(value) for name, value in given.items()}
    spread = next((p.name for p in inspect.signature(function).parameters.values() if p.kind is p.VAR_POSITIONAL), "")
    return Call(_name or f"{function.__module__}.{function.__qualname__}", function, arguments, _kinds or {}, spread)


def _method(make: Callable[[], Any], method: str, /, **given: Any) -> Call:
    owner = make()
    return _call(getattr(owner, method), _name=f"{type(owner).__name__}.{method}", **given)


def _top() -> Iterator[Call]:
    few = {"regions": 2, "progress": False}
    yield _call(regions.certify, part=partition, net=network, **few, _kinds={"regions": "some or all"})
    yield _call(regions.check, network=network, domain=square, distances=False, _kinds={"distances": "flag"})
    yield _call(regions.circumsquare, a=[0, 0, 1], b=[1, 0, 0], c=[0, 1, 0], side=2.0)
    yield _call(
        regions.count,
        network=network,
        domain=square,
        definition="activation",
        limit=100,
        progress=False,
        certificate=False,
        _kinds={"domain": "domains"},
    )
    yield _call(
        regions.certified_count,
        network=network,
        domain=square,
        definition="activation",
        limit=100,
        progress=False,
        _kinds={"domain": "domains"},
    )
    yield _call(regions.enumerate, network=network, domain=square, limit=100, progress=False)
    yield _call(regions.linear_regions, partition=partition, definition="affine")
    options = {"batch_norm_eps": 1e-5, "prefix": None, "normalize": (0.5, 2.0)}
    yield _call(
        regions.load,
        source=model_file,
        activation="relu",
        input_shape=None,
        **options,
        _kinds={"normalize": "normalization", "input_shape": "untried"},
    )
    yield _call(read_tensors, source=model_file)
    yield _call(regions.load_partition, path=saved)
    untried = {"array": "untried", "inputs": "untried", "skip_columns": "untried"}
    yield _call(regions.load_points, path=points_file, array=None, inputs=None, skip_columns=(), _kinds=untried)
    options = {"mark": True, "title": "x", "legend": True}
    kinds = {"partition": "untried", "mark": "untried", "title": "untried", "legend": "untried"}
    yield _call(regions.plot, partition=partition, ax=axes, color_by="layer", output_index=0, **options, _kinds=kinds)
    kinds = {"curve": "domains"}
    yield _call(regions.trajectory, network=network, curve=arc, limit=100, progress=False, _kinds=kinds)
    yield _call(
        regions.watch,
        checkpoints=lambda: [network(), network()],
        domain=square,
        points=[[0.5, 0.5], [0.25, 0.5]],
        activation="relu",
        steps=[0, 1],
        progress=False,
        _kinds={"points": "optional array", "domain": "domains"},
    )


def _classes() -> Iterator[Call]:
    hat = {"breakpoints": [0.0], "slopes": [0.0, 1.0], "intercepts": [0.0, 0.0]}
    yield _call(regions.Activation, name="hat", **hat, _kinds={"breakpoints": "array"})
    for method in ("__call__", "pieces"):
        yield _method(named.relu, method, values=[1.0, -1.0])
    for method in ("slopes_of", "intercepts_of"):
        yield _method(named.relu, method, pieces=[0, 1], _kinds={"pieces": "piece numbers"})
    layer = {"weights": [[1.0]], "biases": [0.0], "activation": named.relu}
    yield _call(regions.Layer, **layer, name="layer 3", _kinds={"activation": "activation"})
    yield _call(regions.Network, layers=lambda: [([[1.0]], [0.0]), ([[1.0]], [0.0])], activation="relu")
    yield _call(regions.Network.from_layers, layers=lambda: list(network().layers), notes=["x"])
    yield _call(regions.Network.from_graph, graph=lambda: network().graph, input_shape=[2], notes=["x"])
    for method in ("__call__", "gradient", "pattern", "preactivations"):
        yield _method(network, method, x=[[0.5, 0.5]])
    yield _method(network, "until", node=0)
    yield _method(network, "outputs", chosen=[0], _kinds={"chosen": "outputs"})
    yield _method(network, "affine_map", pattern=lambda: np.ones(2, dtype=bool))
    yield _call(regions.Domain, origin=[0.0, 0.0], directions=[[1.0, 0.0]], generators=[[1, 0], [1, 1]])
    yield _call(regions.Segment, a=[0.0, 0.0], b=[1.0, 1.0])
    yield _call(regions.Line, point=[0.0, 0.0], direction=[1.0, 1.0])
    yield _call(regions.Ray, point=[0.0, 0.0], direction=[1.0, 1.0])
    for kind in (regions.Plane, regions.Rectangle):
        yield _call(kind, origin=[0.0, 0.0], e1=[1.0, 0.0], e2=[0.0, 1.0])
    yield _call(regions.Polygon, vertices=[[0, 0], [1, 0], [0, 1]])
    for kind in (regions.Polygon, regions.Rectangle):
        corners = [[0, 0], [1, 0], [0, 1]] if kind is regions.Polygon else [[0, 0], [1, 0], [1, 1], [0, 1]]
        yield _call(
            kind.in_chart,
            _name=f"{kind.__name__}.in_chart",
            origin=[0.0, 0.0],
            directions=[[1, 0], [0, 1]],
            corners=corners,
        )
    for domain in _domains():
        yield _method(say(domain), "to_input", chart_points=[[0.25] * domain.dimension])
        for method in ("to_chart", "project"):
            yield _method(say(domain), method, input_points=[[0.25, 0.25]])
    in_plane = {"u": [1.0, 0.0], "v": [0.0, 1.0]}
    yield _call(regions.Polyline, points=[[0.0, 0.0], [1.0, 1.0]])
    yield _call(regions.Circle, center=[0.0, 0.0], **in_plane, _kinds=dict.fromkeys(in_plane, "array"))
    for kind in (regions.Arc, regions.GreatCircle):
        yield _call(kind, x0=[1.0, 0.0], x1=[0.0, 1.0], _kinds={"x0": "array", "x1": "array"})
    for curve in _curves():
        yield _method(say(curve), "to_input", t=[0.0, 0.5], _kinds={"t": "array"})
    for method in ("as_dict", "to_json"):
        yield _method(sweep, method)
    yield _method(sweep, "sauer_shelah", dimension=2)
    yield _method(sweep, "random_walk", rng=rng)
    for method in ("as_dict", "to_json"):
        yield _method(lambda: regions.trajectory(network(), arc()), method)
        yield _method(grown, method)
    yield _method(grown, "estimates", quantity="growth", _kinds={"quantity": "word"})
    yield _method(grown, "deviations", law=lambda: grown().laws[0], _kinds={"law": "laws"})
    yield _method(lambda: regions.trajectory(network(), arc()), "image", layer=1, between=2)
    yield _method(lambda: regions.trajectory(network(), arc()), "plot", figure=figure)
    yield _call(
        regions.Partition,
        network=network,
        domain=square,
        raw=lambda: partition().__reduce__()[1][2],
        _kinds={"domain": "any domain"},
    )
    yield _method(partition, "__getitem__", key=0)
    yield _method(partition, "affine_maps", indices=[0, 1], space="chart")
    yield _method(partition, "exact_vertices", indices=[0, 1])
    yield _method(partition, "locate", points=[[0.5, 0.5]], space="input")
    yield _method(partition, "save", path=lambda: folder() / "out.npz", _kinds={"path": "path to write"})
    yield _call(regions.Partition.load, path=saved)
    for method in ("folded_cells", "to_networkx", "to_shapely"):
        yield _method(partition, method)
    yield _method(lambda: partition()[0], "affine_map", space="chart")
    yield _method(lambda: partition().exact_vertices(), "__getitem__", key=0)
    yield _method(lambda: partition().exact_vertices(), "to_float")
    for method in ("as_dict", "to_json"):
        yield _method(lambda: partition().certificate, method)
    for method in ("as_dict", "rows", "table", "to_html", "to_json"):
        yield _method(checked, method)
    for method in ("as_dict", "to_json"):
        yield _method(lambda: regions.certify(partition(), network()), method)
        yield _method(lambda: regions.certify(regions.trajectory(network(), arc()), network()), method)
    yield _call(
        regions.TrainingRecord,
        domain=square,
        points=[[0.5, 0.5], [0.25, 0.5]],
        activation="relu",
        _kinds={"points": "optional array", "domain": "domains"},
    )
    yield _method(record, "columns")
    yield _method(record, "plot", figure=figure)
    yield _method(record, "record", step=1, network=network, progress=False, _kinds={"network": "source"})
    yield _method(record, "to_csv", path=lambda: folder() / "record.csv", _kinds={"path": "optional path to write"})


@cache
def checked() -> Any:
    return regions.check(network(), square(), distances=False)


def _domains() -> list[regions.Domain]:
    return [
        regions.Domain([0.0, 0.0], [[1.0, 1.0]], [[1, 0], [1, 1]]),
        regions.Segment([0.0, 0.0], [1.0, 1.0]),
        regions.Line([0.0, 0.0], [1.0, 1.0]),
        regions.Ray([0.0, 0.0], [1.0, 1.0]),
        regions.Plane([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
        regions.Rectangle([0.0, 0.0], [1.0, 0.0], [0.0, 1.0]),
        square(),
    ]


def _curves() -> list[regions.Curve]:
    first, second = [1.0, 0.0], [0.0, 1.0]
    return [
        regions.Curve([regions.Segment(first, second)], False),
        regions.Polyline([first, second]),
        regions.Circle([0.0, 0.0], first, second),
        regions.Arc(first, second),
        regions.GreatCircle(first, second),
    ]


# What bounds take besides `n_in` and `widths`.
FACTS = {
    "breakpoints": 1,
    "codimension": 1,
    "rank": 2,
    "weight_std": 1.0,
    "bias_std": 1.0,
    "radius": 1.0,
    "constant": 1,
    "c_grad": 1,
    "c_bias": 1,
    "c_manifold": 1,
    "volume": 1,
    "ranks": [2],
    "alpha": 1.0,
    "distribution": "gaussian",
    "scale": 1.0,
    "form": "2k",
    "sigma_w": 1.0,
    "sigma_b": 0.5,
    "activation": "relu",
}


def _bounds() -> Iterator[Call]:
    own = {
        "bounded_chambers": {"normals": [[1, 0], [0, 1]], "offsets": [0, 1]},
        "chambers": {"normals": [[1, 0], [0, 1]], "offsets": [0, 1]},
        "characteristic_polynomial": {"normals": [[1, 0], [0, 1]], "offsets": [0, 1]},
        "gaines_bi_facets": {"dimension": 2},
        "hard_tanh_length_growth": {"sigma_w": 1.0, "sigma_b": 0.5},
        "relu_length_factor": {"width": 4},
        "serra2018_lower": {"n_in": 1, "widths": [4]},
        "tube_volume": {"volumes": [1.0, 2.0], "radius": 0.5},
        "xiong_cnn": {"input_shape": (1, 4), "filters": 3, "kernel": 2, "stride": 1},
        "xiong_cnn_lower": {"input_shape": (1, 4), "layers": [(3, 2, 1)]},
        "xiong_cnn_upper": {"input_shape": (1, 4), "layers": [(3, 2, 1)]},
    }
    kinds = {
        "volume": "positive",
        "alpha": "number per layer",
        "distribution": "word",
        "scale": "number per layer",
        "sigma_w": "number",
        "sigma_b": "number",
        "activation": "word",
        "width": "integer",
        "volumes": "numbers",
        "layers": "convolutions",
        "weight_std": "number per layer",
        "ranks": "optional integer per layer",
    }
    for name in bounds.__all__:
        function = getattr(bounds, name)
        if not inspect.isfunction(function):
            continue
        parameters = inspect.signature(function).parameters
        facts = {key: FACTS[key] for key in parameters if key in FACTS}
        given = own.get(name) or {"n_in": 1 if name in ONE_INPUT else 2, "widths": [2], **facts}
        if name == "zaslavsky":
            given["rank"] = 1
        special = {"zaslavsky": {"rank": "optional integer"}, "tube_volume": {"radius": "number"}}.get(name, {})
        yield _call(function, **given, _kinds={**kinds, **special})
    montufar = next(bound for bound in bounds.BOUNDS if bound.name == "montufar2014_lower")
    for method in ("value", "after_each_layer"):
        yield _method(say(montufar), method, n_in=2, widths=[4, 4])


ONE_INPUT = {"telgarsky_lower"}


def _ensembles() -> Iterator[Call]:
    gauss = say(ensembles.Gaussian(1.0))
    yield _call(ensembles.Gaussian, std=1.0, _kinds={"std": "positive"})
    yield _call(ensembles.Uniform, bound=1.0, _kinds={"bound": "positive"})
    yield _call(ensembles.Discrete, values=[-1.0, 1.0])
    for law in (gauss, say(ensembles.Uniform(1.0)), say(ensembles.Discrete([-1, 1]))):
        yield _method(law, "scaled", factor=2.0, _kinds={"factor": "positive"})
        yield _method(law, "draw", shape=[2, 3], rng=rng, _kinds={"shape": "integers"})
        if not isinstance(law(), ensembles.Discrete):
            yield _method(law, "density", values=[0.0, 1.0])
            yield _method(law, "probability", low=[0.0], high=[1.0])
    laws = {"weights": "laws", "biases": "laws", "scaling": "word", "alpha": "number per layer"}
    given = {"sizes": [2, 2, 1], "activation": "relu"}
    yield _call(ensembles.Ensemble, **given, weights=gauss, biases=gauss, scaling="fan_in", alpha=0.5, _kinds=laws)
    yield _method(random_networks, "draw", rng=rng)
    for function in (ensembles.he, ensembles.glorot):
        yield _call(function, **given, law="uniform", _kinds={"law": "word"})
    yield _call(ensembles.torch_default, **given)
    yield _call(ensembles.hanin_rolnick2019, sizes=[2, 2, 1])
    shape = {"width": 2, "depth": 2, "n_out": 1}
    kinds = {"width": "integer", "n_out": "integer", "n_in": "integer", "sigma_w": "positive", "sigma_b": "number"}
    raghu = {"sigma_w": 1.0, "sigma_b": 0.5, "activation": "relu"}
    yield _call(ensembles.raghu2017, n_in=2, **shape, **raghu, _kinds=kinds)
    kinds = {"width": "integer", "n_out": "integer", "law": "laws", "alpha": "number per layer"}
    yield _call(ensembles.price_tanner2020, law=gauss, alpha=0.5, **shape, _kinds=kinds)
    yield _call(regions.decisions, network=two_outputs, domain=square, limit=None, progress=None)
    yield _method(decided, "distance", points=[[0.5, 0.5]], space="input")
    yield _call(
        regions.dichotomies,
        network=network,
        points=[[1.0, 2.0], [-1.0, 1.0]],
        weights=[[0.0, 1.0], [1.0, 0.0]],
        layer=1,
        quarters=2,
        output_index=0,
        progress=None,
    )
    yield _call(
        regions.growth,
        ensemble=random_networks,
        curve=arc,
        networks=2,
        rng=rng,
        progress=None,
        _kinds={"ensemble": "random networks", "curve": "domains", "networks": "integer"},
    )
    yield _method(lambda: regions.growth(random_networks(), arc(), networks=2, rng=0), "plot", figure=figure)


def _others() -> Iterator[Call]:
    yield _call(measures.Ball, center=[0.0, 0.0], radius=1.0)
    yield _call(measures.Box, lower=[0.0, 0.0], upper=[1.0, 1.0])
    for body in (measures.Ball([0.0, 0.0], 1.0), measures.Box([0.0, 0.0], [1.0, 1.0])):
        for method in ("chords", "points"):
            yield _method(say(body), method, count=3, rng=rng, _kinds={"count": "integer"})
    yield _call(measures.Estimate, samples=[1.0, 2.0])
    yield _method(lambda: measures.Estimate([1.0, 2.0]), "deviation", other=1.0)
    yield _method(lambda: measures.Estimate([1.0, 2.0]), "interval", confidence=0.9)
    for function in (measures.boundary_facets, measures.boundary_volume):
        yield _call(function, partition=partition, boundary="activation")
    for function in (
        measures.degrees,
        measures.diameter,
        measures.gradient_jumps,
        measures.inscribed_discs,
        measures.perimeters,
        measures.perimeter_errors,
        measures.switching_kinks,
        export.to_columns,
    ):
        yield _call(function, partition=partition)
    body = say(measures.Ball([0.0, 0.0], 1.0))
    yield _call(measures.crofton_density, network=network, body=body, lines=2, rng=rng, boundary="activation")
    for function, last in ((measures.hanin_rolnick_integral, "places"), (measures.mean_boundary_density, "lines")):
        yield _call(
            function,
            random=random_networks,
            body=body,
            networks=2,
            rng=rng,
            codimension=1,
            boundary="gradient",
            **{last: 1},
        )
    inside = [[0.5, 0.25], [0.25, 0.5]]
    yield _call(measures.distance_in_domain, partition=partition, points=inside, boundary="activation", space="input")
    yield _call(measures.distance_to_boundary, network=network, points=inside)
    for found in (measures.distance_in_domain(partition(), inside), measures.distance_to_boundary(network(), inside)):
        yield _method(say(found), "log_histogram", bins=5, _kinds={"bins": "bins"})
        yield _method(say(found), "times_neurons")
    yield _call(export.export, partition=partition, path=lambda: folder() / "out.csv", _kinds={"path": "path to write"})
    for function in (export.write_csv, export.write_geojson):
        yield _call(function, partition=partition, stream=io.StringIO)
    for function in (reference.count, reference.enumerate, reference.patterns):
        yield _call(function, net=network, domain=square)
    yield _call(constructions.arrangement, normals=[[1, 0], [0, 1]], offsets=[0, 1])
    saw = say(constructions.sawtooth(1))
    yield _call(constructions.compose, first=saw, second=saw)
    yield _call(constructions.montufar_fold, pieces=2, depth=2)
    two = {"networks": lambda: (network(), network())}
    yield _call(constructions.product, **two, _kinds={"networks": "network"})
    yield _call(constructions.sawtooth, depth=2)
    yield _call(constructions.serra_fold, widths=[3, 4], _kinds={"widths": "integers"})
    yield _call(constructions.square_fold, pieces=2, normals=[[1.0, 1.0]], offsets=[-0.5], _kinds={"offsets": "array"})
    for name in ("braid", "resonance", "threshold", "type_b"):
        yield _call(getattr(arrangements, name), n=3)
    yield _call(arrangements.graphical, n=3, edges=[(0, 1)])
    yield _call(arrangements.grid, counts=[1, 2])
    yield _call(named.leaky_relu, negative_slope=0.5)
    yield _call(named.prelu, slopes=[0.5])
    yield _call(named.hard_tanh, minimum=-1.0, maximum=1.0, _kinds={"minimum": "number", "maximum": "number"})
    for function in (named.relu, named.relu6, named.absolute, named.identity):
        yield _call(function)
    yield _call(named.parse_activation, activation="relu", what="activation", _kinds={"what": "name"})
    yield _call(named.activation_per_layer, activation="relu", hidden_layers=2, _kinds={"hidden_layers": "integer"})


CALLS = tuple(calls())
