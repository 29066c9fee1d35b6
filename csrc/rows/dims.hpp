// SPDX-License-Identifier: MIT
// How many dimensions are there, if one type of cells is for several?
//
// Cells of four to six dimensions have one type, and cells of seven to ten another one: D is then the largest number of dimensions, which
// says how large arrays are. The number itself is known to cells, panels, lines and other objects (`dims`). Compiling takes half of the
// time of a type for each dimension, and most loops over a few numbers need not be unrolled. Where it pays, `with_dims` has a copy of
// a loop for each dimension. Up to three dimensions the number is a constant, which takes no memory.
#pragma once

#include <cassert>
#include <type_traits>

namespace regions {

template <int D>
constexpr bool varies = D == 6 || D == 10;
template <int D>
constexpr int least_dims = D == 10 ? 7 : D == 6 ? 4 : D;

template <int D, bool = varies<D>>
class Dims {
 public:
  Dims() = default;
  explicit constexpr Dims(int) {}
  constexpr operator int() const { return D; }
};

template <int D>
class Dims<D, true> {
 public:
  Dims() = default;  // not set
  explicit Dims(int number) : number_(number) {}
  operator int() const {
    assert(number_ >= least_dims<D> && number_ <= D);
    return number_;
  }

 private:
  int number_;
};

// The number where it is a constant, for functions that are called there without it.
template <int D>
constexpr Dims<D> constant_dims() {
  static_assert(!varies<D>, "the caller has to say how many dimensions there are");
  return {};
}

// Calls work(n) with the number of dimensions as a constant of the type of n.
template <int D, int N = least_dims<D>, class Work>
__attribute__((always_inline)) inline void with_dims(Dims<D> dims, Work work) {
  if constexpr (N < D)
    if (dims != N) return with_dims<D, N + 1>(dims, work);
  work(std::integral_constant<int, N>());
}

}  // namespace regions
