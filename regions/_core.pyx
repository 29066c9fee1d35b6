# SPDX-License-Identifier: MIT
# cython: language_level=3, embedsignature=True, freethreading_compatible=True
"""The only binding to the C++ core: coerce, check, allocate, release the lock, call.

Everything here takes and returns plain arrays; `regions.results.partition` documents their meaning. Arguments have been checked
by the callers (`regions.counting`), except for the shapes, which are checked here once more because a wrong shape
would read beyond an array.
"""

from cpython.buffer cimport PyBUF_FORMAT, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from cython cimport no_gc
from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport strchr
from libcpp cimport bool as boolean
from libcpp.vector cimport vector

from itertools import accumulate
from math import prod

import numpy as np


cdef class _Watcher:
    """Called a few times a second while the core works: handles signals, reports progress, and stores errors."""
    cdef object progress
    cdef object error

    def __cinit__(self, progress):
        self.progress = progress
        self.error = None

    cdef int look(self, double finished, int64_t regions):
        try:
            PyErr_CheckSignals()
            if self.progress is not None:
                self.progress(finished, regions)
        except BaseException as error:
            self.error = error
            return 1
        return 0


cdef int _report(void* context, double finished, int64_t regions) noexcept with gil:
    return (<_Watcher> context).look(finished, regions)


cdef void* _address(array, const char* formats, Py_ssize_t size) except? NULL:
    """Return the address of an array's numbers, which are contiguous in C order, of so many bytes each, in one of some formats."""
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_FORMAT)
    start, fits = buffer.buf, buffer.itemsize == size and strchr(formats, buffer.format[0]) != NULL
    PyBuffer_Release(&buffer)
    if not fits:
        raise ValueError("an array is of another type")
    return start


cdef double* _doubles(array) except? NULL:
    """Return the address of an array's numbers, to be written if the array is new, else only to be read."""
    return <double*> _address(array, b"d", 8)


cdef int64_t* _indices(array) except? NULL:
    return <int64_t*> _address(array, b"lq", 8)


cdef uint8_t* _bytes(array) except? NULL:
    return <uint8_t*> _address(array, b"B", 1)


cdef const double* _flat(array, list kept) except? NULL:
    """Return the address of an array's numbers, contiguous in C order; they stay there as long as the list."""
    kept.append(np.ascontiguousarray(array, dtype=np.float64))
    return _doubles(kept[-1])


cdef const int32_t* _numbers(array, int64_t least, int64_t end, list kept) except? NULL:
    """Do the same for integers, checked to be from `least` to below `end`, because the core trusts sources and targets."""
    kept.append(np.ascontiguousarray(array, dtype=np.int32))
    if kept[-1].size and (kept[-1].min() < least or kept[-1].max() >= end):
        raise ValueError("numbers of units are out of range")
    return <const int32_t*> _address(kept[-1], b"il", 4)


include "_core_model.pxi"


cdef dict _statistics(const Outcome& outcome):
    return {
        "cells": outcome.cells,
        "filter": outcome.signs.filter,
        "doubled": outcome.signs.longer[0],
        "tripled": outcome.signs.longer[1],
        "quadrupled": outcome.signs.longer[2],
        "exact": outcome.signs.exact,
        "zero": outcome.signs.zero,
    }


cdef class _Block:
    """Memory of the core, freed with the last array that lies in it. Only the core can write to it."""
    cdef OwnedMemory memory

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.memory.start, self.memory.bytes, 1, flags)

    def __dealloc__(self):
        release(self.memory)


cdef _array_in(const OwnedMemory& memory, shape, kind):
    """Return an array that takes memory over from the core."""
    cdef _Block block = _Block()
    block.memory = memory
    return np.frombuffer(block, dtype=kind, count=prod(shape)).reshape(shape)


def is_private(array):
    """Return whether an array lies in a large block of memory that only the core can write to."""
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array.obj if isinstance(array, memoryview) else array, _Block)


# Arrays that are smaller together are allocated by numpy.
cdef int64_t _LARGE = 1 << 18


cdef dict _new_arrays(shapes):
    """Allocate arrays for the core to write; in one block if they are large together, because it is then in large pages."""
    sizes = [prod(shape) * (1 if kind is np.uint8 else 8) for shape, kind in shapes.values()]
    if sum(sizes) < _LARGE:
        return {name: np.empty(shape, dtype=kind) for name, (shape, kind) in shapes.items()}
    starts = [*accumulate((-(-size // 8) * 8 for size in sizes), initial=0)]  # doubles begin at multiples of 8
    block = _array_in(new_block(starts[-1]), (starts[-1],), np.uint8)
    return {name: block[start:start + size].view(kind).reshape(shape)
            for (name, (shape, kind)), start, size in zip(shapes.items(), starts, sizes)}


@no_gc
cdef class CompiledDomain:
    """A chart and a domain in it, checked once, with the arrays they point into.

    With `arc`, the generators are the directions of the ends of an arc of the unit circle. In three to ten dimensions the
    domain is where all `forms` [f, d + 1] are at least zero, and generators, which may be rounded, only tell its size.
    """
    cdef Chart chart
    cdef Domain domain
    cdef tuple arrays

    def __cinit__(self, origin, directions, generators, forms=None, bint arc=False):
        dimension, inputs = directions.shape
        if origin.shape != (inputs,):
            raise ValueError("origin does not fit the directions")
        if arc and dimension != 2:
            raise ValueError("an arc lies in a plane")
        if (forms is None) != (dimension < 3) or (forms is not None and forms.shape != (len(forms), dimension + 1)):
            raise ValueError("forms do not fit the chart")
        least = 2 if arc else dimension + 1
        if generators.ndim != 2 or generators.shape[1] != dimension + 1 or len(generators) < least:
            raise ValueError("domain does not fit the chart")
        kept = []
        self.chart = Chart(dimension, inputs, _flat(origin, kept), _flat(directions, kept))
        self.domain = Domain(len(generators), _flat(generators, kept), arc, 0, NULL)
        if forms is not None:
            self.domain.form_count, self.domain.forms = len(forms), _flat(forms, kept)
        self.arrays = tuple(kept)

    cdef int require_inputs(self, CompiledNetwork network) except -1:
        if self.chart.inputs != network.inputs:
            raise ValueError("chart does not fit the network")
        return 0


cdef vector[int] _steps(path) except *:
    """A path of the recursion, the numbers of the children on the way to a node."""
    cdef vector[int] steps
    for step in path:
        if not isinstance(step, int) or not 0 <= step < 1 << 31:
            raise ValueError(f"a path is made of numbers of children, 0 or more, got {step!r}")
        steps.push_back(step)
    return steps


cdef Section _section(given, block=None) except *:
    """The part of the recursion between two nodes, of which one block is wanted, or all."""
    cdef Section section
    begin, end = given
    section.begin = _steps(begin)
    section.ends = end is not None
    if end is not None:
        section.end = _steps(end)
    if block is not None:
        if block < 1:
            raise ValueError("a block has room for at least one region")
        section.most = block
    return section


def corners(forms):
    """Return the corners of the set where all forms [f, d + 1] are at least zero, float64 [v, d + 1] with rows (w, p), d = 3 to 10.

    A row of `forms` is (c, a) for c + a . p; w is 1, or 0 for a corner at infinity, with a direction p. Each coordinate is
    correct to its last bit or so. There are no corners if the set has no interior. A Ctrl-C is raised.
    """
    cdef _Watcher watcher = _Watcher(None)
    kept = []
    cdef const double* flat = _flat(forms, kept)
    cdef int count = len(forms), dimension = forms.shape[1] - 1
    cdef vector[double] found
    if not 3 <= dimension <= 10:
        raise ValueError("corners are found in 3 to 10 dimensions")
    with nogil:
        found = corners_of(dimension, flat, count, &_report, <void*> watcher)
    if watcher.error is not None:
        raise watcher.error
    return np.array(found, dtype=np.float64).reshape(-1, dimension + 1)


def frontier(CompiledNetwork network, CompiledDomain domain, int64_t least, report, bint for_joining=False):
    """Return paths of nodes that divide the recursion, in order, with all regions below them; at least `least` of them.

    A path is a tuple of numbers of children, () for the whole domain. There are fewer paths if there are fewer regions, and
    one along a curve. With `for_joining`, the sections between nodes have the regions of one enumeration in its order: there can be
    fewer of them in a plane, because small cells are enumerated whole. Returns (status, paths), with the status of `count`.
    """
    domain.require_inputs(network)
    cdef _Watcher watcher = _Watcher(report)
    cdef vector[vector[int]] paths
    cdef Run run
    with nogil:
        run = find_frontier(network.model[0], domain.chart, domain.domain, &_report, <void*> watcher, least, for_joining,
                            paths)
    return _status(run, watcher), [tuple(path) for path in paths]


def limbs(CompiledNetwork network, CompiledDomain domain):
    """Return for each hidden layer the number of doubles in each number of its rows in this domain, 1 to 4: a list."""
    domain.require_inputs(network)
    return limbs_of_rows(network.model[0], domain.chart, domain.domain)[1:]


cdef int _require_all_regions(CompiledNetwork network) except -1:
    if network.leaves_out:
        raise ValueError("only enumerations leave out regions")
    return 0


def count(CompiledNetwork network, CompiledDomain domain, limits, section):
    """Count the regions, within `regions.core.Limits`, in a `regions.core.Section`; a part takes one thread.

    Returns (status, count, statistics): status "finished", or "limit_exceeded" or the exception that stopped the work,
    with the number of regions found so far.
    """
    domain.require_inputs(network)
    cdef _Watcher watcher = _Watcher(limits.report)
    cdef Section part = _section(section)
    cdef int64_t limit = limits.regions
    cdef int threads = limits.threads
    _require_all_regions(network)
    cdef Run run
    with nogil:
        run = count_regions(network.model[0], domain.chart, domain.domain, &_report, <void*> watcher, limit, threads, part)
    return _status(run, watcher), run.outcome.count, _statistics(run.outcome)


cdef dict _assembled(Whole& whole, CompiledNetwork network, CompiledDomain domain, int threads, ComplexArrays& arrays):
    """Return the arrays of a partition, and their addresses, from the collected regions, with the maps of the outputs."""
    cdef ComplexSizes sizes = whole.sizes
    cdef int64_t dimension = domain.chart.dimension, outputs = network.outputs
    cdef int64_t pattern_bytes = network.pattern_bytes
    cdef OwnedMemory given[4]
    maps = ("maps", "map_errors") if outputs else ()
    collected = {
        "cell_offsets": ((sizes.regions + 1,), np.int64),
        "cell_vertices": ((sizes.corners,), np.int64),
        "cell_facets": ((sizes.corners,), np.int64),
        "packed_patterns": ((sizes.regions, pattern_bytes), np.uint8),
    }
    cdef int64_t bytes_collected = 8 * (sizes.regions + 2 * sizes.corners) + sizes.regions * pattern_bytes
    cdef boolean lent = bytes_collected >= _LARGE and lend(whole, arrays)
    result = _new_arrays({
        "vertices": ((sizes.vertices, dimension), np.float64),
        "vertex_errors": ((sizes.vertices,), np.float64),
        "facet_vertices": ((sizes.facets, 1 if domain.domain.arc else dimension), np.int64),
        "facet_regions": ((sizes.facets, 2), np.int64),
        "facet_kinks": ((sizes.facets,), np.int64),
        **{name: ((sizes.regions, outputs, dimension + 1), np.float64) for name in maps},
        **({} if lent else collected),
    })
    if maps:
        arrays.maps, arrays.map_errors = _doubles(result["maps"]), _doubles(result["map_errors"])
    arrays.vertices = _doubles(result["vertices"])
    arrays.vertex_errors = _doubles(result["vertex_errors"])
    arrays.facet_vertices = _indices(result["facet_vertices"])
    arrays.facet_regions = _indices(result["facet_regions"])
    arrays.facet_kinks = _indices(result["facet_kinks"])
    if not lent:
        arrays.cell_offsets = _indices(result["cell_offsets"])
        arrays.cell_vertices = _indices(result["cell_vertices"])
        arrays.cell_facets = _indices(result["cell_facets"])
        arrays.patterns = _bytes(result["packed_patterns"])
    with nogil:
        assemble(whole, arrays, threads)
    if lent:
        give(whole, given)
        arrays.cell_offsets, arrays.cell_vertices = <int64_t*> given[0].start, <int64_t*> given[1].start
        arrays.cell_facets, arrays.patterns = <int64_t*> given[2].start, <uint8_t*> given[3].start
        for place, name in zip(range(4), collected):
            shape, kind = collected[name]
            result[name] = _array_in(given[place], shape, kind)
    return result


def place(CompiledNetwork network, CompiledDomain domain, dict arrays, int64_t cells, report):
    """Place some vertices of a line or plane once more, in joined arrays; returns the status of `count`.

    `arrays` are those of a partition, in C order, and only the caller has them: "vertices" and "vertex_errors" are changed. `cells` is
    the number of cells of the recursion.
    """
    domain.require_inputs(network)
    regions, corners, vertices = len(arrays["packed_patterns"]), len(arrays["cell_vertices"]), len(arrays["vertex_errors"])
    if (domain.chart.dimension > 2 or arrays["vertices"].shape != (vertices, domain.chart.dimension)
            or arrays["cell_offsets"].shape != (regions + 1,) or arrays["cell_facets"].shape != (corners,)
            or arrays["packed_patterns"].shape != (regions, (network.kinks + 7) // 8)):
        raise ValueError("arrays of a partition do not fit together")
    if not all(array.flags.c_contiguous for array in arrays.values()):
        raise ValueError("arrays of a partition are not in C order")
    cdef _Watcher watcher = _Watcher(report)
    cdef ComplexSizes sizes
    cdef ComplexArrays given
    cdef Run run
    sizes.vertices, sizes.regions, sizes.corners, sizes.facets = vertices, regions, corners, len(arrays["facet_kinks"])
    given.vertices, given.vertex_errors = _doubles(arrays["vertices"]), _doubles(arrays["vertex_errors"])
    given.cell_offsets, given.cell_vertices = _indices(arrays["cell_offsets"]), _indices(arrays["cell_vertices"])
    given.cell_facets, given.facet_kinks = _indices(arrays["cell_facets"]), _indices(arrays["facet_kinks"])
    given.patterns = _bytes(arrays["packed_patterns"])
    with nogil:
        run = place_regions(network.model[0], domain.chart, domain.domain, &_report, <void*> watcher, given, sizes, cells)
    return _status(run, watcher)


def enumerate(CompiledNetwork network, CompiledDomain domain, limits, section, bint for_joining=False):
    """Enumerate the regions: (status, arrays, statistics), arrays as documented in `regions.Partition`.

    If the network has outputs, there are two more arrays, float64 [regions, outputs, dimension + 1]: `maps` has the
    constant and the slopes of each output in the chart, on each region, and `map_errors` bounds on their errors.
    If cells are left out, facets next to them and along some other cuts have one region; the statistics then have the
    number of cells that were left out, "closed".
    If neurons have been merged, patterns and facets refer to the whole network.
    `limits` and `section` as for `count`. With a size of a block, the work stops after so many regions, or a few more, if
    there are others: the status is then the path at which they begin. A block `for_joining` needs `place`, once it is joined.
    """
    domain.require_inputs(network)
    cdef _Watcher watcher = _Watcher(limits.report)
    cdef Section part = _section(section, limits.block)
    cdef int64_t limit = limits.regions
    cdef int threads = limits.threads
    cdef Run run, placed
    cdef Whole whole
    cdef ComplexArrays arrays
    cdef CompiledNetwork placing
    cdef int64_t zeros = 0
    if domain.chart.dimension > 2:
        result = _enumerated_in_polytope(network, domain, watcher, limit, threads, part, run)
        if network.whole is not None:
            zeros = network.unmerge(result)
    else:
        with nogil:
            run = enumerate_regions(network.model[0], domain.chart, domain.domain, &_report, <void*> watcher, limit,
                                    threads, part, whole)
        result = _assembled(whole, network, domain, threads, arrays)
        if network.whole is not None:
            zeros = network.unmerge(result)
            arrays.patterns = _bytes(result["packed_patterns"])
        # Joined blocks are placed by the network with all neurons, so other regions are, too.
        placing = network if network.whole is None else network.whole
        if not (for_joining or domain.domain.arc or run.status == Status.interrupted):
            with nogil:
                placed = place_regions(placing.model[0], domain.chart, domain.domain, &_report, <void*> watcher, arrays,
                                       whole.sizes, run.outcome.cells)
            if placed.status == Status.interrupted:
                run.status = Status.interrupted
    if result["cell_vertices"].nbytes >= _LARGE:
        expect_result(sum([array.nbytes for array in result.values()]))
    run.outcome.signs.exact += zeros
    run.outcome.signs.zero += zeros
    statistics = _statistics(run.outcome)
    if network.leaves_out:
        statistics["closed"] = run.outcome.closed
    return tuple(part.next) if part.more else _status(run, watcher), result, statistics


cdef object _status(const Run& run, _Watcher watcher):
    """Return how the work ended; a signal that came after the end must not lose the result."""
    if run.status == Status.finished:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            return error
    if run.status == Status.interrupted:
        return watcher.error
    return "limit_exceeded" if run.status == Status.limit_exceeded else "finished"


cdef class CompiledCells:
    """The cells of a partition of dimension two, as the core reads them. Keeps the arrays alive."""
    cdef PlaneCells cells
    cdef tuple given
    cdef readonly int64_t regions

    def __cinit__(self, vertices, vertex_errors, cell_offsets, cell_vertices, cell_facets, facet_regions, facet_kinks):
        self.given = vertices, vertex_errors, cell_offsets, cell_vertices, cell_facets, facet_regions, facet_kinks
        corners, facets = len(cell_vertices), len(facet_kinks)
        self.regions = len(cell_offsets) - 1
        if vertices.shape != (len(vertex_errors), 2) or facet_regions.shape != (facets, 2):
            raise ValueError("arrays of cells do not fit together")
        for indices, least, end in ((cell_offsets, 0, corners + 1), (cell_vertices, 0, len(vertices)),
                                    (cell_facets, 0, facets), (facet_regions, -1, self.regions)):
            if indices.size and (indices.min() < least or indices.max() >= end):
                raise ValueError("arrays of cells refer to what is not there")
        if len(cell_facets) != corners or self.regions < 1 or (np.diff(cell_offsets) < 1).any():
            raise ValueError("arrays of cells do not fit together")
        self.cells = PlaneCells(_doubles(vertices), _doubles(vertex_errors), _indices(cell_offsets), _indices(cell_vertices),
                                _indices(cell_facets), _indices(facet_regions), _indices(facet_kinks))

    def __reduce__(self):
        return CompiledCells, self.given

    def find(self, int64_t start, int64_t steps, points):
        """Return the cell that certainly contains each of the points float64 [m, 2]: int64 [m], -1 if unknown.

        Walks begin in the cell `start`, and take at most `steps` steps together.
        """
        kept = []
        cdef const double* flat = _flat(points, kept)
        cdef int64_t count = len(points)
        if points.shape != (count, 2) or not 0 <= start < self.regions:
            raise ValueError("points or start do not fit the cells")
        found = np.empty(count, dtype=np.int64)
        cdef int64_t* result = _indices(found)
        with nogil:
            find_cells(self.cells, start, steps, flat, count, result)
        return found


include "_core_polytopes.pxi"


def kernel():
    """Return the instruction set that the core uses on this machine: "avx512", "avx2" or "baseline"; "" if it can run none."""
    return kernel_name().decode()
