// SPDX-License-Identifier: MIT
// Do cutting, counting and joining of cells give the results that were found by hand?
#include <doctest/doctest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "cells/arc.hpp"
#include "cells/interval.hpp"
#include "cells/polygon.hpp"
#include "small_problem.hpp"

using namespace regions;

static_assert(require_cell<Interval>() && require_cell<Polygon>() && require_cell<Arc>(), "");

namespace {

const double no_weights[6] = {};

struct Ignoring : AnyCollector<2> {
  void identify(Vertex<2>&) {}
};

// Lines a + b x + c y = 0 in the square from -1 to 1, and everything that a cut along one of them needs.
class InSquare {
 public:
  explicit InSquare(std::vector<std::vector<double>> forms) : lines_(Lines<2>::take(int(forms.size()), {}, arena_)) {
    for (const std::vector<double>& form : forms) {
      Row<2>* row = arena_.take<Row<2>>(1);
      *row = Row<2>{};
      for (int k = 0; k < 3; ++k) lines_.value[k][lines_.count] = row->value[k] = form[std::size_t(k)];
      lines_.margin[lines_.count] = 1e-15;
      lines_.steepness[lines_.count] = 2;
      lines_.owners[lines_.count] = lines_.breakpoints[lines_.count] = 0;
      ++lines_.count;
      facets_.push_back({Boundary(facets_.size()), row, 0.0});
    }
    Vertex<2>* corners = arena_.take<Vertex<2>>(4);
    for (int i = 0; i < 4; ++i) {
      corners[i] = Vertex<2>{};
      for (int k = 0; k < 3; ++k) corners[i].position[k] = problem_.generators[std::size_t(3 * i + k)];
      corners[i].name = {i, {-1 - i, -1 - i}};
    }
    cell = Polygon::whole(corners, 4, problem_.exact(), arena_);
  }

  std::vector<int> signs(std::size_t line) const {
    std::vector<int> result;
    for (int i = 0; i < cell.count; ++i) {
      const double value = line_value(lines_, int(line), *cell.vertices[i]).value;
      result.push_back((value > 0) - (value < 0));
    }
    return result;
  }

  Cut<Polygon> cut(std::size_t line, const std::vector<int>& signs) {
    Cut<Polygon> result{};
    result.signs = signs.data();
    Ignoring collector;
    Polygon::cut(cell, facets_[line], problem_.exact(), arena_, collector, result);
    return result;
  }

  std::int64_t count() { return Polygon::Arrangement().count(lines_, cell); }

  Polygon cell;

 private:
  SmallProblem problem_{no_weights, {0, 0, 0}, square()};
  Arena arena_;
  Lines<2> lines_;
  std::vector<Facet<2>> facets_;
};

}  // namespace

TEST_CASE("a line through two edges leaves two parts that share its ends") {
  InSquare here({{-0.5, 1, 0}});  // x = 1/2
  const std::vector<int> signs = here.signs(0);
  CHECK(signs == std::vector<int>{-1, 1, 1, -1});
  const Cut<Polygon> cut = here.cut(0, signs);
  REQUIRE(cut.count == 2);
  CHECK(cut.sides[0] == Side::active);
  CHECK(cut.sides[1] == Side::inactive);
  for (int side = 0; side < 2; ++side) {
    const Polygon& half = cut.children[side];
    REQUIRE(half.count == 4);
    CHECK(half.facet_count() == 4);
    int along_cut = 0;
    for (int i = 0; i < 4; ++i) {
      const double x = half.vertices[i]->position[1];
      CHECK((side == 0 ? x >= 0.5 : x <= 0.5));
      CHECK(half.facet(i).first == i);
      CHECK(half.facet(i).last == (i + 1) % 4);
      if (half.facet(i).boundary != 0) continue;
      ++along_cut;
      CHECK(half.origins[i] == -1);
      for (const int end : {half.facet(i).first, half.facet(i).last}) {
        CHECK(half.vertices[end]->position[1] == 0.5);
        CHECK(std::fabs(half.vertices[end]->position[2]) == 1);
        CHECK(half.vertices[end]->error < 1e-14);
        CHECK(half.vertices[end]->name.boundaries[1] == 0);
      }
    }
    CHECK(along_cut == 1);
  }
}

TEST_CASE("a line through two corners makes no new ones") {
  InSquare here({{0, 1, -1}});  // the diagonal
  const std::vector<int> signs = here.signs(0);
  const Cut<Polygon> cut = here.cut(0, signs);
  for (int side = 0; side < cut.count; ++side) {
    const Polygon& half = cut.children[side];
    CHECK(half.count == 3);
    for (int i = 0; i < half.count; ++i) CHECK(half.vertices[i]->name.generator >= 0);
  }
}

TEST_CASE("a line through a corner and an edge makes one") {
  InSquare here({{1, 2, -1}});  // through (0, 1) and (-1, -1)
  const std::vector<int> signs = here.signs(0);
  CHECK(signs == std::vector<int>{0, 1, 1, -1});
  const Cut<Polygon> cut = here.cut(0, signs);
  CHECK(cut.children[0].count == 4);
  CHECK(cut.children[1].count == 3);
}

TEST_CASE("signs that no line can have are refused") {
  InSquare here({{0, 1, 0}});
  CHECK_THROWS_AS(here.cut(0, {1, -1, 1, -1}), std::logic_error);
  CHECK_THROWS_AS(here.cut(0, {0, 1, 1, 1}), std::logic_error);
  CHECK_THROWS_AS(here.cut(0, {0, 0, 0, 1}), std::logic_error);
}

TEST_CASE("regions of lines are counted where all is clear, and otherwise not") {
  const std::vector<double> vertical = {0.1, 1, 0}, horizontal = {0.2, 0, 1}, slanted = {-0.5, 1, 1};
  const std::vector<double> parallel = {-0.3, 1, 0};
  CHECK(InSquare({vertical}).count() == 2);
  CHECK(InSquare({vertical, horizontal}).count() == 4);
  CHECK(InSquare({vertical, parallel}).count() == 3);
  CHECK(InSquare({vertical, horizontal, slanted}).count() == 7);
  CHECK(InSquare({vertical, horizontal, slanted, parallel}).count() == 10);
  CHECK(InSquare({{0, 1, 0}, {0, 0, 1}, {0, 1, 1}}).count() == unknown);    // three in one point
  CHECK(InSquare({vertical, {0, 1, -1}}).count() == unknown);               // through corners
  CHECK(InSquare({vertical, {0.1, 1, 0}}).count() == unknown);              // twice the same
  CHECK(InSquare({vertical, {0.1 + 1e-15, 1, 0}}).count() == unknown);      // perhaps the same
}

TEST_CASE("an interval is cut into a left and a right part") {
  SmallProblem problem(no_weights, {0, 0, 0}, square());
  Arena arena;
  Vertex<1> ends[2] = {};
  for (int i = 0; i < 2; ++i) ends[i] = {{1, i == 0 ? -1.0 : 3.0}, 0, {i, {-1 - i}}, -1};
  const Interval cell = Interval::whole(ends, 2, problem.exact(), arena);
  Row<1> row{};
  row.value = Lanes4{-1, 2};  // 2 p - 1
  const int signs[2] = {-1, 1};
  Cut<Interval> cut{};
  cut.signs = signs;
  struct : AnyCollector<1> {
    void identify(Vertex<1>&) { ++identified; }
    int identified = 0;
  } collector;
  Interval::cut(cell, {7, &row, 0.0}, problem.exact(), arena, collector, cut);
  CHECK(collector.identified == 1);
  CHECK(cut.sides[0] == Side::inactive);
  CHECK(cut.sides[1] == Side::active);
  CHECK(cut.children[0].vertices[0] == &ends[0]);
  CHECK(cut.children[1].vertices[1] == &ends[1]);
  CHECK(cut.children[0].vertices[1] == cut.children[1].vertices[0]);
  CHECK(cut.children[0].vertices[1]->position[1] == 0.5);
  CHECK(cut.children[0].facet(0).boundary == -1);
  CHECK(cut.children[0].facet(1).boundary == 7);
}

TEST_CASE("points on an interval are counted only where they are distinct") {
  SmallProblem problem(no_weights, {0, 0, 0}, square());
  Arena arena;
  Vertex<1> ends[2] = {};
  for (int i = 0; i < 2; ++i) ends[i] = {{1, double(i)}, 0, {i, {-1 - i}}, -1};
  const Interval cell = Interval::whole(ends, 2, problem.exact(), arena);
  const auto regions_of = [&](std::vector<double> points) {
    Lines<1> lines = Lines<1>::take(int(points.size()), {}, arena);
    for (const double point : points) {
      lines.value[0][lines.count] = -point;
      lines.value[1][lines.count] = 1;
      lines.margin[lines.count] = 1e-15;
      lines.steepness[lines.count] = 1;
      ++lines.count;
    }
    return Interval::Arrangement().count(lines, cell);
  };
  CHECK(regions_of({0.5}) == 2);
  CHECK(regions_of({0.75, 0.25, 0.5}) == 4);
  CHECK(regions_of({0.5, 0.5}) == unknown);
  CHECK(regions_of({0.5, 0.5 + 1e-15}) == unknown);
  CHECK(regions_of({0.0}) == unknown);
  CHECK(regions_of({2.0}) == unknown);
}

// ---- arcs ----

namespace {

// The quarter of the unit circle from (1, 0) to (0, 1), and lines a + b X + c Y.
class OnQuarter {
 public:
  explicit OnQuarter(std::vector<double> form) : problem_(no_weights, {0, 0, 0}, {0, 1, 0, 0, 0, 1}) {
    problem_.domain.arc = true;
    Vertex<2>* ends = arena_.take<Vertex<2>>(2);
    for (int i = 0; i < 2; ++i) {
      ends[i] = Vertex<2>{};
      ends[i].name = {i, {-1 - i, -1 - i}};
    }
    cell = Arc::whole(ends, 2, problem_.exact(), arena_);
    row = Row<2>{};
    for (int k = 0; k < 3; ++k) row.value[k] = form[std::size_t(k)];
  }

  std::vector<double> cut(int first, int second) {
    const int signs[2] = {first, second};
    Cut<Arc> result{};
    result.signs = signs;
    Ignoring collector;
    Arc::cut(cell, {0, &row, 0.0}, problem_.exact(), arena_, collector, result);
    std::vector<double> heights;
    for (int child = 0; child + 1 < result.count; ++child) {
      const Vertex<2>& vertex = *result.children[child].vertices[1];
      CHECK(std::hypot(vertex.position[1], vertex.position[2]) == doctest::Approx(1).epsilon(1e-15));
      CHECK(&vertex == result.children[child + 1].vertices[0]);
      CHECK(result.sides[child] != result.sides[child + 1]);
      heights.push_back(vertex.position[2]);
    }
    return heights;
  }

  Arc cell{};
  Row<2> row{};

 private:
  Arena arena_;
  SmallProblem problem_;
};

}  // namespace

TEST_CASE("an arc has ends, and a corner outside that encloses it") {
  OnQuarter quarter({0, 1, 0});
  CHECK(quarter.cell.count == 3);
  CHECK(quarter.cell.facet_count() == 2);
  for (int k = 0; k < 3; ++k) {
    CHECK(quarter.cell.vertices[k]->position[1] == (k == 1 ? 0.0 : 1.0));
    CHECK(quarter.cell.vertices[k]->position[2] == (k == 0 ? 0.0 : 1.0));
  }
}

TEST_CASE("a line cuts an arc in two, or in three") {
  const std::vector<double> height = OnQuarter({-0.5, 0, 1}).cut(-1, 1);
  REQUIRE(height.size() == 1);
  CHECK(height[0] == doctest::Approx(0.5));
  const std::vector<double> heights = OnQuarter({-1.2, 1, 1}).cut(-1, -1);
  REQUIRE(heights.size() == 2);
  CHECK(heights[0] == doctest::Approx(0.6 - std::sqrt(0.5 - 0.36)));
  CHECK(heights[1] == doctest::Approx(0.6 + std::sqrt(0.5 - 0.36)));
}

TEST_CASE("a form bulges between the ends, does not, or nobody knows") {
  const OnQuarter across({-1.2, 1, 1});
  CHECK(across.cell.bulge(across.row, 0, 1) == 1);
  CHECK(across.cell.bulge(across.row, 0, -1) == 0);
  const OnQuarter beyond({-1.5, 1, 1});
  CHECK(beyond.cell.bulge(beyond.row, 0, 1) == 0);
  const OnQuarter elsewhere({-0.5, 1, -1});
  CHECK(elsewhere.cell.bulge(elsewhere.row, 0, 1) == 0);
  const OnQuarter touching({-1, 0.6, 0.8});
  CHECK(touching.cell.bulge(touching.row, 0, 1) == -1);
}
