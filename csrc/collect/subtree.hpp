// SPDX-License-Identifier: MIT
// How is the result below one node of the recursion stored, or sent to another process?
//
// As plain arrays, from which it can be merged (collect/graft.hpp): vertices, beginning with those that were placed on the path
// to the node; regions as runs of corners; for each corner the facet from there to the next corner (in dimension one, the facet is
// the corner), with its twin. Facets without a twin lie on the boundary of the node's cell, and are listed along its edges.
// Invariant: vertices are in the order in which one thread would have placed them. United vertices are represented by
// the most accurate one, and by the first of several that are equally accurate, as in `Collected::unite`. Vertices on the
// path have the same coordinates, to the last bit, where the subtree was found and where it is merged. If they differ, the result is
// of another kernel or node, and is refused.
#pragma once

#include <cstdint>
#include <vector>

#include "collect/collected.hpp"
#include "collect/whole.hpp"
#include "task/section.hpp"

namespace regions {

// Facets along each edge of a cell, in order, one edge after the other; and the end of each edge.
struct Border {
  std::vector<std::int64_t> facets;
  std::vector<std::int64_t> ends;
};

// The arrays to write.
struct SubtreeArrays {
  double* vertices;             // [vertices, dimension]
  double* vertex_errors;        // [vertices]
  std::int64_t* same;           // [vertices] the representative of each, which represents itself
  std::int64_t* cell_offsets;   // [regions + 1]
  std::int64_t* cell_vertices;  // [corners]
  std::int64_t* cell_kinks;     // [corners]
  std::int64_t* cell_twins;     // [corners] the same facet in another region; or -1
  std::int64_t* border;         // [facets on the boundary]
  std::int64_t* border_ends;    // [edges of the node's cell]
  std::uint8_t* patterns;       // [regions, pattern_bytes]
};

// The same arrays, to be read.
struct Subtree {
  std::int64_t vertex_count;
  std::int64_t region_count;
  std::int64_t corner_count;
  std::int64_t edge_count;      // 0 if it is incomplete, or the whole domain
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

// Subtrees in the order of their nodes. Each is read when the recursion reaches its node, and is not used after the next read,
// so that only one at a time is in memory.
struct Subtrees {
  using Read = int (*)(void* context, std::size_t index, Subtree& subtree);  // a result other than 0 stops the work

  std::vector<Path> nodes;
  Read read;
  void* context;
};

void write(Whole& whole, const Border& border, const SubtreeArrays& arrays);

// Appends a subtree; `way` are the vertices that were placed on the path to `node`.
void append(const Subtree& subtree, const Path& node, const std::vector<std::int64_t>& way, Collected& whole);

}  // namespace regions
