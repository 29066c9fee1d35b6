// SPDX-License-Identifier: MIT
// Which face has a key?
//
// A hash table with open addressing. A key is a hash of 64 bits, of which the table keeps 32, so that more of it fits into a cache. Equal
// keys are only a hint: `find` asks about each face with these bits until one is the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace regions {

using FaceKey = std::uint64_t;

class KeyTable {
 public:
  static constexpr std::int64_t none = -1;

  // The first face with these bits of the key of which is_same(face) is true; `none` if there is no such face.
  template <class Same>
  std::int64_t find(FaceKey key, Same is_same) const {
    if (count_ == 0) return none;
    for (std::size_t at = std::uint32_t(key) & last(); places_[at].face != none; at = (at + 1) & last())
      if (places_[at].bits == std::uint32_t(key) && is_same(places_[at].face)) return places_[at].face;
    return none;
  }

  // The first face with these bits of the key, without asking; `none` if no face has them.
  std::int64_t first(FaceKey key) const {
    if (count_ == 0) return none;
    const Place& first = places_[std::uint32_t(key) & last()];
    if ((first.face == none) | (first.bits == std::uint32_t(key))) return first.face;  // one jump, because either is as likely
    return find(key, [](std::int64_t) { return true; });
  }

  // Fetches the entries where a search for this key begins.
  void prefetch(FaceKey key) const {
    if (count_ > 0) __builtin_prefetch(&places_[std::uint32_t(key) & last()]);
  }

  void put(FaceKey key, std::int64_t face) {
    if (face > std::numeric_limits<std::int32_t>::max()) throw std::length_error("one thread has found more than 2^31 vertices or facets");
    if (2 * (count_ + 1) > places_.size()) grow();
    place(std::uint32_t(key), std::int32_t(face));
    ++count_;
  }

  // The face is in the table.
  void erase(FaceKey key, std::int64_t face) {
    std::size_t hole = std::uint32_t(key) & last();
    while (places_[hole].face != face) hole = (hole + 1) & last();
    // Entries that follow move up, unless that puts them before the place where their search begins.
    for (std::size_t at = (hole + 1) & last(); places_[at].face != none; at = (at + 1) & last())
      if (((at - std::size_t(places_[at].bits)) & last()) >= ((at - hole) & last())) {
        places_[hole] = places_[at];
        hole = at;
      }
    places_[hole].face = none;
    --count_;
  }

  void clear() {
    places_.clear();
    count_ = 0;
  }

 private:
  struct Place {
    std::uint32_t bits;  // of the key, the lowest ones
    std::int32_t face;
  };

  std::size_t last() const { return places_.size() - 1; }

  void place(std::uint32_t bits, std::int32_t face) {
    std::size_t at = bits & last();
    while (places_[at].face != none) at = (at + 1) & last();
    places_[at] = {bits, face};
  }

  void grow() {
    std::vector<Place> before(places_.empty() ? 64 : 2 * places_.size(), Place{0, std::int32_t(none)});
    before.swap(places_);
    for (const Place& each : before)
      if (each.face != none) place(each.bits, each.face);
  }

  std::vector<Place> places_;  // a power of two, at most half of them in use
  std::size_t count_ = 0;
};

}  // namespace regions
