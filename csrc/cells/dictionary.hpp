// SPDX-License-Identifier: MIT
// How do hyperplanes cut a cell that is known by its inequalities?
//
// A dictionary writes all forms as affine functions of D of them, the basis, whose common zero is a vertex; a pivot exchanges one of
// these (Dantzig 1963; Chvatal 1983). It finds where a line (a hyperplane here) has both signs, but it is rounded, and proves nothing.
// Each answer is proven from the original forms and their margins instead:
//
//   - a line takes both signs: a point on each side, and all inequalities proven there;
//   - it takes one sign: line = rest + sum of y_j * (inequality j), y_j >= 0, where the rest is positive in the box of the domain
//     (Neumaier and Shcherbina 2004). On a section of the cell, multiples of the section's lines, of any sign, are added too;
//   - lines meet inside: a point close to one where all of them are zero (below).
//
// Counting: let U be the cell's interior. If every set of lines that meet in U is independent, U has as many regions as there are sets of
// lines that meet in it, the empty set included: a further line cuts as many regions as the others make in it (Zaslavsky 1975), and these
// are, by induction, the sets that meet in it. Subsets of a set that meets in U do as well, and supersets of one that does not, do not.
// So a few points and certificates prove a whole cell. More than D lines are never proven to meet.
//
// Proof of meeting. Let G be the gradients of the lines, B with G B about 1 (the basis has it), p a point, G* and h*(p) the true gradients
// and values. If |1 - G* B| <= alpha < 1 by rows, then G* is of full rank, and p* = p - B (G* B)^-1 h*(p) is a true common zero, with
// |p* - p| <= |B| 1 max |h*(p)| / (1 - alpha). The inequalities are proven at all points so close to p.
// If anything is not proven, the answer is `unknown`, and the cell gets vertices.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "cells/dictionaries.hpp"
#include "rows/lanes.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Width: numbers of a form, a multiple of 4 and more than D: constant, gradient, and zeros.
// Coordinates and forms are scaled so that all of these are about 1, and the tolerances below suit them: these only choose pivots.
template <int Width>
class DictionariesOf final : public Dictionaries {
 public:
  void begin(int dimension, const double* reach) override {
    dimension_ = dimension;
    std::copy_n(reach, Width, reach_);
    forms_.clear();
    margins_.clear();
    steepness_.clear();
    facets_ = lines_ = 0;
  }

  void add_facet(const double* form, double margin, double steepness) override {
    add(form, margin);
    steepness_.push_back(steepness);
    ++facets_;
  }

  void add_line(const double* form, double margin) override {
    add(form, margin);
    ++lines_;
  }

  bool start(const double* point) override {
    if (!is_inside(point, 0)) return false;
    height_ = facets_ + lines_ + dimension_;
    Dictionary& root = levels_[0].own;
    root.reserve(height_);
    std::copy_n(point, Width, root.point);
    for (int r = 0; r < facets_ + lines_; ++r) {
      std::copy_n(form(r), Width, root.row(r));
      root.row(r)[0] = value(r, point);
    }
    for (int k = 0; k < dimension_; ++k) {
      double* coordinate = root.row(facets_ + lines_ + k);
      std::fill_n(coordinate, Width, 0.0);
      coordinate[0] = point[k + 1];
      coordinate[k + 1] = 1;
    }
    // The basis begins with the coordinates. Each is exchanged for the facet that is nearest along it.
    std::fill_n(root.basis, Width, free);
    for (int c = 1; c <= dimension_; ++c) {
      int nearest = -1;
      double least = INFINITY;
      for (int f = 0; f < facets_; ++f) {
        const double slope = std::fabs(root.row(f)[c]);
        if (slope < 1e-9 || is_in_basis(root, f)) continue;
        const double distance = std::max(root.row(f)[0], 0.0) / slope;
        if (distance < least) {
          least = distance;
          nearest = f;
        }
      }
      if (nearest < 0) return false;
      pivot(root, root, nearest, c);
      root.basis[c] = nearest;
    }
    return true;
  }

  Division side(int line, double* here, double* there) override {
    Dictionary& cell = levels_[0].own;
    const int r = facets_ + line;
    std::copy_n(cell.point, Width, here);
    for (int attempt = 0; attempt < 2; ++attempt) {
      const double at_here = value(r, here);
      if (std::fabs(at_here) > margins_[std::size_t(r)] && is_inside(here, 0)) {
        const int sign = at_here > 0 ? 1 : -1;
        Crossing crossing;
        const Found found = search(cell, line, sign, at_here, false, crossing);
        if (found == Found::failed) return Division::unknown;
        if (found == Found::none) return is_above(cell, line, sign) ? (sign > 0 ? Division::above : Division::below) : Division::unknown;
        between(here, crossing.end, (1 + crossing.share) / 2, there);
        if (sign * value(r, there) < -margins_[std::size_t(r)] && is_inside(there, 0)) return Division::crosses;
      }
      find_middle(cell, here);
    }
    return Division::unknown;
  }

  std::int64_t count(std::int64_t most, Monitor& monitor) override {
    if (lines_ > 64) return -1;
    meeting_.clear();
    apart_.clear();
    proven_ = true;
    most_ = most;
    monitor_ = &monitor;
    int all[64];
    for (int line = 0; line < lines_; ++line) {
      all[line] = line;
      meeting_.push_back(only(line));
    }
    const std::int64_t total = regions(0, 0, levels_[0].own, all, lines_);
    return proven_ ? total : -1;
  }

 private:
  using Set = std::uint64_t;  // of lines
  static constexpr int free = -1;
  static constexpr std::size_t most_sets = 4096;  // a cell with more is cut, because they are looked through one by one

  struct Dictionary {
    std::vector<double> numbers;  // facets, lines and coordinates as functions of the basis; those in the basis are unit vectors
    int basis[Width];             // what columns 1, .. D stand for; on a section its lines, which are kept at zero
    double point[Width];          // inside the section
    bool made = false;

    void reserve(int rows) { numbers.resize(std::max(numbers.size(), std::size_t(rows) * Width)); }
    double* row(int r) { return numbers.data() + std::size_t(r) * Width; }
    const double* row(int r) const { return numbers.data() + std::size_t(r) * Width; }
  };
  struct Level {
    Dictionary own;                     // of the root
    std::vector<Dictionary> sections;
  };
  struct Crossing {
    double end[Width];  // a vertex beyond the line
    double share;       // of the way from the section's point to it, where the line is zero
    int column;         // the edge on which the line is zero
  };
  enum class Found { crossing, none, failed };

  static Set only(int line) { return Set{1} << line; }

  void add(const double* form, double margin) {
    forms_.insert(forms_.end(), form, form + Width);
    margins_.push_back(margin);
  }

  const double* form(int r) const { return forms_.data() + std::size_t(r) * Width; }

  double value(int r, const double* place) const {
    const double* here = form(r);
    Lanes4 sum = load<Lanes4>(here) * load<Lanes4>(place);
    for (int k = 4; k < Width; k += 4) sum += load<Lanes4>(here + k) * load<Lanes4>(place + k);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  static void between(const double* from, const double* to, double share, double* place) {
    for (int k = 0; k < Width; ++k) place[k] = from[k] + share * (to[k] - from[k]);
  }

  bool is_in_basis(const Dictionary& dictionary, int variable) const {
    return std::find(dictionary.basis + 1, dictionary.basis + dimension_ + 1, variable) != dictionary.basis + dimension_ + 1;
  }

  // ---- rounded: what may be true ----

  // Row r takes the place of column c in the basis.
  void pivot(const Dictionary& from, Dictionary& to, int r, int c) const {
    typedef std::int64_t Mask4 __attribute__((vector_size(32)));
    Lanes4 leaving[Width / 4];
    Mask4 is_column[Width / 4];
    for (int b = 0; b < Width / 4; ++b) {
      leaving[b] = load<Lanes4>(from.row(r) + 4 * b);
      is_column[b] = Mask4{4 * b, 4 * b + 1, 4 * b + 2, 4 * b + 3} == std::int64_t(c);
    }
    const double inverse = 1 / from.row(r)[c];
    const double* source = from.row(0);
    double* target = to.row(0);
    for (int i = 0; i < height_; ++i, source += Width, target += Width) {
      const Lanes4 factor = Lanes4{} + source[c] * inverse;
      for (int b = 0; b < Width / 4; ++b) {
        const Lanes4 rest = load<Lanes4>(source + 4 * b) - factor * leaving[b];
        store(target + 4 * b, is_column[b] ? factor : rest);
      }
    }
    std::fill_n(to.row(r), Width, 0.0);
    to.row(r)[c] = 1;
  }

  // The first facet that is reached on the edge of column c, and the way to it; -1 if there is none.
  int end_of_edge(const Dictionary& dictionary, int c, double& way) const {
    int end = -1;
    way = INFINITY;
    for (int f = 0; f < facets_; ++f) {
      const double slope = dictionary.row(f)[c];
      if (slope > -1e-11) continue;
      const double distance = std::max(dictionary.row(f)[0], 0.0) / -slope;
      if (distance < way) {
        way = distance;
        end = f;
      }
    }
    return end;
  }

  // The place on the edge of column c.
  void on_edge(const Dictionary& dictionary, int c, double way, double* place) const {
    std::fill_n(place, Width, 0.0);
    place[0] = 1;
    for (int k = 0; k < dimension_; ++k) {
      const double* coordinate = dictionary.row(facets_ + lines_ + k);
      place[k + 1] = coordinate[0] + way * coordinate[c];
    }
  }

  // Goes from vertex to vertex of the section until the line changes its sign. At the section's point its value is `here`. If an edge is
  // not requested, any vertex on the other side will do.
  Found search(Dictionary& dictionary, int line, int sign, double here, bool needs_edge, Crossing& crossing) {
    const int r = facets_ + line;
    const double first = dictionary.row(r)[0];
    const bool begins_beyond = sign * first < 0;
    if (begins_beyond) {
      if (!(sign * first < -1e-9)) return Found::failed;
      on_edge(dictionary, 1, 0.0, crossing.end);
      crossing.share = here / (here - first);
      if (!needs_edge) return Found::crossing;
    }
    const int falling = begins_beyond ? -sign : sign;
    for (int step = 0; step < 64; ++step) {
      int column = 0;
      double steepest = -1e-11;
      for (int c = 1; c <= dimension_; ++c) {
        const double slope = falling * dictionary.row(r)[c];
        if (dictionary.basis[c] < facets_ && slope < steepest) {
          steepest = slope;
          column = c;
        }
      }
      if (column == 0) return begins_beyond ? Found::failed : Found::none;
      double way;
      const int end = end_of_edge(dictionary, column, way);
      if (end < 0) return Found::failed;
      const double there = falling * dictionary.row(r)[0] + way * steepest;
      if (there < -1e-9) {
        crossing.column = column;
        if (begins_beyond) return Found::crossing;
        on_edge(dictionary, column, way, crossing.end);
        crossing.share = std::fabs(here) / (std::fabs(here) - there);
        return Found::crossing;
      }
      pivot(dictionary, dictionary, end, column);
      dictionary.basis[column] = end;
    }
    return Found::failed;
  }

  // The mean of a vertex and its neighbours, for a point that is too close to a facet.
  void find_middle(const Dictionary& dictionary, double* middle) const {
    double sum[Width], place[Width];
    on_edge(dictionary, 1, 0.0, sum);
    for (int c = 1; c <= dimension_; ++c) {
      double way;
      if (dictionary.basis[c] >= facets_ || end_of_edge(dictionary, c, way) < 0) continue;
      on_edge(dictionary, c, way, place);
      for (int k = 0; k < Width; ++k) sum[k] += place[k];
    }
    for (int k = 0; k < Width; ++k) middle[k] = sum[k] / sum[0];
  }

  // ---- proven ----

  bool is_inside(const double* place, double distance) const {
    for (int k = 1; k <= dimension_; ++k)
      if (!(std::fabs(place[k]) <= reach_[k])) return false;
    for (int f = 0; f < facets_; ++f)
      if (!(value(f, place) > margins_[std::size_t(f)] + steepness_[std::size_t(f)] * distance)) return false;
    return true;
  }

  // Whether sign * line is above zero all over the section. Then the line and `taken_` lines of the section do not meet in the cell.
  // The rest's coefficients are sums of at most D + 1 products: each form's margin covers their rounding over the box, and once more
  // its own error.
  bool is_above(const Dictionary& dictionary, int line, int sign) {
    const int r = facets_ + line;
    Lanes4 rest[Width / 4];
    for (int b = 0; b < Width / 4; ++b) rest[b] = double(sign) * load<Lanes4>(form(r) + 4 * b);
    double error = margins_[std::size_t(r)];
    taken_ = only(line);
    for (int c = 1; c <= dimension_; ++c) {
      const int variable = dictionary.basis[c];
      const double factor = sign * dictionary.row(r)[c];
      if (variable < facets_ ? !(factor > 0) : factor == 0) continue;
      if (variable >= facets_) taken_ |= only(variable - facets_);
      for (int b = 0; b < Width / 4; ++b) rest[b] -= factor * load<Lanes4>(form(variable) + 4 * b);
      error += std::fabs(factor) * margins_[std::size_t(variable)];
    }
    double numbers[Width];
    for (int b = 0; b < Width / 4; ++b) store(numbers + 4 * b, rest[b]);
    double lost = 2 * error + 64 * room_for_underflow;
    for (int k = 1; k <= dimension_; ++k) lost += std::fabs(numbers[k]) * reach_[k];
    return numbers[0] > 1.01 * lost;
  }

  // Whether the section's lines are independent, and meet inside.
  bool do_meet(const Dictionary& section) const {
    int columns[Width];
    int lines = 0;
    for (int c = 1; c <= dimension_; ++c)
      if (section.basis[c] >= facets_) columns[lines++] = c;
    double inverse[Width][Width];  // for each line, how the point moves with its value
    double ratio[Width];           // over the box's sides: a margin times this bounds what it may be off in a product with it
    for (int j = 0; j < lines; ++j) {
      std::fill_n(inverse[j], Width, 0.0);
      ratio[j] = 0;
      for (int k = 1; k <= dimension_; ++k) {
        inverse[j][k] = section.row(facets_ + lines_ + k - 1)[columns[j]];
        ratio[j] = at_least(ratio[j], std::fabs(inverse[j][k]) / reach_[k]);
      }
    }
    double alpha = 0;
    double largest = 0;
    for (int i = 0; i < lines; ++i) {
      const int r = section.basis[columns[i]];
      const double margin = margins_[std::size_t(r)];
      largest = at_least(largest, std::fabs(value(r, section.point)) + margin);
      double sum = 0;
      for (int j = 0; j < lines; ++j) sum += std::fabs(value(r, inverse[j]) - (i == j ? 1 : 0)) + margin * ratio[j];
      alpha = at_least(alpha, sum);
    }
    if (!(alpha < 0.5)) return false;
    double distance = 0;
    for (int k = 1; k <= dimension_; ++k) {
      double sum = 0;
      for (int j = 0; j < lines; ++j) sum += std::fabs(inverse[j][k]);
      distance = at_least(distance, sum);
    }
    return is_inside(section.point, 1.02 * distance * largest / (1 - 1.01 * alpha) + room_for_underflow);
  }

  // ---- sets of lines ----

  bool is_known_to_meet(Set set) const {
    for (const Set larger : meeting_)
      if ((set & ~larger) == 0) return true;
    return false;
  }

  bool is_known_apart(Set set) const {
    for (const Set smaller : apart_)
      if ((smaller & ~set) == 0) return true;
    return false;
  }

  std::int64_t fail() {
    proven_ = false;
    return 0;
  }

  // Makes the dictionary of the section's part where the line is zero, if there is one.
  Found enter(Dictionary& section, int line, Dictionary& part) {
    const int r = facets_ + line;
    const double here = value(r, section.point);
    if (!(std::fabs(here) > 1e-13)) return Found::failed;
    const int sign = here > 0 ? 1 : -1;
    Crossing crossing;
    monitor_->work(height_);
    const Found found = search(section, line, sign, here, true, crossing);
    if (found == Found::none) return is_above(section, line, sign) ? Found::none : Found::failed;
    if (found == Found::failed) return found;
    part.reserve(height_);
    pivot(section, part, r, crossing.column);
    std::copy_n(section.basis, Width, part.basis);
    part.basis[crossing.column] = r;
    between(section.point, crossing.end, crossing.share, part.point);
    part.made = true;
    return found;
  }

  // Makes the dictionary of a set that was known to meet without it, from that of the largest part of the way that has one.
  bool make(int depth) {
    int made = depth;
    while (!path_[made]->made) --made;
    for (; made < depth; ++made)
      if (enter(*path_[made], path_lines_[made + 1], *path_[made + 1]) != Found::crossing) return false;
    return true;
  }

  // The number of sets of lines that meet in the cell and consist of this one and some of the others, which come before its lines.
  std::int64_t regions(int depth, Set set, Dictionary& section, const int* others, int count) {
    path_[depth] = &section;
    section.made = section.made || depth == 0;
    std::vector<Dictionary>& parts = levels_[depth].sections;
    if (parts.size() < std::size_t(count)) parts.resize(std::size_t(count));
    int crossing[64];
    int number = 0;
    for (int i = 0; i < count; ++i) {
      const Set larger = set | only(others[i]);
      Dictionary& part = parts[std::size_t(number)];
      part.made = false;
      if (is_known_apart(larger)) continue;
      if (!is_known_to_meet(larger)) {
        if (meeting_.size() + apart_.size() > most_sets || !make(depth)) return fail();
        const Found found = enter(section, others[i], part);
        if (found == Found::failed || (found == Found::crossing && depth == dimension_)) return fail();
        if (found == Found::none) {
          apart_.push_back(taken_);
          continue;
        }
      }
      crossing[number++] = others[i];
    }
    std::int64_t total = 1;
    for (int i = number - 1; i >= 0 && proven_; --i) {
      path_lines_[depth + 1] = crossing[i];
      total += regions(depth + 1, set | only(crossing[i]), parts[std::size_t(i)], crossing, i);
      if (depth == 0 && total > most_) break;
    }
    if (!proven_ || set == 0 || is_known_to_meet(set)) return total;
    if (!make(depth)) return fail();
    if (!do_meet(section)) {
      find_middle(section, section.point);
      if (!do_meet(section)) return fail();
    }
    meeting_.push_back(set);
    return total;
  }

  int dimension_ = 0;
  int facets_ = 0;
  int lines_ = 0;
  int height_ = 0;  // rows of a dictionary
  double reach_[Width];
  std::vector<double> forms_, margins_, steepness_;
  std::vector<Level> levels_ = std::vector<Level>(Width + 1);
  Dictionary* path_[Width + 1];  // the sections on the way to the current one, and the lines that lead to them
  int path_lines_[Width + 1];
  std::vector<Set> meeting_, apart_;  // sets of lines that are proven to meet in the cell, or not to
  Set taken_ = 0;
  bool proven_ = true;
  std::int64_t most_ = 0;
  Monitor* monitor_ = nullptr;
};

inline std::unique_ptr<Dictionaries> make_dictionaries_of(int width) {
  if (width == 8) return std::make_unique<DictionariesOf<8>>();
  return std::make_unique<DictionariesOf<12>>();
}

}  // namespace REGIONS_TARGET
}  // namespace regions
