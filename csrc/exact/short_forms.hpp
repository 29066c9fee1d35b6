// SPDX-License-Identifier: MIT
// Which exact forms are short, and what are their signs?
//
// Long integers are not needed where all numbers have few digits: integer or quantised weights, or minima and maxima written
// with ReLUs. All numbers of a layer are multiples of a power of two, its *unit*, so its forms are integers of that many units.
// A form is short if each of its lanes, and each sum on the way, certainly fits into 128 bits.
// Invariant: a short form is exact. Whether a form is short depends on the forms that it reads, not on earlier questions.
// Cost: the units of a layer take one look at its weights, when the first sign is asked; a form takes (active units below) x
// (D + 1) products, without memory; a sign in the plane takes a dozen products.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "task/network.hpp"

namespace regions {

// In dimension one or two, for finite vertices and straight boundaries; there are no others.
class ShortForms {
 public:
  __extension__ typedef __int128 Lane;

  struct Form {
    Lane lanes[3];
    double magnitude;  // at least the absolute value of each lane; infinite if the form is not short
  };

  ShortForms(const Network& network, const Chart& chart, const Domain& domain, const std::uint8_t* pieces);

  // Announces that the pieces of a unit below this layer changed.
  void enter(int layer) {
    if (layer < next_) ++layers_[std::size_t(layer)].since;
  }

  // The form of a kink, or of the difference of a pair of branches; false if it is not short.
  bool kink(int layer, int unit, int breakpoint, Form& form);

  // The line through two neighbouring corners of the domain; false if it is not short.
  bool edge(int edge, Form& form) const;

  // A corner of the domain; false if it is not short.
  bool corner(int generator, Form& form) const;

  // The sign of a form at the zero of another form (in dimension one), at the common zero of two, or at a corner of the domain.
  int sign_at_zero(const Form& row, const Form& boundary) const;
  int sign_at_meeting(const Form& row, const Form& first, const Form& second) const;
  int sign_at_corner(const Form& row, const Form& corner) const;

 private:
  struct Term {
    int input;
    std::int64_t weight;
    int piece = -1;             // of the input, when the form was computed
    std::int64_t version = -1;  // of the input's form then
  };
  struct Row {
    Form form;
    std::int64_t known = 0;    // the layer's `since` when the form was computed, or found to be the same
    std::int64_t version = 0;  // increases whenever the form changes
    bool fits = true;        // whether its weights and bias fit into 62 bits, in units
    std::int64_t bias = 0;
    std::vector<Term> terms;  // with weights that are not zero
  };
  struct OfLayer {
    int exponent = 0;        // of the unit, at most 0
    double weights = 0;      // weights times this are integers
    double biases = 0;       // biases, breakpoints and intercepts times this are integers
    std::vector<std::unique_ptr<Row>> rows;  // [rows and passed units], made when they are needed
    std::int64_t since = 1;  // increases whenever the forms become invalid
  };

  // Returns whether the layer and those below it have units, which are found once.
  bool has_unit(int index);
  bool find_unit(int index, OfLayer& here) const;
  const Form* form(int index, int row);
  const Row& known_row(int index, int row);
  bool inputs_are_the_same(int index, Row& row);
  std::unique_ptr<Row> row_in_units(int index, int row);
  bool set_input(int input, Form& form) const;
  bool add_terms(int index, const Row& row, Form& form) const;
  static int sign_of_small(const Form& row, const Form& first, const Form& second);

  const Network& network_;
  const Chart& chart_;
  const Domain& domain_;
  const std::uint8_t* pieces_;
  const int coordinates_;
  double of_corners_ = 0;  // coordinates of corners times this are integers; 0 if there is no such number
  TermRoom room_;
  std::vector<OfLayer> layers_;  // empty for arcs, and in other dimensions
  int next_ = 0;  // the first layer whose unit has not been found
};

}  // namespace regions
