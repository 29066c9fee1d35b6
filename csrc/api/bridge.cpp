// SPDX-License-Identifier: MIT
#include "api/bridge.hpp"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "api/norms.hpp"
#include "api/same_lines.hpp"
#include "collect/place.hpp"
#include "kernel/compiled.hpp"
#include "kernel/polytopes.hpp"
#include "rows/lanes.hpp"
#include "rows/precision.hpp"  // only scalars, so it may be compiled here too
#include "task/panels.hpp"

namespace regions {

namespace {

struct NamedKernel {
  const Kernel* kernel;
  const char* name;  // empty if this machine can run none of the kernels
};

#if defined(REGIONS_KERNEL_FROM_ENVIRONMENT)
// Returns whether the environment variable REGIONS_KERNEL, if set, names this kernel. Only builds with sanitizers read it,
// so that their tests can run every kernel (setup.py).
bool is_asked_for(const char* name) {
  const char* asked = std::getenv("REGIONS_KERNEL");
  return asked == nullptr || std::strcmp(asked, name) == 0;
}
#else
constexpr bool is_asked_for(const char*) { return true; }
#endif

NamedKernel best_kernel() {
#if defined(REGIONS_HAS_KERNEL_AVX512)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("fma") && is_asked_for("avx512"))
    return {&kernel_avx512, "avx512"};
#endif
#if defined(REGIONS_HAS_KERNEL_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && is_asked_for("avx2")) return {&kernel_avx2, "avx2"};
#endif
#if defined(REGIONS_HAS_KERNEL_BASELINE)
  return {&kernel_baseline, "baseline"};
#else
  return {nullptr, ""};
#endif
}

// If the machine can run none of the kernels, the core is not imported, and this is not called.
const PolytopeKernel& polytopes_of([[maybe_unused]] int dimension) {
#if defined(REGIONS_HAS_POLYTOPES_WIDE)
  if (dimension > 6) return polytopes_wide;
#endif
#if defined(REGIONS_HAS_POLYTOPES_AVX2) && defined(REGIONS_HAS_POLYTOPES_BASELINE)
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? polytopes_avx2 : polytopes_baseline;
#elif defined(REGIONS_HAS_POLYTOPES_AVX2)
  return polytopes_avx2;
#else
  return polytopes_baseline;
#endif
}

// Strict arithmetic, whatever the settings of the caller's thread: rounding to nearest, denormals enabled.
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
    if (run.outcome.count + run.outcome.closed > limit) run.status = Status::limit_exceeded;
  } catch (const Interrupted&) {
    run.status = Status::interrupted;
  } catch (const LimitExceeded&) {
    run.status = Status::limit_exceeded;
  }
  return run;
}

Section* asked_of(Section& section) { return section.is_all() ? nullptr : &section; }

// The position of each unit in the layer's order.
std::vector<int> rank_of(const Layer& layer) {
  std::vector<int> rank(std::size_t(layer.units), 0);
  for (int i = 0; i < layer.units; ++i) rank[std::size_t(i)] = i;
  for (std::size_t i = 0; i < layer.order.size(); ++i) rank[std::size_t(layer.order[i])] = int(i);
  return rank;
}

// Chooses the order in which units are written. Units of one patch read the same outputs. If patches have few rows, patches
// that read outputs written together follow each other.
void choose_order(Layer& layer, const Layer& below) {
  constexpr int few_rows = 4;
  const std::vector<PatchPart>& parts = layer.weights.patches();
  if (parts.empty()) return;
  const PatchPart& main = *std::max_element(parts.begin(), parts.end(), [](const PatchPart& left, const PatchPart& right) {
    return left.rows() * left.terms() < right.rows() * right.terms();
  });
  const std::vector<int> rank = rank_of(below);
  std::vector<std::pair<int, int>> patches;  // by the lowest rank of the outputs that they read
  for (int patch = 0; patch < main.patches(); ++patch) {
    int lowest = layer.inputs;
    for (int term = 0; term < main.terms() && main.rows() < few_rows; ++term) {
      const int source = main.sources(patch)[term];
      if (source >= 0) lowest = std::min(lowest, rank[std::size_t(source)]);
    }
    patches.push_back({lowest, patch});
  }
  std::sort(patches.begin(), patches.end());
  for (const auto& [lowest, patch] : patches)
    for (int row = 0; row < main.rows(); ++row) {
      layer.order.push_back(main.targets(patch)[row]);
      layer.group_of.push_back(main.rows() < few_rows ? 0 : patch);
    }
  for (int unit = 0; unit < layer.own; ++unit)
    if (main.patch_of(unit) < 0) {
      layer.order.push_back(unit);
      layer.group_of.push_back(PatchPart::none);
    }
}

void set_arms(const std::int32_t* arms, Layer& layer) {
  layer.arms = arms;
  layer.pairs_before.push_back(0);
  for (int unit = 0; unit < layer.own; ++unit) {
    const std::int64_t count = arms[unit + 1] - arms[unit];
    layer.pairs_before.push_back(layer.pairs_before.back() + count * (count - 1) / 2);
    layer.unit_of.insert(layer.unit_of.end(), std::size_t(count), unit);
  }
}

}  // namespace

Model::Model(int inputs) : ones_(std::size_t(inputs), 1.0), zeros_(std::size_t(inputs), 0.0) {
  Layer chart;
  chart.units = inputs;
  chart.own = inputs;
  chart.slopes = ones_.data();
  chart.intercepts = zeros_.data();
  network_.layers.push_back(chart);
  network_.total_units = inputs;
}

void Model::add_dense(int first, int inputs, const double* weights) { dense_.push_back({first, inputs, weights}); }

void Model::add_patches(const PatchArrays& arrays, int rows) {
  patches_.emplace_back(arrays, rows, rank_of(network_.layers.back()));
}

void Model::add_layer(int units, const std::int32_t* arms, const double* biases, const Tables& tables, const std::int32_t* passed,
                      int passed_count, double spectral_norm) {
  const StrictArithmetic strict;
  Layer layer;
  layer.units = units + passed_count;
  layer.own = units;
  const int rows = arms != nullptr ? arms[units] : units;
  const int kinks = tables.kinks;
  layer.inputs = network_.layers.back().units;
  for (const DensePart& part : dense_) layer.multiply_adds += double(rows) * part.inputs;
  for (const PatchPart& part : patches_) layer.multiply_adds += double(part.patches()) * part.rows() * part.terms();
  const bool whole = arms == nullptr && passed_count == 0 && patches_.empty() && dense_.size() == 1 && dense_[0].inputs == layer.inputs;
  for (const DensePart& part : dense_) layer.most_terms += part.inputs;
  for (const PatchPart& part : patches_) layer.most_terms += part.terms();
  if (whole)
    layer.weights = LinearOperator(dense_[0].weights, layer.inputs);
  else
    layer.weights = LinearOperator(std::move(dense_), std::move(patches_), rows, {passed, passed + passed_count});
  dense_.clear();
  patches_.clear();
  if (arms != nullptr)
    set_arms(arms, layer);
  else
    choose_order(layer, network_.layers.back());
  // A table that has one row for all units is repeated. All pieces of pass-through units are the identity.
  const auto table = [&](const double* given, int given_rows, int own, int each, double of_passed) {
    if (passed_count == 0 && given_rows == own) return given;
    std::vector<double> extended(std::size_t(own + passed_count) * std::size_t(each), of_passed);
    for (int row = 0; row < own; ++row) {
      const double* const source = given + (given_rows == own ? row : 0) * std::ptrdiff_t(each);
      std::copy(source, source + each, extended.begin() + row * std::ptrdiff_t(each));
    }
    tables_.push_back(std::move(extended));
    return const_cast<const double*>(tables_.back().data());
  };
  layer.biases = table(biases, rows, rows, 1, 0);
  layer.kinks = kinks;
  layer.breakpoints = table(tables.breakpoints, tables.breakpoint_rows, units, kinks, 0);
  layer.slopes = table(tables.slopes, tables.rows, units, kinks + 1, 1);
  layer.intercepts = table(tables.intercepts, tables.rows, units, kinks + 1, 0);
  Norms norms = norms_of(layer.weights, rows + passed_count, layer.inputs);
  double steepest = 0;
  for (std::int64_t i = 0; i < std::int64_t(layer.units) * (kinks + 1); ++i)
    steepest = at_least(steepest, std::fabs(layer.slopes[i]));
  layer.largest_sum = norms.largest_sum;
  for (int i = 0; i < rows; ++i) layer.largest_bias = at_least(layer.largest_bias, std::fabs(biases[i]));
  for (const double norm : norms.rows) layer.largest_norm = at_least(layer.largest_norm, norm);
  // A norm of 0 would mean that the layer below contributes nothing, so a small norm must not vanish.
  const double norm = std::fmin(norms.spectral, spectral_norm);
  layer.gain = norm == 0 || steepest == 0 ? 0 : std::fmax(norm * steepest * slack, floor_of_sizes);
  // The estimate takes half of the units to be on a constant piece. A norm that was not computed is infinite.
  const double left = arms != nullptr ? double(rows + passed_count) : 2.0 * layer.units;
  if (spectral_norm < INFINITY) layer.growth = spectral_norm / std::sqrt(norms.total / left);
  tables_.push_back(std::move(norms.rows));
  layer.norms = tables_.back().data();
  layer.same_line = same_lines(layer);
  for (std::size_t kink = 0; kink < layer.same_line.size(); ++kink) repeated_kinks_ += layer.same_line[kink] != std::int32_t(kink);
  layer.first_kink = network_.total_kinks;
  layer.first_unit = network_.total_units;
  network_.total_kinks += arms != nullptr ? layer.pairs_before.back() : std::int64_t(units) * kinks;
  network_.total_units += layer.units;
  network_.layers.push_back(std::move(layer));
}

const double* const* Model::panels() const {
  if (!network_.is_whole()) return nullptr;
  std::call_once(has_panels_, [this] {
    panels_.resize(1);
    for (std::size_t l = 1; l < network_.layers.size(); ++l) panels_.push_back(in_panels(network_.layers[l]));
    for (const std::vector<double>& panels : panels_) panel_starts_.push_back(panels.data());
  });
  return panel_starts_.data();
}

Run find_frontier(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  std::int64_t least, bool leaves_swept_whole, std::vector<Path>& paths) {
  const std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  Monitor monitor(report, context, no_limit);
  return supervised(
      [&](Outcome& outcome) {
        const FrontierKernel frontier = chart.dimension > 2 ? polytopes_of(chart.dimension).frontier : best_kernel().kernel->frontier;
        Task task{model.network(), chart, domain, monitor, outcome};
        task.leaves_swept_whole = leaves_swept_whole;
        paths = frontier(task, least);
      },
      no_limit);
}

Run count_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  std::int64_t limit, int workers, Section& section) {
  Monitor monitor(report, context, limit);
  return supervised(
      [&](Outcome& outcome) {
        const double* const* panels = chart.dimension == 1 || domain.arc ? model.panels() : nullptr;
        const CountKernel count = chart.dimension > 2 ? polytopes_of(chart.dimension).count : best_kernel().kernel->count;
        count({model.network(), chart, domain, monitor, outcome, panels, workers, asked_of(section)});
      },
      limit);
}

Run enumerate_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report,
                      void* context, std::int64_t limit, int workers, Section& section, Whole& whole) {
  Monitor monitor(report, context, limit);
  const Run run = supervised(
      [&](Outcome& outcome) {
        const double* const* panels = chart.dimension == 1 || domain.arc ? model.panels() : nullptr;
        best_kernel().kernel->enumerate({model.network(), chart, domain, monitor, outcome, panels, workers, asked_of(section)}, whole);
      },
      limit);
  number(whole, workers);
  return run;
}

Run place_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  const ComplexArrays& arrays, const ComplexSizes& sizes, std::int64_t cells) {
  const std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  Monitor monitor(report, context, no_limit);
  return supervised([&](Outcome&) { place_again(arrays, sizes, model.network(), chart, domain, cells, monitor); }, no_limit);
}

Run enumerate_in_polytope(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                          std::int64_t limit, int workers, Section& section, FaceComplex& complex) {
  Monitor monitor(report, context, limit);
  const Run run = supervised(
      [&](Outcome& outcome) {
        polytopes_of(chart.dimension).enumerate({model.network(), chart, domain, monitor, outcome, nullptr, workers, asked_of(section)}, complex.harvests);
      },
      limit);
  complex.connect(run.status == Status::finished && section.is_all() && model.network().groups == 0);
  return run;
}

void find_cells(const PlaneCells& cells, std::int64_t start, std::int64_t steps, const double* points,
                std::int64_t count, std::int64_t* found) {
  const StrictArithmetic strict;
  walk(cells, start, steps, points, count, found);
}

std::vector<double> corners_of(int dimension, const double* forms, int form_count, Monitor::Report report, void* context) {
  const Model model(dimension);  // only inputs
  std::vector<double> origin(std::size_t(dimension), 0.0);
  std::vector<double> directions(std::size_t(dimension) * std::size_t(dimension), 0.0);
  for (int k = 0; k < dimension; ++k) directions[std::size_t(k) * std::size_t(dimension + 1)] = 1;
  const Chart chart{dimension, dimension, origin.data(), directions.data()};
  const Domain domain{0, nullptr, false, form_count, forms};
  const std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();
  Monitor monitor(report, context, no_limit);
  std::vector<double> corners;
  supervised([&](Outcome& outcome) { polytopes_of(dimension).corners({model.network(), chart, domain, monitor, outcome}, corners); },
             no_limit);
  return corners;
}

std::vector<int> limbs_of_rows(const Model& model, const Chart& chart, const Domain& domain) {
  return limbs_of_layers(model.network(), chart, domain);
}

const char* kernel_name() { return best_kernel().name; }

}  // namespace regions
