// SPDX-License-Identifier: MIT
// What becomes of the regions that the recursion finds?
//
// A Counter counts them. A Complex keeps them, and how they hang together: regions form a polyhedral complex, face to
// face, because every pre-activation is continuous. So when a cell has been cut, the facets that the two halves have
// along the cut are the same ones, in opposite order: they are zipped together, pair by pair, which makes neighbours
// and unites their ends. No geometry is compared and no tolerance is needed; a pair left over would be a wrong sign.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

#include "collected.hpp"
#include "interval.hpp"
#include "polygon.hpp"

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

  Complex(Collected& collected, std::size_t pattern_bytes) : collected_(collected), pattern_bytes_(pattern_bytes) {
    collected.dimension = D;
  }

  void identify(Vertex<D>& vertex) {
    vertex.id = std::int64_t(collected_.errors.size());
    for (int k = 1; k <= D; ++k)
      collected_.positions.push_back(vertex.position[0] != 0 || vertex.position[k] == 0
                                         ? vertex.position[k] + 0.0  // of the two zeros, the positive one
                                         : (vertex.position[k] > 0 ? INFINITY : -INFINITY));
    collected_.errors.push_back(vertex.error);
    collected_.same.push_back(vertex.id);
  }

  void region(const Cell& cell, const std::uint8_t* pattern, Chain* chains) {
    for (int i = 0; i < cell.count; ++i) {
      const std::int64_t corner = std::int64_t(collected_.corners.size());
      collected_.corners.push_back({cell.vertices[i].id, count, boundary_at(cell, i), -1, -1});
      chains[i] = {corner, corner};
    }
    collected_.offsets.push_back(std::int64_t(collected_.corners.size()));
    collected_.patterns.insert(collected_.patterns.end(), pattern, pattern + pattern_bytes_);
    ++count;
  }

  // The halves' facets along the cell's edges, and along the cut: `signs` are the cell's corners'.
  void join(const Polygon& cell, const Polygon* halves, const Chain* const* half_chains, const int* signs,
            Chain* chains) {
    Chain cut[2];
    for (int i = 0; i < cell.count; ++i) chains[i] = Chain();
    for (int turn = 0; turn < 2; ++turn) {
      for (int side = 0; side < 2; ++side) {
        const Polygon& half = halves[side];
        for (int k = 0; k < half.count; ++k) {
          const int origin = half.origins[k];
          if (origin < 0) {
            cut[side] = half_chains[side][k];
          } else if ((turn == 0) == starts_in(side, signs[origin])) {
            append(chains[origin], half_chains[side][k]);
          }
        }
      }
    }
    zip(cut[0], cut[1]);
  }

  // Intervals come from left to right; neighbours share the cut's vertex from the start.
  void join(const Interval&, const Interval*, const Chain* const* half_chains, const int*, Chain* chains) {
    corner(half_chains[0][1].last).twin = half_chains[1][0].first;
    corner(half_chains[1][0].first).twin = half_chains[0][1].last;
    chains[0] = half_chains[0][0];
    chains[1] = half_chains[1][1];
  }

 private:
  static Boundary boundary_at(const Polygon& cell, int corner) { return cell.edges[corner].name; }
  static Boundary boundary_at(const Interval& cell, int corner) {
    const VertexName& name = cell.vertices[corner].name;
    return name.generator >= 0 ? -1 - Boundary(name.generator) : name.boundaries[0];
  }

  // Of an edge that is cut in two, the part with the edge's first corner comes first.
  static bool starts_in(int side, int sign) { return side == 0 ? sign > 0 : sign < 0; }

  Corner& corner(std::int64_t index) { return collected_.corners[std::size_t(index)]; }

  void append(Chain& chain, const Chain& more) {
    if (chain.first < 0)
      chain.first = more.first;
    else
      corner(chain.last).following = more.first;
    chain.last = more.last;
  }

  void zip(const Chain& forward, const Chain& backward) {
    reversed_.clear();
    for (std::int64_t there = backward.first; there >= 0; there = corner(there).following) reversed_.push_back(there);
    std::size_t left = reversed_.size();
    for (std::int64_t here = forward.first; here >= 0; here = corner(here).following) {
      if (left == 0) break;
      const std::int64_t there = reversed_[--left];
      corner(here).twin = there;
      corner(there).twin = here;
      collected_.unite(corner(here).vertex, collected_.facet_end(there));
      collected_.unite(collected_.facet_end(here), corner(there).vertex);
      if (here == forward.last && left == 0) return;
    }
    throw std::logic_error("the two sides of a cut do not have the same facets");
  }

  Collected& collected_;
  std::size_t pattern_bytes_;
  std::vector<std::int64_t> reversed_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
