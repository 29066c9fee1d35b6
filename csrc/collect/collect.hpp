// SPDX-License-Identifier: MIT
// What becomes of the regions that the recursion finds?
//
// A Counter counts them. A Complex keeps them, and how they hang together: regions form a polyhedral complex, face to
// face, because every pre-activation is continuous. So when a cell has been cut, the facets that the two halves have
// along the cut are the same ones, in opposite order: they are zipped together, pair by pair, which makes neighbours
// and unites their ends. No geometry is compared and no tolerance is needed; a pair left over would be a wrong sign.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "cells/interval.hpp"
#include "cells/polygon.hpp"
#include "collect/collected.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Counter {
 public:
  static constexpr bool keeps = false;
  std::int64_t count = 0;

  void identify(Vertex<Cell::dimension>&) {}
  void region(const Cell&, const std::uint8_t*, Chain*) { ++count; }
  void join(const Cell&, const Cell*, const Chain* const*, const int*, Chain*) {}
};

template <class Cell>
class Complex {
 public:
  static constexpr bool keeps = true;
  static constexpr int D = Cell::dimension;
  std::int64_t count = 0;

  Complex(Collected& collected, std::size_t pattern_bytes) : collected_(collected) {
    collected.dimension = D;
    collected.pattern_bytes = pattern_bytes;
  }

  void identify(Vertex<D>& vertex) {
    vertex.id = std::int64_t(collected_.vertices.size());
    CollectedVertex& kept = *collected_.vertices.extend(1);
    for (int k = 1; k <= D; ++k)
      kept.position[k - 1] = vertex.position[0] != 0 || vertex.position[k] == 0
                                 ? vertex.position[k] + 0.0  // of the two zeros, the positive one
                                 : (vertex.position[k] > 0 ? INFINITY : -INFINITY);
    kept.error = vertex.error;
    kept.same = -1;
  }

  void region(const Cell& cell, const std::uint8_t* pattern, Chain* chains) {
    const std::int64_t first = std::int64_t(collected_.corners.size());
    Corner* corners = collected_.corners.extend(std::size_t(cell.count));
    for (int i = 0; i < cell.count; ++i) {
      const int next = i + 1 == cell.count ? 0 : i + 1;
      corners[i] = {cell.vertices[i]->id, cell.vertices[next]->id, boundary_at(cell, i), Corner::last};
      chains[i] = {first + i, first + i};
    }
    *collected_.ends.extend(1) = first + cell.count;
    std::copy_n(pattern, collected_.pattern_bytes, collected_.patterns.extend(collected_.pattern_bytes));
    ++count;
  }

  // The halves' facets along the cell's edges, and along the cut: `signs` are the cell's corners'.
  void join(const Polygon& cell, const Polygon* halves, const Chain* const* half_chains, const int* signs,
            Chain* chains) {
    Chain cut[2];
    for (int i = 0; i < cell.count; ++i) chains[i] = Chain();
    for (int side = 0; side < 2; ++side) {
      const Polygon& half = halves[side];
      for (int k = 0; k < half.count; ++k) {
        const int origin = half.origins[k];
        if (origin < 0)
          cut[side] = half_chains[side][k];
        else if (chains[origin].first < 0)
          chains[origin] = half_chains[side][k];
        else
          chains[origin] = starts_in(side, signs[origin]) ? joined(half_chains[side][k], chains[origin])
                                                          : joined(chains[origin], half_chains[side][k]);
      }
    }
    zip(cut[0], cut[1]);
  }

  // Intervals come from left to right; neighbours share the cut's vertex from the start.
  void join(const Interval&, const Interval*, const Chain* const* half_chains, const int*, Chain* chains) {
    match(half_chains[0][1].last, half_chains[1][0].first);
    chains[0] = half_chains[0][0];
    chains[1] = half_chains[1][1];
  }

 private:
  static Boundary boundary_at(const Polygon& cell, int corner) { return cell.edges[corner]->name; }
  static Boundary boundary_at(const Interval& cell, int corner) {
    const VertexName& name = cell.vertices[corner]->name;
    return name.generator >= 0 ? -1 - Boundary(name.generator) : name.boundaries[0];
  }

  // Of an edge that is cut in two, the part with the edge's first corner comes first.
  static bool starts_in(int side, int sign) { return side == 0 ? sign > 0 : sign < 0; }

  Corner& corner(std::int64_t index) { return collected_.corners[index]; }

  void match(std::int64_t here, std::int64_t there) {
    corner(here).link = there;
    corner(there).link = here;
  }

  Chain joined(const Chain& before, const Chain& after) {
    corner(before.last).link = ~after.first;
    return {before.first, after.last};
  }

  void zip(const Chain& forward, const Chain& backward) {
    reversed_.clear();
    for (std::int64_t there = backward.first; there >= 0; there = corner(there).following()) reversed_.push_back(there);
    std::size_t left = reversed_.size();
    for (std::int64_t here = forward.first; here >= 0 && left > 0;) {
      const std::int64_t there = reversed_[--left];
      const std::int64_t following = corner(here).following();
      collected_.unite(corner(here).vertex, corner(there).end);
      collected_.unite(corner(here).end, corner(there).vertex);
      match(here, there);
      if (following < 0 && left == 0) return;
      here = following;
    }
    throw std::logic_error("the two sides of a cut do not have the same facets");
  }

  Collected& collected_;
  std::vector<std::int64_t> reversed_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
