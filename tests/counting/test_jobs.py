# SPDX-License-Identifier: MIT
"""Does a job in tasks have the same result as one call, and are results of other jobs refused?"""

from __future__ import annotations

import numpy as np
import pytest

import regions
from pieces import done
from random_networks import random_network
from regions import jobs
from regions.domains import Domain, Plane, Polygon, Segment
from regions.networks.network import Network
from regions.results.partition.certificate import LONGER, STAGES

SQUARE = Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
NETWORKS = [random_network([2, 8, 8, 1], seed, bias=0.1, he=True) for seed in range(5)]
LINES = [Segment([-1, k], [1, 0.3 * k]) for k in range(1, 8)]

ARCS = [regions.Arc([1, 0], [0, 1]), regions.Circle([0, 0], [1, 0], [0, 1])]


def plain(certificates: object, signs: bool = True) -> object:
    """Return the content of certificates without counters, because signs are counted again if a plane is divided."""
    if isinstance(certificates, list):
        return [plain(each, signs) for each in certificates]
    assert isinstance(certificates, regions.Certificate)
    facts = certificates.as_dict()
    return {name: facts[name] for name in facts if signs or name not in (*STAGES, *LONGER, "exact_share")}


@pytest.mark.parametrize("n", [1, 2, 3, 1000])
@pytest.mark.parametrize(
    "networks, domains",
    [
        (NETWORKS[0], SQUARE),
        (NETWORKS[0], LINES),
        (NETWORKS, SQUARE),
        (NETWORKS, LINES),
        (NETWORKS[:1], [Plane([0, 0], [1, 0], [0, 1])]),
        (NETWORKS, ARCS),
    ],
)
def test_joined_results_equal_one_run(networks: Network, domains: Domain, n: int) -> None:
    numbers, certificates = regions.certified_count(networks, domains)
    pieces = jobs.split(networks, domains, n)
    found, proven = jobs.join(done(pieces))
    assert type(found) is type(numbers) and np.array_equal(found, numbers) and np.shape(found) == np.shape(numbers)
    whole = all(piece.whole for piece in pieces)
    assert whole or n > 1 and domains not in (LINES, ARCS)
    assert plain(proven, signs=whole) == plain(certificates, signs=whole)


def test_networks_times_domains() -> None:
    numbers = regions.count(NETWORKS, LINES)
    assert numbers.shape == (5, 7) and numbers.dtype == np.int64
    assert numbers.tolist() == [[regions.count(network, line) for line in LINES] for network in NETWORKS]
    assert regions.count(iter(NETWORKS), LINES[2]).tolist() == numbers[:, 2].tolist()
    for workers in (2, 3):
        assert regions.count(NETWORKS, LINES, workers=workers).tobytes() == numbers.tobytes()
    assert regions.count([], LINES).shape == (0, 7) and regions.count(NETWORKS, []).shape == (5, 0)


def test_other_definitions() -> None:
    found, _ = jobs.join(done(jobs.split(NETWORKS, SQUARE, 3, definition="affine")))
    assert found.tolist() == [regions.count(network, SQUARE, "affine") for network in NETWORKS]


def test_the_first_error_is_raised_in_any_order_of_results() -> None:
    numbers = regions.count(NETWORKS[0], LINES)
    limit = int(numbers.max()) - 1
    with pytest.raises(regions.LimitReached) as alone:
        regions.count(NETWORKS[0], LINES, limit=limit)
    results = done(jobs.split(NETWORKS[0], LINES, 4, limit=limit))
    first = min(result.index for result in results if result.error is not None)
    for given in (results, [result for result in results if result.index <= first]):
        with pytest.raises(regions.LimitReached) as stopped:
            jobs.join(given)
        assert stopped.value.partial.tolist() == alone.value.partial.tolist()
    # Results before the first failure come first.
    with pytest.raises(ValueError, match="these are missing: 0"):
        jobs.join([result for result in results if result.index])


def test_results_of_different_jobs_are_refused() -> None:
    results = [jobs.run(task) for task in jobs.split(NETWORKS[0], LINES, 4)]
    others = {
        "network": jobs.split(NETWORKS[1], LINES, 4),
        "domain": jobs.split(NETWORKS[0], [*LINES[1:], LINES[0]], 4),
        "number of tasks": jobs.split(NETWORKS[0], LINES, 5),
        "definition": jobs.split(NETWORKS[0], LINES, 4, definition="open"),
        "limit": jobs.split(NETWORKS[0], LINES, 4, limit=10**6),
        "shape": jobs.split([NETWORKS[0]], LINES, 4),
    }
    for pieces in others.values():
        with pytest.raises(ValueError, match=r"results\[3\] belongs to another job than results\[0\]"):
            jobs.join([*results[:3], jobs.run(pieces[3])])
    with pytest.raises(ValueError, match=r"result 1 appears twice, the second time as results\[4\]"):
        jobs.join([*results, results[1]])
    with pytest.raises(ValueError, match="the job has 4 results, and these are missing: 1, 3"):
        jobs.join([results[2], results[0]])
    with pytest.raises(ValueError, match="no results"):
        jobs.join([])


def test_another_version_is_another_job(monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = jobs.split(NETWORKS[0], LINES, 2)
    monkeypatch.setattr("regions.counting.tasks.__version__", "0.0.0")
    _, second = jobs.split(NETWORKS[0], LINES, 2)
    with pytest.raises(ValueError, match="another job"):
        jobs.join([jobs.run(first), jobs.run(second)])


BIG = random_network([2, 24, 24, 1], 1, bias=0.1, he=True)


class TestSections:
    """A few planes are divided, so tasks are sections of the recursion."""

    @pytest.mark.parametrize(
        "domain", [SQUARE, Plane([0, 0], [1, 0], [0, 1]), [SQUARE, Polygon([[0, 0], [2, 0], [0, 2]])]]
    )
    @pytest.mark.slow
    def test_the_same_number(self, domain: Domain) -> None:
        number, certificate = regions.certified_count(BIG, domain)
        for n in (1, 5, 40, 10_000):
            pieces = jobs.split(BIG, domain, n)
            assert len(pieces) >= min(n - 1, np.min(number) // 2)
            found, proven = jobs.join(done(pieces))
            assert type(found) is type(number) and np.array_equal(found, number)
            assert plain(proven, signs=False) == plain(certificate, signs=False)

    def test_the_limit_counts_the_regions_of_all_pieces(self) -> None:
        number = regions.count(BIG, SQUARE)
        for domain, partial in ((SQUARE, None), ([SQUARE], [])):
            assert jobs.join(done(jobs.split(BIG, domain, 20, limit=number)))[0] == number
            for limit in (0, 1, number // 2, number - 1):
                results = done(jobs.split(BIG, domain, 20, limit=limit))
                with pytest.raises(regions.LimitReached) as stopped:
                    jobs.join(results)
                if partial is None:
                    assert limit < stopped.value.partial <= number
                else:
                    assert stopped.value.partial.tolist() == partial

    def test_results_of_sections_say_that_they_are_not_everything(self) -> None:
        result = jobs.run(jobs.split(BIG, SQUARE, 4)[0])
        assert not result.certificates[0].complete and 0 < result.numbers[0] < regions.count(BIG, SQUARE)
