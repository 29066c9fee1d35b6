// SPDX-License-Identifier: MIT
// How many regions do the lines of a polytope make in it?
//
// By deletion and restriction (Zaslavsky 1975): a row makes as many more regions as the rows before it make in the section of the cell
// where it is zero, a polytope of one dimension less. A face of dimension K is given by its vertices, each with the facets that it is on,
// its coordinates and the values of the rows; vertices of a section are interpolated on the edges that the row crosses.
//
//     regions(face, rows) = 1 without rows, 2 with one row, 1 + the number of distinct points with dimension 1, else
//     2 + sum over i >= 1 of regions(section of the face with row i, the earlier rows with both signs on it)
//
// Invariant: used only if rounded arithmetic proves every sign at every vertex, and the order of points on lines. If anything is not
// proven, the answer is `unknown`, and the recursion cuts the cell. General position is not assumed: if a row touches a face, two
// rows are equal, or three rows meet in one flat, a sign or an order is not proven.
//
// Proof of the errors. A vertex has a bound e >= the distance of its coordinates from the true ones. Lines::margin bounds the rounding of
// a row's values at places in the cell, and the row's error; steepness * e adds the vertex's error. On an edge (u, v) with values a and -b,
// each known within its bound, the distance of the true zero from the interpolated place is at most
//     max(e_u, e_v) + (error of the share, as in zero_between) * |u - v| + 5 u times the largest coordinate,
// as in placed_between. A row is affine, so interpolating its values adds no error but rounding, at most 5 u size at each of less than D
// levels, and (D + 3) u size <= margin: 6 D / (D + 3) margins are enough, with the growth of sizes by rounding. Values are those at the
// unrounded places; stored coordinates only give the lengths of edges.
// Cost: for each face and row, its edges; sections of many rows are copied together. Progress is reported on the way.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cells/cell.hpp"
#include "cells/facet_set.hpp"
#include "cells/share.hpp"
#include "rows/panel.hpp"
#include "task/monitor.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Above this number of vertices, edges of simple cells are found by a table.
constexpr int few_vertices = 48;

// Returns whether two vertices of a K-dimensional polytope are the ends of an edge, given the facets that each vertex is on.
inline bool are_adjacent(int K, const FacetSet* sets, int count, int u, int v, bool simple) {
  const FacetSet shared = sets[u] & sets[v];
  const int number = size_of(shared);
  if (simple) return number == K - 1;
  if (number < K - 1) return false;
  for (int w = 0; w < count; ++w)
    if (w != u && w != v && (sets[w] & shared) == shared) return false;
  return true;
}

template <class Cell>
class Flats {
 public:
  static constexpr int D = Cell::dimension;

  std::int64_t count(const Lines<D>& lines, const Cell& cell, std::int64_t most, Monitor* monitor) {
    if (lines.count == 1) return 2;
    const Arena::Mark mark = room_.mark();
    proven_ = true;
    most_ = most;
    monitor_ = monitor;
    dims_ = cell.dims;
    const std::int64_t found = counted(lines, cell);
    room_.release(mark);
    return proven_ ? found : unknown;
  }

 private:
  // A face. For each vertex its coordinates, and then the values of rows, in whole panels.
  struct Face {
    int count;
    int width;               // of a vertex's numbers
    const FacetSet* sets;    // [count]
    const double* numbers;   // [count, width]
    const double* error;     // [count]
    bool simple;
  };
  // The rows that have both signs on a face, by their columns among the numbers.
  struct Rows {
    int count;
    const int* columns;       // increasing
    const double* margin;     // [width]
    const double* steepness;  // [width]
  };
  // Where a row is zero on an edge.
  struct Crossed {
    int u;
    int v;
    double share;  // of the way from u to v
    double error;  // of the place
  };

  static int in_panels(int numbers) { return (numbers + rows_at_once - 1) / rows_at_once * rows_at_once; }

  std::int64_t fail() {
    proven_ = false;
    return 0;
  }

  std::int64_t counted(const Lines<D>& lines, const Cell& cell) {
    const int width = in_panels(dims_ + lines.count);
    double* numbers = room_.take<double>(std::size_t(cell.count) * std::size_t(width));
    double* error = room_.take<double>(std::size_t(cell.count));
    double* margin = room_.take<double>(2 * std::size_t(width) + rows_at_once);
    double* steepness = margin + width;
    int* columns = room_.take<int>(std::size_t(lines.count));
    std::fill_n(margin, 2 * width + rows_at_once, 0.0);
    for (int line = 0; line < lines.count; ++line) {
      columns[line] = dims_ + line;
      margin[dims_ + line] = (1 + 6.0 * dims_ / (dims_ + 3)) * lines.margin[line];
      steepness[dims_ + line] = lines.steepness[line];
    }
    reach_ = 0;
    for (int v = 0; v < cell.count; ++v) {
      const Vertex<D>& vertex = *cell.vertices[v];
      double* here = numbers + std::size_t(v) * std::size_t(width);
      std::fill_n(here + width - rows_at_once, rows_at_once, 0.0);
      for (int k = 0; k < dims_; ++k) {
        here[k] = vertex.position[k + 1];
        reach_ = std::max(reach_, std::fabs(vertex.position[k + 1]));
      }
      error[v] = vertex.error;
      for (int start = 0; start < lines.count; start += rows_at_once) {
        RowLanes at = load<RowLanes>(lines.value[0] + start);
        for (int k = 1; k <= dims_; ++k) at += load<RowLanes>(lines.value[k] + start) * vertex.position[k];
        const int first = dims_ + start;
        const RowLanes bound = load<RowLanes>(margin + first) + load<RowLanes>(steepness + first) * vertex.error;
        const RowMask known = (at > bound) | (at < -bound);
        for (int r = 0; r < std::min(rows_at_once, lines.count - start); ++r) {
          if (!known[r]) return fail();
          here[first + r] = at[r];
        }
      }
    }
    return regions_of<D>({cell.count, width, cell.sets, numbers, error, cell.simple}, {lines.count, columns, margin, steepness});
  }

  template <int K>
  std::int64_t regions_of(const Face& face, const Rows& rows) {
    if constexpr (varies<D> && K > 4)
      if (K > dims_) return regions_of<K - 1>(face, rows);
    return regions<K>(face, rows);
  }

  template <int K>
  std::int64_t regions(const Face& face, const Rows& rows) {
    if (rows.count < 2) return 1 + rows.count;
    if constexpr (K == 1) {
      return on_segment(face, rows);
    } else {
      const Arena::Mark mark = room_.mark();
      std::vector<int>& ends = ends_[K];
      const int edges = find_edges<K>(face, ends);
      // A simple polytope has this many edges; another number means a wrong set of facets.
      if (face.simple && 2 * edges != face.count * K) return fail();
      double* lengths = room_.take<double>(std::size_t(edges));
      measure(face, ends.data(), edges, lengths);
      Crossed* crossed = room_.take<Crossed>(std::size_t(edges));
      int* which = room_.take<int>(std::size_t(edges) + 1);
      std::int64_t total = 2;  // of the first row
      const Arena::Mark inner = room_.mark();
      for (int i = 1; i < rows.count && proven_; ++i) {
        const int found = find_crossed(face, rows, i, ends.data(), lengths, edges, which, crossed);
        if (!proven_ || found < K) return fail();
        if constexpr (K == 2) {
          if (found != 2) return fail();
          total += on_chord(face, rows, i, crossed);
        } else {
          total += in_section<K>(face, rows, i, crossed, found);
        }
        room_.release(inner);
        if (K == dims_ && total > most_) break;
      }
      room_.release(mark);
      return total;
    }
  }

  template <int K>
  int find_edges(const Face& face, std::vector<int>& ends) {
    ends.clear();
    const auto add = [&](int u, int v) {
      ends.push_back(u);
      ends.push_back(v);
    };
    if (face.simple && face.count > few_vertices) {
      const Arena::Mark mark = room_.mark();
      FacetSetTable table(std::size_t(face.count) * K, room_);
      for (int v = 0; v < face.count; ++v)
        for_each_facet(face.sets[v], [&](int f) {
          const int u = table.find_or_put(face.sets[v] & ~only(f), v);
          if (u >= 0) add(u, v);
        });
      room_.release(mark);
      return int(ends.size() / 2);
    }
    for (int u = 0; u + 1 < face.count; ++u) {
      monitor_->work(face.count / rows_at_once);
      for (int v = u + 1; v < face.count; ++v)
        if (are_adjacent(K, face.sets, face.count, u, v, face.simple)) add(u, v);
    }
    return int(ends.size() / 2);
  }

  // The lengths of edges, in the largest coordinate.
  void measure(const Face& face, const int* ends, int edges, double* lengths) const {
    for (int e = 0; e < edges; ++e) {
      const double* one = face.numbers + std::size_t(ends[2 * e]) * std::size_t(face.width);
      const double* other = face.numbers + std::size_t(ends[2 * e + 1]) * std::size_t(face.width);
      double length = 0;
      for (int k = 0; k < dims_; ++k) length = std::max(length, std::fabs(one[k] - other[k]));
      lengths[e] = length;
    }
  }

  // Where row i is zero on the edges, as `zero_between` and `placed_between` find it.
  int find_crossed(const Face& face, const Rows& rows, int i, const int* ends, const double* lengths, int edges, int* which,
                   Crossed* crossed) {
    const std::size_t width = std::size_t(face.width);
    const int column = rows.columns[i];
    const double* value = face.numbers + column;
    int found = 0;
    for (int e = 0; e < edges; ++e) {
      which[found] = e;
      found += (value[std::size_t(ends[2 * e]) * width] > 0) != (value[std::size_t(ends[2 * e + 1]) * width] > 0);
    }
    RowMask unusable{};
    for (int start = 0; start < found; start += rows_at_once) {
      const auto end = [&](int r, int which_end) { return ends[2 * which[std::min(start + r, found - 1)] + which_end]; };
      const RowLanes at_start = absolute(side_by_side([&](int r) { return value[std::size_t(end(r, 0)) * width]; }));
      const RowLanes at_end = absolute(side_by_side([&](int r) { return value[std::size_t(end(r, 1)) * width]; }));
      const RowLanes start_error = side_by_side([&](int r) { return face.error[end(r, 0)]; });
      const RowLanes end_error = side_by_side([&](int r) { return face.error[end(r, 1)]; });
      const RowLanes length = side_by_side([&](int r) { return lengths[which[std::min(start + r, found - 1)]]; });
      const RowLanes worse = start_error > end_error ? start_error : end_error;
      const RowLanes bound = rows.margin[column] + rows.steepness[column] * worse;
      const RowLanes sum = at_start + at_end;
      const RowLanes certain = sum - 2 * bound;
      const RowLanes share = at_start / sum;
      const RowLanes share_error = 1.01 * (bound / certain + 4 * unit_roundoff);
      unusable |= ~((certain > 0) & (sum < INFINITY) & (share_error < 0x1p-6));
      const RowLanes error = 1.01 * (worse + share_error * length + 5 * unit_roundoff * reach_) + room_for_underflow;
      for (int r = 0; r < std::min(rows_at_once, found - start); ++r) crossed[start + r] = {end(r, 0), end(r, 1), share[r], error[r]};
    }
    for (int r = 0; r < rows_at_once; ++r)
      if (unusable[r]) proven_ = false;
    return found;
  }

  // Numbers at a place, from one column on.
  static RowLanes between(const Face& face, const Crossed& at, int column) {
    const RowLanes start = load<RowLanes>(face.numbers + std::size_t(at.u) * std::size_t(face.width) + column);
    return start + at.share * (load<RowLanes>(face.numbers + std::size_t(at.v) * std::size_t(face.width) + column) - start);
  }

  // The regions that the rows before row i make on the chord (between these ends) that it cuts from a polygon.
  std::int64_t on_chord(const Face& face, const Rows& rows, int i, const Crossed* ends) {
    shares_.clear();
    int k = 0;
    for (int start = 0; start < face.width && k < i; start += rows_at_once) {
      if (rows.columns[k] >= start + rows_at_once) continue;
      const RowLanes margin = load<RowLanes>(rows.margin + start);
      const RowLanes steepness = load<RowLanes>(rows.steepness + start);
      RowLanes value[2], bound[2];
      RowMask known[2];
      for (int end = 0; end < 2; ++end) {
        value[end] = between(face, ends[end], start);
        bound[end] = margin + steepness * ends[end].error;
        known[end] = (value[end] > bound[end]) | (value[end] < -bound[end]);
      }
      const RowMask crosses = (value[0] > 0) ^ (value[1] > 0);
      const RowMask both = known[0] & known[1];
      for (; k < i && rows.columns[k] < start + rows_at_once; ++k) {
        const int r = rows.columns[k] - start;
        if (!both[r]) return fail();
        if (!crosses[r]) continue;
        shares_.push_back(zero_between({value[0][r], bound[0][r]}, {value[1][r], bound[1][r]}));
        if (!shares_.back().usable()) return fail();
      }
    }
    return shares_.size() < 2 || all_distinct(shares_) ? 1 + std::int64_t(shares_.size()) : fail();
  }

  std::int64_t on_segment(const Face& face, const Rows& rows) {
    shares_.clear();
    for (int k = 0; k < rows.count; ++k) {
      const int column = rows.columns[k];
      const double* value = face.numbers + column;
      const double margin = rows.margin[column];
      const double steepness = rows.steepness[column];
      shares_.push_back(zero_between({value[0], margin + steepness * face.error[0]}, {value[face.width], margin + steepness * face.error[1]}));
      if (!shares_.back().usable()) return fail();
    }
    return all_distinct(shares_) ? 1 + std::int64_t(rows.count) : fail();
  }

  // The regions that the rows before row i make in its section of a face.
  template <int K>
  std::int64_t in_section(const Face& face, const Rows& rows, int i, const Crossed* crossed, int found) {
    const int width = in_panels(rows.columns[i - 1] + 1);
    monitor_->work(found * (width / rows_at_once));
    FacetSet* sets = room_.take<FacetSet>(std::size_t(found));
    double* error = room_.take<double>(std::size_t(found));
    double* numbers = room_.take<double>(std::size_t(found) * std::size_t(width));
    int* columns = room_.take<int>(std::size_t(i));
    for (int w = 0; w < found; ++w) {
      sets[w] = face.sets[crossed[w].u] & face.sets[crossed[w].v];
      error[w] = crossed[w].error;
    }
    int kept = 0;
    int k = 0;
    for (int start = 0; start < width; start += rows_at_once) {
      const RowLanes margin = load<RowLanes>(rows.margin + start);
      const RowLanes steepness = load<RowLanes>(rows.steepness + start);
      RowMask above{}, below{}, open{};
      for (int w = 0; w < found; ++w) {
        const RowLanes value = between(face, crossed[w], start);
        store(numbers + std::size_t(w) * std::size_t(width) + start, value);
        const RowLanes bound = margin + steepness * error[w];
        const RowMask positive = value > bound;
        const RowMask negative = value < -bound;
        above |= positive;
        below |= negative;
        open |= ~(positive | negative);
      }
      const RowMask crosses = above & below;
      for (; k < i && rows.columns[k] < start + rows_at_once; ++k) {
        const int r = rows.columns[k] - start;
        if (open[r]) return fail();
        if (crosses[r]) columns[kept++] = rows.columns[k];
      }
    }
    const Face section{found, width, sets, numbers, error, face.simple};
    const Rows crossing{kept, columns, rows.margin, rows.steepness};
    return kept < 2 || in_panels(dims_ + kept) == width ? regions<K - 1>(section, crossing) : in_narrower<K - 1>(section, crossing);
  }

  // The same for a face that few rows still cut: first copies these rows side by side.
  template <int K>
  std::int64_t in_narrower(const Face& face, const Rows& rows) {
    const int width = in_panels(dims_ + rows.count);
    double* margin = room_.take<double>(2 * std::size_t(width));
    double* steepness = margin + width;
    double* numbers = room_.take<double>(std::size_t(face.count) * std::size_t(width));
    int* columns = room_.take<int>(std::size_t(rows.count));
    std::fill_n(margin, 2 * width, 0.0);
    for (int k = 0; k < rows.count; ++k) {
      margin[dims_ + k] = rows.margin[rows.columns[k]];
      steepness[dims_ + k] = rows.steepness[rows.columns[k]];
      columns[k] = dims_ + k;
    }
    for (int v = 0; v < face.count; ++v) {
      const double* from = face.numbers + std::size_t(v) * std::size_t(face.width);
      double* to = numbers + std::size_t(v) * std::size_t(width);
      std::fill_n(to + width - rows_at_once, rows_at_once, 0.0);
      std::copy_n(from, dims_, to);
      for (int k = 0; k < rows.count; ++k) to[dims_ + k] = from[rows.columns[k]];
    }
    return regions<K>({face.count, width, face.sets, numbers, face.error, face.simple}, {rows.count, columns, margin, steepness});
  }

  Arena room_;
  Monitor* monitor_ = nullptr;
  std::int64_t most_ = 0;  // regions that are requested
  Dims<D> dims_;
  std::vector<int> ends_[D + 1];  // of the edges of a face of each dimension
  bool proven_ = true;
  double reach_ = 0;  // the largest coordinate of the cell's vertices
  std::vector<Share> shares_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
