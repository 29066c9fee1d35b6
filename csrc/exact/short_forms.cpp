// SPDX-License-Identifier: MIT
#include "exact/short_forms.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace regions {

namespace {

// Numbers below `most_of_word` are converted to 64 bits. Sums of magnitudes below `most` fit into 128 bits: they have a few million
// positive terms at most, and their rounding is far less than a factor of 2.
constexpr double most_of_word = 0x1p62;
constexpr double most = 0x1p124;
// In smaller units than 2^-120 no number of about 1 is short. Products with such a scale are normal numbers, or overflow.
constexpr int most_exponent = 120;
constexpr std::size_t most_compared = 8;  // terms of a row

// The exponent of the lowest bit that is set; `lowest` if the number is zero.
void see_lowest_bit(double number, int& lowest) {
  if (number == 0) return;
  std::uint64_t bits;
  std::memcpy(&bits, &number, sizeof bits);
  const int biased = int(bits >> 52 & 0x7ff);
  const std::uint64_t mantissa = (bits & 0xfffffffffffff) | (biased > 0 ? std::uint64_t{1} << 52 : 0);
  lowest = std::min(lowest, std::max(biased, 1) - 1075 + __builtin_ctzll(mantissa));
}

bool as_integer(double number, std::int64_t& result) {
  if (!(std::fabs(number) < most_of_word)) return false;
  result = std::int64_t(number);
  return double(result) == number;
}

int sign_of(ShortForms::Lane number) { return number > 0 ? 1 : number < 0 ? -1 : 0; }

double magnitude_of(std::int64_t number) { return std::fabs(double(number)); }

// The absolute value, rounded to a double.
double magnitude_of(ShortForms::Lane number) {
  const std::int64_t word = std::int64_t(number);
  return word == number ? magnitude_of(word) : std::fabs(double(number));
}

// A sum of products of three numbers below 2^124: the positive ones and the negative ones.
class Sum {
 public:
  void add(ShortForms::Lane first, ShortForms::Lane second, ShortForms::Lane third, bool negated) {
    const bool negative = ((first < 0) != (second < 0)) != ((third < 0) != negated);
    std::uint64_t product[limbs] = {1};
    for (const ShortForms::Lane factor : {first, second, third}) multiply(product, factor);
    std::uint64_t* sum = negative ? negative_ : positive_;
    Magnitude carry = 0;
    for (int i = 0; i < limbs; ++i) {
      carry += Magnitude(sum[i]) + product[i];
      sum[i] = std::uint64_t(carry);
      carry >>= 64;
    }
  }

  int sign() const {
    for (int i = limbs - 1; i >= 0; --i)
      if (positive_[i] != negative_[i]) return positive_[i] > negative_[i] ? 1 : -1;
    return 0;
  }

 private:
  __extension__ typedef unsigned __int128 Magnitude;
  static constexpr int limbs = 6;

  // Multiplies by an absolute value, from the highest limb down; what leaves the limbs is zero.
  static void multiply(std::uint64_t* number, ShortForms::Lane factor) {
    const Magnitude magnitude = factor < 0 ? -Magnitude(factor) : Magnitude(factor);
    const std::uint64_t low = std::uint64_t(magnitude);
    const std::uint64_t high = std::uint64_t(magnitude >> 64);
    std::uint64_t result[limbs] = {};
    for (int i = 0; i < limbs; ++i) {
      add_at(result, i, Magnitude(number[i]) * low);
      add_at(result, i + 1, Magnitude(number[i]) * high);
    }
    std::copy_n(result, limbs, number);
  }

  static void add_at(std::uint64_t* sum, int place, Magnitude product) {
    for (Magnitude carry = product; carry != 0 && place < limbs; ++place) {
      carry += sum[place];
      sum[place] = std::uint64_t(carry);
      carry >>= 64;
    }
  }

  std::uint64_t positive_[limbs] = {};
  std::uint64_t negative_[limbs] = {};
};

}  // namespace

ShortForms::ShortForms(const Network& network, const Chart& chart, const Domain& domain, const std::uint8_t* pieces)
    : network_(network), chart_(chart), domain_(domain), pieces_(pieces), coordinates_(chart.dimension + 1) {
  if (coordinates_ > 3 || domain.arc) return;
  layers_.resize(network.layers.size());
  int lowest = 0;  // the weight of a corner is 1
  const int count = domain.count * coordinates_;
  for (int i = 0; i < count; ++i) see_lowest_bit(domain.generators[i], lowest);
  if (lowest > -most_exponent) of_corners_ = std::ldexp(1.0, -lowest);
}

bool ShortForms::has_unit(int index) {
  while (next_ <= index && next_ < int(layers_.size())) {
    OfLayer& here = layers_[std::size_t(next_)];
    if (!find_unit(next_, here)) return false;
    const Layer& of_network = network_.layers[std::size_t(next_++)];
    const std::size_t rows = std::size_t(of_network.rows() + (of_network.units - of_network.own));
    here.rows.resize(rows);
  }
  return index < next_;
}

bool ShortForms::find_unit(int index, OfLayer& here) const {
  const Layer& of_network = network_.layers[std::size_t(index)];
  int weights = most_exponent;
  int biases = most_exponent;
  int below = 0;
  if (index == 0) {
    for (int i = 0; i < chart_.inputs; ++i) see_lowest_bit(chart_.origin[i], biases);
    for (int i = 0; i < chart_.inputs * chart_.dimension; ++i) see_lowest_bit(chart_.directions[i], biases);
  } else {
    below = layers_[std::size_t(index) - 1].exponent;
    of_network.weights.for_each_weight(of_network.rows(), [&](double weight) { see_lowest_bit(weight, weights); });
    const int rows = of_network.rows() + (of_network.units - of_network.own);
    for (int row = 0; row < rows; ++row) see_lowest_bit(of_network.biases[row], biases);
  }
  here.exponent = std::min(below + weights, biases);
  if (here.exponent > 0) here.exponent = 0;
  here.weights = std::ldexp(1.0, below - here.exponent);
  here.biases = std::ldexp(1.0, -here.exponent);
  return here.exponent > -most_exponent;
}

const ShortForms::Form* ShortForms::form(int index, int row) {
  const Form& form = known_row(index, row).form;
  return form.magnitude < most ? &form : nullptr;
}

const ShortForms::Row& ShortForms::known_row(int index, int number) {
  OfLayer& here = layers_[std::size_t(index)];
  std::unique_ptr<Row>& kept = here.rows[std::size_t(number)];
  if (kept == nullptr) kept = row_in_units(index, number);
  Row& row = *kept;
  if (row.known == here.since) return row;
  row.known = here.since;
  if (inputs_are_the_same(index, row) && row.version > 0) return row;
  Form form{};
  if (!(index == 0 ? set_input(number, form) : add_terms(index, row, form))) form.magnitude = INFINITY;
  if (row.version == 0 || form.magnitude != row.form.magnitude || !std::equal(form.lanes, form.lanes + 3, row.form.lanes)) ++row.version;
  row.form = form;
  return row;
}

// Makes the forms of the inputs known, and returns whether they and their pieces are the same as when the row's form was computed.
// Long rows are not compared: some input has nearly always changed, and computing the form costs as much.
bool ShortForms::inputs_are_the_same(int index, Row& row) {
  if (index == 0 || !row.fits) return true;
  const Layer& below = network_.layers[std::size_t(index) - 1];
  if (row.terms.size() > most_compared) {
    for (Term& term : row.terms) {
      term.piece = pieces_[below.first_unit + term.input];
      if (below.slope(term.input, term.piece) != 0) known_row(index - 1, below.row_of(term.input, term.piece));
    }
    return false;
  }
  bool same = true;
  for (Term& term : row.terms) {
    const int piece = pieces_[below.first_unit + term.input];
    const bool is_read = below.slope(term.input, piece) != 0;
    const std::int64_t version = is_read ? known_row(index - 1, below.row_of(term.input, piece)).version : 0;
    same = same && piece == term.piece && version == term.version;
    term.piece = piece;
    term.version = version;
  }
  return same;
}

bool ShortForms::set_input(int input, Form& form) const {
  for (int k = 0; k < coordinates_; ++k) {
    const double number = k == 0 ? chart_.origin[input] : chart_.directions[(k - 1) * chart_.inputs + input];
    std::int64_t integer;
    if (!as_integer(number * layers_[0].biases, integer)) return false;
    form.lanes[k] = integer;
    form.magnitude = std::max(form.magnitude, magnitude_of(integer));
  }
  return true;
}

std::unique_ptr<ShortForms::Row> ShortForms::row_in_units(int index, int row) {
  std::unique_ptr<Row> result = std::make_unique<Row>();
  if (index == 0) return result;
  const OfLayer& here = layers_[std::size_t(index)];
  const Layer& of_network = network_.layers[std::size_t(index)];
  result->fits = as_integer(of_network.biases[row] * here.biases, result->bias);
  const Terms terms = of_network.weights.terms(row, room_);
  for (int term = 0; term < terms.count && result->fits; ++term) {
    if (terms.weights[term] == 0) continue;
    Term integer{terms.source(term), 0, -1, -1};
    result->fits = as_integer(terms.weights[term] * here.weights, integer.weight);
    result->terms.push_back(integer);
  }
  return result;
}

// All inputs are known.
bool ShortForms::add_terms(int index, const Row& row, Form& form) const {
  if (!row.fits) return false;
  const Layer& below = network_.layers[std::size_t(index) - 1];
  const double scale_below = layers_[std::size_t(index) - 1].biases;
  Lane sums[3] = {row.bias, 0, 0};
  double size = magnitude_of(row.bias);
  for (const Term& term : row.terms) {
    const double slope = below.slope(term.input, term.piece);
    const double intercept = below.intercept(term.input, term.piece);
    std::int64_t integer = 1;
    if (intercept != 0) {
      if (!as_integer(intercept * scale_below, integer)) return false;
      size += magnitude_of(term.weight) * magnitude_of(integer);
      if (!(size < most)) return false;
      sums[0] += Lane(term.weight) * integer;
    }
    if (slope == 0) continue;
    const Form& source = layers_[std::size_t(index) - 1].rows[std::size_t(below.row_of(term.input, term.piece))]->form;
    if (!(source.magnitude < most) || !as_integer(slope, integer)) return false;
    const double factor = magnitude_of(term.weight) * magnitude_of(integer);
    size += factor * source.magnitude;
    if (!(factor < most_of_word && size < most)) return false;
    const std::int64_t weight = term.weight * integer;
    for (int k = 0; k < 3; ++k) sums[k] += source.lanes[k] * weight;
  }
  for (int k = 0; k < 3; ++k) {
    form.lanes[k] = sums[k];
    form.magnitude = std::max(form.magnitude, magnitude_of(sums[k]));
  }
  form.magnitude *= 1 + 0x1p-50;
  return true;
}

bool ShortForms::kink(int index, int unit, int breakpoint, Form& result) {
  if (!has_unit(index)) return false;
  const Layer& here = network_.layers[std::size_t(index)];
  if (here.has_maxima()) {
    const PairOfArms pair = PairOfArms::at(breakpoint);
    const Form* earlier = form(index, here.row_of(unit, pair.first));
    const Form* later = earlier == nullptr ? nullptr : form(index, here.row_of(unit, pair.second));
    if (later == nullptr || !(earlier->magnitude + later->magnitude < most)) return false;
    for (int k = 0; k < coordinates_; ++k) result.lanes[k] = later->lanes[k] - earlier->lanes[k];
    result.magnitude = earlier->magnitude + later->magnitude;
    return true;
  }
  const Form* row = form(index, unit);
  if (row == nullptr) return false;
  result = *row;
  const double value = here.breakpoints_of(unit)[breakpoint];
  if (value == 0) return true;
  std::int64_t integer;
  if (!as_integer(value * layers_[std::size_t(index)].biases, integer)) return false;
  result.lanes[0] -= integer;
  result.magnitude += magnitude_of(integer);
  return true;
}

bool ShortForms::corner(int generator, Form& result) const {
  const double* values = domain_.generators + std::size_t(generator) * std::size_t(coordinates_);
  if (values[0] == 0 || of_corners_ == 0) return false;
  result.magnitude = 0;
  for (int k = 0; k < coordinates_; ++k) {
    std::int64_t integer;
    if (!as_integer(values[k] * of_corners_, integer)) return false;
    result.lanes[k] = integer;
    result.magnitude = std::max(result.magnitude, magnitude_of(integer));
  }
  return true;
}

bool ShortForms::edge(int edge, Form& result) const {
  Form start, end;
  if (!corner(edge, start) || !corner((edge + 1) % domain_.count, end)) return false;
  result.magnitude = 2 * start.magnitude * end.magnitude;
  if (!(result.magnitude < most)) return false;
  for (int k = 0; k < 3; ++k) {
    const int left = (k + 1) % 3;
    const int right = (k + 2) % 3;
    result.lanes[k] = start.lanes[left] * end.lanes[right] - start.lanes[right] * end.lanes[left];
  }
  return true;
}

int ShortForms::sign_at_corner(const Form& row, const Form& corner) const {
  Sum sum;
  for (int k = 0; k < coordinates_; ++k) sum.add(row.lanes[k], corner.lanes[k], 1, false);
  return sum.sign();
}

int ShortForms::sign_at_zero(const Form& row, const Form& boundary) const {
  Sum sum;
  sum.add(row.lanes[0], boundary.lanes[1], 1, false);
  sum.add(row.lanes[1], boundary.lanes[0], 1, true);
  return sum.sign() * sign_of(boundary.lanes[1]);
}

int ShortForms::sign_at_meeting(const Form& row, const Form& first, const Form& second) const {
  const double meeting = 2 * first.magnitude * second.magnitude;
  if (meeting < most && 3 * row.magnitude * meeting < most) return sign_of_small(row, first, second);
  Sum sum, weight;
  for (int k = 0; k < 3; ++k) {
    const int left = (k + 1) % 3;
    const int right = (k + 2) % 3;
    sum.add(row.lanes[k], first.lanes[left], second.lanes[right], false);
    sum.add(row.lanes[k], first.lanes[right], second.lanes[left], true);
  }
  weight.add(first.lanes[1], second.lanes[2], 1, false);
  weight.add(first.lanes[2], second.lanes[1], 1, true);
  return sum.sign() * weight.sign();
}

// The same if the determinant fits into 128 bits.
int ShortForms::sign_of_small(const Form& row, const Form& first, const Form& second) {
  Lane sum = 0;
  Lane weight = 0;
  for (int k = 0; k < 3; ++k) {
    const int left = (k + 1) % 3;
    const int right = (k + 2) % 3;
    const Lane minor = first.lanes[left] * second.lanes[right] - first.lanes[right] * second.lanes[left];
    if (k == 0) weight = minor;
    sum += row.lanes[k] * minor;
  }
  return sign_of(sum) * sign_of(weight);
}

}  // namespace regions
