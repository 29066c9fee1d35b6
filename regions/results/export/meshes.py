# SPDX-License-Identifier: MIT
"""How are polygons with shared vertices written to files of other programs?

The suffix decides the format: PLY (Stanford's polygon format, binary with little-endian doubles), or Wavefront OBJ,
text in which numbers read back as the same doubles. Programs that show or measure meshes read both. If the input space
has three dimensions, points of it are written, and chart coordinates otherwise (`as_placed`).
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np

from regions.domains import Domain
from regions.errors import DomainError
from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import path_of
from regions.ground.arithmetic.dyadic import dyadic
from regions.ground.arithmetic.types import Floats, Integers
from regions.ground.text.printable import file_name

__all__ = ["MESH_SUFFIXES", "as_placed", "write_mesh"]

MESH_SUFFIXES = (".ply", ".obj")
# Larger numbers of corners need a wider type in PLY.
SMALL = 255


def write_mesh(path: str | PathLike[str], vertices: Floats, offsets: Integers, corners: Integers) -> None:
    """Write polygons to a file.

    Parameters
    ----------
    path : str or path
        ``.ply`` or ``.obj``.
    vertices : float64 [V, 3]
    offsets : int64 [F + 1]
        Polygon f has the vertices ``corners[offsets[f]:offsets[f + 1]]``.
    corners : int64 [K]

    Raises
    ------
    ValueError
        An unknown suffix.
    DomainError
        A coordinate beyond the largest double.
    """
    file = path_of(path)
    suffix = file.suffix.lower()
    if suffix not in MESH_SUFFIXES:
        raise ValueError(f"path must end in {' or '.join(MESH_SUFFIXES)}, got {file_name(file)}")
    if not np.isfinite(vertices).all():
        raise DomainError("a vertex is beyond the largest double, and files of surfaces hold finite numbers only")
    with replacing(file) as temporary:
        (_write_ply if suffix == ".ply" else _write_obj)(temporary, vertices, offsets, corners)


def as_placed(domain: Domain, vertices: Floats) -> tuple[Floats, bool]:
    """Return chart coordinates [V, 3] as they are written, and whether they are mirrored.

    Parameters
    ----------
    domain : Domain
        It has three dimensions.
    vertices : float64 [V, 3]

    Returns
    -------
    float64 [V, 3]
    bool
        Whether what is counter-clockwise in the chart is clockwise here, decided exactly.
    """
    if domain.n_in != domain.dimension:
        return vertices, False
    (a, b, c), _ = dyadic(domain.directions)
    cross = (b[1] * c[2] - b[2] * c[1], b[2] * c[0] - b[0] * c[2], b[0] * c[1] - b[1] * c[0])
    mirrored = sum(x * y for x, y in zip(a, cross, strict=True)) < 0
    return domain.to_input(vertices).reshape(vertices.shape), bool(mirrored)


def _write_ply(file: Path, vertices: Floats, offsets: Integers, corners: Integers) -> None:
    sizes = np.diff(offsets)
    kind, width = ("uchar", 1) if sizes.max(initial=0) <= SMALL else ("uint", 4)
    names = "".join(f"property double {axis}\n" for axis in "xyz")
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\n{names}"
        f"element face {len(sizes)}\nproperty list {kind} int vertex_indices\nend_header\n"
    )
    # Each polygon is its number of corners, in `width` bytes, and its vertices in four bytes each.
    faces = np.empty(width * len(sizes) + 4 * len(corners), dtype=np.uint8)
    starts = width * np.arange(len(sizes)) + 4 * offsets[:-1]
    faces[starts[:, np.newaxis] + np.arange(width)] = sizes.astype(f"<u{width}").view(np.uint8).reshape(-1, width)
    places = 4 * np.arange(len(corners)) + width * (np.repeat(np.arange(len(sizes)), sizes) + 1)
    faces[places[:, np.newaxis] + np.arange(4)] = corners.astype("<i4").view(np.uint8).reshape(-1, 4)
    with file.open("wb") as stream:
        stream.write(header.encode())
        stream.write(vertices.astype("<f8").tobytes())
        stream.write(faces.tobytes())


def _write_obj(file: Path, vertices: Floats, offsets: Integers, corners: Integers) -> None:
    numbers, ends = (corners + 1).tolist(), offsets.tolist()
    with file.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"v {x!r} {y!r} {z!r}\n" for x, y, z in vertices.tolist())
        stream.writelines(
            f"f {' '.join(map(str, numbers[start:end]))}\n" for start, end in zip(ends, ends[1:], strict=False)
        )
