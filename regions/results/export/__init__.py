# SPDX-License-Identifier: MIT
"""How is a partition written to files of other programs?

The suffix of the file name decides the format: ``.npz`` as in `partition/saved.py`, GeoJSON for maps and viewers, CSV
for tables, Arrow and Parquet for large tables, which `export_blocks` writes block by block. `to_columns` returns the
numbers of the CSV as arrays, for instance for ``pandas.DataFrame``. Text is streamed, some thousand regions at a time.
Numbers are written so that they read back as the same doubles, and a shared vertex is written the same way everywhere.
Coordinates are chart coordinates.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any, TextIO

from numpy.typing import NDArray

from regions.domains import Domain
from regions.domains.abilities import ARROW_FILES, GEOJSON_FILES, POLYHEDRON_FILES, require
from regions.domains.shape import SHAPES
from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import flag, is_sequence, path_of, shown
from regions.ground.arithmetic.types import Integers
from regions.ground.text.printable import file_name
from regions.results.cells.complex import CellComplex
from regions.results.cells.region_table import active_bits, count_per_region, hexadecimal
from regions.results.export.arrow import ARROW_SUFFIXES, write_tables
from regions.results.export.polyhedra import write_vtu
from regions.results.partition import Partition, require_partition
from regions.results.partition.convert import outlines, planar_vertices
from regions.results.partition.saved import write_partition

__all__ = ["EXPORT_SUFFIXES", "export", "export_blocks", "to_columns", "write_csv", "write_geojson"]

EXPORT_SUFFIXES = (".npz", ".geojson", ".csv", *ARROW_SUFFIXES)
# What formats that do not hold every region can hold.
LIMITED = {".geojson": GEOJSON_FILES, ".parquet": ARROW_FILES, ".arrow": ARROW_FILES, ".vtu": POLYHEDRON_FILES}
# Regions converted to text at a time.
CHUNK = 1 << 13


def to_columns(partition: Partition) -> dict[str, NDArray[Any]]:
    """Return a table of the regions, as `regions.Partition.to_columns` does."""
    require_partition(partition)
    return partition.to_columns()


def write_csv(partition: Partition, stream: TextIO) -> None:
    """Write one row per region: the columns of `to_columns`, then the corners and neighbours.

    ``vertices`` lists the corners, coordinates separated by a blank and corners by a semicolon; ``across``
    the region across each facet, separated by semicolons, -1 where the domain ends. Infinite ends are written
    as ``inf``.

    Parameters
    ----------
    partition : Partition
    stream : text file
        Opened with ``newline=""``.
    """
    require_partition(partition)
    write = _write_of(stream)
    names = ["index", "volume", "active", "corners", "neighbors", "pattern"]
    names += [*(f"p{axis}" for axis in range(partition.dimension)), "vertices", "across"]
    write(",".join(names) + "\n")
    active, volumes, counts = active_bits(partition.packed_patterns), partition.volumes, partition.corner_counts
    inside = count_per_region(partition, partition.neighbors >= 0)
    vertices = [" ".join(map(repr, row)) for row in partition.vertices.tolist()]
    sides = _chunks(partition, partition.cell_facet_offsets)
    for (part, corners, offsets), (_, facets, ends) in zip(
        _chunks(partition, partition.cell_offsets), sides, strict=True
    ):
        texts = [vertices[vertex] for vertex in partition.cell_vertices[corners].tolist()]
        across = list(map(str, partition.neighbors[facets].tolist()))
        columns = zip(
            range(part.start, part.stop),
            volumes[part].tolist(),
            active[part].tolist(),
            counts[part].tolist(),
            inside[part].tolist(),
            hexadecimal(partition.packed_patterns[part]),
            [",".join(map(repr, point)) for point in partition.interior_points[part].tolist()],
            (";".join(texts[start:stop]) for start, stop in zip(offsets, offsets[1:], strict=False)),
            (";".join(across[start:stop]) for start, stop in zip(ends, ends[1:], strict=False)),
            strict=True,
        )
        # No field contains a comma or a quotation mark, so nothing needs quoting.
        write(
            "".join(
                f"{index},{volume!r},{on},{count},{neighbors},{pattern},{point},{places},{beyond}\n"
                for index, volume, on, count, neighbors, pattern, point, places, beyond in columns
            )
        )


def write_geojson(partition: Partition, stream: TextIO) -> None:
    """Write a GeoJSON FeatureCollection, one feature per line and region.

    Polygons for d = 2; for d = 1 line strings on the first axis. Properties: ``index``, ``volume``,
    ``active`` and ``pattern`` as in `to_columns`, but a volume beyond the largest double is null. The member
    ``chart`` holds ``origin`` and ``directions``.

    Raises
    ------
    DomainError
        A line, ray or plane: JSON has no infinity.
    """
    require_partition(partition)
    write = _write_of(stream)
    require(GEOJSON_FILES, partition.domain)
    domain = partition.domain
    chart = {"origin": domain.origin.tolist(), "directions": domain.directions.tolist()}
    write(f'{{"type":"FeatureCollection","chart":{json.dumps(chart)},"features":[')
    rings, nested = outlines(partition)
    vertices = [f"[{x!r},{y!r}]" for x, y in planar_vertices(partition).tolist()]
    kind, opening, closing = SHAPES[partition.dimension].geometry, "[" * len(nested), "]" * len(nested)
    separator = "\n"
    active = active_bits(partition.packed_patterns)
    # JSON has no infinity, which represents volumes beyond the largest double.
    volumes = [repr(volume) if isfinite(volume) else "null" for volume in partition.volumes.tolist()]
    for part, corners, offsets in _chunks(partition, nested[0]):
        texts = [vertices[vertex] for vertex in rings[corners].tolist()]
        properties = zip(
            range(part.start, part.stop),
            volumes[part],
            active[part].tolist(),
            hexadecimal(partition.packed_patterns[part]),
            zip(offsets, offsets[1:], strict=False),
            strict=True,
        )
        lines = [
            f'{{"type":"Feature","properties":'
            f'{{"index":{index},"volume":{volume},"active":{on},"pattern":"{pattern}"}},'
            f'"geometry":{{"type":"{kind}","coordinates":{opening}{",".join(texts[start:stop])}{closing}}}}}'
            for index, volume, on, pattern, (start, stop) in properties
        ]
        write(separator + ",\n".join(lines))
        separator = ",\n"
    write("\n]}\n")


def export(partition: Partition, path: str | PathLike[str], *, tetrahedra: bool = False) -> None:
    """Write a partition to a file in the format given by the suffix of its name.

    Parameters
    ----------
    partition : Partition
    path : str or path
        ``.npz``, ``.geojson``, ``.csv``, or as for `export_blocks`. In three to six dimensions ``.npz`` or ``.csv``,
        and in three ``.vtu``, a grid of polyhedra with volumes and outputs, for ParaView, PyVista or meshio.
    tetrahedra : bool
        Whether ``.vtu`` has each region divided into tetrahedra, instead of one polyhedron a region. VTK slices and
        contours both rightly, but it finds wrong volumes and wrong cells of points in polyhedra.

    Raises
    ------
    ValueError
        An unknown suffix, or ``tetrahedra`` with another format than ``.vtu``.
    DomainError
        The regions of a line, ray or plane, or of three and more dimensions, as polygons; regions of other dimensions
        than three as polyhedra.
    MissingDependencyError
        pyarrow is not installed, for ``.parquet`` and ``.arrow``.
    """
    require_partition(partition)
    file = _file_of(path, (*EXPORT_SUFFIXES, ".vtu"))
    suffix = file.suffix.lower()
    require_format_of(partition.domain, file)
    if flag(tetrahedra, "tetrahedra") and suffix != ".vtu":
        raise ValueError(f"{file_name(file)}: tetrahedra are written to .vtu only; leave out tetrahedra=True")
    if suffix == ".npz":
        write_partition(partition, file)
    elif suffix == ".vtu":
        with replacing(file) as temporary:
            write_vtu(partition, temporary, tetrahedra)
    elif suffix in ARROW_SUFFIXES:
        write_tables([partition], file)
    else:
        with replacing(file) as temporary, temporary.open("w", encoding="utf-8", newline="") as stream:
            if suffix == ".geojson":
                write_geojson(partition, stream)
            else:
                write_csv(partition, stream)


def require_format_of(domain: Domain, file: Path) -> None:
    """Refuse, before the work, a domain whose regions a file of this suffix cannot hold."""
    able = LIMITED.get(file.suffix.lower())
    if able is not None:
        require(able, domain)


def export_blocks(blocks: Iterable[Partition], path: str | PathLike[str]) -> int:
    """Write regions to a file as they come, one row each; only one block is in memory at a time.

    Columns: ``index`` int64; ``volume`` float64; ``active`` int64, the number of pattern bits that are 1; ``pattern``,
    the packed pattern, bytes of fixed length; ``geometry``, polygons as GeoArrow has them, lists of rings of points
    [x, y] in the chart; for d = 1 lines on the first axis. Fingerprints of network and domain are in the file's
    metadata.

    Parameters
    ----------
    blocks : iterable of Partition
        Blocks of one network in one domain.
    path : str or path
        ``.parquet``, or ``.arrow`` for Arrow's own file format.

    Returns
    -------
    int
        Number of rows.

    Raises
    ------
    TypeError, ValueError
        An item that is not a partition; no blocks; an unknown suffix.
    DomainError
        The regions of a line, ray or plane.
    MissingDependencyError
        pyarrow is not installed.
    """
    if isinstance(blocks, (str, bytes, Mapping)) or not is_sequence(blocks):
        raise TypeError(f"blocks must be partitions, one after the other, got {shown(blocks)}")
    file = _file_of(path, ARROW_SUFFIXES)
    return write_tables(_checked(blocks), file)


def _checked(blocks: Iterable[Partition]) -> Iterator[Partition]:
    for index, block in enumerate(blocks):
        if not isinstance(block, Partition):
            raise TypeError(f"blocks[{index}]: expected a regions.Partition, got {type(block).__name__}")
        require(ARROW_FILES, block.domain)
        yield block


def _file_of(path: str | PathLike[str], suffixes: tuple[str, ...]) -> Path:
    file = path_of(path)
    if file.suffix.lower() not in suffixes:
        raise ValueError(
            f"{file_name(file)}: partitions are written as {', '.join(suffixes)}, "
            f"not {file.suffix.lower() or 'to a name without suffix'}"
        )
    return file


def _write_of(stream: Any) -> Callable[[str], object]:
    """Return the ``write`` of a text stream."""
    try:
        write = None if isinstance(stream, type) else getattr(stream, "write", None)
    except Exception:  # an object that fails when an attribute is read
        write = None
    if not callable(write) or isinstance(stream, (io.RawIOBase, io.BufferedIOBase)):
        raise TypeError(f"stream must be a file opened for text, such as open(path, 'w'), got {shown(stream)}")
    return write


def _chunks(partition: CellComplex, offsets: Integers) -> Iterator[tuple[slice, slice, list[int]]]:
    """Yield some regions at a time: their slice, the slice of their corners (or facets), and the offset of each
    region's first one in that slice."""
    for start in range(0, len(partition), CHUNK):
        stop = min(start + CHUNK, len(partition))
        first, last = int(offsets[start]), int(offsets[stop])
        yield slice(start, stop), slice(first, last), (offsets[start : stop + 1] - first).tolist()
