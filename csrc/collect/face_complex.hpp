// SPDX-License-Identifier: MIT
// How do the collected regions of three dimensions and more become the arrays of a regions.Partition?
//
// The records of a thread have each vertex once, and each facet once if its two regions are in one fragment of the recursion
// (collect/face_collector.hpp). Here the fragments are put in order, vertices of several threads and facets of several fragments are joined
// if their sign vectors are equal, and everything is numbered by its first use.
// Invariant: two vertices or facets are the same iff their sign vectors are equal, which are compared.
// Cost: proportional to the facets' vertices; with several threads a look-up for each vertex, and each facet that waits for its other side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "collect/face_records.hpp"

namespace regions {

// The arrays to write; see docs/arrays-and-files.md. Those that are lent are null.
struct FaceArrays {
  double* vertices = nullptr;              // [vertices, dimension]
  double* vertex_errors = nullptr;         // [vertices]
  std::int64_t* cell_offsets;              // [regions + 1]
  std::int64_t* cell_vertices = nullptr;   // [corners]
  std::int64_t* cell_facet_offsets;        // [regions + 1]
  std::int64_t* cell_facets = nullptr;     // [sides]
  std::int64_t* facet_offsets;             // [facets + 1]
  std::int64_t* facet_vertices = nullptr;  // [ends]
  std::int64_t* facet_regions;             // [facets, 2]
  std::int64_t* facet_kinks;               // [facets]
  std::uint8_t* patterns = nullptr;        // [regions, pattern_bytes]
  double* maps;                            // [regions, outputs, dimension + 1]; unused if maps are not requested
  double* map_errors;                      // the same: bounds
};

struct FaceSizes {
  std::int64_t regions = 0;
  std::int64_t corners = 0;
  std::int64_t vertices = 0;
  std::int64_t sides = 0;   // facets of regions
  std::int64_t facets = 0;
  std::int64_t ends = 0;    // vertices of facets
};

class FaceComplex {
 public:
  std::deque<FaceHarvest> harvests;  // of all threads
  FaceSizes sizes;                   // once `connect` has found them

  // Pairs and numbers everything; `whole`: whether all regions of the domain are here, so that every facet inside it has two sides.
  void connect(bool whole);
  void write(const FaceArrays& arrays) const;  // after `connect`

  // If one thread found all regions in turn, what it collected is in the order of the result, and six arrays need not be copied.
  bool can_lend() const { return in_order_; }
  // Gives these away, after `write`: positions, errors, corners, facets of regions, vertices of facets, and patterns.
  void give(OwnedMemory* memory);

 private:
  // Where a region is: the thread, and its number among the thread's.
  struct Place {
    std::size_t thread;
    std::int64_t region;
  };

  // Numbers in the result of what the threads have, which follow each other; `starts` has where each thread's begin.
  struct Numbering {
    std::vector<std::int64_t> starts;
    std::vector<std::int64_t> numbers;

    void take(std::size_t count) {
      starts.push_back(std::int64_t(numbers.size()));
      numbers.resize(numbers.size() + count, -1);
    }
    std::int64_t index(std::size_t thread, std::int64_t own) const { return starts[thread] + own; }
    std::size_t thread_of(std::int64_t index) const {
      return std::size_t(std::upper_bound(starts.begin(), starts.end(), index) - starts.begin()) - 1;
    }
  };

  bool are_in_order() const;
  void write_in_order(const FaceArrays& arrays) const;
  void require_two_sides(const FacetRecord& facet, bool has_other) const;
  void put_in_order();
  void join_vertices();
  void join_facets();
  void number();
  const FaceRecords& records_of(std::size_t thread) const { return harvests[thread].records; }

  bool in_order_ = false;      // one thread found all regions in turn; what follows is then empty
  std::vector<Place> places_;  // [regions], in order
  Numbering regions_, vertices_, facets_;
  std::vector<std::int64_t> same_;   // [vertices of all threads] the first one that is the same; empty if there is one thread
  std::vector<std::int64_t> twins_;  // [facets of all threads] the other side, or -1; the same
  std::vector<std::int64_t> vertex_order_, facet_order_;  // what is numbered, in order; counted through all threads
};

}  // namespace regions
