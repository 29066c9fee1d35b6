# SPDX-License-Identifier: MIT
# How are regions in three to six dimensions enumerated and measured? A part of `_core.pyx`.


cdef dict _enumerated_in_polytope(CompiledNetwork network, CompiledDomain domain, _Watcher watcher, int64_t limit, int threads,
                                  Section& part, Run& run):
    """Return the arrays of `enumerate` in three to six dimensions, with two more: int64 "cell_facet_offsets" [regions + 1]
    and "facet_offsets" [facets + 1]; "facet_vertices" is flat.
    """
    cdef FaceComplex whole
    with nogil:
        run = enumerate_in_polytope_(network.model[0], domain.chart, domain.domain, &_report, <void*> watcher, limit, threads,
                                     part, whole)
    cdef FaceSizes sizes = whole.sizes
    cdef FaceArrays arrays
    cdef int64_t dimension = domain.chart.dimension, outputs = network.outputs
    cdef OwnedMemory given[6]
    maps = ("maps", "map_errors") if outputs else ()
    collected = {
        "vertices": ((sizes.vertices, dimension), np.float64),
        "vertex_errors": ((sizes.vertices,), np.float64),
        "cell_vertices": ((sizes.corners,), np.int64),
        "cell_facets": ((sizes.sides,), np.int64),
        "facet_vertices": ((sizes.ends,), np.int64),
        "packed_patterns": ((sizes.regions, network.pattern_bytes), np.uint8),
    }
    cdef boolean lent = 8 * (sizes.corners + sizes.sides + sizes.ends) >= _LARGE and whole.can_lend()
    result = _new_arrays({
        "cell_offsets": ((sizes.regions + 1,), np.int64),
        "cell_facet_offsets": ((sizes.regions + 1,), np.int64),
        "facet_offsets": ((sizes.facets + 1,), np.int64),
        "facet_regions": ((sizes.facets, 2), np.int64),
        "facet_kinks": ((sizes.facets,), np.int64),
        **({} if lent else collected),
        **{name: ((sizes.regions, outputs, dimension + 1), np.float64) for name in maps},
    })
    if maps:
        arrays.maps, arrays.map_errors = _doubles(result["maps"]), _doubles(result["map_errors"])
    arrays.cell_offsets = _indices(result["cell_offsets"])
    arrays.cell_facet_offsets = _indices(result["cell_facet_offsets"])
    arrays.facet_offsets = _indices(result["facet_offsets"])
    arrays.facet_regions = _indices(result["facet_regions"])
    arrays.facet_kinks = _indices(result["facet_kinks"])
    if not lent:
        arrays.vertices = _doubles(result["vertices"])
        arrays.vertex_errors = _doubles(result["vertex_errors"])
        arrays.cell_vertices = _indices(result["cell_vertices"])
        arrays.cell_facets = _indices(result["cell_facets"])
        arrays.facet_vertices = _indices(result["facet_vertices"])
        arrays.patterns = _bytes(result["packed_patterns"])
    with nogil:
        whole.write(arrays)
    if lent:
        whole.give(given)
        for place, name in zip(range(6), collected):
            shape, kind = collected[name]
            result[name] = _array_in(given[place], shape, kind)
    return result


def polytope_sizes(arrays, metric):
    """Return volumes of regions and of facets in three to six dimensions, with bounds on their errors: four arrays of float64.

    `arrays` has arrays of a partition by their names. Volumes of regions are in chart coordinates, those of facets in the metric whose Gram
    matrix has the adjugate `metric` [d, d]; each number of it was rounded once.
    """
    kept = []
    cdef const double* products = _flat(metric, kept)
    cdef PolytopeArrays given
    cdef int64_t regions = len(arrays["cell_offsets"]) - 1, facets = len(arrays["facet_offsets"]) - 1
    vertices, dimension = arrays["vertices"].shape
    for name, least, end in (("cell_vertices", 0, vertices), ("cell_facets", 0, facets), ("facet_vertices", 0, vertices)):
        if arrays[name].size and (arrays[name].min() < least or arrays[name].max() >= end):
            raise ValueError("arrays of polytopes refer to what is not there")
    for offsets, items in (("cell_offsets", "cell_vertices"), ("cell_facet_offsets", "cell_facets"), ("facet_offsets", "facet_vertices")):
        if arrays[offsets][0] != 0 or arrays[offsets][-1] != arrays[items].size or (np.diff(arrays[offsets]) < 1).any():
            raise ValueError("arrays of polytopes do not fit together")
    if (not 3 <= dimension <= 6 or arrays["vertex_errors"].shape != (vertices,) or len(arrays["cell_facet_offsets"]) != regions + 1
            or metric.shape != (dimension, dimension)):
        raise ValueError("arrays of polytopes do not fit together")
    result = [np.empty(count) for count in (regions, regions, facets, facets)]
    cdef Volumes volumes = Volumes(_doubles(result[0]), _doubles(result[1]), _doubles(result[2]), _doubles(result[3]))
    given.dimension, given.regions, given.facets, given.vertex_count = dimension, regions, facets, vertices
    given.vertices, given.vertex_errors = _doubles(arrays["vertices"]), _doubles(arrays["vertex_errors"])
    given.cell_offsets, given.cell_vertices = _indices(arrays["cell_offsets"]), _indices(arrays["cell_vertices"])
    given.cell_facet_offsets, given.cell_facets = _indices(arrays["cell_facet_offsets"]), _indices(arrays["cell_facets"])
    given.facet_offsets, given.facet_vertices = _indices(arrays["facet_offsets"]), _indices(arrays["facet_vertices"])
    with nogil:
        measure(given, products, volumes)
    return tuple(result)
