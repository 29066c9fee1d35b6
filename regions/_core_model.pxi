# SPDX-License-Identifier: MIT
# How does the core get a network? A part of `_core.pyx`.


cdef tuple _rows_and_pairs(int units, int kinks, starts):
    """Return the numbers of rows and kinks of units; units with arms, `starts` [units + 1], have a kink for each pair."""
    if not len(starts):
        return units, units * kinks
    sizes = np.diff(starts).astype(np.int64)
    if kinks or starts[0] != 0 or sizes.min(initial=1) < 1 or sizes.max(initial=1) > 255:
        raise ValueError("arms do not fit the units")
    return int(starts[-1]), int((sizes * (sizes - 1) // 2).sum())


@no_gc  # the arrays are in no cycle, and there may be many networks
cdef class CompiledNetwork:
    """The hidden layers of a `regions.Network`, as the core reads them. Keeps the arrays alive.

    `repeated_kinks` is a number of kinks that certainly have the line of an earlier kink of their layer.
    The last `output_layers` layers compute outputs: `enumerate` finds their maps. `groups` [units of the last hidden
    layer] are numbers of groups, from 0, or empty. `enumerate` then leaves out cells on which each group has a unit that
    is proven to be below its first breakpoint. ~g instead of a group g is for a unit that must be at its breakpoint: it counts
    too if it is proven to be above.
    `merged_from` is (whole, kinks, opposite) for a network with merged neurons: the network `whole` with all of them, and for each of its
    kinks the kink that it was merged into, int64, and whether it has the opposite bit, bool; or -1, -2 if it is zero, and the bit of
    a kink whose form is constant. `enumerate` then returns the regions of `whole`.
    """
    cdef Model* model
    cdef Unmerging unmerging
    cdef tuple arrays
    cdef readonly int inputs
    cdef readonly int64_t kinks
    cdef readonly int64_t repeated_kinks
    cdef readonly int outputs
    cdef readonly bint leaves_out
    cdef readonly CompiledNetwork whole
    cdef int64_t pattern_bytes

    def __cinit__(self, int inputs, layers, int output_layers=0, groups=(), merged_from=None):
        """Take `layers` as `regions.networks.lowering` makes them."""
        cdef Tables tables
        cdef const int32_t* of_arms
        cdef const int32_t* of_passed
        self.model = new Model(inputs)
        self.inputs = inputs
        self.kinks = 0
        kept, width, plain = [], inputs, 0
        for parts, biases, (breakpoints, slopes, intercepts), arms, passed, norm in layers:
            arm_count, passed_count = len(arms), len(passed)
            units, kinks = arm_count - 1 if arm_count else len(biases), breakpoints.shape[-1]
            if kinks > 254:
                raise ValueError("an activation can have at most 254 breakpoints")
            rows, pairs = _rows_and_pairs(units, kinks, arms)
            shape = slopes.shape
            if (biases.shape != (rows,) or breakpoints.shape not in ((kinks,), (units, kinks)) or intercepts.shape != shape
                    or shape not in ((kinks + 1,), (units, kinks + 1))):
                raise ValueError("layer arrays do not fit together")
            for first, part in parts:
                self._add_part(first, part, rows, width, kept)
            tables = Tables(kinks, breakpoints.size // kinks if kinks else 1, slopes.size // (kinks + 1),
                            _flat(breakpoints, kept), _flat(slopes, kept), _flat(intercepts, kept))
            of_arms = _numbers(arms, 0, rows + 1, kept) if arm_count else NULL
            of_passed = _numbers(passed, 0, width, kept) if passed_count else NULL
            self.model.add_layer(units, of_arms, _flat(biases, kept), tables, of_passed, passed_count, norm)
            self.kinks += pairs
            width = units + passed_count
            plain = 0 if pairs or arm_count else plain + 1
        if not 0 <= output_layers <= plain or (output_layers and passed_count):
            raise ValueError("layers of outputs have no kinks, and the last one passes nothing on")
        self.arrays = tuple(kept)
        self.repeated_kinks = self.model.repeated_kinks()
        self.model.set_output_layers(output_layers)
        self.outputs = width if output_layers else 0
        self.leaves_out = len(groups) > 0
        if self.leaves_out:
            _, biases, (breakpoints, *_), *_ = layers[len(layers) - output_layers - 1]
            if len(biases) != len(groups) or breakpoints.shape[-1] != 1 or len(layers) == output_layers:
                raise ValueError("groups do not fit the last hidden layer")
            self.model.set_groups(_numbers(groups, -len(groups), len(groups), kept), len(groups), max(max(g, ~g) for g in groups) + 1)
        self.pattern_bytes = (self.kinks + 7) // 8
        if merged_from is not None:
            self._keep_whole(*merged_from)

    def _keep_whole(self, CompiledNetwork whole, kinks, opposite):
        if kinks.shape != (whole.kinks,) or opposite.shape != (whole.kinks,) or self.outputs or self.leaves_out:
            raise ValueError("merged kinks do not fit the network")
        if kinks.size and (kinks.min() < -2 or kinks.max() >= self.kinks or len(np.unique(kinks[kinks >= 0])) < self.kinks):
            raise ValueError("numbers of merged kinks are out of range")
        self.unmerging = Unmerging(_indices(kinks), _bytes(opposite.view(np.uint8)), whole.kinks, self.kinks)
        if self.unmerging.needs_zeros():
            self.model.keep_zeros()
            self.pattern_bytes *= 2
        self.whole = whole

    cdef int64_t unmerge(self, dict result) except -1:
        """Replace the patterns of regions, and the names of facets, by those of the network with all neurons.

        Returns how often a kink that was removed is zero on a facet of a region, or in a region.
        """
        cdef int64_t regions = len(result["packed_patterns"]), facets = len(result["facet_kinks"]), zeros
        cdef int64_t* of_regions = _indices(result["cell_facets"])
        cdef int64_t sides = len(result["cell_facets"])
        cdef uint8_t* merged = _bytes(result["packed_patterns"])
        cdef int64_t* names = _indices(result["facet_kinks"])
        patterns = _new_arrays({"packed_patterns": ((regions, (self.whole.kinks + 7) // 8), np.uint8)})["packed_patterns"]
        cdef uint8_t* all_bits = _bytes(patterns)
        with nogil:
            self.unmerging.write_patterns(merged, regions, all_bits)
            zeros = self.unmerging.zeros(regions, of_regions, sides, names)
            self.unmerging.rename(names, facets)
        result["packed_patterns"] = patterns
        return zeros

    def _add_part(self, int first, part, int rows_here, int width, list kept):
        """Add a matrix [rows, inputs], or patches: kernels [kinds, rows, terms], and the kind, sources and targets of each."""
        if isinstance(part, np.ndarray):
            if part.ndim != 2 or len(part) != rows_here or first < 0 or first + part.shape[1] > width:
                raise ValueError("layer arrays do not fit together")
            self.model.add_dense(first, part.shape[1], _flat(part, kept))
            return
        kernels, kinds, reads, gives = part
        kind_count, rows, terms = kernels.shape
        if kinds.ndim != 1 or reads.shape != (len(kinds), terms) or gives.shape != (len(kinds), rows) or first < 0:
            raise ValueError("arrays of patches do not fit together")
        copied = []  # by the core
        cdef PatchArrays patches = PatchArrays(
            first, kind_count, rows, terms, len(kinds), _flat(kernels, copied), _numbers(kinds, 0, kind_count, copied),
            _numbers(reads, -1, width - first, copied), _numbers(gives, 0, rows_here, copied),
        )
        if gives.size and np.bincount(gives.reshape(-1)).max() > 1:
            raise ValueError("a row is in more than one patch")
        if kinds.size and rows:
            self.model.add_patches(patches, rows_here)

    def __dealloc__(self):
        del self.model
