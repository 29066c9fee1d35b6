# SPDX-License-Identifier: MIT
"""Do programs that read our files see the same partition, where they treat files in a way that one would not guess?

docs/other-tools.md lists what each program does, with its version.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

import regions
from damage_parts import assembled, cells_of, undamaged
from regions.export import export, to_columns

RNG = np.random.default_rng(5)
NET = regions.Network([(RNG.standard_normal((7, 3)), RNG.standard_normal(7) / 2), (np.ones((1, 7)), [0])])
BOX = regions.Box([-1] * 3, [1] * 3)
PLANE_NET = regions.Network([(RNG.standard_normal((9, 2)), RNG.standard_normal(9) / 2), (np.ones((1, 9)), [0])])
SQUARE = regions.Polygon([[0.1, 0.1], [1.1, 0.1], [1.1, 1.1], [0.1, 1.1]])


def grid_of(path: Path) -> Any:
    pytest.importorskip("vtk")
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def test_volumes_are_in_the_file_and_those_of_tetrahedra(tmp_path: Path) -> None:
    """VTK computes the volume 0 for some flat polyhedra, so the file has volumes; those of tetrahedra add up."""
    pytest.importorskip("vtk")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkFiltersVerdict import vtkCellSizeFilter

    part = regions.enumerate(NET, BOX)
    export(part, tmp_path / "polyhedra.vtu")
    data = grid_of(tmp_path / "polyhedra.vtu").GetCellData()
    numbers = vtk_to_numpy(data.GetArray("region"))
    assert (vtk_to_numpy(data.GetArray("volume")) == part.volumes[numbers]).all()
    export(part, tmp_path / "tetrahedra.vtu", tetrahedra=True)
    sizes = vtkCellSizeFilter()
    sizes.SetInputData(grid_of(tmp_path / "tetrahedra.vtu"))
    sizes.Update()
    data = sizes.GetOutput().GetCellData()
    volumes, numbers = (vtk_to_numpy(data.GetArray(name)) for name in ("Volume", "region"))
    assert np.bincount(numbers, volumes) == pytest.approx(part.volumes, rel=1e-9, abs=1e-15)


def test_points_are_found_in_tetrahedra(tmp_path: Path) -> None:
    """VTK's locator names a wrong polyhedron for most points, and the right tetrahedron for all."""
    pytest.importorskip("vtk")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonDataModel import vtkCellLocator

    part = regions.enumerate(NET, BOX)
    export(part, tmp_path / "tetrahedra.vtu", tetrahedra=True)
    grid, locator = grid_of(tmp_path / "tetrahedra.vtu"), vtkCellLocator()
    locator.SetDataSet(grid)
    locator.BuildLocator()
    numbers = vtk_to_numpy(grid.GetCellData().GetArray("region"))
    points = np.random.default_rng(0).uniform(-1, 1, (200, 3))
    assert [numbers[locator.FindCell(point)] for point in points] == part.locate(points).tolist()


def test_surfaces_are_triangles_unless_polygons_are_asked_for(tmp_path: Path) -> None:
    """trimesh refuses binary .ply files of polygons of several sizes, and Open3D leaves out polygons of .obj files."""
    surface = regions.level_set(NET, BOX, float(NET(np.zeros(3))[0]))
    surface.export(tmp_path / "surface.obj")
    lines = (tmp_path / "surface.obj").read_text().splitlines()
    faces = [[int(word) - 1 for word in line.split()[1:]] for line in lines if line.startswith("f ")]
    assert {len(face) for face in faces} == {3}
    points = np.array([[float(word) for word in line.split()[1:]] for line in lines if line.startswith("v ")])
    a, b, c = points[np.array(faces)].transpose(1, 0, 2)
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(surface.area)
    surface.export(tmp_path / "surface.ply")
    header, body = (tmp_path / "surface.ply").read_bytes().split(b"end_header\n")
    vertices, triangles = (int(line.split()[2]) for line in header.splitlines() if line.startswith(b"element"))
    assert len(body) == 24 * vertices + 13 * triangles


def test_small_surfaces_keep_all_digits(tmp_path: Path) -> None:
    """trimesh writes eight decimals to .obj, and merges points that are closer than 1e-8."""
    tiny = 2.0**-40
    scaled = regions.Network([(NET.layers[0].weights / tiny, NET.layers[0].biases), (np.ones((1, 7)), [0])])
    box = regions.Box([-tiny] * 3, [tiny] * 3)
    surface = regions.level_set(scaled, box, float(NET(np.zeros(3))[0]))
    surface.export(tmp_path / "surface.obj")
    lines = (tmp_path / "surface.obj").read_text().splitlines()
    points = np.array([[float(word) for word in line.split()[1:]] for line in lines if line.startswith("v ")])
    large = regions.level_set(NET, BOX, float(NET(np.zeros(3))[0]))
    assert len(np.unique(points, axis=0)) == len(points) == len(large.vertices)
    assert surface.area == pytest.approx(large.area * tiny**2)


def test_neighbours_share_corners_bit_for_bit() -> None:
    """GEOS finds no gap between corners that differ by a rounding error, but its union tears there."""
    part = regions.enumerate(PLANE_NET, SQUARE)
    polygons = part.to_shapely()
    union = shapely.union_all(polygons)
    assert shapely.coverage_is_valid(polygons) and union.geom_type == "Polygon" and not len(union.interiors)
    assert union.area == pytest.approx(1)
    shared = set(map(tuple, part.vertices.tolist()))
    assert {corner for polygon in polygons for corner in polygon.exterior.coords} <= shared


def test_neighbours_are_those_of_the_partition_and_not_of_rounded_coordinates() -> None:
    """GEOS sees a shared line between sides that share a point; neighbours here follow from facets."""
    line = [[1.0, -1 / 0.7], [1.0, -1 / 0.7 + 2.0**-52]]
    net = regions.Network([(line, [0.0, 0.0]), ([[1, 1]], [0])])
    part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    assert len(part) == 4  # two pairs are opposite sectors, which share a point only
    assert [int((region.neighbors >= 0).sum()) for region in part] == [2] * 4


def test_thin_regions_are_no_gaps() -> None:
    """With a gap width, GEOS reports a gap beside a region that is thinner; the partition has no gaps to look for."""
    net = regions.Network([([[1, 0], [1, 0]], [-0.5, -0.5 - 2.0**-30]), ([[1, 1]], [0])])
    part = regions.enumerate(net, SQUARE)
    assert len(part) == 3 and sum(part.volumes) == pytest.approx(1) and regions.certify(part, net).ok
    case = undamaged(net, SQUARE)
    cells = cells_of(case)
    del cells[int(np.argmin(part.volumes))]
    report = regions.certify(assembled(case, cells).partition(), net)  # now there is a gap
    assert not report.ok and "inside the domain has only one region" in str(report)


def test_coordinates_are_those_of_the_chart(tmp_path: Path) -> None:
    """GeoPandas takes GeoJSON for coordinates of the earth, as its standard says; the file has the chart, too."""
    part = regions.enumerate(PLANE_NET, SQUARE)
    export(part, tmp_path / "regions.geojson")
    content = json.loads((tmp_path / "regions.geojson").read_text())
    assert content["chart"]["origin"] == SQUARE.origin.tolist() and "crs" not in content
    first = shapely.geometry.shape(content["features"][0]["geometry"])
    assert first.area == pytest.approx(part.volumes[0])


def test_tables_have_geometries_that_are_named_in_the_column(tmp_path: Path) -> None:
    """GeoPandas' read_parquet wants metadata of the whole file, and from_arrow takes those of the column."""
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    part = regions.enumerate(PLANE_NET, SQUARE)
    export(part, tmp_path / "regions.parquet")
    table = parquet.read_table(tmp_path / "regions.parquet")
    metadata = table.schema.field("geometry").metadata
    assert metadata[b"ARROW:extension:name"].startswith(b"geoarrow.")
    rings = table["geometry"].to_pylist()
    assert shapely.area([shapely.Polygon(np.reshape(of_region[0], (-1, 2))) for of_region in rings]) == pytest.approx(
        part.volumes
    )


@pytest.mark.parametrize(
    ("biases", "patterns"),
    [([1, 0, -1], {"01": 1, "03": 3}), ([-1, 1, 1, 1, 1, -1, -1, -1, 1, -1, 0], {"1e01": 10.0, "1e05": 100_000.0})],
)
def test_patterns_that_look_like_numbers(biases: list[int], patterns: dict[str, float], tmp_path: Path) -> None:
    """pandas takes 01 for 1, and 1e05 for 100000; as text they are the patterns. pandas 2 may lose the last digit."""
    pandas = pytest.importorskip("pandas")
    weights = [[0.1, 0.0] if bias else [1.0, 0.3] for bias in biases]
    net = regions.Network([(weights, biases), (np.ones((1, len(biases))), [0])])
    part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    export(part, tmp_path / "regions.csv")
    columns = to_columns(part)
    assert set(columns["pattern"]) == set(patterns)
    plain = pandas.read_csv(tmp_path / "regions.csv")
    assert plain["pattern"].tolist() == [patterns[pattern] for pattern in columns["pattern"]]
    as_text = pandas.read_csv(tmp_path / "regions.csv", dtype={"pattern": str})
    assert as_text["pattern"].tolist() == list(columns["pattern"])
    for name in ("volume", "p0", "p1"):
        assert as_text[name].tolist() == pytest.approx(list(columns[name]), rel=2**-50)
