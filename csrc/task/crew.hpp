// SPDX-License-Identifier: MIT
// How do several threads share one recursion?
//
// One thread begins with all the work. An idle thread waits for a part that another thread gives away; `hungry` returns whether
// a thread waits for which no part is queued, and is read at every node. Nothing is given away while all threads are busy, and
// the sizes of parts need not be known in advance. The calling thread works as well, and only it reports to the
// caller. No thread outlives `run`, so a process can fork afterwards.
// Invariant: `hungry_` is the number of idle threads minus the number of queued parts; threads that have not begun yet
// count as idle. The work has ended when all threads are idle. An exception in one stops all, and is rethrown by `run`.
// Cost: a read at each node; giving a part away takes a lock, and wakes one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>

#include "task/monitor.hpp"
#include "task/outcome.hpp"

namespace regions {

class Crew {
 public:
  // A part of the work, of any kind.
  struct Part {
    virtual ~Part() = default;
  };
  // The work of a thread; one of them is told that it is the first.
  using Work = std::function<void(bool first, Monitor& monitor, Outcome& outcome)>;

  // `outcome` is the sum over all threads.
  Crew(int workers, Monitor& monitor, Outcome& outcome);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();
  void run(const Work& work);

  bool hungry() const { return hungry_.load(std::memory_order_relaxed) > 0; }
  void give(std::unique_ptr<Part> part);
  // The next part, as soon as there is one; null if everything is done. `monitor` belongs to the calling thread.
  std::unique_ptr<Part> take(Monitor& monitor);

 private:
  void work_on(const Work& work, bool first, Monitor& monitor);
  void note_hunger() { hungry_.store(waiting_ - int(parts_.size()), std::memory_order_relaxed); }

  int workers_;
  Monitor& monitor_;  // of the calling thread
  Tally tally_;
  std::mutex mutex_;  // of all below
  Outcome& outcome_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Part>> parts_;
  int waiting_;
  std::atomic<int> hungry_;
  std::exception_ptr error_;
};

}  // namespace regions
