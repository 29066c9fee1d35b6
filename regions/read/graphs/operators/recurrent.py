# SPDX-License-Identifier: MIT
"""Which network is a recurrent layer of ReLUs, for sequences of a fixed length?

Its steps ``h_t = relu(W x_t + b + R h_(t-1) + c)`` are written out. Layers with tanh, and those with gates (LSTM, GRU),
are not piecewise linear.
Source: the documentation of ``torch.nn.RNN``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from regions.errors import UnsupportedLayerError
from regions.networks.named_activations import relu
from regions.read.graphs.call import Call
from regions.read.graphs.moving import moved
from regions.read.graphs.operations import Tensor
from regions.read.graphs.operators import jumping, linear, parts

__all__ = ["Recurrence", "cell", "part", "require_few", "rnn", "stacked"]

# Writing out a step takes a millisecond.
MAX_STEPS = 2000


@dataclass(frozen=True)
class Recurrence:
    """One direction of one layer.

    Attributes
    ----------
    entering, returning : array
        W [H, n] and R [H, H].
    bias, returning_bias : array or None
        b and c, both [H].
    state : Tensor, array or None
        The state [N, H] before the first step; None for zeros.
    backwards : bool
    """

    entering: Any
    returning: Any
    bias: Any = None
    returning_bias: Any = None
    state: Any = None
    backwards: bool = False

    def through(self, call: Call, x: Any) -> list[Tensor]:
        """Return the states [N, H] at the steps of a sequence [T, N, n], in the order of its steps."""
        inputs, state, made = self._inputs(call, x), self.state, []
        for t in range(x.shape[0])[:: -1 if self.backwards else 1]:
            state = self.step(call, part(call, inputs, t), state)
            made.append(state)
        return made[::-1] if self.backwards else made

    def once(self, call: Call, x: Any) -> Tensor:
        """Return the state after one step."""
        return self.step(call, self._inputs(call, x), self.state)

    def step(self, call: Call, inputs: Any, state: Any) -> Tensor:
        """Return ``relu(inputs + R state + c)``."""
        if isinstance(state, Tensor):
            before = linear.linear(_with(call, self=state, weight=self.returning, bias=self.returning_bias))
            inputs = jumping.add(_with(call, self=inputs, other=before))
        else:
            if state is not None and state.any():
                inputs = call.at.scaled(inputs, 1.0, state @ self.returning.T, exact=False)
            if self.returning_bias is not None:
                inputs = jumping.add(_with(call, self=inputs, other=self.returning_bias))
        return call.at.activated(inputs, relu())

    def _inputs(self, call: Call, x: Any) -> Tensor:
        return linear.linear(_with(call, self=x, weight=self.entering, bias=self.bias))


def cell(call: Call) -> Tensor:
    """Return one step of ``torch.nn.RNNCell``."""
    given = [call.given(name, None) for name in ("w_ih", "w_hh", "b_ih", "b_hh", "hx")]
    return Recurrence(*given).once(call, call.given("self"))


def rnn(call: Call) -> list[Any]:
    """Return the results of ``torch.nn.RNN``: the states of the last layer at all steps, and all last states."""
    x, states, given = call.given("self"), call.given("hx"), call.given("params")
    each, ways = 4 if call.flag("has_biases") else 2, 2 if call.flag("bidirectional") else 1
    runs = call.integer("num_layers") * ways
    call.ignore("dropout", "train")
    if not isinstance(given, list) or len(given) != each * runs or states.shape[:1] != (runs,):
        raise call.at.refused(f"does not have {each} weights and a state for each of {runs} recurrences")
    require_few(call, x, runs)

    def turned(value: Any) -> Any:
        return moved(call.at, value, lambda array: array.swapaxes(0, 1)) if call.flag("batch_first") else value

    x, ends = turned(x), []
    for layer in range(0, runs, ways):
        sides = []
        for run in range(layer, layer + ways):
            w, r, b, c = [*given[each * run : each * (run + 1)], None, None][:4]
            back = run > layer
            made = Recurrence(w, r, b, c, part(call, states, run), back).through(call, x)
            ends.append(made[0 if back else -1])
            sides.append(stacked(call, made))
        x = sides[0] if ways == 1 else parts.join(_with(call, tensors=sides, dim=2))
    return [turned(x), stacked(call, ends)]


def part(call: Call, x: Any, place: int) -> Any:
    """Return the part of a tensor or constant at a place of its first axis."""
    return moved(call.at, x, lambda array: array[place])


def stacked(call: Call, tensors: Sequence[Any], axis: int = 0) -> Any:
    """Join tensors along a new axis."""
    return parts.join(_with(call, tensors=list(tensors), dim=axis), new_axis=True)


def require_few(call: Call, x: Any, runs: int) -> None:
    """Check a sequence [T, N, n] or [N, T, n] that so many recurrences go through."""
    if len(x.shape) != 3 or 0 in x.shape:
        raise call.at.refused(f"takes a sequence of batches, and gets shape {list(x.shape)}")
    if max(x.shape[:2]) * runs > MAX_STEPS:
        raise UnsupportedLayerError(
            f"{call.at.label} has {max(x.shape[:2]) * runs} steps, and at most {MAX_STEPS} are written out; export the "
            "model for a shorter sequence"
        )


def _with(call: Call, **arguments: Any) -> Call:
    return replace(call, arguments=arguments, names={}, asked=set())
