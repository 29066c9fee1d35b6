// SPDX-License-Identifier: MIT
// How is what was found below one node of the recursion kept, or sent to somebody else?
//
// As plain arrays, from which it can be put in its place (collect/graft.hpp): vertices, those first that were placed on the way
// to the node; regions as runs of corners; at each corner the facet from there to the next corner (in dimension one, at it),
// with its twin. The facets without one lie on the border of the node's cell, and are listed along its edges.
// Invariant: vertices are in the order in which one thread would have placed them. Of several that are united the best
// known one stands for all, of equally well known ones the first, as in `Collected::unite`. Those on the way have the same
// numbers, to the last bit, where the subtree was found and where it is put: what another kernel found, or what is below
// another node, is refused by that.
#pragma once

#include <cstdint>
#include <vector>

#include "collect/collected.hpp"
#include "collect/whole.hpp"
#include "task/section.hpp"

namespace regions {

// Facets along each edge of a cell, in order, all edges one after the other; where each edge's end.
struct Border {
  std::vector<std::int64_t> facets;
  std::vector<std::int64_t> ends;
};

// Where to write.
struct SubtreeArrays {
  double* vertices;             // [vertices, dimension]
  double* vertex_errors;        // [vertices]
  std::int64_t* same;           // [vertices] the one that stands for it, which stands for itself
  std::int64_t* cell_offsets;   // [regions + 1]
  std::int64_t* cell_vertices;  // [corners]
  std::int64_t* cell_kinks;     // [corners]
  std::int64_t* cell_twins;     // [corners] of the facet, the same one in another region; or -1
  std::int64_t* border;         // [facets on the border]
  std::int64_t* border_ends;    // [edges of the node's cell]
  std::uint8_t* patterns;       // [regions, pattern_bytes]
};

// The same arrays, to be read.
struct Subtree {
  std::int64_t vertex_count;
  std::int64_t region_count;
  std::int64_t corner_count;
  std::int64_t edge_count;      // 0 where it is not complete, or the whole domain
  const double* vertices;
  const double* vertex_errors;
  const std::int64_t* same;
  const std::int64_t* cell_offsets;
  const std::int64_t* cell_vertices;
  const std::int64_t* cell_kinks;
  const std::int64_t* cell_twins;
  const std::int64_t* border;
  const std::int64_t* border_ends;
  const std::uint8_t* patterns;
};

// Subtrees in the order of their nodes. Each is read when the recursion reaches its node, and is not used after the next read, so
// that one at a time has to be in memory.
struct Subtrees {
  using Read = int (*)(void* context, std::size_t index, Subtree& subtree);  // a result other than 0 stops the work

  std::vector<Path> nodes;
  Read read;
  void* context;
};

void write(Whole& whole, const Border& border, const SubtreeArrays& arrays);

// Behind what is there already; `way` are the vertices that were placed on the way to `node`.
void append(const Subtree& subtree, const Path& node, const std::vector<std::int64_t>& way, Collected& whole);

}  // namespace regions
