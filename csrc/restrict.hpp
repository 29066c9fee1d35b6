// SPDX-License-Identifier: MIT
// What is left of a network on a smaller cell?
//
// Layer by layer, lowest first: write each row in the columns that are still undecided, adding what the newly decided
// units contribute (`fold`: one accumulation over them, never a cascade, because they were rewritten before); then
// drop it, fold it into the rows above, or keep it. While nothing below is undecided rows are affine, and signs at
// the corners decide; above, bounds over the cell do, and only where they are proven. Once few enough units are
// undecided, the next layer is brought in out of the network's own weights.
//
// Rounding: folding n units into a row costs at most gamma_(n+2) times the sizes involved (Row::size), lane by lane,
// plus the units' own errors times their weights. Cost: rows x columns, plus the folding.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "relax.hpp"
#include "sign.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

// (upper, -lower) at a position with w = 1.
template <int D>
Lanes2 extremes_at(const AffineLanes<D>& upper, const AffineLanes<D>& lower, const double* position) {
  Lanes2 at{upper[0], -lower[0]};
  for (int k = 1; k <= D; ++k) at += Lanes2{upper[k], -lower[k]} * position[k];
  return at;
}

template <class Cell>
class Restriction {
 public:
  static constexpr int D = Cell::dimension;
  static constexpr int spare = LaneCount<D>::value - 1;
  using Lanes = AffineLanes<D>;

  Restriction(const Network& network, const Chart& chart, Exact& exact, Signs<Cell>& signs, Arena& arena,
              std::uint8_t* pieces, std::uint8_t* pattern)
      : network_(network),
        chart_(chart),
        exact_(exact),
        signs_(signs),
        arena_(arena),
        pieces_(pieces),
        pattern_(pattern) {}

  // The whole network on the whole domain: so far only the input coordinates, which are affine forms of the chart.
  LocalNetwork<D> whole(const Cell& cell) {
    const int inputs = network_.layers[0].units;
    LocalNetwork<D> root{};
    root.outputs = arena_.take<const Row<D>*>(std::size_t(inputs));
    root.output_count = inputs;
    for (int i = 0; i < inputs; ++i) {
      Row<D>* row = arena_.take<Row<D>>(1);
      *row = Row<D>{};
      row->unit = i;
      row->value[0] = chart_.origin[i];
      for (int k = 1; k <= D; ++k)
        row->value[k] = chart_.directions[std::size_t(k - 1) * std::size_t(inputs) + std::size_t(i)];
      row->size = floored<D>(absolute(row->value));
      root.outputs[i] = row;
      pieces_[i] = 0;
    }
    root.lines = Lines<D>::take(0, arena_);
    lay_out_chart(root);
    return restricted(root, cell, -1, Side::uncertain);
  }

  // `parent` on a part of its cell, where its line `split` is known to be on one side (-1: there is no such line).
  LocalNetwork<D> restricted(const LocalNetwork<D>& parent, const Cell& cell, int split, Side side) {
    const Extent<Cell> extent(cell);
    cell_ = &cell;
    extent_ = &extent;
    child_ = LocalNetwork<D>{};
    child_.blocks = arena_.take<Block<D>>(std::size_t(network_.last()));
    child_.lines = Lines<D>::take(0, arena_);
    child_.frontier = parent.frontier;
    entered_ = parent.block_count > 0 ? parent.blocks[0].layer : 0;
    relaxations_.clear();
    survivors_.clear();
    folds_.clear();

    int column = 0;
    for (int b = 0; b < parent.block_count; ++b) {
      const Block<D>& block = parent.blocks[b];
      if (block.layer == parent.frontier) rewrite_outputs(parent);
      if (b == 0) {
        keep_lines(parent, split, side);
      } else {
        rewrite_block(block, column);
      }
      column += block.count;
    }
    if (parent.block_count == 0 || parent.blocks[parent.block_count - 1].layer != parent.frontier)
      rewrite_outputs(parent);
    while (child_.frontier < network_.last() && worth_bringing_in_next()) bring_in_next();
    return child_;
  }

 private:
  // A decided unit, and where its weight stands in the coefficients that are being rewritten.
  struct Fold {
    int column;
    const Row<D>* output;
  };

  static Lanes absolute(Lanes lanes) { return lanes < 0 ? -lanes : lanes; }
  const Layer& layer(int index) const { return network_.layers[std::size_t(index)]; }
  int columns() const { return int(relaxations_.size()); }

  // Bringing a layer in costs its whole weight matrix; not bringing it in makes every smaller cell pay for that.
  // Bounds need a bounded cell.
  bool worth_bringing_in_next() const {
    return columns() == 0 || (extent_->bounded && columns() * bring_in_factor <= layer(child_.frontier + 1).inputs);
  }

  // ---- rewriting rows in the child's columns ----

  // Adds the weights' share of each folded unit. Sizes: the row's own from before, with the outputs' added to it.
  void fold(Row<D>& row, const double* weights, std::size_t folds) {
    terms_.clear();
    for (std::size_t f = 0; f < folds; ++f) {
      const double weight = weights[folds_[f].column];
      if (weight != 0) terms_.push_back({weight, folds_[f].output});
    }
    if (terms_.empty()) return;
    Lanes value = row.value;
    Lanes error = row.error;
    Lanes size = row.size;
    for (const Term& term : terms_) {
      const double magnitude = floored_magnitude(term.weight);
      value += term.output->value * term.weight;
      error += term.output->error * magnitude;
      size += term.output->size * magnitude;
    }
    row.value = value;
    row.size = size;
    row.error = (error + size * ((double(terms_.size()) + 3) * 1.01 * unit_roundoff)) * (1 + 0x1p-20);

    // Four terms to a pass over the coefficients: a quarter of the memory traffic, the same sums in the same order.
    std::size_t next = 0;
    while (next < terms_.size()) {
      const Term* term = &terms_[next];
      const int columns = term[0].output->columns;
      if (next + 4 <= terms_.size() && term[1].output->columns == columns && term[2].output->columns == columns &&
          term[3].output->columns == columns) {
        add_four(row.coefficients, term, columns);
        next += 4;
      } else {
        add_one(row.coefficients, term[0].weight, term[0].output->coefficients, columns);
        next += 1;
      }
    }
  }

  struct Term {
    double weight;
    const Row<D>* output;
  };

  static void add_one(double* __restrict target, double weight, const double* __restrict source, int columns) {
    for (int k = 0; k < columns; ++k) target[k] += weight * source[k];
  }

  static void add_four(double* __restrict target, const Term* terms, int columns) {
    const double* __restrict first = terms[0].output->coefficients;
    const double* __restrict second = terms[1].output->coefficients;
    const double* __restrict third = terms[2].output->coefficients;
    const double* __restrict fourth = terms[3].output->coefficients;
    const double weights[4] = {terms[0].weight, terms[1].weight, terms[2].weight, terms[3].weight};
    for (int k = 0; k < columns; ++k) {
      double sum = target[k] + weights[0] * first[k];
      sum += weights[1] * second[k];
      sum += weights[2] * third[k];
      target[k] = sum + weights[3] * fourth[k];
    }
  }

  // The same for four neighbouring rows of a layer's weights at once: the outputs are read once for all four.
  void fold_four_rows(Row<D>* rows, const double* weights, std::size_t stride) {
    Lanes value[4], error[4], size[4];
    for (std::size_t r = 0; r < 4; ++r) {
      value[r] = rows[r].value;
      error[r] = rows[r].error;
      size[r] = rows[r].size;
    }
    for (const Fold& fold : folds_) {
      const Lanes more = fold.output->value;
      const Lanes more_error = fold.output->error;
      const Lanes more_size = fold.output->size;
      for (std::size_t r = 0; r < 4; ++r) {
        const double weight = weights[r * stride + std::size_t(fold.column)];
        const double magnitude = floored_magnitude(weight);
        value[r] += more * weight;
        error[r] += more_error * magnitude;
        size[r] += more_size * magnitude;
      }
    }
    for (std::size_t r = 0; r < 4; ++r) {
      rows[r].value = value[r];
      rows[r].size = size[r];
      rows[r].error =
          (error[r] + size[r] * ((double(folds_.size()) + 3) * 1.01 * unit_roundoff)) * (1 + 0x1p-20);
    }
    Term terms[4][4];
    std::size_t next = 0;
    while (next < folds_.size()) {
      const Fold* fold = &folds_[next];
      const int columns = fold->output->columns;
      const bool four = next + 4 <= folds_.size() && fold[1].output->columns == columns &&
                        fold[2].output->columns == columns && fold[3].output->columns == columns;
      for (std::size_t r = 0; r < 4; ++r)
        for (std::size_t t = 0; t < (four ? 4 : 1); ++t)
          terms[r][t] = {weights[r * stride + std::size_t(fold[t].column)], fold[t].output};
      if (four) {
        add_four_to_four(rows, terms, columns);
      } else {
        for (std::size_t r = 0; r < 4; ++r)
          add_one(rows[r].coefficients, terms[r][0].weight, fold->output->coefficients, columns);
      }
      next += four ? 4 : 1;
    }
  }

  // A register block: sixteen products to eight loads and four stores.
  static void add_four_to_four(Row<D>* rows, const Term (*terms)[4], int columns) {
    const double* first = terms[0][0].output->coefficients;
    const double* second = terms[0][1].output->coefficients;
    const double* third = terms[0][2].output->coefficients;
    const double* fourth = terms[0][3].output->coefficients;
    double* targets[4] = {rows[0].coefficients, rows[1].coefficients, rows[2].coefficients, rows[3].coefficients};
    int k = 0;
    for (; k + 8 <= columns; k += 8) {
      const Lanes8 sources[4] = {read_eight(first + k), read_eight(second + k), read_eight(third + k),
                                 read_eight(fourth + k)};
      for (std::size_t r = 0; r < 4; ++r) {
        Lanes8 sum = read_eight(targets[r] + k);
        for (std::size_t t = 0; t < 4; ++t) sum += sources[t] * terms[r][t].weight;
        std::memcpy(targets[r] + k, &sum, sizeof(sum));
      }
    }
    for (; k < columns; ++k)
      for (std::size_t r = 0; r < 4; ++r) {
        double sum = targets[r][k] + terms[r][0].weight * first[k];
        sum += terms[r][1].weight * second[k];
        sum += terms[r][2].weight * third[k];
        targets[r][k] = sum + terms[r][3].weight * fourth[k];
      }
  }

  static Lanes8 read_eight(const double* address) {
    Lanes8 lanes;
    std::memcpy(&lanes, address, sizeof(lanes));
    return lanes;
  }

  // The first layer's rows, out of the chart: a sum over all inputs, often hundreds, whose rounding every row above
  // would inherit. So it is done in twice the working precision (Ogita, Rump and Oishi 2005, Dot2), eight inputs at a
  // time: off by at most u |result| + gamma_n^2 * (sum of absolute values). chart_lanes_ holds, lane by lane,
  // the inputs' coefficients, then their upper halves (Veltkamp), then the rest, padded with zeros.
  void read_chart(Row<D>& row, const double* weights) {
    const std::size_t inputs = std::size_t(network_.layers[0].units);
    const std::size_t padded = (inputs + 7) / 8 * 8;
    const double gamma = (double(inputs) + 11) * 1.01 * unit_roundoff;
    Lanes8 last_weights{};
    for (std::size_t i = inputs / 8 * 8; i < inputs; ++i) last_weights[i % 8] = weights[i];
    for (int k = 0; k <= D; ++k) {
      const double* chart = chart_lanes_.data() + std::size_t(k) * 3 * padded;
      Lanes8 sum{}, rest{}, size{};
      Mask8 products{};
      for (std::size_t i = 0; i < padded; i += 8) {
        const Lanes8 weight = i + 8 <= inputs ? read_eight(weights + i) : last_weights;
        const Lanes8 whole = read_eight(chart + i);
        const Lanes8 high = read_eight(chart + padded + i);
        const Lanes8 low = read_eight(chart + 2 * padded + i);
        const Lanes8 weight_high = upper_half(weight);
        const Lanes8 weight_low = weight - weight_high;
        const Lanes8 product = whole * weight;
        const Lanes8 lost = ((high * weight_high - product) + high * weight_low + low * weight_high) + low * weight_low;
        rest += lost + add_exactly(sum, product);
        size += product < 0 ? -product : product;
        products |= (weight != 0) & (whole != 0);
      }
      double total = row.value[k];
      double tail = 0;
      double magnitude = std::fabs(total);
      bool any_product = false;
      for (int i = 0; i < 8; ++i) {
        any_product = any_product || products[i] != 0;
        tail += add_exactly(total, sum[i]) + rest[i];
        magnitude += size[i];
      }
      row.value[k] = total + tail;
      row.error[k] = std::fabs(row.value[k]) * (2 * unit_roundoff) + magnitude * (2 * gamma * gamma) +
                     (any_product ? room_for_underflow : 0.0);
    }
  }

  // sum becomes the rounded sum; what it lost is returned (Knuth).
  template <class Number>
  static Number add_exactly(Number& sum, Number more) {
    const Number total = sum + more;
    const Number back = total - sum;
    const Number lost = (sum - (total - back)) + (more - back);
    sum = total;
    return lost;
  }

  template <class Number>
  static Number upper_half(Number value) {
    const Number scaled = value * (0x1p27 + 1);
    return scaled - (scaled - value);
  }

  void lay_out_chart(const LocalNetwork<D>& root) {
    const std::size_t inputs = std::size_t(network_.layers[0].units);
    const std::size_t padded = (inputs + 7) / 8 * 8;
    chart_lanes_.assign(padded * 3 * (D + 1), 0.0);
    for (int k = 0; k <= D; ++k) {
      double* chart = chart_lanes_.data() + std::size_t(k) * 3 * padded;
      for (std::size_t i = 0; i < inputs; ++i) {
        chart[i] = root.outputs[i]->value[k];
        chart[padded + i] = upper_half(chart[i]);
        chart[2 * padded + i] = chart[i] - chart[padded + i];
      }
    }
  }

  // Rows of one layer, with room for their coefficients.
  Row<D>* take_rows(int count, int columns) {
    Row<D>* rows = arena_.take<Row<D>>(std::size_t(count));
    double* coefficients = arena_.take<double>(std::size_t(count) * std::size_t(columns));
    for (int i = 0; i < count; ++i) {
      rows[i].columns = columns;
      rows[i].coefficients = coefficients + std::size_t(i) * std::size_t(columns);
    }
    return rows;
  }

  void rewrite(const Row<D>& old, std::size_t folds, Row<D>& row) {
    row.value = old.value;
    row.error = old.error;
    row.size = old.size;
    const int* survivors = survivors_.data();
    const double* source = old.coefficients;
    double* __restrict target = row.coefficients;
    for (int k = 0; k < row.columns; ++k) target[k] = source[survivors[k]];
    fold(row, old.coefficients, folds);
  }

  // The outputs the next layer will read: their own layer's newly decided units are added by decide().
  void rewrite_outputs(const LocalNetwork<D>& parent) {
    if (parent.frontier == network_.last()) return;
    child_.outputs = arena_.take<const Row<D>*>(std::size_t(layer(parent.frontier).units));
    child_.output_count = parent.output_count;
    const bool affine = parent.output_count == 0 || parent.blocks == nullptr || parent.blocks[0].layer >= parent.frontier;
    Row<D>* rows = affine ? nullptr : take_rows(parent.output_count, columns());
    for (int i = 0; i < parent.output_count; ++i) {
      const Row<D>* output = parent.outputs[i];
      if (output->columns > 0) {
        Row<D>& row = rows[i];
        row.unit = output->unit;
        rewrite(*output, folds_.size(), row);
        row.size = floored<D>(absolute(row.value));
        for (int k = 0; k < row.columns; ++k)
          row.size += relaxations_[std::size_t(k)].size * floored_magnitude(row.coefficients[k]);
        output = &row;
      }
      child_.outputs[i] = output;
    }
  }

  void rewrite_block(const Block<D>& block, int first_column) {
    const std::size_t folds = folds_.size();
    const int below = columns();
    Block<D> kept = start_block(block.layer, block.count);
    Row<D>* rows = take_rows(block.count, below);
    waiting_columns_.clear();
    for (int i = 0; i < block.count; ++i) {
      const Row<D>& old = *block.rows[i];
      Row<D>& row = rows[i];
      row.unit = old.unit;
      row.lowest_piece = old.lowest_piece;
      row.highest_piece = old.highest_piece;
      rewrite(old, folds, row);
      if (below > 0) {
        decide_by_bounds(row, first_column + i, kept);
      } else {
        wait(row, kept);
        waiting_columns_.push_back(first_column + i);
      }
    }
    if (below > 0)
      push(kept);
    else
      decide_waiting(kept, waiting_columns_.data());
  }

  void bring_in_next() {
    const int index = ++child_.frontier;
    const Layer& here = layer(index);
    const int below = columns();
    const Block<D>* last = child_.block_count > 0 ? &child_.blocks[child_.block_count - 1] : nullptr;
    const int own = last != nullptr && last->layer == index - 1 ? last->count : 0;  // columns of the layer just below
    folds_.clear();
    for (int i = 0; i < child_.output_count; ++i) folds_.push_back({child_.outputs[i]->unit, child_.outputs[i]});
    child_.output_count = 0;
    if (index < network_.last()) child_.outputs = arena_.take<const Row<D>*>(std::size_t(here.units));

    Block<D> kept = start_block(index, here.units);
    Row<D>* rows = take_rows(here.units, below);
    int* own_units = arena_.take<int>(std::size_t(own));
    for (int k = 0; k < own; ++k) own_units[k] = last->rows[k]->unit;
    for (int unit = 0; unit < here.units; ++unit) {
      const double* weights = here.weights + std::size_t(unit) * std::size_t(here.inputs);
      Row<D>& row = rows[unit];
      row.unit = unit;
      row.lowest_piece = 0;
      row.highest_piece = here.kinks;
      row.value = Lanes{};
      row.value[0] = here.biases[unit];
      row.error = Lanes{};
      row.size = floored<D>(absolute(row.value));  // the layer's own columns get nothing added to them, so nothing is rounded there
      std::fill(row.coefficients, row.coefficients + (below - own), 0.0);
      double* __restrict coefficients = row.coefficients + (below - own);
      for (int k = 0; k < own; ++k) coefficients[k] = weights[own_units[k]];
    }
    for (int unit = 0; unit < here.units; ++unit) {
      const double* weights = here.weights + std::size_t(unit) * std::size_t(here.inputs);
      if (index == 1)
        read_chart(rows[unit], weights);
      else if (unit % 4 == 0 && unit + 4 <= here.units)
        fold_four_rows(rows + unit, weights, std::size_t(here.inputs));
      else if (unit >= here.units / 4 * 4)
        fold(rows[unit], weights, folds_.size());
    }
    for (int unit = 0; unit < here.units; ++unit) {
      if (below > 0)
        decide_by_bounds(rows[unit], -1, kept);
      else
        wait(rows[unit], kept);
    }
    if (below > 0)
      push(kept);
    else
      decide_waiting(kept, nullptr);
  }

  // ---- deciding units ----

  Block<D> start_block(int index, int capacity) {
    return {index, 0, arena_.take<const Row<D>*>(std::size_t(capacity))};
  }

  // Affine rows are decided together, when all of their layer's are there.
  void wait(Row<D>& row, Block<D>& block) {
    row.size = floored<D>(absolute(row.value) + row.error);
    block.rows[block.count++] = &row;
  }

  void decide_waiting(const Block<D>& block, const int* columns) {
    while (entered_ < block.layer) exact_.enter(++entered_);
    const Layer& here = layer(block.layer);
    Lines<D> lines = Lines<D>::take(block.count * here.kinks, arena_);
    for (int i = 0; i < block.count; ++i) {
      const Row<D>& row = *block.rows[i];
      for (int kink = row.lowest_piece; kink < row.highest_piece; ++kink) {
        const int index = lines.count++;
        for (int k = 0; k <= D; ++k) lines.value[k][index] = row.value[k];
        lines.value[0][index] -= here.breakpoints[kink];
        lines.owners[index] = i;
        lines.breakpoints[index] = kink;
        set_margin(lines, index, row, here.breakpoints[kink], extent_->largest);
      }
    }
    lines.pad();
    decide_by_signs(block, lines, columns, -1, Side::uncertain);
  }

  // The parent's lines, whose units have the parent's first columns.
  void keep_lines(const LocalNetwork<D>& parent, int split, Side side) {
    const Block<D>& block = parent.blocks[0];
    Lines<D> lines = parent.lines;
    if (!extent_->bounded)  // a part of an unbounded cell has vertices that its margins did not know
      for (int i = 0; i < lines.count; ++i)
        set_margin(lines, i, *block.rows[lines.owners[i]], layer(block.layer).breakpoints[lines.breakpoints[i]],
                   extent_->largest);
    while (int(first_columns_.size()) < block.count) first_columns_.push_back(int(first_columns_.size()));
    decide_by_signs(block, lines, first_columns_.data(), split, side);
  }

  void push(const Block<D>& block) {
    if (block.count == 0) return;
    child_.blocks[child_.block_count++] = block;
  }

  // Affine rows: the lines' signs at the corners. What stays undecided becomes the child's lowest block.
  // `columns`: those of the block's rows in the rows being rewritten, or null if no such rows read them.
  void decide_by_signs(const Block<D>& block, const Lines<D>& lines, const int* columns, int split, Side side) {
    const std::size_t padded = (std::size_t(lines.count) + 7) / 8 * 8;
    double* least = arena_.take<double>(padded);
    double* greatest = arena_.take<double>(padded);
    Side* sides = arena_.take<Side>(padded);
    if (split < 0 || lines.count > 1) classify(lines, *cell_, extent_->error, least, greatest, sides);
    if (split >= 0) sides[split] = side;

    const Layer& here = layer(block.layer);
    Block<D> kept = start_block(block.layer, block.count);
    Lines<D> kept_lines = Lines<D>::take(lines.count, arena_);
    double best = -1;
    int line = 0;
    for (int i = 0; i < block.count; ++i) {
      const Row<D>* row = block.rows[i];
      const int first = line;
      int active = 0;
      int inactive = 0;
      for (; line < lines.count && lines.owners[line] == i; ++line) {
        Side& known = sides[line];
        if (line != split && known == Side::uncertain)
          known = signs_.over_cell(block.layer, *row, lines.breakpoints[line], *cell_);
        else
          signs_.counts.filter += cell_->count;
        active += known == Side::active;
        inactive += known == Side::inactive;
      }
      const int column = columns == nullptr ? -1 : columns[i];
      const int lowest = row->lowest_piece + active;
      const int highest = row->highest_piece - inactive;
      if (lowest == highest) {
        decide(block.layer, *row, lowest, column);
        continue;
      }
      if (active + inactive > 0) {
        Row<D>* narrowed = arena_.take<Row<D>>(1);
        *narrowed = *row;
        narrowed->lowest_piece = lowest;
        narrowed->highest_piece = highest;
        row = narrowed;
      }
      for (int k = first; k < line; ++k) {
        if (sides[k] != Side::crossing) continue;
        const double smaller = std::min(greatest[k], -least[k]);
        const double score = smaller > 0 ? smaller / lines.steepness[k] : 0;
        if (score > best) {
          best = score;
          child_.best_line = kept_lines.count;
        }
        kept_lines.append(lines, k, kept.count);
      }
      const double kink = here.breakpoints[lines.breakpoints[first]];
      const double margin = lines.margin[first] + lines.steepness[first] * extent_->error;
      keep(*row, column, row->value, row->value, least[first] + kink - margin, greatest[first] + kink + margin, margin,
           dot<D>(absolute(row->value), extent_->largest), kept);
    }
    if (kept.count > 0) {
      kept_lines.pad();
      child_.lines = kept_lines;
      push(kept);
    }
  }

  // Rows with columns: bounds over the cell. Also gives the row its size.
  void decide_by_bounds(Row<D>& row, int column, Block<D>& kept) {
    Lanes center = row.value;
    Lanes radius{};
    Lanes size = floored<D>(absolute(row.value));
    radius[spare] = dot<D>(absolute(row.value), extent_->largest);
    for (int k = 0; k < row.columns; ++k) {
      const double weight = row.coefficients[k];
      const double magnitude = floored_magnitude(weight);
      const Relaxation<D>& column_bounds = relaxations_[std::size_t(k)];
      center += column_bounds.center * weight;
      radius += column_bounds.radius * magnitude;
      size += column_bounds.size * magnitude;
    }
    row.size = size;
    if (row.lowest_piece == row.highest_piece) {
      decide(kept.layer, row, row.lowest_piece, column);
      return;
    }
    if (!extent_->bounded) {
      keep(row, column, center, center, NAN, NAN, NAN, NAN, kept);
      return;
    }
    const double scale = radius[spare];
    const Lanes upper = center + radius;
    const Lanes lower = center - radius;
    double steepness = 0;
    for (int k = 1; k <= D; ++k) steepness += std::fabs(center[k]) + std::fabs(radius[k]);
    const double margin = 1.02 * (dot<D>(row.error, extent_->largest) + (row.columns + 16) * unit_roundoff * scale +
                                  steepness * extent_->error) +
                          extent_->underflow;
    // Both extremes at once: the greatest of (upper, -lower) over the corners.
    Lanes2 greatest = extremes_at<D>(upper, lower, cell_->vertices[0].position);
    for (int i = 1; i < cell_->count; ++i) {
      const Lanes2 at = extremes_at<D>(upper, lower, cell_->vertices[i].position);
      greatest = at > greatest ? at : greatest;
    }
    const double high = greatest[0] + margin;
    const double low = -greatest[1] - margin;
    narrow(layer(kept.layer), row, low, high);
    if (row.lowest_piece == row.highest_piece) {
      decide(kept.layer, row, row.lowest_piece, column);
    } else {
      keep(row, column, lower, upper, low, high, margin, scale, kept);
    }
  }

  // The pieces that a pre-activation proven to lie in [low, high] can be on.
  static void narrow(const Layer& here, Row<D>& row, double low, double high) {
    const double* kinks = here.breakpoints;
    while (row.lowest_piece < row.highest_piece && low > kinks[row.lowest_piece]) ++row.lowest_piece;
    while (row.lowest_piece < row.highest_piece && high <= kinks[row.highest_piece - 1]) --row.highest_piece;
  }

  void keep(const Row<D>& row, int column, Lanes lower, Lanes upper, double low, double high, double margin,
            double scale, Block<D>& kept) {
    kept.rows[kept.count++] = &row;
    if (kept.layer == network_.last())
      relaxations_.emplace_back();  // nothing reads it
    else
      relaxations_.push_back(relax<D>(layer(kept.layer), row, lower, upper, low, high, margin, scale,
                                      extent_->underflow));
    if (column >= 0) survivors_.push_back(column);
  }

  // The unit is on one piece: what it contributes above is an affine function of its row.
  void decide(int index, const Row<D>& row, int piece, int column) {
    const Layer& here = layer(index);
    pieces_[here.first_unit + row.unit] = std::uint8_t(piece);
    if (pattern_ != nullptr) write_pattern(here, row.unit, piece);
    const double slope = here.slope(row.unit, piece);
    const double intercept = here.intercept(row.unit, piece);
    if (slope == 0 && intercept == 0) return;
    const Row<D>* output = &row;
    if (slope != 1 || intercept != 0) output = scaled(row, slope, intercept);
    if (column >= 0) folds_.push_back({column, output});
    if (index == child_.frontier && index < network_.last()) child_.outputs[child_.output_count++] = output;
  }

  // Bit k is set where the pre-activation is above kink k. A later decision on the unit overwrites an earlier one.
  void write_pattern(const Layer& here, int unit, int piece) {
    for (int kink = 0; kink < here.kinks; ++kink) {
      const std::int64_t bit = here.kink(unit, kink);
      const std::uint8_t mask = std::uint8_t(1u << (bit % 8));
      if (kink < piece)
        pattern_[bit / 8] = std::uint8_t(pattern_[bit / 8] | mask);
      else
        pattern_[bit / 8] = std::uint8_t(pattern_[bit / 8] & ~mask);
    }
  }

  const Row<D>* scaled(const Row<D>& row, double slope, double intercept) {
    Row<D>* output = arena_.take<Row<D>>(1);
    *output = Row<D>{};
    output->unit = row.unit;
    output->value = row.value * slope;
    output->value[0] += intercept;
    output->size = slope == 0 ? Lanes{} : floored<D>(row.size * floored_magnitude(slope));
    output->size[0] += std::fabs(intercept);
    if (slope == 0) return output;
    output->error = (row.error * std::fabs(slope) + output->size * (4 * unit_roundoff)) * (1 + 0x1p-20);
    output->columns = row.columns;
    output->coefficients = arena_.take<double>(std::size_t(row.columns));
    for (int k = 0; k < row.columns; ++k) output->coefficients[k] = row.coefficients[k] * slope;
    return output;
  }

  static constexpr int bring_in_factor = 2;

  const Network& network_;
  const Chart& chart_;
  Exact& exact_;
  Signs<Cell>& signs_;
  Arena& arena_;
  std::uint8_t* pieces_;
  std::uint8_t* pattern_;  // null where nobody asks

  // Of the restriction under way.
  const Cell* cell_ = nullptr;
  const Extent<Cell>* extent_ = nullptr;
  LocalNetwork<D> child_{};
  int entered_ = 0;  // the highest layer whose exact forms hold: all below are decided
  std::vector<Relaxation<D>, AlignedAllocator<Relaxation<D>>> relaxations_;  // of the child's columns
  std::vector<int> survivors_;              // the child's columns in the parent's numbering
  std::vector<int> waiting_columns_;        // of affine rows that wait for their layer's others
  std::vector<int> first_columns_;          // 0, 1, 2, ...
  std::vector<Fold> folds_;
  std::vector<Term> terms_;  // of the row under way
  std::vector<double> chart_lanes_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
