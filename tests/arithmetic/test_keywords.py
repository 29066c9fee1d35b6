# SPDX-License-Identifier: MIT
"""Do calls with arguments of other libraries say which argument is meant?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import regions
from regions import ensembles, measures

NET = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
SQUARE = regions.Rectangle([-1, -1], [2, 0], [0, 2])
HE = ensembles.he([2, 8, 1])
any_of: Any = regions


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: any_of.load("a.pt", activatoin="relu"), "'activatoin'. Did you mean 'activation'?"),
        (lambda: any_of.count(NET, SQUARE, n_jobs=2), "'n_jobs'. Did you mean 'workers'?"),
        (lambda: any_of.enumerate(NET, SQUARE, verbose=True), "'verbose'. Did you mean 'progress'?"),
        (lambda: any_of.stream(NET, SQUARE, chunksize=2), "'chunksize'. Did you mean 'regions_per_block'?"),
        (lambda: any_of.statistics(NET, SQUARE, max_regions=2), "'max_regions'. Did you mean 'limit'?"),
        (lambda: any_of.count(NET, SQUARE, colour=2), "'colour'. It takes network, domain, definition, limit, timeout"),
        (lambda: HE.draw(random_state=0), "'random_state'. Did you mean 'rng'?"),  # type: ignore[call-arg]
        (lambda: HE.draw(), "argument: 'rng'. Pass rng=, a seed such as 0: every draw can be repeated."),  # type: ignore[call-arg]
        (lambda: any_of.Rectangle([-1, -1], [1, 1]), "'e2'. Rectangle.from_bounds(low, high) takes two corners."),
    ],
)
def test_what_was_meant(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(TypeError, match=re.escape(message)) as raised:
        call()
    assert raised.value.__cause__ is None and raised.value.__suppress_context__ is False
    assert raised.value.__context__ is None


def test_seeds() -> None:
    assert HE.draw(seed=3) == HE.draw(rng=3) == HE.draw(3)  # type: ignore[call-arg]
    body = measures.Ball([0.0, 0.0], 1.0)
    found = measures.crofton_density(NET, body, lines=20, seed=1)  # type: ignore[call-arg]
    assert found.value == measures.crofton_density(NET, body, lines=20, rng=1).value  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'seed'"):
        HE.draw(rng=0, seed=0)  # type: ignore[call-arg]


def test_errors_of_the_call_itself_keep_their_message() -> None:
    with pytest.raises(TypeError, match="^progress must be True, None or a callable, got str; True shows a bar$"):
        regions.count(NET, SQUARE, progress="tqdm")  # type: ignore[call-overload]


def test_methods_of_other_libraries() -> None:
    for name in ("predict", "forward"):
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'; net\\(points\\) returns the outputs"):
            getattr(NET, name)
    with pytest.raises(AttributeError, match="has no attribute 'wieghts'$"):
        NET.wieghts  # noqa: B018
