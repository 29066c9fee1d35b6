# SPDX-License-Identifier: MIT
"""How can an answer be handed to others, who check it without this package?

The file is that of `Partition.save`: a network, a domain, and all regions of the network there. Its header also has the
answer, as a claim about *rows*, which are linear forms of outputs and inputs plus a constant: the least and greatest
values of rows, the regions where a row changes its sign, or groups of rows that are nowhere zero or positive together.
Outputs are affine on each region, so the values at the corners decide all of these. ``regions/check_answer.py`` checks
the regions first, and then the claim.
The file of a verdict in a box has a tree of cuts instead of the regions (`proof_trees.py`), which
``regions/check_property.py`` checks. docs/checking-answers.md describes all entries.
For the difference of two networks, the file holds one network: both side by side, with each layer made of a layer of
each.
Cost: some answers need another enumeration, because their own partitions are of other networks or have only some
regions. A verdict that holds in a box takes a search for a tree.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from regions.answers.comparison import Comparison
from regions.answers.corner_values import CornerValues, value_at
from regions.answers.extremes import Extremes, extremes
from regions.answers.level_set import LevelSet
from regions.answers.proof_trees import CHECKER, proof_tree
from regions.answers.property_verdict import PropertyVerdict
from regions.answers.unsafe_sets import owners
from regions.answers.verdict import Verdict
from regions.counting.count_and_enumerate import enumerate as enumerate_regions
from regions.counting.options import checked_limit, takes_timeout
from regions.domains import Box, Domain
from regions.domains.abilities import CERTIFICATES, VERDICT_CERTIFICATES, Ability, require
from regions.errors import DomainError, NetworkError
from regions.ground.arithmetic.arguments import path_of, shown
from regions.ground.arithmetic.types import Floats, Integers
from regions.networks.derived import chain_of_both
from regions.networks.network import Network
from regions.networks.parts import with_forms
from regions.results.cells.cell_geometry import next_corners
from regions.results.partition import Partition
from regions.results.partition.saved import write_arrays, write_partition

__all__ = ["require_checkable", "write_certificate"]


@takes_timeout
def write_certificate(
    found: Partition | Extremes | Comparison | Verdict | LevelSet,
    path: str | os.PathLike[str],
    *,
    limit: int | None = None,
    timeout: float | None = None,
) -> None:
    """Write a result to a file that others can check without this package.

    ``python -m regions.check_certificate`` checks that the file has all regions of the network in it, and
    ``python -m regions.check_answer`` also that the answer is right. ``python -m regions.check_property`` checks a
    verdict in a box, whose file has a proof instead of the regions. All of them need only numpy. Files with regions are
    also read by `load_partition`. Regions are not checked when they are written: see `certify`.

    Parameters
    ----------
    found : Partition, Extremes, Comparison, Verdict or LevelSet
        A complete partition, or what `extremes`, `compare`, `verify` or `level_set` found, on a segment or polygon.
        Verdicts may also be in boxes. Some answers take another enumeration. A file of a verdict has the property,
        whether it holds, and the witness as fractions, but not the unsafe share.
    path : str or path
        Usually ending in ``.regions-certificate``.
    limit : int, optional
        The largest number of parts of a box that are bounded until a verdict is proved.
    timeout : float, optional
        Stop with `TimeoutReached` after this many seconds.

    Raises
    ------
    TypeError
        Not one of these results; surfaces in boxes are not accepted.
    DomainError
        The domain is unbounded or a polyline. A partition or an answer is of a box, but for a verdict, or a verdict is
        of a polytope that is not a box.
    NetworkError
        The network is not a chain of dense layers with hidden layers. For comparisons, both networks must be such
        chains, with equally many layers and the same activations.
    ValueError
        A partial result, or a verdict with a point that touches the unsafe set.
    LimitReached, TimeoutReached
        The verdict is not proved within the limit, or the work takes longer. Nothing is written.
    VerdictNotDecided
        The verdict holds in a box, but no proof is found, because outputs nearly are unsafe or numbers overflow.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> found = regions.extremes(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "largest.regions-certificate"
    ...     regions.write_certificate(found, path)
    ...     regions.load_partition(path)
    Partition(4 regions, 2-D, 2-2-1 relu, exact)
    """
    file, most = path_of(path), checked_limit(limit)
    if isinstance(found, PropertyVerdict):
        raise TypeError(
            "a certificate is of one box of a property: give found.verdicts[box], or if bounds decided that box, "
            "regions.verify(network, given.domain(box), given.unsafe[box]) with the Property"
        )
    if isinstance(found, Partition):
        partition, answer = _required(found), None
    elif isinstance(found, Extremes):
        require_checkable(found.network, found.domain)  # the partition may take long
        partition, answer = _required(found.partition), _extremes(found)
    elif isinstance(found, Comparison):
        partition, answer = _comparison(found)
    elif isinstance(found, Verdict):
        require_checkable(found.network, found.domain, VERDICT_CERTIFICATES)
        assert isinstance(found.domain, Domain)
        if found.domain.dimension > 2:
            _write_proof(found, found.domain, file, most)
            return
        partition, answer = enumerate_regions(found.network, found.domain), _verdict(found)
    elif isinstance(found, LevelSet):
        partition, answer = _level_set(found)
    else:
        raise TypeError(
            "found must be a Partition of a line or plane, or what extremes, compare, verify or level_set found there; "
            f"in boxes only verdicts have certificates, and save() keeps a partition; got {shown(found)}"
        )
    write_partition(partition, file, answer)


def _required(partition: Partition) -> Partition:
    """Refuse a partition that the checkers do not take."""
    require_checkable(partition.network, partition.domain)
    if not partition.complete:
        raise ValueError("a certificate has all regions, and this partition is a partial result: enumerate the domain")
    return partition


def require_checkable(network: Network, domain: object, able: Ability = CERTIFICATES) -> None:
    """Refuse a network, or a domain, that the checkers do not take."""
    if not isinstance(domain, Domain):
        raise DomainError(f"a certificate is of a segment or a polygon, not of {domain!r}")
    require(able, domain)
    if not network.is_chain or not network.widths:
        raise NetworkError(
            "a certificate is of a chain of dense layers with hidden layers, which is all that the checkers take; "
            "save the partition, and use regions.certify"
        )


def _extremes(found: Extremes) -> dict[str, Any]:
    pairs = zip(found.exact_minimum, found.exact_maximum, strict=True)
    regions = np.stack([found.argmin_regions, found.argmax_regions], axis=1)
    n_in = found.partition.domain.n_in
    return {
        "kind": "extremes",
        "rows": np.pad(found.rows, ((0, 0), (0, n_in + 1))).tolist(),
        "values": [[_digits(value) for value in pair] for pair in pairs],
        "regions": regions.tolist(),
    }


def _comparison(found: Comparison) -> tuple[Partition, dict[str, Any]]:
    domain = found.extremes.domain
    for network in (found.first, found.second):
        require_checkable(network, domain)
    both, widths = chain_of_both(found.first, found.second)
    ones = np.eye(found.first.n_out)
    again = extremes(both, domain, forms=np.hstack([ones, -ones]))
    answer = {
        **_extremes(again),
        "kind": "difference",
        "networks": [found.first.fingerprint, found.second.fingerprint],
        "widths": widths,
    }
    return _required(again.partition), answer


def _verdict(found: Verdict) -> dict[str, Any]:
    if found.touching is not None:
        raise ValueError(
            "a certificate says that outputs do not even touch the unsafe set, and here they do: the property holds "
            "because inequalities are strict"
        )
    parts = [(-each.outputs, -each.inputs, each.bounds[:, np.newaxis]) for each in found.unsafe]
    return {
        "kind": "property",
        "rows": np.vstack([np.hstack(part) for part in parts]).tolist(),
        "groups": [own.numbers.tolist() for own in owners(found.unsafe)],
        "holds": found.holds,
        "witness": None if found.witness is None else [_digits(value) for value in found.witness.point],
    }


def _write_proof(found: Verdict, domain: Domain, path: Path, limit: int | None) -> None:
    """Write a verdict in a box, with the tree that proves it."""
    if not isinstance(domain, Box):
        raise DomainError(f"in three and more dimensions a certificate is of a box, not of {domain!r}. Take a Box.")
    answer, tree = _verdict(found), (np.zeros(0, dtype=np.int64), np.zeros(0))

    def write(to: Path) -> None:
        arrays = dict(zip(("tree", "multipliers"), tree, strict=True))
        write_arrays(to, CHECKER.Proof.FORMAT, {"complete": True, "answer": answer}, arrays, found.network, domain)

    if found.holds:
        with TemporaryDirectory() as folder:
            draft = Path(folder, "draft")
            write(draft)
            proof = CHECKER.Proof(draft)
        tree = proof_tree(proof, CHECKER.Rows(proof, np.array(answer["rows"])), answer["groups"], limit)
    write(path)


def _level_set(found: LevelSet) -> tuple[Partition, dict[str, Any]]:
    domain = found.partition.domain
    require_checkable(found.network, domain)
    partition = enumerate_regions(found.network, domain)
    row = np.zeros((1, found.network.n_out + domain.n_in + 1))
    row[0, found.output], row[0, -1] = 1.0, -found.threshold
    crossed, along = _crossings(partition, row[:, : found.network.n_out], row[:, -1])
    return partition, {"kind": "level set", "rows": row.tolist(), "crossed": crossed, "along": along}


def _crossings(partition: Partition, row: Floats, constant: Floats) -> tuple[list[list[int]], list[int]]:
    """The regions in which a form of outputs changes its sign, each with the facets, or -1 minus the vertices, where
    its zeros enter and leave; and the facets along which it is zero and changes its sign.
    """
    sides = _sides(CornerValues(partition, with_forms(partition.network.graph, row, constant)))
    at, starts = sides[partition.cell_vertices], partition.cell_offsets[:-1]
    above, below = (np.logical_or.reduceat(part, starts) for part in (at > 0, at < 0))
    after = next_corners(partition.cell_offsets)
    crossed: dict[int, list[int]] = {region: [] for region in np.flatnonzero(above & below).tolist()}
    owners_ = np.repeat(np.arange(len(partition)), np.diff(partition.cell_offsets))
    here = np.isin(owners_, list(crossed))
    for corner in np.flatnonzero(here & (at == 0)).tolist():
        crossed[int(owners_[corner])].append(-1 - int(partition.cell_vertices[corner]))
    if partition.dimension == 2:
        for corner in np.flatnonzero(here & (at * at[after] < 0)).tolist():
            crossed[int(owners_[corner])].append(int(partition.cell_facets[corner]))
    zero = (sides[partition.facet_vertices] == 0).all(axis=1)
    first, second = partition.facet_regions.T
    along = np.flatnonzero(zero & (second >= 0) & (above[first] != above[second]))
    return [[region, *sorted(ends)] for region, ends in crossed.items()], along.tolist()


def _sides(at: CornerValues) -> Integers:
    """The sign of the output at each vertex, exactly."""
    values, errors = (each[:, 0] for each in at.rounded)
    sides = np.sign(values).astype(np.int64)
    for vertex in np.flatnonzero(~(np.abs(values) > errors)).tolist():
        corner = int(at.corners[vertex])
        value = value_at(at.exact.form(int(at.regions[corner]), 0), at.exact.point(corner))
        sides[vertex] = (value > 0) - (value < 0)
    return sides


def _digits(value: Fraction | None) -> Sequence[str]:
    """A fraction as two hexadecimal integers; decimal ones of this length are slow to read."""
    assert value is not None  # the domain is bounded
    return [hex(value.numerator), hex(value.denominator)]
