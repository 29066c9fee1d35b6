# SPDX-License-Identifier: MIT
"""Does the standalone checker of answers accept right ones, and reject each answer that is changed?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import regions
from generators import FAMILIES, draw
from partition_cases import SQUARE
from random_networks import random_network
from regions import check_answer
from regions.errors import DomainError, NetworkError
from regions.networks.network import Network

SCRIPT = Path(check_answer.__file__)
GENERIC, OTHER = random_network([2, 6, 5, 3]), random_network([2, 4, 7, 3], 9)
SEGMENT = regions.Segment([-2, 1], [3, 0])
UNSAFE = "outputs are unsafe where these rows are zero or positive: {}"
NOWHERE = ", and they are so nowhere"
TWO_FOLDS = Network([([[1, 0], [-1, 0], [0, 1], [0, -1]], [0, 0, 0, 0]), ([[1, 1, 1, 1]], [0])])  # |x| + |y|


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    return check_answer


def lines_of(checker: ModuleType, found: Any, folder: Path) -> list[str]:
    """Write a certificate, and return what the checker says of its answer."""
    path = folder / "proof.regions-certificate"
    regions.write_certificate(found, path)
    _, number, lines = checker.check_answer(path)
    assert number == len(regions.load_partition(path))
    with np.load(path) as file:
        rows = json.loads(bytes(file["header"]))["answer"]["rows"]
    assert all(line.startswith(f"row {k} is ") for k, line in enumerate(lines[: len(rows)]))
    return list(lines[len(rows) :])


def refused(checker: ModuleType, path: Path) -> str:
    with pytest.raises((checker.Rejected, ValueError)) as caught:
        checker.check_answer(path)
    return str(caught.value)


def changed(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the answer in a file."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(bytes(arrays["header"]))
    change(header["answer"])
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


@pytest.mark.parametrize("domain", [SQUARE, SEGMENT])
def test_extremes(domain: regions.Domain, checker: ModuleType, tmp_path: Path) -> None:
    found: Any = regions.extremes(GENERIC, domain)
    assert lines_of(checker, found, tmp_path) == [
        f"row {k}: from {float(low)!r} to {float(high)!r}, as rounded"
        for k, (low, high) in enumerate(zip(found.exact_minimum, found.exact_maximum, strict=True))
    ]
    some = regions.extremes(GENERIC, domain, forms=[[0.5, -1, 0], [0, 0, 3]])
    assert len(lines_of(checker, some, tmp_path)) == 2
    assert len(lines_of(checker, regions.extremes(GENERIC, domain, [1]), tmp_path)) == 1


def test_extremes_in_a_box_are_refused_before_it_is_enumerated(tmp_path: Path) -> None:
    net, path = regions.Network([(np.eye(3), None), (np.ones((1, 3)), None)]), tmp_path / "no.regions-certificate"
    found = regions.extremes(net, regions.Box([-1] * 3, [1] * 3))
    with pytest.raises(DomainError, match="certificates exist in 1 or 2 dimensions"):
        regions.write_certificate(found, path)
    assert "partitions" not in vars(found) and not path.exists()
    along = regions.extremes(GENERIC, regions.Polyline([[-1, 0], [0, 1], [1, 0]]))
    with pytest.raises(DomainError, match="a segment or a polygon, not of Polyline"):
        regions.write_certificate(along, path)


def test_a_property_has_a_certificate_for_each_box(checker: ModuleType, tmp_path: Path) -> None:
    unsafe = [(np.ones((1, GENERIC.n_out)), [-1e3])]
    given = regions.Property([[-1.0, -1.0]], [[1.0, 1.0]], [unsafe])
    found: Any = regions.verify_property(GENERIC, given)
    with pytest.raises(TypeError, match=r"give found.verdicts\[box\], or if bounds decided that box, regions.verify"):
        regions.write_certificate(found, tmp_path / "no.regions-certificate")
    lines_of(checker, regions.verify(GENERIC, given.domain(0), given.unsafe[0]), tmp_path)


@pytest.mark.parametrize("end", [0, 1])
def test_extremes_that_are_changed(end: int, checker: ModuleType, tmp_path: Path) -> None:
    """By the smallest step in either direction, or attained elsewhere."""
    path, found = tmp_path / "proof.regions-certificate", regions.extremes(GENERIC, SQUARE, [1])
    step = Fraction(1, 10**40)
    for more in (step, -step):

        def moved(answer: dict[str, Any], more: Fraction = more) -> None:
            value = checker.number(answer["values"][0][end]) + more
            answer["values"][0][end] = [hex(value.numerator), hex(value.denominator)]

        regions.write_certificate(found, path)
        changed(path, moved)
        outside = (more > 0) == (end == 1)
        assert ("not attained" if outside else "is beyond") in refused(checker, path)
    regions.write_certificate(found, path)
    changed(path, lambda answer: answer["regions"][0].__setitem__(end, 0))
    assert "not attained in region 0" in refused(checker, path)
    regions.write_certificate(found, path)
    changed(path, lambda answer: answer["rows"][0].__setitem__(1, 1 + 2.0**-52))
    refused(checker, path)
    regions.write_certificate(found, path)
    changed(path, lambda answer: answer["regions"][0].__setitem__(end, 10**6))
    assert "out of range" in refused(checker, path)


def test_differences(checker: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "proof.regions-certificate"
    first, *others = lines_of(checker, regions.compare(GENERIC, OTHER, SQUARE), tmp_path)
    assert first == f"outputs of the network {GENERIC.fingerprint} minus those of {OTHER.fingerprint}:"
    assert len(others) == 3
    rounded = Network([(np.round(64 * each.weights) / 64, each.biases) for each in GENERIC.layers])
    assert len(lines_of(checker, regions.compare(GENERIC, rounded, SEGMENT), tmp_path)) == 4
    equal = regions.compare(TWO_FOLDS, TWO_FOLDS, SQUARE)
    assert equal.equal and lines_of(checker, equal, tmp_path)[1:] == ["row 0: from 0.0 to 0.0, as rounded"]
    changed(path, lambda answer: answer["networks"].reverse())
    assert checker.check_answer(path)[1] == 4  # they are the same
    regions.write_certificate(regions.compare(GENERIC, OTHER, SQUARE), path)
    changed(path, lambda answer: answer["networks"].reverse())
    assert "other networks" in refused(checker, path)
    regions.write_certificate(regions.compare(GENERIC, OTHER, SQUARE), path)
    changed(path, lambda answer: answer["widths"].__setitem__(0, 3))
    refused(checker, path)
    changed(path, lambda answer: answer.update(kind="extremes"))
    assert refused(checker, path) == "the answer: entries other than kind rows values regions"
    changed(path, lambda answer: (answer.pop("networks"), answer.pop("widths")))
    assert len(checker.check_answer(path)[2]) == 6  # rows, and values of outputs of the network in the file


@pytest.mark.parametrize("domain", [SQUARE, SEGMENT])
def test_properties(domain: regions.Domain, checker: ModuleType, tmp_path: Path) -> None:
    path, found = tmp_path / "proof.regions-certificate", regions.extremes(GENERIC, domain)
    high, low = found.maximum, found.minimum
    only = np.eye(3)[:1]
    safe = regions.verify(GENERIC, domain, [(-only, -high[:1] - 1e-9), (only, low[:1] - 1e-9)])
    assert safe.holds and lines_of(checker, safe, tmp_path) == [UNSAFE.format("row 0, or row 1") + NOWHERE]
    changed(path, lambda answer: answer["rows"][0].__setitem__(-1, answer["rows"][0][-1] + 2e-9))
    assert "has an unsafe point" in refused(checker, path)
    unsafe = regions.verify(GENERIC, domain, [(-only, -high[:1] + 1e-3)])
    assert unsafe.witness is not None
    place = f", and they are so at the input {unsafe.witness.input.tolist()}, as rounded"
    assert lines_of(checker, unsafe, tmp_path) == [UNSAFE.format("row 0") + place]
    changed(path, lambda answer: answer["witness"][0].__setitem__(0, "0x7"))
    assert "witness: " in refused(checker, path)
    changed(path, lambda answer: answer.update(holds=True))
    assert refused(checker, path) == "witness: there is one only if the property is violated"
    changed(path, lambda answer: answer.update(witness=None))
    assert "has an unsafe point" in refused(checker, path)
    # Several rows and inputs: none of the rows alone excludes the polytope.
    both = [
        ([[1, 0, 0], [-1, 0, 0]], [float(low[0] + high[0]) / 2, -float(low[0] + high[0]) / 2 - 2.0**-30], [[0, 0]] * 2)
    ]
    apart = regions.verify(GENERIC, domain, both)
    assert apart.holds and lines_of(checker, apart, tmp_path) == [UNSAFE.format("row 0 and row 1") + NOWHERE]
    changed(path, lambda answer: answer["rows"][1].__setitem__(-1, answer["rows"][1][-1] + 2.0**-29))
    assert "has an unsafe point" in refused(checker, path)
    for groups in ([], [[]], [[-1]], [[2]], [[True]], [["0"]]):
        changed(path, lambda answer, groups=groups: answer.update(groups=groups))
        assert refused(checker, path) == "groups: not lists of numbers of rows"
    changed(path, lambda answer: answer.update(groups=[[0]]))
    assert refused(checker, path) == "groups: a row is in none"
    changed(path, lambda answer: answer.update(groups=[[0, 1]], holds="no"))
    assert refused(checker, path) == "holds: neither true nor false"


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_level_sets_of_all_families(family: str, checker: ModuleType, tmp_path: Path) -> None:
    """Also through vertices, and along facets."""
    for dimension in (1, 2):
        net, domain = draw(family, dimension, 1)
        if domain.bounded and net.is_chain and len(net.layers) > 1 and net.kinks:
            found = regions.level_set(net, domain, 0.0, 0 if net.n_out > 1 else None)
            (line,) = lines_of(checker, found, tmp_path)
            words = line.replace(",", "").split()
            assert int(words[words.index("inside") + 1]) + int(words[words.index("along") + 1]) == len(
                found.decisions.facets
            )
            assert lines_of(checker, regions.extremes(net, domain), tmp_path)


def test_level_sets_that_are_changed(checker: ModuleType, tmp_path: Path) -> None:
    path, found = tmp_path / "proof.regions-certificate", regions.level_set(TWO_FOLDS, SQUARE, 1.0)
    (line,) = lines_of(checker, found, tmp_path)
    assert line == "row 0 is zero and changes its sign inside 4 regions, and along 0 facets"
    for change in (
        lambda answer: answer["crossed"].pop(),
        lambda answer: answer["crossed"][0].reverse(),
        lambda answer: answer["rows"][0].__setitem__(-1, -1 + 2.0**-52),
        lambda answer: answer["along"].append(0),
    ):
        regions.write_certificate(found, path)
        changed(path, change)
        assert "level set: " in refused(checker, path)
    along = regions.level_set(Network([([[1, 0], [0, 1]], [0, 0]), ([[1, 0]], [0])]), SQUARE)
    (line,) = lines_of(checker, along, tmp_path)
    assert line == "row 0 is zero and changes its sign inside 0 regions, and along 2 facets"


def test_rows_in_words(checker: ModuleType) -> None:
    rows = [[0.5, 0.0, -1.0, 0.0, 2.0], [0.0] * 5]
    assert checker.row_words(rows, 2) == ["row 0 is 0.5 y0 + -1.0 x0 + 2.0", "row 1 is 0.0"]


def test_networks_of_different_depths_have_no_certificate(tmp_path: Path) -> None:
    found = regions.compare(GENERIC, regions.Network([(np.eye(2), None), (np.ones((GENERIC.n_out, 2)), None)]), SQUARE)
    layers = f"equally many layers, and these have {len(GENERIC.layers)} and 2; "
    with pytest.raises(NetworkError, match=layers):
        regions.write_certificate(found, tmp_path / "proof.regions-certificate")


def test_a_damaged_partition_is_rejected_first(checker: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "proof.regions-certificate"
    regions.write_certificate(regions.extremes(GENERIC, SQUARE), path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays["packed_patterns"][3, 0] ^= 1
    with open(path, "wb") as file:
        np.savez(file, **arrays)
    refused(checker, path)
    regions.write_certificate(regions.enumerate(GENERIC, SQUARE), path)
    assert "no answer in this file" in refused(checker, path)


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer.update(more=1),
        lambda answer: answer.pop("rows"),
        lambda answer: answer.update(kind="surprises"),
        lambda answer: answer.update(kind=["extremes"]),
        lambda answer: answer["rows"][0].__setitem__(0, True),
        lambda answer: answer["rows"][0].__setitem__(0, "1"),
        lambda answer: answer["rows"][0].append(0.0),
        lambda answer: answer["regions"][0].__setitem__(0, True),
        lambda answer: answer["regions"][0].__setitem__(0, 0.5),
        lambda answer: answer["values"].pop(),
        lambda answer: answer["values"][0].__setitem__(0, ["0x1", "0x0"]),
        lambda answer: answer["values"][0].__setitem__(0, ["-0x1", "-0x1"]),
        lambda answer: answer["values"][0].__setitem__(0, ["nan", "1"]),
        lambda answer: answer["values"][0].__setitem__(0, [1, 2]),
        lambda answer: answer["values"][0].__setitem__(0, ["0x1", "0x1", "0x1"]),
    ],
)
def test_entries_of_another_form(
    change: Callable[[dict[str, Any]], object], checker: ModuleType, tmp_path: Path
) -> None:
    """The answer is rejected in one line without the words of a Python exception."""
    path = tmp_path / "proof.regions-certificate"
    regions.write_certificate(regions.extremes(GENERIC, SQUARE), path)
    changed(path, change)
    with pytest.raises(checker.Rejected) as caught:
        checker.check_answer(path)
    assert "Error" not in str(caught.value) and "\n" not in str(caught.value)


def test_the_network_and_the_domain_are_named(checker: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "proof.regions-certificate"
    regions.write_certificate(regions.extremes(GENERIC, SEGMENT), path)
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True)
    first, network, domain, *_ = done.stdout.splitlines()
    assert first.startswith("accepted: ") and network == f"network {GENERIC.fingerprint}"
    assert domain == f"domain {SEGMENT.fingerprint}: 2 corners in R^2: [[-2.0, 1.0], [3.0, 0.0]]"


def test_another_number_of_rows_is_refused_before_they_are_checked(checker: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "proof.regions-certificate"
    regions.write_certificate(regions.extremes(GENERIC, SQUARE), path)
    changed(path, lambda answer: answer["values"].extend(answer["values"] * 20_000))
    assert "another number of rows" in refused(checker, path)
    regions.write_certificate(regions.extremes(GENERIC, SQUARE), path)
    changed(path, lambda answer: answer["rows"].extend(answer["rows"] * 20_000))
    assert "more than 4096 rows" in refused(checker, path)


def test_the_script_alone(checker: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "proof.regions-certificate"
    regions.write_certificate(regions.extremes(GENERIC, SQUARE), path)
    for name, words in (("check_answer", "row 2: from "), ("check_certificate", "accepted: ")):
        copy = tmp_path / f"{name}.py"
        shutil.copy(SCRIPT.with_name(copy.name), copy)
        shutil.copy(SCRIPT.with_name("check_certificate.py"), tmp_path)
        for how in ([copy], ["-m", f"regions.{name}"]):
            done = subprocess.run([sys.executable, *how, path], capture_output=True, text=True, cwd=tmp_path)
            assert done.returncode == 0 and words in done.stdout
    done = subprocess.run([sys.executable, SCRIPT, SCRIPT], capture_output=True, text=True)
    again = "not checked: the file: damaged, cut short or not of relu-regions: save or copy it again\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, again, "")
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    usage = "not checked: usage: check_answer.py proof.regions-certificate\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, usage, "")
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(bytes(arrays["header"]).decode())
    nothing = np.array(header["answer"]["rows"])
    nothing[0, 0] = np.nan
    header["answer"]["rows"] = nothing.tolist()
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)
    assert "rows: not all are numbers" in refused(checker, path)
    header["answer"]["rows"] = {}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True)
    assert done.returncode == 1 and done.stdout == "rejected: the answer: an entry has another form\n"
    text = SCRIPT.read_text()
    assert len(text.splitlines()) <= 310
    imports = {line.split()[1] for line in text.splitlines() if line.strip().startswith(("import ", "from "))}
    assert imports == {"contextlib", "sys", "fractions", "numpy", "check_certificate", "regions.check_certificate"}
