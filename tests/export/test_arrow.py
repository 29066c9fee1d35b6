# SPDX-License-Identifier: MIT
"""Can Arrow's own readers read what is written, block by block, and is it the same partition, bit for bit?"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely

import regions
from cli_cases import SQUARE, Run, model
from partition_cases import CASES
from random_networks import random_network
from raw_from_reference import partition_from_reference
from regions.cli import job
from regions.domains import Line, Polygon, Segment
from regions.errors import DomainError, MissingDependencyError
from regions.export import export, export_blocks
from regions.results.partition import Partition

SUFFIXES = (".parquet", ".arrow")


def read(path: Path) -> Any:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    if path.suffix == ".parquet":
        return parquet.read_table(path)
    return pyarrow.ipc.open_file(path).read_all()


def require_rows(rows: list[dict[str, Any]], partition: Partition, first: int = 0) -> None:
    assert len(rows) == len(partition)
    for row, region in zip(rows, partition, strict=True):
        assert row["index"] == first + region.index and row["volume"] == region.volume
        assert row["active"] == np.unpackbits(partition.packed_patterns[region.index]).sum()
        assert row["pattern"] == partition.packed_patterns[region.index].tobytes()
        if partition.dimension == 2:
            (ring,) = row["geometry"]
            assert ring == [*region.vertices.tolist(), region.vertices.tolist()[0]]
            assert shapely.Polygon(ring).area == pytest.approx(region.volume)  # the chart's lengths are those of inputs
        else:
            assert row["geometry"] == [[x, 0.0] for x in region.vertices[:, 0].tolist()]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("domain", [Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]), Segment([-1, 0], [1, 0])])
def test_it_reads_back(domain: regions.Domain, suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    partition = partition_from_reference(random_network([2, 6, 6, 1], 1), domain)
    path = tmp_path / f"out{suffix}"
    export(partition, path)
    table = read(path)
    require_rows(table.to_pylist(), partition)
    kind = "polygon" if domain.dimension == 2 else "linestring"
    assert table.schema.field("geometry").metadata == {b"ARROW:extension:name": f"geoarrow.{kind}".encode()}
    facts = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    assert facts["relu-regions network"] == partition.network.fingerprint
    assert facts["relu-regions domain_fingerprint"] == domain.fingerprint


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_blocks_are_written_as_they_come(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    partition = partition_from_reference(*CASES["square"])
    path, written = tmp_path / f"out{suffix}", list[bool]()

    def blocks() -> Iterator[Partition]:
        for _ in range(3):
            written.append(path.exists())
            yield partition

    assert export_blocks(blocks(), path) == 3 * len(partition)
    assert written == [False] * 3  # moved to its place when complete
    rows = read(path).to_pylist()
    for place in range(3):
        first = place * len(partition)
        require_rows(rows[first : first + len(partition)], partition, first)


def test_a_network_without_kinks(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    for suffix in SUFFIXES:
        export(partition_from_reference(random_network([2, 1]), CASES["square"][1]), tmp_path / f"out{suffix}")
        (row,) = read(tmp_path / f"out{suffix}").to_pylist()
        assert (row["pattern"], row["active"]) == (b"\0", 0)


def test_regions_that_cannot_be_written(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    partition = partition_from_reference(random_network([2, 3, 1], 1), Line([0, 0], [1, 1]))
    with pytest.raises(DomainError, match="exist in bounded domains"):
        export(partition, tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="blocks is empty"):
        export_blocks([], tmp_path / "out.arrow")
    with pytest.raises(TypeError, match=r"blocks\[1\]: expected a regions.Partition"):
        export_blocks([partition_from_reference(*CASES["square"]), 3], tmp_path / "out.arrow")  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"\.parquet, \.arrow, not \.csv"):
        export_blocks([partition], tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependencyError, match=r"relu-regions\[arrow\]"):
        export(partition_from_reference(*CASES["square"]), tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_on_the_command_line(run: Run, in_folder_with_models: None, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow")
    words = ("enumerate", "model.npz", "--activation", "relu")
    for suffix in SUFFIXES:
        assert run(*words, *SQUARE, "-o", f"out{suffix}")[0] == 0
        square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        whole = regions.enumerate(model(), square)
        require_rows(read(Path(f"out{suffix}")).to_pylist(), whole)
        # Regions are written in blocks, several if there are many regions, and up to the limit.
        with monkeypatch.context() as patch:
            patch.setattr(job, "stream", partial(regions.stream, regions_per_block=5))
            code, out, _ = run(*words, *SQUARE, "-o", f"blocks{suffix}", "--json")
        facts = json.loads(out)
        assert (code, facts["regions"]) == (0, len(whole)) and facts["area"]["total"] == pytest.approx(4.0)
        layers = np.bincount(whole.facet_layers[whole.facet_kinks >= 0]).tolist()
        assert [layer["facets"] for layer in facts["facets_by_layer"]] == layers
        rows = read(Path(f"blocks{suffix}")).to_pylist()
        assert [row["index"] for row in rows] == list(range(len(whole)))
        assert [row["pattern"] for row in rows] == [each.tobytes() for each in whole.packed_patterns]
        assert [row["volume"] for row in rows] == pytest.approx(whole.volumes.tolist())
        code, out, _ = run(*words, *SQUARE, "-o", f"few{suffix}", "--json", "--limit", "12")
        assert code == 3 and 12 < json.loads(out)["regions"] == len(read(Path(f"few{suffix}")))
    code, out, err = run(*words, "--line", "0,0", "1,1", "-o", "out.parquet")
    assert (code, out) == (1, "") and "exist in bounded domains" in err  # before the work begins
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    code, out, err = run(*words, *SQUARE, "-o", "out.parquet")
    assert (code, out) == (1, "") and "pip install 'relu-regions[arrow]'" in err
