// SPDX-License-Identifier: MIT
// What does Python see of the core?
//
// One model to fill, two calls, plain structs and vectors. Arrays that are passed in are read, not copied or kept,
// and outlive the call. No call touches Python or needs its lock.
#pragma once

#include <cstdint>
#include <vector>

#include "monitor.hpp"
#include "network.hpp"
#include "outcome.hpp"

namespace regions {

class Model {
 public:
  explicit Model(int inputs);
  void add_layer(int units, const double* weights, const double* biases, int kinks, const double* breakpoints,
                 const double* slopes, const double* intercepts);
  const Network& network() const { return network_; }

 private:
  Network network_;
  std::vector<double> ones_, zeros_;  // the chart layer's slopes and intercepts
};

enum class Status { finished, interrupted, limit_exceeded };

struct Run {
  Status status = Status::finished;
  Outcome outcome;
};

// The arrays of regions.Partition, flat.
struct ComplexArrays {
  std::vector<double> vertices;               // [vertices, dimension]
  std::vector<double> vertex_errors;          // [vertices]
  std::vector<std::int64_t> cell_offsets;     // [regions + 1]
  std::vector<std::int64_t> cell_vertices;    // [corners]
  std::vector<std::int64_t> cell_facets;      // [corners]
  std::vector<std::int64_t> facet_vertices;   // [facets, dimension]
  std::vector<std::int64_t> facet_regions;    // [facets, 2]
  std::vector<std::int64_t> facet_kinks;      // [facets]
  std::vector<std::uint8_t> patterns;         // [regions, bytes]
};

Run count_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  std::int64_t limit);
Run enumerate_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report,
                      void* context, std::int64_t limit, ComplexArrays& arrays);

const char* kernel_name();

}  // namespace regions
