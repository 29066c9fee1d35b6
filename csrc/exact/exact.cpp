// SPDX-License-Identifier: MIT
#include "exact/exact.hpp"

#include <algorithm>

namespace regions {

namespace {

constexpr int nobody = -2;  // source of a zero row, which is a multiple of any output

}  // namespace

Exact::Exact(const Network& network, const Chart& chart, const Domain& domain, const std::uint8_t* pieces,
             Monitor& monitor)
    : network_(network),
      chart_(chart),
      domain_(domain),
      monitor_(monitor),
      pieces_(pieces),
      coordinates_(chart.dimension + 1),
      short_(network, chart, domain, pieces),
      layers_(network.layers.size()),
      sums_(std::size_t(coordinates_)),
      minors_(std::size_t{1} << coordinates_),
      forms_(std::size_t(chart.dimension)),
      rows_(std::size_t(chart.dimension)),
      axis_forms_(std::size_t(coordinates_)) {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const Layer& here = network.layers[layer];
    const std::size_t rows = std::size_t(here.rows() + (here.units - here.own));
    layers_[layer].forms.resize(rows);
    layers_[layer].known.assign(rows, 0);
  }
}

void Exact::enter(int layer) {
  ++layers_[std::size_t(layer)].since;
  short_.enter(layer);
  ++context_;
}

const Exact::Form& Exact::form(int layer, int row) {
  Known& here = layers_[std::size_t(layer)];
  Form& form = here.forms[std::size_t(row)];
  if (here.known[std::size_t(row)] == here.since) return form;

  form.assign(std::size_t(coordinates_), Dyadic());
  if (layer == 0) {
    form[0] = Dyadic(chart_.origin[row]);
    const double* direction = chart_.directions + row;
    for (int k = 1; k < coordinates_; ++k, direction += chart_.inputs) form[std::size_t(k)] = Dyadic(*direction);
  } else {
    const Layer& layer_here = network_.layers[std::size_t(layer)];
    const Layer& below = network_.layers[std::size_t(layer) - 1];
    TermRoom room;
    const Terms terms = layer_here.weights.terms(row, room);
    for (int term = 0; term < terms.count; ++term) {
      const int input = terms.source(term);
      const int piece = pieces_[below.first_unit + input];
      if (terms.weights[term] != 0 && below.slope(input, piece) != 0) this->form(layer - 1, below.row_of(input, piece));
    }

    for (Accumulator& sum : sums_) sum.clear();
    sums_[0].add(Dyadic(layer_here.biases[row]));
    for (int term = 0; term < terms.count; ++term) {
      const double weight = terms.weights[term];
      if (weight == 0) continue;
      const int input = terms.source(term);
      const int piece = pieces_[below.first_unit + input];
      const double slope = below.slope(input, piece);
      const double intercept = below.intercept(input, piece);
      if (intercept != 0) sums_[0].add_product(Dyadic(intercept), weight);
      if (slope == 0) continue;
      const Form& source = layers_[std::size_t(layer) - 1].forms[std::size_t(below.row_of(input, piece))];
      for (int k = 0; k < coordinates_; ++k) {
        if (slope == 1) {
          sums_[std::size_t(k)].add_product(source[std::size_t(k)], weight);
        } else {
          scratch_.clear();
          scratch_.add_product(source[std::size_t(k)], slope);
          sums_[std::size_t(k)].add_product(scratch_.value(), weight);
        }
      }
    }
    for (int k = 0; k < coordinates_; ++k) form[std::size_t(k)] = sums_[std::size_t(k)].value();
  }
  here.known[std::size_t(row)] = here.since;
  const int terms = network_.layers[std::size_t(layer)].most_terms;
  products_ += std::int64_t(terms) * coordinates_;
  monitor_.work(terms);
  return form;
}

const Exact::Form& Exact::kink_form(int layer, int unit, int breakpoint) {
  const Layer& here = network_.layers[std::size_t(layer)];
  if (here.has_maxima()) {
    const PairOfArms pair = PairOfArms::at(breakpoint);
    const Form& earlier = form(layer, here.row_of(unit, pair.first));
    const Form& later = form(layer, here.row_of(unit, pair.second));
    kink_form_.resize(later.size());
    for (std::size_t k = 0; k < later.size(); ++k) kink_form_[k] = difference(later[k], earlier[k]);
    return kink_form_;
  }
  const Form& row = form(layer, unit);
  const double value = here.breakpoints_of(unit)[breakpoint];
  if (value == 0) return row;
  kink_form_ = row;
  scratch_.clear();
  scratch_.add(row[0]);
  scratch_.add(Dyadic(-value));
  kink_form_[0] = scratch_.value();
  return kink_form_;
}

Exact::Polynomial Exact::generator_point(int generator) {
  const double* values = domain_.generators + std::size_t(generator) * std::size_t(coordinates_);
  Polynomial result;
  result.constant.resize(std::size_t(coordinates_));
  result.constant[0] = Dyadic(1.0);
  Form& target = values[0] != 0 ? result.constant : result.linear;
  target.resize(std::size_t(coordinates_));
  for (int k = 1; k < coordinates_; ++k) target[std::size_t(k)] = Dyadic(values[k]);
  if (!domain_.arc) return result;
  // The direction of (|p|, p).
  result.square = dot(target, target);
  result.constant = target;
  result.linear = {Dyadic(1.0), Dyadic(), Dyadic()};
  return result;
}

// Where a + b X + c Y is zero on the circle: (b^2 + c^2, -a b, -a c) +- (0, c, -b) q with q^2 = b^2 + c^2 - a^2. The form's
// derivative along the circle is +- q there.
Exact::Polynomial Exact::meeting(const Form& line, Meeting meeting) {
  Polynomial result;
  result.constant.resize(3);
  const Form slopes = {Dyadic(), line[1], line[2]};
  result.constant[0] = dot(slopes, slopes);
  const Dyadic offset = line[0].negated();
  for (std::size_t k = 1; k < 3; ++k) result.constant[k] = product(offset, line[k]);
  const bool rising = meeting == Meeting::rising;
  result.linear = {Dyadic(), rising ? line[2] : line[2].negated(), rising ? line[1].negated() : line[1]};
  result.square = difference(result.constant[0], product(line[0], line[0]));
  return result;
}

Dyadic Exact::dot(const Form& left, const Form& right) {
  scratch_.clear();
  for (std::size_t k = 0; k < left.size(); ++k) scratch_.add_product(left[k], right[k]);
  return scratch_.value();
}

void Exact::add_to(Form& target, const Form& more) {
  if (target.empty()) {
    target = more;
    return;
  }
  for (std::size_t k = 0; k < target.size(); ++k) {
    scratch_.clear();
    scratch_.add(target[k]);
    scratch_.add(more[k]);
    target[k] = scratch_.value();
  }
}

// The line through two points of the plane.
Exact::Form Exact::through(const Form& start, const Form& end) {
  const Form* const rows[] = {&start, &end};
  return common_zero(rows, coordinates_);
}

std::pair<int, Layer::KinkOfUnit> Exact::owner_of(Boundary boundary) const {
  int layer = network_.last();
  while (network_.layers[std::size_t(layer)].first_kink > boundary) --layer;
  const Layer& owner = network_.layers[std::size_t(layer)];
  return {layer, owner.kink_at(boundary - owner.first_kink)};
}

Exact::Polynomial Exact::boundary_form(Boundary boundary) {
  Polynomial result;
  if (boundary >= 0) {
    const auto [layer, kink] = owner_of(boundary);
    result.constant = kink_form(layer, kink.unit, kink.kink);
    return result;
  }
  if (coordinates_ > 3) return domain_facet(int(-1 - boundary));
  // The line through two neighbouring generators. Between two far ones it is M * (the cross product's constant lane,
  // then the rest divided by M): the edge of the frame.
  const int edge = int(-1 - boundary);
  const Polynomial start = generator_point(edge);
  const Polynomial end = generator_point((edge + 1) % domain_.count);
  if (start.linear.empty() && end.linear.empty()) {
    result.constant = through(start.constant, end.constant);
    return result;
  }
  result.constant = through(start.constant, end.linear);
  add_to(result.constant, through(start.linear, end.constant));
  result.linear = through(start.linear, end.linear);
  return result;
}

// From dimension three on.
Exact::Polynomial Exact::domain_facet(int facet) const {
  const int far_sides = 2 * (coordinates_ - 1);
  Polynomial result;
  result.constant.resize(std::size_t(coordinates_));
  if (facet < far_sides) {
    result.constant[std::size_t(facet / 2 + 1)] = Dyadic(facet % 2 != 0 ? -1.0 : 1.0);
    result.linear.resize(std::size_t(coordinates_));
    result.linear[0] = Dyadic(1.0);
    return result;
  }
  const double* form = domain_.forms + std::size_t(facet - far_sides) * std::size_t(coordinates_);
  for (int k = 0; k < coordinates_; ++k) result.constant[std::size_t(k)] = Dyadic(form[k]);
  return result;
}

int Exact::side(Boundary facet, const VertexView& vertex) {
  monitor_.work(8);
  const Form form = boundary_form(facet).constant;
  return sign_at(form, point(vertex));
}

bool Exact::meet_in_point(const Boundary* boundaries) {
  return point(VertexView(-1, boundaries)).constant[0].sign() != 0;
}

const Exact::Polynomial& Exact::point(const VertexView& vertex) {
  const Boundary* end = vertex.boundaries + (coordinates_ - 1);
  std::size_t name = std::size_t(vertex.generator);
  for (const Boundary* boundary = vertex.boundaries; boundary != end; ++boundary)
    name = 31 * name + std::size_t(*boundary);
  if (points_.empty()) points_.resize(251);  // making and deleting it takes longer than counting a few regions
  KnownPoint& known = points_[name % points_.size()];
  if (known.context != context_ || known.generator != vertex.generator ||
      !std::equal(vertex.boundaries, end, known.boundaries.begin())) {
    known.point = intersection(vertex);
    known.generator = vertex.generator;
    known.boundaries.assign(vertex.boundaries, end);
    known.context = context_;
  }
  return known.point;
}

Exact::Polynomial Exact::intersection(const VertexView& vertex) {
  if (vertex.generator >= 0) return generator_point(vertex.generator);
  if (domain_.arc) return meeting(boundary_form(vertex.boundaries[0]).constant, Meeting(vertex.boundaries[1]));
  const int dimension = coordinates_ - 1;
  bool far = false;
  for (int k = 0; k < dimension; ++k) {
    Polynomial& form = forms_[std::size_t(k)] = boundary_form(vertex.boundaries[k]);
    rows_[std::size_t(k)] = &form.constant;
    far = far || !form.linear.empty();
  }
  if (dimension > 2) return common_zero_beside_axes(far);
  Polynomial result;
  result.constant = common_zero(rows_.data(), coordinates_);
  if (!far) return result;
  // Only the first column has M, so each minor is linear in it, and the coordinate w, which is the minor without this column,
  // has no M.
  for (Polynomial& form : forms_) form.constant[0] = form.linear.empty() ? Dyadic() : form.linear[0];
  result.linear = common_zero(rows_.data(), coordinates_, 1);
  return result;
}

bool Exact::is_named_by(const VertexView& vertex, Boundary kink) const {
  const Boundary* end = vertex.boundaries + (coordinates_ - 1);
  return vertex.generator < 0 && kink >= 0 && std::find(vertex.boundaries, end, kink) != end;
}

// Returns whether the vertex is named by a kink of the layer with the same line as this one, which is counted from its first.
bool Exact::is_named_by_line(const VertexView& vertex, const Layer& layer, std::int64_t kink) const {
  if (layer.same_line.empty() || vertex.generator >= 0) return false;
  const Boundary* end = vertex.boundaries + (coordinates_ - 1);
  return std::any_of(vertex.boundaries, end, [&](Boundary boundary) {
    const std::int64_t local = boundary - layer.first_kink;
    return local >= 0 && local < std::int64_t(layer.same_line.size()) && layer.have_same_line(kink, local);
  });
}

// The unit below whose pre-activation this row is a multiple of; `none` if there is no such unit, or `nobody` for a zero row.
int Exact::source_of(int layer, int row) {
  const Layer& here = network_.layers[std::size_t(layer)];
  const Layer& below = network_.layers[std::size_t(layer) - 1];
  if (here.biases[row] != 0) return none;
  const Terms terms = here.weights.terms(row, room_);
  if (terms.count == 0) return nobody;
  if (terms.count > 1 || terms.weights[0] == 0) return none;
  const int source = terms.source(0);
  const int piece = pieces_[below.first_unit + source];
  if (below.intercept(source, piece) != 0) return none;
  return below.slope(source, piece) != 0 ? source : nobody;
}

// The kink of the layer below of which the difference of a pair of branches is obviously a multiple, as in a pool that reads two neurons,
// one on and one off. The difference is then zero exactly where the kink is, which takes no arithmetic.
Boundary Exact::kink_below(int layer, int unit, int breakpoint) {
  const Layer& here = network_.layers[std::size_t(layer)];
  const Layer& below = network_.layers[std::size_t(layer) - 1];
  if (!here.has_maxima() || below.kinks == 0) return none;
  const PairOfArms pair = PairOfArms::at(breakpoint);
  const int first = source_of(layer, here.row_of(unit, pair.first));
  const int second = source_of(layer, here.row_of(unit, pair.second));
  const int source = first == nobody ? second : second == nobody ? first : int(none);
  if (source < 0 || source >= below.own) return none;  // a pass-through unit has no kinks
  const double* kinks = below.breakpoints_of(source);
  const double* at = std::find(kinks, kinks + below.kinks, 0.0);
  return at == kinks + below.kinks ? none : below.kink(source, int(at - kinks));
}

int Exact::sign(int layer, int unit, int breakpoint, const VertexView& vertex) {
  monitor_.work(8);
  if (is_named_by(vertex, kink_below(layer, unit, breakpoint))) return 0;
  const Layer& here = network_.layers[std::size_t(layer)];
  if (is_named_by_line(vertex, here, here.kink(unit, breakpoint) - here.first_kink)) return 0;
  int sign = 0;
  if (find_short_sign(layer, unit, breakpoint, vertex, sign)) return sign;
  const Polynomial& at = point(vertex);
  return sign_at(kink_form(layer, unit, breakpoint), at);
}

bool Exact::short_boundary(Boundary boundary, ShortForms::Form& form) {
  if (boundary < 0) return short_.edge(int(-1 - boundary), form);
  const auto [layer, kink] = owner_of(boundary);
  return short_.kink(layer, kink.unit, kink.kink, form);
}

bool Exact::find_short_sign(int layer, int unit, int breakpoint, const VertexView& vertex, int& sign) {
  ShortForms::Form row, first, second;
  if (!short_.kink(layer, unit, breakpoint, row)) return false;
  sign = 0;
  if (row.magnitude == 0) return true;
  if (vertex.generator >= 0) {
    if (!short_.corner(vertex.generator, first)) return false;
    sign = short_.sign_at_corner(row, first);
    return true;
  }
  if (!short_boundary(vertex.boundaries[0], first)) return false;
  if (coordinates_ == 2) {
    sign = short_.sign_at_zero(row, first);
    return true;
  }
  if (!short_boundary(vertex.boundaries[1], second)) return false;
  sign = short_.sign_at_meeting(row, first, second);
  return true;
}

bool Exact::bulges(int layer, int unit, int breakpoint, const VertexView& start, const VertexView& end, int sign) {
  monitor_.work(8);
  const Form row = kink_form(layer, unit, breakpoint);
  const Form slopes = {Dyadic(), row[1], row[2]};
  const Dyadic square = dot(slopes, slopes);
  if (square.sign() == 0) return false;
  if (sign * row[0].sign() <= 0 && difference(square, product(row[0], row[0])).sign() <= 0) return false;
  // The greatest value, in the direction sign * (b, c), is above zero: is this direction within the arc?
  const Form across = {Dyadic(), row[2], row[1].negated()};
  return sign * sign_at(across, point(start)) > 0 && sign * sign_at(across, point(end)) < 0;
}

// The weight of a point is one term, not a sum: its sign is the sign of the linear part, if it has one.
int Exact::sign_at(const Form& row, const Polynomial& at) {
  const Dyadic linear = at.linear.empty() ? Dyadic() : dot(row, at.linear);
  int value = linear.sign();
  if (value == 0 || at.square.sign() != 0) {
    const Dyadic constant = dot(row, at.constant);
    if (value == 0)
      value = constant.sign();
    else if (value * constant.sign() < 0)
      value *= difference(product(product(linear, linear), at.square), product(constant, constant)).sign();
  }
  const int weight = at.linear.empty() ? 0 : at.linear[0].sign();
  return value * (weight != 0 ? weight : at.constant[0].sign());
}

Dyadic Exact::product(const Dyadic& left, const Dyadic& right) {
  scratch_.clear();
  scratch_.add_product(left, right);
  return scratch_.value();
}

Dyadic Exact::difference(const Dyadic& left, const Dyadic& right) {
  scratch_.clear();
  scratch_.add(left);
  scratch_.add_product(right, -1.0);
  return scratch_.value();
}

}  // namespace regions
