# SPDX-License-Identifier: MIT
"""Does a certificate say what was proven, how, for which network, and by which version?"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from cli_cases import SQUARE, Run, model
from partition_cases import CASES, IN_PLANE, everywhere
from random_networks import random_network
from raw_from_reference import partition_from_reference
from regions import _core
from regions.constructions import arrangement
from regions.domains import Domain, Line, Plane, Polygon, Segment
from regions.errors import LimitReached, NotACheckpointError
from regions.networks.network import Network
from regions.results.partition import Partition, raw_arrays
from regions.results.partition.certificate import Certificate

PLANE = Plane([0, 0], [1, 0], [0, 1])
ALMOST_CONCURRENT = arrangement([[1, 0], [0, 1], [1, 1]], [-0.1, -0.2, -(0.1 + 0.2)])
CONCURRENT = arrangement([[1, 0], [0, 1], [1, 1]], [-1, -2, -3])


def certified(network: Network, domain: Domain) -> Certificate:
    number, certificate = regions.certified_count(network, domain)
    assert type(number) is int and number == certificate.regions == regions.count(network, domain)
    return certificate


@everywhere
def test_it_names_what_was_counted(network: Network, domain: Domain) -> None:
    partition = regions.enumerate(network, domain)
    for certificate in (certified(network, domain), partition.certificate):
        assert certificate.regions == len(partition) and certificate.complete
        assert certificate.network == network.fingerprint
        assert (certificate.domain, certificate.domain_fingerprint) == (repr(domain), domain.fingerprint)
        assert (certificate.version, certificate.kernel) == (regions.__version__, _core.kernel())
        assert certificate.statement.startswith("Every decision is proven")
    assert partition.certificate is partition.certificate
    counters = (partition.certificate.filter, partition.certificate.exact, partition.certificate.zero)
    assert counters == tuple(partition.stats[name] for name in ("filter", "exact", "zero"))


def test_another_weight_is_another_network() -> None:
    moved = arrangement([[1, 0], [0, 1], [1, 1]], [-1, -2, np.nextafter(-3, 0)])
    one, other = certified(CONCURRENT, PLANE), certified(moved, PLANE)
    assert (one.regions, other.regions) == (6, 7)
    assert one.network != other.network and one.domain_fingerprint == other.domain_fingerprint and one != other


def test_decisions_by_stage() -> None:
    generic, close, zero = (
        certified(net, PLANE) for net in (random_network([2, 9, 1], 3), ALMOST_CONCURRENT, CONCURRENT)
    )
    assert generic.filter > 0 and (generic.exact, generic.zero, generic.exact_share) == (0, 0, 0.0)
    assert close.exact > 0 and close.zero == 0
    assert close.exact_share == close.exact / (close.filter + close.exact)
    assert zero.zero > 0
    nothing = certified(Network([([[1.0, 0.0]], [0.0])]), PLANE)
    assert (nothing.filter, nothing.exact, nothing.exact_share) == (0, 0, 0.0)


def test_several_domains() -> None:
    net = random_network([2, 9, 1], 3)
    lines = [Line([0, 0], [1, 2]), Segment([0, 1], [1, 0]), Line([3, 0], [1, 1])]
    counts, certificates = regions.certified_count(net, lines)
    assert counts.tolist() == [certificate.regions for certificate in certificates]
    assert [certificate.domain_fingerprint for certificate in certificates] == [line.fingerprint for line in lines]
    assert certificates == [certified(net, line) for line in lines]
    assert regions.certified_count(net, iter(lines))[1] == certificates
    counts, certificates = regions.certified_count(net, [])
    assert counts.shape == (0,) and certificates == []


def test_stopped_work_says_so() -> None:
    network, domain = IN_PLANE["square"]
    with pytest.raises(LimitReached) as stopped:
        regions.enumerate(network, domain, limit=5)
    part = stopped.value.partial
    certificate = part.certificate
    assert certificate.regions == len(part) and not certificate.complete
    assert "regions are missing" in certificate.statement and "until the work was stopped" in str(certificate)
    assert "incomplete" in repr(certificate)
    with pytest.raises(LimitReached) as stopped:
        regions.certified_count(network, domain, limit=5)
    found = stopped.value.found
    assert found.regions == stopped.value.partial > 5 and found.end.limit == 5
    assert found.certificate.regions == found.regions and not found.certificate.complete
    assert pickle.loads(pickle.dumps(stopped.value)).found is None  # other processes send the number only


def test_as_text_and_json() -> None:
    certificate = certified(ALMOST_CONCURRENT, PLANE)
    facts = json.loads(certificate.to_json())
    assert facts == certificate.as_dict()
    assert facts["regions"] == 7 and facts["exact_share"] == certificate.exact_share
    assert Certificate(**{key: value for key, value in facts.items() if key not in ("statement", "exact_share")}) == (
        certificate
    )
    text = str(certificate)
    for word in (certificate.network, certificate.domain_fingerprint, repr(PLANE), f"{certificate.exact} ("):
        assert word in text
    assert f"({certificate.exact_share:.2%}) exactly; 0 are zero" in text and "not counted" in text
    assert len(text.splitlines()) == 8 and max(map(len, text.splitlines())) < 130
    assert repr(certificate) == (
        f"Certificate(7 regions, {certificate.filter + certificate.exact} signs, {certificate.exact} exactly)"
    )


def test_how_precise_rows_were() -> None:
    certificate = replace(certified(ALMOST_CONCURRENT, PLANE), filter=5_000, doubled=1_200, quadrupled=7, exact=0)
    assert certificate.signs == "5,000 by error bound (1,200 in 2, 7 in 4 doubles), 0 exactly; 0 are zero"
    assert certificate.as_dict()["tripled"] == 0


def test_it_cannot_be_changed() -> None:
    certificate = certified(CONCURRENT, PLANE)
    with pytest.raises(FrozenInstanceError):
        certificate.regions = 7  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(certificate)) == certificate and hash(certificate)


class TestKept:
    def test_in_files_and_pickles(self, tmp_path: Path) -> None:
        for name, (network, domain) in CASES.items():
            partition = regions.enumerate(network, domain)
            partition.save(tmp_path / f"{name}.npz")
            assert regions.load_partition(tmp_path / f"{name}.npz").certificate == partition.certificate
            assert pickle.loads(pickle.dumps(partition)).certificate == partition.certificate

    def test_by_the_version_that_decided(self, tmp_path: Path) -> None:
        network, domain = IN_PLANE["square"]
        old = {**raw_arrays(regions.enumerate(network, domain)), "version": "0.0.7", "kernel": "abacus"}
        Partition(network, domain, old).save(tmp_path / "old.npz")
        regions.load_partition(tmp_path / "old.npz").save(tmp_path / "again.npz")
        certificate = regions.load_partition(tmp_path / "again.npz").certificate
        assert (certificate.version, certificate.kernel) == ("0.0.7", "abacus")
        assert "relu-regions 0.0.7, abacus kernel" in str(certificate)

    def test_older_files_do_not_tell_how_precise_rows_were(self, tmp_path: Path) -> None:
        network, domain = IN_PLANE["square"]
        raw = raw_arrays(regions.enumerate(network, domain))
        stats = {name: raw["stats"][name] for name in ("cells", "filter", "exact", "zero")}
        Partition(network, domain, {**raw, "stats": stats}).save(tmp_path / "old.npz")
        certificate = regions.load_partition(tmp_path / "old.npz").certificate
        assert (certificate.filter, certificate.doubled) == (stats["filter"], 0)

    def test_nothing_certifies_arrays_from_elsewhere(self, tmp_path: Path) -> None:
        partition = partition_from_reference(*IN_PLANE["square"])
        with pytest.raises(ValueError, match="'filter' is missing: these regions were not found by regions.enumerate"):
            _ = partition.certificate
        partition.save(tmp_path / "made.npz")
        with pytest.raises(ValueError, match="nothing certifies them"):
            _ = regions.load_partition(tmp_path / "made.npz").certificate

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda header: header.pop("found_by"), "'version' is missing"),
            (lambda header: header["found_by"].pop("kernel"), "'kernel' is missing"),
            (lambda header: header["found_by"].update(version=1), "'version' is missing or not of type str"),
            (lambda header: header["found_by"].update(version="1\n2"), "one line each"),
            (lambda header: header["found_by"].update(kernel="k" * 101), "must be short"),
            (lambda header: header["stats"].update(exact=-1), "integers of at least 0"),
        ],
    )
    def test_damaged_files(self, tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str) -> None:
        regions.enumerate(*IN_PLANE["square"]).save(tmp_path / "good.npz")
        with np.load(tmp_path / "good.npz") as file:
            arrays = dict(file)
        header = json.loads(arrays["header"].tobytes())
        change(header)
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        np.savez(tmp_path / "bad.npz", **arrays)
        with pytest.raises(NotACheckpointError, match=message):
            regions.load_partition(tmp_path / "bad.npz")


@pytest.mark.usefixtures("in_folder_with_models")
class TestCommandLine:
    def test_json(self, run: Run) -> None:
        domain = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        for command, more in (("count", []), ("enumerate", ["-o", "out.npz"])):
            code, out, _ = run(command, "model.npz", "--activation", "relu", *SQUARE, *more, "--json")
            facts = json.loads(out)["certificate"]
            assert code == 0 and set(facts) == set(certified(model(), domain).as_dict())
            assert facts["network"] == model().fingerprint and facts["complete"]
            assert facts["exact_share"] == facts["exact"] / (facts["filter"] + facts["exact"])
        code, out, _ = run("count", "model.npz", "--activation", "relu", *SQUARE, "--limit", "3", "--json")
        assert code == 3 and json.loads(out)["certificate"]["complete"] is False

    def test_tables_show_the_share(self, run: Run) -> None:
        layer = ALMOST_CONCURRENT.layers[0]
        np.savez("close.npz", W0=layer.weights, b0=layer.biases, W1=np.ones((1, 3)), b1=np.zeros(1))
        words = ["count", "close.npz", "--activation", "relu", "--plane", "0,0", "1,0", "0,1", "-v"]
        code, out, _ = run(*words)
        assert code == 0
        assert f"signs proved   {certified(ALMOST_CONCURRENT, PLANE).signs}" in out and "%) exactly; 0 are zero" in out
