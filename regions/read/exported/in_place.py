# SPDX-License-Identifier: MIT
"""What does a program compute whose operators change parts of a value in place, such as ``h[:, 3] -= 1``?

An operator that works in place on a view of a value changes the value. It becomes an operator that returns a new value,
and one more node for each view puts this into a copy of what is below. Later nodes read the copies. Views of the old
value that are read later are made again from the copy.
Invariant: a program is only changed where it is certain which values share memory; all others are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

from regions.errors import UnsupportedLayerError
from regions.ground.text.printable import printable
from regions.read.exported.nodes import VIEWS, ExportedNode, Name

__all__ = ["CERTAIN", "CHANGES_ITSELF", "require_nothing_changes_below", "with_copies"]

# Operators whose single result always shares memory with their first argument, each number at most once.
CERTAIN = {
    *("slice", "select", "narrow", "view", "permute", "transpose", "t", "unsqueeze", "squeeze", "swapaxes"),
    *("swapdims", "movedim", "moveaxis", "diagonal"),
}
# Refusals of models that change a stored tensor end with this.
CHANGES_ITSELF = (
    "as batch norms do in training, and embeddings with max_norm always: call model.eval() before exporting it, and "
    "leave other changes out of forward"
)
# Nodes that are added at most for each node of the program, so that the work stays proportional to the file.
MOST_COPIES = 64


def with_copies(
    nodes: Sequence[ExportedNode], outputs: Sequence[str], done: set[str]
) -> tuple[list[ExportedNode], list[str]]:
    """Return nodes of the same function, and the names of its outputs, with copies in place of changed views.

    Nodes whose results are in ``done`` have been run already, and stay as they are.
    """
    return _Copies(nodes, outputs, done).made()


class _Copies:
    def __init__(self, nodes: Sequence[ExportedNode], outputs: Sequence[str], done: set[str]) -> None:
        self.nodes, self.outputs, self.done = nodes, outputs, done
        self.result: list[ExportedNode] = []
        self.now: dict[str, str] = {}  # the name of the copy that has taken the place of a value
        self.makers: dict[str, ExportedNode] = {}  # for each view: the node that made it
        self.owners: dict[str, str] = {}
        self.aliases: dict[str, list[str]] = {}  # for each owner: the names that share its memory, in order
        self.last = {name: place for place, node in enumerate(nodes) for name in node.inputs}
        self.last.update(dict.fromkeys(outputs, len(nodes)))

    def made(self) -> tuple[list[ExportedNode], list[str]]:
        for place, node in enumerate(self.nodes):
            changed = _first(node)
            current = self._renamed(node)
            owner = self.owners.get(changed, changed) if changed else ""
            later = [
                name
                for name in (owner, *self.aliases.get(owner, ()))
                if self.last.get(name, -1) > place and name != changed
            ]
            if node.in_place and changed and later and self._is_certain(node, changed, owner, later):
                self.result.append(replace(current, in_place=False))
                self._write(node.outputs[0], changed, later)
            else:
                self.result.append(current)
            if changed and (node.in_place or node.operator in VIEWS):
                for name in node.outputs:
                    self.owners[name], self.makers[name] = owner, node
                    self.aliases.setdefault(owner, []).append(name)
            if len(self.result) > MOST_COPIES * len(self.nodes):
                return list(self.nodes), list(self.outputs)
        return self.result, [self.now.get(name, name) for name in self.outputs]

    def _is_certain(self, node: ExportedNode, changed: str, owner: str, later: Sequence[str]) -> bool:
        """Return whether all that share memory are views of which it is known where their numbers are."""
        own = {*node.outputs, changed, owner, *later}
        if len(node.outputs) != 1 or not self.done.isdisjoint(own):
            return False
        makers = [node for name in (changed, *later) for node in self._path(name)]
        return all(node.in_place or node.operator in CERTAIN for node in makers)

    def _path(self, name: str) -> list[ExportedNode]:
        """Return the nodes that made a view, from the last one."""
        path = []
        while name in self.makers:
            path.append(self.makers[name])
            name = _first(path[-1])
        return path

    def _write(self, made: str, changed: str, later: Sequence[str]) -> None:
        """Add the nodes after a change, and let later nodes read the copies."""
        fresh = {changed: made}
        value = made
        for node in self._path(changed):
            below = _first(node)
            if node.in_place:  # its result is the value itself
                fresh[below] = value
            else:
                arguments = {**node.arguments, _key(node): Name(self.now.get(below, below)), "src": Name(value)}
                value = f"{below} after {made}"
                self._add(node, f"{node.operator}_scatter", arguments, value)
                fresh[below] = value
        for view in later:
            nodes = self._path(view)
            for node in reversed(nodes):
                below, above = _first(node), node.outputs[0]
                if above in fresh:
                    continue
                if node.in_place:
                    fresh[above] = fresh[below]
                    continue
                fresh[above] = f"{above} after {made}"
                self._add(node, node.operator, {**node.arguments, _key(node): Name(fresh[below])}, fresh[above])
        self.now.update(fresh)

    def _add(self, node: ExportedNode, operator: str, arguments: dict[str, Any], made: str) -> None:
        inputs = [value.name for value in arguments.values() if isinstance(value, Name)]
        self.result.append(
            replace(node, name=made, operator=operator, inputs=inputs, outputs=[made], arguments=arguments)
        )

    def _renamed(self, node: ExportedNode) -> ExportedNode:
        """Return a node that reads the copies."""
        if self.now.keys().isdisjoint(node.inputs):
            return node

        def renamed(value: Any) -> Any:
            if isinstance(value, list):
                return [renamed(one) for one in value]
            return Name(self.now.get(value.name, value.name)) if isinstance(value, Name) else value

        inputs = [self.now.get(name, name) for name in node.inputs]
        return replace(node, inputs=inputs, arguments={key: renamed(value) for key, value in node.arguments.items()})


def _key(node: ExportedNode) -> str:
    """Return the name of the argument that a view or an operator in place works on."""
    return next((key for key, value in node.arguments.items() if isinstance(value, Name)), "")


def _first(node: ExportedNode) -> str:
    """Return the value that such an operator works on: of a list, such as the tensors of ``einsum``, the first."""
    key = _key(node)
    if key:
        return str(node.arguments[key].name)
    listed = (each for value in node.arguments.values() if isinstance(value, (list, tuple)) for each in value)
    return next((each.name for each in listed if isinstance(each, Name)), "")


def require_nothing_changes_below(
    nodes: list[ExportedNode], outputs: list[str], done: set[str], stored: Set[str]
) -> None:
    """Refuse in-place operators whose argument shares memory with a value that is read later under another name.

    Operators whose results are in ``done`` have been run already. Stored tensors keep a change for the next call.
    """
    memory: dict[str, str] = {}  # for each view, the value whose memory it shares
    last = {name: place for place, node in enumerate(nodes) for name in node.inputs}
    last.update(dict.fromkeys(outputs, len(nodes)))
    # For each owner of memory: the value sharing it that is read last, and the node that reads it.
    readers: dict[str, tuple[int, str]] = {}
    for place, node in enumerate(nodes):
        changed = _first(node)
        if not changed:
            continue
        owner = memory.get(changed, changed)
        latest = readers.setdefault(owner, (last.get(owner, -1), owner))
        if node.in_place and latest[0] > place and done.isdisjoint(node.outputs):
            if owner in stored:
                raise UnsupportedLayerError(f"{node.label} changes the stored {printable(owner)!r}, {CHANGES_ITSELF}")
            raise UnsupportedLayerError(
                f"{node.label} works in place, and {printable(latest[1])!r}, which shares memory with what it changes, "
                "is read later; export the model without operators in place (inplace=False)"
            )
        if node.in_place or node.operator in VIEWS:
            for name in node.outputs:
                memory[name] = owner
                readers[owner] = max(readers[owner], (last.get(name, -1), name))
