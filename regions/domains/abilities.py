# SPDX-License-Identifier: MIT
"""What exists in which domains, and what can be done in the others?

One row for each thing that does not exist in every domain: its name, the dimensions, and from which dimension on the
domain must be bounded. All refusals are made here, with one form of message, so that no function has its own idea of
what a box is. `tests/domains/test_abilities.py` asks every public function in every dimension.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from regions.errors import DomainError

__all__ = ["MOST_BOUNDED", "MOST_DIMENSIONS", "MOST_ENUMERATED", "Ability", "require", "why_not"]

# Regions are counted in up to MOST_DIMENSIONS dimensions, and enumerated in up to MOST_ENUMERATED. In boxes of up to
# MOST_BOUNDED dimensions outputs are bounded.
BOUNDED = "regions.extremes, which takes this domain"
MOST_BOUNDED, MOST_DIMENSIONS, MOST_ENUMERATED = 1024, 10, 6
# The dimension from which on a domain must be bounded: always, or never.
ALWAYS, NEVER = 1, MOST_BOUNDED + 1


class Ability(NamedTuple):
    """Something that exists in domains of some dimensions.

    Attributes
    ----------
    what : str
        Its name, in the plural.
    least, most : int
        In so many dimensions.
    bounded_from : int
        From this dimension on, in bounded domains only.
    instead : str
        What else can be done in other domains; empty if there is only the usual advice.
    """

    what: str
    least: int = 1
    most: int = MOST_ENUMERATED
    bounded_from: int = NEVER
    instead: str = ""


ENUMERATIONS = Ability(
    "enumerations, and answers that need all regions,",
    bounded_from=3,
    instead="regions.count, which takes this domain",
)
COUNTS = Ability("counts", most=MOST_DIMENSIONS)
EXTREMES = Ability("extremes", most=MOST_BOUNDED)
MARGINS = Ability("margins", most=MOST_BOUNDED, bounded_from=ALWAYS)
# These are abilities of a partition, or of what an enumeration found.
CELLS = Ability("regions in arrays", bounded_from=3)
DENSITIES = Ability("densities", bounded_from=ALWAYS)
DISC_COUNTS = Ability("counts in discs", most=2, bounded_from=ALWAYS)
INSCRIBED_DISCS = Ability("inscribed discs", bounded_from=ALWAYS)
INTEGRALS = Ability("integrals and shares", bounded_from=ALWAYS)
NUMBERS = Ability("numbers of a format", most=2, bounded_from=ALWAYS)
RANDOM_POINTS = Ability("random points", bounded_from=ALWAYS, instead="give points")
SHARED_CLASSES = Ability("shares of different classes", bounded_from=ALWAYS)
STREAM_CERTIFICATIONS = Ability("certifications of streams", bounded_from=ALWAYS)
VERDICTS = Ability("verdicts", most=MOST_BOUNDED, bounded_from=ALWAYS)
VERDICT_CERTIFICATES = Ability("certificates of verdicts", bounded_from=ALWAYS)
# Formats of files.
ARROW_FILES = Ability("files of .parquet and .arrow", most=2, bounded_from=ALWAYS, instead="write .npz or .csv")
GEOJSON_FILES = Ability("files of .geojson", most=2, bounded_from=ALWAYS, instead="write .npz or .csv")
POLYHEDRON_FILES = Ability("files of .vtu", least=3, most=3, bounded_from=ALWAYS, instead="write .npz or .csv")
# Where a region is an interval or a polygon.
CERTIFICATES = Ability("certificates", most=2, bounded_from=ALWAYS, instead="save(), which keeps all regions")
CURVES = Ability("curves between classes", most=2, instead="surface(first, second) in 3 dimensions")
DECREASE = Ability("decisions about decrease", most=2, bounded_from=ALWAYS)
FLAT_PARTITIONS = Ability("intervals and polygons of regions", most=2)
IMAGES = Ability("images", most=2, bounded_from=ALWAYS)
MERGED_POLYGONS = Ability("polygons of linear regions", least=2, most=2, bounded_from=ALWAYS, instead="their labels")
FLAT_PICTURES = Ability("pictures of merged regions, of classes, and of several partitions", most=2)
REACHABLE_SETS = Ability("reachable sets", most=2, bounded_from=ALWAYS)
SHAPELY_GEOMETRIES = Ability("shapely geometries", most=2, bounded_from=ALWAYS)
SIDES = Ability("sides of segments and polygons", most=2, bounded_from=ALWAYS)
KEPT_PARTITIONS = Ability("records of training that keep partitions", most=2, bounded_from=ALWAYS)
TRAINING_RECORDS = Ability("records of training", most=2)
# On a line.
MERGED_INTERVALS = Ability("intervals of linear regions", most=1, instead="their polygons, or their labels")
FUNCTIONS = Ability("functions of one variable", most=1)
TABLES_OF_FUNCTIONS = Ability("tables of functions, such as PPoly,", most=1, bounded_from=ALWAYS)
# In planes and in space.
SECTIONS = Ability("sections", least=2, most=MOST_DIMENSIONS, bounded_from=ALWAYS, instead="a regions.Plane")
# In space.
SOLID_PARTITIONS = Ability("polytopes of regions", least=3, bounded_from=ALWAYS)
LEVEL_SETS = Ability("level sets", most=3, bounded_from=3)
PAGES = Ability("pages", most=3)
PICTURES = Ability("pictures", most=3)
SURFACES = Ability("surfaces between classes", least=3, most=3)


class _Dimensional(Protocol):
    """A domain."""

    @property
    def dimension(self) -> int: ...
    @property
    def bounded(self) -> bool: ...


def why_not(able: Ability, domain: _Dimensional) -> str:
    """Return why something does not exist in a domain, in a few words; or ""."""
    given = domain.dimension
    if given > able.most:
        return f"the domain has more than {_dimensions(able.most)}"
    if given < able.least:
        return f"the domain has fewer than {_dimensions(able.least)}"
    if given >= able.bounded_from and not domain.bounded:
        return "the domain is unbounded" + f", in {_dimensions(given)}" * (able.bounded_from > ALWAYS)
    return ""


def require(able: Ability, domain: _Dimensional, name: str = "this domain") -> None:
    """Refuse a domain in which something does not exist; messages call it by a name.

    Raises
    ------
    DomainError
        The domain has another number of dimensions, or is unbounded.

    Examples
    --------
    >>> from regions import Plane
    >>> require(SURFACES, Plane([0, 0], [1, 0], [0, 1]))
    Traceback (most recent call last):
    regions.errors.DomainError: surfaces between classes exist in 3 dimensions; this domain has 2. Take a Box.
    >>> require(IMAGES, Plane([0, 0], [1, 0], [0, 1]))
    Traceback (most recent call last):
    regions.errors.DomainError: images exist in bounded domains; this domain is unbounded. Take a Polygon in it.
    """
    if not why_not(able, domain):
        return
    given = domain.dimension
    # Domains of more dimensions are boxes.
    other = able.instead if given <= MOST_DIMENSIONS else BOUNDED
    instead = f", or {other}" * bool(other)
    if able.least <= given <= able.most:
        where = f" of {able.bounded_from} and more dimensions" * (able.bounded_from > ALWAYS)
        smaller = {1: "Segment on", 2: "Polygon in"}.get(given, "Box in")
        raise DomainError(
            f"{able.what} exist in bounded domains{where}; {name} is unbounded. Take a {smaller} it{instead}."
        )
    between = {0: "", 1: f"{able.least} or "}.get(able.most - able.least, f"{able.least} to ")
    raise DomainError(
        f"{able.what} exist in {between}{_dimensions(able.most)}; {name} has {given}. "
        f"Take {_other_domain(able, given)}{instead}."
    )


def _other_domain(able: Ability, given: int) -> str:
    """Return which domain to take instead of one with too few or too many dimensions."""
    if given < able.least:
        return "a Box" if able.least > 2 else "a Polygon"
    if able.most == 1:
        return "a Segment in it"
    if able.most == 2:
        return "a Polygon in it, such as domain.section(point, axes)"
    words = ["one coordinate", "two coordinates", "three coordinates"]
    fixed = given - able.most
    return f"a Box that fixes {words[fixed - 1] if fixed <= len(words) else f'{fixed} coordinates'}"


def _dimensions(number: int) -> str:
    return f"{number} dimension{'s' * (number != 1)}"
