// SPDX-License-Identifier: MIT
// One hidden ReLU layer of three units on two inputs, in the plane or along the first axis: simple lines.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exact/exact.hpp"
#include "task/monitor.hpp"
#include "task/network.hpp"

inline std::vector<double> square() { return {1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1}; }  // (w, x, y), four times

struct SmallProblem {
  SmallProblem(const double* weights, std::vector<double> its_biases, std::vector<double> its_generators,
               int dimension = 2)
      : biases(its_biases), generators(its_generators) {
    regions::Layer inputs;
    inputs.units = 2;
    inputs.own = 2;
    inputs.slopes = ones;
    inputs.intercepts = zeros;
    regions::Layer hidden;
    hidden.units = 3;
    hidden.own = 3;
    hidden.most_terms = 2;
    hidden.inputs = 2;
    hidden.weights = regions::LinearOperator(weights, 2);
    hidden.biases = biases.data();
    hidden.kinks = 1;
    hidden.breakpoints = zeros;
    hidden.slopes = relu_slopes;
    hidden.intercepts = zeros;
    hidden.first_unit = 2;
    network.layers = {inputs, hidden};
    network.total_kinks = 3;
    network.total_units = 5;
    chart.dimension = dimension;
    chart.inputs = 2;
    chart.origin = zeros;
    chart.directions = identity;
    domain.count = int(generators.size()) / (dimension + 1);
    domain.generators = generators.data();
    exact_.emplace(network, chart, domain, pieces_, monitor_);
  }
  SmallProblem(const SmallProblem&) = delete;
  SmallProblem& operator=(const SmallProblem&) = delete;

  regions::Exact& exact() { return *exact_; }

  const double ones[2] = {1, 1};
  const double zeros[6] = {};
  const double identity[4] = {1, 0, 0, 1};
  const double relu_slopes[6] = {0, 1, 0, 1, 0, 1};
  std::vector<double> biases;
  std::vector<double> generators;
  regions::Network network;
  regions::Chart chart;
  regions::Domain domain;

 private:
  static int no_report(void*, double, std::int64_t) { return 0; }

  const std::uint8_t pieces_[5] = {};
  regions::Monitor monitor_{&no_report, nullptr, 1000};
  std::optional<regions::Exact> exact_;
};
