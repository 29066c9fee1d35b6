# SPDX-License-Identifier: MIT
"""Are images that are resized linearly between pixels read like torch and onnxruntime compute them?"""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest

from regions.errors import UnsupportedLayerError
from regions.read import load

SHAPES = {"linear": (2, 5), "bilinear": (2, 4, 3), "trilinear": (1, 2, 3, 2)}
OPERATORS = {"linear": "upsample_linear1d", "bilinear": "upsample_bilinear2d", "trilinear": "upsample_trilinear3d"}


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("mode", SHAPES)
def test_torch(mode: str, corners: bool) -> None:
    torch = pytest.importorskip("torch")
    from exported_parts import Applied, exported

    shape = SHAPES[mode]
    counts: Any
    for counts in ([7, 5, 3][: len(shape) - 1], [3, 1, 2][: len(shape) - 1], 1.7, 0.6):
        options = {"scale_factor": counts} if isinstance(counts, float) else {"size": counts}

        def run(_: Any, x: Any, options: Any = options) -> Any:
            return torch.nn.functional.interpolate(x.relu(), mode=mode, align_corners=corners, **options)

        content = exported(Applied(run), *shape)
        assert OPERATORS[mode].encode() in content
        net = load(io.BytesIO(content))
        points = torch.randn(4, *shape, dtype=torch.float64)
        wanted = run(None, points).reshape(4, -1).numpy()
        np.testing.assert_allclose(net(points.reshape(4, -1).numpy()), wanted, rtol=0, atol=1e-14)


def test_a_length_that_its_factor_does_not_change() -> None:
    torch = pytest.importorskip("torch")
    from exported_parts import Applied

    module = Applied(lambda _, x: torch.nn.functional.interpolate(x, scale_factor=1.2, mode="linear"))
    with pytest.raises(UnsupportedLayerError, match="keeps the length 4 in spite of its factor 1.2"):
        load(module, input_shape=(2, 4))


@pytest.mark.parametrize("rule", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("sizes", [[1, 2, 7, 5], [1, 2, 3, 1], [1, 2, 4, 6]])
def test_onnx(rule: str, sizes: list[int]) -> None:
    pytest.importorskip("torch")  # the extra that has it also has onnxruntime
    pytest.importorskip("onnxruntime")
    from onnx_parts import file, model, node
    from operators_of_onnx import evaluated

    nodes = [
        node("Relu", ["x"], "r"),
        node("Resize", ["r", "", "", "s"], "y", mode="linear", coordinate_transformation_mode=rule),
    ]
    given = model(nodes, {"s": np.array(sizes)}, shape=[1, 2, 4, 3], opset=17)
    points = np.random.default_rng(3).standard_normal((4, 2, 4, 3)).astype(np.float32)
    wanted = evaluated(given.SerializeToString(), points[:, None])
    assert wanted is not None
    np.testing.assert_allclose(load(file(given))(points), wanted, rtol=0, atol=1e-6)
