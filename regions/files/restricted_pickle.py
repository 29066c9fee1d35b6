# SPDX-License-Identifier: MIT
"""Which data does this pickle describe, without running it?

A pickle is a program for a small stack machine. Here its opcodes are parsed with the tables of `pickletools`, and only
the opcodes that checkpoints need are executed. The machine is our own: it knows containers, plain values, and the
functions that its caller names. Python's unpickler is not involved. Anything else that a pickle names, calls or
instantiates becomes an `Opaque`, which only remembers the name; most checkpoints hold such objects in addition to the
weights. Invariants: names are looked up only in the given table; only the given functions are called; only strings and
small integers are hashed, compared or printed; work and memory are linear in the length of the pickle, which is
limited.
"""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from regions.errors import FileTooLargeError, NotACheckpointError, UnsafePickleError
from regions.files import limits
from regions.ground.text.printable import printable

SAVE_A_STATE_DICT = "save the weights alone with torch.save(model.state_dict(), path) and load that"


class Loaded:
    """Base class of the values of persistent ids: data that lie outside the pickle."""


@dataclass(eq=False)
class Opaque:
    """An object, class or function that a pickle names and that was not built.

    Attributes
    ----------
    name : str
        The class or function that would have made it.
    state : dict of str to object
        Its attributes, according to the pickle.
    has_data : bool
        Whether it would have been made from data outside the pickle, as tensors are.
    inside : list
        The arguments of its class or function, and its items, if it is a container: entries as a dict.
    """

    name: str
    state: dict[str, Any] = field(default_factory=dict)
    has_data: bool = False
    inside: list[Any] = field(default_factory=list)

    def __repr__(self) -> str:
        return f"<{printable(self.name)}, not built>"


@dataclass
class Unpickled:
    """The object that a pickle describes.

    Attributes
    ----------
    value : object
        Made of dicts (keys that are neither strings nor small numbers become strings such as ``"<tuple 3>"``), lists,
        tuples, plain values, `Opaque`, and results of the functions.
    unknown : str or None
        The first name in the pickle that is not in the table.
    """

    value: Any
    unknown: str | None


def plain_key(key: Any, place: int) -> str | int:
    """Return a key of a dict, or its type and place, because hashing other values than these can be expensive."""
    if isinstance(key, str) or (type(key) is int and 0 <= key < 2**32):
        return key
    return f"<{type(key).__name__} {place}>"


class Function:
    """One of the caller's functions, as an inert value on the stack."""

    def __init__(self, build: Callable[..., Any]) -> None:
        self.build = build


class _Machine:
    """The stack, and one method for each group of opcodes."""

    def __init__(self, path: str, names: Mapping[str, Any], load: Callable[[Any], Any]) -> None:
        self.path = path
        self.names = names
        self.load = load
        self.stack: list[Any] = []
        self.outer: list[list[Any]] = []  # stacks put aside by a mark
        self.memo: dict[int, Any] = {}
        self.unknown: str | None = None

    def damaged(self, why: str) -> NotACheckpointError:
        return NotACheckpointError(f"{self.path}: the pickle is damaged: {why}")

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack:
            raise self.damaged("its stack runs empty")
        return self.stack.pop()

    def mark(self) -> None:
        if len(self.outer) == limits.MAX_PICKLE_DEPTH:
            raise FileTooLargeError(
                f"{self.path}: its pickle is nested more than {limits.MAX_PICKLE_DEPTH} deep, which no checkpoint is"
            )
        self.outer.append(self.stack)
        self.stack = []

    def pop_to_mark(self) -> list[Any]:
        if not self.outer:
            raise self.damaged("a mark is missing")
        items, self.stack = self.stack, self.outer.pop()
        return items

    def freeze(self) -> None:
        self.push(Opaque("builtins.frozenset", inside=self.pop_to_mark()))

    def push_tuple(self, length: int) -> None:
        items = [self.pop() for _ in range(length)]
        self.push(tuple(reversed(items)))

    def remember(self, index: int | None) -> None:
        value = self.pop()
        self.memo[len(self.memo) if index is None else index] = value
        self.push(value)

    def recall(self, index: int) -> None:
        if index not in self.memo:
            raise self.damaged("it recalls what it never stored")
        self.push(self.memo[index])

    def container(self, kind: type) -> Any:
        """Return the container on top of the stack without removing it; None for an `Opaque`."""
        if not self.stack or type(self.stack[-1]) not in (kind, Opaque):
            raise self.damaged(f"a {kind.__name__} was expected")
        return self.stack[-1] if type(self.stack[-1]) is kind else None

    def append(self, items: list[Any]) -> None:
        target = self.container(list)
        (self.stack[-1].inside if target is None else target).extend(items)

    def set_items(self, items: list[Any]) -> None:
        target = self.container(dict)
        if len(items) % 2:
            raise self.damaged("a key without a value")
        if target is None:
            target = {}
            self.stack[-1].inside.append(target)
        self.fill(target, zip(items[::2], items[1::2], strict=True))

    def fill(self, target: dict[Any, Any], pairs: Iterable[tuple[Any, Any]]) -> None:
        for key, value in pairs:
            name = plain_key(key, len(target))
            if name in target:  # one of the two values would be hidden
                raise self.damaged(f"the key {printable(name)} comes twice")
            target[name] = value

    def set_item(self) -> None:
        value, key = self.pop(), self.pop()
        self.set_items([key, value])

    def add_to_set(self) -> None:
        items = self.pop_to_mark()
        self.container(Opaque)
        self.stack[-1].inside.extend(items)

    def find(self, name: str) -> None:
        if name not in self.names:
            self.unknown = self.unknown or name
        self.push(self.names[name] if name in self.names else Opaque(name))

    def find_by_parts(self) -> None:
        attribute, module = self.pop(), self.pop()
        if type(attribute) is not str or type(module) is not str:
            raise self.damaged("a name is not text")
        self.find(f"{module}.{attribute}")

    def call(self) -> None:
        arguments, function = self.pop(), self.pop()
        if type(function) is Opaque:
            parts = arguments if type(arguments) is tuple else ()
            has_data = any(isinstance(one, Loaded) or (type(one) is Opaque and one.has_data) for one in parts)
            self.push(Opaque(function.name, has_data=has_data, inside=list(parts)))
        elif type(function) is Function and type(arguments) is tuple:
            self.push(function.build(*arguments))
        else:
            raise UnsafePickleError(f"{self.path}: the pickle calls something that is not a function. Nothing was run")

    def instantiate(self, parts: int) -> None:
        arguments = [self.pop() for _ in range(parts)]
        kind = self.pop()
        if type(kind) is not Opaque:
            raise UnsafePickleError(f"{self.path}: the pickle makes an object of no class. Nothing was run")
        self.push(Opaque(kind.name, inside=arguments))

    def set_state(self) -> None:
        state = self.pop()
        # torch attaches version numbers to a state dict (`_metadata`), which do not change the tensors.
        if self.container(dict) is None:
            # With slots, the state is a pair.
            attributes = state[0] if type(state) is tuple and len(state) == 2 else state
            self.stack[-1].state = attributes if type(attributes) is dict else {}


_Step = Callable[[_Machine, Any], object]


def _steps() -> dict[str, _Step]:
    """Return the effect of each supported opcode on the machine; the second argument is the opcode's argument."""
    literals = (
        *("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "SHORT_BINSTRING", "BINSTRING"),
        *("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8"),
        "BYTEARRAY8",
    )
    steps: dict[str, _Step] = dict.fromkeys(literals, _Machine.push)
    steps |= dict.fromkeys(("BINPUT", "LONG_BINPUT", "MEMOIZE"), _Machine.remember)
    steps |= dict.fromkeys(("BINGET", "LONG_BINGET"), _Machine.recall)
    steps |= {name: lambda machine, argument: None for name in ("PROTO", "FRAME")}
    return steps | {
        "NONE": lambda machine, argument: machine.push(None),
        "NEWTRUE": lambda machine, argument: machine.push(True),
        "NEWFALSE": lambda machine, argument: machine.push(False),
        "EMPTY_TUPLE": lambda machine, argument: machine.push(()),
        "EMPTY_LIST": lambda machine, argument: machine.push([]),
        "EMPTY_DICT": lambda machine, argument: machine.push({}),
        "EMPTY_SET": lambda machine, argument: machine.push(Opaque("builtins.set")),
        "MARK": lambda machine, argument: machine.mark(),
        "POP_MARK": lambda machine, argument: machine.pop_to_mark(),
        "POP": lambda machine, argument: machine.pop(),
        "TUPLE": lambda machine, argument: machine.push(tuple(machine.pop_to_mark())),
        "TUPLE1": lambda machine, argument: machine.push_tuple(1),
        "TUPLE2": lambda machine, argument: machine.push_tuple(2),
        "TUPLE3": lambda machine, argument: machine.push_tuple(3),
        "APPEND": lambda machine, argument: machine.append([machine.pop()]),
        "APPENDS": lambda machine, argument: machine.append(machine.pop_to_mark()),
        "SETITEM": lambda machine, argument: machine.set_item(),
        "SETITEMS": lambda machine, argument: machine.set_items(machine.pop_to_mark()),
        "GLOBAL": _Machine.find,
        "STACK_GLOBAL": lambda machine, argument: machine.find_by_parts(),
        "ADDITEMS": lambda machine, argument: machine.add_to_set(),
        "FROZENSET": lambda machine, argument: machine.freeze(),
        "REDUCE": lambda machine, argument: machine.call(),
        "NEWOBJ": lambda machine, argument: machine.instantiate(1),
        "NEWOBJ_EX": lambda machine, argument: machine.instantiate(2),
        "BUILD": lambda machine, argument: machine.set_state(),
        "BINPERSID": lambda machine, argument: machine.push(machine.load(machine.pop())),
    }


def _read_name(stream: Any) -> str:
    """Read a module and a name in it, a line each; the reader of `pickletools` would resolve escapes in them."""
    parts = [stream.readline(), stream.readline()]
    if not all(part.endswith(b"\n") for part in parts):
        raise ValueError("a name is not complete")
    return ".".join(part[:-1].decode("utf-8") for part in parts)


_Reader = Callable[[Any], Any]


def _table() -> dict[bytes, tuple[str, _Step | None, _Reader | None]]:
    """Return by code: the opcode's name, its effect if it is supported, and the reader of its argument."""
    steps = _steps()
    table: dict[bytes, tuple[str, _Step | None, _Reader | None]] = {}
    for opcode in pickletools.opcodes:
        reader = opcode.arg.reader if opcode.arg else None
        reader = _read_name if opcode.name == "GLOBAL" else reader
        table[opcode.code.encode("latin-1")] = opcode.name, steps.get(opcode.name), reader
    return table


_TABLE = _table()


def read_pickle(stream: io.BytesIO, path: str, names: Mapping[str, Any], load: Callable[[Any], Any]) -> Unpickled:
    """Read one pickle; leave the stream at its end.

    Parameters
    ----------
    stream : BytesIO
    path : str
        The file's name in messages.
    names : mapping of str to object
        The allowed global names, each with a `Function` or an inert value.
    load : callable
        Turns an unchecked persistent id into a value.

    Raises
    ------
    UnsafePickleError
        The pickle has an opcode that could run code.
    NotACheckpointError, FileTooLargeError
        The pickle is damaged, or too long.
    """
    machine = _Machine(path, names, load)
    for _ in range(limits.MAX_PICKLE_OPCODES):
        code = stream.read(1)
        if code == b".":
            if len(machine.stack) != 1 or machine.outer:
                raise machine.damaged("it leaves no single value")
            return Unpickled(machine.stack[0], machine.unknown)
        if code not in _TABLE:
            raise machine.damaged(f"opcode {code!r} is unknown" if code else "it ends without a result")
        name, step, reader = _TABLE[code]
        if step is None:
            raise UnsafePickleError(
                f"{path}: the pickle uses opcode {name}, which checkpoints do not need. Nothing was "
                f"run; {SAVE_A_STATE_DICT}"
            )
        try:
            argument = reader(stream) if reader else None
        except (ValueError, OverflowError, MemoryError) as error:  # short, too long, or not text
            raise machine.damaged(printable(error)) from None
        step(machine, argument)
    raise FileTooLargeError(f"{path}: its pickle has more than {limits.MAX_PICKLE_OPCODES} opcodes")
