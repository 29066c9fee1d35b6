# SPDX-License-Identifier: MIT
"""Which network is in a ``.nnet`` file?

The text format of the ACAS Xu networks (Julian, Stanford 2016): comment lines that begin with ``//``; the number of
layers, inputs, outputs and the largest width; the widths; an unused flag; the smallest and the largest value
of each input; mean and range of each input and of all outputs; then, layer by layer, the rows of the weights and the
biases, one line each. All hidden units are ReLUs. Decimals are read as the nearest doubles.
The network takes ``(x - mean) / range`` of its inputs, and its outputs are ``range * y + mean``, so both are folded
into the first and the last layer.
Invariant: arrays are allocated only if the file is long enough for them, and every line is used.
Source: the description in the repository sisl/NNet, and how its evaluators in Python and C++ read files.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regions.arithmetic.types import Floats
from regions.errors import (
    AmbiguousCheckpointError,
    CheckpointError,
    FileTooLargeError,
    NonFiniteError,
    NotACheckpointError,
    TruncatedFileError,
)
from regions.files.opened import OpenedFile
from regions.networks.named_activations import relu
from regions.networks.network import Network
from regions.read.chains.between_layers import ActivationChoice, require_activation
from regions.read.chains.steps import Dense, Nonlinearity, Step, build_network
from regions.read.scaling import Scaling, subtract_and_divide
from regions.text.printable import printable

__all__ = ["looks_like_nnet", "network_from_nnet", "read_nnet"]

# A line holds at most as many numbers as the widest layer. A million numbers are a hundred megabytes as Python objects,
# and such wide or deep networks are out of reach.
MAX_WIDTH = 1_000_000
MAX_LAYERS = 10_000
MAX_NUMBER_LENGTH = 1000  # 767 digits are enough for any double

MAX_COMMENT_BYTES = 2**20  # before the numbers

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # some editors write it at the beginning of a text
_NUMBER, _COMMA, _END = rb"[ \t]*[0-9]{1,9}", rb"[ \t]*,", rb"[ \t]*,?[ \t]*\r?\n"
_SIZES = re.compile(
    _NUMBER + b"(" + _COMMA + _NUMBER + b"){3}" + _END + _NUMBER + b"(" + _COMMA + _NUMBER + b")+" + _END
)
# Of these characters, `float` makes decimal numbers or nothing: no "nan", no "inf", no underscores.
_NUMERIC = set(b"0123456789+-.eE")


def looks_like_nnet(start: bytes) -> bool:
    """Return whether a file that begins with these bytes is such a text: comments, then four numbers and the widths."""
    rest = start = start.removeprefix(_BYTE_ORDER_MARK)
    while rest.startswith(b"//"):
        rest = rest.partition(b"\n")[2]
    return _SIZES.match(rest) is not None or (start != rest and rest in (b"", b"/"))  # nothing but comments so far


def read_nnet(file: OpenedFile) -> dict[str, NDArray[Any]]:
    """Return the arrays of the file: ``W0, b0, W1, b1, ..``, ``mins``, ``maxes``, ``means`` and ``ranges``.

    Parameters
    ----------
    file : OpenedFile

    Returns
    -------
    dict of str to float64 array
        Weights [n_out, n_in] and biases [n_out] as they are written, nothing folded; ``mins`` and ``maxes`` [n_in];
        ``means`` and ``ranges`` [n_in + 1], the last of each for all outputs. The first ACAS Xu networks have two more
        of each, for inputs that were removed.

    Raises
    ------
    NotACheckpointError, TruncatedFileError, FileTooLargeError, NonFiniteError
        Not such a file, or a damaged one; the message names the line.
    """
    path, lines = file.name, _Lines(file.file.read(), file.name)
    count, n_in, n_out, _ = lines.integers("number of layers, inputs, outputs and largest width", 4)
    if not 0 < count <= MAX_LAYERS:
        raise NotACheckpointError(f"{path}: {count} layers, which no such network has")
    sizes = lines.integers("widths", count + 1)
    if min(sizes) < 1 or max(sizes) > MAX_WIDTH:
        raise NotACheckpointError(
            f"{path}: widths must be between 1 and {MAX_WIDTH}, got {min(sizes)} and {max(sizes)}"
        )
    if (sizes[0], sizes[-1]) != (n_in, n_out):
        raise NotACheckpointError(
            f"{path}: announces {n_in} inputs and {n_out} outputs, but the widths are {', '.join(map(str, sizes[:20]))}"
        )
    numbers = sum((before + 1) * after for before, after in pairwise(sizes))
    if 2 * numbers > file.size:  # a digit and a separator
        raise TruncatedFileError(f"{path}: {numbers} weights and biases do not fit into {file.size} bytes of text")
    lines.next("flag")
    arrays = {
        "mins": lines.numbers("smallest inputs", n_in, or_more=True),
        "maxes": lines.numbers("largest inputs", n_in, or_more=True),
        "means": lines.numbers("means", n_in + 1, or_more=True),
        "ranges": lines.numbers("ranges", n_in + 1, or_more=True),
    }
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
        A range of zero or below, or inputs whose smallest value is above the largest.
    AmbiguousCheckpointError
        More means than inputs; another activation was named.
    NonFiniteError
        A folded number is beyond the largest double.
    """
    mins, maxes, means, ranges = (arrays[name] for name in ("mins", "maxes", "means", "ranges"))
    n_in = arrays["W0"].shape[1]
    lengths = [len(mins), len(maxes), len(means) - 1, len(ranges) - 1]
    if lengths != [n_in] * 4:
        raise AmbiguousCheckpointError(
            f"{len(mins)} smallest inputs, {len(maxes)} largest inputs, {len(means)} means and {len(ranges)} ranges "
            f"for a network of {n_in} inputs, and evaluators do not agree on which of them count; remove the "
            "surplus ones (the last mean and range belong to the outputs), or leave the normalisation out: "
            "regions.load(regions.read.read_tensors(path), activation='relu')"
        )
    if (ranges <= 0.0).any():
        i = int(np.argmax(ranges <= 0.0))
        raise CheckpointError(f"ranges[{i}] is {ranges[i]:g}, and ranges, by which inputs are divided, are positive")
    if (mins > maxes).any():
        i = int(np.argmax(mins > maxes))
        raise CheckpointError(f"input {i} goes from {mins[i]} to {maxes[i]}, the smallest above the largest")
    steps: list[Step] = [subtract_and_divide("normalisation", "of the inputs", means[:-1], ranges[:-1])]
    layers = sum(name.startswith("W") for name in arrays)
    for i in range(layers):
        steps.append(Dense(f"W{i}", arrays[f"W{i}"], arrays[f"b{i}"]))
        steps.append(Nonlinearity(f"the ReLUs after W{i}", relu()))
    n_out = len(arrays[f"b{layers - 1}"])
    steps[-1] = Scaling(
        "normalisation", "of the outputs", np.full(n_out, ranges[-1]), np.full(n_out, means[-1]), exact=True
    )
    network = build_network(steps, [_box_note(mins, maxes)])
    require_activation(network, activation, "the format")
    return network


def _box_note(mins: Floats, maxes: Floats) -> str:
    shown = " x ".join(f"[{low:g}, {high:g}]" for low, high in zip(mins[:8], maxes[:8], strict=True))
    return (
        f"the file says that inputs are in {shown}{' x ..' if len(mins) > 8 else ''}; its evaluators clip them to that "
        "box, this network does not: inside it they are the same"
    )


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

    def numbers(self, what: str, count: int, or_more: bool = False) -> Floats:
        """Return the numbers of the next line, float64 [count]; a comma after the last one is optional."""
        line = self.next(what).removesuffix(b",")
        found = line.count(b",") + 1
        if found != count and not (or_more and count < found <= 2 * MAX_WIDTH):
            raise NotACheckpointError(f"{self._here(what)} has {found} numbers instead of {count}")
        result = np.empty(found)
        for i, word in enumerate(line.split(b",")):
            result[i] = self._decimal(word, what)
        if not np.isfinite(result).all():
            raise NonFiniteError(f"{self._here(what)} has a number beyond the largest double")
        return result

    def integers(self, what: str, count: int) -> list[int]:
        """Return the integers of the next line, none of them negative."""
        line = self.next(what).removesuffix(b",")
        if line.count(b",") + 1 != count:
            raise NotACheckpointError(f"{self._here(what)} has {line.count(b',') + 1} numbers instead of {count}")
        words = [word.strip() for word in line.split(b",")]
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
