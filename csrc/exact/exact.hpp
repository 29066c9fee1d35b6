// SPDX-License-Identifier: MIT
// What is the sign of a unit's pre-activation at a vertex, decided without rounding?
//
// A vertex is given by the boundaries that meet in it, not by its coordinates. Each boundary is an affine
// form with dyadic coefficients, the vertex is their intersection in homogeneous coordinates (no division), and the
// pre-activation there is one more sum of products. Exact forms are made on demand, unit by unit. Forms of layer l are valid as
// long as the pieces of all units below l are, so they are cached until enter(l) announces a change. Recent vertices are
// cached too, because degenerate networks need the signs of many lines at the same few vertices.
// Invariant: a form is requested only if every lower layer is decided.
// Cost: one form takes (active units below) x (D + 1) multiply-adds of long numbers, one sign about a dozen more.
//
// Whole lines and planes: their far vertices are (1, M p) for a symbolic, infinitely large M. A coordinate is then
// constant + linear * M, and signs are lexicographic (the infimaximal frames of Mehlhorn and Seel, 2003).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "exact/dyadic.hpp"
#include "exact/short_forms.hpp"
#include "task/monitor.hpp"
#include "task/network.hpp"

namespace regions {

// A boundary through a cell: a kink of the network (>= 0), or edge e of the domain, as -1 - e.
using Boundary = std::int64_t;

// From dimension D = 3 on, a facet of the domain. The sides of a box of symbolic size M are first: p_k is -M on side 2 k, and
// M on side 2 k + 1. The forms of the domain follow.
constexpr Boundary far_side_name(int side) { return -1 - Boundary(side); }
constexpr Boundary form_name(int dimension, int form) { return -1 - Boundary(2 * dimension + form); }
constexpr Boundary form_of(int dimension, Boundary name) { return -1 - name - 2 * dimension; }

// Where a line meets the unit circle: its form rises or falls there, counter-clockwise. As a `Boundary`, either stands for the circle.
enum class Meeting : Boundary { rising = -1, falling = -2 };

// A vertex is a generator of the domain, or the intersection of as many boundaries as there are dimensions. More boundaries
// may pass through it.
template <int D>
struct VertexName {
  int generator;  // -1 if not a generator
  Boundary boundaries[D];
};

// The same, for callers that learn the dimension from the chart.
struct VertexView {
  int generator;
  const Boundary* boundaries;  // [dimension]

  template <int D>
  VertexView(const VertexName<D>& name) : generator(name.generator), boundaries(name.boundaries) {}
  VertexView(int its_generator, const Boundary* its_boundaries)
      : generator(its_generator), boundaries(its_boundaries) {}
};

class Exact {
 public:
  Exact(const Network& network, const Chart& chart, const Domain& domain, const std::uint8_t* pieces, Monitor& monitor);

  // Announces that the pieces of a unit below this layer changed: everything cached for the layer is invalid.
  void enter(int layer);

  // -1, 0 or 1: the sign of (pre-activation - breakpoint) at the vertex, or of the difference of a pair of branches.
  int sign(int layer, int unit, int breakpoint, const VertexView& vertex);

  // The sign of the form of a domain's facet at the vertex.
  int side(Boundary facet, const VertexView& vertex);

  // Returns whether that many boundaries as there are dimensions meet in one point.
  bool meet_in_point(const Boundary* boundaries);

  // On an arc: whether sign * (pre-activation - breakpoint), at most zero at both ends, is positive somewhere between them.
  bool bulges(int layer, int unit, int breakpoint, const VertexView& start, const VertexView& end, int sign);

  // For assertions: the error of a rounded form of a row, at a position. Each coefficient of the form is the sum of `count` numbers,
  // stored `stride` apart.
  double miss(int layer, int row, const double* limbs, int count, int stride, const double* position);

  // Homogeneous coordinates [dimension + 1], each correct to its last bit or so; w is 1, or 0 for a vertex at infinity.
  void coordinates(const VertexView& vertex, double* position);

  const Domain& domain() const { return domain_; }
  int dimension() const { return coordinates_ - 1; }

  // Number of products of a weight and a long number in exact forms so far.
  std::int64_t products() const { return products_; }

 private:
  using Form = std::vector<Dyadic>;  // [dimension + 1]
  // constant + linear * q, where q is M; or, on arcs, the square root of `square`, which is then positive. If linear is empty,
  // the constant alone.
  struct Polynomial {
    Form constant;
    Form linear;
    Dyadic square;
  };
  struct KnownPoint {
    std::int64_t context = -1;
    int generator = 0;
    std::vector<Boundary> boundaries;  // [dimension]
    Polynomial point;
  };
  struct Known {
    std::vector<Form> forms;           // [rows, and units that pass an output of the layer below through]
    std::vector<std::int64_t> known;   // for each form, the value of `since` when it was computed
    std::int64_t since = 1;            // increases whenever the forms become invalid
  };

  static constexpr Boundary none = -1;

  // Finds the sign by short forms; false if some form is not short.
  bool find_short_sign(int layer, int unit, int breakpoint, const VertexView& vertex, int& sign);
  bool short_boundary(Boundary boundary, ShortForms::Form& form);
  std::pair<int, Layer::KinkOfUnit> owner_of(Boundary boundary) const;
  bool is_named_by(const VertexView& vertex, Boundary kink) const;
  bool is_named_by_line(const VertexView& vertex, const Layer& layer, std::int64_t kink) const;
  Boundary kink_below(int layer, int unit, int breakpoint);
  int source_of(int layer, int row);
  const Form& form(int layer, int row);
  const Form& kink_form(int layer, int unit, int breakpoint);
  Polynomial boundary_form(Boundary boundary);
  Polynomial domain_facet(int facet) const;
  const Polynomial& point(const VertexView& vertex);
  Polynomial intersection(const VertexView& vertex);
  Polynomial generator_point(int generator);
  Polynomial meeting(const Form& line, Meeting meeting);
  int sign_at(const Form& row, const Polynomial& at);
  // The common zero of D forms, some of which determine one coordinate, as the facets of boxes do.
  Polynomial common_zero_beside_axes(bool far);
  // The point where n forms are zero, or the form that is zero at n points: the minors of their matrix, of alternating sign.
  // If `first` is 1, the coordinate w is left zero.
  // Takes (n + 1) (2^n - 2) products of growing length, and no division.
  Form common_zero(const Form* const* rows, int columns, int first = 0);
  Dyadic minor(const Form* const* rows, int columns, int last, std::size_t set, bool negated);
  Form through(const Form& start, const Form& end);
  Dyadic dot(const Form& left, const Form& right);
  Dyadic product(const Dyadic& left, const Dyadic& right);
  Dyadic difference(const Dyadic& left, const Dyadic& right);
  void add_to(Form& target, const Form& more);

  const Network& network_;
  const Chart& chart_;
  const Domain& domain_;
  Monitor& monitor_;
  const std::uint8_t* pieces_;  // [total_units], the recursion's current pieces
  int coordinates_;             // dimension + 1
  ShortForms short_;
  std::vector<Known> layers_;
  std::vector<KnownPoint> points_;  // a cache of vertices by hash; a new one replaces the old one
  std::int64_t context_ = 0;        // number of invalidations
  std::int64_t products_ = 0;
  Form kink_form_;
  TermRoom room_;
  std::vector<Accumulator> sums_;
  Accumulator scratch_;
  std::vector<Dyadic> minors_;  // of the first rows, by the set of their columns
  std::vector<Polynomial> forms_;  // [dimension] of the boundaries that meet in a vertex
  std::vector<const Form*> rows_;  // [dimension] their constants
  std::vector<int> axis_forms_;    // [dimension + 1] the form that determines a coordinate, or -1
};

}  // namespace regions
