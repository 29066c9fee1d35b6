# SPDX-License-Identifier: MIT
"""What does the binding take from the C++ core? The same declarations as in the headers, in the same words."""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libcpp cimport bool as boolean
from libcpp.vector cimport vector


cdef extern from "task/network.hpp" namespace "regions" nogil:
    cdef struct Chart:
        int dimension
        int inputs
        const double* origin
        const double* directions

    cdef struct Domain:
        int count
        const double* generators
        bint arc
        int form_count
        const double* forms


cdef extern from "task/operator.hpp" namespace "regions" nogil:
    cdef struct PatchArrays:
        int first
        int kinds
        int rows
        int terms
        int patches
        const double* kernels
        const int32_t* kind
        const int32_t* sources
        const int32_t* targets


cdef extern from "collect/unmerge.hpp" namespace "regions" nogil:
    cdef cppclass Unmerging:
        Unmerging()
        Unmerging(const int64_t* kinks, const uint8_t* opposite, int64_t count, int64_t merged_count) except +
        boolean needs_zeros()
        void write_patterns(const uint8_t* merged, int64_t regions, uint8_t* patterns) except +
        int64_t zeros(int64_t regions, const int64_t* facets, int64_t count, const int64_t* kinks)
        void rename(int64_t* kinks, int64_t count)


cdef extern from "api/bridge.hpp" namespace "regions" nogil:
    cdef struct Tables:
        int kinks
        int breakpoint_rows
        int rows
        const double* breakpoints
        const double* slopes
        const double* intercepts

    cdef cppclass Model:
        Model(int inputs) except +
        void add_dense(int first, int inputs, const double* weights) except +
        void add_patches(const PatchArrays& arrays, int units) except +
        void add_layer(int units, const int32_t* arms, const double* biases, const Tables& tables, const int32_t* passed,
                       int passed_count, double spectral_norm) except +
        int64_t repeated_kinks()
        void set_output_layers(int count)
        void set_groups(const int32_t* group_of, int units, int groups) except +
        void keep_zeros()

    cdef enum class Status:
        finished
        interrupted
        limit_exceeded

    cdef struct SignCounts:
        int64_t filter
        int64_t longer[3]
        int64_t exact
        int64_t zero

    cdef struct Outcome:
        int64_t count
        int64_t cells
        int64_t closed
        SignCounts signs

    cdef cppclass Run:
        Status status
        Outcome outcome

    cdef struct ComplexSizes:
        int64_t regions
        int64_t corners
        int64_t vertices
        int64_t facets

    cdef struct OwnedMemory:
        void* start
        size_t bytes

    OwnedMemory new_block(size_t bytes) except +
    void release(OwnedMemory block)
    void expect_result(size_t bytes)

    cdef cppclass Whole:
        ComplexSizes sizes

    cdef struct ComplexArrays:
        double* vertices
        double* vertex_errors
        int64_t* cell_offsets
        int64_t* cell_vertices
        int64_t* cell_facets
        int64_t* facet_vertices
        int64_t* facet_regions
        int64_t* facet_kinks
        uint8_t* patterns
        double* maps
        double* map_errors

    cdef cppclass Section:
        vector[int] begin
        bint ends
        vector[int] end
        int64_t most
        bint more
        vector[int] next

    ctypedef int (*Report)(void* context, double finished, int64_t regions) noexcept

    Run count_regions(const Model& model, const Chart& chart, const Domain& domain, Report report, void* context,
                      int64_t limit, int workers, Section& section) except +
    Run enumerate_regions(const Model& model, const Chart& chart, const Domain& domain, Report report, void* context,
                          int64_t limit, int workers, Section& section, Whole& whole) except +
    cdef struct FaceSizes:
        int64_t regions
        int64_t corners
        int64_t vertices
        int64_t sides
        int64_t facets
        int64_t ends

    cdef struct FaceArrays:
        double* vertices
        double* vertex_errors
        int64_t* cell_offsets
        int64_t* cell_vertices
        int64_t* cell_facet_offsets
        int64_t* cell_facets
        int64_t* facet_offsets
        int64_t* facet_vertices
        int64_t* facet_regions
        int64_t* facet_kinks
        uint8_t* patterns
        double* maps
        double* map_errors

    cdef cppclass FaceComplex:
        FaceSizes sizes
        void write(const FaceArrays& arrays)
        boolean can_lend()
        void give(OwnedMemory* memory)

    Run enumerate_in_polytope_ "regions::enumerate_in_polytope"(const Model& model, const Chart& chart, const Domain& domain, Report report, void* context,
                              int64_t limit, int workers, Section& section, FaceComplex& complex) except +
    Run place_regions(const Model& model, const Chart& chart, const Domain& domain, Report report, void* context,
                      const ComplexArrays& arrays, const ComplexSizes& sizes, int64_t cells) except +
    Run find_frontier(const Model& model, const Chart& chart, const Domain& domain, Report report, void* context,
                      int64_t least, bint leaves_swept_whole, vector[vector[int]]& paths) except +
    vector[double] corners_of(int dimension, const double* forms, int form_count, Report report, void* context) except +
    vector[int] limbs_of_rows(const Model& model, const Chart& chart, const Domain& domain) except +
    void assemble(Whole& whole, const ComplexArrays& arrays, int workers) except +
    boolean lend(Whole& whole, ComplexArrays& arrays)
    void give(Whole& whole, OwnedMemory* memory) except +

    cdef struct PolytopeArrays:
        int dimension
        int64_t regions
        int64_t facets
        int64_t vertex_count
        const double* vertices
        const double* vertex_errors
        const int64_t* cell_offsets
        const int64_t* cell_vertices
        const int64_t* cell_facet_offsets
        const int64_t* cell_facets
        const int64_t* facet_offsets
        const int64_t* facet_vertices

    cdef struct Volumes:
        double* regions
        double* region_errors
        double* facets
        double* facet_errors

    void measure(const PolytopeArrays& arrays, const double* metric, const Volumes& volumes) except +

    cdef struct PlaneCells:
        const double* vertices
        const double* vertex_errors
        const int64_t* cell_offsets
        const int64_t* cell_vertices
        const int64_t* cell_facets
        const int64_t* facet_regions
        const int64_t* facet_kinks

    void find_cells(const PlaneCells& cells, int64_t start, int64_t steps, const double* points, int64_t count,
                    int64_t* found)
    const char* kernel_name() except +
