# SPDX-License-Identifier: MIT
"""Does a curve run through the pieces that a result lists?

The reference cuts the curve again, in exact arithmetic and without any code of the core: segments by subdivision, arcs
in quadratic numbers (`reference/arcs.py`). Strands lie between breakpoints and joints of legs. If the reference finds
the same patterns in the same order on all of each leg, the strands are right, and the numbers of pieces, transitions
and patterns are counted from them. If that would take more than a minute or two, the reference checks random windows,
each from the middle of a strand to the middle of a later one.
Cost: `Forms.products_per_pattern` products of integers for each strand. Lengths are not checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isinf
from typing import Any, Literal, NamedTuple

import numpy as np

from regions.certification import reference
from regions.certification.certification_report import CLAIMS_ON_CURVES, CurveCertificationReport, Findings
from regions.certification.forms import Forms, small_enough
from regions.domains.curves import ArcLeg, Leg
from regions.domains.domain import WHOLE_PLANE, Domain
from regions.ground.arithmetic.types import Floats
from regions.ground.threads.progress import Report
from regions.networks.network import Network
from regions.results.cells.strands import FoundAlongCurve, Strands

__all__ = ["certified_along_curve"]

# Strands in one window if not all are checked.
WINDOW = 32
# Bits to which square roots are computed.
BITS = 200


class Stretch(NamedTuple):
    """A strand computed by the reference: its pattern, and the chart points of its ends."""

    pattern: bytes
    ends: tuple[tuple[Fraction, ...], ...]


class Window(NamedTuple):
    """Some consecutive strands of one leg, and the part of the leg that the reference checks."""

    strands: range
    part: Domain | ArcLeg


def certified_along_curve(
    found: FoundAlongCurve, net: Network, wanted: int | Literal["all"] | None, products: int, report: Report | None
) -> CurveCertificationReport:
    """Check results along a curve; use at most ``products`` products if no number of strands is ``wanted``."""
    findings = Findings(CLAIMS_ON_CURVES)
    pieces, curve = int(found.pieces[-1]) if found.pieces.size else 1, found.curve

    def so_far() -> CurveCertificationReport:
        about = net.fingerprint, f"{curve.fingerprint}: {curve!r}"
        return CurveCertificationReport(pieces, *about, findings.items())

    try:
        if (
            _comparable(found, net, findings)
            and _fits_together(found.strands, findings)
            and small_enough(net, findings)
        ):
            _compare(found.strands, _windows(found.strands, wanted, products), report, findings)
            _count_off(found, findings)
    except KeyboardInterrupt as stopped:
        findings.stop()
        stopped.partial = so_far()  # type: ignore[attr-defined]
        raise
    return so_far()


def _comparable(found: FoundAlongCurve, net: Network, findings: Findings) -> bool:
    if net != found.network or net != found.strands.network:
        names = f"{found.network.fingerprint[:12]}.., not {net.fingerprint[:12]}.."
        findings.wrong("network", f"it is of the network {names}: give that one, or follow the curve again")
    if found.curve != found.strands.curve:
        findings.wrong("arrays", "the strands are those of another curve")
    findings.checked("network", 1, 1, "network")
    return not findings.any_wrong("network", "arrays")


def _are_arrays(strands: Strands) -> bool:
    """Return whether strands have arrays of the right types, with numbers that can be compared."""
    bytes_each = -(-strands.network.kinks // 8)
    expected = (
        (strands.legs, "i", 1),
        (strands.ends, "f", 3),
        (strands.errors, "f", 2),
        (strands.packed_patterns, "u", 2),
    )
    if not all(
        isinstance(array, np.ndarray) and array.dtype.kind == kind and array.ndim == axes
        for array, kind, axes in expected
    ):
        return False
    numbers = np.isfinite(strands.ends).all() and not np.isnan(strands.errors).any()
    return (
        bool(numbers) and strands.packed_patterns.dtype == np.uint8 and strands.packed_patterns.shape[1] == bytes_each
    )


def _fits_together(strands: Strands, findings: Findings) -> bool:
    if not _are_arrays(strands):
        findings.wrong("arrays", "they are of other types or shapes, or have entries that are not numbers")
        return False
    legs, ends, bits = strands.legs, strands.ends, _bits(strands)
    number = len(strands.curve.legs)
    steps = np.diff(legs)
    shapes = ends.shape[:2] == (len(legs), 2) and strands.errors.shape == (len(legs), 2) and len(bits) == len(legs)
    if not shapes or not len(legs) or legs[0] != 0 or legs[-1] != number - 1 or ((steps != 0) & (steps != 1)).any():
        findings.wrong("arrays", "there are not strands on all legs of the curve, in their order")
    else:
        inside = np.flatnonzero(steps == 0)
        if (ends[inside, 1] != ends[inside + 1, 0]).any():
            findings.wrong("arrays", "strands that follow one another do not have an end in common")
        if (bits[inside] == bits[inside + 1]).all(axis=1).any():
            findings.wrong("arrays", "strands that follow one another on a leg have the same pattern")
    findings.checked("arrays", 1, 1, "curve")
    return not findings.any_wrong("arrays")


def _windows(strands: Strands, wanted: int | Literal["all"] | None, products: int) -> list[Window]:
    """Return all legs if they are affordable, else parts drawn at random."""
    whole = [np.flatnonzero(strands.legs == index).tolist() for index in range(len(strands.curve.legs))]
    if wanted is None:
        forms = _forms(strands)
        wanted = max(1, products // forms.products_per_pattern)
    if wanted == "all" or len(strands) <= wanted:
        legs = zip(whole, strands.curve.legs, strict=True)
        return [Window(range(which[0], which[-1] + 1), leg) for which, leg in legs]
    rng, windows, seen = np.random.default_rng(len(strands)), [], 0
    for first in rng.permutation(len(strands)).tolist():
        if seen >= wanted:
            break
        leg_index = int(strands.legs[first])
        last = min(first + min(WINDOW, wanted - seen), whole[leg_index][-1] + 1) - 1
        part = _part(strands.curve.legs[leg_index], _middle(strands, first), _middle(strands, last, 0.75))
        if part is not None:
            windows.append(Window(range(first, last + 1), part))
            seen += last + 1 - first
    return windows


def _forms(strands: Strands) -> Forms:
    leg = strands.curve.legs[0]
    return Forms(strands.network, Domain(leg.origin, leg.directions, WHOLE_PLANE) if isinstance(leg, ArcLeg) else leg)


def _middle(strands: Strands, which: int, share: float = 0.25) -> Floats | None:
    """Return a chart point that is certainly inside a strand."""
    start, end = strands.ends[which]
    return None if np.abs(end - start).max() < 32 * strands.errors[which].max() else (1 - share) * start + share * end


def _part(leg: Leg, start: Floats | None, end: Floats | None) -> Domain | ArcLeg | None:
    if start is None or end is None or np.array_equal(start, end):
        return None
    if isinstance(leg, ArcLeg):
        return ArcLeg(leg.origin, leg.directions, np.stack([start, end]))
    return Domain(leg.origin, leg.directions, [[1.0, *start], [1.0, *end]])


def _compare(strands: Strands, windows: Sequence[Window], report: Report | None, findings: Findings) -> None:
    seen, bits, total = 0, _bits(strands), sum(len(window.strands) for window in windows)
    whole = total == len(strands)
    try:
        for window in windows:
            which, stretches = window.strands, _stretches(strands.network, window.part)
            if [bits[each].tobytes() for each in which] != [stretch.pattern for stretch in stretches]:
                where = f"on strands {which[0]} to {which[-1]}" + ("" if whole else ", or a part of these")
                number = f"{len(stretches):,} patterns where {len(which):,} are listed"
                findings.wrong("patterns", f"{where}, the reference finds {number}, or others")
            else:
                _compare_ends(strands, window, stretches, whole, findings)
            seen += len(which)
            if report is not None:
                report(seen / total, seen)
    finally:
        findings.checked("patterns", seen, len(strands), "strands", proof=whole)
        findings.checked("coordinates", seen, len(strands), "strands", proof=whole)


def _compare_ends(
    strands: Strands, window: Window, stretches: Sequence[Stretch], whole: bool, findings: Findings
) -> None:
    """Compare ends of strands; the two ends of a window inside a leg are not ends of strands."""
    for position, (which, stretch) in enumerate(zip(window.strands, stretches, strict=True)):
        for end in range(2):
            if not whole and (position, end) in ((0, 0), (len(stretches) - 1, 1)):
                continue
            stored, error = strands.ends[which, end].tolist(), float(strands.errors[which, end])
            if isinf(error):  # no claim to check
                continue
            apart = max(abs(Fraction(a) - b) for a, b in zip(stored, stretch.ends[end], strict=True))
            if not apart <= Fraction(error) + Fraction(1, 1 << (BITS - 8)) * isinstance(window.part, ArcLeg):
                findings.wrong(
                    "coordinates", f"end {end} of strand {which} is off by {float(apart):.3g}, not {error:.3g}"
                )


def _stretches(net: Network, part: Domain | ArcLeg) -> list[Stretch]:
    """Return the strands found by the reference, in the order of the curve."""
    if isinstance(part, ArcLeg):
        pieces = reference.arcs.arc_pieces(net, part)
        points = [reference.arcs.chart_point(part, root, BITS) for root in (pieces[0].start, *(p.end for p in pieces))]
        ends = zip(points, points[1:], strict=False)
        return [Stretch(bytes(piece.pattern), pair) for piece, pair in zip(pieces, ends, strict=True)]
    found: list[Any] = sorted(reference.enumerate(net, part), key=lambda region: region.vertices[0])
    return [Stretch(bytes(region.pattern), tuple(region.vertices)) for region in found]


def _count_off(found: FoundAlongCurve, findings: Findings) -> None:
    """Check the numbers, from the patterns alone."""
    bits, layers = _bits(found.strands), found.network.kink_layers
    before = np.roll(bits, 1, axis=0)
    if not found.curve.closed:
        before[0] = bits[0]
    changes = bits != before
    forms = _forms(found.strands)
    for row in range(len(bits) if forms.maxima else 0):  # several bits change with the argmax
        switched, explained = forms.switched(before[row].tobytes(), bits[row].tobytes())
        changes[row, list(explained)] = False
        changes[row, list(switched)] = True
    kinks = changes.sum(axis=0)
    depth = len(found.network.widths)
    pieces = [int(changes[:, layers <= layer].any(axis=1).sum()) for layer in range(depth)]
    expected = {
        "kink_transitions": kinks.tolist(),
        "transitions": [int(kinks[layers == layer].sum()) for layer in range(depth)],
        "pieces": [max(1, number) if found.curve.closed else number + 1 for number in pieces],
        "n_patterns": len({row.tobytes() for row in bits}),
    }
    for name, numbers in expected.items():
        claimed = getattr(found, name)
        if (claimed.tolist() if isinstance(claimed, np.ndarray) else claimed) != numbers:
            findings.wrong("numbers", f"{name} are not those of the strands")
    findings.checked("numbers", len(expected), len(expected), "numbers", "lengths of images are not looked at")


def _bits(strands: Strands) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.unpackbits(strands.packed_patterns, axis=1, count=strands.network.kinks, bitorder="little")
