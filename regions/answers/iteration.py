# SPDX-License-Identifier: MIT
"""Which states can a closed loop reach in some steps, from a polygon or segment of states?

The loop after k steps is a network too, the loop composed with itself (`networks/closed_loop.py`). Therefore the set
after k steps is the image of the initial set under that network: a union of convex polygons, one for each of its
regions, which are cells of the initial set. Nothing is rounded between the steps: the bounds after k steps are those of
one image.
Cost: an enumeration of the composed network for each step, with more layers and more regions from step to step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from regions.answers.image import Image, image
from regions.counting.options import takes_timeout
from regions.domains import Domain
from regions.domains.abilities import REACHABLE_SETS
from regions.domains.domain import require_domain_of
from regions.files.tabular import JsonReport
from regions.ground.arithmetic.arguments import Workers, integer
from regions.ground.arithmetic.types import Floats
from regions.ground.text.tables import html_table
from regions.ground.threads.progress import Progress, reporting, share_of
from regions.networks.closed_loop import MOST_STEPS, repeated, require_loop
from regions.networks.network import Network
from regions.pictures.image_picture import draw_images

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Iteration", "iterate"]


@dataclass(frozen=True, eq=False, repr=False)
class Iteration(JsonReport):
    """The sets of states that a closed loop reaches, step by step.

    Attributes
    ----------
    loop : Network
    domain : Domain
        The initial set.
    images : tuple of Image [steps + 1]
        The set after each number of steps: ``images[0]`` is the initial set, ``images[k].polygons`` the set after k
        steps, and ``images[k].inside(polygon)`` whether it lies in a polygon.
    volumes, volume_errors : float64 [steps + 1]
        Their lengths or areas, where parts that are covered several times count several times, and proven bounds.
    minimum, maximum : float64 [steps + 1, n]
        The least and the greatest value of each coordinate of the state.
    minimum_errors, maximum_errors : float64 [steps + 1, n]
        Proven bounds on the errors of these.

    Examples
    --------
    >>> import regions
    >>> feedback = regions.Network([([[-1.0, -2.0]], [0.0]), ([[1.0]], [0.0])], activation="hard_tanh")
    >>> loop = regions.closed_loop(feedback, A=[[1.0, 0.5], [0.0, 1.0]], B=[[0.0], [0.5]])
    >>> square = regions.Polygon([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    >>> found = regions.iterate(loop, square, 3)
    >>> found
    Iteration(3 steps, 1, 3, 5, 7 regions)
    >>> found.maximum.round(6).tolist()
    [[1.0, 1.0], [1.5, 0.5], [1.75, 0.6], [1.75, 0.75]]
    """

    ROWS = ("regions", "volumes", "volume_errors", "minimum", "minimum_errors", "maximum", "maximum_errors")
    NUMBER = "step"

    loop: Network
    domain: Domain
    images: tuple[Image, ...]

    @property
    def volumes(self) -> Floats:
        return np.array([each.volume for each in self.images])

    @property
    def volume_errors(self) -> Floats:
        return np.array([each.volume_error for each in self.images])

    @property
    def minimum(self) -> Floats:
        return np.array([each.extremes.minimum for each in self.images])

    @property
    def minimum_errors(self) -> Floats:
        return np.array([each.extremes.minimum_errors for each in self.images])

    @property
    def maximum(self) -> Floats:
        return np.array([each.extremes.maximum for each in self.images])

    @property
    def maximum_errors(self) -> Floats:
        return np.array([each.extremes.maximum_errors for each in self.images])

    def __len__(self) -> int:
        return len(self.images)

    def plot(self, figure: Any = None) -> Axes:
        """Draw the sets after all steps, with matplotlib, the first ones dark and the last ones light.

        Parameters
        ----------
        figure : matplotlib.figure.Figure, optional
            Figure to draw in; by default a new one.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingDependencyError
            matplotlib is not installed.
        ValueError
            States do not have two coordinates.
        """
        names = [f"after {k} step{'s' * (k != 1)}" for k in range(len(self))]
        return draw_images([each.polygons for each in self.images], names, figure)

    def as_dict(self) -> dict[str, Any]:
        """Numbers of regions, sizes and ranges of all steps, with errors."""
        names = ("volumes", "volume_errors", "minimum", "minimum_errors", "maximum", "maximum_errors")
        return {"regions": self._regions, **{name: getattr(self, name).tolist() for name in names}}

    @property
    def _regions(self) -> list[int]:
        return [len(each.partition) for each in self.images]

    def _repr_html_(self) -> str:
        size = ("length", "area")[self.domain.dimension - 1]
        ranges = [
            ", ".join(f"[{low:.6g}, {high:.6g}]" for low, high in zip(*step, strict=True))
            for step in zip(self.minimum.tolist(), self.maximum.tolist(), strict=True)
        ]
        rows = zip(range(len(self)), self._regions, (f"{x:.6g}" for x in self.volumes), ranges, strict=True)
        return html_table(repr(self), ("steps", "regions", size, "ranges of the coordinates"), rows)

    def __repr__(self) -> str:
        steps, counts = len(self) - 1, self._regions
        shown = [*counts[:4], *[".."] * (steps > 4), *counts[4:][-1:]]
        return f"Iteration({steps} step{'s' * (steps != 1)}, {', '.join(map(str, shown))} regions)"


@takes_timeout
def iterate(
    loop: Network,
    domain: Domain,
    steps: int,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    progress: Progress = None,
    workers: Workers = None,
) -> Iteration:
    """Find the sets of states that a closed loop reaches from an initial set, step by step.

    Parameters
    ----------
    loop : Network
        A network that maps states to next states, such as `regions.closed_loop` makes of a controller.
    domain : Domain
        The initial set, a segment or polygon.
    steps : int
        The number of steps.
    limit, timeout, progress, workers
        As for `regions.enumerate`, applied to each step.

    Returns
    -------
    Iteration

    Raises
    ------
    DomainError
        The domain is unbounded.
    ShapeMismatchError
        The numbers of inputs and outputs of the loop differ, or the domain lies in another space.
    LimitReached, TimeoutReached
        As for `regions.enumerate`.

    Examples
    --------
    >>> import regions
    >>> halving = regions.Network([([[0.5]], [1.0])])
    >>> found = regions.iterate(halving, regions.Segment([0.0], [1.0]), 2)
    >>> [each.vertices.ravel().tolist() for each in found.images]
    [[0.0, 1.0], [1.0, 1.5], [1.5, 1.75]]
    """
    require_loop(loop)
    require_domain_of(domain, loop, REACHABLE_SETS)
    count = integer(steps, "steps", most=MOST_STEPS)
    unchanged = Network([(np.eye(loop.n_in), None)])
    images = []
    with reporting(progress) as report:
        for number in range(count + 1):
            network, part = repeated(loop, number) if number else unchanged, share_of(report, number, count + 1)
            images.append(image(network, domain, limit=limit, progress=part, workers=workers))
    return Iteration(loop, domain, tuple(images))
