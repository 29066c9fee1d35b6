// SPDX-License-Identifier: MIT
// Which part of the recursion is requested?
//
// The recursion (kernel/subdivide.hpp) is the same on every machine and in every run. Therefore a path names a node: the
// numbers of the children on the way to it, the first child being 0. The empty path is the whole domain. A section
// has the results from the node `begin` on, and before the node `end`, in the order of the recursion. Going to a node
// costs a cut and a restriction for each step, and nothing for the skipped parts.
// Invariant: the next section can begin where one ends, and all sections together have the results of one run. A cell is
// counted in the section that has the first of its leaves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

namespace regions {

using Path = std::vector<int>;

// A cell whose regions a sweep finds (kernel/region_sweep.hpp) has no children. In a path, its regions have numbers from here on.
constexpr int first_region_in_path = 1 << 16;

inline std::string text_of(const Path& path) {
  std::string text = "(";
  for (const int child : path) text += std::to_string(child) + ",";
  return text + ")";
}

[[noreturn]] inline void refuse(const Path& path) {
  throw std::invalid_argument("the recursion has no node with the path " + text_of(path));
}

// Returns whether only first children follow on a path.
inline bool is_first_from(const Path& path, std::size_t step) {
  return std::all_of(path.begin() + std::ptrdiff_t(step), path.end(), [](int child) { return child == 0; });
}

// The highest of all nodes that begin with the same leaf.
inline Path highest(Path path) {
  while (!path.empty() && path.back() == 0) path.pop_back();
  return path;
}

struct Section {
  Path begin;
  bool ends = false;  // true: the section ends before `end`; false: it ends where the recursion ends
  Path end;
  // It stops after this many regions, or a few more.
  std::int64_t most = std::numeric_limits<std::int64_t>::max();

  // Results: whether it was stopped, and where the next section begins.
  bool more = false;
  Path next;

  bool is_all() const { return begin.empty() && !ends && most == std::numeric_limits<std::int64_t>::max(); }

  void require_order() const {
    if (ends && end < begin)
      throw std::invalid_argument("a section cannot end at " + text_of(end) + ", before " + text_of(begin) + " where it begins");
  }
};

}  // namespace regions
