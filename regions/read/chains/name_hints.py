# SPDX-License-Identifier: MIT
"""What do the names of layers say about their order, and about whether they are one chain at all?

A state dict is read as a chain in the order in which it is stored. Some names contradict that: an output stored before
the layers that lead to it, a decoder before its encoder (`find_contradiction`); ``mean`` next to ``log_std``, an actor
next to a critic, a gate (`find_parallel`). Only unambiguous names count, and only as whole words:
``decoder_input`` is not an input, and ``z, y, x`` say nothing. Names are compared where they first differ, below the
same parent. The words come from public code for reinforcement learning, autoencoders and GANs. `layer_order.py` handles
numbers.
Cost: linear in the length of all names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

__all__ = ["find_contradiction", "find_parallel"]

Words = tuple[str, ...]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words without information: every layer may have them.
_GENERIC = _set("layer layers fc linear lin dense proj projection net network block module mlp nn")
_FIRST = _set("input in inp stem first start begin")
_LAST = _set("output outputs out final last end head logits classifier readout")
_ENCODERS, _DECODERS = _set("encoder enc encode"), _set("decoder dec decode")
_BETWEEN = _set("middle mid bottleneck latent code")
_ORDINALS = {
    word: number
    for number, words in enumerate(
        ("first one", "second two", "third three", "fourth four", "fifth five", "sixth six", "seventh seven"), start=1
    )
    for word in words.split()
}

# Pairs that take the same values, or of which only one belongs to the wanted network. ``actor_mean`` and ``critic``
# differ in their beginnings, ``actor_mean`` and ``actor_log_std`` in their endings.
_BEGINNINGS = (
    ("a policy and a value", _set("actor policy pi action act"), _set("critic value vf v q qf state")),
    ("an advantage and a value", _set("advantage adv a"), _set("value val v state")),
    ("a generator and a discriminator", _set("generator gen g"), _set("discriminator disc d")),
)
_ENDINGS = (
    ("a mean and a spread", _set("mu mean means loc"), _set("std var sigma variance logstd logvar logsigma scale")),
    ("queries and keys", _set("query queries q wq"), _set("key keys k wk")),
)
_COPIES = _set("target ema old teacher")
_TWIN = re.compile("(q|qf|q_?net)_?[0-9]")  # q1 and q2: two critics of the same values
_NOT_IN_A_CHAIN = _set(
    "skip shortcut residual res resblock resblocks resnet downsample gate gates gating highway attention attn "
    "expert experts ensemble branch branches tower towers lora adapter adapters"
)


def find_contradiction(names: Sequence[str]) -> str | None:
    """Return a text that says which names contradict their order, or None."""
    for parent, children in _siblings(names):
        words = [_words(child) for child in children]
        for ranks in (_ends(words), _coders(words), _ordinals(words)):
            ranked = [(child, rank) for child, rank in zip(children, ranks, strict=True) if rank is not None]
            for (earlier, a), (later, b) in pairwise(ranked):
                if a > b:
                    return f"{_full(parent, earlier)} stands before {_full(parent, later)}"
    return None


def find_parallel(names: Sequence[str]) -> str | None:
    """Return a text that says which names belong to layers that do not follow each other in a chain, or None."""
    for parent, children in _siblings(names):
        words = [_words(child) for child in children]
        for child, one in zip(children, words, strict=True):
            if _NOT_IN_A_CHAIN.intersection(one):
                return f"{_full(parent, child)} is named like something beside a chain"
        twins = [i for i, child in enumerate(children) if _TWIN.fullmatch(child.lower())]
        pair = ("two critics", twins[0], twins[1]) if len(twins) > 1 else _pair(words)
        if pair:
            what, a, b = pair
            return f"{_full(parent, children[a])} and {_full(parent, children[b])} are named like {what}"
    return None


def _siblings(names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each parent with the names of its children, in the order of their first appearance."""
    places: dict[tuple[int, str], int] = {}
    found: dict[int, tuple[str, int, list[str]]] = {}  # of each parent: a name below it, its depth, its children
    for name in names:
        place = 0
        for depth, child in enumerate(name.split(".")):
            if (place, child) not in places:
                places[place, child] = len(places) + 1
                found.setdefault(place, (name, depth, []))[2].append(child)
            place = places[place, child]
    for name, depth, children in found.values():
        yield ".".join(name.split(".")[:depth]), children


def _full(parent: str, child: str) -> str:
    return f"{parent}.{child}" if parent else child


def _words(child: str) -> Words:
    """Return the words of one part of a name, without generic ones: log and std for ``fcLogStd_2``."""
    found = (word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", child))
    return tuple(word for word in found if word not in _GENERIC)


def _ends(words: Sequence[Words]) -> list[int | None]:
    """Return ranks by which inputs come first, and outputs last."""
    last = _LAST - {"head"} if any("tail" in one for one in words) else _LAST  # head, body, tail
    return [0 if _is_one(one, _FIRST) else 2 if _is_one(one, last) else 1 for one in words]


def _coders(words: Sequence[Words]) -> list[int | None]:
    """Return ranks by which encoders come first, then bottlenecks, then decoders."""
    between = [1 if _is_one(one, _BETWEEN) else None for one in words]
    coders = [0 if _ENCODERS.intersection(one) else other for one, other in zip(words, between, strict=True)]
    return [2 if _DECODERS.intersection(one) else other for one, other in zip(words, coders, strict=True)]


def _ordinals(words: Sequence[Words]) -> list[int | None]:
    return [_ORDINALS.get(one[0]) if len(one) == 1 else None for one in words]


def _is_one(words: Words, among: frozenset[str]) -> bool:
    return len(words) == 1 and words[0] in among


def _pair(words: Sequence[Words]) -> tuple[str, int, int] | None:
    """Return two siblings that do not follow each other, and what their names suggest."""
    beginnings = {one[0]: i for i, one in reversed(list(enumerate(words))) if one}
    for what, left, right in _BEGINNINGS:
        a, b = (next((i for word, i in beginnings.items() if word in among), None) for among in (left, right))
        if a is not None and b is not None and a != b:
            return what, a, b
    endings = {_ending(one): i for i, one in reversed(list(enumerate(words))) if one}
    for what, left, right in _ENDINGS:
        for (before, word), a in endings.items():
            b = next((i for (other, last), i in endings.items() if other == before and last in right), None)
            if word in left and b is not None:
                return what, a, b
    copies = [i for i, one in enumerate(words) if _COPIES.intersection(one)]
    others = [i for i, one in enumerate(words) if not _COPIES.intersection(one)]
    return ("a network and a copy of it", others[0], copies[0]) if copies and others else None


def _ending(words: Words) -> tuple[Words, str]:
    """Split off the last word. ``log_std`` counts as one word, and ``head`` is skipped."""
    words = words[:-1] if len(words) > 1 and words[-1] == "head" else words
    if len(words) > 1 and words[-2] == "log":
        return words[:-2], f"log{words[-1]}"
    return words[:-1], words[-1]
