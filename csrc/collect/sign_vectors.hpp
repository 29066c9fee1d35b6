// SPDX-License-Identifier: MIT
// Are two faces of regions the same?
//
// They are if their sign vectors are equal (collect/face_records.hpp): the same boundaries and branches are zero on both, and the patterns
// of their regions differ only in kinks that are zero, or, at max units, in the argmax, and both argmaxes attain the maximum on both.
// Invariant: nothing is assumed of keys.
#pragma once

#include <cstdint>
#include <vector>

#include "collect/face_records.hpp"

namespace regions {

// A face of a region, and what is zero there besides what is zero all over the region; increasing.
struct FaceOfRegion {
  const FaceRecords* records;
  std::int64_t region;
  const Boundary* begin;
  const Boundary* end;

  static FaceOfRegion vertex(const FaceRecords& records, std::int64_t index) {
    const Boundary* zeros = &records.vertex_zeros[0];
    return {&records, records.vertices[index].region, zeros + begin_of(records.vertices, index, &VertexRecord::zeros),
            zeros + records.vertices[index].zeros};
  }
  static FaceOfRegion facet(const FaceRecords& records, std::int64_t index) {
    const Boundary* zeros = &records.facet_zeros[0];
    return {&records, records.facets[index].region, zeros + begin_of(records.facets, index, &FacetRecord::zeros),
            zeros + records.facets[index].zeros};
  }
};

class SignVectors {
 public:
  bool are_same(const FaceOfRegion& one, const FaceOfRegion& other);

 private:
  static bool has_zeros(const FaceOfRegion& face);
  static void list_zeros(const FaceOfRegion& face, std::vector<Boundary>& zeros);
  static bool have_same_signs(const FaceOfRegion& one, const FaceOfRegion& other, const Boundary* begin, const Boundary* end);

  std::vector<Boundary> zeros_, other_zeros_;
};

}  // namespace regions
