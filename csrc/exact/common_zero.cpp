// SPDX-License-Identifier: MIT
// Where are D forms zero together, exactly?
//
// In homogeneous coordinates, so that nothing is divided: they are minors of the matrix of the forms. First the forms that determine a
// coordinate by themselves, as facets of boxes do, are substituted into the others. The corner of a box then takes no determinant.
#include <algorithm>
#include <utility>

#include "exact/exact.hpp"

namespace regions {

// A form c + p_k or c - p_k determines the coordinate p_k. Substituting these coordinates leaves a smaller matrix.
Exact::Polynomial Exact::common_zero_beside_axes(bool far) {
  std::fill(axis_forms_.begin(), axis_forms_.end(), -1);
  std::vector<int> others;  // forms
  for (int i = 0; i < coordinates_ - 1; ++i) {
    const Form& form = forms_[std::size_t(i)].constant;
    int axis = 0;
    int terms = 0;
    for (int k = 1; k < coordinates_; ++k)
      if (form[std::size_t(k)].sign() != 0) {
        axis = k;
        ++terms;
      }
    if (terms == 1 && form[std::size_t(axis)].is_unit() && axis_forms_[std::size_t(axis)] < 0)
      axis_forms_[std::size_t(axis)] = i;
    else
      others.push_back(i);
  }
  std::vector<int> free;  // coordinates, as many as `others`
  for (int k = 1; k < coordinates_; ++k)
    if (axis_forms_[std::size_t(k)] < 0) free.push_back(k);

  // Returns the coordinate p_k that a form determines: its part with M, or without it.
  const auto given = [&](int k, bool linear) {
    const Polynomial& form = forms_[std::size_t(axis_forms_[std::size_t(k)])];
    if (linear && form.linear.empty()) return Dyadic();
    const Dyadic& offset = linear ? form.linear[0] : form.constant[0];
    return form.constant[std::size_t(k)].sign() > 0 ? offset.negated() : offset;
  };
  const auto solve = [&](bool linear) {
    std::vector<Form> reduced;
    std::vector<const Form*> rows;
    for (const int i : others) {
      const Polynomial& form = forms_[std::size_t(i)];
      scratch_.clear();
      if (!linear)
        scratch_.add(form.constant[0]);
      else if (!form.linear.empty())
        scratch_.add(form.linear[0]);
      for (int k = 1; k < coordinates_; ++k)
        if (axis_forms_[std::size_t(k)] >= 0) scratch_.add_product(form.constant[std::size_t(k)], given(k, linear));
      Form row = {scratch_.value()};
      for (const int k : free) row.push_back(form.constant[std::size_t(k)]);
      reduced.push_back(std::move(row));
    }
    for (const Form& row : reduced) rows.push_back(&row);
    const Form zero = rows.empty() ? Form{Dyadic(1.0)} : common_zero(rows.data(), int(rows.size()) + 1);
    Form result(static_cast<std::size_t>(coordinates_));
    if (!linear) result[0] = zero[0];
    for (std::size_t f = 0; f < free.size(); ++f) result[std::size_t(free[f])] = zero[f + 1];
    for (int k = 1; k < coordinates_; ++k)
      if (axis_forms_[std::size_t(k)] >= 0) result[std::size_t(k)] = product(zero[0], given(k, linear));
    return result;
  };
  Polynomial result;
  result.constant = solve(false);
  // Only constants have M, so each minor is linear in it, and the weight has no M.
  if (far) result.linear = solve(true);
  return result;
}

// Row by row, by Laplace's rule: each minor of the first rows is computed once for each set of columns.
Exact::Form Exact::common_zero(const Form* const* rows, int columns, int first) {
  monitor_.work(std::int64_t(columns) << columns);  // about the number of products
  const int last = columns - 2;  // row
  const std::size_t all = (std::size_t{1} << columns) - 1;
  for (int row = 1; row < last; ++row)
    for (std::size_t set = 0; set < all; ++set)
      if (__builtin_popcountll(set) == row + 1) minors_[set] = minor(rows, columns, row, set, false);
  Form result(static_cast<std::size_t>(columns));
  for (int k = first; k < columns; ++k)
    result[std::size_t(k)] = minor(rows, columns, last, all & ~(std::size_t{1} << k), k % 2 != 0);
  return result;
}

// The determinant of the first rows in a set of columns, or its negative: along its last row, from the last column backwards.
Dyadic Exact::minor(const Form* const* rows, int columns, int last, std::size_t set, bool negated) {
  scratch_.clear();
  for (int k = columns - 1; k >= 0; --k) {
    const std::size_t column = std::size_t{1} << k;
    if ((set & column) == 0) continue;
    const Dyadic& factor = (*rows[last])[std::size_t(k)];
    if (last == 0) return negated ? factor.negated() : factor;
    const std::size_t others = set & ~column;
    const Dyadic& rest = last == 1 ? (*rows[0])[std::size_t(__builtin_ctzll(others))] : minors_[others];
    if (negated)
      scratch_.subtract_product(rest, factor);
    else
      scratch_.add_product(rest, factor);
    negated = !negated;
  }
  return scratch_.value();
}

}  // namespace regions
