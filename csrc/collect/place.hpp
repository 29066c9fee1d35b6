// SPDX-License-Identifier: MIT
// Which of the vertices that were found shall be placed once more, exactly?
//
// Signs do not need good positions, and the recursion takes what rounded arithmetic gives. Lengths and areas are made
// of positions. Where weights cancel these can be off by a lot; in deep networks only the bounds are large, positions
// are right to the last bits, and exact forms are dear. Rounded arithmetic cannot tell the two apart, but exact
// arithmetic can, once it has been asked. So: vertices whose bound is large are placed exactly on credit, the worst
// few first, and every one that turns out to have been far off pays for many more.
// Invariant: bounds stay proven; which vertices are placed again depends on what was enumerated, never on a clock.
// Cost: one look at every vertex; the credit is about a hundredth of the run that earned it, and a millisecond.
#pragma once

#include "collect/whole.hpp"
#include "task/monitor.hpp"
#include "task/network.hpp"

namespace regions {

// After `number` (collect/assemble.hpp).
void place_again(Whole& whole, const Network& network, const Chart& chart, const Domain& domain, std::int64_t cells,
                 int workers, Monitor& monitor);

}  // namespace regions
