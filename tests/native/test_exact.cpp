// SPDX-License-Identifier: MIT
// Are signs and positions at vertices right for the numbers as they are stored?
#include <doctest/doctest.h>

#include <cmath>

#include "small_problem.hpp"

using namespace regions;

namespace {

// Three lines: 3 x = 1 and 7 y = 1, which contain no double, and their sum, which passes through the same point.
const double weights[3][2] = {{3, 0}, {0, 7}, {3, 7}};

}  // namespace

TEST_CASE("a line through the point where two others meet is zero there, and nothing else is") {
  for (const double off : {0.0, 0x1p-50, -0x1p-50}) {
    SmallProblem problem(&weights[0][0], {-1, -1, -2 + off}, square());
    const VertexName<2> meeting{-1, {problem.network.layers[1].kink(0, 0), problem.network.layers[1].kink(1, 0)}};
    CHECK(problem.exact().sign(1, 2, 0, meeting) == (off > 0) - (off < 0));
    CHECK(problem.exact().sign(1, 0, 0, meeting) == 0);
  }
}

namespace {

// The sign of the difference of two arms that read the three neurons, with these weights and biases, where 3 x = 1 meets y = -1.
int sign_of_arms(const double (&arms)[2][3], const double (&biases)[2], const std::uint8_t (&pieces)[3],
                 const VertexName<2>& vertex) {
  SmallProblem problem(&weights[0][0], {-1, -1, -2}, square());
  const std::int32_t rows[2] = {0, 2};
  Layer pool;
  pool.units = pool.own = 1;
  pool.arms = rows;
  pool.unit_of = {0, 0};
  pool.pairs_before = {0, 1};
  pool.inputs = pool.most_terms = 3;
  pool.weights = LinearOperator({{0, 3, &arms[0][0]}}, {}, 2, {});
  pool.biases = biases;
  pool.first_kink = 3;
  pool.first_unit = 5;
  problem.network.layers.push_back(pool);
  const std::uint8_t all_pieces[6] = {0, 0, pieces[0], pieces[1], pieces[2], 0};
  Monitor monitor([](void*, double, std::int64_t) { return 0; }, nullptr, 1000);
  return Exact(problem.network, problem.chart, problem.domain, all_pieces, monitor).sign(2, 0, 0, vertex);
}

}  // namespace

TEST_CASE("arms of which one is a neuron that is on, and one of a neuron that is off, are the same where the first is zero") {
  const VertexName<2> on_its_kink{-1, {0, -1}};
  const VertexName<2> beside_it{-1, {1, -2}};
  CHECK(sign_of_arms({{1, 0, 0}, {0, 1, 0}}, {0, 0}, {1, 0, 0}, on_its_kink) == 0);
  CHECK(sign_of_arms({{0, 0, 4}, {-2, 0, 0}}, {0, 0}, {1, 0, 0}, on_its_kink) == 0);
  CHECK(sign_of_arms({{0, 0, 0}, {-2, 0, 0}}, {0, 0}, {1, 0, 0}, on_its_kink) == 0);
  CHECK(sign_of_arms({{1, 0, 0}, {0, 1, 0}}, {0, 0}, {1, 0, 0}, beside_it) == -1);
  CHECK(sign_of_arms({{1, 0, 0}, {0, 1, 0}}, {0x1p-300, 0}, {1, 0, 0}, on_its_kink) == -1);
  CHECK(sign_of_arms({{1, 0, 0}, {0, 1, 0}}, {0, 0x1p-300}, {1, 0, 0}, on_its_kink) == 1);
  CHECK(sign_of_arms({{1, 0, 0}, {0, 1, 0}}, {0, 0}, {1, 1, 0}, on_its_kink) == -1);
  CHECK(sign_of_arms({{1, 0, 1}, {0, 1, 0}}, {0, 0}, {1, 0, 1}, on_its_kink) == 1);
  CHECK(sign_of_arms({{0, 0, 1}, {0, 1, 0}}, {0, 0}, {1, 0, 1}, on_its_kink) == 1);
}

TEST_CASE("positions are correctly rounded quotients, in whichever order boundaries are named") {
  SmallProblem problem(&weights[0][0], {-1, -1, -2}, square());
  for (const bool swapped : {false, true}) {
    double position[3];
    problem.exact().coordinates(VertexName<2>{-1, {swapped ? 1 : 0, swapped ? 0 : 1}}, position);
    CHECK(position[0] == 1);
    CHECK(position[1] == 1.0 / 3);
    CHECK(position[2] == 1.0 / 7);
  }
}

TEST_CASE("on a line one boundary names a vertex") {
  SmallProblem problem(&weights[0][0], {-1, -1, -2}, {1, -1, 1, 1}, 1);
  double position[2];
  problem.exact().coordinates(VertexName<1>{-1, {0}}, position);  // 3 x = 1
  CHECK(position[0] == 1);
  CHECK(position[1] == 1.0 / 3);
  CHECK(problem.exact().sign(1, 2, 0, VertexName<1>{-1, {0}}) == -1);  // 3 x - 2
  CHECK(problem.exact().sign(1, 1, 0, VertexName<1>{1, {-2}}) == -1);  // -1 everywhere
  CHECK(problem.exact().sign(1, 2, 0, VertexName<1>{1, {-2}}) == 1);
}

TEST_CASE("an edge of the domain is a boundary too, and runs through its corners") {
  SmallProblem problem(&weights[0][0], {-1, -1, -2}, square());
  double position[3];
  problem.exact().coordinates(VertexName<2>{-1, {0, -1}}, position);  // 3 x = 1 on the lower edge
  CHECK(position[1] == 1.0 / 3);
  CHECK(position[2] == -1);
  problem.exact().coordinates(VertexName<2>{2, {-3, -3}}, position);
  CHECK(position[1] == 1);
  CHECK(position[2] == 1);
}

TEST_CASE("at a vertex at infinity the direction decides first, then the constant") {
  const double far[] = {0, -1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1};  // the plane, as a square of symbolic size
  const double diagonal[3][2] = {{1, -1}, {1, 1}, {1, -2}};
  SmallProblem problem(&diagonal[0][0], {-5, -5, -5}, {far, far + 12});
  const VertexName<2> corner{2, {-3, -3}};  // in the direction (1, 1)
  CHECK(problem.exact().sign(1, 0, 0, corner) == -1);  // x - y is constant along it: -5 is what is left
  CHECK(problem.exact().sign(1, 1, 0, corner) == 1);
  CHECK(problem.exact().sign(1, 2, 0, corner) == -1);
}
