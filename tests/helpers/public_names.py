# SPDX-License-Identifier: MIT
"""Which callables are public?"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import regions
from regions.read import read_tensors

# Modules that the documents name, besides `regions` itself.
MODULES = (
    "arrangements",
    "bounds",
    "constructions",
    "ensembles",
    "errors",
    "export",
    "jobs",
    "measures",
    "networks.named_activations",
    "reference",
)
# Names that cannot be called if an optional package is not installed.
OPTIONAL = {"export_blocks": "pyarrow", "to_dataframe": "pandas"}
WITHOUT = {name for name, package in OPTIONAL.items() if importlib.util.find_spec(package) is None}
# Returned by public functions, and not in any `__all__` above.
RETURNED = (
    "regions.results.partition.Region",
    "regions.checking.CheckReport",
    "regions.certification.CertificationReport",
)
# Classes whose methods are public, because all results inherit them; tried once, with one result.
INHERITED = {"regions.files.tabular.Tabular": "Partition", "regions.files.tabular.JsonReport": "Growth"}


def is_result(thing: type) -> bool:
    """Whether objects of a class are made by functions, never by hand: its docstring lists no parameters."""
    return "Parameters\n----------\n" not in (inspect.getdoc(thing) or "")


def public() -> Iterator[tuple[str, Callable[..., Any], type | None]]:
    """Every public callable: functions, constructors, methods, by name, and the class of a method, once."""
    modules = [regions, *(importlib.import_module(f"regions.{name}") for name in MODULES)]
    found = {f"{module.__name__}.{name}": getattr(module, name) for module in modules for name in module.__all__}
    found["regions.read.read_tensors"] = read_tensors
    for path in (*RETURNED, *INHERITED):
        module, _, name = path.rpartition(".")
        found[path] = getattr(importlib.import_module(module), name)
    every = {thing for thing in found.values() if inspect.isclass(thing)}
    for path, thing in found.items():
        name = path.rpartition(".")[2]
        if not callable(thing) or name in WITHOUT:
            continue
        if not inspect.isclass(thing):
            yield f"{thing.__module__}.{thing.__qualname__}", thing, None
            continue
        if issubclass(thing, Exception):  # raised by functions, never by hand
            continue
        if not is_result(thing):
            yield f"{thing.__module__}.{thing.__qualname__}", thing, None
        for key, member in inspect.getmembers(thing, callable):
            inherited = any(key in vars(base) for base in (tuple, object, NotImplementedError))
            inherited |= any(getattr(base, key, None) is member for base in thing.__mro__[1:] if base in every)
            inherited |= key in WITHOUT
            if (not key.startswith("_") and not inherited) or key in vars(thing) and key in ("__call__", "__getitem__"):
                yield f"{INHERITED.get(path, thing.__name__)}.{key}", member, thing
