# SPDX-License-Identifier: MIT
"""How are regions of three dimensions written for programs that show volumes?

As an unstructured grid of VTK's XML format, ``.vtu``, which ParaView, PyVista and meshio read: each region is a
polyhedron (cell type 42) with its facets, or some tetrahedra (cell type 10). Faces of polyhedra are counter-clockwise
as seen from outside. The first three vertices of a tetrahedron are so as seen from the fourth.
Source: "VTK File Formats" and ``vtkTetra`` in the documentation of VTK, www.vtk.org. Arrays are base64, with their
length in front.
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

from regions.ground.arithmetic.types import Floats, Integers
from regions.results.cells.mesh import facets_seen_from_outside
from regions.results.cells.output_maps import outputs_at_vertices
from regions.results.cells.pulling import pulled
from regions.results.export.meshes import as_placed
from regions.results.partition import Partition

__all__ = ["write_vtu"]

POLYHEDRON, TETRAHEDRON = 42, 10
NAMES = {"f8": "Float64", "i8": "Int64", "u1": "UInt8"}


def write_vtu(partition: Partition, file: Path, tetrahedra: bool) -> None:
    """Write the regions of a partition of three dimensions, as polyhedra or divided into tetrahedra."""
    points, mirrored = as_placed(partition.domain, partition.vertices)
    regions, cells = _tetrahedra(partition, points) if tetrahedra else _polyhedra(partition, mirrored)
    arrays = {
        "PointData": [_array("output", outputs_at_vertices(partition))],
        "CellData": [_array("volume", partition.volumes[regions]), _array("region", regions)],
        "Points": [_array("Points", points)],
        "Cells": [_array(name, array) for name, array in cells.items()],
    }
    with file.open("w", encoding="ascii", newline="\n") as stream:
        stream.write(
            '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
            f'header_type="UInt64">\n<UnstructuredGrid>\n<Piece NumberOfPoints="{len(points)}" '
            f'NumberOfCells="{len(regions)}">\n'
        )
        for name, parts in arrays.items():
            stream.writelines([f"<{name}>\n", *parts, f"</{name}>\n"])
        stream.write("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n")


def _polyhedra(partition: Partition, mirrored: bool) -> tuple[Integers, dict[str, NDArray[Any]]]:
    """Return the region of each cell, and the arrays of the cells.

    The array ``faces`` has for each region its number of facets, and for each facet its number of vertices and their
    indices.
    """
    # meshio 5.3.5 needs regions sorted by their number of vertices.
    order = np.argsort(partition.corner_counts, kind="stable")
    corners = np.split(partition.cell_vertices, partition.cell_offsets[1:-1])
    outlines = np.split(facets_seen_from_outside(partition).corners, partition.facet_offsets[1:-1])
    firsts, offsets = partition.facet_regions[:, 0].tolist(), partition.cell_facet_offsets

    def numbers() -> Iterator[list[int]]:
        for region in order.tolist():
            own = partition.cell_facets[offsets[region] : offsets[region + 1]].tolist()
            parts = [outlines[facet].tolist()[:: 1 if (firsts[facet] == region) != mirrored else -1] for facet in own]
            yield [len(parts), *(number for part in parts for number in (len(part), *part))]

    every = list(numbers())
    return order, {
        "connectivity": np.concatenate([corners[region] for region in order.tolist()]),
        "offsets": np.cumsum(partition.corner_counts[order]),
        "types": np.full(len(partition), POLYHEDRON, dtype=np.uint8),
        "faces": np.array([number for each in every for number in each]),
        "faceoffsets": np.cumsum([len(each) for each in every]),
    }


def _tetrahedra(partition: Partition, points: Floats) -> tuple[Integers, dict[str, NDArray[Any]]]:
    """Return the region of each cell, and the arrays of the cells."""
    found = pulled(partition)
    corners = np.concatenate(found)
    # A program only sees rounded points, so these decide the order of the vertices.
    with np.errstate(all="ignore"):
        a, b, c = (points[corners[:, k]] - points[corners[:, 0]] for k in (1, 2, 3))
        turned = (np.cross(a, b) * c).sum(axis=1) < 0
    corners[turned, 2:] = corners[turned, :1:-1]
    return np.repeat(np.arange(len(found)), [len(each) for each in found]), {
        "connectivity": corners.ravel(),
        "offsets": 4 * np.arange(1, len(corners) + 1),
        "types": np.full(len(corners), TETRAHEDRON, dtype=np.uint8),
    }


def _array(name: str, array: NDArray[Any]) -> str:
    """Return an array [n] or [n, components] as an element."""
    kind = array.dtype.str[1:]
    components = f' NumberOfComponents="{array.shape[1]}"' if array.ndim == 2 else ""
    data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
    text = b64encode(np.array(len(data), dtype="<u8").tobytes() + data).decode()
    return f'<DataArray type="{NAMES[kind]}" Name="{name}"{components} format="binary">{text}</DataArray>\n'
