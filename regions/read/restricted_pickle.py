# SPDX-License-Identifier: MIT
"""What data does this pickle describe, without running it?

A pickle is a program for a small stack machine. Here its opcodes are parsed with the tables of `pickletools`,
and only those that state dicts need are obeyed, by a machine of our own that knows containers, plain values,
and the functions its caller names; Python's unpickler is not involved. Invariants: nothing is looked up by
name outside the given table; nothing is called but the given functions; no value is hashed, compared or
printed but strings; work and memory are linear in the length of the pickle, which is limited."""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable, Mapping
from typing import Any

from regions.errors import FileTooLargeError, NotACheckpointError, UnsafePickleError
from regions.read import limits

SAVE_A_STATE_DICT = "save the weights alone with torch.save(model.state_dict(), path) and load that"


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

    def damaged(self, why: str) -> NotACheckpointError:
        return NotACheckpointError(f"{self.path}: the pickle is damaged: {why}")

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack:
            raise self.damaged("its stack runs empty")
        return self.stack.pop()

    def drop(self) -> None:
        self.pop()

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
        """The container on top of the stack, which stays there."""
        if not self.stack or type(self.stack[-1]) is not kind:
            raise self.damaged(f"a {kind.__name__} was expected")
        return self.stack[-1]

    def append(self, items: list[Any]) -> None:
        self.container(list).extend(items)

    def set_items(self, items: list[Any]) -> None:
        target = self.container(dict)
        if len(items) % 2:
            raise self.damaged("a key without a value")
        for key, value in zip(items[::2], items[1::2], strict=True):
            # Only strings are kept: optimizers number their states, and hashing what a stranger chose is not
            # free.
            if type(key) is str:
                target[key] = value

    def set_item(self) -> None:
        value, key = self.pop(), self.pop()
        self.set_items([key, value])

    def find(self, name: str) -> None:
        if name not in self.names:
            module = name.rpartition(".")[0]
            is_module = module.startswith(("torch.nn", "__main__"))
            what = "a whole pickled module" if is_module else "more than ordinary tensors"
            raise UnsafePickleError(
                f"{self.path}: the pickle refers to {name[:200]!r}, which is not among the names that "
                f"tensors need: it holds {what}. Nothing was run. In a Python that you trust the file with, "
                f"{SAVE_A_STATE_DICT}"
            )
        self.push(self.names[name])

    def find_by_parts(self) -> None:
        attribute, module = self.pop(), self.pop()
        if type(attribute) is not str or type(module) is not str:
            raise self.damaged("a name is not text")
        self.find(f"{module}.{attribute}")

    def call(self) -> None:
        arguments, function = self.pop(), self.pop()
        if type(function) is not Function or type(arguments) is not tuple:
            raise UnsafePickleError(
                f"{self.path}: the pickle calls something that is not one of torch's tensor builders. "
                "Nothing was run"
            )
        self.push(function.build(*arguments))

    def drop_state(self) -> None:
        # torch hangs version numbers on a state dict (`_metadata`), which do not change what the tensors are.
        self.pop()
        self.container(dict)


_Step = Callable[[_Machine, Any], None]


def _steps() -> dict[str, _Step]:
    """What each opcode that is obeyed does to the machine; the second argument is the opcode's own."""
    literals = (
        *("BININT", "BININT1", "BININT2", "LONG1", "LONG4", "BINFLOAT", "SHORT_BINSTRING", "BINSTRING"),
        *("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "SHORT_BINBYTES", "BINBYTES", "BINBYTES8"),
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
        "MARK": lambda machine, argument: machine.mark(),
        "POP": lambda machine, argument: machine.drop(),
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
        "REDUCE": lambda machine, argument: machine.call(),
        "BUILD": lambda machine, argument: machine.drop_state(),
        "BINPERSID": lambda machine, argument: machine.push(machine.load(machine.pop())),
    }


def _read_name(stream: Any) -> str:
    """A module and a name in it, a line each; the reader of `pickletools` would resolve escapes in them."""
    parts = [stream.readline(), stream.readline()]
    if not all(part.endswith(b"\n") for part in parts):
        raise ValueError("a name is not complete")
    return ".".join(part[:-1].decode("utf-8") for part in parts)


_STEPS = _steps()
_OPCODES = {opcode.code.encode("latin-1"): opcode for opcode in pickletools.opcodes}


def read_pickle(data: bytes, path: str, names: Mapping[str, Any], load: Callable[[Any], Any]) -> Any:
    """Return the value a pickle describes.

    Parameters
    ----------
    data : bytes
    path : str
        What to call it in messages.
    names : mapping of str to object
        What global names may stand for: a `Function`, or an inert value.
    load : callable
        Turns a persistent id (not checked at all) into a value.

    Returns
    -------
    object
        Of dicts (only entries under string keys), lists, tuples, plain values, and what the functions return.

    Raises
    ------
    UnsafePickleError
        Any name not in ``names``, any opcode that could run code.
    NotACheckpointError, FileTooLargeError
        Damage; too long.
    """
    if len(data) > limits.MAX_PICKLE_BYTES:
        raise FileTooLargeError(
            f"{path}: its pickle has {len(data)} bytes, the limit is {limits.MAX_PICKLE_BYTES}"
        )
    machine, stream = _Machine(path, names, load), io.BytesIO(data)
    for _ in range(limits.MAX_PICKLE_OPCODES):
        code = stream.read(1)
        if code == b".":
            if len(machine.stack) != 1 or machine.outer:
                raise machine.damaged("it leaves no single value")
            return machine.stack[0]
        opcode = _OPCODES.get(code)
        if opcode is None:
            raise machine.damaged(f"opcode {code!r} is unknown" if code else "it ends without a result")
        step = _STEPS.get(opcode.name)
        if step is None:
            raise UnsafePickleError(
                f"{path}: the pickle uses opcode {opcode.name}, which state dicts do not need. Nothing was "
                f"run; {SAVE_A_STATE_DICT}"
            )
        argument: Any
        try:
            if opcode.name == "GLOBAL":
                argument = _read_name(stream)
            else:
                argument = None if opcode.arg is None else opcode.arg.reader(stream)
        except (ValueError, OverflowError, MemoryError) as error:  # short, too long, or not text
            raise machine.damaged(str(error)[:200]) from None
        step(machine, argument)
    raise FileTooLargeError(f"{path}: its pickle has more than {limits.MAX_PICKLE_OPCODES} opcodes")
