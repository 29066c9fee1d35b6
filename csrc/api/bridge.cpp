// SPDX-License-Identifier: MIT
#include "api/bridge.hpp"

#include <cfenv>
#include <cmath>
#include <utility>

#include "collect/place.hpp"
#include "kernel/kernel.hpp"
#include "rows/lanes.hpp"
#include "task/panels.hpp"

namespace regions {

namespace {

struct NamedKernel {
  const Kernel* kernel;
  const char* name;
};

NamedKernel best_kernel() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
      return {&kernel_avx512, "avx512"};
    return {&kernel_avx2, "avx2"};
  }
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

// Of a matrix, rounded upwards; what is not zero is taken to be no less than the floor, so that no square vanishes.
struct Norms {
  std::vector<double> rows;  // 2-norms
  double largest_sum = 0;    // of a row's absolute values
  double total = 0;          // of all squares
  double spectral = 0;       // no better than sqrt(|W|_1 |W|_inf), or the Frobenius norm
};

Norms norms_of(const LinearOperator& weights, int rows, int columns) {
  Norms norms;
  norms.rows.resize(std::size_t(rows));
  std::vector<double> sums(std::size_t(columns), 0.0);
  RowRoom room;
  for (int i = 0; i < rows; ++i) {
    const double* row = weights.row(i, room);
    double sum = 0;
    double squares = 0;
    for (std::size_t j = 0; j < sums.size(); ++j) {
      const double weight = std::fabs(row[j]);
      const double floored = weight == 0 ? 0 : std::fmax(weight, floor_of_sizes);
      sum += floored;
      squares += floored * floored;
      sums[j] += floored;
    }
    norms.rows[std::size_t(i)] = std::sqrt(squares) * slack;
    norms.largest_sum = at_least(norms.largest_sum, sum * slack);
    norms.total += squares;
  }
  double largest_column = 0;
  for (const double sum : sums) largest_column = at_least(largest_column, sum * slack);
  norms.spectral =
      std::fmin(std::sqrt(norms.total), std::sqrt(largest_column) * std::sqrt(norms.largest_sum)) * slack;
  return norms;
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
                      const double* slopes, const double* intercepts, double spectral_norm) {
  Layer layer;
  layer.units = units;
  layer.inputs = network_.layers.back().units;
  layer.weights = LinearOperator(weights, layer.inputs);
  layer.biases = biases;
  layer.kinks = kinks;
  layer.breakpoints = breakpoints;
  layer.slopes = slopes;
  layer.intercepts = intercepts;
  Norms norms = norms_of(layer.weights, units, layer.inputs);
  double steepest = 0;
  for (std::int64_t i = 0; i < std::int64_t(units) * (kinks + 1); ++i)
    steepest = at_least(steepest, std::fabs(slopes[i]));
  layer.largest_sum = norms.largest_sum;
  for (int i = 0; i < units; ++i) layer.largest_bias = at_least(layer.largest_bias, std::fabs(biases[i]));
  for (const double norm : norms.rows) layer.largest_norm = at_least(layer.largest_norm, norm);
  // Of 0 it says that nothing of the layer below is left, so a small one must not vanish.
  const double norm = std::fmin(norms.spectral, spectral_norm);
  layer.gain = norm == 0 || steepest == 0 ? 0 : std::fmax(norm * steepest * slack, floor_of_sizes);
  // As if half of the units were on a piece that leaves nothing. A norm that nobody looked for says nothing.
  if (spectral_norm < INFINITY) layer.growth = spectral_norm / std::sqrt(norms.total / (2.0 * units));
  norms_.push_back(std::move(norms.rows));
  layer.norms = norms_.back().data();
  layer.first_kink = network_.total_kinks;
  layer.first_unit = network_.total_units;
  network_.layers.push_back(layer);
  network_.total_kinks += std::int64_t(units) * kinks;
  network_.total_units += units;
  choose_precision();
}

// What is rounded in a layer grows to the top by more than values do. Where it would be more than 2^-28 of them there,
// rows get another limb. It is a guess, and costs nothing but time if it is wrong.
void Model::choose_precision() {
  double growth = 1;
  int limbs = 1;
  const auto rounding = [&](double terms) {
    return limbs == 1 ? unit_roundoff * (terms + 3) : rounding_of_limbs(limbs, terms);
  };
  for (std::size_t l = network_.layers.size(); --l > 0;) {
    Layer& layer = network_.layers[l];
    const double sizes = std::sqrt(double(layer.units)) * layer.largest_sum;
    while (limbs < most_limbs && rounding(0.5 * layer.inputs) * sizes * growth > 0x1p-28) ++limbs;
    layer.limbs = limbs;
    growth *= layer.growth;
  }
}

const double* const* Model::panels() const {
  std::call_once(has_panels_, [this] {
    panels_.resize(1);
    for (std::size_t l = 1; l < network_.layers.size(); ++l) panels_.push_back(in_panels(network_.layers[l]));
    for (const std::vector<double>& panels : panels_) panel_starts_.push_back(panels.data());
  });
  return panel_starts_.data();
}

Run count_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  std::int64_t limit) {
  Monitor monitor(report, context, limit);
  return supervised(
      [&](Outcome& outcome) {
        const double* const* panels = chart.dimension == 1 || domain.arc ? model.panels() : nullptr;
        best_kernel().kernel->count({model.network(), chart, domain, monitor, outcome, panels});
      },
      limit);
}

Run enumerate_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report,
                      void* context, std::int64_t limit, Collected& collected) {
  Monitor monitor(report, context, limit);
  return supervised(
      [&](Outcome& outcome) {
        const double* const* panels = chart.dimension == 1 || domain.arc ? model.panels() : nullptr;
        best_kernel().kernel->enumerate({model.network(), chart, domain, monitor, outcome, panels}, collected);
        if (!domain.arc) place_again(collected, model.network(), chart, domain, outcome.cells, monitor);
      },
      limit);
}

void find_cells(const PlaneCells& cells, std::int64_t start, std::int64_t steps, const double* points,
                std::int64_t count, std::int64_t* found) {
  const StrictArithmetic strict;
  walk(cells, start, steps, points, count, found);
}

const char* kernel_name() { return best_kernel().name; }

}  // namespace regions
