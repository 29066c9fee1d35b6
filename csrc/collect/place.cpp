// SPDX-License-Identifier: MIT
#include "collect/place.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

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
  Part* part;
  std::int64_t corner;
  CollectedVertex* vertex;
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
  double at(const CollectedVertex& vertex) const {
    if (bounded_) return small_;
    double size = 0;
    for (int k = 0; k < dimension_; ++k) size = std::max(size, std::fabs(vertex.position[k]));
    return well_enough * size;
  }

 private:
  int dimension_;
  bool bounded_ = true;
  double small_ = 0;
};

class Placing {
 public:
  Placing(Whole& whole, const Small& small, const Network& network, const Chart& chart, const Domain& domain,
          Monitor& monitor)
      : whole_(whole),
        small_(small),
        network_(network),
        dimension_(chart.dimension),
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
    const auto worse = [](const Candidate& left, const Candidate& right) { return left.vertex->error > right.vertex->error; };
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
    Collected& collected = *candidate.part->collected;
    const std::int64_t region = region_of(candidate);
    for (std::int64_t facet = collected.offsets[region]; facet < collected.offsets[region + 1]; ++facet)
      if (facet == candidate.corner || collected.end_of(facet) == candidate.corner)
        boundaries_.push_back(collected.boundaries[facet].boundary());
    return {-1, boundaries_.data()};
  }

  // Largest number of products, if nothing is known of the lower layers. Infinite if no neuron's boundary meets the vertex,
  // such as a corner of the domain, which is never off unless the file is forged.
  std::int64_t price(const Candidate& candidate) {
    name(candidate);
    if (int(boundaries_.size()) != dimension_) return std::numeric_limits<std::int64_t>::max();
    const Boundary highest = *std::max_element(boundaries_.begin(), boundaries_.end());
    if (highest < 0) return std::numeric_limits<std::int64_t>::max();
    int layer = network_.last();
    while (network_.layers[std::size_t(layer)].first_kink > highest) --layer;
    return prices_[std::size_t(layer)];
  }

  // Returns whether the vertex was farther off than is small enough.
  bool place(const Candidate& candidate) {
    CollectedVertex& vertex = *candidate.vertex;
    const double small = small_.at(vertex);
    if (!(vertex.error > small)) return false;  // one of the worst, which came first
    enter(*candidate.part->collected, region_of(candidate));
    double position[most_dimensions + 1];
    exact_.coordinates(name(candidate), position);
    double moved = 0;
    double largest = 0;
    for (int k = 0; k < dimension_; ++k) {
      moved = std::max(moved, std::fabs(position[k + 1] - vertex.position[k]));
      largest = std::max(largest, std::fabs(position[k + 1]));
    }
    const double error = 0x1p-51 * largest + 0x1p-1073;
    if (!(error < vertex.error)) return false;
    for (int k = 0; k < dimension_; ++k) vertex.position[k] = position[k + 1] + 0.0;
    vertex.error = error;
    return moved > small;
  }

  // Enters the units' pieces in a region; forms above the lowest changed layer become invalid.
  void enter(Collected& collected, std::int64_t region) {
    const std::uint8_t* pattern = collected.patterns.data() + std::size_t(region) * collected.pattern_bytes;
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
    std::vector<CollectedVertex*> vertices;
    whole_.for_each_vertex([&](CollectedVertex& right) {
      for (std::size_t before = vertices.size(); before > 0; --before) {
        CollectedVertex& left = *vertices[before - 1];
        if (!(left.position[0] > right.position[0])) break;
        const bool move_left = left.error > right.error;
        (move_left ? left : right).position[0] = (move_left ? right : left).position[0];
      }
      vertices.push_back(&right);
    });
  }

  static std::int64_t region_of(const Candidate& candidate) {
    Collected& collected = *candidate.part->collected;
    return std::upper_bound(collected.offsets.begin(), collected.offsets.end(), candidate.corner) - collected.offsets.begin() - 1;
  }

  Whole& whole_;
  const Small& small_;
  const Network& network_;
  int dimension_;
  std::vector<std::uint8_t> pieces_;
  Exact exact_;
  std::vector<std::int64_t> prices_;  // [layers]
  std::vector<Boundary> boundaries_;
};

}  // namespace

void place_again(Whole& whole, const Network& network, const Chart& chart, const Domain& domain, std::int64_t cells,
                 int workers, Monitor& monitor) {
  const Small small(domain, chart.dimension);
  std::vector<std::vector<Candidate>> found(whole.parts.size());
  whole.with_each_part(workers, [&](Part& part) {
    std::vector<Candidate>& here = found[part.index];
    whole.for_each_vertex_of(part, [&](std::int64_t rank, CollectedVertex& vertex) {
      if (vertex.error > small.at(vertex)) here.push_back({&part, rank, &vertex});
    });
    // The corners where vertices are first used have their order.
    std::int64_t corner = part.begin.corners;
    for (Candidate& candidate : here) {
      const std::int64_t rank = candidate.corner;
      while (part.collected->corners[corner] != rank) ++corner;
      candidate.corner = corner;
    }
  });
  std::vector<Candidate> candidates;
  for (const std::vector<Candidate>& here : found) candidates.insert(candidates.end(), here.begin(), here.end());
  if (candidates.empty()) return;
  Placing(whole, small, network, chart, domain, monitor).run(candidates, first_credit + cells / cells_per_credit);
}

}  // namespace regions
