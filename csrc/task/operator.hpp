// SPDX-License-Identifier: MIT
// What does a unit read of the layer below it?
//
// A sum of parts. A dense part has a weight for each unit and each output of the layer below, or a range of them.
// A part of patches applies small dense blocks at many positions: a patch is a block, the list of the outputs that its
// columns read, and the list of the units that its rows compute. In a convolution all patches have the same block. After
// the units that read parts there may be *pass-through* units, each of which is one output of the layer below, unchanged, for
// a later layer to read.
// A row is given as its terms (sources and weights), and only this file knows how weights are stored. Several terms may have the
// same source. A single dense part that reads all of the layer below is pointed to, not copied.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace regions {

// The inputs of one unit; the sources are 0, 1, .. if they are not listed.
struct Terms {
  int count;
  const int* sources;
  const double* weights;

  int source(int term) const { return sources == nullptr ? term : sources[term]; }
};

// The destination of terms that are not stored in this form.
struct TermRoom {
  std::vector<int> sources;
  std::vector<double> weights;
};

struct DensePart {
  int first;              // of the outputs that are read
  int inputs;             // number of inputs
  const double* weights;  // [units, inputs]
};

// Blocks of weights at many positions, as they are given.
struct PatchArrays {
  int first;                   // offset of the outputs that sources count from
  int kinds, rows, terms, patches;
  const double* kernels;       // [kinds, rows, terms]
  const std::int32_t* kind;    // [patches]
  const std::int32_t* sources; // [patches, terms], or -1
  const std::int32_t* targets; // [patches, rows], each unit at most once
};

// The blocks as rows read them: kernels term by term, with the rows of a term side by side and padded to whole vectors of eight.
// Terms are sorted by when the layer below writes the outputs that they read, because outputs written one after the other often
// list the same columns (rows/fold.hpp). One patch with the most inputs decides the order for all.
class PatchPart {
 public:
  static constexpr int none = -1;

  PatchPart(const PatchArrays& arrays, int units, const std::vector<int>& rank_below)
      : rows_(arrays.rows), terms_(arrays.terms), padded_rows_((arrays.rows + 7) / 8 * 8),
        kernels_(std::size_t(arrays.kinds) * std::size_t(arrays.terms) * std::size_t(padded_rows_), 0.0),
        kind_(arrays.kind, arrays.kind + arrays.patches),
        sources_(arrays.sources, arrays.sources + std::size_t(arrays.patches) * std::size_t(arrays.terms)),
        targets_(arrays.targets, arrays.targets + std::size_t(arrays.patches) * std::size_t(arrays.rows)),
        places_(std::size_t(units), none) {
    for (std::int32_t& source : sources_) source = source < 0 ? none : source + arrays.first;
    const std::vector<int> order = order_of_terms(rank_below);
    for (int kind = 0; kind < arrays.kinds; ++kind)
      for (int row = 0; row < rows_; ++row)
        for (int term = 0; term < terms_; ++term)
          kernels_[(std::size_t(kind) * std::size_t(terms_) + std::size_t(term)) * std::size_t(padded_rows_) +
                   std::size_t(row)] =
              arrays.kernels[(std::size_t(kind) * std::size_t(rows_) + std::size_t(row)) * std::size_t(terms_) +
                             std::size_t(order[std::size_t(term)])];
    std::vector<std::int32_t> before;
    for (int patch = 0; patch < patches(); ++patch) {
      std::int32_t* const here = sources_.data() + std::size_t(patch) * std::size_t(terms_);
      before.assign(here, here + terms_);
      for (int term = 0; term < terms_; ++term) here[term] = before[std::size_t(order[std::size_t(term)])];
    }
    for (std::size_t place = 0; place < targets_.size(); ++place) places_[std::size_t(targets_[place])] = int(place);
  }

  int rows() const { return rows_; }
  int terms() const { return terms_; }
  int padded_rows() const { return padded_rows_; }
  int patches() const { return int(kind_.size()); }
  int patch_of(int unit) const { return places_[std::size_t(unit)] < 0 ? none : places_[std::size_t(unit)] / rows_; }
  int row_of(int unit) const { return places_[std::size_t(unit)] % rows_; }
  const std::int32_t* sources(int patch) const { return sources_.data() + std::size_t(patch) * std::size_t(terms_); }
  const std::int32_t* targets(int patch) const { return targets_.data() + std::size_t(patch) * std::size_t(rows_); }
  const std::vector<double>& kernels() const { return kernels_; }
  // [terms, padded rows]
  const double* kernel(int patch) const {
    return kernels_.data() +
           std::size_t(kind_[std::size_t(patch)]) * std::size_t(terms_) * std::size_t(padded_rows_);
  }

 private:
  std::vector<int> order_of_terms(const std::vector<int>& rank_below) const {
    int fullest = 0;
    std::ptrdiff_t most = -1;
    for (int patch = 0; patch < patches(); ++patch) {
      const std::ptrdiff_t read = terms_ - std::count(sources(patch), sources(patch) + terms_, none);
      if (read > most) fullest = patch;
      most = std::max(most, read);
    }
    std::vector<int> order(std::size_t(terms_), 0);
    for (int term = 0; term < terms_; ++term) order[std::size_t(term)] = term;
    const auto rank = [&](int term) {
      const int source = sources(fullest)[term];
      return source < 0 ? -1 : rank_below[std::size_t(source)];
    };
    std::stable_sort(order.begin(), order.end(), [&](int left, int right) { return rank(left) < rank(right); });
    return order;
  }

  int rows_, terms_, padded_rows_;
  std::vector<double> kernels_;
  std::vector<std::int32_t> kind_, sources_, targets_;
  std::vector<int> places_;  // [units]: patch * rows + row
};

class LinearOperator {
 public:
  LinearOperator() = default;
  LinearOperator(const double* weights, int inputs) : dense_{{0, inputs, weights}}, whole_(true), own_(-1) {}
  // For `own` units, followed by pass-through units with these sources.
  LinearOperator(std::vector<DensePart> dense, std::vector<PatchPart> patches, int own, std::vector<int> passed)
      : dense_(std::move(dense)), patches_(std::move(patches)), passed_(std::move(passed)), own_(own) {}

  // Returns whether rows are stored contiguously, with a weight for each output of the layer below.
  bool is_whole() const { return whole_; }

  // [inputs], for an operator that is whole.
  const double* row(int unit) const {
    return dense_[0].weights + std::size_t(unit) * std::size_t(dense_[0].inputs);
  }

  const std::vector<DensePart>& dense() const { return dense_; }
  const std::vector<PatchPart>& patches() const { return patches_; }
  const std::vector<int>& passed() const { return passed_; }

  // Valid until the room is used for another unit.
  Terms terms(int unit, TermRoom& room) const {
    if (whole_) return {dense_[0].inputs, nullptr, row(unit)};
    room.sources.clear();
    room.weights.clear();
    if (unit >= own_) {
      room.sources.push_back(passed_[std::size_t(unit - own_)]);
      room.weights.push_back(1);
    } else {
      for (const DensePart& part : dense_)
        for (int input = 0; input < part.inputs; ++input)
          add(part.first + input, part.weights[std::size_t(unit) * std::size_t(part.inputs) + std::size_t(input)], room);
      for (const PatchPart& part : patches_) {
        const int patch = part.patch_of(unit);
        if (patch < 0) continue;
        const std::int32_t* sources = part.sources(patch);
        const double* weight = part.kernel(patch) + part.row_of(unit);
        for (int term = 0; term < part.terms(); ++term, weight += part.padded_rows()) add(sources[term], *weight, room);
      }
    }
    return {int(room.sources.size()), room.sources.data(), room.weights.data()};
  }

  // Calls work(weight) for each weight of these rows, and perhaps for zeros.
  template <class Work>
  void for_each_weight(int rows, Work work) const {
    for (const DensePart& part : dense_)
      std::for_each(part.weights, part.weights + std::size_t(rows) * std::size_t(part.inputs), work);
    for (const PatchPart& part : patches_) std::for_each(part.kernels().begin(), part.kernels().end(), work);
  }

 private:
  static void add(int source, double weight, TermRoom& room) {
    if (source < 0 || weight == 0) return;
    room.sources.push_back(source);
    room.weights.push_back(weight);
  }

  std::vector<DensePart> dense_;
  std::vector<PatchPart> patches_;
  std::vector<int> passed_;
  bool whole_ = false;
  int own_ = 0;
};

}  // namespace regions
