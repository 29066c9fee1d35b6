// SPDX-License-Identifier: MIT
#include "task/crew.hpp"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace regions {

Crew::Crew(int workers, Monitor& monitor, Outcome& outcome)
    : workers_(workers), monitor_(monitor), outcome_(outcome), waiting_(workers - 1), hungry_(workers - 1) {
  monitor.share(tally_);
}

Crew::~Crew() { monitor_.share_no_more(); }

void Crew::run(const Work& work) {
  std::vector<std::thread> threads;
  try {
    threads.reserve(std::size_t(workers_ - 1));
    for (int worker = 1; worker < workers_; ++worker)
      threads.emplace_back([this, &work, monitor = monitor_.for_another_thread()]() mutable {
        {
          const std::lock_guard<std::mutex> lock(mutex_);
          --waiting_;  // until it asks for a part
        }
        work_on(work, false, monitor);
      });
  } catch (const std::exception&) {  // no more threads can be started: the existing ones suffice
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting_ -= workers_ - 1 - int(threads.size());
    workers_ = 1 + int(threads.size());
    note_hunger();
  }
  work_on(work, true, monitor_);
  for (std::thread& thread : threads) thread.join();
  if (error_) std::rethrow_exception(error_);
}

void Crew::work_on(const Work& work, bool first, Monitor& monitor) {
  Outcome outcome;
  try {
    work(first, monitor, outcome);
    monitor.add_to_tally();
  } catch (...) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = std::current_exception();
    tally_.stopped = true;
    changed_.notify_all();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  outcome_.add(outcome);
}

void Crew::give(std::unique_ptr<Part> part) {
  const std::lock_guard<std::mutex> lock(mutex_);
  parts_.push_back(std::move(part));
  note_hunger();
  changed_.notify_one();
}

std::unique_ptr<Crew::Part> Crew::take(Monitor& monitor) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++waiting_;
  note_hunger();
  while (!tally_.stopped) {
    if (!parts_.empty()) {
      std::unique_ptr<Part> part = std::move(parts_.front());
      parts_.pop_front();
      --waiting_;
      note_hunger();
      return part;
    }
    if (waiting_ == workers_) {
      changed_.notify_all();
      return nullptr;
    }
    if (&monitor != &monitor_) {
      changed_.wait(lock);
      continue;
    }
    changed_.wait_for(lock, std::chrono::milliseconds(50));
    lock.unlock();
    monitor.look();
    lock.lock();
  }
  return nullptr;
}

}  // namespace regions
