# SPDX-License-Identifier: MIT
"""Does the standalone checker accept right files, and reject each damage that `certify` finds in the proof?"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import regions
from damage_parts import Damage, damaged, undamaged
from damages import IN_PLANE, ON_LINE
from generators import FAMILIES, draw
from generators_clipped import CLIPPED_FAMILIES
from partition_cases import SQUARE
from random_networks import random_network
from regions.partition import Partition, raw_arrays

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "check_certificate.py"
GENERIC, LINE = random_network([2, 6, 5, 3]), random_network([2, 8, 8, 1], 4)
SEGMENT = regions.Segment([-2, 1], [3, 0])
CROSS = regions.Network([([[1, 0], [0, 1]], [-0.1, 0.2]), ([[1, 1]], [0])])


@pytest.fixture(scope="module")
def checker() -> Iterator[ModuleType]:
    if not SCRIPT.exists():
        pytest.skip("only in a checkout: the script is not installed")
    spec = importlib.util.spec_from_file_location("check_certificate", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module


def accepts(checker: ModuleType, part: Partition, folder: Path, net: regions.Network | None = None) -> bool:
    """Return whether the checker accepts the result, as one of this network."""
    file = folder / "result.npz"
    try:
        part.save(file)
        network, _, _ = checker.check(file)
    except Exception as error:
        assert isinstance(error, (checker.Rejected, ValueError, KeyError, IndexError, TypeError)), error
        return False
    return bool(network == (net or part.network).fingerprint)


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
    assert accepts(checker, part, tmp_path, claimed) == (name in DERIVED)


def test_the_script_alone(checker: ModuleType, tmp_path: Path) -> None:
    part = regions.enumerate(GENERIC, SQUARE)
    part.save(tmp_path / "result.npz")
    done = subprocess.run([sys.executable, SCRIPT, tmp_path / "result.npz"], capture_output=True, text=True)
    assert done.returncode == 0 and f"exactly {len(part)} regions" in done.stdout
    done = subprocess.run([sys.executable, SCRIPT, SCRIPT], capture_output=True, text=True)
    assert done.returncode == 1 and "rejected: not a file that can be read" in done.stdout
    assert "not a zip file" in done.stdout
    box = regions.enumerate(
        regions.Network([(np.eye(3), None), (np.ones((1, 3)), None)]), regions.Box([-1] * 3, [1] * 3)
    )
    box.save(tmp_path / "box.npz")
    done = subprocess.run([sys.executable, SCRIPT, tmp_path / "box.npz"], capture_output=True, text=True)
    assert done.returncode == 1 and "rejected: not a result on a line or in a plane" in done.stdout
    text = SCRIPT.read_text()
    assert len(text.splitlines()) <= 300
    imports = {line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imports == {"contextlib", "hashlib", "json", "sys", "fractions", "numpy"}
