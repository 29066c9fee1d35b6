# SPDX-License-Identifier: MIT
"""Can other programs read what is exported, and is it the same partition, bit for bit?"""

from __future__ import annotations

import csv
import io
import json
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import shapely

import regions
from partition_cases import CASES, SQUARE, everywhere, in_plane
from random_networks import random_network
from raw_from_reference import partition_from_reference
from regions.domains import Domain, Rectangle
from regions.errors import DomainError
from regions.export import EXPORT_SUFFIXES, export, to_columns, write_csv, write_geojson
from regions.ground.arithmetic.proven import Proven
from regions.networks.network import Network
from regions.results import export as export_module
from regions.results.cells import mesh
from regions.results.partition import Partition, load_partition


def geojson(partition: Partition) -> str:
    stream = io.StringIO()
    write_geojson(partition, stream)
    return stream.getvalue()


@everywhere
def test_columns(network: Network, domain: Domain) -> None:
    partition = partition_from_reference(network, domain)
    columns = to_columns(partition)
    assert {len(column) for column in columns.values()} == {len(partition)}
    assert (columns["volume"] == partition.volumes).all()
    assert (columns["active"] == partition.patterns.sum(axis=1)).all()
    for region in partition:
        index = region.index
        assert columns["index"][index] == index
        assert columns["corners"][index] == len(region.vertices)
        assert columns["neighbors"][index] == (region.neighbors >= 0).sum()
        assert bytes.fromhex(columns["pattern"][index]) == partition.packed_patterns[index].tobytes()
        assert [columns[f"p{axis}"][index] for axis in range(domain.dimension)] == region.interior_point.tolist()


@everywhere
def test_csv_reads_back(network: Network, domain: Domain, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(export_module, "CHUNK", 3)
    partition = partition_from_reference(network, domain)
    export(partition, tmp_path / "regions.csv")
    with (tmp_path / "regions.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(partition)
    columns = to_columns(partition)
    for row, region in zip(rows, partition, strict=True):
        assert int(row["index"]) == region.index and float(row["volume"]) == region.volume
        assert row["pattern"] == columns["pattern"][region.index]
        assert float(row["p0"]) == region.interior_point[0]
        vertices = [[float(x) for x in corner.split(" ")] for corner in row["vertices"].split(";")]
        assert vertices == region.vertices.tolist()
        assert [int(other) for other in row["across"].split(";")] == region.neighbors.tolist()


@in_plane
def test_geojson_polygons_are_a_coverage(network: Network, domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = geojson(partition := partition_from_reference(network, domain))
    monkeypatch.setattr(export_module, "CHUNK", 3)
    assert geojson(partition) == whole
    collection = json.loads(whole)
    assert collection["type"] == "FeatureCollection"
    assert collection["chart"] == {"origin": domain.origin.tolist(), "directions": domain.directions.tolist()}
    polygons = [shapely.geometry.shape(feature["geometry"]) for feature in collection["features"]]
    assert shapely.equals_exact(polygons, partition.to_shapely(), tolerance=0).all()
    assert shapely.coverage_is_valid(polygons)
    for region, feature in zip(partition, collection["features"], strict=True):
        assert feature["properties"] == {
            "index": region.index,
            "volume": region.volume,
            "active": region.pattern.sum(),
            "pattern": partition.packed_patterns[region.index].tobytes().hex(),
        }
    # One feature per line, so that large files can be read line by line.
    assert whole.count("\n") == len(partition) + 2


def vtu_arrays(file: Path) -> dict[str, np.ndarray]:
    """Read the arrays of an unstructured grid, with a parser of XML and the types that they name."""
    root = ElementTree.parse(file).getroot()
    kinds = {"Float64": "<f8", "Int64": "<i8", "UInt8": "u1"}
    found = {}
    for each in root.iter("DataArray"):
        data = b64decode(each.text or "")
        assert int.from_bytes(data[:8], "little") == len(data) - 8
        array = np.frombuffer(data[8:], kinds[each.attrib["type"]])
        found[each.attrib["Name"]] = array.reshape(-1, int(each.get("NumberOfComponents", 1)))
    piece = root.find("UnstructuredGrid/Piece")
    assert piece is not None and int(piece.attrib["NumberOfPoints"]) == len(found["Points"])
    assert int(piece.attrib["NumberOfCells"]) == len(found["types"])
    return found


def polyhedra(found: dict[str, np.ndarray]) -> Iterator[tuple[int, list[list[int]]]]:
    """Yield each region and its faces, as the vertices of each."""
    numbers, start = found["faces"][:, 0].tolist(), 0
    for cell, end in enumerate(found["faceoffsets"][:, 0].tolist()):
        count, *rest = numbers[start:end]
        faces = []
        for _ in range(count):
            size, *rest = rest
            faces.append(rest[:size])
            rest = rest[size:]
        assert not rest
        yield int(found["region"][cell, 0]), faces
        start = end


def test_vtu_has_polyhedra(tmp_path: Path) -> None:
    """The volume of each polyhedron, from its facets alone, is that of its region."""
    net = random_network([3, 6, 5, 2], 4)
    part = regions.enumerate(net, regions.Box([-1, 0, 2], [1, 1, 4]))
    export(part, tmp_path / "cells.VTU")
    found = vtu_arrays(tmp_path / "cells.VTU")
    assert (found["Points"] == part.vertices).all() and (
        found["volume"][:, 0] == part.volumes[found["region"][:, 0]]
    ).all()
    assert sorted(found["region"][:, 0]) == list(range(len(part)))
    assert (np.diff(part.corner_counts[found["region"][:, 0]]) >= 0).all()  # in the order in which meshio puts them
    assert np.allclose(found["output"], net(part.vertices))
    assert (found["types"] == 42).all()
    ends = found["offsets"][:, 0]
    for cell, (region, faces) in enumerate(polyhedra(found)):
        middle, total = part.interior_points[region], 0.0
        for face in faces:
            corners = found["Points"][face] - middle
            normal = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
            total += normal @ corners[0] / 6  # positive, because faces are seen from outside
        assert total == pytest.approx(part.volumes[region])
        own = found["connectivity"][ends[cell - 1] if cell else 0 : ends[cell], 0].tolist()
        assert {vertex for face in faces for vertex in face} == set(own)
    four = regions.enumerate(random_network([4, 3, 1]), regions.Box([0] * 4, [1] * 4))
    with pytest.raises(DomainError, match="files of .vtu exist in 3 dimensions; this domain has 4"):
        export(four, tmp_path / "four.vtu")
    with pytest.raises(ValueError, match="exist in 3 dimensions; this domain has 2.*or write .npz or .csv"):
        export(regions.enumerate(random_network([2, 3, 1]), SQUARE), tmp_path / "plane.vtu")


# Slabs of width 2^-45, pencils of planes, and a chart that mirrors the input space.
THIN = regions.Network(
    [([[1, 0, 0], [1, 0, 0], [1, 2**-40, 0], [0, 1, 1]], [0, 2**-45, 0, 0.25]), (np.ones((1, 4)), [0])]
)
CUBE = np.vstack([np.eye(3), -np.eye(3)])
MIRRORED = regions.Polytope.in_chart([0, 0, 0], [[0, 1, 0], [1, 0, 0], [0, 0, 1]], CUBE, np.ones(6))


@pytest.mark.parametrize("domain", [regions.Box([-1] * 3, [1] * 3), MIRRORED], ids=["box", "mirrored"])
@pytest.mark.parametrize("net", [THIN, random_network([3, 6, 5, 2], 4)], ids=["thin", "random"])
def test_faces_and_tetrahedra_are_seen_from_outside(
    net: Network, domain: regions.Polytope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each edge of a region has its two faces in opposite directions, and volumes are not negative."""
    part = regions.enumerate(net, domain)
    in_floats = mesh.area_vectors
    in_fractions = lambda *given: Proven(in_floats(*given).value, np.inf)  # noqa: E731
    for areas in (in_floats, in_fractions):
        monkeypatch.setattr(mesh, "area_vectors", areas)
        export(part, tmp_path / "cells.vtu")
        found = vtu_arrays(tmp_path / "cells.vtu")
        for region, faces in polyhedra(found):
            edges = [edge for face in faces for edge in zip(face, [*face[1:], face[0]], strict=True)]
            assert sorted(edges) == sorted((end, start) for start, end in edges) and len(set(edges)) == len(edges)
            first = found["Points"][faces[0][0]]
            fans = [(a, b, c) for a, *rest in faces for b, c in zip(rest, rest[1:], strict=False)]
            volume = sum(np.linalg.det(found["Points"][list(fan)] - first) for fan in fans) / 6
            assert volume == pytest.approx(part.volumes[region], rel=1e-3, abs=1e-14)
    export(part, tmp_path / "cells.vtu", tetrahedra=True)
    found = vtu_arrays(tmp_path / "cells.vtu")
    assert (found["types"] == 10).all() and set(found["region"][:, 0]) == set(range(len(part)))
    corners = found["Points"][found["connectivity"].reshape(-1, 4)]
    volumes = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    assert (volumes > -1e-30).all()
    assert np.bincount(found["region"][:, 0], volumes) == pytest.approx(part.volumes, rel=1e-3, abs=1e-14)
    with pytest.raises(ValueError, match="tetrahedra are written to .vtu only"):
        export(part, tmp_path / "cells.csv", tetrahedra=True)


@pytest.mark.parametrize("tetrahedra", [False, True])
def test_vtk_cuts_exported_regions(tetrahedra: bool, tmp_path: Path) -> None:
    """Slices of the cube have its area, and the contour of the output has that of the level set."""
    core = pytest.importorskip("vtkmodules.vtkFiltersCore")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkDataObject, vtkPlane
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

    def area(cutter: Any) -> float:
        cutter.SetInputData(grid)
        triangles = core.vtkTriangleFilter()
        triangles.SetInputConnection(cutter.GetOutputPort())
        triangles.Update()
        surface = triangles.GetOutput()
        points = vtk_to_numpy(surface.GetPoints().GetData()).astype(float)
        a, b, c = (
            points[vtk_to_numpy(surface.GetPolys().GetConnectivityArray()).reshape(-1, 3)[:, k]] for k in range(3)
        )
        return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)

    for seed in range(3):
        rng = np.random.default_rng(seed)
        net = regions.Network([(rng.standard_normal((8, 3)), rng.standard_normal(8) / 2), (np.ones((1, 8)), [0])])
        box = regions.Box([-1] * 3, [1] * 3)
        export(regions.enumerate(net, box), tmp_path / "cells.vtu", tetrahedra=tetrahedra)
        reader = vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(tmp_path / "cells.vtu"))
        reader.Update()
        grid = reader.GetOutput()
        plane, cutter, contour = vtkPlane(), core.vtkCutter(), core.vtkContourFilter()
        plane.SetNormal(0, 0, 1)
        for height in (0.123, -0.51, 0.77):
            plane.SetOrigin(0, 0, height)
            cutter.SetCutFunction(plane)
            assert area(cutter) == pytest.approx(4)
        level = float(net(np.zeros(3))[0])
        contour.SetInputArrayToProcess(0, 0, 0, vtkDataObject.FIELD_ASSOCIATION_POINTS, "output")
        contour.SetValue(0, level)
        assert area(contour) == pytest.approx(regions.level_set(net, box, level).area)


def test_geojson_of_a_segment() -> None:
    partition = partition_from_reference(*CASES["segment"])
    features = json.loads(geojson(partition))["features"]
    ends = [feature["geometry"]["coordinates"] for feature in features]
    assert {feature["geometry"]["type"] for feature in features} == {"LineString"}
    assert [[left[0], right[0]] for left, right in ends] == [r.vertices.ravel().tolist() for r in partition]


def test_geojson_has_no_infinity(tmp_path: Path) -> None:
    partition = partition_from_reference(*CASES["line"])
    with pytest.raises(DomainError, match="files of .geojson exist in bounded domains; .*or write .npz or .csv"):
        geojson(partition)
    stream = io.StringIO()
    write_csv(partition, stream)
    rows = list(csv.DictReader(stream.getvalue().splitlines()))
    assert rows[0]["vertices"].startswith("-inf;") and float(rows[0]["volume"]) == np.inf
    huge = partition_from_reference(random_network([2, 1]), Rectangle([1e200, 1e200], [1e200, 0], [0, 1e200]))
    (feature,) = json.loads(geojson(huge), parse_constant=pytest.fail)["features"]
    assert feature["properties"]["volume"] is None


def test_the_suffix_decides(tmp_path: Path) -> None:
    partition = partition_from_reference(*CASES["square"])
    for suffix in EXPORT_SUFFIXES[:3]:  # the others need pyarrow: test_arrow.py
        export(partition, str(tmp_path / f"out{suffix.upper()}"))
    assert len(load_partition(tmp_path / "out.NPZ")) == len(partition)
    assert (tmp_path / "out.GEOJSON").read_text() == geojson(partition)
    for name in ("out.txt", "out"):
        with pytest.raises(ValueError, match=r"\.npz, \.geojson, \.csv"):
            export(partition, tmp_path / name)
        assert not (tmp_path / name).exists()


def test_each_format_stands_on_the_pages() -> None:
    root = Path(__file__).resolve().parent.parent.parent
    for page in ("README.md", "docs/arrays-and-files.md"):
        text = (root / page).read_text("utf-8")
        assert [suffix for suffix in (*EXPORT_SUFFIXES, ".vtu") if suffix not in text] == []
