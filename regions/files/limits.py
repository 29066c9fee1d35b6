# SPDX-License-Identifier: MIT
"""How much is a file allowed to ask for?

A file of a few kilobytes can ask for terabytes or hours: zip bombs, tensors that repeat one number, pickles
that only keep a machine busy. Every reader checks these limits *before* it allocates or loops. All are far
above what a network needs whose regions could be enumerated, and each is checked against what is really there
rather than what is announced.
"""

from __future__ import annotations

from regions.arithmetic.arguments import MOST_ITEMS
from regions.errors import FileTooLargeError

MEBIBYTE = 2**20

# One billion float32 weights. Exact enumeration of such a network is out of reach by many orders of
# magnitude.
MAX_FILE_BYTES = 4096 * MEBIBYTE

# Members of a zip are checked in Python at some 100,000 a second. A checkpoint of 10,000 tensors with the state of
# its optimizer has 30,000.
MAX_ZIP_MEMBERS = 50_000
MAX_ZIP_DIRECTORY_BYTES = 8 * MEBIBYTE

# A tensor takes about 40 opcodes, and a second goes by for 1,500,000 of them. Each file has two pickles at most that
# are as long.
MAX_PICKLE_BYTES = 32 * MEBIBYTE
MAX_PICKLE_OPCODES = 600_000
# The strided views of a pickle cost more than its opcodes.
MAX_TENSORS = 20_000
# A state dict is nested about four deep, and each mark keeps a list.
MAX_PICKLE_DEPTH = 1000

# 10,000 tensors make a safetensors header of about 1 MiB; parsed JSON takes up to thirty times its text.
MAX_JSON_BYTES = 4 * MEBIBYTE

# What comes out of a file may exceed the file, by compression or by tensors that share storage, but not
# arbitrarily. Numbers become doubles, so no number counts for less than a double.
BYTES_PER_NUMBER = 8
MAX_EXPANSION = 20
FREE_EXPANSION_BYTES = 32 * MEBIBYTE

# Convolutions use few weights at many places: 14 kB of them make 1,300,000 units of an image of 224 x 224 pixels, of
# some 100 bytes each.
FREE_LAYER_BYTES = 256 * MEBIBYTE

# Constants are computed from constants as a network computes, in about a nanosecond for ten products.
MAX_FOLDED_PRODUCTS = 2**34

# A network may have more inputs than its file has bytes, since convolutions use few weights at many places. The limit
# is also the largest length in an ``input_shape``.
MAX_INPUTS = MOST_ITEMS

# numpy has at most 64, and networks use five.
MAX_AXES = 32

# Where an activation comes first, or two follow each other, a layer with the identity matrix is put between. All of
# them take 128 MiB at most; one for images of 64 x 64 pixels fits.
MAX_WEIGHTS_PUT_IN = 4096**2


def require_file_size(path: str, size: int) -> None:
    """Refuse a file above `MAX_FILE_BYTES`."""
    if size > MAX_FILE_BYTES:
        raise FileTooLargeError(
            f"{path}: {size} bytes is above the limit of {MAX_FILE_BYTES} for a network; save only the "
            "weights (no optimizer state)"
        )


def require_expansion(path: str, file_size: int, unpacked: int, what: str) -> None:
    """Refuse content of ``unpacked`` bytes that is out of proportion to the file it comes from."""
    advice = "if the file is sound, save it again without compression and without expanded or sparse tensors"
    _require_proportion(path, file_size, unpacked, FREE_EXPANSION_BYTES, what, advice)


def require_layers(path: str, file_size: int, built: int) -> None:
    """Refuse a graph whose layers take ``built`` bytes, out of proportion to the file it comes from."""
    advice = "if the file is sound, export the network for smaller inputs"
    _require_proportion(path, file_size, built, FREE_LAYER_BYTES, "all layers of the graph", advice)


def require_products(path: str, count: int) -> None:
    """Refuse constants whose computation takes more than `MAX_FOLDED_PRODUCTS`."""
    if count > MAX_FOLDED_PRODUCTS:
        raise FileTooLargeError(
            f"{path}: constants would be computed from constants by {count} products, above the limit of "
            f"{MAX_FOLDED_PRODUCTS}; export the network with constant folding"
        )


def _require_proportion(path: str, file_size: int, needed: int, free: int, what: str, advice: str) -> None:
    allowed = min(max(free, MAX_EXPANSION * file_size), MAX_FILE_BYTES)
    if needed > allowed:
        raise FileTooLargeError(
            f"{path}: {what} would take {needed} bytes from a file of {file_size}, above the limit of "
            f"{allowed}; {advice}"
        )
