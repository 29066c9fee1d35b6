// SPDX-License-Identifier: MIT
#include "collect/assemble.hpp"

#include <algorithm>
#include <vector>

namespace regions {

namespace {

// Vertices are in no order that the processor can foresee.
constexpr std::int64_t corners_ahead = 24;

// Replaces each corner's vertex by its rank. A branch on whether it has been seen is unpredictable, so it is always noted as if
// it were new, and the note is kept only if it is.
void rank_vertices(Part& part, std::vector<SharedVertex>& shared) {
  Collected& collected = *part.collected;
  std::int64_t* used = part.used.extend(std::size_t(part.end.vertices - part.begin.vertices) + 1);
  std::int64_t rank = 0;
  for (std::int64_t corner = part.begin.corners; corner < part.end.corners; ++corner) {
    if (corner + corners_ahead < part.end.corners)
      __builtin_prefetch(&collected.vertices[collected.corners[corner + corners_ahead]], 1);
    const std::int64_t index = collected.representative(collected.corners[corner]);
    CollectedVertex& vertex = collected.vertices[index];
    bool is_new = vertex.same == CollectedVertex::itself;
    std::int64_t own;
    if (vertex.entry() < 0) {
      own = is_new ? rank : vertex.number();
      vertex.set_number(own);
    } else {
      SharedVertex& guest = shared[std::size_t(vertex.entry())];
      if (guest.rank < 0) {
        is_new = true;
        guest.rank = rank;
        part.guests.push_back(vertex.entry());
      }
      own = guest.rank;
    }
    collected.corners[corner] = own;
    used[rank] = index;
    rank += is_new;
  }
  part.used.shrink(std::size_t(rank));
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
  return std::int64_t(part.used.size()) - others;
}

class Writing {
 public:
  Writing(Whole& whole, Part& part, const ComplexArrays& arrays)
      : whole_(whole),
        part_(part),
        collected_(*part.collected),
        arrays_(arrays),
        shift_(part.shift),
        dimension_one_(part.collected->facet_corners == 1),
        facet_(part.first_facet) {}

  void run() {
    write_vertices();
    std::int64_t begin = part_.begin.corners;
    for (std::int64_t region = part_.begin.regions; region < part_.end.regions; ++region) {
      const std::int64_t end = collected_.offsets[region + 1];
      arrays_.cell_offsets[region + shift_.regions + 1] = end + shift_.corners;
      if (arrays_.cell_vertices != collected_.corners.data())
        for (std::int64_t corner = begin; corner < end; ++corner)
          arrays_.cell_vertices[corner + shift_.corners] = part_.used[collected_.corners[corner]];
      for (std::int64_t facet = begin; facet < end; ++facet)
        write_facet(facet, dimension_one_ ? facet : facet + 1 < end ? facet + 1 : begin, region + shift_.regions);
      begin = end;
    }
    if (arrays_.patterns != collected_.patterns.data()) part_.copy_patterns(arrays_.patterns);
    if (collected_.map_numbers > 0) part_.copy_maps(arrays_.maps, arrays_.map_errors);
  }

 private:
  // Replaces each vertex that the part uses by its number, too.
  void write_vertices() {
    const int dimension = collected_.dimension;
    std::int64_t number = part_.first_vertex;
    whole_.for_each_vertex_of(part_, [&](std::int64_t rank, const CollectedVertex& vertex) {
      std::copy_n(vertex.position, dimension, arrays_.vertices + number * dimension);
      arrays_.vertex_errors[number] = vertex.error;
      part_.used[rank] = number++;
    });
    for (const std::int64_t guest : part_.guests) {
      const SharedVertex& here = whole_.shared[std::size_t(guest)];
      part_.used[here.rank] = here.number;
    }
  }

  // Writes a facet, with the corner where it ends, once for both regions: the second region only notes its own side, if that is
  // in this part.
  void write_facet(std::int64_t index, std::int64_t last, std::int64_t region) {
    const std::int64_t twin = collected_.links[index].twin();
    if (is_name(twin) && part_of(twin) < part_.index) return;
    if (twin >= 0 && twin < index) {
      const std::int64_t facet = arrays_.cell_facets[twin + shift_.corners];
      arrays_.cell_facets[index + shift_.corners] = facet;
      arrays_.facet_regions[2 * facet + 1] = region;
      return;
    }
    const std::int64_t facet = facet_++;
    arrays_.cell_facets[index + shift_.corners] = facet;
    arrays_.facet_kinks[facet] = collected_.boundaries[index].boundary();
    arrays_.facet_regions[2 * facet] = region;
    arrays_.facet_regions[2 * facet + 1] = -1;
    std::int64_t* ends = arrays_.facet_vertices + facet * collected_.facet_corners;
    ends[0] = arrays_.cell_vertices[index + shift_.corners];
    if (!dimension_one_) ends[1] = arrays_.cell_vertices[last + shift_.corners];
  }

  Whole& whole_;
  Part& part_;
  Collected& collected_;
  const ComplexArrays& arrays_;
  const Extents shift_;
  const bool dimension_one_;  // facets are corners
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
    sizes.facets += part.end.corners - part.begin.corners - part.matched;
  }
  sizes.regions = whole.size().regions;
  sizes.corners = whole.size().corners;
}

bool lend(Whole& whole, ComplexArrays& arrays) {
  if (whole.parts.size() != 1) return false;
  const Part& part = whole.parts.front();
  Collected& collected = *part.collected;
  if (part.begin.corners > 0 || std::size_t(part.end.corners) < collected.corners.size() || !part.guests.empty()) return false;
  static_assert(sizeof(FacetLink) == sizeof(std::int64_t), "links become an array of integers");
  arrays.cell_offsets = collected.offsets.data();
  arrays.cell_vertices = collected.corners.data();
  arrays.cell_facets = &collected.links.data()->link;
  arrays.patterns = collected.patterns.data();
  return true;
}

void give(Whole& whole, OwnedMemory* memory) {
  Collected& collected = *whole.parts.front().collected;
  memory[0] = collected.offsets.give();
  memory[1] = collected.corners.give();
  memory[2] = collected.links.give();
  memory[3] = collected.patterns.give();
}

void assemble(Whole& whole, const ComplexArrays& arrays, int workers) {
  arrays.cell_offsets[0] = 0;
  whole.with_each_part(workers, [&](Part& part) { Writing(whole, part, arrays).run(); });
  write_facets_across(whole, arrays);
}

}  // namespace regions
