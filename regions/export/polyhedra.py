# SPDX-License-Identifier: MIT
"""How are regions of three dimensions written for programs that show volumes?

As an unstructured grid of VTK's XML format, ``.vtu``, which ParaView, PyVista and meshio read: each region is a
polyhedron (cell type 42) with its facets. Source: "VTK File Formats" in the documentation of VTK, www.vtk.org. Arrays
are base64, with their length in front.
Regions are sorted by their number of vertices; the array ``region`` has their indices in the partition.
Points are points of input space if that has three dimensions, and chart coordinates otherwise. The outputs at the
vertices and the volumes of the regions are stored with them.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Integers
from regions.cells.output_maps import outputs_at_vertices
from regions.partition.polytopes import PolytopePartition

__all__ = ["write_vtu"]

POLYHEDRON = 42
NAMES = {"f8": "Float64", "i8": "Int64", "u1": "UInt8"}


def write_vtu(partition: PolytopePartition, file: Path) -> None:
    """Write the regions of a partition of three dimensions."""
    domain = partition.domain
    points = domain.to_input(partition.vertices) if domain.n_in == 3 else partition.vertices
    # meshio 5.3.5 needs regions sorted by their number of vertices.
    order = np.argsort(partition.corner_counts, kind="stable")
    faces, ends = _faces(partition, order)
    corners = np.split(partition.cell_vertices, partition.cell_offsets[1:-1])
    arrays = {
        "PointData": [_array("output", outputs_at_vertices(partition))],
        "CellData": [_array("volume", partition.volumes[order]), _array("region", order)],
        "Points": [_array("Points", points)],
        "Cells": [
            _array("connectivity", np.concatenate([corners[region] for region in order.tolist()])),
            _array("offsets", np.cumsum(partition.corner_counts[order])),
            _array("types", np.full(len(partition), POLYHEDRON, dtype=np.uint8)),
            _array("faces", faces),
            _array("faceoffsets", ends),
        ],
    }
    with file.open("w", encoding="ascii", newline="\n") as stream:
        stream.write(
            '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
            f'header_type="UInt64">\n<UnstructuredGrid>\n<Piece NumberOfPoints="{len(points)}" '
            f'NumberOfCells="{len(partition)}">\n'
        )
        for name, parts in arrays.items():
            stream.writelines([f"<{name}>\n", *parts, f"</{name}>\n"])
        stream.write("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n")


def _faces(partition: PolytopePartition, order: Integers) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return for each region its number of facets, and for each facet its number of vertices and their indices.

    Also return where the numbers of each region end.
    """
    outlines = np.split(partition.facet_vertices, partition.facet_offsets[1:-1])

    def numbers() -> Iterator[list[int]]:
        offsets = partition.cell_facet_offsets
        for start, end in zip(offsets[order].tolist(), offsets[order + 1].tolist(), strict=True):
            parts = [outlines[facet].tolist() for facet in partition.cell_facets[start:end].tolist()]
            yield [len(parts), *(number for part in parts for number in (len(part), *part))]

    every = list(numbers())
    return np.array([number for each in every for number in each]), np.cumsum([len(each) for each in every])


def _array(name: str, array: NDArray[Any]) -> str:
    """Return an array [n] or [n, components] as an element."""
    kind = array.dtype.str[1:]
    components = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
    data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
    text = b64encode(np.array(len(data), dtype="<u8").tobytes() + data).decode()
    return f'<DataArray type="{NAMES[kind]}" Name="{name}"{components} format="binary">{text}</DataArray>\n'
