// SPDX-License-Identifier: MIT
// Do the regions of a square that is cut twice hang together as they should?
#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cells/polygon.hpp"
#include "collect/assemble.hpp"
#include "collect/collect.hpp"
#include "small_problem.hpp"

using namespace regions;

namespace {

const double no_weights[6] = {};

struct TwoCuts {
  TwoCuts() {
    Vertex<2>* corners = arena.take<Vertex<2>>(4);
    for (int i = 0; i < 4; ++i) {
      corners[i] = Vertex<2>{};
      for (int k = 0; k < 3; ++k) corners[i].position[k] = problem.generators[std::size_t(3 * i + k)];
      corners[i].name = {i, {-1 - i, -1 - i}};
      complex.identify(corners[i]);
    }
    whole = Polygon::whole(corners, 4, problem.exact(), arena);
  }

  // Along coordinate k = 0.
  Cut<Polygon> cut(const Polygon& cell, int k) {
    int* signs = arena.take<int>(std::size_t(cell.count));
    for (int i = 0; i < cell.count; ++i) {
      const double value = cell.vertices[i]->position[k];
      signs[i] = (value > 0) - (value < 0);
    }
    Row<2>* row = arena.take<Row<2>>(1);
    *row = Row<2>{};
    row->value[k] = 1;
    Facet<2>* facet = arena.take<Facet<2>>(1);
    *facet = {k - 1, row, 0.0};
    Cut<Polygon> result{};
    result.signs = signs;
    Polygon::cut(cell, *facet, problem.exact(), arena, complex, result);
    for (int child = 0; child < 2; ++child) result.chains[child] = chains(result.children[child]);
    return result;
  }

  Chain* chains(const Polygon& cell) { return arena.take<Chain>(std::size_t(cell.count)); }

  SmallProblem problem{no_weights, {0, 0, 0}, square()};
  Arena arena;
  Collected collected;
  Complex<Polygon> complex{collected, 1};
  Polygon whole;
};

}  // namespace

TEST_CASE("four quarters of a square share their vertices and facets") {
  TwoCuts here;
  const std::uint8_t patterns[4] = {3, 1, 2, 0};
  const Cut<Polygon> first = here.cut(here.whole, 1);
  for (int side = 0; side < 2; ++side) {
    const Cut<Polygon> second = here.cut(first.children[side], 2);
    for (int child = 0; child < 2; ++child)
      here.complex.region(second.children[child], &patterns[2 * side + child], second.chains[child]);
    here.complex.join(first.children[side], second, first.chains[side]);
  }
  Chain* border = here.chains(here.whole);
  here.complex.join(here.whole, first, border);

  const ComplexSizes sizes = number(here.collected);
  CHECK(sizes.regions == 4);
  CHECK(sizes.corners == 16);
  CHECK(sizes.vertices == 9);
  CHECK(sizes.facets == 12);
  std::vector<double> vertices(18), errors(9);
  std::vector<std::int64_t> offsets(5), cell_vertices(16), cell_facets(16), facet_vertices(24), facet_regions(24);
  std::vector<std::int64_t> kinks(12);
  std::vector<std::uint8_t> kept(4);
  assemble(here.collected, {vertices.data(), errors.data(), offsets.data(), cell_vertices.data(), cell_facets.data(),
                            facet_vertices.data(), facet_regions.data(), kinks.data(), kept.data()});
  CHECK(offsets == std::vector<std::int64_t>{0, 4, 8, 12, 16});
  CHECK(kept == std::vector<std::uint8_t>(patterns, patterns + 4));
  std::set<std::pair<double, double>> places;
  for (std::size_t v = 0; v < 9; ++v) places.insert({vertices[2 * v], vertices[2 * v + 1]});
  CHECK(places.size() == 9);
  int inner = 0;
  for (std::size_t f = 0; f < 12; ++f) {
    const bool is_inner = facet_regions[2 * f + 1] >= 0;
    inner += is_inner;
    CHECK(is_inner == (kinks[f] >= 0));
    if (!is_inner) continue;
    // Across a kink one bit of the pattern changes, and both ends lie on the line.
    const std::size_t here_region = std::size_t(facet_regions[2 * f]);
    const std::size_t there = std::size_t(facet_regions[2 * f + 1]);
    CHECK((kept[here_region] ^ kept[there]) == 1 << kinks[f]);
    for (std::size_t end = 0; end < 2; ++end)
      CHECK(vertices[std::size_t(2 * facet_vertices[2 * f + end] + kinks[f])] == 0);
  }
  CHECK(inner == 4);
}

TEST_CASE("two sides of a cut that differ are refused") {
  TwoCuts here;
  const std::uint8_t pattern = 0;
  const Cut<Polygon> cut = here.cut(here.whole, 1);
  here.complex.region(cut.children[0], &pattern, cut.chains[0]);
  const Cut<Polygon> second = here.cut(cut.children[1], 2);  // one region on one side, two on the other
  for (int child = 0; child < 2; ++child) here.complex.region(second.children[child], &pattern, second.chains[child]);
  here.complex.join(cut.children[1], second, cut.chains[1]);
  CHECK_THROWS_AS(here.complex.join(here.whole, cut, here.chains(here.whole)), std::logic_error);
}
