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
#include "collect/attained_arms.hpp"
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
  FaceCollector(FaceHarvest& harvest, std::atomic<int>& numbers, const Network& network)
      : harvest_(harvest), records_(harvest.records), numbers_(numbers), max_units_(network), attained_(max_units_.arms()) {
    records_.dimension = D;
    records_.pattern_bytes = std::size_t(network.total_kinks + 7) / 8;
    records_.map_numbers = std::size_t(network.outputs()) * (D + 1) * 2;
    records_.max_units = max_units_;
    for (std::int64_t kink = 0; kink < network.total_kinks; ++kink) positive_.push_back(key_of_positive(kink));
    // In a pattern all pairs (a, argmax) are set. The pair (0, argmax) replaces arm 0 by the argmax, and the others change nothing.
    for (const MaxUnit& unit : max_units_.all()) {
      std::fill(positive_.begin() + unit.first_kink, positive_.begin() + unit.end_kink, FaceKey());
      for (int arm = 1; arm < unit.arms; ++arm) {
        FaceKey& key = positive_[std::size_t(unit.first_kink + PairOfArms{0, arm}.number())];
        key ^= key_of_arm(unit.first_arm);
        key ^= key_of_arm(unit.first_arm + arm);
      }
    }
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
    FaceKey interior = note_signs(pattern);
    note_changes(cell, pattern);
    if (max_units_.any()) interior ^= note_ties(cell, pattern);
    std::int64_t* corners = records_.corners.extend(std::size_t(cell.count));
    for (int v = 0; v < cell.count; ++v) {
      corners[v] = cell.vertices[v]->id;
      records_.keys[corners[v]] = key_on(interior, cell.sets[v], cell.touched_at(v));
    }
    for_each_facet(cell.facets, [&](int f) { note_facet(cell, f, interior, pattern); });
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

  FaceKey key_on(FaceKey key, FacetSet facets, FacetSet touched) {
    for_each_facet(facets, [&](int f) { key ^= of_facets_[f]; });
    for_each_facet(touched, [&](int t) { key ^= of_touches_[t]; });
    if ((facets & tied_facets_) != 0 || (touched & tied_touches_) != 0) key ^= follow_ties(facets, touched);
    return key;
  }

  // ---- max units ----

  FaceKey key_of_arm(int arm) const { return key_of_zero(max_units_.number_of(arm)); }

  // Finds the pairs of arms among the boundaries of facets and what touches the region. Returns how the region's key changes by arms that
  // are equal to the argmax all over it, and notes these.
  FaceKey note_ties(const Cell& cell, const std::uint8_t* pattern) {
    for (const int arm : known_) attained_.remove(arm);
    known_.clear();
    equal_.clear();
    tied_facets_ = tied_touches_ = 0;
    const auto find = [&](Boundary boundary, Tie& tie) {
      tie = max_units_.tie_of(boundary);
      if (tie.unit == nullptr) return false;
      know(tie.unit->argmax(pattern));
      return true;
    };
    for_each_facet(cell.facets, [&](int f) {
      if (!find(cell.sides[f]->name, facet_ties_[f])) return;
      tied_facets_ |= only(f);
      of_facets_[f] = FaceKey();
    });
    for_each_facet(cell.touches != nullptr ? cell.touches->used : 0, [&](int t) {
      if (!find(cell.touches->names[t], touch_ties_[t])) return;
      tied_touches_ |= only(t);
      of_touches_[t] = FaceKey();
    });
    for (const EqualArms* noted = cell.equal_arms; noted != nullptr; noted = noted->before) find(noted->pair, equal_.emplace_back());
    attained_.add_connected(equal_, added_);
    FaceKey change;
    for (const int arm : added_) {
      change ^= key_of_arm(arm);
      known_.push_back(arm);
    }
    list_added(pattern);
    std::copy(names_.begin(), names_.end(), records_.zeros.extend(names_.size()));
    equal_.erase(std::remove_if(equal_.begin(), equal_.end(), [&](const Tie& tie) { return attained_.has(tie.one); }), equal_.end());
    std::sort(equal_.begin(), equal_.end(), is_before);
    return change;
  }

  void know(int arm) {
    if (attained_.has(arm)) return;
    attained_.add(arm);
    known_.push_back(arm);
  }

  // How the key changes where these are zero, by the arms that attain the maximum there: these are in `added_`.
  FaceKey follow_ties(FacetSet facets, FacetSet touched) {
    ties_.clear();
    for_each_facet(facets & tied_facets_, [&](int f) { ties_.push_back(facet_ties_[f]); });
    for_each_facet(touched & tied_touches_, [&](int t) { ties_.push_back(touch_ties_[t]); });
    const std::size_t own = ties_.size();
    for (std::size_t i = 0; i < own && !equal_.empty(); ++i) {
      const auto [begin, end] = std::equal_range(equal_.begin(), equal_.end(), ties_[i], is_before);
      ties_.insert(ties_.end(), begin, end);
    }
    attained_.add_connected(ties_, added_);
    FaceKey change;
    for (const int arm : added_) {
      change ^= key_of_arm(arm);
      attained_.remove(arm);
    }
    return change;
  }

  static bool is_before(const Tie& left, const Tie& right) { return left.unit < right.unit; }

  // Lists the arms in `added_` with the argmaxes that they are equal to.
  void list_added(const std::uint8_t* pattern) {
    names_.clear();
    for (const int arm : added_) {
      names_.push_back(max_units_.number_of(arm));
      names_.push_back(max_units_.number_of(max_units_.unit_with(arm).argmax(pattern)));
    }
  }

  // ---- facets ----

  void note_facet(const Cell& cell, int facet, const FaceKey& interior, const std::uint8_t* pattern) {
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
    added_.clear();
    const FaceKey key = key_on(interior, only(facet), touched);
    list_added(pattern);
    for_each_facet(touched & ~tied_touches_, [&](int t) { names_.push_back(cell.touches->names[t]); });
    std::sort(names_.begin(), names_.end());
    std::copy(names_.begin(), names_.end(), records_.facet_zeros.extend(names_.size()));
    *records_.facets.extend(1) = {cell.sides[facet]->name, std::int64_t(records_.facet_vertices.size()),
                                  std::int64_t(records_.facet_zeros.size()), key};
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
  // For max units:
  MaxUnits max_units_;
  AttainedArms attained_;          // on the region, of units with pairs among what follows
  std::vector<int> known_;         // these arms
  FacetSet tied_facets_ = 0;       // of the region, whose boundaries are pairs of arms
  FacetSet tied_touches_ = 0;
  Tie facet_ties_[most_facets];
  Tie touch_ties_[most_facets];
  std::vector<Tie> equal_;         // all over the region, where the arms are not equal to the argmax; unit by unit
  std::vector<Tie> ties_;          // on a face
  std::vector<int> added_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
