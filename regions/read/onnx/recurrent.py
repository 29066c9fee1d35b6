# SPDX-License-Identifier: MIT
"""Which network is ONNX's ``RNN``?

Source: the documentation of its versions 7, 14 and 22.
"""

from __future__ import annotations

from typing import Any

from regions.errors import UnsupportedLayerError
from regions.ground.text.printable import printable
from regions.networks.named_activations import is_smooth
from regions.read.graphs.call import Call
from regions.read.graphs.operators.recurrent import Recurrence, part, require_few, stacked

__all__ = ["recurrent"]

_BACKWARDS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}


def recurrent(call: Call) -> list[Any]:
    """Return the states [T, directions, N, H] at all steps, and the last ones [directions, N, H]."""
    at, x = call.at, call.tensor()
    if call.given("layout", 0):
        raise UnsupportedLayerError(f"{at.label} takes batches of sequences (layout 1), which onnxruntime refuses, too")
    backwards = _BACKWARDS.get(call.given("direction", "forward"))
    if backwards is None:
        raise at.refused(f"has a direction {printable(call.given('direction'))!r} that does not exist")
    _require_relu(call)
    require_few(call, x, len(backwards))
    if call.given("lengths", None) is not None and set(call.integers("lengths")) != {x.shape[0]}:
        raise UnsupportedLayerError(f"{at.label} ends sequences before their last step, which is not handled")
    weights, repeated, biases, states = call.constant("w"), call.constant("r"), call.array("b"), call.given("hx", None)
    width = call.integer("hidden_size", repeated.shape[-1] if repeated.ndim else 0)
    shapes = [(len(backwards), width, x.shape[2]), (len(backwards), width, width), (len(backwards), 2 * width)]
    for array, shape in zip((weights, repeated, biases), shapes, strict=True):
        if array is not None and array.shape != shape:
            raise at.refused(f"has weights of shape {list(array.shape)} instead of {list(shape)}")
    sides, ends = [], []
    for i, back in enumerate(backwards):
        bias, other = (None, None) if biases is None else (biases[i, :width], biases[i, width:])
        state = None if states is None else part(call, states, i)
        made = Recurrence(weights[i], repeated[i], bias, other, state, back).through(call, x)
        ends.append(made[0 if back else -1])
        sides.append(stacked(call, made))
    return [stacked(call, sides, 1), stacked(call, ends)]


def _require_relu(call: Call) -> None:
    """Refuse other activations than ReLU; the default is tanh."""
    words = [each.decode("utf-8", "replace") for each in call.given("activations", [])] or ["Tanh"]
    other = next((word for word in words if word != "Relu"), None)
    if other is not None:
        why = "is not piecewise linear" if is_smooth(other) else "is not handled"
        raise UnsupportedLayerError(f"{call.at.label}: its activation {printable(other)!r} {why}")
    if "clip" in call.arguments:
        raise UnsupportedLayerError(f"{call.at.label} clips what enters its activation, which is not handled")
