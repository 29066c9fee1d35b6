// SPDX-License-Identifier: MIT
#include "collect/assemble.hpp"

#include <algorithm>
#include <vector>

namespace regions {

namespace {

// Replaces each corner's vertex by its representative in the part. A branch on whether it has been seen is unpredictable, so it
// is always noted as if it were new, and the note is kept only if it is.
void rank_vertices(Part& part, std::vector<SharedVertex>& shared) {
  Collected& collected = *part.collected;
  std::int64_t* firsts = part.firsts.extend(std::size_t(part.end.vertices - part.begin.vertices) + 1);
  std::int64_t rank = 0;
  for (std::int64_t corner = part.begin.corners; corner < part.end.corners; ++corner) {
    const std::int64_t index = collected.corners[corner] = collected.representative(collected.corners[corner]);
    CollectedVertex& vertex = collected.vertices[index];
    bool is_new = vertex.same == CollectedVertex::itself;
    if (vertex.entry() < 0) {
      vertex.set_number(is_new ? rank : vertex.number());
    } else if (SharedVertex& guest = shared[std::size_t(vertex.entry())]; guest.rank < 0) {
      is_new = true;
      guest.rank = rank;
      part.guests.push_back(vertex.entry());
    }
    firsts[rank] = corner;
    rank += is_new;
  }
  part.firsts.shrink(std::size_t(rank));
}

// A vertex that several parts have belongs to the first that uses it.
std::int64_t number_vertices(Whole& whole, Part& part, std::int64_t first) {
  part.first_vertex = first;
  std::int64_t others = 0;
  for (const std::int64_t guest : part.guests) {
    const std::int64_t entry = whole.standing_for(guest);
    SharedVertex& here = whole.shared[std::size_t(guest)];
    std::int64_t& number = whole.shared[std::size_t(entry)].number;
    here.is_first = number < 0;
    if (here.is_first) number = first + here.rank - others;
    others += !here.is_first;
    here.number = number;
    here.same = entry;
  }
  return std::int64_t(part.firsts.size()) - others;
}

class Writing {
 public:
  Writing(Whole& whole, Part& part, const ComplexArrays& arrays)
      : whole_(whole),
        part_(part),
        collected_(*part.collected),
        arrays_(arrays),
        shift_(part.shift),
        facet_(part.first_facet) {}

  void run() {
    write_vertices();
    std::int64_t corner = part_.begin.corners;
    std::int64_t facet = part_.begin.facets;
    for (std::int64_t region = part_.begin.regions; region < part_.end.regions; ++region) {
      const RegionEnds& ends = collected_.ends[region];
      arrays_.cell_offsets[region + shift_.regions + 1] = ends.corners + shift_.corners;
      for (; corner < ends.corners; ++corner) arrays_.cell_vertices[corner + shift_.corners] = number_at(corner);
      for (; facet < ends.facets; ++facet) write_facet(facet, region + shift_.regions);
    }
    part_.copy_patterns(arrays_.patterns);
    if (collected_.map_numbers > 0) part_.copy_maps(arrays_.maps, arrays_.map_errors);
  }

 private:
  void write_vertices() {
    const int dimension = collected_.dimension;
    std::int64_t number = part_.first_vertex;
    whole_.for_each_vertex_of(part_, [&](std::int64_t, CollectedVertex& here, const CollectedVertex& vertex) {
      std::copy_n(vertex.position, dimension, arrays_.vertices + number * dimension);
      arrays_.vertex_errors[number] = vertex.error;
      if (here.entry() < 0) here.set_number(number);
      ++number;
    });
  }

  std::int64_t number_at(std::int64_t corner) const {
    const CollectedVertex& vertex = collected_.vertices[collected_.corners[corner]];
    return vertex.entry() < 0 ? vertex.number() : whole_.shared[std::size_t(vertex.entry())].number;
  }

  // Writes a facet once for both regions: the second region only notes its own side, if that is in this part.
  void write_facet(std::int64_t index, std::int64_t region) {
    const CollectedFacet& here = collected_.facets[index];
    const std::int64_t twin = here.twin();
    if (is_name(twin) && part_of(twin) < part_.index) return;
    if (twin >= 0 && twin < index) {
      const std::int64_t facet = arrays_.cell_facets[twin + shift_.facets];
      arrays_.cell_facets[index + shift_.facets] = facet;
      arrays_.facet_regions[2 * facet + 1] = region;
      return;
    }
    const std::int64_t facet = facet_++;
    arrays_.cell_facets[index + shift_.facets] = facet;
    arrays_.facet_kinks[facet] = here.boundary;
    arrays_.facet_regions[2 * facet] = region;
    arrays_.facet_regions[2 * facet + 1] = -1;
    std::int64_t* ends = arrays_.facet_vertices + facet * collected_.facet_corners;
    ends[0] = arrays_.cell_vertices[here.first + shift_.corners];
    if (collected_.facet_corners > 1) ends[1] = arrays_.cell_vertices[here.last + shift_.corners];
  }

  Whole& whole_;
  Part& part_;
  Collected& collected_;
  const ComplexArrays& arrays_;
  const Extents shift_;
  std::int64_t facet_;  // the number of the next facet
};

void write_facets_across(const Whole& whole, const ComplexArrays& arrays) {
  std::int64_t* const offsets_end = arrays.cell_offsets + whole.size().regions + 1;
  for (const auto& [earlier, later] : whole.facets_across) {
    const std::int64_t index = whole.place_of_facet(later);
    const std::int64_t facet = arrays.cell_facets[whole.place_of_facet(earlier)];
    arrays.cell_facets[index] = facet;
    arrays.facet_regions[2 * facet + 1] = std::upper_bound(arrays.cell_offsets, offsets_end, index) - arrays.cell_offsets - 1;
  }
}

}  // namespace

void number(Whole& whole, int workers) {
  whole.close();
  whole.with_each_part(workers, [&](Part& part) { rank_vertices(part, whole.shared); });
  ComplexSizes& sizes = whole.sizes;
  for (Part& part : whole.parts) {
    sizes.vertices += number_vertices(whole, part, sizes.vertices);
    part.first_facet = sizes.facets;
    sizes.facets += part.end.facets - part.begin.facets - part.matched;
  }
  sizes.regions = whole.size().regions;
  sizes.corners = whole.size().corners;
}

void assemble(Whole& whole, const ComplexArrays& arrays, int workers) {
  arrays.cell_offsets[0] = 0;
  whole.with_each_part(workers, [&](Part& part) { Writing(whole, part, arrays).run(); });
  write_facets_across(whole, arrays);
}

}  // namespace regions
