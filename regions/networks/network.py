# SPDX-License-Identifier: MIT
"""What is a network?

A graph of nodes. Each node is an affine map of earlier nodes, followed by a piecewise-linear activation or by maxima;
the last node has neither.
Most networks are chains of dense layers; these have `layers`. The constructor checks and copies everything once:
float64, finite, shapes that fit, read-only.
A *kink* is one breakpoint of one hidden unit, or a pair of branches of a maximum (`regions/networks/maxima.py`). It is
one bit of the activation pattern, ordered layer by layer, unit by unit, breakpoint ascending. Bit k is 1 iff the unit's
pre-activation is strictly above the breakpoint, or iff the later branch is the argmax. A ReLU unit has one kink.
Evaluation here is ordinary floating point and decides nothing; the core makes exact decisions. Overflow is refused
(`NonFiniteError`), because one layer later it would become NaN.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from math import prod
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from regions import core
from regions.errors import NetworkError, NonFiniteError, ShapeMismatchError
from regions.ground.arithmetic.arguments import integer, integers, list_of, tuple_of, word
from regions.ground.arithmetic.arrays import as_numpy, points_float64, read_only, require_finite
from regions.ground.arithmetic.thread_settings import require_exact_arithmetic
from regions.ground.arithmetic.types import Bits, Floats, Integers
from regions.ground.text.printable import printable
from regions.ground.text.tables import html_table
from regions.networks.described import activation_names, in_runs, layer_facts
from regions.networks.graph import Graph, require_sound
from regions.networks.layer import Layer, layer_of, pairs_of, require_fitting
from regions.networks.lowering import lowered, lowered_chain
from regions.networks.maxima import Maxima
from regions.networks.named_activations import Activation, activation_per_layer, identity
from regions.networks.parts import ending, number_of, with_inputs_apart, with_outputs
from regions.networks.rounded import affine_maps, at_points, outputs_at_points, patterns_at_points

__all__ = ["LAYER_ARRAYS", "Layer", "Network", "require_network", "stored_arrays", "with_graph"]

# The methods of scikit-learn, torch and Keras that evaluate a model.
CALLED_ELSEWHERE = {"predict", "predict_proba", "decision_function", "forward", "run"}
NO_NAMES: Mapping[str, slice] = MappingProxyType({})
LAYER_ARRAYS = ("weights", "biases", "breakpoints", "slopes", "intercepts")


class Network:
    """A piecewise-linear network, immutable.

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
        The layers of a chain of dense layers. The last one is the linear output: its activation is the identity.
    graph : Graph
        The same, or any other network, as nodes that read each other.
    n_in : int
        Dimension of the input.
    input_shape : tuple of int
        Arrangement of the inputs, for instance channels, rows and columns of an image; ``(n_in,)`` if not given.
    input_names : dict of str to slice
        Position of each named input of a file in the input vector; empty if inputs have no names.
    notes : tuple of str
        Notes by the reader of a file that the user should know, such as a folded batch norm.

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

    n_in: int
    input_shape: tuple[int, ...]
    input_names: Mapping[str, slice]
    notes: tuple[str, ...]

    def __init__(
        self,
        layers: Iterable[tuple[ArrayLike, ArrayLike | None]],
        activation: str | Activation | Sequence[str | Activation] = "relu",
    ) -> None:
        pairs = pairs_of(layers)
        activations = [*activation_per_layer(activation, len(pairs) - 1), identity()]
        self._set([layer_of(*pairs[i], activations[i], f"layer {i}") for i in range(len(pairs))], ())

    @classmethod
    def from_layers(cls, layers: Iterable[Layer], notes: Iterable[str] = ()) -> Network:
        """Make a network from layers; the last one must have the identity as its activation."""
        network = object.__new__(cls)
        network._set(list_of(layers, "layers", "a list of regions.Layer"), _notes(notes))
        return network

    @classmethod
    def from_graph(
        cls,
        graph: Graph,
        input_shape: Sequence[int] | None = None,
        notes: Iterable[str] = (),
        input_names: Mapping[str, slice] | None = None,
    ) -> Network:
        """Make a network from a graph whose last node has the identity as its activation.

        If a node reads the inputs and something else, a node that passes the inputs on is inserted.

        Parameters
        ----------
        graph : Graph
        input_shape : sequence of int, optional
            Arrangement of the inputs; ``(n_in,)`` if left out.
        notes : iterable of str
        input_names : dict of str to slice, optional
            Position of each named input.

        Raises
        ------
        NonFiniteError, ShapeMismatchError, NetworkError
            The message names the node.

        Examples
        --------
        >>> from regions.networks.named_activations import identity, relu
        >>> from regions.networks.graph import Node, Read, Units
        >>> from regions.networks.patches import Patches
        >>> window = Patches.convolution(np.ones((1, 1, 2)), (1, 3), [1], [(0, 0)], [1])
        >>> hidden = Node(np.zeros(2), (Read(window, -1),), Units(2, relu()), slice(0, 2))
        >>> skip = Patches.selection(3, np.array([0, 1]))
        >>> reads = Read(Patches.scale(np.ones(2)), 0), Read(skip, -1)
        >>> net = Network.from_graph(Graph(3, [hidden, Node(np.zeros(2), reads, Units(2, identity()), slice(2, 2))]))
        >>> net([1.0, 2.0, -3.0])
        array([4., 2.])
        """
        if not isinstance(graph, Graph):
            raise TypeError(f"expected a Graph, got {type(graph).__name__}")
        require_sound(graph)
        graph = with_inputs_apart(graph)
        shape = (graph.n_in,) if input_shape is None else integers(input_shape, "input_shape")
        if prod(shape) != graph.n_in:
            raise ShapeMismatchError(
                f"input_shape {list(shape)} has {prod(shape)} elements, the graph takes {graph.n_in}"
            )
        network, layers = object.__new__(cls), graph.layers()
        if layers is not None:
            network._set(layers, _notes(notes))
        else:
            network.__dict__.update(graph=graph, n_in=graph.n_in, notes=_notes(notes))
        network.__dict__.update(input_shape=shape, input_names=MappingProxyType(dict(input_names or {})))
        return network

    def _set(self, layers: list[Layer], notes: tuple[str, ...]) -> None:
        require_fitting(layers)
        n_in = layers[0].weights.shape[1]
        self.__dict__.update(_layers=tuple(layers), n_in=n_in, input_shape=(n_in,), notes=notes, input_names=NO_NAMES)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Network is immutable; make a new one instead of setting {name!r}")

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, the linear output last.

        Raises
        ------
        NetworkError
            The network is not a chain of dense layers; `graph` has its nodes.
        """
        if not self.is_chain:
            raise NetworkError(
                "this network is not a chain of dense layers: it has convolutions, skips or other nodes that read "
                "parts of others; see its `graph`"
            )
        layers: tuple[Layer, ...] = self.__dict__["_layers"]
        return layers

    @property
    def is_chain(self) -> bool:
        """Whether this is a chain of dense layers, which has `layers`."""
        return "_layers" in self.__dict__

    @cached_property
    def graph(self) -> Graph:
        """The nodes, which read each other."""
        return Graph.chain(self.layers)

    @cached_property
    def compiled(self) -> core.CompiledNetwork:
        """The hidden nodes in the form that the core needs. It shares the arrays of weights."""
        lowest = lowered_chain(self.layers[:-1]) if self.is_chain else lowered(self.graph)
        return core.CompiledNetwork(self.n_in, lowest)

    @property
    def n_out(self) -> int:
        """Dimension of the output."""
        return self.graph.n_out

    @property
    def widths(self) -> tuple[int, ...]:
        """Units in each hidden layer."""
        return self.graph.widths

    @property
    def activations(self) -> tuple[Activation | Maxima, ...]:
        """Activation of each hidden layer; the units themselves if they are maxima."""
        each = (node.units for node in self.graph.hidden)
        return tuple(units if isinstance(units, Maxima) else units.activation for units in each)

    @property
    def hidden(self) -> int:
        """Number of hidden neurons, ``sum(widths)``."""
        return sum(self.widths)

    @property
    def kinks(self) -> int:
        """Number of pattern bits: breakpoints, or pairs of branches, summed over hidden units; ``hidden`` for ReLU."""
        return self.graph.kinks

    @cached_property
    def kink_layers(self) -> Integers:
        """Hidden layer (from 0) of each pattern bit, int64 [kinks]."""
        return read_only(self.graph.kink_nodes)

    @cached_property
    def kink_units(self) -> Integers:
        """Unit, within its layer, of each pattern bit, int64 [kinks]."""
        return read_only(self.graph.kink_units)

    @cached_property
    def kink_neurons(self) -> Integers:
        """Hidden neuron, counted layer by layer, of each pattern bit, int64 [kinks]."""
        first_neuron = np.cumsum([0, *self.widths], dtype=np.int64)
        return read_only(first_neuron[self.kink_layers] + self.kink_units)

    @cached_property
    def kink_values(self) -> Floats:
        """Breakpoint of each pattern bit, float64 [kinks]; 0 where two branches are compared."""
        return read_only(self.graph.kink_values)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of shapes, weights and activations, as 64 hexadecimal digits; the same for equal networks."""
        digest = hashlib.sha256()
        for array in stored_arrays(self).values():
            digest.update(repr(array.shape).encode())
            # + 0.0 turns a negative zero, which is the same number, into zero.
            digest.update(np.ascontiguousarray(array + 0.0, dtype="<f8").data)
        return digest.hexdigest()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say what to call instead of the methods of other libraries that evaluate a model."""
            advice = "; net(points) returns the outputs" if name in CALLED_ELSEWHERE else ""
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}{advice}", name=name, obj=self
            )

    def __call__(self, x: ArrayLike) -> Floats:
        """Evaluate the network at points x [.., n_in] or ``[.., *input_shape]``; return float64 [.., n_out]."""
        points = self._points(x)
        outputs = outputs_at_points(self.graph, points.reshape(-1, self.n_in))
        if outputs is None:
            *_, outputs = self._at(points)  # names the point
        return outputs.reshape(*points.shape[:-1], self.n_out)

    def preactivations(self, x: ArrayLike) -> list[Floats]:
        """Return the pre-activations of the hidden layers at points x [.., n_in]: a list of float64 [.., n_l].

        If units are maxima, all their branches.
        """
        return list(islice(self._at(self._points(x)), len(self.widths)))

    def _at(self, x: ArrayLike) -> Iterator[Floats]:
        """Yield the values of each layer before its activation; refuse overflow."""
        points = self._points(x)
        found = at_points(self.graph, points.reshape(-1, self.n_in))
        for index in range(len(self.graph.nodes)):
            with np.errstate(over="ignore", invalid="ignore"):
                values = next(found)
            shaped = values.reshape(*points.shape[:-1], values.shape[1])
            yield require_finite(shaped, f"at these points a value of layer {index}")

    def _points(self, x: ArrayLike) -> Floats:
        """Return points as an array [.., n_in]; images are flattened."""
        return points_float64(x, self.n_in, shape=self.input_shape, copy=False)

    def pattern(self, x: ArrayLike) -> Bits:
        """Return the activation pattern at points x [.., n_in]: bool [.., kinks]; rounding may flip bits near kinks."""
        points = self._points(x)
        bits = patterns_at_points(self.graph, points.reshape(-1, self.n_in))
        if bits is None:  # this names the point, unless products in another order do not overflow
            values = zip(self.graph.hidden, self.preactivations(points), strict=True)
            bits = np.concatenate([node.units.bits_at(each) for node, each in values], axis=-1)
        return bits.reshape(*points.shape[:-1], self.kinks)

    def gradient(self, x: ArrayLike) -> Floats:
        """Return the Jacobian at points x [.., n_in]: float64 [.., n_out, n_in]; at a kink, of its inactive side."""
        bits = self.pattern(x)
        *shape, _ = bits.shape
        packed = np.packbits(bits.reshape(prod(shape), self.kinks), axis=1, bitorder="little")
        result, _ = affine_maps(self.graph, None, packed)
        require_finite(result.reshape(*shape, self.n_out * self.n_in), "the gradient")
        return result.reshape(*shape, self.n_out, self.n_in)

    def affine_map(self, pattern: ArrayLike) -> tuple[Floats, Floats]:
        """Return the affine map of the network where it has the given pattern: ``net(x) = A @ x + c`` there.

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
            Bits that no input can have: a unit above a breakpoint but not above a smaller one, or a maximum without
            an argmax.
        NonFiniteError
            A map with entries beyond the largest double.
        """
        bits = self._bits(pattern)
        for node, pieces in self.graph.pieces(bits):
            if (node.units.bits_of(pieces) != bits[node.kinks]).any():
                raise ValueError(
                    "no input has this pattern: a unit is above a breakpoint but not above a smaller one of its own, "
                    "or a maximum has no argmax"
                )
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

    def until(self, node: int | str) -> Network:
        """Return the network that ends with the outputs of one of its hidden nodes.

        Parameters
        ----------
        node : int or str
            Its index in ``graph.nodes``, from 0, or its name.

        Returns
        -------
        Network
            With this node's units as outputs.

        Raises
        ------
        ValueError
            There is no such hidden node, or several nodes have that name.

        Examples
        --------
        >>> from regions.theory.constructions import serra_fold
        >>> serra_fold([3, 4]).until(0)
        Network(1-3-3, relu, 3 hidden neurons)
        """
        number = number_of(self.graph, node)
        graph = ending(self.graph, number + 1, range(self.widths[number]))
        return with_graph(self, graph)

    def outputs(self, chosen: Sequence[int]) -> Network:
        """Return the network with some of its outputs.

        Parameters
        ----------
        chosen : sequence of int
            Indices of outputs, from 0, in the order in which they are wanted.

        Examples
        --------
        >>> net = Network([([[1.0], [-1.0]], [0.0, 0.0]), ([[1.0, 1.0], [1.0, -1.0]], [0.0, 5.0])])
        >>> net.outputs([1])([-3.0])
        array([2.])
        """
        given = enumerate(tuple_of(chosen, "chosen"))
        what = f"the outputs are numbered from 0 to {self.n_out - 1}: chosen"
        numbers = [integer(i, f"{what}[{k}]", least=0, most=self.n_out - 1) for k, i in given]
        return with_graph(self, with_outputs(self.graph, np.array(numbers)))

    def __eq__(self, other: object) -> bool:
        return self.fingerprint == other.fingerprint if isinstance(other, Network) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def _repr_html_(self) -> str:
        *hidden, last = layer_facts(self.graph)
        rows = [(index, *facts[:3]) for index, facts in enumerate([*hidden, last._replace(activation="none")])]
        caption = "; ".join([repr(self), *self.notes])
        return html_table(caption, ("layer", "inputs", "outputs", "activation"), rows)

    def __repr__(self) -> str:
        neurons = f"{self.hidden} hidden neuron{'' if self.hidden == 1 else 's'}"
        kinks = "" if self.kinks == self.hidden else f", {self.kinks} kinks"
        sizes = "-".join(in_runs((self.n_in, *self.widths, self.n_out)))
        return f"Network({sizes}, {activation_names(self.graph)}, {neurons}{kinks})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.is_chain and self.input_shape == (self.n_in,) and not self.input_names:
            return type(self).from_layers, (self.layers, self.notes)
        return type(self).from_graph, (self.graph, self.input_shape, self.notes, dict(self.input_names))


def with_graph(network: Network, graph: Graph, notes: Iterable[str] = ()) -> Network:
    """Return the network of another graph with the same inputs, with the existing notes and more."""
    return Network.from_graph(graph, network.input_shape, [*network.notes, *notes], network.input_names)


def stored_arrays(network: Network) -> dict[str, NDArray[Any]]:
    """Return all numbers that define a network, layer by layer, under their names in files."""
    if not network.is_chain:
        return network.graph.stored_arrays()
    return {
        f"layer_{index}_{name}": getattr(layer if name in ("weights", "biases") else layer.activation, name)
        for index, layer in enumerate(network.layers)
        for name in LAYER_ARRAYS
    }


def _notes(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(word(note, f"notes[{i}]") for i, note in enumerate(list_of(notes, "notes", "a list of str")))


def require_network(given: Any) -> Network:
    """Refuse anything but a network, and threads that do not compute exactly; return the network."""
    require_exact_arithmetic()
    if not isinstance(given, Network):
        raise TypeError(
            f"expected a regions.Network, got {type(given).__name__}: make one with regions.load(...) "
            "or regions.Network([(W0, b0), ...])"
        )
    return given
