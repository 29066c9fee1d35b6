# SPDX-License-Identifier: MIT
"""Random formulas of VNN-LIB: as text, and evaluated in fractions.

A formula is a tree of tuples: ("and", ..), ("or", ..), (relation, left, right), and sums of ("+", ..), ("-", ..),
("*", ..), words of numbers, and (kind, index) for a variable. `text_of` writes it, and `holds` evaluates it at a point,
with each number as a fraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["Tree", "drawn_formula", "hostile_text", "holds", "text_of"]

Tree = Any
RELATIONS = ("<=", ">=", "<", ">", "==", "=")


def text_of(tree: Tree, rng: np.random.Generator) -> str:
    """Write a formula, with random white space and comments."""
    if isinstance(tree, str):
        return tree
    if tree[0] in ("X", "Y"):
        return f"{tree[0]}_{tree[1]}"
    space = ("\n", "  ", " ; a comment (\n")[int(rng.integers(3))] if rng.random() < 0.05 else " "
    return f"({tree[0]}{space}{space.join(text_of(part, rng) for part in tree[1:])})"


def value(tree: Tree, x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    """Evaluate a sum."""
    if isinstance(tree, str):
        return Fraction(tree)
    if tree[0] in ("X", "Y"):
        return (x if tree[0] == "X" else y)[tree[1]]
    first, *others = (value(part, x, y) for part in tree[1:])
    if tree[0] == "-" and not others:
        return -first
    for other in others:
        first = first + other if tree[0] == "+" else first - other if tree[0] == "-" else first * other
    return first


def holds(tree: Tree, x: Sequence[Fraction], y: Sequence[Fraction]) -> bool:
    """Evaluate a formula."""
    if tree[0] in ("and", "or"):
        return (all if tree[0] == "and" else any)(holds(part, x, y) for part in tree[1:])
    left, right = value(tree[1], x, y), value(tree[2], x, y)
    return {"<=": left <= right, ">=": left >= right, "<": left < right, ">": left > right}.get(tree[0], left == right)


def _number(rng: np.random.Generator) -> str:
    return str(
        rng.choice(
            [
                *("0", "1", "-1", "2", "0.5", "-0.25", "1.5", "0.1", "1e-200", "-1e-200", "1e200", "3", "5e-324"),
                repr(float(rng.standard_normal())),
                f"{rng.integers(1, 10)}." + "1" * int(rng.integers(1, 400)),
                f"{rng.integers(1, 10)}e{rng.integers(-330, 310)}",
            ],
            p=[*[0.06] * 13, 0.08, 0.07, 0.07],
        )
    )


def _sum(rng: np.random.Generator, sizes: tuple[int, int], depth: int) -> Tree:
    kind = rng.random()
    if kind < 0.55 or depth == 0:
        which = "XY"[int(rng.random() < 0.7)]
        return (which, int(rng.integers(sizes[which == "Y"])))
    if kind < 0.7:
        return ("*", *[_number(rng) for _ in range(int(rng.integers(1, 4)))], _sum(rng, sizes, depth - 1))
    if kind < 0.75:
        return ("-", _sum(rng, sizes, depth - 1))
    return (str(rng.choice(["+", "-"])), *[_sum(rng, sizes, depth - 1) for _ in range(int(rng.integers(1, 4)))])


def drawn_formula(rng: np.random.Generator, sizes: tuple[int, int], values: Sequence[float], depth: int) -> Tree:
    """Draw a formula about this many inputs and outputs; bounds are often equal to one of some values."""
    if depth and rng.random() < 0.6:
        parts = [drawn_formula(rng, sizes, values, depth - 1) for _ in range(int(rng.integers(1, 4)))]
        return (str(rng.choice(["and", "or"])), *parts)
    relation = str(rng.choice(RELATIONS, p=[0.3, 0.3, 0.15, 0.15, 0.05, 0.05]))
    kind = rng.random()
    if kind < 0.6:
        return (relation, ("Y", int(rng.integers(sizes[1]))), repr(float(rng.choice(values))))
    if kind < 0.7:
        return (relation, ("X", int(rng.integers(sizes[0]))), repr(float(rng.choice([0.0, 0.25, 0.5, 1.0]))))
    return (relation, _sum(rng, sizes, 3), _number(rng) if rng.random() < 0.6 else _sum(rng, sizes, 2))


def hostile_text(rng: np.random.Generator) -> str:
    """Draw a formula that stands for much more than its text, or is not a formula."""
    n = int(10 ** rng.uniform(1, 4.3))
    some = "(or " + "(<= Y_0 1) " * int(rng.integers(1, 12)) + ")"
    number = str(rng.choice(["0.1", "1e9", "1e-9", "9" * int(rng.integers(1, 6000)), "3"]))
    kinds = [
        f"(or {f'(and {some * int(rng.integers(1, 8))}) ' * min(n, 500)})",
        f"(and {'(or (<= Y_0 1) (<= Y_0 2)) ' * n})",
        f"(<= (* {f'{number} ' * min(n, 60_000 // len(number))} Y_0) 1)",
        f"(<= (+ {f'{number} ' * min(n, 60_000 // len(number))} Y_0) {number})",
        "(<= Y_0 " + str(rng.choice(["[", "a[", "(", ")", "X[", ";", '"', "|"])) * n,
        "(<= " + "(- " * int(rng.integers(1, 99)) + f"(+ {'Y_0 ' * n})" + ")" * int(rng.integers(1, 99)) + " 1)",
        f"(and {'(<= 1 1) ' * n} {some})",
        f"(or {'(<= 1 0) ' * n} {some})",
        "(or " * int(rng.integers(1, 98)) + "(<= Y_0 1) " * n + ")" * int(rng.integers(1, 98)),
        f"(<= Y_0 {'9' * n})",
        f"(<= Y_0 0.{'0' * n}1)",
        f"(<= Y_{'9' * n} 1)",
        f"(and {some * int(rng.integers(1, 8))} {'(<= Y_0 3) ' * n})",
    ]
    text = kinds[int(rng.integers(len(kinds)))]
    if rng.random() < 0.2:
        place = int(rng.integers(len(text)))
        text = text[:place] + str(rng.choice(["(", ")", "\x00", "_", "é", " ", "<", "0"])) + text[place + 1 :]
    return text
