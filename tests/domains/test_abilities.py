# SPDX-License-Identifier: MIT
"""Does every public function give a result in every domain, or the one message that says where it would?"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from regions import export, measures, reference
from regions.domains.abilities import MOST_ENUMERATED, Ability, require, why_not
from regions.domains.plane_sections import plane_section
from regions.errors import DomainError

MESSAGE = re.compile(
    r"(.+ exist in (\d or \d|\d to \d+|\d+) dimensions?; .+ has \d+"
    r"|.+ exist in bounded domains( of \d and more dimensions)?; .+ is unbounded)\. Take an? .+\."
)


def simplex(dimension: int) -> regions.Polytope:
    return regions.Polytope(np.vstack([np.ones(dimension), -np.eye(dimension)]), [1] + [0] * dimension)


BOUNDED = [
    regions.Segment([-1.0], [1.0]),
    regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]),
    *(kind for d in (3, 4, 7) for kind in (regions.Box([-1] * d, [1] * d), simplex(d))),
    regions.Box([-1] * 12, [1] * 12),
]
# These take boxes of any dimension.
BOUNDED_IN_BOXES = {"extremes", "compare", "margin", "verify"}
UNBOUNDED = [
    regions.Line([0.0], [1.0]),
    regions.Ray([0.0], [1.0]),
    regions.Plane([0, 0], [1, 0], [0, 1]),
    regions.Polytope([[-1, 0, 0], [0, -1, 0]], [0, 1]),
    *(regions.Space([0] * d, np.eye(d)) for d in (3, 4, 7)),
]
EVERY = [*BOUNDED, *UNBOUNDED]


def loop(dimension: int) -> regions.Network:
    """A network from a space into itself, with a region on either side of a plane; halved, so that it decreases."""
    rows = np.eye(dimension)
    rows[0, -1] += 0.25
    return regions.Network([(rows, np.zeros(dimension)), (np.eye(dimension) / 4, np.zeros(dimension))])


def scalar(dimension: int) -> regions.Network:
    """The first output of the loop, less a threshold that it crosses."""
    return regions.Network(
        [(np.vstack([np.ones(dimension), np.eye(dimension)[0]]), [0.0, -0.25]), ([[1.0, 1.0]], [-0.125])]
    )


def partition(domain: Any) -> Any:
    return regions.enumerate(scalar(domain.dimension), domain)


def classes(domain: Any) -> Any:
    return regions.decisions(scalar(domain.dimension), domain)


def of_partition(function: Callable[[Any], Any]) -> Callable[[Any, Path], Any]:
    return lambda domain, _: function(partition(domain))


def of_network(
    function: Callable[[Any, Any], Any], network: Callable[[int], Any] = scalar
) -> Callable[[Any, Path], Any]:
    return lambda domain, _: function(network(domain.dimension), domain)


def middle(domain: Any) -> list[list[float]]:
    return [domain.to_input(np.full(domain.dimension, 0.25)).tolist()]


def certified_stream(net: Any, domain: Any) -> Any:
    whole = regions.StreamCertification(net, domain)
    for block in regions.stream(net, domain):
        whole.add(block)
    return whole.report()


def recorded(net: Any, domain: Any, **options: Any) -> Any:
    record = regions.TrainingRecord(domain, **options)
    record.record(0, net)
    return record


def written(domain: Any, folder: Path, suffix: str) -> None:
    if suffix in (".parquet", ".arrow"):
        pytest.importorskip("pyarrow")
    export.export(partition(domain), folder / f"regions{suffix}")


def drawn(what: Callable[[Any], Any]) -> Callable[[Any, Path], Any]:
    def draw(domain: Any, _: Path) -> Any:
        matplotlib = pytest.importorskip("matplotlib")
        matplotlib.use("Agg")
        axes = regions.plot(what(domain))
        matplotlib.pyplot.close("all")
        return axes

    return draw


def below(domain: Any) -> list[tuple[Any, Any]]:
    return [([[1.0]], [-100.0])]


# Dimensions in which bounded domains work, and in which unbounded ones do.
ALL, NONE, ENUMERATED, FLAT, LINE = range(1, 11), (), range(1, 7), (1, 2), (1,)
CASES: dict[str, tuple[Callable[[Any, Path], Any], Any, Any]] = {
    "count": (of_network(regions.count), ALL, ALL),
    "certified_count": (of_network(regions.certified_count), ALL, ALL),
    "reference.count": (of_network(reference.count), ALL, ALL),
    "reference.enumerate": (of_network(reference.enumerate), ALL, ALL),
    "check": (of_network(regions.check), ALL, ALL),
    "sign_twins": (of_network(lambda net, domain: regions.sign_twins(net, domain, 3)), ALL, ALL),
    "jobs.split": (of_network(lambda net, domain: regions.jobs.split(net, domain, n=2)), ALL, ALL),
    "enumerate": (of_network(regions.enumerate), ENUMERATED, FLAT),
    "stream": (of_network(lambda net, domain: list(regions.stream(net, domain))), ENUMERATED, FLAT),
    "certify": (of_partition(lambda part: regions.certify(part, part.network)), ENUMERATED, FLAT),
    "StreamCertification": (of_network(certified_stream), ENUMERATED, NONE),
    "statistics": (of_network(regions.statistics), ENUMERATED, FLAT),
    "statistics.mean": (of_network(lambda net, domain: regions.statistics(net, domain).mean), ENUMERATED, NONE),
    "statistics.integral": (of_network(lambda net, domain: regions.statistics(net, domain).integral), ENUMERATED, NONE),
    "extremes": (of_network(regions.extremes), ENUMERATED, FLAT),
    "margin": (of_network(regions.margin), ENUMERATED, NONE),
    "verify": (of_network(lambda net, domain: regions.verify(net, domain, below(domain))), ENUMERATED, NONE),
    "compare": (of_network(lambda net, domain: regions.compare(net, net, domain)), ENUMERATED, FLAT),
    "compare.disagreement": (
        of_network(lambda net, domain: regions.compare(net, net, domain).disagreement),
        ENUMERATED,
        NONE,
    ),
    "linear_regions": (of_partition(lambda part: regions.linear_regions(part, "open")), ENUMERATED, FLAT),
    "linear_regions.polygons": (
        of_partition(
            lambda part: getattr(regions.linear_regions(part, "open"), ("intervals", "polygons")[part.dimension > 1])
        ),
        FLAT,
        LINE,
    ),
    "decisions": (lambda domain, _: classes(domain), ENUMERATED, FLAT),
    "decisions.curves": (lambda domain, _: classes(domain).curves, FLAT, FLAT),
    "decisions.surface": (lambda domain, _: classes(domain).surface(0, 1), (3,), NONE),
    "level_set": (of_network(regions.level_set), (1, 2, 3), FLAT),
    "function": (of_network(regions.function), LINE, LINE),
    "function.to_scipy": (of_network(lambda net, domain: regions.function(net, domain).to_scipy()), LINE, NONE),
    "image": (of_network(regions.image, loop), FLAT, NONE),
    "iterate": (of_network(lambda net, domain: regions.iterate(net, domain, 1), loop), FLAT, NONE),
    "decrease": (
        of_network(lambda net, domain: regions.decrease(net, domain, quadratic=np.eye(net.n_in)), loop),
        FLAT,
        NONE,
    ),
    "TrainingRecord": (of_network(lambda net, domain: recorded(net, domain)), FLAT, NONE),
    "TrainingRecord(keep=True)": (of_network(lambda net, domain: recorded(net, domain, keep=True)), FLAT, NONE),
    "TrainingRecord(points=)": (
        of_network(lambda net, domain: recorded(net, domain, points=middle(domain) * 2)),
        FLAT,
        FLAT,
    ),
    "write_certificate": (
        lambda domain, folder: regions.write_certificate(partition(domain), folder / "c.regions-certificate"),
        FLAT,
        NONE,
    ),
    "plot": (drawn(partition), (1, 2, 3), FLAT),
    "plot(decisions)": (drawn(classes), FLAT, FLAT),
    "view": (of_partition(regions.view), (1, 2, 3), FLAT),
    "to_html": (lambda domain, folder: partition(domain).to_html(folder / "page.html"), (1, 2, 3), FLAT),
    "export.to_columns": (of_partition(export.to_columns), ENUMERATED, FLAT),
    "export.write_csv": (of_partition(lambda part: export.write_csv(part, io.StringIO())), ENUMERATED, FLAT),
    "export.write_geojson": (of_partition(lambda part: export.write_geojson(part, io.StringIO())), FLAT, NONE),
    "save": (lambda domain, folder: partition(domain).save(folder / "saved.npz"), ENUMERATED, FLAT),
    "locate": (lambda domain, _: partition(domain).locate(middle(domain)), ENUMERATED, FLAT),
    "affine_maps": (of_partition(lambda part: part.affine_maps()), ENUMERATED, FLAT),
    "to_shapely": (of_partition(lambda part: part.to_shapely()), FLAT, NONE),
    "folded_cells": (of_partition(lambda part: part.folded_cells()), FLAT, LINE),
    "to_networkx": (of_partition(lambda part: part.to_networkx()), ENUMERATED, FLAT),
    "plot(several)": (drawn(lambda domain: [partition(domain)]), FLAT, FLAT),
    "exact_vertices": (of_partition(lambda part: part.exact_vertices()), ENUMERATED, FLAT),
    **{
        f"export to {suffix}": (lambda domain, folder, suffix=suffix: written(domain, folder, suffix), *works)
        for suffix, works in {
            ".npz": (ENUMERATED, FLAT),
            ".csv": (ENUMERATED, FLAT),
            ".geojson": (FLAT, NONE),
            ".parquet": (FLAT, NONE),
            ".arrow": (FLAT, NONE),
            ".vtu": ((3,), NONE),
        }.items()
    },
    **{
        f"measures.{name}": (of_partition(getattr(measures, name)), ENUMERATED, FLAT)
        for name in (
            "boundary_facets",
            "boundary_volume",
            "gradient_jumps",
            "perimeters",
            "perimeter_errors",
            "switching_kinks",
            "degrees",
            "diameter",
            "expansion",
            "functional_dimension",
            "side_counts",
            "transversality",
        )
    },
    "measures.boundary_volume.densities": (
        of_partition(lambda part: measures.boundary_volume(part).densities),
        ENUMERATED,
        NONE,
    ),
    "measures.inscribed_discs": (of_partition(measures.inscribed_discs), ENUMERATED, NONE),
    "measures.regions_in_discs": (
        lambda domain, _: measures.regions_in_discs(partition(domain), middle(domain), 0.25),
        FLAT,
        NONE,
    ),
    "measures.distance_in_domain": (
        lambda domain, _: measures.distance_in_domain(partition(domain), middle(domain)),
        ENUMERATED,
        FLAT,
    ),
    "section": (lambda domain, _: plane_section(domain), range(2, 11), NONE),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_function_works_or_says_where_it_would(name: str, tmp_path: Path) -> None:
    call, bounded, unbounded = CASES[name]
    for domain in EVERY:
        works = domain.dimension in (bounded if domain.bounded else unbounded)
        works |= name in BOUNDED_IN_BOXES and isinstance(domain, regions.Box)
        try:
            call(domain, tmp_path)
        except DomainError as error:
            assert MESSAGE.fullmatch(str(error)), (domain, str(error))
            assert not works, (domain, str(error))
        else:
            assert works, domain


def test_reasons_are_given_in_a_few_words() -> None:
    line = Ability("things", most=1, bounded_from=1)
    assert why_not(line, BOUNDED[0]) == ""
    assert why_not(line, BOUNDED[1]) == "the domain has more than 1 dimension"
    assert why_not(line, UNBOUNDED[0]) == "the domain is unbounded"
    assert why_not(Ability("things", least=3), BOUNDED[1]) == "the domain has fewer than 3 dimensions"
    assert why_not(Ability("things", bounded_from=3), UNBOUNDED[-3]) == "the domain is unbounded, in 3 dimensions"


def test_advice_names_a_domain_that_would_do() -> None:
    box = regions.Box([0] * 10, [1] * 10)
    for most, advice in (
        (1, "Take a Segment in it."),
        (2, "Take a Polygon in it, such as domain.section(point, axes)."),
        (3, "Take a Box that fixes 7 coordinates."),
        (MOST_ENUMERATED + 1, "Take a Box that fixes three coordinates."),
        (9, "Take a Box that fixes one coordinate."),
    ):
        with pytest.raises(DomainError) as caught:
            require(Ability("things", most=most), box)
        assert str(caught.value).endswith(f"this domain has 10. {advice}")
    with pytest.raises(DomainError, match=r"^things exist in 3 dimensions; polygon has 2\. Take a Box, or a globe\.$"):
        require(Ability("things", least=3, most=3, instead="a globe"), BOUNDED[1], "polygon")
