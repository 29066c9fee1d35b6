# SPDX-License-Identifier: MIT
"""Does the page of a partition of three dimensions show what `enumerate` finds in a plane?

In a browser, the plane is moved to many places, of which some go through vertices. Regions, patterns, kinks of edges,
areas and outputs are compared with an enumeration in the section of the domain there.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from browser import Opened, Page
from page_parts import header_of, sections_of
from polytope_cases import he_normal
from random_networks import random_network
from regions.errors import DomainError, ShapeMismatchError

CUBE = regions.Box([-1] * 3, [1] * 3)
SIMPLEX = regions.Polytope(np.vstack([np.ones(3), -np.eye(3)]), [1, 0, 0, 0])


def integer_network(seed: int) -> regions.Network:
    """Many planes through one point, and many equal neurons."""
    rng = np.random.default_rng(seed)
    layers = [(rng.integers(-1, 2, (n, m)), rng.integers(-1, 2, n)) for n, m in ((7, 3), (6, 7), (3, 6))]
    return regions.Network(layers)


CASES = {
    "generic": (random_network([3, 12, 12, 4], 1), CUBE),
    "one output": (he_normal([3, 12, 12, 1]), CUBE),
    "integers": (integer_network(3), CUBE),
    "hard tanh": (random_network([3, 8, 8, 2], 7, "hard_tanh"), SIMPLEX),
    "oblique": (
        random_network([5, 9, 9, 3], 8),
        regions.Box.around(np.full(5, 0.1), 1.5, [[2.0, 0, 1, 0, 0], [1, 1, 0, 0, 3], [0, 0, 1, 1, 0]]),
    ),
    "fixed coordinate": (random_network([4, 9, 9, 2], 5), regions.Box([-1, 0.5, -2, 3], [1, 0.5, 2, 3.5])),
    "affine": (random_network([3, 3], 12), SIMPLEX),
}


@pytest.mark.parametrize("case", CASES)
def test_sections_decode_to_the_arrays(case: str, tmp_path: Path) -> None:
    part = regions.enumerate(*CASES[case])
    part.to_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text("ascii")
    found, header = sections_of(text), header_of(text)
    (step,) = header["steps"]
    assert step["regions"] == step["found"] == len(part) and header["dimension"] == 3
    counts = [("counts", part.cell_facet_offsets), ("around", part.facet_offsets)]
    for name, offsets in counts:
        np.testing.assert_array_equal(found[name], np.diff(offsets))
    exact = {"facets": part.cell_facets, "outlines": part.facet_vertices, "kinks": part.facet_kinks}
    for name, array in exact.items():
        np.testing.assert_array_equal(found[name], array)
    np.testing.assert_array_equal(found["vertices"].reshape(3, -1).T, part.vertices)
    np.testing.assert_array_equal(found["volumes"], part.volumes.astype(np.float32))
    values = found["values"].reshape(len(header["outputs"]), -1).T * header["factor"]
    np.testing.assert_allclose(values, part.network(part.domain.to_input(part.vertices)), atol=1e-6 * header["factor"])


@pytest.mark.parametrize("browser", ["chromium", pytest.param("firefox", marks=pytest.mark.slow)], indirect=True)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.browser
@pytest.mark.slow
def test_the_page_shows_the_regions_in_each_plane(case: str, opened: Opened) -> None:
    net, domain = CASES[case]
    part = regions.enumerate(net, domain)
    page = opened(part, width=400, height=300)
    rng = np.random.default_rng(0)
    for axis in (2, 0, 1):
        heights = np.unique(part.vertices[:, axis])
        low, high = heights[0], heights[-1]
        some = [*rng.uniform(low, high, 3), rng.choice(heights[1:-1]) if len(heights) > 2 else low, low, high]
        for wanted in some:
            at = page.call("(axis, at) => { look.moveTo(axis, at); return look.part.at; }", axis, float(wanted))
            assert abs(at - wanted) <= (high - low) * 2**-38
            require_section(page, part, axis, at)


def require_section(page: Page, part: regions.PolytopePartition, axis: int, at: float) -> None:
    """Require that the page shows what is in the plane: regions, patterns, edges, areas, numbers and outputs."""
    others = [k for k in range(3) if k != axis]
    point = np.array(part.domain.generators[:, 1:].mean(axis=0))
    point[axis] = at
    plane = regions.enumerate(part.network, part.domain.section(part.domain.to_input(point), (others[0], others[1])))
    shown = page.call(
        """() => ({
            patterns: [...Array(look.part.R).keys()].map(r => [...look.pattern(r)]),
            numbers: [...Array(look.part.R).keys()].map(look.numberOf),
            kinks: [...look.part.kinks], vertices: look.part.V, folded: Boolean(look.part.folded),
            sizes: [...look.part.size].map(size => size * look.meta.unit ** 2),
        })"""
    )
    order = {bytes(row): number for number, row in enumerate(shown["patterns"])}
    assert len(order) == len(plane) and set(order) == {row.tobytes() for row in plane.packed_patterns}
    assert [part.packed_patterns[number].tobytes() for number in shown["numbers"]] == list(order)
    kinks = Counter(kink for kink in shown["kinks"] if kink >= 0)
    assert kinks == Counter(plane.facet_kinks[plane.facet_kinks >= 0].tolist())
    assert shown["vertices"] == len(plane.vertices)
    sizes = np.array([shown["sizes"][order[row.tobytes()]] for row in plane.packed_patterns])
    np.testing.assert_allclose(sizes, plane.volumes, rtol=1e-9, atol=1e-11 * plane.volumes.sum())
    assert not shown["folded"] or sizes.min() < 1e-12 * sizes.sum()
    low, high = plane.vertices.min(axis=0), plane.vertices.max(axis=0)
    points = np.random.default_rng(1).uniform(low, high, (60, 2))
    asked = page.call(
        """points => points.map(([x, y]) => {
            const r = look.locate(x, y);
            return [r < 0 ? -1 : look.numberOf(r), ...look.outputsAt(Math.max(r, 0), ...look.toPage(x, y))];
        })""",
        points.tolist(),
    )
    inside = np.insert(points, axis, at, axis=1)
    assert [int(number) for number, *_ in asked] == part.locate(inside, space="chart").tolist()
    there = np.array([number >= 0 for number, *_ in asked])
    outputs = np.array([values for _, *values in asked])[there] * page.value("look.meta.factor")
    wanted = part.network(part.domain.to_input(inside[there]))
    np.testing.assert_allclose(outputs, wanted, atol=2e-6 * page.value("look.meta.factor"))


def text_of(page: Page, name: str) -> str:
    return str(page.call("name => document.getElementById(name).textContent", name))


def change(page: Page, name: str, value: object, event: str) -> None:
    page.call(
        """(name, value, event) => {
            const box = document.getElementById(name);
            box.value = value;
            box.dispatchEvent(new Event(event));
        }""",
        name,
        value,
        event,
    )
    page.settle()


@pytest.mark.browser
@pytest.mark.slow
def test_the_reader_moves_the_plane(opened: Opened) -> None:
    part = regions.enumerate(*CASES["fixed coordinate"])
    page = opened(part, mark={"here": [0.25, 0.5, 0.125, 3.25], "there": [0.25, 0.5, 0.125, 3.3]})
    assert text_of(page, "height-name") == f"x3 = 3.25: {page.value('look.part.R')} regions"
    assert page.value("[...document.querySelectorAll('#marks div')].map(mark => mark.className)") == ["", "away"]
    assert page.value("[...document.getElementById('axis').options].map(each => each.text)") == ["x0", "x2", "x3"]
    change(page, "height", 600, "input")
    assert page.value("look.part.at") == pytest.approx(3.3)
    assert page.value("[...document.querySelectorAll('#marks div')].map(mark => mark.className)") == ["away", ""]
    plane = regions.enumerate(part.network, part.domain.section([0, 0.5, 0, 3.3]))
    middle = plane[int(plane.volumes.argmax())].vertices.mean(axis=0).tolist()
    page.click(*page.call("point => look.toScreen(...look.toPage(...point))", middle))
    page.settle()
    kept = page.value("look.state.pinned")
    assert kept >= 0 and text_of(page, "info").startswith(f"region#{page.call('look.numberOf', kept)}area")
    page.press(",")
    page.settle()
    assert page.value("look.part.at") == pytest.approx(3.295)
    place = np.insert(page.value("look.toChart(...look.state.keptAt)"), 2, page.value("look.part.at"))
    number = page.value("look.numberOf(look.state.pinned)")
    assert number == part.locate(place, space="chart") and f"#{number}" in text_of(page, "info")
    change(page, "axis", "0", "change")
    assert text_of(page, "height-name").startswith("x0 = 0: ") and page.value("look.state.pinned") == -1
    change(page, "search", "0.5, -1.5, 3.125", "change")
    assert page.value("look.part.at") == 0.5
    assert page.value("look.numberOf(look.state.pinned)") == part.locate([0.5, -1.5, 3.125], space="chart")
    for number in (0, len(part) - 1):
        change(page, "search", f"#{number}", "change")
        assert page.value("look.numberOf(look.state.pinned)") == number
        assert f"volume{float(part.volumes[number]):.5g}"[:9] in text_of(page, "info")
    change(page, "search", "0.5, 1", "change")
    assert "x, y, z" in page.value("document.getElementById('search').validationMessage")


@pytest.mark.browser
@pytest.mark.slow
def test_colours_stay_while_the_plane_moves(opened: Opened) -> None:
    """The range of the outputs does not depend on the plane, and few regions change their colour."""
    page = opened(regions.enumerate(*CASES["one output"]))
    legend = text_of(page, "legend")
    colours = """() => {
        const numbers = look.colourNumbers();
        return [...Array(look.part.R).keys()].map(r => [look.numberOf(r), numbers[r]]);
    }"""
    before = dict(page.call(colours))
    change(page, "height", 510, "input")
    assert text_of(page, "legend") == legend
    after = dict(page.call(colours))
    common = before.keys() & after.keys()
    assert len(common) > 20 and sum(before[r] == after[r] for r in common) > 0.8 * len(common)


@pytest.mark.browser
@pytest.mark.slow
def test_partial_results_are_shown(opened: Opened) -> None:
    with pytest.raises(regions.LimitReached) as stopped:
        regions.enumerate(he_normal([3, 12, 12, 1]), CUBE, limit=100)
    part = stopped.value.partial
    page = opened(part)
    for at in (-0.5, 0.1, 0.75):
        page.call("at => look.moveTo(2, at)", at)
        numbers = page.value("[...Array(look.part.R).keys()].map(look.numberOf)")
        heights = [part.vertices[part.cell_vertices[slice(*part.cell_offsets[r : r + 2])], 2] for r in range(len(part))]
        assert numbers == [r for r, each in enumerate(heights) if each.min() < page.value("look.part.at") < each.max()]
        assert all(
            bytes(page.call("r => [...look.pattern(r)]", r)) == part.packed_patterns[number].tobytes()
            for r, number in enumerate(numbers)
        )


def refused(part: Any, folder: Path, error: type[Exception], words: str, **options: Any) -> None:
    with pytest.raises(error, match=words):
        part.to_html(folder / "page.html", **options)
    assert not list(folder.iterdir())


def test_what_cannot_be_shown(tmp_path: Path) -> None:
    part = regions.enumerate(*CASES["fixed coordinate"])
    refused(part, tmp_path, ShapeMismatchError, "2 coordinates", mark=[[0.0, 0.0]])
    refused(part, tmp_path, DomainError, "0.5 away from the space", mark=[[0.0, 0.0, 0.0, 3.0]])
    four = regions.enumerate(random_network([4, 4, 1]), regions.Box([-1] * 4, [1] * 4))
    refused(four, tmp_path, DomainError, "pages exist in 1 to 3 dimensions; this domain has 4")
