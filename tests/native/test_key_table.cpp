// SPDX-License-Identifier: MIT
// Does a table of keys find what is in it, when keys collide and entries are erased?
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "collect/key_table.hpp"

using namespace regions;

namespace {

// The faces with a key.
std::set<std::int64_t> faces_of(const KeyTable& table, FaceKey key) {
  std::set<std::int64_t> found;
  table.find(key, [&](std::int64_t face) {
    found.insert(face);
    return false;
  });
  return found;
}

}  // namespace

TEST_CASE("an empty table has nothing, also once it has been cleared") {
  KeyTable table;
  CHECK(faces_of(table, 7).empty());
  table.put(7, 3);
  CHECK(table.find(7, [](std::int64_t) { return true; }) == 3);
  table.clear();
  CHECK(table.find(7, [](std::int64_t) { return true; }) == KeyTable::none);
}

TEST_CASE("faces with one key are told apart by the question") {
  KeyTable table;
  for (std::int64_t face = 0; face < 5; ++face) table.put(42, face);
  for (std::int64_t face = 0; face < 5; ++face)
    CHECK(table.find(42, [&](std::int64_t each) { return each == face; }) == face);
  table.erase(42, 2);
  CHECK(faces_of(table, 42) == std::set<std::int64_t>{0, 1, 3, 4});
}

TEST_CASE("entries that follow an erased one are still found") {
  // Few different places, at both ends of the table, so that runs of entries wrap around.
  KeyTable table;
  std::map<FaceKey, std::set<std::int64_t>> expected;
  std::uint64_t state = 1;
  const auto draw = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  for (std::int64_t face = 0; face < 4000; ++face) {
    const FaceKey key = draw(2) == 0 ? draw(6) : 61 + draw(8) + (draw(3) << 24);
    if (draw(5) < 2 || expected[key].empty()) {
      table.put(key, face);
      expected[key].insert(face);
    } else {
      const std::int64_t gone = *expected[key].begin();
      table.erase(key, gone);
      expected[key].erase(gone);
    }
    for (const auto& [each, faces] : expected) REQUIRE(faces_of(table, each) == faces);
  }
}
