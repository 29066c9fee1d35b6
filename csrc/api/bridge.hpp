// SPDX-License-Identifier: MIT
// What does Python see of the core?
//
// It sees one model to fill, a few calls, and plain structs. Arrays that are passed in are read, not copied or stored, and must
// outlive the call, which may use several threads. The result of an enumeration has the sizes of its arrays, which `assemble`
// writes. No call touches Python or its lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "collect/assemble.hpp"
#include "collect/face_complex.hpp"
#include "collect/whole.hpp"
#include "locate/walk.hpp"
#include "measure/volumes.hpp"
#include "task/monitor.hpp"
#include "task/network.hpp"
#include "task/outcome.hpp"
#include "task/section.hpp"

namespace regions {

// Breakpoints [breakpoint_rows, kinks], and slopes and intercepts [rows, kinks + 1] of pieces. There is a row for each unit, or
// one row for all.
struct Tables {
  int kinks;
  int breakpoint_rows;
  int rows;
  const double* breakpoints;
  const double* slopes;
  const double* intercepts;
};

class Model {
 public:
  explicit Model(int inputs);
  // What the units of the next layer read of the layer before it.
  void add_dense(int first, int inputs, const double* weights);
  void add_patches(const PatchArrays& arrays, int rows);
  // Units that read these, followed by pass-through units, which are outputs of the layer before; `arms` [units + 1], or null,
  // as in Layer. `spectral_norm` is an upper bound on the norm of the weights of both, infinite if unknown.
  void add_layer(int units, const std::int32_t* arms, const double* biases, const Tables& tables, const std::int32_t* passed,
                 int passed_count, double spectral_norm);
  // The last layers so far only compute outputs, whose maps an enumeration then finds. They have no kinks.
  void set_output_layers(int count) { network_.output_layers = count; }
  // Groups of the units of the last hidden layer, numbered from 0: see Network::group_of.
  void set_groups(const std::int32_t* group_of, int units, int groups) {
    network_.group_of.assign(group_of, group_of + units);
    network_.groups = groups;
  }
  // Patterns of regions are followed by the kinks that are zero all over a region: see Network::keeps_zeros.
  void keep_zeros() { network_.keeps_zeros = true; }
  const Network& network() const { return network_; }
  // Number of kinks with certainly the line of an earlier kink of their layer.
  std::int64_t repeated_kinks() const { return repeated_kinks_; }
  // One for each layer (task/panels.hpp), built on first use; null if some layer has no matrix.
  const double* const* panels() const;

 private:
  Network network_;
  std::int64_t repeated_kinks_ = 0;
  std::vector<double> ones_, zeros_;         // the chart layer's slopes and intercepts
  std::vector<DensePart> dense_;             // of the next layer
  std::vector<PatchPart> patches_;
  std::vector<std::vector<double>> tables_;  // the tables of each layer
  mutable std::once_flag has_panels_;
  mutable std::vector<std::vector<double>> panels_;
  mutable std::vector<const double*> panel_starts_;
};

enum class Status { finished, interrupted, limit_exceeded };

struct Run {
  Status status = Status::finished;
  Outcome outcome;
};

// Counts one section on one thread, or everything.
Run count_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  std::int64_t limit, int workers, Section& section);
Run enumerate_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report,
                      void* context, std::int64_t limit, int workers, Section& section, Whole& whole);
// Places some vertices of a segment or plane once more, in the arrays that `assemble` wrote, or in joined ones. Blocks that will be
// joined are not placed, because the choice depends on the whole enumeration.
Run place_regions(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  const ComplexArrays& arrays, const ComplexSizes& sizes, std::int64_t cells);
// As `enumerate_regions`, in three to six dimensions.
Run enumerate_in_polytope(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                          std::int64_t limit, int workers, Section& section, FaceComplex& complex);
// Finds paths where sections may begin, at least the requested number if there are as many. Blocks that are joined must
// not begin inside of cells that the recursion sweeps, so these can be left whole.
Run find_frontier(const Model& model, const Chart& chart, const Domain& domain, Monitor::Report report, void* context,
                  std::int64_t least, bool leaves_swept_whole, std::vector<Path>& paths);
// The corners (w, p) of the set where forms of three to ten coordinates are at least zero, one after another; none if it has no interior.
std::vector<double> corners_of(int dimension, const double* forms, int form_count, Monitor::Report report, void* context);

// The number of doubles in each number of the rows of each layer, the inputs' first: see rows/precision.hpp.
std::vector<int> limbs_of_rows(const Model& model, const Chart& chart, const Domain& domain);

// See `walk`.
void find_cells(const PlaneCells& cells, std::int64_t start, std::int64_t steps, const double* points,
                std::int64_t count, std::int64_t* found);

const char* kernel_name();

}  // namespace regions
