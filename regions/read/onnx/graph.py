# SPDX-License-Identifier: MIT
"""Which operators does an ONNX file apply, to which values, and in which order?

The bytes of a file become plain checked data: nodes with their operator's version, inputs, outputs and attributes, and
the tensors that are stored. ONNX's own schema of an operator and version says which attributes and how many
inputs a node may have. Every name is defined once, and nodes are sorted so that it is defined before it is read.
Refused by name: functions, subgraphs, sparse tensors, training information, and operator sets that are not declared, or
are unknown to the installed onnx.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any

from regions.errors import MissingDependencyError, NotACheckpointError, UnsupportedLayerError
from regions.files.onnx_wire import require_fields
from regions.files.opened import OpenedFile
from regions.ground.text.printable import printable
from regions.read.graphs.nodes import GraphNode, in_order, require_names
from regions.read.onnx.external import put_in_external_data
from regions.read.onnx.tensors import Constant, read_tensor

__all__ = ["Graph", "GraphInput", "Node", "read_graph"]

# The first version of the format in which models declare the versions of their operators.
_FIRST_WITH_OPERATOR_SETS = 3


@dataclass(frozen=True)
class Node(GraphNode):
    """One application of an operator; its name begins with its domain, unless that is ONNX itself.

    Attributes
    ----------
    version : int
        The version of the operator set that last changed this operator; 0 without a schema.
    attributes : dict of str to number, str, list of numbers, or onnx.TensorProto
    """

    version: int
    attributes: dict[str, Any]


@dataclass(frozen=True)
class GraphInput:
    """An input: its length along each axis (None if not fixed), its element type, and a text for both."""

    name: str
    shape: list[int | None] | None
    element: int
    shown: str


@dataclass(frozen=True)
class Graph:
    """The checked content of a file.

    Attributes
    ----------
    nodes : list of Node
        Each comes after the nodes that it reads.
    tensors : dict of str to onnx.TensorProto
        Not read yet.
    inputs : list of GraphInput
        Without stored tensors.
    outputs : list of str
    size : int
        Bytes of the file, and of the files beside it that have tensors.
    """

    nodes: list[Node]
    tensors: dict[str, Any]
    inputs: list[GraphInput]
    outputs: list[str]
    size: int
    _constants: dict[str, Constant] = field(default_factory=dict)

    def constant(self, name: str) -> Constant:
        """Read a stored tensor, once."""
        if name not in self._constants:
            self._constants[name] = read_tensor(self.tensors[name], f"tensor {printable(name)!r}")
        return self._constants[name]


def read_graph(file: OpenedFile) -> Graph:
    """Parse and check a file.

    Raises
    ------
    MissingDependencyError
        onnx is not installed.
    CheckpointError
        The file is damaged, or not valid in the format.
    UnsupportedLayerError
        It has parts that are not handled.
    """
    try:
        import onnx
    except ModuleNotFoundError as error:  # any other ImportError says what is wrong, such as too little memory
        raise MissingDependencyError("onnx", "onnx", "to read .onnx files") from error
    from google.protobuf.message import DecodeError

    content = file.file.read()
    require_fields(content, onnx.ModelProto.DESCRIPTOR, file.name)
    try:
        model = onnx.ModelProto.FromString(content)
    except DecodeError as error:
        raise NotACheckpointError(f"{file.name}: not the protobuf message of a model: {printable(error)}") from None
    _require_plain(model, file.name)
    size = put_in_external_data(model, file)
    versions = _operator_sets(model, file.name)
    nodes = in_order([_node(node, i, versions) for i, node in enumerate(model.graph.node)])
    tensors = {tensor.name: tensor for tensor in model.graph.initializer}
    inputs = [_input(value) for value in model.graph.input if value.name not in tensors]
    outputs = [output.name for output in model.graph.output]
    require_names(nodes, _given(model.graph, file.name), outputs, file.name)
    return Graph(nodes, tensors, inputs, outputs, size)


def _require_plain(model: Any, path: str) -> None:
    if model.functions:
        raise UnsupportedLayerError(
            f"{path}: it has functions of its own; put them in place first: onnx.inliner.inline_local_functions(model)"
        )
    if model.training_info:
        raise UnsupportedLayerError(f"{path}: it has training information; save it for inference only")
    if model.graph.sparse_initializer:
        raise UnsupportedLayerError(f"{path}: it has sparse tensors; save them as ordinary ones")


def _operator_sets(model: Any, path: str) -> dict[str, set[int]]:
    """Return the declared versions of the operator set of each domain; merged files may declare several."""
    import onnx.defs

    versions: dict[str, set[int]] = {}
    for entry in model.opset_import:
        domain = "" if entry.domain == "ai.onnx" else entry.domain
        versions.setdefault(domain, set()).add(entry.version)
    if not versions and 0 < model.ir_version < _FIRST_WITH_OPERATOR_SETS:
        versions[""] = {1}
    newest = onnx.defs.onnx_opset_version()
    unknown = [version for version in versions.get("", ()) if not 0 < version <= newest]
    if unknown:
        raise UnsupportedLayerError(
            f"{path}: uses version {unknown[0]} of the operators, and the installed onnx {onnx.__version__} knows "
            f"those up to {newest}; install a newer onnx"
        )
    for domain, several in versions.items():
        version = min(several, key=lambda each: 0 < each < 2**31)
        if domain and not 0 < version < 2**31:
            raise NotACheckpointError(
                f"{path}: version {version} of the operators {printable(domain)!r} does not exist"
            )
    return versions


def _node(node: Any, number: int, versions: dict[str, set[int]]) -> Node:
    import onnx.defs

    domain = "" if node.domain == "ai.onnx" else node.domain
    outputs = list(node.output)
    name = printable(node.name or next(filter(None, outputs), "") or f"number {number}")
    operator = printable(f"{domain}.{node.op_type}" if domain else node.op_type)
    label = f"node {name!r} ({operator})"
    if domain not in versions:
        raise NotACheckpointError(
            f"{label} is from the operator set {printable(domain or 'ai.onnx')!r}, which the file does not declare"
        )
    attributes = {}
    for attribute in node.attribute:
        if attribute.name in attributes:
            raise NotACheckpointError(f"{label} has two attributes {printable(attribute.name)!r}")
        attributes[attribute.name] = _attribute(attribute, label)
    try:
        schemas = [onnx.defs.get_schema(node.op_type, version, domain) for version in sorted(versions[domain])]
    except onnx.defs.SchemaError:
        # An operator of another domain, or an unknown one, is refused only if an output depends on it.
        return Node(name, operator, list(node.input), outputs, 0, attributes)
    schema = schemas[-1]
    if len({each.since_version for each in schemas}) > 1:
        raise NotACheckpointError(
            f"{label} is another operator in each of the versions {sorted(versions[domain])}, which the file declares; "
            "keep the one that its nodes are written for"
        )
    _require_schema(node, schema, label)
    return Node(name, operator, list(node.input), outputs, schema.since_version, attributes)


def _require_schema(node: Any, schema: Any, label: str) -> None:
    for attribute in node.attribute:
        expected = schema.attributes.get(attribute.name)
        if expected is None or int(expected.type) != attribute.type:
            raise NotACheckpointError(
                f"{label} has an attribute {printable(attribute.name)!r} that version {schema.since_version} of "
                f"{schema.name} does not have{'' if expected is None else ' with such a value'}"
            )
    for name, expected in schema.attributes.items():
        if expected.required and not any(attribute.name == name for attribute in node.attribute):
            raise NotACheckpointError(f"{label} lacks the attribute {name!r}")
    for what, names, least, most in (
        ("inputs", node.input, schema.min_input, schema.max_input),
        ("outputs", node.output, schema.min_output, schema.max_output),
    ):
        if not least <= len(names) <= most:
            raise NotACheckpointError(f"{label} has {len(names)} {what}, and takes {least} to {most}")
    # The last input may stand for any number of inputs.
    for given, formal in zip(node.input, chain(schema.inputs, *map(repeat, schema.inputs[-1:])), strict=False):
        if not given and formal.option.name != "Optional":
            raise NotACheckpointError(f"{label} lacks its input {formal.name!r}")


def _attribute(attribute: Any, label: str) -> Any:
    """Return the value of an attribute; refuse additional values of other types."""
    import onnx

    types = onnx.AttributeProto
    fields = {
        types.FLOAT: "f",
        types.INT: "i",
        types.STRING: "s",
        types.TENSOR: "t",
        types.FLOATS: "floats",
        types.INTS: "ints",
        types.STRINGS: "strings",
    }
    name = printable(attribute.name)
    if attribute.ref_attr_name:
        raise NotACheckpointError(
            f"{label}: its attribute {name!r} belongs to a function, but the node is outside of one"
        )
    if attribute.type in (types.GRAPH, types.GRAPHS):
        raise UnsupportedLayerError(f"{label} has a graph inside, as branches and loops have, which is not supported")
    if attribute.type not in fields:
        raise UnsupportedLayerError(f"{label}: its attribute {name!r} is of a type that is not supported")
    present = {descriptor.name for descriptor, _ in attribute.ListFields()} - {
        "name",
        "type",
        "doc_string",
    }
    field_name = fields[attribute.type]
    if not present <= {field_name}:
        raise NotACheckpointError(f"{label}: its attribute {name!r} has values of several types")
    value = getattr(attribute, field_name)
    if attribute.type in (types.FLOATS, types.INTS):
        return list(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _input(value: Any) -> GraphInput:
    if value.type.WhichOneof("value") != "tensor_type":
        raise UnsupportedLayerError(f"input {printable(value.name)!r} is not a tensor")
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return GraphInput(value.name, None, tensor.elem_type, f"{printable(value.name)!r} of unknown shape")
    shape, words = [], []
    for axis in tensor.shape.dim:
        fixed = (
            axis.HasField("dim_value") and axis.dim_value > 0
        )  # some writers use 0 or -1 for a length that is not fixed
        shape.append(axis.dim_value if fixed else None)
        words.append(str(axis.dim_value) if fixed else printable(axis.dim_param or "?"))
    # In a damaged file there may be thousands.
    shown = ", ".join([*words[:8], *(["..."] if len(words) > 8 else [])])
    return GraphInput(value.name, shape, tensor.elem_type, f"{printable(value.name)!r} [{shown}]")


def _given(graph: Any, path: str) -> set[str]:
    """Return the names of stored tensors and inputs; each must occur once."""
    made: set[str] = set()

    def make(name: str, what: str) -> None:
        if not name or name in made:
            problem = "comes from two places" if name else "has no name"
            raise NotACheckpointError(f"{path}: {what} {printable(name)!r} {problem}")
        made.add(name)

    for tensor in graph.initializer:
        make(tensor.name, "tensor")
    stored = set(made)
    for value in graph.input:
        if value.name in stored:  # a tensor with a stored default, which is used here
            stored.discard(value.name)
        else:
            make(value.name, "input")
    return made
