# SPDX-License-Identifier: MIT
"""Which callables are public, and how is each of them called correctly?

A `Call` for every function, constructor and method that a user can reach: one good list of arguments, complete, and for
each parameter its kind. `public_names.py` lists all public names, so that a test finds those missing here.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from inspect import signature

import numpy as np

import regions
from calls_from_names import derived
from objects_to_call_with import (
    arc,
    axes,
    decided_in_box,
    figure,
    folder,
    grown,
    model_file,
    moments,
    network,
    partition,
    partition_of_box,
    points_file,
    random_networks,
    record,
    rng,
    saved,
    segment,
    square,
    surface,
    sweep,
)
from one_call import Call, call_of, method_of, say
from public_names import WITHOUT
from public_theory import calls_of_bounds, calls_of_ensembles
from regions import arrangements, constructions, export, jobs, measures
from regions.networks import named_activations as named
from regions.read import read_tensors


def calls() -> Iterator[Call]:
    """Yield all calls."""
    registered = [*_top(), *_classes(), *calls_of_bounds(), *calls_of_ensembles(), *_others()]
    yield from registered
    yield from derived(registered)


def _top() -> Iterator[Call]:
    few = {"regions": 2, "progress": False}
    yield call_of(
        regions.certify, part=partition, net=network, **few, timeout=None, workers=1, _kinds={"regions": "some or all"}
    )
    yield call_of(
        regions.check, network=network, domain=square, distances=False, timeout=None, _kinds={"distances": "flag"}
    )
    together = {"limit": 100, "timeout": None, "progress": False, "workers": 1}
    yield call_of(regions.sign_twins, network=network, domain=square, twins=3, rng=rng, **together)
    yield call_of(regions.circumsquare, a=[0, 0, 1], b=[1, 0, 0], c=[0, 1, 0], side=2.0)
    yield call_of(
        regions.count,
        network=network,
        domain=square,
        definition="activation",
        limit=100,
        timeout=None,
        progress=False,
        workers=1,
        executor=None,
        checkpoint=None,
        _kinds={"network": "networks", "domain": "domains"},
    )
    yield call_of(
        regions.certified_count,
        network=network,
        domain=square,
        definition="activation",
        limit=100,
        timeout=None,
        progress=False,
        workers=1,
        executor=None,
        checkpoint=None,
        _kinds={"network": "networks", "domain": "domains"},
    )
    job = {"network": network, "domain": square}
    kinds = {"network": "networks", "domain": "domains"}
    yield call_of(jobs.split, **job, n=1, definition="activation", limit=100, function="count", _kinds=kinds)
    (task,) = jobs.split(network(), square(), 1)
    yield call_of(jobs.run, task=say(task), workers=1)
    yield call_of(jobs.join, results=[jobs.run(task)])
    few = {"regions_per_block": 2, "start": (), "limit": 100, "progress": False}
    few |= {"timeout": None, "workers": 1, "executor": None, "checkpoint": None}
    yield call_of(regions.stream, network=network, domain=square, **few)
    del few["start"]
    yield call_of(measures.summarize, network=network, domain=square, **few)
    options = {"batch_norm_eps": 1e-5, "prefix": None, "normalize": (0.5, 2.0), "fuse_max": False}
    yield call_of(
        regions.load,
        source=model_file,
        activation="relu",
        input_shape=None,
        outputs=None,
        **options,
        _kinds={"normalize": "normalization", "input_shape": "untried", "outputs": "prefix"},
    )
    yield call_of(read_tensors, source=model_file)
    yield call_of(regions.load_partition, path=saved)
    untried = {"array": "untried", "inputs": "untried", "skip_columns": "untried"}
    yield call_of(regions.load_points, path=points_file, array=None, inputs=None, skip_columns=(), _kinds=untried)
    options = {"mark": True, "title": "x", "legend": True, "at": None}
    kinds = {"partition": "untried", **dict.fromkeys(options, "untried")}
    yield call_of(regions.plot, partition=partition, ax=axes, color_by="layer", output_index=0, **options, _kinds=kinds)
    # tests/look/test_page.py and test_dots.py try the options of pages.
    options = {"title": "x", "mark": {"a": [0.5, 0.5]}, "images": {"a": [[0.5]]}}
    kinds = {**dict.fromkeys(options, "untried"), "path": "path to write"}
    yield method_of(partition, "to_html", path=lambda: folder() / "page.html", **options, _kinds=kinds)
    in_box = options | {"mark": {"a": [0.5, 0.5, 0.5]}}
    yield method_of(partition_of_box, "to_html", path=lambda: folder() / "page.html", **in_box, _kinds=kinds)
    unmarked = options | {"mark": True, "images": {}}
    yield call_of(regions.view, partition=partition, height=300, **unmarked, _kinds=kinds | {"height": "integer"})
    to_write = lambda: folder() / "surface.ply"  # noqa: E731
    yield method_of(
        surface, "export", path=to_write, triangles=True, _kinds={"path": "path to write", "triangles": "flag"}
    )
    options = {"title": "x", "classes": ["low", "high"]}
    kinds = {**dict.fromkeys(options, "untried"), "path": "path to write"}
    path = lambda: regions.trajectory(network(), arc())  # noqa: E731
    yield method_of(path, "to_html", path=lambda: folder() / "page.html", **options, _kinds=kinds)
    kinds = {"curve": "domains"}
    yield call_of(
        regions.trajectory, network=network, curve=arc, limit=100, timeout=None, progress=False, workers=1, _kinds=kinds
    )
    kinds = {"points": "optional array", "domain": "domains", "radius": "optional number", "twins": "optional integer"}
    yield call_of(
        regions.watch,
        checkpoints=lambda: [network(), network()],
        domain=square,
        points=[[0.5, 0.5], [0.25, 0.5]],
        activation="relu",
        keep=True,
        steps=[0, 1],
        radius=None,
        twins=None,
        progress=False,
        _kinds={
            "points": "optional array",
            "domain": "domains",
            "radius": "optional number",
            "twins": "optional integer",
        },
    )


def _classes() -> Iterator[Call]:
    hat = {"breakpoints": [0.0], "slopes": [0.0, 1.0], "intercepts": [0.0, 0.0]}
    yield call_of(regions.Activation, name="hat", **hat, _kinds={"breakpoints": "array"})
    for method in ("__call__", "pieces"):
        yield method_of(named.relu, method, values=[1.0, -1.0])
    for method in ("slopes_of", "intercepts_of"):
        yield method_of(named.relu, method, pieces=[0, 1], _kinds={"pieces": "piece numbers"})
    layer = {"weights": [[1.0]], "biases": [0.0], "activation": named.relu}
    yield call_of(regions.Layer, **layer, name="layer 3", _kinds={"activation": "activation"})
    yield call_of(regions.Network, layers=lambda: [([[1.0]], [0.0]), ([[1.0]], [0.0])], activation="relu")
    yield call_of(regions.Network.from_layers, layers=lambda: list(network().layers), notes=["x"])
    yield call_of(
        regions.Network.from_graph,
        graph=lambda: network().graph,
        input_shape=[2],
        notes=["x"],
        input_names=None,
        _kinds={"input_names": "untried", "input_shape": "optional integers"},
    )
    yield method_of(network, "until", node=0)
    yield method_of(network, "outputs", chosen=[0], _kinds={"chosen": "outputs"})
    yield method_of(network, "affine_map", pattern=lambda: np.ones(2, dtype=bool))
    yield call_of(regions.Domain, origin=[0.0, 0.0], directions=[[1.0, 0.0]], generators=[[1, 0], [1, 1]])
    yield call_of(regions.Segment, a=[0.0, 0.0], b=[1.0, 1.0])
    yield call_of(regions.Line, point=[0.0, 0.0], direction=[1.0, 1.0])
    yield call_of(regions.Ray, point=[0.0, 0.0], direction=[1.0, 1.0])
    for kind in (regions.Plane, regions.Rectangle):
        yield call_of(kind, origin=[0.0, 0.0], e1=[1.0, 0.0], e2=[0.0, 1.0])
    yield call_of(regions.Polygon, vertices=[[0, 0], [1, 0], [0, 1]])
    for kind in (regions.Polygon, regions.Rectangle):
        corners = [[0, 0], [1, 0], [0, 1]] if kind is regions.Polygon else [[0, 0], [1, 0], [1, 1], [0, 1]]
        yield call_of(
            kind.in_chart,
            _name=f"{kind.__name__}.in_chart",
            origin=[0.0, 0.0],
            directions=[[1, 0], [0, 1]],
            corners=corners,
        )
    axes = np.eye(3).tolist()
    halves = {"normals": [*axes, [-1, -1, -1]], "offsets": [1, 1, 1, 0]}
    chart, arrays = {"origin": [0, 0, 0], "directions": axes}, {"offsets": "array"}
    yield call_of(regions.Polytope, **halves, _kinds=arrays)
    yield call_of(regions.Box, low=[0, 0, 0], high=[1, 1, 1])
    yield call_of(regions.Rectangle.from_bounds, low=[0, 0, 0], high=[1, 1, 0])
    yield call_of(regions.Box.around, point=[0, 0, 0], radius=1.0, directions=axes)
    yield call_of(regions.Space, **chart)
    for polytope in (regions.Polytope, regions.Box, regions.Space):
        name = f"{polytope.__name__}.in_chart"
        yield call_of(polytope.in_chart, _name=name, **chart, **halves, _kinds=arrays)
    for solid in (regions.Polytope(**halves), regions.Box([0, 0, 0], [1, 1, 1]), regions.Space(**chart)):
        yield method_of(say(solid), "to_input", chart_points=[[0.25] * 3])
        for method in ("to_chart", "project"):
            yield method_of(say(solid), method, input_points=[[0.25] * 3])
    for solid in ("Polytope", "Box", "Space"):  # the same method; a Space is unbounded and has no sections
        section = {"point": [0.25] * 3, "axes": (0, 1), "_kinds": {"point": "optional array", "axes": "untried"}}
        yield call_of(regions.Box([0, 0, 0], [1, 1, 1]).section, _name=f"{solid}.section", **section)
    for domain in _domains():
        yield method_of(say(domain), "to_input", chart_points=[[0.25] * domain.dimension])
        for method in ("to_chart", "project"):
            yield method_of(say(domain), method, input_points=[[0.25, 0.25]])
    in_plane = {"u": [1.0, 0.0], "v": [0.0, 1.0]}
    yield call_of(regions.Polyline, points=[[0.0, 0.0], [1.0, 1.0]])
    yield call_of(regions.Circle, center=[0.0, 0.0], **in_plane, _kinds=dict.fromkeys(in_plane, "array"))
    for kind in (regions.Arc, regions.GreatCircle):
        yield call_of(kind, x0=[1.0, 0.0], x1=[0.0, 1.0], _kinds={"x0": "array", "x1": "array"})
    for curve in _curves():
        yield method_of(say(curve), "to_input", t=[0.0, 0.5], _kinds={"t": "array"})
    output = {
        "output": 0,
        "_kinds": {"threshold": "number", "share": "untried", "bins": "untried", "output": "integer"},
    }
    yield method_of(moments, "share_above", threshold=0.5, **output)
    yield method_of(moments, "quantile", share=0.5, **output)
    yield method_of(moments, "histogram", bins=3, **output)
    yield method_of(moments, "lipschitz", norm=2, space="input", _kinds={"norm": "untried"})
    yield method_of(lambda: regions.function(network(), segment()), "__call__", t=[0.0, 0.5], _kinds={"t": "array"})
    yield method_of(
        lambda: regions.function(network(), segment()),
        "to_c",
        path=lambda: folder() / "function.h",
        name="hat",
        _kinds={"path": "path to write", "name": "word"},
    )
    yield method_of(partition, "to_csv", path=lambda: folder() / "table.csv", _kinds={"path": "optional path to write"})
    if importlib.util.find_spec("pandas") is not None:
        yield method_of(partition, "to_dataframe")
    for method in ("to_columns", "to_json"):
        yield method_of(grown, method)
    yield method_of(
        lambda: regions.check(network(), segment()),
        "to_html",
        path=lambda: folder() / "check.html",
        _kinds={"path": "optional path to write"},
    )
    yield method_of(sweep, "sauer_shelah", dimension=2)
    for method in ("as_dict", "to_json"):
        yield method_of(lambda: regions.trajectory(network(), arc()), method)
    yield method_of(grown, "estimates", quantity="growth", _kinds={"quantity": "word"})
    yield method_of(grown, "deviations", law=lambda: grown().laws[0], _kinds={"law": "laws"})
    yield method_of(lambda: regions.trajectory(network(), arc()), "image", layer=1, between=2)
    yield method_of(lambda: regions.trajectory(network(), arc()), "plot", figure=figure)
    yield call_of(
        regions.Partition,
        network=network,
        domain=square,
        raw=lambda: partition().__reduce__()[1][2],
        _kinds={"domain": "any domain"},
    )
    yield call_of(
        regions.PolytopePartition,
        network=lambda: partition_of_box().network,
        domain=lambda: partition_of_box().domain,
        raw=lambda: partition_of_box().__reduce__()[1][2],
        _kinds={"domain": "any domain"},
    )
    yield method_of(partition_of_box, "exact_vertices", indices=[0])
    yield method_of(partition_of_box, "to_networkx")
    kinds = {"first": "integer", "second": "integer"}
    yield method_of(decided_in_box, "surface", first=0, second=1, _kinds=kinds)
    yield method_of(partition_of_box, "locate", points=[[0.5, 0.25, 0.5]], space="input")
    yield method_of(partition_of_box, "affine_maps", indices=[0], space="chart")
    box = lambda: folder() / "box.npz"  # noqa: E731
    yield method_of(partition_of_box, "save", path=box, _kinds={"path": "path to write"})
    yield method_of(partition, "save", path=lambda: folder() / "out.npz", _kinds={"path": "path to write"})
    yield call_of(regions.Partition.load, path=saved)
    yield method_of(lambda: partition()[0], "affine_map", space="chart")
    yield method_of(lambda: partition().exact_vertices(), "__getitem__", key=0)
    yield method_of(lambda: partition().exact_vertices(), "to_float")
    for method in ("as_dict", "to_json"):
        yield method_of(lambda: partition().certificate, method)
    for method in ("as_dict", "to_json"):
        yield method_of(lambda: regions.certify(partition(), network()), method)
        yield method_of(lambda: regions.certify(regions.trajectory(network(), arc()), network()), method)
    kinds = {"points": "optional array", "domain": "domains", "radius": "optional number", "twins": "optional integer"}
    yield call_of(
        regions.TrainingRecord,
        domain=square,
        points=[[0.5, 0.5], [0.25, 0.5]],
        activation="relu",
        keep=True,
        radius=None,
        twins=None,
        _kinds={
            "points": "optional array",
            "domain": "domains",
            "radius": "optional number",
            "twins": "optional integer",
        },
    )
    yield method_of(record, "record", step=1, network=network, progress=False, _kinds={"network": "source"})
    yield method_of(record, "to_csv", path=lambda: folder() / "record.csv", _kinds={"path": "optional path to write"})
    # Their own tests try the options.
    options = {"title": "x", "mark": True, "images": {}}
    kinds = {**dict.fromkeys(options, "untried"), "path": "path to write"}
    yield method_of(record, "to_html", path=lambda: folder() / "page.html", **options, _kinds=kinds)
    options = {"color_by": "class", "output_index": 0, "mark": False, "title": "x", "legend": True, "seconds": 0.4}
    kinds = {**dict.fromkeys(options, "untried"), "path": "path to write"}
    yield method_of(record, "animate", path=lambda: folder() / "film.gif", **options, _kinds=kinds)


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


def summary() -> measures.StreamSummary:
    return measures.StreamSummary(network(), square())


def _others() -> Iterator[Call]:
    yield call_of(measures.Ball, center=[0.0, 0.0], radius=1.0)
    yield call_of(measures.Hyperrectangle, lower=[0.0, 0.0], upper=[1.0, 1.0])
    for body in (measures.Ball([0.0, 0.0], 1.0), measures.Hyperrectangle([0.0, 0.0], [1.0, 1.0])):
        for method in ("chords", "points"):
            yield method_of(say(body), method, count=3, rng=rng, _kinds={"count": "integer"})
    yield call_of(measures.Estimate, samples=[1.0, 2.0])
    yield method_of(lambda: measures.Estimate([1.0, 2.0]), "deviation", other=1.0)
    yield method_of(lambda: measures.Estimate([1.0, 2.0]), "interval", confidence=0.9)
    yield call_of(measures.StreamSummary, network=network, domain=square, state=None)
    yield method_of(summary, "add", block=partition)
    yield method_of(summary, "merge", other=summary)
    certification = lambda: regions.StreamCertification(network(), square())  # noqa: E731
    yield call_of(regions.StreamCertification, network=network, domain=square, workers=1)
    yield method_of(certification, "add", block=partition)
    yield method_of(certification, "merge", other=certification)
    yield method_of(certification, "report")
    yield call_of(
        regions.write_certificate,
        found=partition,
        path=lambda: folder() / "a.npz",
        limit=100,
        timeout=None,
        _kinds={"found": "partition", "path": "path to write"},
    )
    for method in ("as_dict", "size_histogram", "to_json"):
        yield method_of(summary, method)
    body = say(measures.Ball([0.0, 0.0], 1.0))
    few = {"lines": 2, "rng": rng, "workers": 1}
    yield call_of(measures.crofton_density, network=network, body=body, boundary="activation", **few)
    for function, last in ((measures.hanin_rolnick_integral, "places"), (measures.mean_boundary_density, "lines")):
        yield call_of(
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
    yield call_of(
        measures.local_complexity,
        network=network,
        points=inside,
        radius=1.0,
        directions=None,
        _kinds={"directions": "optional array"},
    )
    yield call_of(measures.regions_in_discs, partition=partition, points=inside, radius=0.5, space="input")
    yield call_of(measures.transversality, partition=partition)
    in_box = {"network": network, "box": say(measures.Hyperrectangle([0.0, 0.0], [1.0, 1.0]))}
    yield call_of(measures.unit_states_in_box, **in_box, _kinds={"box": "body"})
    yield call_of(measures.unit_states, found=partition, _kinds={"found": "partition"})
    yield method_of(lambda: measures.unit_states(partition()), "units", state="dead", _kinds={"state": "word"})
    for found in (measures.distance_in_domain(partition(), inside), measures.distance_to_boundary(network(), inside)):
        yield method_of(say(found), "log_histogram", bins=5, _kinds={"bins": "bins"})
    yield call_of(
        export.export,
        partition=partition,
        path=lambda: folder() / "out.csv",
        tetrahedra=False,
        _kinds={"path": "path to write", "tetrahedra": "flag"},
    )
    if "export_blocks" not in WITHOUT:
        written = {"path": lambda: folder() / "out.parquet"}
        yield call_of(export.export_blocks, blocks=lambda: [partition()], **written, _kinds={"path": "path to write"})
    yield call_of(constructions.arrangement, normals=[[1, 0], [0, 1]], offsets=[0, 1])
    saw = say(constructions.sawtooth(1))
    yield call_of(constructions.compose, first=saw, second=saw)
    yield call_of(constructions.montufar_fold, pieces=2, depth=2)
    two = {"networks": lambda: (network(), network())}
    yield call_of(constructions.product, **two, _kinds={"networks": "network"})
    yield call_of(constructions.sawtooth, depth=2)
    yield call_of(constructions.serra_fold, widths=[3, 4], _kinds={"widths": "integers"})
    yield call_of(
        constructions.square_fold, pieces=2, normals=[[1.0, 1.0]], offsets=[-0.5], _kinds={"offsets": "array"}
    )
    yield call_of(arrangements.graphical, n=3, edges=[(0, 1)])
    yield call_of(arrangements.grid, counts=[1, 2])
    yield call_of(named.prelu, slopes=[0.5])
    for row in named.ACTIVATIONS:
        numbers = {
            name: 0.5 if default is None else default
            for name, default in zip(signature(row.make).parameters, row.defaults, strict=True)
        }
        yield call_of(row.make, **numbers, _kinds=dict.fromkeys(numbers, "number"))
    yield call_of(named.parse_activation, activation="relu", what="activation", _kinds={"what": "name"})
    yield call_of(named.activation_per_layer, activation="relu", hidden_layers=2, _kinds={"hidden_layers": "integer"})


CALLS = tuple(calls())
