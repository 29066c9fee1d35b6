// SPDX-License-Identifier: MIT
// Do dictionaries say only what they have proven?
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "cells/dictionary.hpp"

using namespace regions;

namespace {

constexpr int D = 7;
constexpr int width = 8;
constexpr double fine = 0x1p-49;  // a margin of forms with few terms of about 1
constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

struct Form {
  double numbers[width];
  double margin = fine;
};

// The cube [-1, 1]^7, from a point near its centre.
struct Cube {
  std::unique_ptr<Dictionaries> dictionaries = make_dictionaries_of(width);
  double point[width] = {1, 0.03, -0.02, 0.01, 0.02, -0.01, 0.04, -0.03};

  explicit Cube(double margin = fine) {
    const double reach[width] = {1, 1, 1, 1, 1, 1, 1, 1};
    dictionaries->begin(D, reach);
    for (double side : {1.0, -1.0})
      for (int k = 1; k <= D; ++k) {
        double facet[width] = {1};
        facet[k] = side;
        dictionaries->add_facet(facet, margin, 1.01);
      }
  }

  Division side(const Form& line) {
    dictionaries->add_line(line.numbers, line.margin);
    REQUIRE(dictionaries->start(point));
    double here[width], there[width];
    const Division answer = dictionaries->side(0, here, there);
    if (answer == Division::crosses) {
      double at[2] = {};
      for (int k = 0; k < width; ++k) {
        at[0] += line.numbers[k] * here[k];
        at[1] += line.numbers[k] * there[k];
        CHECK(std::fabs(there[k]) <= 1);
      }
      CHECK((at[0] > 0) != (at[1] > 0));
    }
    return answer;
  }

  std::int64_t count(const std::vector<Form>& lines, std::int64_t most = unlimited) {
    for (const Form& line : lines) dictionaries->add_line(line.numbers, line.margin);
    REQUIRE(dictionaries->start(point));
    Monitor monitor(nullptr, nullptr, unlimited);
    return dictionaries->count(most, monitor);
  }
};

// Hyperplanes x_k = offset.
std::vector<Form> axes(int number, double offset) {
  std::vector<Form> lines;
  for (int k = 1; k <= number; ++k) {
    Form line{{-offset}};
    line.numbers[k] = 1;
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

TEST_CASE("lines are on both sides of a cell, or on one") {
  CHECK(Cube().side({{0.5, 1}}) == Division::crosses);
  CHECK(Cube().side({{-6.9, 1, 1, 1, 1, 1, 1, 1}}) == Division::crosses);
  CHECK(Cube().side({{7.5, 1, 1, 1, 1, 1, 1, 1}}) == Division::above);
  CHECK(Cube().side({{-7.5, 1, -1, 1, 1, 1, -1, 1}}) == Division::below);
}

TEST_CASE("a line that touches a corner, or that may, is on no side") {
  CHECK(Cube().side({{7, 1, 1, 1, 1, 1, 1, 1}}) == Division::unknown);
  CHECK(Cube().side({{7 + 1e-13, 1, 1, 1, 1, 1, 1, 1}, 1e-15}) == Division::above);
  CHECK(Cube().side({{7 + 1e-13, 1, 1, 1, 1, 1, 1, 1}, 1e-13}) == Division::unknown);
}

TEST_CASE("inequalities are added with positive multipliers, however small") {
  // 1e-12 - 4e-12 x_1 has both signs, but no slope that is steep enough for a pivot.
  Cube cube;
  cube.point[1] = -0.03;
  CHECK(cube.side({{1e-12, -4e-12}, 1e-27}) == Division::unknown);
}

TEST_CASE("a point is inside only beyond the margins") {
  Cube cube(3);
  CHECK_FALSE(cube.dictionaries->start(cube.point));
  Cube outside;
  outside.point[3] = 1.5;
  CHECK_FALSE(outside.dictionaries->start(outside.point));
}

TEST_CASE("hyperplanes in general position are counted") {
  CHECK(Cube().count(axes(7, 0.125)) == 128);
  std::vector<Form> lines = axes(3, 0.125);
  for (const Form& line : axes(2, -0.25)) lines.push_back(line);
  CHECK(Cube().count(lines) == 3 * 3 * 2);
  CHECK(Cube().count(axes(7, 0.125), 10) > 10);
  // The diagonals x_1 + x_2 = 1/4 and x_1 - x_2 = 1/2 make a triangle with x_1 = 1/8, and meet outside of it.
  CHECK(Cube().count({{{-0.125, 1}}, {{-0.25, 1, 1}}, {{-0.5, 1, -1}}}) == 7);
}

TEST_CASE("more hyperplanes in one point than dimensions are not in general position") {
  std::vector<Form> lines = axes(7, 0.125);
  lines.push_back({{-7 * 0.125, 1, 1, 1, 1, 1, 1, 1}});
  CHECK(Cube().count(lines) == -1);
}

TEST_CASE("lines meet only if they are proven to be independent, and to meet inside") {
  CHECK(Cube().count({{{0, 1}}, {{0, 1, 1e-7}}}) == 4);
  CHECK(Cube().count({{{0, 1}}, {{0, 1, 1e-7}, 1e-6}}) == -1);
  CHECK(Cube().count({{{0, 1}}, {{0, 2}}}) == -1);
  CHECK(Cube().count({{{-0.9995, 1}}, {{0, 0, 1}}}) == 4);
  CHECK(Cube().count({{{-0.9995, 1}, 1e-3}, {{0, 0, 1}}}) == -1);
}

TEST_CASE("the largest number of lines is 64") {
  std::vector<Form> lines;
  for (int i = 0; i < 65; ++i) lines.push_back({{-0.9 + 0.025 * i, 1}});
  CHECK(Cube().count(lines) == -1);
  lines.pop_back();
  CHECK(Cube().count(lines) == 65);
}
