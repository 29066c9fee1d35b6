// SPDX-License-Identifier: MIT
// Is a face of the region at work one that is known, if no more is zero there than has to be?
//
// Most vertices are on as many boundaries as there are dimensions, and most facets on one. Their sign vectors are equal if these boundaries
// are, and the patterns of their regions differ only there (collect/sign_vectors.hpp answers the same in all cases).
#pragma once

#include <cstdint>
#include <cstring>

#include "collect/face_records.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// The bit of a boundary among 64 kinks from `first` on; 0 if it is not one of them.
inline std::uint64_t bit_from(std::int64_t first, std::int64_t boundary) {
  const std::uint64_t place = std::uint64_t(boundary - first);
  return place < 64 ? std::uint64_t{1} << place : 0;
}

// Returns whether the patterns of two regions differ only in some kinks, given their bits from a kink on.
template <class BitsFrom>
bool differ_only_in(const FaceRecords& records, std::int64_t one, std::int64_t other, BitsFrom bits_from) {
  const std::uint8_t* here = records.pattern(one);
  const std::uint8_t* there = records.pattern(other);
  for (std::size_t byte = 0; byte < records.pattern_bytes; byte += 8) {
    std::uint64_t words[2];  // there is room behind the last pattern
    std::memcpy(&words[0], here + byte, 8);
    std::memcpy(&words[1], there + byte, 8);
    const std::size_t left = records.pattern_bytes - byte;
    const std::uint64_t different = (words[0] ^ words[1]) & ~std::uint64_t{0} >> (left < 8 ? 64 - 8 * left : 0);
    if (different != 0 && (different & ~bits_from(std::int64_t(8 * byte))) != 0) return false;
  }
  return true;
}

// Returns whether a vertex has these N different names, and is one of this region.
template <int N>
bool is_plain_vertex(const FaceRecords& records, const VertexRecord& vertex, std::int64_t region, const std::int32_t* names) {
  typedef std::int32_t Names __attribute__((vector_size(4 * most_names)));
  Names known;
  std::memcpy(&known, vertex.names, sizeof(known));
  Names same = known == no_name;
  for (int k = 0; k < N; ++k) same |= known == names[k];
  std::uint64_t words[most_names / 2];
  std::memcpy(words, &same, sizeof(same));
  if ((words[0] & words[1] & words[2] & words[3]) != ~std::uint64_t{0}) return false;
  return differ_only_in(records, vertex.region, region, [&](std::int64_t first) {
    std::uint64_t bits = 0;
    for (int k = 0; k < N; ++k) bits |= bit_from(first, names[k]);
    return bits;
  });
}

inline bool is_plain_facet(const FaceRecords& records, const FacetRecord& facet, std::int64_t region, Boundary boundary) {
  return facet.boundary == boundary &&
         differ_only_in(records, facet.region, region, [&](std::int64_t first) { return bit_from(first, boundary); });
}

// Moves the last of some sorted numbers to its place: most often there are only as many as dimensions.
template <class Number>
void move_last(Number* numbers, std::size_t count) {
  const Number last = numbers[count - 1];
  std::size_t place = count - 1;
  for (; place > 0 && numbers[place - 1] > last; --place) numbers[place] = numbers[place - 1];
  numbers[place] = last;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
