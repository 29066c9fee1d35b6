# SPDX-License-Identifier: MIT
"""How many neighbours do regions have, and how far apart are they, in theory?

The nodes of the region graph are the regions, with an edge for each pair with a common facet. The bounds hold for ReLU
networks in general position on all of R^n_in; the bound on the mean degree also holds on convex subsets. Integers are
exact.
"""

from __future__ import annotations

from regions.ground.arithmetic.arguments import integer
from regions.theory.bounds.bound_arguments import Widths, shape
from regions.theory.bounds.registry import registered


@registered("upper", "mean degree", "relu", "Gaines, Bi 2026", condition="generic")
def gaines_bi_degree(n_in: int, widths: Widths) -> int:
    """Return an upper bound on the mean number of neighbours of a region: ``2 * n_in``, for any widths.

    Parameters
    ----------
    n_in : int
        Dimension of the input, or of the plane through it.
    widths : int or sequence of int
        Units of the hidden layers; a single number is one layer.

    Returns
    -------
    int

    References
    ----------
    Gaines, Bi, Characterizing the discrete geometry of ReLU networks, 2026; for arrangements Fukuda, Saito, Tamura,
    Tokuyama, Bounding the number of k-faces in arrangements of hyperplanes, 1991.

    Examples
    --------
    >>> gaines_bi_degree(2, [16, 16])
    4
    """
    return 2 * shape(n_in, widths)[0]


def gaines_bi_facets(dimension: int) -> int:
    """Return an upper bound on the mean number of facets of a cell of the given dimension: ``2 * dimension``.

    Parameters
    ----------
    dimension : int
        0 for vertices, 1 for edges, .., ``n_in`` for regions.

    Returns
    -------
    int

    References
    ----------
    Gaines, Bi 2026; Fukuda et al. 1991, as for `gaines_bi_degree`.

    Examples
    --------
    >>> gaines_bi_facets(1)
    2
    """
    return 2 * integer(dimension, "dimension", least=0)


@registered("lower", "least degree", "relu", "Gaines, Bi 2026", domain="whole space", condition="generic")
def gaines_bi_min_degree(n_in: int, widths: Widths) -> int:
    """Return a lower bound on the number of neighbours of every region: ``min(n_1, n_in)``.

    Parameters
    ----------
    n_in, widths
        As for `gaines_bi_degree`.

    Returns
    -------
    int

    References
    ----------
    Gaines, Bi, Characterizing the discrete geometry of ReLU networks, 2026. Only on all of R^n_in: an edge of a
    polygon can cut a region off from its neighbours.

    Examples
    --------
    >>> gaines_bi_min_degree(2, [1, 16]), gaines_bi_min_degree(2, [16, 1])
    (1, 2)
    """
    dimension, layers = shape(n_in, widths)
    return min(layers[0], dimension)


@registered("upper", "diameter", "relu", "Gaines, Bi 2026", domain="whole space", condition="generic")
def gaines_bi_diameter(n_in: int, widths: Widths) -> int:
    """Return an upper bound on the number of facets between any two regions: ``(max width + 1)**L``.

    Parameters
    ----------
    n_in, widths
        As for `gaines_bi_degree`; the dimension is not used.

    Returns
    -------
    int

    References
    ----------
    Gaines, Bi, Characterizing the discrete geometry of ReLU networks, 2026.

    Examples
    --------
    >>> gaines_bi_diameter(2, [8, 4])
    81
    """
    _, layers = shape(n_in, widths)
    return int((max(layers) + 1) ** len(layers))
