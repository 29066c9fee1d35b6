// SPDX-License-Identifier: MIT
// How do the collected regions of three dimensions and more become the arrays of a regions.Partition?
//
// Facets are paired by their keys (collect/face_records.hpp), one look-up each. Nothing depends on the keys being right: a pair is
// accepted if both sides have the same sign vector, which is compared: the boundaries that are zero there are the same, and the two
// regions' patterns are equal but for these. So the two facets are one. Its vertices are the same set on both sides, each known by its
// key there; if two vertices of one facet had the same key, or a vertex were missing on one side, that would be seen. The regions around a
// vertex are connected by facets, because the domain is convex, so uniting vertices across facets finds all that are equal.
// Cost: proportional to the facets' vertices, with some 200 bytes for each facet of each region.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "collect/face_records.hpp"

namespace regions {

// The arrays to write; see docs/arrays-and-files.md.
struct FaceArrays {
  double* vertices;                  // [vertices, dimension]
  double* vertex_errors;             // [vertices]
  std::int64_t* cell_offsets;        // [regions + 1]
  std::int64_t* cell_vertices;       // [corners]
  std::int64_t* cell_facet_offsets;  // [regions + 1]
  std::int64_t* cell_facets;         // [sides]
  std::int64_t* facet_offsets;       // [facets + 1]
  std::int64_t* facet_vertices;      // [ends]
  std::int64_t* facet_regions;       // [facets, 2]
  std::int64_t* facet_kinks;         // [facets]
  std::uint8_t* patterns;            // [regions, pattern_bytes]
  double* maps;                      // [regions, outputs, dimension + 1]; unused if maps are not requested
  double* map_errors;                // the same: bounds
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

 private:
  // Where a region is: its own number among its thread's, and where its facets begin among the facets of all threads.
  struct Place {
    const FaceRecords* records;
    std::int64_t region;
    std::int64_t first_vertex;  // of the thread, among the vertices of all
    std::int64_t first_side;    // of the region, in this order of regions
  };
  struct Side {
    std::int64_t region;  // in this order
    std::int64_t facet;   // among its thread's
  };

  struct PlaceOfVertex {
    const FaceRecords* records;
    std::int64_t index;
  };
  struct KeyedVertex {
    FaceKey key;
    std::int64_t vertex;  // among those of all threads
  };

  void put_in_order();
  void pair(bool whole);
  bool is_same(std::int64_t one, std::int64_t other);
  bool is_among_zeros(Boundary kink, const std::vector<Boundary>& zeros) const;
  void list_zeros(std::int64_t side, std::vector<Boundary>& zeros) const;
  void list_vertices(std::int64_t side, std::vector<KeyedVertex>& vertices) const;
  void unite_vertices(std::int64_t one, std::int64_t other);
  void number();
  std::int64_t representative(std::int64_t vertex);
  void unite(std::int64_t left, std::int64_t right);
  PlaceOfVertex place_of(std::int64_t vertex) const;
  std::size_t thread_of(std::int64_t vertex) const;
  const FacetRecord& facet(std::int64_t side) const;

  std::vector<Place> places_;               // [regions]
  std::vector<Side> sides_;
  std::vector<std::int64_t> twins_;         // [sides] the other side, or -1
  std::vector<std::int64_t> first_vertex_;  // of each thread, and their end
  std::vector<std::int64_t> same_;          // [vertices of all threads] an equal vertex; itself, if it represents all that are equal
  std::vector<std::int64_t> numbers_;       // [vertices of all threads] of representatives; -1 if no region has it
  std::vector<std::int64_t> order_;         // [vertices] the representatives by their numbers
  std::vector<Boundary> zeros_, other_zeros_;
  std::vector<KeyedVertex> vertices_, other_vertices_;
};

}  // namespace regions
