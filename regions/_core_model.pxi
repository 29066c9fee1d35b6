# SPDX-License-Identifier: MIT
# How does the core get a network? A part of `_core.pyx`.


cdef tuple _rows_and_pairs(int units, int kinks, starts):
    """Return the numbers of rows and kinks of units; units with arms, `starts` [units + 1], have a kink for each pair."""
    if not len(starts):
        return units, units * kinks
    sizes = np.diff(starts).astype(np.int64)
    if kinks or starts.shape != (units + 1,) or starts[0] != 0 or sizes.min(initial=1) < 1 or sizes.max(initial=1) > 255:
        raise ValueError("arms do not fit the units")
    return int(starts[-1]), int((sizes * (sizes - 1) // 2).sum())


cdef class CompiledNetwork:
    """The hidden layers of a `regions.Network`, as the core reads them. Keeps the arrays alive.

    `repeated_kinks` is a number of kinks that certainly have the line of an earlier kink of their layer.
    The last `output_layers` layers compute outputs: `enumerate` finds their maps. `groups` [units of the last hidden
    layer] are numbers of groups, from 0, or empty. `enumerate` then leaves out cells on which each group has a unit that
    is proven to be below its first breakpoint. ~g instead of a group g is for a unit that must be at its breakpoint: it counts
    too if it is proven to be above.
    """
    cdef Model* model
    cdef list arrays
    cdef readonly int inputs
    cdef readonly int64_t kinks
    cdef readonly int64_t repeated_kinks
    cdef readonly int outputs
    cdef readonly bint leaves_out

    def __cinit__(self, int inputs, layers, int output_layers=0, groups=()):
        """Take `layers` as `regions.networks.lowering` makes them."""
        cdef const double[::1] biases, breakpoints, slopes, intercepts
        cdef const int32_t[::1] passed, arms, group_of
        self.model = new Model(inputs)
        self.inputs = inputs
        self.arrays = []
        self.kinks = 0
        width, plain = inputs, 0
        for parts, b, (t, s, c), starts, passed_on, norm in layers:
            units, kinks = t.shape
            if kinks > 254:
                raise ValueError("an activation can have at most 254 breakpoints")
            rows, pairs = _rows_and_pairs(units, kinks, starts)
            if b.shape != (rows,) or s.shape != (units, kinks + 1) or c.shape != (units, kinks + 1):
                raise ValueError("layer arrays do not fit together")
            for first, part in parts:
                self._add_part(first, part, rows, width)
            biases, breakpoints, slopes, intercepts = _flat(b), _flat(t), _flat(s), _flat(c)
            passed, arms = _numbers(passed_on, 0, width), _numbers(starts, 0, rows + 1)
            self.arrays += [biases.base, breakpoints.base, slopes.base, intercepts.base, arms.base]
            self.model.add_layer(units, &arms[0] if len(starts) else NULL, &biases[0], kinks, &breakpoints[0], &slopes[0], &intercepts[0], &passed[0],
                                 len(passed_on), norm)
            self.kinks += pairs
            width = units + len(passed_on)
            plain = 0 if pairs or len(starts) else plain + 1
        if not 0 <= output_layers <= plain or (output_layers and len(passed_on)):
            raise ValueError("layers of outputs have no kinks, and the last one passes nothing on")
        self.repeated_kinks = self.model.repeated_kinks()
        self.model.set_output_layers(output_layers)
        self.outputs = width if output_layers else 0
        self.leaves_out = len(groups) > 0
        if self.leaves_out:
            t = layers[len(layers) - output_layers - 1][2][0]
            if t.shape != (len(groups), 1) or len(layers) == output_layers:
                raise ValueError("groups do not fit the last hidden layer")
            group_of = _numbers(groups, -len(groups), len(groups))
            self.model.set_groups(&group_of[0], len(groups), max(max(g, ~g) for g in groups) + 1)

    def _add_part(self, int first, part, int rows_here, int width):
        """Add a matrix [rows, inputs], or patches: kernels [kinds, rows, terms], and the kind, sources and targets of each."""
        cdef const double[::1] weights
        cdef const int32_t[::1] kind, sources, targets
        if isinstance(part, np.ndarray):
            if part.ndim != 2 or len(part) != rows_here or first < 0 or first + part.shape[1] > width:
                raise ValueError("layer arrays do not fit together")
            weights = _flat(part)
            self.arrays.append(weights.base)
            self.model.add_dense(first, part.shape[1], &weights[0])
            return
        kernels, kinds, reads, gives = part
        kind_count, rows, terms = kernels.shape
        if kinds.ndim != 1 or reads.shape != (len(kinds), terms) or gives.shape != (len(kinds), rows) or first < 0:
            raise ValueError("arrays of patches do not fit together")
        weights, kind = _flat(kernels), _numbers(kinds, 0, kind_count)
        sources, targets = _numbers(reads, -1, width - first), _numbers(gives, 0, rows_here)
        if gives.size and np.bincount(gives.reshape(-1)).max() > 1:
            raise ValueError("a row is in more than one patch")
        if not kinds.size or not rows:
            return
        self.model.add_patches(PatchArrays(first, kind_count, rows, terms, len(kinds), &weights[0], &kind[0], &sources[0],
                                           &targets[0]), rows_here)

    def __dealloc__(self):
        del self.model
