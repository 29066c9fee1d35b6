# SPDX-License-Identifier: MIT
# How does a task return the subtree below one node, and how are subtrees merged? A part of `_core.pyx`.


cdef int _require_all_regions(CompiledNetwork network) except -1:
    if network.leaves_out:
        raise ValueError("only enumerations leave out regions")
    return 0


def subtree(CompiledNetwork network, CompiledDomain domain, limits, node):
    """Enumerate below a node of the recursion: (status, arrays, statistics), to be merged by `graft`.

    `regions.counting.subtrees` documents the arrays.
    """
    _require_all_regions(network)
    domain.require_inputs(network)
    cdef _Watcher watcher = _Watcher(limits.report)
    cdef int64_t limit = limits.regions
    cdef int threads = limits.threads
    cdef vector[int] steps = _steps(node)
    cdef Whole whole
    cdef Border border
    cdef SubtreeArrays arrays
    cdef Run run
    with nogil:
        run = enumerate_below(network.model[0], domain.chart, domain.domain, &_report, <void*> watcher, limit,
                              threads, steps, whole, border)
    cdef int64_t vertices = whole.size().vertices, corners = whole.size().corners, regions = whole.size().regions
    result = _new_arrays({
        "vertices": ((vertices, domain.chart.dimension), np.float64),
        "vertex_errors": ((vertices,), np.float64),
        "same": ((vertices,), np.int64),
        "cell_offsets": ((regions + 1,), np.int64),
        "cell_vertices": ((corners,), np.int64),
        "cell_kinks": ((corners,), np.int64),
        "cell_twins": ((corners,), np.int64),
        "border": ((border.facets.size(),), np.int64),
        "border_ends": ((border.ends.size(),), np.int64),
        "packed_patterns": ((regions, (network.kinks + 7) // 8), np.uint8),
    })
    arrays.vertices = _doubles(result["vertices"])
    arrays.vertex_errors = _doubles(result["vertex_errors"])
    arrays.same = _indices(result["same"])
    arrays.cell_offsets = _indices(result["cell_offsets"])
    arrays.cell_vertices = _indices(result["cell_vertices"])
    arrays.cell_kinks = _indices(result["cell_kinks"])
    arrays.cell_twins = _indices(result["cell_twins"])
    arrays.border = _indices(result["border"])
    arrays.border_ends = _indices(result["border_ends"])
    arrays.patterns = _bytes(result["packed_patterns"])
    with nogil:
        write(whole, border, arrays)
    return _status(run, watcher), result, _statistics(run.outcome)


cdef Subtree _subtree(arrays, int64_t dimension, int64_t pattern_bytes) except *:
    """Return the arrays for the core; their numbers have been checked by the caller, or come from the core."""
    cdef Subtree result
    vertices, corners, regions = len(arrays["same"]), len(arrays["cell_vertices"]), len(arrays["packed_patterns"])
    if (arrays["vertices"].shape != (vertices, dimension) or arrays["vertex_errors"].shape != (vertices,)
            or arrays["cell_offsets"].shape != (regions + 1,) or arrays["cell_kinks"].shape != (corners,)
            or arrays["cell_twins"].shape != (corners,) or arrays["packed_patterns"].shape != (regions, pattern_bytes)):
        raise ValueError("arrays of a subtree do not fit together")
    if not all(array.flags.c_contiguous for array in arrays.values()):
        raise ValueError("arrays of a subtree are not in C order")
    result.vertex_count = len(arrays["vertex_errors"])
    result.region_count = len(arrays["cell_offsets"]) - 1
    result.corner_count = len(arrays["cell_vertices"])
    result.edge_count = len(arrays["border_ends"])
    result.vertices = _doubles(arrays["vertices"])
    result.vertex_errors = _doubles(arrays["vertex_errors"])
    result.same = _indices(arrays["same"])
    result.cell_offsets = _indices(arrays["cell_offsets"])
    result.cell_vertices = _indices(arrays["cell_vertices"])
    result.cell_kinks = _indices(arrays["cell_kinks"])
    result.cell_twins = _indices(arrays["cell_twins"])
    result.border = _indices(arrays["border"])
    result.border_ends = _indices(arrays["border_ends"])
    result.patterns = _bytes(arrays["packed_patterns"])
    return result


cdef class _SubtreeReader(_Watcher):
    """Reads one subtree after the other. Keeps the arrays of the last one alive."""
    cdef object arrays_at
    cdef object arrays
    cdef int64_t dimension
    cdef int64_t pattern_bytes

    cdef int read(self, size_t index, Subtree* subtree):
        self.arrays = None
        try:
            self.arrays = self.arrays_at(index)
            subtree[0] = _subtree(self.arrays, self.dimension, self.pattern_bytes)
        except BaseException as error:
            self.error = error
            return 1
        return 0


cdef int _read(void* context, size_t index, Subtree& subtree) noexcept with gil:
    return (<_SubtreeReader> context).read(index, &subtree)


def graft(CompiledNetwork network, CompiledDomain domain, nodes, arrays_at, int64_t cells):
    """Merge subtrees: (status, arrays, statistics, closed), arrays as for `enumerate`.

    `nodes` are the nodes of the subtrees in their order, and `arrays_at(index)` returns the arrays of one, as `subtree`
    does; it is called once for each, in order, and its exception becomes the status. `cells` is the number of cells in
    all subtrees; statistics are about the cells above. If a subtree is missing or incomplete, these cells stay open,
    and `closed` is False.
    """
    _require_all_regions(network)
    domain.require_inputs(network)
    cdef _SubtreeReader reader = _SubtreeReader(None)
    cdef Subtrees subtrees
    cdef Whole whole
    cdef boolean closed = False
    cdef Run run
    reader.arrays_at = arrays_at
    reader.dimension = domain.chart.dimension
    reader.pattern_bytes = (network.kinks + 7) // 8
    for node in nodes:
        subtrees.nodes.push_back(_steps(node))
    subtrees.read = &_read
    subtrees.context = <void*> reader
    with nogil:
        run = graft_subtrees(network.model[0], domain.chart, domain.domain, &_report, <void*> reader, subtrees, cells,
                             whole, closed)
    reader.arrays = None
    return _status(run, reader), _assembled(whole, network, domain, 1, 0), _statistics(run.outcome), closed
