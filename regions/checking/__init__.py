# SPDX-License-Identifier: MIT
"""Does a network keep to what theory says about its regions?

`check` takes a network and a domain, counts, measures, and lays the numbers beside every bound of
`regions.bounds.BOUNDS` and every identity that a subdivision has to obey. A bound that does not apply says why. A bound
or an identity that is violated means a bug of this package, or a claim that is false: the report says which one.

    against_bounds   which bounds apply, and are they kept?
    conditions       what a bound asks of network and domain, decided exactly
    layers           how many regions, by each definition, and after each layer?
    patterns         do patterns fit facets and corners?
    invariants       which identities must hold, and do they?
    orders           how much boundary, how near, beside the orders that theory expects?
    items            one line of a report
    check_report     all of it: as text and as JSON
    check_page       as HTML, with the picture
    check_all        the order of things
"""

from regions.checking.check_all import check
from regions.checking.check_report import CheckReport
from regions.checking.items import BoundItem, CountItem, Invariant, LayerItem, OrderItem

__all__ = ["BoundItem", "CheckReport", "CountItem", "Invariant", "LayerItem", "OrderItem", "check"]
