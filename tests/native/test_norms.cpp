// SPDX-License-Identifier: MIT
// Are the norms of a layer's weights equal to the norms of the matrix they represent, however they are stored?
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "api/norms.hpp"
#include "rows/lanes.hpp"

using namespace regions;

namespace {

constexpr int inputs = 6;

// Absolute values of all weights, summed for each row and input.
std::vector<std::vector<double>> matrix_of(const LinearOperator& weights, int rows) {
  std::vector<std::vector<double>> matrix(std::size_t(rows), std::vector<double>(inputs, 0.0));
  TermRoom room;
  for (int row = 0; row < rows; ++row) {
    const Terms terms = weights.terms(row, room);
    for (int term = 0; term < terms.count; ++term)
      matrix[std::size_t(row)][std::size_t(terms.source(term))] += std::fabs(terms.weights[term]);
  }
  return matrix;
}

void check_norms(const LinearOperator& weights, int rows) {
  const Norms norms = norms_of(weights, rows, inputs);
  double total = 0;
  double largest_sum = 0;
  std::vector<double> columns(inputs, 0.0);
  REQUIRE(int(norms.rows.size()) == rows);
  const auto is_bound = [](double bound, double truth) { return truth <= bound && bound <= truth * slack * slack * slack; };
  const auto matrix = matrix_of(weights, rows);
  for (std::size_t row = 0; row < matrix.size(); ++row) {
    double squares = 0;
    for (std::size_t column = 0; column < inputs; ++column) {
      squares += matrix[row][column] * matrix[row][column];
      columns[column] += matrix[row][column];
    }
    CHECK(is_bound(norms.rows[row], std::sqrt(squares)));
    total += squares;
    largest_sum = std::max(largest_sum, std::accumulate(matrix[row].begin(), matrix[row].end(), 0.0));
  }
  CHECK(is_bound(norms.largest_sum, largest_sum));
  CHECK(is_bound(norms.total, total));
  const double largest_column = *std::max_element(columns.begin(), columns.end());
  CHECK(is_bound(norms.spectral, std::min(std::sqrt(total), std::sqrt(largest_column * largest_sum))));
}

// Two kernels of two rows at four positions, two of which are at an edge.
const double kernels[2][2][3] = {{{1, -2, 4}, {0, 8, 16}}, {{32, 64, -128}, {256, 512, 1024}}};
const std::int32_t kinds[4] = {0, 0, 1, 0};
const std::int32_t targets[4][2] = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};

PatchPart patches(const std::int32_t (&sources)[4][3], int first) {
  return PatchPart({first, 2, 2, 3, 4, &kernels[0][0][0], kinds, &sources[0][0], &targets[0][0]}, 8, {0, 1, 2, 3, 4, 5});
}

const std::int32_t in_a_row[4][3] = {{-1, 0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, -1}};
const std::int32_t again[4][3] = {{-1, 0, 1}, {0, 1, 2}, {1, 2, 1}, {2, 3, -1}};
const std::int32_t two_of_them[4][3] = {{-1, 0, 1}, {0, 1, -1}, {-1, 0, 1}, {1, -1, 0}};
const double dense[8][2] = {{3, -5}, {7, 0}, {0, 0}, {-11, 13}, {17, 19}, {23, 29}, {31, 37}, {41, 43}};

}  // namespace

TEST_CASE("patches of one block differ where they are cut off") {
  check_norms(LinearOperator({}, {patches(in_a_row, 0)}, 8, {}), 8);
}

TEST_CASE("parts that read different outputs, and outputs that are passed on") {
  check_norms(LinearOperator({{4, 2, &dense[0][0]}}, {patches(in_a_row, 0)}, 8, {0, 5}), 10);
  check_norms(LinearOperator({}, {patches(in_a_row, 0), patches(two_of_them, 4)}, 8, {}), 8);
}

TEST_CASE("weights of an output that is read more than once add up: in a patch, in two parts of either kind") {
  check_norms(LinearOperator({}, {patches(again, 0)}, 8, {}), 8);
  check_norms(LinearOperator({}, {patches(in_a_row, 0), patches(two_of_them, 2)}, 8, {1}), 9);
  check_norms(LinearOperator({{3, 2, &dense[0][0]}}, {patches(in_a_row, 0)}, 8, {}), 8);
  check_norms(LinearOperator({{0, 2, &dense[0][0]}, {1, 2, &dense[0][0]}}, {}, 8, {}), 8);
}

TEST_CASE("a matrix that is pointed to") { check_norms(LinearOperator(&dense[0][0], inputs), 2); }

TEST_CASE("norms of tiny weights do not underflow") {
  const double tiny[1][2] = {{0x1p-1000, 0}};
  const Norms norms = norms_of(LinearOperator({{0, 2, &tiny[0][0]}}, {}, 1, {}), 1, 2);
  CHECK(norms.rows[0] >= floor_of_sizes);
  CHECK(norms.largest_sum >= floor_of_sizes);
}
