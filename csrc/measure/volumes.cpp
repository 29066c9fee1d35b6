// SPDX-License-Identifier: MIT
#include "measure/volumes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

namespace regions {

namespace {

constexpr int most = 6;  // dimensions
constexpr double u = 0x1p-53;
constexpr double up = 1 + 0x1p-40;  // for the rounding of bounds
constexpr double tiny = 0x1p-1060;  // for underflow

// A set of a facet's vertices.
template <int Words>
struct Set {
  std::uint64_t words[Words] = {};

  void add(int vertex) { words[vertex / 64] |= std::uint64_t{1} << (vertex % 64); }
  bool operator==(const Set& other) const { return std::equal(words, words + Words, other.words); }
  Set operator&(const Set& other) const {
    Set common;
    for (int i = 0; i < Words; ++i) common.words[i] = words[i] & other.words[i];
    return common;
  }
  int size() const {
    int count = 0;
    for (const std::uint64_t word : words) count += __builtin_popcountll(word);
    return count;
  }
  int first() const {
    int i = 0;
    while (words[i] == 0) ++i;
    return 64 * i + __builtin_ctzll(words[i]);
  }
  template <class Work>
  void for_each(Work work) const {
    for (int i = 0; i < Words; ++i)
      for (std::uint64_t left = words[i]; left != 0; left &= left - 1) work(64 * i + __builtin_ctzll(left));
  }
};

// The simplices of a facet, by its vertices.
class Pulling {
 public:
  // Calls work(vertices) for each simplex of a face of this dimension, with its dimension + 1 vertices; `others` are its intersections
  // with facets of the polytope.
  template <int Words, class Work>
  void divide(const Set<Words>& face, int dimension, const std::vector<Set<Words>>& others, Work& work) {
    const int size = face.size();
    if (size == dimension + 1) {
      const std::size_t before = simplex_.size();
      face.for_each([&](int vertex) { simplex_.push_back(vertex); });
      work(simplex_);
      simplex_.resize(before);
      return;
    }
    const int apex = face.first();
    simplex_.push_back(apex);
    const std::vector<Set<Words>> facets = facets_of(face, dimension, others);
    std::vector<Set<Words>> below;
    for (const Set<Words>& facet : facets) {
      if (facet.first() == apex) continue;
      below.clear();
      for (const Set<Words>& other : facets) below.push_back(facet & other);
      divide(facet, dimension - 1, below, work);
    }
    simplex_.pop_back();
  }

 private:
  // The largest of some intersections, which are the facets of the face.
  template <int Words>
  static std::vector<Set<Words>> facets_of(const Set<Words>& face, int dimension, const std::vector<Set<Words>>& others) {
    std::vector<Set<Words>> found;
    for (const Set<Words>& other : others)
      if (other.size() >= dimension && !(other == face) && std::find(found.begin(), found.end(), other) == found.end()) found.push_back(other);
    std::vector<Set<Words>> result;
    for (const Set<Words>& one : found)
      if (std::none_of(found.begin(), found.end(), [&](const Set<Words>& other) { return !(other == one) && (one & other) == one; }))
        result.push_back(one);
    return result;
  }

  std::vector<int> simplex_;
};

// A sum of values that are at least zero, with the bounds on their errors.
struct Sum {
  double value = 0;
  double error = 0;
  double terms = 0;

  void add(double more, double more_error) {
    value += more;
    error += more_error;
    ++terms;
  }
  double bound() const { return (error + 2 * u * (terms + 4) * value) * (up + 2 * u * terms) + tiny; }
};

double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

class Measuring {
 public:
  Measuring(const PolytopeArrays& arrays, const double* metric)
      : arrays_(arrays), D_(arrays.dimension), metric_(metric), places_(std::size_t(arrays.vertex_count), -1), sums_(std::size_t(arrays.regions)) {
    for (int i = 0; i < D_ * D_; ++i) metric_size_ += std::fabs(metric[i]);
  }

  void run(const Volumes& volumes) {
    std::vector<std::int64_t> second(std::size_t(arrays_.facets), -1);  // the other region of a facet
    for (std::int64_t region = arrays_.regions; region-- > 0;)
      for (std::int64_t i = arrays_.cell_facet_offsets[region]; i < arrays_.cell_facet_offsets[region + 1]; ++i) {
        std::int64_t& known = second[std::size_t(arrays_.cell_facets[i])];
        if (known < 0) known = region;
      }
    std::vector<bool> done(std::size_t(arrays_.facets), false);
    const double scale = 1 / factorial(D_ - 1);
    for (std::int64_t region = 0; region < arrays_.regions; ++region)
      for (std::int64_t i = arrays_.cell_facet_offsets[region]; i < arrays_.cell_facet_offsets[region + 1]; ++i) {
        const std::int64_t facet = arrays_.cell_facets[i];
        if (done[std::size_t(facet)]) continue;
        done[std::size_t(facet)] = true;
        regions_[0] = region;
        regions_[1] = second[std::size_t(facet)] != region ? second[std::size_t(facet)] : -1;
        facet_ = Sum();
        divide(region, facet);
        finish(facet_, scale, volumes.facets[facet], volumes.facet_errors[facet]);
      }
    for (std::int64_t region = 0; region < arrays_.regions; ++region)
      finish(sums_[std::size_t(region)], scale / D_, volumes.regions[region], volumes.region_errors[region]);
  }

 private:
  static void finish(const Sum& sum, double scale, double& volume, double& error) {
    volume = sum.value * scale;
    error = (sum.bound() * scale + 4 * u * volume) * up + tiny;
  }

  void divide(std::int64_t region, std::int64_t facet) {
    first_ = arrays_.facet_vertices + arrays_.facet_offsets[facet];
    const std::int64_t size = arrays_.facet_offsets[facet + 1] - arrays_.facet_offsets[facet];
    if (D_ == 3) {  // the vertices are along the outline
      for (int i = 1; i + 1 < size; ++i) add({0, i, i + 1});
    } else if (size <= 64) {
      divide_in<1>(region, facet, int(size));
    } else if (size <= 256) {
      divide_in<4>(region, facet, int(size));
    } else if (size <= 4096) {
      divide_in<64>(region, facet, int(size));
    } else {
      throw std::length_error("a facet has more than 4096 vertices");
    }
  }

  template <int Words>
  void divide_in(std::int64_t region, std::int64_t facet, int size) {
    Set<Words> whole;
    for (int i = 0; i < size; ++i) {
      places_[std::size_t(first_[i])] = i;
      whole.add(i);
    }
    std::vector<Set<Words>> others;
    for (std::int64_t i = arrays_.cell_facet_offsets[region]; i < arrays_.cell_facet_offsets[region + 1]; ++i) {
      const std::int64_t other = arrays_.cell_facets[i];
      if (other == facet) continue;
      Set<Words> common;
      for (std::int64_t k = arrays_.facet_offsets[other]; k < arrays_.facet_offsets[other + 1]; ++k) {
        const int place = places_[std::size_t(arrays_.facet_vertices[k])];
        if (place >= 0) common.add(place);
      }
      others.push_back(common);
    }
    for (int i = 0; i < size; ++i) places_[std::size_t(first_[i])] = -1;
    const auto work = [&](const std::vector<int>& simplex) { add(simplex); };
    pulling_.divide(whole, D_ - 1, others, work);
  }

  const double* position(std::int64_t vertex) const { return arrays_.vertices + vertex * D_; }

  // Adds a simplex to its facet, and its pyramids to the regions.
  void add(const std::vector<int>& simplex) {
    const std::int64_t start = first_[simplex[0]];
    double all = 1, moved = 0, rounded = 1;
    for (int i = 0; i + 1 < D_; ++i) {
      const std::int64_t vertex = first_[simplex[std::size_t(i) + 1]];
      double square = 0, sum = 0, largest = 0;
      for (int k = 0; k < D_; ++k) {
        const double along = edge_[i][k] = position(vertex)[k] - position(start)[k];
        square += along * along;
        sum += std::fabs(along);
        largest = std::fmax(largest, std::fabs(along));
      }
      const double length = std::sqrt(square);
      const double away = (arrays_.vertex_errors[start] + arrays_.vertex_errors[vertex] + u * largest + tiny) * std::sqrt(double(D_)) * up;
      moved = moved * (length + away) + all * away;  // prod (r + d) - prod r, one factor after the other
      all *= length;
      rounded *= sum;
    }
    const double off = (moved + 64 * u * rounded) * up + tiny;
    find_minors();
    add_to_facet(off);
    for (const std::int64_t region : regions_)
      if (region >= 0) add_to_region(region, start, off);
  }

  // The minors without one column, of alternating sign.
  void find_minors() {
    double known[1 << most];
    known[0] = 1;
    const int sets = 1 << D_;
    for (int set = 1; set < sets - 1; ++set) {
      const int row = __builtin_popcount(unsigned(set)) - 1;
      double sum = 0;
      double sign = row % 2 == 0 ? 1 : -1;  // of the set's lowest column
      for (unsigned left = unsigned(set); left != 0; left &= left - 1) {
        const int k = __builtin_ctz(left);
        sum += sign * edge_[row][k] * known[set & ~(1 << k)];
        sign = -sign;
      }
      known[set] = sum;
    }
    for (int k = 0; k < D_; ++k) minor_[k] = k % 2 == 0 ? known[(sets - 1) & ~(1 << k)] : -known[(sets - 1) & ~(1 << k)];
  }

  void add_to_facet(double off) {
    double form = 0, size = 0;
    for (int j = 0; j < D_; ++j)
      for (int k = 0; k < D_; ++k) {
        const double product = minor_[j] * metric_[j * D_ + k] * minor_[k];
        form += product;
        size += std::fabs(product);
      }
    const double norm = std::sqrt(std::fmax(form, 0.0));
    const double rounding = 64 * u * size * up + tiny;  // of the form
    const double root = std::sqrt(rounding);
    facet_.add(norm, (off * std::sqrt(metric_size_) + (norm > root ? rounding / norm : root) + 4 * u * norm) * up);
  }

  void add_to_region(std::int64_t region, std::int64_t start, double off) {
    const std::int64_t apex = arrays_.cell_vertices[arrays_.cell_offsets[region]];
    if (apex == start) return;  // in the facet
    const double away = (arrays_.vertex_errors[apex] + arrays_.vertex_errors[start]) * up;
    double product = 0, size = 0, moved = 0;
    for (int k = 0; k < D_; ++k) {
      const double way = position(start)[k] - position(apex)[k];
      product += minor_[k] * way;
      size += std::fabs(minor_[k] * way);
      moved += std::fabs(minor_[k]) * away + off * (std::fabs(way) + away);
    }
    sums_[std::size_t(region)].add(std::fabs(product), (moved + 16 * u * size) * up + tiny);
  }

  const PolytopeArrays& arrays_;
  const int D_;
  const double* metric_;
  double metric_size_ = 0;
  std::vector<int> places_;  // of vertices in the facet, or -1
  std::vector<Sum> sums_;    // [regions]
  Pulling pulling_;
  const std::int64_t* first_ = nullptr;  // the vertices of the facet
  std::int64_t regions_[2] = {-1, -1};   // of the facet
  Sum facet_;
  double edge_[most][most];
  double minor_[most];
};

}  // namespace

void measure(const PolytopeArrays& arrays, const double* metric, const Volumes& volumes) { Measuring(arrays, metric).run(volumes); }

}  // namespace regions
