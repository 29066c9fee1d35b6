// SPDX-License-Identifier: MIT
// How large are the weights that a layer reads with?
#pragma once

#include <vector>

#include "task/operator.hpp"

namespace regions {

// Norms of a matrix, rounded upwards; nonzero numbers are raised to the floor, so that no square underflows.
struct Norms {
  std::vector<double> rows;  // 2-norms
  double largest_sum = 0;    // of a row's absolute values
  double total = 0;          // of all squares
  double spectral = 0;       // at best sqrt(|W|_1 |W|_inf), or the Frobenius norm
};

Norms norms_of(const LinearOperator& weights, int rows, int columns);

}  // namespace regions
