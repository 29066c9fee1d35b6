# SPDX-License-Identifier: MIT
"""How much is a file allowed to ask for?

A file of a few kilobytes can ask for terabytes or hours: zip bombs, tensors that repeat one number, pickles
that only keep a machine busy. Every reader checks these limits *before* it allocates or loops. All limits are far
above the needs of any network whose regions can be enumerated. Each is checked against the bytes that are present,
not against the announced sizes.
"""

from __future__ import annotations

from regions.errors import FileTooLargeError
from regions.ground.arithmetic.arguments import MOST_ITEMS

MEBIBYTE = 2**20

# One billion float32 weights. Exact enumeration of such a network is out of reach by many orders of
# magnitude.
MAX_FILE_BYTES = 4096 * MEBIBYTE

# Each member of a zip is checked in Python, so their number bounds the time. A checkpoint of 10,000 tensors with the
# state of its optimizer has 30,000.
MAX_ZIP_MEMBERS = 50_000
MAX_ZIP_DIRECTORY_BYTES = 8 * MEBIBYTE

# A tensor takes about 40 opcodes. A file has at most two pickles of this length.
MAX_PICKLE_BYTES = 32 * MEBIBYTE
MAX_PICKLE_OPCODES = 600_000
# The strided views of a pickle cost more than its opcodes.
MAX_TENSORS = 20_000
# A state dict is nested about four deep, and each mark keeps a list.
MAX_PICKLE_DEPTH = 1000

# The largest property of VNN-COMP 2023 for at most two inputs takes 11 MB and stands for 120,000 conjunctions. Parsed
# text takes about twenty times its size.
MAX_PROPERTY_BYTES = 64 * MEBIBYTE
# Conjunctions, and inequalities in each of them, that a property may stand for, also on the way to the final ones: more
# if its text is long. Each takes about a tenth of a kilobyte and some microseconds.
FREE_INEQUALITIES = 500_000
# Numbers in the boxes and polytopes that they make.
MAX_PROPERTY_NUMBERS = 2**24
# Bits of a coefficient or bound that is computed from the numbers of a property.
MAX_NUMBER_BITS = 2**14

# 10,000 tensors make a safetensors header of about 1 MiB; parsed JSON takes up to thirty times its text.
MAX_JSON_BYTES = 4 * MEBIBYTE

# Compression and shared storage make the content larger than the file, but only by this factor. Each number counts
# as a double at least, because numbers become doubles.
BYTES_PER_NUMBER = 8
MAX_EXPANSION = 20
FREE_EXPANSION_BYTES = 32 * MEBIBYTE

# Convolutions use few weights at many positions: 14 kB of weights make 1,300,000 units from an image of 224 x 224
# pixels, at about 100 bytes each.
FREE_LAYER_BYTES = 256 * MEBIBYTE

# Constants that are computed from constants cost as many products as a network of that size.
MAX_FOLDED_PRODUCTS = 2**34

# A network may have more inputs than its file has bytes, because convolutions use few weights often. The limit
# is also the largest length in an ``input_shape``.
MAX_INPUTS = MOST_ITEMS

# numpy allows 64; networks use five.
MAX_AXES = 32

# If an activation comes first or two follow each other, a layer with the identity matrix is inserted. All inserted
# layers together take at most 128 MiB; one layer for images of 64 x 64 pixels fits.
MAX_WEIGHTS_PUT_IN = 4096**2


def require_file_size(path: str, size: int) -> None:
    """Refuse a file above `MAX_FILE_BYTES`."""
    if size > MAX_FILE_BYTES:
        raise FileTooLargeError(
            f"{path}: {size} bytes is above the limit of {MAX_FILE_BYTES} for a network; save only the "
            "weights (no optimizer state)"
        )


def require_expansion(path: str, file_size: int, unpacked: int, what: str) -> None:
    """Refuse content of ``unpacked`` bytes that is out of proportion to its file."""
    advice = "if the file is sound, save it again without compression and without expanded or sparse tensors"
    _require_proportion(path, file_size, unpacked, FREE_EXPANSION_BYTES, what, advice)


def require_layers(path: str, file_size: int, built: int) -> None:
    """Refuse a graph whose layers take ``built`` bytes, out of proportion to its file."""
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
