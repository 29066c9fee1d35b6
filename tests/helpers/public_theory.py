# SPDX-License-Identifier: MIT
"""How are public bounds, ensembles and studies called correctly? See `public_callables.py`."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import regions
from objects_to_call_with import (
    arc,
    network,
    property_file,
    random_networks,
    read_property,
    rng,
    segment,
    square,
    two_outputs,
)
from one_call import Call, call_of, method_of, say
from regions import bounds, ensembles

# Arguments of bounds besides `n_in` and `widths`.
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
    "low": -1.0,
    "high": 1.0,
    "offset": 0.5,
}


def calls_of_bounds() -> Iterator[Call]:
    own = {
        "bounded_chambers": {"normals": [[1, 0], [0, 1]], "offsets": [0, 1]},
        "chambers": {"normals": [[1, 0], [0, 1]], "offsets": [0, 1]},
        "characteristic_polynomial": {"normals": [[1, 0], [0, 1]], "offsets": [0, 1]},
        "expected_decision_pieces": {"n_in": 1, "widths": [2], "slope": 0.0},
        "expected_regions": {"n_in": 1, "widths": [2], "slope": 0.0},
        "expected_regions_maxout_line": {"n_in": 1, "widths": [2], "rank": 2},
        "expected_regions_wide_box": {
            "low": [0.0, 0.0, 1.0],
            "high": [1.0, 1.0, 2.0],
            "widths": [2],
            "sigma_w": 1.0,
            "sigma_b": 0.5,
        },
        "expected_regions_wide_polygon": {
            "corners": [[0.0, 1.0], [1.0, 1.0], [1.0, 2.0]],
            "widths": [2],
            "sigma_w": 1.0,
            "sigma_b": 0.5,
        },
        "expected_volume_relu_exact": {"n_in": 2, "widths": [2], "weight_std": 1.0, "dimension": 2},
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
        "low": "end of a line",
        "high": "end of a line",
        "offset": "number",
        "slope": "number",
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
        special = {
            "expected_regions_wide_box": {"low": "array", "high": "array"},
            "tube_volume": {"radius": "number"},
            "zaslavsky": {"rank": "optional integer"},
        }.get(name, {})
        yield call_of(function, **given, _kinds={**kinds, **special})
    montufar = next(bound for bound in bounds.BOUNDS if bound.name == "montufar2014_lower")
    for method in ("value", "after_each_layer"):
        yield method_of(say(montufar), method, n_in=2, widths=[4, 4])


ONE_INPUT = {"kogan_expected_regions", "telgarsky_lower"}


def calls_of_ensembles() -> Iterator[Call]:
    gauss = say(ensembles.Gaussian(1.0))
    yield call_of(ensembles.Gaussian, std=1.0, _kinds={"std": "positive"})
    yield call_of(ensembles.Uniform, bound=1.0, _kinds={"bound": "positive"})
    yield call_of(ensembles.Discrete, values=[-1.0, 1.0])
    for law in (gauss, say(ensembles.Uniform(1.0)), say(ensembles.Discrete([-1, 1]))):
        yield method_of(law, "scaled", factor=2.0, _kinds={"factor": "positive"})
        yield method_of(law, "draw", shape=[2, 3], rng=rng, _kinds={"shape": "integers"})
        if not isinstance(law(), ensembles.Discrete):
            yield method_of(law, "density", values=[0.0, 1.0])
            yield method_of(law, "probability", low=[0.0], high=[1.0])
    laws = {"weights": "laws", "biases": "laws", "scaling": "word", "alpha": "number per layer"}
    given = {"sizes": [2, 2, 1], "activation": "relu"}
    yield call_of(ensembles.Ensemble, **given, weights=gauss, biases=gauss, scaling="fan_in", alpha=0.5, _kinds=laws)
    kinds = {"weights": "laws", "biases": "laws", "rank": "integer"}
    yield call_of(ensembles.MaxoutEnsemble, sizes=[2, 2, 1], rank=2, weights=gauss, biases=gauss, _kinds=kinds)
    yield method_of(say(ensembles.MaxoutEnsemble([2, 2, 1], 2)), "draw", rng=rng)
    for function in (ensembles.he, ensembles.glorot):
        yield call_of(function, **given, law="uniform", _kinds={"law": "word"})
    yield call_of(ensembles.torch_default, **given)
    yield call_of(ensembles.frozen, network=network, rng=rng)
    yield call_of(ensembles.hanin_rolnick2019, sizes=[2, 2, 1])
    shape = {"width": 2, "depth": 2, "n_out": 1}
    kinds = {"width": "integer", "n_out": "integer", "n_in": "integer", "sigma_w": "positive", "sigma_b": "number"}
    raghu = {"sigma_w": 1.0, "sigma_b": 0.5, "activation": "relu"}
    yield call_of(ensembles.raghu2017, n_in=2, **shape, **raghu, _kinds=kinds)
    kinds = {"width": "integer", "n_out": "integer", "law": "laws", "alpha": "number per layer"}
    yield call_of(ensembles.price_tanner2020, law=gauss, alpha=0.5, **shape, _kinds=kinds)
    yield call_of(
        regions.decisions,
        network=network,
        domain=square,
        threshold=0.5,
        largest=True,
        limit=None,
        timeout=None,
        progress=None,
        workers=1,
        _kinds={"threshold": "optional any number", "largest": "flag"},
    )
    yield call_of(regions.function, network=network, domain=segment, limit=None, timeout=None)
    options = {"limit": None, "timeout": None, "progress": None, "workers": 1}
    kinds = {"loop": "network", "steps": "integer"}
    yield call_of(regions.iterate, loop=two_outputs, domain=square, steps=2, **options, _kinds=kinds)
    yield call_of(
        regions.decrease,
        loop=two_outputs,
        domain=square,
        quadratic=[[1.0, 0.0], [0.0, 1.0]],
        forms=None,
        candidate=None,
        without=lambda: regions.Polygon([[-0.5, -0.5], [0.5, -0.5], [0, 0.5]]),
        **options,
        _kinds={
            "loop": "network",
            "quadratic": "array",
            "forms": "optional array",
            "candidate": "optional array",
            "without": "optional domain",
        },
    )
    yield method_of(
        lambda: regions.image(two_outputs(), square()), "inside", polygon=square, _kinds={"polygon": "any domain"}
    )
    matrices = dict.fromkeys(("A", "B", "c"), "optional array")
    yield call_of(
        regions.closed_loop,
        network=two_outputs,
        A=[[1.0, 0.0], [0.0, 1.0]],
        B=None,
        c=[0.0, 0.0],
        steps=2,
        _kinds={**matrices, "steps": "integer"},
    )
    yield call_of(
        regions.verify,
        network=two_outputs,
        domain=square,
        unsafe=lambda: [([[1.0, 0.0]], [0.5])],
        limit=None,
        timeout=None,
        progress=None,
        workers=1,
        _kinds={"unsafe": "checkpoints"},
    )
    yield call_of(regions.load_property, path=property_file)
    yield call_of(
        regions.Property,
        lower=[[0.0, 0.0]],
        upper=[[1.0, 1.0]],
        unsafe=lambda: [[([[1.0, 0.0]], [0.5])]],
        _kinds={"unsafe": "checkpoints"},
    )
    yield method_of(read_property, "domain", box=0)
    yield method_of(read_property, "slice", free=[0], at=[0.5, 0.5], _kinds={"free": "outputs", "at": "optional array"})
    yield call_of(
        regions.verify_property,
        network=two_outputs,
        property=read_property,
        limit=None,
        timeout=None,
        progress=None,
        workers=1,
    )
    yield method_of(lambda: regions.verify_property(two_outputs(), read_property()).witness, "as_dict")
    yield call_of(
        regions.compare,
        first=two_outputs,
        second=two_outputs,
        domain=square,
        limit=None,
        timeout=None,
        progress=None,
        workers=1,
        _kinds={"first": "network", "second": "network"},
    )
    yield call_of(regions.rounded_patterns, network=network, points=[[0.5, 1.0]], dtype="float16")
    run = lambda: regions.rounded_patterns(network(), [[0.5, 0.5]])  # noqa: E731
    whole = lambda: regions.enumerate(network(), square())  # noqa: E731
    yield call_of(regions.contains_numbers, partition=whole, dtype="float16")
    yield method_of(run, "without_region", partition=whole)
    yield call_of(
        regions.integrated_gradients,
        network=network,
        points=[[0.5, 1.0]],
        baseline=None,
        path="straight",
        output=0,
        limit=None,
        timeout=None,
        progress=None,
        _kinds={"points": "array", "baseline": "optional array", "output": "output for each point", "path": "word"},
    )
    yield call_of(
        regions.level_set,
        network=network,
        domain=square,
        threshold=0.5,
        output=0,
        limit=None,
        timeout=None,
        progress=None,
        workers=1,
        _kinds={"threshold": "number", "output": "optional integer"},
    )
    yield call_of(
        regions.margin,
        network=two_outputs,
        domain=square,
        label=None,
        threshold=None,
        largest=True,
        limit=None,
        timeout=None,
        progress=None,
        workers=1,
        _kinds={"label": "optional integer", "threshold": "optional any number", "largest": "flag"},
    )
    yield method_of(lambda: regions.margin(two_outputs(), square()), "as_dict")
    for function in (regions.extremes, regions.statistics, regions.image):
        yield call_of(
            function,
            network=two_outputs,
            domain=square,
            outputs=None,
            forms=None,
            limit=None,
            timeout=None,
            progress=None,
            workers=1,
            _kinds={"outputs": "optional outputs", "forms": "optional array"},
        )
    yield call_of(
        regions.dichotomies,
        network=network,
        points=[[1.0, 2.0], [-1.0, 1.0]],
        weights=[[0.0, 1.0], [1.0, 0.0]],
        layer=1,
        quarters=2,
        output_index=0,
        progress=None,
    )
    yield call_of(
        regions.growth,
        ensemble=random_networks,
        curve=arc,
        networks=2,
        rng=rng,
        progress=None,
        workers=1,
        _kinds={"ensemble": "random networks", "curve": "domains", "networks": "integer"},
    )
