// SPDX-License-Identifier: MIT
// How does the key of a face change with the sign of one kink?
//
// Keys are defined in collect/face_records.hpp. These are tables, because each region asks for the keys of all its facets.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "collect/attained_arms.hpp"
#include "collect/face_records.hpp"

namespace regions {
inline namespace REGIONS_TARGET {

class KinkKeys {
 public:
  KinkKeys(const Network& network, const MaxUnits& max_units) {
    for (std::int64_t kink = 0; kink < network.total_kinks; ++kink) {
      positive_.push_back(key_of_positive(kink));
      zero_.push_back(key_of_zero(kink));
    }
    // In a pattern all pairs (a, argmax) are set. The pair (0, argmax) replaces branch 0 by the argmax, and the others change nothing.
    for (const MaxUnit& unit : max_units.all()) {
      std::fill(positive_.begin() + unit.first_kink, positive_.begin() + unit.end_kink, FaceKey{0});
      for (int arm = 1; arm < unit.arms; ++arm)
        positive_[std::size_t(unit.first_kink + PairOfArms{0, arm}.number())] =
            key_of_zero(max_units.number_of(unit.first_arm)) ^ key_of_zero(max_units.number_of(unit.first_arm + arm));
    }
  }

  // From negative to positive.
  FaceKey positive(std::size_t kink) const { return positive_[kink]; }

  // From the sign in a pattern to zero.
  FaceKey change_to_zero(Boundary boundary, const std::uint8_t* pattern) const {
    if (boundary < 0) return key_of_zero(boundary);
    const bool is_positive = (pattern[boundary / 8] >> (boundary % 8) & 1) != 0;
    return zero_[std::size_t(boundary)] ^ (is_positive ? positive_[std::size_t(boundary)] : 0);
  }

 private:
  std::vector<FaceKey> positive_;  // [kinks]
  std::vector<FaceKey> zero_;      // [kinks]
};

}  // namespace REGIONS_TARGET
}  // namespace regions
