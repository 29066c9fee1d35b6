// SPDX-License-Identifier: MIT
// What are the maps of the outputs in the parts that a sweep leaves?
//
// In a part every unit is on one piece, so the rows can be written as affine forms, layer by layer. Neighbouring parts differ in
// few signs: a layer is written again only if a sign in it, or in a layer below, differs from the part before.
// Invariant: a form differs from the true one by an affine function, which is at most error . (1, |p|) for all points p of the
// plane. The proof is in docs/error-bounds.md, "Maps of the outputs".
// Cost: at most rows x columns for each part, only if maps are requested.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/swept_parts.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class SweptMaps {
 public:
  static constexpr int D = Polygon::dimension;
  using Lanes = AffineLanes<D>;

  // Writes maps and then errors of each of these parts.
  void write(const Network& network, const LocalNetwork<D>& local, int layers, const KeptRows* blocks,
             const SweptParts& parts, const int* begin, const int* end, double* maps) {
    const int numbers = network.outputs() * (D + 1);
    const Block<D>& outputs = local.blocks[layers];
    const std::size_t units = layers == 0 ? 0 : std::size_t(blocks[layers - 1].first_output + blocks[layers - 1].room);
    outputs_.resize(units);
    rows_.resize(units);
    written_.assign(units, 0);
    const std::uint32_t* before = nullptr;
    for (const int* part = begin; part < end; ++part, maps += 2 * numbers) {
      const std::uint32_t* signs = parts.signs_in(*part);
      int same = 0;  // the number of layers, from the lowest one on, with the same outputs as in the part before
      while (before && same < layers && signs[same] == before[same]) ++same;
      before = signs;
      for (int b = same; b < layers; ++b) {
        char* written = written_.data() + blocks[b].first_output;
        if (b > same) std::fill_n(written, blocks[b].count, 0);
        for (int r = 0; r < blocks[b].count; ++r)
          set_output(network, local.blocks[b], blocks, b, r, signs[b] >> r & 1);
      }
      for (int r = 0; r < outputs.count; ++r) {
        const Row<D>& row = *outputs.rows[r];
        const Form form = form_of(row, layers, blocks);
        for (int k = 0; k <= D; ++k) {
          maps[row.unit * (D + 1) + k] = form.value[k];
          maps[numbers + row.unit * (D + 1) + k] = form.error[k];
        }
      }
    }
  }

 private:
  struct Form {
    Lanes value;
    Lanes error;
  };

  // Returns the form of a row of this layer, from the outputs of lower layers.
  Form form_of(const Row<D>& row, int b, const KeptRows* blocks) const {
    Lanes value = row.value;
    Lanes size = absolute(row.value);
    Lanes error = row.error;
    KeptRows::for_each_term(row, b, blocks, [&](const KeptRows& layer, int unit, double coefficient) {
      const Form& below = outputs_[std::size_t(layer.first_output + unit)];
      const Lanes term = coefficient * below.value;
      value += term;
      size += absolute(term);
      error += std::fabs(coefficient) * below.error;
    });
    return {value, 1.01 * (error + unit_roundoff * ((row.columns + 8) * size)) + room};
  }

  void set_output(const Network& network, const Block<D>& block, const KeptRows* blocks, int b, int r, std::uint32_t piece) {
    const Row<D>& row = *block.rows[r];
    const Layer& layer = network.layers[std::size_t(block.layer)];
    const double slope = layer.slope(row.unit, int(piece));
    const double intercept = layer.intercept(row.unit, int(piece));
    const std::size_t number = std::size_t(blocks[b].first_output + r);
    if (slope == 0 && intercept == 0) {
      outputs_[number] = {Lanes{}, Lanes{}};
      return;
    }
    if (!written_[number]) rows_[number] = form_of(row, b, blocks);
    written_[number] = 1;
    Form form = rows_[number];
    const Lanes constant = {intercept};
    form.value = slope * form.value;
    const Lanes rounding = 4 * unit_roundoff * (absolute(form.value) + absolute(constant));
    form.error = 1.01 * (std::fabs(slope) * form.error + rounding) + room;
    form.value += constant;
    outputs_[number] = form;
  }

  // As room_for_underflow. Errors are multiplied by weights here, also in the lane that is not used, and the products should be
  // normal numbers.
  static constexpr double room = 0x1p-960;

  // By their numbers among all outputs of a vertex:
  std::vector<Form, AlignedAllocator<Form>> rows_;
  std::vector<char> written_;  // whether the form was made for the last part
  std::vector<Form, AlignedAllocator<Form>> outputs_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
