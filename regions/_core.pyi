# SPDX-License-Identifier: MIT
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

_Doubles = NDArray[Any]
_Integers = NDArray[Any]
_Patches = tuple[_Doubles, _Integers, _Integers, _Integers]
_Tables = tuple[_Doubles, _Doubles, _Doubles]
_Layer = tuple[Sequence[tuple[int, _Doubles | _Patches]], _Doubles, _Tables, _Integers, _Integers, float]

class CompiledNetwork:
    inputs: int
    kinks: int
    repeated_kinks: int
    outputs: int
    leaves_out: bool
    def __init__(
        self, inputs: int, layers: Sequence[_Layer], output_layers: int = 0, groups: Sequence[int] = ()
    ) -> None: ...

def corners(forms: _Doubles) -> _Doubles: ...
def limbs(
    network: CompiledNetwork,
    origin: _Doubles,
    directions: _Doubles,
    generators: _Doubles,
    arc: bool = False,
    forms: _Doubles | None = None,
) -> list[int]: ...
def count(
    network: CompiledNetwork,
    origin: _Doubles,
    directions: _Doubles,
    generators: _Doubles,
    limit: int,
    progress: Callable[[float, int], object] | None,
    arc: bool = False,
    workers: int = 1,
    begin: Iterable[int] = (),
    end: Iterable[int] | None = None,
    forms: _Doubles | None = None,
) -> tuple[Any, int, dict[str, int]]: ...
def enumerate(
    network: CompiledNetwork,
    origin: _Doubles,
    directions: _Doubles,
    generators: _Doubles,
    limit: int,
    progress: Callable[[float, int], object] | None,
    arc: bool = False,
    workers: int = 1,
    begin: Iterable[int] = (),
    end: Iterable[int] | None = None,
    most: int | None = None,
) -> tuple[Any, dict[str, Any], dict[str, int]]: ...
def enumerate_in_polytope(
    network: CompiledNetwork,
    origin: _Doubles,
    directions: _Doubles,
    generators: _Doubles,
    limit: int,
    progress: Callable[[float, int], object] | None,
    forms: _Doubles,
    workers: int = 1,
    begin: Iterable[int] = (),
    end: Iterable[int] | None = None,
    most: int | None = None,
) -> tuple[Any, dict[str, Any], dict[str, int]]: ...
def frontier(
    network: CompiledNetwork,
    origin: _Doubles,
    directions: _Doubles,
    generators: _Doubles,
    least: int,
    progress: Callable[[float, int], object] | None,
    arc: bool = False,
    forms: _Doubles | None = None,
    for_subtrees: bool = False,
) -> tuple[Any, list[tuple[int, ...]]]: ...
def subtree(
    network: CompiledNetwork,
    origin: _Doubles,
    directions: _Doubles,
    generators: _Doubles,
    limit: int,
    progress: Callable[[float, int], object] | None,
    workers: int,
    node: Iterable[int],
) -> tuple[Any, dict[str, Any], dict[str, int]]: ...
def graft(
    network: CompiledNetwork,
    origin: _Doubles,
    directions: _Doubles,
    generators: _Doubles,
    nodes: Iterable[Iterable[int]],
    arrays_at: Callable[[int], Any],
    cells: int,
) -> tuple[Any, dict[str, Any], dict[str, int], bool]: ...

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
