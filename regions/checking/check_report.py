# SPDX-License-Identifier: MIT
"""What is the result of a check against the theory?

There are five lists: counts, layers, bounds, invariants, orders. Bounds and invariants can be violated, and the report
is "ok" if none is. Items that do not apply, or are not decided, say why. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from html import escape
from math import log10
from os import PathLike
from typing import Any

from regions.checking.check_page import NOT_LISTED, picture_of, report_page
from regions.checking.items import BoundItem, CountItem, Invariant, LayerItem, OrderItem
from regions.domains import Domain
from regions.files.replacing import replacing
from regions.files.tabular import JsonReport
from regions.ground.text.tables import aligned, html_table, plain, shortened
from regions.networks.network import Network
from regions.results.definitions import DEFINITIONS
from regions.results.pages.page import page_file
from regions.results.partition import Partition
from regions.theory.bounds.registry import Value

__all__ = ["CheckReport"]

# Definitions other than activation regions, whose column has another name.
COARSER_OR_FINER = tuple(name for name in DEFINITIONS if name != "activation")
WHAT_IT_MEANS = (
    "A proven statement about this result is false. Unless the regions were altered after they had been found, "
    "relu-regions has a bug, or the claim is broken: please report it, with the model and the domain."
)


@dataclass(frozen=True, repr=False)
class CheckReport(JsonReport):
    """The result of `regions.check`.

    Attributes
    ----------
    network : Network
    domain : Domain
    partition : Partition or None
        The checked partition. None where regions are counted and not enumerated.
    counts : tuple of CountItem
    layers : tuple of LayerItem
    bounds : tuple of BoundItem
    invariants : tuple of Invariant
    orders : tuple of OrderItem

    Examples
    --------
    >>> import regions
    >>> net = regions.Network([([[1.0], [-1.0]], [0.0, 0.5]), ([[1.0, 1.0]], [0.0])])
    >>> report = regions.check(net, regions.Segment([-1.0], [1.0]))
    >>> report.ok, report.violations
    (True, ())
    >>> report.conclusion
    '3 regions: 7 bounds and 12 invariants hold'
    """

    ROWS = ("counts", "layers", "bounds", "invariants", "orders")

    network: Network = field(repr=False)
    domain: Domain = field(repr=False)
    partition: Partition | None = field(repr=False)
    counts: tuple[CountItem, ...]
    layers: tuple[LayerItem, ...]
    bounds: tuple[BoundItem, ...]
    invariants: tuple[Invariant, ...]
    orders: tuple[OrderItem, ...]

    @property
    def regions(self) -> int:
        """The number of activation regions."""
        (number,) = (item.regions for item in self.counts if item.definition == "activation")
        assert number is not None
        return number

    @property
    def violations(self) -> tuple[BoundItem | Invariant, ...]:
        """The bounds and invariants that are violated."""
        items: Iterable[BoundItem | Invariant] = (*self.bounds, *self.invariants)
        return tuple(item for item in items if item.status == "violated")

    @property
    def ok(self) -> bool:
        """Whether nothing is violated."""
        return not self.violations

    @property
    def conclusion(self) -> str:
        """The result, in a sentence."""
        count = self.regions
        regions = f"{count:,} region{'' if count == 1 else 's'}"
        if self.violations:
            return f"{regions}: violated: {', '.join(item.name for item in self.violations)}. {WHAT_IT_MEANS}"
        kept, obeyed = (sum(item.status == "holds" for item in items) for items in (self.bounds, self.invariants))
        return f"{regions}: {kept} bounds and {obeyed} invariant{'' if obeyed == 1 else 's'} hold"

    def rows(self) -> dict[str, list[tuple[str, ...]]]:
        """Return the lists as tables of text, each with a row of column titles first."""
        best = [item for item in self.bounds if item.status == "for information"]
        others: dict[str, list[str]] = {}
        for item in self.bounds:
            if item.status == "does not apply":
                others.setdefault(item.note, []).append(item.name)
        compared = [item for item in self.bounds if item.status in ("holds", "violated")]
        return {
            "Regions, by definition": [
                ("definition", "regions", ""),
                *((item.definition, _number(item.regions), item.note) for item in self.counts),
            ],
            "After each layer": [
                ("layer", "units", "activation", "boundary", "regions", *COARSER_OR_FINER, ""),
                *(_layer_row(item) for item in self.layers),
            ],
            "Bounds": [
                ("bound", "", "on", "found", "bound", "ratio", "source"),
                *(_bound_row(item) for item in compared),
            ],
            "What the best network of this shape has, at least": [
                ("bound", "", "on", "found", "bound", "ratio", "source"),
                *(_bound_row(item) for item in best),
            ],
            "Bounds that do not apply": [
                ("why", "bounds"),
                *((reason, ", ".join(names)) for reason, names in others.items()),
            ],
            "What must hold": [
                ("invariant", "", "found", "expected", "claim"),
                *((i.name, i.status, i.found, i.expected, _with(i.claim, i.note)) for i in self.invariants),
            ],
            "Orders": [
                ("measured", "value", "over", "is", ""),
                *((i.name, _number(i.value), i.order, _number(i.in_units), i.note) for i in self.orders),
            ],
        }

    def table(self) -> str:
        """Return the report as text."""
        lines = [self.conclusion]
        for title, (head, *rows) in self.rows().items():
            if rows:
                lines += ["", title, *(f"  {line}" for line in aligned([head, *rows]))]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return shortened(self.table())

    def _repr_html_(self) -> str:
        tables = [html_table(title, head, rows) for title, (head, *rows) in self.rows().items() if rows]
        return f"<p>{escape(self.conclusion)}</p>{''.join(tables)}"

    def as_dict(self) -> dict[str, Any]:
        """Return the report for JSON.

        ``ok``, ``conclusion``, ``violations`` (names), ``network``, ``domain`` and ``fingerprints`` of both, and
        the five lists under their names. Fractions are rounded; infinity, and an integer of more than 14,000
        bits, is None, in JSON null.
        """
        network, domain = self.network, self.domain
        lists = {
            name: [_facts(item) for item in getattr(self, name)]
            for name in ("counts", "layers", "bounds", "invariants", "orders")
        }
        facts: dict[str, Any] = {
            "ok": self.ok,
            "conclusion": self.conclusion,
            "violations": [item.name for item in self.violations],
            "network": repr(network),
            "domain": repr(domain),
            "fingerprints": {"network": network.fingerprint, "domain": domain.fingerprint},
            **lists,
        }
        return {name: plain(value) for name, value in facts.items()}

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Return the report as one HTML page that needs no other file, with the picture of the regions in it.

        The picture needs matplotlib; without it, for unbounded domains, and from four dimensions on, the page says why
        it is missing.

        Parameters
        ----------
        path : str or path, optional
            File to write the page to as well; its name ends in ``.html``.

        Raises
        ------
        TypeError, ValueError, OSError
            Another name, or a file that cannot be written.
        """
        file = None if path is None else page_file(path)
        picture = NOT_LISTED if self.partition is None else picture_of(self.partition)
        title = f"{self.regions:,} regions of {self.network!r}"
        page = report_page(
            title, (repr(self.network), repr(self.domain)), picture, self.ok, self.conclusion, self.rows()
        )
        if file is not None:
            with replacing(file) as temporary:
                temporary.write_text(page, encoding="utf-8")
        return page


def _layer_row(item: LayerItem) -> tuple[str, ...]:
    counts = {count.definition: _number(count.regions) or "?" for count in item.counts}
    numbers = (counts.get(definition, "") for definition in COARSER_OR_FINER)
    start = (str(item.layer), f"{item.units:,}", item.activation, _number(item.boundary), _number(item.regions))
    return (*start, *numbers, "" if counts else "not counted by definition")


def _bound_row(item: BoundItem) -> tuple[str, ...]:
    ratio = "" if item.ratio is None else f"{item.ratio:.3g}"
    source = _with(item.source if item.proof == "theorem" else f"{item.source} ({item.proof})", item.note)
    return (item.name, item.status, item.quantity, _number(item.found), _number(item.value), ratio, source)


def _facts(item: Any) -> dict[str, Any]:
    """Return an item for JSON."""
    return {**asdict(item), "ratio": item.ratio} if isinstance(item, BoundItem) else asdict(item)


def _number(value: Value | None) -> str:
    """Return a number as text; long integers by their order of magnitude only."""
    if value is None:
        return ""
    if isinstance(value, int):
        if value < 10**15:
            return f"{value:,}"
        exponent = int(log10(value))  # for integers of any size; str() refuses more than 4,300 digits
        return f"{10 ** (log10(value) - exponent):.2f}e+{exponent}"
    return f"{float(value):.6g}"


def _with(text: str, note: str) -> str:
    return f"{text}; {note}" if note else text
