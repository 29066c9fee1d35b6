# SPDX-License-Identifier: MIT
"""Do the regions of a ResNet with twenty convolutions, written by torch, agree with torch?

For images of 3 x 32 x 32, as an exported program and as ONNX, on a part of a segment and on a small square: at an
interior point of every region the pattern agrees with torch's own pre-activations, values are torch's, and the affine
map is the one that autograd finds.
"""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import numpy as np
import pytest

import regions
from regions.domains import Domain

torch = pytest.importorskip("torch")
from exported_parts import prepared, residual_net  # noqa: E402

nn = torch.nn
SHAPE = (3, 32, 32)


@cache
def resnet() -> Any:
    return prepared(residual_net(3, (16, 32, 64))).double()


def written(kind: str) -> io.BytesIO:
    content, example = io.BytesIO(), torch.rand(1, *SHAPE, dtype=torch.float64)
    if kind == "pt2":
        torch.export.save(torch.export.export(resnet(), (example,)), content)
    else:
        torch.onnx.export(resnet(), (example,), content, dynamo=False, training=torch.onnx.TrainingMode.PRESERVE)
    content.seek(0)
    return content


def seen_by_torch(images: Any) -> tuple[np.ndarray, Any]:
    """Return whether torch has more than 0 before each ReLU, and the outputs."""
    found: list[Any] = []
    hooks = [
        module.register_forward_pre_hook(lambda _, given: found.append(given[0].flatten(1) > 0))
        for module in resnet().modules()
        if isinstance(module, nn.ReLU)
    ]
    outputs = resnet()(images)
    for hook in hooks:
        hook.remove()
    return torch.cat(found, dim=1).numpy(), outputs


def domains() -> list[Domain]:
    first, second, third = np.random.default_rng(2).standard_normal((3, int(np.prod(SHAPE))))
    across, along = second - first, third - first
    middle = (first + second + third) / 3
    return [
        regions.Segment(first, first + 0.0008 * across),
        regions.Rectangle(middle, 0.0003 * across, 0.0003 * along),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pt2", "onnx"])
def test_regions_match_torch(kind: str) -> None:
    assert sum(isinstance(module, nn.Conv2d) for module in resnet().modules()) >= 20
    network = regions.load(written(kind))
    assert network.input_shape == SHAPE and network.hidden > 188_000
    for domain in domains():
        part = regions.enumerate(network, domain)
        assert regions.count(network, domain) == len(part) > 3
        points = domain.to_input(part.interior_points)
        linear, constants = part.affine_maps(space="chart")
        for index, point in enumerate(points):
            given = torch.tensor(point.reshape(1, *SHAPE), requires_grad=True)
            bits, values = seen_by_torch(given)
            assert (bits[0] == part.patterns[index]).all()
            outputs = values[0].detach().numpy()
            largest = np.abs(outputs).max()
            assert np.abs(outputs - network(point)).max() <= 1e-10 * largest
            gradients = [torch.autograd.grad(each, given, retain_graph=True)[0] for each in values[0]]
            wanted = torch.stack(gradients).flatten(1).numpy() @ domain.directions.T
            assert np.abs(linear[index] - wanted).max() <= 1e-10 * np.abs(wanted).max()
            there = linear[index] @ part.interior_points[index] + constants[index]
            assert np.abs(there - outputs).max() <= 1e-10 * largest
