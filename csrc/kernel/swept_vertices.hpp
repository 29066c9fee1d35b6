// SPDX-License-Identifier: MIT
// What is known at the corners of the parts in a sweep that keeps regions (region_sweep.hpp)?
//
// A matrix product gives the rows of a layer their values at all corners. Everything at a new corner lies between two others.
// Invariant: values refer to a point near the true corner, and hold for each part with this corner, extended to that point.
// Known are the point's position, the outputs of lower layers, and the values of the rows at work, each with a bound; and how
// far it is from the true corner. Signs are those at the true corner. Only distances "across" a line are Euclidean.
// If there is one layer, the forms of all lines are known, and corners are placed by them, as where cells are cut.
// The proof is in docs/error-bounds.md, "The sweep over a cell".
// Cost: rows x columns for each corner, and a few operations on vectors of rows for each new corner.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cells/polygon.hpp"
#include "kernel/kept_rows.hpp"
#include "kernel/swept_points.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct alignas(64) KeptCorner {
  double x, y;
  double slip;             // distance of this position from the point where values are known
  double error;            // distance of that point from the true corner
  double steps;            // number of interpolations that outputs of lower layers went through since they were charged
  std::uint64_t positive;  // rows at work that are positive at it
  std::uint64_t zero;      // rows that are zero at it
};

class SweptVertices : public SweptPoints<KeptCorner> {
 public:
  using Corner = KeptCorner;

  // The length of a row's gradient in a part.
  struct Slope {
    double largest;   // at least the larger slope along a coordinate
    double steepest;  // at least the Euclidean length
    double least;     // at most the Euclidean length
  };

  int count() const { return vertex_count; }
  const Corner& operator[](int vertex) const { return vertices[std::size_t(vertex)]; }

  int append(const Vertex<2>& corner) {
    const int vertex = new_vertex();
    vertices[std::size_t(vertex)] = {corner.position[1], corner.position[2], 0, corner.error, 0, 0, 0};
    return vertex;
  }

  // A bound on the value at the point near a corner where a row is zero.
  double miss(int vertex, int row) { return bounds_of(vertex)[row]; }

  // The values of a layer's rows at all vertices; false if a sign is not proven.
  bool evaluate(KeptRows& rows) {
    return SweptPoints::evaluate(rows, [&](int row, const KeptCorner& vertex) {
      const RowLanes bound = load<RowLanes>(rows.rounding + row) + load<RowLanes>(rows.reaches[0] + row) * std::fabs(vertex.x) +
                             load<RowLanes>(rows.reaches[1] + row) * std::fabs(vertex.y) +
                             load<RowLanes>(rows.steepness + row) * vertex.slip + load<RowLanes>(rows.step + row) * vertex.steps;
      return BoundAndDoubt{bound, bound + load<RowLanes>(rows.gradients + row) * vertex.error};
    });
  }

  // The outputs of a layer's units at all vertices, for the layers above. Returns the largest number of steps, which the caller
  // charges to lower layers.
  __attribute__((noinline)) double set_outputs(KeptRows& rows) {
    std::fill_n(rows.largest_outputs, rows.room, 0.0);
    std::fill_n(rows.output_errors, rows.room, 0.0);
    double steps = 0;
    for (int v = 0; v < vertex_count; ++v) {
      double* outputs = outputs_of(v) + rows.first_output;
      const double* values = values_of(v);
      const double* bounds = bounds_of(v);
      for (int r = 0; r < rows.room; r += rows_at_once) {
        const RowLanes value = load<RowLanes>(values + r);
        const RowLanes error = load<RowLanes>(bounds + r);
        RowLanes output = value > 0 ? value : RowLanes{};
        if (!rows.relu)
          output = value > 0 ? load<RowLanes>(rows.slopes[1] + r) * value + load<RowLanes>(rows.offsets[1] + r)
                             : load<RowLanes>(rows.slopes[0] + r) * value + load<RowLanes>(rows.offsets[0] + r);
        store(outputs + r, output);
        const RowLanes largest = load<RowLanes>(rows.largest_outputs + r);
        store(rows.largest_outputs + r, absolute(output) > largest ? absolute(output) : largest);
        const RowLanes most = load<RowLanes>(rows.output_errors + r);
        store(rows.output_errors + r, error > most ? error : most);
      }
      steps = std::max(steps, vertices[std::size_t(v)].steps);
      vertices[std::size_t(v)].steps = 0;
    }
    if (!rows.relu)
      for (int r = 0; r < rows.count; ++r)
        rows.output_errors[r] = slack * (rows.output_errors[r] * rows.steepest[r] + rows.output_error);
    return steps;
  }

  // From the values at two points on one edge of a part, where the row has opposite signs, and at either of two further corners.
  Slope slope_in_part(const KeptRows& rows, int row, int start, int end, int third, int fourth) {
    const Corner& from = vertices[std::size_t(start)];
    const double x = vertices[std::size_t(end)].x - from.x;
    const double y = vertices[std::size_t(end)].y - from.y;
    const auto area_with = [&](int corner) {
      return x * (vertices[std::size_t(corner)].y - from.y) - y * (vertices[std::size_t(corner)].x - from.x);
    };
    // The farther one. It cannot be predicted which, so this is not a branch.
    const double of_third = area_with(third);
    const double of_fourth = area_with(fourth);
    const double size = std::fabs(of_third) > 0 ? std::fabs(of_third) : 0;
    const bool is_fourth = std::fabs(of_fourth) > size;
    const double area = is_fourth ? of_fourth : of_third;
    const int apex = is_fourth ? fourth : third;
    const double other_x = vertices[std::size_t(apex)].x - from.x;
    const double other_y = vertices[std::size_t(apex)].y - from.y;
    const double change = values_of(end)[row] - values_of(start)[row];
    const double other_change = values_of(apex)[row] - values_of(start)[row];
    // Each change is off by two bounds, by rounding, and by the slips of its ends.
    const double reach = std::max(std::fabs(x), std::fabs(y)) + std::max(std::fabs(other_x), std::fabs(other_y));
    const double most = rows.gradients[row];
    if (!(std::fabs(area) > 0x1p-30 * (reach * reach) + 0x1p-900)) return {most, most, 0};
    const double slip = std::max({from.slip, vertices[std::size_t(end)].slip, vertices[std::size_t(apex)].slip});
    const double doubt = 2 * std::max({bounds_of(start)[row], bounds_of(end)[row], bounds_of(apex)[row]}) +
                         4 * unit_roundoff * (std::fabs(change) + std::fabs(other_change)) + 2 * most * slip;
    const double along_x = (change * other_y - other_change * y) / area;
    const double along_y = (other_change * x - change * other_x) / area;
    const double rounding = 16 * unit_roundoff * reach * reach * (std::fabs(along_x) + std::fabs(along_y));
    const double error = slack * (doubt * reach + rounding) / std::fabs(area) + room_for_underflow;
    const double length = std::sqrt(along_x * along_x + along_y * along_y);
    const double largest = slack * (std::max(std::fabs(along_x), std::fabs(along_y)) + error);
    const double steepest = slack * (length + 1.5 * error);
    return {largest < most ? largest : most, steepest < most ? steepest : most, length < INFINITY ? length - 1.5 * error : 0};
  }

  // A lower bound on the Euclidean length of a row's gradient, from two points where it has opposite signs; or `known`, if that
  // is larger.
  double least_slope(int row, int start, int end, double known) {
    const Corner& from = vertices[std::size_t(start)];
    const Corner& to = vertices[std::size_t(end)];
    const double change = (std::fabs(values_of(start)[row]) - bounds_of(start)[row]) +
                          (std::fabs(values_of(end)[row]) - bounds_of(end)[row]);
    // Usually `known` is about the slope along the gradient, and squares show that it is larger, without a root and a quotient.
    const double x = from.x - to.x;
    const double y = from.y - to.y;
    const double square = (known * known) * (x * x + y * y);
    if (change * change < square && square < INFINITY && known > 0x1p-500) return known;
    return std::max(known, change / length_between(from, to));
  }

  // The vertex where a row is zero on an edge, if the forms of both lines are known: the vertex that cutting a cell makes. -1 if it
  // may be on other lines, too, or is not placed well.
  __attribute__((noinline)) int meeting(KeptRows& rows, int row, int start, int end, const Facet<2>& edge, const Facet<2>& line) {
    if (vertex_count == most_vertices) return -1;
    const int made = new_vertex();
    Corner& vertex = vertices[std::size_t(made)];
    const Corner& from = vertices[std::size_t(start)];
    const Corner& to = vertices[std::size_t(end)];
    Vertex<2> cut;
    Polygon::settle(edge, line, cut);
    const double length = std::max(std::fabs(from.x - to.x), std::fabs(from.y - to.y));
    if (!(cut.error < placed * length)) return -1;
    vertex = {cut.position[1], cut.position[2], 0, cut.error, 0, 0, (from.zero & to.zero) | rows.same[row]};
    std::uint64_t open = 0;
    double* values = values_of(made);
    for (int r = 0; r < rows.room; r += rows_at_once) {
      const RowLanes value = load<RowLanes>(rows.forms + r) + load<RowLanes>(rows.forms + rows.room + r) * vertex.x +
                             load<RowLanes>(rows.forms + 2 * rows.room + r) * vertex.y;
      const RowLanes doubt = load<RowLanes>(rows.rounding + r) + load<RowLanes>(rows.reaches[0] + r) * std::fabs(vertex.x) +
                             load<RowLanes>(rows.reaches[1] + r) * std::fabs(vertex.y) +
                             slack * (load<RowLanes>(rows.gradients + r) * vertex.error);
      store(values + r, value);
      vertex.positive |= bits_of_rows_above(value, RowLanes{}) << r;
      open |= (all_bits ^ bits_of_rows_above(absolute(value), doubt)) << r;
    }
    if ((open & ~vertex.zero) != 0) return -1;
    vertex.positive &= ~vertex.zero;
    rows.proven += rows.count - __builtin_popcountll(vertex.zero);
    rows.zeros += __builtin_popcountll(rows.same[row]) - 1;
    return made;
  }

  // The vertex where a row is zero on an edge, or -1 if it may be on other lines, too. The edge is at most `across` away from its
  // true line.
  __attribute__((noinline)) int between(KeptRows& rows, int row, int start, int end, double across, const Slope& slope) {
    if (vertex_count == most_vertices) return -1;
    const int made = new_vertex();
    Corner& vertex = vertices[std::size_t(made)];
    const Corner& from = vertices[std::size_t(start)];
    const Corner& to = vertices[std::size_t(end)];
    const double of_from = std::fabs(values_of(start)[row]);
    const double of_to = std::fabs(values_of(end)[row]);
    const double bound_of_from = bounds_of(start)[row];
    const double bound_of_to = bounds_of(end)[row];
    const double t = of_from / (of_from + of_to);
    const double rest = 1 - t;
    vertex.x = from.x + (to.x - from.x) * t;
    vertex.y = from.y + (to.y - from.y) * t;
    const double size = std::max({std::fabs(from.x), std::fabs(from.y), std::fabs(to.x), std::fabs(to.y)});
    const double distance = std::max(std::fabs(from.x - to.x), std::fabs(from.y - to.y));
    vertex.slip = slack * (from.slip * rest + to.slip * t + unit_roundoff * (size + 2 * distance)) + room_for_underflow;
    vertex.steps = std::max(from.steps, to.steps) + 1;
    // How far is the true corner, which is on the true edge and line?
    const double miss =
        slack * (bound_of_from * rest + bound_of_to * t + 2 * unit_roundoff * of_from) + room_for_underflow;
    const double length = distance + from.slip + to.slip + 2 * across;
    const double rise = (of_from - bound_of_from) + (of_to - bound_of_to) - 2 * slack * slope.steepest * across;
    if (!(rise > 0x1p-10 * (of_from + of_to) && of_from + of_to < INFINITY && t > 0x1p-900)) return -1;
    vertex.error = slack * ((miss * length + slope.largest * across * length_between(from, to)) / rise) + room_for_underflow;

    const double* of_start = outputs_of(start);
    const double* of_end = outputs_of(end);
    double* outputs = outputs_of(made);
    for (int c = 0; c < rows.read_above; c += rows_at_once) {
      const RowLanes a = load<RowLanes>(of_start + c);
      const RowLanes b = load<RowLanes>(of_end + c);
      store(outputs + c, a + (b - a) * t);
    }

    std::uint64_t open = 0;
    vertex.positive = 0;
    vertex.zero = (from.zero & to.zero) | rows.same[row];
    double* values = values_of(made);
    double* bounds = bounds_of(made);
    for (int r = 0; r < rows.room; r += rows_at_once) {
      const RowLanes a = load<RowLanes>(values_of(start) + r);
      const RowLanes b = load<RowLanes>(values_of(end) + r);
      const RowLanes difference = b - a;
      const RowLanes value = a + difference * t;
      const RowLanes bound = slack * (load<RowLanes>(bounds_of(start) + r) * rest + load<RowLanes>(bounds_of(end) + r) * t +
                                      unit_roundoff * (absolute(a) + absolute(b) + 2 * absolute(difference))) +
                             room_for_underflow;
      const RowLanes doubt = bound + slack * (load<RowLanes>(rows.gradients + r) * vertex.error);
      store(values + r, value);
      store(bounds + r, bound);
      vertex.positive |= bits_of_rows_above(value, RowLanes{}) << r;
      open |= (all_bits ^ bits_of_rows_above(absolute(value), doubt)) << r;
    }
    if ((open & ~vertex.zero) != 0) return -1;
    vertex.positive &= ~vertex.zero;
    for (std::uint64_t zeros = vertex.zero; zeros != 0; zeros &= zeros - 1) {
      const int zero = __builtin_ctzll(zeros);
      bounds[zero] = slack * (bounds[zero] + std::fabs(values[zero]));
      values[zero] = 0;
    }
    bounds[row] = miss;
    rows.proven += rows.count - __builtin_popcountll(vertex.zero);
    rows.zeros += __builtin_popcountll(rows.same[row]) - 1;
    return made;
  }

 private:
  static constexpr int most_vertices = 4096;

  // No less than the Euclidean distance of the points where values are known.
  static double length_between(const Corner& from, const Corner& to) {
    const double x = from.x - to.x;
    const double y = from.y - to.y;
    return slack * (std::sqrt(x * x + y * y) + 1.5 * (from.slip + to.slip)) + 0x1p-500;
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
