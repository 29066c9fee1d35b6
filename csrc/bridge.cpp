// SPDX-License-Identifier: MIT
#include "bridge.hpp"

#include <cfenv>

#include "kernel.hpp"

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

// Numbers vertices and facets, each once.
void assemble(Collected& collected, ComplexArrays& arrays) {
  const std::size_t dimension = std::size_t(collected.dimension);
  const std::size_t corners = collected.corners.size();
  std::vector<std::int64_t> number(collected.errors.size(), -1);
  arrays.cell_vertices.resize(corners);
  arrays.vertex_errors.reserve(collected.errors.size());
  arrays.vertices.reserve(collected.positions.size());
  arrays.facet_kinks.reserve(corners);
  arrays.facet_regions.reserve(2 * corners);
  arrays.facet_vertices.reserve(dimension * corners);
  for (std::size_t corner = 0; corner < corners; ++corner) {
    const std::size_t vertex = std::size_t(collected.representative(collected.corners[corner].vertex));
    if (number[vertex] < 0) {
      number[vertex] = std::int64_t(arrays.vertex_errors.size());
      arrays.vertex_errors.push_back(collected.errors[vertex]);
      for (std::size_t k = 0; k < dimension; ++k)
        arrays.vertices.push_back(collected.positions[vertex * dimension + k]);
    }
    arrays.cell_vertices[corner] = number[vertex];
  }
  arrays.cell_facets.resize(corners);
  for (std::size_t corner = 0; corner < corners; ++corner) {
    const std::int64_t twin = collected.corners[corner].twin;
    if (twin >= 0 && twin < std::int64_t(corner)) {
      arrays.cell_facets[corner] = arrays.cell_facets[std::size_t(twin)];
      continue;
    }
    arrays.cell_facets[corner] = std::int64_t(arrays.facet_kinks.size());
    arrays.facet_kinks.push_back(collected.corners[corner].boundary);
    arrays.facet_regions.push_back(collected.corners[corner].region);
    arrays.facet_regions.push_back(twin < 0 ? -1 : collected.corners[std::size_t(twin)].region);
    arrays.facet_vertices.push_back(arrays.cell_vertices[corner]);
    if (dimension == 2) {
      const std::int64_t end = collected.representative(collected.facet_end(std::int64_t(corner)));
      arrays.facet_vertices.push_back(number[std::size_t(end)]);
    }
  }
  arrays.cell_offsets = std::move(collected.offsets);
  arrays.patterns = std::move(collected.patterns);
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
      [&](Outcome& outcome) { best_kernel().kernel->count({model.network(), chart, domain, monitor, outcome}); }, limit);
}

Run enumerate_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report,
                      void* context, std::int64_t limit, ComplexArrays& arrays) {
  Monitor monitor(report, context, limit);
  Collected collected;
  const Run run = supervised(
      [&](Outcome& outcome) {
        best_kernel().kernel->enumerate({model.network(), chart, domain, monitor, outcome}, collected);
      },
      limit);
  assemble(collected, arrays);
  return run;
}

const char* kernel_name() { return best_kernel().name; }

}  // namespace regions
