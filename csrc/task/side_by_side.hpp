// SPDX-License-Identifier: MIT
// How is a known list of items processed by several threads?
//
// Each thread takes the next item until all are taken. The calling thread works as well, and no thread outlives the call. An
// exception in one is rethrown when all others have finished their current items.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace regions {

// Calls `work(i)` for each i below `count`.
template <class Work>
void side_by_side(int workers, std::size_t count, Work work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  const auto take_turns = [&] {
    try {
      for (std::size_t i = next++; i < count; i = next++) work(i);
    } catch (...) {
      next = count;
      const std::lock_guard<std::mutex> lock(mutex);
      if (!error) error = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  try {
    for (std::size_t other = 1; other < std::size_t(workers) && other < count; ++other) threads.emplace_back(take_turns);
  } catch (const std::exception&) {  // no more threads can be started: the existing ones suffice
  }
  take_turns();
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace regions
