# SPDX-License-Identifier: MIT
"""How far apart are colours, for people with each kind of colour vision?

Colour-vision deficiencies are simulated by the matrices of Machado, Oliveira and Fernandes (*A physiologically-based
model for simulation of color vision deficiency*, 2009, severity 1), in linear light. Distances are CIEDE2000, with
Sharma, Wu and Dalal (*The CIEDE2000 color-difference formula*, 2005) as the source of the formula and of its test data.
"""

from __future__ import annotations

import numpy as np

from regions.ground.arithmetic.types import Floats

__all__ = ["OKABE_ITO", "ciede2000", "least_distance", "rgb"]

VISIONS = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
# From linear sRGB to XYZ, and white (D65).
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])
OKABE_ITO = "#000000 #e69f00 #56b4e9 #009e73 #f0e442 #0072b2 #d55e00 #cc79a7"


def rgb(words: str) -> Floats:
    """Return colours such as ``#56b4e9``, separated by spaces, as numbers from 0 to 1, float64 [n, 3]."""
    return np.array([[int(word[start : start + 2], 16) / 255 for start in (1, 3, 5)] for word in words.split()])


def least_distance(colors: Floats) -> float:
    """Return the least distance of two of the colours [n, 3], for any kind of vision."""
    linear = np.where(colors <= 0.04045, colors / 12.92, ((colors + 0.055) / 1.055) ** 2.4)
    first, second = np.triu_indices(len(colors), 1)
    seen = [_lab(linear @ matrix.T) for matrix in VISIONS.values()]
    return min(float(ciede2000(lab[first], lab[second]).min()) for lab in seen)


def _lab(linear: Floats) -> Floats:
    ratios = np.clip(linear, 0, 1) @ TO_XYZ.T / WHITE
    x, y, z = np.where(ratios > 216 / 24389, np.cbrt(ratios), (24389 / 27 * ratios + 16) / 116).T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def ciede2000(first: Floats, second: Floats) -> Floats:
    """Return the distances of colours [n, 3] in CIELAB."""
    (l1, a1, b1), (l2, a2, b2) = first.T, second.T
    seventh = ((np.hypot(a1, b1) + np.hypot(a2, b2)) / 2) ** 7
    stretch = 1 + (1 - np.sqrt(seventh / (seventh + 25.0**7))) / 2
    c1, c2 = np.hypot(a1 * stretch, b1), np.hypot(a2 * stretch, b2)
    h1, h2 = (np.degrees(np.arctan2(b, a * stretch)) % 360 for a, b in ((a1, b1), (a2, b2)))
    grey = c1 * c2 == 0
    turn = np.where(grey, 0.0, (h2 - h1 + 180) % 360 - 180)
    lightness, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    apart = abs(h1 - h2) > 180
    hue = np.where(grey, h1 + h2, (h1 + h2 + np.where(apart, np.where(h1 + h2 < 360, 360, -360), 0)) / 2)
    t = sum(
        weight * np.cos(np.radians(times * hue + shift))
        for weight, times, shift in ((1, 0, 0), (-0.17, 1, -30), (0.24, 2, 0), (0.32, 3, 6), (-0.2, 4, -63))
    )
    of_lightness = 1 + 0.015 * (lightness - 50) ** 2 / np.sqrt(20 + (lightness - 50) ** 2)
    of_chroma, of_hue = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    seventh = chroma**7
    rotation = -2 * np.sqrt(seventh / (seventh + 25.0**7))
    rotation *= np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    by_lightness, by_chroma = (l2 - l1) / of_lightness, (c2 - c1) / of_chroma
    by_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / of_hue
    distances: Floats = np.sqrt(by_lightness**2 + by_chroma**2 + by_hue**2 + rotation * by_chroma * by_hue)
    return distances
