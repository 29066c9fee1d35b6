// SPDX-License-Identifier: MIT
// How are the facets on the two sides of a cut matched?
//
// Both sides have the same facets, in opposite order. They are matched pair by pair, and their ends are united. No geometry is
// compared, and no tolerance is needed. A facet without a partner would mean a wrong sign.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "cells/cell.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The collector knows what follows a facet in its run, and can `match` two facets and `unite_ends`.
template <class Collector>
void zip_facets(Collector& collector, const FacetRun& forward, const FacetRun& backward, std::vector<std::int64_t>& reversed) {
  reversed.clear();
  for (std::int64_t there = backward.first; there >= 0; there = collector.following(there)) reversed.push_back(there);
  std::size_t left = reversed.size();
  for (std::int64_t here = forward.first; here >= 0 && left > 0;) {
    const std::int64_t there = reversed[--left];
    const std::int64_t following = collector.following(here);
    collector.match(here, there);
    collector.unite_ends(here, there);
    if (following < 0 && left == 0) return;
    here = following;
  }
  throw std::logic_error("the two sides of a cut do not have the same facets");
}

}  // namespace REGIONS_TARGET
}  // namespace regions
