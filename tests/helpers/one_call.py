# SPDX-License-Identifier: MIT
"""What is one public callable, with good arguments for it?"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kinds_of_parameters import KINDS


@dataclass(frozen=True)
class Call:
    """One callable, with arguments for it: ``make(**arguments)``, each made anew by a function."""

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    spread: str = ""  # the parameter that is passed as *args

    def run(self, replaced: Mapping[str, Any]) -> Any:
        """Call it, with some of the arguments replaced."""
        given = {name: make() for name, make in self.arguments.items() if name not in replaced} | dict(replaced)
        spread = given.pop(self.spread, ())
        if self.spread in replaced:
            spread = [spread]
        positional, named_ones = [], {}
        for name, parameter in self.signature.parameters.items():
            if name in given and parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
                positional.append(given[name])
            elif name in given:
                named_ones[name] = given[name]
        return self.function(*positional, *spread, **named_ones)

    @property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    def kind(self, parameter: str) -> str:
        return self.kinds.get(parameter) or KINDS[parameter]


def say(value: Any) -> Callable[[], Any]:
    """Return the same value at each call."""
    return lambda: value


def call_of(
    function: Callable[..., Any], /, *, _name: str = "", _kinds: Mapping[str, str] | None = None, **given: Any
) -> Call:
    arguments = {name: value if callable(value) else say(value) for name, value in given.items()}
    spread = next((p.name for p in inspect.signature(function).parameters.values() if p.kind is p.VAR_POSITIONAL), "")
    return Call(_name or f"{function.__module__}.{function.__qualname__}", function, arguments, _kinds or {}, spread)


def method_of(make: Callable[[], Any], method: str, /, **given: Any) -> Call:
    owner = make()
    return call_of(getattr(owner, method), _name=f"{type(owner).__name__}.{method}", **given)
