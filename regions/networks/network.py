# SPDX-License-Identifier: MIT
"""What is a network?

A chain of dense layers, each an affine map followed by a piecewise-linear activation; the last layer has
none. Everything is checked and copied once, on the way in: float64, finite, chained, read-only.
A *kink* is one breakpoint of one hidden unit: one bit of the activation pattern, ordered layer by layer, unit
by unit, breakpoint ascending. Bit k is 1 iff the unit's pre-activation is strictly above the breakpoint. A
ReLU unit has one kink.
Evaluation here is ordinary floating point and decides nothing; exact decisions are made by the core. What overflows
is refused (`NonFiniteError`), for one layer later it would be no number at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby, islice
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from regions.arithmetic.arguments import list_of, word
from regions.arithmetic.arrays import as_numpy, points_float64, read_only, require_finite
from regions.arithmetic.types import Bits, Floats, Integers
from regions.errors import EmptyLayerError, NetworkError, NonFiniteError, ShapeMismatchError
from regions.networks.graph import Graph
from regions.networks.layer import Layer
from regions.networks.named_activations import Activation, activation_per_layer, identity
from regions.networks.rounded import affine_maps, at_points
from regions.printable import printable
from regions.tables import html_table

__all__ = ["LAYER_ARRAYS", "Layer", "Network", "architecture", "layer_facts", "require_network", "stored_arrays"]

LAYER_ARRAYS = ("weights", "biases", "breakpoints", "slopes", "intercepts")


class Network:
    """A dense piecewise-linear network, immutable.

    Parameters
    ----------
    layers : iterable of (W, b)
        ``W`` [n_out, n_in] and ``b`` [n_out] (None means zeros) of each layer. The last one is the linear
        output.
    activation : str, Activation, or a sequence of these
        One for all hidden layers, or one for each; names as in `regions.networks.named_activations.parse_activation`.

    Attributes
    ----------
    layers : tuple of Layer
        The last one is the linear output: its activation is the identity.
    notes : tuple of str
        What a reader did that the user should know, such as folding a batch norm.

    Raises
    ------
    EmptyLayerError, ShapeMismatchError, NonFiniteError, NetworkError
        The message names the layer (counted from 0) and the index.

    Examples
    --------
    >>> net = Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> net
    Network(1-2-1, relu, 2 hidden neurons)
    >>> net([[-3.0], [2.0]])
    array([[3.],
           [2.]])
    >>> net.pattern([2.0])
    array([ True, False])
    """

    layers: tuple[Layer, ...]
    notes: tuple[str, ...]

    def __init__(
        self,
        layers: Iterable[tuple[ArrayLike, ArrayLike | None]],
        activation: str | Activation | Sequence[str | Activation] = "relu",
    ) -> None:
        pairs = _pairs(layers)
        activations = [*activation_per_layer(activation, len(pairs) - 1), identity()]
        self._set([_layer(*pairs[i], activations[i], f"layer {i}") for i in range(len(pairs))], ())

    @classmethod
    def from_layers(cls, layers: Iterable[Layer], notes: Iterable[str] = ()) -> Network:
        """Make a network of ready layers; the last one must have the identity as its activation."""
        network = object.__new__(cls)
        given = list_of(notes, "notes", "a list of str")
        network._set(
            list_of(layers, "layers", "a list of regions.Layer"),
            tuple(word(note, f"notes[{i}]") for i, note in enumerate(given)),
        )
        return network

    def _set(self, layers: list[Layer], notes: tuple[str, ...]) -> None:
        if not layers:
            raise EmptyLayerError("a network needs at least one layer (W, b)")
        for i, layer in enumerate(layers):
            if not isinstance(layer, Layer):
                raise TypeError(f"layer {i} must be a Layer, got {type(layer).__name__}")
        for i in range(len(layers) - 1):
            given, wanted = layers[i].weights.shape, layers[i + 1].weights.shape
            if given[0] != wanted[1]:
                raise ShapeMismatchError(
                    f"layer {i} gives {given[0]} values but layer {i + 1} takes {wanted[1]}: weights are out "
                    f"x in, here {list(given)} then {list(wanted)}"
                )
        if layers[-1].activation != identity():
            raise NetworkError(
                f"the last layer must be linear, it has activation {printable(layers[-1].activation.name)!r}: append a "
                "layer with identity weights and no activation"
            )
        self.__dict__.update(layers=tuple(layers), notes=notes)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Network is immutable; make a new one instead of setting {name!r}")

    @property
    def n_in(self) -> int:
        """Dimension of the input."""
        return int(self.layers[0].weights.shape[1])

    @property
    def n_out(self) -> int:
        """Dimension of the output."""
        return len(self.layers[-1].biases)

    @property
    def widths(self) -> tuple[int, ...]:
        """Units in each hidden layer."""
        return tuple(len(layer.biases) for layer in self.layers[:-1])

    @property
    def activations(self) -> tuple[Activation, ...]:
        """Of each hidden layer."""
        return tuple(layer.activation for layer in self.layers[:-1])

    @property
    def hidden(self) -> int:
        """Number of hidden neurons, ``sum(widths)``."""
        return sum(self.widths)

    @property
    def kinks(self) -> int:
        """Number of pattern bits: breakpoints, summed over hidden units. For ReLU the same as ``hidden``."""
        return self.graph.kinks

    @cached_property
    def graph(self) -> Graph:
        """The same network as nodes that read each other; what computes with networks reads this."""
        return Graph.chain(self.layers)

    @cached_property
    def kink_layers(self) -> Integers:
        """Hidden layer (from 0) of each pattern bit, int64 [kinks]."""
        return read_only(self.graph.kink_nodes)

    @cached_property
    def kink_units(self) -> Integers:
        """Unit, within its layer, of each pattern bit, int64 [kinks]."""
        return read_only(self.graph.kink_units)

    @cached_property
    def kink_values(self) -> Floats:
        """Breakpoint of each pattern bit, float64 [kinks]."""
        return read_only(self.graph.kink_values)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of shapes, weights and activations, as 64 hexadecimal digits; equal networks share it."""
        digest = hashlib.sha256()
        for array in stored_arrays(self).values():
            digest.update(repr(array.shape).encode())
            digest.update((array + 0.0).astype("<f8", copy=False).data)  # + 0.0: a negative zero is the same number
        return digest.hexdigest()

    def __call__(self, x: ArrayLike) -> Floats:
        """Evaluate the network at points x [.., n_in]; returns float64 [.., n_out]."""
        for values in self._at(x):
            outputs = values
        return outputs

    def preactivations(self, x: ArrayLike) -> list[Floats]:
        """Pre-activations of the hidden layers at points x [.., n_in]: a list of float64 [.., n_l]."""
        return list(islice(self._at(x), len(self.widths)))

    def _at(self, x: ArrayLike) -> Iterator[Floats]:
        """What each layer has before its activation; whatever overflows is refused."""
        points = points_float64(x, self.n_in)
        found = at_points(self.graph, points.reshape(-1, self.n_in))
        for index in range(len(self.layers)):
            with np.errstate(over="ignore", invalid="ignore"):
                values = next(found)
            yield require_finite(values.reshape(*points.shape[:-1], values.shape[1]), f"a value of layer {index}")

    def pattern(self, x: ArrayLike) -> Bits:
        """Activation pattern at points x [.., n_in]: bool [.., kinks]; rounding may flip bits near a kink."""
        preactivations = self.preactivations(x)
        above = [node.units.above(h) for node, h in zip(self.graph.hidden, preactivations, strict=True)]
        return np.concatenate([np.zeros((*np.shape(x)[:-1], 0), dtype=bool), *above], axis=-1)

    def gradient(self, x: ArrayLike) -> Floats:
        """Jacobian at points x [.., n_in]: float64 [.., n_out, n_in]; at a kink, of its inactive side."""
        bits = self.pattern(x)
        *shape, _ = bits.shape
        packed = np.packbits(bits.reshape(prod(shape), self.kinks), axis=1, bitorder="little")
        result, _ = affine_maps(self.graph, None, packed)
        require_finite(result.reshape(*shape, self.n_out * self.n_in), "the gradient")
        return result.reshape(*shape, self.n_out, self.n_in)

    def affine_map(self, pattern: ArrayLike) -> tuple[Floats, Floats]:
        """Affine map of the network where it has the given pattern: ``net(x) = A @ x + c`` there.

        Parameters
        ----------
        pattern : bool [kinks] or uint8 [ceil(kinks / 8)]
            One pattern, as bits or packed with ``np.packbits(bits, bitorder="little")``.

        Returns
        -------
        A : float64 [n_out, n_in]
        c : float64 [n_out]

        Raises
        ------
        ShapeMismatchError
            Another shape or dtype.
        ValueError
            Bits that no input can have: above a breakpoint but not above a smaller one of the same unit.
        NonFiniteError
            A map with entries beyond the largest double.
        """
        bits = self._bits(pattern)
        for node, pieces in self.graph.pieces(bits):
            if (node.units.bits_of(pieces) != bits[node.kinks]).any():
                raise ValueError("this pattern has a unit above a breakpoint but not above a smaller one of its own")
        (a,), (c,) = affine_maps(self.graph, None, np.packbits(bits[np.newaxis], axis=1, bitorder="little"))
        if not (np.isfinite(a).all() and np.isfinite(c).all()):
            raise NonFiniteError("the affine map of this pattern is beyond the largest double")
        return a, c

    def _bits(self, pattern: ArrayLike) -> Bits:
        given = as_numpy(pattern, "pattern")
        if given.dtype == np.bool_ and given.shape == (self.kinks,):
            return given
        if given.dtype == np.uint8 and given.shape == (-(-self.kinks // 8),):
            return np.unpackbits(given, count=self.kinks, bitorder="little").astype(bool)
        raise ShapeMismatchError(
            f"a pattern must be bool [{self.kinks}] or packed uint8 [{-(-self.kinks // 8)}], got "
            f"{printable(given.dtype)} {list(given.shape)}"
        )

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Network) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _repr_html_(self) -> str:
        *hidden, last = layer_facts(self)
        rows = [(index, *facts[:3]) for index, facts in enumerate([*hidden, last._replace(activation="none")])]
        caption = "; ".join([repr(self), *self.notes])
        return html_table(caption, ("layer", "inputs", "outputs", "activation"), rows)

    def __repr__(self) -> str:
        neurons = f"{self.hidden} hidden neuron{'' if self.hidden == 1 else 's'}"
        kinks = "" if self.kinks == self.hidden else f", {self.kinks} kinks"
        sizes = "-".join(in_runs((self.n_in, *self.widths, self.n_out)))
        return f"Network({sizes}, {_activation_names(self)}, {neurons}{kinks})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_layers, (self.layers, self.notes)


class LayerFacts(NamedTuple):
    """What a table says of a layer."""

    inputs: int
    units: int
    activation: str
    kinks: int


def layer_facts(network: Network) -> list[LayerFacts]:
    """What there is to say of each layer, the output last."""
    nodes = ((node.terms - 1, node.units) for node in network.graph.nodes)
    return [LayerFacts(inputs, units.count, units.activation.name, units.kinks) for inputs, units in nodes]


def stored_arrays(network: Network) -> dict[str, Floats]:
    """All numbers that make a network, layer by layer, under the names that they have in files."""
    return {
        f"layer_{index}_{name}": getattr(layer if name in ("weights", "biases") else layer.activation, name)
        for index, layer in enumerate(network.layers)
        for name in LAYER_ARRAYS
    }


def architecture(network: Network) -> str:
    """Sizes and activations of a network in a few words, for instance ``2-16-16-1 relu``."""
    sizes = "-".join([str(network.n_in), *in_runs(network.widths), str(network.n_out)])
    return f"{sizes} {printable(_activation_names(network))}"


def _activation_names(network: Network) -> str:
    return " + ".join(dict.fromkeys(activation.name for activation in network.activations)) or "affine"


def in_runs(sizes: Iterable[int]) -> list[str]:
    """Equal sizes one by one up to four; beyond that a count keeps the line short."""
    runs = [(size, len(list(group))) for size, group in groupby(sizes)]
    return ["-".join([str(size)] * length) if length <= 4 else f"{size}x{length}" for size, length in runs]


def _layer(weights: ArrayLike, biases: ArrayLike | None, activation: Activation, name: str) -> Layer:
    """Checked and copied by the layer, once: a large matrix takes longer to copy than to multiply with."""
    w = as_numpy(weights, f"{name}: weights")
    b = np.zeros(w.shape[:1]) if biases is None else biases
    return Layer(w, b, activation, name)  # type: ignore[arg-type]


def _pairs(layers: Iterable[tuple[ArrayLike, ArrayLike | None]]) -> list[tuple[ArrayLike, ArrayLike | None]]:
    pairs = []
    for i, layer in enumerate(list_of(layers, "layers", "a list of pairs (W, b)")):
        if not isinstance(layer, (tuple, list)) or len(layer) != 2:
            raise NetworkError(f"layer {i} must be a pair (W, b), got {type(layer).__name__}")
        pairs.append((layer[0], layer[1]))
    if not pairs:
        raise EmptyLayerError("a network needs at least one layer (W, b)")
    return pairs


def require_network(given: Any) -> Network:
    """Refuse what is not a network; returns what was given."""
    if not isinstance(given, Network):
        raise TypeError(
            f"expected a regions.Network, got {type(given).__name__}: make one with regions.load(...) "
            "or regions.Network([(W0, b0), ...])"
        )
    return given
