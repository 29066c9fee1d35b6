# SPDX-License-Identifier: MIT
"""Can other programs read what is exported, and is it the same partition, bit for bit?"""

from __future__ import annotations

import csv
import io
import json
from base64 import b64decode
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import shapely

import regions
from partition_cases import CASES, SQUARE, everywhere, in_plane
from random_networks import random_network
from raw_from_reference import partition_from_reference
from regions import export as export_module
from regions.domains import Domain, Rectangle
from regions.errors import DomainError
from regions.export import EXPORT_SUFFIXES, export, to_columns, write_csv, write_geojson
from regions.networks.network import Network
from regions.partition import Partition, load_partition


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
    assert int(piece.attrib["NumberOfCells"]) == len(found["types"]) and (found["types"] == 42).all()
    return found


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
    numbers, start = found["faces"][:, 0].tolist(), 0
    for cell, end in enumerate(found["faceoffsets"][:, 0].tolist()):
        region = int(found["region"][cell, 0])
        count, *rest = numbers[start:end]
        middle, total, used = part.interior_points[region], 0.0, set()
        for _ in range(count):
            size, *rest = rest
            corners, rest = found["Points"][rest[:size]] - middle, (used.update(rest[:size]), rest[size:])[1]
            normal = np.cross(corners - corners[0], np.roll(corners, -1, axis=0) - corners[0]).sum(axis=0)
            total += abs(normal @ corners[0]) / 6
        assert not rest and total == pytest.approx(part.volumes[region])
        ends = found["offsets"][:, 0]
        assert used == set(found["connectivity"][ends[cell - 1] if cell else 0 : ends[cell], 0].tolist())
        start = end
    four = regions.enumerate(random_network([4, 3, 1]), regions.Box([0] * 4, [1] * 4))
    with pytest.raises(DomainError, match="three dimensions, and these have 4"):
        export(four, tmp_path / "four.vtu")
    with pytest.raises(ValueError, match=r"\.npz, \.geojson, \.csv"):
        export(regions.enumerate(random_network([2, 3, 1]), SQUARE), tmp_path / "plane.vtu")


def test_geojson_of_a_segment() -> None:
    partition = partition_from_reference(*CASES["segment"])
    features = json.loads(geojson(partition))["features"]
    ends = [feature["geometry"]["coordinates"] for feature in features]
    assert {feature["geometry"]["type"] for feature in features} == {"LineString"}
    assert [[left[0], right[0]] for left, right in ends] == [r.vertices.ravel().tolist() for r in partition]


def test_geojson_has_no_infinity(tmp_path: Path) -> None:
    partition = partition_from_reference(*CASES["line"])
    with pytest.raises(DomainError, match="csv or .npz"):
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
