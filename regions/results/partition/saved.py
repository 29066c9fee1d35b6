# SPDX-License-Identifier: MIT
"""How is a partition stored in a file?

It is a ``.npz`` that `numpy.load` opens without pickles: the arrays of the partition, of its domain and of its
network, and one array ``header`` that is JSON in UTF-8. docs/arrays-and-files.md has the list. With one version of
zlib, the same partition gives the same bytes.
A file is not trusted. `regions.files.npz` parses it under limits. Then names, types and shapes are compared with
the expected ones, network and domain are made by their constructors, their fingerprints are computed again, and every
index is checked before the partition is made.
Files have a version, and all versions are read. Version 3 is written. The vertices of facets and the facets of regions
have separate offsets there, because from dimension three on a facet has any number of vertices and a region does not
have as many facets as corners. Version 2 had no ``cell_facet_offsets``. In version 1 the vertices of facets were rows,
[F, d], and the packed patterns were called ``patterns``.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from regions.domains import Box, Domain, Line, Plane, Polygon, Polytope, Ray, Rectangle, Segment
from regions.domains.domain import from_chart
from regions.errors import CheckpointError, NotACheckpointError, RegionsError
from regions.files import limits
from regions.files.npz import read_npz
from regions.files.opened import opened, printable_errors
from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import path_of
from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.dense import Dense
from regions.networks.described import layer_facts
from regions.networks.graph import Graph, Maxima, Node, Operator, Read, Units
from regions.networks.named_activations import Activation
from regions.networks.network import LAYER_ARRAYS, Layer, Network, stored_arrays
from regions.networks.patches import Patches, first_problem_of_patches
from regions.results.cells.complex import ARRAYS, POLYTOPE_ARRAYS, CellComplex, raw_arrays
from regions.results.cells.consistency import first_problem

__all__ = ["DamagedResultError", "read_partition", "write_arrays", "write_partition"]

Cells = TypeVar("Cells", bound=CellComplex)

FORMAT, VERSION = "relu-regions partition", 3
# The format of a file with the proof of a verdict (`regions/check_property.py`).
PROOF = "relu-regions proof"
# Arrays that other arrays determine in one and two dimensions, with the first version that has them.
OFFSETS = {"facet_offsets": 2, "cell_facet_offsets": 3}
OLD_NAMES = {"packed_patterns": "patterns"}
DOMAIN_ARRAYS = ("origin", "directions", "generators")
# A polytope has inequalities; a file with these holds a partition of three to six dimensions.
POLYTOPE_DOMAIN_ARRAYS = ("origin", "directions", "forms")
UNIT_ARRAYS = ("breakpoints", "slopes", "intercepts")
PATCH_ARRAYS = ("kernels", "kinds", "sources", "targets")
# The longest texts that are read, because these texts are printed.
LONGEST_WORD, LONGEST_NOTE = 100, 10_000
# A domain of any other class is loaded as a plain Domain: the same chart, the same set.
DOMAIN_KINDS = {kind.__name__: kind for kind in (Domain, Line, Plane, Polygon, Ray, Rectangle, Segment)}


class DamagedResultError(NotACheckpointError):
    """A file that `Partition.save` wrote, whose content has been changed: its parts do not fit together."""


def write_partition(cells: CellComplex, path: str | PathLike[str], answer: Mapping[str, Any] | None = None) -> None:
    """Write a partition to a ``.npz`` file; see `Partition.save`. An answer is added to the header."""
    if len(cells) == 0:
        raise ValueError("a partial result without a single region cannot be saved")
    raw = raw_arrays(cells)
    header = {
        "complete": cells.complete,
        "stats": cells.stats,
        "found_by": {"version": cells.version, "kernel": cells.kernel},
        **({} if answer is None else {"answer": answer}),
    }
    arrays = {name: raw[name].reshape(-1) if name == "facet_vertices" else raw[name] for name in ARRAYS}
    arrays |= {name: getattr(cells, name) for name in OFFSETS}
    write_arrays(path, FORMAT, header, arrays, cells.network, cells.domain)


def write_arrays(
    path: str | PathLike[str],
    form: str,
    entries: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    network: Network,
    domain: Domain,
) -> None:
    """Write arrays about a network on a domain, both of these, and a header with the name of the format and entries."""
    header = {
        "format": form,
        "version": VERSION,
        **entries,
        "network": {
            "fingerprint": network.fingerprint,
            "activations": [layer.activation for layer in layer_facts(network.graph)],
            "notes": list(network.notes),
            **({} if network.is_chain else {"input_shape": list(network.input_shape)}),
        },
        "domain": {"fingerprint": domain.fingerprint, "kind": type(domain).__name__},
    }
    every: dict[str, NDArray[Any]] = {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays}
    of_domain = POLYTOPE_DOMAIN_ARRAYS if domain.dimension > 2 else DOMAIN_ARRAYS
    every |= {f"domain_{name}": getattr(domain, name) for name in of_domain}
    every |= stored_arrays(network)
    # Patterns with many dead bits shrink so well that the readers would mistake the file for a zip bomb.
    with replacing(path_of(path)) as file:
        if _write(every, file, zipfile.ZIP_DEFLATED) > limits.MAX_EXPANSION:
            _write(every, file, zipfile.ZIP_STORED)


def _write(arrays: Mapping[str, NDArray[Any]], path: Path, compression: int) -> float:
    """Write the members; return the ratio of their size to the compressed size."""
    # Level 1, because patterns shrink at any level and coordinates at none. Members opened by name have a fixed
    # date.
    with zipfile.ZipFile(path, "w", compression, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
                little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
                np.lib.format.write_array(stream, little.reshape(array.shape), allow_pickle=False)
        members = archive.infolist()
    return sum(member.file_size for member in members) / sum(member.compress_size for member in members)


def read_partition(path: str | PathLike[str], kinds: Mapping[int, type[Cells]]) -> Cells:
    """Return the partition in a file, as an object of the class for the dimension of its domain.

    See `regions.load_partition`.
    """
    with printable_errors(), opened(path, "the partition", "what Partition.save wrote, .npz") as file:
        arrays = read_npz(file)
        try:
            reader = _Reader(arrays)
        except CheckpointError as error:
            raise type(error)(f"{file.name}: {error}") from None
        try:
            network, domain, raw = reader.parts()
            return kinds[domain.dimension](network, domain, raw)
        except RegionsError as error:  # also from the constructors of network and domain
            raise DamagedResultError(f"{file.name}: {error}") from error


class _Reader:
    """The arrays of one file, each returned only after it is checked."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = arrays
        self.header = self._header()
        self.in_polytope = "domain_forms" in arrays

    def parts(self) -> tuple[Network, Any, dict[str, Any]]:
        names = self.entry("network", "activations", list)
        version = self.header["version"]
        old = version == 1
        stored = {name: OLD_NAMES.get(name, name) if old else name for name in ARRAYS}
        of_domain = POLYTOPE_DOMAIN_ARRAYS if self.in_polytope else DOMAIN_ARRAYS
        expected = ["header", *stored.values(), *(f"domain_{name}" for name in of_domain)]
        expected += [name for name, since in OFFSETS.items() if version >= since]
        expected += self.network_arrays(names)
        different = sorted({*expected} ^ self.arrays.keys())
        if different:
            raise NotACheckpointError(f"array {different[0]!r} is missing or unexpected")
        if self.in_polytope and version < OFFSETS["cell_facet_offsets"]:
            raise NotACheckpointError(f"a partition in a polytope has format version 3, not {version}")
        network, domain = self.network(names), self.polytope() if self.in_polytope else self.domain()
        if domain.n_in != network.n_in:
            raise NotACheckpointError("the domain lies in another space than the network's input")
        raw: dict[str, Any] = {name: self.array(stored[name], dtype) for name, dtype in ARRAYS.items()}
        if self.in_polytope:
            raw |= {name: self.array(name, dtype) for name, dtype in POLYTOPE_ARRAYS.items() if name not in raw}
        elif not old:
            raw["facet_vertices"] = self.facet_rows(raw["facet_vertices"], domain.dimension)
        if (
            not self.in_polytope
            and version >= OFFSETS["cell_facet_offsets"]
            and not np.array_equal(self.array("cell_facet_offsets", np.int64), raw["cell_offsets"])
        ):
            raise NotACheckpointError("cell_facet_offsets differs from cell_offsets")
        complete = self.entry(None, "complete", bool)
        problem = first_problem(network, domain, raw, complete)
        if problem:
            raise NotACheckpointError(problem)
        stats = self.entry(None, "stats", dict)
        if not all(type(value) is int and value >= 0 for value in stats.values()):
            raise NotACheckpointError("stats must be integers of at least 0")
        found_by = {name: self.entry("found_by", name, str) for name in ("version", "kernel")}
        if any(len(word) > LONGEST_WORD or not word.isprintable() for word in found_by.values()):
            raise NotACheckpointError("the names of version and kernel must be short, and one line each")
        return network, domain, {**raw, "complete": complete, "stats": stats, **found_by}

    def network_arrays(self, names: list[Any]) -> list[str]:
        """Return the names of the arrays that the network must have."""
        if self.is_chain(names):
            return [f"layer_{index}_{name}" for index in range(len(names)) for name in LAYER_ARRAYS]
        found = [f"node_{number}_{name}" for number in range(len(names)) for name in ("biases", "reads")]
        for number in range(len(names)):
            maxima = f"node_{number}_arms" in self.arrays
            found += [f"node_{number}_{name}" for name in (("arms",) if maxima else UNIT_ARRAYS)]
            count = self.array(f"node_{number}_reads", np.int64).size if f"node_{number}_reads" in self.arrays else 0
            for prefix in (f"node_{number}_read_{index}" for index in range(count)):
                dense = f"{prefix}_weights" in self.arrays
                found += [f"{prefix}_{name}" for name in (("weights",) if dense else PATCH_ARRAYS)]
        return found

    def _header(self) -> Mapping[str, Any]:
        header: Any = None
        if "header" in self.arrays:
            text = self.array("header", np.uint8)
            if text.nbytes > limits.MAX_JSON_BYTES:
                raise NotACheckpointError(f"the header has {text.nbytes} bytes")
            try:
                header = json.loads(text.tobytes())
            except (ValueError, RecursionError):
                header = None
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            message = "not a file that Partition.save wrote: its header is missing or different"
            if isinstance(header, dict) and header.get("format") == PROOF:
                message = "the proof of a verdict, without regions: check it by `python -m regions.check_property FILE`"
            raise NotACheckpointError(message)
        version = header.get("version")
        if type(version) is not int or version not in range(1, VERSION + 1):
            raise NotACheckpointError(
                f"format version {str(version)[:20]}, this package reads versions 1 to {VERSION}: "
                "use the version of relu-regions that wrote it, or enumerate again"
            )
        return header

    def entry(self, group: str | None, name: str, kind: type) -> Any:
        """Return one entry of the header, of exactly this type."""
        holder = self.header if group is None else self.header.get(group)
        value = holder.get(name) if isinstance(holder, dict) else None
        if type(value) is not kind:
            raise NotACheckpointError(f"header entry {name!r} is missing or not of type {kind.__name__}")
        return value

    def network(self, names: list[Any]) -> Network:
        notes = [str(note) for note in self.entry("network", "notes", list)]
        if any(len(text) > LONGEST_NOTE or not text.isprintable() for text in (*notes, *map(str, names))):
            raise NotACheckpointError("notes and names of activations must be printable, and one line each")
        if self.is_chain(names):
            layers = []
            for index, name in enumerate(names):
                layer = {key: self.array(f"layer_{index}_{key}", np.float64) for key in LAYER_ARRAYS}
                layers.append(Layer(layer["weights"], layer["biases"], self.activation(name, layer), f"layer {index}"))
            network = Network.from_layers(layers, notes)
        else:
            network = self.network_of_nodes(names, notes)
        if network.fingerprint != self.entry("network", "fingerprint", str):
            raise NotACheckpointError("the network is not the one that the header names")
        return network

    def is_chain(self, names: list[Any]) -> bool:
        """Return whether the network is stored layer by layer; other networks are stored node by node."""
        return not names or "layer_0_weights" in self.arrays

    @staticmethod
    def activation(name: Any, arrays: Mapping[str, NDArray[Any]]) -> Activation:
        return Activation(str(name), arrays["breakpoints"], arrays["slopes"], arrays["intercepts"])

    def network_of_nodes(self, names: list[Any], notes: list[str]) -> Network:
        n_in, nodes, kinks = int(self.array("domain_origin", np.float64).size), list[Node](), 0
        for number, name in enumerate(names):
            prefix = f"node_{number}"
            biases = self.array(f"{prefix}_biases", np.float64)
            units = self.units(prefix, str(name), biases.size)
            if biases.shape != (units.rows,):
                raise NotACheckpointError(f"the arrays of node {number} do not fit together")
            reads = []
            for index, of in enumerate(self.array(f"{prefix}_reads", np.int64).ravel().tolist()):
                if not -1 <= of < number:
                    raise NotACheckpointError(f"node {number} reads node {of}, which does not come before it")
                given = n_in if of < 0 else nodes[of].units.count
                reads.append(Read(self.operator(f"{prefix}_read_{index}", given, len(biases)), of))
            nodes.append(Node(biases, tuple(reads), units, slice(kinks, kinks + units.kinks), f"node {number}"))
            kinks += units.kinks
        shape = self.entry("network", "input_shape", list)
        return Network.from_graph(Graph(n_in, nodes), shape, notes)

    def units(self, prefix: str, name: str, rows: int) -> Units | Maxima:
        if f"{prefix}_arms" in self.arrays:
            return Maxima(self.array(f"{prefix}_arms", np.int32), name)
        activation = self.activation(name, {key: self.array(f"{prefix}_{key}", np.float64) for key in UNIT_ARRAYS})
        if activation.slopes.ndim > 1 and len(activation.slopes) != rows:
            raise NotACheckpointError(f"{prefix}: there are {rows} units and slopes for {len(activation.slopes)}")
        return Units(rows, activation)

    def operator(self, prefix: str, inputs: int, outputs: int) -> Operator:
        if f"{prefix}_weights" in self.arrays:
            weights = self.array(f"{prefix}_weights", np.float64)
            if weights.ndim != 2:
                raise NotACheckpointError(f"{prefix}_weights must have two axes")
            return Dense(weights)
        kernels = self.array(f"{prefix}_kernels", np.float64)
        kinds, sources, targets = (self.array(f"{prefix}_{name}", np.int32) for name in ("kinds", "sources", "targets"))
        problem = first_problem_of_patches(inputs, outputs, kernels, kinds, sources, targets)
        if problem:
            raise NotACheckpointError(f"{prefix}: {problem}")
        return Patches(inputs, outputs, kernels, kinds, sources, targets)

    def domain(self) -> Domain:
        kind = DOMAIN_KINDS.get(self.entry("domain", "kind", str), Domain)
        origin, directions, generators = (self.array(f"domain_{name}", np.float64) for name in DOMAIN_ARRAYS)
        if origin.ndim != 1 or directions.ndim != 2:  # images are flattened before they are saved
            raise NotACheckpointError("domain_origin must have one axis, and domain_directions two")
        domain: Domain = from_chart(kind, origin, directions, generators)
        self.require_fingerprint(domain)
        return domain

    def polytope(self) -> Domain:
        kind = Box if self.entry("domain", "kind", str) == Box.__name__ else Polytope
        origin, directions, forms = (self.array(f"domain_{name}", np.float64) for name in POLYTOPE_DOMAIN_ARRAYS)
        if origin.ndim != 1 or directions.ndim != 2 or forms.ndim != 2 or not np.isfinite(forms).all():
            raise NotACheckpointError(
                "domain_origin must have one axis, domain_directions and domain_forms two, and all numbers be finite"
            )
        if kind is Box and not _is_box(forms):
            raise NotACheckpointError("domain_forms are not the sides of a box")
        polytope: Domain = from_chart(kind, origin, directions, forms)
        self.require_fingerprint(polytope)
        if not polytope.bounded:
            raise NotACheckpointError("the domain is not bounded")
        return polytope

    def require_fingerprint(self, domain: Domain) -> None:
        if domain.fingerprint != self.entry("domain", "fingerprint", str):
            raise NotACheckpointError("the domain is not the one that the header names")

    def facet_rows(self, vertices: Integers, dimension: int) -> Integers:
        """Return the vertices of facets as rows [F, d]: in a domain of dimension d, 1 or 2, each facet has d."""
        offsets = self.array("facet_offsets", np.int64)
        if len(vertices.shape) != 1 or vertices.size % dimension:
            shape = list(vertices.shape)
            raise NotACheckpointError(f"facet_vertices has shape {shape}, not {dimension} numbers for each facet")
        if not np.array_equal(offsets, np.arange(0, vertices.size + 1, dimension)):
            raise NotACheckpointError(f"facet_offsets must go from 0 to {vertices.size} in steps of {dimension}")
        return vertices.reshape(-1, dimension)

    def array(self, name: str, dtype: type) -> NDArray[Any]:
        values, wanted = self.arrays[name], np.dtype(dtype).newbyteorder("<")
        if not values.size:  # an empty array may have any type
            return np.empty(values.shape, dtype)
        if values.dtype != wanted:
            raise NotACheckpointError(f"array {name!r} has type {values.dtype}, expected {wanted}")
        return values.astype(dtype, copy=False)


def _is_box(forms: Floats) -> bool:
    """Return whether inequalities are the sides of a box: p_k - low and high - p_k for each coordinate k."""
    axes = np.eye(forms.shape[1] - 1)
    return np.array_equal(forms[:, 1:], np.stack([axes, -axes], axis=1).reshape(-1, len(axes)))
