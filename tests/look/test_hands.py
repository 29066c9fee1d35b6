# SPDX-License-Identifier: MIT
"""Does a page react to pointer, keys and panel? A browser sends its real events."""

from __future__ import annotations

import io
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import regions
from browser import Browser, Opened, Page
from color_distances import OKABE_ITO, least_distance, rgb
from look_cases import SQUARE, partition_of
from random_networks import random_network

pytestmark = [pytest.mark.browser, pytest.mark.slow]
in_both = pytest.mark.parametrize("browser", ["chromium", "firefox"], indirect=True)

INFO = """Object.fromEntries(
    [...document.querySelectorAll("#info dt")].map(dt => [dt.textContent, dt.nextSibling.textContent])
)"""


def text(page: Page, selector: str) -> str:
    return str(page.value(f"document.querySelector({selector!r}).innerText"))


def info(page: Page) -> dict[str, str]:
    time.sleep(0.2)  # the panel follows the pointer several times a second
    found: dict[str, str] = page.value(INFO)
    return found


def choose(page: Page, select: str, value: str) -> None:
    page.call(
        """(id, value) => {
            const field = document.getElementById(id);
            if (field.type === "checkbox") field.checked = value === "on"; else field.value = value;
            field.dispatchEvent(new Event("change"));
        }""",
        select,
        value,
    )
    page.settle()


def on_screen(page: Page, chart: Any) -> tuple[float, float]:
    x, y = page.call("(x, y) => look.toScreen(...look.toPage(x, y))", *np.asarray(chart, float).tolist())
    return x, y


def pixels(page: Page) -> np.ndarray:
    from matplotlib.image import imread

    image: np.ndarray = imread(io.BytesIO(page.screenshot()))
    return image


@in_both
def test_the_panel_follows_the_pointer(opened: Opened) -> None:
    part = partition_of("generic")
    page = opened(part)
    for point in np.random.default_rng(0).uniform(-0.9, 0.9, (5, 2)):
        page.move(*on_screen(page, point))
        region = int(part.locate(point, space="chart"))
        shown = info(page)
        outputs = part.network(point)
        assert page.value("look.state.hover") == region and shown["region"] == f"#{region}"
        assert shown["class"] == f"class {int(outputs.argmax())}"
        assert shown["corners"] == str(part.corner_counts[region])
        assert float(shown["area"]) == pytest.approx(part.volumes[region], rel=1e-5)
        bars = [
            float(each)
            for each in page.value("[...document.querySelectorAll('.bars span:last-child')].map(s => s.innerText)")
        ]
        np.testing.assert_allclose(bars, outputs, atol=0.05)


@in_both
def test_a_click_on_an_edge_names_its_neuron(opened: Opened) -> None:
    part = partition_of("generic")
    page = opened(part)
    ends = part.vertices[part.facet_vertices]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    long = np.flatnonzero((part.facet_kinks >= 0) & (lengths > 0.1))
    for facet in np.random.default_rng(1).choice(long, 5, replace=False).tolist():
        page.click(*on_screen(page, ends[facet].mean(axis=0)))
        kink = int(part.facet_kinks[facet])
        layer, unit = int(part.network.kink_layers[kink]), int(part.network.kink_units[kink])
        assert f"layer {layer + 1}, neuron {unit}" in text(page, "#neuron")
        assert f"layer {layer + 1}, neuron {unit}" in text(page, "#tip")
        own = part.facet_kinks == kink
        shown = dict(zip(*[iter(text(page, "#neuron dl").split("\n"))] * 2, strict=True))
        assert int(shown["edges"]) == own.sum()
        assert float(shown["length"]) == pytest.approx(part.facet_volumes[own].sum(), rel=1e-5)
    page.press("Escape")
    assert page.value("look.state.kink") is None


def test_search(opened: Opened) -> None:
    part = partition_of("generic")
    page = opened(part, motion="reduce")
    there = int(part.locate([0.25, -0.5], space="chart"))
    for words, region, kink in (
        ("#7", 7, None),
        ("8", 8, None),
        ("0.25, -0.5", there, None),
        ("2:17", -1, 41),
        ("2:99", -1, None),
        ("what", -1, None),
    ):
        page.press("Escape")
        choose(page, "search", words)
        assert page.value("[look.state.pinned, look.state.kink]") == [region, kink], words
        wrong = words in ("2:99", "what")
        assert bool(page.value("document.getElementById('search').validationMessage")) == wrong
        if region >= 0:
            middle = page.value("look.locate(...look.toChart(look.view.x, look.view.y))")
            assert middle == region


def test_keys_and_wheel(opened: Opened) -> None:
    page = opened(partition_of("generic"))
    scale = page.value("look.view.scale")
    page.press("+")
    page.settle()
    assert page.value("look.view.scale") == pytest.approx(1.6 * scale)
    x = page.value("look.view.x")
    page.press("ArrowRight")
    page.settle()
    assert page.value("look.view.x") > x
    page.press("0")
    page.settle()
    assert page.value("look.view.scale") == pytest.approx(scale)
    place = on_screen(page, [0.1, 0.1])
    page.ask("Input.dispatchMouseEvent", type="mouseWheel", x=place[0], y=place[1], deltaX=0, deltaY=-120)
    page.wait("look.view.scale > 1.1 * " + str(scale))
    page.settle()
    np.testing.assert_allclose(on_screen(page, [0.1, 0.1]), place, atol=0.5)
    page.press("d")
    assert page.value("document.documentElement.dataset.theme") == "dark"


@in_both
def test_the_keyboard_alone_reaches_regions_edges_and_neighbours(opened: Opened) -> None:
    part = partition_of("generic")
    page = opened(part, motion="reduce")
    page.value("document.getElementById('stage').focus()")
    page.press("Enter")
    first = page.value("look.state.pinned")
    assert f"Region {first}, area" in text(page, "#said")
    page.press("e")
    edge = page.value("look.state.edge")
    assert edge == part.cell_facets[part.cell_offsets[first]]
    while part.facet_regions[edge].min() < 0:
        page.press("e")
        edge = page.value("look.state.edge")
    kink = int(part.facet_kinks[edge])
    assert f"layer {part.network.kink_layers[kink] + 1}, neuron {part.network.kink_units[kink]}" in text(page, "#said")
    page.press("g")
    second = page.value("look.state.pinned")
    assert sorted([first, second]) == sorted(part.facet_regions[edge].tolist())
    lamps = page.value("[...document.querySelectorAll('#lamps canvas')].map(c => c.getAttribute('aria-label'))")
    on = part[second].pattern
    counts = [(on[part.network.kink_layers == layer]).sum() for layer in range(2)]
    assert lamps == [f"layer {layer + 1}: {count} of 24 on" for layer, count in enumerate(counts)]


def test_dragging_and_pinching_move_the_picture(opened: Opened) -> None:
    page = opened(partition_of("generic"))
    place = on_screen(page, [0.0, 0.0])
    for kind, dx in (("mousePressed", 0), ("mouseMoved", 30), ("mouseMoved", 60), ("mouseReleased", 60)):
        page.ask(
            "Input.dispatchMouseEvent", type=kind, x=place[0] + dx, y=place[1], button="left", buttons=1, clickCount=1
        )
    page.settle()
    np.testing.assert_allclose(on_screen(page, [0.0, 0.0]), (place[0] + 60, place[1]), atol=0.5)
    scale = page.value("look.view.scale")
    page.ask("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    for kind, reach in (("touchStart", 50), ("touchMove", 75), ("touchMove", 100), ("touchEnd", None)):
        points = [] if reach is None else [{"x": 400 + side * reach, "y": 400, "id": side} for side in (-1, 1)]
        page.ask("Input.dispatchTouchEvent", type=kind, touchPoints=[{**p, "id": p["id"] + 1} for p in points])
    page.settle()
    assert page.value("look.view.scale") == pytest.approx(2 * scale, rel=0.05)


@pytest.mark.parametrize(
    ("browser", "theme"), [("chromium", "light"), ("chromium", "dark"), ("firefox", "light")], indirect=["browser"]
)
def test_faces_have_the_colours_of_the_legend(opened: Opened, theme: str) -> None:
    pytest.importorskip("matplotlib")
    part = partition_of("generic")
    page = opened(part, theme=theme)
    choose(page, "lines", "none")
    image = pixels(page)[..., :3]
    colours, checked = colours_of_legend(page, "", 4), 0
    for point in np.random.default_rng(2).uniform(-0.95, 0.95, (60, 2)):
        outputs = np.sort(part.network(point))
        if outputs[-1] - outputs[-2] < 0.3:  # near a class boundary
            continue
        x, y = on_screen(page, point)
        np.testing.assert_allclose(image[int(y), int(x)], colours[int(part.network(point).argmax())], atol=0.02)
        checked += 1
    assert checked > 20


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_of_classes_and_layers_can_be_told_apart(opened: Opened, theme: str) -> None:
    least = least_distance(rgb(OKABE_ITO))
    for outputs, shown in ((13, 13), (40, 16)):  # a page shows at most 16 outputs
        page = opened(regions.enumerate(random_network([2, 8, 8, 8, 8, 8, 8, outputs], 1), SQUARE), theme=theme)
        assert least_distance(np.array(colours_of_legend(page, ".stroke", 6))) > least
        classes = np.array(colours_of_legend(page, ":not(.stroke)", shown))
        assert least_distance(classes) > (least if outputs == 13 else 8)


def colours_of_legend(page: Page, kind: str, count: int) -> list[list[float]]:
    keys = f"[...document.querySelectorAll('#legend b{kind}')].map(b => getComputedStyle(b).backgroundColor)"
    words = page.value(keys)
    assert len(words) == count
    return [[int(each) / 255 for each in word[4:-1].split(",")] for word in words]


@pytest.mark.parametrize(
    ("browser", "case"),
    [("chromium", case) for case in ("generic", "one output", "deep", "many outputs", "affine", "maxima")]
    + [("firefox", "generic")],
    indirect=["browser"],
)
def test_every_face_is_drawn(case: str, opened: Opened) -> None:
    pytest.importorskip("matplotlib")
    page = opened(partition_of(case), width=600, height=400)
    faces = page.value("[...document.getElementById('faces').options].map(option => option.value)")
    assert faces[-1] == "none" and ("difference" in faces) == (case in ("generic", "many outputs", "affine"))
    for face in faces:
        choose(page, "faces", face)
        assert page.value("look.log.error") is None
        spread = np.ptp(pixels(page)[150:350, 50:250, :3].reshape(-1, 3), axis=0).max()
        assert spread > 0.02 or case == "affine", face
    choose(page, "faces", "value")
    choose(page, "fit", "on")
    choose(page, "borders", "on")
    choose(page, "level", "0.1")
    page.value("document.getElementById('tilt').click()")
    page.settle()
    assert page.value("look.view.tilt") > 0


def test_a_level_set_is_drawn_where_the_output_has_this_value(opened: Opened) -> None:
    pytest.importorskip("matplotlib")
    # The output is max(x, 0) + 2 max(y, 0). It is one half on x = 1/2 (y < 0), on y = 1/4 (x < 0), and
    # between them on x + 2 y = 1/2.
    network = regions.Network([(np.eye(2), [0.0, 0.0]), ([[1.0, 2.0]], [0.0])])
    page = opened(regions.enumerate(network, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])))
    for select, value in (("faces", "none"), ("lines", "none"), ("level", "0.5")):
        choose(page, select, value)
    image = pixels(page)[..., :3].sum(axis=2)
    for point, is_dark in (((0.5, -0.5), True), ((0.25, 0.125), True), ((-0.5, 0.25), True), ((-0.5, -0.5), False)):
        x, y = (round(each) for each in on_screen(page, point))
        assert (image[y - 1 : y + 2, x - 1 : x + 2].min() < 1.2) == is_dark, point
    choose(page, "level", "no number")
    assert page.value("look.state.level") is None
    assert page.value("document.getElementById('level').validationMessage")


def test_colours_fit_to_the_view(opened: Opened) -> None:
    part = partition_of("one output")
    page = opened(part)
    choose(page, "faces", "value")
    ends = "[...document.querySelectorAll('#legend .bar:first-child span')].map(s => s.textContent)"
    whole = page.value(ends)
    choose(page, "fit", "on")
    page.press("+")
    page.settle()
    page.wait(f"String({ends}) !== {','.join(whole)!r}")
    assert abs(float(page.value(ends)[2])) <= abs(float(whole[2]))


@pytest.mark.parametrize("case", ["generic", "one output", "plane", "segment", "line"])
def test_the_vector_picture_has_all_regions_and_borders(case: str, opened: Opened) -> None:
    part = partition_of(case)
    page = opened(part)
    if part.dimension == 2:
        choose(page, "faces", "class")
    svg = ElementTree.fromstring(page.value("look.vectors()"))
    space = "{http://www.w3.org/2000/svg}"
    if part.dimension == 1:
        assert len(svg.findall(f"{space}polyline")) >= 2
        return
    pieces = svg.findall(f"{space}polygon")
    assert len(pieces) > page.value("look.part.R")  # regions are cut where classes meet
    scale = page.value("look.view.scale")
    area = sum(_area(piece.get("points", "")) for piece in pieces) / scale**2
    assert area == pytest.approx(page.value("look.part.size.reduce((a, b) => a + b, 0)"), rel=1e-3)


def _area(points: str) -> float:
    x, y = np.array([pair.split(",") for pair in points.split()], dtype=float).T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def test_saved_files(opened: Opened, browser: Browser, tmp_path: Path) -> None:
    page = opened(partition_of("generic"), width=500, height=400)
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"))
    for button in ("png", "svg"):
        page.value(f"document.getElementById('{button}').click()")
        file, end = tmp_path / "saved" / f"regions.{button}", time.monotonic() + 30
        while not file.exists() and time.monotonic() < end:
            page.value("1")
    png = (tmp_path / "saved" / "regions.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n" and png[16:24] == (500).to_bytes(4, "big") + (400).to_bytes(4, "big")
    ElementTree.parse(tmp_path / "saved" / "regions.svg")


def test_what_is_chosen_is_seen_on_a_light_landscape_in_the_dark_theme(opened: Opened) -> None:
    pytest.importorskip("matplotlib")
    part = partition_of("one output")  # first drawn as a landscape, that is, as shaded relief
    page = opened(part, theme="dark")
    beside_the_panel = np.s_[60:, :470, :3]
    before = pixels(page)[beside_the_panel]
    choose(page, "search", "1:3")
    change = pixels(page)[beside_the_panel] - before
    assert (change.min(axis=2) < -0.5).sum() > 100 and (change.min(axis=2) > 0.1).sum() < 20
    page.move(*on_screen(page, part.interior_points[part.volumes.argmax()]))
    assert page.value("getComputedStyle(document.getElementById('hovered')).stroke") == "rgb(32, 36, 44)"
    choose(page, "faces", "none")
    assert page.value("getComputedStyle(document.getElementById('hovered')).stroke") == "rgb(232, 234, 240)"


def test_marks_on_a_line_cover_no_number(opened: Opened) -> None:
    """The number of the highest output is at the left end, where the first marked point is."""
    pytest.importorskip("matplotlib")
    page = opened(partition_of("segment"))
    places = (
        "[...document.querySelectorAll('#marks div')].map(each => each.getBoundingClientRect()).map(({x, y}) => [x, y])"
    )
    left, right = page.value(places)
    page.value("document.getElementById('marks').style.visibility = 'hidden'")
    image = pixels(page)[..., :3]
    assert np.ptp(image[120:400, :60], axis=(0, 1)).max() > 0.5  # numbers
    for x, y in (left, right):  # only the panel's shadow
        below = image[int(y) - 6 : int(y) + 7, int(x) - 6 : int(x) + 7]
        assert below.size and np.ptp(below, axis=(0, 1)).max() < 0.05


def test_a_label_beside_the_panel_is_to_the_left_of_its_point(opened: Opened) -> None:
    page = opened(partition_of("generic"), mark={"right": [0.99, 0.0]})
    label = page.value("document.querySelector('#marks figure').getBoundingClientRect().right")
    assert label <= page.value("document.getElementById('panel').offsetLeft")


def test_a_single_region_is_in_the_singular(opened: Opened) -> None:
    page = opened(partition_of("affine"), title="Three outputs")
    assert text(page, "#subtitle").startswith("1 region \u00b7 ")


def test_a_narrow_window_has_room_for_the_picture(opened: Opened) -> None:
    part = partition_of("generic")
    page = opened(part, width=400, height=700)
    top = page.value("document.querySelector('header').getBoundingClientRect().bottom")
    bottom = page.value("document.getElementById('panel').getBoundingClientRect().top")
    corners = [on_screen(page, point) for point in ([-1, -1], [1, 1])]
    assert all(0 <= x <= 400 and top - 1 <= y <= bottom + 1 for x, y in corners)
    page.click(*on_screen(page, part.interior_points[part.volumes.argmax()]))
    assert "region #" in text(page, "#fold")


def test_touches_name_what_is_there(opened: Opened) -> None:
    """A lifted finger leaves the picture, and its choice stays."""
    part = partition_of("generic")
    page = opened(part, width=390, height=844, mark={"right": [0.99, 0.0]})
    assert text(page, "#fold") == "Tap a region or an edge; open for choices"
    label = page.value("document.querySelector('#marks figure').getBoundingClientRect().right")
    assert label <= 390
    page.ask("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=1)

    def tap(point: Any) -> str:
        x, y = on_screen(page, point)
        page.ask("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        page.ask("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        time.sleep(0.2)
        return text(page, "#fold")

    ends = part.vertices[part.facet_vertices]
    edge = int(np.where(part.facet_kinks >= 0, np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1), 0).argmax())
    kink = int(part.facet_kinks[edge])
    layer, unit = int(part.network.kink_layers[kink]) + 1, int(part.network.kink_units[kink])
    chosen = tap(ends[edge].mean(axis=0))
    assert chosen.startswith(f"layer {layer}, neuron {unit}; region #") and ": class " in chosen
    assert page.value("look.state.pinned") in part.facet_regions[edge]
    region = int(part.volumes.argmax())
    assert f"region #{region}: class " in tap(part.interior_points[region])


def test_the_keys_are_listed_for_the_keyboard(opened: Opened) -> None:
    page = opened(partition_of("generic"))
    shown = "getComputedStyle(document.getElementById('hint')).display"
    assert page.value(shown) == "none"
    page.ask("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
    assert page.value("document.activeElement.id") == "stage" and page.value(shown) == "block"


HOSTILE = [
    "</script><script>globalThis.hit = 1</script>",
    '<img src=x onerror="globalThis.hit = 2">',
    '"><svg onload="globalThis.hit = 3">',
    "<!--<script> @arrays@ @script@ @title@ @style@ @header@ @policy@ $& \u2028\u202e",
]


@in_both
def test_hostile_names_run_no_script(opened: Opened) -> None:
    marks = {name: [0.1 * i, 0.2] for i, name in enumerate(HOSTILE)}
    page = opened(partition_of("generic"), title=" ".join(HOSTILE), classes=HOSTILE, mark=marks)
    page.click(*on_screen(page, [0.3, -0.3]))
    for face in ("difference", "value", "class"):
        choose(page, "faces", face)
    ElementTree.fromstring(page.value("look.vectors()"))
    assert page.value("document.title.replace(/\\s+/g, ' ')") == " ".join(" ".join(HOSTILE).split())
    assert page.value("document.scripts.length") == 2  # the arrays are removed once they are read
    assert page.value("document.images.length") == 0 and page.value("globalThis.hit ?? null") is None


@in_both
def test_the_policy_stops_what_is_injected(browser: Browser, opened: Opened) -> None:
    page = opened(partition_of("affine"))
    page.value(
        """(() => {
            const box = document.createElement("div"), script = document.createElement("script");
            globalThis.stopped = [];
            document.addEventListener("securitypolicyviolation", e => stopped.push(e.violatedDirective));
            box.innerHTML = "<img src=x onerror='globalThis.hit = 1'><img src='https://example.org/x.png'>";
            script.textContent = "globalThis.hit = 2";
            document.body.append(box, script);
            return new Promise(done => setTimeout(done, 300));
        })()"""
    )
    assert page.value("globalThis.hit ?? null") is None
    assert set(page.value("stopped")) == {"img-src", "script-src-attr", "script-src-elem"}
    assert page.requests() == []
    browser.events.clear()
