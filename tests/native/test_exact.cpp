// SPDX-License-Identifier: MIT
// Are signs and positions at vertices those of the numbers as they are stored?
#include <doctest/doctest.h>

#include <cmath>

#include "small_problem.hpp"

using namespace regions;

namespace {

// Three lines: 3 x = 1 and 7 y = 1, which no double meets, and their sum, which passes through the same point.
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
