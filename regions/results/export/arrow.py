# SPDX-License-Identifier: MIT
"""How are regions written to Arrow and Parquet files?

There is one row for each region, block by block, so that at most one block is in memory: the blocks of
`regions.stream` are written as they come. Polygons are nested lists of points, as in GeoArrow, with its name in the
column's metadata; in a domain of one dimension they are lines on the first axis. Coordinates are chart coordinates.
Cost: some copies of each block's arrays; pyarrow does the rest.
Source: the GeoArrow format specification, "Memory layout" and "Extension types" (geoarrow.org).
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from regions.domains.abilities import ARROW_FILES, require
from regions.domains.shape import SHAPES
from regions.errors import MissingDependencyError
from regions.files.replacing import replacing
from regions.ground.arithmetic.pattern_index import ONES
from regions.ground.arithmetic.types import Floats
from regions.results.cells.complex import CellComplex
from regions.results.cells.sizes import volumes
from regions.results.partition.convert import outlines, planar_vertices
from regions.version import __version__

__all__ = ["ARROW_SUFFIXES", "require_arrow", "write_tables"]

ARROW_SUFFIXES = (".parquet", ".arrow")


def require_arrow() -> None:
    """Refuse, before the work, to write tables without the package for them."""
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingDependencyError("pyarrow", "arrow", "for .parquet and .arrow files") from None


def write_tables(blocks: Iterable[CellComplex], path: Path) -> int:
    """Write blocks of regions to a file, in the format of its suffix; return the number of regions."""
    written = 0
    with replacing(path) as temporary, ExitStack() as files:
        writer: Any = None
        for block in blocks:
            if writer is None:
                require(ARROW_FILES, block.domain)
                require_arrow()
                import pyarrow
                import pyarrow.parquet

                schema = _schema(block)
                make = pyarrow.parquet.ParquetWriter if path.suffix.lower() == ".parquet" else pyarrow.ipc.new_file
                writer = files.enter_context(make(str(temporary), schema))
            writer.write_table(pyarrow.table(_columns(block, written, schema), schema=schema))
            written += len(block)
        if writer is None:
            raise ValueError("blocks is empty, at least one block is needed")
    return written


def _schema(cells: CellComplex) -> Any:
    import pyarrow

    point = pyarrow.list_(pyarrow.field("xy", pyarrow.float64(), nullable=False), 2)
    line = pyarrow.list_(pyarrow.field("vertices", point, nullable=False))
    shape = SHAPES[cells.dimension]
    geometry = pyarrow.list_(pyarrow.field("rings", line, nullable=False)) if shape.closed else line
    kind = f"geoarrow.{shape.geometry.lower()}"
    about = {
        "network": cells.network.fingerprint,
        "domain": repr(cells.domain),
        "domain_fingerprint": cells.domain.fingerprint,
        "version": __version__,
    }
    return pyarrow.schema(
        [
            pyarrow.field("index", pyarrow.int64(), nullable=False),
            pyarrow.field("volume", pyarrow.float64(), nullable=False),
            pyarrow.field("active", pyarrow.int64(), nullable=False),
            pyarrow.field("pattern", pyarrow.binary(max(cells.packed_patterns.shape[1], 1)), nullable=False),
            pyarrow.field("geometry", geometry, nullable=False, metadata={"ARROW:extension:name": kind}),
        ],
        {f"relu-regions {name}": text for name, text in about.items()},
    )


def _columns(cells: CellComplex, first: int, schema: Any) -> list[Any]:
    import pyarrow

    packed = np.ascontiguousarray(cells.packed_patterns)
    if not packed.shape[1]:  # a network without kinks; bytes of length 0 are not allowed
        packed = np.zeros((len(packed), 1), dtype=np.uint8)
    return [
        pyarrow.array(np.arange(first, first + len(cells))),
        pyarrow.array(volumes(cells)),
        pyarrow.array(ONES[packed].sum(axis=1, dtype=np.int64)),
        pyarrow.FixedSizeBinaryArray.from_buffers(
            schema.field("pattern").type, len(cells), [None, pyarrow.py_buffer(packed)]
        ),
        _geometry(cells, schema.field("geometry").type),
    ]


def _geometry(cells: CellComplex, kind: Any) -> Any:
    """Return the corners of each region, as nested lists."""

    vertices, nested = outlines(cells)
    kinds = [kind.value_type, kind] if len(nested) > 1 else [kind]
    found = _points(kinds[0].value_type, planar_vertices(cells)[vertices])
    for each, offsets in zip(kinds, nested, strict=True):
        found = _lists(each, offsets, found)
    return found


def _points(kind: Any, places: Floats) -> Any:
    import pyarrow

    return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(places.ravel()), type=kind)


def _lists(kind: Any, offsets: Any, values: Any) -> Any:
    """Return lists with offsets of 32 bits, enough for a block."""
    import pyarrow

    return pyarrow.ListArray.from_arrays(pyarrow.array(offsets.astype(np.int32)), values, type=kind)
