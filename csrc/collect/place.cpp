// SPDX-License-Identifier: MIT
#include "collect/place.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "collect/collected.hpp"
#include "exact/exact.hpp"

namespace regions {

namespace {

// An error below this fraction of the domain's width is small enough; bounds on generic networks stay below it.
constexpr double well_enough = 0x1p-30;
// An error of a few last bits of the largest coordinates is small enough too: exact placing gives two.
constexpr double last_bits = 0x1p-48;
// The budget, as a number of products of long numbers with a weight; a product takes 50 to 100 ns.
constexpr std::int64_t first_credit = 1 << 13;
constexpr std::int64_t cells_per_credit = 8;
// A vertex whose position was wrong by much adds this multiple of its own price to the budget.
constexpr std::int64_t reward = 8;
constexpr std::size_t worst = 8;

// A vertex, and the first corner where a region has it.
struct Candidate {
  std::int64_t vertex;
  std::int64_t corner;
};

// Decides which errors of a vertex are small. In an unbounded domain a vertex can only be compared with itself.
class Small {
 public:
  Small(const Domain& domain, int dimension) : dimension_(dimension) {
    double width = 0;
    double largest = 0;
    for (int k = 1; k <= dimension; ++k) {
      double low = INFINITY;
      double high = -INFINITY;
      for (int i = 0; i < domain.count; ++i) {
        const double* generator = domain.generators + std::size_t(i) * std::size_t(dimension + 1);
        bounded_ = bounded_ && generator[0] != 0;
        low = std::min(low, generator[k]);
        high = std::max(high, generator[k]);
      }
      width = std::max(width, high - low);
      largest = std::max(largest, std::max(std::fabs(low), std::fabs(high)));
    }
    small_ = std::max(well_enough * width, last_bits * largest);
  }

  // Infinite if the vertex lies at infinity.
  double at(const double* position) const {
    if (bounded_) return small_;
    double size = 0;
    for (int k = 0; k < dimension_; ++k) size = std::max(size, std::fabs(position[k]));
    return well_enough * size;
  }

 private:
  int dimension_;
  bool bounded_ = true;
  double small_ = 0;
};

class Placing {
 public:
  Placing(const ComplexArrays& arrays, const ComplexSizes& sizes, const Small& small, const Network& network, const Chart& chart,
          const Domain& domain, Monitor& monitor)
      : arrays_(arrays),
        sizes_(sizes),
        small_(small),
        network_(network),
        dimension_(chart.dimension),
        pattern_bytes_((network.total_kinks + 7) / 8),
        pieces_(std::size_t(network.total_units), 0),
        exact_(network, chart, domain, pieces_.data(), monitor) {
    std::int64_t below = 0;
    for (const Layer& layer : network.layers) {
      prices_.push_back((below + layer.most_terms) * (dimension_ + 1));
      below += std::int64_t(layer.multiply_adds);
    }
  }

  // Processes candidates in the order of their numbers, because consecutive ones share forms: the worst few first, then all.
  void run(const std::vector<Candidate>& candidates, std::int64_t credit) {
    std::vector<Candidate> order(std::min(worst, candidates.size()));
    const auto worse = [this](const Candidate& left, const Candidate& right) {
      return arrays_.vertex_errors[left.vertex] > arrays_.vertex_errors[right.vertex];
    };
    std::partial_sort_copy(candidates.begin(), candidates.end(), order.begin(), order.end(), worse);
    order.insert(order.end(), candidates.begin(), candidates.end());
    for (const Candidate& candidate : order) {
      if (price(candidate) > credit) continue;
      const std::int64_t before = exact_.products();
      const bool far_off = place(candidate);
      const std::int64_t cost = exact_.products() - before;
      credit += far_off ? reward * cost : -cost;
    }
    if (dimension_ == 1) keep_order();
  }

 private:
  // Names the vertex by the region's facets that meet there; the view is valid until the next call.
  VertexView name(const Candidate& candidate) {
    boundaries_.clear();
    const auto add = [&](std::int64_t corner) { boundaries_.push_back(arrays_.facet_kinks[arrays_.cell_facets[corner]]); };
    const std::int64_t region = region_of(candidate);
    const std::int64_t corner = candidate.corner;
    const bool is_first = corner == arrays_.cell_offsets[region];
    if (dimension_ > 1 && !is_first) add(corner - 1);
    add(corner);
    if (dimension_ > 1 && is_first) add(arrays_.cell_offsets[region + 1] - 1);
    return {-1, boundaries_.data()};
  }

  // Largest number of products, if nothing is known of the lower layers. Infinite if no neuron's boundary meets the vertex,
  // such as a corner of the domain, which is never off unless the file is forged.
  std::int64_t price(const Candidate& candidate) {
    name(candidate);
    const Boundary highest = *std::max_element(boundaries_.begin(), boundaries_.end());
    if (highest < 0) return std::numeric_limits<std::int64_t>::max();
    int layer = network_.last();
    while (network_.layers[std::size_t(layer)].first_kink > highest) --layer;
    return prices_[std::size_t(layer)];
  }

  // Returns whether the vertex was farther off than is small enough.
  bool place(const Candidate& candidate) {
    double* const known = arrays_.vertices + candidate.vertex * dimension_;
    double& bound = arrays_.vertex_errors[candidate.vertex];
    const double small = small_.at(known);
    if (!(bound > small)) return false;  // one of the worst, which came first
    enter(region_of(candidate));
    double position[most_dimensions + 1];
    exact_.coordinates(name(candidate), position);
    double moved = 0;
    double largest = 0;
    for (int k = 0; k < dimension_; ++k) {
      moved = std::max(moved, std::fabs(position[k + 1] - known[k]));
      largest = std::max(largest, std::fabs(position[k + 1]));
    }
    const double error = 0x1p-51 * largest + 0x1p-1073;
    if (!(error < bound)) return false;
    for (int k = 0; k < dimension_; ++k) known[k] = position[k + 1] + 0.0;
    bound = error;
    return moved > small;
  }

  // Enters the units' pieces in a region; forms above the lowest changed layer become invalid.
  void enter(std::int64_t region) {
    const std::uint8_t* pattern = arrays_.patterns + region * pattern_bytes_;
    int lowest = int(network_.layers.size());
    for (int index = network_.last(); index > 0; --index) {
      const Layer& layer = network_.layers[std::size_t(index)];
      for (int unit = 0; unit < layer.own; ++unit) {
        const std::uint8_t piece = piece_in(pattern, layer, unit);
        std::uint8_t& known = pieces_[std::size_t(layer.first_unit + unit)];
        if (known != piece) lowest = index;
        known = piece;
      }
    }
    for (int index = lowest + 1; index <= network_.last(); ++index) exact_.enter(index);
  }

  static std::uint8_t piece_in(const std::uint8_t* pattern, const Layer& layer, int unit) {
    const auto is_set = [&](int kink) {
      const std::int64_t bit = layer.kink(unit, kink);
      return (pattern[bit / 8] >> (bit % 8) & 1) != 0;
    };
    int piece = 0;
    for (int breakpoint = 0; breakpoint < layer.kinks; ++breakpoint) piece += is_set(breakpoint);
    if (!layer.has_maxima()) return std::uint8_t(piece);
    const int arms = layer.arms[unit + 1] - layer.arms[unit];
    for (int arm = 1; arm < arms; ++arm)
      if (is_set(PairOfArms{0, arm}.number())) piece = arm;
    return std::uint8_t(piece);
  }

  // On a line, neighbours with different errors can have changed places: then their bounds overlap. The less accurate one is
  // moved to the position of the other, and its error is at most the larger of both.
  void keep_order() {
    for (std::int64_t right = 1; right < sizes_.vertices; ++right)
      for (std::int64_t left = right - 1; left >= 0 && arrays_.vertices[left] > arrays_.vertices[right]; --left) {
        const bool move_left = arrays_.vertex_errors[left] > arrays_.vertex_errors[right];
        arrays_.vertices[move_left ? left : right] = arrays_.vertices[move_left ? right : left];
      }
  }

  std::int64_t region_of(const Candidate& candidate) const {
    return std::upper_bound(arrays_.cell_offsets, arrays_.cell_offsets + sizes_.regions + 1, candidate.corner) - arrays_.cell_offsets - 1;
  }

  const ComplexArrays& arrays_;
  const ComplexSizes& sizes_;
  const Small& small_;
  const Network& network_;
  int dimension_;
  std::int64_t pattern_bytes_;
  std::vector<std::uint8_t> pieces_;
  Exact exact_;
  std::vector<std::int64_t> prices_;  // [layers]
  std::vector<Boundary> boundaries_;
};

}  // namespace

void place_again(const ComplexArrays& arrays, const ComplexSizes& sizes, const Network& network, const Chart& chart,
                 const Domain& domain, std::int64_t cells, Monitor& monitor) {
  const Small small(domain, chart.dimension);
  std::vector<Candidate> candidates;
  std::int64_t corner = 0;
  for (std::int64_t vertex = 0; vertex < sizes.vertices; ++vertex) {
    if (!(arrays.vertex_errors[vertex] > small.at(arrays.vertices + vertex * chart.dimension))) continue;
    // Vertices are in the order of the corners where they are first used.
    while (arrays.cell_vertices[corner] != vertex)
      if (++corner == sizes.corners) throw std::invalid_argument("vertices are not in the order of their first use");
    candidates.push_back({vertex, corner});
  }
  if (candidates.empty()) return;
  Placing(arrays, sizes, small, network, chart, domain, monitor).run(candidates, first_credit + cells / cells_per_credit);
}

}  // namespace regions
