// SPDX-License-Identifier: MIT
// What does a unit read of the layer below it?
//
// A row of coefficients, one for each unit there. An operator gives rows on demand, and nobody else knows how weights
// are stored. So far all are dense: their rows are in memory, and are pointed to. One that is not, such as a
// convolution, writes the row into the room that the caller brings.
#pragma once

#include <cstddef>
#include <vector>

namespace regions {

using RowRoom = std::vector<double>;

class LinearOperator {
 public:
  LinearOperator() = default;
  LinearOperator(const double* weights, int inputs) : weights_(weights), inputs_(inputs) {}

  // [inputs], for as long as the room is not used for another row.
  const double* row(int unit, RowRoom&) const { return weights_ + std::size_t(unit) * std::size_t(inputs_); }

 private:
  const double* weights_ = nullptr;  // [units, inputs]
  int inputs_ = 0;
};

}  // namespace regions
