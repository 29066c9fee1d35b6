// SPDX-License-Identifier: MIT
// Which edges of a polytope does a form cross?
//
// Those with ends on different sides. In a simple cell the sets of facets of two ends of an edge differ in one facet each. In any cell no
// third vertex is on all facets that both share.
// Cost: all pairs of vertices on different sides if they are few; else a word operation for each vertex and each of its facets or, in large
// cells, one look-up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "cells/facet_set.hpp"
#include "cells/flats.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
struct CrossedEdges {
  static constexpr int few_pairs = 50;

  const Cell& cell;
  const int* signs;       // of the form at the cell's vertices
  int* up = nullptr;      // [positive] the vertices above
  int* down = nullptr;    // [negative]
  int positive = 0, negative = 0, zero = 0, made = 0;
  FacetSet above = 0, below = 0;  // facets with a vertex there
  FacetSet* shared = nullptr;     // [made] the facets of the cell that both ends of an edge are on
  int* ends = nullptr;            // [2 made] the vertices at the ends of the edge

  CrossedEdges(const Cell& its_cell, const int* its_signs, Arena& arena) : cell(its_cell), signs(its_signs) {
    up = arena.take<int>(std::size_t(cell.count) + 1);
    down = arena.take<int>(std::size_t(cell.count) + 1);
    partition();
    if (positive == 0 || negative == 0) throw std::logic_error("a form that cuts a cell has one sign on it");
    find_edges(arena);
  }

 private:
  // Lists the vertices on both sides, without jumps, because either sign is as likely.
  void partition() {
    const FacetSet* sets = cell.sets;
    int* const ups = up;
    int* const downs = down;
    int first = 0, second = 0;
    FacetSet of_ups = 0, of_downs = 0;
    for (int v = 0, count = cell.count; v < count; ++v) {
      const int sign = signs[v];
      ups[first] = v;
      downs[second] = v;
      first += sign > 0;
      second += sign < 0;
      of_ups |= sets[v] & mask_of(std::uint32_t(-sign) >> 31);
      of_downs |= sets[v] & mask_of(std::uint32_t(sign) >> 31);
    }
    positive = first;
    negative = second;
    zero = cell.count - first - second;
    above = of_ups;
    below = of_downs;
  }

  // All facets, or none.
  static FacetSet mask_of(std::uint64_t bit) {
    const std::uint64_t word = -bit;
    return FacetSet{word} << 64 | word;
  }

  void find_edges(Arena& arena) {
    const std::size_t most = cell.simple ? std::size_t(cell.dims) * std::size_t(std::min(positive, negative)) : std::size_t(positive) * std::size_t(negative);
    ends = arena.take<int>(2 * most);
    shared = arena.take<FacetSet>(most);
    if (!cell.simple) {
      for (int i = 0; i < positive; ++i)
        for (int j = 0; j < negative; ++j)
          if (are_adjacent(cell.dims, cell.sets, cell.count, up[i], down[j], false)) add_edge(up[i], down[j]);
      return;
    }
    if (std::min(positive, negative) <= few_vertices / 2) {
      if (positive * negative > few_pairs && negative <= 64)
        find_by_facets();
      else if (end_of(cell.facets) <= 64)
        find_in_pairs([](FacetSet set) { return std::uint64_t(set); }, arena);
      else
        find_in_pairs([](FacetSet set) { return set; }, arena);
      return;
    }
    // The sets of the two ends of an edge differ in one facet each.
    const Arena::Mark mark = arena.mark();
    FacetSetTable table(std::size_t(positive) * cell.dims, arena);
    for (int i = 0; i < positive; ++i)
      for_each_facet(cell.sets[up[i]], [&](int f) { table.find_or_put(cell.sets[up[i]] & ~only(f), up[i]); });
    for (int j = 0; j < negative; ++j)
      for_each_facet(cell.sets[down[j]], [&](int f) {
        const int u = table.find(cell.sets[down[j]] & ~only(f));
        if (u >= 0) add_edge(u, down[j]);
      });
    arena.release(mark);
  }

  // The same in a simple cell, by the vertices below that are on all facets of a vertex but one.
  void find_by_facets() {
    std::uint64_t on[most_facets];  // the vertices below, by their places, that are on a facet
    for (int f = 0, end = end_of(cell.facets); f < end; ++f) on[f] = 0;
    std::uint64_t bit = 1;
    for (int j = 0; j < negative; ++j, bit <<= 1) for_each_facet(cell.sets[down[j]], [&](int f) { on[f] |= bit; });
    for (int i = 0; i < positive; ++i) {
      std::uint64_t on_all = ~std::uint64_t{0};
      std::uint64_t on_all_but_one = on_all;
      for_each_facet(cell.sets[up[i]], [&](int f) {
        on_all_but_one = (on_all_but_one & on[f]) | on_all;
        on_all &= on[f];
      });
      for (; on_all_but_one != 0; on_all_but_one &= on_all_but_one - 1) add_edge(up[i], down[__builtin_ctzll(on_all_but_one)]);
    }
  }

  // The same; `part` is a part of a set that has all facets of the cell.
  template <class Part>
  void find_in_pairs(Part part, Arena& arena) {
    using Facets = decltype(part(FacetSet{0}));
    Facets* below_facets = arena.take<Facets>(std::size_t(negative));
    for (int j = 0; j < negative; ++j) below_facets[j] = part(cell.sets[down[j]]);
    for (int i = 0; i < positive; ++i) {
      const Facets own = part(cell.sets[up[i]]);
      for (int j = 0; j < negative; ++j)
        if (size_of(own & below_facets[j]) == cell.dims - 1) add_edge(up[i], down[j]);
    }
  }

  void add_edge(int u, int v) {
    ends[2 * made] = u;
    ends[2 * made + 1] = v;
    shared[made++] = cell.sets[u] & cell.sets[v];
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
