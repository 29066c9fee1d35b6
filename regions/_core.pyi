# SPDX-License-Identifier: MIT
from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import NDArray

from regions.core import Limits, Section

_Doubles = NDArray[Any]
_Integers = NDArray[Any]
_Bits = NDArray[Any]
_Patches = tuple[_Doubles, _Integers, _Integers, _Integers]
_Tables = tuple[_Doubles, _Doubles, _Doubles]
_Layer = tuple[Sequence[tuple[int, _Doubles | _Patches]], _Doubles, _Tables, _Integers, _Integers, float]

class CompiledNetwork:
    inputs: int
    kinks: int
    repeated_kinks: int
    outputs: int
    leaves_out: bool
    whole: CompiledNetwork | None
    def __init__(
        self,
        inputs: int,
        layers: Sequence[_Layer],
        output_layers: int = 0,
        groups: Sequence[int] = (),
        merged_from: tuple[CompiledNetwork, _Integers, _Bits] | None = None,
    ) -> None: ...

class CompiledDomain:
    def __init__(
        self,
        origin: _Doubles,
        directions: _Doubles,
        generators: _Doubles,
        forms: _Doubles | None = None,
        arc: bool = False,
    ) -> None: ...

def corners(forms: _Doubles) -> _Doubles: ...
def limbs(network: CompiledNetwork, domain: CompiledDomain) -> list[int]: ...
def count(
    network: CompiledNetwork, domain: CompiledDomain, limits: Limits, section: Section
) -> tuple[Any, int, dict[str, int]]: ...
def enumerate(
    network: CompiledNetwork, domain: CompiledDomain, limits: Limits, section: Section, for_joining: bool = False
) -> tuple[Any, dict[str, Any], dict[str, int]]: ...
def frontier(
    network: CompiledNetwork,
    domain: CompiledDomain,
    least: int,
    report: Callable[[float, int], object] | None,
    for_joining: bool = False,
) -> tuple[Any, list[tuple[int, ...]]]: ...
def place(
    network: CompiledNetwork,
    domain: CompiledDomain,
    arrays: dict[str, Any],
    cells: int,
    report: Callable[[float, int], object] | None,
) -> Any: ...

class CompiledCells:
    regions: int
    def __init__(
        self,
        vertices: _Doubles,
        vertex_errors: _Doubles,
        cell_offsets: _Integers,
        cell_vertices: _Integers,
        cell_facets: _Integers,
        facet_regions: _Integers,
        facet_kinks: _Integers,
    ) -> None: ...
    def find(self, start: int, steps: int, points: _Doubles) -> _Integers: ...

def polytope_sizes(arrays: Any, metric: _Doubles) -> tuple[_Doubles, _Doubles, _Doubles, _Doubles]: ...
def is_private(array: Any) -> bool: ...
def kernel() -> str: ...
