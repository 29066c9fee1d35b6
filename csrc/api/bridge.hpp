// SPDX-License-Identifier: MIT
// What does Python see of the core?
//
// One model to fill, three calls, plain structs. Arrays that are passed in are read, not copied or kept, and outlive the
// call. What an enumeration collects becomes arrays by `number` and `assemble`. No call touches Python or its lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "collect/assemble.hpp"
#include "collect/collected.hpp"
#include "locate/walk.hpp"
#include "task/monitor.hpp"
#include "task/network.hpp"
#include "task/outcome.hpp"

namespace regions {

class Model {
 public:
  explicit Model(int inputs);
  // `spectral_norm` is an upper bound on that of the weights, infinite if none is known.
  void add_layer(int units, const double* weights, const double* biases, int kinks, const double* breakpoints,
                 const double* slopes, const double* intercepts, double spectral_norm);
  const Network& network() const { return network_; }
  // Of each layer (task/panels.hpp), made when they are first asked for.
  const double* const* panels() const;

 private:
  void choose_precision();

  Network network_;
  std::vector<double> ones_, zeros_;         // the chart layer's slopes and intercepts
  std::vector<std::vector<double>> norms_;   // [layers, units]
  mutable std::once_flag has_panels_;
  mutable std::vector<std::vector<double>> panels_;
  mutable std::vector<const double*> panel_starts_;
};

enum class Status { finished, interrupted, limit_exceeded };

struct Run {
  Status status = Status::finished;
  Outcome outcome;
};

Run count_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  std::int64_t limit);
Run enumerate_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report,
                      void* context, std::int64_t limit, Collected& collected);

// See `walk`.
void find_cells(const PlaneCells& cells, std::int64_t start, std::int64_t steps, const double* points,
                std::int64_t count, std::int64_t* found);

const char* kernel_name();

}  // namespace regions
