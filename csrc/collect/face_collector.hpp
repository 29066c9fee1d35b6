// SPDX-License-Identifier: MIT
// How are regions collected in three dimensions and more?
//
// With the keys of their faces (collect/face_records.hpp); nothing is joined while the recursion runs. Parts that were given to other
// threads only have to be put in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cells/polytope.hpp"
#include "collect/face_records.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class FaceCollector {
 public:
  using Trace = typename Cell::Trace;
  static constexpr bool keeps = true;
  static constexpr int D = Cell::dimension;
  std::int64_t count = 0;

  // `numbers` counts the fragments of all threads.
  FaceCollector(FaceHarvest& harvest, std::atomic<int>& numbers, std::int64_t kinks, int outputs)
      : harvest_(harvest), records_(harvest.records), numbers_(numbers) {
    records_.dimension = D;
    records_.pattern_bytes = std::size_t(kinks + 7) / 8;
    records_.map_numbers = std::size_t(outputs) * (D + 1) * 2;
    for (std::int64_t kink = 0; kink < kinks; ++kink) positive_.push_back(key_of_positive(kink));
  }

  std::size_t map_numbers() const { return records_.map_numbers; }

  void identify(Vertex<D>& vertex) {
    vertex.id = std::int64_t(records_.errors.size());
    double* position = records_.positions.extend(D);
    for (int k = 0; k < D; ++k) position[k] = vertex.position[k + 1] + 0.0;  // turns a negative zero into a positive one
    *records_.errors.extend(1) = vertex.error;
    *records_.keys.extend(1) = FaceKey();
  }

  // `pattern` is followed by the kinks that are zero all over the region.
  void region(const Cell& cell, const std::uint8_t* pattern, Trace*, const double* maps) {
    const FaceKey interior = note_signs(pattern);
    note_changes(cell, pattern);
    std::int64_t* corners = records_.corners.extend(std::size_t(cell.count));
    for (int v = 0; v < cell.count; ++v) {
      corners[v] = cell.vertices[v]->id;
      records_.keys[corners[v]] = key_on(interior, cell.sets[v], cell.touched_at(v));
    }
    for_each_facet(cell.facets, [&](int f) { note_facet(cell, f, interior); });
    *records_.ends.extend(1) = {std::int64_t(records_.corners.size()), std::int64_t(records_.facets.size()),
                                std::int64_t(records_.zeros.size())};
    std::copy_n(pattern, records_.pattern_bytes, records_.patterns.extend(records_.pattern_bytes));
    if (records_.map_numbers > 0) std::copy_n(maps, records_.map_numbers, records_.maps.extend(records_.map_numbers));
    ++count;
  }

  void join(const Cell&, const Cut<Cell>&, Trace*) {}

  int give() {
    const int number = numbers_++;
    harvest_.fragments.back().given.push_back(number);
    return number;
  }
  void begin(int number) { harvest_.begin_fragment(number); }
  void adopt(Vertex<D>& vertex) { identify(vertex); }
  void join_later(const Cell&, const Cut<Cell>&, int, Trace*, const std::shared_ptr<void>&) {}

 private:
  static bool has(const std::uint8_t* bits, Boundary kink) { return (bits[kink / 8] >> (kink % 8) & 1) != 0; }

  // The key of the region itself.
  FaceKey note_signs(const std::uint8_t* pattern) {
    FaceKey key;
    for (std::size_t byte = 0; byte < records_.pattern_bytes; ++byte)
      for (unsigned left = pattern[byte]; left != 0; left &= left - 1) key ^= positive_[8 * byte + std::size_t(__builtin_ctz(left))];
    const std::uint8_t* flat = pattern + records_.pattern_bytes;
    for (std::size_t byte = 0; byte < records_.pattern_bytes; ++byte)
      for (unsigned left = flat[byte]; left != 0; left &= left - 1) {
        const Boundary kink = Boundary(8 * byte) + __builtin_ctz(left);
        key ^= change_to_zero(kink, pattern);
        *records_.zeros.extend(1) = kink;
      }
    return key;
  }

  FaceKey change_to_zero(Boundary boundary, const std::uint8_t* pattern) const {
    FaceKey change = key_of_zero(boundary);
    if (boundary >= 0 && has(pattern, boundary)) change ^= positive_[std::size_t(boundary)];
    return change;
  }

  // How the key changes where a facet's boundary, or a touching kink, is zero.
  void note_changes(const Cell& cell, const std::uint8_t* pattern) {
    for_each_facet(cell.facets, [&](int f) { of_facets_[f] = change_to_zero(cell.sides[f]->name, pattern); });
    if (cell.touches == nullptr) return;
    for_each_facet(cell.touches->used, [&](int t) { of_touches_[t] = change_to_zero(cell.touches->names[t], pattern); });
  }

  FaceKey key_on(FaceKey key, FacetSet facets, FacetSet touched) const {
    for_each_facet(facets, [&](int f) { key ^= of_facets_[f]; });
    for_each_facet(touched, [&](int t) { key ^= of_touches_[t]; });
    return key;
  }

  void note_facet(const Cell& cell, int facet, const FaceKey& interior) {
    FacetSet touched = ~FacetSet{0};
    on_.clear();
    for (int v = 0; v < cell.count; ++v)
      if ((cell.sets[v] & only(facet)) != 0) {
        touched &= cell.touched_at(v);
        on_.push_back(v);
      }
    if (D == 3) put_in_circle(cell, facet);
    std::int64_t* vertices = records_.facet_vertices.extend(on_.size());
    for (std::size_t i = 0; i < on_.size(); ++i) vertices[i] = cell.vertices[on_[i]]->id;
    names_.clear();
    for_each_facet(touched, [&](int t) { names_.push_back(cell.touches->names[t]); });
    std::sort(names_.begin(), names_.end());
    std::copy(names_.begin(), names_.end(), records_.facet_zeros.extend(names_.size()));
    *records_.facets.extend(1) = {cell.sides[facet]->name, std::int64_t(records_.facet_vertices.size()),
                                  std::int64_t(records_.facet_zeros.size()), key_on(interior, only(facet), touched)};
  }

  // A polygon's vertices, each followed by one that is on another facet with it.
  void put_in_circle(const Cell& cell, int facet) {
    for (std::size_t i = 0; i + 2 < on_.size(); ++i) {
      const FacetSet others = cell.sets[on_[i]] & ~only(facet);
      const auto next = std::find_if(on_.begin() + std::ptrdiff_t(i) + 1, on_.end(), [&](int v) { return (cell.sets[v] & others) != 0; });
      if (next != on_.end()) std::swap(on_[i + 1], *next);
    }
  }

  FaceHarvest& harvest_;
  FaceRecords& records_;
  std::atomic<int>& numbers_;
  std::vector<FaceKey> positive_;  // [kinks]
  FaceKey of_facets_[most_facets];
  FaceKey of_touches_[most_facets];
  std::vector<int> on_;            // the vertices of a facet
  std::vector<Boundary> names_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
