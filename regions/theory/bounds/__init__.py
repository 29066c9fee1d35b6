# SPDX-License-Identifier: MIT
"""What does theory say about the number of regions, their boundary, their graph and the length of curves?

Every bound is a function, ``regions.bounds.NAME(n_in, widths, ...)``. ``n_in`` is the dimension of the input, or of the
line or plane through it; ``widths`` are the numbers of units of the hidden layers. Integers are exact. Results are
fractions if a formula is rational, and floats only if it has roots, Gamma functions and the like. Each docstring names
the theorem and its conditions. A shape that the theorem does not cover raises `BoundDoesNotApply`.

>>> from regions.theory import bounds
>>> bounds.raghu(2, [16, 16]), bounds.serra2018_upper(2, [16, 16]), bounds.serra2018_lower(2, [16, 16])
(18769, 18769, 11097)

There is one file for each kind of question:

    hyperplane_arrangements     one layer: regions, bounded regions, faces
    characteristic_polynomial   a given arrangement, exactly, in any dimension
    upper  dimension_flow       deep networks: at most
    lower                       deep networks: the best ones have at least
    maxout  convolution         other kinds of layers
    region_graph_bounds         neighbours and diameter
    expected_counts  shallow    random networks on average
    whole_space                 random networks on average, in whole spaces, exactly
    wide_lines  random_maxout   wide layers, and maxout units, on lines
    wide_polygons  wide_boxes   wide layers, on segments, in polygons and in boxes
    length  sparse_length       how curves are stretched
    volume                      how areas and volumes change
    registry                    all bounds, for programs
"""

from regions.errors import BoundDoesNotApply
from regions.theory.bounds.characteristic_polynomial import bounded_chambers, chambers, characteristic_polynomial
from regions.theory.bounds.convolution import xiong_cnn, xiong_cnn_lower, xiong_cnn_upper
from regions.theory.bounds.dimension_flow import hinz_vandegeer, serra2018_upper
from regions.theory.bounds.expected_counts import (
    hanin_rolnick_distance,
    hanin_rolnick_expected,
    hanin_rolnick_volume,
    tiwari_konidaris_volume,
    tube_volume,
)
from regions.theory.bounds.hyperplane_arrangements import cover_central, generic_faces, zaslavsky, zaslavsky_bounded
from regions.theory.bounds.length import (
    expected_length_relu_exact,
    hard_tanh_length_growth,
    raghu_length_lower,
    raghu_length_upper,
    raghu_transitions_lower,
    relu_length_factor,
)
from regions.theory.bounds.lower import (
    arora2018_lower,
    montufar2014_lower,
    pascanu2013_lower,
    serra2018_lower,
    serra2018_zonotope_lower,
    telgarsky_lower,
)
from regions.theory.bounds.maxout import (
    maxout_montufar2014_lower,
    maxout_montufar2014_upper,
    maxout_montufar_ren_zhang,
    maxout_montufar_ren_zhang_lower,
    maxout_serra,
)
from regions.theory.bounds.random_maxout import expected_regions_maxout_line
from regions.theory.bounds.region_graph_bounds import (
    gaines_bi_degree,
    gaines_bi_diameter,
    gaines_bi_facets,
    gaines_bi_min_degree,
)
from regions.theory.bounds.registry import Bound, all_registered
from regions.theory.bounds.shallow import (
    expected_distance_shallow,
    expected_regions_shallow_ball,
    expected_strata_shallow,
)
from regions.theory.bounds.sparse_length import price_tanner
from regions.theory.bounds.upper import montufar2017, raghu, raghu_hard_tanh, trivial
from regions.theory.bounds.volume import expected_volume_relu_exact
from regions.theory.bounds.whole_space import expected_closed_share, expected_decision_pieces, expected_regions
from regions.theory.bounds.wide_boxes import expected_regions_wide_box
from regions.theory.bounds.wide_lines import expected_regions_wide_line, kogan_expected_regions
from regions.theory.bounds.wide_polygons import expected_regions_wide_polygon

BOUNDS: tuple[Bound, ...] = all_registered()

__all__ = [
    "BOUNDS",
    "Bound",
    "BoundDoesNotApply",
    "arora2018_lower",
    "bounded_chambers",
    "chambers",
    "characteristic_polynomial",
    "cover_central",
    "expected_closed_share",
    "expected_decision_pieces",
    "expected_distance_shallow",
    "expected_length_relu_exact",
    "expected_regions",
    "expected_regions_maxout_line",
    "expected_regions_shallow_ball",
    "expected_regions_wide_box",
    "expected_regions_wide_line",
    "expected_regions_wide_polygon",
    "expected_strata_shallow",
    "expected_volume_relu_exact",
    "gaines_bi_degree",
    "gaines_bi_diameter",
    "gaines_bi_facets",
    "gaines_bi_min_degree",
    "generic_faces",
    "hanin_rolnick_distance",
    "hanin_rolnick_expected",
    "hanin_rolnick_volume",
    "hard_tanh_length_growth",
    "hinz_vandegeer",
    "kogan_expected_regions",
    "maxout_montufar2014_lower",
    "maxout_montufar2014_upper",
    "maxout_montufar_ren_zhang",
    "maxout_montufar_ren_zhang_lower",
    "maxout_serra",
    "montufar2014_lower",
    "montufar2017",
    "pascanu2013_lower",
    "price_tanner",
    "raghu",
    "raghu_hard_tanh",
    "raghu_length_lower",
    "raghu_length_upper",
    "raghu_transitions_lower",
    "relu_length_factor",
    "serra2018_lower",
    "serra2018_upper",
    "serra2018_zonotope_lower",
    "telgarsky_lower",
    "tiwari_konidaris_volume",
    "trivial",
    "tube_volume",
    "xiong_cnn",
    "xiong_cnn_lower",
    "xiong_cnn_upper",
    "zaslavsky",
    "zaslavsky_bounded",
]
