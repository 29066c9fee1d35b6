// SPDX-License-Identifier: MIT
// How are rows written if layers read patches?
//
// A row then has few of the columns, and a list of them (rows/columns.hpp). Rows of one patch read the same outputs, so
// they are written together: the columns of everything that they read are united, each gets a position in the panel, and
// contributions are added there. Outputs that were written together share one list, and are folded together.
// Invariant: a row's numbers do not depend on the rows it was written with, except for the size of its list; outputs that it
// does not read add nothing to it.
// Cost: for each panel its terms, and for each term the columns of its output; these are determined once for each patch.
#pragma once

#include <algorithm>
#include <cassert>
#include <vector>

#include "kernel/decide.hpp"
#include "kernel/found_terms.hpp"
#include "rows/decided.hpp"
#include "rows/fold.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

template <int D>
class ListedRows {
 public:
  // No row has a list if there are at most `few` columns. This is faster, but changes the last bits of sums.
  ListedRows(Arena& arena, Child<D>& child, Folding<D>& folding, int few)
      : arena_(arena), child_(child), folding_(folding), few_(few) {}

  // The listing of a panel without columns.
  const Listing* none() const { return &nothing_listed_; }

  // ---- rows of a parent, on a part of its cell ----

  void begin(int columns_of_parent) {
    last_list_ = nullptr;
    became_.assign(std::size_t(columns_of_parent), nothing);
    survivors_seen_ = 0;
    folds_seen_ = 0;
  }

  // Turns the panel into these rows, whose coefficients are `stride` apart.
  template <int stride>
  void rewrite(const Row<D>* const* old, Panel<D>& panel) {
    see_what_became();
    const Row<D>* rows[rows_at_once];
    for (int r = 0; r < rows_at_once; ++r) rows[r] = old[std::min(r, panel.count - 1)];
    read_affine_parts(rows, panel.limbs, panel);
    gather<stride>(rows, panel);
    columns_.clear(child_.columns());
    folds_.clear();
    for (std::size_t i = 0; i < gathered_columns_.size(); ++i) {
      const int what = became_[std::size_t(gathered_columns_[i])];
      if (what >= 0) columns_.add(what);
      if (what < nothing) {
        const Row<D>* output = child_.folds[std::size_t(nothing - 1 - what)].output;
        folds_.push_back({int(i), output});
        add_columns(*output);
      }
    }
    list_columns();
    take_room(panel);
    for (std::size_t i = 0; i < gathered_columns_.size(); ++i) {
      const int what = became_[std::size_t(gathered_columns_[i])];
      if (what < 0) continue;
      for (int m = 0; m < panel.limbs; ++m)
        store(coefficient(panel, m, what), gathered_[i * std::size_t(panel.limbs) + std::size_t(m)]);
    }
    const std::size_t limbs = std::size_t(panel.limbs);
    folding_.fold(panel, folds_, folds_.size(), limbs > 1, [&](int i) { return gathered_[std::size_t(i) * limbs]; },
                  [&](int i, int m) { return gathered_[std::size_t(i) * limbs + std::size_t(m + 1)]; });
  }

  // ---- rows of a new layer ----

  // Its inputs: outputs of decided units below it, and the columns of the last block, its units in order.
  void begin_layer(const Layer& layer, const std::vector<Fold<D>>& outputs, const Block<D>* own, int first_column) {
    found_.begin_layer(layer, outputs, own, first_column);
  }

  // The number of rows from this position in the layer's order on that are written together.
  static int together(const Layer& layer, int start) {
    int count = std::min(rows_at_once, layer.rows() - start);
    if (layer.group_of.empty()) return count;
    while (layer.group_of[std::size_t(start + count - 1)] != layer.group_of[std::size_t(start)]) --count;
    return count;
  }

  // Adds the inputs of the panel's units; its affine parts are already written.
  void bring_in(const int* units, Panel<D>& panel) {
    const bool same = found_.are_the_same(units, panel.count);  // folds and columns equal those before
    if (!same) folds_.clear();
    weights_.clear();
    own_.clear();
    found_.for_each(units, panel.count, [&](const Found<D>& found, RowLanes weight) {
      if (found.output == nullptr) return own_.push_back({found.column, weight});
      if (!same) folds_.push_back({int(weights_.size()), found.output});
      weights_.push_back(weight);
    });
    if (!same) see_columns();
    take_room(panel);
    for (const OwnTerm& term : own_) add_weight(term, panel);
    folding_.fold(panel, folds_, folds_.size(), false, [&](int i) { return weights_[std::size_t(i)]; },
                  [](int, int) { return RowLanes{}; }, same);
  }

  // An output of the layer below as an output of this layer, or null. Nothing is rounded, so its own error is zero; but the
  // error must not become 0 if anything was rounded before.
  const Row<D>* passed(int source, int unit, int limbs, Arena& outputs) {
    const Found<D>& found = found_.of(source);
    if (!found.any()) return nullptr;
    if (found.output != nullptr) {
      Row<D>* row = copy_of_output(*found.output, outputs);
      row->unit = unit;
      for (int k = 0; k <= D; ++k) row->own[k] = row->own[k] == 0 ? 0 : room_for_underflow;
      if (row->limbs > limbs)
        row->own = (row->own + (limbs == 1 ? row->size * (4 * unit_roundoff) : charge_of_limbs(row->size, limbs, 2))) * slack;
      if (row->limbs < limbs) {  // an input of the network
        row->low = outputs.take<AffineLanes<D>>(std::size_t(limbs - 1));
        std::fill_n(row->low, limbs - 1, AffineLanes<D>{});
      }
      row->limbs = limbs;
      return row;
    }
    Row<D>* row = outputs.take<Row<D>>(1);
    *row = Row<D>{};
    row->unit = unit;
    row->limbs = limbs;
    row->size = child_.relaxations[std::size_t(found.column)].size;
    row->columns = 1;
    row->coefficients = outputs.take<double>(8 * std::size_t(limbs));
    std::fill_n(row->coefficients, 8 * limbs, 0.0);
    row->coefficients[0] = 1;
    if (limbs > 1) {
      row->low_coefficients = row->coefficients + 8;
      row->low = outputs.take<AffineLanes<D>>(std::size_t(limbs - 1));
      std::fill_n(row->low, limbs - 1, AffineLanes<D>{});
    }
    columns_.clear(child_.columns());
    columns_.add(found.column);
    row->list = columns_.listed(arena_);
    return row;
  }

  // Copies the coefficients of a panel's remaining rows into permanent memory.
  void settle(const Panel<D>& panel, Row<D>* rows) {
    if (panel.columns == 0) return;
    const std::size_t room = std::size_t(panel.columns) * std::size_t(rows_at_once);
    double* kept = nullptr;
    for (int r = 0; r < panel.count; ++r) {
      if (rows[r].lowest_piece == rows[r].highest_piece) continue;
      if (kept == nullptr) {
        kept = arena_.take<double>(room * std::size_t(panel.limbs));
        std::copy_n(panel.coefficients, room, kept);
        if (panel.limbs > 1) std::copy_n(panel.low_coefficients, room * std::size_t(panel.limbs - 1), kept + room);
      }
      rows[r].coefficients = kept + r;
      rows[r].low_coefficients = panel.limbs > 1 ? kept + room + r : nullptr;
    }
  }

 private:
  static constexpr int nothing = -1;  // not a column of any row above

  struct OwnTerm {
    int column;
    RowLanes weight;
  };

  // For each of the parent's columns: the child's column, or `nothing`, or (nothing - 1 - number of a fold). If nothing reads the
  // units of the last block, they are not columns of the child.
  void see_what_became() {
    for (; survivors_seen_ < child_.survivors.size(); ++survivors_seen_)
      if (int(survivors_seen_) < child_.columns())
        became_[std::size_t(child_.survivors[survivors_seen_])] = int(survivors_seen_);
    for (; folds_seen_ < child_.folds.size(); ++folds_seen_)
      became_[std::size_t(child_.folds[folds_seen_].column)] = nothing - 1 - int(folds_seen_);
  }

  // All columns of these rows, and their coefficients side by side.
  template <int stride>
  void gather(const Row<D>* const* rows, const Panel<D>& panel) {
    bool alike = true;
    columns_.clear(int(became_.size()));
    add_columns(*rows[0]);
    for (int r = 1; r < panel.count; ++r) {
      if (rows[r]->list == rows[r - 1]->list && rows[r]->columns == rows[r - 1]->columns) continue;
      alike = false;
      add_columns(*rows[r]);
    }
    columns_.write(gathered_columns_);
    const std::size_t limbs = std::size_t(panel.limbs);
    if (gathered_.size() < gathered_columns_.size() * limbs) gathered_.resize(gathered_columns_.size() * limbs);
    if (alike && limbs == 1) {
      for (std::size_t i = 0; i < gathered_columns_.size(); ++i)
        gathered_[i] = side_by_side([&](int r) { return rows[r]->coefficients[int(i) * stride]; });
      return;
    }
    int next[rows_at_once] = {};
    for (std::size_t i = 0; i < gathered_columns_.size(); ++i) {
      const int column = gathered_columns_[i];
      int place[rows_at_once];
      for (int r = 0; r < rows_at_once; ++r) {
        const ColumnList* list = rows[r]->list;
        if (alike)
          place[r] = int(i);
        else if (list == nullptr)
          place[r] = column < rows[r]->columns ? column : -1;
        else
          place[r] = next[r] < list->count && list->columns[next[r]] == column ? next[r]++ : -1;
      }
      for (std::size_t m = 0; m < limbs; ++m)
        gathered_[i * limbs + m] = side_by_side([&](int r) {
          if (place[r] < 0) return 0.0;
          const int room = stride == 1 ? padded(rows[r]->columns) : rows[r]->columns;
          return m == 0 ? rows[r]->coefficients[place[r] * stride]
                        : rows[r]->low_coefficients[((int(m) - 1) * room + place[r]) * stride];
        });
    }
  }

  void add_columns(const Row<D>& row) {
    if (row.list != nullptr)
      columns_.add(*row.list);
    else
      columns_.add_first(row.columns);
  }

  // Collects the columns of the outputs and columns that are read.
  void see_columns() {
    columns_.clear(child_.columns());
    const ColumnList* last = nullptr;
    for (const Fold<D>& fold : folds_) {
      if (fold.output->columns == 0 || (fold.output->list != nullptr && fold.output->list == last)) continue;
      last = fold.output->list;
      add_columns(*fold.output);
    }
    for (const OwnTerm& term : own_) columns_.add(term.column);
    list_columns();
  }

  // Assigns a position to each united column.
  void list_columns() {
    const int all = child_.columns();
    count_of_listed_ = all;
    while (int(in_order_.size()) < all) in_order_.push_back(int(in_order_.size()));
    listing_ = {nullptr, in_order_.data()};
    if (all <= few_ || 2 * columns_.count() > all) return;
    if (last_list_ == nullptr || !columns_.are(*last_list_)) last_list_ = columns_.listed(arena_);
    count_of_listed_ = last_list_->count;
    if (places_of_listed_.size() < std::size_t(all)) places_of_listed_.resize(std::size_t(all));
    for (int place = 0; place < count_of_listed_; ++place)
      places_of_listed_[std::size_t(last_list_->columns[place])] = place;
    listing_ = {last_list_, places_of_listed_.data()};
  }

  // Allocates these columns in the panel, with coefficients of 0.
  void take_room(Panel<D>& panel) {
    panel.listing = &listing_;
    panel.columns = count_of_listed_;
    const std::size_t room = std::size_t(panel.columns) * std::size_t(rows_at_once);
    coefficients_.assign(room * std::size_t(panel.limbs), 0.0);
    panel.coefficients = coefficients_.data();
    panel.low_coefficients = panel.limbs > 1 ? coefficients_.data() + room : nullptr;
  }

  double* coefficient(const Panel<D>& panel, int limb, int column) const {
    assert(column < child_.columns());
    const int place = listing_.places[column];
    return (limb == 0 ? panel.coefficients : panel.low_coefficients + (limb - 1) * panel.columns * rows_at_once) +
           place * rows_at_once;
  }

  // A weight is copied, so nothing is rounded, unless the column is read more than once.
  void add_weight(const OwnTerm& term, Panel<D>& panel) {
    double* target = coefficient(panel, 0, term.column);
    const RowLanes before = load<RowLanes>(target);
    store(target, before + term.weight);
    const RowMask twice = (before != 0) & (term.weight != 0);
    if (!any(twice)) return;
    const Lanes& size = child_.relaxations[std::size_t(term.column)].size;
    RowLanes magnitude = floored_magnitudes(before) + floored_magnitudes(term.weight);
    RowLanes rounding = magnitude * (2 * unit_roundoff);
    if (panel.limbs > 1) {
      with_limbs(panel.limbs, [&](auto limbs) {
        constexpr int K = limbs();
        Limbs<K, RowLanes> sum;
        sum.limb[0] = before;
        for (int m = 1; m < K; ++m) sum.limb[m] = load<RowLanes>(coefficient(panel, m, term.column));
        sum.template add<0>(term.weight);
        sum = sum.normalized();
        for (int m = 0; m < K; ++m) store(coefficient(panel, m, term.column), sum.limb[m]);
      });
      rounding = charge_of_limbs(magnitude, panel.limbs, 2);
    }
    for (int k = 0; k <= panel.dims; ++k) {
      const RowLanes charged = (panel.own[k] + rounding * size[k]) * slack + room_for_underflow;
      panel.own[k] = twice & (everywhere(size[k]) != 0) ? charged : panel.own[k];
    }
  }

  using Lanes = AffineLanes<D>;

  Arena& arena_;
  Child<D>& child_;
  Folding<D>& folding_;
  const int few_;
  std::vector<int> became_;  // for the parent's columns
  std::size_t survivors_seen_ = 0;
  std::size_t folds_seen_ = 0;
  std::vector<int> gathered_columns_;
  std::vector<RowLanes, AlignedAllocator<RowLanes>> gathered_;  // [columns, limbs]
  FoundTerms<D> found_;
  std::vector<Fold<D>> folds_;
  std::vector<RowLanes, AlignedAllocator<RowLanes>> weights_;
  std::vector<OwnTerm, AlignedAllocator<OwnTerm>> own_;
  ColumnSet columns_;
  std::vector<int> in_order_, places_of_listed_;
  const Listing nothing_listed_{};
  Listing listing_{};  // of the panel that was written last
  int count_of_listed_ = 0;
  const ColumnList* last_list_ = nullptr;  // the last one of this cell
  std::vector<double> coefficients_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
