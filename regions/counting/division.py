# SPDX-License-Identifier: MIT
"""How is a domain divided into sections only once, although its job is stopped and begins again?

The core finds nodes of its recursion at which sections begin (`run.frontier`). In wide networks that takes longer than
many a section. If it takes more than `SHORT` seconds, the nodes are saved in the folder of the job, under a digest of
everything that they depend on. Later calls with the same folder read them.
Invariant: sections that begin at nodes of a file have all regions, because the first section begins where the
recursion begins, and the others follow in order (`checkpoints.py`). If a file names something that is not a node, the
core refuses to begin a section there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from time import monotonic
from typing import Protocol

from regions import core
from regions.core import Path
from regions.version import __version__

__all__ = ["NodesKept", "divided"]

# At most this many seconds of finished work can be lost.
SHORT = 1.0


class NodesKept(Protocol):
    """A folder, as `checkpoints.Folder` is one."""

    def saved_nodes(self, job: str, items: int) -> list[list[Path]] | None: ...

    def save_nodes(self, job: str, nodes: list[list[Path]]) -> None: ...


def divided(
    facts: tuple[object, ...], items: int, folder: NodesKept | None, divide: Callable[[], list[list[Path]]]
) -> list[list[Path]]:
    """Return the nodes that divide each item: from the folder, or else those that ``divide`` finds.

    Parameters
    ----------
    facts : tuple
        All that the nodes depend on, besides this version and the kernel. It can be written as JSON.
    items : int
        Number of items that are divided.
    folder : NodesKept or None
    divide : callable
        Returns the nodes of each item.
    """
    if folder is None:
        return divide()
    what = "division", __version__, core.kernel(), *facts
    job = hashlib.sha256(json.dumps(what).encode()).hexdigest()
    found = folder.saved_nodes(job, items)
    if found is None:
        begin = monotonic()
        found = divide()
        if monotonic() - begin > SHORT:
            folder.save_nodes(job, found)
    return found
