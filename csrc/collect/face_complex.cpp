// SPDX-License-Identifier: MIT
#include "collect/face_complex.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace regions {

namespace {

constexpr std::int64_t none = -1;

// Which side has a key: a hash table with open addressing.
class SidesByKey {
 public:
  explicit SidesByKey(std::size_t entries) {
    std::size_t size = 16;
    while (size < 2 * entries) size *= 2;
    last_ = size - 1;
    places_.assign(size, {FaceKey(), none});
  }

  // The side with this key; if there is none, it is this one from now on.
  std::int64_t find_or_put(const FaceKey& key, std::int64_t side) {
    std::size_t at = std::size_t(key.high) & last_;
    while (places_[at].side != none && !(places_[at].key == key)) at = (at + 1) & last_;
    if (places_[at].side != none) return places_[at].side;
    places_[at] = {key, side};
    return none;
  }

 private:
  struct Place {
    FaceKey key;
    std::int64_t side;
  };
  std::size_t last_;
  std::vector<Place> places_;
};

template <class T>
std::int64_t begin_of(const GrowingArray<T>& ends, std::int64_t index, std::int64_t T::*member) {
  return index > 0 ? ends[index - 1].*member : 0;
}

}  // namespace

void FaceComplex::connect(bool whole) {
  put_in_order();
  pair(whole);
  number();
}

void FaceComplex::put_in_order() {
  std::vector<const FaceFragment*> by_number;
  first_vertex_.push_back(0);
  for (FaceHarvest& harvest : harvests) {
    harvest.end_fragment();
    first_vertex_.push_back(first_vertex_.back() + std::int64_t(harvest.records.errors.size()));
    for (const FaceFragment& fragment : harvest.fragments) {
      if (by_number.size() <= std::size_t(fragment.number)) by_number.resize(std::size_t(fragment.number) + 1);
      by_number[std::size_t(fragment.number)] = &fragment;
    }
  }
  same_.resize(std::size_t(first_vertex_.back()));
  std::iota(same_.begin(), same_.end(), std::int64_t{0});
  std::vector<int> waiting{0};
  while (!waiting.empty()) {
    const std::size_t number = std::size_t(waiting.back());
    waiting.pop_back();
    if (number >= by_number.size() || by_number[number] == nullptr) continue;  // a part that was never begun
    const FaceFragment& fragment = *by_number[number];
    const FaceRecords& records = *fragment.source;
    const std::size_t thread = std::size_t(std::find_if(harvests.begin(), harvests.end(), [&](const FaceHarvest& harvest) {
                                             return &harvest.records == &records;
                                           }) - harvests.begin());
    for (std::int64_t region = fragment.begin; region < fragment.end; ++region) {
      places_.push_back({&records, region, first_vertex_[thread], std::int64_t(sides_.size())});
      for (std::int64_t facet = begin_of(records.ends, region, &EndsOfRegion::facets); facet < records.ends[region].facets; ++facet)
        sides_.push_back({std::int64_t(places_.size()) - 1, facet});
    }
    waiting.insert(waiting.end(), fragment.given.begin(), fragment.given.end());
  }
}

const FacetRecord& FaceComplex::facet(std::int64_t side) const {
  const Side& here = sides_[std::size_t(side)];
  return places_[std::size_t(here.region)].records->facets[here.facet];
}

void FaceComplex::pair(bool whole) {
  twins_.assign(sides_.size(), none);
  SidesByKey table(sides_.size());
  std::int64_t open = 0;
  for (std::int64_t side = 0; side < std::int64_t(sides_.size()); ++side) {
    const FacetRecord& here = facet(side);
    if (here.boundary < 0) continue;  // on the boundary of the domain
    const std::int64_t other = table.find_or_put(here.key, side);
    open += other == none ? 1 : -1;
    if (other == none) continue;
    if (twins_[std::size_t(other)] != none || !is_same(other, side)) throw std::logic_error("facets with one key are not the two sides of one");
    twins_[std::size_t(other)] = side;
    twins_[std::size_t(side)] = other;
    unite_vertices(other, side);
  }
  if (whole && open != 0) throw std::logic_error("a facet inside the domain has only one side");
}

// All boundaries that are zero on a facet, in order; of max units the arms that attain the maximum there, if there are several.
void FaceComplex::list_zeros(std::int64_t side, std::vector<Boundary>& zeros) const {
  const Side& here = sides_[std::size_t(side)];
  const Place& place = places_[std::size_t(here.region)];
  const FaceRecords& records = *place.records;
  const Boundary boundary = facet(side).boundary;
  zeros.clear();
  if (records.max_units.unit_of(boundary) == nullptr) zeros.push_back(boundary);
  for (std::int64_t i = begin_of(records.facets, here.facet, &FacetRecord::zeros); i < records.facets[here.facet].zeros; ++i)
    zeros.push_back(records.facet_zeros[i]);
  for (std::int64_t i = begin_of(records.ends, place.region, &EndsOfRegion::zeros); i < records.ends[place.region].zeros; ++i)
    zeros.push_back(records.zeros[i]);
  std::sort(zeros.begin(), zeros.end());
  if (records.max_units.any()) zeros.erase(std::unique(zeros.begin(), zeros.end()), zeros.end());
}

// Returns whether the bits of a kink in which two regions differ belong to a max unit with different argmaxes that both attain the maximum, given
// all that is zero on a facet between them.
bool FaceComplex::is_among_zeros(Boundary kink, const std::vector<Boundary>& zeros) const {
  const MaxUnits& units = harvests.front().records.max_units;
  const MaxUnit* unit = units.unit_of(kink);
  if (unit == nullptr) return false;
  const auto first = std::lower_bound(zeros.begin(), zeros.end(), units.number_of(unit->first_arm));
  return first != zeros.end() && *first < units.number_of(unit->first_arm + unit->arms);
}

// Returns whether two facets have the same sign vector.
bool FaceComplex::is_same(std::int64_t one, std::int64_t other) {
  list_zeros(one, zeros_);
  list_zeros(other, other_zeros_);
  if (zeros_ != other_zeros_) return false;
  const auto pattern_of = [&](std::int64_t side) {
    const Place& place = places_[std::size_t(sides_[std::size_t(side)].region)];
    return &place.records->patterns[0] + std::size_t(place.region) * place.records->pattern_bytes;
  };
  const std::uint8_t* here = pattern_of(one);
  const std::uint8_t* there = pattern_of(other);
  auto zero = std::lower_bound(zeros_.begin(), zeros_.end(), Boundary{0});
  for (std::size_t byte = 0; byte < harvests.front().records.pattern_bytes; ++byte) {
    unsigned differing = unsigned(here[byte]) ^ unsigned(there[byte]);
    for (; zero != zeros_.end() && *zero < Boundary(8 * byte + 8); ++zero) differing &= ~(1u << (*zero % 8));
    for (; differing != 0; differing &= differing - 1)
      if (!is_among_zeros(Boundary(8 * byte) + __builtin_ctz(differing), zeros_)) return false;
  }
  return true;
}

// The vertices of a facet, by their keys.
void FaceComplex::list_vertices(std::int64_t side, std::vector<KeyedVertex>& vertices) const {
  const Side& here = sides_[std::size_t(side)];
  const Place& place = places_[std::size_t(here.region)];
  const FaceRecords& records = *place.records;
  vertices.clear();
  for (std::int64_t i = begin_of(records.facets, here.facet, &FacetRecord::vertices); i < records.facets[here.facet].vertices; ++i) {
    const std::int64_t vertex = records.facet_vertices[i];
    vertices.push_back({records.keys[vertex], place.first_vertex + vertex});
  }
  std::sort(vertices.begin(), vertices.end(), [](const KeyedVertex& left, const KeyedVertex& right) {
    return left.key.high != right.key.high ? left.key.high < right.key.high : left.key.low < right.key.low;
  });
}

// Unites the vertices of the two sides of a facet.
void FaceComplex::unite_vertices(std::int64_t one, std::int64_t other) {
  list_vertices(one, vertices_);
  list_vertices(other, other_vertices_);
  bool same = vertices_.size() == other_vertices_.size();
  for (std::size_t i = 0; i < vertices_.size() && same; ++i) {
    same = vertices_[i].key == other_vertices_[i].key && (i == 0 || !(vertices_[i].key == vertices_[i - 1].key));
    unite(vertices_[i].vertex, other_vertices_[i].vertex);
  }
  if (!same) throw std::logic_error("the two sides of a facet have different vertices");
}

std::size_t FaceComplex::thread_of(std::int64_t vertex) const {
  if (harvests.size() == 1) return 0;
  return std::size_t(std::upper_bound(first_vertex_.begin(), first_vertex_.end(), vertex) - first_vertex_.begin()) - 1;
}

FaceComplex::PlaceOfVertex FaceComplex::place_of(std::int64_t vertex) const {
  const std::size_t thread = thread_of(vertex);
  return {&harvests[thread].records, vertex - first_vertex_[thread]};
}

std::int64_t FaceComplex::representative(std::int64_t vertex) {
  while (same_[std::size_t(vertex)] != vertex) {
    std::int64_t& next = same_[std::size_t(vertex)];
    vertex = next = same_[std::size_t(next)];
  }
  return vertex;
}

// The more accurate one represents both; of two that are equally accurate the one that comes first by its coordinates, so that nothing
// depends on which thread found it.
void FaceComplex::unite(std::int64_t left, std::int64_t right) {
  left = representative(left);
  right = representative(right);
  if (left == right) return;
  const auto [of_left, at_left] = place_of(left);
  const auto [of_right, at_right] = place_of(right);
  const double error = of_left->errors[at_left];
  const double other = of_right->errors[at_right];
  const std::int64_t dimension = of_left->dimension;
  const double* position = &of_left->positions[at_left * dimension];
  const double* other_position = &of_right->positions[at_right * dimension];
  const bool keep_left =
      error < other || (error == other && !std::lexicographical_compare(other_position, other_position + dimension, position, position + dimension));
  same_[std::size_t(keep_left ? right : left)] = keep_left ? left : right;
}

void FaceComplex::number() {
  numbers_.assign(same_.size(), none);
  sizes.regions = std::int64_t(places_.size());
  sizes.sides = std::int64_t(sides_.size());
  for (const Place& place : places_) {
    const FaceRecords& records = *place.records;
    const std::int64_t begin = begin_of(records.ends, place.region, &EndsOfRegion::corners);
    const std::int64_t end = records.ends[place.region].corners;
    sizes.corners += end - begin;
    for (std::int64_t corner = begin; corner < end; ++corner) {
      const std::int64_t vertex = representative(place.first_vertex + records.corners[corner]);
      if (numbers_[std::size_t(vertex)] != none) continue;
      numbers_[std::size_t(vertex)] = std::int64_t(order_.size());
      order_.push_back(vertex);
    }
  }
  sizes.vertices = std::int64_t(order_.size());
  for (std::int64_t side = 0; side < sizes.sides; ++side) {
    if (twins_[std::size_t(side)] != none && twins_[std::size_t(side)] < side) continue;
    const Side& here = sides_[std::size_t(side)];
    const FaceRecords& records = *places_[std::size_t(here.region)].records;
    ++sizes.facets;
    sizes.ends += records.facets[here.facet].vertices - begin_of(records.facets, here.facet, &FacetRecord::vertices);
  }
}

void FaceComplex::write(const FaceArrays& arrays) const {
  const FaceRecords& first = harvests.front().records;
  const std::size_t dimension = std::size_t(first.dimension);
  for (std::size_t number = 0; number < order_.size(); ++number) {
    const auto [records, index] = place_of(order_[number]);
    std::copy_n(&records->positions[index * std::int64_t(dimension)], dimension, arrays.vertices + number * dimension);
    arrays.vertex_errors[number] = records->errors[index];
  }
  const auto number_of = [&](const Place& place, std::int64_t vertex) {
    std::int64_t here = place.first_vertex + vertex;
    while (same_[std::size_t(here)] != here) here = same_[std::size_t(here)];
    return numbers_[std::size_t(here)];
  };
  std::vector<std::int64_t> facet_numbers(sides_.size());
  std::int64_t corner = 0, side = 0, facets = 0, ends = 0;
  arrays.cell_offsets[0] = arrays.cell_facet_offsets[0] = arrays.facet_offsets[0] = 0;
  const std::size_t map_numbers = first.map_numbers / 2;
  for (std::size_t region = 0; region < places_.size(); ++region) {
    const Place& place = places_[region];
    const FaceRecords& records = *place.records;
    for (std::int64_t i = begin_of(records.ends, place.region, &EndsOfRegion::corners); i < records.ends[place.region].corners; ++i)
      arrays.cell_vertices[corner++] = number_of(place, records.corners[i]);
    arrays.cell_offsets[region + 1] = corner;
    for (; side < std::int64_t(sides_.size()) && sides_[std::size_t(side)].region == std::int64_t(region); ++side) {
      const std::int64_t twin = twins_[std::size_t(side)];
      if (twin != none && twin < side) {
        facet_numbers[std::size_t(side)] = facet_numbers[std::size_t(twin)];
        arrays.facet_regions[2 * facet_numbers[std::size_t(side)] + 1] = std::int64_t(region);
      } else {
        const std::int64_t index = sides_[std::size_t(side)].facet;
        for (std::int64_t i = begin_of(records.facets, index, &FacetRecord::vertices); i < records.facets[index].vertices; ++i)
          arrays.facet_vertices[ends++] = number_of(place, records.facet_vertices[i]);
        const Boundary boundary = records.facets[index].boundary;
        arrays.facet_kinks[facets] = boundary >= 0 ? boundary : -1 - form_of(first.dimension, boundary);
        arrays.facet_regions[2 * facets] = std::int64_t(region);
        arrays.facet_regions[2 * facets + 1] = none;
        facet_numbers[std::size_t(side)] = facets++;
        arrays.facet_offsets[facets] = ends;
      }
      arrays.cell_facets[side] = facet_numbers[std::size_t(side)];
    }
    arrays.cell_facet_offsets[region + 1] = side;
    if (first.pattern_bytes > 0)
      std::copy_n(&records.patterns[place.region * std::int64_t(first.pattern_bytes)], first.pattern_bytes, arrays.patterns + region * first.pattern_bytes);
    if (map_numbers > 0) {
      const double* maps = &records.maps[place.region * std::int64_t(first.map_numbers)];
      std::copy_n(maps, map_numbers, arrays.maps + region * map_numbers);
      std::copy_n(maps + map_numbers, map_numbers, arrays.map_errors + region * map_numbers);
    }
  }
}

}  // namespace regions
