// SPDX-License-Identifier: MIT
// Are the regions of a square that is cut twice connected correctly, when found by one or by two threads?
#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cells/polygon.hpp"
#include "collect/assemble.hpp"
#include "collect/collect.hpp"
#include "collect/splice.hpp"
#include "small_problem.hpp"

using namespace regions;

namespace {

const double no_weights[6] = {};
const std::uint8_t patterns[4] = {3, 1, 2, 0};

// The square [-1, 1]^2, to be cut along its axes.
struct Square {
  // Its corners belong to the collector.
  Polygon whole(Complex<Polygon>& complex) {
    Vertex<2>* corners = arena.take<Vertex<2>>(4);
    for (int i = 0; i < 4; ++i) {
      corners[i] = Vertex<2>{};
      for (int k = 0; k < 3; ++k) corners[i].position[k] = problem.generators[std::size_t(3 * i + k)];
      corners[i].name = {i, {-1 - i, -1 - i}};
      complex.identify(corners[i]);
    }
    return Polygon::whole(corners, 4, problem.exact(), arena);
  }

  // Along coordinate k = 0.
  Cut<Polygon> cut(const Polygon& cell, int k, Complex<Polygon>& complex) {
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
    for (int child = 0; child < 2; ++child) result.traces[child] = traces(result.children[child]);
    return result;
  }

  // A half, cut into two regions.
  void find_quarters(const Polygon& half, int side, FacetRun* border, Complex<Polygon>& complex) {
    const Cut<Polygon> second = cut(half, 2, complex);
    for (int child = 0; child < 2; ++child)
      complex.region(second.children[child], &patterns[2 * side + child], second.traces[child], nullptr);
    complex.join(half, second, border);
  }

  FacetRun* traces(const Polygon& cell) { return arena.take<FacetRun>(std::size_t(cell.count)); }

  SmallProblem problem{no_weights, {0, 0, 0}, square()};
  Arena arena;
};

struct Arrays {
  Arrays(Whole& whole, int workers, bool in_place = false) {
    number(whole, workers);
    CHECK(whole.sizes.regions == 4);
    CHECK(whole.sizes.corners == 16);
    CHECK(whole.sizes.vertices == 9);
    CHECK(whole.sizes.facets == 12);
    ComplexArrays arrays{vertices.data(), errors.data(), offsets.data(), cell_vertices.data(), cell_facets.data(), facet_vertices.data(),
                         facet_regions.data(), kinks.data(), kept.data(), nullptr, nullptr};
    const bool is_lent = in_place && lend(whole, arrays);
    CHECK(is_lent == (in_place && workers == 1));
    assemble(whole, arrays, workers);
    if (is_lent) take(whole);
  }

  // Copies the arrays that were written over what was collected.
  void take(Whole& whole) {
    OwnedMemory memory[4];
    give(whole, memory);
    void* const copies[4] = {offsets.data(), cell_vertices.data(), cell_facets.data(), kept.data()};
    const std::size_t sizes[4] = {5 * sizeof(std::int64_t), 16 * sizeof(std::int64_t), 16 * sizeof(std::int64_t), 4};
    for (int i = 0; i < 4; ++i) {
      std::memcpy(copies[i], memory[i].start, sizes[i]);
      release(memory[i]);
    }
  }

  bool operator==(const Arrays& other) const {
    return vertices == other.vertices && errors == other.errors && offsets == other.offsets && cell_vertices == other.cell_vertices &&
           cell_facets == other.cell_facets && facet_vertices == other.facet_vertices && facet_regions == other.facet_regions &&
           kinks == other.kinks && kept == other.kept;
  }

  std::vector<double> vertices = std::vector<double>(18), errors = std::vector<double>(9);
  std::vector<std::int64_t> offsets = std::vector<std::int64_t>(5), cell_vertices = std::vector<std::int64_t>(16);
  std::vector<std::int64_t> cell_facets = std::vector<std::int64_t>(16), facet_vertices = std::vector<std::int64_t>(24);
  std::vector<std::int64_t> facet_regions = std::vector<std::int64_t>(24), kinks = std::vector<std::int64_t>(12);
  std::vector<std::uint8_t> kept = std::vector<std::uint8_t>(4);
};

Arrays found_by_one(bool in_place = false) {
  Square square;
  Whole all;
  Complex<Polygon> complex(all.only(), 1);
  const Polygon whole = square.whole(complex);
  const Cut<Polygon> first = square.cut(whole, 1, complex);
  for (int side = 0; side < 2; ++side) square.find_quarters(first.children[side], side, first.traces[side], complex);
  complex.join(whole, first, square.traces(whole));
  return Arrays(all, 1, in_place);
}

// The second half is given away, and found first if the other one has more to do.
Arrays found_by_two(bool second_first, bool in_place = false) {
  Square square;
  Whole all;
  Fragments<Polygon> fragments(all, 2);
  Complex<Polygon> giver(fragments, fragments.new_harvest(), 1, 0);
  Complex<Polygon> taker(fragments, fragments.new_harvest(), 1, 0);
  giver.begin(0);
  const Polygon whole = square.whole(giver);
  const Cut<Polygon> first = square.cut(whole, 1, giver);
  const int number = giver.give();
  const auto find_given = [&] {
    taker.begin(number);
    Polygon half = first.children[1];
    const Vertex<2>** vertices = square.arena.take<const Vertex<2>*>(std::size_t(half.count));
    for (int i = 0; i < half.count; ++i) {
      Vertex<2>* copy = square.arena.take<Vertex<2>>(1);
      *copy = *half.vertices[i];
      taker.adopt(*copy);
      vertices[i] = copy;
    }
    half.vertices = vertices;
    square.find_quarters(half, 1, first.traces[1], taker);
  };
  if (second_first) find_given();
  square.find_quarters(first.children[0], 0, first.traces[0], giver);
  giver.join_later(whole, first, 1, square.traces(whole), nullptr);
  if (!second_first) find_given();
  Splice<Polygon>(fragments, all).run(true);
  CHECK(all.parts.size() == 2);
  CHECK(all.facets_across.size() == 2);
  return Arrays(all, 2, in_place);
}

}  // namespace

TEST_CASE("four quarters of a square share their vertices and facets") {
  const Arrays found = found_by_one();
  CHECK(found.offsets == std::vector<std::int64_t>{0, 4, 8, 12, 16});
  CHECK(found.kept == std::vector<std::uint8_t>(patterns, patterns + 4));
  std::set<std::pair<double, double>> places;
  for (std::size_t v = 0; v < 9; ++v) places.insert({found.vertices[2 * v], found.vertices[2 * v + 1]});
  CHECK(places.size() == 9);
  int inner = 0;
  for (std::size_t f = 0; f < 12; ++f) {
    const bool is_inner = found.facet_regions[2 * f + 1] >= 0;
    inner += is_inner;
    CHECK(is_inner == (found.kinks[f] >= 0));
    if (!is_inner) continue;
    // Across a kink one bit of the pattern changes, and both ends lie on the line.
    const std::size_t here = std::size_t(found.facet_regions[2 * f]);
    const std::size_t there = std::size_t(found.facet_regions[2 * f + 1]);
    CHECK((found.kept[here] ^ found.kept[there]) == 1 << found.kinks[f]);
    for (std::size_t end = 0; end < 2; ++end)
      CHECK(found.vertices[std::size_t(2 * found.facet_vertices[2 * f + end] + found.kinks[f])] == 0);
  }
  CHECK(inner == 4);
}

TEST_CASE("they are the same if four arrays are written over what was collected") {
  CHECK(found_by_one(true) == found_by_one());
}

TEST_CASE("they are the same if two have found them, whoever was first") {
  const Arrays alone = found_by_one();
  for (const bool second_first : {false, true})
    CHECK(found_by_two(second_first, true) == alone);  // in two parts, so nothing is written in place
}

TEST_CASE("two sides of a cut that differ are refused") {
  Square square;
  Whole all;
  Complex<Polygon> complex(all.only(), 1);
  const Polygon whole = square.whole(complex);
  const Cut<Polygon> cut = square.cut(whole, 1, complex);
  complex.region(cut.children[0], &patterns[3], cut.traces[0], nullptr);
  square.find_quarters(cut.children[1], 1, cut.traces[1], complex);  // one region on one side, two on the other
  CHECK_THROWS_AS(complex.join(whole, cut, square.traces(whole)), std::logic_error);
}
