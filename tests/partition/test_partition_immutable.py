# SPDX-License-Identifier: MIT
"""Is a partition a value: immutable, and compared by content?"""

from __future__ import annotations

import pickle
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from partition_cases import CASES
from raw_from_reference import partition_from_reference, raw_from_reference
from regions.results.partition import ARRAYS, Partition, raw_arrays


def test_nothing_of_a_partition_can_be_changed() -> None:
    network, domain = CASES["square"]
    raw = raw_from_reference(network, domain)
    partition = Partition(network, domain, raw)
    for name in ("vertices", "domain", "complete", "stats", "volumes", "anything"):
        with pytest.raises(AttributeError, match="a Partition is immutable"):
            setattr(partition, name, None)
        with pytest.raises(AttributeError, match="a Partition is immutable"):
            delattr(partition, name)
    partition.stats["filter"] = -1
    assert partition.stats == {name: int(value) for name, value in raw["stats"].items()}
    names = [*ARRAYS, "volumes", "facet_volumes", "facet_layers", "neighbors", "map_numbers", "interior_points"]
    for name in [*names, "corner_counts"]:
        array = getattr(partition, name)
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
    for array in (partition.adjacency.data, partition.adjacency.indices, partition.adjacency.indptr):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_arrays_it_was_made_of_stay_the_callers() -> None:
    network, domain = CASES["square"]
    raw = raw_from_reference(network, domain)
    partition, same = Partition(network, domain, raw), Partition(network, domain, raw_from_reference(network, domain))
    for name in ARRAYS:
        raw[name][...] = 0  # not locked
    raw["stats"]["filter"] = -1
    assert partition == same and partition.stats == same.stats


@pytest.mark.parametrize("name", CASES)
def test_partitions_compare_by_content(name: str, tmp_path: Path) -> None:
    network, domain = CASES[name]
    one, two = (regions.enumerate(network, domain) for _ in range(2))
    one.save(tmp_path / "one.npz")
    for other in (two, regions.load_partition(tmp_path / "one.npz"), pickle.loads(pickle.dumps(one)), deepcopy(one)):
        assert one == other and hash(one) == hash(other)
    raw = raw_arrays(one)
    for key in ARRAYS:
        if raw[key].size:
            changed = raw[key].copy()
            with np.errstate(over="ignore"):  # of 8 bits that are all set
                changed.flat[0] = changed.flat[0] + 1 if abs(float(changed.flat[0])) < 1e300 else 0
            if not np.array_equal(changed, raw[key]):  # an infinite vertex stays where it is
                assert one != Partition(network, domain, {**raw, key: changed})
    assert one == Partition(network, domain, {**raw, "stats": {}, "kernel": "another", "version": "0"})
    assert one != Partition(network, domain, {**raw, "complete": False})
    assert one != one.network and one != "a partition"


def test_indices_of_the_adjacency_are_small_where_they_fit() -> None:
    adjacency = partition_from_reference(*CASES["square"]).adjacency
    assert (adjacency.indices.dtype, adjacency.indptr.dtype) == (np.int32, np.int32)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda raw: None, TypeError, "raw must be a mapping of the arrays of a partition, got None"),
        (lambda raw: {}, ValueError, "raw has no 'vertices'"),
        (lambda raw: {**raw, "stats": 3}, TypeError, r"raw\['stats'\] must be a mapping of counters, got 3"),
        (lambda raw: {**raw, "facet_kinks": raw["vertices"] + 0.5}, TypeError, "must be an array of int64"),
    ],
)
def test_what_makes_no_partition_is_refused(change: Any, error: type, message: str) -> None:
    network, domain = CASES["square"]
    with pytest.raises(error, match=message):
        Partition(network, domain, change(raw_from_reference(network, domain)))
    with pytest.raises(TypeError, match=r"expected a regions.Network, got int"):
        Partition(3, domain, raw_from_reference(network, domain))  # type: ignore[arg-type]


def test_what_is_kept_is_found_once_and_locked() -> None:
    partition = partition_from_reference(*CASES["square"])
    found = regions.measures.switching_kinks(partition)
    assert regions.measures.switching_kinks(partition) is found
    for array in (*found, regions.linear_regions(partition, "open").labels):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)
