// SPDX-License-Identifier: MIT
#include "collect/face_complex.hpp"

#include <algorithm>
#include <stdexcept>

#include "collect/key_table.hpp"
#include "collect/sign_vectors.hpp"

namespace regions {

namespace {

constexpr std::int64_t none = -1;

}  // namespace

void FaceComplex::connect(bool whole) {
  for (FaceHarvest& harvest : harvests) harvest.end_fragment();
  in_order_ = are_in_order();
  if (in_order_) {
    const FaceRecords& records = harvests.front().records;
    sizes = {std::int64_t(records.ends.size()), std::int64_t(records.corners.size()), std::int64_t(records.vertices.size()),
             std::int64_t(records.sides.size()), std::int64_t(records.facets.size()), std::int64_t(records.facet_vertices.size())};
    if (!whole) return;
    for (std::int64_t own = 0; own < sizes.facets; ++own) require_two_sides(records.facets[own], false);
    return;
  }
  put_in_order();
  if (harvests.size() > 1) {
    join_vertices();
    join_facets();
  }
  number();
  if (!whole) return;
  for (const std::int64_t index : facet_order_) {
    const std::size_t thread = facets_.thread_of(index);
    require_two_sides(records_of(thread).facets[index - facets_.starts[thread]], !twins_.empty() && twins_[std::size_t(index)] != none);
  }
}

void FaceComplex::require_two_sides(const FacetRecord& facet, bool has_other) const {
  if (facet.boundary >= 0 && facet.other < 0 && !has_other) throw std::logic_error("a facet inside the domain has only one side");
}

// After an error, there may be entries of a region that was not finished.
bool FaceComplex::are_in_order() const {
  if (harvests.size() != 1 || harvests.front().fragments.size() != 1) return false;
  const FaceRecords& records = harvests.front().records;
  const std::int64_t last = std::int64_t(records.ends.size()) - 1;
  return last >= 0 && records.ends[last].corners == std::int64_t(records.corners.size()) &&
         records.ends[last].sides == std::int64_t(records.sides.size()) && records.facets.size() > 0 &&
         records.facets[std::int64_t(records.facets.size()) - 1].vertices == std::int64_t(records.facet_vertices.size());
}

void FaceComplex::give(OwnedMemory* memory) {
  FaceRecords& records = harvests.front().records;
  memory[0] = records.positions.give();
  memory[1] = records.errors.give();
  memory[2] = records.corners.give();
  memory[3] = records.sides.give();
  memory[4] = records.facet_vertices.give();
  memory[5] = records.patterns.give();
}

void FaceComplex::put_in_order() {
  std::vector<const FaceFragment*> by_number;
  for (FaceHarvest& harvest : harvests) {
    regions_.take(harvest.records.ends.size());
    vertices_.take(harvest.records.vertices.size());
    facets_.take(harvest.records.facets.size());
    for (const FaceFragment& fragment : harvest.fragments) {
      if (by_number.size() <= std::size_t(fragment.number)) by_number.resize(std::size_t(fragment.number) + 1);
      by_number[std::size_t(fragment.number)] = &fragment;
    }
  }
  places_.reserve(regions_.numbers.size());
  std::vector<int> waiting{0};
  while (!waiting.empty()) {
    const std::size_t number = std::size_t(waiting.back());
    waiting.pop_back();
    if (number >= by_number.size() || by_number[number] == nullptr) continue;  // a part that was never begun
    const FaceFragment& fragment = *by_number[number];
    const std::size_t thread = std::size_t(std::find_if(harvests.begin(), harvests.end(), [&](const FaceHarvest& harvest) {
                                             return &harvest.records == fragment.source;
                                           }) - harvests.begin());
    for (std::int64_t region = fragment.begin; region < fragment.end; ++region) {
      regions_.numbers[std::size_t(regions_.index(thread, region))] = std::int64_t(places_.size());
      places_.push_back({thread, region});
    }
    waiting.insert(waiting.end(), fragment.given.begin(), fragment.given.end());
  }
}

// The first of the threads with a vertex gets the most accurate position.
void FaceComplex::join_vertices() {
  KeyTable table;
  SignVectors signs;
  same_.resize(vertices_.numbers.size());
  for (std::size_t thread = 0; thread < harvests.size(); ++thread) {
    const FaceRecords& records = records_of(thread);
    for (std::int64_t own = 0; own < std::int64_t(records.vertices.size()); ++own) {
      const std::int64_t index = vertices_.index(thread, own);
      const std::int64_t first = table.find(records.vertices[own].key, [&](std::int64_t known) {
        const std::size_t of = vertices_.thread_of(known);
        return signs.are_same(FaceOfRegion::vertex(records_of(of), known - vertices_.starts[of]), FaceOfRegion::vertex(records, own));
      });
      same_[std::size_t(index)] = first != none ? first : index;
      if (first == none) {
        table.put(records.vertices[own].key, index);
      } else {
        const std::size_t of = vertices_.thread_of(first);
        harvests[of].records.improve(first - vertices_.starts[of], &records.positions[own * records.dimension], records.errors[own]);
      }
    }
  }
}

void FaceComplex::join_facets() {
  KeyTable waiting;
  SignVectors signs;
  twins_.assign(facets_.numbers.size(), none);
  for (std::size_t thread = 0; thread < harvests.size(); ++thread) {
    const FaceRecords& records = records_of(thread);
    for (std::int64_t own = 0; own < std::int64_t(records.facets.size()); ++own) {
      const FacetRecord& facet = records.facets[own];
      if (facet.boundary < 0 || facet.other >= 0) continue;
      const std::int64_t index = facets_.index(thread, own);
      const std::int64_t twin = waiting.find(facet.key, [&](std::int64_t known) {
        const std::size_t of = facets_.thread_of(known);
        return signs.are_same(FaceOfRegion::facet(records_of(of), known - facets_.starts[of]), FaceOfRegion::facet(records, own));
      });
      if (twin == none) {
        waiting.put(facet.key, index);
        continue;
      }
      waiting.erase(facet.key, twin);
      twins_[std::size_t(index)] = twin;
      twins_[std::size_t(twin)] = index;
    }
  }
}

void FaceComplex::number() {
  sizes.regions = std::int64_t(places_.size());
  for (const auto& [thread, region] : places_) {
    const FaceRecords& records = records_of(thread);
    const EndsOfRegion& ends = records.ends[region];
    for (std::int64_t i = begin_of(records.ends, region, &EndsOfRegion::corners); i < ends.corners; ++i, ++sizes.corners) {
      std::int64_t vertex = vertices_.index(thread, records.corners[i]);
      if (!same_.empty()) vertex = same_[std::size_t(vertex)];
      std::int64_t& number = vertices_.numbers[std::size_t(vertex)];
      if (number != none) continue;
      number = std::int64_t(vertex_order_.size());
      vertex_order_.push_back(vertex);
    }
    for (std::int64_t i = begin_of(records.ends, region, &EndsOfRegion::sides); i < ends.sides; ++i, ++sizes.sides) {
      const std::int64_t facet = facets_.index(thread, records.sides[i]);
      std::int64_t& number = facets_.numbers[std::size_t(facet)];
      if (number != none) continue;
      number = std::int64_t(facet_order_.size());
      if (!twins_.empty() && twins_[std::size_t(facet)] != none) facets_.numbers[std::size_t(twins_[std::size_t(facet)])] = number;
      facet_order_.push_back(facet);
      const std::int64_t own = records.sides[i];
      sizes.ends += records.facets[own].vertices - begin_of(records.facets, own, &FacetRecord::vertices);
    }
  }
  for (std::size_t i = 0; i < same_.size(); ++i) vertices_.numbers[i] = vertices_.numbers[std::size_t(same_[i])];
  sizes.vertices = std::int64_t(vertex_order_.size());
  sizes.facets = std::int64_t(facet_order_.size());
}

namespace {

template <class T>
void copy_unless_lent(const GrowingArray<T>& collected, T* target) {
  if (target != nullptr && collected.size() > 0) std::copy_n(&collected[0], collected.size(), target);
}

void write_maps(const FaceRecords& records, std::int64_t region, std::size_t number, const FaceArrays& arrays) {
  const std::size_t count = records.map_numbers / 2;
  if (count == 0) return;
  const double* maps = &records.maps[region * std::int64_t(records.map_numbers)];
  std::copy_n(maps, count, arrays.maps + number * count);
  std::copy_n(maps + count, count, arrays.map_errors + number * count);
}

// The kink of a facet, or its form of the domain, as -1 - form.
std::int64_t kink_of(const FaceRecords& records, Boundary boundary) {
  return boundary >= 0 ? boundary : -1 - form_of(records.dimension, boundary);
}

}  // namespace

void FaceComplex::write_in_order(const FaceArrays& arrays) const {
  const FaceRecords& records = harvests.front().records;
  copy_unless_lent(records.positions, arrays.vertices);
  copy_unless_lent(records.errors, arrays.vertex_errors);
  copy_unless_lent(records.corners, arrays.cell_vertices);
  copy_unless_lent(records.sides, arrays.cell_facets);
  copy_unless_lent(records.facet_vertices, arrays.facet_vertices);
  copy_unless_lent(records.patterns, arrays.patterns);
  arrays.cell_offsets[0] = arrays.cell_facet_offsets[0] = arrays.facet_offsets[0] = 0;
  for (std::int64_t region = 0; region < sizes.regions; ++region) {
    arrays.cell_offsets[region + 1] = records.ends[region].corners;
    arrays.cell_facet_offsets[region + 1] = records.ends[region].sides;
    write_maps(records, region, std::size_t(region), arrays);
  }
  for (std::int64_t own = 0; own < sizes.facets; ++own) {
    const FacetRecord& facet = records.facets[own];
    arrays.facet_offsets[own + 1] = facet.vertices;
    arrays.facet_kinks[own] = kink_of(records, facet.boundary);
    arrays.facet_regions[2 * own] = facet.region;
    arrays.facet_regions[2 * own + 1] = std::max(facet.other, none);
  }
}

void FaceComplex::write(const FaceArrays& arrays) const {
  if (in_order_) return write_in_order(arrays);
  const FaceRecords& first = harvests.front().records;
  const std::size_t dimension = std::size_t(first.dimension);
  for (std::size_t number = 0; number < vertex_order_.size(); ++number) {
    const std::size_t thread = vertices_.thread_of(vertex_order_[number]);
    const std::int64_t own = vertex_order_[number] - vertices_.starts[thread];
    std::copy_n(&records_of(thread).positions[own * std::int64_t(dimension)], dimension, arrays.vertices + number * dimension);
    arrays.vertex_errors[number] = records_of(thread).errors[own];
  }
  std::int64_t corner = 0, side = 0, end = 0;
  arrays.cell_offsets[0] = arrays.cell_facet_offsets[0] = arrays.facet_offsets[0] = 0;
  for (std::size_t number = 0; number < places_.size(); ++number) {
    const auto [thread, region] = places_[number];
    const FaceRecords& records = records_of(thread);
    const std::int64_t* vertices = vertices_.numbers.data() + vertices_.starts[thread];
    const std::int64_t* facets = facets_.numbers.data() + facets_.starts[thread];
    for (std::int64_t i = begin_of(records.ends, region, &EndsOfRegion::corners); i < records.ends[region].corners; ++i)
      arrays.cell_vertices[corner++] = vertices[records.corners[i]];
    arrays.cell_offsets[number + 1] = corner;
    for (std::int64_t i = begin_of(records.ends, region, &EndsOfRegion::sides); i < records.ends[region].sides; ++i)
      arrays.cell_facets[side++] = facets[records.sides[i]];
    arrays.cell_facet_offsets[number + 1] = side;
    if (first.kept_bytes > 0) std::copy_n(records.pattern(region), first.kept_bytes, arrays.patterns + number * first.kept_bytes);
    write_maps(records, region, number, arrays);
  }
  const auto number_of_region = [&](std::size_t thread, std::int64_t region) { return regions_.numbers[std::size_t(regions_.index(thread, region))]; };
  for (std::size_t number = 0; number < facet_order_.size(); ++number) {
    const std::int64_t index = facet_order_[number];
    const std::size_t thread = facets_.thread_of(index);
    const FaceRecords& records = records_of(thread);
    const std::int64_t own = index - facets_.starts[thread];
    const FacetRecord& facet = records.facets[own];
    const std::int64_t* vertices = vertices_.numbers.data() + vertices_.starts[thread];
    for (std::int64_t i = begin_of(records.facets, own, &FacetRecord::vertices); i < facet.vertices; ++i)
      arrays.facet_vertices[end++] = vertices[records.facet_vertices[i]];
    arrays.facet_offsets[number + 1] = end;
    arrays.facet_kinks[number] = kink_of(records, facet.boundary);
    arrays.facet_regions[2 * number] = number_of_region(thread, facet.region);
    std::int64_t& other = arrays.facet_regions[2 * number + 1];
    other = facet.other >= 0 ? number_of_region(thread, facet.other) : none;
    if (twins_.empty() || twins_[std::size_t(index)] == none) continue;
    const std::int64_t twin = twins_[std::size_t(index)];
    const std::size_t of = facets_.thread_of(twin);
    other = number_of_region(of, records_of(of).facets[twin - facets_.starts[of]].region);
  }
}

}  // namespace regions
