// SPDX-License-Identifier: MIT
// Which regions does a bounded segment, or an arc, meet, if all of them are well apart?
//
// On a segment, numbers can replace the rows and columns of the recursion: the values of a layer at all
// breakpoints so far. Between two neighbours every unit is affine, so a unit that meets a kink there adds one
// breakpoint, whose values are between theirs. One matrix product per layer does nearly all the work, in pieces of a few
// hundred breakpoints, depth first, so that memory stays small.
//
// For a breakpoint t, outputs are stored that are nearly the values of the affine maps on both of its sides at *some*
// real number p, and
// error    their distance, in the 2-norm: grows by spectral norms, as in residuals.hpp
// slip     |p - t| at most, in units of the segment
// length   from this p to the next, to within 2^-24 of itself
// place    p, if regions are collected
// The side of a kink that a unit is on at t is proven if its value at p is farther from the kink than its error and `slip`
// times the slope. Two breakpoints between the same neighbours are in proven order if they are farther apart than the sum of
// their slips. If anything is not proven, for any reason, nothing is concluded, and the recursion is used. So
// nothing is ever decided in long integers here, and degenerate cases are left to the recursion.
// The lowest layers have up to four times the working precision: there are few breakpoints, and many layers above.
// Arcs differ as described in curved.hpp. The proofs are in docs/segments.md and docs/arcs.md.
// Cost: breakpoints x units x active units of the layer below, for each layer.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernel/layer_values.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A line is Straight or Curved.
template <class Line>
class Sweep {
 public:
  // Without a strand regions are only counted.
  explicit Sweep(const Task& task, Strand* strand = nullptr)
      : task_(task),
        strand_(strand),
        network_(task.network),
        state_{task, strand, arena_, network_, std::vector<LayerSweep>(network_.layers.size()), {}},
        layers_(state_.layers) {}

  // Returns whether the regions are proven: then `outcome` and the strand have them. Retries with more precision.
  bool run() {
    if (!suits()) return false;
    prepare();
    // Positions on arcs are not placed again, so bounds on their errors should be small at once. In deep networks of units
    // that may be saturated breakpoints multiply, and most of the time is spent in the highest layers.
    const bool well_placed = strand_ != nullptr && task_.domain.arc;
    const bool multiplies = network_.last() > 8 && std::any_of(layers_.begin() + 1, layers_.end(), [](const auto& layer) {
      return !layer.pieces.simple;
    });
    const double first = well_placed ? (multiplies ? 0x1p-32 : 0x1p-36) : 0x1p-16;
    const double second = multiplies ? 0x1p-36 : 0x1p-26;
    for (const Guess guess : {Guess{first, false}, Guess{second, false}, Guess{second, true}}) {
      if (!choose_precision(guess)) continue;
      if (guess.cautious && layers_[1].limbs < 3) return false;  // precision was not what was missing
      const Arena::Mark mark = arena_.mark();
      finished_ = 0;
      if (strand_ != nullptr) strand_->clear();
      if (Line::start(state_) && descend()) return true;
      arena_.release(mark);
      task_.outcome = Outcome{};
      task_.monitor.finished(-finished_);
      if (strand_ != nullptr) strand_->clear();
    }
    return false;
  }

 private:
  bool suits() const {
    if (task_.panels == nullptr || network_.last() < 1) return false;
    // If no values of a layer are computed, nothing would reveal that they are beyond the largest double.
    for (int l = 1; l <= network_.last(); ++l)
      if (network_.layers[std::size_t(l)].kinks == 0) return false;
    const Domain& domain = task_.domain;
    const bool bounded = domain.arc || (domain.generators[0] != 0 && domain.generators[task_.chart.dimension + 1] != 0);
    return domain.count == 2 && bounded;
  }

  void prepare() {
    for (int l = 1; l <= network_.last(); ++l) {
      const Layer& layer = network_.layers[std::size_t(l)];
      LayerSweep& here = layers_[std::size_t(l)];
      const std::size_t units = std::size_t(layer.units);
      here.stride = std::size_t(padded(layer.units));
      here.norm = layer.largest_norm;
      here.spread = layer.largest_norm * std::sqrt(double(units)) * slack;
      here.biases = arena_.take<double>(here.stride);
      here.pieces = pieces_of(layer, here.stride, arena_);
      double squares = 0;
      for (std::size_t i = 0; i < here.stride; ++i) {
        const bool real = i < units;
        here.biases[i] = real ? layer.biases[i] : 0;
        const double magnitude = std::fabs(here.biases[i]);
        here.bias = at_least(here.bias, magnitude);
        squares += magnitude * magnitude;
      }
      here.bias_norm = std::sqrt(squares) * slack + floor_of_sizes * double(units);
    }
  }

  // How many doubts are allowed, and whether values are expected to grow as the mean row of weights makes them grow, not the
  // largest one. In narrow networks of 80 layers this is 2^40 times less.
  struct Guess {
    double most_doubts;
    bool cautious;
  };

  // Gives more limbs to the lowest layers, to as few as make a doubt unlikely. This is a guess, which affects only time.
  bool choose_precision(const Guess& guess) {
    int layers[Line::most_limbs + 1];  // with so many limbs or more
    std::fill_n(layers, Line::most_limbs + 1, network_.last());
    for (int limbs = Line::most_limbs; limbs > 1; --limbs) {
      int& fewest = layers[limbs];
      fewest = limbs == Line::most_limbs ? 0 : layers[limbs + 1];
      while (!(expected_doubts(layers, guess.cautious) < guess.most_doubts))
        if (++fewest > network_.last()) return false;
    }
    for (int l = 1; l <= layers[std::min(3, Line::most_limbs)]; ++l)
      if (layers_[std::size_t(l)].limbs > 2)
        refine_kinks(network_.layers[std::size_t(l)], layers_[std::size_t(l)].pieces, arena_);
    return true;
  }

  // Sets the precision of all layers.
  double expected_doubts(const int* layers_with_limbs, bool cautious) {
    double error = 0;  // of outputs, in units of their size
    double doubts = 0;
    double breakpoints = 2;
    for (int l = 1; l <= network_.last(); ++l) {
      const Layer& layer = network_.layers[std::size_t(l)];
      LayerSweep& here = layers_[std::size_t(l)];
      here.limbs = 1;
      while (here.limbs < Line::most_limbs && l <= layers_with_limbs[here.limbs + 1]) ++here.limbs;
      here.rounding = here.limbs == 1   ? rounding_of_products(layer.inputs)
                      : here.limbs == 2 ? rounding_of_doubled_products(layer.inputs)
                                        : rounding_of_limbs(here.limbs, layer.inputs);
      here.intercept_rounding = here.pieces.intercept_size * rounding_of_output(here.limbs);
      const double spread = cautious ? root_of_squares(layer) : here.spread;
      const double growth = layer.gain / (spread * std::sqrt(0.5 / layer.units));  // more than values do
      error = error * growth + 1.5 * here.rounding * std::sqrt(double(layer.units));
      doubts += breakpoints * error;
      breakpoints += 0.5 * layer.units;
    }
    return doubts;
  }

  static double root_of_squares(const Layer& layer) {
    double squares = 0;
    for (int i = 0; i < layer.units; ++i) squares += layer.norms[std::size_t(i)] * layer.norms[std::size_t(i)];
    return std::sqrt(squares);
  }

  // Depth first: each layer passes on a few hundred of its breakpoints at a time.
  bool descend() {
    int l = 1;
    if (!advance(l)) return false;
    while (l > 0) {
      LayerSweep& here = layers_[std::size_t(l)];
      if (l == network_.last() || here.next + 1 >= here.count) {
        --l;
        continue;
      }
      arena_.release(here.mark);
      Line::hand_on(state_, l);
      if (!advance(++l)) return false;
    }
    return true;
  }

  // Processes one layer at its breakpoints; false if a sign or an order is not proven.
  bool advance(int l) {
    LayerSweep& here = layers_[std::size_t(l)];
    const Layer& layer = network_.layers[std::size_t(l)];
    take_values(state_, l);
    here.next = 0;
    here.next_crossing = 0;
    if (!Line::find_crossings(state_, l)) return false;
    if (strand_ != nullptr && here.boundary[0] == -1) begin(l);
    here.mark = arena_.mark();
    Outcome& outcome = task_.outcome;
    const std::int64_t signs = std::int64_t(here.count) * layer.units * layer.kinks;
    outcome.signs.prove(here.limbs, signs);
    outcome.cells += std::int64_t(here.count) - 1;
    task_.monitor.work(signs / 16);
    if (l != network_.last()) return true;
    if (strand_ != nullptr) return collect(l);
    outcome.count += std::int64_t(here.count - 1 + here.crossings.size());
    task_.monitor.found(outcome.count);
    return true;
  }

  // Sets the kinks that units are above at the beginning of the curve.
  void begin(int l) {
    const Layer& layer = network_.layers[std::size_t(l)];
    const LayerSweep& here = layers_[std::size_t(l)];
    for (int i = 0; i < layer.units; ++i)
      for (int kink = 0; kink < layer.kinks; ++kink) {
        const std::size_t unit = std::size_t(i);
        double above = here.sums[unit] - here.pieces.breakpoints[here.pieces.at(kink, unit)];
        for (int m = 1; m < here.limbs; ++m) above += here.limb_of_sums(m)[unit];
        if (above > 0) strand_->switch_on(layer.kink(i, kink));
      }
    if (l == network_.last()) strand_->begin(Line::vertex(state_, here, std::size_t{0}), -1);
  }

  // Collects the regions between the breakpoints of the last layer; false if the numbers are out of range.
  bool collect(int l) {
    const LayerSweep& here = layers_[std::size_t(l)];
    const Layer& layer = network_.layers[std::size_t(l)];
    const Crossing* crossing = here.crossings.data();
    const Crossing* const end = crossing + here.crossings.size();
    for (std::size_t k = 0; k + 1 < here.count; ++k) {
      for (; crossing < end && crossing->after == k; ++crossing) {
        if (!reach(Line::vertex(state_, here, *crossing), layer.kink(crossing->unit, crossing->kink))) return false;
      }
      if (!reach(Line::vertex(state_, here, k + 1), here.boundary[k + 1])) return false;
    }
    const double finished = Line::finished(state_, here);
    task_.monitor.finished(finished - finished_);
    finished_ = finished;
    return true;
  }

  bool reach(const CollectedVertex& vertex, Boundary boundary) {
    if (!(vertex.error < INFINITY)) return false;
    task_.outcome.count = strand_->reach(vertex, boundary);
    task_.monitor.found(task_.outcome.count);
    return true;
  }

  const Task& task_;
  Strand* strand_;
  double finished_ = 0;  // fraction of the curve
  Arena arena_;
  const Network& network_;
  SweepState state_;
  std::vector<LayerSweep>& layers_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
