# SPDX-License-Identifier: MIT
"""Are the tables of docs/rounded-networks.md those that bench/formats.py prints?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import formats
import regions

PAGE = (Path(__file__).resolve().parent.parent.parent / "docs" / "rounded-networks.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_weights_in_eight_formats() -> None:
    found = formats.table()
    assert len(found) == 2 + 1 + 8
    assert "\n".join(found) in PAGE


@pytest.mark.slow
def test_numbers_of_formats() -> None:
    assert "\n".join(formats.numbers()) in PAGE


def test_bundles_of_lines() -> None:
    assert "\n".join(formats.bundles()) in PAGE


@pytest.mark.slow
def test_passes() -> None:
    assert "\n".join(formats.passes()) in PAGE


def test_a_row_by_other_means() -> None:
    """The share of patterns kept, from the reference, for a small network."""
    net = formats.network(3, (2, 5, 4, 1))
    part = regions.enumerate(net, formats.SQUARE)
    other = formats.stored(net, "int4")
    scale = np.abs(net.layers[0].weights).max() / 7
    assert (other.layers[0].weights == np.rint(net.layers[0].weights / np.float32(scale)) * np.float32(scale)).all()
    first, second = (
        {region.pattern for region in regions.reference.enumerate(each, formats.SQUARE)} for each in (net, other)
    )
    row = formats.row(net, part, "int4")
    assert row[:4] == [
        "int4",
        str(len(second)),
        str(len(first & second)),
        f"{100 * len(first & second) / len(first):.1f}%",
    ]
