// SPDX-License-Identifier: MIT
// What is collected of regions in three dimensions and more?
//
// Regions with their vertices and facets, and for each vertex and facet the data to recognise it from another region. A face
// (a facet, an edge, .. a vertex) of any region is known by its sign vector: for every kink of the network, and every facet of the
// domain, whether it is negative, zero or positive on the face's relative interior. Pre-activations are continuous, so the sign
// vector is the same from all regions around a face. All points with one sign vector are a convex set, open in its affine hull, because
// forms are affine there. Therefore equal sign vectors are equal faces. No geometry is compared.
// For a max unit, the sign vector says which branches attain the maximum (collect/attained_arms.hpp); they are zeros with numbers after the
// kinks.
// A key is a hash of a sign vector, of 64 bits. Keys find faces, and their sign vectors are compared (collect/sign_vectors.hpp).
//
// A vertex is recorded once for each thread, with the most accurate of its positions. A facet is recorded once for both its sides if both
// were found in one fragment. Few facets wait for their other side at any time.
// Invariant: everything is named by its index in the records of one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "collect/attained_arms.hpp"
#include "collect/key_table.hpp"
#include "exact/exact.hpp"
#include "memory/growing.hpp"

namespace regions {

// The number of the n-th sign, after Steele, Lea and Flood (2014). A key is the exclusive or of the numbers of all signs that are not
// negative.
inline FaceKey face_key(std::uint64_t n) {
  std::uint64_t value = (n + 1) * 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}
inline FaceKey key_of_positive(Boundary kink) { return face_key(3 * std::uint64_t(kink)); }
inline FaceKey key_of_zero(Boundary boundary) {
  return face_key(boundary >= 0 ? 3 * std::uint64_t(boundary) + 1 : 3 * std::uint64_t(-1 - boundary) + 2);
}

constexpr int most_names = 8;
constexpr std::int32_t no_name = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t listed = std::numeric_limits<std::int32_t>::min();

// A vertex is plain if no more boundaries are zero there than there are dimensions, and none all over its region. Most are.
struct VertexRecord {
  std::int32_t names[most_names];  // of a plain vertex the boundaries, increasing, and then `no_name`; of others all are `listed`
  FaceKey key;
  std::int64_t region;  // one that it belongs to
  std::int64_t zeros;   // the end of its zeros, of which a plain vertex has none

  bool is_plain() const { return names[0] != listed; }
};

struct FacetRecord {
  Boundary boundary;      // the facet of the cell that it is on
  FaceKey key;
  std::int64_t region;    // on the side where it was found first
  std::int64_t other;     // the region on the other side; as long as it is not known, -1 - the sum of the numbers of its vertices
  std::int64_t vertices;  // the end of its vertices
  std::int64_t zeros;     // the end of its zeros; it has none if `boundary` is the only one
};

struct EndsOfRegion {
  std::int64_t corners;
  std::int64_t sides;
  std::int64_t zeros;
};

struct alignas(64) FaceRecords {
  int dimension = 0;
  std::size_t pattern_bytes = 0;
  std::size_t kept_bytes = 0;                // of a pattern, and the kinks that are zero all over its region, if the network keeps them
  MaxUnits max_units;
  std::size_t map_numbers = 0;               // of each region; 0 if maps are not requested
  GrowingArray<double> positions;            // [vertices, dimension]
  GrowingArray<double> errors;               // [vertices]
  GrowingArray<VertexRecord> vertices;
  GrowingArray<Boundary> vertex_zeros;       // boundaries, and branches, that are zero at a vertex, but not all over its region; increasing;
                                             // not of plain vertices
  GrowingArray<FacetRecord> facets;
  GrowingArray<std::int64_t> facet_vertices;
  GrowingArray<Boundary> facet_zeros;        // the same for facets, unless it is only their boundary
  GrowingArray<EndsOfRegion> ends;           // [regions]
  GrowingArray<std::int64_t> corners;        // the vertex of each
  GrowingArray<std::int64_t> sides;          // the facet of each
  GrowingArray<Boundary> zeros;              // zero all over a region: kinks, and branches of units where several attain the maximum
  GrowingArray<std::uint8_t> patterns;       // [regions, kept_bytes]
  GrowingArray<double> maps;                 // [regions, 2, outputs, dimension + 1]: maps, and bounds on their errors

  const std::uint8_t* pattern(std::int64_t region) const { return &patterns[0] + std::size_t(region) * kept_bytes; }

  // Keeps the more accurate position of a vertex; of two that are equally accurate the one that comes first by its coordinates, so that
  // nothing depends on the order in which they are found.
  void improve(std::int64_t vertex, const double* position, double error) {
    double* known = &positions[vertex * dimension];
    if (error > errors[vertex]) return;
    if (error == errors[vertex] && !std::lexicographical_compare(position, position + dimension, known, known + dimension)) return;
    errors[vertex] = error;
    for (int k = 0; k < dimension; ++k) known[k] = position[k];
  }
};

// Where the entries of an item begin, given the ends of the entries of all items.
template <class T>
std::int64_t begin_of(const GrowingArray<T>& ends, std::int64_t index, std::int64_t T::*member) {
  return index > 0 ? ends[index - 1].*member : 0;
}

// Consecutive regions that one thread found, between two numbers of regions in its records.
struct FaceFragment {
  int number;
  FaceRecords* source;
  std::int64_t begin;
  std::int64_t end;
  std::vector<int> given;  // numbers of the fragments that were given to other threads, in that order
};

// What one thread found.
struct FaceHarvest {
  FaceRecords records;
  std::deque<FaceFragment> fragments;

  void begin_fragment(int number) {
    end_fragment();
    fragments.push_back({number, &records, std::int64_t(records.ends.size()), 0, {}});
  }
  void end_fragment() {
    if (!fragments.empty()) fragments.back().end = std::int64_t(records.ends.size());
  }
};

}  // namespace regions
