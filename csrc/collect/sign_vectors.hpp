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
  const Boundary* zeros;  // null if they are in `few`
  std::size_t count;
  Boundary few[most_names] = {};

  const Boundary* begin() const { return zeros != nullptr ? zeros : few; }
  const Boundary* end() const { return begin() + count; }

  static FaceOfRegion vertex(const FaceRecords& records, std::int64_t index) {
    const VertexRecord& vertex = records.vertices[index];
    if (vertex.is_plain()) {
      FaceOfRegion face{&records, vertex.region, nullptr, std::size_t(records.dimension)};
      std::copy_n(vertex.names, records.dimension, face.few);
      return face;
    }
    const std::int64_t begin = begin_of(records.vertices, index, &VertexRecord::zeros);
    return {&records, vertex.region, &records.vertex_zeros[begin], std::size_t(vertex.zeros - begin)};
  }
  static FaceOfRegion facet(const FaceRecords& records, std::int64_t index) {
    const FacetRecord& facet = records.facets[index];
    const std::int64_t begin = begin_of(records.facets, index, &FacetRecord::zeros);
    if (facet.zeros == begin) return {&records, facet.region, &facet.boundary, 1};
    return {&records, facet.region, &records.facet_zeros[begin], std::size_t(facet.zeros - begin)};
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
