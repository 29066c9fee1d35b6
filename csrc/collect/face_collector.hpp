// SPDX-License-Identifier: MIT
// How are regions collected in three dimensions and more?
//
// Vertices and facets are recognised by their sign vectors as soon as a region has them (collect/face_records.hpp). A vertex is looked up
// when the first region with it is found, on this thread; cells share vertices, so most corners need no look-up. A facet waits until the
// region on its other side is found. Other threads' parts are joined at the end (collect/face_complex.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cells/polytope.hpp"
#include "collect/attained_arms.hpp"
#include "collect/face_records.hpp"
#include "collect/facet_members.hpp"
#include "collect/key_table.hpp"
#include "collect/kink_keys.hpp"
#include "collect/plain_faces.hpp"
#include "collect/sign_vectors.hpp"

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
  FaceCollector(FaceHarvest& harvest, std::atomic<int>& numbers, const Network& network, Dims<D> dims)
      : dims_(dims), harvest_(harvest), records_(harvest.records), numbers_(numbers), max_units_(network),
        keys_(network, max_units_), attained_(max_units_.arms()) {
    records_.dimension = dims_;
    records_.pattern_bytes = network.pattern_bytes();
    records_.kept_bytes = network.kept_bytes();
    records_.map_numbers = std::size_t(network.outputs()) * std::size_t(dims_ + 1) * 2;
    records_.max_units = max_units_;
    has_names_ = !max_units_.any() && network.total_kinks < no_name;
    last_pattern_.assign(records_.pattern_bytes, 0);
  }

  std::size_t map_numbers() const { return records_.map_numbers; }

  // Forgets all vertices but the first ones: their cells are finished.
  std::size_t identified() const { return known_.size(); }
  void forget(std::size_t first) { known_.shrink(first); }

  void identify(Vertex<D>& vertex) {
    vertex.id = std::int64_t(known_.size());
    *known_.extend(1) = unidentified;
  }

  // `pattern` is followed by the kinks that are zero all over the region.
  void region(const Cell& cell, const std::uint8_t* pattern, Trace*, const double* maps) {
    region_ = std::int64_t(records_.ends.size());
    std::copy_n(pattern, records_.kept_bytes, records_.patterns.extend(records_.kept_bytes + 8));
    records_.patterns.shrink(records_.patterns.size() - 8);  // room for collect/plain_faces.hpp
    const std::size_t zeros = records_.zeros.size();
    interior_ = key_of_pattern(pattern) ^ note_zeros(pattern);
    note_changes(cell, pattern);
    if (max_units_.any()) interior_ ^= note_ties(cell, pattern);
    is_plain_ = has_names_ && records_.zeros.size() == zeros;
    const std::int64_t corners = std::int64_t(records_.corners.size());
    const std::int64_t sides = std::int64_t(records_.sides.size());
    *records_.ends.extend(1) = {corners + cell.count, sides + cell.facet_count(), std::int64_t(records_.zeros.size())};
    std::int64_t* corner = records_.corners.extend(std::size_t(cell.count));
    find_vertices(cell, corner);
    find_facets(cell, corner, records_.sides.extend(std::size_t(cell.facet_count())));
    if (records_.map_numbers > 0) std::copy_n(maps, records_.map_numbers, records_.maps.extend(records_.map_numbers));
    ++count;
  }

  void join(const Cell&, const Cut<Cell>&, Trace*) {}

  int give() {
    const int number = numbers_++;
    harvest_.fragments.back().given.push_back(number);
    return number;
  }
  // Facets of different fragments are joined at the end, when the order of fragments is known.
  void begin(int number) {
    waiting_.clear();
    known_.clear();
    harvest_.begin_fragment(number);
  }
  void adopt(Vertex<D>& vertex) { identify(vertex); }
  void join_later(const Cell&, const Cut<Cell>&, int, Trace*, const std::shared_ptr<void>&) {}

 private:
  // The key of a region where nothing is zero. Consecutive regions have most signs in common.
  FaceKey key_of_pattern(const std::uint8_t* pattern) {
    for (std::size_t byte = 0; byte < records_.pattern_bytes; ++byte) {
      for (unsigned left = unsigned(pattern[byte]) ^ last_pattern_[byte]; left != 0; left &= left - 1)
        last_key_ ^= keys_.positive(8 * byte + std::size_t(__builtin_ctz(left)));
      last_pattern_[byte] = pattern[byte];
    }
    return last_key_;
  }

  // Notes the kinks that are zero all over the region, and returns how its key changes by them.
  FaceKey note_zeros(const std::uint8_t* pattern) {
    FaceKey change = 0;
    const std::uint8_t* flat = pattern + records_.pattern_bytes;
    for (std::size_t byte = 0; byte < records_.pattern_bytes; ++byte)
      for (unsigned left = flat[byte]; left != 0; left &= left - 1) {
        const Boundary kink = Boundary(8 * byte) + __builtin_ctz(left);
        change ^= keys_.change_to_zero(kink, pattern);
        *records_.zeros.extend(1) = kink;
      }
    return change;
  }

  // How the key changes where a facet's boundary, or a touching kink, is zero.
  void note_changes(const Cell& cell, const std::uint8_t* pattern) {
    for_each_facet(cell.facets, [&](int f) {
      names_[f] = std::int32_t(cell.sides[f]->name);
      of_facets_[f] = keys_.change_to_zero(cell.sides[f]->name, pattern);
      waiting_.prefetch(interior_ ^ of_facets_[f]);
    });
    if (cell.touches == nullptr) return;
    for_each_facet(cell.touches->used, [&](int t) { of_touches_[t] = keys_.change_to_zero(cell.touches->names[t], pattern); });
  }

  // The key of a face of the region, given the facets and the touching boundaries that are zero there. Lists all that is zero there,
  // but not all over the region, in `zeros_`.
  FaceKey follow_face(const Cell& cell, FacetSet facets, FacetSet touched) {
    FaceKey key = interior_;
    zeros_.clear();
    if (((facets & tied_facets_) | (touched & tied_touches_)) != 0) key ^= follow_ties(facets, touched);
    for_each_facet(facets & ~tied_facets_, [&](int f) {
      key ^= of_facets_[f];
      list(cell.sides[f]->name);
    });
    for_each_facet(touched & ~tied_touches_, [&](int t) {
      key ^= of_touches_[t];
      list(cell.touches->names[t]);
    });
    return key;
  }

  // Keeps the list sorted.
  void list(Boundary zero) {
    zeros_.push_back(zero);
    move_last(zeros_.data(), zeros_.size());
  }

  FaceOfRegion this_face() const { return {&records_, region_, zeros_.data(), zeros_.size()}; }

  // ---- vertices ----

  // A corner whose vertex no region of this thread has had as a corner of the same cell.
  struct Search {
    int corner;
    int facets;
    FaceKey key;         // of the vertex; in networks with max units only a guess
    std::int64_t guess;  // the first vertex with this key
    std::int32_t names[most_names];  // of its first facets
  };

  // The numbers of the cell's vertices. Tables and records are fetched ahead, because few of them are in a cache.
  void find_vertices(const Cell& cell, std::int64_t* numbers) {
    if (searches_.size() < std::size_t(cell.count)) searches_.resize(std::size_t(cell.count));
    Search* end = searches_.data();
    for (int v = 0; v < cell.count; ++v) {
      numbers[v] = known_[cell.vertices[v]->id];
      if (numbers[v] != unidentified) continue;
      FaceKey key = interior_;
      int facets = 0;
      for_each_facet(cell.sets[v], [&](int f) {
        key ^= of_facets_[f];
        end->names[facets % most_names] = names_[f];
        ++facets;
      });
      for_each_facet(cell.touched_at(v), [&](int t) { key ^= of_touches_[t]; });
      vertices_.prefetch(key);
      end->corner = v;
      end->facets = facets;
      end->key = key;
      ++end;
    }
    for (Search* search = searches_.data(); search != end; ++search) {
      search->guess = vertices_.first(search->key);
      if (search->guess == KeyTable::none) continue;
      __builtin_prefetch(&records_.vertices[search->guess]);
      __builtin_prefetch(&records_.errors[search->guess]);
    }
    for (Search* search = searches_.data(); search != end; ++search) {
      const int v = search->corner;
      const bool is_plain = is_plain_ && cell.touched_at(v) == 0 && search->facets == dims_;
      numbers[v] = known_[cell.vertices[v]->id] = is_plain ? plain_vertex(*cell.vertices[v], *search) : vertex_of(cell, v);
    }
  }

  std::int64_t plain_vertex(const Vertex<D>& vertex, Search& search) {
    std::int32_t* names = search.names;
    const auto is_this = [&](std::int64_t known) {
      bool is = false;
      with_dims<D>(dims_, [&](auto n) { is = is_plain_vertex<n()>(records_, records_.vertices[known], region_, names); });
      return is;
    };
    std::int64_t found = search.guess;
    if (found != KeyTable::none && !is_this(found)) found = vertices_.find(search.key, is_this);
    if (found != KeyTable::none) return improved(found, vertex);
    for (int k = 2; k <= dims_; ++k) move_last(names, std::size_t(k));
    VertexRecord& record = add_vertex(vertex, search.key);
    std::fill(std::copy_n(names, int(dims_), record.names), record.names + most_names, no_name);
    return std::int64_t(records_.vertices.size()) - 1;
  }

  // The number of a corner's vertex.
  std::int64_t vertex_of(const Cell& cell, int corner) {
    const FaceKey key = follow_face(cell, cell.sets[corner], cell.touched_at(corner));
    const std::int64_t found = vertices_.find(key, [&](std::int64_t known) {
      return signs_.are_same(FaceOfRegion::vertex(records_, known), this_face());
    });
    if (found != KeyTable::none) return improved(found, *cell.vertices[corner]);
    std::copy(zeros_.begin(), zeros_.end(), records_.vertex_zeros.extend(zeros_.size()));
    VertexRecord& record = add_vertex(*cell.vertices[corner], key);
    std::fill_n(record.names, most_names, listed);
    return std::int64_t(records_.vertices.size()) - 1;
  }

  std::int64_t improved(std::int64_t number, const Vertex<D>& vertex) {
    if (vertex.error > records_.errors[number]) return number;
    double position[D];
    write_position(vertex, position);
    records_.improve(number, position, vertex.error);
    return number;
  }

  VertexRecord& add_vertex(const Vertex<D>& vertex, FaceKey key) {
    vertices_.put(key, std::int64_t(records_.vertices.size()));
    write_position(vertex, records_.positions.extend(std::size_t(dims_)));
    *records_.errors.extend(1) = vertex.error;
    VertexRecord& record = *records_.vertices.extend(1);
    record.key = key;
    record.region = region_;
    record.zeros = std::int64_t(records_.vertex_zeros.size());
    return record;
  }

  void write_position(const Vertex<D>& vertex, double* position) const {
    with_dims<D>(dims_, [&](auto n) {
      for (int k = 0; k < n(); ++k) position[k] = vertex.position[k + 1] + 0.0;  // turns a negative zero into a positive one
    });
  }

  // ---- max units ----

  FaceKey key_of_arm(int arm) const { return key_of_zero(max_units_.number_of(arm)); }

  // Finds pairs of branches among boundaries of facets and those that touch the region. Notes branches that are equal to the argmax all
  // over the region, and returns how they change its key.
  FaceKey note_ties(const Cell& cell, const std::uint8_t* pattern) {
    for (const int arm : attained_arms_) attained_.remove(arm);
    attained_arms_.clear();
    equal_.clear();
    tied_facets_ = tied_touches_ = 0;
    const auto find = [&](Boundary boundary, Tie& tie) {
      tie = max_units_.tie_of(boundary);
      if (tie.unit == nullptr) return false;
      attain(tie.unit->argmax(pattern));
      return true;
    };
    for_each_facet(cell.facets, [&](int f) {
      if (find(cell.sides[f]->name, facet_ties_[f])) tied_facets_ |= only(f);
    });
    for_each_facet(cell.touches != nullptr ? cell.touches->used : 0, [&](int t) {
      if (find(cell.touches->names[t], touch_ties_[t])) tied_touches_ |= only(t);
    });
    for (const EqualArms* noted = cell.equal_arms; noted != nullptr; noted = noted->before) find(noted->pair, equal_.emplace_back());
    attained_.add_connected(equal_, added_);
    FaceKey change = 0;
    zeros_.clear();
    for (const int arm : added_) {
      change ^= key_of_arm(arm);
      attained_arms_.push_back(arm);
      list_arm(arm);
    }
    std::copy(zeros_.begin(), zeros_.end(), records_.zeros.extend(zeros_.size()));
    equal_.erase(std::remove_if(equal_.begin(), equal_.end(), [&](const Tie& tie) { return attained_.has(tie.one); }), equal_.end());
    std::sort(equal_.begin(), equal_.end(), is_before);
    return change;
  }

  void attain(int arm) {
    if (attained_.has(arm)) return;
    attained_.add(arm);
    attained_arms_.push_back(arm);
  }

  // Lists the branches that attain the maximum where these boundaries are zero, and returns how they change the key.
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
    FaceKey change = 0;
    for (const int arm : added_) {
      change ^= key_of_arm(arm);
      attained_.remove(arm);
      list_arm(arm);
    }
    return change;
  }

  static bool is_before(const Tie& left, const Tie& right) { return left.unit < right.unit; }

  // Lists a branch that attains the maximum, and the argmax, which it is equal to.
  void list_arm(int arm) {
    const int argmax = max_units_.unit_with(arm).argmax(last_pattern_.data());
    for (const int each : {arm, argmax}) {
      const Boundary number = max_units_.number_of(each);
      if (std::find(zeros_.begin(), zeros_.end(), number) == zeros_.end()) list(number);
    }
  }

  // ---- facets ----

  // The numbers of the facets, given the numbers of the cell's vertices.
  void find_facets(const Cell& cell, const std::int64_t* numbers, std::int64_t* sides) {
    for_each_facet(cell.facets, [&](int f) {
      guesses_[f] = waiting_.first(interior_ ^ of_facets_[f]);
      if (guesses_[f] != KeyTable::none) __builtin_prefetch(&records_.facets[guesses_[f]]);
    });
    members_.find(cell);
    for_each_facet(cell.facets, [&](int f) { *sides++ = facet_of(cell, f, numbers); });
  }

  std::int64_t facet_of(const Cell& cell, int facet, const std::int64_t* numbers) {
    const std::size_t on = members_.count(facet);
    FacetSet touched = 0;
    if (cell.touches != nullptr) {
      touched = ~touched;
      members_.for_each(facet, [&](int v) { touched &= cell.touched_at(v); });
    }
    const Boundary boundary = cell.sides[facet]->name;
    FaceKey key = interior_ ^ of_facets_[facet];
    const bool is_plain = touched == 0 && (only(facet) & tied_facets_) == 0;  // nothing but the boundary
    if (is_plain)
      zeros_.assign(1, boundary);
    else
      key = follow_face(cell, only(facet), touched);
    if (boundary >= 0) {
      const auto is_this = [&](std::int64_t known) {
        const FacetRecord& record = records_.facets[known];
        if (!has_names_ || records_.zeros.size() > 0) return signs_.are_same(FaceOfRegion::facet(records_, known), this_face());
        const bool is_other_plain = record.zeros == begin_of(records_.facets, known, &FacetRecord::zeros);
        if (!is_plain || !is_other_plain) return is_plain == is_other_plain && signs_.are_same(FaceOfRegion::facet(records_, known), this_face());
        return is_plain_facet(records_, record, region_, boundary);
      };
      std::int64_t found = guesses_[facet];
      if (!is_plain || (found != KeyTable::none && !is_this(found))) found = waiting_.find(key, is_this);
      if (found != KeyTable::none) {
        std::int64_t sum = 0;
        members_.for_each(facet, [&](int v) { sum += numbers[v]; });
        require_same_vertices(found, sum, on);
        records_.facets[found].other = region_;
        waiting_.erase(key, found);
        return found;
      }
    }
    const std::int64_t number = std::int64_t(records_.facets.size());
    std::int64_t* vertices = records_.facet_vertices.extend(on);
    std::int64_t sum = 0;
    if constexpr (D == 3) {
      on_.clear();
      members_.for_each(facet, [&](int v) { on_.push_back(v); });
      put_in_circle(cell, facet, on);
      for (const int v : on_) sum += *vertices++ = numbers[v];
    } else {
      members_.for_each(facet, [&](int v) { sum += *vertices++ = numbers[v]; });
    }
    if (!is_plain) std::copy(zeros_.begin(), zeros_.end(), records_.facet_zeros.extend(zeros_.size()));
    const std::int64_t other = boundary >= 0 ? -1 - sum : -1;
    *records_.facets.extend(1) = {boundary, key, region_, other, std::int64_t(records_.facet_vertices.size()), std::int64_t(records_.facet_zeros.size())};
    if (boundary >= 0) waiting_.put(key, number);
    return number;
  }

  // The two sides of a facet have the same vertices, by the argument in collect/face_records.hpp. To find errors in the code, their
  // number and the sum of their indices are compared.
  void require_same_vertices(std::int64_t facet, std::int64_t sum, std::size_t on) const {
    const FacetRecord& record = records_.facets[facet];
    const std::int64_t begin = begin_of(records_.facets, facet, &FacetRecord::vertices);
    if (sum != -1 - record.other || record.vertices - begin != std::int64_t(on)) throw std::logic_error("the two sides of a facet have different vertices");
  }

  // Orders the vertices of a polygon along its outline: each shares another facet with the next one.
  void put_in_circle(const Cell& cell, int facet, std::size_t on) {
    for (std::size_t i = 0; i + 2 < on; ++i) {
      const FacetSet others = cell.sets[on_[i]] & ~only(facet);
      std::size_t next = i + 1;
      while (next < on && (cell.sets[on_[next]] & others) == 0) ++next;
      if (next < on) std::swap(on_[i + 1], on_[next]);
    }
  }

  const Dims<D> dims_;
  FaceHarvest& harvest_;
  FaceRecords& records_;
  std::atomic<int>& numbers_;
  bool has_names_;                 // whether plain vertices have names: not with max units, or if kinks do not fit into them
  const MaxUnits max_units_;
  const KinkKeys keys_;
  SignVectors signs_;
  KeyTable vertices_;              // of this thread
  KeyTable waiting_;               // facets of this fragment whose other side has not been found
  GrowingArray<std::int64_t> known_;  // the numbers of vertices by their ids; `unidentified` if no region has had one yet
  std::vector<std::uint8_t> last_pattern_;
  FaceKey last_key_ = 0;           // of the last pattern
  // The region at work:
  std::int64_t region_ = 0;
  FaceKey interior_ = 0;
  FaceKey of_facets_[most_facets];
  std::int32_t names_[most_facets];  // of facets
  FaceKey of_touches_[most_facets];
  bool is_plain_ = false;          // whether plain vertices can be told apart by their names (collect/face_records.hpp)
  std::vector<Search> searches_;
  FacetMembers members_;
  std::int64_t guesses_[most_facets];  // the first waiting facet with the key
  std::vector<int> on_;            // in three dimensions, the vertices of a facet
  std::vector<Boundary> zeros_;    // of a face
  // For max units:
  AttainedArms attained_;           // on the region, of units with pairs among what follows
  std::vector<int> attained_arms_;  // these
  FacetSet tied_facets_ = 0;        // of the region, whose boundaries are pairs of branches
  FacetSet tied_touches_ = 0;
  Tie facet_ties_[most_facets];
  Tie touch_ties_[most_facets];
  std::vector<Tie> equal_;          // all over the region, where the branches are not equal to the argmax; unit by unit
  std::vector<Tie> ties_;           // on a face
  std::vector<int> added_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
