# SPDX-License-Identifier: MIT
"""How is the page of a partition shown in a notebook?

In a frame with an origin of its own: the page can run its scripts and save pictures, and cannot reach the notebook. A
small page is inside the notebook. A large one would make the notebook as large, so it is a file beside it.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regions.files.replacing import replacing
from regions.ground.arithmetic.arguments import integer
from regions.results.pages.page import page_pieces
from regions.results.pages.page_style import PageStyle
from regions.results.partition import Partition, require_partition

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["PageFrame", "view"]

# Length of the largest page that is put inside a notebook, in characters.
LARGEST_INSIDE = 4_000_000
LOWEST, HIGHEST = 100, 10_000


@dataclass(frozen=True, repr=False)
class PageFrame:
    """A page in a frame, which notebooks show.

    Attributes
    ----------
    source : str
        The attribute of the frame that has the page, or the name of its file, escaped for HTML.
    height : int
        In pixels.
    regions : int
    """

    source: str
    height: int
    regions: int

    def _repr_html_(self) -> str:
        style = "border:0;width:100%;border-radius:6px"
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" title="{self._count}" height="{self.height}" '
            f'style="{style}" {self.source}></iframe>'
        )

    @property
    def _count(self) -> str:
        return f"{self.regions:,} region{'s' * (self.regions != 1)}"

    def __repr__(self) -> str:
        return f"PageFrame({self._count}, shown in notebooks; partition.to_html(path) writes a file)"


def view(
    partition: Partition,
    *,
    height: int = 560,
    title: str | None = None,
    mark: Any = True,
    images: Mapping[str, Any] | None = None,
    **style: Unpack[PageStyle],
) -> PageFrame:
    """Show the regions in a notebook, in the page that `Partition.to_html` writes.

    A page of more than 4 MB is written to a file beside the notebook, in the current folder: ``regions-`` and sixteen
    digits, the same for the same partition. Keep it with the notebook.

    Parameters
    ----------
    partition : Partition
        The second in three dimensions.
    height : int
        In pixels, from 100 to 10,000.
    title, mark, images, **style
        As for `Partition.to_html`.

    Returns
    -------
    PageFrame
        Shown by notebooks if it is the last value of a cell.

    Raises
    ------
    TypeError, ValueError
        Not a partition; a height that is not such a number; as `Partition.to_html`.
    DomainError, NonFiniteError, ShapeMismatchError, OSError
        As `Partition.to_html`.

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0]), ([[1.0, 1.0]], [0.0])])
    >>> part = regions.enumerate(net, regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]]))
    >>> regions.view(part)
    PageFrame(4 regions, shown in notebooks; partition.to_html(path) writes a file)
    """
    require_partition(partition)
    pixels = integer(height, "height", least=LOWEST, most=HIGHEST)
    page = "".join(page_pieces([partition], [""], title, mark, images, style))
    if len(page) <= LARGEST_INSIDE:
        return PageFrame(f'srcdoc="{html.escape(page)}"', pixels, len(partition))
    path = Path(f"regions-{sha256(page.encode()).hexdigest()[:16]}.html")
    with replacing(path) as temporary:
        temporary.write_text(page, "ascii")
    return PageFrame(f'src="{path}"', pixels, len(partition))
