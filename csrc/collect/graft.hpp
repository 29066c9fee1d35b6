// SPDX-License-Identifier: MIT
// How are subtrees merged into the whole that they were cut from?
//
// The recursion runs once more, from its root down to the nodes of the subtrees, and there each subtree is appended instead of
// being computed. So vertices, corners, facets and regions come in the order of a single thread, and the cells above are joined
// as usual. If subtrees are missing or incomplete, these cells stay open.
// Cost: the cells above the nodes, and one copy of everything; one subtree at a time is in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "collect/collect.hpp"
#include "collect/subtree.hpp"
#include "task/monitor.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <class Cell>
class Graft {
 public:
  using Trace = typename Cell::Trace;

  // Subtrees are in the order of their nodes.
  Graft(const Subtrees& subtrees, Collected& whole, Complex<Cell>& complex)
      : subtrees_(subtrees), whole_(whole), complex_(complex) {}

  // Appends the only subtree, which is everything.
  void append_all() { append(read_next(), {}, {}, whole_); }

  // Returns whether everything was closed.
  bool finish() const {
    if (next_ < subtrees_.nodes.size()) refuse(subtrees_.nodes[next_]);
    return !open_[0];
  }

  // ---- what Subdivision::run_above asks ----

  static constexpr bool leaves_swept_whole = false;

  bool takes(const Path& node, const Cell& cell, Trace* traces, bool decided) {
    const std::size_t depth = node.size();
    const std::int64_t placed = std::int64_t(whole_.vertices.size());
    if (depth > 0 && node.back() == 0) placed_[depth - 1].end = placed;
    placed_.resize(depth);
    placed_.push_back({placed, placed});
    open_.resize(depth);
    open_.push_back(false);
    if (!leads_to_next(node)) return leave_open(depth);
    if (subtrees_.nodes[next_].size() > depth) {
      if (decided) refuse(subtrees_.nodes[next_]);
      return false;
    }
    const Subtree subtree = read_next();
    const std::int64_t first = std::int64_t(whole_.corners.size());
    append(subtree, node, way(depth), whole_);
    complex_.count += subtree.region_count;
    if (subtree.edge_count == 0) return leave_open(depth);
    if (subtree.edge_count != cell.facet_count())
      throw std::invalid_argument("a part has another border than the cell with the path " + text_of(node));
    set_traces(subtree, first, traces);
    for (int edge = 0; edge < cell.facet_count(); ++edge) require_on(cell, cell.facet(edge), traces[edge].first);
    return true;
  }

  void leave(std::size_t depth, const Cell& cell, const Cut<Cell>& cut, Trace* traces) {
    if (open_[depth])
      leave_open(depth);
    else
      complex_.join(cell, cut, traces);
  }

 private:
  struct Range {
    std::int64_t begin;
    std::int64_t end;
  };

  bool leads_to_next(const Path& node) const {
    if (next_ == subtrees_.nodes.size()) return false;
    const Path& wanted = subtrees_.nodes[next_];
    return node.size() <= wanted.size() && std::equal(node.begin(), node.end(), wanted.begin());
  }

  Subtree read_next() {
    Subtree subtree;
    if (subtrees_.read(subtrees_.context, next_++, subtree) != 0) throw Interrupted();
    return subtree;
  }

  // Leaves open all cells that contain this position.
  bool leave_open(std::size_t depth) {
    open_[depth > 0 ? depth - 1 : 0] = true;
    return true;
  }

  // The vertices that were placed on the path to a node.
  std::vector<std::int64_t> way(std::size_t depth) const {
    std::vector<std::int64_t> vertices;
    for (std::int64_t vertex = 0; vertex < placed_[0].begin; ++vertex) vertices.push_back(vertex);
    for (std::size_t height = 0; height < depth; ++height)
      for (std::int64_t vertex = placed_[height].begin; vertex < placed_[height].end; ++vertex) vertices.push_back(vertex);
    return vertices;
  }

  // Checks that the first facet along an edge has the edge's boundary, and begins at its first corner, so that no subtree fits
  // in another one's position.
  void require_on(const Cell& cell, const FacetOfCell& edge, std::int64_t index) const {
    const std::int64_t corner = whole_.representative(whole_.corners[index]);
    if (whole_.boundaries[index].boundary() != edge.boundary || corner != whole_.representative(cell.vertices[edge.first]->id))
      throw std::invalid_argument("a part was cut from another place than the path " + text_of(subtrees_.nodes[next_ - 1]));
  }

  void set_traces(const Subtree& subtree, std::int64_t first, Trace* traces) {
    std::int64_t begin = 0;
    for (std::int64_t edge = 0; edge < subtree.edge_count; ++edge) {
      const std::int64_t end = subtree.border_ends[edge];
      for (std::int64_t i = begin; i + 1 < end; ++i)
        whole_.links[first + subtree.border[i]] = {~(first + subtree.border[i + 1])};
      traces[edge] = {first + subtree.border[begin], first + subtree.border[end - 1]};
      begin = end;
    }
  }

  const Subtrees& subtrees_;
  Collected& whole_;
  Complex<Cell>& complex_;
  std::size_t next_ = 0;
  std::vector<Range> placed_;  // by the cuts of the cells on the path
  std::vector<bool> open_;     // for these cells, whether something below is missing
};

}  // namespace REGIONS_TARGET
}  // namespace regions
