# SPDX-License-Identifier: MIT
"""Does the standalone checker of proofs accept right ones, and reject each proof that is changed or forged?"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from generators import CLIPPED_FAMILIES, FAMILIES, draw
from random_networks import random_network
from regions import check_property
from regions.check_certificate import Rejected, fractions
from regions.errors import DomainError, LimitReached, TimeoutReached, VerdictNotDecided
from regions.networks.network import Network

SCRIPT = Path(check_property.__file__)
CUBE = regions.Box([-1, -1, -1], [1, 1, 1])
GENERIC = random_network([3, 8, 6, 2], 3)
FIRST = np.array([[-1.0, 0.0]])
# |x0| + |x1| + |x2|, whose greatest value 3 is at all corners, and which has 8 regions.
FOLDS = Network([(np.kron(np.eye(3), [[1], [-1]]), np.zeros(6)), (np.ones((1, 6)), [0])])
Arrays = dict[str, Any]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "proof.regions-certificate"


def greatest(net: Network, domain: regions.Domain = CUBE) -> Fraction:
    value = regions.extremes(net, domain).exact_maximum[0]
    assert value is not None
    return value


def at_least(net: Network, value: float) -> list[tuple[Any, Any]]:
    """Return a property: outputs are unsafe where the first one has at least this value."""
    return [(-np.eye(net.n_out)[:1], [-value])]


def proved(net: Network, value: float, path: Path, domain: regions.Domain = CUBE) -> list[str]:
    """Prove that the first output is below a value, and return what the checker says about it."""
    found = regions.verify(net, domain, at_least(net, value))
    assert found.holds
    regions.write_certificate(found, path, timeout=20)
    proof, lines = check_property.check(path)
    assert (proof.network, proof.domain) == (net.fingerprint, domain.fingerprint)
    return list(lines)


def changed(path: Path, change: Callable[[dict[str, Any], Arrays], object]) -> None:
    """Change the header or the arrays of a file."""
    with np.load(path) as file:
        arrays = dict(file)
    header = json.loads(bytes(arrays["header"]))
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with open(path, "wb") as file:
        np.savez(file, **arrays)


def refused(path: Path) -> str:
    with pytest.raises((Rejected, ValueError)) as caught:
        check_property.check(path)
    assert "\n" not in str(caught.value) and "Error" not in str(caught.value)
    return str(caught.value)


def test_a_proof_in_words(path: Path) -> None:
    row, unsafe, leaves = proved(GENERIC, float(greatest(GENERIC)) + 0.01, path)
    assert row.startswith("row 0 is 1.0 y0 + ")
    assert unsafe == "outputs are unsafe where these rows are zero or positive: row 0, and they are so nowhere"
    assert leaves.endswith(" leaves, 0 of them closed in fractions") and int(leaves.split()[0]) > 1


@pytest.mark.parametrize("margin", [1.0, 2.0**-20, 2.0**-40, 2.0**-52])
@pytest.mark.parametrize("net", [GENERIC, FOLDS], ids=["generic", "folds"])
def test_margins(net: Network, margin: float, path: Path) -> None:
    """The smallest margins are below the rounding of bounds, and are proved in fractions."""
    high = float(greatest(net))
    above = np.nextafter(high, np.inf) if margin == 2.0**-52 else high + margin
    lines = proved(net, float(above), path)
    assert margin > 2.0**-52 or "0 of them" not in lines[-1]


def drawn(family: str, seed: int) -> tuple[Network, regions.Domain] | None:
    """Return a network of a family, in the drawn box, or in a box around zero; None if it has no box."""
    try:
        net, domain = draw(family, 3, seed)
    except ValueError:  # the family has fewer inputs
        return None
    if not (net.is_chain and net.widths) or net.n_in < 3:
        return None
    return net, domain if isinstance(domain, regions.Box) else regions.Box(-np.ones(net.n_in), np.ones(net.n_in))


# The search for a proof takes longer than 20 seconds.
HARD = {"doubled_neurons-1", "overflowing-0", "overflowing-1"}
CASES = {
    f"{family}-{seed}": case
    for family in sorted({**FAMILIES, **CLIPPED_FAMILIES})
    for seed in range(2)
    if (case := drawn(family, seed)) is not None
}


@pytest.mark.parametrize("name", [name for name in CASES if name not in HARD])
def test_families(name: str, path: Path) -> None:
    """A value just above the greatest one is proved, and the same proof with a value that is reached is rejected."""
    net, domain = CASES[name]
    high = greatest(net, domain)
    near = float(high)
    proved(net, near + 2.0**-40 * max(1.0, abs(near)), path, domain)
    reached = near if Fraction(near) <= high else float(np.nextafter(near, -np.inf))
    changed(path, lambda header, arrays: header["answer"]["rows"][0].__setitem__(-1, -reached))
    assert "its sum may be zero or positive" in refused(path)
    with np.load(path) as file:
        numbers = file["multipliers"]
    rng = np.random.default_rng(0)
    for size in (numbers * 2.0**60, np.zeros(len(numbers)), rng.exponential(size=len(numbers)), numbers * 1e-300):
        changed(path, lambda header, arrays, size=size: arrays.update(multipliers=size))
        refused(path)


@pytest.mark.parametrize("name", CASES)
def test_bounds_of_sums_are_above_their_values(name: str, path: Path) -> None:
    """At points in random parts, with random cuts and multipliers, also with bounds in fractions."""
    net, domain = CASES[name]
    found = regions.verify(net, domain, [(np.eye(net.n_out), [-(2.0**1000)] * net.n_out)])
    with contextlib.suppress(TimeoutReached, VerdictNotDecided, LimitReached):
        regions.write_certificate(found, path, limit=1)
    if not path.exists():
        pytest.skip("the outputs are too large")
    proof = check_property.Proof(path)
    rows = check_property.Rows(proof, np.array(proof.header["answer"]["rows"]))
    sums, rng = check_property.Sums(proof, rows), np.random.default_rng(1)
    for _ in range(10):
        middle = rng.uniform(proof.lower, proof.upper)
        half = (proof.upper - proof.lower) * 2.0 ** rng.integers(-9, 1)
        lower, upper = np.maximum(middle - half, proof.lower), np.minimum(middle + half, proof.upper)
        x = np.array([Fraction(each) for each in rng.uniform(lower, upper)], dtype=object)
        levels, h = [], x
        for weights, biases, breakpoints, slopes, intercepts in sums.exact[0]:
            z = weights @ h + biases
            levels += (z[:, None] - breakpoints).ravel().tolist()
            piece, unit = (z[:, None] > breakpoints).astype(int).sum(axis=1), np.arange(len(z))
            h = z * slopes[unit, piece] + intercepts[unit, piece]
        cuts = tuple((k, levels[k] >= 0) for k in rng.permutation(len(levels))[: rng.integers(0, 5)].tolist())
        leaf = (lower, upper, cuts)
        of_rows, of_cuts = rng.exponential(size=(1, 1, len(rows.last))), rng.exponential(size=(1, len(cuts)))
        value = sum((Fraction(f) * y for f, y in zip(of_rows[0, 0], rows.at_point(x), strict=True)), Fraction(0))
        value += sum((Fraction(f) * abs(levels[k]) for f, (k, _) in zip(of_cuts[0], cuts, strict=True)), Fraction(0))
        parts = sums.parts([leaf])
        (bound,) = sums.bounds(parts, [leaf], of_rows, [of_cuts])[0].tolist()
        assert not np.isfinite(bound) or value <= Fraction(bound)
        with contextlib.suppress(ValueError, OverflowError):  # a line is not finite
            part = parts.exact(0, sums.exact[0])
            exactly = sums.bounds(part, [leaf], fractions(of_rows), [fractions(of_cuts)])[0, 0]
            assert value <= exactly and not exactly > Fraction(bound)


def test_values_that_are_reached_are_never_proved(path: Path) -> None:
    """Random trees and multipliers prove nothing that is false."""
    high, rng = float(greatest(GENERIC)), np.random.default_rng(0)
    proved(GENERIC, high + 1e-9, path)
    changed(path, lambda header, arrays: header["answer"]["rows"][0].__setitem__(-1, -high + 1e-9))
    kinks = sum(GENERIC.widths)

    def tree(depth: int) -> tuple[list[int], int]:
        if depth == 0 or rng.random() < 0.1:
            return [-1], 1
        parts = [tree(depth - 1) for _ in range(2)]
        entry = int(rng.integers(0, 3 + kinks))
        return [entry, *parts[0][0], *parts[1][0]], parts[0][1] + parts[1][1]

    for _ in range(50):
        entries, leaves = tree(4)
        numbers = rng.exponential(size=8 * leaves)
        changed(path, lambda header, arrays, e=entries, n=numbers: arrays.update(tree=np.array(e), multipliers=n))
        refused(path)


def test_groups_of_rows_and_inputs(path: Path) -> None:
    """No row alone excludes the polytope, and inputs are in a row."""
    net, box = random_network([4, 7, 3], 1), regions.Box([-1, 0, 2, -1], [1, 1, 2.5, 0])
    found: Any = regions.extremes(net, box, forms=[[1, -1, 0], [0, 1, -1]])
    middle = float(found.minimum[0] + found.maximum[0]) / 2
    strip = ([[1, -1, 0], [-1, 1, 0]], [middle, -middle - 2.0**-30])
    beyond = ([[0, -1, 1]], [-float(found.maximum[1]) - 5.0], [[1, 0, -1, 0]])
    verdict = regions.verify(net, box, [strip, beyond])
    assert verdict.holds
    regions.write_certificate(verdict, path)
    *_, unsafe, _ = check_property.check(path)[1]
    assert "row 0 and row 1, or row 2" in unsafe
    changed(path, lambda header, arrays: header["answer"]["rows"][1].__setitem__(-1, -middle))
    assert "its sum may be" in refused(path)
    for groups in ([], [[0]], [[0, 1], [3]], [[True, 1], [2]]):
        changed(path, lambda header, arrays, groups=groups: header["answer"].update(groups=groups))
        assert "groups: " in refused(path)


def test_a_box_that_is_not_along_the_inputs(path: Path) -> None:
    net = random_network([5, 8, 8, 1], 2)
    box = regions.Box.around([0.1, 0.2, 0.3, -0.1, 0.0], 0.7, np.random.default_rng(0).normal(size=(3, 5)))
    high = float(greatest(net, box))
    proved(net, high + 1e-6, path, box)
    changed(path, lambda header, arrays: header["answer"]["rows"][0].__setitem__(-1, -high + 1e-6))
    refused(path)


def test_a_witness(path: Path) -> None:
    high = float(greatest(GENERIC))
    found = regions.verify(GENERIC, CUBE, at_least(GENERIC, high - 1e-3))
    assert found.witness is not None
    regions.write_certificate(found, path)
    (_, unsafe) = check_property.check(path)[1]
    assert unsafe.endswith(f"and they are so at the input {found.witness.input.tolist()}, as rounded")

    def witness(number: int, value: Any) -> Callable[[dict[str, Any], Arrays], object]:
        return lambda header, arrays: header["answer"]["witness"].__setitem__(number, value)

    for change, message in (
        (lambda header, arrays: header["answer"]["rows"][0].__setitem__(-1, -high - 1e-3), "witness: it is safe"),
        (witness(0, ["0x2", "0x1"]), "witness: outside of the domain"),
        (lambda header, arrays: header["answer"]["witness"].pop(), "witness: another number of coordinates"),
        (lambda header, arrays: header["answer"].update(holds=True), "witness: there is one only if"),
        (lambda header, arrays: header["answer"].update(witness=None), "witness: there is one only if"),
        (lambda header, arrays: header["answer"].update(holds=True, witness=None), "tree: leaves are missing"),
        (lambda header, arrays: arrays.update(multipliers=np.ones(1)), "a tree beside a witness"),
    ):
        regions.write_certificate(found, path)
        changed(path, change)
        assert message in refused(path)


def numbers(**parts: Any) -> Callable[[dict[str, Any], Arrays], object]:
    return lambda header, arrays: arrays.update({name: part(arrays[name].copy()) for name, part in parts.items()})


def entry(number: int, value: Any) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        array[number] = value
        return array

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (numbers(tree=lambda tree: tree[:-1]), "tree: leaves are missing"),
        (numbers(tree=lambda tree: np.append(tree, -1)), "tree: entries after the last leaf"),
        (numbers(tree=entry(0, -1)), "tree: entries after the last leaf"),
        (numbers(tree=entry(0, 10**9)), "tree: a kink is out of range"),
        (numbers(tree=lambda tree: tree.astype(float)), "tree: another type or shape"),
        (numbers(tree=lambda tree: tree[:0]), "tree: leaves are missing"),
        (numbers(multipliers=lambda each: each[:-1]), "multipliers: too few"),
        (numbers(multipliers=lambda each: np.append(each, 0.0)), "multipliers: too many"),
        (numbers(multipliers=lambda each: -each), "multipliers: one is negative"),
        (numbers(multipliers=entry(0, np.nan)), "multipliers: not all are finite"),
        (numbers(multipliers=lambda each: each * 0.0), "its sum may be zero or positive"),
        (numbers(layer_0_weights=entry(0, 3.0)), "another network or domain than in the header"),
        (numbers(domain_forms=entry((1, 0), 1.5)), "another network or domain than in the header"),
        (numbers(domain_forms=lambda forms: forms[:-1]), "the domain is no box"),
        (lambda header, arrays: arrays.pop("tree"), "array 'tree': missing, or unexpected"),
        (lambda header, arrays: arrays.update(vertices=np.zeros(3)), "a box, or not a chain of dense layers"),
        (lambda header, arrays: arrays.update(more=np.zeros(3)), "array 'more': missing, or unexpected"),
        (lambda header, arrays: header.update(format="relu-regions partition"), "not a verdict in a box"),
        (lambda header, arrays: header["answer"].update(kind="extremes"), "an entry has another form"),
        (lambda header, arrays: header["answer"].update(more=1), "the answer: entries other than"),
        (lambda header, arrays: header["answer"]["rows"][0].pop(), "rows: another shape"),
        (lambda header, arrays: header["answer"].update(rows=[[0.0]] * 5000), "more than 4096 rows"),
        (lambda header, arrays: header["answer"]["rows"][0].__setitem__(0, np.inf), "rows: not all are numbers"),
        (lambda header, arrays: header.pop("answer"), "no answer in this file"),
    ],
)
def test_changes(change: Callable[[dict[str, Any], Arrays], object], message: str, path: Path) -> None:
    proved(GENERIC, float(greatest(GENERIC)) + 1e-6, path)
    changed(path, change)
    assert message in refused(path)


def test_children_that_are_exchanged(path: Path) -> None:
    """The multipliers of the leaves on the two sides of a cut do not prove each other."""
    step = Network([([[1.0, 0, 0]], [0.0]), ([[1.0]], [0.0])])  # the largest of x0 and 0
    high = [([[-1.0]], [-0.25], [[0.5, 0, 0]])]  # y - x0 / 2 is at most 1/2 and at least 1/4 somewhere
    assert not regions.verify(step, CUBE, high).holds
    proved(step, 1.0 + 2.0**-40, path)
    changed(
        path, lambda header, arrays: arrays.update(tree=np.array([3, -1, -1]), multipliers=np.array([1.0, 0, 1, 0]))
    )
    assert check_property.check(path)[1][-1].startswith("2 leaves")
    # Where the unit is off, y is 0, and above -x0 / 4 - 1/2; where it is on, both are needed.
    found = regions.verify(step, CUBE, [([[-1.0]], [-0.1], [[1.0, 0, 0]])])  # y - x0 >= 0.1 is unsafe: for x0 <= -0.1
    assert not found.holds


def test_a_tree_that_repeats_a_cut_or_is_too_deep(path: Path) -> None:
    proved(GENERIC, float(greatest(GENERIC)) + 1e-6, path)
    changed(path, lambda header, arrays: arrays.update(tree=np.array([3, 3, -1, -1, -1]), multipliers=np.ones(8)))
    assert "tree: a kink is out of range, or cuts twice" in refused(path)
    changed(path, lambda header, arrays: arrays.update(tree=np.zeros(10**6, dtype=np.int64)))
    assert "tree: a side is too short to be halved" in refused(path)


def test_what_has_no_proof(path: Path) -> None:
    high = float(greatest(FOLDS))
    touching = regions.verify(FOLDS, CUBE, [(-np.ones((1, 1)), [-high], np.zeros((1, 3)), np.array([True]))])
    assert touching.holds
    with pytest.raises(ValueError, match="do not even touch the unsafe set"):
        regions.write_certificate(touching, path)
    simplex = regions.Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 1, 1]], [0, 0, 0, 1])
    with pytest.raises(DomainError, match="a certificate is of a box, not of Polytope.*Take a Box"):
        regions.write_certificate(regions.verify(FOLDS, simplex, at_least(FOLDS, 9.0)), path)
    found = regions.verify(GENERIC, CUBE, at_least(GENERIC, float(greatest(GENERIC)) + 1e-6))
    with pytest.raises(LimitReached, match="the verdict is not proved with 3 parts of the box; raise the limit"):
        regions.write_certificate(found, path, limit=3)
    with pytest.raises(TimeoutReached):
        regions.write_certificate(found, path, timeout=0)
    assert not path.exists()


def test_the_other_checkers_name_this_one(path: Path) -> None:
    proved(GENERIC, float(greatest(GENERIC)) + 1.0, path)
    for name in ("check_answer", "check_certificate"):
        done = subprocess.run([sys.executable, SCRIPT.with_name(f"{name}.py"), path], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (2, "not checked: a verdict in a box: ask check_property.py\n")
    regions.write_certificate(regions.enumerate(random_network([2, 3, 1]), regions.Segment([0, 0], [1, 1])), path)
    assert refused(path) == "not a verdict in a box: ask check_answer.py"


def test_the_script_alone(path: Path, tmp_path: Path) -> None:
    proved(GENERIC, float(greatest(GENERIC)) + 1e-6, path)
    for name in ("check_property", "check_answer", "check_certificate"):
        shutil.copy(SCRIPT.with_name(f"{name}.py"), tmp_path)
    for how in ([tmp_path / "check_property.py"], ["-m", "regions.check_property"]):
        done = subprocess.run([sys.executable, *how, path], capture_output=True, text=True, cwd=tmp_path)
        first, network, domain, *_ = done.stdout.splitlines()
        assert (done.returncode, first) == (0, "accepted: the verdict is right")
        assert network == f"network {GENERIC.fingerprint}"
        assert domain.startswith(f"domain {CUBE.fingerprint}: x = [0.0, 0.0, 0.0] + p @ [[1.0, ")
        assert domain.endswith("in R^3 with p in [[-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0]]")
    changed(path, numbers(multipliers=lambda each: each * 0.0))
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "rejected: leaf 0: its sum may be zero or positive\n")
    done = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (
        2,
        "not checked: usage: check_property.py proof.regions-certificate\n",
    )
    text = SCRIPT.read_text()
    assert len(text.splitlines()) <= 300
    imports = {line.split()[1] for line in text.splitlines() if line.strip().startswith(("import ", "from "))}
    ours = {f"{where}{name}" for where in ("", "regions.") for name in ("check_answer", "check_certificate")}
    assert imports == {"contextlib", "itertools", "fractions", "numpy", *ours}


def test_the_file_is_not_one_of_regions(path: Path) -> None:
    proved(GENERIC, float(greatest(GENERIC)) + 0.01, path)
    with pytest.raises(regions.errors.NotACheckpointError, match="check it by `python -m regions.check_property FILE`"):
        regions.load_partition(path)


def test_a_witness_with_many_coordinates(path: Path) -> None:
    net = Network([(np.ones((1, 9)), [0.0]), ([[1.0]], [0.0])])
    box = regions.Box([0] * 3 + [0.5] * 6, [1] * 3 + [0.5] * 6)
    regions.write_certificate(regions.verify(net, box, [([[-1.0]], [-5.0])]), path)
    assert " at the input that begins with [" in check_property.check(path)[1][-1]


def test_files_that_would_take_too_long(path: Path) -> None:
    proved(GENERIC, float(greatest(GENERIC)) + 0.01, path)
    changed(path, lambda header, arrays: header["answer"].update(groups=[[0]] * 4097))
    assert refused(path) == "groups: more than 4096 rows in all"
    long = ["1" + "0" * 16384, "1"]
    changed(path, lambda header, arrays: header["answer"].update(groups=[[0]], holds=False, witness=[long] * 3))
    assert refused(path) == "a fraction with more than 16384 digits"
