// SPDX-License-Identifier: MIT
// Which branches of max units attain the maximum on a face of a region?
//
// The kinks of a max unit are pairs of branches, and regions on different sides of a face compare different pairs. A sign vector therefore
// has entries for branches instead. Branches are numbered after all kinks, and the entry of a branch is zero where it attains its unit's
// maximum. Arms are continuous, so this is the same from all sides.
// The argmax attains the maximum on all of the region. Any other branch was removed, on a cell that contains the region, because a further
// branch is not below it there; the pair was noted with the vertices where it is zero (kernel/decide.hpp). On a face where the removed one
// attains the maximum, the further one attains it too, and the pair is zero. By induction, all branches that attain the maximum on a face
// are connected to the argmax by pairs that are zero on the face.
// Cost: proportional to the square of the number of such pairs of a face; nothing in networks without max units.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "exact/exact.hpp"
#include "task/network.hpp"

namespace regions {

// Arms are counted from 0 through all max units of a network.
struct MaxUnit {
  Boundary first_kink, end_kink;
  int first_arm, arms;

  // The argmax on a region.
  int argmax(const std::uint8_t* pattern) const {
    for (int arm = 1; arm < arms; ++arm) {
      const Boundary kink = first_kink + PairOfArms{0, arm}.number();
      if ((pattern[kink / 8] >> (kink % 8) & 1) != 0) return first_arm + arm;
    }
    return first_arm;
  }
};

// Two branches of a unit that are equal on a face.
struct Tie {
  const MaxUnit* unit;  // null: a boundary that is not a pair of branches
  int one, other;
};

class MaxUnits {
 public:
  MaxUnits() = default;
  explicit MaxUnits(const Network& network) : kinks_(network.total_kinks) {
    for (const Layer& layer : network.layers)
      for (int unit = 0; layer.has_maxima() && unit < layer.own; ++unit) {
        const int arms = layer.arms[unit + 1] - layer.arms[unit];
        units_.push_back({layer.kink(unit, 0), layer.kink(unit, PairOfArms{0, arms}.number()), arms_, arms});
        arms_ += arms;
      }
  }

  bool any() const { return !units_.empty(); }
  const std::vector<MaxUnit>& all() const { return units_; }
  int arms() const { return arms_; }
  Boundary number_of(int arm) const { return kinks_ + arm; }

  // The max unit with this kink; null for other boundaries.
  const MaxUnit* unit_of(Boundary boundary) const {
    const auto next = std::upper_bound(units_.begin(), units_.end(), boundary, [](Boundary kink, const MaxUnit& unit) { return kink < unit.first_kink; });
    return next != units_.begin() && boundary < (next - 1)->end_kink ? &*(next - 1) : nullptr;
  }

  const MaxUnit& unit_with(int arm) const {
    return *(std::upper_bound(units_.begin(), units_.end(), arm, [](int number, const MaxUnit& unit) { return number < unit.first_arm; }) - 1);
  }

  Tie tie_of(Boundary boundary) const {
    const MaxUnit* unit = unit_of(boundary);
    if (unit == nullptr) return {nullptr, 0, 0};
    const PairOfArms pair = PairOfArms::at(int(boundary - unit->first_kink));
    return {unit, unit->first_arm + pair.first, unit->first_arm + pair.second};
  }

 private:
  Boundary kinks_ = 0;
  int arms_ = 0;
  std::vector<MaxUnit> units_;
};

// The branches that are known to attain their maximum.
class AttainedArms {
 public:
  explicit AttainedArms(int arms) : attains_(std::size_t(arms), 0) {}

  bool has(int arm) const { return attains_[std::size_t(arm)] != 0; }
  void add(int arm) { attains_[std::size_t(arm)] = 1; }
  void remove(int arm) { attains_[std::size_t(arm)] = 0; }

  // Adds the branches that are connected to those that are known, and lists them.
  void add_connected(const std::vector<Tie>& ties, std::vector<int>& added) {
    added.clear();
    for (bool more = true; more;) {
      more = false;
      for (const Tie& tie : ties) {
        if (has(tie.one) == has(tie.other)) continue;
        added.push_back(has(tie.one) ? tie.other : tie.one);
        add(added.back());
        more = true;
      }
    }
  }

 private:
  std::vector<std::uint8_t> attains_;  // [branches]
};

}  // namespace regions
