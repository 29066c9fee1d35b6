// SPDX-License-Identifier: MIT
// Which of the vertices are placed once more, exactly?
//
// Signs do not need accurate positions, but lengths and areas do. If weights cancel, rounded positions can be far off. In deep
// networks only their bounds are large: positions are right to the last bits, and exact forms are expensive. Rounded arithmetic
// cannot tell the two cases apart, but exact arithmetic can.
// Therefore vertices with a large bound are placed exactly, the largest bounds first, within a budget of work. Each vertex whose
// position was wrong by much raises the budget.
// Invariant: bounds stay proven; the choice of vertices depends on the enumeration, never on time.
// Cost: one test of every vertex; the first budget is about a hundredth of the work of the run, plus about a millisecond.
#pragma once

#include "collect/assemble.hpp"
#include "task/monitor.hpp"
#include "task/network.hpp"

namespace regions {

// Changes positions and bounds of vertices in the arrays of a segment or plane. `cells` is the number of cells of the recursion.
void place_again(const ComplexArrays& arrays, const ComplexSizes& sizes, const Network& network, const Chart& chart,
                 const Domain& domain, std::int64_t cells, Monitor& monitor);

}  // namespace regions
