// SPDX-License-Identifier: MIT
// How far may a row be off because of rounding in the units that were folded into it?
//
// The sum of |weight| times error over all units grows by the 1-norms of the weights: 0.56 sqrt(width) per layer
// if weights are He-normal, while values do not grow, and after 10 to 25 layers nothing is left of 53 bits. The length of the vector
// of errors grows by the spectral norm of the weights: 2.8 at every width. Therefore a row stores only its own rounding
// (`own`), and each layer has two vectors, in lanes like a row:
// largest   the largest `own` of the outputs of decided units, lane by lane
// carried   N_l = gain_l N_(l-1) + sqrt(units_l) largest_l: over decided units j, |(e_j)_j|_2 <= N_l . (1, |p|)
// where e_j is the error of j's output. A row's error is own_i + |w_i|_2 N_(l-1). The proof is in
// docs/error-bounds.md. It rests on the form of a row's error, e = (own part) + sum over decided units j of the
// layer just below of w_ij e_j, and requires of every unit that its error never exceeds `most`, which was charged in the
// size of its column. If it does, bounds are no longer trusted: the error is infinite, and signs are decided exactly.
// Invariant: layers_[l] is valid for all units of layer l decided so far. Cost: a maximum for each unit that is decided,
// and two vectors for each layer that is at work on a cell.
#pragma once

#include <cmath>
#include <vector>

#include "memory/arena.hpp"
#include "rows/fold.hpp"
#include "rows/relax.hpp"
#include "rows/rows.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// An upper bound on the product of a bound and a factor: 0 if one of them is 0, even if the other is infinite.
template <class Lanes>
Lanes multiple(Lanes bound, double factor) {
  return factor == 0 ? Lanes{} : bound == 0 ? Lanes{} : bound * (factor * slack) + room_for_underflow;
}

// Sets the errors of rows from `own` and from the layers below. A row into which only exact zeros were folded has `own` 0, and
// inherits no error. `norms` are the norms of the units' weights.
template <int D>
void set_errors(RowLanes norms, const AffineLanes<D>& below, Panel<D>& panel) {
  RowLanes inherited{};
  for (int k = 0; k <= panel.dims; ++k) inherited = panel.own[k] == 0 ? inherited : norms;
  for (int k = 0; k <= panel.dims; ++k) {
    RowLanes error = panel.own[k];
    for (int m = 0; m + 1 < panel.limbs; ++m) error += absolute(panel.low[m][k]);  // signs are decided on the first limb
    const RowLanes carried = below[k] == 0 ? RowLanes{} : inherited * slack * below[k] + room_for_underflow;
    panel.error[k] = inherited == 0 ? error : (error + carried) * slack;
  }
}

template <int D>
class ResidualBounds {
 public:
  using Lanes = AffineLanes<D>;

  ResidualBounds(const Network& network, Dims<D> dims)
      : network_(network), dims_(dims), layers_(network.layers.size()), carried_(network.layers.size()) {}

  // Starts a part of the cell whose residuals are `parent`.
  void begin(const Residuals<D>& parent, int frontier) {
    for (int layer = parent.first; layer <= frontier; ++layer)
      layers_[std::size_t(layer)] = parent.layers[layer - parent.first];
    known_ = parent.first - 1;
    carried_[std::size_t(known_)] = parent.below;
  }

  // The residuals that the layer inherits; everything decidable below it on this cell has been decided.
  const Lanes& below(int layer) {
    while (known_ < layer - 1) {
      ++known_;
      const Layer& here = network_.layers[std::size_t(known_)];
      carried_[std::size_t(known_)] = (multiple(carried_[std::size_t(known_) - 1], here.gain) +
                                       multiple(layers_[std::size_t(known_)].largest, std::sqrt(double(here.units)))) *
                                      slack;
    }
    return carried_[std::size_t(layer) - 1];
  }

  // Begins a layer that reads these decided units and `count` columns, and chooses the limit of its units' errors. Any limit is
  // valid. It is a part of the sizes of columns, so it should be small, but no error should reach it.
  void bring_in(int layer, const std::vector<Fold<D>>& folds, const Relaxation<D>* columns, int count) {
    Lanes sizes{};
    for (const Fold<D>& fold : folds) sizes = at_least(sizes, fold.output->size);
    for (int k = 0; k < count; ++k) sizes = at_least(sizes, columns[k].size);
    const Layer& here = network_.layers[std::size_t(layer)];
    layers_[std::size_t(layer)].largest = Lanes{};
    layers_[std::size_t(layer)].most =
        multiple(sizes, 0x1p-8 * here.largest_sum) + multiple(below(layer), 0x1p10 * here.largest_norm);
    layers_[std::size_t(layer)].most[0] += 0x1p-8 * here.largest_bias;  // because the inputs may have no constant terms
  }

  void decided(int layer, const Row<D>& row, const Row<D>& output) {
    LayerResiduals<D>& here = layers_[std::size_t(layer)];
    here.largest = at_least(here.largest, output.own);
    for (int k = 0; k <= dims_; ++k)
      if (!(row.error[k] <= here.most[k])) here.largest = Lanes{} + INFINITY;
  }

  void rewritten(int layer, const Row<D>& output) {
    layers_[std::size_t(layer)].largest = at_least(layers_[std::size_t(layer)].largest, output.own);
  }

  // Bound on the size of a unit's output, divided by its slope: on the size of any row that will represent the unit in the cell,
  // and on its error.
  Lanes size_of_column(int layer, const Row<D>& row) const {
    const Lanes& most = layers_[std::size_t(layer)].most;
    return row.size + most + at_least(most, row.error);
  }

  // The part that the halves of this cell need, if `first` is its lowest undecided layer.
  Residuals<D> kept(int first, int frontier, Arena& arena) {
    Residuals<D> result{first, below(first), arena.take<LayerResiduals<D>>(std::size_t(frontier - first + 1))};
    for (int layer = first; layer <= frontier; ++layer) result.layers[layer - first] = layers_[std::size_t(layer)];
    return result;
  }

 private:
  const Network& network_;
  const Dims<D> dims_;
  std::vector<LayerResiduals<D>, AlignedAllocator<LayerResiduals<D>>> layers_;
  std::vector<Lanes, AlignedAllocator<Lanes>> carried_;
  int known_ = 0;  // the highest layer with valid `carried_`
};

}  // namespace REGIONS_TARGET
}  // namespace regions
