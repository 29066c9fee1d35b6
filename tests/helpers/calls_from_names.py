# SPDX-License-Identifier: MIT
"""Which public callables are called correctly with arguments that follow from the names of their parameters?

The object of a method is made by a function here or a public function whose annotation says that it returns one.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import objects_to_call_with as objects
from one_call import Call, call_of, method_of
from public_names import public


def derived(registered: Sequence[Call]) -> Iterator[Call]:
    """Yield a call for each public callable that is not registered and whose parameters all have known names."""
    names = {f".{call.name}" for call in registered}
    missing = [each for each in public() if not any(name.endswith(f".{each[0]}") for name in names)]
    functions = [_with_good_arguments(thing) for _, thing, owner in missing if owner is None]
    found = [call for call in functions if call is not None]
    yield from found
    for _, method, owner in missing:
        given = None if owner is None else _good_arguments(method, skip=inspect.isfunction(method))
        make = None if owner is None or given is None else _maker(owner, [*registered, *found])
        if make is not None:
            yield method_of(make, method.__name__, **(given or {}))


def _with_good_arguments(function: Callable[..., Any]) -> Call | None:
    given = _good_arguments(function)
    return None if given is None else call_of(function, **given)


def _good_arguments(function: Callable[..., Any], skip: bool = False) -> dict[str, Any] | None:
    names = list(inspect.signature(function).parameters)[int(skip) :]
    return {name: objects.GOOD[name] for name in names} if set(names) <= objects.GOOD.keys() else None


def _maker(owner: type, calls: Iterable[Call]) -> Callable[[], Any] | None:
    """Return a function that makes an object of a class."""
    for make in vars(objects).values():
        if inspect.isfunction(inspect.unwrap(make)) and _returned(make) is owner:
            return make
    for call in calls:
        if inspect.isfunction(call.function) and _returned(call.function) is owner:
            return lambda call=call: call.run({})  # type: ignore[misc]
    return None


def _returned(function: Callable[..., Any]) -> Any:
    try:
        returned = typing.get_type_hints(function).get("return")
        return typing.get_origin(returned) if isinstance(typing.get_origin(returned), type) else returned
    except Exception:  # names that are imported for type checkers only
        return None
