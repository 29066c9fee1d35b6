// SPDX-License-Identifier: MIT
// Which regions are there in a small cell, once the rows of all remaining layers are written?
//
// As in cell_sweep.hpp, the layers are taken one by one, and parts are cut along the rows with both signs at their corners. Here
// the last layer cuts parts as well. Each part is then a region (swept_regions.hpp).
// Counting has a sweep of its own. A count needs no edges, and one error bound for each corner proves enough signs. Regions need
// edges, and bounds on vertices that do not grow from corner to corner. Counts with this sweep take 1.5 to 2.2 times as long
// (TRIED.md). If one layer remains, vertices are placed by the forms of their lines, as the recursion places them. Cells with rows of
// several limbs are not swept: bounds would be 2 to 5 times as large.
// Invariant: in each part, the layers below are affine. The proof is in docs/error-bounds.md, "The sweep over a cell". If rounded
// arithmetic does not prove every sign, nothing is concluded, and the recursion continues as usual.
// Cost: rows x columns for each corner, and a few operations on vectors of rows for each new corner.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cells/polygon.hpp"
#include "kernel/sign.hpp"
#include "kernel/swept_parts.hpp"
#include "kernel/swept_regions.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// Cells of other types are left to the recursion.
template <class Cell>
class RegionSweep {
 public:
  RegionSweep(const Network&, Arena&, Signs<Cell>&) {}
  static int size(const Network&, const LocalNetwork<Cell::dimension>&, const Cell&) { return 0; }
  std::int64_t find(const LocalNetwork<Cell::dimension>&, const Cell&) { return unknown; }
  template <class Collector>
  void collect(const LocalNetwork<Cell::dimension>&, const Cell&, const std::uint8_t*, typename Cell::Trace*, std::int64_t,
               std::int64_t, Collector&) {}
  int parts() const { return 0; }
};

template <>
class RegionSweep<Polygon> {
 public:
  static constexpr int D = Polygon::dimension;

  RegionSweep(const Network& network, Arena& arena, Signs<Polygon>& signs)
      : network_(network), arena_(arena), signs_(signs), listed_(!network.is_whole()), blocks_(network.layers.size()) {}

  // The number of undecided rows, or 0 if the cell is not of this kind.
  static int size(const Network& network, const LocalNetwork<D>& local, const Polygon& cell) {
    if (!local.bounded || local.frontier != network.last() || network.groups > 0) return 0;
    const int layers = undecided_layers(network, local);
    if (layers < 1 || local.lines.count > most_lines(layers) || cell.count > SweptParts::most_corners_of_cell) return 0;
    int rows = 0;
    int last = 0;
    for (int b = 0; b < layers; ++b) {
      const Block<D>& block = local.blocks[b];
      if (block.count > SweptVertices::most_rows || network.layers[std::size_t(block.layer)].kinks != 1) return 0;
      if (block.rows[0]->limbs > 1) return 0;  // the recursion has better bounds for such rows
      last = block.count;
      rows += block.count;
    }
    return rows - last > most_outputs ? 0 : rows;
  }

  // Finds the regions in the cell. Returns their number, or `unknown`; `collect` can follow.
  std::int64_t find(const LocalNetwork<D>& local, const Polygon& cell) {
    const Arena::Mark mark = arena_.mark();
    const bool found = sweep(local, cell);
    for (int b = 0; found && b < undecided_layers(network_, local); ++b) {
      const KeptRows& rows = blocks_[std::size_t(b)];
      signs_.counts.prove(rows.limbs, rows.proven);
      signs_.counts.exact += rows.zeros;
      signs_.counts.zero += rows.zeros;
    }
    arena_.release(mark);
    return found ? parts_.count() : unknown;
  }

  // Collects the regions first to last - 1 of the last cell.
  template <class Collector>
  void collect(const LocalNetwork<D>& local, const Polygon& cell, const std::uint8_t* pattern, FacetRun* traces,
               std::int64_t first, std::int64_t last, Collector& collector) {
    regions_.collect(parts_, network_, local, undecided_layers(network_, local), blocks_.data(), cell, pattern, traces,
                     int(first), int(last), collector);
  }

  // Number of parts of the last cell, below the last layer.
  int parts() const { return parts_below_last_; }

 private:
  static int most_lines(int layers) { return layers == 1 ? SweptVertices::most_rows : 16; }
  static constexpr int most_outputs = 512;  // of all layers but the last

  // Without the rows of outputs, if any.
  static int undecided_layers(const Network& network, const LocalNetwork<D>& local) {
    const int layers = local.block_count;
    return layers > 0 && network.has_outputs(local.blocks[layers - 1].layer) ? layers - 1 : layers;
  }

  // Takes layer by layer; false if a sign is not proven.
  bool sweep(const LocalNetwork<D>& local, const Polygon& cell) {
    const Extent<Polygon> extent(cell);
    const int layers = undecided_layers(network_, local);
    begin(local, cell, layers);
    for (int b = 0; b < layers; ++b) {
      KeptRows& rows = blocks_[std::size_t(b)];
      const Block<D>& block = local.blocks[b];
      rows.read(network_.layers[std::size_t(block.layer)], block, b, blocks_.data(), extent, arena_);
      if (!parts_.vertices.evaluate(rows)) return false;
      parts_below_last_ = parts_.count();
      if (!parts_.cut_all(rows, b)) return false;
      if (b + 1 == layers) break;
      const double steps = parts_.vertices.set_outputs(rows);
      for (int below = 0; below < b; ++below) blocks_[std::size_t(below)].charge_steps(steps);
    }
    return true;
  }

  void begin(const LocalNetwork<D>& local, const Polygon& cell, int layers) {
    int outputs = 0;
    int widest = 0;
    for (int b = 0; b < layers; ++b) {
      const bool is_last = b + 1 == layers;
      KeptRows& rows = blocks_[std::size_t(b)];
      rows.count = rows.units = local.blocks[b].count;
      rows.room = (rows.count + rows_at_once - 1) / rows_at_once * rows_at_once;
      rows.limbs = local.blocks[b].rows[0]->limbs;
      rows.first_output = outputs;
      rows.listed = listed_;
      rows.read_above = is_last ? 0 : outputs;
      if (!is_last) outputs += rows.room;
      widest = std::max(widest, rows.room);
    }
    lines_.clear();
    if (layers == 1) {
      const Block<D>& block = local.blocks[0];
      const Layer& layer = network_.layers[std::size_t(block.layer)];
      for (int r = 0; r < block.count; ++r) {
        const Row<D>& row = *block.rows[r];
        lines_.push_back({layer.kink(row.unit, 0), &row, layer.breakpoints_of(row.unit)[0]});
      }
    }
    parts_.begin(cell, layers, outputs, widest, layers == 1 ? lines_.data() : nullptr);
  }

  const Network& network_;
  Arena& arena_;
  Signs<Polygon>& signs_;
  const bool listed_;
  std::vector<KeptRows> blocks_;
  std::vector<Facet<D>> lines_;  // of the rows, if one layer remains
  SweptParts parts_;
  int parts_below_last_ = 0;
  SweptRegions regions_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
