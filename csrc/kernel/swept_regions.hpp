// SPDX-License-Identifier: MIT
// How do the parts that a sweep leaves (region_sweep.hpp) become regions?
//
// Each part is a region, and the two parts on both sides of an edge know it by the same number, so no facets or vertices have
// to be matched. Edges on the cell's boundary are listed in order, and are matched when the cell is joined to its neighbour.
// Cost: a few operations for each facet.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "cells/polygon.hpp"
#include "collect/collected.hpp"
#include "kernel/swept_maps.hpp"
#include "kernel/swept_parts.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class SweptRegions {
 public:
  static constexpr int D = Polygon::dimension;
  using Parts = SweptParts;

  // Collects the parts from one place in their order on up to another one; the cell's boundary is listed only if these are all.
  // `pattern` has the pieces of units that are decided in the whole cell.
  template <class Collector>
  void collect(Parts& parts, const Network& network, const LocalNetwork<D>& local, int layers, const KeptRows* blocks,
               const Polygon& cell, const std::uint8_t* pattern, FacetRun* traces, int first, int last, Collector& collector) {
    name_lines(network, local, layers, blocks, cell);
    const std::size_t regions = std::size_t(last - first);
    const int* const begin = parts.in_order().data() + first;
    const int* const end = begin + regions;
    std::size_t corners = 0;
    for (const int* number = begin; number < end; ++number) corners += std::size_t(parts.part(*number).count);
    Collected& into = collector.collected();
    number_vertices(parts, cell, into);
    sides_.assign(std::size_t(parts.edge_count), FacetLink::none);
    along_.resize(std::size_t(parts.vertices.count()));

    std::int64_t matched = 0;
    std::int64_t facet = std::int64_t(into.corners.size());
    std::int64_t* ids = into.corners.extend(corners);
    FacetLink* links = into.links.extend(corners) - facet;
    FacetBoundary* boundaries = into.boundaries.extend(corners);
    std::int64_t* ends = into.offsets.extend(regions);
    for (const int* number = begin; number < end; ++number) {
      const Parts::Part& part = parts.part(*number);
      for (int i = 0; i < part.count; ++i, ++facet) {
        const int start = part.corners[i];
        const Parts::Edge& edge = parts.edges[part.edges[i]];
        *ids++ = ids_[std::size_t(start)];
        *boundaries++ = {names_[edge.line], i + 1 == part.count};
        // It cannot be predicted which side comes first, so this is not a branch.
        std::int64_t& other = sides_[part.edges[i]];
        FacetLink nowhere;
        FacetLink& twin = *(other >= 0 ? links + other : &nowhere);
        links[facet] = {other};
        twin = {facet};
        matched += other >= 0;
        other = facet;
        if (edge.line < Parts::most_corners_of_cell) along_[std::size_t(start)] = {facet, part.corners[part.next(i)]};
      }
      *ends++ = facet;
    }
    into.matched += matched;
    if (last - first == parts.count()) list_boundary(cell, traces, links);
    write_patterns(parts, network, layers, blocks, pattern, begin, end, into);
    if (into.map_numbers > 0)
      maps_.write(network, local, layers, blocks, parts, begin, end, into.maps.extend(regions * into.map_numbers));
  }

 private:
  struct Along {
    std::int64_t facet;
    int end;
  };

  void name_lines(const Network& network, const LocalNetwork<D>& local, int layers, const KeptRows* blocks, const Polygon& cell) {
    names_.clear();
    for (int i = 0; i < cell.count; ++i) names_.push_back(cell.edges[i]->name);
    for (int b = 0; b < layers; ++b) {
      names_.resize(std::size_t(Parts::line_of(blocks[b], 0)));
      const Block<D>& block = local.blocks[b];
      const Layer& layer = network.layers[std::size_t(block.layer)];
      for (int r = 0; r < block.count; ++r) names_.push_back(layer.kink(block.rows[r]->unit, 0));
    }
  }

  void number_vertices(const Parts& parts, const Polygon& cell, Collected& into) {
    ids_.resize(std::size_t(parts.vertices.count()));
    for (int i = 0; i < cell.count; ++i) ids_[std::size_t(i)] = cell.vertices[i]->id;
    std::int64_t id = std::int64_t(into.vertices.size());
    CollectedVertex* vertex = into.vertices.extend(std::size_t(parts.vertices.count() - cell.count));
    for (int i = cell.count; i < parts.vertices.count(); ++i) {
      const SweptVertices::Corner& corner = parts.vertices[i];
      const double error = corner.slip == 0 ? corner.error : slack * (corner.error + corner.slip);
      *vertex++ = {{corner.x + 0.0, corner.y + 0.0}, error, CollectedVertex::itself};
      ids_[std::size_t(i)] = id++;
    }
  }

  // The facets along each edge of the cell, counter-clockwise.
  void list_boundary(const Polygon& cell, FacetRun* traces, FacetLink* links) {
    for (int edge = 0; edge < cell.count; ++edge) {
      const int last = edge + 1 == cell.count ? 0 : edge + 1;
      Along along = along_[std::size_t(edge)];
      traces[edge] = FacetRun::of(along.facet);
      while (along.end != last) {
        along = along_[std::size_t(along.end)];
        links[traces[edge].last] = {~along.facet};
        traces[edge].last = along.facet;
      }
    }
  }

  // A pattern is put together in words of 64 bits, from tables for a few rows each. No row of a swept cell is zero all over a part.
  void write_patterns(const Parts& parts, const Network& network, int layers, const KeptRows* blocks, const std::uint8_t* pattern, const int* begin,
                      const int* end, Collected& into) {
    const std::size_t bytes = into.pattern_bytes;
    words_.assign((bytes + 7) / 8, 0);
    std::memcpy(words_.data(), pattern, bytes);
    groups_.clear();
    for (int b = 0; b < layers; ++b)
      for (int r = 0; r < blocks[b].count; ++r) {
        const Boundary kink = names_[std::size_t(Parts::line_of(blocks[b], r))];
        if (network.keeps_zeros) clear(kink + 8 * Boundary(network.pattern_bytes()));
        add_to_group(b, r, kink);
      }
    changed_ = words_;
    std::uint8_t* own = into.patterns.extend(std::size_t(end - begin) * bytes);
    for (const int* part = begin; part < end; ++part, own += bytes) {
      const std::uint32_t* signs = parts.signs_in(*part);
      for (const Group& group : groups_) changed_[group.word] = words_[group.word];
      for (auto group = groups_.begin(); group != groups_.end();) {
        const std::size_t word = group->word;
        std::uint64_t bits = 0;
        do bits |= group->words[signs[group->layer] >> group->first & (Group::combinations - 1)];
        while (++group != groups_.end() && group->word == word);
        changed_[word] |= bits;
      }
      std::memcpy(own, changed_.data(), bytes);
    }
  }

  // A few consecutive rows of one layer, whose kinks are in one word of a pattern; that word for each combination of their signs.
  struct Group {
    static constexpr int most_rows = 4;
    static constexpr int combinations = 1 << most_rows;
    std::size_t word;
    int layer;
    int first;
    int count;
    std::uint64_t words[combinations];
  };

  void add_to_group(int layer, int row, Boundary kink) {
    const std::size_t word = std::size_t(kink / 64);
    const std::uint64_t own = in_memory(bit(kink));
    clear(kink);
    if (groups_.empty() || groups_.back().layer != layer || groups_.back().word != word ||
        groups_.back().count == Group::most_rows)
      groups_.push_back({word, layer, row, 0, {}});
    Group& group = groups_.back();
    const int half = 1 << group.count++;
    for (int i = 0; i < half; ++i) group.words[half + i] = group.words[i] | own;
    // Signs of rows after the last one count for nothing.
    for (int i = 2 * half; i < Group::combinations; ++i) group.words[i] = group.words[i - 2 * half];
  }

  void clear(Boundary kink) { words_[std::size_t(kink / 64)] &= ~in_memory(bit(kink)); }

  static std::uint64_t bit(Boundary kink) { return std::uint64_t{1} << (kink % 64); }

  // With the lowest bits in the first byte, as in patterns.
  static std::uint64_t in_memory(std::uint64_t word) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return __builtin_bswap64(word);
#else
    return word;
#endif
  }

  std::vector<Boundary> names_;      // of lines
  std::vector<std::int64_t> ids_;    // of vertices
  std::vector<std::int64_t> sides_;  // of each edge, the facet that came first; or `none`
  std::vector<Along> along_;         // the edge of the cell's boundary that leaves each vertex on it
  std::vector<Group> groups_;
  std::vector<std::uint64_t> words_, changed_;  // of the pattern without undecided rows, and of a region's pattern
  SweptMaps maps_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
