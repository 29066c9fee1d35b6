// SPDX-License-Identifier: MIT
// How large are the weights that a layer reads with?
#pragma once

#include <vector>

#include "task/operator.hpp"

namespace regions {

// Of a matrix, rounded upwards; what is not zero is taken to be no less than the floor, so that no square vanishes.
struct Norms {
  std::vector<double> rows;  // 2-norms
  double largest_sum = 0;    // of a row's absolute values
  double total = 0;          // of all squares
  double spectral = 0;       // no better than sqrt(|W|_1 |W|_inf), or the Frobenius norm
};

Norms norms_of(const LinearOperator& weights, int rows, int columns);

}  // namespace regions
