# SPDX-License-Identifier: MIT
"""What is in a page, and what does `to_html` refuse? These tests need no browser."""

from __future__ import annotations

import re
import zlib
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from look_cases import CASES, SQUARE, partition_of
from page_parts import Parts, header_of, sections_of
from random_networks import random_network
from regions.errors import DomainError, ShapeMismatchError
from regions.results.pages.page_data import MOST_OUTPUTS
from regions.results.partition import raw_arrays

PLACES = "@script@ @header@ @title@ @style@ @arrays@ @policy@"
HOSTILE = f"</script><script>alert(1)</script> {PLACES} <!-- &amp; \u2028 \u202e \"'>"
everywhere = pytest.mark.parametrize("case", CASES)


def text_of(part: regions.Partition, folder: Path, **options: Any) -> str:
    part.to_html(folder / "page.html", **options)
    return (folder / "page.html").read_text("ascii")


@everywhere
def test_sections_decode_to_the_arrays(case: str, tmp_path: Path) -> None:
    part = partition_of(case)
    text = text_of(part, tmp_path)
    found, header = sections_of(text), header_of(text)
    (step,) = header["steps"]
    assert step["found"] == len(part) and step["complete"] == part.complete
    if part.dimension == 2 and not part.domain.bounded:  # a window, with its own arrays
        assert len(found["numbers"]) == step["regions"] <= len(part)
        assert (np.sort(found["numbers"]) == np.unique(found["numbers"])).all() and found["numbers"].min() >= 0
        return
    assert "numbers" not in found and step["regions"] == len(part)
    for name, array in (("corners", part.cell_vertices), ("facets", part.cell_facets), ("kinks", part.facet_kinks)):
        np.testing.assert_array_equal(found[name], array)
    finite = np.isfinite(part.vertices)
    vertices = found["vertices"].reshape(part.dimension, -1).T
    np.testing.assert_array_equal(vertices[finite], part.vertices[finite])
    if part.dimension == 2:
        np.testing.assert_array_equal(found["counts"], part.corner_counts)
    if "maps" in found:
        np.testing.assert_array_equal(found["maps"], part.map_numbers)
    values = found["values"].reshape(len(header["outputs"]), -1).T * header["factor"]
    wanted = part.network(part.domain.to_input(vertices))[:, header["outputs"]]
    np.testing.assert_allclose(values, wanted, atol=1e-6 * header["factor"])


# The window of a plane has arrays of its own; a test in the browser compares its patterns.
@pytest.mark.parametrize("case", [case for case in CASES if not case.endswith("plane")])
def test_patterns_follow_from_those_of_the_roots(case: str, tmp_path: Path) -> None:
    """Across each facet the kink and the further bits of the page change, and nothing else."""
    part = partition_of(case)
    found = sections_of(text_of(part, tmp_path))
    extra: dict[int, list[int]] = {}
    for facet, bit in found["extra"].reshape(-1, 2).tolist():
        extra.setdefault(facet, []).append(bit)
    inner = np.flatnonzero(part.facet_regions[:, 1] >= 0)
    for facet in inner.tolist():
        first, second = part.patterns[part.facet_regions[facet]]
        changed = np.flatnonzero(first != second).tolist()
        assert sorted([int(part.facet_kinks[facet]), *extra.get(facet, [])]) == changed
    reached = set(found["roots"].tolist())
    np.testing.assert_array_equal(found["patterns"].reshape(len(reached), -1), part.packed_patterns[found["roots"]])
    while True:
        new = {
            b for pair in part.facet_regions[inner].tolist() for a, b in (pair, pair[::-1]) if a in reached
        } - reached
        if not new:
            break
        reached |= new
    assert len(reached) == len(part)


def test_further_kinks_are_neurons_that_bend_at_the_same_edge(tmp_path: Path) -> None:
    twice = regions.Network([([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]], [0.0, 0.0, 0.0]), (np.ones((1, 3)), [0.0])])
    part = regions.enumerate(twice, SQUARE)
    also = sections_of(text_of(part, tmp_path))["also"].reshape(-1, 2).tolist()
    both = [[facet, 1 - kink] for facet, kink in enumerate(part.facet_kinks.tolist()) if kink in (0, 1)]
    assert also == both and len(both) == 2
    # Of a maximum, several bits change at one kink.
    assert not len(sections_of(text_of(partition_of("maxima"), tmp_path))["also"])


@pytest.mark.parametrize("case", ["generic", "partial", "segment"])
def test_the_same_partition_gives_the_same_bytes(case: str, tmp_path: Path) -> None:
    first = text_of(partition_of(case), tmp_path, title="x")
    assert text_of(partition_of(case), tmp_path, title="x") == first


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    part = partition_of("generic")
    plain = Parts(text_of(part, tmp_path))
    text = text_of(part, tmp_path, title=HOSTILE, classes=[HOSTILE] * 4, mark={HOSTILE: [0.5, 0.25]})
    parts = Parts(text)
    assert parts.kinds == plain.kinds == ["application/json", "application/octet-stream", None]
    assert parts.texts["script"][1:] == plain.texts["script"][1:] and parts.texts["style"] == plain.texts["style"]
    assert parts.policy == plain.policy and parts.texts["title"] == [HOSTILE]
    header = header_of(text)
    assert header["title"] == HOSTILE and header["classes"][0].startswith("</script>")
    assert not re.search(r"[<>&]", parts.texts["script"][0])


def test_the_policy_admits_this_script_and_style_and_nothing_else(tmp_path: Path) -> None:
    parts = Parts(text_of(partition_of("affine"), tmp_path))

    def admitted(text: str) -> str:
        return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

    assert parts.policy.split("; ") == [
        "default-src 'none'",
        f"script-src {admitted(parts.texts['script'][2])}",
        f"style-src {admitted(parts.texts['style'][0])}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_of_many_outputs_those_that_win_are_shown(tmp_path: Path) -> None:
    part = partition_of("many outputs")
    header = header_of(text_of(part, tmp_path))
    wins = np.bincount(part.network(part.domain.to_input(part.vertices)).argmax(axis=1), minlength=30)
    assert len(header["outputs"]) == MOST_OUTPUTS and sorted(header["outputs"]) == header["outputs"]
    hidden = np.setdiff1d(np.arange(30), header["outputs"])
    assert wins[hidden].max() <= wins[header["outputs"]].min()


def test_values_are_scaled_so_that_single_precision_holds_them(tmp_path: Path) -> None:
    for size in (1e-200, 1e200, 2.0**1022):  # beyond single precision
        network = regions.Network([(np.eye(2), [0.0, 0.0]), ([[size, 2 * size]], [0.0])])
        text = text_of(regions.enumerate(network, SQUARE), tmp_path)
        assert float(sections_of(text)["values"].max()) == pytest.approx(3 * size / header_of(text)["factor"])


def test_an_image_is_a_png(tmp_path: Path) -> None:
    grey, colours = np.linspace(0, 1, 6).reshape(2, 3), np.zeros((4, 5, 3))
    mark = {"a": [0.0, 0.0], "b": [0.5, 0.5], "c": [0.25, 0.0]}
    text = text_of(partition_of("generic"), tmp_path, mark=mark, images={"a": grey, "b": colours})
    points = {point["name"]: point for point in header_of(text)["points"]}
    assert points["c"]["image"] is None and points["b"]["at"] == [0.5, 0.5]
    data = b64decode(points["a"]["image"].removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[16:24] == b"\0\0\0\3\0\0\0\2"
    start = data.index(b"IDAT") + 4
    assert zlib.decompress(data[start:-16]) == b"\0\0\x33\x66\0\x99\xcc\xff"


GENERIC = partition_of("affine")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"title": 3}, TypeError, "title"),
        ({"title": "a\x1b"}, ValueError, "title has characters"),
        ({"title": "x" * 301}, ValueError, "room for 300"),
        ({"classes": "abc"}, TypeError, "classes must be a name for each class"),
        ({"classes": {"a", "b", "c"}}, TypeError, "classes must be a name for each class"),
        ({"classes": {7: "a"}}, ShapeMismatchError, "numbered from 0"),
        ({"pallete": "tab10"}, TypeError, "did you mean 'palette'"),
        ({"linewidth": 2}, TypeError, "The look is set by classes, cmap, labels, palette, points, within"),
        ({"palette": "tab11"}, ValueError, "did you mean 'tab10'"),
        ({"palette": {0: "red"}}, ValueError, "palette has no colour for 1"),
        ({"points": [[0.0, 0.0, 1.0]]}, ShapeMismatchError, "points have 3 coordinates"),
        ({"points": [[0.0, 0.0]], "labels": [3]}, ValueError, "the classes 0 to 2, got 3"),
        ({"points": np.zeros((10_001, 2))}, ValueError, "10,001 dots are too many"),
        ({"labels": [0]}, ValueError, "pass points= too"),
        (
            {"classes": ["a", "b"]},
            ShapeMismatchError,
            "classes has 2 names, and the network of the partition has 3 outputs",
        ),
        ({"classes": ["a", "b", None]}, TypeError, "the name of class 2"),
        ({"mark": [[0.0, 0.0, 1.0]]}, ShapeMismatchError, "2 dimensions"),
        ({"mark": np.zeros((1001, 2))}, ValueError, "at most 1,000"),
        ({"images": [[0.0]]}, TypeError, "images must be a mapping"),
        ({"images": {"a": [[0.0]]}}, ValueError, "not the name of a marked point"),
        ({"mark": {"a": [0, 0]}, "images": {"a": [0.0]}}, ShapeMismatchError, "H, W"),
        ({"mark": {"a": [0, 0]}, "images": {"a": np.zeros((300, 2))}}, ShapeMismatchError, "at most 256"),
        ({"mark": {"a": [0, 0]}, "images": {"a": [[np.nan]]}}, ValueError, "outside of 0 to 1"),
        ({"mark": {"a": [0, 0]}, "images": {"a": [["x"]]}}, TypeError, "must be an image"),
        ({"mark": {"a": [0, 0]}, "images": {"a": [["1", "0"]]}}, TypeError, "must be an image"),
        ({"mark": {"a": [0, 0]}, "images": {"a": np.ones((2, 2)) * 1j}}, TypeError, "of real numbers"),
        ({"mark": {"a": [0, 0]}, "images": {"a": [[1.0, 0.0], [1.0]]}}, TypeError, "must be an image"),
    ],
)
def test_wrong_options(options: dict[str, Any], error: type[Exception], words: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=words):
        GENERIC.to_html(tmp_path / "page.html", **options)
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_shown(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"path must end in \.html, got .*page\.png"):
        GENERIC.to_html(tmp_path / "page.png")
    network = random_network([2, 10, 10, 2], 9)
    for domain, limit, error, words in (
        (regions.Plane([0, 0], [1, 0], [0, 1]), 5, DomainError, "regions missing"),
        (regions.Rectangle([0, 0], [1e-150, 0], [0, 1e-150]), None, DomainError, "lengths from 1e-140"),
        (regions.Segment([0, 0], [1e-300, 0]), None, DomainError, "of the size 1e-300 in input space"),
    ):
        try:
            part = regions.enumerate(network, domain, limit=limit)
        except regions.LimitReached as reached:
            part = reached.partial
        with pytest.raises(error, match=words):
            part.to_html(tmp_path / "page.html")
    raw = raw_arrays(GENERIC) | {"complete": False}
    raw |= {name: raw[name][:0] for name in ("cell_vertices", "cell_facets", "packed_patterns")} | {"cell_offsets": [0]}
    with pytest.raises(ValueError, match="no regions"):
        regions.Partition(GENERIC.network, GENERIC.domain, raw).to_html(tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
