# SPDX-License-Identifier: MIT
"""Are images equivalent to their flattened numbers, wherever points are accepted?"""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import regions
from regions.cli.commands import regions_group
from regions.errors import ShapeMismatchError
from regions.measures import Ball, Hyperrectangle, distance_to_boundary
from regions.networks.graph import Graph, Node, Read
from regions.networks.named_activations import identity, relu
from regions.networks.network import Network
from regions.networks.patches import Patches
from regions.networks.units import Units

SHAPE = (2, 3, 4)
RNG = np.random.default_rng(5)
IMAGES = RNG.integers(-8, 9, (3, *SHAPE)) / 4.0


def convolutional() -> Network:
    """Return a network for images of the shape."""
    operator = Patches.convolution(RNG.integers(-3, 4, (2, 2, 2, 2)) / 2.0, SHAPE, [1, 1], [(0, 0)] * 2, [1, 1])
    units = operator.outputs
    hidden = Node(np.full(units, 0.25), (Read(operator, -1),), Units(units, relu()), slice(0, units))
    last = Node(
        np.zeros(units), (Read(Patches.scale(np.ones(units)), 0),), Units(units, identity()), slice(units, units)
    )
    return Network.from_graph(Graph(24, [hidden, last]), SHAPE)


NET = convolutional()
# A circle's and a sphere's directions need not be round.
MADE: dict[str, Any] = {
    "segment": lambda a, b, c: regions.Segment(a, b),
    "line": lambda a, b, c: regions.Line(a, b),
    "ray": lambda a, b, c: regions.Ray(a, b),
    "plane": regions.Plane,
    "polygon": lambda *corners: regions.Polygon(np.stack(corners)),
    "polygon in a chart": lambda a, b, c: regions.Polygon.in_chart(a, [b, c], [[0, 0], [1, 0], [0, 1]]),
    "rectangle": regions.Rectangle,
    "square": regions.circumsquare,
    "domain": lambda a, b, c: regions.Domain(a, [b, c], [[1, 0, 0], [1, 1, 0], [1, 0, 1]]),
    "polyline": lambda *corners: regions.Polyline(np.stack(corners)),
    "arc": lambda a, b, c: regions.Arc(a, b),
    "circle": regions.Circle,
    "great circle": lambda a, b, c: regions.GreatCircle(a, -a[..., ::-1]),
    "ball": lambda a, b, c: Ball(a, 2.0),
    "box": lambda a, b, c: Hyperrectangle(a, a + abs(b) + 1),
}


@pytest.mark.parametrize("name", list(MADE))
def test_images_are_their_numbers_in_a_row(name: str) -> None:
    made = MADE[name](*IMAGES)
    flat = MADE[name](*(IMAGES[:, :, :, ::-1] if name == "great circle" else IMAGES).reshape(3, -1))
    assert made.input_shape == SHAPE and flat.input_shape == (24,)
    if name in ("ball", "box"):
        assert all(
            (getattr(made, field) == getattr(flat, field)).all() for field in ("center", "lower") if field in vars(made)
        )
    elif name != "great circle":
        assert made == flat and pickle.loads(pickle.dumps(made)).input_shape == SHAPE
        assert regions.count(NET, made) == regions.count(NET, flat)
    elsewhere = MADE[name](*IMAGES.transpose(0, 2, 3, 1))
    if isinstance(elsewhere, (Ball, Hyperrectangle)):
        with pytest.raises(ShapeMismatchError, match=r"images \[3, 4, 2\], the network takes \[2, 3, 4\]"):
            regions.measures.crofton_density(NET, elsewhere, lines=2, rng=0)
    else:
        with pytest.raises(ShapeMismatchError, match=r"images \[3, 4, 2\], the network takes \[2, 3, 4\]"):
            regions.count(NET, elsewhere)


def test_points_that_are_asked_about_may_be_images() -> None:
    part = regions.enumerate(NET, regions.circumsquare(*IMAGES))
    images = part.domain.to_input(part.interior_points).reshape(-1, *SHAPE)
    assert part.locate(images).tolist() == list(range(len(part)))
    assert (part.domain.to_chart(images) == part.domain.to_chart(images.reshape(-1, 24))).all()
    assert (
        distance_to_boundary(NET, IMAGES).distances == distance_to_boundary(NET, IMAGES.reshape(3, 24)).distances
    ).all()
    with pytest.raises(ShapeMismatchError, match=r"shape \[.., 24\], got \[3, 3, 4, 2\]"):
        part.locate(IMAGES.transpose(0, 2, 3, 1))


def test_images_of_different_shapes_are_not_a_domain() -> None:
    with pytest.raises(ShapeMismatchError, match=r"Segment: all images .* a has \[2, 3, 4\], b has \[3, 4, 2\]"):
        regions.Segment(IMAGES[0], IMAGES[1].transpose(1, 2, 0))


def test_images_in_files_are_points_on_the_command_line(tmp_path: Path) -> None:
    np.save(tmp_path / "images.npy", IMAGES)
    weights = {"W0": RNG.integers(-3, 4, (5, 24)) / 2.0, "b0": np.ones(5), "W1": np.ones((1, 5)), "b1": np.zeros(1)}
    np.savez(tmp_path / "model.npz", **weights)
    words = [
        "count",
        "--segment",
        f"{tmp_path}/images.npy:0:2",
        f"{tmp_path}/model.npz",
        "--activation",
        "relu",
        "--json",
    ]
    found = CliRunner().invoke(regions_group, words)
    assert found.exit_code == 0, found.output
    expected = regions.count(regions.load(weights, activation="relu"), regions.Segment(IMAGES[0], IMAGES[1]))
    assert json.loads(found.stdout)["regions"] == expected
