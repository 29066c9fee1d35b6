// SPDX-License-Identifier: MIT
// How many cells do the last layer's lines make in a cell, without making them?
//
// In a convex polygon, m lines in general position make 1 + m + (pairs that cross inside) cells, and two chords cross
// iff their ends interleave around the polygon. On an interval, m distinct points make 1 + m. This is only used where
// rounded arithmetic proves everything it rests on: no end at a corner, no two ends in one place, no three lines in
// one point (the crossings along each chord are distinct). Otherwise the answer is "unknown", and the cell is cut.
// Cost: O(m^2), against O(m^2) cells.
#pragma once

#include <algorithm>
#include <vector>

#include "cells/interval.hpp"
#include "cells/polygon.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

constexpr std::int64_t unknown = -1;

template <class Cell>
class Arrangement;

inline bool distinct(const Share& before, const Share& after) {
  return after.share - before.share > before.error + after.error;
}

template <>
class Arrangement<Interval> {
 public:
  std::int64_t count(const Lines<1>& lines, const Interval& cell) {
    shares_.clear();
    for (int line = 0; line < lines.count; ++line) {
      Value values[2];
      for (int i = 0; i < 2; ++i)
        values[i] = line_value(lines, line, *cell.vertices[i]);
      const Share share = zero_between(values[0], values[1]);
      if (!share.usable() || !(values[0].value * values[1].value < 0)) return unknown;
      shares_.push_back(share);
    }
    std::sort(shares_.begin(), shares_.end(), [](const Share& a, const Share& b) { return a.share < b.share; });
    for (std::size_t i = 1; i < shares_.size(); ++i)
      if (!distinct(shares_[i - 1], shares_[i])) return unknown;
    return 1 + std::int64_t(lines.count);
  }

 private:
  std::vector<Share> shares_;
};

template <>
class Arrangement<Polygon> {
 public:
  std::int64_t count(const Lines<2>& lines, const Polygon& cell) {
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

  // A point on three lines is on the chord of the first of them, so each chord looks only at the lines after it.
  bool distinct_along(const Lines<2>& lines, const Chord& chord) {
    shares_.clear();
    for (const int other : crossed_) {
      const Share share = zero_between(line_value(lines, other, chord.ends[0]),
                                       line_value(lines, other, chord.ends[1]));
      if (!share.usable()) return false;
      shares_.push_back(share);
    }
    std::sort(shares_.begin(), shares_.end(), [](const Share& a, const Share& b) { return a.share < b.share; });
    for (std::size_t i = 1; i < shares_.size(); ++i)
      if (!distinct(shares_[i - 1], shares_[i])) return false;
    return true;
  }

  std::vector<Chord> chords_;
  std::vector<End> ends_;
  std::vector<int> crossed_;
  std::vector<Share> shares_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
