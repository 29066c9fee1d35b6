# SPDX-License-Identifier: MIT
"""Does a network agree with the theory of its regions?

`check` takes a network and a domain, counts, measures, and compares the numbers with every bound of
`regions.bounds.BOUNDS` and every identity that a subdivision must satisfy. A bound that does not apply says why. A
violated bound or identity means a bug in this package, or a false claim; the report says which one.

    against_bounds   which bounds apply, and do they hold?
    conditions       what a bound requires of network and domain, decided exactly
    layers           how many regions, by each definition, and after each layer?
    patterns         do patterns fit facets and corners?
    invariants       which identities must hold, and do they?
    whole_domain     how large is the domain, and its boundary, and how are points drawn in it?
    orders           how much boundary, and how near, compared with the orders that theory expects?
    random_signs     how many regions has the network with random signs?
    items            one line of a report
    check_report     the whole report, as text and as JSON
    check_page       the report as HTML, with the picture
    check_all        the order of the checks
"""

from regions.checking.check_all import check
from regions.checking.check_report import CheckReport
from regions.checking.items import BoundItem, CountItem, Invariant, LayerItem, OrderItem

__all__ = ["BoundItem", "CheckReport", "CountItem", "Invariant", "LayerItem", "OrderItem", "check"]
