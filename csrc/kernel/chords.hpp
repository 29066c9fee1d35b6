// SPDX-License-Identifier: MIT
// In how many points do lines cross inside a convex polygon, if each of them has both signs at its corners?
//
// Each line has a chord, with its ends on two edges. Two chords cross iff their ends interleave around the polygon. This is used
// only if rounded arithmetic proves that all ends are distinct, and that no three chords meet in one point. Values are affine on
// the polygon, and known at its corners with bounds. docs/error-bounds.md has the proof ("The sweep over a cell").
// Cost: sorting the ends along each edge, and an operation on bit masks for each end.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "cells/share.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A value that is affine between two points, at a fraction of the way; with its bound.
inline Value value_between(Value start, Value end, const Share& share) {
  const double change = end.value - start.value;
  const double sizes = std::fabs(start.value) + std::fabs(end.value);
  return {start.value + change * share.share,
          slack * (std::fmax(start.bound, end.bound) + share.error * std::fabs(change) + 4 * unit_roundoff * sizes) +
              room_for_underflow};
}

class Chords {
 public:
  static constexpr int most_lines = 32;

  // `lines` has a bit for each line, and positive_at(corner) for each line that is positive there. Returns -1 if anything is
  // not proven.
  template <class PositiveAt, class ValueAt>
  std::int64_t crossings(int corners, std::uint64_t lines, PositiveAt positive_at, ValueAt value_at) {
    const auto at_end = [&](const End& end, int line) {
      const int next = end.edge + 1 == corners ? 0 : end.edge + 1;
      return value_between(value_at(end.edge, line), value_at(next, line), end.share);
    };
    const int count = __builtin_popcountll(lines);
    if (count < 2) return 0;
    const int found = 2 * count;
    if (!find_ends(corners, corners, lines, found, positive_at, value_at)) return -1;

    std::uint64_t open = 0;  // chords with one end so far
    std::uint64_t seen = 0;
    std::int64_t crossings = 0;
    for (int end = 0; end < found; ++end) {
      const int line = ends_[end].line;
      const std::uint64_t bit = std::uint64_t{1} << line;
      open ^= bit;
      if ((seen & bit) == 0) {
        seen |= bit;
        starts_[line] = end;
        open_at_start_[line] = open ^ bit;
        continue;
      }
      const std::uint64_t crossed = (open_at_start_[line] ^ open) & -(bit << 1);  // of higher number, with one end between
      const int number = __builtin_popcountll(crossed);
      crossings += number;
      if (number > 1 && !distinct_along(ends_[starts_[line]], ends_[end], crossed, at_end)) return -1;
    }
    return crossings;
  }

  // The same if there is one more corner, after the last one, and each line passes through it. No lines cross elsewhere.
  template <class PositiveAt, class ValueAt>
  std::int64_t crossings_of_fan(int corners, std::uint64_t lines, PositiveAt positive_at, ValueAt value_at) {
    return find_ends(corners - 1, corners, lines, __builtin_popcountll(lines), positive_at, value_at) ? 0 : -1;
  }

 private:
  struct End {
    Share share;
    int edge;
    int line;
  };

  // Sorts the ends of chords on the first edges; false if they are not this many, or not certainly distinct.
  template <class PositiveAt, class ValueAt>
  REGIONS_INLINE bool find_ends(int edges, int corners, std::uint64_t lines, int ends, PositiveAt positive_at, ValueAt value_at) {
    int found = 0;
    for (int edge = 0; edge < edges; ++edge) {
      const int next = edge + 1 == corners ? 0 : edge + 1;
      const int before = found;
      for (std::uint64_t left = (positive_at(edge) ^ positive_at(next)) & lines; left != 0; left &= left - 1) {
        const int line = __builtin_ctzll(left);
        const Share share = zero_between(value_at(edge, line), value_at(next, line));
        if (!share.usable() || found == ends) return false;
        int place = found++;
        for (; place > before && ends_[place - 1].share.share > share.share; --place) ends_[place] = ends_[place - 1];
        ends_[place] = {share, edge, line};
      }
      for (int end = before + 1; end < found; ++end)
        if (!distinct(ends_[end - 1].share, ends_[end].share)) return false;
    }
    return found == ends;
  }

  // A point on three lines is on the chord of the first of them, so each chord is compared only with later ones.
  template <class AtEnd>
  bool distinct_along(const End& from, const End& to, std::uint64_t crossed, AtEnd at_end) {
    shares_.clear();
    for (; crossed != 0; crossed &= crossed - 1) {
      const int line = __builtin_ctzll(crossed);
      const Share share = zero_between(at_end(from, line), at_end(to, line));
      if (!share.usable()) return false;
      shares_.push_back(share);
    }
    return all_distinct(shares_);
  }

  End ends_[2 * most_lines];
  int starts_[most_lines];
  std::uint64_t open_at_start_[most_lines];
  std::vector<Share> shares_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
