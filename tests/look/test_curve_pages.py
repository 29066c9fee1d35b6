# SPDX-License-Identifier: MIT
"""Does the page of a curve know its pieces and their neurons, and does it show the images after each layer?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import regions
from browser import OpenedFile, Page
from generators_maxima import network_of_maxima
from page_parts import header_of, sections_of
from random_networks import random_network
from regions.results.pages.curve_images import in_plane, layers_shown

CURVES: dict[str, tuple[regions.Network, regions.Curve | regions.Segment]] = {
    "circle": (random_network([2, 12, 12, 3], 3), regions.Circle([0, 0], [1, 0], [0, 1])),
    "arc": (random_network([3, 9, 9, 9, 1], 4), regions.Arc([1, 0, 0], [0, 1, 0.5])),
    "polyline": (random_network([4, 10, 10, 2], 5), regions.Polyline([[0, 0, 0, 0], [1, 2, 0, 1], [0, 1, -1, 3]])),
    "segment": (random_network([2, 12, 12, 3], 6), regions.Segment([-1, -1], [1, 2])),
    "closed triangle": (random_network([2, 8, 8, 3], 7), regions.Polyline([[0, 1], [1, -1], [-1, -1], [0, 1]])),
    "maxima": (
        network_of_maxima(2, [(np.random.default_rng(2).standard_normal((12, 3)), [3] * 4)]),
        regions.Circle([0.1, 0], [2, 0], [0, 2]),
    ),
    "affine": (random_network([2, 2], 8), regions.Circle([0, 0], [1, 0], [0, 1])),
    # Both neurons of layer 1 switch at once.
    "two at once": (
        regions.Network([([[1.0, 0.0], [2.0, 0.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])]),
        regions.Segment([-1, 0], [1, 0]),
    ),
}
everywhere = pytest.mark.parametrize("name", CURVES)


def pieces_of(path: regions.Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Return the parameters between which the pieces run [pieces + 1], and one inside each piece."""
    ends = np.array([0.0, *path.breakpoints[path.breakpoints > 0], 1.0])
    return ends, (ends[:-1] + ends[1:]) / 2


def page_of(
    network: regions.Network, curve: regions.Curve | regions.Segment, folder: Path
) -> tuple[regions.Trajectory, dict[str, Any], dict[str, np.ndarray]]:
    """Follow a curve, and return the trajectory with the header and the sections of its page."""
    path = regions.trajectory(network, curve)
    path.to_html(folder / "page.html")
    text = (folder / "page.html").read_text("ascii")
    return path, header_of(text), sections_of(text)


@everywhere
def test_sections_are_the_pieces_of_the_curve(name: str, tmp_path: Path) -> None:
    network, curve = CURVES[name]
    path, header, found = page_of(network, curve, tmp_path)
    (step,) = header["steps"]
    ends, inside = pieces_of(path)
    times = found["vertices"]
    assert times[0] == 0 and times[-1] == 1 and (np.diff(times) >= 0).all()
    assert step["found"] == (int(path.pieces[-1]) if path.pieces.size else 1)
    np.testing.assert_array_equal(times[found["corners"].reshape(-1, 2)], np.stack([ends[:-1], ends[1:]], axis=1))
    inputs = path.curve.to_input(times)
    values = found["values"].reshape(network.n_out, -1).T * header["factor"]
    np.testing.assert_allclose(values, network(inputs), atol=1e-6 * header["factor"])
    # The patterns of all pieces follow from the first one.
    bits = np.unpackbits(found["patterns"], bitorder="little")[: network.graph.kinks].astype(bool)
    extra: dict[int, list[int]] = {}
    for facet, bit in found["extra"].reshape(-1, 2).tolist():
        extra.setdefault(facet, []).append(bit)
    for facet, point in enumerate(path.curve.to_input(inside)):
        for bit in [int(found["kinks"][facet]), *extra.get(facet, [])] if facet else []:
            bits[bit] ^= True
        np.testing.assert_array_equal(bits, network.pattern(point), str(facet))


@everywhere
def test_images_are_distances_in_two_directions(name: str, tmp_path: Path) -> None:
    network, curve = CURVES[name]
    path, header, found = page_of(network, curve, tmp_path)
    panels = header["steps"][0]["panels"]
    depth = len(path.lengths) - 1
    assert [panel["name"] for panel in panels] == ["input", *(f"layer {k}" for k in range(1, depth)), "output"]
    images = found["images"].reshape(depth + 1, 2, -1)
    widths = [network.n_in, *network.widths, network.n_out]
    for panel, image, units in zip(panels, images, widths, strict=True):
        assert panel["units"] == units and (panel["share"] is None) == (units <= 2)
        if units == 2 and panel["name"] in ("input", "output"):  # unchanged, except for a shift and a power of two
            inputs = path.curve.to_input(found["vertices"])
            points = inputs if panel["name"] == "input" else network(inputs)
            scale = np.exp2(np.round(np.log2(np.ptp(points) / np.ptp(image))))
            np.testing.assert_allclose(scale * image.T, points - points.mean(axis=0), atol=1e-5 * scale)


def test_an_image_keeps_what_its_share_says() -> None:
    rng, times = np.random.default_rng(0), np.linspace(0, 1, 400)
    points = rng.standard_normal((400, 2)) @ rng.standard_normal((2, 7)) + 5
    flat, units, share = in_plane(points, times)
    assert units == 7 and share == pytest.approx(1)
    distances = np.linalg.norm(np.diff(points, axis=0), axis=1) / np.linalg.norm(np.diff(flat, axis=0), axis=1)
    assert np.ptp(distances) < 1e-9 * distances[0]
    _, _, half = in_plane(rng.standard_normal((400, 4)), times)
    assert half is not None and 0.4 < half < 0.65
    assert in_plane(np.ones((3, 5)), times[:3]).share is None
    over_time = in_plane(points[:, :1] * 1e300, times)
    np.testing.assert_array_equal(over_time.points[:, 0], times)
    assert np.abs(over_time.points[:, 1]).max() <= 2


@pytest.mark.parametrize(("layers", "shown"), [(0, [0]), (3, [0, 1, 2, 3]), (20, [0, 4, 8, 12, 16, 20])])
def test_some_layers_are_shown(layers: int, shown: list[int]) -> None:
    assert layers_shown(layers, 6) == shown


def test_wrong_options(tmp_path: Path) -> None:
    path = regions.trajectory(*CURVES["circle"])
    for options, error, words in (
        ({"path": "page.png"}, ValueError, r"must end in \.html"),
        ({"title": 3}, TypeError, "title"),
        ({"classes": ["a"]}, regions.errors.ShapeMismatchError, "classes has 1 name, "),
    ):
        with pytest.raises(error, match=words):
            path.to_html(**{"path": tmp_path / "page.html", **options})
    far = regions.Network([([[1e308]], [0.0]), ([[4.0]], [0.0])])
    with pytest.raises(regions.errors.NonFiniteError, match="beyond the largest double"):
        regions.trajectory(far, regions.Segment([0], [1])).to_html(tmp_path / "page.html")


@pytest.fixture
def opened_curve(opened_files: OpenedFile, tmp_path: Path) -> Callable[..., Page]:
    def open_page(name: str, **options: object) -> Page:
        regions.trajectory(*CURVES[name]).to_html(tmp_path / "page.html", **options)
        return opened_files(tmp_path / "page.html", 1000, 700)  # room for the words of all images

    return open_page


def place_of(page: Page, panel: int, vertex: int) -> tuple[float, float]:
    x, y = page.call("look.imagePlaces", panel)[vertex]
    return x, y


@pytest.mark.browser
@pytest.mark.slow
@everywhere
def test_the_page_finds_the_pieces(name: str, opened_curve: Callable[..., Page]) -> None:
    path = regions.trajectory(*CURVES[name])
    ends, inside = pieces_of(path)
    page = opened_curve(name)
    found = page.call("times => times.map(t => look.locate(t, 0))", inside.tolist())
    assert found == list(range(len(inside)))
    factor, outputs = page.value("look.meta.factor"), path.network(path.curve.to_input(inside))
    shown = page.call("times => times.map((t, r) => [...look.outputsAt(r, look.toPage(t, 0)[0], 0)])", inside.tolist())
    np.testing.assert_allclose(np.array(shown) * factor, outputs, atol=1e-3 * factor)
    packed = page.call("n => [...Array(n).keys()].map(r => look.pattern(r))", len(inside))
    for row, point in zip(packed, path.curve.to_input(inside), strict=True):
        bits = np.unpackbits(np.array(list(row.values()), np.uint8), bitorder="little")
        np.testing.assert_array_equal(bits[: path.network.graph.kinks], path.network.pattern(point))


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True)
def test_an_image_names_pieces_and_neurons(opened_curve: Callable[..., Page]) -> None:
    page = opened_curve("circle")
    corners, kinks = (page.value(f"[...look.part.{name}]") for name in ("corners", "kinks"))
    asked = 0
    for panel in (1, 3):
        places = np.array(page.call("look.imagePlaces", panel))
        for piece in range(0, len(corners) // 2, 5):
            first, last = corners[2 * piece : 2 * piece + 2]
            here = places[(first + last) // 2]
            if np.hypot(*(places[corners] - here).T).min() > 8:  # not near a kink, and mostly not near another piece
                page.move(*here.tolist())
                assert page.value("document.getElementById('tip').innerText").startswith(f"piece #{piece} ")
                asked += 1
    assert asked > 3
    facet = next(f for f, kink in enumerate(kinks) if kink >= 12)  # of layer 2
    page.click(*place_of(page, 3, corners[2 * facet]))
    layer = page.value("look.state.kink")
    assert layer is not None and layer >= 0
    assert "layer" in page.value("document.getElementById('neuron').innerText")


@pytest.mark.browser
@pytest.mark.slow
def test_a_kink_of_a_later_layer_is_not_in_an_image(opened_curve: Callable[..., Page]) -> None:
    page = opened_curve("segment")
    corners, kinks = (page.value(f"[...look.part.{name}]") for name in ("corners", "kinks"))
    later = [f for f, kink in enumerate(kinks) if kink >= 12]
    for facet in later[:3]:
        for panel, named in ((1, False), (2, True)):
            page.move(*place_of(page, panel, corners[2 * facet]))
            tip = page.value("document.getElementById('tip').innerText")
            assert ("layer 2" in tip) == named or "layer 1" in tip


@pytest.mark.browser
@pytest.mark.slow
def test_images_and_outputs_can_be_saved_as_vectors(opened_curve: Callable[..., Page]) -> None:
    page = opened_curve("arc", title="<b>An arc</b>")
    assert page.value("document.querySelector('h1').textContent") == "<b>An arc</b>"
    images = page.value("look.vectors()")
    counts = [images.count(words) for words in (" directions of 3: ", " directions of 9: ", "output over t")]
    assert counts == [1, 3, 1]
    page.call("""() => {
        const field = document.getElementById("views");
        field.value = "outputs";
        field.dispatchEvent(new Event("change"));
    }""")
    page.settle()
    assert "kinks, by layer" in page.value("look.vectors()")
