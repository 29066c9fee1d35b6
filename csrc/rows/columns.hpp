// SPDX-License-Identifier: MIT
// How does a row with few columns store them?
//
// A unit of a convolution reads a part of the units below it. A row of such a layer therefore has an ascending list of columns,
// and a coefficient for each; all rows that were written together share one list. Lists are united by the bits of
// their columns. A row with more than half of all columns has all of them, and no list; in counts, so have all
// rows where there are few columns.
// Cost: a bit of each column for a union, and a number for each column in it.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/arena.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

struct ColumnList {
  int count;
  int words;                  // of bits
  const int* columns;         // [count], ascending
  const std::uint64_t* bits;  // [words]
};

class ColumnSet {
 public:
  void clear(int columns) { bits_.assign(std::size_t(columns + 63) / 64, 0); }

  void add(int column) { bits_[std::size_t(column) / 64] |= std::uint64_t{1} << (column % 64); }

  void add(const ColumnList& list) {
    for (int word = 0; word < list.words; ++word) bits_[std::size_t(word)] |= list.bits[word];
  }

  // Adds the first `columns` columns.
  void add_first(int columns) {
    for (int word = 0; word < columns / 64; ++word) bits_[std::size_t(word)] = ~std::uint64_t{0};
    if (columns % 64 != 0) bits_[std::size_t(columns) / 64] |= (std::uint64_t{1} << (columns % 64)) - 1;
  }

  int count() const {
    int total = 0;
    for (const std::uint64_t word : bits_) total += __builtin_popcountll(word);
    return total;
  }

  // Returns whether they equal the list.
  bool are(const ColumnList& list) const {
    for (std::size_t word = 0; word < bits_.size(); ++word)
      if (bits_[word] != (int(word) < list.words ? list.bits[word] : 0)) return false;
    return true;
  }

  void write(std::vector<int>& columns) const {
    columns.clear();
    for (std::size_t word = 0; word < bits_.size(); ++word)
      for (std::uint64_t left = bits_[word]; left != 0; left &= left - 1)
        columns.push_back(int(64 * word) + __builtin_ctzll(left));
  }

  const ColumnList* listed(Arena& arena) const {
    ColumnList* list = arena.take<ColumnList>(1);
    int words = int(bits_.size());
    while (words > 0 && bits_[std::size_t(words) - 1] == 0) --words;
    int* columns = arena.take<int>(std::size_t(count()));
    std::uint64_t* bits = arena.take<std::uint64_t>(std::size_t(words));
    *list = {0, words, columns, bits};
    for (int word = 0; word < words; ++word) {
      bits[word] = bits_[std::size_t(word)];
      for (std::uint64_t left = bits[word]; left != 0; left &= left - 1)
        columns[list->count++] = 64 * word + __builtin_ctzll(left);
    }
    return list;
  }

 private:
  std::vector<std::uint64_t> bits_;
};

}  // namespace REGIONS_TARGET
}  // namespace regions
