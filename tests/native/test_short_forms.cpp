// SPDX-License-Identifier: MIT
// Are short forms exact, and are forms that do not fit left to long integers?
#include <doctest/doctest.h>

#include <cmath>

#include "exact/short_forms.hpp"
#include "small_problem.hpp"

using namespace regions;

namespace {

// The kinks of three neurons with these weights and biases, in the square.
struct ThreeKinks {
  ThreeKinks(const double (&weights)[3][2], std::vector<double> biases, std::vector<double> corners = square())
      : problem(&weights[0][0], std::move(biases), std::move(corners)),
        forms(problem.network, problem.chart, problem.domain, pieces) {
    for (int unit = 0; unit < 3; ++unit) is_short[unit] = forms.kink(1, unit, 0, kinks[unit]);
  }

  const std::uint8_t pieces[5] = {};
  SmallProblem problem;
  ShortForms forms;
  ShortForms::Form kinks[3];
  bool is_short[3];
};

}  // namespace

TEST_CASE("numbers of a layer are integers of one unit") {
  const double weights[3][2] = {{0.75, 0}, {0, -1.5}, {3, 0x1p-20}};
  const ThreeKinks three(weights, {-0.25, 1, -2});
  for (const bool is_short : three.is_short) CHECK(is_short);
  const double unit = 0x1p-20;
  CHECK(double(three.kinks[0].lanes[0]) * unit == -0.25);
  CHECK(double(three.kinks[0].lanes[1]) * unit == 0.75);
  CHECK(double(three.kinks[1].lanes[2]) * unit == -1.5);
  CHECK(double(three.kinks[2].lanes[2]) * unit == 0x1p-20);
}

TEST_CASE("three lines meet in one point, or not by a single bit") {
  const double weights[3][2] = {{3, 0}, {0, 7}, {3, 7}};
  for (const double off : {0.0, 0x1p-50, -0x1p-50}) {
    const ThreeKinks three(weights, {-1, -1, -2 + off});
    REQUIRE(three.is_short[2]);
    CHECK(three.forms.sign_at_meeting(three.kinks[2], three.kinks[0], three.kinks[1]) == (off > 0) - (off < 0));
    CHECK(three.forms.sign_at_meeting(three.kinks[2], three.kinks[1], three.kinks[0]) == (off > 0) - (off < 0));
    CHECK(three.forms.sign_at_meeting(three.kinks[0], three.kinks[0], three.kinks[1]) == 0);
  }
}

TEST_CASE("signs are right for numbers whose products have three times 120 bits") {
  ShortForms::Form row{}, first{}, second{};
  const auto large = [](int bits) { return ShortForms::Lane(1) << bits; };
  // x = 2^-123, or a little more; y = 2^-123, or a little less.
  first.lanes[0] = -1;
  first.lanes[1] = large(123);
  second.lanes[0] = -1;
  second.lanes[2] = large(123) - 1;
  row.lanes[1] = large(123);
  row.lanes[2] = -large(123);
  for (ShortForms::Form* form : {&row, &first, &second}) form->magnitude = 0x1p123;
  const double weights[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  const ThreeKinks three(weights, {0, 0, 0});
  CHECK(three.forms.sign_at_meeting(row, first, second) == -1);
  CHECK(three.forms.sign_at_meeting(row, second, first) == -1);
  second.lanes[2] = large(123);
  CHECK(three.forms.sign_at_meeting(row, first, second) == 0);
  second.lanes[2] = large(123) + 1;
  CHECK(three.forms.sign_at_meeting(row, first, second) == 1);
  second.lanes[2] = -large(123);
  CHECK(three.forms.sign_at_meeting(row, first, second) == 1);
}

TEST_CASE("rows that do not fit into the integers are not short, and others still are") {
  const double weights[3][2] = {{1, 0x1p-40}, {0x1p30, 1}, {1, 1}};
  const ThreeKinks three(weights, {0, 0, 0});
  CHECK(three.is_short[0]);
  CHECK(!three.is_short[1]);  // 2^30 is 2^70 units
  CHECK(three.is_short[2]);
  const double denormal[3][2] = {{1, 0x1p-1074}, {1, 1}, {1, 0}};
  const ThreeKinks tiny(denormal, {0, 0, 0});
  CHECK(!tiny.is_short[1]);
  const double huge[3][2] = {{0x1p1000, 0}, {0x1p1000, 0x1p950}, {0, 0}};
  const ThreeKinks far(huge, {0, 0, 0});
  CHECK(!far.is_short[0]);
  CHECK(far.is_short[2]);
  CHECK(far.kinks[2].magnitude == 0);
}

TEST_CASE("corners and edges of the domain have short forms, unless they are at infinity") {
  const double weights[3][2] = {{1, 0}, {0, 1}, {1, 1}};
  const ThreeKinks three(weights, {0.5, 0, 0});
  ShortForms::Form corner, edge;
  REQUIRE(three.forms.corner(0, corner));  // (-1, -1)
  CHECK(three.forms.sign_at_corner(three.kinks[0], corner) == -1);
  REQUIRE(three.forms.edge(0, edge));  // from (-1, -1) to (1, -1), where 2 y = -1 is not
  CHECK(three.forms.sign_at_corner(edge, corner) == 0);
  CHECK(three.forms.sign_at_meeting(three.kinks[1], three.kinks[0], edge) == -1);
  const ThreeKinks plane(weights, {0.5, 0, 0}, {0, -1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1});
  CHECK(!plane.forms.corner(0, corner));
  CHECK(!plane.forms.edge(0, edge));
}
