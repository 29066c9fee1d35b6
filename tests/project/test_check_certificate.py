# SPDX-License-Identifier: MIT
"""Does the standalone checker accept right files, and reject each damage that `certify` finds in the proof?"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import damage_judge
import regions
from damage_parts import Damage, damaged, undamaged
from damages import IN_PLANE, ON_LINE
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from partition_cases import SQUARE
from random_networks import random_network
from regions import check_certificate
from regions.results.partition import Partition, raw_arrays

SCRIPT = Path(check_certificate.__file__)
GENERIC, LINE = random_network([2, 6, 5, 3]), random_network([2, 8, 8, 1], 4)
SEGMENT = regions.Segment([-2, 1], [3, 0])
CROSS = regions.Network([([[1, 0], [0, 1]], [-0.1, 0.2]), ([[1, 1]], [0])])


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    return check_certificate


def accepts(checker: ModuleType, part: Partition, folder: Path) -> bool:
    """Return whether the checker accepts the result, as one of its network."""
    part.save(folder / "result.npz")
    return accepts_file(checker, folder / "result.npz", part.network)


def accepts_file(checker: ModuleType, file: Path, net: regions.Network) -> bool:
    """Return whether the checker accepts a file, as one of this network; nothing else may be raised."""
    try:
        certificate, _, _ = checker.check(file)
    except (checker.Rejected, ValueError):
        return False
    return bool(certificate.network == net.fingerprint)


@pytest.mark.parametrize("family", sorted({*FAMILIES, *CLIPPED_FAMILIES}))
def test_right_results_are_accepted(family: str, checker: ModuleType, tmp_path: Path) -> None:
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 2)
        if domain.bounded and net.is_chain:
            assert accepts(checker, regions.enumerate(net, domain), tmp_path)


def test_numbers_of_regions_proven_in_each_way(checker: ModuleType, tmp_path: Path) -> None:
    part = regions.enumerate(GENERIC, SQUARE)
    part.save(tmp_path / "result.npz")
    assert checker.check(tmp_path / "result.npz")[1:] == (len(part), 0)
    three_lines = regions.Network([([[1, 0], [0, 1], [1, 1]], [0, 0, 0]), ([[1, 1, 1]], [0])])
    regions.enumerate(three_lines, SQUARE).save(tmp_path / "result.npz")
    assert checker.check(tmp_path / "result.npz")[1:] == (0, 6)


def in_doubles(checker: ModuleType, part: Partition, folder: Path) -> int:
    """Return how many regions are proven in doubles."""
    part.save(folder / "result.npz")
    certificate, found = checker.Certificate(folder / "result.npz"), 0
    certificate.numbers[np.float64] = [
        [checker.rounded(x, np.float64) for x in layer] for layer in certificate.numbers[object]
    ]
    with np.errstate(all="ignore"):
        for size in np.unique(certificate.sizes):
            group = np.flatnonzero(certificate.plain & (certificate.sizes == size))
            *conditions, _ = certificate.hold(group, np.float64)[1].values()
            found += int(np.all(conditions, axis=0).sum())
    return found


@pytest.mark.parametrize("power", [0, -500, -516, -540])
def test_products_of_small_forms(power: int, checker: ModuleType, tmp_path: Path) -> None:
    """Squares of the forms are below the smallest double, and the proofs are the same."""
    layers = [(2.0**power * layer.weights, 2.0**power * layer.biases) for layer in GENERIC.layers]
    first, *others = GENERIC.layers
    net = regions.Network([layers[0], (others[0].weights, layers[1][1]), (others[1].weights, layers[2][1])])
    part = regions.enumerate(net, SQUARE)
    assert in_doubles(checker, part, tmp_path) == len(part)


def test_turns_in_a_small_domain(checker: ModuleType, tmp_path: Path) -> None:
    """Products of coordinates are below the smallest double, and do not show on which side a corner turns."""
    net = regions.Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 1]], [0])])
    part = regions.enumerate(net, regions.Polygon(np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * 2.0**-530))
    assert in_doubles(checker, part, tmp_path) == 0
    assert accepts(checker, part, tmp_path)


@pytest.mark.parametrize("size", [1e200, 1e300])
def test_numbers_beyond_the_largest_double(size: float, checker: ModuleType, tmp_path: Path) -> None:
    net = regions.Network([([[size, size], [0, size]], [0, 0]), ([[1, 1]], [0])])
    part = regions.enumerate(net, regions.Polygon([[-1e50, -1e50], [1e50, -1e50], [0, 1e50]]))
    assert accepts(checker, part, tmp_path)


@pytest.mark.parametrize("domain", [SQUARE, SEGMENT], ids=["plane", "line"])
def test_a_network_without_hidden_layers(domain: regions.Domain, checker: ModuleType, tmp_path: Path) -> None:
    part = regions.enumerate(regions.Network([([[1, 1], [0, 1]], [0, 0])]), domain)
    assert accepts(checker, part, tmp_path)
    raw = {**raw_arrays(part), "vertices": part.vertices + 0.125}
    assert not accepts(checker, Partition(part.network, domain, raw), tmp_path)


@pytest.mark.parametrize(("net", "domain"), [(CROSS, SQUARE), (LINE, SEGMENT)], ids=["plane", "line"])
def test_only_corners_of_the_domain_are_known_exactly(
    net: regions.Network, domain: regions.Domain, checker: ModuleType, tmp_path: Path
) -> None:
    """The bound of these is 0, which no bound on rounding errors reaches; other vertices need more."""
    part, places = regions.enumerate(net, domain), domain.generators[:, 1:]
    part.save(tmp_path / "result.npz")
    assert checker.check(tmp_path / "result.npz")[1:] == (len(part), 0)
    corners = [int(np.flatnonzero((part.vertices == place).all(axis=1))[0]) for place in places]
    assert not part.vertex_errors[corners].any()

    def moved(vertex: int, place: np.ndarray) -> bool:
        raw = {**raw_arrays(part), "vertices": part.vertices.copy(), "vertex_errors": part.vertex_errors.copy()}
        raw["vertices"][vertex], raw["vertex_errors"][vertex] = place, 0.0
        return accepts(checker, Partition(net, domain, raw), tmp_path)

    assert moved(corners[0], places[0]) and not moved(corners[0], np.nextafter(places[0], 0.25))
    for vertex in np.setdiff1d(part.facet_vertices[part.facet_kinks < 0], corners).tolist():
        assert not any(moved(vertex, place) for place in places)


DAMAGES = [(name, damage, GENERIC, SQUARE) for name, (damage, _) in IN_PLANE.items()]
DAMAGES += [(f"line_{name}", damage, LINE, SEGMENT) for name, (damage, _) in ON_LINE.items()]
DERIVED = {"volume_misreported"}  # not in files


@pytest.mark.parametrize("case", DAMAGES, ids=[name for name, *_ in DAMAGES])
@pytest.mark.parametrize("in_fractions", [False, True])
def test_damage_is_rejected(
    case: tuple[str, Damage, regions.Network, regions.Domain],
    in_fractions: bool,
    checker: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, damage, net, domain = case
    part, claimed = damaged(damage, undamaged(net, domain))
    if in_fractions:
        monkeypatch.setattr(checker, "KINDS", [])
    damage_judge.write(part, regions.enumerate(net, domain), tmp_path / "result.npz")
    assert accepts_file(checker, tmp_path / "result.npz", claimed) == (name in DERIVED)


def rewritten(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Change the arrays and the header of a file."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(bytes(arrays["header"]))
    change(arrays, header)
    if "header" in arrays:
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def to_every_bound(size: float) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda arrays, header: arrays["vertex_errors"].fill(size)


def to_header(**entries: object) -> Callable[[dict[str, Any], dict[str, Any]], object]:
    return lambda arrays, header: header.update(entries)


STRICT: dict[str, tuple[Callable[[dict[str, Any], dict[str, Any]], object], str]] = {
    "an unknown array": (lambda arrays, header: arrays.update(more=np.ones(2)), "array 'more': missing, or unexpected"),
    "an array is missing": (lambda arrays, header: arrays.pop("facet_offsets"), "array 'facet_offsets': missing, or"),
    "a counted array is missing": (lambda arrays, header: arrays.pop("vertices"), "or an array is missing"),
    "an array of a layer is missing": (lambda a, header: a.pop("layer_0_slopes"), "array 'layer_0_slopes': missing"),
    "bytes in a name": (lambda a, header: a.update({"x\x1b[2Jy": np.ones(1)}), "array 'x\\x1b[2Jy': missing, or"),
    "many corners": (
        lambda a, header: a.update(domain_generators=np.ones((1001, 3))),
        "a domain of more than 1,000 corners",
    ),
    "loose bounds": (to_every_bound(0.1), "vertex_errors: out of range"),
    "negative bounds": (to_every_bound(-1e-9), "vertex_errors: out of range"),
    "offsets of doubles": (
        lambda arrays, header: arrays.update(facet_offsets=arrays["facet_offsets"].astype(float)),
        "facet_offsets: another type or shape",
    ),
    "offsets far apart": (lambda a, header: a["cell_offsets"].__setitem__(3, 2**62), "cell_offsets: out of range"),
    "no network": (lambda arrays, header: header.pop("network"), "the file, array 'header': damaged"),
    "no header": (lambda arrays, header: arrays.pop("header"), "the file, array 'header': damaged"),
    "no axes": (lambda arrays, header: arrays.update(vertices=np.array(1.0)), "the file, array 'header': damaged"),
    "complete yes": (to_header(complete="yes"), "the file, array 'header': damaged"),
    "complete 1": (to_header(complete=1), "the file, array 'header': damaged"),
    "partial": (to_header(complete=False), "a partial result, which may not have all regions"),
    "another version": (to_header(version=2), "a file of another version"),
    "a version that is no integer": (to_header(version=3.0), "the file, array 'header': damaged"),
    "another format": (to_header(format="another"), "the file, array 'header': damaged"),
    "an escape sequence": (
        lambda arrays, header: header["network"].update(notes=["\x1b[2J"]),
        "the file, array 'header': damaged",
    ),
    "objects": (
        lambda arrays, header: arrays.update(vertices=np.array([None])),
        "the file, array 'vertices': damaged, cut short or not of relu-regions",
    ),
}


@pytest.mark.parametrize("name", STRICT)
def test_files_that_differ_from_what_is_written(name: str, checker: ModuleType, tmp_path: Path) -> None:
    """The package does not load them either, except bounds and partial results."""
    path, (change, words) = tmp_path / "result.npz", STRICT[name]
    regions.enumerate(GENERIC, SQUARE).save(path)
    checker.check(path)
    rewritten(path, change)
    with pytest.raises((checker.Rejected, ValueError), match=re.escape(words)):
        checker.check(path)
    if "bounds" not in name and name not in ("partial", "another version", "offsets far apart"):
        with pytest.raises(regions.errors.CheckpointError):
            regions.load_partition(path)


@pytest.mark.parametrize(("kinks", "slopes"), [([0.0], [0.0, 1.0]), ([], [2.0])])
def test_an_activation_of_the_outputs(
    kinks: list[float], slopes: list[float], checker: ModuleType, tmp_path: Path
) -> None:
    """Its kinks would be boundaries, which no pattern has. The fingerprint is right."""
    path = tmp_path / "result.npz"
    regions.enumerate(GENERIC, SQUARE).save(path)
    last = len(GENERIC.layers) - 1

    def change(arrays: dict[str, Any], header: dict[str, Any]) -> None:
        for part, values in (("breakpoints", kinks), ("slopes", slopes), ("intercepts", [0.0] * len(slopes))):
            arrays[f"layer_{last}_{part}"] = np.array(values)
        every = (arrays[f"layer_{k}_{part}"] for k in range(last + 1) for part in checker.LAYER)
        header["network"]["fingerprint"] = checker.fingerprint(every)

    rewritten(path, change)
    with pytest.raises(checker.Rejected, match="the last layer has an activation"):
        checker.check(path)


def test_every_cut_of_a_file(checker: ModuleType, tmp_path: Path) -> None:
    path, short = tmp_path / "result.npz", tmp_path / "short.npz"
    regions.enumerate(CROSS, SQUARE).save(path)
    content = path.read_bytes()
    for size in range(0, len(content), 61):
        short.write_bytes(content[:size])
        with pytest.raises(ValueError, match="damaged, cut short or not of relu-regions"):
            checker.check(short)


def test_members_of_the_archive(checker: ModuleType, tmp_path: Path) -> None:
    """Two members of one name, members that are not arrays, and zeros that would fill the memory."""
    path = tmp_path / "result.npz"
    for name, content in (("vertices.npy", b"x"), ("more.npy", b"x"), ("vertices", b"x"), ("notes.txt", b"")):
        regions.enumerate(CROSS, SQUARE).save(path)
        with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
            warnings.simplefilter("ignore")  # of zipfile, about the name
            archive.writestr(name, content)
        assert not accepts_file(checker, path, CROSS), name
    regions.enumerate(CROSS, SQUARE).save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros.npy", "w") as zeros:
        np.lib.format.write_array(zeros, np.zeros(1 << 23))
    with pytest.raises(ValueError, match="the file: damaged"):
        checker.check(path)


def test_a_shape_beyond_the_memory(checker: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "result.npz"
    for shape in ((10**12, 2), (-5, 2), (10**9, 0)):
        regions.enumerate(CROSS, SQUARE).save(path)
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != "vertices"}
        np.savez(path, **arrays)
        header = io.BytesIO()
        about = {"descr": "<f8", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, about)
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("vertices.npy", header.getvalue() + bytes(16))
        assert not accepts_file(checker, path, CROSS), shape


def ran(*words: object) -> tuple[int, str, str]:
    done = subprocess.run([sys.executable, SCRIPT, *map(str, words)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def test_the_network_and_the_domain_are_named(checker: ModuleType, tmp_path: Path) -> None:
    """The certificate of another polygon or network can be told from the one that was asked for."""
    path = tmp_path / "result.npz"
    part = regions.enumerate(GENERIC, SQUARE)
    part.save(path)
    corners = SQUARE.generators[:, 1:].tolist()
    assert ran(path) == (
        0,
        f"accepted: the network has exactly {len(part)} regions on the domain\nnetwork {GENERIC.fingerprint}\n"
        f"domain {SQUARE.fingerprint}: 4 corners in R^2: {corners}\n"
        f"{len(part)} regions proven with error bounds, 0 in fractions\n",
        "",
    )
    net, angles = random_network([9, 4, 1]), np.linspace(0, 2 * np.pi, 13)[:12]
    basis = np.random.default_rng(0).normal(size=(3, 9))
    ring = [(basis[0] + np.cos(angle) * basis[1] + np.sin(angle) * basis[2]).round(2) for angle in angles]
    polygon = regions.Polygon(np.array(ring) @ np.diag([1.0] * 2 + [0.0] * 7))
    regions.enumerate(net, polygon).save(path)
    network, domain = checker.check(path)[0].named()
    assert network == f"network {net.fingerprint}" and f"{polygon.fingerprint}: 12 corners in R^9: [[" in domain
    assert domain.count("[") == 1 + 8 and domain.count(",") == 8 * 4 - 1


def test_the_script_alone(checker: ModuleType, tmp_path: Path) -> None:
    path, again = tmp_path / "result.npz", ": damaged, cut short or not of relu-regions: save or copy it again\n"
    part = regions.enumerate(GENERIC, SQUARE)
    part.save(path)
    assert ran(tmp_path / "none.npz") == (2, "not checked: the file: No such file or directory\n", "")
    assert ran(tmp_path) == ran("/dev/zero") == (2, f"not checked: the file{again}", "")
    os.mkfifo(tmp_path / "pipe")  # no program writes to it
    assert ran(tmp_path / "pipe") == (2, f"not checked: the file{again}", "")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert ran(tmp_path / "loop") == (2, "not checked: the file: Too many levels of symbolic links\n", "")
    assert ran(SCRIPT) == (2, f"not checked: the file{again}", "")
    assert ran() == ran(path, path) == (2, "not checked: usage: check_certificate.py result.npz\n", "")
    link = tmp_path / "link.npz"
    link.symlink_to(path)
    assert ran(link)[0] == 0
    rewritten(path, to_header(complete=False))
    code, out, err = ran(path)
    assert (code, err) == (2, "") and out.startswith("not checked: a partial result, which may not have all regions")
    rewritten(path, lambda arrays, header: header.update(complete=True))
    rewritten(path, lambda arrays, header: arrays["packed_patterns"].__setitem__((3, 0), 9))
    code, out, err = ran(path)
    assert (code, err) == (1, "") and out.startswith("rejected: ")
    box = regions.enumerate(
        regions.Network([(np.eye(3), None), (np.ones((1, 3)), None)]), regions.Box([-1] * 3, [1] * 3)
    )
    box.save(path)
    other = "not checked: a box, or not a chain of dense layers: ask regions.certify of relu-regions\n"
    assert ran(path) == (2, other, "")
    skip = draw("graph_generic", 2, 0)
    assert not skip[0].is_chain
    regions.enumerate(*skip).save(path)
    assert ran(path) == (2, other, "")
    text = SCRIPT.read_text()
    assert len(text.splitlines()) <= 320
    imports = {line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imports == {"contextlib", "hashlib", "json", "os", "sys", "fractions", "numpy"}
