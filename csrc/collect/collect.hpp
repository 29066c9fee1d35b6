// SPDX-License-Identifier: MIT
// How are the regions collected that the recursion finds?
//
// A Counter counts them. A Complex stores them and how they are connected: regions form a polyhedral complex, face to
// face, because every pre-activation is continuous. When a cell has been cut, the facets that two of its children have along
// the cut are therefore the same ones, in opposite order. They are matched pair by pair, which finds neighbours and unites
// their ends. No geometry is compared and no tolerance is needed; a pair left over would be a wrong sign. The cell knows which
// facets are along which of its own (Cell::join).
//
// One thread may collect a part of the regions, or several parts (collect/fragments.hpp).
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "cells/cell.hpp"
#include "collect/collected.hpp"
#include "collect/fragments.hpp"
#include "collect/zip.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Counter {
 public:
  using Trace = typename Cell::Trace;
  static constexpr bool keeps = false;
  std::int64_t count = 0;

  void identify(Vertex<Cell::dimension>&) {}
  std::size_t identified() const { return 0; }
  void forget(std::size_t) {}
  std::size_t map_numbers() const { return 0; }
  void region(const Cell&, const std::uint8_t*, Trace*, const double*) { ++count; }
  void join(const Cell&, const Cut<Cell>&, Trace*) {}

  int give() { return 0; }
  void begin(int) {}
  void adopt(Vertex<Cell::dimension>&) {}
  void join_later(const Cell&, const Cut<Cell>&, int, Trace*, const std::shared_ptr<void>&) {}
};

template <class Cell>
class Complex {
 public:
  using Trace = typename Cell::Trace;
  static constexpr bool keeps = true;
  static constexpr int D = Cell::dimension;
  static_assert(D <= most_dimensions, "a collected vertex has no room for its position");
  static_assert(require_facets<Cell>(), "cells/cell.hpp says what a cell offers");
  std::int64_t count = 0;

  // `outputs` is the number of outputs whose maps are collected.
  Complex(Collected& collected, std::size_t pattern_bytes, int outputs = 0) : collected_(collected) {
    collected.dimension = D;
    collected.facet_corners = Cell::facet_corners;
    collected.pattern_bytes = pattern_bytes;
    collected.map_numbers = std::size_t(outputs) * (D + 1) * 2;
  }

  // For one of several threads.
  Complex(Fragments<Cell>& fragments, Harvest<Cell>& harvest, std::size_t pattern_bytes, int outputs)
      : Complex(harvest.collected, pattern_bytes, outputs) {
    fragments_ = &fragments;
    harvest_ = &harvest;
  }

  // All vertices are kept.
  std::size_t identified() const { return 0; }
  void forget(std::size_t) {}

  void identify(Vertex<D>& vertex) {
    vertex.id = std::int64_t(collected_.vertices.size());
    CollectedVertex& kept = *collected_.vertices.extend(1);
    for (int k = 1; k <= D; ++k)
      kept.position[k - 1] = vertex.position[0] != 0 || vertex.position[k] == 0
                                 ? vertex.position[k] + 0.0  // turns a negative zero into a positive one
                                 : (vertex.position[k] > 0 ? INFINITY : -INFINITY);
    kept.error = vertex.error;
    kept.same = CollectedVertex::itself;
  }

  std::size_t map_numbers() const { return collected_.map_numbers; }

  void region(const Cell& cell, const std::uint8_t* pattern, Trace* traces, const double* maps) {
    const std::int64_t first = std::int64_t(collected_.corners.size());
    const int count_here = cell.count - Cell::outer;  // of corners, and of facets
    assert(cell.facet_count() == count_here);
    std::int64_t* corners = collected_.corners.extend(std::size_t(count_here));
    FacetLink* links = collected_.links.extend(std::size_t(count_here));
    FacetBoundary* boundaries = collected_.boundaries.extend(std::size_t(count_here));
    for (int i = 0; i < count_here; ++i) {
      const FacetOfCell facet = cell.facet(i);
      assert(facet.first == i);
      corners[i] = cell.vertices[i]->id;
      links[i] = {FacetLink::none};
      boundaries[i] = {facet.boundary, i + 1 == count_here};
      traces[i] = Trace::of(first + i);
    }
    *collected_.offsets.extend(1) = first + count_here;
    std::copy_n(pattern, collected_.pattern_bytes, collected_.patterns.extend(collected_.pattern_bytes));
    if (collected_.map_numbers > 0) std::copy_n(maps, collected_.map_numbers, collected_.maps.extend(collected_.map_numbers));
    ++count;
  }

  void join(const Cell& cell, const Cut<Cell>& cut, Trace* traces) { Cell::join(cell, cut, traces, *this); }

  // For regions that are written together (kernel/swept_regions.hpp).
  Collected& collected() { return collected_; }

  // ---- parts ----

  // The number of a part that is given to another thread.
  int give() {
    const int number = fragments_->new_number();
    harvest_->fragments.back().given.push_back(number);
    return number;
  }

  // Starts a part, to which all later regions belong.
  void begin(int number) {
    harvest_->end_fragment();
    harvest_->fragments.push_back(Fragment<Cell>(number, harvest_->collected));
  }

  // Copies a vertex of the thread that gave the cell away.
  void adopt(Vertex<D>& vertex) {
    const std::int64_t there = vertex.id;
    identify(vertex);
    harvest_->fragments.back().adopted.push_back({vertex.id, there});
  }

  void join_later(const Cell& cell, const Cut<Cell>& cut, int given, Trace* traces, const std::shared_ptr<void>& memory) {
    Fragment<Cell>& fragment = harvest_->fragments.back();
    fragment.seams.push_back({cell, cut, given, traces});
    fragment.memory = memory;
  }

  // ---- what a cell's join asks ----

  void match(std::int64_t here, std::int64_t there) {
    link(here) = {there};
    link(there) = {here};
    ++collected_.matched;
  }

  FacetRun joined(const FacetRun& before, const FacetRun& after) {
    link(before.last) = {~after.first};
    return {before.first, after.last};
  }

  void zip(const FacetRun& forward, const FacetRun& backward) { zip_facets(*this, forward, backward, reversed_); }

  // ---- what zip_facets asks ----

  std::int64_t following(std::int64_t index) { return link(index).following(); }

  void unite_ends(std::int64_t here, std::int64_t there) {
    collected_.unite(vertex(here), vertex(collected_.end_of(there)));
    collected_.unite(vertex(collected_.end_of(here)), vertex(there));
  }

 private:
  FacetLink& link(std::int64_t facet) { return collected_.links[facet]; }
  std::int64_t vertex(std::int64_t corner) const { return collected_.corners[corner]; }

  Collected& collected_;
  Fragments<Cell>* fragments_ = nullptr;  // null if no other thread collects
  Harvest<Cell>* harvest_ = nullptr;
  std::vector<std::int64_t> reversed_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
