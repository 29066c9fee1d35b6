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
    """
    cdef Model* model
    cdef tuple arrays
    cdef readonly int inputs
    cdef readonly int64_t kinks
    cdef readonly int64_t repeated_kinks
    cdef readonly int outputs
    cdef readonly bint leaves_out

    def __cinit__(self, int inputs, layers, int output_layers=0, groups=()):
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
