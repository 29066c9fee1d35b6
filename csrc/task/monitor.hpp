// SPDX-License-Identifier: MIT
// Is anybody waiting, and shall the work stop?
//
// A few times a second the caller is told how far the work is and may stop it; a limit on the number of regions stops
// it too. The clock is read only every few thousand units of work (a sign, or so). Stopping is an exception, so what
// was finished stays in the collector.
#pragma once

#include <chrono>
#include <cstdint>

namespace regions {

struct Interrupted {};
struct LimitExceeded {};

class Monitor {
 public:
  // Called about every 50 ms with (context, finished share, regions so far); a result other than 0 stops the work.
  using Report = int (*)(void* context, double finished, std::int64_t regions);

  Monitor(Report report, void* context, std::int64_t limit) : report_(report), context_(context), limit_(limit) {}

  void found(std::int64_t regions) {
    regions_ = regions;
    if (regions > limit_) throw LimitExceeded();
  }

  void finished(double share) { finished_ += share; }

  void work(std::int64_t amount) {
    waiting_ += amount;
    if (waiting_ < 4096) return;
    waiting_ = 0;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    if (report_(context_, finished_, regions_) != 0) throw Interrupted();
  }

 private:
  Report report_;
  void* context_;
  std::int64_t limit_;
  std::int64_t regions_ = 0;
  std::int64_t waiting_ = 0;
  double finished_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace regions
