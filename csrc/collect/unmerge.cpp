// SPDX-License-Identifier: MIT
#include "collect/unmerge.hpp"

#include <algorithm>

namespace regions {

Unmerging::Unmerging(const std::int64_t* kinks, const std::uint8_t* opposite, std::int64_t count, std::int64_t merged_count)
    : first_(std::size_t(merged_count), -1), others_(std::size_t(merged_count), -1), nothing_(std::size_t(count + 7) / 8, 0) {
  for (std::int64_t kink = 0; kink < count; ++kink) needs_zeros_ = needs_zeros_ || (kinks[kink] >= 0 && opposite[kink] != 0);
  const std::size_t bytes = std::size_t(merged_count + 7) / 8;
  merged_bytes_ = (needs_zeros_ ? 2 : 1) * bytes;
  std::vector<std::vector<Change>> changes(8 * merged_bytes_);
  for (std::int64_t kink = 0; kink < count; ++kink) {
    const Change change{std::size_t(kink / 8), std::uint8_t(1u << (kink % 8))};
    if (opposite[kink] != 0) nothing_[change.byte] |= change.bit;
    zero_everywhere_ += kinks[kink] == -2;
    if (kinks[kink] < 0) continue;
    const std::size_t into = std::size_t(kinks[kink]);
    changes[into].push_back(change);
    if (opposite[kink] != 0) changes[8 * bytes + into].push_back(change);
    if (first_[into] < 0) first_[into] = kink;
    ++others_[into];
  }
  for (const std::vector<Change>& of_bit : changes) {
    starts_.push_back(changes_.size());
    changes_.insert(changes_.end(), of_bit.begin(), of_bit.end());
  }
  starts_.push_back(changes_.size());
}

void Unmerging::write_patterns(const std::uint8_t* merged, std::int64_t regions, std::uint8_t* patterns) const {
  const std::vector<std::uint8_t> none(merged_bytes_, 0);
  const std::uint8_t* before = none.data();
  std::vector<std::uint8_t> pattern = nothing_;
  for (std::int64_t region = 0; region < regions; ++region, before = merged, merged += merged_bytes_) {
    for (std::size_t first = 0; first < merged_bytes_; first += 8) {
      const std::size_t end = std::min(first + 8, merged_bytes_);
      if (std::equal(merged + first, merged + end, before + first)) continue;
      for (std::size_t byte = first; byte < end; ++byte)
        for (unsigned left = unsigned(merged[byte]) ^ before[byte]; left != 0; left &= left - 1) {
          const std::size_t bit = 8 * byte + std::size_t(__builtin_ctz(left));
          for (std::size_t i = starts_[bit]; i < starts_[bit + 1]; ++i) pattern[changes_[i].byte] ^= changes_[i].bit;
        }
    }
    patterns = std::copy(pattern.begin(), pattern.end(), patterns);
  }
}

}  // namespace regions
