# SPDX-License-Identifier: MIT
"""Which bounds are there?

`BOUNDS`, for programs that hold a network against the theory: one row for each function of ``n_in`` and ``widths``, or
for each form of it. Those for convolutions, which take other shapes, and those of a single number are not in it.
"""

from __future__ import annotations

from regions.bounds import (
    dimension_flow,
    length,
    lower,
    maxout,
    shallow,
    sparse_length,
    upper,
)
from regions.bounds import (
    expected_counts as random_networks,
)
from regions.bounds import (
    hyperplane_arrangements as arrangements,
)
from regions.bounds import (
    region_graph_bounds as region_graph,
)
from regions.bounds.registry import Bound

__all__ = ["BOUNDS"]

_RAGHU, _SERRA, _GAINES = "Raghu et al. 2017", "Serra, Tjandraatmadja, Ramalingam 2018", "Gaines, Bi 2026"
_HANIN, _MONTUFAR, _MAXOUT = "Hanin, Rolnick 2019", "Montufar et al. 2014", "Montufar, Ren, Zhang 2022"
_T, _RANK, _SIGMA = ("breakpoints",), ("rank",), ("sigma_w",)
_RANDOM, _GAUSSIAN = ("c_grad", "c_bias"), ("weight_std", "bias_std")

# Of every network; from the coarsest to the sharpest.
_UPPER = (
    Bound(upper.trivial, "upper", "regions", "any", "all patterns", "pattern", needs=_T),
    Bound(upper.raghu, "upper", "regions", "any", f"{_RAGHU}, Theorem 1", "pattern", status="explicit", needs=_T),
    Bound(
        upper.raghu_hard_tanh,
        "upper",
        "regions",
        "two breakpoints",
        f"{_RAGHU}, Theorem 1",
        "pattern",
        status="explicit",
        fixed=(("form", "2k"),),
    ),
    Bound(
        upper.raghu_hard_tanh,
        "upper",
        "regions",
        "two breakpoints",
        f"{_RAGHU}, Theorem 1",
        "pattern",
        status="derived",
        fixed=(("form", "pairs"),),
    ),
    Bound(
        upper.montufar2017,
        "upper",
        "regions",
        "any",
        "Montufar 2017; Goujon, Etemadi, Unser 2024",
        "pattern",
        needs=_T,
    ),
    Bound(
        dimension_flow.serra2018_upper,
        "upper",
        "regions",
        "relu",
        f"{_SERRA}, Theorem 1",
        "pattern",
        takes=("ranks",),
    ),
    Bound(
        dimension_flow.hinz_vandegeer,
        "upper",
        "regions",
        "relu",
        "Hinz, van de Geer 2019; Hinz 2021",
        "pattern",
        status="quoted",
    ),
    Bound(
        arrangements.zaslavsky,
        "upper",
        "regions",
        "one breakpoint",
        "Schlaefli 1852; Zaslavsky 1975",
        "pattern",
        takes=_RANK,
    ),
    Bound(
        arrangements.cover_central,
        "upper",
        "regions",
        "one breakpoint",
        "Schlaefli 1852; Cover 1965",
        condition="zero biases",
    ),
    Bound(
        arrangements.zaslavsky_bounded,
        "upper",
        "bounded regions",
        "one breakpoint",
        "Zaslavsky 1975",
        domain="whole space",
    ),
    Bound(maxout.maxout_montufar2014_upper, "upper", "regions", "maxout", _MONTUFAR, needs=_RANK),
    Bound(maxout.maxout_serra, "upper", "regions", "maxout", f"{_SERRA}, Theorem 8", needs=_RANK),
    Bound(maxout.maxout_montufar_ren_zhang, "upper", "regions", "maxout", _MAXOUT, needs=_RANK),
)

# Of some network of the shape, which is given by a construction.
_BEST = (
    Bound(lower.telgarsky_lower, "best", "regions", "relu", "Telgarsky 2015"),
    Bound(lower.pascanu2013_lower, "best", "regions", "relu", "Pascanu, Montufar, Bengio 2013"),
    Bound(lower.montufar2014_lower, "best", "regions", "relu", f"{_MONTUFAR}, Theorem 5"),
    Bound(lower.serra2018_lower, "best", "regions", "relu", f"{_SERRA}, Theorem 6"),
    Bound(lower.arora2018_lower, "best", "regions", "relu", "Arora et al. 2018, Theorem 2.11"),
    Bound(lower.serra2018_zonotope_lower, "best", "regions", "relu", f"{_SERRA}, Theorem 7", status="quoted"),
    Bound(maxout.maxout_montufar2014_lower, "best", "regions", "maxout", _MONTUFAR, needs=_RANK),
    Bound(
        maxout.maxout_montufar_ren_zhang_lower,
        "best",
        "regions",
        "maxout",
        _MAXOUT,
        status="quoted",
        needs=_RANK,
    ),
)

_GRAPH = (
    Bound(region_graph.gaines_bi_degree, "upper", "mean degree", "relu", _GAINES, condition="generic"),
    Bound(
        region_graph.gaines_bi_min_degree,
        "lower",
        "least degree",
        "relu",
        _GAINES,
        domain="whole space",
        condition="generic",
    ),
    Bound(
        region_graph.gaines_bi_diameter,
        "upper",
        "diameter",
        "relu",
        _GAINES,
        domain="whole space",
        condition="generic",
    ),
)

# Of the mean over random networks, with constants of their distribution.
_MEAN = (
    Bound(
        random_networks.hanin_rolnick_expected,
        "expected upper",
        "regions",
        "relu",
        "Hanin, Rolnick 2019b, Theorem 5",
        domain="cube",
        status="quoted",
        needs=(*_RANDOM, "volume"),
    ),
    Bound(
        random_networks.hanin_rolnick_volume,
        "expected upper",
        "boundary per volume",
        "any",
        f"{_HANIN}, Corollaries 4 and 7",
        status="quoted",
        needs=(*_RANDOM, "breakpoints"),
        takes=("codimension",),
    ),
    Bound(
        random_networks.tiwari_konidaris_volume,
        "expected upper",
        "boundary per volume",
        "relu",
        "Tiwari, Konidaris 2022",
        domain="manifold",
        status="quoted",
        needs=(*_RANDOM, "c_manifold"),
        takes=("codimension",),
    ),
    Bound(
        random_networks.hanin_rolnick_distance,
        "expected lower",
        "distance to the boundary",
        "any",
        f"{_HANIN}, Corollaries 5 and 8",
        domain="cube",
        status="quoted",
        needs=(*_RANDOM, "constant", "breakpoints"),
    ),
    Bound(
        shallow.expected_regions_shallow_ball,
        "expected",
        "regions",
        "one breakpoint",
        f"{_HANIN}, Theorem 3",
        domain="ball",
        status="derived",
        needs=(*_GAUSSIAN, "radius"),
    ),
    Bound(
        shallow.expected_strata_shallow,
        "expected",
        "boundary per volume",
        "one breakpoint",
        f"{_HANIN}, Theorem 3",
        domain="0",
        status="derived",
        needs=_GAUSSIAN,
        takes=("codimension",),
    ),
    Bound(
        shallow.expected_distance_shallow,
        "expected",
        "distance to the boundary",
        "one breakpoint",
        f"{_HANIN}, Theorem 3",
        domain="0",
        status="derived",
        needs=_GAUSSIAN,
    ),
)

_LENGTH = (
    Bound(
        length.expected_length_relu_exact,
        "expected",
        "length ratio",
        "relu",
        "Hanin, Jeong, Rolnick 2022",
        domain="curve",
        status="derived",
        needs=("weight_std",),
    ),
    Bound(
        length.raghu_length_lower,
        "expected lower",
        "length ratio",
        "relu",
        f"{_RAGHU}, Theorem 3",
        domain="curve",
        status="explicit",
        needs=_SIGMA,
        takes=("sigma_b",),
        fixed=(("activation", "relu"),),
    ),
    Bound(
        length.raghu_length_lower,
        "expected lower",
        "length ratio",
        "hard_tanh",
        f"{_RAGHU}, Theorem 3",
        domain="curve",
        status="explicit",
        needs=_SIGMA,
        takes=("sigma_b",),
        fixed=(("activation", "hard_tanh"),),
    ),
    Bound(
        length.raghu_length_upper,
        "expected upper",
        "length ratio",
        "hard_tanh",
        f"{_RAGHU}, appendix",
        domain="curve",
        needs=_SIGMA,
    ),
    Bound(
        length.raghu_transitions_lower,
        "expected lower",
        "transition ratio",
        "hard_tanh",
        f"{_RAGHU}, Theorem 4",
        domain="curve",
        status="explicit",
        needs=_SIGMA,
        takes=("sigma_b",),
    ),
    Bound(
        sparse_length.price_tanner,
        "expected lower",
        "length ratio",
        "relu",
        "Price, Tanner 2020, Theorem 2",
        domain="curve",
        needs=("distribution", "scale"),
        takes=("alpha", "zero_bias"),
    ),
)

BOUNDS: tuple[Bound, ...] = (*_UPPER, *_BEST, *_GRAPH, *_MEAN, *_LENGTH)
