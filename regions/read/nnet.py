# SPDX-License-Identifier: MIT
"""Which network is in a ``.nnet`` file?

The text format of the ACAS Xu networks (Julian, Stanford 2016): comment lines that begin with ``//``; the number of
layers, inputs, outputs and the largest width; the widths; an unused flag; the smallest and the largest value
of each input; mean and range of each input and of all outputs; then, layer by layer, the rows of the weights and the
biases, one line each. All hidden units are ReLUs. Decimals are read as the nearest doubles.
The network takes ``(x - mean) / range`` of its inputs, and its outputs are ``range * y + mean``, so both are folded
into the first and the last layer.
Other programs write headers that are not filled in, and evaluators that do not normalise never notice: one number, or
zeros, in place of means and ranges; no mean and range of the outputs; the width of the outputs twice; only the number
of layers in the first line; blanks for commas. These are read where they have one meaning, with a note.
Invariant: arrays are allocated only if the file is long enough for them, and every line is used.
Source: the description in the repository sisl/NNet, how its evaluators in Python and C++ read files, and public
programs that write them (its own, sisl/OVERT.jl, Marabou).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    FileTooLargeError,
    NonFiniteError,
    NotACheckpointError,
    TruncatedFileError,
)
from regions.files.opened import OpenedFile
from regions.ground.arithmetic.types import Floats
from regions.ground.text.printable import printable
from regions.networks.named_activations import relu
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice, require_activation
from regions.read.chains.steps import Dense, Nonlinearity, Step, build_network
from regions.read.scaling import Scaling, subtract_and_divide

__all__ = ["looks_like_nnet", "network_from_nnet", "read_nnet"]

# A line holds at most as many numbers as the widest layer. A million numbers are a hundred megabytes as Python objects,
# and such wide or deep networks are out of reach.
MAX_WIDTH = 1_000_000
MAX_LAYERS = 10_000
MAX_NUMBER_LENGTH = 1000  # 767 digits are enough for any double

MAX_COMMENT_BYTES = 2**20  # before the numbers

_WITHOUT = "leave the normalisation out: regions.load(regions.read.read_tensors(path), activation='relu')"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors write it at the beginning of a text
_INTEGERS = re.compile(rb"[ \t]*[0-9]{1,9}(?:(?:[ \t]*,[ \t]*[0-9]{1,9})*|(?:[ \t]+[0-9]{1,9})*)[ \t]*,?[ \t]*\r?\n")
# Of these characters, `float` makes decimal numbers or nothing: no "nan", no "inf", no underscores.
_NUMERIC = set(b"0123456789+-.eE")


def looks_like_nnet(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is such a text: comments, then four numbers and the widths."""
    rest = start = start.removeprefix(_BYTE_ORDER_MARK)
    while rest.startswith(b"//"):
        rest = rest.partition(b"\n")[2]
    if start != rest and rest in (b"", b"/"):  # nothing but comments so far
        return True
    sizes = _INTEGERS.match(rest)
    widths = _INTEGERS.match(rest, sizes.end()) if sizes else None
    if sizes is None or widths is None:
        return False
    first, second = (_words(match[0].strip().removesuffix(b",")) for match in (sizes, widths))
    if len(first) == 4 and b"," in sizes[0] and len(second) > 1:
        return True  # other lengths are damages that the reader names
    count, given = int(first[0]), [int(word) for word in second]
    fits = len(given) == count + 1 or (len(given) == count + 2 and given[-1] == given[-2])
    agrees = len(first) == 1 or [int(word) for word in first[1:3]] == [given[0], given[-1]]
    return len(first) in (1, 4) and count > 0 and fits and agrees


def _words(line: bytes) -> list[bytes]:
    """Split a line at its commas, or at its blanks if it has none."""
    return [word.strip() for word in line.split(b",")] if b"," in line else line.split()


def read_nnet(file: OpenedFile) -> dict[str, NDArray[Any]]:
    """Return the arrays of the file: ``W0, b0, W1, b1, ..``, ``mins``, ``maxes``, ``means`` and ``ranges``.

    Parameters
    ----------
    file : OpenedFile

    Returns
    -------
    dict of str to float64 array
        Weights [n_out, n_in] and biases [n_out] as they are written, nothing folded; ``mins`` and ``maxes`` [n_in];
        ``means`` and ``ranges`` [n_in + 1], the last of each for all outputs. All four are as long as they are written:
        the first ACAS Xu networks have two more of each, for inputs that were removed, and headers that are not filled
        in have fewer. ``flag`` [1] is there if the file has a number other than 0 in its unused line.

    Raises
    ------
    NotACheckpointError, TruncatedFileError, FileTooLargeError, NonFiniteError
        Not such a file, or a damaged one; the message names the line.
    """
    path, lines = file.name, _Lines(file.file.read(), file.name)
    count, *announced = lines.integers("number of layers, inputs, outputs and largest width", (4, 1))
    if not 0 < count <= MAX_LAYERS:
        raise NotACheckpointError(f"{path}: {count} layers, which no such network has")
    sizes = lines.integers("widths", (count + 1, count + 2))
    twice = len(sizes) == count + 2
    if twice and sizes[-2] != sizes[-1]:
        raise NotACheckpointError(f"{path}: has {count + 2} widths for {count} layers, which are {count + 1}")
    sizes = sizes[: count + 1]
    if min(sizes) < 1 or max(sizes) > MAX_WIDTH:
        raise NotACheckpointError(
            f"{path}: widths must be between 1 and {MAX_WIDTH}, got {min(sizes)} and {max(sizes)}"
        )
    n_in, n_out = sizes[0], sizes[-1]
    if announced and (n_in, n_out) != (announced[0], announced[1]):
        raise NotACheckpointError(
            f"{path}: announces {announced[0]} inputs and {announced[1]} outputs, but the widths are "
            f"{', '.join(map(str, sizes[:20]))}"
        )
    numbers = sum((before + 1) * after for before, after in pairwise(sizes))
    if 2 * numbers > file.size:  # a digit and a separator
        raise TruncatedFileError(f"{path}: {numbers} weights and biases do not fit into {file.size} bytes of text")
    flag = lines.next("flag").removesuffix(b",").strip()
    names = {"mins": "smallest inputs", "maxes": "largest inputs", "means": "means", "ranges": "ranges"}
    arrays = {name: lines.numbers(what) for name, what in names.items()}
    if re.fullmatch(rb"0*[1-9][0-9]{0,8}", flag):
        arrays["flag"] = np.array([float(flag)])
    if twice:
        arrays["widths"] = np.array([*sizes, sizes[-1]], dtype=float)
    for i, (before, after) in enumerate(pairwise(sizes)):
        weights, biases = np.empty((after, before)), np.empty(after)
        for row in range(after):
            weights[row] = lines.numbers(f"row {row} of W{i}", before)
        for row in range(after):
            biases[row] = lines.numbers(f"bias {row} of b{i}", 1)[0]
        arrays[f"W{i}"], arrays[f"b{i}"] = weights, biases
    lines.expect_end()
    return arrays


def network_from_nnet(arrays: Mapping[str, NDArray[Any]], activation: ActivationChoice) -> Network:
    """Make a network of the arrays of `read_nnet`; its inputs and outputs are not normalised.

    Parameters
    ----------
    arrays : dict of str to float64 array
    activation : str, Activation, sequence of these, or None
        May be left out; a named activation must be ReLU.

    Raises
    ------
    CheckpointError
        A range of zero or below beside others, or inputs whose smallest value is above the largest.
    AmbiguousCheckpointError
        Other numbers of means, ranges or limits than inputs; another activation was named.
    NonFiniteError
        A folded number is beyond the largest double.
    """
    n_in = arrays["W0"].shape[1]
    means, ranges, notes = _normalisation(arrays, n_in)
    steps: list[Step] = [subtract_and_divide("normalisation", "of the inputs", means[:-1], ranges[:-1])]
    layers = sum(re.fullmatch("W[0-9]+", name) is not None for name in arrays)
    for i in range(layers):
        steps.append(Dense(f"W{i}", arrays[f"W{i}"], arrays[f"b{i}"]))
        steps.append(Nonlinearity(f"the ReLUs after W{i}", relu()))
    n_out = len(arrays[f"b{layers - 1}"])
    steps[-1] = Scaling(
        "normalisation", "of the outputs", np.full(n_out, ranges[-1]), np.full(n_out, means[-1]), exact=True
    )
    network = build_network(steps, [*_box_notes(arrays, n_in), *notes, *_header_notes(arrays)])
    require_activation(network, activation, "the format")
    return network


def _normalisation(arrays: Mapping[str, NDArray[Any]], n_in: int) -> tuple[Floats, Floats, list[str]]:
    """Return mean and range of each input and of all outputs, and notes on what the file does not say."""
    means, ranges = arrays["means"], arrays["ranges"]
    unused = np.zeros(n_in + 1), np.ones(n_in + 1)
    filler = not means.any() and (len(means), len(ranges)) in ((n_in + 1, n_in + 1), (n_in, n_in), (1, 1))
    if filler and any((ranges == value).all() for value in (0.0, -1.0)):
        return *unused, [f"all means are 0 and all ranges {ranges[0]:g}: taken as no normalisation"]
    if len(means) == len(ranges) == 1 and n_in > 1 and (means[0], ranges[0]) == (0.0, 1.0):
        return *unused, ["one mean, 0, and one range, 1, for all inputs: taken as no normalisation"]
    notes = []
    if len(means) == len(ranges) == n_in:
        means, ranges = np.append(means, 0.0), np.append(ranges, 1.0)
        notes.append("means and ranges are for inputs only: outputs were taken not to be normalised")
    if (len(means), len(ranges)) != (n_in + 1, n_in + 1):
        raise _unclear(arrays, n_in)
    if (ranges <= 0.0).any():
        i = int(np.argmax(ranges <= 0.0))
        raise CheckpointError(
            f"ranges[{i}] is {ranges[i]:g}, and ranges, by which inputs are divided, are positive; correct it, or "
            f"{_WITHOUT}"
        )
    return means, ranges, notes


def _unclear(arrays: Mapping[str, NDArray[Any]], n_in: int) -> AmbiguousCheckpointError:
    mins, maxes, means, ranges = (len(arrays[name]) for name in ("mins", "maxes", "means", "ranges"))
    return AmbiguousCheckpointError(
        f"{mins} smallest inputs, {maxes} largest inputs, {means} means and {ranges} ranges for a network of {n_in} "
        "inputs, and evaluators do not agree on which of them count; write one for each input, with a last mean and "
        f"range for the outputs, or {_WITHOUT}"
    )


def _header_notes(arrays: Mapping[str, NDArray[Any]]) -> list[str]:
    notes = []
    if "widths" in arrays:
        notes.append("the width of the outputs is written twice, and was taken once")
    if "flag" in arrays:
        # The evaluators of the format negate inputs and exchange outputs in half of the inputs.
        notes.append(
            f"the flag in the file is {arrays['flag'][0]:g}: some evaluators mirror inputs of such networks; this "
            "network does not"
        )
    return notes


def _box_notes(arrays: Mapping[str, NDArray[Any]], n_in: int) -> list[str]:
    """Return a note on the box of the inputs, to which evaluators clip them."""
    mins, maxes = arrays["mins"], arrays["maxes"]
    if not mins.any() and not maxes.any() and max(len(mins), len(maxes)) <= n_in:
        return ["all smallest and largest inputs are 0: taken as not given"]
    if len(mins) == len(maxes) == 1:
        mins, maxes = np.full(n_in, mins[0]), np.full(n_in, maxes[0])
    if (len(mins), len(maxes)) != (n_in, n_in):
        raise _unclear(arrays, n_in)
    if (mins > maxes).any():
        i = int(np.argmax(mins > maxes))
        raise CheckpointError(f"input {i} goes from {mins[i]} to {maxes[i]}, the smallest above the largest")
    shown = " x ".join(f"[{low:g}, {high:g}]" for low, high in zip(mins[:8], maxes[:8], strict=True))
    return [
        f"the file says that inputs are in {shown}{' x ..' if n_in > 8 else ''}; its evaluators clip them to that "
        "box, this network does not: inside it they are the same"
    ]


class _Lines:
    """The lines of a text file, one by one."""

    def __init__(self, text: bytes, path: str) -> None:
        self._text = text.removeprefix(_BYTE_ORDER_MARK)
        self._path = path
        self._position = 0
        self._number = 0
        self._headed = True  # still among the comments at the top

    def next(self, what: str) -> bytes:
        """Return the next line, without its end; comments at the top are skipped."""
        while True:
            if self._position >= len(self._text):
                raise TruncatedFileError(f"{self._path}: ends before line {self._number + 1}, the {what}")
            line = self._take()
            if not (self._headed and line.startswith(b"//")):
                self._headed = False
                return line
            if self._position > MAX_COMMENT_BYTES:
                raise FileTooLargeError(
                    f"{self._path}: begins with more than {MAX_COMMENT_BYTES} bytes of comments; remove them"
                )

    def _take(self) -> bytes:
        end = self._text.find(b"\n", self._position)
        end = len(self._text) if end < 0 else end
        line, self._position = self._text[self._position : end], end + 1
        self._number += 1
        return line.rstrip(b" \t\r")

    def numbers(self, what: str, count: int | None = None) -> Floats:
        """Return the numbers of the next line, float64 [count], or as many as there are.

        A comma after the last one is optional.
        """
        line = self.next(what).removesuffix(b",")
        found = self._count(line)
        if count is None and found > 2 * MAX_WIDTH or count is not None and found != count:
            raise NotACheckpointError(f"{self._here(what)} has {found} numbers instead of {count or 'one a unit'}")
        result = np.empty(found)
        for i, word in enumerate(_words(line)):
            result[i] = self._decimal(word, what)
        if not np.isfinite(result).all():
            raise NonFiniteError(f"{self._here(what)} has a number beyond the largest double")
        return result

    @staticmethod
    def _count(line: bytes) -> int:
        # Blanks are counted, not split: a line of a gigabyte would become a list of ten.
        if b"," in line:
            return line.count(b",") + 1
        return len(line.split(None, 2 * MAX_WIDTH + 1)) if line.strip() else 1

    def integers(self, what: str, counts: tuple[int, ...]) -> list[int]:
        """Return the integers of the next line, none of them negative; there must be one of ``counts``."""
        line = self.next(what).removesuffix(b",")
        found = self._count(line)
        if found not in counts:
            raise NotACheckpointError(f"{self._here(what)} has {found} numbers instead of {counts[0]}")
        words = _words(line)
        for word in words:
            if not (word.isdigit() and len(word) < 10):
                shown = printable(repr(word)[1:], 40)
                raise NotACheckpointError(f"{self._here(what)} has {shown} where a whole number belongs")
        return [int(word) for word in words]

    def expect_end(self) -> None:
        """Refuse anything but empty lines."""
        if self._position > len(self._text) and not self._text.rstrip(b" \t").endswith(b","):
            raise TruncatedFileError(f"{self._path}: line {self._number}, the last one, has no end; is it cut off?")
        if self._text[self._position :].strip():
            raise NotACheckpointError(f"{self._path}: goes on after line {self._number}, the last bias")

    def _decimal(self, word: bytes, what: str) -> float:
        word = word.strip()
        if len(word) <= MAX_NUMBER_LENGTH and set(word) <= _NUMERIC:
            try:
                return float(word)
            except ValueError:
                pass
        if word.lower().lstrip(b"+-") in (b"nan", b"inf", b"infinity"):
            raise NonFiniteError(f"{self._here(what)} has {printable(repr(word)[1:], 40)}; all numbers must be finite")
        raise NotACheckpointError(f"{self._here(what)} has {printable(repr(word)[1:], 40)} where a number belongs")

    def _here(self, what: str) -> str:
        return f"{self._path}: line {self._number} ({what})"
