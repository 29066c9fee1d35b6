// SPDX-License-Identifier: MIT
// How do several threads share one recursion?
//
// One begins with all of it. Each that has nothing to do waits for a part that somebody gives away; `hungry` says whether
// one waits that nothing has been given for, and is read at every node. So nothing is given while all are at work, and
// nobody needs to know beforehand which part is large. The calling thread works as well, and it alone reports to the
// caller. No thread outlives `run`, so that nothing is left for a fork to lose.
// Invariant: `hungry_` is the number of those who wait, less the parts that wait for them; threads that have not begun yet
// count among the former. The work has ended when all wait. What one throws stops all, and comes out of `run`.
// Cost: a read at each node; a part given away takes a lock, and wakes one thread.
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
  // A part of the work, whatever that is.
  struct Part {
    virtual ~Part() = default;
  };
  // What a thread does; one of them is told that it is the first.
  using Work = std::function<void(bool first, Monitor& monitor, Outcome& outcome)>;

  // `outcome` is that of all together.
  Crew(int workers, Monitor& monitor, Outcome& outcome);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew();
  void run(const Work& work);

  bool hungry() const { return hungry_.load(std::memory_order_relaxed) > 0; }
  void give(std::unique_ptr<Part> part);
  // The next part, once there is one; null if all is done. `monitor` is that of the thread that asks.
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
