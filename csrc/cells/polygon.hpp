// SPDX-License-Identifier: MIT
// What is a cell of dimension two?
//
// A strictly convex polygon: its corners counter-clockwise, and for each the boundary that the edge from it to the
// next corner lies on. A line cuts it where the signs at the corners change: at a corner of sign 0, or inside an edge.
// Invariant: no corner lies on the segment between its neighbours, so a line that has both signs meets the boundary in
// exactly two points. Cost: proportional to the number of corners. Counting the cells of m lines takes O(m^2) operations.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "cells/cell.hpp"
#include "cells/share.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct Polygon {
  using Trace = FacetRun;
  static constexpr int dimension = 2;
  static constexpr int most_children = 2;
  static constexpr int outer = 0;
  static constexpr int facet_corners = 2;
  int count;
  const Vertex<2>** vertices;  // [count]
  const Facet<2>** edges;      // [count]
  int* origins;                // [count] the edge of the parent cell that contains this edge, -1 for the cut, or child_as_origin

  static Polygon take(int capacity, Arena& arena) {
    return {0, arena.take<const Vertex<2>*>(std::size_t(capacity)), arena.take<const Facet<2>*>(std::size_t(capacity)),
            arena.take<int>(std::size_t(capacity))};
  }

  // The domain: its edges' forms are computed here, positive on the left, with their rounding as in rows.
  static Polygon whole(Vertex<2>* vertices, int count, Exact&, Arena& arena) {
    Polygon result = take(count, arena);
    for (int i = 0; i < count; ++i) {
      const double* start = vertices[i].position;
      const double* end = vertices[i + 1 == count ? 0 : i + 1].position;
      Row<2>* row = arena.take<Row<2>>(1);
      *row = Row<2>{};
      for (int k = 0; k < 3; ++k) {
        const int left = (k + 1) % 3;
        const int right = (k + 2) % 3;
        row->value[k] = start[left] * end[right] - start[right] * end[left];
        const double size = std::fabs(start[left] * end[right]) + std::fabs(start[right] * end[left]);
        row->error[k] = 4 * unit_roundoff * size + room_for_underflow;
      }
      Facet<2>* edge = arena.take<Facet<2>>(1);
      *edge = {-1 - Boundary(i), row, 0.0};
      result.append(vertices[i], *edge, -1);
    }
    return result;
  }

  void append(const Vertex<2>& vertex, const Facet<2>& edge, int origin) {
    vertices[count] = &vertex;
    edges[count] = &edge;
    origins[count] = origin;
    ++count;
  }

  int facet_count() const { return count; }
  FacetOfCell facet(int edge) const { return {edges[edge]->name, edge, edge + 1 == count ? 0 : edge + 1}; }

  // The active half comes first.
  template <class Collector>
  static void cut(const Polygon& cell, const Facet<2>& facet, Exact& exact, Arena& arena, Collector& collector,
                  Cut<Polygon>& result) {
    const int* signs = result.signs;
    refuse_unless_two_meetings(cell, signs);
    result.take(2, arena);
    result.count = 2;
    Polygon* halves = result.children;
    for (int side = 0; side < 2; ++side) {
      halves[side] = take(cell.count + 1, arena);
      result.sides[side] = side == 0 ? Side::active : Side::inactive;
    }
    for (int i = 0; i < cell.count; ++i) {
      const int next = i + 1 == cell.count ? 0 : i + 1;
      const Vertex<2>& here = *cell.vertices[i];
      const Facet<2>& edge = *cell.edges[i];
      if (signs[i] == 0) {
        // At this corner one half ends, so its next edge is the cut. The other half continues along the cell's edge.
        halves[0].append(here, signs[next] > 0 ? edge : facet, signs[next] > 0 ? i : -1);
        halves[1].append(here, signs[next] < 0 ? edge : facet, signs[next] < 0 ? i : -1);
        continue;
      }
      Polygon& half = halves[signs[i] > 0 ? 0 : 1];
      half.append(here, edge, i);
      if (signs[i] * signs[next] >= 0) continue;
      Vertex<2>& cut = meeting(here, *cell.vertices[next], edge, facet, exact, arena);
      collector.identify(cut);
      half.append(cut, facet, -1);
      halves[signs[i] > 0 ? 1 : 0].append(cut, edge, i);
    }
    for (int side = 0; side < 2; ++side) assert(halves[side].count <= cell.count + 1 && is_convex(halves[side]));
  }

  // Returns a copy of the cell in which each edge has itself as its origin.
  static Polygon unclipped(const Polygon& cell, Arena& arena) {
    Polygon whole = take(cell.count, arena);
    for (int i = 0; i < cell.count; ++i) whole.append(*cell.vertices[i], *cell.edges[i], i);
    return whole;
  }

  // The part where the form is positive, given its signs at the corners; its new edge's origin is `mark`. The part is empty if
  // no corner is positive.
  static Polygon clip(const Polygon& cell, const Facet<2>& facet, const int* signs, int mark, Exact& exact,
                      Arena& arena) {
    if (std::none_of(signs, signs + cell.count, [](int sign) { return sign > 0; })) return {0, nullptr, nullptr, nullptr};
    if (std::none_of(signs, signs + cell.count, [](int sign) { return sign < 0; })) return cell;
    refuse_unless_two_meetings(cell, signs);
    Polygon part = take(cell.count + 1, arena);
    for (int i = 0; i < cell.count; ++i) {
      const int next = i + 1 == cell.count ? 0 : i + 1;
      const Vertex<2>& here = *cell.vertices[i];
      const Facet<2>& edge = *cell.edges[i];
      if (signs[i] > 0) part.append(here, edge, cell.origins[i]);
      if (signs[i] == 0) part.append(here, signs[next] > 0 ? edge : facet, signs[next] > 0 ? cell.origins[i] : mark);
      if (signs[i] * signs[next] >= 0) continue;
      const Vertex<2>& cut = meeting(here, *cell.vertices[next], edge, facet, exact, arena);
      part.append(cut, signs[i] > 0 ? facet : edge, signs[i] > 0 ? mark : cell.origins[i]);
    }
    assert(is_convex(part));
    return part;
  }

  // The children are parts of the cell, each clipped by itself. Lists the children along each edge of the cell, in order: the one
  // whose branch is larger at the start of the edge comes first, because two branches are equal in only one point of it.
  template <class Arms, class Collector>
  static void arrange(const Polygon& cell, Arms& arms, Exact&, Arena& arena, Collector& collector, Cut<Polygon>& result) {
    int* runs = arena.take<int>(std::size_t(cell.count) * std::size_t(result.count + 1));
    result.runs = runs;
    for (int edge = 0; edge < cell.count; ++edge) {
      int* first = runs;
      for (int child = 0; child < result.count; ++child) {
        if (result.children[child].edge_from(edge) < 0) continue;
        int* place = runs++;
        for (; place > first && arms.sign(*result.winners[child], *result.winners[place[-1]], *cell.vertices[edge]) > 0; --place)
          *place = place[-1];
        *place = child;
      }
      *runs++ = -1;
    }
    for (int child = 0; child < result.count; ++child)
      for (int i = 0; i < result.children[child].count; ++i)
        if (result.children[child].vertices[i]->id == unidentified)
          collector.identify(const_cast<Vertex<2>&>(*result.children[child].vertices[i]));
  }

  // The zero of both forms, by Cramer's rule; by the same rule, their values there bound the distance from the true zero. Which form
  // comes first makes no difference.
  static void settle(const Facet<2>& first, const Facet<2>& second, Vertex<2>& vertex) {
    const Row<2>& one = *first.row;
    const Row<2>& two = *second.row;
    const double straight = one.value[1] * two.value[2];
    const double across = one.value[2] * two.value[1];
    const double determinant = straight - across;
    const double first_offset = one.value[0] - first.breakpoint;
    const double second_offset = two.value[0] - second.breakpoint;
    double* position = vertex.position;
    position[0] = 1;
    position[1] = (one.value[2] * second_offset - two.value[2] * first_offset) / determinant;
    position[2] = (two.value[1] * first_offset - one.value[1] * second_offset) / determinant;

    const Value miss[2] = {evaluate(one, first.breakpoint, position), evaluate(two, second.breakpoint, position)};
    const double steepest_one = std::max(std::fabs(one.value[1]), std::fabs(one.value[2]));
    const double steepest_two = std::max(std::fabs(two.value[1]), std::fabs(two.value[2]));
    const double error_one = std::max(one.error[1], one.error[2]);
    const double error_two = std::max(two.error[1], two.error[2]);
    const double certain = std::fabs(determinant) -
                           1.01 * (4 * unit_roundoff * (std::fabs(straight) + std::fabs(across)) +
                                   2 * (steepest_one * error_two + steepest_two * error_one + error_one * error_two)) -
                           room_for_underflow;
    const double distance = (steepest_two + error_two) * (std::fabs(miss[0].value) + miss[0].bound) +
                            (steepest_one + error_one) * (std::fabs(miss[1].value) + miss[1].bound);
    vertex.error = certain > 0 ? 1.01 * (distance + room_for_underflow) / certain + 0x1p-1073 : INFINITY;
    if (certain > 0 && through_origin(first) && through_origin(second)) vertex.error = 0;
  }

  // The edge that has this origin, or -1.
  int edge_from(int origin) const {
    for (int i = 0; i < count; ++i)
      if (origins[i] == origin) return i;
    return -1;
  }

  // The halves' facets along the cell's edges, and along the cut.
  template <class Collector>
  static void join(const Polygon& cell, const Cut<Polygon>& cut, FacetRun* traces, Collector& collector) {
    if (cut.runs != nullptr) return join_several(cell, cut, traces, collector);
    FacetRun along[2];
    for (int i = 0; i < cell.count; ++i) traces[i] = FacetRun();
    for (int side = 0; side < 2; ++side) {
      const Polygon& half = cut.children[side];
      for (int k = 0; k < half.count; ++k) {
        const FacetRun& run = cut.traces[side][k];
        const int origin = half.origins[k];
        if (origin < 0)
          along[side] = run;
        else if (traces[origin].first < 0)
          traces[origin] = run;
        else
          traces[origin] = starts_in(side, cut.signs[origin]) ? collector.joined(run, traces[origin])
                                                              : collector.joined(traces[origin], run);
      }
    }
    collector.zip(along[0], along[1]);
  }

  // Joins several children: an edge between two of them has the other one's number as its origin (child_as_origin).
  template <class Collector>
  static void join_several(const Polygon& cell, const Cut<Polygon>& cut, FacetRun* traces, Collector& collector) {
    const int* run = cut.runs;
    for (int edge = 0; edge < cell.count; ++edge, ++run) {
      traces[edge] = FacetRun();
      for (; *run >= 0; ++run) {
        const FacetRun& part = cut.traces[*run][cut.children[*run].edge_from(edge)];
        traces[edge] = traces[edge].first < 0 ? part : collector.joined(traces[edge], part);
      }
    }
    for (int one = 0; one < cut.count; ++one)
      for (int other = one + 1; other < cut.count; ++other) {
        const int there = cut.children[one].edge_from(child_as_origin(other));
        const int here = cut.children[other].edge_from(child_as_origin(one));
        if ((there < 0) != (here < 0)) throw std::logic_error("two parts of a cell do not have the same edge");
        if (there >= 0) collector.zip(cut.traces[one][there], cut.traces[other][here]);
      }
  }

  // m lines in general position make 1 + m + (pairs that cross inside) regions, and two chords cross iff their ends
  // interleave around the polygon. This is used only if rounded arithmetic proves all conditions: no end at a corner, no
  // two ends in one point, no three lines in one point (the crossings along each chord are distinct).
  class Arrangement {
   public:
    std::int64_t count(const Lines<2>& lines, const Polygon& cell, std::int64_t = 0, Monitor* = nullptr) {
      if (lines.count == 1) return 2;
      chords_.clear();
      ends_.clear();
      for (int line = 0; line < lines.count; ++line)
        if (!add_chord(lines, line, cell)) return unknown;
      if (!order_ends()) return unknown;
      std::int64_t crossings = 0;
      for (int line = 0; line < lines.count; ++line) {
        const Chord& chord = chords_[std::size_t(line)];
        crossed_.clear();
        for (int other = line + 1; other < lines.count; ++other) {
          const Chord& second = chords_[std::size_t(other)];
          const bool first_inside = chord.rank[0] < second.rank[0] && second.rank[0] < chord.rank[1];
          const bool last_inside = chord.rank[0] < second.rank[1] && second.rank[1] < chord.rank[1];
          if (first_inside != last_inside) crossed_.push_back(other);
        }
        crossings += std::int64_t(crossed_.size());
        if (crossed_.size() > 1 && !distinct_along(lines, chord)) return unknown;
      }
      return 1 + lines.count + crossings;
    }

   private:
    struct Chord {
      int rank[2];           // of its ends around the polygon
      Vertex<2> ends[2];
    };
    struct End {
      int edge;
      Share share;
      int line;
      int which;
    };

    bool add_chord(const Lines<2>& lines, int line, const Polygon& cell) {
      Chord chord{};
      int found = 0;
      Value here = line_value(lines, line, *cell.vertices[0]);
      const Value first = here;
      for (int i = 0; i < cell.count; ++i) {
        const int next = i + 1 == cell.count ? 0 : i + 1;
        const Vertex<2>& corner = *cell.vertices[next];
        const Value there = next == 0 ? first : line_value(lines, line, corner);
        if (!(std::fabs(there.value) > there.bound)) return false;
        if ((here.value > 0) != (there.value > 0)) {
          const Share share = zero_between(here, there);
          if (!share.usable() || found == 2) return false;
          chord.ends[found] = placed_between(*cell.vertices[i], corner, share);
          ends_.push_back({i, share, line, found});
          ++found;
        }
        here = there;
      }
      chords_.push_back(chord);
      return found == 2;
    }

    bool order_ends() {
      std::sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) {
        return a.edge != b.edge ? a.edge < b.edge : a.share.share < b.share.share;
      });
      for (std::size_t i = 0; i < ends_.size(); ++i) {
        if (i > 0 && ends_[i - 1].edge == ends_[i].edge && !distinct(ends_[i - 1].share, ends_[i].share)) return false;
        chords_[std::size_t(ends_[i].line)].rank[ends_[i].which] = int(i);
      }
      return true;
    }

    // A point on three lines is on the chord of the first of them, so each chord is compared only with later lines.
    bool distinct_along(const Lines<2>& lines, const Chord& chord) {
      shares_.clear();
      for (const int other : crossed_) {
        const Share share = zero_between(line_value(lines, other, chord.ends[0]),
                                         line_value(lines, other, chord.ends[1]));
        if (!share.usable()) return false;
        shares_.push_back(share);
      }
      return all_distinct(shares_);
    }

    std::vector<Chord> chords_;
    std::vector<End> ends_;
    std::vector<int> crossed_;
    std::vector<Share> shares_;
  };

 private:
  // Where an edge and a line meet, between two corners.
  static Vertex<2>& meeting(const Vertex<2>& here, const Vertex<2>& there, const Facet<2>& edge, const Facet<2>& facet,
                            Exact& exact, Arena& arena) {
    Vertex<2>& cut = *arena.take<Vertex<2>>(1);
    cut = {{}, INFINITY, {-1, {edge.name, facet.name}}, unidentified};
    const bool begins = here.position[0] != 0;
    const bool ends = there.position[0] != 0;
    if (begins || ends)
      settle(edge, facet, cut);
    else
      follow(facet, here, there, cut);
    // An edge with one end at infinity is as long as the distance of the cut from its finite end.
    const double length = begins == ends ? distance(here, there) : distance(begins ? here : there, cut);
    if (!(cut.error < placed * length)) place_exactly(cut, exact);
    return cut;
  }

  // The direction of a line, between two directions at most a right angle apart, as all in one edge of the whole plane are.
  static void follow(const Facet<2>& facet, const Vertex<2>& here, const Vertex<2>& there, Vertex<2>& cut) {
    const Row<2>& row = *facet.row;
    int exponent;
    std::frexp(std::max(std::fabs(row.value[1]), std::fabs(row.value[2])), &exponent);
    const double x = std::ldexp(row.value[2], -exponent);
    const double y = -std::ldexp(row.value[1], -exponent);
    const double error = 1.01 * std::ldexp(std::max(row.error[1], row.error[2]), -exponent) + 0x1p-1073;
    // The inner product of the true direction with either of the two is not negative.
    const double across[2] = {here.position[1] + there.position[1], here.position[2] + there.position[2]};
    const double sizes = largest_coordinate(here) + largest_coordinate(there);
    const double errors = here.error + there.error;
    const double product = x * across[0] + y * across[1];
    const double doubt = 2.1 * (error * (sizes + errors) + errors + 8 * unit_roundoff * sizes) + room_for_underflow;
    if (!(std::fabs(product) > doubt)) return;
    // Signs of coordinates at infinity are part of the result.
    if (!(std::fabs(x) > error && std::fabs(y) > error)) return;
    cut.position[0] = 0;
    cut.position[1] = product > 0 ? x : -x;
    cut.position[2] = product > 0 ? y : -y;
    cut.error = error;
  }

  // Returns whether the part of a cut edge with the edge's first corner is on this side.
  static bool starts_in(int side, int sign) { return side == 0 ? sign > 0 : sign < 0; }

  // Returns whether, up to rounding, each edge is on a separate line, with its two corners on that line and all others on one
  // side. For assertions.
  static bool is_convex(const Polygon& cell) {
    bool convex = cell.count >= 3;
    for (int i = 0; i < cell.count; ++i) {
      const Facet<2>& edge = *cell.edges[i];
      bool positive = false;
      bool negative = false;
      for (int k = 0; k < cell.count; ++k) {
        const int side = proven_side(edge, *cell.vertices[k]);
        const bool on_edge = k == i || k == (i + 1) % cell.count;
        positive = positive || side > 0;
        negative = negative || side < 0;
        convex = convex && !(on_edge && side != 0) && (k == i || cell.edges[k]->name != edge.name);
      }
      convex = convex && !(positive && negative);
    }
    return convex;
  }

  // A convex polygon's boundary meets a line that crosses it twice; anything else would be a wrong sign.
  static void refuse_unless_two_meetings(const Polygon& cell, const int* signs) {
    int meetings = 0;
    for (int i = 0; i < cell.count; ++i)
      meetings += signs[i] == 0 || signs[i] * signs[i + 1 == cell.count ? 0 : i + 1] < 0;
    if (meetings != 2) throw std::logic_error("a line meets the boundary of a cell in other than two points");
  }
};

}  // namespace REGIONS_TARGET
}  // namespace regions
