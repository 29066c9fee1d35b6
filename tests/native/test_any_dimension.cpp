// SPDX-License-Identifier: MIT
// Does the recursion work with a type of cells of another dimension, defined in one file?
//
// A box in three dimensions that no neuron cuts: it has everything that the recursion needs before the first cut, and nothing else.
#include <doctest/doctest.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "cells/cell.hpp"
#include "collect/collect.hpp"
#include "kernel/subdivide.hpp"

using namespace regions;

namespace {

struct NoTrace {
  static NoTrace of(std::int64_t) { return {}; }
};

struct UncutBox {
  using Trace = NoTrace;
  static constexpr int dimension = 3;
  static constexpr int most_children = 2;
  static constexpr int outer = 0;
  static constexpr int facet_corners = 2;
  int count;
  const Vertex<3>** vertices;

  static UncutBox whole(Vertex<3>* corners, int count, Exact&, Arena& arena) {
    UncutBox box{count, arena.take<const Vertex<3>*>(std::size_t(count))};
    for (int i = 0; i < count; ++i) box.vertices[i] = &corners[i];
    return box;
  }

  int facet_count() const { return 6; }
  FacetOfCell facet(int side) const { return {-1 - side, 0, 1}; }
  static UncutBox unclipped(const UncutBox& cell, Arena&) { return cell; }

  template <class Collector>
  static void cut(const UncutBox&, const Facet<3>&, Exact&, Arena&, Collector&, Cut<UncutBox>&) {
    throw std::logic_error("the box is cut");
  }
  static UncutBox clip(const UncutBox&, const Facet<3>&, const int*, int, Exact&, Arena&) {
    throw std::logic_error("the box is clipped");
  }
  template <class Arms, class Collector>
  static void arrange(const UncutBox&, Arms&, Exact&, Arena&, Collector&, Cut<UncutBox>&) {
    throw std::logic_error("the box is divided");
  }
  template <class Collector>
  static void join(const UncutBox&, const Cut<UncutBox>&, NoTrace*, Collector&) {}

  struct Arrangement {
    std::int64_t count(const Lines<3>&, const UncutBox&, std::int64_t, Monitor*) const { return unknown; }
  };
};

// One hidden layer of ReLU neurons on the cube from -1 to 1.
struct InCube {
  InCube(std::vector<double> its_weights, std::vector<double> its_biases)
      : weights(std::move(its_weights)), biases(std::move(its_biases)), norms(biases.size(), 10), zeros(biases.size()) {
    const int units = int(biases.size());
    for (int i = 0; i < 8; ++i) {
      corners[i][0] = 1;
      for (int k = 0; k < 3; ++k) corners[i][k + 1] = (i >> k & 1) != 0 ? 1 : -1;
    }
    for (int unit = 0; unit < units; ++unit) slopes.insert(slopes.end(), {0, 1});
    Layer inputs;
    inputs.units = inputs.own = 3;
    inputs.slopes = ones;
    inputs.intercepts = origin;
    Layer hidden;
    hidden.units = hidden.own = units;
    hidden.most_terms = hidden.inputs = 3;
    hidden.weights = LinearOperator(weights.data(), 3);
    hidden.biases = biases.data();
    hidden.kinks = 1;
    hidden.breakpoints = zeros.data();
    hidden.slopes = slopes.data();
    hidden.intercepts = no_intercepts;
    hidden.norms = norms.data();
    hidden.largest_norm = hidden.largest_sum = hidden.gain = 100;
    hidden.largest_bias = 10;
    hidden.first_unit = 3;
    network.layers = {inputs, hidden};
    network.total_kinks = units;
    network.total_units = 3 + units;
    chart.dimension = chart.inputs = 3;
    chart.origin = origin;
    chart.directions = identity;
    domain.count = 8;
    domain.generators = &corners[0][0];
  }

  std::int64_t regions() {
    Outcome outcome;
    Counter<UncutBox> counter;
    Subdivision<UncutBox, Counter<UncutBox>>({network, chart, domain, monitor, outcome}, counter).run();
    return counter.count;
  }

  // Weights of a neuron that is zero where the first three are.
  int sign_at_meeting(int unit) {
    const VertexName<3> meeting{-1, {0, 1, 2}};
    return Exact(network, chart, domain, pieces, monitor).sign(1, unit, 0, meeting);
  }

  const double ones[3] = {1, 1, 1};
  const double origin[3] = {};
  const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const double no_intercepts[8] = {};
  const std::uint8_t pieces[7] = {};
  std::vector<double> weights;
  std::vector<double> biases;
  std::vector<double> norms;
  std::vector<double> zeros;
  std::vector<double> slopes;
  double corners[8][4];
  Network network;
  Chart chart;
  Domain domain;
  Monitor monitor{[](void*, double, std::int64_t) { return 0; }, nullptr, 1000};
};

// A neuron x + y + z + bias and its negative.
std::int64_t regions_in_cube(double bias) { return InCube({1, 1, 1, -1, -1, -1}, {bias, -bias}).regions(); }

}  // namespace

static_assert(require_cell<UncutBox>(), "");

TEST_CASE("a box in three dimensions that no neuron cuts is one region") {
  CHECK(regions_in_cube(4) == 1);
  CHECK(regions_in_cube(3) == 1);  // the plane touches a corner
  CHECK(regions_in_cube(-4) == 1);
}

TEST_CASE("a box that a neuron cuts is asked to be cut") {
  CHECK_THROWS_AS(regions_in_cube(3 - 0x1p-40), std::logic_error);
  CHECK_THROWS_AS(regions_in_cube(0), std::logic_error);
}

// 3 x = 1, 7 y = 1 and 5 z = 1 meet in a point that is not a double; their sum is zero there.
TEST_CASE("a plane through the point where three others meet is zero there, and nothing else is") {
  for (const double off : {0.0, 0x1p-50, -0x1p-50}) {
    InCube problem({3, 1, 0, 0, 7, 1, 1, 0, 5, 4, 8, 6}, {-1, -1, -1, -3 + off});
    CHECK(problem.sign_at_meeting(3) == (off > 0) - (off < 0));
    CHECK(problem.sign_at_meeting(1) == 0);
  }
}
