# SPDX-License-Identifier: MIT
"""How does a data point become a small image on a page?

As a PNG in a data URI, written here because it takes a few lines: a head, one compressed block of pixels, an end.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import Any

import numpy as np

from regions.errors import ShapeMismatchError
from regions.ground.arithmetic.arguments import shown

__all__ = ["thumbnail"]

LARGEST_SIDE = 256
GREY, COLOUR = 0, 2


def thumbnail(image: Any, name: str) -> str:
    """Return an image [H, W] or [H, W, 3], from 0 to 1, as a data URI.

    Raises
    ------
    TypeError, ValueError
        Not an array of real numbers from 0 to 1.
    ShapeMismatchError
        Another shape, or a side of more than 256 pixels.
    """
    try:
        given = np.asarray(image)
    except Exception:  # rows of different lengths, and whatever an object raises when it is asked for its numbers
        given = np.array(None)
    if given.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be an image [H, W] or [H, W, 3] of real numbers, got {shown(image)}")
    pixels = given.astype(np.float64)
    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)) or not pixels.size:
        raise ShapeMismatchError(f"{name} must be an image [H, W] or [H, W, 3], got the shape {list(pixels.shape)}")
    if max(pixels.shape) > LARGEST_SIDE:
        raise ShapeMismatchError(
            f"{name} has the shape {list(pixels.shape)}; a side has at most {LARGEST_SIDE} pixels. Take fewer"
        )
    if not (pixels.min() >= 0 and pixels.max() <= 1):  # NaN is refused as well
        raise ValueError(f"{name} has pixels outside of 0 to 1. Divide by the largest value that a pixel can have")
    rows = np.rint(255 * pixels).astype(np.uint8).reshape(len(pixels), -1)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)  # each line begins with its filter: none
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, COLOUR if pixels.ndim == 3 else GREY, 0, 0, 0)
    blocks = _block(b"IHDR", head) + _block(b"IDAT", zlib.compress(lines)) + _block(b"IEND", b"")
    return "data:image/png;base64," + b64encode(b"\x89PNG\r\n\x1a\n" + blocks).decode()


def _block(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
