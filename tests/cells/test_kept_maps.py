# SPDX-License-Identifier: MIT
"""Do maps that were kept with the regions equal those of another run, and are they used instead of a run?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import regions
from generators import draw
from polytope_cases import he_normal
from regions import core
from regions.counting.run import compiled_with_outputs


@pytest.mark.parametrize("family", ["generic", "ternary_weights", "max_generic", "graph_generic"])
@pytest.mark.parametrize("dimension", [1, 2])
def test_maps_of_both_kinds_are_equal(family: str, dimension: int) -> None:
    net, domain = draw(family, dimension, 3)
    with_maps, without = regions.enumerate(net, domain, maps=True), regions.enumerate(net, domain)
    assert with_maps == without
    for found, expected in zip(with_maps.affine_maps(), without.affine_maps(), strict=True):
        assert np.allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_kept_maps_need_no_second_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    net = he_normal([2, 8, 8, 2])
    square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    part, other = regions.enumerate(net, square, maps=True), regions.enumerate(net, square)
    other.to_html(tmp_path / "other.html")

    def refuse(*_: object) -> None:
        raise AssertionError("another run")

    monkeypatch.setattr(core, "enumerate", refuse)
    part.to_html(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == (tmp_path / "other.html").read_bytes()
    linear, constants = part.affine_maps()
    assert linear.shape == (len(part), 2, 2) and constants.shape == (len(part), 2)


def test_maps_in_a_box() -> None:
    net, box = he_normal([3, 7, 6, 2]), regions.Box([-1] * 3, [1] * 3)
    part = regions.enumerate(net, box, maps=True)
    found, expected = part.affine_maps(), part.affine_maps(range(len(part)))
    assert all(np.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(found, expected, strict=True))


def test_maps_are_not_kept_by_tasks() -> None:
    square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    with pytest.raises(ValueError, match="leave out maps=True"):
        regions.enumerate(he_normal([2, 3, 1]), square, maps=True, checkpoint="folder")


def test_large_maps_begin_where_doubles_may() -> None:
    """A large result lies in one block, in which patterns of three bytes each come before the maps."""
    net, box = he_normal([3, 9, 9, 1]), regions.Box([-2] * 3, [2] * 3)
    found = core.enumerate(compiled_with_outputs(net, net.graph).compiled, box.compiled, core.Limits(), core.WHOLE)[1]
    assert sum(array.nbytes for array in found.values()) > 1 << 18 and found["packed_patterns"].nbytes % 8
    assert core.is_private(found["maps"]) and all(array.flags.aligned for array in found.values())
