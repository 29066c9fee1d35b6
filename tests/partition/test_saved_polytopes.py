# SPDX-License-Identifier: MIT
"""Does a saved partition of three to six dimensions come back the same, and does an error name every other file?"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from partition_cases import read_with_flipped_bytes, with_header
from polytope_cases import he_normal
from regions import export
from regions.errors import DomainError, NotACheckpointError
from regions.results.cells.complex import POLYTOPE_ARRAYS

TETRAHEDRON = regions.Polytope.in_chart(
    [0, 0, 5, 1], np.eye(3, 4), [[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1], [1, 1, 1]], [0, 0, 0, 1, 2]
)
CASES = [
    (he_normal([3, 6, 6, 2]), regions.Box([-1] * 3, [1] * 3)),
    (he_normal([5, 7, 1]), regions.Box([-1, 0, -1, 0.5, -1], [1, 1, 1, 0.5, 1])),
    (he_normal([4, 5, 5, 1]), TETRAHEDRON),
    (he_normal([6, 4, 1]), regions.Box([-1] * 6, [1] * 6)),
    (he_normal([9, 8, 1]), regions.Box.around(np.full(9, 0.25), 2.0, np.eye(3, 9) + 0.125)),
]


@pytest.mark.parametrize(("net", "domain"), CASES)
def test_what_is_saved_comes_back(net: regions.Network, domain: regions.Polytope, tmp_path: Path) -> None:
    part = regions.enumerate(net, domain)
    part.save(tmp_path / "part.npz")
    again = regions.load_partition(tmp_path / "part.npz")
    assert again == part and type(again) is regions.PolytopePartition and type(again.domain) is type(domain)
    assert again.stats == part.stats and again.kernel == part.kernel and again.complete
    assert (again.volumes == part.volumes).all() and (again.domain.generators == domain.generators).all()
    assert not any(getattr(again, name).flags.writeable for name in POLYTOPE_ARRAYS)
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "part.npz").read_bytes()


def test_partial_results_come_back(tmp_path: Path) -> None:
    with pytest.raises(regions.LimitReached) as stopped:
        regions.enumerate(*CASES[0], limit=10)
    partial = stopped.value.partial
    partial.save(tmp_path / "part.npz")
    again = regions.load_partition(tmp_path / "part.npz")
    assert again == partial and not again.complete
    near = regions.level_set(he_normal([3, 6, 6, 1]), CASES[0][1], 0.125).partition  # some cells were left out
    near.save(tmp_path / "near.npz")
    assert regions.load_partition(tmp_path / "near.npz") == near


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("saved") / "good.npz"
    regions.enumerate(*CASES[0]).save(path)
    with np.load(path) as file:
        return dict(file)


def refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(NotACheckpointError, match=message) as caught:
        regions.load_partition(tmp_path / "bad.npz")
    assert str(caught.value).startswith(f"{tmp_path / 'bad.npz'}: ")


@pytest.mark.parametrize("name", [*POLYTOPE_ARRAYS, "domain_forms", "domain_directions"])
def test_arrays_that_are_missing_or_of_another_shape(name: str, good: dict[str, Any], tmp_path: Path) -> None:
    refused(tmp_path, {key: array for key, array in good.items() if key != name}, "missing or unexpected")
    refused(tmp_path, {**good, name: good[name].astype(np.float32)}, "float32")
    for changed in (good[name][:0], good[name][:-1], good[name][..., np.newaxis]):
        refused(tmp_path, {**good, name: changed}, "bad.npz")


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("cell_offsets", 1, 3, "cell_offsets has fewer than 4 entries of cell_vertices at 0"),
        ("cell_offsets", 0, 1, "cell_offsets must go from 0 to"),
        ("cell_facet_offsets", -1, 4, "cell_facet_offsets must go from 0 to .*, the size of cell_facets"),
        ("facet_offsets", 1, 2, "facet_offsets has fewer than 3 entries of facet_vertices at 0"),
        ("facet_offsets", 1, 2**62, "facet_offsets has fewer"),
        ("cell_vertices", 0, 2**62, "cell_vertices.*outside of 0 to"),
        ("cell_facets", 0, -1, "cell_facets.*outside of 0 to"),
        ("facet_vertices", 0, -1, "facet_vertices.*outside of 0 to"),
        ("facet_kinks", 0, -7, "facet_kinks.*outside of -6 to"),
        ("facet_regions", 0, 2**31, "facet_regions.*outside of -1 to"),
        ("vertices", 0, np.nan, "vertex 0 is not a number"),
        ("vertices", 0, np.inf, "vertex 0 is infinite, but the domain is bounded"),
        ("vertex_errors", 0, -1.0, "the error of vertex 0 is -1.0, not a bound"),
        ("domain_forms", 0, 7.0, "the domain is not the one"),
        ("domain_forms", 1, 0.5, "not the sides of a box"),
        ("domain_forms", 0, np.nan, "finite"),
        ("domain_forms", 0, -1.0, "empty or flat"),
    ],
)
def test_values_that_do_not_fit(
    name: str, place: int, value: float, message: str, good: dict[str, Any], tmp_path: Path
) -> None:
    array = good[name].copy()
    array.flat[place] = value
    refused(tmp_path, {**good, name: array}, message)


def test_faces_that_do_not_agree(good: dict[str, Any], tmp_path: Path) -> None:
    def changed(name: str, place: int, other: int) -> dict[str, Any]:
        array = good[name].copy()
        array[place] = array[other]
        return {**good, name: array}

    refused(tmp_path, changed("cell_vertices", 0, 1), "region 0 has vertex .* twice")
    refused(tmp_path, changed("facet_vertices", 0, 1), "facet 0 has vertex .* twice")
    refused(tmp_path, changed("cell_facets", 0, 1), "is used by")
    far = np.setdiff1d(np.arange(len(good["vertices"])), good["cell_vertices"][: good["cell_offsets"][1]])[0]
    moved = good["facet_vertices"].copy()
    moved[0] = far
    refused(tmp_path, {**good, "facet_vertices": moved}, "and its facet 0 have different vertices")
    swapped = good["cell_facets"].copy()
    swapped[[0, -1]] = swapped[[-1, 0]]
    refused(tmp_path, {**good, "cell_facets": swapped}, "uses facet .*, which belongs to")
    alone = good["facet_regions"].copy()
    alone[np.argmax(alone[:, 1] >= 0), 1] = -1
    refused(tmp_path, {**good, "facet_regions": alone}, "inside the domain has only one region")


def test_headers(good: dict[str, Any], tmp_path: Path) -> None:
    refused(tmp_path, with_header(good, lambda h: h["domain"].update(fingerprint="0" * 64)), "domain is not the one")
    refused(tmp_path, with_header(good, lambda h: h.update(version=2)), "missing or unexpected|format version 3, not 2")
    np.savez(tmp_path / "other.npz", **with_header(good, lambda h: h["domain"].update(kind="Space")))
    assert type(regions.load_partition(tmp_path / "other.npz").domain) is regions.Polytope
    endless = {**good, "domain_forms": good["domain_forms"][:-1]}
    space = regions.Polytope(-good["domain_forms"][:-1, 1:], good["domain_forms"][:-1, 0])
    header = lambda h: h.update(domain={"fingerprint": space.fingerprint, "kind": "Polytope"})  # noqa: E731
    refused(tmp_path, with_header(endless, header), "the domain is not bounded")


@pytest.mark.slow
def test_flipped_bytes_never_pass_unnoticed(tmp_path: Path) -> None:
    part = regions.enumerate(he_normal([3, 4, 1]), CASES[0][1])
    for loaded in read_with_flipped_bytes(part, tmp_path):
        assert loaded == part and loaded.stats == part.stats


def test_tables(tmp_path: Path) -> None:
    part = regions.enumerate(*CASES[1])
    export.export(part, tmp_path / "regions.csv")
    with (tmp_path / "regions.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    columns = export.to_columns(part)
    assert list(rows[0]) == [*columns, "vertices", "across"] and [*columns][-4:] == ["p0", "p1", "p2", "p3"]
    assert [float(row["volume"]) for row in rows] == part.volumes.tolist()
    for region, row in enumerate(rows):
        corners = part.cell_vertices[part.cell_offsets[region] : part.cell_offsets[region + 1]]
        assert [list(map(float, each.split())) for each in row["vertices"].split(";")] == part.vertices[
            corners
        ].tolist()
        across = list(map(int, row["across"].split(";")))
        facets = slice(*part.cell_facet_offsets[region : region + 2])
        assert across == part.neighbors[facets].tolist()
        assert int(row["neighbors"]) == sum(other >= 0 for other in across) == columns["neighbors"][region]
        assert int(row["corners"]) == len(corners)
    export.export(part, tmp_path / "regions.npz")
    assert regions.load_partition(tmp_path / "regions.npz") == part


@pytest.mark.parametrize("suffix", [".geojson", ".parquet", ".arrow"])
def test_formats_of_polygons_are_refused(suffix: str, tmp_path: Path) -> None:
    part = regions.enumerate(*CASES[0])
    with pytest.raises(
        DomainError,
        match=rf"^files of .*\{suffix}.* exist in 1 or 2 dimensions; this domain has 3\. .* or write .npz or .csv",
    ):
        export.export(part, tmp_path / f"regions{suffix}")
    assert not list(tmp_path.iterdir())
