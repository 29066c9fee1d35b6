// SPDX-License-Identifier: MIT
// How is progress reported, and when does the work stop?
//
// About every 50 ms the caller gets the progress and may stop the work; a limit on the number of regions, and of cells that
// are left out, stops it too. The clock is read only every few thousand units of work (such as a sign). Stopping is an exception, so
// finished results stay in the collector. If several threads work (task/crew.hpp), each has a separate monitor, and adds its
// results to a tally. The monitor of the calling thread reports to the caller, and stopping one stops all.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace regions {

struct Interrupted {};
struct LimitExceeded {};

// Results of several threads together.
struct Tally {
  std::atomic<std::int64_t> regions{0};
  std::atomic<std::int64_t> left_out{0};
  std::atomic<double> finished{0};  // fraction
  std::atomic<bool> stopped{false};
};

class Monitor {
 public:
  // Called about every 50 ms with (context, finished fraction, regions so far); a result other than 0 stops the work.
  using Report = int (*)(void* context, double finished, std::int64_t regions);

  Monitor(Report report, void* context, std::int64_t limit) : report_(report), context_(context), limit_(limit) {}

  void found(std::int64_t regions) {
    regions_ = regions;
    if (regions + left_out_ > limit_) throw LimitExceeded();
  }

  // A cell without wanted regions was left out.
  void leave_out() {
    ++left_out_;
    found(regions_);
  }

  // How many more regions may be found, given the number found so far.
  std::int64_t left(std::int64_t regions) const { return limit_ - left_out_ - regions; }

  void finished(double share) { finished_ += share; }

  void work(std::int64_t amount) {
    waiting_ += amount;
    if (waiting_ < 4096) return;
    waiting_ = 0;
    look();
  }

  void look() {
    if (tally_ != nullptr) {
      add_to_tally();
      if (tally_->stopped.load(std::memory_order_relaxed)) throw Interrupted();
      if (tally_->regions.load() + tally_->left_out.load() > limit_) throw LimitExceeded();
    }
    if (report_ == nullptr) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(50)) return;
    last_ = now;
    tell();
  }

  void tell() {
    if (report_ == nullptr) return;
    const double finished = tally_ != nullptr ? tally_->finished.load() : finished_;
    const std::int64_t regions = tally_ != nullptr ? tally_->regions.load() : regions_;
    if (report_(context_, finished, regions) != 0) throw Interrupted();
  }

  // From now on this monitor adds to a tally of several threads. The second function returns a monitor for another thread, which
  // does not report.
  void share(Tally& tally) { tally_ = &tally; }
  Monitor for_another_thread() const {
    Monitor monitor(nullptr, nullptr, limit_);
    monitor.tally_ = tally_;
    return monitor;
  }

  void add_to_tally() {
    const double more = finished_ - told_finished_;
    told_finished_ = finished_;
    for (double known = tally_->finished.load(); !tally_->finished.compare_exchange_weak(known, known + more);) {}
    tally_->regions += regions_ - told_regions_;
    told_regions_ = regions_;
    tally_->left_out += left_out_ - told_left_out_;
    told_left_out_ = left_out_;
  }

  // The other threads have ended: continues alone, from the total.
  void share_no_more() {
    regions_ = tally_->regions;
    left_out_ = tally_->left_out;
    finished_ = tally_->finished;
    tally_ = nullptr;
  }

 private:
  Report report_;
  void* context_;
  std::int64_t limit_;
  Tally* tally_ = nullptr;
  std::int64_t regions_ = 0;
  std::int64_t told_regions_ = 0;
  std::int64_t left_out_ = 0;
  std::int64_t told_left_out_ = 0;
  std::int64_t waiting_ = 0;
  double finished_ = 0;
  double told_finished_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace regions
