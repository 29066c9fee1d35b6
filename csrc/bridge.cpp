// SPDX-License-Identifier: MIT
#include "bridge.hpp"

#include <cfenv>

#include "kernel.hpp"
#include "place.hpp"

namespace regions {

namespace {

struct NamedKernel {
  const Kernel* kernel;
  const char* name;
};

NamedKernel best_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw"))
    return {&kernel_avx512, "avx512"};
  if (__builtin_cpu_supports("avx2")) return {&kernel_avx2, "avx2"};
#endif
  return {&kernel_baseline, "baseline"};
}

// Strict arithmetic, whatever the caller's thread is set to: rounding to nearest, denormals kept.
class StrictArithmetic {
 public:
  StrictArithmetic() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StrictArithmetic() { std::fesetenv(&before_); }
  StrictArithmetic(const StrictArithmetic&) = delete;
  StrictArithmetic& operator=(const StrictArithmetic&) = delete;

 private:
  std::fenv_t before_;
};

template <class Work>
Run supervised(Work work, std::int64_t limit) {
  Run run;
  try {
    const StrictArithmetic strict;
    work(run.outcome);
    if (run.outcome.count > limit) run.status = Status::limit_exceeded;
  } catch (const Interrupted&) {
    run.status = Status::interrupted;
  } catch (const LimitExceeded&) {
    run.status = Status::limit_exceeded;
  }
  return run;
}

}  // namespace

Model::Model(int inputs) : ones_(std::size_t(inputs), 1.0), zeros_(std::size_t(inputs), 0.0) {
  Layer chart;
  chart.units = inputs;
  chart.slopes = ones_.data();
  chart.intercepts = zeros_.data();
  network_.layers.push_back(chart);
  network_.total_units = inputs;
}

void Model::add_layer(int units, const double* weights, const double* biases, int kinks, const double* breakpoints,
                      const double* slopes, const double* intercepts) {
  Layer layer;
  layer.units = units;
  layer.inputs = network_.layers.back().units;
  layer.weights = weights;
  layer.biases = biases;
  layer.kinks = kinks;
  layer.breakpoints = breakpoints;
  layer.slopes = slopes;
  layer.intercepts = intercepts;
  layer.first_kink = network_.total_kinks;
  layer.first_unit = network_.total_units;
  network_.layers.push_back(layer);
  network_.total_kinks += std::int64_t(units) * kinks;
  network_.total_units += units;
}

Run count_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  std::int64_t limit) {
  Monitor monitor(report, context, limit);
  return supervised(
      [&](Outcome& outcome) {
        best_kernel().kernel->count({model.network(), chart, domain, monitor, outcome});
      },
      limit);
}

Run enumerate_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report,
                      void* context, std::int64_t limit, Collected& collected) {
  Monitor monitor(report, context, limit);
  return supervised(
      [&](Outcome& outcome) {
        best_kernel().kernel->enumerate({model.network(), chart, domain, monitor, outcome}, collected);
        place_again(collected, model.network(), chart, domain, outcome.cells, monitor);
      },
      limit);
}

const char* kernel_name() { return best_kernel().name; }

}  // namespace regions
