// SPDX-License-Identifier: MIT
#include "collect/sign_vectors.hpp"

#include <algorithm>
#include <cstring>

namespace regions {

namespace {

// Returns whether the set bits, counted from `first`, are all zeros.
template <class IsZero>
bool differ_only_in(unsigned bits, Boundary first, IsZero is_zero) {
  for (; bits != 0; bits &= bits - 1)
    if (!is_zero(first + __builtin_ctz(bits))) return false;
  return true;
}

}  // namespace

bool SignVectors::are_same(const FaceOfRegion& one, const FaceOfRegion& other) {
  if (!has_zeros(one) && !has_zeros(other))
    return std::equal(one.begin(), one.end(), other.begin(), other.end()) && have_same_signs(one, other, one.begin(), one.end());
  list_zeros(one, zeros_);
  list_zeros(other, other_zeros_);
  return zeros_ == other_zeros_ && have_same_signs(one, other, zeros_.data(), zeros_.data() + zeros_.size());
}

// Returns whether anything is zero all over the region.
bool SignVectors::has_zeros(const FaceOfRegion& face) {
  const FaceRecords& records = *face.records;
  return begin_of(records.ends, face.region, &EndsOfRegion::zeros) < records.ends[face.region].zeros;
}

// All that is zero on a face, in order.
void SignVectors::list_zeros(const FaceOfRegion& face, std::vector<Boundary>& zeros) {
  const FaceRecords& records = *face.records;
  zeros.assign(face.begin(), face.end());
  for (std::int64_t i = begin_of(records.ends, face.region, &EndsOfRegion::zeros); i < records.ends[face.region].zeros; ++i)
    zeros.push_back(records.zeros[i]);
  std::sort(zeros.begin(), zeros.end());
  zeros.erase(std::unique(zeros.begin(), zeros.end()), zeros.end());
}

// Returns whether the patterns of two regions are equal outside of all that is zero on a face of both.
bool SignVectors::have_same_signs(const FaceOfRegion& one, const FaceOfRegion& other, const Boundary* begin, const Boundary* end) {
  const MaxUnits& units = one.records->max_units;
  const std::uint8_t* here = one.records->pattern(one.region);
  const std::uint8_t* there = other.records->pattern(other.region);
  const std::size_t bytes = one.records->pattern_bytes;
  const Boundary* first_kink = std::lower_bound(begin, end, Boundary{0});
  const auto is_zero = [&](Boundary kink) {
    if (std::find(first_kink, end, kink) != end) return true;
    const MaxUnit* unit = units.unit_of(kink);
    if (unit == nullptr) return false;
    const Boundary* first = std::lower_bound(begin, end, units.number_of(unit->first_arm));
    return first != end && *first < units.number_of(unit->first_arm + unit->arms);
  };
  std::size_t byte = 0;
  for (; byte + 8 <= bytes; byte += 8) {
    std::uint64_t words[2];
    std::memcpy(&words[0], here + byte, 8);
    std::memcpy(&words[1], there + byte, 8);
    if (words[0] == words[1]) continue;
    for (std::size_t k = byte; k < byte + 8; ++k)
      if (!differ_only_in(unsigned(here[k]) ^ there[k], Boundary(8 * k), is_zero)) return false;
  }
  for (; byte < bytes; ++byte)
    if (!differ_only_in(unsigned(here[byte]) ^ there[byte], Boundary(8 * byte), is_zero)) return false;
  return true;
}

}  // namespace regions
