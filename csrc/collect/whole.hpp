// SPDX-License-Identifier: MIT
// Which parts does an enumeration consist of, and how are they connected?
//
// A part is a run of consecutive regions that one thread collected, with their own vertices, corners and facets. Parts are in
// the order of the recursion, so the position of everything in the whole is known before anything is moved, and threads number and
// write parts in parallel (collect/assemble.hpp). Parts share only the vertices of the cells that were given away, and the vertices
// and facets along the cuts between parts. Equal vertices are united here; facets whose two sides are in two parts are listed.
// Invariant: within a part everything is named by its index, in its thread's numbering. A global name includes the part, and is
// larger than any index. Names have the order in which one thread would have placed the named items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "collect/collected.hpp"
#include "task/side_by_side.hpp"

namespace regions {

// Amounts, or the position of a part within everything that its thread collected.
struct Extents {
  std::int64_t vertices = 0;
  std::int64_t corners = 0;  // and of facets
  std::int64_t regions = 0;
  std::int64_t matched = 0;

  Extents() = default;
  explicit Extents(const Collected& collected)
      : vertices(std::int64_t(collected.vertices.size())),
        corners(std::int64_t(collected.corners.size())),
        regions(collected.regions()),
        matched(collected.matched) {}

  Extents& operator+=(const Extents& other) {
    vertices += other.vertices;
    corners += other.corners;
    regions += other.regions;
    matched += other.matched;
    return *this;
  }

  Extents operator-(const Extents& other) const {
    Extents result = *this;
    result.vertices -= other.vertices;
    result.corners -= other.corners;
    result.regions -= other.regions;
    result.matched -= other.matched;
    return result;
  }
};

// The name of an item, from its part and its index there.
inline std::int64_t name_of(std::size_t part, std::int64_t index) { return std::int64_t(part + 1) * room_of_part + index; }
inline bool is_name(std::int64_t index) { return index >= room_of_part; }
inline std::size_t part_of(std::int64_t name) { return std::size_t(name / room_of_part - 1); }
inline std::int64_t index_of(std::int64_t name) { return name % room_of_part; }

struct Part {
  Collected* collected;
  std::size_t index;
  Extents begin;
  Extents end;
  Extents place;         // where it begins in the whole
  Extents shift;         // difference between its indices and their positions in the whole
  std::int64_t matched;  // number of its facets that an earlier region has too
  // Results of `number`:
  GrowingArray<std::int64_t> used;    // the vertices that regions of this part use, in that order; corners have their ranks in it
  std::vector<std::int64_t> guests;   // the entries of those that other parts may have as well
  std::int64_t first_vertex = 0;      // the number of the first one that no part before this one has
  std::int64_t first_facet = 0;

  void copy_patterns(std::uint8_t* patterns) const {
    const std::int64_t bytes = std::int64_t(collected->pattern_bytes);
    std::copy(collected->patterns.data() + begin.regions * bytes, collected->patterns.data() + end.regions * bytes,
              patterns + place.regions * bytes);
  }

  void copy_maps(double* maps, double* errors) const {
    const std::int64_t numbers = std::int64_t(collected->map_numbers) / 2;
    const double* source = collected->maps.data() + 2 * begin.regions * numbers;
    for (std::int64_t region = place.regions; region < place.regions + end.regions - begin.regions; ++region) {
      std::copy_n(source, numbers, maps + region * numbers);
      std::copy_n(source + numbers, numbers, errors + region * numbers);
      source += 2 * numbers;
    }
  }
};

// The copy of a shared vertex in one of its parts.
struct SharedVertex {
  std::int64_t name;
  std::int64_t same;      // the entry of its representative, or its own
  std::int64_t rank;      // among the vertices that its part uses; -1 if it is not used
  std::int64_t number;
  bool is_first;          // whether no part before this one uses it
};

// Sizes of the arrays of a partition.
struct ComplexSizes {
  std::int64_t regions = 0;
  std::int64_t corners = 0;
  std::int64_t vertices = 0;
  std::int64_t facets = 0;
};

class Whole {
 public:
  std::deque<Collected> collected;  // one for each thread
  std::deque<Part> parts;
  std::vector<SharedVertex> shared;
  std::vector<std::pair<std::int64_t, std::int64_t>> facets_across;  // names of the two sides, the earlier one first
  ComplexSizes sizes;               // once `number` has found them

  Collected& only() {
    if (collected.empty()) collected.emplace_back();
    return collected.front();
  }

  // Appends the next part in order.
  void append(Collected& source, const Extents& begin, const Extents& end) {
    Part& part = parts.emplace_back();
    part.collected = &source;
    part.index = parts.size() - 1;
    part.begin = begin;
    part.end = end;
    part.place = size_;
    part.shift = size_ - begin;
    part.matched = end.matched - begin.matched;
    size_ += end - begin;
  }

  const Extents& size() const { return size_; }

  // Uses everything that one thread collected as the only part.
  void close() {
    if (parts.empty()) append(only(), Extents(), Extents(only()));
  }

  CollectedVertex& vertex(std::int64_t name) { return parts[part_of(name)].collected->vertices[index_of(name)]; }
  FacetLink& link(std::int64_t name) { return parts[part_of(name)].collected->links[index_of(name)]; }

  std::int64_t place_of_facet(std::int64_t name) const { return index_of(name) + parts[part_of(name)].shift.corners; }

  // The representative of a vertex.
  std::int64_t representative(std::int64_t name) {
    const std::size_t part = part_of(name);
    Collected& source = *parts[part].collected;
    const std::int64_t root = source.representative(index_of(name));
    const std::int64_t entry = source.vertices[root].entry();
    return entry < 0 ? name_of(part, root) : shared[std::size_t(standing_for(entry))].name;
  }

  // Calls `work(part)` on several threads, the largest parts first, so that all end at about the same time.
  template <class Work>
  void with_each_part(int workers, Work work) {
    std::vector<Part*> order;
    for (Part& part : parts) order.push_back(&part);
    std::stable_sort(order.begin(), order.end(), [](const Part* left, const Part* right) {
      return left->end.corners - left->begin.corners > right->end.corners - right->begin.corners;
    });
    side_by_side(workers, order.size(), [&](std::size_t i) { work(*order[i]); });
  }

  // Visits the ranked vertices of a part that no part before it uses, in that order: `visit(rank, vertex)` gets its representative
  // in the whole.
  template <class Visit>
  void for_each_vertex_of(Part& part, Visit visit) {
    for (std::int64_t rank = 0; rank < std::int64_t(part.used.size()); ++rank) {
      CollectedVertex& here = part.collected->vertices[part.used[rank]];
      if (here.entry() < 0) {
        visit(rank, here);
      } else if (const SharedVertex& known = shared[std::size_t(here.entry())]; known.is_first) {
        visit(rank, vertex(shared[std::size_t(known.same)].name));
      }
    }
  }

  // Unites vertices given by their names, as Collected::unite does.
  void unite(std::int64_t left, std::int64_t right) {
    const std::int64_t one = standing_for(entry_of(left));
    const std::int64_t other = standing_for(entry_of(right));
    if (one == other) return;
    const bool keep_one = is_better(shared[std::size_t(one)].name, shared[std::size_t(other)].name);
    shared[std::size_t(keep_one ? other : one)].same = keep_one ? one : other;
  }

  std::int64_t standing_for(std::int64_t entry) {
    while (shared[std::size_t(entry)].same != entry) {
      std::int64_t& next = shared[std::size_t(entry)].same;
      entry = next = shared[std::size_t(next)].same;
    }
    return entry;
  }

  // Matches the two sides of one facet, given by their names.
  void match(std::int64_t left, std::int64_t right) {
    const auto [earlier, later] = std::minmax(left, right);
    ++parts[part_of(later)].matched;
    const bool across = part_of(earlier) != part_of(later);
    if (across) facets_across.push_back({earlier, later});
    link(earlier) = {across ? later : index_of(later)};
    link(later) = {across ? earlier : index_of(earlier)};
  }

 private:
  // The entry of a vertex's representative in its part.
  std::int64_t entry_of(std::int64_t name) {
    const std::size_t part = part_of(name);
    Collected& source = *parts[part].collected;
    const std::int64_t root = source.representative(index_of(name));
    CollectedVertex& vertex = source.vertices[root];
    if (vertex.entry() < 0) {
      vertex.set_entry(std::int64_t(shared.size()));
      shared.push_back({name_of(part, root), vertex.entry(), -1, -1, false});
    }
    return vertex.entry();
  }

  bool is_better(std::int64_t left, std::int64_t right) {
    const double error = vertex(left).error;
    const double other = vertex(right).error;
    return error < other || (error == other && left < right);
  }

  Extents size_;
};

}  // namespace regions
