// SPDX-License-Identifier: MIT
// How are several rows worked on at once?
//
// One row in each lane: an operation on all rows of a panel is one instruction. Most cells have a few rows with a column or two,
// and most of the cost is in operations for each row, not in sums over columns. The number of rows at once depends on the kernel;
// each lane has its own operations in their own order, so the bits do not depend on it. Lanes without a row repeat
// the last one. A row's coefficients stay in the panel that it was written in; consecutive ones are `rows_at_once` doubles apart.
#pragma once

#include <utility>

#include "rows/limbs.hpp"
#include "rows/rows.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

#if defined(REGIONS_FMA) && REGIONS_FMA == 512
using RowLanes = Lanes8;
#else
using RowLanes = Lanes4;
#endif

typedef std::int64_t RowMask __attribute__((vector_size(sizeof(RowLanes))));

constexpr int rows_at_once = int(sizeof(RowLanes) / sizeof(double));

// The columns of a panel, null if they are 0, 1, .., and the position of each column in the panel.
struct Listing {
  const ColumnList* list;
  const int* places;
};

template <int D>
struct Panel {
  RowLanes value[D + 1];
  RowLanes size[D + 1];
  RowLanes own[D + 1];
  RowLanes error[D + 1];
  RowLanes low[most_limbs - 1][D + 1];  // if rows have several limbs
  double* coefficients;                 // [columns, rows_at_once]; unset if the panel has no columns
  double* low_coefficients;             // [limbs - 1, columns, rows_at_once]
  AffineLanes<D>* low_of_rows;          // [rows_at_once, limbs - 1], for these rows when they are separate
  const Listing* listing;               // if layers read patches, else null
  int limbs;
  int columns;
  int count;                            // of rows
  [[no_unique_address]] Dims<D> dims;
};

template <class Of, int... R>
REGIONS_INLINE RowLanes side_by_side(Of of, std::integer_sequence<int, R...>) {
  return RowLanes{of(R)...};
}

// of(r) for each lane r.
template <class Of>
REGIONS_INLINE RowLanes side_by_side(Of of) {
  return side_by_side(of, std::make_integer_sequence<int, rows_at_once>());
}

// The same number in all lanes. Nothing is computed: any number minus 0 is that number, while adding 0 would change -0.
REGIONS_INLINE RowLanes everywhere(double number) { return number - RowLanes{}; }

REGIONS_INLINE RowLanes floored_magnitudes(RowLanes weights) {
  const RowLanes magnitudes = absolute(weights);
  const RowLanes floor = everywhere(floor_of_sizes);
  return magnitudes < floor ? floor : magnitudes;
}

// Magnitudes of coefficients. If columns may be listed, a row has the columns of all rows written with it, and the kernel
// chooses how many are written together: so zeros count as absent.
template <bool may_be_listed>
struct MagnitudesOf {
  REGIONS_INLINE RowLanes operator()(RowLanes coefficients) const {
    const RowLanes magnitudes = floored_magnitudes(coefficients);
    if constexpr (!may_be_listed) return magnitudes;
    return coefficients == 0 ? RowLanes{} : magnitudes;
  }
};

// Calls work(position in the panel, column, MagnitudesOf) for each column of the panel.
template <int D, class Work>
REGIONS_INLINE void for_each_column(const Panel<D>& panel, Work work) {
  if (panel.listing == nullptr)
    for (int column = 0; column < panel.columns; ++column) work(column, column, MagnitudesOf<false>());
  else
    for (int place = 0; place < panel.columns; ++place)
      work(place, panel.listing->list == nullptr ? place : panel.listing->list->columns[place], MagnitudesOf<true>());
}

// Raises nonzero sizes to the floor of sizes.
REGIONS_INLINE RowLanes floored_sizes(RowLanes sizes) {
  return sizes == 0 ? RowLanes{} : floored_magnitudes(sizes);
}

// The affine parts of rows.
template <int D>
void read_affine_parts(const Row<D>* const* rows, int limbs, Panel<D>& panel) {
  panel.limbs = limbs;
  for (int k = 0; k <= panel.dims; ++k) {
    panel.value[k] = side_by_side([&](int r) { return rows[r]->value[k]; });
    panel.size[k] = side_by_side([&](int r) { return rows[r]->size[k]; });
    panel.own[k] = side_by_side([&](int r) { return rows[r]->own[k]; });
    for (int m = 0; m + 1 < limbs; ++m) panel.low[m][k] = side_by_side([&](int r) { return rows[r]->low[m][k]; });
  }
}

// The form of one lane; N is the number of dimensions.
template <int D, int N>
REGIONS_INLINE AffineLanes<D> affine_lane(const RowLanes* forms, int lane) {
  AffineLanes<D> form{};
  for (int k = 0; k <= N; ++k) form[k] = forms[k][lane];
  return form;
}

template <int D>
AffineLanes<D> affine_lane(const RowLanes* forms, int lane, Dims<D> dims) {
  AffineLanes<D> form;
  with_dims<D>(dims, [&](auto n) { form = affine_lane<D, n()>(forms, lane); });
  return form;
}

// Whether a row of a panel is zero everywhere, without any rounding.
template <int D>
__attribute__((noinline)) bool is_zero(const Panel<D>& panel, int lane) {
  bool zero = true;
  for (int k = 0; k <= panel.dims; ++k) zero = zero && panel.value[k][lane] == 0 && panel.error[k][lane] == 0;
  for (int k = 0; k < panel.columns && zero; ++k) zero = panel.coefficients[k * rows_at_once + lane] == 0;
  for (int k = 0; k < panel.columns * (panel.limbs - 1) && zero; ++k)
    zero = panel.low_coefficients[k * rows_at_once + lane] == 0;
  return zero;
}

// One row of a panel; the caller sets its unit.
template <int D>
void write_row(const Panel<D>& panel, int lane, Row<D>& row) {
  with_dims<D>(panel.dims, [&](auto n) {
    row.value = affine_lane<D, n()>(panel.value, lane);
    row.size = affine_lane<D, n()>(panel.size, lane);
    row.own = affine_lane<D, n()>(panel.own, lane);
    row.error = affine_lane<D, n()>(panel.error, lane);
    if (panel.limbs == 1) return;
    row.low = panel.low_of_rows + lane * (panel.limbs - 1);
    for (int m = 0; m + 1 < panel.limbs; ++m) row.low[m] = affine_lane<D, n()>(panel.low[m], lane);
  });
  row.columns = panel.columns;
  if (panel.listing != nullptr) row.list = panel.listing->list;
  const bool has_columns = panel.columns > 0;  // a panel without columns may have no memory for coefficients
  row.coefficients = has_columns ? panel.coefficients + lane : nullptr;
  row.limbs = panel.limbs;
  if (panel.limbs == 1) return;
  row.low_coefficients = has_columns ? panel.low_coefficients + lane : nullptr;
}

}  // namespace REGIONS_TARGET
}  // namespace regions
