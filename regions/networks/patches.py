# SPDX-License-Identifier: MIT
"""What is a linear operator that applies small dense blocks at many positions?

A *patch* is a block of weights, a list of the inputs that its columns read, and a list of the outputs that its rows
compute. A convolution has one patch for each position and group, all with the same weights; sources are missing where
it overlaps the padding. Means over windows are patches of one row, and a selection, a permutation or a scaling consists
of patches of one weight.
Invariant: an output is in at most one patch; an output in no patch is 0.
Cost: memory for the lists, not for a matrix; one matrix product for each kind of block to apply it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.ground.arithmetic.roundoff import UP
from regions.ground.arithmetic.spectral_norm import spectral_norm_bound
from regions.ground.arithmetic.types import Floats
from regions.networks.dense import Dense
from regions.networks.lattice import Lattice, norm_on_lattice

__all__ = ["Patches", "first_problem_of_patches", "flat_places"]

# Numbers gathered at a time by `apply`: 8 MB.
CHUNK = 1 << 20
# Matrices are read as patches if a row has at most this many weights on average. With more weights, patches are slower
# than a matrix.
FEW_TERMS = 4


@dataclass(frozen=True, eq=False)
class Patches:
    """Dense blocks at many places.

    Parameters
    ----------
    inputs, outputs : int
    kernels : [kinds, rows, terms]
        The blocks, doubles or the numbers of another arithmetic.
    kinds : int32 [patches]
        The block of each patch.
    sources : int32 [patches, terms]
        Index of the input that each column reads, or -1.
    targets : int32 [patches, rows]
        Index of the output that each row computes.
    lattice : Lattice, optional
        Positions of the patches if they are regular, as in a convolution. It is used only for a better `norm_bound`,
        and checked there, not trusted.
    """

    inputs: int
    outputs: int
    kernels: NDArray[Any]
    kinds: NDArray[np.int32]
    sources: NDArray[np.int32]
    targets: NDArray[np.int32]
    lattice: Lattice | None = None

    @classmethod
    def convolution(
        cls,
        kernel: NDArray[Any],
        shape: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[tuple[int, int]],
        dilation: Sequence[int],
        groups: int = 1,
    ) -> Patches:
        """Return a convolution in the sense of neural networks: kernels are not flipped.

        Parameters
        ----------
        kernel : [channels out, channels in / groups, *window]
        shape : sequence of int
            Shape of the inputs: channels, then one length for each axis of the window.
        stride, padding, dilation
            One for each axis of the window; padding, with zeros, before and after.
        groups : int
        """
        channels, *lengths = shape
        out, each, *window = kernel.shape
        # Input positions of the window's entries along each axis: [positions, entries], -1 outside.
        axes = []
        for length, size, step, (before, after), spread in zip(lengths, window, stride, padding, dilation, strict=True):
            count = (length + before + after - spread * (size - 1) - 1) // step + 1
            places = np.arange(count)[:, np.newaxis] * step - before + spread * np.arange(size)
            axes.append(np.where((places >= 0) & (places < length), places, -1))
        positions = flat_places(axes, lengths)
        counts = [len(places) for places in axes]
        corners = np.indices(counts).reshape(len(axes), -1).T * stride - np.array(padding).reshape(-1, 2)[:, 0]
        offsets = np.indices((each, *window)).reshape(len(axes) + 1, -1).T * [1, *dilation]
        lattice = Lattice(np.tile(corners, (groups, 1)).astype(np.int32), offsets.astype(np.int32))
        count, spread_over = positions.shape[0], prod(lengths)
        within = (positions[:, np.newaxis, :] + np.arange(each)[:, np.newaxis] * spread_over).reshape(count, -1)
        gone = np.tile(positions < 0, each)
        rows = out // groups
        sources = [np.where(gone, -1, within + group * each * spread_over) for group in range(groups)]
        first = np.arange(count)[:, np.newaxis] + np.arange(rows) * count
        targets = [first + group * rows * count for group in range(groups)]
        return cls(
            channels * spread_over,
            out * count,
            kernel.reshape(groups, rows, -1),
            np.repeat(np.arange(groups, dtype=np.int32), count),
            np.concatenate(sources).astype(np.int32),
            np.concatenate(targets).astype(np.int32),
            lattice,
        )

    @classmethod
    def of_short_rows(cls, weights: Floats) -> Patches | None:
        """Return a matrix with few weights in each row as patches; None for other matrices.

        Rows that read the same inputs share a patch, if there are as many of them for each set of inputs.
        """
        outputs, inputs = weights.shape
        if np.count_nonzero(weights) > FEW_TERMS * outputs:
            return None
        rows, read = np.nonzero(weights)
        counts = np.bincount(rows, minlength=outputs)
        terms = int(counts.max(initial=0))
        if not 0 < terms <= FEW_TERMS**2:
            return None
        sources = np.full((outputs, terms), -1, dtype=np.int32)
        kernels = np.zeros((outputs, 1, terms))
        places = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        sources[rows, places], kernels[rows, 0, places] = read, weights[rows, read]
        (used,) = np.nonzero(counts)
        sets, of_row = np.unique(sources[used], axis=0, return_inverse=True)
        sizes = np.bincount(of_row.ravel())
        if (sizes == sizes[0]).all():
            targets = used[np.argsort(of_row.ravel(), kind="stable")].reshape(len(sets), -1)
        else:
            sets, targets = sources[used], used[:, np.newaxis]
        blocks = kernels[targets, 0]
        different, kinds = np.unique(blocks, axis=0, return_inverse=True)
        return cls(
            inputs,
            outputs,
            different,
            kinds.ravel().astype(np.int32),
            sets,
            np.ascontiguousarray(targets, dtype=np.int32),
        )

    @classmethod
    def selection(cls, inputs: int, sources: NDArray[np.integer]) -> Patches:
        """Return the operator whose output i is input ``sources[i]``, or 0 if that is -1."""
        flat = sources.ravel()
        kept = np.flatnonzero(flat >= 0)
        return cls._single(inputs, flat.size, np.ones((1, 1, 1)), np.zeros(kept.size), flat[kept], kept)

    @classmethod
    def scale(cls, factors: NDArray[Any]) -> Patches:
        """Return the operator whose output i is input i times ``factors[i]``."""
        if factors.size and (factors == factors[0]).all():
            values, kinds = factors[:1], np.zeros(factors.size, dtype=np.intp)
        else:
            values, kinds = np.unique(factors, return_inverse=True)
        places = np.arange(factors.size)
        return cls._single(factors.size, factors.size, values.reshape(-1, 1, 1), kinds.ravel(), places, places)

    @classmethod
    def _single(
        cls,
        inputs: int,
        outputs: int,
        kernels: NDArray[Any],
        kinds: NDArray[Any],
        sources: NDArray[Any],
        targets: NDArray[Any],
    ) -> Patches:
        kind, read, given = (each.astype(np.int32) for each in (kinds, sources[:, np.newaxis], targets[:, np.newaxis]))
        return cls(inputs, outputs, kernels, kind, read, given)

    @cached_property
    def weights(self) -> NDArray[Any]:
        """The matrix [outputs, inputs]; for large operators it is far larger than the patches."""
        matrix = np.zeros((self.outputs, self.inputs), dtype=self.kernels.dtype)
        for patch in range(len(self.kinds)):
            (read,) = np.nonzero(self.sources[patch] >= 0)
            block = self.kernels[self.kinds[patch]][:, read]
            # A patch may read an input more than once.
            np.add.at(matrix, (self.targets[patch][:, np.newaxis], self.sources[patch][read]), block)
        matrix.setflags(write=False)
        return matrix

    @cached_property
    def multiply_adds(self) -> int:
        """Number of products in one application."""
        return int((self.sources >= 0).sum()) * self.kernels.shape[1]

    @cached_property
    def most_terms(self) -> int:
        """Largest number of products in the sum of one output.

        If a patch reads an input m times, the number is multiplied by sqrt(m). Rounding in a sum of n products is
        bounded by the norms of the weights and of the n inputs, which are sqrt(m) times as long as all inputs.
        """
        length = self.sources.shape[1]
        if length * ceil(sqrt(length)) <= self.inputs or not self.read_again:
            return self.inputs
        return max(self.inputs, length * ceil(sqrt(1 + self.read_again)))

    @cached_property
    def read_again(self) -> int:
        """The most places at which a patch reads an input that it also reads at an earlier one.

        After replicated, reflected or circular padding, patches on a lattice do.
        """
        ordered = np.sort(self.sources, axis=1)
        again = (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)
        return int(again.sum(axis=1).max(initial=0))

    @cached_property
    def most_terms_transposed(self) -> int:
        """The same for the transposed operator: the rows of all patches that read one input, however often."""
        reads = np.bincount(self.sources[self.sources >= 0], minlength=1)
        return int(reads.max()) * self.kernels.shape[1]

    @cached_property
    def norm_bound(self) -> float:
        """An upper bound on the spectral norm, if the weights are doubles.

        The norm of the patches of one block is bounded on their lattice. Without a lattice, the output of a patch
        has at most the norm |K| |x restricted to its sources|. Each output is in one patch, so if an input is read at
        most m times, squares sum up to |K|^2 m |x|^2. Patches of different blocks have different outputs: squares of
        norms are added if they read the same inputs.
        """
        scales = np.zeros(len(self.kernels))
        for kind, patches in enumerate(self._patches_of):
            if self.kernels.size and patches.size:
                scales[kind] = self._norm_of(kind, patches)
        largest = scales.max(initial=0.0)
        if largest == 0.0 or not np.isfinite(largest):
            return float(largest)
        squares = np.zeros(self.inputs)
        for scale, patches in zip(scales, self._patches_of, strict=True):
            read = self.sources[patches]
            squares[np.unique(read[read >= 0])] += (scale / largest) ** 2
        return float(largest * np.sqrt(squares.max(initial=0.0)) * UP)

    def _norm_of(self, kind: int, patches: NDArray[np.integer]) -> float:
        kernel, sources = self.kernels[kind], self.sources[patches]
        uses = int(np.bincount(sources[sources >= 0], minlength=1).max(initial=0))
        norm = spectral_norm_bound(kernel) * sqrt(uses) if kernel.any() else 0.0
        if self.lattice is None or uses <= 1:
            return norm
        part = Lattice(self.lattice.corners[patches], self.lattice.offsets)
        return min(norm, norm_on_lattice(kernel, sources, part))

    @cached_property
    def frobenius(self) -> float:
        """The Frobenius norm, if the weights are doubles; squares do not overflow on the way."""
        largest = np.abs(self.kernels).max(initial=0.0)
        _, exponent = np.frexp(largest)
        squares = np.ldexp(self.kernels, -exponent) ** 2
        total = sum(
            float(((self.sources[self.kinds == kind] >= 0) @ squares[kind].T).sum()) for kind in range(len(squares))
        )
        return float(np.ldexp(sqrt(total), exponent))

    def terms(self, output: int) -> tuple[NDArray[np.int32], NDArray[Any]]:
        """Return the inputs that an output reads, and their weights."""
        patch, row = self._places[output]
        if patch < 0:
            return self.sources[:0].ravel(), self.kernels[:0].ravel()
        read = self.sources[patch] >= 0
        return self.sources[patch][read], self.kernels[self.kinds[patch], row][read]

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """Patch and row of each output, -1 if it is in no patch: [outputs, 2]."""
        places = np.full((self.outputs, 2), -1, dtype=np.int32)
        patches, rows = np.indices(self.targets.shape, dtype=np.int32)
        places[self.targets, 0], places[self.targets, 1] = patches, rows
        return places

    def apply(self, values: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Map values [.., inputs] to [.., outputs]; ``out`` may receive rows [m, outputs]."""
        flat = values.reshape(-1, self.inputs)
        result = np.empty((len(flat), self.outputs), dtype=np.result_type(values, self.kernels)) if out is None else out
        result[...] = 0
        step = max(1, CHUNK // max(1, self.sources.size))
        # numpy indexes many times faster with its own integer type than with others.
        lists = [
            (self.sources[patches].astype(np.intp), self.targets[patches].ravel().astype(np.intp), kernel.T)
            for patches, kernel in zip(self._patches_of, self.kernels, strict=True)
        ]
        for start in range(0, len(flat), step):
            # One more input, which is 0, stands for the missing ones.
            part = flat[start : start + step]
            padded = np.concatenate([part, np.zeros((len(part), 1), dtype=part.dtype)], axis=1)
            for sources, targets, weights in lists:
                # One large product is faster than many small ones, because BLAS synchronises its threads after each.
                gathered = np.take(padded, sources, axis=1).reshape(len(part) * len(sources), sources.shape[1])
                result[start : start + step, targets] = (gathered @ weights).reshape(len(part), -1)
        return result.reshape(*values.shape[:-1], self.outputs)

    def apply_transposed(self, values: NDArray[Any]) -> NDArray[Any]:
        """Map values [.., outputs] to [.., inputs] by the transposed operator."""
        flat = values.reshape(-1, self.outputs)
        result = np.zeros((self.inputs, len(flat)), dtype=np.result_type(values, self.kernels))
        for patches, kernel, adding in zip(self._patches_of, self.kernels, self._additions, strict=True):
            gathered = np.take(flat, self.targets[patches].ravel().astype(np.intp), axis=1)
            products = gathered.reshape(len(flat) * len(patches), len(kernel)) @ kernel
            result += adding @ np.ascontiguousarray(products.reshape(len(flat), adding.shape[1]).T)
        return np.ascontiguousarray(result.T).reshape(*values.shape[:-1], self.inputs)

    def column_products(self, columns: NDArray[Any], values: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        """Multiply some columns [m] of the matrix by some rows [m] of values [.., outputs]: [m] inner products."""
        begins, outputs, weights = self._columns
        counts = begins[columns + 1] - begins[columns]
        owners = np.repeat(np.arange(len(columns)), counts)
        entries = np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts - begins[columns], counts)
        products = weights[entries] * values[rows[owners], outputs[entries]]
        return np.bincount(owners, products, len(columns))

    @cached_property
    def _columns(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[Any]]:
        """The nonzero pattern by column: the first entry of each, and the output and the weight of each entry."""
        entries = np.argsort(self.sources.ravel(), kind="stable")
        entries = entries[np.count_nonzero(self.sources < 0) :]
        patches, terms = np.divmod(entries, self.sources.shape[1])
        rows = self.kernels.shape[1]
        counts = np.bincount(self.sources.ravel()[entries], minlength=self.inputs) * rows
        weights = self.kernels[self.kinds[patches], :, terms].ravel()
        return np.append(0, np.cumsum(counts)), self.targets[patches].ravel(), weights

    @cached_property
    def _additions(self) -> list[Any]:
        """For each kind of block, the sparse matrix of zeros and ones that adds up what its patches give to inputs."""
        from scipy.sparse import csr_array

        found = []
        for patches in self._patches_of:
            sources = self.sources[patches].ravel()
            entries = np.flatnonzero(sources >= 0)
            ones = np.ones(len(entries), dtype=np.int8)
            found.append(csr_array((ones, (sources[entries], entries)), shape=(self.inputs, sources.size)))
        return found

    @cached_property
    def _patches_of(self) -> list[NDArray[np.integer]]:
        return [np.flatnonzero(self.kinds == kind) for kind in range(len(self.kernels))]

    def row(self, output: int) -> NDArray[Any]:
        """Return the weights of one output, [inputs]."""
        sources, weights = self.terms(output)
        row = np.zeros(self.inputs, dtype=self.kernels.dtype)
        np.add.at(row, sources, weights)
        return row

    def stored_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that define the operator, by name; the caller stores the numbers of inputs and outputs."""
        return {name: getattr(self, name) for name in ("kernels", "kinds", "sources", "targets")}

    def entrywise(self, function: Callable[[NDArray[Any]], NDArray[Any]]) -> Patches:
        """Return the operator with ``function`` applied to the weights; the function must map 0 to 0."""
        return replace(self, kernels=function(self.kernels))

    def part(self, outputs: NDArray[Any] | slice, inputs: NDArray[Any] | slice) -> Dense:
        """Return the operator from some of the inputs to some of the outputs."""
        return Dense(self.weights[outputs][:, inputs])


def first_problem_of_patches(
    inputs: int,
    outputs: int,
    kernels: NDArray[Any],
    kinds: NDArray[np.int32],
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
) -> str | None:
    """Describe the first problem of arrays that are to be `Patches`; None if they are correct."""
    if [array.ndim for array in (kernels, kinds, sources, targets)] != [3, 1, 2, 2]:
        return "kernels must have three axes, kinds one, sources and targets two"
    count, rows, terms = kernels.shape
    if sources.shape != (len(kinds), terms) or targets.shape != (len(kinds), rows):
        return "sources must have shape [patches, terms], targets [patches, rows]"
    for name, array, low, high in (("kinds", kinds, 0, count), ("sources", sources, -1, inputs)):
        if array.size and not low <= array.min() <= array.max() < high:
            return f"{name} must be numbers from {low} to {high - 1}"
    places = np.sort(targets.ravel())
    if places.size and (places[0] < 0 or places[-1] >= outputs or (np.diff(places) == 0).any()):
        return f"targets must be different numbers from 0 to {outputs - 1}"
    return None


def flat_places(axes: Sequence[NDArray[np.int64]], lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return the flat indices of the entries of windows, from their indices along each axis, [positions, entries]
    each.

    -1 if an entry is outside along some axis.
    """
    places = np.zeros((1, 1), dtype=np.int64)
    for along, length in zip(axes, lengths, strict=True):
        first, second = places[:, np.newaxis, :, np.newaxis], along[:, np.newaxis, :]
        crossed = np.where((first < 0) | (second < 0), -1, first * length + second)
        places = crossed.reshape(len(places) * len(along), -1)
    return places
