// SPDX-License-Identifier: MIT
// What do the units of a new layer read, if layers read patches?
//
// Only terms of a patch are needed that have a contribution: an output of a decided unit, or a column. Many units are
// off, so these terms cannot be predicted, and all rows of a patch read the same terms: the terms found for one panel are
// cached for the next.
// Cost: for each patch its terms, and for each panel those terms that were found.
#pragma once

#include <algorithm>
#include <vector>

#include "rows/fold.hpp"
#include "rows/panel.hpp"
#include "task/network.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// A contribution of a unit of the layer below.
template <int D>
struct Found {
  const Row<D>* output = nullptr;
  int column = -1;
  bool any() const { return output != nullptr || column >= 0; }
};

template <int D>
class FoundTerms {
 public:
  // Outputs of decided units below the layer, and the columns of the last block, its units in order.
  void begin_layer(const Layer& layer, const std::vector<Fold<D>>& outputs, const Block<D>* own, int first_column) {
    layer_ = &layer;
    found_.assign(std::size_t(layer.inputs), Found<D>{});
    for (const Fold<D>& output : outputs) found_[std::size_t(output.column)].output = output.output;
    if (own != nullptr)
      for (int row = 0, column = first_column; row < own->count; row = own->end_of_unit(row), ++column)
        found_[std::size_t(own->rows[row]->unit)].column = column;
    parts_.resize(layer.weights.dense().size() + layer.weights.patches().size());
    for (TermsOfPart& terms : parts_) terms.patch = not_seen;
    last_is_of_one_ = false;
  }

  const Found<D>& of(int source) const { return found_[std::size_t(source)]; }

  // Returns whether these units read the same as the units before.
  bool are_the_same(const int* units, int count) {
    bool of_one = true;  // of one patch of each part
    bool same = last_is_of_one_;
    const TermsOfPart* terms = parts_.data() + layer_->weights.dense().size();
    for (const PatchPart& part : layer_->weights.patches()) {
      const int patch = part.patch_of(units[0]);
      for (int r = 1; r < count; ++r) of_one = of_one && part.patch_of(units[r]) == patch;
      same = same && (terms++)->patch == patch;
    }
    last_is_of_one_ = of_one;
    return same && of_one;
  }

  // Calls work(contribution, the units' weights) for each term: terms of dense parts first.
  template <class Work>
  void for_each(const int* units, int count, Work work) {
    TermsOfPart* terms = parts_.data();
    for (const DensePart& part : layer_->weights.dense()) {
      see(PatchPart::none, part.inputs, [&](int input) { return part.first + input; }, *terms);
      for (const FoundTerm& term : (terms++)->terms)
        work(term.found, side_by_side([&](int r) {
               const std::size_t unit = std::size_t(units[std::min(r, count - 1)]);
               return part.weights[unit * std::size_t(part.inputs) + std::size_t(term.place)];
             }));
    }
    for (const PatchPart& part : layer_->weights.patches()) for_each_of(part, units, count, *terms++, work);
  }

 private:
  static constexpr int not_seen = -2;

  // The index of an input or of a term of a patch.
  struct FoundTerm {
    int place;
    Found<D> found;
  };

  struct TermsOfPart {
    int patch;  // the patch of these terms
    std::vector<FoundTerm> terms;
  };

  // Patches of some of the units, one after another: units of other patches have weights of 0.
  template <class Work>
  void for_each_of(const PatchPart& part, const int* units, int count, TermsOfPart& terms, Work& work) {
    bool done[rows_at_once] = {};
    if (part.patch_of(units[0]) < 0) terms.patch = PatchPart::none;
    for (int first = 0; first < count; ++first) {
      const int patch = done[first] ? PatchPart::none : part.patch_of(units[first]);
      if (patch < 0) continue;
      int row_of[rows_at_once];
      bool in_a_row = first == 0 && part.row_of(units[0]) + rows_at_once <= part.padded_rows();
      for (int r = 0; r < rows_at_once; ++r) {
        row_of[r] = r < count && part.patch_of(units[r]) == patch ? part.row_of(units[r]) : -1;
        if (row_of[r] >= 0) done[r] = true;
        in_a_row = in_a_row && (r >= count || row_of[r] == part.row_of(units[0]) + r);
      }
      see(patch, part.terms(), [&](int term) { return part.sources(patch)[term]; }, terms);
      const double* const kernel = part.kernel(patch);
      for (const FoundTerm& term : terms.terms) {
        const double* weights = kernel + std::size_t(term.place) * std::size_t(part.padded_rows());
        work(term.found, in_a_row ? load<RowLanes>(weights + row_of[0])
                                  : side_by_side([&](int r) { return row_of[r] < 0 ? 0.0 : weights[row_of[r]]; }));
      }
    }
  }

  template <class SourceOf>
  void see(int patch, int count, SourceOf source_of, TermsOfPart& terms) {
    if (terms.patch == patch) return;
    terms.patch = patch;
    terms.terms.clear();
    for (int term = 0; term < count; ++term) {
      const int source = source_of(term);
      if (source >= 0 && of(source).any()) terms.terms.push_back({term, of(source)});
    }
  }

  const Layer* layer_ = nullptr;
  std::vector<Found<D>> found_;      // of each unit of the layer below
  std::vector<TermsOfPart> parts_;   // of the new layer, dense ones first
  bool last_is_of_one_ = false;      // whether the last units were of one patch of each part
};

}  // namespace REGIONS_TARGET
}  // namespace regions
